// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=4096
__kernel void k(__global int *a, __global int *secret, long n) {
    __global int *p = (__global int *)n;
    *p = 1;
    a[0] = secret[0];
}
