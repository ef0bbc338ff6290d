// expect: none
// clmap: global=1 local=1 a=zeros(16)
__kernel void k(__global int *a)
{
    float4 v = (float4)(1e9f);
    int i = v;
    a[(int4)(i)] = v;
}
