"""What a hover says of a name, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack

from clmap_lsp.escaping import code_block, plain_markdown
from clmap_lsp.index import builtins
from clmap_lsp.index.constants import PredefinedConstant, constants
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import CALLABLE, TAGS, BuiltinUse, Kind, Symbol
from clmap_lsp.index.types import (
    DOUBLE,
    TYPE_NAMES,
    Enumeration,
    Function,
    Named,
    Placed,
    Pointer,
    Qualified,
    Record,
    base_of,
    canonical,
    layout,
    members_layout,
    space_of,
    spelled,
)
from clmap_lsp.source.types import AddressSpace, OpaqueType, ScalarType, VectorType

_MAX_ITEMS = 40
_MAX_EXPANSION = 120
"""Tokens of a macro's expansion that are shown."""
_SPACE_WORDS = {
    AddressSpace.GLOBAL: "global memory",
    AddressSpace.LOCAL: "local memory, one for each work-group",
    AddressSpace.CONSTANT: "constant memory",
    AddressSpace.PRIVATE: "private to each work-item",
    AddressSpace.GENERIC: "generic address space",
}


def code(text: str) -> str:
    """Return a text as a block of OpenCL C."""
    return code_block(text, "opencl")


def describe(index: Index, symbol: Symbol, *, is_varying: bool | None = None) -> str:
    """Say what a symbol is: its declaration, layout, address space, value, and the comment above it."""
    if symbol.macro is not None:
        return _macro(index, symbol)
    lines = [code(signature(symbol))]
    lines += _facts(index, symbol, is_varying)
    comment = comment_above(index, index.definition(symbol))
    if comment:
        lines += ["", comment]
    return "\n".join(lines)


def signature(symbol: Symbol) -> str:
    """Return a symbol's declaration in one line (records: in several)."""
    type_ = symbol.type
    match symbol.kind:
        case Kind.KERNEL | Kind.FUNCTION:
            return function_signature(symbol)
        case Kind.STRUCT | Kind.UNION | Kind.ENUM:
            return _record_text(type_, symbol)
        case Kind.TYPEDEF if type_ is not None:
            base = type_.base
            if isinstance(base, Record) and not base.name:
                return f"typedef {_record_text(type_, symbol)} {symbol.name}"
            return f"typedef {spelled(type_, symbol.name)}"
        case Kind.ENUMERATOR:
            return f"{symbol.name} = {symbol.value}"
        case Kind.LABEL:
            return f"{symbol.name}:"
        case _:
            return symbol.name if type_ is None else _declared(type_, symbol.name)


def _declared(type_: Qualified, name: str) -> str:
    return spelled(type_, name)


def function_signature(symbol: Symbol) -> str:
    """Return a function's head."""
    function = symbol.type.base if symbol.type is not None else None
    if not isinstance(function, Function):
        return f"{symbol.name}()"
    parameters = [spelled(it.type, it.name) if it.type else it.name for it in symbol.parameters]
    if function.is_variadic:
        parameters.append("...")
    head = f"{spelled(function.result)} {symbol.name}({', '.join(parameters) or 'void'})"
    return f"__kernel {head}" if symbol.kind is Kind.KERNEL else head


def _record_text(type_: Qualified | None, symbol: Symbol) -> str:
    base = type_.base if type_ is not None else None
    if isinstance(base, Enumeration):
        return f"enum {base.name}"
    if not isinstance(base, Record):
        return symbol.name
    head = f"{base.keyword} {base.name}".strip()
    if base.members is None:
        return f"{head};"
    placed = members_layout(base)
    places = {it.member: it for it in placed[0]} if placed else {}
    rows: list[str] = []
    end = 0
    for member in base.members[:_MAX_ITEMS]:
        place = places.get(member)
        if place is not None and not base.is_union and place.offset > end:
            rows.append(f"    // {place.offset - end} bytes of padding")
        text = _member_text(member)
        bits = f" : {member.bits}" if member.bits is not None else ""
        rows.append(f"    {text}{bits};" + ("" if place is None else f"  // {_where(place)}"))
        end = end if place is None else _end(place)
    if len(base.members) > _MAX_ITEMS:
        rows.append(f"    // and {len(base.members) - _MAX_ITEMS} more")
    if placed is not None and not base.is_union and placed[1].size > end:
        rows.append(f"    // {placed[1].size - end} bytes of padding")
    return "\n".join([f"{head} {{", *rows, "}"])


def _member_text(member: Symbol) -> str:
    base = base_of(member.type) if member.type is not None else None
    if isinstance(base, Record) and not member.name and base.members is not None:
        inner = "".join(f" {_member_text(it)};" for it in base.members[:_MAX_ITEMS])
        return f"{base.keyword} {{{inner} }}"
    return spelled(member.type, member.name) if member.type else member.name


def _where(place: Placed) -> str:
    """Say where a member stands."""
    if place.bit is None:
        return f"offset {place.offset}, size {place.size}"
    byte, first = divmod(place.bit, 8)
    last = first + (place.member.bits or 1) - 1
    which = f"bit {last}" if last == first else f"bits {first} to {last}"
    return f"offset {place.offset + byte}, {which}"


