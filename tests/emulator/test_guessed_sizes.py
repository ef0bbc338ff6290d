"""Buffers that nobody gave a size: a kernel that leaves one is not accused of it."""

import pytest

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import FaultKind, Grounds
from clmap_lsp.findings import Severity
from clmap_lsp.rules.selection import Selection
from clmap_lsp.workbench.workbench import Workbench

HEAD = "__kernel void k(__global const float *m, __global float *out, int cols)\n"

READS_AS_LONG_AS_A_FLAG_SAYS = (
    HEAD
    + """{
    int r = get_global_id(0);
    float s = 0;
    bool more = true;
    for (int i = 0; more; i++) { s += m[r * cols + i]; more = i + 1 < cols; }
    out[r] = s;
}"""
)

READS_BEFORE_THE_START = HEAD + "{ out[get_global_id(0)] = m[(int)get_global_id(0) - 1]; }"

GOES_ASTRAY = (
    HEAD
    + """{
    uint h = get_global_id(0) * 2654435761u;
    int k = 0;
    while (h != 1 && k < 9) { h = (h & 1) ? 3 * h + 1 : h ^ (h << 7); k++; }
    out[get_global_id(0)] = m[h];
}"""
)


def opened(text, comment=""):
    text = f"{comment}\n{text}" if comment else text
    return Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)


def faults(text, comment=""):
    file = opened(text, comment)
    (kernel,) = file.analysis.kernels
    return file.run(kernel.kernel, kernel.launch)


def test_a_buffer_is_made_as_long_as_the_kernel_reaches():
    result = faults(READS_AS_LONG_AS_A_FLAG_SAYS)
    assert not result.faults
    assert result.enlarged["m"] > 4096
    assert result.buffers["m"].count == result.enlarged["m"]
    assert any("`m` was given" in it for it in result.notes)


def test_a_size_that_somebody_gave_stays():
    comment = "// clmap: global=64 local=64 cols=16 m=zeros(1000) out=zeros(64)"
    (fault, *_) = faults(READS_AS_LONG_AS_A_FLAG_SAYS, comment).faults
    assert (fault.kind, fault.grounds) == (FaultKind.OUT_OF_BOUNDS_READ, Grounds.KNOWN)


def test_before_the_start_is_wrong_whatever_the_size():
    (fault, *_) = faults(READS_BEFORE_THE_START).faults
    assert (fault.kind, fault.offset) == (FaultKind.OUT_OF_BOUNDS_READ, -4)
    assert fault.grounds is Grounds.PLAUSIBLE


def test_what_no_size_holds_is_said_with_an_if():
    file = opened(GOES_ASTRAY)
    runs = file.run_all()
    (finding,) = (it for it in file.findings(Selection(frozenset({"CM301"})), runs) if it.code == "CM301")
    assert finding.severity is Severity.INFORMATION
    assert finding.message.startswith("if `m` is as short")


