// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=1
__kernel void k(__global int *a, uint n) {
    uint i = 0;
    a[i - n] = 66;
    a[0] = 1;
}
