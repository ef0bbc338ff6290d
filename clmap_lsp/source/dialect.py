"""What kernels take from beyond C, in terms of C: parts of C++ for OpenCL, and blocks.

Tokens keep their places. Namespaces go, `static_cast<T>(e)` becomes `(T)(e)`, references become pointers,
default arguments are written out, and `auto` is a type of its own that takes that of the value. A template
of a function is read for the types of its first explicit instantiation. One without is left out, and a block
is replaced by one word that lowering does not follow; both are named at their places. Classes are not read:
where there are some it is said once.
Source: The C++ for OpenCL 1.0 and 2021 Programming Language Documentation, Khronos Group, sections 1 and 2;
OpenCL C Specification 3.0, section 6.14 (blocks).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from itertools import compress, count

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.lexer import Token
from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.vocabulary import QUALIFIERS, STATEMENT_KEYWORDS

AUTO_TYPE = "__auto_type"
"""The type that a declaration takes from its value."""
BLOCK = "__builtin_block_literal"
"""Stands for a block in the text that is parsed."""
CASE_RANGE = "__builtin_case_range"
"""Is called with both ends of `case 1 ... 3` in the text that is parsed."""

_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast", "addrspace_cast"})
_MARKS = frozenset({"::", "namespace", "using", "template", "auto", *_CASTS})
_OF_CLASSES = frozenset({"class", "template", "::"})
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_LONGEST_ARGUMENTS = 64
"""Tokens between `<` and `>` in which the end of template arguments is looked for."""


@dataclass(slots=True)
class Plain:
    """Tokens of plain C, and what was left out of them."""

    tokens: list[Token]
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter of a function as its head has it."""

    is_reference: bool
    default: tuple[Token, ...] | None


def plain(tokens: list[Token], in_order: list[str]) -> Plain:
    """Write what kernels use of C++ and of blocks in C. Never raises.

    `in_order` are the texts of the tokens; the same list of tokens is returned where nothing is to be done.
    """
    out = Plain(tokens)
    texts = set(in_order)
    if not _OF_CLASSES.isdisjoint(texts) and (found := _classes(tokens)) is not None:
        out.problems.append(found)
    if called := _HOST_FUNCTIONS & texts:
        out.problems.append(_host_code(tokens, called))
    if not _MARKS.isdisjoint(texts):
        out.tokens = _without_namespaces(out.tokens)
        out.tokens = _c_casts(out.tokens)
        if "template" in texts:
            _without_templates(out)
        if "auto" in texts:
            out.tokens = _automatic_types(out.tokens)
    if "^" in texts and _may_have_blocks(in_order):
        out.tokens = _without_blocks(out.tokens)
    if "..." in texts and "case" in texts:
        out.tokens = _case_ranges(out.tokens)
    if "&" in texts or "=" in texts:
        if out.tokens is not tokens:
            in_order = [token.text for token in out.tokens]
        if _has_special(in_order):
            out.tokens = _References(out.tokens).run()
    return out


# ------------------------------------------------------------------------------------------------ brackets


