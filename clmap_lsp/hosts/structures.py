"""Edits of host code that keep each member of a buffer's structures in a buffer of its own.

The buffer's variable becomes one for each member; every statement that makes, writes, reads, hands over or
releases it is repeated for each, with the members of the host's array copied one by one before or after. For
plain C calls on a variable; whatever else happens to it is refused, with its place. What comes out is read
again together with the rewritten kernels: their launches must be given the members' buffers, and no other
launch may differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.hosts.c_reader import parse_c
from clmap_lsp.hosts.changes import StructureChange
from clmap_lsp.hosts.editing import (
    FUNCTIONS,
    STATEMENTS,
    HostEdits,
    HostText,
    Read,
    RefusedError,
    Reread,
    applied,
    arguments_of,
    called,
    enclosing,
    named,
    short,
    walk,
)
from clmap_lsp.hosts.kernels import KernelText, kernels_in
from clmap_lsp.hosts.launches import HostLaunch, HostReport
from clmap_lsp.hosts.syntax import text_of
from clmap_lsp.hosts.values import size_of

_NOTHING = frozenset(("NULL", "nullptr", "0"))
_INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SIMPLE = re.compile(r"\w+")
_QUIET = frozenset(("data", "size", "get"))
"""Methods that may be called once more without harm."""
_MOVES = frozenset(("clEnqueueWriteBuffer", "clEnqueueReadBuffer"))
Extent = tuple[int, int]
"""Where an expression starts and ends, in bytes."""


def structure_edits(
    report: HostReport, kernel_file: str, change: StructureChange, read: Read, reread: Reread
) -> HostEdits:
    """Return the edits that give the rewritten kernels of a file a buffer for each member."""
    wanted = [
        it for it in report.launches if it.kernel_file == kernel_file and it.kernel in change.parameters
    ]
    try:
        if not wanted:
            raise RefusedError("no host code that launches it was found")
        path = _only({it.host_file for it in wanted}, "the kernels are launched in several files")
        text = read(path)
        if text is None or path.endswith(".py"):
            raise RefusedError(f"{short(path)} is no host code in C")
        kernels = tuple(kernels_in(read(kernel_file) or ""))
        edits = _Program(path, text, change, kernels, read).edits(wanted)
        heads = _heads(kernels, change)
        _hold(report, wanted, change, reread({path: applied(text, edits), kernel_file: heads}))
    except RefusedError as refused:
        return HostEdits(reason=str(refused))
    return HostEdits(tuple(edits))


def _only(items: set[str], otherwise: str) -> str:
    if len(items) != 1:
        raise RefusedError(otherwise)
    return next(iter(items))


def _heads(kernels: Iterable[KernelText], change: StructureChange) -> str:
    """Return the heads of a file's kernels after the rewrite: all of it that host code can tell."""
    texts = []
    for kernel in kernels:
        split = change.parameters.get(kernel.name, {})
        listed: list[str] = []
        for it in kernel.parameters:
            arrays = [f"__global {change.fields[at].type} *{name}" for at, name in split.get(it.name, ())]
            listed += arrays or [f"{it.type} {it.name}"]
        texts.append(f"__kernel void {kernel.name}({', '.join(listed)}) {{}}\n")
    return "".join(texts)


# ------------------------------------------------------------------------------------------- holding


def _hold(
    report: HostReport,
    wanted: Sequence[HostLaunch],
    change: StructureChange,
    after: HostReport,
) -> None:
    """Refuse where the edited program launches anything else than what it did, on members' buffers."""

    def said(it: HostLaunch, *, before: bool) -> tuple[object, ...]:
        split = change.parameters.get(it.kernel, {}) if before and it in wanted else {}
        names: list[str] = []
        sizes: dict[str, int | float | None] = {}
        for name in it.set_at:
            names += [array for _, array in split.get(name, ((0, name),))]
        for name, value in it.buffers.items():
            for member, array in split.get(name, ()):
                whole = value.best
                sizes[array] = None if whole is None else whole // change.bytes * change.fields[member].bytes
            if name not in split:
                sizes[name] = value.best
        scalars = sorted((name, value.best) for name, value in it.arguments.items())
        local = sorted((name, value.best) for name, value in it.local_arguments.items())
        ranges = [each.best if each else None for each in (*it.global_size, *it.local_size)]
        return it.kernel, it.host_file, ranges, scalars, local, sorted(names), sorted(sizes.items(), key=repr)

    asked = sorted((said(it, before=True) for it in report.launches), key=repr)
    found = sorted((said(it, before=False) for it in after.launches), key=repr)
    if asked != found:
        raise RefusedError("what the edited program would launch cannot be followed to the members' buffers")


