"""Sizes and bytes of a kernel's buffers for one launch, and where they lie in the trace's address space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.layout import (
    KIND_CONSTANT,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_PRIVATE,
    OFFSET_BITS,
    TRACE_ID_SHIFT,
)
from clmap_lsp.emulator.plan import BufferPlan, Plan
from clmap_lsp.launch.contents import buffer_bytes, buffer_contents, element_type, making_bytes
from clmap_lsp.launch.image import texel_type
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument
from clmap_lsp.launch.problem import LaunchError, TooMuchMemoryError
from clmap_lsp.locality.definition import LocalAddresses
from clmap_lsp.source.ir import Initializer, Kernel, Variable
from clmap_lsp.source.program import Program
from clmap_lsp.source.types import OpaqueType, Type

_PAGE = 1024
"""Buffers start at multiples of this, so that dropping 10 address bits never joins two of them."""


@dataclass(slots=True)
class Buffer:
    """One buffer of a launch."""

    plan: BufferPlan
    size: int
    data: NDArray[np.uint8] | None = field(repr=False)
    """None for private objects and local memory, which live in frames and in the local arena."""
    trace: int
    """The trace address of its first byte; -1 for private objects."""
    group_step: int = 0
    unwritten: bool = False

    @property
    def name(self) -> str:
        """Its name in the source."""
        return self.plan.variable.name


@dataclass(frozen=True, slots=True)
class AddressSpaceMap:
    """All buffers, by number from 1."""

    buffers: tuple[Buffer, ...]
    local_bytes: int
    private_bytes: int
    extents: Mapping[int, int]
    """For each trace id the bytes of its range."""
    groups: int


def needed_bytes(plan: Plan, launch: Launch) -> int:
    """Return the bytes that the launch's buffers take."""
    return sum(_size(plan.kernel, it, launch) for it in plan.buffers if it.kind != KIND_PRIVATE)


def _check_room(plan: Plan, launch: Launch, limit_bytes: int) -> None:
    """Refuse a launch whose buffers do not fit, before any is made."""
    needed = 0
    most = 0
    for it in plan.buffers:
        if it.kind not in (KIND_GLOBAL, KIND_CONSTANT):
            continue
        size = _size(plan.kernel, it, launch)
        argument = launch.arguments.get(it.variable.name) if it.is_argument else None
        needed += size
        if isinstance(argument, BufferArgument):
            most = max(most, making_bytes(argument, size) - size)
    if needed + most > limit_bytes:
        shown = min(needed + most, 1 << 80) >> 20  # Thousands of digits are no number that Python prints.
        raise TooMuchMemoryError(
            f"the launch needs about {shown} MB for its buffers, over the limit of {limit_bytes >> 20} MB",
            "use a smaller launch or raise the memory limit",
        )


