"""What a person gets wrong: exit codes and one line that names cause and cure."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from clmap_command import SIMPLE, assert_usage_error, clmap

from clmap_lsp.cli import main

GOOD = "__kernel void f(__global float *x) { x[get_global_id(0) * 32] = 1.0f; }\n"


@pytest.mark.parametrize("command", [["check"], ["--check"], ["analyze"], ["emulate"]])
def test_a_missing_file(command: list[str]) -> None:
    assert_usage_error(clmap(*command, "nowhere.cl"), "nowhere.cl", "no such file")


def test_a_directory_without_kernels(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("nothing")
    assert_usage_error(clmap("--check", str(tmp_path)), "no kernels below this directory", ".cl")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"\x7fELF\x02\x01\x00\x00", "a binary file"),
        ("__kernel".encode("utf-16"), "UTF-16"),
        (GOOD.encode("utf-16-le"), "UTF-16"),
        (GOOD.encode("utf-16-be"), "UTF-16"),
    ],
)
def test_a_file_that_is_no_text(tmp_path: Path, data: bytes, part: str) -> None:
    path = tmp_path / "odd.cl"
    path.write_bytes(data)
    done = clmap("--check", str(path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert part in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", [("--check", "--hints", "--ignore", "CM101,CM102"), ("analyze",), ("emulate",)]
)
def test_a_file_in_an_old_encoding_is_read_and_keeps_it(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "old.cl"
    path.write_bytes(b"// \xa9 caf\xe9\n" + GOOD.encode())
    done = clmap(*command, str(path))
    assert done.returncode == 0, done.stderr
    if command[0] == "--check":
        assert "hint CM010" in done.stdout
        assert "CM010" not in clmap("--check", str(path)).stdout  # Comments change nothing.


def test_a_byte_of_an_old_encoding_outside_of_comments_is_told(tmp_path: Path) -> None:
    path = tmp_path / "old.cl"
    path.write_bytes(b"#define UNIT \xb5\n" + GOOD.encode())
    assert "CM010" in clmap("--check", str(path)).stdout


def test_an_unreadable_file_does_not_hide_the_findings_of_others(tmp_path: Path) -> None:
    (tmp_path / "a.cl").write_bytes(b"\x00")
    (tmp_path / "b.cl").write_text(GOOD)
    done = clmap("--check", str(tmp_path), "--format", "concise")
    assert done.returncode == 2
    assert "CM102" in done.stdout
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["k.cu", "k.CUH", "k.hip"])
def test_kernels_in_another_language_are_told_as_that(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("__global__ void f(float *a) { a[threadIdx.x * 32] = 1; }\n")
    assert_usage_error(clmap("check", name, cwd=tmp_path), name, "not OpenCL C")


def test_a_source_for_several_languages_is_checked(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(GOOD)
    assert clmap("check", "k.cu", cwd=tmp_path).returncode == 1


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch, capsys) -> None:
    """Whose kernels are not checked. A refused one is made: root may look everywhere."""
    for folder in (tmp_path, tmp_path / "closed"):
        folder.mkdir(exist_ok=True)
        (folder / "k.cl").write_text(GOOD)
    scan = os.scandir

    def refuse(path: str):
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert main(["check", str(tmp_path), "--format", "concise"]) == 1
    printed = capsys.readouterr()
    assert "CM102" in printed.out
    assert f"{tmp_path / 'closed'}: left out (permission denied)" in printed.err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="becomes another user")
def test_a_folder_that_may_not_be_entered_is_named_itself(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "k.cl").write_text(GOOD)
    closed.chmod(0)
    code = f"""
import os
from pathlib import Path
from clmap_lsp.config.load import find
from clmap_lsp.workspace import workspace_of
os.setegid(65534)
os.seteuid(65534)
print(workspace_of({str(closed / "k.cl")!r}), find(Path({str(closed)!r})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{closed} None"


def test_syntax_errors_leave_the_other_kernels(tmp_path: Path) -> None:
    path = tmp_path / "half.cl"
    path.write_text(f"__kernel void broken(__global float *x) {{ x[0] = ; }}\n{GOOD}")
    done = clmap("--check", str(path), "--format", "concise")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [it for it in lines if " CM001 " in it and ":1:" in it]
    assert [it for it in lines if " CM102 " in it and ":2:" in it]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--frobnicate"], ["unknown option --frobnicate"]),
        (["check", SIMPLE, "--formt", "json"], ["unknown option --formt; did you mean --format?"]),
        (["analyze", SIMPLE, "--statistics"], ["unknown option --statistics here; check has it"]),
        (
            ["check", SIMPLE, "--version"],
            ["--version behind a command; it is used alone: clmap-lsp --version"],
        ),
        (["chekc", SIMPLE], ['unknown command "chekc"; did you mean "check"?']),
        (
            ["fixings", SIMPLE],
            ['unknown command "fixings"; see clmap-lsp --help'],
        ),  # A module's name, no command.
        (["check"], ["check needs a PATH"]),
        (["check", SIMPLE, "--format", "xml"], ["xml", "concise"]),
        (["check", SIMPLE, "--device", "nvidia-hoper"], ['unknown device "nvidia-hoper"', "nvidia-hopper"]),
        (["check", SIMPLE, "--select", "CM1O1"], ['unknown rule "CM1O1"', "CM101"]),
        (["check", SIMPLE, "--config", "none.toml"], ["none.toml", "no such file"]),
        (["check", SIMPLE, "--baseline", "none.json"], ["none.json", "--write-baseline"]),
        (["check", SIMPLE, "--device", "x" * 5000], ['unknown device "xxx', "clmap-lsp devices"]),
        (["check", SIMPLE, "--jobs", "0"], ["--jobs 0"]),
        (
            ["emulate", SIMPLE, "--kernel", "mm_simple", "--sub-group-synchronous", str(1 << 70)],
            ["give a number of work-items, such as 32"],
        ),
        (["check", SIMPLE, "-D", "1=2"], ["-D 1=2", "-D NAME=VALUE"]),
        (["check", SIMPLE, "-cl-std=CL9.9"], ["CL9.9", "CL1.2"]),
        (["check", SIMPLE, "--stdin-filename", "x.cl"], ["--stdin-filename", "-"]),
        (["check", SIMPLE, "--global", "a,b"], ["--global"]),
        (["check", SIMPLE, "--arg", "N"], ["--arg N", "NAME=VALUE"]),
        (["check", SIMPLE, "--sim", "none.sim"], ["none.sim", "no such file"]),
        (["analyze", SIMPLE, "--kernel", "mm_simpel"], ['no kernel "mm_simpel"', "mm_simple"]),
        (["emulate", SIMPLE], ["--kernel", "mm_simple"]),
        (["emulate", SIMPLE, "--kernel", "mm_simple", "--time-limit", "0"], ["--time-limit 0"]),
        (["explain", "CM999"], ['unknown rule "CM999"']),
        (["devices", "vodoo"], ['unknown device "vodoo"']),
        (["diff", "a.json", "b.json"], ["a.json", "no such file"]),
    ],
    ids=lambda it: " ".join(it)[:60] if isinstance(it, list) else None,
)
def test_wrong_options(arguments: list[str], parts: list[str]) -> None:
    assert_usage_error(clmap(*arguments), *parts)


