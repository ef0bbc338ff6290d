"""The typed kernel IR: the one structure that every other room reads.

Shape. A function body is a block of statements. *Expressions are pure*: they read variables, never memory,
and have no side effects, so an analysis may evaluate one any number of times. Everything that touches
memory or calls is a statement of its own, in C's evaluation order, with a `site`: a number that is unique
within one `Kernel` and that static counts, traces and findings share. `a[i++] += *p` becomes a load of `*p`,
a load of `a[i]`, an assignment to `i` and a store; a load on the right of `&&` stands inside an `If`.

Conversions are explicit: both operands of a `Binary` have the type of the result, shift counts included.
Types of comparison results: `int` for scalars, the signed integer vector of the same width for vectors
(0 or -1 a lane).

Memory objects (local arrays, private arrays and structs, program-scope constants) are reached by
`ObjectAddress`; scalars, vectors and pointers whose address is never taken are plain variables, read by
`Read` and written by `Assign`.

Addresses are built from `ObjectAddress` or a pointer variable with `PointerOffset` (pointer + index *
stride bytes; one node for each subscript, so that `t[ly][lx]` keeps its two dimensions) and `FieldAddress`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from operator import attrgetter
from typing import Any, TypeVar

from clmap_lsp.dataclass import record
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import Field, PointerType, ScalarType, Type, VectorType

# --------------------------------------------------------------------------------------------- variables


class VariableKind(Enum):
    """What holds a variable's value."""

    PARAMETER = "parameter"
    """A kernel or function argument. Struct parameters are memory objects."""
    REGISTER = "register"
    """A private scalar, vector or pointer whose address is never taken."""
    PRIVATE_OBJECT = "private object"
    """A private array or struct, or a private scalar whose address is taken."""
    LOCAL_OBJECT = "local object"
    """A `__local` variable of a kernel: one per work-group."""
    CONSTANT_OBJECT = "constant object"
    """A program-scope `__constant` (or OpenCL 2.0 `__global`) variable."""


@record(frozen=True, slots=True, eq=False)
class Variable:
    """A named (or temporary) value. Two variables are equal only if they are the same object."""

    name: str
    type: Type
    kind: VariableKind
    span: Span
    is_temporary: bool = False

    @property
    def is_object(self) -> bool:
        """True if it lives in memory and is reached by `ObjectAddress`."""
        return self.kind in _OBJECT_KINDS

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.type} {self.name}>"


_OBJECT_KINDS = (VariableKind.PRIVATE_OBJECT, VariableKind.LOCAL_OBJECT, VariableKind.CONSTANT_OBJECT)

# ------------------------------------------------------------------------------------------- expressions


class WorkItemQuery(Enum):
    """The work-item functions; the value is the OpenCL name."""

    WORK_DIM = "get_work_dim"
    GLOBAL_SIZE = "get_global_size"
    GLOBAL_ID = "get_global_id"
    LOCAL_SIZE = "get_local_size"
    ENQUEUED_LOCAL_SIZE = "get_enqueued_local_size"
    LOCAL_ID = "get_local_id"
    NUM_GROUPS = "get_num_groups"
    GROUP_ID = "get_group_id"
    GLOBAL_OFFSET = "get_global_offset"
    GLOBAL_LINEAR_ID = "get_global_linear_id"
    LOCAL_LINEAR_ID = "get_local_linear_id"
    SUB_GROUP_SIZE = "get_sub_group_size"
    MAX_SUB_GROUP_SIZE = "get_max_sub_group_size"
    NUM_SUB_GROUPS = "get_num_sub_groups"
    ENQUEUED_NUM_SUB_GROUPS = "get_enqueued_num_sub_groups"
    SUB_GROUP_ID = "get_sub_group_id"
    SUB_GROUP_LOCAL_ID = "get_sub_group_local_id"


class UnaryOp(Enum):
    """Operators of one operand."""

    NEGATE = "-"
    BIT_NOT = "~"
    LOGICAL_NOT = "!"


