"""Exchange elements through a local tile so that neighbours load and store side by side.

For a load or store of which neighbours in dimension 1, not in dimension 0, are side by side: the group's
work-items change places in a square tile, so that each makes the access of its mirror image. The tile has a
column or more than it needs where that keeps its columns in different banks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ONE, Parameter, WorkItemSymbol, global_id
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import overlaps
from clmap_lsp.fixes.group_size import required_size, size_assumed
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.predict import predicted
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "transpose-tile"
NEEDS = "loads by rows and stores by columns, or the other way round, in square work-groups"
PADDINGS = (1, 2, 0, 4)
"""Columns that the tile may have more than it needs; of those with the fewest passes the first is taken."""
WASTEFUL = 1.5
"""Times the ideal from which an access is worth it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The simple statement of an access, and the `if` of the kernel's outermost block around it, if any."""

    statement: Node
    guard: Node | None

    @property
    def outer(self) -> Node:
        """What stands in the outermost block."""
        return self.guard or self.statement


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each access that runs across the order of work-items."""
    scope = Scope.of(subject)
    size = subject.launch.local_size
    if scope is None or len(size) != 2 or size[0] != size[1] or size[0] < 4:
        return
    kernel = subject.analysis.kernel
    returns = any(isinstance(it, ir.Return) for it in ir.walk(kernel.body))
    if returns or facts.opaque(kernel) or not facts.whole_groups(subject.launch):
        return
    for access in facts.accesses(subject.analysis):
        place = _place(scope, access) if _runs_across(scope, access) else None
        found = None if place is None else _proposal(scope, access, place)
        if found is not None:
            yield found


def _runs_across(scope: Scope, access: Access) -> bool:
    found = scope.subject.analysis.access_at(access.site)
    if access.space is not AddressSpace.GLOBAL or access.loops or not scope.is_typed(access):
        return False
    if found is None or found.per_request is None or found.per_request.excess < WASTEFUL:
        return False
    if access.direction is Direction.ATOMIC or not access.known or not facts.plain_element(access.type):
        return False
    stored = access.buffer in facts.written(scope.subject.analysis)
    if stored and sum(it.buffer == access.buffer for it in facts.accesses(scope.subject.analysis)) > 1:
        return False  # Another work-item would read or write the element at another time.
    return access.index.coefficient(global_id(1)) == ONE and facts.lanes_in(access.index) == frozenset((0, 1))


def _place(scope: Scope, access: Access) -> _Place | None:
    path = scope.body.path(access.span.start, access.span.end)[1:]
    match [it.kind for it in path]:
        case ["simple"]:
            return _Place(path[0], None)
        case ["if", "simple"] if len(path[0].children) == 1:
            return _Place(path[1], path[0])
        case ["if", "block", "simple"] if len(path[0].children) == 1 and len(path[1].children) == 1:
            return _Place(path[2], path[0])
        case _:
            return None


def _proposal(scope: Scope, access: Access, place: _Place) -> Proposal | None:
    size = scope.subject.launch.local_size[0]
    if size * (size + max(PADDINGS)) * access.size > facts.room(scope.subject):
        return None
    required = required_size(scope)
    writer = _Writer(scope, access, place)
    candidates = [it for it in (writer.edits(padding) for padding in PADDINGS) if it is not None]
    if required is None or not candidates:
        return None
    edits = min(candidates, key=lambda it: _wavefronts(scope, it))
    what = "stores to" if access.direction is Direction.STORE else "loads from"
    return Proposal(
        KIND,
        f"Coalesce {what} `{access.buffer}` by a tile of {size} x {size}",
        (*required, *edits),
        ("CM101", "CM102"),
        (*size_assumed(scope), *_apart(scope, access)),
        sites=frozenset((access.site,)),
        least_gain=STAGING_GAIN,
    )


def _apart(scope: Scope, access: Access) -> tuple[Assumption, ...]:
    """Return that what is moved to another work-item overlaps nothing that is loaded or stored besides."""
    kernel, others = scope.subject.analysis.kernel, facts.accesses(scope.subject.analysis)
    if access.direction is Direction.STORE:
        return overlaps(kernel, {it.buffer for it in others}, [access.buffer])
    return overlaps(kernel, [access.buffer], facts.written(scope.subject.analysis))


def _wavefronts(scope: Scope, edits: tuple[Edit, ...]) -> int:
    found = predicted(scope.subject, edits)
    return 1 << 62 if found is None else found.totals.wavefronts


class _Writer:
    """Writes both halves of the exchange."""

    def __init__(self, scope: Scope, access: Access, place: _Place) -> None:
        self.scope, self.access, self.place = scope, access, place
        start = place.outer.start
        self.lids, self.lines = scope.local_names(start, access.names, (0, 1))
        known = scope.declared_before(start)
        self.places: dict[int, str] = {}
        for dimension in (0, 1):
            name = access.names.get(global_id(dimension))
            if name is not None and name in known:
                self.places[dimension] = name
        self.mirrored = {name: scope.fresh(f"{name}_t") for name in self.places.values()}
        self.tile = scope.fresh(f"{access.buffer}_tile")

    def edits(self, padding: int) -> tuple[Edit, ...] | None:
        """Return the edits; `None` where the place cannot be mirrored in the text."""
        if len(self.places) != 2:
            return None
        mirrored = self._mirror(self.access.span.start, self.access.span.end)
        if mirrored is None:
            return None
        size = self.scope.subject.launch.local_size[0]
        x, y = self.places[0], self.places[1]
        lx, ly = self.lids[0], self.lids[1]
        lines = [
            *self.lines,
            f"const int {self.mirrored[x]} = {x} - {lx} + {ly};",
            f"const int {self.mirrored[y]} = {y} - {ly} + {lx};",
            f"__local {self.access.type} {self.tile}[{size}][{size + padding}];",
        ]
        if self.access.direction is Direction.STORE:
            return self._stored(lines, mirrored)
        return self._loaded(lines, mirrored)

    def _mirror(self, start: int, end: int) -> str | None:
        if not self._mirrors(start + len(self.access.buffer), end):
            return None
        text, n_replaced = self.scope.substituted(start, end, self.mirrored)
        return text if n_replaced >= 2 else None

    def _guards(self) -> tuple[str | None, str | None] | None:
        """Return the condition as it is and for the mirror image, each as the start of an `if`."""
        if self.place.guard is None:
            return None, None
        head = self.place.guard.head
        assert head is not None, "an if has a head"
        if self.scope.has_effects(*head):
            return None
        as_is = self.scope.text[head[0] : head[1]]
        if self._mirrors(*head):
            mirrored, _ = self.scope.substituted(*head, self.mirrored)
        else:
            derived = self._mirrored_guard()
            if derived is None:
                return None
            mirrored = derived
        return f"if ({as_is})", f"if ({mirrored})"

    def _mirrors(self, start: int, end: int) -> bool:
        """True if a text is of the two ids, parameters and numbers only, so that it can be mirrored by names.

        A variable that was made from an id, or a macro that asks for one, would stay as it is.
        """
        known = {it.name for it in self.scope.subject.analysis.kernel.parameters} | set(self.places.values())
        return self.scope.words(start, end) <= known and not self.scope.has_effects(start, end)

    def _mirrored_guard(self) -> str | None:
        """Return the access's conditions for its mirror image, from what they are in terms of ids."""
        named: dict[Atom, str] = {}
        for dimension, place in self.places.items():
            named[global_id(dimension)] = self.mirrored[place]
        parts = []
        for condition in facts.conjuncts(self.access.guard):
            ids = {it for it in condition.leaves if isinstance(it, WorkItemSymbol)}
            if not all(isinstance(it, (WorkItemSymbol, Parameter)) for it in condition.leaves):
                return None
            if not ids <= named.keys():
                return None
            text = words(condition, named)
            if "?" in text or "…" in text:
                return None
            parts.append(f"({text})" if "||" in text else text)
        return " && ".join(parts) or None

    def _under(self, guard: str | None, statement: str) -> tuple[str, ...]:
        return (statement,) if guard is None else (guard, self.scope.unit + statement)

    def _stored(self, lines: list[str], mirrored: str) -> tuple[Edit, ...] | None:
        statement, guards = self.place.statement, self._guards()
        rest = re.fullmatch(
            r"\s*=(?!=)\s*(.*);", self.scope.text[self.access.span.end : statement.end], re.DOTALL
        )
        if statement.start != self.access.span.start or rest is None or guards is None:
            return None
        lx, ly = self.lids[0], self.lids[1]
        lines = [
            *lines,
            *self._under(guards[0], f"{self.tile}[{ly}][{lx}] = {rest[1]};"),
            "barrier(CLK_LOCAL_MEM_FENCE);",
            *self._under(guards[1], f"{mirrored} = {self.tile}[{lx}][{ly}];"),
        ]
        return (self._whole(lines),)

    def _loaded(self, lines: list[str], mirrored: str) -> tuple[Edit, ...] | None:
        guards = self._guards()
        inner = self.scope.text[self.place.statement.start : self.place.statement.end]
        if guards is None or "?" in inner or "&&" in inner or "||" in inner:  # Only the guard may lead there.
            return None
        lx, ly = self.lids[0], self.lids[1]
        lines = [
            *lines,
            *self._under(guards[1], f"{self.tile}[{lx}][{ly}] = {mirrored};"),
            "barrier(CLK_LOCAL_MEM_FENCE);",
        ]
        span = self.access.span
        return (
            self.scope.before(self.place.outer, lines),
            self.scope.replaced(span.start, span.end, f"{self.tile}[{ly}][{lx}]"),
        )

    def _whole(self, lines: list[str]) -> Edit:
        outer = self.place.outer
        indent = self.scope.indent(outer.start)
        return self.scope.replaced(outer.start, outer.end, f"{self.scope.newline}{indent}".join(lines))
