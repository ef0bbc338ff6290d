"""OpenCL C as the JIT engine runs it: values, faults and what is kept beside them."""

import numpy as np
import pytest

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.result import Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.source.read import read_program


def zeros(count):
    return BufferArgument(Fill.ZEROS, count)


def iota(count):
    return BufferArgument(Fill.IOTA, count)


def run(body, n=8, group=None, head="", parameters="__global int *o", settings=None, **arguments):
    """Run a kernel `k` with `i` as its global id; `o` has n elements."""
    source = f"{head}\n__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}"
    program = read_program(source, "kernel.cl")
    arguments = {"o": zeros(n), **arguments}
    launch = Launch("k", (n,), (group or n,), arguments)
    chosen = EmulationSettings(engine=Engine.JIT, **(settings or {}))
    return emulate(program, program.kernel("k"), launch, chosen)


def out(result, dtype="i4", name="o"):
    return result.buffers[name].data.view(dtype).tolist()


def kinds(result):
    return [it.kind for it in result.faults]


# ------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("o[i] = i / 2 - -7 / 2 + -7 % 3;", [i // 2 + 3 - 1 for i in range(8)]),
        ("o[i] = (int)0x80000000 - 1 == 0x7fffffff;", [1] * 8),
        ("o[i] = 1 << (32 + i);", [1 << i for i in range(8)]),
        (
            "int s = 0; for (int k = 0; k < i; k++) { if (k == 3) continue; if (k == 6) break; s += k; }"
            " o[i] = s;",
            [0, 0, 1, 3, 3, 7, 12, 12],
        ),
        ("int s = 0; do s += i; while (s < 10 && i); o[i] = s;", [0, 10, 10, 12, 12, 10, 12, 14]),
        (
            "switch (i) { case 1: o[i] = 5; case 2: o[i] += 1; break; case 3: default: o[i] = 9; }",
            [9, 6, 1, 9, 9, 9, 9, 9],
        ),
        ("int s = 0; again: s += 3; if (s < i * 2) goto again; o[i] = s;", [3, 3, 6, 6, 9, 12, 12, 15]),
        ("int4 v = (int4)(i, 2, 3, 4); v.xy = v.wz; o[i] = v.x * 10 + v.s1;", [43] * 8),
        (
            "o[i] = shuffle((int4)(10, 11, 12, 13), (uint8)(i, 5, 2, 1, 0, 0, 0, 7 - i)).s7;",
            [13, 12, 11, 10, 13, 12, 11, 10],
        ),
        (
            "o[i] = shuffle2((short3)(1, 2, 3), (short3)(4, 5, 6), (ushort2)(i + 8, 9)).x;",
            [1, 2, 3, 0, 4, 5, 6, 0],
        ),
        ("int3 v = (int3)(1, i, 3); o[i] = any(v == 2) + all(v > 0) * 10;", [0, 10, 11, 10, 10, 10, 10, 10]),
        ("o[i] = convert_char_sat(i * 100 - 300);", [-128, -128, -100, 0, 100, 127, 127, 127]),
        ("o[i] = as_int(1.0f) == 0x3f800000 ? popcount(i) : -1;", [0, 1, 1, 2, 1, 2, 2, 3]),
        ("int *p = 0; int x = i; p = &x; *p += 1; o[i] = *p;", [i + 1 for i in range(8)]),
        ("o[i] = i ? 10 / i : 7;", [7, 10, 5, 3, 2, 2, 1, 1]),
        ("o[i] = i && 12 / i > 3;", [0, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_values(body, expected):
    result = run(body)
    assert out(result) == expected
    assert not result.faults


READ_AS_COMPILERS_DO = [
    (
        "switch (i) { case 1 ... 3: s = 5; break; case 5 ... 5: s = 7; default: s += 9; }",
        [9, 5, 5, 5, 9, 16, 9, 9],
    ),
    ("switch (i) { case 0: { s = 1; case 1: s += 2; } }", [3, 2, 0, 0, 0, 0, 0, 0]),
    (
        "switch (i) { case 0: if (i > 5) { s = 1; case 1: s += 2; } else { case 2: s += 4; } s += 8; }",
        [12, 10, 12, 0, 0, 0, 0, 0],
    ),
    (
        "int n = (i + 3) / 4; switch (i % 4) { case 0: do { s += 1; case 3: s += 10; case 2: s += 100;"
        " case 1: s += 1000; } while (--n > 0); }",
        [1111, 1000, 1100, 1110, 1111, 2111, 2211, 2221],
    ),
    (
        "int k = i; switch (i) { case 1: for (; k < 5; k++) { case 2: s += 1; if (s == 3) break; }"
        " s += 10; break; default: s = 7; }",
        [7, 13, 13, 7, 7, 7, 7, 7],
    ),
    (
        "for (int k = 0; k < 3; k++) switch (i) { case 0: { case 1: if (k == 1) continue;"
        " s += 1; break; } case 2: s += 5; }",
        [2, 2, 15, 0, 0, 0, 0, 0],
    ),
    ("switch (i) { s = 1; case 0: s += 2; }", [2, 0, 0, 0, 0, 0, 0, 0]),
    (
        "switch (i) { case 0: switch (i + 1) { case 1: { s += 1; case 2: s += 2; } } { case 3: s += 4; } }",
        [7, 0, 0, 4, 0, 0, 0, 0],
    ),
    ("s = 1 + (i) - (i * (i + 1)) * 2;", [1 + i - 2 * i * (i + 1) for i in range(8)]),
    ("int p = i; s = (p * (i * (p))) - (p) * 2;", [i**3 - 2 * i for i in range(8)]),
    ("s = ({ int t = i + 1; t *= 2; t + ({ t++; }); }) + 1;", [4 * i + 5 for i in range(8)]),
]


@pytest.mark.parametrize(("body", "expected"), READ_AS_COMPILERS_DO)
def test_what_is_easily_misread(body, expected):
    """What PoCL computes."""
    result = run(f"int s = 0; {body} o[i] = s;")
    assert out(result) == expected
    assert not result.faults


def test_structs_unions_and_pointers_in_memory():
    head = """
    struct S { char c; int a[3]; union { float f; int bits; } u; __private int *p; };
    int step(struct S s, int k) { s.a[k] += 10; return s.a[k] + s.c; }
    __constant int table[4] = {5, 6, 7, 8};
    """
    body = """
    int target = 3;
    struct S s = {1, {i, i + 1, i + 2}, {1.0f}, &target};
    struct S t = s;
    *t.p += i;
    o[i] = step(t, i % 3) + table[i & 3] + (s.u.bits == 0x3f800000) + target * 100;
    """
    result = run(body, head=head)
    assert not result.faults
    assert out(result) == [(i + i % 3 + 10 + 1) + 5 + i % 4 + 1 + 100 * (3 + i) for i in range(8)]


def test_half_and_vectors_of_three():
    result = run(
        "float x = vload_half(i, h) + 0.5f; vstore_half(x, i, h); vstore3((float3)(x, i, 2), i, f);",
        parameters="__global half *h, __global float *f",
        h=iota(8),
        f=zeros(24),
    )
    assert out(result, "f2", "h") == [i + 0.5 for i in range(8)]
    assert out(result, "f4", "f") == [value for i in range(8) for value in (i + 0.5, i, 2)]


def test_collectives():
    body = """
    o[i] = work_group_reduce_add(i) + 1000 * work_group_scan_exclusive_max(i & 3)
         + 100000 * work_group_broadcast(i, 5);
    """
    assert out(run(body))[3] == 28 + 2000 + 500000
    lanes = out(
        run("o[i] = sub_group_reduce_add(1);", n=64, settings={"device": load_model("nvidia-hopper")})
    )
    assert lanes == [32] * 64


def test_atomics_return_the_old_value():
    result = run(
        "o[i] = atomic_add(t, 2); if (i == 7) o[0] = *t;",
        parameters="__global int *o, __global int *t",
        group=8,
        t=zeros(1),
    )
    assert out(result)[1:] == [2, 4, 6, 8, 10, 12, 14]


def test_async_copies_are_counted_apart():
    body = "event_t e = async_work_group_copy(t, a, 8, 0); wait_group_events(1, &e); o[i] = t[7 - i];"
    result = run(
        body,
        parameters="__global int *o, __global const int *a, __local int *t",
        a=iota(8),
        t=LocalArgument(8),
    )
    assert out(result) == [7 - i for i in range(8)]
    assert not result.faults
    copies = {it.op: it.executions for it in result.sites if it.op.startswith("async")}
    assert copies == {"async-load": 8, "async-store": 8}
    assert result.metrics.accesses == 16


def test_images_with_a_sampler():
    head = "__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;"
    body = "o[i] = read_imagei(im, s, (int2)(i, 1)).x + get_image_height(im) * 1000;"
    result = run(body, head=head, parameters="__global int *o, __read_only image2d_t im", im=zeros(16))
    assert out(result) == [4000] * 8
    assert any("4x4 texels" in it for it in result.notes)


def test_printf():
    result = run('if (i < 2) printf("%d %5.2f %v2d\\n", i, i * 0.5f, (int2)(i, 7));')
    assert result.printed == ("0  0.00 0,7\n", "1  0.50 1,7\n")


def test_contraction_is_a_setting():
    body = "o[i] = a[0] * a[0] - a[1];"
    value = float(np.float32(1) + np.float32(2) ** -12)
    square = float(np.float32(value) * np.float32(value))
    given = BufferArgument(Fill.VALUES, 2, text=f"{value!r},{square!r}")
    parameters = "__global float *o, __global const float *a"
    assert out(run(body, parameters=parameters, a=given), "f4")[0] == 2.0**-24
    apart = run(body, parameters=parameters, a=given, settings={"contract": False})
    assert out(apart, "f4")[0] == 0.0


# ------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("body", "kind", "space", "item"),
    [
        ("o[i + 1] = 1;", FaultKind.OUT_OF_BOUNDS_WRITE, "global", 7),
        ("o[i] = o[i - 1];", FaultKind.OUT_OF_BOUNDS_READ, "global", 0),
        ("int t[4] = {0}; o[i] = t[i & 7];", FaultKind.OUT_OF_BOUNDS_READ, "private", 4),
        ("__local int t[4]; t[i] = 1;", FaultKind.OUT_OF_BOUNDS_WRITE, "local", 4),
        ("int t[4]; t[0] = 1; o[i] = t[i & 1];", FaultKind.UNINITIALISED_READ, "private", 1),
        ("int x; if (i > 5) x = 1; o[i] = x;", FaultKind.UNINITIALISED_READ, None, 0),
        ("__local int t[8]; o[i] = t[i];", FaultKind.UNINITIALISED_READ, "local", 0),
        ("int4 v; v.xzw = i; o[i] = v.x + v.y;", FaultKind.UNINITIALISED_READ, None, 0),
        ("o[i] = 4 / (i - 3);", FaultKind.DIVISION_BY_ZERO, None, 3),
        ("o[i] = (int)0x80000000 / (i - 3);", FaultKind.INTEGER_OVERFLOW, None, 2),
        (
            "int4 v = *(__global int4 *)(o + (i == 2)); o[i & 0] = v.x * 0;",
            FaultKind.MISALIGNED_ACCESS,
            "global",
            2,
        ),
        ("o[0] = i;", FaultKind.DATA_RACE, "global", 1),
        ("if (i < 3) barrier(CLK_LOCAL_MEM_FENCE);", FaultKind.BARRIER_DIVERGENCE, None, 0),
        ("o[i] = mystery(i);", FaultKind.UNKNOWN_FUNCTION, None, 0),
        (
            "struct { int a[2]; int b[2]; } s = {{1, 2}, {3, 4}}; o[i] = s.a[i & 3];",
            FaultKind.INDEX_PAST_ARRAY,
            None,
            2,
        ),
        ("__global int *p = 0; o[i] = *p;", FaultKind.OUT_OF_BOUNDS_READ, "global", 0),
    ],
)
def test_faults(body, kind, space, item):
    result = run(body)
    fault = next(it for it in result.faults if it.kind is kind)
    assert fault.work_item == (item, 0, 0)
    assert fault.space == space


@pytest.mark.parametrize(
    "body",
    [
        "o[0] = 7;",  # Everyone writes the same value.
        "atomic_inc(o);",
        "__local int t[8]; t[i] = i; barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[7 - i];",
        # Work-items that a condition keeps out read nothing, although an optimiser may speculate the load.
        "__local int t[1]; if (i == 0) t[0] = 5; if (i == 0) o[0] = t[0];",
        "__local int t[1]; if (i == 0) t[0] = 0; barrier(CLK_LOCAL_MEM_FENCE);"
        " atomic_inc(t); barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[0];",
        "o[i] = i; barrier(CLK_GLOBAL_MEM_FENCE); if (i < 7) o[i + 0] += 1;",
        "float4 v; v.x = 1; v.y = 2; v.zw = v.xy; o[i] = (int)v.w;",
        "int4 v; v.x = i; if (i & 1) v.yzw = 1; o[i] = v.x;",
        "struct { char c; int x; } s, t; s.c = 1; s.x = 2; t = s; o[i] = t.x;",
    ],
)
def test_no_false_alarms(body):
    assert not run(body).faults


def test_a_local_fence_does_not_order_global_memory():
    body = "o[i] = i; barrier(CLK_LOCAL_MEM_FENCE); o[7 - i] = 3 * i;"
    assert FaultKind.DATA_RACE in kinds(run(body))
    assert not run(body.replace("LOCAL", "GLOBAL")).faults


def test_races_between_groups():
    assert kinds(run("if (get_local_id(0) == 0) o[0] = i;", n=16, group=4)) == [FaultKind.DATA_RACE]


def test_buffers_that_the_host_left_unwritten():
    result = run(
        "o[i] = a[i];", parameters="__global int *o, __global int *a", a=BufferArgument(Fill.NOINIT, 8)
    )
    assert kinds(result) == [FaultKind.UNINITIALISED_READ]


def test_limits_of_the_device():
    body = "__local float t[60000]; t[i] = 1; o[i] = (int)t[i];"
    result = run(body, settings={"device": load_model("nvidia-hopper")})
    assert (FaultKind.LOCAL_MEMORY_LIMIT in kinds(result)) == (
        (load_model("nvidia-hopper").limits.local_bytes_per_group or 1 << 40) < 240_000
    )


# -------------------------------------------------------------------------------------------------- others


def test_operations_and_branches():
    result = run("for (int k = 0; k < 20; k++) if (k % 2 == 0) o[i] += k;", n=4)
    assert result.operations["% int"] == 80
    assert result.operations["branch"] == 4 * (21 + 20)
    assert result.control.unique_branches == 2
    assert result.control.executions == 164
    assert 0 <= result.control.average_linear_entropy < 0.2


def test_strides():
    result = run(
        "for (int k = 0; k < 5; k++) o[i] += a[k * 8 + i];",
        parameters="__global int *o, __global int *a",
        a=iota(64),
        settings={"uninitialised": True},
    )
    site = next(it for it in result.sites if it.buffer == "a")
    assert site.strides.common == ((32, 1.0),)
    assert site.strides.count == 8 * 4
    assert result.buffers["a"].strides.common == ((32, 1.0),)


def test_strides_start_anew_in_every_group():
    """An access that each work-item makes once per group has no strides: what another group did is none."""
    result = run(
        "o[i] = a[i]; if (i & 1) o[i] += a[i + 64]; o[i] += a[i + 128];",
        parameters="__global int *o, __global int *a",
        n=128,
        group=64,
        o=zeros(128),
        a=iota(256),
        settings={"uninitialised": True},
    )
    strides = [it.strides for it in result.sites if it.buffer == "a"]
    assert [it.count if it else 0 for it in strides] == [0, 0, 0]
    of_buffer = result.buffers["a"].strides
    assert of_buffer.count == 64 + 2 * 64
    assert dict(of_buffer.common) == {256: pytest.approx(2 / 3), 512: pytest.approx(1 / 3)}


def test_groups_at_the_edge_are_smaller():
    result = run("o[i] = get_local_size(0) * 10 + get_num_groups(0);", n=10, group=4, o=zeros(10))
    assert out(result) == [43] * 8 + [23] * 2


def test_scalars_and_offsets():
    program = read_program(
        "__kernel void k(__global int *o, int n, float4 v) { o[get_global_id(0)] = n + (int)v.z; }", "k.cl"
    )
    launch = Launch(
        "k",
        (4,),
        (2,),
        {"o": zeros(8), "n": ScalarArgument((40,)), "v": ScalarArgument((0, 1, 2, 3))},
        global_offset=(3,),
    )
    result = emulate(program, program.kernels[0], launch)
    assert out(result) == [0, 0, 0, 42, 42, 42, 42, 0]


def test_a_pointer_that_swaps_between_local_arrays_is_watched_as_local():
    """Two buffers that take turns, as in a scan; each work-group has its own, so groups do not race."""
    scan = """__local int x[8], y[8]; __local int *p = x, *q = y; int l = get_local_id(0);
      p[l] = i; barrier(CLK_LOCAL_MEM_FENCE);
      for (int d = 1; d < 8; d *= 2) {
        q[l] = l >= d ? p[l] + p[l - d] : p[l];
        barrier(CLK_LOCAL_MEM_FENCE);
        __local int *t = p; p = q; q = t;
      }
      o[i] = p[l];"""
    result = run(scan, n=32, group=8)
    assert not result.faults
    assert out(result) == [sum(range(i // 8 * 8, i + 1)) for i in range(32)]
    racing = run(scan.replace("barrier(CLK_LOCAL_MEM_FENCE);\n        __local", "__local"), n=32, group=8)
    assert set(kinds(racing)) == {FaultKind.DATA_RACE}
    assert racing.faults[0].work_item[0] < 8  # Seen in the first group already.
    assert racing.faults[0].space == "local"


@pytest.mark.parametrize(("op", "expected"), [(">>", -64), ("<<", -64)])
def test_vectors_of_bytes_shifted_by_what_turns_out_to_be_zero(op, expected):
    """LLVM 22.1 shifts them by one where the processor has instructions for Galois fields."""
    by = "select((char4)(24), (char4)(-36), as_uchar4((char4)(24)) > as_uchar4((char4)(-36))) & (char4)(7)"
    result = run(f"char4 v = (char4)((char)(i - 64)); v = v {op} ({by}); o[i] = v.s1;")
    assert out(result) == [expected + n for n in range(8)]


def test_a_call_of_itself_is_called_so():
    result = run("o[i] = f(i);", head="int f(int n) { return n > 100 ? 1 : f(n + 1); }")
    (fault,) = result.faults
    assert fault.kind is FaultKind.UNKNOWN_FUNCTION
    assert "OpenCL C forbids" in fault.detail


PACKED = """typedef struct { int x, y; } Inner;
typedef struct __attribute__((packed)) { uchar tag; int k[3]; int4 v; short m[2][2]; Inner in[2]; } P;"""


@pytest.mark.parametrize(
    "body",
    [
        "P p; p.k[i % 3] = i; p.k[2] = 4; o[i] = p.k[2];",
        "P p; p.v = i; p.v.xz = (int2)(1, 2); p.v.yw += 3; p.v[i & 3] = 7; o[i] = p.v[i & 3];",
        "P p; p.m[1][i & 1] = i; o[i] = p.m[1][i & 1];",
        "P p; p.in[i & 1].y = i; Inner q = p.in[i & 1]; o[i] = q.y;",
        "P p[2]; p[i & 1].k[1] = i; p[i & 1].v.lo = 1; o[i] = (&p[i & 1])->k[1];",
    ],
)
def test_members_of_packed_structs_need_not_be_aligned(body):
    """Elements of arrays and vectors, and members of structs in them, included."""
    assert kinds(run(body, head=PACKED)) == []


def test_a_pointer_to_a_packed_member_promises_alignment():
    found = run("P p; p.k[0] = 1; int *q = p.k; o[i] = q[0];", head=PACKED)
    assert kinds(found) == [FaultKind.MISALIGNED_ACCESS]