class BinaryOp(Enum):
    """Arithmetic. `/` and `%` truncate; shift counts are taken modulo the width; integers wrap."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    SHL = "<<"
    SHR = ">>"
    AND = "&"
    OR = "|"
    XOR = "^"


class CompareOp(Enum):
    """Comparisons of numbers or pointers."""

    EQ = "=="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


class LogicalOp(Enum):
    """Logic on pure operands; short circuits around memory accesses are lowered to `If`."""

    AND = "&&"
    OR = "||"


@record(frozen=True, slots=True)
class Constant:
    """A literal or folded constant. Vectors are never constants: see `Convert` and `VectorLiteral`."""

    value: int | float
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Read:
    """The value of a parameter or register variable."""

    variable: Variable
    span: Span

    @property
    def type(self) -> Type:
        """The variable's type."""
        return self.variable.type


@record(frozen=True, slots=True)
class ObjectAddress:
    """The address of a memory object's first byte."""

    variable: Variable
    type: PointerType
    span: Span


@record(frozen=True, slots=True)
class WorkItem:
    """A work-item function; `dimension` is `None` for those without one. A `size_t` or `uint`."""

    query: WorkItemQuery
    dimension: Expression | None
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Unary:
    """One operand. `LOGICAL_NOT` yields int (vectors: 0 or -1 a lane)."""

    op: UnaryOp
    operand: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Binary:
    """Two operands, both of type `type`."""

    op: BinaryOp
    left: Expression
    right: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Compare:
    """Two operands of one type; yields int, or an integer vector of 0 and -1."""

    op: CompareOp
    left: Expression
    right: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Logical:
    """Both operands are pure, so that evaluating both is allowed; yields int."""

    op: LogicalOp
    left: Expression
    right: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Select:
    """`condition ? if_true : if_false`. With a vector condition, by lane on the sign bit."""

    condition: Expression
    if_true: Expression
    if_false: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Convert:
    """A value conversion: casts, implicit ones, `convert_T_sat_rte`; a scalar to a vector splats."""

    operand: Expression
    type: Type
    span: Span
    rounding: str | None = None
    """`rte`, `rtz`, `rtp`, `rtn` or `None` for the default (rtz to integers, rte to floats)."""
    saturate: bool = False


@record(frozen=True, slots=True)
class Reinterpret:
    """`as_T(x)`: the same bits read as another type of the same size."""

    operand: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class PointerCast:
    """A cast between pointer types, or between pointers and integers."""

    operand: Expression
    type: Type
    span: Span
    or_null: bool = False
    """`to_global(p)` and its kin: null for pointers that lead into another address space."""


@record(frozen=True, slots=True)
class VectorLiteral:
    """`(float4)(a, b, c, d)`; parts are scalars or vectors of the element type whose lanes add up."""

    parts: tuple[Expression, ...]
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Swizzle:
    """`v.xy`, `v.s3`, `v.lo`: the listed lanes; one lane gives a scalar."""

    operand: Expression
    lanes: tuple[int, ...]
    type: Type
    span: Span


@record(frozen=True, slots=True)
class InsertLanes:
    """`vector` with the listed lanes replaced by those of `value` (a scalar for one lane)."""

    vector: Expression
    lanes: tuple[int, ...]
    value: Expression
    type: Type
    span: Span


@record(frozen=True, slots=True)
class PointerOffset:
    """`pointer + index * stride` bytes. `index` is a signed or unsigned integer of any width."""

    pointer: Expression
    index: Expression
    stride: int
    type: Type
    span: Span


@record(frozen=True, slots=True)
class FieldAddress:
    """The address of a member of the struct that `pointer` points to."""

    pointer: Expression
    field: Field
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Builtin:
    """A pure built-in function (math, integer, common, geometric, relational, image queries)."""

    name: str
    arguments: tuple[Expression, ...]
    type: Type
    span: Span


@record(frozen=True, slots=True)
class Undefined:
    """A value that cannot be known from the source: an undefined name, a result of an unknown function."""

    name: str
    type: Type
    span: Span


Expression = (
    Constant
    | Read
    | ObjectAddress
    | WorkItem
    | Unary
    | Binary
    | Compare
    | Logical
    | Select
    | Convert
    | Reinterpret
    | PointerCast
    | VectorLiteral
    | Swizzle
    | InsertLanes
    | PointerOffset
    | FieldAddress
    | Builtin
    | Undefined
)

# -------------------------------------------------------------------------------------------- statements

Site = int
Block = tuple["Statement", ...]


@record(frozen=True, slots=True)
class Declare:
    """The lifetime of a variable starts: its value is undefined until it is written."""

    variable: Variable
    span: Span


