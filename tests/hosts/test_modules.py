"""How launches are followed through modules, properties, paths and comprehensions of Python."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of


def read(folder: Path, kernels: str, **files: str) -> dict[str, HostLaunch]:
    """Return the launches of a project whose kernels stand in files of their own, by kernel."""
    for name in kernels.split():
        path = folder / "device" / f"{name}.cl"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"__kernel void {name}(__global float *x, int n) {{ x[get_global_id(0)] = n; }}\n")
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {it.kernel: it for it in launches_of(project_of(str(folder))).launches}


def sizes(launch: HostLaunch) -> tuple[list[int | float | None], list[int | float | None]]:
    return (
        [it.number for it in launch.global_size],
        [it.number if it is not None else None for it in launch.local_size],
    )


RUNNER = """
import pyopencl as cl
from .settings import GROUP

class Runner:
    def __init__(self, path, name, n=1024):
        self.context = cl.create_some_context()
        self.queue = cl.CommandQueue(self.context)
        with open(path) as file:
            self.program = cl.Program(self.context, file.read()).build()
        self._n = n
        self.name = name

    @property
    def size(self):
        return self._n * 2

    @property
    def kernel(self):
        return getattr(self.program, self.name)

    def launch(self, *arguments):
        self.kernel(self.queue, (self.size,), (GROUP,), *arguments)

class Doubler(Runner):
    def __init__(self):
        super().__init__(path="device/double_it.cl", name="double_it", n=512)
"""
SETTINGS = """
import os
GROUP = 64
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "device", "fill.cl")
"""


def test_a_wrapper_is_followed_from_modules_that_do_not_speak_of_opencl(tmp_path: Path) -> None:
    program = """
from tools.runner import Doubler, Runner
from tools.settings import SOURCE
Runner(SOURCE, "fill").launch(None, 5)
Doubler().launch(None, 7)
"""
    found = read(tmp_path, "fill double_it", main=program, tools__runner=RUNNER, tools__settings=SETTINGS)
    assert sizes(found["fill"]) == ([2048], [64])
    assert found["fill"].kernel_file == str(tmp_path / "device" / "fill.cl")
    assert found["fill"].arguments["n"].number == 5
    assert sizes(found["double_it"]) == ([1024], [64])


def test_a_setting_that_a_function_changes_is_no_number(tmp_path: Path) -> None:
    settings = SETTINGS + "def choose(group):\n    global GROUP\n    GROUP = group\n"
    program = 'from tools.runner import Runner\nRunner("device/fill.cl", "fill").launch(None, 5)\n'
    found = read(tmp_path, "fill", main=program, tools__runner=RUNNER, tools__settings=settings)
    local = found["fill"].local_size[0]
    assert local is not None and local.number is None and local.default == 64


def test_programs_in_a_dictionary_made_by_a_helper(tmp_path: Path) -> None:
    """The helper runs twice in one statement: each of its programs is another one."""
    program = """
import pyopencl as cl
from pathlib import Path
FOLDER = Path(__file__).parent / "device"

def load(context, name):
    source = (FOLDER / f"{name}.cl").read_text()
    return cl.Program(context, source).build(["-DWIDTH=4"]).__getattr__(name)

def load_all(context):
    return {"one": load(context, "one"), "two": load(context, "two")}

def run(context, queue, kernels, again):
    if again:
        kernels = load_all(context)
    first = kernels["one"]
    first(queue, (640, 480), (16, 16), None, 3)
    kernels["two"](queue, (128,), None, None, 4)
    programs = {name: load(context, name) for name in ("three", "four")}
    programs["four"](queue, (96,), (32,), None, 9)
    only, = cl.Program(context, open("device/five.cl").read()).build().all_kernels()
    only(queue, (33,), (11,), None, 1)
"""
    found = read(tmp_path, "one two three four five", main=program)
    assert sizes(found["one"]) == ([640, 480], [16, 16])
    assert sizes(found["two"]) == ([128], [None])
    assert sizes(found["four"]) == ([96], [32])
    assert sizes(found["five"]) == ([33], [11])
    for name in ("one", "two", "four", "five"):
        assert found[name].kernel_file == str(tmp_path / "device" / f"{name}.cl")
    assert found["two"].build_options == "-DWIDTH=4"


def test_a_copy_of_boost_is_no_host_code(tmp_path: Path) -> None:
    boost = tmp_path / "include" / "boost"
    (boost / "compute").mkdir(parents=True)
    (boost / "config.hpp").write_text("#define BOOST_CONFIG 1\n")
    (boost / "compute" / "queue.hpp").write_text(
        "class command_queue { void enqueue_nd_range_kernel(const kernel &k, size_t n, const size_t *o,"
        " const size_t *g, const size_t *l) { clEnqueueNDRangeKernel(q, k, n, o, g, l, 0, 0, 0); } };\n"
    )
    (tmp_path / "main.cpp").write_text("""
#include <boost/compute/queue.hpp>
void run(compute::command_queue &queue) {
    auto kernel = compute::program::create_with_source_file("device/fill.cl", context).create_kernel("fill");
    size_t size[2] = { 64, 32 };
    kernel.set_arg(1, 3);
    queue.enqueue_nd_range_kernel(kernel, 2, NULL, size, NULL);
}
""")
    found = read(tmp_path, "fill")
    assert sizes(found["fill"]) == ([64, 32], [None, None])
    assert found["fill"].host_file == str(tmp_path / "main.cpp")
