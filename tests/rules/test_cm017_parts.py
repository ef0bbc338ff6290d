"""CM017 in texts that are parts of a program."""

from __future__ import annotations

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection

KERNEL = "__kernel void twice(__global half *values)\n{\n    values[get_global_id(0)] *= 2;\n}\n"


def severities(text: str) -> list[Severity]:
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text=text))
    return [it.severity for it in report.findings if it.code == "CM017"]


def test_a_whole_program_needs_its_pragma():
    assert severities(KERNEL) == [Severity.WARNING]


def test_what_comes_before_a_part_may_have_the_pragma():
    part = KERNEL.replace("2;", "FACTOR;")
    assert severities(part) == [Severity.INFORMATION]
    assert severities(f"#define FACTOR 2\n{part}") == [Severity.WARNING]


def test_what_needs_an_extension_to_compile_is_told_once():
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text="__kernel void later(...)\n{\n}\n"))
    assert [(it.code, it.severity) for it in report.findings] == [("CM017", Severity.ERROR)]
