"""`clmap-lsp launches` from outside: what host programs of our own, in many styles, are said to launch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from warm import clmap

KERNEL = """\
__kernel void scale(__global float *a, __local float *tile, const int n, float factor)
{
    int i = get_global_id(0);
    if (i < n) a[i] *= factor;
}
"""
SETUP = """\
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    clBuildProgram(program, 1, &device, options, NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "scale", &err);
"""


def launches(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = clmap("launches", str(folder), "--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    return document["launches"]


def c_program(folder: Path, body: str, head: str = "", options: str = "NULL") -> list[dict[str, Any]]:
    (folder / "scale.cl").write_text(KERNEL)
    text = f"""{head}
int main(int argc, char **argv)
{{
    const char *source = load_file("scale.cl");
    const char *options = {options};
{SETUP}
{body}
    return 0;
}}
"""
    (folder / "main.c").write_text(text)
    return launches(folder)


def one(found: list[dict[str, Any]]) -> dict[str, Any]:
    assert len(found) == 1, found
    return found[0]


def test_constants_through_defines_variables_and_helpers(tmp_path: Path) -> None:
    head = """
#define GROUP 64
#define DOUBLE(x) (2 * (x))
enum { ROWS = 3, COLUMNS };
static size_t round_up(size_t group, size_t size)
{
    size_t rest = size % group;
    if (rest == 0) return size;
    return size + group - rest;
}
"""
    body = """
    size_t local[1] = { DOUBLE(GROUP) };
    size_t n = 1000 * ROWS;
    size_t global = round_up(local[0], n);
    int count = (int)n;
    float factor = 0.5f;
    clSetKernelArg(kernel, 1, local[0] * sizeof(float), NULL);
    clSetKernelArg(kernel, 2, sizeof(int), &count);
    clSetKernelArg(kernel, 3, sizeof(float), (void *)&factor);
    err = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local, 0, NULL, NULL);
"""
    it = one(c_program(tmp_path, body, head))
    assert it["kernel"] == "scale"
    assert it["kernel_file"].endswith("scale.cl")
    assert (it["global"], it["local"]) == ([3072], [128])
    assert it["args"] == {"n": 3000, "factor": 0.5}
    assert it["local_args"] == {"tile": 512}
    row = (
        (tmp_path / "main.c")
        .read_text()
        .splitlines()
        .index("    err = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, local, 0, NULL, NULL);")
    )
    assert it["host_row"] == row + 1


def test_what_depends_on_the_command_line_stays_an_expression_with_its_default(tmp_path: Path) -> None:
    body = """
    int n = 4096;
    if (argc > 1) n = atoi(argv[1]);
    size_t global = n / 4, local = 64;
    clSetKernelArg(kernel, 2, sizeof(int), &n);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
"""
    it = one(c_program(tmp_path, body))
    assert it["global"] == ["n / 4"]
    assert it["local"] == [64]
    assert it["args"] == {"n": "n"}
    assert it["defaults"] == {"global": [1024], "local": [64], "args": {"n": 4096}, "local_args": {}}


@pytest.mark.parametrize(
    ("body", "local", "default"),
    [
        (
            "size_t local = 256; clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE,"
            " sizeof(size_t), &local, NULL);",
            "local",
            None,
        ),
        (
            "size_t local = 256, most; clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most),"
            " &most, NULL); if (local > most) local = most;",
            "local",
            256,
        ),
        (
            "size_t local = 256; while (local > device_limit()) local /= 2;",
            "local",
            None,
        ),
    ],
    ids=["overwritten", "bounded", "halved"],
)
def test_a_size_that_a_device_decides_is_no_constant(
    tmp_path: Path, body: str, local: str, default: int | None
) -> None:
    launch = (
        "size_t global = 65536; clEnqueueNDRangeKernel(q, kernel, 1, NULL, &global, &local, 0, NULL, NULL);"
    )
    it = one(c_program(tmp_path, f"    {body}\n    {launch}\n"))
    assert it["global"] == [65536]
    assert it["local"] == [local]
    if default is not None:
        assert it["defaults"]["local"] == [default]


def test_sizes_grown_in_a_loop_are_no_constants(tmp_path: Path) -> None:
    body = """
    size_t local = 16, global = 16;
    for (int step = 1; step <= steps; step++) {
        global = local * step;
        clSetKernelArg(kernel, 2, sizeof(int), &step);
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
        global *= 2;
    }
