"""What all tries for the rewrites of one kernel may take together.

Each search has bounds of its own, launches and steps of each; their product has none. So all of them draw on
one allowance of work: what runs execute, and what making, compiling and counting them takes as far as the
sizes of kernel and buffers tell. It is the same on every machine, whatever else that is doing. What is left
when it runs out is not tried, and is named: whoever asks says so.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.result import Limit
from clmap_lsp.launch.contents import buffer_bytes
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import walk
from clmap_lsp.source.per_kernel import per_kernel

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program

UNITS_PER_S = 1_000_000_000
"""Units that a second of the time limit of a launch stands for here: a unit takes about a nanosecond, so that
the rewrites of a kernel take about as long as its one launch may."""
_STARTED = 1_000_000
"""Of a run,"""
_STARTED_STATEMENT = 5_000
"""and for each statement of its kernel."""
_COMPILED_STATEMENT = 600_000
_COUNTED_STATEMENT = 130_000
_PLANNED_STATEMENT = 12_000


class SpentError(Exception):
    """Nothing is left to try with; what was being tried has come to no result."""


@dataclass(eq=False)
class Allowance:
    """Work that is left for one kernel's rewrites, and those that it did not suffice for."""

    left: float = math.inf
    untried: list[str] = field(default_factory=list)
    """Titles of rewrites."""
    _compiled: dict[int, Kernel] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: EmulationSettings) -> Allowance:
        """Return what goes with the limits of a launch."""
        return cls(settings.time_limit_s * UNITS_PER_S)

    @property
    def is_spent(self) -> bool:
        """True if nothing is left."""
        return self.left <= 0

    def planned(self, kernel: Kernel) -> None:
        """Draw what it takes to find out how long the buffers of another launch must be."""
        self.left -= _PLANNED_STATEMENT * _statements(kernel)

    def counted(self, kernel: Kernel) -> None:
        """Draw what it takes to read a version of a kernel, and to count its traffic."""
        self.left -= _COUNTED_STATEMENT * _statements(kernel)

    def run(
        self, program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings
    ) -> EmulationResult:
        """Run a launch, as far as what is left goes.

        Raises: SpentError if that is not far enough; LaunchError or MemoryError as `emulate` does.
        """
        from clmap_lsp.emulator.run import emulate  # LLVM, which whoever only asks for findings may lack.

        if self.left == math.inf:
            return emulate(program, kernel, launch, settings)
        if self.is_spent:
            raise SpentError
        self.left -= self._making(kernel, launch)
        result = emulate(
            program, kernel, launch, replace(settings, max_work=min(max(self.left, 0.0), settings.max_work))
        )
        self.left -= result.work
        if self.left <= 0 and result.stopped is not None and result.stopped.limit is Limit.WORK:
            raise SpentError
        return result

    def _making(self, kernel: Kernel, launch: Launch) -> float:
        """Return the work before a run: a kernel is compiled once for all its launches."""
        statements = _statements(kernel)
        work = _STARTED + _STARTED_STATEMENT * statements
        if id(kernel) not in self._compiled:
            self._compiled[id(kernel)] = kernel  # Kept, so that no other one gets its number.
            work += _COMPILED_STATEMENT * statements
        return work + filled_bytes(kernel, launch)


def filled_bytes(kernel: Kernel, launch: Launch) -> int:
    """Return the bytes of a launch's buffers."""
    arguments = ((launch.arguments.get(it.name), it.type) for it in kernel.parameters)
    try:
        return sum(buffer_bytes(it, kind) for it, kind in arguments if isinstance(it, BufferArgument))
    except LaunchError:
        return 0  # A file that cannot be read: nothing runs, either.


@per_kernel
def _statements(kernel: Kernel) -> int:
    return sum(1 for _ in walk(kernel.body))
