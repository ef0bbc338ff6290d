"""Which functions an edit touches, and the file without the bodies of all that these do not need.

What is said of a function follows from its own text, from the functions that it calls and from what the file
declares outside of functions. While a person types inside of one body, the others may be left out: in the
reduced text each is a prototype, blanks stand for the rest, and every place is where it is in the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.difference import Difference, difference
from clmap_lsp.source.ir import Guess
from clmap_lsp.source.lexer import Token, cut, joined
from clmap_lsp.source.normalise import span_of_token

if TYPE_CHECKING:
    from clmap_lsp.index.index import Index, PlacedUnit

SMALLEST = 12_000
"""Characters from which on leaving bodies out saves more than it costs."""
LARGEST_PART = 0.7
"""The same of a text: what is left is no more than this part of it."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_FOR_ALL = re.compile(r"clmap|\btypedef\b|\benum\b|\b(?:struct|union)\s+\w[^;,(){}]{0,500}+[^;,()}]")
"""Text in a body that says something of the rest of the file: our comments, types with names."""
_DIRECTIVE = re.compile(r"(?m)^[ \t]*(?:/\*.*\*/[ \t]*)?#[ \t]*(?P<name>\w*)(?P<rest>.*)")
_DEPTHS = {"if": 1, "ifdef": 1, "ifndef": 1, "elif": 0, "else": 0, "endif": -1}
_NOT_BLANK = re.compile(r"[^\r\n]")
_STATEMENT_ENDS = ";{}"
_KNOWN_ROLES = frozenset({"type", "vector type", "constant"})
"""What an undefined name may be taken for without a look at all of its uses, where it was seen once."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A function as it stands in the file; places are offsets."""

    name: str
    start: int
    opening: int
    """Of the `{` of its body."""
    end: int
    """Behind its `}`."""
    needs: frozenset[str]
    """The names that it asks the file for."""
    may_go: bool
    """Nothing outside of it follows from its body, but for what its names are taken for."""
    shared: frozenset[str]
    """Names in its body of which things follow from all of their uses."""


@dataclass(frozen=True, slots=True)
class Part:
    """An edited text without what the edit leaves alone."""

    text: str
    """As long as the edited text, and with the same lines."""
    functions: frozenset[str]
    """The function that was edited, and those that call it, however indirectly."""
    before: tuple[tuple[int, int], ...]
    """Where these stood in the text before the edit: start and end."""
    now: tuple[tuple[int, int], ...]
    """Where they stand in the edited one."""
    guesses: tuple[Guess, ...] = ()
    """What undefined names are taken for that the edit leaves alone."""
    shared: frozenset[str] = frozenset()
    """Names of which something is said once, where they are used first."""


@dataclass(frozen=True, slots=True)
class EditedBody:
    """An edit inside of one function's body."""

    apart: Difference
    name: str
    opening: int
    """Of the body's `{`."""
    end: int
    """Behind its `}`, where that has moved to."""
    callers: frozenset[str]
    """The function and those that call it, however indirectly."""

    def is_read_in(self, index: Index) -> bool:
        """Tell whether the function's body still ends where it should, by an index of the edited text."""
        for placed in index.units:
            for function, (opened, behind) in placed.unit.bodies.items():
                if function.name == self.name and not placed.is_cut:
                    first, last = index.tokens[placed.start + opened], index.tokens[placed.start + behind - 1]
                    if (first.path, first.start, last.end) == (index.path, self.opening, self.end):
                        return last.text == "}"
        return False