@record(frozen=True, slots=True)
class Assign:
    """Write a register variable."""

    variable: Variable
    value: Expression
    span: Span


@record(frozen=True, slots=True)
class Load:
    """Read `size` bytes at `pointer` into a register variable.

    `size` is the bytes read: that of the variable's type, but 3 elements for `vload3`. `alignment` is what
    OpenCL promises or demands of the address: the element's for `vloadN`, the type's for a dereference.
    """

    site: Site
    variable: Variable
    pointer: Expression
    size: int
    alignment: int
    span: Span
    is_volatile: bool = False
    bits: int | None = None
    """The bits that are asked for of a bit-field's unit; 0 where a store keeps those around its own."""


@record(frozen=True, slots=True)
class Component:
    """Where in a vector a store of some components writes: from lane `first` on."""

    vector: VectorType
    first: int


@record(frozen=True, slots=True)
class Store:
    """Write `size` bytes of `value` at `pointer`; `size` and `alignment` as in `Load`.

    `component` is set where the source writes components of a vector in memory (`A[x].s3 = 1`), which
    compilers do by writing the whole vector back.
    """

    site: Site
    pointer: Expression
    value: Expression
    size: int
    alignment: int
    span: Span
    is_volatile: bool = False
    component: Component | None = None
    bits: int | None = None
    """The bits that change, where that is a bit-field."""


@record(frozen=True, slots=True)
class CopyObject:
    """Copy a struct or array of `type`: one load at `source` (`load_site`) and one store (`store_site`)."""

    load_site: Site
    store_site: Site
    destination: Expression
    source: Expression
    type: Type
    span: Span


class AtomicOp(Enum):
    """What an atomic does with the old value and its operand."""

    LOAD = "load"
    STORE = "store"
    ADD = "add"
    SUB = "sub"
    INC = "inc"
    DEC = "dec"
    EXCHANGE = "xchg"
    COMPARE_EXCHANGE = "cmpxchg"
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"
    XOR = "xor"


@record(frozen=True, slots=True)
class Ordering:
    """What an atomic, or a fence, orders besides its own access (OpenCL C 3.0, section 6.15.12)."""

    acquires: bool = False
    releases: bool = False
    is_wide: bool = False
    """Between work-groups too: of scope device or all devices."""


RELAXED = Ordering()


@record(frozen=True, slots=True)
class Atomic:
    """A read-modify-write; the old value goes to `variable` if there is one.

    `COMPARE_EXCHANGE` has the operands (expected, desired).
    """

    site: Site
    variable: Variable | None
    op: AtomicOp
    pointer: Expression
    operands: tuple[Expression, ...]
    type: ScalarType
    span: Span
    order: Ordering = RELAXED


@record(frozen=True, slots=True)
class AsyncCopy:
    """`async_work_group_copy` (or `_strided_copy`): `count` elements of `element`, by the whole group.

    `stride` (elements) applies to the global side and is `None` for the plain copy; `joins` is the event of
    earlier copies that this one is to be waited for with, `None` where it is no event (a plain 0).
    `_2D2D` and `_3D3D` copy `count` elements in each line and have a `box`: lines in a plane, planes, the
    source's elements from line to line and from plane to plane, and the destination's.
    """

    load_site: Site
    store_site: Site
    event: Variable | None
    destination: Expression
    source: Expression
    count: Expression
    stride: Expression | None
    element: Type
    span: Span
    joins: Expression | None = None
    box: tuple[Expression, ...] = ()


@record(frozen=True, slots=True)
class WaitEvents:
    """`wait_group_events`: the work-group waits for `count` events from the address `events` on.

    Both are `None` in a call that no compiler would take.
    """

    site: Site
    span: Span
    count: Expression | None = None
    events: Expression | None = None


class BarrierScope(Enum):
    """Who waits."""

    WORK_GROUP = "work-group"
    SUB_GROUP = "sub-group"


@record(frozen=True, slots=True)
class Barrier:
    """`barrier`, `work_group_barrier`, `sub_group_barrier`."""

    site: Site
    scope: BarrierScope
    fences_local: bool
    fences_global: bool
    span: Span
    flags: Expression | None = None
    """Which memory is fenced, where only a run can tell: the `fences_` are true then."""
    fences_image: bool = True


