"""Measure the sweep on a device."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from clmap_lsp.aristotle.elements import Element, fill_source
from clmap_lsp.aristotle.records import StridePoint
from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.errors import DeviceError
from clmap_lsp.opencl_device.facts import DeviceFacts
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.timing import CacheState, Effort, Timed, Timer

SCALAR = "uint"


class Op(Enum):
    """What is done with each element."""

    READ = "read"
    WRITE = "write"
    COPY = "copy"


class Order(Enum):
    """In which order a work-item goes through its elements."""

    FORWARD = "forward"
    BACKWARD = "backward"
    BIT_REVERSED = "bit-reversed"


@dataclass(frozen=True, slots=True)
class Setup:
    """One sweep. An element is `vector` 32-bit integers.

    Raises: ValueError for bits that do not fit each other.
    """

    index_bits: int = 26
    grid_bits: int = 20
    group: int = 256
    vector: int = 1
    op: Op = Op.READ
    order: Order = Order.FORWARD
    cache: CacheState = CacheState.COLD

    def __post_init__(self) -> None:
        if not 0 < self.grid_bits <= self.index_bits <= 40:
            raise ValueError("--grid-bits must be at least 1, --index-bits no less than that and at most 40")
        if self.group < 1 or (1 << self.grid_bits) % self.group:
            raise ValueError(f"--work-group {self.group} does not divide the grid of 2^{self.grid_bits}")
        if self.vector not in (1, 2, 4, 8, 16):
            raise ValueError("--vector must be 1, 2, 4, 8 or 16")
        if self.buffer_bytes < 16:
            raise ValueError("--index-bits: an array of at least 16 bytes is needed")

    @property
    def element_bytes(self) -> int:
        """Return the size of one element."""
        return 4 * self.vector

    @property
    def buffer_bytes(self) -> int:
        """Return the size of the array."""
        return self.element_bytes << self.index_bits

    @property
    def moved_bytes(self) -> int:
        """Return what one launch reads and writes."""
        return self.buffer_bytes * (2 if self.op is Op.COPY else 1)


class SweepError(DeviceError):
    """A sweep's kernel did not touch each element once."""


def default_index_bits(facts: DeviceFacts, vector: int) -> int:
    """Return the source document's 26, or more where that would fit the device's last-level cache."""
    bits = 26
    while (4 * vector) << bits < facts.beyond_cache_bytes:
        bits += 1
    return bits


def kernel_source(setup: Setup) -> str:
    """Return the program: `sweep`, `plain_copy` and `checksum`.

    Element k of a work-item is at (high << g) + low + k * 2^s, with low the work-item number's s low bits,
    high its others in place, and g the loop's bits.
    """
    type_ = SCALAR if setup.vector == 1 else f"{SCALAR}{setup.vector}"
    loop_bits = setup.index_bits - setup.grid_bits
    index = "ulong" if setup.index_bits >= 31 else "uint"
    last = (1 << loop_bits) - 1
    step = {
        Order.FORWARD: "k",
        Order.BACKWARD: f"({last}u - k)",
        Order.BIT_REVERSED: f"reversed(k, {loop_bits})",
    }[setup.order]
    place = f"const {index} at = base + (({index}){step} << s);"
    body = {
        Op.READ: "sum += from[at];",
        # The value tells the element, so that a checksum shows whether each was written.
        Op.WRITE: f"to[at] = ({type_})((uint)at * 2654435761u + 12345u);",
        Op.COPY: "to[at] = from[at];",
    }[setup.op]
    total = "sum" if setup.vector == 1 else " + ".join(f"sum.s{it:x}" for it in range(setup.vector))
    # The sum is used only if `keep` says so or by a chance that never comes: the reads cannot be dropped, and
    # no write disturbs the measurement.
    use = (
        f"const uint all = {total};\n  if (keep || all == 0x9e3779b9u) out[id] = all;"
        if setup.op is Op.READ
        else ""
    )
    return f"""
uint reversed(uint k, uint bits) {{
  uint r = 0;
  for (uint b = 0; b < bits; ++b) r |= ((k >> b) & 1u) << (bits - 1u - b);
  return r;
}}
__kernel void sweep(__global const {type_} *restrict from, __global {type_} *restrict to,
                    __global uint *restrict out, const uint s, const uint keep) {{
  const {index} id = get_global_id(0);
  const {index} low = id & ((({index})1 << s) - 1);
  const {index} base = ((id - low) << {loop_bits}) + low;
  {type_} sum = ({type_})(0);
  for (uint k = 0; k <= {last}u; ++k) {{
    {place}
    {body}
  }}
  {use}
}}
__kernel void plain_copy(__global const uint4 *restrict from, __global uint4 *restrict to,
                         const ulong each, const ulong apart, const ulong step) {{
  const ulong first = get_global_id(0) * apart;
  for (ulong k = 0; k < each; ++k) to[first + k * step] = from[first + k * step];
}}
__kernel void checksum(__global const uint *restrict data, __global uint *restrict out, const ulong count) {{
  uint sum = 0;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) sum += data[i] * (uint)(2 * i + 1);
  out[get_global_id(0)] = sum;
}}
"""


