"""How launches are followed through event loops, objects in lists, streams and methods that make ready."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

KERNELS = """\
__kernel void first(__global float *a, int n, __local float *t) { a[get_global_id(0)] = n; }
__kernel void second(__global float *a, int n, __local float *t) { a[get_global_id(0)] += n; }
"""


def read(folder: Path, **files: str) -> dict[str, HostLaunch]:
    """Return the launches of a project with two kernels in a file, by kernel."""
    (folder / "kernels.cl").write_text(KERNELS)
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return {it.kernel: it for it in launches_of(project_of(str(folder))).launches}


def sizes(launch: HostLaunch) -> tuple[list[int | float | None], list[int | float | None]]:
    return (
        [it.number for it in launch.global_size],
        [it.number if it is not None else None for it in launch.local_size],
    )


def test_what_an_event_loop_calls_is_run_after_main(tmp_path: Path) -> None:
    """What one callback changes depends on the run, and has the value that `main` gave it unless told so."""
    found = read(
        tmp_path,
        main_dot_cpp="""
cl_kernel paint, step;
int edge = 512, width = 640;
size_t area[2], window[2];
void prepare() {
    cl_program program = load_program("kernels.cl");
    step = clCreateKernel(program, "first", NULL);
    paint = clCreateKernel(program, "second", NULL);
    area[0] = edge; area[1] = edge / 2;
    window[0] = width;
}
void draw() {
    CHECK(clSetKernelArg(step, 1, sizeof(int), &edge));
    CHECK(clEnqueueNDRangeKernel(queue, step, 2, NULL, area, NULL, 0, NULL, NULL));
    clEnqueueNDRangeKernel(queue, paint, 1, NULL, window, NULL, 0, NULL, NULL);
}
void reshape(int w, int h) { width = w; window[0] = width; }
int main(int argc, char **argv) {
    registerDisplay(draw);
    registerReshape(reshape);
    prepare();
    runLoop();
    return 0;
}
""",
    )
    assert sizes(found["first"]) == ([512, 256], [None, None])
    assert found["first"].arguments["n"].number == 512
    painted = found["second"].global_size[0]
    assert painted.number is None and painted.default == 640


LISTED = """
#include <vector>
class Stage {
public:
    Stage(const char *path, const char *name) {
        char *text = slurp(path);
        cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, NULL);
        clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
        handle = clCreateKernel(program, name, NULL);
    }
    template <typename T> int give(unsigned at, const T &value) {
        return clSetKernelArg(handle, at, sizeof(T), &value);
    }
    template <typename T> int scratch(unsigned at, const int count) {
        return clSetKernelArg(handle, at, count * sizeof(T), nullptr);
    }
    cl_kernel handle = nullptr;
};
enum Which { FIRST, SECOND };
constexpr int GROUP = 16;
constexpr size_t up(size_t unit, size_t size) { return ((size + unit - 1) / unit) * unit; }
namespace Local { constexpr size_t RUN[1] = { GROUP }; }
namespace Global { constexpr size_t RUN[1] = { up(Local::RUN[0], 100) }; }
namespace Queue {
    int run(Stage &stage, const size_t *whole, const size_t *group, const int n) {
        stage.give(1, n);
        stage.scratch<float>(2, 8);
        return clEnqueueNDRangeKernel(queue, stage.handle, 1, nullptr, whole, group, 0, nullptr, nullptr);
    }
}
class Pipeline {
public:
    Pipeline() {
        stages.emplace_back(std::move(Stage("kernels.cl", "first")));
        stages.emplace_back(std::move(Stage("kernels.cl", "second")));
    }
    void step() { if (Queue::run(stages[SECOND], Global::RUN, Local::RUN, 7) != 0) fail(); }
    std::vector<Stage> stages;
};
int main() { Pipeline pipeline; pipeline.step(); }
"""


def test_objects_of_a_list_are_told_apart_by_their_index(tmp_path: Path) -> None:
    found = read(tmp_path, main_dot_cpp=LISTED)
    assert set(found) == {"second"}
    assert sizes(found["second"]) == ([112], [16])
    assert found["second"].arguments["n"].number == 7
    assert found["second"].local_arguments["t"].number == 32


def test_options_of_a_stream_and_a_source_that_another_file_defines(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        job_dot_h="""
class Job {
public:
    Job(); void open(size_t width); void run(float n);
    cl::Program program; cl::Kernel kernel; static const std::string source;
};
""",
        job_dot_cpp="""
