"""Attacks on what stands around the kernels: environments, settings and texts of strangers.

Each ends, in seconds, with an answer or with one line; nothing outside the workspace shows.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from forked import run
from warm import clmap

posix = pytest.mark.skipif(os.name != "posix", reason="forks, names of any bytes")
pytestmark = posix
KERNEL = """\
// clmap: global=64 local=64 a=iota(4096) N=64
__kernel void k(__global float *a, int N) { a[get_global_id(0) * N] = 1.0f; }
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "k.cl").write_text(KERNEL)
    return folder


def said(done: object) -> str:
    return str(getattr(done, "stdout")) + str(getattr(done, "stderr"))  # noqa: B009


# ------------------------------------------------------------------------------------------- environment

ENVIRONMENTS = {
    "a home that is a file": {"HOME": "/etc/passwd", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""},
    "no home": {"HOME": "", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""},
    "a cache that is a device": {"XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/full"},
    "a cache in the checkout": {"XDG_CACHE_HOME": ".", "XDG_CONFIG_HOME": "."},
    "no folder for temporary files": {"TMPDIR": "/nowhere"},
    "ASCII": {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"},
    "a terminal of no width": {"COLUMNS": "0", "LINES": "-1", "TERM": "\x1b[2J", "FORCE_COLOR": "1"},
    "a terminal of any width": {"COLUMNS": "9" * 30, "FORCE_COLOR": "1", "TERM": "xterm"},
    "numbers that are none": {"OMP_NUM_THREADS": "-1", "OPENBLAS_NUM_THREADS": "x", "CLMAP_DEBUG": ""},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_any_environment(repository: Path, name: str):
    plain = run(repository, "check", "k.cl", "--format", "json")
    done = run(repository, "check", "k.cl", "--format", "json", environment=ENVIRONMENTS[name])
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert len(done.stderr.splitlines()) <= 1, done.stderr
    shown = run(repository, "check", "k.cl", environment=ENVIRONMENTS[name])
    assert shown.returncode == 1
    assert "CM102" in shown.stdout


# ----------------------------------------------------------------------------------------------- settings

SETTINGS = {
    "nested": "a = " + "[" * 50_000 + "]" * 50_000,
    "nested tables": "a = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "nested names": "[" + "a." * 60 + "b]\n" * 2,
    "digits": "device = " + "9" * 100_000,
    "hexadecimal": "device = 0x" + "f" * 100_000,
    "dates": "device = 9999-12-31T23:59:59.999999999999999999999-99:99",
    "infinity": "[emulate]\ntime-limit = inf\nmemory-limit = 1",
    "a glob of stars": f'exclude = ["{"*a" * 2_000}b"]',
    "a glob of brackets": f'exclude = ["{"[" * 5_000}", "[!]", "[z-a]", "[]-a]", "{"?" * 5_000}"]',
    "globs": "exclude = [" + '"**/*a*b*c*d*e*f*g", ' * 20_000 + "]",
    "overrides": '[[override]]\nfiles = ["*a*a*a*a*b"]\nselect = ["CM101"]\n' * 3_000,
    "severities": "[rules.severity]\n" + "".join(f'CM{it} = "hint"\n' for it in range(100, 30_000)),
    "a definition with lines": '[build]\ndefines = ["A=1\\n#include \\"/etc/passwd\\"\\n"]',
    "a definition of itself": '[build]\ndefines = ["A=A A A A", "B=A B", "N=N+N"]',
    "a definition of a bomb": "[build]\ndefines = ["
    + ", ".join(f'"D{i}=D{i + 1} D{i + 1}"' for i in range(60))
    + "]",
    "no text": '"\\ud800" = 1',
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_strangers(repository: Path, name: str):
    (repository / "clmap.toml").write_text(SETTINGS[name])
    (repository / ("a" * 200 + ".cl")).write_text(KERNEL)
    done = run(repository, "check", ".", "--format", "json", limit_s=60.0)
    assert done.returncode in (0, 1, 2)
    assert "root:" not in said(done)
    assert len(done.stderr.splitlines()) <= 3, done.stderr[:2000]
    assert len(done.stderr) < 2_000


# -------------------------------------------------------------------------------------------- source text

TEXTS = {
    "names that double": "#define C(a, b) a##b\n#define D(x) C(x, x)\nint "
    + "D(" * 34
    + "ab"
    + ")" * 34
    + ";\n",
    "names that double, pasted later": "#define N0(x) C(x, x)\n"
    "#define C(a, b) C2(a, b)\n#define C2(a, b) a##b\nint " + "N0(" * 34 + "ab" + ")" * 34 + ";\n",
    "texts that double": "#define S(x) T(x)\n#define T(x) #x\nconstant char *s = "
    + "S(" * 40
    + '"\\\\"'
    + ")" * 40
    + ";\n",
    "texts in texts": "#define T(x) #x\n"
    + "".join(f"#define S{i + 1}(x) T(S{i}(x))\n" for i in range(40))
    + '#define S0(x) T(x)\nconstant char *s = S40("\\\\");\n',
    "lines of others": '#line 1 "/etc/passwd"\n',
    "lines of a device": '#line 4294967295 "/dev/zero"\n',
    "lines without end": f'#line {"9" * 5_000} "{"x" * 100_000}"\n',
    "asks for a file": '#if __has_include("/etc/passwd")\n#error it is there\n#endif\n',
    "a prelude of pragmas": '_Pragma("include </etc/passwd>")\n#pragma include "/etc/passwd"\n' * 500,
    "an include by a macro": '#define P "/etc/" "passwd"\n#include P\n#define Q </etc/passwd>\n#include Q\n',
    "an include of a pipe": '#include "pipe"\n',
    "an embed": '#embed </etc/passwd>\nint x[] = {\n#embed "/dev/zero"\n};\n',
    "trigraphs": '??=include "/etc/passwd"\n%:include "/etc/passwd"\n',
    "a spliced include": '#inc\\\nlude "/etc/pas\\\nswd"\n',
    "macros before a function": "A(x) " * 3_000 + "\n",
    "suppressions": "// clmap: ignore[" + "CM101," * 50_000 + "]\n",
    "comments of launches": "// clmap: global=64 local=64\n" * 3_000,
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_strangers(repository: Path, name: str):
    if hasattr(os, "mkfifo"):
        os.mkfifo(repository / "pipe")
    (repository / "k.cl").write_text(TEXTS[name] + KERNEL)
    done = run(repository, "check", "k.cl", "--format", "full", "--hints", limit_s=60.0)
    assert done.returncode in (0, 1)
    assert "root:" not in said(done)
    assert len(done.stdout) < 500_000


def test_whether_a_file_outside_exists_is_not_told(repository: Path):
    told = []
    for path in ("/etc/passwd", "/etc/nobody"):
        (repository / "k.cl").write_text(
            f'#if __has_include("{path}")\n#error it is there\n#endif\n' + KERNEL
        )
        told.append(said(run(repository, "check", "k.cl", "--hints")).replace(path, ""))
    assert told[0] == told[1]


# ------------------------------------------------------------------------------------------ tables, records

DEEP = "[" * 100_000 + "]" * 100_000
RECORDS = {
    "nested": DEEP,
    "a number": "1" * 100_000,
    "an exponent": '{"version": 1e999999}',
    "no object": "[1, 2, 3]",
    "not a number": '{"version": NaN, "launches": [NaN, Infinity]}',
    "no text": '{"\\ud800": "\\udfff"}',
    "keys": "{" + ", ".join(f'"{it}": {it}' for it in range(100_000)) + "}",
    "zeros": "\0" * 10_000,
    "lines": "{}\n" * 10_000,
    "nothing": "",
}
TAKEN = {
    "a recording": ("check", "k.cl", "--recorded", "hostile"),
    "a baseline": ("check", "k.cl", "--baseline", "hostile"),
    "a sim file": ("check", "k.cl", "--sim", "hostile"),
    "settings": ("check", "k.cl", "--config", "hostile"),
    "a report of before": ("report", "k.cl", "--previous", "hostile"),
    "measurements": ("db", "import", "hostile"),
}


@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("taken", TAKEN)
def test_records_that_are_none(repository: Path, taken: str, record: str):
    (repository / "hostile").write_text(RECORDS[record])
    done = run(repository, *TAKEN[taken], limit_s=60.0)
    assert done.returncode in (0, 1, 2)
    assert len(done.stderr) < 2_000
    assert len(done.stderr.splitlines()) <= 3, done.stderr


@pytest.mark.parametrize("name", [b"\xff\xfe\xc3.cl", b"\x9b2J.cl", b"a\nb\r\nc.cl"])
def test_names_that_are_no_text_lose_no_findings(repository: Path, name: bytes):
    (repository / os.fsdecode(name)).write_text(KERNEL)
    (repository / "k.cl").unlink()
    done = run(repository, "check", ".", "--format", "json")
    assert done.returncode == 1
    assert "CM102" in str(json.loads(done.stdout))


@pytest.mark.parametrize(
    "attribute",
    [
        "reqd_work_group_size(0,1,2)",
        "reqd_work_group_size(1,0,2)",
        "work_group_size_hint(8,-16,32)",
        "reqd_work_group_size(\u00b2,1,1)",
        f"reqd_work_group_size({'1' * 5000},1,1)",
        "reqd_work_group_size(4294967295,4294967295,4294967295)",
        "intel_reqd_sub_group_size(0)",
        "intel_reqd_sub_group_size(\u0663)",
        f"intel_reqd_sub_group_size({'9' * 5000})",
        "vec_type_hint()",
    ],
)
def test_sizes_in_attributes_that_are_none_are_no_internal_error(attribute: str):
    from clmap_lsp.config import Settings
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.workbench import Workbench

    text = f"kernel __attribute__(({attribute})) void k(global int *a)\n"
    text += "{ a[get_global_id(0)] = get_local_id(1); }\n"
    enabled = "#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable\n"
    for said in (text, enabled + text):
        findings = Workbench().open_text("k.cl", said, Settings()).findings(Selection.of(("ALL",)))
        assert not [it for it in findings if "internal" in it.message]


@pytest.mark.parametrize(
    "text",
    [
        "exclude = [" + ", ".join(f'"{it}"' for it in range(60_000)) + "]\n",
        "[[override]]\npaths = ["
        + ", ".join(f'"{it}"' for it in range(60_000))
        + "]\ndevice = 'nvidia-h100'\n",
        "[[override]]\npaths = ['a']\n" * 5_000,
    ],
    ids=["excluded", "overridden", "overrides"],
)
def test_thousands_of_globs_are_one_line(tmp_path: Path, text: str):
    (tmp_path / "clmap.toml").write_text(text)
    (tmp_path / "k.cl").write_text("kernel void k(global int *a) { a[0] = 1; }\n")
    done = clmap("check", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "entries" in done.stderr
