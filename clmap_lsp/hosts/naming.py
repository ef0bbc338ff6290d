"""Which places of host code certainly name a kernel, and which only may: what a rename rests on.

`uses.py` yields every string and attribute that reads like a kernel's name, for people who look around. Who
changes the name must know more: that a string reaches what makes a kernel, and whose attribute it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.c_reader import parse_c
from clmap_lsp.hosts.python_reader import parse_python
from clmap_lsp.hosts.syntax import text_of

USES_OPENCL = re.compile(
    r"(?<!\w)cl(?:::|Create|Enqueue|Build|Get|Set)|pyopencl|(?:CL|OpenCL)/\w+\.hp?p?\b|(?<!\w)compute::"
)
"""What a file has that may name kernels at all."""
_OF_KERNELS = re.compile(r"kernel|knl|getattr", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:^|_)(?:cl)?(?:prg|prog|program|kernels?|knls?|module)s?\d*$", re.IGNORECASE)
_MAKES_PROGRAM = r"[^\n]*(?:Program\s*\(|\.build\s*\(|build_program|create_program)"
_QUEUE = re.compile(r"queue|(?:^|[._])(?:q|cq)$", re.IGNORECASE)
_STRINGS = frozenset(("string_literal", "string"))
_CALLS = frozenset(("call_expression", "call"))


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
    file = _File(name, text, is_python, USES_OPENCL.search(text) is not None)
    at = n_bytes = 0
    for start in places:
        n_bytes += len(text[at:start].encode("utf-8", "replace"))
        at = start
        node = root.descendant_for_byte_range(n_bytes, n_bytes + len(name.encode()))
        doubt = None if node is None else file.doubt(node)
        if doubt is not None:
            yield Naming(start, start + len(name), doubt)


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    text: str
    is_python: bool
    uses_opencl: bool

    def doubt(self, node: Node) -> str | None:
        """Return what is uncertain about a place that spells the name; `None` where it is something else."""
        if node.type == "preproc_arg":
            is_whole = text_of(node).strip() == f'"{self.name}"'
            return self._of_variable(_macro_of(node)) if is_whole else None
        string = next((it for it in _upwards(node, 2) if it.type in _STRINGS), None)
        if string is not None:
            return self._of_string(string)
        if self.is_python:
            parent = node.parent
            is_attribute = parent is not None and parent.type == "attribute"
            if parent is None or not is_attribute or parent.child_by_field_name("attribute") != node:
                return None
            return self._of_attribute(parent)
        return self._of_word(node)

    # ------------------------------------------------------------------------------------------ strings

    def _of_string(self, string: Node) -> str | None:
        if text_of(string).lstrip("rRbBuU").strip("\"'") != self.name:
            return None
        parent = string.parent
        if parent is not None and parent.type == "concatenated_string":
            return "it is one of several strings that make one" if self.uses_opencl else None
        held = _holder(string)
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
        if not re.fullmatch(r"\w+", name):
            return False
        making = r"(?:\w*[kK]ernel\w*(?:<[^;]{0,200}?>)?(?:\s+\w+)?|getattr)\s*[({]"
        return re.search(rf"{making}[^;{{}}]{{0,400}}?(?<!\w){name}(?!\w)", self.text) is not None

    # --------------------------------------------------------------------------------------- attributes

    def _of_attribute(self, attribute: Node) -> str | None:
        """Judge `receiver.name` by what the receiver is, and by what is handed over."""
        receiver = attribute.child_by_field_name("object")
        if receiver is None or "pyopencl" not in self.text:
            return None
        whose = text_of(receiver)
        last = re.split(r"\W+", whose.rstrip(")]"))[-1]
        if self._is_own(whose) or self._is_module(whose):
            return None
        is_program = _PROGRAM.search(last) or re.search(
            rf"(?<!\w){re.escape(last)}\s*=\s*{_MAKES_PROGRAM}", self.text
        )
        if is_program or re.search(_MAKES_PROGRAM, whose):
            return ""
        call = attribute.parent
        if call is not None and call.type == "call" and call.child_by_field_name("function") == attribute:
            arguments = call.child_by_field_name("arguments")
            first = (
                arguments.named_children[0] if arguments is not None and arguments.named_children else None
            )
            if first is not None and _QUEUE.search(text_of(first)):
                return ""
            if first is None or arguments is None or len(arguments.named_children) < 3:
                return None  # A launch has a queue and two sizes.
        return f"nothing shows that `{whose}` is a program"

    def _is_own(self, whose: str) -> bool:
        """Tell whether an object gets an attribute or a method of this name here."""
        own = rf"(?<![\w.]){re.escape(whose)}\.{self.name}\s*=[^=]"
        has_method = whose in ("self", "cls") and re.search(rf"\bdef\s+{self.name}\s*\(", self.text)
        return bool(has_method) or re.search(own, self.text) is not None

    def _is_module(self, whose: str) -> bool:
        names = rf"(?m)^\s*(?:import|from)\b[^\n]*(?<!\w){re.escape(whose)}(?!\w)"
        return re.search(names, self.text) is not None

    # --------------------------------------------------------------------------------- words in C and C++

    def _of_word(self, node: Node) -> str | None:
        """Judge a bare name: a macro may make a string of it."""
        call = next((it for it in _upwards(node, 3) if it.type in _CALLS), None)
        function = None if call is None else call.child_by_field_name("function")
        if function is None or function == node:
            return None
        macro = text_of(function)
        if not re.search(rf"(?m)^[ \t]*#[ \t]*define[ \t]+{re.escape(macro)}\((?:.|\\\r?\n)*#", self.text):
            return None
        return self._maybe(f"the macro `{macro}` makes a string of it")


def _upwards(node: Node, steps: int) -> Iterator[Node]:
    here: Node | None = node
    for _ in range(steps + 1):
        if here is None:
            return
        yield here
        here = here.parent


def _macro_of(node: Node) -> str:
    """Return the name of the macro whose body this is."""
    parent = node.parent
    name = None if parent is None else parent.child_by_field_name("name")
    return "" if name is None else text_of(name)


def _holder(string: Node) -> str | None:
    """Return what a string is handed to, kept in or looked up in: a function, a type, a variable."""
    here = string
    while (parent := here.parent) is not None:
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
                declaration = parent.parent
                if value is not None and value.type in ("argument_list", "initializer_list") and declaration:
                    type_ = declaration.child_by_field_name("type")
                    if type_ is not None and _OF_KERNELS.search(text_of(type_)):
                        return text_of(type_)
                return _name_of(declarator)
            case "field_initializer":
                return _name_of(parent.named_children[0])
            case _ if parent.type.endswith("statement") or parent.type in ("comparison_operator", "pair"):
                return None
        here = parent
    return None


def _name_of(node: Node | None) -> str | None:
    """Return the last name of what is called, declared or assigned."""
    if node is None:
        return None
    if node.type in ("pointer_declarator", "array_declarator", "reference_declarator"):
        return _name_of(node.child_by_field_name("declarator") or next(iter(node.named_children), None))
    plain = re.sub(r"<.*>", "", text_of(node), flags=re.DOTALL)
    found = re.findall(r"\w+", plain)
    return found[-1] if found else None
