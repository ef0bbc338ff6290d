"""Which findings `check` prints, and in which order."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

import pytest

from clmap_lsp.commands.changed import different_rows
from tests.cli.clmap_command import clmap

FAR = """\
// clmap: global=4096 local=128 a=zeros(4096*32)
__kernel void far(__global float *a)
{
    const int i = get_global_id(0);
    a[i * 32] = 1.0f;
}
"""
PART = """\
// clmap: global=4096 local=128 n=8 a=zeros(n*4096) b=zeros(16*4096)
__kernel void part(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0), N = get_global_size(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[k * N + i];
    b[i * 16] = sum;
}
"""


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [it for it in done.stdout.splitlines() if ": CM" in it]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.cl").write_text(PART)
    (tmp_path / "b.cl").write_text(FAR)
    return tmp_path


def test_what_costs_most_comes_first(folder: Path) -> None:
    found = lines(clmap("check", "a.cl", "b.cl", "--format", "concise", cwd=folder))
    assert [it.split(":")[0] for it in found] == ["b.cl", "a.cl"]
    as_in_files = clmap("check", "a.cl", "b.cl", "--format", "concise", "--sort", "place", cwd=folder)
    assert [it.split(":")[0] for it in lines(as_in_files)] == ["a.cl", "b.cl"]


def test_a_kernel_that_is_named_is_the_only_one(folder: Path) -> None:
    """Neither the others' findings, nor what they leave of a suppression, nor their launches are printed."""
    silenced = FAR.replace("= 1.0f;", "= 1.0f;  // clmap: ignore[CM102] the format of a file").replace(
        "far", "hidden"
    )
    (folder / "both.cl").write_text(PART + silenced)
    done = clmap("check", ".", "--kernel", "part", "--format", "concise", "--hints", cwd=folder)
    assert {it.split(":")[0] for it in lines(done)} == {"a.cl"}  # That of both.cl is a copy of it.
    assert not [it for it in lines(done) if "CM004" in it]
    assert lines(clmap("check", "both.cl", "--kernel", "part", "--format", "concise", cwd=folder))
    alone = clmap("check", "both.cl", "--kernel", "hidden", "--emulate", cwd=folder)
    assert alone.returncode == 0
    assert "Nothing found: 1 kernel in 1 file; 1 emulated" in alone.stdout
    given = clmap("check", "both.cl", "--kernel", "part", "--arg", "n=4", cwd=folder)
    assert "CM007" not in given.stdout
    unused = "__kernel void odd(__global int *a, int n) { int left; a[get_global_id(0)] = 1; }\n"
    (folder / "odd.cl").write_text(unused + unused.replace("odd", "even").replace("left", "right"))
    found = lines(clmap("check", "odd.cl", "--kernel", "even", "--hints", "--format", "concise", cwd=folder))
    assert [it.split(":")[1] for it in found] == ["2", "2"]  # What is unused there, and nothing of line 1.
    wrong = clmap("check", "both.cl", "b.cl", "--kernel", "part", "--arg", "q=4", cwd=folder)
    assert wrong.stdout.count("CM007") == 1


def test_one_is_one(tmp_path: Path) -> None:
    """`1 findings written` is what a program says, not a person."""
    (tmp_path / "b.cl").write_text(FAR)
    done = clmap("check", "b.cl", "--write-baseline", "base.json", cwd=tmp_path)
    assert "1 finding written to base.json" in done.stderr
    (tmp_path / "new.json").write_text(clmap("analyze", "b.cl", "--format", "json", cwd=tmp_path).stdout)
    (tmp_path / "b.cl").write_text(FAR.replace("i * 32", "i"))
    (tmp_path / "old.json").write_text(clmap("analyze", "b.cl", "--format", "json", cwd=tmp_path).stdout)
    worse = clmap("diff", "old.json", "new.json", cwd=tmp_path).stdout
    assert "1 figure of 1 kernel grew by" in worse
    assert not re.search(r"\b1 (findings|figures|kernels|files)\b", worse + done.stdout + done.stderr)


def test_hints_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    """A store of every other element, and text that is hardly OpenCL C, are not nothing."""
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0) * 2] = 1.0f; }\n")
    (tmp_path / "words.cl").write_text("not a kernel at all, just words.\n")
    both = clmap("check", "k.cl", "words.cl", cwd=tmp_path)
    assert both.returncode == 0
    assert both.stdout.startswith("Nothing found but 3 hints, which --hints prints: 1 kernel in 2 files; ")
    shown = clmap("check", "k.cl", "words.cl", "--hints", cwd=tmp_path)
    assert "3 hints: 1 kernel in 2 files" in shown.stdout
    one = clmap("check", "k.cl", cwd=tmp_path)
    assert one.stdout.startswith("Nothing found but 1 hint, which --hints prints: ")


