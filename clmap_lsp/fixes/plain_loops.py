"""Loops written the plain way, with one counter that counts up by 1: there rewrites are found.

`for (k = 0, j = 0; k < n; k++, a++, b += n)`, the same steps as the last statements of a body, `*a++`, and
loops that count down (`for (k = n - 1; k >= 0; k--)`, `while (k--)`). What is stepped beside the counter is
written as what it is in that iteration (the substitution of induction variables, Aho, Lam, Sethi, Ullman,
*Compilers*, section 9.8). A loop that counts down is turned round only where iterations just add up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import at_most
from clmap_lsp.fixes.index_names import set_by
from clmap_lsp.fixes.loops import LESS_ONE
from clmap_lsp.fixes.reductions import totals
from clmap_lsp.fixes.scope import as_typed, tight
from clmap_lsp.fixes.unused import comma_parts, line_of
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source import ir
from clmap_lsp.source.types import PointerType, ScalarType, Type

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_NAME = r"[A-Za-z_]\w*"
_STEP = re.compile(
    rf"\s*(?:(?P<post>{_NAME})\s*(?P<sign>\+\+|--)|(?P<sign2>\+\+|--)\s*(?P<pre>{_NAME})"
    rf"|(?P<to>{_NAME})\s*(?P<sign3>[+-])=\s*(?P<by>[^=].*?)"
    rf"|(?P<set>{_NAME})\s*=\s*(?P=set)\s*(?P<sign4>[+-])\s*(?P<by2>.*?))\s*;?\s*",
    re.DOTALL,
)
_FIRST = re.compile(
    rf"\s*(?:(?P<type>{_NAME}(?:\s+{_NAME})*?)\s+)?(?P<name>{_NAME})\s*=\s*(?P<value>[^=].*?)\s*;?\s*",
    re.DOTALL,
)
_UP = re.compile(
    rf"\s*(?P<name>{_NAME})\s*(?:<=?|!=)[^=<].*|[^=<>]*[^=<>\s]\s*(?:>=?|!=)\s*(?P<other>{_NAME})\s*",
    re.DOTALL,
)
_DOWN = re.compile(
    rf"\s*(?P<name>{_NAME})\s*(?P<op>>=|>|!=)\s*(?P<low>[^=<>].*?)\s*"
    rf"|\s*(?P<low2>[^=<>]*?[^=<>\s])\s*(?P<op2><=|<|!=)\s*(?P<name2>{_NAME})\s*",
    re.DOTALL,
)
_TAKEN = re.compile(rf"\s*(?:(?P<name>{_NAME})\s*--\s*(?:>\s*0)?|--\s*(?P<name2>{_NAME})\s*>=\s*0)\s*")
"""`k--`, `k-- > 0` and `--k >= 0`: as many iterations as the counter says, numbered down to 0."""
_SUM = re.compile(r"[\w\s+*()-]+")
"""A number of elements to step by."""
_BASED = re.compile(
    rf"[\w\s]+\*[\w\s]*?\b(?P<name>{_NAME})\s*=\s*(?P<base>{_NAME})\s*\+\s*(?P<offset>[\w\s+*()-]+?)\s*;",
    re.DOTALL,
)
"""`__global const float *a = A + row * n;`"""
_INDEX = re.compile(r"[\w\s+*/%.()\[\]-]+")
"""An index that something can be added to without parentheses."""


@dataclass(frozen=True, slots=True)
class PlainLoop:
    """What makes a loop plain: texts for ranges of the file, none of which overlap."""

    edits: tuple[tuple[int, int, str], ...]
    reorders: bool
    """Sums of floats are taken in another order."""
    assumptions: tuple[Assumption, ...] = ()
    """A pointer's steps are counted as `int` now."""


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    up: bool
    by: str
    node: Node | None = None
    """The statement of the body that it is; `None`: it stands in the head."""
    start: str = ""
    """What a name has first that the head declares, or sets."""


@dataclass(frozen=True, slots=True)
class _Counter:
    name: str
    first: str
    head: str | None
    """The new head of a `for`; `None`: as it is."""
    is_turned: bool = False
    before: Node | None = None
    """The statement that sets it, which goes."""


@dataclass(frozen=True, slots=True)
class _Based:
    """A pointer that is declared as `base + offset`, and where."""

    base: str
    offset: str
    node: Node


