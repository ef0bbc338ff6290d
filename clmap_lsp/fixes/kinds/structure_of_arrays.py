"""Give a kernel one array for each member of its structures.

Neighbouring work-items that read one member of an array of structures are a whole structure apart; in an
array of that member they are side by side. The host must hand over each member's array, so this is shown
with its host change; it is verified on the launch's data, taken apart before and put together after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.parameters import TypedParameter, pointer_parameters
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.launch.contents import buffer_contents, numpy_dtype
from clmap_lsp.launch.model import BufferArgument, Fill
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, StructType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Argument, Launch
    from clmap_lsp.source.types import Field

KIND = "structure-of-arrays"
NEEDS = "a buffer of structures of which members are accessed one by one"
MOST_ELEMENTS = 1 << 16
"""Structures of a launch whose data are taken apart. Of a larger one only the traffic is weighed."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member that the kernel uses, and its array's name."""

    field: Field
    scalar: ScalarType
    array: str


@dataclass(frozen=True, slots=True)
class _Plan:
    parameter: TypedParameter
    struct: StructType
    members: tuple[_Member, ...]
    uses: tuple[tuple[int, int, int, str], ...]
    """(start of the name, end of the subscript, end of the member, member) of each use."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each array of structures whose members are used one by one."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel) or subject.analysis.kernel.frames:
        return
    for parameter in pointer_parameters(scope):
        plan = _plan(scope, parameter)
        if plan is None:
            continue
        arrays = ", ".join(f"`{it.array}`" for it in plan.members)
        name = parameter.variable.name
        yield Proposal(
            KIND,
            f"Take `{name}` apart into an array for each member",
            _edits(scope, plan),
            ("CM101", "CM102", "CM103"),
            is_sketch=True,
            sites=frozenset(it.site for it in facts.accesses(subject.analysis) if it.buffer == name),
            relaunch=lambda launch, plan=plan: _apart(launch, plan),  # type: ignore[misc]
            restore=lambda launch, buffers, plan=plan: _together(launch, buffers, plan),  # type: ignore[misc]
            host_change=f"keep {arrays} as buffers of their own instead of `{name}`",
        )


def _plan(scope: Scope, parameter: TypedParameter) -> _Plan | None:
    kind, name = parameter.variable.type, parameter.variable.name
    if not isinstance(kind, PointerType) or kind.space is not AddressSpace.GLOBAL:
        return None
    struct = kind.pointee
    argument = scope.subject.launch.arguments.get(name)
    if not isinstance(struct, StructType) or struct.is_union or not isinstance(argument, BufferArgument):
        return None
    if argument.element or argument.count == 0 or argument.fill is Fill.NOINIT:
        return None
    uses = _uses(scope, name, parameter.end)
    fields = {it.name: it for it in struct.fields}
    used = {} if uses is None else {it[3]: fields.get(it[3]) for it in uses}
    if uses is None or (len(used) < 2 and len(struct.fields) < 2):
        return None
    members = []
    for field in struct.fields:
        if field.name in used:
            if not isinstance(field.type, ScalarType) or field.bits is not None:
                return None
            members.append(_Member(field, field.type, scope.fresh(f"{name}_{field.name}")))
    return _Plan(parameter, struct, tuple(members), uses) if len(members) == len(used) else None


def _uses(scope: Scope, name: str, declared: int) -> tuple[tuple[int, int, int, str], ...] | None:
    """Return every `name[…].member`; `None` where the name is used in any other way."""
    found = []
    for at in scope.mentions(name):
        if at < declared:
            continue
        opening = at + len(name)
        if scope.shown[opening : opening + 1] != "[":
            return None
        depth, close = 1, opening + 1
        while depth:
            depth += {"[": 1, "]": -1}.get(scope.shown[close], 0)
            close += 1
        member = re.compile(r"\s*\.\s*([A-Za-z_]\w*)").match(scope.shown, close)
        if member is None or name in scope.words(opening, close):
            return None
        found.append((at, close, member.end(), member[1]))
    return tuple(found) or None


def _edits(scope: Scope, plan: _Plan) -> tuple[Edit, ...]:
    arrays = {it.field.name: it.array for it in plan.members}
    text = scope.text[plan.parameter.start : plan.parameter.end]
    head = re.match(r"\s*", text)
    space = head.group() if head else ""
    declared = []
    pattern = re.compile(rf"\b(?:struct\s+)?{re.escape(_spelt(text, plan))}\b")
    for member in plan.members:
        single = pattern.sub(str(member.scalar), text.strip(), count=1)
        declared.append(re.sub(rf"\b{re.escape(plan.parameter.variable.name)}$", member.array, single))
    edits = [
        scope.replaced(plan.parameter.start, plan.parameter.end, space + ", ".join(declared)),
    ]
    for start, close, end, member_name in plan.uses:
        edits.append(scope.replaced(start, start + len(plan.parameter.variable.name), arrays[member_name]))
        edits.append(scope.replaced(close, end, ""))
    return tuple(edits)


def _spelt(text: str, plan: _Plan) -> str:
    """Return the structure's name as the parameter spells it: the word before the star."""
    found = re.search(r"([A-Za-z_]\w*)\s*(?:const\s*|volatile\s*)*\*", text)
    return found[1] if found else plan.struct.name


def _rows(data: NDArray[np.uint8], plan: _Plan) -> NDArray[np.uint8]:
    count = data.size // plan.struct.size
    return data[: count * plan.struct.size].reshape(count, plan.struct.size)


def _apart(launch: Launch, plan: _Plan) -> Launch:
    """Return the launch with the members' arrays in the structures' place, with the same data."""
    arguments: dict[str, Argument] = {}
    for name, argument in launch.arguments.items():
        if name != plan.parameter.variable.name or not isinstance(argument, BufferArgument):
            arguments[name] = argument
            continue
        if argument.count > MOST_ELEMENTS:
            arguments |= {it.array: BufferArgument(Fill.ZEROS, argument.count) for it in plan.members}
            continue
        rows = _rows(buffer_contents(argument, plan.parameter.variable.type), plan)
        for member in plan.members:
            at = member.field.offset
            values = rows[:, at : at + member.scalar.size].copy().view(numpy_dtype(member.scalar)).ravel()
            text = ",".join(repr(it) for it in values.tolist())
            arguments[member.array] = BufferArgument(Fill.VALUES, values.size, text=text)
    return replace(launch, arguments=arguments)


def _together(
    launch: Launch, buffers: Mapping[str, NDArray[np.uint8]], plan: _Plan
) -> Mapping[str, NDArray[np.uint8]]:
    """Return the buffers with the structures in their members' place; unused members are as they were."""
    argument = launch.arguments[plan.parameter.variable.name]
    assert isinstance(argument, BufferArgument), "only buffers are taken apart"
    data = buffer_contents(argument, plan.parameter.variable.type)
    rows = _rows(data, plan)
    for member in plan.members:
        at = member.field.offset
        rows[:, at : at + member.scalar.size] = buffers[member.array].reshape(len(rows), member.scalar.size)
    return {**buffers, plan.parameter.variable.name: data}
