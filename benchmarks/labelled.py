"""What is left of findings on public kernels that a person judged, and how many of those shown are worth it.

    python -m benchmarks.labelled --repos DIR [--half open|closed] [--collected first|...|thirteenth]

DIR holds one tree a repository, `owner__name`, as `benchmarks.corpus --clone` makes it. The verdicts are in
`tests/data/labelled_findings.json`; they were written down before the rules were changed for them, and only
the half called open was looked at while they were. A finding is shown if it is no hint. Those collected later
are of other repositories, which nobody had looked at before; of those from the third set on, `check .` must
still come to the file, and shares are printed by severity too.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.commands.files import kernel_files
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection

LABELS = Path(__file__).parents[1] / "tests" / "data" / "labelled_findings.json"
COLLECTED = (
    "first",
    "later",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
)
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
    severity: str = ""

    @property
    def folder(self) -> str:
        """The name of the repository's tree."""
        return self.repository.removeprefix("https://github.com/").replace("/", "__")


def labels() -> Iterator[Label]:
    """Yield the judged findings."""
    for it in json.loads(LABELS.read_text(encoding="utf-8"))["findings"]:
        yield Label(**{"checked": it["file"], **it})


def shown(path: Path) -> dict[tuple[str, int, str], str]:
    """Return file, row and code of what `check` prints of a file, with the severity of each."""
    report = check_file(CheckJob(str(path), Settings(), Selection.of()))
    return {
        (it.span.path, report.start(it.span).row, it.code): it.severity.value
        for it in report.findings
        if it.severity is not Severity.HINT
    }


def main() -> None:
    """Print a line for each verdict: how many findings had it, and how many of these are still shown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--half", choices=("open", "closed"))
    parser.add_argument("--collected", choices=COLLECTED)
    args = parser.parse_args()
    found: dict[Path, dict[tuple[str, int, str], str]] = {}
    walked: dict[Path, set[str]] = {}
    before: Counter[tuple[str, str]] = Counter()
    after: Counter[tuple[str, str]] = Counter()
    for label in labels():
        root = args.repos / label.folder
        checked = root / label.checked
        is_asked = args.half in (None, label.half) and args.collected in (None, label.collected)
        if not is_asked or not checked.is_file():
            continue
        if root not in walked:
            walked[root] = set(kernel_files([str(root)], lambda _: False))
        before[label.severity, label.verdict] += 1
        if label.collected in COLLECTED[2:] and str(checked) not in walked[root]:
            continue
        if checked not in found:
            found[checked] = shown(checked)
        now = found[checked].get((str(root / label.file), label.row, label.code))
        if now is not None:
            after[now, label.verdict] += 1
    for verdict in VERDICTS:
        print(f"{verdict:10} {_total(before, verdict):4d} {_total(after, verdict):4d}")
    for name, counts in (("before", before), ("now", after)):
        for severity in ("", *sorted({it for it, _ in counts} - {""})):
            whole = sum(_total(counts, it, severity) for it in VERDICTS) or 1
            bad = _total(counts, "misleading", severity) + _total(counts, "wrong", severity)
            worth = _total(counts, "worth", severity)
            print(
                f"{name}{', ' if severity else ''}{severity}: {worth / whole:.0%} worth it, "
                f"{bad / whole:.0%} misleading or wrong, of {whole}"
            )


def _total(counts: Counter[tuple[str, str]], verdict: str, severity: str = "") -> int:
    return sum(n for (of, it), n in counts.items() if it == verdict and severity in ("", of))


if __name__ == "__main__":
    main()