class Layout:
    """The functions of a file that was read, for the edits that come."""

    def __init__(
        self,
        text: str,
        functions: list[_Function],
        macros: Mapping[str, str],
        calls: frozenset[str],
        guesses: Mapping[str, Guess],
        shared: frozenset[str],
    ):
        self._text = text
        self._guesses = {name: it for name, it in guesses.items() if it.role in _KNOWN_ROLES}
        self._shared = shared
        self._unsettled = guesses.keys() - self._guesses.keys()
        self._functions = functions
        self._macros = macros
        self._calls = calls
        """Macros that take arguments: one that is not closed reads on behind the body."""

    @classmethod
    def of(cls, index: Index, guesses: Iterable[Guess]) -> Layout | None:
        """Return the layout of a file; None where leaving bodies out would not pay.

        Args:
            guesses: what names are taken for that nothing defines, which follows from all of their uses.
        """
        text = index.text
        if len(text) < SMALLEST or joined(text)[1] is not None:
            return None
        guessed = {it.name: it for it in guesses}
        issues = (it.issue.name for it in index.issues if it.issue.name is not None)
        shared = frozenset((*guessed, *issues))
        functions = [
            found for placed in index.units if (found := _function(index, placed, shared)) is not None
        ]
        macros = {it.name: it.macro.body for it in index.macros if it.macro is not None}
        calls = frozenset(
            it.name for it in index.macros if it.macro is not None and it.macro.parameters is not None
        )
        return cls(text, functions, macros, calls, guessed, shared) if functions else None

    def edited(self, text: str) -> EditedBody | None:
        """Return the function that an edit is in; None where it is not within one, or may reach out of it."""
        apart = difference(self._text, text)
        for it in self._functions:
            if it.opening < apart.start and apart.old_end < it.end:
                if it.may_go and not self._reaches_out(apart, text):
                    moved = len(text) - len(self._text)
                    return EditedBody(
                        apart, it.name, it.opening, it.end + moved, frozenset(self._callers(it.name))
                    )
                break
        return None

    def serves(self, text: str) -> bool:
        """Tell whether an edit is in one function, whose body ends where it did."""
        edit = self.edited(text)
        return edit is not None and self._is_closed(cut("", text[edit.opening : edit.end], 0))

    def size_left(self, text: str, edit: EditedBody) -> int:
        """Return how many characters are read for an edit."""
        return len(text) - sum(it.end - it.opening for it in self._gone(text, edit))

    def _gone(self, text: str, edit: EditedBody) -> list[_Function]:
        """Return the functions that what an edit touches does not need."""
        words = set(_WORD.findall(text[edit.opening : edit.end]))
        needed = self._needed(set(edit.callers), words)
        held = self._held(edit.apart, text)
        return [
            it for it in self._functions if it.may_go and it.name not in needed and it.shared.isdisjoint(held)
        ]

    def _held(self, apart: Difference, text: str) -> set[str]:
        """Return the names that are taken for what all of their uses say, as the edit may change that."""
        return self._unsettled | (self._named_by(apart, text) & self._shared)

    def part(self, text: str) -> Part | None:
        """Return what an edit touches; None where it is not within one function, or most is touched."""
        apart = difference(self._text, text)
        edited = next(
            (it for it in self._functions if it.opening < apart.start and apart.old_end < it.end), None
        )
        if edited is None:
            return None
        moved = len(text) - len(self._text)
        body = text[edited.opening : edited.end + moved]
        words = set(_WORD.findall(body))
        callers = self._callers(edited.name)
        needed = self._needed(callers, words)
        held = self._held(apart, text)
        gone = [
            it for it in self._functions if it.may_go and it.name not in needed and it.shared.isdisjoint(held)
        ]
        left = len(text) - sum(it.end - it.opening for it in gone)
        if left > LARGEST_PART * len(text) or not self._stays_inside(body, apart, text):
            return None
        touched = [it for it in self._functions if it.name in callers]
        return Part(
            _without(text, [_moved(it.opening, it.end, apart, moved) for it in gone]),
            frozenset(callers),
            tuple((it.start, it.end) for it in touched),
            tuple(_moved(it.start, it.end, apart, moved) for it in touched),
            tuple(it for name, it in self._guesses.items() if name not in held),
            self._shared,
        )

    def _named_by(self, apart: Difference, text: str) -> set[str]:
        """Return the names in the statements that an edit changes, before and after it, macros expanded."""
        found: set[str] = set()
        if not self._shared:
            return found
        waiting = _words_around(self._text, apart.start, apart.old_end)
        waiting += _words_around(text, apart.start, apart.new_end)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += _WORD.findall(self._macros.get(name, ""))
        return found

    def _callers(self, name: str) -> set[str]:
        """Return a function and those that call it."""
        found = {name}
        grows = True
        while grows:
            more = {it.name for it in self._functions if not found.isdisjoint(it.needs)} - found
            found |= more
            grows = bool(more)
        return found

    def _needed(self, names: set[str], words: set[str]) -> set[str]:
        """Return functions with all that they call; `words` are those of the edited body."""
        by_name: dict[str, set[str]] = {}
        for it in self._functions:
            by_name.setdefault(it.name, set()).update(it.needs)
        found: set[str] = set()
        waiting = [*names, *words]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            waiting += by_name.get(name, ())
            if name in self._macros:
                waiting += _WORD.findall(self._macros[name])
        return found

    def _reaches_out(self, apart: Difference, text: str) -> bool:
        """Tell whether an edit may say something to the preprocessor, or to us of the whole file."""
        for changed, start, end in (
            (self._text, apart.start, apart.old_end),
            (text, apart.start, apart.new_end),
        ):
            lines = changed[changed.rfind("\n", 0, start) + 1 : _line_end(changed, end)]
            if "#" in lines or "\\" in lines or "clmap" in lines:
                return True
        return False

    def _stays_inside(self, body: str, apart: Difference, text: str) -> bool:
        """Tell whether an edited body still ends where it did, and says nothing to the preprocessor."""
        if self._reaches_out(apart, text):
            return False
        tokens = cut("", body, 0)
        if not tokens or tokens[-1].end != len(body) or tokens[-1].text != "}":
            return False
        return self._is_closed(tokens)

    def _is_closed(self, tokens: list[Token]) -> bool:
        """Tell whether the last token is the first to close the first one, and no macro's use is open."""
        if not tokens or tokens[-1].text != "}":
            return False
        depth = 0
        opened: list[str] = []
        before = ""
        for at, it in enumerate(tokens):
            match it.text:
                case "{":
                    depth += 1
                case "}":
                    depth -= 1
                    if depth == 0 and at + 1 < len(tokens):
                        return False
                case "(":
                    opened.append(before)
                case ")" if opened:
                    opened.pop()
            before = it.text
        return depth == 0 and self._calls.isdisjoint(opened)


