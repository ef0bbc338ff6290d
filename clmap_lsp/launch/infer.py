"""Inferring what a launch leaves open, from the kernel itself.

Sizes come from `reqd_work_group_size`, from local arrays and group bases, from what guards compare ids with
and from the pitches of indices; problem sizes that nothing fixes are taken large enough to fill a device and
small enough to run while typing; buffers get what the launch touches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.clues import TURNS, Clues, find_clues
from clmap_lsp.launch.extents import MAX_PROBED, Extents, Interval, Sizes, find_extents
from clmap_lsp.launch.forms import Form, Id
from clmap_lsp.launch.image import dimensions, texel_type
from clmap_lsp.launch.image_windows import find_windows
from clmap_lsp.launch.members import find_members
from clmap_lsp.launch.model import Argument, BufferArgument, Fill, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.stored_rows import stored_rows
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable, VariableKind
from clmap_lsp.source.types import (
    AddressSpace,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)


@dataclass(frozen=True, slots=True)
class Guess:
    """How large problems are taken to be that nothing fixes."""

    problem: Mapping[int, int]
    """Work-items a dimension, by the number of dimensions."""
    with_loops: int
    """One dimension whose size also bounds a loop or is a pitch: work grows with its square."""
    elements: int
    """Where a work-item handles several elements."""


SMALL = Guess({1: 4096, 2: 256, 3: 64}, 1024, 1 << 20)
"""Large enough to have whole work-groups and small enough to run while typing."""
ROOMY = tuple(
    Guess({1: 1 << 24 - 2 * by, 2: 4096 >> by, 3: 256 >> by}, 8192 >> by, 1 << 26 - 2 * by) for by in range(4)
)
"""Fills large devices, with data that exceed their caches; the largest first."""
_LIMIT = {1: 256, 2: 256, 3: 64}
"""A scalar that only bounds loops or multiplies indices."""
_WINDOW = 2
"""What a window moves by that is as wide."""
_RADIUS = 2
"""How far a window reaches to each side: 5 x 5 elements."""
_MOST_PROBED, _LEAST_PROBED = 60_000, 2_000
"""Statements that are walked to see what loops do: for all that is tried of a launch, and each time."""
_MOST_BYTES = 256 << 20
"""Of the buffers that are inferred for a launch; the emulator takes 1 GiB by default."""
_MOST_HALVINGS = 40
_LEAST_OPEN = 16
"""An open dimension is not taken to be smaller, however large those are that are known."""
_SHIFT = 6
"""What something is shifted by: rows, or halves, of 64."""
_GROUP = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}
_MAX_GROUP = 1024
_SAMPLER = 0x12
"""CLK_ADDRESS_CLAMP_TO_EDGE and CLK_FILTER_NEAREST, coordinates in texels."""


@dataclass(slots=True)
class Draft:
    """A launch while it is being completed; sizes are empty while they are open."""

    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    global_offset: tuple[int, ...] = ()
    arguments: dict[str, Argument] = field(default_factory=dict)
    inferred: set[str] = field(default_factory=set)
    origins: dict[str, Origin] = field(default_factory=dict)
    inside: dict[str, int] = field(default_factory=dict)
    """Integers inside structs and vectors, by name: `p.width`."""
    dimensions: int = 0
    """How many dimensions the launch has, where its sizes do not say so; 0 while that is open."""
    partly_global: tuple[int, ...] = ()
    """Known dimensions of a global size that is open otherwise, 0 for the others."""
    partly_local: tuple[int, ...] = ()
    guess: Guess = SMALL
    capped: set[str] = field(default_factory=set)
    """Buffers that are shorter than what the kernel may reach."""
    probed: int = 0
    """Statements that were walked to see what loops do (`extents.py`), for all that was tried."""

    def scalar(self, name: str) -> int | None:
        """Return an integer scalar that is known."""
        argument = self.arguments.get(name)
        if isinstance(argument, ScalarArgument) and isinstance(argument.values[0], int):
            return argument.values[0]
        return self.inside.get(name)

    def size_of(self, dimension: int) -> int:
        """Return the global size of a dimension, 0 while it is open."""
        sizes = self.global_size or self.partly_global
        return sizes[dimension] if dimension < len(sizes) else 0

    def end_of_ids(self, dimension: int) -> int:
        """Return one past the highest global id of a dimension whose size is known."""
        offset = self.global_offset[dimension] if dimension < len(self.global_offset) else 0
        return offset + self.size_of(dimension)

    def reached(self, dimension: int, n: int) -> int:
        """Return one past the highest global id of a dimension, as it is taken to be while that is open."""
        return self.end_of_ids(dimension) if self.size_of(dimension) else self.problem(n)

    def problem(self, n: int) -> int:
        """Return how many work-items an open dimension of `n` is taken to have beside those known."""
        known = [it for it in self.partly_global if it]
        open_ = max(n - len(known), 1)
        items = self.guess.problem[open_]
        while known and items > _LEAST_OPEN and math.prod(known) * items**open_ > self.guess.elements:
            items //= 2
        return items


def complete(kernel: ir.Kernel, draft: Draft) -> None:
    """Fill in every part of `draft` that is open, and note which parts those were."""
    clues = find_clues(kernel)
    n = len(draft.global_size) or len(draft.local_size) or draft.dimensions or _dimensions(kernel, clues)
    draft.partly_global = draft.partly_global[:n] if not draft.global_size else ()
    if not draft.local_size:
        draft.local_size = _local_size(kernel, clues, n, draft)
        draft.inferred.add("local")
    _scalars(kernel, clues, draft, n)
    if not draft.global_size:
        draft.global_size = _global_size(clues, draft, n)
        draft.inferred.add("global")
    _fit_group(kernel, clues, draft, n)
    _keep_rows_apart(kernel, clues, draft, n)
    _keep_inside_arrays(kernel, clues, draft)
    _buffers(kernel, clues, draft)
    _fit_memory(kernel, clues, draft)
    _fit_reach(kernel, draft)
    _images(kernel, draft)


def _dimensions(kernel: ir.Kernel, clues: Clues) -> int:
    required = kernel.attributes.reqd_work_group_size or (1, 1, 1)
    return max(clues.dimensions, *(d + 1 for d in range(3) if d == 0 or required[d] > 1))


def _local_size(kernel: ir.Kernel, clues: Clues, n: int, draft: Draft) -> tuple[int, ...]:
    attributes = kernel.attributes
    fixed = attributes.reqd_work_group_size or attributes.work_group_size_hint
    if fixed:
        return fixed[:n]
    if clues.is_task and not any(draft.partly_local):
        return (1,) * n
    implied = clues.local_sizes | {d: it for d, it in enumerate(draft.partly_local) if it}
    extended = [d for d in range(n) if draft.size_of(d) != 1 and implied.get(d) != 1] or [0]
    usual = dict(zip(extended, _GROUP[len(extended)], strict=True))
    size = [implied.get(d, usual.get(d, 1)) for d in range(n)]
    for d in range(n):  # A dimension that nothing implies takes what the others leave.
        while d not in implied and size[d] > 1 and _product(size) > _product(usual.values()):
            size[d] //= 2
    for d in range(n):
        if _product(size) > _MAX_GROUP:  # A tile with a halo is wider than its group.
            size[d] = 1 << size[d].bit_length() - 1
    while _product(size) > _MAX_GROUP:  # Square tiles have square groups.
        size[size.index(max(size))] //= 2
    for d in range(n):
        while d not in implied and draft.size_of(d) % size[d]:
            size[d] //= 2
    return tuple(size)


def _product(values: Iterable[int]) -> int:
    result = 1
    for value in values:
        result *= value
    return result


def _scalars(kernel: ir.Kernel, clues: Clues, draft: Draft, n: int) -> None:
    for parameter in kernel.parameters:
        if parameter.name in draft.arguments or isinstance(parameter.type, PointerType):
            continue
        if isinstance(parameter.type, OpaqueType) and parameter.type.is_image:
            continue
        draft.arguments[parameter.name] = _number(kernel, parameter, clues, draft, n)
        draft.inferred.add(parameter.name)
    for whole, members in find_members(kernel).of.items():
        argument = draft.arguments.get(whole.name)
        if isinstance(argument, ScalarArgument) and len(argument.values) == len(members):
            values = zip(members.values(), argument.values, strict=True)
            draft.inside |= {it.name: value for it, value in values if isinstance(value, int)}


def _number(kernel: ir.Kernel, parameter: Variable, clues: Clues, draft: Draft, n: int) -> ScalarArgument:
    """Return a value for a scalar, for each lane of a vector, or for each member of a struct."""
    members = find_members(kernel).of.get(parameter)
    if members:
        values = tuple(_scalar(it, clues, draft, n) for it in members.values())
        is_struct = isinstance(parameter.type, StructType)
        paths = tuple(it.name.removeprefix(parameter.name) for it in members.values())
        return ScalarArgument(values, members=paths if is_struct else ())
    lanes = parameter.type.lanes if isinstance(parameter.type, VectorType) else 1
    return ScalarArgument((_scalar(parameter, clues, draft, n),) * lanes)


_SMALL_SIDES = (
    (
        re.compile(
            r"(?:kernel|filter|mask|window|win|patch|stencil|conv)_?"
            r"(?:size|width|height|w|h|rows|cols|len|length|dim|x|y|radius)\d?$|^[fk](?:w|h|len|size|width|height)$|"
            r"^ker(?:nel)?$|radius|halo|(?:^|_)taps$",
            re.IGNORECASE,
        ),
        5,
    ),
    (re.compile(r"tile_?(?:size|width|height|w|h|dim)?$", re.IGNORECASE), 16),
    (re.compile(r"^(?:n|num|number_?of)?_?(?:colou?r_?)?(?:channels|components)$", re.IGNORECASE), 4),
)
"""What people call the sides of filters and tiles and the channels of images, and what these often are: a
loop as long as an image is wide says little in their place, and takes long."""


def _named_small(name: str) -> int:
    return next((side for pattern, side in _SMALL_SIDES if pattern.search(name)), 0)


def _scalar(parameter: Variable, clues: Clues, draft: Draft, n: int) -> int | float:
    value = _likely(parameter, clues, draft, n)
    return min(value, clues.most.get(parameter, value))


def _likely(parameter: Variable, clues: Clues, draft: Draft, n: int) -> int | float:
    element = parameter.type.element if isinstance(parameter.type, VectorType) else parameter.type
    if isinstance(element, ScalarType) and element.is_float:
        return 1.0
    if isinstance(element, OpaqueType) and element.name == "sampler_t":
        return _SAMPLER
    if parameter in clues.bytes.granules:
        return _bytes(parameter, clues, draft, n)
    if parameter in clues.shifts:
        # What also counts a loop is the logarithm of the whole size, as in a reversal of bits.
        items = draft.size_of(0) or draft.problem(n)
        return items.bit_length() - 1 if parameter in clues.limits else min(_SHIFT, items.bit_length() - 1)
    if parameter in clues.logarithms:
        # What a work-group halves together, waiting each time, is as large as it is.
        waits = clues.logarithms[parameter] and draft.local_size
        items = draft.local_size[0] if waits else draft.size_of(0) or draft.problem(n)
        return max(items.bit_length() - 1, 1)
    if parameter in clues.radii:
        return _RADIUS
    if parameter in clues.windows:
        return _WINDOW if parameter in clues.limits else 1
    if parameter in clues.cubed and not draft.global_size:
        return draft.guess.problem[3]
    looped = parameter in clues.limits or parameter in clues.factors
    before = _before_the_first(clues)
    if parameter in before:
        return _LIMIT[n] // 4 if looped else 1
    bounded = [d for d, form in clues.bounds.items() if form.atoms() - before == {parameter} and d < n]
    if looped and not bounded and (side := _named_small(parameter.name)):
        return side
    if bounded:
        if draft.size_of(bounded[0]):
            return draft.end_of_ids(bounded[0])
        return draft.guess.with_loops if n == 1 and looped else draft.problem(n)
    if parameter in clues.quotients and clues.quotients[parameter][0] < n:
        dimension, apart = clues.quotients[parameter]
        return max(draft.reached(dimension, n) // apart, 1)
    if parameter in clues.pitches:
        dimension = clues.pitches[parameter]
        if draft.size_of(dimension):
            whole = draft.end_of_ids(dimension)
        else:
            whole = max(draft.problem(n), _bound(parameter, dimension, clues, draft, n))
        return whole * clues.spread.get(parameter, 1)
    if parameter in clues.strided or parameter in clues.shared_out:
        return TURNS * (draft.end_of_ids(0) if draft.global_size else draft.problem(n))
    if parameter in clues.totals and (total := _total(parameter, clues, draft, n)) is not None:
        return min(total, draft.guess.with_loops if looped else draft.guess.elements)
    if parameter in clues.steps:
        return 1
    if parameter not in clues.limits and clues.along.get(parameter, n) < n:
        return draft.reached(clues.along[parameter], n)
    if parameter in clues.masks:
        items = _product(draft.global_size) if draft.global_size else draft.guess.problem[1]
        return (2 << items.bit_length()) - 1
    in_product = any(parameter in form.atoms() for form in clues.bounds.values())
    if looped or in_product or parameter in clues.divisors:
        whole = draft.end_of_ids(0) if draft.global_size and n > 1 else _LIMIT[n]
        return min(whole, _LIMIT[n])
    return 1


def _bound(parameter: Variable, dimension: int, clues: Clues, draft: Draft, n: int) -> int:
    """Return what a guard makes of the ids that a row goes along, in other scalars than its own pitch.

    0 where that is not known: `x < 25*batch` makes rows of as many elements, whatever their pitch is called.
    """
    form = clues.bounds.get(dimension)
    if form is None or parameter in form.atoms() or not clues.pitches.keys().isdisjoint(form.atoms()):
        return 0
    total = 0
    for mono, coef in form.terms.items():
        product = coef
        for atom in mono:
            if not isinstance(atom, Variable):
                return 0
            known = draft.scalar(atom.name)
            value = known if known is not None else _scalar(atom, clues, draft, n)
            product *= int(value)
        total += product
    return min(max(total, 0), draft.guess.elements)


def _before_the_first(clues: Clues) -> frozenset[Variable]:
    """Return what guards add to ids: in `id + k + 1 < n`, k is where they start and n is how far they go."""
    return frozenset(
        mono[0]
        for form in clues.bounds.values()
        for mono, coef in form.terms.items()
        if len(mono) == 1 and coef < 0 and isinstance(mono[0], Variable)
    )


def _bytes(parameter: Variable, clues: Clues, draft: Draft, n: int) -> int:
    """Return a value for what counts bytes: from the start, to the next element, or to the next row."""
    if parameter in clues.bytes.offsets:
        return 0
    granule = clues.bytes.granules[parameter]
    if parameter in clues.bytes.to_neighbour:
        return granule
    row = draft.end_of_ids(0) if draft.global_size and n > 1 else _LIMIT[n]
    return granule * row


def _total(parameter: Variable, clues: Clues, draft: Draft, n: int) -> int | None:
    """Return how many elements all work-items reach, from what a guard compares their number with."""
    total = 0
    for mono, coef in clues.totals[parameter].terms.items():
        product = coef
        for atom in mono:
            if isinstance(atom, Id):
                value = _end_of(atom, draft, n)
            else:
                value = draft.scalar(atom.name)
                if value is None and atom not in clues.totals:
                    guess = _scalar(atom, clues, draft, n)
                    value = guess if isinstance(guess, int) else None
            if value is None:
                return None
            product *= value
        total += product
    return total if total > 0 else None


def _end_of(atom: Id, draft: Draft, n: int) -> int | None:
    """Return what an id stays below, or what a size is."""
    if atom.dimension >= n:
        return None
    items = draft.reached(atom.dimension, n)
    group = draft.local_size[atom.dimension]
    queries = ir.WorkItemQuery
    return {
        queries.GLOBAL_ID: items,
        queries.GLOBAL_SIZE: items,
        queries.GROUP_ID: -(-items // group),
        queries.NUM_GROUPS: -(-items // group),
        queries.LOCAL_SIZE: group,
        queries.LOCAL_ID: group,
    }.get(atom.query)


def _global_size(clues: Clues, draft: Draft, n: int) -> tuple[int, ...]:
    """A dimension that nothing bounds is as long as the rows that an index steps over: squares, cubes.

    Not where another dimension is known: then nothing says that they are alike.
    """
    if clues.is_task and not any(draft.partly_global):
        return draft.local_size
    rows = () if any(draft.partly_global) else (*clues.cubed, *clues.pitches)
    edges = [size // clues.spread.get(it, 1) for it in rows if (size := draft.scalar(it.name))]
    sizes = []
    for d in range(n):
        if d < len(draft.partly_global) and draft.partly_global[d]:
            sizes.append(draft.partly_global[d])
            continue
        if d in clues.of_one_group:
            sizes.append(draft.local_size[d])
            continue
        wanted = _evaluate(clues.bounds[d], draft) if d in clues.bounds else None
        if wanted is None:
            own = [it for it, dimension in clues.pitches.items() if dimension == d]
            pitches = [(draft.scalar(it.name) or 0) // clues.spread.get(it, 1) for it in own]
            known = [it for it in pitches if it] or edges
            wanted = known[0] if known else draft.problem(n)
        group = draft.local_size[d]
        sizes.append(max(-(-min(wanted, 1 << 24) // group), 1) * group)
    return tuple(sizes)


def _evaluate(form: Form, draft: Draft) -> int | None:
    total = 0
    for mono, coef in form.terms.items():
        product = coef
        for atom in mono:
            value = None if isinstance(atom, Id) else draft.scalar(atom.name)
            if value is None:
                return None
            product *= value
        total += product
    return total if total > 0 else None


# ------------------------------------------------------------------------------------------------- buffers


def _buffers(kernel: ir.Kernel, clues: Clues, draft: Draft) -> None:
    pointers = [it for it in kernel.parameters if isinstance(it.type, PointerType)]
    open_ = [it for it in pointers if it.name not in draft.arguments]
    if not open_:
        return
    numbers = [
        *kernel.parameters,
        *(it for inside in find_members(kernel).of.values() for it in inside.values()),
    ]
    scalars = {it: value for it in numbers if (value := draft.scalar(it.name)) is not None}
    extents = _extents(kernel, draft, scalars, {})
    counts = {it: _count(it, extents, draft) for it in open_}
    loaded: dict[Variable, Interval] = {
        it: (0, max(counts.get(it, _given_count(draft, it.name)) - 1, 0)) for it in clues.gathered
    }
    loaded |= {it: (value, value) for it in clues.held if (value := _held(it, clues, draft))}
    if loaded:  # What indices read from tables reach is known once the tables' contents are chosen.
        extents = _extents(kernel, draft, scalars, loaded)
        counts = {it: _count(it, extents, draft) for it in open_}
    for parameter in open_:
        held = _held(parameter, clues, draft) if parameter in clues.held else 0
        number = BufferArgument(Fill.FORMULA, 1, text=str(held))
        draft.arguments[parameter.name] = number if held else _buffer(parameter, counts[parameter], clues)
        draft.inferred.add(parameter.name)


def _fit_memory(kernel: ir.Kernel, clues: Clues, draft: Draft) -> None:
    """Lower guesses that multiply what buffers hold until these are no longer than people's are.

    What bounds loops goes first: 256 x 256 is no window, whatever the sizes around it.
    """
    if draft.guess is not SMALL or _inferred_bytes(kernel, draft) <= _MOST_BYTES:
        return
    lowered = (clues.limits | clues.factors) - clues.ends
    free = [it for it in kernel.parameters if it in lowered and it.name in draft.inferred]
    for _ in range(_MOST_HALVINGS):
        values = {it: value for it in free if (value := draft.scalar(it.name)) is not None and value > 1}
        if not values or _inferred_bytes(kernel, draft) <= _MOST_BYTES:
            return
        chosen = max(values, key=lambda it: (it in clues.limits, values[it]))
        draft.arguments[chosen.name] = ScalarArgument((values[chosen] // 2,))
        for it in kernel.parameters:
            if it.name in draft.inferred and isinstance(draft.arguments.get(it.name), BufferArgument):
                del draft.arguments[it.name]
        _buffers(kernel, clues, draft)


def _fit_reach(kernel: ir.Kernel, draft: Draft) -> None:
    """Shorten buffers that a guessed launch cannot have, the longest first, to an element for each work-item.

    Their length is what indices are known not to pass, such as 2^30 for bits that are spread: seldom what
    they reach. The emulator makes buffers longer that a run passes (`emulator/roomier.py`).
    """
    if "global" not in draft.inferred:
        return
    for _ in kernel.parameters:
        if _inferred_bytes(kernel, draft) <= _MOST_BYTES:
            return
        held = {
            it.name: argument
            for it in kernel.parameters
            if it.name in draft.inferred
            and isinstance(argument := draft.arguments.get(it.name), BufferArgument)
            and not argument.sides
        }
        name = max(held, key=lambda it: held[it].count, default="")
        items = _product(draft.global_size)
        if not name or held[name].count <= items:
            return
        draft.arguments[name] = replace(held[name], count=items)
        draft.capped.add(name)


def _inferred_bytes(kernel: ir.Kernel, draft: Draft) -> int:
    return sum(
        argument.count * max(it.type.pointee.size, 1)
        for it in kernel.parameters
        if isinstance(it.type, PointerType)
        and it.name in draft.inferred
        and isinstance(argument := draft.arguments.get(it.name), BufferArgument)
    )


def _known_scalars(kernel: ir.Kernel, draft: Draft) -> dict[Variable, int]:
    inside = (it for members in find_members(kernel).of.values() for it in members.values())
    numbers = (*kernel.parameters, *inside)
    return {it: value for it in numbers if (value := draft.scalar(it.name)) is not None}


def _fit_group(kernel: ir.Kernel, clues: Clues, draft: Draft, n: int) -> None:
    """Lower a guessed group until arrays in local memory hold what it reaches.

    Their lengths imply a group as wide as they; with a halo to each side they are wider than the group.
    """
    attributes = kernel.attributes
    is_fixed = attributes.reqd_work_group_size or attributes.work_group_size_hint
    arrays = frozenset(it for it in kernel.variables if it.kind is VariableKind.LOCAL_OBJECT)
    if is_fixed or "local" not in draft.inferred or not arrays:
        return
    scalars = _known_scalars(kernel, draft)
    if not _overrun(kernel, scalars, draft, arrays):
        return
    before = draft.local_size, draft.global_size
    for shape in _narrower(draft.local_size):
        if any(shape[d] != before[0][d] for d in clues.walked if d < n):
            continue
        draft.local_size = shape
        if "global" in draft.inferred:
            draft.global_size = _global_size(clues, draft, n)
        if not _overrun(kernel, scalars, draft, arrays):
            return
    draft.local_size, draft.global_size = before


def _narrower(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield groups that are narrower: as wide as powers of two, then half as wide in each dimension."""
    powers = tuple(1 << it.bit_length() - 1 for it in shape)
    odd = [at for at, it in enumerate(shape) if it != powers[at]]
    yield from (tuple(powers[d] if d == at else it for d, it in enumerate(shape)) for at in odd)
    if len(odd) > 1:
        yield powers
    yield from (
        tuple(it // 2 if d == at else it for d, it in enumerate(powers))
        for at, it in enumerate(powers)
        if it > 1
    )
    yield tuple(max(it // 2, 1) for it in powers)
    if sum(it > 1 for it in powers) > 1:  # Tiles with several elements of each work-item: 64 x 64 of 16 x 16.
        yield from (tuple(max(it // part, 1) for it in powers) for part in _PARTS_OF_TILES)


_PARTS_OF_TILES = (4, 8)


def _keep_rows_apart(kernel: ir.Kernel, clues: Clues, draft: Draft, n: int) -> None:
    """Raise guessed pitches until no work-item stores in another's row."""

    def highest(it: Id) -> int | None:
        return None if (end := _end_of(it, draft, n)) is None else end - 1

    guessed = {it for it in kernel.parameters if it.name in draft.inferred - draft.inside.keys()} - clues.ends
    if all(draft.scalar(it.name) is None for it in guessed):
        return  # Nothing to raise: most launches of host code.
    for pitch, rows in stored_rows(kernel).items():
        known = draft.scalar(pitch.name)
        if known is None or pitch not in guessed:
            continue
        needed = max((row.needed(highest) or 0 for row in rows), default=0)
        if known < needed <= min(draft.guess.elements, clues.most.get(pitch, needed)):
            draft.arguments[pitch.name] = ScalarArgument((needed,))


def _keep_inside_arrays(kernel: ir.Kernel, clues: Clues, draft: Draft) -> None:
    """Lower guesses that bound loops until arrays of a fixed length hold what they count."""
    limits = [
        it.name
        for it in kernel.parameters
        if it in clues.limits and it.name in draft.inferred - draft.inside.keys()
    ]
    if not limits or not any(it.is_object for it in kernel.variables):
        return
    scalars = _known_scalars(kernel, draft)
    if not _overrun(kernel, scalars, draft):
        return
    for name in limits:
        value = draft.scalar(name) or 0
        if value <= 1 or _overrun(kernel, _with(scalars, name, 1), draft):
            continue  # What the smallest does not cure the others do not.
        value //= 2
        while value > 1 and _overrun(kernel, _with(scalars, name, value), draft):
            value //= 2
        draft.arguments[name] = ScalarArgument((value,))
        return


def _with(scalars: Mapping[Variable, int], name: str, value: int) -> dict[Variable, int]:
    return {it: value if it.name == name else known for it, known in scalars.items()}


def _overrun(
    kernel: ir.Kernel,
    scalars: Mapping[Variable, int],
    draft: Draft,
    arrays: frozenset[Variable] | None = None,
) -> bool:
    """Tell whether a launch may leave an array that the kernel declares: one of some, or any."""
    end = _extents(kernel, draft, scalars, {}).end
    return any(
        it.is_object and (arrays is None or it in arrays) and reached > it.type.size
        for it, reached in end.items()
    )


def _images(kernel: ir.Kernel, draft: Draft) -> None:
    """An image has a texel for each global id, a filter few; one that is read as floats holds some."""
    windows = find_windows(kernel)
    for parameter in kernel.parameters:
        kind = parameter.type
        if parameter.name in draft.arguments or not (isinstance(kind, OpaqueType) and kind.is_image):
            continue
        ends = [draft.end_of_ids(it) for it in range(len(draft.global_size))]
        whole = (2 * _RADIUS + 1,) * 3 if parameter in windows else (*ends, 1, 1)
        sides = whole[: dimensions(kind.name)]
        made = _is_float(texel_type(kernel, parameter))
        fill = Fill.RANDOM if made else Fill.ZEROS
        draft.arguments[parameter.name] = BufferArgument(fill, _product(sides), sides=sides)
        draft.inferred.add(parameter.name)


def _extents(
    kernel: ir.Kernel, draft: Draft, scalars: Mapping[Variable, int], loaded: Mapping[Variable, Interval]
) -> Extents:
    """Return what a launch touches; less closely in long kernels for which much was tried already."""
    most = min(max(_MOST_PROBED - draft.probed, _LEAST_PROBED), MAX_PROBED)
    found = find_extents(
        kernel, Sizes(draft.global_size, draft.local_size, scalars, draft.global_offset, loaded), most
    )
    draft.probed += found.probed
    return found


def _held(parameter: Variable, clues: Clues, draft: Draft) -> int:
    """Return what a buffer of one number is taken to hold: a size that ids go up to, or a few turns."""
    return _TURNS_HELD if parameter in clues.held_turns else max(draft.global_size, default=1)


_TURNS_HELD = 4


def _given_count(draft: Draft, name: str) -> int:
    argument = draft.arguments.get(name)
    return argument.count if isinstance(argument, BufferArgument) else 1


def _count(parameter: Variable, extents: Extents, draft: Draft) -> int:
    assert isinstance(parameter.type, PointerType)
    local = parameter.type.space is AddressSpace.LOCAL
    element = max(parameter.type.pointee.size, 1)
    touched = -(-extents.end.get(parameter, 0) // element)
    if parameter in extents.unknown:
        touched = max(touched, _product(draft.local_size if local else draft.global_size))
    return max(touched, 1)


def _buffer(parameter: Variable, count: int, clues: Clues) -> Argument:
    pointer = parameter.type
    assert isinstance(pointer, PointerType)
    if pointer.space is AddressSpace.LOCAL:
        return LocalArgument(count)
    if parameter in clues.chained:  # Each element comes after the one before it, and the first ends the list.
        return BufferArgument(Fill.FORMULA, count, text="i - 1")
    if parameter in clues.trip_data:
        return BufferArgument(Fill.IOTA, count)
    if parameter in clues.gathered:
        return BufferArgument(Fill.PERMUTATION, count)
    made = _is_float(pointer.pointee) and parameter in clues.loaded
    return BufferArgument(Fill.RANDOM if made else Fill.ZEROS, count)


def _is_float(value: Type) -> bool:
    element = value.element if isinstance(value, VectorType) else value
    return isinstance(element, ScalarType) and element.is_float
