"""Which private arrays NVIDIA's OpenCL compiler keeps in memory, against what is said of them here.

    python -m benchmarks.private_arrays measure > results.json     where there is an NVIDIA OpenCL device
    python -m benchmarks.private_arrays compare benchmarks/results/private_arrays_h100.json

Kernels of 20 forms and several sizes: sums, tables, insertion, sorting networks, small matrices, dynamic
programming, with loops of known and unknown length. `measure` reads the PTX that the driver makes and what
its assembler says of it. `compare` prints where memory is used on one side only; exit code 1 beyond three.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from clmap_lsp.compiled.build import compiled
from clmap_lsp.compiled.target import nvidia
from clmap_lsp.source.read import read_program

_ALLOWED = 3
_LENGTHS = (8, 16, 32, 64, 128, 256)
_ORDERS = (3, 4, 5, 6, 8, 10, 12, 16)
_FILL = "float r[N]; for (int i = 0; i < N; i++) r[i] = x[i * n + g];"
_BY_LENGTH = {
    "sum": _FILL + " float a = 0; for (int i = 0; i < N; i++) a += r[i] * r[N - 1 - i]; o[g] = a;",
    "edit": "int row[N+1]; for (int j = 0; j <= N; j++) row[j] = j;"
    " for (int t = 0; t < 32; t++) { int d = row[0]; row[0] = t + 1; float c = x[t * n + g];"
    " for (int j = 1; j <= N; j++) { int cost = d + (c != x[j + g]); d = row[j];"
    " row[j] = min(cost, min(row[j], row[j-1]) + 1); } } o[g] = row[N];",
    "programming": "float row[N]; for (int j = 0; j < N; j++) row[j] = 0;"
    " for (int t = 0; t < n; t++) { float c = x[t * n + g];"
    " for (int j = 1; j < N; j++) row[j] = max(row[j], row[j-1] + c); }"
    " float s = 0; for (int j = 0; j < N; j++) s += row[j]; o[g] = s;",
    "long_values": "float r[N]; for (int i = 0; i < N; i++) { float v = x[i * n + g]; v = v * v + 1;"
    " v = v / (v + 2); v = sqrt(v) + 3 * v; v = sin(v) * cos(v); r[i] = v; }"
    " float a = 0; for (int t = 0; t < n; t++) for (int i = 0; i < N; i++) a = a * r[i] + 1; o[g] = a;",
    "downwards": "float r[N]; for (int i = N - 1; i >= 0; i--) r[i] = x[i * n + g];"
    " float a = 0; for (uint i = 0; i < (uint)N; i += 2) a += r[i] * r[i + 1]; o[g] = a;",
    "left_early": _FILL + " int i = 0; for (i = 0; i < N; i++) if (r[i] > 0.5f) break; o[g] = i;",
    "insertion": "float r[N]; for (int i = 0; i < N; i++) { float v = x[i * n + g]; int j = i;"
    " while (j > 0 && r[j-1] > v) { r[j] = r[j-1]; j--; } r[j] = v; } o[g] = r[N/2];",
    "unknown_length": "float r[N]; for (int i = 0; i < n; i++) r[i] = x[i * n + g];"
    " float a = 0; for (int i = 0; i < n; i++) a += r[i] * r[n - 1 - i]; o[g] = a;",
    "counts": "float r[N]; for (int i = 0; i < N; i++) r[i] = 0;"
    " for (int t = 0; t < n; t++) r[(int)x[t] & (N-1)] += 1;"
    " float a = 0; for (int i = 0; i < N; i++) a += r[i]; o[g] = a;",
    "not_unrolled": "float r[N];\n#pragma unroll 1\nfor (int i = 0; i < N; i++) r[i] = x[i * n + g];"
    " float a = 0; for (int i = 0; i < N; i++) a += r[i] * r[N - 1 - i]; o[g] = a;",
    "told_to": "float r[N];\n#pragma unroll\nfor (int i = 0; i < N; i++) r[i] = x[i * n + g]; float a = 0;\n"
    "#pragma unroll\nfor (int t = 0; t < N; t++) a = a * r[t] + r[N - 1 - t]; o[g] = a;",
    "vectors": "float4 r[N]; for (int i = 0; i < N; i++) r[i] = vload4(i * n + g, x);"
    " float4 a = 0; for (int i = 0; i < N; i++) a += r[i] * r[N - 1 - i]; o[g] = a.x + a.y + a.z + a.w;",
}
_SWAP = "if (r[j] > r[j+1]) { float t = r[j]; r[j] = r[j+1]; r[j+1] = t; }"
_BY_ORDER = {
    "bubble": _FILL
    + f" for (int i = 0; i < N; i++) for (int j = 0; j < N - 1 - i; j++) {_SWAP} o[g] = r[N/2];",
    "network": _FILL + f" for (int i = 0; i < N; i++) for (int j = 0; j + 1 < N; j++) {_SWAP} o[g] = r[N/2];",
    "product": "float a[N][N], b[N][N]; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {"
    " a[i][j] = x[(i * N + j) * n + g]; b[i][j] = x[(i * N + j) * n + g + 7]; }"
    " float s = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { float c = 0;"
    " for (int t = 0; t < N; t++) c += a[i][t] * b[t][j]; s += c * c; } o[g] = s;",
    "cholesky": "float l[N][N]; for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) {"
    " float s = x[(i * N + j) * n + g]; for (int t = 0; t < j; t++) s -= l[i][t] * l[j][t];"
    " l[i][j] = i == j ? sqrt(s) : s / l[j][j]; }"
    " float s = 0; for (int i = 0; i < N; i++) s += l[i][i]; o[g] = s;",
    "sums_of_products": "float c[N][N]; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) c[i][j] = 0;"
    " for (int t = 0; t < n; t++) { float a[N], b[N]; for (int i = 0; i < N; i++) {"
    " a[i] = x[t * n + i * 64 + g]; b[i] = x[t * n + i * 32 + g + 9]; }"
    " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) c[i][j] += a[i] * b[j]; }"
    " for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) o[(i * N + j) * n + g] = c[i][j];",
    "weights": "const float w[N] = {LIST}; float a = 0; for (int i = 0; i < N; i++) a += w[i] * x[i * n + g];"
    " o[g] = a;",
    "weights_by_data": "const float w[N] = {LIST}; float a = 0;"
    " for (int i = 0; i < n; i++) a += w[(int)x[i] % N] * x[i * n + g]; o[g] = a;",
    "in_a_call": _FILL + " o[g] = total(r);",
}
_TOTAL = (
    "float total(float *v) { float s = 0; for (int i = 0; i < N; i++) s += v[i] * v[N - 1 - i]; return s; }"
)


def kernels() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each kernel."""
    for bodies, sizes in ((_BY_LENGTH, _LENGTHS), (_BY_ORDER, _ORDERS)):
        for name, body in bodies.items():
            for size in sizes:
                before = _TOTAL if name == "in_a_call" else ""
                text = f"{before}\n__kernel void k(__global const float *x, __global float *o, int n)\n"
                text += f"{{ int g = get_global_id(0);\n{body}\n}}\n"
                numbers = ", ".join(f"{it + 1}.0f" for it in range(size))
                yield f"{name} {size}", re.sub(r"\bN\b", str(size), text).replace("LIST", numbers)


