"""What private objects hold: pieces as they were stored, and their bytes where something else is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

import numpy as np

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic import integers
from clmap_lsp.emulator.symbolic.integers import spread_out
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import Floats, Lanes, Sym, Unknown, Value, of_array
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.source.ir import BinaryOp
from clmap_lsp.source.types import (
    CHAR,
    INT,
    LONG,
    SHORT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    ScalarType,
    Type,
    VectorType,
)

_Plain = Sym | Floats | Unknown
_AS_ANOTHER = "bits read as another type"
_UNSIGNED = {it.bits: it for it in (UCHAR, USHORT, UINT, ULONG)}
_SIGNED = {it.bits: it for it in (CHAR, SHORT, INT, LONG)}


def reinterpreted(value: Value, source: Type, target: Type, space: Space) -> Value:
    """Return a value whose bytes are read as another type."""
    cells = Cells()
    cells.store(0, source.size, value, source, space)
    found = cells.load(0, target.size, target, space)
    return Unknown(_AS_ANOTHER) if found is None else found


@dataclass(frozen=True, slots=True)
class Piece:
    """What one store put somewhere."""

    size: int
    value: Value
    type: Type


@dataclass(slots=True, eq=False)
class Cells:
    """What is known of one private object: pieces that were stored and do not overlap."""

    pieces: dict[int, Piece] = field(default_factory=dict)
    """By byte offset."""
    widest: int = 0
    """No piece is wider, so that those around a place are found without a look at all others."""

    def copy(self) -> Cells:
        """Return what is known now, whatever is stored later."""
        return Cells(dict(self.pieces), self.widest)

    def load(self, at: int, size: int, kind: Type, space: Space) -> Value | None:
        """Return what stands at a place, read as some type; `None` if nothing was stored there."""
        found = self.pieces.get(at)
        if found is not None and found.size == size and found.type == kind:
            return found.value
        if isinstance(kind, VectorType):
            step = kind.element.size
            lanes = [self._scalar(at + step * it, kind.element, space) for it in range(kind.lanes)]
            if all(it is None for it in lanes):
                return None
            return Lanes(tuple(it or Unknown("a lane that was never written") for it in lanes))
        if isinstance(kind, ScalarType):
            return self._scalar(at, kind, space)
        return Unknown(_AS_ANOTHER) if any(True for _ in self._around(at, size)) else None

    def store(self, at: int, size: int, value: Value, kind: Type, space: Space) -> None:
        """Put a piece in the place of those that it overlaps; what they hold beside it stays."""
        old = self.pieces.get(at)
        if old is None or old.size != size:
            for start, piece in list(self._around(at, size)):
                del self.pieces[start]
                self._keep_beside(start, piece, at, at + size, space)
            self.widest = max(self.widest, size)
        self.pieces[at] = Piece(size, value, kind)

    def clear(self, at: int, size: int, space: Space) -> None:
        """Forget what a range holds."""
        self.store(at, size, Unknown(""), UCHAR, space)
        del self.pieces[at]

    def copied(self, source: Cells, start: int, at: int, size: int, space: Space) -> None:
        """Take over a range of another object, or of this one."""
        found = [it for place, piece in source._around(start, size) for it in _scalars(place, piece)]
        self.clear(at, size, space)
        for place, value, scalar in found:
            inside = range(max(place, start), min(place + scalar.size, start + size))
            if len(inside) == scalar.size:
                self._put(at + place - start, value, scalar)
            else:
                self._put_bytes(inside, place, value, scalar, space, at - start)

    def _around(self, at: int, size: int) -> Iterator[tuple[int, Piece]]:
        """Yield the pieces that overlap a range."""
        for start in range(at - self.widest + 1, at + size):
            piece = self.pieces.get(start)
            if piece is not None and start + piece.size > at:
                yield start, piece

    def _keep_beside(self, start: int, piece: Piece, at: int, end: int, space: Space) -> None:
        """Keep the bytes of a piece outside of a range."""
        for place, value, scalar in _scalars(start, piece):
            after = place + scalar.size
            if after <= at or place >= end:
                self._put(place, value, scalar)
            else:
                beside = *range(place, min(at, after)), *range(max(end, place), after)
                self._put_bytes(beside, place, value, scalar, space)

    def _put(self, at: int, value: Value, kind: ScalarType) -> None:
        self.pieces[at] = Piece(kind.size, value, kind)
        self.widest = max(self.widest, kind.size)

    def _put_bytes(
        self, places: Iterable[int], start: int, value: _Plain, kind: ScalarType, space: Space, moved: int = 0
    ) -> None:
        """Put some bytes of a scalar that starts somewhere, moved by some bytes."""
        for at in places:
            self._put(at + moved, _part(value, kind, at - start, 1, space), UCHAR)

    def _scalar(self, at: int, kind: ScalarType, space: Space) -> _Plain | None:
        """Return the bytes at a place as a scalar."""
        size, total, covered = kind.size, Sym(0), 0
        for start, piece in self._around(at, size):
            for place, value, scalar in _scalars(start, piece):
                low, high = max(place, at), min(place + scalar.size, at + size)
                if low >= high:
                    continue
                if place == at and scalar == kind:
                    return value
                bits = _part(value, scalar, low - place, high - low, space)
                if isinstance(bits, Unknown):
                    return bits
                total = _joined(total, bits, low - at, space)
                covered += high - low
        if covered < size:
            return Unknown("a value of which a part was never written") if covered else None
        return _of_bits(total, kind, space)


def _scalars(start: int, piece: Piece) -> Iterator[tuple[int, _Plain, ScalarType]]:
    """Yield the scalars of a piece: place, value and type; bytes of unknown contents for what is none."""
    kind, value = piece.type, piece.value
    if isinstance(kind, ScalarType) and isinstance(value, Sym | Floats):
        yield start, value, kind
    elif isinstance(kind, VectorType) and isinstance(value, Lanes):
        step = kind.element.size
        for at, part in enumerate(value.parts[: piece.size // step]):
            yield start + at * step, part, kind.element
    else:
        unknown = value if isinstance(value, Unknown) else Unknown(_AS_ANOTHER)
        for at in range(piece.size):
            yield start + at, unknown, UCHAR


def _part(
    value: Sym | Floats | Unknown, kind: ScalarType, first: int, size: int, space: Space
) -> Sym | Unknown:
    """Return some bytes of a scalar, the first one lowest (little-endian), as a `ulong`."""
    if isinstance(value, Unknown) or not kind.size:
        return value if isinstance(value, Unknown) else Unknown(_AS_ANOTHER)
    bits, known = value, kind
    if isinstance(bits, Floats):
        if bits.array.dtype.itemsize != kind.size:
            return Unknown(_AS_ANOTHER)
        whole = np.ascontiguousarray(bits.array).view(f"<i{kind.size}")
        bits, known = of_array(whole.astype(np.int64)), _SIGNED[kind.bits]
    plain = integers.convert(bits, known, _UNSIGNED[kind.bits], space)
    moved = integers.binary(BinaryOp.SHR, plain, Sym(8 * first), ULONG, space) if first else plain
    if moved is not None and first + size < kind.size:
        moved = integers.binary(BinaryOp.AND, moved, Sym((1 << 8 * size) - 1), ULONG, space)
    return Unknown(_AS_ANOTHER) if moved is None else moved


def _joined(total: Sym, bits: Sym, byte: int, space: Space) -> Sym:
    shifted = integers.multiply(bits, Sym(1 << 8 * byte), ULONG, space)
    joined = integers.binary(BinaryOp.ADD, total, shifted, ULONG, space)
    assert joined is not None, "sums have a value"
    return joined


def _of_bits(bits: Sym, kind: ScalarType, space: Space) -> _Plain:
    if kind.is_float:
        array = spread_out(bits, space).astype(np.dtype(f"<u{kind.size}"), casting="unsafe")
        return Floats(np.ascontiguousarray(array).view(numpy_dtype(kind)))
    if not kind.is_integer:
        return Unknown(_AS_ANOTHER)
    return integers.convert(bits, ULONG, kind, space)
