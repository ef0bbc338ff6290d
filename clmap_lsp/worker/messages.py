"""What server and worker say to each other: frozen types, and one converter between them and plain JSON.

The worker ran somebody's kernel, so what it says is data of declared types or it is refused. Results are kept
by content, and the same kernel may come back at another offset or in another file: places in replies are
relative to the kernel that they belong to, and move with it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from clmap_lsp.config.model import EmulateSettings, Settings
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit, Finding
from clmap_lsp.fixes.matching import Offer
from clmap_lsp.launch.model import Argument, Launch
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.span import SourceFile, Span

if TYPE_CHECKING:
    from cattrs import Converter

    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.source.program import Program

T = TypeVar("T")


class BadMessageError(Exception):
    """A message that is not of its type; the text is for a log."""


@dataclass(frozen=True, slots=True)
class KernelTask:
    """One kernel to run, to find fixes for, or to measure. Included files travel as the editor has them."""

    key: str
    """What the result is kept under; see `worker.keys`."""
    path: str
    files: Mapping[str, str]
    build: BuildOptions
    device: str
    kernel: str
    launch: Launch
    limits: EmulateSettings
    deadline_s: float = 0.0
    """Of verifying fixes and of searching: what was found until then comes back."""
    device_time_limit_s: float = 0.0
    platform: str | None = None

    @property
    def settings(self) -> Settings:
        """Return the settings that the file is opened with."""
        return Settings(build=self.build, device=self.device, emulate=self.limits)

    @property
    def given(self) -> PartialLaunch:
        """Return the launch as one that goes before all others."""
        it = self.launch
        return PartialLaunch(
            self.kernel,
            it.global_size,
            it.local_size,
            it.global_offset,
            parsed=it.arguments,
            origin=it.origin,
            source="the editor",
        )


@dataclass(frozen=True, slots=True)
class Ran:
    """What the emulator made of a kernel. `emulation` is the JSON of `clmap-lsp emulate`."""

    row: int
    """Of the kernel's start when it ran; rows in `emulation` count from there."""
    emulation: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """The stretch of text that edits hold for: the kernel with all of them, and its digest."""

    span: Span
    digest: str

    @classmethod
    def of(cls, span: Span, text: str) -> Region:
        """Return the region of a file's text."""
        return cls(span, _digest(text[max(span.start, 0) : span.end]))

    def is_in(self, text: str) -> bool:
        """Tell whether it is still there to the letter."""
        return self.span.start >= 0 and Region.of(self.span, text) == self


@dataclass(frozen=True, slots=True)
class VerifiedOffer:
    """A rewrite that the emulator showed right, and the text for which that holds."""

    offer: Offer
    region: Region


@dataclass(frozen=True, slots=True)
class Offered:
    """The fixes of a kernel; not `complete` where the deadline came first."""

    fixes: tuple[VerifiedOffer, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True)
class VersionStep:
    """A version on the way to the best one; the first is the kernel as it is. Empty: nothing is known."""

    title: str
    seconds: float | None = None
    bound: str = ""
    assumptions: tuple[str, ...] = ()
    host_change: str = ""
    tested_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Optimised:
    """The way to the best version of a kernel, and the edit that makes it, for the text of a region."""

    steps: tuple[VersionStep, ...]
    edit: Edit
    region: Region
    gained: str
    """`8.3x faster`; empty where nothing better was found."""
    in_the_way: str
    n_versions: int
    complete: bool


@dataclass(frozen=True, slots=True)
class MeasuredOnDevice:
    """What a device made of a kernel: JSON, and one line for a person."""

    on_device: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


def kernel_task(
    program: Program, kernel: KernelAnalysis, settings: Settings, key: str, time_limit_s: float
) -> KernelTask:
    """Return the task of a kernel that has a launch."""
    assert kernel.launch is not None, "a kernel without a launch cannot run"
    return KernelTask(
        key=key,
        path=program.path,
        files={path: it.text for path, it in program.files.items()},
        build=settings.build,
        device=settings.device,
        kernel=kernel.name,
        launch=kernel.launch,
        limits=replace(settings.emulate, time_limit_s=time_limit_s),
    )


def as_data(message: object, kernel: Span | None = None) -> dict[str, Any]:
    """Return a message as JSON-ready data; places relative to `kernel`."""
    with _about(kernel):
        data: dict[str, Any] = _converter().unstructure(message)
    return data


def from_data(data: object, kind: type[T], kernel: Span | None = None) -> T:
    """Return a message from data; places are those of `kernel` as it stands now.

    Raises: BadMessageError if it is not of its type.
    """
    with _about(kernel):
        try:
            return _converter().structure(data, kind)
        except Exception as error:  # Whatever a converter meets in data that it did not make.
            message = f"a {kind.__name__} that is none: {type(error).__name__}: {error}"
            raise BadMessageError(message) from error


_kernel: ContextVar[Span] = ContextVar("the kernel that places are relative to")
_NOWHERE = Span("", 0, 0)


@contextmanager
def _about(kernel: Span | None) -> Iterator[None]:
    token = _kernel.set(kernel or _NOWHERE)
    try:
        yield
    finally:
        _kernel.reset(token)


@cache
def _converter() -> Converter:
    from cattrs.preconf.json import make_converter
    from cattrs.strategies import configure_tagged_union

    made = make_converter()
    configure_tagged_union(Argument, made)
    made.register_structure_hook(int | float, lambda it, _: _number(it))
    made.register_unstructure_hook(int | float, lambda it: it)
    made.register_unstructure_hook(SourceFile, lambda it: [it.path, it.text])
    made.register_structure_hook(SourceFile, lambda it, _: SourceFile.of(*map(str, it)))
    made.register_unstructure_hook(Span, _relative)
    made.register_structure_hook(Span, lambda it, _: _absolute(it))
    made.register_structure_hook(str, lambda it, _: _shared(it))
    return made


_LONGEST_SHARED = 80


def _shared(value: object) -> str:
    """Return a text; names and words, which reports of thousands of files repeat, are one object each."""
    text = str(value)
    return sys.intern(text) if type(text) is str and len(text) <= _LONGEST_SHARED else text


def _number(value: object) -> int | float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _relative(span: Span) -> list[str | int]:
    """Return a span relative to the kernel's start in its file, else with path and offsets."""
    kernel = _kernel.get()
    if span.path == kernel.path:
        return ["", span.start - kernel.start, span.end - kernel.start]
    return [span.path, span.start, span.end]


def _absolute(place: object) -> Span:
    kernel = _kernel.get()
    match place:
        case ["", int(start), int(end)]:
            return Span(kernel.path, start + kernel.start, end + kernel.start)
        case [str(path), int(start), int(end)]:
            return Span(_shared(path), start, end)
        case _:
            raise TypeError(f"{place!r} is no place")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
