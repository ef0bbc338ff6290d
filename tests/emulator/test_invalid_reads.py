"""Uses of values that were read out of bounds: reported once where they matter, and only there."""

import pytest

from clmap_lsp.emulator.result import Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program


def faults(body, engine=Engine.JIT, items=8):
    """Run a kernel over `items` work-items where `a` has half as many elements; the used lines."""
    program = read_program(
        f"kernel void k(global int *a, global int *b) {{\n int i = get_global_id(0);\n{body}\n}}", "k.cl"
    )
    half = BufferArgument(Fill.IOTA, items // 2)
    launch = Launch("k", (items,), (items,), {"a": half, "b": BufferArgument(Fill.ZEROS, items)})
    result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=engine))
    return [it for it in result.faults if it.kind is FaultKind.UNINITIALISED_READ], result


@pytest.mark.parametrize(
    "body",
    [
        "int v = a[i];\nint w = v * 2 + 1;\nb[i] = w;",
        "int v = a[i];\n\nif (v > 3) b[i] = 1;",
        "int v = a[i];\n\nb[v] = 1;",
        "int v = a[i];\nint s = 0;\nfor (int k = 0; k < v; k++) s++;",
        "int v = i < 8 ? a[i] : 0;\nint2 w = (int2)(v, 1);\nb[i] = w.x;",
    ],
)
def test_a_use_is_reported_where_it_stands(body):
    found, result = faults(body)
    (fault,) = found
    reads = [it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert fault.work_item == (4, 0, 0)
    assert fault.other_span == reads[0].span
    assert fault.span.start > reads[0].span.end
    assert "out of bounds" in fault.detail


@pytest.mark.parametrize(
    "body",
    [
        "int v = a[i];\nv = 5;\nb[i] = v;",
        "int v = a[i];\nb[i] = i < 4 ? v : 7;",
        "int v = a[i];\nif (i < 4 && v >= 0) b[i] = v;",
        "int v = 0;\nif (i < 4) v = a[i];\nb[i] = v;",
        "a[i];",
    ],
)
def test_what_does_not_depend_on_it_is_not_reported(body):
    assert faults(body)[0] == []


def test_the_value_is_followed_over_a_barrier():
    found, _ = faults("int v = a[i];\nbarrier(CLK_LOCAL_MEM_FENCE);\nb[i] = v;")
    assert [it.occurrences for it in found] == [4]


def test_an_atomic_past_the_end_uses_what_it_read():
    found, result = faults("atomic_inc(a + i);")
    kinds = {it.kind.value for it in result.faults}
    assert len(found) == 1
    assert kinds == {"out-of-bounds-read", "out-of-bounds-write", "uninitialised-read"}


def test_a_large_launch_says_the_same():
    found, result = faults("b[i] = a[i];", Engine.AUTO, items=4096)
    assert len(found) == 1
    assert found[0].occurrences == 2048
    assert result.metrics.accesses == 2048 + 4096


def test_pointers_in_program_scope_objects_lead_to_their_targets():
    program = read_program(
        "constant int c[] = {3, 4};\nstruct S { int a; constant int *p[2]; };\n"
        "constant struct S s = {5, {c, c + 1}};\nconstant int *constant q = &c[1];\n"
        "kernel void k(global int *b) { b[0] = *s.p[1] + s.a; b[1] = s.p[0][0] * 10 + *q; }",
        "k.cl",
    )
    launch = Launch("k", (1,), (1,), {"b": BufferArgument(Fill.ZEROS, 2)})
    result = emulate(program, program.kernels[0], launch)
    assert result.faults == ()
    assert result.buffers["b"].first == (9, 34)


def test_global_variables_of_the_program_may_be_written():
    program = read_program(
        "global int n = 3;\nkernel void k(global int *b) { n += 2; b[0] = n; if (n == 5) b[1] = 1; }",
        "k.cl",
        BuildOptions(standard="CL2.0"),
    )
    launch = Launch("k", (1,), (1,), {"b": BufferArgument(Fill.ZEROS, 2)})
    result = emulate(program, program.kernels[0], launch)
    assert result.faults == ()
    assert result.buffers["b"].first == (5, 1)
    assert {it.space for it in result.sites} == {"global"}
