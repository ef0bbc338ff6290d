"""Declaration specifiers and declarators: from syntax to types.

Qualifiers are not in the tree: the side table of the syntax tree says which words stood before a token. A
word before a token belongs to what has been read so far: `float __global * p` qualifies the float,
`float * __global p` the pointer, and `__global float * p` the float again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.conditions import BadConditionError, evaluate_words
from clmap_lsp.source.constants import integer_value
from clmap_lsp.source.dialect import AUTO_TYPE
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.layout import Member, lay_out
from clmap_lsp.source.lexer import words
from clmap_lsp.source.lowering import Enumerator, Lowering, TypeName
from clmap_lsp.source.typenames import NAMED_TYPES, SIZED_WORDS, sized_type
from clmap_lsp.source.types import (
    CHAR,
    FLOAT,
    HALF,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_LANES,
    VOID,
    AddressSpace,
    ArrayType,
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

_SPACES = {it.value: it for it in AddressSpace}
_TYPE_KINDS = frozenset(
    {
        "primitive_type",
        "sized_type_specifier",
        "type_identifier",
        "struct_specifier",
        "union_specifier",
        "enum_specifier",
        "macro_type_specifier",
    }
)
_DECLARATOR_KINDS = frozenset(
    {
        "primitive_type",  # `typedef int ssize_t`: the grammar knows names that are none of OpenCL C's
        "identifier",
        "field_identifier",
        "type_identifier",
        "pointer_declarator",
        "array_declarator",
        "function_declarator",
        "parenthesized_declarator",
        "init_declarator",
        "abstract_pointer_declarator",
        "abstract_array_declarator",
        "abstract_function_declarator",
        "abstract_parenthesized_declarator",
    }
)


@dataclass(frozen=True, slots=True)
class Specifier:
    """What stands left of the declarators: a type and the words that qualify it."""

    type: Type
    words: tuple[str, ...]
    declarators: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """One declared name. `words` qualify the object itself; `parameters` is there for functions."""

    name: Node | None
    type: Type
    words: tuple[str, ...]
    parameters: Node | None = None

    @property
    def space(self) -> AddressSpace | None:
        """The address space that the object was declared in, if any."""
        return space_of(self.words)


def space_of(words: tuple[str, ...]) -> AddressSpace | None:
    """Return the address space among qualifiers; `constant` wins over a doubled one."""
    for word in words:
        if word in _SPACES:
            return _SPACES[word]
    return None


def words_at(low: Lowering, offset: int) -> tuple[str, ...]:
    """Return the qualifiers that stood before the token at `offset`."""
    return tuple(low.unit.qualifiers.get(offset, ()))


# ------------------------------------------------------------------------------------------- specifiers


def specifier(low: Lowering, node: Node) -> Specifier:
    """Read the type, the qualifiers and the declarators of a declaration-like node."""
    type_: Type | None = None
    words: list[str] = []
    declarators: list[Node] = []
    table = low.unit.qualifiers
    for child in node.children:
        kind = child.type
        if type_ is None and kind in _TYPE_KINDS:
            words += table.get(child.start_byte, ())
            type_ = named_type(low, child)
            if kind == "sized_type_specifier":
                for word in child.children[1:]:
                    words += table.get(word.start_byte, ())
        elif kind in _DECLARATOR_KINDS or kind == "bitfield_clause":
            declarators.append(child)
        elif type_ is None and child.start_byte == node.start_byte:
            words += table.get(child.start_byte, ())
    return Specifier(type_ or INT, tuple(words), tuple(declarators))


def named_type(low: Lowering, node: Node) -> Type:
    """Return the type that a type specifier names."""
    match node.type:
        case "primitive_type" | "type_identifier" | "macro_type_specifier":
            return type_by_name(low, low.text(node), node)
        case "sized_type_specifier":
            return _sized(low, node)
        case "struct_specifier" | "union_specifier":
            return _structure(low, node)
        case "enum_specifier":
            return _enumeration(low, node)
        case _:
            return INT


def _sized(low: Lowering, node: Node) -> Type:
    words = low.text(node).split()
    for word in words:
        if word not in SIZED_WORDS:
            return type_by_name(low, word, node)
    if words.count("long") > 1:
        message = "`long long` is reserved for integers of 128 bits; taken for 64, as in C"
        low.report("unsupported", Severity.INFORMATION, message, low.span(node), "long long")
    return sized_type(words)


def find_type(low: Lowering, name: str) -> Type | None:
    """Return the type of a name that is known here, or was guessed."""
    symbol = low.lookup(name)
    if isinstance(symbol, TypeName):
        return low.complete(symbol.type)
    if name in NAMED_TYPES:
        return NAMED_TYPES[name]
    if name in _WIDE:
        return _WIDE[name]
    guess = low.guess(name)
    if guess is not None and guess.value and guess.value != name and guess.role in ("type", "vector type"):
        return find_type(low, guess.value) or _spelled(guess.value)
    return low.lookup_tag(name)


_WIDE: dict[str, Type] = {
    f"{it.name}32": VectorType(it, 32) for it in (CHAR, UCHAR, SHORT, USHORT, INT, UINT, HALF, FLOAT)
}
"""Vectors of 32, an extension of Qualcomm's compiler; many programs use the names for something else."""


