"""How far apart the bytes are that neighbouring work-items touch, in the author's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Polynomial, global_id, local_id, varies_in_launch
from clmap_lsp.analysis.model import Stride

if TYPE_CHECKING:
    from clmap_lsp.access.facts import Facts
    from clmap_lsp.access.records import Access


def stride(access: Access, dimension: int, facts: Facts) -> Stride:
    """Return the distance between work-items that are neighbours along a dimension.

    Neighbours of one work-group: `get_local_id` and `get_global_id` both grow by one, `get_group_id` stays.
    The text is missing where the distance is not the same for all of them.
    """
    if access.unknown is not None or access.indirect:
        return Stride(None, None)
    distance = moved_by(access.offset, dimension)
    if distance is None or varies_in_launch(distance):
        return Stride(None, None)
    return Stride(_in_bytes(access, distance), facts.number(distance))


def moved_by(value: Polynomial, dimension: int) -> Polynomial | None:
    """Return by how much a value differs between neighbours of a work-group; `None` if that varies."""
    by_global_id, by_local_id = (
        value.coefficient(global_id(dimension)),
        value.coefficient(local_id(dimension)),
    )
    return None if by_global_id is None or by_local_id is None else by_global_id + by_local_id


def _in_bytes(access: Access, distance: Polynomial) -> str:
    """Write `4*N` bytes as `N*4`: a distance in elements times the bytes of one."""
    if distance.value is not None:
        return str(distance.value)
    unit = access.scalar_bytes
    elements = distance.exact_quotient(Polynomial.constant(unit))
    if elements is None or unit == 1:
        return access.text(distance)
    text = access.text(elements)
    return f"({text})*{unit}" if " " in text else f"{text}*{unit}"