def test_a_broken_configuration_names_its_place(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(GOOD)
    (tmp_path / "clmap.toml").write_text('\ndevice = "nvidia-hoper"\n')
    assert_usage_error(
        clmap("--check", str(tmp_path / "k.cl")), "clmap.toml:2:10:", 'did you mean "nvidia-hopper"?'
    )


def test_an_internal_error_is_one_line_and_a_traceback_on_request(tmp_path: Path) -> None:
    """A rule that fails stands for any fault of ours: it is planted through a start-up hook."""
    hook = (
        "import clmap_lsp.rules.runner as runner\n"
        "def boom(*arguments): raise RuntimeError('planted\\nfault')\n"
        "runner.run = boom\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hook)
    done = clmap("--check", SIMPLE, PYTHONPATH=str(tmp_path))
    assert_usage_error(done, "internal error: RuntimeError: planted fault", "report it", "CLMAP_DEBUG=1")
    shown = clmap("--check", SIMPLE, PYTHONPATH=str(tmp_path), CLMAP_DEBUG="1")
    assert "Traceback" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("check", SIMPLE, "--kernel", ""), "--kernel"),
        (("check", SIMPLE, "--device", ""), "--device"),
        (("check", SIMPLE, "--select", ""), "--select"),
        (("check", SIMPLE, "-I", ""), "-I"),
        (("check", ""), "PATH"),
        (("analyze", "", "--kernel", "mm_simple"), "PATH"),
        (("report", SIMPLE, "-o", ""), "-o"),
    ],
)
def test_an_empty_value_is_a_variable_that_nobody_set(arguments: tuple[str, ...], name: str) -> None:
    assert_usage_error(clmap(*arguments), f"clmap-lsp: {name} is empty; give it a value or leave it out")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", SIMPLE, "--jobs", "1e9"), "--jobs 1e9: give a whole number; see clmap-lsp check --help"),
        (("diff", "a", "b", "--threshold", "x"), "--threshold x: give a number; see clmap-lsp diff --help"),
        (("check", SIMPLE, "--kernel"), "--kernel needs a value; see clmap-lsp check --help"),
        (("explain", "CM101", "CM102"), "unexpected argument CM102; see clmap-lsp explain --help"),
        (("--chek", SIMPLE), "unknown option --chek; did you mean --check?"),
        (("-D", "N=1", "check", SIMPLE), "unknown option -D here; "),
        (("explain", "ALL"), 'unknown rule "ALL"; "clmap-lsp rules" lists them'),
        (("--tcp", "99999"), "--tcp 99999: give a port from 1 to 65535"),
        (("check", SIMPLE, "--memory-limit", "9999999999"), "above 0 and below 10^9"),
        (
            ("emulate", SIMPLE, "--kernel", "mm_simple", "--device-time-limit", "-1"),
            "--device-time-limit -1: ",
        ),
        (("calibrate", "--sizes", "0", "--dry-run"), "size 0 is not a positive multiple"),
    ],
)
def test_what_is_wrong_is_said_of_what_was_typed(arguments: tuple[str, ...], said: str) -> None:
    assert_usage_error(clmap(*arguments), said)


def _in_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.quote(sys.executable)} -m clmap_lsp"
    return subprocess.run(
        ["sh", "-c", script.replace("clmap-lsp", command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.name != "posix", reason="streams are closed by a POSIX shell")
def test_standard_input_that_is_closed_is_no_empty_text(tmp_path: Path) -> None:
    assert_usage_error(_in_shell("clmap-lsp check - <&-", tmp_path), "<stdin>: standard input is closed")


@pytest.mark.skipif(os.name != "posix", reason="a folder in use cannot be deleted")
def test_a_current_folder_that_was_deleted(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = _in_shell(f"cd gone; rmdir ../gone; clmap-lsp check {shlex.quote(SIMPLE)}", tmp_path)
    said = [it for it in done.stderr.splitlines() if it.startswith("clmap-lsp: ")]
    assert done.returncode == 2
    assert said == ["clmap-lsp: the current folder was deleted; change to one that exists"]
