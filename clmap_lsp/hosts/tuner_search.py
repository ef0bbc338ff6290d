"""The first configuration that the constraints on a tuner's parameters let through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clmap_lsp.hosts.values import Value

_MAX_TRIED = 300
"""Checks of constraints in one search."""
Constraint = tuple[tuple[str, ...], Callable[[tuple[Value, ...]], bool | None]]
"""Names of parameters, and what says whether their values go together; None where that is not known."""


class Search:
    """Looks for the first configuration that no constraint forbids, in the order in which a tuner goes on.

    A constraint that cannot be followed forbids nothing. Beyond its bound in work nothing is found, as a
    configuration that may never be run says less than none.
    """

    def __init__(self, tried: Mapping[str, tuple[Value, ...]], constraints: Sequence[Constraint]) -> None:
        self.tried = list(tried.items())
        places = {name: index for index, name in enumerate(tried)}
        self.at: dict[int, list[Constraint]] = {}
        """Constraints by the last parameter that they speak of: they are asked as soon as it is chosen."""
        for names, function in constraints:
            if names and all(it in places for it in names):
                self.at.setdefault(max(places[it] for it in names), []).append((names, function))
        self.left = _MAX_TRIED
        self.chosen: dict[str, Value] = {}

    def first(self) -> Mapping[str, Value]:
        """Return the configuration, empty where none was found."""
        return self.chosen if self._chooses(0) is None else {}

    def _chooses(self, index: int) -> frozenset[str] | None:
        """Choose the parameters from one on; return None, or by whose values all that was tried failed.

        Where a parameter is none of these, its other values would fail in the same way.
        """
        if index == len(self.tried):
            return None
        name, values = self.tried[index]
        blamed: frozenset[str] = frozenset()
        for value in values:
            self.chosen[name] = value
            failed = self._forbidden(index)
            if failed is None and (failed := self._chooses(index + 1)) is None:
                return None
            if self.left <= 0 or name not in failed:
                return failed
            blamed |= failed
        return blamed - {name}

    def _forbidden(self, index: int) -> frozenset[str] | None:
        """Return the parameters of a constraint that what is chosen does not meet; None if all are met."""
        for names, allows in self.at.get(index, ()):
            self.left -= 1
            if self.left <= 0 or allows(tuple(self.chosen[it] for it in names)) is False:
                return frozenset(names)
        return None
