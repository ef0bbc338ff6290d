"""Kernels run on PoCL so that what they leave undefined is seen, and two versions of one compared.

Each launch is run twice, with other bytes around the buffers and other bytes left in local memory: a version
that races, or reads what nobody stored, differs from itself. Products and sums are not contracted, so that
two versions which do the same sums in the same order agree bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.model import Subject
from clmap_lsp.launch.contents import buffer_contents, scalar_bytes
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.scan import Role
from clmap_lsp.source.types import PointerType

Buffers = Mapping[str, NDArray[np.uint8]]
GUARD = 4096
"""Bytes before and behind each buffer: a multiple of every device's alignment of sub-buffers."""
PATTERNS = (0x7FC0A55A, 0x3F9D70A4)
"""What stands there and in local memory: no number in the first run, 1.23 in the second."""
NOT_CONTRACTED = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n"
REORDERED = 1e-4
"""Of each element, where sums are taken in another order."""
CANCELLED = 1e-5
"""Of the median magnitude of a buffer, for elements of reordered sums that cancel."""
_FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
_DEFINABLE = {it.value for it in (Role.TYPE, Role.VECTOR_TYPE, Role.CONSTANT, Role.QUALIFIER, Role.ATTRIBUTE)}
_FILL_LOCAL = """
kernel void fill_local(local uint *all, const uint n, const uint value, global uint *sink)
{
    for (uint i = 0; i < n; i++)
        all[i] = value;
    if (all[value % n] != value)
        *sink = 1;
}
"""


@dataclass(frozen=True)
class Outcome:
    """All buffers after a launch, and why there is no saying what they should hold."""

    buffers: Buffers
    undefined: str = ""


def outcome(text: str, subject: Subject, case: Case, launch: Launch) -> Outcome:
    """Run a version of a subject's kernel twice; raises what PoCL raises where it does not build or run."""
    kernel = subject.analysis.kernel
    if text != subject.text:
        found = subject.read(text).kernel(subject.analysis.name)
        if found is None:
            raise ValueError("the kernel cannot be read")
        kernel = found
    options = (
        f"-cl-std={case.options.language}",
        *(f"-D{n}={v}" for n, v in (*case.options.defines, *_guessed(subject, case))),
        *(("-I", str(folder)) if (folder := Path(subject.path).parent).is_dir() else ()),
    )
    program = _built(text, options)
    one, other = (_run(program, kernel, case, launch, pattern) for pattern in PATTERNS)
    for undefined in (one.undefined, other.undefined):
        if undefined:
            return Outcome(one.buffers, undefined)
    reason = differs(one.buffers, other.buffers, kernel)
    return Outcome(one.buffers, f"two runs differ: {reason}" if reason else "")


def _guessed(subject: Subject, case: Case) -> Iterator[tuple[str, str]]:
    """Yield the names that nothing defines, as they are read: the host defines them."""
    known = dict(case.options.defines)
    for it in subject.read(subject.text, case.options).guesses:
        if it.role in _DEFINABLE and it.name not in known:
            yield it.name, it.value or ""


@cache
def _context() -> Any:
    import pyopencl as cl

    device = next(it for p in cl.get_platforms() if "Portable" in p.name for it in p.get_devices())
    return cl.Context([device])


@lru_cache(maxsize=8)
def _built(text: str, options: tuple[str, ...]) -> Any:
    import pyopencl as cl

    return cl.Program(_context(), NOT_CONTRACTED + text).build(list(options))


def _run(program: Any, kernel: Kernel, case: Case, launch: Launch, pattern: int) -> Outcome:
    import pyopencl as cl

    run, queue = cl.Kernel(program, kernel.name), cl.CommandQueue(_context())
    _fill_local(queue, pattern)
    buffers: dict[str, _Guarded] = {}
    same = {b: a for a, b in case.shared}
    for at, parameter in enumerate(kernel.parameters):
        argument = launch.arguments[parameter.name]
        match argument:
            case BufferArgument() if not isinstance(parameter.type, PointerType):
                raise NotImplementedError("an image, which is no buffer")
            case BufferArgument(fill=Fill.NULL):
                run.set_arg(at, None)
            case BufferArgument():
                if parameter.name not in same:
                    data = buffer_contents(argument, parameter.type).view(np.uint8).reshape(-1)
                    buffers[parameter.name] = _Guarded(data, pattern)
                run.set_arg(at, buffers[same.get(parameter.name, parameter.name)].buffer)
            case LocalArgument(count=count):
                assert isinstance(parameter.type, PointerType)
                run.set_arg(at, cl.LocalMemory(count * parameter.type.pointee.size))
            case ScalarArgument():
                run.set_arg(at, np.frombuffer(scalar_bytes(argument, parameter.type), np.uint8))
    offset = launch.global_offset or None
    cl.enqueue_nd_range_kernel(queue, run, launch.global_size, launch.local_size, offset)
    found = {name: it.read(queue) for name, it in buffers.items()}
    outside = next((f"stores outside `{name}`" for name, it in found.items() if it is None), "")
    return Outcome({name: it for name, it in found.items() if it is not None}, outside)


