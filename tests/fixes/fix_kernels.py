"""Kernels that fixes are tested on."""

from __future__ import annotations

MATMUL = """\
// clmap: global=64,64 local=16,16 N=64 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int row = get_global_id(1);
    int column = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column]; // one product
    C[row * N + column] = sum;
}
"""

GUARDED = """\
// clmap: global=64,64 local=16,16 N=50 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int row = get_global_id(1);
    int column = get_global_id(0);
    if (row >= N || column >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++) {
        sum += A[row * N + k] * B[k * N + column];
    }
    C[row * N + column] = sum;
}
"""

IN_CONDITION = """\
// clmap: global=64,64 local=32,8 N=50 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    if (get_global_id(0) < N && get_global_id(1) < N) {
        float sum = 0.0f;
        for (int k = 0; k < N; k++)
            sum += A[get_global_id(1) * N + k] * B[k * N + get_global_id(0)];
        C[get_global_id(1) * N + get_global_id(0)] = sum;
    }
}
"""

ROWS = """\
// clmap: global=256 local=64 N=100 rows=250 A=random(rows*N) x=random(N,1) y=zeros(rows)
__kernel void matvec(__global const float *A, __global const float *x, __global float *y, const int N,
                     const int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * x[k];
    y[row] = sum;
}
"""

STENCIL = """\
// clmap: global=64,64 local=16,16 N=60 in=random(N*N) out=zeros(N*N)
__kernel void stencil(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x > 0 && y > 0 && x < N - 1 && y < N - 1)
        out[y * N + x] = 0.2f * (in[y * N + x] + in[y * N + x - 1] + in[y * N + x + 1] +
                                 in[(y - 1) * N + x] + in[(y + 1) * N + x]);
}
"""

CONVOLUTION = """\
#define TAPS 5
// clmap: global=64,64 local=16,16 N=64 in=random((N+4)*(N+4)) filter=random(25,3) out=zeros(N*N)
__kernel void convolve(__global const float *in, __global const float *filter, __global float *out,
                       const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int pitch = N + 4;
    float sum = 0.0f;
    for (int v = 0; v < TAPS; v++)
        for (int u = 0; u < TAPS; u++)
            sum += filter[v * TAPS + u] * in[(y + v) * pitch + x + u];
    out[y * N + x] = sum;
}
"""

TILED_TRANSPOSE = """\
#define TILE 32
// clmap: global=64,64 local=32,32 N=64 in=random(N*N) out=zeros(N*N)
__kernel void transpose(__global const float *in, __global float *out, const int N)
{
    __local float tile[TILE][TILE]; // read by columns
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int left = get_group_id(0) * TILE;
    const int top = get_group_id(1) * TILE;
    tile[ly][lx] = in[(top + ly) * N + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(left + ly) * N + top + lx] = tile[lx][ly];
}
"""

STRIDED_REDUCTION = """\
#define GROUP 256
// clmap: global=1024 local=256 in=random(1024) sums=zeros(4)
__kernel void reduce(__global const float *in, __global float *sums)
{
    __local float part[GROUP];
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < GROUP; step *= 2) {
        const int index = 2 * step * lane;
        if (index < GROUP)
            part[index] += part[index + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        sums[get_group_id(0)] = part[0];
}
"""

NAIVE_TRANSPOSE = """\
// clmap: global=64,64 local=16,16 N=64 in=random(N*N) out=zeros(N*N)
__kernel void transpose(__global const float *in, __global float *out, const int N)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    out[x * N + y] = in[y * N + x];
}
"""

GUARDED_TRANSPOSE = NAIVE_TRANSPOSE.replace("N=64", "N=50").replace(
    "    out[x", "    if (x < N && y < N)\n        out[x"
)

OWN_COPY = """\
#define G 64
// clmap: global=1024 local=64 in=random(1024) out=zeros(1024)
__kernel void scale(__global const float *in, __global float *out)
{
    __local float part[G]; // a copy
    const int lane = get_local_id(0);
    part[lane] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = 2.0f * part[lane];
}
"""

SUM_IN_MEMORY = """\
// clmap: global=64,64 local=16,16 N=64 A=random(N*N) B=random(N*N,1) C=random(N*N,2) s=random(1,3)
__kernel void mm(__global float *A, __global float *B, __global float *C, const int N, __global float *s)
{
    int row = get_global_id(1);
    int column = get_global_id(0);
    for (int k = 0; k < N; k++)
        C[row * N + column] += s[0] * A[row * N + k] * B[k * N + column];
}
"""

SAXPY = """\
// clmap: global=1024 local=64 a=2.5 X=random(1024) Y=random(1024,1)
__kernel void saxpy(__global const float *X, __global float *Y, const float a)
{
    const int i = get_global_id(0);
    Y[i] = a * X[i] + Y[i];
}
"""

CHUNK_SUM = """\
// clmap: global=1024 local=64 n=18 in=random(1024*20) out=zeros(1024)
__kernel void chunks(__global const float *in, __global float *out, const int n)
{
    const int id = get_global_id(0);
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += in[id * 20 + i];
    out[id] = sum;
}
"""

