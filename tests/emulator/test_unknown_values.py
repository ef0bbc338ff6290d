"""What follows from a value that nobody knows is no fault of the kernel; what does not, still is."""

import pytest

from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program

JUDGED = {
    FaultKind.DATA_RACE,
    FaultKind.OUT_OF_BOUNDS_READ,
    FaultKind.OUT_OF_BOUNDS_WRITE,
    FaultKind.DIVISION_BY_ZERO,
}


def run(body):
    """Run a kernel over 8 work-items; the kinds of what was found wrong in it, and the result."""
    text = f"kernel void k(global int *a, global int *b) {{\n int i = get_global_id(0);\n{body}\n}}"
    program = read_program(text, "k.cl")
    arguments = {"a": BufferArgument(Fill.IOTA, 8), "b": BufferArgument(Fill.IOTA, 8)}
    result = emulate(program, program.kernels[0], Launch("k", (8,), (8,), arguments))
    return [it.kind for it in result.faults if it.kind in JUDGED], result


@pytest.mark.parametrize(
    "body",
    [
        "b[hash(i)] = i;",
        "int at = hash(i) * 2; at += 1; b[at] = i;",
        "b[i] = a[i - hash(1) - 100];",
        "int at[2]; hash(at); b[at[1]] = i;",
        "int at[2]; at[0] = hash(i); b[at[0]] = i;",
        "b[i] = a[i] / hash(i);",
        "b[i] = a[i] % (hash(i) << 2);",
        "b[SOMEWHERE->x] = i;",
    ],
)
def test_what_rests_on_an_unknown_function_is_not_judged(body):
    found, result = run(body)
    assert found == []
    assert "accesses and divisions that rest on an unknown value are not judged" in result.notes


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("int v = hash(i); b[0] = i; b[i] = v;", FaultKind.DATA_RACE),
        ("b[i] = hash(i); a[i + 4] = 1;", FaultKind.OUT_OF_BOUNDS_WRITE),
        ("b[hash(i)] = a[i + 4];", FaultKind.OUT_OF_BOUNDS_READ),
        ("b[i] = hash(i) / (i - i);", FaultKind.DIVISION_BY_ZERO),
    ],
)
def test_what_rests_on_nothing_unknown_is(body, kind):
    assert kind in run(body)[0]


def test_a_kernel_without_unknown_values_is_judged_throughout():
    found, result = run("b[0] = i;")
    assert found == [FaultKind.DATA_RACE]
    assert not any("not judged" in it for it in result.notes)
