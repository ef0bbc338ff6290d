// expect: refused
// clmap: global=16 local=16 a=zeros(16) n=3
__kernel void k(__global int *a, int n) {
    int t[536870912] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    a[0] = t[n];
}
