// Microbenchmarks of global atomics whose lanes meet: runs of lanes at one address, and few addresses in lines of their own.

// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=1
// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=2
// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=4
// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=16
// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=32
// time: kernel=add_by_runs global=1048576 local=256 counts=zeros(1048576) run=256
__kernel void add_by_runs(__global int *counts, int run)
{
    int i = get_global_id(0);
    atomic_add(&counts[i / run], i);
}

// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=16 apart=32
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=64 apart=32
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=64 apart=64
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=64 apart=1
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=256 apart=32
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=256 apart=1
// time: kernel=add_in_turn global=1048576 local=256 counts=zeros(1048576) n=4096 apart=8
__kernel void add_in_turn(__global int *counts, int n, int apart)
{
    int i = get_global_id(0);
    atomic_add(&counts[i % n * apart], i);
}

// time: kernel=add_far_apart global=1048576 local=256 counts=zeros(1048576)
__kernel void add_far_apart(__global int *counts)
{
    int i = get_global_id(0);
    atomic_add(&counts[i * 2654435 % 1048576 & 1048575], i);
}

// time: kernel=add_runs_of_table global=1048576 local=256 row=formula(1048576,i//16) counts=zeros(65536)
__kernel void add_runs_of_table(__global const int *row, __global int *counts)
{
    int i = get_global_id(0);
    atomic_add(&counts[row[i]], i);
}
