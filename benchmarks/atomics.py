"""What atomics, component writes and vector loads of local memory cost, by a GPU's own counters.

    python -m benchmarks.atomics --profile --out atomics.json      on the machine with the GPU: all of it
    python -m benchmarks.atomics --table atomics.json              Markdown

The first needs NumPy, CuPy, pyopencl and `ncu`, takes under three minutes, and starts itself again under the
profiler with `--launch`: NVIDIA's profiler does not see OpenCL launches, so the code that the OpenCL compiler
returned is launched through CUDA, once a kernel.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ITEMS = 1024
GROUP = 128
WANTED = re.compile(
    r"^(l1tex__t_(requests|sectors)_pipe_lsu_mem_global_op_(atom|red|ld|st)"
    r"|l1tex__data_pipe_lsu_wavefronts_mem_shared(_op_(atom|red|ld|st))?"
    r"|l1tex__data_bank_conflicts_pipe_lsu_mem_shared(_op_(atom|red|ld|st))?"
    r"|smsp__(sass_)?inst_executed_op_(shared|global|local)(_(atom|red|ld|st)\w*)?"
    r"|smsp__inst_executed_op_\w*(atom|red)\w*"
    r"|lts__t_(requests|sectors)(_srcunit_tex)?_op_(atom|red)(_dot_\w+)?"
    r"|lts__d_atomic\w*)$"
)
INDICES = {
    "same": "0",
    "unit": "i",
    "two addresses": "i & 1",
    "four addresses": "i & 3",
    "sixteen addresses": "i & 15",
    "halves": "i >> 4",
    "pairs": "i >> 1",
    "stride 2": "i * 2",
    "stride 8": "i * 8",
    "stride 32": "i * 32",
    "reverse": "N - i",
    "hash": "(i * 37) & 127",
}
OPERATIONS = {
    "inc int": ("int", "atomic_inc(&{at})", True),
    "add int": ("int", "atomic_add(&{at}, i)", True),
    "max uint": ("uint", "atomic_max(&{at}, (uint)i)", True),
    "xchg float": ("float", "atomic_xchg(&{at}, (float)i)", True),
    "cmpxchg int": ("int", "atomic_cmpxchg(&{at}, i, i + 1)", True),
    "add long": ("long", "atom_add(&{at}, (long)i)", True),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel with one access under test; `result` tells whether the old value is used."""

    name: str
    kind: str
    space: str
    index: str
    result: bool
    active: str
    source: str


def _atomic(space: str, operation: str, index: str, result: bool, active: str, number: int) -> Case:
    kind, call, _ = OPERATIONS[operation]
    text = INDICES[index]
    pragma = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n" if kind == "long" else ""
    local = f"__local {kind} T[4096]; for (int k = get_local_id(0); k < 4096; k += {GROUP}) T[k] = 0;"
    target = "T" if space == "local" else "A"
    at = f"{target}[{text}]"
    statement = call.format(at=at)
    keep = f"B[x] = (int)({statement});" if result else f"{statement};"
    guard = f"if ({active}) " if active else ""
    end = "barrier(CLK_LOCAL_MEM_FENCE); A[x] = T[i & 31];" if space == "local" else ""
    start = f"{local} barrier(CLK_LOCAL_MEM_FENCE);" if space == "local" else ""
    source = (
        f"{pragma}__kernel void k{number}(__global {kind} *A, __global int *B, const int N) {{\n"
        f"  const int x = get_global_id(0), i = {'get_local_id(0)' if space == 'local' else 'x'};\n"
        f"  {start}\n  {guard}{{ {keep} }}\n  {end}\n}}\n"
    )
    return Case(
        f"{space} {operation} {index}{' kept' if result else ''} {active}".strip(),
        "atomic",
        space,
        text,
        result,
        active,
        source,
    )


