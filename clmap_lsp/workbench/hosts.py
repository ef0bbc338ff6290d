"""Which host files belong to kernels, and what they launch."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.budget import for_one_kernel_file
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.project import HOST_SUFFIXES, KERNEL_SUFFIXES, HostProject, read_project
from clmap_lsp.launch.from_hosts import chosen
from clmap_lsp.reading import ReadScope, safe_read, walk
from clmap_lsp.source.encoding import decoded
from clmap_lsp.source.options import defines_in
from clmap_lsp.workbench.aside import Aside
from clmap_lsp.workspace import is_marked, scope_of, workspace_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.fixes.model import HostDiff
    from clmap_lsp.hosts.changes import Change
    from clmap_lsp.hosts.editing import HostEdits
    from clmap_lsp.hosts.host_launch import HostLaunch
    from clmap_lsp.hosts.kernels import KernelParameter
    from clmap_lsp.hosts.launches import HostReader, HostReport

MAX_FILES = 20_000
"""Files of a workspace that are looked at by name."""
MAX_STRAY_FILES = 2_000
"""The same where nothing marks a workspace, the nearest first: the folder may be one of downloads."""
MAX_BYTES = 2 << 20
"""A longer host file is generated."""
_STANDARD = re.compile(r"-cl-std=(CL[\w.+]+)")
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What host code says of one kernel file: for each kernel the launch of which most is known."""

    launches: Mapping[str, HostLaunch] = field(default_factory=dict)
    defines: tuple[tuple[str, str], ...] = ()
    """Macros that the program is built with in every run."""
    assumed: tuple[tuple[str, str], ...] = ()
    """Macros that depend on the run, as they are unless told otherwise."""
    before: tuple[str, ...] = ()
    """Files that the program puts before this one."""
    standard: str | None = None
    """What the program is built as, as after `-cl-std=`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Texts of the host files that launch, by path."""
    edits: Callable[[str, Change], HostEdits] | None = field(default=None, compare=False)
    """The edits of host code that change every launch of a kernel, or why there are none."""

    @property
    def built_with(self) -> tuple[tuple[str, str], ...]:
        """The macros of one run that host code makes."""
        return (*self.defines, *self.assumed)

    def diff_of(self, kernel: str) -> Callable[[Change], HostDiff] | None:
        """Return what gives the host's half of a rewrite as a diff; `None` where no launch is known."""
        edits = self.edits
        if edits is None or kernel not in self.launches:
            return None

        def diff(change: Change) -> HostDiff:
            from clmap_lsp.fixes.edits import apply, unified_diff
            from clmap_lsp.fixes.model import HostDiff

            found = edits(kernel, change)
            if not found.edits:
                why = found.reason or "its launches stay as they are"
                return HostDiff((), f"host code: {why}")
            paths = dict.fromkeys(it.span.path for it in found.edits)
            texts = {it: self.places[it] for it in paths if it in self.places}
            changed = (unified_diff(it, text, apply(text, found.edits, it)) for it, text in texts.items())
            return HostDiff(found.edits, "".join(changed))

        return diff


_Heads = tuple[tuple[str, "tuple[KernelParameter, ...]"], ...]
"""Names and parameters of kernels: what host code is asked about."""
KEPT_FILES = 1024
"""Kernel files of which is kept what host code says: more than anybody has open, fewer than a check has."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts of one kernel file, and what they were asked with."""

    path: str
    text: str
    settings: Settings
    heads: _Heads
    reader: tuple[str, str]
    facts: HostFacts


