"""What changes the length of a list of C++ that was made with one: `std::vector<T> list(n)`."""

from __future__ import annotations

from clmap_lsp.hosts.interpreter import Interpreter
from clmap_lsp.hosts.tree import LISTS, AddressOf, Call, Expr, Index, Member, Name
from clmap_lsp.hosts.values import ArrayValue, Number, RunTime, Sizes, Value, text_of

_READING = frozenset(
    (
        *("size", "cbegin", "cend", "crbegin", "crend", "empty"),
        *("capacity", "max_size", "reserve", "shrink_to_fit", "length"),
    )
)
"""Methods that leave a list as it is."""
_LETTING_WRITE = frozenset(("data", "begin", "end", "rbegin", "rend", "front", "back", "at", "fill"))
"""Methods that leave it as long as it is; others may write its elements then."""


def changed_length(interpreter: Interpreter, call: Call, owner: Value, values: list[Value]) -> None:
    """Follow a method of a list that nothing else knows: what it leaves, or that it may be of any length."""
    callee = call.function
    _handed_over(interpreter, call)
    if not isinstance(callee, Member) or callee.name in _READING:
        return
    is_array = isinstance(owner, ArrayValue)
    if callee.name in _LETTING_WRITE and is_array:
        place = interpreter.place(callee.base)
        if place is not None:
            interpreter.open_elements(place)
        return
    if not is_array and not (
        callee.name in ("resize", "assign") and _is_empty_list(interpreter, callee.base)
    ):
        return
    place = interpreter.place(callee.base)
    if place is None or interpreter.store is None:
        return
    length = _length(callee.name, values) or RunTime(f"{text_of(interpreter.value(callee.base))}.size()")
    inner: tuple[Value, ...] = ()
    if isinstance(owner, ArrayValue) and isinstance(owner.shape, Sizes):
        inner = tuple(RunTime(f"{text_of(length)}[…].size()") for _ in owner.shape.items[1:])
    item = owner.item_bytes if isinstance(owner, ArrayValue) else None
    interpreter.store.forget(place)
    interpreter.put(place, ArrayValue(Sizes((length, *inner)), item))


def _handed_over(interpreter: Interpreter, call: Call) -> None:
    """Open the elements of lists that a function which is not known may take by reference."""
    for given in call.arguments:
        it = (
            given.operand.base if isinstance(given, AddressOf) and isinstance(given.operand, Index) else given
        )
        project, path = interpreter.project, interpreter.path
        if isinstance(it, Name) and (project.macro(it.name, path) or project.constant(it.name, path)):
            continue
        place = interpreter.place(it) if isinstance(it, (Name, Member)) else None
        if place is not None and isinstance(interpreter.known.get(place), ArrayValue):
            interpreter.open_elements(place)


def _length(name: str, values: list[Value]) -> Value | None:
    """Return how many elements a list has then, where that is said."""
    first = values[0] if values else None
    if name == "clear" and not values:
        return Number(0)
    is_count = isinstance(first, (Number, RunTime))
    if (name == "resize" and is_count) or (
        name == "assign" and isinstance(first, Number) and len(values) > 1
    ):
        return first
    return None


def _is_empty_list(interpreter: Interpreter, base: Expr) -> bool:
    """Tell whether a variable is declared as a list of which nothing was said so far."""
    place = interpreter.place(base) if isinstance(base, (Name, Member)) else None
    if place is None or interpreter.types.get(place, "") not in LISTS:
        return False
    return not any(it.startswith((place + "[", place + ".")) or it == place for it in interpreter.known)
