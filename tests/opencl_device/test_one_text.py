"""A driver gets the text that was emulated, and nothing that reaches around OpenCL C."""

from __future__ import annotations

import pytest

from clmap_lsp.opencl_device.one_text import macros_as_here
from clmap_lsp.source.options import BuildOptions

PLAIN = BuildOptions()
KERNEL = "__kernel void k(__global int *a) { a[0] = 1; }\n"


@pytest.mark.parametrize(
    "name",
    ["__clang__", "__POCL__", "__NV_CL_C_VERSION", "__AMD__", "__x86_64__", "_WIN32", "NVIDIA", "nv50"],
)
@pytest.mark.parametrize(
    "form", ["#ifdef {0}\n", "#if defined({0}) && 1\n", "%:ifdef {0}\n", "#if\\\ndef {0}\n", "#if {0} > 1\n"]
)
def test_what_conditions_ask_about_is_as_it_was_here(name: str, form: str):
    text = form.format(name) + "int x;\n#endif\n" + KERNEL
    head, problem = macros_as_here(text, (), PLAIN)
    assert not problem
    assert f"#undef {name}\n" in head
    assert head.endswith("#line 1\n")


def test_headers_ask_too():
    assert "#undef __POCL__\n" in macros_as_here(KERNEL, ["#ifdef __POCL__\n#endif\n"], PLAIN)[0]


def test_versions_are_ours():
    head, _ = macros_as_here("#if __OPENCL_C_VERSION__ >= 200\n#endif\n" + KERNEL, (), PLAIN)
    assert "#undef __OPENCL_C_VERSION__\n#define __OPENCL_C_VERSION__ 120\n" in head


def test_options_stay():
    options = BuildOptions((("TILE", "16"),))
    assert "TILE" not in macros_as_here("#if TILE > 8\n#endif\n" + KERNEL, (), options)[0]


@pytest.mark.parametrize(
    "attack",
    [
        '__asm__ volatile("syscall");', 'asm("nop");', "__asm(\"nop\");", "__builtin_trap();",
        "__attribute__((constructor)) void f() {}", "__attribute__((used, section(\"x\"))) int y;",
        "#/* */ifdef __POCL__", "#/*\n*/ifdef __POCL__", "/* */ #ifdef __POCL__", "??=ifdef __POCL__",
        "__as\\\nm__(\"nop\");", "#if CLK_LOCAL_MEM_FENCE == 1\n#endif",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["#if 0\n{0}\n#endif\n", "{0}\n", "#ifdef __POCL__\n{0}\n#endif\n"])
def test_what_reaches_around_the_language_is_refused_in_every_branch(attack: str, where: str):
    head, problem = macros_as_here(where.format(attack) + KERNEL, (), PLAIN)
    assert problem
    assert not head
