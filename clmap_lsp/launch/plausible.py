"""Other launches that a kernel may as well have, where parts of its launch were guessed.

What a rule finds on all of them does not hang on the guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from clmap_lsp.launch.clues import find_clues
from clmap_lsp.launch.model import Argument, Launch, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.source import ir

_SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((64,), (128,), (256,)),
    2: ((256, 1), (1, 256), (16, 16), (32, 8), (64, 4)),
    3: ((64, 1, 1), (8, 8, 4), (16, 16, 1), (1, 1, 64)),
}
"""Shapes of work-groups that programs are seen to use."""
_LEAST = 8
"""Smaller scalars are factors and flags, not sizes."""


@dataclass(frozen=True, slots=True)
class Plausible:
    """Another launch: what it fixes, and the guess that it takes the place of, for people."""

    launch: PartialLaunch
    instead_of: str
    """`the local size is 16x16`, `N is 256`."""


def plausible(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    """Yield other values of what was guessed in a launch: group shapes, then scalars."""
    yield from _shapes(kernel, launch)
    yield from _scalars(kernel, launch)


def _known(launch: Launch) -> dict[str, Argument]:
    return {name: it for name, it in launch.arguments.items() if name not in launch.inferred}


def _shapes(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    if "local" not in launch.inferred or kernel.attributes.reqd_work_group_size:
        return
    if find_clues(kernel).local_sizes:
        return  # Arrays in local memory, or tiles, say the size.
    n = len(launch.local_size)
    fixed = () if "global" in launch.inferred else launch.global_size
    for shape in _SHAPES[n]:
        if shape != launch.local_size and (
            not fixed or all(g % x == 0 for g, x in zip(fixed, shape, strict=True))
        ):
            part = PartialLaunch(
                kernel.name, fixed or launch.global_size, shape, parsed=_known(launch), origin=Origin.GIVEN
            )
            yield Plausible(part, f"the local size is {'x'.join(map(str, launch.local_size))}")


def _scalars(kernel: ir.Kernel, launch: Launch) -> Iterator[Plausible]:
    """Yield one launch in which every guessed size is a little less, and so no power of two."""
    guessed = {
        name: it
        for name, it in launch.arguments.items()
        if name in launch.inferred and isinstance(it, ScalarArgument) and len(it.values) == 1
    }
    sizes = {
        name: it for name, it in guessed.items() if isinstance(it.values[0], int) and it.values[0] >= _LEAST
    }
    if not sizes:
        return
    others = {name: replace(it, values=(int(it.values[0]) - 1,)) for name, it in sizes.items()}
    parsed: dict[str, Argument] = {**_known(launch), **others}
    part = PartialLaunch(
        kernel.name, launch.global_size, launch.local_size, parsed=parsed, origin=Origin.GIVEN
    )
    listed = ", ".join(f"{name} is {it.values[0]}" for name, it in sizes.items())
    yield Plausible(part, listed)
