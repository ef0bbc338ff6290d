"""Reads and writes of images: which texels, how the ids walk them, and what a SIMD group touches at once.

What that costs is not said: how devices lay texels out, and how many of them a line of their caches holds, is
not published for any device model here; it also hangs on the format, which the host gives.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from clmap_lsp.access.classify import Classified, classify
from clmap_lsp.access.polynomial import varies_in_launch
from clmap_lsp.analysis.costs import NEVER
from clmap_lsp.analysis.stride import moved_by
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.images import ImageCount, Spread
from clmap_lsp.exactness import Exactness

if TYPE_CHECKING:
    from clmap_lsp.access.facts import Facts
    from clmap_lsp.access.polynomial import Polynomial
    from clmap_lsp.access.records import Access, AccessSummary
    from clmap_lsp.analysis.costs import LaunchCosts
    from clmap_lsp.launch.model import Launch

AXES: Final = "xyz"


@dataclass(frozen=True, slots=True)
class Step:
    """How far a coordinate moves from one work-item to the next; `None`: not the same for all of them."""

    text: str | None
    value: int | None


@dataclass(frozen=True, slots=True)
class ImageAnalysis:
    """One read or write of an image over a launch."""

    access: Access
    classified: Classified
    """Its coordinates as M and o, outermost first."""
    count: ImageCount
    steps: tuple[tuple[Step, ...], ...]
    """By dimension of the launch (0, 1, 2), the steps of x, y and z; empty where the texel is not known."""
    along: int = 0
    """The dimension in which work-items of a SIMD group follow each other."""

    @property
    def is_never_executed(self) -> bool:
        """True if it is known that no work-item of the launch executes it."""
        return self.count.method is Exactness.EXACT and not self.count.requests

    @property
    def request_text(self) -> str | None:
        """What a request touches, in words: `32 texels in 1 row, a box of 32x1`; `None` where unknown."""
        found = self.count
        if found.texels is None or found.rows is None or found.box is None:
            return None
        if found.texels.max == 1:
            return "1 texel"
        n = max(len(self.access.coordinates), 1)
        box = f", a box of {'x'.join(map(str, found.box[:n]))}" if n > 1 else ""
        rows = f" in {_amount(found.rows, 'row')}" if n > 1 else ""
        return f"{_amount(found.texels, 'texel')}{rows}{box}"

    @property
    def missing(self) -> str:
        """What stands in the place of the figures where there are none."""
        reason = self.count.reason or ""
        return reason if self.is_never_executed else f"unknown: {reason}"

    def axis_of(self, dimension: int) -> str | None:
        """Return the one coordinate in which neighbours along a dimension differ; `None`: none or several."""
        if dimension >= len(self.steps):
            return None
        moving = [AXES[at] for at, it in enumerate(self.steps[dimension]) if it.text != "0"]
        known = all(it.text is not None for it in self.steps[dimension])
        return moving[0] if len(moving) == 1 and known else None


def images_of(
    summary: AccessSummary, launch: Launch | None, facts: Facts, costs: LaunchCosts | None
) -> tuple[ImageAnalysis, ...]:
    """Return what is known of a kernel's images, in the order of the source."""
    if not summary.images:
        return ()
    classified = classify(dataclasses.replace(summary, accesses=summary.images), launch=launch)
    n_dimensions = len(launch.global_size) if launch is not None else summary.n_dimensions
    local = () if launch is None else launch.local_size
    along = next((d for d, size in enumerate(local) if size > 1), 0)
    found = [
        ImageAnalysis(it.access, it, _count(it.access, costs), _steps(it.access, n_dimensions, facts), along)
        for it in classified
    ]
    return tuple(sorted(found, key=lambda it: it.access.site))


def _amount(spread: Spread, noun: str) -> str:
    return f"{spread.mean:.4g} {noun}{'' if spread.min == spread.max == 1 else 's'}"


def _count(access: Access, costs: LaunchCosts | None) -> ImageCount:
    if costs is None:
        return ImageCount(Exactness.UNKNOWN, "there is no launch")
    known = costs.images.get(access.site)
    if known is not None:
        return known
    if costs.bail is not None:
        return ImageCount(Exactness.UNKNOWN, costs.bail)
    if costs.sample is not None:
        return ImageCount(Exactness.SAMPLED, costs.sample)
    return ImageCount(Exactness.EXACT, NEVER)


def _steps(access: Access, n_dimensions: int, facts: Facts) -> tuple[tuple[Step, ...], ...]:
    if access.unknown is not None:
        return ()
    return tuple(
        tuple(_step(access, it, dimension, facts) for it in access.coordinates)
        for dimension in range(n_dimensions)
    )


def _step(access: Access, coordinate: Polynomial, dimension: int, facts: Facts) -> Step:
    distance = moved_by(coordinate, dimension)
    if distance is None or varies_in_launch(distance):
        return Step(None, None)
    return Step(access.text(distance), facts.number(distance))
