"""The accesses of a kernel, by reading its IR symbolically.

Every statement is read once, in order, with every variable bound to a polynomial (or vector, or address)
over work-item functions, parameters and loop turns. Branches join as selects; loops are replaced by closed
forms of what their turns do (`clmap_lsp.access.loops`). The cost is linear in the number of statements,
except that a loop whose variables follow no simple pattern is read twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from clmap_lsp.access import algebra
from clmap_lsp.access.arrays import LONGEST, element_at, store_at
from clmap_lsp.access.expressions import Environment, Expressions
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.flow import Flow
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Indirect,
    Leaf,
    LoopSymbol,
    Operation,
    Parameter,
    Polynomial,
    Unknown,
    WorkItemSymbol,
    poly,
)
from clmap_lsp.access.real import UNKNOWN_REAL, read
from clmap_lsp.access.records import Access, AccessSummary, Direction
from clmap_lsp.access.tables import Tables
from clmap_lsp.access.values import (
    OPAQUE,
    Address,
    Pointer,
    PointerChoice,
    Scalar,
    Subscript,
    Value,
    Vector,
    choose,
    is_lasting,
    is_null,
    leaves_of_value,
    unknown_pointer,
)
from clmap_lsp.access.wording import NameTable
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.image import ROW, TEXEL_BYTES, asks_sampler, given_flags, image_of, texels
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Block, Kernel, Statement, Variable, VariableKind
from clmap_lsp.source.layout import leaves
from clmap_lsp.source.makings import Wanted
from clmap_lsp.source.origins import kept_pointer, origins_of, reaches_memory
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.slicing import slice_of
from clmap_lsp.source.types import (
    AddressSpace,
    ArrayType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
    element_of,
    has_union,
)

if TYPE_CHECKING:
    from clmap_lsp.access.looping import _Shape
    from clmap_lsp.launch.model import Launch


THRIFTY_FROM: Final = 3_000
"""Statements, those on trial counted, after which values made of data are given up early."""

_NOT_FOLLOWED: Final = "`goto {}` is not followed: no loop or block stands for it"

SPELT_OUT: Final = 12
"""Operations over more atoms than this are called by the name of the variable that holds them."""


def analyse(
    kernel: Kernel, *, launch: Launch | None = None, constants: Iterable[ir.Initializer] = ()
) -> AccessSummary:
    """Return every memory access of a kernel with its index as a polynomial.

    Args:
        launch: sharpens decisions (a value that cannot be negative, a remainder that does nothing); the
            polynomials keep `N` and `get_global_size(0)` as symbols all the same. Results for one launch
            hold for it only.
        constants: the program's, whose values then stand for what is read of them.
    """
    facts = Facts(launch, kernel.attributes.reqd_work_group_size)
    reader = _Reader(kernel, facts, launch, Tables(constants))
    reader.run()
    public = tuple(it for it in reader.accesses if it.space is not AddressSpace.PRIVATE)
    private = tuple(it for it in reader.accesses if it.space is AddressSpace.PRIVATE)
    return AccessSummary(
        kernel,
        public,
        private,
        tuple(reader.loops_seen),
        reader.names,
        reader.expressions.n_dimensions,
        tuple(dict.fromkeys(reader.caveats)),
        tuple(it for it in reader.left_out if it.space is not AddressSpace.PRIVATE),
        tuple(reader.images),
    )


@dataclass(slots=True)
class _State:
    """What holds at one point: the variables, and the conditions that lead there since the kernel began."""

    environment: Environment
    guard: tuple[Polynomial, ...]

    def copy(self) -> _State:
        return _State(dict(self.environment), self.guard)


class _Reader:
    def __init__(self, kernel: Kernel, facts: Facts, launch: Launch | None, tables: Tables) -> None:
        self.kernel = kernel
        self.tables = tables
        self.facts = facts
        self.launch = launch
        self.order = {variable: number for number, variable in enumerate(kernel.variables)}
        self.slice = slice_of(kernel)
        self.flow = Flow(kernel)
        """What is outside it is data that no address sees: its values are not worked out."""
        self.accesses: list[Access] = []
        self.left_out: list[Access] = []
        """Those in statements that the algebra holds to be never reached."""
        self.images: list[Access] = []
        self.names = NameTable()
        self.caveats: list[str] = []
        self.loops_seen: list[LoopSymbol] = []
        self.nest: tuple[LoopSymbol, ...] = ()
        self.quiet = 0
        """Greater than 0 while a loop is read only for what it does to variables."""
        self.wanted: Wanted | None = None
        """On trial in a large loop: what the values that are asked for follow from."""
        self.trial_statements = 0
        """Statements read so."""
        self.statements = 0
        """Statements read in all."""
        self.shapes: dict[int, tuple[ir.Loop, _Shape]] = {}
        """What loops look like, by their ids."""
        self._unsettled = _changed_by_jumps(kernel)
        self._identities = 0
        self._stored: dict[Variable, dict[tuple[int, int, Type | AddressSpace], None]] = {}
        """Where unions were stored to or read, and as what."""
        self._tracked: dict[Variable, dict[tuple[int, int], None]] = {}
        """Byte offsets and sizes of private objects at which any environment may hold a value."""
        self._leaving: dict[int, list[tuple[_State, tuple[LoopSymbol, ...]]]] = {}
        self._breaking: list[list[_State]] = []
        self._continuing: list[list[_State]] = []
        keeps_reals, asked = _survey(kernel)
        n_dimensions = len(launch.global_size) if launch is not None else asked
        self.expressions = Expressions(facts, keeps_reals, n_dimensions, self.slice.given_up)

    def run(self) -> None:
        state = _State({}, ())
        self.block(self.kernel.body, state)

    # --------------------------------------------------------------------------------- statements

    def block(self, block: Block, state: _State | None) -> _State | None:
        """Read a block; `None` means that its end is never reached."""
        if state is None:
            return None
        if self.quiet:
            self.trial_statements += len(block)
        self.statements += len(block)
        self.expressions.thrifty = self.statements > THRIFTY_FROM
        end, last, at = self._until_end(block, 0, state)
        if end is None:
            self.unreached(block, last, at)
        return end

    def _until_end(self, block: Block, at: int, state: _State) -> tuple[_State | None, _State, int]:
        """Read a block up to the first statement that nobody comes out of.

        Return what holds at its end, what held last, and where what is behind that statement begins.
        """
        for place in range(at, len(block)):
            checkpoint()
            self.expressions.environment = state.environment
            after = _HANDLERS[type(block[place])](self, block[place], state)
            if after is None:
                return None, state, place + 1
            state = after
        return state, state, len(block)

    def unreached(self, block: Block, state: _State, at: int = 0) -> None:
        """Read statements that the algebra holds to be never reached, for the sake of their accesses.

        Whether an access runs is for the engine that counts to say; nothing that is found here has an effect.
        """
        if self.quiet or at == len(block):
            return
        accesses, self.accesses = self.accesses, self.left_out
        breaking, self._breaking = self._breaking, [[]]
        continuing, self._continuing = self._continuing, [[]]
        leaving, self._leaving = self._leaving, {}
        n_loops, n_caveats = len(self.loops_seen), len(self.caveats)
        guard = (*state.guard, ZERO)
        while at < len(block):
            _, state, at = self._until_end(block, at, _State(dict(state.environment), guard))
        del self.loops_seen[n_loops:], self.caveats[n_caveats:]
        self._breaking, self._continuing, self._leaving = breaking, continuing, leaving
        self.accesses = accesses

    def _nothing(self, _: Statement, state: _State) -> _State:
        return state

    def _declare(self, it: ir.Declare, state: _State) -> _State:
        state.environment.pop(it.variable, None)
        return state

    def _is_in_vain(self, statement: ir.Assign | ir.Load | ir.Store) -> bool:
        """Tell whether nothing that is asked on trial follows from what a statement writes."""
        return self.wanted is not None and not self.wanted.needs(statement)

    def _assign(self, it: ir.Assign, state: _State) -> _State:
        is_data = it.variable not in self.slice.variables or self._is_in_vain(it)
        if is_data and not _is_id(it.value):
            return state
        value = self.expressions.kept(self.expressions.value(it.value))
        state.environment[it.variable] = value
        if not it.variable.is_temporary:
            self._name(it.variable.name, value)
        return state

    def _name(self, name: str, value: Value) -> None:
        """Remember what the author calls an id: `x` of `int x = get_global_id(0)`."""
        if isinstance(value, Polynomial):
            atom = value.atom
            if isinstance(atom, WorkItemSymbol) or (isinstance(atom, Operation) and value.weight > SPELT_OUT):
                self.names.setdefault(atom, name)

    def _load(self, it: ir.Load, state: _State) -> _State:
        if self._is_in_vain(it):
            return state
        address = self.expressions.address(it.pointer)
        touch = _Touch(it, it.site, Direction.LOAD, it.variable.type, it.size, it.alignment)
        self._emit(touch, address, state)
        if it.variable in self.slice.variables:
            state.environment[it.variable] = self._loaded(it, address, state)
        return state

    def _loaded(self, it: ir.Load, address: Address, state: _State) -> Value:
        """Return what a load gives: a tracked private value, a member of an argument, or data."""
        kind = it.variable.type
        if isinstance(address, PointerChoice):
            reason = "it is read through a pointer that was chosen at run time"
            return self.expressions.nothing_known(kind, reason)
        root = address.root
        if root is None:
            return self.expressions.nothing_known(kind, address.reason)
        if root.kind is VariableKind.PARAMETER and isinstance(root.type, StructType):
            return self._member(root, address, kind)
        if address.space is AddressSpace.PRIVATE and address.offset.value is not None:
            tracked = state.environment.get((root, address.offset.value, it.size))
            if tracked is not None and self._is_as_stored(root, address.offset.value, it.size, kind):
                return tracked
        if root.kind is VariableKind.PRIVATE_OBJECT and address.offset.value is None and not it.is_volatile:
            chosen = element_at(state.environment, root, address.offset, kind, self.facts)
            if chosen is not None:
                return self.expressions.kept(chosen)
        if isinstance(kind, PointerType):
            return self._pointer_from_memory(it, root, kind)
        return self._data(it.site, address, root, kind, it.is_volatile)

    def _pointer_from_memory(self, it: ir.Load, holder: Variable, kind: PointerType) -> Pointer:
        """Return a pointer that was read: its object, if the kernel stores pointers into one only there."""
        reason = f"the pointer is read from `{holder.name}`"
        root = kept_pointer(self.kernel, it)
        if root is None:
            return unknown_pointer(kind.space, reason)
        return Pointer(root, kind.space, self.expressions.unknown(reason, frozenset()))

    def _member(self, root: Variable, address: Pointer, kind: Type) -> Value:
        """Return the symbol of a member of an argument: `p.strides[1]`, its own for each place in it."""
        at = address.offset.value
        assert isinstance(root.type, StructType)
        if at is None:
            return self.expressions.nothing_known(
                kind, f"`{root.name}{address.path}` is read at an index that varies"
            )
        names = leaves(root.type)
        if isinstance(kind, ScalarType):
            path, of = names.get(at, ("", kind))
            name = f"{root.name}{path}" if path and of == kind else f"{root.name}{address.path}@{at}"
            return self.expressions.parameter(name, kind)
        if isinstance(kind, VectorType):
            parts = []
            for lane in range(kind.lanes):
                here = at + lane * kind.element.size
                path, of = names.get(here, ("", kind.element))
                fits = bool(path) and of == kind.element
                parts.append(f"{root.name}{path}" if fits else f"{root.name}{address.path}@{here}")
            return Vector(tuple(self.expressions.parameter(part, kind.element) for part in parts))
        return self.expressions.nothing_known(kind, f"`{root.name}{address.path}` is not followed")

    def _data(self, site: int, address: Pointer, root: Variable, kind: Type, volatile: bool) -> Value:
        if isinstance(kind, PointerType):
            return unknown_pointer(kind.space, f"the pointer is read from `{root.name}`")
        known = None if volatile else self.tables.read(root, address.space, address.offset, kind)
        if known is not None:
            return self.expressions.kept(known)
        index = address.offset.exact_quotient(Polynomial.constant(kind.size or 1))
        turns = self.nest if volatile or not _is_read_only(root, address.space) else ()
        where = address.offset if index is None else index
        return self._read_from(root.name, site, where, kind, turns, private=_is_of_one_item(root))

    def _store(self, it: ir.Store, state: _State) -> _State:
        if self._is_in_vain(it):
            return state
        address = self.expressions.address(it.pointer)
        touch = _Touch(it, it.site, Direction.STORE, it.value.type, it.size, it.alignment)
        self._emit(touch, address, state)
        if isinstance(address, Pointer) and address.space is AddressSpace.PRIVATE:
            self._remember(address, it, state)
        elif isinstance(address, PointerChoice):
            self._forget(state.environment)
        return state

    def _remember(self, address: Pointer, it: ir.Store, state: _State) -> None:
        """Track what private memory holds at constant offsets."""
        root, at = address.root, address.offset.value
        if root is not None and at is None and self._store_somewhere(root, address.offset, it, state):
            return
        if root is None or at is None:
            stores_pointer = isinstance(it.value.type, PointerType)
            self._forget(state.environment, root, but_pointers=not stores_pointer)
            return
        if root not in self.slice.objects:
            return
        value = self.expressions.kept(self.expressions.value(it.value))
        self._forget(state.environment, root, at, at + it.size)
        if self._is_as_stored(root, at, it.size, it.value.type):
            self._track(state.environment, root, at, it.size, value)
        else:
            self._forget(state.environment, root)

    def _store_somewhere(self, root: Variable, offset: Polynomial, it: ir.Store, state: _State) -> bool:
        """Follow a store at an index that varies into an array of which every element is tracked."""
        if root not in self.slice.objects:
            return True
        value = self.expressions.kept(self.expressions.value(it.value))
        kind = it.value.type
        return store_at(state.environment, root, offset, kind, value, self.facts)

    def _is_as_stored(self, root: Variable, at: int, size: int, kind: Type) -> bool:
        """Tell whether all stores to a place of a union were of this type; any other object has one type."""
        if not has_union(root.type):
            return True
        form = (
            kind.space if isinstance(kind, PointerType) else kind
        )  # What a pointer leads to is no part of it.
        places = self._stored.setdefault(root, {})
        places[at, size, form] = None
        return not any(
            start < at + size and at < start + length and (start, length, other) != (at, size, form)
            for start, length, other in places
        )

    def _track(self, environment: Environment, root: Variable, at: int, size: int, value: Value) -> None:
        """Note what private memory holds at a byte offset."""
        self._tracked.setdefault(root, {})[at, size] = None
        environment[root, at, size] = value

    def _forget(
        self,
        environment: Environment,
        root: Variable | None = None,
        start: int = 0,
        end: int | None = None,
        *,
        but_pointers: bool = False,
    ) -> None:
        """Drop what is tracked of private memory: of one object, of a byte range of it, or of all.

        Args:
            but_pointers: what was written is no pointer, and so has not replaced one.
        """
        for owner in self._tracked if root is None else (root,):
            for at, size in self._tracked.get(owner, ()):
                key = owner, at, size
                if end is not None and not (at < end and start < at + size):
                    continue
                if not (but_pointers and is_lasting(key, environment.get(key))):
                    environment.pop(key, None)

    def _copy_object(self, it: ir.CopyObject, state: _State) -> _State:
        source = self.expressions.address(it.source)
        target = self.expressions.address(it.destination)
        size, alignment = it.type.size, it.type.alignment
        self._emit(_Touch(it, it.load_site, Direction.LOAD, it.type, size, alignment), source, state)
        self._emit(_Touch(it, it.store_site, Direction.STORE, it.type, size, alignment), target, state)
        if isinstance(target, Pointer) and target.space is AddressSpace.PRIVATE:
            self._copy_tracked(source, target, it.type, state)
        return state

    def _copy_tracked(self, source: Address, target: Pointer, kind: Type, state: _State) -> None:
        environment = state.environment
        if target.root is None or target.offset.value is None:
            self._forget(environment, target.root)
            return
        at, size = target.offset.value, kind.size
        self._forget(environment, target.root, at, at + size)
        if not isinstance(source, Pointer) or source.root is None or source.offset.value is None:
            return
        if has_union(target.root.type):
            return
        if source.root.kind is VariableKind.PARAMETER and isinstance(source.root.type, StructType):
            for name, offset, member in _members(kind):
                path = Pointer(source.root, source.space, source.offset + offset, (), f"{source.path}{name}")
                value = self._member(source.root, path, member)
                self._track(environment, target.root, at + offset, member.size, value)
            return
        for distance, width, value in self.tables.elements(source.root, source.offset.value, size):
            self._track(environment, target.root, at + distance, width, value)
        shift = at - source.offset.value
        for key in [key for key in environment if isinstance(key, tuple) and key[0] is source.root]:
            _, start, length = key
            if source.offset.value <= start and start + length <= source.offset.value + size:
                self._track(environment, target.root, start + shift, length, environment[key])

    def _atomic(self, it: ir.Atomic, state: _State) -> _State:
        address = self.expressions.address(it.pointer)
        direction = {ir.AtomicOp.LOAD: Direction.LOAD, ir.AtomicOp.STORE: Direction.STORE}
        kind = direction.get(it.op, Direction.ATOMIC)
        self._emit(_Touch(it, it.site, kind, it.type, it.type.size, it.type.alignment), address, state)
        if it.variable in self.slice.variables:
            value = self.expressions.nothing_known(it.type, "it is the result of an atomic")
            if isinstance(address, Pointer) and address.root is not None:
                value = self._data(it.site, address, address.root, it.type, volatile=True)
            state.environment[it.variable] = value
        return state

    def _async_copy(self, it: ir.AsyncCopy, state: _State) -> _State:
        """Model the copy as loops of the whole group over planes, lines and elements."""
        scalar = self.expressions.scalar
        stride = ONE if it.stride is None else scalar(it.stride)
        source, target = self.expressions.address(it.source), self.expressions.address(it.destination)
        outer = self.nest
        at = {it.load_site: ZERO, it.store_site: ZERO}
        if it.box:
            lines, planes, *pitches = it.box
            for name, trip, sides in (("plane", planes, pitches[1::2]), ("line", lines, pitches[::2])):
                turn = self._copy_turn(name, trip, it)
                for site, pitch in zip(at, sides, strict=True):
                    at[site] = at[site] + poly(turn) * scalar(pitch)
        element = self._copy_turn("element", it.count, it)
        for site, address, direction in (
            (it.load_site, source, Direction.LOAD),
            (it.store_site, target, Direction.STORE),
        ):
            is_global = not isinstance(address, Pointer) or address.space is not AddressSpace.LOCAL
            index = at[site] + poly(element) * (stride if is_global else ONE)
            moved = self.expressions.moved(address, index, it.element.size)
            touch = _Touch(it, site, direction, it.element, it.element.size, it.element.alignment)
            self._emit(touch, moved, state)
        self.nest = outer
        if it.event is not None:
            state.environment[it.event] = OPAQUE
        return state

    def _copy_turn(self, name: str, trip: ir.Expression, it: ir.AsyncCopy) -> LoopSymbol:
        """Enter one of a copy's loops."""
        turn = self._symbol(name, trip=self.expressions.scalar(trip), start=ZERO, step=ONE, span=it.span)
        self.nest = (*self.nest, turn)
        return turn

    def _image_read(self, it: ir.ImageRead, state: _State) -> _State:
        """An image read gives data of the image, at `y*width + x` where its texel is known."""
        name, at = self._image(it, Direction.LOAD, it.variable.type, state)
        if it.variable not in self.slice.variables:
            return state
        index = ZERO
        for place, size in reversed(list(zip(at, ("width", "height", "depth"), strict=False))):
            pitch = poly(Parameter(f"get_image_{size}({name})", unsigned=True))
            index = index * pitch + place
        turns = () if at else self.nest
        state.environment[it.variable] = self._read_from(name, it.site, index, it.variable.type, turns)
        return state

    def _image_write(self, it: ir.ImageWrite, state: _State) -> _State:
        self._image(it, Direction.STORE, it.value.type, state)
        return state

    def _image(
        self, it: ir.ImageRead | ir.ImageWrite, direction: Direction, kind: Type, state: _State
    ) -> tuple[str, tuple[Polynomial, ...]]:
        """Note an access of an image; return its name, and the coordinates of its texel if they are known."""
        image = image_of(it)
        name, flags = "image" if image is None else image.name, self._flags(it)
        places: tuple[Polynomial, ...] = ()
        if image is not None and flags is not None:
            found, _ = texels(it, image, flags)
            places = tuple(self.expressions.kept_scalar(self.expressions.scalar(part)) for part in found)
        if self.quiet:
            return name, places
        steps = [TEXEL_BYTES * ROW**d for d in range(len(places))]
        subscripts = tuple(map(Subscript, places, steps))[::-1]
        offset = sum((place * step for place, step in zip(places, steps, strict=True)), ZERO)
        reason = "" if places else "it depends on a sampler that is not given" if image else "it is chosen"
        where = Pointer(image, AddressSpace.GLOBAL, offset, subscripts, "", reason)
        touch = _Touch(it, it.site, direction, kind, TEXEL_BYTES, TEXEL_BYTES)
        access = self._access(touch, where, state.guard)
        self.images.append(replace(access, coordinates=places, unit=TEXEL_BYTES))
        return name, places

    def _flags(self, it: ir.ImageRead | ir.ImageWrite) -> int | None:
        """Return the flags of the sampler, 0 where they say nothing about the texel; `None`: unknown."""
        if not isinstance(it, ir.ImageRead) or it.sampler is None or not asks_sampler(it):
            return 0
        known = given_flags(it.sampler, self.launch)
        value = self.expressions.value(it.sampler) if known is None else None
        return value.value if isinstance(value, Polynomial) else known

    def _read_from(
        self,
        buffer: str,
        site: int,
        index: Polynomial,
        kind: Type,
        turns: tuple[LoopSymbol, ...],
        *,
        private: bool = False,
    ) -> Value:
        """Return data that was read, one atom a lane."""
        index = self.expressions.kept_scalar(index)
        element = element_of(kind)
        if not isinstance(element, ScalarType):
            return OPAQUE
        n_lanes = kind.lanes if isinstance(kind, VectorType) else 1
        if element.is_float and not self.expressions.keeps_reals:
            return UNKNOWN_REAL if n_lanes == 1 else Vector((UNKNOWN_REAL,) * n_lanes)
        unsigned = element.kind is not ScalarKind.SIGNED and not element.is_float
        lanes: list[Scalar] = []
        for number in range(n_lanes):
            atom = Indirect(buffer, site, index, unsigned, number, turns, private)
            lanes.append(read(atom) if element.is_float else poly(atom))
        return lanes[0] if n_lanes == 1 else Vector(tuple(lanes))

    def _collective(self, it: ir.Collective | ir.OpaqueCall | ir.Call, state: _State) -> _State:
        name = it.function if isinstance(it, ir.Call) else it.name
        if it.variable in self.slice.variables:
            is_assembly = isinstance(it, ir.OpaqueCall) and it.reason == ir.ASSEMBLY
            reason = "it is the result of inline assembly" if is_assembly else f"it is the result of `{name}`"
            leaves: frozenset[Leaf] = frozenset().union(
                *(leaves_of_value(self.expressions.value(argument)) for argument in it.arguments)
            )
            state.environment[it.variable] = self._with_leaves(it.variable.type, reason, leaves)
        if not isinstance(it, ir.Collective) and any(map(reaches_memory, it.arguments)):
            self._forget(state.environment)
        return state

    def _with_leaves(self, kind: Type, reason: str, leaves: frozenset[Leaf]) -> Value:
        if isinstance(kind, ScalarType) and not kind.is_float:
            return self.expressions.unknown(reason, leaves)
        return self.expressions.nothing_known(kind, reason)

    def _unsupported(self, it: ir.Unsupported, state: _State) -> _State:
        self.caveats.append(f"`{it.text.strip()[:60]}` was not understood: {it.reason}")
        return state

    def _goto(self, it: ir.Goto, state: _State) -> _State:
        self.caveats.append(_NOT_FOLLOWED.format(it.name.partition("#")[0]))
        return state

    def _label(self, it: ir.Label, state: _State) -> _State:
        """Forget what a jump to here may have changed, and under which conditions this is reached."""
        reason = _NOT_FOLLOWED.format(it.name.partition("#")[0])
        self.caveats.append(reason)
        self._forget(state.environment)
        for key in state.environment:
            if key in self._unsettled and isinstance(key, Variable):
                state.environment[key] = self.expressions.nothing_known(key.type, reason)
        return _State(state.environment, (self.expressions.unknown(reason),))

    # ------------------------------------------------------------------------------- control flow

    def _if(self, it: ir.If, state: _State) -> _State | None:
        condition = self.expressions.condition(it.condition)
        if condition.value is not None:
            taken, dead = (it.then, it.otherwise) if condition.value else (it.otherwise, it.then)
            self.unreached(dead, state)
            return self.block(taken, state)
        opposite = algebra.negated(condition)
        other = state.copy()
        then = _State(state.environment, (*state.guard, condition))
        otherwise = _State(other.environment, (*state.guard, opposite))
        after_then = self.block(it.then, then)
        after_else = self.block(it.otherwise, otherwise)
        return self._joined([it for it in (after_then, after_else) if it is not None])

    def _joined(self, states: list[_State]) -> _State | None:
        """Return the state after paths of which exactly one is taken; the last pair is joined first."""
        if not states:
            return None
        result = states[-1]
        for state in reversed(states[:-1]):
            result = self._join(state, result)
        return result

    def _join(self, first: _State, second: _State) -> _State:
        shared = 0
        for a, b in zip(first.guard, second.guard, strict=False):
            if a != b:
                break
            shared += 1
        condition, opposite = _all(first.guard[shared:]), _all(second.guard[shared:])
        environment = second.environment
        for key, value in first.environment.items():
            other = environment.get(key)
            if other is value:
                continue
            checkpoint()
            if other is None:
                environment[key] = value
            else:
                environment[key] = self.expressions.kept(choose(condition, value, other, self.facts))
        guard = first.guard[:shared]
        if opposite != algebra.negated(condition) and condition != algebra.negated(opposite):
            reached = algebra.either(condition, opposite)
            guard = guard if reached == ONE else (*guard, reached)
        return _State(environment, guard)

    def _switch(self, it: ir.Switch, state: _State) -> _State | None:
        value = self.expressions.scalar(it.value)
        self._breaking.append([])
        falling: _State | None = None
        seen: list[Polynomial] = []
        untouched = state.copy()
        for case in it.cases:
            matches = ZERO
            for label in case.values:
                equal = algebra.equal(value, Polynomial.constant(label), self.facts)
                matches = algebra.either(matches, equal)
            if case.is_default:
                labels = [label for other in it.cases for label in other.values]
                others = ONE
                for label in labels:
                    equal = algebra.equal(value, Polynomial.constant(label), self.facts)
                    others = algebra.both(others, algebra.negated(equal))
                matches = algebra.either(matches, others)
            seen.append(matches)
            entering = None
            if matches != ZERO:
                entering = untouched.copy()
                entering.guard = (*entering.guard, *(() if matches == ONE else (matches,)))
            arrivals = [arriving for arriving in (entering, falling) if arriving is not None]
            if not arrivals:
                self.unreached(case.body, untouched)
            falling = self.block(case.body, self._joined(arrivals))
        ends = self._breaking.pop()
        if falling is not None:
            ends.append(falling)
        if not any(case.is_default for case in it.cases):
            rest = ONE
            for matches in seen:
                rest = algebra.both(rest, algebra.negated(matches))
            if rest != ZERO:
                untouched.guard = (*untouched.guard, *(() if rest == ONE else (rest,)))
                ends.append(untouched)
        return self._joined(ends)

    def _break(self, it: ir.Break, state: _State) -> None:
        if self._breaking:
            self._breaking[-1].append(state)

    def _continue(self, it: ir.Continue, state: _State) -> None:
        if self._continuing:
            self._continuing[-1].append(state)

    def _return(self, it: ir.Return, state: _State) -> None:
        return None

    def _scope(self, it: ir.Scope, state: _State) -> _State | None:
        self._leaving[it.label] = []
        end = self.block(it.body, state)
        ends = []
        for left, nest in self._leaving.pop(it.label):
            loops_left = frozenset(nest[len(self.nest) :])
            ends.append(self._outside(left, loops_left) if loops_left else left)
        if end is not None:
            ends.append(end)
        return self._joined(ends)

    def _leave(self, it: ir.Leave, state: _State) -> None:
        if it.label in self._leaving:
            self._leaving[it.label].append((state, self.nest))

    def _outside(self, state: _State, turns: frozenset[LoopSymbol]) -> _State:
        """Return a state as seen after loops that were left in some turn: what held in it is not known."""
        reason = "it depends on the iteration in which a loop was left"
        environment: Environment = {}
        for key, value in state.environment.items():
            environment[key] = value
            leaves = leaves_of_value(value)
            if not turns.isdisjoint(leaves):
                kept = leaves - turns
                kind = key.type if isinstance(key, Variable) else None
                if isinstance(value, Polynomial) or kind is None:
                    environment[key] = self.expressions.unknown(reason, kept)
                else:
                    environment[key] = self.expressions.nothing_known(kind, reason)
        guard = tuple(
            part if turns.isdisjoint(part.leaves) else self.expressions.unknown(reason, part.leaves - turns)
            for part in state.guard
        )
        return _State(environment, guard)

    # -------------------------------------------------------------------------------------- loops

    def _loop(self, it: ir.Loop, state: _State) -> _State | None:
        from clmap_lsp.access.looping import read_loop

        if self._unsettled and any(isinstance(one, ir.Label) for one in ir.walk((it,))):
            state = _State(state.environment, (self.expressions.unknown("a jump may lead into the loop"),))
        return read_loop(self, it, state)

    def _fresh(self) -> int:
        self._identities += 1
        return self._identities

    def _symbol(
        self,
        name: str,
        *,
        trip: Polynomial | None = None,
        start: Polynomial | None = None,
        step: Polynomial | None = None,
        span: object = None,
    ) -> LoopSymbol:
        return LoopSymbol(self._fresh(), name, start, step, trip, span=span)  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------------ emission

    def _emit(self, what: _Touch, address: Address, state: _State) -> None:
        if self.quiet:
            return
        for pointer, guard in _choices(address, state.guard):
            self.accesses.append(self._access(what, pointer, guard))

    def _access(self, what: _Touch, pointer: Pointer, guard: tuple[Polynomial, ...]) -> Access:
        unit, index = _in_elements(pointer.offset, what.type)
        unknown = pointer.reason or None
        if unknown is None:
            unknowns = [leaf for leaf in pointer.offset.leaves if isinstance(leaf, Unknown)]
            unknown = min(unknowns, key=lambda it: it.identity).reason if unknowns else None
        return Access(
            site=what.site,
            span=what.statement.span,
            frames=self.kernel.frames.get(what.site, ()),
            buffer=pointer.root.name if pointer.root is not None else "?",
            root=pointer.root,
            space=pointer.space,
            direction=what.direction,
            type=what.type,
            size=what.size,
            offset=pointer.offset,
            index=index,
            unit=unit,
            alignment=what.alignment,
            subscripts=pointer.subscripts,
            within=pointer.within,
            loops=self.nest,
            guard=guard,
            names=self.names,
            unknown=unknown,
            sources=self._sources(what, pointer, unknown is not None),
            cooperative=isinstance(what.statement, ir.AsyncCopy),
            volatile=isinstance(what.statement, (ir.Load, ir.Store)) and what.statement.is_volatile,
        )

    def _sources(self, what: _Touch, address: Pointer, is_unknown: bool) -> tuple[str, ...]:
        """Return the buffers behind an address that does not name them; empty where some have no name."""
        private = any(isinstance(leaf, Indirect) and leaf.private for leaf in address.offset.leaves)
        if address.root is None or not (is_unknown or private):
            return ()
        pointers = (it.pointer for it in ir.touches(what.statement) if it.site == what.site)
        pointer = next(pointers, None)
        return () if pointer is None else origins_of(self.kernel).of(pointer) or ()


