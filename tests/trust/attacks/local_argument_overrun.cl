// expect: out-of-bounds-write, uninitialised-read
// clmap: global=16 local=16 t=local(4) a=zeros(16) n=4
__kernel void k(__local int *t, __global int *a, int n) {
    t[n] = 66;
    t[n * 4096] = 66;
    a[0] = t[0];
}
