"""Names for how a kernel walks its arrays: eMAP, iMAP, MAP-ixx, and the pattern classes of Jang et al.

An eMAP is the part of M over the work-item ids (t_y, t_x), an iMAP the set of elements that one work-item
touches around its base; accesses that share buffer, direction and eMAP are taken together for it. What fits
no class says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clmap_lsp.access.delinearise import Column, Matrix, Role, matrix_of, shared_pitches
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.maps import EMatrix, Factors, IMap, Map, emap_of
from clmap_lsp.access.polynomial import (
    ZERO,
    Monomial,
    Polynomial,
    WorkItemSymbol,
)
from clmap_lsp.access.records import Access, AccessSummary
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import WorkItemQuery

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch

LINEAR: Final = "linear"
REVERSE: Final = "reverse linear"
SHIFTED: Final = "shifted"
OVERLAPPING: Final = "overlapping"
NON_UNIT: Final = "non-unit stride"
RANDOM: Final = "random"


@dataclass(frozen=True, slots=True)
class Classified:
    """An access with its place in the papers' classes. Texts are in the author's words."""

    access: Access
    matrix: Matrix | None
    """`None` where the index is not known."""
    emap: int | None
    emap_reason: str
    """Why there is no eMAP; empty where there is one."""
    imap: IMap | None
    imap_reason: str
    map: Map | None
    """Set for valid combinations only."""
    map_reason: str
    """Why there is no MAP: the paper's reason for an invalid combination, or what is missing."""
    patterns: tuple[str, ...]
    """Jang's classes, several for compounds; empty where nothing moves."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns of M stand for."""
        return () if self.matrix is None else tuple(it.name for it in self.matrix.columns)

    @property
    def entries(self) -> tuple[tuple[int | str, ...], ...]:
        """M, numbers where it holds numbers."""
        if self.matrix is None:
            return ()
        return tuple(
            tuple(it.value if it.value is not None else self.access.text(it) for it in row)
            for row in self.matrix.entries
        )

    @property
    def offset(self) -> tuple[str, ...]:
        """The offset vector o."""
        return () if self.matrix is None else tuple(self.access.text(it) for it in self.matrix.offset)

    @property
    def pitches(self) -> tuple[str, ...]:
        """Elements per step in each dimension, outermost first."""
        if self.matrix is None:
            return ()
        return tuple(self.access.text(it) for it in self.matrix.layout.pitches)

    @property
    def map_name(self) -> str | None:
        """MAP-ixx for valid combinations."""
        return None if self.map is None else self.map.name

    @property
    def factors(self) -> Factors | None:
        """What local memory could gain."""
        return None if self.map is None else self.map.factors


def classify(summary: AccessSummary, *, launch: Launch | None = None) -> tuple[Classified, ...]:
    """Classify every access of a kernel, in the order of `summary.accesses`."""
    facts = Facts(launch, summary.kernel.attributes.reqd_work_group_size)
    dimensions = len(launch.global_size) if launch is not None else summary.n_dimensions
    shared = _shared_pitches(summary)
    found = [_Found(it, _matrix(it, dimensions, facts, shared[it.buffer])) for it in summary.accesses]
    rows = frozenset(
        pitch for it in found if it.matrix is not None for pitch in it.matrix.layout.pitches[:-1]
    )
    groups: dict[object, list[_Found]] = {}
    for it in found:
        groups.setdefault(it.key(), []).append(it)
    imaps: dict[int, tuple[IMap | None, str]] = {}
    for group in groups.values():
        imaps.update(dict.fromkeys(map(id, group), _imap(group, rows)))
    return tuple(_classified(it, *imaps[id(it)]) for it in found)


def _shared_pitches(summary: AccessSummary) -> dict[str, frozenset[Monomial]]:
    return {
        buffer: shared_pitches(it.index for it in accesses if it.unknown is None)
        for buffer, accesses in summary.by_buffer().items()
    }


def _matrix(access: Access, n_dimensions: int, facts: Facts, shared: frozenset[Monomial]) -> Matrix | None:
    checkpoint()
    return None if access.unknown is not None else matrix_of(access, n_dimensions, facts, shared)


