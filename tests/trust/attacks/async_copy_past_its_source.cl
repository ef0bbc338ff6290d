// expect: out-of-bounds-read, uninitialised-read
// clmap: global=16 local=16 a=zeros(16) n=4096
__kernel void k(__global int *a, int n) {
    __local int t[8192];
    event_t e = async_work_group_copy(t, a, n, 0);
    wait_group_events(1, &e);
    a[0] = t[100];
}
