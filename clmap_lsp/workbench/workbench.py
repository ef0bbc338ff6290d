"""Opens files, and keeps what opening the next one, or the same one again, may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import Kept
from clmap_lsp.analysis.launching import LaunchSources
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.errors import UsageError
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.index.reading import read_index
from clmap_lsp.reading import DATA_BYTES, SETTINGS_BYTES, ReadScope, reason, safe_read
from clmap_lsp.recording import Recording, RecordingError, read_recording
from clmap_lsp.rules.memory import KernelFindings
from clmap_lsp.source.options import defines_in
from clmap_lsp.source.parse import Prepared, prepare
from clmap_lsp.source.pieces import forget as forget_text
from clmap_lsp.source.read import read_program
from clmap_lsp.sources import Reader, include_reader
from clmap_lsp.workbench.hosts import HostFacts, HostFiles
from clmap_lsp.workbench.opened import OpenedFile
from clmap_lsp.workbench.other_launches import OtherLaunches
from clmap_lsp.workbench.timing import Times
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.index.index import Index
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.source.ir import Guess
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.reuse import ProgramCache
    from clmap_lsp.source.span import SourceFile

KEPT_KERNELS = 512
KEPT_READINGS = 64

_KeptAs = tuple[str, bool]
"""A path, and whether only a part of the file was read."""


def from_disk(path: str, settings: Settings) -> Reader:
    """Return what reads the files that a file includes from the disk."""
    return include_reader(path, settings.opened)


class Workbench:
    """Opens files. Not safe for several threads at once.

    Args:
        includes: makes, for a file and its settings, what reads the files that it includes; from the disk if
            left out.
        kept_kernels: so many analyses of kernels are kept.
        kept_readings: so many files' programs and indexes are kept.
        remembers: keep the last reading of each file, and what the rules said of its kernels, so that opening
            it again after an edit costs only what changed (editors).
    """

    def __init__(
        self,
        includes: Callable[[str, Settings], Reader] = from_disk,
        *,
        kept_kernels: int = KEPT_KERNELS,
        kept_readings: int = KEPT_READINGS,
        remembers: bool = False,
    ) -> None:
        self._includes = includes
        self._hosts = HostFiles()
        self._session = AnalysisSession(kept_kernels)
        self._memory = KernelFindings() if remembers else None
        self._recordings: dict[str, Recording] = {}
        self._readings: Kept[tuple[BuildOptions, ProgramCache | None]] = Kept(kept_readings)
        self._indexes: Kept[Index] = Kept(kept_readings)
        self._times = Times(kept_kernels)
        self._others = OtherLaunches() if remembers else None
        self._prepared: tuple[str, str, Prepared] | None = None
        """What was preprocessed for an index, until it is read as a program too."""

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, and not taken from before."""
        return self._session.n_analysed

    def forget_all(self) -> None:
        """Drop what is kept of all files, but for the host code of their workspaces.

        What holds it stays: one that is made now would stand where memory is full of what is dropped, and
        Python gives memory back by the MiB.
        """
        for memory in (self._session, self._memory, self._times, self._others):
            if memory is not None:
                memory.forget_all()
        for kept in (self._recordings, self._readings, self._indexes):
            kept.clear()
        self._prepared = None

    def forget(self, path: str) -> None:
        """Drop what is kept of a closed file."""
        forget_text(path)
        self._forget_part(path)
        self._readings.pop((path, False), None)
        self._session.forget(path)
        self._prepared = None
        for memory in (self._memory, self._others):
            if memory is not None:
                memory.forget(path)
        self._indexes.pop((path, False), None)
        self._hosts.forget(path)

    def reread(self, path: str) -> None:
        """Look for what a file includes when it is opened next: one may be there now that was missing."""
        self._prepared = None
        for kept_as in ((path, False), (path, True)):
            index = self._indexes.get(kept_as)
            if index is not None and any(it.path is None for it in index.includes):
                del self._indexes[kept_as]

    def _forget_part(self, path: str) -> None:
        self._readings.pop((path, True), None)
        self._indexes.pop((path, True), None)

    def host_files_changed(self, paths: Sequence[str] | None = None) -> tuple[str, ...]:
        """Take note of host files that were written, made or removed; of those that were read, if left out.

        Returns: the kernel files that host code now says something else of.
        """
        return self._hosts.changed(paths)

    def open_text(
        self,
        path: str,
        text: str,
        settings: Settings,
        *,
        given: PartialLaunch | None = None,
        sim: SimFile | None = None,
        only: str | None = None,
        looks_beside: bool = True,
        reads_hosts: bool = True,
        is_part: bool = False,
        known: Sequence[Guess] = (),
    ) -> OpenedFile:
        """Return a file with what is known of it; parsing never fails.

        Args:
            path: its name: includes and a `.sim` file are looked up beside it.
            text: the file as typed.
            given: a launch that goes before those of the settings, of comments and of `.sim` files.
            sim: a `.sim` file that a person named.
            only: analyse this kernel alone.
            looks_beside: whether a `.sim` file beside it says how it is launched.
            reads_hosts: whether host code of its workspace says how it is launched and built.
            is_part: this is a file that was opened whole before, without functions (`index.touched`).
            known: what its undefined names are taken for, whatever the uses that are left say.

        Raises: UsageError if there is no such device as the settings name.
        """
        device = device_of(settings)
        facts, plain = HostFacts(), settings
        if reads_hosts and looks_beside and settings.hosts.enabled:
            facts = self._hosts.last(path) if is_part else self._hosts.facts(path, text, settings)
            settings = _built_as(settings, facts.built_with, facts.before, facts.standard)
        recording = self._recording(settings)
        recorded_name = Path(settings.recorded).name if settings.recorded else ""
        if recording is not None:
            recorded = _recorded_defines(recording, text)
            settings, plain = _built_as(settings, recorded), _built_as(plain, recorded)
        prepared = self._prepared_text(path, text, settings)
        kept_as = (path, is_part)
        program = self._program(kept_as, text, settings, prepared, known)
        if facts.assumed and not program.kernels and kernels_in(text):
            # The program has other configurations: in the one that it starts with the file has no kernel.
            facts = replace(facts, assumed=())
            settings = _built_as(plain, facts.defines, facts.before, facts.standard)
            prepared = self._prepared_text(path, text, settings)
            program = self._program(kept_as, text, settings, prepared, known)

        def reread(macros: tuple[tuple[str, str], ...]) -> Program:
            build = replace(settings.build, defines=settings.build.defines + macros)
            read_file = self._includes(path, settings)
            return read_program(
                text, path, build, read_file=read_file, previous=program.cache, known=known, is_variant=True
            )

        beside = sim_beside(path) if looks_beside else None
        sources = LaunchSources(
            given, sim, settings.launches, beside, facts.launches, recording, recorded_name
        )

        def index() -> Index:
            return self._index(kept_as, text, settings, prepared)

        return OpenedFile(
            program,
            settings,
            device,
            sources,
            self._session,
            self._memory,
            only,
            facts,
            index,
            reread,
            self._times,
            self._others,
        )

    def index(self, path: str, text: str, settings: Settings) -> Index:
        """Return what a text declares and uses, from memory where it was read before.

        Host code is not read for it: what it says of the build counts as soon as it is known.
        """
        facts = self._hosts.known(path, text, settings) if settings.hosts.enabled else None
        if facts is not None:
            settings = _built_as(settings, facts.built_with, facts.before, facts.standard)
        recording = self._recording(settings)
        if recording is not None:
            settings = _built_as(settings, _recorded_defines(recording, text))
        return self._index((path, False), text, settings)

    def _index(
        self, kept_as: _KeptAs, text: str, settings: Settings, prepared: Prepared | None = None
    ) -> Index:
        path, is_part = kept_as
        before = self._indexes.get(kept_as) if self._memory is not None else None
        if before is not None and self._is_current(before, path, text, settings):
            return before
        if prepared is None:
            prepared = self._prepared_text(path, text, settings)
            self._prepared = (path, text, prepared) if self._memory is not None else None
        beside = self._indexes.get((path, not is_part))
        index = read_index(text, path, settings.build, previous=before, beside=beside, prepared=prepared)
        if self._memory is not None:
            self._indexes.keep(kept_as, index)
        return index

    def _is_current(self, index: Index, path: str, text: str, settings: Settings) -> bool:
        """Tell whether an index is of this text, and what it includes has still the same text."""
        if index.text != text or index.options != settings.build:
            return False
        return self.reads_alike(index, settings)

    def reads_alike(self, index: Index, settings: Settings) -> bool:
        """Tell whether what a file includes has still the text that its index was made with."""
        includes = (it.path for it in index.includes)
        return _read_the_same(includes, index.files, self._includes(index.path, settings))

    def _prepared_text(self, path: str, text: str, settings: Settings) -> Prepared:
        """Return a file preprocessed; where only its index was read, that is the one that was made for it."""
        read_file = self._includes(path, settings)
        kept, self._prepared = self._prepared, None
        if kept is not None and kept[:2] == (path, text) and kept[2].options == settings.build:
            includes = (found for _, _, found in kept[2].log.includes)
            if _read_the_same(includes, kept[2].source.files, read_file):
                return kept[2]
        return prepare(text, path, settings.build, read_file)

    def _recording(self, settings: Settings) -> Recording | None:
        """Return a recording, read once.

        Raises: UsageError if there is none, or it cannot be read.
        """
        path = settings.recorded
        if path is None:
            return None
        if path not in self._recordings:
            self._recordings[path] = read_recorded(path, settings.recorded_within)
        return self._recordings[path]

    def _program(
        self, kept_as: _KeptAs, text: str, settings: Settings, prepared: Prepared, known: Sequence[Guess]
    ) -> Program:
        path, _ = kept_as
        read_file = self._includes(path, settings)
        if self._memory is None:
            return read_program(text, path, settings.build, read_file=read_file, prepared=prepared)
        before = self._readings.get(kept_as)
        previous = before[1] if before is not None and before[0] == settings.build else None
        program = read_program(
            text,
            path,
            settings.build,
            read_file=read_file,
            previous=previous,
            prepared=prepared,
            known=known,
        )
        self._readings.keep(kept_as, (settings.build, program.cache))
        return program