# ------------------------------------------------------------------------------------------- editing


@dataclass(frozen=True, slots=True)
class _Argument:
    """One call of `clSetKernelArg`."""

    call: Node
    kernel: str
    index: int


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the host's structure, and the variable of its buffer."""

    name: str
    type: str
    buffer: str


@dataclass(frozen=True, slots=True)
class _Data:
    """What is copied between a buffer and an array of the host."""

    call: Node
    size: Node
    array: Node


class _Program:
    """The host file in which the kernels are launched."""

    def __init__(
        self, path: str, text: str, change: StructureChange, kernels: Iterable[KernelText], read: Read
    ) -> None:
        self.file = HostText(path, text)
        self.change = change
        self.order = {it.name: tuple(each.name for each in it.parameters) for it in kernels}
        self.read = read

    def edits(self, launches: Sequence[HostLaunch]) -> list[Edit]:
        calls = list(self._arguments(launches))
        given: dict[str, dict[int, None]] = {}
        for it in calls:
            parameter = self._parameter(it)
            for member, _ in self.change.parameters[it.kernel].get(parameter, ()):
                given.setdefault(self._buffer_of(it.call), {})[member] = None
        self._twice(calls)
        edits: list[Edit] = []
        members: dict[str, dict[int, _Member]] = {}
        for name, used in given.items():
            buffer = _Buffer(self, name, calls)
            members[name] = buffer.members(sorted(used))
            edits += buffer.edits(tuple(members[name].values()))
        for it in calls:
            edits += self._set(it, members)
        if any("malloc(" in it.text for it in edits) and not re.search(
            r"#\s*include\s*<c?stdlib", self.file.text
        ):
            edits.append(self.file.before(self.file.root, "#include <stdlib.h>\n"))
        return edits

    # ------------------------------------------------------------------------------------- arguments

    def _arguments(self, launches: Sequence[HostLaunch]) -> Iterator[_Argument]:
        """Yield every call that sets an argument of one of the kernels."""
        every = [
            it
            for it in walk(self.file.root)
            if it.type == "call_expression" and called(it) == "clSetKernelArg" and len(arguments_of(it)) == 4
        ]
        variables: dict[str, str] = {}
        for launch in launches:
            name = self._kernel_variable(launch, every)
            if variables.setdefault(name, launch.kernel) != launch.kernel:
                raise RefusedError(f"`{name}` is several kernels")
        for call in every:
            handle, index = (text_of(it) for it in arguments_of(call)[:2])
            if handle in variables:
                if not index.isdigit():
                    raise RefusedError(f"the argument's index at {self.file.place(call)} is no number")
                yield _Argument(call, variables[handle], int(index))

    def _kernel_variable(self, launch: HostLaunch, calls: Sequence[Node]) -> str:
        """Return the variable that holds a launched kernel where its arguments are set."""
        found: set[str] | None = None
        order = self.order[launch.kernel]
        for name in order:
            where = launch.set_at.get(name)
            if where is None:
                raise RefusedError(f"where `{name}` of `{launch.kernel}` is set is not known")
            mine = {
                text_of(arguments_of(it)[0])
                for it in calls
                if it.start_point.row + 1 == where.row
                and where.path == self.file.path
                and text_of(arguments_of(it)[1]) == str(where.index)
            }
            found = mine if found is None else found & mine
        if found is None or len(found) != 1:
            raise RefusedError(f"arguments of `{launch.kernel}` are not set by plain clSetKernelArg calls")
        return next(iter(found))

    def _parameter(self, it: _Argument) -> str:
        order = self.order[it.kernel]
        if it.index >= len(order):
            raise RefusedError(f"`{it.kernel}` has no argument {it.index} ({self.file.place(it.call)})")
        return order[it.index]

    def _buffer_of(self, call: Node) -> str:
        """Return the variable whose address an argument is set from."""
        node = arguments_of(call)[3]
        while node.type in ("cast_expression", "parenthesized_expression"):
            node = node.named_children[-1]
        inner = node.named_children[-1] if node.type == "pointer_expression" else node
        if node.type != "pointer_expression" or inner.type != "identifier":
            raise RefusedError(f"the buffer at {self.file.place(call)} is no plain variable")
        return text_of(inner)

    def _twice(self, calls: Sequence[_Argument]) -> None:
        held: dict[tuple[str, str], str] = {}
        for it in calls:
            parameter = self._parameter(it)
            if parameter in self.change.parameters[it.kernel]:
                name = self._buffer_of(it.call)
                if held.setdefault((it.kernel, name), parameter) != parameter:
                    raise RefusedError(f"`{it.kernel}` is given `{name}` twice")

    def _set(self, it: _Argument, members: Mapping[str, Mapping[int, _Member]]) -> Iterator[Edit]:
        """Yield the edits of one call that sets an argument: members' buffers, or another index."""
        order, split = self.order[it.kernel], self.change.parameters[it.kernel]
        first = sum(len(split.get(name, (0,))) for name in order[: it.index])
        index = arguments_of(it.call)[1]
        parameter = order[it.index]
        if parameter not in split:
            if first != it.index:
                yield self.file.edit(index, str(first))
            return
        name = self._buffer_of(it.call)
        changes = [
            {extent(index): str(first + at), **renamed(it.call, name, members[name][member].buffer)}
            for at, (member, _) in enumerate(split[parameter])
        ]
        yield from self.repeat(it.call, changes)

    # ------------------------------------------------------------------------------------ statements

    def repeat(self, call: Node, changes: Sequence[Mapping[Extent, str]]) -> Iterator[Edit]:
        """Yield the edit that makes a call once for each set of changes, in its statement if it can."""
        statement = enclosing(call, STATEMENTS)
        if any(it.type == "update_expression" for it in walk(call)):
            raise RefusedError(f"the call at {self.file.place(call)} changes a variable")
        others = [
            it for it in walk(statement) if it.type == "call_expression" and called(it).startswith("clSet")
        ]
        if statement.type == "expression_statement" and len(others) <= 1:
            copies = [spliced(statement, it) for it in changes]
            yield self.file.edit(statement, self._in_block(statement, copies))
        else:
            yield self.file.edit(call, f"({' | '.join(spliced(call, it) for it in changes)})")

    def _in_block(self, statement: Node, lines: Sequence[str]) -> str:
        """Return statements that stand for one: in braces where that is all that a condition governs."""
        indent = self.file.indent(statement)
        joined = f"\n{indent}".join(lines)
        block = statement.parent
        if block is not None and block.type in ("compound_statement", "case_statement"):
            return joined
        return f"{{ {joined} }}"

    def moved(self, data: _Data, member: _Member, line: str, *, takes: bool) -> str:
        """Return a block that copies one member between the host's array and a buffer, around a statement."""
        statement = enclosing(data.call, STATEMENTS)
        inner = self.file.indent(statement) + "    "
        part, at = self.file.new_name("part"), self.file.new_name("at")
        count, array = self.count(data), self._elements(data.array)
        held = f"{array}[{at}].{member.name}"
        copied = f"{held} = {part}[{at}];" if takes else f"{part}[{at}] = {held};"
        loop = f"for (size_t {at} = 0; {at} < {count}; {at}++) {copied}"
        made = f"{member.type} *{part} = ({member.type} *)malloc({_factor(count)} * sizeof({member.type}));"
        lines = [made, *((line, loop) if takes else (loop, line)), f"free({part});"]
        body = "".join(f"\n{inner}{it}" for it in lines)
        return f"{{{body}\n{self.file.indent(statement)}}}"

    def _elements(self, array: Node) -> str:
        """Return the host's array as an expression that can be subscripted."""
        text = text_of(array)
        if array.type == "identifier" and self.pointee(array) == self.type_name:
            return text
        return f"(({self.type_name} *)({text}))"

    # ------------------------------------------------------------------------------------- structure

    type_name = ""
    """The host's structure, once it is known."""

    def count(self, data: _Data) -> str:
        """Return how many structures a number of bytes are."""
        size = data.size
        if size.type == "binary_expression" and text_of(_operator(size)) == "*":
            left, right = named(size)
            for one, other in ((left, right), (right, left)):
                if self._is_whole_size(one):
                    return text_of(other) if _SIMPLE.fullmatch(text_of(other)) else f"({text_of(other)})"
        return f"({text_of(size)}) / sizeof({self.type_name})"

    def size(self, data: _Data, member: _Member) -> dict[Extent, str]:
        """Return the change that makes a size that of a member's buffer."""
        factors = list(_factors(data.size))
        whole = [it for it in factors if self._is_whole_size(it)]
        if len(whole) == 1:
            return {whole[0].start_byte: f"sizeof({member.type})"}
        text = f"({text_of(data.size)}) / sizeof({self.type_name}) * sizeof({member.type})"
        return {extent(data.size): text}

    def _is_whole_size(self, node: Node) -> bool:
        return node.type == "sizeof_expression" and self.measured(node) == self.type_name

    def measured(self, node: Node) -> str:
        """Return the type that a `sizeof` measures: itself, or what the host's array holds."""
        text = text_of(node).removeprefix("sizeof").strip()
        text = text[1:-1].strip() if text.startswith("(") else text
        found = re.fullmatch(r"\*\s*(\w+)|(\w+)\s*\[\s*\w+\s*\]", text)
        if found is None:
            return " ".join(text.split())
        name = found[1] or found[2]
        used = next((it for it in walk(node) if it.type == "identifier" and text_of(it) == name), None)
        return self.pointee(used) if used is not None else ""

    def pointee(self, name: Node) -> str:
        """Return what a variable points to, or an array is made of, by its declaration; empty if unknown."""
        text = text_of(name)
        for scope in (enclosing(name, FUNCTIONS), self.file.root):
            for it in walk(scope):
                if it.type not in ("declaration", "parameter_declaration"):
                    continue
                kind = it.child_by_field_name("type")
                for declared in it.children_by_field_name("declarator"):
                    node: Node | None = declared
                    while node is not None and node.type == "init_declarator":
                        node = node.child_by_field_name("declarator")
                    if node is None or node.type not in ("pointer_declarator", "array_declarator"):
                        continue
                    inner = node.child_by_field_name("declarator")
                    if inner is not None and inner.type == "identifier" and text_of(inner) == text:
                        return " ".join(text_of(kind).split()) if kind is not None else ""
        return ""

    def host_members(self) -> dict[int, tuple[str, str]]:
        """Return name and type of the host structure's members, by the kernel's member at that place."""
        found = self._definition()
        if found is None:
            raise RefusedError(f"the host's structure `{self.type_name}` is not found")
        at, widest = 0, 1
        members: dict[tuple[int, int], tuple[str, str]] = {}
        for it in found.named_children:
            if it.type == "comment":
                continue
            kind = it.child_by_field_name("type")
            bytes_ = size_of(text_of(kind)) if kind is not None else None
            declared = it.children_by_field_name("declarator")
            if kind is None or not bytes_ or not declared:
                raise RefusedError(f"the host's `{self.type_name}` has a member whose size is not known")
            for each in declared:
                length = _length(each)
                if length is None:
                    raise RefusedError(f"the host's `{self.type_name}` has a member whose size is not known")
                at += -at % bytes_
                if each.type == "field_identifier":
                    members[at, bytes_] = text_of(each), text_of(kind)
                at, widest = at + bytes_ * length, max(widest, bytes_)
        if at + -at % widest != self.change.bytes:
            raise RefusedError(f"the host's `{self.type_name}` is not as long as the kernels'")
        fields = enumerate(self.change.fields)
        return {i: members[it.offset, it.bytes] for i, it in fields if (it.offset, it.bytes) in members}

    def _definition(self) -> Node | None:
        """Return the members of the host's structure: in this file, or in one that it includes."""
        name = self.type_name.removeprefix("struct ").strip()
        roots = [self.file.root]
        for included in _INCLUDED.findall(self.file.text):
            text = self.read(str(PurePath(self.file.path).parent / included))
            if text is not None:
                roots.append(parse_c(text))
        for it in (it for root in roots for it in walk(root) if it.type == "struct_specifier"):
            body, own = it.child_by_field_name("body"), it.child_by_field_name("name")
            if body is None:
                continue
            typedef = it.parent if it.parent is not None and it.parent.type == "type_definition" else None
            names = [own] if own is not None else []
            names += typedef.children_by_field_name("declarator") if typedef is not None else []
            if name in map(text_of, names):
                return body
        return None


