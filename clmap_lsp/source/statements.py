"""Statements: declarations, control flow, labels."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.source.constants import integer_value, truth
from clmap_lsp.source.conversions import condition, convert
from clmap_lsp.source.declarations import Declared, declare, define_typedef, named_type, specifier
from clmap_lsp.source.dialect import AUTO_TYPE
from clmap_lsp.source.expressions import discard, named_children, whole_object
from clmap_lsp.source.initializers import (
    Addresses,
    Plan,
    constant_bytes,
    copy_object,
    initialize,
    plan,
    vector_from_list,
)
from clmap_lsp.source.ir import (
    Block,
    Break,
    Constant,
    Continue,
    Declare,
    Goto,
    If,
    Initializer,
    Label,
    Loop,
    Return,
    Severity,
    Undefined,
    Unsupported,
    Variable,
    VariableKind,
)
from clmap_lsp.source.lowering import (
    STATEMENTS,
    Lowering,
    Object,
    ObjectValue,
    handles,
)
from clmap_lsp.source.types import (
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
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from clmap_lsp.source.syntax import Removed

# ---------------------------------------------------------------------------------------------- simple


@handles(STATEMENTS, "expression_statement")
def _expression(low: Lowering, node: Node) -> None:
    for child in named_children(node):
        discard(low, child)


@handles(STATEMENTS, "compound_statement")
def _compound(low: Lowering, node: Node) -> None:
    with low.scope():
        for child in node.children:
            low.statement(child)


@handles(STATEMENTS, "attributed_statement")
def _attributed(low: Lowering, node: Node) -> None:
    for child in named_children(node):
        low.statement(child)


@handles(STATEMENTS, "type_definition")
def _typedef(low: Lowering, node: Node) -> None:
    define_typedef(low, node)


@handles(STATEMENTS, "struct_specifier", "union_specifier", "enum_specifier")
def _tag(low: Lowering, node: Node) -> None:
    named_type(low, node)


@handles(STATEMENTS, "ERROR")
def _error(low: Lowering, node: Node) -> None:
    """A place that the grammar did not take; the parser has reported it."""
    text = low.text(node)[:80]
    low.emit(Unsupported(low.site(), text, "syntax error", low.span(node)))


@handles(STATEMENTS, "gnu_asm_expression", "call_expression")
def _bare(low: Lowering, node: Node) -> None:
    low.value(node)


# ------------------------------------------------------------------------------------------ declarations


@handles(STATEMENTS, "declaration")
def declaration(low: Lowering, node: Node) -> None:
    """Lower a declaration of variables; prototypes of functions give nothing."""
    spec = specifier(low, node)
    for declarator in spec.declarators:
        initializer: Node | None = None
        inner = declarator
        if declarator.type == "init_declarator":
            inner, initializer = declarator.children[0], declarator.children[-1]
        declared = declare(low, spec, inner)
        if declared.name is None or declared.parameters is not None:
            continue
        if spec.type == UnknownType(AUTO_TYPE) and initializer is not None:
            declared = replace(declared, type=_type_of_value(low, initializer))
        if low.function:
            _local_variable(low, declared, initializer, node)
        else:
            program_variable(low, declared, initializer)


def _type_of_value(low: Lowering, value: Node) -> Type:
    """Return the type that `auto` takes from a value: an array becomes a pointer."""
    with low.nested():
        marks = low.n_sites, len(low.variables), low.writes
        type_ = low.value(value).type
        low.n_sites, low.writes = marks[0], marks[2]
        del low.variables[marks[1] :]
    return type_


def _local_variable(low: Lowering, declared: Declared, initializer: Node | None, node: Node) -> None:
    assert declared.name is not None
    name = low.text(declared.name)
    space = declared.space or AddressSpace.PRIVATE
    if space in (AddressSpace.CONSTANT, AddressSpace.GLOBAL):
        program_variable(low, declared, initializer)
        return
    found: Plan | None = None
    if initializer is not None and _is_aggregate(declared):
        found = plan(low, declared.type, initializer)
    type_ = declared.type
    if isinstance(type_, ArrayType) and type_.length is None and found is not None:
        type_ = ArrayType(type_.element, found.length)
    span = low.span(declared.name)
    kind = _kind(low, name, type_, space)
    variable = Variable(name, type_, kind, span)
    low.variables.append(variable)
    if isinstance(type_, ArrayType) and type_.length is None and "extern" not in declared.words:
        message = f"the length of `{name}` is not a known constant"
        low.report("unknown-length", Severity.INFORMATION, message, span)
    is_volatile = "volatile" in declared.words
    symbol = Object(variable, space, "const" in declared.words, is_volatile)
    if space is AddressSpace.LOCAL:
        low.define(name, symbol)
        return
    low.emit(Declare(variable, span))
    if initializer is None:
        low.define(name, symbol)
    elif found is not None and kind is VariableKind.PRIVATE_OBJECT and _is_aggregate(declared):
        low.define(name, symbol)
        _initialize_object(low, variable, found, initializer)
    else:
        _initialize_scalar(low, name, symbol, initializer, node)


def _is_aggregate(declared: Declared) -> bool:
    return isinstance(declared.type, ArrayType | StructType)


def _kind(low: Lowering, name: str, type_: Type, space: AddressSpace) -> VariableKind:
    if space is AddressSpace.LOCAL:
        return VariableKind.LOCAL_OBJECT
    if isinstance(type_, ArrayType | StructType) or name in low.in_memory:
        return VariableKind.PRIVATE_OBJECT
    return VariableKind.REGISTER


def _initialize_object(low: Lowering, variable: Variable, found: Plan, initializer: Node) -> None:
    span = low.span(initializer)
    if initializer.type != "initializer_list" and isinstance(variable.type, StructType):
        value = low.value(initializer)
        if isinstance(value, ObjectValue):
            copy_object(low, whole_object(variable, span).pointer, value.pointer, value.type, span)
        else:
            low.unsupported(initializer, "a struct is initialised with a number")
        return
    if isinstance(variable.type, ArrayType) and initializer.type != "initializer_list":
        data = constant_bytes(low, variable.type, found)
        value = low.value(initializer)
        if data is None or isinstance(value, ObjectValue):
            low.unsupported(initializer, "an array is initialised with an expression")
            return
        copy_object(low, whole_object(variable, span).pointer, value, variable.type, span)
        return
    initialize(low, variable, found, span)


def _initialize_scalar(low: Lowering, name: str, symbol: Object, initializer: Node, node: Node) -> None:
    variable = symbol.variable
    type_ = variable.type
    outer, low.expected = low.expected, type_
    # A name is in scope in its own initialiser (`int x = x;` reads the new one).
    if name in low.text(initializer):
        low.define(name, symbol)
    if initializer.type == "initializer_list":
        value = vector_from_list(low, type_, initializer)
    else:
        value = low.scalar(initializer)
    low.expected = outer
    span = low.span(node)
    if isinstance(type_, PointerType) and isinstance(value.type, PointerType):
        variable, symbol = _adopt_space(low, symbol, type_, value.type)
        type_ = variable.type
    value = convert(value, type_)
    if symbol.is_const and isinstance(value, Constant) and variable.kind is VariableKind.REGISTER:
        symbol = replace(symbol, value=value)
    low.define(name, symbol)
    if variable.kind is VariableKind.PRIVATE_OBJECT:
        low.store(whole_object(variable, low.span(initializer)), value)
    else:
        low.assign(variable, value, span)


def _adopt_space(
    low: Lowering, symbol: Object, declared: PointerType, given: PointerType
) -> tuple[Variable, Object]:
    """Let `float *p = a;` point where `a` does, as compilers that infer address spaces do."""
    variable = symbol.variable
    named = declared.space not in (AddressSpace.PRIVATE, AddressSpace.GENERIC)
    if named or given.space in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
        return variable, symbol
    adopted = replace(variable, type=replace(declared, space=given.space))
    low.variables[low.variables.index(variable)] = adopted
    for at in range(len(low.out) - 1, -1, -1):
        statement = low.out[at]
        if isinstance(statement, Declare) and statement.variable is variable:
            low.out[at] = Declare(adopted, statement.span)
            break
    return adopted, replace(symbol, variable=adopted)


def program_variable(low: Lowering, declared: Declared, initializer: Node | None) -> None:
    """Take up a variable of the program: a constant object, with its bytes if they are known."""
    assert declared.name is not None
    name = low.text(declared.name)
    span = low.span(declared.name)
    type_ = declared.type
    default = AddressSpace.GLOBAL if low.unit.has_generic_space and "const" not in declared.words else None
    space = declared.space or default or AddressSpace.CONSTANT
    if initializer is None and "extern" in declared.words and low.lookup(name) is not None:
        return
    if isinstance(type_, OpaqueType):
        _resource(low, declared, initializer)
        return
    found = plan(low, type_, initializer) if initializer is not None else None
    if isinstance(type_, ArrayType) and type_.length is None and found is not None:
        type_ = ArrayType(type_.element, found.length)
    variable = Variable(name, type_, VariableKind.CONSTANT_OBJECT, span)
    is_const = "const" in declared.words or space is AddressSpace.CONSTANT
    symbol = Object(variable, space, is_const, "volatile" in declared.words)
    data: bytes | None = None
    addresses: Addresses = []
    if found is None and "extern" not in declared.words and low.unit.has_room(type_.size):
        data = bytes(type_.size)
    if found is not None:
        with low.nested():
            data = constant_bytes(low, type_, found, addresses)
            if is_const and isinstance(type_, ScalarType | VectorType) and len(found.leaves) == 1:
                value = _constant_value(low, found.leaves[0].node, type_)
                symbol = replace(symbol, value=value)
    low.initializers[variable] = Initializer(variable, data, tuple(addresses))
    low.define(name, symbol)


def _constant_value(low: Lowering, node: Node, type_: Type) -> Constant | None:
    if node.type == "initializer_list":
        return None
    value = convert(low.scalar(node), type_)
    return value if isinstance(value, Constant) else None


def _resource(low: Lowering, declared: Declared, initializer: Node | None) -> None:
    """A sampler of the program: its value is its flags."""
    assert declared.name is not None
    span = low.span(declared.name)
    name = low.text(declared.name)
    value = Constant(0, declared.type, span)
    if initializer is not None:
        with low.nested():
            lowered = low.scalar(initializer)
        number = integer_value(lowered)
        value = Constant(number or 0, declared.type, span)
    variable = Variable(name, declared.type, VariableKind.REGISTER, span)
    low.define(name, Object(variable, AddressSpace.CONSTANT, True, False, value))


# ---------------------------------------------------------------------------------------------- branches


@handles(STATEMENTS, "if_statement")
def _if(low: Lowering, node: Node) -> None:
    test_node = then_node = else_node = None
    for child in node.children:
        if child.type == "parenthesized_expression" and test_node is None:
            test_node = child
        elif child.type == "else_clause":
            else_node = child
        elif child.is_named:
            then_node = child
    if test_node is None:
        return
    test = condition(low.scalar(test_node))
    then = nested_statement(low, then_node)
    otherwise: Block = ()
    if else_node is not None:
        parts = named_children(else_node)
        otherwise = nested_statement(low, parts[-1] if parts else None)
    low.emit(If(test, then, otherwise, low.span(node)))


def nested_statement(low: Lowering, node: Node | None) -> Block:
    """Lower a statement as a block with a scope of its own."""
    if node is None:
        return ()
    with low.nested() as out, low.scope():
        low.statement(node)
    return tuple(out)


# ------------------------------------------------------------------------------------------------- loops


@handles(STATEMENTS, "for_statement")
def _for(low: Lowering, node: Node) -> None:
    parts, body_node = _for_parts(node)
    with low.scope():
        start = parts[0]
        if start is not None:
            if start.type == "declaration":
                low.statement(start)
            else:
                discard(low, start)
        _loop(low, node, parts[1], parts[2], body_node, tests_first=True)


def _for_parts(node: Node) -> tuple[list[Node | None], Node | None]:
    """Return ([initialisation, condition, step], body)."""
    parts: list[Node | None] = [None, None, None]
    at = 0
    body: Node | None = None
    is_inside = False
    for child in node.children:
        kind = child.type
        if kind == "(" and not is_inside:
            is_inside = True
        elif kind == ")" and is_inside:
            is_inside, at = False, 3
        elif kind == ";":
            at += 1
        elif not child.is_named:
            continue
        elif at >= 3:
            body = child
        elif is_inside and at < 3:
            parts[at] = child
            if kind == "declaration":
                at += 1
    return parts, body


@handles(STATEMENTS, "while_statement")
def _while(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    body = parts[1] if len(parts) > 1 else None
    _loop(low, node, parts[0] if parts else None, None, body, tests_first=True)


@handles(STATEMENTS, "do_statement")
def _do(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    test = parts[-1] if len(parts) > 1 else None
    body = parts[0] if parts else None
    if test is not None and body is not None and _runs_once(low, test, body):
        for statement in nested_statement(low, body):
            low.emit(statement)
        return
    _loop(low, node, test, None, body, tests_first=False)


def _runs_once(low: Lowering, test: Node, body: Node) -> bool:
    """Tell whether `do … while (0)` is what macros make of several statements, which nothing leaves early."""
    if _NEVER.fullmatch(low.text(test)) is None:
        return False
    return _LEAVES.search(low.unit.tree.text, body.start_byte, body.end_byte) is None


_NEVER = re.compile(r"[\s(]*(?:0[uUlL]{0,3}|false)[\s)]*")
_LEAVES = re.compile(r"\b(?:break|continue)\b")


def _loop(
    low: Lowering,
    node: Node,
    test_node: Node | None,
    step_node: Node | None,
    body_node: Node | None,
    *,
    tests_first: bool,
) -> None:
    with low.nested() as test_out:
        test = condition(low.scalar(test_node)) if test_node is not None else None
    body = nested_statement(low, body_node)
    with low.nested() as step_out:
        if step_node is not None:
            discard(low, step_node)
    step = tuple(step_out)
    if test is not None and truth(test):
        test = None
    unroll = _unroll(low, node)
    low.emit(Loop(tuple(test_out), test, body, step, tests_first, low.span(node), unroll))


_UNROLL = re.compile(r"\bunroll\b\s*\(?\s*(\d+)?")


def _unroll(low: Lowering, node: Node) -> int | None:
    tree = low.unit.tree
    texts = [it.word + " " + " ".join(it.arguments) for it in _pragmas_at(low, node.start_byte)]
    for attribute in tree.attributes_in(node.start_byte, node.start_byte + 1):
        if attribute.word == "opencl_unroll_hint":
            texts.append("unroll " + " ".join(attribute.arguments))
    for text in texts:
        match = _UNROLL.search(text)
        if match is not None:
            return int(match[1]) if match[1] else 0
    return None


def _pragmas_at(low: Lowering, offset: int) -> list[Removed]:
    pragmas = low.unit.tree.pragmas
    at = bisect_left(pragmas, offset, key=lambda it: it.offset)
    found: list[Removed] = []
    while at < len(pragmas) and pragmas[at].offset == offset:
        found.append(pragmas[at])
        at += 1
    return found


@handles(STATEMENTS, "break_statement")
def _break(low: Lowering, node: Node) -> None:
    outer = enclosing(node, (*_LOOPS, "switch_statement"))
    if outer is None:
        low.unsupported(node, "a break outside loops and switches")
    elif outer.start_byte in low.switch_ends:
        low.emit(Goto(low.switch_ends[outer.start_byte], low.span(node)))
    else:
        low.emit(Break(low.span(node)))


@handles(STATEMENTS, "continue_statement")
def _continue(low: Lowering, node: Node) -> None:
    if enclosing(node, _LOOPS) is not None:
        low.emit(Continue(low.span(node)))
    else:
        low.unsupported(node, "a continue outside loops")


_LOOPS = ("for_statement", "while_statement", "do_statement")


def enclosing(node: Node, kinds: tuple[str, ...]) -> Node | None:
    """Return the innermost node of some kinds that a node of the same function stands in."""
    parent = node.parent
    while parent is not None and parent.type != "function_definition":
        if parent.type in kinds:
            return parent
        parent = parent.parent
    return None


# ------------------------------------------------------------------------------------------------- jumps


@handles(STATEMENTS, "return_statement")
def _return(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    span = low.span(node)
    if not parts:
        low.emit(Return(None, span))
        return
    if low.is_kernel or low.result == VOID:
        discard(low, parts[0])
        low.emit(Return(None, span))
        return
    outer, low.expected = low.expected, low.result
    value = low.value(parts[0])
    low.expected = outer
    if isinstance(value, ObjectValue):
        low.emit(Return(value.pointer, span))
    elif isinstance(low.result, StructType):
        low.emit(Return(Undefined("result", low.result, span), span))
    elif isinstance(low.result, PointerType) and isinstance(value.type, PointerType):
        low.emit(Return(value, span))
    else:
        low.emit(Return(convert(value, low.result), span))


@handles(STATEMENTS, "labeled_statement")
def _labeled(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    name, span = low.text(parts[0]), low.span(parts[0])
    if name in low.labels:
        message = f"a second label `{name}` in this function; the first one counts"
        low.report("duplicate-label", Severity.ERROR, message, span)
    else:
        low.labels.add(name)
        low.emit(Label(name, span))
    for part in parts[1:]:
        low.statement(part)


@handles(STATEMENTS, "goto_statement")
def _goto(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    if parts:
        low.emit(Goto(low.text(parts[0]), low.span(node)))
