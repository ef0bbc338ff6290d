"""Record the launches of a running pyopencl program.

    with clmap_lsp.record("clmap.toml"):
        run_my_program()

Into `clmap.toml` goes the largest launch of each kernel. Into any other file go all of them, each as soon as
it is made, so that a program that is killed loses nothing; `--recorded FILE` reads it.

Arguments are noted where pyopencl hands them to OpenCL, behind everything that it does to them before: arrays
have become a base and an offset, and kernels that pyopencl makes by itself (element by element, reductions,
scans) are seen as any other.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError, system_error
from clmap_lsp.launch.from_recording import part_from_recording
from clmap_lsp.launch.model import BufferArgument, LocalArgument, ScalarArgument
from clmap_lsp.reading import SETTINGS_BYTES, reason, safe_read
from clmap_lsp.recording import RecordedArgument
from clmap_lsp.recording import RecordedLaunch as Launch
from clmap_lsp.recording.output import check_output
from clmap_lsp.whole_files import write_whole

if TYPE_CHECKING:
    from clmap_lsp.source import ir

_SETTERS = ("set_arg", "_set_arg_multi", "_set_arg_buf_multi", "_set_arg_buf_pack_multi")
_MOST_OTHERS = 4
"""Other launches of a kernel that are named beside the one that is kept."""


@dataclass(slots=True)
class RecordedLaunch:
    """One kernel's launch as it was enqueued; of several, the one with most work-items is kept."""

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: dict[str, str] = field(default_factory=dict)
    times: int = 1
    others: tuple[str, ...] = ()
    """Other sizes that it was enqueued with, for people."""
    programs: int = 1
    """Different sources that define a kernel of this name."""

    @property
    def work_items(self) -> int:
        """Number of work-items."""
        total = 1
        for size in self.global_size:
            total *= size
        return total


@contextmanager
def record(path: str | Path = "clmap.toml") -> Iterator[dict[str, RecordedLaunch]]:
    """Note every launch made inside, and write them to `path`.

    A path that ends in `.toml` gets tables at the end; tables of other kernels and all other settings in the
    file are kept. Any other gets each launch as it is made.

    Yields: the launches by kernel name, filled as they come.

    Raises: UsageError without pyopencl, or if nothing can be written to `path`.
    """
    try:
        import pyopencl as module
    except ImportError:
        raise UsageError("recording needs pyopencl: pip install 'clmap-lsp[device]'") from None
    pyopencl: Any = module  # Its functions are replaced below, which types forbid.
    file, text = _output(path)
    lines = None if text is not None else file.open("w", encoding="ascii", buffering=1)
    notes = _Notes(None if lines is None else lambda text: lines.write(text + "\n"))
    kernel, low = pyopencl.Kernel, pyopencl._cl
    before = {name: getattr(kernel, name) for name in _SETTERS if hasattr(kernel, name)}
    for name, old in before.items():
        setattr(kernel, name, _noting(old, notes, name))
    enqueues = [(it, it.enqueue_nd_range_kernel) for it in (low, pyopencl)]
    for where, old in enqueues:
        where.enqueue_nd_range_kernel = _noting_launch(old, notes)
    try:
        yield notes.launches
    finally:
        for name, old in before.items():
            setattr(kernel, name, old)
        for where, old in enqueues:
            where.enqueue_nd_range_kernel = old
        if lines is not None:
            lines.close()
        elif notes.launches:
            try:  # The file may have changed meanwhile.
                write_whole(file, with_launches(_settings(file), notes.launches).encode())
            except OSError as error:
                raise UsageError(system_error(error)) from None


