"""Confine this process: limits, what it may ask of the system, and what it may read. For good."""

from __future__ import annotations

import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from clmap_lsp.sandbox import filters, landlock, limits
from clmap_lsp.sandbox.calls import MACHINES, Machine

NEEDED = ("network", "processes", "writing files")
"""What must be refused for a kernel to be run without a person saying that it may be run all the same."""
READING = "reading files"

_SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib")
_SYSTEM_FILES = (
    *("/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo"),
    *(
        "/proc/self/statm",
        "/proc/self/maps",
        "/sys/devices/system/cpu",
        "/usr/share/zoneinfo",
    ),
)

_LISTED = ("/proc/self/task",)
"""Its names tell how many threads there are; what lies below holds its memory, and the network's state."""


def confine(readable: Iterable[str] = (), allowed: limits.Limits | None = None) -> tuple[str, ...]:
    """Confine this process, and return what this platform does not offer of it.

    Threads that were started before stay able to read: start none.

    Args:
        readable: files and folders that may be read besides the interpreter, its packages and the system's
            libraries.
        allowed: limits of the process; memory beyond what it holds now.
    """
    is_held = landlock.apply([*_own_folders(), *readable], listed=_LISTED)
    missing = [] if is_held and not _has_threads() else [READING]
    missing += limits.apply(allowed or limits.Limits())
    machine = this_machine()
    if machine is None or not filters.install(filters.program(machine, os.getpid()), machine):
        missing += NEEDED
    return tuple(missing)


def confine_driver(folder: str) -> tuple[str, ...]:
    """Confine a process that lets a driver compile and run a kernel on this very processor.

    Compilers start linkers and write files: they may, below `folder` alone. There are no sockets, and no
    signals or limits of others.

    Returns: what this platform does not offer.
    """
    reads = ["/dev", "/proc", "/sys", "/etc", "/var/lib", "/tmp/.X11-unix"]
    programs = ["/usr", "/bin", "/lib", "/lib64", "/opt", *_own_folders()]
    writes = [folder, "/dev/null", "/dev/shm"]
    missing = [] if landlock.apply(reads, programs=programs, writable=writes) else [READING, "writing files"]
    machine = this_machine()
    if machine is None or not filters.install(
        filters.program(machine, os.getpid(), for_driver=True), machine
    ):
        missing.append("network")
    return tuple(missing)


def allows_kernels(missing: Iterable[str]) -> bool:
    """Tell whether kernels may run where so much is missing."""
    return not set(missing) & set(NEEDED)


def description() -> str:
    """Return what a process that runs kernels is held to on this platform, for people."""
    if this_machine() is not None:
        reading = (
            "reads the interpreter, its packages and the cache alone (Landlock)"
            if landlock.version()
            else "reading is not restricted (this kernel has no Landlock)"
        )
        return (
            "worker: limits on memory, files and time; seccomp: no network, no processes, no writing of "
            f"files, and what else is not on a list; {reading}"
        )
    if sys.platform == "win32":
        return "worker: limits on time only; this platform offers us no limit on network or files"
    return "worker: limits on memory, files and time; no limit on network or files on this platform"


def this_machine() -> Machine | None:
    """Return the architecture that filters can be made for; `None` elsewhere."""
    if sys.platform != "linux" or struct.calcsize("P") != 8:
        return None
    return MACHINES.get(platform.machine())


def _own_folders() -> list[str]:
    """Return where the interpreter, its packages and the system's libraries lie."""
    package = Path(__file__).resolve().parents[2]
    here = Path.cwd() if _has_folder() else None
    # Of a checkout and of the current folder, which is on the path of `python -m`, the package alone is read.
    # A folder that packages were installed into is not theirs, wherever it lies: `pip install --target`.
    of_others = {here, package} - ({package} if any(package.glob("clmap_lsp-*.dist-info")) else set())
    found: dict[str, None] = dict.fromkeys((*_SYSTEM, *_SYSTEM_FILES))
    for name in ("stdlib", "platstdlib", "purelib", "platlib"):
        found[sysconfig.get_path(name)] = None
    for entry in sys.path:
        path = Path(entry)
        if path.is_absolute() and len(path.parts) > 1 and path not in of_others:
            found[entry] = None
    found[str(package / "clmap_lsp")] = None
    found[str(Path(sys.prefix) / "pyvenv.cfg")] = None
    return list(found)


def _has_threads() -> bool:
    try:
        return len(os.listdir("/proc/self/task")) > 1  # noqa: PTH208 - names only
    except OSError:
        return False


def _has_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True