class _Found:
    """An access with its matrix, and its key among those that are taken together."""

    def __init__(self, access: Access, matrix: Matrix | None) -> None:
        self.access = access
        self.matrix = matrix

    def key(self) -> object:
        """Accesses of one array that differ by constants only have one key."""
        checkpoint()
        if self.matrix is None:
            return id(self)
        moving = tuple(it - it.offset for it in self.matrix.layout.coordinates)
        return (
            self.access.buffer,
            self.access.root,
            self.access.direction,
            self.access.loops,
            moving,
            self.matrix.layout.pitches,
        )


def _classified(it: _Found, imap: IMap | None, imap_reason: str) -> Classified:
    checkpoint()
    emap, emap_reason = _emap(it)
    combined = None if emap is None or imap is None else Map(emap, imap)
    map_reason = emap_reason or imap_reason if combined is None else combined.refusal or ""
    if map_reason and combined is not None and it.matrix is not None and it.matrix.layout.n_dimensions == 1:
        map_reason = f"{map_reason} (the array is walked in one dimension)"
    valid = combined if combined is not None and combined.is_valid else None
    return Classified(
        it.access, it.matrix, emap, emap_reason, imap, imap_reason, valid, map_reason, _patterns(it)
    )


# -------------------------------------------------------------------------------------------------- eMAP


def _emap(it: _Found) -> tuple[int | None, str]:
    """Return the eMAP over the last two dimensions of the array, or why there is none."""
    matrix = it.matrix
    if matrix is None:
        return None, f"the index is not known: {it.access.unknown}"
    obstacle = _obstacle(it.access, matrix)
    if obstacle:
        return None, obstacle
    thread: list[tuple[Polynomial, Polynomial]] = []
    for row in matrix.entries:
        thread.append((_lane_factor(matrix.columns, row, 1), _lane_factor(matrix.columns, row, 0)))
    outer, inner = thread[:-2], thread[-2:]
    if any(factor for pair in outer for factor in pair):
        return None, "work-items of a group spread over a third dimension of the array"
    if any(_lane_factor(matrix.columns, row, 2) for row in matrix.entries[-2:]):
        return None, "the third work-item id moves within a plane; eMAPs know t_y and t_x"
    if len(inner) == 1:
        inner = [(ZERO, ZERO), *inner]
    return _numbered(inner, it.access)


def _obstacle(access: Access, matrix: Matrix) -> str:
    for column in matrix.columns:
        if column.role is Role.OTHER:
            if access.indirect:
                through = ", ".join(f"`{name}`" for name in access.indirect_through)
                return f"the index is read from {through}"
            return f"the index moves with `{column.name}`, which is not linear in the ids"
    return ""


def _lane_factor(columns: tuple[Column, ...], row: tuple[Polynomial, ...], dimension: int) -> Polynomial:
    """Return how far a coordinate moves from one work-item of a group to the next in a dimension."""
    total = ZERO
    for column, factor in zip(columns, row, strict=True):
        symbol = column.symbol
        if isinstance(symbol, WorkItemSymbol) and symbol.dimension == dimension and symbol.query in _LANES:
            total = total + factor
    return total


def _numbered(rows: list[tuple[Polynomial, Polynomial]], access: Access) -> tuple[int | None, str]:
    numbers = [[it.value for it in row] for row in rows]
    for row, coordinate in zip(numbers, ("row", "column"), strict=True):
        for number, id_name in zip(row, ("t_y", "t_x"), strict=True):
            if number is None:
                return None, f"the {coordinate} moves by a parameter's value for each {id_name}"
            if number < 0:
                return None, f"the {coordinate} runs against {id_name}; eMAPs have entries 0 and 1"
            if number > 1:
                return None, f"the {coordinate} moves {number} for each {id_name}; eMAPs have entries 0 and 1"
    entries: EMatrix = (
        (numbers[0][0] or 0, numbers[0][1] or 0),
        (numbers[1][0] or 0, numbers[1][1] or 0),
    )
    return emap_of(entries), ""


# -------------------------------------------------------------------------------------------------- iMAP