class _Buffer:
    """One buffer of structures: its variable, and all that the host does with it."""

    def __init__(self, program: _Program, name: str, calls: Sequence[_Argument]) -> None:
        self.program, self.file, self.name = program, program.file, name
        first = next(it.call for it in calls if name in {text_of(n) for n in walk(it.call)})
        scope = enclosing(first, FUNCTIONS)
        if not self._declared_in(scope):
            scope = self.file.root
            self._is_static(scope)
        set_ = {it.call.start_byte for it in calls}
        self.declarations: list[Node] = []
        self.created: list[Node] = []
        self.moves: list[Node] = []
        self.released: list[Node] = []
        for it in walk(scope):
            if it.type == "identifier" and text_of(it) == name:
                self._sort(it, set_)
        if len(self.created) != 1:
            raise RefusedError(f"`{name}` is not made by one clCreateBuffer")
        self.create = _Data(self.created[0], *arguments_of(self.created[0])[2:4])
        self._find_type()

    def _declared_in(self, scope: Node) -> bool:
        return any(
            it.type == "identifier" and text_of(it) == self.name and _declaration(it) is not None
            for it in walk(scope)
        )

    def _is_static(self, root: Node) -> None:
        for it in walk(root):
            declaration = _declaration(it) if it.type == "identifier" and text_of(it) == self.name else None
            if declaration is not None and text_of(declaration).startswith("static"):
                return
        raise RefusedError(f"`{self.name}` may be used by other files: make it local or static")

    def _sort(self, name: Node, set_: set[int]) -> None:
        """Note what a mention of the buffer is for. Raises: RefusedError if its like is not rewritten."""
        call = enclosing(name, frozenset(("call_expression", *STATEMENTS)))
        function, arguments = called(call) if call.type == "call_expression" else "", arguments_of(call)
        made = _made(name)
        if made is not None or _declaration(name) is not None:
            if _declaration(name) is not None:
                self.declarations.append(name)
            if made is not None:
                self.created.append(made)
            return
        if function == "clSetKernelArg" and call.start_byte in set_:
            return
        if function in _MOVES and len(arguments) == 9 and arguments[1] == name:
            if text_of(arguments[3]) != "0":
                raise RefusedError(f"a part of `{self.name}` is moved at {self.file.place(call)}")
            if text_of(arguments[8]) not in _NOTHING:
                raise RefusedError(f"an event is asked for at {self.file.place(call)}")
            self.moves.append(call)
            return
        if function in ("clReleaseMemObject", "clRetainMemObject"):
            self.released.append(call)
            return
        if enclosing(name, frozenset(("sizeof_expression", *STATEMENTS))).type == "sizeof_expression":
            return
        raise RefusedError(f"`{self.name}` is also used at {self.file.place(name)}")

    def _find_type(self) -> None:
        """Say which structure of the host the buffer holds."""
        program, found = self.program, ""
        for it in (self.create, *map(_data_of, self.moves)):
            measured = [program.measured(n) for n in _factors(it.size) if n.type == "sizeof_expression"]
            pointed = program.pointee(it.array) if it.array.type == "identifier" else ""
            found = found or next((m for m in measured if m and size_of(m) is None), "") or pointed
        if not found:
            raise RefusedError(f"which structure of the host `{self.name}` holds is not known")
        program.type_name = found

    def members(self, used: Sequence[int]) -> dict[int, _Member]:
        """Return the host's members that the kernels use, each with a name for its buffer."""
        known = self.program.host_members()
        missing = next((it for it in used if it not in known), None)
        if missing is not None:
            name = self.program.change.fields[missing].name
            raise RefusedError(f"the host's `{self.program.type_name}` has no member where `{name}` is")
        return {it: _Member(*known[it], self.file.new_name(f"{self.name}_{known[it][0]}")) for it in used}

    def edits(self, members: Sequence[_Member]) -> Iterator[Edit]:
        """Yield the edits of all but the calls that set arguments."""
        for name in self.declarations:
            yield from self._declare(name, members)
        yield from self._make(members)
        for call in self.moves:
            yield from self._move(call, members)
        for call in self.released:
            yield from self.program.repeat(call, [renamed(call, self.name, it.buffer) for it in members])

    def _declare(self, name: Node, members: Sequence[_Member]) -> Iterator[Edit]:
        node = name.parent if name.parent is not None and name.parent.type == "init_declarator" else name
        if node is not name and _made(name) is not None:
            yield self.file.edit(node, ", ".join(it.buffer for it in members))
        else:
            yield self.file.edit(
                node, ", ".join(spliced(node, renamed(node, self.name, it.buffer)) for it in members)
            )

    def _make(self, members: Sequence[_Member]) -> Iterator[Edit]:
        """Yield the edits that make the members' buffers, filled from the host's array where that is."""
        call = self.create.call
        flags, array = text_of(arguments_of(call)[1]), self.create.array
        if "HOST_PTR" in flags.replace("COPY_HOST_PTR", ""):
            raise RefusedError(f"`{self.name}` lives in the host's memory ({self.file.place(call)})")
        self._plain(call)
        statement = enclosing(call, STATEMENTS)
        filled = text_of(array) not in _NOTHING
        lines = []
        for it in members:
            changes = self.program.size(self.create, it)
            if filled:
                changes |= {extent(array): self.file.new_name("part")}
            if statement.type == "declaration":
                line = f"{it.buffer} = {spliced(call, changes)};"
            else:
                line = spliced(statement, {**changes, **renamed(statement, self.name, it.buffer)})
            lines.append(self.program.moved(self.create, it, line, takes=False) if filled else line)
        block = statement.parent
        if block is None or block.type != "compound_statement":
            raise RefusedError(
                f"`{self.name}` is made where no statements can follow ({self.file.place(call)})"
            )
        joined = f"\n{self.file.indent(statement)}".join(lines)
        if statement.type == "declaration":
            yield self.file.behind(statement, f"\n{self.file.indent(statement)}{joined}")
        else:
            yield self.file.edit(statement, joined)

    def _move(self, call: Node, members: Sequence[_Member]) -> Iterator[Edit]:
        """Yield the edit of a call that writes or reads the buffer."""
        data, takes = _data_of(call), called(call) == "clEnqueueReadBuffer"
        statement = enclosing(call, STATEMENTS)
        if statement.type not in ("expression_statement", "if_statement"):
            raise RefusedError(f"what the call at {self.file.place(call)} gives is kept in a declaration")
        self._plain(call)
        blocking = arguments_of(call)[2]
        lines = []
        for it in members:
            changes = {
                **self.program.size(data, it),
                **renamed(call, self.name, it.buffer),
                extent(data.array): self.file.new_name("part"),
                extent(blocking): "CL_TRUE",
            }
            lines.append(self.program.moved(data, it, spliced(statement, changes), takes=takes))
        yield self.file.edit(statement, self.program._in_block(statement, lines))

    def _plain(self, call: Node) -> None:
        """Refuse calls that cannot be made several times: what they are given is asked for anew each time."""
        for it in (it for each in arguments_of(call) for it in walk(each)):
            if it.type in ("update_expression", "assignment_expression") or (
                it.type == "call_expression" and called(it) not in _QUIET
            ):
                raise RefusedError(f"the call at {self.file.place(call)} cannot be repeated")