@record(frozen=True, slots=True)
class Fence:
    """`mem_fence`, `read_mem_fence`, `write_mem_fence`, `atomic_work_item_fence`: orders, does not wait."""

    site: Site
    span: Span
    order: Ordering = RELAXED


@record(frozen=True, slots=True)
class ImageRead:
    """`read_imagef/i/ui/h`; `sampler` is `None` for sampler-less reads."""

    site: Site
    variable: Variable
    image: Expression
    sampler: Expression | None
    coordinate: Expression
    span: Span


@record(frozen=True, slots=True)
class ImageWrite:
    """`write_imagef/i/ui/h`."""

    site: Site
    image: Expression
    coordinate: Expression
    value: Expression
    span: Span


@record(frozen=True, slots=True)
class Collective:
    """A sub-group or work-group function (`sub_group_reduce_add`, `work_group_broadcast`, votes)."""

    site: Site
    variable: Variable | None
    name: str
    arguments: tuple[Expression, ...]
    span: Span


@record(frozen=True, slots=True)
class Print:
    """`printf`."""

    site: Site
    format: str
    arguments: tuple[Expression, ...]
    span: Span


@record(frozen=True, slots=True)
class Call:
    """A call of a function of the program. Struct arguments are passed as their address and copied in.

    Only `Function` bodies hold calls; `Kernel` bodies have them inlined as `Scope`.
    """

    site: Site
    variable: Variable | None
    function: str
    arguments: tuple[Expression, ...]
    span: Span


ASSEMBLY = "inline assembly"
"""Why inline assembly is opaque: its results are made of its operands in a way that is not followed."""

INLINING_STOPS = "inlining stops"
"""How the reason begins why a call is opaque of a function that is defined, in a kernel that is too long."""

RECURSION = "recursion"
"""Why a call of a function inside of itself is opaque."""


@record(frozen=True, slots=True)
class OpaqueCall:
    """A call whose callee is not known: its result is unknown and it may write what its pointers reach."""

    site: Site
    variable: Variable | None
    name: str
    arguments: tuple[Expression, ...]
    span: Span
    reason: str


@record(frozen=True, slots=True)
class Unsupported:
    """A statement that was not understood. What follows may depend on it."""

    site: Site
    text: str
    reason: str
    span: Span


@record(frozen=True, slots=True)
class If:
    """`condition` is a scalar; non-zero is true."""

    condition: Expression
    then: Block
    otherwise: Block
    span: Span


@record(frozen=True, slots=True)
class Loop:
    """`for`, `while` and `do`.

    Each turn runs `test`, then leaves if `condition` is zero (`None`: never leaves here), then `body`, then
    `step` (where `continue` goes). With `tests_first` false the first turn starts at `body`. A `for` loop's
    initialisation stands before the loop. `variable` names the induction variable where `step` shows one.
    """

    test: Block
    condition: Expression | None
    body: Block
    step: Block
    tests_first: bool
    span: Span
    unroll: int | None = None
    """From `#pragma unroll N`; 0 for one without a number."""


@record(frozen=True, slots=True)
class SwitchCase:
    """Statements that start at a label; `values` empty means `default`. Control falls through to the next."""

    values: tuple[int, ...]
    is_default: bool
    body: Block


@record(frozen=True, slots=True)
class Switch:
    """`Break` leaves it."""

    value: Expression
    cases: tuple[SwitchCase, ...]
    span: Span


@record(frozen=True, slots=True)
class Break:
    """Leave the innermost `Loop` or `Switch`."""

    span: Span


@record(frozen=True, slots=True)
class Continue:
    """Go to the `step` of the innermost `Loop`."""

    span: Span


@record(frozen=True, slots=True)
class Return:
    """End the work-item (in a `Kernel`) or the function (in a `Function`, with its value)."""

    value: Expression | None
    span: Span


@record(frozen=True, slots=True)
class Scope:
    """An inlined call, or what stands between a `goto` and its label.

    `Leave(label)` inside it goes to its end, where the result of a call is in a variable. `break` and
    `continue` may lead out of the second kind.
    """

    label: int
    body: Block
    function: str
    """Empty where none was called."""
    span: Span


@record(frozen=True, slots=True)
class Leave:
    """Go to the end of the enclosing `Scope` with this label."""

    label: int
    span: Span


