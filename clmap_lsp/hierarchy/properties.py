"""The properties of array instances that Algorithm 3 asks for (the paper, section 4.2).

All are sufficient conditions, as in the paper: what is not shown is taken not to hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import Atom, Parameter, Polynomial
from clmap_lsp.access.reuse import touched
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.access.evaluate import Value
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.instances import Array, Instance
    from clmap_lsp.launch.model import Launch

LEAST_CONSTANT_BYTES: Final = 64 * 1024
"""Promised of every full-profile device. Source: OpenCL 3.0, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE."""
TILE_TURNS: Final = 32
"""Turns of a loop whose data are taken for one chunk where all turns together are too much."""
MAX_TOUCHES: Final = 200_000
"""Touches that are enumerated to find the size of a chunk."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes or no, with the reason in words."""

    holds: bool
    why: str

    def __bool__(self) -> bool:
        return self.holds


def constant_bytes(device: DeviceModel) -> int:
    """Return how much constant memory a kernel may use on a device."""
    return device.limits.constant_bytes or LEAST_CONSTANT_BYTES


def small(array: Array, device: DeviceModel) -> Answer:
    """Tell whether an array fits into constant memory."""
    limit = constant_bytes(device)
    if array.bytes is None:
        return Answer(False, "its size is not known")
    relation = "fit into" if array.bytes <= limit else "are more than"
    return Answer(
        array.bytes <= limit,
        f"{size_words(array.bytes)} {relation} the device's {size_words(limit)} of constant memory",
    )


def coalesced(instance: Instance, device: DeviceModel, launch: Launch | None = None) -> Answer:
    """Tell whether an instance is coalesced by the paper's conservative definition.

    Neighbouring work-items touch neighbouring elements of the last dimension, forwards or backwards, and
    everything else that moves that dimension, the offset included, does so by multiples of half a SIMD group.
    """
    if instance.is_random:
        return Answer(False, "the index is not affine in ids and loop variables")
    *outer, last = instance.rows
    if any(instance.moves(row, 0) for row in outer):
        return Answer(False, "neighbouring work-items touch different rows of the array")
    step = instance.moves(last, 0).value
    if step not in (1, -1):
        if step == 0:
            return Answer(False, "neighbouring work-items touch the same element")
        return Answer(False, "neighbouring work-items are more than one element apart")
    half = device.simd_width // 2
    rest = [
        it for key, it in last.items() if not (key[1] == 0 and key[0].endswith(("global_id", "local_id")))
    ]
    if any(not _is_multiple(it, half, launch) for it in rest):
        return Answer(False, f"it also moves by steps that are no multiple of {half} elements")
    if not _is_multiple(instance.offset[-1], half, launch):
        return Answer(False, f"it is shifted by what is no multiple of {half} elements")
    return Answer(True, "neighbouring work-items touch neighbouring elements")


def _is_multiple(value: Polynomial, of: int, launch: Launch | None) -> bool:
    if all(it % of == 0 for it in value.terms.values()):
        return True
    number = in_launch(value, launch)
    return number is not None and number % of == 0


def in_launch(value: Polynomial, launch: Launch | None) -> int | None:
    """Return the value that a polynomial over scalar arguments has in a launch."""
    if value.value is not None or launch is None:
        return value.value
    scalars: dict[Atom, Value] = {Parameter(name): int(it) for name, it in launch.integers.items()}
    try:
        return int(evaluate(value, scalars))
    except UnknownValueError:
        return None


def temporal_reuse(array: Array) -> Answer:
    """Tell whether an array is reused in time: several instances, or a nonzero intra-thread column."""
    if len(array.instances) > 1:
        return Answer(True, f"{len(array.instances)} instances of it are accessed")
    if any(it.intra_thread or (it.is_random and it.accesses[0].loops) for it in array.instances):
        return Answer(True, "a loop inside the kernel accesses it again and again")
    return Answer(False, "each work-item needs one element of it once")


