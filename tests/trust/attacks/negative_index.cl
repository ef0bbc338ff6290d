// expect: out-of-bounds-write
// clmap: global=16 local=16 secret=iota(16) a=zeros(16) n=-1
__kernel void k(__global int *secret, __global int *a, int n) {
    a[n] = 66;
    a[n - 15] = 66;
    a[n * 1000] = 66;
    a[0] = secret[0];
}
