"""Run the selected rules over one file, silence what its comments silence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clmap_lsp.findings import Finding
from clmap_lsp.rules.context import RuleContext, UnusedSuppression
from clmap_lsp.rules.memory import KernelFindings, is_per_kernel
from clmap_lsp.rules.meta import Rule
from clmap_lsp.rules.registry import find_rule, suggestion
from clmap_lsp.rules.selection import Selection
from clmap_lsp.rules.suppress import SuppressedCode, Suppression, suppressions
from clmap_lsp.source.program import Program

UNUSED_CODE = "CM004"
EMULATED_GROUP = "CM3"
"""Rules that speak only if the emulator ran; a suppression of one is not called unused when it did not."""


def run(
    context: RuleContext, selection: Selection, memory: KernelFindings | None = None
) -> tuple[Finding, ...]:
    """Return what the selected rules find, graded, without what comments silence; in no particular order."""
    rules = selection.rules()
    kept_apart = [it for it in rules if memory is not None and is_per_kernel(it)]
    found = [] if memory is None else list(memory.check(kept_apart, context))
    for rule in rules:
        if rule.meta.code != UNUSED_CODE and rule not in kept_apart:
            found += rule.check(context)
    comments = {path: suppressions(file) for path, file in context.program.files.items()}
    kept, used = _silence(context.program, found, comments)
    if (last := next((it for it in rules if it.meta.code == UNUSED_CODE), None)) is not None:
        kept += list(last.check(replace(context, unused=_unused(context, rules, comments, used))))
    return tuple(selection.graded(it) for it in _distinct(kept))


def judged(program: Program, found: Sequence[Finding], selection: Selection) -> tuple[Finding, ...]:
    """Return findings of another run (the emulator's, say) as `run` would: selected, not silenced, graded."""
    comments = {path: suppressions(file) for path, file in program.files.items()}
    kept, _ = _silence(program, [it for it in found if it.code in selection.codes], comments)
    return tuple(selection.graded(it) for it in _distinct(kept))


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
        row = program.position(finding.span).row
        silencing = [
            (comment, code)
            for comment in comments.get(finding.span.path, ())
            if comment.row is None or comment.row == row
            for code in comment.codes
            if code.word.upper() == finding.code or code.word.lower() == finding.name
        ]
        used.update(silencing)
        if not silencing:
            kept.append(finding)
    return kept, used


def _unused(
    context: RuleContext,
    rules: Sequence[Rule],
    comments: dict[str, tuple[Suppression, ...]],
    used: set[tuple[Suppression, SuppressedCode]],
) -> tuple[UnusedSuppression, ...]:
    """Judge the comments of the main file only: in a header, another file may need them."""
    active = {it.meta.code for it in rules}
    out = []
    for comment in comments.get(context.program.path, ()):
        if not comment.codes:
            out.append(UnusedSuppression(comment, None, "it names no rule; write `ignore[CODE] reason`"))
        for code in comment.codes:
            reason = _why_unused(context, code, active)
            if reason is not None and (comment, code) not in used:
                out.append(UnusedSuppression(comment, code, reason))
    return tuple(out)


def _why_unused(context: RuleContext, code: SuppressedCode, active: set[str]) -> str | None:
    """Return why a code that silenced nothing is unused; `None` if its rule did not speak in this run."""
    rule = find_rule(code.word)
    if rule is None:
        return f"there is no rule `{code.word}`{suggestion(code.word)}"
    if rule.meta.code not in active:
        return None
    if rule.meta.code.startswith(EMULATED_GROUP) and context.emulations is None:
        return None
    return f"`{code.word}` finds nothing here"
