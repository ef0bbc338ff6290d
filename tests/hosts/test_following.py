"""How launches are followed through macros, fields, tables, containers and functions that keep addresses."""

from __future__ import annotations

from pathlib import Path

from host_code import KERNELS, numbers, read

from clmap_lsp.hosts.launches import HostReader, launches_of
from clmap_lsp.workbench.hosts import project_of


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
