"""The microbenchmarks compute what their MAPs say, on a device and by their text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from clmap_lsp.aristotle.bench import Bench, VerificationError
from clmap_lsp.aristotle.elements import Element, parse_element, values_at
from clmap_lsp.aristotle.generate import Approach, Group, Part, generate, is_distinct
from clmap_lsp.aristotle.layout import layout_of, offsets
from clmap_lsp.aristotle.maps import Intra, Map, all_maps, parse_map
from clmap_lsp.aristotle.reference import all_items, reference
from clmap_lsp.opencl_device.session import Session

FLOAT = Element("float")
VARIANTS = [
    (Approach.NAIVE, False),
    (Approach.MAX, False),
    (Approach.MIN, False),
    (Approach.MAX, True),
    (Approach.MIN, True),
]


def test_there_are_33_maps_and_the_factors_count_as_in_figure_10() -> None:
    maps = all_maps()
    assert len(maps) == 33
    counts = {
        "reuse only": sum(it.reuse and not it.reorder for it in maps),
        "order only": sum(it.reorder and not it.reuse for it in maps),
        "both": sum(it.reuse and it.reorder for it in maps),
        "neither": sum(not it.reuse and not it.reorder for it in maps),
    }
    assert counts == {"reuse only": 11, "order only": 4, "both": 16, "neither": 2}


@pytest.mark.parametrize("text", ["407", "MAP-407", "map407", " Map_407 "])
def test_a_map_is_read_in_any_spelling(text: str) -> None:
    assert parse_map(text) == Map(407)


@pytest.mark.parametrize("text", ["101", "216", "617", "MAP", "", "4o7"])
def test_what_is_no_map_is_refused_with_the_list(text: str) -> None:
    with pytest.raises(ValueError, match="107, 108"):
        parse_map(text)


def test_a_naive_kernel_has_no_scaffolding() -> None:
    for pattern in all_maps():
        source = generate([Part(pattern, Approach.NAIVE)], FLOAT).source
        assert "barrier" not in source
        assert "__local" not in source
        assert "if" not in re.findall(r"\b\w+\b", source)


def test_a_staged_kernel_tests_no_border_of_the_data() -> None:
    for pattern in all_maps():
        for approach in (Approach.MAX, Approach.MIN):
            source = generate([Part(pattern, approach)], FLOAT).source
            assert "barrier(CLK_LOCAL_MEM_FENCE)" in source
            tests = re.findall(r"if \(([^)]*)\)", source)
            assert all("tx" not in it and "ty" not in it for it in tests)


def test_local_sizes_are_those_of_the_paper() -> None:
    # Figure 5: MAP-407, radius 1, groups of 8 x 8: 100 cells in the max-approach, 50 in the min-approach.
    group = Group(8, 8)
    sizes = {
        approach: generate([Part(Map(407), approach, radius=1)], FLOAT, group).local_bytes // 4
        for approach in (Approach.MAX, Approach.MIN)
    }
    assert sizes == {Approach.MAX: 100, Approach.MIN: 50}


@pytest.mark.parametrize(
    ("number", "elements"),
    [(107, 256), (112, 512), (116, 1024), (204, 256), (211, 512), (306, 512), (407, 484), (412, 836),
     (416, 1444), (508, 324), (513, 612), (516, 1156)],
)  # fmt: skip
def test_max_tiles_are_as_large_as_the_published_kernels_stage(number: int, elements: int) -> None:
    assert generate([Part(Map(number), Approach.MAX)], FLOAT).local_bytes == 4 * elements


def test_a_padded_tile_has_an_odd_pitch() -> None:
    for pattern in all_maps():
        for approach in (Approach.MAX, Approach.MIN):
            part = Part(pattern, approach, padded=True)
            if is_distinct(part):
                plain = generate([Part(pattern, approach)], FLOAT)
                assert generate([part], FLOAT).local_bytes > plain.local_bytes


def test_every_work_item_reads_within_its_array() -> None:
    for pattern in all_maps():
        for radius in (0, 1, 3, 5):
            size = 32
            layout = layout_of(pattern, size, radius)
            m00, m01, m10, m11 = pattern.matrix
            items = all_items(size)
            row = m00 * items[:, 0] + m01 * items[:, 1]
            column = m10 * items[:, 0] + m11 * items[:, 1]
            steps = offsets(pattern, size, radius)
            rows = row[:, None] + steps[:, 0]
            columns = column[:, None] + steps[:, 1]
            index = layout.origin + rows * layout.pitch + columns
            assert index.min() >= 0
            assert index.max() < layout.elements
            # No read wraps into a neighbouring row: the margin is wide enough on both sides.
            assert ((index // layout.pitch) == (layout.origin // layout.pitch) + rows).all()


def test_the_data_do_not_compress() -> None:
    import zlib

    data = values_at(FLOAT, np.arange(1 << 16), 0).tobytes()
    # 24 random bits of 32 in a float: nothing below that.
    assert len(zlib.compress(data, 9)) > 0.8 * len(data)
    assert len({data[i : i + 32] for i in range(0, len(data), 32)}) == len(data) // 32


def test_the_reference_is_the_plain_definition() -> None:
    size, pattern, radius = 16, Map(512), 1
    layout = layout_of(pattern, size, radius)
    data = values_at(FLOAT, np.arange(layout.elements), 0)
    sums = reference((pattern,), size, (radius,), FLOAT, all_items(size)).reshape(size, size)
    for ty, tx in [(0, 0), (3, 5), (15, 15)]:
        row, column = ty + tx, ty
        expected = np.float32(0)
        for j, i in [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]:
            expected += data[layout.origin + (row + j) * layout.pitch + column + i]
        assert sums[ty, tx] == expected


@pytest.mark.pocl
@pytest.mark.parametrize("pattern", all_maps(), ids=str)
def test_all_kernels_are_right_on_a_device(pattern: Map, session: Session) -> None:
    # Compiling is what takes time here; padded kernels run in the emulator's tests.
    bench = Bench(session, FLOAT, Group())
    parts = [it for approach in Approach if is_distinct(it := Part(pattern, approach))]
    kernels = bench.build([[it] for it in parts])
    for size in (128, 144):
        expected = reference((pattern,), size, (parts[0].reach,), FLOAT, all_items(size))
        for part, (name, kernel) in zip(parts, kernels.items(), strict=True):
            result = bench.run(bench.timed(kernel, [part], size), size)
            assert np.array_equal(result, expected), f"{name} at {size}"


@pytest.mark.pocl
@pytest.mark.parametrize(
    ("type_name", "group", "numbers"),
    [
        ("uchar", Group(32, 8), (107, 412, 510)),
        ("short", Group(4, 16), (112, 413, 516)),
        ("ulong", Group(8, 1), (115, 414, 306)),
        ("double", Group(16, 16), (116, 407, 211)),
        ("float4", Group(32, 8), (512, 416, 204)),
    ],
)
def test_other_types_groups_and_radii_are_right(
    type_name: str, group: Group, numbers: tuple[int, ...], session: Session
) -> None:
    element = parse_element(type_name)
    bench = Bench(session, element, group)
    for pattern in map(Map, numbers):
        radius = {Intra.BLOCK: 2, Intra.NEIGHBOR: 2}.get(pattern.intra)
        parts = [Part(pattern, approach, padded, radius) for approach, padded in VARIANTS]
        kernels = bench.build([[it] for it in parts])
        for part, (name, kernel) in zip(parts, kernels.items(), strict=True):
            bench.verify(name, bench.run(bench.timed(kernel, [part], 64), 64), [part], 64)


@pytest.mark.pocl
def test_64_bit_indices_give_the_same(session: Session) -> None:
    bench = Bench(session, FLOAT, Group())
    for pattern in (Map(204), Map(412)):
        for approach in Approach:
            part = Part(pattern, approach)
            kernels = bench.build([[part]], wide_index=True)
            for name, kernel in kernels.items():
                timed = bench.timed(kernel, [part], 64, wide_index=True)
                bench.verify(name, bench.run(timed, 64), [part], 64)


@pytest.mark.pocl
def test_composed_kernels_are_right(session: Session) -> None:
    bench = Bench(session, FLOAT, Group())
    for first, second in [(407, 204), (110, 110), (302, 516), (416, 115)]:
        for one, two in [
            (Approach.NAIVE, Approach.NAIVE),
            (Approach.MAX, Approach.NAIVE),
            (Approach.MAX, Approach.MIN),
        ]:
            parts = [Part(Map(first), one), Part(Map(second), two)]
            for name, kernel in bench.build([parts]).items():
                bench.verify(name, bench.run(bench.timed(kernel, parts, 64), 64), parts, 64)


@pytest.mark.pocl
def test_a_wrong_result_is_found(session: Session) -> None:
    bench = Bench(session, FLOAT, Group())
    part = Part(Map(108), Approach.MAX)
    ((name, kernel),) = bench.build([[part]]).items()
    result = bench.run(bench.timed(kernel, [part], 64), 64)
    result[70] += 1
    with pytest.raises(VerificationError, match=r"1 of 4096 work-items differ, first \(t_y=1, t_x=6\)"):
        bench.verify(name, result, [part], 64)


@pytest.mark.pocl
def test_a_group_that_does_not_divide_the_size_is_refused(session: Session) -> None:
    bench = Bench(session, FLOAT, Group())
    part = Part(Map(108), Approach.NAIVE)
    ((_, kernel),) = bench.build([[part]]).items()
    with pytest.raises(ValueError, match="not a multiple"):
        bench.timed(kernel, [part], 100)
