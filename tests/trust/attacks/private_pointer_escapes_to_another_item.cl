// expect: data-race, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(4) b=zeros(16)
__kernel void k(__global ulong *a, __global int *b) {
    int t[4] = {1, 2, 3, 4};
    a[0] = (ulong)&t[0];
    barrier(CLK_GLOBAL_MEM_FENCE);
    int *p = (int *)a[0];
    p[get_local_id(0) * 100] = 66;
    b[0] = t[0];
}
