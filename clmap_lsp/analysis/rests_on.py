"""What a kernel's figures rest on: its launch, guesses, and what the engine that counts takes for granted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import OFFSET, BufferArgument, Launch, Origin, ScalarArgument

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.analysis.costs import LaunchCosts
    from clmap_lsp.source.ir import Kernel

Kind = Literal[
    "macro",
    "scalar",
    "image",
    "global",
    "local",
    "offset",
    "buffer",
    "alignment",
    "aliasing",
    "float",
    "contents",
]
GUESSED = "guessed"
"""The origin of what nobody said; all other origins are known."""


@dataclass(frozen=True, slots=True)
class RestsOn:
    """One thing that a figure holds for. `value` is for a person."""

    kind: Kind
    name: str
    value: str
    origin: str
    """`given`, `configured`, `host`, `host default`, `recorded` or `guessed`."""

    def describe(self) -> str:
        """Return it in words: `STRIDE=16`, `im=64x64`, `buffers start at a multiple of every granule`."""
        if self.kind in ("macro", "scalar", "image"):
            return f"{self.name}={self.value}"
        return f"{self.name} {self.value}"


def rests_on(
    kernel: Kernel, launch: Launch | None, accesses: tuple[Access, ...], costs: LaunchCosts | None
) -> tuple[RestsOn, ...]:
    """Return what the figures of a kernel rest on, shortest first."""
    found = [*_macros(kernel)]
    if launch is not None:
        found += _launch(launch, kernel)
    if costs is not None:
        found += _taken_for_granted(accesses, costs, launch)
    return tuple(sorted(found, key=lambda it: (len(it.describe()), it.describe())))


def _macros(kernel: Kernel) -> Iterator[RestsOn]:
    for guess in kernel.guesses:
        if guess.value is not None:
            yield RestsOn("macro", guess.name, guess.value, GUESSED)


def _launch(launch: Launch, kernel: Kernel) -> Iterator[RestsOn]:
    yield RestsOn("global", "global size", _sizes(launch.global_size), _origin(launch, "global"))
    yield RestsOn("local", "local size", _sizes(launch.local_size), _origin(launch, "local"))
    if launch.global_offset:
        yield RestsOn("offset", OFFSET, _sizes(launch.global_offset), _origin(launch, OFFSET))
    from clmap_lsp.emulator.symbolic.needs import needs_of  # NumPy is not needed to start.

    asked = {it.name for it in needs_of(kernel).variables}  # What addresses and branches depend on.
    for name, argument in launch.arguments.items():
        if isinstance(argument, ScalarArgument) and name in asked:
            values = ",".join(map(str, argument.values))
            yield RestsOn("scalar", name, values, _origin(launch, name))
        elif isinstance(argument, BufferArgument) and argument.sides and name in asked:
            yield RestsOn("image", name, _sizes(argument.sides), _origin(launch, name))


def _taken_for_granted(
    accesses: tuple[Access, ...], costs: LaunchCosts, launch: Launch | None
) -> Iterator[RestsOn]:
    if any(it.space.value == "global" for it in accesses):
        yield RestsOn("alignment", "buffers", "start at a multiple of every granule", GUESSED)
    if costs.rounds_floats:
        yield RestsOn("float", "floats", "are rounded as IEEE 754 says, uncontracted", GUESSED)
    writes = any(it.direction.value != "load" and it.space.value == "global" for it in accesses)
    for name in sorted(costs.contents):
        argument = None if launch is None else launch.arguments.get(name)
        origin = GUESSED if launch is None else _origin(launch, name)
        yield RestsOn("contents", name, f"holds {argument}", origin)
        if writes:
            yield RestsOn("aliasing", name, "overlaps nothing that the kernel writes", GUESSED)


def _sizes(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


def _origin(launch: Launch, part: str) -> str:
    if part in launch.inferred:
        return GUESSED
    origin = launch.origins.get(part, launch.origin)
    return GUESSED if origin is Origin.INFERRED else origin.value
