"""Different numbers of an array."""

from __future__ import annotations

import numpy as np

from clmap_lsp.emulator.symbolic.values import Ints


def distinct(numbers: Ints) -> Ints:
    """Return different numbers, rising. `np.unique` hashes, which takes several times as long as sorting."""
    flat = numbers.ravel()
    steps = np.diff(flat)
    if not (steps >= 0).all():
        flat = np.sort(flat)
        steps = np.diff(flat)
    return np.concatenate([flat[:1], flat[1:][steps > 0]])
