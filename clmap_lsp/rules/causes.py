"""One finding for one cause: what a missing name, include or template text brings with it is not said again.

A macro that the host defines, or a header that is not found, makes dozens of places that cannot be read. All
are in `Program.problems`; the rules about the source show the cause, with what rests on it, and leave out
what it explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Related
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.program import Program

_NAME = re.compile(r"`(\w+)`")
_SHOWN = 8
"""Names that a message lists one by one."""
_STRUCTURAL = frozenset(
    {"qualifier", "attribute", "parameters", "statement", "operator", "type", "vector type"}
)
"""Roles of guesses that decide how the text around a name is read."""


_BEYOND_C = frozenset(("cpp-classes", "cpp-templates", "cpp-words", "host-code"))
_HIDING = _BEYOND_C | {"missing-include", "template-text", "several-programs", "too-many-tokens"}
"""Problems that are the cause of names which nothing defines, and of what is not closed."""


@dataclass(frozen=True, slots=True)
class Name:
    """An undefined name: what it is taken for, and where it is first met."""

    name: str
    value: str | None
    problem: Problem


def undefined_names(program: Program) -> Mapping[str, Name]:
    """Return the names that nothing defines, in the order in which they are met."""
    values = {it.name: it.value for it in program.guesses}
    found: dict[str, Name] = {}
    for problem in program.problems:
        match = _NAME.search(problem.message) if problem.code == "undefined-name" else None
        if match is not None:
            found.setdefault(match[1], Name(match[1], values.get(match[1]), problem))
    return found


def hides_its_names(program: Program) -> bool:
    """Tell whether names are undefined, or defined twice, because of what is not in the text.

    A file may not be found, the text a template, or several programs in one file.
    """
    return any(it.code in _HIDING or is_of_the_build(it) for it in program.problems)


def is_beyond_c(program: Program) -> bool:
    """Tell whether a text is C++ or host code, whose statements the index does not know from OpenCL C's."""
    return any(it.code in _BEYOND_C for it in program.problems)


def is_of_the_build(problem: Problem) -> bool:
    """Tell whether a problem is an `#error` that macros of the build decide on."""
    return problem.code == "error-directive" and problem.severity is Severity.INFORMATION


def is_doubtful(program: Program) -> bool:
    """Tell whether the structure of the text rests on what undefined names are taken for."""
    return hides_its_names(program) or any(it.role in _STRUCTURAL for it in program.guesses)


def syntax_problems(program: Program, codes: tuple[str, ...]) -> Iterator[Problem]:
    """Yield what is no OpenCL C.

    Where names are undefined, the first place only, as information: the text may be right once they are.
    """
    found = [it for it in program.problems if it.code in codes]
    if not found or not is_doubtful(program):
        yield from found
        return
    first = found[0]
    if hides_its_names(program):
        return
    more = f" ({len(found)} such places)" if len(found) > 1 else ""
    message = f"{first.message}{more}; names that are not defined (CM003) may be the reason"
    yield Problem(first.code, Severity.INFORMATION, message, first.span, first.related)


def names_of_files(values: Mapping[str, str | None], files: int) -> str:
    """Return one message about the names that several files take from the build."""
    few = list(values.items())[:_SHOWN]
    shown = ", ".join(f"`{name}`" + (f" (taken for {value})" if value else "") for name, value in few)
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    are = "names are" if len(values) > 1 else "name is"
    what = f"{len(values)} {are} not defined in {files} files: {shown}{more}; what rests on them is a guess."
    return f"{what} {_cure(values)}"


def about_names(names: Mapping[str, Name]) -> tuple[str, tuple[Related, ...]]:
    """Return the message about undefined names, and their places."""
    first, *others = names.values()
    if not others:
        values = {first.name: first.value}
        return f"{first.problem.message.split(' To be exact')[0]} {_cure(values)}", ()
    shown = ", ".join(_shown(it) for it in list(names.values())[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    message = f"{len(names)} names are not defined: {shown}{more}; what rests on them is a guess. " + _cure(
        {it.name: it.value for it in names.values()}
    )
    return message, tuple(Related(it.problem.span, _taken(it)) for it in others)


def _shown(name: Name) -> str:
    return f"`{name.name}`" + (f" (taken for {name.value})" if name.value else "")


def _taken(name: Name) -> str:
    return f"`{name.name}` is " + (f"taken for {name.value}" if name.value else "not defined")


def _cure(values: Mapping[str, str | None]) -> str:
    """Return a line for `clmap.toml` that defines the names; its values are those that were taken."""
    pairs = ", ".join(f"{name} = {_literal(value or '')}" for name, value in values.items())
    return f"To be exact, say what the host defines, in clmap.toml: build.defines = {{{pairs}}}"


def _literal(value: str) -> str:
    return (
        value
        if re.fullmatch(r"0|[1-9]\d{0,17}", value)
        else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )


def about_include(problem: Problem, program: Program) -> Problem:
    """Return a missing include with what is unknown because of it."""
    names = list(undefined_names(program))
    functions = [it for it in program.problems if it.code == "unknown-function"]
    calls = [match[1] for it in functions if (match := _NAME.search(it.message))]
    unknown = list(dict.fromkeys((*names, *calls)))
    if not unknown:
        return problem
    shown = ", ".join(f"`{it}`" for it in unknown[:_SHOWN])
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    message = f"{problem.message}. Not defined without it: {shown}{more}"
    return Problem(problem.code, problem.severity, message, problem.span, problem.related)