CHUNK_SCALE = """\
// clmap: global=1024 local=64 in=random(16384) out=zeros(16384) n=16
__kernel void chunk(__global const float *in, __global float *out, const int n)
{
    const int id = get_global_id(0);
    for (int i = 0; i < n; i++)
        out[id * n + i] = 2.0f * in[id * n + i];
}
"""

GRID_STRIDE = """\
// clmap: global=128 local=64 in=random(1000) out=zeros(1000) n=1000
__kernel void scale(__global const float *in, __global float *out, const int n)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        out[i] = 2.0f * in[i];
}
"""

GROUPS_OF_FOUR = """\
// clmap: global=1024 local=64 in=random(16384) out=zeros(16384) weight=random(1)
__kernel void fours(__global const float *in, __global float *out, __global const float *weight)
{
    const int low = get_global_id(0) & 3, high = get_global_id(0) - low;
    for (int i = 0; i < 16; i++)
        out[high * 16 + i * 4 + low] = weight[0] * in[high * 16 + i * 4 + low];
}
"""

OWN_RANGE = """\
// clmap: global=128 local=64 in=random(1001,7) out=zeros(1000) n=1000
__kernel void range(__global const float *in, __global float *out, const int n)
{
    const int chunk = (n + get_global_size(0) - 1) / get_global_size(0);
    const int first = get_global_id(0) * chunk;
    const int last = min(first + chunk, n);
    for (int i = first; i < last; i++) // its own part
        out[i] = in[i] + in[i + 1] * i;
}
"""

PARTICLES = """\
typedef struct {
    float x, y, z;
    float vx, vy, vz;
    float mass;
} Particle;

// clmap: global=512 local=128 dt=0.01 particles=random(512)
__kernel void update(__global Particle *particles, const float dt)
{
    const int i = get_global_id(0);
    particles[i].x += dt * particles[i].vx;
    particles[i].y += dt * particles[i].vy;
}
"""

BEYOND_END = """\
// clmap: global=128 local=32 n=100 A=random(n) B=zeros(n)
__kernel void twice(__global const float *A, __global float *B, const int n)
{
    int i = get_global_id(0);
    B[i] = A[i] * 2.0f;
}
"""

NEIGHBOURS = """\
// clmap: global=128 local=32 n=128 A=random(n) B=zeros(n)
__kernel void neighbours(__global const float *A, __global float *B, const int n)
{
    int i = get_global_id(0);
    B[i] = A[i - 1] + A[i + 1];
}
"""

MISSING_BARRIER = """\
// clmap: global=128 local=32 A=random(128) B=zeros(128)
__kernel void reverse(__global const float *A, __global float *B)
{
    __local float t[32];
    int l = get_local_id(0);
    t[l] = A[get_global_id(0)];
    B[get_global_id(0)] = t[31 - l];
}
"""

RACING_LOOP = """\
// clmap: global=128 local=32 A=random(128) B=zeros(4)
__kernel void reduce(__global const float *A, __global float *B)
{
    __local float t[32];
    int l = get_local_id(0);
    t[l] = A[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 16; s > 0; s >>= 1)
        if (l < s)
            t[l] += t[l + s];
    if (l == 0)
        B[get_group_id(0)] = t[0];
}
"""

DIVERGENT = """\
// clmap: global=128 local=32 n=100 A=random(n) B=zeros(n)
__kernel void pairs(__global const float *A, __global float *B, const int n)
{
    __local float t[32];
    int l = get_local_id(0);
    int i = get_global_id(0);
    t[l] = 0.0f;
    if (i < n) {
        t[l] = A[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        B[i] = t[l ^ 1];
    }
}
"""

EARLY_RETURN = """\
// clmap: global=128 local=32 n=100 A=random(n) B=zeros(n)
__kernel void pairs(__global const float *A, __global float *B, const int n)
{
    __local float t[32];
    int l = get_local_id(0);
    int i = get_global_id(0);
    if (i >= n)
        return;
    t[l] = A[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    B[i] = t[l & 30];
}
"""

HALVED = MATMUL.replace("sum += A[", "sum = 0.5f * sum + A[")
GUARDED_HALVED = GUARDED.replace("sum += A[", "sum = 0.5f * sum + A[")
"""Turns past the end would halve the sum: they cannot be taken from zeros."""
ACROSS = MATMUL.replace("get_global_id(1)", "get_global_id(2)").replace(
    "get_global_id(0)", "get_global_id(1)"
)
ACROSS = ACROSS.replace("get_global_id(2)", "get_global_id(0)")
"""Neighbours have rows of their own."""

