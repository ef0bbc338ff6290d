"""What a rule is: its code and name, its documentation, its check."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Fix, Related
from clmap_lsp.links import rule_url
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.rules.context import RuleContext

GROUPS = {
    "0": "source",
    "1": "global memory",
    "2": "local memory",
    "3": "faults seen in the emulator",
    "4": "local memory by the Aristotle database",
    "5": "memory selection, vectorisation and the memory hierarchy",
}
"""By the first digit of the code."""


class Scope(Enum):
    """What a rule sees, and so what its `check` takes."""

    KERNEL = "kernel"
    """One kernel and no other, so that what it says can be kept as long as that kernel stays as it is.

    `check(kernel: KernelAnalysis, device: DeviceModel)`; with `Needs.EMULATION`
    `check(kernel: Kernel, result: EmulationResult)`. Its messages name no place: places are spans.
    """
    FILE = "file"
    """The whole file: `check(context: RuleContext)`."""


class Needs(Enum):
    """What must have been done before a rule can speak."""

    INDEX = "index"
    """What the text declares and uses (`RuleContext.index`), and the program's problems if there are some:
    editors ask at each key, when they read no program."""
    ANALYSIS = "analysis"
    EMULATION = "emulation"
    """The emulator ran: without it the rule is silent, and suppressions of it are not judged."""
    FINDINGS = "findings"
    """All other rules spoke."""


SECTIONS = ("What it does", "Why is this bad?", "Example", "Use instead", "Fix safety")
"""Headings of a rule's documentation, in order; the last two only where there is something to say."""


@dataclass(frozen=True, slots=True)
class RuleMeta:
    """A rule by code and name; the name says the bad pattern. `severity` is the default.

    `scope` and `needs` say what the rule's `check` takes and when it is asked; its code decides nothing.
    `problems` are the codes of `Problem`s (see `clmap_lsp.source.ir`) that this rule reports.
    """

    code: str
    name: str
    severity: Severity
    fixable: bool = False
    problems: tuple[str, ...] = ()
    scope: Scope = Scope.KERNEL
    needs: Needs = Needs.ANALYSIS

    @property
    def url(self) -> str:
        """The rule's page."""
        return rule_url(self.code)

    @property
    def group(self) -> str:
        """What kind of thing the rule is about."""
        return GROUPS.get(self.code[2:3], "other")

    def finding(
        self,
        span: Span,
        message: str,
        *,
        kernel: str | None = None,
        severity: Severity | None = None,
        related: tuple[Related, ...] = (),
        fix: Fix | None = None,
        unnecessary: bool = False,
        data: Mapping[str, Any] | None = None,
    ) -> Finding:
        """Return a finding of this rule."""
        return Finding(
            code=self.code,
            name=self.name,
            message=message,
            severity=severity or self.severity,
            span=span,
            kernel=kernel,
            related=related,
            fix=fix,
            unnecessary=unnecessary,
            data=dict(data or {}),
        )


REWRITTEN = frozenset(
    {
        *("CM101", "CM102", "CM103", "CM104", "CM106", "CM201", "CM301", "CM302", "CM303"),
        *("CM401", "CM402", "CM403", "CM501", "CM502", "CM509", "CM510", "CM512"),
    }
)
"""Rules whose findings verified rewrites answer (`clmap_lsp.fixes`, which is not loaded to say so)."""


@dataclass(frozen=True, slots=True)
class RuleDocs:
    """A rule's documentation as Markdown: a summary line and its sections."""

    summary: str
    sections: Mapping[str, str]

    def code_blocks(self, section: str) -> list[str]:
        """Return the OpenCL code in a section; empty where it has none."""
        parts = self.sections.get(section, "").split("```")
        blocks = (it for it in parts[1::2])
        return [it.partition("\n")[2] for it in blocks if it.partition("\n")[0].strip() in ("c", "opencl")]

    def markdown(self, meta: RuleMeta) -> str:
        """Return the rule's page."""
        body = "\n\n".join(f"## {title}\n\n{text}" for title, text in self.sections.items())
        fix = "has a fix" if meta.fixable else "no automatic fix"
        if meta.code in REWRITTEN:
            fix = "rewrites of the kernel answer it, where tests find that they hold"
        head = f"# {meta.name} ({meta.code})\n\n{self.summary}\n\nGroup: {meta.group}. "
        return f"{head}Default severity: {meta.severity.value}; {fix}.\n\n{body}\n"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that was found."""

    meta: RuleMeta
    docs: RuleDocs
    check: Callable[..., Iterator[Finding]]
    """Takes what `Scope` says."""

    def of_file(self, context: RuleContext) -> Iterator[Finding]:
        """Yield what the rule says of a file, kernel by kernel where that is its scope."""
        if self.meta.scope is Scope.FILE:
            yield from self.check(context)
        elif self.meta.needs is Needs.EMULATION:
            for name, result in (context.emulations or {}).items():
                if (kernel := context.program.kernel(name)) is not None:
                    yield from self.check(kernel, result)
        else:
            for it in context.judged_kernels():
                yield from self.check(it, context.analysis.device)


def parse_docs(docstring: str) -> RuleDocs:
    """Read a rule module's docstring.

    Raises: ValueError if a heading is missing or not one of `SECTIONS`.
    """
    summary, *parts = inspect.cleandoc(docstring).split("\n## ")
    sections = {}
    for part in parts:
        title, _, text = part.partition("\n")
        if title.strip() not in SECTIONS:
            raise ValueError(f"unknown section {title!r}")
        sections[title.strip()] = text.strip()
    if missing := [it for it in SECTIONS[:2] if it not in sections]:
        raise ValueError(f"missing sections {missing}")
    return RuleDocs(" ".join(summary.split()), sections)
