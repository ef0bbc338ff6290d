"""What OpenCL C 2.0's pipes are given, and what its blocks may write, is held to clang's rules."""

from __future__ import annotations

import pytest

from clmap_lsp.index.reading import read_index
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions

HEAD = "kernel void k(pipe int source, write_only pipe float4 sink, global int *out, int n) {\n"
WRONG = {
    "write_pipe(source, out);": "invalid pipe access modifier (expecting write_only)",
    "float4 v; read_pipe(sink, &v);": "invalid pipe access modifier (expecting read_only)",
    "read_pipe(source);": "invalid number of arguments to function: 'read_pipe'",
    "read_pipe(n, out);": "first argument to 'read_pipe' must be a pipe type",
    "float v; read_pipe(source, &v);": (
        "invalid argument type to function 'read_pipe' (expecting 'int *' having 'float *')"
    ),
    "float4 v; write_pipe(sink, n, 0, &v);": (
        "invalid argument type to function 'write_pipe' (expecting 'reserve_id_t' having 'int')"
    ),
    "reserve_read_pipe(source);": "too few arguments to function call, expected 2, have 1",
    "commit_read_pipe(source, 1);": (
        "invalid argument type to function 'commit_read_pipe' (expecting 'reserve_id_t' having 'int')"
    ),
    "n = get_pipe_max_packets(n);": "first argument to 'get_pipe_max_packets' must be a pipe type",
    "void (^f)(void) = ^{ n = 2; };": "variable is not assignable (missing __block type specifier)",
    "float4 v; void (^f)(void) = ^{ v.x++; };": "variable is not assignable (missing __block type specifier)",
    "void (^f)(void) = ^{ int x; void (^g)(void) = ^{ x = 1; }; };": (
        "variable is not assignable (missing __block type specifier)"
    ),
}
RIGHT = (
    "if (read_pipe(source, out) == 0) n = get_pipe_num_packets(source); float4 v; write_pipe(sink, &v);",
    "reserve_id_t r = reserve_read_pipe(source, n); read_pipe(source, r, 0, out + n);",
    "reserve_id_t r = reserve_read_pipe(source, n); commit_read_pipe(source, r);",
    "HOSTS_OWN v; read_pipe(source, &v); read_pipe(HOSTS_PIPE, &v);",
    "void (^f)(int) = ^(int y) { int x = n; y = 2; x += y; out[x] = 1; *out = 2; }; f(1); n = 3;",
    "void (^f)(void) = ^{ int x; void (^g)(void) = ^{ int y = x; out[y] = 1; }; g(); x = 2; }; f();",
    "for (int i = 0; i < n; i++) { void (^f)(void) = ^{ out[i] = n; }; f(); n -= i; }",
)


def errors(text: str) -> list[str]:
    index = read_index(text, "k.cl", BuildOptions(standard="CL2.0"))
    return [it.issue.message for it in index.issues if it.issue.severity is Severity.ERROR]


@pytest.mark.parametrize(("body", "said"), WRONG.items())
def test_what_is_wrong_is_told(body: str, said: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == [said]


@pytest.mark.parametrize("body", RIGHT)
def test_what_is_right_is_not(body: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == []


def test_behind_a_block_that_cannot_be_read_variables_are_no_copies() -> None:
    (first,) = errors(f"{HEAD}void (^f)(void) = ^ 3;\n n = 2;\n}}\n")
    assert first == "expected '{'"


def test_pipes_in_program_scope_have_two_ends() -> None:
    ends = "kernel void a(int x) { write_pipe(both, &x); } kernel void b(int x) { read_pipe(both, &x); }"
    assert errors(f"pipe int both __attribute__((xcl_reqd_pipe_depth(32)));\n{ends}\n") == []
