"""What libclang says of OpenCL files: which it accepts, what each identifier names, its first error.

For `language_truth.py`. Needs libclang's bindings and clang's `opencl-c-base.h`.
"""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import POINTER, byref, c_uint
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import c_object_p

HEADERS = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include/opencl-c-base.h"))
STANDARDS = ("CL1.2", "CL2.0")


@dataclass(frozen=True, slots=True)
class Named:
    """What an identifier names: where that is declared, its type, and what it is."""

    offset: int
    """Code points from the start of the file."""
    text: str
    path: str | None
    """The file of the definition (else declaration); `None` for what is built in."""
    target: int
    """The offset there; bytes."""
    kind: str
    type: str
    is_declaration: bool


@dataclass(frozen=True, slots=True)
class FirstError:
    """The first error that clang reports."""

    row: int
    column: int
    message: str


@cache
def _index() -> Any:
    return cindex.Index.create()


def parsed(path: Path, text: str, standard: str) -> Any:
    """Parse a text under a file's name."""
    arguments = ["-x", "cl", f"-cl-std={standard}", "-target", "spir64", "-cl-no-stdinc", "-w"]
    arguments += ["-include", str(HEADERS[-1]), "-Xclang", "-fdeclare-opencl-builtins", "-ferror-limit=0"]
    options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    return _index().parse(str(path), arguments, [(str(path), text)], options)


def first_error(unit: Any, path: Path) -> FirstError | None:
    """Return the first error; a fatal one that stands elsewhere has row 0."""
    for it in unit.diagnostics:
        if it.severity >= cindex.Diagnostic.Error:
            is_here = str(it.location.file) == str(path)
            return FirstError(it.location.line if is_here else 0, it.location.column, it.spelling)
    return None


def accepted(path: Path, text: str) -> str | None:
    """Return the first standard under which clang accepts a file without an error."""
    for standard in STANDARDS:
        if first_error(parsed(path, text, standard), path) is None:
            return standard
    return None


def identifiers(unit: Any, path: Path, text: str) -> Iterator[Named]:
    """Yield what each identifier of the file names, those in directives aside."""
    library = cindex.conf.lib
    tokens_memory = POINTER(cindex.Token)()
    count = c_uint()
    library.clang_tokenize(unit, unit.cursor.extent, byref(tokens_memory), byref(count))
    cursors = (cindex.Cursor * max(count.value, 1))()
    library.clang_annotateTokens(unit, tokens_memory, count, cursors)
    offsets = _code_points(text)
    for at in range(count.value):
        token = tokens_memory[at]
        if library.clang_getTokenKind(token) != 2:
            continue
        cursor = cursors[at]
        cursor._tu = unit
        spelled = library.clang_getTokenSpelling(unit, token)
        location = library.clang_getTokenLocation(unit, token)
        found = _named(cursor, spelled, location.offset, offsets)
        if found is not None:
            yield found


def _file_location(location: Any) -> tuple[str | None, int]:
    """Return the file and offset where something is typed: of what a macro makes, the macro's use."""
    file = c_object_p()
    row, column, offset = c_uint(), c_uint(), c_uint()
    cindex.conf.lib.clang_getFileLocation(location, byref(file), byref(row), byref(column), byref(offset))
    return (str(cindex.File(file)) if file else None), offset.value


def _code_points(text: str) -> list[int] | None:
    """Return for each byte of the text the code point that it is part of; `None` where they are the same."""
    if text.isascii():
        return None
    return [at for at, char in enumerate(text) for _ in char.encode()]


_TYPES = cindex.TypeKind
_ARRAYS = (_TYPES.CONSTANTARRAY, _TYPES.INCOMPLETEARRAY, _TYPES.VARIABLEARRAY)
_SCALARS = {
    "BOOL": "bool", "SCHAR": "char", "CHAR_S": "char", "UCHAR": "uchar", "SHORT": "short", "USHORT": "ushort",
    "INT": "int", "UINT": "uint", "LONG": "long", "ULONG": "ulong", "HALF": "half", "FLOAT": "float",
    "DOUBLE": "double", "FLOAT16": "half", "VOID": "void",
}  # fmt: skip
_SPACES = {1: "global", 2: "local", 3: "constant", 5: "generic"}
"""Libclang's numbers of address spaces for the target spir64."""


