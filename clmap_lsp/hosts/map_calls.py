"""`std::map` and its kin, in which C++ programs keep what they built by name.

An entry stands where the map's index would name it. An iterator is a place of its own beside the entry, with
its key and value as fields, so that `it->second` is what was put there whichever way led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clmap_lsp.hosts.tree import Call, Index, Member
from clmap_lsp.hosts.values import Pointer, RunTime, Sizes, Value

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import Interpreter


def _entry(interpreter: Interpreter, call: Call, key: Value) -> str | None:
    """Return the place of a map's entry; `None` for what is no map."""
    if not isinstance(call.function, Member) or interpreter.path.endswith(".py"):
        return None
    place = interpreter.place(call.function.base)
    if place is None or "map" not in interpreter.types.get(place, ""):
        return None
    text = interpreter.text(key)
    return f"{place}.{text.plain}" if text is not None and text.plain is not None else f"{place}[*]"


def _put(interpreter: Interpreter, call: Call, key: Value, value: Value) -> Value | None:
    """Put a value into a map; return an iterator and whether it is new, as `emplace` does."""
    entry = _entry(interpreter, call, key)
    if entry is None or interpreter.store is None:
        return None
    interpreter.put(entry, value)
    iterator = _iterator(interpreter, entry, key)
    interpreter.put(f"{entry}.put.first", iterator)
    interpreter.put(f"{entry}.put.second", RunTime("is new"))
    return Pointer(f"{entry}.put")


def _iterator(interpreter: Interpreter, entry: str, key: Value) -> Pointer:
    held = interpreter.store.read(entry) if interpreter.store is not None else None
    interpreter.put(f"{entry}.at.first", key)
    if held is not None:
        interpreter.put(f"{entry}.at.second", held)
    return Pointer(f"{entry}.at")


def _emplaced(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return _put(interpreter, call, values[1], values[2]) if len(values) == 3 else None


def _inserted(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`m.insert({key, value})`, `m.insert(std::make_pair(key, value))`."""
    match values[1:]:
        case [Sizes(items=(key, value))]:
            return _put(interpreter, call, key, value)
        case _:
            return None


def _found(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    entry = _entry(interpreter, call, values[1]) if len(values) == 2 else None
    return _iterator(interpreter, entry, values[1]) if entry is not None else None


def _held(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`m.at(key)`, `v.at(index)`."""
    entry = _entry(interpreter, call, values[1]) if len(values) == 2 else None
    callee = call.function
    if entry is None and isinstance(callee, Member) and len(call.arguments) == 1:
        return (
            None
            if interpreter.path.endswith(".py")
            else interpreter.value(Index(callee.base, call.arguments[0]))
        )
    return interpreter.store.read(entry) if entry is not None and interpreter.store is not None else None


MAPS: dict[str, Callable[[Interpreter, Call, list[Value]], Value | None]] = {
    **dict.fromkeys((".emplace()", ".try_emplace()", ".insert_or_assign()"), _emplaced),
    ".insert()": _inserted,
    ".find()": _found,
    ".at()": _held,
}