@dataclass(frozen=True, slots=True)
class _Touch:
    """What a statement does to memory at one site; `size` and `alignment` in bytes."""

    statement: Statement
    site: int
    direction: Direction
    type: Type
    size: int
    alignment: int


def _is_sampled(statement: Statement) -> bool:
    """True for a read of an image at a place that floats say."""
    return isinstance(statement, ir.ImageRead) and asks_sampler(statement)


def _is_id(value: ir.Expression) -> bool:
    """True for an id of the work-item, whose name is of use even where its value is not."""
    return isinstance(value.operand if isinstance(value, ir.Convert) else value, ir.WorkItem)


def _in_elements(offset: Polynomial, kind: Type) -> tuple[int, Polynomial]:
    """Return the largest unit (bytes) of a type that the offset is a multiple of, and the multiple."""
    for unit in (kind.size, element_of(kind).size):
        if unit > 1 and (index := _in_units(offset, unit)) is not None:
            return unit, index
    return 1, offset


def _in_units(offset: Polynomial, unit: int) -> Polynomial | None:
    return offset if unit == 1 else offset.exact_quotient(Polynomial.constant(unit))


def _choices(
    address: Address, guard: tuple[Polynomial, ...]
) -> Iterable[tuple[Pointer, tuple[Polynomial, ...]]]:
    """Yield the places that an address may name; nothing is accessed where it would be null."""
    if isinstance(address, Pointer):
        yield address, guard
        return
    places = [it for it in (address.if_true, address.if_false) if is_null(it)]
    if len(places) == 1:
        yield from _choices(address.if_false if places[0] is address.if_true else address.if_true, guard)
        return
    yield from _choices(address.if_true, (*guard, algebra.as_truth(address.condition)))
    yield from _choices(address.if_false, (*guard, algebra.negated(algebra.as_truth(address.condition))))


