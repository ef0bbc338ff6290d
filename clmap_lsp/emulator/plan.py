"""What must be known about a kernel before code can be made for it.

Every memory object and pointer argument gets a number, the *buffer number*; number 0 is the null pointer. The
plan also says which buffer a pointer variable always points into, where that is so: nearly every access then
has its bounds and base in registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.group_functions import may_diverge
from clmap_lsp.emulator.layout import (
    ALL_WORDS,
    KIND_CONSTANT,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_PRIVATE,
    PLAIN_WORDS,
    WRITTEN_WORDS,
)
from clmap_lsp.source.ir import (
    Assign,
    AsyncCopy,
    Atomic,
    Barrier,
    BarrierScope,
    Collective,
    Constant,
    CopyObject,
    Expression,
    Fence,
    FieldAddress,
    ImageRead,
    ImageWrite,
    Kernel,
    Load,
    ObjectAddress,
    PointerCast,
    PointerOffset,
    Read,
    Select,
    Statement,
    Store,
    Variable,
    VariableKind,
    expressions,
    operands,
    touches,
    walk,
    written,
)
from clmap_lsp.source.types import AddressSpace, OpaqueType, PointerType

NULL = 0


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """One buffer: a pointer argument, an image, or a memory object of the program."""

    number: int
    variable: Variable
    kind: int
    """One of the `KIND_` numbers."""
    size: int
    """Bytes; 0 for arguments, whose size the launch says."""
    is_argument: bool
    private_offset: int = 0
    """Of a private object, inside the private part of the frame."""

    @property
    def is_image(self) -> bool:
        """True if its elements are texels."""
        return isinstance(self.variable.type, OpaqueType) and self.variable.type.is_image


@dataclass(frozen=True, slots=True)
class Plan:
    """The buffers of a kernel and what its pointers point into."""

    kernel: Kernel
    buffers: tuple[BufferPlan, ...]
    numbers: Mapping[Variable, int]
    targets: Mapping[Variable, int | None]
    """For pointer variables: the one buffer they point into, or None."""
    written: frozenset[int] | None
    """Buffers that the kernel may write; None where a store's target is not known."""
    read: frozenset[int] | None
    """Likewise those that it may read."""
    private_bytes: int
    max_events: int
    """Most trace entries that a work-item can make between two loop heads or labels."""
    granule: int
    """Bytes: every access's size and alignment is a multiple of it."""
    granules: Mapping[int, int]
    """Likewise for each buffer, by number, where its accesses are known."""
    has_atomics: bool
    has_sub_group_barriers: bool
    has_orders: bool
    """Whether atomics may order what work-items do: one or a fence releases, and one or a fence acquires."""
    has_divergent_calls: bool = False
    """Whether it has calls of sub-groups to which not all work-items need to come."""
    assigned: frozenset[Variable] = field(default_factory=frozenset)
    """Variables with an assignment, a load or another write."""

    def cell_words(self, number: int) -> int:
        """Return the words of a buffer's cells of shadow."""
        if self.has_atomics:
            return ALL_WORDS
        return PLAIN_WORDS if self.read is None or number in self.read else WRITTEN_WORDS


def make_plan(kernel: Kernel) -> Plan:
    """Look through a kernel once."""
    statements = tuple(walk(kernel.body))
    buffers, private_bytes = _buffers(kernel, statements)
    numbers = {it.variable: it.number for it in buffers}
    assigned = frozenset(it for statement in statements for it in written(statement))
    targets = _targets(kernel, statements, numbers)
    granules = _granules(statements, numbers, targets)
    return Plan(
        kernel=kernel,
        buffers=buffers,
        numbers=numbers,
        targets=targets,
        written=_written(statements, numbers, targets),
        read=_read(statements, numbers, targets),
        private_bytes=private_bytes,
        max_events=sum(_traced(it) for it in statements) + 2,
        granule=min(granules.values(), default=16),
        granules={it.number: granules.get(it.number, 16) for it in buffers},
        has_atomics=any(isinstance(it, Atomic) for it in statements),
        has_sub_group_barriers=any(
            isinstance(it, Barrier) and it.scope is BarrierScope.SUB_GROUP for it in statements
        ),
        has_orders=_has_orders(statements),
        has_divergent_calls=any(isinstance(it, Collective) and may_diverge(it.name) for it in statements),
        assigned=assigned,
    )


def _has_orders(statements: tuple[Statement, ...]) -> bool:
    orders = [it.order for it in statements if isinstance(it, Atomic | Fence)]
    has_atomics = any(isinstance(it, Atomic) for it in statements)
    return has_atomics and any(it.acquires for it in orders) and any(it.releases for it in orders)


def _traced(statement: Statement) -> int:
    """Return the most trace entries that a work-item makes in a statement."""
    if isinstance(statement, ImageRead):
        return 8  # The corners of a cube of texels, with linear filtering.
    traced = isinstance(statement, Load | Store | CopyObject | Atomic | AsyncCopy | ImageWrite)
    return 2 if traced else 0


