"""Apply a transformation rule to data, as the host would before the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Polynomial
    from clmap_lsp.hierarchy.transform import Rule


def new_places(
    rule: Rule, indices: NDArray[np.int64], number: Callable[[Polynomial], int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where elements go: T v + t.

    Args:
        indices: shape (n_dimensions, n), the indices v of n elements.
        number: the value of a shift, which may hold scalar arguments.

    Returns: the new indices, of the same shape, and which elements have a place in the new array. Those
        between the turns of a strided walk have none, nor have those before the first element.
    """
    shift = np.array([number(it) for it in rule.shift], dtype=np.int64)
    size = rule.divisor
    scaled = np.array([[int(it * size) for it in row] for row in rule.matrix], dtype=np.int64)
    # `shift` of the last dimension is given times the divisor; the others are zero.
    moved = scaled @ indices + shift[:, None]
    kept = (moved % size == 0).all(axis=0)
    places = moved // size
    return places, kept & (places >= 0).all(axis=0)


def transformed(
    rule: Rule,
    data: NDArray[Any],
    number: Callable[[Polynomial], int],
    shape: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the new array of an instance.

    Args:
        data: the array, with as many dimensions as the rule's instance.
        shape: that of the new array; by default just what holds every element that has a place.

    Elements of the new array that no element of the old one goes to are 0.
    """
    indices = np.indices(data.shape).reshape(data.ndim, -1).astype(np.int64)
    places, kept = new_places(rule, indices, number)
    if shape is None:
        shape = tuple(int(it) + 1 for it in places[:, kept].max(axis=1, initial=-1))
    kept &= (places < np.array(shape)[:, None]).all(axis=0)
    result = np.zeros(shape, dtype=data.dtype)
    result[tuple(places[:, kept])] = data[tuple(indices[:, kept])]
    return result


def restored(
    rule: Rule, data: NDArray[Any], original: NDArray[Any], number: Callable[[Polynomial], int]
) -> NDArray[Any]:
    """Return the original array with what the loop wrote into the transformed one: the way back."""
    indices = np.indices(original.shape).reshape(original.ndim, -1).astype(np.int64)
    places, kept = new_places(rule, indices, number)
    kept &= (places < np.array(data.shape)[:, None]).all(axis=0)
    result = original.copy()
    result[tuple(indices[:, kept])] = data[tuple(places[:, kept])]
    return result
