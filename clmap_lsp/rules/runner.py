"""Run the selected rules over one file, silence what its comments silence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding
from clmap_lsp.interruption import checkpoint
from clmap_lsp.rules.context import RuleContext, UnusedSuppression
from clmap_lsp.rules.memory import KernelFindings, is_per_kernel
from clmap_lsp.rules.meta import Needs, Rule
from clmap_lsp.rules.registry import find_rule, suggestion
from clmap_lsp.rules.selection import Selection
from clmap_lsp.rules.suppress import SuppressedCode, Suppression, suppressions
from clmap_lsp.source.program import Program
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult


def run(
    context: RuleContext, selection: Selection, memory: KernelFindings | None = None
) -> tuple[Finding, ...]:
    """Return what the selected rules find, graded, without what comments silence; in no particular order."""
    rules = selection.rules()
    kept_apart = [it for it in rules if memory is not None and is_per_kernel(it)]
    found = [] if memory is None else list(memory.check(kept_apart, context))
    for rule in rules:
        checkpoint()
        if rule.meta.needs is not Needs.FINDINGS and rule not in kept_apart:
            found += rule.of_file(context)
    comments = {path: suppressions(file) for path, file in context.program.files.items()}
    kept, used = _silence(context.program, found, comments)
    if last := [it for it in rules if it.meta.needs is Needs.FINDINGS]:
        ran = _ran_well(context.emulations)
        judging = replace(context, unused=_unused(context, rules, comments, used, ran))
        kept += [finding for it in last for finding in it.of_file(judging)]
    return tuple(selection.graded(it) for it in _distinct(kept))


def of_index(context: RuleContext, selection: Selection) -> tuple[Finding, ...]:
    """Return, as `run` would, what those rules find that need nothing but the index."""
    rules = [it for it in selection.rules() if it.meta.needs is Needs.INDEX]
    found = [finding for rule in rules for finding in rule.of_file(context)]
    comments = {path: suppressions(file) for path, file in context.program.files.items()}
    kept, _ = _silence(context.program, found, comments)
    return tuple(selection.graded(it) for it in _distinct(kept))


def judged(
    context: RuleContext, found: Sequence[Finding], selection: Selection, ran: Collection[str]
) -> tuple[Finding, ...]:
    """Return what the emulator found, in a run of its own, as `run` would: selected, not silenced, graded.

    Suppressions of its rules that silence nothing are among them, as soon as every kernel that they speak of
    ran; `ran` names those. `run` without emulations leaves these to us, and we leave the others to it.
    """
    program = context.program
    comments = {path: suppressions(file) for path, file in program.files.items()}
    kept, used = _silence(program, [it for it in found if it.code in selection.codes], comments)
    last = [it for it in selection.rules() if it.meta.needs is Needs.FINDINGS]
    if last and ran and any(comments.values()):
        rules = [it for it in selection.rules() if it.meta.needs is Needs.EMULATION]
        unused = [it for it in _unused(context, rules, comments, used, ran) if it.code and _is_known(it.code)]
        judging = replace(context, unused=tuple(unused))
        kept += [finding for it in last for finding in it.of_file(judging)]
    return tuple(selection.graded(it) for it in _distinct(kept))


def _is_known(code: SuppressedCode) -> bool:
    return find_rule(code.word) is not None


def _distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out repetitions: one header that two kernels share is reported once for each kernel at most."""
    seen: set[tuple[object, ...]] = set()
    for finding in findings:
        key = (finding.code, finding.span, finding.message, finding.kernel)
        if key not in seen:
            seen.add(key)
            yield finding


def _silence(
    program: Program,
    findings: Sequence[Finding],
    comments: dict[str, tuple[Suppression, ...]],
) -> tuple[list[Finding], set[tuple[Suppression, SuppressedCode]]]:
    kept: list[Finding] = []
    used: set[tuple[Suppression, SuppressedCode]] = set()
    for finding in findings:
        left: Finding | None = finding
        while left is not None and (silencing := _silencing(program, left, comments)):
            used.update(silencing)
            left = left.rest
        if left is not None:
            kept.append(left)
    return kept, used


def _silencing(
    program: Program, finding: Finding, comments: dict[str, tuple[Suppression, ...]]
) -> list[tuple[Suppression, SuppressedCode]]:
    """Return the comments, with the codes in them, that silence a finding at its first place."""
    row = program.position(finding.span).row
    return [
        (comment, code)
        for comment in comments.get(finding.span.path, ())
        if comment.row is None or comment.row == row
        for code in comment.codes
        if code.word.upper() == finding.code or code.word.lower() == finding.name
    ]


def _unused(
    context: RuleContext,
    rules: Sequence[Rule],
    comments: dict[str, tuple[Suppression, ...]],
    used: set[tuple[Suppression, SuppressedCode]],
    ran: Collection[str],
) -> tuple[UnusedSuppression, ...]:
    """Judge the comments of the main file only: in a header, another file may need them.

    `ran` names the kernels that the emulator ran to their end.
    """
    active = {it.meta.code for it in rules}
    out = []
    for comment in comments.get(context.program.path, ()):
        if not comment.codes:
            out.append(UnusedSuppression(comment, None, "it names no rule; write `ignore[CODE] reason`"))
        for code in comment.codes:
            reason = _why_unused(code, active, all_ran=_all_ran(context.program, comment, ran))
            if reason is not None and (comment, code) not in used:
                out.append(UnusedSuppression(comment, code, reason))
    return tuple(out)


def _why_unused(code: SuppressedCode, active: set[str], *, all_ran: bool) -> str | None:
    """Return why a code that silenced nothing is unused; `None` if its rule did not speak in this run."""
    rule = find_rule(code.word)
    if rule is None:
        return f"there is no rule `{code.word}`{suggestion(code.word)}"
    if rule.meta.code not in active:
        return None
    if rule.meta.needs is Needs.EMULATION and not all_ran:
        return None
    return f"`{code.word}` finds nothing here"


def _ran_well(emulations: Mapping[str, EmulationResult] | None) -> frozenset[str]:
    """Return the kernels whose run came to its end: only those have met every fault that they have."""
    return frozenset(name for name, it in (emulations or {}).items() if it.is_whole)


def _all_ran(program: Program, comment: Suppression, ran: Collection[str]) -> bool:
    """Tell whether every kernel that a comment may speak of ran: the one around it, else all of the file."""
    row = comment.row
    around = [] if row is None else [it for it in program.kernels if _holds_row(program, it.span, row)]
    return bool(program.kernels) and all(it.name in ran for it in around or program.kernels)


def _holds_row(program: Program, span: Span, row: int) -> bool:
    if span.path != program.path:
        return False
    file = program.main_file
    return file.position(span.start).row <= row <= file.position(span.end).row
