"""`check --fix` and `check --diff`: apply fixes and check again, until nothing is left to fix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.escaping import terminal_line, terminal_lines
from clmap_lsp.reading import SOURCE_BYTES, safe_read
from clmap_lsp.report.edits import apply, unified_diff
from clmap_lsp.report.model import AppliedFix, CheckReport
from clmap_lsp.source.encoding import decoded, encoded
from clmap_lsp.whole_files import write_whole
from clmap_lsp.workbench.hosts import shown
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.commands.checking import CheckJob
    from clmap_lsp.findings import Fix

MOST_PASSES = 8
"""A fix may make room for the next one; so many rounds at most."""


def fixed(
    jobs: Sequence[CheckJob],
    report: CheckReport,
    check: Callable[[Sequence[CheckJob]], CheckReport],
    *,
    diff: bool,
    unsafe: bool,
) -> CheckReport:
    """Apply fixes round by round, and return the report of what is left (with `diff`: the first one).

    With `diff` the change is printed and no file is written. Standard input is never written. What the host
    must change, and what is assumed, is said of every fix, although the finding is gone by then. Where the
    change of host code is known it is made with the kernels', which then get nothing more: launches are read
    from the disk.
    """
    before: dict[str, str] = {}
    texts: dict[str, str] = {}
    done: list[AppliedFix] = []
    last = report
    current = list(jobs)
    for _ in range(MOST_PASSES):
        here = {path: source.text for it in last.files for path, source in it.sources.items()}
        settled = {it.path for it in done if it.host_files}
        hosts = {path for it in done for path in it.host_files}
        chosen = [it for it in _one_a_kernel(last, unsafe) if _is_free(it, settled, hosts)]
        here |= {path: _read(path) for _, it in chosen for path in _host_files(it)}
        applied = apply((it for _, it in chosen), here, unsafe=unsafe)
        if not applied.fixes:
            break
        taken = set(map(id, applied.fixes))
        done += (_applied(where, it) for where, it in chosen if id(it) in taken)
        for path, text in applied.texts.items():
            before.setdefault(path, here[path])
            texts[path] = text
        current = [replace(it, text=texts.get(it.path, it.text)) for it in current]
        last = check(current)
        if any(path not in {it.path for it in jobs} for path in applied.texts):
            break  # A header changed: what includes it is read from the disk.
    noun = "fix" if len(done) == 1 else "fixes"
    if diff:
        for path, text in sorted(texts.items()):
            sys.stdout.write(terminal_lines(unified_diff(shown(path), before[path], text)))
        sys.stderr.write(f"{len(done)} {noun} would be applied\n")
        _say(done)
        return replace(report, applied=tuple(done))
    stdin = {it.path for it in jobs if it.text is not None}
    for path, text in texts.items():
        if path not in stdin:
            _write(path, text)
    if any(it.host_files for it in done):
        last = check(current)
    if done:
        sys.stderr.write(f"{len(done)} {noun} applied\n")
        _say(done)
    return replace(last, applied=tuple(done))


_Where = tuple[str, str | None]
"""A file and a kernel in it."""


def _applied(where: _Where, fix: Fix) -> AppliedFix:
    files = _host_files(fix)
    return AppliedFix(*where, fix.title, fix.safety, fix.assumptions, fix.host_change, fix.host_diff, files)


def _host_files(fix: Fix) -> tuple[str, ...]:
    return tuple(dict.fromkeys(it.span.path for it in fix.host_edits))


def _is_free(chosen: tuple[_Where, Fix], settled: Container[str], hosts: Container[str]) -> bool:
    """Tell whether a fix still fits: neither the launches of its kernels nor its host files have changed."""
    (path, _), fix = chosen
    return path not in settled and not any(it in hosts for it in _host_files(fix))


def _read(path: str) -> str:
    return decoded(safe_read(path, limit=SOURCE_BYTES, within=scope_of(path)))


def _say(done: Sequence[AppliedFix]) -> None:
    """Print what each fix asks for beyond the text."""
    for it in done:
        where = f"{it.path}: {it.kernel}" if it.kernel else it.path
        if it.host_files:
            names = ", ".join(map(shown, it.host_files))
            _line(f"{where}: with it {names} changes: {it.host_change}")
        elif it.host_change:
            _line(f"{where}: the host must change too: {it.host_change}")
        if it.host_diff and not it.host_files:
            sys.stderr.write(terminal_lines(it.host_diff.rstrip("\n") + "\n"))
        if it.assumptions:
            _line(f'{where}: "{it.title}" assumes {", ".join(it.assumptions)}')


def _line(text: str) -> None:
    sys.stderr.write(f"{terminal_line(text)}\n")


def _one_a_kernel(report: CheckReport, unsafe: bool) -> Iterator[tuple[_Where, Fix]]:
    """Yield the fixes of one round: rewrites are tested one by one, so each kernel gets its best one only."""
    from clmap_lsp.findings import FixSafety

    best: dict[_Where, Fix] = {}
    for file, finding in report.pairs():
        fix = finding.fix
        if fix is None or fix.safety is FixSafety.DISPLAY or (fix.safety is FixSafety.UNSAFE and not unsafe):
            continue
        if fix.verified is None:
            yield (file.path, finding.kernel), fix
            continue
        if fix.verified.get("moves_data") and not fix.host_edits:
            continue  # Other kernels and the host would have to follow: nobody takes it without being asked.
        key = (file.path, finding.kernel)
        if key not in best or _left(fix) < _left(best[key]):
            best[key] = fix
    for file in report.files:
        for kernel, fix in file.rewrites:
            allowed = fix.safety is FixSafety.SAFE or (unsafe and fix.safety is FixSafety.UNSAFE)
            if allowed and ((key := (file.path, kernel)) not in best or _left(fix) < _left(best[key])):
                best[key] = fix
    yield from best.items()


def _left(fix: Fix) -> float:
    """Return what a kernel takes after a rewrite over what it takes now: of time, else of traffic."""
    verified = fix.verified or {}
    known = verified.get("time_ratio")
    if known is not None:
        return float(known)
    before, after = (
        int(it.get("lines", 0)) + int(it.get("wavefronts", 0))
        for it in (verified.get("before", {}), verified.get("after", {}))
    )
    return after / max(before, 1)


def _write(path: str, text: str) -> None:
    """Write a file in place, keeping its encoding, its byte-order mark and its line ends."""
    before = safe_read(path, limit=SOURCE_BYTES, within=scope_of(path))
    write_whole(Path(path), encoded(text, before))
