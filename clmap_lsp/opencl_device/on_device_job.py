"""A launch to be made on a device, as plain data: made where kernels are read, run where the device is.

The process that talks to the driver needs no parser and no compiler of ours, only NumPy and pyopencl; and a
job can be carried to another machine as one JSON file.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.opencl_device.one_text import macros_as_here
from clmap_lsp.source.types import (
    SCALARS,
    OpaqueType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.opencl_device.instrument import Instrumented
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program

DEFAULT_LIMIT_BYTES = 4 << 30


class NotForDevicesError(Exception):
    """The launch cannot be made on a device; the text says why."""


@dataclass(frozen=True, slots=True)
class JobArgument:
    """One kernel argument: `buffer` (a recipe or its bytes), `local` (a size) or `value` (its bytes)."""

    name: str
    kind: str
    bytes: int
    scalar: str = ""
    """Of a buffer: OpenCL's name of the scalars in it, by which outputs are compared; uchar for structs."""
    recipe: Mapping[str, Any] | None = None
    """Of a buffer: the fields of its `BufferArgument`, with the element's type as `type`."""
    data: str = ""
    """Deflated bytes in base 64, where there is no recipe."""

    def contents(self) -> NDArray[np.uint8]:
        """Return the bytes of a buffer or value, shape (bytes,)."""
        import numpy as np

        from clmap_lsp.launch.contents import buffer_contents
        from clmap_lsp.source.types import AddressSpace

        if self.recipe is None:
            return np.frombuffer(_unpacked(self.data), np.uint8).copy()
        values = dict(self.recipe)
        kind = _type_of(values.pop("type"))
        argument = BufferArgument(**{**values, "fill": Fill(values["fill"])})
        parameter = PointerType(kind, AddressSpace.GLOBAL)
        return buffer_contents(argument, parameter, limit_bytes=DEFAULT_LIMIT_BYTES)


@dataclass(frozen=True, slots=True)
class TraceJob:
    """The instrumented copy; see `instrument`."""

    source: str
    name: str
    sites: tuple[tuple[int, str, bool], ...]
    """(number, space, is a store)."""
    buffers: tuple[tuple[str, bool, int], ...]
    """(name, is local, bytes)."""


