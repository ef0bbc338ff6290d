// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=5
__kernel void k(__global int *a, int n) {
    int t[4] = {0};
    int other[4] = {7, 7, 7, 7};
    t[n] = 66;
    t[n - 8] = 66;
    a[0] = other[0] + other[1] + other[2] + other[3];
}
