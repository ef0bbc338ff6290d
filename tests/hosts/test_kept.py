"""Launches of kernels that other functions make and keep: in fields, dictionaries and lists of loops."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

SCALE = (
    "__kernel void scale(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] *= 2; }\n"
)
SHIFT = SCALE.replace("scale", "shift")


def read(folder: Path, files: dict[str, str]) -> list[HostLaunch]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(launches_of(project_of(str(folder))).launches)


def of(launches: list[HostLaunch]) -> list[tuple[str, str | None, list[float | None], list[float | None]]]:
    return sorted(
        (
            it.kernel,
            Path(it.kernel_file).name if it.kernel_file else None,
            [size.number for size in it.global_size],
            [size.number if size is not None else None for size in it.local_size],
        )
        for it in launches
    )


def test_each_class_launches_what_it_put_into_its_own_field(tmp_path: Path) -> None:
    """Two classes have a field of one name; `run` launches what `build` puts there, and is called alone."""
    host = """
import pyopencl as cl

class Base:
    def run(self, n):
        self.helper(self.queue, (n,), [])
        self.step_kernel(self.queue, (64 * n,), (64,), self.a, n)

class First(Base):
    def build(self):
        self.program = cl.Program(self.context, open("scale.cl").read()).build()
        self.step_kernel = self.program.step

    def run(self, n):
        self.step_kernel(self.queue, (128,), None, self.a, n)

class Second(Base):
    def build(self):
        self.other = cl.Program(self.context, open("shift.cl").read()).build()
        self.step_kernel = self.other.step

    def run(self, n):
        self.step_kernel(self.queue, (256, n), (8, 1), self.a, n)
"""
    files = {
        "steps.py": host,
        "scale.cl": SCALE.replace("scale", "step"),
        "shift.cl": SCALE.replace("scale", "step"),
    }
    found = of([it for it in read(tmp_path, files) if it.host_row > 10])
    assert found == [("step", "scale.cl", [128], [None]), ("step", "shift.cl", [256, None], [8, 1])]


def test_programs_by_the_keys_of_a_dictionary_and_sizes_of_a_list_that_a_loop_fills(tmp_path: Path) -> None:
    host = """
import pyopencl as cl

class Plan:
    groups = {"scale": 64, "shift": 32}

    def __init__(self, ctx, width, small):
        self.ctx, self.queue = ctx, cl.CommandQueue(ctx)
        self.programs, self.sizes, self.width = {}, [], width
        for name in self.groups:
            self.programs[name] = cl.Program(ctx, open(name + ".cl").read()).build("-D GROUP=%s" % 16)
        while width > 8:
            self.sizes.append((width, 1))
            width //= 2
        self.small = small

    def run(self, level):
        wanted = "scale" if self.small else "shift"
        self.programs["scale"].scale(self.queue, self.sizes[level], (16, 1), self.a, 7)
        self.programs[wanted].shift(self.queue, (1024,), (self.groups[wanted],), self.a, 8)
"""
    files = {"plan.py": host, "scale.cl": SCALE, "shift.cl": SHIFT}
    found = [it for it in read(tmp_path, files) if it.kernel_file]
    assert ("scale", "scale.cl", [None, 1], [16, 1]) in of(found)
    shift = [it for it in found if it.kernel == "shift" and Path(it.kernel_file or "").name == "shift.cl"]
    assert [[size.number for size in it.global_size] for it in shift] == [[1024]]
    assert all(it.local_size[0] is not None and it.local_size[0].number is None for it in shift)
    assert {it.build_options for it in found} == {"-D GROUP=16"}


def test_a_list_that_a_loop_fills_is_one_list_under_all_its_names(tmp_path: Path) -> None:
    host = """
import pyopencl as cl
prg = cl.Program(ctx, open("scale.cl").read()).build()
sizes = other = []
n = 64
for i in range(count):
    sizes.append(n)
    n = n * 2
