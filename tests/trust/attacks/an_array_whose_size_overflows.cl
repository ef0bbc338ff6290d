// expect: refused
// clmap: global=16 local=16 a=zeros(16) n=3
__kernel void k(__global int *a, int n) {
    int t[4611686018427387904];
    int u[1 << 31][1 << 31][1 << 31];
    t[n] = 1;
    u[n][n][n] = 2;
    a[0] = t[n] + u[n][n][n];
}