# ------------------------------------------------------------------------------------------- nodes


def _data_of(call: Node) -> _Data:
    arguments = arguments_of(call)
    return _Data(call, arguments[4], arguments[5])


def _declaration(name: Node) -> Node | None:
    """Return the declaration that declares a plain variable of a name, here."""
    node = name.parent if name.parent is not None and name.parent.type == "init_declarator" else name
    if node is not name and node.child_by_field_name("declarator") != name:
        return None
    parent = node.parent
    is_one = parent is not None and parent.type == "declaration"
    return (
        parent
        if is_one and parent is not None and node in parent.children_by_field_name("declarator")
        else None
    )


def _made(name: Node) -> Node | None:
    """Return the call that makes the buffer which a name is given: `name = clCreateBuffer(…)`."""
    parent = name.parent
    if parent is None or parent.type not in ("init_declarator", "assignment_expression"):
        return None
    field = "declarator" if parent.type == "init_declarator" else "left"
    target = parent.child_by_field_name(field)
    value = parent.child_by_field_name("value" if parent.type == "init_declarator" else "right")
    if target != name or value is None or value.type != "call_expression":
        return None
    return value if called(value) == "clCreateBuffer" and len(arguments_of(value)) == 5 else None


def extent(node: Node) -> Extent:
    """Return where a node starts and ends."""
    return node.start_byte, node.end_byte


