"""What a work-group asks for against what it needs: bytes requested, distinct, and shared with other groups.

Found by enumerating one representative work-group (and its neighbours) with NumPy, within a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.access.environment import group_environment
from clmap_lsp.access.evaluate import Evaluator, UnknownValueError
from clmap_lsp.access.polynomial import Atom, LoopSymbol, Polynomial, Unknown
from clmap_lsp.access.records import Access, AccessSummary
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.evaluate import Value
    from clmap_lsp.launch.model import Launch

MAX_TOUCHES: Final = 2_000_000
"""Work-items times turns that are enumerated for one access; beyond that the answer is unknown."""

_Extents = NDArray[np.int64]
"""Shape (n, 2): first byte and end of n touched pieces."""


@dataclass(frozen=True, slots=True)
class BufferReuse:
    """Traffic of one work-group with one buffer, all its accesses together."""

    buffer: str
    requested: int | None
    """Bytes that its work-items ask for, in all turns."""
    distinct: int | None
    """Bytes among them that differ."""
    overlap: tuple[int, ...] = ()
    """For each dimension of the launch: distinct bytes shared with the next group in it.

    0 where there is one group only, and for local memory, of which each group has its own.
    """
    reason: str = ""
    """Why nothing is known."""
    upper_bound: bool = False
    """Some condition could not be evaluated and was taken to hold."""

    @property
    def factor(self) -> float | None:
        """How often each byte is asked for; `None` if nothing is known or asked for."""
        if self.requested is None or not self.distinct:
            return None
        return self.requested / self.distinct


def reuse_of(summary: AccessSummary, launch: Launch, *, limit: int = MAX_TOUCHES) -> tuple[BufferReuse, ...]:
    """Return the reuse of each buffer that a kernel touches, in the order of first use."""
    middle = tuple(n // 2 for n in launch.num_groups)
    return tuple(
        _buffer_reuse(name, accesses, launch, middle, limit) for name, accesses in summary.by_buffer().items()
    )


def _buffer_reuse(
    name: str, accesses: Sequence[Access], launch: Launch, group: tuple[int, ...], limit: int
) -> BufferReuse:
    try:
        own = [touched(access, launch, group, limit=limit) for access in accesses]
        extents = _merged(own)
        shared = []
        for dimension, n_groups in enumerate(launch.num_groups):
            neighbour = _neighbour(group, dimension, n_groups)
            if neighbour is None or accesses[0].space is AddressSpace.LOCAL:
                shared.append(0)
                continue
            others = _merged([touched(access, launch, neighbour, limit=limit) for access in accesses])
            shared.append(_length(extents) + _length(others) - _length(_merged([extents, others])))
    except UnknownValueError as error:
        return BufferReuse(name, None, None, (), _why(error.atom))
    except OverflowError:
        return BufferReuse(name, None, None, (), f"a work-group makes more than {limit} accesses")
    requested = sum(int((it[:, 1] - it[:, 0]).sum()) for it in own)
    unknown = any(access.guard_unknown for access in accesses)
    return BufferReuse(name, requested, _length(extents), tuple(shared), "", unknown)


def _neighbour(group: tuple[int, ...], dimension: int, n_groups: int) -> tuple[int, ...] | None:
    if n_groups < 2:
        return None
    at = group[dimension] + 1 if group[dimension] + 1 < n_groups else group[dimension] - 1
    return (*group[:dimension], at, *group[dimension + 1 :])


def _why(atom: Atom) -> str:
    match atom:
        case Unknown(reason=reason):
            return reason
        case LoopSymbol(name=name):
            return f"it is not known how often the loop over `{name}` iterates"
        case _:
            return f"`{getattr(atom, 'name', getattr(atom, 'buffer', atom))}` has no value here"


def touched(access: Access, launch: Launch, group: Sequence[int], *, limit: int = MAX_TOUCHES) -> _Extents:
    """Return the bytes that a work-group touches through one access, a piece for each execution.

    Conditions that cannot be evaluated are taken to hold.

    Returns: shape (executions, 2), the first byte and the end of each.
    Raises: UnknownValueError if the address or a loop's number of turns has no value; OverflowError if
        there are more than `limit` executions.
    """
    if access.unknown is not None:
        raise UnknownValueError(Unknown(access.unknown, 0))
    environment, active = _unrolled(access, group_environment(launch, group), limit)
    evaluator = Evaluator(environment)
    for condition in access.guard:
        active = active & (_spread(_holds(condition, evaluator), active.shape) != 0)
    offsets = _spread(evaluator(access.offset), active.shape)[active]
    if access.cooperative:
        offsets = np.unique(offsets)
    return np.stack([offsets, offsets + access.size], axis=1)


def _holds(condition: Polynomial, evaluator: Evaluator) -> Value:
    try:
        return evaluator(condition)
    except UnknownValueError:
        return 1


def _spread(value: Value, shape: tuple[int, ...]) -> NDArray[np.int64]:
    return np.broadcast_to(np.asarray(value, dtype=np.int64), shape)


def _unrolled(
    access: Access, environment: dict[Atom, Value], limit: int
) -> tuple[dict[Atom, Value], NDArray[np.bool_]]:
    """Return the environment of all turns, in arrays of shape (turns, work-items), and which are made."""
    n_items = max((np.size(it) for it in environment.values()), default=1)
    active = np.ones((1, n_items), dtype=bool)
    for loop in access.loops:
        if loop.trip is None:
            raise UnknownValueError(loop)
        trips = _spread(Evaluator(environment)(loop.trip), active.shape)
        most = int(max(trips[active].max(initial=0), 0))
        if most * active.size > limit:
            raise OverflowError
        rows = active.shape[0]
        turns = np.tile(np.arange(most, dtype=np.int64), rows)[:, None]
        for earlier in access.loops:
            if earlier in environment:
                environment[earlier] = np.repeat(np.asarray(environment[earlier]), most, axis=0)
        environment[loop] = turns
        active = np.repeat(active, most, axis=0) & (turns < np.repeat(trips, most, axis=0))
    return environment, active


def _merged(pieces: Iterable[_Extents]) -> _Extents:
    """Return the union as pieces that do not touch, in rising order."""
    every = np.concatenate([np.empty((0, 2), dtype=np.int64), *pieces])
    if not len(every):
        return every
    every = every[
        np.argsort(every[:, 0])
    ]  # Copies of a piece do no harm, and finding them would take longer.
    reach = np.maximum.accumulate(every[:, 1])
    first = np.ones(len(every), dtype=bool)
    first[1:] = every[1:, 0] > reach[:-1]
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(every)) - 1
    return np.stack([every[starts, 0], reach[ends]], axis=1)


def _length(extents: _Extents) -> int:
    return int((extents[:, 1] - extents[:, 0]).sum())
