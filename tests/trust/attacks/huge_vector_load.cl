// expect: out-of-bounds-read
// clmap: global=16 local=16 a=zeros(3) b=zeros(64)
__kernel void k(__global int *a, __global int *b) {
    int16 v = *(__global int16 *)a;
    b[0] = v.sF;
    long16 w = *(__global long16 *)(a - 1);
    b[1] = (int)w.s0;
}
