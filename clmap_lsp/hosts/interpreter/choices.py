"""What a value chose: a program that asks it again goes the way that it went before."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.store import Store
from clmap_lsp.hosts.tree import Expr, Name
from clmap_lsp.hosts.values import Alternatives, Number, RunTime, Text, Value

_MAX_CHOICES = 64
"""Choices that are remembered, the last ones."""
_MAX_JOINED = 64
"""Values that one choice left open which are remembered."""

Label = int | float | str


def label_of(written: Expr, value: Value) -> Label | None:
    """Return what a value is compared with, if that is the same in every run.

    That is also a constant in capitals, of which nobody knows what it is.
    """
    match value:
        case Number(number):
            return number
        case Text() if value.plain is not None:
            return value.plain
        case RunTime(text, None) if isinstance(written, Name) and text == written.name and text.isupper():
            return text
        case _:
            return None


@dataclass(slots=True)
class _Choice:
    """Of each label, what stands there for values that are open behind the choice.

    Values are told by identity: each of these was made where ways joined, and stands for nothing else. They
    are held, so that no other value gets the identity of one.
    """

    subject: RunTime
    ways: dict[Label, dict[int, Value]]
    held: list[Value] = field(default_factory=list)


class Choices:
    """The choices of one run."""

    def __init__(self) -> None:
        self._known: deque[_Choice] = deque(maxlen=_MAX_CHOICES)

    def note(
        self, subject: RunTime, ways: Mapping[Label, Store], other: Store | None, before: Store, after: Store
    ) -> None:
        """Remember what a choice left open.

        `ways` is what holds on the way of each label; `other` behind the rest, where the same may be asked.
        """
        inner = next((it for it in reversed(self._known) if it.subject is subject), None)
        choice = _Choice(subject, {label: {} for label in ways})
        further = inner.ways.keys() - ways.keys() if inner is not None and other is not None else ()
        choice.ways.update((label, {}) for label in further)
        for place, value in after.changed_since(before):
            if len(choice.held) >= _MAX_JOINED:
                break
            found = {label: store.read(place) for label, store in ways.items()}
            rest = other.read(place) if other is not None else None
            if inner is not None and rest is not None:
                found.update((it, inner.ways[it].get(id(rest), rest)) for it in further)
            is_new = isinstance(value, (RunTime, Alternatives)) and value is not rest
            if not is_new or any(it is value for it in found.values()):
                continue
            choice.held.append(value)
            for label, it in found.items():
                if it is not None:
                    choice.ways[label][id(value)] = it
        if choice.held:
            self._known.append(choice)

    def follow(self, source: Value, made: Alternatives) -> None:
        """Remember what was made of each of several values, one by one: it is chosen as they are."""
        if not isinstance(source, Alternatives) or len(source.values) != len(made.values):
            return
        for choice in self._known:
            for way in choice.ways.values():
                chosen = way.get(id(source))
                if chosen in source.values:
                    way[id(made)] = made.values[source.values.index(chosen)]
                    choice.held.append(made)

    def narrowed(self, subject: Value, label: Label, store: Store) -> Store:
        """Return what holds where the value that chose is the label's."""
        known: dict[int, Value] = {}
        for choice in self._known:
            if choice.subject is subject:
                known.update(choice.ways.get(label, {}))
        if not known:
            return store
        return Store({place: known.get(id(value), value) for place, value in store.items()})

    def widen(self, subject: Value, before: Store, ways: Sequence[Store], after: Store) -> None:
        """Let be what it was before what each way only knew more of."""
        told: dict[int, set[int]] = {}
        for choice in self._known:
            for way in choice.ways.values() if choice.subject is subject else ():
                for identity, value in way.items():
                    told.setdefault(identity, {identity}).add(id(value))
        for place, value in before.items() if told else ():
            allowed = told.get(id(value))
            if allowed is not None and all(id(it.get(place)) in allowed for it in ways):
                after[place] = value
