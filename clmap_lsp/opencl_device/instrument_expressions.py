"""The IR's expressions and types as OpenCL C.

Memory is bytes here: every pointer is a pointer to `uchar` in its address space, and accesses cast. That
keeps structs, unions and pointer casts of the source out of the instrumented copy; offsets are the IR's.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarKind, ScalarType, Type, VectorType

SPACE_WORDS = {
    AddressSpace.GLOBAL: "__global",
    AddressSpace.CONSTANT: "__constant",
    AddressSpace.LOCAL: "__local",
    AddressSpace.PRIVATE: "__private",
}
_LANES = "0123456789abcdef"
# Functions of the IR that are one half of an OpenCL function with a pointer argument.
_HALVES = frozenset(
    {
        *("fract", "frexp", "modf", "lgamma_r", "remquo", "sincos"),
        *("frexp_exponent", "lgamma_sign", "remquo_quotient"),
    }
)


class InstrumentError(Exception):
    """The kernel cannot be copied with tracing; the text says what stands in the way."""


def type_text(kind: Type) -> str:
    """Return a scalar, vector, event or pointer type. Raises: InstrumentError for others."""
    match kind:
        case ScalarType() | VectorType():
            return str(kind)
        case PointerType(space=space):
            return f"{space_text(space)} uchar *"
        case _ if str(kind) == "event_t":
            return "event_t"
        case _:
            raise InstrumentError(f"values of type {kind} are not followed")


def space_text(space: AddressSpace) -> str:
    """Return the qualifier. Raises: InstrumentError for generic pointers, whose space is not known."""
    if space not in SPACE_WORDS:
        raise InstrumentError("generic pointers are not followed")
    return SPACE_WORDS[space]


class ExpressionText:
    """Writes expressions; `names` holds what each variable is called in the copy."""

    def __init__(self, names: Mapping[ir.Variable, str]) -> None:
        self._names = names

    def __call__(self, it: ir.Expression) -> str:
        """Return the text, in parentheses where it is more than a word. Raises: InstrumentError."""
        match it:
            case ir.Constant(value=value, type=kind):
                return _constant(value, kind)
            case ir.Read(variable=variable):
                return self._names[variable]
            case ir.ObjectAddress(variable=variable, type=kind):
                amp = "&" if variable.kind is ir.VariableKind.PARAMETER else ""
                return f"(({type_text(kind)}){amp}{self._names[variable]})"
            case ir.WorkItem(query=query, dimension=dimension, type=kind):
                inside = "" if dimension is None else self(dimension)
                return f"(({type_text(kind)}){query.value}({inside}))"
            case ir.Unary(op=op, operand=operand, type=kind):
                return self._narrowed(f"{op.value}{self(operand)}", kind)
            case ir.Binary():
                return self._binary(it)
            case ir.Compare(op=compare, left=left, right=right):
                return f"({self(left)} {compare.value} {self(right)})"
            case ir.Logical(op=logic, left=left, right=right):
                return f"({self(left)} {logic.value} {self(right)})"
            case ir.Select(condition=condition, if_true=first, if_false=second):
                return f"({self(condition)} ? {self(first)} : {self(second)})"
            case ir.Convert():
                return self._convert(it)
            case ir.Reinterpret(operand=operand, type=kind):
                return f"as_{type_text(kind)}({self(operand)})"
            case ir.PointerCast(operand=operand, type=kind):
                return f"(({type_text(kind)}){self(operand)})"
            case ir.VectorLiteral(parts=parts, type=kind):
                return f"(({type_text(kind)})({', '.join(self(part) for part in parts)}))"
            case ir.Swizzle(operand=operand, lanes=lanes):
                return f"({self(operand)}).s{''.join(_LANES[lane] for lane in lanes)}"
            case ir.InsertLanes():
                return self._insert(it)
            case ir.PointerOffset(pointer=pointer, index=index, stride=stride):
                return f"({self(pointer)} + (long){self(index)} * {stride}L)"
            case ir.FieldAddress(pointer=pointer, field=field):
                return f"({self(pointer)} + {field.offset})"
            case ir.Builtin(name=name, arguments=arguments):
                if name in _HALVES or name.startswith("get_"):
                    raise InstrumentError(f"`{name}` is not followed")
                return f"{name}({', '.join(self(argument) for argument in arguments)})"
            case ir.Undefined(name=name):
                raise InstrumentError(f"the value of `{name}` is not known")

    def _narrowed(self, text: str, kind: Type) -> str:
        """C works in at least `int`: bring a result back to the IR's type."""
        return f"(({type_text(kind)})({text}))" if isinstance(kind, ScalarType) else f"({text})"

    def _binary(self, it: ir.Binary) -> str:
        left, right = self(it.left), self(it.right)
        element = it.type.element if isinstance(it.type, VectorType) else it.type
        if isinstance(element, ScalarType) and element.is_float:
            if it.op is ir.BinaryOp.REM:
                return f"fmod({left}, {right})"
            # No cast around it: it would keep the compiler from fusing a product with a sum.
            return f"({left} {it.op.value} {right})"
        return self._narrowed(f"{left} {it.op.value} {right}", it.type)

    def _convert(self, it: ir.Convert) -> str:
        target, source = it.type, it.operand.type
        operand = self(it.operand)
        if it.saturate or it.rounding is not None:
            suffix = ("_sat" if it.saturate else "") + (f"_{it.rounding}" if it.rounding else "")
            name = f"convert_{type_text(target)}{suffix}"
            return f"{name}({operand})"
        if isinstance(target, VectorType) and isinstance(source, VectorType):
            return f"convert_{type_text(target)}({operand})"
        if isinstance(target, VectorType):
            return f"(({type_text(target)})(({type_text(target.element)}){operand}))"
        return f"(({type_text(target)}){operand})"

    def _insert(self, it: ir.InsertLanes) -> str:
        if not isinstance(it.type, VectorType):
            raise InstrumentError(f"lanes of {it.type} are not followed")
        vector, value = self(it.vector), self(it.value)
        parts = []
        for lane in range(it.type.lanes):
            if lane not in it.lanes:
                parts.append(f"({vector}).s{_LANES[lane]}")
            elif len(it.lanes) == 1:
                parts.append(value)
            else:
                parts.append(f"({value}).s{_LANES[it.lanes.index(lane)]}")
        return f"(({type_text(it.type)})({', '.join(parts)}))"


def _constant(value: int | float, kind: Type) -> str:
    match kind:
        case PointerType():
            return f"(({type_text(kind)}){int(value)}UL)"
        case ScalarType(kind=ScalarKind.FLOAT, bits=bits):
            letters = {
                16: ("e", "H", "half", "(ushort)"),
                32: ("f", "I", "float", ""),
                64: ("d", "Q", "double", ""),
            }
            real, whole, name, cast = letters[bits]
            try:
                packed = struct.pack(f"<{real}", float(value))
            except OverflowError:
                packed = struct.pack(f"<{real}", float("inf") if value > 0 else float("-inf"))
            (pattern,) = struct.unpack(f"<{whole}", packed)
            return f"as_{name}({cast}0x{pattern:x}{'UL' if bits == 64 else 'u'})"
        case ScalarType(bits=bits):
            pattern = int(value) & ((1 << max(bits, 8)) - 1)
            suffix = "UL" if bits == 64 else "u"
            return f"(({kind.name})0x{pattern:x}{suffix})"
        case _:
            raise InstrumentError(f"constants of type {kind} are not followed")
