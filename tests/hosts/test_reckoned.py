"""Sizes that a loop reckons, structures inside of others, what callbacks are given, numbers on the heap."""

from __future__ import annotations

from pathlib import Path

from host_code import numbers, read

_START = """\
#include <CL/cl.h>
typedef struct { size_t group; unsigned n; cl_kernel scale; } sim;
static cl_command_queue queue;
"""


def test_a_loop_that_grows_a_size_is_run(tmp_path: Path) -> None:
    text = """\
sim make(cl_program program) {
    sim s;
    size_t group = 1, limit = 384;
    while (group << 1 <= limit) group <<= 1;
    s.group = group;
    s.n = 1000;
    s.scale = clCreateKernel(program, "scale", NULL);
    return s;
}
int main(int argc, char **argv) {
    sim s = make(clCreateProgramWithSource(context, 1, &text, NULL, NULL));
    size_t all = (s.n / s.group + 1) * s.group;
    clEnqueueNDRangeKernel(queue, s.scale, 1, NULL, &all, &s.group, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_c=_START + text)["scale"]) == ([1024], [256])


def test_a_loop_that_ends_nobody_knows_when_leaves_a_size_open(tmp_path: Path) -> None:
    text = """\
int main(int argc, char **argv) {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t group = 1, all = 4096;
    while (group < all) { if (argc > 3) break; group <<= 1; }
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_c=_START + text)["scale"]) == ([4096], [None])


_WINDOW = """\
typedef struct { cl_kernel kernel; cl_uint dim; size_t global[2]; } t_cl;
typedef struct { t_cl cl; int most; void *win; } t_data;
void cl_init(t_cl *cl) {
    cl->kernel = clCreateKernel(program, "scale", NULL);
    cl->dim = 2;
    cl->global[0] = 1920;
    cl->global[1] = 1080;
}
int draw(t_data *data) {
    clSetKernelArg(data->cl.kernel, 1, sizeof(int), &data->most);
    clEnqueueNDRangeKernel(queue, data->cl.kernel, data->cl.dim, NULL, data->cl.global, NULL, 0, NULL, NULL);
    return 0;
}
int on_key(int key, t_data *data) { if (key == 4) data->most *= 2; draw(data); return 0; }
int main(int argc, char **argv) {
    t_data *data = (t_data *)malloc(sizeof(t_data));
    data->most = 100;
    cl_init(&data->cl);
    FIRST
    hook(data->win, 2, 0, on_key, data);
    loop();
    return 0;
}
"""


def test_an_array_in_a_structure_of_another_is_one(tmp_path: Path) -> None:
    found = read(tmp_path, main_dot_c=_START + _WINDOW.replace("FIRST", "draw(data);"))
    assert numbers(found["scale"])[0] == [1920, 1080]


def test_a_callback_gets_what_was_handed_on_beside_it(tmp_path: Path) -> None:
    found = read(tmp_path, main_dot_c=_START + _WINDOW.replace("FIRST", ""))["scale"]
    assert numbers(found)[0] == [1920, 1080]
    assert found.arguments["n"].number is None  # It changes that itself.


def test_one_number_is_not_all_sizes_of_two_dimensions(tmp_path: Path) -> None:
    text = """\
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t all = 64;
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    assert len(read(tmp_path, main_dot_c=_START + text)["scale"].global_size) == 2


def test_numbers_of_smart_pointers(tmp_path: Path) -> None:
    text = """\
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    auto n = std::make_unique<unsigned int>(4096);
    *n /= 2;
    int held = *n.get();
    size_t all = *n;
    clSetKernelArg(kernel, 1, sizeof(int), &held);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    found = read(tmp_path, main_dot_cpp=_START + text)["scale"]
    assert numbers(found)[0] == [2048]
    assert found.arguments["n"].number == 2048


def test_a_smart_pointer_outside_of_functions_gives_a_default(tmp_path: Path) -> None:
    header = "#include <memory>\nnamespace state { extern std::unique_ptr<unsigned> count; }\n"
    state = "namespace state { std::unique_ptr<unsigned> count = std::make_unique<unsigned>(4096); }\n"
    text = """\
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t all[1] = { (size_t)(*state::count) };
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, all, NULL, 0, NULL, NULL);
}
"""
    files = {"state_dot_hpp": header, "state_dot_cpp": '#include "state.hpp"\n' + state}
    found = read(tmp_path, main_dot_cpp='#include "state.hpp"\n' + _START + text, **files)["scale"]
    (size,) = found.global_size
    assert (size.number, size.default) == (None, 4096)


def test_a_kernel_of_a_table_that_a_query_fills_is_known_by_its_name(tmp_path: Path) -> None:
    text = """\
typedef struct { size_t n; char **names; cl_kernel *kernels; } table;
void fill(table *t, cl_program program) {
    char *all = malloc(1000);
    clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(size_t), &t->n, NULL);
    clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 1000, all, NULL);
    char *at = strtok(all, ";");
    for (size_t i = 0; i < t->n; ++i) {
        t->names[i] = at;
        t->kernels[i] = clCreateKernel(program, t->names[i], NULL);
        at = strtok(NULL, ";");
    }
}
cl_kernel get_kernel(table t, const char *name) {
    for (size_t i = 0; i < t.n; ++i) if (strcmp(name, t.names[i]) == 0) return t.kernels[i];
    return NULL;
}
int main() {
    table t;
    fill(&t, clCreateProgramWithSource(context, 1, &text, NULL, NULL));
    cl_kernel kernel = get_kernel(t, "shift");
    size_t all = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    assert list(read(tmp_path, main_dot_c=_START + text)) == ["shift"]


def test_what_objective_c_gives_is_not_known(tmp_path: Path) -> None:
    library = """\
