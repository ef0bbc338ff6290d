"""Holds how OpenCL C is read against clang: the shape of every expression and statement, types, layouts.

    python -m benchmarks.shapes DIR...          every kernel file below the folders
    python -m benchmarks.shapes DIR --limit 20  stop after 20 files with differences

A file is preprocessed by our own preprocessor and printed as plain text, with what is guessed for undefined
names put in. libclang's OpenCL front end and our reader then see the same characters, so that
every node has a place to be compared at. Functions in which clang reports an error are left out and counted.
Exit code: 0, or 1 where there was a difference.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_uint
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import clang.cindex as clang

from clmap_lsp.source.dialect import CASE_RANGE
from clmap_lsp.source.ir import Read, Severity, Undefined, Variable
from clmap_lsp.source.lexer import NEW_LINE
from clmap_lsp.source.lowering import Enumerator, Lowering, Object, TypeName
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse, preprocess_some_branch
from clmap_lsp.source.preprocess import PRAGMA
from clmap_lsp.source.read import lower
from clmap_lsp.source.roles import without_placeholders
from clmap_lsp.source.syntax import SyntaxTree
from clmap_lsp.source.types import (
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    UnknownType,
    VectorType,
)
from clmap_lsp.source.wrapped import without_wrapping

K = clang.CursorKind
HEADERS = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include/opencl-c-base.h"))
"""clang's header of OpenCL C; Debian's libclang-common-14-dev has it."""

Place = tuple[str, int, int]
"""A kind of node with its text's start and end."""


@dataclass(slots=True)
class Reading:
    """What one side makes of a text. Keys of nodes are kind, start and end."""

    nodes: set[Place] = field(default_factory=set)
    types: dict[tuple[int, int], str] = field(default_factory=dict)
    """Types of values by their place."""
    cases: dict[int, int] = field(default_factory=dict)
    """For each `case` and `default`, by its place, the place of its switch."""
    variables: dict[int, str] = field(default_factory=dict)
    enumerators: dict[str, int] = field(default_factory=dict)
    layouts: dict[str, str] = field(default_factory=dict)
    functions: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)
    """Places of errors, and of what is said to be unsupported."""


@dataclass(slots=True)
class Comparison:
    """What came of one text."""

    compared: list[str] = field(default_factory=list)
    """Functions that both sides read."""
    refused: list[str] = field(default_factory=list)
    """Functions in which clang reports an error."""
    differences: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    """Functions of which we say ourselves that something in them is not understood."""
    n_nodes: int = 0
    n_declared: int = 0
    """Enumerators and layouts that were compared; none where clang reports an error anywhere."""


# ------------------------------------------------------------------------------------------------- clang


def clang_unit(text: str, standard: str = "CL1.2") -> Any:
    """Parse a text with libclang."""
    arguments = ["-x", "cl", f"-cl-std={standard}", "-target", "spir64", "-cl-no-stdinc", "-cl-ext=+all"]
    arguments += ["-include", str(HEADERS[0]), "-Xclang", "-fdeclare-opencl-builtins"]
    arguments += ["-ferror-limit=0", "-fsyntax-only"]
    return clang.Index.create().parse("k.cl", arguments, [("k.cl", text)])


def read_by_clang(text: str, standard: str = "CL1.2") -> Reading:
    """Return what clang makes of a text."""
    unit = clang_unit(text, standard)
    assert text.isascii(), "clang counts bytes"
    found = Reading()
    for it in unit.diagnostics:
        if it.severity >= clang.Diagnostic.Error:
            found.failed.append(it.location.offset if str(it.location.file) == "k.cl" else 0)
    walker = _ClangWalker(text, found)
    for cursor in unit.cursor.get_children():
        if str(cursor.location.file) == "k.cl":
            walker.top(cursor)
    return found


