"""The symbolic engine against a plain interpreter, on generated kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic import Budget, count
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin, ScalarArgument
from clmap_lsp.source.read import read_program

sys.path.insert(0, str(Path(__file__).parent))

from symbolic_oracle import counts, run

DEVICE = load_model("nvidia-hopper")

TYPES = st.sampled_from(["int", "uint", "long", "ulong", "short", "uchar", "size_t"])
NAMES = ("x", "y", "lx", "gx", "n", "v0", "v1")
CONSTANTS = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100])


def expressions(names: tuple[str, ...], depth: int = 2) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(names) | CONSTANTS.map(str)
    if depth == 0:
        return leaf
    inner = expressions(names, depth - 1)
    return st.one_of(
        leaf,
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "^", "|", "&"]), inner),
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["/", "%"]), st.sampled_from(["2", "3", "8", "16"])
        ),
        st.builds(
            "({} {} {})".format, inner, st.sampled_from(["<<", ">>"]), st.sampled_from(["1", "2", "4"])
        ),
        st.builds("min((int)({}), (int)({}))".format, inner, inner),
        st.builds("max((int)({}), (int)({}))".format, inner, inner),
        st.builds("({} < {} ? {} : {})".format, inner, inner, inner, inner),
        st.builds("(({})({}))".format, TYPES, inner),
    )


def conditions(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    side = expressions(names, 1)
    simple = st.builds("{} {} {}".format, side, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), side)
    return simple | st.builds("({}) {} ({})".format, simple, st.sampled_from(["&&", "||"]), simple)


def accesses(names: tuple[str, ...]) -> st.SearchStrategy[str]:
    index = expressions(names)
    return st.builds("C[({}) & 4095] = 1;".format, index) | st.builds("C[0] = A[({}) & 1023];".format, index)


def statements(names: tuple[str, ...], depth: int, *, in_loop: bool = False) -> st.SearchStrategy[str]:
    simple = st.one_of(
        accesses(names),
        accesses(names),
        st.builds("v0 = {};".format, expressions(names)),
        st.builds("v1 {}= {};".format, st.sampled_from(["", "+", "-", "^"]), expressions(names, 1)),
    )
    if depth == 0:
        return simple
    body = blocks(names, depth - 1, in_loop=in_loop)
    jumps = ["return;"] + (["break;", "continue;"] if in_loop else [])
    counter = f"k{depth}"
    loop_body = blocks((*names, counter), depth - 1, in_loop=True)
    return st.one_of(
        simple,
        st.builds("if ({}) {{ {} }} else {{ {} }}".format, conditions(names), body, body),
        st.builds("if ({}) {}".format, conditions(names), st.sampled_from(jumps)),
        st.builds(
            "for (int {0} = {1}; {0} < {2}; {0} += {3}) {{ {4} }}".format,
            st.just(counter),
            CONSTANTS,
            st.sampled_from(["5", "9", "n", "x", "lx + 3", "(int)(gx + 2)", "20"]),
            st.sampled_from(["1", "2", "3"]),
            loop_body,
        ),
        st.builds(
            "for (int {0} = {1}; {0} > 0; {0} >>= 1) {{ {2} }}".format, st.just(counter), CONSTANTS, loop_body
        ),
        st.builds(
            "switch (({}) & 3) {{ case 0: {} break; case 1: {} default: {} }}".format,
            expressions(names, 1),
            simple,
            simple,
            simple,
        ),
    )


def blocks(names: tuple[str, ...], depth: int, *, in_loop: bool = False) -> st.SearchStrategy[str]:
    return st.lists(statements(names, depth, in_loop=in_loop), min_size=1, max_size=3).map(" ".join)


KERNELS = st.builds(
    """__kernel void f(__global const float *A, __global float *C, const int n) {{
  {} x = get_global_id(0); int y = get_global_id(1); int lx = get_local_id(0); uint gx = get_group_id(0);
  {} v0 = 0; int v1 = 1;
  {}
}}""".format,
    TYPES,
    TYPES,
    blocks(NAMES, 2),
)
SIZES = st.sampled_from(
    [((64,), (16,)), ((96,), (40,)), ((24, 6), (8, 4)), ((16, 4), (16, 2)), ((40, 3), (16, 1))]
)


@pytest.mark.parametrize("mask_cells", [0, 1 << 12])
@settings(max_examples=150)
@given(source=KERNELS, sizes=SIZES, n=st.integers(0, 40))
def test_counts_equal_a_plain_interpreter(
    mask_cells: int, source: str, sizes: tuple[tuple[int, ...], tuple[int, ...]], n: int
) -> None:
    program = read_program(source, "f.cl")
    kernel = program.kernel("f")
    assert kernel is not None
    arguments = {
        "A": BufferArgument(Fill.ZEROS, 1024),
        "C": BufferArgument(Fill.ZEROS, 4096),
        "n": ScalarArgument((n,)),
    }
    launch = Launch("f", *sizes, arguments, Origin.GIVEN)
    result = count(kernel, launch, DEVICE, budget=Budget(mask_cells=mask_cells))
    assert result.bail is None, result.bail
    noted = run(kernel, launch, DEVICE.simd_width)
    for site in noted.accesses:
        assert site in result.sites, "an access was lost"
    for site, found in result.sites.items():
        if found.method is not Exactness.EXACT:
            assert found.reason
            continue
        if site not in noted.accesses:
            assert found.executions == 0
            continue
        assert (found.executions, found.requests, found.units) == counts(noted, site, DEVICE)
