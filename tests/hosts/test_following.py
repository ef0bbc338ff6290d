"""How launches are followed through macros, fields, tables, containers and functions that keep addresses."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.budget import STEPS, STEPS_A_CHARACTER
from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.launches import HostLaunch, HostReader, launches_of
from clmap_lsp.workbench.hosts import project_of

KERNELS = """\
__kernel void scale(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] *= 2.0f; }
__kernel void shift(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] += 2.0f; }
"""


def read(folder: Path, **files: str) -> dict[str, HostLaunch]:
    (folder / "kernels.cl").write_text(KERNELS)
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return {it.kernel: it for it in launches_of(project_of(str(folder))).launches}


def numbers(launch: HostLaunch) -> tuple[list[int | float | None], list[int | float | None]]:
    return (
        [it.number for it in launch.global_size],
        [it.number if it is not None else None for it in launch.local_size],
    )


def test_a_macro_that_names_the_function_and_tables_of_names_and_fields(tmp_path: Path) -> None:
    """The launch is compiled with an option only; calls go through a checking macro and a loaded table."""
    making = """
#if WITH_OPENCL
#include "state.h"
int make(state_t *s, cl_program program)
{
    static const char *names[] = { "scale", "shift" };
    cl_kernel *places[] = { &s->cl.first, &s->cl.second };
    for (int i = 0; i < COUNT(names); i++)
        *places[i] = s->api->clCreateKernel(program, names[i], &status);
    return 0;
}
#endif
"""
    running = """
#include "state.h"
#if WITH_OPENCL
#define CALL(method, ...) do { if (s->failed) return -1; \\
    status = api->method(__VA_ARGS__); if (status) { log_error(#method " failed"); return -1; } } while (0)
int run(state_t *s)
{
    size_t whole[2], group[2];
    cl_uint at = 0;
    int count = 3 * 100;
    CALL(clSetKernelArg, s->cl.second, at++, sizeof(cl_mem), &s->memory);
    CALL(clSetKernelArg, s->cl.second, at++, sizeof(int), &count);
    whole[0] = 512; whole[1] = s->rows;
    group[0] = 64; group[1] = 1;
    CALL(clEnqueueNDRangeKernel, s->queue, s->cl.second, 2, NULL, whole, group, 0, NULL, NULL);
    return 0;
}
#endif
"""
    header = "#define COUNT(array) (sizeof(array) / sizeof(array[0]))\n"
    found = read(tmp_path, make_dot_c=making, run_dot_c=running, state_dot_h=header)
    assert list(found) == ["shift"]
    assert numbers(found["shift"]) == ([512, None], [64, 1])
    assert found["shift"].arguments["n"].number == 300
    assert found["shift"].host_row == 15, "the row of the use, not of the macro"


def test_what_a_function_with_any_arguments_keeps_the_address_of_is_open(tmp_path: Path) -> None:
    options = """
template <typename T> struct Option { Option(const char *name, T *to) : to_(to) {} T *to_; };
class Options {
public:
    template <typename T, typename... Ts>
    void add(Ts &&...all) { kept.push_back(std::make_shared<T>(all...)); }
    void parse(int argc, char **argv);
    std::vector<std::shared_ptr<void>> kept;
};
"""
    main = """
#include "options.hpp"
int main(int argc, char **argv)
{
    size_t size = 4096;
    Options options;
    options.add<Option<size_t>>("size", &size);
    options.parse(argc, argv);
    cl::Program program{context, load("kernels.cl")};
    cl::Kernel kernel{program, "scale"};
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange{size}, cl::NDRange{64});
}
"""
    launch = read(tmp_path, options_dot_hpp=options, main_dot_cpp=main)["scale"]
    assert (launch.global_size[0].number, launch.global_size[0].default) == (None, 4096)
    assert numbers(launch)[1] == [64]


def test_kernels_pushed_into_a_vector_in_a_loop(tmp_path: Path) -> None:
    main = """
std::vector<cl::Kernel> kernels;
static void go(int count)
{
    for (int i = 0; i < count; i++)
        queue.enqueueNDRangeKernel(kernels[i], cl::NullRange, cl::NDRange{1024});
}
int main()
{
    cl::Program program{context, load("kernels.cl")};
    for (int i = 0; i < 64; i++) {
        kernels.push_back(cl::Kernel{program, "scale"});
        kernels[i].setArg(1, 1000);
    }
    go(8);
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=main)["scale"]) == ([1024], [None])


def test_kernels_of_an_object_that_gives_them_by_attribute_or_name(tmp_path: Path) -> None:
    """Where a class hides the program, the names of the project's own kernels tell which one is launched."""
    host = """
import numpy
import pyopencl
class Processing:
    def __init__(self, size):
        self.size = size
        self.kernels = KernelContainer(self.compile())
    def run(self, data, fast):
        wg = 32
        self.kernels.scale(self.queue, (self.size,), (wg,), self.buffer, numpy.int32(7))
        chosen = self.kernels.get_kernel("shift")
        chosen(self.queue, (1,), None, self.buffer, numpy.short(3))
    def stop(self):
        self.log.scale("nothing", 1, 2)
"""
    found = read(tmp_path, host_dot_py=host)
    assert sorted(found) == ["scale", "shift"]
    assert numbers(found["scale"]) == ([None], [32])
    assert found["scale"].arguments["n"].number == 7
    assert numbers(found["shift"]) == ([1], [None])
    assert found["shift"].arguments["n"].number == 3


