"""What the functions of C, C++, Python and NumPy do that sizes and strings of host code go through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from clmap_lsp.hosts.interpreter import CallHandler, Interpreter
from clmap_lsp.hosts.opencl_calls import bytes_of, find_text, given_file, known_name
from clmap_lsp.hosts.qt_calls import QT_CALLS
from clmap_lsp.hosts.scalars import is_one_number
from clmap_lsp.hosts.store import MAX_ELEMENTS
from clmap_lsp.hosts.strings import braces, piece, printed
from clmap_lsp.hosts.template_calls import named_given
from clmap_lsp.hosts.tree import (
    SLICE,
    SLICES,
    AddressOf,
    Binary,
    Call,
    Comprehension,
    Expr,
    Index,
    Items,
    Member,
    Name,
    Num,
)
from clmap_lsp.hosts.values import (
    PURE_FUNCTIONS,
    Alternatives,
    ArrayValue,
    FileText,
    Null,
    Number,
    Pointer,
    RunTime,
    Sizes,
    Text,
    Value,
    binary,
    bounded,
    converted,
    function,
    is_handle,
    joined,
    size_of,
    text_of,
)
from clmap_lsp.hosts.walking import nodes

# --------------------------------------------------------------------------------------------- strings


def _write_text(
    interpreter: Interpreter, target: Value, written: Expr | None, text: Text, *, append: bool = False
) -> None:
    """Write a string to where an argument points; `buffer + strlen(buffer)` is behind what is there."""
    if interpreter.store is None:
        return
    place = target.place if isinstance(target, Pointer) else None
    moved = isinstance(target, Pointer) and target.moved
    if isinstance(written, Binary) and written.op == "+":
        written, moved = written.left, True
    match written:
        case AddressOf(Index(base, index)):
            written, moved = base, index != Num(0)
    if place is None or moved:
        place = interpreter.place(written) if written is not None else None
    if place is None:
        return
    before = interpreter.text(Pointer(place)) if append or moved else None
    interpreter.store[place] = joined(before, text) if before is not None else text


def _print_from(at: int) -> CallHandler:
    def handler(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
        start = at
        if len(values) > start and interpreter.text(values[start]) is None and at > 1:
            start = next((i for i in range(1, len(values)) if isinstance(values[i], Text)), at)
        format_ = interpreter.text(values[start]) if len(values) > start else None
        if format_ is None:
            return None
        rest = [interpreter.text(it) or it for it in values[start + 1 :]]
        _write_text(interpreter, values[0], call.arguments[0], printed(format_, rest))
        return RunTime("length")

    return handler


def _copy_text(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 2:
        return None
    text = interpreter.text(values[-1]) or interpreter.text(values[1])
    if text is not None:
        _write_text(interpreter, values[0], call.arguments[0], text)
    return values[0]


def _append_text(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if len(values) < 2:
        return None
    text = interpreter.text(values[1]) or interpreter.text(values[-1])
    added = text if text is not None else piece(values[1])
    _write_text(interpreter, values[0], call.arguments[0], added, append=True)
    return values[0]


def _compared(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`strcmp` and `strncmp`: 0 where both strings are the same."""
    one, two = (interpreter.text(it) for it in values[:2]) if len(values) > 1 else (None, None)
    limit = values[2] if len(values) > 2 else None
    count = limit.whole if isinstance(limit, Number) else None
    if one is None or two is None or one.plain is None or two.plain is None or (limit and count is None):
        return None
    return Number(int(one.plain[:count] != two.plain[:count]))


