"""Random kernels give the same results here and on PoCL, bit for bit."""

import random

import numpy as np
import pytest
from kernel_generator import Generator
from sweeps import drawn

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import SCALARS

pytestmark = pytest.mark.pocl
PROGRAMS, KERNELS = drawn(6, 40), 16
ITEMS = 64


def settings():
    return EmulationSettings(engine=Engine.JIT, trace=False, control=False, races=False)


def on_pocl(queue, program, name, data, out_bytes):
    import pyopencl as cl

    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data)
    result = np.zeros(out_bytes, np.uint8)
    target = cl.Buffer(queue.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=result)
    kernel = cl.Kernel(program, name)
    kernel(queue, (ITEMS,), (16,), source, target)
    cl.enqueue_copy(queue, result, target)
    return result


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_integer_kernels(queue, seed):
    import pyopencl as cl

    rng = random.Random(seed)
    generators = [Generator(rng) for _ in range(KERNELS)]
    text = "".join(it.kernel(f"k{index}") for index, it in enumerate(generators))
    built = cl.Program(queue.context, text).build(["-cl-opt-disable"])
    program = read_program(text, "random.cl")
    assert not program.problems
    for index, generator in enumerate(generators):
        scalar = SCALARS[generator.type.base]
        count = 2 * ITEMS * generator.type.lanes
        argument = BufferArgument(Fill.RANDOM, count, seed=index)
        out = BufferArgument(Fill.ZEROS, ITEMS * generator.type.lanes)
        bounds = np.iinfo(numpy_dtype(scalar))
        data = np.random.default_rng(index).integers(
            bounds.min, bounds.max, count, dtype=numpy_dtype(scalar), endpoint=True
        )
        kernel = program.kernel(f"k{index}")
        launch = Launch(kernel.name, (ITEMS,), (16,), {"in": argument, "out": out})
        result = emulate(program, kernel, launch, settings())
        assert not result.faults, (result.faults, generator.type)
        expected = on_pocl(queue, built, kernel.name, data, len(result.buffers["out"].data))
        different = np.flatnonzero(expected != result.buffers["out"].data)
        assert not len(different), (seed, index, text.split("__kernel")[index + 1])


FLOAT_CASES = [
    # expression, ulps that OpenCL allows for single precision
    ("x + y * z", 0),
    ("x / y", 2.5),
    ("sqrt(fabs(x))", 3),
    ("rsqrt(fabs(x) + 1)", 2),
    ("sin(x)", 4),
    ("cos(x)", 4),
    ("tan(x)", 5),
    ("exp(x * 0.01f)", 3),
    ("exp2(x * 0.01f)", 3),
    ("log(fabs(x) + 0.5f)", 3),
    ("log2(fabs(x) + 0.5f)", 3),
    ("pow(fabs(x), y * 0.01f)", 16),
    ("atan2(x, y)", 6),
    ("asinpi(x * 0.001f)", 5),
    ("sinpi(x * 0.01f)", 4),
    ("hypot(x, y)", 4),
    ("cbrt(x)", 2),
    ("fmod(x, y)", 0),
    ("remainder(x, y)", 0),
    ("fma(x, y, z)", 0),
    ("floor(x) + ceil(y) + trunc(z)", 0),
    ("rint(x) + round(y)", 0),
    ("fmin(x, y) - fmax(y, z)", 0),
    ("ldexp(x, (int)z & 7)", 0),
    ("pown(x, (int)z & 3)", 16),
    ("rootn(fabs(x), 3)", 16),
    ("tanh(x * 0.1f)", 5),
    ("expm1(x * 0.01f)", 3),
    ("log1p(fabs(x))", 2),
    ("nextafter(x, y)", 0),
    ("copysign(x, y)", 0),
    ("fdim(x, y)", 0),
    ("fract(x, &w) + w", 1),
    ("modf(x, &w) + w", 0),
    ("clamp(x, -5.0f, 5.0f)", 0),
    ("convert_float(convert_int_rte(x)) + convert_float(convert_int_rtp(y))", 0),
    ("convert_float(convert_uchar_sat(x))", 0),
    ("(float)(half)0.0f + as_float(as_int(x))", 0),
]


@pytest.mark.parametrize(("expression", "ulps"), FLOAT_CASES, ids=[it[0] for it in FLOAT_CASES])
def test_float_functions(queue, expression, ulps):
    import pyopencl as cl

    text = (
        "__kernel void k(__global const float *in, __global float *out) {\n"
        "  int i = get_global_id(0); float w = 0;\n"
        "  float x = (in[3 * i] - 0.5f) * 200, y = (in[3 * i + 1] - 0.5f) * 20, z = in[3 * i + 2] * 9;\n"
        f"  out[i] = {expression};\n}}\n"
    ).replace("(float)(half)0.0f + ", "")
    built = cl.Program(queue.context, text).build(["-cl-opt-disable"])
    program = read_program(text, "float.cl")
    launch = Launch(
        "k",
        (ITEMS,),
        (16,),
        {"in": BufferArgument(Fill.RANDOM, 3 * ITEMS), "out": BufferArgument(Fill.ZEROS, ITEMS)},
    )
    result = emulate(program, program.kernels[0], launch, settings())
    assert not result.faults
    assert not result.notes
    data = np.random.default_rng(0).random(3 * ITEMS).astype(np.float32)
    expected = on_pocl(queue, built, "k", data, 4 * ITEMS).view(np.float32)
    found = result.buffers["out"].data.view(np.float32)
    # Both are allowed their distance from the true value.
    room = 2 * ulps * np.spacing(np.maximum(np.abs(expected), np.finfo(np.float32).tiny))
    assert (np.abs(expected.astype(np.float64) - found) <= room).all(), (expected, found)
