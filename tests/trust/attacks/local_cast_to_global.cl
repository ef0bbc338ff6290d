// expect: data-race, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=4096
__kernel void k(__global int *a, ulong n) {
    __local int t[8];
    t[get_local_id(0)] = 0;
    __global int *p = (__global int *)(ulong)&t[0];
    p[n] = 66;
    a[0] = p[0];
}
