"""How many there are, in words: `1 finding`, `2 findings`."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which takes an s where there is not one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
