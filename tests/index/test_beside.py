"""The whole file and the part that an edit touches are read beside each other, and share what is alike."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from sweeps import drawn

from clmap_lsp.config import Settings
from clmap_lsp.index import reading
from clmap_lsp.index.index import Index
from clmap_lsp.index.touched import Layout
from clmap_lsp.workbench import Workbench

SHARED = """\
struct Later;
typedef struct Cell { float4 place; int count; } Cell;
#define SCALE(x) ((x) * factor)
__constant float factor = 2.0f;
float helper(float value) { return SCALE(value); }
struct Later { int a; float b; };
"""
KERNEL = """\
__kernel void k@(__global float *out, __global const Cell *cells, const int n, __global struct Later *later)
{
    // NOTE
    int i = get_global_id(0);
    float sum = helper(cells[i].place.x) + later[i].b;
    for (int j = 0; j < n; j++)
        sum += SCALE(cells[i * n + j].place.y) + missing_@;
    out[i] = sum;
}
"""
TYPED = (
    "int fresh = i; ",
    "Cel ",
    "float4 v = cells[0].place; v.xy = 1; ",
    "struct Later own; own.c = 1; ",
    "missing_4 + missing_3; ",
    "helpr(2); ",
    "{ int i = 3; ",
    '"open ',
    "k3(out); ",
)


def text() -> str:
    kernels = [KERNEL.replace("@", str(it)).replace("NOTE", "x" * 700) for it in range(16)]
    return SHARED + "".join(kernels)


def said(index: Index) -> object:
    """Return all that is asked of an index."""
    occurrences = [
        (it.path, it.start, it.end, it.symbol.name, it.symbol.kind, it.role, it.use)
        for it in index.occurrences
    ]
    issues = [(it.issue.code, it.issue.message, it.span) for it in index.issues]
    places = [(it.name, index.name_span(it), index.full_span(it)) for _, it in index.symbols()]
    return occurrences, issues, places, [it.unit.n_tokens for it in index.units]


@pytest.mark.parametrize("seed", range(drawn(2, 12)))
def test_both_say_what_fresh_readings_say(seed: int) -> None:
    dice = random.Random(seed)
    workbench, path = Workbench(remembers=True), str(Path("/nowhere/a.cl"))
    settings = Settings()
    settings = replace(settings, hosts=replace(settings.hosts, enabled=False))
    whole = workbench.open_text(path, text(), settings)
    assert whole.index is not None
    layout = Layout.of(whole.index, whole.program.guesses)
    assert layout is not None
    n_parts = 0
    for _ in range(drawn(4, 8)):
        at = text().index("int i", text().index(f"k{dice.randrange(16)}("))
        typed, now = dice.choice(TYPED), text()
        for key in typed:
            now, at = now[:at] + key + now[at:], at + 1
            for reads_part in dice.sample((True, False), dice.choice((1, 2))):
                if not reads_part:
                    index: Index | None = workbench.index(path, now, settings)
                    fresh = reading.read_index(now, path)
                    assert index is not None
                    assert said(index) == said(fresh)
                elif (part := layout.part(now)) is not None:
                    opened = workbench.open_text(path, part.text, settings, is_part=True, known=part.guesses)
                    n_parts += 1
                    assert opened.index is not None
                    assert said(opened.index) == said(reading.read_index(part.text, path))
    assert n_parts > 10


def test_the_edited_function_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    workbench, path = Workbench(remembers=True), str(Path("/nowhere/a.cl"))
    settings = Settings()
    whole = workbench.open_text(path, text(), settings)
    assert whole.index is not None
    layout = Layout.of(whole.index, whole.program.guesses)
    assert layout is not None
    at = text().index("int i", text().index("k7("))
    now = text()
    for key in "int fresh = n;":
        now, at = now[:at] + key + now[at:], at + 1
        workbench.index(path, now, settings)
        part = layout.part(now)
        assert part is not None
        assert workbench.open_text(path, part.text, settings, is_part=True, known=part.guesses).index
    read: list[list[str]] = []
    read_unit = reading.read_unit
    monkeypatch.setattr(
        reading, "read_unit", lambda texts, *rest: read.append(texts) or read_unit(texts, *rest)
    )
    now = now[:at] + " int more;" + now[at:]
    workbench.index(path, now, settings)
    part = layout.part(now)
    assert part is not None
    assert workbench.open_text(path, part.text, settings, is_part=True, known=part.guesses).index
    assert sum("k7" in it for it in read) == 1


def test_declarations_that_are_typed_twice_are_two(tmp_path: Path) -> None:
    workbench, path = Workbench(remembers=True), str(tmp_path / "a.cl")
    settings = Settings()
    whole = workbench.open_text(path, text(), settings)
    assert whole.index is not None
    layout = Layout.of(whole.index, whole.program.guesses)
    assert layout is not None
    at = text().index("int i", text().index("k7("))
    part = layout.part(text()[:at] + " " + text()[at:])
    assert part is not None
    assert workbench.open_text(path, part.text, settings, is_part=True, known=part.guesses).index
    doubled = text() + KERNEL.replace("@", "7") + KERNEL.replace("@", "7")
    index = workbench.index(path, doubled, settings)
    assert len({id(it.unit) for it in index.units}) == len(index.units)
    assert said(index) == said(reading.read_index(doubled, path))
