"""From the fault log of a run to faults that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from clmap_lsp.counted import counted
from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.address_space import Buffer
from clmap_lsp.emulator.compare_exchange import unchecked
from clmap_lsp.emulator.element_name import element_name
from clmap_lsp.emulator.jit import JitRun
from clmap_lsp.emulator.result import PARTLY_SET, Fault, FaultKind, Limit, Role, Stop
from clmap_lsp.emulator.site_table import SPACES
from clmap_lsp.source.ir import Barrier, BarrierScope, Collective, CopyObject, Kernel, Load, walk
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import ArrayType, PointerType, VectorType

_KINDS = {
    at.FAULT_OOB_READ: FaultKind.OUT_OF_BOUNDS_READ,
    at.FAULT_OOB_WRITE: FaultKind.OUT_OF_BOUNDS_WRITE,
    at.FAULT_RACE_RW: FaultKind.DATA_RACE,
    at.FAULT_RACE_WW: FaultKind.DATA_RACE,
    at.FAULT_UNINITIALISED: FaultKind.UNINITIALISED_READ,
    at.FAULT_DIVISION: FaultKind.DIVISION_BY_ZERO,
    at.FAULT_OVERFLOW: FaultKind.INTEGER_OVERFLOW,
    at.FAULT_MISALIGNED: FaultKind.MISALIGNED_ACCESS,
    at.FAULT_DIVERGENCE: FaultKind.BARRIER_DIVERGENCE,
    at.FAULT_UNKNOWN_FUNCTION: FaultKind.UNKNOWN_FUNCTION,
    at.FAULT_UNSUPPORTED: FaultKind.UNSUPPORTED,
    at.FAULT_WRITE_CONSTANT: FaultKind.WRITE_TO_CONSTANT,
    at.FAULT_WRITE_ONLY: FaultKind.READ_OF_WRITE_ONLY,
    at.FAULT_UNWAITED: FaultKind.COPY_NOT_WAITED_FOR,
    at.FAULT_NO_COPY: FaultKind.WAIT_WITHOUT_COPY,
    at.FAULT_INDEX: FaultKind.INDEX_PAST_ARRAY,
    at.FAULT_INVALID: FaultKind.UNINITIALISED_READ,
    at.FAULT_EVENTS: FaultKind.BARRIER_DIVERGENCE,
    at.FAULT_COPY_OVERLAPS: FaultKind.OVERLAPPING_COPY,
}


_OF_VALUES = frozenset(
    {
        FaultKind.OUT_OF_BOUNDS_READ,
        FaultKind.OUT_OF_BOUNDS_WRITE,
        FaultKind.DATA_RACE,
        FaultKind.UNINITIALISED_READ,
        FaultKind.MISALIGNED_ACCESS,
        FaultKind.INDEX_PAST_ARRAY,
        FaultKind.DIVISION_BY_ZERO,
        FaultKind.INTEGER_OVERFLOW,
    }
)
"""Faults that rest on an address or a divisor."""


def faults_of(job: JitRun, unsure: frozenset[Span]) -> tuple[Fault, ...]:
    """Return the faults of a run, in the order in which they were met; one for each place and kind.

    Left out are those at `unsure` places: what stands there rests on a value that is not known.
    """
    met = unchecked(job.kernel, _logged(job))
    logged = [it for it in met if it.kind not in _OF_VALUES or unsure.isdisjoint(_places(it))]
    past = [it.span for it in logged if it.kind is FaultKind.INDEX_PAST_ARRAY]
    # What lies past an array inside a larger object is often padding: one report of the access is enough.
    kept = (
        it for it in logged if it.kind is not FaultKind.UNINITIALISED_READ or not _overlaps(it.span, past)
    )
    return (*_not_yet_written(job, tuple(kept)), *_divergences(job), *_limits(job))


def _places(fault: Fault) -> tuple[Span, ...]:
    return (fault.span,) if fault.other_span is None else (fault.span, fault.other_span)


def _overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(it.path == span.path and it.start < span.end and span.start < it.end for it in others)


def _rows(job: JitRun) -> Iterator[tuple[list[int], int]]:
    """Yield one row of the log for each place and kind, and how often it was met; each race once.

    Both of its sides may have met a race, the one that came first in one work-item and second in another, or
    as a read and as a write (`a[i] += 1`): what one side told is left out at the other, where the log has
    another race of that place to tell.
    """
    count = int(job.state.words[at.FAULT_COUNT])
    rows = job.state.faults.reshape(-1, at.FAULT_WORDS)[:count].tolist()
    chosen: dict[int, list[int]] = {}
    tellers: dict[object, int] = {}
    for row in rows:
        code = row[0]
        race = _pair(job, row)
        if code not in chosen and (race is None or race not in tellers):
            chosen[code] = row
            tellers[race] = code
        elif race is None and chosen[code][4] & at.PARTLY and not row[4] & at.PARTLY:
            chosen[code] = row  # What was not written at all is worse than what was in part.
    times = {code: int(job.state.fault_tally[code]) for code in chosen}
    for row in rows:
        code = row[0]
        if code not in times:  # All that it has to tell was told from the other side.
            times[code] = 0
            times[tellers[_pair(job, row)]] += int(job.state.fault_tally[code])
    for code, row in chosen.items():
        yield row, times[code]


@per_kernel
def _moved_whole(kernel: Kernel) -> dict[int, str]:
    """Return what reads of more than one number at once move, by site."""
    found = {}
    for statement in walk(kernel.body):
        match statement:
            case Load(site=site, variable=variable) if isinstance(variable.type, VectorType):
                found[site] = "vector"
            case CopyObject(load_site=site, type=kind):
                found[site] = "vector" if isinstance(kind, VectorType) else "object"
            case _:
                pass
    return found


def _pair(job: JitRun, row: list[int]) -> object:
    """Return what is the same for both sides of a race; None for other faults."""
    place, kind = divmod(row[0], at.FAULT_KINDS)
    if kind not in _RACES:
        return None
    return row[4], frozenset((job.code.places[place], job.code.places[row[6]]))


def _logged(job: JitRun) -> Iterator[Fault]:
    for (code, item, group, first, second, *others, writes, _, _), times in _rows(job):
        place, kind = divmod(code, at.FAULT_KINDS)
        other_item, other_site = others if kind != at.FAULT_INVALID else [item, first - 1]
        buffer = _buffer(job, kind, second)
        detail, offset = _detail(kind, first, second, buffer)
        element = None
        if buffer is not None and offset is not None and 0 <= offset < max(buffer.size, 1):
            element = element_name(buffer.name, buffer.plan.variable.type, offset)
        if element is not None and kind == at.FAULT_UNINITIALISED:
            whole = _moved_whole(job.kernel).get(place) if second & at.PARTLY else None
            detail = f"`{element}` of the {whole}{PARTLY_SET}" if whole else f"`{element}` was never written"
        fault = Fault(
            kind=_KINDS[kind],
            span=job.code.places[place],
            space=SPACES.get(buffer.plan.kind) if buffer else _space_of(job, place, kind),
            work_item=_item(job, item),
            work_group=_group(job, group),
            detail=detail,
            occurrences=times,
            buffer=buffer.name if buffer else None,
            offset=offset,
            other_span=job.code.places[other_site] if other_site >= 0 else None,
            other_work_item=_item(job, other_item & ~at.COPY_ITEM) if other_site >= 0 else None,
            element=element,
            calls=job.code.calls_to[place],
            other_calls=job.code.calls_to[other_site] if other_site >= 0 else (),
        )
        if kind in _RACES:
            fault = replace(fault, other_work_group=_group_of(job, other_item & ~at.COPY_ITEM))
            fault = _race(job, fault, kind, writes, (place, other_site))
        yield fault


_RACES = (at.FAULT_RACE_RW, at.FAULT_RACE_WW)


def _race(job: JitRun, fault: Fault, kind: int, writes: int, sites: tuple[int, int]) -> Fault:
    """Return a race with both of its sides, which `sites` made."""
    copies = {it.site for it in job.sites if it.op.startswith("async-")}
    here_copied, there_copied = (it in copies for it in sites)
    both = kind == at.FAULT_RACE_WW
    mine = Role.WRITES if both or writes else Role.READS
    others = Role.WRITES if both or not writes else Role.READS
    group = fault.other_work_group
    row = "" if fault.other_span is None else f" in line {_line(job, fault.other_span, fault.span)}"
    by = "an asynchronous copy" if here_copied else f"work-item {_triple(fault.work_item)}"
    by_other = "an asynchronous copy" if there_copied else f"work-item {_triple(fault.other_work_item)}"
    here = f"`{fault.element or fault.buffer}` is {mine.done} here by {by}"
    there = f"{others.done} by {by_other}"
    values = "; the values differ" if both and not (here_copied or there_copied) else ""
    if group != fault.work_group:
        where = f"of group {_triple(fault.work_group)}"
        order = "nothing orders work-groups"
        if job.code.plan.has_atomics:
            order += " but atomics that release and acquire"
        detail = f"{here} {where} and {there} of group {_triple(group)}{row}; {order}{values}"
    else:
        why = "which is not waited for before" if there_copied else _unordered(job, fault)
        detail = f"{here} and {there} of the same group {_triple(group)}{row}, {why}{values}"
    return replace(
        fault,
        detail=detail,
        role=mine,
        other_role=others,
        work_item=None if here_copied else fault.work_item,
        other_work_item=None if there_copied else fault.other_work_item,
    )


_FLAGS = {"global": "CLK_GLOBAL_MEM_FENCE", "local": "CLK_LOCAL_MEM_FENCE"}


def _unordered(job: JitRun, fault: Fault) -> str:
    """Say what is missing between the two sides: a barrier, or one whose flags name the memory."""
    flag = _FLAGS.get(fault.space or "")
    if flag is None or all(_orders(it, fault) for it in _barriers(job.kernel)):
        return "with no barrier between them"
    return f"with no barrier for {fault.space} memory ({flag}) between them"


@per_kernel
def _barriers(kernel: Kernel) -> tuple[Barrier, ...]:
    """Return the barriers of which the text says what they order."""
    return tuple(it for it in walk(kernel.body) if isinstance(it, Barrier) and it.flags is None)


def _orders(barrier: Barrier, fault: Fault) -> bool:
    return barrier.fences_global if fault.space == "global" else barrier.fences_local


def _line(job: JitRun, span: Span, beside: Span) -> str:
    row = job.program.position(span).row
    return f"{row}" if span.path == beside.path else f"{row} of {span.path}"


def _triple(ids: tuple[int, int, int] | None) -> str:
    return "?" if ids is None else f"({', '.join(map(str, ids))})"


def _group_of(job: JitRun, linear: int) -> tuple[int, int, int]:
    """Return the work-group of a work-item."""
    words = job.state.words
    width, height = int(words[at.GLOBAL_SIZE]), int(words[at.GLOBAL_SIZE + 1])
    place = (linear % width, linear // width % height, linear // (width * height))
    x, y, z = (place[d] // int(words[at.LOCAL_SIZE + d]) for d in range(3))
    return x, y, z


def _not_yet_written(job: JitRun, faults: tuple[Fault, ...]) -> Iterator[Fault]:
    """Say of reads that were too early, because they race with the write, that they were."""
    races: dict[tuple[str | None, Span], Fault] = {}
    for it in faults:
        if it.kind is FaultKind.DATA_RACE:
            for place in _places(it):
                races.setdefault((it.buffer, place), it)
    for fault in faults:
        race = races.get((fault.buffer, fault.span))
        if fault.kind is FaultKind.UNINITIALISED_READ and fault.buffer is not None and race is not None:
            line, what = _line(job, race.span, fault.span), fault.element or fault.buffer
            detail = f"`{what}` is not yet written by any work-item: see the race in line {line}"
            yield replace(fault, detail=detail, other_span=race.span, other_work_item=race.work_item)
        else:
            yield fault


def _space_of(job: JitRun, place: int, kind: int) -> str | None:
    if kind not in (at.FAULT_OOB_READ, at.FAULT_OOB_WRITE):
        return None
    return next((it.space for it in job.sites if it.site == place), None)


_HAS_BUFFER_HIGH = (at.FAULT_OOB_READ, at.FAULT_OOB_WRITE, at.FAULT_MISALIGNED)
_HAS_BUFFER = (
    at.FAULT_RACE_RW,
    at.FAULT_RACE_WW,
    at.FAULT_UNINITIALISED,
    at.FAULT_WRITE_CONSTANT,
    at.FAULT_WRITE_ONLY,
)


def _buffer(job: JitRun, kind: int, second: int) -> Buffer | None:
    if kind in _HAS_BUFFER_HIGH:
        number = second >> 32
    elif kind in _HAS_BUFFER:
        number = second & (at.PARTLY - 1)
    else:
        return None
    return job.space.buffers[number - 1] if 0 < number <= len(job.space.buffers) else None


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _outside(buffer: Buffer | None, offset: int, size: int) -> str:
    """Return what an access outside of its buffer meets: `q[64]` of how many elements, and in bytes."""
    if buffer is None:
        return f"{_bytes(size)} at byte offset {offset} of a null or invalid pointer"
    declared = buffer.plan.variable.type
    element = declared.pointee if isinstance(declared, PointerType) else declared
    if isinstance(element, ArrayType) and not isinstance(declared, PointerType):
        element = element.element
    elif not isinstance(declared, PointerType):
        return f"{_bytes(size)} at byte offset {offset} of `{buffer.name}` of {buffer.size} bytes"
    name = element_name(buffer.name, declared, offset)
    many = counted(buffer.size // max(element.size, 1), "element")
    return f"`{name}` of {many} ({_bytes(size)} at byte offset {offset} of {buffer.size})"


def _detail(kind: int, first: int, second: int, buffer: Buffer | None) -> tuple[str, int | None]:
    """Return words for a person and the byte offset."""
    where = f"`{buffer.name}` of {buffer.size} bytes" if buffer else "a null or invalid pointer"
    low = second & 0xFFFFFFFF
    is_image = buffer is not None and buffer.plan.is_image
    match kind:
        case at.FAULT_OOB_READ if is_image and buffer is not None:
            return f"reads a texel outside of the image `{buffer.name}`, without a sampler that clamps", first
        case at.FAULT_OOB_WRITE if is_image and buffer is not None:
            return f"writes a texel outside of the image `{buffer.name}`; the write is dropped", first
        case at.FAULT_OOB_READ:
            return f"reads {_outside(buffer, first, low)}; the value is taken for 0", first
        case at.FAULT_OOB_WRITE:
            return f"writes {_outside(buffer, first, low)}; the write is dropped", first
        case at.FAULT_MISALIGNED:
            return f"byte offset {first} of {where} is not a multiple of {low}", first
        case at.FAULT_RACE_RW | at.FAULT_RACE_WW:
            return "", first  # See `_race`.
        case at.FAULT_UNINITIALISED if buffer is None:
            return _without_value(first), None
        case at.FAULT_UNINITIALISED:
            return f"byte offset {first} of {where} was never written", first
        case at.FAULT_WRITE_CONSTANT:
            return f"writes to read-only memory, {where}", first
        case at.FAULT_WRITE_ONLY:
            return f"reads from write-only memory, {where}", first
        case at.FAULT_UNWAITED:
            return "the work-group ends without waiting for this copy", None
        case at.FAULT_NO_COPY if first:
            return "the event was waited for before, which released it", None
        case at.FAULT_NO_COPY:
            return "the event is that of no copy", None
        case at.FAULT_EVENTS:
            return "work-items of the group wait for different events, or for different numbers of them", None
        case at.FAULT_COPY_OVERLAPS:
            parts = "planes" if second else "lines"
            return f"{parts} of {first} elements overlap on one side; nothing is copied", None
        case at.FAULT_INVALID:
            return "what is used here depends on a value that was read out of bounds", None
        case at.FAULT_INDEX:
            return f"index {first} of an array of {second} elements", None
        case at.FAULT_DIVISION:
            return "an integer is divided by zero; the result is taken for 0", None
        case at.FAULT_OVERFLOW:
            return "the least integer is divided by -1; the result wraps", None
        case at.FAULT_UNKNOWN_FUNCTION if first:
            return "the function calls itself, which OpenCL C forbids; its result is taken for 0", None
        case at.FAULT_UNKNOWN_FUNCTION:
            return "the function's body is not in sight; its result is taken for 0", None
        case _:
            return "this statement is not understood and was passed over", None


def _without_value(lanes: int) -> str:
    """Name what a variable's read finds without a value: all of it, or some components of a vector."""
    known, missing = lanes >> at.KNOWN_LANES, lanes & ((1 << at.KNOWN_LANES) - 1)
    if not known:
        return "the variable has no value yet"
    names = "xyzw" if known | missing < 1 << 4 else "0123456789abcdef"
    prefix = "" if names == "xyzw" else "s"
    listed = ", ".join(f"`.{prefix}{it}`" for lane, it in enumerate(names) if missing >> lane & 1)
    return f"{listed} of the vector{PARTLY_SET}"


