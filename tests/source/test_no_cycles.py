"""What is read is freed with its last reference: the cycle collector is paused meanwhile, and runs seldom."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from clmap_lsp.source import collector
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

FIXTURE = (Path(__file__).parents[2] / "fixtures" / "matmul" / "coalesced_a.cl").read_text(encoding="utf-8")
LARGE = "".join(f"float helper{it}(float x) {{ return x * {it}.0f; }}\n" for it in range(3_000))


@pytest.mark.parametrize(
    "text",
    [
        FIXTURE,
        '#include "large.h"\n' + FIXTURE.replace("sum +=", "sum += helper17(__LINE__) +"),
        '#include "large.h"\n' + FIXTURE.replace("sum +=", "sum += helper17(__COUNTER__) +"),
        "#define A(x) x __COUNTER__\n__kernel void k(__global int *a) { int b = A(1; a[0] = b }\n",
        "#define A(x) x x x x\n__kernel void k(__global int *a) { a[0] = "
        + "A(" * 12
        + "1"
        + ")" * 12
        + "; }\n",
        "#error no\n#include <missing>\n__kernel void k(",
    ],
    ids=["fixture", "large include", "large include read again", "torn macro", "too many tokens", "errors"],
)
def test_a_reading_leaves_no_cycles(text: str):
    def read(text: str) -> None:
        files = {"large.h": LARGE}
        read_program(text, "k.cl", BuildOptions(), read_file=files.get)

    read(text)
    gc.collect()
    gc.disable()
    try:
        read(text + "\n")
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_what_is_frozen_is_not_counted_at_every_reading(monkeypatch: pytest.MonkeyPatch):
    """Counting it walks all of it. In a server, which looks for cycles at quiet moments only, much is new."""

    def counted() -> int:
        raise AssertionError("what is frozen was counted")

    before = gc.get_threshold()
    gc.set_threshold(1_000_000_000, 10, 10)
    kept = [[] for _ in range(collector.MANY + 1_000)]
    try:
        assert gc.get_count()[0] > collector.MANY
        monkeypatch.setattr(gc, "get_freeze_count", counted)
        read_program(FIXTURE, "k.cl", BuildOptions())
    finally:
        gc.set_threshold(*before)
    assert kept
