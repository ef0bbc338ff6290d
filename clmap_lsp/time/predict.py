"""The time of a kernel's launch on a device model, or why there is none."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.source.types import PointerType
from clmap_lsp.time.facts import TimeFacts, time_facts
from clmap_lsp.time.model import Prediction, predict

if TYPE_CHECKING:
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Initializer, Kernel
    from clmap_lsp.time.demand import Demand

NO_LLVM = "LLVM is missing: pip install 'clmap-lsp[emulate]'"

_OPERATIONS = "sm_75"
"""A machine whose instructions stand for a CPU's operations: they are counted, never timed as its own."""

_KEPT = 128
_kept: OrderedDict[tuple[int, str, str], tuple[Kernel, Prediction | str]] = OrderedDict()


def time_of(
    kernel: Kernel, launch: Launch | None, device: DeviceModel, constants: tuple[Initializer, ...]
) -> Prediction | str:
    """Return how long a launch takes on a device, or in one line why nobody can tell. Kept by launch."""
    if launch is None:
        return "there is no launch"
    facts = time_facts(device.id)
    if facts is None:
        return _without_facts(device)
    key = (id(kernel), repr(launch), device.id)
    hit = _kept.get(key)
    if hit is not None and hit[0] is kernel:
        _kept.move_to_end(key)
        return hit[1]
    found = demand_of(kernel, launch, device, constants, facts)
    result = found if isinstance(found, str) else predict(found, facts)
    _kept[key] = (kernel, result)
    if len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return result


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
    try:
        import llvmlite.binding  # noqa: F401
    except ImportError:
        return NO_LLVM
    from clmap_lsp.compiled.build import compiled
    from clmap_lsp.compiled.counts import executed, profile
    from clmap_lsp.compiled.target import nvidia, target_of
    from clmap_lsp.emulator.symbolic.control import OverBudgetError
    from clmap_lsp.time.demand import demand

    target = target_of(device) or (nvidia(_OPERATIONS) if device.vendor == "CPU" else None)
    if target is None:
        return f"LLVM has no back end for {device.id}"
    made = compiled(kernel, target, constants)
    if isinstance(made, str):
        return made
    found = profile(made, launch, device, constants)
    if isinstance(found, str):
        return found
    try:
        run = executed(made, found, device)
        return demand(made, found, run, launch, device, facts, _local_arguments(kernel, launch))
    except OverBudgetError as error:
        return error.reason


def _local_arguments(kernel: Kernel, launch: Launch) -> int:
    """Return the bytes of local memory that a launch's arguments ask for."""
    total = 0
    for parameter in kernel.parameters:
        argument = launch.arguments.get(parameter.name)
        if isinstance(argument, LocalArgument) and isinstance(parameter.type, PointerType):
            total += argument.count * max(parameter.type.pointee.size, 1)
    return total
