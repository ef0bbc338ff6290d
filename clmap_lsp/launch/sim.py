"""Oclgrind's `.sim` files: one launch with its inputs.

The format is a stream of words, `#` starts a comment: the program file, the kernel's name, three global
sizes, three local sizes, then for every kernel argument a header `<size=BYTES …>` and, unless the header
makes the data, the values. A header may hold a scalar type (`char` … `double`; default: the parameter's),
`fill=VALUE`, `range=START:STEP:END`, `noinit`, `null`, `hex` (values are hexadecimal), `dump` (print the
buffer afterwards), `ro` and `wo`. Source: Oclgrind's documentation, "Simulation files", and its reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import Argument, BufferArgument, Fill, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.source.ir import Kernel, Variable
from clmap_lsp.source.types import (
    SCALARS,
    OpaqueType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    points_to_local,
)

_TYPES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
_WORD = re.compile(r"<[^\n<>]*>|[^\s<]+")
_MAX_BYTES = 1 << 32
_MAX_SHOWN = 40
"""Characters of a number that messages quote."""


@dataclass(frozen=True, slots=True)
class SimArgument:
    """One argument as written. `size` is bytes, `None` for `null`."""

    row: int
    size: int | None
    element: str | None = None
    fill: str | None = None
    range: str | None = None
    flags: frozenset[str] = frozenset()
    """`noinit`, `null`, `hex`, `dump`, `ro`, `wo`."""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SimFile:
    """A `.sim` file as written, before it meets its kernel."""

    path: str
    program: str
    """The program's file name, relative to the `.sim` file."""
    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: tuple[SimArgument, ...]


@dataclass(frozen=True, slots=True)
class Dump:
    """A buffer that is printed after the launch, as values of type `element`."""

    parameter: str
    element: str
    is_hex: bool


@dataclass(frozen=True, slots=True)
class SimLaunch:
    """A `.sim` file bound to its kernel."""

    launch: PartialLaunch
    dumps: tuple[Dump, ...] = ()
    read_only: tuple[str, ...] = ()
    write_only: tuple[str, ...] = ()


@dataclass(slots=True)
class _Words:
    words: list[tuple[int, str]]
    at: int = field(default=0)

    def take(self, what: str) -> tuple[int, str]:
        if self.at >= len(self.words):
            raise LaunchError(f"the file ends where {what} should stand")
        self.at += 1
        return self.words[self.at - 1]

    def number(self, what: str) -> int:
        row, word = self.take(what)
        if not (word.isascii() and word.isdecimal() and len(word) < 40) or not 0 < int(word) < 1 << 40:
            raise LaunchError(f"line {row}: `{word}` is no {what}", "it must be a whole number from 1 on")
        return int(word)


def read_sim(text: str, path: str) -> SimFile | LaunchProblem:
    """Read a `.sim` file's text; `path` is for messages."""
    lines = [line.split("#", 1)[0] for line in text.splitlines()]
    stream = _Words([(row, it) for row, line in enumerate(lines, 1) for it in _WORD.findall(line)])
    try:
        program, kernel = stream.take("the program file")[1], stream.take("the kernel's name")[1]
        sizes = [stream.number("global size") for _ in range(3)]
        groups = [stream.number("local size") for _ in range(3)]
        arguments = tuple(_arguments(stream))
    except LaunchError as error:
        return error.at(path)
    return SimFile(path, program, kernel, tuple(sizes), tuple(groups), arguments)


def _arguments(stream: _Words) -> Iterator[SimArgument]:
    while stream.at < len(stream.words):
        row, word = stream.take("an argument")
        if not word.startswith("<"):
            raise LaunchError(
                f"line {row}: `{word}` comes before any `<size=…>`", "start an argument with <size=4>"
            )
        values = []
        while stream.at < len(stream.words) and not stream.words[stream.at][1].startswith("<"):
            values.append(stream.take("a value")[1])
        yield _header(row, word[1:-1], tuple(values))


