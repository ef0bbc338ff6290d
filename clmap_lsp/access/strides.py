"""How far apart neighbouring work-items, or consecutive turns of a loop, touch memory.

All strides are in bytes. They are differences of the offset polynomial, so they hold for every launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clmap_lsp.access import algebra
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    Atom,
    Indirect,
    LoopSymbol,
    Polynomial,
    Unknown,
    global_id,
    group_id,
    local_id,
    local_size,
    poly,
    varies_in_group,
)
from clmap_lsp.access.records import Access

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch

_LANES_TRIED: Final = 64
_LARGEST_ALIGNMENT: Final = 4096


@dataclass(frozen=True, slots=True)
class Stride:
    """The step between two neighbours."""

    access: Access
    bytes: Polynomial | None
    """The one step that all neighbours are apart; `None` if it differs or is not known."""
    steps: tuple[int, ...] = ()
    """Where it differs in a known way: the steps between the first work-items, one period of them."""
    reason: str = ""
    """Why nothing is known."""

    @property
    def number(self) -> int | None:
        """The step, if it is one number."""
        return None if self.bytes is None else self.bytes.value

    @property
    def is_contiguous(self) -> bool:
        """True if neighbours touch neighbouring elements, in rising order."""
        return self.number == self.access.size

    @property
    def is_uniform(self) -> bool:
        """True if neighbours touch the same element."""
        return self.number == 0

    @property
    def words(self) -> str:
        """The step for a person: `N*4 bytes apart`."""
        size = self.access.size
        if self.bytes is None:
            return _varying_words(self.steps, size) if self.steps else self.reason
        match self.bytes.value:
            case None:
                return f"{_in_elements(self.bytes, self.access)} bytes apart"
            case 0:
                return "at the same address"
            case number if number == size:
                return "side by side"
            case number if number == -size:
                return "side by side, backwards"
            case number if number < 0:
                return f"{-number} bytes apart, backwards"
            case number:
                return f"{number} bytes apart"


def _in_elements(step: Polynomial, access: Access) -> str:
    """Return `N*4` for 4*N: elements, then their size."""
    elements = step.exact_quotient(Polynomial.constant(access.size))
    if elements is None:
        return access.text(step)
    text = access.text(elements)
    return f"({text})*{access.size}" if len(elements.terms) > 1 else f"{text}*{access.size}"


def lane_stride(access: Access, dimension: int = 0) -> Stride:
    """Return how far apart work-items that are neighbours in a dimension touch memory, in one group."""
    if access.unknown is not None:
        return Stride(access, None, (), f"not known: {access.unknown}")
    if access.cooperative:
        return Stride(access, None, (), "copied by the whole work-group")
    ids = (global_id(dimension), local_id(dimension))
    step = _difference(access.offset, ids)
    if not varies_in_group(step):
        return Stride(access, step)
    if any(isinstance(leaf, (Indirect, Unknown)) for leaf in step.leaves):
        through = ", ".join(f"`{name}`" for name in access.indirect_through)
        return Stride(access, None, (), f"wherever {through} says" if through else "not known")
    steps = _tried(access.offset, ids)
    return Stride(access, None, steps, "different between work-items" if not steps else "")


def loop_stride(access: Access, loop: LoopSymbol) -> Stride:
    """Return how far an access moves in one turn of a loop around it."""
    if access.unknown is not None:
        return Stride(access, None, (), f"not known: {access.unknown}")
    step = _difference(access.offset, (loop,))
    if loop not in step.leaves:
        return Stride(access, step)
    return Stride(access, None, (), f"different from turn to turn of `{loop.name}`")


def is_uniform(access: Access) -> bool:
    """True if all work-items of a group touch the same address in the same turn."""
    return access.unknown is None and not varies_in_group(access.offset)


def base_alignment(access: Access, launch: Launch | None = None) -> int | None:
    """Return the largest power of two (bytes, at most 4096) that divides where a work-group starts.

    That is the address of its first work-item, in every group and turn; buffers start at multiples of 4096.
    `None` if the address is not known. With a launch its scalars and sizes are used, else only what holds
    for all.
    """
    if access.unknown is not None:
        return None
    facts = Facts(launch)
    start: dict[Atom, Polynomial | int] = {}
    for dimension in range(3):
        size = facts.number(poly(local_size(dimension)))
        group = poly(group_id(dimension))
        start[local_id(dimension)] = 0
        start[global_id(dimension)] = group * (poly(local_size(dimension)) if size is None else size)
    offset = algebra.substitute(access.offset, start, facts)
    least = _LARGEST_ALIGNMENT
    for monomial, coefficient in offset.terms.items():
        factor = coefficient
        for atom in monomial:
            known = facts.number(poly(atom))
            factor *= 1 if known is None else known
        least = min(least, factor & -factor) if factor else least
    return least


def _difference(offset: Polynomial, symbols: Sequence[Atom]) -> Polynomial:
    moved = algebra.substitute(offset, {symbol: poly(symbol) + 1 for symbol in symbols})
    return moved - offset


def _tried(offset: Polynomial, ids: Sequence[Atom]) -> tuple[int, ...]:
    """Return one period of the steps between the first work-items, all else at 0; empty if not known."""
    import numpy as np

    positions = np.arange(_LANES_TRIED + 1, dtype=np.int64)
    environment: dict[Atom, object] = dict.fromkeys(offset.leaves, 0)
    if any(not isinstance(leaf, LoopSymbol) and leaf not in ids for leaf in _inside(offset, ids)):
        return ()
    environment.update(dict.fromkeys(ids, positions))
    try:
        steps = [int(it) for it in np.diff(evaluate(offset, environment))]  # type: ignore[arg-type]
    except UnknownValueError:
        return ()
    for period in range(1, _LANES_TRIED // 2 + 1):
        if all(steps[at] == steps[at % period] for at in range(len(steps))):
            return tuple(steps[:period])
    return ()


def _inside(offset: Polynomial, ids: Sequence[Atom]) -> frozenset[Atom]:
    """Return what the terms that move with the ids depend on."""
    moving, _ = offset.split(frozenset(ids))
    return frozenset(moving.leaves)


def _varying_words(steps: tuple[int, ...], size: int) -> str:
    usual, odd = steps[0], [it for it in steps if it != steps[0]]
    run = len(steps)
    if len(odd) == 1 and steps[-1] == odd[0]:
        if usual == 0:
            return f"the same address for runs of {run} work-items, then {_plain(odd[0], size)}"
        return f"{_plain(usual, size)} in runs of {run} work-items, then {odd[0]} bytes on"
    return f"in steps of {', '.join(map(str, steps[:8]))}{', …' if run > 8 else ''} bytes"


def _plain(step: int, size: int) -> str:
    return "side by side" if step == size else f"{step} bytes apart"
