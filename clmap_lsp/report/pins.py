"""What was guessed, as lines for `clmap.toml` that pin it once somebody has put in what is right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.analysis.rests_on import GUESSED

if TYPE_CHECKING:
    from clmap_lsp.findings import Rest
    from clmap_lsp.report.model import CheckReport


def toml_of(report: CheckReport) -> str:
    """Return a block for `clmap.toml` with every guess; empty where nothing was guessed.

    Kernels of one name in several files are one table: the first counts, as it would in `clmap.toml`.
    """
    macros: dict[str, str] = {}
    launches: dict[str, tuple[Rest, ...]] = {}
    for file in report.files:
        macros = {**file.guesses.macros, **macros}
        for kernel, rests in file.guesses.launches:
            launches.setdefault(kernel, rests)
    lines = []
    if macros:
        lines += [
            "[build.defines]",
            *(f"{key(name)} = {_value(value)}" for name, value in macros.items()),
            "",
        ]
    for kernel, rests in launches.items():
        lines += [f"[launch.{key(kernel)}]", *_launch(rests), ""]
    return "\n".join(lines)


def _launch(rests: tuple[Rest, ...]) -> Iterator[str]:
    for it in rests:
        if it.kind in ("global", "local", "offset"):
            yield f"{it.kind} = [{', '.join(it.value.split('x'))}]{_note(it)}"
    scalars = [it for it in rests if it.kind == "scalar"]
    if scalars:
        yield "args = { " + ", ".join(f"{key(it.name)} = {_value(it.value)}" for it in scalars) + " }"


def _note(rest: Rest) -> str:
    return "  # guessed" if rest.origin == GUESSED else f"  # {rest.origin}"


def key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _value(text: str) -> str:
    return text if re.fullmatch(r"-?\d+(\.\d+)?", text) else json.dumps(text)


_SHOWN_TYPES = 3


def line_of(report: CheckReport) -> str:
    """Return one line that says how much was guessed; empty where nothing was."""
    macros = {name: value for file in report.files for name, value in file.guesses.macros.items()}
    kernels = sum(len(file.guesses.launches) for file in report.files)
    off = [name for file in report.files for name in file.guesses.switched_off]
    parts = []
    if macros:
        types = [f"{name} as {value}" for name, value in macros.items() if value.isidentifier()]
        more = ", …" if len(types) > _SHOWN_TYPES else ""
        named = f" (types: {', '.join(types[:_SHOWN_TYPES])}{more})" if types else ""
        parts.append(f"{len(macros)} macro{'s' * (len(macros) > 1)}{named}")
    if kernels:
        parts.append(f"launches of {kernels} kernel{'s' * (kernels > 1)}")
    if not parts or not (macros or off or any(file.findings for file in report.files)):
        return ""  # What nothing hangs on needs no words.
    text = f"Guessed: {' and '.join(parts)}; --guesses prints lines for clmap.toml that pin them.\n"
    if off:
        named = ", ".join(off[:3]) + (", …" if len(off) > 3 else "")
        text += f"Not judged, as guesses switch off next to all work-items: {len(off)} of them ({named}).\n"
    return text
