"""What can be typed at a place: names in sight, members, built-ins, words; the likeliest first.

What was used last before in the same function comes first, then what is declared and was not used yet, then
what the file uses elsewhere, then the rest; what has the wanted type before what has not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path
from weakref import WeakKeyDictionary

from clmap_lsp.dataclass import dataclass, record
from clmap_lsp.index import builtins
from clmap_lsp.index.candidates import (
    ATTRIBUTES,
    DIRECTIVES,
    SNIPPETS,
    Candidate,
    Sort,
    pragmas,
    predefined,
    words,
)
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import QUALIFIER_WORDS
from clmap_lsp.index.index import Index, PlacedUnit
from clmap_lsp.index.model import CALLABLE, Kind, MemberAccess, Role, Symbol
from clmap_lsp.index.place import can_begin, is_code
from clmap_lsp.index.sight import locals_at
from clmap_lsp.index.types import (
    TYPE_NAMES,
    Base,
    Enumeration,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    is_arithmetic,
    is_integer,
    spelled,
)
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.source.lexer import words as texts_of
from clmap_lsp.source.predefined import version_of
from clmap_lsp.source.types import VectorType
from clmap_lsp.source.vocabulary import KERNEL_WORDS

LONGEST_USE = 2_000
"""Characters of a macro's use that is not closed yet."""
LIMIT = 120
"""Candidates that are given at once; the editor asks again when more letters are typed."""


@record(frozen=True, slots=True)
class Completion:
    """The candidates, the likeliest first, for the text `[start, end)`; `is_cut` where there are more."""

    start: int
    end: int
    candidates: tuple[Candidate, ...]
    is_cut: bool = False
    arrow_for: int | None = None
    """Where a `.` stands that has to be `->` for the candidates: what stands before it is a pointer."""
    word_end: int | None = None
    """Where the word ends that the place is in the middle of; editors keep its rest or replace it."""


_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)\Z")
_OTHER_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?:include|error|line)\b[^\n]*\Z")
_CONDITION = re.compile(r"[ \t]*#[ \t]*(?:if|elif|ifdef|ifndef|undef)\b[^\n]*\Z")
_PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma\b([^\n]*)\Z")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(\s*((?:[\w()\s,]*,\s*)?)\w*\Z")
_TAG = re.compile(r"\b(struct|union|enum)\s+\Z")
_GOTO = re.compile(r"\bgoto\s+\Z")
_MEMBER = re.compile(r"(?:\.|->)\s*\Z")


def prefix_start(text: str, offset: int) -> int:
    """Return where the name that is being typed starts."""
    start = offset
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_$"):
        start -= 1
    return offset if start < offset and text[start].isdecimal() else start


def word_end(text: str, offset: int) -> int:
    """Return where the name ends that an offset lies in, or before; the offset where there is none."""
    end = offset
    if prefix_start(text, offset) == offset and text[offset : offset + 1].isdecimal():
        return offset
    while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
        end += 1
    return end


def complete(index: Index, offset: int) -> Completion:
    """Return what can be typed at an offset of the file."""
    behind = word_end(index.text, offset)
    index = _closed(index, offset)
    text = index.text
    start = prefix_start(text, offset)
    prefix = text[start:offset]
    line = text[text.rfind("\n", 0, offset) + 1 : start]
    if not is_code(text, offset):
        return Completion(start, offset, ())
    found = _by_context(index, line, text, start)
    if found is None:
        found = _names(index, start, prefix)
    chosen = matching(found, prefix)
    is_cut = len(chosen) > LIMIT or not prefix
    arrow_for = _dot_of_pointer(index, text, start)
    return Completion(start, offset, tuple(chosen[:LIMIT]), is_cut, arrow_for, behind)


def _closed(index: Index, offset: int) -> Index:
    """Return the index of the text with the use of a macro closed that an offset stands in the arguments of.

    Open, it makes nothing; only what it makes says which names can be meant in its arguments.
    """
    opened = [
        it.span
        for it in index.problems
        if it.code == "unclosed-macro" and it.span.path == index.path and it.span.end <= offset
    ]
    if not opened or offset - opened[-1].start > LONGEST_USE:
        return index
    start = opened[-1].start
    depth = 0
    for text in texts_of(index.text[start:offset]):
        depth += (text == "(") - (text == ")")
    if depth < 1:
        return index
    line_end = index.text.find("\n", offset)
    rest = "" if line_end < 0 else index.text[line_end:]
    from clmap_lsp.index.reading import read_index  # With the parser: the server's first answer does without.

    closed = index.text[:offset] + ")" * depth + rest  # What the line goes on with would be arguments too.
    files = index.files
    return read_index(
        closed,
        index.path,
        index.options,
        read_file=lambda name: files[name].text if name in files else None,
        previous=index,
    )


