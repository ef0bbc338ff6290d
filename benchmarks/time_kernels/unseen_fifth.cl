// A fifth set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Fields: tables and joins, parsing, compression, fluids, stereo, quantised networks, estimation, circuits, trees.
// A third of the launches have loops that end by data.

typedef struct { float lo[3], hi[3]; int first, count; } node_t;

// time: kernel=csr_times global=262144 local=128 first=formula(262145,i*12+i*37%11) col=formula(3145748,i*7919%262144) val=random(3145748) x=random(262144) y=zeros(262144) n=262144
// time: kernel=csr_times global=16384 local=64 first=formula(16385,i*40+i*29%31) col=formula(655400,i*31%16384) val=random(655400) x=random(16384) y=zeros(16384) n=16384
__kernel void csr_times(__global const int *first, __global const int *col, __global const float *val,
                        __global const float *x, __global float *y, int n)
{
    int row = get_global_id(0);
    if (row < n) {
        float dot = 0.0f;
        for (int k = first[row]; k < first[row + 1]; k++)
            dot += val[k] * x[col[k]];
        y[row] = dot;
    }
}

// time: kernel=csr_by_groups global=1048576 local=32 first=formula(32769,i*96+i*37%64) col=formula(3145856,i*13%65536) val=random(3145856) x=random(65536) y=zeros(32768)
__kernel void csr_by_groups(__global const int *first, __global const int *col, __global const float *val,
                            __global const float *x, __global float *y)
{
    __local float part[32];
    const int row = get_group_id(0), l = get_local_id(0);
    const int end = first[row + 1];
    float sum = 0;
    for (int k = first[row] + l; k < end; k += 32)
        sum += val[k] * x[col[k]];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 16; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[row] = part[0];
}

// time: kernel=join_probe global=1048576 local=256 keys=formula(1048576,i*7919%2097143) table=formula(1048576,i*2) out=zeros(1048576) n=1048576
// time: kernel=join_probe global=65536 local=128 keys=formula(65536,i*613%131071) table=formula(65536,i*2) out=zeros(65536) n=65536
__kernel void join_probe(__global const uint *keys, __global const uint *table, __global int *out, const int n)
{
    const size_t i = get_global_id(0);
    const uint key = keys[i];
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (table[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    out[i] = lo < n && table[lo] == key ? lo : -1;
}

// time: kernel=open_hash global=1048576 local=128 keys=formula(1048576,i*40503%1048573+1) slots=formula(2097152,i*24593%2097143+1) out=zeros(1048576) mask=2097151
__kernel void open_hash(__global const uint *keys, __global const uint *slots, __global uint *out, uint mask)
{
    uint key = keys[get_global_id(0)], at = key * 2654435761u & mask;
    for (int tries = 0; tries < 32 && slots[at] != key && slots[at] != 0u; tries++)
        at = (at + 1) & mask;
    out[get_global_id(0)] = at;
}

// time: kernel=julia_escape global=1024,1024 local=16,16 out=zeros(1048576) limit=256
// time: kernel=julia_escape global=256,256 local=8,8 out=zeros(65536) limit=1000
__kernel void julia_escape(__global uchar *out, int limit)
{
    const int px = get_global_id(0), py = get_global_id(1);
    float x = px * 3.0f / get_global_size(0) - 1.5f, y = py * 3.0f / get_global_size(1) - 1.5f;
    int n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y - 0.8f;
        y = 2.0f * x * y + 0.156f;
        x = t;
        n++;
    }
    out[py * get_global_size(0) + px] = n * 255 / limit;
}

// time: kernel=newton_roots global=1048576 local=256 a=random(1048576) out=zeros(1048576)
__kernel void newton_roots(__global const float *a, __global float *out)
{
    const int i = get_global_id(0);
    const float c = a[i] + 0.5f;
    float x = c, step;
    int left = 40;
    do {
        step = (x * x * x - c) / (3.0f * x * x);
        x -= step;
    } while (fabs(step) > 1e-6f && --left > 0);
    out[i] = x;
}

// time: kernel=collatz global=1048576 local=128 out=zeros(1048576)
__kernel void collatz(__global uint *out)
{
    uint v = get_global_id(0) + 1, steps = 0;
    while (v != 1 && steps < 400) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        ++steps;
    }
    out[get_global_id(0)] = steps;
}

