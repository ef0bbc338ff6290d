"""The calls that a host makes on a buffer of structures, each repeated for the members' buffers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.hosts.changes import StructureChange
from clmap_lsp.hosts.editing import (
    FUNCTIONS,
    STATEMENTS,
    Extent,
    HostText,
    Read,
    RefusedError,
    arguments_of,
    called,
    enclosing,
    extent,
    named,
    renamed,
    spliced,
    walk,
)
from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.kernels import KernelText
from clmap_lsp.hosts.structure_layout import HostMember, HostStructure, structure_name
from clmap_lsp.hosts.syntax import text_of

_NOTHING = frozenset(("NULL", "nullptr", "0"))
_FLAGS = re.compile(r"[\s()|]*+(?:CL_MEM_\w++[\s()|]*+)+")
_QUIET = frozenset(("data", "size", "get"))
"""Methods that may be called once more without harm."""
_LEAVING = frozenset(("return_statement", "goto_statement", "throw_statement"))
_ENDING = frozenset(("exit", "abort", "_exit"))
_MOVES = frozenset(("clEnqueueWriteBuffer", "clEnqueueReadBuffer"))


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable: its name, and the function that declares it or the whole file."""

    name: str
    scope: Node


@dataclass(frozen=True, slots=True)
class _Argument:
    """One call of `clSetKernelArg`; `is_counted` where its index is counted up by the call itself."""

    call: Node
    kernel: str
    index: int
    is_counted: bool


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the host's structure, and the variable of its buffer."""

    of: HostMember
    buffer: str


@dataclass(frozen=True, slots=True)
class _Data:
    """What is copied between a buffer and an array of the host."""

    call: Node
    size: Node
    array: Node