def _read_the_same(
    included: Iterable[str | None], files: Mapping[str, SourceFile], read_file: Reader
) -> bool:
    """Tell whether included files have still the texts that were read."""
    return all(it is None or it not in files or read_file(it) == files[it].text for it in included)


def _recorded_defines(recording: Recording, text: str) -> tuple[tuple[str, str], ...]:
    """Return the macros that the first recorded program of a file's kernels was built with."""
    for kernel in kernels_in(text):
        seen = recording.of_kernel(kernel.name, text)
        if seen is not None:
            return defines_in(seen.options)
    return ()


def _built_as(
    settings: Settings,
    defines: tuple[tuple[str, str], ...],
    before: tuple[str, ...] = (),
    standard: str | None = None,
) -> Settings:
    """Return settings with what a program is built with; what the settings say themselves goes before.

    Args:
        before: files that are put before the source.
    """
    build = settings.build
    named = {name.partition("(")[0] for name, _ in build.defines} | set(build.undefines)
    added = tuple(it for it in defines if it[0] not in named)
    first = tuple(it for it in before if it not in build.prelude)
    standard = build.standard or standard
    if not added and not first and standard == build.standard:
        return settings
    build = replace(build, defines=build.defines + added, prelude=build.prelude + first, standard=standard)
    return replace(settings, build=build)


