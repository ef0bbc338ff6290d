// expect: unread
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    a[0] = 1;
    k(a + 1);
}
