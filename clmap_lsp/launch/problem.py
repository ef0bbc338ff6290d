"""What is wrong with a launch, for a person: place, cause, cure."""

from __future__ import annotations

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LaunchProblem:
    """Why a launch cannot be made. `str()` is one line."""

    place: str
    """`--arg A=…`, `clmap.toml:12`, `line 3`, `x.sim:7`; empty where no launch is to blame."""
    cause: str
    cure: str = ""

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.cause}{'; ' + self.cure if self.cure else ''}"


class LaunchError(Exception):
    """A `LaunchProblem` on its way to the function that was asked."""

    def __init__(self, cause: str, cure: str = "") -> None:
        super().__init__(cause)
        self.cause = cause
        self.cure = cure

    def at(self, place: str) -> LaunchProblem:
        """Return it with its place."""
        return LaunchProblem(place, self.cause, self.cure)


class NotInstalledError(LaunchError):
    """No launch can be run, whatever it is."""

    def at(self, place: str) -> LaunchProblem:
        """Return it without a place: there is nothing to mend there."""
        return LaunchProblem("", self.cause, self.cure)


class TooMuchMemoryError(LaunchError):
    """A launch that fits the memory limit in part only."""