class _ClangWalker:
    def __init__(self, text: str, found: Reading) -> None:
        self.text = text
        self.found = found
        steps = ((it == "(") - (it == ")") for it in text)
        self.depths = list(accumulate(steps, initial=0))

    def top(self, cursor: Any) -> None:
        if cursor.kind == K.FUNCTION_DECL and cursor.is_definition():
            for child in cursor.get_children():
                if child.kind == K.COMPOUND_STMT:
                    self.found.functions[cursor.spelling] = self.extent(child)
                    self.walk(child, None)
        else:
            self.declared(cursor)

    def walk(self, cursor: Any, switch: int | None) -> None:
        kind = cursor.kind
        start, end = self.extent(cursor)
        children = list(cursor.get_children())
        name = self.name(cursor, children, start, end)
        if name is not None:
            self.found.nodes.add((name, start, end))
            if name.split()[0] in _TYPED:
                described = described_by_clang(cursor.type)
                # libclang shows the type before it decays; no value is an array.
                self.found.types[start, end] = "pointer" if described.endswith("]") else described
        if kind == K.SWITCH_STMT:
            switch = start
        elif kind in (K.CASE_STMT, K.DEFAULT_STMT) and switch is not None:
            self.found.cases[start] = switch
        elif kind == K.VAR_DECL:
            self.found.variables[cursor.location.offset] = described_by_clang(cursor.type)
        self.declared(cursor)
        for child in children:
            self.walk(child, switch)

    def declared(self, cursor: Any) -> None:
        if cursor.kind in (K.STRUCT_DECL, K.UNION_DECL) and cursor.is_definition():
            if cursor.spelling and " at k.cl" not in cursor.spelling:
                self.found.layouts[cursor.spelling] = _layout_by_clang(cursor.type)
            for child in cursor.get_children():
                self.declared(child)
        elif cursor.kind == K.TYPEDEF_DECL:
            if cursor.underlying_typedef_type.get_canonical().kind == clang.TypeKind.RECORD:
                self.found.layouts[cursor.spelling] = _layout_by_clang(cursor.type)
            for child in cursor.get_children():
                self.declared(child)
        elif cursor.kind == K.ENUM_DECL:
            for child in cursor.get_children():
                if child.kind == K.ENUM_CONSTANT_DECL:
                    self.found.enumerators[child.spelling] = child.enum_value

    def name(self, cursor: Any, children: list[Any], start: int, end: int) -> str | None:
        """Return the kind of a node as this module calls it, `None` for one that is not compared."""
        kind = cursor.kind
        if kind in _CLANG_KINDS:
            return _CLANG_KINDS[kind]
        if kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            between = self.text[self.extent(children[0])[1] : self.extent(children[1])[0]]
            # The value of `as_uint(x)`, a macro of the header, ends where it starts.
            operator = re.search(r"([^\s\w()\[\].]*)\s*\Z", between)
            assert operator is not None
            return None if operator[1] == "," else f"binary {operator[1]}"
        if kind == K.UNARY_OPERATOR and children:
            first, last = self.extent(children[0])
            return f"unary {self.text[start:first].strip()}{self.text[last:end].strip()}"
        if kind == K.UNEXPOSED_EXPR and len(children) == 1 and _MEMBER.match(self.tail(children[0], end)):
            return "member"
        return None

    def extent(self, cursor: Any) -> tuple[int, int]:
        """Return where a node stands. libclang ends `(float4)(0)` before its last bracket."""
        extent = cursor.extent
        start, end = _offset(extent.start), _offset(extent.end)
        missing = self.depths[end] - self.depths[start]
        if missing > 0:
            rest = re.compile(r"\s*\)" * missing).match(self.text, end)
            end = end if rest is None else rest.end()
        return start, end

    def tail(self, child: Any, end: int) -> str:
        """Return what stands behind an operand; the value of `as_uint(x)` ends where it starts."""
        start, last = self.extent(child)
        if start == last and (call := re.compile(r"as_\w+\s*\(").match(self.text, start)):
            opened = self.depths[start]
            last = next((at for at in range(call.end(), end) if self.depths[at] == opened), end)
        return self.text[last:end].strip()


