"""Which findings come first, the same ones in copied files, and what is found by kernel."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Related, Severity
from clmap_lsp.report.fingerprint import fingerprint
from clmap_lsp.report.model import SEVERITY_RANK, CheckReport, FileReport
from clmap_lsp.rules.causes import names_of_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clmap_lsp.findings import Finding
    from clmap_lsp.source.span import Span


def importance(finding: Finding) -> tuple[int, float, float]:
    """Return what sorts findings, the most important first: severity, seconds lost, part of the traffic.

    The time is that of the device, where its timing facts are known (`Finding.time`).
    """
    seconds = 0.0 if finding.time is None else finding.time.seconds
    share = finding.data.get("share")
    return SEVERITY_RANK[finding.severity], -seconds, -share if isinstance(share, (int, float)) else 0.0


def by_importance(report: CheckReport) -> CheckReport:
    """Return a report whose findings come in order of importance, over all files; ties as in the source."""
    ordered = sorted(report.pairs(), key=lambda it: importance(it[1]))
    return replace(report, order=tuple((file.path, finding) for file, finding in ordered))


def top(report: CheckReport, count: int) -> CheckReport:
    """Return a report that shows the first findings only, and says how many there are besides."""
    shown = [finding for _, finding in report.pairs()]
    left = Counter(id(it) for it in shown[:count])
    files = tuple(
        replace(file, findings=tuple(it for it in file.findings if left[id(it)])) for file in report.files
    )
    order = None if report.order is None else report.order[:count]
    return replace(report, files=files, order=order, n_left_out=max(0, len(shown) - count))


def without_copies(report: CheckReport) -> CheckReport:
    """Return a report in which what is found alike in copies of a file is one finding.

    Copies are told by rule, kernel, message and the text of the line; the finding points at them. So is what
    is found at one place of a header, in whatever kernels and files it is reached from, what is found in a
    helper that several kernels of a file call, what is said of one launch that runs several kernels, the
    names of all files that take types from the build, and what a compiler says in the same words of several
    places.
    """
    copies = _of_headers(report)
    _add_repeated(report, copies)
    told = _of_types(report, copies) | _of_helpers(report, copies)
    first: dict[tuple[str, str], tuple[FileReport, Finding]] = {}
    gone = {id(finding) for found in copies.values() for _, finding in found}
    for file, finding in report.pairs():
        if id(finding) in gone:
            continue
        key = fingerprint(file, finding), finding.message
        known = first.setdefault(key, (file, finding))
        if known[0].path != file.path and finding.span.path != known[1].span.path:
            copies.setdefault(id(known[1]), []).append((file, finding))
            gone.add(id(finding))
    if not gone:
        return report
    files = [_merged(file, copies, gone, told) for file in report.files]
    return replace(report, files=tuple(files))


def _of_headers(report: CheckReport) -> dict[int, list[tuple[FileReport, Finding]]]:
    """Return, by the most important finding at each place of a header, the others of its rule there.

    Where the header is one of the files, its own finding is the first.
    """
    others: dict[int, list[tuple[FileReport, Finding]]] = {}
    headers = [(file, it) for file, it in report.pairs() if it.span.path != file.path]
    included = {it.span.path for _, it in headers}
    own = [it for file, it in report.pairs() if file.path in included and it.span.path == file.path]
    first = {(it.span, it.code): it for it in sorted(own, key=importance, reverse=True)}
    for file, finding in sorted(headers, key=lambda it: importance(it[1])):
        known = first.setdefault((finding.span, finding.code), finding)
        if known is not finding:
            others.setdefault(id(known), []).append((file, finding))
    return others


def _add_repeated(report: CheckReport, others: dict[int, list[tuple[FileReport, Finding]]]) -> None:
    """Add what is said of the source in the same words again: of errors in one file, else in any.

    One slip is often made many times, and mended in one go; two files are mended one by one.
    """
    gone = {id(it) for found in others.values() for _, it in found}
    first: dict[tuple[str, str, str, str], Finding] = {}
    for file, it in report.pairs():
        is_slip = it.code in _OF_THE_SOURCE and it.kernel is None
        if (is_slip or it.code in _OF_HABIT) and id(it) not in gone:
            where = it.span.path if it.severity is Severity.ERROR or it.code in _OF_HABIT else ""
            title = "" if it.fix is None else f"{it.span.path}: {it.fix.title}"
            said = str(it.data.get("cause", it.message))
            known = first.setdefault((where, it.code, said, title), it)
            if known is not it:
                others.setdefault(id(known), []).append((file, it))


_OF_HABIT = frozenset({"CM507"})
"""Rules about what a person writes alike in all kernels of a file, and mends in one go."""
_OF_THE_LAUNCH = frozenset({"CM505", "CM508"})
"""Rules about nothing but the launch; what they say rests on one line of host code, which comes last."""
_OF_THE_SOURCE = frozenset({"CM001", "CM008", "CM011", "CM016", "CM017"})


def _of_helpers(report: CheckReport, others: dict[int, list[tuple[FileReport, Finding]]]) -> dict[int, str]:
    """Add what is found at one place of a file in other kernels; return what the most important says then.

    A kernel's own text is no other kernel's: such a place is a helper's, or a macro's that makes kernels.
    """
    places: dict[tuple[Span, str], dict[str, tuple[FileReport, Finding]]] = {}
    own = [(file, it) for file, it in report.pairs() if it.span.path == file.path and it.kernel is not None]
    for file, it in sorted(own, key=lambda it: importance(it[1])):
        places.setdefault((it.span, it.code), {}).setdefault(it.kernel or "", (file, it))
    launches: dict[tuple[Span, str, str], dict[str, tuple[FileReport, Finding]]] = {}
    for file, it in own:
        if it.code in _OF_THE_LAUNCH and it.related:  # One call of the host launches them all.
            launches.setdefault((it.related[-1].span, it.code, it.message), {})[it.kernel or ""] = (file, it)
    told = {}
    for (_, first), *others_there in (list(it.values()) for it in (*places.values(), *launches.values())):
        rest = [(file, it) for file, it in others_there if it.fix is None or it.fix == first.fix]
        if rest:
            others.setdefault(id(first), []).extend(rest)
            names = [f"`{it.kernel}`" for _, it in rest]
            more = f" and {len(names) - MOST_COPIES} more" if len(names) > MOST_COPIES else ""
            kernels = "kernels" if len(names) > 1 else "kernel"
            told[id(first)] = f"{first.message}\nAlso in {kernels} {', '.join(names[:MOST_COPIES])}{more}."
    return told


def _of_types(report: CheckReport, others: dict[int, list[tuple[FileReport, Finding]]]) -> dict[int, str]:
    """Add those of other files to the first finding about types of the build; return what it says then."""
    found = [(file, it) for file, it in report.pairs() if it.data.get("types")]
    if len(found) < 2:
        return {}
    first = found[0][1]
    others.setdefault(id(first), []).extend(found[1:])
    values = {name: value for _, it in reversed(found) for name, value in it.data["names"].items()}
    types = dict.fromkeys(name for _, it in found for name in it.data["types"])
    values = {name: values[name] for name in (*types, *(it for it in values if it not in types))}
    return {id(first): names_of_files(values, len({file.path for file, _ in found}))}


def _merged(
    file: FileReport,
    copies: dict[int, list[tuple[FileReport, Finding]]],
    gone: set[int],
    told: dict[int, str],
) -> FileReport:
    findings, sources = [], dict(file.sources)
    for it in file.findings:
        if id(it) in gone:
            continue
        others = copies.get(id(it), ())
        pointers = _pointers(it, others)
        for other, _ in others:
            sources.update({path: text for path, text in other.sources.items() if path not in sources})
        message = told.get(id(it), it.message)
        fix = it.fix
        if fix is not None and it.code in _OF_THE_SOURCE:
            same = [edit for _, other in others if other.fix is not None for edit in other.fix.edits]
            fix = replace(fix, edits=tuple(dict.fromkeys((*fix.edits, *same))))
        findings.append(replace(it, message=message, related=(*it.related, *pointers), fix=fix))
    return replace(file, findings=tuple(findings), sources=sources)


MOST_COPIES = 5
"""Copies that are pointed at by their places."""


def _pointers(finding: Finding, others: Sequence[tuple[FileReport, Finding]]) -> list[Related]:
    same = [(file, it) for file, it in others if it.span == finding.span]
    repeated = finding.code in _OF_THE_SOURCE | _OF_THE_LAUNCH | _OF_HABIT
    here = "the same here" if repeated else "the same here, in a copy"
    here = "not defined here" if finding.data.get("types") else here
    shown = [Related(it.span, here) for _, it in others if it.span != finding.span]
    if len(shown) > MOST_COPIES:
        more = f"the same here, and in {len(shown) - MOST_COPIES} more {'places' if repeated else 'files'}"
        shown[MOST_COPIES - 1 :] = [replace(shown[MOST_COPIES - 1], message=more)]
    return [*_through(same), *shown]


def _through(others: Sequence[tuple[FileReport, Finding]]) -> list[Related]:
    """Return where else a place of a header is reached from: one call, and how many besides."""
    calls = [it for file, finding in others for it in finding.related if it.span.path == file.path]
    if not calls:
        return []
    kernels = len({(file.path, finding.kernel) for file, finding in others}) - 1
    besides = f" and {kernels} other kernel{'s' if kernels > 1 else ''}" if kernels else ""
    said = f"the same in kernel {others[0][1].kernel}{besides}, through this call"
    return [Related(calls[0].span, said)]


def by_kernel(report: CheckReport) -> list[tuple[str, str, int, int, int, float]]:
    """Return (path, kernel, errors, warnings, notes, largest share of the traffic), the worst first."""
    rows: dict[tuple[str, str], list[Finding]] = {}
    for file, finding in report.pairs():
        rows.setdefault((file.path, finding.kernel or ""), []).append(finding)
    table = []
    for (path, kernel), findings in rows.items():
        counts = [sum(SEVERITY_RANK[it.severity] == rank for it in findings) for rank in range(3)]
        shares = [it.data.get("share") for it in findings]
        largest = max((it for it in shares if isinstance(it, (int, float))), default=0.0)
        table.append((path, kernel, counts[0], counts[1], counts[2], float(largest)))
    return sorted(table, key=lambda it: (-it[2], -it[3], -it[4], -it[5], it[0], it[1]))


def summary_text(report: CheckReport) -> str:
    """Return the table of `--summary`: a line for each kernel, the worst first."""
    rows = by_kernel(report)
    if not rows:
        return ""
    head = ("errors", "warnings", "notes", "traffic", "kernel")
    lines = [head]
    for path, kernel, errors, warnings, notes, share in rows:
        place = f"{kernel} ({path})" if kernel else path
        lines.append(
            (str(errors), str(warnings), str(notes), f"{share * 100:.0f} %" if share else "-", place)
        )
    widths = [max(len(line[at]) for line in lines) for at in range(4)]
    return "".join(
        "  ".join([*(line[at].rjust(widths[at]) for at in range(4)), line[4]]) + "\n" for line in lines
    )