def _imap(group: list[_Found], row_lengths: frozenset[Polynomial]) -> tuple[IMap | None, str]:
    """Return what one work-item touches with all accesses of the group.

    Args:
        row_lengths: the pitches of all arrays of the kernel, for loops over whole rows of arrays without one.
    """
    checkpoint()
    matrix, access = group[0].matrix, group[0].access
    if matrix is None:
        return None, f"the index is not known: {access.unknown}"
    if access.indirect:
        return None, _obstacle(access, matrix) or "the index depends on data"
    walk = _Walk.of(matrix)
    if walk.reason:
        return None, walk.reason
    points = {
        tuple(coordinate.offset for coordinate in it.matrix.layout.coordinates)
        for it in group
        if it.matrix is not None
    }
    beyond = any(walk.loops[:-2]) or len({point[:-2] for point in points}) > 1
    if matrix.layout.n_dimensions > 2 and beyond:
        return None, "one work-item walks a third dimension of the array"
    plane = {(0, *point)[-2:] for point in points}
    rows, columns = ([], *walk.loops)[-2:]
    return _shape_of(plane, rows, columns, _Plane(matrix, row_lengths))


@dataclass(frozen=True, slots=True)
class _Walk:
    """The loops that move each coordinate, or why they make no iMAP."""

    loops: tuple[list[Column], ...]
    reason: str = ""

    @staticmethod
    def of(matrix: Matrix) -> _Walk:
        moved: tuple[list[Column], ...] = tuple([] for _ in matrix.entries)
        for at, column in enumerate(matrix.columns):
            if column.role is not Role.LOOP:
                continue
            touched = [number for number, row in enumerate(matrix.entries) if row[at]]
            if len(touched) > 1:
                return _Walk((), f"`{column.name}` walks along a diagonal")
            for number in touched:
                factor = matrix.entries[number][at] * column.step
                if factor.value not in (1, -1):
                    return _Walk((), f"`{column.name}` walks in steps of {words(factor)}")
                moved[number].append(column)
        for column in matrix.columns:
            if column.role is Role.OTHER and column.moves_with_loops:
                return _Walk((), f"it moves with `{column.name}`, which is not linear in a loop variable")
        return _Walk(moved)


@dataclass(frozen=True, slots=True)
class _Plane:
    """The last two dimensions of an access."""

    matrix: Matrix
    row_lengths: frozenset[Polynomial]

    def threads_move(self, from_end: int) -> bool:
        """True if an id moves the row (2) or the column (1)."""
        if len(self.matrix.entries) < from_end:
            return False
        row = self.matrix.entries[-from_end]
        return any(
            factor
            for column, factor in zip(self.matrix.columns, row, strict=True)
            if column.role is not Role.LOOP
        )

    def spans_row(self, loops: list[Column]) -> bool:
        """True if a loop runs over all columns of a row: from 0, as often as a row is long."""
        pitches = self.matrix.layout.pitches
        lengths = frozenset(pitches[-2:-1]) or self.row_lengths
        return any(
            loop.loop is not None
            and loop.loop.trip in lengths
            and (loop.loop.start is None or loop.loop.start.value == 0)
            for loop in loops
        )


def _shape_of(
    points: set[tuple[int, ...]], rows: list[Column], columns: list[Column], plane: _Plane
) -> tuple[IMap | None, str]:
    several_rows = bool(rows) or len({row for row, _ in points}) > 1
    several_columns = bool(columns) or len({column for _, column in points}) > 1
    if not several_rows and not several_columns:
        return IMap.SINGLE, ""
    if not rows and not columns and several_rows and several_columns:
        return _unrolled(points)
    if not _is_rectangle(points):
        return None, f"{len(points)} places that form no row, column, block or cross"
    if several_rows and several_columns:
        return IMap.BLOCK, ""
    if several_columns:
        whole = not plane.threads_move(1) or plane.spans_row(columns)
        return (IMap.ROW if whole else IMap.BLOCK), ""
    whole = not plane.threads_move(2) or _spans_column(rows)
    return (IMap.COLUMN if whole else IMap.BLOCK), ""


