"""The microbenchmarks: kernels that read arrays by given MAPs, from global memory or staged in local memory.

One kernel reads one or more arrays; each array is a `Part` with its own approach. A staged part follows the
paper's three steps: allocate, stage the base and then its border, use. Two ways to allocate (section 5.1.1):

- max: a tile as large as the box that a work-group's accesses span, staged as it lies.
- min: a tile of just what is needed. Where the accesses of a work-group fill a slanted stripe of the box, the
  tile is that stripe, straightened: its rows hold `column - row` (or its columns `row - column`).

Naive kernels have no barrier, no local memory and no border test; staged kernels have no border test either,
because the arrays have margins (see layout.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from clmap_lsp.aristotle.banks import padded_pitch
from clmap_lsp.aristotle.elements import Element
from clmap_lsp.aristotle.layout import default_radius
from clmap_lsp.aristotle.maps import Intra, Map
from clmap_lsp.dataclass import dataclass


class Approach(Enum):
    """How a part reads its array."""

    NAIVE = "naive"
    MAX = "max"
    MIN = "min"


@dataclass(frozen=True, slots=True)
class Part:
    """One array of a kernel, and how it is read."""

    map: Map
    approach: Approach
    padded: bool = False
    radius: int | None = None
    """None: the published one (3 for Block, 1 for Neighbor)."""

    @property
    def reach(self) -> int:
        """Return the radius in use."""
        return default_radius(self.map) if self.radius is None else self.radius

    @property
    def label(self) -> str:
        """Return it as in `407_max_padded`."""
        return f"{self.map.number}_{self.approach.value}{'_padded' if self.padded else ''}"


@dataclass(frozen=True, slots=True)
class Group:
    """A work-group's shape."""

    x: int = 16
    y: int = 16


@dataclass(frozen=True, slots=True)
class Kernel:
    """A generated kernel.

    Its parameters are `in0`, `in1`, ... (one for each part), `out`, then for each part `origin<k>` and
    `pitch<k>`, then `n`: the NDRange is n x n, n a multiple of the group's sides. `out[t_y * n + t_x]` is the
    sum of all that the work-item reads.
    """

    name: str
    source: str
    parts: tuple[Part, ...]
    local_bytes: int


@dataclass(frozen=True, slots=True)
class _Tile:
    """A staged part's tile: its shape, and its pitch with padding."""

    rows: int
    columns: int
    pitch: int


def generate(
    parts: Sequence[Part], element: Element, group: Group | None = None, *, wide_index: bool = False
) -> Kernel:
    """Return the kernel that reads each part's array in turn.

    Args:
        wide_index: compute indices in 64 bits; needed once an array has 2**31 elements.
    Raises: ValueError for a group without work-items or a negative radius.
    """
    shape = group or Group()
    if shape.x < 1 or shape.y < 1 or any(it.reach < 0 for it in parts) or not parts:
        raise ValueError(
            "a kernel needs a part, a work-group of at least one work-item, and radii of 0 or more"
        )
    name = "map_" + "_".join(it.label for it in parts)
    index = "long" if wide_index else "int"
    writers = [_Writer(k, part, element, shape, index) for k, part in enumerate(parts)]
    type_ = element.name
    inputs = ", ".join(f"__global const {type_} *restrict in{w.k}" for w in writers)
    places = ", ".join(f"const {index} origin{w.k}, const {index} pitch{w.k}" for w in writers)
    body = [f"{type_} sum = ({type_})(0);"]
    for writer in writers:
        body += writer.naive() if writer.part.approach is Approach.NAIVE else writer.staged()
    tiles = [it for writer in writers for it in writer.declarations()]
    ids = [
        f"const {index} tx = get_global_id(0);",
        f"const {index} ty = get_global_id(1);",
    ]
    if tiles:
        ids += [
            "const int lx = get_local_id(0);",
            "const int ly = get_local_id(1);",
            f"const {index} gx = get_group_id(0) * {shape.x};",
            f"const {index} gy = get_group_id(1) * {shape.y};",
        ]
    lines = [
        f"__attribute__((reqd_work_group_size({shape.x}, {shape.y}, 1)))",
        f"__kernel void {name}({inputs},",
        f"    __global {type_} *restrict out, {places}, const {index} n) {{",
        *("  " + it for it in [*tiles, *ids, *body, "out[ty * n + tx] = sum;"]),
        "}",
    ]
    local_bytes = sum(w.tile.rows * w.tile.pitch for w in writers if tiles and w.is_staged) * element.bytes
    return Kernel(name, "\n".join(lines) + "\n", tuple(parts), local_bytes)