def _spelled(text: str) -> Type | None:
    words = text.split()
    return sized_type(words) if words and all(word in SIZED_WORDS for word in words) else None


def type_by_name(low: Lowering, name: str, node: Node) -> Type:
    """Return the type of a name; one that is not known is reported once."""
    if name == AUTO_TYPE:
        return UnknownType(name)
    found = find_type(low, name)
    if found is not None:
        return found
    if low.guess(name) is None:
        message = f"`{name}` is no type that is known here; it is taken for 4 bytes"
        low.report("undefined-name", Severity.WARNING, message, low.span(node), name)
    return UnknownType(name)


# ---------------------------------------------------------------------------------- structs, unions, enums


def _structure(low: Lowering, node: Node) -> Type:
    name = body = None
    for child in node.children:
        if child.type == "type_identifier":
            name = low.text(child)
        elif child.type == "field_declaration_list":
            body = child
    if body is None:
        return _tagged(low, node, name or "")
    is_union = node.type == "union_specifier"
    attributes = _type_attributes(low, node, body)
    members = tuple(member for child in body.children for member in _members(low, child))
    low.unit.n_unnamed += 1
    shown = name or f"{'union' if is_union else 'struct'}@{low.unit.n_unnamed}"
    aligned = max((_alignment(low, it) for it in attributes if it.word == "aligned"), default=None)
    packed = any(it.word == "packed" for it in attributes)
    type_ = lay_out(shown, members, is_union=is_union, is_packed=packed, aligned=aligned)
    if name:
        low.define_tag(name, type_)
    return type_


def _tagged(low: Lowering, node: Node, name: str) -> Type:
    """Return `struct name`; casts to any type are printed that way by the normaliser."""
    if node.start_byte in low.unit.tree.elaborated:
        return type_by_name(low, name, node)
    found = low.lookup_tag(name)
    if found is None:
        # A forward declaration: pointers to it are fine, and it is completed where its body stands.
        found = find_type(low, name) or UnknownType(name)
    return found


def _type_attributes(low: Lowering, node: Node, body: Node) -> list[Removed]:
    """Return the attributes of a type: between its keyword and its body, or directly behind that."""
    found = low.unit.tree.attributes_in(node.start_byte + 1, body.start_byte + 1)
    return [*found, *_attributes_behind(low, body)]


def _attributes_behind(low: Lowering, node: Node) -> Sequence[Removed]:
    """Return the attributes that stand directly behind a node."""
    tree = low.unit.tree
    following = bisect_left(tree.token_starts, node.end_byte)
    if following == len(tree.token_starts):
        return ()
    start = tree.token_starts[following]
    return tree.attributes_in(start, start + 1)