def test_top_prints_the_first_and_says_what_it_left_out(folder: Path) -> None:
    done = clmap("check", "a.cl", "b.cl", "--top", "1", cwd=folder)
    assert done.returncode == 1
    assert "b.cl:5:5" in done.stdout and "a.cl:8" not in done.stdout
    assert "1 more are not shown" in done.stdout
    assert "at least one finding" in clmap("check", "a.cl", "--top", "0", cwd=folder).stderr


def test_a_summary_names_kernels_with_their_worst_share(folder: Path) -> None:
    done = clmap("check", "a.cl", "b.cl", "--format", "concise", "--summary", cwd=folder)
    table = done.stdout.partition("errors")[2].splitlines()[1:]
    assert [it.split()[-2:] for it in table] == [["far", "(b.cl)"], ["part", "(a.cl)"]]
    assert "100 %" in table[0]


def test_copies_of_a_file_are_one_finding_that_points_at_them(folder: Path) -> None:
    (folder / "copy.cl").write_text(FAR)
    done = clmap("check", "b.cl", "copy.cl", cwd=folder)
    assert done.stdout.count("CM102") == 1
    assert "copy.cl:5:5: the same here, in a copy" in done.stdout
    other = FAR.replace("* 32", "* 16")
    (folder / "copy.cl").write_text(other)
    assert clmap("check", "b.cl", "copy.cl", cwd=folder).stdout.count("CM102") == 2


def test_what_is_found_in_a_header_is_told_once_for_all_that_include_it(tmp_path: Path) -> None:
    (tmp_path / "rows.h").write_text(
        "void scale_row(__global float *a, int n) {\n"
        "    for (int j = 0; j < n; j++) a[get_global_id(0) * n + j] *= 2.0f;\n}\n"
    )
    for name in ("one", "two", "three"):
        call = f"__kernel void {name}(__global float *a, int n) {{ scale_row(a, n); }}\n"
        (tmp_path / f"{name}.cl").write_text('#include "rows.h"\n' + call)
    done = clmap("check", ".", cwd=tmp_path)
    assert done.stdout.count("CM101") == 1
    assert "one.cl:2:47: through this call of scale_row" in done.stdout
    assert "three.cl:2:49: the same in kernel three and 1 other kernel, through this call" in done.stdout


def test_a_header_that_is_checked_itself_tells_what_its_users_would(tmp_path: Path) -> None:
    (tmp_path / "rows.cl").write_text(FAR)
    for name in ("one", "two"):
        own = f"__kernel void {name}(__global float *a) {{ a[get_global_id(0)] = 1; }}\n"
        (tmp_path / f"{name}.cl").write_text('#include "rows.cl"\n' + own)
    done = clmap("check", ".", cwd=tmp_path)
    assert done.stdout.count("CM102") == 1
    assert done.stdout.startswith("rows.cl:")


def test_guesses_are_named_and_printed_as_a_configuration(tmp_path: Path) -> None:
    guard = "if (get_global_id(0) < n)"
    text = f"__kernel void k(__global float *a, int n) {{ {guard} a[get_global_id(0) * S] = 1.0f; }}\n"
    (tmp_path / "k.cl").write_text(text)
    done = clmap("check", "k.cl", "--guesses", cwd=tmp_path)
    assert "Guessed: 1 macro and launches of 1 kernel;" in done.stdout
    block = done.stdout.partition("\n\n")[2].partition("[build")
    pinned = block[1] + block[2]
    (tmp_path / "clmap.toml").write_text(pinned)
    again = clmap("check", "k.cl", "--format", "json", cwd=tmp_path)
    assert "guesses" not in json.loads(again.stdout), pinned
    assert json.loads(again.stdout)["findings"][0]["holds"] == "always"


# ------------------------------------------------------------------------------------------- changed lines


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def test_only_findings_on_changed_lines_are_told(repository: Path) -> None:
    assert not lines(clmap("check", ".", "--diff-base", "HEAD", "--format", "concise", cwd=repository))
    (repository / "b.cl").write_text(FAR.replace("* 32", "* 16"))
    (repository / "new.cl").write_text(PART.replace("part", "other"))
    done = clmap("check", ".", "--diff-base", "HEAD", "--format", "concise", cwd=repository)
    assert sorted(it.split(":")[0] for it in lines(done)) == ["b.cl", "new.cl"]
    assert done.returncode == 1


