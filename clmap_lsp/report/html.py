"""One self-contained HTML page about a set of kernels: no scripts, no network, light, dark and print.

The page is a Jinja template with automatic escaping, the charts are SVG by matplotlib (see `html_svg`). Both
come with the extra `report`.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.edits import unified_diff
from clmap_lsp.fixes.limits import in_the_way
from clmap_lsp.links import rule_url
from clmap_lsp.reading import MIB, safe_read
from clmap_lsp.report import html_charts, html_lanes
from clmap_lsp.report.compare import Change
from clmap_lsp.report.html_charts import short
from clmap_lsp.report.html_model import Report, ReportedKernel, Traffic
from clmap_lsp.report.html_source import cost_text, excerpts
from clmap_lsp.time.wording import bound_text, seconds_text
from clmap_lsp.version import __version__

_TEMPLATES = Path(__file__).with_name("templates")
_NEEDED = {"matplotlib": "matplotlib", "jinja2": "Jinja2", "pygments": "Pygments"}
MAX_PICTURES = 6
"""Pictures of SIMD groups for one kernel; accesses that walk alike share one."""


def check_requirements(what: str = "the report needs") -> None:
    """Raise UsageError, with the cure, if the packages of the extra `report` are not installed."""
    missing = [name for module, name in _NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise UsageError(f"{what} {' and '.join(missing)}; install with: pip install 'clmap-lsp[report]'")


def render(report: Report) -> str:
    """Return the page.

    Raises: UsageError if a package of the extra `report` is missing.
    """
    check_requirements()
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"short": short, "percent": _percent, "times": _times, "prose": _prose, "id": id}
    environment.globals |= {
        "rule_url": rule_url,
        "cost_text": cost_text,
        "excerpts": excerpts,
        "change": _change,
        "zip": zip,
    }
    page = environment.get_template("report.html.j2").render(
        report=report,
        version=__version__,
        css=Markup(safe_read(_TEMPLATES / "report.css", limit=MIB, within=None).decode()),
        anchors={id(it): f"k{number}-{_anchor(it.name)}" for number, it in enumerate(report.kernels, 1)},
        charts=_summary_charts(report),
        kernel_charts=_kernel_charts,
        ladder_of=_ladder,
        pictures=_pictures,
        changes=_changes(report),
        safe=Markup,
    )
    # What turns text round deceives readers of a page, too, and one may be printed to a terminal.
    return terminal(re.sub(r"\n\s*\n+", "\n", page))


def _anchor(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def _percent(share: float | None) -> str:
    if share is None:
        return ""
    return "<1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}x"


def _prose(text: str) -> Any:
    """Return a message as HTML: what stands between backticks is code."""
    from markupsafe import Markup, escape

    parts = [escape(it) for it in text.split("`")]
    if len(parts) % 2 == 0:
        return Markup("`").join(parts)
    return Markup("").join(
        Markup("<code>{}</code>").format(it) if n % 2 else it for n, it in enumerate(parts)
    )


def _summary_charts(report: Report) -> list[tuple[str, str]]:
    """Return (heading, SVG) of the charts over all kernels."""
    charts = []
    for traffic in ("sectors", "wavefronts"):
        chart = _traffic_chart(report, traffic)
        if chart is not None:
            charts.append(chart)
    lines = [(it.name, it.metrics["psl"]) for it in report.kernels if it.metrics]
    if len(lines) > 1:
        shown = lines[: html_charts.MAX_LINES]
        left = f" (the first {len(shown)} of {len(lines)} kernels)" if len(shown) < len(lines) else ""
        title = f"Parallel spatial locality by kernel{left}"
        alt = f"{title}: " + "; ".join(f"{name} {values[0]:.2f} at 0" for name, values in shown)
        charts.append((title, html_charts.curves("psl", alt, "PSL (0 to 1)", 0, shown, wide=True)))
    return charts


def _traffic_chart(report: Report, kind: str) -> tuple[str, str] | None:
    rows: list[tuple[ReportedKernel, Traffic]] = [(it, getattr(it, kind)) for it in report.kernels]
    rows = sorted((it for it in rows if it[1].count), key=lambda it: -it[1].count)
    if not rows:
        return None
    shown = rows[: html_charts.MAX_BARS]
    space = "Global" if kind == "sectors" else "Local"
    left = f" (the {len(shown)} largest of {len(rows)})" if len(shown) < len(rows) else ""
    title = f"{space} memory traffic{left}"
    bars = [html_charts.Bar(it.name, traffic.ideal, traffic.count) for it, traffic in shown]
    alt = f"{title}, {kind} by kernel: " + "; ".join(
        f"{it.label} {short(it.count)}, {short(it.ideal)} would do" for it in bars[:8]
    )
    return title, html_charts.traffic(kind, alt, kind, bars)


def _ladder(kernel: ReportedKernel, name: str) -> dict[str, Any] | None:
    """Return the picture of the way to the best version, its steps, and what changes; `None` without one."""
    found = kernel.ladder
    if found is None or len(found.steps) < 2:
        return None
    first, last = found.steps[0].figures, found.steps[-1].figures
    timed = all(it.figures.seconds is not None for it in found.steps)
    steps, rows = [], []
    for it in found.steps:
        label = "as it is" if it.fix is None else it.fix.title.rpartition(": ")[0] or it.fix.title
        time = it.figures.time
        words = f"{short(it.figures.cost)} passes"
        if time is not None:
            words = f"{seconds_text(time.seconds)}, bound by {bound_text(time.bound)}"
        value = it.figures.seconds if timed and it.figures.seconds else float(it.figures.cost)
        steps.append(html_charts.LadderStep(label.replace("`", ""), value, words))
        rows.append((label, words, it.fix))
    unit = "predicted time" if timed else "passes through the first level of memory"
    gained = gain.words(first, last)
    alt = f"{kernel.name}, {gained}: " + "; ".join(f"{it.label} {it.words}" for it in steps)
    return {
        "gained": gained,
        "chart": html_charts.ladder(f"{name}-ladder", alt, unit, steps),
        "rows": rows,
        "versions": found.n_versions,
        "complete": found.complete,
        "in_the_way": "" if last.time is None else in_the_way(last.time),
        "diff": unified_diff(kernel.path, found.steps[0].text, found.steps[-1].text),
    }


def _kernel_charts(kernel: ReportedKernel, name: str) -> list[tuple[str, str]]:
    """Return (caption, SVG) of one kernel's curves."""
    metrics = kernel.metrics
    if metrics is None:
        return []
    psl, lmae = metrics["psl"], metrics["lmae"]
    return [
        (
            "Parallel spatial locality",
            html_charts.curves(
                f"{name}-psl", _curve_text("PSL", 0, psl), "PSL (0 to 1)", 0, [("", psl)], wide=False
            ),
        ),
        (
            "Local memory address entropy",
            html_charts.curves(
                f"{name}-lmae",
                _curve_text("LMAE in bits", 1, lmae),
                "LMAE (bits)",
                1,
                [("", lmae)],
                wide=False,
            ),
        ),
    ]