def _by_context(index: Index, line: str, text: str, start: int) -> list[Candidate] | None:
    """Return the candidates where the text before says what may stand here; else `None`."""
    if (match := _PRAGMA.match(line)) is not None:
        return pragmas(match[1])
    if _OTHER_DIRECTIVE.match(line):
        return []
    if _DIRECTIVE.match(line):
        return [Candidate(it, Sort.KEYWORD) for it in DIRECTIVES]
    if _CONDITION.match(line):
        own = _macros(index, start)
        return [
            Candidate("defined", Sort.KEYWORD, snippet="defined($1)"),
            *own,
            *predefined(index.options.language),
        ]
    attribute = _ATTRIBUTE.search(text[max(0, start - 200) : start])
    if attribute is not None and attribute[1].count("(") == attribute[1].count(")"):
        return list(ATTRIBUTES)
    if (match := _MEMBER.search(text[max(0, start - 40) : start])) is not None:
        return _members(index, start - len(match[0]))
    if (match := _TAG.search(text[max(0, start - 40) : start])) is not None:
        return _tags(index, start, match[1])
    if _GOTO.search(text[max(0, start - 40) : start]):
        return _labels(index, start)
    return None


def _labels(index: Index, start: int) -> list[Candidate]:
    """Return the labels of the function."""
    token = index.token_at(start - 1)
    placed = None if token is None else index.unit_at(token)
    symbols = [] if placed is None else placed.unit.symbols
    return [Candidate(it.name, Sort.KEY, "label", symbol=it) for it in symbols if it.kind is Kind.LABEL]


def _tags(index: Index, start: int, keyword: str) -> list[Candidate]:
    """Return the structures, unions or enumerations in sight, those of the function first."""
    token = index.token_at(start - 1)
    placed = None if token is None else index.unit_at(token)
    found: list[Symbol] = []
    scopes = [] if placed is None or token is None else placed.unit.scopes
    while placed is not None and token is not None and scopes:
        inner = next((it for it in scopes if it.start < token - placed.start <= it.end), None)
        found = [*(inner.tags if inner is not None else ()), *found]
        scopes = [] if inner is None else inner.inner
    found += index.scope.tags.values()
    here = index.occurrence_at(start)
    typed = here.symbol if here is not None and here.start == start and here.role & Role.DECLARES else None
    kinds = {"struct": Kind.STRUCT, "union": Kind.UNION, "enum": Kind.ENUM}
    known = [it for it in found if it.kind is kinds[keyword] and it is not typed]
    return [Candidate(it.name, Sort.TYPE, keyword, symbol=it) for it in known]


# ----------------------------------------------------------------------------------------------- members


def _members(index: Index, dot: int) -> list[Candidate]:
    """Return the members of what stands before the `.` or `->` at an offset."""
    access = _access_at(index, dot)
    if access is None:
        return []
    base = base_of(access.type)
    if isinstance(base, Pointer):
        base = base_of(base.pointee)
    if isinstance(base, Record) and base.members is not None:
        return list(_record_members(base.members))
    if isinstance(base, VectorType):
        return [Candidate(name, Sort.MEMBER, detail) for name, detail in _swizzles(base)]
    return []


def _access_at(index: Index, dot: int) -> MemberAccess | None:
    token = index.token_at(dot)
    placed = None if token is None else index.unit_at(token)
    if placed is None or token is None:
        return None
    return next((it for it in placed.unit.members if it.token == token - placed.start), None)


def _dot_of_pointer(index: Index, text: str, start: int) -> int | None:
    """Return where the `.` stands before a place, if what stands before that is a pointer."""
    match = _MEMBER.search(text[max(0, start - 40) : start])
    if match is None or match[0].startswith("->"):
        return None
    dot = start - len(match[0])
    access = _access_at(index, dot)
    return dot if access is not None and isinstance(base_of(access.type), Pointer) else None


