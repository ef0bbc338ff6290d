"""What the ladder benchmark times: fixtures, their sizes, and the work that one launch does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
PAPERS = ("swap-dimensions", "stage-loop", "pad-local")


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel. `large` replaces parts of its launch comment, for devices that need more work.

    `flops` and `useful_bytes` are expressions in the launch's scalars and `items` (work-items of the kernel
    as it was): operations of the algorithm, and bytes that it must read and write once at least. Empty where
    a figure means nothing.
    """

    name: str
    path: str
    kernel: str
    large: tuple[tuple[str, str], ...]
    flops: str = ""
    useful_bytes: str = ""
    kinds: tuple[str, ...] = ()
    """Kinds of fixes to climb with; all if empty."""
    edit: tuple[tuple[str, str], ...] = ()
    """Other changes of the fixture's text, such as the work-group size."""


_MATRIX = (("256,256", "2048,2048"), ("N=256", "N=2048"))
_GRID = (("256,256", "4096,4096"), ("N=256", "N=4096"))
_WIDER = (("local=16,16", "local=32,32"),)

CASES = (
    Case("matmul", "matmul/simple.cl", "mm_simple", _MATRIX, "2*N**3", "12*N**2", PAPERS),
    Case(
        "matmul, groups of 32x32",
        "matmul/simple.cl",
        "mm_simple",
        _MATRIX,
        "2*N**3",
        "12*N**2",
        PAPERS,
        _WIDER,
    ),
    Case("matmul, any fix", "matmul/simple.cl", "mm_simple", _MATRIX, "2*N**3", "12*N**2"),
    Case("matmul by rows", "matmul/row_per_item.cl", "mm_row", (("=256 ", "=2048 "),), "2*N**3", "12*N**2"),
    Case("transpose", "transpose/naive.cl", "transpose_naive", _GRID, "", "8*N**2"),
    Case("transpose through a tile", "transpose/tiled.cl", "transpose_tiled", _GRID, "", "8*N**2"),
    Case("convolution", "convolution/direct.cl", "convolve_direct", _GRID, "50*N**2", "8*N**2"),
    Case(
        "stencil",
        "stencil/nine_point.cl",
        "stencil_nine_point",
        (("=256", "=4096"), (",256", ",4096")),
        "18*width*height",
        "8*width*height",
    ),
    Case(
        "reduction",
        "reduction/kinds.cl",
        "reduce_strided",
        (("16384", "16777216"), ("zeros(64)", "zeros(65536)")),
        "items",
        "4*items",
    ),
    Case(
        "n-body",
        "particles/nbody_direct.cl",
        "nbody_direct",
        (("1024", "16384"),),
        "20*bodies**2",
        "32*bodies",
    ),
    Case("particles", "particles/layouts.cl", "update_aos", (("4096", "4194304"),), "6*items", "36*items"),
    Case(
        "matrix times vector",
        "matvec/by_row_and_column.cl",
        "matvec_row",
        (("1024", "262144"),),
        "2*N*rows",
        "4*N*rows",
    ),
    Case(
        "chunks",
        "strides/splits.cl",
        "split_chunk",
        (("4096", "1048576"), ("65536", "16777216")),
        "16*items",
        "68*items",
    ),
)
"""Sizes are chosen so that a launch takes about a millisecond or more on a large GPU, and fits into 1 GB."""
