"""Findings about registers, held against what LLVM's back end for the device leaves of the kernel.

Rules judge the source: which arrays cannot be in registers, how many registers a copy takes. A compiler
unrolls what they take for a loop and removes what nobody reads. Where it can be asked, it has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.compiled.resources import PrivateMemory, Resources, private_memory, resources
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.hierarchy.occupancy import local_bytes, resident
from clmap_lsp.rules.patterns import is_scattered
from clmap_lsp.source.per_kernel import n_statements

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.source.ir import Initializer

MAX_STATEMENTS = 6_000
"""Statements of one file's kernels that are compiled for findings alone: four seconds. Of others the source
says what is to be said."""
_MOST_REGISTERS = 255
"""Registers a work-item can have on the GPUs that kernels are compiled for where the device says nothing."""
_Judge = Callable[[Finding, "KernelAnalysis", Resources, "DeviceModel"], Finding | None]


def as_compiled(
    findings: Sequence[Finding],
    kernels: Sequence[KernelAnalysis],
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    *,
    waits: bool,
) -> tuple[Finding, ...]:
    """Return the findings that hold of the compiled kernels too, with what these take.

    Args:
        waits: compile the kernels that such a finding is about; else only what was compiled before counts.
    """
    by_name = {it.name: it for it in _compiled_kernels(findings, kernels)}

    def judged(finding: Finding) -> Finding | None:
        kernel, judge = by_name.get(finding.kernel or ""), _OF_REGISTERS.get(finding.code)
        if kernel is None:
            return finding
        if finding.code == _OF_MEMORY:
            memory = private_memory(kernel.kernel, device, constants, waits=waits)
            return finding if memory is None else _spilled(finding, memory)
        found = None if judge is None else resources(kernel.kernel, device, constants, waits=waits)
        return finding if judge is None or found is None else judge(finding, kernel, found, device)

    return tuple(it for it in map(judged, findings) if it is not None)


def compiles_more(
    findings: Sequence[Finding],
    kernels: Sequence[KernelAnalysis],
    device: DeviceModel,
    constants: tuple[Initializer, ...],
) -> bool:
    """Compile the kernels that decide about findings; tells whether one was not compiled before."""
    is_news = False
    of_registers = {it.kernel for it in findings if it.code in _OF_REGISTERS}
    for kernel in (it.kernel for it in _compiled_kernels(findings, kernels)):
        asked = resources if kernel.name in of_registers else private_memory
        ask = partial(asked, kernel, device, constants)
        if ask(waits=False) is None:
            is_news |= ask() is not None
    return is_news


def _compiled_kernels(
    findings: Sequence[Finding], kernels: Sequence[KernelAnalysis]
) -> Iterator[KernelAnalysis]:
    """Yield the kernels that findings about registers ask for, as far as they are few statements together."""
    asked = {it.kernel for it in findings if it.code == _OF_MEMORY or it.code in _OF_REGISTERS}
    left = MAX_STATEMENTS
    for kernel in kernels:
        size = n_statements(kernel.kernel)
        if kernel.name in asked and size <= left:
            left -= size
            yield kernel


def _spilled(finding: Finding, found: PrivateMemory) -> Finding | None:
    """CM503: an array of which nothing is left in private memory is in registers, or gone."""
    if not found.size:
        return None
    line = f"As compiled for {found.target}, {found.size} bytes a work-item lie in memory."
    return _with(finding, line, private_bytes=found.size)


def _few_groups(
    finding: Finding, kernel: KernelAnalysis, found: Resources, device: DeviceModel
) -> Finding | None:
    """CM504: where registers hold down as many work-groups, less local memory changes nothing."""
    if finding.severity is Severity.ERROR or kernel.launch is None or found.registers is None:
        return finding
    items = kernel.launch.group_items
    now = resident(device, items, local_bytes(kernel), found.registers)
    without = resident(device, items, 0, found.registers)
    if now.groups is None or without.groups is None:
        return finding
    registers = f"{found.registers} registers as compiled for {found.target}"
    if without.groups <= now.groups:
        line = f"Less local memory would change nothing: a work-item takes {registers}."
        return replace(_with(finding, line, registers=found.registers), severity=Severity.HINT)
    line = f"Without local memory it would be {without.groups}: a work-item takes {registers}."
    return _with(finding, line, registers=found.registers)


def _repeated(
    finding: Finding, kernel: KernelAnalysis, found: Resources, device: DeviceModel
) -> Finding | None:
    """CM510: what the registers of the copy do to resident work-groups; one that spills as a rule is none."""
    if found.registers is None or kernel.launch is None:
        return finding
    copy = -(-int(finding.data["bytes"]) // 4)
    is_in_memory = found.registers + copy > (device.limits.registers_per_work_item or _MOST_REGISTERS)
    if is_in_memory:
        # In memory the copy is interleaved: that pays where the original is scattered.
        loads = (it for it in kernel.accesses if it.access.span == finding.span)
        if not any(is_scattered(it, device) for it in loads):
            return None
    needed = local_bytes(kernel)
    now, then = (
        resident(device, kernel.launch.group_items, needed, it).groups
        for it in (found.registers, found.registers + copy)
    )
    line = f"Compiled for {found.target}, the kernel takes {found.registers} registers"
    if now is not None and then is not None and not is_in_memory:
        line += f"; with the copy, {then} work-groups instead of {now} stay resident on a compute unit" * (
            then < now
        )
        line += "; with the copy, as many work-groups stay resident" * (then == now)
    return _with(finding, f"{line}.", registers=found.registers)


def _with(finding: Finding, line: str, **data: int) -> Finding:
    return replace(finding, message=f"{finding.message}\n{line}", data={**finding.data, **data})


_OF_MEMORY = "CM503"
"""It asks what is left in memory, which LLVM alone decides."""
_OF_REGISTERS: dict[str, _Judge] = {"CM504": _few_groups, "CM510": _repeated}
"""Those that ask how many registers a work-item has."""