def _divergences(job: JitRun) -> Iterator[Fault]:
    seen: dict[tuple[int, int, bool], list[tuple[int, int]]] = {}
    for site, other, is_uneven, item, group in job.divergences:
        seen.setdefault((site, other, is_uneven), []).append((item, group))
    for (site, other, is_uneven), places in seen.items():
        item, group = places[0]
        who, what = _meeting(job, site)
        detail = f"not every work-item of the {who} reaches this {what}"
        if is_uneven:
            detail = "work-items of the group come here with different arguments"
        elif other >= 0:
            detail = "other work-items of the group wait at another barrier"
        yield Fault(
            FaultKind.BARRIER_DIVERGENCE,
            job.code.places[site],
            None,
            _item(job, item),
            _group(job, group),
            detail,
            len(places),
            other_span=job.code.places[other] if other >= 0 else None,
            calls=job.code.calls_to[site],
            other_calls=job.code.calls_to[other] if other >= 0 else (),
        )


def _meeting(job: JitRun, site: int) -> tuple[str, str]:
    """Return whose work-items have to come to a site together, and what they come to."""
    for it in walk(job.kernel.body):
        if isinstance(it, Barrier) and it.site == site and it.scope is BarrierScope.SUB_GROUP:
            return "sub-group", "barrier"
        if isinstance(it, Collective) and it.site == site:
            return "group" if it.name.startswith("work_group_") else "sub-group", f"call of `{it.name}`"
    return "group", "barrier"


