"""Add to an analysis what a compiler's back end leaves of the kernels."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from clmap_lsp.analysis.model import FileAnalysis
from clmap_lsp.devices.model import DeviceModel
from clmap_lsp.emulator.result import AccessView, EmulationResult
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.ir import Initializer, Kernel
from clmap_lsp.source.program import Program
from clmap_lsp.time.predict import NO_LLVM, time_of

if TYPE_CHECKING:
    from clmap_lsp.compiled.summary import CompiledKernel


def compiled_of(
    kernel: Kernel, launch: Launch | None, device: DeviceModel, constants: tuple[Initializer, ...]
) -> CompiledKernel | str:
    """Return a kernel as a device's back end leaves it, or why that is not known."""
    try:
        from clmap_lsp.compiled.summary import compiled_kernel
    except ModuleNotFoundError:
        return NO_LLVM
    return compiled_kernel(kernel, launch, device, constants)


def with_compiled(program: Program, analysis: FileAnalysis) -> FileAnalysis:
    """Return the analysis with `compiled` filled in for every kernel."""
    device, constants = analysis.device, program.constants
    kernels = tuple(
        dataclasses.replace(it, compiled=compiled_of(it.kernel, it.launch, device, constants))
        for it in analysis.kernels
    )
    return dataclasses.replace(analysis, kernels=kernels)


def with_times(program: Program, analysis: FileAnalysis) -> FileAnalysis:
    """Return the analysis with `time` filled in for every kernel."""
    kernels = tuple(
        dataclasses.replace(it, time=time_of(it.kernel, it.launch, analysis.device, program.constants))
        for it in analysis.kernels
    )
    return dataclasses.replace(analysis, kernels=kernels)


def sites_as_compiled(
    program: Program, kernel: Kernel, launch: Launch, device: DeviceModel, result: EmulationResult
) -> EmulationResult:
    """Return an emulation whose sites count what the back end leaves; a note says for what, or why not."""
    found = compiled_of(kernel, launch, device, program.constants)
    why = found if isinstance(found, str) else found.reason
    if isinstance(found, str) or why:
        note = f"what a compiler leaves is unknown, so that accesses are as written: {why}"
        return dataclasses.replace(result, notes=(*result.notes, note))
    sites = []
    for site in result.sites:
        left = found.accesses.get(site.site)
        if left is None or left.requests is None:
            sites.append(site)
            continue
        is_local = site.wavefronts is not None
        sites.append(
            dataclasses.replace(
                site,
                requests=left.requests,
                sectors=None if is_local else left.sectors,
                wavefronts=left.wavefronts if is_local else None,
            )
        )
    note = f"requests, sectors and wavefronts of sites are those of {found.target}; the rest is as written"
    return dataclasses.replace(
        result, sites=tuple(sites), access_view=AccessView.OPTIMISED, notes=(*result.notes, note)
    )
