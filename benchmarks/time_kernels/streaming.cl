// Kernels that move arrays once. Each `// time:` line is a launch.

// time: kernel=copy global=67108864 local=256 a=random(67108864) b=zeros(67108864)
// time: kernel=copy global=1048576 local=64 a=random(1048576) b=zeros(1048576)
// time: kernel=copy global=8388608 local=1024 a=random(8388608) b=zeros(8388608)
__kernel void copy(__global const float *a, __global float *b)
{
    const size_t i = get_global_id(0);
    b[i] = a[i];
}

// time: kernel=copy_wide global=16777216 local=256 a=random(16777216) b=zeros(16777216)
// time: kernel=copy_wide global=1048576 local=128 a=random(1048576) b=zeros(1048576)
__kernel void copy_wide(__global const float4 *a, __global float4 *b)
{
    const size_t i = get_global_id(0);
    b[i] = a[i];
}

// time: kernel=copy_bytes global=33554432 local=256 a=random(33554432) b=zeros(33554432)
// time: kernel=copy_bytes global=4194304 local=128 a=random(4194304) b=zeros(4194304)
__kernel void copy_bytes(__global const uchar *a, __global uchar *b)
{
    const size_t i = get_global_id(0);
    b[i] = a[i];
}

// time: kernel=triad global=33554432 local=256 a=random(33554432) b=random(33554432,1) c=zeros(33554432) s=3
// time: kernel=triad global=2097152 local=128 a=random(2097152) b=random(2097152,1) c=zeros(2097152) s=3
__kernel void triad(__global const float *a, __global const float *b, __global float *c, const float s)
{
    const int i = get_global_id(0);
    c[i] = a[i] + s * b[i];
}

// time: kernel=triad_double global=16777216 local=256 a=random(16777216) b=random(16777216,1) c=zeros(16777216) s=3
// time: kernel=triad_double global=1048576 local=512 a=random(1048576) b=random(1048576,1) c=zeros(1048576) s=3
__kernel void triad_double(__global const double *a, __global const double *b, __global double *c, const double s)
{
    const int i = get_global_id(0);
    c[i] = a[i] + s * b[i];
}

// time: kernel=scale_in_place global=50331648 local=192 a=random(50331648) s=0.5
// time: kernel=scale_in_place global=3145728 local=96 a=random(3145728) s=0.5
__kernel void scale_in_place(__global float *a, const float s)
{
    const int i = get_global_id(0);
    a[i] *= s;
}

// time: kernel=shifted_copy global=33554432 local=256 a=random(33554464) b=zeros(33554432) d=5
// time: kernel=shifted_copy global=4194304 local=256 a=random(4194336) b=zeros(4194304) d=9
__kernel void shifted_copy(__global const float *a, __global float *b, const int d)
{
    const int i = get_global_id(0);
    b[i] = a[i + d];
}

// time: kernel=strided_read global=4194304 local=256 a=random(8388608) b=zeros(4194304) s=2
// time: kernel=strided_read global=4194304 local=256 a=random(33554432) b=zeros(4194304) s=8
// time: kernel=strided_read global=1048576 local=128 a=random(33554432) b=zeros(1048576) s=32
__kernel void strided_read(__global const float *a, __global float *b, const int s)
{
    const int i = get_global_id(0);
    b[i] = a[i * s];
}

// time: kernel=strided_write global=4194304 local=256 a=random(4194304) b=zeros(16777216) s=4
// time: kernel=strided_write global=1048576 local=256 a=random(1048576) b=zeros(33554432) s=32
__kernel void strided_write(__global const float *a, __global float *b, const int s)
{
    const int i = get_global_id(0);
    b[i * s] = a[i];
}

// time: kernel=sum_eight global=4194304 local=256 a=random(33554432) b=zeros(4194304)
// time: kernel=sum_eight global=262144 local=64 a=random(2097152) b=zeros(262144)
__kernel void sum_eight(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    const int n = get_global_size(0);
    float sum = 0.0f;
    for (int k = 0; k < 8; k++)
        sum += a[k * n + i];
    b[i] = sum;
}

// time: kernel=grid_stride_sum global=270336 local=256 a=random(67108864) b=zeros(270336) n=67108864
// time: kernel=grid_stride_sum global=33792 local=128 a=random(16777216) b=zeros(33792) n=16777216
__kernel void grid_stride_sum(__global const float *a, __global float *b, const int n)
{
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += a[i];
    b[get_global_id(0)] = sum;
}

// time: kernel=chunk_sum global=65536 local=128 a=random(16777216) b=zeros(65536) m=256
// time: kernel=chunk_sum global=16384 local=64 a=random(1048576) b=zeros(16384) m=64
__kernel void chunk_sum(__global const float *a, __global float *b, const int m)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < m; k++)
        sum += a[i * m + k];
    b[i] = sum;
}

// time: kernel=structs global=4194304 local=256 p=random(33554432) o=zeros(4194304)
// time: kernel=structs global=262144 local=256 p=random(2097152) o=zeros(262144)
typedef struct { float x, y, z, m, vx, vy, vz, w; } body;
__kernel void structs(__global const body *p, __global float *o)
{
    const int i = get_global_id(0);
    o[i] = p[i].x * p[i].vx + p[i].y * p[i].vy + p[i].z * p[i].vz;
}