def _record_members(members: list[Symbol]) -> Iterator[Candidate]:
    for it in members:
        if it.name:
            yield Candidate(
                it.name, Sort.MEMBER, spelled(it.type) if it.type else "", symbol=it, type=it.type
            )
        elif it.type is not None and isinstance(base := base_of(it.type), Record) and base.members:
            yield from _record_members(base.members)


def _swizzles(base: VectorType) -> list[tuple[str, str]]:
    """Return the usual selections of a vector's lanes, with their types."""
    element, lanes = base.element.name, base.lanes
    letters = "xyzw"[:lanes] if lanes <= 4 else ""
    found = [(it, element) for it in letters]
    for width in range(2, len(letters) + 1):
        found.append((letters[:width], f"{element}{width}"))
    if len(letters) == 4:
        found += [("zw", f"{element}2"), ("yzw", f"{element}3")]
    half = (lanes + 1) // 2
    part = element if half == 1 else f"{element}{half}"
    found += [(it, part) for it in ("lo", "hi", "even", "odd")]
    found += [(f"s{at:x}", element) for at in range(lanes)]
    return found


# ------------------------------------------------------------------------------------------------- names


def _names(index: Index, start: int, prefix: str) -> list[Candidate]:
    token = index.token_at(start - 1) if start else None
    placed = None if token is None else index.unit_at(token)
    at = -1 if placed is None or token is None else token - placed.start + 1
    local = [] if placed is None else list(locals_at(index, placed, at))
    candidates: dict[str, Candidate] = {}
    for symbol in local:
        candidates[symbol.name] = _of_symbol(symbol)
    for name, symbol in index.scope.ordinary.items():  # Those that only follow are offered too.
        candidates.setdefault(name, _of_symbol(symbol))
    for it in _macros(index, start):
        candidates.setdefault(it.label, it)
    for it in words(prefix, version_of(index.read_as.language)):
        candidates.setdefault(it.label, it)
    candidates.pop(_only_here(index, start), None)
    before = None if token is None else index.texts[token]
    in_function = placed is not None and any(it.start <= at < it.end for it in placed.unit.scopes)
    order = _Order(
        prefix=prefix,
        recent=_recent(index, start, placed, token),
        elsewhere=frozenset(index.texts),
        local=frozenset(it.name for it in local),
        unfinished=None if placed is None else _unfinished(index, placed, local, at),
        wanted=None if placed is None else _wanted(index, placed, at),
        at_statement=token is None or _ends_statement(index.texts, token),
        in_function=in_function,
        after_type=before in _BEFORE_TYPES,
        is_case=before == "case",
        expected=_expected_words(index, placed, token, in_function=in_function),
    )
    # What does not fit the letters typed so far is most of it, and need not be put in order.
    found = [
        it
        for it in matching(candidates.values(), prefix)
        if it.sort is not Sort.KEYWORD or can_begin(it.label, before, in_function=in_function)
    ]
    return sorted(found, key=order.rank)