def _alignment(low: Lowering, attribute: Removed) -> int:
    return _attribute_value(low, attribute) if attribute.arguments else 16


def _attribute_value(low: Lowering, attribute: Removed) -> int:
    """Return the number in an attribute's brackets, 1 where it cannot be known."""
    texts = words(attribute.arguments[0]) if attribute.arguments else []
    while "sizeof" in texts:
        at = texts.index("sizeof")
        end = texts.index(")", at) if ")" in texts[at:] else len(texts)
        type_ = find_type(low, " ".join(texts[at + 2 : end]))
        if type_ is None:
            return 1
        texts[at : end + 1] = [str(type_.size)]
    try:
        value = evaluate_words(tuple(texts)).value
    except BadConditionError:
        return 1
    # More than any alignment of hardware; without a bound a layout takes all memory.
    return value if 0 < value < 10**9 else 1


def _as_vector(low: Lowering, node: Node, name: str, type_: Type) -> Type:
    """Return the vector that attributes of GCC and clang make of a typedef's scalar, else the type."""
    for it in low.unit.tree.attributes_in(node.start_byte, node.end_byte):
        if isinstance(type_, ScalarType) and it.word in ("vector_size", "ext_vector_type"):
            n_lanes = _attribute_value(low, it) // (type_.size if it.word == "vector_size" else 1)
            if n_lanes in VECTOR_LANES:
                return VectorType(type_, n_lanes)
            message = f"that `{name}` is a vector is not followed"
            low.report("unsupported", Severity.INFORMATION, message, low.span(node))
    return type_


def _members(low: Lowering, node: Node) -> list[Member]:
    if node.type != "field_declaration":
        return []
    spec = specifier(low, node)
    shared = _before_declarators(low, node, spec.declarators)
    if not spec.declarators:
        aligned, is_packed = _placing(low, shared)
        is_anonymous = isinstance(spec.type, StructType)
        return [Member("", spec.type, aligned=aligned, is_packed=is_packed)] if is_anonymous else []
    members: list[Member] = []
    for declarator in spec.declarators:
        if declarator.type == "bitfield_clause":
            if members:
                members[-1] = _bit_field(low, members[-1], declarator)
            else:
                members.append(_bit_field(low, Member("", spec.type), declarator))
            continue
        declared = declare(low, spec, declarator)
        name = low.text(declared.name) if declared.name is not None else ""
        aligned, is_packed = _placing(low, [*shared, *_attributes_behind(low, declarator)])
        members.append(Member(name, declared.type, None, aligned, is_packed))
    return members


def _before_declarators(low: Lowering, node: Node, declarators: Sequence[Node]) -> list[Removed]:
    """Return the attributes of all members of one declaration: those before the first name.

    What stands inside of a structure that is defined there is its own members'.
    """
    end = declarators[0].start_byte + 1 if declarators else node.end_byte
    inner = [it for part in node.children for it in part.children if it.type == "field_declaration_list"]
    return [
        it
        for it in low.unit.tree.attributes_in(node.start_byte, end)
        if not any(body.start_byte < it.offset < body.end_byte for body in inner)
    ]


def _placing(low: Lowering, attributes: Sequence[Removed]) -> tuple[int | None, bool]:
    """Return the alignment that attributes give a member, and whether they pack it."""
    aligned = max((_alignment(low, it) for it in attributes if it.word == "aligned"), default=None)
    return aligned, any(it.word == "packed" for it in attributes)


def _bit_field(low: Lowering, member: Member, clause: Node) -> Member:
    """Return a member with its width, which has to fit its type (ISO C 6.7.2.1p3)."""
    bits = _integer(low, clause.children[-1])
    widest = member.type.bits if isinstance(member.type, ScalarType) and member.type.is_integer else None
    if widest is None:
        low.report("bit-field", Severity.ERROR, f"a bit-field of type `{member.type}`", low.span(clause))
        return member
    if bits is None or not 0 <= bits <= widest:
        width = "no known number of" if bits is None else str(bits)
        message = f"a bit-field of {width} bits in `{member.type}`; taken as {widest}"
        low.report("bit-field", Severity.ERROR, message, low.span(clause))
        bits = widest
    return replace(member, bits=bits)


