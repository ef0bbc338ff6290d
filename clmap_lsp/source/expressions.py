"""Expressions other than calls: from syntax to pure values, with loads and stores emitted in C's order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.source.builtins import QUERIES, query_type
from clmap_lsp.source.constants import NAMED_CONSTANTS, integer_value, truth
from clmap_lsp.source.conversions import (
    as_bool,
    binary,
    choice_type,
    common_type,
    compare,
    condition,
    convert,
    select,
    unary,
)
from clmap_lsp.source.declarations import described_type, find_type
from clmap_lsp.source.dialect import BLOCK
from clmap_lsp.source.initializers import (
    initialize,
    plan,
    static_type,
    vector_from_list,
)
from clmap_lsp.source.ir import (
    Assign,
    BinaryOp,
    Block,
    CompareOp,
    Constant,
    CopyObject,
    Expression,
    If,
    Logical,
    LogicalOp,
    ObjectAddress,
    PointerCast,
    Read,
    Severity,
    UnaryOp,
    Undefined,
    Variable,
    VariableKind,
    VectorLiteral,
)
from clmap_lsp.source.literals import parse_character, parse_number
from clmap_lsp.source.lowering import (
    VALUES,
    Enumerator,
    Lanes,
    Lowering,
    Memory,
    Object,
    ObjectValue,
    Place,
    Register,
    TypeName,
    Value,
    handles,
)
from clmap_lsp.source.places import address_of, copy_to, object_place, read, write
from clmap_lsp.source.span import Span
from clmap_lsp.source.typenames import signed_of
from clmap_lsp.source.types import (
    INT,
    LONG,
    SIZE_T,
    ULONG,
    VOID,
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    UnknownType,
    VectorType,
    lanes_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_BINARY = {it.value: it for it in BinaryOp}
_COMPARE = {it.value: it for it in CompareOp}
_LOGICAL = {it.value: it for it in LogicalOp}


def named_children(node: Node) -> list[Node]:
    """Return the children that are no punctuation. (What is parsed has no comments.)"""
    return node.named_children


# ---------------------------------------------------------------------------------------- names, literals


@handles(VALUES, "identifier", "primitive_type", "true", "false", "null")
def _identifier(low: Lowering, node: Node) -> Value:
    name = low.text(node)
    span = low.span(node)
    symbol = low.lookup(name)
    match symbol:
        case Object(value=Constant() as value):
            return Constant(value.value, value.type, span)
        case Object():
            return read(low, object_place(low, symbol, span), span)
        case Enumerator(value=number, type=type_):
            return Constant(number, type_, span)
        case _:
            typed = low.unit.tree.spellings.get(
                node.start_byte, name
            )  # Names outside ASCII stand otherwise there.
            return _known_or_undefined(low, typed, span)


_KEYWORDS = {"true": 1, "false": 0, "NULL": 0, "nullptr": 0}


def _known_or_undefined(low: Lowering, name: str, span: Span) -> Expression:
    if name in _KEYWORDS:
        return Constant(_KEYWORDS[name], INT, span)
    if name == BLOCK:
        return low.unsupported_at(span, "^{...}", "a block is not followed")
    if name in NAMED_CONSTANTS:
        number, type_ = NAMED_CONSTANTS[name]
        return Constant(number, type_, span)
    guess = low.guess(name)
    if guess is not None:
        literal = parse_number(guess.value) if guess.value else None
        if literal is not None:
            return Constant(literal[0], literal[1], span)
        return Undefined(name, INT, span)
    if name not in low.unit.functions:
        message = f"`{name}` is not defined; values that depend on it are unknown"
        low.report("undefined-name", Severity.WARNING, message, span, name)
    return Undefined(name, INT, span)


@handles(VALUES, "number_literal")
def _number(low: Lowering, node: Node) -> Value:
    spellings = low.unit.tree.spellings
    text = (spellings and spellings.get(node.start_byte)) or low.text(node)
    literal = parse_number(text)
    if literal is None:
        return low.unsupported(node, "number not understood")
    return Constant(literal[0], literal[1], low.span(node))


@handles(VALUES, "char_literal")
def _character(low: Lowering, node: Node) -> Value:
    return Constant(parse_character(low.text(node)), INT, low.span(node))


# ---------------------------------------------------------------------------------------------- places


@handles(VALUES, "subscript_expression", "field_expression", "string_literal", "concatenated_string")
def _read_place(low: Lowering, node: Node) -> Value:
    place = low.place(node)
    return read(low, place) if isinstance(place, Memory) else read(low, place, low.span(node))


@handles(VALUES, "pointer_expression")
def _pointer(low: Lowering, node: Node) -> Value:
    if node.children[0].type == "*":
        return read(low, low.place(node), low.span(node))
    return address_of(low, low.place(node.children[-1]), node)


@handles(VALUES, "parenthesized_expression")
def _parenthesized(low: Lowering, node: Node) -> Value:
    inner = named_children(node)
    return low.value(inner[0]) if inner else low.unsupported(node, "empty parentheses")


@handles(VALUES, "compound_statement")
def _statement_expression(low: Lowering, node: Node) -> Value:
    """Lower GNU's `({ ...; value; })`, which compilers of OpenCL C take too."""
    *before, last = named_children(node) or [node]
    with low.scope():
        for statement in before:
            low.statement(statement)
        parts = named_children(last) if last.type == "expression_statement" else []
        if len(parts) == 1:
            value = low.value(parts[0])
            return value if isinstance(value, ObjectValue) else low.pin(value)
        if last is not node:
            low.statement(last)
    return Undefined("void", VOID, low.span(node))


