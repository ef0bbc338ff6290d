"""The time of a kernel's launch on a device model, or why there is none."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.source.per_kernel import KeptByKernel
from clmap_lsp.source.types import PointerType
from clmap_lsp.time.facts import TimeFacts, time_facts
from clmap_lsp.time.model import Prediction, predict

if TYPE_CHECKING:
    from clmap_lsp.compiled.build import Compiled
    from clmap_lsp.compiled.counts import Profile
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Initializer, Kernel
    from clmap_lsp.time.demand import Demand

NO_LLVM = "LLVM is missing: pip install 'clmap-lsp[emulate]'"

_OPERATIONS = "sm_75"
"""A machine whose instructions stand for a CPU's operations: they are counted, never timed as its own."""

_LIKELY_TURNS = 16
"""Iterations of a loop that data end: entries of a row of a sparse matrix, steps of a search among 65,536,
neighbours of a particle. Nobody knows; the range begins at none, and ends at `_MOST_TURNS`, or at what the
rest of the loop's condition allows."""
_MOST_TURNS = 64

_kept: KeptByKernel[Prediction | str] = KeptByKernel(128)


def time_of(
    kernel: Kernel, launch: Launch | None, device: DeviceModel, constants: tuple[Initializer, ...]
) -> Prediction | str:
    """Return how long a launch takes on a device, or in one line why nobody can tell. Kept by launch."""
    if launch is None:
        return "there is no launch"
    facts = time_facts(device.id)
    if facts is None:
        return _without_facts(device)
    asked = repr(launch), device.id
    known = _kept.get(kernel, asked)
    if known is not None:
        return known
    return _kept.keep(kernel, asked, _predicted(kernel, launch, device, constants, facts))


def _predicted(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    facts: TimeFacts,
) -> Prediction | str:
    """Return the time as if branches that depend on data ran, with a range that holds if none or all does."""
    cases = _cases(kernel, launch, device, constants, facts)
    if isinstance(cases, str):
        return cases
    found = [predict(it, facts) for it in cases]
    low, high = min(it.low for it in found), max(it.high for it in found)
    return dataclasses.replace(found[0], low=low, high=high, extremes=tuple(cases[1:]))


def _without_facts(device: DeviceModel) -> str:
    from clmap_lsp.devices.catalogue import list_models

    products = [it.id for it in list_models() if it.generation == device.id and time_facts(it.id)]
    if products:
        return f"times differ between products of {device.id}: name one with --device {' or '.join(products)}"
    return f"no timing facts of {device.id}; `clmap-lsp calibrate --time` measures those of a device"


def demand_of(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    facts: TimeFacts,
) -> Demand | str:
    """Return what a launch asks of a device, or why that is not known."""
    found = _cases(kernel, launch, device, constants, facts)
    return found if isinstance(found, str) else found[0]


def _cases(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    facts: TimeFacts,
) -> list[Demand] | str:
    """Return what a launch asks for, first as it is likely, then at the least and at the most.

    The likely one takes the branches that depend on data, since one work-item in a SIMD group is enough for
    that, makes `_LIKELY_TURNS` iterations of the loops that data end, and finds addresses that depend on data
    side by side. At the least no such branch is taken and no such iteration made; at the most `_MOST_TURNS`
    are, and the lanes of such an address are scattered.
    """
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return NO_LLVM
    from clmap_lsp.compiled.build import compiled
    from clmap_lsp.compiled.counts import Supposition, profile, sampled_profile
    from clmap_lsp.compiled.target import nvidia, target_of
    from clmap_lsp.emulator.symbolic.control import OverBudgetError
    from clmap_lsp.emulator.symbolic.machine import Turns

    target = target_of(device) or (nvidia(_OPERATIONS) if device.vendor == "CPU" else None)
    if target is None:
        return f"LLVM has no back end for {device.id}"
    made = compiled(kernel, target, constants)
    if isinstance(made, str):
        return made
    likely = Supposition(taken=True, turns=Turns(_LIKELY_TURNS))
    found = profile(made, launch, device, constants, likely)
    if isinstance(found, str):
        return found
    try:
        return _demands(made, found, launch, device, constants, facts)
    except OverBudgetError as error:
        reason = error.reason
    if found.scale > 1.0:
        return reason
    some = sampled_profile(made, launch, device, constants, reason, likely)
    if isinstance(some, str):
        return some
    try:
        return _demands(made, some, launch, device, constants, facts)
    except OverBudgetError as error:
        return error.reason


def _demands(
    made: Compiled,
    found: Profile,
    launch: Launch,
    device: DeviceModel,
    constants: tuple[Initializer, ...],
    facts: TimeFacts,
) -> list[Demand]:
    """Return what is likely, what is the least and what is the most. Raises: OverBudgetError."""
    from clmap_lsp.compiled.counts import Supposition, executed, profile
    from clmap_lsp.emulator.symbolic.machine import Turns
    from clmap_lsp.time.demand import demand

    local = _local_arguments(made.probed.kernel, launch)

    def asked(one: Profile) -> Demand:
        return demand(made, one, executed(made, one, device), launch, device, facts, local)

    cases = [asked(found)]
    most = cases[0]
    if found.supposed:
        cases.append(asked(found.without_supposed(made)))
    if most.supposed_turns:
        suppose = Supposition(taken=True, turns=Turns(_MOST_TURNS, to_the_bound=True))
        more = profile(made, launch, device, constants, suppose)
        if not isinstance(more, str):
            most = asked(more)
            cases.append(most)
    if most.has_unknown_addresses:
        cases.append(most.scattered(device.simd_width))
    return cases


def _local_arguments(kernel: Kernel, launch: Launch) -> int:
    """Return the bytes of local memory that a launch's arguments ask for."""
    total = 0
    for parameter in kernel.parameters:
        argument = launch.arguments.get(parameter.name)
        if isinstance(argument, LocalArgument) and isinstance(parameter.type, PointerType):
            total += argument.count * max(parameter.type.pointee.size, 1)
    return total
