"""Where raw strings of C++ are closed, in time that is linear in the text however many are not."""

from __future__ import annotations

import re
from bisect import bisect_left

_CLOSING = re.compile(r'\)([^()\\\s"]{0,16})"')


class RawClosings:
    """All places of a text that may close a raw string. Looked for once: each that is not closed would look
    through the rest of the text."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = {}
        for match in _CLOSING.finditer(text):
            self._places.setdefault(match[1], []).append(match.start())

    def after(self, at: int, delimiter: str) -> int | None:
        """Return where the first `)delimiter"` from `at` on starts; `None` where there is none."""
        places = self._places.get(delimiter, [])
        index = bisect_left(places, at)
        return places[index] if index < len(places) else None
