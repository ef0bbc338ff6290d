"""Running some of a launch's work-groups and saying what follows for all of them.

One group is drawn at random from each of equal parts of the linear group numbers, and the groups run in
random order: what has ended when a budget does is still a random sample. Counts are scaled up and parallel
spatial locality is a mean over groups, so that both are unbiased. Footprints and entropies are not scaled:
groups share addresses in ways that a sample does not show.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator import allocation
from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.plan import Plan, pointer_target
from clmap_lsp.emulator.result import Sampling
from clmap_lsp.source.ir import Atomic, CopyObject, ImageRead, Load, Read, walk

Words = NDArray[np.int64]
_LEAST = 2
"""Groups from which there is an error to state."""


@dataclass(slots=True)
class Sample:
    """The groups of a sampled run."""

    ids: Words
    """Linear numbers, in the order in which they run."""
    of: int
    """Groups of the launch."""
    records: Words
    """Shape (groups, `GROUP_WORDS`), filled while they run."""
    ended: int = 0

    def number(self, ordinal: int) -> int:
        """Return the linear number of the group that ran in this place."""
        return int(self.ids[min(ordinal, len(self.ids) - 1)])

    @property
    def is_enough(self) -> bool:
        """True if enough groups have ended to estimate from."""
        return self.ended >= _LEAST

    def factor(self, traced: int, operations: int) -> float:
        """Return by how much counts of the run are scaled up.

        `traced` accesses and `operations` are those of the whole run: a group that a budget cut short is in
        them, but not in the mean that they are scaled to.
        """
        done = self.records[: self.ended]
        accesses = int(done[:, at.G_ACCESSES].sum())
        if traced and accesses:
            return self.of / self.ended * accesses / traced
        counted = int(done[-1, at.G_OPERATIONS]) if self.ended else 0
        if operations and counted:
            return self.of / self.ended * counted / operations
        return self.of / max(self.ended, 1)

    def summary(self, norm: float) -> Sampling:
        """Return how far the figures are to be trusted; `norm` is what entropies are divided by for PSL.

        The errors are those of a sample without strata, an upper estimate where neighbours are alike.
        """
        done = self.records[: self.ended]
        means = done.view(np.float64)[:, at.G_PSL : at.G_PSL + at.LEVELS]
        rest = 1 - self.ended / self.of

        def error(values: NDArray[np.float64]) -> NDArray[np.float64]:
            deviation = np.std(values, axis=0, ddof=1)
            return np.asarray(deviation * np.sqrt(rest / self.ended), np.float64)

        accesses = done[:, at.G_ACCESSES].astype(np.float64)
        psl = error(means) / norm if norm else np.zeros(at.LEVELS)
        return Sampling(self.ended, self.of, float(error(accesses)) * self.of, tuple(psl.tolist()))


def choose(groups: int, wanted: int) -> Sample | None:
    """Draw the groups to run; None where that would be all of them."""
    if not 0 < wanted < groups:
        return None
    rng = random.Random(0)
    edges = [groups * k // wanted for k in range(wanted + 1)]
    ids = [rng.randrange(low, high) for low, high in pairwise(edges)]
    rng.shuffle(ids)
    return Sample(
        np.array(ids, np.int64),
        groups,
        allocation.cleared(wanted * at.GROUP_WORDS).reshape(wanted, at.GROUP_WORDS),
    )


def shared_between_groups(plan: Plan) -> Iterator[str]:
    """Yield the global buffers through which a group may depend on others: written and read, in any order."""
    read: set[int | None] = set()
    for statement in walk(plan.kernel.body):
        match statement:
            case Load(pointer=address) | CopyObject(source=address):
                read.add(pointer_target(address, plan.targets, plan.numbers))
            case Atomic(pointer=address, variable=result) if result is not None:
                read.add(pointer_target(address, plan.targets, plan.numbers))
            case ImageRead(image=Read(variable=image)):
                read.add(plan.numbers.get(image))
            case _:
                pass
    for buffer in plan.buffers:
        is_global = buffer.kind == at.KIND_GLOBAL and buffer.is_argument
        is_written = plan.written is None or buffer.number in plan.written
        if is_global and is_written and (buffer.number in read or {None, -1} & read):
            yield buffer.variable.name
