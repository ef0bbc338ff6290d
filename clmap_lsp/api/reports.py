"""What `analyze` gives: the kernels of a source with what they cost."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clmap_lsp.api.given import MissingNameError, shown
from clmap_lsp.api.staying import Stays
from clmap_lsp.api.tables import table
from clmap_lsp.counted import counted

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.api.fixes import KernelFix
    from clmap_lsp.api.pictures import AccessPicture
    from clmap_lsp.findings import Finding
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.time.model import Prediction
    from clmap_lsp.workbench import OpenedFile


class KernelReport(Stays):
    """One kernel with its accesses and what they cost for its launch."""

    def __init__(self, opened: OpenedFile, analysis: KernelAnalysis, findings: tuple[Finding, ...]) -> None:
        self._opened = opened
        self._program = opened.program
        self.analysis = analysis
        self.findings = findings
        """What the rules say about it."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.analysis.name

    @property
    def launch(self) -> Launch | None:
        """The launch that the figures hold for; `None` where none could be made."""
        return self.analysis.launch

    @property
    def sectors(self) -> int:
        """Sectors of global memory, loads and stores."""
        return self.analysis.totals.sectors

    @property
    def wavefronts(self) -> int:
        """Passes of local memory, loads and stores."""
        return self.analysis.totals.wavefronts

    @property
    def sectors_per_request(self) -> float | None:
        """Mean over global loads and stores; `None` without any."""
        totals = self.analysis.totals
        requests = totals.global_load.requests + totals.global_store.requests
        return totals.sectors / requests if requests else None

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """The accesses, in source order, as in `analyze --format json`."""
        from clmap_lsp.report.analysis_json import access_json

        return [access_json(self._program, it) for it in self.analysis.accesses]

    @property
    def time(self) -> Prediction | None:
        """How long the launch is predicted to take (seconds, with a range, the bound and the parts).

        `None` where nobody can tell; `time_reason` says why.
        """
        found = self._time()
        return None if isinstance(found, str) else found

    @property
    def time_reason(self) -> str | None:
        """Why there is no `time`; `None` where there is one."""
        found = self._time()
        return found if isinstance(found, str) else None

    def _time(self) -> Prediction | str:
        device = self._opened.device
        return self._opened.times().get(self.name, f"{device.id} has no timing facts")

    def fixes(self) -> tuple[KernelFix, ...]:
        """Return the rewrites that the emulator showed right on this launch, what pays most first.

        Raises: UsageError if kernels cannot be run here (the extra `emulate` is missing), or not as launched.
        """
        from clmap_lsp.api.fixes import fixes_of

        return fixes_of(self._opened, self.analysis)

    def picture(self, access: str) -> AccessPicture:
        """Draw which work-item of one SIMD group touches which sector or bank.

        Args:
            access: a buffer, or an access as `accesses` and findings write it, such as `A[row*N + k]`; of
                several, the one with most of the traffic is drawn.

        Raises: UsageError if there is no such access, it has no addresses that could be drawn, or the extra
            `report` is missing.
        """
        from clmap_lsp.api.pictures import picture_of

        return picture_of(self.analysis, self._opened.device, access)

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as in `analyze --format json`."""
        from clmap_lsp.report.analysis_json import kernel_json

        return kernel_json(self._program, self.analysis)

    def __repr__(self) -> str:
        launch = self.launch.describe() if self.launch else "no launch"
        return f"<kernel {self.name}: {launch}, {self.sectors} sectors>"

    def _repr_html_(self) -> str:
        rows = []
        for it in self.analysis.accesses:
            cost = it.per_request
            shown = it.missing_cost if cost is None else f"{cost.mean:.4g} {cost.unit}"
            ideal = "" if cost is None else f"{cost.ideal:.4g}"
            share = "" if it.share is None else f"{it.share:.0%}"
            stride = "" if it.stride.text is None else f"{it.stride.text} bytes"
            where = self._program.position(it.access.span)
            rows.append(
                (
                    f"{where.row}:{where.column}",
                    it.access.direction.value,
                    it.access.place_text,
                    shown,
                    ideal,
                    share,
                    stride,
                )
            )
        launch = self.launch.describe() if self.launch else "; ".join(self.analysis.launch_problems)
        head = ("place", "", "access", "a request", "ideal", "traffic", "stride")
        return f"<h4>{html.escape(self.name)}</h4><p>{html.escape(launch)}</p>{table(head, rows)}"


class Report(Stays):
    """The kernels of one source. Iterates over them; `report["name"]` picks one."""

    def __init__(self, opened: OpenedFile, findings: tuple[Finding, ...]) -> None:
        self.program = opened.program
        self.analysis = opened.analysis
        self.findings = findings
        self.kernels = tuple(
            KernelReport(opened, it, tuple(found for found in findings if found.kernel == it.name))
            for it in opened.analysis.kernels
        )

    def __iter__(self) -> Iterator[KernelReport]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __contains__(self, name: object) -> bool:
        return any(name in (it, it.name) for it in self.kernels)

    def __getitem__(self, name: str) -> KernelReport:
        for it in self.kernels:
            if it.name == name:
                return it
        known = ", ".join(it.name for it in self.kernels) or "none"
        raise MissingNameError(f"no kernel {shown(name)}; there are: {known}")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of `clmap-lsp analyze`."""
        from clmap_lsp.report.analysis_json import AnalysedFile, file_json

        file = AnalysedFile(self.program.path, self.program, self.analysis)
        return {"schema": 1, "device": self.analysis.device.id, "files": [file_json(file)]}

    def __repr__(self) -> str:
        return f"<report of {counted(len(self), 'kernel')} on {self.analysis.device.id}>"

    def _repr_html_(self) -> str:
        device = html.escape(self.analysis.device.name)
        return f"<p>on {device}</p>" + "".join(it._repr_html_() for it in self.kernels)
