"""Microbenchmarks on a device: arrays, builds, launches, and whether the results are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.aristotle.elements import Element, fill_source
from clmap_lsp.aristotle.generate import Group, Part, generate
from clmap_lsp.aristotle.layout import layout_of
from clmap_lsp.aristotle.reference import all_items, reference
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.timing import Timed

# Work-items checked against the reference at sizes where checking all would take longer than measuring.
_SAMPLED_ITEMS = 512
_CHECK_ALL_UP_TO = 256


class VerificationError(Exception):
    """A kernel computed something else than the reference."""


class Bench:
    """Kernels of one element type and work-group shape on one device.

    Arrays are kept between launches and grow as needed; array k holds the data of seed k.
    """

    def __init__(self, session: Session, element: Element, group: Group) -> None:
        self.session = session
        self.element = element
        self.group = group
        self._arrays: dict[int, tuple[int, Any]] = {}
        self._output: tuple[int, Any] | None = None
        self._fill = session.kernel(session.build(fill_source(element)), "clmap_fill")

    def build(self, variants: Iterable[Sequence[Part]], *, wide_index: bool = False) -> dict[str, Any]:
        """Build kernels in one program and return them by name.

        Raises: BuildError, DeviceLostError.
        """
        kernels = [generate(it, self.element, self.group, wide_index=wide_index) for it in variants]
        program = self.session.build("\n".join(it.source for it in kernels))
        return {it.name: self.session.kernel(program, it.name) for it in kernels}

    def timed(self, kernel: Any, parts: Sequence[Part], size: int, *, wide_index: bool = False) -> Timed:
        """Return the launch of a built kernel at a size.

        Raises: ValueError if the group's sides do not divide the size, LaunchError if arrays do not fit.
        """
        if size % self.group.x or size % self.group.y:
            raise ValueError(f"size {size} is not a multiple of the work-group {self.group.x}x{self.group.y}")
        index: type[np.signedinteger[Any]] = np.int64 if wide_index else np.int32
        places: list[Any] = []
        arrays: list[Any] = []
        for k, part in enumerate(parts):
            layout = layout_of(part.map, size, part.reach)
            arrays.append(self._array(k, layout.elements))
            places += [index(layout.origin), index(layout.pitch)]
        output = self._out(size * size)
        arguments = (*arrays, output, *places, index(size))
        return Timed(kernel, arguments, (size, size), (self.group.x, self.group.y))

    def run(self, timed: Timed, size: int) -> NDArray[Any]:
        """Launch once on a poisoned output and return it, shape (size * size, lanes)."""
        output = self._out(size * size)
        self.session.fill(output, 0xA5, size * size * self.element.bytes)
        self.session.set_arguments(timed.kernel, *timed.arguments)
        self.session.launch(timed.kernel, timed.global_size, timed.local_size)
        count = size * size * self.element.lanes
        return self.session.read(output, self.element.dtype, count).reshape(-1, self.element.lanes)

    def verify(self, name: str, result: NDArray[Any], parts: Sequence[Part], size: int) -> None:
        """Compare a result with the reference, bit for bit: all of it up to size 256, else a sample.

        Raises: VerificationError naming the first work-item that differs.
        """
        items = all_items(size)
        if size > _CHECK_ALL_UP_TO:
            chosen = np.random.default_rng(size).choice(len(items), _SAMPLED_ITEMS, replace=False)
            items, result = items[chosen], result[chosen]
        maps = tuple(it.map for it in parts)
        radii = tuple(it.reach for it in parts)
        expected = reference(maps, size, radii, self.element, items)
        wrong = np.flatnonzero((result != expected).any(axis=1))
        if wrong.size:
            ty, tx = items[wrong[0]]
            got, wanted = result[wrong[0]].tolist(), expected[wrong[0]].tolist()
            raise VerificationError(
                f"{name} at size {size}: {wrong.size} of {len(items)} work-items differ,"
                f" first (t_y={ty}, t_x={tx}): got {got}, expected {wanted}"
            )

    def needed_bytes(self, parts: Sequence[Part], size: int) -> int:
        """Return the size of the largest array that a launch needs."""
        return max(layout_of(it.map, size, it.reach).elements for it in parts) * self.element.bytes

    def _array(self, k: int, elements: int) -> Any:
        held = self._arrays.get(k)
        if held is None or held[0] < elements:
            self._arrays.pop(k, None)  # Free the smaller one first.
            buffer = self.session.buffer(elements * self.element.bytes)
            scalars = elements * self.element.lanes
            self.session.set_arguments(self._fill, buffer, np.uint64(scalars), np.uint32(k))
            threads = self.session.facts.compute_units * (2048 if self.session.facts.local_dedicated else 64)
            self.session.launch(self._fill, (threads,), None)
            self.session.finish()
            held = (elements, buffer)
            self._arrays[k] = held
        return held[1]

    def _out(self, elements: int) -> Any:
        if self._output is None or self._output[0] < elements:
            self._output = None
            self._output = (elements, self.session.buffer(elements * self.element.bytes))
        return self._output[1]
