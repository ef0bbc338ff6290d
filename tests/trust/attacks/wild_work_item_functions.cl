// expect: none
// clmap: global=16 local=16 a=zeros(16) n=1000000
__kernel void k(__global int *a, int n) {
    a[0] = (int)get_global_id(n) + (int)get_local_size(-n) + (int)get_num_groups(n * n) + (int)get_group_id(3) + (int)get_global_offset(99);
}
