"""Who includes what among the open documents, and what was found in the files that they include.

A finding in a header belongs to whoever includes it: the header itself shows it as long as such a document is
open, and that document shows it at the call, or at the `#include`, that leads there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.server.headline import WIDTH, headline
from clmap_lsp.source.program import Program
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.index.index import Include
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.span import SourceFile

MAX_NAMED = 8
"""Places that a summary of a header's findings leads to."""
_QUIET = (Severity.INFORMATION, Severity.HINT)


@dataclass(frozen=True, slots=True)
class InHeader:
    """A finding in an included file, as one of its users sees it."""

    finding: Finding
    header: SourceFile
    user: Snapshot
    place: Span
    """In the user: the call or the `#include` that leads there."""

    @property
    def through(self) -> str:
        """The place in the user in a few words."""
        row = self.user.document.file.position(self.place.start).row
        return f"{PurePath(self.user.document.path).name}:{row}"


def reads_otherwise(snapshot: Snapshot, texts: Mapping[str, str | None]) -> bool:
    """Tell whether a document reads one of these files with another text, or looks for its name in vain."""
    files, own = snapshot.program.files, snapshot.document.path
    missing = {PurePath(it).name for it in _missing(snapshot)}
    for path, text in texts.items():
        if path == own:
            continue
        known = files.get(path)
        if (known is not None and known.text != text) or (missing and PurePath(path).name in missing):
            return True
    return False


class Included:
    """What the open documents include, by their URIs."""

    def __init__(self) -> None:
        self._snapshots: dict[str, Snapshot] = {}
        self._stamps: dict[str, float | None] = {}

    def take(self, snapshot: Snapshot) -> set[str]:
        """Take a document's snapshot; return the files of which other things are to be shown now."""
        before = self._snapshots.get(snapshot.document.uri)
        self._snapshots[snapshot.document.uri] = _without_itself(snapshot)
        for path in _read_by(snapshot):
            self._stamps[path] = _stamp(path)
        return _headers(before) | _headers(snapshot)

    def forget(self, uri: str) -> set[str]:
        """Drop a closed document; return the files of which other things are to be shown now."""
        before = self._snapshots.pop(uri, None)
        kept = {path for it in self._snapshots.values() for path in _read_by(it)}
        self._stamps = {path: stamp for path, stamp in self._stamps.items() if path in kept}
        return _headers(before)

    def users_of(self, path: str, text: str | None = None) -> set[str]:
        """Return the documents that read a file, or look for one of its name in vain.

        Args:
            text: what it says now: documents that read the same are left out.
        """
        return {uri for uri, it in self._snapshots.items() if reads_otherwise(it, {path: text})}

    def beside(self, path: str) -> set[str]:
        """Return the documents beside which a `.sim` file lies."""
        wanted = PurePath(path).with_suffix("")
        return {
            uri for uri, it in self._snapshots.items() if PurePath(it.document.path).with_suffix("") == wanted
        }

    def changed_on_disk(self) -> set[str]:
        """Return the files that documents read and that are not as they were then."""
        return {path for path, stamp in self._stamps.items() if _stamp(path) != stamp}

    def found_in(self, path: str) -> list[InHeader]:
        """Return what the users of a file say of it."""
        return [
            it
            for snapshot in self._snapshots.values()
            for it in in_headers(snapshot)
            if it.header.path == path
        ]


def _without_itself(snapshot: Snapshot) -> Snapshot:
    """Return what a snapshot says of included files: it is kept as long as the document is open."""
    whole, own = snapshot.program, snapshot.document.path
    return replace(
        snapshot,
        program=Program(whole.path, whole.files, {}, (), ()),
        analysis=replace(snapshot.analysis, kernels=()),
        findings=tuple(it for it in snapshot.findings if it.span.path != own),
        layout=None,
    )


def in_headers(snapshot: Snapshot) -> Iterator[InHeader]:
    """Yield what was found in the files that a document includes."""
    own = snapshot.document.path
    for finding in snapshot.findings:
        path = finding.span.path
        header = snapshot.program.files.get(path)
        if path == own or header is None or path.startswith("<"):
            continue
        place = next((it.span for it in finding.related if it.span.path == own), None)
        place = place or _way_to(snapshot.includes, path, own)
        if place is not None:
            yield InHeader(finding, header, snapshot, place)