class _Guarded:
    """A buffer of just so many bytes, with a pattern before and behind it."""

    def __init__(self, data: NDArray[np.uint8], pattern: int) -> None:
        import pyopencl as cl

        words = -(-max(data.size, 1) // 4) + GUARD // 2
        self.whole = np.full(words, pattern, np.uint32).view(np.uint8)
        self.size = data.size
        self.whole[GUARD : GUARD + data.size] = data
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.parent = cl.Buffer(_context(), flags, hostbuf=self.whole)
        self.buffer = self.parent.get_sub_region(GUARD, max(data.size, 1))

    def read(self, queue: Any) -> NDArray[np.uint8] | None:
        """Return the buffer's bytes; `None` where those around it have changed."""
        import pyopencl as cl

        after = np.empty_like(self.whole)
        cl.enqueue_copy(queue, after, self.parent)
        queue.finish()
        end = GUARD + self.size
        kept = (after[:GUARD] == self.whole[:GUARD]).all() and (after[end:] == self.whole[end:]).all()
        return after[GUARD:end] if kept else None


@cache
def _sink() -> Any:
    import pyopencl as cl

    return cl.Buffer(_context(), cl.mem_flags.READ_WRITE, 4)


def _fill_local(queue: Any, pattern: int) -> None:
    """Leave a pattern in the local memory of every compute unit, as another kernel might have."""
    import pyopencl as cl

    device = queue.device
    words = device.local_mem_size // 8
    run = cl.Kernel(_built(_FILL_LOCAL, ()), "fill_local")
    run.set_args(cl.LocalMemory(4 * words), np.uint32(words), np.uint32(pattern), _sink())
    cl.enqueue_nd_range_kernel(queue, run, (4 * device.max_compute_units,), (1,))


def differs(one: Buffers, other: Buffers, kernel: Kernel, *, reordered: bool = False) -> str:
    """Return the first element that differs, bit for bit, where one NaN is as good as another.

    Args:
        reordered: sums were taken in another order; of elements that are all integers that says nothing.
    """
    types = {it.name: it.type.pointee for it in kernel.parameters if isinstance(it.type, PointerType)}
    for name, mine in one.items():
        if name not in other or other[name].size < mine.size:
            return f"{name}: too short"
        theirs = other[name][: mine.size]
        if mine.tobytes() == theirs.tobytes():
            continue
        kind = _FLOATS.get(str(types[name]).rstrip("0123456789"))
        if kind is None:
            return f"{name}[byte {int(np.argmax(mine != theirs))}]"
        a, b = mine.view(kind), theirs.view(kind)
        same = (mine.reshape(a.size, -1) == theirs.reshape(a.size, -1)).all(axis=1) | (
            np.isnan(a) & np.isnan(b)
        )
        if reordered:
            same |= _near(a.astype(np.float64), b.astype(np.float64))
        if not same.all():
            at = int(np.argmin(same))
            return f"{name}[{at}]: {a[at]:.9g} and {b[at]:.9g}"
    return ""


def _near(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which elements differ by what another order of sums may give."""
    finite = np.isfinite(a)
    size = float(np.median(np.abs(a[finite]))) if finite.any() else 0.0
    with np.errstate(invalid="ignore"):
        if (a[finite] == np.trunc(a[finite])).all() and (np.abs(a[finite]) < 2**24).all():
            return np.asarray(a == b)  # Sums of small integers are exact in any order.
        return np.asarray((np.abs(a - b) <= np.maximum(REORDERED * np.abs(a), CANCELLED * size)) | (a == b))