ROWS = """\
__kernel void rows(__global const float *in, __global float *out, int width)
{
    int x = get_global_id(1), y = get_global_id(0);
    out[y * width + x] = in[y * width + x] * 2;
}
"""
PROGRAM = """\
import numpy as np, pyopencl as cl
def go(queue, program, a, b):
    program.rows(queue, (512, 512), (16, 16), a, b, np.int32(512))
"""


@pytest.mark.parametrize(("name", "old", "new"), [("r.cl", "* 2;", "* 3;"), ("h.py", "(16, 16)", "(8, 32)")])
def test_what_a_changed_line_explains_is_told(repository: Path, name: str, old: str, new: str) -> None:
    """What is said of a whole kernel stands at its name: its accesses and its launch are other lines."""
    texts = {"r.cl": ROWS, "h.py": PROGRAM}
    for file, text in texts.items():
        (repository / file).write_text(text)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "rows")
    told = ("check", ".", "--diff-base", "HEAD", "--format", "concise")
    assert not lines(clmap(*told, cwd=repository))
    (repository / name).write_text(texts[name].replace(old, new))
    (found,) = lines(clmap(*told, cwd=repository))
    assert found.startswith("r.cl:1:15") and "CM104" in found


def test_a_repository_s_configuration_runs_nothing(repository: Path) -> None:
    """Filters, text conversions, external differences and monitors of a stranger's repository stay unused."""
    ran = repository / "ran"
    script = repository / "script.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    for key in ("filter.x.clean", "filter.x.smudge", "diff.x.textconv", "diff.external", "core.fsmonitor"):
        git(repository, "config", key, str(script))
    (repository / ".gitattributes").write_text("*.cl filter=x diff=x\n")
    (repository / "b.cl").write_text(FAR.replace("* 32", "* 16"))
    ran.unlink(missing_ok=True)
    assert lines(clmap("check", "b.cl", "--diff-base", "HEAD", "--format", "concise", cwd=repository))
    assert not ran.exists()


@pytest.mark.parametrize(
    ("revision", "said"), [("nowhere", "there is no such commit"), ("--output=x", "name a commit")]
)
def test_a_revision_that_is_none_is_one_line(repository: Path, revision: str, said: str) -> None:
    done = clmap("check", ".", f"--diff-base={revision}", cwd=repository)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_without_git_or_a_repository_the_cure_is_named(folder: Path) -> None:
    done = clmap("check", "b.cl", "--diff-base", "HEAD", cwd=folder, PATH="/nonexistent")
    assert done.returncode == 2 and "git is not installed" in done.stderr
    outside = clmap("check", "b.cl", "--diff-base", "HEAD", cwd=folder)
    assert outside.returncode == 2 and "not a git repository" in outside.stderr


def test_rows_differ_where_they_are_new_or_other() -> None:
    assert different_rows(["a", "b", "c"], ["a", "x", "c", "d"]) == {2, 4}
    assert different_rows(["a", "b"], ["b"]) == frozenset()
    assert different_rows([], ["a"]) == {1}


def test_files_of_equal_lines_are_compared_in_no_time():
    before, now = ["x"] * 20_000, ["x"] * 10_000 + ["y"] + ["x"] * 9_999
    assert different_rows(before, now) == {10_001}
    now[0] = "z"
    began = time.process_time()
    assert different_rows(before, now) == frozenset(range(1, 10_002))
    assert time.process_time() - began < 10


def test_kernels_in_strings_of_hosts_are_checked_beside_kernel_files(tmp_path: Path) -> None:
    raw = f'#include <string>\nstd::string kernels = R"(\n{FAR})";\nint main() {{}}\n'
    (tmp_path / "kernels.cpp").write_text(raw)
    (tmp_path / "other.cpp").write_text("int other() { return 1; }\n")
    (tmp_path / "plain.c").write_text(
        'const char *text =\n    "__kernel void near(__global float *a)\\n"\n'
        '    "{ a[get_global_id(0)] = 1; }\\n";\n'
    )
    (line,) = lines(clmap("check", ".", "--format", "concise", cwd=tmp_path))
    assert line.startswith("kernels.cpp:7:5: CM102")
    (tmp_path / "own.cl").write_text("__kernel void own(__global int *a) { a[get_global_id(0)] = 1; }\n")
    (line,) = lines(clmap("check", ".", "--format", "concise", cwd=tmp_path))
    assert line.startswith("kernels.cpp:7:5: CM102")