def renamed(node: Node, name: str, new: str) -> dict[Extent, str]:
    """Return the changes that give a variable another name below a node."""
    found = (it for it in walk(node) if it.type == "identifier" and text_of(it) == name)
    return {extent(it): new for it in found}


def spliced(node: Node, changes: Mapping[Extent, str]) -> str:
    """Return a node's text with other text for some of the expressions in it."""
    data = (node.text or b"").decode("utf-8", "replace").encode("utf-8")
    parts: list[bytes] = []
    at = 0
    rest = [node]
    while rest:
        it = rest.pop()
        start, end = it.start_byte - node.start_byte, it.end_byte - node.start_byte
        if it is not node and extent(it) in changes and start >= at:
            parts += (data[at:start], changes[extent(it)].encode())
            at = end
        else:
            rest += reversed(it.named_children)
    return b"".join([*parts, data[at:]]).decode("utf-8", "replace")


def _operator(node: Node) -> Node:
    found = node.child_by_field_name("operator")
    assert found is not None, "a binary expression has an operator"
    return found


def _factors(size: Node) -> Iterator[Node]:
    """Yield the factors of a product; anything else is one factor."""
    if size.type == "binary_expression" and text_of(_operator(size)) == "*":
        for it in named(size):
            yield from _factors(it)
    elif size.type == "parenthesized_expression" and len(named(size)) == 1:
        yield from _factors(named(size)[0])
    else:
        yield size


def _factor(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) or (text[0] == "(" and text[-1] == ")") else f"({text})"


def _length(declared: Node) -> int | None:
    """Return how many elements a member has: 1 unless it is an array; `None` if that is not known."""
    if declared.type == "field_identifier":
        return 1
    size = declared.child_by_field_name("size")
    inner = declared.child_by_field_name("declarator")
    if declared.type != "array_declarator" or size is None or inner is None or not text_of(size).isdigit():
        return None
    rest = _length(inner)
    return None if rest is None else rest * int(text_of(size))