# ------------------------------------------------------------------------------------------- operators


@handles(VALUES, "unary_expression")
def _unary(low: Lowering, node: Node) -> Value:
    operator = node.children[0].type
    operand = low.scalar(node.children[-1])
    span = low.span(node)
    if operator == "+":
        return operand
    if operator == "!" and isinstance(operand.type, ScalarType) and (known := truth(operand)) is not None:
        return Constant(int(not known), INT, span)
    return unary(UnaryOp(operator), operand, span)


@handles(VALUES, "binary_expression")
def _binary(low: Lowering, node: Node) -> Value:
    children = node.children
    operator = children[1].type
    if operator in _LOGICAL:
        return _logical(low, _LOGICAL[operator], children[0], children[2], low.span(node))
    if operator not in _BINARY and operator not in _COMPARE:
        return low.unsupported(node, "syntax error")
    left, right = low.sequence([children[0], children[2]])
    if isinstance(left, ObjectValue) or isinstance(right, ObjectValue):
        return low.unsupported(node, "operator on a struct")
    span = low.span(node)
    if operator in _COMPARE:
        return compare(_COMPARE[operator], left, right, span)
    return binary(_BINARY[operator], left, right, span)


def _logical(low: Lowering, op: LogicalOp, first: Node, second: Node, span: Span) -> Value:
    left = condition(low.scalar(first))
    writes = low.writes
    statements, right = low.block(lambda: condition(low.scalar(second)))
    if isinstance(left.type, VectorType) or isinstance(right.type, VectorType):
        return _vector_logical(low, op, left, right, statements, span)
    known = truth(left)
    if known is not None:
        if known == (op is LogicalOp.OR):
            return Constant(int(known), INT, span)
        low.out.extend(statements)
        return as_bool(right)
    if not statements and low.writes == writes:
        return Logical(op, left, right, INT, span)
    result = low.temporary(INT, span)
    evaluated = (*statements, Assign(result, as_bool(right), right.span))
    skipped = (Assign(result, Constant(int(op is LogicalOp.OR), INT, span), span),)
    then, otherwise = (evaluated, skipped) if op is LogicalOp.AND else (skipped, evaluated)
    low.emit(If(left, then, otherwise, span))
    return Read(result, span)


