"""Memory and arguments that wrappers of C hold and hand on, whose changes are open or followed."""

from __future__ import annotations

from pathlib import Path

from host_code import numbers, read


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
