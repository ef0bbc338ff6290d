// A seventh set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Fields: stencils of odd radii, histograms, scans, sorts, particles, products in five types, images with clamps,
// sparse formats, rays, random numbers, hashing, transforms, transposes, appending, volumes, and short launches.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define RADIUS 3
// time: kernel=star_2d_r3 global=2048,1024 local=32,4 u=random(2097152) v=zeros(2097152) nx=2048 ny=1024
__kernel void star_2d_r3(__global const float *u, __global float *v, int nx, int ny)
{
    int ix = get_global_id(0);
    int iy = get_global_id(1);
    int idx = iy * nx + ix;
    if (ix < RADIUS || iy < RADIUS || ix >= nx - RADIUS || iy >= ny - RADIUS)
        return;
    float acc = -2.72f * u[idx];
    for (int r = 1; r <= RADIUS; r++)
        acc += (u[idx - r] + u[idx + r] + u[idx - r * nx] + u[idx + r * nx]) / (float)(r * r);
    v[idx] = acc;
}

// time: kernel=box_3d_r1 global=128,128,64 local=16,4,4 src=random(1048576) dst=zeros(1048576) NX=128 NY=128 NZ=64
__kernel void box_3d_r1(__global const float *restrict src, __global float *restrict dst, const int NX, const int NY, const int NZ)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float s = 0.0f;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int xx = clamp(x + dx, 0, NX - 1), yy = clamp(y + dy, 0, NY - 1), zz = clamp(z + dz, 0, NZ - 1);
                s += src[(zz * NY + yy) * NX + xx];
            }
    dst[(z * NY + y) * NX + x] = s * (1.0f / 27.0f);
}

// Walks down z with seven planes' values in registers.
// time: kernel=march_z_r3 global=256,256 local=32,8 in=random(8388608) out=zeros(8388608) c=random(4) nz=128
__kernel void march_z_r3(__global const float *in, __global float *out, __constant float *c, int nz)
{
    int nx = get_global_size(0), ny = get_global_size(1);
    int plane = nx * ny, at = get_global_id(1) * nx + get_global_id(0);
    float m3 = in[at], m2 = in[at + plane], m1 = in[at + 2 * plane], o = in[at + 3 * plane];
    float p1 = in[at + 4 * plane], p2 = in[at + 5 * plane];
    for (int z = 3; z < nz - 3; z++) {
        float p3 = in[at + (z + 3) * plane];
        out[at + z * plane] = c[0] * o + c[1] * (m1 + p1) + c[2] * (m2 + p2) + c[3] * (m3 + p3);
        m3 = m2; m2 = m1; m1 = o; o = p1; p1 = p2; p2 = p3;
    }
}