def _brackets(tokens: list[Token]) -> dict[int, int]:
    """Return for each opening bracket the closing one; unbalanced ones are left out."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in _OPEN:
            waiting.append(index)
        elif token.text in _CLOSE and waiting:
            found[waiting.pop()] = index
    return found


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""


def _is_name(text: str) -> bool:
    return text.isidentifier() and text not in STATEMENT_KEYWORDS


def _closing_angle(tokens: list[Token], at: int) -> int | None:
    """Return where the template arguments end that open at `at`."""
    depth = 0
    for index in range(at, min(at + _LONGEST_ARGUMENTS, len(tokens))):
        text = tokens[index].text
        if text == "<":
            depth += 1
        elif text in (">", ">>"):
            depth -= len(text)
            if depth <= 0:
                return index
        elif text in (";", "{", "}"):
            return None
    return None


# ------------------------------------------------------------------------------------- names and casts


def _without_namespaces(tokens: list[Token]) -> list[Token]:
    """Drop `namespace a {`, its `}`, `using namespace a;` and the qualifiers of names."""
    closing = _brackets(tokens)
    out: list[Token] = []
    dropped: set[int] = set()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        text = token.text
        if at in dropped:
            at += 1
        elif text == "namespace":
            end = at + 1
            while _is_name(_text(tokens, end)) or _text(tokens, end) == "::":
                end += 1
            if _text(tokens, end) == "{":
                dropped.add(closing.get(end, -1))
                at = end + 1
            else:
                at = max(end, at + 1)
        elif text == "using" and _text(tokens, at + 1) == "namespace":
            while at < len(tokens) and tokens[at].text not in (";", "{", "}"):
                at += 1
            at += _text(tokens, at) == ";"
        elif text == "::" and _is_name(_text(tokens, at + 1)):
            if out and _is_name(out[-1].text) and _is_joined(tokens, at):
                out.pop()
            at += 1
        else:
            out.append(token)
            at += 1
    return out


def _is_joined(tokens: list[Token], at: int) -> bool:
    """Tell whether `::` belongs to the name before it: `a::b`, but not `return ::b`."""
    return _is_name(_text(tokens, at - 1)) and tokens[at].gap == 0


def _c_casts(tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    ends: dict[int, Token] = {}
    for index, token in enumerate(tokens):
        if index in ends:
            out.append(ends[index])
        elif token.text in _CASTS and _text(tokens, index + 1) == "<":
            end = _closing_angle(tokens, index + 1)
            if end is None or _text(tokens, end + 1) != "(":
                out.append(token)
                continue
            ends[index + 1] = token._replace(text="(")
            ends[end] = tokens[end]._replace(text=")")
        else:
            out.append(token)
    return out


def _automatic_types(tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    for index, token in enumerate(tokens):
        if token.text == "auto":
            after = index + 1
            while _text(tokens, after) in ("*", "&", "const", "volatile"):
                after += 1
            if _is_name(_text(tokens, after)) and _text(tokens, after + 1) in ("=", "("):
                out.append(token._replace(text=AUTO_TYPE))
                continue
        out.append(token)
    return out


# ---------------------------------------------------------------------------- what is left out by name


def _classes(tokens: list[Token]) -> Problem | None:
    """Return the first class, class template or member function of a text as a problem; `None`: none."""
    closing = _brackets(tokens)
    at = 0
    while at < len(tokens):
        text = tokens[at].text
        head, name = at, _text(tokens, at + 1)
        if text == "template":
            parameters = _closing_angle(tokens, at + 1) if name == "<" else None
            head = at + 1 if parameters is None else parameters + 1
            is_class = _text(tokens, head) in ("class", "struct")
        elif text == "class":
            is_class = _is_name(name) and _text(tokens, at + 2) in ("{", ":", ";")
        else:
            opening = at + 2 + (name == "~")
            is_member = text == "::" and _is_name(_text(tokens, at - 1)) and _text(tokens, opening) == "("
            body = _text(tokens, closing.get(opening, len(tokens)) + 1)
            is_class = is_member and body in ("{", ":", "const")
            head = at - 1
        if is_class:
            shown = " ".join(it.text for it in tokens[head : head + 2])
            shown = f"{_text(tokens, at - 1)}::{name}" if text == "::" else shown
            message = (
                f"classes of C++ are not read, such as `{shown}`: of this file only what is OpenCL C is "
                "judged, and nothing is said of errors"
            )
            return Problem("cpp-classes", Severity.INFORMATION, message, span_of_token(tokens[at]))
        at = closing.get(at, at) + 1 if text == "{" else at + 1
    return None


_HOST_FUNCTIONS = frozenset(
    {
        "clBuildProgram",
        "clCreateBuffer",
        "clCreateCommandQueue",
        "clCreateCommandQueueWithProperties",
        "clCreateContext",
        "clCreateContextFromType",
        "clCreateKernel",
        "clCreateProgramWithBinary",
        "clCreateProgramWithSource",
        "clEnqueueCopyBuffer",
        "clEnqueueMapBuffer",
        "clEnqueueNDRangeKernel",
        "clEnqueueReadBuffer",
        "clEnqueueTask",
        "clEnqueueWriteBuffer",
        "clGetContextInfo",
        "clGetDeviceIDs",
        "clGetDeviceInfo",
        "clGetKernelWorkGroupInfo",
        "clGetPlatformIDs",
        "clGetPlatformInfo",
        "clGetProgramBuildInfo",
        "clReleaseKernel",
        "clReleaseMemObject",
        "clReleaseProgram",
        "clSetKernelArg",
        "clWaitForEvents",
    }
)
"""Functions of OpenCL's API that no kernel can call: who uses one writes host code."""


