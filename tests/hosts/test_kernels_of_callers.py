"""Methods that are given the kernel: a window calls them by way of a base class, which nobody follows."""

from __future__ import annotations

from pathlib import Path

from host_code import numbers, read

HEADER = """\
class Engine {
 public:
  Engine();
  virtual bool init();
  virtual double work(int kind) = 0;
  void choose(int k) { chosen = k; }
  bool error;
 protected:
  cl::Context context;
  cl::CommandQueue queue;
  cl::Device device;
  int group, chosen;
  cl::Kernel scaler, of_name[2];
  cl::Kernel make(const cl::Program &p, const QString &name);
};
class Buffers : public Engine {
 public:
  virtual bool init();
  virtual double work(int kind);
 private:
  double run(cl::Kernel *kernel);
  double once(cl::Kernel *kernel);
  int width, height;
};
"""
ENGINE = """\
#include "engine.h"
Engine::Engine() : error(false), chosen(0) {
  QSettings settings("./app.cfg", QSettings::IniFormat);
  group = settings.value("device/group", 16).toInt();
}
bool Engine::init() {
  context = cl::Context(CL_DEVICE_TYPE_ALL);
  if (error) return false;
  queue = cl::CommandQueue(context, device);
  return true;
}
cl::Kernel Engine::make(const cl::Program &p, const QString &name) {
  if (error) return cl::Kernel();
  cl_int err;
  cl::Kernel kernel(p, name.toStdString().c_str(), &err);
  return kernel;
}
"""
BUFFERS = """\
#include "engine.h"
int whole(int value, int multiple) {
  int left = value % multiple;
  if (left) return value + (multiple - left);
  return value;
}
bool Buffers::init() {
  Engine::init();
  if (error) return false;
  QSettings settings("./app.cfg", QSettings::IniFormat);
  cl::Program p = cl::Program(context, text);
  p.build();
  scaler = make(p, settings.value("device/scale", "scale").toString());
  for (int i = 0; i < 2; ++i) of_name[i] = make(p, "shift" + QString::number(i + 1));
  return true;
}
double Buffers::work(int kind) {
  double t = 0;
  if (chosen != 0) {
    cl::Kernel *kernel = &of_name[chosen - 1];
    t += once(kernel);
  }
  return t + run(&scaler);
}
double Buffers::run(cl::Kernel *kernel) {
  kernel->setArg(1, group);
  cl::NDRange all(whole(width, 16), height), each(group, 4);
  queue.enqueueNDRangeKernel(*kernel, cl::NullRange, all, each);
  return 0;
}
double Buffers::once(cl::Kernel *kernel) {
  queue.enqueueNDRangeKernel(*kernel, cl::NullRange, cl::NDRange(8), cl::NDRange(4));
  return 0;
}
"""
MAIN = """\
#include "engine.h"
class Window { Engine *engine; void pick(); void redo(); };
void Window::pick() { engine = new Buffers(); engine->init(); }
void Window::redo() { engine->work(1); }
int main(int argc, char **argv) { QApplication app(argc, argv); Window w; w.show(); return app.exec(); }
"""


def test_kernels_come_from_those_who_call_the_method(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        engine_dot_h=HEADER,
        engine_dot_cpp=ENGINE,
        buffers_dot_cpp=BUFFERS,
        main_dot_cpp=MAIN,
    )
    assert sorted(found) == ["scale", "shift1", "shift2"]
    launch = found["scale"]
    assert [it.text for it in launch.global_size] == ["whole(width, 16)", "height"]
    group = launch.local_size[0]
    assert group is not None
    assert (group.number, group.default) == (None, 16), "a file of settings may say otherwise"
    assert launch.arguments["n"].number is None
    assert numbers(found["shift1"]) == numbers(found["shift2"]) == ([8], [4])


def test_what_a_list_of_a_base_gives_a_field_is_open_where_a_method_of_a_header_sets_it(
    tmp_path: Path,
) -> None:
    once = "queue.enqueueNDRangeKernel(*kernel, cl::NullRange, cl::NDRange(8), cl::NDRange(4));"
    text = BUFFERS.replace(once, once.replace("cl::NDRange(8)", "cl::NDRange(chosen + 8)"))
    text = text.replace("if (chosen != 0)", "if (error == 0)")
    found = read(tmp_path, engine_dot_h=HEADER, engine_dot_cpp=ENGINE, buffers_dot_cpp=text)
    assert found["shift1"].global_size[0].number is None
