"""The table of built-in functions agrees with clang's own: its names, its overloads and their results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clmap_lsp.index import builtins
from clmap_lsp.index.types import TYPE_NAMES, spelled

HEADERS = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include/opencl-c.h"))

VENDOR_OR_LATER = re.compile(
    r"intel_|arm_|amd_|__|convert_|as_|half$|sizeof|defined|deprecated|atomic_fetch$"
)


def test_a_call_finds_its_overload():
    clamp = builtins.find("clamp")
    types = [TYPE_NAMES[it] for it in ("float4", "float", "float")]
    assert (
        builtins.shown(clamp, builtins.resolve(clamp, types))
        == "float4 clamp(float4 x, float minval, float maxval)"
    )
    assert builtins.find("exp2").accuracy == "within 3 ULP in single precision"
    assert builtins.find("convert_uchar4_sat_rte") is not None
    assert builtins.find("convert_uchar5") is None


@pytest.mark.parametrize(
    ("given", "type_"), [("char", "int"), ("ushort", "int"), ("uint", "uint"), ("long", "long")]
)
def test_functions_of_a_group_take_small_integers_as_ints(given, type_):
    reduce = builtins.find("work_group_reduce_add")
    assert builtins.shown(reduce, builtins.resolve(reduce, [TYPE_NAMES[given]])) == (
        f"{type_} work_group_reduce_add({type_} x)"
    )


def test_every_entry_has_a_text_and_signatures_that_read():
    for name in builtins.names():
        found = builtins.find(name)
        assert found.description and found.overloads, name
        for overload in found.overloads:
            assert f" {name}(" in overload.text or f"*{name}(" in overload.text


@pytest.mark.skipif(not HEADERS, reason="clang's opencl-c.h is not on this machine")
def test_the_table_has_every_name_of_clangs_header():
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", HEADERS[-1].read_text(), flags=re.DOTALL)
    theirs = set(re.findall(r"__ovld[^;]*?\b(\w+)\s*\(", text))
    missing = {it for it in theirs if builtins.find(it) is None and not VENDOR_OR_LATER.match(it)}
    assert missing == set()


cindex = pytest.importorskip("clang.cindex", reason="libclang is the reference here")


@pytest.mark.skipif(not HEADERS, reason="clang's OpenCL headers are not on this machine")
@pytest.mark.parametrize("lanes", ["", "4"])
def test_results_of_math_and_integer_functions_are_clangs(lanes):
    """One call of each function with arguments of one type: clang takes it and gives it the same type."""
    calls: list[tuple[str, str, str]] = []
    for name in builtins.names():
        found = builtins.find(name)
        if found.extension or found.since > 1.2 or found.section not in _SECTIONS:
            continue
        for element in ("float", "int", "uint", "char"):
            type_ = f"{element}{lanes}"
            for overload in found.overloads:
                words = [it.word for it in overload.parameters]
                if any(it.is_pointer for it in overload.parameters) or not set(words) <= {words[0]}:
                    continue
                if not builtins._GENERIC.get(words[0], lambda _: False)(TYPE_NAMES[type_].base):
                    continue
                resolved = builtins.resolve(found, [TYPE_NAMES[type_]] * len(words))
                result = spelled(resolved.result)
                arguments = ", ".join(["v"] * len(words))
                calls.append(
                    (f"{result} *p = 0; {type_} v = 0; __typeof__({name}({arguments})) *q = p;", name, type_)
                )
    text = "\n".join(f"void f{at}(void) {{ {body} }}" for at, (body, _, _) in enumerate(calls))
    assert len(calls) > 100
    options = [
        "-x",
        "cl",
        "-cl-std=CL1.2",
        "-target",
        "spir64",
        "-cl-no-stdinc",
        "-Werror",
        "-Wno-unused-variable",
    ]
    options += [
        "-include",
        str(HEADERS[-1].with_name("opencl-c-base.h")),
        "-Xclang",
        "-fdeclare-opencl-builtins",
    ]
    unit = cindex.Index.create().parse("k.cl", options, [("k.cl", text)])
    wrong = [
        f"{calls[it.location.line - 1][1:]}: {it.spelling}" for it in unit.diagnostics if it.severity >= 2
    ]
    assert wrong == []


_SECTIONS = (
    "math functions",
    "integer functions",
    "common functions",
    "geometric functions",
    "relational functions",
)