class _CannotError(Exception):
    """The loop stays as it is."""


def plain_loops(scope: Scope) -> Iterator[PlainLoop]:
    """Yield what makes loops plain that are not."""
    for loop in ir.walk(scope.subject.analysis.kernel.body):
        if not isinstance(loop, ir.Loop) or not as_typed(loop.span, scope.subject.path):
            continue
        node = scope.node_at(loop.span)
        if node is None or node.kind not in ("for", "while") or node.head is None:
            continue
        try:
            found = _Reading(scope, loop, node).plain()
        except _CannotError:
            continue
        if found is not None:
            yield found


class _Reading:
    """One loop as typed."""

    def __init__(self, scope: Scope, loop: ir.Loop, node: Node) -> None:
        assert node.head is not None, "a for or while loop has a head"
        self.scope, self.loop, self.node = scope, loop, node
        self.head = node.head
        self.body = node.children[0]
        self._pointers: dict[str, _Based | None] = {}
        self._sets = [v for it in ir.walk((*loop.test, *loop.body, *loop.step)) if (v := _named(it))]
        self.set_here = [it.name for it in self._sets]
        parts = scope.shown[slice(*self.head)].split(";")
        if node.kind == "for" and len(parts) != 3:
            raise _CannotError
        self.init, self.test, self.stepped = parts if node.kind == "for" else ("", parts[0], "")

    def plain(self) -> PlainLoop | None:
        """Return what makes the loop plain; `None` if it is."""
        steps = [self._step(it) for it in _split(self.stepped)]
        steps += self._last_statements()
        counter, others = self._counter(steps)
        walks = list(self._walks({it.name for it in steps}))
        if counter.head is None and not others and not walks:
            return None
        if counter.is_turned and (others or walks):
            raise _CannotError
        if self.scope.hidden(self.loop) & {*(it.name for it in others), *(name for *_, name in walks)}:
            raise _CannotError
        if any(it.name in re.findall(_NAME, self.test) for it in others):
            raise _CannotError  # The test follows a step that is written out.
        at = counter.name if counter.first == "0" else f"({counter.name} - {tight(counter.first)})"
        counted = self._type(counter.name)
        edits = [it for step in others for it in self._written(step, at, counted)]
        edits += [(start, end, self._element(name, at)) for start, end, name in walks]
        stepped = dict.fromkeys((*(it.name for it in others), *(name for *_, name in walks)))
        edits += [(*self._line(based.node), "") for it in stepped if (based := self._based(it)) is not None]
        edits += [(*self._line(it.node), "") for it in others if it.node is not None]
        head = counter.head
        if head is None and self.node.kind == "for" and any(it.node is None for it in others):
            head = f"{self._init(counter)};{self.test}; {counter.name}++"
        if head is not None:
            before, start = ("", self.head[0]) if self.node.kind == "for" else ("for (", self.node.begins)
            edits.append((start, self.head[1], before + head))
        if counter.before is not None:
            edits.append((*line_of(self.scope, counter.before), ""))
        assumed = tuple(dict.fromkeys(it for step in others for it in self._small(step)))
        return PlainLoop(tuple(sorted(edits)), counter.is_turned and self._adds_floats(counter.name), assumed)

    def _line(self, node: Node) -> tuple[int, int]:
        """Return the range to remove with a statement: the space before it, too, within a line."""
        start, end = line_of(self.scope, node)
        text = self.scope.text[:start]
        return (
            (len(text.rstrip(" ")), end)
            if text.endswith(" ") and text.strip(" ")[-1:] != "\n"
            else (start, end)
        )

    def _small(self, step: _Step) -> Iterator[Assumption]:
        """Yield what must hold for a pointer's steps to be counted as `int`."""
        kind = self._type(step.name)
        is_whole = step.by == "1" and self._based(step.name) is None
        if is_whole or not isinstance(kind, PointerType):
            return
        for access in facts.accesses(self.scope.subject.analysis):
            inside = self.body.holds(access.span.start, access.span.end)
            if inside and step.name in self.scope.words(access.span.start, access.span.end):
                buffer = access.buffer
                yield at_most(buffer, (1 << 31) - 1, f"{buffer} has fewer than 2^31 elements")

    def _type(self, name: str) -> Type | None:
        return next((it.type for it in self._sets if it.name == name), None)

    # ---------------------------------------------------------------------------------------- steps

    def _step(self, text: str, node: Node | None = None) -> _Step:
        found = _STEP.fullmatch(text)
        if found is None:
            raise _CannotError
        name = found["post"] or found["pre"] or found["to"] or found["set"]
        sign = found["sign"] or found["sign2"] or found["sign3"] or found["sign4"]
        by = found["by"] or found["by2"] or "1"
        if not _SUM.fullmatch(by) or re.search(r"\)\s*[\w(]", by):
            raise _CannotError
        start = next(
            (it["value"] for it in map(_FIRST.fullmatch, _split(self.init)) if it and it["name"] == name), ""
        )
        return _Step(name, sign[0] == "+", by.strip(), node, start.strip())

    def _last_statements(self) -> list[_Step]:
        """Return the steps that the body ends with."""
        if self.body.kind != "block" or any(isinstance(it, ir.Continue) for it in ir.walk(self.loop.body)):
            return []
        found: list[_Step] = []
        for node in reversed(self.body.children):
            text = self.scope.shown[node.begins : node.end]
            if node.kind != "simple" or not _STEP.fullmatch(text):
                break
            try:
                step = self._step(text, node)
            except _CannotError:
                break
            if not self._is_stepped_only(step.name):
                break  # A sum, or what the iteration has worked out.
            found.append(step)
        return found

    def _is_stepped_only(self, name: str) -> bool:
        """True if nothing else in the loop sets a name, and nothing sees its last value."""
        places = self.scope.mentions(name)
        taken = any(self.scope.shown[:it].rstrip().endswith("&") for it in places)
        return self.set_here.count(name) == 1 and not taken and not self._lives_on(name)

    def _lives_on(self, name: str) -> bool:
        """True if a name is read after the loop, or by the next round of a loop around it."""
        if any(self._declares(it, name) for it in _split(self.init)):
            return False
        places = self.scope.mentions(name)
        if any(it >= self.node.end for it in places):
            return True
        around = [
            it
            for it in self.scope.body.path(self.node.start, self.node.end)[:-1]
            if it.kind in ("for", "while", "do")
        ]
        if not around or re.search(rf"(?:^|,)\s*{name}\s*=[^=]", self.init):
            return False
        first = next(it for it in places if it >= around[-1].start)
        block = self.scope.block_statement(self.node.start, self.node.end)
        before = [it for it in block[0].children if it.end <= self.node.start] if block is not None else []
        sets = (it for it in before if it.kind == "simple" and it.holds(first, first + 1))
        return not any(re.search(rf"\b{name}\s*=[^=]", self.scope.shown[it.start : it.end]) for it in sets)

    def _declares(self, part: str, name: str) -> bool:
        found = _FIRST.fullmatch(part)
        typed = _FIRST.fullmatch(_split(self.init)[0]) if self.init.strip() else None
        return found is not None and found["name"] == name and typed is not None and typed["type"] is not None

    def _stays(self, text: str) -> bool:
        """True if an expression is the same in every iteration."""
        return not set(re.findall(_NAME, text)) & set(self.set_here)

    # -------------------------------------------------------------------------------------- counter

    def _counter(self, steps: Sequence[_Step]) -> tuple[_Counter, list[_Step]]:
        """Return what counts the iterations, and the other steps."""
        taken = _TAKEN.fullmatch(self.test)
        if taken is not None and not self.stepped.strip():
            name = taken["name"] or taken["name2"]
            return self._down(name, "0", None), list(steps)
        up = _UP.fullmatch(self.test)
        for it in steps:
            if up is not None and it.name in (up["name"], up["other"]) and it.up and it.by == "1":
                others = [step for step in steps if step is not it]
                if not others and it.node is not None:
                    return _Counter(it.name, "0", None), []  # A `while` that is plain.
                return _Counter(it.name, self._first(it.name)[0], None), others
            down = _DOWN.fullmatch(self.test)
            if down is not None and it.name in (down["name"], down["name2"]) and not it.up and it.by == "1":
                low, op = down["low"] or down["low2"], down["op"] or down["op2"]
                return self._down(it.name, low if op in (">=", "<=") else f"{tight(low)} + 1", it), [
                    step for step in steps if step is not it
                ]
        raise _CannotError

    def _first(self, name: str) -> tuple[str, str, Node | None]:
        """Return a counter's first value, its type where that is declared, and the statement that sets it."""
        for part in _split(self.init):
            found = _FIRST.fullmatch(part)
            if found is not None and found["name"] == name:
                return found["value"], found["type"] or "", None
        block = self.scope.block_statement(self.node.start, self.node.end)
        if block is None or self.init.strip():
            raise _CannotError
        for node in reversed([it for it in block[0].children if it.end <= self.node.start]):
            found = (
                _FIRST.fullmatch(self.scope.shown[node.begins : node.end]) if node.kind == "simple" else None
            )
            if found is not None and found["name"] == name and "," not in found["value"]:
                return found["value"], found["type"] or "", node
            if name in self.scope.words(node.start, node.end):
                break
        raise _CannotError

    def _down(self, name: str, low: str, step: _Step | None) -> _Counter:
        """Return the counter of a loop that counts down, counting up."""
        first, kind, before = self._first(name)
        low = low.removesuffix("- 1 + 1").strip() or low
        low = {"-1 + 1": "0", "(-1) + 1": "0", "0 + 1": "1"}.get(low, low)
        if (
            not self._stays(first)
            or not self._stays(low)
            or self._lives_on(name)
            or self.set_here.count(name) != 1
        ):
            raise _CannotError
        less = LESS_ONE.fullmatch(first)
        end = first if step is None else less[1].strip() if less is not None else f"{first} + 1"
        is_read = any(self.body.start <= it < self.body.end for it in self.scope.mentions(name))
        if is_read and (totals(self.scope, self.loop, name) is None or self._stores()):
            raise _CannotError
        mentioned = [it for it in self.scope.mentions(name) if not self.node.holds(it, it + 1)]
        goes = before is not None and kind and all(before.holds(it, it + 1) for it in mentioned)
        declared = kind if before is None or goes else ""
        head = f"{f'{declared} ' if declared else ''}{name} = {low}; {name} < {end}; {name}++"
        if step is not None and step.node is not None:
            raise _CannotError  # A `while` with its step in the body.
        return _Counter(name, low, head, is_read, before if goes else None)

    def _stores(self) -> bool:
        return any(isinstance(it, (ir.Store, ir.Atomic)) for it in ir.walk(self.loop.body))

    def _adds_floats(self, name: str) -> bool:
        return any(it.is_float for it in totals(self.scope, self.loop, name) or ())

    def _init(self, counter: _Counter) -> str:
        """Return the first part of a head with its counter alone."""
        parts = [it for it in map(_FIRST.fullmatch, _split(self.init)) if it is not None]
        kind = parts[0]["type"] if parts else None
        mine = next((it for it in parts if it["name"] == counter.name), None)
        if len(parts) != len(_split(self.init)) or (mine is None and parts):
            raise _CannotError
        return "" if mine is None else f"{f'{kind} ' if kind else ''}{mine['name']} = {mine['value']}"

    # --------------------------------------------------------------------------------- substitution

    def _written(self, step: _Step, at: str, counted: Type | None) -> Iterator[tuple[int, int, str]]:
        """Yield what stands for a stepped name in an iteration, wherever the body mentions it."""
        if not self._is_stepped_only(step.name) or not self._stays(step.by) or not self._stays(step.start):
            raise _CannotError
        declares = any(self._declares(it, step.name) for it in _split(self.init))
        if step.start and not declares:
            raise _CannotError  # It keeps what the head sets.
        kind = self._type(step.name)
        is_wider = isinstance(kind, ScalarType) and (kind.bits == 64 or not kind.is_signed)
        cast = f"({kind})" if is_wider and kind != counted else ""
        moved = at if step.by == "1" else f"{cast}{at} * {tight(step.by)}"
        for place in self.scope.mentions(step.name):
            if not self.body.start <= place < self.body.end or (
                step.node and step.node.holds(place, place + 1)
            ):
                continue
            if not step.up or step.start:
                own = (
                    f"{tight(step.start)} "
                    if step.start not in ("", "0")
                    else f"{step.name} "
                    if not step.start
                    else ""
                )
                sign = "+ " if step.up else "- "
                yield place, place + len(step.name), f"({own}{sign if own or not step.up else ''}{moved})"
            else:
                yield from self._moved(place, step.name, moved)

    def _moved(self, place: int, name: str, moved: str) -> Iterator[tuple[int, int, str]]:
        """Yield the edits of one mention of a name that has moved on by so many elements."""
        shown, end = self.scope.shown, place + len(name)
        based = self._based(name)
        subscript = self.scope.subscripts(end, 1)
        star = len(shown[:place].rstrip()) - 1
        if subscript is not None and _INDEX.fullmatch(shown[slice(*subscript[0])]):
            inside = shown[slice(*subscript[0])].strip()
            if based is not None:
                yield place, end, based.base
                moved = f"{based.offset} + {moved}"
            yield (
                (*subscript[0], moved) if inside == "0" else (subscript[0][0], subscript[0][0], f"{moved} + ")
            )
        elif (
            subscript is None
            and shown[star] == "*"
            and shown[:star].rstrip()[-1:] in tuple("=+-*/(,{;<>&|?:[")
        ):
            yield star, end, self._element(name, moved)
        else:
            own = name if based is None else f"{based.base} + {based.offset}"
            yield place, end, f"({own} + {moved})"

    def _element(self, name: str, moved: str) -> str:
        """Return the element that a pointer is at which has moved on."""
        based = self._based(name)
        return f"{name}[{moved}]" if based is None else f"{based.base}[{based.offset} + {moved}]"

    def _based(self, name: str) -> _Based | None:
        """Return what a pointer is of that is declared for this loop alone; `None` for any other."""
        if name not in self._pointers:
            self._pointers[name] = self._read_base(name)
        return self._pointers[name]

    def _read_base(self, name: str) -> _Based | None:
        block = self.scope.block_statement(self.node.start, self.node.end)
        kind = self._type(name)
        if block is None or not isinstance(kind, PointerType):
            return None
        for node in (it for it in block[0].children if it.end <= self.node.start and it.kind == "simple"):
            found = _BASED.fullmatch(self.scope.shown, node.start, node.end)
            if found is None or found["name"] != name:
                continue
            own = [it for it in self.scope.mentions(name) if not self.node.holds(it, it + 1)]
            is_for_this = all(node.holds(it, it + 1) for it in own)
            words = {found["base"], *re.findall(_NAME, found["offset"])}
            if is_for_this and self._is_same(kind, found["base"]) and not words & self._changed:
                return _Based(found["base"], found["offset"], node)
        return None

    def _is_same(self, kind: PointerType, base: str) -> bool:
        """True if a parameter points to what a pointer points to."""
        parameters = self.scope.subject.analysis.kernel.parameters
        types = [it.type for it in parameters if it.name == base]
        return any(isinstance(it, PointerType) and it.pointee == kind.pointee for it in types)

    @lazy_property
    def _changed(self) -> set[str]:
        """The names that the kernel sets more than once, or that are set in a loop."""
        kernel = self.scope.subject.analysis.kernel
        sets = Counter(v.name for it in ir.walk(kernel.body) if (v := _named(it)) is not None)
        own = {it.name for it in kernel.parameters}
        return {name for name, times in sets.items() if times > 1 or name in own} | set(self.set_here)

    def _walks(self, stepped: set[str]) -> Iterator[tuple[int, int, str]]:
        """Yield the places of `*a++`, which every iteration comes by once."""
        statements = self.body.children if self.body.kind == "block" else (self.body,)
        if any(isinstance(it, ir.Continue) for it in ir.walk(self.loop.body)):
            return
        for node in statements:
            text = self.scope.shown[node.begins : node.end]
            for it in re.finditer(rf"\*\s*({_NAME})\s*\+\+", text):
                start = node.begins + it.start()
                mentions = [at for at in self.scope.mentions(it[1]) if self.node.holds(at, at + 1)]
                if (
                    node.kind != "simple"
                    or re.search(r"\?|&&|\|\|", text)
                    or it[1] in stepped
                    or len(mentions) != 1
                    or self.scope.shown[:start].rstrip()[-1:] not in tuple("=+-*/(,{;<>")
                    or not self._is_stepped_only(it[1])
                ):
                    raise _CannotError
                yield start, node.begins + it.end(), it[1]


def _named(statement: ir.Statement) -> ir.Variable | None:
    """Return the variable with a name that a statement sets."""
    found = set_by(statement)
    return found if isinstance(found, ir.Variable) and not found.is_temporary else None


def _split(text: str) -> list[str]:
    """Return what commas part; nothing of an empty text."""
    return comma_parts(text) if text.strip() else []
