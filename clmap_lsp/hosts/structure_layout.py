"""Which structure of the host an array is made of, where its members lie, and how many of it a size is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os.path import normpath
from pathlib import PurePath

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.c_reader import parse_c
from clmap_lsp.hosts.changes import StructureChange
from clmap_lsp.hosts.editing import (
    FUNCTIONS,
    Extent,
    HostText,
    Read,
    RefusedError,
    enclosing,
    extent,
    named,
    walk,
)
from clmap_lsp.hosts.syntax import text_of
from clmap_lsp.hosts.values import size_of

_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_ELEMENT = re.compile(r"\*\s*(\w+)|(\w+)\s*\[\s*\w+\s*\]")

_TIGHT = frozenset(
    ("identifier", "number_literal", "parenthesized_expression", "call_expression", "field_expression")
)


@dataclass(frozen=True, slots=True)
class HostMember:
    """A member of the host's structure."""

    name: str
    type: str


class HostStructure:
    """The structure that a host's buffer is made of."""

    def __init__(self, file: HostText, read: Read, change: StructureChange, name: str) -> None:
        self.file = file
        self.name = name
        self.bytes = change.bytes
        self.members = _members(_definition(file, read, name), name, change)

    def elements(self, array: Node) -> str:
        """Return the host's array as an expression that can be subscripted."""
        text = text_of(array)
        if array.type == "identifier" and pointee(self.file, array) == self.name:
            return text
        return f"(({self.name} *)({text}))"

    def count(self, size: Node) -> str:
        """Return how many structures a number of bytes are."""
        if size.type == "binary_expression" and _operator(size) == "*":
            left, right = named(size)
            for one, other in ((left, right), (right, left)):
                if self._is_own_size(one):
                    return _factor(other)
        return f"{_factor(size)} / sizeof({self.name})"

    def sized(self, size: Node, member: HostMember) -> dict[Extent, str]:
        """Return the change that makes a size that of a member's buffer."""
        own = [it for it in _factors(size) if self._is_own_size(it)]
        if len(own) == 1:
            return {extent(own[0]): f"sizeof({member.type})"}
        return {extent(size): f"{_factor(size)} / sizeof({self.name}) * sizeof({member.type})"}

    def is_whole(self, size: Node, depth: int = 3) -> bool:
        """Tell whether a number of bytes is known to be one of whole structures."""
        for it in _factors(size):
            if it.type == "sizeof_expression" and measured(self.file, it) == self.name:
                return True
            if it.type == "number_literal" and text_of(it).isdecimal() and int(text_of(it)) % self.bytes == 0:
                return True
            if it.type == "identifier" and depth:
                given = list(_given(self.file, it))
                if given and all(self.is_whole(value, depth - 1) for value in given):
                    return True
        return False

    def _is_own_size(self, node: Node) -> bool:
        """Tell whether a factor is the size of one structure, not that of a whole array."""
        if node.type != "sizeof_expression" or measured(self.file, node) != self.name:
            return False
        used = _inside(node)
        return not used.isidentifier() or used == self.name


def structure_name(file: HostText, size: Node, array: Node) -> str:
    """Return the type of which an array is, by its size or its declaration; empty if that is not known."""
    found = (measured(file, it) for it in _factors(size) if it.type == "sizeof_expression")
    name = next((it for it in found if it and size_of(it) is None), "")
    return name or (pointee(file, array) if array.type == "identifier" else "")


def measured(file: HostText, node: Node) -> str:
    """Return the type that a `sizeof` measures, or of which the array is that it measures."""
    text = _inside(node)
    found = _ELEMENT.fullmatch(text)
    name = (found[1] or found[2]) if found is not None else text
    used = next((it for it in walk(node) if it.type == "identifier" and text_of(it) == name), None)
    if used is not None and (of := pointee(file, used, arrays_only=found is None)):
        return of
    return "" if found is not None else text


def pointee(file: HostText, name: Node, *, arrays_only: bool = False) -> str:
    """Return what a variable points to, or an array is made of, by its declaration; empty if unknown."""
    types = ("array_declarator",) if arrays_only else ("pointer_declarator", "array_declarator")
    for scope in (enclosing(name, FUNCTIONS), file.root):
        for it in walk(scope):
            kind = it.child_by_field_name("type")
            if kind is None or it.type not in ("declaration", "parameter_declaration"):
                continue
            for declared in it.children_by_field_name("declarator"):
                node = declared.child_by_field_name("declarator") if "init" in declared.type else declared
                inner = node.child_by_field_name("declarator") if node is not None else None
                if inner is None or inner.type != "identifier" or text_of(inner) != text_of(name):
                    continue
                return _spaced(kind) if node is not None and node.type in types else ""
    return ""


