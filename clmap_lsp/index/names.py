"""Which name was meant: the nearest of those in sight."""

from __future__ import annotations

from collections.abc import Iterable

ONLY_CPP = frozenset(
    {"catch", "delete", "dynamic_cast", "namespace", "new", "nullptr", "throw", "try", "using"}
)
"""Words of C++ that stand for nothing in OpenCL C, and that no host defines."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return a candidate that one slip of the hand makes this name of: a letter more, less, other or swapped.

    Of several, the first that has the same letters, else the first. Names of one letter have no neighbours.
    """
    if len(name) < 2:
        return None
    candidates = tuple(candidates)
    length = len(name)
    first, last = name[0], name[-1]
    found: str | None = None
    for candidate in candidates:
        # A slip leaves the first letter or the last: most candidates need no closer look.
        if (
            abs(len(candidate) - length) <= 1
            and len(candidate) > 1
            and (candidate[0] == first or candidate[-1] == last or length == 2)
            and _is_one_slip(name, candidate)
        ):
            if len(candidate) == length and sorted(candidate) == sorted(name):
                return candidate  # Letters that are swapped are likelier than one that is missing.
            found = found or candidate
    if found is not None:
        return found
    folded = name.lower()
    alike = (it for it in candidates if it.lower() == folded and it != name)
    return None if length < 3 else next(alike, None)


def _is_one_slip(a: str, b: str) -> bool:
    if a == b:
        return False
    start = 0
    least = min(len(a), len(b))
    while start < least and a[start] == b[start]:
        start += 1
    if len(a) == len(b):
        rest_a, rest_b = a[start + 1 :], b[start + 1 :]
        if rest_a == rest_b:
            return len(a) > 2
        return a[start] == b[start + 1] and a[start + 1] == b[start] and a[start + 2 :] == b[start + 2 :]
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer[start + 1 :] == shorter[start:]
