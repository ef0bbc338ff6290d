// expect: none
__constant sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
// clmap: global=16 local=16 i=zeros(64) a=zeros(16) f=nan
__kernel void k(read_only image2d_t i, __global float *a, float f) {
    a[0] = read_imagef(i, s, (float2)(f, f * 1e30f)).x;
    a[1] = read_imagef(i, s, (float2)(INFINITY, -INFINITY)).x;
}
