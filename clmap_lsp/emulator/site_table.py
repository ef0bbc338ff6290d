"""What each access site of a kernel is: statement, space, buffer, width."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.layout import KIND_CONSTANT, KIND_GLOBAL, KIND_LOCAL, KIND_PRIVATE
from clmap_lsp.emulator.moved import Moved, moved_by
from clmap_lsp.emulator.plan import Plan, pointer_target
from clmap_lsp.source.ir import (
    AsyncCopy,
    Atomic,
    Expression,
    ImageRead,
    ImageWrite,
    Read,
    Site,
    Touch,
    touches,
    walk,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import AddressSpace, PointerType

SPACES = {KIND_GLOBAL: "global", KIND_CONSTANT: "constant", KIND_LOCAL: "local", KIND_PRIVATE: "private"}


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """One half of an access: trace site 2 * site for its load, 2 * site + 1 for its store."""

    site: Site
    is_store: bool
    span: Span
    buffer: str | None
    space: str
    size: int
    moved: Moved
    op: str

    @property
    def trace_site(self) -> int:
        """The number in trace entries."""
        return 2 * self.site + int(self.is_store)


def site_table(plan: Plan) -> tuple[SiteInfo, ...]:
    """Return every access site that is not to private memory."""
    return tuple(it for it in _all_sites(plan) if it.space != "private")


def _all_sites(plan: Plan) -> Iterator[SiteInfo]:
    statements = tuple(walk(plan.kernel.body))
    moved = moved_by(statements)
    for it in statements:
        match it:
            case ImageRead():
                yield SiteInfo(it.site, False, it.span, _image(it.image), "global", 16, _TEXEL, "load")
            case ImageWrite():
                yield SiteInfo(it.site, True, it.span, _image(it.image), "global", 16, _TEXEL, "store")
            case _:
                prefix = (
                    "async-" if isinstance(it, AsyncCopy) else "atomic-" if isinstance(it, Atomic) else ""
                )
                for touch in touches(it):
                    yield from _halves(plan, touch, moved[touch.site], it.span, prefix)


_TEXEL = Moved(16, 16, 16)


def _halves(plan: Plan, touch: Touch, moved: Moved, span: Span, prefix: str) -> Iterator[SiteInfo]:
    buffer, space = _where(plan, touch.pointer)
    for op in ("load", "store") if touch.op == "atomic" else (touch.op,):
        is_store, name = op == "store", f"{prefix}{op}"
        yield SiteInfo(touch.site, is_store, span, buffer, space, touch.size, moved, name)


def _image(image: Expression) -> str | None:
    return image.variable.name if isinstance(image, Read) else None


def _where(plan: Plan, address: Expression) -> tuple[str | None, str]:
    """Return the buffer's name, where it is one, and its space."""
    target = pointer_target(address, plan.targets, plan.numbers)
    for buffer in plan.buffers:
        if buffer.number == target:
            return buffer.variable.name, SPACES[buffer.kind]
    space = address.type.space if isinstance(address.type, PointerType) else AddressSpace.GLOBAL
    return None, "global" if space is AddressSpace.GENERIC else space.value