def _enumeration(low: Lowering, node: Node) -> Type:
    """Read an enum; its type, and that of values which do not fit an `int`, are those that clang takes."""
    name = body = None
    for child in node.children:
        if child.type == "type_identifier":
            name = low.text(child)
        elif child.type == "enumerator_list":
            body = child
    if body is None:
        found = low.lookup_tag(name) if name is not None else None
        return found if isinstance(found, ScalarType) else UINT
    values = _enumerators(low, body)
    attributes = _type_attributes(low, node, body)
    type_ = _enum_type(values.values(), is_packed=any(it.word == "packed" for it in attributes))
    for enumerator, value in values.items():
        if not _fits(value, INT):
            low.define(enumerator, Enumerator(value, type_))
    if name is not None:
        low.define_tag(name, type_)
    return type_


def _enumerators(low: Lowering, body: Node) -> dict[str, int]:
    values: dict[str, int] = {}
    following = 0
    for item in body.children:
        if item.type != "enumerator":
            continue
        parts = item.children
        if len(parts) > 1:
            value = _integer(low, parts[-1])
            following = following if value is None else value
        name = low.text(parts[0])
        type_ = INT if _fits(following, INT) else _enum_type([following], is_packed=False)
        low.define(name, Enumerator(following, type_))
        values[name] = following
        following += 1
    return values


def _enum_type(values: Iterable[int], *, is_packed: bool) -> ScalarType:
    """Return the least type from `int` on, if packed from `char` on; unsigned where no value is negative."""
    values = list(values)
    signed = (CHAR, SHORT, INT, LONG) if is_packed else (INT, LONG)
    unsigned = (UCHAR, USHORT, UINT, ULONG) if is_packed else (UINT, ULONG)
    candidates = signed if any(it < 0 for it in values) else unsigned
    return next((it for it in candidates if all(_fits(value, it) for value in values)), candidates[-1])


def _fits(value: int, type_: ScalarType) -> bool:
    low, high = (-(1 << (type_.bits - 1)), 1 << (type_.bits - 1)) if type_.is_signed else (0, 1 << type_.bits)
    return low <= value < high


# ------------------------------------------------------------------------------------------- declarators


def declare(low: Lowering, spec: Specifier, declarator: Node | None) -> Declared:
    """Return the name and the type that one declarator declares."""
    if declarator is None:
        return Declared(None, spec.type, spec.words)
    return _declarator(low, declarator, spec.type, spec.words)


def _declarator(low: Lowering, node: Node, type_: Type, words: tuple[str, ...]) -> Declared:
    match node.type:
        case "identifier" | "field_identifier" | "type_identifier" | "primitive_type":
            words += words_at(low, node.start_byte)
            if isinstance(type_, PointerType) and "restrict" in words:
                type_ = replace(type_, is_restrict=True)
            return Declared(node, type_, words)
        case "pointer_declarator" | "abstract_pointer_declarator":
            return _pointer(low, node, type_, words)
        case "array_declarator" | "abstract_array_declarator":
            return _array(low, node, type_, words)
        case "function_declarator" | "abstract_function_declarator":
            declared = _inner(low, node, type_, words)
            parameters = next((it for it in node.children if it.type == "parameter_list"), None)
            is_bracketed = any("parenthesized_declarator" in it.type for it in node.children)
            if is_bracketed and isinstance(declared.type, PointerType) and declared.type is not type_:
                return declared  # a pointer to a function (or a block); calls of it are opaque
            return Declared(declared.name, declared.type, declared.words, parameters)
        case _:
            return _inner(low, node, type_, words)


