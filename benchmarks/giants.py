"""Writes files of which one kernel is most: generated code of the kinds that people paste and then edit.

    python -m benchmarks.giants FOLDER [--characters 50000]

Five kinds, each about as long as asked for: `ode`, the right-hand side of a system of equations with
hundreds of assignments; `chain`, a long chain of `if` and `else if`; `cases`, one `switch` in a loop; `fft`,
an unrolled FFT with twiddle factors as numbers; `macros`, a random generator whose functions long macros make
for each width, and kernels that call them. `several` is as long and has ordinary kernels. They are for
`benchmarks.typing_latency --inside` and `benchmarks.language_latency`, which type in the middle.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from benchmarks.keystrokes import source


def ode(n_characters: int) -> str:
    """Return a model of a cell: rates from states, then the derivatives of all states."""
    head = (
        "// The right-hand side of a stiff system, one cell a work-item.\n"
        "__kernel void rates(__global const float *state, __global const float *parameter,\n"
        "                    __global float *derivative, const int cells)\n{\n"
        "    const int cell = get_global_id(0);\n    if (cell >= cells)\n        return;\n"
        "    const float time = parameter[0];\n"
    )
    lines: list[str] = []
    size = len(head)
    for i in count():
        if size > n_characters:
            break
        before = f"rate_{i - 1}" if i else "time"
        one = (
            f"    const float s_{i} = state[{i} * cells + cell];\n"
            f"    float gate_{i} = 1.0f / (1.0f + exp(-(s_{i} + {3 + i % 41}.5f) / {7 + i % 5}.0f));\n"
            f"    float rate_{i} = parameter[{i % 17}] * (gate_{i} - s_{i}) * pow(s_{i}, {2 + i % 3}.0f)"
            f" + 0.{i % 9 + 1}f * {before};\n"
        )
        if i % 7 == 3:
            one += f"    if (s_{i} > {i % 11}.0f)\n        rate_{i} = rate_{i} * 0.5f;\n"
        one += f"    derivative[{i} * cells + cell] = rate_{i} - 0.01f * s_{i};\n"
        lines.append(one)
        size += len(one)
    return head + "".join(lines) + "}\n"


def chain(n_characters: int) -> str:
    """Return a table of materials as a chain of conditions."""
    head = (
        "// What a ray does in each material.\n"
        "__kernel void shade(__global const int *material, __global const float4 *ray,\n"
        "                    __global float4 *colour, const int rays)\n{\n"
        "    const int i = get_global_id(0);\n    if (i >= rays)\n        return;\n"
        "    const int kind = material[i];\n    const float4 incoming = ray[i];\n"
        "    float4 outgoing = (float4)(0.0f);\n    float weight = 1.0f;\n"
    )
    lines: list[str] = []
    size = len(head)
    for i in count():
        if size > n_characters:
            break
        word = "if" if i == 0 else "else if"
        one = (
            f"    {word} (kind == {i}) {{\n"
            f"        float facing_{i} = fmax(0.0f, dot(incoming.xyz, (float3)(0.{i % 9}f, 1.0f, 0.5f)));\n"
            f"        weight = facing_{i} * 0.{i % 8 + 1}f;\n"
            f"        outgoing = ray[(i + {i}) % rays] * weight;\n"
            f"        outgoing.w += native_sqrt(facing_{i});\n    }}\n"
        )
        lines.append(one)
        size += len(one)
    return head + "".join(lines) + "    colour[i] = outgoing;\n}\n"


def cases(n_characters: int) -> str:
    """Return an interpreter of a small machine: one `switch` in a loop."""
    head = (
        "// Runs a program of a small machine, one machine a work-item.\n"
        "__kernel void interpret(__global const uint *program, __global uint *memory, const uint steps,\n"
        "                        const uint machines)\n{\n"
        "    const uint me = get_global_id(0);\n    if (me >= machines)\n        return;\n"
        "    uint a = memory[me], b = 0, c = 1, at = 0;\n"
        "    for (uint step = 0; step < steps; step++) {\n"
        "        const uint word = program[at];\n        switch (word & 0xffu) {\n"
    )
    lines: list[str] = []
    size = len(head)
    shapes = (
        "a = rotate(a, {k}u) + b * {m}u;",
        "b = (a ^ memory[({k}u + a) % machines]) & {m}u;",
        "c = mad24(c, {k}u, b) >> {k7}u;",
        "memory[me + {k}u * machines] = a + c;",
        "if (a > {m}u) at += {k7}u;",
    )
    for i in count():
        if size > n_characters or i == 250:
            break
        body = "".join(
            f"            {shape.format(k=i + j, m=i * 7 + j, k7=(i + j) % 7 + 1)}\n"
            for j, shape in enumerate(shapes * max(1, n_characters // 50_000))
        )
        one = (
            f"        case {i}u: {{\n            uint kept_{i} = a;\n{body}"
            f"            c += kept_{i};\n            break;\n        }}\n"
        )
        lines.append(one)
        size += len(one)
    tail = "        default:\n            break;\n        }\n        at++;\n    }\n"
    tail += "    memory[me] = a + b + c;\n}\n"
    return head + "".join(lines) + tail


def fft(n_characters: int) -> str:
    """Return an FFT without loops: every butterfly is written out."""
    points = 8
    while True:
        text = _unrolled(points)
        if len(text) >= n_characters or points == 4096:
            return text[: text.rfind("\n", 0, n_characters)] + "\n}\n" if len(text) > n_characters else text
        points *= 2


def _unrolled(points: int) -> str:
    lines = [
        f"// {points} points, one transform a work-item.",
        "__kernel void transform(__global const float2 *in, __global float2 *out, const int batch)",
        "{",
        "    const int b = get_global_id(0);",
        "    if (b >= batch)",
        "        return;",
        "    float re, im;",
    ]
    bits = points.bit_length() - 1
    for i in range(points):
        reverse = int(f"{i:0{bits}b}"[::-1], 2)
        lines.append(f"    float2 x{i} = in[{reverse} * batch + b];")
    half = 1
    while half < points:
        for start in range(0, points, 2 * half):
            for k in range(half):
                turn = -math.pi * k / half
                one, other = start + k, start + k + half
                lines += [
                    f"    re = x{other}.x * {math.cos(turn):.7f}f - x{other}.y * {math.sin(turn):.7f}f;",
                    f"    im = x{other}.x * {math.sin(turn):.7f}f + x{other}.y * {math.cos(turn):.7f}f;",
                    f"    x{other} = x{one} - (float2)(re, im);",
                    f"    x{one} += (float2)(re, im);",
                ]
        half *= 2
    lines += [f"    out[{i} * batch + b] = x{i};" for i in range(points)]
    return "\n".join([*lines, "}", ""])


def macros(n_characters: int) -> str:
    """Return a generator of random numbers that long macros make for words of 32 and 64 bits, and kernels."""
    parts = ["// Mixes counters with keys: a random number for each counter.\n", _turns(2), _turns(4)]
    rounds = 8
    while sum(map(len, (made := [_mixer(2, rounds), _mixer(4, rounds)]))) < 0.75 * n_characters:
        rounds += 4
    parts += [
        "#define TURN_32(x, by) rotate((x), (uint)(by))\n",
        "#define TURN_64(x, by) rotate((x), (ulong)(by))\n",
        *made,
        *(f"DEFINE_MIX{words}({bits}, {kind})\n" for words in (2, 4) for bits, kind in _WIDTHS),
        "\n",
    ]
    size = sum(map(len, parts))
    for number in count():
        if size > n_characters and number >= 4:
            break
        words, (bits, kind) = (2, 4)[number % 2], _WIDTHS[number // 2 % 2]
        lanes = "".join(
            f"    out[{words} * item + {at}] = state.v[{at}] ^ seeds[{at}];\n" for at in range(words)
        )
        one = (
            f"__kernel void draw_{number}(__global {kind} *out, __global const {kind} *seeds, uint n)\n{{\n"
            "    const uint item = get_global_id(0);\n    if (item >= n)\n        return;\n"
            f"    mix{words}x{bits}_state state, key;\n"
            f"    for (int i = 0; i < {words}; i++) {{\n"
            "        state.v[i] = item + i;\n        key.v[i] = seeds[i];\n    }\n"
            f"    state = mix{words}x{bits}({rounds}, state, key);\n{lanes}}}\n\n"
        )
        parts.append(one)
        size += len(one)
    return "".join(parts)


_WIDTHS = ((32, "uint"), (64, "ulong"))


def _turns(words: int) -> str:
    """Return by how much each round turns its words."""
    rows = [
        f"    TURN_{bits}_{words}_{step}_{pair} = {(7 * step + 13 * pair + bits // 8) % (bits - 1) + 1},\n"
        for bits, _ in _WIDTHS
        for step in range(8)
        for pair in range(words // 2)
    ]
    return f"enum turns_of_{words} {{\n{''.join(rows)}}};\n\n"


def _mixer(words: int, rounds: int) -> str:
    """Return a macro that defines a type and a function of so many rounds for a width."""
    type_ = f"mix{words}x##BITS##_state"
    lines = [
        f"#define DEFINE_MIX{words}(BITS, WORD)",
        f"typedef struct {{ WORD v[{words}]; }} {type_};",
        f"static inline {type_} mix{words}x##BITS(uint rounds, {type_} in, {type_} key) {{",
        f"    {type_} s;",
        f"    WORD keys[{words} + 1];",
        f"    keys[{words}] = (WORD)0x9E3779B9u; /* the golden ratio */",
        f"    for (int i = 0; i < {words}; i++) {{",
        f"        keys[i] = key.v[i]; s.v[i] = in.v[i] + key.v[i]; keys[{words}] ^= key.v[i];",
        "    }",
    ]
    for step in range(rounds):
        pairs = ((0, 1), (2, 3)) if step % 2 == 0 else ((0, 3), (2, 1))
        mixed = "".join(
            f" s.v[{a}] += s.v[{b}]; s.v[{b}] = TURN_##BITS(s.v[{b}], TURN_##BITS##_{words}_{step % 8}_{at});"
            f" s.v[{b}] ^= s.v[{a}];"
            for at, (a, b) in enumerate(pairs[: words // 2] if words == 4 else ((0, 1),))
        )
        lines.append(f"    if (rounds > {step}) {{{mixed} }}")
        if step % 4 == 3:
            added = " ".join(
                f"s.v[{at}] += keys[{(at + step // 4 + 1) % (words + 1)}];" for at in range(words)
            )
            lines.append(f"    if (rounds > {step}) {{ {added} s.v[{words - 1}] += {step // 4 + 1}; }}")
    lines += ["    return s;", "}"]
    return " \\\n".join(f"{it:<76}" for it in lines).rstrip() + "\n\n"


def several(n_characters: int) -> str:
    """Return ordinary kernels, as many as it takes."""
    return next(text for n in count(6, 6) if len(text := source(n, 0)) >= n_characters)


KINDS: dict[str, Callable[[int], str]] = {
    "ode": ode,
    "chain": chain,
    "cases": cases,
    "fft": fft,
    "macros": macros,
    "several": several,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.giants", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--characters", type=int, default=50_000)
    arguments = parser.parse_args(argv)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, make in KINDS.items():
        path = arguments.folder / f"{name}_{arguments.characters // 1000}.cl"
        path.write_text(make(arguments.characters), encoding="utf-8")
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