def test_kernels_in_strings_that_stand_in_kernel_files_are_checked_there(tmp_path: Path) -> None:
    """A build makes such hosts of kernel files: without comments, and laid out anew."""
    made = "".join(f'    "{line.strip()}\\n"\n' for line in FAR.splitlines() if not line.startswith("//"))
    (tmp_path / "a_made.h").write_text(f"static const char *far_kernel =\n{made};\n")
    (tmp_path / "far.cl").write_text(FAR.replace("{", "{ // by rows\n", 1))
    done = clmap("check", ".", "--format", "concise", "--summary", cwd=tmp_path)
    assert [line.partition(":")[0] for line in lines(done) if "CM102" in line] == ["far.cl"], done.stdout
    assert "a_made.h" not in done.stdout
    more = '\nconst char *more = "__kernel void one(__global int *a) { a[get_global_id(0) * 32] = 1; }";\n'
    (tmp_path / "a_made.h").write_text(f"static const char *far_kernel =\n{made};\n{more}")
    assert "a_made.h" in clmap("check", ".", "--format", "concise", cwd=tmp_path).stdout


def test_beside_kernel_files_parts_of_kernels_and_other_languages_are_left(tmp_path: Path) -> None:
    (tmp_path / "own.cl").write_text("__kernel void own(__global int *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "parts.cpp").write_text(
        'void put(std::ostream &out, int n) {\n    out << "__kernel void far(__global int *a) {";\n'
        '    for (int i = 0; i < n; i++) out << "a[get_global_id(0) * 32 + " << i << "] = 1;";\n'
        '    out << "}";\n}\n'
    )
    metal = (
        "kernel void far(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i * 32] = 1; }"
    )
    (tmp_path / "shader.hpp").write_text(f'static const char *shader = "{metal}";\n')
    done = clmap("check", ".", "--format", "concise", cwd=tmp_path)
    assert done.returncode == 0 and not lines(done), done.stdout
    assert lines(clmap("check", ".", "--format", "concise", cwd=tmp_path)) == []


def test_what_a_file_of_python_says_of_itself_is_no_code(tmp_path: Path) -> None:
    about = '__doc__ = """\nScales; the head may be had::\n\n    #include <own.cl>\n\n"""\n'
    licence = 'LICENCE = """\nUse it as you like.\nThere is no warranty;\nnone at all.\n"""\n'
    kernel = "#include <gone.h>\n__kernel void scale(__global real *a) { a[get_global_id(0)] *= 2; }\n"
    (tmp_path / "run.py").write_text(f'{about}{licence}CODE = """\n{kernel}"""\n')
    said = clmap("check", "run.py", cwd=tmp_path).stdout
    assert "gone.h" in said and "`real`" in said
    assert "own.cl" not in said and "warranty" not in said and "Scales" not in said, said


OF_BUILD = (
    "__kernel void {0}(__global {1} *a, __global {1} *b) {{ a[get_global_id(0)] = b[get_global_id(0)]; }}\n"
)


