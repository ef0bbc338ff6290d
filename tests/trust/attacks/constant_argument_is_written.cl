// expect: out-of-bounds-write
// clmap: global=16 local=16 c=iota(4) a=zeros(16) n=4000
__kernel void k(__constant int *c, __global int *a, int n) {
    __global int *p = (__global int *)(ulong)c;
    p[1] = 66;
    p[n] = 66;
    a[0] = c[0];
}