@record(frozen=True, slots=True)
class Label:
    """The target of a `Goto`; it stands anywhere in the function.

    In kernels it stays where no `Scope` or `Loop` can stand for the jumps to it.
    """

    name: str
    span: Span


@record(frozen=True, slots=True)
class Goto:
    """Jump to a `Label` of the same function."""

    name: str
    span: Span


Statement = (
    Declare
    | Assign
    | Load
    | Store
    | CopyObject
    | Atomic
    | AsyncCopy
    | WaitEvents
    | Barrier
    | Fence
    | ImageRead
    | ImageWrite
    | Collective
    | Print
    | Call
    | OpaqueCall
    | Unsupported
    | If
    | Loop
    | Switch
    | Break
    | Continue
    | Return
    | Scope
    | Leave
    | Label
    | Goto
)

# ----------------------------------------------------------------------------------------------- program


class Severity(Enum):
    """How much a problem or finding matters; `HINT` is shown faintly and never fails a check."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


@record(frozen=True, slots=True)
class Problem:
    """Something in the source that could not be read as it stands, with its cure where there is one."""

    code: str
    """`syntax-error`, `missing-include`, `undefined-name`, `unknown-function`, `recursion`, …"""
    severity: Severity
    message: str
    span: Span
    related: tuple[tuple[Span, str], ...] = ()


@record(frozen=True, slots=True)
class Guess:
    """A value or role that was given to an undefined name so that analysis could go on."""

    name: str
    role: str
    """`type`, `vector type`, `constant`, `qualifier`, `attribute`, `parameters`, `helper`, …"""
    value: str | None
    span: Span


@record(frozen=True, slots=True)
class Attributes:
    """What a kernel's attributes say; `None` or empty where they say nothing."""

    reqd_work_group_size: tuple[int, int, int] | None = None
    work_group_size_hint: tuple[int, int, int] | None = None
    vec_type_hint: str | None = None
    reqd_sub_group_size: int | None = None
    others: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Function:
    """A function as written. `body` is `None` for a declaration without one."""

    name: str
    parameters: tuple[Variable, ...]
    result: Type
    body: Block | None
    variables: tuple[Variable, ...]
    """Every variable of the body, temporaries included; not the parameters."""
    is_kernel: bool
    attributes: Attributes
    name_span: Span
    span: Span


@record(frozen=True, slots=True)
class CallFrame:
    """One step of the way from a kernel to an inlined statement."""

    function: str
    call: Span


@record(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kernel:
    """A kernel with every call of a known function inlined. Sites are unique in it, from 0 without gaps."""

    name: str
    parameters: tuple[Variable, ...]
    body: Block
    variables: tuple[Variable, ...]
    constants: tuple[Variable, ...]
    """The program-scope objects that it uses."""
    attributes: Attributes
    name_span: Span
    span: Span
    n_sites: int
    frames: Mapping[Site, tuple[CallFrame, ...]] = field(default_factory=dict)
    """For sites that came out of helper functions: the calls that lead there, outermost first."""
    guesses: tuple[Guess, ...] = ()
    """What it depends on that had to be guessed."""


@record(frozen=True, slots=True)
class Initializer:
    """The bytes of a program-scope object, little-endian; `None` where an element could not be folded."""

    variable: Variable
    data: bytes | None
    addresses: tuple[tuple[int, Variable, int], ...] = ()
    """Pointers in it: the byte where one stands (zero in `data`), the object it points into, and how far."""


_Part = TypeVar("_Part")

# What each node holds, reads, writes and touches is said here, once for all rooms: a new node has its
# lines in these tables. A table is several times as fast as a chain of `match` cases.

_EXPRESSIONS: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
    Assign: lambda it: (it.value,),
    Load: lambda it: (it.pointer,),
    Store: attrgetter("pointer", "value"),
    CopyObject: attrgetter("destination", "source"),
    Atomic: lambda it: (it.pointer, *it.operands),
    AsyncCopy: lambda it: _present(it.destination, it.source, it.count, it.stride, *it.box, it.joins),
    WaitEvents: lambda it: _present(it.count, it.events),
    Barrier: lambda it: _present(it.flags),
    ImageRead: lambda it: _present(it.image, it.sampler, it.coordinate),
    ImageWrite: lambda it: (it.image, it.coordinate, it.value),
    **dict.fromkeys((Collective, Print, Call, OpaqueCall), attrgetter("arguments")),
    If: lambda it: (it.condition,),
    Loop: lambda it: _present(it.condition),
    Switch: lambda it: (it.value,),
    Return: lambda it: _present(it.value),
}

