"""The GitHub action's own script, run as a runner would, and the shape of every workflow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
KERNEL = "__kernel void f(__global float *a) { a[get_global_id(0) * 32] = 1.0f; }\n"


def _program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def _check(folder: Path, programs: str = "bin", **inputs: str) -> subprocess.CompletedProcess[str]:
    _program(
        folder / "runner" / "clmap" / programs, "clmap-lsp", f'exec "{sys.executable}" -P -m clmap_lsp "$@"'
    )
    (folder / "k.cl").write_text(KERNEL, encoding="utf-8")
    given = {"PATHS": "paths", "ARGS": "args", "FAIL_ON": "fail-on", "SARIF": "sarif"}
    return _step("Check", folder, given, inputs)


def _step(
    name: str, folder: Path, given: dict[str, str], inputs: dict[str, str], **env: str
) -> subprocess.CompletedProcess[str]:
    step = next(it for it in ACTION["runs"]["steps"] if it.get("name") == name)
    defaults = {name: it["default"] for name, it in ACTION["inputs"].items()}
    assert set(step["env"]) == {*given, *env}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            **os.environ,
            "RUNNER_TEMP": str(folder / "runner"),
            "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            **{name: inputs.get(key, defaults[key]) for name, key in given.items()},
            **env,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_run_annotates_writes_sarif_and_a_summary(tmp_path: Path) -> None:
    done = _check(tmp_path)
    assert done.returncode == 1, done.stderr
    assert "::warning file=k.cl,line=1" in done.stdout
    assert json.loads((tmp_path / "clmap.sarif").read_text())["runs"][0]["results"]
    assert "k.cl:1:" in (tmp_path / "summary").read_text()
    assert (tmp_path / "output").read_text() == "sarif=clmap.sarif\n"


def test_fail_on_decides_and_a_wrong_option_is_the_tools_error(tmp_path: Path) -> None:
    assert _check(tmp_path / "a", **{"fail-on": "never"}).returncode == 0
    assert _check(tmp_path / "b", args="--device nope").returncode == 2


def test_inputs_are_never_run(tmp_path: Path) -> None:
    done = _check(tmp_path, args="--device $(touch${IFS}owned) `touch owned` ; touch owned")
    assert done.returncode == 2
    assert not (tmp_path / "owned").exists()


def test_inputs_may_have_several_lines(tmp_path: Path) -> None:
    """As in `paths: |`; only what stood in the first line was checked."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "l.cl").write_text(KERNEL.replace("32", "16"), encoding="utf-8")
    done = _check(tmp_path, paths="k.cl\nmore\n", args="--device nvidia-hopper\n--select CM102\n")
    assert done.returncode == 1, done.stderr
    assert "file=k.cl" in done.stdout
    assert "file=more/l.cl" in done.stdout


@pytest.mark.parametrize("programs", ["bin", "Scripts"])
def test_it_runs_where_environments_have_their_programs_elsewhere(tmp_path: Path, programs: str) -> None:
    assert _check(tmp_path, programs).returncode == 1


@pytest.mark.parametrize("programs", ["bin", "Scripts"])
@pytest.mark.parametrize(
    ("inputs", "requirement"),
    [
        ({}, "clmap-lsp"),
        ({"version": "0.1.0"}, "clmap-lsp==0.1.0"),
        ({"extras": "emulate,report", "version": "0.1.0"}, "clmap-lsp[emulate,report]==0.1.0"),
    ],
)
def test_extras_and_version_are_installed(
    tmp_path: Path, programs: str, inputs: dict[str, str], requirement: str
) -> None:
    made = tmp_path / "runner" / "clmap" / programs
    _program(tmp_path, "python", f'mkdir -p "{made}"; cp "{tmp_path}/installer" "{made}/python"')
    _program(tmp_path, "installer", f'printf "%s\\n" "$@" > "{tmp_path}/installed"')
    given = {"EXTRAS": "extras", "VERSION": "version"}
    done = _step("Install clmap-lsp", tmp_path, given, inputs, PYTHON=str(tmp_path / "python"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "installed").read_text().split()[-1] == requirement


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS, ROOT / "examples/github-action.yml"])
def test_foreign_actions_are_pinned_by_commit(path: Path) -> None:
    uses = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    foreign = [it for it in uses if not it.startswith("clmap-lsp/")]
    assert foreign
    for it in foreign:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", it), it


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda it: it.name)
def test_workflows_ask_for_few_rights_and_never_expand_input_in_scripts(path: Path) -> None:
    flow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        for step in job["steps"]:
            assert "github.event" not in step.get("run", "")


def test_the_problem_matcher_reads_a_line_of_concise(tmp_path: Path) -> None:
    _check(tmp_path, **{"fail-on": "never"})
    line = (tmp_path / "runner" / "clmap.txt").read_text().splitlines()[0]
    matcher = json.loads((ROOT / ".github" / "problem-matcher.json").read_text())["problemMatcher"][0]
    pattern = matcher["pattern"][0]
    found = re.match(pattern["regexp"], line)
    assert found is not None, line
    assert [found[pattern[it]] for it in ("file", "line", "code")] == ["k.cl", "1", "CM102"]


def test_a_run_that_fails_shows_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    assert _check(tmp_path).returncode == 1
    (tmp_path / "summary").unlink()
    assert _check(tmp_path, args="--device nope").returncode == 2
    shown = (tmp_path / "summary").read_text()
    assert "k.cl:1:" not in shown
    assert "the log of the step says why" in shown


def test_sarif_is_one_line_or_none(tmp_path: Path) -> None:
    assert _check(tmp_path, sarif="out.sarif\nother=1\n").returncode == 1
    assert (tmp_path / "output").read_text() == "sarif=out.sarifother=1\n"
    none = _check(tmp_path / "none", sarif="")
    assert none.returncode == 1, none.stderr
    assert not list((tmp_path / "none").glob("*.sarif"))


def test_the_fence_of_the_summary_is_closed_where_the_text_is_cut(tmp_path: Path) -> None:
    many = "".join(KERNEL.replace("void f", f"void f{it}").replace("32", str(it)) for it in range(32, 250))
    name = 200 * "m" + ".cl"  # Each line begins with it: few kernels make a long text.
    (tmp_path / name).write_text(many, encoding="utf-8")
    _check(tmp_path, paths=name)
    lines = (tmp_path / "summary").read_text(encoding="utf-8", errors="replace").splitlines()
    assert len("\n".join(lines)) > 60_000
    assert lines[-1] == "~~~~~~"
