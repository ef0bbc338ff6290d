// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=1048576
__kernel void k(__global int *a, __global int *secret, long n) {
    ulong v = (ulong)a;
    __global int *p = (__global int *)(v + n);
    *p = 66;
    a[1] = secret[1];
}
