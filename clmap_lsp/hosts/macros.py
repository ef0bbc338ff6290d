"""`#if` and `#define` in host code: which lines are compiled, and what names stand for.

Rows are kept: what is not compiled, and every directive, becomes blank lines. Macros are not put into the
text; the interpreter looks their names up, so that an expression can be shown as its author wrote it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.raw_strings import RawClosings

_TOKEN = re.compile(
    r"(?:u8|[uUL])?R\"(?P<delimiter>[^()\\\s\"]{0,16})\("
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*+(?:\"|(?=\n)|\\?\Z))"
    r"|(?P<character>'(?:[^'\\\n]|\\.){1,8}')"
    r"|(?P<line>//(?:[^\n\\]|\\.)*)|(?P<block>/\*)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)(.*)", re.DOTALL)
_DEFINE = re.compile(r"\s*([A-Za-z_]\w*)(\(([^()]*)\))?(.*)", re.DOTALL)
_INCLUDE = re.compile(r'\s*(?:"([^"\n]+)"|<([\w.+-]+/[^>\n]+)>)')
"""In angle brackets only what names a folder: a project's own headers, rather than `<math.h>`."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_MAX_EXPANSION = 40
_MAX_CONDITION = 4096
_EXPANDED = 1 << 18
_EXPANDED_A_CHARACTER = 8
"""Characters that macros put into the conditions of one text; those beyond count as ones that do not hold."""
_MAX_MISSING = 16

PREDEFINED = {"__linux__": "1", "__unix__": "1", "__GNUC__": "12", "__x86_64__": "1", "linux": "1"}
"""What is taken to be defined by the compiler: one on 64-bit Linux."""


INCLUDED = "\x01"
"""What a string starts with that stands for a file: of `std::string text =` above `#include "k.cl"`."""


@dataclass(frozen=True, slots=True)
class Macro:
    """One `#define`. `parameters` is `None` where it has no parentheses."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    row: int = 0


@dataclass(slots=True)
class Compiled:
    """What is left of a file for the compiler."""

    text: str
    macros: dict[str, Macro]
    includes: list[str] = field(default_factory=list)
    left_out: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Texts that are not compiled, each with the undefined names that would let it be compiled."""
    ended: list[tuple[Macro, int]] = field(default_factory=list)
    """Macros with parentheses that the file defines and takes back, each with the row where it does."""


def compile_lines(
    text: str,
    include: Callable[[str], Mapping[str, Macro]],
    defined: Mapping[str, str],
) -> Compiled:
    """Return the lines that are compiled. `include` returns the macros of a file included by name."""
    masked, opaque = _masked(text)
    result = Compiled("", {name: Macro(name, None, body) for name, body in {**PREDEFINED, **defined}.items()})
    branches = _Branches(result.macros, Expansions(_EXPANDED + _EXPANDED_A_CHARACTER * len(text)))
    out: list[str] = []
    last = ""
    undefined: dict[str, Macro] = {}
    for row, line, is_code in _logical_lines(masked, opaque):
        directive = None if is_code else _DIRECTIVE.match(line)
        if directive is None:
            active = branches.active
            out.append(line if active else "\n" * line.count("\n"))
            last = line if active and line.strip() else last
            if not active and line.strip():
                result.left_out.append((line, branches.missing))
            continue
        word, rest = directive[1], directive[2].replace("\\\n", " ").strip()
        is_text = word == "include" and branches.active and _wants_operand(last)
        name = _INCLUDE.match(rest) if is_text else None
        included = f'"{INCLUDED}{name[1] or name[2]}"' if name else ""
        last = included or last
        out.append(included + "\n" * line.count("\n"))
        if branches.take(word, rest) or not branches.active or name is not None:
            continue
        if word == "define":
            _define(result.macros, undefined, rest, row)
        elif word == "undef" and rest in result.macros:
            undefined[rest] = ended = result.macros.pop(rest)
            if ended.row and ended.body:
                result.ended.append((ended, row))
        elif word == "include" and (name := _INCLUDE.match(rest)):
            result.includes.append(name[1] or name[2])
            result.macros.update(include(name[1] or name[2]))
    result.text = "".join(out)
    return result


def _wants_operand(line: str) -> bool:
    """Tell whether an operand follows a line of code, as a file that holds a string of C may be one."""
    return line.rstrip().endswith(("=", "+", '"', "(", ","))


