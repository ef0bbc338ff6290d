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


_kept: KeptByKernel[Compiled | str] = KeptByKernel(64)


def compiled(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled | str:
    """Return a kernel's machine code, or why there is none. Results are kept by kernel and target."""
    known = compiled_before(kernel, target)
    if known is not None:
        return known
    try:
        found: Compiled | str = _compiled(kernel, target, constants)
    except (NotCompiledError, BackendError) as error:
        found = str(error)
    return _kept.keep(kernel, target.name, found)


def compiled_before(kernel: Kernel, target: Target) -> Compiled | str | None:
    """Return what `compiled` said of a kernel, if it was asked lately."""
    return _kept.get(kernel, target.name)


def _compiled(kernel: Kernel, target: Target, constants: tuple[Initializer, ...]) -> Compiled:
    probed = with_probes(kernel)
    made = generate(probed, target, constants)
    written = assembly(made.text, target)
    code = (_nvidia if target.is_nvidia else _amd)(written, symbol_of(kernel), target)
    return Compiled(target, probed, code, made.spans, made.owners, made.unknown)


def _nvidia(written: Assembly, name: str, target: Target) -> MachineCode:
    code = ptx.read(written.text, name)
    real = assemble(written.text, target.cpu)
    if real is None:
        return code
    return dataclasses.replace(
        code, registers=real.registers, registers_exact=True, spill_bytes=real.spill_bytes
    )


def _amd(written: Assembly, name: str, _: Target) -> MachineCode:
    code = amdgcn.read(written.text, name)
    if written.plain is None:
        return code
    plain = amdgcn.read(written.plain, name)
    return dataclasses.replace(
        code, registers=plain.registers, spill_bytes=plain.spill_bytes, private_bytes=plain.private_bytes
    )
