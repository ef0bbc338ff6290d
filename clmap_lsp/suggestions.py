"""What a misspelt word was perhaps meant to be: said only where it is likely, else nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LIKELY = 0.7
"""Share of matching characters (difflib's ratio). At 0.6 `nope` is near `hopper`."""
_LOOK_ALIKE = str.maketrans("oil", "011")
_A_BEGINNING = 4
"""Characters of a word that say which longer one is meant, where only one begins with them."""
_NUMBERED = re.compile(r"[a-z]+\d+", re.IGNORECASE)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is nearest, without regard to case; None if none is likely.

    Words that are a code (letters, then digits) are never guessed: CM110 is as near to CM101 as to CM510.
    """
    if _NUMBERED.fullmatch(word):
        return None
    folded = {it.lower(): it for it in known}
    seen = word.lower().translate(_LOOK_ALIKE)
    for it, spelled in folded.items():
        if it.translate(_LOOK_ALIKE) == seen:  # CM1O1 is CM101 to the eye.
            return spelled
    longer = [it for it in folded if len(word) >= _A_BEGINNING and it.startswith(word.lower())]
    if len(longer) == 1:
        return folded[longer[0]]
    import difflib

    near = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=_LIKELY)
    return folded[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "x"?`, or nothing."""
    near = nearest(word, known)
    return "" if near is None else f'; did you mean "{near}"?'
