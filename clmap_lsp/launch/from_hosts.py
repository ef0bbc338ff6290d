"""What host code says of a launch, as parts of one: what every run uses, and what a run takes by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import Argument, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.partial import Formulas, PartialLaunch
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.hosts.host_launch import HostLaunch, HostValue

_MOST_ITEMS = 1 << 40
_MOST_LOCAL = 1 << 20
_MOST_DIMENSIONS = 3


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

    A size with a dimension open is what the program takes by default, or open but for the other dimensions.
    Defaults that are no size, such as 0 or -1, stand for "must be given".
    """
    known, assumed = (_part(kernel, launch, it) for it in (Origin.HOST, Origin.HOST_DEFAULT))
    return [it for it in (known, assumed) if not it.is_empty or it.dimensions]


def _part(kernel: ir.Kernel, launch: HostLaunch, origin: Origin) -> PartialLaunch:
    is_known = origin is Origin.HOST
    partly, partly_local = _sizes(launch.global_size, is_known), _sizes(launch.local_size, is_known)
    whole, local = _whole(partly), _whole(partly_local)
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
        _offset(launch.offset, is_known),
        dimensions=launch.dimensions,
        partly_global=() if whole else partly,
        partly_local=() if local else partly_local,
        parsed=parsed,
        origin=origin,
        formulas=_formulas(launch),
        source=f"{_short(launch.host_file)}:{launch.host_row}",
    )


def _formulas(launch: HostLaunch) -> Formulas:
    """Return the expressions of what no run is known to have."""
    arguments = {**launch.arguments, **launch.local_arguments}
    return Formulas(
        tuple(_text(it) for it in launch.global_size),
        tuple(_text(it) for it in launch.local_size),
        {name: text for name, it in arguments.items() if (text := _text(it))},
        tuple(_text(it) for it in launch.offset),
    )


def _text(value: HostValue | None) -> str:
    """Return a value's expression: of a number, too, since others may be open."""
    if value is None:
        return ""
    return value.text if value.best is None else str(value.best)


def _short(path: str) -> str:
    return path.rpartition("/")[2]


def _number(value: HostValue | None, is_known: bool) -> int | float | None:
    if value is None:
        return None
    return value.number if is_known else value.best


def _sizes(values: Sequence[HostValue | None], is_known: bool) -> tuple[int, ...]:
    """Return the size of each dimension, 0 where it is open; nothing where all of them are."""
    numbers = [_number(it, is_known) for it in values]
    found = tuple(it if isinstance(it, int) and 0 < it < _MOST_ITEMS else 0 for it in numbers)
    return found if any(found) and len(found) <= 3 else ()


def _offset(values: Sequence[HostValue], is_known: bool) -> tuple[int, ...]:
    """Return where global ids start; nothing where that is open in a dimension."""
    numbers = [_number(it, is_known) for it in values]
    found = tuple(it for it in numbers if isinstance(it, int) and 0 <= it < _MOST_ITEMS)
    return found if len(found) == len(values) <= _MOST_DIMENSIONS else ()


def _whole(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes if all(sizes) else ()


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
