// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=16
__kernel void k(__global int *a, __global int *secret, int n) {
    atomic_add(&a[n], 66);
    atomic_xchg(&a[-n], 66);
    atomic_cmpxchg(&a[n * 9999], 0, 66);
    atomic_inc((volatile __global int *)(ulong)n);
    a[0] = secret[0];
}