#include <CL/cl.hpp>
#include "job.h"
Job::Job() { open(32); }
void Job::open(size_t width) {
    std::ostringstream options;
    options << "-DUNIT=" << 64 << " -DWIDTH=" << width;
    program = cl::Program(context, source);
    program.build(options.str().c_str());
    kernel = cl::Kernel(program, "inner");
}
void Job::run(float n) {
    kernel.setArg(1, n);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(32));
}
""",
        text_dot_cpp="""
#include "job.h"
const std::string Job::source = R"(
kernel void inner(global float *a, float n) { a[get_global_id(0)] = n; }
)";
""",
    )
    assert found["inner"].build_options == "-DUNIT=64 -DWIDTH=32"
    assert found["inner"].kernel_file == str(tmp_path / "text.cpp")
    assert found["inner"].arguments["n"].text == "n"


def test_a_method_that_makes_ready_comes_before_one_that_is_called_from_nowhere(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        helper_dot_h="""
class Helper { public: bool compile(const char *file); const cl::Kernel &kernel() const; cl::Kernel own; };
""",
        helper_dot_cpp="""
#include "helper.h"
bool Helper::compile(const char *file) {
    std::ifstream text(file);
    std::string code(std::istreambuf_iterator<char>(text), (std::istreambuf_iterator<char>()));
    cl::Program program = cl::Program(context, code);
    if (program.build() != CL_SUCCESS) return true;
    own = cl::Kernel(program, "second");
    return false;
}
const cl::Kernel &Helper::kernel() const { return own; }
""",
        system_dot_cpp="""
#include "helper.h"
class System { public: void setupDevice(Settings &s); void update(int n); Helper helper; int group; };
void System::setupDevice(Settings &s) {
    if (!s.enabled()) return;
    helper.compile("kernels.cl");
    group = 128;
}
void System::update(int n) {
    cl::Kernel kernel = helper.kernel();
    kernel.setArg(1, n);
    queue.enqueueNDRangeKernel(kernel, cl::NDRange(0), cl::NDRange(4096), cl::NDRange(group));
}
""",
    )
    assert sizes(found["second"]) == ([4096], [128])


def test_sizes_that_a_while_loop_copies_to_memory_of_its_own(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        main_dot_c="""
typedef struct s_device { cl_kernel kernel; size_t sizes[2]; } t_device;
void execute(t_device *device, cl_uint count, const size_t *from) {
    size_t *whole; cl_uint i;
    i = 0;
    whole = (size_t *)malloc(sizeof(size_t) * count);
    while (i < count)
    {
        whole[i] = from[i];
        i++;
    }
    clEnqueueNDRangeKernel(queue, device->kernel, count, NULL, whole, NULL, 0, NULL, NULL);
}
int main(void) {
    t_device device;
    device.kernel = clCreateKernel(program, "first", NULL);
    device.sizes[0] = 880;
    device.sizes[1] = 570;
    execute(&device, 2, device.sizes);
}
""",
    )
    assert sizes(found["first"]) == ([880, 570], [None, None])


def test_a_number_is_not_none(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        main_dot_py="""
import pyopencl as cl
class Driver:
    def __init__(self, columns=5, rows=4):
        self.program = cl.Program(cl.create_some_context(), open("kernels.cl").read()).build()
        if columns == None or rows is None:
            self.group = None
        else:
            self.group = (2 ** columns, 2 ** rows)

def main(queue):
    driver = Driver()
    driver.program.first(queue, (512, 256), driver.group, None, 3)
main(None)
""",
    )
    assert sizes(found["first"]) == ([512, 256], [32, 16])
