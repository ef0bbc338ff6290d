"""Which functions of a file have to do with a name.

Every maker of a field and every class with launches asks a file for such functions. Asking each function for
each name takes the square of the file: what a kind of question needs is put together once a file, when it is
first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clmap_lsp.hosts.tree import Declare, Function, Module
from clmap_lsp.hosts.walking import (
    OfTree,
    called_names,
    handed_on,
    made_names,
    mentioned_names,
    written_names,
)


class ByName:
    """Functions of a file, found by names that follow from each of them alone."""

    def __init__(self, names_of: Callable[[Function], Iterable[str]]) -> None:
        def find(module: Module) -> dict[str, list[int]]:
            found: dict[str, list[int]] = {}
            for number, function in enumerate(module.functions):
                for name in names_of(function):
                    found.setdefault(name, []).append(number)
            return found

        self._known = OfTree(find)

    def numbers(self, module: Module, names: Iterable[str]) -> set[int]:
        """Return where functions with one of some names stand in the file's order."""
        known = self._known(module)
        return {number for name in names for number in known.get(name, ())}

    def __call__(self, module: Module, *names: str) -> list[Function]:
        """Return the functions with one of some names, in the file's order."""
        return in_order(module, self.numbers(module, names))


def in_order(module: Module, numbers: Iterable[int]) -> list[Function]:
    """Return functions by where they stand in their file."""
    return [module.functions[it] for it in sorted(numbers)]


named = ByName(lambda it: (it.name,))
methods_of = ByName(lambda it: (it.owner,) if it.owner else ())
"""By their class; a file's free functions have none."""
constructors = ByName(lambda it: (it.owner,) if it.owner == it.name else ())
"""Of C++, by their class."""
mentioning = ByName(mentioned_names)
"""By variables, fields and functions that stand in them."""
making = ByName(made_names)
"""By classes that they may make objects of, and what they call."""
writing = ByName(written_names)
"""By fields, and variables of others, that they may give another value."""
_calling = ByName(called_names)
_handing = ByName(lambda it: () if it.owner else handed_on(it))


def users_in(module: Module, names: Iterable[str], handed: str) -> list[Function]:
    """Return a file's functions that call one of some names or hand one on to others, in their order."""
    return in_order(module, _calling.numbers(module, names) | _handing.numbers(module, (handed,)))


def holders_in(module: Module, name: str) -> frozenset[str]:
    """Return the names of a file's classes of which objects of a class are fields."""
    return frozenset(_holders(module).get(name, ()))


def has_object(module: Module, name: str) -> bool:
    """Tell whether objects of a class are variables outside of functions, or fields of others."""
    return name in _holders(module) or name in _of_globals(module)


@OfTree
def _holders(module: Module) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for cls in module.classes.values():
        for type_name in _held(cls.fields):
            found.setdefault(type_name, []).append(cls.name)
    return found


@OfTree
def _of_globals(module: Module) -> frozenset[str]:
    return frozenset(_held(it for it in module.globals if isinstance(it, Declare)))


def _held(declared: Iterable[Declare]) -> Iterator[str]:
    """Yield the types of what is declared as an object, and as no way to one."""
    return (it.type for it in declared if not it.is_pointer and not it.is_reference)
