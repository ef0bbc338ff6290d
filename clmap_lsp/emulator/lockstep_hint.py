"""Where it is said how to run kernels that leave out barriers within a warp: what they share is volatile."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.emulator.jit import JitRun
from clmap_lsp.emulator.plan import pointer_target
from clmap_lsp.emulator.result import Fault, FaultKind
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.ir import Load, walk

Ids = tuple[int, int, int]


def lockstep_hint(job: JitRun, faults: Sequence[Fault]) -> str | None:
    """Return a note where all races are on volatile memory, between work-items of one SIMD group."""
    races = [it for it in faults if it.kind is FaultKind.DATA_RACE]
    if job.settings.lockstep or not races:
        return None
    plan, width = job.code.plan, job.state.sizes.width
    loads = [it for it in walk(job.kernel.body) if isinstance(it, Load) and it.is_volatile]
    marked = {pointer_target(it.pointer, plan.targets, plan.numbers) for it in loads}
    names = {it.variable.name for it in plan.buffers if it.number in marked}
    if not all(it.buffer in names and _is_within(it, job.launch, width) for it in races):
        return None
    return (
        "these races are between work-items of one SIMD group, on volatile memory: "
        f"`--sub-group-synchronous {width}` takes them to run in lockstep"
    )


def _is_within(race: Fault, launch: Launch, width: int) -> bool:
    """Tell whether both work-items are of one SIMD group."""
    group = race.work_group
    if group is None or group != race.other_work_group:
        return False
    if race.work_item is None or race.other_work_item is None:
        return False
    one, other = (_linear(launch, group, it) for it in (race.work_item, race.other_work_item))
    return one // width == other // width


def _linear(launch: Launch, group: Ids, item: Ids) -> int:
    """Return a work-item's linear local id."""
    linear, step = 0, 1
    offsets = launch.global_offset or (0,) * len(launch.local_size)
    for d, side in enumerate(launch.local_size):
        start = group[d] * side
        linear += (item[d] - offsets[d] - start) * step
        step *= min(side, launch.global_size[d] - start)
    return linear
