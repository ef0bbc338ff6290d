// expect: wait-without-copy
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    event_t e = (event_t)(ulong)12345;
    wait_group_events(1, &e);
    wait_group_events(1000000, (event_t *)(ulong)a);
    a[0] = 1;
}
