"""What holds only where a build leaves the macros of the text at their defaults is no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main
from clmap_lsp.source.text_defaults import defaults_of

SIZES = """\
#ifndef WIDE
    #ifdef SMALL
        #define WIDE 16
    #else
        #define WIDE 512
    #endif
#endif
#if !defined(LANES)
#define LANES 4
#endif
#define EDGE (WIDE)
"""
KERNEL = """\
{include}
__attribute__((num_simd_work_items(LANES)))
{attribute}
__kernel void blur(__global const float *a, __global float *b, int width)
{{
    b[get_global_id(1) * width + get_global_id(0)] = a[get_global_id(1) * width + get_global_id(0)];
}}
"""
ATTRIBUTE = "__attribute__((reqd_work_group_size(EDGE, EDGE, 1)))"


@pytest.mark.parametrize(
    ("include", "attribute"),
    [
        ('#include "sizes.h"', ATTRIBUTE),
        (SIZES, ATTRIBUTE),
        (f"{SIZES}#define TILED {ATTRIBUTE}", "TILED"),
    ],
    ids=["of a header", "of the file", "through a macro"],
)
def test_a_group_that_is_too_large_by_default_is_information(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], include: str, attribute: str
) -> None:
    (tmp_path / "sizes.h").write_text(SIZES)
    (tmp_path / "blur.cl").write_text(KERNEL.format(include=include, attribute=attribute))
    assert main(["check", str(tmp_path), "--format", "concise"]) == 0
    printed = capsys.readouterr().out
    assert "CM007 if the build leaves the default of WIDE (512)" in printed
    assert "262144 work-items is too large" in printed
    if attribute == ATTRIBUTE:
        assert "LANES" not in printed
    assert main(["check", str(tmp_path), "-D", "WIDE=16"]) == 0
    assert "CM007" not in capsys.readouterr().out
    assert main(["check", str(tmp_path), "-D", "WIDE=512"]) == 1, "the build says so"
    assert "CM007" in capsys.readouterr().out


def test_a_group_that_is_too_large_in_every_build_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "blur.cl").write_text(
        KERNEL.format(include="#define EDGE 512\n#define LANES 4", attribute=ATTRIBUTE)
    )
    assert main(["check", str(tmp_path)]) == 1


def test_defaults_are_those_of_macros_that_are_asked_for() -> None:
    found = [(name, value) for name, value, _ in defaults_of(SIZES)]
    assert found == [("WIDE", "16"), ("WIDE", "512"), ("LANES", "4")]
    assert not list(defaults_of("#ifdef N\n#define N 2\n#endif\n#define M 3\n"))
    assert not list(defaults_of("#ifndef N\n#else\n#define N 2\n#endif\n"))
    deep = "".join(f"#ifndef N{it}\n" for it in range(20_000)) + "#define N0 1\n#define M 1\n" * 20_000
    assert sum(1 for _ in defaults_of(deep)) == 20_000
