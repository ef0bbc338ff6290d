"""An edited text read with what an earlier reading knows gives what a fresh reading gives."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from ir_dump import dump

from clmap_lsp.source import ir
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import Span
from tests.source.edits import edited, generated

SOURCE = """
#define SQ(x) ((x) * (x))
typedef struct { float x; int n[3]; } S;
__constant float WEIGHTS[3] = { 1, 2, 3 };

float helper(__global const float *p, int i) {
  if (i < 0) return WEIGHTS[0];
  return SQ(p[i]) + missing(i);
}

__kernel void first(__global float *a, const int n) {
  int i = get_global_id(0);
  for (int k = 0; k < n; k++) { a[i * n + k] += helper(a, k); }
}

__kernel void second(__global S *s, __local float *t) {
  __constant int table[2] = { 4, 5 };
  S q = s[get_local_id(0)];
  t[q.n[table[1]]] = UNKNOWN + WEIGHTS[2];
  barrier(CLK_LOCAL_MEM_FENCE);
  s[1] = q;
}

__kernel void third(__global float4 *v, __global uint *c) {
  float4 x = vload4(0, (__global float *)v);
  switch (c[0]) { case 1: x.xy = x.zw; break; default: atomic_inc(c); }
  v[get_global_id(1)] = x.s0 > 0 && v[1].x > 1 ? x : (float4)(1, 2, 3, 4);
}
"""


def places(block: ir.Block) -> Iterator[tuple[str, Span]]:
    """Every place of a body, in order."""
    for statement in ir.walk(block):
        yield type(statement).__name__, statement.span
        stack = list(ir.expressions(statement))
        while stack:
            value = stack.pop()
            yield type(value).__name__, value.span
            stack += ir.operands(value)


def content(program: Program) -> list[object]:
    found: list[object] = [sorted((it.code, it.message, it.span.start) for it in program.problems)]
    for kernel in program.kernels:
        variables = [(it.name, it.span, str(it.type)) for it in (*kernel.parameters, *kernel.variables)]
        found += [kernel.name, kernel.span, dump(kernel), list(places(kernel.body)), variables, kernel.frames]
        found.append([(it.name, it.span) for it in kernel.constants])
    found.append([(it.variable.name, it.variable.span, it.data) for it in program.constants])
    return found


def check(before: str, after: str) -> tuple[Program, Program]:
    first = read_program(before, "k.cl")
    second = read_program(after, "k.cl", previous=first.cache)
    assert content(second) == content(read_program(after, "k.cl"))
    return first, second


def test_an_untouched_text_gives_the_same_objects() -> None:
    first, second = check(SOURCE, SOURCE)
    assert all(a is b for a, b in zip(first.kernels, second.kernels, strict=True))


def test_kernels_before_an_edit_stay_the_same_objects() -> None:
    first, second = check(SOURCE, SOURCE.replace("x.s0 > 0", "x.s1 > 0"))
    same = [a is b for a, b in zip(first.kernels, second.kernels, strict=True)]
    assert same == [True, True, False]


def test_an_edit_in_a_helper_reaches_its_callers() -> None:
    first, second = check(SOURCE, SOURCE.replace("i < 0", "i < 1"))
    same = [a is b for a, b in zip(first.kernels, second.kernels, strict=True)]
    assert same == [False, True, True]
    assert "(i < 1:int)" in dump(second.kernels[0])


def test_an_edit_of_a_macro_a_type_or_a_constant_reaches_those_who_use_it() -> None:
    check(SOURCE, SOURCE.replace("((x) * (x))", "((x) + (x))"))
    check(SOURCE, SOURCE.replace("int n[3]", "int n[5]"))
    check(SOURCE, SOURCE.replace("1, 2, 3 }", "1, 2, 9 }"))


def test_a_change_of_qualifiers_alone_is_seen() -> None:
    _, second = check(SOURCE, SOURCE.replace("__local float *t", "__global float *t"))
    assert str(second.kernels[1].parameters[1].type) == "__global float*"


@pytest.mark.parametrize("seed", range(40))
def test_random_edits(seed: int) -> None:
    """A run of edits, each read with the cache of the one before."""
    random_ = random.Random(seed)
    text = SOURCE
    cache = read_program(text, "k.cl").cache
    for _ in range(6):
        at = random_.randrange(len(text))
        match random_.randrange(4):
            case 0:
                text = text[:at] + random_.choice([" ", "\n", "x", "1", ";", "/* */"]) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + random_.choice("xy01+;(") + text[at + 1 :]
            case _:
                line = text.rfind("\n", 0, at) + 1
                text = text[:line] + "// a comment\n" + text[line:]
        program = read_program(text, "k.cl", previous=cache)
        assert content(program) == content(read_program(text, "k.cl"))
        cache = program.cache


def test_white_space_that_moves_inside_a_function_moves_its_places() -> None:
    """The text that is parsed is the same, and so are the function's start and end."""
    check(SOURCE, SOURCE.replace("S q = s[", "S q=s[").replace("s[1] = q", "s[1]   = q"))


