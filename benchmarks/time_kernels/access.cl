// Kernels bound by how they walk memory: indirect, uniform, cached, chased, private.

// time: kernel=gather global=16777216 local=256 a=random(16777216) i=permutation(16777216) b=zeros(16777216)
// time: kernel=gather global=1048576 local=256 a=random(1048576) i=permutation(1048576) b=zeros(1048576)
// time: kernel=gather global=65536 local=128 a=random(65536) i=permutation(65536) b=zeros(65536)
__kernel void gather(__global const float *a, __global const int *i, __global float *b)
{
    const int x = get_global_id(0);
    b[x] = a[i[x]];
}

// time: kernel=gather_wide global=4194304 local=256 a=random(4194304) i=permutation(4194304) b=zeros(4194304)
// time: kernel=gather_wide global=262144 local=64 a=random(262144) i=permutation(262144) b=zeros(262144)
__kernel void gather_wide(__global const float4 *a, __global const int *i, __global float4 *b)
{
    const int x = get_global_id(0);
    b[x] = a[i[x]];
}

// time: kernel=scatter global=8388608 local=256 a=random(8388608) i=permutation(8388608) b=zeros(8388608)
// time: kernel=scatter global=524288 local=128 a=random(524288) i=permutation(524288) b=zeros(524288)
__kernel void scatter(__global const float *a, __global const int *i, __global float *b)
{
    const int x = get_global_id(0);
    b[i[x]] = a[x];
}

// time: kernel=table_lookup global=4194304 local=256 t=random(1024) b=zeros(4194304) n=32
// time: kernel=table_lookup global=262144 local=256 t=random(1024) b=zeros(262144) n=64
__kernel void table_lookup(__global const float *t, __global float *b, const int n)
{
    const uint x = get_global_id(0);
    uint h = x * 2654435761u;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += t[h >> 22];
        h = h * 1664525u + 1013904223u;
    }
    b[x] = s;
}

// time: kernel=uniform_walk global=67584 local=256 a=random(65536) b=zeros(67584) n=4096
// time: kernel=uniform_walk global=1048576 local=128 a=random(65536) b=zeros(1048576) n=512
// time: kernel=uniform_walk global=4224 local=32 a=random(65536) b=zeros(4224) n=8192
__kernel void uniform_walk(__global const float *a, __global float *b, const int n)
{
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[k];
    b[get_global_id(0)] = s;
}

// time: kernel=chase global=32 local=32 i=formula(1048576,(i*7919+1)%1048576) b=zeros(32) n=4096 m=1048576
// time: kernel=chase global=4224 local=32 i=formula(4194304,(i*7919+1)%4194304) b=zeros(4224) n=2048 m=4194304
// time: kernel=chase global=67584 local=128 i=formula(16384,(i*7919+1)%16384) b=zeros(67584) n=512 m=16384
__kernel void chase(__global const int *i, __global int *b, const int n, const int m)
{
    int at = get_global_id(0) % m;
    for (int k = 0; k < n; k++)
        at = i[at];
    b[get_global_id(0)] = at;
}

// time: kernel=row_walk global=4096 local=128 a=random(16777216) b=zeros(4096) n=4096
// time: kernel=row_walk global=16384 local=256 a=random(16777216) b=zeros(16384) n=1024
__kernel void row_walk(__global const float *a, __global float *b, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k];
    b[r] = s;
}

// time: kernel=column_walk global=4096 local=128 a=random(16777216) b=zeros(4096) n=4096
// time: kernel=column_walk global=16384 local=256 a=random(16777216) b=zeros(16384) n=1024
__kernel void column_walk(__global const float *a, __global float *b, const int n)
{
    const int c = get_global_id(0);
    const int w = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[k * w + c];
    b[c] = s;
}

// time: kernel=private_sort global=262144 local=128 a=random(4194304) b=zeros(262144)
// time: kernel=private_sort global=1048576 local=64 a=random(16777216) b=zeros(1048576)
__kernel void private_sort(__global const float *a, __global float *b)
{
    const int i = get_global_id(0), n = get_global_size(0);
    float v[16];
    for (int k = 0; k < 16; k++)
        v[k] = a[k * n + i];
    for (int p = 1; p < 16; p++)
        for (int k = 0; k < 16 - p; k++) {
            const float lo = fmin(v[k], v[k + 1]), hi = fmax(v[k], v[k + 1]);
            v[k] = lo;
            v[k + 1] = hi;
        }
    b[i] = v[7] + v[8];
}

// time: kernel=private_counts global=524288 local=128 a=random(33554432) b=zeros(524288)
// time: kernel=private_counts global=65536 local=64 a=random(4194304) b=zeros(65536)
__kernel void private_counts(__global const uchar *a, __global int *b)
{
    const int i = get_global_id(0), n = get_global_size(0);
    int count[16];
    for (int k = 0; k < 16; k++)
        count[k] = 0;
    for (int k = 0; k < 64; k++)
        count[a[k * n + i] >> 4]++;
    int best = 0;
    for (int k = 1; k < 16; k++)
        best = count[k] > count[best] ? k : best;
    b[i] = best;
}

// time: kernel=triangle global=4096 local=64 a=random(16777216) b=zeros(4096) n=4096
// time: kernel=triangle global=2048 local=128 a=random(4194304) b=zeros(2048) n=2048
__kernel void triangle(__global const float *a, __global float *b, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k <= r; k++)
        s += a[k * n + r];
    b[r] = s;
}

// time: kernel=wide_rows global=262144 local=128 a=random(4194304) b=zeros(262144)
// time: kernel=wide_rows global=1048576 local=256 a=random(16777216) b=zeros(1048576)
__kernel void wide_rows(__global const float4 *a, __global float *b)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 4; k++) {
        const float4 v = a[4 * i + k];
        s += v.x * v.y + v.z * v.w;
    }
    b[i] = s;
}

// time: kernel=ell_rows global=262144 local=128 v=random(4194304) c=formula(4194304,(i*613)%262144) x=random(262144) y=zeros(262144) m=16
// time: kernel=ell_rows global=1048576 local=256 v=random(16777216) c=formula(16777216,(i*613)%1048576) x=random(1048576) y=zeros(1048576) m=16
__kernel void ell_rows(__global const float *v, __global const int *c, __global const float *x, __global float *y,
                       const int m)
{
    const int r = get_global_id(0), n = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < m; k++)
        s += v[k * n + r] * x[c[k * n + r]];
    y[r] = s;
}
