"""AIWC's parallelism figures: how much work-items do from barrier to barrier, and on how many lanes."""

from clmap_lsp.emulator.result import Engine, Spread
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program


def parallelism(body, element="float", items=64, group=16, engine=Engine.JIT, size=None):
    program = read_program(f"kernel void k(global {element} *a, global {element} *b) {{ {body} }}", "k.cl")
    whole = BufferArgument(Fill.ZEROS, size or items)
    launch = Launch("k", (items,), (group,), {"a": whole, "b": whole})
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=engine)).parallelism


def test_accesses_are_counted_from_barrier_to_barrier():
    found = parallelism(
        "int i = get_global_id(0); b[i] = a[i]; barrier(CLK_GLOBAL_MEM_FENCE);"
        "for (int k = 0; k <= get_local_id(0); k++) b[i] += a[k];"
    )
    # Two accesses before the barrier; then three for each of 1 to 16 turns.
    assert found.accesses_to_barrier == Spread(2, 2.5, 48)
    assert found.barriers_hit == 64
    assert found.operations_to_barrier.minimum > 2


def test_a_long_run_that_is_suspended_counts_as_one():
    found = parallelism("for (int k = 0; k < 3000; k++) b[get_global_id(0)] = a[k & 63];")
    assert found.accesses_to_barrier == Spread(6000, 6000.0, 6000)


def test_both_engines_say_the_same():
    body = "int i = get_global_id(0); for (int k = 0; k < 9; k++) b[i] += a[k];"
    jit = parallelism(body, items=4096)
    auto = parallelism(body, items=4096, engine=Engine.AUTO)
    assert jit.accesses_to_barrier == auto.accesses_to_barrier == Spread(27, 27.0, 27)
    assert jit.operations_to_barrier == auto.operations_to_barrier
    assert jit.operation_width == auto.operation_width


def test_vectors_have_lanes():
    scalar = parallelism("b[get_global_id(0)] = a[get_global_id(0)] + 1.0f;")
    assert (scalar.operation_width.mean, scalar.operation_width.maximum) == (1.0, 1)
    assert scalar.operation_width.deviation == 0.0
    vector = parallelism("b[get_global_id(0)] = a[get_global_id(0)] + 1.0f;", "float8")
    assert vector.operation_width.maximum == 8
    assert 1.0 < vector.operation_width.mean < 8.0


def test_too_many_lengths_are_not_summed_up_wrongly():
    found = parallelism("for (int k = 0; k <= get_global_id(0); k++) b[0] += a[0];", items=8192, group=64)
    assert found.accesses_to_barrier is None
