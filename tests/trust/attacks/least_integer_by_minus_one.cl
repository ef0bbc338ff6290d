// expect: division-by-zero, integer-overflow
// clmap: global=16 local=16 a=zeros(16) n=-1
__kernel void k(__global int *a, int n) {
    a[0] = (-2147483647 - 1) / n;
    a[1] = (-2147483647 - 1) % n;
    a[2] = (int)((-9223372036854775807L - 1) / n);
    a[3] = 7 / (n + 1);
    a[4] = 7 % (n + 1);
    a[5] = ((int4)(7) / (int4)(0, n, 1, n)).x;
    a[6] = abs(-2147483647 - 1);
    a[7] = (int)((uchar)1 / (uchar)(n + 1));
}