def _vector_logical(
    low: Lowering, op: LogicalOp, left: Expression, right: Expression, statements: Block, span: Span
) -> Expression:
    """Vectors have no short circuit: both operands are evaluated."""
    low.out.extend(statements)
    target = common_type(left.type, right.type)
    return Logical(op, convert(left, target), convert(right, target), signed_of(target), span)


@handles(VALUES, "conditional_expression")
def _conditional(low: Lowering, node: Node) -> Value:
    parts = named_children(node)
    span = low.span(node)
    is_short = len(parts) == 2 and node.child_by_field_name("consequence") is None
    if len(parts) != 3 and not is_short:
        return low.unsupported(node, "incomplete `?:`")
    first = low.scalar(parts[0])
    if is_short:  # `a ?: b` of GNU C and clang: `a` is evaluated once.
        kept = low.temporary(first.type, first.span)
        low.emit(Assign(kept, first, first.span))
        first = Read(kept, first.span)
    test = condition(first)
    writes = low.writes
    then, if_true = low.block(lambda: first if is_short else low.value(parts[1]))
    otherwise, if_false = low.block(lambda: low.value(parts[-1]))
    if isinstance(if_true, ObjectValue) or isinstance(if_false, ObjectValue):
        return _object_choice(low, test, (then, if_true), (otherwise, if_false), node)
    known = truth(test)
    if known is not None:
        low.out.extend(then if known else otherwise)
        target = choice_type(test.type, if_true.type, if_false.type)
        return convert(if_true if known else if_false, target)
    if isinstance(test.type, VectorType):
        low.out.extend((*then, *otherwise))
        return select(test, if_true, if_false, span)
    if not then and not otherwise and low.writes == writes:
        return select(test, if_true, if_false, span)
    target = choice_type(test.type, if_true.type, if_false.type)
    if VOID in (target, if_true.type):
        low.emit(If(test, then, otherwise, span))
        return Undefined("void", VOID, span)
    result = low.temporary(target, span)
    then = (*then, Assign(result, convert(if_true, target), if_true.span))
    otherwise = (*otherwise, Assign(result, convert(if_false, target), if_false.span))
    low.emit(If(test, then, otherwise, span))
    return Read(result, span)


def _object_choice(
    low: Lowering, test: Expression, then: tuple[Block, Value], otherwise: tuple[Block, Value], node: Node
) -> Value:
    """Choose between structs by choosing between their addresses."""
    (first, if_true), (second, if_false) = then, otherwise
    if not (isinstance(if_true, ObjectValue) and isinstance(if_false, ObjectValue)):
        return low.unsupported(node, "`?:` between a struct and something else")
    result = low.temporary(if_true.type, low.span(node), VariableKind.PRIVATE_OBJECT)
    span = low.span(node)
    pointer = ObjectAddress(result, PointerType(result.type, AddressSpace.PRIVATE), span)
    blocks: list[Block] = []
    for before, value in ((first, if_true), (second, if_false)):
        copy = CopyObject(low.site(), low.site(), pointer, value.pointer, value.type, span)
        blocks.append((*before, copy))
    low.emit(If(test, blocks[0], blocks[1], span))
    return ObjectValue(pointer, if_true.type, span)


@handles(VALUES, "comma_expression")
def _comma(low: Lowering, node: Node) -> Value:
    parts = named_children(node)
    for part in parts[:-1]:
        discard(low, part)
    return low.value(parts[-1])


# ----------------------------------------------------------------------------------------- assignments


@handles(VALUES, "assignment_expression")
def _assignment_value(low: Lowering, node: Node) -> Value:
    value = assignment(low, node)
    return Undefined("", INT, low.span(node)) if value is None else value


@handles(VALUES, "update_expression")
def _update_value(low: Lowering, node: Node) -> Value:
    return update(low, node, is_used=True)


def discard(low: Lowering, node: Node) -> None:
    """Lower an expression for its effects only."""
    match node.type:
        case "assignment_expression":
            assignment(low, node)
        case "update_expression":
            update(low, node, is_used=False)
        case "comma_expression":
            for part in named_children(node):
                discard(low, part)
        case "parenthesized_expression":
            for part in named_children(node)[:1]:
                discard(low, part)
        case _:
            low.value(node)


