// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=1152921504606846976
__kernel void k(__global int *a, ulong n) {
    vstore16((int16)66, n, a);
    vstore3((int3)66, n * 3, a);
    vstore2((int2)66, -1, a);
}