def build(
    program: Program,
    plan: Plan,
    launch: Launch,
    view: LocalAddresses,
    limit_bytes: int,
    known: Mapping[str, NDArray[np.uint8]] = MappingProxyType({}),
) -> AddressSpaceMap:
    """Make the buffers of a launch; those of `known` arguments are there already.

    Raises: LaunchError if an argument is missing, unreadable, or over the limit.
    """
    _check_room(plan, launch, limit_bytes)
    groups = int(np.prod([int(it) for it in launch.num_groups], dtype=object))
    numbers = _trace_ids(plan, view)
    extents: dict[int, int] = {}
    buffers: list[Buffer] = []
    initializers = {it.variable: it for it in program.constants}
    buffer_of = {it.variable: it.number for it in plan.buffers}
    for plan_buffer in plan.buffers:
        size = _size(plan.kernel, plan_buffer, launch)
        buffer = Buffer(plan_buffer, size, None, -1)
        if plan_buffer.kind != KIND_PRIVATE:
            trace_id = numbers[plan_buffer.number]
            buffer.trace = trace_id << TRACE_ID_SHIFT
            reach = size
            if plan_buffer.kind == KIND_LOCAL and view is LocalAddresses.DISTINCT:
                buffer.group_step = -(-max(size, 1) // _PAGE) * _PAGE
                reach = buffer.group_step * groups
            extents[trace_id] = max(extents.get(trace_id, 0), reach)
        if plan_buffer.kind in (KIND_GLOBAL, KIND_CONSTANT):
            initializer = initializers.get(plan_buffer.variable)
            made = known.get(plan_buffer.variable.name) if plan_buffer.is_argument else None
            buffer.data = (
                _contents(plan.kernel, plan_buffer, launch, size, initializer, buffer_of, limit_bytes)
                if made is None
                else made
            )
            argument = launch.arguments.get(plan_buffer.variable.name)
            buffer.unwritten = isinstance(argument, BufferArgument) and argument.fill is Fill.NOINIT
        buffers.append(buffer)
    local = sum(_room(it.size) for it in buffers if it.plan.kind == KIND_LOCAL)
    return AddressSpaceMap(tuple(buffers), local, plan.private_bytes, extents, groups)


def _room(size: int) -> int:
    return -(-max(size, 1) // 16) * 16


def _trace_ids(plan: Plan, view: LocalAddresses) -> dict[int, int]:
    """Number the buffers in the trace: global and constant from 1 on, then local; `alias` joins the two."""
    shared = [it for it in plan.buffers if it.kind in (KIND_GLOBAL, KIND_CONSTANT)]
    local = [it for it in plan.buffers if it.kind == KIND_LOCAL]
    numbers = {it.number: index + 1 for index, it in enumerate(shared)}
    first = 1 if view is LocalAddresses.ALIAS else len(shared) + 1
    numbers.update({it.number: first + index for index, it in enumerate(local)})
    return numbers


def _size(kernel: Kernel, plan: BufferPlan, launch: Launch) -> int:
    if not plan.is_argument:
        return plan.size
    argument = launch.arguments.get(plan.variable.name)
    match argument:
        case BufferArgument(fill=Fill.NULL):
            return 0
        case BufferArgument():
            return buffer_bytes(argument, _element_owner(kernel, plan))
        case LocalArgument(count=count):
            return max(count, 0) * max(element_type(plan.variable.type).size, 1)
        case _:
            raise LaunchError(f"no buffer for argument `{plan.variable.name}`", "give it in the launch")


def _element_owner(kernel: Kernel, plan: BufferPlan) -> Type:
    kind = plan.variable.type
    return texel_type(kernel, plan.variable) if isinstance(kind, OpaqueType) else kind


def _contents(
    kernel: Kernel,
    plan: BufferPlan,
    launch: Launch,
    size: int,
    initializer: Initializer | None,
    buffer_of: Mapping[Variable, int],
    limit_bytes: int,
) -> NDArray[np.uint8]:
    if not plan.is_argument:
        if size > limit_bytes:
            name = plan.variable.name
            raise LaunchError(
                f"`{name}` takes {size} bytes, over the limit of {limit_bytes}", "make it smaller"
            )
        return _program_scope(size, initializer, buffer_of)
    argument = launch.arguments[plan.variable.name]
    assert isinstance(argument, BufferArgument)
    return buffer_contents(argument, _element_owner(kernel, plan), limit_bytes=limit_bytes)


def _program_scope(
    size: int, initializer: Initializer | None, buffer_of: Mapping[Variable, int]
) -> NDArray[np.uint8]:
    """Return the bytes of a program-scope object, its pointers in their 64-bit form."""
    data = np.zeros(max(size, 1), np.uint8)
    if initializer is None or initializer.data is None:
        return data
    data[: len(initializer.data)] = np.frombuffer(initializer.data, np.uint8)[:size]
    for at, target, by in initializer.addresses:
        encoded = (buffer_of[target] << OFFSET_BITS) + by
        data[at : at + 8] = np.frombuffer(encoded.to_bytes(8, "little"), np.uint8)
    return data


def with_pointed_objects(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with the program-scope objects that pointers in its own ones lead to."""
    initializers = {it.variable: it for it in program.constants if it.addresses}
    found = list(kernel.constants)
    for variable in found:  # Grows on the way.
        if (initializer := initializers.get(variable)) is not None:
            found += dict.fromkeys(it for _, it, _ in initializer.addresses if it not in found)
    return kernel if len(found) == len(kernel.constants) else replace(kernel, constants=tuple(found))
