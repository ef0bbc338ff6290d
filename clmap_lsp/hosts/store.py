"""Where the values of a host program are, and what two ways through it leave there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from clmap_lsp.hosts.values import (
    MAX_TEXT,
    Alternatives,
    ArrayValue,
    Null,
    Number,
    Pointer,
    RunTime,
    Sizes,
    Text,
    Value,
    default_of,
    is_program,
    kept_name,
    name_of,
)

MAX_ALTERNATIVES = 8
MAX_ELEMENTS = 65
"""Elements of an array that are told apart."""
_INDEXES = (*(f"[{number}]" for number in range(MAX_ELEMENTS)), "[*]")


class Store(dict[str, Value]):
    """Values by place. A place is a variable (`scope#name`), an element (`…[3]`, `…[*]`) or a field (`….f`).

    Elements of one array whose index is not known share the place `…[*]`.
    """

    def read(self, place: str) -> Value | None:
        """Return what is at a place, `None` where nothing was written."""
        value = self.get(place)
        if value is not None:
            return value
        if not place.endswith("]"):
            return self.get(place + "[0]")
        base, _, index = place[:-1].rpartition("[")
        if index == "0" and base in self:
            return self[base]
        if index != "*":
            return self.get(base + "[*]")
        known = [self[it] for it in (base + each for each in _INDEXES[:-1]) if it in self]
        return join_values(place, known) if known else None

    def write(self, place: str, value: Value) -> None:
        """Put a value at a place."""
        if place.endswith("[*]"):
            base = place[:-3]
            before = self.get(place)
            self[place] = value if before is None else join_values(place, (before, value))
            for number in range(MAX_ELEMENTS):
                element = f"{base}[{number}]"
                if element in self:
                    self[element] = join_values(element, (self[element], value))
            if base.startswith("d"):  # A dictionary, of which any entry may be meant.
                for entry in [it for it in self if it.startswith(base + ".")]:
                    self[entry] = join_values(entry, (self[entry], value))
        elif (
            place.endswith("[0]")
            and place[:-3] in self
            and not isinstance(self[place[:-3]], (ArrayValue, Pointer, Text))
        ):
            self[place[:-3]] = value
        else:
            self[place] = value

    def forget(self, place: str) -> None:
        """Drop what stands at a place, and in its elements."""
        for it in with_elements(place):
            self.pop(it, None)

    def changed_since(self, before: Store) -> list[tuple[str, Value]]:
        """Return what does not stand here as it did: mostly few of thousands of places."""
        get = before.get
        return [(place, value) for place, value in self.items() if get(place) is not value]

    def copied(self) -> Store:
        """Return a store that changes on its own."""
        return Store(self)


def with_elements(place: str) -> Iterator[str]:
    """Yield a place, and those of its elements that are told apart."""
    yield place
    for element in _INDEXES:
        yield place + element


def named(place: str, value: Value) -> Value:
    """Return a value as it is called once it stands at a place."""
    if is_null_range(value):
        return value
    if isinstance(value, RunTime) and (_is_vague(place, value) or len(value.text) > MAX_TEXT):
        return replace(value, text=name_of(place).lstrip("."), opaque=True)
    return value


_NAMED = re.compile(r"[^\W\d]\w*(?:(?:\.|->)[^\W\d]\w*)*")
"""A variable, or a field."""


_ELEMENT = re.compile(rf"{_NAMED.pattern}(?:\[[\w\s+*-]*\])+")
"""An element of an array."""
_AT_A_NUMBER = re.compile(r"\[\d+\]\Z")


def _is_vague(place: str, value: RunTime) -> bool:
    """Tell whether a value's text says less than the name of where it is put.

    A variable's name does not, nor does an element's for one at a number: `sizes[0] = dimensions[i]`.
    """
    if not value.opaque or _NAMED.fullmatch(value.text):
        return False
    return not (_AT_A_NUMBER.search(place) and _ELEMENT.fullmatch(value.text))


def join_values(place: str, values: Iterable[Value], default: Value | None = None) -> Value:
    """Return what is known of a value that is one of several.

    `default` is the one that the program takes unless told otherwise, if that is known.
    """
    several = list(dict.fromkeys(Null() if is_null_range(it) else it for it in values))
    if len(several) == 1:
        return several[0]
    if any(isinstance(it, RunTime) for it in several):
        several = [_opened(place, it, default) if isinstance(it, Sizes) else it for it in several]
        several = [_reshaped(place, it, default) if isinstance(it, ArrayValue) else it for it in several]
    numbers = all(isinstance(it, (Number, RunTime)) for it in several)
    if numbers:
        kept = default_of(default) if default is not None else None
        texts = {it.text for it in several if isinstance(it, RunTime)}
        text = texts.pop() if len(texts) == 1 and all(isinstance(it, RunTime) for it in several) else None
        device = any(isinstance(it, RunTime) and it.device for it in several)
        return RunTime(text or name_of(place).lstrip("."), kept, opaque=True, device=device and kept is None)
    if all(isinstance(it, Sizes) for it in several):
        shapes = [it.items for it in several if isinstance(it, Sizes)]
        if len({len(it) for it in shapes}) == 1:
            chosen = default.items if isinstance(default, Sizes) else None
            return Sizes(
                tuple(
                    join_values(f"{place}[{i}]", items, chosen[i] if chosen is not None else None)
                    for i, items in enumerate(zip(*shapes, strict=True))
                )
            )
    flat: list[Value] = []
    for value in several:
        flat += value.values if isinstance(value, Alternatives) else (value,)
    things = [it for it in dict.fromkeys(flat) if not isinstance(it, RunTime)]
    if len(things) == 1 and not isinstance(things[0], Null):
        return things[0]
    if not things or things == [Null()] or len(things) > MAX_ALTERNATIVES:
        return RunTime(name_of(place).lstrip("."))
    if isinstance(default, (Pointer, Text, Null, Sizes)) and default in things:
        things.sort(key=lambda it: it != default)
    return Alternatives(tuple(things))


def is_null_range(value: Value | None) -> bool:
    """Tell whether a value is C++'s way to say that no size is given."""
    return isinstance(value, RunTime) and value.text.endswith("NullRange")


