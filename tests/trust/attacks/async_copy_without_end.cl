// expect: out-of-bounds-write
// clmap: global=16 local=16 a=zeros(16) n=1152921504606846976
__kernel void k(__global int *a, ulong n) {
    __local int t[8];
    event_t e = async_work_group_copy(t, a, n, 0);
    wait_group_events(1, &e);
    a[0] = t[1];
}