class HostCalls:
    """The host file in which the kernels are launched."""

    def __init__(
        self, path: str, text: str, change: StructureChange, kernels: Iterable[KernelText], read: Read
    ) -> None:
        self.file = HostText(path, text)
        self.change = change
        self.order = {it.name: tuple(each.name for each in it.parameters) for it in kernels}
        self.read = read
        self.setting = [it for it in walk(self.file.root) if called(it) == "clSetKernelArg"]

    def edits(self, launches: Sequence[HostLaunch]) -> list[Edit]:
        """Return the edits of all that is done with the kernels' buffers. Raises: RefusedError."""
        calls = list(self._arguments(launches))
        given: dict[tuple[str, Extent], dict[int, None]] = {}
        variables: dict[tuple[str, Extent], _Variable] = {}
        for it in calls:
            split = self.change.parameters[it.kernel].get(self._parameter(it))
            if split is not None:
                variable = self._buffer_of(it.call)
                key = variable.name, extent(variable.scope)
                variables[key] = variable
                given.setdefault(key, {}).update(dict.fromkeys(member for member, _ in split))
        edits: list[Edit] = []
        members: dict[tuple[str, Extent], dict[int, _Member]] = {}
        taken: set[str] = set()
        for key, used in given.items():
            buffer = _Buffer(self, variables[key], calls)
            members[key] = buffer.members(sorted(used), taken)
            edits += buffer.edits(tuple(members[key].values()))
        for it in calls:
            edits += self._set(it, members)
        if any("malloc(" in it.text for it in edits) and not re.search(
            r"#\s*include\s*<c?stdlib", self.file.text
        ):
            edits.append(self.file.before(self.file.root, "#include <stdlib.h>\n"))
        return edits

    def variable(self, name: Node) -> _Variable:
        """Return the variable that a name is."""
        scope = enclosing(name, FUNCTIONS)
        mine = (it for it in walk(scope) if it.type == "identifier" and text_of(it) == text_of(name))
        is_own = any(_declaration(it) is not None or _is_parameter(it) for it in mine)
        return _Variable(text_of(name), scope if is_own else self.file.root)

    # ------------------------------------------------------------------------------------- arguments

    def _arguments(self, launches: Sequence[HostLaunch]) -> Iterator[_Argument]:
        """Yield every call that sets an argument of one of the kernels."""
        handles: dict[tuple[str, Extent], str] = {}
        indices: dict[tuple[str, int], int] = {}
        for launch in launches:
            if handles.setdefault(self._handle(launch), launch.kernel) != launch.kernel:
                raise RefusedError(f"one variable is `{launch.kernel}` and another kernel in turns")
            indices |= {(launch.kernel, it.row): it.index for it in launch.set_at.values()}
        for call in self.setting:
            kernel = handles.get(self._handle_in(call))
            if kernel is None:
                continue
            index = arguments_of(call)[1]
            if text_of(index).isdecimal():
                yield _Argument(call, kernel, int(text_of(index)), is_counted=False)
                continue
            known = indices.get((kernel, call.start_point.row + 1))
            is_alone = sum(it.start_point.row == call.start_point.row for it in self.setting) == 1
            if (
                index.type != "update_expression"
                or not text_of(index).endswith("++")
                or known is None
                or not is_alone
            ):
                raise RefusedError(f"the argument's index at {self.file.place(call)} is no number")
            yield _Argument(call, kernel, known, is_counted=True)

    def _handle_in(self, call: Node) -> tuple[str, Extent]:
        handle = arguments_of(call)[0]
        base = next((it for it in walk(handle) if it.type == "identifier"), handle)
        return text_of(handle), extent(self.variable(base).scope)

    def _handle(self, launch: HostLaunch) -> tuple[str, Extent]:
        """Return the variable that holds a launched kernel where its arguments are set."""
        found: set[tuple[str, Extent]] | None = None
        for name in self.order[launch.kernel]:
            where = launch.set_at.get(name)
            if where is None:
                raise RefusedError(f"where `{name}` of `{launch.kernel}` is set is not known")
            on_row = [it for it in self.setting if it.start_point.row + 1 == where.row]
            mine = {
                self._handle_in(it)
                for it in on_row
                if where.path == self.file.path
                and len(arguments_of(it)) == 4
                and (text_of(arguments_of(it)[1]) == str(where.index) or len(on_row) == 1)
            }
            found = mine if found is None else found & mine
        if not found or len(found) != 1:
            raise RefusedError(f"arguments of `{launch.kernel}` are not set by plain clSetKernelArg calls")
        return next(iter(found))

    def _parameter(self, it: _Argument) -> str:
        order = self.order[it.kernel]
        if it.index >= len(order):
            raise RefusedError(f"`{it.kernel}` has no argument {it.index} ({self.file.place(it.call)})")
        return order[it.index]

    def _buffer_of(self, call: Node) -> _Variable:
        """Return the variable whose address an argument is set from."""
        node = arguments_of(call)[3]
        while node.type in ("cast_expression", "parenthesized_expression"):
            node = node.named_children[-1]
        inner = node.named_children[-1] if node.type == "pointer_expression" else node
        if node.type != "pointer_expression" or inner.type != "identifier":
            raise RefusedError(f"the buffer at {self.file.place(call)} is no plain variable")
        return self.variable(inner)

    def _set(
        self, it: _Argument, members: Mapping[tuple[str, Extent], Mapping[int, _Member]]
    ) -> Iterator[Edit]:
        """Yield the edits of one call that sets an argument: members' buffers, or another index."""
        order, split = self.order[it.kernel], self.change.parameters[it.kernel]
        first = sum(len(split.get(name, (0,))) for name in order[: it.index])
        index = arguments_of(it.call)[1]
        parameter = order[it.index]
        if parameter not in split:
            if first != it.index and not it.is_counted:
                yield self.file.edit(index, str(first))
            return
        buffer = self._buffer_of(it.call)
        mine = members[buffer.name, extent(buffer.scope)]
        changes = [
            {
                **({} if it.is_counted else {extent(index): str(first + at)}),
                **renamed(it.call, buffer.name, mine[member].buffer),
            }
            for at, (member, _) in enumerate(split[parameter])
        ]
        yield from self.repeat(it.call, changes)

    # ------------------------------------------------------------------------------------ statements

    def repeat(self, call: Node, changes: Sequence[Mapping[Extent, str]]) -> Iterator[Edit]:
        """Yield the edit that makes a call once for each set of changes, in its statement if it can."""
        statement = enclosing(call, STATEMENTS)
        others = [
            it for it in walk(statement) if it.type == "call_expression" and called(it).startswith("clSet")
        ]
        if statement.type == "expression_statement" and len(others) <= 1:
            copies = [spliced(statement, it) for it in changes]
            yield self.file.edit(statement, self.in_block(statement, copies))
        else:
            yield self.file.edit(call, f"({' | '.join(spliced(call, it) for it in changes)})")

    def in_block(self, statement: Node, lines: Sequence[str]) -> str:
        """Return statements that stand for one: in braces where that is all that a condition governs."""
        joined = f"\n{self.file.indent(statement)}".join(lines)
        block = statement.parent
        if block is not None and block.type in ("compound_statement", "case_statement"):
            return joined
        return f"{{ {joined} }}"

    def repeatable(self, call: Node) -> Node:
        """Return the statement of a call that is made several times with what stands around it."""
        statement = enclosing(call, STATEMENTS)
        where = self.file.place(call)
        if statement.type == "if_statement":
            then = statement.child_by_field_name("consequence")
            if statement.child_by_field_name("alternative") is not None or then is None or not _leaves(then):
                raise RefusedError(f"what happens then depends on the call at {where}")
        elif statement.type != "expression_statement":
            raise RefusedError(f"what the call at {where} gives is kept where it is declared")
        self.plain(call)
        return statement

    def plain(self, call: Node) -> None:
        """Refuse calls that cannot be made several times: what they are given is asked for anew each time."""
        for it in (it for each in arguments_of(call) for it in walk(each)):
            if it.type in ("update_expression", "assignment_expression") or (
                it.type == "call_expression" and called(it) not in _QUIET
            ):
                raise RefusedError(f"the call at {self.file.place(call)} cannot be repeated")


