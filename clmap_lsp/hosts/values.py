"""What a host expression is worth, and in which runs."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from itertools import groupby

from clmap_lsp.dataclass import dataclass

MAX_PARTS = 4096
MAX_CHARACTERS = 4 << 20
"""Longer strings, which a program doubles in a few lines, are not followed."""
MAX_TEXT = 72
"""Longer expressions are called by the variable that they are assigned to."""


@dataclass(frozen=True, slots=True)
class Number:
    """The same number in every run."""

    value: int | float

    @property
    def whole(self) -> int | None:
        """The number as a count or an index; None for what no whole number of 64 bits holds."""
        return int(self.value) if -(1 << 63) <= self.value < 1 << 64 else None


@dataclass(frozen=True, slots=True)
class RunTime:
    """What depends on the run.

    `default` is what the program takes unless told otherwise: without arguments and as far as it can be known
    without a device. `opaque` tells that the text says nothing that a variable's name would not say better.
    """

    text: str
    default: int | float | None = None
    opaque: bool = True
    device: bool = False
    """It asks the device, so that no default can be known."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The contents of a file named in the host code."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string, with holes where it depends on the run."""

    parts: tuple[str | Value | FileText, ...] = ()
    row: int = 0
    path: str = ""

    @property
    def plain(self) -> str | None:
        """The string if all of it is known."""
        pieces = [_plain(it) for it in self.parts]
        return None if None in pieces else "".join(it for it in pieces if it is not None)

    @property
    def has_file(self) -> bool:
        """Whether some of it stands in a file."""
        return any(isinstance(it, FileText) for it in self.parts)

    def __str__(self) -> str:
        return "".join(_shown(it) for it in self.parts)


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of a place in the store."""

    place: str
    moved: bool = False
    """It points behind the place's start, as `text + strlen(text)` does."""


@dataclass(frozen=True, slots=True)
class Null:
    """A null pointer, or `None`."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """An NDRange, a tuple, or a shape. `None` where the number of dimensions is not known.

    A list of lists that holds too much is one of things that nobody knows: a list of itself nine times, again
    and again, takes a line each and holds more than any memory.
    """

    items: tuple[Value, ...]
    extent: int = field(init=False, compare=False, repr=False, default=0)
    """What it holds, with all that those hold."""

    def __post_init__(self) -> None:
        extent = _LIST + sum(map(_extent, self.items))
        if extent > MAX_EXTENT:
            kept = tuple(it if _extent(it) == 1 else RunTime("…") for it in self.items)
            object.__setattr__(self, "items", kept)
            extent = _LIST + len(kept)
        object.__setattr__(self, "extent", extent)


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array of NumPy or of pyopencl."""

    shape: Sizes | RunTime
    item_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """A `__local` argument."""

    size: Value


@dataclass(frozen=True, slots=True)
class Launching:
    """`cl::EnqueueArgs`."""

    global_size: Value
    local_size: Value
    offset: Value


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several things, as different ways lead here."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of the host program; `this` is the object that it was taken from."""

    name: str
    owner: str = ""
    this: Value | None = None
    identity: int = 0


@dataclass(frozen=True, slots=True)
class Generated:
    """What calling a generator of Python returns: it runs when that is gone through."""

    name: str
    identity: int


Value = (
    Number
    | RunTime
    | FileText
    | Text
    | Pointer
    | Null
    | Sizes
    | ArrayValue
    | LocalMemory
    | Launching
    | Alternatives
    | Routine
    | Generated
)


_LIST = 8
"""What a list counts beside its items: those that stand one in the other may not be deep either."""
MAX_EXTENT = 4096


def _extent(value: Value) -> int:
    """Return how many values a value holds."""
    match value:
        case Number() | RunTime() | Pointer() | Null() | FileText():
            return 1
        case Sizes(extent=extent) | ArrayValue(shape=Sizes(extent=extent)):
            return extent
        case Alternatives(values):
            return sum(map(_extent, values))
        case LocalMemory(size):
            return _extent(size)
        case Launching(one, two, three):
            return _extent(one) + _extent(two) + _extent(three)
        case Routine(this=this) if this is not None:
            return 1 + _extent(this)
        case _:
            return 1