@pytest.mark.parametrize("loop", ["while (c--)", "for (; c; c--)", "while (c-- > 0)", "for (; c != 0; --c)"])
def test_counting_down_is_a_loop_like_others(loop):
    text = (
        HEAD
        + f"{{ int i = get_global_id(0) * cols, c = cols; float s = 0; {loop} s += m[i++]; out[0] = s; }}"
    )
    result = faults(text)
    assert not [it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert not result.enlarged


HALO = """__kernel void k(__global const float *in, __global float *out, int width)
{
    __local float tile[8][38];
    int lx = get_local_id(0), ly = get_local_id(1);
    for (int i = lx; i < (int)get_local_size(0) + 6; i += get_local_size(0))
        tile[ly][i] = in[get_global_id(1) * width + clamp((int)get_group_id(0) * 32 + i - 3, 0, width - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(1) * width + get_global_id(0)] = tile[ly][lx] + tile[ly][lx + 6];
}"""

RACES_IN_LARGE_GROUPS = (
    HEAD
    + """{
    __local float s[64];
    int l = get_local_id(0);
    s[l % 64] = m[l];
    out[get_global_id(0)] = cols;
}"""
)

DIVIDES_BY_DATA = """__kernel void k(__global const int *by, __global int *out, int n)
{
    int i = get_global_id(0);
    if (i < n) out[i] = 100 / by[i];
}"""


def test_a_group_is_no_wider_than_its_tile_with_a_halo_allows():
    """The tile's width was taken for the group's: writes past its rows, races, errors."""
    file = opened(HALO)
    (kernel,) = file.analysis.kernels
    assert kernel.launch.local_size == (32, 8)
    assert not file.run(kernel.kernel, kernel.launch).faults


def test_a_fault_of_one_group_shape_says_so():
    (fault,) = faults(RACES_IN_LARGE_GROUPS).faults
    assert (fault.kind, fault.grounds) == (FaultKind.DATA_RACE, Grounds.GUESS)
    assert fault.detail.startswith("if the local size is 256 (guessed)")


def test_what_data_nobody_gave_divide_by_is_no_error():
    (fault,) = faults(DIVIDES_BY_DATA).faults
    assert (fault.kind, fault.grounds) == (FaultKind.DIVISION_BY_ZERO, Grounds.CONTENTS)
    assert fault.detail.startswith("if `by` holds what was guessed for it: ")
    comment = "// clmap: global=64 local=64 n=64 by=zeros(64) out=zeros(64)"
    (fault,) = faults(DIVIDES_BY_DATA, comment).faults
    assert fault.grounds is Grounds.KNOWN


INDEXED_BY_TEXELS = """__constant uchar table[] = {255, 0, 1};
__constant int sides[] = {3, 4};
__kernel void k(__read_only image2d_t im, __global int *out)
{
    int i = get_global_id(0);
    out[i] = sides[table[read_imagei(im, (int2)(i, 0)).x]];
}"""


def test_what_texels_lead_to_that_nobody_gave_is_a_hint():
    """It was a warning: images of whole numbers were taken to hold zeros, whatever hung on that."""
    file = opened(INDEXED_BY_TEXELS)
    (finding,) = file.findings(Selection(frozenset({"CM301"})), file.run_all())
    assert finding.severity is Severity.HINT
    assert finding.message.startswith("if `im` holds what was guessed for it: ")
    given = opened("// clmap: global=64 local=64 im=image(64,1)\n" + INDEXED_BY_TEXELS)
    assert [it.severity for it in given.findings(Selection(frozenset({"CM301"})), given.run_all())] != [
        Severity.HINT
    ]


THROUGH = [
    "int at = from[i]; out[i] = sides[at * 9 - 40];",
    "int kept[2]; kept[i & 1] = from[i]; out[i] = sides[kept[i & 1] - 7];",
    "__global const int *p = from + i; out[i] = sides[*p - 7];",
    "int at = 0; for (int j = 0; j < 2; j++) { out[i] = sides[at - 7]; at = 1; at = from[i]; }",
    "int2 v = vload2(0, from + i); out[i] = sides[v.y - 7];",
    "int at; at = from[i] ? 9 : from[i] + 12; out[i] = sides[at];",
]


@pytest.mark.parametrize("way", THROUGH)
def test_data_are_followed_to_the_address(way: str):
    """Whatever zeros, ones and permutations do there, it says nothing of the kernel."""
    text = "__kernel void k(__global const int *from, __global int *out)\n{ int sides[8] = {1}; "
    text += f"int i = get_global_id(0); {way} }}"
    found = [it for it in faults(text).faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert found
    assert {it.grounds for it in found} <= {Grounds.CONTENTS, Grounds.GUESS}


def test_what_data_do_not_lead_to_stays_a_warning():
    text = "__kernel void k(__global const int *from, __global int *out)\n{ int sides[8] = {1}; "
    text += "int i = get_global_id(0); int at = i + 9; out[i] = from[i] + sides[at]; }"
    found = [it for it in faults(text).faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert {it.grounds for it in found} == {Grounds.PLAUSIBLE}


def test_a_fault_that_shape_and_values_do_not_change_is_a_warning():
    text = HEAD + "{ __local int s[4]; s[get_local_id(0) & 3] = get_local_id(0); out[0] = s[0]; }"
    result = faults(text)
    assert {it.grounds for it in result.faults} == {Grounds.PLAUSIBLE}
    file = opened(text)
    found = file.findings(Selection(frozenset({"CM302"})), file.run_all())
    assert {it.severity for it in found} == {Severity.WARNING}


FOLLOWS_A_LIST = """__kernel void k(__global int *head, __global const int *next, __global float *sum, int n)
{
    int b = get_global_id(0);
    if (b >= n) return;
    float s = 0;
    for (int e = head[b]; e != -1; e = next[e]) s += e;
    sum[b] = s;
}"""

FINDS_A_PLACE = """__kernel void k(__global const uint *keys, __global uint *table, uint mask)
{
    uint v = keys[get_global_id(0)] + 1, h = v * 2654435761u & mask;
    while (atomic_cmpxchg(&table[h], 0u, v) != 0u) h = (h + 1) & mask;
}"""

STARTS_BEHIND_A_COLUMN = """__kernel void k(__global float *a, int n, int c)
{
    int i = get_global_id(0) + c + 1;
    if (i < n) {
        float s = 0;
        for (int j = 0; j < c; ++j) s += a[i * n + j];
        a[i * n + c] = s;
    }
}"""


@pytest.mark.parametrize("text", [FOLLOWS_A_LIST, FINDS_A_PLACE])
def test_loops_over_what_buffers_hold_end(text):
    """Each element led to itself, and a table of one place was full: both ran until the budget ended."""
    result = faults(text)
    assert result.is_whole
    assert not result.faults


def test_what_is_added_to_an_id_leaves_most_work_items_something_to_do():
    file = opened(STARTS_BEHIND_A_COLUMN)
    launch = file.analysis.kernels[0].launch
    n, column = launch.scalar("n"), launch.scalar("c")
    assert column > 0
    assert n - column - 1 > 0.75 * launch.work_items


CHOOSES_A_BUFFER = """#pragma OPENCL EXTENSION all : enable
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void k(__global float *p, __global float *q)
{
    __local float mine[64];
    __global float *r = q;
    if (get_group_id(0) == 1) r = p;
    event_t done = async_work_group_copy(mine, r + 64 * get_group_id(0), 64, 0);
    wait_group_events(1, &done);
    r[get_global_id(0)] = 2 * mine[get_local_id(0)];
}"""


def test_what_groups_choose_between_is_as_long_as_all_of_them_need():
    result = faults(CHOOSES_A_BUFFER)
    assert not result.faults
    assert result.buffers["q"].count >= 4096


PITCHES = {
    "lanes of a vector": "int2 p = (int2)(get_global_id(0), get_global_id(1));"
    " out[p.y * w + p.x] = in[p.y * w + p.x];",
    "lanes of a sum": "int2 p = convert_int2((uint2)(get_group_id(0), get_group_id(1)))"
    " * (int2)(get_local_size(0), get_local_size(1)) + (int2)(get_local_id(0), get_local_id(1));"
    " out[p.y * w + p.x] = in[p.y * w + p.x];",
    "a lane of lanes": "uint4 g = (uint4)(get_global_id(0), get_global_id(1), 0, 0); uint2 p = g.xy;"
    " out[mad24(p.y, (uint)w, p.x)] = in[0];",
    "mad24": "int x = get_global_id(0), y = get_global_id(1); out[mad24(y, w, x)] = in[mad24(y, w, x)];",
    "mul24": "int x = get_global_id(0), y = get_global_id(1); out[mul24(y, w) + x] = in[0];",
    "two a work-item": "int x = get_global_id(0), y = get_global_id(1);"
    " out[y * w + 2 * x] = in[0]; out[y * w + 2 * x + 1] = in[1];",
    "half as large": "int x = get_global_id(0), y = get_global_id(1);"
    " out[y * (w / 2) + x] = in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1];",
}


@pytest.mark.parametrize("name", PITCHES)
def test_rows_are_as_long_as_the_work_items_that_store_into_them(name: str):
    """A pitch that was not seen was 1: work-items of different rows met in the same element."""
    file = opened(
        f"__kernel void k(__global const float *in, __global float *out, int w)\n{{ {PITCHES[name]} }}\n"
    )
    (kernel,) = file.analysis.kernels
    assert kernel.launch.global_size == (256, 256)
    assert not file.run(kernel.kernel, kernel.launch).faults


COLUMNS = """__kernel void k(
    const int n, __global const float *im, int ksize, const int rows, const int cols, __global float *col)
{
    int index = get_global_id(0);
    if (index >= n) return;
    int x = index % cols, y = index / cols % rows, c = index / cols / rows;
    col += (c * ksize * ksize * rows + y) * cols + x;
    for (int i = 0; i < ksize; ++i)
        for (int j = 0; j < ksize; ++j) {
            *col = im[(y + i) * cols + x + j];
            col += rows * cols;
        }
}
"""


def test_buffers_of_a_guessed_launch_fit():
    """256 x 256 windows over 256 x 256 places were 16 GiB, which the emulator refused with a warning."""
    file = opened(COLUMNS)
    (kernel,) = file.analysis.kernels
    assert kernel.launch.arguments["col"].count * 4 <= 256 << 20
    assert kernel.launch.scalar("n") == 4096
    assert not file.run(kernel.kernel, kernel.launch).faults


SPREADS_BITS = """uint spread(uint x)
{
    x = (x | (x << 16)) & 0x030000FF;
    x = (x | (x << 8)) & 0x0300F00F;
    x = (x | (x << 4)) & 0x030C30C3;
    return (x | (x << 2)) & 0x09249249;
}
__kernel void k(__global const uchar *from, __global uchar *to)
{
    uint x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint at = spread(x) | spread(y) << 1 | spread(z) << 2;
    to[at] = from[at];
}"""


def test_a_guessed_launch_fits_however_wide_its_indices_are_known_to_be():
    """Each buffer was given 2^30 elements, and the launch refused: a warning about nothing but a guess."""
    file = opened(SPREADS_BITS)
    (kernel,) = file.analysis.kernels
    assert {kernel.launch.arguments[it].count for it in ("from", "to")} == {64**3}
    assert not faults(SPREADS_BITS).faults
    assert not file.findings(Selection(frozenset({"CM007"})), file.run_all())


ADDS = [
    "bins[from[i] & 63] += 1;",
    "int b = from[i] & 63; bins[b] = bins[b] + 1;",
    "bins[from[i] & 63] = bins[from[i] & 63] + 1;",
]
MOVES = ["bins[from[i] & 63] = i;", "int b = from[i] & 63; bins[b] = bins[(b + from[i + 1]) & 63];"]


@pytest.mark.parametrize(
    ("way", "severity"), [(it, Severity.WARNING) for it in ADDS] + [(it, Severity.HINT) for it in MOVES]
)
def test_races_at_places_that_guessed_data_choose(way: str, severity: Severity):
    """What is added without atomics races whatever data are; whether two move to one place they decide."""
    text = "__kernel void k(__global const int *from, __global int *bins)\n{ int i = get_global_id(0); "
    file = opened(text + way + " }")
    found = list(file.findings(Selection(frozenset({"CM302"})), file.run_all()))
    assert {it.severity for it in found} == {severity}
    given = opened("// clmap: global=256 local=64 from=zeros(257) bins=zeros(64)\n" + text + way + " }")
    loud = [it.severity for it in given.findings(Selection(frozenset({"CM302"})), given.run_all())]
    assert Severity.HINT not in loud


LONG_QUEUES = """__kernel void k(__global const int *from, __global int *to, __local int *queue)
{
    int l = get_local_id(0);
    for (int j = 0; j < 200; j++) queue[l * 200 + j] = from[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    to[get_global_id(0)] = queue[l * 200];
}"""


def test_local_memory_that_nobody_gave_a_length_is_no_warning():
    file = opened(LONG_QUEUES)
    found = file.findings(Selection(frozenset({"CM307"})), file.run_all())
    assert {it.severity for it in found} <= {Severity.HINT}
    given = opened("// clmap: global=256 local=256 queue=local(204800)\n" + LONG_QUEUES)
    (finding,) = given.findings(Selection(frozenset({"CM307"})), given.run_all())
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("half", ["size / 2", "size >> 1", "(long)size / 2", "(size - 1) / 4"])
def test_a_size_of_which_a_part_divides_is_large_enough_to_have_one(half: str):
    text = f"""__kernel void fold(__global const float *rows, __global float *out, int size) {{
  long id = get_global_id(0);
  long part = {half};
  out[id] = rows[(long)size * (id / part) + id % part];
}}"""
    assert faults(text).faults == ()
