"""Numbers inside parameters, a struct's members and a vector's lanes, as parameters of their own.

`p.width` and `size.x` say as much about a launch as a parameter `width` does: what they bound or multiply
tells which value fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable, VariableKind
from clmap_lsp.source.layout import leaves
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.types import ScalarType, StructType, Type, VectorType


@dataclass(slots=True)
class Members:
    """The numbers inside the parameters of one kernel."""

    of: dict[Variable, Mapping[int, Variable]] = field(default_factory=dict)
    """By parameter, by byte offset; each named as C names it: `p.strides[1]`, `size.x`."""
    loads: dict[Variable, Mapping[int, Variable]] = field(default_factory=dict)
    """What variables hold that were loaded from a struct once, by byte offset in them."""

    def member(self, expression: ir.Expression) -> Variable | None:
        """Return the number inside a parameter that an expression is."""
        match expression:
            case ir.Read(variable=variable) if isinstance(variable.type, ScalarType):
                return self.loads.get(variable, {}).get(0)
            case ir.Swizzle(operand=ir.Read(variable=variable), lanes=(lane,)) if isinstance(
                variable.type, VectorType
            ):
                held = self.of.get(variable) or self.loads.get(variable) or {}
                return held.get(lane * variable.type.element.size)
            case _:
                return None


@per_kernel
def find_members(kernel: ir.Kernel) -> Members:
    """Return the numbers inside a kernel's parameters, and what holds them; nobody may change it."""
    members = Members()
    for parameter in kernel.parameters:
        if isinstance(parameter.type, StructType | VectorType):
            members.of[parameter] = {
                offset: Variable(f"{parameter.name}{path}", kind, VariableKind.PARAMETER, parameter.span)
                for offset, (path, kind) in _numbers(parameter.type)
            }
    if members.of:
        _follow(members, kernel)
    return members


def _numbers(kind: Type) -> Iterator[tuple[int, tuple[str, ScalarType]]]:
    if isinstance(kind, StructType):
        yield from leaves(kind).items()
    elif isinstance(kind, VectorType):
        names = "xyzw" if kind.lanes <= len("xyzw") else [f"s{at:x}" for at in range(kind.lanes)]
        for at in range(kind.lanes):
            yield at * kind.element.size, (f".{names[at]}", kind.element)


def _follow(members: Members, kernel: ir.Kernel) -> None:
    """Note what is loaded from a struct, or from an object that is only ever a copy of it."""
    written: dict[Variable, int] = {}
    copies: dict[Variable, Variable] = {}
    loads: list[ir.Load] = []
    for statement in ir.walk(kernel.body):
        for variable in ir.written(statement):
            written[variable] = written.get(variable, 0) + 1
        match statement:
            case ir.Load():
                loads.append(statement)
            case ir.CopyObject(
                source=ir.ObjectAddress(variable=source), destination=ir.ObjectAddress(variable=copy)
            ):
                copies[copy] = source
                written[copy] = written.get(copy, 0) + 1
            case _:
                for pointer in ir.written_through(statement):
                    if (root := _place(pointer)[0]) is not None:
                        written[root] = written.get(root, 0) + 1
    for load in loads:
        root, offset = _place(load.pointer)
        while root in copies and written[root] == 1:
            root = copies[root]
        if root is None or offset is None or written.get(load.variable) != 1:
            continue
        end = offset + load.variable.type.size
        held = {at - offset: it for at, it in members.of.get(root, {}).items() if offset <= at < end}
        if held and root not in written:
            members.loads[load.variable] = held
    for changed in members.of.keys() & written.keys():
        del members.of[changed]


def _place(pointer: ir.Expression) -> tuple[Variable | None, int | None]:
    """Return the object that a pointer leads into, and how many bytes in; `None` where that moves."""
    match pointer:
        case ir.ObjectAddress(variable=variable):
            return variable, 0
        case ir.PointerCast(operand=operand):
            return _place(operand)[0], None
        case ir.FieldAddress(pointer=inner, field=member):
            root, offset = _place(inner)
            return root, None if offset is None or member.bits is not None else offset + member.offset
        case ir.PointerOffset(pointer=inner, index=index, stride=stride):
            root, offset = _place(inner)
            match index:
                case ir.Constant(value=int(value)) if offset is not None:
                    return root, offset + value * stride
                case _:
                    return root, None
        case _:
            return None, None
