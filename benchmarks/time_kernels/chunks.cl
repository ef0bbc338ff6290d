// Sums of which each work-item adds a contiguous chunk.

// time: kernel=chunk_tree global=65536 local=256 a=random(16777216) out=zeros(256) n=16777216 chunk=256
// time: kernel=chunk_tree global=8192 local=128 a=random(4194304) out=zeros(64) n=4194000 chunk=512
__kernel void chunk_tree(__global const float *a, __global float *out, const int n, const int chunk)
{
    __local float part[256];
    const int l = get_local_id(0), start = get_global_id(0) * chunk;
    float s = 0.0f;
    for (int i = start; i < min(start + chunk, n); i++)
        s += a[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = get_local_size(0) / 2; w > 0; w >>= 1) {
        if (l < w)
            part[l] += part[l + w];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

// time: kernel=chunk_squares global=33792 local=256 a=random(8650752) out=zeros(132) n=8650752 chunk=256
__kernel void chunk_squares(__global const float *a, __global float *out, const int n, const int chunk)
{
    __local float part[256];
    const int l = get_local_id(0), start = get_global_id(0) * chunk;
    float s = 0.0f;
    for (int i = start; i < start + chunk && i < n; i++)
        s += a[i] * a[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = get_local_size(0) / 2; w > 0; w >>= 1) {
        if (l < w)
            part[l] += part[l + w];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

// time: kernel=chunk_dot global=131072 local=128 a=random(8388608) b=random(8388608,1) out=zeros(1024) n=8388608
__kernel void chunk_dot(__global const float *a, __global const float *b, __global float *out, const int n)
{
    __local float part[128];
    const int l = get_local_id(0), start = get_global_id(0) * 64, end = min(start + 64, n);
    float s = 0.0f;
    for (int i = start; i < end; i++)
        s += a[i] * b[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = 64; w > 0; w /= 2) {
        if (l < w)
            part[l] += part[l + w];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}

// time: kernel=chunk_count global=65536 local=256 a=random(16777216) out=zeros(1) n=16777216 chunk=256
// time: kernel=chunk_count global=4096 local=64 a=random(1048576) out=zeros(1) n=1048576 chunk=256
__kernel void chunk_count(__global const int *a, __global int *out, const int n, const int chunk)
{
    const int start = get_global_id(0) * chunk;
    int s = 0;
    for (int i = start; i < min(start + chunk, n); i++)
        s += a[i] & 1;
    atomic_add(out, s);
}

// time: kernel=chunk_last_adds global=32768 local=256 a=random(8388608) out=zeros(128) n=8388608 chunk=256
__kernel void chunk_last_adds(__global const int *a, __global int *out, const int n, const int chunk)
{
    __local int part[256];
    const int l = get_local_id(0), start = get_global_id(0) * chunk;
    int s = 0;
    for (int i = start; i < min(start + chunk, n); i++)
        s += a[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        int all = 0;
        for (int i = 0; i < get_local_size(0); i++)
            all += part[i];
        out[get_group_id(0)] = all;
    }
}

// time: kernel=chunk_breaks global=65536 local=64 a=random(4194304) out=zeros(1024) n=4194304
__kernel void chunk_breaks(__global const int *a, __global int *out, const int n)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * 64;
    int s = 0;
    for (int i = start; i < start + 64; i++) {
        if (i >= n)
            break;
        s += a[i];
    }
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int w = 32; w > 0; w >>= 1) {
        if (l < w)
            part[l] += part[l + w];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
