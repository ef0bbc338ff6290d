"""Checks of errors in host code, whose ways change nothing that a launch depends on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main
from clmap_lsp.hosts.c_reader import read_c
from clmap_lsp.hosts.macros import Macro
from clmap_lsp.hosts.quiet import Quiet, may_go_on


def body(text: str) -> Any:
    (function,) = read_c(f"void f() {{ {text} }}", "a.cpp").functions
    return function.body


def none(_name: str) -> Macro | None:
    return None


@pytest.mark.parametrize(
    "text",
    [
        'printf("%d", n);',
        'fprintf(stderr, "failed: %s", describe_error(err)); exit(1);',
        'std::cerr << "failed: " << err << std::endl;',
        "throw error;",
        'if (err != 0) { perror("x"); abort(); }',
    ],
)
def test_what_only_reports_is_quiet(text: str) -> None:
    assert Quiet(none).is_quiet(body(text))


@pytest.mark.parametrize(
    "text",
    [
        "n = 4;",
        "n++;",
        'printf("%d", n++);',
        'printf("%d", n = 4);',
        "setup(n);",
        "return;",
        "if (err) n = 3;",
        "std::cerr << (n = 4);",
        "clSetKernelArg(k, 0, 4, &n);",
        'scanf("%d", &n);',
    ],
)
def test_what_may_change_something_is_not(text: str) -> None:
    assert not Quiet(none).is_quiet(body(text))


def test_the_program_ends_behind_an_exit() -> None:
    assert may_go_on(body('printf("x");'))
    assert not may_go_on(body('printf("x"); exit(1);'))
    assert not may_go_on(body("throw 1;"))


def test_a_macro_is_quiet_if_its_text_is() -> None:
    macros = {
        "TELL": Macro("TELL", ("m",), 'printf("%s", m)'),
        "SET": Macro("SET", ("m",), "n = m"),
        "BOTH": Macro("BOTH", ("m",), "TELL(m); SET(m)"),
    }
    assert Quiet(macros.get).is_quiet(body('TELL("a");'))
    assert not Quiet(macros.get).is_quiet(body("SET(4);"))
    assert not Quiet(macros.get).is_quiet(body("BOTH(4);"))


def test_own_functions_are_quiet_by_what_they_do_and_not_by_name() -> None:
    own = read_c(
        "void trace(int n) { launch(n); } void warn(int n) { total = n; }"
        "double relative_error(int n) { launch(n); return 0; }"
        "int next_status(int &n) { n = 4; return n; }"
        "void log(const char *m) { puts(m); }"
        'const char *describe(int e) { switch (e) { case 1: return "one"; } return "more"; }',
        "a.cpp",
    ).functions
    quiet = Quiet(none, lambda name: [it for it in own if it.name == name])
    for text in (
        "trace(n);",
        "warn(n);",
        'printf("%f", relative_error(n));',
        'printf("%d", next_status(n));',
    ):
        assert not quiet.is_quiet(body(text)), text
    assert quiet.is_quiet(body('log("x"); printf("%s", describe(err));'))


def test_each_macro_is_looked_into_once() -> None:
    def layer(depth: int) -> dict[str, Macro]:
        inner = " ".join(f"L{depth + 1}_{i}(m);" for i in range(12)) if depth < 4 else "puts(m);"
        return {f"L{depth}_{i}": Macro(f"L{depth}_{i}", ("m",), inner) for i in range(12)}

    macros = {name: it for depth in range(5) for name, it in layer(depth).items()}
    asked = []

    def macro_of(name: str) -> Macro | None:
        asked.append(name)
        return macros.get(name)

    assert Quiet(macro_of).is_quiet(body('L0_0("a");'))
    assert len(asked) < 5 * 12 * 13


HOST = """\
#include <CL/cl.h>
#define COMPLAIN(what) printf("%s:%d\\n", what, __LINE__)
#define CHECK(expr) { cl_int res = expr; \\
  switch (res) { \\
    case CL_INVALID_VALUE: COMPLAIN("value"); break; \\
    case CL_INVALID_KERNEL: COMPLAIN("kernel"); break; } \\
  if (res != CL_SUCCESS) abort(); }
int main(int argc, char **argv) {
  size_t n = 4096, group = 64;
  cl_kernel k = clCreateKernel(program, "k", NULL);
  switch (argc) { case 2: printf("two"); break; case 3: group = 128; break; }
  if (argc > 3) { printf("usage"); n = 512; }
  CHECK(clSetKernelArg(k, 0, sizeof(cl_mem), &a));
  CHECK(clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, &group, 0, NULL, NULL));
}
"""


def test_ways_that_change_a_size_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "main.c").write_text(HOST)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert found["global"] == ["n"] and found["defaults"]["global"] == [4096]
    assert found["local"] == ["group"] and found["defaults"]["local"] == [64]


OPTIONS = """\
#include <CL/cl.h>
struct Options {
  Options(int argc, char **argv) { throw Error("always, as it seems"); }
};
void leave() { printf("usage"); exit(1); }
int main(int argc, char **argv) {
  Options options(argc, argv);
  %s
  size_t n = 4096;
  cl_kernel k = clCreateKernel(program, "k", NULL);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &n, NULL, 0, NULL, NULL);
}
"""


@pytest.mark.parametrize(
    ("statement", "count"),
    [("", 1), ("leave();", 1), ("if (argc < 2) leave();", 1), ("exit(0);", 0), ("return 0;", 0)],
)
def test_no_helper_ends_a_program_before_what_follows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], statement: str, count: int
) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "main.cpp").write_text(OPTIONS % statement)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["launches"]
    assert [it["global"] for it in found] == [[4096]] * count


def test_a_launch_in_a_function_called_trace_keeps_what_the_call_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a, int n) { a[get_global_id(0)] = n; }\n")
    (tmp_path / "main.c").write_text("""\
#include <CL/cl.h>
void trace(cl_command_queue queue, cl_kernel k, int n, size_t rays) {
  clSetKernelArg(k, 1, sizeof(int), &n);
  clEnqueueNDRangeKernel(queue, k, 1, NULL, &rays, NULL, 0, NULL, NULL);
}
int main(int argc, char **argv) {
  cl_kernel k = clCreateKernel(program, "k", NULL);
  if (argc > 1) trace(queue, k, 7, 512);
}
""")
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["launches"]
    assert found["global"] == [512] and found["args"] == {"n": 7}