def _opened(place: str, sizes: Sizes, default: Value | None) -> Sizes:
    """Return sizes that may as well be others, which nothing is known of."""
    return Sizes(
        tuple(
            RunTime(f"{name_of(place).lstrip('.')}[{index}]", it.value if sizes == default else None)
            if isinstance(it, Number)
            else it
            for index, it in enumerate(sizes.items)
        )
    )


def _reshaped(place: str, array: ArrayValue, default: Value | None) -> ArrayValue:
    """Return an array that may as well have another shape."""
    if not isinstance(array.shape, Sizes):
        return array
    chosen = default.shape if isinstance(default, ArrayValue) else None
    return replace(array, shape=_opened(f"{place}.shape", array.shape, chosen))


def join(one: Store | None, two: Store | None, default: int | None) -> Store | None:
    """Return what holds behind two ways; `default` is the way (0 or 1) that the program takes by itself."""
    if one is None or two is None:
        return one if two is None else two
    if one is two:
        return one
    result = one.copied()
    get = one.get
    for place, theirs in two.changed_since(one):
        mine = get(place)
        if mine is None:
            inherited = one.read(place)
            result[place] = theirs if inherited is None else _joined(place, inherited, theirs, default)
        elif mine != theirs:
            result[place] = _joined(place, mine, theirs, default)
    if len(result) == len(two):
        return result
    for place in one.keys() - two.keys():
        mine = one[place]
        if place.endswith("]"):
            inherited = two.read(place)
            if inherited is not None and inherited != mine:
                result[place] = _joined(place, mine, inherited, default)
    return result


def _joined(place: str, mine: Value, theirs: Value, default: int | None) -> Value:
    chosen = None if default is None else (mine, theirs)[default]
    return join_values(place, (mine, theirs), chosen)


def texts_of(value: Value | None) -> Iterator[Text]:
    """Yield the strings that a value may be."""
    match value:
        case Text():
            yield value
        case Alternatives(values):
            for it in values:
                yield from texts_of(it)


def program_field(store: Store, kernel: str) -> str:
    """Return the field that a kernel's program is taken out of, where it is no program that is known."""
    program = store.read(f"{kernel}.program")
    return kept_name(program.place) if isinstance(program, Pointer) and not is_program(program) else ""


def program_of(store: Store, kernel: str | None) -> tuple[list[Text], Text]:
    """Return the texts that a kernel's program may be made of, and its build options."""
    program = store.read(f"{kernel}.program") if kernel is not None else None
    programs = program.values if isinstance(program, Alternatives) else (program,)
    sources: list[Text] = []
    options = Text()
    for it in programs:
        if isinstance(it, Text):
            sources.append(it)
        elif isinstance(it, Pointer):
            sources += texts_of(store.read(it.place + ".source"))
            options = next(texts_of(store.read(it.place + ".options")), options)
    return sources, options
