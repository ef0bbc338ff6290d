"""Code for `printf`: arguments go to a log that Python formats."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.layout import OFFSET_BITS, PRINT_AT, PRINT_END
from clmap_lsp.emulator.types import DOUBLE, I64, POINTER, is_float, lanes
from clmap_lsp.source.ir import Expression, Print, walk
from clmap_lsp.source.types import ScalarType, Type, element_of, lanes_of

if TYPE_CHECKING:
    from clmap_lsp.emulator.jit import JitRun


def emit(ctx: Context, expressions: Expressions, statement: Print) -> None:
    """Emit one record: the site, then every lane of every argument as 64 bits."""
    words: list[ir.Value] = [ir.Constant(I64, statement.site)]
    for argument in statement.arguments:
        words += _lanes(ctx, expressions, argument)
    at = ctx.state_word(PRINT_AT)
    end = ctx.builder.add(at, ir.Constant(I64, 8 * len(words)))
    fits = ctx.builder.icmp_unsigned("<=", end, ctx.state_word(PRINT_END))
    with ctx.rarely(fits, "print"):
        place = ctx.builder.inttoptr(at, POINTER)
        for index, word in enumerate(words):
            ctx.builder.store(word, ctx.builder.gep(place, [ir.Constant(I64, index)], source_etype=I64))
        ctx.builder.store(end, ctx.state_place(PRINT_AT))


def _lanes(ctx: Context, expressions: Expressions, argument: Expression) -> list[ir.Value]:
    value = expressions.value(argument)
    if isinstance(value.type, ir.ArrayType):
        return [ir.Constant(I64, 0)]
    parts = [value]
    if isinstance(value.type, ir.VectorType):
        parts = [
            ctx.builder.extract_element(value, ir.Constant(I64, lane)) for lane in range(lanes(value.type))
        ]
    kind = element_of(argument.type)
    signed = isinstance(kind, ScalarType) and kind.is_signed
    return [_word(ctx, part, signed) for part in parts]


def _word(ctx: Context, value: ir.Value, signed: bool) -> ir.Value:
    if is_float(value.type):
        wide = value if value.type == DOUBLE else ctx.builder.fpext(value, DOUBLE)
        return ctx.builder.bitcast(wide, I64)
    return resize(ctx, value, I64, signed=signed)


def printed_lines(job: JitRun) -> list[str]:
    """Format what a run printed, in the order in which work-items ran."""
    state = job.state
    used = (int(state.words[PRINT_AT]) - state.print_log.ctypes.data) // 8
    log = state.print_log[:used].tolist()
    statements = {it.site: it for it in walk(job.kernel.body) if isinstance(it, Print)}
    text, at = [], 0
    while at < used:
        statement = statements[log[at]]
        at += 1
        values: list[tuple[int | float, ...]] = []
        for argument in statement.arguments:
            count = lanes_of(argument.type)
            values.append(_numbers(log[at : at + count], argument.type))
            at += count
        text.append(format_printf(statement.format, values, lambda pointer: _string(job, pointer)))
    return text


def _string(job: JitRun, pointer: int) -> str:
    """Return the text that a pointer leads to; only those in constant memory are followed."""
    number, start = pointer >> OFFSET_BITS, pointer & ((1 << OFFSET_BITS) - 1)
    if not pointer:
        return "(null)"
    buffers = job.space.buffers
    data = buffers[number - 1].data if 0 < number <= len(buffers) else None
    if data is None:
        return "(not a string literal)"
    return data[start:].tobytes().split(b"\0", 1)[0].decode("utf-8", "replace")


def _numbers(words: list[int], kind: Type) -> tuple[int | float, ...]:
    element = element_of(kind)
    if isinstance(element, ScalarType) and element.is_float:
        return tuple(struct.unpack("<d", struct.pack("<q", it))[0] for it in words)
    if isinstance(element, ScalarType) and not element.is_signed:
        return tuple(it & ((1 << element.bits) - 1) for it in words)
    return tuple(words)


_MAX_ROOM = 200
_DIRECTIVE = re.compile(
    r"%([-+ #0]*+)(\*|\d++)?(?:\.(\*|\d*+))?(?:v(\d++))?(hh|hl|h|ll|l|j|z|t)?([diouxXeEfFgGaAcsp%])"
)


_BITS = {"hh": 8, "h": 16, "": 32, "hl": 32}
"""Of integers, by the length in the directive; all others are 64 bits."""


@dataclass(frozen=True, slots=True)
class _Spec:
    """Flags, width and precision of a directive; empty where it has none."""

    flags: str
    width: str
    precision: str

    def __str__(self) -> str:
        return f"%{self.flags}{self.width}{'.' + self.precision if self.precision else ''}"


def format_printf(
    template: str, values: list[tuple[int | float, ...]], string: Callable[[int], str] = hex
) -> str:
    """Format as `printf` does; `values` holds the lanes of each argument, `string` follows a pointer to text.

    Source: OpenCL C Specification 3.0, section 6.15.14 (printf), with vector specifiers such as `%v4hlf`.
    """
    pending = iter(values)

    def one(match: re.Match[str]) -> str:
        flags, width, precision, _, length, letter = match.groups()
        if letter == "%":
            return "%"
        room, digits = _room(width, pending), _room("0" if precision == "" else precision, pending)
        given = next(pending, (0,))
        flags += "-" if room is not None and room < 0 else ""
        spec = _Spec(
            flags,
            "" if room is None else str(abs(room)),
            "" if digits is None or digits < 0 else str(digits),
        )
        if letter == "s":
            return (str(spec) + "s") % string(_whole(given[0]))
        return ",".join(_directive(spec, letter, _BITS.get(length or "", 64), it) for it in given)

    return _DIRECTIVE.sub(one, template)


def _room(written: str | None, pending: Iterator[tuple[int | float, ...]]) -> int | None:
    """Return a width or precision as written or as the next argument says, within reason; None for none.

    A negative width is one with the flag `-`, a negative precision none.
    """
    if written is None:
        return None
    found = _whole(next(pending, (0,))[0]) if written == "*" else int(written[:9])
    return min(max(found, -_MAX_ROOM), _MAX_ROOM)


def _directive(spec: _Spec, letter: str, bits: int, value: int | float) -> str:
    match letter:
        case "d" | "i" | "u" | "o" | "x" | "X":
            return _integer(spec, letter, _whole(value) & ((1 << bits) - 1), bits)
        case "c":
            return _padded(spec, "", chr(_whole(value) & 0xFF))
        case "p":
            return hex(_whole(value))
        case _:
            return _real(spec, letter, float(value))


def _real(spec: _Spec, letter: str, value: float) -> str:
    """Format a number as C does; Python differs in `%a`, and fills up what is not finite with zeros."""
    sign = "-" if math.copysign(1.0, value) < 0 else _positive(spec)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        return _padded(spec, sign, text.upper() if letter.isupper() else text)
    if letter not in "aA":
        return (str(spec) + letter) % value
    text = _hexadecimal(abs(value), int(spec.precision) if spec.precision else None, "#" in spec.flags)
    start, digits = sign + text[:2], text[2:]
    if "0" in spec.flags and "-" not in spec.flags:
        digits = digits.rjust(int(spec.width or 0) - len(start), "0")
    text = _padded(spec, start, digits)
    return text.upper() if letter == "A" else text


def _hexadecimal(value: float, digits: int | None, keeps_point: bool) -> str:
    """Return a number as `%a` does: with so many hexadecimal digits, or as many as it takes."""
    leading, _, rest = value.hex().removeprefix("0x").partition(".")
    fraction, _, exponent = rest.partition("p")
    whole = int(leading + fraction.ljust(_FRACTION, "0"), 16)
    if digits is not None and digits < _FRACTION:
        unit = 1 << 4 * (_FRACTION - digits)
        kept, left = divmod(whole, unit)
        kept += left > unit // 2 or (left == unit // 2 and kept & 1)
        whole = kept * unit
    text = format(whole, "x").rjust(_FRACTION + 1, "0")
    shown = text[-_FRACTION:].rstrip("0") if digits is None else text[-_FRACTION:].ljust(digits, "0")[:digits]
    point = "." if shown or keeps_point else ""
    return f"0x{text[:-_FRACTION]}{point}{shown}p{exponent}"


_FRACTION = 13
"""Hexadecimal digits behind the point of a double."""


def _positive(spec: _Spec) -> str:
    """Return the sign of what is not negative."""
    return "+" if "+" in spec.flags else " " if " " in spec.flags else ""


def _padded(spec: _Spec, start: str, text: str) -> str:
    room = int(spec.width or 0)
    return (start + text).ljust(room) if "-" in spec.flags else (start + text).rjust(room)


def _integer(spec: _Spec, letter: str, low: int, bits: int) -> str:
    """Format the low bits of an integer as C does; Python differs in precision, `#` and unsigned numbers."""
    sign = prefix = ""
    if letter in "di":
        negative = bool(low >> (bits - 1))
        low = (1 << bits) - low if negative else low
        sign = "-" if negative else _positive(spec)
    digits = format(low, {"i": "d", "u": "d"}.get(letter, letter))
    if spec.precision:
        digits = digits.rjust(int(spec.precision), "0") if low or int(spec.precision) else ""
    if "#" in spec.flags and letter == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in spec.flags and letter in "xX" and low:
        prefix = "0" + letter
    width = int(spec.width or 0) - len(sign + prefix)
    if "0" in spec.flags and "-" not in spec.flags and not spec.precision:
        digits = digits.rjust(width, "0")
    return _padded(spec, sign + prefix, digits)


def _whole(value: int | float) -> int:
    """Return an argument of an integer directive; a float there is undefined, and only must not raise."""
    return int(value) if math.isfinite(value) else 0
