"""Gives every undefined name a role and, where that lets analysis go on, a value.

Names of missing macros are hardly ever shared between projects, so the role comes from where the name stands,
and the value from the role and from what the name itself says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from itertools import compress, count

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.counted import is_counted_with
from clmap_lsp.source.ir import Guess, Problem, Severity
from clmap_lsp.source.lexer import NEW_LINE, Token
from clmap_lsp.source.normalise import REMOVED, span_of_token
from clmap_lsp.source.scan import Role, Scan
from clmap_lsp.source.vocabulary import (
    ATTRIBUTE_WORDS,
    KEYWORDS,
    NAMED_TYPES,
    is_predefined,
)

_LANES = lazy_pattern(r"(?:[^\Wx\d])(16|2|3|4|8)(?:_t)?\Z")
_ELEMENTS = ("double", "half", "uchar", "ushort", "ulong", "uint", "char", "short", "long", "int", "float")
_SMALL = lazy_pattern(r"VEC|VW|WPT|WIDTH|UNROLL|PER_|_PER|LANES|RADIUS|CHANNEL|DEPTH|FACTOR", re.IGNORECASE)
_COUNTING_TYPE = lazy_pattern(
    r"(?:^|_)(?P<what>SIZE|COUNT|LENGTH|LEN|MASK|INDEX|IDX|OFFSET|ORDINAL|ID|POS)S?(?:_?T(?:YPE)?)?$",
    re.IGNORECASE,
)
_UNSIGNED = frozenset(("size", "count", "length", "len", "mask"))
_PADDING = lazy_pattern(r"(?:^|_)PAD(?:DING)?$", re.IGNORECASE)
_WHOLE_GROUP = lazy_pattern(r"(?:THREADS|ITEMS)_PER_(?:WORK_?)?(?:GROUP|BLOCK|WG)", re.IGNORECASE)
_SIMD = lazy_pattern(r"WAVE|WARP|SIMD|SUB_?GROUP", re.IGNORECASE)
_WORK_GROUP = lazy_pattern(
    r"(?:^|_)(?:WGS?|WORK_?GROUP|LOCAL|GROUP|THREADS|BLOCK)(?:_?(?:SIZE|DIM|ITEMS|WIDTH))?(?:_?X)?$",
    re.IGNORECASE,
)
_GROUP = lazy_pattern(r"WGS|WG|LOCAL|GROUP|BLOCK|TILE|THREADS|SIZE|DIM", re.IGNORECASE)
_BEFORE_OPERANDS = frozenset(
    {
        *("(", "[", "{", "}", ",", ";", "=", "?", ":", "return", "!", "~", "&&", "||", "case", "else"),
        *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!="),
        *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="),
    }
)
_BEFORE_NO_VALUE = frozenset((".", "->", "goto", "struct", "union", "enum"))
_COUNTS = frozenset(("[", "]", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "<<", ">>"))

MAX_RUN = 16
"""Names in a row that are looked along; without a bound, a file of names takes quadratic time."""


@dataclass(slots=True)
class Undefined:
    """The undefined names of a file."""

    types: frozenset[str] = frozenset()
    guesses: list[Guess] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    edits: dict[int, list[str | None]] = field(default_factory=dict)


def judge(
    tokens: list[Token], texts: list[str], found: Scan, types: frozenset[str], known: Iterable[Guess] = ()
) -> Undefined:
    """Return what the undefined names of a file are taken for; `texts` are those of the tokens.

    What is `known` of names holds, whatever their uses here say: those in the rest of the file said it.
    """
    out = Undefined(edits=dict(found.edits))
    for index in found.unclosed:
        message = "`}` is missing before this kernel"
        out.problems.append(Problem("syntax-error", Severity.ERROR, message, span_of_token(tokens[index])))
    roles = {
        name: value
        for name, value in found.roles.items()
        if name not in found.declared or value[0] is not Role.TYPE
    }
    candidates = _candidates(texts, found, types, roles)
    places: dict[str, list[int]] = {name: [] for name in (*candidates, *roles)}
    for index in compress(count(), map(places.__contains__, texts)):
        places[texts[index]].append(index)
    settled = {it.name: it for it in known}
    for name, (role, index, _) in roles.items():
        if role is Role.TYPE and name.startswith("cl_") and name[3:] in NAMED_TYPES:
            roles[name] = (Role.TYPE, index, name[3:])  # The host's name, in a header for both.
    cast_to = {*types, *(name for name, it in roles.items() if it[0] is Role.TYPE)}
    for name in candidates:
        if name in settled and "type" in settled[name].role:
            roles[name] = (Role.TYPE, places[name][0], "")
            cast_to.add(name)
            continue
        if name.startswith("cl_") and name[3:] in NAMED_TYPES:
            roles[name] = (Role.TYPE, places[name][0], name[3:])
            cast_to.add(name)
            continue
        judged = _from_places(texts, places[name], out.edits, cast_to)
        if judged is not None:
            roles[name] = (judged[0], judged[1], "")
            if judged[0] is Role.TYPE:
                cast_to.add(name)
    unknown_types: set[str] = set()
    is_flat = any(role is Role.CONSTANT for role, *_ in roles.values()) and _is_flat(texts)
    for name, (role, index, value) in sorted(roles.items(), key=lambda it: it[1][1]):
        if role is Role.TYPE:
            role = _sharpened(name, texts, places[name])  # noqa: PLW2901
            unknown_types.add(name)
        place = span_of_token(tokens[index])
        if name in settled:
            guess = replace(settled[name], span=place)
        else:
            guess = Guess(name, role.value, value or _value(name, role, texts, places[name], is_flat), place)
        out.guesses.append(guess)
        out.problems.append(_problem(guess))
    out.types = frozenset(unknown_types)
    return out


def without_placeholders(tokens: list[Token]) -> list[Token]:
    """Take template placeholders (`@name`) that stand on lines of their own out; make names of the others."""
    out: list[Token] = []
    for index, token in enumerate(tokens):
        if token.text[0] != "@" or len(token.text) == 1:
            out.append(token)
            continue
        ends_line = index + 1 == len(tokens) or tokens[index + 1].gap == NEW_LINE
        text = token.text[1:]
        out.append(token._replace(text=REMOVED + text if token.gap == NEW_LINE and ends_line else text))
    return out


def apply(tokens: list[Token], edits: dict[int, list[str | None]]) -> list[Token]:
    """Return the tokens with the edits made; a dropped word stays as one that normalisation takes out."""
    if not edits:
        return tokens
    out: list[Token] = []
    done = 0
    for index in sorted(edits):
        out += tokens[done:index]
        token = tokens[index]
        replacement = edits[index]
        if not replacement and token.text.isidentifier():
            out.append(token._replace(text=REMOVED + token.text))
        for text in replacement:
            out.append(token if text is None else token._replace(text=text))
        done = index + 1
    out += tokens[done:]
    return out


def _candidates(
    texts: list[str], found: Scan, types: frozenset[str], roles: dict[str, tuple[Role, int, str]]
) -> list[str]:
    return [
        word
        for word in dict.fromkeys(texts)
        if word.isidentifier()
        and word not in found.declared
        and word not in KEYWORDS
        and word not in NAMED_TYPES
        and word not in types
        and word not in roles
        and word not in ("__attribute__", "_Pragma")
        and not is_predefined(word)
    ]


def _from_places(
    texts: list[str], places: Iterable[int], edits: dict[int, list[str | None]], cast_to: AbstractSet[str]
) -> tuple[Role, int] | None:
    """Judge a name by the tokens around it; `None` for members, labels, tags and calls.

    Args:
        cast_to: names of types beside those of OpenCL C.
    """
    constant: int | None = None
    judged: tuple[Role, int] | None = None
    for index in places:
        before = texts[index - 1] if index else ""
        after = texts[index + 1] if index + 1 < len(texts) else ""
        if after == "(" or before in _BEFORE_NO_VALUE or edits.get(index) == []:
            continue
        if after == ":" and before in ("{", "}", ";", ""):
            continue
        if before == "[" and after == "]" and "".join(texts[index + 2 : index + 3])[:1] == '"':
            continue  # `asm("..." : [name] "=r"(x))`
        if before in ("(", ",") and _in_attribute(texts, index):
            continue
        if before == ")" and _in_attribute(texts, index - 1) and after in ("{", ";", "*"):
            continue  # `struct __attribute__((packed)) S {`
        if before == "(" and after == ")" and _opens_cast(texts, index):
            return Role.TYPE, index
        if after == "*" and _points(texts, index + 1):
            return Role.TYPE, index
        if before == "(" and _is_operand_start(after) and _is_qualified_cast(texts, index):
            edits[index] = []
            judged = judged or (Role.QUALIFIER, index)
            continue
        dropped = edits.get(index - 1) == [] and bool(before) and before.isidentifier()
        ends = (_is_operand_end(before) and before not in KEYWORDS) or dropped
        if ends and _ends_argument(texts, index + 1) and not _closes_cast(texts, index - 1, cast_to):
            # `f(a, b MACRO)`: arguments with their comma.
            edits[index] = []
            judged = judged or (Role.PARAMETERS, index)
            continue
        if ends and _is_operand_start(after):
            edits[index] = ["+"]
            judged = judged or (Role.OPERATOR, index)
            continue
        constant = index if constant is None else constant
    return judged if constant is None else (Role.CONSTANT, constant)


def _in_attribute(texts: list[str], index: int) -> bool:
    """Tell whether a word stands inside `__attribute__((...))`."""
    depth = 0
    # Attributes are short; without a bound, a file of open parentheses takes quadratic time.
    for at in range(index - 1, max(index - 200, 0), -1):
        text = texts[at]
        if text == ")":
            depth += 1
        elif text == "(":
            if depth == 0 and texts[at - 1] in ATTRIBUTE_WORDS:
                return True
            depth = max(depth - 1, 0)
        elif text in (";", "{", "}"):
            return False
    return False


def _ends_argument(texts: list[str], at: int) -> bool:
    """Tell whether an argument ends at `at`, further names of the same kind apart."""
    last = min(len(texts), at + MAX_RUN)
    while at < last and texts[at].isidentifier() and texts[at].isupper():
        at += 1
    return at < len(texts) and texts[at] in (",", ")")


def _is_operand_end(text: str) -> bool:
    return text in (")", "]") or (bool(text) and (text.isidentifier() or text[0].isdecimal()))


def _is_operand_start(text: str) -> bool:
    return bool(text) and (text.isidentifier() or text[0].isdecimal())


def _opens_cast(texts: list[str], index: int) -> bool:
    """Tell whether `( NAME )` is a cast, seen from the tokens around it."""
    before = texts[index - 2] if index > 1 else ""
    if before not in _BEFORE_OPERANDS and before != ")":
        return before == "sizeof" and texts[index].lower().endswith(("type", "_t"))
    after = texts[index + 2] if index + 2 < len(texts) else ""
    return bool(after) and (after == "(" or after in "!~{" or _is_operand_start(after))


def _points(texts: list[str], at: int) -> bool:
    """Tell whether `* )` stands at `at`, as in `(NAME *) x`: nothing is multiplied with a parenthesis."""
    last = min(len(texts), at + MAX_RUN)
    while at < last and texts[at] == "*":
        at += 1
    return at < len(texts) and texts[at] == ")"


def _is_qualified_cast(texts: list[str], index: int) -> bool:
    """Tell whether `( NAME T * )` or `( NAME T )` stands at `index - 1`: a cast with an unknown qualifier."""
    at = index + 1
    last = min(len(texts), at + MAX_RUN)
    while at < last and texts[at].isidentifier():
        at += 1
    words = at - index - 1
    stars = 0
    while at < last and texts[at] == "*":
        at += 1
        stars += 1
    return (
        words <= 3 and at < len(texts) and texts[at] == ")" and (stars > 0 or texts[index + 1] in NAMED_TYPES)
    )


def _closes_cast(texts: list[str], at: int, cast_to: AbstractSet[str]) -> bool:
    """Tell whether a token is the `)` of `(float)` or `(__global int *)`, behind which an operand stands."""
    if texts[at] != ")":
        return False
    start = at - 1
    while start > 0 and at - start <= MAX_RUN and (texts[start] == "*" or texts[start].isidentifier()):
        start -= 1
    inside = texts[start + 1 : at]
    if texts[start] != "(" or not inside:
        return False
    if NAMED_TYPES.isdisjoint(inside) and cast_to.isdisjoint(inside):
        return False
    before = texts[start - 1] if start else ""
    return not (before.isidentifier() and before != "return")


def _sharpened(name: str, texts: list[str], places: Iterable[int]) -> Role:
    if _LANES.search(name):
        return Role.VECTOR_TYPE
    for index in places:
        if texts[index - 1 : index + 3] == ["(", name, ")", "("] and _commas(texts, index + 2):
            return Role.VECTOR_TYPE
    return Role.TYPE


def _commas(texts: list[str], at: int) -> int:
    """Count the commas directly inside the parentheses that open at `at`."""
    depth = commas = 0
    for index in range(at, min(len(texts), at + 400)):
        text = texts[index]
        depth += (text in "([{") - (text in ")]}") if len(text) == 1 else 0
        if depth == 0:
            return commas
        commas += text == "," and depth == 1
    return 0


def _value(name: str, role: Role, texts: list[str], places: list[int], is_flat: bool) -> str | None:
    match role:
        case Role.TYPE:
            if not _may_be_scalar(name, texts, places):
                return None
            return _integer(name) if is_counted_with(texts, places) else _element(name)
        case Role.VECTOR_TYPE:
            match = _LANES.search(name)
            lanes = match.group(1) if match else _literal_lanes(name, texts, places)
            return f"{_element(name)}{lanes}"
        case Role.CONSTANT:
            return _constant(name, texts, places, is_flat)
        case _:
            return None


def _may_be_scalar(name: str, texts: list[str], places: Iterable[int]) -> bool:
    """Tell whether a type may be an element type: its name says so, or it is no usual name of a struct."""
    if any(it in name.lower() for it in (*_ELEMENTS, "real", "data", "scalar", "elem", "value", "num")):
        return True
    if _COUNTING_TYPE.search(name):
        return True
    if any(texts[index - 1] == "struct" for index in places if index):
        return False
    return (name.isupper() or len(name) <= 4) and "PARAM" not in name


def _literal_lanes(name: str, texts: list[str], places: Iterable[int]) -> str:
    for index in places:
        if texts[index - 1 : index + 3] == ["(", name, ")", "("]:
            lanes = _commas(texts, index + 2) + 1
            if lanes in (2, 3, 4, 8, 16):
                return str(lanes)
    return "4"


def _integer(name: str) -> str:
    named = _element(name)
    return named if named not in ("float", "double", "half") else "uint" if name[0] in "uU" else "int"


def _element(name: str) -> str:
    lowered = name.lower()
    if "pixel" in lowered:
        return "uchar"
    counting = _COUNTING_TYPE.search(name)
    if counting is not None and not any(it in lowered for it in _ELEMENTS if it != "int"):
        return "uint" if counting["what"].lower() in _UNSIGNED else "int"
    return next((it for it in _ELEMENTS if it in lowered and "_int" not in lowered), "float")


def _is_last_stride(name: str, texts: list[str], at: int) -> bool:
    """Tell B in `a[i*A + j*B]`: where both strides are alike, elements meet that an author keeps apart."""
    if texts[at - 1 : at + 2] != ["*", name, "]"]:
        return False
    for index in range(at - 2, max(at - _LONGEST_INDEX, 0), -1):
        if texts[index] in ("[", "]", ";"):
            return False
        other = texts[index - 1]
        if texts[index] == "+" and texts[index - 2] == "*" and other.isidentifier() and other != name:
            return True
    return False


_LONGEST_INDEX = 24


def _constant(name: str, texts: list[str], places: Sequence[int], is_flat: bool) -> str:
    """What is counted with gets a power of two that divides the usual sizes; a flag gets 1."""
    if _PADDING.search(name):
        return "1"
    if _WHOLE_GROUP.search(name):
        return "256"
    if _SIMD.search(name):
        return "32"
    if _SMALL.search(name):
        return "4"
    if _WORK_GROUP.search(name) and is_flat and not _is_squared(name, texts, places):
        return "64"
    if _GROUP.search(name):
        return "16"
    if any(_is_last_stride(name, texts, it) for it in places):
        return "1"
    for index in places:
        before, after = texts[index - 1], texts[index + 1] if index + 1 < len(texts) else ""
        if before in _COUNTS or after in _COUNTS:
            return "16"
    return "1"


def _is_flat(texts: list[str]) -> bool:
    """Tell whether all ids of a file are of one dimension: its groups are no tiles."""
    places = (
        at for at, text in enumerate(texts) if text in ("get_local_id", "get_global_id", "get_group_id")
    )
    asked = ["".join(texts[at + 1 : at + 4]) for at in places]
    return bool(asked) and all(it == "(0)" for it in asked)


def _is_squared(name: str, texts: list[str], places: Iterable[int]) -> bool:
    """Tell whether something has as many rows as columns of a name: `[B * B]`, `[B][B]`."""
    return any(name in texts[at + 2 : at + 4] and texts[at + 1] in ("*", "]") for at in places)


def value_of_constant(name: str) -> str:
    """Return what an undefined name is taken for that a condition counts with."""
    return _constant(name, ["", name, "/"], [1], is_flat=False)


def _problem(guess: Guess) -> Problem:
    taken = (
        f"taken for a {guess.role}" if guess.value is None else f"taken for the {guess.role} `{guess.value}`"
    )
    cure = f"set -D {guess.name}=VALUE in clmap.toml, or add the file that defines it"
    return Problem(
        "undefined-name",
        Severity.WARNING,
        f"`{guess.name}` is not defined; {taken}. To be exact, {cure}.",
        guess.span,
    )
