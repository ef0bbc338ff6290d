"""Ways of writing host programs in C++: own classes of handles, vectors, functions inside of others."""

from __future__ import annotations

from clmap_lsp.hosts.c_reader import read_c
from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project

KERNEL = "__kernel void k(__global float *a, int n) { a[get_global_id(0)] = n; }\n"


def _launch(program: str, **files: str) -> HostLaunch:
    texts = {"/w/k.cl": KERNEL, "/w/main.cpp": program}
    texts |= {f"/w/{name.replace('_', '.')}": text for name, text in files.items()}
    (found,) = launches_of(read_project(texts, texts.get)).launches
    return found


def test_functions_may_be_declared_inside_of_others() -> None:
    found = _launch("""\
int main() {
  cl_context CreateContext();
  cl_program MakeProgram(cl_context, cl_device_id *);
  cl_command_queue CreateQueue(cl_context, cl_device_id *);
  void Leave(cl_context, cl_command_queue, cl_mem[3]);
  cl_context context = CreateContext();
  if (context == nullptr) return 1;
  cl_command_queue queue = CreateQueue(context, &device);
  if (queue == nullptr) { Leave(context, queue, buffers); return 1; }
  cl_program program = MakeProgram(context, devices);
  if (program == nullptr) { Leave(context, queue, buffers); return 1; }
  cl_kernel kernel = clCreateKernel(program, "k", nullptr);
  size_t global = 1000, local = 8;
  clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr);
}
cl_context CreateContext() { return clCreateContextFromType(0, CL_DEVICE_TYPE_GPU, 0, 0, &status); }
cl_command_queue CreateQueue(cl_context context, cl_device_id *device) {
  cl_command_queue queue = nullptr;
  queue = clCreateCommandQueue(context, *device, 0, &status);
  if (status != CL_SUCCESS) return nullptr;
  return queue;
}
cl_program MakeProgram(cl_context context, cl_device_id *device) {
  std::ifstream file("k.cl", std::ios::in);
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  const char *source = all.c_str();
  return clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
}
""")
    assert (found.kernel_file, found.global_size[0].number) == ("/w/k.cl", 1000)
    declared = "int main() { void Leave(cl_context, cl_mem[3]); cl_mem Made(cl_context, name_t *); }"
    assert read_c(declared, "main.cpp").functions[0].body == ()


def test_products_in_brackets_are_values_still() -> None:
    found = _launch("""\
const int rows = 6, columns = 64;
int main() {
  cl::Kernel kernel(program, "k");
  cl::NDRange all(rows * columns), group(columns);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, all, group);
}
""")
    assert [it.number for it in (*found.global_size, *found.local_size) if it is not None] == [384, 64]


def test_a_class_of_handles_may_take_them_by_any_operator() -> None:
    found = _launch("""\
struct kernel_t { cl_kernel held; kernel_t &operator<<=(cl_kernel k) { held = k; return *this; } };
int main() {
  kernel_t kernel;
  CHECK((kernel <<= clCreateKernel(program, "k", &status), status));
  size_t all = 1 << 9, group = 1;
  group <<= 6;
  clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &all, &group, 0, nullptr, nullptr);
}
""")
    assert [it.number for it in (*found.global_size, *found.local_size) if it is not None] == [512, 64]


BINDINGS = """\
#ifndef CL_HPP_
#define CL_HPP_
namespace cl {
class NDRange { size_t sizes_[3]; public: NDRange(size_t x) { sizes_[0] = x; } };
static const NDRange NullRange;
class CommandQueue { cl_int enqueueNDRangeKernel(const Kernel &kernel, const NDRange &offset,
  const NDRange &global, const NDRange &local) const {
    return ::clEnqueueNDRangeKernel(object_, kernel(), 1, offset, global, local, 0, NULL, NULL); } };
}
#endif
"""


def test_a_copy_of_the_bindings_under_a_name_of_its_own_says_nothing_of_sizes() -> None:
    program = """\
#include "cl12.hpp"
int main() {
  cl::Kernel kernel(program, "k");
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(4096), cl::NullRange);
}
"""
    texts = {"/w/k.cl": KERNEL, "/w/main.cpp": program, "/w/cl12.hpp": BINDINGS}
    report = launches_of(read_project(texts, texts.get))
    (found,) = report.launches
    assert (found.global_size[0].number, found.local_size, found.offset) == (4096, (None,), ())
    assert not report.unnamed
    own = program.replace("cl12", "own").replace("cl::", "")
    found = _launch("using namespace cl;\n" + own, own_hpp=BINDINGS)
    assert (found.local_size, found.offset) == ((None,), ())


def test_vectors_of_glm_are_sizes() -> None:
    program = """\
void run(int n) {
  const static glm::ivec3 GROUP(4, 4, 2);
  glm::uvec2 tiles(7, 3);
  tiles.y = 5;
  cl::EnqueueArgs sizes(queue, cl::NDRange(GROUP.x * 16, tiles.x * 4, tiles.y * 2),
                        cl::NDRange(GROUP.x, GROUP.y, GROUP.z));
  cl::make_kernel<cl::Buffer, int> kernel(program, "k");
  kernel(sizes, buffer, GROUP.y);
}
"""
    found = _launch(program)
    assert [it.number for it in found.global_size] == [64, 28, 10]
    assert [it.number for it in found.local_size if it is not None] == [4, 4, 2]
    own = "struct ivec3 { int x, y, z; ivec3(int a, int b, int c) : x(c), y(b), z(a) {} };\n"
    found = _launch(own + program.replace("glm::ivec3", "ivec3"))
    assert [it.number for it in found.local_size if it is not None] == [2, 4, 4]


