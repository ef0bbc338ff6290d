// expect: out-of-bounds-write
typedef union {
    __global int *p;
    ulong v;
} U;
// clmap: global=16 local=16 a=zeros(16) secret=iota(16) n=12345678
__kernel void k(__global int *a, __global int *secret, long n) {
    U u;
    u.v = (ulong)n;
    *u.p = 66;
    a[0] = secret[0];
}