void *window_new() {
  if (ready == 0) return ((void *)0);
  [App sharedApplication];
  win = [[Window alloc] initWithRect:rect];
  return ((void *)0);
}
"""
    text = """\
int main() {
    void *window;
    if (!(window = window_new())) exit(1);
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t all = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    assert numbers(read(tmp_path, main_dot_c=_START + text, window_dot_m=library)["scale"])[0] == [64]


def test_memory_that_a_loop_takes_in_each_turn_has_all_its_numbers(tmp_path: Path) -> None:
    text = """\
static void go(cl_program program, size_t m, size_t k) {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t *global = new size_t[2];
    global[0] = m;
    global[1] = k;
    size_t *local = (size_t *)malloc(2 * sizeof(size_t));
    local[0] = 16;
    local[1] = 4;
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}
int main() {
    std::vector<int> found;
    find(found);
    for (int i = 0; i < found.size(); i++) go(program, 720, 96);
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=_START + text)["scale"]) == ([720, 96], [16, 4])


def test_memory_of_one_turn_that_is_given_back_stands_for_many(tmp_path: Path) -> None:
    text = """\
static size_t *of(size_t n) { size_t *sizes = new size_t[2]; sizes[0] = n; sizes[1] = 1; return sizes; }
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t *all[4];
    for (int i = 0; i < found(); i++) all[i] = of(64);
    all[0][0] = 32;
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, all[1], NULL, 0, NULL, NULL);
}
"""
    assert 32 not in numbers(read(tmp_path, main_dot_cpp=_START + text)["scale"])[0]


def test_a_pointer_of_a_turn_may_point_elsewhere(tmp_path: Path) -> None:
    text = """\
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t other[2] = {8, 4};
    for (int i = 0; i < found(); i++) {
        size_t *sizes = new size_t[2];
        sizes[0] = 64;
        sizes[1] = 32;
        delete[] sizes;
        sizes = other;
        clEnqueueNDRangeKernel(queue, kernel, 2, NULL, sizes, NULL, 0, NULL, NULL);
    }
}
"""
    assert numbers(read(tmp_path, main_dot_cpp=_START + text)["scale"])[0] == [8, 4]


def test_includes_of_windows(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "include" / "block.h").write_text("#define BLOCK 16\n")
    text = """\
#include "..\\\\include\\\\block.h"
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    size_t all = 1024, group = BLOCK;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
}
"""
    (tmp_path / "src" / "main.cpp").write_text(_START + text.replace("\\\\", "\\"))
    assert numbers(read(tmp_path)["scale"]) == ([1024], [16])


_TABLE = """\
class Runner {
 public:
  std::vector<const char *> names;
  cl_kernel kernels[10];
  Runner(std::vector<const char *> given) {
    names = given;
    for (int i = 0; i < names.size(); i++) kernels[i] = clCreateKernel(program, names[i], NULL);
  }
  void run(const char *name, unsigned n) {
    cl_kernel kernel = kernels[0];
    for (int i = 0; i < 10; i++) { if (names[i] == name) { kernel = kernels[i]; } }
    size_t all = n;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
  }
};
"""


def test_a_table_is_asked_for_a_kernel_by_its_name(tmp_path: Path) -> None:
    text = 'int main() { Runner runner({"scale", "shift"}); runner.run("shift", 64); }\n'
    assert list(read(tmp_path, main_dot_cpp=_START + _TABLE + text)) == ["shift"]


def test_arguments_up_to_an_end_marker_are_set(tmp_path: Path) -> None:
    text = """\
struct Matrix { int w; int width() const { return w; } };
void multiply(const Matrix &a, const Matrix &b) {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    const cl_mem objects[] = {buffer(a), 0};
    int at = 0;
    for (int i = 0; objects[i] != 0; i++, at++)
        if (clSetKernelArg(kernel, at, sizeof(cl_mem), (void *)&objects[i]) != CL_SUCCESS) throw "fail";
    const int sizes[] = {a.width(), 0};
    for (int i = 0; sizes[i] != 0; i++, at++)
        if (clSetKernelArg(kernel, at, sizeof(int), (void *)&sizes[i]) != CL_SUCCESS) throw "fail";
    size_t all = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    found = read(tmp_path, main_dot_cpp=_START + text)["scale"]
    assert found.arguments["n"].text == "w"


def test_an_array_given_as_a_whole_is_not_its_first_number(tmp_path: Path) -> None:
    text = """\
int main() {
    cl_kernel kernel = clCreateKernel(program, "scale", NULL);
    int first[2] = {3, 4}, pair[2] = {5, 6};
    size_t all = 64;
    clSetKernelArg(kernel, 1, sizeof(int), &first[0]);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
    cl_kernel other = clCreateKernel(program, "shift", NULL);
    clSetKernelArg(other, 1, sizeof(pair), pair);
    clEnqueueNDRangeKernel(queue, other, 1, NULL, &all, NULL, 0, NULL, NULL);
}
"""
    found = read(tmp_path, main_dot_c=_START + text)
    assert found["scale"].arguments["n"].number == 3
    assert "n" not in found["shift"].arguments
