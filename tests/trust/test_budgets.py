"""Nothing that a file says makes the tool wait, or take memory, beyond what holds for everybody."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from forked import run

from clmap_lsp.config import parse
from clmap_lsp.config.document import json_schema
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.contents import buffer_contents
from clmap_lsp.launch.expression import evaluate, evaluate_over_index
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.types import SCALARS, AddressSpace, PointerType
from clmap_lsp.worker.keys import _bare

posix = pytest.mark.skipif(os.name != "posix", reason="forks")
GATHER = "__kernel void k(__global float *a, __global int *b) { a[b[get_global_id(0)] & 63] = 1; }\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


@posix
@pytest.mark.parametrize(
    "contents",
    [
        "random(260000000)", "permutation(260000000)", "formula(60000000,sin(i)*cos(i))",
        "formula(260000000,i**3)", "formula(60000000,(i if i%3 else 1/1))", "zeros(2**39)",
        "formula(300000000,i*2)", "iota(1099511627776)",
    ],
)  # fmt: skip
def test_contents_are_bounded_before_they_are_made(repository: Path, contents: str):
    (repository / "k.cl").write_text(f"// clmap: global=64 local=64 a=zeros(64) b={contents}\n{GATHER}")
    before = os.times()
    assert run(repository, "check", "k.cl").returncode in (0, 1)
    done = run(repository, "emulate", "k.cl")
    after = os.times()
    assert after.children_user - before.children_user < 20
    assert done.returncode == 2
    assert "limit" in done.stderr or "too many" in done.stderr


@posix
def test_contents_within_the_limit_are_made(repository: Path):
    (repository / "k.cl").write_text(
        f"// clmap: global=64 local=64 a=zeros(64) b=formula(20000000,i*2)\n{GATHER}"
    )
    done = run(repository, "emulate", "k.cl")
    assert (done.returncode, done.stderr) == (0, "")
    assert "b: 20,000,000 int: 0, 2, 4, 6," in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "random(17003)", "random(17003,7)", "permutation(5001)", "iota(9001)",
        "formula(5001,sin(i)*64-1/(i+1))", "formula(5001,i*i%1009)", "formula(5001,i**2)",
        "formula(5001,-i if i%2 else i/3)", "formula(5001,min(i,1000)+floor(i/7))",
        "formula(5001,2**70+i)", "formula(5001,~i+abs(i-5))", "formula(5001,(i>7)*i)", "values(1,2,3)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("scalar", ["float", "uchar", "short", "ulong"])
def test_contents_made_in_pieces_are_those_made_at_once(
    text: str, scalar: str, monkeypatch: pytest.MonkeyPatch
):
    argument = parse_argument(text)
    assert isinstance(argument, BufferArgument)
    kind = PointerType(SCALARS[scalar], AddressSpace.GLOBAL)
    monkeypatch.setattr("clmap_lsp.launch.contents._CHUNK", 1 << 12)
    pieces = buffer_contents(argument, kind)
    monkeypatch.setattr("clmap_lsp.launch.contents._CHUNK", 1 << 30)
    assert np.array_equal(pieces, buffer_contents(argument, kind))


@pytest.mark.parametrize(
    "text", ["sin(i)/3", "i**2-i", "min(i,3)*1.5", "-i if i > 2 else i", "i/7//2", "5", "2**0.5"]
)
def test_values_are_those_of_python_one_by_one(text: str):
    found = evaluate_over_index(text, 50, {}, first=10).tolist()
    assert found == [evaluate(text, {"i": i}) for i in range(10, 50)]


@pytest.mark.parametrize(
    "text",
    [
        "1" * 5000,
        "0x" + "f" * 5000,
        "0x1p99999",
        "0xp1",
        "(-1)**0.5",
        "1e999999",
        "1" * 5000 + ".5",
        "9" * 400 + "*9",
    ],
)
def test_numbers_that_are_none_are_refused(text: str):
    try:
        parse_argument(text)
    except LaunchError as error:
        assert len(str(error)) < 6000
    with pytest.raises(LaunchError):
        evaluate("(-1)**0.5", {})


@posix
@pytest.mark.parametrize(
    "comment",
    [
        "global=64 local=64 n=" + "1" * 5000, "global=" + "9" * 5000, "n=0x1p99999", "n=0xp1", "n=(-1)**0.5",
        "n=" + "(" * 900 + "1" + ")" * 900, "n=1e99999", "n=" + "9" * 390, "n=2**4095", "n=1<<4000",
    ],
)  # fmt: skip
def test_numbers_of_a_comment_lose_no_findings(repository: Path, comment: str):
    kernel = "__kernel void k(__global float *a, int n) { a[get_global_id(0) * 64] = n; }\n"
    text = f"// clmap: {comment}\n{kernel}"
    (repository / "k.cl").write_text(text)
    run(repository, "check", "k.cl")  # `forked.run` fails on internal errors.


@posix
@pytest.mark.parametrize(
    "settings",
    [
        "[emulate]\ntime-limit = inf", "[emulate]\ntime-limit = 1e18", "[emulate]\ntime-limit = nan",
        "[emulate]\nmemory-limit = 99999999999", "x = " + "1" * 5000,
        "[emulate]\nmemory-limit = " + "1" * 4000,
        "[launch.k]\nglobal = " + "1" * 4200, "[launch.k]\nargs = {n = " + "1" * 4200 + "}",
    ],
)  # fmt: skip
def test_numbers_of_a_configuration_are_refused_with_their_place(repository: Path, settings: str):
    (repository / "clmap.toml").write_text(settings + "\n")
    (repository / "k.cl").write_text("__kernel void k(__global float *a, int n) { a[n] = n; }\n")
    done = run(repository, "check", "k.cl")
    assert done.returncode in (0, 1, 2)
    if done.returncode == 2:
        assert "clmap.toml:" in done.stderr


def test_the_schema_has_maxima():
    shape = json_schema()["properties"]["emulate"]["properties"]
    assert shape["time-limit"]["maximum"] == 3600
    assert shape["memory-limit"]["maximum"] == 65536


def test_settings_that_nobody_named_switch_nothing_on_and_raise_nothing():
    text = "[emulate]\nenabled = true\ntime-limit = 3000\nmemory-limit = 60000\n"
    held = parse("clmap.toml", text).of_a_repository().emulate
    assert (held.enabled, held.time_limit_s, held.memory_limit_mib) == (False, 10.0, 1024)
    lower = parse("clmap.toml", "[emulate]\ntime-limit = 2\nmemory-limit = 100\n").of_a_repository().emulate
    assert (lower.time_limit_s, lower.memory_limit_mib) == (2.0, 100)


@posix
def test_a_repository_does_not_have_its_kernels_run(repository: Path):
    (repository / "clmap.toml").write_text("[emulate]\nenabled = true\n")
    comment = "// clmap: global=64 local=64 a=zeros(1)\n"
    kernel = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }\n"
    (repository / "k.cl").write_text(comment + kernel)
    assert "CM301" not in run(repository, "check", "k.cl").stdout
    assert "CM301" in run(repository, "check", "--emulate", "k.cl").stdout
    assert "CM301" in run(repository, "check", "--config", "clmap.toml", "k.cl").stdout


def test_comments_that_are_not_closed_take_no_time():
    text = 'printf("/* ");\n' * 40_000
    started = time.process_time()
    _bare(text)
    assert time.process_time() - started < 5


def test_what_looks_like_a_comment_in_a_string_counts():
    assert _bare('a("/*"); b(1); /* x */ c("*/");') != _bare('a("/*"); b(2); /* y */ c("*/");')
    assert _bare('a("/*"); b(1); /* x */ c("*/");') == _bare('a("/*"); b(1); /* y */ c("*/");')


@posix
def test_wide_vectors_of_long_functions_are_refused_or_compiled_within_the_limit(repository: Path):
    """Statements are few here, and what LLVM makes of sixteen lanes of each is not: they took 9 s."""
    calls = ("pow(x, x)", "sin(x)", "atan2(x, x)", "erf(x)", "tgamma(x)")
    body = "".join(f"x = {calls[number % 5]}; " for number in range(201))
    kernel = f"__kernel void k(__global double16 *a) {{ double16 x = a[0]; {body}a[0] = x; }}\n"
    (repository / "k.cl").write_text(f"// clmap: global=1 local=1 a=zeros(1)\n{kernel}")
    before = os.times()
    done = run(repository, "emulate", "k.cl")
    after = os.times()
    assert done.returncode in (0, 1, 2)
    assert after.children_user - before.children_user < 20


@posix
@pytest.mark.parametrize("stream", ["1", "2"])
def test_a_stream_that_is_closed_is_no_internal_error(repository: Path, stream: str):
    (repository / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n")
    words = [sys.executable, "-P", "-m", "clmap_lsp", "check", "k.cl"]
    command = ["sh", "-c", f'exec "$@" {stream}>&-', "sh", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=repository, timeout=120, check=False)
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr + done.stdout
    assert "internal error" not in done.stderr + done.stdout