def test_strings_of_qt_name_kernels_files_and_options() -> None:
    found = _launch("""\
class Devices {
public:
  void build(QStringList names, QString options) {
    char *text;
    for (int i = 0; i < names.size(); ++i) read(names[i], &text);
    held = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &status);
    clBuildProgram(held, 1, &device, options.toLatin1().constData(), NULL, NULL);
  }
  cl_kernel kernel(QString name) { return clCreateKernel(held, name.toAscii().constData(), &status); }
private:
  void read(QString name, char **text) {
    QFile file(name);
    file.open(QIODevice::ReadOnly);
    *text = new char[file.size() + 1];
    qstrcpy(*text, file.readAll().constData());
  }
  cl_program held;
};
int main() {
  Devices devices;
  devices.build(QStringList(QString("%1.cl").arg("k")), QString("-D TYPE=%2 -D N=%1").arg(16).arg("float"));
  cl_kernel kernel = devices.kernel(QString("k"));
  size_t all = 256;
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
""")
    assert (found.kernel_file, found.global_size[0].number) == ("/w/k.cl", 256)
    assert found.build_options == "-D TYPE=float -D N=16"


def test_no_options_are_none_whether_empty_or_null() -> None:
    found = _launch("""\
int main(int argc, char **argv) {
  std::string none;
  const char *options = argc > 1 ? none.c_str() : NULL;
  clBuildProgram(program, 1, &device, options, NULL, NULL);
  cl_kernel kernel = clCreateKernel(program, "k", &status);
  size_t all = 256;
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, NULL, 0, NULL, NULL);
}
""")
    assert found.build_options == ""


def test_compared_names_choose_what_is_set() -> None:
    texts = {
        "/w/k.cl": KERNEL + KERNEL.replace("void k", "void m"),
        "/w/main.c": """\
static const char *names[2] = {"k", "m"};
int main() {
  for (int i = 0; i < 2; i++) {
    cl_kernel kernel = clCreateKernel(program, names[i], &status);
    size_t all = 4096, group = 0;
    if (strcmp(names[i], "k") == 0) { group = 64; all /= 4; }
    else group = strncmp(names[i], "mix", 1) ? 1 : 32;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &all, &group, 0, NULL, NULL);
  }
}
""",
    }
    found = {it.kernel: it for it in launches_of(read_project(texts, texts.get)).launches}
    sizes = {name: (it.global_size[0].number, it.local_size[0]) for name, it in found.items()}
    assert {name: (whole, group and group.number) for name, (whole, group) in sizes.items()} == {
        "k": (1024, 64),
        "m": (4096, 32),
    }


def test_methods_may_be_defined_with_the_namespace_of_their_class() -> None:
    header = """\
namespace gpu {
class Device {
public:
  cl::Kernel kernel(const cl::Program &program, std::string name);
  void run(const cl::Kernel &kernel, cl::NDRange local, cl::NDRange global,
           cl::NDRange offset = cl::NullRange);
private:
  cl::CommandQueue queue;
};
}
"""
    methods = """\
#include "device.h"
cl::Kernel gpu::Device::kernel(const cl::Program &program, std::string name) {
  try {
    return cl::Kernel(program, name.c_str());
  } catch (const cl::Error &error) { std::cout << error.what(); }
  throw std::runtime_error("no kernel");
}
void gpu::Device::run(const cl::Kernel &kernel, cl::NDRange local, cl::NDRange global, cl::NDRange offset) {
  queue.enqueueNDRangeKernel(kernel, offset, global, local);
}
"""
    program = """\
#include "device.h"
int main() {
  gpu::Device device;
  cl::Kernel kernel = device.kernel(program, "k");
  device.run(kernel, cl::NullRange, cl::NDRange(640, 480));
}
"""
    found = _launch(program, device_h=header, device_cpp=methods)
    assert [it.number for it in found.global_size] == [640, 480]
    assert (found.local_size, found.offset) == ((None, None), ())


def test_what_callbacks_set_is_no_constant() -> None:
    """Before they are handed on, and behind it."""
    found = _launch("""\
void slider(Panel &panel, const char *name, std::function<void(float)> moved) {
  Slider *made = new Slider(panel, name);
  made->setCallback([made, moved](float value) { made->show(value); moved(value); });
}
class Scene {
public:
  Scene() { panel.button("count", [&](float part) { count = part * 100; }); }
  void prepare() { kernel = clCreateKernel(program, "k", &status); group = 64; }
  void watch() {
    slider(panel, "pull", [=](float value) { pull = value; });
    panel.button("group", [this]() { group /= 2; });
    group = 128;
  }
  void update() {
    size_t all[] = {count}, groups[] = {group};
    clSetKernelArg(kernel, 1, sizeof(int), &pull);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, all, groups, 0, NULL, NULL);
  }
private:
  unsigned count = 500000, group = 32;
  int pull = 3;
  cl_kernel kernel;
  Panel panel;
};
int main() {
  Scene scene;
  scene.prepare();
  scene.watch();
  while (open()) scene.update();
}
""")
    values = (*found.global_size, *found.local_size, found.arguments["n"])
    assert [(it.number, it.default) for it in values if it is not None] == [
        (None, 500000),
        (None, 128),
        (None, 3),
    ]
