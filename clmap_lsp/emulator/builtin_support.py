"""What the tables of built-in functions share."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.operators import by_lane, intrinsic_suffix, narrowed, splat
from clmap_lsp.emulator.types import DOUBLE, element, lanes, like
from clmap_lsp.source.ir import Builtin
from clmap_lsp.source.types import ScalarType, element_of


@dataclass(frozen=True, slots=True)
class Arguments:
    """One call: its arguments as LLVM values and the LLVM type of its result."""

    ctx: Context
    call: Builtin
    values: list[ir.Value]
    result: ir.Type

    @property
    def builder(self) -> ir.IRBuilder:
        """The builder."""
        return self.ctx.builder

    def signed(self, index: int = 0) -> bool:
        """True if the argument's elements are signed integers."""
        kind = element_of(self.call.arguments[index].type)
        return isinstance(kind, ScalarType) and kind.is_signed

    def wide(self) -> list[ir.Value]:
        """Return the arguments with scalars repeated to the lanes of the result."""
        count = lanes(self.result)
        if not isinstance(self.result, ir.VectorType):
            return self.values
        return [
            it if isinstance(it.type, ir.VectorType) else splat(self.ctx, it, count) for it in self.values
        ]

    def with_values(self, values: list[ir.Value], result: ir.Type | None = None) -> Arguments:
        """Return the same call with other values."""
        return Arguments(self.ctx, self.call, values, result if result is not None else self.result)


Emitter = Callable[[Arguments], ir.Value]


def intrinsic(name: str) -> Emitter:
    """Return the emitter of an LLVM intrinsic over one type."""

    def emit(it: Arguments) -> ir.Value:
        values = it.wide()
        kind = values[0].type
        return it.ctx.call(f"llvm.{name}.{intrinsic_suffix(kind)}", kind, values)

    return emit


def in_double(it: Arguments, function: Callable[..., ir.Value]) -> ir.Value:
    """Apply a function of doubles to every lane; arguments and result are converted."""

    def scalar(*values: ir.Value) -> ir.Value:
        kind = element(it.result)
        wide = [to_double(it, value) for value in values]
        result = function(*wide)
        return narrowed(it.ctx, result, kind)

    return by_lane(it.ctx, scalar, it.values, it.result)


def to_double(it: Arguments, value: ir.Value) -> ir.Value:
    """Widen a float; integers stay as they are."""
    if isinstance(value.type, ir.IntType) or value.type == DOUBLE:
        return value
    return it.builder.fpext(value, DOUBLE)


def library(name: str) -> Emitter:
    """Return the emitter of a function of the C library over doubles."""

    def emit(it: Arguments) -> ir.Value:
        return in_double(it, lambda *values: it.ctx.call(name, DOUBLE, list(values)))

    return emit


def real_like(it: Arguments, number: float) -> ir.Value:
    """Return a floating constant of the result's shape."""
    from clmap_lsp.emulator.types import real

    return real(number, it.result)


__all__ = ["Arguments", "Emitter", "in_double", "intrinsic", "library", "like", "real_like", "to_double"]