def _offset(location: Any) -> int:
    """Return where a location stands in the file, also for the arguments of a macro."""
    file, line, column, offset = clang.c_object_p(), c_uint(), c_uint(), c_uint()
    find = clang.conf.lib.clang_getFileLocation
    find(location, byref(file), byref(line), byref(column), byref(offset))
    return int(offset.value)


_MEMBER = re.compile(r"(?:\.|->)\s*\w+\Z")
_CLANG_KINDS = {
    K.CONDITIONAL_OPERATOR: "conditional",
    K.CSTYLE_CAST_EXPR: "cast",
    K.COMPOUND_LITERAL_EXPR: "cast",
    K.CALL_EXPR: "call",
    K.ARRAY_SUBSCRIPT_EXPR: "subscript",
    K.MEMBER_REF_EXPR: "member",
    K.CXX_UNARY_EXPR: "sizeof",
    K.IF_STMT: "if",
    K.FOR_STMT: "for",
    K.WHILE_STMT: "while",
    K.DO_STMT: "do",
    K.SWITCH_STMT: "switch",
    K.BREAK_STMT: "break",
    K.CONTINUE_STMT: "continue",
    K.RETURN_STMT: "return",
    K.GOTO_STMT: "goto",
}
_TYPED = frozenset({"binary", "unary", "conditional", "call", "cast"})


_SCALARS = {
    "BOOL": "bool", "SCHAR": "char", "CHAR_S": "char", "UCHAR": "uchar", "SHORT": "short", "USHORT": "ushort",
    "INT": "int", "UINT": "uint", "LONG": "long", "ULONG": "ulong", "HALF": "half", "FLOAT": "float",
    "DOUBLE": "double", "FLOAT16": "half", "VOID": "void",
}  # fmt: skip


def described_by_clang(kind: Any) -> str:
    """Return the words of this module for a type of clang's."""
    kind = kind.get_canonical()
    try:
        name_of_kind = kind.kind.name
    except ValueError:  # libclang knows more kinds than its bindings.
        return "?"
    match name_of_kind:
        case "POINTER" | "BLOCKPOINTER":
            return "pointer"
        case "VECTOR" | "EXTVECTOR":
            return f"{_SCALARS.get(kind.element_type.kind.name, '?')}{kind.element_count}"
        case "CONSTANTARRAY":
            return f"{described_by_clang(kind.element_type)}[{kind.element_count}]"
        case "INCOMPLETEARRAY" | "VARIABLEARRAY":
            return f"{described_by_clang(kind.element_type)}[]"
        case "RECORD":
            return f"struct of {kind.get_size()}"
        case "ENUM":
            return described_by_clang(kind.get_declaration().enum_type)
        case name:
            return _SCALARS.get(name, "opaque" if name.startswith("OCL") else "?")


def _layout_by_clang(kind: Any) -> str:
    alignment = kind.get_align()  # A typedef may have one of its own.
    kind = kind.get_canonical()
    fields = [(it.spelling, kind.get_offset(it.spelling)) for it in kind.get_fields() if it.spelling]
    return f"{kind.get_size()} {alignment} {sorted((a, b) for a, b in fields if ' at k.cl' not in a)}"


# -------------------------------------------------------------------------------------------------- ours


_OUR_KINDS = {
    "conditional_expression": "conditional",
    "cast_expression": "cast",
    "compound_literal_expression": "cast",
    "call_expression": "call",
    "subscript_expression": "subscript",
    "field_expression": "member",
    "sizeof_expression": "sizeof",
    "if_statement": "if",
    "for_statement": "for",
    "while_statement": "while",
    "do_statement": "do",
    "switch_statement": "switch",
    "break_statement": "break",
    "continue_statement": "continue",
    "return_statement": "return",
    "goto_statement": "goto",
}
_STATEMENTS = frozenset({"if", "for", "while", "do", "switch", "break", "continue", "return", "goto"})


