// expect: none
// clmap: global=16 local=16 a=zeros(16) n=-1
__kernel void k(__global int *a, int n) {
    a[0] = 1 << n;
    a[1] = 1 >> 1000;
    a[2] = n >> n;
    a[3] = (int)(1L << (n * 7));
    a[4] = ((char)1 << n);
    a[5] = rotate(5, n);
    a[6] = ((int4)(1) << (int4)(n)).x;
}
