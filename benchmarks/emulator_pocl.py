"""Throughput of machine code here beside PoCL on one thread, and what a run takes whatever its size.

usage: python benchmarks/emulator_pocl.py [--only NAME ...]

Each kernel runs at a size for which PoCL takes a tenth of a second or so. CPU seconds (user and system) of a
warm process, the better of two runs (PoCL's of three, the default engine's of four): PoCL with one thread,
kernel already built; ours without metrics and checks, then with checks (as `auto` runs what the symbolic
engine counts), then with all metrics: traced, as `--engine jit` does it, and by the default engine, which
takes them from the symbolic engine where that can follow the kernel. `start` is what a launch of one
work-group takes: it is taken off before the factors are made, but for the default engine, which takes other
ways for small launches. Inputs are left out.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyopencl as cl

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator import address_space, jit
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import memory
from clmap_lsp.emulator.symbolic.control import Bail
from clmap_lsp.emulator.symbolic.measure import measured
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.contents import buffer_contents, scalar_bytes
from clmap_lsp.launch.model import BufferArgument, Launch, ScalarArgument
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program

SOURCE = """
__kernel void pairs(__global const float4 *p, __global float4 *f, int n) {
  int i = get_global_id(0);
  float4 me = p[i], sum = 0;
  for (int j = 0; j < n; j++) {
    float4 d = p[j] - me;
    float r = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
    sum += d * (p[j].w * r * r * r);
  }
  f[i] = sum;
}
__kernel void triangle(__global const float *a, __global float *o) {
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k <= i; k++) s += a[k];
  o[i] = s;
}
#define T 16
__kernel void product(__global const float *a, __global const float *b, __global float *c, int n) {
  __local float as[T][T], bs[T][T];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float s = 0;
  for (int t = 0; t < n; t += T) {
    as[ly][lx] = a[y * n + t + lx];
    bs[ly][lx] = b[(t + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < T; k++) s += as[ly][k] * bs[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = s;
}
__kernel void csr(__global const int *start, __global const int *column, __global const float *value,
                  __global const float *x, __global float *y) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
  y[row] = sum;
}
__kernel void stencil(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    b[y * w + x] = 0.25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}
__kernel void collatz(__global uint *steps) {
  int i = get_global_id(0);
  ulong v = i + 1;
  uint n = 0;
  while (v > 1) { v = v & 1 ? 3 * v + 1 : v >> 1; n++; }
  steps[i] = n;
}
__kernel void histogram(__global const uchar *a, __global uint *bins) {
  __local uint mine[256];
  int l = get_local_id(0);
  mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[a[get_global_id(0)]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[l], mine[l]);
}
__kernel void reduce(__global const float *a, __global float *o) {
  __local float t[256];
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = 128; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) o[get_group_id(0)] = t[0];
}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel, its size and arguments."""

    kernel: str
    size: tuple[int, ...]
    group: tuple[int, ...]
    arguments: dict[str, str]


def _line(kernel: str, items: int, /, **arguments: str) -> Case:
    return Case(kernel, (items,), (256,), arguments)


_M = 1 << 20
CASES = (
    _line("pairs", 8192, p="random(8192)", f="zeros(8192)", n="8192"),
    _line("triangle", 32_768, a="random(32768)", o="zeros(32768)"),
    Case(
        "product",
        (768, 768),
        (16, 16),
        {**dict.fromkeys("ab", "random(589824)"), "c": "zeros(589824)", "n": "768"},
    ),
    _line(
        "csr",
        _M,
        start=f"formula({_M + 1},i*16)",
        column=f"formula({16 * _M},(i*40503)%{_M})",
        value=f"random({16 * _M})",
        x=f"random({_M})",
        y=f"zeros({_M})",
    ),
    Case(
        "stencil",
        (4096, 4096),
        (16, 16),
        {"a": f"random({16 * _M})", "b": f"zeros({16 * _M})", "w": "4096", "h": "4096"},
    ),
    _line("collatz", _M // 2, steps=f"zeros({_M // 2})"),
    _line("histogram", 8 * _M, a=f"random({8 * _M})", bins="zeros(256)"),
    _line("reduce", 8 * _M, a=f"random({8 * _M})", o=f"zeros({8 * _M // 256})"),
)
SETTINGS = EmulationSettings(device=load_model(), time_limit_s=600, memory_limit_mib=8192, may_sample=False)
PLAIN = replace(SETTINGS, trace=False, control=False, races=False, uninitialised=False)
CHECKED = replace(SETTINGS, trace=False)


def ours(
    program: Program, kernel: Kernel, case: Case, settings: EmulationSettings, size: tuple[int, ...]
) -> float:
    """Return the CPU seconds of one launch in a warm process, inputs left out: the better of two."""
    arguments = {name: parse_argument(it) for name, it in case.arguments.items()}
    launch = Launch(case.kernel, size, case.group, arguments)
    if settings is CHECKED and not isinstance(found := measured(kernel, launch), Bail):
        exclusive, ordered = (frozenset(it.name for it in of) for of in (found.exclusive, found.ordered))
        settings = replace(settings, exclusive=exclusive, ordered=ordered)
    best = float("inf")
    for _ in range(2):
        contents = {
            it.name: np.array(buffer_contents(argument, it.type)).view(np.uint8)
            for it in kernel.parameters
            if isinstance(argument := arguments[it.name], BufferArgument)
        }
        started = time.process_time()
        jit.run(program, kernel, launch, settings, contents=contents)
        best = min(best, time.process_time() - started)
    return best


def by_default(program: Program, kernel: Kernel, case: Case) -> tuple[float, str]:
    """Return the CPU seconds of all metrics, outputs and faults, inputs left out, and the engine."""
    launch = Launch(
        case.kernel, case.size, case.group, {name: parse_argument(it) for name, it in case.arguments.items()}
    )
    inputs = 0.0

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal inputs
        started = time.process_time()
        made = buffer_contents(*arguments, **options)
        inputs += time.process_time() - started
        return made

    address_space.buffer_contents = memory.buffer_contents = timed
    best, method = float("inf"), ""
    for _ in range(4):  # The first ones touch memory that the process, and its host, never had before.
        inputs, started = 0.0, time.process_time()
        method = emulate(program, kernel, launch, SETTINGS).engine.value
        best = min(best, time.process_time() - started - inputs)
    return best, method


def pocl(kernel: Kernel, case: Case, queue: Any, built: Any) -> float:
    """Return the CPU seconds of one launch, the best of three."""
    found = cl.Kernel(built, case.kernel)
    best = float("inf")
    for _ in range(3):
        buffers = []
        for number, it in enumerate(kernel.parameters):
            argument = parse_argument(case.arguments[it.name])
            if isinstance(argument, BufferArgument):
                data = np.array(buffer_contents(argument, it.type)).view(np.uint8)
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                buffers.append(cl.Buffer(queue.context, flags, hostbuf=data))
                found.set_arg(number, buffers[-1])
            elif isinstance(argument, ScalarArgument):
                found.set_arg(number, scalar_bytes(argument, it.type))
        started = time.process_time()
        cl.enqueue_nd_range_kernel(queue, found, case.size, case.group)
        queue.finish()
        best = min(best, time.process_time() - started)
    return best


def main() -> None:
    os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    context = cl.create_some_context(interactive=False)
    queue, built = cl.CommandQueue(context), cl.Program(context, SOURCE).build()
    program = read_program(SOURCE, "throughput.cl")
    print("kernel      PoCL ms   plain  start ms   checked  start ms   traced  start ms   default")
    for case in CASES:
        if options.only and case.kernel not in options.only:
            continue
        kernel = program.kernel(case.kernel)
        assert kernel is not None
        theirs = pocl(kernel, case, queue, built)
        columns = ""
        for settings in (PLAIN, CHECKED, SETTINGS):
            start = ours(program, kernel, case, settings, case.group)
            taken = ours(program, kernel, case, settings, case.size)
            columns += f"{(taken - start) / theirs:8.1f} {1e3 * start:9.1f} "
        taken, engine = by_default(program, kernel, case)
        columns += f"{taken / theirs:8.1f} {engine}"
        print(f"{case.kernel:10s} {1e3 * theirs:8.1f} {columns}", flush=True)


if __name__ == "__main__":
    main()
