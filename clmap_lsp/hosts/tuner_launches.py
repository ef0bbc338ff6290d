"""What a tuner launches: its kernels' sizes and macros in a configuration, or what a launcher says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.hosts.opencl_calls import launch, set_argument
from clmap_lsp.hosts.strings import piece
from clmap_lsp.hosts.tree import Call, Member
from clmap_lsp.hosts.tuner_notes import (
    SCALAR,
    Change,
    as_change,
    items_of,
    kernels_in_value,
    noted,
    owner_of,
)
from clmap_lsp.hosts.tuner_search import (
    Constraint,
    Search,
)
from clmap_lsp.hosts.values import (
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    binary,
    joined,
    text_of,
    truth,
)

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import CallHandler, Interpreter

_CURRENT = "g:#tuned"
"""The place below which the parameters of what is launched stand."""
_FULL_GROUP, _FULL_ROW = 64, 16
"""Work-items of a group, and in its first dimension, from which on it fills what devices run at once."""
_ACTIONS = {"Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/"}


def tune(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`Tune(kernel)` and its kin launch what the kernel is made of; CLTune's `Tune()` all that there is."""
    owner = owner_of(values)
    if owner is None:
        return None
    places = [place for it in values[1:3] for place in kernels_in_value(interpreter, it)]
    if len(values) == 1:
        kernels = noted(interpreter, f"{owner}.kernels")
        places = [it.place for it in kernels if isinstance(it, Pointer)]
        set_arguments(interpreter, places, noted(interpreter, f"{owner}.arguments"), call.row)
    launchers = []
    for place in places:
        chosen = _configuration(interpreter, place)
        local = _changed(interpreter, place, "local", chosen)
        whole = _changed(interpreter, place, "global", chosen)
        if interpreter.known.get(f"{owner}.in_groups") == Number(1):
            whole = [binary("*", *it) for it in zip(whole, local, strict=False)]
        interpreter.put(f"{place}.tuned.sizes", Sizes((Sizes(tuple(whole)), Sizes(tuple(local)))))
        for name, value in chosen.items():
            interpreter.put(f"{_CURRENT}.{name}", value)
        _build(interpreter, owner, place, chosen)
        launcher = interpreter.known.get(f"{place}.tuned.launcher")
        if not isinstance(launcher, Routine):
            _launch(interpreter, call, place)
        elif launcher not in launchers:
            launchers.append(launcher)
    for it in launchers:
        interpreter.asked(it, [RunTime("interface")])
    launched = {it.kernel for it in interpreter.launches} if launchers else set()
    for place in places if launchers else ():  # What no launcher runs by itself it would run like this.
        if Pointer(place) not in launched and _says_size(interpreter, place):
            _launch(interpreter, call, place)
    return RunTime(call.text)


def _says_size(interpreter: Interpreter, place: str) -> bool:
    """Tell whether a definition gives a size, and not ones that its launcher replaces."""
    sizes = interpreter.known.get(f"{place}.tuned.sizes")
    whole = sizes.items[0] if isinstance(sizes, Sizes) else None
    return isinstance(whole, Sizes) and any(it != Number(1) for it in whole.items)


def _build(interpreter: Interpreter, owner: str, place: str, chosen: Mapping[str, Value]) -> None:
    """Build a kernel's program: a macro for each parameter."""
    store = interpreter.store
    program = store.get(f"{place}.program") if store is not None else None
    if store is None or not isinstance(program, Pointer):
        return
    given = store.get(f"{owner}.options")
    options = given if isinstance(given, Text) else Text()
    for name, value in chosen.items():
        before = " -D" if options.parts else "-D"
        options = joined(joined(options, Text((f"{before}{name}=",))), piece(value))
    store[f"{program.place}.options"] = options


def _launch(interpreter: Interpreter, call: Call, place: str) -> None:
    """Note the launch of one kernel where its sizes stand: at its definition."""
    match interpreter.known.get(f"{place}.tuned.sizes"):
        case Sizes(items=(Sizes(items=whole), Sizes(items=local))):
            pass
        case _:
            return
    at = interpreter.known.get(f"{place}.tuned.at")
    used = _n_used(whole)
    where = Call(call.function, (), row=at.row if isinstance(at, Text) else call.row, text=call.text)
    launch(interpreter, where, Pointer(place), None, (Sizes(whole[:used]), Sizes(local[:used])))


