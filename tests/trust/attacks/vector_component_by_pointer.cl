// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=4000
__kernel void k(__global int *a, int n) {
    int4 v = (int4)(1, 2, 3, 4);
    int *p = (int *)&v;
    p[n] = 66;
    p[-n] = 66;
    a[0] = v.x + p[3];
}
