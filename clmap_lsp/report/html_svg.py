"""Turn matplotlib figures into SVG that lives inside a page: its colours, its font, no scripts, no clashes.

matplotlib draws the charts because it is the best kept of the plotting libraries whose output is plain SVG:
no JavaScript, so that a page opens under any content security policy, prints, and can be read by a screen
reader. Colours are drawn as the page's CSS variables, so that a chart follows light, dark and print.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, GRID, PAPER, SHADE = "#0a0001", "#0a0002", "#0a0003", "#0a0004", "#0a0005"
GOOD, BAD = "#0b0001", "#0b0002"
SERIES = tuple(f"#0c000{it}" for it in range(1, 9))
"""Colours that stand for CSS variables; nothing else in a chart may have them."""

_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "paper",
    SHADE: "shade",
    GOOD: "good",
    BAD: "bad",
    **{colour: f"s{number}" for number, colour in enumerate(SERIES, 1)},
}
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",  # Comes with matplotlib: layouts are the same on every machine.
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "path.simplify": False,
}

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

Draw = Callable[["Figure"], None]


@contextmanager
def _settings(salt: str) -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context({**_SETTINGS, "svg.hashsalt": salt}):
        yield


def svg(name: str, title: str, size: tuple[float, float], draw: Draw, *, fitted: bool = True) -> str:
    """Draw one chart and return it as an `<svg>` element.

    Args:
        name: unique in the page; its identifiers start with it.
        title: what a screen reader says instead of the picture.
        size: width and height in inches, at 72 units each.
        fitted: lay the axes out around their texts, which takes as long again as drawing; without, `draw`
            places them itself.
    """
    from matplotlib.figure import Figure

    out = io.StringIO()
    with _settings(name):
        figure = Figure(figsize=size, layout="constrained" if fitted else None)
        draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(out.getvalue(), name, title)


def standalone(markup: str) -> str:
    """Return an `<svg>` element as a file of its own, with colours for light and dark."""
    head, tag, rest = markup.partition(">")
    return f"{head}{tag}\n{_STYLE}{rest}\n"


def _for_page(text: str, name: str, title: str) -> str:
    """Strip what only a file needs, name identifiers after the chart, and let CSS choose the colours."""
    Xml.register_namespace("", _SVG)
    Xml.register_namespace("xlink", _XLINK)
    root = Xml.fromstring(text)
    _drop_metadata(root)
    _rename(root, name, text)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib |= {"role": "img", "aria-label": title, "class": "chart", "style": f"max-width: {width:g}pt"}
    Xml.indent(root, space="")
    markup = Xml.tostring(root, encoding="unicode", short_empty_elements=True)
    markup = re.sub(r"font(-family)?: ([^;\"]*)'DejaVu Sans'", r"font\1: \2inherit", markup)
    for colour, variable in _VARIABLES.items():
        markup = markup.replace(colour, f"var(--{variable})")
    return markup


def _drop_metadata(root: Xml.Element) -> None:
    root[:] = [it for it in root if it.tag != f"{{{_SVG}}}metadata"]
    for definitions in root.iter(f"{{{_SVG}}}defs"):
        definitions[:] = [it for it in definitions if it.tag != f"{{{_SVG}}}style"]
    for element in root.iter():
        if element.tag == f"{{{_SVG}}}text" and element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]


def _rename(root: Xml.Element, name: str, text: str) -> None:
    """Keep only identifiers that are referred to, and make them unique in the page."""
    used = set(re.findall(r'(?:url\(#|xlink:href="#)([\w.-]+)', text))
    for element in root.iter():
        if (known := element.attrib.pop("id", None)) in used:
            element.attrib["id"] = f"{name}-{known}"
        for attribute, value in element.attrib.items():
            if value.startswith("#") and attribute == f"{{{_XLINK}}}href":
                element.attrib[attribute] = f"#{name}-{value[1:]}"
            elif "url(#" in value:
                element.attrib[attribute] = value.replace("url(#", f"url(#{name}-")
