"""A kernel's text with what is needed to rewrite it: statements, names in scope, new names, new lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import (
    Atom,
    Carried,
    LoopSymbol,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    local_id,
)
from clmap_lsp.access.wording import Names, words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.edits import indent_of, insert, replace
from clmap_lsp.fixes.outline import HIDDEN, Node, of_one_build, outline
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source import ir
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject

_WORD = re.compile(r"[A-Za-z_]\w*")
EFFECT = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|(?:<<|>>)=")
"""What changes a variable, in an expression."""
_LONG_RUN = re.compile(r"(?<!\s)\s{4000}|(?<!\w)\w{4000}")
"""Patterns over statements take the square of a run of blanks or letters: nobody writes such a kernel."""
LOCAL_NAMES = ("lx", "ly", "lz")


def as_typed(span: Span, path: str) -> bool:
    """True if a span is text of the file itself, not a macro's."""
    return span.definition is None and span.path == path


@dataclass(eq=False)
class Scope:
    """One kernel as typed. Make it with `Scope.of`."""

    subject: Subject
    body: Node
    taken: set[str] = field(repr=False)
    """Every identifier that a new name could meet, and those handed out."""
    shown: str = field(repr=False)
    """The file without comments, strings, and what this build leaves out, at the same offsets."""

    @classmethod
    def of(cls, subject: Subject) -> Scope | None:
        """Return the scope of a subject's kernel; `None` where its text has no clear structure."""
        span = subject.analysis.span
        if not as_typed(span, subject.path):
            return None
        shown = of_one_build(subject.text, _inactive(subject))
        if _LONG_RUN.search(shown, span.start, span.end):
            return None
        body = outline(shown, span.start, span.end)
        taken = {
            name
            for path, file in subject.program.files.items()
            for name in _WORD.findall(_visible(subject) if path == subject.path else file.text)
        }
        taken.update(name for name, _ in subject.options.defines)
        return None if body is None else cls(subject, body, taken, shown)

    @lazy_property
    def general(self) -> Mapping[int, Access]:
        """The accesses by site, for every launch: with the conditions that this launch happens to fulfil."""
        return {it.site: it for it in facts.accesses(self.subject.analysis)}

    # ------------------------------------------------------------------------------------------- text

    @property
    def text(self) -> str:
        """The file as typed."""
        return self.subject.text

    def source(self, span: Span | Node) -> str:
        """Return the text of a span or statement."""
        return self.text[span.start : span.end]

    def indent(self, at: int) -> str:
        """Return the white space that starts the line of an offset."""
        return indent_of(self.text, at)

    @lazy_property
    def unit(self) -> str:
        """One step of the author's indentation."""
        first = next(iter(self.body.children), None)
        inner = "" if first is None else self.indent(first.start)
        outer = self.indent(self.body.start)
        return inner[len(outer) :] if inner.startswith(outer) and inner != outer else "    "

    @lazy_property
    def newline(self) -> str:
        """The author's line end."""
        return "\r\n" if "\r\n" in self.text else "\n"

    def lines(self, indent: str, lines: Iterable[str]) -> str:
        """Return lines of code, each indented and ended."""
        return "".join(f"{indent}{it}{self.newline}" for it in lines)

    def before(self, node: Node, lines: Iterable[str]) -> Edit:
        """Return an edit that puts lines before a statement, at its indentation."""
        indent = self.indent(node.start)
        text = "".join(f"{it}{self.newline}{indent}" for it in lines)
        return insert(self.subject.path, node.start, text)

    def after(self, node: Node, lines: Iterable[str]) -> Edit:
        """Return an edit that puts lines after a statement, at its indentation."""
        indent = self.indent(node.start)
        text = "".join(f"{self.newline}{indent}{it}" for it in lines)
        return insert(self.subject.path, self.line_end(node.end), text)

    def line_end(self, at: int) -> int:
        """Return the end of the line if only a comment follows the offset, else the offset."""
        end = self.shown.find("\n", at)
        end = len(self.text) if end < 0 else end
        if self.shown[at:end].strip() or (self.text[at:end].strip() and "/*" in self.text[at:end]):
            return at
        return end - 1 if self.text[end - 1 : end] == "\r" else end

    def replaced(self, start: int, end: int, text: str) -> Edit:
        """Return an edit of a range."""
        return replace(Span(self.subject.path, start, end), text)

    def without_line(self, node: Node) -> Edit:
        """Return an edit that takes a statement away, with its lines where it has them for itself."""
        start = self.shown.rfind("\n", 0, node.start) + 1
        end = self.shown.find("\n", node.end) + 1
        alone = not self.text[start : node.start].strip() and not self.text[node.end : end].strip()
        return self.replaced(start, end, "") if alone and end else self.replaced(node.start, node.end, "")

    def replaced_with_hints(self, node: Node, text: str) -> Edit:
        """Return an edit of a statement and its pragmas, which may stand in another column than the code."""
        before, indent = self.indent(node.start), self.indent(node.begins)
        if before != indent and self.text[: node.start].endswith(f"\n{before}"):
            return self.replaced(node.start - len(before), node.end, indent + text)
        return self.replaced(node.start, node.end, text)

    def governed(self, node: Node, text: str) -> str:
        """Return statements that replace one: in braces where a loop or condition governs just that one."""
        found = self.block_statement(node.start, node.end)
        if found is not None and found[1] is node:
            return text
        indent, inner = self.indent(node.start), text.replace("\n", f"\n{self.unit}")
        return f"{{{self.newline}{indent}{self.unit}{inner}{self.newline}{indent}}}"

    def rewritten(self, start: int, end: int, changes: Mapping[tuple[int, int], str]) -> str:
        """Return the text of a range with the inner ranges replaced."""
        parts: list[str] = []
        at = start
        for (a, b), text in sorted(changes.items()):
            parts += (self.text[at:a], text)
            at = b
        return "".join([*parts, self.text[at:end]])

    def substituted(self, start: int, end: int, by: Mapping[str, str]) -> tuple[str, int]:
        """Return the text of a range with identifiers replaced, and how many were; comments stay."""
        changes = {
            (start + it.start(), start + it.end()): by[it.group()]
            for it in _WORD.finditer(self.shown[start:end])
            if it.group() in by and not self.shown[: start + it.start()].rstrip().endswith((".", "->"))
        }
        return self.rewritten(start, end, changes), len(changes)

    # ------------------------------------------------------------------------------------------ names

    def fresh(self, name: str) -> str:
        """Return the name, or one like it that nothing has yet, and keep it."""
        found = self.unused(name)
        self.taken.add(found)
        return found

    def unused(self, name: str) -> str:
        """Return the name, or one like it that nothing has yet."""
        candidate, n = name, 2
        while candidate in self.taken:
            candidate, n = f"{name}_{n}", n + 1
        return candidate

    def declared_before(self, at: int) -> frozenset[str]:
        """Return the parameters, and the variables of the kernel's outermost block set before an offset."""
        kernel = self.subject.analysis.kernel
        found = {it.name for it in kernel.parameters}
        for statement in kernel.body:
            if isinstance(statement, ir.Assign) and statement.span.end <= at:
                found.add(statement.variable.name)
        return frozenset(found)

    def names_at(self, at: int, names: Names) -> dict[Atom, str]:
        """Return the author's names that are in scope at an offset.

        Values of `get_global_id` without a name are cast, so that differences may be negative.
        """
        known = self.declared_before(at)
        found = {atom: name for atom, name in names.items() if name in known}
        for dimension in range(3):
            for query in (ir.WorkItemQuery.GLOBAL_ID, ir.WorkItemQuery.LOCAL_ID, ir.WorkItemQuery.GROUP_ID):
                symbol = WorkItemSymbol(query, dimension)
                found.setdefault(symbol, f"(int){symbol.name}")
        return found

    def local_names(
        self, at: int, names: Names, dimensions: Iterable[int]
    ) -> tuple[dict[int, str], list[str]]:
        """Return a name for the local id of each dimension, and the declarations that they need."""
        known = self.declared_before(at)
        found: dict[int, str] = {}
        lines = []
        for dimension in dimensions:
            name = names.get(local_id(dimension))
            if name is None or name not in known:
                name = self.fresh(LOCAL_NAMES[dimension])
                lines.append(f"const int {name} = get_local_id({dimension});")
            found[dimension] = name
        return found, lines

    # ----------------------------------------------------------------------------------------- places

    def top_level(self, start: int, end: int) -> Node | None:
        """Return the statement of the kernel's outermost block that holds a range."""
        return next((it for it in self.body.children if it.holds(start, end)), None)

    def block_statement(self, start: int, end: int) -> tuple[Node, Node] | None:
        """Return the innermost block around a range, and its statement that holds the range."""
        path = self.body.path(start, end)
        for outer, inner in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
            if outer.kind == "block":
                return outer, inner
        return None

    def node_at(self, span: Span) -> Node | None:
        """Return the statement that is exactly a span, pragmas before it apart."""
        return next((it for it in self.body.walk() if (it.begins, it.end) == (span.start, span.end)), None)

    def comments(self, start: int, end: int) -> list[str]:
        """Return the comments in a range."""
        return [it.group().rstrip() for it in HIDDEN.finditer(self.text, start, end) if it.group()[0] == "/"]

    def hints(self, node: Node) -> list[str]:
        """Return the pragmas and attributes before a statement, each as a line of its own."""
        return [it.strip() for it in self.text[node.start : node.begins].splitlines() if it.strip()]

    def words(self, start: int, end: int) -> frozenset[str]:
        """Return the identifiers in a range."""
        return frozenset(_WORD.findall(self.shown[start:end]))

    def has_effects(self, start: int, end: int) -> bool:
        """True if what stands in a range assigns to something, so that it must not be written twice."""
        return EFFECT.search(self.shown, start, end) is not None

    def mentions(self, name: str) -> list[int]:
        """Return where the kernel, its parameters included, mentions an identifier."""
        start = self.subject.analysis.span.start
        text = self.shown[start : self.body.end]
        return [start + it.start() for it in _WORD.finditer(text) if it.group() == name]

    def hidden(self, loop: ir.Loop) -> frozenset[str]:
        """Return the variables that a loop reads where its text does not mention them: macros do."""
        return frozenset(
            node.variable.name
            for statement in ir.walk((*loop.test, *loop.body, *loop.step))
            for expression in ir.expressions(statement)
            for node in ir.nodes(expression)
            if isinstance(node, ir.Read) and not node.variable.is_temporary
            if node.variable.name not in self.words(node.span.start, node.span.end)
        )

    def subscripts(self, at: int, count: int) -> tuple[tuple[int, int], ...] | None:
        """Return the insides of the `[…][…]` that follow an offset."""
        found = []
        for _ in range(count):
            while self.shown[at : at + 1].isspace():
                at += 1
            if self.shown[at : at + 1] != "[":
                return None
            depth, end = 1, at + 1
            while depth:
                depth += {"[": 1, "]": -1}.get(self.shown[end], 0)
                end += 1
            found.append((at + 1, end - 1))
            at = end
        return tuple(found)

    def is_typed(self, access: Access) -> bool:
        """True if an access stands in the kernel's own text: not in a helper, not out of a macro."""
        return not access.frames and as_typed(access.span, self.subject.path)