// time: kernel=greatest_divisors global=2097152 local=256 a=formula(2097152,i*7919%65521+1) b=formula(2097152,i*104729%65519+1) out=zeros(2097152)
__kernel void greatest_divisors(__global const uint *a, __global const uint *b, __global uint *out)
{
    uint x = a[get_global_id(0)], y = b[get_global_id(0)];
    while (y) {
        const uint r = x % y;
        x = y;
        y = r;
    }
    out[get_global_id(0)] = x;
}

// time: kernel=runs_unpacked global=65536 local=64 lengths=formula(65536,i*37%29+1) starts=formula(65536,i*30) values=random(65536) out=zeros(1966080)
__kernel void runs_unpacked(__global const uchar *lengths, __global const int *starts, __global const ushort *values,
                            __global ushort *out)
{
    const int i = get_global_id(0);
    __global ushort *to = out + starts[i];
    for (int k = 0; k < lengths[i]; k++)
        to[k] = values[i];
}

// time: kernel=fields_of_lines global=65536 local=128 text=formula(4194304,i*37%11+40) ends=zeros(65536) n=4194304
__kernel void fields_of_lines(__global const uchar *text, __global int *ends, int n)
{
    int at = get_global_id(0) * 64;
    while (at < n && text[at] != ',' && text[at] != '\n')
        at++;
    ends[get_global_id(0)] = at;
}

// time: kernel=cells_nearby global=131072 local=128 at=random(131072) start=formula(4097,i*32) rho=zeros(131072)
__kernel void cells_nearby(__global const float4 *at, __global const int *start, __global float *rho)
{
    const int i = get_global_id(0), cx = (i / 32) % 64, cy = i / 2048;
    const float4 me = at[i];
    float sum = 0.0f;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, 63); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, 63); x++) {
            const int cell = y * 64 + x;
            for (int k = start[cell]; k < start[cell + 1]; k++) {
                const float4 d = at[k] - me;
                const float r = d.x * d.x + d.y * d.y + d.z * d.z;
                if (r < 0.25f)
                    sum += (0.25f - r) * (0.25f - r) * (0.25f - r);
            }
        }
    rho[i] = sum;
}

// time: kernel=boxes_walked global=65536 local=64 tree=random(4096) o=random(65536) out=zeros(65536) nodes=255
__kernel void boxes_walked(__global const node_t *tree, __global const float4 *o, __global int *out, int nodes)
{
    const float4 p = o[get_global_id(0)];
    int hits = 0, at = 0;
    while (at < nodes) {
        const bool in = p.x >= tree[at].lo[0] && p.y >= tree[at].lo[1] && p.x <= tree[at].hi[0] + 0.5f;
        hits += in;
        at = in ? 2 * at + 1 : at + 1 + (at & 3);
    }
    out[get_global_id(0)] = hits;
}

// time: kernel=stacked_walk global=65536 local=128 key=random(1023) q=random(65536) out=zeros(65536) width=0.1
__kernel void stacked_walk(__global const float *key, __global const float *q, __global int *out, float width)
{
    int stack[12], top = 0, found = 0;
    const float me = q[get_global_id(0)];
    stack[top++] = 0;
    while (top > 0) {
        const int at = stack[--top];
        found += fabs(key[at] - me) < width;
        if (2 * at + 2 < 1023 && top < 10) {
            if (key[at] < me + width)
                stack[top++] = 2 * at + 2;
            if (key[at] > me - width)
                stack[top++] = 2 * at + 1;
        }
    }
    out[get_global_id(0)] = found;
}

