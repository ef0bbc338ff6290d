"""Launches whose inferred buffers were made too small: a size that nobody gave accuses no kernel.

How far a kernel reaches is bounded before it runs (`launch/extents.py`), as far as its loops tell. Where they
do not, a correct kernel leaves a buffer that is only as long as somebody guessed. So what is met beyond the
end of such a buffer makes it longer, and the launch is run again; what stays is a fault "if".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.emulator.result import FaultKind, Grounds
from clmap_lsp.launch.image import BEHIND_IMAGE
from clmap_lsp.launch.model import BufferArgument, Fill, LocalArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel

_OUTSIDE = (FaultKind.OUT_OF_BOUNDS_READ, FaultKind.OUT_OF_BOUNDS_WRITE)
_TRIES = 6
_FACTOR = 4
"""Each try makes a buffer so much longer at least; six of them reach 4,096 times what was inferred."""
_MOST_BYTES = 1 << 30
"""Of a buffer: what reaches further goes astray."""
_MOST_LOCAL_BYTES = 1 << 18
"""Of local memory: more than any device has for a work-group."""
_MOST_TEXELS = 1 << 24
"""Of an image, each side of which grows at once."""

_SHARE_AGAIN = 0.5
"""Of its budget, what a launch that came to the end of it may take once more."""

Run = Callable[["Launch", float], "EmulationResult"]
"""Runs a launch with so much work at most."""


def with_room(kernel: Kernel, launch: Launch, run: Run, budget: float) -> EmulationResult:
    """Run a launch; again with longer buffers while it leaves some that were inferred.

    How often follows from the work of the runs, not from their time: all machines give the same. Together,
    those after the first may take as much as that may, or half of it where that was not enough.

    Raises: LaunchError as `run` does on the launch itself.
    """
    result = run(launch, budget)
    left = budget if result.is_whole else _SHARE_AGAIN * budget
    grown: dict[str, int] = {}
    for _ in range(_TRIES if result.is_whole else 1):
        longer = dict(_longer(kernel, launch, result.faults))
        if not longer or left <= 0:
            break
        roomier = enlarged(launch, longer)
        try:
            again = run(roomier, left)
        except (LaunchError, MemoryError):
            break
        left -= again.work
        grown.update(longer)
        launch, result = roomier, again
    supposed = supposing_lengths(launch, result)
    notes = tuple(
        f"`{name}` was given {count:,} elements: the kernel reaches beyond what was inferred for it"
        for name, count in grown.items()
    )
    if not grown:
        return supposed
    return replace(supposed, enlarged=grown, notes=(*result.notes, *notes))


def supposing_lengths(launch: Launch, result: EmulationResult) -> EmulationResult:
    """Return the result of a launch whose faults say so where they hang on a buffer's inferred length.

    Nothing is told of what lies behind the end that a buffer was given to fit into memory.
    """
    guessed = [it for it in result.faults if _is_guess(launch, it)]
    if not guessed:
        return result
    is_capped = any(it.buffer in launch.capped for it in guessed)
    short = next((it.buffer for it in guessed if it.buffer not in launch.capped), None)
    faults = tuple(
        _supposing(it, short) if _is_guess(launch, it) or (short is not None and _follows(it)) else it
        for it in result.faults
        if not (is_capped and _follows(it)) and not (it.buffer in launch.capped and _is_guess(launch, it))
    )
    return replace(result, faults=faults)


def enlarged(launch: Launch, counts: Mapping[str, int]) -> Launch:
    """Return a launch with other numbers of elements for some of its buffers."""
    longer = {
        name: replace(it, count=counts[name])
        if isinstance(it, LocalArgument) or not it.sides
        else _wider(it, counts[name])
        for name, it in launch.arguments.items()
        if name in counts and isinstance(it, BufferArgument | LocalArgument)
    }
    return replace(launch, arguments={**launch.arguments, **longer})


def _wider(image: BufferArgument, count: int) -> BufferArgument:
    """Return an image with at least so many texels: which side was too short is not known."""
    sides = image.sides
    while math.prod(sides) < count:
        sides = tuple(it * _FACTOR for it in sides)
    return replace(image, sides=sides, count=math.prod(sides))


def _follows(fault: Fault) -> bool:
    """Tell whether a fault may come of what was not copied, or read, because a buffer is too short."""
    return fault.kind is FaultKind.UNINITIALISED_READ


def _supposing(fault: Fault, short: str | None) -> Fault:
    name = short if fault.kind is FaultKind.UNINITIALISED_READ else fault.buffer
    joint = f", {_this(fault)}"
    size = "small" if fault.offset == BEHIND_IMAGE else "short"
    return fault.supposing(f"`{name}` is as {size} as was inferred for it", Grounds.GUESS, joint=joint)


def _this(fault: Fault) -> str:
    return "this " if fault.kind in _OUTSIDE else ""


def _is_guess(launch: Launch, fault: Fault) -> bool:
    """Tell whether a fault is no more than an access behind the end of a buffer whose size was inferred."""
    argument = None if fault.buffer is None else launch.arguments.get(fault.buffer)
    if fault.kind not in _OUTSIDE or fault.offset is None:
        return False
    if isinstance(argument, BufferArgument) and argument.sides:
        return fault.buffer in launch.inferred and fault.offset == BEHIND_IMAGE
    if fault.offset < 0:
        return False
    if isinstance(argument, LocalArgument):
        return fault.buffer in launch.inferred and fault.offset < _MOST_LOCAL_BYTES
    may_be_longer = isinstance(argument, BufferArgument) and argument.fill is not Fill.NULL
    return may_be_longer and fault.buffer in launch.inferred


def _longer(kernel: Kernel, launch: Launch, faults: tuple[Fault, ...]) -> Iterator[tuple[str, int]]:
    """Yield the buffers to be made longer, with as many elements as they are to have."""
    by_name = {it.name: it.type for it in kernel.parameters}
    needed: dict[str, int] = {}
    for fault in faults:
        offset = -1 if fault.offset is None else fault.offset
        if fault.buffer is not None and offset >= 0 and _is_guess(launch, fault):
            needed[fault.buffer] = max(needed.get(fault.buffer, 0), offset + 1)
    for name in dict.fromkeys(it.buffer for it in faults if _is_guess(launch, it)):
        image = launch.arguments.get(name or "")
        if name in launch.inferred and isinstance(image, BufferArgument) and image.sides:
            wider = _wider(image, image.count + 1)
            if wider.count <= _MOST_TEXELS and name is not None:
                yield name, wider.count
    for name, n_bytes in needed.items():
        argument, kind = launch.arguments[name], by_name.get(name)
        if not isinstance(argument, BufferArgument | LocalArgument) or not isinstance(kind, PointerType):
            continue
        size = max(kind.pointee.size, 1)
        is_local = isinstance(argument, LocalArgument)
        items = launch.group_items if is_local else launch.work_items
        most = (_MOST_LOCAL_BYTES if is_local else _MOST_BYTES) // size
        needs, wanted = -(-n_bytes // size), max(argument.count * _FACTOR, items)
        if needs <= most and argument.count < most:
            yield name, min(max(needs, wanted), most)