def _header(row: int, text: str, values: tuple[str, ...]) -> SimArgument:
    parts: dict[str, str] = {}
    flags = set()
    for word in text.split():
        name, equals, value = word.partition("=")
        if name in ("size", "fill", "range") and equals and value:
            parts[name] = value
        elif word in _TYPES:
            if "element" in parts:
                raise LaunchError(f"line {row}: the type is given twice", "keep one of them")
            parts["element"] = word
        elif word in ("noinit", "null", "hex", "dump", "ro", "wo"):
            flags.add(word)
        else:
            raise LaunchError(
                f"line {row}: `{word}` means nothing in an argument header", f"types: {', '.join(_TYPES)}"
            )
    size = parts.get("size")
    if size is None and "null" not in flags:
        raise LaunchError(f"line {row}: the size is missing", "write <size=BYTES>")
    if size is not None and (not size.isdecimal() or len(size) > 40 or int(size) > _MAX_BYTES):
        raise LaunchError(f"line {row}: `size={size}` is not a number of bytes", f"at most {_MAX_BYTES}")
    if sum((("noinit" in flags), "fill" in parts, "range" in parts)) > 1:
        raise LaunchError(f"line {row}: several initialisers", "keep one of fill, range and noinit")
    return SimArgument(
        row,
        int(size) if size is not None else None,
        parts.get("element"),
        parts.get("fill"),
        parts.get("range"),
        frozenset(flags),
        values,
    )


def bind(sim: SimFile, kernel: Kernel, origin: Origin = Origin.GIVEN) -> SimLaunch | LaunchProblem:
    """Return the launch that a `.sim` file makes of a kernel's parameters, in their order."""
    if len(sim.arguments) != len(kernel.parameters):
        return LaunchProblem(
            sim.path,
            f"{len(sim.arguments)} arguments for the {len(kernel.parameters)} parameters of {kernel.name}",
            "give every parameter a <size=…>",
        )
    arguments: dict[str, Argument] = {}
    dumps = []
    for parameter, given in zip(kernel.parameters, sim.arguments, strict=True):
        try:
            arguments[parameter.name] = _bound(parameter, given)
            if "dump" in given.flags:
                element = given.element or _default_element(parameter.type)
                dumps.append(Dump(parameter.name, element, "hex" in given.flags))
        except LaunchError as error:
            return LaunchProblem(f"{sim.path}:{given.row}", f"`{parameter.name}`: {error.cause}", error.cure)
    launch = PartialLaunch(
        kernel.name,
        sim.global_size,
        sim.local_size,
        parsed=arguments,
        origin=origin,
        source=Path(sim.path).name,
    )
    pairs = list(zip(kernel.parameters, sim.arguments, strict=True))
    return SimLaunch(
        launch,
        tuple(dumps),
        tuple(it.name for it, given in pairs if "ro" in given.flags),
        tuple(it.name for it, given in pairs if "wo" in given.flags),
    )


def _default_element(kind: Type) -> str:
    inner: Type = kind.pointee if isinstance(kind, PointerType) else kind
    if isinstance(inner, VectorType):
        inner = inner.element
    if isinstance(inner, ScalarType):
        name = {"void": "uchar", "bool": "uchar", "half": "ushort"}.get(inner.name, inner.name)
        if name in _TYPES:
            return name
    raise LaunchError(f"no numbers can be given as {kind}", "name a type in the header, as in <size=8 int>")