def _function(index: Index, placed: PlacedUnit, shared: frozenset[str]) -> _Function | None:
    """Return the function that a declaration of the file itself defines, if it does."""
    bodies = placed.unit.bodies
    if len(bodies) != 1 or placed.is_cut:
        return None
    ((function, body),) = bodies.items()
    opening, behind = (placed.start + it for it in body)
    braces = index.tokens[opening], index.tokens[behind - 1]
    head = span_of_token(index.tokens[placed.start])
    if any(it.path != index.path or it.use is not None for it in braces) or braces[1].text != "}":
        return None
    if head.path != index.path or head.start > braces[0].start:
        return None
    at, end = braces[0].start, braces[1].end
    may_go = _is_own(index.text[at:end])
    mentioned = shared.intersection(index.texts[opening:behind]) if shared else shared
    needs = frozenset(name for _, name in placed.unit.lookups)
    return _Function(function.name, head.start, at, end, needs, may_go, mentioned)


@lru_cache(maxsize=256)
def _is_own(body: str) -> bool:
    """Tell whether a body says nothing of the rest of the file; most are the same at the next key."""
    return not _FOR_ALL.search(body) and _is_conditional_only(body)


def _is_conditional_only(body: str) -> bool:
    """Tell whether directives in a body only choose among its own statements, or unroll a loop.

    A macro that they define or drop, an extension, an `#error` (which values for names may avoid) and a
    quotient in a condition (names are then not 0) are the whole file's.
    """
    depth = 0
    for it in _DIRECTIVE.finditer(body):
        if it["name"] == "pragma":
            if it["rest"].split()[:1] != ["unroll"]:
                return False
        elif it["name"] not in _DEPTHS or any(sign in it["rest"].partition("//")[0] for sign in "/%\\"):
            return False
        else:
            depth += _DEPTHS[it["name"]]
            if depth < 0:
                return False
    return depth == 0


def _moved(start: int, end: int, apart: Difference, by: int) -> tuple[int, int]:
    """Return where a stretch is behind an edit that it holds, or that lies outside of it."""
    return start + (by if start >= apart.old_end else 0), end + (by if end >= apart.old_end else 0)


def _without(text: str, bodies: list[tuple[int, int]]) -> str:
    """Return a text with bodies as `;` and blanks."""

    def pieces() -> Iterator[str]:
        at = 0
        for start, end in bodies:
            yield text[at:start]
            yield _blanked(text[start:end])
            at = end
        yield text[at:]

    return "".join(pieces())


@lru_cache(maxsize=1024)
def _blanked(body: str) -> str:
    """Return `;` and blanks in place of a body; most of a file's are the same at the next key."""
    return ";" + _NOT_BLANK.sub(" ", body[1:])


def _words_around(text: str, start: int, end: int) -> list[str]:
    """Return the words of the statements that a stretch lies in, and of its lines."""
    first = max(text.rfind(it, 0, start) for it in _STATEMENT_ENDS) + 1
    last = min((at for it in _STATEMENT_ENDS if (at := text.find(it, end)) >= 0), default=len(text))
    return _WORD.findall(text, min(first, text.rfind("\n", 0, start) + 1), max(last, _line_end(text, end)))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