OTHERS = {
    "component write float4": "__global float4 *A, __global int *B, const int N|A[x].y = (float)x;",
    "component write float8": "__global float8 *A, __global int *B, const int N|A[x].s5 = (float)x;",
    "component write float3": "__global float3 *A, __global int *B, const int N|A[x].z = (float)x;",
    "component write int2": "__global int2 *A, __global int *B, const int N|A[x].y = x;",
    "component write char16": "__global char16 *A, __global int *B, const int N|A[x].s9 = (char)x;",
    "two components written": "__global float4 *A, __global int *B, const int N|A[x].xz = (float2)(x, 1);",
    "half written": "__global float8 *A, __global int *B, const int N|A[x].hi = (float4)(x);",
    "two of four read": "__global float4 *A, __global int *B, const int N"
    "|float4 v = A[x]; B[x] = (int)(v.x + v.z);",
    "lo of four read": "__global float4 *A, __global int *B, const int N"
    "|float2 v = A[x].lo; B[x] = (int)(v.x + v.y);",
    "one of sixteen read": "__global float16 *A, __global int *B, const int N|B[x] = (int)A[x].s3;",
    "char of sixteen read": "__global char16 *A, __global int *B, const int N|B[x] = A[x].s3;",
}
LOCAL_READS = {
    "vload4 bare": "float4 v = vload4(l, T); s = v.x + v.y + v.z + v.w;",
    "vload4 bare size_t": "float4 v = vload4(get_local_id(0), T); s = v.x + v.y + v.z + v.w;",
    "vload4 twice": "float4 v = vload4(l * 2, T); s = v.x + v.y + v.z + v.w;",
    "vload4 three": "float4 v = vload4(l * 3, T); s = v.x + v.y + v.z + v.w;",
    "vload4 plus one": "float4 v = vload4(l + 1, T); s = v.x + v.y + v.z + v.w;",
    "vload4 offset": "float4 v = vload4(l * 2, T + 4); s = v.x + v.y + v.z + v.w;",
    "vload2 bare": "float2 v = vload2(l, T); s = v.x + v.y;",
    "vload2 twice": "float2 v = vload2(l * 2, T); s = v.x + v.y;",
    "vload8 bare": "float8 v = vload8(l, T); s = v.s0 + v.s3 + v.s5 + v.s7 + v.s1 + v.s2 + v.s4 + v.s6;",
    "struct": "S4 v = *(__local S4 *)(T + l * 4); s = v.x + v.y + v.z + v.w;",
    "four scalars": "s = T[l * 4] + T[l * 4 + 1] + T[l * 4 + 2] + T[l * 4 + 3];",
}
FILLS = {
    "words": "for (int k = l; k < 4096; k += {group}) T[k] = A[k];",
    "bytes": "for (int k = l; k < 16384; k += {group}) ((__local char *)T)[k] = ((__global char *)A)[k];",
    "turned": "for (int k = 0; k < 4096 / {group}; k++) T[k * {group} + {last} - l] = A[k * {group} + l];",
}


def cases() -> tuple[Case, ...]:
    """Return every kernel that is measured."""
    found = list(_cases())
    return tuple(found)


def _cases() -> Iterator[Case]:
    number = 0
    for space in ("global", "local"):
        for operation in OPERATIONS:
            for index in INDICES:
                common = operation in ("inc int", "add int")
                if not common and index not in ("same", "unit", "four addresses", "hash"):
                    continue
                for result in (False, True) if common or index == "unit" else (True,):
                    yield _atomic(space, operation, index, result, "", number)
                    number += 1
        for active in ("(i & 1) == 0", "(i & 31) < 5"):
            for index in ("same", "unit", "four addresses"):
                yield _atomic(space, "inc int", index, False, active, number)
                number += 1
    for name, text in OTHERS.items():
        parameters, body = text.split("|")
        source = f"__kernel void k{number}({parameters}) {{ const int x = get_global_id(0); {body} }}\n"
        yield Case(name, "component", "global", "x", False, "", source)
        number += 1
    for name, body in LOCAL_READS.items():
        for fill, loop in FILLS.items():
            start = loop.format(group=GROUP, last=GROUP - 1)
            source = (
                "typedef struct { float x, y, z, w; } S4;\n"
                f"__kernel void k{number}(__global float *A, __global float *B, const int N) {{\n"
                "  __local float T[4200]; const int x = get_global_id(0), l = get_local_id(0); float s;\n"
                f"  {start}\n  barrier(CLK_LOCAL_MEM_FENCE); {body} B[x] = s;\n}}\n"
            )
            yield Case(f"{name}, filled by {fill}", "local read", "local", "", True, "", source)
            number += 1