def _output(path: Any) -> tuple[Path, str | None]:
    """Return where to write, and what a `.toml` file holds so far, `None` for other files.

    Raises: UsageError, before the program runs, if that cannot be.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise UsageError(f"record({path!r}): give the path of a file, as in record('clmap.toml')")
    file = Path(path)
    if file.suffix != ".toml":
        check_output(file, str(path))
        return file, None
    try:
        if not file.parent.is_dir():
            raise UsageError(f"{path}: there is no folder {file.parent}; name a file in one that is there")
        return file, _settings(file)
    except (OSError, ValueError) as error:  # A pipe, a folder, no UTF-8.
        why = reason(error) if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{path}: {why}; name a file that can be read and written") from None


def _settings(file: Path) -> str:
    return safe_read(file, limit=SETTINGS_BYTES, within=None).decode() if file.exists() else ""


def _noting(old: Callable[..., Any], notes: _Notes, name: str) -> Callable[..., Any]:
    """Return a setter of arguments that notes what it sets."""

    def one(self: Any, index: int, value: Any) -> Any:
        notes.take(self, [(index, value)])
        return old(self, index, value)

    def several(self: Any, given: Sequence[Any]) -> Any:
        width = 3 if name.endswith("pack_multi") else 2
        for at in range(0, len(given), width):
            value = given[at + 1] if width == 2 else struct.pack(given[at + 1].decode(), given[at + 2])
            notes.take(self, [(given[at], value)])
        return old(self, given)

    return one if name == "set_arg" else several


def _noting_launch(old: Callable[..., Any], notes: _Notes) -> Callable[..., Any]:
    def enqueue(queue: Any, kernel: Any, global_size: Any, local_size: Any, *rest: Any, **more: Any) -> Any:
        is_groups = rest[2] if len(rest) > 2 else more.get("g_times_l", False)
        offset = rest[0] if rest else more.get("global_work_offset")
        notes.launch(kernel, global_size, local_size, offset, is_groups=bool(is_groups))
        return old(queue, kernel, global_size, local_size, *rest, **more)

    return enqueue


class _Notes:
    """What was launched so far; `write` gets each event as a line."""

    def __init__(self, write: Callable[[str], Any] | None) -> None:
        self.launches: dict[str, RecordedLaunch] = {}
        self._write = write
        self._arguments: dict[int, dict[int, RecordedArgument]] = {}
        self._programs: dict[tuple[str, str], int] = {}
        self._kernels: dict[tuple[int, str], ir.Kernel | None] = {}
        self._sizes: dict[str, dict[str, int]] = {}

    def take(self, kernel: Any, given: Sequence[tuple[int, Any]]) -> None:
        """Note arguments of a kernel."""
        known = self._arguments.setdefault(kernel.int_ptr, {})
        for index, value in given:
            made = _argument(value)
            if made is not None:
                known[index] = made
            else:
                known.pop(index, None)

    def launch(self, kernel: Any, global_size: Any, local_size: Any, offset: Any, *, is_groups: bool) -> None:
        """Note a launch."""
        import pyopencl

        name = str(kernel.function_name)
        program = kernel.get_info(pyopencl.kernel_info.PROGRAM)
        source = program.get_info(pyopencl.program_info.SOURCE)
        device = program.get_info(pyopencl.program_info.DEVICES)[0]
        options = str(program.get_build_info(device, pyopencl.program_build_info.OPTIONS))
        local = tuple(int(it) for it in local_size) if local_size is not None else ()
        sizes = tuple(int(it) for it in global_size)
        if is_groups:
            sizes = tuple(one * two for one, two in zip(sizes, local, strict=False))
        known = self._arguments.get(kernel.int_ptr, {})
        arguments = tuple(known.get(index) for index in range(max(known, default=-1) + 1))
        key = hashlib.sha256(source.encode()).hexdigest()
        moved = tuple(int(it) for it in offset) if offset is not None else ()
        launch = Launch(name, key, options, sizes, local, moved, arguments)
        number = self._number(key, options, source, name)
        self._tell({"event": "launch", "kernel": number, **_launched(launch)})
        self._keep(launch, number)

    def _number(self, key: str, options: str, source: str, name: str) -> int:
        """Return the number of a kernel, told with its program when it is first launched."""
        program = self._programs.get((key, options))
        if program is None:
            program = self._programs[key, options] = len(self._programs) + 1
            text = source.encode().decode("latin-1")
            self._tell({"event": "program", "program": program, "source": text})
            self._tell({"event": "build", "program": program, "options": options})
        if (program, name) not in self._kernels:
            self._kernels[program, name] = _kernel(source, options, name)
            number = len(self._kernels)
            self._tell({"event": "kernel", "kernel": number, "program": program, "name": name})
        return list(self._kernels).index((program, name)) + 1

    def _tell(self, event: dict[str, Any]) -> None:
        if self._write is not None:
            self._write(json.dumps(event))

    def _keep(self, launch: Launch, number: int) -> None:
        """Keep a launch if it is the largest of its kernel's name so far, and count the others."""
        shown = _shown(launch)
        sizes = self._sizes.setdefault(launch.kernel, {})
        sizes[shown] = sizes.get(shown, 0) + 1
        known = self.launches.get(launch.kernel)
        kernel = list(self._kernels.values())[number - 1]
        found = RecordedLaunch(launch.kernel, launch.global_size, launch.local_size, _texts(kernel, launch))
        kept = found if known is None or found.work_items > known.work_items else known
        kept.times = sum(sizes.values())
        kept.programs = sum(name == launch.kernel for _, name in self._kernels)
        kept_shown = _sizes_text(kept.global_size, kept.local_size)
        kept.others = tuple(f"{it} ({count} times)" for it, count in sizes.items() if it != kept_shown)
        self.launches[launch.kernel] = kept