def _masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Blank comments; return also where strings stand, whose lines are no directives."""
    parts: list[str] = []
    opaque = []
    last = at = 0
    unclosed: set[str] = set()
    closings: RawClosings | None = None
    while (match := _TOKEN.search(text, at)) is not None:
        start, at = match.span()
        if match["line"] is not None or match["block"] is not None:
            if match["block"] is not None:
                at = text.find("*/", at) + 2 if "*/" not in unclosed else 1
                if at < 2:
                    unclosed.add("*/")
                    at = len(text)
            parts += [text[last:start], "\n".join(" " * len(it) for it in text[start:at].split("\n"))]
            last = at
        elif match["delimiter"] is not None:
            closings = closings or RawClosings(text)
            end = closings.after(at, match["delimiter"])
            if end is None:
                continue
            at = end + len(match["delimiter"]) + 2
        if "\n" in text[start:at] and match["line"] is None and match["block"] is None:
            opaque.append((start, at))
    parts.append(text[last:])
    return "".join(parts), opaque


def _logical_lines(text: str, opaque: list[tuple[int, int]]) -> Iterator[tuple[int, str, bool]]:
    """Yield (row, line with its continuations, whether it stands in a string)."""
    at, row, index = 0, 1, 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        while index < len(opaque) and opaque[index][1] <= at:
            index += 1
        inside = index < len(opaque) and opaque[index][0] < at
        if not inside and text.startswith("#", at + len(text[at:end]) - len(text[at:end].lstrip(" \t"))):
            while text.endswith("\\\n", at, end) and end < len(text):
                end = text.find("\n", end) + 1 or len(text)
        yield row, text[at:end], inside
        row += text.count("\n", at, end)
        at = end


def _define(macros: dict[str, Macro], undefined: Mapping[str, Macro], rest: str, row: int) -> None:
    match = _DEFINE.match(rest)
    if match is None:
        return
    parameters = None
    if match[2] is not None:
        parameters = tuple(it.strip() for it in match[3].split(",") if it.strip())
    body, before = match[4].strip(), undefined.get(match[1])
    if before is not None and before.body != body:
        body = ""  # It stands for one thing here and another there: for none that is known.
    macros[match[1]] = Macro(match[1], parameters, body, row)


@dataclass(frozen=True, slots=True)
class _Branch:
    """One `#if`: was a branch of it compiled, which names were missed, is what follows compiled."""

    done: bool
    missing: tuple[str, ...]
    is_active: bool


class Expansions:
    """How many characters macros may still put into the conditions of a text."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, characters: int) -> bool:
        """Tell whether a text of this length may still be looked at, and count it."""
        self.left -= characters
        return self.left >= 0


class _Branches:
    """The `#if`s around the current line."""

    def __init__(self, macros: Mapping[str, Macro], expansions: Expansions) -> None:
        self.macros = macros
        self.expansions = expansions
        self.stack: list[_Branch] = []

    @property
    def active(self) -> bool:
        return self.stack[-1].is_active if self.stack else True

    @property
    def missing(self) -> tuple[str, ...]:
        return self.stack[-1].missing if self.stack else ()

    def _push(self, holds: bool, done: bool, names: tuple[str, ...]) -> None:
        missing = self.missing if holds else (*self.missing, *names)[:_MAX_MISSING]
        self.stack.append(_Branch(done, missing, self.active and holds))

    def take(self, word: str, rest: str) -> bool:
        """Follow one directive; False if it is none of these."""
        if word in ("if", "ifdef", "ifndef"):
            holds, names = self._holds(word, rest)
            self._push(holds, holds, names)
        elif word in ("elif", "elifdef", "elifndef") and self.stack:
            done = self.stack.pop().done
            holds, names = self._holds(word.removeprefix("el"), rest)
            self._push(holds and not done, done or holds, names if not done else ())
        elif word == "else" and self.stack:
            done = self.stack.pop().done
            self._push(not done, True, ())
        elif word == "endif":
            if self.stack:
                self.stack.pop()
        else:
            return False
        return True

    def _holds(self, word: str, rest: str) -> tuple[bool, tuple[str, ...]]:
        name = _WORD.match(rest.strip())
        if word == "ifdef":
            return (name[0] in self.macros or _is_for_opencl(name[0]), (name[0],)) if name else (False, ())
        if word == "ifndef":
            return not (name and name[0] in self.macros), ()
        asked = tuple(it for it in _WORD.findall(rest) if it != "defined")
        if len(asked) == 1 and asked[0] not in self.macros and _is_for_opencl(asked[0]):
            return _ALONE.fullmatch(rest.strip()) is not None, ()
        return bool(condition(rest, self.macros, self.expansions)), tuple(
            it for it in asked if it not in self.macros
        )