def _inner(low: Lowering, node: Node, type_: Type, words: tuple[str, ...]) -> Declared:
    for child in node.children:
        if child.type in _DECLARATOR_KINDS:
            return _declarator(low, child, type_, words)
    return Declared(None, type_, words)


def _pointer(low: Lowering, node: Node, pointee: Type, words: tuple[str, ...]) -> Declared:
    words += words_at(low, node.start_byte)
    space = space_of(words) or default_space(low)
    type_ = PointerType(pointee, space, "const" in words, "volatile" in words)
    for child in node.children:
        if child.type in _DECLARATOR_KINDS:
            return _declarator(low, child, type_, ())
    after = words_at(low, node.end_byte)
    if "restrict" in after:
        type_ = replace(type_, is_restrict=True)
    return Declared(None, type_, after)


def default_space(low: Lowering) -> AddressSpace:
    """Return the space that a pointer without one points into."""
    return AddressSpace.GENERIC if low.unit.has_generic_space else AddressSpace.PRIVATE


def _array(low: Lowering, node: Node, element: Type, words: tuple[str, ...]) -> Declared:
    length: int | None = None
    is_inside = False
    for child in node.children:
        if child.type == "[":
            is_inside = True
        elif is_inside and child.is_named and child.type != "type_qualifier":
            length = _integer(low, child)
            if length is not None and length < 0:
                message = f"an array of {length} elements; taken as empty"
                low.report("array-length", Severity.ERROR, message, low.span(child))
                length = 0
    return _inner(low, node, ArrayType(element, length), words)


def _integer(low: Lowering, node: Node) -> int | None:
    """Return the value of a constant expression, `None` if it has none."""
    n_sites, n_variables, writes = low.n_sites, len(low.variables), low.writes
    with low.nested():
        value = integer_value(low.scalar(node))
    low.n_sites, low.writes = n_sites, writes
    del low.variables[n_variables:]
    return value


def described_type(low: Lowering, node: Node) -> Type:
    """Return the type of a type name in a cast or `sizeof` (a `type_descriptor`)."""
    spec = specifier(low, node)
    return declare(low, spec, spec.declarators[0] if spec.declarators else None).type


def define_typedef(low: Lowering, node: Node) -> None:
    """Take up `typedef ... a, *b;`.

    The grammar shows the first type name as the type and the others as declarators.
    """
    spec = specifier(low, node)
    for declarator in spec.declarators:
        declared = declare(low, spec, declarator)
        if declared.name is None:
            continue
        name = low.text(declared.name)
        type_ = _as_vector(low, node, name, declared.type)
        if isinstance(type_, StructType) and "@" in type_.name:
            type_ = replace(type_, name=name)
        low.define(name, TypeName(_aligned(low, declarator, type_)))


def _aligned(low: Lowering, declarator: Node, type_: Type) -> Type:
    """Return the type that `typedef T name __attribute__((aligned(n)));` names: the size of `T` stays."""
    wanted = max(
        (_alignment(low, it) for it in _attributes_behind(low, declarator) if it.word == "aligned"), default=1
    )
    if isinstance(type_, StructType):
        return replace(type_, alignment=max(type_.alignment, wanted))
    if wanted > type_.alignment:
        message = f"that `{low.text(declarator)}` is aligned to {wanted} bytes is not followed"
        low.report("unsupported", Severity.INFORMATION, message, low.span(declarator))
    return type_


def parameter_type(declared: Declared, low: Lowering) -> Type:
    """Return the type of a parameter: arrays and functions become pointers."""
    type_ = declared.type
    if isinstance(type_, ArrayType):
        space = declared.space or default_space(low)
        return PointerType(type_.element, space, "const" in declared.words, "volatile" in declared.words)
    return type_


def is_void(parameters: list[Declared]) -> bool:
    """True for the parameter list `(void)`."""
    return len(parameters) == 1 and parameters[0].type == VOID and parameters[0].name is None
