"""The launches that a rewrite is tested on, besides the one that it was found on.

A rewrite that is right on one launch may rest on what happens to be true there: a square NDRange, a scalar
that is 0, a row of 64, data without negative numbers, two buffers that are not the same. The family of a
launch varies each of these: the launch itself (shrunk if it is too large to run), one that is not square,
sizes one less and one more, primes, other work-group sizes, each scalar perturbed, each pair of buffers of
one type passed as one, data that take other branches, other values of macros that a build may set. What the
original itself does not bear (an access outside its buffers, a race) is no launch of it and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import Indirect
from clmap_lsp.access.records import Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Case, may_overlap
from clmap_lsp.fixes.macros import settable
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resizing import followed
from clmap_lsp.launch.resolve import launch_from
from clmap_lsp.source.types import AddressSpace, OpaqueType, PointerType, ScalarType, VectorType

if TYPE_CHECKING:
    from clmap_lsp.access.evaluate import Environment
    from clmap_lsp.access.polynomial import Polynomial
    from clmap_lsp.fixes.macros import Settable
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Argument
    from clmap_lsp.source.ir import Kernel, Variable

MOST_ACCESSES = 1_200_000
"""Accesses of a launch that is run as it is; a larger one is shrunk."""
MOST_WORK_ITEMS = 16_384
MOST_BYTES = 64 * 2**20
"""Of all buffers of a launch."""
MOST = 48
"""Launches in a family."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One launch of the family; `text` names it: `64x48, n=64`. Runs on it are kept by its identity."""

    case: Case
    text: str


def describe(launch: Launch) -> str:
    """Return sizes and scalars: `64x64, n=64`."""
    size = "x".join(map(str, launch.global_size))
    scalars = {name: it for name, it in launch.arguments.items() if isinstance(it, ScalarArgument)}
    offset = [f"offset {'x'.join(map(str, launch.global_offset))}"] if any(launch.global_offset) else []
    return ", ".join([size, *(f"{name}={it}" for name, it in scalars.items() if it.values), *offset])


def family(subject: Subject, home: Member | None = None) -> Iterator[Member]:
    """Yield the launches of a subject's family, the nearest to its own first, or to one of its `homes`."""
    yield from islice(_Family(subject).members(home), MOST)


def homes(subject: Subject) -> tuple[Member, ...]:
    """Return the launches that may stand for the subject's own: itself shrunk, less and less, then itself."""
    return _Family(subject).homes()


def launch_with(subject: Subject, launch: Launch, scalars: Mapping[str, Argument]) -> Launch | None:
    """Return a launch with some scalars and buffers as long as it needs; `None` where there is none."""
    return _Family(subject)._launch(launch, scalars)


