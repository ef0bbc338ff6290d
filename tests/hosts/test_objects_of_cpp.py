"""Launches out of objects of C++: constructors, bases, functors, objects that are called."""

from __future__ import annotations

from pathlib import Path

from host_code import numbers, read


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
