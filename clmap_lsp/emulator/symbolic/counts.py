"""Exact counts of a launch from the kernel's text alone: the public face of the symbolic engine."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from itertools import pairwise

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import CachedLocal, DeviceModel
from clmap_lsp.emulator.moved import Moved
from clmap_lsp.emulator.symbolic.control import (
    Bail,
    BailError,
    Budget,
    OverBudgetError,
    Spending,
    SplitError,
)
from clmap_lsp.emulator.symbolic.counting import Counter, Tally
from clmap_lsp.emulator.symbolic.images import ImageCount, ImageCounter
from clmap_lsp.emulator.symbolic.machine import Doubt, Machine, Turns
from clmap_lsp.emulator.symbolic.memory import Inputs, KnownData
from clmap_lsp.emulator.symbolic.needs import needs_of
from clmap_lsp.emulator.symbolic.recurring import Masks
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import Box, Space, box_of_group, boxes_of
from clmap_lsp.emulator.symbolic.values import SEVERAL, Floats, Lanes, Sym, Unknown, Value
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.launch.model import Launch, Origin, ScalarArgument
from clmap_lsp.launch.null_arguments import with_null_arguments
from clmap_lsp.source.ir import Initializer, Kernel, Site, Variable
from clmap_lsp.source.per_kernel import KeptByKernel
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import AddressSpace, ScalarType, Type, VectorType


@dataclass(frozen=True, slots=True)
class SiteCount:
    """What one access costs over a whole launch.

    `unit` is `sectors` (global memory), `wavefronts` (local memory) or `passes` (constant memory).
    Counts are `None` where `method` is `UNKNOWN`; `reason` then says why.
    """

    site: Site
    op: str
    space: AddressSpace
    root: Variable | None
    """The buffer or array; `None` where that is unknown."""
    size: int
    """Bytes of one access of one work-item."""
    pieces: tuple[int, ...]
    """Bytes of the instructions that it takes; each is a request of its own."""
    span: Span
    unit: str
    method: Exactness
    reason: str | None = None
    executions: int | None = None
    """Work-items that execute it, each time counted."""
    requests: int | None = None
    """Instructions that SIMD groups execute for it with at least one active lane."""
    units: int | None = None
    ideal_units: int | None = None
    """What the same distinct elements would take side by side."""
    least_per_request: int | None = None
    most_per_request: int | None = None
    first_byte: int | None = None
    """Lowest byte offset touched in the buffer."""
    end_byte: int | None = None
    """One past the highest byte offset touched."""


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over the accesses of one space and kind; `complete` is False if some of them are unknown."""

    executions: int
    requests: int
    units: int
    complete: bool


@dataclass(frozen=True, slots=True)
class SymbolicResult:
    """Counts of a launch by site. A site that is not listed is executed by nobody."""

    sites: Mapping[Site, SiteCount]
    totals: Mapping[tuple[AddressSpace, str], Total]
    bail: Bail | None = None
    """Set if the kernel as a whole could not be followed; all sites are unknown then."""
    boxes: int = 0
    sample: str | None = None
    """What was counted, if that is a sample of the launch."""
    rounds_floats: bool = False
    """An address or a branch depends on how floats are rounded."""
    contents: frozenset[str] = frozenset()
    """The arguments whose contents addresses or branches depend on."""
    images: Mapping[Site, ImageCount] = field(default_factory=dict)
    """Reads and writes of images; not among `sites`."""

    def total(self, space: AddressSpace, op: str) -> Total:
        """Return the sums for a space and `load`, `store` or `atomic`."""
        return self.totals.get((space, op), Total(0, 0, 0, self.bail is None))

    @property
    def is_exact(self) -> bool:
        """True if every site is exact."""
        return self.bail is None and all(it.method is Exactness.EXACT for it in self.sites.values())


DEFAULT_BUDGET = Budget()
_cache: KeptByKernel[tuple[SymbolicResult, Spending]] = KeptByKernel(64)


def count(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    *,
    budget: Budget = DEFAULT_BUDGET,
    constants: Iterable[Initializer] = (),
    shared: Spending | None = None,
    inputs: Inputs | None = None,
) -> SymbolicResult:
    """Return what every access of a kernel costs in a launch.

    Exact where the kernel's addresses and branches follow from ids, arguments, the `constants` of
    the program) and given inputs that it does not change; elsewhere unknown with the reason, site by site.
    Results are cached by kernel, launch and device. Several launches that are compared with one may have
    `shared` what one may cost: what is spent is added to it, and beyond its budget nothing is counted.
    `inputs` has, and gets, contents of buffers.
    """
    asked = counted_as(launch), device, budget
    hit = _cache.get(kernel, asked)
    if hit is None:
        if shared is not None and shared.is_over:
            return SymbolicResult({}, {}, Bail("launches before it were too costly", kernel.name_span))
        spending = Spending(budget)
        found = _count(kernel, launch, device, spending, tuple(constants), {} if inputs is None else inputs)
        hit = _cache.keep(kernel, asked, (found, spending))
    if shared is not None:
        shared.add(hit[1])
    return hit[0]


