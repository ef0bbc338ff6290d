// A ninth set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Styles of public code: linear algebra in loops over rows, ciphers and hashes in rounds, image and signal filters,
// sparse products, relaxations in tiles, games and searches with stacks, counters, quantised layers, particles in
// structures and in arrays, FP64, half, few work-groups. `// rewrite: A -> B` names two kernels that do the same work:
// by hand, not by this product.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// --- rows, swapped dimensions, tiles ---

// time: kernel=syrk_rows_first global=512,512 local=32,8 A=random(262144) C=random(262144) n=512 alpha=1.5
// time: kernel=syrk_rows_first global=256,256 local=16,16 A=random(65536) C=random(65536) n=256 alpha=1.5
__kernel void syrk_rows_first(__global const float *A, __global float *C, int n, float alpha)
{
    int i = get_global_id(0), j = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += A[i * n + k] * A[j * n + k];
    C[i * n + j] = 0.5f * C[i * n + j] + alpha * s;
}

// rewrite: syrk_rows_first -> syrk_columns_first
// time: kernel=syrk_columns_first global=512,512 local=32,8 A=random(262144) C=random(262144) n=512 alpha=1.5
// time: kernel=syrk_columns_first global=256,256 local=16,16 A=random(65536) C=random(65536) n=256 alpha=1.5
__kernel void syrk_columns_first(__global const float *A, __global float *C, int n, float alpha)
{
    int j = get_global_id(0), i = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += A[i * n + k] * A[j * n + k];
    C[i * n + j] = 0.5f * C[i * n + j] + alpha * s;
}

// rewrite: syrk_columns_first -> syrk_tiled
// time: kernel=syrk_tiled global=512,512 local=16,16 A=random(262144) C=random(262144) n=512 alpha=1.5
// time: kernel=syrk_tiled global=256,256 local=16,16 A=random(65536) C=random(65536) n=256 alpha=1.5
__kernel void syrk_tiled(__global const float *A, __global float *C, int n, float alpha)
{
    __local float a[16][17], b[16][17];
    int lx = get_local_id(0), ly = get_local_id(1), i = get_global_id(1), j = get_global_id(0);
    int other = get_group_id(0) * 16 + ly;
    float s = 0.0f;
    for (int k = 0; k < n; k += 16) {
        a[ly][lx] = A[i * n + k + lx];
        b[ly][lx] = A[other * n + k + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = 0; t < 16; t++)
            s += a[ly][t] * b[lx][t];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[i * n + j] = 0.5f * C[i * n + j] + alpha * s;
}

// time: kernel=atax_by_items global=4096 local=256 A=random(8388608) x=random(2048) y=zeros(4096) n=2048
__kernel void atax_by_items(__global const float *A, __global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += A[i * n + k] * x[k];
    y[i] = s;
}

// rewrite: atax_by_items -> atax_by_groups
// time: kernel=atax_by_groups global=524288 local=128 A=random(8388608) x=random(2048) y=zeros(4096) n=2048
__kernel void atax_by_groups(__global const float *A, __global const float *x, __global float *y, int n)
{
    __local float part[128];
    int l = get_local_id(0), row = get_group_id(0);
    float s = 0.0f;
    for (int k = l; k < n; k += 128)
        s += A[row * n + k] * x[k];
    part[l] = s;
    for (int d = 64; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            part[l] += part[l + d];
    }
    if (l == 0)
        y[row] = part[0];
}

// rewrite: atax_by_items -> atax_by_columns
// time: kernel=atax_by_columns global=4096 local=256 A=random(8388608) x=random(2048) y=zeros(4096) n=2048
__kernel void atax_by_columns(__global const float *A, __global const float *x, __global float *y, int n)
{
    int i = get_global_id(0), m = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += A[k * m + i] * x[k];
    y[i] = s;
}

// Means and covariances of columns; the inner loop over observations, then the outer one.
// time: kernel=covariance_inner global=256,256 local=16,16 d=random(262144) c=zeros(65536) rows=1024 m=256
__kernel void covariance_inner(__global const float *d, __global float *c, int rows, int m)
{
    int a = get_global_id(1), b = get_global_id(0);
    float s = 0.0f;
    for (int r = 0; r < rows; r++)
        s += d[r * m + a] * d[r * m + b];
    c[a * m + b] = s / (rows - 1.0f);
}

// rewrite: covariance_inner -> covariance_four
// time: kernel=covariance_four global=64,256 local=16,16 d=random(262144) c=zeros(65536) rows=1024 m=256
__kernel void covariance_four(__global const float *d, __global float *c, int rows, int m)
{
    int a = get_global_id(1), b = get_global_id(0) * 4;
    float4 s = 0.0f;
    for (int r = 0; r < rows; r++)
        s += d[r * m + a] * vload4(0, d + r * m + b);
    vstore4(s / (rows - 1.0f), 0, c + a * m + b);
}

// --- fields, large ---

// time: kernel=srad_coefficients global=4096,4096 local=32,8 J=random(16777216) c=zeros(16777216) q0=0.3
// time: kernel=srad_coefficients global=512,512 local=32,8 J=random(262144) c=zeros(262144) q0=0.3
__kernel void srad_coefficients(__global const float *J, __global float *c, float q0)
{
    int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    int at = y * w + x;
    float v = J[at] + 0.1f;
    float up = J[max(y - 1, 0) * w + x] + 0.1f - v, down = J[min(y + 1, h - 1) * w + x] + 0.1f - v;
    float left = J[y * w + max(x - 1, 0)] + 0.1f - v, right = J[y * w + min(x + 1, w - 1)] + 0.1f - v;
    float g2 = (up * up + down * down + left * left + right * right) / (v * v);
    float l = (up + down + left + right) / v;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
    float den = 1.0f + 0.25f * l;
    float q = num / (den * den);
    den = (q - q0) / (q0 * (1.0f + q0));
    c[at] = clamp(1.0f / (1.0f + den), 0.0f, 1.0f);
}

// rewrite: srad_coefficients -> srad_across
// time: kernel=srad_across global=4096,4096 local=8,32 J=random(16777216) c=zeros(16777216) q0=0.3
// time: kernel=srad_across global=512,512 local=8,32 J=random(262144) c=zeros(262144) q0=0.3
__kernel void srad_across(__global const float *J, __global float *c, float q0)
{
    int x = get_global_id(1), y = get_global_id(0), w = get_global_size(1), h = get_global_size(0);
    int at = y * w + x;
    float v = J[at] + 0.1f;
    float up = J[max(y - 1, 0) * w + x] + 0.1f - v, down = J[min(y + 1, h - 1) * w + x] + 0.1f - v;
    float left = J[y * w + max(x - 1, 0)] + 0.1f - v, right = J[y * w + min(x + 1, w - 1)] + 0.1f - v;
    float g2 = (up * up + down * down + left * left + right * right) / (v * v);
    float l = (up + down + left + right) / v;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
    float den = 1.0f + 0.25f * l;
    float q = num / (den * den);
    den = (q - q0) / (q0 * (1.0f + q0));
    c[at] = clamp(1.0f / (1.0f + den), 0.0f, 1.0f);
}

typedef struct {
    float x, y, z, mass;
    float vx, vy, vz, charge;
} Body;

// time: kernel=energies_of_structs global=4194304 local=256 b=random(4194304) e=zeros(4194304)
// time: kernel=energies_of_structs global=65536 local=256 b=random(65536) e=zeros(65536)
__kernel void energies_of_structs(__global const Body *b, __global float *e)
{
    int i = get_global_id(0);
    e[i] = 0.5f * b[i].mass * (b[i].vx * b[i].vx + b[i].vy * b[i].vy + b[i].vz * b[i].vz);
}

// rewrite: energies_of_structs -> energies_of_arrays
// time: kernel=energies_of_arrays global=4194304 local=256 m=random(4194304) vx=random(4194304) vy=random(4194304) vz=random(4194304) e=zeros(4194304)
// time: kernel=energies_of_arrays global=65536 local=256 m=random(65536) vx=random(65536) vy=random(65536) vz=random(65536) e=zeros(65536)
__kernel void energies_of_arrays(__global const float *m, __global const float *vx, __global const float *vy,
                                 __global const float *vz, __global float *e)
{
    int i = get_global_id(0);
    e[i] = 0.5f * m[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i]);
}