def _all(conditions: tuple[Polynomial, ...]) -> Polynomial:
    result = ONE
    for condition in conditions:
        result = algebra.both(result, condition)
    return result


def _is_of_one_item(root: Variable) -> bool:
    return root.kind is VariableKind.PRIVATE_OBJECT


def _is_read_only(root: Variable, space: AddressSpace) -> bool:
    kind = root.type
    if root.kind is VariableKind.CONSTANT_OBJECT:  # OpenCL 2.0 has them in global memory as well.
        return space is AddressSpace.CONSTANT
    return isinstance(kind, PointerType) and (kind.is_const or kind.space is AddressSpace.CONSTANT)


def _members(kind: Type, prefix: str = "", offset: int = 0) -> Iterable[tuple[str, int, Type]]:
    """Yield (path, byte offset, type) of the scalar and vector members of a struct."""
    if isinstance(kind, StructType):
        for member in kind.fields:
            name = f"{prefix}.{member.name}" if member.name else prefix
            yield from _members(member.type, name, offset + member.offset)
    elif isinstance(kind, ArrayType) and (kind.length or 0) <= LONGEST:
        for place in range(kind.length or 0):
            yield from _members(kind.element, f"{prefix}[{place}]", offset + place * kind.element.size)
    elif isinstance(kind, (ScalarType, VectorType)):
        yield prefix, offset, kind