def test_a_function_whose_run_ended_before_its_launch_is_run_by_itself(tmp_path: Path) -> None:
    main = """
void launch(cl_program program, int wanted)
{
    if (wanted != 7) exit(1);
    size_t size = 256;
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
}
int main() { launch(clCreateProgramWithSource(context, 1, load("kernels.cl"), NULL, NULL), 3); }
"""
    assert numbers(read(tmp_path, main_dot_c=main)["scale"]) == ([256], [None])


def test_work_beside_the_launch_does_not_use_up_the_run(tmp_path: Path) -> None:
    """Functions that call no OpenCL are given up after some work: what they may write is open then."""
    depth = 6
    helpers = "int f0(int x) { total++; return x * x; }\n" + "".join(
        f"int f{i}(int x) {{ int s = 0; for (int i = 0; i < x; i++) for (int j = 0; j < x; j++)"
        f" s += f{i - 1}(i) + f{i - 1}(j) * f{i - 1}(i + j); return s; }}\n"
        for i in range(1, depth)
    )
    main = f"""
int total = 1;
{helpers}
int main(int argc, char **argv)
{{
    int seed = f{depth - 1}(argc);
    size_t size = 64 * 64, other = total;
    cl_program program = clCreateProgramWithSource(context, 1, load("kernels.cl"), 0, 0);
    cl_kernel kernel = clCreateKernel(program, "scale", 0);
    clSetKernelArg(kernel, 1, sizeof(int), &other);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
}}
"""
    launch = read(tmp_path, main_dot_c=main)["scale"]
    assert numbers(launch) == ([4096], [None])
    assert launch.arguments["n"].number is None, "a counter that the helpers change"


def test_two_kernels_of_one_name_are_told_apart_by_their_arguments(tmp_path: Path) -> None:
    (tmp_path / "fill.cl").write_text(
        "__kernel void fill(__global float *a, float value) { a[0] = value; }\n"
    )
    (tmp_path / "random.cl").write_text(
        "__kernel void fill(__global float *a, int seed, int sequence, float low)\n"
        "{ a[0] = low + seed + sequence; }\n"
    )
    host = """
void random_numbers(Cache &cache, int seed)
{
    cl::Program const &program = cache.program_of("anything");
    cl::Kernel kernel(program, "fill");
    int at = 0;
    kernel.setArg(at++, memory);
    kernel.setArg(at++, seed);
    kernel.setArg(at++, 11);
    kernel.setArg(at++, 0.5f);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(128));
}
"""
    launch = read(tmp_path, host_dot_cpp=host)["fill"]
    assert Path(launch.kernel_file or "").name == "random.cl"
    assert (launch.arguments["sequence"].number, launch.arguments["low"].number) == (11, 0.5)


def test_sizes_that_a_functor_is_made_with(tmp_path: Path) -> None:
    main = """
int main()
{
    cl::Program program(context, load("kernels.cl"));
    program.build({device});
    cl::Kernel kernel(program, "scale");
    cl::KernelFunctor scale(kernel, queue, cl::NullRange, cl::NDRange(96), cl::NDRange(32));
    scale(buffer, 90);
}
"""
    launch = read(tmp_path, main_dot_cpp=main)["scale"]
    assert numbers(launch) == ([96], [32])
    assert (launch.arguments["n"].number, launch.build_options) == (90, "")


def test_declarations_and_sources_as_arguments_of_macros(tmp_path: Path) -> None:
    main = """
#define TEXT(...) #__VA_ARGS__
static const char *source = TEXT(
    __kernel void twice(__global int *a, int n, int m) {
        if (get_global_id(0) < n) { a[get_global_id(0)] *= m; }
    }
);
int main()
{
    CL_CHECK(err, cl::Program program(context, source, false, &err));
    CL_CHECK(err, cl::Kernel kernel(program, "twice", &err));
    CL_CHECK(err, err = kernel.setArg(1, 1000));
    cl::NDRange whole(1024), group(64);
    CL_CHECK(err, err = queue.enqueueNDRangeKernel(kernel, cl::NullRange, whole, group));
    CL_CHECK(err, cl::Kernel task(program, "scale", &err));
    CL_CHECK(err, err = queue.enqueueTask(task));
}
"""
    found = read(tmp_path, main_dot_cpp=main)
    assert numbers(found["twice"]) == ([1024], [64])
    assert found["twice"].arguments["n"].number == 1000
    assert (found["twice"].kernel_row, found["twice"].host_row) == (3, 14)
    assert numbers(found["scale"]) == ([1], [1])


def test_boost_compute(tmp_path: Path) -> None:
    main = """
int main()
{
    const char source[] = BOOST_COMPUTE_STRINGIZE_SOURCE(
        __kernel void twice(__global int *a, int n) { a[get_global_id(0)] *= n; }
    );
    compute::program program = compute::program::build_with_source(source, context, "-DN=4");
    compute::kernel kernel = program.create_kernel("twice");
    kernel.set_arg(1, 3);
    size_t whole[2] = { 64, 32 }, group[2] = { 8, 8 };
    queue.enqueue_nd_range_kernel(kernel, 2, 0, whole, group);
    compute::kernel other(program, "twice");
    other.set_arg(1, 5);
    queue.enqueue_nd_range_kernel(other, compute::dim(0, 0), compute::dim(128, 16), compute::dim(16, 1));
}
"""
    (tmp_path / "main.cpp").write_text(main)
    both = launches_of(project_of(str(tmp_path))).launches
    assert [numbers(it) for it in both] == [([64, 32], [8, 8]), ([128, 16], [16, 1])]
    assert [it.arguments["n"].number for it in both] == [3, 5]
    assert {it.build_options for it in both} == {"-DN=4"}


