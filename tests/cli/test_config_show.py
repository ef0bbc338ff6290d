"""`config --show` says what holds and why; tables that are about nothing are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.clmap_command import assert_usage_error, clmap

ROOT = Path(__file__).parents[2]
KERNEL = """\
// clmap: N=128
__kernel void mm(__global float *a, int N, int M)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < N && y < M) a[y * N + x] *= SCALE * OTHER;
}
"""
HOST = """\
void run(cl_context c, cl_command_queue q, const char *s)
{
    cl_program p = clCreateProgramWithSource(c, 1, &s, 0, 0);
    clBuildProgram(p, 0, 0, "-DOTHER=3", 0, 0);
    cl_kernel k = clCreateKernel(p, "mm", 0);
    int m = 64;
    clSetKernelArg(k, 2, sizeof m, &m);
    size_t g[2] = {256, 64}, l[2] = {32, 4};
    clEnqueueNDRangeKernel(q, k, 2, 0, g, l, 0, 0, 0);
}
"""
CONFIG = """\
device = "nvidia-hopper"
[build.defines]
SCALE = 2
[launch.mm]
global = [128, 64]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "mm.cl").write_text(KERNEL)
    (tmp_path / "main.c").write_text(HOST)
    (tmp_path / "clmap.toml").write_text(CONFIG)
    return tmp_path


def test_every_value_names_where_it_comes_from(folder: Path) -> None:
    done = clmap("config", "--show", "--format", "json", "-D", "SCALE=7", cwd=folder)
    assert done.returncode == 0, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    options = {it["name"]: (it["value"], it["origin"], it["place"]) for it in file["options"]}
    assert options == {
        "device": ("nvidia-hopper", "configured", "clmap.toml"),
        "-cl-std": ("CL1.2", "default", ""),
        "SCALE": ("7", "given", ""),
        "OTHER": ("3", "host", ""),
    }
    (kernel,) = file["kernels"]
    launch = {it["name"]: (it["value"], it["origin"], it["place"]) for it in kernel["launch"]}
    assert launch["global size"] == ("128x64", "configured", "clmap.toml:4")
    assert launch["local size"] == ("32x4", "host", "main.c:9")
    assert launch["N"] == ("128", "configured", "line 1")
    assert launch["M"] == ("64", "host", "main.c:9")
    assert launch["a"][1:] == ("guessed", "")


def test_tables_that_match_nothing_are_told(folder: Path) -> None:
    more = '[launch.mmm]\nglobal = 64\n[[override]]\npaths = ["old/*.cl"]\ndevice = "generic-gpu"\n'
    (folder / "clmap.toml").write_text(CONFIG + more)
    done = clmap("config", "--show", cwd=folder)
    assert done.returncode == 1
    said = done.stdout.split("matches nothing:")[1]
    assert 'clmap.toml:6: [launch.mmm]: no file has a kernel of that name; did you mean "mm"?' in said
    assert "[[override]] paths = ['old/*.cl']" in said


_ONE = ("src/mm.cl", "--kernel", "mm")
READERS = {
    "check": ("check", "."),
    "check of standard input": ("check", "-", "--stdin-filename", "src/mm.cl"),
    "analyze": ("analyze", "src"),
    "analyze of standard input": ("analyze", "-", "--stdin-filename", "src/mm.cl"),
    "emulate": ("emulate", *_ONE),
    "fixes": ("fixes", *_ONE),
    "optimise": ("optimise", *_ONE),
    "report": ("report", "src", "-o", "report.html"),
}


@pytest.mark.parametrize("arguments", READERS.values(), ids=list(READERS))
def test_a_mistyped_launch_table_is_an_error_of_what_reads_it(
    folder: Path, arguments: tuple[str, ...]
) -> None:
    (folder / "clmap.toml").write_text(CONFIG + "[launch.mmm]\nglobal = 64\n")
    text = (folder / "src" / "mm.cl").read_text()
    done = clmap(*arguments, cwd=folder, stdin=text)
    assert_usage_error(done, "clmap.toml:6", "[launch.mmm]", 'did you mean "mm"?')


def test_every_command_that_takes_launches_is_among_those_that_refuse_mistyped_ones() -> None:
    modules = (ROOT / "clmap_lsp" / "commands").glob("*.py")
    takes = {it.stem for it in modules if "    add_launch_options(parser)" in it.read_text(encoding="utf-8")}
    # `config --show` lists what matches nothing, with the rest.
    assert takes - {"config"} == {it[0] for it in READERS.values()}


def test_a_table_for_a_kernel_that_is_not_checked_now_is_none(folder: Path) -> None:
    (folder / "src" / "other.cl").write_text("__kernel void other(__global int *a) { a[0] = 1; }\n")
    (folder / "host.py").write_text('SRC = "__kernel void text(__global int *a) { a[0] = 1; }"\n')
    glued = "#define MAKE(n) __kernel void part_##n(__global int *a) { a[0] = n; }\nMAKE(1)\n"
    (folder / "glued.cl").write_text(glued)
    tables = "".join(f"[launch.{it}]\nglobal = 64\n" for it in ("other", "text", "part_1"))
    (folder / "clmap.toml").write_text(CONFIG + tables)
    done = clmap("check", "src/mm.cl", cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["check", "analyze", "fixes", "emulate"])
def test_include_folders_that_are_not_there_are_told(folder: Path, command: str):
    (folder / "clmap.toml").write_text(
        CONFIG.replace("[build.def", '[build]\ninclude = ["inc", "src"]\n[build.def')
    )
    paths = ["src/mm.cl"]
    given = ["-I", "nosuch", "-I", "main.c", "-I", "src", "-DOTHER=1", "-DM=1", "--arg", "M=64"]
    said = clmap(command, *paths, *given, cwd=folder).stderr.splitlines()
    assert said[:3] == [
        "clmap-lsp: -I nosuch: no such folder; it is passed over",
        "clmap-lsp: -I main.c: not a folder; it is passed over",
        f"clmap-lsp: clmap.toml: include {folder / 'inc'}: no such folder; it is passed over",
    ]
    assert not any("passed over" in it for it in said[3:])


def test_include_folders_that_are_not_there_are_shown(folder: Path):
    done = clmap("config", "--show", "src", "-I", "nosuch", "-I", "src", cwd=folder)
    assert done.returncode == 1
    assert "-I nosuch: no such folder" in done.stdout
    shown = json.loads(clmap("config", "src", "-I", "nosuch", "--format", "json", cwd=folder).stdout)
    assert shown["unmatched"] == [{"place": "command line", "key": "-I nosuch", "reason": "no such folder"}]


def test_nobody_looks_whether_folders_outside_the_workspace_exist(folder: Path):
    text = CONFIG.replace("[build.def", '[build]\ninclude = ["/nosuch"]\n[build.def')
    (folder / "clmap.toml").write_text(text)
    assert "nosuch" not in clmap("check", "src/mm.cl", cwd=folder).stderr


@pytest.mark.parametrize("command", ["check", "analyze", "emulate", "config"])
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("a=file:nosuch", "no such file or directory"),
        ("a=file:src", "a folder, not a regular file"),
        ("a=file:", "it names no file"),
        ("a=image(4,4,file:nosuch)", "no such file or directory"),
    ],
)
def test_files_of_arguments_are_looked_for_by_every_command(
    folder: Path, command: str, argument: str, said: str
):
    done = clmap(command, "src/mm.cl", "--arg", argument, cwd=folder)
    assert_usage_error(done, f"--arg {argument}: {said}")
