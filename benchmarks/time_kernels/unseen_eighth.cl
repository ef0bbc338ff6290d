// An eighth set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Fields: tiled and temporal stencils, histograms by copies, scans over rows, merging and counting sorts, blocked and
// sliced sparse formats, bodies in two types, butterflies, image filters, rounds of ciphers and hashes, reductions of
// several kinds, gathers and scatters, fields of structures and of arrays, FP64, half, bytes, local memory, few
// work-groups, launches of a few microseconds.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define TX 32
#define TY 8
// time: kernel=five_point_tile global=2048,2048 local=32,8 in=random(4194304) out=zeros(4194304) w=2048 h=2048 c0=0.5 c1=0.125
// time: kernel=five_point_tile global=256,128 local=32,8 in=random(32768) out=zeros(32768) w=256 h=128 c0=0.5 c1=0.125
__kernel void five_point_tile(__global const float *in, __global float *out, int w, int h, float c0, float c1)
{
    __local float t[TY + 2][TX + 2];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
    t[ly][lx] = in[y * w + x];
    if (lx == 1)
        t[ly][0] = x > 0 ? in[y * w + x - 1] : 0.0f;
    if (lx == TX)
        t[ly][TX + 1] = x < w - 1 ? in[y * w + x + 1] : 0.0f;
    if (ly == 1)
        t[0][lx] = y > 0 ? in[(y - 1) * w + x] : 0.0f;
    if (ly == TY)
        t[TY + 1][lx] = y < h - 1 ? in[(y + 1) * w + x] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * w + x] = c0 * t[ly][lx] + c1 * (t[ly - 1][lx] + t[ly + 1][lx] + t[ly][lx - 1] + t[ly][lx + 1]);
}

// Four steps in time on one tile; its border shrinks.
#define SIDE 16
// time: kernel=hotspot_steps global=1024,1024 local=16,16 temp=random(640000) power=random(640000) next=zeros(640000) w=512 steps=4
__kernel void hotspot_steps(__global const float *temp, __global const float *power, __global float *next, int w, int steps)
{
    __local float a[SIDE][SIDE], b[SIDE][SIDE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int inner = SIDE - 2 * steps;
    int x = get_group_id(0) * inner + tx, y = get_group_id(1) * inner + ty;
    int at = y * w + x;
    a[ty][tx] = temp[at];
    float p = power[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s <= steps; s++) {
        bool inside = tx >= s && tx < SIDE - s && ty >= s && ty < SIDE - s;
        if (inside)
            b[ty][tx] = a[ty][tx] + 0.1f * (p + a[ty - 1][tx] + a[ty + 1][tx] + a[ty][tx - 1] + a[ty][tx + 1] - 4.0f * a[ty][tx]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside)
            a[ty][tx] = b[ty][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (tx >= steps && tx < SIDE - steps && ty >= steps && ty < SIDE - steps)
        next[at] = a[ty][tx];
}

// time: kernel=seven_point_double global=128,128,128 local=32,4,2 u=random(2097152) v=zeros(2097152) a=0.4 b=0.1
__kernel void seven_point_double(__global const double *u, __global double *v, double a, double b)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1)
        return;
    int i = (z * ny + y) * nx + x;
    v[i] = a * u[i] + b * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny]);
}

// time: kernel=smooth_seidel_columns global=4096 local=64 u=random(1048576) f=random(1048576) rows=256
__kernel void smooth_seidel_columns(__global float *u, __global const float *f, int rows)
{
    int c = get_global_id(0), n = get_global_size(0);
    float before = u[c];
    for (int r = 1; r < rows - 1; r++) {
        float now = 0.5f * (before + u[(r + 1) * n + c] - f[r * n + c]);
        u[r * n + c] = now;
        before = now;
    }
}

// A copy of the histogram for each work-item: no atomics.
// time: kernel=hist_bytes_per_item global=32768 local=64 data=random(1048576) out=zeros(32768)
__kernel void hist_bytes_per_item(__global const uchar *data, __global uint *out)
{
    __local uchar bins[64 * 64];
    int l = get_local_id(0), g = get_group_id(0);
    for (int b = 0; b < 64; b++)
        bins[b * 64 + l] = 0;
    for (int i = 0; i < 32; i++)
        bins[(data[(g * 32 + i) * 64 + l] >> 2) * 64 + l]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (int i = 0; i < 64; i++)
        sum += bins[l * 64 + i];
    out[g * 64 + l] = sum;
}

