"""What a function of the host program calls, and how long it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache

from clmap_lsp.hosts.tree import Block, Call, Function, If, Index, Loop, Member, Name, New, Switch


@lru_cache(maxsize=4096)
def _names(function: _Identity) -> frozenset[str]:
    return frozenset(_called(function.function.first + function.function.body))


class _Identity:
    """A function compared by identity: comparing trees would take longer than walking one."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __hash__(self) -> int:
        return id(self.function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.function is self.function


def called_names(function: Function) -> frozenset[str]:
    """Return the names of all functions that a function calls."""
    return _names(_Identity(function))


def indexes(block: Block, name: str) -> bool:
    """Tell whether a block takes an element of something by a variable."""
    rest: list[object] = [block]
    while rest:
        it = rest.pop()
        if isinstance(it, tuple):
            rest.extend(it)
        elif isinstance(it, Mapping):
            rest.extend(it.values())
        elif isinstance(it, Index) and it.index == Name(name):
            return True
        elif is_dataclass(it) and not isinstance(it, type):
            rest.extend(getattr(it, each.name) for each in fields(it))
    return False


def weight(block: Block, limit: int) -> int:
    """Return the number of statements in a block, counted up to a limit."""
    count = 0
    rest = list(block)
    while rest and count < limit:
        statement = rest.pop()
        count += 1
        match statement:
            case If(then=then, otherwise=otherwise):
                rest += (*then, *otherwise)
            case Loop(start=start, body=body, step=step):
                rest += (*start, *body, *step)
            case Switch(cases=cases):
                rest += (it for _, inner in cases for it in inner)
    return count


def _called(node: object) -> Iterator[str]:
    rest: list[object] = [node]
    while rest:
        it = rest.pop()
        if isinstance(it, tuple):
            rest.extend(it)
        elif isinstance(it, Mapping):
            rest.extend(it.values())
        elif isinstance(it, Call) and isinstance(it.function, (Name, Member)):
            yield it.function.name
        elif isinstance(it, New):
            yield it.type
        if is_dataclass(it) and not isinstance(it, type):
            rest.extend(getattr(it, each.name) for each in fields(it))