_FOR_OPENCL = re.compile(
    r"(?!_)(?:[A-Z0-9]+_)?(?:OPENCL|OCL)(?:_(?:ENABLED?|SUPPORT|BACKEND|EXAMPLES?|TESTS?|API|DEVICE))?"
)
_ALONE = re.compile(r"(?:defined\s*+\(?\s*+)?\w++\s*+\)?")


def _is_for_opencl(name: str) -> bool:
    """Tell whether a macro says that a program is built for OpenCL: what launches by it is."""
    return _FOR_OPENCL.fullmatch(name) is not None and not name.startswith(("NO_", "DISABLE_", "WITHOUT_"))


def condition(text: str, macros: Mapping[str, Macro], expansions: Expansions) -> int:
    """Return the value of a condition of `#if`; names that are not defined are 0, as in C."""
    text = re.sub(
        r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
        lambda it: "1" if (it[1] or it[2]) in macros else "0",
        text,
    )
    expanded = expand(text, macros, expansions)
    if len(expanded) > _MAX_CONDITION or expansions.left < 0:
        return 0
    expanded = re.sub(r"(?<=[0-9a-fA-F])[uUlL]+\b", "", expanded)
    expanded = _WORD.sub(lambda it: it[0] if it[0] in ("and", "or", "not") else "0", expanded)
    expanded = expanded.replace("&&", " and ").replace("||", " or ")
    expanded = re.sub(r"!(?!=)", " not ", expanded).strip()
    try:
        return int(_evaluated(ast.parse(expanded, mode="eval").body))
    except (SyntaxError, ValueError, ArithmeticError, TypeError, RecursionError, MemoryError):
        return 0


def expand(text: str, macros: Mapping[str, Macro], expansions: Expansions) -> str:
    """Return a text with the macros that have no parentheses put in, a bounded number of times."""
    for _ in range(_MAX_EXPANSION):
        changed = _WORD.sub(
            lambda it: (
                f"({macro.body or 0})"
                if (macro := macros.get(it[0])) is not None and macro.parameters is None
                else it[0]
            ),
            text,
        )
        if changed == text or len(changed) > _MAX_CONDITION or not expansions.take(len(changed)):
            break
        text = changed
    return text


