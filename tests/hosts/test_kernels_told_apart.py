"""Which kernel a launch is of, and which of the values that host code sets are its own."""

from __future__ import annotations

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project

ONE = """\
#pragma once
namespace {
const char *const one_text = R"(
__kernel void one(__global int *in, __global long *out) { size_t i = get_global_id(0); out[i] = in[i]; }
)";
}
class One : public Job {
public:
  One(int count) : count_(count) {}
  void prepare() override { kernel_ = tools::build("one", device_->context(), one_text); }
  void execute() override {
    kernel_.set_arg(0, in_);
    kernel_.set_arg(1, out_);
    queue_.enqueue_1d_range_kernel(kernel_, 0, 512, 64);
  }
private:
  int count_;
  boost::compute::kernel kernel_;
};
"""
TWO_HEAD = """\
#pragma once
template <typename T>
class Two : public Job {
public:
  Two(size_t count);
  void prepare() override;
  void execute() override;
private:
  size_t count_;
  boost::compute::kernel kernel_;
};
"""
TWO = """\
#include "two.h"
namespace {
constexpr const char *const two_text = R"(
__kernel void two(__global float *in, __global float *params, int n, __global float *out) {
  size_t i = get_global_id(0);
  out[i] = in[i] * params[n];
}
)";
}
template <typename T>
Two<T>::Two(size_t count) : count_(count) {}
template <typename T>
void Two<T>::prepare() { kernel_ = tools::build("two", device_->context(), two_text); }
template <typename T>
void Two<T>::execute() {
  kernel_.set_arg(0, in_);
  kernel_.set_arg(1, params_);
  kernel_.set_arg(2, 3);
  kernel_.set_arg(3, out_);
  queue_.enqueue_1d_range_kernel(kernel_, 0, 1024, 0);
}
"""
TOOLS = """\
namespace tools {
boost::compute::kernel build(const std::string &name, context &c, const std::string &source) {
  return boost::compute::kernel(boost::compute::program::build_with_source(source, c), name);
}
}
"""
MAIN = """\
#include "one.h"
#include "two.h"
int main() {
  One one(3);
  one.prepare();
  one.execute();
  std::shared_ptr<Two<float>> two = std::make_shared<Two<float>>(9);
  two->execute();
}
"""
SEVERAL = """\
__kernel void sender(uint word) { if (word == 7) return; }
__kernel void receiver() { }
__kernel void rest(FIRST_PARAMETERS) { }
"""
SERVES_ALL = """\
static const char *names[3] = {"sender", "receiver", "rest"};
int main() {
  size_t one = 1;
  for (int k = 0; k < 3; k++) {
    cl_kernel kernel = clCreateKernel(program, names[k], &status);
    cl_uint word = 7;
    clSetKernelArg(kernel, 0, sizeof(cl_uint), &word);
    clSetKernelArg(kernel, 1, sizeof(cl_uint), &word);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
  }
}
"""


def _launched(files: dict[str, str]) -> dict[str, HostLaunch]:
    texts = {f"/w/{name}": text for name, text in files.items()}
    return {it.kernel: it for it in launches_of(read_project(texts, texts.get)).launches}


def test_a_field_of_one_class_holds_no_kernel_that_another_class_keeps_in_a_field_of_its_name() -> None:
    files = {"one.h": ONE, "two.h": TWO_HEAD, "two.cpp": TWO, "tools.cpp": TOOLS, "main.cpp": MAIN}
    found = _launched(files)
    assert {name: (it.host_file, it.global_size[0].number) for name, it in found.items()} == {
        "one": ("/w/one.h", 512),
        "two": ("/w/two.cpp", 1024),
    }
    assert {name: value.number for name, value in found["two"].arguments.items()} == {"n": 3}


def test_a_class_launches_what_one_that_it_inherits_the_field_from_keeps() -> None:
    base = """\
class Base {
public:
  void prepare() { kernel_ = tools::build("one", context(), one_text); }
protected:
  boost::compute::kernel kernel_;
};
class One : public Base {
public:
  void execute() { queue_.enqueue_1d_range_kernel(kernel_, 0, 512, 64); }
};
"""
    head = ONE[: ONE.index("class One")]
    found = _launched({"one.h": head + base, "two.h": TWO_HEAD, "two.cpp": TWO, "tools.cpp": TOOLS})
    assert {name: it.global_size[0].number for name, it in found.items()} == {"one": 512, "two": 1024}


def test_what_is_set_for_other_kernels_of_one_enqueue_is_not_said_of_one_without_the_parameter() -> None:
    found = _launched({"k.cl": SEVERAL, "main.c": SERVES_ALL})
    assert {name: sorted(it.arguments) for name, it in found.items()} == {
        "sender": ["word"],
        "receiver": [],
        "rest": ["1", "FIRST_PARAMETERS"],
    }


