"""Pictures of one SIMD group: which work-item touches which sector, or which bank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.analysis.lanes import first_simd_group
from clmap_lsp.counted import counted
from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import BankedLocal
from clmap_lsp.report.html_svg import BAD, GRID, MUTED, SERIES, SHADE, svg
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from clmap_lsp.analysis.model import AccessAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch

Lanes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One way of walking, with the accesses that walk so."""

    accesses: tuple[AccessAnalysis, ...]
    lanes: Lanes
    """Byte addresses from an aligned base; `None` for lanes that are switched off."""
    element_bytes: int
    banked: BankedLocal | None
    granule: int

    @property
    def caption(self) -> str:
        """What there is to see, in a sentence."""
        busy = [it for it in self.lanes if it is not None]
        who = counted(len(busy), "work-item")
        if self.banked is not None:
            stacks = _stacks(self)
            deepest = counted(max(len(it) for it in stacks.values()), "word")
            return f"{who} in {len(stacks)} of {self.banked.banks} banks; {deepest} in the fullest bank"
        touched = _sectors(self)
        used = len({at + byte for at in busy for byte in range(self.element_bytes)})
        moved = len(touched) * self.granule
        sectors = counted(len(touched), "sector")
        return f"{who} touch {sectors}: {used} of {moved} bytes are used ({used / moved:.0%})"


def pictures(
    accesses: Sequence[AccessAnalysis], launch: Launch | None, device: DeviceModel, limit: int
) -> tuple[list[Picture], int]:
    """Return the ways in which a kernel walks memory, costly ones first, and how many were left out."""
    if launch is None:
        return [], 0
    found: dict[tuple[object, ...], list[AccessAnalysis]] = {}
    for it in accesses:
        granule = _granule(it, device)
        banked = _banks(it, device)
        lanes = first_simd_group(it.access, launch, device) if granule or banked else ()
        if any(at is not None for at in lanes):
            found.setdefault((lanes, it.access.size, banked is not None, granule), []).append(it)
    ranked = sorted(found.values(), key=lambda them: -sum(it.share or 0.0 for it in them))
    shown = [
        Picture(
            tuple(them),
            first_simd_group(them[0].access, launch, device),
            them[0].access.size,
            _banks(them[0], device),
            _granule(them[0], device) or 0,
        )
        for them in ranked[:limit]
    ]
    return shown, len(ranked) - len(shown)


def _granule(it: AccessAnalysis, device: DeviceModel) -> int | None:
    if it.access.space is not AddressSpace.GLOBAL:
        return None
    rule = device.global_rule
    return rule.load_granule if it.access.direction.value == "load" else rule.store_granule


def _banks(it: AccessAnalysis, device: DeviceModel) -> BankedLocal | None:
    local = it.access.space is AddressSpace.LOCAL
    return device.local_rule if local and isinstance(device.local_rule, BankedLocal) else None


