// expect: data-race, uninitialised-read
// clmap: global=16 local=16 a=zeros(16) n=0
__kernel void k(__global int *a, int n) {
    __global int *p;
    if (n > 3) p = a;
    *p = 66;
    a[0] = 1;
}
