"""Programs that one method makes and another launches from, and sources that C++ includes as strings."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project
from clmap_lsp.workbench import Workbench
from clmap_lsp.workbench.opened import OpenedFile

KERNEL = """\
R"(
__kernel void sums(__global const cell_t *a, __global cell_t *b)
{
    int x = get_global_id(0);
    cell_t s = 0;
    for (int i = 0; i < ALPHA; i++) s += a[x * ALPHA + i];
    if (x < SIDE * SIDE) b[x] = s;
}
)"
"""
COMMON = """\
// What all kernels share.
R"(
typedef double cell_t;
)"
"""
SIZES = "constexpr auto M = 4;\nconstexpr auto ALPHA = M + 3 - 1;\nconstexpr int SIDE = 19;\n"
HEADER = """\
struct Net {
    void init();
    void make_kernels();
    void forward(cl::Buffer& a, cl::Buffer& b);
    cl::CommandQueue m_queue;
    cl::Program m_program;
    cl::Kernel m_sums;
};
"""
HOST = """\
#include "net.h"
#include "size.h"
static const std::string config = R"(
#define SIDE )" + std::to_string(SIDE) +
"\\n#define ALPHA " + std::to_string(ALPHA) + "\\n";
const std::string common =
    #include "kernels/common.cl"
;
static const std::string sums =
    #include "kernels/sums.cl"
;
void Net::init()
{
    m_program = cl::Program(m_context, common + config + sums);
    m_program.build("-DUNROLL=4");
}
%s
"""
AT_ONCE = """
void Net::forward(cl::Buffer& a, cl::Buffer& b)
{
    cl::Kernel kernel(m_program, "sums");
    kernel.setArg(0, a);
    kernel.setArg(1, b);
    m_queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(384), cl::NDRange(64));
}
"""
IN_A_FIELD = """
void Net::make_kernels() { m_sums = cl::Kernel(m_program, "sums"); }
void Net::forward(cl::Buffer& a, cl::Buffer& b)
{
    m_sums.setArg(0, a);
    m_sums.setArg(1, b);
    m_queue.enqueueNDRangeKernel(m_sums, cl::NullRange, cl::NDRange(384), cl::NDRange(64));
}
"""


def opened(folder: Path, host: str) -> OpenedFile:
    (folder / ".git").mkdir()
    (folder / "kernels").mkdir()
    (folder / "kernels" / "sums.cl").write_text(KERNEL)
    (folder / "kernels" / "common.cl").write_text(COMMON)
    (folder / "size.h").write_text(SIZES)
    (folder / "net.h").write_text(HEADER)
    (folder / "net.cpp").write_text(host)
    return Workbench().open_text(str(folder / "kernels" / "sums.cl"), KERNEL, Settings())


@pytest.mark.parametrize("launching", [AT_ONCE, IN_A_FIELD])
def test_a_program_is_known_that_another_method_puts_into_the_field(tmp_path: Path, launching: str):
    file = opened(tmp_path, HOST % launching)
    (kernel,) = file.analysis.kernels
    assert kernel.launch is not None
    assert kernel.launch.global_size == (384,)
    assert dict(file.facts.defines) == {"SIDE": "19", "ALPHA": "6", "UNROLL": "4"}
    assert kernel.guesses == ()
    assert {str(it.access.type) for it in kernel.accesses} == {"double"}, "from the file that is put before"


def test_of_two_programs_in_a_field_neither_is_taken(tmp_path: Path):
    other = """
void Net::other()
{
    m_program = cl::Program(m_context, "#define SIDE 7\\n#define ALPHA 8\\n" + sums);
    m_program.build();
}
"""
    file = opened(tmp_path, HOST % (other + AT_ONCE))
    assert "ALPHA" not in dict(file.facts.defines)


def test_only_an_operand_is_a_text_that_is_included() -> None:
    table = 'static const int table[] = {\n#include "table.inc"\n};\n#define F(x) g(x,\n#include "sums.cl"\n'
    files = {"h.cpp": table + HOST % AT_ONCE, "sums.cl": KERNEL, "table.inc": "1, 2"}
    project = read_project(files, files.get)
    assert [it.kernel for it in launches_of(project).launches] == ["sums"]


ASSERTED = """\
struct tuned { size_t width = 0; size_t group = 0; };
void run(cl_command_queue q, cl_program p, struct tuned *given)
{
    struct tuned t;
    load(given, t);
    size_t width = %s;
    assert(width != 0 && "tuned");
    size_t global = width * 4;
    cl_kernel k = clCreateKernel(p, "sums", 0);
    clEnqueueNDRangeKernel(q, k, 1, 0, &global, 0, 0, 0, 0);
}
"""


def test_a_program_does_not_fail_its_own_assertions() -> None:
    files = {"h.c": ASSERTED % "0", "sums.cl": KERNEL}
    (launch,) = launches_of(read_project(files, files.get)).launches
    (size,) = launch.global_size
    assert (size.number, size.default) == (None, None)
    never = (ASSERTED % "0").replace('width != 0 && "tuned"', "0")
    files["h.c"] = never
    assert launches_of(read_project(files, files.get)).launches == ()