def _sectors(picture: Picture) -> list[int]:
    """Return the numbers of the sectors that are touched, ascending."""
    size = picture.granule
    return sorted(
        {
            sector
            for at in picture.lanes
            if at is not None
            for sector in range(at // size, (at + picture.element_bytes - 1) // size + 1)
        }
    )


def _stacks(picture: Picture) -> dict[int, dict[int, list[int]]]:
    """Return for each bank the words that lanes want from it, with those lanes."""
    assert picture.banked is not None
    width, banks = picture.banked.bank_bytes, picture.banked.banks
    stacks: dict[int, dict[int, list[int]]] = {}
    for lane, at in enumerate(picture.lanes):
        if at is None:
            continue
        for word in range(at // width, (at + picture.element_bytes - 1) // width + 1):
            stacks.setdefault(word % banks, {}).setdefault(word, []).append(lane)
    return stacks


def draw(name: str, picture: Picture) -> str:
    """Return the picture as SVG."""
    if picture.banked is not None:
        depth = max(len(it) for it in _stacks(picture).values())
        return svg(
            name,
            picture.caption,
            (4.6, min(3.2, 0.9 + 0.16 * max(depth, 4))),
            lambda it: _draw_banks(it, picture),
            fitted=False,
        )
    return svg(name, picture.caption, (4.6, 2.6), lambda it: _draw_sectors(it, picture), fitted=False)


def _draw_sectors(figure: Figure, picture: Picture) -> None:
    """Work-items downwards; touched sectors side by side, whatever lies between them left out."""
    from matplotlib.collections import PolyCollection

    axes = figure.add_axes((0.12, 0.19, 0.86, 0.78))
    places = {sector: number for number, sector in enumerate(_sectors(picture))}
    axes.broken_barh(
        [(number + 0.03, 0.94) for number in places.values()],
        (-0.5, len(picture.lanes)),
        facecolor=SHADE,
        linewidth=0,
    )
    axes.add_collection(
        PolyCollection(
            [
                _box(left, lane - 0.5, width, 1)
                for lane, at in enumerate(picture.lanes)
                if at is not None
                for left, width in _pieces(at, picture, places)
            ],
            facecolor=SERIES[0],
            linewidth=0,
        )
    )
    for left, right in zip(list(places)[:-1], list(places)[1:], strict=True):
        if right != left + 1 and len(places) <= 40:
            axes.axvline(places[right], color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    _finish(axes, len(places), len(picture.lanes))
    gaps = any(b != a + 1 for a, b in zip(list(places)[:-1], list(places)[1:], strict=True))
    noun = f"sectors of {picture.granule} bytes"
    axes.set_xlabel(f"{noun}, gaps between them left out" if gaps else noun)
    axes.set_ylabel("work-item")
    axes.invert_yaxis()


def _pieces(at: int, picture: Picture, places: dict[int, int]) -> Iterator[tuple[float, float]]:
    """Yield where an element lies in the picture: one piece in each sector."""
    size, end = picture.granule, at + picture.element_bytes
    while at < end:
        sector = at // size
        stop = min(end, (sector + 1) * size)
        # A byte of 32 in one of 32 sectors would be thinner than a line.
        width = max((stop - at) / size, 0.12)
        yield places[sector] + 0.03 + 0.94 * min((at % size) / size, 1 - width), 0.94 * width
        at = stop


def _draw_banks(figure: Figure, picture: Picture) -> None:
    """Banks side by side; above each the words that must pass through it, one after the other."""
    from matplotlib.collections import PolyCollection
    from matplotlib.ticker import MaxNLocator

    assert picture.banked is not None
    stacks = _stacks(picture)
    depth = max(len(it) for it in stacks.values())
    axes = figure.add_axes((0.12, 0.34 if depth <= 4 else 0.19, 0.86, 0.6 if depth <= 4 else 0.78))
    # The first word of a bank is what any access needs; those on top of it are the conflict.
    for colour, first, last in ((SERIES[0], 0, 1), (BAD, 1, depth)):
        boxes = [
            _box(bank + 0.06, number + 0.06, 0.88, 0.88)
            for bank, words in stacks.items()
            for number in range(first, min(last, len(words)))
        ]
        axes.add_collection(PolyCollection(boxes, facecolor=colour, linewidth=0))
    axes.set_xlim(0, picture.banked.banks)
    axes.set_ylim(0, max(depth, 4))
    axes.set_xlabel("bank")
    axes.set_ylabel("words")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(length=0)
    axes.grid(axis="y")
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_color(GRID)


def _box(left: float, low: float, width: float, height: float) -> list[tuple[float, float]]:
    """Return the corners of a rectangle."""
    return [(left, low), (left + width, low), (left + width, low + height), (left, low + height)]


def _finish(axes: Axes, n_columns: int, n_lanes: int) -> None:
    axes.set_xlim(0, max(n_columns, 4))
    axes.set_ylim(-0.5, n_lanes - 0.5)
    step = max(1, -(-n_columns // 8))
    axes.set_xticks(
        [it + 0.5 for it in range(0, n_columns, step)], [str(it + 1) for it in range(0, n_columns, step)]
    )
    axes.set_yticks(sorted({0, n_lanes // 4, n_lanes // 2, 3 * n_lanes // 4, n_lanes - 1}))
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
