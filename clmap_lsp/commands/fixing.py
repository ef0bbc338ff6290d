"""`check --fix` and `check --diff`: apply fixes and check again, until nothing is left to fix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.report.edits import apply, unified_diff
from clmap_lsp.report.model import CheckReport
from clmap_lsp.whole_files import write_whole

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

    With `diff` the change is printed and no file is written. Standard input is never written.
    """
    before: dict[str, str] = {}
    texts: dict[str, str] = {}
    n_fixes, last = 0, report
    current = list(jobs)
    for _ in range(MOST_PASSES):
        here = {path: source.text for it in last.files for path, source in it.sources.items()}
        applied = apply(_one_a_kernel(last, unsafe), here, unsafe=unsafe)
        if not applied.n_fixes:
            break
        n_fixes += applied.n_fixes
        for path, text in applied.texts.items():
            before.setdefault(path, here[path])
            texts[path] = text
        current = [replace(it, text=texts.get(it.path, it.text)) for it in current]
        last = check(current)
        if any(path not in {it.path for it in jobs} for path in applied.texts):
            break  # A header changed: what includes it is read from the disk.
    noun = "fix" if n_fixes == 1 else "fixes"
    if diff:
        for path, text in sorted(texts.items()):
            sys.stdout.write(unified_diff(path, before[path], text))
        sys.stderr.write(f"{n_fixes} {noun} would be applied\n")
        return report
    stdin = {it.path for it in jobs if it.text is not None}
    for path, text in texts.items():
        if path not in stdin:
            _write(path, text)
    if n_fixes:
        sys.stderr.write(f"{n_fixes} {noun} applied\n")
    return last


def _one_a_kernel(report: CheckReport, unsafe: bool) -> Iterator[Fix]:
    """Yield the fixes of one round: rewrites are proved one by one, so each kernel gets its best one only."""
    from clmap_lsp.findings import FixSafety

    best: dict[tuple[str, str | None], Fix] = {}
    for file, finding in report.pairs():
        fix = finding.fix
        if fix is None or fix.safety is FixSafety.DISPLAY or (fix.safety is FixSafety.UNSAFE and not unsafe):
            continue
        if fix.verified is None:
            yield fix
            continue
        key = (file.path, finding.kernel)
        if key not in best or _cost(fix) < _cost(best[key]):
            best[key] = fix
    yield from best.values()


def _cost(fix: Fix) -> int:
    after = (fix.verified or {}).get("after", {})
    return int(after.get("lines", 0)) + int(after.get("wavefronts", 0))


def _write(path: str, text: str) -> None:
    """Write a file in place, keeping its byte-order mark and its line ends."""
    target = Path(path)
    mark = b"\xef\xbb\xbf" if target.read_bytes().startswith(b"\xef\xbb\xbf") else b""
    write_whole(target, mark + text.encode())
