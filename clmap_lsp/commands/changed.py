"""`check --diff-base REV`: which lines of a file differ from a commit.

git is asked for the blob of a file alone, never for a difference: one with the working tree would run the
filters and programs that a repository's own configuration names.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.errors import UsageError
from clmap_lsp.programs import find_program
from clmap_lsp.report.model import CheckReport, FileReport

if TYPE_CHECKING:
    from clmap_lsp.findings import Finding
    from clmap_lsp.source.span import Span

_SECONDS = 30
_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
"""Nothing is fetched, asked or written."""


def on_changed_lines(report: CheckReport, revision: str) -> CheckReport:
    """Return a report with the findings on lines that are new or other than in a commit.

    Raises: UsageError where git is missing, a file is in no repository, or there is no such commit.
    """
    bases: dict[str, frozenset[int] | None] = {}
    return replace(report, files=tuple(_of_file(it, revision, bases) for it in report.files))


def _of_file(file: FileReport, revision: str, known: dict[str, frozenset[int] | None]) -> FileReport:
    kept = []
    for finding in file.findings:
        left: Finding | None = finding
        while left is not None and not _is_changed(file, left, revision, known):
            left = left.rest
        if left is not None:
            kept.append(left)
    return replace(file, findings=tuple(kept))


def _is_changed(
    file: FileReport, finding: Finding, revision: str, known: dict[str, frozenset[int] | None]
) -> bool:
    """Tell whether a finding stands on a changed line, or a place that explains it does.

    What is said of a whole kernel stands at its name, which a change of its accesses or of its launch leaves.
    """
    explaining = (it.span for it in finding.related if it.span.path in file.sources)
    return any(_is_on_changed_line(file, it, revision, known) for it in (finding.span, *explaining))


def _is_on_changed_line(
    file: FileReport, span: Span, revision: str, known: dict[str, frozenset[int] | None]
) -> bool:
    path = span.path
    if path not in known:
        source = file.sources.get(path)
        known[path] = None if source is None else changed_rows(path, source.text, revision)
    rows = known[path]
    return rows is None or not rows.isdisjoint(range(file.start(span).row, file.end(span).row + 1))


def changed_rows(path: str, text: str, revision: str) -> frozenset[int] | None:
    """Return the 1-based rows of a text that differ from a commit's; `None` for a file that it has not.

    Raises: UsageError.
    """
    folder, name = Path(path).absolute().parent, Path(path).name
    shown = f"--diff-base {revision}"
    if revision.startswith("-"):
        raise UsageError(f"{shown}: name a commit, a branch or a tag")
    if not folder.is_dir():
        return None
    _git(folder, shown, "rev-parse", "--git-dir")
    commit = _git(
        folder, shown, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
    )
    sha = commit.decode().strip()
    if not _git(folder, shown, "ls-tree", "-z", sha, "--", f"./{name}"):
        return None
    before = _git(folder, shown, "cat-file", "blob", f"{sha}:./{name}")
    return different_rows(before.decode("utf-8", "replace").splitlines(), text.splitlines())


_MOST_PAIRS = 2_000_000
"""Pairs of equal lines that are compared, a second or two; a file of 20,000 equal lines has 400 million."""


def different_rows(before: Sequence[str], now: Sequence[str]) -> frozenset[int]:
    """Return the 1-based rows of `now` that are not in `before` at their place.

    Where lines are equal to too many others to be matched, all between the first and the last change count.
    """
    shorter = min(len(before), len(now))
    head = next((i for i in range(shorter) if before[i] != now[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if before[-1 - i] != now[-1 - i]), most)
    old, new = before[head : len(before) - tail], now[head : len(now) - tail]
    times = Counter(old)
    if sum(times[it] for it in new) > _MOST_PAIRS:
        return frozenset(range(head + 1, head + 1 + len(new)))
    same = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return frozenset(
        head + row + 1 for kind, _, _, start, end in same if kind != "equal" for row in range(start, end)
    )


def _git(folder: Path, shown: str, *arguments: str) -> bytes:
    git = find_program("git")
    if git is None:
        raise UsageError(f"{shown}: git is not installed; install it, or leave the option out")
    command = [git, "-c", "core.fsmonitor=false", "--no-pager", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{shown}: git did not answer within {_SECONDS} seconds") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        if arguments[0] == "rev-parse" and "--verify" in arguments:
            said = said or "there is no such commit; fetch it, or name another"
        raise UsageError(f"{shown}: {said or 'git failed'}")
    return done.stdout
