"""Kernels that objects of Python keep, give by attribute and launch."""

from __future__ import annotations

from pathlib import Path

from host_code import numbers, read


def test_kernels_of_an_object_that_gives_them_by_attribute_or_name(tmp_path: Path) -> None:
    """Where a class hides the program, the names of the project's own kernels tell which one is launched."""
    host = """
import numpy
import pyopencl
class Processing:
    def __init__(self, size):
        self.size = size
        self.kernels = KernelContainer(self.compile())
    def run(self, data, fast):
        wg = 32
        self.kernels.scale(self.queue, (self.size,), (wg,), self.buffer, numpy.int32(7))
        chosen = self.kernels.get_kernel("shift")
        chosen(self.queue, (1,), None, self.buffer, numpy.short(3))
    def stop(self):
        self.log.scale("nothing", 1, 2)
"""
    found = read(tmp_path, host_dot_py=host)
    assert sorted(found) == ["scale", "shift"]
    assert numbers(found["scale"]) == ([None], [32])
    assert found["scale"].arguments["n"].number == 7
    assert numbers(found["shift"]) == ([1], [None])
    assert found["shift"].arguments["n"].number == 3


def test_a_class_that_runs_kernels_by_name_and_hands_arguments_on(tmp_path: Path) -> None:
    program = """
import pyopencl
class Runner(pyopencl.Program):
    def __init__(self, name):
        self._kernels = {}
    def run_kernel(self, name, whole, group, *args, **kwargs):
        if not name in self._kernels:
            self._kernels[name] = getattr(self, name)
        self._kernels[name](self.queue, whole, group, *args, **kwargs)
"""
    use = """
import numpy as np
import pyopencl
from program import Runner
def add(buffer, rows):
    program = Runner("kernels.cl")
    program.run_kernel("shift", (256, rows), (16, 1), buffer, np.int32(9))
"""
    launch = read(tmp_path, program_dot_py=program, use_dot_py=use)["shift"]
    assert numbers(launch) == ([256, None], [16, 1])
    assert launch.arguments["n"].number == 9


def test_a_kernel_that_is_called_as_the_method_that_launches_it(tmp_path: Path) -> None:
    code = """
import pyopencl as cl

class Simulation:
    def __init__(self, n):
        self.n = n

    def setup(self):
        self.program = cl.Program(self.context, open("kernels.cl").read()).build()

    def scale(self):
        self.program.scale(self.queue, (self.n, 4), None, self.a).wait()
"""
    found = read(tmp_path, simulation_dot_py=code)
    assert numbers(found["scale"]) == ([None, 4], [None, None])


def test_kernels_in_records_of_python(tmp_path: Path) -> None:
    records = """
from collections import namedtuple
from dataclasses import dataclass

Kernels = namedtuple("Kernels", ["scale", "shift"])

@dataclass
class Sizes:
    whole: int
    group: int = 64
"""
    main = """
import pyopencl as cl
from records import Kernels, Sizes

class Runner:
    def __init__(self, ctx):
        program = cl.Program(ctx, open("kernels.cl").read()).build()
        self.kernels = Kernels(shift=program.shift, scale=program.scale)
        self.kernels.scale.set_args(buffer, np.int32(1000))
        self.sizes = Sizes(whole=1024)

    def run(self):
        sizes = self.sizes
        cl.enqueue_nd_range_kernel(queue, self.kernels.scale, (sizes.whole,), (sizes.group,))
"""
    found = read(tmp_path, records_dot_py=records, main_dot_py=main)
    assert numbers(found["scale"]) == ([1024], [64])
    assert found["scale"].arguments["n"].number == 1000
