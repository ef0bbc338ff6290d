"""A recording, read: programs by hash and the different launches of their kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.strange_json import parsed

START = b'{"event":'
"""What every recording begins with, as `layer.c` writes it."""


class RecordingError(Exception):
    """A file that is no recording; the text says why, with the line."""


@dataclass(frozen=True, slots=True)
class RecordedArgument:
    """One argument: of a buffer and of local memory the size in bytes, of all else its bytes."""

    kind: str
    """`buffer`, `local` or `value`."""
    size: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """One launch, and how often it was made. `local_size` is empty where NULL was passed."""

    kernel: str
    program: str
    """Hash of the program's source."""
    options: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    global_offset: tuple[int, ...]
    arguments: tuple[RecordedArgument | None, ...]
    times: int = 1

    @property
    def work_items(self) -> int:
        """Number of work-items."""
        total = 1
        for size in self.global_size:
            total *= size
        return total


@dataclass(frozen=True, slots=True)
class Recording:
    """Sources by hash, and every different launch in the order in which it was first made."""

    sources: Mapping[str, str] = field(default_factory=dict)
    launches: tuple[RecordedLaunch, ...] = ()

    def of_kernel(self, name: str, text: str) -> RecordedLaunch | None:
        """Return the launch of a kernel of a file: of its own program if that was seen; the largest."""
        named = [it for it in self.launches if it.kernel == name]
        own = [it for it in named if _same(self.sources.get(it.program, ""), text)]
        return max(own or named, key=lambda it: it.work_items, default=None)


def _same(source: str, text: str) -> bool:
    """Tell whether a program was made of a file's text, perhaps among others."""
    one, two = "".join(source.split()), "".join(text.split())
    return bool(two) and two in one


def read_recording(text: str, name: str) -> Recording:
    """Read the lines that the layer wrote; a last line that was cut short is left out.

    Raises: RecordingError.
    """
    sources: dict[str, str] = {}
    programs: dict[int, tuple[str, str]] = {}
    kernels: dict[int, tuple[str, int]] = {}
    launches: dict[RecordedLaunch, int] = {}
    lines = text.splitlines()
    for row, line in enumerate(lines, start=1):
        try:
            event = parsed(line) if line.strip() else {}
            _take(event, sources, programs, kernels, launches)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if row == len(lines) and row > 1:
                break
            raise RecordingError(f"{name}:{row}: not a recording; make one with clmap-lsp record") from error
    from dataclasses import replace

    return Recording(sources, tuple(replace(it, times=times) for it, times in launches.items()))


def _take(
    event: dict[str, Any],
    sources: dict[str, str],
    programs: dict[int, tuple[str, str]],
    kernels: dict[int, tuple[str, int]],
    launches: dict[RecordedLaunch, int],
) -> None:
    match event.get("event"):
        case "program":
            source = _text(event["source"])
            key = hashlib.sha256(source.encode()).hexdigest()
            sources[key] = source
            programs[event["program"]] = key, ""
        case "build":
            known = programs.get(event["program"])
            if known is not None:
                programs[event["program"]] = known[0], _text(event["options"])
        case "kernel":
            kernels[event["kernel"]] = _text(event["name"]), event["program"]
        case "launch":
            kernel, program = kernels[event["kernel"]]
            key, options = programs.get(program, ("", ""))
            launch = RecordedLaunch(
                kernel,
                key,
                options,
                tuple(event["global"] or ()),
                tuple(event["local"] or ()),
                tuple(event["offset"] or ()),
                tuple(map(_argument, event["args"])),
            )
            launches[launch] = launches.get(launch, 0) + 1
        case None if event:
            raise ValueError(event)


def _text(written: str) -> str:
    """Put UTF-8 together again, of which each byte was written as a character."""
    return written.encode("latin-1", "replace").decode("utf-8", "replace")


def _argument(written: dict[str, Any] | None) -> RecordedArgument | None:
    if written is None:
        return None
    if "local" in written:
        return RecordedArgument("local", int(written["local"]))
    if "buffer" in written:
        return RecordedArgument("buffer", int(written["buffer"]))
    return RecordedArgument("value", int(written["size"]), bytes.fromhex(written["bytes"]))
