"""Macros that a build may set: what a rewrite may not take for constants.

`#ifndef N` / `#define N 64`, or `-D N=64`: another build has another N. Where such a macro is a whole number,
proposals are made as if it were a scalar argument of the kernel, so that remainders and tests are written for
every value; where it is anything else, its value is an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.fixes.assumptions import defined
from clmap_lsp.fixes.builds import conditions
from clmap_lsp.fixes.outline import masked
from clmap_lsp.launch.model import ScalarArgument
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Proposal, Subject
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFAULT = re.compile(
    r"^[ \t]*#[ \t]*(?:ifndef[ \t]+|if[ \t]*![ \t]*defined[ \t]*\(?[ \t]*)(?P<name>\w+)[^\n]*\n"
    r"(?P<define>[ \t]*#[ \t]*define[ \t]+(?P=name)\b(?!\()[ \t]*(?P<value>[^\n]*?)[ \t\r]*)$",
    re.MULTILINE,
)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|elif)\b((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_NUMBER = re.compile(r"\(*\s*(\d+|0[xX][0-9a-fA-F]+)([uU]?)\s*\)*")


@dataclass(frozen=True, slots=True)
class Settable:
    """A macro that the kernel uses and a build may set; `line` is where the file gives its default."""

    name: str
    value: str
    line: tuple[int, int] | None

    @property
    def number(self) -> int | None:
        """Its value, if it is a whole number."""
        found = _NUMBER.fullmatch(self.value.strip())
        return None if found is None else int(found[1], 0)

    @property
    def type(self) -> str:
        """The type of the number."""
        return "uint" if self.value.rstrip(") ").endswith(("u", "U")) else "int"


@dataclass(frozen=True, slots=True)
class General:
    """A subject whose settable numbers are scalar arguments, and the way back to the text as typed."""

    subject: Subject
    assumptions: tuple[Assumption, ...]
    """The values of the macros that stayed."""
    at: int = 0
    added: int = 0
    """Characters that the parameters took, at an offset."""

    def typed(self, proposal: Proposal) -> Proposal | None:
        """Return a proposal for the text as typed; `None` where an edit has no place there."""
        edits = []
        for edit in proposal.edits:
            span = edit.span
            if span.path != self.subject.path or span.end <= self.at:
                edits.append(edit)
            elif span.start >= self.at + self.added:
                moved = Span(span.path, span.start - self.added, span.end - self.added)
                edits.append(Edit(moved, edit.text))
            else:
                return None
        assumed = (*proposal.assumptions, *self.assumptions)
        return replace(proposal, edits=tuple(edits), assumptions=assumed)


def general(subject: Subject) -> General:
    """Return the subject with the macros that a build may set as scalar arguments, as far as that goes."""
    found = tuple(settable(subject))
    chosen = conditions(subject, _reached(subject), {it.name for it in found})
    if not found:
        return General(subject, chosen)
    numbers = tuple(it for it in found if it.number is not None and not _decides(subject, it.name))
    emulated = subject.emulation is not None and subject.emulation.faults
    made = None if emulated or not numbers else _with_parameters(subject, numbers)
    if made is None:
        return General(subject, (*(defined(it.name, it.value) for it in found), *chosen))
    others = tuple(defined(it.name, it.value) for it in found if it not in numbers)
    return General(made[0], (*others, *chosen), made[1], made[2])


def settable(subject: Subject) -> Iterator[Settable]:
    """Yield the macros that a build may set and that reach the kernel's text."""
    texts = subject.texts
    used = _reached(subject)
    given = dict(subject.options.defines)
    seen: set[str] = set()
    for path, text in texts.items():
        for match in _DEFAULT.finditer(text):
            name = match["name"]
            if name in used and name not in seen:
                seen.add(name)
                line = match.span("define") if path == subject.path else None
                yield Settable(name, given.get(name, match["value"].strip()), line)
    for name, value in given.items():
        if name in used and name not in seen:
            yield Settable(name, value, None)


def _reached(subject: Subject) -> frozenset[str]:
    """Return the words of the kernel, and those of the macros and functions that they name, and so on."""
    texts = subject.texts
    bodies: dict[str, list[str]] = {}
    for text in texts.values():
        for match in _DEFINE.finditer(text):
            bodies.setdefault(match[1], []).append(match[2])
    for name, function in subject.program.functions.items():
        text = texts.get(function.span.path, "")
        bodies.setdefault(name, []).append(text[function.span.start : function.span.end])
    span = subject.analysis.span
    # Its attributes may stand before it.
    shown = _DIRECTIVE.sub("", masked(texts[span.path][: span.start]))
    start = max(shown.rfind(it) for it in ";}") + 1
    waiting = list(_words([shown[start:], subject.text[span.start : span.end]]))
    found: set[str] = set()
    while waiting:
        word = waiting.pop()
        if word not in found:
            found.add(word)
            waiting += _words(bodies.get(word, ()))
    return frozenset(found)


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text)}


def _decides(subject: Subject, name: str) -> bool:
    """True if what is compiled depends on a macro's value."""
    return any(
        name in _WORD.findall(match[1]) and "defined" not in match[1]
        for file in subject.program.files.values()
        for match in _CONDITION.finditer(file.text)
    )


def _with_parameters(subject: Subject, numbers: tuple[Settable, ...]) -> tuple[Subject, int, int] | None:
    """Return the subject with parameters instead of macros, where they went, and their length."""
    names = {it.name for it in numbers}
    text = subject.text
    for it in numbers:
        if it.line is not None:
            start, end = it.line
            text = text[:start] + " " * (end - start) + text[end:]
    close = _parameters_end(subject)
    if close is None:
        return None
    added = "".join(f", const {it.type} {it.name}" for it in numbers)
    text = text[:close] + added + text[close:]
    options = replace(
        subject.options, defines=tuple(it for it in subject.options.defines if it[0] not in names)
    )
    program = subject.read(text, options)
    kernel = program.kernel(subject.analysis.name)
    if kernel is None or not _same_but_for(subject, program, kernel, names):
        return None
    arguments = {**subject.launch.arguments, **{it.name: ScalarArgument((it.number or 0,)) for it in numbers}}
    launch = replace(subject.launch, arguments=arguments)
    analysis = analyse_kernel(kernel, launch, (), subject.device, program.constants)
    made = replace(subject, program=program, analysis=analysis, options=options, emulation=None, figures=None)
    return made, close, len(added)


def _parameters_end(subject: Subject) -> int | None:
    """Return the offset of the parenthesis that closes the parameter list; it must not be empty."""
    parameters = subject.analysis.kernel.parameters
    if not parameters or any(it.span.definition is not None for it in parameters):
        return None
    last = max(it.span.end for it in parameters)
    close = subject.text.find(")", last)
    return close if close >= 0 and not subject.text[last:close].strip(" \t\r\n") else None


def _same_but_for(subject: Subject, program: Program, kernel: Kernel, names: set[str]) -> bool:
    """True if the kernel differs in the new parameters only: no array of theirs, no error."""
    before = subject.analysis.kernel
    known = {it.message for it in subject.program.problems}
    if any(it.severity is Severity.ERROR and it.message not in known for it in program.problems):
        return False
    types = [[str(it.type) for it in of.variables if not it.is_temporary] for of in (before, kernel)]
    added = [it.name for it in kernel.parameters[len(before.parameters) :]]
    if before.attributes != kernel.attributes:
        return False  # A work-group size that a build sets is no size for every build.
    return before.n_sites == kernel.n_sites and types[0] == types[1] and set(added) == names