def text_of(value: Value) -> str:
    """Return a value as a person would write it."""
    match value:
        case Number(number):
            return f"{number:g}" if isinstance(number, float) else str(number)
        case RunTime(text):
            return text
        case Text():
            return str(value)
        case Sizes(items):
            return f"({', '.join(map(text_of, items))})" if _is_shown(value) else "(…)"
        case FileText(name):
            return name
        case Pointer(place):
            return name_of(place).lstrip(".")
        case Alternatives(values):
            return " or ".join(dict.fromkeys(text_of(it) for it in values))
        case LocalMemory(size):
            return f"local({text_of(size)})"
        case Null():
            return "NULL"
        case _:
            return "?"


_MAX_SHOWN, _MAX_LEVELS = 4096, 16
"""Values of a list that are written out, and how deep they may stand: a list of itself twice doubles."""


def _is_shown(value: Sizes) -> bool:
    """Tell whether a list is written out."""
    count = 0
    rest: list[tuple[Sizes, int]] = [(value, 1)]
    while rest:
        it, level = rest.pop()
        count += len(it.items)
        if count > _MAX_SHOWN or level > _MAX_LEVELS:
            return False
        rest += [(inner, level + 1) for inner in it.items if isinstance(inner, Sizes)]
    return True


def name_of(place: str) -> str:
    """Return the name that the host code has for a place."""
    return place.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def field_name(place: str) -> str:
    """Return the name of the field that a place is, or is an element of; empty where it is none."""
    name = whole_of(name_of(place))
    return name.rpartition(".")[2] if "." in name else ""


def whole_of(place: str) -> str:
    """Return the place of the array that a place is an element of; itself where it is none."""
    while place.endswith("]"):
        place = place[: place.rindex("[")]
    return place


def kept_name(place: str) -> str:
    """Return the name of the field or of the variable outside of functions that a place is, or is an element
    of: what one function puts there is found by others that run apart from it. Empty where it is neither.
    """
    field = field_name(place)
    return field or (name_of(place).partition("[")[0] if place.startswith("g:") else "")


def file_of_variable(place: str) -> str:
    """Return the file of the variable outside of functions that a place is or lies in; empty for others."""
    if not place.startswith("g:"):
        return ""
    path, _, name = place[2:].partition("#")[0].rpartition("/")
    return f"{path}/{name.partition(':')[0]}" if path or "/" in place else name.partition(":")[0]


_INDEX = re.compile(r"\[[^\[\]]*\]")


def element_of(place: str) -> str:
    """Return which element of arrays a place is or lies in, as `[1]` or `[*]`; empty where it is none."""
    return "".join(_INDEX.findall(name_of(place)))


def holder_name(place: str) -> str:
    """Return the name of the variable or field that holds the field which a place is."""
    return field_name("." + name_of(place).rpartition(".")[0])


def default_of(value: Value) -> int | float | None:
    """Return the number that a value has unless the program is told otherwise."""
    match value:
        case Number(number):
            return number
        case RunTime(default=default):
            return default
        case _:
            return None


def asks_device(value: Value) -> bool:
    """Tell whether a value depends on what the device answers."""
    return isinstance(value, RunTime) and value.device


def truth(value: Value) -> bool | None:
    """Return what a value is as a condition, `None` where that depends on the run."""
    match value:
        case Number(number):
            return bool(number)
        case Null():
            return False
        case Pointer() | Routine() | ArrayValue():
            return True
        case Sizes(items):
            return bool(items)
        case Text():
            return bool(value.parts) if value.plain is not None else None
        case _:
            return None


def is_handle(value: Value | None, kinds: str = "kpb") -> bool:
    """Tell whether a value is a handle of OpenCL: of a kernel (`k`), a program (`p`) or a buffer (`b`)."""
    return isinstance(value, Pointer) and value.place[:1] in kinds and value.place[1:2].isdecimal()


def is_nameless(value: Pointer) -> bool:
    """Tell whether a value is memory that nothing points to yet."""
    return value.place.startswith("h") and value.place.endswith("#")


def is_program(value: Value | None) -> bool:
    """Tell whether a value is a program's handle."""
    return is_handle(value, "p")


def is_kernel(value: Value | None) -> bool:
    """Tell whether a value is a kernel's handle."""
    return is_handle(value, "k")


def _plain(part: str | Value | FileText) -> str | None:
    match part:
        case str():
            return part
        case Number():
            return text_of(part)
        case Text():
            return part.plain
        case Alternatives(values) if all(it == Null() or _plain(it) == "" for it in values):
            return ""  # Build options that are an empty string or NULL.
        case _:
            return None


def _shown(part: str | Value | FileText) -> str:
    plain = _plain(part)
    if plain is not None:
        return plain
    return (
        str(part) if isinstance(part, Text) else f"{{{text_of(part)}}}" if not isinstance(part, str) else ""
    )