// time: kernel=fdtd_r5_line global=4194304 local=128 e=random(4194304) h=random(4194304) n=4194304
__kernel void fdtd_r5_line(__global float *e, __global const float *h, uint n)
{
    __local float part[128 + 10];
    uint i = get_global_id(0), l = get_local_id(0);
    part[l + 5] = h[i];
    if (l < 5) {
        part[l] = i >= 5 ? h[i - 5] : 0.0f;
        part[l + 133] = i + 128 < n ? h[i + 128] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float d = 0.0f;
    for (int k = 0; k < 11; k++)
        d += part[l + k] * (k - 5);
    e[i] -= 0.01f * d;
}

#define BINS 256
// time: kernel=hist_uchar4 global=131072 local=256 data=random(2097152) partial=zeros(131072) per=16
__kernel void hist_uchar4(__global const uchar4 *data, __global uint *partial, uint per)
{
    __local uint bins[BINS];
    uint lid = get_local_id(0);
    for (uint b = lid; b < BINS; b += get_local_size(0))
        bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < per; k++) {
        uchar4 v = data[k * get_global_size(0) + get_global_id(0)];
        atomic_inc(&bins[v.x]);
        atomic_inc(&bins[v.y]);
        atomic_inc(&bins[v.z]);
        atomic_inc(&bins[v.w]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = lid; b < BINS; b += get_local_size(0))
        partial[get_group_id(0) * BINS + b] = bins[b];
}

// time: kernel=merge_hist global=256 local=64 partial=random(131072) bins=zeros(256) count=512
__kernel void merge_hist(__global const uint *partial, __global uint *bins, uint count)
{
    uint sum = 0;
    for (uint i = 0; i < count; i++)
        sum += partial[i * BINS + get_global_id(0)];
    bins[get_global_id(0)] = sum;
}

// time: kernel=hist_2d_global global=1048576 local=256 a=formula(1048576,i*7919%64) b=formula(1048576,i*104729%64) counts=zeros(4096)
__kernel void hist_2d_global(__global const int *a, __global const int *b, __global int *counts)
{
    size_t gid = get_global_id(0);
    atomic_add(&counts[a[gid] * 64 + b[gid]], 1);
}

// time: kernel=blelloch global=1048576 local=512 data=random(2097152) sums=zeros(2048)
// time: kernel=blelloch global=4096 local=512 data=random(8192) sums=zeros(8)
__kernel void blelloch(__global int *data, __global int *sums)
{
    __local int temp[1024];
    int thid = get_local_id(0), offset = 1, base = get_group_id(0) * 1024;
    temp[2 * thid] = data[base + 2 * thid];
    temp[2 * thid + 1] = data[base + 2 * thid + 1];
    for (int d = 512; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) {
        sums[get_group_id(0)] = temp[1023];
        temp[1023] = 0;
    }
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + 2 * thid] = temp[2 * thid];
    data[base + 2 * thid + 1] = temp[2 * thid + 1];
}

// time: kernel=add_offsets global=2097152 local=256 data=random(2097152) sums=random(8192)
__kernel void add_offsets(__global int4 *data, __global const int *sums)
{
    data[get_global_id(0)] += sums[get_group_id(0)];
}