class Sweep:
    """One sweep on a device.

    Raises: LaunchError if the arrays do not fit the device or the work-group is too large.
    """

    def __init__(self, session: Session, setup: Setup) -> None:
        self.setup = setup
        self._session = session
        program = session.build(kernel_source(setup))
        self._kernel = session.kernel(program, "sweep")
        self._copy = session.kernel(program, "plain_copy")
        self._checksum = session.kernel(program, "checksum")
        self._timer = Timer(session)
        self._items = 1 << setup.grid_bits
        self._words = setup.buffer_bytes // 4
        self._from = self._filled()
        # The roofline copies within the same two buffers, whatever the sweep's own operation is.
        self._to = session.buffer(setup.buffer_bytes)
        self._out = session.buffer(4 * max(self._items, 1 << 16))
        session.fill(self._to, 0xA5, setup.buffer_bytes)

    def run(
        self, platform: str, effort: Effort, on_progress: Callable[[str], None] | None = None
    ) -> list[StridePoint]:
        """Check that every exponent touches each element once, time all in turn, and return the curve.

        Raises: SweepError, DeviceLostError.
        """
        exponents = range(self.setup.grid_bits + 1)
        if on_progress:
            on_progress(f"checking {len(exponents)} exponents")
        self._check(exponents)
        launches = {str(it): self._timed(it) for it in exponents}
        launches["copy"] = self._timed_copy()
        if on_progress:
            on_progress(f"timing {len(exponents)} exponents and a plain copy")
        series = self._timer.compare(launches, self.setup.cache, effort)
        roofline = 2 * self.setup.buffer_bytes / 1e9 / statistics.median(series["copy"])
        return list(self._points(platform, exponents, series, roofline))

    def _points(
        self, platform: str, exponents: range, series: dict[str, list[float]], roofline: float
    ) -> Iterator[StridePoint]:
        setup = self.setup
        for exponent in exponents:
            rates = [setup.moved_bytes / 1e9 / it for it in series[str(exponent)]]
            yield StridePoint(
                platform, setup.op.value, SCALAR, setup.vector,
                setup.index_bits, setup.grid_bits, setup.group, setup.order.value, exponent,
                setup.cache.value, setup.buffer_bytes, len(rates),
                statistics.fmean(rates), statistics.pstdev(rates), min(rates), statistics.median(rates),
                max(rates), roofline,
            )  # fmt: skip

    def _check(self, exponents: range) -> None:
        """Compare what all exponents read, or leave behind, with a plain pass over the array."""
        setup = self.setup
        expected: int | None
        if setup.op is Op.READ:
            expected = self._plain_sum()
        elif setup.op is Op.COPY:
            expected = self._sum_of(self._from)
        else:
            expected = self._written_sum() if self._words <= 1 << 24 else None
        for exponent in exponents:
            if setup.op is not Op.READ:
                self._session.fill(self._to, 0xA5, setup.buffer_bytes)
            timed = self._timed(exponent, keep=1)
            self._session.set_arguments(timed.kernel, *timed.arguments)
            self._session.launch(timed.kernel, timed.global_size, timed.local_size)
            found = self._total(self._items) if setup.op is Op.READ else self._sum_of(self._to)
            if expected is None:
                expected = found  # Beyond what is quick to compute here: all exponents must at least agree.
            if found != expected:
                raise SweepError(
                    f"{self._session.facts.name}: exponent {exponent} did not {setup.op.value} each element"
                    f" once (checksum {found}, expected {expected}); the driver may be at fault"
                )

    def _plain_sum(self) -> int:
        """Return the sum of all words, by a plain pass: the checksum kernel's weights taken out."""
        source = """
__kernel void plain_sum(__global const uint *restrict data, __global uint *restrict out, const ulong count) {
  uint sum = 0;
  for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) sum += data[i];
  out[get_global_id(0)] = sum;
}
"""
        kernel = self._session.kernel(self._session.build(source), "plain_sum")
        self._session.set_arguments(kernel, self._from, self._out, np.uint64(self._words))
        self._session.launch(kernel, (1 << 14,), None)
        return self._total(1 << 14)

    def _written_sum(self) -> int:
        index = np.arange(self._words // self.setup.vector, dtype=np.uint32)
        value = index * np.uint32(2654435761) + np.uint32(12345)
        words = np.repeat(value, self.setup.vector)
        weights = np.arange(self._words, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
        return int((words * weights).sum(dtype=np.uint32))

    def _sum_of(self, buffer: Any) -> int:
        self._session.set_arguments(self._checksum, buffer, self._out, np.uint64(self._words))
        self._session.launch(self._checksum, (1 << 14,), None)
        return self._total(1 << 14)

    def _total(self, count: int) -> int:
        return int(self._session.read(self._out, np.uint32, count).sum(dtype=np.uint32))

    def _timed(self, exponent: int, keep: int = 0) -> Timed:
        arguments = (self._from, self._to, self._out, np.uint32(exponent), np.uint32(keep))
        return Timed(self._kernel, arguments, (self._items,), (self.setup.group,))

    def _timed_copy(self) -> Timed:
        # As each kind of device likes it best: GPUs all work-items side by side, CPUs contiguous chunks.
        facts = self._session.facts
        count = self._words // 4
        items = 1 << min(18, count.bit_length() - 1)
        if not facts.local_dedicated:
            items = min(items, 64)
        each = count // items
        apart, step = (1, items) if facts.local_dedicated else (each, 1)
        arguments = (self._from, self._to, np.uint64(each), np.uint64(apart), np.uint64(step))
        return Timed(self._copy, arguments, (items,), None)

    def _filled(self) -> Any:
        buffer = self._session.buffer(self.setup.buffer_bytes)
        kernel = self._session.kernel(self._session.build(fill_source(Element(SCALAR))), "clmap_fill")
        self._session.set_arguments(kernel, buffer, np.uint64(self._words), np.uint32(0))
        self._session.launch(kernel, (1 << 16,), None)
        self._session.finish()
        return buffer
