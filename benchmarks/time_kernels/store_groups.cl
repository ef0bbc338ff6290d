// Microbenchmarks of scattered stores and atomics by the size of the work-groups that make them.

// time: kernel=three_by_groups global=1048576 local=32 o=zeros(8388608)
// time: kernel=three_by_groups global=1048576 local=64 o=zeros(8388608)
// time: kernel=three_by_groups global=1048576 local=128 o=zeros(8388608)
// time: kernel=three_by_groups global=1048576 local=256 o=zeros(8388608)
// time: kernel=three_by_groups global=1048576 local=512 o=zeros(8388608)
// time: kernel=three_by_groups global=1048576 local=1024 o=zeros(8388608)
__kernel void three_by_groups(__global float *o)
{
    const int i = get_global_id(0) * 8;
    o[i] = 1.0f;
    o[i + 1] = 2.0f;
    o[i + 2] = 3.0f;
}


// time: kernel=one_by_groups global=4194304 local=64 o=zeros(33554432)
// time: kernel=one_by_groups global=4194304 local=128 o=zeros(33554432)
// time: kernel=one_by_groups global=4194304 local=256 o=zeros(33554432)
// time: kernel=one_by_groups global=4194304 local=1024 o=zeros(33554432)
__kernel void one_by_groups(__global float *o)
{
    o[get_global_id(0) * 8] = 1.0f;
}

// time: kernel=eight_by_groups global=1048576 local=64 o=zeros(8388608)
// time: kernel=eight_by_groups global=1048576 local=128 o=zeros(8388608)
// time: kernel=eight_by_groups global=1048576 local=256 o=zeros(8388608)
// time: kernel=eight_by_groups global=1048576 local=1024 o=zeros(8388608)
__kernel void eight_by_groups(__global float *o)
{
    const int i = get_global_id(0) * 8;
    for (int k = 0; k < 8; k++)
        o[i + k] = k;
}

// time: kernel=scattered_adds global=4194304 local=64 o=zeros(16777216)
// time: kernel=scattered_adds global=4194304 local=128 o=zeros(16777216)
// time: kernel=scattered_adds global=4194304 local=256 o=zeros(16777216)
// time: kernel=scattered_adds global=4194304 local=1024 o=zeros(16777216)
__kernel void scattered_adds(__global int *o)
{
    uint i = get_global_id(0);
    atomic_add(&o[i * 2654435761u >> 8], 1);
}