def _sizes_text(whole: Sequence[int], local: Sequence[int]) -> str:
    groups = f" in groups of {'x'.join(map(str, local))}" if local else ""
    return f"{'x'.join(map(str, whole))}{groups}"


def _shown(launch: Launch) -> str:
    return _sizes_text(launch.global_size, launch.local_size)


def _argument(value: Any) -> RecordedArgument | None:
    """Return an argument as OpenCL gets it; `None` where it cannot be told."""
    import numpy as np
    import pyopencl

    if isinstance(value, pyopencl.LocalMemory):
        return RecordedArgument("local", int(value.size))
    if isinstance(value, bytes):
        return RecordedArgument("value", len(value), value)
    if isinstance(value, (np.generic, np.ndarray)):
        return RecordedArgument("value", value.nbytes, value.tobytes())
    size = getattr(value, "size", None) if isinstance(value, pyopencl.MemoryObjectHolder) else None
    held = getattr(value, "mem", None)
    if size is None and isinstance(held, np.ndarray):
        size = held.nbytes  # Shared virtual memory.
    return RecordedArgument("buffer", int(size)) if size is not None else None


def _launched(launch: Launch) -> dict[str, Any]:
    """Return a launch as the layer of `clmap-lsp record` writes it."""

    def written(it: RecordedArgument | None) -> dict[str, Any] | None:
        if it is None or it.kind != "value":
            return None if it is None else {it.kind: it.size}
        return {"size": it.size, "bytes": it.data.hex()}

    return {
        "global": list(launch.global_size),
        "local": list(launch.local_size) or None,
        "offset": list(launch.global_offset) or None,
        "args": [written(it) for it in launch.arguments],
    }


def _kernel(source: str, options: str, name: str) -> ir.Kernel | None:
    """Return a kernel as the source room reads it, with the macros that it was built with."""
    from clmap_lsp.source.options import BuildOptions, defines_in
    from clmap_lsp.source.read import read_program

    return read_program(source, "program.cl", BuildOptions(defines=defines_in(options))).kernel(name)


def _texts(kernel: ir.Kernel | None, launch: Launch) -> dict[str, str]:
    """Return the arguments as the configuration writes them; names and types are read from the source."""
    texts = {}
    for name, value in (part_from_recording(kernel, launch, "").parsed if kernel else {}).items():
        match value:
            case LocalArgument(count=count):
                texts[name] = f"local({count})"
            case BufferArgument(count=count):
                texts[name] = f"random({count})"
            case ScalarArgument(values=(number,)):
                texts[name] = repr(number)
    return texts


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
    if launch.programs > 1:
        lines.append(
            f"# {launch.programs} programs have a kernel of this name; record into a file that keeps all"
        )
    if launch.others:
        more = " …" if len(launch.others) > _MOST_OTHERS else ""
        lines.append(f"# also {', '.join(launch.others[:_MOST_OTHERS])}{more}")
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
    return text if text.lstrip("-").isdecimal() or "." in text or "e" in text else f'"{text}"'
