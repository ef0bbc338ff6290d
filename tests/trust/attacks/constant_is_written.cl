// expect: out-of-bounds-write, write-to-constant
__constant int table[4] = {1, 2, 3, 4};
// clmap: global=16 local=16 a=zeros(16) n=1
__kernel void k(__global int *a, int n) {
    *((int *)&table[n]) = 66;
    *((int *)&table[n + 4000]) = 66;
    a[0] = table[1];
}