def assignment(low: Lowering, node: Node) -> Value | None:
    """Lower `place = value` or `place op= value`; return what the place holds then.

    As compilers do it, the value of a scalar is computed before the place; a struct's place comes first.
    """
    children = node.children
    target, operator, source = children[0], children[1].type, children[-1]
    span = low.span(node)
    if operator != "=":
        if operator[:-1] not in _BINARY:
            return low.unsupported(node, "syntax error")
        return _compound(low, target, _BINARY[operator[:-1]], source, span)
    if source.type == "initializer_list":
        return None
    outer, low.expected = low.expected, _plain_type(low, target)
    value = low.value(source)
    low.expected = outer
    writes, mark = low.writes, len(low.out)
    place = low.place(target)
    if isinstance(value, ObjectValue):
        copy_to(low, place, value, span)
        return value
    if low.writes != writes:
        value = low.pin_before(value, mark)
    if isinstance(place.type, StructType | ArrayType):
        low.unsupported(node, "assignment of a number to a struct or array")
        return value
    return _written(low, place, convert(value, place.type), span)


def _written(low: Lowering, place: Place, value: Expression, span: Span) -> Value:
    """Write a value and return what the place holds then.

    A variable is read again, because `value` may depend on what it was before.
    """
    write(low, place, value, span)
    is_variable = isinstance(place, Register) or (
        isinstance(place, Lanes) and isinstance(place.vector, Register)
    )
    return read(low, place, span) if is_variable else value


def _plain_type(low: Lowering, target: Node) -> Type | None:
    """Return the type of a plain variable: what an unknown function's result is taken for."""
    if target.type == "identifier":
        symbol = low.lookup(low.text(target))
        return symbol.variable.type if isinstance(symbol, Object) else None
    return None


def _compound(low: Lowering, target: Node, op: BinaryOp, source: Node, span: Span) -> Value:
    operand = low.scalar(source)
    writes, mark = low.writes, len(low.out)
    place = low.place(target)
    if low.writes != writes:
        operand = low.pin_before(operand, mark)
    old = read(low, place, low.span(target))
    if isinstance(old, ObjectValue):
        return low.unsupported(target, "operator on a struct")
    return _written(low, place, convert(binary(op, old, operand, span), place.type), span)


def update(low: Lowering, node: Node, *, is_used: bool) -> Value:
    """Lower `++` and `--` before or after a place."""
    children = node.children
    is_prefix = children[0].type in ("++", "--")
    operator = children[0].type if is_prefix else children[-1].type
    target = children[-1] if is_prefix else children[0]
    span = low.span(node)
    place = low.place(target)
    old = read(low, place, low.span(target))
    if isinstance(old, ObjectValue):
        return low.unsupported(node, "operator on a struct")
    if is_used and not is_prefix:
        old = low.pin(old) if not isinstance(old, Read) or not old.variable.is_temporary else old
    one = Constant(1, INT, span)
    op = BinaryOp.ADD if operator == "++" else BinaryOp.SUB
    new = _written(low, place, convert(binary(op, old, one, span), place.type), span)
    return new if is_prefix else old


# ------------------------------------------------------------------------------- casts, literals, sizes


@handles(VALUES, "cast_expression")
def _cast(low: Lowering, node: Node) -> Value:
    parts = named_children(node)
    target = described_type(low, parts[0])
    span = low.span(node)
    if isinstance(target, VectorType) and (inner := _literal_parts(parts[1])):
        return vector_literal(low, target, inner, span)
    if isinstance(target, VectorType) and (base := _behind_literal(parts[1])) is not None:
        inner = _literal_parts(base)
        literal = (
            vector_literal(low, target, inner, span) if inner else cast(low, low.value(base), target, node)
        )
        if not isinstance(literal, ObjectValue):
            low.literals[base.id] = literal
            value = low.value(parts[1])
            del low.literals[base.id]
            return value
    if target == VOID:
        discard(low, parts[1])
        return Undefined("void", VOID, span)
    outer, low.expected = low.expected, target
    value = low.value(parts[1])
    low.expected = outer
    return cast(low, value, target, node)


