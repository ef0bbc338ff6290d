"""Other launches that a kernel may as well have, where parts of its launch were guessed.

What a rule finds on all of them does not hang on the guess.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.clues import TURNS, find_clues
from clmap_lsp.launch.members import find_members
from clmap_lsp.launch.model import OFFSET, Argument, Launch, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.source import ir

_SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((64,), (128,), (256,)),
    2: ((256, 1), (1, 256), (16, 16), (32, 8), (64, 4)),
    3: ((64, 1, 1), (8, 8, 4), (16, 16, 1), (1, 1, 64)),
}
"""Shapes of work-groups that programs are seen to use."""
_LEAST = 8
"""Smaller scalars are factors and flags, not sizes."""
_SMALL_NAME = re.compile(
    r"components?|channels|depth|radius|pad|ksize|halo|border|taps|order|scale|factor", re.IGNORECASE
)
"""What people call numbers that are small: colours of a pixel, cells of a border."""
_INCREMENT = re.compile(r"inc(?:[xy]|rement)?$", re.IGNORECASE)
"""What steps from element to element of a vector, as in BLAS: mostly 1."""
_SHORT, _FEW = 63, 15
"""Iterations of one of several loops, where rows are as long and where they are not: more cost time and say
the same."""
_SMALL = 3
_NOT_ONE = 8
"""For what was taken for 1 because nothing says more: an offset, a pitch, a number of channels. A granule of
floats: of rows that were said to be misaligned nothing is left."""


@dataclass(frozen=True, slots=True)
class Plausible:
    """Another launch: what it fixes, and the guess that it takes the place of, for people."""

    launch: PartialLaunch
    instead_of: str
    """`the local size is 16x16`, `N is 256`."""
    invented: bool = False
    """The guess is a value of the program's, not the shape of the groups."""


