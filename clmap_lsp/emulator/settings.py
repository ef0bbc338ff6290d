"""What a caller can choose about a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from clmap_lsp import defaults
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.result import AccessView, Engine
from clmap_lsp.locality.definition import Definition, LocalAddresses

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel


@dataclass(frozen=True, slots=True)
class EmulationSettings:
    """Settings of one emulation; the defaults are those of `clmap-lsp emulate`."""

    engine: Engine = Engine.AUTO
    definition: Definition = Definition.PAPER
    local_addresses: LocalAddresses = LocalAddresses.SHARED
    access_view: AccessView = AccessView.AS_WRITTEN
    device: DeviceModel | None = None
    """For requests, sectors and wavefronts; None counts requests of 32 lanes only."""
    time_limit_s: float = defaults.TIME_LIMIT_S
    """How much may be run, as work: a second stands for `budget.WORK_PER_S` units. The run also ends after so
    much processor time."""
    memory_limit_mib: int = defaults.MEMORY_LIMIT_MIB
    max_work: float = math.inf
    """Units of work, where they are fewer than the time limit stands for."""
    max_steps: int = 1 << 40
    """Loop turns and work-item starts."""
    sample_groups: int = 0
    """Run at most so many work-groups, drawn at random, and estimate from them; 0 runs all."""
    may_sample: bool = True
    """Where a launch takes more than its budget, estimate it from some of its work-groups."""
    chosen_sample: bool = False
    """`sample_groups` was not asked for: the whole launch is over its budget."""
    contract: bool = True
    """Fuse a*b+c within one expression, as clang (so PoCL and Oclgrind) does by default."""
    trace: bool = True
    """Off: only outputs and faults, no metrics."""
    races: bool = True
    watch_global: bool = True
    """Look for races on global memory too."""
    exclusive: frozenset[str] = frozenset()
    """Buffer arguments for which no two work-items can race: every address is known to belong to one."""
    ordered: frozenset[str] = frozenset()
    """Buffers in local memory of which barriers order all accesses, and nothing is read that nobody wrote."""
    uninitialised: bool = True
    lockstep: int = 0
    """So many work-items in a row run in lockstep, as kernels expect that have no barriers within a warp."""
    control: bool = True
    """Count branches and operations."""
    strides: bool = True
    read_only: frozenset[str] = frozenset()
    """Buffer arguments that the host made with CL_MEM_READ_ONLY: writing them is a fault."""
    write_only: frozenset[str] = frozenset()
    """Buffer arguments made with CL_MEM_WRITE_ONLY: reading them is a fault."""
