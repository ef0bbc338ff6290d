"""An included file that lies outside the workspace, and is not read.

## What it does

Names the files that an `#include` asks for outside the workspace, links followed. They are not read, nor
looked for. The workspace is the nearest folder above the kernel with a repository, else with a `clmap.toml`,
else the current folder; `/usr/include` and `/usr/local/include` count as inside, `.git` and its like do not.

## Why is this bad?

A source of unknown origin could include any file that you can read, such as the keys of the machine that
checks it, and its text would show in findings, hovers and the logs of a build. Headers of an SDK that lie
elsewhere are meant, but only you can say so.

## Example

```text
#include "../../../../home/me/.ssh/config"
```

## Use instead

The folder of the header with `-I` on the command line, or among the editor's `clmap.buildOptions`. The
folders that a `clmap.toml` includes from count in a workspace that you trust in your editor; on the command
line they do not, as the configuration may be a stranger's too.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta("CM009", "outside-include", Severity.WARNING, problems=("outside-include",), scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the includes that would leave the workspace."""
    yield from (from_problem(RULE, it) for it in context.problems(RULE))