def test_a_method_of_the_project_is_not_taken_for_one_of_a_library(tmp_path: Path) -> None:
    """`set_arg` of pyopencl takes an index first; this one takes a kernel and counts the index on."""
    main = """
class Tensor {
public:
    void set_arg(cl::Kernel &kernel, int &at) { kernel.setArg(at++, buffer_); kernel.setArg(at++, 5); }
    cl::Buffer buffer_;
};
int main()
{
    cl::Kernel kernel(cl::Program(context, load("kernels.cl")), "scale");
    Tensor tensor;
    int at = 0;
    tensor.set_arg(kernel, at);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(at * 64));
}
"""
    launch = read(tmp_path, main_dot_cpp=main)["scale"]
    assert numbers(launch) == ([128], [None])
    assert launch.arguments["n"].number == 5


def test_a_handle_that_a_query_fills_is_not_null_any_more(tmp_path: Path) -> None:
    main = """
#define CHECKED(x) assert(x)
int main()
{
    cl_context context = NULL;
    cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    CHECKED(status == CL_SUCCESS && context != NULL);
    size_t size[] = { 32, 16 };
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_c=main)["scale"]) == ([32, 16], [None, None])


def test_kernels_of_a_class_that_a_macro_exports(tmp_path: Path) -> None:
    header = """
class LIBRARY_LOCAL Sorter : public Algorithm {
    cl::Kernel reduceKernel;
    size_t group;
public:
    Sorter(cl::Program program);
    void enqueue(size_t blocks);
};
"""
    source = """
#include "sorter.hpp"
Sorter::Sorter(cl::Program program) { group = 128; reduceKernel = cl::Kernel(program, "shift"); }
void Sorter::enqueue(size_t blocks)
{
    reduceKernel.setArg(1, 4);
    queue.enqueueNDRangeKernel(reduceKernel, cl::NullRange, cl::NDRange(128 * blocks), cl::NDRange(128));
}
"""
    launch = read(tmp_path, sorter_dot_hpp=header, sorter_dot_cpp=source)["shift"]
    assert numbers(launch) == ([None], [128])
    assert launch.arguments["n"].number == 4


def test_a_class_that_runs_kernels_by_name_and_hands_arguments_on(tmp_path: Path) -> None:
    program = """
import pyopencl
class Runner(pyopencl.Program):
    def __init__(self, name):
        self._kernels = {}
    def run_kernel(self, name, whole, group, *args, **kwargs):
        if not name in self._kernels:
            self._kernels[name] = getattr(self, name)
        self._kernels[name](self.queue, whole, group, *args, **kwargs)
"""
    use = """
import numpy as np
import pyopencl
from program import Runner
def add(buffer, rows):
    program = Runner("kernels.cl")
    program.run_kernel("shift", (256, rows), (16, 1), buffer, np.int32(9))
"""
    launch = read(tmp_path, program_dot_py=program, use_dot_py=use)["shift"]
    assert numbers(launch) == ([256, None], [16, 1])
    assert launch.arguments["n"].number == 9


def test_a_folder_shows_what_its_files_show_each(tmp_path: Path) -> None:
    """Many programs in one folder: none of them uses up what another one may take."""
    for number in range(12):
        (tmp_path / f"program{number}.c").write_text(f"""
int main(int argc, char **argv)
{{
    size_t size = {64 * (number + 1)};
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
}}
""")
    (tmp_path / "kernels.cl").write_text(KERNELS)
    project = project_of(str(tmp_path))
    whole = launches_of(project)
    each = [HostReader(project_of(str(tmp_path))).report([it]).launches for it in project.launching_files]
    assert set(map(str, whole.launches)) == {str(it) for found in each for it in found}
    assert len(whole.launches) == 12
    assert not whole.is_cut_short
    project = project_of(str(tmp_path))
    project.budget.steps = 20
    assert launches_of(project).is_cut_short


def test_a_local_size_that_stays_null_has_no_default(tmp_path: Path) -> None:
    main = """
int main(int argc, char **argv)
{
    size_t x = 0;
    Options options("size", &x);
    options.parse(argc, argv);
    cl::NDRange local;
    if (x > 0) local = cl::NDRange{x};
    cl::Kernel kernel(cl::Program(context, load("kernels.cl")), "scale");
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange{64}, local);
}
"""
    (size,) = read(tmp_path, main_dot_cpp=main)["scale"].local_size
    assert size is not None and (size.number, size.default) == (None, None)


def test_a_kernel_that_is_called_as_the_method_that_launches_it(tmp_path: Path) -> None:
    code = """
import pyopencl as cl

class Simulation:
    def __init__(self, n):
        self.n = n

    def setup(self):
        self.program = cl.Program(self.context, open("kernels.cl").read()).build()

    def scale(self):
        self.program.scale(self.queue, (self.n, 4), None, self.a).wait()
