"""What the database holds, as plain data."""

from __future__ import annotations

import sys
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """A device with its driver, as measured."""

    key: str
    """Short unique name: `K20m`, or device and driver."""
    device: str
    driver: str
    vendor: str
    kind: str
    """gpu, cpu or accelerator."""
    compute_units: int
    """0 if not known."""
    local_dedicated: bool
    """Local memory is on chip (False on CPUs)."""
    cached: bool
    """Global memory is cached close to the compute units (False on C1060 only)."""
    last_level_bytes: int
    """0 if not known."""
    model: str
    """The device model (`clmap-lsp devices`) whose facts hold for it; empty if there is none."""
    year: int
    """The device's year of release; 0 if not known."""
    method: str
    """How its records were measured, in one sentence."""
    source: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One kernel timed at one size. Bandwidths in decimal GB/s; 0 seconds where the source does not say."""

    platform: str
    maps: str
    """`407`, or `407+204` for a kernel over two arrays."""
    approach: str
    """naive, max or min for each array, joined by `+`; published: naive, local."""
    padded: bool
    size: int
    """The NDRange is size x size."""
    element: str
    group: str
    """Work-group, as in `16x16`."""
    radius: str
    """For each array, joined by `+`."""
    cache: str
    """cold, warm or flushed (the published runs flush caches between iterations; how is not said)."""
    runs: int
    mean: float
    deviation: float
    """Population standard deviation."""
    minimum: float
    median: float
    maximum: float
    half_width: float
    """Half the 95 % interval of the median time, relative to it; 0 where only summary figures exist."""
    overhead_share: float
    """Time of an empty kernel of the same shape over this median time; 0 where not measured."""
    verified: bool
    """The kernel's output was compared with the reference."""

    @property
    def key(self) -> tuple[object, ...]:
        """Return what identifies it."""
        return tuple(getattr(self, name) for name in MEASUREMENT_KEY)


@dataclass(frozen=True, slots=True)
class StridePoint:
    """One stride exponent of one sweep. Bandwidths in decimal GB/s."""

    platform: str
    op: str
    """read, write or copy."""
    element: str
    vector: int
    index_bits: int
    grid_bits: int
    group: int
    order: str
    exponent: int
    cache: str
    buffer_bytes: int
    runs: int
    mean: float
    deviation: float
    minimum: float
    median: float
    maximum: float
    roofline: float
    """Median bandwidth of a plain copy on the same buffers."""

    @property
    def key(self) -> tuple[object, ...]:
        """Return what identifies it."""
        return tuple(getattr(self, name) for name in STRIDE_KEY)


MEASUREMENT_KEY = ("platform", "maps", "approach", "padded", "size", "element", "group", "radius", "cache")
STRIDE_KEY = (
    "platform", "op", "element", "vector", "index_bits", "grid_bits", "group", "order", "exponent", "cache",
)  # fmt: skip

Record = Platform | Measurement | StridePoint


def as_row(record: Record) -> dict[str, Any]:
    """Return a record's fields by name; booleans as 0 and 1, floats to six digits."""
    return {name: _plain(value) for name, value in asdict(record).items()}


def from_row(kind: type[Any], row: dict[str, Any]) -> Any:
    """Return the record that a row of text or numbers holds.

    Raises: ValueError naming the field that is missing or not of its type.
    """
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in row or row[field.name] is None:
            raise ValueError(f"{kind.__name__.lower()}: no field {field.name!r}")
        text = row[field.name]
        try:
            values[field.name] = _CONVERT[str(field.type)](text)
        except ValueError as error:
            raise ValueError(
                f"{kind.__name__.lower()}: field {field.name!r}: not {field.type}: {text!r}"
            ) from error
    return kind(**values)


def _boolean(value: Any) -> bool:
    text = str(value).casefold()
    if text not in ("0", "1", "true", "false"):
        raise ValueError(text)
    return text in ("1", "true")


def _text(value: Any) -> str:
    """Return a text that is in memory once: thousands of records have the same."""
    return sys.intern(str(value))


_CONVERT: dict[str, Any] = {"str": _text, "int": lru_cache(512)(int), "float": float, "bool": _boolean}


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return int(value)
        case float():
            return float(f"{value:.6g}")
        case _:
            return value