class _Family:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.kernel: Kernel = subject.analysis.kernel
        self.launch = subject.launch
        self.macros = tuple(settable(subject))
        self.indexing = _indexing(subject)
        self.addressing = _indexing(subject, conditions=False)
        self.counted = _counted(subject)
        self.reached = frozenset(it.buffer for it in facts.accesses(subject.analysis) if not it.known)
        """Buffers in which data say where: how much of them is needed no size tells."""
        self.slack: dict[str, int] = {}
        """Elements that buffers have beyond what the original touches."""

    # --------------------------------------------------------------------------------------------- sizes

    def homes(self) -> tuple[Member, ...]:
        """Return the subject's launch, shrunk until it is quick to run: the smallest first."""
        launch, options = self.launch, self.subject.options
        passed = [launch]
        accesses = self._accesses()
        by = 2
        for _ in range(10):
            small = launch.work_items <= MOST_WORK_ITEMS and accesses <= MOST_ACCESSES
            if small and self._bytes(launch) <= MOST_BYTES:
                break
            smaller = self._scaled(launch, by)
            if smaller is None:  # Still too many bytes.
                by *= 2
                continue
            if smaller == launch:
                break
            accesses = accesses * smaller.work_items // max(launch.work_items, 1)
            if _largest_scalar(smaller) < _largest_scalar(launch):
                accesses //= by  # Loops shrink with the scalars that bound them.
            launch, by = smaller, 2
            passed.append(launch)
        return tuple(Member(Case(it, options), describe(it)) for it in reversed(passed))

    def _bytes(self, launch: Launch) -> int:
        """Return the bytes of a launch's buffers: few work-items may walk through a large matrix."""
        return sum(
            argument.count * max(it.type.pointee.size, 1)
            for it in self.kernel.parameters
            if isinstance(it.type, PointerType)
            and isinstance(argument := launch.arguments.get(it.name), BufferArgument)
        )

    def _accesses(self) -> int:
        totals = self.subject.analysis.totals
        parts = (totals.global_load, totals.global_store, totals.local_load, totals.local_store)
        counted = sum(it.instructions for it in parts) * self.subject.device.simd_width
        return counted if totals.complete else max(counted, self._turns() * self.launch.work_items)

    def _turns(self) -> int:
        """Return the accesses of a work-item by its loops alone, where data decide and nobody can count."""
        environment = uniform_environment(self.launch)
        return sum(
            prod(max(1, _turns_of(it.trip, environment)) for it in access.loops)
            for access in facts.accesses(self.subject.analysis)
        )

    def _scaled(self, launch: Launch, by: int) -> Launch | None:
        sizes = tuple(
            max(g // by // x * x, x) if g > x else g
            for g, x in zip(launch.global_size, launch.local_size, strict=True)
        )
        return self._resized(launch, sizes, by)

    def _resized(self, launch: Launch, sizes: tuple[int, ...], by: int = 1) -> Launch | None:
        """Return a launch of other global sizes, whose scalars follow the sizes that they are, or rest on."""
        scalars: dict[str, ScalarArgument] = {}
        for name, argument in launch.arguments.items():
            if isinstance(argument, ScalarArgument) and all(isinstance(it, int) for it in argument.values):
                values = tuple(followed(int(it), launch.global_size, sizes, by) for it in argument.values)
                scalars[name] = replace(argument, values=values)
        return self._launch(replace(launch, global_size=sizes), scalars)

    def _launch(
        self, launch: Launch, scalars: Mapping[str, Argument], *, no_shorter: bool = False
    ) -> Launch | None:
        """Return a launch with some scalars and buffers as long as it needs; `None` where there is none.

        Args:
            no_shorter: buffers stay at least as long as they are.
        """
        given: dict[str, Argument] = {
            it.name: scalars.get(it.name, launch.arguments[it.name])
            for it in self.kernel.parameters
            if not isinstance(it.type, PointerType)
            and it.name in launch.arguments
            and not _is_inferred_image(it, launch)
        }
        partial = PartialLaunch(
            self.kernel.name,
            launch.global_size,
            launch.local_size,
            launch.global_offset,
            parsed=given,
            source=launch.source,
        )
        try:
            needed = launch_from(self.kernel, [partial])
        except LaunchError:
            return None
        if isinstance(needed, LaunchProblem):
            return None
        arguments = dict(launch.arguments)
        arguments.update(given)
        total = 0
        for parameter in self.kernel.parameters:
            mine, inferred = launch.arguments.get(parameter.name), needed.arguments.get(parameter.name)
            if not isinstance(parameter.type, PointerType):
                if _is_inferred_image(parameter, launch) and isinstance(mine, BufferArgument):
                    assert isinstance(inferred, BufferArgument)
                    arguments[parameter.name] = replace(mine, count=inferred.count, sides=inferred.sides)
                continue
            if isinstance(mine, BufferArgument) and isinstance(inferred, BufferArgument):
                needed_count = inferred.count + self.slack.get(parameter.name, 0)
                if parameter.name in self.reached and parameter.name not in launch.inferred:
                    needed_count = max(needed_count, mine.count)  # The data that reach into it may stay.
                filled = self._filled(parameter, mine, max(needed_count, mine.count if no_shorter else 0))
                arguments[parameter.name] = filled
                total += filled.count * max(parameter.type.pointee.size, 1)
            elif isinstance(mine, LocalArgument) and isinstance(inferred, LocalArgument):
                arguments[parameter.name] = replace(mine, count=max(mine.count, inferred.count))
        if total > MOST_BYTES:
            return None
        return replace(launch, arguments=arguments)

    def _filled(self, parameter: Variable, mine: BufferArgument, count: int) -> BufferArgument:
        """Return a buffer of another length; what was zero is not, unless indices are read from it.

        Zeros would hide what a sum started from, and what nobody stored.
        """
        if mine.fill in (Fill.FILE, Fill.VALUES, Fill.NULL) or mine.sides or mine.element:
            return mine
        if parameter.name in self.counted:
            return mine
        if parameter.name in self.indexing:
            is_given = parameter.name not in self.launch.inferred
            keeps = is_given and parameter.name in self.addressing
            return replace(mine, count=max(mine.count, count) if keeps else count)
        if mine.fill is Fill.ZEROS and _is_float(parameter):
            return BufferArgument(Fill.RANDOM, count, seed=9)
        return replace(mine, count=count)

    # ------------------------------------------------------------------------------------------- members

    def members(self, home: Member | None = None) -> Iterator[Member]:
        """Yield the family, home first: the smallest one where none is given."""
        seen: set[tuple[object, ...]] = set()
        for member in self._members(home or self.homes()[0]):
            key = (
                _key(member.case.launch),
                member.case.shared,
                member.case.options.defines,
                member.text[-9:],
            )
            if key not in seen:
                seen.add(key)
                yield member

    def _members(self, home: Member) -> Iterator[Member]:
        base, options = home.case.launch, home.case.options
        yield home
        tight = self._launch(base, {})
        if tight is not None:
            yield Member(Case(tight, options), f"{describe(base)}, other data")
            self.slack = _slack(base, tight)
        base = self._launch(base, {}) or base
        streams = [
            [Member(Case(it, options), describe(it)) for it in self._shapes(base)],
            [Member(Case(it, options), describe(it)) for it in self._perturbed(base)],
            [
                Member(Case(it, options), f"{describe(it)}, shorter local memory")
                for it in self._shorter(base)
            ],
            list(self._aliased(base)),
            list(self._data(base)),
            list(self._builds(base)),
        ]
        while any(streams):  # In turns, so that a limit leaves some of each.
            for stream in streams:
                yield from stream[:2]
                del stream[:2]

    def _shapes(self, base: Launch) -> Iterator[Launch]:
        """Yield launches of other sizes: not square, other groups, ragged, with an offset."""
        dimensions = range(len(base.global_size))
        for d in dimensions:
            longer = list(base.global_size)
            longer[d] += base.local_size[d]
            yield from _some(self._resized(base, tuple(longer)))
        if len(base.global_size) > 1 and base.global_size[0] != base.global_size[1]:
            swapped = (base.global_size[1], base.global_size[0], *base.global_size[2:])
            if all(g % x == 0 for g, x in zip(swapped, base.local_size, strict=True)):
                yield from _some(self._resized(base, swapped))
        if len(base.global_size) == 1 and base.local_size[0] > 4:
            prime = _prime_below(base.local_size[0])
            yield from _some(self._resized(replace(base, local_size=(prime,)), (5 * prime,)))
        for size in _group_sizes(base):
            if all(g % x == 0 for g, x in zip(base.global_size, size, strict=True)):
                yield from _some(self._launch(replace(base, local_size=size), {}))
        for d in dimensions:
            shorter = list(base.global_size)
            shorter[d] = base.local_size[d]
            yield from _some(self._resized(base, tuple(shorter)))
        yield from _some(self._launch(replace(base, global_offset=(3,) + (0,) * (len(dimensions) - 1)), {}))

    def _perturbed(self, base: Launch) -> Iterator[Launch]:
        """Yield launches of which one scalar has another value: one less, one more, a prime, 0, 1."""
        scalars = [
            (name, it)
            for name, it in base.arguments.items()
            if isinstance(it, ScalarArgument) and len(it.values) == 1 and not it.element
        ]
        changes: list[list[int | float]] = []
        for _, argument in scalars:
            value = argument.values[0]
            if isinstance(value, int):
                changes.append(
                    [value - 1, value + 1, value + 2, value - 2, _prime_below(value), 1, 0, value // 2 + 1]
                )
            else:
                changes.append([0.0, -2.5])
        if len(scalars) > 1:  # All sizes one less together: what guards are for.
            fewer = {
                n: ScalarArgument((it.values[0] - 1,))
                for n, it in scalars
                if it.values[0] in base.global_size
            }
            if len(fewer) > 1:
                yield from _some(self._launch(base, fewer))
        for at in range(max(map(len, changes), default=0)):
            for (name, argument), values in zip(scalars, changes, strict=True):
                if at < len(values) and values[at] != argument.values[0] and values[at] >= -9:
                    # Nobody makes a buffer of nothing for a size of 0.
                    changed = {name: ScalarArgument((values[at],))}
                    yield from _some(self._launch(base, changed, no_shorter=not values[at]))

    def _shorter(self, base: Launch) -> Iterator[Launch]:
        """Yield launches with an element less in one local array that the host gives the size of."""
        for name, argument in base.arguments.items():
            if isinstance(argument, LocalArgument) and argument.count > 1:
                less = {**base.arguments, name: LocalArgument(argument.count - 1)}
                yield replace(base, arguments=less)

    def _aliased(self, base: Launch) -> Iterator[Member]:
        """Yield the launch with each pair of buffers that may be one as one."""
        written = facts.written(self.subject.analysis)
        pointers = [it for it in self.kernel.parameters if isinstance(it.type, PointerType)]
        for one, other in combinations(pointers, 2):
            if not may_overlap(one, other) or not {one.name, other.name} & written:
                continue
            a, b = base.arguments.get(one.name), base.arguments.get(other.name)
            if isinstance(a, BufferArgument) and isinstance(b, BufferArgument):
                both = replace(a if a.count >= b.count else b, count=max(a.count, b.count))
                launch = replace(base, arguments={**base.arguments, one.name: both, other.name: both})
                text = f"{describe(base)}, {one.name} and {other.name} the same buffer"
                yield Member(Case(launch, self.subject.options, ((one.name, other.name),)), text)

    def _data(self, base: Launch) -> Iterator[Member]:
        """Yield the launch with data that take other branches."""
        for what, formulas in _DATA.items():
            arguments = dict(base.arguments)
            for parameter in self.kernel.parameters:
                mine = arguments.get(parameter.name)
                if not isinstance(mine, BufferArgument) or parameter.name in self.addressing or mine.sides:
                    continue  # What decides on branches only takes others.
                fill = _data_of(parameter, mine, formulas)
                if fill is not None:
                    arguments[parameter.name] = fill
            launch = replace(base, arguments=arguments)
            if launch != base:
                yield Member(Case(launch, self.subject.options), f"{describe(base)}, {what}")

    def _builds(self, base: Launch) -> Iterator[Member]:
        """Yield the launch with other values of the numbers that a build may set."""
        for macro in self.macros:
            for value in _other_values(macro):
                defines = tuple(it for it in self.subject.options.defines if it[0] != macro.name)
                options = replace(self.subject.options, defines=(*defines, (macro.name, str(value))))
                yield Member(Case(base, options), f"{describe(base)}, -D {macro.name}={value}")


_DATA = {
    "mixed signs": ("((i*37)%1009-504)/64.0", "(i*37)%1009-504"),
    "equal data": ("3.0", "3"),
    "large data": ("((i*53)%97-48)*1048576.0", "(i*2654435761)%4294967296-2147483648"),
    "special values": ("", ""),
}
"""For floats and for integers, by name."""
_SPARSE = 61
"""Elements from one special value to the next: a sum of all of them would be no number anyway."""
_SPECIAL = ("inf", "nan", "-0.0", "0.0", "-inf", "1e-42", "-3.0")


def _data_of(parameter: Variable, mine: BufferArgument, formulas: Sequence[str]) -> BufferArgument | None:
    if mine.fill in (Fill.FILE, Fill.NULL) or mine.element or not isinstance(parameter.type, PointerType):
        return None
    kind = parameter.type.pointee
    element = kind.element if isinstance(kind, VectorType) else kind
    if not isinstance(element, ScalarType) or not element.size:
        return None
    lanes = kind.lanes if isinstance(kind, VectorType) else 1
    text = formulas[0 if element.is_float else 1]
    if text:
        return BufferArgument(Fill.FORMULA, mine.count, text=text)
    if not element.is_float or mine.count * lanes > 1 << 16:
        return None
    words = (
        _SPECIAL[at // _SPARSE % len(_SPECIAL)] if at % _SPARSE == 7 else f"{at * 37 % 101 / 8}"
        for at in range(mine.count * lanes)
    )
    return BufferArgument(Fill.VALUES, mine.count, text=",".join(words))


def _other_values(macro: Settable) -> Iterator[int]:
    value = macro.number
    if value is not None:
        for other in (value - 1, _prime_below(value), value + 1, value * 2, 1):
            if other > 0 and other != value:
                yield other


def _indexing(subject: Subject, *, conditions: bool = True) -> frozenset[str]:
    """Return the buffers whose values decide on addresses, turns, or (where asked for) conditions."""
    found: set[str] = set()
    for access in facts.accesses(subject.analysis):
        parts = [access.offset, *(access.guard if conditions else ())]
        for loop in access.loops:
            parts += [it for it in (loop.trip, loop.condition, loop.bound) if it is not None]
        found.update(leaf.buffer for part in parts for leaf in part.leaves if isinstance(leaf, Indirect))
    return frozenset(found)


def _counted(subject: Subject) -> frozenset[str]:
    """Return the buffers that are counted in, whose length no other size decides: data say which element."""
    found: dict[str, bool] = {}
    for access in facts.accesses(subject.analysis):
        counts = access.direction is Direction.ATOMIC and access.indirect
        found[access.buffer] = found.get(access.buffer, True) and counts
    return frozenset(name for name, counts in found.items() if counts)


def _slack(base: Launch, tight: Launch) -> dict[str, int]:
    """Return by how many elements a launch's buffers are longer than they need to be."""
    found = {}
    for name, argument in base.arguments.items():
        needed = tight.arguments.get(name)
        if isinstance(argument, BufferArgument) and isinstance(needed, BufferArgument):
            found[name] = max(argument.count - needed.count, 0)
    return found


def _is_inferred_image(parameter: Variable, launch: Launch) -> bool:
    """Tell whether nobody said how large an image is: it has a texel for each work-item of its launch."""
    is_image = isinstance(parameter.type, OpaqueType) and parameter.type.is_image
    return is_image and parameter.name in launch.inferred


def _is_float(parameter: Variable) -> bool:
    kind = parameter.type
    if not isinstance(kind, PointerType) or kind.space is AddressSpace.LOCAL:
        return False
    element = kind.pointee.element if isinstance(kind.pointee, VectorType) else kind.pointee
    return isinstance(element, ScalarType) and element.is_float


def _turns_of(trip: Polynomial | None, environment: Environment) -> int:
    """Return how often a loop turns; 1 where that is not known."""
    try:
        return 1 if trip is None else int(evaluate(trip, environment))
    except (UnknownValueError, OverflowError, ZeroDivisionError, ValueError):
        return 1


def _group_sizes(launch: Launch) -> Iterator[tuple[int, ...]]:
    """Yield other work-group sizes: half, exchanged, flat."""
    size = launch.local_size
    for d, length in enumerate(size):
        if length > 1 and length % 2 == 0:
            yield (*size[:d], length // 2, *size[d + 1 :])
    if len(size) > 1 and size[0] != size[1]:
        yield (size[1], size[0], *size[2:])
    if len(size) > 1 and size[0] % 2 == 0:
        yield (size[0] // 2, size[1] * 2, *size[2:])
    if len(size) == 1 and launch.global_size[0] % (2 * size[0]) == 0:
        yield (2 * size[0],)


def _prime_below(value: int) -> int:
    for n in range(value - 1, 2, -1):
        if all(n % d for d in range(2, int(n**0.5) + 1)):
            return n
    return max(value - 1, 1)


def _largest_scalar(launch: Launch) -> int:
    return max(
        (
            int(it.values[0])
            for it in launch.arguments.values()
            if isinstance(it, ScalarArgument) and it.values
        ),
        default=0,
    )


def _some(launch: Launch | None) -> Iterator[Launch]:
    if launch is not None:
        yield launch


def _key(launch: Launch) -> tuple[object, ...]:
    arguments = tuple((name, str(it)) for name, it in launch.arguments.items())
    return launch.global_size, launch.local_size, launch.global_offset, arguments