def _inactive(subject: Subject) -> Iterator[tuple[int, int]]:
    return ((it.start, it.end) for it in subject.program.inactive if it.path == subject.path)


def _visible(subject: Subject) -> str:
    """Return the file without the bodies of other kernels, whose variables are not in this one's way."""
    text, at = "", 0
    for kernel in sorted(subject.program.kernels, key=lambda it: it.span.start):
        if kernel.name != subject.analysis.name and as_typed(kernel.span, subject.path):
            opening = max(subject.text.find("{", kernel.span.start, kernel.span.end), at)
            text += subject.text[at:opening]
            at = max(kernel.span.end, at)
    return text + subject.text[at:]


def spelt(value: Polynomial, names: Names) -> str | None:
    """Return a polynomial of ids, sizes, parameters and loop variables as C text; `None` for any other."""
    if any(
        isinstance(it, Operation) or not isinstance(it, (WorkItemSymbol, Parameter, LoopSymbol, Carried))
        for it in value.atoms
    ):
        return None
    text = words(value, names)
    return None if "iteration(" in text or "?" in text or "…" in text else text


def tight(text: str) -> str:
    """Return an expression as an operand of a sum or product: parenthesised unless it is one already."""
    return text if re.fullmatch(r"[\w.]+(?:\[[^\[\]]*\])?|(?:\(int\))?get_\w+\(\d\)", text) else f"({text})"


_INDEX_SUM = re.compile(
    r"(?<=[\[+] )\(([\w %]+ [+] [\w %]+)\)(?=\]| [+-])|(?<=\[)\(([\w %]+ [+] [\w %]+)\)(?=\]| [+-])"
)


def tidy(text: str) -> str:
    """Return an index without the parentheses that its sum does not need."""
    return _INDEX_SUM.sub(lambda it: it.group(1) or it.group(2), text)
