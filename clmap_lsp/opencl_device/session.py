"""One device in use: build, allocate, launch, wait, read back.

A thin layer over pyopencl that turns its errors into ours and keeps the profiling queue in one place.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.opencl_device.errors import BuildError, DeviceLostError, LaunchError
from clmap_lsp.opencl_device.facts import DeviceFacts
from clmap_lsp.opencl_device.find import choose_device, load_pyopencl

# Codes after which a context is not usable. NVIDIA reports a device that is gone as OUT_OF_RESOURCES or
# INVALID_COMMAND_QUEUE at the next call (seen with its driver's Xid errors), or with its own -9999.
_FATAL = {-2, -5, -6, -34, -36, -9999}
_FILL_BYTES = 1 << 29
# A launch or an allocation that does not fit; the context lives on.
_REFUSED = {-4, -54, -55, -61, -63}


class Session:
    """A context and an in-order profiling queue on one device.

    Raises: DeviceMissingError if there is no such device.
    """

    def __init__(self, selector: str | None = None) -> None:
        self._cl = load_pyopencl()
        device, self.facts = choose_device(selector)
        self._device = device
        with self._errors():
            self._context = self._cl.Context([device])
            self._queue = self._cl.CommandQueue(
                self._context, properties=self._cl.command_queue_properties.PROFILING_ENABLE
            )

    facts: DeviceFacts

    def build(self, source: str, options: Sequence[str] = ()) -> Any:
        """Return the built program.

        Raises: BuildError with the compiler's log, DeviceLostError.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # A log without an error is of no interest.
                return self._cl.Program(self._context, source).build(options=list(options))
        except self._cl.RuntimeError as error:
            if getattr(error, "code", 0) == self._cl.status_code.BUILD_PROGRAM_FAILURE:
                log = str(error)
                first = next((it for it in log.splitlines() if "error" in it.lower()), log.splitlines()[0])
                raise BuildError(f"the device's compiler refused the kernel: {first.strip()}", log) from error
            raise DeviceLostError(f"{self.facts.name}: {_first_line(error)}") from error

    def kernel(self, program: Any, name: str) -> Any:
        """Return one kernel object of a program."""
        with self._errors():
            return self._cl.Kernel(program, name)

    def buffer(self, size: int) -> Any:
        """Return a read-write buffer of `size` bytes, uninitialised.

        Raises: LaunchError if it does not fit.
        """
        if size > self.facts.max_alloc_bytes:
            raise LaunchError(
                f"{self.facts.name}: a buffer of {size} bytes is beyond its limit,"
                f" {self.facts.max_alloc_bytes}"
            )
        with self._errors():
            return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size=size)

    def buffer_from(self, data: NDArray[Any]) -> Any:
        """Return a read-write buffer holding a copy of `data`."""
        buffer = self.buffer(data.nbytes)
        with self._errors():
            self._cl.enqueue_copy(self._queue, buffer, np.ascontiguousarray(data))
        return buffer

    def read(self, buffer: Any, dtype: Any, count: int, offset_bytes: int = 0) -> NDArray[Any]:
        """Return `count` elements of a buffer, waiting for what was enqueued before."""
        result = np.empty(count, dtype=dtype)
        with self._errors():
            self._cl.enqueue_copy(self._queue, result, buffer, src_offset=offset_bytes)
        return result

    def fill(self, buffer: Any, byte: int, size: int) -> None:
        """Set `size` bytes of a buffer to one value."""
        with self._errors():
            # In pieces: NVIDIA's driver 580.159 ended the process on a fill of 2 GiB at once.
            for start in range(0, size, _FILL_BYTES):
                length = min(_FILL_BYTES, size - start)
                self._cl.enqueue_fill_buffer(self._queue, buffer, np.uint8(byte), start, length)

    def set_arguments(self, kernel: Any, *arguments: Any) -> None:
        """Set a kernel's arguments: NumPy scalars, and buffers that the caller keeps until the launch."""
        with self._errors():
            kernel.set_args(*arguments)

    def local(self, size: int) -> Any:
        """Return an argument of `size` bytes of local memory."""
        return self._cl.LocalMemory(size)

    def launch(
        self,
        kernel: Any,
        global_size: Sequence[int],
        local_size: Sequence[int] | None,
        global_offset: Sequence[int] | None = None,
    ) -> Any:
        """Enqueue one launch and return its event.

        Raises: LaunchError if the driver refuses the sizes or the memory, DeviceLostError.
        """
        if local_size is not None:
            self._check_group(local_size)
        with self._errors():
            return self._cl.enqueue_nd_range_kernel(
                self._queue,
                kernel,
                tuple(global_size),
                None if local_size is None else tuple(local_size),
                tuple(global_offset) if global_offset else None,
            )

    def _check_group(self, local_size: Sequence[int]) -> None:
        """Refuse a work-group the device cannot hold. PoCL 3.1 dies after refusing one."""
        limits = self.facts.max_work_item_sizes
        fits = all(size <= limit for size, limit in zip(local_size, limits, strict=False))
        if not fits or math.prod(local_size) > self.facts.max_work_group:
            shape = "x".join(map(str, local_size))
            raise LaunchError(
                f"{self.facts.name}: a work-group of {shape} is beyond its limit of"
                f" {self.facts.max_work_group} work-items ({'x'.join(map(str, limits))})"
            )

    def finish(self) -> None:
        """Wait until the device has done everything that was asked."""
        with self._errors():
            self._queue.finish()

    def seconds(self, event: Any) -> float:
        """Return an event's time on the device, start to end, after `finish`."""
        with self._errors():
            return float(event.profile.end - event.profile.start) * 1e-9

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except self._cl.Error as error:
            code = getattr(error, "code", 0)
            message = f"{self.facts.name}: {_first_line(error)}"
            if code in _REFUSED:
                raise LaunchError(message) from error
            if code in _FATAL:
                raise DeviceLostError(f"{message}; the device or its driver no longer answers") from error
            raise LaunchError(message) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
