// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=4611686018427387904
__kernel void k(__global int *a, __global int *secret, long n) {
    a[n] = 66;
    a[n + n + n + n + 20] = 67;
    a[1] = secret[1];
}
