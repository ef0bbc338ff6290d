"""What host code says of a kernel beside numbers: dimensions, and what its program puts before the file."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project
from clmap_lsp.workbench import Workbench
from clmap_lsp.workbench.opened import OpenedFile

LINEAR = """\
size_t place(void)
{
    return get_global_id(2) + get_global_size(2) * (get_global_id(1) + get_global_size(1) * get_global_id(0));
}
__kernel void put(__global float *to) { to[place()] = 1; }
"""
OPEN = """\
int main(int argc, char **argv)
{
    cl::Program program(context, SOURCE);
    cl::Kernel kernel(program, "put");
    cl::NDRange global(atoi(argv[1])), local(atoi(argv[2]));
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
}
"""


def opened(folder: Path, kernel: str, files: dict[str, str]) -> OpenedFile:
    """Return a kernel file beside host code, as the command line opens it."""
    (folder / ".git").mkdir()
    for name, text in {"src/put.cl": kernel, **files}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Workbench().open_text(str(folder / "src/put.cl"), kernel, Settings())


def test_a_launch_of_open_sizes_has_the_dimensions_of_the_host_code(tmp_path: Path) -> None:
    source = OPEN.replace("SOURCE", 'read("put.cl")')
    launch = opened(tmp_path, LINEAR, {"src/main.cpp": source}).analysis.kernels[0].launch
    assert launch is not None
    assert len(launch.global_size) == 1
    assert {"global", "local"} <= launch.inferred


def test_a_tuple_that_is_handed_on_says_no_dimensions() -> None:
    run = "import pyopencl as cl\nprg = cl.Program(ctx, open('put.cl').read()).build()\n"
    run += "def run(shape): prg.put(queue, shape, None, a)\n"
    texts = {"/w/put.cl": LINEAR, "/w/run.py": run}
    assert [it.dimensions for it in launches_of(read_project(texts, texts.get)).launches] == [0]


def test_a_header_and_macros_that_the_program_puts_before_the_file(tmp_path: Path) -> None:
    kernel = "__kernel void put(__global float *to) { to[get_global_id(0) * PITCH + SHIFT] = 1; }\n"
    source = OPEN.replace(
        "SOURCE", 'std::string("#define SHIFT 3 // words\\n") + read("sizes.h") + read("put.cl")'
    )
    file = opened(tmp_path, kernel, {"src/main.cpp": source, "inc/sizes.h": "#define PITCH 5\n"})
    assert not file.program.guesses
    assert [it.stride.text for it in file.analysis.kernels[0].accesses] == ["20"]


def test_files_with_kernels_are_not_put_before_another(tmp_path: Path) -> None:
    kernel = "__kernel void put(__global float *to) { to[get_global_id(0)] = 1; }\n"
    other = "__kernel void other(__global float *to) { to[0] = 1; }\n"
    source = OPEN.replace("SOURCE", 'read("other.cl") + read("put.cl")')
    file = opened(tmp_path, kernel, {"src/main.cpp": source, "src/other.cl": other})
    assert [it.name for it in file.analysis.kernels] == ["put"]
