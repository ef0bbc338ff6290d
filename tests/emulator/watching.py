"""Runs that watch every buffer, beside those that take the symbolic engine's word for some."""

from __future__ import annotations

from clmap_lsp.emulator.result import EmulationResult
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program


def watched_like_trusting(source: str, launch: Launch) -> EmulationResult:
    """Return the run that watches all, which must say the same as the trusting one."""
    program = read_program(source, "k.cl")
    kernel = program.kernels[0]
    watched = emulate(program, kernel, launch, EmulationSettings(trace=False))
    trusting = emulate(program, kernel, launch, EmulationSettings())
    assert [(it.kind, it.span) for it in watched.faults] == [(it.kind, it.span) for it in trusting.faults]
    assert {k: v.sha256 for k, v in watched.buffers.items()} == {
        k: v.sha256 for k, v in trusting.buffers.items()
    }
    return watched