def read_recorded(path: str, within: ReadScope | None = None) -> Recording:
    """Return a recording that a person named, or a repository `within` its workspace.

    Raises: UsageError if there is none, or it cannot be read.
    """
    try:
        data = safe_read(path, limit=DATA_BYTES, within=within)
        return read_recording(data.decode("utf-8", "replace"), path)
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}; make one with clmap-lsp record") from None
    except RecordingError as error:
        raise UsageError(str(error)) from None


def device_of(settings: Settings) -> DeviceModel:
    """Return the device model of the settings.

    Raises: UsageError if there is no such model.
    """
    from clmap_lsp.devices import DeviceModelError, load_model

    try:
        return load_model(settings.device)
    except DeviceModelError as error:
        raise UsageError(str(error)) from None


def sim_beside(path: str) -> SimFile | LaunchProblem | None:
    """Return the `.sim` file beside a source file, if there is one, or why it cannot be used."""
    beside = Path(path).with_suffix(".sim") if Path(path).name else None
    return read_sim_file(beside, scope_of(path)) if beside is not None and beside.is_file() else None


def read_sim_file(path: Path, within: ReadScope | None = None) -> SimFile | LaunchProblem:
    """Return a `.sim` file that a person named, or found `within` a workspace; or why it cannot be used."""
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.launch.sim import read_sim

    try:
        data = safe_read(path, limit=SETTINGS_BYTES, within=within)
    except OSError as error:
        return LaunchProblem(str(path), reason(error))
    return read_sim(data.decode("utf-8", errors="replace"), str(path))


def selection_of(settings: Settings, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Selection:
    """Return the rules that speak: those of the settings, or of `select`, without `ignore`.

    Raises: UsageError for a word that selects nothing.
    """
    from clmap_lsp.rules.selection import Selection, UnknownRuleError

    rules = settings.rules
    try:
        return Selection.of(tuple(select) or rules.select, (*rules.ignore, *ignore), rules.severity)
    except UnknownRuleError as error:
        raise UsageError(str(error)) from None
