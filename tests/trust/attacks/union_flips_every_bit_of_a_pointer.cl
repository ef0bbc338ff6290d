// expect: data-race, out-of-bounds-read, out-of-bounds-write
typedef union {
    __global int *p;
    ulong v;
} U;
// clmap: global=16 local=16 a=zeros(16) n=1
__kernel void k(__global int *a, long n) {
    for (int b = 8; b < 64; b++) {
        U u;
        u.p = a;
        u.v ^= (ulong)n << b;
        a[0] += *u.p;
        *u.p = 66;
    }
}