_OPERANDS: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
    **dict.fromkeys((Unary, Convert, Reinterpret, PointerCast, Swizzle), lambda it: (it.operand,)),
    **dict.fromkeys((Binary, Compare, Logical), attrgetter("left", "right")),
    Select: attrgetter("condition", "if_true", "if_false"),
    VectorLiteral: attrgetter("parts"),
    InsertLanes: attrgetter("vector", "value"),
    PointerOffset: attrgetter("pointer", "index"),
    FieldAddress: lambda it: (it.pointer,),
    Builtin: attrgetter("arguments"),
    WorkItem: lambda it: _present(it.dimension),
}

_BLOCKS: dict[type, Callable[[Any], tuple[Block, ...]]] = {
    If: attrgetter("then", "otherwise"),
    Loop: attrgetter("test", "body", "step"),
    Switch: lambda it: tuple(case.body for case in it.cases),
    Scope: lambda it: (it.body,),
}


def _present(*parts: _Part | None) -> tuple[_Part, ...]:
    return tuple(it for it in parts if it is not None)


_WRITTEN: dict[type, Callable[[Any], tuple[Variable, ...]]] = {
    **dict.fromkeys((Assign, Load, ImageRead), lambda it: (it.variable,)),
    **dict.fromkeys((Atomic, Collective, Call, OpaqueCall), lambda it: _present(it.variable)),
    AsyncCopy: lambda it: _present(it.event),
}


@record(frozen=True, slots=True)
class Touch:
    """One access of memory that a statement makes: `size` bytes at `pointer`, of a value of `type`.

    `alignment` is what OpenCL promises of the address, in bytes. Copies by the whole work-group touch one
    element at a time, each by some work-item.
    """

    site: Site
    op: str
    """`load`, `store` or `atomic`."""
    pointer: Expression
    type: Type
    size: int
    alignment: int


_TOUCHES: dict[type, Callable[[Any], tuple[Touch, ...]]] = {
    Load: lambda it: (Touch(it.site, "load", it.pointer, it.variable.type, it.size, it.alignment),),
    Store: lambda it: (Touch(it.site, "store", it.pointer, it.value.type, it.size, it.alignment),),
    Atomic: lambda it: (Touch(it.site, "atomic", it.pointer, it.type, it.type.size, it.type.size),),
    CopyObject: lambda it: _copied(it, it.type),
    AsyncCopy: lambda it: _copied(it, it.element),
}


def _copied(it: CopyObject | AsyncCopy, unit: Type) -> tuple[Touch, ...]:
    return (
        Touch(it.load_site, "load", it.source, unit, unit.size, unit.alignment),
        Touch(it.store_site, "store", it.destination, unit, unit.size, unit.alignment),
    )


_WRITTEN_THROUGH: dict[type, Callable[[Any], tuple[Expression, ...]]] = {
    **dict.fromkeys((Store, Atomic), lambda it: (it.pointer,)),
    **dict.fromkeys((CopyObject, AsyncCopy), lambda it: (it.destination,)),
    **dict.fromkeys((OpaqueCall, Call), lambda it: it.arguments),
}


def written(statement: Statement) -> tuple[Variable, ...]:
    """Return the register variables that a statement itself writes, not those of nested blocks."""
    found = _WRITTEN.get(type(statement))
    return () if found is None else found(statement)


def touches(statement: Statement) -> tuple[Touch, ...]:
    """Return the accesses of memory that a statement itself makes; images are not among them."""
    found = _TOUCHES.get(type(statement))
    return () if found is None else found(statement)


def written_through(statement: Statement) -> tuple[Expression, ...]:
    """Return the pointers through which a statement may write memory."""
    found = _WRITTEN_THROUGH.get(type(statement))
    return () if found is None else found(statement)


def sites(statement: Statement) -> tuple[Site, ...]:
    """Return the sites of a statement itself: one, two for copies, none for control flow."""
    if isinstance(statement, CopyObject | AsyncCopy):
        return statement.load_site, statement.store_site
    site = getattr(statement, "site", None)
    return () if site is None else (site,)


