"""What must be true of a launch, a build or the host for a rewrite to keep the results.

A kind of rewrite derives its assumptions from the accesses as they are on every launch (polynomials over
ids, sizes and scalars), never from the values of the launch at hand. What it cannot derive, test in the
kernel, or rule out, it lists here; a rewrite is safe only if nothing is listed. Each assumption can be asked
of a case, so that a rewrite is tested on launches that fulfil its list, and only there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from math import isfinite
from typing import TYPE_CHECKING

from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import BufferArgument, LocalArgument, ScalarArgument
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, Type, VectorType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Polynomial
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel, Variable
    from clmap_lsp.source.options import BuildOptions


@dataclass(frozen=True, slots=True)
class Case:
    """One way to build and launch a kernel."""

    launch: Launch
    options: BuildOptions
    shared: tuple[tuple[str, str], ...] = ()
    """Pairs of pointer parameters that get the same buffer."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that must hold; `text` as a person would write it: `n % 4 == 0`."""

    text: str
    holds: Callable[[Case], bool] = field(compare=False, repr=False)


def multiple(value: Polynomial, text: str, of: int) -> Assumption:
    """Return the assumption that something uniform is a multiple of a number."""

    def holds(case: Case) -> bool:
        found = _value(value, case.launch)
        return found is not None and found % of == 0

    return Assumption(f"{text} % {of} == 0", holds)


def positive(value: Polynomial, text: str) -> Assumption:
    """Return the assumption that something uniform is greater than 0, such as a loop's turns."""
    return Assumption(text, lambda case: (_value(value, case.launch) or 0) > 0)


def equal(one: Polynomial, other: Polynomial, text: str) -> Assumption:
    """Return the assumption that two uniform values are the same."""
    return Assumption(text, lambda case: _value(one - other, case.launch) == 0)


def group_size(size: tuple[int, ...]) -> Assumption:
    """Return the assumption that work-groups have one size."""
    wanted = (*size, 1, 1)[:3]
    text = "x".join(map(str, size))
    return Assumption(f"local size {text}", lambda case: (*case.launch.local_size, 1, 1)[:3] == wanted)


def power_of_two_group(largest: int) -> Assumption:
    """Return the assumption that work-groups have one dimension, and a power of two of work-items in it."""

    def holds(case: Case) -> bool:
        size, others = case.launch.local_size[0], case.launch.local_size[1:]
        return size & (size - 1) == 0 and size <= largest and set(others) <= {1}

    return Assumption(f"local size a power of 2, {largest} at most", holds)


def flat_groups(dimensions: Iterable[int]) -> Assumption:
    """Return the assumption that work-groups are longer than 1 in some dimensions at most."""
    allowed = tuple(dimensions)
    others = [d for d in range(3) if d not in allowed]
    return Assumption(
        " && ".join(f"get_local_size({it}) == 1" for it in others),
        lambda case: all((*case.launch.local_size, 1, 1)[it] == 1 for it in others),
    )


def local_elements(name: str, of: int) -> Assumption:
    """Return the assumption that the host gives a local array a multiple of a number of elements."""

    def holds(case: Case) -> bool:
        argument = case.launch.arguments.get(name)
        return isinstance(argument, LocalArgument) and argument.count % of == 0

    return Assumption(f"{name} has a multiple of {of} elements", holds)


def at_most(name: str, elements: int, text: str) -> Assumption:
    """Return the assumption that a buffer has so many elements at most."""

    def holds(case: Case) -> bool:
        argument = case.launch.arguments.get(name)
        return getattr(argument, "count", elements + 1) <= elements

    return Assumption(text, holds)


def defined(name: str, value: str) -> Assumption:
    """Return the assumption that a macro which a build may set has one value."""

    def holds(case: Case) -> bool:
        given = dict(case.options.defines)
        return given.get(name, value) == value and name not in case.options.undefines

    return Assumption(f"-D {name}={value}" if value else f"-D {name}", holds)


def fixed(name: str, number: int) -> Assumption:
    """Return the assumption that an argument, or a macro that a build may set, is one whole number."""

    def holds(case: Case) -> bool:
        argument = case.launch.arguments.get(name)
        if isinstance(argument, ScalarArgument):
            return argument.values == (number,)
        return defined(name, str(number)).holds(case)

    return Assumption(f"{name} == {number}", holds)


def apart(one: str, other: str) -> Assumption:
    """Return the assumption that two buffers do not overlap."""
    first, second = sorted((one, other))
    return Assumption(
        f"{first} and {second} do not overlap",
        lambda case: not any({a, b} == {first, second} for a, b in case.shared),
    )


def not_shared(name: str) -> Assumption:
    """Return the assumption that no other argument is the same buffer, nor a part of it."""
    return Assumption(
        f"no other argument is {name}", lambda case: not any(name in pair for pair in case.shared)
    )