// time: kernel=threshold_bytes global=33554432 local=256 in=random(33554432) out=zeros(33554432) t=100
// time: kernel=threshold_bytes global=1048576 local=256 in=random(1048576) out=zeros(1048576) t=100
__kernel void threshold_bytes(__global const uchar *in, __global uchar *out, uchar t)
{
    int i = get_global_id(0);
    out[i] = in[i] > t ? 255 : 0;
}

// rewrite: threshold_bytes -> threshold_sixteen
// time: kernel=threshold_sixteen global=2097152 local=256 in=random(2097152) out=zeros(2097152) t=100
// time: kernel=threshold_sixteen global=65536 local=256 in=random(65536) out=zeros(65536) t=100
__kernel void threshold_sixteen(__global const uchar16 *in, __global uchar16 *out, uchar t)
{
    int i = get_global_id(0);
    out[i] = convert_uchar16(in[i] > (uchar16)(t));
}

// time: kernel=split_stereo global=4194304 local=128 in=random(4194304) l=zeros(4194304) r=zeros(4194304)
__kernel void split_stereo(__global const short2 *in, __global short *l, __global short *r)
{
    int i = get_global_id(0);
    short2 v = in[i];
    l[i] = v.x;
    r[i] = v.y;
}

// Each work-item a run of 16 words, or words a launch apart.
// time: kernel=norms_in_runs global=262144 local=128 x=random(4194304) out=zeros(262144)
__kernel void norms_in_runs(__global const float *x, __global float *out)
{
    int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++)
        s += x[i * 16 + k] * x[i * 16 + k];
    out[i] = sqrt(s);
}

// rewrite: norms_in_runs -> norms_in_steps
// time: kernel=norms_in_steps global=262144 local=128 x=random(4194304) out=zeros(262144)
__kernel void norms_in_steps(__global const float *x, __global float *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++)
        s += x[k * n + i] * x[k * n + i];
    out[i] = sqrt(s);
}

// rewrite: norms_in_runs -> norms_in_vectors
// time: kernel=norms_in_vectors global=262144 local=128 x=random(1048576) out=zeros(262144)
__kernel void norms_in_vectors(__global const float4 *x, __global float *out)
{
    int i = get_global_id(0);
    float4 s = 0.0f;
    for (int k = 0; k < 4; k++)
        s += x[i * 4 + k] * x[i * 4 + k];
    out[i] = sqrt(s.x + s.y + s.z + s.w);
}

// --- local memory, padding, barriers ---

