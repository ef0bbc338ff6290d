// expect: out-of-bounds-read
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a)
{
    int t[8];
    t[get_local_id(0) & 7] = 1;
    event_t e = async_work_group_copy(a, t, 8, 0);
    wait_group_events(1, &e);
    a[8 + (get_local_id(0) & 7)] = t[0];
}