def cast(low: Lowering, value: Value, target: Type, node: Node) -> Value:
    """Return `(target)value`."""
    span = low.span(node)
    if isinstance(value, ObjectValue):
        return value if value.type == target else low.unsupported(node, "cast of a struct")
    if isinstance(target, PointerType) and isinstance(value.type, PointerType):
        return _pointer_cast(value, target, span)
    if isinstance(target, VectorType) and lanes_of(value.type) not in (1, target.lanes):
        return low.unsupported(node, "cast between vectors of different lengths")
    if isinstance(target, StructType):
        return low.unsupported(node, "cast to a struct")
    if isinstance(target, OpaqueType) and isinstance(value, Constant):
        return Constant(value.value, target, span)  # `(event_t)0`: no event.
    if isinstance(target, OpaqueType) or (isinstance(target, ScalarType) and target.bits == 0):
        return value
    return convert(value, target, span)


def _pointer_cast(value: Expression, target: PointerType, span: Span) -> Expression:
    source = value.type
    assert isinstance(source, PointerType)
    if target.space in (AddressSpace.PRIVATE, AddressSpace.GENERIC) and source.space is not target.space:
        # A cast without an address space keeps the one there is: that is what its author means, and what
        # compilers for OpenCL 2.0 make of it after inference.
        target = PointerType(
            target.pointee, source.space, target.is_const, target.is_volatile, target.is_restrict
        )
    return value if source == target else PointerCast(value, target, span)


def _behind_literal(node: Node) -> Node | None:
    """Return the brackets of the literal that `.y` or `[1]` stands behind.

    A vector literal is a primary expression: in `(int4)(a, b, c, d).y` the cast comes first, unlike in C.
    """
    at = node
    while at.type in ("field_expression", "subscript_expression"):
        at = at.children[0]
    return at if at is not node and at.type == "parenthesized_expression" else None


def _literal_parts(node: Node) -> list[Node]:
    """Return the parts of a parenthesised comma list, flattened; empty for anything else."""
    if node.type != "parenthesized_expression":
        return []
    inner = named_children(node)
    parts: list[Node] = []
    while inner and inner[-1].type == "comma_expression":
        parts += inner[:-1]
        inner = named_children(inner[-1])
    return parts + inner if parts or len(inner) > 1 else []


def vector_literal(low: Lowering, target: VectorType, parts: list[Node], span: Span) -> Expression:
    """Return `(float4)(a, b.xy, c)`."""
    values: list[Expression] = []
    for value in low.sequence(parts):
        if isinstance(value, ObjectValue):
            values.append(Undefined("", target.element, span))
        elif isinstance(value.type, VectorType):
            values.append(convert(value, VectorType(target.element, value.type.lanes)))
        else:
            values.append(convert(value, target.element))
    lanes = sum(it.type.lanes if isinstance(it.type, VectorType) else 1 for it in values)
    if lanes != target.lanes:
        message = f"a `{target}` literal needs {target.lanes} lanes and has {lanes}"
        low.report("vector-literal", Severity.WARNING, message, span)
        missing = Undefined("missing lanes", target.element, span)
        values = values[: target.lanes] + [missing] * max(0, target.lanes - lanes)
    return VectorLiteral(tuple(values), target, span)


@handles(VALUES, "compound_literal_expression")
def _compound_literal(low: Lowering, node: Node) -> Value:
    parts = named_children(node)
    target = described_type(low, parts[0])
    span = low.span(node)
    if not isinstance(target, StructType | ArrayType):
        return vector_from_list(low, target, parts[-1])
    found = plan(low, target, parts[-1])
    if isinstance(target, ArrayType) and target.length is None:
        target = ArrayType(target.element, found.length)
    variable = low.temporary(target, span, VariableKind.PRIVATE_OBJECT)
    initialize(low, variable, found, span)
    return read(low, whole_object(variable, span))