// time: kernel=dct_columns_plain global=1024,1024 local=32,8 in=random(1048576) out=zeros(1048576) w=1024
__kernel void dct_columns_plain(__global const float *in, __global float *out, int w)
{
    __local float t[32][32];
    int lx = get_local_id(0), ly = get_local_id(1), x0 = get_group_id(0) * 32, y0 = get_group_id(1) * 8;
    for (int k = 0; k < 4; k++)
        t[ly + 8 * k][lx] = in[((y0 + ly + 8 * k) % w) * w + x0 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 32; k++)
        s = s * 0.7f + t[lx][k] * t[lx][(k + ly) & 31];
    out[(y0 + ly) * w + x0 + lx] = s;
}

// rewrite: dct_columns_plain -> dct_columns_padded
// time: kernel=dct_columns_padded global=1024,1024 local=32,8 in=random(1048576) out=zeros(1048576) w=1024
__kernel void dct_columns_padded(__global const float *in, __global float *out, int w)
{
    __local float t[32][33];
    int lx = get_local_id(0), ly = get_local_id(1), x0 = get_group_id(0) * 32, y0 = get_group_id(1) * 8;
    for (int k = 0; k < 4; k++)
        t[ly + 8 * k][lx] = in[((y0 + ly + 8 * k) % w) * w + x0 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 32; k++)
        s = s * 0.7f + t[lx][k] * t[lx][(k + ly) & 31];
    out[(y0 + ly) * w + x0 + lx] = s;
}

