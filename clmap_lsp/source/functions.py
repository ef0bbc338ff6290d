"""Functions: their signatures, parameters, attributes, and bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.conversions import convert
from clmap_lsp.source.declarations import Declared, declare, is_void, parameter_type, specifier
from clmap_lsp.source.expressions import whole_object
from clmap_lsp.source.ir import (
    Attributes,
    Declare,
    Function,
    Guess,
    Initializer,
    Read,
    Statement,
    Variable,
    VariableKind,
    walk,
)
from clmap_lsp.source.lowering import Lowering, Object, Reported, Signature, Unit
from clmap_lsp.source.nesting import Nesting, nesting_of
from clmap_lsp.source.span import LazySpan, Span
from clmap_lsp.source.types import AddressSpace, StructType, Type

if TYPE_CHECKING:
    from tree_sitter import Node, Query

    from clmap_lsp.source.syntax import Removed


@dataclass(frozen=True, slots=True)
class Head:
    """A function up to its body."""

    name: str
    unique: str
    result: Type
    parameters: tuple[tuple[Node | None, Type, tuple[str, ...]], ...]
    is_kernel: bool
    attributes: Attributes
    name_span: Span
    span: Span
    node: Node
    body: Node | None

    @property
    def signature(self) -> Signature:
        """What calls need to know."""
        return Signature(self.unique, self.result, tuple(it[1] for it in self.parameters))


@dataclass(frozen=True)
class Lowered:
    """A function with what it depends on."""

    function: Function
    n_sites: int
    objects: tuple[Variable, ...]
    guesses: tuple[Guess, ...]
    calls: frozenset[str]
    """The functions of the program that it calls."""
    outer: frozenset[str]
    """The names that its body looked up outside of itself."""
    initializers: Mapping[Variable, Initializer]
    """The constant objects that it defines."""
    problems: tuple[Reported, ...]
    spans: tuple[LazySpan, ...]
    """The places of its parameters and of its body."""
    origin: int
    """Where it starts in the normalised text."""

    @lazy_property
    def nesting(self) -> Nesting:
        """How deeply its body nests. Most functions of a header are in no kernel, and are never asked."""
        return nesting_of(self.function.body or ())

    @lazy_property
    def n_statements(self) -> int:
        """How many statements it has, without those of what it calls."""
        return sum(1 for _ in walk(self.function.body or ()))


# ------------------------------------------------------------------------------------------------ heads


def read_head(low: Lowering, node: Node) -> Head | None:
    """Read a function definition or prototype up to its body; `None` if it declares no function."""
    spec = specifier(low, node)
    if not spec.declarators:
        return None
    declared = declare(low, spec, spec.declarators[0])
    if declared.name is None or declared.parameters is None:
        return None
    body = node.children[-1] if node.children[-1].type == "compound_statement" else None
    parameters = _parameters(low, declared.parameters)
    name = low.text(declared.name)
    known = low.unit.functions.get(name, [])
    types = tuple(it[1] for it in parameters)
    same = next((at for at, it in enumerate(known) if it.parameters == types), None)
    is_kernel = "kernel" in (*spec.words, *declared.words)
    if (
        same is not None
        and is_kernel
        and body is not None
        and low.unit.is_of_another_program(known[same].name)
    ):
        same = None  # Each string of a host may be a program with a kernel of this name.
    at = len(known) if same is None else same
    end = body.start_byte if body is not None else node.end_byte
    attributes = read_attributes(low.unit.tree.attributes_in(node.start_byte, end + 1))
    return Head(
        name,
        name if at == 0 else f"{name}#{at}",
        declared.type,
        parameters,
        is_kernel,
        attributes,
        low.span(declared.name),
        low.span(node),
        node,
        body,
    )


def _parameters(low: Lowering, node: Node) -> tuple[tuple[Node | None, Type, tuple[str, ...]], ...]:
    found: list[Declared] = []
    for child in node.children:
        if child.type == "parameter_declaration":
            spec = specifier(low, child)
            found.append(declare(low, spec, spec.declarators[0] if spec.declarators else None))
    if is_void(found):
        return ()
    return tuple((it.name, parameter_type(it, low), it.words) for it in found)


_MAX_DIGITS = 10
"""Of a size in an attribute."""


def read_attributes(removed: Iterable[Removed]) -> Attributes:
    """Return what the attributes of a function say."""
    sizes: dict[str, tuple[int, int, int]] = {}
    hint: str | None = None
    sub_group: int | None = None
    others: list[str] = []
    for item in removed:
        match item.word:
            case "reqd_work_group_size" | "work_group_size_hint":
                numbers = _numbers(item.arguments)
                if numbers is not None:
                    sizes[item.word] = numbers
            case "vec_type_hint":
                hint = item.arguments[0].strip() if item.arguments else None
            case "intel_reqd_sub_group_size" | "reqd_sub_group_size":
                sub_group = _size(item.arguments[0]) if item.arguments else None
            case _:
                others.append(item.word)
    return Attributes(
        sizes.get("reqd_work_group_size"),
        sizes.get("work_group_size_hint"),
        hint,
        sub_group,
        tuple(others),
    )


def _numbers(arguments: tuple[str, ...]) -> tuple[int, int, int] | None:
    sizes = [_size(it) for it in ",".join(arguments).split(",")]
    match sizes:
        case [int(x), int(y), int(z)]:
            return x, y, z
        case _:
            return None


def _size(argument: str) -> int | None:
    """Return a size of an attribute; None for what is none, such as 0."""
    text = re.sub(r"[uUlL\s()]", "", argument)
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) or None if is_number else None


# ------------------------------------------------------------------------------------------------ bodies


@cache
def _address_query() -> Query:
    from tree_sitter import Query

    from clmap_lsp.source.parse import language

    return Query(
        language(),
        """
        (pointer_expression "&" argument: (_) @address)
        (assignment_expression left: (_) @written)
        (update_expression argument: (_) @written)
        (gnu_asm_output_operand value: (_) @written)
        """,
    )


@dataclass(frozen=True, slots=True)
class Uses:
    """Names of a function whose address is taken, and names that are written."""

    addressed: frozenset[str]
    written: frozenset[str]


_SECOND_RESULT = re.compile(r"(fract|frexp|modf|sincos|lgamma_r|remquo)\b")


def find_uses(unit: Unit, node: Node) -> Uses:
    """Return which names a function takes the address of and which it writes."""
    from tree_sitter import QueryCursor

    captures = QueryCursor(_address_query()).captures(node)
    text = unit.tree.text
    addressed = {
        name
        for it in captures.get("address", ())
        if (name := _base_name(text, it)) and not _is_second_result(text, it)
    }
    written = {name for it in captures.get("written", ()) if (name := _base_name(text, it))}
    second = {
        name
        for it in captures.get("address", ())
        if (name := _base_name(text, it)) and _is_second_result(text, it)
    }
    return Uses(frozenset(addressed), frozenset(written | second | addressed))


def _base_name(text: str, node: Node) -> str | None:
    """Return the variable that `x`, `x.y`, `(x)` stand on; `None` where a pointer or array comes between."""
    while node.type in ("parenthesized_expression", "field_expression"):
        children = node.children
        if node.type == "field_expression" and any(it.type == "->" for it in children):
            return None
        node = children[1] if node.type == "parenthesized_expression" else children[0]
    return text[node.start_byte : node.end_byte] if node.type == "identifier" else None


def _is_second_result(text: str, node: Node) -> bool:
    """True for `&y` as the last argument of `fract(x, &y)`, which is lowered without an address."""
    parent = node.parent
    arguments = parent.parent if parent is not None else None
    call = arguments.parent if arguments is not None else None
    if call is None or call.type != "call_expression":
        return False
    return _SECOND_RESULT.match(text, call.start_byte) is not None


def lower_function(unit: Unit, head: Head) -> Lowered:
    """Lower a function with its body."""
    low = Lowering(unit, head.name, head.result, head.is_kernel)
    body: tuple[Statement, ...] | None = None
    uses = find_uses(unit, head.body) if head.body is not None else Uses(frozenset(), frozenset())
    low.in_memory = uses.addressed
    parameters = _define_parameters(low, head, uses)
    if head.body is not None:
        low.statement(head.body)
        body = tuple(low.out)
    function = Function(
        head.unique,
        parameters,
        head.result,
        body,
        tuple(low.variables),
        head.is_kernel,
        head.attributes,
        head.name_span,
        head.span,
    )
    guesses = tuple(low.used_guesses.values())
    return Lowered(
        function,
        low.n_sites,
        tuple(low.used_objects),
        guesses,
        frozenset(low.calls),
        frozenset(low.outer),
        low.initializers,
        tuple(low.problems),
        tuple(low.spans),
        head.node.start_byte,
    )


def _define_parameters(low: Lowering, head: Head, uses: Uses) -> tuple[Variable, ...]:
    """Give every parameter a variable; one that the body writes or points to is first copied."""
    parameters: list[Variable] = []
    for at, (name_node, type_, words) in enumerate(head.parameters):
        name = low.text(name_node) if name_node is not None else f"%parameter{at}"
        span = low.span(name_node) if name_node is not None else head.name_span
        variable = Variable(name, type_, VariableKind.PARAMETER, span, is_temporary=name_node is None)
        parameters.append(variable)
        is_volatile = "volatile" in words
        is_struct = isinstance(type_, StructType)
        if is_struct or (name not in uses.addressed and name not in uses.written):
            low.define(name, Object(variable, AddressSpace.PRIVATE, "const" in words, is_volatile))
            continue
        kind = VariableKind.PRIVATE_OBJECT if name in uses.addressed else VariableKind.REGISTER
        copy = Variable(name, type_, kind, span)
        low.variables.append(copy)
        low.emit(Declare(copy, span))
        value = convert(Read(variable, span), type_)
        if kind is VariableKind.PRIVATE_OBJECT:
            low.store(whole_object(copy, span), value)
        else:
            low.assign(copy, value, span)
        low.define(name, Object(copy, AddressSpace.PRIVATE, False, is_volatile))
    return tuple(parameters)
