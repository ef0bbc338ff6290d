"""Which places of host code certainly name a kernel, and which only may: what a rename rests on.

`uses.py` yields every string and attribute that reads like a kernel's name, for people who look around. Who
changes the name must know more: that a string reaches what makes a kernel, and whose attribute it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.c_reader import parse_c
from clmap_lsp.hosts.python_reader import parse_python
from clmap_lsp.hosts.syntax import raw_content, text_of

USES_OPENCL = re.compile(
    r"(?<!\w)cl(?:::|Create|Enqueue|Build|Get|Set)|pyopencl|(?:CL|OpenCL)/\w+\.hp?p?\b|(?<!\w)compute::"
)
"""What a file has that may name kernels at all."""
_OF_KERNELS = re.compile(r"kernel|knl|getattr", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:^|_)(?:cl)?(?:prg|prog|program|kernels?|knls?|module)s?\d*$", re.IGNORECASE)
_MAKES_PROGRAM = re.compile(r"Program\s*+\(|\.build\s*+\(|build_program|create_program")
_ASSIGNED = re.compile(r"(?<!\w)(\w++)\s*+=\s*+")
_ASSIGNS = re.compile(r"\s*+=(?!=)")
_IMPORTS = re.compile(r"(?m)^[ \t]*+(?:import|from)\b[^\n]*+")
_PATHS = re.compile(r"\w++(?:\.\w++)*+")
_MAKES_KERNEL = re.compile(
    r"(?<!\w)(?=(?:(?=\w*[kK]ernel)\w++(?:<[^;]{0,200}?>)?(?:\s++\w++)?|\w*getattr)\s*+([({]))"
)
_WORD_OR_END = re.compile(r"\w++|[;{}]")
_QUOTING = re.compile(r"(?m)^[ \t]*+#[ \t]*+define[ \t]++(\w++)\(((?:[^\\\n]++|\\(?:\r?\n)?)*+)")
_QUEUE = re.compile(r"queue|(?:^|[._])(?:q|cq)$", re.IGNORECASE)
_STRINGS = frozenset(("string_literal", "raw_string_literal", "string"))
_PREFIX = re.compile(r"\A(?:u8|[A-Za-z])++")
"""What may stand before the quotes of a string: an encoding, `R`, `f`."""
_CALLS = frozenset(("call_expression", "call"))
_HANDED = 400
"""Characters behind what makes kernels in which that is named which it is given."""
_LONGEST = 400
"""Bytes of an expression that are looked at: of a longer one, its end."""
_MOST_LEVELS = 40
"""Levels of an expression between a string and what it is handed to."""
_MOST_DOTS = 8
"""Parts of a module's name."""


_Chain = Sequence[Node]
"""A node, what it stands in, what that stands in, and so on."""


@dataclass(frozen=True, slots=True)
class Naming:
    """A place, without quotes, in code points; `doubt` says what else it may be, and is empty if nothing."""

    start: int
    end: int
    doubt: str = ""