def _end(place: Placed) -> int:
    """Return the first byte behind a member."""
    if place.bit is None:
        return place.offset + place.size
    return place.offset + (place.bit + (place.member.bits or 0) + 7) // 8


def _facts(index: Index, symbol: Symbol, is_varying: bool | None) -> Iterator[str]:
    type_ = symbol.type
    if symbol.kind in (Kind.VARIABLE, Kind.PARAMETER) and type_ is not None:
        base = base_of(type_)
        if isinstance(base, Pointer):
            space = space_of(base.pointee) or AddressSpace.PRIVATE
            yield f"points to {_SPACE_WORDS[space]}"
            inner = layout(base.pointee)
            if inner is not None and inner.size:
                yield f"  \nelement: {inner.size} bytes"
        elif isinstance(base, OpaqueType):
            yield _handle(base, canonical(type_).access)
        else:
            size = layout(type_)
            space = space_of(type_) or AddressSpace.PRIVATE
            bytes_ = "" if size is None else f"{size.size} bytes, "
            yield f"{bytes_}{_SPACE_WORDS[space]}"
        if type_.base is not base and not isinstance(base, Record | Enumeration):
            yield f"  \ntype: `{spelled(type_, is_canonical=True)}`"
        if is_varying is not None:
            yield "  \ndiffers between work-items" if is_varying else "  \nsame for the whole work-group"
    elif symbol.kind in (*TAGS, Kind.TYPEDEF) and type_ is not None:
        size = layout(type_)
        if size is not None and not isinstance(base_of(type_), OpaqueType):
            yield f"{size.size} bytes, aligned to {size.alignment}"
        if isinstance(type_.base, Named) and symbol.kind is Kind.TYPEDEF:
            yield f"  \ntype: `{spelled(type_, is_canonical=True)}`"
    elif symbol.kind is Kind.MEMBER and symbol.parent is not None and symbol.parent.type is not None:
        yield from _member_facts(symbol, symbol.parent)
    elif symbol.kind in CALLABLE and symbol.attributes:
        words = [f"`{name}({text})`" if text else f"`{name}`" for name, text in symbol.attributes]
        yield f"attributes: {', '.join(words)}"
    if symbol.value is not None and symbol.kind is Kind.VARIABLE:
        yield f"  \nvalue: `{number(symbol.value, symbol.type)}`"


def _member_facts(symbol: Symbol, parent: Symbol) -> Iterator[str]:
    base = parent.type.base if parent.type is not None else None
    if not isinstance(base, Record):
        return
    owner = spelled(Qualified(base))
    placed = members_layout(base)
    if placed is None:
        yield f"member of `{owner}`"
        return
    place = next((it for it in placed[0] if it.member is symbol), None)
    if place is not None and place.bit is not None:
        yield f"member of `{owner}`: {_where(place)} of {placed[1].size} bytes"
    elif place is not None:
        where = f"offset {place.offset}, {place.size} of {placed[1].size} bytes"
        yield f"member of `{owner}`: {where}"


def _handle(base: OpaqueType, access: str | None) -> str:
    """Say what stands behind a value that programs only pass on."""
    if not base.is_image:
        return "an opaque value: only passed to built-in functions"
    does = {"write_only": "only written", "read_write": "read and written"}.get(access or "", "only read")
    return f"an image in global memory that is {does}"


def number(value: float, type_: Qualified | None = None) -> str:
    """Return a constant's value; large integers also in hexadecimal."""
    if isinstance(value, int):
        return f"{value} ({value:#x})" if abs(value) >= 256 else str(value)
    is_double = type_ is not None and base_of(type_) == base_of(DOUBLE)
    return repr(value) if is_double else _as_single(value)


def _as_single(value: float) -> str:
    """Return the fewest digits that tell a number from all others of single precision."""
    try:
        wanted = pack("f", value)
        return next(it for n in range(6, 10) if pack("f", float(it := f"{value:.{n}g}")) == wanted)
    except (OverflowError, StopIteration):  # No single is that large.
        return repr(value)


# ------------------------------------------------------------------------------------------------ macros


def _macro(index: Index, symbol: Symbol) -> str:
    macro = symbol.macro
    assert macro is not None
    head = macro.name
    if macro.parameters is not None:
        names = list(macro.parameters)
        if macro.is_variadic:
            names[-1] = "..." if names[-1] == "__VA_ARGS__" else f"{names[-1]}..."
        head += f"({', '.join(names)})"
    lines = [code(f"#define {head} {macro.body}".rstrip())]
    comment = comment_above(index, symbol)
    if comment:
        lines += ["", comment]
    return "\n".join(lines)


def expansion(index: Index, path: str, start: int) -> str | None:
    """Return what the macro use that starts at a place becomes, all macros in it replaced."""
    end = next(
        (it.use.end for it in index.tokens if it.use and (it.use.path, it.use.start) == (path, start)), start
    )
    parts: list[str] = []
    for token in index.tokens:
        use = token.use
        if use is None:
            is_inside = token.path == path and start <= token.start < end
        else:
            is_inside = use.path == path and use.start == start
        if is_inside:
            parts.append((" " if token.gap and parts else "") + token.text)
            if len(parts) > _MAX_EXPANSION:
                return "".join(parts) + " …"
    return "".join(parts) or None