// time: kernel=odd_even_local global=262144 local=256 keys=random(524288)
__kernel void odd_even_local(__global uint *keys)
{
    __local uint s[512];
    uint l = get_local_id(0), base = get_group_id(0) * 512;
    s[l] = keys[base + l];
    s[l + 256] = keys[base + l + 256];
    for (uint size = 2; size <= 512; size <<= 1) {
        uint stride = size / 2, offset = l & (stride - 1);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint pos = 2 * l - (l & (stride - 1));
        uint a = s[pos], b = s[pos + stride];
        s[pos] = min(a, b);
        s[pos + stride] = max(a, b);
        for (stride >>= 1; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            pos = 2 * l - (l & (stride - 1));
            if (offset >= stride) {
                a = s[pos - stride];
                b = s[pos];
                s[pos - stride] = min(a, b);
                s[pos] = max(a, b);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[base + l] = s[l];
    keys[base + l + 256] = s[l + 256];
}

// time: kernel=rank_sort global=8192 local=256 in=random(8192) out=zeros(8192) n=8192
__kernel void rank_sort(__global const float *in, __global float *out, int n)
{
    int i = get_global_id(0), pos = 0;
    float mine = in[i];
    for (int j = 0; j < n; j++) {
        float other = in[j];
        pos += (other < mine) || (other == mine && j < i);
    }
    out[pos] = mine;
}

// time: kernel=gravity_direct global=16384 local=128 pos=random(16384) acc=zeros(16384) n=16384
// time: kernel=gravity_direct global=1024 local=64 pos=random(1024) acc=zeros(1024) n=1024
__kernel void gravity_direct(__global const float4 *pos, __global float4 *acc, int n)
{
    int i = get_global_id(0);
    float4 p = pos[i], a = (float4)(0.0f);
    for (int j = 0; j < n; j++) {
        float4 d = pos[j] - p;
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 1e-4f;
        float inv = native_rsqrt(r2);
        a.xyz += d.xyz * (pos[j].w * inv * inv * inv);
    }
    acc[i] = a;
}

// time: kernel=lj_neighbours global=65536 local=128 x=random(65536) list=formula(2097152,(i*37+i//65536*911)%65536) f=zeros(65536) k=32
__kernel void lj_neighbours(__global const float4 *x, __global const int *list, __global float4 *f, int k)
{
    uint i = get_global_id(0), n = get_global_size(0);
    float4 xi = x[i];
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < k; j++) {
        float4 xj = x[list[j * n + i]];
        float dx = xi.x - xj.x, dy = xi.y - xj.y, dz = xi.z - xj.z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 0.5f) {
            float s = 1.0f / (r2 + 0.01f), s3 = s * s * s, w = s3 * (s3 - 0.5f) * s;
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
    }
    f[i] = (float4)(fx, fy, fz, 0);
}

// time: kernel=hgemm_naive global=512,512 local=16,16 A=zeros(262144) B=zeros(262144) C=zeros(262144) n=512
__kernel void hgemm_naive(__global const half *A, __global const half *B, __global half *C, int n)
{
    int col = get_global_id(0), row = get_global_id(1);
    float acc = 0.0f;
    for (int k = 0; k < n; k++)
        acc += vload_half(row * n + k, A) * vload_half(k * n + col, B);
    vstore_half(acc, row * n + col, C);
}

#define T 32
// time: kernel=igemm_tile global=1024,1024 local=32,32 A=random(1048576) B=random(1048576) C=zeros(1048576) N=1024
__kernel void igemm_tile(__global const int *A, __global const int *B, __global int *C, int N)
{
    __local int a[T][T];
    __local int b[T][T];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_group_id(1) * T + ty, col = get_group_id(0) * T + tx;
    int acc = 0;
    for (int t = 0; t < N / T; t++) {
        a[ty][tx] = A[row * N + t * T + tx];
        b[ty][tx] = B[(t * T + ty) * N + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            acc += a[ty][k] * b[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * N + col] = acc;
}

// time: kernel=qgemm_char4 global=512,512 local=16,16 A=random(262144) B=random(262144) C=zeros(262144) k4=512
__kernel void qgemm_char4(__global const char4 *A, __global const char4 *B, __global int *C, int k4)
{
    int n = get_global_id(0), m = get_global_id(1), sum = 0;
    for (int k = 0; k < k4; k++) {
        int4 a = convert_int4(A[m * k4 + k]), b = convert_int4(B[k * get_global_size(0) + n]);
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    C[m * get_global_size(0) + n] = sum;
}

// time: kernel=dgemm_tile global=512,512 local=16,16 A=random(262144) B=random(262144) C=zeros(262144) alpha=1.5 K=512
__kernel void dgemm_tile(__global const double *A, __global const double *B, __global double *C, double alpha, int K)
{
    __local double As[16][17], Bs[16][17];
    int i = get_local_id(1), j = get_local_id(0), n = get_global_size(0);
    double s = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[i][j] = A[get_global_id(1) * K + k0 + j];
        Bs[i][j] = B[(k0 + i) * n + get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < 16; k++)
            s = fma(As[i][k], Bs[k][j], s);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[get_global_id(1) * n + get_global_id(0)] = alpha * s;
}

// time: kernel=sgemm_reg_4x4 global=128,128 local=8,8 A=random(262144) B=random(65536) C=zeros(65536) N=512
__kernel void sgemm_reg_4x4(__global const float *A, __global const float4 *B, __global float4 *C, int N)
{
    int c = get_global_id(0), r = get_global_id(1) * 4, n4 = N / 4;
    float4 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < N; k++) {
        float4 b = B[k * n4 + c];
        s0 += A[r * N + k] * b;
        s1 += A[(r + 1) * N + k] * b;
        s2 += A[(r + 2) * N + k] * b;
        s3 += A[(r + 3) * N + k] * b;
    }
    C[r * n4 + c] = s0;
    C[(r + 1) * n4 + c] = s1;
    C[(r + 2) * n4 + c] = s2;
    C[(r + 3) * n4 + c] = s3;
}

// time: kernel=bilateral_r3 global=1024,768 local=16,16 in=random(786432) out=zeros(786432) w=1024 h=768
__kernel void bilateral_r3(__global const uchar *in, __global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    float centre = in[y * w + x], sum = 0, norm = 0;
    for (int dy = -3; dy <= 3; ++dy)
        for (int dx = -3; dx <= 3; ++dx) {
            float v = in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
            float d = v - centre;
            float weight = native_exp(-(dx * dx + dy * dy) * 0.05f - d * d * 0.001f);
            sum += weight * v;
            norm += weight;
        }
    out[y * w + x] = convert_uchar_sat_rte(sum / norm);
}

// time: kernel=sobel_rgba global=1920,1072 local=8,8 src=random(2058240) dst=zeros(2058240)
__kernel void sobel_rgba(__global const uchar4 *src, __global uchar4 *dst)
{
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0), h = get_global_size(1);
    float4 gx = 0, gy = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            float4 p = convert_float4(src[clamp(y + j, 0, h - 1) * w + clamp(x + i, 0, w - 1)]);
            gx += p * (float)(i * (j == 0 ? 2 : 1));
            gy += p * (float)(j * (i == 0 ? 2 : 1));
        }
    dst[y * w + x] = convert_uchar4_sat(sqrt(gx * gx + gy * gy));
}

// time: kernel=gauss_column_clamped global=1024,1024 local=16,16 in=random(1048576) out=zeros(1048576) weights=random(15) r=7
__kernel void gauss_column_clamped(__global const float *in, __global float *out, __constant float *weights, int r)
{
    int x = get_global_id(1), y = get_global_id(0), h = get_global_size(0);
    float s = 0;
    for (int k = -r; k <= r; k++)
        s += weights[k + r] * in[x * h + min(max(y + k, 0), h - 1)];
    out[x * h + y] = s;
}

// time: kernel=spmv_ell global=131072 local=128 values=random(3145728) cols=formula(3145728,(i*31+i//131072*4099)%131072) x=random(131072) y=zeros(131072) width=24
__kernel void spmv_ell(__global const float *values, __global const int *cols, __global const float *x, __global float *y, int width)
{
    int row = get_global_id(0), rows = get_global_size(0);
    float sum = 0.0f;
    for (int i = 0; i < width; i++) {
        int at = i * rows + row;
        sum += values[at] * x[cols[at]];
    }
    y[row] = sum;
}

// time: kernel=spmv_coo global=1048576 local=256 row=formula(1048576,i//16) col=formula(1048576,i*6007%65536) val=random(1048576) x=random(65536) y=zeros(65536)
__kernel void spmv_coo(__global const int *row, __global const int *col, __global const int *val, __global const int *x, __global int *y)
{
    int i = get_global_id(0);
    atomic_add(&y[row[i]], val[i] * x[col[i]]);
}

// time: kernel=spmv_dia global=524288 local=256 data=random(4718592) offsets=values(-1024,-512,-64,-1,0,1,64,512,1024) x=random(524288) y=zeros(524288) diags=9
__kernel void spmv_dia(__global const float *data, __global const int *offsets, __global const float *x, __global float *y, int diags)
{
    int row = get_global_id(0), n = get_global_size(0);
    float acc = 0;
    for (int d = 0; d < diags; d++) {
        int col = row + offsets[d];
        if (col >= 0 && col < n)
            acc += data[d * n + row] * x[col];
    }
    y[row] = acc;
}

// time: kernel=csr_scalar_rows global=65536 local=64 ptr=formula(65537,i*12) idx=formula(786432,i*2477%65536) val=random(786432) x=random(65536) y=zeros(65536)
__kernel void csr_scalar_rows(__global const int *ptr, __global const int *idx, __global const double *val, __global const double *x, __global double *y)
{
    int r = get_global_id(0);
    double s = 0.0;
    for (int k = ptr[r]; k < ptr[r + 1]; ++k)
        s += val[k] * x[idx[k]];
    y[r] = s;
}

// time: kernel=sdf_rays global=512,384 local=8,8 image=zeros(196608) steps=48
__kernel void sdf_rays(__global uint *image, int steps)
{
    float2 uv = (float2)(get_global_id(0) / 256.0f - 1.0f, get_global_id(1) / 192.0f - 1.0f);
    float3 dir = normalize((float3)(uv, 1.5f)), p = (float3)(0, 0, -3);
    float glow = 0;
    for (int s = 0; s < steps; s++) {
        float3 q = fabs(p) - 0.6f;
        float3 outside = max(q, (float3)(0.0f));
        float d = min(length(outside), length(p) - 0.8f) - 0.05f;
        glow += 0.02f / (1.0f + d * d * 20.0f);
        p += dir * max(d, 0.01f);
    }
    uint c = (uint)(clamp(glow, 0.0f, 1.0f) * 255.0f);
    image[get_global_id(1) * get_global_size(0) + get_global_id(0)] = c | c << 8 | c << 16 | 0xff000000u;
}

// time: kernel=pi_xorshift global=65536 local=64 hits=zeros(65536) rounds=512
__kernel void pi_xorshift(__global uint *hits, uint rounds)
{
    uint s = get_global_id(0) * 2654435769u + 1u, inside = 0;
    for (uint i = 0; i < rounds; i++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float x = s * 2.3283064e-10f;
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        float y = s * 2.3283064e-10f;
        inside += x * x + y * y <= 1.0f ? 1 : 0;
    }
    hits[get_global_id(0)] = inside;
}

// time: kernel=philox_fill global=1048576 local=256 out=zeros(1048576) key=12345
__kernel void philox_fill(__global uint4 *out, uint key)
{
    uint4 c = (uint4)(get_global_id(0), 0, 0, 0);
    uint2 k = (uint2)(key, key ^ 0xbb67ae85u);
    for (int r = 0; r < 10; r++) {
        uint h0 = mul_hi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        uint h1 = mul_hi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = (uint4)(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
        k += (uint2)(0x9e3779b9u, 0xbb67ae85u);
    }
    out[get_global_id(0)] = c;
}

// time: kernel=probe_table global=524288 local=256 keys=formula(524288,i*48271%1000003) table=formula(1048576,i) found=zeros(524288) mask=1048575 limit=8
__kernel void probe_table(__global const uint *keys, __global const uint *table, __global uint *found, uint mask, int limit)
{
    uint key = keys[get_global_id(0)];
    uint slot = (key * 2654435761u >> 7) & mask, result = 0xffffffffu;
    for (int i = 0; i < limit; i++) {
        uint seen = table[(slot + i * i) & mask];
        result = seen == key ? slot : result;
    }
    found[get_global_id(0)] = result;
}

// time: kernel=fft_radix4 global=262144 local=128 in=random(1048576) out=zeros(1048576) p=64
__kernel void fft_radix4(__global const float2 *in, __global float2 *out, int p)
{
    int i = get_global_id(0), t = get_global_size(0), k = i & (p - 1);
    float2 u[4];
    float alpha = -M_PI_F * k / (2 * p);
    for (int m = 0; m < 4; m++) {
        float2 v = in[i + m * t];
        float c, s = sincos(alpha * m, &c);
        u[m] = (float2)(v.x * c - v.y * s, v.x * s + v.y * c);
    }
    float2 a = u[0] + u[2], b = u[0] - u[2], c = u[1] + u[3], d = (u[1] - u[3]).yx * (float2)(1, -1);
    int j = ((i - k) << 2) + k;
    out[j] = a + c;
    out[j + p] = b + d;
    out[j + 2 * p] = a - c;
    out[j + 3 * p] = b - d;
}

// time: kernel=fft_in_local global=131072 local=128 data=random(262144)
// time: kernel=fft_in_local global=2048 local=128 data=random(4096)
__kernel void fft_in_local(__global float2 *data)
{
    __local float2 s[256];
    int l = get_local_id(0), base = get_group_id(0) * 256;
    s[l] = data[base + l];
    s[l + 128] = data[base + l + 128];
    for (int half_size = 1; half_size <= 128; half_size <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int pos = l & (half_size - 1), i = (l - pos) * 2 + pos;
        float angle = -M_PI_F * pos / half_size;
        float c = native_cos(angle), n = native_sin(angle);
        float2 a = s[i], b = s[i + half_size];
        float2 r = (float2)(b.x * c - b.y * n, b.x * n + b.y * c);
        s[i] = a + r;
        s[i + half_size] = a - r;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + l] = s[l];
    data[base + l + 128] = s[l + 128];
}

// time: kernel=transpose_pad8 global=2048,512 local=32,8 in=random(4194304) out=zeros(4194304) width=2048 height=2048
__kernel void transpose_pad8(__global const float *in, __global float *out, int width, int height)
{
    __local float tile[32][33];
    int bx = get_group_id(0) * 32, by = get_group_id(1) * 32, tx = get_local_id(0), ty = get_local_id(1);
    for (int j = 0; j < 32; j += 8)
        tile[ty + j][tx] = in[(by + ty + j) * width + bx + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 32; j += 8)
        out[(bx + ty + j) * height + by + tx] = tile[tx][ty + j];
}

// time: kernel=append_local global=1048576 local=256 in=random(1048576) out=zeros(1048576) count=zeros(1) threshold=0.25
__kernel void append_local(__global const float *in, __global float *out, __global uint *count, float threshold)
{
    __local uint mine, base;
    int gid = get_global_id(0), lid = get_local_id(0);
    if (lid == 0)
        mine = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = in[gid];
    uint place = 0;
    if (v < threshold)
        place = atomic_inc(&mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0)
        base = atomic_add(count, mine) & 0x3ffff;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (v < threshold)
        out[base + place] = v;
}

// time: kernel=conv3d_5 global=96,96,48 local=32,2,2 in=random(520000) k=random(125) out=zeros(442368)
__kernel void conv3d_5(__global const float *in, __constant float *k, __global float *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int w = 100, h = 100;
    float s = 0;
    for (int c = 0; c < 5; c++)
        for (int b = 0; b < 5; b++)
            for (int a = 0; a < 5; a++)
                s += in[((z + c) * h + y + b) * w + x + a] * k[(c * 5 + b) * 5 + a];
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = s;
}

// time: kernel=jacobi_once global=64,64 local=8,8 u=random(4096) f=random(4096) v=zeros(4096)
__kernel void jacobi_once(__global const double *u, __global const double *f, __global double *v)
{
    int i = get_global_id(1), j = get_global_id(0), n = get_global_size(0);
    if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        v[i * n + j] = 0.25 * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] - f[i * n + j]);
}

// time: kernel=norm_one_group global=512 local=512 x=random(262144) result=zeros(1) n=262144
__kernel void norm_one_group(__global const float *x, __global float *result, int n)
{
    __local float s[512];
    int l = get_local_id(0);
    float t = 0.0f;
    for (int i = l; i < n; i += get_local_size(0))
        t += x[i] * x[i];
    s[l] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_size(0) / 2; k > 0; k >>= 1) {
        if (l < k)
            s[l] += s[l + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        *result = sqrt(s[0]);
}

// time: kernel=softmax_small global=512 local=64 z=random(65536) p=zeros(65536) classes=128
__kernel void softmax_small(__global const float *z, __global float *p, int classes)
{
    int r = get_global_id(0);
    float top = -INFINITY, sum = 0;
    for (int c = 0; c < classes; c++)
        top = fmax(top, z[r * classes + c]);
    for (int c = 0; c < classes; c++) {
        float e = exp(z[r * classes + c] - top);
        p[r * classes + c] = e;
        sum += e;
    }
    for (int c = 0; c < classes; c++)
        p[r * classes + c] /= sum;
}

// time: kernel=dct_8x8_item global=16384 local=64 in=random(1048576) out=zeros(1048576)
__kernel void dct_8x8_item(__global const float *in, __global float *out)
{
    int b = get_global_id(0), n = get_global_size(0);
    float m[64];
    for (int i = 0; i < 64; i++)
        m[i] = in[i * n + b];
    for (int r = 0; r < 8; r++)
        for (int k = 0; k < 4; k++) {
            float s = m[r * 8 + k] + m[r * 8 + 7 - k], d = m[r * 8 + k] - m[r * 8 + 7 - k];
            m[r * 8 + k] = s;
            m[r * 8 + 7 - k] = d * 0.7071f;
        }
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 4; k++) {
            float s = m[k * 8 + c] + m[(7 - k) * 8 + c], d = m[k * 8 + c] - m[(7 - k) * 8 + c];
            m[k * 8 + c] = s;
            m[(7 - k) * 8 + c] = d * 0.7071f;
        }
    for (int i = 0; i < 64; i++)
        out[i * n + b] = m[i];
}

// time: kernel=align_in_local global=16384 local=64 a=random(16384) b=random(16384) best=zeros(256)
__kernel void align_in_local(__global const uchar *a, __global const uchar *b, __global int *best)
{
    __local int row[3][65];
    __local uchar text[64];
    int l = get_local_id(0), g = get_group_id(0);
    uchar mine = a[g * 64 + l] & 3;
    text[l] = b[g * 64 + l] & 3;
    for (int k = 0; k < 3; k++)
        row[k][l + 1] = 0;
    if (l < 3)
        row[l][0] = 0;
    int top = 0;
    for (int d = 0; d < 127; d++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int j = d - l;
        if (j >= 0 && j < 64) {
            int up = row[(d + 2) % 3][l], diagonal = row[(d + 1) % 3][l], left = row[(d + 2) % 3][l + 1];
            int v = max(0, max(diagonal + (mine == text[j] ? 2 : -1), max(up, left) - 1));
            row[d % 3][l + 1] = v;
            top = max(top, v);
        }
    }
    if (l == 63)
        best[g] = top;
}

// time: kernel=parents_up global=262144 local=256 parent=formula(262144,i*5//8) root=zeros(262144) hops=24
__kernel void parents_up(__global const int *parent, __global int *root, int hops)
{
    int v = get_global_id(0);
    for (int h = 0; h < hops; h++)
        v = parent[v];
    root[get_global_id(0)] = v;
}

// time: kernel=follow_lists global=4096 local=64 next=formula(1048576,(i*40503+12345)%1048576) value=random(1048576) sums=zeros(4096) length=64
__kernel void follow_lists(__global const uint *next, __global const float *value, __global float *sums, int length)
{
    uint at = get_global_id(0) * 256;
    float s = 0;
    for (int i = 0; i < length; i++) {
        s += value[at];
        at = next[at];
    }
    sums[get_global_id(0)] = s;
}

// time: kernel=lut_trilinear global=1048576 local=256 in=random(3145728) cube=random(107811) out=zeros(3145728)
__kernel void lut_trilinear(__global const float *in, __global const float *cube, __global float *out)
{
    int i = get_global_id(0);
    float3 c = vload3(i, in) * 31.999f;
    int3 b = convert_int3(c);
    float3 f = c - convert_float3(b);
    float3 s = 0;
    for (int k = 0; k < 8; k++) {
        int x = b.x + (k & 1), y = b.y + (k >> 1 & 1), z = b.z + (k >> 2);
        float w = (k & 1 ? f.x : 1 - f.x) * (k & 2 ? f.y : 1 - f.y) * (k & 4 ? f.z : 1 - f.z);
        s += w * vload3((z * 33 + y) * 33 + x, cube);
    }
    vstore3(s, i, out);
}

// time: kernel=norm_item_per_row global=8192 local=128 x=random(2097152) y=zeros(2097152) g=random(256) d=256
__kernel void norm_item_per_row(__global const float *x, __global float *y, __global const float *g, int d)
{
    int row = get_global_id(0);
    float mean = 0, var = 0;
    for (int i = 0; i < d; i++)
        mean += x[row * d + i];
    mean /= d;
    for (int i = 0; i < d; i++) {
        float t = x[row * d + i] - mean;
        var += t * t;
    }
    float inv = rsqrt(var / d + 1e-5f);
    for (int i = 0; i < d; i++)
        y[row * d + i] = (x[row * d + i] - mean) * inv * g[i];
}