def test_a_type_that_only_the_build_defines_is_told_once_and_ends_no_check(tmp_path: Path) -> None:
    for name, type_ in (("one", "REAL"), ("two", "REAL"), ("three", "scalar_t"), ("four", "float")):
        (tmp_path / f"{name}.cl").write_text(OF_BUILD.format(name, type_))
    assert "Guessed: 2 macros (types: " in clmap("check", ".", cwd=tmp_path).stdout
    done = clmap("check", ".", "--hints", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("hint CM") == done.stdout.count("hint CM003") == 1, done.stdout
    assert "2 names are not defined in 3 files" in done.stdout
    assert re.search(r'build.defines = \{(REAL|scalar_t) = "float", (REAL|scalar_t) = "float"\}', done.stdout)
    assert "two.cl:1:28: not defined here" in done.stdout
    (tmp_path / "clmap.toml").write_text('[build]\ndefines = { REAL = "float", scalar_t = "double" }\n')
    assert "CM0" not in clmap("check", ".", cwd=tmp_path).stdout


def test_what_is_wrong_behind_an_error_of_the_build_rests_on_the_build(tmp_path: Path) -> None:
    """No build is found in which the type is defined: `#error` says so; what follows from it is not said."""
    kinds = "".join(
        f"#{'elif' if kind else 'if'} KIND == KIND_{name}\n"
        f"#if SIZE == 1\ntypedef {name} element;\n#elif SIZE == 2\ntypedef {name}2 element;\n"
        "#else\n#error no such size\n#endif\n"
        for kind, name in enumerate(("long", "int"))
    )
    numbers = "#define KIND_long 1\n#define KIND_int 2\n"
    kernel = "kernel void\ncopy(global const element* restrict a, global element* b)\n{ b[0] = a[0]; }\n"
    named = "channel element to_host __attribute__((depth(DEPTH)));\n"
    (tmp_path / "kinds.cl").write_text(f"{numbers}{kinds}#else\n#error no such kind\n#endif\n{named}{kernel}")
    done = clmap("check", "kinds.cl", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "#error no such" in done.stdout
    assert "error CM" not in done.stdout


def test_kernels_in_strings_of_python_with_single_quotes_are_checked(tmp_path: Path) -> None:
    host = "# Times: 3\nimport pyopencl\nCODE = '''\n{}'''\nprg = pyopencl.Program(ctx, CODE).build()\n"
    (tmp_path / "run.py").write_text(host.format(FAR.partition("\n")[2]))
    done = clmap("check", "run.py", cwd=tmp_path)
    assert "run.py:7:5" in done.stdout, done.stdout
    assert "CM102" in done.stdout
    assert "CM001" not in done.stdout


def test_names_that_the_host_has_for_types_are_those_types(tmp_path: Path) -> None:
    kernel = "__kernel void put(__global cl_float4 *a, cl_uint n) { a[get_global_id(0)] = (cl_float4)(n); }\n"
    (tmp_path / "put.cl").write_text(kernel)
    assert "(types: cl_float4 as float4, cl_uint as uint)" in clmap("check", "put.cl", cwd=tmp_path).stdout
    done = clmap("check", "put.cl", "--hints", cwd=tmp_path)
    assert 'build.defines = {cl_float4 = "float4", cl_uint = "uint"}' in done.stdout, done.stdout


def test_a_place_in_a_helper_is_one_finding_that_names_the_other_kernels(tmp_path: Path) -> None:
    kernels = "".join(
        f"// clmap: global=4096 local=128 a=zeros(4096*32)\n"
        f"__kernel void {name}(__global float *a) {{ put(a, {value}); }}\n"
        for name, value in (("one", 1), ("two", 2), ("three", 3))
    )
    (tmp_path / "k.cl").write_text(
        "void put(__global float *a, int v) { a[get_global_id(0) * 32] = v; }\n" + kernels
    )
    done = clmap("check", "k.cl", cwd=tmp_path)
    assert done.stdout.count("CM102") == 1
    assert "  Also in kernels `two`, `three`.\n" in done.stdout
    assert "1 warning: 3 kernels" in done.stdout
    (tmp_path / "k.cl").write_text(
        "void put(__global float *a, int v) { a[get_global_id(0) * 32] = v; } // clmap: ignore[CM102] meant\n"
        + kernels
    )
    assert "CM102" not in clmap("check", "k.cl", cwd=tmp_path).stdout


def test_kernels_of_one_launching_call_share_what_is_said_of_its_groups(tmp_path: Path) -> None:
    bodies = "".join(
        f"__kernel void {name}(__global float *a) {{ a[get_global_id(0)] = {value}; }}\n"
        for name, value in (("one", 1), ("two", 2))
    )
    (tmp_path / "all.cl").write_text(bodies)
    (tmp_path / "main.c").write_text("""\
int main(void) {
    const char *names[] = {"one", "two"};
    cl_program program = clCreateProgramWithSource(context, 1, &text_of_all_cl, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        size_t global = 65536, local = 8;
        cl_kernel kernel = clCreateKernel(program, names[i], NULL);
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    }
}
""")
    done = clmap("check", ".", cwd=tmp_path)
    assert done.stdout.count("CM505") == 1, done.stdout
    assert "  Also in kernel `two`.\n" in done.stdout


def test_a_habit_is_told_once_a_file(tmp_path: Path) -> None:
    kernels = "".join(
        f"__kernel void {name}(__global float *a) {{ barrier(CLK_GLOBAL_MEM_FENCE); "
        f"a[get_global_id(0)] = {value}; }}\n"
        for name, value in (("one", 1), ("two", 2), ("three", 3))
    )
    (tmp_path / "k.cl").write_text(kernels)
    done = clmap("check", "k.cl", cwd=tmp_path)
    assert done.stdout.count("CM507") == 1, done.stdout
    assert done.stdout.count("the same here") == 2
