"""What a program says of kernels to a tuner, kept until it launches them.

It stands in the store beside each kernel's name, so that it holds on the ways where it was said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.opencl_calls import handles
from clmap_lsp.hosts.tree import Expr, Member, Name
from clmap_lsp.hosts.values import (
    Alternatives,
    Number,
    Pointer,
    Sizes,
    Text,
    Value,
    is_handle,
    is_kernel,
    text_of,
)

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import Interpreter

MAX_VALUES = 64
"""Values of one parameter that are looked at."""
TUNER = "tuner"
SCALAR = "scalar"
"""How the places of tuners, and of the scalars that they were given, start."""


@dataclass(frozen=True, slots=True)
class Change:
    """How parameters change a size: an action with one of them, or a function of the size and of them all."""

    kind: str
    dimension: int
    names: tuple[str, ...]
    action: Value


def as_value(change: Change) -> Value:
    """Return a change as it stands in the store."""
    names = Sizes(tuple(Text((it,)) for it in change.names))
    return Sizes((Text((change.kind,)), Number(change.dimension), names, change.action))


def as_change(value: Value) -> Change | None:
    """Return a change that was put into the store."""
    match value:
        case Sizes(items=(Text((kind,)), Number(dimension), Sizes(items=names), action)):
            return Change(str(kind), int(dimension), tuple(map(text_of, names)), action)
        case _:
            return None


def noted(interpreter: Interpreter, start: str) -> list[Value]:
    """Return what was noted under a name, in order."""
    store = interpreter.known
    found: list[Value] = []
    while (it := store.get(f"{start}[{len(found)}]")) is not None:
        found.append(it)
    return found


def note(interpreter: Interpreter, start: str, value: Value) -> None:
    """Note one more thing under a name."""
    if interpreter.store is not None:
        interpreter.store[f"{start}[{len(noted(interpreter, start))}]"] = value


def kernels_in_value(interpreter: Interpreter, value: Value) -> list[str]:
    """Return the places of the kernels of a tuner that a value means: one, or those that one is made of."""
    several = value.values if isinstance(value, Alternatives) else (value,)
    items = [it for one in several for it in (one.items if isinstance(one, Sizes) else (one,))]
    places = [place for it in items if is_kernel(it) for place in handles(interpreter, it, None)]
    return [it for it in places if f"{it}.tuned.global" in interpreter.known]


def owner_of(values: Sequence[Value]) -> str | None:
    """Return the place of the tuner that a method is called of."""
    owner = values[0]
    return owner.place if isinstance(owner, Pointer) and owner.place.startswith(TUNER) else None


def items_of(interpreter: Interpreter, value: Value, expression: Expr | None = None) -> tuple[Value, ...]:
    """Return the elements of a list, as far as they are known; `expression` names it, if it is a variable."""
    if isinstance(expression, (Name, Member)) and not isinstance(value, Sizes):
        place = interpreter.place(expression)
        if place is not None and (count := min(interpreter.n_elements(Pointer(place)), MAX_VALUES)):
            return tuple(interpreter.read(f"{place}[{index}]") for index in range(count))
    match value:
        case Sizes(items):
            return items
        case Alternatives(values):
            return items_of(interpreter, values[0])
        case Pointer(place, moved=False) if not is_handle(value):
            count = min(interpreter.n_elements(value), MAX_VALUES)
            return tuple(interpreter.read(f"{place}[{index}]") for index in range(count))
        case _:
            return ()


def names_in(interpreter: Interpreter, value: Value) -> tuple[str, ...]:
    """Return the strings of a list, or the only one."""
    several = items_of(interpreter, value) or (value,)
    texts = [interpreter.text(it) for it in several]
    return tuple(it.plain for it in texts if it is not None and it.plain)


def last_word(expression: Expr) -> str:
    """Return what an enumerator is called, whatever it is a part of."""
    return expression.name if isinstance(expression, (Name, Member)) else ""