"""
    it = one(c_program(tmp_path, body))
    assert it["global"] == ["16 * step"]
    assert it["local"] == [16]
    assert it["args"] == {"n": "step"}


def test_one_call_that_serves_many_kernels(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(
        "__kernel void one(__global int *a) { a[0] = 1; }\n__kernel void two(__global int *a) { a[0] = 2; }\n"
        "__kernel void three(__global int *a) { a[0] = 3; }\n"
    )
    (tmp_path / "main.cpp").write_text(
        """
static void run(const char *name, size_t global)
{
    cl_kernel kernel = clCreateKernel(program, name, &err);
    size_t local = 32;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
}
int main(void)
{
    run("one", 64);
    run("two", 128);
#ifdef PROFILING
    run("three", 256);
#endif
}
"""
    )
    found = {it["kernel"]: it["global"] for it in launches(tmp_path)}
    assert found == {"one": [64], "two": [128]}, "the third is compiled out"


def test_kernels_of_one_name_told_apart_by_the_file_loaded_last(tmp_path: Path) -> None:
    for name in ("naive", "tiled"):
        (tmp_path / f"{name}.cl").write_text("__kernel void mm(__global float *a, int n) { a[n] = 0; }\n")
    (tmp_path / "main.c").write_text(
        """
#define ORDER 512
int main(void)
{
    char *source;
    source = read_source("naive.cl");
    program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &err);
    clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    kernel = clCreateKernel(program, "mm", &err);
    const size_t global[2] = {ORDER, ORDER};
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL);
    source = read_source("tiled.cl");
    program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &err);
    clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
    kernel = clCreateKernel(program, "mm", &err);
    const size_t local[2] = {16, 16};
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}
"""
    )
    found = {Path(it["kernel_file"]).name: it["local"] for it in launches(tmp_path)}
    assert found == {"naive.cl": [None, None], "tiled.cl": [16, 16]}
    only = launches(tmp_path / "tiled.cl")
    assert [it["local"] for it in only] == [[16, 16]]


def test_build_options_by_sprintf_over_several_lines(tmp_path: Path) -> None:
    body = """
    char text[256];
    sprintf(text, "-cl-fast-relaxed-math \\
        -D TILE=%d -D WIDTH=%u",
        TILE, width);
    sprintf(text + strlen(text), " -D%s=%d", "LAST", 3);
    clBuildProgram(program, 1, &device, text, NULL, NULL);
    size_t global = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL);
"""
    it = one(c_program(tmp_path, body, "#define TILE 8\n"))
    assert it["build_options"] == "-cl-fast-relaxed-math -D TILE=8 -D WIDTH={width} -DLAST=3"
    assert it["local"] == [None]


def test_cpp_functors_and_ranges(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(
        """
int main()
{
    const int N = 1 << 12;
    std::string options = "-DTILE=" + std::to_string(16);
    options += " -DRUN=" + std::to_string(seed());
    cl::Program program(context, util::load("scale.cl"));
    program.build(options.c_str());
    auto scale = cl::KernelFunctor<cl::Buffer, cl::LocalSpaceArg, int, float>(program, "scale");
    cl::NDRange global(N, 2), local(std::min(N, 128));
    scale(cl::EnqueueArgs(queue, cl::NDRange(N), cl::NDRange(64)), d_a,
          cl::Local(sizeof(float) * 64), N, 2.0f);
    cl::Kernel again(program, "scale");
    again.setArg(2, N);
    queue.enqueueNDRangeKernel(again, cl::NullRange, global, cl::NullRange);
}
"""
    )
    first, second = launches(tmp_path)
    assert (first["global"], first["local"]) == ([4096], [64])
    assert first["args"] == {"n": 4096, "factor": 2}
    assert first["local_args"] == {"tile": 256}
    assert first["build_options"] == "-DTILE=16 -DRUN={seed()}"
    assert (second["global"], second["local"]) == ([4096, 2], [None, None])
    assert second["args"] == {"n": 4096}


def test_methods_of_an_object_and_fields_set_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(KERNEL)
    (tmp_path / "runner.h").write_text(
        "struct Runner { int width = 8; size_t group[2]; int n; Runner() { n = 64; }\n"
        "  cl_program program; cl_kernel kernel; void setup(); void run(); };\n"
    )
    (tmp_path / "runner.cpp").write_text(
        """
