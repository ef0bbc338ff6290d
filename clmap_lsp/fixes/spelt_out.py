"""Kernels whose accesses come out of macros, spelt out, so that what a rewrite edits is their own text.

Global ids that a kernel works out itself (`ids.py`) are written as such, too, and names that loops give to
indices (`index_names.py`) are written out. Loops that step more than one counter, or count down, are written
the plain way (`plain_loops.py`), and elements of sums, `*(a + i)`, as subscripts (`dereferenced.py`).

`#define SCORE(i, j) scores[(j) + (i) * (N + 1)]` hides an access from those who edit text. Of the macros
that a kernel's body uses, those that accesses, ids or heads of loops come out of are replaced by what they
stand for; numbers with a name stay names. A rewrite is derived there. What it leaves alone stays a macro.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.fixes.assumptions import no_offset, other_order, unique
from clmap_lsp.fixes.dereferenced import same_elements, subscripted
from clmap_lsp.fixes.do_loops import while_loops
from clmap_lsp.fixes.edits import OverlapError, apply
from clmap_lsp.fixes.ids import worked_out
from clmap_lsp.fixes.index_names import written_out
from clmap_lsp.fixes.macros import settable
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.plain_loops import PlainLoop, plain_loops
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.fixes.unused import without_unused
from clmap_lsp.source import ir
from clmap_lsp.source.lexer import NO_GAP, is_name
from clmap_lsp.source.macros import Expander, Macro, TooManyTokensError
from clmap_lsp.source.pieces import lex_fragment
from clmap_lsp.source.preprocess import preprocess
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.source.lexer import Token
    from clmap_lsp.source.preprocess import Preprocessed

MOST_TOKENS = 4096
"""Of one use."""


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a macro, or an id, at `[start, end)` of the text as typed, and what it stands for."""

    start: int
    end: int
    text: str
    is_kept: bool = False
    """Rewrites that were derived with it take it in: what it was worked out from may be gone."""
    assumptions: tuple[Assumption, ...] = ()
    """Of rewrites that edit it."""


