"""What is said of a function at keys at which it is not analysed: what compilers say, by the index alone.

A function that does not compile is not analysed anyway, and half-typed text seldom compiles. And to read and
analyse a function of a thousand statements takes longer than a person takes from key to key: of such a one,
what was found before stays where the text was not edited, until typing pauses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import ref

from clmap_lsp.index.verdict import broken_functions
from clmap_lsp.rules.context import FOLLOWING, RuleContext
from clmap_lsp.rules.meta import Needs
from clmap_lsp.rules.registry import find_rule
from clmap_lsp.rules.runner import of_index
from clmap_lsp.server.settings import selection_of
from clmap_lsp.server.snapshot import Snapshot, Touched

if TYPE_CHECKING:
    from clmap_lsp.findings import Finding
    from clmap_lsp.index.index import Index
    from clmap_lsp.index.touched import EditedBody
    from clmap_lsp.server.documents import Document

LARGE = 12_000
"""Characters that are read for an edit from which on they are not analysed at each key: about 40 ms."""


def said_at_once(
    document: Document, whole: Snapshot, index: Index, edit: EditedBody, n_characters: int
) -> Touched | None:
    """Return what is known of a text without reading it as a program; None where that must be done.

    Args:
        whole: the last snapshot.
        index: of the present text.
        edit: how that differs from the snapshot's.
        n_characters: what would have to be read of it.
    """
    known = {(it.code, it.message) for it in whole.program.problems}
    if not edit.is_read_in(index) or any((it.code, it.message) not in known for it in index.problems):
        return None
    said_of_text = find_rule("CM001")
    told = said_of_text.meta.problems if said_of_text is not None else ()
    program = replace(
        whole.program,
        files={**whole.program.files, **index.files},
        problems=tuple(it for it in whole.program.problems if it.code not in told),
    )
    context = RuleContext(
        program,
        replace(whole.analysis, kernels=()),
        index=index,
        standard=whole.settings.build.language,
        is_standard_open=whole.is_standard_open,
    )
    broken = broken_functions(index, context.refused)
    if edit.name not in broken and n_characters < LARGE:
        return None
    found = of_index(context, selection_of(whole.settings))
    part = replace(
        whole,
        document=document,
        program=program,
        analysis=context.analysis,
        findings=found,
        times={},
        index=ref(index),
        layout=None,
    )
    return Touched(document, part, _rest(whole, broken, edit).seen_in(document))


def _rest(whole: Snapshot, broken: frozenset[str], edit: EditedBody) -> Snapshot:
    """Return a snapshot without what the index says anew, and without functions that do not compile."""
    by_reader = {(it.span, it.message) for it in whole.program.problems}

    def is_left(finding: Finding) -> bool:
        if finding.kernel is not None:
            return finding.kernel not in broken
        rule = find_rule(finding.code)
        if rule is None:
            return True
        if rule.meta.needs is Needs.INDEX:
            return (finding.span, finding.message) in by_reader
        if edit.name in broken and not FOLLOWING.isdisjoint(rule.meta.problems):
            return not edit.opening <= finding.span.start < edit.end
        return True

    kernels = tuple(it for it in whole.analysis.kernels if it.name not in broken)
    findings = tuple(filter(is_left, whole.findings))
    return replace(whole, analysis=replace(whole.analysis, kernels=kernels), findings=findings)
