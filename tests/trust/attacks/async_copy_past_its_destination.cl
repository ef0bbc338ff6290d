// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(4096) n=4096
__kernel void k(__global int *a, int n) {
    __local int t[8];
    __local int after[8];
    after[0] = 7;
    event_t e = async_work_group_copy(t, a, n, 0);
    wait_group_events(1, &e);
    a[0] = after[0];
}