def is_distinct(part: Part, group: Group | None = None) -> bool:
    """Return whether a part's kernel differs from its simpler sibling's: max for min, bare for padded."""
    if part.approach is Approach.NAIVE:
        return not part.padded
    writer = _Writer(0, part, Element("float"), group or Group())
    if part.padded and writer.tile.pitch == writer.tile.columns:
        return False
    return part.approach is Approach.MAX or writer.skew is not None or writer.trims


class _Writer:
    """Writes one part's statements."""

    def __init__(self, k: int, part: Part, element: Element, group: Group, index: str = "int") -> None:
        self.k = k
        self.part = part
        self.element = element
        self.group = group
        self.index = index
        self.matrix = part.map.matrix
        self.radius = part.reach
        self.skew = _skew(part)
        self.tile = self._tile()

    @property
    def is_staged(self) -> bool:
        return self.part.approach is not Approach.NAIVE

    @property
    def trims(self) -> bool:
        """Return whether min drops the box's one unused row or column (Row and Column, both ids added)."""
        return self.part.map.emap in (6, 11)

    def declarations(self) -> list[str]:
        if not self.is_staged:
            return []
        tile = self.tile
        return [f"__local {self.element.name} tile{self.k}[{tile.rows} * {tile.pitch}];"]

    # --- naive -------------------------------------------------------------------------------------------

    def naive(self) -> list[str]:
        m00, m01, m10, m11 = self.matrix
        row, column = _sum(m00, "ty", m01, "tx"), _sum(m10, "ty", m11, "tx")
        k = self.k
        terms = [f"origin{k}"]
        if row:
            terms.append(f"({row}) * pitch{k}")
        if column:
            terms.append(column)
        base = [f"const {self.index} base{k} = {' + '.join(terms)};"]
        read = f"in{k}[base{k} + j * pitch{k} + i]"
        match self.part.map.intra:
            case Intra.SINGLE:
                use = [f"sum += in{k}[base{k}];"]
            case Intra.ROW:
                use = [f"for ({self.index} i = 0; i < n; ++i)", f"  sum += in{k}[base{k} + i];"]
            case Intra.COLUMN:
                use = [f"for ({self.index} j = 0; j < n; ++j)", f"  sum += in{k}[base{k} + j * pitch{k}];"]
            case Intra.BLOCK:
                use = _square(self.radius, f"sum += {read};")
            case Intra.NEIGHBOR:
                use = _cross(
                    self.radius, lambda j, i: f"sum += in{k}[base{k}{_term(j, f'pitch{k}')}{_term(i)}];"
                )
        return [*base, *use]

    # --- staged ------------------------------------------------------------------------------------------

    def staged(self) -> list[str]:
        m00, m01, m10, m11 = self.matrix
        k = self.k
        corner = [
            f"const {self.index} row{k} = {_sum(m00, 'gy', m01, 'gx') or '0'};",
            f"const {self.index} column{k} = {_sum(m10, 'gy', m11, 'gx') or '0'};",
            # What a work-item adds to its group's corner: its base within the tile.
            f"const int y{k} = {_sum(m00, 'ly', m01, 'lx') or '0'};",
            f"const int x{k} = {_sum(m10, 'ly', m11, 'lx') or '0'};",
        ]
        match self.part.map.intra:
            case Intra.ROW | Intra.COLUMN:
                return [*corner, *self._walk()]
            case _ if self.skew is not None:
                stage = self._stage_skewed()
            case _:
                stage = [*self._stage_base(self.radius), *self._stage_border()]
        return [*corner, *stage, "barrier(CLK_LOCAL_MEM_FENCE);", *self._use()]

    def _stage_base(self, border: int, at: str = "") -> list[str]:
        """Stage the box without its border, each work-item as many elements as the box has groups."""
        rows, columns = self.tile.rows - 2 * border, self.tile.columns - 2 * border
        k, shape = self.k, self.group
        lines: list[str] = []
        for top in range(0, rows, shape.y):
            for left in range(0, columns, shape.x):
                row, column = _plus("ly", top), _plus("lx", left)
                tests = [f"{row} < {rows}"] if top + shape.y > rows else []
                tests += [f"{column} < {columns}"] if left + shape.x > columns else []
                guard = f"if ({' && '.join(tests)}) " if tests else ""
                source = f"in{k}[{self._global(row, column, at)}]"
                lines.append(
                    f"{guard}tile{k}[{self._local(_plus(row, border), _plus(column, border))}] = {source};"
                )
        return lines

    def _stage_border(self) -> list[str]:
        """Stage the frame around the base: the rows above and below, then what is left at the sides."""
        r = self.radius
        if r == 0:
            return []
        rows, columns = self.tile.rows, self.tile.columns
        ends = 2 * r * columns
        total = ends + 2 * r * (rows - 2 * r)
        k, shape = self.k, self.group
        return [
            f"for (int e = ly * {shape.x} + lx; e < {total}; e += {shape.x * shape.y}) {{",
            "  int v, u;",
            f"  if (e < {ends}) {{",
            f"    v = e / {columns};",
            f"    u = e % {columns};",
            f"    v += v < {r} ? 0 : {rows - 2 * r};",
            "  } else {",
            f"    v = {r} + (e - {ends}) / {2 * r};",
            f"    u = (e - {ends}) % {2 * r};",
            f"    u += u < {r} ? 0 : {columns - 2 * r};",
            "  }",
            f"  tile{k}[{self._local('v', 'u')}] = in{k}[{self._global(f'v - {r}', f'u - {r}')}];",
            "}",
        ]

    def _stage_skewed(self) -> list[str]:
        """Stage a stripe, straightened, so that neighbours in a pass still read along rows of the array."""
        k, shape, r = self.k, self.group, self.radius
        rows, columns = self.tile.rows, self.tile.columns
        side = _reach_along_skew(self.part)
        head = [
            f"for (int e = ly * {shape.x} + lx; e < {rows * columns}; e += {shape.x * shape.y}) {{",
            f"  const int v = e / {columns};",
            f"  const int u = e % {columns};",
        ]
        if self.skew == "columns":
            # Tile row v is array row v - r; u counts along it from where the stripe begins in that row.
            read = self._global(f"v - {r}", f"v + u - {r + side}")
            return [*head, f"  tile{k}[{self._local('v', 'u')}] = in{k}[{read}];", "}"]
        # The stripe is vertical: column u needs the `rows` array rows from u on. Of these, take the one that
        # equals v modulo `rows`, so that one pass reads pieces of array rows and not a diagonal.
        wrap = f"u > v ? (u - v + {rows - 1}) / {rows} * {rows} : 0"
        read = self._global(f"v + w - {r + side}", f"u - {r}")
        return [
            *head,
            f"  const int w = {wrap};",
            f"  tile{k}[{self._local('v + w - u', 'u')}] = in{k}[{read}];",
            "}",
        ]

    def _use(self) -> list[str]:
        k, r = self.k, self.radius
        side = _reach_along_skew(self.part)
        if self.skew == "columns":
            corner = self._local(f"y{k}", f"x{k} - y{k} + {side}")
            down, right = self.tile.pitch - 1, 1
            start = r * self.tile.pitch
        elif self.skew == "rows":
            corner = self._local(f"y{k} - x{k} + {side}", f"x{k}")
            # One array row down is one tile row down; one array column right is one tile row up, one right.
            down, right = self.tile.pitch, 1 - self.tile.pitch
            start = r
        else:
            corner = self._local(f"y{k}", f"x{k}")
            down, right = self.tile.pitch, 1
            start = r * self.tile.pitch + r
        # Steps are linear in (j, i), so a work-item's own element is one number and the rest are constants.
        here = f"const int here{k} = {_plus(corner, start)};"
        match self.part.map.intra:
            case Intra.SINGLE:
                return [here, f"sum += tile{k}[here{k}];"]
            case Intra.BLOCK:
                step = f"j * {down} + i" + ("" if right == 1 else f" * ({right})")
                return [here, *_square(r, f"sum += tile{k}[here{k} + {step}];")]
            case _:
                return [
                    here,
                    *_cross(r, lambda j, i: f"sum += tile{k}[here{k}{_term(j * down + i * right)}];"),
                ]

    def _walk(self) -> list[str]:
        """Row and Column: walk along the array, one tile after the other."""
        k, shape = self.k, self.group
        if self.part.map.intra is Intra.ROW:
            step, at, count = shape.x, "columns", self.tile.columns
            use = f"sum += tile{k}[{self._local(f'y{k}', 's')}];"
        else:
            step, at, count = shape.y, "rows", self.tile.rows
            use = f"sum += tile{k}[{self._local('s', f'x{k}')}];"
        return [
            f"for ({self.index} walk = 0; walk < n; walk += {step}) {{",
            *("  " + it for it in self._stage_base(0, at)),
            "  barrier(CLK_LOCAL_MEM_FENCE);",
            f"  for (int s = 0; s < {count}; ++s)",
            f"    {use}",
            "  barrier(CLK_LOCAL_MEM_FENCE);",
            "}",
        ]

    # --- indices -----------------------------------------------------------------------------------------

    def _global(self, row: str, column: str, at: str = "") -> str:
        k = self.k
        rows = f"row{k} + {row}" + (" + walk" if at == "rows" else "")
        columns = f"column{k} + {column}" + (" + walk" if at == "columns" else "")
        return f"origin{k} + ({rows}) * pitch{k} + {columns}"

    def _local(self, row: str, column: str) -> str:
        factor = row if row.isidentifier() else f"({row})"
        return f"{factor} * {self.tile.pitch} + {column}"

    def _tile(self) -> _Tile:
        m00, m01, m10, m11 = self.matrix
        shape, r = self.group, self.radius
        box_rows = m00 * shape.y + m01 * shape.x
        box_columns = m10 * shape.y + m11 * shape.x
        side = _reach_along_skew(self.part)
        match self.part.map.intra:
            case Intra.ROW:
                rows, columns = box_rows, shape.x
                if self.part.approach is Approach.MIN and m00 and m01:
                    rows -= 1
            case Intra.COLUMN:
                rows, columns = shape.y, box_columns
                if self.part.approach is Approach.MIN and m10 and m11:
                    columns -= 1
            case _ if self.skew == "columns":
                both = 1 if m00 and m01 else 0
                rows, columns = box_rows - both + 2 * r, self._stripe() + 2 * side
            case _ if self.skew == "rows":
                rows, columns = self._stripe() + 2 * side, box_columns + 2 * r
            case _:
                rows, columns = box_rows + 2 * r, box_columns + 2 * r
        pitch = columns
        if self.part.padded:
            pitch = padded_pitch(self._place, columns, (shape.x, shape.y), self.element.bytes)
        return _Tile(rows, columns, pitch)

    def _place(self, ly: int, lx: int) -> tuple[int, int]:
        """Return the tile row and column of a work-item's base, up to a constant."""
        m00, m01, m10, m11 = self.matrix
        row, column = m00 * ly + m01 * lx, m10 * ly + m11 * lx
        if self.skew == "columns":
            return row, column - row
        if self.skew == "rows":
            return row - column, column
        return row, column

    def _stripe(self) -> int:
        """Return how many values `column - row` takes over a group's base indices."""
        match self.part.map.emap:
            case 12 | 14:  # row - column, column - row: t_x
                return self.group.x
            case 13 | 15:  # t_y
                return self.group.y
            case _:  # All on one diagonal.
                return 1


