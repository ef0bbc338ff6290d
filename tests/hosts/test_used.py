"""Other commands take launches from host code by themselves, and say the line that they come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import warm

KERNEL = """\
__kernel void copy(__global float *to, __global const float *from, int pitch)
{
    int x = get_global_id(0), y = get_global_id(1);
    to[x * pitch + y] = from[x * pitch + y] * SCALE;
}
"""
HOST = """\
#define SIDE 64
int main(int argc, char **argv)
{
    int pitch = argc > 1 ? atoi(argv[1]) : 128;
    cl_program program = clCreateProgramWithSource(context, 1, load("copy.cl"), NULL, &err);
    clBuildProgram(program, 0, NULL, "-DSCALE=3", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "copy", &err);
    size_t global[2] = { SIDE, SIDE };
    size_t local[2] = { 32, 2 };
    clSetKernelArg(kernel, 2, sizeof(int), &pitch);
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}
"""


def clmap(folder: Path, *arguments: str) -> Any:
    done = warm.clmap(*arguments, "--format", "json", cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def program(folder: Path) -> None:
    (folder / "clmap.toml").write_text("")
    (folder / "copy.cl").write_text(KERNEL)
    (folder / "main.c").write_text(HOST)


def test_analyze_takes_sizes_scalars_and_options(tmp_path: Path) -> None:
    program(tmp_path)
    kernel = clmap(tmp_path, "analyze", "copy.cl")["files"][0]["kernels"][0]
    launch = kernel["launch"]
    assert (launch["global"], launch["local"]) == ([64, 64], [32, 2])
    assert launch["args"]["pitch"] == 128
    assert launch["origin"] == "host"
    assert launch["origins"]["local"] == "host"
    assert launch["origins"]["pitch"] == "host default"
    assert launch["source"] == "main.c:11"


def test_options_and_configuration_are_stronger(tmp_path: Path) -> None:
    program(tmp_path)
    (tmp_path / "clmap.toml").write_text("[launch.copy]\nargs = { pitch = 77 }\n")
    given = clmap(tmp_path, "analyze", "copy.cl", "--kernel", "copy", "--global", "32,32", "--local", "8,8")
    launch = given["files"][0]["kernels"][0]["launch"]
    assert (launch["global"], launch["local"], launch["args"]["pitch"]) == ([32, 32], [8, 8], 77)
    assert launch["origins"]["pitch"] == "configured"
    (tmp_path / "clmap.toml").write_text("[hosts]\nenabled = false\n")
    launch = clmap(tmp_path, "analyze", "copy.cl")["files"][0]["kernels"][0]["launch"]
    assert launch["origin"] == "inferred"


def test_a_finding_points_to_the_launch(tmp_path: Path) -> None:
    program(tmp_path)
    findings = clmap(tmp_path, "check", "copy.cl")["findings"]
    assert not [it for it in findings if it["code"] == "CM001"], "SCALE is defined by the host's options"
    found = next(it for it in findings if it["code"] == "CM104")
    assert "launch from the host code, by default: pitch" in found["message"]
    place = found["related"][-1]
    assert Path(place["filename"]).name == "main.c"
    assert place["location"] == {"row": 11, "column": 5}
    assert place["message"] == "`copy` is launched here: 64x64 in groups of 32x2"


def test_host_code_for_another_kernel_of_the_name_does_no_harm(tmp_path: Path) -> None:
    program(tmp_path)
    required = KERNEL.replace("__kernel", "__kernel __attribute__((reqd_work_group_size(8, 8, 1)))")
    (tmp_path / "copy.cl").write_text(required)
    launch = clmap(tmp_path, "analyze", "copy.cl")["files"][0]["kernels"][0]["launch"]
    assert launch["local"] == [8, 8]
    assert launch["origin"] == "inferred"


def test_a_mistyped_kernel_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    program(tmp_path)
    done = warm.clmap("check", "copy.cl", "--kernel", "cpoy", "--global", "64,64", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == 'clmap-lsp: --kernel cpoy: no file that is checked has it; did you mean "copy"?\n'


def test_a_size_that_was_guessed_is_not_what_is_launched(tmp_path: Path) -> None:
    program(tmp_path)
    (tmp_path / "main.c").write_text(HOST.replace("{ SIDE, SIDE }", "{ rows + 32, SIDE }"))
    findings = clmap(tmp_path, "check", "copy.cl")["findings"]
    found = next(it for it in findings if it["code"] == "CM104")
    said = found["related"][-1]["message"]
    assert said.startswith("`copy` is launched here: (rows + 32) x 64 in groups of 32 x 2; taken as ")