@dataclass(frozen=True, slots=True)
class SpeltOut:
    """A subject with macros spelt out, and the way back to the text as typed."""

    subject: Subject
    uses: tuple[Use, ...]
    assumptions: tuple[Assumption, ...] = ()
    reorders_sums: bool = False

    def typed(self, proposal: Proposal) -> Proposal | None:
        """Return a proposal for the text as typed: uses that no edit touches stay as they are.

        `None` where its edits overlap.
        """
        here = self.subject.path
        mine = [it for it in proposal.edits if it.span.path == here]
        others = [it for it in proposal.edits if it.span.path != here]
        try:
            edits = tuple(self._edits(mine))
        except OverlapError:
            return None
        touched = [assumed for _, use in self._touched(mine) for assumed in use.assumptions]
        assumed = unique((*proposal.assumptions, *self.assumptions, *touched))
        reorders = proposal.reorders_sums or self.reorders_sums
        made = (*others, *edits)
        return replace(proposal, edits=made, assumptions=assumed, reorders_sums=reorders, in_place=False)

    def _edits(self, edits: Sequence[Edit]) -> Iterator[Edit]:
        path, text = self.subject.path, self.subject.text
        placed = list(self._placed())
        touched = [at for at, _ in self._touched(edits)]
        for start, end in _joined([*((it.span.start, it.span.end) for it in edits), *touched]):
            inside = [it for it in edits if start <= it.span.start and it.span.end <= end]
            moved = [Edit(Span(path, it.span.start - start, it.span.end - start), it.text) for it in inside]
            new = apply(text[start:end], moved, path)
            yield Edit(Span(path, self._first(start, placed), self._last(end, placed)), new)

    def _touched(self, edits: Sequence[Edit]) -> Iterator[tuple[tuple[int, int], Use]]:
        """Yield the uses that edits reach into, and those that are taken in anyway, and where they stand."""
        for (start, end, _), use in zip(self._placed(), self.uses, strict=True):
            if use.is_kept or any(it.span.start < end and start < it.span.end for it in edits):
                yield (start, end), use

    def _placed(self) -> Iterator[tuple[int, int, int]]:
        """Yield where each use stands spelt out, and by how much what follows has moved."""
        moved = 0
        for use in self.uses:
            start = use.start + moved
            moved += len(use.text) - (use.end - use.start)
            yield start, start + len(use.text), moved

    def _first(self, at: int, placed: Iterable[tuple[int, int, int]]) -> int:
        """Return where a range that starts at an offset starts as typed: before what was removed there."""
        return at - next((after for start, _, after in reversed([*placed]) if start < at), 0)

    def _last(self, at: int, placed: Iterable[tuple[int, int, int]]) -> int:
        """Return where a range that ends at an offset ends as typed: behind what was removed there."""
        return at - next((after for _, end, after in reversed([*placed]) if end <= at), 0)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges with those that overlap or touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def spelt_out(subject: Subject) -> SpeltOut | None:
    """Return a subject with the macros and ids spelt out that hide what rewrites edit; `None` without any.

    Of macros, what the compiler sees is the same, token by token.
    """
    if subject.analysis.span.path != subject.path:
        return None
    files = subject.program.files

    def read(path: str) -> str | None:
        return files[path].text if path in files else None

    path, hidden = subject.path, _hidden(subject)
    uses: tuple[Use, ...] = ()
    if hidden:
        before = preprocess(subject.text, path, subject.options, read)
        uses = tuple(_uses(subject, before, hidden))
        after = preprocess(_with(subject, uses), path, subject.options, read)
        if [it.text for it in before.tokens] != [it.text for it in after.tokens]:
            return None
    loops = list(_loops(subject, uses))
    uses = (*uses, *(Use(*it, is_kept=True) for loop in loops for it in loop.edits))
    ids = tuple(_ids(subject))
    for it in (*ids, *_names(subject), *_elements(subject)):
        if not any(_meet(it, other) for other in uses):
            uses = (*uses, it)
    uses = tuple(sorted(uses, key=lambda it: it.start))
    if not uses:
        return None
    text = _with(subject, uses)
    program = subject.read(text)
    kernel = program.kernel(subject.analysis.name)
    if kernel is None or kernel.n_sites != subject.analysis.kernel.n_sites:
        return None
    analysis = analyse_kernel(kernel, subject.launch, (), subject.device, program.constants)
    made = replace(subject, program=program, analysis=analysis, emulation=None)
    assumed = (no_offset(len(subject.launch.global_size)),) if ids else ()
    reorders = any(it.reorders for it in loops)
    assumed = (
        *assumed,
        *(it for loop in loops for it in loop.assumptions),
        *((other_order(),) if reorders else ()),
    )
    return SpeltOut(made, uses, assumed, reorders)


def _with(subject: Subject, uses: Sequence[Use]) -> str:
    return apply(
        subject.text, [Edit(Span(subject.path, it.start, it.end), it.text) for it in uses], subject.path
    )


def _meet(one: Use, other: Use) -> bool:
    return one.start < other.end and other.start < one.end


def _ids(subject: Subject) -> Iterator[Use]:
    """Yield the ids that are worked out, and the variables that nothing but those needed."""
    scope = Scope.of(subject)
    found = dict.fromkeys(worked_out(subject))
    if scope is None or not found:
        return
    edits = (scope.replaced(it.start, it.end, f"get_global_id({dimension})") for it, dimension in found)
    for it in without_unused(scope, Proposal("", "", tuple(edits))).edits:
        yield Use(it.span.start, it.span.end, it.text, is_kept=True)


def _loops(subject: Subject, uses: Sequence[Use]) -> Iterator[PlainLoop]:
    """Yield the loops to write the plain way, each wholly or not at all."""
    scope = Scope.of(subject)
    taken = list(uses)
    for loop in (*while_loops(scope), *plain_loops(scope)) if scope is not None else ():
        edits = [Use(*it) for it in loop.edits]
        if not any(_meet(it, other) for it in edits for other in taken):
            taken += edits
            yield loop