// The shortest way down a grid, 16 rows a launch, in a tile whose borders shrink.
// time: kernel=pathfinder_rows global=262144 local=256 wall=random(3670016) from=random(229376) to=zeros(229376) cols=229376 rows=16
__kernel void pathfinder_rows(__global const int *wall, __global const int *from, __global int *to, int cols, int rows)
{
    __local int prev[256], next[256];
    int l = get_local_id(0), x = (int)get_group_id(0) * (256 - 32) + l - 16;
    int at = clamp(x, 0, cols - 1);
    prev[l] = from[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < rows; r++) {
        bool valid = l >= r + 1 && l < 255 - r;
        int least = 0;
        if (valid)
            least = min(prev[l], min(prev[l - 1], prev[l + 1])) + (wall[r * cols + at] & 7);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (valid)
            prev[l] = least;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    next[l] = prev[l];
    if (l >= 16 && l < 240 && x < cols)
        to[x] = next[l];
}

// time: kernel=walsh_in_local global=524288 local=256 x=random(1048576) y=zeros(1048576)
// time: kernel=walsh_in_local global=16384 local=256 x=random(32768) y=zeros(32768)
__kernel void walsh_in_local(__global const float *x, __global float *y)
{
    __local float s[512];
    int l = get_local_id(0), base = get_group_id(0) * 512;
    s[l] = x[base + l];
    s[l + 256] = x[base + l + 256];
    for (int h = 1; h < 512; h <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int i = (l / h) * 2 * h + l % h;
        float a = s[i], b = s[i + h];
        s[i] = a + b;
        s[i + h] = a - b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[base + l] = s[l];
    y[base + l + 256] = s[l + 256];
}

// time: kernel=scan_two_buffers global=1048576 local=512 in=random(1048576) out=zeros(1048576)
__kernel void scan_two_buffers(__global const int *in, __global int *out)
{
    __local int s[2][512];
    int l = get_local_id(0), from = 0;
    s[0][l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 512; d *= 2) {
        s[1 - from][l] = l >= d ? s[from][l] + s[from][l - d] : s[from][l];
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = s[from][l];
}

// --- counters ---

// time: kernel=brightness_counts global=4194304 local=256 in=random(4194304) bins=zeros(256)
__kernel void brightness_counts(__global const uchar *in, __global uint *bins)
{
    atomic_inc(&bins[in[get_global_id(0)]]);
}

// rewrite: brightness_counts -> brightness_local
// time: kernel=brightness_local global=270336 local=256 in=random(4194304) bins=zeros(256) n=4194304
__kernel void brightness_local(__global const uchar *in, __global uint *bins, int n)
{
    __local uint h[256];
    int l = get_local_id(0);
    h[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&h[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[l], h[l]);
}

// rewrite: brightness_local -> brightness_copies
// time: kernel=brightness_copies global=270336 local=256 in=random(4194304) bins=zeros(256) n=4194304
__kernel void brightness_copies(__global const uchar *in, __global uint *bins, int n)
{
    __local uint h[8 * 257];
    int l = get_local_id(0), mine = (l & 7) * 257;
    for (int i = l; i < 8 * 257; i += 256)
        h[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&h[mine + in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s = 0;
    for (int c = 0; c < 8; c++)
        s += h[c * 257 + l];
    atomic_add(&bins[l], s);
}

// time: kernel=degrees_of_nodes global=2097152 local=256 to=formula(2097152,i*2654435761%1048576) degree=zeros(1048576)
__kernel void degrees_of_nodes(__global const int *to, __global int *degree)
{
    atomic_inc(&degree[to[get_global_id(0)]]);
}

// time: kernel=spread_charges global=262144 local=128 cell=formula(262144,i*7919%16384) q=random(262144) grid=zeros(16384)
__kernel void spread_charges(__global const int *cell, __global const float *q, __global int *grid)
{
    int i = get_global_id(0), c = cell[i];
    int v = convert_int_rte(q[i] * 65536.0f);
    atomic_add(&grid[c], v / 2);
    atomic_add(&grid[(c + 1) & 16383], v / 4);
    atomic_add(&grid[(c + 128) & 16383], v / 4);
}

// time: kernel=total_by_groups global=1048576 local=256 x=random(1048576) total=zeros(1)
__kernel void total_by_groups(__global const int *x, __global int *total)
{
    __local int s;
    if (get_local_id(0) == 0)
        s = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&s, x[get_global_id(0)] & 255);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(total, s);
}

// --- rounds, bits, quantised ---

#define RL(x, n) rotate(x, (uint)(n))
#define G(a, b, c, d, x, y) \
    a += b + x; d = RL(d ^ a, 16); c += d; b = RL(b ^ c, 20); a += b + y; d = RL(d ^ a, 24); c += d; b = RL(b ^ c, 25);
// time: kernel=blake_blocks global=524288 local=128 in=random(8388608) out=zeros(2097152)
// time: kernel=blake_blocks global=32768 local=128 in=random(524288) out=zeros(131072)
__kernel void blake_blocks(__global const uint *in, __global uint4 *out)
{
    int i = get_global_id(0), n = get_global_size(0);
    uint m[16], v[16];
    for (int k = 0; k < 16; k++) {
        m[k] = in[k * n + i];
        v[k] = 0x6a09e667u * (k + 1);
    }
    for (int r = 0; r < 7; r++) {
        G(v[0], v[4], v[8], v[12], m[0], m[1])
        G(v[1], v[5], v[9], v[13], m[2], m[3])
        G(v[2], v[6], v[10], v[14], m[4], m[5])
        G(v[3], v[7], v[11], v[15], m[6], m[7])
        G(v[0], v[5], v[10], v[15], m[8], m[9])
        G(v[1], v[6], v[11], v[12], m[10], m[11])
        G(v[2], v[7], v[8], v[13], m[12], m[13])
        G(v[3], v[4], v[9], v[14], m[14], m[15])
        uint t = m[0];
        for (int k = 0; k < 15; k++)
            m[k] = m[k + 1];
        m[15] = t;
    }
    for (int k = 0; k < 4; k++)
        out[k * n + i] = (uint4)(v[k] ^ v[k + 8], v[k + 4] ^ v[k + 12], v[k], v[k + 4]);
}

// SHA-256's schedule in 16 words that are overwritten.
__constant uint K16[16] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
                           0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174};
// time: kernel=sha_rounds global=262144 local=128 nonce=random(262144) out=zeros(262144)
// time: kernel=sha_rounds global=8192 local=64 nonce=random(8192) out=zeros(8192)
__kernel void sha_rounds(__global const uint *nonce, __global uint *out)
{
    uint w[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    uint e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int i = 0; i < 16; i++)
        w[i] = nonce[get_global_id(0)] + i * 0x9e3779b9u;
    for (int r = 0; r < 64; r++) {
        int k = r & 15;
        if (r >= 16) {
            uint x = w[(k + 1) & 15], y = w[(k + 14) & 15];
            w[k] += (RL(x, 25) ^ RL(x, 14) ^ (x >> 3)) + w[(k + 9) & 15] + (RL(y, 15) ^ RL(y, 13) ^ (y >> 10));
        }
        uint t1 = h + (RL(e, 26) ^ RL(e, 21) ^ RL(e, 7)) + (g ^ (e & (f ^ g))) + K16[k] + w[k];
        uint t2 = (RL(a, 30) ^ RL(a, 19) ^ RL(a, 10)) + ((a & b) | (c & (a | b)));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    out[get_global_id(0)] = a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

// time: kernel=binary_dots global=1024,256 local=64,4 w=random(32768) x=random(8192) y=zeros(262144) words=32
__kernel void binary_dots(__global const uint *w, __global const uint *x, __global int *y, int words)
{
    int o = get_global_id(0), b = get_global_id(1), same = 0, n = get_global_size(0);
    for (int k = 0; k < words; k++)
        same += popcount(~(w[k * n + o] ^ x[b * words + k]));
    y[b * n + o] = 2 * same - 32 * words;
}

// rewrite: binary_dots -> binary_dots_rows
// time: kernel=binary_dots_rows global=1024,256 local=64,4 w=random(32768) x=random(8192) y=zeros(262144) words=32
__kernel void binary_dots_rows(__global const uint *w, __global const uint *x, __global int *y, int words)
{
    int o = get_global_id(0), b = get_global_id(1), same = 0, n = get_global_size(0);
    for (int k = 0; k < words; k++)
        same += popcount(~(w[o * words + k] ^ x[b * words + k]));
    y[b * n + o] = 2 * same - 32 * words;
}

// A layer with weights of four bits: scales for each 32 of them, a SIMD group for each row.
// time: kernel=four_bit_layer global=131072 local=64 w=random(2097152) scale=random(524288) x=random(4096) y=zeros(4096) n=4096
__kernel void four_bit_layer(__global const uint *w, __global const float *scale, __global const float *x, __global float *y, int n)
{
    __local float part[64];
    int l = get_local_id(0), lane = l & 31, row = get_global_id(0) / 32;
    float s = 0.0f;
    for (int k = lane; k < n / 8; k += 32) {
        uint p = w[row * (n / 8) + k];
        float t = 0.0f;
        for (int b = 0; b < 8; b++)
            t += ((int)((p >> (4 * b)) & 15) - 8) * x[k * 8 + b];
        s += t * scale[row * (n / 32) + k / 4];
    }
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        for (int k = 1; k < 32; k++)
            s += part[l + k];
        y[row] = s;
    }
}

// rewrite: four_bit_layer -> four_bit_vectors
// time: kernel=four_bit_vectors global=131072 local=64 w=random(2097152) scale=random(524288) x=random(512) y=zeros(4096) n=4096
__kernel void four_bit_vectors(__global const uint *w, __global const float *scale, __global const float8 *x, __global float *y, int n)
{
    __local float part[64];
    int l = get_local_id(0), lane = l & 31, row = get_global_id(0) / 32;
    float s = 0.0f;
    for (int k = lane; k < n / 8; k += 32) {
        uint p = w[row * (n / 8) + k];
        float8 v = x[k];
        float8 q = convert_float8(convert_int8((uint8)(p, p >> 4, p >> 8, p >> 12, p >> 16, p >> 20, p >> 24, p >> 28) & 15u) - 8);
        float8 t = q * v;
        s += (t.s0 + t.s1 + t.s2 + t.s3 + t.s4 + t.s5 + t.s6 + t.s7) * scale[row * (n / 32) + k / 4];
    }
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        for (int k = 1; k < 32; k++)
            s += part[l + k];
        y[row] = s;
    }
}

// --- arithmetic ---

// time: kernel=chebyshev_series global=1048576 local=256 x=random(1048576) c=random(32) y=zeros(1048576)
__kernel void chebyshev_series(__global const float *x, __constant float *c, __global float *y)
{
    float t = 2.0f * x[get_global_id(0)] - 1.0f, b1 = 0.0f, b2 = 0.0f;
    for (int k = 31; k > 0; k--) {
        float b = 2.0f * t * b1 - b2 + c[k];
        b2 = b1;
        b1 = b;
    }
    y[get_global_id(0)] = t * b1 - b2 + c[0];
}

// A 1x1 convolution, four channels by four pixels an item.
// time: kernel=pointwise_4x4 global=1024,32 local=32,4 x=random(524288) w=random(16384) y=zeros(524288) pixels=4096 channels=128
__kernel void pointwise_4x4(__global const float *x, __global const float *w, __global float *y, int pixels, int channels)
{
    int p = get_global_id(0) * 4, o = get_global_id(1) * 4;
    float4 a0 = 0.0f, a1 = 0.0f, a2 = 0.0f, a3 = 0.0f;
    for (int c = 0; c < channels; c++) {
        float4 v = vload4(0, x + c * pixels + p);
        a0 += w[o * channels + c] * v;
        a1 += w[(o + 1) * channels + c] * v;
        a2 += w[(o + 2) * channels + c] * v;
        a3 += w[(o + 3) * channels + c] * v;
    }
    vstore4(a0, 0, y + o * pixels + p);
    vstore4(a1, 0, y + (o + 1) * pixels + p);
    vstore4(a2, 0, y + (o + 2) * pixels + p);
    vstore4(a3, 0, y + (o + 3) * pixels + p);
}

// rewrite: pointwise_4x4 -> pointwise_transposed
// time: kernel=pointwise_transposed global=1024,32 local=32,4 x=random(524288) w=random(4096) y=zeros(524288) pixels=4096 channels=128
__kernel void pointwise_transposed(__global const float *x, __global const float4 *w, __global float *y, int pixels, int channels)
{
    int p = get_global_id(0) * 4, o = get_global_id(1), os = get_global_size(1);
    float4 a0 = 0.0f, a1 = 0.0f, a2 = 0.0f, a3 = 0.0f;
    for (int c = 0; c < channels; c++) {
        float4 v = vload4(0, x + c * pixels + p), f = w[c * os + o];
        a0 += f.x * v;
        a1 += f.y * v;
        a2 += f.z * v;
        a3 += f.w * v;
    }
    vstore4(a0, 0, y + o * 4 * pixels + p);
    vstore4(a1, 0, y + (o * 4 + 1) * pixels + p);
    vstore4(a2, 0, y + (o * 4 + 2) * pixels + p);
    vstore4(a3, 0, y + (o * 4 + 3) * pixels + p);
}

// time: kernel=lennard_jones_double global=8192 local=128 p=random(8192) f=zeros(8192) n=1024
// time: kernel=lennard_jones_double global=32768 local=128 p=random(32768) f=zeros(32768) n=1024
__kernel void lennard_jones_double(__global const double4 *p, __global double4 *f, int n)
{
    double4 me = p[get_global_id(0)], s = 0.0;
    for (int j = 0; j < n; j++) {
        double4 d = p[j] - me;
        double r2 = 1.0 / (d.x * d.x + d.y * d.y + d.z * d.z + 0.01);
        double r6 = r2 * r2 * r2;
        s += d * (r6 * (r6 - 0.5) * r2);
    }
    f[get_global_id(0)] = s;
}

// time: kernel=double_polynomials global=524288 local=128 x=random(524288) y=zeros(524288)
__kernel void double_polynomials(__global const double *x, __global double *y)
{
    double v = x[get_global_id(0)], s = 1.0, t = 1.0;
    for (int k = 1; k <= 40; k++) {
        s = fma(s, v, 0.5);
        t = fma(t, -v, s);
    }
    y[get_global_id(0)] = s + t;
}

// time: kernel=naive_transform global=4096 local=64 x=random(4096) y=zeros(4096) n=4096
__kernel void naive_transform(__global const float2 *x, __global float2 *y, int n)
{
    int k = get_global_id(0);
    float2 s = 0.0f;
    for (int i = 0; i < n; i++) {
        float a = -6.2831853f * ((i * k) & (n - 1)) / n;
        float c = cos(a), d = sin(a);
        s += (float2)(x[i].x * c - x[i].y * d, x[i].x * d + x[i].y * c);
    }
    y[k] = s;
}

// rewrite: naive_transform -> native_transform
// time: kernel=native_transform global=4096 local=64 x=random(4096) y=zeros(4096) n=4096
__kernel void native_transform(__global const float2 *x, __global float2 *y, int n)
{
    int k = get_global_id(0);
    float2 s = 0.0f;
    for (int i = 0; i < n; i++) {
        float a = -6.2831853f * ((i * k) & (n - 1)) / n;
        float c = native_cos(a), d = native_sin(a);
        s += (float2)(x[i].x * c - x[i].y * d, x[i].x * d + x[i].y * c);
    }
    y[k] = s;
}

// rewrite: native_transform -> turned_transform
// time: kernel=turned_transform global=4096 local=64 x=random(4096) y=zeros(4096) n=4096
__kernel void turned_transform(__global const float2 *x, __global float2 *y, int n)
{
    int k = get_global_id(0);
    float a = -6.2831853f * k / n;
    float2 s = 0.0f, w = (float2)(1.0f, 0.0f), r = (float2)(cos(a), sin(a));
    for (int i = 0; i < n; i++) {
        float2 v = x[i];
        s += (float2)(v.x * w.x - v.y * w.y, v.x * w.y + v.y * w.x);
        w = (float2)(w.x * r.x - w.y * r.y, w.x * r.y + w.y * r.x);
    }
    y[k] = s;
}

// time: kernel=softplus_many global=2097152 local=256 x=random(2097152) y=zeros(2097152)
__kernel void softplus_many(__global const float *x, __global float *y)
{
    float v = x[get_global_id(0)];
    for (int k = 0; k < 12; k++)
        v = native_log(1.0f + native_exp(v)) - 0.3f;
    y[get_global_id(0)] = v;
}

// --- sparse, gathers ---

// A sparse matrix of 24 entries a row by 64 dense columns, a work-item for each column of a row.
// time: kernel=sparse_by_dense global=64,16384 local=64,4 col=formula(393216,i*40503%16384) val=random(393216) B=random(1048576) C=zeros(1048576)
__kernel void sparse_by_dense(__global const int *col, __global const float *val, __global const float *B, __global float *C)
{
    int c = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = row * 24; k < row * 24 + 24; k++)
        s += val[k] * B[col[k] * 64 + c];
    C[row * 64 + c] = s;
}

// rewrite: sparse_by_dense -> sparse_by_four
// time: kernel=sparse_by_four global=16,16384 local=16,16 col=formula(393216,i*40503%16384) val=random(393216) B=random(262144) C=zeros(262144)
__kernel void sparse_by_four(__global const int *col, __global const float *val, __global const float4 *B, __global float4 *C)
{
    int c = get_global_id(0), row = get_global_id(1);
    float4 s = 0.0f;
    for (int k = row * 24; k < row * 24 + 24; k++)
        s += val[k] * B[col[k] * 16 + c];
    C[row * 16 + c] = s;
}

// time: kernel=unstructured_flux global=1048576 local=128 nb=formula(1048576,(i//4*31+i%4*4099)%1048576) q=random(1048576) flux=zeros(1048576)
__kernel void unstructured_flux(__global const int4 *nb, __global const float *q, __global float *flux)
{
    int i = get_global_id(0);
    int4 n = nb[i];
    float me = q[i];
    flux[i] = (q[n.x] - me) + (q[n.y] - me) + (q[n.z] - me) + (q[n.w] - me);
}

// time: kernel=remap_image global=2048,1024 local=32,8 mx=formula(2097152,i*12289%2048) my=formula(2097152,i//64%1024) in=random(2097152) out=zeros(2097152) w=2048
__kernel void remap_image(__global const ushort *mx, __global const ushort *my, __global const uchar *in, __global uchar *out, int w)
{
    int at = get_global_id(1) * w + get_global_id(0);
    out[at] = in[my[at] * w + mx[at]];
}

// --- few work-groups, latency ---

// time: kernel=lud_diagonal global=16 local=16 m=random(65536) n=256
// time: kernel=lud_diagonal global=1024 local=16 m=random(1048576) n=1024
__kernel void lud_diagonal(__global float *m, int n)
{
    __local float t[16][16];
    int l = get_local_id(0), at = get_group_id(0) * 16 * (n + 1);
    for (int i = 0; i < 16; i++)
        t[i][l] = m[at + i * n + l] + (i == l ? 16.0f : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 15; i++) {
        if (l > i) {
            for (int j = 0; j < i; j++)
                t[l][i] -= t[l][j] * t[j][i];
            t[l][i] /= t[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l > i)
            for (int j = 0; j < i + 1; j++)
                t[i + 1][l] -= t[i + 1][j] * t[j][l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 1; i < 16; i++)
        m[at + i * n + l] = t[i][l];
}

// time: kernel=filter_channels global=64 local=32 x=random(262144) y=zeros(262144) n=4096
// time: kernel=filter_channels global=2048 local=64 x=random(4194304) y=zeros(4194304) n=2048
__kernel void filter_channels(__global const float *x, __global float *y, int n)
{
    int c = get_global_id(0), m = get_global_size(0);
    float a = 0.0f, b = 0.0f;
    for (int i = 0; i < n; i++) {
        float v = x[i * m + c];
        float o = 0.2f * v + 1.4f * a - 0.6f * b;
        b = a;
        a = o;
        y[i * m + c] = o;
    }
}

// rewrite: filter_channels -> filter_rows
// time: kernel=filter_rows global=64 local=32 x=random(262144) y=zeros(262144) n=4096
// time: kernel=filter_rows global=2048 local=64 x=random(4194304) y=zeros(4194304) n=2048
__kernel void filter_rows(__global const float *x, __global float *y, int n)
{
    int c = get_global_id(0);
    float a = 0.0f, b = 0.0f;
    for (int i = 0; i < n; i++) {
        float v = x[c * n + i];
        float o = 0.2f * v + 1.4f * a - 0.6f * b;
        b = a;
        a = o;
        y[c * n + i] = o;
    }
}

// time: kernel=list_heads global=4096 local=32 next=formula(65536,(i+12345)%65536) head=formula(4096,i*16) out=zeros(4096) steps=64
__kernel void list_heads(__global const int *next, __global const int *head, __global int *out, int steps)
{
    int at = head[get_global_id(0)];
    for (int k = 0; k < steps; k++)
        at = next[at];
    out[get_global_id(0)] = at;
}

// time: kernel=substitute_forward global=256 local=256 L=random(65536) b=random(256) n=256
__kernel void substitute_forward(__global const float *L, __global float *b, int n)
{
    __local float x[256];
    int l = get_local_id(0);
    x[l] = b[l];
    for (int k = 0; k < n; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l > k)
            x[l] -= L[k * n + l] * x[k];
    }
    b[l] = x[l];
}

// --- private arrays ---

// Queens on a board of eight: masks in arrays by depth, pushed and popped.
// time: kernel=queens_from_prefix global=4096 local=64 count=zeros(4096) n=8
// time: kernel=queens_from_prefix global=65536 local=128 count=zeros(65536) n=6
__kernel void queens_from_prefix(__global int *count, int n)
{
    uint cols[12], left[12], right[12], todo[12], all = (1u << n) - 1;
    int depth = 0, found = 0;
    cols[0] = get_global_id(0) & 3;
    left[0] = 0;
    right[0] = 0;
    todo[0] = all & ~cols[0];
    while (depth >= 0) {
        uint free = todo[depth];
        if (free == 0) {
            depth--;
            continue;
        }
        uint bit = free & -free;
        todo[depth] = free ^ bit;
        uint c = cols[depth] | bit, l = (left[depth] | bit) << 1, r = (right[depth] | bit) >> 1;
        if (c == all) {
            found++;
            continue;
        }
        depth++;
        cols[depth] = c;
        left[depth] = l;
        right[depth] = r;
        todo[depth] = all & ~(c | l | r);
    }
    count[get_global_id(0)] = found;
}

// Which of 64 classes were seen, as flags in an array.
// time: kernel=distinct_classes global=65536 local=128 in=random(4194304) out=zeros(65536) n=64
__kernel void distinct_classes(__global const uchar *in, __global int *out, int n)
{
    uchar seen[64];
    int i = get_global_id(0), m = get_global_size(0), s = 0;
    for (int k = 0; k < 64; k++)
        seen[k] = 0;
    for (int k = 0; k < n; k++)
        seen[in[k * m + i] & 63] = 1;
    for (int k = 0; k < 64; k++)
        s += seen[k];
    out[i] = s;
}

// rewrite: distinct_classes -> distinct_by_mask
// time: kernel=distinct_by_mask global=65536 local=128 in=random(4194304) out=zeros(65536) n=64
__kernel void distinct_by_mask(__global const uchar *in, __global int *out, int n)
{
    ulong seen = 0;
    int i = get_global_id(0), m = get_global_size(0);
    for (int k = 0; k < n; k++)
        seen |= 1ul << (in[k * m + i] & 63);
    out[i] = popcount(seen);
}

// A tree walked with a stack: both children are pushed, one is popped at once.
// time: kernel=tree_nodes_counted global=65536 local=128 left=formula(1023,(2*i+1)*(i<511)) cut=random(65536) out=zeros(65536)
__kernel void tree_nodes_counted(__global const int *left, __global const uint *cut, __global int *out)
{
    int stack[16], top = 0, seen = 0;
    uint c = cut[get_global_id(0)];
    stack[top++] = 0;
    while (top > 0) {
        int node = stack[--top], child = left[node];
        seen++;
        if (child != 0 && node < 63) {
            stack[top++] = child;
            stack[top++] = child + 1;
        }
    }
    out[get_global_id(0)] = seen + (c & 1);
}

// time: kernel=smallest_eight global=16384 local=64 d=random(4194304) out=zeros(131072) n=256
__kernel void smallest_eight(__global const float *d, __global float *out, int n)
{
    float best[8];
    int i = get_global_id(0), m = get_global_size(0);
    for (int k = 0; k < 8; k++)
        best[k] = FLT_MAX;
    for (int j = 0; j < n; j++) {
        float v = d[j * m + i];
        for (int k = 0; k < 8; k++) {
            float lo = fmin(best[k], v);
            v = fmax(best[k], v);
            best[k] = lo;
        }
    }
    for (int k = 0; k < 8; k++)
        out[k * m + i] = best[k];
}

// time: kernel=histories_of_cells global=131072 local=128 x=random(131072) out=zeros(131072) n=128
__kernel void histories_of_cells(__global const float *x, __global float *out, int n)
{
    float ring[32];
    float v = x[get_global_id(0)], s = 0.0f;
    for (int k = 0; k < 32; k++)
        ring[k] = v * k;
    for (int k = 0; k < n; k++) {
        v = 0.5f * v + 0.25f * ring[k % 32] + 0.1f * ring[(k + 13) % 32];
        ring[k % 32] = v;
        s += v;
    }
    out[get_global_id(0)] = s;
}

// --- coarser, branches, half, tiny ---

// time: kernel=laplace_one global=2048,2048 local=64,4 u=random(4202500) v=zeros(4202500) pitch=2050
__kernel void laplace_one(__global const float *u, __global float *v, int pitch)
{
    int at = (get_global_id(1) + 1) * pitch + get_global_id(0) + 1;
    v[at] = u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch] - 4.0f * u[at];
}

// rewrite: laplace_one -> laplace_four_rows
// time: kernel=laplace_four_rows global=2048,512 local=64,4 u=random(4202500) v=zeros(4202500) pitch=2050
__kernel void laplace_four_rows(__global const float *u, __global float *v, int pitch)
{
    int at = (get_global_id(1) * 4 + 1) * pitch + get_global_id(0) + 1;
    float up = u[at - pitch], me = u[at];
    for (int k = 0; k < 4; k++) {
        float down = u[at + pitch];
        v[at] = u[at - 1] + u[at + 1] + up + down - 4.0f * me;
        up = me;
        me = down;
        at += pitch;
    }
}

// Columns of a matrix whose rows are 4 KB apart, and 4 KB and a line.
// time: kernel=columns_at_pitch global=1024 local=64 a=random(1081344) out=zeros(1024) pitch=1024
// time: kernel=columns_at_pitch global=1024 local=64 a=random(1081344) out=zeros(1024) pitch=1056
__kernel void columns_at_pitch(__global const float *a, __global float *out, int pitch)
{
    int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 512; k++)
        s = fmax(s, a[r * pitch + k]);
    out[r] = s;
}

// time: kernel=odd_even_work global=2097152 local=256 x=random(2097152) y=zeros(2097152)
__kernel void odd_even_work(__global const float *x, __global float *y)
{
    int i = get_global_id(0);
    float v = x[i];
    if (i & 1)
        for (int k = 0; k < 24; k++)
            v = v * 0.9f + 0.3f;
    else
        for (int k = 0; k < 24; k++)
            v = v * v + 0.1f;
    y[i] = v;
}

// rewrite: odd_even_work -> halves_of_work
// time: kernel=halves_of_work global=2097152 local=256 x=random(2097152) y=zeros(2097152)
__kernel void halves_of_work(__global const float *x, __global float *y)
{
    int i = get_global_id(0), h = get_global_size(0) / 2;
    float v = x[i];
    if (i >= h)
        for (int k = 0; k < 24; k++)
            v = v * 0.9f + 0.3f;
    else
        for (int k = 0; k < 24; k++)
            v = v * v + 0.1f;
    y[i] = v;
}

// Half precision kept as ushort, one by one and by eight.
// time: kernel=relu_of_halves global=8388608 local=256 x=random(8388608) y=zeros(8388608)
__kernel void relu_of_halves(__global const ushort *x, __global ushort *y)
{
    int i = get_global_id(0);
    y[i] = x[i] & 0x8000 ? 0 : x[i];
}

// rewrite: relu_of_halves -> relu_by_eight
// time: kernel=relu_by_eight global=1048576 local=256 x=random(1048576) y=zeros(1048576)
__kernel void relu_by_eight(__global const ushort8 *x, __global ushort8 *y)
{
    int i = get_global_id(0);
    ushort8 v = x[i];
    y[i] = v & ~(((v >> (ushort8)(15)) & (ushort8)(1)) * (ushort8)(0xffff));
}

// time: kernel=bias_tiny global=1024 local=64 x=random(1024) b=random(64)
// time: kernel=bias_tiny global=32768 local=256 x=random(32768) b=random(64)
// time: kernel=bias_tiny global=131072 local=32 x=random(131072) b=random(64)
__kernel void bias_tiny(__global float *x, __global const float *b)
{
    int i = get_global_id(0);
    x[i] = fmax(x[i] + b[i & 63], 0.0f);
}

// time: kernel=quaternions_applied global=524288 local=256 q=random(524288) p=random(524288) out=zeros(524288)
__kernel void quaternions_applied(__global const float4 *q, __global const float4 *p, __global float4 *out)
{
    int i = get_global_id(0);
    float4 r = q[i] * rsqrt(dot(q[i], q[i])), v = p[i];
    float3 t = 2.0f * cross(r.xyz, v.xyz);
    out[i] = (float4)(v.xyz + r.w * t + cross(r.xyz, t), v.w);
}

// time: kernel=upsampled_twice global=2048,2048 local=32,8 in=random(1048576) out=zeros(4194304) w=1024
__kernel void upsampled_twice(__global const float *in, __global float *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1);
    float fx = x * 0.5f, fy = y * 0.5f;
    int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, w - 1);
    float a = fx - x0, b = fy - y0;
    float top = mix(in[y0 * w + x0], in[y0 * w + x1], a), low = mix(in[y1 * w + x0], in[y1 * w + x1], a);
    out[y * 2 * w + x] = mix(top, low, b);
}
