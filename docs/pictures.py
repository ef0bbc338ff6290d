"""Draws the pictures of the tutorial and of the start page: `python docs/pictures.py`.

`python docs/pictures.py test-artifacts` cuts the start page's steps out of screenshots of `make editors`.

The files follow light and dark by themselves; their texts hold the figures, and a test compares those.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clmap_lsp.api import analyze
from clmap_lsp.report import html_charts
from clmap_lsp.report.html_svg import standalone

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
DEVICE = "nvidia-hopper"
LADDER = ("simple", "coalesced_a", "coalesced_ab", "coalesced_abt")


_STEPS = {
    "finding": ("hover", (347, 35, 1303, 402)),
    "fixes": ("quickfix", (347, 35, 1261, 477)),
    "fixed": ("fixed", (347, 35, 1263, 320)),
}
"""By picture: its screenshot, 1,500 pixels wide and 900 high, and where the editor is in it."""


def cut(screenshots: Path) -> None:
    """Write the editor with the finding, with what it offers, and with a fix applied."""
    from PIL import Image

    for name, (screenshot, place) in _STEPS.items():
        with Image.open(screenshots / f"vscode-{screenshot}.png") as whole:
            whole.crop(place).quantize(128).save(FOLDER / f"editor_{name}.png", optimize=True)


def pictures() -> Iterator[tuple[str, str]]:
    """Yield (file name, SVG)."""
    for kernel, buffer in (("mm_simple", "A"), ("mm_simple_swapped", "B")):
        yield f"tutorial_{kernel}_{buffer}.svg", _lanes("simple", kernel, buffer)
    for file, stored in (
        ("coalesced_ab", "local_row*16 + local_column"),
        ("coalesced_abt", "local_column*16 + local_row"),
    ):
        kernel = (
            f"mm_{file}_swapped"  # The store, not the loads of the loop: a buffer's name stands for those.
        )
        yield f"tutorial_{kernel}_a_tile.svg", _lanes(file, kernel, f"a_tile[{stored}]")
    yield "tutorial_sectors.svg", _traffic()
    yield "speed_h200.svg", _speed()


def _lanes(file: str, kernel: str, access: str) -> str:
    report = analyze(ROOT / "fixtures" / "matmul" / f"{file}.cl", device=DEVICE, kernel=kernel)
    return report[kernel].picture(access).svg


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
    return standalone(html_charts.traffic("ladder", f"Sectors of global memory: {words}", "sectors", bars))


def speeds() -> list[tuple[str, int]]:
    """Return (label, GFLOP/s) of the naive matrix multiply, N = 2048, of fixes to it and of the search for
    them, as measured (`benchmarks/ladder.py`, `benchmarks/optimise.py`).
    """
    steps = next(it for it in results("ladder")["ladders"] if it["name"] == "matmul, any fix")["steps"]
    best = next(it for it in results("optimise")["cases"] if it["name"] == "matmul")["versions"][1]
    rates = [round(it["gflops"]) for it in steps if not it["alone"]][:3]
    rates.append(round(2 * 2048**3 / best["milliseconds"] / 1e6))
    labels = ("naive matrix multiply", "dimensions swapped", "and loaded by vectors", "clmap-lsp optimise")
    return list(zip(labels, rates, strict=True))


def _speed() -> str:
    """Return the speeds as bars."""
    bars = speeds()
    most = max(rate for _, rate in bars)
    rows = "".join(
        _speed_row(20 + 44 * at, label, rate, rate / most) for at, (label, rate) in enumerate(bars)
    )
    said = "; ".join(f"{label} {rate:,} GFLOP/s" for label, rate in bars)
    return standalone(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 196" role="img" '
        f'aria-label="On an NVIDIA H200: {said}">{rows}</svg>'
    )


def results(name: str) -> dict[str, Any]:
    """Return what a benchmark wrote down on the H200."""
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


if __name__ == "__main__":
    if sys.argv[1:]:
        cut(Path(sys.argv[1]))
    for name, text in pictures():
        (FOLDER / name).write_text(text, encoding="utf-8")
