"""What a compiler leaves of an access, for hovers: made in quiet moments, shown as soon as it is there."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.escaping import markdown
from clmap_lsp.report.compiled_text import access_text, merged_text
from clmap_lsp.server.patience import Patience
from clmap_lsp.server.turns import Band, Urgency
from clmap_lsp.source.per_kernel import KeptByKernel

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.server.turns import Turns

PATIENCE_S = 0.02
"""How long the first hover waits; a later one has what came later."""
_URGENCY = Urgency(Band.OPENED)
KEPT = 64


class CompiledHover:
    """Has kernels compiled that somebody hovers over, and says what is known of their accesses."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._patience = Patience(PATIENCE_S)
        self._kept: KeptByKernel[Future[CompiledKernel | str]] = KeptByKernel(KEPT)

    async def lines(
        self, snapshot: Snapshot, kernel: KernelAnalysis, accesses: list[AccessAnalysis]
    ) -> tuple[str, ...]:
        """Return what became of accesses; nothing if that is not known within a moment."""
        work = self._compiled(snapshot, kernel)
        if work is None:
            return ()
        if not await self._patience.is_done(work) or work.cancelled() or work.exception() is not None:
            return ()
        found = work.result()
        if isinstance(found, str):
            return ()
        left = ((it.access.direction.value, found.accesses.get(it.access.site)) for it in accesses)
        texts = (merged_text(one, noun) or access_text(one) for noun, one in left if one is not None)
        return tuple(f"- as compiled for {found.target}: {markdown(it)}" for it in dict.fromkeys(texts))

    def _compiled(self, snapshot: Snapshot, kernel: KernelAnalysis) -> Future[CompiledKernel | str] | None:
        """Return what compiles a kernel; while its file is being edited, what did so before."""
        from clmap_lsp.analysis.as_compiled import compiled_of

        device, launch = snapshot.analysis.device, kernel.launch
        asked = device, None if launch is None else launch.fingerprint()
        known = self._kept.get(kernel.kernel, asked)
        if known is not None and not known.cancelled():
            return known
        if snapshot.shown is not None:
            return None
        work = partial(compiled_of, kernel.kernel, launch, device, snapshot.program.constants)
        return self._kept.keep(kernel.kernel, asked, self._turns.submit(_URGENCY, work).future)
