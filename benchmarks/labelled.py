"""What is left of findings on public kernels that a person judged, and how many of those shown are worth it.

    python -m benchmarks.labelled --repos DIR [--half open|closed] [--collected first|later]

DIR holds one tree a repository, `owner__name`, as `benchmarks.corpus --clone` makes it. The verdicts are in
`tests/data/labelled_findings.json`; they were written down before the rules were changed for them, and only
the half called open was looked at while they were. A finding is shown if it is no hint. Those collected later
are of other repositories, which nobody had looked at before.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection

LABELS = Path(__file__).parents[1] / "tests" / "data" / "labelled_findings.json"
VERDICTS = ("worth", "neutral", "misleading", "wrong")


@dataclass(frozen=True, slots=True)
class Label:
    """One judged finding; `checked` is the file that was given, which includes `file`."""

    repository: str
    commit: str
    file: str
    checked: str
    row: int
    column: int
    code: str
    half: str
    verdict: str
    reason: str
    collected: str = "first"

    @property
    def folder(self) -> str:
        """The name of the repository's tree."""
        return self.repository.removeprefix("https://github.com/").replace("/", "__")


def labels() -> Iterator[Label]:
    """Yield the judged findings."""
    for it in json.loads(LABELS.read_text(encoding="utf-8"))["findings"]:
        yield Label(**{"checked": it["file"], **it})


def shown(path: Path) -> set[tuple[str, int, str]]:
    """Return file, row and code of what `check` prints of a file."""
    report = check_file(CheckJob(str(path), Settings(), Selection.of()))
    return {
        (it.span.path, report.start(it.span).row, it.code)
        for it in report.findings
        if it.severity is not Severity.HINT
    }


def main() -> None:
    """Print a line for each verdict: how many findings had it, and how many of these are still shown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--half", choices=("open", "closed"))
    parser.add_argument("--collected", choices=("first", "later"))
    args = parser.parse_args()
    found: dict[Path, set[tuple[str, int, str]]] = {}
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for label in labels():
        checked = args.repos / label.folder / label.checked
        is_asked = args.half in (None, label.half) and args.collected in (None, label.collected)
        if not is_asked or not checked.is_file():
            continue
        if checked not in found:
            found[checked] = shown(checked)
        before[label.verdict] += 1
        place = str(args.repos / label.folder / label.file), label.row, label.code
        after[label.verdict] += place in found[checked]
    for verdict in VERDICTS:
        print(f"{verdict:10} {before[verdict]:4d} {after[verdict]:4d}")
    for name, counts in (("before", before), ("now", after)):
        whole = sum(counts.values()) or 1
        bad = counts["misleading"] + counts["wrong"]
        print(f"{name}: {counts['worth'] / whole:.0%} worth it, {bad / whole:.0%} misleading or wrong")


if __name__ == "__main__":
    main()
