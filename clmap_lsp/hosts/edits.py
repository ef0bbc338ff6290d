"""Edits of host code that change how a kernel is launched, or the reason why none can be given.

Each edit is made in the syntax tree around the call that launches or that sets an argument: in a list that
stands there, in the one definition of a variable that nothing else uses, else in a variable of its own before
the call. What comes out is read again by the interpreter: only the launches of the kernel may differ, and in
what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit
from clmap_lsp.hosts.changes import LaunchChange, Resize, bytes_text
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
    place_of,
    short,
    walk,
)
from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import HostReport
from clmap_lsp.hosts.syntax import text_of

_NO_SIZE = frozenset(("NULL", "nullptr", "0", "None", "NullRange", "cl::NullRange"))


def host_edits(
    report: HostReport, kernel: str, kernel_file: str, change: LaunchChange, read: Read, reread: Reread
) -> HostEdits:
    """Return the edits that change every launch of a kernel.

    Args:
        report: all that the project's host code launches.
        read: a host file's text.
        reread: what the project launches after edits; what is given back was held against it.
    """
    wanted = [it for it in report.launches if (it.kernel, it.kernel_file) == (kernel, kernel_file)]
    try:
        if not wanted:
            raise RefusedError("no host code that launches it was found")
        _alone(report, wanted)
        edits = _Editor(change, read).edits(wanted)
        _hold(report, wanted, change, edits, read, reread)
    except RefusedError as refused:
        return HostEdits(reason=str(refused))
    return HostEdits(edits)


def _alone(report: HostReport, wanted: Sequence[HostLaunch]) -> None:
    """Refuse calls that launch other kernels too."""
    rows = {(it.host_file, it.host_row) for it in wanted}
    others = [it for it in report.launches if it not in wanted and (it.host_file, it.host_row) in rows]
    if others:
        names = ", ".join(f"`{it}`" for it in dict.fromkeys(it.kernel for it in others[:4]))
        same = all(it.kernel == wanted[0].kernel for it in others)
        what = f"the one in {short(others[0].kernel_file or '')}" if same else names
        where = place_of(others[0].host_file, others[0].host_row)
        raise RefusedError(f"the call at {where} also launches {what}")


# ------------------------------------------------------------------------------------------- holding


def _hold(
    report: HostReport,
    wanted: Sequence[HostLaunch],
    change: LaunchChange,
    edits: Sequence[Edit],
    read: Read,
    reread: Reread,
) -> None:
    """Read the edited code again, and refuse where it launches anything else than what was asked for."""
    texts: dict[str, str] = {}
    for path in dict.fromkeys(it.span.path for it in edits):
        texts[path] = applied(read(path) or "", [it for it in edits if it.span.path == path])
    after = reread(texts)
    names = {(it.kernel, it.kernel_file) for it in wanted}
    for own in (True, False):
        before_, after_ = (
            [it for it in each.launches if ((it.kernel, it.kernel_file) in names) is own]
            for each in (report, after)
        )
        expected = [change.made(it) if own else LaunchChange().made(it) for it in before_]
        if _sorted(expected, before_) != _sorted([LaunchChange().made(it) for it in after_], after_):
            which = "its launches" if own else "launches of other kernels"
            raise RefusedError(f"host code shares these sizes in a way that an edit of {which} cannot follow")


def _sorted(values: Iterable[object], launches: Iterable[HostLaunch]) -> list[tuple[str, str, str]]:
    return sorted((it.kernel, it.host_file, repr(value)) for value, it in zip(values, launches, strict=True))


# ------------------------------------------------------------------------------------------- editing


class _Editor:
    def __init__(self, change: LaunchChange, read: Read) -> None:
        self.change = change
        self.read = read
        self.files: dict[str, _File] = {}

    def edits(self, launches: Sequence[HostLaunch]) -> tuple[Edit, ...]:
        found: dict[tuple[str, int, int], Edit] = {}
        calls: dict[tuple[str, int], HostLaunch] = {}
        for it in launches:
            calls.setdefault((it.host_file, it.host_row), it)
        made = [self._of_call(it, launches) for it in calls.values()]
        if self.change.local_bytes:
            made += [self._of_memory(it) for it in calls.values()]
        for edit in (it for each in made for it in each):
            span = edit.span
            known = found.setdefault((span.path, span.start, span.end), edit)
            if known.text != edit.text and span.start != span.end:
                raise RefusedError(f"two launches ask for different sizes at {short(span.path)}")
        edits = sorted(found.values(), key=lambda it: (it.span.path, it.span.start))
        for one, two in pairwise(edits):
            if one.span.path == two.span.path and two.span.start < one.span.end:
                raise RefusedError("global and local size are in one list that cannot be taken apart")
        return tuple(edits)

    def _file(self, path: str) -> _File:
        if path not in self.files:
            text = self.read(path)
            if text is None:
                raise RefusedError(f"{short(path)} cannot be read")
            self.files[path] = _File(path, text)
        return self.files[path]

    def _of_call(self, launch: HostLaunch, launches: Sequence[HostLaunch]) -> list[Edit]:
        file = self._file(launch.host_file)
        call = file.launching(launch)
        rows = {it.host_row for it in launches if it.host_file == launch.host_file}
        edits: list[Edit] = []
        count = len(launch.global_size)
        if self.change.order and len(self.change.order) != count:
            raise RefusedError(f"the launch at {launch.place} has {count} dimensions")
        if launch.offset and (self.change.order or self.change.changes_global):
            raise RefusedError(f"the launch at {launch.place} has a global offset, which changes as well")
        if self.change.changes_global:
            texts = lambda old: self.change.global_texts(old, file.divide)  # noqa: E731
            edits += file.resized(call, call.whole, count, texts, rows, "global")
        if self.change.changes_local:
            is_none = all(it is None for it in launch.local_size)
            if not is_none:
                edits += file.resized(call, call.local, count, self.change.local_texts, rows, "local")
            elif self.change.local_size is not None:
                edits += file.given(call, self.change.local_texts([]))
        return edits

    def _of_memory(self, launch: HostLaunch) -> list[Edit]:
        edits = []
        for name, rule in self.change.local_bytes.items():
            where = launch.set_at.get(name)
            if where is None:
                raise RefusedError(f"where the size of `{name}` is set is not known")
            file = self._file(where.path)
            edits.append(file.memory(where.row, where.index, rule, name))
        return edits


@dataclass(frozen=True, slots=True)
class _LaunchCall:
    """A call that launches, its sizes, and the list in which a local size is missing, if it is."""

    call: Node
    whole: Node
    local: Node | None
    style: str
    """`c`, `cpp` or `python`."""


class _File(HostText):
    """One host file in which sizes are edited."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text)
        self.divide = "//" if self.is_python else "/"

    # ------------------------------------------------------------------------------------------ calls

    def launching(self, launch: HostLaunch) -> _LaunchCall:
        """Return the call that launches on the row of a launch."""
        found = [it for call in self.calls(launch.host_row) if (it := self._launch_call(call)) is not None]
        if len(found) > 1:
            found = [it for it in found if called(it.call) == launch.kernel]
        if len(found) != 1:
            raise RefusedError(f"the call at {launch.place} launches through a function of its own")
        return found[0]

    def _launch_call(self, call: Node) -> _LaunchCall | None:
        arguments = arguments_of(call)
        name = called(call)
        if self.is_python:
            at = 2 if name in ("enqueue_nd_range_kernel",) else 1
            if len(arguments) > at + 1 and all(it.type != "keyword_argument" for it in arguments[: at + 2]):
                return _LaunchCall(call, arguments[at], arguments[at + 1], "python")
            return None
        if name == "clEnqueueNDRangeKernel" and len(arguments) > 5:
            return _LaunchCall(call, arguments[4], arguments[5], "c")
        if name == "enqueueNDRangeKernel" and len(arguments) > 2:
            return _LaunchCall(call, arguments[2], arguments[3] if len(arguments) > 3 else None, "cpp")
        for it in arguments[:1]:
            if it.type == "call_expression" and called(it) == "EnqueueArgs":
                return self._enqueue_args(it)
        return None

    def _enqueue_args(self, call: Node) -> _LaunchCall | None:
        ranges = arguments_of(call)[1:]
        if len(ranges) in (1, 2):
            return _LaunchCall(call, ranges[0], ranges[1] if len(ranges) == 2 else None, "cpp")
        return _LaunchCall(call, ranges[1], ranges[2], "cpp") if len(ranges) == 3 else None

    # ------------------------------------------------------------------------------------------ sizes

    def resized(
        self,
        call: _LaunchCall,
        node: Node | None,
        count: int,
        texts: Callable[[Sequence[str]], list[str]],
        rows: set[int],
        kind: str,
    ) -> list[Edit]:
        """Return the edits that change one size of a launch."""
        if node is None:
            return []
        items = self._items(node)
        if items is not None and len(items) == count:
            return self._replaced(items, texts)
        name = self._variable(node)
        if name is not None:
            defined = self._definition(call.call, name, count, rows)
            if defined is not None:
                return self._replaced(defined, texts)
        return self._apart(call, node, count, texts, kind)

    def given(self, call: _LaunchCall, texts: list[str]) -> list[Edit]:
        """Return the edits that give a local size where the launch leaves it to the driver."""
        if call.local is not None and call.style != "c":
            return [self.edit(call.local, self._list(call.style, texts))]
        if call.local is not None:
            return self._inserted(call, call.local, texts, "local")
        return [self.behind(call.whole, f", {self._list(call.style, texts)}")]

    def _items(self, node: Node) -> list[Node] | None:
        """Return the items of a list that stands in an expression."""
        while node.type in ("parenthesized_expression", "cast_expression") and node.named_children:
            node = node.named_children[-1]
        match node.type:
            case "tuple" | "list" | "initializer_list":
                return named(node)
            case "compound_literal_expression":
                value = node.child_by_field_name("value")
                return named(value) if value is not None else None
            case "call_expression" if called(node) == "NDRange":
                return arguments_of(node)
        return None

    def _variable(self, node: Node) -> str | None:
        while node.type in ("pointer_expression", "cast_expression", "parenthesized_expression"):
            node = node.named_children[-1]
        return text_of(node) if node.type == "identifier" else None

    def _definition(self, call: Node, name: str, count: int, rows: set[int]) -> list[Node] | None:
        """Return the items of a variable's only definition, if nothing but these launches uses it."""
        function = enclosing(call, FUNCTIONS)
        used = [it for it in walk(function) if it.type == "identifier" and text_of(it) == name]
        defined: list[Node] | None = None
        elements: dict[int, Node] = {}
        for it in used:
            parent = it.parent
            if parent is None:
                return None
            if self._in_launch(it, rows):
                continue
            items = self._initial(it, count)
            element = self._element(it)
            if items is not None and defined is None and not elements:
                defined = items or None
            elif element is not None and defined is None and element[0] not in elements:
                elements[element[0]] = element[1]
            else:
                return None
        if elements:
            return [elements[i] for i in range(count)] if sorted(elements) == list(range(count)) else None
        return defined if defined is not None and len(defined) == count else None

    def _in_launch(self, node: Node, rows: set[int]) -> bool:
        """Tell whether a name is the size that one of the launches is given."""
        it: Node | None = node
        while it is not None and it.type not in FUNCTIONS:
            if it.type in ("call_expression", "call") and it.start_point.row + 1 in rows:
                launch = self._launch_call(it)
                for size in (launch.whole, launch.local) if launch is not None else ():
                    if size is not None and size.start_byte <= node.start_byte < size.end_byte:
                        return self._variable(size) == text_of(node)
            it = it.parent
        return False

    def _initial(self, name: Node, count: int) -> list[Node] | None:
        """Return the items that a declaration gives; an empty list where it gives none."""
        node = name
        while node.parent is not None and node.parent.type in ("array_declarator", "reference_declarator"):
            node = node.parent
        parent = node.parent
        if parent is None:
            return None
        if parent.type == "declaration":
            return []
        if parent.type == "function_declarator" and parent.parent is not None:
            listed = parent.child_by_field_name("parameters")
            return named(listed) if listed is not None and parent.parent.type == "declaration" else None
        if parent.type == "init_declarator" and parent.child_by_field_name("declarator") == node:
            value = parent.child_by_field_name("value")
            return self._value_items(value, count) if value is not None else None
        if parent.type == "assignment" and parent.child_by_field_name("left") == node:
            value = parent.child_by_field_name("right")
            return self._value_items(value, count) if value is not None else None
        return None

    def _value_items(self, value: Node, count: int) -> list[Node] | None:
        if value.type == "argument_list":
            return named(value)
        items = self._items(value)
        return items if items is not None or count != 1 else [value]

    def _element(self, name: Node) -> tuple[int, Node] | None:
        """Return the index and the value of `name[1] = value;`, where it is a statement of a block."""
        index = name.parent
        assignment = index.parent if index is not None else None
        if index is None or index.type != "subscript_expression" or assignment is None:
            return None
        if assignment.type != "assignment_expression" or assignment.child_by_field_name("left") != index:
            return None
        value, op = assignment.child_by_field_name("right"), assignment.child_by_field_name("operator")
        indices = index.child_by_field_name("indices")
        at = text_of(indices.named_children[0]) if indices is not None and indices.named_children else ""
        block = assignment.parent.parent if assignment.parent is not None else None
        if value is None or op is None or text_of(op) != "=" or not at.isdecimal():
            return None
        is_plain = block is not None and block.type == "compound_statement"
        return (int(at), value) if is_plain and block is not None and _is_body(block) else None

    def _replaced(self, items: list[Node], texts: Callable[[Sequence[str]], list[str]]) -> list[Edit]:
        old = [text_of(it) for it in items]
        new = texts(old)
        return [self.edit(node, text) for node, was, text in zip(items, old, new, strict=True) if was != text]

    def _apart(
        self,
        call: _LaunchCall,
        node: Node,
        count: int,
        texts: Callable[[Sequence[str]], list[str]],
        kind: str,
    ) -> list[Edit]:
        """Return the edits that give a launch a size of its own, made of the one it was given."""
        text = text_of(node)
        if text in _NO_SIZE:
            return []
        if node.type == "pointer_expression" and count == 1:
            old = [text_of(node.named_children[-1])]
        elif node.type in ("identifier", "field_expression", "subscript_expression", "attribute"):
            old = [f"{text}[{i}]" for i in range(count)]
        else:
            raise RefusedError(f"the {kind} size at {self.place(node)} is no list and no variable")
        if call.style != "c":
            return [self.edit(node, self._list(call.style, texts(old)))]
        return self._inserted(call, node, texts(old), kind)

    def _inserted(self, call: _LaunchCall, node: Node, texts: list[str], kind: str) -> list[Edit]:
        statement = enclosing(call.call, STATEMENTS)
        block = statement.parent
        if statement.type not in STATEMENTS or block is None or block.type != "compound_statement":
            raise RefusedError(f"the call at {self.place(call.call)} is where no variable can be declared")
        name = self.new_name(f"new_{kind}")
        indent = self.indent(statement)
        declared = f"const size_t {name}[{len(texts)}] = {{ {', '.join(texts)} }};"
        return [
            self.before(statement, f"{declared}\n{indent}"),
            self.edit(node, name),
        ]

    def _list(self, style: str, texts: Sequence[str]) -> str:
        listed = ", ".join(texts)
        if style == "python":
            return f"({listed},)" if len(texts) == 1 else f"({listed})"
        return f"cl::NDRange({listed})"

    # ----------------------------------------------------------------------------------- local memory

    def memory(self, row: int, index: int, rule: Resize, name: str) -> Edit:
        """Return the edit that changes the size of a `__local` argument."""
        for call in self.calls(row):
            node = self._memory_size(call, index)
            if node is not None:
                return self.edit(node, bytes_text(rule, text_of(node)))
        raise RefusedError(f"the size of `{name}` is not set in a plain call at {place_of(self.path, row)}")

    def _memory_size(self, call: Node, index: int) -> Node | None:
        arguments, name = arguments_of(call), called(call)
        if name == "clSetKernelArg" and len(arguments) == 4:
            return arguments[2]
        if name in ("setArg", "set_arg") and len(arguments) == 3 and text_of(arguments[2]) in _NO_SIZE:
            return arguments[1]
        if name in ("setArg", "set_arg") and len(arguments) == 2:
            return self._wrapped(arguments[1])
        launch = self._launch_call(call)
        if name == "set_args" and index < len(arguments):
            return self._wrapped(arguments[index])
        if launch is None:
            return None
        first = {"python": 3, "cpp": 1}.get(launch.style, len(arguments))
        at = first + index
        return self._wrapped(arguments[at]) if at < len(arguments) else None

    def _wrapped(self, node: Node) -> Node | None:
        """Return the size in `cl::Local(size)`, `cl.LocalMemory(size)`."""
        if node.type not in ("call_expression", "call"):
            return None
        inner = arguments_of(node)
        fits = called(node) in ("Local", "__local", "LocalMemory") and len(inner) == 1
        return inner[0] if fits else None


def _is_body(block: Node) -> bool:
    return block.parent is not None and block.parent.type in FUNCTIONS