// time: kernel=lattice_stream global=2048,1024 local=128,1 f=random(18874368) g=zeros(18874368) w=2048 h=1024
// time: kernel=lattice_stream global=256,256 local=64,2 f=random(589824) g=zeros(589824) w=256 h=256
__kernel void lattice_stream(__global const float *restrict f, __global float *restrict g, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1), n = w * h;
    const int e = x + 1 < w ? x + 1 : 0, v = x > 0 ? x - 1 : w - 1, s = y + 1 < h ? y + 1 : 0, t = y > 0 ? y - 1 : h - 1;
    const float c = f[y * w + x], f1 = f[n + y * w + v], f2 = f[2 * n + t * w + x], f3 = f[3 * n + y * w + e];
    const float f4 = f[4 * n + s * w + x], f5 = f[5 * n + t * w + v], f6 = f[6 * n + t * w + e];
    const float f7 = f[7 * n + s * w + e], f8 = f[8 * n + s * w + v];
    const float rho = c + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8, r = 1.0f / rho;
    const float ux = (f1 - f3 + f5 - f6 - f7 + f8) * r, uy = (f2 - f4 + f5 + f6 - f7 - f8) * r;
    const float q = 1.0f - 1.5f * (ux * ux + uy * uy);
    const int at = y * w + x;
    g[at] = c - 0.6f * (c - 0.444444f * rho * q);
    g[n + at] = f1 - 0.6f * (f1 - 0.111111f * rho * (q + 3.0f * ux + 4.5f * ux * ux));
    g[2 * n + at] = f2 - 0.6f * (f2 - 0.111111f * rho * (q + 3.0f * uy + 4.5f * uy * uy));
    g[3 * n + at] = f3 - 0.6f * (f3 - 0.111111f * rho * (q - 3.0f * ux + 4.5f * ux * ux));
    g[4 * n + at] = f4 - 0.6f * (f4 - 0.111111f * rho * (q - 3.0f * uy + 4.5f * uy * uy));
    g[5 * n + at] = f5 - 0.6f * (f5 - 0.027778f * rho * (q + 3.0f * (ux + uy) + 4.5f * (ux + uy) * (ux + uy)));
    g[6 * n + at] = f6 - 0.6f * (f6 - 0.027778f * rho * (q + 3.0f * (uy - ux) + 4.5f * (uy - ux) * (uy - ux)));
    g[7 * n + at] = f7 - 0.6f * (f7 - 0.027778f * rho * (q - 3.0f * (ux + uy) + 4.5f * (ux + uy) * (ux + uy)));
    g[8 * n + at] = f8 - 0.6f * (f8 - 0.027778f * rho * (q + 3.0f * (ux - uy) + 4.5f * (ux - uy) * (ux - uy)));
}

// time: kernel=census global=1016,1016 local=8,8 in=random(1048576) out=zeros(1048576) w=1024
__kernel void census(__global const uchar *in, __global ulong *out, int w)
{
    const int x = get_global_id(0) + 4, y = get_global_id(1) + 4;
    const uchar c = in[y * w + x];
    ulong bits = 0;
    for (int j = -3; j <= 3; j++)
        for (int i = -4; i <= 4; i++)
            bits = bits << 1 | (in[(y + j) * w + x + i] < c);
    out[y * w + x] = bits;
}

// time: kernel=disparities global=1024,256 local=64,1 l=random(262144) r=random(262208) out=zeros(262144) w=1024
__kernel void disparities(__global const ulong *l, __global const ulong *r, __global uchar *out, int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const ulong mine = l[y * w + x];
    uint best = 65, at = 0;
    for (uint d = 0; d < 64; d++) {
        const uint bits = popcount(mine ^ r[y * w + x + d]);
        if (bits < best) {
            best = bits;
            at = d;
        }
    }
    out[y * w + x] = at;
}