def _bound(parameter: Variable, given: SimArgument) -> Argument:
    kind = parameter.type
    if isinstance(kind, OpaqueType):
        raise LaunchError(f"a {kind} cannot be given in a .sim file")
    is_pointer = isinstance(kind, PointerType)
    if points_to_local(kind):
        return LocalArgument(-(-(given.size or 0) // max(kind.pointee.size, 1)))
    if given.flags & {"null", "noinit", "dump"} and not is_pointer:
        raise LaunchError("null, noinit and dump are for buffers")
    if "null" in given.flags:
        return BufferArgument(Fill.NULL, 0)
    element = given.element or _default_element(kind)
    scalar, size = SCALARS[element], given.size or 0
    if size % scalar.size:
        raise LaunchError(f"{size} bytes are no whole number of {element}", "change size or type")
    count = size // scalar.size
    if is_pointer:
        return _buffer(given, scalar, count)
    if size != kind.size:
        raise LaunchError(f"{size} bytes for a {kind} of {kind.size}", f"write <size={kind.size}>")
    values = _values(given, scalar, count)
    if isinstance(kind, ScalarType | VectorType) and element == _default_element(kind):
        lanes = kind.lanes if isinstance(kind, VectorType) else 1
        return ScalarArgument(values[:lanes])
    return ScalarArgument(values, element)


def _buffer(given: SimArgument, scalar: ScalarType, count: int) -> BufferArgument:
    if "noinit" in given.flags:
        return BufferArgument(Fill.NOINIT, count, element=scalar.name)
    if given.fill is not None:
        value = _number(given.fill, scalar, given)
        fill, text = (Fill.ZEROS, "") if value == 0 else (Fill.FORMULA, repr(value))
        return BufferArgument(fill, count, text=text, element=scalar.name)
    if given.range is not None and not scalar.is_float:
        start, step = _range(given, scalar, count)
        return BufferArgument(Fill.FORMULA, count, text=f"{start} + {step}*i", element=scalar.name)
    values = _values(given, scalar, count)
    return BufferArgument(Fill.VALUES, count, text=",".join(map(repr, values)), element=scalar.name)


def _values(given: SimArgument, scalar: ScalarType, count: int) -> tuple[int | float, ...]:
    if given.fill is not None:
        return (_number(given.fill, scalar, given),) * count
    if given.range is not None:
        return _steps(given, scalar, count)
    if len(given.values) != count:
        raise LaunchError(
            f"{len(given.values)} values for {count} of type {scalar.name}", "change size, or give all values"
        )
    return tuple(_number(it, scalar, given) for it in given.values)


def _number(text: str, scalar: ScalarType, given: SimArgument) -> int | float:
    try:
        value = float(text) if scalar.is_float else int(text, 16 if "hex" in given.flags else 10)
    except ValueError as error:
        raise LaunchError(f"`{_short(text)}` is no {scalar.name}") from error
    if isinstance(value, int) and value.bit_length() > 8 * scalar.size:
        raise LaunchError(f"`{_short(text)}` is beyond a {scalar.name}")
    return value


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _range(given: SimArgument, scalar: ScalarType, count: int) -> tuple[int | float, int | float]:
    parts: Sequence[str] = (given.range or "").split(":")
    if len(parts) != 3:
        raise LaunchError(f"`range={given.range}` is no range", "write range=START:STEP:END")
    start, step, end = (_number(it, scalar, given) for it in parts)
    if not step or not _is_range(start, step, end, count):
        raise LaunchError(f"`range={given.range}` does not give the {count} values that the size asks for")
    return start, step


def _is_range(start: int | float, step: int | float, end: int | float, count: int) -> bool:
    if isinstance(step, int):
        return end - start + step == count * step  # Of numbers of any length; a quotient has none.
    return (end - start + step) / step == count


def _steps(given: SimArgument, scalar: ScalarType, count: int) -> tuple[int | float, ...]:
    """Add up step by step in the element's own type, as Oclgrind does; start + i*step rounds otherwise."""
    start, step = _range(given, scalar, count)
    if not scalar.is_float:
        return tuple(start + step * i for i in range(count))
    import numpy as np

    from clmap_lsp.launch.contents import numpy_dtype

    dtype = numpy_dtype(scalar)
    increments = np.full(count, step, dtype)
    increments[:1] = start
    return tuple(np.cumsum(increments, dtype=dtype).tolist())


def sim_beside(path: str) -> str | None:
    """Return the path of the `.sim` file that stands beside a `.cl` file under the same name, if any."""
    candidate = Path(path).with_suffix(".sim")
    return str(candidate) if candidate.is_file() else None
