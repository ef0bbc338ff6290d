"""What `emulate` gives: metrics, faults and buffers of one launch."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from clmap_lsp.api.given import MissingNameError, shown
from clmap_lsp.api.tables import table
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.program import Program


@dataclass(frozen=True, eq=False)
class Emulation:
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

    def buffer(self, name: str) -> NDArray[np.uint8]:
        """Return a buffer after the launch, as bytes; `.view(np.float32)` and the like read its elements.

        Raises: UsageError, which is a KeyError as well, if there is none of that name.
        """
        found = self.result.buffers.get(name) if isinstance(name, str) else None
        if found is None:
            known = ", ".join(self.result.buffers) or "none"
            raise MissingNameError(f"{self.result.kernel} has no buffer {shown(name)}; there are: {known}")
        return found.data

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of `clmap-lsp emulate`."""
        from clmap_lsp.report.emulation_json import emulation_json

        return emulation_json(self.program, self.launch, self.result)

    def __repr__(self) -> str:
        return f"<emulation of {self.result.kernel}: {len(self.faults)} faults, PSL {self.psl[0]:.3f}>"

    def _repr_html_(self) -> str:
        head = ("bits dropped", *map(str, range(len(self.psl))))
        curve = table(head, [("PSL", *(f"{it:.3f}" for it in self.psl))])
        faults = "".join(f"<li>{html.escape(f'{it.kind.value}: {it.detail}')}</li>" for it in self.faults)
        title = f"<h4>{html.escape(self.result.kernel)}</h4><p>{html.escape(self.launch.describe())}</p>"
        return title + curve + (f"<ul>{faults}</ul>" if faults else "<p>no faults</p>")