Parts = tuple["str | Value | FileText", ...]


def joined(one: Text, two: Text) -> Text:
    """Return two strings after each other; they come from where the first kernel in them stands."""
    # Long texts are made of thousands of pieces: what is before the last one stays as it is.
    parts = (*one.parts[:-1], *_merged((*one.parts[-1:], *two.parts)))
    origin = two if two.row and (not one.row or _has_kernel(two) > _has_kernel(one)) else one
    return Text(_bounded(parts), origin.row, origin.path or one.path or two.path)


def joined_all(first: Text, others: Sequence[Text]) -> Text:
    """Return strings after each other, in time that grows with their length."""
    parts = _bounded(_merged([part for text in (first, *others) for part in text.parts]))
    origin = Text((), first.row, first.path)
    with_row = [it for it in others if it.row]
    if with_row:  # What `joined` would say of one after the other.
        kernel = next((it for it in (first, *with_row) if _has_kernel(it)), None)
        origin = kernel or (first if first.row else with_row[0])
    return Text(parts, origin.row, origin.path or first.path)


def _bounded(parts: Parts) -> Parts:
    if len(parts) > MAX_PARTS or sum(len(it) for it in parts if isinstance(it, str)) > MAX_CHARACTERS:
        return (RunTime("…"),)
    return parts


def _has_kernel(text: Text) -> bool:
    return any("kernel void" in it for it in text.parts if isinstance(it, str))


def _merged(parts: Iterable[str | Value | FileText]) -> Parts:
    result: list[str | Value | FileText] = []
    for is_plain, run in groupby(parts, key=lambda it: isinstance(it, str)):
        if not is_plain:
            result += run
        elif whole := "".join(it for it in run if isinstance(it, str)):
            result.append(whole)
    return tuple(result)


# ------------------------------------------------------------------------------------------- arithmetic

_MOST_BITS = 128