def _names(subject: Subject) -> Iterator[Use]:
    scope = Scope.of(subject)
    if scope is not None:
        yield from (Use(*it, is_kept=True) for it in written_out(scope))


def _elements(subject: Subject) -> tuple[Use, ...]:
    """Return the elements that are reached by sums, as subscripts; none where one might be another's."""
    uses = tuple(Use(it.start, it.end, it.text, assumptions=it.assumptions) for it in subscripted(subject))
    kernel = subject.read(_with(subject, uses)).kernel(subject.analysis.name) if uses else None
    return uses if kernel is not None and same_elements(subject, kernel) else ()


def _hidden(subject: Subject) -> set[tuple[int, int]]:
    """Return the uses of macros, as typed, that accesses, ids and loops of a kernel come out of."""
    found: set[tuple[int, int]] = set()
    for statement in ir.walk(subject.analysis.kernel.body):
        spans = [it.span for it in _nodes(statement)]
        if isinstance(statement, (ir.Load, ir.Store, ir.Atomic, ir.Loop)):
            spans.append(statement.span)
        found.update((it.start, it.end) for it in spans if it.definition is not None)
        if isinstance(statement, ir.Loop):  # Its head may be a macro's while its body is typed.
            found.add((statement.span.start, statement.span.start + 1))
    return found


def _nodes(statement: ir.Statement) -> Iterator[ir.WorkItem]:
    for expression in ir.expressions(statement):
        yield from (it for it in ir.nodes(expression) if isinstance(it, ir.WorkItem))


def _uses(subject: Subject, seen: Preprocessed, hidden: set[tuple[int, int]]) -> Iterator[Use]:
    """Yield the uses in a kernel's body that something hidden stands in, with what they stand for."""
    span, names = subject.analysis.span, {it.name for it in settable(subject)}
    macros = {name: it.fresh() for name, it in seen.macros.items() if name not in names and _is_code(it)}
    body = subject.text.find("{", span.start, span.end)
    places = {
        (it.use.start, it.use.end)
        for it in seen.tokens
        if it.use is not None
        and it.use.path == subject.path
        and body < it.use.start
        and it.use.end <= span.end
    }
    for start, end in sorted(places):
        if not any(a < end and start < b for a, b in hidden):
            continue
        text = _expanded(subject.path, subject.text[start:end], macros)
        if text is not None and text != subject.text[start:end]:
            yield Use(start, end, text)


def _is_code(macro: Macro) -> bool:
    """True for a macro that stands for more than a number."""
    if macro.dynamic is not None:
        return False
    return macro.parameters is not None or any(is_name(it.text) for it in macro.body)


def _expanded(path: str, text: str, macros: dict[str, Macro]) -> str | None:
    """Return what a use stands for; `None` where that is a statement, which nobody writes on one line.

    The head of a loop (`FOR(k, n)`) is none yet.
    """
    try:
        tokens = Expander(macros, limit=MOST_TOKENS).expand_list(lex_fragment(path, text))
    except TooManyTokensError:
        return None
    words = [it.text for it in tokens]
    unfit = ("{", "}") if _is_head(words) else (";", "{", "}")
    return None if any(it in words for it in unfit) else _printed(tokens)


def _is_head(words: Sequence[str]) -> bool:
    """True for `for (…; …; …)`, to its last parenthesis."""
    depth, closes = 0, []
    for at, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == ")" and not depth:
            closes.append(at)
    return words[:2] == ["for", "("] and closes == [len(words) - 1]


def _printed(tokens: Sequence[Token]) -> str:
    text = ""
    for it in tokens:
        words = text[-1:].isalnum() and it.text[:1].isalnum()
        text += it.text if not text or (it.gap == NO_GAP and not words) else f" {it.text}"
    return text