// time: kernel=hist_of_sub_copies global=270336 local=256 px=random(4194304) out=zeros(270336) n=4194304
__kernel void hist_of_sub_copies(__global const uint *px, __global uint *out, int n)
{
    __local uint h[8][256];
    int l = get_local_id(0), copy = l >> 5;
    for (int c = 0; c < 8; c++)
        h[c][l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&h[copy][px[i] >> 24]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s = 0;
    for (int c = 0; c < 8; c++)
        s += h[c][l];
    out[get_group_id(0) * 256 + l] = s;
}

// time: kernel=max_by_atomics global=1048576 local=256 v=random(1048576) top=zeros(1)
__kernel void max_by_atomics(__global const int *v, __global int *top)
{
    atomic_max(top, v[get_global_id(0)]);
}

// time: kernel=scan_rows_ladner global=131072 local=256 in=random(524288) out=zeros(524288)
__kernel void scan_rows_ladner(__global const int4 *in, __global int4 *out)
{
    __local int part[256];
    int l = get_local_id(0), g = get_global_id(0);
    int4 v = in[g];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int mine = v.w;
    part[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d <<= 1) {
        int other = l >= d ? part[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        mine += other;
        part[l] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    int before = mine - v.w;
    out[g] = v + before;
}

// time: kernel=summed_columns global=2048 local=64 img=random(2097152) table=zeros(2097152) h=1024
__kernel void summed_columns(__global const float *img, __global float *table, int h)
{
    int x = get_global_id(0), w = get_global_size(0);
    float s = 0.0f;
    for (int y = 0; y < h; y++) {
        s += img[y * w + x];
        table[y * w + x] = s;
    }
}

// time: kernel=segment_ends global=1048576 local=128 key=formula(1048577,i*i//7919) value=random(1048576) out=zeros(1048576)
__kernel void segment_ends(__global const uint *key, __global const float *value, __global float *out)
{
    __local float s[128];
    int g = get_global_id(0), l = get_local_id(0);
    s[l] = value[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = s[l];
    uint k = key[g];
    for (int d = 1; d <= 8; d++)
        if (l >= d && key[g - d] == k)
            sum += s[l - d];
    if (key[g + 1] != k)
        out[g] = sum;
}

// time: kernel=merge_by_ranks global=262144 local=256 a=formula(131072,2*i) b=formula(131072,2*i+1) out=zeros(262144) n=131072
__kernel void merge_by_ranks(__global const int *a, __global const int *b, __global int *out, int n)
{
    int g = get_global_id(0);
    bool first = g < n;
    int i = first ? g : g - n;
    __global const int *other = first ? b : a;
    int key = first ? a[i] : b[i];
    int low = 0, high = n;
    for (int s = 0; s < 17; s++) {
        int mid = (low + high) >> 1;
        bool less = other[mid] < key;
        low = less ? mid + 1 : low;
        high = less ? high : mid;
    }
    out[i + low] = key;
}

// time: kernel=radix_place global=262144 local=256 keys=random(262144) counts=formula(16384,i*16) out=zeros(262144) shift=4
__kernel void radix_place(__global const uint *keys, __global const uint *counts, __global uint *out, int shift)
{
    __local uint digits[256];
    int l = get_local_id(0), g = get_group_id(0);
    uint key = keys[get_global_id(0)];
    uint digit = key >> shift & 15u;
    digits[l] = digit;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0;
    for (int i = 0; i < 256; i++)
        before += i < l && digits[i] == digit;
    out[(counts[g * 16 + digit] + before) & 262143u] = key;
}

// time: kernel=bitonic_tail_pairs global=524288 local=256 d=random(1048576) stage=10
__kernel void bitonic_tail_pairs(__global uint2 *d, int stage)
{
    __local uint2 s[512];
    int l = get_local_id(0), base = get_group_id(0) * 512;
    bool up = (base >> stage & 1) == 0;
    s[l] = d[base + l];
    s[l + 256] = d[base + l + 256];
    for (int stride = 256; stride > 0; stride >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int p = 2 * l - (l & (stride - 1));
        uint2 a = s[p], b = s[p + stride];
        bool turn = (a.x > b.x) == up;
        s[p] = turn ? b : a;
        s[p + stride] = turn ? a : b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    d[base + l] = s[l];
    d[base + l + 256] = s[l + 256];
}

// time: kernel=sell_c_sigma global=131072 local=128 val=random(4194304) col=formula(4194304,(i*67+i//32%97*1031)%131072) start=formula(4096,i*1024) x=random(131072) y=zeros(131072)
__kernel void sell_c_sigma(__global const float *val, __global const int *col, __global const int *start, __global const float *x, __global float *y)
{
    int row = get_global_id(0), slice = row >> 5, lane = row & 31;
    int at = start[slice] + lane;
    float s = 0.0f;
    for (int k = 0; k < 32; k++)
        s = fma(val[at + k * 32], x[col[at + k * 32]], s);
    y[row] = s;
}

// time: kernel=bsr_four global=65536 local=64 ptr=formula(16385,i*6) col=formula(98304,i*193%16384) val=random(393216) x=random(16384) y=zeros(65536)
__kernel void bsr_four(__global const int *ptr, __global const int *col, __global const float4 *val, __global const float4 *x, __global float *y)
{
    int row = get_global_id(0), block = row >> 2, r = row & 3;
    float s = 0.0f;
    for (int k = ptr[block]; k < ptr[block + 1]; k++)
        s += dot(val[k * 4 + r], x[col[k]]);
    y[row] = s;
}

// time: kernel=csr_by_waves global=1048576 local=128 ptr=formula(32769,i*48) col=formula(1572864,i*229%32768) val=random(1572864) x=random(32768) y=zeros(32768)
__kernel void csr_by_waves(__global const uint *ptr, __global const uint *col, __global const float *val, __global const float *x, __global float *y)
{
    __local float s[128];
    int l = get_local_id(0), lane = l & 31, row = get_global_id(0) >> 5;
    float sum = 0.0f;
    for (uint k = ptr[row] + lane; k < ptr[row + 1]; k += 32)
        sum += val[k] * x[col[k]];
    s[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 16; d > 0; d >>= 1) {
        if (lane < d)
            s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        y[row] = s[l];
}

// time: kernel=bodies_tile_double global=4096 local=64 p=random(4096) f=zeros(4096) n=4096
__kernel void bodies_tile_double(__global const double4 *p, __global double4 *f, int n)
{
    __local double4 t[64];
    int l = get_local_id(0);
    double4 me = p[get_global_id(0)];
    double ax = 0, ay = 0, az = 0;
    for (int b = 0; b < n; b += 64) {
        t[l] = p[b + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 64; j++) {
            double dx = t[j].x - me.x, dy = t[j].y - me.y, dz = t[j].z - me.z;
            double r = dx * dx + dy * dy + dz * dz + 0.01;
            double w = t[j].w * r;
            ax += w * dx;
            ay += w * dy;
            az += w * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    f[get_global_id(0)] = (double4)(ax, ay, az, 0.0);
}

// Positions in arrays of their own, two bodies a work-item.
// time: kernel=bodies_soa_two global=8192 local=128 x=random(16384) y=random(16384) z=random(16384) m=random(16384) ax=zeros(16384) n=16384
__kernel void bodies_soa_two(__global const float *x, __global const float *y, __global const float *z, __global const float *m, __global float *ax, int n)
{
    int i = get_global_id(0), k = i + get_global_size(0);
    float x0 = x[i], y0 = y[i], z0 = z[i], x1 = x[k], y1 = y[k], z1 = z[k];
    float a0 = 0.0f, a1 = 0.0f;
    for (int j = 0; j < n; j++) {
        float xj = x[j], yj = y[j], zj = z[j], mj = m[j];
        float dx = xj - x0, dy = yj - y0, dz = zj - z0;
        float q = rsqrt(dx * dx + dy * dy + dz * dz + 0.001f);
        a0 += mj * q * q * q * dx;
        dx = xj - x1;
        dy = yj - y1;
        dz = zj - z1;
        q = rsqrt(dx * dx + dy * dy + dz * dz + 0.001f);
        a1 += mj * q * q * q * dx;
    }
    ax[i] = a0;
    ax[k] = a1;
}

// time: kernel=verlet_soa global=2097152 local=256 x=random(2097152) v=random(2097152) f=random(2097152) m=random(2097152) dt=0.001
__kernel void verlet_soa(__global float *x, __global float *v, __global const float *f, __global const float *m, float dt)
{
    int i = get_global_id(0);
    float w = v[i] + 0.5f * dt * f[i] / m[i];
    x[i] += dt * w;
    v[i] = w;
}

typedef struct {
    float x, y, z, vx, vy, vz, mass, charge;
    int kind, cell;
} Grain;

// time: kernel=move_grains global=524288 local=128 g=random(524288) dt=0.01
__kernel void move_grains(__global Grain *g, float dt)
{
    int i = get_global_id(0);
    g[i].x += dt * g[i].vx;
    g[i].y += dt * g[i].vy;
    g[i].z += dt * g[i].vz;
}

// time: kernel=walsh_step global=2097152 local=256 v=random(4194304) span=4096
// time: kernel=walsh_step global=2097152 local=256 v=random(4194304) span=1
__kernel void walsh_step(__global float *v, int span)
{
    int t = get_global_id(0), pos = t & (span - 1), i = 2 * (t - pos) + pos;
    float a = v[i], b = v[i + span];
    v[i] = a + b;
    v[i + span] = a - b;
}

// time: kernel=ntt_layer global=524288 local=128 a=random(1048576) roots=random(524288) len=512
__kernel void ntt_layer(__global uint *a, __global const uint *roots, int len)
{
    const uint p = 998244353u;
    int t = get_global_id(0), k = t % len, i = t / len * 2 * len + k;
    uint u = a[i] % p;
    uint v = (uint)((ulong)a[i + len] * roots[k] % p);
    uint s = u + v;
    a[i] = s >= p ? s - p : s;
    a[i + len] = u >= v ? u - v : u + p - v;
}

// time: kernel=fft_radix2_double global=262144 local=64 re=random(524288) im=random(524288) wr=random(512) wi=random(512) span=512
__kernel void fft_radix2_double(__global double *re, __global double *im, __global const double *wr, __global const double *wi, int span)
{
    int t = get_global_id(0), k = t & (span - 1), i = 2 * (t - k) + k, j = i + span;
    double c = wr[k], s = wi[k];
    double xr = re[j] * c - im[j] * s, xi = re[j] * s + im[j] * c;
    re[j] = re[i] - xr;
    im[j] = im[i] - xi;
    re[i] += xr;
    im[i] += xi;
}

// time: kernel=gauss_separable_rows global=1920,1080 local=64,4 in=random(2073600) out=zeros(2073600) taps=random(9)
__kernel void gauss_separable_rows(__global const uchar4 *in, __global uchar4 *out, __constant float *taps)
{
    __local float4 row[4][72];
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), lx = get_local_id(0), ly = get_local_id(1);
    row[ly][lx + 4] = convert_float4(in[y * w + x]);
    if (lx < 4) {
        row[ly][lx] = convert_float4(in[y * w + max(x - 4, 0)]);
        row[ly][lx + 68] = convert_float4(in[y * w + min(x + 64, w - 1)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 s = 0.0f;
    for (int k = 0; k < 9; k++)
        s += taps[k] * row[ly][lx + k];
    out[y * w + x] = convert_uchar4_sat(s);
}

// time: kernel=median_row_five global=4096,512 local=128,1 in=random(2099200) out=zeros(2097152)
__kernel void median_row_five(__global const ushort *in, __global ushort *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    __global const ushort *p = in + y * (w + 4) + x;
    ushort a = p[0], b = p[1], c = p[2], d = p[3], e = p[4];
    ushort f = max(min(a, b), min(c, d)), g = min(max(a, b), max(c, d));
    out[y * w + x] = max(min(f, g), min(max(f, g), e));
}

// time: kernel=luma_of_halves global=512,512 local=16,16 rgb=random(786432) y=zeros(262144) gain=1.1
__kernel void luma_of_halves(__global const half *rgb, __global half *y, float gain)
{
    int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    float r = vload_half(3 * i, rgb), g = vload_half(3 * i + 1, rgb), b = vload_half(3 * i + 2, rgb);
    vstore_half(gain * (0.2126f * r + 0.7152f * g + 0.0722f * b), i, y);
}

// time: kernel=half_axpy_eight global=1048576 local=256 x=random(8388608) y=random(8388608) a=0.75
__kernel void half_axpy_eight(__global const half *x, __global half *y, float a)
{
    int i = get_global_id(0);
    vstore_half8(fma((float8)(a), vload_half8(i, x), vload_half8(i, y)), i, y);
}

// time: kernel=erode_lines global=128,2048 local=32,8 in=random(262144) out=zeros(262144)
__kernel void erode_lines(__global const uint *in, __global uint *out)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    uint all = 0xffffffffu;
    for (int d = -1; d <= 1; d++) {
        int r = clamp(y + d, 0, h - 1) * w;
        uint m = in[r + x], l = x > 0 ? in[r + x - 1] : 0u, n = x < w - 1 ? in[r + x + 1] : 0u;
        all &= m & (m << 1 | l >> 31) & (m >> 1 | n << 31);
    }
    out[y * w + x] = all;
}

// time: kernel=rotate_bilinear global=1024,1024 local=16,16 in=random(1048576) out=zeros(1048576) c=0.8660254 s=0.5
__kernel void rotate_bilinear(__global const float *in, __global float *out, float c, float s)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    float u = c * (x - 512) + s * (y - 512) + 512, v = c * (y - 512) - s * (x - 512) + 512;
    int iu = clamp((int)floor(u), 0, w - 2), iv = clamp((int)floor(v), 0, h - 2);
    float fu = u - iu, fv = v - iv;
    __global const float *p = in + iv * w + iu;
    out[y * w + x] = mix(mix(p[0], p[1], fu), mix(p[w], p[w + 1], fu), fv);
}

// time: kernel=xtea_blocks global=1048576 local=256 data=random(1048576) k0=12345 k1=67890 k2=13579 k3=24680
__kernel void xtea_blocks(__global uint2 *data, uint k0, uint k1, uint k2, uint k3)
{
    uint key[4] = {k0, k1, k2, k3};
    uint2 v = data[get_global_id(0)];
    uint sum = 0;
    for (int i = 0; i < 32; i++) {
        v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9u;
        v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + key[sum >> 11 & 3]);
    }
    data[get_global_id(0)] = v;
}

#define ROTL(x, n) rotate((ulong)(x), (ulong)(n))
// time: kernel=keccak_states global=131072 local=64 state=random(3276800) rounds=24
__kernel void keccak_states(__global ulong *state, int rounds)
{
    int i = get_global_id(0), n = get_global_size(0);
    ulong a[25];
    for (int k = 0; k < 25; k++)
        a[k] = state[k * n + i];
    for (int r = 0; r < rounds; r++) {
        ulong c[5];
        for (int x = 0; x < 5; x++)
            c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int x = 0; x < 5; x++) {
            ulong d = c[(x + 4) % 5] ^ ROTL(c[(x + 1) % 5], 1);
            for (int y = 0; y < 25; y += 5)
                a[y + x] ^= d;
        }
        for (int y = 0; y < 25; y += 5) {
            ulong b0 = a[y], b1 = a[y + 1];
            for (int x = 0; x < 3; x++)
                a[y + x] ^= ~a[y + x + 1] & a[y + x + 2];
            a[y + 3] ^= ~a[y + 4] & b0;
            a[y + 4] ^= ~b0 & b1;
        }
        a[0] ^= 0x8000000080008081ul + r;
    }
    for (int k = 0; k < 25; k++)
        state[k * n + i] = a[k];
}

// time: kernel=sbox_rounds global=524288 local=256 text=random(524288) box=random(1024) keys=random(44)
__kernel void sbox_rounds(__global uint4 *text, __global const uint *box, __constant uint *keys)
{
    __local uint t[1024];
    for (int i = get_local_id(0); i < 1024; i += get_local_size(0))
        t[i] = box[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 s = text[get_global_id(0)];
    for (int r = 0; r < 10; r++) {
        uint a = t[s.x & 255] ^ t[256 + (s.y >> 8 & 255)] ^ t[512 + (s.z >> 16 & 255)] ^ t[768 + (s.w >> 24)] ^ keys[4 * r];
        uint b = t[s.y & 255] ^ t[256 + (s.z >> 8 & 255)] ^ t[512 + (s.w >> 16 & 255)] ^ t[768 + (s.x >> 24)] ^ keys[4 * r + 1];
        uint c = t[s.z & 255] ^ t[256 + (s.w >> 8 & 255)] ^ t[512 + (s.x >> 16 & 255)] ^ t[768 + (s.y >> 24)] ^ keys[4 * r + 2];
        uint d = t[s.w & 255] ^ t[256 + (s.x >> 8 & 255)] ^ t[512 + (s.y >> 16 & 255)] ^ t[768 + (s.z >> 24)] ^ keys[4 * r + 3];
        s = (uint4)(a, b, c, d);
    }
    text[get_global_id(0)] = s;
}

// time: kernel=adler_chunks global=16384 local=64 text=random(4194304) sums=zeros(16384) len=256
__kernel void adler_chunks(__global const uchar *text, __global uint *sums, int len)
{
    int i = get_global_id(0);
    uint a = 1, b = 0;
    for (int k = 0; k < len; k++) {
        a += text[i * len + k];
        b += a;
    }
    sums[i] = (b % 65521u) << 16 | a % 65521u;
}

// time: kernel=dot_two_levels global=67584 local=256 x=random(8388608) y=random(8388608) out=zeros(264) n=8388608
__kernel void dot_two_levels(__global const float *x, __global const float *y, __global float *out, int n)
{
    __local float s[256];
    int l = get_local_id(0);
    float t = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        t += x[i] * y[i];
    s[l] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 128; d > 0; d >>= 1) {
        if (l < d)
            s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = s[0];
}

// time: kernel=argmin_interleaved global=1048576 local=256 v=random(1048576) best=zeros(4096) place=zeros(4096)
__kernel void argmin_interleaved(__global const float *v, __global float *best, __global int *place)
{
    __local float s[256];
    __local int p[256];
    int l = get_local_id(0);
    s[l] = v[get_global_id(0)];
    p[l] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d *= 2) {
        if (l % (2 * d) == 0 && s[l + d] < s[l]) {
            s[l] = s[l + d];
            p[l] = p[l + d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        best[get_group_id(0)] = s[0];
        place[get_group_id(0)] = p[0];
    }
}

// time: kernel=kahan_item global=8192 local=32 x=random(2097152) out=zeros(8192) n=256
__kernel void kahan_item(__global const float *x, __global float *out, int n)
{
    int i = get_global_id(0), m = get_global_size(0);
    float s = 0.0f, c = 0.0f;
    for (int k = 0; k < n; k++) {
        float y = x[k * m + i] - c, t = s + y;
        c = (t - s) - y;
        s = t;
    }
    out[i] = s;
}

// time: kernel=gather_rows_wide global=32,32768 local=32,4 table=random(1048576) index=formula(32768,i*12347%32768) out=zeros(1048576)
__kernel void gather_rows_wide(__global const float4 *table, __global const int *index, __global float4 *out)
{
    int c = get_global_id(0), r = get_global_id(1);
    out[r * 32 + c] = table[index[r] * 32 + c];
}

// time: kernel=scatter_permuted global=2097152 local=256 in=random(2097152) to=permutation(2097152) out=zeros(2097152)
__kernel void scatter_permuted(__global const float *in, __global const int *to, __global float *out)
{
    int i = get_global_id(0);
    out[to[i]] = in[i];
}

// time: kernel=gather_doubles_twice global=1048576 local=128 at=permutation(1048576) next=permutation(1048576) v=random(1048576) out=zeros(1048576)
__kernel void gather_doubles_twice(__global const int *at, __global const int *next, __global const double *v, __global double *out)
{
    int i = get_global_id(0);
    out[i] = v[next[at[i]]];
}

// time: kernel=edges_push global=524288 local=256 from=formula(524288,i//8) to=formula(524288,i*2654435%65536) rank=random(65536) next=zeros(65536)
__kernel void edges_push(__global const int *from, __global const int *to, __global const int *rank, __global int *next)
{
    int e = get_global_id(0);
    atomic_add(&next[to[e]], rank[from[e]] >> 3);
}

// time: kernel=gemm_local_8x4 global=128,256 local=16,16 A=random(1048576) B=random(1048576) C=zeros(1048576) n=1024
__kernel void gemm_local_8x4(__global const float *A, __global const float *B, __global float *C, int n)
{
    __local float as[16][65], bs[16][128];
    int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
    int row = get_group_id(1) * 64, col = get_group_id(0) * 128;
    float acc[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            acc[i][j] = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int i = 0; i < 4; i++)
            as[tx][i * 16 + ty] = A[(row + i * 16 + ty) * n + k0 + tx];
        for (int i = 0; i < 8; i++)
            bs[(t >> 7) + i * 2][t & 127] = B[(k0 + (t >> 7) + i * 2) * n + col + (t & 127)];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            float a[4], b[8];
            for (int i = 0; i < 4; i++)
                a[i] = as[k][i * 16 + ty];
            for (int j = 0; j < 8; j++)
                b[j] = bs[k][j * 16 + tx];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 8; j++)
                    acc[i][j] += a[i] * b[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            C[(row + i * 16 + ty) * n + col + j * 16 + tx] = acc[i][j];
}

// time: kernel=gemm_upper_packed global=512,512 local=32,4 A=random(262144) B=random(262144) C=zeros(262144) n=512
__kernel void gemm_upper_packed(__global const float *A, __global const float *B, __global float *C, int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    float s = 0.0f;
    for (int k = i; k < n; k++)
        s += A[i * n + k] * B[j * n + k];
    C[i * n + j] = s;
}

// time: kernel=conv_wide_local global=65536 local=256 x=random(65792) w=random(128) y=zeros(65536)
__kernel void conv_wide_local(__global const float *x, __global const float *w, __global float *y)
{
    __local float xs[384], ws[128];
    int l = get_local_id(0), g = get_global_id(0);
    xs[l] = x[g];
    if (l < 128) {
        xs[256 + l] = x[g + 256];
        ws[l] = w[l];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 128; k++)
        s += ws[k] * xs[l + k];
    y[g] = s;
}

// time: kernel=transposed_conflicts global=1024,1024 local=16,16 in=random(1048576) out=zeros(1048576) n=1024
__kernel void transposed_conflicts(__global const double *in, __global double *out, int n)
{
    __local double t[16][16];
    int lx = get_local_id(0), ly = get_local_id(1);
    t[ly][lx] = in[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 16 + ly) * n + get_group_id(1) * 16 + lx] = t[lx][ly];
}

// time: kernel=lu_one_block global=256 local=256 m=random(4096) n=64
__kernel void lu_one_block(__global float *m, int n)
{
    __local float a[64][65];
    int l = get_local_id(0), c = l & 63, r0 = l >> 6;
    for (int r = r0; r < 64; r += 4)
        a[r][c] = m[r * n + c] + (r == c ? 64.0f : 0.0f);
    for (int k = 0; k < 63; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l > k && l < 64)
            a[l][k] /= a[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int r = k + 1 + r0; r < 64; r += 4)
            if (c > k)
                a[r][c] -= a[r][k] * a[k][c];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = r0; r < 64; r += 4)
        m[r * n + c] = a[r][c];
}

// time: kernel=needleman_tile global=512 local=32 score=random(270400) sim=random(262144) w=520 penalty=10
__kernel void needleman_tile(__global int *score, __global const int *sim, int w, int penalty)
{
    __local int t[33][33], s[32][32];
    int l = get_local_id(0), g = get_group_id(0), base = g * 32 * w + g * 32;
    for (int i = 0; i < 32; i++)
        s[i][l] = sim[(g * 32 + i) * 512 + l] & 15;
    t[0][l + 1] = score[base + l + 1];
    t[l + 1][0] = score[base + (l + 1) * w];
    if (l == 0)
        t[0][0] = score[base];
    for (int d = 0; d < 63; d++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int y = d - l;
        if (y >= 0 && y < 32)
            t[y + 1][l + 1] = max(t[y][l] + s[y][l], max(t[y + 1][l], t[y][l + 1]) - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 32; i++)
        score[base + (i + 1) * w + l + 1] = t[i + 1][l + 1];
}

// time: kernel=rk4_oscillators global=65536 local=128 y=random(131072) steps=100 h=0.01
__kernel void rk4_oscillators(__global double2 *y, int steps, double h)
{
    double2 s = y[get_global_id(0)];
    for (int i = 0; i < steps; i++) {
        double2 a = (double2)(s.y, -s.x), t = s + 0.5 * h * a;
        double2 b = (double2)(t.y, -t.x);
        t = s + 0.5 * h * b;
        double2 c = (double2)(t.y, -t.x);
        t = s + h * c;
        double2 d = (double2)(t.y, -t.x);
        s += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    y[get_global_id(0)] = s;
}

// time: kernel=gamma_of_colours global=1048576 local=256 c=random(1048576) exponent=2.2
__kernel void gamma_of_colours(__global float4 *c, float exponent)
{
    c[get_global_id(0)] = pow(c[get_global_id(0)], (float4)(exponent));
}

// time: kernel=erf_points global=1048576 local=128 x=random(1048576) y=zeros(1048576)
__kernel void erf_points(__global const float *x, __global float *y)
{
    float v = x[get_global_id(0)] * 4.0f - 2.0f;
    y[get_global_id(0)] = erf(v) * exp(-v * v) + log1p(fabs(v));
}

// time: kernel=kmeans_soa global=262144 local=256 f=random(4194304) c=random(128) label=zeros(262144) k=8
__kernel void kmeans_soa(__global const float *f, __constant float *c, __global int *label, int k)
{
    int i = get_global_id(0), n = get_global_size(0), best = 0;
    float least = FLT_MAX;
    for (int j = 0; j < k; j++) {
        float d = 0.0f;
        for (int a = 0; a < 16; a++) {
            float e = f[a * n + i] - c[j * 16 + a];
            d += e * e;
        }
        if (d < least) {
            least = d;
            best = j;
        }
    }
    label[i] = best;
}

// time: kernel=knn_points_of_structs global=4096 local=64 p=random(16384) q=random(16384) near=zeros(4096) n=2048
__kernel void knn_points_of_structs(__global const float4 *p, __global const float4 *q, __global float *near, int n)
{
    float4 me = q[get_global_id(0)];
    float first = FLT_MAX, second = FLT_MAX;
    for (int j = 0; j < n; j++) {
        float4 d = p[j] - me;
        float r = dot(d, d);
        second = fmin(second, fmax(first, r));
        first = fmin(first, r);
    }
    near[get_global_id(0)] = second - first;
}

// time: kernel=axpby_tiny global=8192 local=64 x=random(8192) y=random(8192) a=2.0 b=3.0
// time: kernel=axpby_tiny global=262144 local=1024 x=random(262144) y=random(262144) a=2.0 b=3.0
__kernel void axpby_tiny(__global const float *x, __global float *y, float a, float b)
{
    int i = get_global_id(0);
    y[i] = a * x[i] + b * y[i];
}

// time: kernel=apply_givens global=2048 local=32 a=random(131072) cs=random(126) n=64
__kernel void apply_givens(__global float *a, __constant float *cs, int n)
{
    int r = get_global_id(0), m = get_global_size(0);
    float x = a[r];
    for (int k = 0; k < n - 1; k++) {
        float y = a[(k + 1) * m + r], c = cs[2 * k], s = cs[2 * k + 1];
        a[k * m + r] = c * x - s * y;
        x = s * x + c * y;
    }
    a[(n - 1) * m + r] = x;
}

// time: kernel=unpack_twelve_bits global=1048576 local=256 in=random(3145728) out=zeros(2097152)
__kernel void unpack_twelve_bits(__global const uchar *in, __global ushort *out)
{
    int i = get_global_id(0);
    uchar a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    out[2 * i] = a | (b & 15) << 8;
    out[2 * i + 1] = b >> 4 | c << 4;
}