def counted_as(launch: Launch) -> str:
    """Return what a launch's counts follow from: who gave its sizes is no part of it.

    So a shape that was compared with the launch is known where it is looked at as a launch of its own.
    """
    guessed = launch.inferred & launch.arguments.keys()
    return replace(launch, origin=Origin.GIVEN, inferred=frozenset(guessed)).fingerprint()


def _count(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    spending: Spending,
    constants: tuple[Initializer, ...],
    inputs: Inputs,
) -> SymbolicResult:
    try:
        return _count_boxes(kernel, launch, device, spending, constants, boxes_of(launch), inputs)
    except BailError as error:
        return SymbolicResult({}, {}, error.bail)
    except OverBudgetError as error:
        if not error.by_size:
            return SymbolicResult({}, {}, Bail(error.reason, kernel.name_span))
        again = spending.for_a_sample()
        try:
            return _count_sample(kernel, launch, device, again, constants, error.reason, inputs)
        finally:
            spending.add(again)


def _count_boxes(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    spending: Spending,
    constants: tuple[Initializer, ...],
    boxes: Iterable[Box],
    inputs: Inputs,
    scale: Fraction | None = None,
    reason: str | None = None,
) -> SymbolicResult:
    """Count the given boxes; `scale` is by how much they stand for the launch, if they are a sample."""
    machines = run_boxes(kernel, launch, device.simd_width, spending, constants, boxes, inputs=inputs)
    counter = Counter(device, spending)
    sites: dict[Site, _Sum] = {}
    images = ImageCounter(device.simd_width, spending)
    for machine in machines:
        for rows in machine.rows:
            if rows.texels is not None:
                images.add(rows, rows.texels)
            else:
                sites.setdefault(rows.site, _Sum.of(rows)).tally.add(counter.count(rows))
        for doubt in machine.doubts:
            if doubt.is_image:
                images.doubt(doubt.site, doubt.reason)
                continue
            found = sites.setdefault(doubt.site, _Sum.of(doubt))
            found.reason = found.reason or doubt.reason
    counts = {site: it.finished(site, device, scale, reason) for site, it in sorted(sites.items())}
    return SymbolicResult(
        counts,
        _totals(counts),
        None,
        len(machines),
        reason,
        any(it.evaluator.rounds_floats for it in machines),
        frozenset[str]().union(*(it.data.used for it in machines)),
        images.finished(scale, reason),
    )


