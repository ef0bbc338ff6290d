"""What host code launches, in words for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.hosts.host_launch import HostLaunch, HostValue


def shape(launch: HostLaunch) -> str:
    """Return the sizes of a launch: `1024 x (n + 1) in groups of 16 x 16`."""
    whole = _sides(launch.global_size)
    if launch.offset:
        whole += f" from {_sides(launch.offset)}"
    if all(it is None for it in launch.local_size):
        return f"{whole}, groups left to the driver (NULL)"
    return f"{whole} in groups of {_sides(launch.local_size)}"


def _sides(sizes: Sequence[HostValue | None]) -> str:
    """Return sizes side by side; of several, what is put together stands in brackets."""
    sides = [(it, shown(it) if it else "NULL") for it in sizes]
    if len(sides) == 1:
        return sides[0][1]
    return " x ".join(
        _bracketed(it, text) if it and _OPERATOR.search(it.text) else text for it, text in sides
    )


_OPERATOR = re.compile(r"\s[-+*/%<>=&|^?]+\s")


def _bracketed(value: HostValue, text: str) -> str:
    return f"({value.text}){text.removeprefix(value.text)}"


def shown(value: HostValue) -> str:
    """Return a number, or an expression with what it is by default: `n [256]`."""
    if value.number is not None:
        return str(value.number)
    return f"{value.text} [{value.default}]" if value.default is not None else value.text
