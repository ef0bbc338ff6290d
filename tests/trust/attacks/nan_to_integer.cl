// expect: none
// clmap: global=16 local=16 a=zeros(16) f=nan
__kernel void k(__global int *a, float f) {
    a[0] = (int)f;
    a[1] = (char)(f * 1e38f);
    a[2] = (int)(uint)-INFINITY;
    a[3] = convert_int_sat(f);
    a[4] = (int)1e300;
}
