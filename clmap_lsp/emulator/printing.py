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
    r"%([-+ #0]*+)(\*|\d++)?(?:\.(\*|\d++))?(?:v(\d++))?(hh|hl|h|ll|l|j|z|t)?([diouxXeEfFgGaAcsp%])"
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
        width, precision = (_room(it, pending) for it in (width, precision))
        given = next(pending, (0,))
        spec = _Spec(flags, width, precision)
        if letter == "s":
            return (str(spec) + "s") % string(_whole(given[0]))
        return ",".join(_directive(spec, letter, _BITS.get(length or "", 64), it) for it in given)

    return _DIRECTIVE.sub(one, template)


def _room(written: str | None, pending: Iterator[tuple[int | float, ...]]) -> str:
    """Return a width or precision as written or as the next argument says, within reason."""
    if written == "*":
        return str(min(max(_whole(next(pending, (0,))[0]), 0), _MAX_ROOM))
    return str(min(int(written[:9]), _MAX_ROOM)) if written else ""


def _directive(spec: _Spec, letter: str, bits: int, value: int | float) -> str:
    match letter:
        case "d" | "i" | "u" | "o" | "x" | "X":
            return _integer(spec, letter, _whole(value) & ((1 << bits) - 1), bits)
        case "c":
            return chr(_whole(value) & 0xFF)
        case "p":
            return hex(_whole(value))
        case "a" | "A":
            text = float(value).hex()
            return text.upper() if letter == "A" else text
        case _:
            return (str(spec) + letter) % float(value)


def _integer(spec: _Spec, letter: str, low: int, bits: int) -> str:
    """Format the low bits of an integer as C does; Python differs in precision, `#` and unsigned numbers."""
    sign = prefix = ""
    if letter in "di":
        negative = bool(low >> (bits - 1))
        low = (1 << bits) - low if negative else low
        sign = "-" if negative else "+" if "+" in spec.flags else " " if " " in spec.flags else ""
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
    text = sign + prefix + digits
    return text.ljust(int(spec.width or 0)) if "-" in spec.flags else text.rjust(int(spec.width or 0))


def _whole(value: int | float) -> int:
    """Return an argument of an integer directive; a float there is undefined, and only must not raise."""
    return int(value) if math.isfinite(value) else 0