def chunkable(instance: Instance, device: DeviceModel, launch: Launch | None) -> Answer:
    """Tell whether the data divide into chunks of which one work-group's fits into local memory.

    A chunk is what one work-group touches, or where that is too much what it touches in `TILE_TURNS` turns
    of its longest loop. Data-dependent indices leave nothing to divide.
    """
    if instance.is_random:
        return Answer(False, "the index is not affine, so no chunk of it can be told in advance")
    if not instance.inter_thread and not instance.intra_thread:
        return Answer(False, "it is one element")
    limit = device.limits.local_bytes_per_group
    size = None if launch is None else chunk_bytes(instance, launch)
    if size is None or limit is None:
        return Answer(True, "the index is affine, so it divides into chunks; their size is not known")
    if size > limit:
        return Answer(
            False, f"a work-group needs {size_words(size)} at a time, more than {size_words(limit)}"
        )
    return Answer(True, f"a work-group needs {size_words(size)} at a time")


def chunk_bytes(instance: Instance, launch: Launch) -> int | None:
    """Return the bytes of one chunk: distinct bytes of a work-group in the middle, `TILE_TURNS` turns of the
    longest loop; `None` if they cannot be told."""
    import numpy as np

    access = instance.accesses[0]
    middle = tuple(n // 2 for n in launch.num_groups)
    turns = [n for it in access.loops if it.trip is not None and (n := in_launch(it.trip, launch))]
    if len(turns) < len(access.loops):
        return None
    total = launch.group_items
    for n in turns:
        total *= n
    if total > MAX_TOUCHES:
        # Too many to enumerate: every work-item's elements in one tile's turns, none of them shared.
        for n in turns:
            total = total // n * min(n, TILE_TURNS)
        bound = total * access.size
        return min(bound, _spread(instance, launch, turns) or bound)
    try:
        pieces = touched(access, launch, middle, limit=MAX_TOUCHES)
    except (UnknownValueError, OverflowError):
        return None
    distinct = len(np.unique(pieces[:, 0])) * access.size
    longest = max(turns, default=1)
    return distinct if longest <= TILE_TURNS else -(-distinct * TILE_TURNS // longest)


def _spread(instance: Instance, launch: Launch, turns: list[int]) -> int | None:
    """Return the bytes of the box around what a work-group touches in one tile's turns of each loop."""
    sizes = dict(enumerate(launch.local_size))
    loops = dict(zip((("loop", it.identity) for it in instance.accesses[0].loops), turns, strict=True))
    product = 1
    for row in instance.rows:
        extent = 1
        for key, factor in row.items():
            step = in_launch(factor, launch)
            if step is None:
                return None
            if key in loops:
                extent += min(loops[key], TILE_TURNS) - 1 if step else 0
            elif not key[0].endswith("group_id"):
                extent += (sizes.get(key[1], 1) - 1) * (1 if step else 0)
        product *= extent
    return product * instance.accesses[0].size


def size_words(n_bytes: int) -> str:
    """Return `4 KiB`, `256 bytes`."""
    if n_bytes >= 1024:
        return f"{round(n_bytes / 1024, 1):g} KiB"
    return f"{n_bytes} bytes"


def lane_pattern(instance: Instance) -> str:
    """Return how neighbouring work-items walk an instance, in the words of the paper's Table 4.

    `same address`, `linear`, `reverse linear`, `shifted`, `non-unit stride` or `random`. Where the work-items
    of a row share the address, what walks the last dimension besides them decides.
    """
    if instance.is_random:
        return "random"
    if not instance.inter_thread:
        return "same address"
    moved = [instance.moves(row, 0) for row in instance.rows]
    if not any(moved):
        steps = [it.value for it in instance.rows[-1].values()]
        if any(it not in (1, -1) for it in steps):
            return "non-unit stride"
        return "reverse linear" if -1 in steps else "linear"
    if any(moved[:-1]) or moved[-1].value not in (1, -1):
        return "non-unit stride"
    if moved[-1].value == -1:
        return "reverse linear"
    return "shifted" if instance.offset[-1] else "linear"
