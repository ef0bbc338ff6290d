"""The report's charts: traffic by kernel, locality curves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.report.html_svg import BAD, GOOD, INK, MUTED, SERIES, svg
from clmap_lsp.time.wording import seconds_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOG_FROM = 20
"""Times that a bar must be as long as another one for a scale of powers."""
MAX_BARS = 30
"""Kernels in the traffic chart; the table has all."""
MAX_LINES = len(SERIES)
"""Kernels that the comparison of curves names."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One kernel's traffic: what its requests need at best, and what they move."""

    label: str
    ideal: float
    count: float


def traffic(name: str, title: str, unit: str, bars: Sequence[Bar]) -> str:
    """Return horizontal bars: the ideal, and what comes on top of it."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = range(len(bars))
        axes.barh(places, [it.ideal for it in bars], color=GOOD, height=0.62)
        axes.barh(
            places,
            [max(it.count - it.ideal, 0) for it in bars],
            left=[it.ideal for it in bars],
            color=BAD,
            height=0.62,
            alpha=0.85,
        )
        words = (f"{it.count / it.ideal if it.ideal else 1.0:.3g}x" for it in bars)
        _name_bars(axes, [it.label for it in bars], [it.count for it in bars], words)
        axes.set_xlabel(f"{unit}: needed at best, and on top of that")
        axes.xaxis.set_major_formatter(_short)
        axes.grid(axis="x")
        axes.tick_params(length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.margins(x=0.09, y=0.02)

    return svg(name, title, (9.6, 0.8 + 0.3 * len(bars)), draw)


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One version of a kernel: what was done, what it takes, and the words behind its bar."""

    label: str
    value: float
    words: str


def ladder(name: str, title: str, unit: str, steps: Sequence[LadderStep]) -> str:
    """Return a bar for each version of a kernel, the one as it is first and the best last."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = range(len(steps))
        values = [it.value for it in steps]
        colours = [BAD, *(MUTED for _ in steps[2:]), GOOD][-len(steps) :]
        axes.barh(places, values, color=colours, height=0.55, alpha=0.85)
        labels = [textwrap.fill(it.label, 42) for it in steps]
        _name_bars(axes, labels, values, (it.words for it in steps))
        if max(values) > _LOG_FROM * min(values):
            axes.set_xscale("log")
            axes.set_xlim(left=min(values) / 3)
        axes.set_xlabel(unit)
        axes.xaxis.set_major_formatter(_time if unit.startswith("predicted time") else _short)
        axes.xaxis.set_minor_formatter("")
        axes.grid(axis="x")
        axes.tick_params(length=0)
        axes.tick_params(which="minor", length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.margins(x=0.3, y=0.05)

    return svg(name, title, (9.6, 0.9 + 0.5 * len(steps)), draw)


def _name_bars(axes: Axes, labels: Sequence[str], ends: Sequence[float], words: Iterable[str]) -> None:
    """Name horizontal bars at their left, the first on top, and write words behind the end of each."""
    for at, (end, text) in enumerate(zip(ends, words, strict=True)):
        axes.annotate(
            text, (end, at), xytext=(5, 0), textcoords="offset points", va="center", color=INK, fontsize=9
        )
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()


def curves(
    name: str, title: str, label: str, first: int, lines: Sequence[tuple[str, Sequence[float]]], *, wide: bool
) -> str:
    """Return curves over the number of dropped address bits, named at the side if there are several.

    Args:
        first: bits dropped at the first value: 0 for PSL, 1 for LMAE.
        wide: of the width of the page, with names; otherwise half of it.
    """

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot() if wide else figure.add_axes((0.13, 0.2, 0.85, 0.77))
        for number, (text, values) in enumerate(lines):
            places = range(first, first + len(values))
            style = ("-", "--", "-.", ":")[number % 4] if len(lines) > 1 else "-"
            axes.plot(
                places,
                values,
                color=SERIES[number % len(SERIES)],
                linestyle=style,
                marker="o",
                markersize=3.5,
                linewidth=1.8,
                label=text,
            )
        _curve_axes(axes, label, first, lines)
        if len(lines) > 1:
            figure.legend(
                *axes.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=9
            )

    return svg(name, title, (9.6, 3.2) if wide else (4.6, 2.5), draw, fitted=wide)


def _curve_axes(axes: Axes, label: str, first: int, lines: Sequence[tuple[str, Sequence[float]]]) -> None:
    last = max(first + len(values) for _, values in lines) - 1
    axes.set_xticks(range(first, last + 1))
    axes.set_xlabel("address bits dropped (block of 2^n bytes)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0, top=max(1.0, 1.08 * max(max(values) for _, values in lines)))
    axes.grid(axis="y")
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)


def _short(value: float, _position: Any = None) -> str:
    """Write 33554432 as `33.6M`."""
    for power, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= power:
            return f"{value / power:.3g}{letter}"
    return f"{value:.3g}"


def _time(value: float, _position: Any = None) -> str:
    return seconds_text(value)


def short(value: float) -> str:
    """Write a large number with three figures and a letter: `33.6M`."""
    return _short(value)


__all__ = [
    "INK",
    "MAX_BARS",
    "MAX_LINES",
    "MUTED",
    "Bar",
    "LadderStep",
    "curves",
    "ladder",
    "short",
    "traffic",
]
