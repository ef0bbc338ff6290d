"""Sums of products without BLAS.

NumPy hands `dot` and `@` of floats to BLAS, which shares long ones among threads that keep a processor busy
for a while after each, and adds up in an order of its own for each processor. Neither suits a library that is
called beside other work and prints the digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sum_of_products(weights: NDArray[Any], values: NDArray[Any]) -> float:
    """Return Σ weights[i]·values[i]; both have shape (n,)."""
    return float(np.einsum("i,i->", weights, values))


def weighted_rows(weights: NDArray[Any], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ weights[i]·rows[i], of shape (m,) for weights of shape (n,) and rows of (n, m)."""
    return np.asarray(np.einsum("i,ij->j", weights, rows), np.float64)
