"""What hovers say, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from clmap_lsp.analysis.rests_on import GUESSED
from clmap_lsp.escaping import code_span, markdown
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.image import NO_LAYOUT
from clmap_lsp.launch.model import Origin
from clmap_lsp.rules.patterns import better_shapes
from clmap_lsp.server.hover_class import class_lines
from clmap_lsp.time.wording import bound_text, parts_text, seconds_text

if TYPE_CHECKING:
    from clmap_lsp.analysis.images import ImageAnalysis
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.server.emulations import Emulation
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.time.model import Prediction

SHOWN_PARTS = 4
"""Parts of a predicted time that a hover has room for."""
_BLOCKS = " ▁▂▃▄▅▆▇█"


def access_text(
    snapshot: Snapshot,
    kernel: KernelAnalysis | None,
    accesses: Sequence[AccessAnalysis],
    emulation: Emulation | None,
    staging: Sequence[str] = (),
) -> str:
    """Return the hover of one place: a load, a store, or both for `a[i] += x`.

    `staging` are lines from the database of measurements: about local memory, and other splits of the loop.
    """
    first = accesses[0].access
    operations = " and ".join(dict.fromkeys(it.access.direction.value for it in accesses))
    kind = code_span(str(first.element_type))
    lines = [f"**{code_span(first.buffer)}** {first.space.value} {operations} of {kind}", ""]
    for it in accesses:
        lines += _cost_lines(kernel, it)
    lines += class_lines(accesses[0])
    if (stride := accesses[0].stride).text is not None:
        same = stride.bytes == 0
        apart = "access the same element" if same else f"are {stride.text} bytes apart"
        lines.append(f"- consecutive work-items {apart}")
    lines += staging
    if emulation is not None and emulation.result is not None and kernel is not None:
        lines += _emulated_lines(snapshot, kernel, accesses[0], emulation)
    if kernel is not None and kernel.launch is not None:
        lines += _guessed_lines(kernel)
        lines += ["", f"*{markdown(kernel.launch.describe())} on {snapshot.analysis.device.id}*"]
    return "\n".join(lines)


def image_text(snapshot: Snapshot, kernel: KernelAnalysis, it: ImageAnalysis) -> str:
    """Return the hover of a read or write of an image."""
    access = it.access
    lines = [
        f"**{code_span(access.buffer)}** image {access.direction.value} of {code_span(access.element_type)}"
    ]
    lines += ["", f"- texel {code_span(access.place_text)}"]
    touched = it.request_text
    label = "" if it.count.method is Exactness.EXACT else f" ({it.count.method})"
    lines.append(f"- {markdown(it.missing)}" if touched is None else f"- **{touched}** a request{label}")
    if axis := it.axis_of(it.along):
        lines.append(f"- consecutive work-items follow each other in {axis}")
    lines.append(f"- what that costs is unknown: {NO_LAYOUT}")
    lines += _guessed_lines(kernel)
    if kernel.launch is not None:
        lines += ["", f"*{markdown(kernel.launch.describe())} on {snapshot.analysis.device.id}*"]
    return "\n".join(lines)


def _guessed_lines(kernel: KernelAnalysis) -> Iterator[str]:
    """Yield what of a kernel's figures hangs on guesses, and what is known of its launch, by its origin."""
    by_origin: dict[str, list[str]] = {}
    for it in kernel.rests_on:
        if it.kind in ("macro", "scalar", "image", "global", "local", "offset", "contents"):
            by_origin.setdefault(it.origin, []).append(it.describe())
    for origin in sorted(by_origin, key=lambda it: it != GUESSED):
        yield f"- {origin}: {markdown(', '.join(by_origin[origin]))}"


def _cost_lines(kernel: KernelAnalysis | None, it: AccessAnalysis) -> Iterator[str]:
    cost = it.per_request
    name = it.access.direction.value
    if cost is None:
        yield f"- {name}: {markdown(it.reason if it.is_never_executed else f'cost unknown, {it.reason}')}"
        return
    spread = "" if cost.min == cost.max else f" ({cost.min} to {cost.max})"
    share = "" if it.share is None else f", {it.share:.0%} of the kernel's {it.access.space.value} traffic"
    label = "" if it.method is Exactness.EXACT else f" ({it.method})"
    unit = cost.unit.removesuffix("s") if cost.mean == 1 else cost.unit
    figure = f"**{number(cost.mean)} {unit} a request**{spread}, ideal {number(cost.ideal)}"
    yield f"- {name}: {figure}{share}{label}"
    if len(it.pieces) > 1:
        yield f"- each access is {len(it.pieces)} instructions, of {', '.join(map(str, it.pieces))} bytes"
    if it.in_general:
        yield f"- in general: {markdown(it.in_general)}"
    if kernel is not None and (shapes := better_shapes(kernel, it)):
        yield f"- {markdown(shapes)}"


def _emulated_lines(
    snapshot: Snapshot, kernel: KernelAnalysis, it: AccessAnalysis, emulation: Emulation
) -> Iterator[str]:
    assert emulation.result is not None
    here = snapshot.program.position(it.access.span)
    moved = snapshot.program.position(kernel.span).row - emulation.row
    for site in emulation.result.get("sites") or []:
        place = site.get("location") or {}
        if place.get("row", 0) + moved == here.row and place.get("column") == here.column:
            requests, sectors = site.get("requests"), site.get("sectors")
            cost = f", {sectors} sectors" if sectors else ""
            yield f"- emulator: {site.get('executions')} executions in {requests} requests{cost}"