# ------------------------------------------------------------------------------------- built-in names


def describe_builtin(use: BuiltinUse) -> str | None:
    """Say what a built-in function, type or constant is."""
    if use.name in TYPE_NAMES:
        return describe_type(use.name)
    if (constant := constants().get(use.name)) is not None:
        return describe_constant(constant)
    found = builtins.find(use.name)
    if found is not None:
        return describe_function(found, use.text)
    if use.type is not None:
        return code(f"{spelled(use.type)} .{use.name}")
    return None


def describe_word(word: str) -> str | None:
    """Say what a scalar type or a qualifier of OpenCL C is."""
    if word in TYPE_NAMES and word != "void":
        return describe_type(word)
    said = _QUALIFIERS.get(word) or _QUALIFIERS.get(word.strip("_"))
    return None if said is None else f"{code(word)}\n{said}"


_QUALIFIERS = {
    "kernel": "A function that a host launches over an NDRange; it returns nothing.",
    "global": "The device's memory: every work-item of every launch sees it.",
    "local": "Memory of one work-group, shared by its work-items for as long as the group runs.",
    "constant": "Memory that is read only and the same for all work-items; initialised where it is declared.",
    "private": "Memory of one work-item.",
    "generic": "Global, local or private memory, known only as the kernel runs (OpenCL C 2.0).",
    "read_only": "An image or pipe that the kernel only reads.",
    "write_only": "An image or pipe that the kernel only writes.",
    "read_write": "An image that the kernel reads and writes (OpenCL C 2.0).",
    "restrict": "A promise: what this pointer points to is reached through no other while it is used.",
    "const": "Not changed through this name.",
    "volatile": "Read and written each time that the text says so.",
}


def describe_function(found: builtins.Builtin, call: str | None = None) -> str:
    """Say what a built-in function does, how exact it is, and since when there is one."""
    shown = call or "\n".join([*dict.fromkeys(it.shown for it in found.overloads)][:6])
    lines = [code(shown), found.description]
    has_floats = any(it.word == "gentypef" for overload in found.overloads for it in overload.parameters)
    is_both = has_floats and found.section == "integer functions"
    facts = ["integer and common functions" if is_both else found.section]
    if found.accuracy is not None:
        facts.append(found.accuracy)
    if found.overloads[0].spaces:
        facts.append(found.overloads[0].spaces)
    if found.extension is not None:
        facts.append(f"extension `{found.extension}`")
    elif found.since > 1.0:
        facts.append(f"since OpenCL C {found.since:.1f}")
    if call is not None and len(found.overloads) > 1:
        facts.append(f"{len(found.overloads)} overloads")
    lines += ["", f"*{' · '.join(facts)}*"]
    return "\n".join(lines)


def describe_constant(constant: PredefinedConstant) -> str:
    """Say what a predefined constant is."""
    value = "" if constant.value is None else f" = {number(constant.value, constant.type)}"
    lines = [code(f"{spelled(constant.type)} {constant.name}{value}")]
    if constant.description:
        lines.append(constant.description)
    return "\n".join(lines)


def describe_type(name: str) -> str:
    """Say how large a built-in type is."""
    type_ = TYPE_NAMES[name]
    base = base_of(type_)
    lines = [code(name if str(base) == name else f"typedef {spelled(type_, is_canonical=True)} {name}")]
    if isinstance(base, VectorType):
        note = "; takes the room of 4" if base.lanes == 3 else ""
        lines.append(
            f"{base.lanes} lanes of `{base.element}`{note}; {base.size} bytes, aligned to {base.alignment}"
        )
    elif isinstance(base, OpaqueType):
        lines.append("an opaque type: only passed to built-in functions")
    elif isinstance(base, ScalarType) and base.bits:
        lines.append(f"{base.bits} bits, aligned to {base.alignment} bytes")
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------- comments


def comment_above(index: Index, symbol: Symbol) -> str:
    """Return the comment right above a declaration, or behind it on its line, as plain text."""
    span = index.full_span(symbol)
    if span is None or span.path not in index.files:
        return ""
    text = index.files[span.path].text
    if symbol.kind in (Kind.PARAMETER, Kind.LABEL):
        return ""
    before = text[: text.rfind("\n", 0, span.start) + 1].rstrip(" \t")
    lines: list[str] = []
    if before.rstrip().endswith("*/") and not before.rstrip("\n").endswith("\n"):
        start = before.rfind("/*")
        if before[before.rfind("\n", 0, start) + 1 : start].strip() == "":
            lines = before[start:].strip().removeprefix("/*").removesuffix("*/").splitlines()
            lines = [it.strip().lstrip("*").strip() for it in lines]
    else:
        for line in reversed(before.splitlines()):
            if not line.strip().startswith("//") or line.strip().startswith("// clmap:"):
                break
            lines.insert(0, line.strip().lstrip("/").strip())
    said = "\n".join(it for it in lines if it)
    return plain_markdown(said[:800]).replace("\n", "  \n")