@handles(VALUES, "initializer_list")
def _braced(low: Lowering, node: Node) -> Value:
    """Braces around a scalar: the first item counts, the others are evaluated."""
    items = named_children(node)
    if not items:
        return Constant(0, INT, low.span(node))
    return low.sequence(items)[0]


def whole_object(variable: Variable, span: Span) -> Memory:
    """Return the place of a private object."""
    pointer = ObjectAddress(variable, PointerType(variable.type, AddressSpace.PRIVATE), span)
    return Memory(pointer, variable.type, span)


@handles(VALUES, "sizeof_expression")
def _sizeof(low: Lowering, node: Node) -> Value:
    type_ = measured_type(low, named_children(node))
    span = low.span(node)
    if type_ is None or (isinstance(type_, ArrayType) and type_.length is None):
        return Undefined(low.text(node), SIZE_T, span)
    if isinstance(type_, UnknownType):
        low.guess(type_.name)
    return Constant(type_.size, SIZE_T, span)


@handles(VALUES, "alignof_expression")
def _alignof(low: Lowering, node: Node) -> Value:
    type_ = measured_type(low, named_children(node))
    span = low.span(node)
    return (
        Undefined(low.text(node), SIZE_T, span) if type_ is None else Constant(type_.alignment, SIZE_T, span)
    )


def measured_type(low: Lowering, parts: list[Node]) -> Type | None:
    """Return the type of the operand of `sizeof`, `alignof` or `vec_step`: a type name or an expression."""
    if not parts:
        return None
    node = parts[0]
    if node.type == "type_descriptor":
        return _called_type(low, node) or described_type(low, node)
    inner = node
    while inner.type == "parenthesized_expression" and (within := named_children(inner)):
        inner = within[0]
    if inner.type in ("identifier", "type_identifier", "primitive_type"):
        name = low.text(inner)
        if not isinstance(low.lookup(name), Object | Enumerator) and (found := find_type(low, name)):
            return found
    lengths: list[Node] = []
    while inner.type == "subscript_expression" and len(within := named_children(inner)) == 2:
        inner = within[0]
        lengths.append(within[1])
    if lengths and inner.type == "identifier" and is_type_name(low, low.text(inner)):
        return _array_of(low, find_type(low, low.text(inner)), lengths)
    return static_type(low, node)


def _array_of(low: Lowering, element: Type | None, lengths: list[Node]) -> Type | None:
    """Return the type of `sizeof(float3[2])`, which the grammar shows as a subscript."""
    for length in lengths:
        if element is None:
            return None
        element = ArrayType(element, integer_value(low.scalar(length)))
    return element


def _called_type(low: Lowering, node: Node) -> Type | None:
    """Return the result type of `sizeof(f())`, which the grammar shows as a function type."""
    parts = named_children(node)
    if len(parts) != 2 or parts[1].type != "abstract_function_declarator":
        return None
    name = low.text(parts[0])
    low.outer.add(name)
    if name in low.unit.functions:
        return low.unit.functions[name][0].result
    return query_type(QUERIES[name]) if name in QUERIES else None


@handles(VALUES, "offsetof_expression")
def _offsetof(low: Lowering, node: Node) -> Value:
    parts = named_children(node)
    structure = described_type(low, parts[0])
    member = structure.field(low.text(parts[-1])) if isinstance(structure, StructType) else None
    if member is None:
        return low.unsupported(node, "no such member")
    return Constant(member.offset, SIZE_T, low.span(node))


def is_type_name(low: Lowering, name: str) -> bool:
    """True if a name means a type here."""
    symbol = low.lookup(name)
    return isinstance(symbol, TypeName) or (symbol is None and find_type(low, name) is not None)


def integer_like(value: Expression) -> Expression:
    """Return a value as an integer that may count bytes or elements."""
    if isinstance(value.type, PointerType):
        return convert(value, ULONG)
    return value if isinstance(value.type, ScalarType) and value.type.is_integer else convert(value, LONG)
