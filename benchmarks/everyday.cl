//// chunks: a mean and a variance at once
// clmap: global=512 local=64 n=4000 per=8 x=random(n) mean=zeros(8) var=zeros(8)
// also: n=4096
// also: n=3 per=1
// also: per=5
// also: local=32 mean=zeros(16) var=zeros(16)
__kernel void moments(__global const float *restrict x, __global float *restrict mean, __global float *restrict var,
                      const int n, const int per)
{
    __local float s1[64], s2[64];
    int lid = get_local_id(0);
    int begin = get_global_id(0) * per;
    int end = min(begin + per, n);
    float a = 0.0f, b = 0.0f;
    for (int i = begin; i < end; i++) {
        float v = x[i];
        a += v;
        b += v * v;
    }
    s1[lid] = a;
    s2[lid] = b;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int off = get_local_size(0) / 2; off > 0; off /= 2) {
        if (lid < off) {
            s1[lid] += s1[lid + off];
            s2[lid] += s2[lid + off];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) {
        mean[get_group_id(0)] = s1[0];
        var[get_group_id(0)] = s2[0];
    }
}
//// chunks: the sum is stored by each, and by the group
// clmap: global=512 local=64 n=4096 per=8 x=random(n) each=zeros(512) all=zeros(8)
__kernel void both(__global const int *x, __global int *each, __global int *all, const int n, const int per)
{
    __local int s[64];
    int lid = get_local_id(0);
    int sum = 0;
    for (int i = get_global_id(0) * per; i < (get_global_id(0) + 1) * per; i++)
        if (i < n)
            sum += x[i];
    each[get_global_id(0)] = sum;
    s[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        int t = 0;
        for (int k = 0; k < 64; k++)
            t += s[k];
        all[get_group_id(0)] = t;
    }
}
//// chunks: hits of a darts game, its state a work-item's own
// clmap: global=256 local=32 n=40 hits=zeros(8)
__kernel void darts(__global uint *hits, const int n)
{
    __local uint part[32];
    uint seed = get_global_id(0) * 747796405u + 1u;
    uint count = 0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        float u = (seed >> 8) * (1.0f / 16777216.0f);
        seed = seed * 1664525u + 1013904223u;
        float v = (seed >> 8) * (1.0f / 16777216.0f);
        if (u * u + v * v < 1.0f)
            count++;
    }
    int l = get_local_id(0);
    part[l] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 16; s > 0; s >>= 1) {
        if (l < s)
            part[l] += part[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!l)
        hits[get_group_id(0)] = part[0];
}
//// chunks: words that match, counted by atomics on the result
// clmap: global=512 local=64 n=5000 text=random(n) found=zeros(4)
// also: n=4096
// also: n=511
// also: n=0
__kernel void matches(__global const uchar *text, __global int *found, const int n)
{
    const int per = (n + (int)get_global_size(0) - 1) / (int)get_global_size(0);
    const int from = (int)get_global_id(0) * per;
    int here = 0;
    for (int i = from; i < from + per && i < n; i++) {
        if (text[i] >= 'a' && text[i] <= 'z')
            here++;
    }
    atomic_add(found, here);
}
//// chunks: the last work-item takes the rest
// clmap: global=512 local=64 n=5000 a=random(n) out=zeros(1)
// also: n=5119
__kernel void rest(__global const int *a, __global int *out, const int n)
{
    const int per = n / get_global_size(0);
    int begin = get_global_id(0) * per;
    int end = begin + per;
    if (get_global_id(0) == get_global_size(0) - 1)
        end = n;
    int sum = 0;
    for (int i = begin; i < end; i++)
        sum += a[i];
    atomic_add(out, sum);
}
//// chunks: the first ones take one more
// clmap: global=512 local=64 n=5000 a=random(n) out=zeros(1)
__kernel void balanced(__global const int *a, __global int *out, const int n)
{
    const int p = get_global_size(0), id = get_global_id(0);
    const int base = n / p, extra = n % p;
    const int begin = id * base + min(id, extra);
    const int count = base + (id < extra ? 1 : 0);
    int sum = 0;
    for (int i = begin; i < begin + count; i++)
        sum += a[i];
    atomic_add(&out[0], sum);
}
//// chunks: a checksum where the order counts
// clmap: global=256 local=64 n=4096 per=16 data=random(n) sums=zeros(4)
__kernel void rolling(__global const uint *data, __global uint *sums, const int n, const int per)
{
    __local uint h[64];
    int lid = get_local_id(0);
    uint a = 1, b = 0;
    for (int i = get_global_id(0) * per; i < min((int)(get_global_id(0) + 1) * per, n); i++) {
        a += data[i];
        b += a;
    }
    h[lid] = a ^ b;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
        uint t = 0;
        for (int k = 0; k < get_local_size(0); k++)
            t ^= h[k];
        sums[get_group_id(0)] = t;
    }
}
//// chunks: exclusive or of words
// clmap: global=256 local=64 n=4000 per=16 data=random(n) sums=zeros(4)
__kernel void parity(__global const uint *data, __global uint *sums, const uint n, const uint per)
{
    __local uint h[64];
    uint lid = get_local_id(0);
    uint x = 0;
    uint start = get_global_id(0) * per;
    for (uint i = start; i < start + per && i < n; i++)
        x ^= data[i];
    h[lid] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 32; s > 0; s >>= 1) {
        if (lid < s)
            h[lid] ^= h[lid + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = h[0];
}
//// chunks: where the largest is
// clmap: global=256 local=64 n=4000 per=16 x=random(n) best=zeros(4) where=zeros(4)
__kernel void place(__global const float *x, __global float *best, __global int *where, const int n, const int per)
{
    __local float v[64];
    __local int at[64];
    int lid = get_local_id(0);
    float m = -INFINITY;
    int p = -1;
    int start = get_global_id(0) * per;
    for (int i = start; i < min(start + per, n); i++)
        if (x[i] > m) {
            m = x[i];
            p = i;
        }
    v[lid] = m;
    at[lid] = p;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        if (lid < s && v[lid + s] > v[lid]) {
            v[lid] = v[lid + s];
            at[lid] = at[lid + s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) {
        best[get_group_id(0)] = v[0];
        where[get_group_id(0)] = at[0];
    }
}
//// chunks: scaled in place, by a factor that the group's first element gives
// clmap: global=256 local=64 per=16 x=random(4096)
__kernel void scaled(__global float *x, const int per)
{
    const int first = get_global_id(0) * per;
    const float f = x[get_group_id(0) * get_local_size(0) * per];
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int i = first; i < first + per; i++)
        x[i] *= f;
}
//// chunks: differences of neighbours
// clmap: global=256 local=64 n=4000 per=16 x=random(n) d=zeros(n)
// also: n=4096
__kernel void differences(__global const float *restrict x, __global float *restrict d, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    for (int i = first; i < first + per; i++) {
        if (i >= n - 1)
            break;
        d[i] = x[i + 1] - x[i];
    }
}
//// chunks: in place from the neighbour to the right
// clmap: global=256 local=64 n=4096 per=16 x=random(4112)
__kernel void shifted(__global float *x, const int n, const int per)
{
    const int first = get_group_id(0) * get_local_size(0) * per + get_local_id(0) * per;
    float carry = 0.0f;
    for (int i = first; i < first + per; i++) {
        const float old = x[i];
        x[i] = carry;
        carry = old;
    }
}
//// chunks: kept elements in order, a list for each
// clmap: global=64 local=32 n=1024 per=16 x=random(n) kept=zeros(n) count=zeros(64)
__kernel void keep(__global const int *x, __global int *kept, __global int *count, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    int many = 0;
    for (int i = first; i < first + per; i++)
        if (x[i] & 1)
            kept[first + many++] = x[i];
    count[get_global_id(0)] = many;
}
//// chunks: kept elements in any order, the place by an atomic
// clmap: global=64 local=32 n=1024 per=16 x=random(n) count=zeros(1)
__kernel void keep_count(__global const int *x, __global int *count, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    for (int i = first; i < first + per; i++)
        if (x[i] & 1)
            atomic_inc(count);
}
//// chunks: averages of a window, with the group's window in local memory
// clmap: global=256 local=64 n=4096 per=16 x=random(n) sums=zeros(4)
__kernel void weighted(__global const float *x, __global float *sums, const int n, const int per)
{
    __local float w[16], part[64];
    const int l = get_local_id(0);
    if (l < 16)
        w[l] = 1.0f / (1 + l);
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    const int first = get_global_id(0) * per;
    for (int k = 0; k < per; k++)
        s += x[first + k] * w[k & 15];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[get_group_id(0)] = part[0];
}
//// chunks: weights by the element's number
// clmap: global=256 local=64 n=4000 per=16 x=random(n) w=random(16) sums=zeros(4)
__kernel void combed(__global const float *x, __constant float *w, __global float *sums, const int n, const int per)
{
    __local float part[64];
    const int l = get_local_id(0);
    float s = 0.0f;
    const int first = get_global_id(0) * per;
    for (int i = first; i < first + per; i++) {
        if (i >= n)
            break;
        s += x[i] * w[i & 15];
    }
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        float t = 0.0f;
        for (int k = 0; k < get_local_size(0); k++)
            t += part[k];
        sums[get_group_id(0)] = t;
    }
}
//// chunks: the group's total goes back to all of them
// clmap: global=256 local=64 n=4096 per=16 x=random(n) y=zeros(n)
__kernel void shares(__global const int *restrict x, __global int *restrict y, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0);
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const int total = part[0];
    for (int i = first; i < first + per; i++)
        y[i] = x[i] * 100 + total;
}
//// chunks: the part is subtracted from the total
// clmap: global=256 local=64 n=4096 per=16 x=random(n) y=zeros(256)
__kernel void others(__global const int *restrict x, __global int *restrict y, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0);
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = part[0] - s;
}
//// chunks: two passes over the same chunk, with the mean between
// clmap: global=256 local=64 n=4096 per=16 x=random(n) dev=zeros(4)
__kernel void deviation(__global const float *restrict x, __global float *restrict dev, const int n, const int per)
{
    __local float part[64];
    const int l = get_local_id(0), first = get_global_id(0) * per;
    float s = 0.0f;
    for (int i = first; i < first + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float mean = part[0] / (64 * per);
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0.0f;
    for (int i = first; i < first + per; i++)
        v += (x[i] - mean) * (x[i] - mean);
    part[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        dev[get_group_id(0)] = part[0];
}
//// chunks: two dimensions, rows by one and chunks by the other
// clmap: global=64,4 local=32,1 w=1024 x=random(4096) sums=zeros(8)
__kernel void rows_in_chunks(__global const int *x, __global int *sums, const int w)
{
    __local int part[32];
    const int l = get_local_id(0), y = get_global_id(1);
    const int per = w / get_global_size(0);
    int s = 0;
    for (int k = 0; k < per; k++)
        s += x[y * w + get_global_id(0) * per + k];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 16; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[y * get_num_groups(0) + get_group_id(0)] = part[0];
}
//// chunks: a tree that forgets the odd one
// clmap: global=240 local=48 n=3840 per=16 x=random(n) out=zeros(5)
// also: local=60 out=zeros(4)
__kernel void odd_tree(__global const int *x, __global int *out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per && i < n; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = get_local_size(0) / 2; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// chunks: bytes of a group's own histogram
// clmap: global=256 local=64 n=8000 per=32 data=random(n) bins=zeros(256)
// also: n=8192
// also: per=31
__kernel void bytes(__global const uchar *data, __global uint *bins, const uint n, const uint per)
{
    __local uint h[256];
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        h[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint begin = get_global_id(0) * per;
    const uint end = min(begin + per, n);
    for (uint i = begin; i < end; ++i)
        atomic_inc(&h[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < 256; b += get_local_size(0))
        atomic_add(&bins[b], h[b]);
}
//// chunks: a sum of squares, doubles that go into floats
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void norm(__global const double *x, __global float *out, const int n, const int per)
{
    __local float part[64];
    const int l = get_local_id(0), first = get_global_id(0) * per;
    double s = 0.0;
    for (int i = first; i < first + per; i++)
        s += x[i] * x[i];
    part[l] = (float)s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = sqrt(part[0]);
}
//// chunks: sums of vectors
// clmap: global=256 local=64 n=1024 per=4 x=random(n) out=zeros(4)
__kernel void centre(__global const float4 *x, __global float4 *out, const int n, const int per)
{
    __local float4 part[64];
    const int l = get_local_id(0), first = get_global_id(0) * per;
    float4 s = (float4)(0.0f);
    for (int i = first; i < first + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0] / (float)(per * 64);
}
//// chunks: a row of every work-item, columns apart
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void by_columns(__global const int *x, __global int *out, const int n, const int per)
{
    int s = 0;
    for (int k = 0; k < per; k++)
        s += x[k * get_global_size(0) + get_global_id(0)];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: the sum is also a limit
// clmap: global=256 local=64 n=4096 per=16 most=100 x=random(n) out=zeros(4)
__kernel void limited(__global const int *x, __global int *out, const int n, const int per, const int most)
{
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per; i++) {
        if (s < most)
            s += x[i] & 15;
    }
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: atomics to the work-item's own row
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(16)
__kernel void by_row(__global const int *x, __global int *out, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per; i++)
        s += x[i];
    atomic_add(&out[get_global_id(0) / 16], s);
}
//// chunks: a step in the head besides
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void two_counters(__global const int *x, __global int *out, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first, w = 1; i < first + per; i++, w++)
        s += x[i] * w;
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: from the end
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void from_end(__global const int *x, __global int *out, const int n, const int per)
{
    int s = 0;
    for (int i = (get_global_id(0) + 1) * per - 1; i >= (int)get_global_id(0) * per; i--)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: a while with the end as a pointer
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void by_pointer(__global const int *x, __global int *out, const int n, const int per)
{
    __global const int *p = x + get_global_id(0) * per, *e = p + per;
    int s = 0;
    while (p < e)
        s += *p++;
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: a counter of its own before the loop
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void declared_before(__global const int *x, __global int *out, int n, int per)
{
    int i, s = 0;
    const int end = min((int)(get_global_id(0) + 1) * per, n);
    for (i = get_global_id(0) * per; i < end; i++)
        s += x[i];
    if (i > n)
        s = -1;
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: the parameter is changed first
// clmap: global=256 local=64 n=4096 per=15 x=random(n) out=zeros(4)
__kernel void changed_parameter(__global const int *x, __global int *out, int n, int per)
{
    per += 1;
    n -= 3;
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < min(first + per, n); i++)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: start is moved between
// clmap: global=256 local=64 n=4096 per=16 x=random(4200) out=zeros(4)
__kernel void moved_start(__global const int *x, __global int *out, const int n, const int per)
{
    int first = get_global_id(0) * per;
    first += 5;
    const int end = first + per;
    first -= 2;
    int s = 0;
    for (int i = first; i < end; i++)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: a shadowed name of the length
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void shadowed(__global const int *x, __global int *out, const int n, const int per)
{
    const int lid = get_local_id(0);
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int i = first; i < first + per; i++) {
        const int per = x[i], lid = per & 3, first = 2;
        s += per + lid * first;
    }
    atomic_add(&out[get_group_id(0)], s + lid - lid);
}
//// chunks: names of ours are taken
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void taken(__global const int *x, __global int *out, const int n, const int per)
{
    int first = 3, last = 4, element = 5;
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < min(start + per, n); i++)
        s += x[i] * first + last - element;
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: size_t throughout
// clmap: global=256 local=64 n=4090 per=16 x=random(n) out=zeros(4)
__kernel void sizes(__global const int *x, __global int *out, const ulong n, const ulong per)
{
    const size_t start = get_global_id(0) * per;
    size_t end = start + per;
    end = end < n ? end : n;
    int s = 0;
    for (size_t i = start; i < end; ++i)
        s += x[i];
    atomic_add(out + get_group_id(0), s);
}
//// chunks: work-items beyond the data leave first
// clmap: global=256 local=64 n=2000 per=16 x=random(n) out=zeros(4)
__kernel void leaves(__global const int *x, __global int *out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    if (start >= n)
        return;
    int s = 0;
    for (int i = start; i < min(start + per, n); i++)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: a flag for the launch around it
// clmap: global=256 local=64 n=4096 per=16 on=1 x=random(n) out=zeros(4)
// also: on=0
__kernel void flagged(__global const int *x, __global int *out, const int n, const int per, const int on)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    if (on)
        for (int i = start; i < min(start + per, n); i++)
            s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: rows of a matrix, a block of rows for each work-item
// clmap: global=64 local=32 rows=256 w=16 per=4 x=random(4096) out=zeros(2)
__kernel void blocks_of_rows(__global const int *x, __global int *out, const int rows, const int w, const int per)
{
    const int first = get_global_id(0) * per;
    int s = 0;
    for (int r = first; r < min(first + per, rows); r++)
        for (int c = 0; c < w; c++)
            s += x[r * w + c];
    atomic_add(&out[get_group_id(0)], s);
}
//// chunks: nothing but the own sum, stored
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(256)
// also: n=4096
// also: per=7
__kernel void own_sums(__global const float *restrict x, __global float *restrict out, const int n, const int per)
{
    const int first = get_global_id(0) * per;
    float s = 0.0f;
    for (int i = first; i < min(first + per, n); i++)
        s += x[i];
    out[get_global_id(0)] = s;
}
//// finance: a price for each option
// clmap: global=1000 local=50 n=990 s=random(n) k=random(n) c=zeros(n) p=zeros(n)
__kernel void prices(__global const float *s, __global const float *k, __global float *c, __global float *p, const int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float d = log(fabs(s[i]) + 1.0f) - log(fabs(k[i]) + 1.0f);
    float q = 1.0f / (1.0f + exp(-1.702f * d));
    c[i] = s[i] * q - k[i] * (1.0f - q);
    p[i] = c[i] - s[i] + k[i];
}
//// finance: a tree of prices, a work-item each
// clmap: global=64 local=32 steps=15 up=1.1 s=random(64) v=zeros(64)
__kernel void lattice(__global const float *s, __global float *v, const int steps, const float up)
{
    float price[16];
    const int id = get_global_id(0);
    for (int i = 0; i <= steps && i < 16; i++)
        price[i] = max(s[id] + i * up - 2.0f, 0.0f);
    for (int t = min(steps, 15); t > 0; t--)
        for (int i = 0; i < t; i++)
            price[i] = 0.5f * (price[i] + price[i + 1]);
    v[id] = price[0];
}
//// finance: moving average of each stock, days apart
// clmap: global=128 local=32 days=40 window=5 stocks=128 p=random(5120) avg=zeros(5120)
// also: window=1
// also: window=40
__kernel void moving(__global const float *restrict p, __global float *restrict avg, const int days, const int window,
                     const int stocks)
{
    const int id = get_global_id(0);
    float sum = 0.0f;
    for (int d = 0; d < days; d++) {
        sum += p[id * days + d];
        if (d >= window)
            sum -= p[id * days + d - window];
        avg[id * days + d] = sum / window;
    }
}
//// data: filter and sum, a column store
// clmap: global=512 local=64 n=4000 lo=3 hi=90 key=random(n) val=random(n) out=zeros(1)
__kernel void filtered(__global const int *key, __global const int *val, __global int *out, const int n, const int lo,
                       const int hi)
{
    int s = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        if (key[i] >= lo && key[i] < hi)
            s += val[i];
    atomic_add(out, s);
}
//// data: groups by a key of eight
// clmap: global=256 local=64 n=4096 key=random(n) val=random(n) sums=zeros(8) counts=zeros(8)
__kernel void grouped(__global const uint *key, __global const int *val, __global int *sums, __global int *counts,
                      const int n)
{
    const int per = n / get_global_size(0);
    for (int k = 0; k < per; k++) {
        const int i = get_global_id(0) * per + k;
        atomic_add(&sums[key[i] & 7], val[i]);
        atomic_inc(&counts[key[i] & 7]);
    }
}
//// data: joined by a search
// clmap: global=256 local=64 n=256 m=64 a=random(n) b=iota(m) out=zeros(n)
__kernel void joined(__global const int *a, __global const int *b, __global int *out, const int n, const int m)
{
    const int id = get_global_id(0);
    if (id < n) {
        int found = -1;
        for (int j = 0; j < m; j++)
            if (b[j] == (a[id] & 127)) {
                found = j;
                break;
            }
        out[id] = found;
    }
}
//// data: rows of records, columns of a report
// clmap: global=128 local=32 rows=128 fields=12 r=random(1536) t=zeros(1536)
__kernel void report(__global const int *restrict r, __global int *restrict t, const int rows, const int fields)
{
    const int id = get_global_id(0);
    if (id >= rows)
        return;
    for (int f = 0; f < fields; f++)
        t[f * rows + id] = r[id * fields + f];
}
//// text: lower case, in words of bytes
// clmap: global=512 local=64 n=2000 t=random(n) u=zeros(n)
__kernel void lower(__global const uchar *t, __global uchar *u, const uint n)
{
    for (uint k = 0; k < 4; k++) {
        uint i = get_global_id(0) * 4 + k;
        if (i < n)
            u[i] = t[i] >= 'A' && t[i] <= 'Z' ? t[i] + 32 : t[i];
    }
}
//// text: a pattern at each place
// clmap: global=512 local=64 n=500 m=4 t=random(n) p=random(4) hit=zeros(512)
__kernel void search(__global const uchar *t, __constant uchar *p, __global int *hit, const int n, const int m)
{
    const int at = get_global_id(0);
    int ok = at + m <= n;
    for (int k = 0; k < m && ok; k++)
        if ((t[at + k] & 1) != (p[k] & 1))
            ok = 0;
    hit[at] = ok;
}
//// text: edit distance by rows of a private table
// clmap: global=64 local=32 len=12 a=random(768) b=random(12) d=zeros(64)
__kernel void distance_of(__global const uchar *a, __global const uchar *b, __global int *d, const int len)
{
    int row[13];
    const int id = get_global_id(0);
    for (int j = 0; j <= 12; j++)
        row[j] = j;
    for (int i = 1; i <= len && i <= 12; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= 12; j++) {
            const int old = row[j];
            const int cost = (a[id * 12 + i - 1] & 3) != (b[j - 1] & 3);
            row[j] = min(min(row[j], row[j - 1]) + 1, diagonal + cost);
            diagonal = old;
        }
    }
    d[id] = row[12];
}
//// graph: shortest paths, one intermediate vertex
// clmap: global=48,48 local=16,16 n=48 k=7 d=random(2304)
// also: k=0
// also: k=47
__kernel void floyd(__global int *d, const int n, const int k)
{
    const int j = get_global_id(0), i = get_global_id(1);
    if (i != k && j != k) {
        const int through = (d[i * n + k] & 1023) + (d[k * n + j] & 1023);
        if (through < d[i * n + j])
            d[i * n + j] = through;
    }
}
//// graph: ranks pulled along edges of a dense matrix
// clmap: global=128 local=32 n=128 a=random(16384) rank=random(128) next=zeros(128)
// also: n=100
__kernel void rank(__global const float *a, __global const float *rank, __global float *next, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 0.0f;
    for (int j = 0; j < n; j++)
        s += a[j * n + i] * rank[j];
    next[i] = 0.15f + 0.85f * s;
}
//// linear: trace and diagonal
// clmap: global=64 local=32 n=64 a=random(4096) diagonal=zeros(64) trace=zeros(1)
__kernel void diagonals(__global const int *a, __global int *diagonal, __global int *trace, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        diagonal[i] = a[i * n + i];
        atomic_add(trace, a[i * n + i]);
    }
}
//// linear: one step of an elimination
// clmap: global=48,48 local=16,16 n=48 k=5 a=random(2304) f=random(48)
__kernel void eliminate(__global float *a, __global const float *f, const int n, const int k)
{
    const int c = get_global_id(0), r = get_global_id(1);
    if (r > k && r < n && c >= k && c < n)
        a[r * n + c] -= f[r] * a[k * n + c];
}
//// linear: both triangles of a product with itself
// clmap: global=48,48 local=16,16 n=48 m=20 a=random(960) c=zeros(2304)
__kernel void gram(__global const float *a, __global float *c, const int n, const int m)
{
    const int i = get_global_id(1), j = get_global_id(0);
    if (j > i || i >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < m; k++)
        s += a[i * m + k] * a[j * m + k];
    c[i * n + j] = s;
    c[j * n + i] = s;
}
//// linear: Jacobi sweep on a dense system
// clmap: global=64 local=32 n=64 a=random(4096) b=random(64) x=random(64) y=zeros(64)
__kernel void jacobi(__global const float *a, __global const float *b, __global const float *x, __global float *y,
                     const int n)
{
    const int i = get_global_id(0);
    float s = b[i];
    for (int j = 0; j < n; j++)
        if (j != i)
            s -= a[i * n + j] * x[j];
    y[i] = s / (fabs(a[i * n + i]) + 1.0f);
}
//// picture: brightness and contrast, four bytes each
// clmap: global=64,32 local=16,8 w=60 h=30 in=random(w*h*4) out=zeros(w*h*4)
__kernel void contrast(__global const uchar4 *in, __global uchar4 *out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h) {
        const uchar4 p = in[y * w + x];
        out[y * w + x] = (uchar4)(p.x / 2 + 10, p.y / 2 + 10, p.z / 2 + 10, p.w);
    }
}
//// picture: mirrored left to right, rows by the first id
// clmap: global=32,64 local=8,16 w=60 h=30 in=random(w*h) out=zeros(w*h)
__kernel void mirrored(__global const uchar *in, __global uchar *out, const int w, const int h)
{
    const int y = get_global_id(0), x = get_global_id(1);
    if (x < w && y < h)
        out[y * w + (w - 1 - x)] = in[y * w + x];
}
//// picture: halved, means of four
// clmap: global=32,32 local=8,8 w=60 h=62 in=random(w*h) out=zeros(w*h)
__kernel void halved(__global const float *in, __global float *out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w / 2 || y >= h / 2)
        return;
    out[y * (w / 2) + x] = 0.25f * (in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1] + in[(2 * y + 1) * w + 2 * x]
                                    + in[(2 * y + 1) * w + 2 * x + 1]);
}
//// picture: greatest difference to the eight around
// clmap: global=48,32 local=16,8 w=45 h=30 in=random(w*h) out=zeros(w*h)
__kernel void edges(__global const int *in, __global int *out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const int c = in[y * w + x] & 255;
    int most = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            most = max(most, (int)abs_diff(c, in[(y + dy) * w + x + dx] & 255));
    out[y * w + x] = most;
}
//// picture: a fractal, escape counts
// clmap: global=48,32 local=16,8 w=45 most=50 out=zeros(1440)
__kernel void fractal(__global int *out, const int w, const int most)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w)
        return;
    float a = 0.0f, b = 0.0f, ca = x * 0.05f - 1.5f, cb = y * 0.06f - 1.0f;
    int k = 0;
    while (k < most && a * a + b * b < 4.0f) {
        const float t = a * a - b * b + ca;
        b = 2.0f * a * b + cb;
        a = t;
        k++;
    }
    out[y * w + x] = k;
}
//// sound: mixed channels with gains
// clmap: global=1024 local=64 frames=1000 channels=4 in=random(frames*channels) gain=random(4) out=zeros(frames)
__kernel void mixed(__global const float *in, __global const float *gain, __global float *out, const int frames,
                    const int channels)
{
    const int f = get_global_id(0);
    if (f >= frames)
        return;
    float s = 0.0f;
    for (int c = 0; c < channels; c++)
        s += in[f * channels + c] * gain[c];
    out[f] = clamp(s, -1.0f, 1.0f);
}
//// sound: energies of frames that follow each other
// clmap: global=64 local=32 n=4000 len=64 x=random(n) e=zeros(64)
__kernel void energies(__global const float *x, __global float *e, const int n, const int len)
{
    const int f = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < len; k++) {
        if (f * len + k >= n)
            break;
        s = mad(x[f * len + k], x[f * len + k], s);
    }
    e[f] = s;
}
//// sound: an echo from earlier, in place by blocks
// clmap: global=64 local=64 delay=64 blocks=8 x=random(512)
__kernel void echo(__global float *x, const int delay, const int blocks)
{
    const int l = get_local_id(0);
    for (int b = 1; b < blocks; b++) {
        x[b * 64 + l] += 0.5f * x[b * 64 + l - delay];
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
//// sound: resampled between two neighbours
// clmap: global=512 local=64 n=300 m=500 x=random(n) y=zeros(m)
__kernel void resampled(__global const float *x, __global float *y, const int n, const int m)
{
    const int i = get_global_id(0);
    if (i < m) {
        const float at = (float)i * (n - 1) / m;
        const int k = (int)at;
        y[i] = mix(x[k], x[min(k + 1, n - 1)], at - k);
    }
}
//// physics: heat along a rod, many rods
// clmap: global=64 local=32 points=50 rods=64 u=random(3200) v=zeros(3200)
__kernel void rods(__global const float *restrict u, __global float *restrict v, const int points, const int rods)
{
    const int r = get_global_id(0);
    if (r < rods)
        for (int p = 1; p < points - 1; p++)
            v[r * points + p] = u[r * points + p] + 0.1f * (u[r * points + p - 1] - 2.0f * u[r * points + p]
                                                            + u[r * points + p + 1]);
}
//// physics: forces along chains, arrays of structures
// clmap: global=128 local=32 n=120 b=random(n) f=zeros(n)
typedef struct { float x, y, z, m; } Bead;
__kernel void chain(__global const Bead *b, __global float *f, const int n)
{
    const int i = get_global_id(0);
    if (i < 1 || i >= n - 1)
        return;
    const float dx = b[i + 1].x - b[i - 1].x, dy = b[i + 1].y - b[i - 1].y, dz = b[i + 1].z - b[i - 1].z;
    f[i] = b[i].m * sqrt(dx * dx + dy * dy + dz * dz);
}
//// physics: total energy in chunks of particles
// clmap: global=128 local=32 n=500 per=4 m=random(n) v=random(n*4) e=zeros(4)
__kernel void kinetic(__global const float *m, __global const float4 *v, __global float *e, const int n, const int per)
{
    __local float part[32];
    const int l = get_local_id(0);
    const int from = get_global_id(0) * per, to = min(from + per, n);
    float sum = 0.0f;
    for (int i = from; i < to; i++)
        sum += 0.5f * m[i] * dot(v[i].xyz, v[i].xyz);
    part[l] = sum;
    for (int s = get_local_size(0) / 2; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        e[get_group_id(0)] = part[0];
}
//// learning: gradient of a line, each feature a work-item
// clmap: global=64 local=32 samples=40 features=64 x=random(2560) err=random(40) g=zeros(64)
// also: features=50
__kernel void gradient(__global const float *x, __global const float *err, __global float *g, const int samples,
                       const int features)
{
    const int f = get_global_id(0);
    if (f < features) {
        float s = 0.0f;
        for (int k = 0; k < samples; k++)
            s += err[k] * x[k * features + f];
        g[f] = s / samples;
    }
}
//// learning: likeness of rows to a query
// clmap: global=128 local=32 d=24 n=120 rows=random(2880) q=random(24) out=zeros(128)
__kernel void likeness(__global const float *rows, __global const float *q, __global float *out, const int d, const int n)
{
    const int r = get_global_id(0);
    if (r >= n)
        return;
    float ab = 0.0f, aa = 0.0f, bb = 0.0f;
    for (int k = 0; k < d; k++) {
        const float a = rows[r * d + k], b = q[k];
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    out[r] = ab * rsqrt(aa * bb + 1e-6f);
}
//// learning: the class of each row
// clmap: global=128 local=32 classes=10 n=120 score=random(1280) label=zeros(128)
__kernel void classes_of(__global const float *score, __global int *label, const int classes, const int n)
{
    const int r = get_global_id(0);
    if (r < n) {
        int best = 0;
        for (int c = 1; c < classes; c++)
            if (score[r * classes + c] > score[r * classes + best])
                best = c;
        label[r] = best;
    }
}
//// learning: dropped by a mask of bits
// clmap: global=512 local=64 n=500 x=random(n) mask=random(16) y=zeros(n)
__kernel void dropped(__global const float *x, __global const uint *mask, __global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = mask[i / 32] >> (i % 32) & 1 ? 2.0f * x[i] : 0.0f;
}
//// learning: loss of a batch in one group
// clmap: global=64 local=64 n=1000 p=random(n) t=random(n) loss=zeros(1)
__kernel void loss_of(__global const float *p, __global const float *t, __global float *loss, const int n)
{
    __local float part[64];
    const int l = get_local_id(0);
    const int per = (n + 63) / 64;
    float s = 0.0f;
    for (int i = l * per; i < (l + 1) * per; i++) {
        if (i < n) {
            const float d = p[i] - t[i];
            s += d * d;
        }
    }
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        float all = 0.0f;
        for (int k = 0; k < 64; k++)
            all += part[k];
        *loss = all / n;
    }
}
//// coding: run lengths, each start looks ahead
// clmap: global=512 local=64 n=500 x=random(n) len=zeros(512)
__kernel void runs(__global const uchar *x, __global int *len, const int n)
{
    const int i = get_global_id(0);
    if (i >= n || (i > 0 && (x[i] & 1) == (x[i - 1] & 1)))
        return;
    int k = 1;
    while (i + k < n && (x[i + k] & 1) == (x[i] & 1))
        k++;
    len[i] = k;
}
//// coding: three bytes to four characters
// clmap: global=128 local=32 n=120 in=random(360) out=zeros(480)
__kernel void sixes(__global const uchar *in, __global uchar *out, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    const uint w = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[4 * i] = 32 + (w >> 18);
    out[4 * i + 1] = 32 + (w >> 12 & 63);
    out[4 * i + 2] = 32 + (w >> 6 & 63);
    out[4 * i + 3] = 32 + (w & 63);
}
//// coding: a block of sixteen bytes through a table
// clmap: global=64 local=32 table=random(256) in=random(1024) out=zeros(1024) key=random(16)
__kernel void substituted(__constant uchar *table, __global const uchar *in, __global uchar *out, __constant uchar *key)
{
    const int b = get_global_id(0) * 16;
    for (int k = 0; k < 16; k++)
        out[b + k] = table[in[b + (k * 5) % 16]] ^ key[k];
}
//// time: positions along a track, a chunk of steps each, from the step before
// clmap: global=64 local=32 n=1024 x=random(n) y=zeros(n)
__kernel void integrate(__global const float *x, __global float *y, const int n)
{
    const int per = n / get_global_size(0);
    const int from = get_global_id(0) * per;
    float p = 0.0f;
    for (int i = from; i < from + per; i++) {
        p += x[i];
        y[i] = p;
    }
}
//// sums: two dimensions in a group, known by the first id only, atomics
// clmap: global=64,8 local=16,8 n=512 per=8 x=random(n) out=zeros(4)
// also: local=32,4
__kernel void doubled(__global const int *x, __global int *out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < min(start + per, n); i++)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: each starts with something of its own
// clmap: global=256 local=64 n=4096 per=16 x=random(n) bias=random(256) out=zeros(4)
__kernel void biased(__global const int *restrict x, __global const int *restrict bias, __global int *restrict out,
                     const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = bias[get_global_id(0)];
    for (int i = start; i < start + per; i++)
        s += x[i];
    s -= l;
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = get_local_size(0) / 2; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// sums: start and end of the data are one buffer, the first is stored before a barrier
// clmap: global=256 local=64 n=4096 per=16 x=random(n) y=zeros(n)
// also: same=x:y
__kernel void stored_before(__global const int *x, __global int *y, const int n, const int per)
{
    __local int total;
    const int start = get_global_id(0) * per;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    y[start] = -1;
    atomic_add(&total, s);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        y[start + 1] = total;
}
//// sums: stored after the loop's barrier, into what was read
// clmap: global=256 local=64 n=4096 per=16 x=random(n) y=zeros(n)
// also: same=x:y
__kernel void stored_after(__global const int *x, __global int *y, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[start] = part[0];
}
//// sums: long chunks by unsigned numbers, cut far before their end
// clmap: global=64 local=64 n=3000 per=100000000 x=random(n) out=zeros(1)
// also: per=67108864
// also: per=3000
__kernel void far(__global const int *x, __global int *out, const uint n, const uint per)
{
    const uint start = min((ulong)get_global_id(0) * per, (ulong)n);
    const uint end = (uint)min((ulong)start + per, (ulong)n);
    int s = 0;
    for (uint i = start; i < end; i++)
        s += x[i];
    atomic_add(out, s);
}
//// sums: oversized chunks
// clmap: global=64 local=32 n=3000 per=60000000 x=random(n) out=zeros(1)
// also: per=67108863 local=32
__kernel void oversized(__global const int *x, __global int *out, const int n, const int per)
{
    const int first = get_local_id(0) * per + get_group_id(0) * 1500;
    int s = 0;
    for (int i = first; i < first + per && i < (get_group_id(0) + 1) * 1500; i++)
        s += x[i];
    atomic_add(out, s);
}
//// sums: a sub-total for each quarter of the group
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(16)
__kernel void quarters(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 8; d > 0; d /= 2) {
        if (l % 16 < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l % 16 == 0)
        out[get_global_id(0) / 16] = part[l];
}
//// sums: the tree goes on in the next group's loop
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void in_rounds(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    int total = 0;
    for (int round = 0; round < 2; round++) {
        part[l] = s + round;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int d = 32; d > 0; d /= 2) {
            if (l < d)
                part[l] += part[l + d];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        total += part[0];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = total;
}
//// sums: the number of rounds is an argument
// clmap: global=256 local=64 n=4096 per=16 rounds=3 x=random(n) out=zeros(4)
__kernel void in_given_rounds(__global const int *restrict x, __global int *restrict out, const int n, const int per,
                              const int rounds)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    for (int round = 0; round < rounds; round++)
        s += l == 3 ? s : round;
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// sums: swapped through local memory, then added to the neighbour's
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(256)
__kernel void neighbour(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s + part[l ^ 1];
}
//// sums: work-items of the upper half add nothing
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void half_of_them(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    part[l] = 0;
    if (l < 32)
        part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// sums: local memory longer than the group, with rests of before
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
// also: local=32 out=zeros(8)
__kernel void longer(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[128];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    for (int k = l; k < 128; k += get_local_size(0))
        part[k] = 7;
    barrier(CLK_LOCAL_MEM_FENCE);
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        int t = 0;
        for (int k = 0; k < 128; k++)
            t += part[k];
        out[get_group_id(0)] = t;
    }
}
//// sums: chosen by a flag in memory, all of a group alike
// clmap: global=256 local=64 n=4096 per=16 x=random(n) flag=random(4) out=zeros(4)
__kernel void chosen(__global const int *restrict x, __global const int *restrict flag, __global int *restrict out,
                     const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        if (flag[get_group_id(0)] & 1)
            s += x[i];
    if (flag[get_group_id(0)] & 2)
        atomic_add(&out[get_group_id(0)], s);
}
//// sums: chosen by a flag of each
// clmap: global=256 local=64 n=4096 per=16 x=random(n) flag=random(256) out=zeros(4)
__kernel void chosen_each(__global const int *restrict x, __global const int *restrict flag, __global int *restrict out,
                          const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    if (flag[get_global_id(0)] & 2)
        atomic_add(&out[get_group_id(0)], s);
}
//// sums: vectors of four, the rest by one work-item
// clmap: global=256 local=64 n=4100 x=random(4100) out=zeros(1)
// also: n=4099
__kernel void fours(__global const int *x, __global int *out, const int n)
{
    const int per = n / 4 / get_global_size(0);
    __global const int4 *v = (__global const int4 *)x;
    int4 s = 0;
    for (int i = 0; i < per; i++)
        s += v[get_global_id(0) * per + i];
    int t = s.x + s.y + s.z + s.w;
    if (get_global_id(0) == 0)
        for (int i = per * 4 * get_global_size(0); i < n; i++)
            t += x[i];
    atomic_add(out, t);
}
//// sums: a private array of sums
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void private_sums(__global const uint *restrict x, __global uint *restrict out, const int n, const int per)
{
    uint s[4] = {0, 0, 0, 0};
    const int start = get_global_id(0) * per;
    for (int i = start; i < start + per; i++)
        s[x[i] & 3] += 1;
    for (int k = 0; k < 4; k++)
        atomic_add(&out[k], s[k]);
}
//// sums: first and last are names of arguments
// clmap: global=256 local=64 first=16 last=4000 x=random(4096) out=zeros(1)
// also: last=100
// also: last=16
__kernel void named(__global const int *x, __global int *out, const int first, const int last)
{
    const int per = (last - first + get_global_size(0) - 1) / get_global_size(0);
    const int from = first + get_global_id(0) * per;
    int s = 0;
    for (int i = from; i < min(from + per, last); ++i)
        s += x[i];
    atomic_add(out, s);
}
//// sums: with an offset of the launch
// clmap: global=256 local=64 offset=64 n=5120 per=16 x=random(n) out=zeros(8)
__kernel void offset(__global const int *x, __global int *out, const int n, const int per)
{
    int s = 0;
    for (int i = get_global_id(0) * per; i < min((int)(get_global_id(0) * per + per), n); ++i)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: chars, wrapping shorts
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void wrapping(__global const uchar *restrict x, __global uint *restrict out, const int n, const int per)
{
    __local uint part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    ushort s = 0;
    for (int i = start; i < start + per; i++)
        s += (ushort)(x[i] * 256);
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// sums: saturated on the way
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void saturated(__global const uchar *restrict x, __global uint *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    uint s = 0;
    for (int i = start; i < start + per; i++)
        s = min(s + x[i], 900u);
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: taken away, with a tree of differences
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void taken_away(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    __local int part[64];
    const int l = get_local_id(0), start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s -= x[i];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d > 0; d /= 2) {
        if (l < d)
            part[l] -= part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = part[0];
}
//// sums: a macro for the loop, a macro for the element
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
#define EACH(i) for (int i = get_global_id(0) * per; i < ((int)get_global_id(0) + 1) * per; i++)
#define X(i) x[(i) < n ? (i) : n - 1]
__kernel void by_macros(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    int s = 0;
    EACH(i)
        s += X(i);
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: build that sets the chunk
// clmap: global=256 local=64 n=4096 x=random(n) out=zeros(4)
// also: -DPER=8
// also: -DPER=15
#ifndef PER
#define PER 16
#endif
__kernel void built(__global const int *restrict x, __global int *restrict out, const int n)
{
    const int start = get_global_id(0) * PER;
    int s = 0;
    for (int i = start; i < start + PER; i++) {
        if (i >= n)
            break;
        s += x[i];
    }
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: a helper reads the element
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
int read_one(__global const int *x, int i, int n)
{
    return i < n ? x[i] : 0;
}
__kernel void helped(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += read_one(x, i, n);
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: of this element and the one a chunk on
// clmap: global=256 local=64 n=4096 per=16 x=random(4200) out=zeros(4)
__kernel void pairs(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i] * x[i + per];
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: one of the group's chunk is left out
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void left_out(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++) {
        if (i == start)
            continue;
        s += x[i];
    }
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: every second element
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void every_second(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i += 2)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: chunks of columns of a matrix
// clmap: global=64,16 local=32,1 w=512 h=16 per=8 x=random(8192) out=zeros(16)
__kernel void row_chunks(__global const int *restrict x, __global int *restrict out, const int w, const int h, const int per)
{
    const int y = get_global_id(1), start = get_global_id(0) * per;
    int s = 0;
    for (int c = start; c < min(start + per, w); c++)
        s += x[y * w + c];
    atomic_add(&out[y], s);
}
//// sums: two in one loop, one stored by each
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4) each=zeros(256)
__kernel void two_sums(__global const int *restrict x, __global int *restrict out, __global int *restrict each, const int n,
                       const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0, t = 0;
    for (int i = start; i < start + per; i++) {
        s += x[i];
        t += x[i] & 1;
    }
    each[get_global_id(0)] = t;
    atomic_add(&out[get_group_id(0)], s);
}
//// sums: the greatest of sums, by a barrier of all
// clmap: global=256 local=64 n=4096 per=16 x=random(n) out=zeros(4)
__kernel void greatest_sum(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    const int start = get_global_id(0) * per;
    int s = 0;
    for (int i = start; i < start + per; i++)
        s += x[i];
    atomic_max(&out[get_group_id(0)], s);
}
//// loops: rows over a threshold
// clmap: global=128 local=32 n=64 t=10 a=random(8192) out=zeros(128)
// also: n=63
// also: n=3
__kernel void over(__global const int *restrict a, __global int *restrict out, const int n, const int t)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        if (a[r * n + k] > t)
            s += a[r * n + k];
        else
            s--;
    }
    out[r] = s;
}
//// loops: the largest and where, by rows
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128) at=zeros(128)
// also: n=61
__kernel void where(__global const float *a, __global float *out, __global int *at, const int n)
{
    const int r = get_global_id(0);
    float m = a[r * n];
    int p = 0;
    for (int k = 0; k < n; k++)
        if (a[r * n + k] > m) {
            m = a[r * n + k];
            p = k;
        }
    out[r] = m;
    at[r] = p;
}
//// loops: stored under a condition
// clmap: global=128 local=32 n=64 a=random(8192) out=random(8192)
// also: same=a:out
__kernel void clipped(__global const int *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    for (int k = 0; k < n; k++)
        if (a[r * n + k] > 5)
            out[r * n + k] = a[r * n + k];
}
//// loops: an else that belongs to the inner if
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void dangling(__global const int *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[r * n + k] > 5)
            if (a[r * n + k] > 50)
                s += 2;
            else
                s += 1;
    if (s > 3)
        out[r] = s;
}
//// loops: short circuits in the condition
// clmap: global=128 local=32 n=64 a=random(8192) b=random(64) out=zeros(128)
// also: n=62
__kernel void circuits(__global const int *a, __global const int *b, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[r * n + k] > 5 && b[k] > 7)
            s += a[r * n + k];
    out[r] = s;
}
//// loops: the counter is tested
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void tested(__global const int *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        const int v = a[r * n + k];
        if (k != r && k % 3)
            s += v;
    }
    out[r] = s;
}
//// loops: runs of equal elements
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void equals(__global const uchar *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int run = 0, most = 0, before = -1;
    for (int k = 0; k < n; k++) {
        const int v = a[r * n + k] & 1;
        if (v == before)
            run++;
        else
            run = 1;
        if (run > most)
            most = run;
        before = v;
    }
    out[r] = most;
}
//// loops: what is set is used behind
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void last_seen(__global const int *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int last = -1;
    int k;
    for (k = 0; k < n; ++k) {
        if (a[r * n + k] % 5 == 0)
            last = k;
    }
    out[r] = last + k;
}
//// loops: a running sum in memory behind a first store
// clmap: global=64,16 local=16,4 stride=64 in=random(1024) out=random(1024) rows=zeros(16)
// also: same=in:out
__kernel void prefixes(__global int *out, __global int *in, __global int *rows, const int stride)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * stride + x;
    out[at] = 0;
    if (x > 0) {
        for (int i = 0; i < x; i++)
            out[at] += in[y * stride + i];
    }
    if (x == stride - 1)
        rows[y] = out[at] + in[y * stride + x];
}
//// loops: a running sum in memory, first stored elsewhere
// clmap: global=64,16 local=16,4 stride=64 in=random(1024) out=random(1024)
__kernel void some_prefixes(__global int *out, __global int *in, const int stride)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * stride + x;
    if (x > 3)
        out[at] = 0;
    if (x > 0) {
        for (int i = 0; i < x - 2; i++)
            out[at] += in[y * stride + i];
    }
}
//// loops: bytes to words, conditions between
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void digits(__global const uchar *a, __global uint *out, const int n)
{
    const int r = get_global_id(0);
    uint v = 0;
    for (int k = 0; k < n; k++) {
        const uchar c = a[r * n + k];
        if (c >= '0')
            if (c <= '9')
                v = v * 10 + (c - '0');
    }
    out[r] = v;
}
//// loops: a switch over the element
// clmap: global=128 local=32 n=64 a=random(8192) out=zeros(128)
__kernel void switched(__global const int *a, __global int *out, const int n)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        switch (a[r * n + k] & 3) {
        case 0: s += 1; break;
        case 1: s *= 3; break;
        default: s ^= k;
        }
    }
    out[r] = s;
}
//// text: all on one line
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
// also: n=4096
__kernel void one_line(__global const int *restrict x, __global int *restrict out, const int n, const int per) { int s = 0; const int b = get_global_id(0) * per; for (int i = b; i < min(b + per, n); i++) s += x[i]; atomic_add(&out[get_group_id(0)], s); }
//// text: a comment at the loop, braces on lines of their own
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
__kernel void commented(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
	int s = 0;
	int begin = get_global_id(0)*per;   // where mine begin
	int end = begin+per;                /* and end */
	if(end>n) { end = n; }
	#pragma unroll 4
	for(int i=begin;i<end;i++)          // mine
	{
		/* each */
		s+=x[i];
	}
	atomic_add(&out[get_group_id(0)],s);
}
//// text: the counter is declared far above, and used by two loops
// clmap: global=256 local=64 n=4000 per=16 x=random(n) y=random(n) out=zeros(4)
__kernel void twice(__global const int *restrict x, __global const int *restrict y, __global int *restrict out,
                    const int n, const int per)
{
    int i, s = 0;
    const int b = get_global_id(0) * per;
    const int e = b + per < n ? b + per : n;
    for (i = b; i < e; ++i)
        s += x[i];
    for (i = b; i < e; ++i)
        s -= y[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// text: the end is used again
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4) ends=zeros(256)
__kernel void end_again(__global const int *restrict x, __global int *restrict out, __global int *restrict ends,
                        const int n, const int per)
{
    int s = 0;
    int b = get_global_id(0) * per;
    int e = b + per;
    if (e > n)
        e = n;
    for (int i = b; i < e; i++)
        s += x[i];
    ends[get_global_id(0)] = e;
    atomic_add(&out[get_group_id(0)], s);
}
//// text: long and short counters
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
__kernel void mixed_widths(__global const int *restrict x, __global int *restrict out, const uint n, const ushort per)
{
    int s = 0;
    for (long i = (long)get_global_id(0) * per; i < (long)(get_global_id(0) + 1) * per && i < n; i++)
        s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// text: unsigned spelt out
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
__kernel void spelt(__global const int *restrict x, __global int *restrict out, unsigned int n, unsigned int per)
{
    int s = 0;
    unsigned int first_one = get_global_id(0) * per;
    for (unsigned int i = first_one; i < first_one + per; i += 1)
        if (i < n)
            s += x[i];
    atomic_add(&out[get_group_id(0)], s);
}
//// text: id through a helper's macro
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
#define TID ((int)get_global_id(0))
#define LID ((int)get_local_id(0))
#define PER_ITEM (per)
__kernel void macros_of_ids(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    int s = 0;
    const int b = TID * PER_ITEM;
    for (int i = b; i < min(b + PER_ITEM, n); i++)
        s += x[i];
    if (LID >= 0)
        atomic_add(&out[get_group_id(0)], s);
}
//// text: a local id that is changed afterwards
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
__kernel void lid_changed(__global const int *restrict x, __global int *restrict out, const int n, const int per)
{
    int lid = get_local_id(0);
    int s = 0;
    const int b = (get_group_id(0) * get_local_size(0) + lid) * per;
    lid += 3;
    for (int i = b; i < min(b + per, n); i++)
        s += x[i];
    atomic_add(&out[lid % 4], s);
}
//// text: a parameter named like a built-in size
// clmap: global=256 local=64 n=4000 size=16 x=random(n) out=zeros(4)
__kernel void sized(__global const int *restrict x, __global int *restrict out, const int n, const int size)
{
    int sum = 0, step = 0;
    const int lsize = get_local_size(0), group = get_group_id(0), lid = get_local_id(0);
    const int base = group * lsize * size;
    for (int i = base + lid * size; i < base + (lid + 1) * size; i++) {
        if (i >= n) break;
        sum += x[i], step++;
    }
    atomic_add(&out[group], sum + step);
}
//// text: vectors by their elements
// clmap: global=256 local=64 n=1024 per=4 x=random(n) out=zeros(4)
__kernel void members(__global const int4 *restrict x, __global int *restrict out, const int n, const int per)
{
    int s = 0, m = 0;
    const int b = get_global_id(0) * per;
    for (int i = b; i < b + per; i++) {
        const int4 v = x[i];
        s += v.x + v.w;
        m |= v.y;
    }
    atomic_add(&out[get_group_id(0)], s);
    atomic_or(&out[3], m);
}
//// text: stored elements, and a count of them
// clmap: global=256 local=64 n=4000 per=16 x=random(n) y=zeros(4096) out=zeros(4)
__kernel void stored_and_counted(__global const int *restrict x, __global int *restrict y, __global int *restrict out,
                                 const int n, const int per)
{
    int changed = 0;
    const int b = get_global_id(0) * per;
    for (int i = b; i < b + per; i++) {
        if (i >= n)
            break;
        const int v = x[i] & 15;
        if (v != 3) {
            y[i] = v;
            changed++;
        }
    }
    atomic_add(&out[get_group_id(0)], changed);
}
//// text: in place, with the total of what was
// clmap: global=256 local=64 n=4000 per=16 x=random(n) out=zeros(4)
__kernel void in_place(__global int *restrict x, __global int *restrict out, const int n, const int per)
{
    int was = 0;
    const int b = get_global_id(0) * per, e = min(b + per, n);
    for (int i = b; i < e; i++) {
        was += x[i];
        x[i] = 0;
    }
    atomic_add(&out[get_group_id(0)], was);
}
//// text: structures
// clmap: global=256 local=64 n=1024 per=4 p=random(n) out=zeros(4)
struct item { int price, count; };
__kernel void turnover(__global const struct item *restrict p, __global int *restrict out, const int n, const int per)
{
    int s = 0;
    const int b = get_global_id(0) * per;
    for (int i = b; i < min(b + per, n); i++)
        s += p[i].price * p[i].count;
    atomic_add(&out[get_group_id(0)], s);
}
//// text: a private copy and a nested loop
// clmap: global=256 local=64 n=4096 per=16 w=3 x=random(4100) out=zeros(4)
__kernel void windows(__global const int *restrict x, __global int *restrict out, const int n, const int per, const int w)
{
    int s = 0;
    const int b = get_global_id(0) * per;
    for (int i = b; i < b + per; i++) {
        int m = INT_MIN;
        for (int j = 0; j < w; j++)
            m = max(m, x[i + j]);
        s += m;
    }
    atomic_add(&out[get_group_id(0)], s);
}
