"""Calls: of the program's functions, of pure built-ins, and of built-ins with effects (by table)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clmap_lsp.source.builtins import (
    PURE,
    QUERIES,
    SECOND_RESULTS,
    WITHOUT_DIMENSION,
    parse_conversion,
    pure_call,
    query_type,
    second_result,
)
from clmap_lsp.source.conversions import cast_for_argument, convert
from clmap_lsp.source.expressions import measured_type, named_children
from clmap_lsp.source.ir import (
    ASSEMBLY,
    Call,
    Constant,
    Convert,
    Expression,
    ObjectAddress,
    OpaqueCall,
    Read,
    Reinterpret,
    Severity,
    Store,
    Undefined,
    VariableKind,
    WorkItem,
    WorkItemQuery,
)
from clmap_lsp.source.lowering import (
    VALUES,
    Lanes,
    Lowering,
    Object,
    ObjectValue,
    Place,
    Register,
    Signature,
    Value,
    handles,
)
from clmap_lsp.source.places import read, write
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import (
    INT,
    SCALARS,
    UINT,
    VOID,
    AddressSpace,
    OpaqueType,
    PointerType,
    StructType,
    Type,
    lanes_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

EffectHandler = Callable[[Lowering, str, list[Expression], Span], "Expression | None"]
EFFECTS: dict[str, EffectHandler] = {}
"""Built-ins that touch memory, synchronise or communicate; `None` says that the arguments do not fit."""


def effect(*names: str) -> Callable[[EffectHandler], EffectHandler]:
    """Register the decorated function for built-ins with effects."""
    return handles(EFFECTS, *names)


@handles(VALUES, "call_expression")
def _call(low: Lowering, node: Node) -> Value:
    children = node.children
    callee, arguments = children[0], named_children(children[-1])
    name = low.text(callee)
    span = low.span(node)
    outer, low.expected = low.expected, None
    try:
        if callee.type != "identifier" or isinstance(low.lookup(name), Object):
            low.value(callee) if callee.type != "identifier" else None
            return _opaque(low, name, low.sequence(arguments), outer, span)
        if name in low.unit.functions:
            return _program_call(low, name, low.sequence(arguments), span)
        if name in SCALARS and len(arguments) == 1:  # `float(x)` of C++, an error that is told of.
            value = low.value(arguments[0])
            return value if isinstance(value, ObjectValue) else convert(value, SCALARS[name])
        return _builtin(low, name, arguments, outer, span)
    finally:
        low.expected = outer


def is_built_in(name: str) -> bool:
    """Tell whether OpenCL C has a function of a name."""
    known = name in QUERIES or name in PURE or name in EFFECTS or name in SECOND_RESULTS
    return known or name == "vec_step" or parse_conversion(name) is not None


# --------------------------------------------------------------------------------- functions of the program


def _program_call(low: Lowering, name: str, values: list[Value], span: Span) -> Value:
    signature = _overload(low.unit.functions[name], values)
    arguments: list[Expression] = []
    for at, value in enumerate(values):
        if isinstance(value, ObjectValue):
            arguments.append(value.pointer)
        elif at < len(signature.parameters):
            arguments.append(cast_for_argument(value, signature.parameters[at]))
        else:
            arguments.append(value)
    low.calls.add(signature.name)
    result = signature.result
    if result == VOID:
        low.emit(Call(low.site(), None, signature.name, tuple(arguments), span))
        return Undefined("void", VOID, span)
    is_object = isinstance(result, StructType)
    kind = VariableKind.PRIVATE_OBJECT if is_object else VariableKind.REGISTER
    variable = low.temporary(result, span, kind)
    low.emit(Call(low.site(), variable, signature.name, tuple(arguments), span))
    if isinstance(result, StructType):
        pointer = ObjectAddress(variable, PointerType(result, AddressSpace.PRIVATE), span)
        return ObjectValue(pointer, result, span)
    return Read(variable, span)


def _overload(candidates: list[Signature], values: list[Value]) -> Signature:
    """Return the function that fits the arguments best."""
    if len(candidates) == 1:
        return candidates[0]

    def score(signature: Signature) -> tuple[bool, int]:
        pairs = zip(signature.parameters, values, strict=False)
        return len(signature.parameters) == len(values), sum(_fit(a, b.type) for a, b in pairs)

    return max(candidates, key=score)


def _fit(parameter: Type, argument: Type) -> int:
    if parameter == argument:
        return 4
    if isinstance(parameter, PointerType) and isinstance(argument, PointerType):
        same_space = parameter.space is argument.space
        return (2 if parameter.pointee == argument.pointee else 0) + (1 if same_space else 0)
    if lanes_of(parameter) == lanes_of(argument):
        return 1
    return 0


# ---------------------------------------------------------------------------------------------- built-ins


def _builtin(low: Lowering, name: str, nodes: list[Node], expected: Type | None, span: Span) -> Value:
    if name in QUERIES:
        return _query(low, QUERIES[name], nodes, span)
    if name == "vec_step":
        measured = measured_type(low, nodes)
        lanes = 1 if measured is None else lanes_of(measured)
        return Constant(4 if lanes == 3 else lanes, INT, span)
    if name in SECOND_RESULTS and len(nodes) >= 2:
        return _two_results(low, name, nodes, span)
    values = low.sequence(nodes)
    arguments = [it for it in values if not isinstance(it, ObjectValue)]
    if len(arguments) == len(values):
        found = _known(low, name, arguments, span)
        if found is not None:
            return found
    return _opaque(low, name, values, expected, span)


def _known(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if name in PURE:
        return pure_call(name, arguments, span)
    conversion = parse_conversion(name)
    if conversion is not None and len(arguments) == 1:
        value = arguments[0]
        if conversion.is_bits:
            if value.type == conversion.type:
                return value
            return Reinterpret(value, conversion.type, span)
        if conversion.rounding is None and not conversion.saturate:
            return convert(value, conversion.type, span)
        return Convert(value, conversion.type, span, conversion.rounding, conversion.saturate)
    handler = EFFECTS.get(name)
    return handler(low, name, arguments, span) if handler is not None else None


def _query(low: Lowering, query: WorkItemQuery, nodes: list[Node], span: Span) -> Expression:
    type_ = query_type(query)
    dimension: Expression | None = None
    for node in nodes:
        value = low.scalar(node)
        dimension = convert(value, UINT)
    if query in WITHOUT_DIMENSION:
        dimension = None
    elif dimension is None:
        dimension = Constant(0, UINT, span)
    return WorkItem(query, dimension, type_, span)


def _two_results(low: Lowering, name: str, nodes: list[Node], span: Span) -> Value:
    """Lower `fract(x, &y)` and its like.

    `&y` of a plain variable is an assignment to it: the variable need not live in memory for that.
    """
    values = [it for it in low.sequence(nodes[:-1]) if not isinstance(it, ObjectValue)]
    if not values:
        return _opaque(low, name, [], None, span)
    value, other = second_result(name, values, span)
    target = nodes[-1]
    if target.type == "pointer_expression" and target.children[0].type == "&":
        place: Place = low.place(target.children[-1])
        if isinstance(place, Register | Lanes):
            value = low.pin(value)
            write(low, place, convert(other, place.type), span)
            return value
    pointer = low.scalar(target)
    value = low.pin(value)
    stored = other
    if isinstance(pointer.type, PointerType):
        stored = convert(other, pointer.type.pointee)
    low.emit(Store(low.site(), pointer, stored, stored.type.size, stored.type.alignment, span))
    return value


# ------------------------------------------------------------------------------------------------ unknown


def _opaque(low: Lowering, name: str, values: list[Value], expected: Type | None, span: Span) -> Value:
    arguments = tuple(it.pointer if isinstance(it, ObjectValue) else it for it in values)
    reason = "a built-in with other arguments" if name in PURE or name in EFFECTS else "unknown function"
    if low.guess(name) is None:
        message = f"`{name}` is not defined here; calls of it are taken as unknown"
        if reason != "unknown function":
            message = f"`{name}` does not take these arguments; calls of it are taken as unknown"
        low.report("unknown-function", Severity.INFORMATION, message, span, name)
    result = _guessed_result(values, expected)
    if isinstance(result, StructType):
        variable = low.temporary(result, span, VariableKind.PRIVATE_OBJECT)
        low.emit(OpaqueCall(low.site(), variable, name, arguments, span, reason))
        pointer = ObjectAddress(variable, PointerType(result, AddressSpace.PRIVATE), span)
        return ObjectValue(pointer, result, span)
    variable = low.temporary(result, span)
    low.unknown.add(variable)
    low.emit(OpaqueCall(low.site(), variable, name, arguments, span, reason))
    return Read(variable, span)


def _guessed_result(values: list[Value], expected: Type | None) -> Type:
    """Return a type for an unknown function: where its result goes, else that of its first value."""
    if expected is not None and expected != VOID:
        return expected
    for value in values:
        if not isinstance(value.type, PointerType | OpaqueType | StructType):
            return value.type
    return INT


def _operand(value: Value) -> Expression:
    return value.pointer if isinstance(value, ObjectValue) else value


@handles(VALUES, "gnu_asm_expression")
def _assembly(low: Lowering, node: Node) -> Value:
    """Inline assembly: what it writes is unknown afterwards."""
    span = low.span(node)
    inputs: list[Expression] = []
    outputs: list[Place] = []
    for part in node.children:
        for operand in named_children(part):
            written = named_children(operand)[-1:]
            if operand.type == "gnu_asm_input_operand":
                inputs.append(_operand(low.value(written[0])))
            elif operand.type == "gnu_asm_output_operand":
                outputs.append(low.place(written[0]))
                if '"+' in low.text(operand):
                    inputs.append(_operand(read(low, outputs[-1], span)))
    low.report("unsupported", Severity.INFORMATION, "inline assembly is not followed", span)
    results = [it for it in outputs if not isinstance(it.type, StructType)]
    for place in results:
        variable = low.temporary(place.type, span)
        low.unknown.add(variable)
        low.emit(OpaqueCall(low.site(), variable, "asm", tuple(inputs), span, ASSEMBLY))
        write(low, place, Read(variable, span), span)
    if not results:
        low.emit(OpaqueCall(low.site(), None, "asm", tuple(inputs), span, ASSEMBLY))
    return Undefined("asm", INT, span)
