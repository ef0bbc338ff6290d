"""The words that run-time library code is written in.

A function of the library is Python with annotations from here; `compiler.py` turns it into machine code. It
has 64-bit integers (`/` is absent, `//` and `%` are unsigned, `>>` shifts in zeros, comparisons are signed),
doubles, and pointers whose elements are read and written by subscripts. The class bodies below exist for type
checkers and readers; the compiler knows the names.
"""

from __future__ import annotations

from typing import NoReturn


class Words:
    """A pointer to 64-bit integers."""

    def __getitem__(self, index: int) -> int:
        raise _compiled_only()

    def __setitem__(self, index: int, value: int) -> None:
        raise _compiled_only()


class HalfWords:
    """A pointer to unsigned 32-bit integers."""

    def __getitem__(self, index: int) -> int:
        raise _compiled_only()

    def __setitem__(self, index: int, value: int) -> None:
        raise _compiled_only()


class Bytes:
    """A pointer to unsigned bytes."""

    def __getitem__(self, index: int) -> int:
        raise _compiled_only()

    def __setitem__(self, index: int, value: int) -> None:
        raise _compiled_only()


class Doubles:
    """A pointer to doubles."""

    def __getitem__(self, index: int) -> float:
        raise _compiled_only()

    def __setitem__(self, index: int, value: float) -> None:
        raise _compiled_only()


def words(address: int) -> Words:
    """Read an integer as a pointer."""
    raise _compiled_only()


def half_words(address: int) -> HalfWords:
    """Read an integer as a pointer."""
    raise _compiled_only()


def byte_pointer(address: int) -> Bytes:
    """Read an integer as a pointer."""
    raise _compiled_only()


def doubles(address: int) -> Doubles:
    """Read an integer as a pointer."""
    raise _compiled_only()


def below(left: int, right: int) -> bool:
    """Compare as unsigned integers."""
    raise _compiled_only()


def log2(value: float) -> float:
    """Return the logarithm to base 2."""
    raise _compiled_only()


def call_kernel(function: int, state: Words, frame: Words, count: int) -> int:
    """Call a kernel's code for work-items from a frame on."""
    raise _compiled_only()


def call_rows(function: int, state: Words, frame: Words) -> int:
    """Call the machine code at `function`."""
    raise _compiled_only()


def _compiled_only() -> NoReturn:
    message = "this function is compiled to machine code; it cannot run as Python"
    raise TypeError(message)