def measure() -> dict[str, Any]:
    """Build every kernel with the driver's compiler."""
    import pyopencl as cl

    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])

    def one(named: tuple[str, str]) -> tuple[str, dict[str, int]]:
        program = cl.Program(context, named[1]).build(options=["-cl-nv-verbose"])
        log = program.get_build_info(device, cl.program_build_info.LOG)
        ptx = program.get_info(cl.program_info.BINARIES)[0].decode("utf-8", "replace")
        depot = re.search(r"__local_depot\d+\[(\d+)\]", ptx)
        stack, registers = re.search(r"(\d+) bytes stack", log), re.search(r"Used (\d+) registers", log)
        return named[0], {
            "ptx_local": int(depot[1]) if depot else 0,
            "stack": int(stack[1]) if stack else 0,
            "registers": int(registers[1]) if registers else 0,
            "ptx_lines": ptx.count("\n"),
        }

    with ThreadPoolExecutor(8) as pool:
        found = dict(pool.map(one, kernels()))
    return {"schema": 1, "device": device.name, "driver": device.driver_version, "kernels": found}


def compare(path: Path) -> int:
    """Print where an array is in memory on one side only."""
    theirs = json.loads(path.read_text("utf-8"))["kernels"]
    n_other = 0
    for name, text in kernels():
        program = read_program(text, "k.cl")
        made = compiled(program.kernels[0], nvidia("sm_90"), program.constants)
        assert not isinstance(made, str), made
        if bool(made.code.private_bytes) != bool(theirs[name]["ptx_local"]):
            n_other += 1
            print(f"{name}: {made.code.private_bytes} bytes in memory, the driver's {theirs[name]}")
    print(f"{n_other} of {len(theirs)} differ")
    return int(n_other > _ALLOWED)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["measure", "compare"])
    parser.add_argument("results", type=Path, nargs="?")
    options = parser.parse_args()
    if options.what == "compare":
        return compare(options.results)
    json.dump(measure(), sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