def shown_in_user(snapshot: Snapshot) -> list[Finding]:
    """Return a document's findings in headers as findings at its own calls and includes.

    What no call leads to is summed up, one line an `#include`; there only warnings and errors count.
    """
    shown: list[Finding] = []
    by_include: dict[Span, list[InHeader]] = {}
    for it in in_headers(snapshot):
        if any(related.span == it.place for related in it.finding.related):
            related = [Related(it.finding.span, "here"), *it.finding.related]
            shown.append(
                replace(
                    it.finding,
                    message=_in(PurePath(it.header.path).name, it.finding.message),
                    span=it.place,
                    related=tuple(one for one in related if one.span != it.place),
                    fix=None,
                )
            )
        elif it.finding.severity not in _QUIET:
            by_include.setdefault(it.place, []).append(it)
    shown += [_summed_up(place, found) for place, found in by_include.items()]
    return shown


def shown_in_header(found: Iterable[InHeader]) -> list[tuple[Finding, SourceFile]]:
    """Return what users say of one header, each thing once, with the users through which it holds."""
    grouped: dict[tuple[object, ...], list[InHeader]] = {}
    for it in found:
        if it.finding.severity is not Severity.HINT:
            key = it.finding.code, it.finding.span, it.finding.message
            grouped.setdefault(key, []).append(it)
    return [(_through(group), group[0].header) for group in grouped.values()]


def _through(group: list[InHeader]) -> Finding:
    first = group[0]
    users = list(dict.fromkeys(it.through for it in group))
    more = f" and {len(users) - 2} more" if len(users) > 2 else ""
    related = [it for it in first.finding.related if it.span != first.place]
    related += [Related(it.place, "through this") for it in group[:MAX_NAMED]]
    through = f" (through {', '.join(users[:2])}{more})"
    message = headline(first.finding.message, max(WIDTH - len(through), WIDTH // 2)) + through
    return replace(first.finding, message=message, related=tuple(related), fix=None)


def _summed_up(place: Span, found: list[InHeader]) -> Finding:
    first = found[0].finding
    loudest = min((it.finding.severity for it in found), key=list(Severity).index)
    names = ", ".join(dict.fromkeys(PurePath(it.header.path).name for it in found))
    if len(found) == 1:
        message = _in(names, first.message)
    else:
        codes = ", ".join(sorted({it.finding.code for it in found}))
        message = f"{len(found)} findings in {names}: {codes}"
    related = tuple(Related(it.finding.span, it.finding.message) for it in found[:MAX_NAMED])
    return replace(first, message=message, severity=loudest, span=place, related=related, fix=None)


def _in(name: str, message: str) -> str:
    where = f"in {name}: "
    return where + headline(message, max(WIDTH - len(where), WIDTH // 2))


def _way_to(includes: Iterable[Include], path: str, own: str) -> Span | None:
    """Return the `#include` of a document that leads to a file, through others where need be."""
    by_file: dict[str, list[Include]] = {}
    for it in includes:
        if it.path is not None:
            by_file.setdefault(it.path, []).append(it)
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        at = waiting.pop(0)
        for it in by_file.get(at, ()):
            if it.span.path == own:
                return it.span
            if it.span.path not in seen:
                seen.add(it.span.path)
                waiting.append(it.span.path)
    return None


def _headers(snapshot: Snapshot | None) -> set[str]:
    return set() if snapshot is None else {it.header.path for it in in_headers(snapshot)}


def _read_by(snapshot: Snapshot) -> Iterator[str]:
    files: Mapping[str, SourceFile] = snapshot.program.files
    return (it for it in files if it != snapshot.document.path and not it.startswith("<"))


def _missing(snapshot: Snapshot) -> Iterator[str]:
    return (it.name for it in snapshot.includes if it.path is None)


def _stamp(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116 - called for many files; a path object each is slow.
    except (OSError, ValueError):
        return None