_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def _evaluated(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=bool() | int() as value):
            return int(value)
        case ast.BoolOp(op=ast.And(), values=values):
            return int(all(_evaluated(it) for it in values))
        case ast.BoolOp(values=values):
            return int(any(_evaluated(it) for it in values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return int(not _evaluated(operand))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand)
        case ast.UnaryOp(operand=operand):
            return _evaluated(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _computed(op, _evaluated(left), _evaluated(right))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return int(_COMPARISONS[type(op)](_evaluated(left), _evaluated(right)))
        case _:
            raise ValueError(node)


def _computed(op: ast.operator, left: int, right: int) -> int:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() | ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.BitAnd():
            return left & right
        case ast.BitOr():
            return left | right
        case ast.LShift() if 0 <= right < 64:
            return left << right
        case ast.RShift() if right >= 0:
            return left >> right
        case _:
            raise ValueError(op)


def with_semicolons(text: str, macros: Mapping[str, Macro]) -> str:
    """Put a semicolon behind macros that stand alone as statements without one.

    A grammar that knows no macros would lose the statement behind.
    """

    def mended(match: re.Match[str]) -> str:
        known = match["name"] in macros or match["name"].isupper()
        return f"{match[0].rstrip()};" if known else match[0]

    return _LONE_MACRO.sub(mended, text)


def with_plain_arguments(text: str, macros: Mapping[str, Macro]) -> str:
    """Write out uses of macros whose argument is no expression, in as many lines as before.

    What a macro turns into a string becomes one, such as a kernel that stands in a file as it is. A
    declaration that a checking macro is given (`CHECK(e, cl::Kernel k(p, "name", &e));`) stands by itself,
    and so does the call of a function that one is given with its arguments (`CHECK(clFinish, (queue));`).
    The macro between `class` and the name, which exports it, is left out.
    """
    text = _EXPORTED.sub(lambda it: f"{it[1]}{' ' * len(it[2])}", text)
    parts, at = [], 0
    brackets: dict[int, _Brackets] | None = None
    applying: dict[str, bool] = {}
    for match in _MACRO_USE.finditer(text):
        macro = macros.get(match[1])
        quotes = match[1] in _QUOTING if macro is None else bool(_QUOTES.fullmatch(macro.body))
        if match[1] not in applying:
            applying[match[1]] = macro is not None and _applies(macro)
        applies = applying[match[1]]
        if match.start() < at or not (quotes or applies or (match[1].isupper() and len(match[1]) > 2)):
            continue
        brackets = _brackets(text) if brackets is None else brackets
        found = brackets.get(match.end() - 1)
        if found is not None and applies:
            if text[found.last_comma + 1 : found.end].lstrip().startswith("("):
                name = text[match.end() : found.last_comma]
                parts += [text[at : match.start()], name, text[found.last_comma + 1 : found.end]]
                at = found.end + 1
            continue
        if found is None or (found.ends_statement and not quotes):
            continue
        end, last = found.end, found.last_comma + 1 or match.end()
        if quotes:
            parts += [text[at : match.start()], f'R"clmap({text[match.end() : end]})clmap"']
        elif _DECLARATION.match(text, last, end):
            blank = re.sub(r"[^\n]", " ", text[match.start() : last])
            parts += [text[at : match.start()], blank, text[last:end]]
        else:
            continue
        at = end + 1
    return "".join([*parts, text[at:]])


def _applies(macro: Macro) -> bool:
    """Tell whether a macro calls its first parameter with the second one: `status = NAME ARGLIST;`."""
    match macro.parameters:
        case (name, given) if name.isidentifier() and given.isidentifier():
            return re.search(rf"\b{name}\s+{given}\b", macro.body) is not None
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Brackets:
    """A pair of brackets: where it ends, its last comma or -1, and whether a statement ends in it."""

    end: int
    last_comma: int
    ends_statement: bool


def _brackets(text: str) -> dict[int, _Brackets]:
    """Return the pairs of brackets by where they open, but those that hold more than a macro is given."""
    found: dict[int, _Brackets] = {}
    opened: list[tuple[int, int]] = []
    semicolon = -1
    for match in _BRACKET.finditer(text):
        at, kind = match.start(), match[0]
        if kind in "([{":
            opened.append((at, -1))
        elif kind == "," and opened:
            opened[-1] = (opened[-1][0], at)
        elif kind == ";":
            semicolon = at
        elif kind in ")]}" and opened:
            start, comma = opened.pop()
            if at - start <= _MAX_ARGUMENTS:
                found[start] = _Brackets(at, comma, semicolon > start)
    return found


_EXPORTED = re.compile(
    r"\b((?:class|struct)[ \t]+)([A-Z][A-Z0-9_]+\b)"
    r"(?=[ \t]+(?!final\b)[A-Za-z_]\w*[ \t\n]*(?:final[ \t\n]*)?[:{])"
)
"""`class API_EXPORT Name {`, in which a grammar without macros finds no class."""
_MAX_ARGUMENTS = 1 << 14
"""Characters of the arguments of a macro that are looked at."""
_BRACKET = re.compile(r"\"(?:[^\"\\\n]|\\.)*+(?:\"|(?=\n)|\\?\Z)|'(?:[^'\\\n]|\\.){1,8}'|[()\[\]{},;]")
_MACRO_USE = re.compile(r"\b([A-Z_][A-Za-z0-9_]*)[ \t]*\(")
_QUOTES = re.compile(r'\s*(?:(?:std::)?string\s*\(\s*)?(?:"[^"\n]*"\s*)?#\s*\w+\s*(?:"[^"\n]*"\s*)?\)?\s*')
"""A body that is the argument as a string: `#x`, `"\\n" #x "\\n"`, `std::string(#x)`."""
_QUOTING = frozenset(("BOOST_COMPUTE_STRINGIZE_SOURCE", "VEX_STRINGIZE_SOURCE", "VIENNACL_STRINGIZE_SOURCE"))
"""Macros of libraries that turn what they are given into a string."""
_DECLARATION = re.compile(
    r"\s*(?:const\s+|static\s+)?(?:auto|[A-Za-z_]\w*(?:::\w+)*(?:<[^;{}()]{0,200}>)?)\s*(?<=[\s>])[*&]*[A-Za-z_]\w*\s*[({=](?!=)"
)
_LONE_MACRO = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*\((?:[^()\n;{}]|\([^()\n;{}]*\))*\)[ \t]*(?=\n\s*[A-Za-z_}/#])",
    re.MULTILINE,
)