// time: kernel=path_costs global=512 local=64 cost=random(524288) sum=zeros(524288) w=1024
__kernel void path_costs(__global const uchar *cost, __global ushort *sum, int w)
{
    const int y = get_global_id(0) / 64, d = get_global_id(0) % 64;
    __local ushort row[66];
    row[d + 1] = 0;
    if (d == 0)
        row[0] = row[65] = 60000;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = 0; x < w; x++) {
        const int at = (y * w + x) * 64 + d;
        const ushort best = min(row[d + 1], (ushort)(min(row[d], row[d + 2]) + 7));
        const ushort now = cost[at] + best / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        row[d + 1] = now;
        sum[at] = now;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// time: kernel=four_bit_rows global=4096 local=128 w=random(2097152) scale=random(131072) x=random(4096) y=zeros(4096)
// time: kernel=four_bit_rows global=16384 local=64 w=random(8388608) scale=random(524288) x=random(4096) y=zeros(16384)
__kernel void four_bit_rows(__global const uint *w, __global const half *scale, __global const float *x, __global float *y)
{
    const int row = get_global_id(0), n = get_global_size(0);
    float sum = 0.0f;
    for (int b = 0; b < 32; b++) {
        float part = 0.0f;
        for (int k = 0; k < 16; k++) {
            const uint v = w[(b * 16 + k) * n + row];
            for (int j = 0; j < 8; j++)
                part += ((int)(v >> (4 * j) & 15u) - 8) * x[b * 128 + k * 8 + j];
        }
        sum += vload_half(b * n + row, scale) * part;
    }
    y[row] = sum;
}

// time: kernel=rotary global=64,4096 local=64,4 q=random(524288) cs=random(262144)
__kernel void rotary(__global float2 *q, __global const float2 *cs)
{
    const int at = get_global_id(1) * 64 + get_global_id(0);
    const float2 v = q[at], r = cs[at];
    q[at] = (float2)(v.x * r.x - v.y * r.y, v.x * r.y + v.y * r.x);
}

// time: kernel=rms_rows global=1048576 local=256 x=random(16777216) g=random(4096) y=zeros(16777216) n=4096
__kernel void rms_rows(__global const float *x, __global const float *g, __global float *y, int n)
{
    __local float part[256];
    const int l = get_local_id(0);
    __global const float *in = x + (size_t)get_group_id(0) * n;
    __global float *to = y + (size_t)get_group_id(0) * n;
    float sum = 0.0f;
    for (int k = l; k < n; k += 256)
        sum += in[k] * in[k];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s; s /= 2) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float r = rsqrt(part[0] / n + 1e-5f);
    for (int k = l; k < n; k += 256)
        to[k] = in[k] * r * g[k];
}

// time: kernel=one_query global=8192 local=256 q=random(4096) keys=random(8388608) out=zeros(65536) n=2048
__kernel void one_query(__global const float *q, __global const float *keys, __global float *out, int n)
{
    __local float mine[128];
    const int l = get_local_id(0), head = get_group_id(0);
    if (l < 128)
        mine[l] = q[head * 128 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = l; t < n; t += 256) {
        float sum = 0.0f;
        for (int k = 0; k < 128; k += 4) {
            const float4 v = vload4(0, keys + (t * 32 + head) * 128 + k);
            sum += v.x * mine[k] + v.y * mine[k + 1] + v.z * mine[k + 2] + v.w * mine[k + 3];
        }
        out[head * n + t] = sum * 0.088f;
    }
}

// time: kernel=five_best global=32768 local=64 a=random(8388608) out=zeros(163840) n=256
__kernel void five_best(__global const float *a, __global float *out, int n)
{
    const int i = get_global_id(0), m = get_global_size(0);
    float b0 = -1, b1 = -1, b2 = -1, b3 = -1, b4 = -1;
    for (int k = 0; k < n; k++) {
        float v = a[k * m + i], t;
        t = fmin(b0, v); b0 = fmax(b0, v); v = t;
        t = fmin(b1, v); b1 = fmax(b1, v); v = t;
        t = fmin(b2, v); b2 = fmax(b2, v); v = t;
        t = fmin(b3, v); b3 = fmax(b3, v); v = t;
        b4 = fmax(b4, v);
    }
    out[i] = b0;
    out[m + i] = b1;
    out[2 * m + i] = b2;
    out[3 * m + i] = b3;
    out[4 * m + i] = b4;
}