def kernel_name(case: Case) -> str:
    """Return the name of a case's kernel."""
    found = re.search(r"void (k\d+)\(", case.source)
    assert found is not None
    return found[1]


def build(folder: Path) -> None:
    """Compile every kernel by the device's OpenCL compiler; keep what it returned."""
    import pyopencl as cl

    device = next(it for platform in cl.get_platforms() for it in platform.get_devices())
    context = cl.Context([device])
    for case in cases():
        try:
            program = cl.Program(context, case.source).build()
        except cl.Error as error:
            print(f"{case.name}: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        (folder / f"{kernel_name(case)}.ptx").write_bytes(program.binaries[0].rstrip(b"\0"))


def launch(folder: Path) -> None:
    """Launch every kernel once."""
    import cupy
    import numpy as np

    a = cupy.zeros(1 << 20, np.int32)
    b = cupy.zeros(1 << 20, np.int32)
    for case in cases():
        path = folder / f"{kernel_name(case)}.ptx"
        if path.exists():
            module = cupy.cuda.function.Module()
            module.load(path.read_bytes() + b"\0")
            function = module.get_function(kernel_name(case))
            function((ITEMS // GROUP,), (GROUP,), (a, b, np.int32(ITEMS)))
            cupy.cuda.runtime.deviceSynchronize()


def metrics() -> list[str]:
    """Return the counters of this machine's GPU that tell something about these kernels."""
    text = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in text.splitlines() if line.split()]
    return [f"{name}.sum" for name in dict.fromkeys(names) if WANTED.match(name)]


def profile(out: Path) -> None:
    """Build, launch under the profiler, and write every counter of every kernel."""
    folder = out.parent / "atomics_ptx"
    folder.mkdir(parents=True, exist_ok=True)
    build(folder)
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base"]
    command += ["--metrics", ",".join(metrics()), sys.executable, "-m", "benchmarks.atomics"]
    done = subprocess.run([*command, "--launch", str(folder)], capture_output=True, text=True, check=False)
    print(done.stderr[-2000:], file=sys.stderr)
    rows = csv.DictReader(io.StringIO(_table_of(done.stdout)))
    counted: dict[str, dict[str, float]] = {}
    for row in rows:
        kernel, value = row["Kernel Name"].split("(")[0], row["Metric Value"].replace(",", "")
        if value.replace(".", "", 1).isdigit():
            counted.setdefault(kernel, {})[row["Metric Name"].removesuffix(".sum")] = float(value)
    found = [
        {**asdict(it), "kernel": kernel_name(it), "counters": counted.get(kernel_name(it))} for it in cases()
    ]
    header = {"items": ITEMS, "group": GROUP, "device": _device()}
    out.write_text(json.dumps({**header, "cases": found}, indent=1) + "\n", "utf-8")
    print(f"{sum(it['counters'] is not None for it in found)} of {len(found)} kernels counted")


def _table_of(text: str) -> str:
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return "\n".join(lines[first:])


def _device() -> str:
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def table(path: Path) -> Iterator[str]:
    """Yield the counters that are not 0, kernel by kernel, as Markdown."""
    data = json.loads(path.read_text("utf-8"))
    yield f"{data['device']}, {data['items']} work-items in groups of {data['group']}"
    for case in data["cases"]:
        counters = {name: value for name, value in (case["counters"] or {}).items() if value}
        yield f"* {case['name']}: " + ", ".join(f"{name} {value:g}" for name, value in counters.items())


def main() -> int:
    """Do one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("atomics.json"))
    parser.add_argument("--launch", type=Path)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.launch is not None:
        launch(options.launch)
    elif options.table is not None:
        print("\n".join(table(options.table)))
    elif options.profile:
        profile(options.out)
    else:
        print("\n".join(f"// {it.name}\n{it.source}" for it in cases()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
