// Private arrays of which the lanes of a SIMD group are at elements that differ: by how much, and how often.

// time: kernel=spread_walk global=1048576 local=128 o=zeros(1048576) spread=1 n=64
// time: kernel=spread_walk global=1048576 local=128 o=zeros(1048576) spread=2 n=64
// time: kernel=spread_walk global=1048576 local=128 o=zeros(1048576) spread=4 n=64
// time: kernel=spread_walk global=1048576 local=128 o=zeros(1048576) spread=8 n=64
// time: kernel=spread_walk global=1048576 local=128 o=zeros(1048576) spread=16 n=64
// time: kernel=spread_walk global=65536 local=128 o=zeros(65536) spread=1 n=256
// time: kernel=spread_walk global=65536 local=128 o=zeros(65536) spread=4 n=256
// time: kernel=spread_walk global=65536 local=128 o=zeros(65536) spread=16 n=256
__kernel void spread_walk(__global int *o, int spread, int n)
{
    int a[16], l = get_local_id(0) % spread;
    for (int i = 0; i < 16; i++)
        a[i] = i;
    for (int i = 0; i < n; i++)
        a[(i + l) & 15] += i;
    int s = 0;
    for (int i = 0; i < 16; i++)
        s += a[i];
    o[get_global_id(0)] = s;
}

// Loads alone: what is stored once is read again and again.
// time: kernel=spread_reads global=1048576 local=128 o=zeros(1048576) spread=1 n=64
// time: kernel=spread_reads global=1048576 local=128 o=zeros(1048576) spread=4 n=64
// time: kernel=spread_reads global=1048576 local=128 o=zeros(1048576) spread=16 n=64
// time: kernel=spread_reads global=65536 local=128 o=zeros(65536) spread=16 n=256
__kernel void spread_reads(__global int *o, int spread, int n)
{
    int a[16], l = get_local_id(0) % spread, s = 0;
    for (int i = 0; i < 16; i++)
        a[i] = i * n;
    for (int i = 0; i < n; i++)
        s = s * 3 + a[(i + l) & 15];
    o[get_global_id(0)] = s;
}

// A stack of which each lane pushes and pops as its own bits say.
// time: kernel=push_and_pop global=65536 local=128 seed=random(65536) o=zeros(65536) n=256
// time: kernel=push_and_pop global=1048576 local=128 seed=random(1048576) o=zeros(1048576) n=64
__kernel void push_and_pop(__global const uint *seed, __global int *o, int n)
{
    int stack[12], top = 6, s = 0;
    uint x = seed[get_global_id(0)] | 1u;
    for (int i = 0; i < 12; i++)
        stack[i] = i;
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if ((x & 64u) && top < 11)
            stack[top++] = i;
        else if (top > 0)
            s += stack[--top];
    }
    o[get_global_id(0)] = s + top;
}

// Stores alone, at elements that each lane draws anew; of every lane or of about half of them.
// time: kernel=random_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=0 n=64
// time: kernel=random_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=3 n=64
// time: kernel=random_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=15 n=64
__kernel void random_stores(__global const uint *seed, __global int *o, uint mask, int n)
{
    int a[16], s = 0;
    uint x = seed[get_global_id(0)] | 1u;
    for (int i = 0; i < 16; i++)
        a[i] = i;
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        a[(x >> 8) & mask] = i;
    }
    for (int i = 0; i < 16; i++)
        s += a[i];
    o[get_global_id(0)] = s;
}

// time: kernel=half_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=0 n=64
// time: kernel=half_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=3 n=64
// time: kernel=half_stores global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=15 n=64
__kernel void half_stores(__global const uint *seed, __global int *o, uint mask, int n)
{
    int a[16], s = 0;
    uint x = seed[get_global_id(0)] | 1u;
    for (int i = 0; i < 16; i++)
        a[i] = i;
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if (x & 64u)
            a[(x >> 8) & mask] = i;
    }
    for (int i = 0; i < 16; i++)
        s += a[i];
    o[get_global_id(0)] = s;
}

// Loads alone, at elements that each lane draws anew, of an array that the first level holds and of one that it does not.
// time: kernel=random_loads global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=0 n=64
// time: kernel=random_loads global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=3 n=64
// time: kernel=random_loads global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=15 n=64
__kernel void random_loads(__global const uint *seed, __global int *o, uint mask, int n)
{
    int a[16], s = 0;
    uint x = seed[get_global_id(0)] | 1u;
    for (int i = 0; i < 16; i++)
        a[i] = i * n;
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        s = s * 3 + a[(x >> 8) & mask];
    }
    o[get_global_id(0)] = s;
}

// time: kernel=loads_of_many global=1048576 local=128 seed=random(1048576) o=zeros(1048576) mask=63 n=256
// time: kernel=loads_of_many global=262144 local=128 seed=random(262144) o=zeros(262144) mask=7 n=256
__kernel void loads_of_many(__global const uint *seed, __global int *o, uint mask, int n)
{
    int a[64], s = 0;
    uint x = seed[get_global_id(0)] | 1u;
    for (int i = 0; i < 64; i++)
        a[i] = i * n;
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        s = s * 3 + a[(x >> 8) & mask];
    }
    o[get_global_id(0)] = s;
}

// A stack that every lane pushes and pops in turn, from depths that differ by the lane.
// time: kernel=push_then_pop global=1048576 local=128 o=zeros(1048576) spread=1 n=64
// time: kernel=push_then_pop global=1048576 local=128 o=zeros(1048576) spread=4 n=64
// time: kernel=push_then_pop global=1048576 local=128 o=zeros(1048576) spread=8 n=64
__kernel void push_then_pop(__global int *o, int spread, int n)
{
    int stack[12], top = get_local_id(0) % spread, s = 0;
    for (int i = 0; i < 12; i++)
        stack[i] = i;
    for (int i = 0; i < n; i++) {
        stack[top++] = i ^ s;
        stack[top++] = i + s;
        s += stack[--top] * 3;
        s ^= stack[--top];
    }
    o[get_global_id(0)] = s + top;
}
