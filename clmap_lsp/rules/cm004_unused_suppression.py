"""A suppression comment that silences nothing.

## What it does

Reports `// clmap: ignore[CODE]` comments, or single codes in them, whose rule finds nothing at that place
(any more), and codes that no rule has. A rule that is switched off in this run is not judged.

## Why is this bad?

The comment tells readers about a problem that is not there, and would hide one that comes later.

## Example

```c
__kernel void copy(__global const float *a, __global float *b)
{
    // clmap: ignore[CM101] the transpose needs it
    b[get_global_id(0)] = a[get_global_id(0)];
}
```

## Use instead

```c
__kernel void copy(__global const float *a, __global float *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
```

## Fix safety

Safe: only a comment changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Edit, Finding, Fix, FixSafety, Severity
from clmap_lsp.rules.context import RuleContext, UnusedSuppression
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope
from clmap_lsp.rules.suppress import SuppressedCode, Suppression
from clmap_lsp.source.span import SourceFile, Span

RULE = RuleMeta(
    "CM004", "unused-suppression", Severity.INFORMATION, fixable=True, scope=Scope.FILE, needs=Needs.FINDINGS
)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the comments, or single codes, that are not needed."""
    for unused in context.unused:
        gone = [it.code for it in context.unused if it.comment is unused.comment and it.code is not None]
        yield RULE.finding(
            unused.code.span if unused.code else unused.comment.span,
            f"this suppression is not used: {unused.reason}",
            fix=_fix(context.program.main_file, unused, gone),
            unnecessary=True,
        )


def _fix(file: SourceFile, unused: UnusedSuppression, gone: list[SuppressedCode]) -> Fix | None:
    """Remove the comment if no code of it is left, else rewrite its brackets without the unused ones.

    Every finding of one comment carries the same edit, so that applying all of them applies it once.
    """
    comment = unused.comment
    if unused.code is None:
        return None
    left = [it.word for it in comment.codes if it not in gone]
    if left:
        span = Span(comment.span.path, comment.codes[0].span.start, comment.codes[-1].span.end)
        return Fix("remove the unused codes", FixSafety.SAFE, (Edit(span, ", ".join(left)),))
    return Fix("remove the comment", FixSafety.SAFE, (Edit(_with_blanks(file, comment), ""),))


def _with_blanks(file: SourceFile, comment: Suppression) -> Span:
    """Return the comment with the blanks before it; with its whole line where it stands alone."""
    start, end = comment.span.start, comment.span.end
    row = file.position(start).row
    line_start = file.line_starts[row - 1]
    while start > line_start and file.text[start - 1] in " \t":
        start -= 1
    if comment.stands_alone:
        next_row = file.position(end).row + 1
        end = file.line_starts[next_row - 1] if next_row <= len(file.line_starts) else len(file.text)
        start = line_start
    return Span(comment.span.path, start, end)
