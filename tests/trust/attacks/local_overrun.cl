// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=100000
__kernel void k(__global int *a, int n) {
    __local int t[8];
    __local int after[8];
    after[get_local_id(0)] = 7;
    t[get_local_id(0) + n] = 66;
    t[(int)get_local_id(0) - n] = 66;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = after[get_local_id(0)];
}