def _host_code(tokens: list[Token], called: Collection[str]) -> Problem:
    """Return the problem of a text that is host code, in part or whole, whatever its name ends in."""
    message = (
        "this is a function of the host, which no kernel can call: the file is host code, or holds some. "
        "Only its kernels are judged, and nothing is said of errors"
    )
    first = next(it for it in tokens if it.text in called)
    return Problem("host-code", Severity.INFORMATION, message, span_of_token(first))


def _without_templates(out: Plain) -> None:
    """Write out templates of functions for the types that they are instantiated with, and drop the others.

    Of several instantiations the first is read. The arguments in `<>` of calls go.
    """
    tokens = out.tokens
    closing = _brackets(tokens)
    instances = _instances(tokens, closing)
    kept: list[Token] = []
    names: set[str] = set()
    at = 0
    while at < len(tokens):
        if tokens[at].text == "template" and _text(tokens, at + 1) == "<":
            end, name = _template(tokens, at, closing)
            names.add(name)
            written = _written_out(tokens[at:end], instances.get(name))
            kept += written
            if not written:
                what = f"the template `{name}`" if name else "a template"
                message = f"{what} is not read; write the function out for the types that it is used with"
                place = span_of_token(tokens[at])
                out.problems.append(Problem("unsupported", Severity.INFORMATION, message, place))
            at = end
            continue
        if tokens[at].text == "template":
            at = _template(tokens, at, closing)[0]
            continue
        kept.append(tokens[at])
        if tokens[at].text in names and _text(tokens, at + 1) == "<":
            arguments = _closing_angle(tokens, at + 1)
            if arguments is not None and _text(tokens, arguments + 1) == "(":
                at = arguments
        at += 1
    out.tokens = kept
    first = next(it for it in tokens if it.text == "template")
    message = "templates are read for the types of their first explicit instantiation"
    out.problems.append(Problem("cpp-templates", Severity.HINT, message, span_of_token(first)))


@dataclass(frozen=True, slots=True)
class _Instance:
    """An explicit instantiation: `template __attribute__((mangled_name(f_float))) void f(float x)`.

    Source of `mangled_name`: OpenCL Static C++ Kernel Language Extension, AMD, 2012, section 2.5.
    """

    parameters: list[Token]
    name: str
    """What the host calls it."""


def _instances(tokens: list[Token], closing: dict[int, int]) -> dict[str, _Instance]:
    """Return the first explicit instantiation of each function, by its name."""
    found: dict[str, _Instance] = {}
    for at, token in enumerate(tokens):
        if token.text == "template" and _text(tokens, at + 1) != "<":
            end, _ = _template(tokens, at, closing)
            if end > at + 3 and tokens[end - 1].text == ";" and tokens[end - 2].text == ")":
                opening = next((it for it in range(at, end) if closing.get(it) == end - 2), at)
                own = _text(tokens, opening - 1)
                texts = [it.text for it in tokens[at:opening]]
                mangled = texts.index("mangled_name") + 2 if "mangled_name" in texts else len(texts)
                name = texts[mangled] if mangled < len(texts) and _is_name(texts[mangled]) else own
                found.setdefault(own, _Instance(tokens[opening + 1 : end - 2], name))
    return found


