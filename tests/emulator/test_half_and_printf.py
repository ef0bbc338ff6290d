"""Half precision, and `printf` as the C library formats."""

from __future__ import annotations

import ctypes
import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.emulator.printing import format_printf
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program

HEAD = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"


def run(body: str, parameters: str, values: list[float] | None = None, items: int = 8) -> EmulationResult:
    program = read_program(
        f"{HEAD}__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}", "k.cl"
    )
    assert not program.problems
    arguments = {"o": BufferArgument(Fill.ZEROS, items)}
    if values is not None:
        text = ",".join(map(repr, values))
        arguments["a"] = BufferArgument(Fill.VALUES, len(values), text=text)
    return emulate(
        program,
        program.kernels[0],
        Launch("k", (items,), (items,), arguments),
        EmulationSettings(engine=Engine.JIT),
    )


# Ties of half, ties that a rounding to float first would make, the ends of the range, denormals.
DOUBLES = [
    1 + 2**-11,
    1 + 2**-11 + 2**-40,
    1 + 2**-11 - 2**-40,
    1 + 3 * 2**-11,
    -(1 + 2**-11 + 2**-45),
    65504.0,
    65519.999999999,
    65520.0,
    1e300,
    -1e300,
    2**-24,
    2**-25,
    2**-25 * (1 + 2**-40),
    3 * 2**-25,
    1e-320,
    -0.0,
    0.1,
]


@pytest.mark.parametrize("store", ["o[i] = convert_half(a[i]);", "vstore_half(a[i], i, o);"])
def test_doubles_are_rounded_to_half_once(store: str) -> None:
    result = run(store, "__global const double *a, __global half *o", DOUBLES, len(DOUBLES))
    assert not result.faults
    with np.errstate(over="ignore"):
        expected = np.array(DOUBLES).astype(np.float16)
    assert np.array_equal(result.buffers["o"].data.view(np.uint16), expected.view(np.uint16))


def test_half_arithmetic() -> None:
    values = np.random.default_rng(1).normal(size=64).astype(np.float16)
    result = run(
        "o[i] = fma(a[i], a[i + 1], a[i + 2]) / (a[i + 3] - sqrt(fabs(a[i])));",
        "__global const half *a, __global half *o",
        values.tolist(),
        32,
    )
    assert not result.faults
    x, y, z, w = (values[k : k + 32].astype(np.float64) for k in range(4))
    top = (x * y + z).astype(np.float16)
    bottom = (w.astype(np.float16) - np.sqrt(np.abs(x)).astype(np.float16)).astype(np.float16)
    expected = (top / bottom).astype(np.float16)
    assert np.array_equal(result.buffers["o"].data.view(np.float16), expected)


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has no one name there")
def test_printf_of_integers_is_the_c_librarys() -> None:
    library = ctypes.CDLL(None)
    directives = itertools.product(
        ["", "-", "0", "+", "#", " ", "#0"], ["", "8"], ["", ".4", ".0"], ["", "h", "hh", "l"], "diouxX"
    )
    for flags, width, precision, length, letter in directives:
        template = f"<%{flags}{width}{precision}{length}{letter}>"
        for value in (0, 1, -1, -138, 300, 2**31 - 1):
            made = ctypes.create_string_buffer(100)
            given = ctypes.c_long(value) if length == "l" else ctypes.c_int(value)
            library.snprintf(made, 100, template.encode(), given)
            assert format_printf(template, [(value,)]) == made.value.decode(), (template, value)


def test_printf_of_strings_and_vectors() -> None:
    result = run(
        'if (i < 2) printf("%-5s|%s %v4hhu %#x\\n", i ? "one" : "zero", "x", (uchar4)(i, 255, 3, 4), -i);',
        "__global int *o",
    )
    assert result.printed == ("zero |x 0,255,3,4 0\n", "one  |x 1,255,3,4 0xffffffff\n")


_TRICKY = (
    0.0,
    -0.0,
    1.0,
    1.5,
    -2.5,
    0.1,
    3.14159,
    1e10,
    5e-324,
    2.5e-310,
    1e308,
    123456.789,
    math.inf,
    -math.inf,
)


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has no one name there")
@given(
    st.sampled_from(["", "-", "+", " ", "0", "#", "+0", "-#", "0#"]),
    st.sampled_from(["", "1", "5", "12", "30"]),
    st.sampled_from(["", ".", ".0", ".1", ".3", ".12", ".13", ".20"]),
    st.sampled_from("aAeEfFgG"),
    st.one_of(st.sampled_from(_TRICKY), st.floats(allow_nan=False, width=32)),
)
def test_printf_of_numbers_is_the_c_librarys(
    flags: str, width: str, precision: str, letter: str, value: float
) -> None:
    template = f"%{flags}{width}{precision}{letter}"
    made = ctypes.create_string_buffer(1000)
    ctypes.CDLL(None).snprintf(made, 1000, template.encode(), ctypes.c_double(value))
    assert format_printf(template, [(value,)]) == made.value.decode()


def test_printf_takes_widths_from_arguments() -> None:
    assert format_printf("%*d|%*d|", [(5,), (42,), (-5,), (42,)]) == "   42|42   |"
    assert format_printf("%.*f|%.*f|%.f", [(1,), (2.25,), (-1,), (2.25,), (2.5,)]) == "2.2|2.250000|2"
    assert format_printf("%5c|%-3c|", [(120,), (121,)]) == "    x|y  |"