#include "runner.h"
void Runner::setup()
{
    program = clCreateProgramWithSource(ctx, 1, load("scale.cl"), 0, 0);
    kernel = clCreateKernel(program, "scale", &err);
    group[0] = width * 4;
    group[1] = 1;
}
void Runner::run()
{
    size_t global[2] = { (size_t)n * group[0], group[1] };
    clEnqueueNDRangeKernel(queue, kernel, 2, 0, global, group, 0, 0, 0);
}
int main(int argc, char **argv)
{
    Runner runner;
    runner.setup();
    runner.run();
}
"""
    )
    it = one(launches(tmp_path))
    assert (it["global"], it["local"]) == ([2048, 1], [32, 1])


def test_python_calls_strings_and_shapes(tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(
        '''
import numpy as np
import pyopencl as cl

BLOCK = 16

class Scaler:
    def __init__(self, ctx):
        self.kernel = cl.Program(ctx, """
            __kernel void scale(__global float *a, int n, __local float *t)
            { a[get_global_id(0)] *= %(block)d; }
        """ % {"block": BLOCK}).build(options=["-D", f"BLOCK={BLOCK}"]).scale

    def __call__(self, queue, a, n):
        self.kernel(queue, (n // 2, 3), (BLOCK, 1), a, np.int32(n), cl.LocalMemory(4 * BLOCK))

values = np.zeros((500, 5), dtype=np.float32)
scaler = Scaler(ctx)
scaler(queue, buffer, 1024)
other = cl.Program(ctx, open("other.cl").read()).build()
other.fill(queue, values.shape, None, buffer)
'''
    )
    (tmp_path / "other.cl").write_text("__kernel void fill(__global float *a) { a[get_global_id(0)] = 0; }\n")
    found = {it["kernel"]: it for it in launches(tmp_path)}
    scale, fill = found["scale"], found["fill"]
    assert (scale["global"], scale["local"]) == ([512, 3], [16, 1])
    assert (scale["args"], scale["local_args"]) == ({"n": 1024}, {"t": 64})
    assert scale["build_options"] == "-D BLOCK=16"
    assert scale["kernel_file"].endswith("demo.py")
    assert fill["global"] == [500, 5]
    assert fill["kernel_file"].endswith("other.cl")


def test_a_wrapper_described_in_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "scale.cl").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(
        'int main() { engine().go("scale", Range(1), make(1024), 64, buffer, 7); }\n'
    )
    (tmp_path / "clmap.toml").write_text(
        "[hosts.wrappers.go]\nkernel = 0\nglobal = 3\nlocal = 3\narguments = 4\n"
    )
    it = one(launches(tmp_path))
    assert (it["kernel"], it["global"], it["local"]) == ("scale", [64], [64])


def test_a_number_is_never_taken_from_one_of_several_ways(tmp_path: Path) -> None:
    body = """
    size_t local = 64, global;
    if (fast) { global = 1024; } else { global = 2048; }
    switch (mode) { case 0: local = 32; break; case 1: local = 128; break; }
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
"""
    it = one(c_program(tmp_path, body))
    assert it["global"] == ["global"]
    assert it["local"] == ["local"]


def test_errors_that_leave_do_not_open_what_follows(tmp_path: Path) -> None:
    body = """
    size_t local = 64, global = 0;
    if (err != CL_SUCCESS) { fprintf(stderr, "no"); local = 1; exit(1); }
    if (device == NULL) return -1;
    global = 640;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
"""
    it = one(c_program(tmp_path, body))
    assert (it["global"], it["local"]) == ([640], [64])


@pytest.mark.parametrize("text", ["", "int main( {{{ clEnqueueNDRangeKernel(", "\x00\x01", "#if 1\n" * 500])
def test_broken_host_code_is_no_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "scale.cl").write_text(KERNEL)
    (tmp_path / "main.c").write_text(text)
    assert launches(tmp_path) == []


def test_an_unknown_kernel_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    c_program(
        tmp_path,
        "    size_t g = 64; clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &g, NULL, 0, NULL, NULL);\n",
    )
    done = clmap("launches", str(tmp_path), "--kernel", "scael")
    assert done.returncode == 2
    assert 'did you mean "scale"?' in done.stderr