def run_kernel(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`interface.RunKernel(definition)` in a launcher; sizes go before those of the definition."""
    places = kernels_in_value(interpreter, values[1]) if len(values) > 1 else []
    for place in places:
        if len(values) > 3:
            whole, local = (items_of(interpreter, it) for it in values[2:4])
            used = _n_used(whole)
            launch(interpreter, call, Pointer(place), None, (Sizes(whole[:used]), Sizes(local[:used])))
        else:
            _launch(interpreter, call, place)
    return Null() if places else None


def _n_used(sizes: Sequence[Value]) -> int:
    """Return how many dimensions a size has, of which the last ones may be 1."""
    return max((i for i in range(len(sizes)) if sizes[i] != Number(1)), default=0) + 1


def current(kind: int) -> CallHandler:
    """`interface.GetCurrentGlobalSize(definition)` and the like."""

    def handler(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
        for place in kernels_in_value(interpreter, values[1]) if len(values) > 1 else ():
            match interpreter.known.get(f"{place}.tuned.sizes"):
                case Sizes(items=items) if len(items) == 2:
                    return items[kind]
        return None

    return handler


def side(index: int) -> CallHandler:
    """`size.GetSizeX()` of a `DimensionVector`."""

    def handler(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
        sizes = values[0]
        return sizes.items[index] if isinstance(sizes, Sizes) and index < len(sizes.items) else None

    return handler


def set_side(index: int) -> CallHandler:
    """`size.SetSizeX(n)` of a `DimensionVector`."""

    def handler(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
        place = interpreter.place(call.function.base) if isinstance(call.function, Member) else None
        sizes = values[0]
        if place is None or not isinstance(sizes, Sizes) or len(values) != 2:
            return None
        items = [*sizes.items, *[Number(1)] * 3][:3]
        items[index] = values[1]
        interpreter.put(place, Sizes(tuple(items)))
        return Null()

    return handler


def change_size(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`size.Multiply(factors)` of a `DimensionVector` and its kin, which are not followed."""
    place = interpreter.place(call.function.base) if isinstance(call.function, Member) else None
    if place is None or not isinstance(values[0], Sizes) or interpreter.path.endswith(".py"):
        return None
    interpreter.put(place, RunTime(call.text))
    return Null()


def value_of_parameter(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`ParameterPair::GetParameterValue<T>(pairs, name)` in a launcher."""
    name = interpreter.text(values[1]) if len(values) == 2 else None
    if name is None or not name.plain or interpreter.store is None:
        return None
    return interpreter.store.get(f"{_CURRENT}.{name.plain}")


def update_scalar(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`interface.UpdateScalarArgument(argument, &value)`."""
    store, scalar = interpreter.store, values[1] if len(values) == 3 else None
    if store is None or not isinstance(scalar, Pointer) or not scalar.place.startswith(SCALAR):
        return None
    given = interpreter.read(values[2].place) if isinstance(values[2], Pointer) else RunTime(call.text)
    for it, held in list(store.items()):
        place, mark, index = it.partition(".tuned.scalar[")
        if mark and held == scalar:
            set_argument(interpreter, [place], Number(int(index[:-1])), given, call.row)
    return Null()


def _changed(interpreter: Interpreter, place: str, kind: str, chosen: Mapping[str, Value]) -> list[Value]:
    """Return a kernel's sizes with what its parameters change of them."""
    store = interpreter.known
    given = store.get(f"{place}.tuned.{kind}")
    sizes = list(items_of(interpreter, given)) if given is not None else []
    for change in map(as_change, noted(interpreter, f"{place}.tuned.change")):
        if change is None or change.kind != kind:
            continue
        sizes += [Number(1)] * (change.dimension + 1 - len(sizes))
        with_ = [chosen.get(it, RunTime(it)) for it in change.names]
        sizes[change.dimension] = _applied(interpreter, change, sizes[change.dimension], with_)
    return sizes


def _applied(interpreter: Interpreter, change: Change, size: Value, with_: Sequence[Value]) -> Value:
    if isinstance(change.action, Routine):
        return interpreter.asked(change.action, [size, Sizes(tuple(with_))])
    action = text_of(change.action)
    for it in with_:
        if action == "DivideCeil":
            size = binary("/", binary("-", binary("+", size, it), Number(1)), it)
        elif action in _ACTIONS:
            size = binary(_ACTIONS[action], size, it)
        else:
            return RunTime(text_of(size))
    return size


def _configuration(interpreter: Interpreter, place: str) -> dict[str, Value]:
    """Return the parameters of a kernel, each with its value in one configuration as its default.

    That is the first one that is allowed and whose groups fill SIMD groups, if there is one: a tuner tries
    groups of a few work-items and drops them, and nobody wants to hear what they cost.
    """
    start = f"{place}.tuned.parameter."
    tried = {
        key[len(start) :]: items_of(interpreter, value)
        for key, value in interpreter.known.items()
        if key.startswith(start)
    }
    said = list(_constraints(interpreter, place))
    chosen = Search(tried, [*said, _full_groups(interpreter, place)]).first() or Search(tried, said).first()
    result: dict[str, Value] = {}
    for name, values in tried.items():
        known = chosen.get(name)
        if len(values) == 1 or not isinstance(known, Number):
            result[name] = values[0] if len(values) == 1 else RunTime(name)
        else:
            result[name] = RunTime(name, known.value, opaque=False)
    return result


def _full_groups(interpreter: Interpreter, place: str) -> Constraint:
    """Return the wish that work-groups are no smaller than any device's SIMD groups, and rows not short."""
    changes = [as_change(it) for it in noted(interpreter, f"{place}.tuned.change")]
    names = tuple(dict.fromkeys(it for one in changes if one and one.kind == "local" for it in one.names))

    def fill(values: tuple[Value, ...]) -> bool | None:
        sizes = _changed(interpreter, place, "local", dict(zip(names, values, strict=True)))
        known = [it.value for it in sizes if isinstance(it, Number)]
        if not known or len(known) < len(sizes):
            return None
        return math.prod(known) >= _FULL_GROUP and known[0] >= _FULL_ROW

    return names, fill


def _constraints(interpreter: Interpreter, place: str) -> Iterator[Constraint]:
    for it in noted(interpreter, f"{place}.tuned.constraint"):
        match it:
            case Sizes(items=(Sizes(items=names), Routine() as function)):
                yield tuple(map(text_of, names)), partial(_allows, interpreter, function)


def _allows(interpreter: Interpreter, function: Routine, values: tuple[Value, ...]) -> bool | None:
    return truth(interpreter.asked(function, [Sizes(values)]))


def set_arguments(interpreter: Interpreter, places: Sequence[str], given: Sequence[Value], row: int) -> None:
    """Give kernels their arguments; the places of scalars are noted beside their values."""
    for index, value in enumerate(given):
        if isinstance(value, Pointer) and value.place.startswith(SCALAR):
            for it in places:
                interpreter.put(f"{it}.tuned.scalar[{index}]", value)
            value = interpreter.read(value.place)  # noqa: PLW2901
        set_argument(interpreter, places, Number(index), value, row)
