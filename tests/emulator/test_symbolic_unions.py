"""What a private union holds, read as another member: the symbolic engine against what the JIT wrote."""

from random import Random

import numpy as np
import pytest

from clmap_lsp.devices import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import Budget, count
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import AddressSpace

ARRAYS = {
    "b": ("uchar", 16), "c": ("char", 16), "h": ("ushort", 8), "t": ("short", 8), "u": ("uint", 4),
    "i": ("int", 4), "l": ("ulong", 2), "f": ("float", 4), "d": ("long", 2),
}  # fmt: skip
WHOLE = (
    "m.g = (float4)(i, 2.5f, i * 0.25f, 1);",
    "m.w.y = i * 3;",
    "m.w = (int2)(i, -i);",
    "m.r = (uchar4)(i, 1, 2, i);",
    "m.q.z = i;",
    "o = m; m.q = (uint4)(1); m = o;",
    "m.q = as_uint4(m.g);",
    "m.u[1] = as_uint(as_float(m.u[0] & 0x3fffffff));",
    "for (int k = 0; k < 3; k++) m.u[k] = m.u[k + 1] + k;",
)
ROOM = 1024
SIZE = ROOM + 64


def kernel(seed):
    rng = Random(seed)
    arrays = " ".join(f"{kind} {name}[{n}];" for name, (kind, n) in ARRAYS.items())
    lines = [
        f"union {{ {arrays} uint4 q; uchar4 r; float4 g; int2 w; }} m, o;",
        "m.q = (uint4)(i * 77, 5 - i, i << 20, 3000000000u + i);",
    ]
    for _ in range(rng.randint(2, 7)):
        if rng.random() < 0.2:
            lines.append(rng.choice(WHOLE))
            continue
        name = rng.choice(list(ARRAYS))
        kind, n = ARRAYS[name]
        numbers = (
            "i * 37",
            "(i & 3) * 100",
            "-1 - i",
            "i << 13",
            f"m.{rng.choice('bhuict')}[{rng.randrange(4)}]",
        )
        value = rng.choice(("i * 1.5f", "2.0f") if kind == "float" else numbers)
        index = rng.choice((str(rng.randrange(n)), f"(i & {min(n, 4) - 1})"))
        some = f"if (i % 3 == {rng.randrange(3)}) " if rng.random() < 0.3 else ""
        lines.append(f"{some}m.{name}[{index}] = {value};")
    name = rng.choice([it for it in ARRAYS if it != "f"])
    lines.append(
        f"x[m.{name}[{rng.choice((str(rng.randrange(ARRAYS[name][1])), 'i & 1'))}] & {ROOM - 1}] = 1;"
    )
    lines.append(f"if (m.i[{rng.randrange(4)}] < 0) x[{ROOM} + i] = 1;")
    lines.append(f"if (m.f[{rng.randrange(4)}] < 1.0f) x[{ROOM + 32} + i] = 1;")
    return "\n".join(lines)


def counted(body):
    """Return what three stores to `x` cost (sectors, then executions), and the same from what a run wrote."""
    program = read_program(f"__kernel void k(__global int *x) {{ int i = get_global_id(0); {body} }}", "k.cl")
    assert not program.problems
    (made,) = program.kernels
    launch = Launch("k", (32,), (32,), {"x": BufferArgument(Fill.ZEROS, SIZE)})
    result = count(made, launch, load_model("nvidia-hopper"), budget=Budget())
    assert result.is_exact
    stores = [it.site for it in ir.walk(made.body) if isinstance(it, ir.Store) and is_global(it)]
    sites = [result.sites.get(it) for it in stores]
    assert all(it is None or it.method is Exactness.EXACT for it in sites)
    run = emulate(program, made, launch, EmulationSettings(engine=Engine.JIT))
    x = run.buffers["x"].data.view("i4")
    wanted = [
        len(set(np.flatnonzero(x[:ROOM]) // 8)),
        int(x[ROOM : ROOM + 32].sum()),
        int(x[ROOM + 32 :].sum()),
    ]
    figures = ("units", "executions", "executions")
    return [0 if it is None else getattr(it, name) for it, name in zip(sites, figures, strict=True)], wanted


def is_global(store):
    return store.pointer.type.space is AddressSpace.GLOBAL


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_bytes_of_unions_are_followed(first):
    for seed in range(first, first + 20):
        found, wanted = counted(kernel(seed))
        assert found == wanted, seed


def test_a_sign_is_that_of_the_member_that_is_read():
    found, wanted = counted(
        "union { uint u; int s; float f; } v; v.u = 4000000000u + i; x[v.u & 1023] = 1;"
        "if (v.s < 0) x[1024 + i] = 1; v.f = 1; if (v.u == 0x3f800000) x[1056 + i] = 1;"
    )
    assert found == wanted
    assert found[1:] == [32, 32]


def test_a_part_that_some_write_leaves_the_rest_to_the_others():
    found, wanted = counted(
        "union { uint u; uchar c[4]; } v; v.u = i * 8; if (i & 1) v.c[0] = 7; x[v.c[0]] = 1;"
        "if (v.u == 7) x[1024 + i] = 1; if (v.c[1]) x[1056 + i] = 1;"
    )
    assert found == wanted
    assert found[1] == 16
