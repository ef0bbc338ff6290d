// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) secret=iota(16)
__kernel void k(__global int *a, __global int *secret) {
    a[get_global_size(0) + 8] = 66;
    a[0] = secret[0];
}
