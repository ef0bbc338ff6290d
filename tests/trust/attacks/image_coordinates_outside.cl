// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 i=zeros(64) o=zeros(64) a=zeros(16) n=100000
__kernel void k(read_only image2d_t i, write_only image2d_t o, __global float *a, int n) {
    float4 v = read_imagef(i, (int2)(n, -n));
    write_imagef(o, (int2)(-n, n), v);
    write_imagef(o, (int2)(-2147483647 - 1, 2147483647), v);
    a[0] = v.x;
}
