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
from clmap_lsp.source.types import AddressSpace, PointerType

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject

_SUM = re.compile(r"\*\s*\(")
_TERM = re.compile(r"\s*([+-]?)\s*")
_OTHER = frozenset("=<>&|^?:,!~{};#")
"""What binds less than a sum, or belongs to no term."""
LONGEST = 500
"""Characters of a sum: nobody writes longer ones."""


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
    """Yield the names of pointers, and of arrays, which stand for one."""
    kernel = subject.analysis.kernel
    declared = (it.variable for it in ir.walk(kernel.body) if isinstance(it, ir.Declare))
    yield from (it.name for it in (*kernel.parameters, *declared) if isinstance(it.type, PointerType))
    yield from (it.root.name for it in facts.accesses(subject.analysis) if it.root is not None)


def _made(scope: Scope, access: Access, pointers: set[str]) -> Subscripted | None:
    """Return an access as a subscript; `None` where it is no sum of one pointer and numbers."""
    start, end = access.span.start, access.span.end
    head = _SUM.match(scope.shown, start, end)
    if head is None or access.unknown is not None or not _is_bare(scope, head.end(), end):
        return None
    terms = list(_terms(scope.shown, head.end(), end - 1))
    mine = [it for it, sign, text in terms if text in pointers and sign != "-"]
    if len(mine) != 1 or len(terms) < 2:
        return None
    name = terms[mine[0]][2]
    index = "".join(f" {sign or '+'} {text}" for at, sign, text in terms if at != mine[0]).removeprefix(" + ")
    if index.startswith(" - "):
        index = f"-{index.removeprefix(' - ')}"
    one_number = len(terms) == 2 and not index.startswith("-")
    exact = one_number or access.space not in (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
    short = at_most(access.buffer, (1 << 31) - 1, f"{access.buffer} has fewer than 2^31 elements")
    return Subscripted(start, end, f"{name}[{index}]", () if exact else (short,))


def _is_bare(scope: Scope, at: int, end: int) -> bool:
    """True if the parenthesis before an offset is closed at the end, with neither comments nor effects."""
    plain = end - at <= LONGEST and scope.text[at:end] == scope.shown[at:end]
    return plain and not scope.has_effects(at, end) and _closing(scope.shown, at, end) == end - 1


def _closing(text: str, at: int, end: int) -> int | None:
    """Return where the parenthesis before an offset is closed."""
    depth = 1
    for place in range(at, end):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    return None


def _terms(text: str, start: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield (number, sign, text) of the terms of a sum; none where it is anything besides."""
    depth, begins, found = 0, start, []
    for at in range(start, end):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[at], 0)
        if depth == 0 and text[at] in _OTHER:
            return
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