// time: kernel=kalman_steps global=131072 local=128 z=random(4194304) out=zeros(524288) steps=32
__kernel void kalman_steps(__global const float *z, __global float4 *out, int steps)
{
    const int i = get_global_id(0), m = get_global_size(0);
    float x = 0, v = 0, p00 = 1, p01 = 0, p11 = 1;
    for (int k = 0; k < steps; k++) {
        x += 0.1f * v;
        p00 += 0.2f * p01 + 0.01f * p11 + 0.001f;
        p01 += 0.1f * p11;
        p11 += 0.01f;
        const float g = 1.0f / (p00 + 0.5f), y = z[k * m + i] - x, k0 = p00 * g, k1 = p01 * g;
        x += k0 * y;
        v += k1 * y;
        p11 -= k1 * p01;
        p01 -= k0 * p01;
        p00 -= k0 * p00;
    }
    out[i] = (float4)(x, v, p00, p11);
}

// time: kernel=gate_on_states global=4194304 local=256 s=random(8388608) bit=4 c=0.6 d=0.8
// time: kernel=gate_on_states global=4194304 local=256 s=random(8388608) bit=1048576 c=0.6 d=0.8
__kernel void gate_on_states(__global float2 *s, const uint bit, const float c, const float d)
{
    const uint i = get_global_id(0), low = i & (bit - 1), at = (i - low) * 2 + low;
    const float2 a = s[at], b = s[at + bit];
    s[at] = c * a - d * b;
    s[at + bit] = d * a + c * b;
}

// time: kernel=crc_blocks global=65536 local=128 data=random(4194304) table=random(256) out=zeros(65536)
__kernel void crc_blocks(__global const uint *data, __constant uint *table, __global uint *out)
{
    const size_t i = get_global_id(0), n = get_global_size(0);
    uint crc = ~0u;
    for (int k = 0; k < 64; k++) {
        uint v = data[k * n + i];
        for (int b = 0; b < 4; b++) {
            crc = table[(crc ^ v) & 255u] ^ crc >> 8;
            v >>= 8;
        }
    }
    out[i] = ~crc;
}

