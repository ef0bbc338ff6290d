// expect: none
// clmap: global=16 local=16 a=zeros(16) n=1000000
__kernel void k(__global int *a, int n) {
    int4 v = (int4)(1, 2, 3, 4);
    uint4 m = (uint4)(n, 77, 4294967295u, 3);
    a[0] = shuffle(v, m).x + shuffle2(v, v, m).y;
}
