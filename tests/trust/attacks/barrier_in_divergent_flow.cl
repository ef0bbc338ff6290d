// expect: barrier-divergence
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    if (get_local_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE);
    else if (get_local_id(0) == 2) return;
    else barrier(CLK_GLOBAL_MEM_FENCE);
    a[get_local_id(0)] = 1;
}