FORWARD = "__kernel void forward(__global float *a, int n) { a[get_global_id(0)] = n; }\n"
LONGER = "__kernel void forward(__global float *a, int n, int width) { a[get_global_id(0) * width] = n; }\n"
CALLS = """\
int main(int argc, char **argv) {
  std::ifstream file(argc > 1 ? "short/forward.cl" : "long/forward.cl");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  cl::Program program(context, text);
  cl::KernelFunctor<cl::Buffer, int, int> forward(program, "forward");
  forward(cl::EnqueueArgs(queue, cl::NDRange(64)), buffer, 3, 5);
}
"""


def test_a_call_is_one_of_the_kernel_that_takes_as_many_arguments() -> None:
    texts = {"/w/short/forward.cl": FORWARD, "/w/long/forward.cl": LONGER, "/w/main.cpp": CALLS}
    (found,) = launches_of(read_project(texts, texts.get)).launches
    assert found.kernel_file == "/w/long/forward.cl"
    assert {name: it.number for name, it in found.arguments.items()} == {"n": 3, "width": 5}


def test_a_call_of_something_else_that_has_a_kernels_name_launches_nothing() -> None:
    """`pattern.search(text, start, end)` is given what a queue and two sizes may be."""
    program = """\
import re
import pyopencl
PROGRAM = re.compile("kernel")
def find(text, start, end):
    return PROGRAM.forward(text, start, end)
"""
    assert _launched({"k.cl": FORWARD, "main.py": program}) == {}
    launching = program.replace("forward(text, start, end)", "forward(queue, start, end, buffer, 4)")
    assert list(_launched({"k.cl": FORWARD, "main.py": launching})) == ["forward"]


ONE_OF_TWO = """\
#include <CL/cl.h>
cl_kernel kernel;
size_t sizes[1] = {SIZE};
int main(int argc, char **argv) {
  MAKE
  if (argc > 7) use(kernel);
}
void frame() { clEnqueueNDRangeKernel(queue, kernel, 1, NULL, sizes, NULL, 0, NULL, NULL); }
"""
MADE = 'kernel = clCreateKernel(program, "NAME", NULL); frame();'


def test_two_programs_share_no_variable_that_both_call_kernel() -> None:
    first = ONE_OF_TWO.replace("MAKE", MADE).replace("NAME", "one").replace("SIZE", "64")
    second = ONE_OF_TWO.replace("MAKE", "kernel = find(argv[1]);").replace("SIZE", "4096")
    kernels = "__kernel void one(__global int *a) { a[get_global_id(0)] = 1; }\n"
    found = _launched({"a/k.cl": kernels, "a/main.c": first, "b/main.c": second})
    assert {name: (it.host_file, it.global_size[0].number) for name, it in found.items()} == {
        "one": ("/w/a/main.c", 64)
    }


def test_a_size_that_grows_to_what_the_device_allows_does_not_stay_as_it_starts() -> None:
    """One that shrinks does, on most devices."""
    program = """\
int main() {
  size_t allowed, local = 1, less = 256, global = 65536;
  cl_kernel kernel = clCreateKernel(program, "one", NULL);
  clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(allowed), &allowed, NULL);
  while (local * 2 <= allowed) local *= 2;
  while (less > allowed) less /= 2;
  size_t group[2] = {local, less}, all[2] = {global, global};
  clEnqueueNDRangeKernel(queue, kernel, 2, NULL, all, group, 0, NULL, NULL);
}
"""
    found = _launched({"k.cl": "__kernel void one(__global int *a) { a[0] = 1; }\n", "main.c": program})
    assert [it.default if it is not None else it for it in found["one"].local_size] == [None, 256]


def test_a_kernel_may_be_called_like_its_file() -> None:
    """What a function that is not followed is given is its name then, unless it loads something."""
    program = """\
int main() {
  size_t all = 9000;
  task_t *task = made(text, "add");
  clEnqueueNDRangeKernel(queue, kernel_of(task), 1, NULL, &all, NULL, 0, NULL, NULL);
}
task_t *made(const char *text, const char *name) {
  task_t *task = malloc(sizeof(task_t));
  if (prepare(task, text, name)) return NULL;
  return task;
}
int prepare(task_t *task, const char *text, const char *name) {
  task->program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
  task->kernel = clCreateKernel(task->program, name, &status);
  return status;
}
cl_kernel kernel_of(task_t *task) { return task->kernel; }
"""
    kernel = "__kernel void add(__global float *a) { a[get_global_id(0)] += 1; }\n"
    files = {"kernels/add.cl": kernel, "main.c": program}
    found = _launched(files)
    assert {name: (it.kernel_file, it.global_size[0].number) for name, it in found.items()} == {
        "add": ("/w/kernels/add.cl", 9000)
    }
