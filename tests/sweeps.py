"""How much is drawn at random: in each run what finds the common faults, many times as much once a week."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
"""Set by the workflow `thorough`, and by whoever changes what a sweep goes over."""


def drawn(usual: int, thorough: int) -> int:
    """Return how many cases a sweep draws."""
    return thorough if THOROUGH else usual
