"""The one place where memory is made that machine code writes to, so that tests can put guards around it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cleared(words: int) -> NDArray[np.int64]:
    """Return so many 64-bit words, zero, at least one."""
    return np.zeros(max(words, 1), np.int64)
