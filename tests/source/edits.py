"""Random edits of runs of tokens, as typing, pasting and deleting make them."""

from __future__ import annotations

import random
import re

_TOKEN = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|\w+|[^\w\s]", re.DOTALL)
_TYPED = (
    *(
        "x",
        "n",
        "0",
        "1.0f",
        ";",
        ",",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "+",
        "*",
        "&",
        "=",
        "#",
        "\\\n",
        "/*",
        "*/",
    ),
    *("int ", "float4 ", "__global ", "__local ", "const ", "auto ", "return ", "if (n) ", "for (;;) "),
    *("#define n 3\n", "\n#undef n\n", "\n#if 0\n", "\n#else\n", "\n#endif\n", "// \n", "std::", "^{ }"),
    *("barrier(CLK_LOCAL_MEM_FENCE);", "a[get_global_id(0)]", "template <typename T> ", "int &r = x;"),
    *("float f(float x) { return x; }\n", "__kernel void g(__global int *p) { p[0] = n; }\n"),
)


def edited(text: str, rng: random.Random) -> str:
    """Insert, delete or replace a run of up to eight tokens, or move one to another place."""
    tokens = _TOKEN.findall(text)
    at = rng.randrange(len(tokens) + 1)
    end = min(at + rng.randrange(1, 9), len(tokens))
    typed = [rng.choice(_TYPED) for _ in range(rng.randrange(1, 4))]
    match rng.randrange(5):
        case 0:
            tokens[at:at] = typed
        case 1:
            del tokens[at:end]
        case 2:
            tokens[at:end] = typed
        case 3:
            run = tokens[at:end]
            to = rng.randrange(len(tokens) + 1)
            tokens[to:to] = run
        case _:
            run = tokens[at:end]
            del tokens[at:end]
            to = rng.randrange(len(tokens) + 1)
            tokens[to:to] = run
    return "".join(tokens)


def generated(rng: random.Random) -> str:
    """Return a file of helpers, macros, tables, types and kernels that use each other."""
    n_helpers, n_kernels = rng.randrange(1, 4), rng.randrange(1, 4)
    parts = [
        f"#define N {rng.randrange(2, 40)}\n#define AT(r, c) ((r) * N + (c))\n",
        "typedef struct { float x; int n[3]; } S;\n",
        f"__constant int T[4] = {{ 1, 2, 3, {rng.randrange(9)} }};\n",
    ]
    for number in range(n_helpers):
        before = f"h{number - 1}(p, i - 1)" if number else "T[i & 3]"
        parts.append(
            f"float h{number}(__global const float *p, int i) {{ return p[AT(i, 1)] + {before}; }}\n"
        )
    for number in range(n_kernels):
        loop = f"for (int j = 0; j < N; j++) s += h{rng.randrange(n_helpers)}(a, AT(i, j));"
        store = rng.choice(
            ["a[i] = s;", "q[i].x = s;", "q[i].n[i % 3] = (int)s;", "if (s > 1) a[AT(i, i)] = s;"]
        )
        parts.append(
            f"__kernel void k{number}(__global float *a, __global S *q, int n) {{\n"
            f"  int i = get_global_id(0);\n  float s = 0;\n  {loop}\n  {store}\n}}\n"
        )
    rng.shuffle(parts[3 + n_helpers :])
    return "".join(parts)
