"""Draws the pictures of the tutorial and of the start page: `python docs/pictures.py`.

The files follow light and dark by themselves; their texts hold the figures, and a test compares those.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clmap_lsp.api import analyze
from clmap_lsp.report import html_charts, html_lanes

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
DEVICE = "nvidia-hopper"
LADDER = ("simple", "coalesced_a", "coalesced_ab", "coalesced_abt")
_LIGHT = (
    "--ink:#1a1d21;--muted:#5c6570;--grid:#dfe3e8;--shade:#e3e7ec;--good:#5b8db8;--bad:#c2511f;--s1:#1f6fb2"
)
_DARK = (
    "--ink:#e6e9ed;--muted:#a0a9b4;--grid:#444c57;--shade:#39414c;--good:#5d93c4;--bad:#ee8a56;--s1:#66aef0"
)
_STYLE = (
    f"<style>:root{{{_LIGHT};font-family:sans-serif}}"
    f"@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}</style>"
)


def pictures() -> Iterator[tuple[str, str]]:
    """Yield (file name, SVG)."""
    for kernel, buffer in (("mm_simple", "A"), ("mm_simple_swapped", "B")):
        yield f"tutorial_{kernel}_{buffer}.svg", _lanes("simple", kernel, buffer)
    yield (
        "tutorial_mm_coalesced_ab_swapped_a_tile.svg",
        _lanes("coalesced_ab", "mm_coalesced_ab_swapped", "a_tile"),
    )
    yield (
        "tutorial_mm_coalesced_abt_swapped_a_tile.svg",
        _lanes("coalesced_abt", "mm_coalesced_abt_swapped", "a_tile"),
    )
    yield "tutorial_sectors.svg", _traffic()
    yield "speed_h200.svg", _speed()


def _lanes(file: str, kernel: str, buffer: str) -> str:
    report = analyze(ROOT / "fixtures" / "matmul" / f"{file}.cl", device=DEVICE, kernel=kernel)
    analysis = report[kernel].analysis
    accesses = [it for it in analysis.accesses if it.access.buffer == buffer]
    shown, _ = html_lanes.pictures(accesses, analysis.launch, report.analysis.device, 1)
    return _alone(html_lanes.draw(f"{kernel}-{buffer}", shown[0]))


def _traffic() -> str:
    """Return the sectors of the ladder, each step in both orders."""
    bars = []
    for file in LADDER:
        for kernel in analyze(ROOT / "fixtures" / "matmul" / f"{file}.cl", device=DEVICE):
            ideal = sum(
                it.per_request.ideal * it.totals.requests
                for it in kernel.analysis.accesses
                if it.per_request and it.totals and it.access.space.value == "global"
            )
            bars.append(html_charts.Bar(kernel.name, ideal, kernel.sectors))
    words = "; ".join(f"{it.label} {html_charts.short(it.count)}" for it in bars)
    return _alone(html_charts.traffic("ladder", f"Sectors of global memory: {words}", "sectors", bars))


def _speed() -> str:
    """Return what fixes do to the naive matrix multiply, and the search for them, N = 2048, as measured
    (`benchmarks/ladder.py`, `benchmarks/optimise.py`)."""
    steps = next(it for it in _results("ladder")["ladders"] if it["name"] == "matmul, any fix")["steps"]
    best = next(it for it in _results("optimise")["cases"] if it["name"] == "matmul")["versions"][1]
    rates = [round(it["gflops"]) for it in steps if not it["alone"]][:3]
    rates.append(round(2 * 2048**3 / best["milliseconds"] / 1e6))
    labels = ("naive matrix multiply", "dimensions swapped", "and loaded by vectors", "clmap-lsp optimise")
    rows = "".join(
        _speed_row(20 + 44 * at, label, rate, rate / max(rates))
        for at, (label, rate) in enumerate(zip(labels, rates, strict=True))
    )
    said = "; ".join(f"{label} {rate:,} GFLOP/s" for label, rate in zip(labels, rates, strict=True))
    return _alone(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 196" role="img" '
        f'aria-label="On an NVIDIA H200: {said}">{rows}</svg>'
    )


def _results(name: str) -> dict[str, Any]:
    path = ROOT / "benchmarks" / "results" / f"{name}_h200.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _speed_row(top: int, label: str, rate: int, share: float) -> str:
    width = round(400 * share)
    middle = top + 19
    return (
        f'<text x="190" y="{middle}" text-anchor="end" font-size="15" fill="var(--ink)">{label}</text>'
        f'<rect x="202" y="{top}" width="{width}" height="28" rx="3" fill="var(--s1)"/>'
        f'<text x="{212 + width}" y="{middle}" font-size="15" fill="var(--ink)">{rate:,}</text>'
    )


def _alone(svg: str) -> str:
    """Return an SVG that stands in its own file."""
    head, tag, rest = svg.partition(">")
    return f"{head}{tag}\n{_STYLE}{rest}\n"


if __name__ == "__main__":
    for name, text in pictures():
        (FOLDER / name).write_text(text, encoding="utf-8")
