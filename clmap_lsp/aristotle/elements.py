"""Element types and the data that the microbenchmarks read.

The data are a hash of the element's index: no two stretches are alike, so no compression in a memory system
can help, and any element can be recomputed anywhere without keeping a copy of the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass

_SCALARS: dict[str, str] = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
    "float": "f4",
    "double": "f8",
}


@dataclass(frozen=True, slots=True)
class Element:
    """An OpenCL element type: a scalar, or a vector of 2, 4, 8 or 16."""

    scalar: str
    lanes: int = 1

    @property
    def name(self) -> str:
        """Return its OpenCL C name."""
        return self.scalar if self.lanes == 1 else f"{self.scalar}{self.lanes}"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the scalar's NumPy type."""
        return np.dtype(_SCALARS[self.scalar])

    @property
    def bytes(self) -> int:
        """Return the size of one element."""
        return self.dtype.itemsize * self.lanes


def parse_element(text: str) -> Element:
    """Return the element type of an OpenCL C name.

    Raises: ValueError if it is not a scalar or a vector of 2, 4, 8, 16 of the ten built-in scalar types.
    """
    scalar = text.rstrip("0123456789")
    lanes = int(text[len(scalar) :] or 1)
    if scalar not in _SCALARS or lanes not in (1, 2, 4, 8, 16):
        raise ValueError(
            f"no element type {text!r}: one of {', '.join(_SCALARS)}, or a vector of 2, 4, 8, 16"
        )
    return Element(scalar, lanes)


# The finaliser of MurmurHash3 (A. Appleby, public domain), in C and in NumPy.
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35

_HASH_SOURCE = f"""
uint clmap_hash(uint x) {{
  x += {_GOLDEN:#x}u;
  x = (x ^ (x >> 16)) * {_MIX_1:#x}u;
  x = (x ^ (x >> 13)) * {_MIX_2:#x}u;
  return x ^ (x >> 16);
}}
"""


def fill_source(element: Element) -> str:
    """Return a kernel `clmap_fill(data, count, seed)` that fills `count` scalars, any global size."""
    wide = element.dtype.itemsize == 8
    bits = "ulong bits = ((ulong)clmap_hash(low) << 32) | clmap_hash(low ^ 0x5bd1e995u);" if wide else (
        "uint bits = clmap_hash(low);"
    )  # fmt: skip
    match element.scalar:
        case "float":
            value = "(float)(bits >> 8) * 0x1p-24f"
        case "double":
            value = "(double)(bits >> 11) * 0x1p-53"
        case scalar:
            value = f"({scalar})bits"
    return f"""{_HASH_SOURCE}
__kernel void clmap_fill(__global {element.scalar} *data, const ulong count, const uint seed) {{
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {{
    uint low = (uint)i ^ seed ^ (uint)(i >> 32);
    {bits}
    data[i] = {value};
  }}
}}
"""


def values_at(element: Element, scalars: NDArray[np.int64], seed: int) -> NDArray[Any]:
    """Return the data at scalar indices (element index * lanes + lane), shape kept."""
    with np.errstate(over="ignore"):
        index = scalars.astype(np.uint64)
        low = (index & np.uint64(0xFFFFFFFF)).astype(np.uint32) ^ np.uint32(seed)
        low ^= (index >> np.uint64(32)).astype(np.uint32)
        first = _hash(low)
        if element.dtype.itemsize == 8:
            second = _hash(low ^ np.uint32(0x5BD1E995))
            bits = (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)
            if element.scalar == "double":
                return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
            return bits.view(element.dtype)
        if element.scalar == "float":
            return (first >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        return first.astype(element.dtype)


def _hash(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    x = x + np.uint32(_GOLDEN)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(_MIX_1)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(_MIX_2)
    return x ^ (x >> np.uint32(16))
