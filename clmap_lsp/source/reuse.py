"""What an edit leaves as it was: functions of an earlier reading that need not be lowered again.

A function's IR follows from its own text (with the qualifiers and attributes that normalisation took out),
from what the program declares outside of functions, and from the heads and guesses that it names. If these
are as before, the earlier IR holds.
Where the function also stands at the same place, the very same objects are used again, so that later rooms
can tell by identity; where it has moved, it is copied with the places that its text has now.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Function, Initializer, Kernel, Variable
from clmap_lsp.source.lowering import GUESSED_TYPES, Object, Reported
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.source.span import LazySpan, Span

if TYPE_CHECKING:
    from tree_sitter import Node

    from clmap_lsp.source.functions import Head, Lowered
    from clmap_lsp.source.ir import Guess, Problem
    from clmap_lsp.source.lowering import Unit
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.syntax import Removed, SyntaxTree

FunctionKey = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A kernel, the functions that went into it, and what inlining reported."""

    kernel: Kernel
    parts: tuple[Lowered, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class ProgramCache:
    """What a later reading of an edited text may use again. It belongs to one file and its options."""

    tree: SyntaxTree = field(repr=False)
    environment: FunctionKey
    functions: Mapping[str, Lowered]
    keys: FunctionKeys = field(repr=False)
    """Of the functions."""
    kernels: Mapping[str, BuiltKernel]
    objects: Mapping[str, tuple[Object, Initializer | None]]


# --------------------------------------------------------------------------------------------------- keys


class Keys:
    """The keys of one reading: what its function bodies follow from, apart from their places.

    A body follows from its own text and from what the names mean that it looks up outside of itself: text of
    declarations (with what *their* names mean), heads of functions, guesses. So an edit in one head, one
    constant, or a name half typed leaves all functions as they are that do not use it; and while a body is
    torn open, the others do not care.
    """

    def __init__(self, tree: SyntaxTree, options: BuildOptions) -> None:
        self._tree = tree
        self._meanings: dict[str, list[FunctionKey]] = {}
        self._names: dict[str, set[str]] = {}
        for guess in tree.guesses:
            self._meanings[guess.name] = [_guess_key(guess)]
        if any("type" in it.role for it in tree.guesses):
            self._meanings[GUESSED_TYPES] = [("",)]
        self.environment: FunctionKey = (options.language,)
        """What every function follows from; what the other options do shows in the text."""

    def define(self, names: Iterable[str], node: Node, end: int) -> None:
        """Note that the text from a node's start to `end` gives names their meaning."""
        if distinct := dict.fromkeys(names):
            key = _text_key(self._tree, node.start_byte, end)
            for name in distinct:
                self._meanings.setdefault(name, []).append(key)

    def of(self, head: Head, outer: frozenset[str]) -> FunctionKey:
        """Return what a function's IR follows from; `outer` are the names that its body looked up outside."""
        if head.node.has_error:
            return (next(_TORN),)  # How the grammar recovers depends on what stands around: like no other.
        own = _text_key(self._tree, head.node.start_byte, head.node.end_byte)
        names = outer.union(self._in_head(head))
        return (head.unique, *own, *self._meaning(it for it in names if it != head.name))

    def _in_head(self, head: Head) -> set[str]:
        """Return the names in a function's head that are more than what its parameters are called."""
        text = self._tree.text
        end = head.node.end_byte if head.body is None else head.body.start_byte
        words = Counter(_WORD.findall(text[head.node.start_byte : end]))
        nodes = [it for it, _, _ in head.parameters if it is not None]
        words.subtract(text[it.start_byte : it.end_byte] for it in nodes)
        return {name for name, count in words.items() if count > 0}

    def _meaning(self, names: Iterable[str]) -> FunctionKey:
        """Return the declarations of names, with those of all names in them, however indirectly."""
        reached = {it: None for it in names if it in self._meanings}
        waiting, searched = list(reached), set[str]()
        for step in waiting:
            for key in self._meanings[step]:
                text = str(key[0])
                if text not in searched:  # One enumeration declares thousands.
                    searched.add(text)
                    words = self._named_in(text)
                    waiting += words - reached.keys()
                    reached.update(dict.fromkeys(words))
        return tuple((it, *self._meanings[it]) for it in sorted(reached))

    def _named_in(self, text: str) -> set[str]:
        """Return the names with a meaning in a declaration; long tables are searched once only."""
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = self._meanings.keys() & set(_WORD.findall(text))
        return known


_OWN_KEYS = 6
"""What a key holds of a function itself, before the meanings of names; fewer if the function is torn."""
_TORN = count()
"""Numbers, and no objects: later rooms keep a key's hash only, and a gone object's hash comes back."""


class FunctionKeys:
    """The keys of a reading's functions, made when first asked for: a file that is read once needs none."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._known: dict[str, FunctionKey] = {}
        self._waiting: dict[str, tuple[Head, frozenset[str]]] = {}

    def __getitem__(self, function: str) -> FunctionKey:
        """Return the key of the function with this unique name."""
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = self._keys.of(*self._waiting[function])
        return known

    def rests_on(self, function: str) -> frozenset[str] | None:
        """Return the outside names that a function follows from, those in declarations of such names too.

        `None` where that cannot be told.
        """
        key = self[function]
        if len(key) < _OWN_KEYS:
            return None
        return frozenset(meaning[0] for meaning in key[_OWN_KEYS:] if isinstance(meaning, tuple))

    def know(self, function: str, key: FunctionKey) -> None:
        """Keep a key that is there already."""
        self._known[function] = key

    def expect(self, head: Head, outer: frozenset[str]) -> None:
        """Keep what a function's key is made of."""
        self._waiting[head.unique] = head, outer


_WORD = re.compile(r"[A-Za-z_]\w*")


_TextKey = tuple[
    str,
    tuple[tuple[int, str, tuple[str, ...]], ...],
    tuple[tuple[int, str, tuple[str, ...]], ...],
    tuple[tuple[int, str, tuple[str, ...]], ...],
    tuple[tuple[int, str], ...],
]


def _text_key(tree: SyntaxTree, start: int, end: int) -> _TextKey:
    return (
        tree.text[start:end],
        _relative(tree.qualifiers, start, end),
        _relative(tree.attributes, start, end),
        _relative(tree.pragmas, start, end),
        tuple((at - start, text) for at, text in tree.spellings.items() if start <= at < end),
    )


def _relative(items: Sequence[Removed], start: int, end: int) -> tuple[tuple[int, str, tuple[str, ...]], ...]:
    low = bisect_left(items, start, key=_offset)
    found = []
    while low < len(items) and items[low].offset < end:
        item = items[low]
        found.append((item.offset - start, item.word, item.arguments))
        low += 1
    return tuple(found)


def _offset(item: Removed) -> int:
    return item.offset


def _guess_key(guess: Guess) -> tuple[str, str, str]:
    return guess.value or "", guess.name, guess.role


# ------------------------------------------------------------------------------------------------ program


def keep_objects(
    unit: Unit, initializers: dict[Variable, Initializer], cache: ProgramCache
) -> dict[Variable, Variable]:
    """Use the program-scope variables of before where they are the same and stand at the same place.

    Returns what stands now for each variable of before that could not be kept.
    """
    moved: dict[Variable, Variable] = {}
    kept: dict[Variable, Initializer] = {}
    for name, (before, made) in cache.objects.items():
        now = unit.symbols.get(name)
        if not isinstance(now, Object):
            continue
        if _is_same(before, made, now, initializers.get(now.variable)):
            unit.symbols[name] = before
            if made is not None:
                kept[now.variable] = made
        else:
            moved[before.variable] = now.variable
    in_order = [kept.get(variable) or _pointing(made, kept) for variable, made in initializers.items()]
    initializers.clear()
    initializers.update({made.variable: made for made in in_order})
    return moved


def _pointing(made: Initializer, kept: Mapping[Variable, Initializer]) -> Initializer:
    """Let the pointers in an object point to the variables that were kept."""
    if not made.addresses:
        return made
    addresses = tuple((at, kept[it].variable if it in kept else it, by) for at, it, by in made.addresses)
    return replace(made, addresses=addresses)


def _is_same(before: Object, made: Initializer | None, now: Object, fresh: Initializer | None) -> bool:
    """Tell whether an object is as before, its place and its data included."""
    old, new = before.variable, now.variable
    if (old.span, old.type, old.kind) != (new.span, new.type, new.kind):
        return False
    return replace(now, variable=old) == before and (made and made.data) == (fresh and fresh.data)


def program_objects(
    unit: Unit, initializers: Mapping[Variable, Initializer]
) -> dict[str, tuple[Object, Initializer | None]]:
    """Return the program-scope variables by name, for a later `keep_objects`."""
    return {
        name: (symbol, initializers.get(symbol.variable))
        for name, symbol in unit.symbols.items()
        if isinstance(symbol, Object)
    }


# -------------------------------------------------------------------------------------------------- moves


def reused(
    unit: Unit, previous: SyntaxTree, head: Head, before: Lowered, moved_objects: Mapping[Variable, Variable]
) -> Lowered:
    """Return a function of an earlier tree as it stands now."""
    is_in_place = (
        before.origin == head.node.start_byte
        and is_at_same_place(head, before, moved_objects)
        and _stands_still(previous, unit.tree, before, head)
    )
    return before if is_in_place else _Mover(unit, previous, head, before, moved_objects).lowered()


def is_at_same_place(head: Head, before: Lowered, moved_objects: Mapping[Variable, Variable]) -> bool:
    """Tell whether a function is typed where it was, and names no variable of the program that is not."""
    function = before.function
    return (
        function.span == head.span
        and function.name_span == head.name_span
        and not any(it in moved_objects for it in before.objects)
    )


def _stands_still(previous: SyntaxTree, tree: SyntaxTree, before: Lowered, head: Head) -> bool:
    """Tell whether every place in a function is what it was: white space may have moved inside of it."""
    is_same = _is_typed_alike(previous, tree, before, head)
    path = head.span.path
    return all(
        (is_same and span.definition is None and span.path == path) or tree.span(*span.at) == span
        for span in before.spans
    )


def _is_typed_alike(previous: SyntaxTree, tree: SyntaxTree, lowered: Lowered, head: Head) -> bool:
    """Tell whether a function is typed in its file character by character as it was, macro uses and all.

    A use that is torn open runs on into the functions behind it, whose text is then part of its arguments.
    """
    before, now = lowered.function.span, head.span
    start, end = head.node.start_byte, head.node.end_byte
    old_end = lowered.origin + end - start
    return (
        now.path == before.path
        and before.definition is None
        and now.definition is None
        and previous.files[before.path].text[before.start : before.end]
        == tree.files[before.path].text[now.start : now.end]
        and previous.token_spans.uses_within(lowered.origin, old_end, before)
        and tree.token_spans.uses_within(start, end, now)
    )


def _moved_spans(
    previous: SyntaxTree, tree: SyntaxTree, lowered: Lowered, head: Head
) -> tuple[LazySpan, ...]:
    """Return the places of a function as they are now, in order.

    Most are in text that is typed as before: those need no look at the tokens. What came out of a macro does,
    because its definition may stand elsewhere now.
    """
    path, shift = head.span.path, head.span.start - lowered.function.span.start
    is_same = _is_typed_alike(previous, tree, lowered, head)
    delta = head.node.start_byte - lowered.origin

    def moved(span: LazySpan) -> LazySpan:
        at = span.at[0] + delta, span.at[1] + delta
        if not is_same or span.path != path or span.definition is not None:
            return LazySpan(tree.token_spans, at)
        return LazySpan.known(at, Span(path, span.start + shift, span.end + shift))

    return tuple([moved(it) for it in lowered.spans])


class _Mover(Rewriter):
    """Copies a function with the places that its text has now."""

    def __init__(
        self,
        unit: Unit,
        previous: SyntaxTree,
        head: Head,
        before: Lowered,
        moved_objects: Mapping[Variable, Variable],
    ) -> None:
        self.unit = unit
        self.head = head
        self.before = before
        self.places = _moved_spans(previous, unit.tree, before, head)
        self.spans: dict[int, Span] = dict(zip(map(id, before.spans), self.places, strict=True))
        self.spans[id(before.function.span)] = head.span
        self.spans[id(before.function.name_span)] = head.name_span
        self.variables: dict[Variable, Variable] = dict(moved_objects)

    def span(self, span: Span) -> Span:
        return self.spans.get(id(span), span)

    def variable(self, variable: Variable) -> Variable:
        return self.variables.get(variable, variable)

    def fresh(self, variables: Sequence[Variable]) -> tuple[Variable, ...]:
        """Copy variables to their new places."""
        copies = tuple(replace(it, span=self.span(it.span)) for it in variables)
        self.variables.update(zip(variables, copies, strict=True))
        return copies

    def lowered(self) -> Lowered:
        """Return the function."""
        before, function = self.before, self.before.function
        parameters = self.fresh(function.parameters)
        variables = self.fresh(function.variables)
        own = self.fresh(tuple(before.initializers))
        initializers = {
            copy: Initializer(copy, made.data)
            for copy, made in zip(own, before.initializers.values(), strict=True)
        }
        body = None if function.body is None else self.block(function.body)
        copied = Function(
            function.name,
            parameters,
            function.result,
            body,
            variables,
            function.is_kernel,
            function.attributes,
            self.head.name_span,
            self.head.span,
        )
        guesses = tuple(self.unit.guesses.get(it.name, it) for it in before.guesses)
        problems = tuple(
            Reported(replace(it.problem, span=self.span(it.problem.span)), it.name) for it in before.problems
        )
        objects = tuple(self.variable(it) for it in before.objects)
        return replace(
            before,
            function=copied,
            objects=objects,
            guesses=guesses,
            initializers=initializers,
            problems=problems,
            spans=self.places,
            origin=self.head.node.start_byte,
        )
