"""Budgets hold, and nothing that a kernel or a launch says ends the process."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import drawn

from clmap_lsp.emulator.result import Engine, Limit, Method
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.read import read_program


def run(source, launch, **changes):
    program = read_program(source, "kernel.cl")
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT, **changes))


def launch_of(n, group, **arguments):
    return Launch("k", (n,), (group,), arguments)


ZEROS = BufferArgument(Fill.ZEROS, 64)


@pytest.mark.parametrize(
    "body",
    ["while (1) {}", "while (1) a[i] += 1;", "l: a[i]++; goto l;", "for (;;) barrier(CLK_LOCAL_MEM_FENCE);"],
)
def test_an_endless_loop_is_cut_and_what_ran_is_kept(body):
    source = f"__kernel void k(__global int *a) {{ int i = get_global_id(0); {body} }}"
    started = time.process_time()
    result = run(source, launch_of(64, 16, a=ZEROS), time_limit_s=0.3)
    assert result.method is Method.TRUNCATED
    assert result.stopped is not None
    # By the work it did; a machine several times slower than most comes to the clock first.
    assert result.stopped.limit in (Limit.WORK, Limit.TIME)
    assert "never" in result.stopped.detail
    assert time.process_time() - started < 20


def test_the_step_limit_ends_a_run():
    source = "__kernel void k(__global int *a) { while (1) a[0]++; }"
    result = run(source, launch_of(1, 1, a=ZEROS), max_steps=100_000)
    assert result.stopped is not None
    assert result.stopped.limit is Limit.STEPS
    assert result.faults == ()


@pytest.mark.parametrize("count", [1 << 38, 1 << 60])
def test_a_terabyte_is_refused(count):
    source = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }"
    with pytest.raises(LaunchError):
        run(source, launch_of(64, 16, a=BufferArgument(Fill.ZEROS, count)))


def test_a_terabyte_of_work_items_memory_is_refused():
    source = "__kernel void k(__global int *a) { int t[1 << 28]; t[a[0]] = 1; a[0] = t[a[0]]; }"
    with pytest.raises(LaunchError):
        run(source, launch_of(64, 64, a=ZEROS))


FUZZED = """
typedef struct { char c; int v[3]; float4 f; } S;
__constant int table[4] = {1, -2, 3, 4};
int walk(__global int *p, int n, int depth) {
  int sum = 0;
  for (int i = 0; i < n; i += depth | 1) { if (i > 300) break; sum += p[i * depth]; }
  return sum;
}
__kernel void k(__global int *a, __global S *s, __local int *t, __global int *b, int n, long m, float f) {
  int i = get_global_id(0), l = get_local_id(0);
  __local int u[8];
  int private_array[4] = {0};
  private_array[n & 7] = i;
  t[l] = a[i + n];
  if (n & 1) barrier(CLK_LOCAL_MEM_FENCE);
  u[t[l + n] & 15] = n;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  __global int *p = (m & 2) ? a : b;
  p += m;
  a[i] = walk(p, n, l) / n + (int)m % (n - i);
  atomic_add(&b[n], (int)f);
  s[i + (int)m].v[n] = private_array[(n + i) & 3] << n;
  s[n].f.x = f / (float)m;
  S copy = s[l];
  copy.f *= (float4)(f);
  s[l] = copy;
  switch (n) { case -1: b[m] = 1; case 0: a[0] = (int)f; break; default: a[n * n] = table[n]; }
  vstore4(vload4(m, a), n, b);
  if ((i & 1) && n == 7) return;
  if (n == 9) barrier(CLK_LOCAL_MEM_FENCE);
  while (m-- > 0 && l < n) b[l] ^= (int)m;
  ((__global uchar *)b)[m] = (uchar)n;
  a = (__global int *)(m * 8);
  *a = n;
}
"""
PROGRAM = read_program(FUZZED, "fuzzed.cl")
SMALL = st.integers(-5, 70)
WILD = st.one_of(SMALL, st.integers(-(1 << 63), (1 << 63) - 1))
COUNTS = st.integers(0, 80)
SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=3)


@settings(
    max_examples=drawn(150, 2000),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    global_size=SIZES,
    local_size=SIZES,
    counts=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS),
    fill=st.sampled_from([Fill.ZEROS, Fill.IOTA, Fill.RANDOM, Fill.NOINIT]),
    n=SMALL,
    m=WILD,
    f=st.floats(width=32),
)
def test_random_launches_never_end_the_process(global_size, local_size, counts, fill, n, m, f):
    local = [min(it, size) for it, size in zip([*local_size, 1, 1], global_size, strict=False)]
    arguments = {
        "a": BufferArgument(fill, counts[0]),
        "s": BufferArgument(Fill.ZEROS, counts[1]),
        "t": LocalArgument(counts[2]),
        "b": BufferArgument(fill, counts[3]),
        "n": ScalarArgument((n,)),
        "m": ScalarArgument((m,)),
        "f": ScalarArgument((f,)),
    }
    launch = Launch("k", tuple(global_size), tuple(local), arguments)
    result = emulate(
        PROGRAM,
        PROGRAM.kernels[0],
        launch,
        EmulationSettings(engine=Engine.JIT, time_limit_s=0.2, max_steps=20_000),
    )
    assert result.metrics.accesses == result.metrics.loads + result.metrics.stores


def test_hundreds_of_loops_are_compiled_without_promoting_their_variables():
    # Promoted, their values took a minute to give out registers to and then more stack than there is.
    loops = "for (int j = 0; j < 4; j++) a[j] += i; " * 200
    source = f"__kernel void k(__global int *a) {{ int i = get_global_id(0); {loops} }}"
    result = run(source, launch_of(1, 1, a=ZEROS), time_limit_s=5.0)
    assert result.method is not Method.TRUNCATED
    assert [it.kind for it in result.faults] == []


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("int v; if (read_pipe(p, &v) == 0) o[0] = v;", "pipes"),
        ("enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 0);", "device-side queues"),
    ],
)
def test_what_lies_outside_a_launch_is_refused(body, what):
    program = read_program(f"__kernel void k(int p, __global int *o) {{ {body} }}", "k.cl")
    launch = Launch("k", (8,), (8,), {"p": ScalarArgument((0,)), "o": BufferArgument(Fill.ZEROS, 8)})
    with pytest.raises(LaunchError, match=what):
        emulate(program, program.kernels[0], launch)