@per_kernel
def _changed_by_jumps(kernel: Kernel) -> frozenset[Variable]:
    """Return the registers that may hold something else at a label, as it was reached; empty without labels.

    Those that the outermost block assigns once, before any jump or label, do.
    """
    if not any(isinstance(it, ir.Label) for it in ir.walk(kernel.body)):
        return frozenset()
    times = Counter(variable for it in ir.walk(kernel.body) for variable in ir.written(it))
    settled: set[Variable] = set()
    for statement in kernel.body:
        if any(isinstance(it, ir.Label | ir.Goto) for it in ir.walk((statement,))):
            break
        settled.update(it for it in ir.written(statement) if times[it] == 1)
    return frozenset(it for it in times if it not in settled and not it.is_object)


@per_kernel
def _survey(kernel: Kernel) -> tuple[bool, int]:
    """Return (whether some float becomes an integer or the place of a texel, the dimensions asked about)."""
    becomes, highest = any(map(_is_sampled, ir.walk(kernel.body))), 1
    for node in ir.all_expressions(kernel.body):
        if isinstance(node, ir.Convert):
            source, target = element_of(node.operand.type), element_of(node.type)
            if isinstance(source, ScalarType) and isinstance(target, ScalarType):
                becomes = becomes or (source.is_float and not target.is_float)
        elif isinstance(node, ir.WorkItem) and isinstance(node.dimension, ir.Constant):
            highest = max(highest, min(int(node.dimension.value) + 1, 3))
    return becomes, highest


