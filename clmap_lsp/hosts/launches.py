"""The launches that a project's host code makes, as far as they can be known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.host_launch import HostLaunch, HostValue
from clmap_lsp.hosts.interpreter import Raised
from clmap_lsp.hosts.project import HostProject
from clmap_lsp.hosts.raised_launches import launches_raised
from clmap_lsp.hosts.runs import Runs
from clmap_lsp.hosts.values import is_handle

_MAX_DIFFERENT = 6
"""Different sizes that one call is known to launch with; more are one launch with open sizes."""


@dataclass(frozen=True, slots=True)
class HostReport:
    """What host code launches, and which of its launches could not be followed to a kernel."""

    launches: tuple[HostLaunch, ...]
    unnamed: tuple[tuple[str, int], ...] = ()
    """File and row of calls that launch a kernel whose name is not known."""
    is_cut_short: bool = False
    """The work that may be spent on host code ran out before all of it was followed."""


def launches_of(project: HostProject) -> HostReport:
    """Return the launches that a project makes. Never raises on what host code says."""
    files = project.launching_files
    project.budget.fit_steps(sum(len(project.text(it) or "") for it in files))
    return HostReader(project).report(files)


class HostReader:
    """Reads a project's host code little by little: each file once, when its launches are asked for."""

    def __init__(self, project: HostProject) -> None:
        self.project = project
        self._runs = Runs(project)

    def forget(self, paths: Iterable[str]) -> None:
        """Read files again whose text changed, and run what launches anew; all else stays parsed."""
        for path in paths:
            self.project.forget(path)
        self._runs = Runs(self.project)

    def report(self, files: Iterable[str]) -> HostReport:
        """Return the launches that these host files make, and those that came up on the way."""
        self._runs.run(files)
        report = _report(self.project, self._runs.raised)
        return replace(report, is_cut_short=self._runs.is_spent or self.project.budget.is_spent)


def _report(project: HostProject, raised: Sequence[Raised]) -> HostReport:
    found: dict[tuple[str, str | None, str, int], list[HostLaunch]] = {}
    unnamed = []
    named_launches = [(launch, list(launches_raised(project, launch))) for launch in raised]
    for launch, named_ in _followed(list(_fitting(named_launches))):
        if not named_ and not launch.is_likely:
            unnamed.append((launch.path, launch.row))
        for it in named_:
            known = found.setdefault((it.kernel, it.kernel_file, it.host_file, it.host_row), [])
            if it not in known:
                known.append(it)
    launches = [it for same in found.values() for it in _distinct(same)]
    launches.sort(key=lambda it: (it.host_file, it.host_row, it.kernel))
    named_rows = {(it.host_file, it.host_row) for it in launches}
    return HostReport(
        tuple(launches), tuple(it for it in dict.fromkeys(sorted(unnamed)) if it not in named_rows)
    )


def _fitting(
    launches: list[tuple[Raised, list[HostLaunch]]],
) -> Iterator[tuple[Raised, list[HostLaunch]]]:
    """Leave out kernels that take another number of arguments than a call sets, if one does take as many.

    A handle may be of one of several kernels, as an `if` chooses: each may then be told with all arguments.
    They are noted with the same store, while other ways to the call have one each.
    """
    taken = {
        (id(raised.store), raised.row, it.parameters)
        for raised, among in launches
        for it in among
        if it.parameters == _set(raised)
    }
    for raised, among in launches:
        count = _set(raised)
        fits = (id(raised.store), raised.row, count) in taken
        yield raised, [it for it in among if not fits or it.parameters in (0, count)]


def _followed(
    launches: list[tuple[Raised, list[HostLaunch]]],
) -> Iterator[tuple[Raised, list[HostLaunch]]]:
    """Leave out what a method launches on an object that nobody made, where those that were made told."""
    known = {
        (raised.path, raised.row, it.kernel)
        for raised, among in launches
        for it in among
        if is_handle(raised.kernel)
    }
    for raised, among in launches:
        is_told = is_handle(raised.kernel) or not raised.path.endswith(".py")
        others = [it for it in among if is_told or (raised.path, raised.row, it.kernel) not in known]
        if others or not among:
            yield raised, others


def _set(raised: Raised) -> int:
    """Return how many arguments are set, 0 where some may have been missed."""
    count = len(raised.arguments)
    return count if sorted(raised.arguments) == list(range(count)) else 0


def _at(values: Sequence[HostValue], index: int) -> HostValue:
    return values[index] if index < len(values) else HostValue(0, "0")


def _distinct(launches: list[HostLaunch]) -> list[HostLaunch]:
    """Return launches of one call with different values; too many become one with open values."""
    if len(launches) <= _MAX_DIFFERENT:
        return launches
    first = launches[0]

    def merged(values: Sequence[HostValue | None]) -> HostValue | None:
        known = [it for it in values if it is not None]
        if len(known) != len(values):
            return None
        if all(it == known[0] for it in known):
            return known[0]
        return HostValue(None, next((it.text for it in known if it.number is None), "several sizes"))

    same = [
        it
        for it in launches
        if len(it.global_size) == len(first.global_size) and it.arguments.keys() == first.arguments.keys()
    ]
    arguments = {name: merged([it.arguments[name] for it in same]) for name in first.arguments}
    return [
        replace(
            first,
            global_size=tuple(
                it
                for i in range(len(first.global_size))
                if (it := merged([launch.global_size[i] for launch in same])) is not None
            ),
            local_size=tuple(
                merged([launch.local_size[i] for launch in same]) for i in range(len(first.local_size))
            ),
            offset=tuple(
                merged([_at(launch.offset, i) for launch in same]) or HostValue(0, "0")
                for i in range(max(len(it.offset) for it in same))
            ),
            arguments={name: it for name, it in arguments.items() if it is not None},
        )
    ]
