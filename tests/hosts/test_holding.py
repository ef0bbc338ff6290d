"""What findings rest on, and how loud they are where that was guessed."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings, parse
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.workbench import Workbench
from clmap_lsp.workbench.workbench import selection_of

ACROSS = """\
__kernel void across(__global float *out, __global const float *in, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height) out[x * height + y] = in[x * height + y];
}
"""
STRIDED = "__kernel void far(__global float *a) { a[get_global_id(0) * 32] = 1.0f; }\n"
TILE = """\
__kernel void tile(__global float *a, __local float *t)
{
    int l = get_local_id(0);
    t[l * STRIDE] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = t[l * STRIDE] * t[l];
}
"""


def findings(text: str, settings: Settings | None = None) -> dict[str, Finding]:
    chosen = settings or Settings()
    opened = Workbench().open_text("", text, chosen, looks_beside=False)
    return {it.code: it for it in opened.findings(selection_of(chosen))}


def origins(finding: Finding) -> dict[str, str]:
    return {it.name: it.origin for it in finding.rests_on}


def test_a_finding_that_holds_on_all_shapes_stays_a_warning() -> None:
    found = findings(STRIDED)["CM102"]
    assert (found.severity, found.holds) == (Severity.WARNING, "always")
    assert origins(found)["local size"] == "guessed"


def test_swapped_dimensions_without_a_known_shape_are_information() -> None:
    found = findings(ACROSS)["CM104"]
    assert (found.severity, found.holds) == (Severity.INFORMATION, "if")
    assert found.message.startswith("if the local size is 16x16 (guessed): ")
    assert found.condition == "the local size is 16x16"


def test_swapped_dimensions_of_a_known_shape_are_a_warning(tmp_path: Path) -> None:
    text = "[launch.across]\nglobal = [256, 256]\nlocal = [16, 16]\nargs = { width = 256, height = 256 }\n"
    found = findings(ACROSS, parse(str(tmp_path / "clmap.toml"), text))["CM104"]
    assert (found.severity, found.holds) == (Severity.WARNING, "always")
    assert origins(found)["local size"] == "configured"


def test_a_bank_conflict_of_a_guessed_macro_is_a_hint() -> None:
    found = findings(TILE)["CM201"]
    assert (found.severity, found.holds) == (Severity.HINT, "if")
    assert "STRIDE is 16" in found.condition
    assert origins(found)["STRIDE"] == "guessed"
    known = findings(TILE.replace("STRIDE", "16"))["CM201"]
    assert (known.severity, known.holds) == (Severity.WARNING, "always")


def test_nothing_says_that_guessed_local_memory_is_too_large() -> None:
    text = (
        "__kernel void k(__global float *a, __local float *t, int n)"
        " { t[get_local_id(0) * n * 4096] = a[0]; }\n"
    )
    assert "CM504" not in findings(text)
    assert all(it.severity is not Severity.ERROR for it in findings(text).values())


def test_what_is_too_large_to_be_tried_elsewhere_says_that_it_holds_on_this_launch() -> None:
    many = "x = x * 3 + 1; " * 9_000
    text = STRIDED + (
        "__kernel void large(__global int *a, __global int *b) { int i = get_global_id(0), x = b[i]; "
        f"{many} a[i * 32] = x; }}\n"
    )
    opened = Workbench().open_text("", text, Settings(), looks_beside=False)
    found = {it.kernel: it for it in opened.findings(selection_of(Settings())) if it.code == "CM102"}
    assert (found["far"].severity, found["far"].holds) == (Severity.WARNING, "always")
    assert found["large"].severity in (Severity.INFORMATION, Severity.HINT)
    assert found["large"].holds == "on this launch"


def test_what_other_launches_of_one_kernel_cost_together_has_an_end() -> None:
    """After a few launches of 3,000 statements the rest is left: what holds on those may not hold on all."""
    many = "x = i; " * 3_000
    text = (
        "__kernel void far(__global float *a) {"
        f" int i = get_global_id(0), j = get_global_id(1), x; {many} a[(j * 256 + x) * 32] = 1; }}\n"
    )
    workbench, chosen = Workbench(), Settings()
    opened = workbench.open_text("", text, chosen, looks_beside=False)
    found = {it.code: it for it in opened.findings(selection_of(chosen))}["CM102"]
    assert (found.severity, found.holds) == (Severity.INFORMATION, "on this launch")
    assert workbench.n_analysed == 3
    short = findings(text.replace(many, "x = i;"))["CM102"]
    assert (short.severity, short.holds) == (Severity.WARNING, "always")