"""
    found = read(tmp_path, simulation_dot_py=code)
    assert numbers(found["scale"]) == ([None, 4], [None, None])


def test_kernels_of_a_class_of_the_project_that_has_the_name_of_a_known_one(tmp_path: Path) -> None:
    """A constructor with a pack of arguments, in a header that has the name of OpenCL's own."""
    wrapper = """
#pragma once
#include <CL/opencl.hpp>
#define CODE(...) std::string(" " #__VA_ARGS__ " ")
#define GROUP 64
class Device {
    cl::Program program;
public:
    explicit Device(const std::string &code) {
        program = cl::Program(context, code);
        int error = program.build("-w");
        if (error) exit(1);
    }
    cl::Program get_program() const { return program; }
};
class Kernel {
    cl::Kernel kernel;
    cl::NDRange whole, group;
    template<typename T> void link(const uint at, const T &value)
    {
        kernel.setArg(at, sizeof(T), (void *)&value);
    }
    void link_all(const uint at) { }
    template<class T, class... U> void link_all(const uint at, const T &first, const U &...rest) {
        link(at, first);
        link_all(at + 1u, rest...);
    }
public:
    template<class... T>
    Kernel(const Device &device, const ulong n, const std::string &name, const T &...arguments) {
        kernel = cl::Kernel(device.get_program(), name.c_str());
        link_all(0u, arguments...);
        set_sizes(n);
    }
    template<class... T>
    Kernel(const Device &device, ulong n, const uint size, const std::string &name, const T &...arguments)
    {
        kernel = cl::Kernel(device.get_program(), name.c_str());
        link_all(0u, arguments...);
        set_sizes(n, size);
    }
    void set_sizes(const ulong n, const ulong size = (ulong)GROUP) {
        whole = cl::NDRange((n + size - 1) / size * size);
        group = cl::NDRange(size);
    }
    void run() { queue.enqueueNDRangeKernel(kernel, cl::NullRange, whole, group); }
};
"""
    main = """
#include "opencl.hpp"
int main()
{
    Device device(CODE(
        kernel void scale(int n, float by, global float *a) { a[get_global_id(0)] *= by + n; }
        kernel void shift(int n, float by, global float *a) { a[get_global_id(0)] += by + n; }
    ));
    Kernel scale(device, 1000, "scale", 990, 2.0f);
    Kernel shift(device, 1000, 128, "shift", 980);
    scale.run();
    shift.run();
}
"""
    found = read(tmp_path, opencl_dot_hpp=wrapper, main_dot_cpp=main)
    assert numbers(found["scale"]) == ([1024], [64])
    assert numbers(found["shift"]) == ([1024], [128])
    assert (found["scale"].arguments["n"].number, found["shift"].arguments["n"].number) == (990, 980)
    assert found["scale"].arguments["by"].number == 2.0
    assert found["scale"].kernel_file == str(tmp_path / "main.cpp")


def test_objects_whose_methods_are_called_through_a_base_class(tmp_path: Path) -> None:
    """Members and bases in initialiser lists, defaults in a header in angle brackets."""
    header = """
#pragma once
#include <CL/opencl.hpp>
struct Stage { virtual void operator()() = 0; };
struct Sized { Sized(int n, int step) : count_(n), step_(step) { } int count_, step_; };
class Scale : public Stage, public Sized {
public:
    Scale(cl::Program &program, std::size_t width, std::size_t height = 32);
    void operator()() override;
private:
    cl::Kernel kernel_;
    std::size_t width_, height_;
};
"""
    stage = """
#include <stages/scale.hpp>
Scale::Scale(cl::Program &program, std::size_t width, std::size_t height)
    : Sized(300, 3), kernel_(program, "scale"), width_(width), height_(height) { }
void Scale::operator()()
{
    kernel_.setArg(1, std::int32_t(count_ / step_));
    queue.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(width_, height_), cl::NullRange);
}
"""
    main = """
#include <stages/scale.hpp>
int main(int argc, char **argv)
{
    cl::Program program(context, read("kernels.cl"));
    std::vector<Stage *> stages;
    Scale scale(program, 512);
    stages.push_back(&scale);
    for (auto stage : stages) (*stage)();
}
"""
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "scale.hpp").write_text(header)
    found = read(tmp_path, scale_dot_cpp=stage, main_dot_cpp=main)
    assert numbers(found["scale"]) == ([512, 32], [None, None])
    assert found["scale"].arguments["n"].number == 100


def test_objects_that_are_made_in_two_ways_have_open_sizes(tmp_path: Path) -> None:
    text = """
#include <CL/opencl.hpp>
class Scale {
public:
    Scale(cl::Program &program, int width, int height) : kernel(program, "scale"), w(width), h(height) { }
    void operator()() { queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(w, h), cl::NullRange); }
private:
    cl::Kernel kernel;
    int w, h;
};
void small() { Scale scale(program, 64, 8); start(scale); }
void large() { Scale scale(program, 512, 8); start(scale); }
"""
    found = read(tmp_path, main_dot_cpp=text)
    assert numbers(found["scale"]) == ([None, 8], [None, None])


