// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=4096
__kernel void k(__global int *a, ulong n) {
    __local int *p = (__local int *)(ulong)a;
    p[n] = 66;
    a[0] = p[1];
}
