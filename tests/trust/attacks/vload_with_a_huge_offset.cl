// expect: out-of-bounds-read
// clmap: global=16 local=16 a=zeros(16) b=zeros(16) n=1152921504606846976
__kernel void k(__global int *a, __global int *b, ulong n) {
    int16 v = vload16(n, a);
    int4 w = vload4(n * 16, a);
    int3 x = vload3(-1, a);
    b[0] = v.s0 + w.s0 + x.s0;
}
