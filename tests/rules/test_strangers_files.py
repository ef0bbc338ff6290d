"""Files as strangers have them: what other people's tools put around kernels is no error of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main
from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection

KERNEL = "__kernel void k(__global float *a) { a[get_global_id(0)] = 1.0f; }\n"
CAST = """__kernel void k(__global float *a) {
    __local float w[WGSIZE]; w[get_local_id(0)] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE); if (get_local_id(0) == 0) a[get_group_id(0)] = w[0] / ((float) WGSIZE); }
"""
WALK = """__kernel void k(__global float *a, int n) {
    for (int i = get_global_id(0); i < N_PARTICLES && DELTA_T < 1; i += n) a[i] += DELTA_T; }
"""


def found(path: Path) -> list[tuple[str, int, str]]:
    report = check_file(CheckJob(str(path), Settings(), Selection.of()))
    return [
        (it.code, report.start(it.span).row, it.severity.value)
        for it in report.findings
        if it.severity is not Severity.HINT
    ]


@pytest.mark.parametrize(
    "text",
    [
        'const char* SOURCE = R"(\n' + KERNEL + ')";\n',
        'static const std::string source =\n  R"CL(\n' + KERNEL + ')CL";\n',
        "#define N_PARTICLES $n\n#define DELTA_T $dt\n#if $dimension == 3\n#define D3\n#endif\n" + WALK,
        CAST,
        "double f(double x) { return nan((uint)22) + nan(3u) + nan((ulong)3); }\n" + KERNEL,
        "float2 f(uint2 x) { return nan(x); }\n" + KERNEL,
        "#if VWM == 1\ntypedef real realM;\n#endif\n#if VWN == 1\ntypedef real realN;\n#endif\n" + KERNEL,
    ],
)
def test_nothing_is_wrong_with(tmp_path: Path, text: str) -> None:
    path = tmp_path / "k.cl"
    path.write_text(text)
    assert [it for it in found(path) if it[0].startswith("CM0")] == []


def test_a_header_that_the_host_uses_too_is_no_problem_of_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text(
        "#ifndef GPU\n#include <cmath>\n#include <vector>\n#endif\n#define N 4\n"
    )
    path = tmp_path / "k.cl"
    path.write_text('#include "shared.h"\n' + KERNEL)
    assert found(path) == []


def test_missing_includes_of_a_kernel_are_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text('#include "one.h"\n#include "two.h"\n' + KERNEL)
    assert found(path) == [("CM002", 1, "information")]


def test_one_syntax_error_a_line(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "__kernel void k(__global float *a, int n) {\n for (int i = 0;; i < n; i++) a[i] = 1; }\n"
    )
    assert [it[:2] for it in found(path)] == [("CM001", 2)]


def test_installed_packages_and_the_host_are_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = "__kernel void k(__global float *a) { a[0] = ; }\n"
    for folder in ("env", "lib/site-packages/p", "node_modules/q"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "theirs.cl").write_text(broken)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "Makefile.OpenCL").write_text("# for OpenCL\nall:\n")
    (tmp_path / "dock.cpp.OpenCL").write_text("#include <string>\nclass Dock;\n")
    (tmp_path / "mine.cl").write_text(KERNEL)
    assert main(["check", str(tmp_path)]) == 0
    assert "1 file" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "env")]) == 1


def test_a_conflict_that_is_small_with_other_macros_is_no_warning(tmp_path: Path) -> None:
    """Padded for one element a work-item, as tuned kernels are; with the four that are guessed, 4-way."""
    path = tmp_path / "k.cl"
    path.write_text(
        """__kernel void turn(__global const float *a, __global float *b, int n) {
    __local float tile[(WPT * SIDE) * (WPT * SIDE + PAD)];
    const int x = get_local_id(0), y = get_local_id(1);
    for (int v = 0; v < WPT; v++)
        for (int w = 0; w < WPT; w++)
            tile[(y * WPT + v) * (WPT * SIDE + PAD) + x * WPT + w]
                = a[((get_group_id(1) * WPT + v) * SIDE + y) * n + (get_group_id(0) * WPT + w) * SIDE + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int v = 0; v < WPT; v++)
        for (int w = 0; w < WPT; w++)
            b[((get_group_id(0) * WPT + v) * SIDE + y) * n + (get_group_id(1) * WPT + w) * SIDE + x]
                = tile[(x * WPT + v) * (WPT * SIDE + PAD) + y * WPT + w];
}
"""
    )
    assert "warning" not in [it[2] for it in found(path) if it[0] == "CM201"]


def test_structures_that_files_before_define_are_no_errors_of_a_part(tmp_path: Path) -> None:
    """Text that a host puts behind other text: alone it does not compile, and is not meant to."""
    part = tmp_path / "part.cl"
    part.write_text("float along(struct ray r) { return r.origin.x + r.length; }\n")
    assert found(part) == []
    part.write_text(f"{part.read_text()}{KERNEL}")
    assert set(found(part)) == {("CM011", 1, "error")}


def test_what_a_host_puts_before_a_text_may_declare_its_functions(tmp_path: Path) -> None:
    """A text whose macros nothing defines has its prototypes where they are."""
    text = "__kernel void k(__global float *a) { a[get_global_id(0)] = half_of(FACTOR); }\n"
    below = "float half_of(float x) { return x / 2; }\n"
    part = tmp_path / "part.cl"
    part.write_text(text + below)
    assert "CM011" not in {code for code, *_ in found(part)}
    part.write_text("#define FACTOR 3\n" + text + below)
    assert found(part) == [("CM011", 2, "error")]


POOL = """\
const char *pool = R"(
struct Pool { __global uchar *memory; uint size; };
)";
const char *text = R"(
__kernel void fill(__global uchar *memory, uint size)
{
    struct Pool pool;
    make(&pool, memory, size);
    memory[get_global_id(0)] = 0;
}
)";
"""


def test_what_another_string_of_the_host_defines_is_no_error(tmp_path: Path) -> None:
    """Which strings a program is made of says the host, where it can be followed."""
    path = tmp_path / "pool_tests.cpp"
    path.write_text(POOL[POOL.index("const char *text") :])
    assert found(path) == []
    (tmp_path / "pool.cl").write_text("__kernel void f(__global int *a) { struct Pool p; a[0] = 1; }\n")
    assert [it[0] for it in found(tmp_path / "pool.cl")] == ["CM011"]


def test_a_cast_of_cpp_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "__kernel void k(__global float4 *o, read_only image2d_t v) {\n"
        "    float w = 2, h = 3;\n"
        "    o[0] = (float4)(1.0f / float(get_image_width(v)) / w, 1.0f / float(get_image_dim(v).y), h, 0);\n"
        "}\n"
    )
    assert found(path) == [("CM001", 3, "error")]


def test_a_copy_that_registers_do_not_hold_is_said_to_lie_in_memory(tmp_path: Path) -> None:
    """As CM503 says of it once it is written, on a device whose registers nobody counted, too."""
    path = tmp_path / "k.cl"
    path.write_text(
        "// clmap: global=1000 local=40 n=1000\n"
        "__kernel void mm(__global const float *a, __global const float *b, __global float *c, int n) {\n"
        "    int i = get_global_id(0);\n"
        "    for (int j = 0; j < n; j++) {\n"
        "        float sum = 0;\n"
        "        for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];\n"
        "        c[i * n + j] = sum;\n"
        "    }\n"
        "}\n"
    )
    report = check_file(CheckJob(str(path), Settings(), Selection.of()))
    (said,) = [it.message for it in report.findings if it.code == "CM510"]
    assert "1000 words, more than the 255 registers a work-item can have" in said
    assert "resident" not in said


@pytest.mark.parametrize(("value", "is_refused"), [("4294883355U", False), ("7", True)])
def test_an_enumerator_that_fits_no_int_is_unsigned(tmp_path: Path, value: str, is_refused: bool) -> None:
    """As in a generator of random numbers that many copy; compilers take the first and refuse the second."""
    path = tmp_path / "k.cl"
    path.write_text(
        f"uint next(uint x) {{ enum {{ A = {value} }}; return mul_hi(x, A); }}\n"
        "__kernel void k(__global uint *a) { a[get_global_id(0)] = next(a[get_global_id(0)]); }\n"
    )
    assert [it[0] for it in found(path)] == (["CM011"] if is_refused else [])
