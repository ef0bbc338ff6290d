"""How far a count is to be trusted: one scale for every room."""

from __future__ import annotations

from enum import StrEnum


class Exactness(StrEnum):
    """The values are those of `method` in the JSON of accesses."""

    EXACT = "exact"
    SAMPLED = "sampled"
    """Estimated from some work-groups, drawn at random."""
    UNKNOWN = "unknown"
