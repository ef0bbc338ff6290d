// Places that many SIMD groups go to: flags that all set, counters in local memory, tables that all lanes read.

// time: kernel=flag_by_all global=4194304 local=256 flag=zeros(32)
// time: kernel=flag_by_all global=524288 local=256 flag=zeros(32)
// time: kernel=flag_by_all global=4194304 local=64 flag=zeros(32)
__kernel void flag_by_all(__global int *flag) { flag[0] = 1; }

// time: kernel=flag_by_one_lane global=4194304 local=256 flag=zeros(32)
__kernel void flag_by_one_lane(__global int *flag) { if ((get_local_id(0) & 31) == 0) flag[0] = 1; }

// time: kernel=flag_if_larger global=4194304 local=256 x=formula(4194304,i%1000) flag=zeros(32)
__kernel void flag_if_larger(__global const int *x, __global int *flag) { if (x[get_global_id(0)] > 500) *flag = 1; }

// time: kernel=flags_in_turn global=4194304 local=256 flag=zeros(65536) n=2
// time: kernel=flags_in_turn global=4194304 local=256 flag=zeros(65536) n=4
// time: kernel=flags_in_turn global=4194304 local=256 flag=zeros(65536) n=16
// time: kernel=flags_in_turn global=4194304 local=256 flag=zeros(65536) n=128
// time: kernel=flags_in_turn global=4194304 local=256 flag=zeros(65536) n=2048
__kernel void flags_in_turn(__global int *flag, int n) { flag[(get_global_id(0) / 32 % n) * 32] = 1; }

// time: kernel=word_of_each_group global=4194304 local=256 flag=zeros(16384)
__kernel void word_of_each_group(__global int *flag) { flag[get_group_id(0)] = 1; }

// time: kernel=count_in_local global=4194304 local=256 x=random(4194304) total=zeros(16384)
__kernel void count_in_local(__global const int *x, __global int *total)
{
    __local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&n, x[get_global_id(0)] & 7);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) total[get_group_id(0)] = n;
}

// time: kernel=slots_in_local global=4194304 local=256 x=random(4194304) out=zeros(4194304)
__kernel void slots_in_local(__global const int *x, __global int *out)
{
    __local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int at = atomic_inc(&n);
    out[get_group_id(0) * 256 + at] = x[get_global_id(0)];
}

// time: kernel=greatest_in_local global=4194304 local=256 x=random(4194304) total=zeros(16384)
__kernel void greatest_in_local(__global const int *x, __global int *total)
{
    __local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_max(&n, x[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) total[get_group_id(0)] = n;
}

// time: kernel=eight_counts_in_local global=4194304 local=256 x=formula(4194304,i) total=zeros(131072)
__kernel void eight_counts_in_local(__global const int *x, __global int *total)
{
    __local int n[8];
    if (get_local_id(0) < 8) n[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&n[x[get_global_id(0)] & 7]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 8) total[get_group_id(0) * 8 + get_local_id(0)] = n[get_local_id(0)];
}

// time: kernel=copy_in_local global=4194304 local=256 x=random(4194304) total=zeros(16384)
__kernel void copy_in_local(__global const int *x, __global int *total)
{
    __local int n;
    if (get_local_id(0) == 0) n = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x[get_global_id(0)] == 12345) n = 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) total[get_group_id(0)] = n;
}

// time: kernel=table_of_words global=65536 local=128 t=random(1024) o=zeros(65536) n=1024
// time: kernel=table_of_words global=1048576 local=256 t=random(1024) o=zeros(1048576) n=256
__kernel void table_of_words(__constant float *t, __global float *o, int n)
{
    float x = get_global_id(0) * 1e-6f, s = 0;
    for (int i = 0; i < n; i++)
        s = fmax(s, t[i] * x);
    o[get_global_id(0)] = s;
}

// time: kernel=table_of_points global=65536 local=128 t=random(256) o=zeros(65536) n=256
// time: kernel=table_of_points global=1048576 local=256 t=random(256) o=zeros(1048576) n=64
__kernel void table_of_points(__constant float4 *t, __global float *o, int n)
{
    float x = get_global_id(0) * 1e-6f, s = 1e9f;
    for (int i = 0; i < n; i++) {
        float4 p = t[i];
        s = fmin(s, p.x * x + p.y + p.z * p.w);
    }
    o[get_global_id(0)] = s;
}

// time: kernel=table_by_lane global=1048576 local=256 t=random(256) o=zeros(1048576) n=32
__kernel void table_by_lane(__constant float *t, __global float *o, int n)
{
    float s = 0;
    int l = get_local_id(0) & 31;
    for (int i = 0; i < n; i++)
        s += t[(i + l) & 255];
    o[get_global_id(0)] = s;
}

// time: kernel=tree_of_two global=4194304 local=256 x=random(4194304) a=zeros(16384) b=zeros(16384)
__kernel void tree_of_two(__global const float *x, __global float *a, __global float *b)
{
    __local float s[256], q[256];
    int l = get_local_id(0);
    s[l] = x[get_global_id(0)];
    q[l] = s[l] * s[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 128; d > 0; d >>= 1) {
        if (l < d) {
            s[l] += s[l + d];
            q[l] += q[l + d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        a[get_group_id(0)] = s[0];
        b[get_group_id(0)] = q[0];
    }
}

// time: kernel=tree_of_one global=4194304 local=256 x=random(4194304) a=zeros(16384)
__kernel void tree_of_one(__global const float *x, __global float *a)
{
    __local float s[256];
    int l = get_local_id(0);
    s[l] = x[get_global_id(0)];
    for (int d = 128; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) s[l] += s[l + d];
    }
    if (l == 0) a[get_group_id(0)] = s[0];
}
