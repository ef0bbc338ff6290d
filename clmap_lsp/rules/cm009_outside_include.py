"""An included file that lies outside the workspace.

## What it does

Names the files that an `#include` reads from outside the workspace, links followed. The workspace is the
nearest folder above the kernel with a repository, else with a `clmap.toml`, else the current folder.

## Why is this bad?

Mostly it is not: headers of an SDK lie elsewhere. But a source of unknown origin may include any file that
you can read, and its text then shows in hovers and findings; so it is said which files those are.

## Example

```text
#include "../../../../home/me/.ssh/config"
```

## Use instead

Nothing, if the file is one that you mean to include: `// clmap: ignore[CM009]` says so. Else take the line
out.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta

RULE = RuleMeta("CM009", "outside-include", Severity.INFORMATION, problems=("outside-include",))


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the includes that leave the workspace."""
    yield from (from_problem(RULE, it) for it in context.problems(RULE))