def read_by_us(text: str, standard: str = "CL1.2") -> Reading:
    """Return what our reader makes of a text."""
    found = Reading()
    options = BuildOptions(standard=standard)
    tree = parse(text, "k.cl", options)
    with _recorded(found):
        program = lower(tree, options)
    _walk(tree, found)
    for it in program.problems:
        if it.severity is Severity.ERROR or it.code in ("unsupported", "syntax-error"):
            found.failed.append(it.span.start)
    for name, function in program.functions.items():
        if function.body is not None:
            found.functions[name] = (function.span.start, function.span.end)
    return found


def _walk(tree: SyntaxTree, found: Reading) -> None:
    stack: list[tuple[Any, int | None]] = [(tree.tree.root_node, None)]
    while stack:
        node, switch = stack.pop()
        kind = node.type
        name = _our_name(tree, node)
        if name is not None or kind == "case_statement":
            span = tree.span_of(node)
            start, end = span.start, span.end
            if name in _STATEMENTS:
                end = _without_semicolon(tree, node)
            behind = _behind_literal(node)
            if behind:
                literal = behind[-1].children[0]
                found.nodes.add(("cast", start, tree.span_of(literal).end))
                found.nodes |= {(_OUR_KINDS[it.type], start, tree.span_of(it).end) for it in behind}
                stack += [(below, switch) for it in behind for below in it.children[1:]] + [(literal, switch)]
                continue
            if name is not None:
                found.nodes.add((name, start, end))
            elif switch is not None:
                found.cases[start] = switch
            if name == "switch":
                switch = start
        stack += [(it, switch) for it in node.children]


def _behind_literal(node: Any) -> list[Any]:
    """Return the members and subscripts that stand behind a vector literal, the last first.

    The syntax tree is C's, where they bind before the cast; the lowering puts that right.
    """
    if node.type != "cast_expression" or not re.search(rb"\d\s*\)\s*\(", node.text):
        return []
    found, at = [], node.children[-1]
    while at.type in ("field_expression", "subscript_expression"):
        found.append(at)
        at = at.children[0]
    return found if at.type == "parenthesized_expression" else []


def _without_semicolon(tree: SyntaxTree, node: Any) -> int:
    """Return where a statement ends; clang leaves out its `;`."""
    last = node
    while last.children:
        below = last.children[-1]
        if below.type == ";" and len(last.children) > 1:
            below = last.children[-2]
            if last.type in ("expression_statement", "return_statement", "do_statement", "break_statement"):
                return tree.span_of(below).end
        last = below
    return tree.span_of(last).end


def _our_name(tree: SyntaxTree, node: Any) -> str | None:
    kind = node.type
    children = node.children
    if kind == "call_expression" and tree.text.startswith(CASE_RANGE, node.start_byte):
        return None  # `case 1 ... 3`
    if kind in _OUR_KINDS:
        return _OUR_KINDS[kind]
    match kind:
        case "binary_expression" | "assignment_expression" if len(children) == 3:
            return f"binary {children[1].type}"
        case "unary_expression" | "pointer_expression":
            return f"unary {children[0].type}"
        case "update_expression":
            return f"unary {(children[0] if not children[0].is_named else children[-1]).type}"
        case _:
            return None


@contextmanager
def _recorded(found: Reading) -> Iterator[None]:
    """Note types of values and declared names while a text is lowered."""
    aliases: dict[str, str] = {}
    """Types that were named before their struct had a body."""
    value, define, define_tag = Lowering.value, Lowering.define, Lowering.define_tag

    def noting_value(self: Lowering, node: Any) -> Any:
        result = value(self, node)
        span = self.span(node)
        is_guess = isinstance(result, Read) and result.variable in self.unknown
        if not isinstance(result, Undefined) and not is_guess:  # Results of unknown functions are.
            found.types[span.start, span.end] = described(result.type)
        return result

    def noting_define(self: Lowering, name: str, symbol: Any) -> None:
        define(self, name, symbol)
        if isinstance(symbol, Object) and isinstance(symbol.variable, Variable):
            found.variables.setdefault(symbol.variable.span.start, described(symbol.variable.type))
        elif isinstance(symbol, Enumerator):
            found.enumerators[name] = symbol.value
        elif isinstance(symbol, TypeName) and isinstance(symbol.type, StructType):
            found.layouts[name] = _layout(symbol.type)
        elif isinstance(symbol, TypeName) and isinstance(symbol.type, UnknownType):
            aliases[name] = symbol.type.name

    def noting_tag(self: Lowering, name: str, type_: Type) -> None:
        define_tag(self, name, type_)
        if isinstance(type_, StructType):
            found.layouts[name] = _layout(type_)

    Lowering.value, Lowering.define, Lowering.define_tag = noting_value, noting_define, noting_tag  # type: ignore[method-assign]
    try:
        yield
    finally:
        found.layouts |= {name: found.layouts[it] for name, it in aliases.items() if it in found.layouts}
        Lowering.value, Lowering.define, Lowering.define_tag = value, define, define_tag  # type: ignore[method-assign]


