"""From a kernel to its machine code."""

from __future__ import annotations

import dataclasses

from clmap_lsp.compiled import amdgcn, ptx
from clmap_lsp.compiled.backend import Assembly, BackendError, assembly, private_bytes
from clmap_lsp.compiled.code import NotCompiledError, generate
from clmap_lsp.compiled.machine_code import MachineCode
from clmap_lsp.compiled.probes import ProbedKernel, symbol_of, with_probes
from clmap_lsp.compiled.ptxas import assemble
from clmap_lsp.compiled.target import Target
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Initializer, Kernel
from clmap_lsp.source.per_kernel import KeptByKernel
from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel's machine code for one target."""

    target: Target
    probed: ProbedKernel
    code: MachineCode
    spans: tuple[Span, ...]
    """By statement number: where it stands."""
    owners: tuple[int, ...]
    """By statement number: the probe of its block."""
    unknown: tuple[str, ...]
    """Functions whose cost is missing."""


_kept: KeptByKernel[Compiled | str] = KeptByKernel(64)
_in_memory: KeptByKernel[int | str] = KeptByKernel(64)


def compiled(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled | str:
    """Return a kernel's machine code, or why there is none. Results are kept by kernel and target."""
    known = compiled_before(kernel, target)
    if known is not None:
        return known
    try:
        found: Compiled | str = _generated(kernel, target, constants)
    except (NotCompiledError, BackendError) as error:
        found = str(error)
    return _kept.keep(kernel, target.name, found)


def in_memory(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> int | str:
    """Return the bytes of private memory that a work-item's arrays take, or why nobody can tell.

    Of a kernel that is not compiled yet for an NVIDIA GPU no code is written for this question alone.
    """
    known = in_memory_before(kernel, target)
    if known is not None:
        return known
    if not target.is_nvidia:
        made = compiled(kernel, target, constants)
        return made if isinstance(made, str) else made.code.private_bytes
    try:
        found: int | str = private_bytes(generate(with_probes(kernel), target, constants).text, target)
    except (NotCompiledError, BackendError) as error:
        found = str(error)
    return _in_memory.keep(kernel, target.name, found)


def compiled_before(kernel: Kernel, target: Target) -> Compiled | str | None:
    """Return what `compiled` said of a kernel, if it was asked lately."""
    return _kept.get(kernel, target.name)


def in_memory_before(kernel: Kernel, target: Target) -> int | str | None:
    """Return what `in_memory` said of a kernel, or `compiled`, if they were asked lately."""
    made = compiled_before(kernel, target)
    if made is None:
        return _in_memory.get(kernel, target.name)
    return made if isinstance(made, str) else made.code.private_bytes


def _generated(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled:
    probed = with_probes(kernel)
    made = generate(probed, target, constants)
    listing = assembly(made.text, target)
    name = symbol_of(kernel)
    code = _nvidia(listing, name, target) if target.is_nvidia else _amd(listing, name)
    return Compiled(target, probed, code, made.spans, made.owners, made.unknown)


def _nvidia(listing: Assembly, name: str, target: Target) -> MachineCode:
    """Return the code with the registers that NVIDIA's assembler gives it, where that is at hand."""
    code = ptx.read(listing.text, name)
    real = assemble(listing.text, target.cpu)
    if real is None:
        return code
    return dataclasses.replace(
        code, registers=real.registers, registers_exact=True, spill_bytes=real.spill_bytes
    )


def _amd(listing: Assembly, name: str) -> MachineCode:
    code = amdgcn.read(listing.text, name)
    if listing.plain is None:
        return code
    plain = amdgcn.read(listing.plain, name)
    return dataclasses.replace(
        code, registers=plain.registers, spill_bytes=plain.spill_bytes, private_bytes=plain.private_bytes
    )
