"""Which launch a kernel is looked at with, `.sim` files included."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import Kept
from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.from_hosts import parts_from_host
from clmap_lsp.launch.from_recording import part_from_recording
from clmap_lsp.launch.model import Launch, Origin
from clmap_lsp.launch.partial import LaunchTexts, PartialLaunch
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.launch.resolve import launch_from, source_text, sources_of

if TYPE_CHECKING:
    from clmap_lsp.hosts.host_launch import HostLaunch
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.recording import Recording
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program


@dataclass(frozen=True, slots=True)
class LaunchSources:
    """Everything that may say how kernels are launched, strongest first.

    `given` are options of the command line, `sim` a `.sim` file named there, `configured` the launches of
    `clmap.toml` by kernel, `beside` a `.sim` file that lies beside the source. Comments in the source stand
    between the last two.
    """

    given: PartialLaunch | None = None
    sim: SimFile | None = None
    configured: Mapping[str, LaunchTexts] = field(default_factory=dict)
    beside: SimFile | LaunchProblem | None = None
    """A problem where that file cannot be used: it is every kernel's, as it may be about any."""
    hosts: Mapping[str, HostLaunch] = field(default_factory=dict)
    """The launches that host code makes, by kernel; weaker than all others."""
    recorded: Recording | None = None
    """What was seen while a program ran; stronger than host code only."""
    recorded_name: str = ""


def launch_of(program: Program, kernel: Kernel, sources: LaunchSources) -> Launch | LaunchProblem:
    """Return the launch of a kernel, or why it has none. `.sim` files speak of the kernel they name only."""
    parts = parts_of(program, kernel, sources)
    return parts if isinstance(parts, LaunchProblem) else _made(kernel, parts)


_READ = (Origin.HOST, Origin.HOST_DEFAULT, Origin.RECORDED, Origin.INFERRED)


def _made(kernel: Kernel, parts: Sequence[PartialLaunch]) -> Launch | LaunchProblem:
    """Return the launch that sources give; host code that was read for another kernel is not heeded."""
    made = launch_from(kernel, parts)
    own = [it for it in parts if it.origin not in _READ]
    return launch_from(kernel, own) if isinstance(made, LaunchProblem) and len(own) < len(parts) else made


def parts_of(program: Program, kernel: Kernel, sources: LaunchSources) -> list[PartialLaunch] | LaunchProblem:
    """Return what the sources say of a kernel's launch, strongest first."""
    named = _bound(sources.sim, kernel, Origin.GIVEN)
    if isinstance(named, LaunchProblem):
        return named
    beside = _bound(sources.beside, kernel, Origin.CONFIGURED)
    if isinstance(beside, LaunchProblem):
        return beside
    given = _stronger(sources.given, named)
    found = sources_of(program, kernel, given, sources.configured.get(kernel.name), beside)
    if isinstance(found, LaunchProblem):
        return found
    if sources.recorded is not None:
        text = program.main_file.text
        seen = sources.recorded.of_kernel(kernel.name, text)
        if seen is not None:
            found.append(part_from_recording(kernel, seen, sources.recorded_name))
    return [*found, *_from_hosts(kernel, sources.hosts)]


def _from_hosts(kernel: Kernel, hosts: Mapping[str, HostLaunch]) -> list[PartialLaunch]:
    """Return what host code says of a kernel's launch.

    Of several kernels of one name, which strings of a host hold, the first has the launch. The others are
    launched as it is, as far as anyone can guess.
    """
    host = hosts.get(kernel.name)
    if host is not None:
        return parts_from_host(kernel, host)
    first = hosts.get(kernel.name.partition("#")[0])
    parts = parts_from_host(kernel, first) if first is not None else []
    return [replace(it, origin=Origin.INFERRED) for it in parts]


class KnownLaunches:
    """Launches of before, by what they follow from: a kernel's content and what the sources say of it.

    Inferring a launch walks the whole kernel several times; while typing, only the edited kernel needs it.
    """

    def __init__(self, limit: int) -> None:
        self._known: Kept[Launch] = Kept(limit)

    def forget(self, contents: Collection[object]) -> None:
        """Drop the launches of kernels of which nobody knows any more."""
        for key in [it for it in self._known if isinstance(it, tuple) and it[0] in contents]:
            del self._known[key]

    def forget_all(self) -> None:
        """Drop all launches."""
        self._known.clear()

    def launch_of(
        self, program: Program, kernel: Kernel, sources: LaunchSources, content: object
    ) -> Launch | LaunchProblem:
        """Return `launch_of`; `content` stands for the kernel's text with its macros, helpers and options."""
        parts = parts_of(program, kernel, sources)
        if isinstance(parts, LaunchProblem):
            return parts
        key = content, tuple(map(_said, parts))
        known = self._known.get(key)
        if known is None:
            made = _made(kernel, parts)
            return made if isinstance(made, LaunchProblem) else self._known.keep(key, made)
        text = source_text(parts)
        return known if known.source == text else replace(known, source=text)


def _said(part: PartialLaunch) -> object:
    """Return what a source says, without the place where it stands."""
    sizes = part.global_size, part.local_size, part.global_offset
    partly = part.dimensions, part.partly_global, part.partly_local
    files = part.folder, part.within
    arguments = tuple(part.arguments.items()), tuple(part.parsed.items())
    formulas = part.formulas
    said = (
        None if formulas is None else (formulas.global_size, formulas.local_size, *formulas.arguments.items())
    )
    return part.kernel, sizes, partly, arguments, part.origin, files, said


def _bound(
    sim: SimFile | LaunchProblem | None, kernel: Kernel, origin: Origin
) -> PartialLaunch | LaunchProblem | None:
    if isinstance(sim, LaunchProblem):
        return sim
    if sim is None or sim.kernel != kernel.name:
        return None
    from clmap_lsp.launch.sim import bind

    bound = bind(sim, kernel, origin)
    return bound if isinstance(bound, LaunchProblem) else bound.launch


def _stronger(options: PartialLaunch | None, file: PartialLaunch | None) -> PartialLaunch | None:
    """Complete the command line's options by the `.sim` file that it names."""
    if options is None or options.is_empty:
        return file or options
    if file is None or options.kernel not in (None, "", file.kernel):
        return options
    sized = options.global_size or options.local_size
    return replace(
        file,
        global_size=options.global_size if sized else file.global_size,
        local_size=options.local_size if sized else file.local_size,
        global_offset=options.global_offset or file.global_offset,
        arguments={**file.arguments, **options.arguments},
        parsed={name: it for name, it in file.parsed.items() if name not in options.arguments},
        source=f"{options.source}, {file.source}",
    )
