// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=3
__kernel void k(__global int *a, int n) {
    int t[-5];
    __local int u[1 - 9];
    t[n] = 1;
    u[n] = 66;
    a[0] = t[n] + u[0];
}
