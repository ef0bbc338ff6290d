"""What host code says of a launch, as parts of one: what every run uses, and what a run takes by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import Argument, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.hosts.launches import HostLaunch, HostValue

_MOST_ITEMS = 1 << 40
_MOST_LOCAL = 1 << 20


def chosen(launches: Iterable[HostLaunch]) -> Mapping[str, HostLaunch]:
    """Return for each kernel the launch of which most is known; among equals the first in the host code."""
    best: dict[str, HostLaunch] = {}
    for it in launches:
        known = best.get(it.kernel)
        if known is None or _known(it) > _known(known):
            best[it.kernel] = it
    return best


def _known(launch: HostLaunch) -> tuple[int, int]:
    """Return how many sizes, and how many values in all, are numbers; a default counts half."""
    sizes = [*launch.global_size, *(it for it in launch.local_size if it is not None)]
    return _score(sizes), _score(list(launch.values))


def _score(values: Sequence[HostValue]) -> int:
    return sum(2 if it.number is not None else it.default is not None for it in values)


def parts_from_host(kernel: ir.Kernel, launch: HostLaunch) -> list[PartialLaunch]:
    """Return what every run uses, then what the program takes by default; parts that say nothing left out.

    Sizes are taken whole: with one dimension open, the size is what the program takes by default, or open.
    Defaults that are no size, such as 0 or -1, stand for "must be given".
    """
    known, assumed = (_part(kernel, launch, it) for it in (Origin.HOST, Origin.HOST_DEFAULT))
    return [it for it in (known, assumed) if not it.is_empty or it.dimensions]


def _part(kernel: ir.Kernel, launch: HostLaunch, origin: Origin) -> PartialLaunch:
    is_known = origin is Origin.HOST
    whole, local = _size(launch.global_size, is_known), _size(launch.local_size, is_known)
    if whole and local and len(whole) != len(local):
        local = ()
    parsed: dict[str, Argument] = {}
    for parameter in kernel.parameters:
        argument = _argument(parameter, launch, is_known)
        if argument is not None:
            parsed[parameter.name] = argument
    return PartialLaunch(
        kernel.name,
        whole,
        local,
        dimensions=launch.dimensions,
        parsed=parsed,
        origin=origin,
        source=f"{_short(launch.host_file)}:{launch.host_row}",
    )


def _short(path: str) -> str:
    return path.rpartition("/")[2]


def _number(value: HostValue | None, is_known: bool) -> int | float | None:
    if value is None:
        return None
    return value.number if is_known else value.best


def _size(values: Sequence[HostValue | None], is_known: bool) -> tuple[int, ...]:
    numbers = [_number(it, is_known) for it in values]
    whole = [it for it in numbers if isinstance(it, int) and 0 < it < _MOST_ITEMS]
    return tuple(whole) if len(whole) == len(values) <= 3 else ()


def _argument(parameter: ir.Variable, launch: HostLaunch, is_known: bool) -> Argument | None:
    match parameter.type:
        case PointerType(space=AddressSpace.LOCAL, pointee=pointee):
            size = _number(launch.local_arguments.get(parameter.name), is_known)
            count = int(size) // max(pointee.size, 1) if size is not None else 0
            return LocalArgument(count) if 0 < count < _MOST_LOCAL else None
        case ScalarType() as scalar:
            value = launch.arguments.get(parameter.name)
            number = _number(value, is_known)
            if value is None or number is None:
                return None
            if value.number is None and number <= 0 and not scalar.is_float:
                return None
            return ScalarArgument((float(number) if scalar.is_float else int(number),))
        case _:
            return None
