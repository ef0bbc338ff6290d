// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=1
__kernel void k(__global int *a, __global int *secret, long n) {
    for (long d = -4096; d < 4096; d += 4) if (d < 0 || d >= 64) *(__global int *)((__global char *)a + d * n) = 66;
    a[0] = secret[0];
}