// time: kernel=bytes_swapped_by_table global=1048576 local=256 box=random(256) in=random(1048576) out=zeros(1048576)
__kernel void bytes_swapped_by_table(__global const uchar *box, __global const uchar4 *in, __global uchar4 *out)
{
    __local uchar s[256];
    s[get_local_id(0)] = box[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uchar4 v = in[get_global_id(0)];
    out[get_global_id(0)] = (uchar4)(s[v.y], s[v.z], s[v.w], s[v.x]);
}

// time: kernel=swap_odd_even global=65536 local=512 a=random(131072)
__kernel void swap_odd_even(__global int *a)
{
    __local int t[1024];
    const int l = get_local_id(0), base = get_group_id(0) * 1024;
    t[l] = a[base + l];
    t[l + 512] = a[base + l + 512];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int pass = 0; pass < 64; pass++) {
        const int at = 2 * l + (pass & 1);
        if (at + 1 < 1024 && t[at] > t[at + 1]) {
            const int swap = t[at];
            t[at] = t[at + 1];
            t[at + 1] = swap;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[base + l] = t[l];
    a[base + l + 512] = t[l + 512];
}

// time: kernel=warp_affine global=2048,2048 local=32,8 in=random(4194304) out=zeros(4194304) a=0.98 b=0.17
__kernel void warp_affine(__global const uchar *in, __global uchar *out, float a, float b)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    const float fx = a * x + b * y, fy = a * y - b * x;
    const int ix = convert_int_rtn(fx), iy = convert_int_rtn(fy);
    uchar v = 0;
    if (ix >= 0 && ix < w - 1 && iy >= 0 && iy < h - 1) {
        const float dx = fx - ix, dy = fy - iy;
        __global const uchar *p = in + iy * w + ix;
        v = convert_uchar_sat(mix(mix((float)p[0], (float)p[1], dx), mix((float)p[w], (float)p[w + 1], dx), dy));
    }
    out[y * w + x] = v;
}

// time: kernel=box_by_prefix global=4096 local=64 in=random(8388608) out=zeros(8388608) h=2048
__kernel void box_by_prefix(__global const float *in, __global float *out, int h)
{
    const int x = get_global_id(0), w = get_global_size(0);
    float sum = 0.0f;
    for (int y = 0; y < h; y++) {
        sum += in[y * w + x] - (y >= 9 ? in[(y - 9) * w + x] : 0.0f);
        out[y * w + x] = sum * 0.111f;
    }
}

// time: kernel=levels_of_grey global=524288 local=256 in=random(8388608) bins=zeros(4096)
__kernel void levels_of_grey(__global const uchar *in, __global int *bins)
{
    __local int mine[256];
    const int l = get_local_id(0);
    mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_global_id(0); k < 8388608; k += get_global_size(0))
        atomic_inc(&mine[in[k]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[l * 16], mine[l]);
}

// time: kernel=kmers global=1048576 local=256 dna=random(1048608) counts=zeros(65536)
__kernel void kmers(__global const uchar *dna, __global uint *counts)
{
    const int i = get_global_id(0);
    uint code = 0;
    for (int k = 0; k < 8; k++)
        code = code << 2 | (dna[i + k] & 3);
    atomic_inc(counts + code);
}

// time: kernel=spline_points global=2097152 local=128 c=random(65536) out=zeros(2097152)
__kernel void spline_points(__global const float4 *c, __global float *out)
{
    const int i = get_global_id(0);
    const float4 k = c[i >> 5];
    const float t = (i & 31) * 0.03125f;
    out[i] = ((k.w * t + k.z) * t + k.y) * t + k.x;
}

// time: kernel=implied_vol global=262144 local=64 price=random(262144) out=zeros(262144)
__kernel void implied_vol(__global const float *price, __global float *out)
{
    const int i = get_global_id(0);
    const float target = 0.05f + 0.3f * price[i];
    float lo = 0.01f, hi = 2.0f;
    for (int k = 0; k < 20; k++) {
        const float v = 0.5f * (lo + hi), d = 0.5f * v;
        const float value = erf(d * 0.70710678f);
        if (value > target)
            hi = v;
        else
            lo = v;
    }
    out[i] = 0.5f * (lo + hi);
}

// time: kernel=wide_halo global=1024,1024 local=32,8 in=random(1081600) out=zeros(1048576) w=1040
__kernel void wide_halo(__global const float *in, __global float *out, int w)
{
    __local float t[24][48];
    const int lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * 32, by = get_group_id(1) * 8;
    for (int y = ly; y < 24; y += 8)
        for (int x = lx; x < 48; x += 32)
            t[y][x] = in[(by + y) * w + bx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < 17; k++)
        sum += t[ly + 8][lx + (k < 16 ? k : 15)] + t[ly + (k < 16 ? k : 15)][lx + 8];
    out[get_global_id(1) * 1024 + get_global_id(0)] = sum;
}

// time: kernel=mean_of_doubles global=524288 local=128 x=random(4194304) out=zeros(4096)
__kernel void mean_of_doubles(__global const double *x, __global double *out)
{
    __local double part[128];
    const int l = get_local_id(0);
    double sum = 0.0;
    for (int k = 0; k < 8; k++)
        sum += x[get_group_id(0) * 1024 + k * 128 + l];
    part[l] = sum;
    for (int s = 64; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        out[get_group_id(0)] = part[0] * 0.0009765625;
}
