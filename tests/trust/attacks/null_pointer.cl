// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    __global int *p = 0;
    *p = 66;
    a[0] = 1;
}
