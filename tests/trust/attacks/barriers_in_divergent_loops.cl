// expect: barrier-divergence
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    for (int i = 0; i < (int)get_local_id(0); i++) barrier(CLK_LOCAL_MEM_FENCE);
    a[get_local_id(0)] = 1;
}