def test_kernels_in_records_of_python(tmp_path: Path) -> None:
    records = """
from collections import namedtuple
from dataclasses import dataclass

Kernels = namedtuple("Kernels", ["scale", "shift"])

@dataclass
class Sizes:
    whole: int
    group: int = 64
"""
    main = """
import pyopencl as cl
from records import Kernels, Sizes

class Runner:
    def __init__(self, ctx):
        program = cl.Program(ctx, open("kernels.cl").read()).build()
        self.kernels = Kernels(shift=program.shift, scale=program.scale)
        self.kernels.scale.set_args(buffer, np.int32(1000))
        self.sizes = Sizes(whole=1024)

    def run(self):
        sizes = self.sizes
        cl.enqueue_nd_range_kernel(queue, self.kernels.scale, (sizes.whole,), (sizes.group,))
"""
    found = read(tmp_path, records_dot_py=records, main_dot_py=main)
    assert numbers(found["scale"]) == ([1024], [64])
    assert found["scale"].arguments["n"].number == 1000


WRAPPER = """
#include <CL/cl.h>
#include <stdarg.h>
#include <stdlib.h>
typedef struct { cl_kernel *kernels; cl_command_queue queue; cl_program program; } box;

static box *make_box(void)
{
    box *made = malloc(sizeof(box));
    if (made == 0) return 0;
    made->kernels = (cl_kernel *)calloc(20, sizeof(cl_kernel));
    return made;
}

static int load(box *b, const char *path, int count, char *names[])
{
    char *text = read_file(path);
    cl_int failed;
    b->program = clCreateProgramWithSource(0, 1, (const char **)&text, NULL, &failed);
    for (int i = 0; i < count; i++) {
        b->kernels[i] = clCreateKernel(b->program, names[i], &failed);
        if (failed) return failed;
    }
    return 0;
}

static int give(cl_kernel kernel, int count, va_list list)
{
    for (int i = 0; i < count; i++) {
        size_t size = va_arg(list, size_t);
        void *value = va_arg(list, void *);
        int failed = clSetKernelArg(kernel, i, size, value);
        if (failed) return failed;
    }
    return 0;
}

int run(box *b, int which, int dimensions, const size_t *whole, const size_t *group, int count, ...)
{
    va_list list;
    va_start(list, count);
    int failed = give(b->kernels[which], count, list);
    va_end(list);
    if (failed) return failed;
    return clEnqueueNDRangeKernel(b->queue, b->kernels[which], dimensions, NULL, whole, group, 0, NULL, NULL);
}
"""
PROGRAM = """
#include "wrapper.c"
int main(void)
{
    box *b = make_box(), *other = make_box();
    char *names[] = { "scale", "shift" };
    char *swapped[2] = { "shift", "scale" };
    cl_mem m = clCreateBuffer(0, 0, 4096, 0, 0);
    int n = 1000;
    size_t sizes[2][2] = { { 64, 2 }, { 128, 4 } }, groups[][2] = { { 8, 1 }, { 16, 2 } };
    load(b, "kernels.cl", 2, names);
    load(other, "kernels.cl", 2, swapped);
    %s
    return 0;
}
"""


def test_kernels_in_memory_of_a_wrapper_and_arguments_of_any_number(tmp_path: Path) -> None:
    """Each box has memory of its own, each row of an array is one launch, `va_arg` gives them in turn."""
    program = PROGRAM % (
        "for (int i = 0; i < 2; i++)\n"
        "  run(b, i, 2, sizes[i], groups[i], 2, sizeof(cl_mem), &m, sizeof(int), &n);\n"
    )
    found = read(tmp_path, wrapper_dot_c=WRAPPER, program_dot_c=program)
    assert numbers(found["scale"]) == ([64, 2], [8, 1])
    assert numbers(found["shift"]) == ([128, 4], [16, 2])
    assert [it.arguments["n"].number for it in found.values()] == [1000, 1000]
    assert [it.buffers["a"].number for it in found.values()] == [4096, 4096]


def test_memory_taken_twice_by_one_line_is_two_places(tmp_path: Path) -> None:
    program = PROGRAM % "run(other, 0, 1, sizes[1], NULL, 2, sizeof(cl_mem), &m, sizeof(int), &n);"
    found = read(tmp_path, wrapper_dot_c=WRAPPER, program_dot_c=program)
    assert list(found) == ["shift"]
    assert numbers(found["shift"]) == ([128], [None])


def test_what_arguments_of_any_number_may_have_changed_is_open(tmp_path: Path) -> None:
    """A function that reads into what it is given, as `scanf` does, by a count that nobody knows."""
    asking = """
int ask(int count, ...) { va_list list; va_start(list, count);
    for (int i = 0; i < count; i++) { int *to = va_arg(list, int *); *to = read_number(); } return 0; }
"""
    program = PROGRAM % (
        'ask(atoi(getenv("MANY")), &n);\n'
        "run(b, 0, 1, sizes[0], NULL, 2, sizeof(cl_mem), &m, sizeof(int), &n);"
    )
    found = read(tmp_path, wrapper_dot_c=WRAPPER + asking, program_dot_c=program)
    assert found["scale"].arguments["n"].number is None


def test_memory_that_a_loop_takes_is_not_one_place(tmp_path: Path) -> None:
    program = PROGRAM % (
        "int *each[100]; for (int i = 0; i < 100; i++) { each[i] = malloc(4); *each[i] = 7; }\n"
        "*each[3] = 9;\n"
        "run(b, 0, 1, sizes[0], NULL, 2, sizeof(cl_mem), &m, sizeof(int), each[4]);"
    )
    found = read(tmp_path, wrapper_dot_c=WRAPPER, program_dot_c=program)
    assert "n" not in found["scale"].arguments or found["scale"].arguments["n"].number != 9


