"""Arguments of prepared kernels as plain data, their contents, and whether outputs agree.

Where kernels are timed there are NumPy and pyopencl only: nothing else is imported but within `described`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Argument
    from clmap_lsp.source.types import Type

TOLERANCE = 2e-3
"""Outputs may differ by this part of the largest value: sums are reordered by compilers, too."""
_FILLS = ("zeros", "iota", "formula")


def described(name: str, kind: Type, argument: Argument) -> dict[str, Any]:
    """Return an argument as plain data; what no fill of ours describes is random."""
    from clmap_lsp.launch.contents import buffer_bytes, numpy_dtype, scalar_bytes, scalar_leaves
    from clmap_lsp.launch.model import BufferArgument, LocalArgument, ScalarArgument
    from clmap_lsp.source.types import PointerType

    if isinstance(argument, ScalarArgument):
        return {"name": name, "kind": "scalar", "hex": scalar_bytes(argument, kind).hex()}
    assert isinstance(kind, PointerType), f"{name} has a buffer"
    if isinstance(argument, LocalArgument):
        return {"name": name, "kind": "local", "bytes": argument.count * kind.pointee.size}
    assert isinstance(argument, BufferArgument), f"{name} has no argument"
    dtype = numpy_dtype(next(iter(scalar_leaves(kind.pointee)))[1])
    return {
        "name": name,
        "kind": "buffer",
        "dtype": dtype.str,
        "scalars": buffer_bytes(argument, kind) // dtype.itemsize,
        "fill": argument.fill.value if argument.fill.value in _FILLS else "random",
        "text": argument.text,
        "seed": argument.seed,
    }


def contents(argument: Mapping[str, Any]) -> NDArray[Any]:
    """Return a buffer's scalars at launch."""
    count, dtype = argument["scalars"], np.dtype(argument["dtype"])
    if argument["fill"] == "zeros":
        return np.zeros(count, dtype)
    if argument["fill"] == "iota":
        return np.arange(count).astype(dtype)
    if argument["fill"] == "formula":
        indices = np.arange(count, dtype=np.int64)
        # Formulas of the cases themselves: sums, products and remainders of i.
        return np.asarray(eval(argument["text"], {"__builtins__": {}}, {"i": indices}) + 0 * indices, dtype)
    rng = np.random.default_rng(argument["seed"])
    if dtype.kind == "f":
        return np.asarray(rng.random(count, np.float32), dtype)
    bounds = np.iinfo(dtype)
    return np.asarray(rng.integers(bounds.min, bounds.max, count, dtype, endpoint=True))


def agreement(first: Mapping[str, NDArray[Any]], outputs: Mapping[str, NDArray[Any]]) -> str:
    """Return how the buffers that both versions have agree after one launch."""
    worst, shared = 0.0, 0
    for name, data in first.items():
        if name not in outputs or outputs[name].size != data.size:
            continue
        shared += 1
        if np.array_equal(data, outputs[name], equal_nan=data.dtype.kind == "f"):
            continue
        scale = float(np.abs(data.astype(np.float64)).max()) or 1.0
        apart = np.abs(data.astype(np.float64) - outputs[name].astype(np.float64))
        worst = max(worst, float(np.nan_to_num(apart, nan=np.inf).max()) / scale)
    if not shared:
        return "laid out otherwise"
    if worst > TOLERANCE:
        return f"DIFFER by {worst:.1e}"
    return "equal" if not worst else f"within {worst:.0e}"
