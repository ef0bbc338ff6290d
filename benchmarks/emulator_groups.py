"""Functions of work-groups and sub-groups in random kernels, compared with what they stand for, run on PoCL.

    python -m benchmarks.emulator_groups [--programs 100] [--seed 0]

PoCL 3.1 has none of these functions: there, each call is a reference written with local memory and barriers
in OpenCL C 1.2. Here it is the call, run traced and untraced. All must be equal in every byte. Groups are of
one to three dimensions, with a last sub-group that is not full; some calls are reached by some work-items
only. Reductions of `float` are of whole numbers, so that their order does not show.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

_WIDTH, _GROUPS, _CALLS = 32, 3, 6
_SHAPES = ((32,), (48,), (64,), (96,), (7,), (8, 6), (16, 4), (5, 3, 5), (33, 2))
_GROUP_TYPES = ("int", "uint", "long", "ulong", "float")
_SUB_TYPES = (*_GROUP_TYPES, "char", "uchar", "short", "ushort")
_OPERATORS = {"add": "a + b", "min": "a < b ? a : b", "max": "a > b ? a : b"}
_BITWISE = {"and": "a & b", "or": "a | b", "xor": "a ^ b", "mul": "a * b"}
_LIMITS = {
    "char": ("CHAR_MIN", "CHAR_MAX"),
    "uchar": ("0", "UCHAR_MAX"),
    "short": ("SHRT_MIN", "SHRT_MAX"),
    "ushort": ("0", "USHRT_MAX"),
    "int": ("INT_MIN", "INT_MAX"),
    "uint": ("0", "UINT_MAX"),
    "long": ("LONG_MIN", "LONG_MAX"),
    "ulong": ("0", "ULONG_MAX"),
    "float": ("-INFINITY", "INFINITY"),
}

_PLACES = """
#define ITEMS ((uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)))
#define LINEAR ((uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * \\
  get_local_id(2))))
"""
_PLACES_THERE = (
    _PLACES
    + f"""