def test_macros_in_initialiser_lists_that_are_taken_back_and_objects_that_are_called(tmp_path: Path) -> None:
    """The name of a kernel stands in a macro that makes a field; calling the field launches it."""
    task = """
#include <CL/cl.h>
class Task {
    const std::string label; cl_program program; const std::string entry; size_t items; Holder kernel{};
public:
    Task(const char *label, cl_program program, std::string entry, size_t items);
    template<typename... A> void operator()(const A &...a) { if (!kernel) load(); put(0, a...); run(); }
private:
    template<typename T> void put(int at, const T &a) { clSetKernelArg(kernel.get(), at, sizeof(T), &a); }
    template<typename T, typename... A> void put(int at, const T &a, const A &...rest)
    { put(at, a); put(at + 1, rest...); }
    void load();
    void run();
    Queue *queue;
};
"""
    header = """
#include <CL/cl.h>
using Holder = std::unique_ptr<cl_kernel>;
class Queue { public: void run(cl_kernel kernel, size_t items); };
"""
    running = """
#include "queue.h"
#include "task.h"
Task::Task(const char *label, cl_program program, std::string entry, size_t items)
    : label{label}, program{program}, entry{entry}, items{items} {}
void Task::load() {
    std::promise<Holder> promise;
    promise.set_value(Holder{clCreateKernel(program, entry.c_str(), 0)});
    kernel = promise.get_future().get();
}
void Task::run() { queue->run(kernel.get(), items); }
"""
    queue = """
#include "queue.h"
void run(cl_command_queue queue, cl_kernel kernel, size_t items) {
    size_t group = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL);
}
void Queue::run(cl_kernel kernel, size_t items) { ::run(handle, kernel, items); }
"""
    engine = """
#include "queue.h"
#include "task.h"
class Engine {
    cl_program program;
    size_t n;
    Task doScale, doShift;
public:
    Engine(size_t rows);
    void step(cl_mem a);
};
Engine::Engine(size_t rows) :
    program(built("kernels.cl"s)),
    n(rows),
#define TASK(name, ...) name(#name, program, __VA_ARGS__)
    TASK(doScale, "scale", 4096),
    TASK(doShift, "shift", n / 2)
#undef TASK
{}
void Engine::step(cl_mem a) { doScale(a, 7); doShift(a, 9); }
cl_program built(std::string path) {
    std::string text = read_all(path);
    const char *p = text.c_str();
    cl_program made = clCreateProgramWithSource(context, 1, &p, NULL, NULL);
    clCompileProgram(made, 1, &device, "", 0, NULL, NULL, NULL, NULL);
    return clLinkProgram(context, 1, &device, "", 1, &made, NULL, NULL, NULL);
}
int main() { Engine engine(2048); engine.step(memory); }
"""
    found = read(
        tmp_path,
        task_dot_h=task,
        queue_dot_h=header,
        task_dot_cpp=running,
        queue_dot_cpp=queue,
        main_dot_cpp=engine,
    )
    assert numbers(found["scale"]) == ([4096], [64])
    assert numbers(found["shift"]) == ([1024], [64])
    assert (found["scale"].arguments["n"].number, found["shift"].arguments["n"].number) == (7, 9)


def test_objects_that_are_called_where_no_run_comes_launch_what_they_were_made_with(tmp_path: Path) -> None:
    text = """
#include <CL/cl.h>
class Task {
    cl_program program; const char *entry; size_t items;
public:
    Task(cl_program program, const char *entry, size_t items)
        : program(program), entry(entry), items(items) { }
    void operator()() {
        cl_kernel kernel = clCreateKernel(program, entry, 0);
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
    }
};
class Engine { Task first, second; Engine(cl_program p); };
Engine::Engine(cl_program p)
    : first(p, "scale", 4096), second(p, "shift", 2048) { listen(first, second); }
"""
    found = read(tmp_path, main_dot_cpp=text)
    assert {name: numbers(it)[0] for name, it in found.items()} == {"scale": [4096], "shift": [2048]}


def test_kernels_behind_a_macro_that_is_given_the_group() -> None:
    text = "KERNEL(64) turn(P(float) a, int n) { }\nkernel void other(global float *a) { }\n"
    assert [(it.name, [each.name for each in it.parameters]) for it in kernels_in(text)] == [
        ("turn", ["a", "n"]),
        ("other", ["a"]),
    ]


CONTEXT = """
#define CL_CHECK(err) do { cl_int err_ = (err); if (err_ != CL_SUCCESS) { report(#err, err_); } } while (0)
struct context {
  cl_command_queue queue; cl_program program; cl_kernel first, second;
  void enqueue(cl_kernel kernel, cl_uint dim, size_t *g, size_t *l) {
    CL_CHECK(clEnqueueNDRangeKernel(queue, kernel, dim, NULL, g, l, 0, NULL, NULL));
  }
};
static void load(context *ctx, cl_program program) {
  cl_int err;
  CL_CHECK((ctx->first = clCreateKernel(program, "scale", &err), err));
  CL_CHECK((ctx->second = clCreateKernel(program, "shift", &err), err, ctx->ready = 1));
}
static void op(backend_t backend, tensor *t) {
  context *ctx = (context *)backend->state;
  cl_kernel kernel;
  int n = count(t);
  if (n % 4 == 0) { kernel = ctx->first; } else { kernel = ctx->second; }
  CL_CHECK(clSetKernelArg(kernel, 1, sizeof(int), &n));
  size_t g[] = {(size_t)n, 1, 1};
  size_t l[] = {64, 1, 1};
  ctx->enqueue(kernel, 3, g, l);
}
fn table[] = { op };
"""