@dataclass(slots=True)
class _Order:
    """What puts names in order at a place."""

    prefix: str
    recent: dict[str, float]
    elsewhere: frozenset[str]
    local: frozenset[str]
    unfinished: str | None
    wanted: Qualified | None
    at_statement: bool
    in_function: bool
    after_type: bool
    is_case: bool
    expected: dict[str, int]
    """Words that are wanted before all others."""
    is_family: bool = field(init=False)

    def __post_init__(self) -> None:
        typed = self.prefix
        self.is_family = any(
            typed.startswith(it) or (it.startswith(typed[:4]) and len(typed) > 3) for it in _FAMILIES
        )

    def rank(self, it: Candidate) -> tuple[float, float, int, tuple[str | int, ...]]:
        """Return what sorts candidates, the likeliest first."""
        if it.label in self.expected:
            return -1.0, float(self.expected[it.label]), 0, ()
        group, used = self._seen(it)
        is_conversion = it.label.startswith(_FAMILIES)
        if self.wanted is not None and it.type is not None:
            group -= _fit(self.wanted, it, exactly=is_conversion)
        place = _common().get(it.label, len(_common()))
        if is_conversion and place == len(_common()) and not self.is_family:
            group += 1.0
        if it.label == self.unfinished:
            group += 3.0
        return self._by_sort(it, group), used, place, _in_order(it.label)

    def _seen(self, it: Candidate) -> tuple[float, float]:
        """Return the group of a candidate by where it is declared or used, and how long ago that was."""
        if not self.prefix and self.at_statement and not self.in_function and it.symbol is None:
            # What other declarations say tells nothing of the next one.
            return (2.2 if it.sort is Sort.KEYWORD else 2.7 if it.sort is Sort.TYPE else 4.0), 0.0
        used = self.recent.get(it.label)
        if used is None and it.label in self.elsewhere:
            used = _FAR
        if used is not None and used < _FAR:
            return 0.0, used
        if it.label in self.local:
            return 0.0, 4.0
        if used is not None:
            return 1.0, used
        return _GROUPS.get(it.sort, 4.0), 1e6

    def _by_sort(self, it: Candidate, group: float) -> float:
        """Return the group with what may begin at this place moved up, and what may not moved down."""
        sort = it.sort
        if sort is Sort.SNIPPET and not self.at_statement:
            group += 3.0
        if sort is Sort.TYPE and (self.after_type or not self.in_function):
            group -= 1.5
        if self.after_type and sort not in _AT_FILE_LEVEL:
            group += 3.0  # Behind `const` or `global` stands a type, or another such word.
        if sort is Sort.TYPE and self.at_statement and self.in_function and self.prefix:
            group -= 0.6
        if sort is Sort.KEYWORD and self.at_statement:
            group -= 1.0
        if not self.prefix and self.in_function and it.symbol is None and sort in _WORDS_OF_THE_LANGUAGE:
            group = _GROUPS[Sort.BUILTIN]
        if self.is_case and not _may_be_constant(it):
            group += 3.0
        if self.at_statement and not self.in_function and sort not in _AT_FILE_LEVEL:
            group += 3.0
        return group


def _may_be_constant(it: Candidate) -> bool:
    """Tell whether a candidate may stand behind `case`; a macro that takes arguments seldom does."""
    if it.symbol is None or it.sort not in (Sort.CONSTANT, Sort.MACRO):
        return False
    return it.symbol.macro is None or it.symbol.macro.parameters is None


def _only_here(index: Index, start: int) -> str:
    """Return the name that is being typed if it stands nowhere else; it need not be offered."""
    token = index.token_at(start)
    if token is None or index.tokens[token].start != start or index.tokens[token].path != index.path:
        return ""
    name = index.texts[token]
    is_macro = any(it.name == name for it in index.macros)
    return name if index.texts.count(name) == 1 and not is_macro else ""


def _ends_statement(texts: Sequence[str], token: int) -> bool:
    """Tell whether a statement may start behind a token."""
    text = texts[token]
    if text != ":":
        return text in _BEFORE_STATEMENTS or text.startswith("#")
    while token > 0 and texts[token] not in _BEFORE_STATEMENTS and texts[token] != "?":
        token -= 1
    return texts[token] != "?"  # Else it is a label's, or that of a `case`.


_BEFORE_STATEMENTS = frozenset({";", "{", "}", ")", "else"})
_WORDS_OF_THE_LANGUAGE = frozenset({Sort.KEYWORD, Sort.TYPE, Sort.CONSTANT})
_AT_FILE_LEVEL = frozenset({Sort.KEYWORD, Sort.TYPE, Sort.SNIPPET, Sort.MACRO})


_SAMPLER_WORDS = (
    *("CLK_NORMALIZED_COORDS_FALSE", "CLK_ADDRESS_CLAMP_TO_EDGE", "CLK_FILTER_NEAREST", "CLK_ADDRESS_CLAMP"),
    *("CLK_ADDRESS_NONE", "CLK_FILTER_LINEAR", "CLK_NORMALIZED_COORDS_TRUE", "CLK_ADDRESS_REPEAT"),
    "CLK_ADDRESS_MIRRORED_REPEAT",
)
"""What samplers are made of, the usual first."""
_IN_SAMPLER = re.compile(r"sampler_t|read_image|CLK_(?:ADDRESS|NORMALIZED|FILTER)")


_FENCES = re.compile(r"(?:work_group_|sub_group_)?barrier\Z|(?:\w+_)?(?:mem|work_item)_fence\Z")
_FENCE_WORDS = ("CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_IMAGE_MEM_FENCE")


