// expect: out-of-bounds-write
// clmap: global=16 local=16 a=null
__kernel void k(__global int *a) {
    a[get_global_id(0)] = 66;
}
