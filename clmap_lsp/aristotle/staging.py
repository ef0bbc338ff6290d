"""For each array of an analysed kernel: would staging it through local memory pay, and in which order?

Joins the static analysis (which MAP an array is read by) with the records and the composing rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clmap_lsp.aristotle.advice import Advice, advise, record_row
from clmap_lsp.aristotle.compose import Candidate, Decision, compose
from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.elements import Element
from clmap_lsp.aristotle.generate import Approach, Group, Part, generate
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

# The scalar that stands for elements of a size; only their size matters to a tile.
_BY_BYTES = {1: "uchar", 2: "ushort", 4: "float", 8: "double"}
DEFAULT_LOCAL_BYTES = 32768
"""What OpenCL guarantees a work-group (CL_DEVICE_LOCAL_MEM_SIZE of the full profile)."""


@dataclass(frozen=True, slots=True)
class ArrayAdvice:
    """One array of a kernel."""

    name: str
    sites: tuple[int, ...]
    """The accesses that read it by this MAP."""
    advice: Advice
    local_bytes: int
    """Of a max-approach tile for the launch's work-group."""
    decision: Decision | None
    """By the composing rules; None where no mbr is known."""

    def describe(self) -> str:
        """Return it in one or two sentences."""
        text = f"staging `{self.name}`: {self.advice.describe()}"
        return text if self.decision is None else f"{text}; {self.decision.reason}"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "buffer": self.name,
            "map": str(self.advice.map),
            "verdict": None if self.advice.verdict is None else self.advice.verdict.value,
            "mbr": self.advice.mbr,
            "recommended": self.advice.recommended,
            "stage": None if self.decision is None else self.decision.stage,
            "local_bytes": self.local_bytes,
            "record": None if self.advice.record is None else record_row(self.advice.record),
            "text": self.describe(),
        }


@dataclass(frozen=True, slots=True)
class StagingPlan:
    """All arrays of a kernel that are read by one of the 33 MAPs, those to stage first, in that order."""

    arrays: tuple[ArrayAdvice, ...]
    local_limit: int
    left_out: tuple[tuple[str, str], ...]
    """(array, why it has no MAP)."""


def staging_plan(database: Source, kernel: KernelAnalysis, device: DeviceModel) -> StagingPlan:
    """Return what is known about staging the global arrays that a kernel reads.

    An array read by several MAPs is taken by the one with most reads. Without a launch sizes are unknown: the
    records at 1024 x 1024 are used, with groups of 16 x 16.
    """
    found: dict[str, list[AccessAnalysis]] = {}
    left_out: dict[str, str] = {}
    for it in kernel.accesses:
        if it.classified is None or it.access.space.value != "global" or it.access.direction.value != "load":
            continue
        if it.classified.map is None:
            left_out.setdefault(it.access.buffer, it.classified.map_reason)
        else:
            found.setdefault(it.access.buffer, []).append(it)
    group = _group(kernel)
    size = _side(kernel)
    limit = device.limits.local_bytes_per_group or DEFAULT_LOCAL_BYTES
    arrays: list[ArrayAdvice] = []
    candidates: list[Candidate] = []
    for name, accesses in found.items():
        number, sites = _main_map(accesses)
        advice = advise(database, number, device.id, size)
        if advice is None:
            left_out.setdefault(name, f"MAP-{number} is none of the 33")
            continue
        part = Part(advice.map, Approach.MAX)
        element = Element(_BY_BYTES.get(accesses[0].access.scalar_bytes, "float"))
        local_bytes = generate([part], element, group).local_bytes
        arrays.append(ArrayAdvice(name, sites, advice, local_bytes, None))
        if advice.mbr is not None:
            read = sum((it.totals.sectors if it.totals else 1) for it in accesses) or 1
            candidates.append(Candidate(name, advice.mbr, read, local_bytes))
    decisions = {it.name: it for it in compose(candidates, limit).decisions}
    order = {name: k for k, name in enumerate(decisions)}
    decided = [
        ArrayAdvice(it.name, it.sites, it.advice, it.local_bytes, decisions.get(it.name)) for it in arrays
    ]
    decided.sort(key=lambda it: order.get(it.name, len(order)))
    unknown = tuple((name, why) for name, why in left_out.items() if name not in found)
    return StagingPlan(tuple(decided), limit, unknown)


def _main_map(accesses: list[AccessAnalysis]) -> tuple[int, tuple[int, ...]]:
    """Return the MAP number with most requests, and its sites."""
    weight: dict[int, int] = {}
    sites: dict[int, list[int]] = {}
    for it in accesses:
        assert it.classified is not None
        assert it.classified.map is not None
        number = 100 * it.classified.map.imap.number + it.classified.map.emap
        weight[number] = weight.get(number, 0) + (it.totals.requests if it.totals else 1)
        sites.setdefault(number, []).append(it.access.site)
    best = max(weight, key=lambda number: (weight[number], -number))
    return best, tuple(sites[best])


def _group(kernel: KernelAnalysis) -> Group:
    if kernel.launch is None:
        return Group()
    shape = (*kernel.launch.local_size, 1)
    return Group(shape[0], shape[1])


def _side(kernel: KernelAnalysis) -> int:
    """Return the side of the square that has as many work-items as the launch."""
    return 1024 if kernel.launch is None else max(1, round(float(kernel.launch.work_items) ** 0.5))