def _limits(job: JitRun) -> Iterator[Fault]:
    """Compare what the kernel takes with what the device has."""
    device = job.settings.device
    if device is None:
        return
    span = job.kernel.name_span
    limit = device.limits.local_bytes_per_group
    local = sum(it.size for it in job.space.buffers if it.plan.kind == at.KIND_LOCAL)
    if limit is not None and local > limit:
        detail = f"{local} bytes of local memory; {device.name} has {limit} for a work-group"
        yield Fault(FaultKind.LOCAL_MEMORY_LIMIT, span, "local", None, None, detail)
    largest = device.limits.max_work_group_size
    if largest is not None and job.launch.group_items > largest:
        detail = f"groups of {job.launch.group_items} work-items; {device.name} takes {largest}"
        yield Fault(FaultKind.WORK_GROUP_LIMIT, span, None, None, None, detail)
    registers = device.limits.registers_per_work_item
    private = job.space.private_bytes
    if registers is not None and private > 4 * registers:
        detail = (
            f"{private} bytes of private arrays and structs; {device.name} has {4 * registers} bytes of "
            "registers for a work-item"
        )
        yield Fault(FaultKind.PRIVATE_MEMORY_LIMIT, span, "private", None, None, detail)


def stop_of(job: JitRun) -> Stop | None:
    """Return where a run came to a limit; None if it ended, or is a sample that it leaves good."""
    if job.stopped is None or job.is_sampled:
        return None
    words = job.state.words
    cursor = min(int(words[at.CURSOR]), job.state.sizes.items - 1)
    frames = job.state.frames.reshape(job.state.sizes.items, -1)
    item = int(frames[cursor, at.F_GLOBAL_LINEAR])
    ended, groups = int(words[at.GROUP]), int(words[at.GROUPS])
    detail = (
        f"the run came to its limit of {_limit_text(job, job.stopped)} in work-group {ended + 1} of {groups}"
    )
    if not ended:
        detail += "; not one work-group ended: there may be a loop that never does"
    return Stop(job.stopped, _item(job, item), _group(job, ended), detail)


def _limit_text(job: JitRun, limit: Limit) -> str:
    match limit:
        case Limit.WORK:
            return "work (a larger time limit gives more)"
        case Limit.TIME:
            return f"{job.settings.time_limit_s:.3g} s"
        case Limit.MEMORY:
            return f"{job.settings.memory_limit_mib} MB"
        case Limit.STEPS:
            return f"{job.settings.max_steps} steps"


def _item(job: JitRun, linear: int) -> tuple[int, int, int] | None:
    if linear < 0:
        return None
    words = job.state.words
    width, height = int(words[at.GLOBAL_SIZE]), int(words[at.GLOBAL_SIZE + 1])
    place = (linear % width, linear // width % height, linear // (width * height))
    offset = [int(words[at.OFFSET + d]) for d in range(3)]
    return (place[0] + offset[0], place[1] + offset[1], place[2] + offset[2])


def _group(job: JitRun, ordinal: int) -> tuple[int, int, int]:
    words, linear = job.state.words, job.group_number(ordinal)
    width, height = int(words[at.NUM_GROUPS]), int(words[at.NUM_GROUPS + 1])
    return (linear % width, linear // width % height, linear // (width * height))