def _count_sample(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    spending: Spending,
    constants: tuple[Initializer, ...],
    reason: str,
    inputs: Inputs,
) -> SymbolicResult:
    """Count one random work-group of each of some equal strata of the linear group id, and scale up.

    Unbiased for sums over groups. What was wrong with the whole launch is the `reason` of every site.
    """
    n_groups = 1
    for size in launch.num_groups:
        n_groups *= size
    n_sampled = min(spending.budget.sampled_groups, n_groups)
    bail = Bail(reason, kernel.name_span)
    if not n_sampled or n_sampled == n_groups:
        return SymbolicResult({}, {}, bail)
    rng = random.Random(0)
    edges = [n_groups * k // n_sampled for k in range(n_sampled + 1)]
    chosen = [rng.randrange(low, high) for low, high in pairwise(edges)]
    try:
        return _count_boxes(
            kernel,
            launch,
            device,
            spending,
            constants,
            [box_of_group(launch, it) for it in chosen],
            inputs,
            Fraction(n_groups, n_sampled),
            f"{n_sampled} of {n_groups} work-groups: {reason}",
        )
    except BailError as error:
        return SymbolicResult({}, {}, error.bail)
    except OverBudgetError as error:
        return SymbolicResult({}, {}, Bail(error.reason, kernel.name_span))


@dataclass(slots=True)
class _Sum:
    op: str
    space: AddressSpace
    root: Variable | None
    size: int
    moved: Moved
    span: Span
    tally: Tally = field(default_factory=Tally)
    reason: str | None = None

    @classmethod
    def of(cls, what: Rows | Doubt) -> _Sum:
        root = None if what.root is SEVERAL else what.root
        return cls(what.op, what.space, root, what.size, what.moved, what.span)

    def finished(
        self, site: Site, device: DeviceModel, scale: Fraction | None, sample: str | None
    ) -> SiteCount:
        """Return the counts, scaled up if they are of a sample (`sample` describes it)."""
        tally, reason = self.tally if scale is None else self.tally.scaled(scale), self.reason
        unit = {AddressSpace.LOCAL: "wavefronts", AddressSpace.CONSTANT: "passes"}.get(self.space, "sectors")
        if self.space is AddressSpace.LOCAL and isinstance(device.local_rule, CachedLocal):
            unit = "lines"
        pieces = tuple(size for _, size in self.moved.pieces(device))
        what = self.op, self.space, self.root, self.size, pieces, self.span, unit
        if reason is not None:
            return SiteCount(site, *what, Exactness.UNKNOWN, reason)
        known = tally.unknown is None
        return SiteCount(
            site,
            *what,
            (Exactness.EXACT if scale is None else Exactness.SAMPLED) if known else Exactness.UNKNOWN,
            tally.unknown or sample,
            tally.executions,
            tally.requests,
            tally.units if known else None,
            tally.ideal if known else None,
            tally.least if known else None,
            tally.most if known else None,
            tally.first_byte if self.root is not None else None,
            tally.end_byte if tally.first_byte is not None and self.root is not None else None,
        )


def _totals(counts: Mapping[Site, SiteCount]) -> dict[tuple[AddressSpace, str], Total]:
    totals: dict[tuple[AddressSpace, str], Total] = {}
    for it in counts.values():
        key = (it.space, it.op)
        old = totals.get(key, Total(0, 0, 0, True))
        totals[key] = Total(
            old.executions + (it.executions or 0),
            old.requests + (it.requests or 0),
            old.units + (it.units or 0),
            old.complete and it.method is Exactness.EXACT,
        )
    return totals


def run_boxes(
    kernel: Kernel,
    launch: Launch,
    simd_width: int,
    spending: Spending,
    constants: Iterable[Initializer],
    boxes: Iterable[Box],
    *,
    follow_ordinals: bool = False,
    suppose_taken: bool = False,
    suppose_turns: Turns | None = None,
    everybody_counts: bool = False,
    as_many_as_fit: bool = False,
    inputs: Inputs | None = None,
) -> list[Machine]:
    """Run a kernel for boxes of work-groups, splitting them until each can be followed.

    With `suppose_taken`, rows have the branches that depend on data as if whoever may come there did, with
    `suppose_turns` loops that data end, too. With `as_many_as_fit`, boxes that
    are beyond the budget are left out, unless that is the first one.

    Raises: BailError, OverBudgetError.
    """
    kernel = with_null_arguments(kernel, launch)
    needs = needs_of(kernel)
    data = KnownData(kernel, launch, needs.written, constants, inputs)
    scalars = _scalars(kernel, launch)
    waiting = list(boxes)[::-1]
    masks = Masks()
    done: list[Machine] = []
    while waiting:
        box = waiting.pop()
        spending.spend(boxes=1)
        space = Space(box, launch, simd_width, spending, masks)
        machine = Machine(kernel, space, needs, data, follow_ordinals, suppose_taken, suppose_turns)
        machine.everybody_counts = everybody_counts
        try:
            machine.run(scalars)
        except OverBudgetError:
            if not (as_many_as_fit and done):
                raise
            break
        except SplitError as split:
            waiting.extend(reversed(box.split(split.dimension, split.cuts, split.modulo)))
        else:
            done.append(machine)
    return done


def _scalars(kernel: Kernel, launch: Launch) -> dict[Variable, Value]:
    values: dict[Variable, Value] = {}
    for parameter in kernel.parameters:
        argument = launch.arguments.get(parameter.name)
        if isinstance(argument, ScalarArgument):
            values[parameter] = _scalar_value(argument, parameter.type)
    return values


def _scalar_value(argument: ScalarArgument, kind: Type) -> Value:
    import numpy as np

    from clmap_lsp.emulator.symbolic.integers import wrapped

    def one(number: float, scalar: ScalarType) -> Sym | Floats:
        if scalar.is_float:
            with np.errstate(over="ignore"):  # Beyond the type's range is its infinity, as in C.
                return Floats(np.array([number], numpy_dtype(scalar)))
        return Sym(wrapped(int(number), scalar))

    match kind:
        case ScalarType(is_float=False) if not all(map(math.isfinite, argument.values)):
            return Unknown("a number that is no integer")
        case ScalarType() if not argument.element:
            return one(argument.values[0], kind)
        case VectorType() if not argument.element:
            lanes = argument.values * kind.lanes if len(argument.values) == 1 else argument.values
            return Lanes(tuple(one(it, kind.element) for it in lanes))
        case _:
            return Unknown("an argument that is no number")
