"""Elements that are reached by sums, `*(a + i * n + k)`, written as `a[i * n + k]`.

Who looks for subscripts finds them there. C takes the terms of `a + i + k` to the pointer one by one, and
those of `a[i + k]` together, in the type that they have among themselves; both must be the same index on
every launch, which their polynomials show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import at_most
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject

_SUM = re.compile(r"\*\s*\(")
_TERM = re.compile(r"\s*([+-]?)\s*")
_OTHER = re.compile(r"[=<>&|^?:,!~{};]|\+\+|--")
"""Whatever binds less than a sum, or has effects."""


@dataclass(frozen=True, slots=True)
class Subscripted:
    """What replaces `[start, end)`, and how long the buffer may be for its terms to be added up as `int`."""

    start: int
    end: int
    text: str
    assumptions: tuple[Assumption, ...]


def subscripted(subject: Subject) -> tuple[Subscripted, ...]:
    """Return the sums of a pointer and numbers to write as subscripts; all of them or none."""
    scope = Scope.of(subject)
    if scope is None:
        return ()
    pointers = set(_pointers(subject))
    found: dict[int, Subscripted] = {}
    for access in facts.accesses(subject.analysis):
        made = _made(scope, access, pointers) if scope.is_typed(access) else None
        if made is not None and not any(made.start < it.end and it.start < made.end for it in found.values()):
            found[made.start] = made
    return tuple(found.values())


def same_elements(before: Subject, after: ir.Kernel) -> bool:
    """True if every access of a rewritten kernel is, on every launch, of the element that it was."""
    mine = {it.site: (it.buffer, it.offset) for it in facts.accesses(before.analysis)}
    return {it.site: (it.buffer, it.offset) for it in facts.of_kernel(after)} == mine


def _pointers(subject: Subject) -> Iterator[str]:
    kernel = subject.analysis.kernel
    declared = (it.variable for it in ir.walk(kernel.body) if isinstance(it, ir.Declare))
    yield from (it.name for it in (*kernel.parameters, *declared) if isinstance(it.type, PointerType))


def _made(scope: Scope, access: Access, pointers: set[str]) -> Subscripted | None:
    """Return an access as a subscript; `None` where it is no sum of one pointer and numbers."""
    start = access.span.start
    head = _SUM.match(scope.shown, start)
    if head is None or access.unknown is not None:
        return None
    end = _closing(scope.shown, head.end())
    plain = (
        end is not None
        and "#" not in scope.text[start:end]
        and scope.text[start:end] == scope.shown[start:end]
    )
    terms = list(_terms(scope.shown, head.end(), end)) if plain and end is not None else []
    mine = [it for it, sign, text in terms if text in pointers and sign != "-"]
    if end is None or len(mine) != 1 or len(terms) < 2:
        return None
    name = terms[mine[0]][2]
    index = "".join(f" {sign or '+'} {text}" for at, sign, text in terms if at != mine[0]).removeprefix(" + ")
    if index.startswith(" - "):
        index = f"-{index.removeprefix(' - ')}"
    several = len(terms) > 2 or index.startswith("-")
    short = at_most(access.buffer, (1 << 31) - 1, f"{access.buffer} has fewer than 2^31 elements")
    return Subscripted(start, end + 1, f"{name}[{index}]", (short,) if several else ())


def _closing(text: str, at: int) -> int | None:
    """Return where the parenthesis before an offset is closed."""
    depth = 1
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if not depth:
            return end
    return None


def _terms(text: str, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield (number, sign, text) of the terms of a sum; none where it is anything besides."""
    if _OTHER.search(text, start, end) is not None:
        return
    depth, begins, found = 0, start, []
    for at in range(start, end):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if depth == 0 and text[at] in "+-" and text[begins:at].strip(" \t\r\n") not in ("", "+", "-"):
            if text[begins:at].rstrip()[-1] in "*/%":
                continue
            found.append(text[begins:at])
            begins = at
    found.append(text[begins:end])
    for number, it in enumerate(found):
        sign = _TERM.match(it)
        assert sign is not None  # It matches nothing, too.
        yield number, sign[1], it[sign.end() :].rstrip()
