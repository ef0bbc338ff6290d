// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=100000
__kernel void k(__global int *a, int n) {
    int t[4] = {0};
    for (int i = 0; i < n; i++) t[i] = 66;
    a[0] = t[1];
}