def expressions(statement: Statement) -> tuple[Expression, ...]:
    """Return the expressions that stand directly in a statement, not those of nested blocks."""
    parts = _EXPRESSIONS.get(type(statement))
    return () if parts is None else parts(statement)


def is_leaf(expression: Expression) -> bool:
    """Tell whether an expression is of a kind that has no operands."""
    return type(expression) not in _OPERANDS


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of an expression."""
    parts = _OPERANDS.get(type(expression))
    return () if parts is None else parts(expression)


def nodes(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all expressions inside of it. Does not recurse."""
    waiting = [expression]
    while waiting:
        top = waiting.pop()
        yield top
        parts = _OPERANDS.get(type(top))
        if parts is not None:
            waiting += parts(top)


def variables_read(expression: Expression, into: set[Variable]) -> None:
    """Add the variables that an expression reads."""
    waiting = [expression]
    while waiting:
        top = waiting.pop()
        if type(top) is Read:
            into.add(top.variable)
        elif (parts := _OPERANDS.get(type(top))) is not None:
            waiting += parts(top)


def unconverted(expression: Expression) -> Expression:
    """Return an expression without the conversions around it."""
    while isinstance(expression, Convert):
        expression = expression.operand
    return expression


def variable_of(expression: Expression) -> Variable | None:
    """Return the variable that an expression reads, conversions left out; `None` for any other expression."""
    read = unconverted(expression)
    return read.variable if isinstance(read, Read) else None


def step_of(value: Expression, variable: Variable) -> tuple[BinaryOp, Constant] | None:
    """Return what an expression does with a variable's own value and a constant, and that constant.

    The variable stands on the left where the operation is not commutative: `8 - i` is no step of `i`.
    """
    value = unconverted(value)
    if not isinstance(value, Binary):
        return None
    sides = [(value.left, value.right)]
    if value.op in (BinaryOp.ADD, BinaryOp.MUL):
        sides.append((value.right, value.left))
    for own, by in sides:
        constant = unconverted(by)
        if variable_of(own) is variable and isinstance(constant, Constant):
            return value.op, constant
    return None


def added(value: Expression, variable: Variable) -> int | None:
    """Return what an expression adds to a variable's own value, as 64 for `i + 64`, else `None`."""
    op, by = step_of(value, variable) or (None, None)
    if by is None or not isinstance(by.value, int):
        return None
    return {BinaryOp.ADD: by.value, BinaryOp.SUB: -by.value}.get(op) if op is not None else None


def blocks(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks nested directly in a statement, in the order of the source."""
    parts = _BLOCKS.get(type(statement))
    return () if parts is None else parts(statement)


def walk(block: Block) -> Iterator[Statement]:
    """Yield every statement of a block and of the blocks inside it, in source order."""
    waiting = [iter(block)]
    while waiting:
        for statement in waiting[-1]:
            yield statement
            parts = _BLOCKS.get(type(statement))
            if parts is not None:
                waiting.extend(iter(inner) for inner in reversed(parts(statement)))
                break
        else:
            waiting.pop()


def outermost_loops(block: Block) -> Iterator[Loop]:
    """Yield the loops of a block that are in no other, in source order."""
    waiting = [iter(block)]
    while waiting:
        for statement in waiting[-1]:
            if isinstance(statement, Loop):
                yield statement
            elif parts := blocks(statement):
                waiting.extend(iter(inner) for inner in reversed(parts))
                break
        else:
            waiting.pop()


def all_expressions(block: Block) -> Iterator[Expression]:
    """Yield every expression of a block and of the blocks inside it, with all expressions inside of each."""
    for statement in walk(block):
        for expression in expressions(statement):
            yield from nodes(expression)


def has_goto(kernel: Kernel) -> bool:
    """True if there was a `goto` in the text of a kernel or of what it calls."""
    return any(
        isinstance(it, Goto) or (isinstance(it, Scope) and not it.function) for it in walk(kernel.body)
    )


_LEAVING = (Return, Break, Continue, Goto, Leave)


def may_leave(statement: Statement) -> bool:
    """True if some work-items may not come out at the end of a statement."""
    return any(isinstance(it, _LEAVING) for it in walk((statement,)))