def described(type_: Any, *, is_outer: bool = True) -> str:
    """Return a type in one plain form; qualifiers of the outermost level say nothing of a value."""
    kind = type_.get_canonical()
    words = []
    if not is_outer:
        words += ["const"] if kind.is_const_qualified() else []
        words += ["volatile"] if kind.is_volatile_qualified() else []
        words += [_SPACES[kind.get_address_space()]] if kind.get_address_space() in _SPACES else []
    return " ".join([*words, _described_base(kind, is_outer)])


def _is_foreign(type_: Any) -> bool:
    """Tell whether a type is of a kind that the bindings do not know."""
    try:
        return type_.get_canonical().kind is None
    except ValueError:
        return True


def _described_base(kind: Any, is_outer: bool) -> str:
    if _is_foreign(kind):
        return "?"
    if kind.kind in (_TYPES.POINTER, _TYPES.BLOCKPOINTER):
        return f"({described(kind.get_pointee(), is_outer=False)})*"
    if kind.kind in _ARRAYS:
        length = kind.element_count if kind.kind is _TYPES.CONSTANTARRAY else ""
        return f"{_element(kind, is_outer=is_outer)}[{length}]"
    if kind.kind.name in ("VECTOR", "EXTVECTOR"):
        return f"{_SCALARS[kind.element_type.kind.name]}{kind.element_count}"
    if kind.kind is _TYPES.FUNCTIONPROTO:
        parameters = ", ".join(described(it) for it in kind.argument_types())
        variadic = ", ..." if kind.is_function_variadic() else ""
        return f"{described(kind.get_result())} ({parameters}{variadic})"
    if kind.kind.name in _SCALARS:
        return _SCALARS[kind.kind.name]
    if kind.kind is _TYPES.ATOMIC:
        held = kind.spelling.rsplit("(", 1)[-1].rstrip(")")
        return f"atomic_{'u' if held.startswith('unsigned') else ''}{held.split()[-1]}"
    if kind.kind in (_TYPES.RECORD, _TYPES.ENUM):
        name = kind.get_declaration().spelling
        return "unnamed" if "(" in name or not name else name
    if " pipe " in f" {kind.spelling} ":
        return "pipe " + str(kind.spelling).rsplit("pipe ", 1)[-1]
    return str(kind.spelling.split()[-1])


def _element(array: Any, *, is_outer: bool) -> str:
    """Describe an array's element; clang has its qualifiers on the array of a canonical type."""
    element = described(array.element_type, is_outer=is_outer)
    words = element.split()
    own = ["const"] if array.is_const_qualified() and "const" not in words[:1] else []
    own += ["volatile"] if array.is_volatile_qualified() and "volatile" not in words[:2] else []
    space = _SPACES.get(array.get_address_space())
    own += [space] if space is not None and space not in words[:3] else []
    return element if is_outer else " ".join([*own, element])


_KINDS = cindex.CursorKind
_REFERENCES = {
    _KINDS.DECL_REF_EXPR,
    _KINDS.MEMBER_REF_EXPR,
    _KINDS.TYPE_REF,
    _KINDS.MEMBER_REF,
    _KINDS.MACRO_INSTANTIATION,
    _KINDS.LABEL_REF,
}
_DECLARATIONS = {
    _KINDS.VAR_DECL,
    _KINDS.PARM_DECL,
    _KINDS.FUNCTION_DECL,
    _KINDS.FIELD_DECL,
    _KINDS.TYPEDEF_DECL,
    _KINDS.STRUCT_DECL,
    _KINDS.UNION_DECL,
    _KINDS.ENUM_DECL,
    _KINDS.ENUM_CONSTANT_DECL,
    _KINDS.LABEL_STMT,
}


def _named(cursor: Any, spelled: str, offset: int, offsets: list[int] | None) -> Named | None:
    if cursor.kind in _DECLARATIONS:
        if cursor.spelling != spelled or cursor.location.offset != offset:
            return None
        target, is_declaration = cursor, True
    elif cursor.kind in _REFERENCES:
        target, is_declaration = cursor.referenced, False
        if target is None or target.spelling != spelled:
            return None
    else:
        return None
    place = target.get_definition() or target
    file, target_offset = _file_location(place.location)
    at = offset if offsets is None else offsets[offset]
    type_ = "" if target.kind in (_KINDS.MACRO_DEFINITION, _KINDS.LABEL_STMT) else described(target.type)
    if "?" in type_:
        type_ = ""
    elif target.kind is _KINDS.PARM_DECL and target.type.get_canonical().kind in _ARRAYS:
        type_ = f"({_element(target.type.get_canonical(), is_outer=False)})*"
    return Named(
        at,
        spelled,
        file,
        target_offset,
        target.kind.name,
        type_,
        is_declaration,
    )
