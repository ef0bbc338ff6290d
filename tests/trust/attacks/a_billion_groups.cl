// expect: sampled
// clmap: global=549755813888 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    a[get_local_id(0)] = 1;
}