prg.scale(queue, (other[0],), (16,), a, 7)
"""
    found = read(tmp_path, {"run.py": host, "scale.cl": SCALE})
    assert of(found) == [("scale", "scale.cl", [None], [16])]


KEPT = """
#include "state.h"
int load(step_t *step, const char *path)
{
    char *source = text_of(path);
    step->program = clCreateProgramWithSource(step->context, 1, (const char **)&source, 0, 0);
    clBuildProgram(step->program, 0, 0, "", 0, 0);
    step->kernel = clCreateKernel(step->program, name_in(path), 0);
    return 1;
}
int make_first(app_t *app) { return load(&app->first, "scale.cl"); }
int make_second(app_t *app) { return load(&app->second, "shift.cl"); }
"""
LAUNCHING = """
#include "state.h"
int on_key(app_t *app)
{
    size_t whole = 4096, group = 64;
    return clEnqueueNDRangeKernel(app->queue, app->second.kernel, 1, 0, &whole, &group, 0, 0, 0);
}
int on_frame(app_t *app)
{
    size_t whole = 512;
    return clEnqueueNDRangeKernel(app->queue, app->first.kernel, 1, 0, &whole, 0, 0, 0, 0);
}
"""
HEADER = """
typedef struct { cl_context context; cl_program program; cl_kernel kernel; } step_t;
typedef struct { cl_command_queue queue; step_t first, second; } app_t;
"""


def test_one_field_of_several_objects_and_the_only_kernel_of_a_file(tmp_path: Path) -> None:
    """The name is cut out of the path in a way that is not known; each file has one kernel."""
    files = {"make.c": KEPT, "run.c": LAUNCHING, "state.h": HEADER, "scale.cl": SCALE, "shift.cl": SHIFT}
    found = read(tmp_path, files)
    assert of(found) == [("scale", "scale.cl", [512], [None]), ("shift", "shift.cl", [4096], [64])]


def test_which_of_two_kernels_a_path_means_is_not_guessed(tmp_path: Path) -> None:
    files = {
        "make.c": KEPT,
        "run.c": LAUNCHING,
        "state.h": HEADER,
        "scale.cl": SCALE + SHIFT,
        "shift.cl": SHIFT,
    }
    assert [it.kernel for it in read(tmp_path, files)] == ["shift"]


def test_a_wrapper_far_from_the_kernel_is_found_by_the_header_that_a_program_includes(tmp_path: Path) -> None:
    """What launches speaks of no kernel; what speaks of the kernel launches nothing itself."""
    files = {
        "lib/cl/run.h": "int run(cl_kernel kernel, size_t size);\n",
        "lib/cl/run.c": '#include "run.h"\nint run(cl_kernel kernel, size_t size)\n'
        "{ return clEnqueueNDRangeKernel(queue, kernel, 1, 0, &size, 0, 0, 0, 0); }\n",
        "programs/deep/main.c": '#include "cl/run.h"\nint main(void) { char *t = text_of("scale.cl");\n'
        "cl_program p = clCreateProgramWithSource(c, 1, &t, 0, 0);\n"
        'run(clCreateKernel(p, "scale", 0), 640); return 0; }\n',
        "programs/deep/scale.cl": SCALE,
        "programs/unused.c": "int unused;\n",
    }
    assert of(read(tmp_path, files)) == [("scale", "scale.cl", [640], [None])]
    project = project_of(str(tmp_path))
    near = project.launching_near(str(tmp_path / "programs/deep/scale.cl"), ["scale"])
    assert near == [str(tmp_path / "lib/cl/run.c")]


def test_a_copy_of_boost_is_no_host_code(tmp_path: Path) -> None:
    files = {
        "include/boost/version.hpp": "#define BOOST_VERSION 106000\n",
        "include/boost/compute/run.hpp": "void f() { queue.enqueue_nd_range_kernel(k, 1, 0, w, 0); }\n",
        "main.cpp": "int main() { return 0; }\n",
    }
    assert read(tmp_path, files) == []
    assert [Path(it).name for it in project_of(str(tmp_path)).host_files] == ["main.cpp"]
