// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(17)
__kernel void k(__global char *a) {
    *(__global int *)(a + 15) = 66;
    *(__global long *)(a + 16) = 66;
}
