"""Findings about speed that hang on a macro which the text defines unless the build does."""

from __future__ import annotations

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.workbench import Workbench, holding, workbench
from clmap_lsp.workbench.workbench import selection_of

STRIDED = """\
#ifndef APART
#define APART 32
#endif
__kernel void far(__global float *a) { a[get_global_id(0) * APART] = 1.0f; }
"""
ODD = STRIDED.replace("* APART]", "* (APART == 32 ? 32 : 1)]")


def findings(text: str, options: BuildOptions | None = None, comment: str = "") -> dict[str, Finding]:
    settings = Settings() if options is None else Settings(build=options)
    opened = Workbench().open_text("", comment + text, settings, looks_beside=False)
    return {it.code: it for it in opened.findings(selection_of(settings))}


def test_what_holds_with_all_values_is_a_warning():
    found = findings(STRIDED)["CM102"]
    assert (found.severity, found.holds) == (Severity.WARNING, "always")


def test_what_holds_with_the_default_only_is_information_that_says_so():
    found = findings(ODD)["CM102"]
    assert (found.severity, found.holds) == (Severity.INFORMATION, "if")
    assert found.message.startswith("if the build leaves the default of APART (32): ")
    assert found.condition == "the build leaves the default of APART (32)"


def test_what_the_build_says_is_no_guess():
    found = findings(ODD, BuildOptions(defines=(("APART", "32"),)))["CM102"]
    assert (found.severity, found.holds) == (Severity.WARNING, "always")


def test_a_default_that_is_not_compiled_is_none_of_the_build():
    other = ODD.replace(
        "#define APART 32\n", "#ifdef FEW\n#define APART 8\n#else\n#define APART 32\n#endif\n"
    )
    other = other.replace("#ifdef FEW", "#ifndef MANY").replace(
        "#ifndef APART", "#define MANY 1\n#ifndef APART"
    )
    assert "default of APART (32)" in findings(other)["CM102"].message


def test_what_the_file_always_defines_is_no_guess():
    found = findings(ODD.replace("#ifndef APART\n", "").replace("#endif\n", ""))["CM102"]
    assert (found.severity, found.holds) == (Severity.WARNING, "always")


def test_where_the_launch_is_given_the_build_is_too():
    comment = "// clmap: global=1024 local=64 a=zeros(32768)\n"
    assert findings(ODD, comment=comment)["CM102"].severity is Severity.WARNING


TWO = """\
typedef struct { float row[LENGTH]; } Row;
__kernel void turns(__global float *a) { a[get_global_id(0) * 33] = HASH_LOOPS; }
__kernel void rows(__global float *b) { b[get_global_id(0)] = LENGTH; }
"""
"""Other values of the first kernel's macro, a flag, are not tried; of the second one nothing is found."""


def readings_of(text: str, monkeypatch) -> list[tuple[tuple[str, str], ...]]:
    """Return the macros with which a file is read beyond its own."""
    seen = []
    read = workbench.read_program

    def noted(text, path, options, **more):
        seen.append(options.defines)
        return read(text, path, options, **more)

    monkeypatch.setattr(workbench, "read_program", noted)
    assert findings(text)
    return [it for it in seen if it]


def test_a_file_is_not_read_again_for_macros_that_leave_a_kernel_alone(monkeypatch):
    assert not readings_of(TWO, monkeypatch)


def test_it_is_read_again_where_a_kernel_names_them_in_a_declaration_only(monkeypatch):
    other = TWO.replace(
        "turns(__global float *a) { a[get_global_id(0) * 33]",
        "turns(__global Row *a) { a[get_global_id(0)].row[0]",
    )
    assert {name for it in readings_of(other, monkeypatch) for name, _ in it} == {"LENGTH"}


@pytest.mark.parametrize(
    "directive",
    [
        "#if LENGTH > 64\n#define ON 1\n#endif\n",
        "/* */ #define LONG \\\n LENGTH\n",
        "#ifdef /*\n*/ LENGTH\n#endif\n",
    ],
)
def test_it_is_read_again_where_a_directive_names_them(monkeypatch, directive):
    assert readings_of(directive + TWO, monkeypatch)


def test_sizes_of_private_arrays_are_tried_where_something_is_found_of_one_only(monkeypatch):
    strided = "__kernel void far(__global float *a) { a[get_global_id(0) * LENGTH] = 1.0f; }\n"
    assert (("LENGTH", "2"),) not in readings_of(strided, monkeypatch)
    private = """\
        __kernel void far(__global const float *a, __global float *b, int n) {
            float kept[LENGTH];
            for (int k = 0; k < LENGTH; k++) kept[k] = a[get_global_id(0) * LENGTH + k];
            float sum = 0.0f;
            for (int k = 0; k < n; k++) sum += kept[(k * 7) % LENGTH] * (float)k;
            b[get_global_id(0)] = sum;
        }
    """
    assert (("LENGTH", "2"),) in readings_of(private, monkeypatch)


OWN = """\
__kernel void own(__global int *a, __global const int *b)
{
    int large[LENGTH * LENGTH * 2], indexed[LENGTH];
    const int i = get_global_id(0);
    for (int k = 0; k < LENGTH; k++) large[k] = indexed[k] = a[i + k];
    a[i] = large[2] + indexed[b[i] & 7];
}
"""


def test_an_array_is_not_called_large_for_a_guess_that_nobody_varied(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(holding, "MAX_WORK", 0)
    settings = Settings()
    opened = Workbench().open_text("", OWN, settings, looks_beside=False)
    found = [it.message for it in opened.findings(selection_of(settings)) if it.code == "CM503"]
    assert [it.partition("`")[2].partition("`")[0] for it in found] == ["indexed"]
    given = Settings(build=BuildOptions(defines=(("LENGTH", "16"),)))
    opened = Workbench().open_text("", OWN, given, looks_beside=False)
    assert len([it for it in opened.findings(selection_of(given)) if it.code == "CM503"]) == 2
