"""Code that is valid, perhaps, but not understood here.

## What it does

Reports everything else that kept a part of the file from being analysed: extensions of the language,
directives and constructs that clmap-lsp does not read.

## Why is this bad?

Figures of the kernel may lack what that part does. It is said so that silence never means "nothing there".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.causes import is_doubtful
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta("CM008", "not-understood", Severity.INFORMATION, scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the problems that no other rule reports."""
    from clmap_lsp.rules.registry import all_rules

    claimed = {code for rule in all_rules() for code in rule.meta.problems}
    doubtful = is_doubtful(context.program)
    unclaimed = [it for it in context.program.problems if it.code not in claimed]
    for it in context.not_following(unclaimed):
        if not (doubtful and it.code in ("unsupported", "vector-literal")):
            found = from_problem(RULE, it)
            # A header that includes itself does so with any options.
            is_own = it.span.path == context.program.path or it.code == "include-depth"
            # Most headers that kernels are given without their build's options are the host's as well.
            yield found if is_own else replace(found, severity=Severity.HINT)