_HANDLERS: Final[Mapping[type, Callable[..., _State | None]]] = {
    ir.Declare: _Reader._declare,
    ir.Assign: _Reader._assign,
    ir.Load: _Reader._load,
    ir.Store: _Reader._store,
    ir.CopyObject: _Reader._copy_object,
    ir.Atomic: _Reader._atomic,
    ir.AsyncCopy: _Reader._async_copy,
    ir.WaitEvents: _Reader._nothing,
    ir.Barrier: _Reader._nothing,
    ir.Fence: _Reader._nothing,
    ir.ImageRead: _Reader._image_read,
    ir.ImageWrite: _Reader._image_write,
    ir.Collective: _Reader._collective,
    ir.Print: _Reader._nothing,
    ir.Call: _Reader._collective,
    ir.OpaqueCall: _Reader._collective,
    ir.Unsupported: _Reader._unsupported,
    ir.If: _Reader._if,
    ir.Loop: _Reader._loop,
    ir.Switch: _Reader._switch,
    ir.Break: _Reader._break,
    ir.Continue: _Reader._continue,
    ir.Return: _Reader._return,
    ir.Scope: _Reader._scope,
    ir.Leave: _Reader._leave,
    ir.Label: _Reader._label,
    ir.Goto: _Reader._goto,
}