def _inside(size: Node) -> str:
    text = _spaced(size).removeprefix("sizeof").strip()
    return text[1:-1].strip() if text.startswith("(") else text


def _spaced(node: Node) -> str:
    return " ".join(text_of(node).split())


def _given(file: HostText, name: Node) -> Iterator[Node]:
    """Yield all that a variable is given, where it is declared and after."""
    for scope in (enclosing(name, FUNCTIONS), file.root):
        found = False
        for it in walk(scope):
            field = {"init_declarator": "declarator", "assignment_expression": "left"}.get(it.type)
            target = it.child_by_field_name(field) if field else None
            value = it.child_by_field_name("value" if field == "declarator" else "right") if field else None
            if target is not None and value is not None and text_of(target) == text_of(name):
                found = True
                yield value
        if found:
            return


def _factors(size: Node) -> Iterator[Node]:
    """Yield the factors of a product; anything else is one factor."""
    if size.type == "binary_expression" and _operator(size) == "*":
        for it in named(size):
            yield from _factors(it)
    elif size.type in ("parenthesized_expression", "cast_expression") and named(size):
        yield from _factors(named(size)[-1])
    else:
        yield size


def _factor(node: Node) -> str:
    """Return an expression as one that can stand in a product."""
    return text_of(node) if node.type in _TIGHT else f"({text_of(node)})"


def _operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return text_of(found) if found is not None else ""


# ------------------------------------------------------------------------------------------ definition


def _definition(file: HostText, read: Read, name: str) -> Node:
    """Return the members of a structure: in the host file, or in one that it includes."""
    roots = [file.root]
    for included in _INCLUDED.findall(file.text):
        text = read(normpath(PurePath(file.path).parent / included))
        if text is not None:
            roots.append(parse_c(text))
    plain = name.removeprefix("struct ")
    for it in (it for root in roots for it in walk(root) if it.type == "struct_specifier"):
        body, own = it.child_by_field_name("body"), it.child_by_field_name("name")
        if body is None or _is_of_device(it):
            continue
        names = [own] if own is not None else []
        if it.parent is not None and it.parent.type == "type_definition":
            names += it.parent.children_by_field_name("declarator")
        if plain in map(text_of, names):
            return body
    raise RefusedError(f"the host's structure `{name}` is not found")


_DEVICE = re.compile(r"\b__OPENCL(?:_C)?_VERSION__\b")
_NOT_DEVICE = re.compile(r"![ \t]*(?:defined\b[ \t]*\(?[ \t]*)?__OPENCL(?:_C)?_VERSION__\b")


def _is_of_device(node: Node) -> bool:
    """Tell whether a text stands in the half of a shared header that only kernels are built with."""
    inner, outer = node, node.parent
    while outer is not None:
        if outer.type in ("preproc_ifdef", "preproc_if"):
            head = text_of(outer).partition("\n")[0]
            wanted = not (head.lstrip().startswith("#ifndef") or _NOT_DEVICE.search(head))
            if _DEVICE.search(head) and wanted != (inner.type in ("preproc_else", "preproc_elif")):
                return True
        inner, outer = outer, outer.parent
    return False


def _members(body: Node, name: str, change: StructureChange) -> dict[int, HostMember]:
    """Return the plain members of the host's structure, by the kernel's member at that place."""
    at, widest = 0, 1
    members: dict[tuple[int, int], HostMember] = {}
    unknown = RefusedError(f"the host's `{name}` has a member whose size is not known")
    for it in named(body):
        kind = it.child_by_field_name("type")
        bytes_ = size_of(text_of(kind)) if kind is not None else None
        declared = it.children_by_field_name("declarator")
        is_odd = any(each.type in ("bitfield_clause", "storage_class_specifier") for each in named(it))
        if kind is None or not bytes_ or not declared or is_odd:
            raise unknown
        for each in declared:
            length = _length(each)
            if length is None:
                raise unknown
            at += -at % bytes_
            if each.type == "field_identifier":
                members[at, bytes_] = HostMember(text_of(each), _spaced(kind))
            at, widest = at + bytes_ * length, max(widest, bytes_)
    if at + -at % widest != change.bytes:
        raise RefusedError(f"the host's `{name}` is not as long as the kernels'")
    fields = enumerate(change.fields)
    return {i: members[it.offset, it.bytes] for i, it in fields if (it.offset, it.bytes) in members}


def _length(declared: Node) -> int | None:
    """Return how many elements a member has: 1 unless it is an array; `None` if that is not known."""
    if declared.type == "field_identifier":
        return 1
    size = declared.child_by_field_name("size")
    inner = declared.child_by_field_name("declarator")
    if declared.type != "array_declarator" or size is None or inner is None or not text_of(size).isdecimal():
        return None
    rest = _length(inner)
    return None if rest is None else rest * int(text_of(size))
