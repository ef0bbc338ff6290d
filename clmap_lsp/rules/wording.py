"""Words that several rules share, so that findings read alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.exactness import Exactness
from clmap_lsp.findings import Severity
from clmap_lsp.rules.thresholds import SMALL_SHARE
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel


_LONGEST_PLACE = 100
"""Characters. Longer ones come from conditions and helpers; the text that is pointed at says it better."""


def expression(access: AccessAnalysis) -> str:
    """Return the access in the author's words, `A[row*N + k]`, if anybody would read them."""
    text = access.access.place_text
    is_read = access.access.index_text != "?" and len(text) <= _LONGEST_PLACE
    return text if is_read else f"{access.access.buffer}[…]"


def number(value: float) -> str:
    """Return a count as people write it: 4, 8.5, 2.13."""
    return f"{round(value, 2):g}"


def plural(value: float, noun: str) -> str:
    """Return `1 sector`, `8.5 sectors`."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def distance(access: AccessAnalysis) -> str | None:
    """Say how far apart consecutive work-items are, with the launch's value behind a formula."""
    if access.stride.text is None:
        return None
    value = access.stride.bytes
    if value == 0:
        rows = access.row_stride
        apart = (
            f", and rows of the work-group are {rows.text} bytes apart" if rows.bytes and rows.text else ""
        )
        return f"consecutive work-items share the same bytes{apart}"
    shown = access.stride.text
    if value is not None and shown == str(value) and value < 0:
        return f"consecutive work-items are {-value} bytes apart, the later one first"
    if value is not None and str(value) != shown:
        shown = f"{shown} = {value}"
    return f"consecutive work-items are {shown} bytes apart"


def why_scattered(access: AccessAnalysis) -> str:
    """Say why there is no fixed distance between work-items."""
    if access.access.indirect:
        through = ", ".join(f"`{it}`" for it in access.access.indirect_through)
        return f"the index comes from {through}, with the contents that the launch gives"
    return "consecutive work-items are not a fixed distance apart"


def share_of(group: Sequence[AccessAnalysis]) -> float | None:
    """Return the part of the kernel's traffic that accesses cause together; accesses of one site once."""
    shares = {it.access.site: it.share for it in group}
    return None if None in shares.values() else sum(it or 0.0 for it in shares.values())


def share(group: Sequence[AccessAnalysis]) -> str:
    """Say how much of the kernel's traffic in this kind of memory accesses cause."""
    part = share_of(group)
    if part is None:
        return ""
    kind = "local" if group[0].access.space is AddressSpace.LOCAL else "global"
    percent = part * 100
    shown = "all" if percent > 99.95 else f"{percent:.0f} %" if percent >= 1 else "less than 1 %"
    together = f"{len(group)} such accesses, " if len(group) > 1 else ""
    return f"{together}{shown} of the kernel's {kind} memory traffic"


def scope(kernel: KernelAnalysis, group: Sequence[AccessAnalysis], device: DeviceModel) -> str:
    """Say how much it matters, and what launch and device it holds for."""
    own = share(group)
    if not kernel.totals.complete:
        own = own.replace("of the kernel's", "of what is known of the kernel's")
    if kernel.images and own:
        own += ", images not counted"
    parts = [it for it in (own, held_for(kernel, device)) if it]
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def held_for(kernel: KernelAnalysis, device: DeviceModel) -> str:
    """Say which launch and device the figures hold for, and what of that was inferred."""
    launch = kernel.launch
    if launch is None:
        return f"on {device.id}"
    from clmap_lsp.launch.model import OFFSET, Origin, ScalarArgument
    from clmap_lsp.launch.resolve import open_parts

    scalars = [
        f"{name}={value}" for name, value in launch.arguments.items() if isinstance(value, ScalarArgument)
    ]
    if launch.origin is Origin.INFERRED:
        origin = "launch inferred"
    else:
        guessed = [
            it
            for it in open_parts(launch)
            if it in ("global", "local", OFFSET) or launch.scalar(it) is not None
        ]
        defaults = [name for name, it in launch.origins.items() if it is Origin.HOST_DEFAULT]
        assumed = f", by default: {', '.join(defaults)}" if defaults else ""
        where = "from the host code" if launch.origin is Origin.HOST else launch.origin.value
        origin = f"launch {where}{assumed}" + (f", inferred: {', '.join(guessed)}" if guessed else "")
    return f"{', '.join([launch.sizes, *scalars])} ({origin}) on {device.id}"


def graded(group: Sequence[AccessAnalysis], severity: Severity) -> Severity:
    """Return the severity, lowered to a hint for accesses that hardly matter."""
    part = share_of(group)
    return Severity.HINT if part is not None and part < SMALL_SHARE else severity


def figures(access: AccessAnalysis) -> dict[str, Any]:
    """Return an access's figures for tools."""
    out: dict[str, Any] = {
        "buffer": access.access.buffer,
        "index": access.access.index_text,
        "method": access.method,
        "stride": access.stride.text,
        "stride_bytes": access.stride.bytes,
        "share": access.share,
        "in_general": access.in_general,
        "indirect": list(access.access.indirect_through),
    }
    if access.per_request is not None:
        out["per_request"] = {
            "min": access.per_request.min,
            "mean": access.per_request.mean,
            "max": access.per_request.max,
            "ideal": access.per_request.ideal,
            "unit": access.per_request.unit,
        }
    return out


def sampled(access: AccessAnalysis) -> str:
    """Say that a figure is not exact, where it is not."""
    return " (sampled)" if access.method is Exactness.SAMPLED else ""
