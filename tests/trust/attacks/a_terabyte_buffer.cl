// expect: refused
// clmap: global=16 local=16 a=zeros(274877906944)
__kernel void k(__global int *a) {
    a[get_global_id(0)] = 1;
}
