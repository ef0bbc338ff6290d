// expect: out-of-bounds-write
// clmap: global=16 local=16 a=formula(16,1970324836974592+i*8) n=0
__kernel void k(__global ulong *a, long n) {
    __global int *p = *(__global int * __global *)(a + 3);
    *p = 66;
    a[n] = 1;
}