#define WIDTH {_WIDTH}u
#define get_sub_group_id() (LINEAR / WIDTH)
#define get_sub_group_local_id() (LINEAR % WIDTH)
#define get_max_sub_group_size() WIDTH
#define get_num_sub_groups() ((ITEMS + WIDTH - 1) / WIDTH)
#define get_sub_group_size() (min(WIDTH, ITEMS - LINEAR / WIDTH * WIDTH))
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define SUB_FIRST (LINEAR / WIDTH * WIDTH)
#define SUB_LAST (SUB_FIRST + get_sub_group_size())
"""
)


def _neutral(kind: str, operator: str) -> str:
    least, most = _LIMITS[kind]
    one = {"min": most, "max": least, "mul": "1", "and": "-1"}
    return f"({kind})({one.get(operator, '0')})"


def _operators(kind: str) -> dict[str, str]:
    return _OPERATORS if kind == "float" else {**_OPERATORS, **_BITWISE}


def reference(kind: str) -> str:
    """Return the functions of a type in OpenCL C 1.2: each takes local memory, a range and who takes part."""
    lines = []
    for operator, formula in _operators(kind).items():
        for form in ("reduce", "scan_inclusive", "scan_exclusive"):
            last = {"reduce": "last", "scan_inclusive": "LINEAR + 1", "scan_exclusive": "LINEAR"}[form]
            lines.append(
                f"{kind} {form}_{operator}_{kind}(__local long *s, __local int *here, uint first, uint last,"
                f" {kind} x, int mine) {{\n"
                f"  SYNC; __local {kind} *t = (__local {kind} *)s; t[LINEAR] = x; here[LINEAR] = mine;\n"
                f"  SYNC; {kind} a = {_neutral(kind, operator)};\n"
                f"  for (uint k = first; k < {last}; k++)\n"
                f"    if (here[k]) {{ {kind} b = t[k]; a = {formula}; }}\n"
                f"  SYNC; return a;\n}}"
            )
    lines.append(
        f"{kind} from_{kind}(__local long *s, uint where, {kind} x) {{\n"
        f"  SYNC; __local {kind} *t = (__local {kind} *)s; t[LINEAR] = x; SYNC; {kind} a = t[where]; SYNC;"
        " return a;\n}"
    )
    return "\n".join(lines)


class Kernel:
    """One kernel, as it is for either side."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.rng, self.name = rng, name
        self.shape = rng.choice(_SHAPES)
        self.items = int(np.prod(self.shape))
        self.calls = [self._call() for _ in range(_CALLS)]

    def _call(self) -> tuple[str, str, str]:
        """Return the type of a result, and the call in either form; `v` is the operand, a `long`."""
        return self.rng.choice((self._reduced, self._reduced, self._moved, self._voted, self._some))()

    def _operand(self, kind: str) -> str:
        return f"({kind})(v % 97)" if kind == "float" else f"({kind})v"

    def _reduced(self) -> tuple[str, str, str]:
        rng = self.rng
        group = rng.choice(("work_group", "sub_group"))
        kind = rng.choice(_GROUP_TYPES if group == "work_group" else _SUB_TYPES)
        operator = rng.choice(tuple(_operators(kind) if group == "sub_group" else _OPERATORS))
        form = rng.choice(("reduce", "scan_inclusive", "scan_exclusive"))
        where = "0, ITEMS" if group == "work_group" else "SUB_FIRST, SUB_LAST"
        first = "0" if group == "work_group" else "SUB_FIRST"
        x = self._operand(kind)
        prefix = "non_uniform_" if operator in _BITWISE else ""
        here = f"r = {group}_{prefix}{form}_{operator}({x});"
        assert where.startswith(first)
        return kind, here, f"r = {form}_{operator}_{kind}(s, here, {where}, {x}, 1);"

    def _moved(self) -> tuple[str, str, str]:
        rng = self.rng
        kind = rng.choice(_GROUP_TYPES)
        x = self._operand(kind)
        if rng.random() < 0.3:
            ids = [rng.randrange(it) for it in self.shape]
            linear, step = 0, 1
            for at, side in zip(ids, self.shape, strict=True):
                linear, step = linear + at * step, step * side
            listed = ", ".join(map(str, ids))
            return kind, f"r = work_group_broadcast({x}, {listed});", f"r = from_{kind}(s, {linear}, {x});"
        size, lane = "get_sub_group_size()", "get_sub_group_local_id()"
        amount = rng.randint(0, 9)
        threefold, octet = f"({lane} * 3 + {amount}) % {size}", f"{lane} / 8 * 8 + ({lane} + {amount}) % 8"
        last = (self.items - 1) % _WIDTH  # Of the last sub-group, which need not be full.
        forms = (
            (f"sub_group_broadcast({x}, {min(amount, last)})", f"{min(amount, last)}"),
            (
                f"sub_group_shuffle({x}, {threefold})",
                threefold,
            ),
            (f"sub_group_rotate({x}, {amount})", f"({lane} + {amount}) % WIDTH"),
            (f"sub_group_non_uniform_broadcast({x}, {min(amount, last)})", f"{min(amount, last)}"),
            (f"sub_group_broadcast_first({x})", "0"),
        )
        if self.items % _WIDTH == 0:
            forms += (
                (f"sub_group_shuffle_xor({x}, {amount})", f"{lane} ^ {amount}"),
                (
                    f"sub_group_clustered_rotate({x}, {amount}, 8)",
                    octet,
                ),
            )
        else:
            forms = tuple(it for it in forms if "rotate" not in it[0])
        here, where = rng.choice(forms)
        return kind, f"r = {here};", f"r = from_{kind}(s, SUB_FIRST + ({where}), {x});"

    def _voted(self) -> tuple[str, str, str]:
        rng = self.rng
        condition = f"(int)((v & {rng.choice((1, 3, 7))}) != {rng.choice((0, 1, 9))})"
        whole = "0, ITEMS", "work_group"
        where, group = rng.choice((whole, ("SUB_FIRST, SUB_LAST", "sub_group")))
        vote = rng.choice(("any", "all"))
        operator = "or" if vote == "any" else "and"
        there = f"r = {{}}_int(s, here, {where}, {condition}, 1);"
        if group == "sub_group" and rng.random() < 0.5:
            ballot = f"sub_group_ballot({condition})"
            forms = (
                (f"sub_group_ballot_bit_count({ballot})", "reduce_add"),
                (f"sub_group_ballot_exclusive_scan({ballot})", "scan_exclusive_add"),
                (f"sub_group_ballot_inclusive_scan({ballot})", "scan_inclusive_add"),
                (f"sub_group_ballot_bit_extract({ballot}, 0u)", None),
            )
            here, name = rng.choice(forms)
            if name is None:
                return "int", f"r = {here};", f"r = from_int(s, SUB_FIRST, {condition});"
            return "int", f"r = (int){here};", there.format(name)
        if rng.random() < 0.3:
            bits = f"(uint)({condition}) << get_sub_group_local_id()"
            return (
                "uint",
                f"r = sub_group_ballot({condition}).x;",
                f"r = reduce_or_uint(s, here, SUB_FIRST, SUB_LAST, {bits}, 1);",
            )
        return "int", f"r = {group}_{vote}({condition}) != 0;", there.format(f"reduce_{operator}")

    def _some(self) -> tuple[str, str, str]:
        """Return a call to which only some of the work-items come."""
        rng = self.rng
        kind = rng.choice(_SUB_TYPES)
        operator = rng.choice(tuple(_operators(kind)))
        form = rng.choice(("reduce", "scan_inclusive", "scan_exclusive"))
        condition, x = f"((v >> {rng.randint(0, 5)}) & {rng.choice((1, 3, 12))}) != 0", self._operand(kind)
        here = f"r = 0; if ({condition}) r = sub_group_non_uniform_{form}_{operator}({x});"
        call = f"{form}_{operator}_{kind}(s, here, SUB_FIRST, SUB_LAST, {x}, {condition})"
        return kind, here, f"r = {call}; if (!({condition})) r = 0;"

    def text(self, *, is_here: bool) -> str:
        """Return the kernel."""
        lines = []
        for number, (kind, here, there) in enumerate(self.calls):
            mix = "as_int(r)" if kind == "float" else "(long)r"
            lines += [
                f"{{ {kind} r; {here if is_here else there} out[{_CALLS} * i + {number}] = {mix};"
                f" u ^= {mix} * {2 * number + 1}; }}",
                f"v = v * {_odd(number)} + (u >> 7) + {number};",
            ]
        if self.items > _WIDTH:
            lines.insert(4, "barrier(CLK_LOCAL_MEM_FENCE); m[LINEAR] = u; barrier(CLK_LOCAL_MEM_FENCE);")
            lines.insert(5, "v ^= m[(LINEAR * 5 + 1) % ITEMS];")
        body = "\n  ".join(lines)
        scratch = "" if is_here else f"__local long s[{self.items}]; __local int here[{self.items}];"
        return (
            f"__kernel void {self.name}(__global const long *in, __global long *out) {{\n"
            f"  __local long m[{self.items}]; {scratch}\n"
            "  size_t i = get_global_id(0) + get_global_size(0) * (get_global_id(1) +"
            " get_global_size(1) * get_global_id(2));\n"
            "  long v = in[i], u = get_sub_group_id() * 1000 + get_sub_group_local_id() * 10"
            " + get_num_sub_groups() + get_sub_group_size() + get_max_sub_group_size();\n"
            f"  {body}\n}}\n"
        )


