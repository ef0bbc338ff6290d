"""Arrays that recur from box to box: made once, told by what they are made from.

Groups that leave a loop after different numbers of turns are boxes of their own, and what they do in the
last turns is the same in all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.rows import Mask
from clmap_lsp.emulator.symbolic.values import Sym

_MAX_BYTES = 16 << 20
"""Of masks that are kept."""
_MAX_ARRAY = 1 << 12
"""Elements of an array that is looked at to tell whether it has been met."""


@dataclass(slots=True)
class Masks:
    """Masks by the value whose sign, or whose being 0, they tell."""

    found: dict[Hashable, Mask] = field(default_factory=dict)
    n_bytes: int = 0

    def keep(self, key: Hashable, mask: Mask) -> Mask:
        """Remember a mask, if there is a key; return it."""
        if key is None:
            return mask
        size = mask.nbytes if isinstance(mask, np.ndarray) else 0
        if self.n_bytes + size > _MAX_BYTES:
            self.found.clear()
            self.n_bytes = 0
        self.found[key] = mask
        self.n_bytes += size
        return mask


def contents(array: NDArray[Any] | bool | None) -> Hashable:
    """Return what tells arrays of different contents apart."""
    if not isinstance(array, np.ndarray):
        return array
    return array.shape, array.dtype.str, sha256(np.ascontiguousarray(array).data).digest()


def key_of(value: Sym, counts: Sequence[int]) -> Hashable:
    """Return what a value's numbers follow from; `None` if that takes too long to tell."""
    array: NDArray[np.int64] | None = value.array
    if array is not None and array.size > _MAX_ARRAY:
        return None
    return value.const, contents(array), tuple((d, c, counts[d]) for d, c in value.coefs)