def described(kind: Type) -> str:
    """Return the words of this module for a type of ours."""
    match kind:
        case PointerType():
            return "pointer"
        case ScalarType() | VectorType():
            return str(kind)
        case ArrayType():
            return f"{described(kind.element)}[{'' if kind.length is None else kind.length}]"
        case StructType():
            return f"struct of {kind.size}"
        case UnknownType():
            return "?"
        case _:
            return "opaque"


def _layout(kind: StructType) -> str:
    fields = sorted((it.name, it.offset * 8 + (it.bit_offset or 0)) for it in kind.fields if it.name)
    return f"{kind.size} {kind.alignment} {fields}"


# -------------------------------------------------------------------------------------------- comparison


def compare(text: str, standard: str = "CL1.2") -> Comparison:
    """Read a text of plain OpenCL C both ways."""
    theirs, ours = read_by_clang(text, standard), read_by_us(text, standard)
    out = Comparison()
    for name, (start, end) in theirs.functions.items():
        if any(start <= it < end for it in theirs.failed):
            out.refused.append(name)
            continue
        if name not in ours.functions and theirs.failed and ours.failed:
            out.refused.append(name)  # Both report errors in the file; how much text they lose is their own.
            continue
        if name not in ours.functions:
            out.differences.append(f"{start}: the function `{name}` is not read")
            continue
        if any(start <= it < end for it in ours.failed):
            out.named.append(name)
            continue
        out.compared.append(name)
        out.differences += _function(text, theirs, ours, start, end)
        out.n_nodes += sum(start <= it[1] < end for it in theirs.nodes)
    if (
        not theirs.failed and "long long" not in text
    ):  # It has 128 bits to clang; it is named where it stands.
        for what in ("enumerators", "layouts"):
            mine, other = getattr(ours, what), getattr(theirs, what)
            out.n_declared += len(other)
            for name in sorted(set(other) & set(mine)):
                if mine[name] != other[name]:
                    out.differences.append(f"{what} {name}: ours {mine[name]}, clang's {other[name]}")
            missing = set(other) - set(mine)
            out.differences += [f"{what} {name}: not read" for name in sorted(missing)]
    return out


def _function(text: str, theirs: Reading, ours: Reading, start: int, end: int) -> Iterator[str]:
    def inside(nodes: set[Place]) -> set[Place]:
        return {it for it in nodes if start <= it[1] < end and not _is_header_macro(text, it)}

    left, right = inside(ours.nodes), inside(theirs.nodes)
    for place in sorted(left ^ right, key=lambda it: (it[1], -it[2])):
        whose = "ours" if place in left else "clang's"
        yield f"{place[1]}: only {whose}: {place[0]}: {' '.join(text[place[1] : place[2]].split())[:100]}"
    for at in sorted(set(ours.cases) | set(theirs.cases)):
        if start <= at < end and ours.cases.get(at) != theirs.cases.get(at):
            yield f"{at}: the switch of a case: {ours.cases.get(at)}, clang's {theirs.cases.get(at)}"
    for key in sorted(set(theirs.types) & set(ours.types)):
        mine, other = ours.types[key], theirs.types[key]
        if mine == other or "?" in mine or "?" in other or _are_alike(mine, other):
            continue
        if start <= key[0] < end and not _is_header_macro(text, ("call", *key)):
            yield f"{key[0]}: type {mine}, clang's {other}: {text[key[0] : key[1]][:100]}"
    for at in sorted(set(theirs.variables)):
        if start <= at < end:
            mine, other = ours.variables.get(at, "not read"), theirs.variables[at]
            if mine != other and "?" not in mine and "?" not in other:
                yield f"{at}: variable {mine}, clang's {other}: {text[at : at + 40]}"


