"""Record the launches of a running pyopencl program into `clmap.toml`.

    with clmap_lsp.record("clmap.toml"):
        run_my_program()

Kernel names, NDRange sizes, scalar arguments and buffer sizes are noted as the program enqueues kernels, so
that analysis uses real launches. Nothing else of the program changes; contents of buffers are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class RecordedLaunch:
    """One kernel's launch as it was enqueued; of several, the one with most work-items is kept."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: dict[str, str] = field(default_factory=dict)
    times: int = 1

    @property
    def work_items(self) -> int:
        """Number of work-items."""
        total = 1
        for size in self.global_size:
            total *= size
        return total


@contextmanager
def record(path: str | Path = "clmap.toml") -> Iterator[dict[str, RecordedLaunch]]:
    """Note every launch made inside, and write them to `path` at the end.

    Tables of other kernels and all other settings in the file are kept. Yields: the launches by kernel name,
    filled as they come.

    Raises: UsageError without pyopencl.
    """
    try:
        import pyopencl as module
    except ImportError:
        raise UsageError("recording needs pyopencl: pip install 'clmap-lsp[device]'") from None
    pyopencl: Any = module  # Its functions are replaced below, which types forbid.
    launches: dict[str, RecordedLaunch] = {}
    arguments: dict[int, dict[int, Any]] = {}
    set_arg, enqueue = pyopencl.Kernel.set_arg, pyopencl.enqueue_nd_range_kernel
    kernel_call = pyopencl.Kernel.__call__

    def noting_set_arg(self: Any, index: int, value: Any) -> Any:
        arguments.setdefault(self.int_ptr, {})[index] = value
        return set_arg(self, index, value)

    def noting_enqueue(
        queue: Any, kernel: Any, global_size: Any, local_size: Any, *rest: Any, **more: Any
    ) -> Any:
        _note(launches, kernel, global_size, local_size, arguments.get(kernel.int_ptr, {}))
        return enqueue(queue, kernel, global_size, local_size, *rest, **more)

    def noting_call(self: Any, queue: Any, global_size: Any, local_size: Any, *args: Any, **more: Any) -> Any:
        _note(launches, self, global_size, local_size, dict(enumerate(args)))
        return kernel_call(self, queue, global_size, local_size, *args, **more)

    pyopencl.Kernel.set_arg = noting_set_arg
    pyopencl.enqueue_nd_range_kernel = noting_enqueue
    pyopencl.Kernel.__call__ = noting_call
    try:
        yield launches
    finally:
        pyopencl.Kernel.set_arg = set_arg
        pyopencl.enqueue_nd_range_kernel = enqueue
        pyopencl.Kernel.__call__ = kernel_call
        if launches:
            file = Path(path)
            before = safe_read(file, limit=SETTINGS_BYTES, within=None).decode() if file.exists() else ""
            write_whole(file, with_launches(before, launches).encode())


def _note(
    launches: dict[str, RecordedLaunch],
    kernel: Any,
    global_size: Any,
    local_size: Any,
    arguments: Mapping[int, Any],
) -> None:
    """Keep a launch if it is the largest of its kernel so far."""
    name = str(kernel.function_name)
    sizes = tuple(int(it) for it in global_size)
    local = tuple(int(it) for it in local_size) if local_size is not None else ()
    known = launches.get(name)
    times = known.times + 1 if known else 1
    found = RecordedLaunch(name, sizes, local, _texts(kernel, arguments), times)
    if known is not None and known.work_items >= found.work_items:
        known.times = times
    else:
        launches[name] = found


def _texts(kernel: Any, arguments: Mapping[int, Any]) -> dict[str, str]:
    """Return the arguments as the configuration writes them; names and types are read from the source."""
    import numpy as np
    import pyopencl

    parameters = _parameters(kernel)
    texts = {}
    for index, value in sorted(arguments.items()):
        if index >= len(parameters):
            continue
        name, element_bytes = parameters[index]
        value = getattr(value, "base_data", value)  # noqa: PLW2901 - pyopencl.array.Array
        if isinstance(value, pyopencl.LocalMemory):
            texts[name] = f"local({value.size // element_bytes})"
        elif isinstance(value, pyopencl.MemoryObjectHolder) and hasattr(value, "size"):
            texts[name] = f"random({value.size // element_bytes})"
        elif isinstance(value, (int, float, np.generic)) and np.ndim(value) == 0:
            number = value.item() if isinstance(value, np.generic) else value
            texts[name] = repr(number) if isinstance(number, (int, float)) else str(number)
    return texts


def _parameters(kernel: Any) -> list[tuple[str, int]]:
    """Return the name and element size of each parameter, from the kernel's source."""
    import pyopencl

    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program
    from clmap_lsp.source.types import PointerType

    source = kernel.get_info(pyopencl.kernel_info.PROGRAM).get_info(pyopencl.program_info.SOURCE)
    found = read_program(source, "program.cl", BuildOptions()).kernel(str(kernel.function_name))
    if found is None:
        return []
    types = [(it.name, it.type) for it in found.parameters]
    return [
        (name, max(kind.pointee.size if isinstance(kind, PointerType) else kind.size, 1))
        for name, kind in types
    ]


def with_launches(text: str, launches: Mapping[str, RecordedLaunch]) -> str:
    """Return the text of a `clmap.toml` with the tables of these kernels' launches renewed."""
    for name in launches:
        text = _without_table(text, f"[launch.{name}]")
    tables = [_table(it) for _, it in sorted(launches.items())]
    return "\n\n".join([*([text.strip()] if text.strip() else []), *tables]) + "\n"


def _without_table(text: str, header: str) -> str:
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped.startswith("["):
            inside = stripped.partition("#")[0].strip() == header
        if not inside:
            kept.append(line)
    return "".join(kept)


def _table(launch: RecordedLaunch) -> str:
    lines = [f"[launch.{launch.kernel}]", f"# recorded; enqueued {launch.times} times"]
    lines.append(f"global = {list(launch.global_size)}")
    if launch.local_size:
        lines.append(f"local = {list(launch.local_size)}")
    if launch.arguments:
        pairs = ", ".join(f"{name} = {_toml(text)}" for name, text in launch.arguments.items())
        lines.append(f"args = {{ {pairs} }}")
    return "\n".join(lines)


def _toml(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return f'"{text}"'
    return text if text.lstrip("-").isdigit() or "." in text or "e" in text else f'"{text}"'
