// Kernels in which work-items of a group work together: local memory, barriers, atomics, few groups.

// time: kernel=conflicts global=1048576 local=256 b=zeros(1048576) s=1 n=64
// time: kernel=conflicts global=1048576 local=256 b=zeros(1048576) s=8 n=64
// time: kernel=conflicts global=270336 local=256 b=zeros(270336) s=33 n=256
__kernel void conflicts(__global float *b, const int s, const int n)
{
    __local float t[2048];
    const int l = get_local_id(0);
    for (int k = l; k < 2048; k += get_local_size(0))
        t[k] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += t[(l * s + k) & 2047];
    b[get_global_id(0)] = sum;
}

// time: kernel=local_wide global=524288 local=128 b=zeros(524288) n=64
// time: kernel=local_wide global=67584 local=256 b=zeros(67584) n=256
__kernel void local_wide(__global float *b, const int n)
{
    __local float4 t[256];
    const int l = get_local_id(0);
    t[l] = (float4)(l, l + 1, l + 2, l + 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    float4 sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += t[(l + k) & 127];
    b[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;
}

// time: kernel=group_sum global=16777216 local=256 a=random(16777216) b=zeros(65536)
// time: kernel=group_sum global=1048576 local=128 a=random(1048576) b=zeros(8192)
// time: kernel=group_sum global=4194304 local=1024 a=random(4194304) b=zeros(4096)
__kernel void group_sum(__global const float *a, __global float *b)
{
    __local float t[1024];
    const int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    for (int d = get_local_size(0) / 2; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[l] += t[l + d];
    }
    if (l == 0)
        b[get_group_id(0)] = t[0];
}

// time: kernel=ping_pong global=270336 local=256 a=random(270336) b=zeros(270336) n=128
// time: kernel=ping_pong global=135168 local=1024 a=random(135168) b=zeros(135168) n=128
// time: kernel=ping_pong global=8448 local=64 a=random(8448) b=zeros(8448) n=512
__kernel void ping_pong(__global const float *a, __global float *b, const int n)
{
    __local float t[1024];
    const int l = get_local_id(0), m = get_local_size(0);
    float x = a[get_global_id(0)];
    for (int k = 0; k < n; k++) {
        t[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = 0.5f * (x + t[(l + 1) % m]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    b[get_global_id(0)] = x;
}

// time: kernel=softmax_rows global=1048576 local=256 a=random(4194304) b=zeros(4194304) n=1024
// time: kernel=softmax_rows global=131072 local=128 a=random(1048576) b=zeros(1048576) n=1024
__kernel void softmax_rows(__global const float *a, __global float *b, const int n)
{
    __local float t[256];
    const int l = get_local_id(0), m = get_local_size(0), r = get_group_id(0);
    float most = -1e30f;
    for (int k = l; k < n; k += m)
        most = fmax(most, a[r * n + k]);
    t[l] = most;
    for (int d = m / 2; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[l] = fmax(t[l], t[l + d]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    most = t[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = l; k < n; k += m)
        sum += exp(a[r * n + k] - most);
    t[l] = sum;
    for (int d = m / 2; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[l] += t[l + d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = t[0];
    for (int k = l; k < n; k += m)
        b[r * n + k] = exp(a[r * n + k] - most) / sum;
}

// time: kernel=count_all global=4194304 local=256 a=random(4194304) c=zeros(1)
// time: kernel=count_all global=262144 local=64 a=random(262144) c=zeros(1)
__kernel void count_all(__global const uint *a, __global int *c)
{
    if (a[get_global_id(0)] & 1)
        atomic_inc(c);
}

// time: kernel=bins_global global=4194304 local=256 a=random(4194304) c=zeros(256)
// time: kernel=bins_global global=2097152 local=128 a=random(2097152) c=zeros(256)
__kernel void bins_global(__global const uchar *a, __global int *c)
{
    atomic_inc(&c[a[get_global_id(0)]]);
}

// time: kernel=bins_spread global=4194304 local=256 i=permutation(4194304) c=zeros(4194304)
// time: kernel=bins_spread global=1048576 local=256 i=permutation(1048576) c=zeros(1048576)
__kernel void bins_spread(__global const int *i, __global int *c)
{
    atomic_add(&c[i[get_global_id(0)]], 3);
}

// time: kernel=bins_local global=270336 local=256 a=random(17301504) c=zeros(256) n=64
// time: kernel=bins_local global=67584 local=128 a=random(4325376) c=zeros(256) n=64
__kernel void bins_local(__global const uchar *a, __global int *c, const int n)
{
    __local int t[256];
    for (int k = get_local_id(0); k < 256; k += get_local_size(0))
        t[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++)
        atomic_inc(&t[a[k * get_global_size(0) + get_global_id(0)]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_id(0); k < 256; k += get_local_size(0))
        atomic_add(&c[k], t[k]);
}

// time: kernel=few_groups global=1024 local=256 a=random(1048576) b=zeros(1024) n=1024
// time: kernel=few_groups global=8192 local=512 a=random(8388608) b=zeros(8192) n=1024
// time: kernel=few_groups global=34048 local=256 a=random(8716288) b=zeros(34048) n=256
__kernel void few_groups(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0), w = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s = 0.5f * s + a[k * w + i];
    b[i] = s;
}

// time: kernel=bitonic_step global=8388608 local=256 a=random(16777216) j=1024 k=2048
// time: kernel=bitonic_step global=524288 local=256 a=random(1048576) j=4 k=2048
__kernel void bitonic_step(__global int *a, const int j, const int k)
{
    const int t = get_global_id(0);
    const int i = 2 * t - (t & (j - 1)), o = i + j;
    const int x = a[i], y = a[o];
    const bool up = (i & k) == 0;
    a[i] = (x < y) == up ? x : y;
    a[o] = (x < y) == up ? y : x;
}

// time: kernel=tree_of_eight global=2097152 local=8 a=random(2097152) b=zeros(262144)
// time: kernel=tree_of_eight global=4194304 local=32 a=random(4194304) b=zeros(131072)
__kernel void tree_of_eight(__global const float *a, __global float *b)
{
    __local float t[32];
    const int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        float s = 0.0f;
        for (int k = 0; k < 8; k++)
            s += t[k];
        b[get_group_id(0)] = s;
    }
}