def _spans_column(loops: list[Column]) -> bool:
    """True if a loop runs over all rows: from 0 to a bound that a parameter sets, not over a window."""
    return any(
        it.loop is not None
        and it.loop.trip is not None
        and it.loop.trip.value is None
        and (it.loop.start is None or it.loop.start.value == 0)
        for it in loops
    )


def _unrolled(points: set[tuple[int, ...]]) -> tuple[IMap | None, str]:
    """Classify places that single statements touch: a cross or a block, with or without its centre."""
    if _is_rectangle(points):
        return IMap.BLOCK, ""
    low = tuple(min(point[axis] for point in points) for axis in (0, 1))
    high = tuple(max(point[axis] for point in points) for axis in (0, 1))
    centre = tuple((a + b) // 2 for a, b in zip(low, high, strict=True))
    if len(points) >= 4 and all(point[0] == centre[0] or point[1] == centre[1] for point in points):
        arms = {(point[0] > centre[0], point[1] > centre[1]) for point in points if point != centre}
        if len(arms) >= 2 and low[0] < centre[0] < high[0] and low[1] < centre[1] < high[1]:
            return IMap.NEIGHBOR, ""
    if _is_rectangle(points | {centre}):
        return IMap.BLOCK, ""
    return None, f"{len(points)} places that form no row, column, block or cross"


def _is_rectangle(points: set[tuple[int, ...]]) -> bool:
    rows, columns = {row for row, _ in points}, {column for _, column in points}
    if len(points) != len(rows) * len(columns):
        return False
    return max(rows) - min(rows) + 1 == len(rows) and max(columns) - min(columns) + 1 == len(columns)


# --------------------------------------------------------------------------------------------- Jang et al.


def _patterns(it: _Found) -> tuple[str, ...]:
    """Return the classes of section 3.1 that the rows of M and o show; `random` for data in the index."""
    matrix = it.matrix
    if matrix is None:
        return (RANDOM,) if it.access.unknown is not None and it.access.indirect else ()
    found: set[str] = set()
    moves = False
    for row, offset in zip(matrix.entries, matrix.offset, strict=True):
        factors = _movers(matrix, row)
        moves = moves or bool(factors)
        if len(factors) > 1:
            found.add(OVERLAPPING)
        for factor in factors:
            if factor.value is None or abs(factor.value) != 1:
                found.add(NON_UNIT)
            if factor.value is not None and factor.value < 0:
                found.add(REVERSE)
        if offset:
            found.add(SHIFTED)
    if moves and _strides_by_rows(matrix):
        found.add(NON_UNIT)
    if it.access.indirect and any(column.role is Role.OTHER for column in matrix.columns):
        found.add(RANDOM)
        moves = True
    if not moves:
        return ()
    if not found and any(column.role is Role.OTHER for column in matrix.columns):
        return ()
    return tuple(name for name in _ORDER if name in found) or (LINEAR,)


def _strides_by_rows(matrix: Matrix) -> bool:
    """True if nothing moves within a row whose length is a parameter: `a[x*N]` is walked as `a[x*16]` is."""
    is_symbolic = any(it.value is None for it in matrix.layout.pitches[-2:-1])
    return is_symbolic and not any(matrix.entries[-1])


def _movers(matrix: Matrix, row: tuple[Polynomial, ...]) -> list[Polynomial]:
    """Return by how much a coordinate moves with each id and in each loop's turn.

    `get_group_id(0)*16 + get_local_id(0)` is one walk of the work-items, not two that overlap: the group id
    only says which tile.
    """
    moved = [(it, factor) for it, factor in zip(matrix.columns, row, strict=True) if factor]
    in_tile = any(_query(it) is WorkItemQuery.LOCAL_ID for it, _ in moved)
    return [
        factor * it.step for it, factor in moved if not (in_tile and _query(it) is WorkItemQuery.GROUP_ID)
    ]


def _query(column: Column) -> WorkItemQuery | None:
    return column.symbol.query if isinstance(column.symbol, WorkItemSymbol) else None


_LANES: Final = (WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID)
_ORDER: Final = (REVERSE, SHIFTED, OVERLAPPING, NON_UNIT, RANDOM)