# Rows that neighbours walk down.
BY_ROWS = """\
// clmap: global=256 local=64 rows=random(8192) sums=zeros(256) n=250 width=31
__kernel void row_sums(__global const float *rows, __global float *sums, const int n, const int width)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++)
        sum = 0.5f * sum + fabs(rows[i * width + k]);
    sums[i] = sum;
}
"""
BINS = """\
// clmap: global=1024 local=64 parts=random(1024)
__kernel void parts_of_groups(__global const uint *keys, __global uint *parts)
{
    const int l = get_local_id(0);
    parts[l * get_num_groups(0) + get_group_id(0)] = keys[get_global_id(0)] * 3;
}
"""
PLANES = """\
// clmap: global=4,64 local=1,64 a=random(8192) rows=64 width=32 step=2
__kernel void planes(__global float *a, const int rows, const int width, const int step)
{
    const int p = get_global_id(0), r = get_global_id(1);
    if (p < 4 && r < rows)
        for (int c = 0; c < width; c++)
            a[p * rows * width + r * width + c] *= step;
}
"""
LOOKED_UP = """\
// clmap: global=256 local=64 table=random(4096) at=iota(256) out=zeros(256) rows=256
__kernel void looked_up(__global const float *table, __global const int *at, __global float *out,
                        const int rows)
{
    const int i = get_global_id(0);
    out[i] = table[i * 16 + 3] + table[(at[i] & 255) * 16 + 5];
}
"""
NARROW = """\
// clmap: global=256,64 local=4,16 in=random(16384) out=zeros(16384) w=256
__kernel void scaled(__global const float *in, __global float *out, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    out[y * w + x] = 2.0f * in[y * w + x];
}
"""

# Local arrays that functions reach, too.
COMPARED = """\
void order(__local uint *one, __local uint *other)
{
    if (*one > *other) {
        const uint kept = *one;
        *one = *other;
        *other = kept;
    }
}

// clmap: global=256 local=128 data=random(512)
__kernel void sorted_in_steps(__global uint *data)
{
    __local uint keys[256];
    const int l = get_local_id(0), first = get_group_id(0) * 256;
    keys[l] = data[first + l];
    keys[l + 128] = data[first + l + 128];
    for (int step = 128; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int at = 2 * l - (l & (step - 1));
        order(&keys[at], &keys[at + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[first + l] = keys[l];
    data[first + l + 128] = keys[l + 128];
}
"""
HANDED_OVER = """\
float every_other(__local float *part, const int l)
{
    return part[2 * l] + part[2 * l + 1];
}

float twice(__local float *part, const int l)
{
    return 2.0f * every_other(part, l);
}

// clmap: global=256 local=64 data=random(512) out=zeros(256)
__kernel void pairs(__global const float *data, __global float *out)
{
    __local float part[128];
    const int l = get_local_id(0), first = get_group_id(0) * 128;
    part[l] = data[first + l];
    part[l + 64] = data[first + l + 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = twice(part, l);
}

__kernel void others(__global float *out)
{
    __local float own[128];
    own[get_local_id(0)] = own[get_local_id(0) + 64] = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = every_other(own, get_local_id(0));
}
"""
GIVEN_LOCAL = """\
// clmap: global=250 local=50 data=random(500) part=local(100) out=zeros(250)
__kernel void given(__global const float *data, __local float *part, __global float *out)
{
    const int l = get_local_id(0), first = get_group_id(0) * 100;
    part[l] = data[first + l];
    part[l + 50] = data[first + l + 50];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = part[2 * l] - part[2 * l + 1];
}
"""
IN_MACRO = """\
#define AT(row, column) tile[row][column]
// clmap: global=64,64 local=16,16 in=random(4096) out=zeros(4096)
__kernel void turned(__global const float *in, __global float *out)
{
    __local float tile[16][16];
    const int lx = get_local_id(0), ly = get_local_id(1);
    AT(ly, lx) = in[get_global_id(1) * 64 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
#define OTHER AT(lx, ly)
    out[(get_group_id(0) * 16 + ly) * 64 + get_group_id(1) * 16 + lx] = OTHER;
#undef OTHER
}
"""

WALSH = """\
// clmap: global=128 local=32 step=1 a=random(256)
__kernel void walsh(__global float *a, const int step)
{
    const uint i = get_global_id(0);
    const uint low = 2 * step * (i / step) + i % step;
    const uint high = low + step;
    float x = a[low];
    float y = a[high];
    a[low] = x + y;
    a[high] = x - y;
}
"""
EXCHANGED = """\
// clmap: global=128 local=32 stride=1 key=random(256) value=random(256,1) keys=zeros(256) values=zeros(256)
__kernel void exchanged(__global const uint *key, __global const uint *value, __global uint *keys,
                        __global uint *values, const uint stride)
{
    const uint i = get_global_id(0);
    const uint pos = 2 * i - (i & (stride - 1));
    if (pos < 250) {
        uint a = key[pos + 0], b = key[pos + stride];
        uint v = value[pos + 0];
        uint w = value[pos + stride];
        if (a > b) {
            uint t = a; a = b; b = t;
            t = v; v = w; w = t;
        }
        keys[pos + 0] = a;
        values[pos + 0] = v;
        keys[pos + stride] = b;
        values[pos + stride] = w;
    }
}
"""