def test_white_space_in_a_macro_moves_the_places_of_its_body() -> None:
    moved = SOURCE.replace("((x) * (x))", "((x)* (x))").replace("typedef struct", "typedef  struct")
    check(SOURCE, moved)


def test_a_macro_use_that_is_torn_open_takes_in_the_functions_behind_it() -> None:
    """Their text is as it was, but what macros make in it is typed where the torn use is."""
    whole = """
#define N 64
#define AT(i, j) ((i) * N + (j))
__kernel void first(__global float *a, int n) { int i = n; a[i] = 0; }
float helper(__global float *a, int i) { return a[i < N]; }
__kernel void second(__global float *a, int n) { a[3] = helper(a, n); }
"""
    torn = whole.replace("int i = n", "int AT(i, i = n").replace("helper(a, n)", "helper(a, n))")
    check(whole, torn)
    check(torn, whole)


def test_a_torn_function_is_like_no_other_even_when_that_one_is_gone() -> None:
    torn = SOURCE.replace("S q = s[", "S q = = s[")
    keys = [hash(read_program(torn, "k.cl").cache.keys["second"]) for _ in range(50)]
    assert len(set(keys)) == len(keys)


FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.cl"))


@pytest.mark.parametrize("seed", range(48))
def test_runs_of_tokens_that_are_typed_deleted_and_moved(seed: int) -> None:
    """Same program, same places, whatever is edited: in files of ours and in generated ones."""
    rng = random.Random(seed)
    text = generated(rng) if seed % 3 else rng.choice(FIXTURES).read_text(encoding="utf-8")
    cache = read_program(text, "k.cl").cache
    for _ in range(5):
        text = edited(text, rng)
        program, fresh = read_program(text, "k.cl", previous=cache), read_program(text, "k.cl")
        assert not any(it.code == "internal-error" for it in fresh.problems)
        assert content(program) == content(fresh)
        cache = program.cache


@pytest.mark.parametrize("path", FIXTURES, ids=lambda it: it.stem)
def test_a_file_read_again_with_other_macros(path: Path) -> None:
    """What was guessed is tried with other values: the same program as a fresh reading gives."""
    text = f"__kernel void own(__global int *c) {{ c[0] = OWN; }}\n{SOURCE}\n{path.read_text('utf-8')}"
    first = read_program(text, "k.cl")
    names = ("OWN", "UNKNOWN", *(it.name for it in first.guesses))
    for value in ("8", "37"):
        options = BuildOptions(defines=tuple((it, value) for it in names))
        second = read_program(text, "k.cl", options, previous=first.cache)
        assert content(second) == content(read_program(text, "k.cl", options))
        variant = read_program(text, "k.cl", options, previous=first.cache, is_variant=True)
        assert content(variant) == content(second)


def test_what_other_macros_leave_alone_stays_the_same_wherever_it_moves() -> None:
    text = f"__kernel void own(__global int *c) {{ c[0] = OWN; }}\n{SOURCE}"
    first, options = read_program(text, "k.cl"), BuildOptions(defines=(("OWN", "123456789"),))
    variant = read_program(text, "k.cl", options, previous=first.cache, is_variant=True)
    same = [a is b for a, b in zip(first.kernels, variant.kernels, strict=True)]
    assert same == [False, True, True, True]