def _quotient(left: int | float, right: int | float) -> int | float:
    """Divide as C does: whole numbers towards zero."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _remainder(left: int | float, right: int | float) -> int | float:
    if isinstance(left, int) and isinstance(right, int):
        return left - int(_quotient(left, right)) * right
    return math.fmod(left, right)


def _shift_left(left: int | float, right: int | float) -> int:
    if not 0 <= right < 64:
        raise ValueError(right)
    return int(left) << int(right)


def _power(left: int | float, right: int | float) -> int | float:
    if abs(right) > 64 or abs(left) > 1 << 20:
        raise OverflowError
    return left**right


_ARITHMETIC: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": _remainder,
    "//": operator.floordiv,
    "truediv": operator.truediv,
    "mod": operator.mod,
    "**": _power,
    "<<": _shift_left,
    ">>": lambda left, right: int(left) >> int(right),
    "&": lambda left, right: int(left) & int(right),
    "|": lambda left, right: int(left) | int(right),
    "^": lambda left, right: int(left) ^ int(right),
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., int | float]] = {
    "ceil": lambda x: float(math.ceil(x)),
    "ceilf": lambda x: float(math.ceil(x)),
    "floor": lambda x: float(math.floor(x)),
    "floorf": lambda x: float(math.floor(x)),
    "sqrt": math.sqrt,
    "sqrtf": math.sqrt,
    "pow": lambda x, y: float(_power(x, y)),
    "powf": lambda x, y: float(_power(x, y)),
    "log2": math.log2,
    "log": math.log,
    "abs": abs,
    "fabs": abs,
    "round": lambda x: float(round(x)),
    "min": min,
    "max": max,
    "fmin": min,
    "fmax": max,
}
PURE_FUNCTIONS = frozenset(_FUNCTIONS)
_LEAST = frozenset(("min", "fmin"))
_DEVICE_LIMITS = re.compile(
    r"work_?group_?size|max_?work|compute_?units|local_?mem|max_?(?:local|group|threads|global|mem|alloc|buffer)",
    re.IGNORECASE,
)
"""What fields that hold an answer of the device are called."""
_SHOWN_OPS = {"truediv": "/", "mod": "%"}


def binary(op: str, left: Value, right: Value) -> Value:
    """Return `left op right`."""
    if op not in _ARITHMETIC:
        return RunTime(f"{_operand(left)} {op} {_operand(right)}")
    known = _computed(op, left, right) if isinstance(left, Number) and isinstance(right, Number) else None
    if known is not None:
        return Number(known)
    one, two = default_of(left), default_of(right)
    default = None if one is None or two is None else _applied(op, one, two)
    if op in ("*", "&") and Number(0) in (left, right):
        return Number(0)
    if op == "*" and left == Number(1):
        return right
    if op in ("*", "/", "//") and right == Number(1):
        return left
    if op in ("+", "-") and right == Number(0):
        return left
    shown = _SHOWN_OPS.get(op, op)
    text = f"{_operand(left)} {shown} {_operand(right)}"
    return RunTime(text, default, opaque=False, device=asks_device(left) or asks_device(right))


def _computed(op: str, left: Number, right: Number) -> int | float | None:
    return _applied(op, left.value, right.value)


def _applied(op: str, left: int | float, right: int | float) -> int | float | None:
    try:
        result = _ARITHMETIC[op](left, right)
    except (ArithmeticError, ValueError, TypeError):
        return None
    result = int(result) if isinstance(result, bool) else result
    return None if isinstance(result, complex) else bounded(result)


def bounded(number: int | float) -> int | float | None:
    """Return a number, or None for a whole one that is larger than any that a program holds.

    Python's whole numbers know no end: what hosts' text could make of them would take any time and memory.
    """
    return None if isinstance(number, int) and number.bit_length() > _MOST_BITS else number


def _operand(value: Value) -> str:
    text = repr(value.plain) if isinstance(value, Text) and value.plain is not None else text_of(value)
    return f"({text})" if isinstance(value, RunTime) and not value.opaque and " " in text else text


def function(name: str, arguments: list[Value]) -> Value:
    """Return what one of `PURE_FUNCTIONS` gives."""
    compute = _FUNCTIONS[name]

    def of(numbers: list[int | float | None]) -> int | float | None:
        known = [it for it in numbers if it is not None]
        if len(known) != len(numbers):
            return None
        try:
            return bounded(compute(*known))
        except (ArithmeticError, ValueError, TypeError):
            return None

    if arguments and all(isinstance(it, Number) for it in arguments):
        result = of([default_of(it) for it in arguments])
        if result is not None:
            return Number(result)
    text = f"{name}({', '.join(map(text_of, arguments))})"
    device = any(map(asks_device, arguments))
    default = of([default_of(it) for it in arguments])
    if default is None and name in _LEAST:
        default = _chosen(arguments)
    return RunTime(text, default, opaque=False, device=device)


def _chosen(arguments: Sequence[Value]) -> int | float | None:
    """Return the least size that an author chose: `min(1024, what the device allows)` mostly is 1024."""
    numbers = [default_of(it) for it in arguments if not device_decides(it)]
    known = [it for it in numbers if it is not None]
    return min(known) if known and len(known) == len(numbers) else None


def device_decides(value: Value) -> bool:
    """Tell whether a value depends on the device, or is called as what devices answer is called."""
    return asks_device(value) or _DEVICE_LIMITS.search(text_of(value)) is not None


def negated(op: str, value: Value) -> Value:
    """Return `-value`, `!value` or `~value`."""

    def of(number: int | float | None) -> int | float | None:
        if number is None or (op == "~" and not math.isfinite(number)):
            return None
        return -number if op == "-" else int(not number) if op == "!" else ~int(number)

    if isinstance(value, Number):
        result = of(value.value)
        return Number(result) if result is not None else value
    if op == "!" and isinstance(value, Null):
        return Number(1)
    if op == "!" and isinstance(value, (Pointer, Text, Sizes)):
        return Number(0)
    text = f"{op}{_operand(value)}"
    return RunTime(text, of(default_of(value)), opaque=False, device=asks_device(value))


_WHOLE = frozenset(
    (
        *(
            "int",
            "size_t",
            "unsigned",
            "long",
            "short",
            "char",
            "uint",
            "ulong",
            "bool",
            "uint32_t",
            "int32_t",
        ),
        *(
            "uint64_t",
            "int64_t",
            "cl_int",
            "cl_uint",
            "cl_long",
            "cl_ulong",
            "cl_short",
            "cl_ushort",
            "ushort",
        ),
        *("uint8_t", "int8_t", "uint16_t", "int16_t", "ssize_t", "cl_char", "cl_uchar", "uchar", "ptrdiff_t"),
    )
)
_REAL = frozenset(("float", "double", "cl_float", "cl_double"))


def is_whole(type_name: str) -> bool:
    """Tell whether a C type holds whole numbers only."""
    words = [it for it in type_name.replace("*", " * ").replace("::", " ").split() if it not in _IGNORED]
    return bool(words) and "*" not in words and all(it in _WHOLE or it == "signed" for it in words)


_IGNORED = frozenset(("const", "static", "constexpr", "inline", "volatile", "std", "extern", "register"))


def _wrapped(type_name: str, value: int | float) -> int:
    """Return a number as a whole type holds it."""
    if type_name == "bool":
        return int(bool(value))
    whole, size = int(value), size_of(type_name) or 8
    limit = 1 << (8 * size)
    whole %= limit
    words = [it for it in type_name.replace("::", " ").split() if it not in _IGNORED]
    is_unsigned = "unsigned" in words or words[-1].startswith(("u", "cl_u", "size_t"))
    return whole if is_unsigned or whole < limit >> 1 else whole - limit


def converted(type_name: str, value: Value) -> Value:
    """Return a number after a conversion to a C type; anything else as it is."""
    if is_whole(type_name):
        if isinstance(value, Number):
            return Number(_wrapped(type_name, value.value)) if math.isfinite(value.value) else value
        if isinstance(value, RunTime) and value.default is not None:
            whole = _wrapped(type_name, value.default) if math.isfinite(value.default) else None
            return replace(value, default=whole)
    elif type_name.replace("const", "").strip() in _REAL and isinstance(value, Number):
        return Number(float(value.value))
    return value


SIZES_OF = {
    **dict.fromkeys(("char", "bool", "uchar", "cl_char", "cl_uchar", "int8_t", "uint8_t", "signed char"), 1),
    **dict.fromkeys(("unsigned char", "int8", "uint8", "bool_"), 1),
    **dict.fromkeys(("short", "ushort", "cl_short", "cl_ushort", "cl_half", "int16_t", "uint16_t"), 2),
    **dict.fromkeys(("unsigned short", "float16", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "float", "cl_int", "cl_uint", "cl_float", "int32_t", "uint32_t"), 4),
    **dict.fromkeys(("unsigned int", "unsigned", "float32", "int32", "uint32", "cl_bool", "signed int"), 4),
    **dict.fromkeys(("double", "cl_double", "cl_long", "cl_ulong", "int64_t", "uint64_t", "size_t"), 8),
    **dict.fromkeys(("long long", "unsigned long long", "float64", "int64", "uint64", "complex64"), 8),
    **dict.fromkeys(("long", "unsigned long", "ulong", "cl_mem", "void*", "unsigned long int"), 8),
    **dict.fromkeys(("cl_int4", "cl_float4", "cl_uint4", "float4", "int4", "uint4", "complex128"), 16),
    **dict.fromkeys(("cl_float3", "cl_int3", "cl_uint3", "cl_double2", "cl_long2"), 16),
    **dict.fromkeys(("cl_int2", "cl_float2", "cl_uint2", "float2", "int2", "uint2", "cl_char8"), 8),
    **dict.fromkeys(("cl_float8", "cl_int8", "cl_uint8", "cl_double4", "double4"), 32),
    **dict.fromkeys(("cl_float16", "cl_int16", "cl_uint16", "cl_double8"), 64),
    **dict.fromkeys(("cl_uchar4", "uchar4", "cl_char4", "cl_short2", "cl_ushort2"), 4),
}
"""Bytes of host types, on 64-bit Unix and as OpenCL's headers define them."""


