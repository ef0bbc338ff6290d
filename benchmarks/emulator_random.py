"""Random kernels in the emulator and on PoCL, byte by byte: groups, barriers, atomics, structs, vectors.

    python -m benchmarks.emulator_random [--programs 250] [--seed 0] [--rows]

With `--rows` kernels have no groups, loops or conditions on loads: those that run by rows of work-items.

Each program has eight kernels. What they compute is the same on every conforming implementation: integers
only, atomics whose order does not show, shared memory between barriers. PoCL builds with `-cl-opt-disable`.
Kernels that differ are printed; the last line counts them.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "emulator"))
from kernel_generator import SCALARS, Generator, Type  # type: ignore[import-not-found]

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

ITEMS, ROW_ITEMS, GROUP, KERNELS = 64, 1 << 17, 16, 8
_ATOMICS = ("atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor")


class Kernel:
    """One kernel with its helper functions."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name
        self.base = rng.choice(SCALARS)
        self.scalar = self._generator(Type(self.base, 1))

    def _generator(self, kind: Any) -> Any:
        made = Generator(self.rng)
        made.type, made.names = kind, ["x", "y", "z"]
        return made

    def _helper(self, name: str) -> tuple[str, str]:
        """Return a function of vectors and how to call it on scalars."""
        kind = Type(self.rng.choice(SCALARS), self.rng.choice((2, 3, 4, 8, 16)))
        made = self._generator(kind)
        body = "\n  ".join(made.statement(2) for _ in range(self.rng.randint(1, 3)))
        lane = self.rng.randrange(min(kind.lanes, 10))
        text = f"{kind} {name}({kind} x, {kind} y, {kind} z, int i) {{\n  {body}\n  return x ^ y ^ z;\n}}\n"
        arguments = ", ".join(f"({kind})(({kind.base}){it})" for it in ("x", "y", "z"))
        return text, f"({self.base}){name}({arguments}, i).s{lane}"

    def text(self) -> str:
        """Return the kernel, its functions and its struct."""
        rng, base, name = self.rng, self.base, self.name
        helpers = [self._helper(f"{name}_f{n}") for n in range(rng.randint(1, 2))]
        struct = f"{name}_s"
        lines = [
            "int i = get_global_id(0), l = get_local_id(0);",
            f"__local {base} t[{GROUP}]; __local uint n[4];",
            f"{base} x = in[i], y = in[i + {ITEMS}], z = ({base})({self.scalar.literal()});",
            "if (l < 4) n[l] = l;",
            "t[l] = x;",
            "barrier(CLK_LOCAL_MEM_FENCE);",
            f"for (int r = 0; r < {rng.randint(1, 3)}; r++) {{",
            f"  y ^= t[(l * {rng.choice((1, 3, 5))} + r + {rng.randrange(GROUP)}) & {GROUP - 1}];",
            *(f"  {self.scalar.statement(2)}" for _ in range(rng.randint(1, 2))),
            "  barrier(CLK_LOCAL_MEM_FENCE);",
            f"  t[l] = ({base})(x ^ y);",
            "  barrier(CLK_LOCAL_MEM_FENCE);",
            "}",
            *(f"z ^= {call};" for _, call in helpers),
            f"{rng.choice(_ATOMICS)}(&n[(uint)x & 3], (uint)y);",
            "barrier(CLK_LOCAL_MEM_FENCE);",
            f"{struct} u = s[i], w[2];",
            f"u.a ^= x; u.b.{rng.choice(('x', 'yz', 's3', 'even'))} ^= ({base})n[l & 3];",
            f"u.c[l % 3] += (uchar)z; w[l & 1] = u; w[1 - (l & 1)] = s[i ^ {rng.choice((0, 1))}];",
            "barrier(CLK_GLOBAL_MEM_FENCE);",
            f"s[i] = w[{rng.choice(('0', '1', '(uint)y & 1'))}];",
            f"{rng.choice(_ATOMICS)}(&bins[(uint)z & 7], n[l & 3] + (uint)x);",
            f"out[i] = x ^ y ^ z ^ ({base})n[l & 3];",
        ]
        body = "\n  ".join(lines)
        return (
            f"typedef struct {{ {base} a; {base}4 b; uchar c[3]; }} {struct};\n"
            + "".join(text for text, _ in helpers)
            + f"__kernel void {name}(__global const {base} *in, __global {base} *out, __global uint *bins,\n"
            f"    __global {struct} *s) {{\n  {body}\n}}\n"
        )