def _skew(part: Part) -> str | None:
    """Return which side of a min tile is straightened; None if the box itself is the smallest tile."""
    if part.approach is not Approach.MIN or part.map.intra in (Intra.ROW, Intra.COLUMN):
        return None
    match part.map.emap:
        case 7 | 9 | 14 | 15 | 16:
            return "columns"
        case 12 | 13:
            return "rows"
        case _:
            return None


def _reach_along_skew(part: Part) -> int:
    """Return the largest |column - row| among a part's offsets."""
    match part.map.intra:
        case Intra.BLOCK:
            return 2 * part.reach
        case Intra.NEIGHBOR:
            return part.reach
        case _:
            return 0


def _square(radius: int, statement: str) -> list[str]:
    return [
        f"for (int j = {-radius}; j <= {radius}; ++j)",
        f"  for (int i = {-radius}; i <= {radius}; ++i)",
        f"    {statement}",
    ]


def _cross(radius: int, statement: Callable[[int, int], str]) -> list[str]:
    """Return one statement for each place of a plus of `radius`, row by row."""
    span = range(-radius, radius + 1)
    return [statement(j, i) for j in span for i in span if j == 0 or i == 0]


def _sum(first: int, a: str, second: int, b: str) -> str:
    """Return `a`, `b`, `a + b` or nothing, by their factors of 0 or 1."""
    return " + ".join(name for factor, name in ((first, a), (second, b)) if factor)


def _plus(text: str, number: int) -> str:
    return text + _term(number)


def _term(number: int, unit: str = "") -> str:
    """Return what adds `number` units to an expression: ` - 2 * pitch0`, ` + 1`, or nothing for 0."""
    if number == 0:
        return ""
    size = abs(number)
    factor = str(size) if not unit else unit if size == 1 else f"{size} * {unit}"
    return f" {'-' if number < 0 else '+'} {factor}"
