"""Processor time and memory of another process, for limits that a busy machine does not bring nearer."""

from __future__ import annotations

import os


def cpu_seconds(pid: int) -> float | None:
    """Return the processor time that a process has used so far; `None` where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:  # noqa: PTH123 - procfs
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def resident_mib(pid: int) -> float | None:
    """Return the memory that a process holds; `None` where the system does not say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii", errors="replace") as statm:  # noqa: PTH123 - procfs
            pages = int(statm.read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except (OSError, ValueError, IndexError):
        return None