class Row(Kernel):
    """A kernel whose work-items are alike but for ids: what it loads goes into values alone."""

    def text(self) -> str:
        """Return the kernel and its functions."""
        rng, base, name = self.rng, self.base, self.name
        lanes = rng.choice((2, 4))
        wide = self._generator(Type(base, lanes))
        load = rng.choice((f"vload{lanes}(i, in)", f"vload{lanes}(i & 7, in + 3)", f"({base}{lanes})(in[i])"))
        lines = [
            "int i = get_global_id(0), w = get_global_size(0);",
            f"{base} x = in[i], z = ({base})i;",
            f"{base} y = in[(i * {rng.choice((1, 3, 7))} + {rng.randrange(99)}) & (w - 1)];",
            *(self._guarded(rng.choice((4, 33, 100))) for _ in range(rng.randint(1, 3))),
            f"if (i % {rng.randint(2, 9)} == 1) {{ {self._plain(self.scalar)} out[i] = x; return; }}",
            f"__global {name}_s *q = s + (i & {ITEMS - 1});",
            f"if (i < {ITEMS}) {{ q->a = x; q->c[i & 1] = (uchar)y; }}",
            f"if (i < {ITEMS}) q->b.{rng.choice(('x', 'yz', 'lo'))} = ({base})z;",
            f"{{ {base}{lanes} x = {load}, y = ({base}{lanes})(in[i ^ 1]), z = ({base}{lanes})(({base})3);",
            *(f"  {self._plain(wide)}" for _ in range(rng.randint(1, 3))),
            f"  out[i] = (x ^ y ^ z).s{rng.randrange(lanes)};",
            "}",
            f"out[i] ^= x ^ y ^ {rng.choice(('z', 'in[w - 1 - i]'))};",
        ]
        body = "\n  ".join(lines)
        return (
            f"typedef struct {{ {base} a; {base}4 b; uchar c[3]; }} {name}_s;\n"
            f"__kernel void {name}(__global const {base} *in, __global {base} *out, __global uint *bins,\n"
            f"    __global {name}_s *s) {{\n  {body}\n}}\n"
        )

    def _guarded(self, limit: int) -> str:
        one, other = self._plain(self.scalar), self._plain(self.scalar)
        return self.rng.choice((one, f"if (i > {limit}) {{ {one} }} else {{ {other} }}"))

    def _plain(self, made: Any) -> str:
        """Return a statement without control flow."""
        return f"{self.rng.choice(made.names)} = {made.expression(3)};"


def contents(base: str, seed: int, items: int) -> dict[str, np.ndarray[Any, Any]]:
    """Return what the buffers hold at first, as bytes; padding is zero in all of them."""
    size = {"char": 1, "short": 2, "int": 4, "long": 8}[base.removeprefix("u")]
    rng = np.random.default_rng(seed)
    struct = (4 * size) * 3 if size > 1 else 12  # a, padded to the vector's alignment; b; c, padded
    return {
        "in": rng.integers(0, 256, (2 if items == ITEMS else 4) * items * size).astype(np.uint8),
        "out": np.zeros(items * size, np.uint8),
        "bins": np.zeros(8 * 4, np.uint8),
        "s": np.zeros(ITEMS * struct, np.uint8),
    }


def here(
    program: Any, name: str, data: dict[str, np.ndarray[Any, Any]], folder: Path, items: int
) -> dict[str, bytes] | str:
    """Return the buffers after a run in the emulator, or what it had to say."""
    arguments = {}
    for key, value in data.items():
        path = folder / f"{key}.bin"
        path.write_bytes(value.tobytes())
        arguments[key] = parse_argument(f"file:{path}")
    # Rows are run where nobody can race for what is written; here every element belongs to one work-item.
    exclusive = frozenset() if items == ITEMS else frozenset({"out", "s"})
    settings = EmulationSettings(engine=Engine.JIT, trace=False, control=False, exclusive=exclusive)
    result = emulate(program, program.kernel(name), Launch(name, (items,), (GROUP,), arguments), settings)
    if result.faults or not result.is_whole:
        return str([(it.kind.value, it.detail) for it in result.faults])
    return {key: it.data.tobytes() for key, it in result.buffers.items()}


def there(
    queue: Any, built: Any, name: str, data: dict[str, np.ndarray[Any, Any]], items: int
) -> dict[str, bytes]:
    """Return the buffers after a run on PoCL."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {key: cl.Buffer(queue.context, flags, hostbuf=value) for key, value in data.items()}
    cl.Kernel(built, name)(queue, (items,), (GROUP,), *buffers.values())
    found = {}
    for key, value in data.items():
        result = np.empty_like(value)
        cl.enqueue_copy(queue, result, buffers[key])
        found[key] = result.tobytes()
    return found


def main() -> int:
    """Compare; 1 if any kernel differs."""
    import tempfile

    import pyopencl as cl

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", action="store_true")
    args = parser.parse_args()
    kind, items = (Row, ROW_ITEMS) if args.rows else (Kernel, ITEMS)
    device = next(it for p in cl.get_platforms() if "Portable" in p.name for it in p.get_devices())
    queue = cl.CommandQueue(cl.Context([device]))
    same = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seed, args.seed + args.programs):
            rng = random.Random(f"{'rows' if args.rows else 'groups'} {seed}")
            kernels = [kind(rng, f"k{n}") for n in range(KERNELS)]
            text = "".join(it.text() for it in kernels)
            built = cl.Program(queue.context, text).build(options=["-cl-opt-disable"])
            program = read_program(text, "random.cl")
            for it in kernels:
                data = contents(it.base, seed, items)
                expected = there(queue, built, it.name, data, items)
                found = here(program, it.name, data, Path(folder), items)
                if found == expected:
                    same += 1
                    continue
                different += 1
                what = found if isinstance(found, str) else [k for k in expected if found[k] != expected[k]]
                print(f"seed {seed}, {it.name}: {what}", flush=True)
            if seed % 25 == 24:
                print(f"{same} equal, {different} different", flush=True)
    print(f"{same} kernels equal in every byte, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
