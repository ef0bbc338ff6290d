// expect: unread
int f(int n) {
    return n ? f(n - 1) + f(n - 2) : 1;
}
// clmap: global=16 local=16 a=zeros(16) n=5
__kernel void k(__global int *a, int n) {
    a[0] = f(n);
}
