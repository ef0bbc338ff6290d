// expect: refused
__constant int table[8589934592] = {1, 2, 3};
// clmap: global=16 local=16 a=zeros(16) n=3
__kernel void k(__global int *a, int n) {
    a[0] = table[n];
}
