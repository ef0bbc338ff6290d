"""From places in one version of a text to the same places in a later one."""

from __future__ import annotations

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.difference import Difference, difference


@dataclass(frozen=True, slots=True)
class Shift:
    """How places move between two versions: all that changed lies in one stretch of the text."""

    apart: Difference

    @classmethod
    def between(cls, old: str, new: str) -> Shift:
        """Return the shift from one text to another."""
        return cls(difference(old, new))

    def later(self, offset: int) -> int:
        """Return where a place of the older text is in the later one; in what changed, its start."""
        if offset <= self.apart.start:
            return offset
        if offset >= self.apart.old_end:
            return offset - self.apart.old_end + self.apart.new_end
        return self.apart.start

    def behind(self, offset: int) -> int:
        """Return where a place of the older text is in the later one, behind what was put in right at it."""
        moved = self.apart.new_end - self.apart.old_end
        return offset + moved if offset >= self.apart.old_end else self.later(offset)

    def earlier(self, offset: int) -> int | None:
        """Return where a place of the later text was in the older one; None if it is new."""
        if offset <= self.apart.start:
            return offset
        if offset >= self.apart.new_end:
            return offset - self.apart.new_end + self.apart.old_end
        return None

    def touches(self, start: int, end: int) -> bool:
        """Tell whether a stretch of the older text was edited."""
        return start < self.apart.old_end and end > self.apart.start
