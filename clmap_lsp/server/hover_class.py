"""The class of an access for hovers: index, matrix and offset, MAP, Jang's pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.access.classify import Classified
    from clmap_lsp.analysis.model import AccessAnalysis


def class_lines(it: AccessAnalysis) -> Iterator[str]:
    """Yield what kind of access it is, in words and as a matrix."""
    access = it.access
    guard = f" while `{access.guard_text}`" if access.guard_text else ""
    yield f"- index `{access.index_text}`{guard}"
    if access.unknown is not None:
        yield f"- the address is not known: {access.unknown}"
        return
    if access.indirect:
        through = ", ".join(f"`{name}`" for name in access.indirect_through)
        yield f"- data-dependent, through {through}"
    if it.classified is not None:
        yield from _classified_lines(it.classified)


def _classified_lines(found: Classified) -> Iterator[str]:
    names = []
    if found.imap is not None:
        names.append(found.imap.value.capitalize())
    if found.map_name is not None:
        names.append(found.map_name)
    elif found.emap is not None:
        names.append(f"eMAP {found.emap:02d}")
    if found.patterns:
        names.append(", ".join(found.patterns))
    if names:
        yield f"- {' · '.join(names)}"
    if found.map_name is None and (reason := found.map_reason or found.emap_reason or found.imap_reason):
        yield f"- no MAP: {reason}"
    if (factors := found.factors) is not None:
        chances = (("data reuse", factors.reuse), ("access order", factors.order_change))
        can = " and ".join(word for word, has in chances if has)
        yield f"- local memory could gain from {can}" if can else "- nothing to gain from local memory"
    if found.entries:
        yield ""
        yield from _matrix_lines(found)
        yield ""


def _matrix_lines(found: Classified) -> Iterator[str]:
    """Yield M and o as a table, one row a dimension of the array, the outermost first."""
    heads = [f"`{name}`" for name in found.columns]
    yield "| | " + " | ".join([*heads, "offset"]) + " |"
    yield "|---" * (len(heads) + 2) + "|"
    last = len(found.entries) - 1
    for at, row in enumerate(found.entries):
        name = "column" if at == last else "row" if at == last - 1 else f"dimension {last - at}"
        yield f"| {name} | " + " | ".join([*(str(entry) for entry in row), found.offset[at]]) + " |"
