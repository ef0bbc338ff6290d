// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=-9223372036854775808
__kernel void k(__global int *a, long n) {
    a[n] = 66;
    a[n + 1] = 66;
    a[n / 4] = 66;
}