def _expected_words(
    index: Index, placed: PlacedUnit | None, token: int | None, *, in_function: bool
) -> dict[str, int]:
    """Return the words that a place wants before all others, in order; nothing at most places."""
    if token is None or placed is None:
        return {}
    texts = index.texts
    if texts[token] in ("(", ",") and not in_function and _is_kernel_head(texts[placed.start : token + 1]):
        words = ("__global", "const", "__constant", "__local")
        plain = not any(it in texts for it in ("__kernel", *words) if it.startswith("_"))
        return {it.strip("_") if plain else it: at for at, it in enumerate(words)}
    before: list[str] = []
    at = token
    while at >= 0 and texts[at] not in (";", "{", "}") and len(before) < 40:
        before.append(texts[at])
        at -= 1
    if before[:1] in (["("], ["|"]) and any(map(_FENCES.match, before)):
        given = set(before)
        return {it: at for at, it in enumerate(_FENCE_WORDS) if it not in given}
    return _sampler_order(before)


def _is_kernel_head(texts: Sequence[str]) -> bool:
    """Tell whether the parameters of a kernel are being typed."""
    return "{" not in texts and not KERNEL_WORDS.isdisjoint(texts) and texts.count("(") > texts.count(")")


def _sampler_order(before: list[str]) -> dict[str, int]:
    """Return what a sampler may still need behind these tokens of its statement, the last one first."""
    call = next((at for at, it in enumerate(before) if it.startswith("read_image")), None)
    if not any(map(_IN_SAMPLER.match, before)) or (call and _n_commas(before[: call - 1]) != 1):
        return {}
    given = {it.split("_")[1] for it in before if it in _SAMPLER_WORDS}
    return {it: at for at, it in enumerate(_SAMPLER_WORDS) if it.split("_")[1] not in given}


def _n_commas(before: list[str]) -> int:
    """Return how many arguments end in the call whose tokens these are, the last one first."""
    depth = count = 0
    for text in before:
        depth += (text == ")") - (text == "(")
        count += text == "," and depth == 0
        if depth < 0:  # What was counted belongs to a call in this one.
            depth = count = 0
    return count


_FAR = 1e5
_BEFORE_TYPES = QUALIFIER_WORDS | KERNEL_WORDS | {"unsigned", "signed"}
_GROUPS = {
    Sort.FUNCTION: 1.5,
    Sort.KERNEL: 2.5,
    Sort.BUILTIN: 2.0,
    Sort.TYPE: 2.5,
    Sort.MACRO: 1.8,
    Sort.CONSTANT: 2.6,
    Sort.KEYWORD: 2.2,
    Sort.SNIPPET: 2.4,
}
_FAMILIES = ("convert_", "as_")
"""Built-ins of which there are hundreds; they come behind others until the name of their family is typed."""


@cache
def _common() -> dict[str, int]:
    """Return the words that kernels use most, with their places in that order."""
    text = safe_read(_COMMON_WORDS, limit=SETTINGS_BYTES, within=None).decode()
    words = (word for line in text.splitlines() if not line.startswith("#") for word in line.split())
    return {word: at for at, word in enumerate(words)}


_COMMON_WORDS = Path(__file__).with_name("data") / "common.txt"
_DIGITS = re.compile(r"(\d+)")


@lru_cache(4_096)
def _in_order(label: str) -> tuple[str | int, ...]:
    """Return what orders labels as people count: `float4` before `float16`."""
    return tuple(int(it) if it.isdecimal() else it for it in _DIGITS.split(label))


def _unfinished(index: Index, placed: PlacedUnit, local: list[Symbol], at: int) -> str | None:
    """Return the name of the variable whose own initialiser is being typed; it has no value yet."""
    if not local or local[0].kind is not Kind.VARIABLE:
        return None
    texts = index.texts[placed.start + (index.number_in_unit(local[0]) or 0) : placed.start + at]
    return local[0].name if "=" in texts and not {";", ",", "{"} & set(texts) else None


