// expect: refused
// clmap: global=16 local=16 a=zeros(16) n=3
__kernel void k(__global int *a, int n) {
    int t[536870912];
    t[n] = 1;
    a[0] = t[n];
}
