// What partial stores cost: elements far apart, and records whose fields are stored one after the other.

// time: kernel=store_every global=1048576 local=256 o=zeros(2097152) s=2
// time: kernel=store_every global=1048576 local=256 o=zeros(4194304) s=4
// time: kernel=store_every global=1048576 local=256 o=zeros(8388608) s=8
// time: kernel=store_every global=1048576 local=256 o=zeros(16777216) s=16
// time: kernel=store_every global=1048576 local=256 o=zeros(34603008) s=33
// time: kernel=store_every global=16777216 local=256 o=zeros(134217728) s=8
__kernel void store_every(__global float *o, const int s)
{
    o[get_global_id(0) * s] = 1.0f;
}

// time: kernel=store_two global=2097152 local=256 o=zeros(4194304) s=2
// time: kernel=store_two global=1048576 local=256 o=zeros(4194304) s=4
// time: kernel=store_two global=1048576 local=256 o=zeros(9437184) s=9
__kernel void store_two(__global float *o, const int s)
{
    const int i = get_global_id(0) * s;
    o[i] = 1.0f;
    o[i + 1] = 2.0f;
}

// time: kernel=store_four global=1048576 local=256 o=zeros(4194304) s=4
// time: kernel=store_four global=1048576 local=256 o=zeros(5242880) s=5
// time: kernel=store_four global=1048576 local=256 o=zeros(8388608) s=8
// time: kernel=store_four global=262144 local=256 o=zeros(4194304) s=16
__kernel void store_four(__global float *o, const int s)
{
    const int i = get_global_id(0) * s;
    o[i] = 1.0f;
    o[i + 1] = 2.0f;
    o[i + 2] = 3.0f;
    o[i + 3] = 4.0f;
}

// time: kernel=store_eight global=1048576 local=256 o=zeros(8388608) s=8
// time: kernel=store_eight global=1048576 local=256 o=zeros(9437184) s=9
// time: kernel=store_eight global=262144 local=256 o=zeros(4194304) s=16
// time: kernel=store_eight global=262144 local=256 o=zeros(8650752) s=33
__kernel void store_eight(__global float *o, const int s)
{
    const int i = get_global_id(0) * s;
    for (int k = 0; k < 8; k++)
        o[i + k] = k;
}

// time: kernel=store_pairs_by_two global=2097152 local=256 o=zeros(4194304)
__kernel void store_pairs_by_two(__global float2 *o)
{
    const int i = get_global_id(0), at = 2 * i - (i & 1);
    o[at] = (float2)(1.0f, 2.0f);
    o[at + 2] = (float2)(3.0f, 4.0f);
}

// time: kernel=load_every global=1048576 local=256 a=random(2097152) o=zeros(1048576) s=2
// time: kernel=load_every global=1048576 local=256 a=random(4194304) o=zeros(1048576) s=4
// time: kernel=load_every global=1048576 local=256 a=random(8388608) o=zeros(1048576) s=8
// time: kernel=load_every global=1048576 local=256 a=random(16777216) o=zeros(1048576) s=16
__kernel void load_every(__global const float *a, __global float *o, const int s)
{
    o[get_global_id(0)] = a[get_global_id(0) * s];
}

// time: kernel=store_three global=1048576 local=256 o=zeros(8388608) s=8
// time: kernel=store_three global=16777216 local=256 o=zeros(134217728) s=8
__kernel void store_three(__global float *o, const int s)
{
    const int i = get_global_id(0) * s;
    o[i] = 1.0f;
    o[i + 1] = 2.0f;
    o[i + 2] = 3.0f;
}

// time: kernel=store_doubles global=1048576 local=256 o=zeros(4194304) s=4
// time: kernel=store_doubles global=1048576 local=256 o=zeros(8388608) s=8
__kernel void store_doubles(__global double *o, const int s)
{
    o[get_global_id(0) * s] = 1.0;
}

// time: kernel=store_bytes global=1048576 local=256 o=zeros(4194304) s=4
// time: kernel=store_bytes global=1048576 local=256 o=zeros(33554432) s=32
__kernel void store_bytes(__global uchar *o, const int s)
{
    o[get_global_id(0) * s] = 1;
}

// time: kernel=store_wide global=1048576 local=256 o=zeros(2097152) s=2
// time: kernel=store_wide global=1048576 local=256 o=zeros(1048576) s=1
__kernel void store_wide(__global float4 *o, const int s)
{
    o[get_global_id(0) * s] = (float4)(1.0f);
}
