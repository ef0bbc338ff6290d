// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(3)
__kernel void k(__global int *a) {
    *(__global int16 *)a = (int16)66;
    *(__global double16 *)(a - 30) = (double16)1.0;
}
