"""Run a kernel with its launch on an OpenCL device: the outputs that a rewrite must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from clmap_lsp.launch.contents import buffer_contents, scalar_bytes
from clmap_lsp.launch.model import BufferArgument, Launch, LocalArgument, ScalarArgument
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.types import PointerType


@cache
def context() -> Any:
    """Return a context of PoCL, or `None` where it is not installed."""
    try:
        import pyopencl as cl

        for platform in cl.get_platforms():
            if "Portable" in platform.name:
                return cl.Context(platform.get_devices()[:1])
    except Exception:  # What a broken driver raises is its own.
        return None
    return None


@dataclass(frozen=True)
class Version:
    """A source, its kernel, and the launch to run it on."""

    text: str
    kernel: Kernel
    launch: Launch


def outputs(versions: Sequence[Version]) -> list[Mapping[str, np.ndarray]]:
    """Return the bytes of all buffers after each version's launch.

    All are compiled as one program, each kernel under a name of its own: most of PoCL's time for a small
    kernel goes by before it reads a line of it.
    """
    import pyopencl as cl

    parts = [
        f"#define {it.kernel.name} {it.kernel.name}_{at}\n{it.text}\n#undef {it.kernel.name}\n"
        for at, it in enumerate(versions)
    ]
    program = _built("".join(parts))
    return [
        _run(cl.Kernel(program, f"{it.kernel.name}_{at}"), it.kernel, it.launch)
        for at, it in enumerate(versions)
    ]


@lru_cache(maxsize=1)
def _built(text: str) -> Any:
    """Return a program of PoCL; the same versions run on one launch after the other.

    LLVM's optimiser would take most of the time, for launches of microseconds; what a rewrite does wrong is
    wrong without it too.
    """
    import pyopencl as cl

    return cl.Program(context(), text).build(["-cl-std=CL1.2", "-cl-opt-disable"])


def _run(run: Any, kernel: Kernel, launch: Launch) -> Mapping[str, np.ndarray]:
    import pyopencl as cl

    queue = cl.CommandQueue(context())
    buffers = {}
    for at, parameter in enumerate(kernel.parameters):
        argument = launch.arguments[parameter.name]
        match argument:
            case BufferArgument():
                data = buffer_contents(argument, parameter.type)
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
                buffers[parameter.name] = (cl.Buffer(context(), flags, hostbuf=data), data)
                run.set_arg(at, buffers[parameter.name][0])
            case LocalArgument(count=count):
                assert isinstance(parameter.type, PointerType)
                run.set_arg(at, cl.LocalMemory(count * parameter.type.pointee.size))
            case ScalarArgument():
                run.set_arg(at, np.frombuffer(scalar_bytes(argument, parameter.type), np.uint8))
    cl.enqueue_nd_range_kernel(queue, run, launch.global_size, launch.local_size)
    found = {}
    for name, (buffer, data) in buffers.items():
        found[name] = np.empty_like(data)
        cl.enqueue_copy(queue, found[name], buffer)
    queue.finish()
    return found
