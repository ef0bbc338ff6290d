"""What `emulate` gives: metrics, faults and buffers of one launch."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from clmap_lsp.api.given import MissingNameError, shown
from clmap_lsp.api.staying import Stays
from clmap_lsp.api.tables import table
from clmap_lsp.counted import counted
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.program import Program


@dataclass(frozen=True, eq=False)
class Emulation(Stays):
    """One launch in the emulator: metrics, faults, buffers."""

    program: Program
    launch: Launch
    result: EmulationResult

    @property
    def psl(self) -> tuple[float, ...]:
        """Parallel spatial locality by dropped address bits, 0 to 10."""
        return tuple(self.result.metrics.psl)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What went wrong."""
        return self.result.faults

    @property
    def method(self) -> str:
        """How far the figures go: `symbolic` and `full` are exact, `sampled` and `truncated` are not."""
        return self.result.method.value

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader must know: limits that were met, outputs that there are none of, unknown values."""
        return self.result.notes

    def buffer(self, name: str) -> NDArray[np.uint8]:
        """Return a buffer after the launch, as bytes; `.view(np.float32)` and the like read its elements.

        Raises: UsageError, which is a KeyError as well, if there is none of that name.
        """
        found = self.result.buffers.get(name) if isinstance(name, str) else None
        if found is None:
            known = ", ".join(self.result.buffers) or "; ".join(["none", *self.notes])
            raise MissingNameError(f"{self.result.kernel} has no buffer {shown(name)}; there are: {known}")
        return found.data

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of `clmap-lsp emulate`."""
        from clmap_lsp.report.emulation_json import emulation_json

        return emulation_json(self.program, self.launch, self.result)

    def __repr__(self) -> str:
        figures = f"{counted(len(self.faults), 'fault')}{self._as_far_as()}, PSL {self.psl[0]:.3f}"
        return f"<{self.method} emulation of {self.result.kernel}: {figures}>"

    def _repr_html_(self) -> str:
        head = ("bits dropped", *map(str, range(len(self.psl))))
        curve = table(head, [("PSL", *(f"{it:.3f}" for it in self.psl))])
        faults = "".join(f"<li>{html.escape(f'{it.kind.value}: {it.detail}')}</li>" for it in self.faults)
        launch = f"{self.launch.describe()}; {self.method}"
        title = f"<h4>{html.escape(self.result.kernel)}</h4><p>{html.escape(launch)}</p>"
        found = f"<ul>{faults}</ul>" if faults else f"<p>no faults{self._as_far_as()}</p>"
        return title + curve + found + "".join(f"<p>{html.escape(it)}</p>" for it in self.notes)

    def _as_far_as(self) -> str:
        """Say of which work-groups faults would be known; nothing where that is all of them."""
        if self.result.is_whole:
            return ""
        return f" in {self.result.groups_run:,} of {self.result.parallelism.work_groups:,} work-groups"
