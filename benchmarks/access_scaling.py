"""Prints what deriving and classifying accesses costs, for kernels of 10, 100 and 1,000 of them.

    python -m benchmarks.access_scaling

Times are CPU times. The cost must grow linearly: the microseconds an access are to stay about the same from
line to line.
"""

from __future__ import annotations

import timeit
from functools import partial
from time import process_time

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.classify import classify
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

SIZES = (10, 100, 1000)


def kernel_with(n_accesses: int) -> Kernel:
    """Return a kernel of so many accesses: rows and columns of two arrays, in loops and out of them."""
    statements = [
        f"for (int k = 0; k < N; k++) B[y * N + x] = A[(y + {at}) * N + k];"
        if at % 4 == 0
        else f"if (x < N - {at}) B[x * N + y] = A[y * N + x + {at}];"
        for at in range(n_accesses // 2)
    ]
    source = (
        "__kernel void k(__global const float *A, __global float *B, int N) {\n"
        "  int x = get_global_id(0), y = get_global_id(1);\n  " + "\n  ".join(statements) + "\n}\n"
    )
    (kernel,) = read_program(source, "scaling.cl", BuildOptions()).kernels
    return kernel


def main() -> None:
    """Print one line a size."""
    for size in SIZES:
        kernel = kernel_with(size)
        summary = analyse(kernel)
        repeats = max(1, 200 // size)
        derive = (
            min(timeit.repeat(partial(analyse, kernel), timer=process_time, number=repeats, repeat=5))
            / repeats
        )
        name = (
            min(timeit.repeat(partial(classify, summary), timer=process_time, number=repeats, repeat=5))
            / repeats
        )
        n = len(summary.accesses)
        print(
            f"{n:5} accesses: derive {derive * 1e3:8.2f} ms, classify {name * 1e3:8.2f} ms, "
            f"{(derive + name) / n * 1e6:6.0f} µs an access"
        )


if __name__ == "__main__":
    main()
