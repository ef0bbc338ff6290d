"""Rewrites of a kernel, for notebooks: what they gain, what they were tested on, and the new source."""

from __future__ import annotations

import difflib
import html
from typing import TYPE_CHECKING

from clmap_lsp.api.staying import Stays
from clmap_lsp.api.tables import table
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Verified
    from clmap_lsp.workbench import OpenedFile


@dataclass(frozen=True, eq=False)
class KernelFix(Stays):
    """One rewrite that gave the kernel's outputs again on every launch that it was tested on."""

    fix: Fix
    verified: Verified
    before_source: str
    source: str
    """The whole source with the rewrite, and with the launch comment of the rewritten kernel."""
    _sent = "title, source and diff"

    @property
    def title(self) -> str:
        """What it does and gains."""
        return self.fix.title

    @property
    def safety(self) -> str:
        """`safe`, `unsafe` or `display`; see docs/fixes.md."""
        return self.fix.safety.value

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must hold and is not tested in the kernel: `n % 4 == 0`."""
        return self.fix.assumptions

    @property
    def host_change(self) -> str | None:
        """What the host program must change; `None` if nothing."""
        return self.fix.host_change

    @property
    def tested_on(self) -> tuple[str, ...]:
        """The launches on which the emulator compared both versions."""
        return self.verified.tested_on

    @property
    def before(self) -> Figures:
        """Traffic and predicted time of the kernel as it is."""
        return self.verified.before

    @property
    def after(self) -> Figures:
        """Traffic and predicted time of the rewritten kernel."""
        return self.verified.after

    @property
    def diff(self) -> str:
        """The rewrite as a unified diff."""
        before, after = (it.splitlines(keepends=True) for it in (self.before_source, self.source))
        return "".join(difflib.unified_diff(before, after, "before", "after"))

    def __repr__(self) -> str:
        return f"<{self.safety} fix: {self.title}>"

    def _repr_html_(self) -> str:
        rows = [
            ("sectors", f"{self.before.totals.sectors:,}", f"{self.after.totals.sectors:,}"),
            ("wavefronts", f"{self.before.totals.wavefronts:,}", f"{self.after.totals.wavefronts:,}"),
        ]
        if self.before.seconds is not None and self.after.seconds is not None:
            rows.append(
                ("predicted", f"{self.before.seconds * 1e6:.3g} µs", f"{self.after.seconds * 1e6:.3g} µs")
            )
        asks = [*self.assumptions, *([self.host_change] if self.host_change else [])]
        listed = "".join(f"<li>{html.escape(it)}</li>" for it in asks)
        launches = ", ".join(dict.fromkeys(self.tested_on))
        return (
            f"<h4>{html.escape(self.title)}</h4><p>{self.safety}; tested on {html.escape(launches)}</p>"
            + (f"<ul>{listed}</ul>" if listed else "")
            + table(("", "before", "after"), rows)
            + f"<pre>{html.escape(self.diff)}</pre>"
        )


def fixes_of(opened: OpenedFile, analysis: KernelAnalysis) -> tuple[KernelFix, ...]:
    """Return the rewrites of a kernel, what pays most first.

    Raises: UsageError if the kernel cannot be run here.
    """
    from clmap_lsp.errors import UsageError
    from clmap_lsp.fixes.edits import apply
    from clmap_lsp.fixes.offer import survey
    from clmap_lsp.launch.problem import LaunchError

    text, path = opened.program.main_file.text, opened.program.main_file.path
    try:
        found = survey(opened.subject(analysis), opened.emulation_settings())
    except LaunchError as error:
        source = analysis.launch.source if analysis.launch is not None else ""
        raise UsageError(str(error.at(source or "the launch"))) from None
    offers = found.offers
    return tuple(KernelFix(fix, verified, text, apply(text, fix.edits, path)) for verified, fix in offers)