def _of_symbol(symbol: Symbol) -> Candidate:
    type_ = symbol.type
    match symbol.kind:
        case Kind.KERNEL | Kind.FUNCTION:
            sort = Sort.KERNEL if symbol.kind is Kind.KERNEL else Sort.FUNCTION
            function = type_.base if type_ is not None else None
            result = function.result if isinstance(function, Function) else None
            return Candidate(symbol.name, sort, *_shown(symbol), symbol, result)
        case Kind.TYPEDEF:
            return Candidate(symbol.name, Sort.TYPE, *_shown(symbol), symbol)
        case Kind.ENUMERATOR:
            return Candidate(symbol.name, Sort.CONSTANT, f"= {symbol.value}", symbol=symbol, type=type_)
        case _:
            sort = Sort.PARAMETER if symbol.kind is Kind.PARAMETER else Sort.VARIABLE
            return Candidate(symbol.name, sort, *_shown(symbol), symbol, type_)


def _shown(symbol: Symbol) -> tuple[str, str | None]:
    """Return a symbol's type in words, and of a function how it is called; most symbols outlive an edit."""
    found = _known.get(symbol)
    if found is None:
        words = spelled(symbol.type) if symbol.type else ""
        found = _known[symbol] = words, _call(symbol.name, symbol) if symbol.kind in CALLABLE else None
    return found


_known: WeakKeyDictionary[Symbol, tuple[str, str | None]] = WeakKeyDictionary()


def _call(name: str, symbol: Symbol) -> str:
    names = [f"${{{at}:{it.name or 'value'}}}" for at, it in enumerate(symbol.parameters, 1)]
    return f"{name}({', '.join(names)})"


def _recent(index: Index, start: int, placed: PlacedUnit | None, token: int | None) -> dict[str, float]:
    """Return how long ago each name was used, in tokens within the function."""
    found: dict[str, float] = {}
    texts = index.texts
    if placed is not None and token is not None:
        # What is called here is seldom an argument of itself.
        last = token - 2 if texts[token] == "(" else token
        # Of each name the last one put in counts: those behind the place from the end, then the others.
        behind = dict(
            zip(reversed(texts[token + 1 : placed.end]), range(placed.end - 1, token, -1), strict=True)
        )
        before = dict(zip(texts[placed.start : last + 1], range(placed.start, last + 1), strict=True))
        found = {it: float(at - token) + 500.0 for it, at in behind.items()}
        found.update((it, float(token - at)) for it, at in before.items())
    for macro_token, symbol in index.macro_uses:
        is_called_here = macro_token.end == start - 1 and index.text[start - 1] == "("
        if macro_token.path == index.path and not is_called_here:
            distance = abs(start - macro_token.start) / 4
            if distance < found.get(symbol.name, _FAR):
                found[symbol.name] = distance
    return found


def _wanted(index: Index, placed: PlacedUnit, at: int) -> Qualified | None:
    """Return the type that a value must, or should, have which starts at a token."""
    expected = placed.unit.expected_at(at)
    if expected is not None:
        return expected
    before = index.texts[placed.start + at - 1] if at > 0 else ""
    if before in ("(", ","):
        return _parameter_of_builtin(placed, at)
    return _compared(index, placed, at) if before in _LIKE_TO_LIKE else None


_LIKE_TO_LIKE = frozenset({"<", ">", "<=", ">=", "==", "!=", "+", "-", "+=", "-="})
"""Operators whose operands are mostly of one type."""


def _parameter_of_builtin(placed: PlacedUnit, at: int) -> Qualified | None:
    """Return the type of the parameter of a built-in function that a token begins the argument for."""
    for call in reversed(placed.unit.calls):
        opens = [call.opening, *call.commas]
        if at - 1 not in opens or not isinstance(call.callee, str):
            continue
        builtin, active = builtins.find(call.callee), opens.index(at - 1)
        if builtin is None or any(len(it.parameters) == 1 and it.is_variadic for it in builtin.overloads):
            return None
        given = [it for it in call.arguments[:active] if it is not None]
        best = builtins.best_fit(builtin, given, active) if len(given) == active else None
        return None if best is None or active >= len(best.parameters) else best.parameters[active]
    return None


def _compared(index: Index, placed: PlacedUnit, at: int) -> Qualified | None:
    """Return the type of the name that stands before the operator before a token."""
    name = placed.start + at - 2
    if at < 2 or index.texts[name - 1] in (".", "->"):
        return None
    symbols = (it for it in locals_at(index, placed, at) if it.name == index.texts[name])
    symbol = next(symbols, index.scope.ordinary.get(index.texts[name]))
    return None if symbol is None or symbol.kind not in _VALUES else symbol.type


