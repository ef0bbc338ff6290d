// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(8) n=70000
__kernel void k(__global half *a, int n) {
    float v = vload_half(n, a);
    vstore_half(v, -n, a);
    vstore_half4((float4)v, n, a);
}