class HostFiles:
    """The host code of workspaces, each file read when a kernel beside it is looked at.

    Reading takes up to a second, and what is read is shared by the kernel files of a workspace: it goes on
    aside, one question at a time, and other documents do not wait for it.
    """

    def __init__(self) -> None:
        self._aside = Aside()
        self._closed: deque[tuple[str, tuple[str, str]]] = deque()
        """Kernel files that were closed, with their workspace, of which its project is still to be told."""
        self._projects: dict[tuple[str, str], HostProject] = {}
        self._readers: dict[tuple[str, str], HostReader] = {}
        """Of the projects in which something may launch a kernel that was asked for."""
        self._known: dict[str, _Known] = {}
        self._stamps: dict[str, tuple[int, int]] = {}
        """Size and time of change of every file that was read, as they were then."""

    def known(self, path: str, text: str, settings: Settings) -> HostFacts | None:
        """Return what is known of a kernel file without reading anything."""
        known = self._known.get(str(Path(path).resolve())) if path else None
        if known is None or known.reader != _key(str(Path(path).resolve()), settings):
            return None
        return known.facts if known.heads == _heads(text) else None

    def last(self, path: str) -> HostFacts:
        """Return what was last said of a kernel file."""
        known = self._known.get(str(Path(path).resolve())) if path else None
        return HostFacts() if known is None else known.facts

    def facts(self, path: str, text: str, settings: Settings) -> HostFacts:
        """Return what the workspace's host code says of the kernels of one file."""
        if not path or not kernels_in(text):
            return HostFacts()
        found = self.known(path, text, settings)
        return self._aside.run(lambda: self._read(path, text, settings)) if found is None else found

    def _read(self, path: str, text: str, settings: Settings) -> HostFacts:
        """Ask for the facts of a kernel file, unless somebody has meanwhile."""
        self._unsee_closed()
        found = self.known(path, text, settings)
        if found is None:
            own, heads = str(Path(path).resolve()), _heads(text)
            found = self._facts(own, path, text, settings, [name for name, _ in heads])
            self._known[own] = _Known(path, text, settings, heads, _key(own, settings), found)
            while len(self._known) > KEPT_FILES:
                self._forget_oldest()
        return found

    def _facts(self, own: str, path: str, text: str, settings: Settings, names: Sequence[str]) -> HostFacts:
        project = self._project(own, settings)
        project.budget = for_one_kernel_file()
        project.see(own, text)
        files = project.launching_near(own, names)
        launches = [it for it in self._launches(_key(own, settings), files) if it.kernel_file == own]
        best = chosen(launches)
        built = next((it for it in best.values() if it.build_options or it.assumed), None)
        options = built.build_options if built is not None else ""
        joined = next((it for it in best.values() if it.before or it.defines), None)
        before, defines = (joined.before, joined.defines) if joined is not None else ((), ())
        included = {PurePath(it).name for it in _INCLUDED.findall(text)}
        before = tuple(it for it in before if PurePath(it).name not in included)
        places = {it.host_file: project.text(it.host_file) or "" for it in best.values()}

        def edits(kernel: str, change: Change) -> HostEdits:
            return self.edits(path, text, settings, kernel, change)

        said = _STANDARD.search(options)
        standard = said[1] if said is not None else None
        return HostFacts(
            best,
            (*defines_in(options), *defines),
            built.assumed if built is not None else (),
            before,
            standard,
            places,
            edits,
        )

    def forget(self, path: str) -> None:
        """Drop what is known of a kernel file that was closed."""
        own = str(Path(path).resolve())
        known = self._known.pop(own, None)
        if known is not None:
            self._closed.append((own, known.reader))
            self._aside.run_if_free(self._unsee_closed)

    def _unsee_closed(self) -> None:
        while self._closed:
            own, reader = self._closed.popleft()
            if own not in self._known and reader in self._projects:
                self._projects[reader].unsee(own)

    def _forget_oldest(self) -> None:
        own = next(iter(self._known))
        project = self._projects.get(self._known.pop(own).reader)
        if project is not None:
            project.unsee(own)

    def changed(self, paths: Iterable[str] | None = None) -> tuple[str, ...]:
        """Take note of host files that were written, made or removed.

        Args:
            paths: these files; all that were read and are not as they were then, if left out.

        Returns: the kernel files that host code now says something else of.
        """
        return self._aside.run(lambda: self._changed(paths)) if self._projects else ()

    def _changed(self, paths: Iterable[str] | None) -> tuple[str, ...]:
        self._unsee_closed()
        if paths is None:
            paths = [it for it, stamp in self._stamps.items() if _stamp(it) != stamp]
        whole = {str(Path(it).resolve()) for it in paths}
        stale = set()
        for key, project in list(self._projects.items()):
            own = [it for it in whole if Path(key[0]) in Path(it).parents]
            if not own:
                continue
            stale.add(key)
            for it in own:
                self._stamps.pop(it, None)
            if all(project.has(it) and Path(it).exists() for it in own):
                self._forget_texts(key, own)
            else:
                del self._projects[key]
                self._readers.pop(key, None)
        return tuple(
            own for own, it in list(self._known.items()) if it.reader in stale and self._differs(own)
        )

    def _forget_texts(self, key: tuple[str, str], paths: Iterable[str]) -> None:
        if key in self._readers:
            self._readers[key].forget(paths)
            return
        for it in paths:
            self._projects[key].forget(it)

    def _differs(self, own: str) -> bool:
        """Ask anew what holds for a kernel file, and tell whether it is something else."""
        before = self._known.pop(own)
        return self._read(before.path, before.text, before.settings) != before.facts

    def edits(self, path: str, text: str, settings: Settings, kernel: str, change: Change) -> HostEdits:
        """Return the edits of host code that change every launch of a kernel of one file, or why not."""
        return self._aside.run(lambda: self._edits(path, text, settings, kernel, change))

    def _edits(self, path: str, text: str, settings: Settings, kernel: str, change: Change) -> HostEdits:
        from clmap_lsp.hosts.changes import StructureChange
        from clmap_lsp.hosts.edits import host_edits
        from clmap_lsp.hosts.launches import HostReader
        from clmap_lsp.hosts.structures import structure_edits

        own = str(Path(path).resolve())
        names = [it.name for it in kernels_in(text)]
        project = self._project(own, settings)

        def read_again(texts: dict[str, str]) -> HostReport:
            again = HostProject(
                project.paths, lambda it: texts.get(it) or project.text(it), project.defined, project.wrappers
            )
            again.budget = for_one_kernel_file()
            return HostReader(again).report(again.launching_near(own, names))

        self._unsee_closed()
        project.budget = for_one_kernel_file()
        project.see(own, text)
        if isinstance(change, StructureChange):
            return structure_edits(read_again({}), own, change, project.text, read_again)
        return host_edits(read_again({}), kernel, own, change, project.text, read_again)

    def _launches(self, key: tuple[str, str], files: Sequence[str]) -> tuple[HostLaunch, ...]:
        """Return the launches that host files of a project make, and those that were found before."""
        if key not in self._readers:
            if not files:
                return ()
            from clmap_lsp.hosts.launches import HostReader

            self._readers[key] = HostReader(self._projects[key])
        return self._readers[key].report(files).launches

    def _project(self, own: str, settings: Settings) -> HostProject:
        key, hosts = _key(own, settings), settings.hosts
        if key not in self._projects:
            most = MAX_FILES if is_marked(own) else MAX_STRAY_FILES
            near = str(Path(own).parent)
            wrappers = hosts.wrappers
            project = project_of(key[0], dict(hosts.defines), wrappers, most=most, seen=self._seen, near=near)
            self._projects[key] = project
        return self._projects[key]

    def _seen(self, path: str) -> None:
        stamp = _stamp(path)
        if stamp is not None:
            self._stamps[path] = stamp