def _curve_text(label: str, first: int, values: list[float]) -> str:
    numbers = ", ".join(f"{value:.2f}" for value in values)
    return f"{label} by dropped address bits, from {first}: {numbers}"


def _pictures(kernel: ReportedKernel, name: str, device: Any) -> tuple[list[tuple[Any, str]], int]:
    """Return (picture, SVG) of the ways in which a kernel walks memory, and how many are not shown."""
    shown, left = html_lanes.pictures(kernel.analysis.accesses, kernel.analysis.launch, device, MAX_PICTURES)
    return [(it, html_lanes.draw(f"{name}-l{number}", it)) for number, it in enumerate(shown)], left


def _change(it: Change) -> Any:
    """Return one changed figure as HTML."""
    from markupsafe import Markup

    if it.percent is None:
        return Markup("{}: {}").format(it.figure, "new" if it.before is None else "gone")
    percent = "from nothing" if it.before == 0 else f"{it.percent:+.1f} %"
    look = "worse" if it.percent > 0 else "better"
    text = f"{it.before} → {it.after} ({percent})"
    return Markup('{} <span class="{}">{}, {}</span>').format(it.figure, look, text, look)


def _changes(report: Report) -> dict[tuple[str, str], list[Change]]:
    """Return what changed since the earlier analysis, by kernel."""
    found: dict[tuple[str, str], list[Change]] = {}
    for it in report.history.comparison.changes if report.history else ():
        if it.before != it.after:
            found.setdefault((it.path, it.kernel), []).append(it)
    return found