def _length(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    text = interpreter.text(values[-1]) if values else None
    if text is not None and text.plain is not None:
        return Number(len(text.plain))
    value = values[-1] if values else None
    if isinstance(value, Sizes):
        return Number(len(value.items))
    if isinstance(value, ArrayValue) and isinstance(value.shape, Sizes) and value.shape.items:
        return value.shape.items[0]
    if isinstance(value, RunTime) and value.text in ("sys.argv", "argv"):
        return RunTime(call.text, 1)  # The program's own name.
    return RunTime(call.text)


def _parse_number(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    text = interpreter.text(values[0]) if values else None
    if text is not None and text.plain is not None:
        try:
            value = bounded(int(text.plain, 0))
        except ValueError:
            value = None
        return Number(value) if value is not None else RunTime(call.text)
    return RunTime(call.text)


def _to_string(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return piece(interpreter.text(values[0]) or values[0]) if values else Text()


def _new_string(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    for value in values:
        found = find_text(interpreter, value)
        if found is not None:
            return found
    return Text() if not values else None


def _own_text(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return interpreter.strings(values[0])


def _elements(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """Return a string, or where the elements of a list of C++ stand: who is given that may write them."""
    value = values[0]
    if isinstance(value, Pointer) and value.place in interpreter.arrays:
        return value
    if isinstance(value, ArrayValue) and isinstance(call.function, Member):
        place = interpreter.place(call.function.base) if not interpreter.path.endswith(".py") else None
        return Pointer(place) if place is not None and f"{place}[0]" in interpreter.known else None
    return interpreter.text(value)


def _is_thing(interpreter: Interpreter, value: Pointer) -> bool:
    return is_handle(value) or value.place in interpreter.objects


def _added(interpreter: Interpreter, place: str, value: Pointer) -> None:
    """Add a thing to a list of C++: behind those that it has, or to any place where a loop adds it."""
    store = interpreter.store
    if store is None:
        return
    index: int | str = 0
    while f"{place}[{index}]" in store and isinstance(index, int):
        index += 1
    interpreter.arrays.add(place)
    is_told = isinstance(index, int) and index < MAX_ELEMENTS and not interpreter.loop_depth
    element = f"{place}[{index if is_told and f'{place}[*]' not in store else '*'}]"
    interpreter.put(element, value)
    if value.place in interpreter.objects:
        interpreter.objects[element] = interpreter.objects[value.place]


def _append_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if not isinstance(call.function, Member) or len(values) < 2:
        return None
    before = interpreter.text(values[0])
    if before is None and isinstance(values[0], Sizes):
        longer = Sizes((*values[0].items, values[1]))
        if interpreter.path.endswith(".py"):
            interpreter.replace_list(values[0], longer)
        else:
            interpreter.assign(call.function.base, longer)
        return Null()
    place = interpreter.place(call.function.base)
    if isinstance(values[0], Pointer) and interpreter.path.endswith(".py") and not is_handle(values[0]):
        interpreter.put(values[0].place + "[*]", values[1])
        return Null()
    added = values[1]
    if place is not None and isinstance(added, Pointer) and _is_thing(interpreter, added):
        _added(interpreter, place, added)
        return Null()
    text = find_text(interpreter, values[1])
    if before is None and text is None:
        return None
    if before is None and (place is None or interpreter.types.get(place) not in ("Sources", "string", "")):
        return None
    added = text if text is not None else piece(values[1])
    interpreter.assign(call.function.base, joined(before, added) if before is not None else added)
    return values[0]


def _handed_on(interpreter: Interpreter, values: list[Value]) -> Value | None:
    """`std::move(value)`."""
    return None if interpreter.path.endswith((".py", ".c")) or len(values) != 1 else values[0]


def _format_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    text = interpreter.text(values[0])
    if text is None:
        return None
    names = named_given(interpreter, call)
    return braces(text, [interpreter.text(it) or it for it in values[1:]], names)


def _join_method(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    separator = interpreter.text(values[0])
    if separator is None and len(values) > 1:
        return _path(interpreter, _call, values[1:])
    if separator is None or len(values) < 2:
        return None
    listed = _lines(interpreter, _call, values[1:]) or values[1]  # A file that is open is a list of lines.
    if not isinstance(listed, Sizes):
        return None
    result = Text()
    for index, item in enumerate(listed.items):
        result = joined(result, separator) if index else result
        result = joined(result, piece(interpreter.text(item) or item))
    return result


# ----------------------------------------------------------------------------------------------- files


def _path(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`os.path.join(folder, …)`, `folder.joinpath(…)` and `Path(…)` of Python."""
    if not interpreter.path.endswith(".py") or not values or not interpreter.text(values[-1]):
        return None
    result = Text()
    for index, value in enumerate(values):
        result = joined(result, Text(("/",))) if index else result
        result = joined(result, piece(interpreter.text(value) or value))
    return result


def _open(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """A file that is opened is what stands in it, if its name is known."""
    found = given_file(interpreter, call, values)
    if found is not None:
        return found
    text = interpreter.text(values[0]) if values else None
    name = known_name(text) if text is not None else None
    return Text((FileText(name),)) if name else RunTime(call.text)


def _read(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`fread(buffer, size, count, file)`."""
    text = interpreter.text(values[3]) if len(values) > 3 else None
    if text is None:
        return None
    _write_text(interpreter, values[0], call.arguments[0], text)
    return RunTime("length")


def _read_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    text = interpreter.text(values[0])
    if text is not None and len(values) > 1:
        _write_text(interpreter, values[1], call.arguments[0], text)
    return text


def _lines(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`file.readlines()` of Python: as one line, since nothing here asks what stands on which."""
    text = interpreter.text(values[0]) if values else None
    return Sizes((text,)) if text is not None and text.has_file else None


# --------------------------------------------------------------------------------------------- numbers


def _pure(name: str) -> CallHandler:
    def handler(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
        given = values[1:] if isinstance(call.function, Member) else values
        if len(given) == 1 and isinstance(given[0], Sizes) and name in ("min", "max"):
            given = list(given[0].items)
        if name == "abs" and not given:
            return None
        return function(name, given) if all(isinstance(it, (Number, RunTime)) for it in given) else None

    return handler


def _whole(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    given = values[1:] if isinstance(call.function, Member) else values
    if len(given) != 1 or not isinstance(given[0], (Number, RunTime)):
        return None
    return converted("int", given[0])


def _real(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    given = values[1:] if isinstance(call.function, Member) else values
    if len(given) != 1 or not isinstance(given[0], (Number, RunTime)):
        return None
    return converted("float", given[0])


def _memory(interpreter: Interpreter, _call: Call, _values: list[Value]) -> Value | None:
    """`malloc` and its kin: a place of its own; in a loop it stands for many, which are not told apart."""
    if interpreter.loop_depth or interpreter.trials:
        return None
    return Pointer(interpreter.fresh_memory())


def _more_memory(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`realloc` keeps what was there; where it moves to does not matter."""
    return values[0] if values and isinstance(values[0], Pointer) else None


def _start_arguments(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`va_start(list, last)`."""
    if not values or not call.arguments:
        return None
    interpreter.assign(call.arguments[0], Sizes(interpreter.frame.rest))
    return Null()


def _copy_arguments(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`va_copy(to, from)`."""
    if len(values) < 2:
        return None
    interpreter.assign(call.arguments[0], values[1])
    return Null()


def _next_argument(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`va_arg(list, type)`: the first that is left. Where that is not known, any may be written through."""
    if not values:
        return None
    left = values[0]
    if isinstance(left, Sizes) and left.items:
        interpreter.assign(call.arguments[0], Sizes(left.items[1:]))
        return left.items[0]
    several = left.values if isinstance(left, Alternatives) else (left,)
    for frame in interpreter.frames:
        several = (*several, Sizes(frame.rest))
    for each in several:
        for it in each.items if isinstance(each, Sizes) else ():
            if isinstance(it, Pointer) and not is_handle(it):
                interpreter.open_at(it.place)
    return RunTime(call.text)


def _exit(interpreter: Interpreter, _call: Call, _values: list[Value]) -> Value | None:
    interpreter.store = None
    return Null()


def _assert(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """An assertion that fails ends the program; one about variables says that they are not what they seem.

    Programs do not fail their own assertions: something set the variables where it was not followed.
    """
    if values and values[0] == Number(0):
        named = [it for it in nodes(call.arguments[0]) if isinstance(it, (Name, Member))]
        places = {place for it in named if (place := interpreter.place(it)) is not None}
        if not places:
            interpreter.store = None
        for place in places:
            interpreter.open_at(place, keeps_default=False)
    return Null()


def _options(_interpreter: Interpreter, call: Call, _values: list[Value]) -> Value | None:
    return RunTime(call.text, -1)


def _range(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    numbers = [it.whole for it in values if isinstance(it, Number)]
    known = [it for it in numbers if it is not None]
    if known and len(known) == len(values) and len(values) <= 3:
        try:
            counted = range(*known)
        except ValueError:
            return RunTime(call.text)
        if not counted[8:]:
            return Sizes(tuple(Number(it) for it in counted))
    return RunTime(call.text)


def _tuple(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    if not values:
        return Sizes(())
    return values[0] if isinstance(values[0], Sizes) else None


def _sliced(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`shape[:2]`, `shape[::-1]`, `array[1:]`."""
    if len(values) == 1 and isinstance(values[0], ArrayValue):
        return _part_of_array(interpreter, call, values[0], (call,))
    part = _bounds(interpreter, call)
    if len(values) != 1 or not isinstance(values[0], Sizes) or part is None:
        return RunTime(call.text)
    return Sizes(values[0].items[part])


_OF_SLICES = ("start", "stop", "step")


def _bounds(interpreter: Interpreter, call: Call) -> slice | None:
    """Return what a slice takes; None where that depends on the run."""
    parts = [interpreter.value(call.keywords[it]) if it in call.keywords else None for it in _OF_SLICES]
    numbers = [it.whole if isinstance(it, Number) else None for it in parts]
    is_open = any(one is None and two is not None for one, two in zip(numbers, parts, strict=True))
    return None if is_open or numbers[2] == 0 else slice(*numbers)


def _sliced_by_sides(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`array[:, 0]`, `array[1:, :-1]`."""
    if not values or not isinstance(values[0], ArrayValue):
        return RunTime(call.text)
    return _part_of_array(interpreter, call, values[0], call.arguments[1:])


def _part_of_array(interpreter: Interpreter, call: Call, array: ArrayValue, parts: Sequence[Expr]) -> Value:
    """Return what slices leave of an array's sides; an index takes a side away."""
    if not isinstance(array.shape, Sizes) or len(parts) > len(array.shape.items):
        return ArrayValue(RunTime(call.text), array.item_bytes)
    left: list[Value] = []
    for part, side in zip(parts, array.shape.items, strict=False):
        if isinstance(part, Call) and part.function in (Name(SLICE), Name(SLICES)):
            left.append(_side_left(interpreter, part, side))
        elif not isinstance(interpreter.value(part), Number):
            return ArrayValue(RunTime(call.text), array.item_bytes)  # `None` adds a side, a mask takes some.
    return ArrayValue(Sizes((*left, *array.shape.items[len(parts) :])), array.item_bytes)


def _side_left(interpreter: Interpreter, part: Call, side: Value) -> Value:
    taken = _bounds(interpreter, part)
    if taken == slice(None):
        return side
    length = side.whole if isinstance(side, Number) else None
    if taken is None or length is None:
        return RunTime(f"len({part.text})")
    return Number(len(range(length)[taken]))


def _zip(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    rows = [it.items for it in values if isinstance(it, Sizes)]
    if not rows or len(rows) != len(values):
        return None
    return Sizes(tuple(Sizes(it) for it in zip(*rows, strict=False)))


def _enumerated(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    if len(values) != 1 or not isinstance(values[0], Sizes):
        return None
    return Sizes(tuple(Sizes((Number(at), it)) for at, it in enumerate(values[0].items)))


def _pair(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return Sizes(tuple(values))


def _got(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`std::get<1>(tuple)`."""
    index = call.template[0] if call.template and len(values) == 1 else ""
    items = values[0].items if values and isinstance(values[0], Sizes) else ()
    return items[int(index)] if index.isdecimal() and len(index) < 9 and int(index) < len(items) else None


def _dictionary(interpreter: Interpreter, call: Call, _values: list[Value]) -> Value | None:
    place = interpreter.fresh("d", call)
    for name, entry in call.keywords.items():
        held = interpreter.value(entry)
        if interpreter.store is not None:
            interpreter.store[f"{place}.{name}"] = held
    return Pointer(place)


# ---------------------------------------------------------------------------------------------- arrays


def _item_bytes(call: Call, values: list[Value]) -> int | None:
    given = call.keywords.get("dtype")
    name = given.name if isinstance(given, (Member, Name)) else ""
    if not name:
        names = [text_of(it).rsplit(".", 1)[-1] for it in values[2:] if isinstance(it, RunTime)]
        name = next((it for it in names if size_of(it) is not None), "")
    return size_of(name) if name else None


def _array(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`np.zeros(shape)` and its kin; those of devices are given a queue first: `cla.zeros(queue, shape)`."""
    given = call.keywords.get("shape") or call.keywords.get("size")
    sizes = _behind_queue(call, values)
    return _of_shape(call, values, interpreter.value(given) if given is not None else next(iter(sizes), None))


def _behind_queue(call: Call, values: list[Value]) -> list[Value]:
    """Return the arguments of a call behind its module and, if it is given one, the queue."""
    given = values[1:]
    if len(given) < 2:
        return given
    takes_no_number = isinstance(call.function, Member) and call.function.name in _OF_A_SHAPE
    is_shape = isinstance(given[1], Sizes) or (takes_no_number and isinstance(given[1], Number))
    return given[1:] if _is_queue(given[0]) or (isinstance(given[0], RunTime) and is_shape) else given


def _is_queue(value: Value) -> bool:
    if not isinstance(value, RunTime):
        return is_handle(value)
    text = value.text.lower()
    return "commandqueue(" in text or text.removesuffix("()").endswith("queue")


_OF_A_SHAPE = frozenset(("zeros", "empty", "ones", "ndarray"))
"""What takes no number behind the shape."""


def _of_shape(call: Call, values: list[Value], shape: Value | None) -> Value | None:
    if isinstance(shape, ArrayValue):
        return shape
    if isinstance(shape, Sizes):
        return ArrayValue(shape, _item_bytes(call, values))
    if isinstance(shape, (Number, RunTime)):
        return ArrayValue(Sizes((shape,)), _item_bytes(call, values))
    return None


def _random(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`np.random.rand(n, m)`; `clrandom.rand(queue, shape, dtype)`."""
    given = _behind_queue(call, values)
    if len(given) < len(values) - 1 and given:
        return _of_shape(call, values, given[0])
    sizes = [it for it in given if isinstance(it, (Number, RunTime))]
    return ArrayValue(Sizes(tuple(sizes)), 8) if sizes and len(sizes) == len(values) - 1 else None


def _drawn(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`rng.integers(low, high, size=n)`, `np.random.uniform(low, high, (n, m))`."""
    given = call.keywords.get("size")
    shape = interpreter.value(given) if given is not None else values[3] if len(values) > 3 else None
    return _of_shape(call, values, shape)


def _reshaped(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`a.reshape(n, m)`, `a.reshape((n, m))`; a side of -1 is what is left."""
    if not isinstance(values[0], ArrayValue) or len(values) < 2:
        return None
    sides = values[1].items if isinstance(values[1], Sizes) else tuple(values[1:])
    if any(isinstance(it, Number) and it.value < 0 for it in sides):
        if len(sides) > 1:
            return None
        total = _count(_interpreter, call, values)
        sides = (total,) if total is not None else sides
    return ArrayValue(Sizes(sides), values[0].item_bytes)


def _resized(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`image.resize((w, h))` of Python's imaging library, whose size is its width and height."""
    sides = values[1] if len(values) > 1 else None
    if not interpreter.path.endswith(".py") or isinstance(values[0], ArrayValue):
        return None
    return _image(interpreter, call, sides)


def _new_image(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`Image.new("RGBA", (w, h))`."""
    is_image = interpreter.path.endswith(".py") and len(values) > 2 and isinstance(values[1], Text)
    return _image(interpreter, call, values[2]) if is_image else None


def _image(interpreter: Interpreter, call: Call, sides: Value | None) -> Value | None:
    if not isinstance(sides, Sizes) or len(sides.items) != _SIDES_OF_IMAGE or interpreter.store is None:
        return None
    place = interpreter.fresh("image", call)
    interpreter.store[f"{place}.size"] = sides
    interpreter.store[f"{place}.width"], interpreter.store[f"{place}.height"] = sides.items
    return Pointer(place)


def _converted_image(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`image.convert("RGBA")`: as large."""
    held = values[0]
    return held if isinstance(held, Pointer) and held.place.startswith("image") else None


_SIDES_OF_IMAGE = 2


def _flat(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    total = _count(interpreter, call, values)
    if total is None or not isinstance(values[0], ArrayValue):
        return None
    return ArrayValue(Sizes((total,)), values[0].item_bytes)


def _arange(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    given = values[2:] if len(values) > 2 and _is_queue(values[1]) else values[1:]
    numbers = [it for it in given if isinstance(it, (Number, RunTime))]
    if len(numbers) == 1:
        return ArrayValue(Sizes((numbers[0],)), _item_bytes(call, []))
    if len(numbers) >= 2:
        return ArrayValue(Sizes((binary("-", numbers[1], numbers[0]),)), _item_bytes(call, []))
    return None


def _linspace(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return ArrayValue(Sizes((values[3],)), _item_bytes(call, [])) if len(values) > 3 else None


def _array_like(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return next((it for it in values[1:] if isinstance(it, ArrayValue)), None)


def _counted(interpreter: Interpreter, items: Expr) -> Value | None:
    """Return how many items `range(n)`, `list(range(n))` and `[0] * n` have."""
    match items:
        case Call(function=Name("list" | "tuple"), arguments=(inner,)):
            return _counted(interpreter, inner)
        case Call(function=Name("range" | "xrange"), arguments=arguments) if arguments:
            bounds = [interpreter.value(it) for it in arguments]
            numbers = [it.whole for it in bounds if isinstance(it, Number)]
            known = [it for it in numbers if it is not None]
            if len(known) == len(bounds) <= 3 and known[2:] != [0]:
                return Number(len(range(*known)))
            return bounds[0] if len(bounds) == 1 and isinstance(bounds[0], RunTime) else None
        case Binary("*", Items(listed), times):
            return binary("*", Number(len(listed)), interpreter.value(times))
    return None


def _listed_shape(
    interpreter: Interpreter, items: Expr, counting: AbstractSet[str] = frozenset()
) -> tuple[Value, ...] | None:
    """Return the shape of what makes a list of numbers, or lists of them that are equally long."""
    if not isinstance(items, Comprehension) or items.key is not None:
        count = _counted(interpreter, items)
        return (count,) if count is not None else None
    count = _counted(interpreter, items.over)
    if count is None:
        return None
    counting = counting | {it.name for it in nodes(items.each) if isinstance(it, Name)}
    if is_one_number(items.element, counting):
        return (count,)
    # A length that depends on the turn is none that all of them have.
    over = items.element.over if isinstance(items.element, Comprehension) else items.element
    if any(isinstance(it, Name) and it.name in counting for it in nodes(over)):
        return None
    inner = _listed_shape(interpreter, items.element, counting)
    return (count, *inner) if inner is not None else None


def _of_items(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`np.array([…])`, `np.array(range(n))`, `np.array([[f(i, j) for i in range(w)] for j in range(h)])`."""
    if len(values) < 2:
        return None
    shape = _listed_shape(interpreter, call.arguments[0]) if call.arguments else None
    if shape is not None:
        return ArrayValue(Sizes(shape), _item_bytes(call, []))
    if isinstance(values[1], Sizes):
        items = values[1].items
        inner = items[0].items if items and isinstance(items[0], Sizes) else None
        shape = (Number(len(items)), *((Number(len(inner)),) if inner is not None else ()))
        return ArrayValue(Sizes(shape), _item_bytes(call, []))
    return values[1] if isinstance(values[1], ArrayValue) else None


def _cast_array(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if not isinstance(values[0], ArrayValue):
        return None
    name = text_of(values[1]).rsplit(".", 1)[-1] if len(values) > 1 else ""
    return ArrayValue(values[0].shape, size_of(name) if name else _item_bytes(call, []))


def _same_array(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return values[0] if isinstance(values[0], ArrayValue) else None


def _shape(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    return values[0].shape if isinstance(values[0], ArrayValue) else None


def _count(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    value = values[0]
    if not isinstance(value, ArrayValue) or not isinstance(value.shape, Sizes):
        return None
    total: Value = Number(1)
    for item in value.shape.items:
        total = binary("*", total, item)
    return total


def _bytes(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return bytes_of(values[0]) if isinstance(values[0], ArrayValue) else _scalar_size(call)


def _scalar_size(call: Call) -> Value | None:
    """`np.float32().nbytes`, `np.int32(7).itemsize`: of a scalar that is made on the spot."""
    made = call.function.base if isinstance(call.function, Member) else None
    called = made.function if isinstance(made, Call) else None
    size = size_of(called.name) if isinstance(called, (Name, Member)) else None
    return None if size is None else Number(size)


def _type_of_items(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`array.dtype`: one item."""
    return ArrayValue(Sizes(()), values[0].item_bytes) if isinstance(values[0], ArrayValue) else None


def _named_type(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`np.dtype(np.float32)` and `np.dtype("float32")`."""
    given = values[-1] if len(values) > 1 else None
    if isinstance(given, ArrayValue):
        return given
    name = (
        given.plain or "" if isinstance(given, Text) else text_of(given).rsplit(".", 1)[-1] if given else ""
    )
    size = size_of(name)
    return None if size is None else ArrayValue(Sizes(()), size)


def _item_size(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    if not isinstance(values[0], ArrayValue):
        return _scalar_size(call)
    size = values[0].item_bytes
    return None if size is None else Number(size)


def _size_method(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    items = interpreter.n_elements(values[0])
    if items:
        return Number(items)
    value = values[0]
    if isinstance(value, ArrayValue) and isinstance(value.shape, Sizes) and value.shape.items:
        return (
            value.shape.items[0]
            if not interpreter.path.endswith(".py")
            else _count(interpreter, call, values)
        )
    return _length(interpreter, call, values[:1]) if interpreter.text(values[0]) is not None else None


def _vector(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`std::vector<T> v(n)`, `std::vector<T>{a, b}`."""
    if len(values) == 1 and isinstance(values[0], Sizes):
        return values[0]
    item = size_of(call.template[0]) if call.template else None
    if values and isinstance(values[0], (Number, RunTime)):
        row = values[1].shape if len(values) > 1 and isinstance(values[1], ArrayValue) else None
        return ArrayValue(Sizes((values[0], *(row.items if isinstance(row, Sizes) else ()))), item)
    return None


def _first(position: int) -> Callable[[Interpreter, Call, list[Value]], Value | None]:
    def handler(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
        return values[position] if len(values) > position else None

    return handler


_NUMPY_TYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intc", "uintc", "intp"),
    *("short", "ushort", "int_", "uint", "long", "ulong", "longlong", "ulonglong", "byte", "ubyte", "size_t"),
)
LIBRARY: dict[str, CallHandler] = {
    **QT_CALLS,
    "sprintf": _print_from(1),
    "snprintf": _print_from(2),
    "sprintf_s": _print_from(2),
    "_snprintf": _print_from(2),
    "strcpy": _copy_text,
    "strncpy": lambda interpreter, call, values: _copy_text(interpreter, call, values[:2]),
    "memcpy": lambda interpreter, call, values: (
        _copy_text(interpreter, call, values[:2])
        if len(values) > 1 and interpreter.text(values[1]) is not None
        else None
    ),
    "qstrcpy": _copy_text,
    "QString": _new_string,
    "new QString": _new_string,
    "new QFile": _open,
    "strcat": _append_text,
    "strncat": _append_text,
    "strlen": _length,
    "strcmp": _compared,
    "strncmp": _compared,
    "len": _length,
    "atoi": _parse_number,
    "atol": _parse_number,
    "strtol": _parse_number,
    "strtoul": _parse_number,
    "stoi": _parse_number,
    "to_string": _to_string,
    "str": _to_string,
    "string": _new_string,
    "new string": _new_string,
    "new ostringstream": _new_string,
    "new stringstream": _new_string,
    "new Sources": _new_string,
    "Sources": _new_string,
    ".Sources()": lambda interpreter, call, values: _new_string(interpreter, call, values[1:]),
    "istreambuf_iterator": _first(0),
    ".c_str()": _own_text,
    ".str()": _own_text,
    ".data()": _elements,
    ".begin()": _elements,
    ".end()": _elements,
    ".strip()": _own_text,
    ".encode()": _own_text,
    ".append()": _append_method,
    ".push_back()": _append_method,
    ".emplace_back()": _append_method,
    "move": lambda interpreter, _call, values: _handed_on(interpreter, values),
    "forward": lambda interpreter, _call, values: _handed_on(interpreter, values),
    ".format()": _format_method,
    ".join()": _join_method,
    **dict.fromkeys(("malloc", "calloc", "aligned_alloc", "_mm_malloc", "_aligned_malloc", "new[]"), _memory),
    "realloc": _more_memory,
    "va_start": _start_arguments,
    "va_arg": _next_argument,
    "va_copy": _copy_arguments,
    "va_end": lambda _interpreter, _call, _values: Null(),
    "make_pair": _pair,
    "make_tuple": _pair,
    "get": _got,
    "fopen": _open,
    "open": _open,
    "new ifstream": _open,
    "Path": _path,
    ".Path()": lambda interpreter, call, values: _path(interpreter, call, values[1:]),
    ".joinpath()": _path,
    ".read_text()": lambda interpreter, call, values: _open(interpreter, call, values[:1]),
    ".read_bytes()": lambda interpreter, call, values: _open(interpreter, call, values[:1]),
    "fread": _read,
    ".read()": _read_method,
    ".readlines()": _lines,
    ".splitlines()": _lines,
    ".rdbuf()": _own_text,
    **{name: _pure(name) for name in PURE_FUNCTIONS},
    **{f".{name}()": _pure(name) for name in PURE_FUNCTIONS if name not in ("abs",)},
    "int": _whole,
    "float": _real,
    "range": _range,
    "tuple": _tuple,
    "list": _tuple,
    SLICE: _sliced,
    SLICES: _sliced_by_sides,
    "zip": _zip,
    "enumerate": _enumerated,
    "dict": _dictionary,
    "exit": _exit,
    "_exit": _exit,
    "abort": _exit,
    "quick_exit": _exit,
    "assert": _assert,
    "getopt": _options,
    "getopt_long": _options,
    **{f".{name}()": _whole for name in _NUMPY_TYPES},
    **{f".{name}()": _real for name in ("float16", "float32", "float64", "single", "double", "half")},
    **{
        f".{name}()": _array
        for name in ("zeros", "ones", "empty", "ndarray", "full", "random", "random_sample")
    },
    **{f".{name}()": _random for name in ("rand", "randn")},
    **{f".{name}()": _drawn for name in ("randint", "integers", "uniform", "normal", "choice")},
    ".standard_normal()": _array,
    ".reshape()": _reshaped,
    ".resize()": _resized,
    ".new()": _new_image,
    ".convert()": _converted_image,
    ".ravel()": _flat,
    ".flatten()": _flat,
    **{f".{name}()": _array_like for name in ("zeros_like", "empty_like", "ones_like", "to_device")},
    ".arange()": _arange,
    ".linspace()": _linspace,
    ".array()": _of_items,
    ".asarray()": _of_items,
    ".astype()": _cast_array,
    ".copy()": _same_array,
    ".shape": _shape,
    ".dtype": _type_of_items,
    ".dtype()": _named_type,
    ".itemsize": _item_size,
    ".size": _count,
    ".nbytes": _bytes,
    ".size()": _size_method,
    ".length()": lambda interpreter, call, values: (
        _length(interpreter, call, values[:1]) if interpreter.text(values[0]) is not None else None
    ),
    "new vector": _vector,
    "vector": _vector,
}