def test_kernels_of_a_context_that_is_handed_on_untyped(tmp_path: Path) -> None:
    """A `void *` is cast to the structure, kernels are made inside of a checking macro, after a comma."""
    found = read(tmp_path, op_dot_cpp=CONTEXT)
    assert found.keys() == {"scale", "shift"}
    for it in found.values():
        assert numbers(it) == ([None, 1, 1], [64, 1, 1])
        assert it.arguments["n"].number is None


def test_an_assignment_before_a_comma_gives_its_own_value(tmp_path: Path) -> None:
    host = """
#define CHECK(x) if ((x) != CL_SUCCESS) return 1
int main() {
  cl_int err; size_t n, m; cl_kernel k;
  (n = 512, err);
  (m = 32, err = 0, n);
  CHECK((k = clCreateKernel(p, "scale", &err), err));
  CHECK(clEnqueueNDRangeKernel(q, k, 1, NULL, &n, &m, 0, NULL, NULL));
}
"""
    for name in ("main_dot_cpp", "main_dot_c"):
        found = read(tmp_path, **{name: host})
        assert numbers(found["scale"]) == ([512], [32])
        (tmp_path / name.replace("_dot_", ".")).unlink()


def test_a_functor_hides_functions_of_its_name(tmp_path: Path) -> None:
    maths = "template <typename T> T pi() { return T(3.14); }\nfloat scale(float a) { return a; }\n"
    host = """
#include "maths.hpp"
int main() {
  cl::Program program(context, load("kernels.cl"), true);
  cl::KernelFunctor<cl::Buffer, int> pi(program, "shift");
  pi(cl::EnqueueArgs(queue, cl::NDRange(64), cl::NDRange(8)), buffer, 4);
}
"""
    found = read(tmp_path, maths_dot_hpp=maths, main_dot_cpp=host)["shift"]
    assert numbers(found) == ([64], [8])
    assert found.arguments["n"].number == 4


def test_constructors_that_a_class_has_from_its_base(tmp_path: Path) -> None:
    base = """
namespace my { class CL { public: std::string source; const char *name; cl_kernel kernel; cl_program program;
  CL(std::string source, const char *name); void setup(); }; }
"""
    body = """
#include "base.hpp"
namespace my {
CL::CL(std::string source, const char *name) : source(source), name(name) { setup(); };
void CL::setup() {
  const char *s = source.c_str();
  program = clCreateProgramWithSource(context, 1, &s, NULL, NULL);
  clBuildProgram(program, 0, 0, "-DW=4", 0, 0);
  kernel = clCreateKernel(program, name, NULL);
} }
"""
    host = """
#include "base.hpp"
class Middle : public my::CL { using my::CL::CL; };
class Turn : public Middle { public: using Middle::Middle; void run(); };
void Turn::run() {
  int n = 10;
  clSetKernelArg(kernel, 1, sizeof(int), &n);
  const size_t whole[2] = {(size_t)n, (size_t)n};
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, whole, NULL, 0, NULL, NULL);
}
int main() { Turn turn(load("kernels.cl"), "scale"); turn.run(); }
"""
    found = read(tmp_path, base_dot_hpp=base, base_dot_cpp=body, main_dot_cpp=host)["scale"]
    assert numbers(found) == ([10, 10], [None, None])
    assert found.arguments["n"].number == 10
    assert found.build_options == "-DW=4"


def test_a_kernel_that_is_looked_up_by_name_in_a_list_of_all(tmp_path: Path) -> None:
    host = """
cl_kernel find_kernel(state *s, const char *wanted) {
  char name[128]; size_t n;
  for (int i = 0; i < s->count; i++) {
    cl_kernel kernel = s->kernels[i];
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, &n);
    if (strncmp(wanted, name, n) == 0) return kernel;
  }
  return NULL;
}
int run(state *s, int count) {
  cl_kernel kernel = find_kernel(s, "shift");
  size_t whole = (count + 7) / 8 * 8;
  return clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &whole, NULL, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, run_dot_c=host)["shift"]) == ([None], [None])


def test_functions_declared_inside_of_others_hide_nothing(tmp_path: Path) -> None:
    """Programs for Windows often declare what they call where they call it."""
    text = """
cl_kernel kernel = nullptr;
int main(int argc, char **argv)
{
    bool Initialize();
    void Render(HWND window, int width);
    if (Initialize() == false) { exit(0); }
    while (!done) { Render(window, 800); }
}
bool Initialize()
{
    cl_program program = CreateProgram("kernels.cl");
    kernel = clCreateKernel(program, "scale", nullptr);
    return kernel != nullptr;
}
void Render(HWND window, int width)
{
    void Compute(void);
    Compute();
}
void Compute()
{
    size_t global[1] = { 4096 }, local[1] = { 16 };
    clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, global, local, 0, nullptr, nullptr);
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=text)["scale"]) == ([4096], [16])


