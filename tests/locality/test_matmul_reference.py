"""The paper's four matrix multiplies, enumerated here access by access, against AIWC's own figures."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.locality.definition import Definition, LocalAddresses, buffer_addresses
from clmap_lsp.locality.metrics import AccessCounts, MetricsAccumulator

REFERENCE = Path(__file__).parents[1] / "data" / "aiwc" / "matmul_reference.csv"
KERNELS = ("simple", "coalescedA", "coalescedAB", "coalescedABTprinted", "coalescedABT")
TILE = 16
A, B, C = 0, 1, 2
A_SUB, B_SUB = 0, 1


def reference():
    table = defaultdict(dict)
    for row in csv.DictReader(REFERENCE.open()):
        table[int(row["n"]), row["view"].removeprefix("local="), row["kernel"]][row["metric"]] = float(
            row["value"]
        )
    return table


class Group:
    """Makes the rows of one work-group; dimension 0 is the matrix row, as in the paper."""

    def __init__(self, n, index, view):
        local = np.arange(TILE * TILE)
        self.n, self.index, self.view = n, index, view
        self.local_row, self.local_col = local % TILE, local // TILE
        self.row = index % (n // TILE) * TILE + self.local_row
        self.col = index // (n // TILE) * TILE + self.local_col
        self.segment = []

    def touch(self, kind, buffer, element):
        offsets = np.broadcast_to(element * 4, (TILE * TILE,)).astype(np.int64)
        is_local = kind.startswith("local")
        view = {"is_local": is_local, "group": self.index, "view": self.view}
        self.segment.append((kind, buffer_addresses(offsets, buffer=buffer, **view)))

    def barrier(self):
        done, self.segment = self.segment, []
        return done


def simple(g):
    for k in range(g.n):
        g.touch("global_loads", B, k * g.n + g.col)
        g.touch("global_loads", A, g.row * g.n + k)
    g.touch("global_stores", C, g.row * g.n + g.col)
    yield g.barrier()


def coalesced_a(g):
    for tile in range(0, g.n, TILE):
        g.touch("global_loads", A, g.row * g.n + g.local_col + tile)
        g.touch("local_stores", A_SUB, g.local_row * TILE + g.local_col)
        yield g.barrier()
        for k in range(TILE):
            g.touch("local_loads", A_SUB, g.local_row * TILE + k)
            g.touch("global_loads", B, (tile + k) * g.n + g.col)
        yield g.barrier()
    g.touch("global_stores", C, g.row * g.n + g.col)
    yield g.barrier()


def coalesced_ab(g, store_transposed=False, load_transposed=False):
    for tile in range(0, g.n, TILE):
        g.touch("global_loads", A, g.row * g.n + tile + g.local_col)
        rows, cols = (g.local_col, g.local_row) if store_transposed else (g.local_row, g.local_col)
        g.touch("local_stores", A_SUB, rows * TILE + cols)
        g.touch("global_loads", B, g.col + (tile + g.local_row) * g.n)
        g.touch("local_stores", B_SUB, g.local_row * TILE + g.local_col)
        yield g.barrier()
        for k in range(TILE):
            g.touch(
                "local_loads", A_SUB, k * TILE + g.local_row if load_transposed else g.local_row * TILE + k
            )
            g.touch("local_loads", B_SUB, k * TILE + g.local_col)
        yield g.barrier()
    g.touch("global_stores", C, g.row * g.n + g.col)
    yield g.barrier()


SEGMENTS = {
    "simple": simple,
    "coalescedA": coalesced_a,
    "coalescedAB": coalesced_ab,
    "coalescedABTprinted": lambda g: coalesced_ab(g, store_transposed=True),
    "coalescedABT": lambda g: coalesced_ab(g, store_transposed=True, load_transposed=True),
}


def measure(kernel, n, view, definition):
    collected = MetricsAccumulator(TILE * TILE, definition)
    for index in range((n // TILE) ** 2):
        for at, segment in enumerate(SEGMENTS[kernel](Group(n, index, view))):
            if at:
                collected.end_segment()
            kinds = [kind for kind, _ in segment]
            counts = AccessCounts(**{it: kinds.count(it) * TILE * TILE for it in set(kinds)})
            collected.add_rows(np.array([row for _, row in segment]), None, counts)
        collected.end_group()
    return collected.result()


@pytest.mark.parametrize("view", LocalAddresses, ids=lambda it: it.value)
@pytest.mark.parametrize("n", [32, 64])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_metric_of_the_reference(kernel, n, view):
    expected = reference()[n, view.value, kernel]
    got = measure(kernel, n, view, Definition.PAPER)
    exact = {"accesses": got.accesses, "loads": got.loads, "stores": got.stores}
    exact |= {"footprint": got.footprint, "fp90": got.footprint_90}
    assert {name: expected[name] for name in exact} == exact
    real = {"gmae": got.gmae, "rel_local": got.relative_local}
    real |= {f"lmae{i + 1}": value for i, value in enumerate(got.lmae)}
    if view is not LocalAddresses.DISTINCT:  # The entropy of one group's row is that of `shared`.
        real |= {f"psl{i}": value for i, value in enumerate(got.psl)}
    assert {name: expected[name] for name in real} == pytest.approx(real, abs=1e-6)
    if view is LocalAddresses.DISTINCT:
        assert got.psl == measure(kernel, n, LocalAddresses.SHARED, Definition.PAPER).psl
    else:
        as_coded = measure(kernel, n, view, Definition.AIWC)
        assert [expected[f"psl_aiwc1t_{i}"] for i in range(11)] == pytest.approx(as_coded.psl, abs=1e-6)