@dataclass(frozen=True, slots=True)
class DeviceJob:
    """What to launch, time and trace."""

    kernel: str
    source: str
    options: tuple[str, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    global_offset: tuple[int, ...]
    arguments: tuple[JobArgument, ...]
    includes: tuple[tuple[str, str], ...] = ()
    """(place relative to the source, text) of the files that it includes."""
    trace: TraceJob | None = None
    trace_problem: str = ""
    """Why there is no instrumented copy, if one was asked for."""
    definition: str = "paper"
    local_addresses: str = "shared"
    time: bool = True
    outputs: bool = True
    """Keep the buffers after the first launch, for comparison."""
    max_seconds: float = 5.0
    """For each timed series, of wall clock."""
    max_events: int = 1 << 24
    """Trace entries; beyond, work-groups are sampled evenly."""
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> DeviceJob:
        """Return the job that `as_json` wrote."""
        values = dict(data)
        for name in ("options", "global_size", "local_size", "global_offset", "notes"):
            values[name] = tuple(values[name])
        values["includes"] = tuple((it[0], it[1]) for it in values["includes"])
        values["arguments"] = tuple(JobArgument(**it) for it in values["arguments"])
        if values["trace"] is not None:
            trace = values["trace"]
            values["trace"] = TraceJob(
                trace["source"],
                trace["name"],
                tuple((it[0], it[1], it[2]) for it in trace["sites"]),
                tuple((it[0], it[1], it[2]) for it in trace["buffers"]),
            )
        return cls(**values)


def make_job(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    options: BuildOptions,
    *,
    trace: bool = False,
    **settings: Any,
) -> DeviceJob:
    """Return the job of a launch.

    Args:
        trace: bring the instrumented copy along. Where none can be made, `trace_problem` says why.
        settings: other fields of `DeviceJob`.
    Raises: NotForDevicesError for arguments that cannot be passed; LaunchError for files that cannot be read.
    """
    arguments = tuple(_argument(it, launch) for it in kernel.parameters)
    included = _includes(program, options)
    head, reason = macros_as_here(program.main_file.text, (it for _, it in included), options)
    if reason:
        raise NotForDevicesError(f"`{kernel.name}` is not launched on a device: {reason}")
    copy, problem = _trace_job(program, kernel, arguments) if trace else (None, "")
    if copy is not None:
        copy = replace(copy, source=head + copy.source)
    return DeviceJob(
        kernel.name,
        head + program.main_file.text,
        _options(options),
        launch.global_size,
        launch.local_size,
        tuple(launch.global_offset),
        arguments,
        included,
        copy,
        problem,
        **settings,
    )


def _trace_job(
    program: Program, kernel: Kernel, arguments: tuple[JobArgument, ...]
) -> tuple[TraceJob | None, str]:
    from clmap_lsp.opencl_device.instrument import InstrumentError, instrument

    try:
        copy = instrument(program, kernel)
    except InstrumentError as error:
        return None, str(error)
    return _of_copy(copy, {it.name: it.bytes for it in arguments}), ""


def _of_copy(copy: Instrumented, sizes: Mapping[str, int]) -> TraceJob:
    return TraceJob(
        copy.source,
        copy.name,
        tuple((it.number, it.space, it.is_store) for it in copy.sites),
        tuple(
            (it.name, it.is_local, sizes.get(it.name, 0) if it.size is None else it.size)
            for it in copy.buffers
        ),
    )


def _includes(program: Program, options: BuildOptions) -> tuple[tuple[str, str], ...]:
    """Return the included files as the analysis read them: place relative to the main file, and text.

    A file found in an include folder is placed as if it lay beside the main file.
    """
    main = str(Path(program.path).parent)
    found = []
    for path, file in program.files.items():
        if path == program.path or path.startswith("<"):
            continue
        roots = [it for it in options.include_dirs if Path(path).is_relative_to(it)]
        place = os.path.relpath(path, roots[0] if roots else main)
        found.append((Path(place).as_posix(), file.text))
    return tuple(found)


def _options(options: BuildOptions) -> tuple[str, ...]:
    defines = tuple(f"-D{name}={value}" for name, value in options.defines)
    undefines = tuple(f"-U{name}" for name in options.undefines)
    standard = () if options.language == "CL1.2" else (f"-cl-std={options.language}",)
    return (*standard, *defines, *undefines)


def _argument(parameter: Any, launch: Launch) -> JobArgument:
    from clmap_lsp.launch.contents import buffer_bytes, buffer_contents, element_type, scalar_bytes

    given = launch.arguments.get(parameter.name)
    name, kind = parameter.name, parameter.type
    if isinstance(kind, OpaqueType):
        raise NotForDevicesError(f"`{name}` is {kind}: images and samplers are not passed to devices")
    match given:
        case BufferArgument(fill=Fill.NULL):
            return JobArgument(name, "buffer", 0, "uchar")
        case BufferArgument():
            element = SCALARS[given.element] if given.element else element_type(kind)
            size = buffer_bytes(given, kind)
            if given.fill is Fill.FILE or not isinstance(element, ScalarType | VectorType):
                data = _packed(buffer_contents(given, kind, limit_bytes=DEFAULT_LIMIT_BYTES).tobytes())
                return JobArgument(name, "buffer", size, _scalar_name(element), None, data)
            recipe = {**asdict(given), "fill": given.fill.value, "type": str(element)}
            return JobArgument(name, "buffer", size, _scalar_name(element), recipe)
        case LocalArgument(count=count):
            return JobArgument(name, "local", max(count, 0) * max(element_type(kind).size, 1))
        case ScalarArgument():
            value = scalar_bytes(given, kind)
            return JobArgument(name, "value", len(value), data=_packed(value))
        case _:
            raise NotForDevicesError(f"there is no argument for `{name}`")


def _scalar_name(kind: Type) -> str:
    scalar = element_of(kind)
    return scalar.name if isinstance(scalar, ScalarType) and scalar.size else "uchar"


def _type_of(name: str) -> Type:
    scalar = name.rstrip("0123456789")
    lanes = name[len(scalar) :]
    return VectorType(SCALARS[scalar], int(lanes)) if lanes else SCALARS[scalar]


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode("ascii")


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
