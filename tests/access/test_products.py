"""Products of polynomials: one form for equal ones, in every process."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.access.polynomial import (
    Carried,
    Indirect,
    LoopSymbol,
    Op,
    Operation,
    Parameter,
    Unknown,
    global_id,
    local_id,
    poly,
)
from clmap_lsp.launch.forms import Form, Id, multiply
from clmap_lsp.source.ir import Variable, VariableKind, WorkItemQuery
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import SCALARS

numbers = st.integers(-600, 600)
symbols = st.one_of(
    st.sampled_from([global_id(0), global_id(1), local_id(0)]),
    st.builds(Parameter, st.sampled_from(["N", "M", "loop"])),
    st.builds(LoopSymbol, numbers, st.just("i")),
    st.builds(Carried, st.sampled_from(["c.0", "c"]), numbers),
    st.builds(Unknown, st.sampled_from(["a pointer", "N"]), numbers),
)
sums = st.lists(st.tuples(symbols, numbers), min_size=1, max_size=3).map(
    lambda parts: sum((poly(it) * factor for it, factor in parts), poly(0))
)
atoms = st.one_of(
    symbols,
    st.builds(Operation, st.sampled_from([Op.MOD, Op.XOR]), st.tuples(sums, sums)),
    st.builds(Indirect, st.sampled_from(["A", "B"]), st.integers(0, 3), sums),
)


@given(atoms, atoms, atoms)
def test_products_commute_and_associate(a, b, c):
    one, two, three = poly(a), poly(b), poly(c)
    assert one * two == two * one
    assert (one * two) * three == one * (three * two)
    assert list(((one * two) * three).terms) == list(((three * two) * one).terms)


@given(atoms, atoms)
def test_the_order_is_total(a, b):
    assert (a == b) == (a.order == b.order)
    assert (a.order < b.order) + (b.order < a.order) == (a != b)


def test_a_vector_lane_and_a_loop_of_one_hash_commute():
    """Sixteen loops and a vector that the sixteenth carries: both atoms hash to 16."""
    a, b = LoopSymbol(16, "i"), Carried("c.0", -(1 * 16 + 0) - 2)
    assert hash(a) == hash(b)
    assert poly(a) * poly(b) == poly(b) * poly(a)


def test_products_of_forms_commute():
    span = Span("k.cl", 0, 1)
    made = [Variable("N", SCALARS["int"], VariableKind.PARAMETER, span) for _ in range(2)]
    atoms = [*made, Id(WorkItemQuery.LOCAL_ID, 0), Id(WorkItemQuery.LOCAL_ID, 1)]
    for one in atoms:
        for two in atoms:
            left, right = Form({(one,): 2}), Form({(two,): 3})
            assert multiply(left, right) == multiply(right, left)


SCRIPT = """
from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.classify import classify
from clmap_lsp.source.read import read_program
program = read_program('''
__kernel void k(__global float4 *A, __global const int *idx, int N, int M, int width, float s)
{
    int x = get_global_id(0), y = get_global_id(1), v = 0;
    for (int i = 0; i < N; i++)
        for (int j = i; j < M; j += 2) {
            v = idx[(x ^ y) + v * width] & (N | M);
            A[(x * width + y * N * M) % width + v * i * j + (int)(s * (float)x)] = A[v * N + j * width * x];
        }
}''', "k.cl")
found = analyse(program.kernels[0])
for it in found.accesses:
    print(it.offset, it.guard, [str(a) for a in it.offset.walk()], it.index_text)
print([(it.access.index_text, it.pattern_names) if hasattr(it, "pattern_names") else it.access.index_text
       for it in classify(found)])
"""


def test_nothing_depends_on_the_seed_of_hashes():
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(printed) == 1
    assert "width" in printed.pop()
