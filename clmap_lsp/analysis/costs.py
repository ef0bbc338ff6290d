"""What the emulator's counting engine says of one launch, in the terms of this room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp.analysis.model import AccessTotals, MemoryTotals, PerRequest, Unit
from clmap_lsp.dataclass import dataclass
from clmap_lsp.exactness import Exactness
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.emulator.symbolic.images import ImageCount

_COUNTED = (AddressSpace.GLOBAL, AddressSpace.LOCAL)
"""Constant memory has a cache of its own, which hardware counters keep apart."""


@dataclass(frozen=True, slots=True)
class SiteCost:
    """The executions of one access over a launch.

    `count` is sectors or wavefronts, as `unit` says; `ideal` what the same active lanes would cost at best;
    `None` for either where the device's rule is unknown (`reason` says why).
    """

    instructions: int
    requests: int
    unit: Unit
    count: int | None
    minimum: int = 0
    maximum: int = 0
    ideal: int | None = None
    method: Exactness = Exactness.EXACT
    reason: str = ""

    @property
    def totals(self) -> AccessTotals:
        """The sums, as the command-line contract has them."""
        count = self.count or 0
        if self.unit == "sectors":
            return AccessTotals(self.instructions, self.requests, sectors=count)
        return AccessTotals(self.instructions, self.requests, wavefronts=count)

    @property
    def per_request(self) -> PerRequest | None:
        """The figures of one request; `None` without any, or where they are unknown."""
        if self.count is None or self.ideal is None or not self.requests:
            return None
        return PerRequest(
            self.minimum, self.count / self.requests, self.maximum, self.ideal / self.requests, self.unit
        )


@dataclass(frozen=True, slots=True)
class LaunchCosts:
    """All sites of one launch; `bail` says why, if the kernel as a whole could not be followed."""

    sites: Mapping[int, SiteCost]
    bail: str | None = None
    notes: tuple[str, ...] = ()
    sample: str | None = None
    """What was counted, if that is a sample of the launch."""
    rounds_floats: bool = False
    contents: frozenset[str] = frozenset()
    images: Mapping[int, ImageCount] = field(default_factory=dict)
    """As in the engine's result."""

    def cost(self, site: int, space: AddressSpace) -> SiteCost | None:
        """Return the cost of a site; `None` if the kernel was not followed.

        The engine lists every site that somebody executes or may execute: any other is never executed.
        """
        known = self.sites.get(site)
        if known is not None or self.bail is not None:
            return known
        unit: Unit = "sectors" if space is AddressSpace.GLOBAL else "wavefronts"
        method = Exactness.EXACT if self.sample is None else Exactness.SAMPLED
        return SiteCost(0, 0, unit, 0, 0, 0, 0, method, NEVER if self.sample is None else self.sample)


NEVER = "never executed in this launch"


def totals_of(accesses: Iterable[Access], costs: LaunchCosts) -> MemoryTotals:
    """Sum the costs of a kernel by kind of access. Atomics are counted neither as loads nor as stores."""
    sums: dict[str, AccessTotals] = {}
    seen: set[int] = set()
    complete = True
    for access in accesses:
        if access.site in seen:
            continue
        seen.add(access.site)
        if access.space not in _COUNTED or access.direction.value == "atomic":
            continue
        cost = costs.cost(access.site, access.space)
        if cost is None or cost.count is None:
            complete = False
            continue
        kind = f"{access.space.value}_{access.direction.value}"
        sums[kind] = _added(sums.get(kind, AccessTotals()), cost.totals)
    return MemoryTotals(
        global_load=sums.get("global_load", AccessTotals()),
        global_store=sums.get("global_store", AccessTotals()),
        local_load=sums.get("local_load", AccessTotals()),
        local_store=sums.get("local_store", AccessTotals()),
        complete=complete,
    )


def _added(left: AccessTotals, right: AccessTotals) -> AccessTotals:
    return AccessTotals(
        left.instructions + right.instructions,
        left.requests + right.requests,
        left.sectors + right.sectors,
        left.wavefronts + right.wavefronts,
    )
