"""From a kernel to its machine code."""

from __future__ import annotations

import dataclasses

from clmap_lsp.compiled import amdgcn, ptx
from clmap_lsp.compiled.backend import Assembly, BackendError, assembly
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


@dataclass(frozen=True, slots=True)
class _Written:
    """What LLVM made of a kernel, before NVIDIA's assembler has seen it."""

    text: str
    """PTX; empty for other targets, whose back end gives out the registers itself."""
    compiled: Compiled


_kept: KeptByKernel[Compiled | str] = KeptByKernel(64)
_written: KeptByKernel[_Written | str] = KeptByKernel(16)


def compiled(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled | str:
    """Return a kernel's machine code, or why there is none. Results are kept by kernel and target."""
    known = compiled_before(kernel, target)
    if known is not None:
        return known
    made = _by_llvm(kernel, target, constants)
    found = made if isinstance(made, str) else _with_registers(made)
    return _kept.keep(kernel, target.name, found)


def written(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled | str:
    """Return a kernel's machine code without asking NVIDIA's assembler: registers may be an estimate."""
    known = written_before(kernel, target)
    if known is not None:
        return known
    made = _by_llvm(kernel, target, constants)
    return made if isinstance(made, str) else made.compiled


def compiled_before(kernel: Kernel, target: Target) -> Compiled | str | None:
    """Return what `compiled` said of a kernel, if it was asked lately."""
    return _kept.get(kernel, target.name)


def written_before(kernel: Kernel, target: Target) -> Compiled | str | None:
    """Return what `written` said of a kernel, or `compiled`, if they were asked lately."""
    known = compiled_before(kernel, target)
    if known is not None:
        return known
    made = _written.get(kernel, target.name)
    return made.compiled if isinstance(made, _Written) else made


def _by_llvm(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> _Written | str:
    known = _written.get(kernel, target.name)
    if known is not None:
        return known
    try:
        found: _Written | str = _generated(kernel, target, constants)
    except (NotCompiledError, BackendError) as error:
        found = str(error)
    return _written.keep(kernel, target.name, found)


def _generated(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> _Written:
    probed = with_probes(kernel)
    made = generate(probed, target, constants)
    listing = assembly(made.text, target)
    name = symbol_of(kernel)
    code = ptx.read(listing.text, name) if target.is_nvidia else _amd(listing, name)
    text = listing.text if target.is_nvidia else ""
    return _Written(text, Compiled(target, probed, code, made.spans, made.owners, made.unknown))


def _with_registers(made: _Written) -> Compiled:
    """Return what was compiled with the registers that NVIDIA's assembler gives it, where that is at hand."""
    found = made.compiled
    real = assemble(made.text, found.target.cpu) if found.target.is_nvidia else None
    if real is None:
        return found
    code = dataclasses.replace(
        found.code, registers=real.registers, registers_exact=True, spill_bytes=real.spill_bytes
    )
    return dataclasses.replace(found, code=code)


def _amd(listing: Assembly, name: str) -> MachineCode:
    code = amdgcn.read(listing.text, name)
    if listing.plain is None:
        return code
    plain = amdgcn.read(listing.plain, name)
    return dataclasses.replace(
        code, registers=plain.registers, spill_bytes=plain.spill_bytes, private_bytes=plain.private_bytes
    )