def _is_header_macro(text: str, place: Place) -> bool:
    """Tell whether a node is a use of a macro of clang's header: what that expands to has no place."""
    name = re.match(r"\w*", text[place[1] : place[2]])
    assert name is not None
    return name.end() == place[2] - place[1] or (place[0] == "call" and name.group().startswith("as_"))


def _are_alike(mine: str, other: str) -> bool:
    """Tell whether the difference is one that C's rules of conversion make invisible."""
    return {mine, other} <= {"bool", "int"}


# ----------------------------------------------------------------------------------------------- corpora


def plain_text(text: str, path: str, options: BuildOptions, root: Path) -> str:
    """Return the preprocessed text of a file, with what is guessed for undefined names before it."""

    def read_file(name: str) -> str | None:
        if name.startswith(".."):
            return None
        try:
            return (root / name).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    source, _ = preprocess_some_branch(without_wrapping(text), path, options, read_file)
    tokens = [it for it in without_placeholders(source.tokens) if not it.text.startswith(PRAGMA)]
    body = "".join(("\n" if it.gap == NEW_LINE else " ") + it.text for it in tokens if it.text.isprintable())
    tree = parse(body, "k.cl", options)
    head: list[str] = []
    values: dict[str, str] = {}
    for guess in tree.guesses:
        if guess.role in ("type", "vector type") and guess.value:
            head.append(f"typedef {guess.value} {guess.name};")
        else:
            values[guess.name] = guess.value or ""
    body = re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda it: values.get(it.group(), it.group()), body)
    return ("\n".join(head) + "\n" + body).encode("ascii", "replace").decode()


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shapes", description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--limit", type=int, default=1 << 30, help="stop after so many files with differences"
    )
    parser.add_argument("--show", type=int, default=3, help="differences shown of each file")
    parser.add_argument("--every", type=int, default=1, help="take every n-th file")
    options = parser.parse_args(arguments)
    totals: Counter[str] = Counter()
    for folder in options.folders:
        files = sorted(it for it in folder.rglob("*") if it.suffix in (".cl", ".opencl") and it.is_file())
        for path in files[:: options.every]:
            _one(path, folder, options.show, totals)
            if totals["files with differences"] >= options.limit:
                break
    print(dict(totals))
    return 1 if totals["differences"] else 0


def _one(path: Path, root: Path, show: int, totals: Counter[str]) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    text = plain_text(text, path.relative_to(root).as_posix(), options_of(root), root)
    kernels = set(re.findall(r"\b(?:__)?kernel\b[^;{}]*?(\w+)\s*\(", text))
    found = compare(text)
    if found.refused and (other := compare(text, "CL2.0")) and len(other.refused) < len(found.refused):
        found = other
    totals["files"] += 1
    totals["functions"] += len(found.compared)
    totals["kernels"] += len(kernels & set(found.compared))
    totals["refused kernels"] += len(kernels & set(found.refused))
    totals["named as not understood"] += len(kernels & set(found.named))
    totals["nodes"] += found.n_nodes
    totals["differences"] += len(found.differences)
    totals["files with differences"] += bool(found.differences)
    for line in found.differences[:show]:
        print(f"{path}: {line}")


def options_of(root: Path) -> BuildOptions:
    """Return the options that the list of repositories has for a tree."""
    from benchmarks.corpus import repositories

    for it in repositories():
        if it.name in root.as_posix() or it.folder in root.as_posix():
            return it.options
    return BuildOptions()


if __name__ == "__main__":
    sys.exit(main())