_VALUES = (Kind.VARIABLE, Kind.PARAMETER)


def _fit(wanted: Qualified, it: Candidate, *, exactly: bool) -> float:
    """Return by how many groups a candidate is moved up for its type."""
    assert it.type is not None
    a, b = base_of(wanted), base_of(it.type)
    if isinstance(a, Enumeration) and _is_of(it.symbol, a):
        return 1.5
    if a == b:
        return 0.5
    if exactly or isinstance(a, Unknown) or isinstance(b, Unknown):
        return 0.0
    if _same_pointer(a, b):
        return 0.5
    if not is_arithmetic(a) or not is_arithmetic(b):
        return 0.0
    return 0.4 if is_integer(a) == is_integer(b) else 0.3 if is_integer(b) else 0.0


def _is_of(symbol: Symbol | None, enumeration: Enumeration) -> bool:
    """Tell whether a symbol is one of an enumeration's constants, which are integers to C."""
    if symbol is None or symbol.parent is None or symbol.parent.type is None:
        return False
    return symbol.kind is Kind.ENUMERATOR and symbol.parent.type.base is enumeration


def _same_pointer(a: Base, b: Base) -> bool:
    if not isinstance(a, Pointer) or not isinstance(b, Pointer):
        return False
    return base_of(a.pointee) == base_of(b.pointee)


def _macros(index: Index, start: int) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    for symbol in index.macros:
        macro = symbol.macro
        assert macro is not None
        if macro.span.path == index.path and macro.span.start <= start <= macro.span.end:
            continue
        snippet = None
        if macro.parameters is not None:
            names = [f"${{{at}:{it}}}" for at, it in enumerate(macro.parameters, 1)]
            snippet = f"{macro.name}({', '.join(names)})"
        found[macro.name] = Candidate(macro.name, Sort.MACRO, macro.beginning, snippet, symbol)
    return list(found.values())


# ----------------------------------------------------------------------------------------------- matching


def matching(found: Iterable[Candidate], prefix: str) -> list[Candidate]:
    """Return what fits the letters typed so far: starts with them first, then holds them in order."""
    if not prefix:
        return list(found)
    lower = prefix.lower()
    starts: list[Candidate] = []
    folded: list[Candidate] = []
    inside: list[Candidate] = []
    for it in found:
        label = it.label
        if label.startswith(prefix):
            starts.append(it)
        elif label.lower().startswith(lower):
            folded.append(it)
        elif _holds_in_order(label.lower(), lower):
            inside.append(it)
    return starts + folded + inside


def _holds_in_order(label: str, letters: str) -> bool:
    """Tell whether the letters stand in the label in order, the first at the start of a word."""
    at = label.find(letters[0])
    while at > 0 and label[at - 1] != "_":
        at = label.find(letters[0], at + 1)
    if at < 0:
        return False
    for letter in letters[1:]:
        at = label.find(letter, at + 1)
        if at < 0:
            return False
    return True


def document(index: Index, label: str, sort: Sort) -> str | None:
    """Return the text of a candidate, for when a person looks at it."""
    from clmap_lsp.index.describe import describe, describe_constant, describe_function, describe_type

    if sort is Sort.BUILTIN and (found := builtins.find(label)) is not None:
        return describe_function(found)
    if sort is Sort.TYPE and label in TYPE_NAMES:
        return describe_type(label)
    if sort is Sort.CONSTANT and (constant := constants().get(label)) is not None:
        return describe_constant(constant)
    if sort is Sort.MACRO:
        macro = next((it for it in reversed(index.macros) if it.name == label), None)
        return None if macro is None else describe(index, macro)
    symbol = index.scope.ordinary.get(label)
    if symbol is None or sort not in (Sort.FUNCTION, Sort.KERNEL, Sort.TYPE, Sort.VARIABLE, Sort.CONSTANT):
        symbol = next(
            (it for _, it in index.symbols() if it.name == label and it.kind not in CALLABLE), symbol
        )
    return None if symbol is None else describe(index, symbol)


__all__ = [
    "SNIPPETS",
    "Candidate",
    "Completion",
    "Sort",
    "complete",
    "document",
    "matching",
    "prefix_start",
    "word_end",
]