def namings(name: str, text: str, path: str) -> Iterator[Naming]:
    """Yield where a host file names a kernel or may do so. What certainly is something else is left out."""
    places = [it.start() for it in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    if not places:
        return
    is_python = path.lower().endswith((".py", ".pyi"))
    root = parse_python(text) if is_python else parse_c(text)
    chains = list(zip(places, _chains(root, _in_bytes(text, name, places)), strict=True))
    own = frozenset(_own_receivers(text, name, chains)) if is_python else frozenset()
    file = _File(name, _said(text, name), is_python, USES_OPENCL.search(text) is not None, own)
    for start, chain in chains:
        doubt = file.doubt(chain)
        if doubt is not None:
            yield Naming(start, start + len(name), doubt)


def _in_bytes(text: str, name: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield where a name starts and ends in a text's bytes."""
    at = n_bytes = 0
    length = len(name.encode())
    for start in places:
        n_bytes += len(text[at:start].encode("utf-8", "replace"))
        at = start
        yield n_bytes, n_bytes + length


def _chains(root: Node, ranges: Iterable[tuple[int, int]]) -> Iterator[_Chain]:
    """Yield, for ranges in their order, the smallest node that holds each and those around it.

    In one walk: to ask a node for its parent takes a walk from the root each time.
    """
    cursor = root.walk()
    path = [root]
    for start, end in ranges:
        while True:
            node = path[-1]
            if node.end_byte >= end and node.start_byte <= start:
                if not cursor.goto_first_child():
                    found = len(path)
                    break
            elif node.end_byte < end and not cursor.goto_next_sibling():
                if len(path) == 1 or path[-2].end_byte >= end:
                    found = max(len(path) - 1, 1)
                    break
                cursor.goto_parent()
                path.pop()
                continue
            elif node.end_byte < end:
                path.pop()
            else:
                found = max(len(path) - 1, 1)
                break
            if cursor.node is not None:
                path.append(cursor.node)
        yield path[max(found - _MOST_LEVELS, 0) : found][::-1]


def _own_receivers(text: str, name: str, chains: Iterable[tuple[int, _Chain]]) -> Iterator[str]:
    """Yield the objects of Python that are given an attribute of this name."""
    for start, chain in chains:
        receiver = chain[1].child_by_field_name("object") if len(chain) > 1 else None
        if receiver is not None and _ASSIGNS.match(text, start + len(name)):
            yield _end_of(receiver)


# ----------------------------------------------------------------------------------- what a whole file says


@dataclass(frozen=True, slots=True)
class _Said:
    """What a file says of its names, looked for once: it may name a kernel in thousands of places."""

    has_pyopencl: bool
    has_method: bool
    """There is a method of the name that is asked for."""
    handed: frozenset[str]
    """What is handed to what makes kernels."""
    programs: frozenset[str]
    """What is assigned a program."""
    modules: frozenset[str]
    quoting: frozenset[str]
    """Macros that make strings."""


def _said(text: str, name: str) -> _Said:
    return _Said(
        has_pyopencl="pyopencl" in text,
        has_method=re.search(rf"\bdef\s++{re.escape(name)}\s*+\(", text) is not None,
        handed=frozenset(_handed(text)),
        programs=frozenset(_programs(text)),
        modules=frozenset(_modules(text)),
        quoting=frozenset(it[1] for it in _QUOTING.finditer(text) if "#" in it[2]),
    )


def _handed(text: str) -> Iterator[str]:
    """Yield the words that follow what makes kernels before the statement ends."""
    openings = sorted(it.end(1) for it in _MAKES_KERNEL.finditer(text))
    if not openings:
        return
    ended = 0
    for it in _WORD_OR_END.finditer(text):
        if it[0] in ";{}":
            ended = it.end()
            continue
        before = bisect_right(openings, it.start())
        opening = openings[before - 1] if before else -1
        if opening >= ended and it.start() - opening <= _HANDED:
            yield it[0]


def _programs(text: str) -> Iterator[str]:
    """Yield the names that are assigned what the rest of the line makes a program of."""
    makers = [it.start() for it in _MAKES_PROGRAM.finditer(text)]
    line_end = 0
    for it in _ASSIGNED.finditer(text) if makers else ():
        if line_end < it.end():
            line_end = text.find("\n", it.end())
            line_end = len(text) if line_end < 0 else line_end
        after = bisect_left(makers, it.end())
        if after < len(makers) and makers[after] < line_end:
            yield it[1]


def _modules(text: str) -> Iterator[str]:
    """Yield what lines that import name, each with the modules in it."""
    for line in _IMPORTS.finditer(text):
        for path in _PATHS.findall(line[0]):
            parts = path.split(".")
            for first in range(len(parts)):
                for end in range(first + 1, min(len(parts), first + _MOST_DOTS) + 1):
                    yield ".".join(parts[first:end])


def _end_of(node: Node) -> str:
    """Return the text of an expression; of a long one its end, as those may stand one in the other."""
    long = node.end_byte - node.start_byte - _LONGEST
    if long <= 0:
        return text_of(node)
    tail = node.children[-1] if node.child_count else node
    while tail.child_count and tail.end_byte - tail.start_byte > _LONGEST:
        tail = tail.children[-1]
    return text_of(tail)[-_LONGEST:] if tail.end_byte - tail.start_byte <= _LONGEST else ""


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    said: _Said
    is_python: bool
    uses_opencl: bool
    own: frozenset[str]
    """Objects that are given an attribute of the name."""

    def doubt(self, chain: _Chain) -> str | None:
        """Return what is uncertain about a place that spells the name; `None` where it is something else."""
        node = chain[0]
        if node.type == "preproc_arg":
            is_whole = _is_brief(node, len(self.name)) and text_of(node).strip() == f'"{self.name}"'
            return self._of_variable(_macro_of(chain)) if is_whole else None
        for level, it in enumerate(chain[:3]):
            if it.type in _STRINGS:
                return self._of_string(chain[level:])
        if self.is_python:
            is_attribute = len(chain) > 1 and chain[1].type == "attribute"
            if not is_attribute or chain[1].child_by_field_name("attribute") != node:
                return None
            return self._of_attribute(chain[1:])
        return self._of_word(chain)

    # ------------------------------------------------------------------------------------------ strings

    def _of_string(self, chain: _Chain) -> str | None:
        string = chain[0]
        is_brief = _is_brief(string, len(self.name))  # It may name the kernel a thousand times.
        if not is_brief or _content(string) != self.name:
            return None
        if len(chain) > 1 and chain[1].type == "concatenated_string":
            return "it is one of several strings that make one" if self.uses_opencl else None
        held = _holder(chain)
        if held is not None and (_OF_KERNELS.search(held) or self._reaches_kernel(held)):
            return ""
        return self._maybe("the string may be something else")

    def _maybe(self, doubt: str) -> str | None:
        return doubt if self.uses_opencl else None

    def _of_variable(self, name: str) -> str | None:
        if _OF_KERNELS.search(name) or self._reaches_kernel(name):
            return ""
        return self._maybe(f"nothing shows that `{name}` names a kernel")

    def _reaches_kernel(self, name: str) -> bool:
        """Tell whether a variable is handed to what makes kernels."""
        return name in self.said.handed

    # --------------------------------------------------------------------------------------- attributes

    def _of_attribute(self, chain: _Chain) -> str | None:
        """Judge `receiver.name` by what the receiver is, and by what is handed over."""
        attribute = chain[0]
        receiver = attribute.child_by_field_name("object")
        if receiver is None or not self.said.has_pyopencl:
            return None
        whose = _end_of(receiver)
        last = re.split(r"\W+", whose.rstrip(")]"))[-1]
        if self._is_own(whose) or self._is_module(whose):
            return None
        if _PROGRAM.search(last) or last in self.said.programs or _MAKES_PROGRAM.search(whose):
            return ""
        call = chain[1] if len(chain) > 1 else None
        if call is not None and call.type == "call" and call.child_by_field_name("function") == attribute:
            arguments = call.child_by_field_name("arguments")
            first = (
                arguments.named_children[0] if arguments is not None and arguments.named_children else None
            )
            if first is not None and _QUEUE.search(_end_of(first)):
                return ""
            if first is None or arguments is None or len(arguments.named_children) < 3:
                return None  # A launch has a queue and two sizes.
        return f"nothing shows that `{whose}` is a program"

    def _is_own(self, whose: str) -> bool:
        """Tell whether an object gets an attribute or a method of this name here."""
        return whose in self.own or (whose in ("self", "cls") and self.said.has_method)

    def _is_module(self, whose: str) -> bool:
        return whose in self.said.modules

    # --------------------------------------------------------------------------------- words in C and C++

    def _of_word(self, chain: _Chain) -> str | None:
        """Judge a bare name: a macro may make a string of it."""
        call = next((it for it in chain[:4] if it.type in _CALLS), None)
        function = None if call is None else call.child_by_field_name("function")
        if function is None or function == chain[0]:
            return None
        macro = _end_of(function)
        if macro not in self.said.quoting:
            return None
        return self._maybe(f"the macro `{macro}` makes a string of it")


def _content(string: Node) -> str:
    """Return what stands between the quotes of a string, as it is typed."""
    if string.type == "raw_string_literal":
        return raw_content(string)
    return _PREFIX.sub("", text_of(string), count=1).strip("\"'")


def _is_brief(node: Node, length: int) -> bool:
    """Tell whether a node may say just a name of some length: the quotes, and blanks around them."""
    return node.end_byte - node.start_byte <= 4 * length + _LONGEST


def _macro_of(chain: _Chain) -> str:
    """Return the name of the macro whose body stands first."""
    name = chain[1].child_by_field_name("name") if len(chain) > 1 else None
    return "" if name is None else text_of(name)


def _holder(chain: _Chain) -> str | None:
    """Return what a string is handed to, kept in or looked up in: a function, a type, a variable."""
    for level, parent in enumerate(chain[1:], 1):
        match parent.type:
            case "call_expression" | "call":
                return _name_of(parent.child_by_field_name("function"))
            case "new_expression" | "compound_literal_expression":
                return _name_of(parent.child_by_field_name("type"))
            case "subscript_expression" | "subscript":
                value = parent.child_by_field_name("argument") or parent.child_by_field_name("value")
                return _name_of(value)
            case "keyword_argument":
                return _name_of(parent.child_by_field_name("name"))
            case "assignment" | "assignment_expression":
                return _name_of(parent.child_by_field_name("left"))
            case "init_declarator":
                declarator = parent.child_by_field_name("declarator")
                value = parent.child_by_field_name("value")
                declaration = chain[level + 1] if level + 1 < len(chain) else None
                if value is not None and value.type in ("argument_list", "initializer_list") and declaration:
                    type_ = declaration.child_by_field_name("type")
                    if type_ is not None and _OF_KERNELS.search(text_of(type_)):
                        return text_of(type_)
                return _name_of(declarator)
            case "field_initializer":
                return _name_of(parent.named_children[0])
            case _ if parent.type.endswith("statement") or parent.type in ("comparison_operator", "pair"):
                return None
    return None


def _name_of(node: Node | None) -> str | None:
    """Return the last name of what is called, declared or assigned."""
    if node is None:
        return None
    if node.type in ("pointer_declarator", "array_declarator", "reference_declarator"):
        return _name_of(node.child_by_field_name("declarator") or next(iter(node.named_children), None))
    plain = _end_of(node)
    opened, closed = plain.find("<"), plain.rfind(">")
    if 0 <= opened < closed:
        plain = plain[:opened] + plain[closed + 1 :]
    found = re.findall(r"\w+", plain)
    return found[-1] if found else None
