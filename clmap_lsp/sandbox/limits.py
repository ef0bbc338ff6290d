"""What a process may use: memory, files, sizes. Applied by the process to itself."""

from __future__ import annotations

import sys

from clmap_lsp.dataclass import dataclass

_PARENT_DEATH_SIGNAL = 1


@dataclass(frozen=True, slots=True)
class Limits:
    """Hard limits of a process that runs kernels; a task has softer ones of its own (`EmulationSettings`)."""

    memory_mb: int = 2048
    """Address space beyond what the process holds once it is warm."""
    files: int = 64
    file_size_mb: int = 64


def end_with_parent() -> None:
    """Have the system end this process when whoever started it ends, also while it stands still (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes
    import signal

    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def apply(limits: Limits) -> tuple[str, ...]:
    """Apply the limits to this process. Returns the names of those that this platform does not offer."""
    if sys.platform == "win32":
        return ("memory", "files", "file size", "core")
    import resource

    missing = []
    wanted = {
        "memory": (resource.RLIMIT_AS, _address_space() + limits.memory_mb * 2**20),
        "files": (resource.RLIMIT_NOFILE, limits.files),
        "file size": (resource.RLIMIT_FSIZE, limits.file_size_mb * 2**20),
        "core": (resource.RLIMIT_CORE, 0),
    }
    for name, (kind, value) in wanted.items():
        try:
            _, hard = resource.getrlimit(kind)
            soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (soft, soft))
        except (ValueError, OSError):
            missing.append(name)
    return tuple(missing)


def _address_space() -> int:
    """Return the bytes of address space that this process has mapped; 1 GiB where that cannot be read."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - one line of procfs
            pages = int(statm.read().split()[0])
    except (OSError, ValueError, IndexError):
        return 2**30
    import resource

    return pages * resource.getpagesize()
