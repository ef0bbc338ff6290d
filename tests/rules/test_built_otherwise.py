"""Findings about speed that hang on a macro which the text defines unless the build does."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.workbench import Workbench
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