def test_an_object_that_looks_like_a_function_is_one(tmp_path: Path) -> None:
    text = """
int main() {
    cl::Program program(context, source("kernels.cl"));
    cl::Kernel kernel(program, "shift");
    const int n = 32, m = 64;
    cl::NDRange global(n * m), local(m);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, global, local);
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=text)["shift"]) == ([2048], [64])


def test_a_function_that_reads_a_file_and_returns_whether_it_could_gives_no_text(tmp_path: Path) -> None:
    """What follows `if (status != 0) return 1;` is run: a status is no string."""
    text = """
int load(const char *name, std::string &text) {
    std::fstream file(name, std::fstream::in);
    if (file.is_open()) { text = all_of(file); return 0; }
    return 1;
}
int main() {
    std::string text;
    int status = load("kernels.cl", text);
    if (status != 0) { return 1; }
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    cl_kernel kernel = clCreateKernel(program, "scale", &status);
    size_t size = 256;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=text)["scale"]) == ([256], [None])


def test_a_macro_that_names_itself_means_the_function(tmp_path: Path) -> None:
    """C does not expand a macro within itself; in its arguments it does."""
    host = """
#include <CL/cl.h>
static void run(cl_kernel kernel, size_t n, size_t group)
{
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, &group, 0, NULL, NULL);
}
#define AT_LEAST(a, b) ((a) > (b) ? (a) : (b))
#define run(kernel, n) run(kernel, AT_LEAST(AT_LEAST(n, 64), 32), 16)
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    run(scale, 512);
}
"""
    assert numbers(read(tmp_path, main_dot_c=host)["scale"]) == ([512], [16])


def test_macros_that_hold_themselves_often_are_read_in_few_steps(tmp_path: Path) -> None:
    host = """
#include <CL/cl.h>
#define CHECK(x) CHECK(x) + CHECK(x) + CHECK(x)
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    CHECK(1); CHECK(2); CHECK(3);
    size_t n = 512;
    clEnqueueNDRangeKernel(queue, scale, 1, NULL, &n, NULL, 0, NULL, NULL);
}
"""
    (tmp_path / "kernels.cl").write_text(KERNELS)
    (tmp_path / "main.c").write_text(host)
    project = project_of(str(tmp_path))
    assert [it.kernel for it in launches_of(project).launches] == ["scale"]
    assert STEPS + STEPS_A_CHARACTER * len(host) - project.budget.steps < 2_000


def test_a_class_that_a_macro_names_may_be_final(tmp_path: Path) -> None:
    """`class IMPL final` has no name but the macro's, which is no export."""
    host = """
#include <CL/opencl.hpp>
#define IMPL Scaling
template <int W> class IMPL final : public Base<W> {
public:
  [[nodiscard]] int run(int n) const override {
    auto scale = cl::KernelFunctor<cl::Buffer, int>(program, "scale");
    scale(cl::EnqueueArgs(queue, cl::NDRange(512), cl::NDRange(W)), buffer, n);
    return 0;
  }
};
"""
    assert numbers(read(tmp_path, main_dot_cpp=host)["scale"])[0] == [512]


def test_a_size_that_the_device_may_lower_mostly_stays(tmp_path: Path) -> None:
    """`min(1024, limit)` is the author's 1024 unless a device is small; of two limits nothing is known."""
    host = """
#include <CL/cl.h>
int main()
{
    size_t limit, other;
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(limit), &limit, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(other), &other, NULL);
    size_t group = std::min(256, limit), n = 64 * std::min(1024, other), least = std::min(limit, other);
    cl_kernel scale = clCreateKernel(program, "scale", NULL), shift = clCreateKernel(program, "shift", NULL);
    clEnqueueNDRangeKernel(queue, scale, 1, NULL, &n, &group, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, shift, 1, NULL, &least, NULL, 0, NULL, NULL);
}
"""
    found = read(tmp_path, main_dot_cpp=host)
    (group,), (size,) = found["scale"].local_size, found["scale"].global_size
    assert group is not None
    assert (group.number, group.default, size.number, size.default) == (None, 256, None, 65536)
    assert found["shift"].global_size[0].default is None


def test_a_macro_that_is_given_a_function_and_its_arguments(tmp_path: Path) -> None:
    """`status = NAME ARGLIST;` calls the one with the other."""
    header = """
#include <CL/cl.h>
#define GUARDED(NAME, ARGLIST) \\
  { \\
    cl_int status; \\
    status = NAME ARGLIST; \\
    CHECK(status, #NAME); \\
  }
#define SET(kernel, index, value) GUARDED(clSetKernelArg, (kernel, index, sizeof(value), &value));
"""
    host = """
#include "helper.h"
int main()
{
    cl_kernel scale = clCreateKernel(program, "scale", NULL);
    int n = 1000;
    SET(scale, 1, n);
    size_t group[] = { 32 }, size[] = { ((n + group[0] - 1) / group[0]) * group[0] };
    GUARDED(clEnqueueNDRangeKernel,
        (queue, scale,
         /* dimensions */ 1, NULL, size, group, 0, NULL, NULL));
    GUARDED(clFinish, (queue));
}
"""
    launch = read(tmp_path, helper_dot_h=header, main_dot_c=host)["scale"]
    assert numbers(launch) == ([1024], [32])
    assert launch.arguments["n"].number == 1000