def _buffers(kernel: Kernel, statements: tuple[Statement, ...]) -> tuple[tuple[BufferPlan, ...], int]:
    found: list[BufferPlan] = []
    private_bytes = 0

    def add(variable: Variable, kind: int, size: int, *, argument: bool = False, offset: int = 0) -> None:
        found.append(BufferPlan(len(found) + 1, variable, kind, size, argument, offset))

    for parameter in kernel.parameters:
        match parameter.type:
            case PointerType(space=space):
                add(parameter, _kind(space), 0, argument=True)
            case OpaqueType() as opaque if opaque.is_image:
                add(parameter, KIND_GLOBAL, 0, argument=True)
    addressed: dict[Variable, AddressSpace] = {}
    for statement in statements:
        for expression in expressions(statement):
            addressed.update(_addressed(expression))
    for constant in kernel.constants:
        add(constant, _kind(addressed.get(constant, AddressSpace.CONSTANT)), constant.type.size)
    objects = {it for it in kernel.variables if it.is_object} | set(addressed)
    known = {it.variable for it in found}
    for variable in sorted(objects - known, key=lambda it: (it.span.start, it.name)):
        size = max(variable.type.size, 1)
        if variable.kind is VariableKind.LOCAL_OBJECT:
            add(variable, KIND_LOCAL, size)
        elif variable.kind is VariableKind.CONSTANT_OBJECT:
            add(variable, KIND_CONSTANT, size)
        else:
            private_bytes = -(-private_bytes // 16) * 16
            add(variable, KIND_PRIVATE, size, offset=private_bytes)
            private_bytes += size
    return tuple(found), -(-private_bytes // 16) * 16


def _kind(space: AddressSpace) -> int:
    return {AddressSpace.LOCAL: KIND_LOCAL, AddressSpace.CONSTANT: KIND_CONSTANT}.get(space, KIND_GLOBAL)


def _addressed(expression: Expression) -> dict[Variable, AddressSpace]:
    """Return the objects whose addresses stand in an expression, and where they live."""
    if isinstance(expression, ObjectAddress):
        return {expression.variable: expression.type.space}
    return {it: space for operand in operands(expression) for it, space in _addressed(operand).items()}


# --------------------------------------------------------------------------------------- pointer targets

_ANY = -1


def _targets(
    kernel: Kernel, statements: tuple[Statement, ...], numbers: Mapping[Variable, int]
) -> dict[Variable, int | None]:
    """Flow-insensitive: a pointer variable has a target if every value it gets points into that buffer."""
    found: dict[Variable, int | None] = {
        it: numbers[it] for it in kernel.parameters if isinstance(it.type, PointerType)
    }
    assigns = [
        it for it in statements if isinstance(it, Assign) and isinstance(it.variable.type, PointerType)
    ]
    for statement in statements:
        for variable in written(statement):
            if isinstance(variable.type, PointerType) and not isinstance(statement, Assign):
                found[variable] = _ANY
    changed = True
    while changed:
        changed = False
        for assign in assigns:
            target = pointer_target(assign.value, found, numbers)
            merged = _meet(found.get(assign.variable), target)
            if merged != found.get(assign.variable):
                found[assign.variable] = merged
                changed = True
    return {variable: None if target == _ANY else target for variable, target in found.items()}


def _meet(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return first if first == second else _ANY


def pointer_target(
    expression: Expression, targets: Mapping[Variable, int | None], numbers: Mapping[Variable, int]
) -> int | None:
    """Return the buffer that an address points into; None while unknown, -1 for several or any."""
    match expression:
        case Read(variable=variable):
            return targets.get(variable)
        case ObjectAddress(variable=variable):
            return numbers[variable]
        case PointerOffset(pointer=pointer) | FieldAddress(pointer=pointer):
            return pointer_target(pointer, targets, numbers)
        case PointerCast(or_null=True):
            return _ANY
        case PointerCast(operand=operand) if isinstance(operand.type, PointerType):
            return pointer_target(operand, targets, numbers)
        case PointerCast(operand=Constant(value=0)) | Constant(value=0):
            return NULL
        case Select(if_true=if_true, if_false=if_false):
            first = pointer_target(if_true, targets, numbers)
            return _meet(first, pointer_target(if_false, targets, numbers))
        case _:
            return _ANY


def _written(
    statements: tuple[Statement, ...], numbers: Mapping[Variable, int], targets: Mapping[Variable, int | None]
) -> frozenset[int] | None:
    written: set[int] = set()
    for statement in statements:
        match statement:
            case Store(pointer=address) | Atomic(pointer=address):
                pass
            case CopyObject(destination=address) | AsyncCopy(destination=address):
                pass
            case ImageWrite(image=address):
                pass
            case _:
                continue
        target = pointer_target(address, targets, numbers)
        if isinstance(address, Read) and isinstance(address.type, OpaqueType):
            target = numbers.get(address.variable)
        if target is None or target == _ANY:
            return None
        written.add(target)
    return frozenset(written)


def _read(
    statements: tuple[Statement, ...], numbers: Mapping[Variable, int], targets: Mapping[Variable, int | None]
) -> frozenset[int] | None:
    images = {number for it, number in numbers.items() if isinstance(it.type, OpaqueType)}
    addresses = [it.pointer for statement in statements for it in touches(statement) if it.op != "store"]
    found = {pointer_target(it, targets, numbers) for it in addresses}
    return None if found & {None, _ANY} else frozenset(it for it in found | images if it is not None)


def _granules(
    statements: tuple[Statement, ...], numbers: Mapping[Variable, int], targets: Mapping[Variable, int | None]
) -> dict[int, int]:
    """Return for each buffer the largest power of two up to 16 that divides sizes and steps of its accesses.

    Accesses whose buffer is not known count for all; their own entry is that of no buffer.
    """
    found: dict[int, int] = {}
    for statement in statements:
        for touch in touches(statement):
            target = pointer_target(touch.pointer, targets, numbers)
            number = _ANY if target is None else target
            unit = min(_low_bit(touch.size), _low_bit(touch.alignment), found.get(number, 16))
            found[number] = unit
    anywhere = found.get(_ANY, 16)
    everywhere = {number: min(unit, anywhere) for number, unit in found.items()}
    return {**dict.fromkeys(numbers.values(), anywhere), **everywhere}


def _low_bit(value: int) -> int:
    return value & -value if value else 16