def _odd(number: int) -> int:
    return (3, 7, 11, 13, 17, 19)[number % _CALLS]


def main() -> int:
    """Compare; 1 if any kernel differs."""
    import pyopencl as cl

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    device = next(it for p in cl.get_platforms() if "Portable" in p.name for it in p.get_devices())
    queue = cl.CommandQueue(cl.Context([device]))
    prelude = _PLACES_THERE + "\n".join(reference(it) for it in _SUB_TYPES) + "\n"
    same = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.programs):
            rng = random.Random(f"groups {seed}")
            kernels = [Kernel(rng, f"k{n}") for n in range(4)]
            there = prelude + "".join(it.text(is_here=False) for it in kernels)
            built = cl.Program(queue.context, there).build(options=["-cl-opt-disable"])
            program = read_program(_PLACES + "".join(it.text(is_here=True) for it in kernels), "groups.cl")
            for it in kernels:
                expected = _there(queue, built, it, seed)
                found = [_here(program, it, seed, Path(folder), trace) for trace in (False, True)]
                if all(one == expected for one in found):
                    same += 1
                    continue
                different += 1
                print(f"seed {seed}, {it.name}, {it.shape}: {_unlike(it, found, expected)}", flush=True)
    print(f"{same} kernels equal in every byte, {different} different")
    return 1 if different else 0


def _unlike(kernel: Kernel, found: list[bytes | str], expected: bytes) -> str:
    """Return the first call whose results differ, with some of them."""
    wanted = np.frombuffer(expected, np.int64).reshape(-1, _CALLS)
    for it in found:
        if isinstance(it, str):
            return it
        got = np.frombuffer(it, np.int64).reshape(-1, _CALLS)
        for number, (_, here, _) in enumerate(kernel.calls):
            where = np.flatnonzero(got[:, number] != wanted[:, number])
            if len(where):
                some = [(int(k), int(got[k, number]), int(wanted[k, number])) for k in where[:4]]
                return f"{here} differs {len(where)} times: (item, here, there) {some}"
    return ""


def _contents(kernel: Kernel, seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(-(1 << 40), 1 << 40, kernel.items * _GROUPS)


def _size(kernel: Kernel) -> tuple[int, ...]:
    return (kernel.shape[0] * _GROUPS, *kernel.shape[1:])


def _here(program: Any, kernel: Kernel, seed: int, folder: Path, trace: bool) -> bytes | str:
    path = folder / "in.bin"
    path.write_bytes(_contents(kernel, seed).tobytes())
    arguments = {
        "in": parse_argument(f"file:{path}"),
        "out": parse_argument(f"zeros({_CALLS * kernel.items * _GROUPS})"),
    }
    launch = Launch(kernel.name, _size(kernel), kernel.shape, arguments)
    settings = EmulationSettings(engine=Engine.JIT, trace=trace)
    result = emulate(program, program.kernel(kernel.name), launch, settings)
    if result.faults or not result.is_whole or result.notes:
        return str([(it.kind.value, it.detail) for it in result.faults]) + str(result.notes)
    return result.buffers["out"].data.tobytes()


def _there(queue: Any, built: Any, kernel: Kernel, seed: int) -> bytes:
    import pyopencl as cl

    data = _contents(kernel, seed)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    result = np.zeros(_CALLS * len(data), np.int64)
    buffers = [cl.Buffer(queue.context, flags, hostbuf=it) for it in (data, result)]
    cl.Kernel(built, kernel.name)(queue, _size(kernel), kernel.shape, *buffers)
    cl.enqueue_copy(queue, result, buffers[1])
    return result.tobytes()


if __name__ == "__main__":
    sys.exit(main())