def no_offset(n_dimensions: int) -> Assumption:
    """Return the assumption that ids start at 0."""
    text = " && ".join(f"get_global_offset({it}) == 0" for it in range(n_dimensions))
    return Assumption(text, lambda case: not any(case.launch.global_offset))


def elements(name: str, count: Polynomial, text: str) -> Assumption:
    """Return the assumption that a buffer has so many elements at least."""

    def holds(case: Case) -> bool:
        argument, needed = case.launch.arguments.get(name), _value(count, case.launch)
        return isinstance(argument, BufferArgument) and needed is not None and argument.count >= needed

    return Assumption(f"{name} has {text} elements", holds)


def other_order() -> Assumption:
    """Return the assumption that nobody minds how floating-point sums are rounded."""
    return Assumption("sums may be taken in another order", lambda _: True)


def either_zero() -> Assumption:
    """Return the assumption that nobody minds which of 0 and -0, which are equal, is the largest or least."""
    return Assumption("of 0 and -0 either may be taken", lambda _: True)


def finite(name: str) -> Assumption:
    """Return the assumption that a floating-point argument is neither infinite nor no number."""

    def holds(case: Case) -> bool:
        argument = case.launch.arguments.get(name)
        return isinstance(argument, ScalarArgument) and all(map(isfinite, argument.values))

    return Assumption(f"{name} is finite", holds)


def as_built(names: Iterable[str], text: str, options: BuildOptions) -> Assumption:
    """Return the assumption that some macros, which conditions of the file ask for, are as in a build."""
    asked = frozenset(names)
    here = _given(options, asked)
    return Assumption(text, lambda case: _given(case.options, asked) == here)


def _given(options: BuildOptions, names: frozenset[str]) -> frozenset[tuple[str, str]]:
    return frozenset(it for it in options.defines if it[0] in names and it[0] not in options.undefines)


def aligned(name: str, to: int) -> Assumption:
    """Return the assumption that a buffer starts at a multiple of so many bytes.

    Buffers and sub-buffers do (`CL_DEVICE_MEM_BASE_ADDR_ALIGN` is 128 bytes at least); pointers into shared
    virtual memory, which OpenCL 2.0 brought, need not.
    """
    return Assumption(f"{name} is aligned to {to} bytes", lambda _: True)


def _value(value: Polynomial, launch: Launch) -> int | None:
    try:
        return int(evaluate(value, uniform_environment(launch)))
    except (UnknownValueError, OverflowError, ZeroDivisionError, ValueError):
        return None


# ------------------------------------------------------------------------------------------------- aliasing


def overlaps(kernel: Kernel, loaded: Iterable[str], stored: Iterable[str]) -> tuple[Assumption, ...]:
    """Return that buffers which are loaded from do not overlap those that are stored to.

    Nothing is assumed of a pair of which either has `restrict` (C99 6.7.3.1: what is modified and reached
    through a restrict pointer is reached through it only), of types that C lets the compiler take for
    different objects (C99 6.5p7), or of constant memory.
    """
    pointers = {it.name: it for it in kernel.parameters if isinstance(it.type, PointerType)}
    wanted = sorted(set(stored) & pointers.keys())
    found: list[Assumption] = []
    for one in sorted(set(loaded) & pointers.keys()):
        found += (apart(one, it) for it in wanted if may_overlap(pointers[one], pointers[it]))
    return unique(found)


def may_overlap(one: Variable, other: Variable) -> bool:
    """True if the host may pass one buffer as both of two parameters."""
    a, b = one.type, other.type
    if one is other or not isinstance(a, PointerType) or not isinstance(b, PointerType):
        return False
    if a.space is not AddressSpace.GLOBAL or b.space is not AddressSpace.GLOBAL:
        return False
    return not (a.is_restrict or b.is_restrict) and _compatible(a.pointee, b.pointee)


def _compatible(one: Type, other: Type) -> bool:
    a, b = _scalar(one), _scalar(other)
    if a is None or b is None or 1 in (a.size, b.size):
        return True  # Structures may hold anything, and characters may be anything.
    return a.size == b.size and a.is_float == b.is_float


def _scalar(kind: Type) -> ScalarType | None:
    match kind:
        case VectorType(element=element):
            return element
        case ScalarType():
            return kind
        case _:
            return None


def unique(found: Iterable[Assumption]) -> tuple[Assumption, ...]:
    """Return the assumptions without repetitions."""
    return tuple(_unique(found))


def _unique(found: Iterable[Assumption]) -> Iterator[Assumption]:
    seen: set[str] = set()
    for it in found:
        if it.text not in seen:
            seen.add(it.text)
            yield it
