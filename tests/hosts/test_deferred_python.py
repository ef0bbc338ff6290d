"""What Python does later than, or earlier than, where it is written: defaults, decorators and generators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

HEAD = """\
import pyopencl as cl
src = '''
__kernel void first(__global int *m, int n) { m[get_global_id(0)] = n; }
__kernel void second(__global int *m, int n) { m[get_global_id(0)] = n; }
'''
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
program = cl.Program(ctx, src).build()
"""


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[tuple[Any, ...]]:
    (tmp_path / "app.py").write_text(HEAD + text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return [(it["kernel"], *it["global"], it["args"].get("n")) for it in found]


def test_a_default_is_what_it_was_where_the_function_was_defined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def main():
    n = 64
    def step(count=n):
        program.first(queue, (count, ), None, buffer, np.int32(n))
    n = 128
    step()
    steps = []
    for size in (256, 512):
        steps.append(lambda count=size: program.second(queue, (count, ), None, buffer, np.int32(1)))
    steps[0]()
main()
""",
    )
    assert ("first", 64, 128) in found
    assert ("second", 256, 1) in found
    assert not [it for it in found if it[:2] == ("first", 128)]


def test_a_default_outside_of_functions_is_computed_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
rows = 32
def run(count=rows * 2):
    program.first(queue, (count, ), None, buffer, np.int32(3))
class Runner:
    def run(self, count=rows * 4):
        program.second(queue, (count, ), None, buffer, np.int32(4))
rows = 1000
run()
Runner().run()
""",
    )
    assert found == [("first", 64, 3), ("second", 128, 4)]


def test_an_inner_function_runs_as_its_decorator_calls_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def main():
    def doubled(function):
        def inner(size):
            return function(2 * size)
        return inner
    def scaled(by):
        def decorator(function):
            return lambda size: function(by * size)
        return decorator
    @doubled
    def one(size):
        program.first(queue, (size, ), None, buffer, np.int32(1))
    @scaled(3)
    @doubled
    def two(size):
        program.second(queue, (size, ), None, buffer, np.int32(2))
    @unknown.timed
    def three(size):
        program.first(queue, (size, ), None, buffer, np.int32(7))
    one(64)
    two(64)
    three(16)
main()
""",
    )
    assert found == [("first", 128, 1), ("second", 384, 2), ("first", 16, 7)]


def test_a_generator_runs_when_it_is_gone_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
size = 0
def sizes():
    yield 64
def launching(count):
    program.first(queue, (count, ), None, buffer, np.int32(size))
    yield
def main():
    global size
    steps = launching(256)
    size = 5
    for _ in steps:
        pass
    for each in sizes():
        program.second(queue, (each, ), None, buffer, np.int32(2))
    with opened(launching(32)) as it:
        pass
main()
""",
    )
    assert ("first", 256, 5) in found
    assert ("first", 32, 5) in found
    assert ("second", 64, 2) in found


def test_what_a_generator_yields_is_any_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
def sizes():
    yield 64
    yield from more()
def more():
    yield 128
def main():
    for each in sizes():
        program.first(queue, (each, ), None, buffer, np.int32(2))
    both = [program.second(queue, (8, ), None, buffer, np.int32(it)) for it in sizes()]
main()
""",
    )
    assert [it for it in found if it[0] == "first"] == [("first", "each", 2)]
    assert all(it[2] not in (64, 128) for it in found if it[0] == "second")
