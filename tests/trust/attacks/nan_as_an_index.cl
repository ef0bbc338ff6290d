// expect: none
// clmap: global=16 local=16 a=zeros(16) f=nan
__kernel void k(__global int *a, float f) {
    a[(int)f] = 66;
    a[(long)(f + 1e30f)] = 66;
    a[(ulong)-1e30f] = 66;
}
