"""What holds where nobody said anything else: each default once, for all rooms."""

from __future__ import annotations

from typing import Final

DEVICE: Final = "generic-gpu"
"""The device model that stands for no product."""
STANDARD: Final = "CL1.2"
"""OpenCL C version, as `-cl-std`."""
FAIL_ON: Final = "warning"
"""Least severity that makes `check` exit with 1."""
TIME_LIMIT_S: Final = 10.0
"""How much one launch may do in the emulator, in seconds of work (see `emulator.budget`)."""
MEMORY_LIMIT_MIB: Final = 1024
"""Memory that one launch may take in the emulator."""
WALL_FACTOR: Final = 5
"""A run may take so many times its processor time by the clock: a busy machine changes no result."""
MOST_IN_LOCKSTEP: Final = 1 << 16
"""Work-items in a row that can be taken to run in lockstep: as many as the largest work-group has."""
