"""A kernel as compiled, for people and JSON: what each access became, resources, ISA by source line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clmap_lsp.compiled.build import Compiled, compiled
from clmap_lsp.compiled.counts import Executed, executed, profile
from clmap_lsp.compiled.machine_code import Instruction
from clmap_lsp.compiled.target import target_of
from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Initializer, Kernel
    from clmap_lsp.source.span import Span


@dataclass(frozen=True, slots=True)
class CompiledAccess:
    """What became of one access of the source."""

    instructions: tuple[tuple[int, int], ...]
    """(bytes of one work-item, how many such instructions the code has)."""
    requests: int | None
    """Of the launch; `None` where that cannot be told."""
    sectors: int | None
    wavefronts: int | None
    merged: int = 1
    """How many accesses of the source the widest of them stands for."""


@dataclass(frozen=True, slots=True)
class IsaLine:
    """One instruction and where in the source it comes from."""

    span: Span | None
    text: str


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One kernel as the back end left it."""

    target: str
    registers: int | None
    registers_exact: bool
    spill_bytes: int | None
    private_bytes: int
    local_bytes: int
    accesses: Mapping[int, CompiledAccess]
    """By site; an access that the compiler removed has no instructions."""
    lines: tuple[IsaLine, ...]
    mix: Mapping[str, float] | None
    """Issue slots of SIMD groups by pipe, over the launch."""
    unknown: tuple[str, ...] = ()
    reason: str = ""
    """Why nothing was counted, where that is so."""


def compiled_kernel(
    kernel: Kernel, launch: Launch | None, device: DeviceModel, constants: tuple[Initializer, ...]
) -> CompiledKernel | str:
    """Compile a kernel for a device and count what a launch runs of it; the answer may be why not."""
    target = target_of(device)
    if target is None:
        return f"LLVM has no back end for {device.id}"
    made = compiled(kernel, target, constants)
    if isinstance(made, str):
        return made
    found = "there is no launch" if launch is None else profile(made, launch, device, constants)
    if isinstance(found, str):
        return _summary(made, None, found)
    return _summary(made, executed(made, found, device), "")


def _summary(made: Compiled, run: Executed | None, reason: str) -> CompiledKernel:
    code = made.code
    sites = range(made.probed.first_site)
    return CompiledKernel(
        made.target.name,
        code.registers,
        code.registers_exact,
        code.spill_bytes,
        code.private_bytes,
        code.local_bytes,
        {site: it for site in sites if (it := _access(made, run, site)) is not None},
        tuple(IsaLine(_span(made, it), it.text) for block in code.blocks for it in block.instructions),
        None if run is None else _mix(run),
        made.unknown,
        reason,
    )


def _span(made: Compiled, it: Instruction) -> Span | None:
    return made.spans[it.statement] if 0 < it.statement < len(made.spans) else None


def _access(made: Compiled, run: Executed | None, site: int) -> CompiledAccess | None:
    if run is None:
        found = [
            it.memory
            for block in made.code.blocks
            for it in block.instructions
            if it.site == site and it.memory is not None
        ]
        return CompiledAccess(_widths([it.size for it in found]), None, None, None) if found else None
    mine = [it for it in run.accesses if it.site == site]
    sizes = [it.instruction.memory.size for it in mine if it.instruction.memory is not None]
    is_local = any(it.instruction.memory.space == "local" for it in mine if it.instruction.memory is not None)
    units: float | None = 0.0
    for one in mine:
        units = None if units is None or one.units is None else units + one.units
    total = None if units is None else round(units)
    return CompiledAccess(
        _widths(sizes),
        round(sum(it.requests for it in mine)),
        0 if is_local else total,
        total if is_local else 0,
        max((it.merged for it in mine), default=1),
    )


def _widths(sizes: list[int]) -> tuple[tuple[int, int], ...]:
    return tuple((size, sizes.count(size)) for size in sorted(set(sizes), reverse=True))


def _mix(run: Executed) -> dict[str, float]:
    total: dict[str, float] = {}
    for weight, block in zip(run.weights, run.compiled.code.blocks, strict=True):
        for it in block.instructions:
            for pipe, slots in ((it.pipe, it.cost), *it.extra):
                if slots:
                    total[pipe.value] = total.get(pipe.value, 0.0) + weight * slots
    return {name: round(slots, 3) for name, slots in sorted(total.items())}
