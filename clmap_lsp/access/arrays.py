"""Short private arrays whose elements are known one by one, at an index that varies.

`int s[3] = {a, b, c}; s[i]` is a choice between three values, and `s[i] = d` changes each where `i` says
so. Whatever lies outside of an array is no concern: a kernel that goes there has no defined result.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clmap_lsp.access import algebra
from clmap_lsp.access.expressions import Environment
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import Polynomial
from clmap_lsp.access.values import Value
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.types import ArrayType, ScalarType, Type

LONGEST: Final = 16
"""Elements of the arrays that are followed so: each makes the value of a read one choice larger."""


def element_at(
    environment: Environment, root: Variable, offset: Polynomial, kind: Type, facts: Facts
) -> Polynomial | None:
    """Return what a read at a varying byte offset gives; `None` where an element is not known."""
    index = _index(root, offset, kind)
    if index is None:
        return None
    found: Polynomial | None = None
    for place in reversed(_reached(root, index, kind, facts)):
        value = environment.get((root, place * kind.size, kind.size))
        if not isinstance(value, Polynomial):
            return None
        found = value if found is None else _either(index, place, value, found, facts)
    return found


def store_at(
    environment: Environment, root: Variable, offset: Polynomial, kind: Type, value: Value, facts: Facts
) -> bool:
    """Change the known elements as a store at a varying byte offset does; false if nobody can tell how.

    Elements that are not known stay so.
    """
    index = _index(root, offset, kind)
    if index is None or not isinstance(value, Polynomial):
        return False
    for place in _reached(root, index, kind, facts):
        key = root, place * kind.size, kind.size
        before = environment.get(key)
        if isinstance(before, Polynomial):
            environment[key] = _either(index, place, value, before, facts)
        else:
            environment.pop(key, None)
    return True


def _either(index: Polynomial, place: int, there: Polynomial, other: Polynomial, facts: Facts) -> Polynomial:
    """Return a value if the index is a place, else another one."""
    if there == other:
        return there
    condition = algebra.equal(index, Polynomial.constant(place), facts)
    return algebra.select(condition, there, other, facts)


def _index(root: Variable, offset: Polynomial, kind: Type) -> Polynomial | None:
    """Return the number of the element, if the object is a short array of just this type."""
    n_elements, element = 1, root.type
    while isinstance(element, ArrayType):
        n_elements, element = n_elements * (element.length or 0), element.element
    if element != kind or not isinstance(kind, ScalarType) or not kind.is_integer:
        return None
    return offset.exact_quotient(Polynomial.constant(kind.size)) if 1 < n_elements <= LONGEST else None


def _reached(root: Variable, index: Polynomial, kind: Type, facts: Facts) -> list[int]:
    """Return the elements that the index may name."""
    low, high = facts.interval(index)
    every: Iterable[int] = range(root.type.size // kind.size)
    return [it for it in every if (low is None or low <= it) and (high is None or it <= high)]