def plausible(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    """Yield other values of what was guessed in a launch: group shapes, then scalars."""
    yield from _shapes(kernel, launch)
    yield from _offsets(kernel, launch)
    yield from _scalars(kernel, launch)


def _known(launch: Launch) -> dict[str, Argument]:
    return {name: it for name, it in launch.arguments.items() if name not in launch.inferred}


def _kept(kernel: ir.Kernel, launch: Launch) -> dict[str, Argument]:
    """Return what another shape of the groups leaves as it is, guesses too unless they may be of it."""
    ends = {it.name for it in find_clues(kernel).ends if isinstance(it, ir.Variable)}
    groups = (g // x for g, x in zip(launch.global_size, launch.local_size, strict=True))
    of_shape = {*launch.local_size, math.prod(launch.local_size), *groups} - {0, 1}
    guessed = {
        name: it
        for name, it in launch.arguments.items()
        if isinstance(it, ScalarArgument) and (name in ends or of_shape.isdisjoint(it.values))
    }
    return {**guessed, **_known(launch)}


def _shapes(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    if "local" not in launch.inferred or kernel.attributes.reqd_work_group_size:
        return
    if find_clues(kernel).local_sizes:
        return  # Arrays in local memory, or tiles, say the size.
    n = len(launch.local_size)
    fixed = () if "global" in launch.inferred else launch.global_size
    for shape in _SHAPES[n]:
        sizes = zip(launch.global_size, shape, strict=True)
        if shape != launch.local_size and all(g >= x if not fixed else g % x == 0 for g, x in sizes):
            part = PartialLaunch(
                kernel.name,
                fixed or launch.global_size,
                shape,
                launch.global_offset,
                parsed=_kept(kernel, launch),
                origin=Origin.GIVEN,
            )
            yield Plausible(part, f"the local size is {'x'.join(map(str, launch.local_size))}")


def _offsets(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    """Yield a launch whose work-items follow these, as where a program launches part by part."""
    if OFFSET not in launch.inferred:
        return
    behind = tuple(map(operator.add, launch.global_offset, launch.global_size))
    part = PartialLaunch(
        kernel.name,
        launch.global_size,
        launch.local_size,
        behind,
        parsed=_kept(kernel, launch),
        origin=Origin.GIVEN,
    )
    shown = "x".join(map(str, launch.global_offset))
    yield Plausible(part, f"the global offset is {shown}", invented=True)


def _scalars(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    """Yield a launch with every guessed size a little less, and so no power of two.

    Then one in which loops that step by all work-items have one turn, one in which the first of several
    branches has the whole launch and ranges are not empty, and one in which what is small by its name is
    small, and what was taken for 1 is not.
    """
    guessed = dict(_guessed(kernel, launch))
    clues = find_clues(kernel)
    counted = {it.name: granule for it, granule in clues.bytes.granules.items()}
    sizes = {name: value for name, value in guessed.items() if value // counted.get(name, 1) >= _LEAST}
    if sizes:
        of_items = clues.ends | clues.strided | clues.shared_out | clues.totals.keys() | clues.cubed
        nested = clues.limits - of_items if len(clues.limits) > 1 else ()
        most = {it.name: _SHORT if it in clues.factors else _FEW for it in nested}
        smaller = {
            name: min(value - counted.get(name, 1), value if name in counted else most.get(name, value))
            for name, value in sizes.items()
        }
        yield _with(kernel, launch, sizes, smaller)
    shared = {it.name for it in clues.strided}
    once = {name: value // TURNS for name, value in guessed.items() if name in shared and value % TURNS == 0}
    if once:
        yield _with(kernel, launch, {name: guessed[name] for name in once}, once)
    none = {name: 0 for name in _subtracted(kernel) if guessed.get(name)}
    if none:
        yield _with(kernel, launch, {name: guessed[name] for name in none}, none)
    ends = [name for name in _ends_of_parts(kernel) if guessed.get(name, _LEAST) < _LEAST]
    parts = dict.fromkeys(ends, math.prod(launch.global_size)) if len(ends) > 1 else {}
    parts |= {
        last: guessed[first] + _SHORT
        for last, first in _differences(kernel)
        if last in guessed and guessed[last] == guessed.get(first)
    }
    if parts:
        yield _with(kernel, launch, {name: guessed[name] for name in parts}, parts)
    forms = [form.atoms() for form in clues.bounds.values()]
    bounds = {it.name for atoms in forms if len(atoms) == 1 for it in atoms if isinstance(it, ir.Variable)}
    others = {name: 1 for name in sizes if name not in bounds and _INCREMENT.search(name)}
    others |= {name: _SMALL for name in sizes if name not in bounds and _SMALL_NAME.search(name)}
    others |= {name: value * _NOT_ONE for name, value in guessed.items() if value == counted.get(name, 1)}
    if others:
        yield _with(kernel, launch, {name: guessed[name] for name in others}, others)


def _ends_of_parts(kernel: ir.Kernel) -> list[str]:
    """Return the parameters that plain ids are compared with.

    Several share a launch out among branches, as `id < first` and `id < second` do: with all of them small,
    the last branch has it all.
    """
    values: dict[ir.Variable, set[bool]] = {}
    for it in ir.walk(kernel.body):
        if isinstance(it, ir.Assign):
            values.setdefault(it.variable, set()).add(_is_id(it.value))
    ids = frozenset(variable for variable, are_ids in values.items() if are_ids == {True})
    parameters = frozenset(kernel.parameters)

    def is_plain_id(side: ir.Expression) -> bool:
        return _is_id(side) or ir.variable_of(side) in ids

    compared = [it for it in ir.all_expressions(kernel.body) if isinstance(it, ir.Compare)]
    sides = [pair for it in compared for pair in ((it.left, it.right), (it.right, it.left))]
    ends = [ir.variable_of(end) for side, end in sides if is_plain_id(side)]
    return list(dict.fromkeys(it.name for it in ends if it is not None and it in parameters))


def _differences(kernel: ir.Kernel) -> Iterator[tuple[str, str]]:
    """Yield the parameters that are taken from each other, as the ends of a range: equal, it is empty."""
    parameters = frozenset(kernel.parameters)
    for expression in ir.all_expressions(kernel.body):
        if isinstance(expression, ir.Binary) and expression.op is ir.BinaryOp.SUB:
            last, first = (ir.variable_of(it) for it in (expression.left, expression.right))
            if last in parameters and first in parameters and last is not None and first is not None:
                yield last.name, first.name


def _is_id(value: ir.Expression) -> bool:
    value = ir.unconverted(value)
    return isinstance(value, ir.WorkItem) and value.query is ir.WorkItemQuery.GLOBAL_ID


def _subtracted(kernel: ir.Kernel) -> Iterator[str]:
    """Yield the parameters that are only taken away from something, as a border is: there may be none."""
    parameters, only = frozenset(kernel.parameters), dict[ir.Variable, bool]()
    for expression in ir.all_expressions(kernel.body):
        if isinstance(expression, ir.Convert):
            continue
        for at, operand in enumerate(ir.operands(expression)):
            variable = ir.variable_of(operand)
            if variable in parameters and variable is not None:
                is_away = isinstance(expression, ir.Binary) and expression.op is ir.BinaryOp.SUB and at == 1
                only[variable] = only.get(variable, True) and is_away
    yield from (it.name for it, is_only in only.items() if is_only)


def _guessed(kernel: ir.Kernel, launch: Launch) -> Iterator[tuple[str, int]]:
    """Yield the integers that were guessed, those inside structs and vectors as `p.width`."""
    members = {it.name: inside for it, inside in find_members(kernel).of.items()}
    for name, argument in launch.arguments.items():
        if name in launch.inferred and isinstance(argument, ScalarArgument):
            names = [it.name for it in members[name].values()] if name in members else [name]
            for inner, value in zip(names, argument.values, strict=False):
                if isinstance(value, int):
                    yield inner, value


def _with(
    kernel: ir.Kernel, launch: Launch, before: Mapping[str, int], values: Mapping[str, int]
) -> Plausible:
    others = {name: ScalarArgument((value,)) for name, value in values.items() if name in launch.arguments}
    for whole, members in find_members(kernel).of.items():
        guess = launch.arguments.get(whole.name)
        if isinstance(guess, ScalarArgument) and any(it.name in values for it in members.values()):
            pairs = zip(members.values(), guess.values, strict=True)
            changed = tuple(values.get(it.name, value) for it, value in pairs)
            others[whole.name] = replace(guess, values=changed)
    parsed: dict[str, Argument] = {**_known(launch), **others}
    part = PartialLaunch(
        kernel.name,
        launch.global_size,
        launch.local_size,
        launch.global_offset,
        parsed=parsed,
        origin=Origin.GIVEN,
    )
    listed = ", ".join(f"{name} is {value}" for name, value in list(before.items())[:3])
    return Plausible(part, listed, invented=True)
