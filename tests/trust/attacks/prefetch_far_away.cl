// expect: none
// clmap: global=16 local=16 a=zeros(16) n=1152921504606846976
__kernel void k(__global int *a, ulong n) {
    prefetch(a + n, n);
    a[0] = 1;
}