class _Buffer:
    """One buffer of structures: its variable, and all that the host does with it."""

    def __init__(self, program: HostCalls, variable: _Variable, calls: Sequence[_Argument]) -> None:
        self.program, self.file, self.name = program, program.file, variable.name
        self.declarations: list[Node] = []
        self.created: list[Node] = []
        self.moves: list[Node] = []
        self.released: list[Node] = []
        set_ = {it.call.start_byte for it in calls}
        for it in walk(variable.scope):
            if it.type == "identifier" and text_of(it) == self.name and program.variable(it) == variable:
                self._sort(it, set_)
        if not self.declarations:
            raise RefusedError(f"`{self.name}` is declared in another file")
        if len(self.created) != 1:
            raise RefusedError(f"`{self.name}` is not made by one clCreateBuffer")
        for it in self.declarations:
            self._is_plain(it, is_shared=variable.scope == self.file.root)
        self.create = _Data(self.created[0], *arguments_of(self.created[0])[2:4])
        self.structure = self._structure()
        self.part, self.at = self.file.new_name("part"), self.file.new_name("at")

    def _is_plain(self, name: Node, *, is_shared: bool) -> None:
        declaration = _declaration(name)
        if declaration is None:
            return
        kind = declaration.child_by_field_name("type")
        words = {text_of(it) for it in named(declaration) if it.type.endswith(("qualifier", "specifier"))}
        if kind is None or text_of(kind) != "cl_mem" or words - {"static"}:
            raise RefusedError(f"`{self.name}` is not declared as a plain cl_mem ({self.file.place(name)})")
        if is_shared and "static" not in words:
            raise RefusedError(f"`{self.name}` may be used by other files: make it local or static")

    def _sort(self, name: Node, set_: set[int]) -> None:
        """Note what a mention of the buffer is for. Raises: RefusedError if its like is not rewritten."""
        where = self.file.place(name)
        made, declaration = _made(name), _declaration(name)
        if declaration is not None:
            self.declarations.append(name)
        if made is not None:
            self.created.append(made)
        if made is not None or declaration is not None:
            return
        if enclosing(name, frozenset(("sizeof_expression", *STATEMENTS))).type == "sizeof_expression":
            return
        if _is_parameter(name):
            raise RefusedError(f"`{self.name}` is handed to a function ({where})")
        call = enclosing(name, frozenset(("call_expression", *STATEMENTS)))
        if call.type != "call_expression":
            raise RefusedError(f"`{self.name}` is also used at {where}")
        function, arguments = called(call), arguments_of(call)
        if function in _MOVES and len(arguments) == 9 and arguments[1] == name:
            if text_of(arguments[3]) != "0":
                raise RefusedError(f"a part of `{self.name}` is moved at {where}")
            if text_of(arguments[8]) not in _NOTHING:
                raise RefusedError(f"an event is asked for at {where}")
            self.moves.append(call)
        elif function in ("clReleaseMemObject", "clRetainMemObject"):
            self.released.append(call)
        elif function != "clSetKernelArg" or call.start_byte not in set_:
            raise RefusedError(f"`{self.name}` is also given to {function} at {where}")

    def _structure(self) -> HostStructure:
        """Return which structure of the host the buffer holds."""
        program = self.program
        data = (self.create, *map(_data_of, self.moves))
        names = (structure_name(self.file, it.size, it.array) for it in data)
        found = next(filter(None, names), "")
        if not found:
            raise RefusedError(f"which structure of the host `{self.name}` holds is not known")
        structure = HostStructure(self.file, program.read, program.change, found)
        for it in data:
            if not structure.is_whole(it.size):
                raise RefusedError(
                    f"how many structures the call at {self.file.place(it.call)} means is not known"
                )
        return structure

    def members(self, used: Sequence[int], taken: set[str]) -> dict[int, _Member]:
        """Return the host's members that get a buffer: all that kernels use, or that come back with them."""
        fields, known = self.program.change.fields, self.structure.members
        fills = [it for it in self.moves if called(it) != "clEnqueueReadBuffer"]
        is_filled = bool(fills) or text_of(self.create.array) not in _NOTHING
        if is_filled and len(fills) < len(self.moves):
            used = range(len(fields))
        missing = next((fields[it].name for it in used if it not in known), None)
        if missing is not None:
            raise RefusedError(f"the host's `{self.structure.name}` has no plain member where `{missing}` is")
        result = {}
        for it in used:
            name = f"{self.name}_{known[it].name}"
            while self.file.new_name(name) != name or name in taken:
                name += "_"
            taken.add(name)
            result[it] = _Member(known[it], name)
        return result

    def edits(self, members: Sequence[_Member]) -> Iterator[Edit]:
        """Yield the edits of all but the calls that set arguments."""
        for name in self.declarations:
            yield self._declare(name, members)
        yield self._make(members)
        for call in self.moves:
            yield self._move(call, members)
        for call in self.released:
            self.program.plain(call)
            yield from self.program.repeat(call, [renamed(call, self.name, it.buffer) for it in members])

    def _declare(self, name: Node, members: Sequence[_Member]) -> Edit:
        node = name.parent if name.parent is not None and name.parent.type == "init_declarator" else name
        if node is not name and _made(name) is not None:
            return self.file.edit(node, ", ".join(it.buffer for it in members))
        copies = [spliced(node, renamed(node, self.name, it.buffer)) for it in members]
        return self.file.edit(node, ", ".join([it.buffer for it in members] if node is name else copies))

    def _make(self, members: Sequence[_Member]) -> Edit:
        """Return the edit that makes the members' buffers, filled from the host's array where that is."""
        call = self.create.call
        flags, array = text_of(arguments_of(call)[1]), self.create.array
        is_filled = text_of(array) not in _NOTHING
        if is_filled and not (_FLAGS.fullmatch(flags) and "COPY_HOST_PTR" in flags and "USE_" not in flags):
            raise RefusedError(f"`{self.name}` may live in the host's memory ({self.file.place(call)})")
        statement = enclosing(call, STATEMENTS)
        is_declared = statement.type == "declaration"
        if is_declared:
            self.program.plain(call)
        else:
            self.program.repeatable(call)
        lines = []
        for it in members:
            changes = self.structure.sized(self.create.size, it.of)
            if is_filled:
                changes |= {extent(array): self.part}
            if is_declared:
                line = f"{it.buffer} = {spliced(call, changes)};"
            else:
                line = spliced(statement, {**changes, **renamed(statement, self.name, it.buffer)})
            lines.append(self._copied(self.create, it, line, takes=False) if is_filled else line)
        block = statement.parent
        if is_declared and (block is None or block.type != "compound_statement"):
            raise RefusedError(
                f"`{self.name}` is made where no statement can follow ({self.file.place(call)})"
            )
        if is_declared:
            indent = f"\n{self.file.indent(statement)}"
            return self.file.behind(statement, indent + indent.join(lines))
        return self.file.edit(statement, self.program.in_block(statement, lines))

    def _move(self, call: Node, members: Sequence[_Member]) -> Edit:
        """Return the edit of a call that writes or reads the buffer."""
        data, takes = _data_of(call), called(call) == "clEnqueueReadBuffer"
        statement = self.program.repeatable(call)
        blocking = arguments_of(call)[2]
        lines = []
        for it in members:
            changes = {
                **self.structure.sized(data.size, it.of),
                **renamed(call, self.name, it.buffer),
                extent(data.array): self.part,
                extent(blocking): "CL_TRUE",
            }
            lines.append(self._copied(data, it, spliced(statement, changes), takes=takes))
        return self.file.edit(statement, self.program.in_block(statement, lines))

    def _copied(self, data: _Data, member: _Member, line: str, *, takes: bool) -> str:
        """Return a block that copies one member between the host's array and a buffer, around a statement."""
        indent = self.file.indent(enclosing(data.call, STATEMENTS))
        part, at, kind = self.part, self.at, member.of.type
        count = self.structure.count(data.size)
        held = f"{self.structure.elements(data.array)}[{at}].{member.of.name}"
        copied = f"{held} = {part}[{at}];" if takes else f"{part}[{at}] = {held};"
        loop = f"for (size_t {at} = 0; {at} < {count}; {at}++) {copied}"
        made = f"{kind} *{part} = ({kind} *)malloc({count} * sizeof({kind}));"
        lines = [made, *((line, loop) if takes else (loop, line)), f"free({part});"]
        body = "".join(f"\n{indent}    {it}" for it in lines)
        return f"{{{body}\n{indent}}}"


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
    if parent is None or parent.type != "declaration":
        return None
    return parent if node in parent.children_by_field_name("declarator") else None


def _is_parameter(name: Node) -> bool:
    it = name
    while it.parent is not None and it.parent.type.endswith("_declarator"):
        it = it.parent
    return it.parent is not None and it.parent.type == "parameter_declaration"


def _made(name: Node) -> Node | None:
    """Return the call that makes the buffer which a name is given: `name = clCreateBuffer(…)`."""
    parent = name.parent
    if parent is None or parent.type not in ("init_declarator", "assignment_expression"):
        return None
    is_first = parent.type == "init_declarator"
    target = parent.child_by_field_name("declarator" if is_first else "left")
    value = parent.child_by_field_name("value" if is_first else "right")
    if target != name or value is None or value.type != "call_expression":
        return None
    return value if called(value) == "clCreateBuffer" and len(arguments_of(value)) == 5 else None


def _leaves(statement: Node) -> bool:
    """Tell whether a statement never goes on behind itself."""
    inner = named(statement)
    if statement.type == "compound_statement":
        return bool(inner) and _leaves(inner[-1])
    is_ending = statement.type == "expression_statement" and called(inner[0]) in _ENDING
    return statement.type in _LEAVING or is_ending