def _written_out(template: list[Token], instance: _Instance | None) -> list[Token]:
    """Return a template of a function with the types of an instantiation; empty where they do not follow."""
    end = _closing_angle(template, 1)
    if end is None or instance is None:
        return []
    heads = _separated(template[2:end])
    names = [head[1].text for head in heads if len(head) == 2 and head[0].text in ("class", "typename")]
    body = template[end + 1 :]
    opening = next((i for i, it in enumerate(body) if it.text == "(" and i and _is_name(body[i - 1].text)), 0)
    while opening and body[opening - 1].text == "__attribute__":
        opening = next((i for i in range(opening + 1, len(body)) if body[i].text == "("), 0)
    own = _separated(body[opening + 1 : _brackets(body).get(opening, opening)])
    types: dict[str, Token] = {}
    for wanted, given in zip(own, _separated(instance.parameters), strict=False):
        for index, it in enumerate(wanted[: len(given)]):
            if it.text in names:
                types.setdefault(it.text, given[index])
            elif it.text != given[index].text:
                break
    if len(names) != len(heads) or set(types) != set(names):
        return []
    body[opening - 1] = body[opening - 1]._replace(text=instance.name)
    return [it._replace(text=types[it.text].text) if it.text in types else it for it in body]


def _separated(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return what stands between the commas of a list, those in brackets left alone."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for it in tokens:
        depth += (it.text in _OPEN) - (it.text in _CLOSE)
        if it.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(it)
    return parts


def _template(tokens: list[Token], at: int, closing: dict[int, int]) -> tuple[int, str]:
    """Return where a template ends, and its name."""
    parameters = _closing_angle(tokens, at + 1) if _text(tokens, at + 1) == "<" else at
    index = at + 2 if parameters is None else parameters + 1
    name = ""
    while index < len(tokens):
        text = tokens[index].text
        if text == ";":
            return index + 1, name
        if text == "{":
            end = closing.get(index, len(tokens) - 1) + 1
            return end + (_text(tokens, end) == ";"), name
        if text == "(":
            name = name or (tokens[index - 1].text if _is_name(tokens[index - 1].text) else "")
            index = closing.get(index, index)
        elif text in ("struct", "class") and not name:
            name = _text(tokens, index + 1)
        index += 1
    return index, name


def _may_have_blocks(texts: list[str]) -> bool:
    """Tell whether a `^` stands where an operand, or the name of a variable in brackets, starts."""
    at = -1
    for _ in range(texts.count("^")):
        at = texts.index("^", at + 1)
        before = texts[at - 1] if at else ""
        is_operator = before in (")", "]") or before[-1:].isalnum() or before[-1:] == "_"
        if not is_operator or before in STATEMENT_KEYWORDS:
            return True
    return False


_LONGEST_TYPE = 8


def _behind_type(tokens: list[Token], at: int) -> int:
    """Return where the parameters of a block start, behind the type that it may say it returns."""
    for index in range(at, at + _LONGEST_TYPE):
        text = _text(tokens, index)
        if text != "*" and not _is_name(text):
            return index
    return at


def _without_blocks(tokens: list[Token]) -> list[Token]:
    """Put one word in the place of each block, and make block variables pointers to functions."""
    closing = _brackets(tokens)
    out: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == "^":
            body = _behind_type(tokens, at + 1)
            if _text(tokens, body) == "(":
                body = closing.get(body, -2) + 1
            if _text(tokens, body) == "{" and body in closing:
                out.append(token._replace(text=BLOCK))
                at = closing[body] + 1
                continue
            name = at + 1
            while _text(tokens, name) in QUALIFIERS:
                name += 1
            if out and out[-1].text == "(" and _text(tokens, name + 1) in (")", "["):
                token = token._replace(text="*")
        out.append(token)
        at += 1
    return out


def _case_ranges(tokens: list[Token]) -> list[Token]:
    """Write `case 1 ... 3:` as `case __builtin_case_range(1, 3):`."""
    out: list[Token] = []
    opened = -1
    for token in tokens:
        text = token.text
        if text == "case":
            opened = len(out) + 1
        elif text in ("{", "}", ";", "?"):
            opened = -1
        elif text == "..." and 0 <= opened < len(out):
            first = out[opened]
            out[opened:opened] = [first._replace(text=CASE_RANGE), first._replace(text="(", gap=0)]
            token = token._replace(text=",", gap=0)  # noqa: PLW2901
        elif text == ":" and 0 <= opened < len(out):
            if out[opened].text == CASE_RANGE:
                out.append(out[-1]._replace(text=")", gap=0))
            opened = -1
        out.append(token)
    return out if len(out) != len(tokens) else tokens


# ------------------------------------------------------------------------ references, default arguments


_SPECIAL = frozenset("(){}&=")


def _has_special(texts: list[str]) -> bool:
    """Tell whether `T &name` or a default argument may stand somewhere."""
    braces = parentheses = 0
    for index in compress(count(), map(_SPECIAL.__contains__, texts)):
        text = texts[index]
        if text == "&":
            after = texts[index + 2] if index + 2 < len(texts) else ""
            if (after in (",", ")") and not braces) or after == "=":
                return True
        elif text == "=":
            if parentheses and not braces:
                return True
        elif text in "()":
            parentheses = max(parentheses + (1 if text == "(" else -1), 0)
        else:
            braces = max(braces + (1 if text == "{" else -1), 0)
            parentheses = 0
    return False


class _References:
    """Makes references pointers, and writes default arguments out."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.closing = _brackets(tokens)
        self.edits: dict[int, list[Token]] = {}
        self.before: dict[int, list[Token]] = {}
        """What is put before a token; several may want the same place."""
        self.functions: dict[str, list[_Parameter] | None] = {}
        self.heads: set[int] = set()

    def run(self) -> list[Token]:
        self.read_heads()
        special = {
            name: found
            for name, found in self.functions.items()
            if found is not None and any(it.is_reference or it.default is not None for it in found)
        }
        self.local_references()
        for index, token in enumerate(self.tokens):
            if token.text in special and index not in self.heads and _text(self.tokens, index + 1) == "(":
                self.call(index, special[token.text])
        if not self.edits and not self.before:
            return self.tokens
        out: list[Token] = []
        for index, token in enumerate(self.tokens):
            out += self.before.get(index, ())
            out += self.edits.get(index, (token,))
        return out

    # ------------------------------------------------------------------------------------- functions

    def read_heads(self) -> None:
        """Look at every function at the level of the file."""
        tokens, closing = self.tokens, self.closing
        at = 0
        while at < len(tokens):
            text = tokens[at].text
            if text == "{":
                at = closing.get(at, len(tokens))
            elif text == "(" and at in closing:
                end = closing[at]
                after = _text(tokens, end + 1)
                is_head = after in ("{", ";") and _is_name(_text(tokens, at - 1))
                if is_head and _text(tokens, at - 2) not in ("=", "return", ",", "("):
                    self.head(at, end)
                at = end
            at += 1

    def head(self, opened: int, end: int) -> None:
        tokens = self.tokens
        name = tokens[opened - 1].text
        self.heads.add(opened - 1)
        parameters: list[_Parameter] = []
        for start, stop in self.pieces(opened, end):
            parameters.append(self.parameter(start, stop, end))
        known = self.functions.setdefault(name, parameters)
        if known is not None and known is not parameters:
            same = [it.is_reference for it in known] == [it.is_reference for it in parameters]
            # A prototype has the default arguments, the definition behind it has not.
            has_defaults = any(it.default is not None for it in parameters)
            self.functions[name] = (parameters if has_defaults else known) if same else None

    def parameter(self, start: int, stop: int, end: int) -> _Parameter:
        tokens = self.tokens
        default: tuple[Token, ...] | None = None
        equals = next((it for it in range(start, stop) if tokens[it].text == "="), None)
        if equals is not None:
            default = tuple(tokens[equals + 1 : stop])
            for index in range(equals, stop):
                self.edits[index] = []
            stop = equals
        is_reference = stop - start >= 3 and tokens[stop - 2].text == "&" and _is_name(tokens[stop - 1].text)
        if is_reference:
            self.edits[stop - 2] = [tokens[stop - 2]._replace(text="*")]
            body = end + 1
            if _text(tokens, body) == "{" and body in self.closing:
                self.follow(tokens[stop - 1].text, body + 1, self.closing[body])
        return _Parameter(is_reference, default)

    def pieces(self, opened: int, end: int) -> list[tuple[int, int]]:
        """Return the parts between the commas of a list in brackets."""
        found: list[tuple[int, int]] = []
        start = at = opened + 1
        while at < end:
            if self.tokens[at].text in _OPEN and at in self.closing:
                at = self.closing[at]
            elif self.tokens[at].text == ",":
                found.append((start, at))
                start = at + 1
            at += 1
        if start < end or found:
            found.append((start, end))
        return found

    def follow(self, name: str, start: int, end: int) -> None:
        """Write `(*name)` for a reference in the text where it is known."""
        tokens = self.tokens
        for index in range(start, end):
            token = tokens[index]
            if token.text == name and _text(tokens, index - 1) not in (".", "->"):
                self.edits[index] = [
                    token._replace(text="("),
                    token._replace(text="*", gap=0),
                    token._replace(gap=0),
                    token._replace(text=")", gap=0),
                ]

    def call(self, at: int, parameters: list[_Parameter]) -> None:
        tokens, opened = self.tokens, at + 1
        end = self.closing.get(opened)
        if end is None:
            return
        pieces = self.pieces(opened, end)
        if len(pieces) > len(parameters):
            return
        for (start, stop), parameter in zip(pieces, parameters, strict=False):
            if parameter.is_reference and start < stop:
                first = tokens[start]
                self.before.setdefault(start, []).extend(
                    (first._replace(text="&"), first._replace(text="(", gap=0))
                )
                self.before.setdefault(stop, []).insert(0, tokens[stop - 1]._replace(text=")", gap=0))
        close = tokens[end]
        for number in range(len(pieces), len(parameters)):
            default = parameters[number].default
            if default is None:
                return
            comma = [close._replace(text=",", gap=0)] if number else []
            # An argument that is not written stands at the end of the call.
            written = [it._replace(start=close.start, end=close.end, path=close.path) for it in default]
            self.before.setdefault(end, []).extend((*comma, *(it._replace(use=close.use) for it in written)))

    # ------------------------------------------------------------------------------- local references

    def local_references(self) -> None:
        """Make `T &name = place;` a pointer to the place."""
        tokens = self.tokens
        scopes: list[int] = []
        for index, token in enumerate(tokens):
            if token.text == "{":
                scopes.append(self.closing.get(index, len(tokens)))
            elif token.text == "}" and scopes:
                scopes.pop()
            elif token.text == "&" and scopes and self.declares(index):
                self.local(index, scopes[-1])

    def declares(self, at: int) -> bool:
        if not _is_name(_text(self.tokens, at + 1)) or _text(self.tokens, at + 2) != "=":
            return False
        before = at - 1
        while before > 0 and _is_name(_text(self.tokens, before)):
            before -= 1
        return before < at - 1 and _text(self.tokens, before) in (";", "{", "}")

    def local(self, at: int, scope: int) -> None:
        tokens = self.tokens
        end = at + 3
        while end < scope and tokens[end].text != ";":
            end = self.closing.get(end, end) + 1
        if end >= min(scope, len(tokens)):
            return
        self.edits[at] = [tokens[at]._replace(text="*")]
        self.follow(tokens[at + 1].text, end, min(scope, len(tokens)))
        first = tokens[at + 3]
        self.before.setdefault(at + 3, []).extend((first._replace(text="&"), first._replace(text="(", gap=0)))
        self.before.setdefault(end, []).insert(0, tokens[end - 1]._replace(text=")", gap=0))
