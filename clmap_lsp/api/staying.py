"""Results that hold syntax trees, which cannot be sent to another process or kept in a file."""

from __future__ import annotations

from typing import Any, NoReturn, Self

from clmap_lsp.errors import UsageError


class Stays:
    """A result that never changes and stays in its process; whoever pickles it is told what can be sent."""

    __slots__ = ()
    _sent = "to_dict()"
    """What to send in its place."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise UsageError(f"{name} cannot be pickled, nor leave its process: return its {self._sent}")