_VECTOR = re.compile(r"(?:cl_)?(?:u?(?:char|short|int|long)|float|double|half)(?:2|3|4|8|16)")
_VECTOR_OF_GLM = re.compile(r"[iu]vec[234]")
_LANES = re.compile(r"s([0-9a-fA-F])|([xyzw])")


def is_vector(type_name: str) -> bool:
    """Tell whether a host type is one of OpenCL's vectors."""
    return _VECTOR.fullmatch(type_name.removeprefix("const ").strip()) is not None


def is_vector_of_glm(type_name: str) -> bool:
    """Tell whether a host type is called like GLM's vectors of whole numbers; a project's own may be, too."""
    return _VECTOR_OF_GLM.fullmatch(type_name.removeprefix("const ").strip()) is not None


def lane_of(name: str) -> int | None:
    """Return which component of a vector `x` or `s0` means."""
    match = _LANES.fullmatch(name)
    if match is None:
        return None
    return int(match[1], 16) if match[1] else "xyzw".index(match[2])


def size_of(type_name: str) -> int | None:
    """Return the size in bytes of a host type, if it is one that every compiler agrees on."""
    words = [it for it in type_name.replace("*", " * ").split() if it not in _IGNORED and it != "struct"]
    if "*" in words:
        return 8
    return SIZES_OF.get(" ".join(words))