def kernel_text(snapshot: Snapshot, kernel: KernelAnalysis, emulation: Emulation | None) -> str:
    """Return the hover of a kernel's name: launch, totals, locality, local memory."""
    lines = [f"**kernel {code_span(kernel.name)}**", ""]
    if kernel.launch is None:
        lines.append("no launch: " + markdown("; ".join(kernel.launch_problems or ("none was found",))))
        return "\n".join(lines)
    lines.append(f"- launch: {markdown(_launch_text(kernel.launch))}")
    lines += _guessed_lines(kernel)
    lines += _time_lines(snapshot.times.get(kernel.name))
    totals = kernel.totals
    at_least = "" if totals.complete else "at least "
    if totals.sectors:
        loads, stores = totals.global_load.sectors, totals.global_store.sectors
        lines.append(f"- global memory: {at_least}{loads:,} sectors loaded, {stores:,} stored")
    if totals.wavefronts:
        loads, stores = totals.local_load.wavefronts, totals.local_store.wavefronts
        lines.append(f"- local memory: {at_least}{loads:,} wavefronts loaded, {stores:,} stored")
    lines += _local_memory_lines(snapshot, kernel)
    lines += _locality_lines(emulation)
    lines += [f"- {markdown(note)}" for note in kernel.notes]
    lines += ["", f"*on {snapshot.analysis.device.id}*"]
    return "\n".join(lines)


def _launch_text(launch: Launch) -> str:
    """Return a launch with where it comes from, once."""
    text = launch.describe()
    return text if launch.origin is Origin.INFERRED else f"{text}, {launch.source}"


def _time_lines(found: Prediction | None) -> Iterator[str]:
    """Yield the predicted time and what its longest parts are made of."""
    if found is None:
        return
    whole = f"{seconds_text(found.seconds)}, {seconds_text(found.low)} to {seconds_text(found.high)}"
    yield f"- time: {whole}, bound by {bound_text(found.bound)} ({found.facts.name})"
    for name, seconds, why in islice(parts_text(found), SHOWN_PARTS):
        yield f"  - {name}: {seconds_text(seconds)}" + (f": {why}" if why else "")
    yield from (f"  - {it}" for it in found.caveats)


def _local_memory_lines(snapshot: Snapshot, kernel: KernelAnalysis) -> Iterator[str]:
    used = local_bytes(kernel)
    if not used:
        return
    yield f"- local memory: {used:,} bytes a work-group"
    limits = snapshot.analysis.device.limits
    whole = limits.local_bytes_per_compute_unit
    if whole is None or kernel.launch is None:
        return
    fits = whole // used
    caps = [fits]
    if limits.groups_per_compute_unit is not None:
        caps.append(limits.groups_per_compute_unit)
    if limits.simd_groups_per_compute_unit is not None:
        width = snapshot.analysis.device.simd_width
        caps.append(limits.simd_groups_per_compute_unit // max(1, -(-kernel.launch.group_items // width)))
    bound = " and is what limits them" if fits == min(caps) < max(caps) else ""
    yield f"- it lets {fits} work-groups be resident on a compute unit{bound}"


def local_bytes(kernel: KernelAnalysis) -> int:
    """Return the bytes of local memory that a work-group uses: the kernel's own, and its arguments."""
    from clmap_lsp.launch.model import LocalArgument
    from clmap_lsp.source.ir import VariableKind
    from clmap_lsp.source.types import PointerType

    declared = sum(it.type.size for it in kernel.kernel.variables if it.kind is VariableKind.LOCAL_OBJECT)
    arguments = kernel.launch.arguments if kernel.launch else {}
    given = sum(
        argument.count * it.type.pointee.size
        for it in kernel.kernel.parameters
        if isinstance(argument := arguments.get(it.name), LocalArgument) and isinstance(it.type, PointerType)
    )
    return declared + given


def _locality_lines(emulation: Emulation | None) -> Iterator[str]:
    if emulation is None:
        return
    if emulation.result is None:
        yield f"- not emulated: {markdown(str(emulation.failure))}"
        return
    metrics: dict[str, Any] = dict(emulation.result.get("metrics") or {})
    psl = metrics.get("psl")
    if isinstance(psl, list) and psl:
        blocks = f"`{sparkline(psl)}` {psl[0]:.2f} to {psl[-1]:.2f}"
        span = f"from single bytes to blocks of {2 ** (len(psl) - 1):,}"
        yield f"- parallel spatial locality (PSL), {span}: {blocks}"
    if faults := emulation.faults:
        count = "1 fault**:" if len(faults) == 1 else f"{len(faults)} faults**, the first:"
        yield f"- **{count} {faults[0].get('kind')}: {markdown(str(faults[0].get('detail', '')))}"


def work_item_text(kernel: KernelAnalysis, call: str, dimension: int) -> str:
    """Return the hover of a work-item function: which way each buffer is walked along its dimension."""
    launch = kernel.launch
    lines = [f"**{code_span(call)}**, dimension {dimension}", ""]
    if dimension == 0:
        lines.append("- neighbours in this dimension share a SIMD group: it should walk the fastest index")
    if launch is not None and dimension < len(launch.global_size):
        size, group = launch.global_size[dimension], launch.local_size[dimension]
        lines.append(f"- {size} work-items in groups of {group} ({launch.origin.value})")
    walks = dict.fromkeys(
        f"- in {code_span(it.access.buffer)} "
        + f" {it.access.direction.value} {code_span(it.access.index_text)}: "
        + ("nothing moves" if it.stride.bytes == 0 else f"a step is {it.stride.text} bytes")
        for it in kernel.accesses
        if dimension == 0 and it.stride.text is not None
    )
    return "\n".join([*lines, *walks])


def sparkline(values: Sequence[float]) -> str:
    """Return values between 0 and 1 as a line of block characters."""
    return "".join(_BLOCKS[max(0, min(8, round(it * 8)))] for it in values)


def number(value: float) -> str:
    """Return a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
