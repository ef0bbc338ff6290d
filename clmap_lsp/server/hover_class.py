"""What kind of access one is, for hovers: its index, what leads to it, what it could gain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.escaping import code_span, markdown

if TYPE_CHECKING:
    from clmap_lsp.access.classify import Classified
    from clmap_lsp.analysis.model import AccessAnalysis


def class_lines(it: AccessAnalysis) -> Iterator[str]:
    """Yield what kind of access it is, in words."""
    access = it.access
    guard = f" while {code_span(access.guard_text)}" if access.guard_text else ""
    yield f"- index {code_span(access.index_text)}{guard}"
    if access.unknown is not None:
        yield f"- the address is not known: {markdown(str(access.unknown))}"
        if access.indirect:
            yield f"- computed from {', '.join(map(code_span, access.indirect_through))}"
        return
    if access.indirect:
        through = ", ".join(map(code_span, access.indirect_through))
        yield f"- data-dependent, through {through}"
    if it.classified is not None:
        yield from _gain(it.classified)


def _gain(found: Classified) -> Iterator[str]:
    """Yield what local memory could do for it: elements are used again, or loaded in another order."""
    if (factors := found.factors) is None:
        return
    chances = (
        ("work-items use the same elements", factors.reuse),
        ("the order of its loads", factors.order_change),
    )
    can = " and ".join(word for word, has in chances if has)
    yield f"- local memory could gain from this: {can}" if can else "- nothing to gain from local memory"