def _heads(text: str) -> _Heads:
    return tuple((it.name, it.parameters) for it in kernels_in(text))


def _key(own: str, settings: Settings) -> tuple[str, str]:
    """Return what a reader of host code is kept by: the workspace and the settings that it heeds."""
    return str(workspace_of(own)), repr(settings.hosts)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def report_of(paths: Sequence[str], settings_of: Callable[[Path], Settings]) -> HostReport:
    """Return the launches of the kernels below some paths; for a host file, those that it makes."""
    from clmap_lsp.hosts.launches import HostReport, launches_of

    launches: list[HostLaunch] = []
    unnamed: list[tuple[str, int]] = []
    is_cut_short = False
    for folder, wanted in _workspaces(paths).items():
        hosts = settings_of(Path(folder)).hosts
        report = launches_of(project_of(folder, dict(hosts.defines), hosts.wrappers))
        is_cut_short |= report.is_cut_short
        for it in report.launches:
            asked = any(_below(place, path) for path in wanted for place in (it.kernel_file, it.host_file))
            if asked and it not in launches:
                launches.append(it)
        unnamed += [it for it in report.unnamed if any(_below(it[0], path) for path in wanted)]
    return HostReport(tuple(launches), tuple(dict.fromkeys(unnamed)), is_cut_short)


def _workspaces(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the folders to read, each with the paths that are asked for: of a file, its workspace."""
    result: dict[str, list[str]] = {}
    for path in paths:
        folder = path if Path(path).is_dir() else shown(str(workspace_of(path)))
        result.setdefault(folder, []).append(path)
    return result


def shown(path: str) -> str:
    """Return a path relative to the current folder where it lies below it."""
    try:
        return str(Path(path).relative_to(Path.cwd())) or "."
    except ValueError:
        return path


def _below(place: str | None, path: str) -> bool:
    if place is None:
        return False
    whole, asked = Path(place).resolve(), Path(path).resolve()
    return asked in whole.parents or whole == asked


def project_of(
    folder: str,
    defined: dict[str, str] | None = None,
    wrappers: dict[str, dict[str, int | str]] | None = None,
    *,
    most: int = MAX_FILES,
    seen: Callable[[str], None] = lambda _: None,
    near: str = "",
) -> HostProject:
    """Return the project of all host and kernel files below a folder, at most `most` files.

    `seen` is told of each file before it is read. What is below the folder `near` comes before all others.
    """
    scope = scope_of(str(Path(folder, "any")))
    suffixes = tuple(HOST_SUFFIXES | KERNEL_SUFFIXES)
    folders = (near, folder) if near not in ("", folder) else (folder,)
    found = (it.path for start in folders for it in walk(start, suffixes, scope) if not it.refused)
    paths: dict[str, None] = {}
    for it in found:
        paths[it] = None
        if len(paths) >= most:
            break

    def read(path: str) -> str | None:
        seen(path)
        return _text(path, scope)

    return read_project(paths, read, defined, wrappers)


def _text(path: str, scope: ReadScope) -> str | None:
    try:
        data = safe_read(path, limit=MAX_BYTES, within=scope)
    except OSError:
        return None
    return None if b"\0" in data else decoded(data)
