"""Show a sweep: a table with bars for a terminal, JSON, and a chart as SVG or HTML."""

from __future__ import annotations

import html as markup
import json
from collections.abc import Sequence

from clmap_lsp.aristotle.records import StridePoint, as_row

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 48, 52


def latest_sweep(points: Sequence[StridePoint], platform: str | None) -> list[StridePoint]:
    """Return one sweep: of the platform that `platform` names in part, with the most index bits.

    Raises: ValueError if there is none.
    """
    wanted = (platform or "").casefold()
    matching = [it for it in points if wanted in it.platform.casefold()]
    if not matching:
        known = sorted({it.platform for it in points})
        there = f"; there are {'; '.join(known)}" if known else ""
        raise ValueError(f"no recorded sweep fits{there}; measure one with: clmap-lsp strides")
    first = max(matching, key=lambda it: (it.platform, it.index_bits, it.group))
    same = (
        first.platform,
        first.index_bits,
        first.grid_bits,
        first.group,
        first.vector,
        first.op,
        first.order,
    )
    return sorted(
        (
            it
            for it in matching
            if (it.platform, it.index_bits, it.grid_bits, it.group, it.vector, it.op, it.order) == same
            and it.cache == first.cache
        ),
        key=lambda it: it.exponent,
    )


def title(points: Sequence[StridePoint]) -> str:
    """Return what a sweep is of, in one line."""
    first = points[0]
    kind = first.element if first.vector == 1 else f"{first.element}{first.vector}"
    mib = first.buffer_bytes / (1 << 20)
    return (
        f"{first.platform}: {first.op} of 2^{first.index_bits} {kind} ({mib:g} MiB) by 2^{first.grid_bits}"
        f" work-items in groups of {first.group}, {first.order}, {first.cache} cache"
    )


def as_text(points: Sequence[StridePoint]) -> str:
    """Return the curve as a table with a bar for each exponent, the plain copy's rate as its full length."""
    roofline = points[0].roofline
    top = max([roofline, *(it.median for it in points)])
    rows = [("exponent", "stride", "GB/s", "deviation", "runs", "of copy", "")]
    for it in points:
        rate = (f"{it.median:.1f}", f"{it.deviation:.1f}", str(it.runs), f"{it.median / it.roofline:.0%}")
        rows.append(
            (str(it.exponent), str(1 << it.exponent), *rate, "█" * max(1, round(30 * it.median / top)))
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = ["  ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip() for row in rows]
    copied = f"plain copy on the same buffers: {roofline:.1f} GB/s (read and written bytes)"
    return "\n".join([title(points), *lines, copied]) + "\n"


def as_json(points: Sequence[StridePoint]) -> str:
    """Return the curve as a JSON document."""
    document = {"schema": 1, "title": title(points), "points": [as_row(it) for it in points]}
    return json.dumps(document, indent=2)


def svg(points: Sequence[StridePoint]) -> str:
    """Return a chart: bandwidth over the stride exponent, with spread, and the plain copy as a line."""
    top = _round_up(max([points[0].roofline, *(it.maximum for it in points)]))
    last = points[-1].exponent or 1

    def x(exponent: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * exponent / last

    def y(rate: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * rate / top

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>{markup.escape(title(points))}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="11" fill="#222222">{markup.escape(title(points))}</text>',
    ]
    for tick in range(6):
        rate = top * tick / 5
        lines.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 6}" y="{y(rate) + 4:.1f}" text-anchor="end" fill="#444444">{rate:g}</text>'
        )
    for it in points:
        lines.append(
            f'<text x="{x(it.exponent):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle"'
            f' fill="#444444">{it.exponent}</text>'
        )
    roof = points[0].roofline
    path = " ".join(f"{x(it.exponent):.1f},{y(it.median):.1f}" for it in points)
    lines += [
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(roof):.1f}" y2="{y(roof):.1f}" stroke="#c2410c"'
        ' stroke-dasharray="6 4"/>',
        f'<text x="{WIDTH - RIGHT}" y="{y(roof) - 5:.1f}" text-anchor="end" fill="#c2410c">plain copy'
        f" {roof:.0f} GB/s</text>",
        f'<polyline points="{path}" fill="none" stroke="#1d4ed8" stroke-width="2"/>',
    ]
    for it in points:
        lines.append(
            f'<line x1="{x(it.exponent):.1f}" x2="{x(it.exponent):.1f}" y1="{y(it.minimum):.1f}"'
            f' y2="{y(it.maximum):.1f}" stroke="#1d4ed8" stroke-opacity="0.4"/>'
            f'<circle cx="{x(it.exponent):.1f}" cy="{y(it.median):.1f}" r="3" fill="#1d4ed8">'
            f"<title>stride 2^{it.exponent}: {it.median:.1f} GB/s</title></circle>"
        )
    lines += [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#222222">stride'
        " exponent (0: contiguous chunks; last: grid stride)</text>",
        f'<text x="16" y="{HEIGHT / 2}" transform="rotate(-90 16 {HEIGHT / 2})" text-anchor="middle"'
        ' fill="#222222">GB/s, median</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def html(points: Sequence[StridePoint]) -> str:
    """Return a page with the chart and its figures as a table."""
    rows = "\n".join(
        f"<tr><td>{it.exponent}</td><td>{1 << it.exponent}</td><td>{it.median:.1f}</td>"
        f"<td>{it.deviation:.1f}</td><td>{it.runs}</td><td>{it.median / it.roofline:.0%}</td></tr>"
        for it in points
    )
    name = markup.escape(title(points))
    head = "".join(f"<th>{it}</th>" for it in ("exponent", "stride", "GB/s", "deviation", "runs", "of copy"))
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{name}</title>\n'
        "<style>body{font-family:sans-serif;max-width:800px;margin:2em auto}"
        "td,th{text-align:right;padding:2px 12px}</style>\n"
        f"<h1>Stride sweep</h1><p>{name}</p>\n{svg(points)}<table><tr>{head}</tr>\n{rows}\n</table></html>\n"
    )


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 2.5, 5 times a power of ten."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    return next(power * it for it in (1, 2, 2.5, 5, 10) if power * it >= value)
