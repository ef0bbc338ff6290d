// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=1000000007
__kernel void k(__global int *a, ulong n) {
    __local int t[8];
    t[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_strided_copy(a, t, 8, n, 0);
    wait_group_events(1, &e);
    e = async_work_group_strided_copy(t, a, 8, -n, 0);
    wait_group_events(1, &e);
}
