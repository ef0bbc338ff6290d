//// select on scalars tests for nonzero, on vectors the sign bit
// clmap: global=4096 local=64 a=random(4096) b=random(4096,1) c=formula(4096,i%3-1) o=zeros(4096)
__kernel void pick(__global const float *restrict a, __global const float *restrict b, __global const int *restrict c, __global float *restrict o)
{
    const int i = get_global_id(0);
    o[i] = select(a[i], b[i], c[i]);
}
//// dot, length and distance of scalars
// clmap: global=4096 local=64 a=random(4096) b=random(4096,1) o=zeros(4096)
__kernel void dots(__global const float *restrict a, __global const float *restrict b, __global float *restrict o)
{
    const int i = get_global_id(0);
    o[i] = dot(a[i], b[i]) + length(a[i]) + distance(a[i], b[i]);
}
//// a scalar normalised
// clmap: global=4096 local=64 a=random(4096) o=zeros(4096)
__kernel void unit(__global const float *restrict a, __global float *restrict o)
{
    const int i = get_global_id(0);
    o[i] = normalize(a[i]) * 2.0f;
}
//// any and all, isnan, signbit as numbers
// clmap: global=4096 local=64 a=formula(4096,(i*37)%7-3) o=zeros(4096)
__kernel void tests(__global const float *restrict a, __global int *restrict o)
{
    const int i = get_global_id(0);
    o[i] = isless(a[i], 1.0f) + signbit(a[i]) * 2 + isnan(a[i]);
}
//// shifts by the element, wider than a byte
// clmap: global=4096 local=64 a=formula(4096,i%9) b=formula(4096,i%7) o=zeros(4096)
__kernel void shifted(__global const uchar *restrict a, __global const uchar *restrict b, __global uchar *restrict o)
{
    const int i = get_global_id(0);
    o[i] = (uchar)((a[i] << b[i]) >> 2);
}
//// not, and, or of elements
// clmap: global=4096 local=64 a=formula(4096,i%3) b=formula(4096,i%2) o=zeros(4096)
__kernel void logic(__global const int *restrict a, __global const int *restrict b, __global int *restrict o)
{
    const int i = get_global_id(0);
    o[i] = !a[i] + (a[i] && b[i]) + (a[i] || !b[i]) * 4;
}
//// absolute difference, average and saturated sums of signed bytes
// clmap: global=4096 local=64 a=formula(4096,i%255-127) b=formula(4096,(i*7)%255-127) o=zeros(4096)
__kernel void bytes(__global const char *restrict a, __global const char *restrict b, __global char *restrict o)
{
    const int i = get_global_id(0);
    o[i] = add_sat(a[i], b[i]) - abs(a[i]) + hadd(a[i], (char)3);
}
//// literals beside bytes in clamp and max
// clmap: global=4096 local=64 a=formula(4096,i%251) o=zeros(4096)
__kernel void clamped(__global const uchar *restrict a, __global uchar *restrict o)
{
    const int i = get_global_id(0);
    o[i] = clamp(a[i] * 2 - 100, 0, 255);
}
//// an index written before its array
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=63
__kernel void reversed(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += k[a + r * n] + (r * n + k)[a];
    r[o] = s;
}
//// sizeof an element, its address, and an element behind its address
// clmap: global=64 local=16 n=63 a=random(4096) o=zeros(64)
// also: n=60
__kernel void sizes(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[r * n + k] * sizeof(a[r * n + k]);
        s += (&a[r * n + k])[1];
    }
    o[r] = s;
}
//// comma and assignment in the subscript
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
__kernel void comma(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    int q = 0;
    for (int k = 0; k < n; k++)
        s += a[(q += 1, r * n + k)] * a[q = k + 1];
    o[r] = s + q;
}
//// the pointer is one of two, by a flag
// clmap: global=64 local=16 n=64 flag=1 a=random(4096) b=random(4096,1) o=zeros(64)
// also: flag=0
// also: n=61 flag=1
__kernel void either(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, const int n, const int flag)
{
    const int r = get_global_id(0);
    if (flag)
        a = b;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k];
    o[r] = s;
}
//// an inner pointer with the parameter's name
// clmap: global=64 local=16 n=64 a=random(4100) o=zeros(64)
// also: n=60
__kernel void hidden(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = a[r];
    {
        __global const float *b = a + 3;
        __global const float *a = b;
        for (int k = 0; k < n; k++)
            s += a[r * n + k];
    }
    o[r] = s;
}
//// a ushort index that wraps at the row
// clmap: global=64 local=16 n=2048 a=random(65536) o=zeros(64)
// also: n=2047
__kernel void wrapped(__global const float *restrict a, __global float *restrict o, const int n)
{
    const ushort r = get_global_id(0);
    float s = 0.0f;
    for (ushort k = 0; k < n; k++)
        s += a[(ushort)(r * n + k)];
    o[r] = s;
}
//// the counter's limit is a local variable stepped through a pointer
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=63
__kernel void through(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    int m = n;
    int *p = &m;
    float s = 0.0f;
    for (int k = 0; k < m; k++) {
        s += a[r * n + k];
        if (s > 8.0f)
            *p = k;
    }
    o[r] = s;
}
//// elements by three that repeat, and the mirrored one
// clmap: global=4096 local=64 n=4096 a=random(4096) b=random(3) o=zeros(4096)
// also: n=4095
__kernel void cyclic(__global const float *restrict a, __global const float *restrict b, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        o[i] = a[i] * b[i % 3] + a[n - 1 - i];
}
//// blocks of the launch as one number: groups, and how many there are
// clmap: global=4096 local=64 a=random(4096) o=zeros(4096) g=zeros(64)
// also: local=32 g=zeros(128)
__kernel void counted(__global const float *restrict a, __global float *restrict o, __global int *restrict g)
{
    const int i = get_global_id(0);
    o[i] = a[i] * 2.0f;
    if (get_local_id(0) == 0)
        g[get_group_id(0)] = get_num_groups(0);
}
//// a chunked launch that knows its own size
// clmap: global=1024 local=64 n=5000 a=random(5000) o=zeros(5000)
// also: global=512
// also: n=1
__kernel void strided(__global const float *restrict a, __global float *restrict o, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        o[i] = a[i] + (float)get_global_size(0);
}
//// guard turned round, with the work in the else
// clmap: global=4096 local=64 n=4000 a=random(4096) o=zeros(4096)
// also: n=4096
// also: n=0
__kernel void otherwise(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    if (!(i < n)) {
    } else
        o[i] = a[i] + 1.0f;
}
//// two guards, of which one is behind the store
// clmap: global=4096 local=64 n=4000 m=4090 a=random(4096) o=zeros(4096) p=zeros(4096)
// also: n=4096 m=3
// also: n=1 m=4096
__kernel void twice(__global const float *restrict a, __global float *restrict o, __global float *restrict p, const int n, const int m)
{
    const size_t i = get_global_id(0);
    if (i >= n) return;
    o[i] = a[i] * 3.0f;
    if (i >= m) return;
    p[i] = a[i] - 1.0f;
}
//// pointers that fract, modf and sincos store through
// clmap: global=4096 local=64 a=random(4096) o=zeros(4096) p=zeros(4096)
__kernel void parts(__global const float *restrict a, __global float *restrict o, __global float *restrict p)
{
    const int i = get_global_id(0);
    float whole, c;
    o[i] = fract(a[i] * 8.0f, &whole);
    p[i] = whole + sincos(a[i], &c) + c;
}
//// integers divided by what may be nought, guarded by the element
// clmap: global=4096 local=64 a=formula(4096,i*13) b=formula(4096,i%5) o=zeros(4096)
__kernel void ratios(__global const int *restrict a, __global const int *restrict b, __global int *restrict o)
{
    const int i = get_global_id(0);
    o[i] = b[i] ? a[i] / b[i] : -1;
}
//// saturated conversions, halves of ints, upsample
// clmap: global=4096 local=64 a=formula(4096,i*7-9000) o=zeros(4096)
__kernel void converted(__global const int *restrict a, __global short *restrict o)
{
    const int i = get_global_id(0);
    o[i] = convert_short_sat(a[i] * 4) ^ (short)mul_hi(a[i], 65537);
}
//// rows of halves loaded by vload_half, converted by rounding
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=63
__kernel void halved(__global const half *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += vload_half(r * n + k, a);
    o[r] = s;
}
//// names of ours as macros with arguments, enumerators and labels
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=61
#define a_4(x) ((x) + 1)
#define k0 r
enum { LANES = 3, k1 = 5 };
__kernel void taken(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = a_4(0.0f);
    for (int k = 0; k < n; k++)
        s += a[k0 * n + k] * LANES;
    o[r] = s + k1;
}
//// a shadowed n between the guard and the loop
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=40
__kernel void shadowed(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    if (r < n) {
        const int width = n;
        const int n = width / 2 + 3;
        float s = 0.0f;
        for (int k = 0; k < n; k++)
            s += a[r * width + k];
        o[r] = s;
    }
}
//// statements of the loop by macros with do and while
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=61
#define ADD(s, v) do { s += (v); } while (0)
#define EACH(k, n) for (int k = 0; k < (n); ++k)
__kernel void macros(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    EACH (k, n)
        ADD(s, a[r * n + k]);
    o[r] = s;
}
//// preprocessor lines and strings in the range that is written anew
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=62
__kernel void lines(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f; /* for (int k = 0; k < n; k++) { a[r * n + k] */
    for (int k = 0; // a[r * n + k] }
         k < n; /* { */ k++) {
        s += a[r * /* row */ n \
               + k];
#pragma STDC FP_CONTRACT OFF
        if (s < -1e30f)
            printf("a[r * n + k] } %f // \n", s);
    }
    o[r] = s;
}
//// digraphs
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
__kernel void digraphs(__global const float *restrict a, __global float *restrict o, const int n)
<%
    const int r = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) <%
        s += a<:r * n + k:>;
    %>
    o<:r:> = s;
%>
//// three dimensions, of which two are swapped by the guard
// clmap: global=16,16,4 local=8,4,1 w=16 h=16 d=4 a=random(1024) o=zeros(1024)
// also: w=13 h=16
// also: w=16 h=7 d=3
// also: local=4,2,2
__kernel void volume(__global const float *restrict a, __global float *restrict o, const int w, const int h, const int d)
{
    const int y = get_global_id(0), x = get_global_id(1), z = get_global_id(2);
    if (x < w && y < h && z < d)
        o[(z * h + y) * w + x] = a[(z * h + y) * w + x] + a[(z * h + y) * w];
}
//// a required work-group that is not square
// clmap: global=64,64 local=16,4 w=64 h=64 a=random(4096) o=zeros(4096)
// also: w=50 h=64
// also: w=64 h=33
__kernel __attribute__((reqd_work_group_size(16, 4, 1)))
void required(__global const float *restrict a, __global float *restrict o, const int w, const int h)
{
    const int y = get_global_id(0);
    const int x = get_global_id(1);
    if (x < w && y < h)
        o[y * w + x] = a[y * w + x] * 2.0f + get_local_id(0);
}
//// dimensions named by an enumerator and by a difference
// clmap: global=64,64 local=8,8 w=64 h=64 a=random(4096) o=zeros(4096)
// also: w=40 h=64
enum { X = 1, Y = 0 };
__kernel void named(__global const float *restrict a, __global float *restrict o, const int w, const int h)
{
    const int y = get_global_id(Y), x = get_global_id(2 - X);
    if (x < w && y < h)
        o[y * w + x] = a[y * w + x] + get_global_size(X);
}
//// width and height by the size of the launch, swapped ids
// clmap: global=64,32 local=8,8 a=random(2048) o=zeros(2048)
// also: global=32,64
// also: global=32,32
__kernel void by_launch(__global const float *restrict a, __global float *restrict o)
{
    const size_t y = get_global_id(0), x = get_global_id(1), w = get_global_size(1);
    o[y * w + x] = a[y * w + x] * (float)(get_global_id(0) + 1);
}
//// a partial sum of each group beside swapped ids
// clmap: global=64,64 local=8,8 w=64 a=random(4096) o=zeros(4096) g=zeros(64)
__kernel void parted(__global const int *restrict a, __global int *restrict o, __global int *restrict g, const int w)
{
    const int y = get_global_id(0), x = get_global_id(1);
    o[y * w + x] = a[y * w + x] + 1;
    if (get_local_id(0) == 0 && get_local_id(1) == 0)
        g[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = a[y * w + x];
}
//// product whose row loop starts at the group
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: local=8,8
__kernel void by_group(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
    for (int k = get_group_id(1) * 16; k < n; k++)
        s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
//// product in a case of a switch, with a default that stores too
// clmap: global=64,64 local=16,16 n=64 mode=1 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: mode=0
// also: mode=2
// also: n=61
__kernel void switched(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n, const int mode)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float s = 0.0f;
    switch (mode) {
    case 0:
        s = 1.0f;
    case 1:
        for (int k = 0; k < n; k++)
            s += a[y * n + k] * b[k * n + x];
        break;
    default:
        s = -1.0f;
    }
    c[y * n + x] = s;
}
//// product that subtracts, and one that starts at minus zero
// clmap: global=64,64 local=16,16 n=64 a=zeros(4096) b=random(4096,1) c=random(4096)
// also: n=62
// also: n=60
__kernel void minus(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float s = -0.0f;
    for (int k = 0; k < n; k++)
        s -= a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
//// product of bytes in a short, and one by mad24
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096) d=zeros(4096)
// also: n=63
__kernel void narrow(__global const uchar *restrict a, __global const char *restrict b, __global short *restrict c, __global int *restrict d, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    short s = 0;
    int t = 0;
    for (int k = 0; k < n; k++) {
        s += a[y * n + k] * b[k * n + x];
        t = mad24((int)a[y * n + k], (int)b[k * n + x], t);
    }
    c[y * n + x] = s;
    d[y * n + x] = t;
}
//// barrier of the author's between two loops, one of them to be tiled
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: n=64 local=8,8
__kernel void barriers(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    __local float row[256];
    const int x = get_global_id(0), y = get_global_id(1);
    const int l = get_local_id(1) * get_local_size(0) + get_local_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[y * n + k] * b[k * n + x];
    row[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    float t = 0.0f;
    for (int k = 0; k < 8; k++)
        t += row[(l + k) % (get_local_size(0) * get_local_size(1))];
    c[y * n + x] = t;
}
//// rows by the first id of a launch in two dimensions, added by atomics
// clmap: global=64,4 local=16,1 n=64 a=random(4096) o=zeros(64)
// also: global=64,1
// also: local=16,2
__kernel void repeated(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int r = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += a[r * n + k];
    atomic_add(&o[r], s);
}
//// greatest by a comparison that no number passes
// clmap: global=64 local=16 n=64 a=formula(4096,(i*37)%101-50) o=zeros(64) w=zeros(64)
// also: n=1
// also: n=63
__kernel void extremes(__global const float *restrict a, __global float *restrict o, __global int *restrict w, const int n)
{
    const int r = get_global_id(0);
    float m = a[r * n];
    int at = 0;
    for (int k = 1; k < n; k++)
        if (!(a[r * n + k] <= m)) {
            m = a[r * n + k];
            at = k;
        }
    o[r] = m;
    w[r] = at;
}
//// last of the equal ones, from behind
// clmap: global=64 local=16 n=64 a=formula(4096,(i*37)%11) w=zeros(64)
// also: n=5
__kernel void last(__global const int *restrict a, __global int *restrict w, const int n)
{
    const int r = get_global_id(0);
    int m = INT_MIN, at = -1;
    for (int k = n - 1; k >= 0; k--)
        if (a[r * n + k] > m) {
            m = a[r * n + k];
            at = k;
        }
    w[r] = at + m;
}
//// sum that starts at what the row stores, and is stored twice
// clmap: global=64 local=16 n=64 a=random(4096) o=random(64) p=zeros(64)
// also: n=61
__kernel void started(__global const float *restrict a, __global float *restrict o, __global float *restrict p, const int n)
{
    const int r = get_global_id(0);
    float s = o[r];
    for (int k = 0; k < n; k++)
        s += a[r * n + k];
    o[r] = s;
    p[r] = o[r] + s / n;
}
//// bits gathered, and a count of them, wrapping in a byte
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64) c=zeros(64)
// also: n=37
__kernel void gathered(__global const uint *restrict a, __global uint *restrict o, __global uchar *restrict c, const int n)
{
    const uint r = get_global_id(0);
    uint bits = 0;
    uchar count = 250;
    for (uint k = 0; k < n; k++) {
        bits |= a[r * n + k] & 0x10101u;
        count += popcount(a[r * n + k]);
    }
    o[r] = bits;
    c[r] = count;
}
//// a tree in groups of 48, with a tail by hand
// clmap: global=480 local=48 n=480 a=random(480) o=zeros(10)
// also: n=470
// also: local=32 o=zeros(15)
// also: local=40 o=zeros(12)
__kernel void odd_tree(__global const int *restrict a, __global int *restrict o, const int n)
{
    __local int s[48];
    const int l = get_local_id(0), g = get_global_id(0);
    s[l] = g < n ? a[g] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int size = get_local_size(0); size > 1;) {
        const int half = (size + 1) / 2;
        if (l < size / 2)
            s[l] += s[l + half];
        size = half;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        o[get_group_id(0)] = s[0];
}
//// a tree whose result all use, in doubles
// clmap: global=512 local=64 a=random(512) o=zeros(512)
// also: local=32
__kernel void shared_tree(__global const double *restrict a, __global double *restrict o)
{
    __local double s[64];
    const uint l = get_local_id(0), g = get_global_id(0);
    s[l] = a[g];
    for (uint d = 1; d < get_local_size(0); d <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((l & (2 * d - 1)) == 0)
            s[l] += s[l + d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = a[g] / s[0];
}
//// a tree over the greatest and its place
// clmap: global=512 local=64 a=formula(512,(i*37)%101) o=zeros(8)
// also: local=32 o=zeros(16)
__kernel void tree_at(__global const int *restrict a, __global int *restrict o)
{
    __local int s[64], at[64];
    const int l = get_local_id(0);
    s[l] = a[get_global_id(0)];
    at[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < get_local_size(0); d *= 2) {
        const int i = 2 * d * l;
        if (i + d < get_local_size(0) && s[i + d] > s[i]) {
            s[i] = s[i + d];
            at[i] = at[i + d];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        o[get_group_id(0)] = at[0];
}
//// weights added to bins, and taken from others
// clmap: global=4096 local=64 n=4096 a=formula(4096,(i*37)%16) w=formula(4096,i%7) h=zeros(32)
// also: n=4095
// also: n=0
// also: local=16
__kernel void weighted(__global const uchar *restrict a, __global const int *restrict w, volatile __global int *restrict h, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        atomic_add(&h[a[i]], w[i]);
        atomic_sub(h + 16 + a[i], w[i] >> 1);
    }
}
//// bins at a base that the host passes
// clmap: global=4096 local=64 base=8 a=formula(4096,(i*37)%16) h=zeros(64)
// also: base=0
// also: base=48
__kernel void based(__global const uchar *restrict a, __global uint *restrict h, const int base)
{
    const int i = get_global_id(0);
    atomic_inc(&h[base + (a[i] & 15)]);
}
//// bins that are counted by one and by the greatest
// clmap: global=4096 local=64 a=formula(4096,(i*37)%16) h=zeros(16) m=zeros(16)
__kernel void counted_max(__global const uchar *restrict a, __global uint *restrict h, __global uint *restrict m)
{
    const uint i = get_global_id(0);
    atomic_inc(&h[a[i] & 15]);
    atomic_max(&m[a[i] & 15], i);
}
//// a local tile as one row, its size in bytes, and its address
// clmap: global=64,64 local=16,16 a=random(4096) o=zeros(4096)
__kernel void flat(__global const float *restrict a, __global float *restrict o)
{
    __local float t[16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int g = get_global_id(1) * 64 + get_global_id(0);
    t[y][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const float *p = &t[0][0];
    o[g] = t[x][y] + p[(x * 16 + y) % (sizeof(t) / sizeof(t[0][0]))];
}
//// a local tile that vectors read by columns
// clmap: global=64,64 local=16,16 a=random(4096) o=zeros(4096)
__kernel void quads(__global const float *restrict a, __global float *restrict o)
{
    __local float t[16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int g = get_global_id(1) * 64 + get_global_id(0);
    t[y][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float4 v = vload4(y & 3, t[x]);
    o[g] = v.x + v.w + t[x][y];
}
//// tiles by threes, one of which columns read
// clmap: global=64,64 local=16,16 a=random(4096) o=zeros(4096)
// also: local=16,8
__kernel void layered(__global const float *restrict a, __global float *restrict o)
{
    __local float t[3][16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int g = get_global_id(1) * 64 + get_global_id(0);
    for (int c = 0; c < 3; c++)
        t[c][x][y] = a[g] + c;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = t[0][x][y] + t[1][x][y ^ 1 & 1 ? y : y] + t[2][x][y];
}
//// local memory of a work-item's own on this launch only
// clmap: global=64,4 local=16,1 a=random(256) o=zeros(256)
// also: local=8,2
// also: local=1,4
__kernel void own_on_one(__global const float *restrict a, __global float *restrict o)
{
    __local float s[16];
    const int x = get_local_id(0), g = get_global_id(1) * 64 + get_global_id(0);
    if (get_local_id(1) == 0)
        s[x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = s[x] + a[g];
}
//// a running sum in memory whose condition the sum itself is
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=9
// also: n=0
__kernel void until(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    for (int k = 0; k < n && o[r] < 4.0f; k++)
        o[r] += a[r * n + k];
}
//// a store in memory each turn, whose element data move
// clmap: global=64 local=16 n=16 a=formula(1024,i%64) o=zeros(128)
__kernel void moving(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int r = get_global_id(0);
    __global int *q = o + r;
    for (int k = 0; k < n; k++) {
        *q += a[r * n + k];
        if (a[r * n + k] == 63)
            q = o + 64 + r;
    }
}
//// four stencil rows, of which a later one is overwritten
// clmap: global=64,64 local=16,16 w=64 h=64 a=random(4096) o=random(4096)
// also: w=61 h=50
// also: w=3 h=3
__kernel void cross4(__global const float *restrict a, __global float *restrict o, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1)
        return;
    const float c = a[y * w + x];
    float up = a[(y - 1) * w + x];
    up = up > c ? up : c;
    o[y * w + x] = o[y * w + x] * 0.5f + up + a[(y + 1) * w + x] + a[y * w + x - 1] + a[y * w + x + 1];
}
//// stencil whose middle row is kept in a static table of weights
// clmap: global=64,64 local=16,4 w=64 h=64 a=random(4096) o=zeros(4096)
// also: w=50 h=33
__constant float weight[3] = { 0.25f, 0.5f, 0.25f };
__kernel void tabled(__global const float *restrict a, __global float *restrict o, const uint w, const uint h)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x - 1 >= w - 2 || y - 1 >= h - 2)
        return;
    float s = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            s += weight[j + 1] * weight[i + 1] * a[(y + j) * w + x + i];
    o[y * w + x] = s;
}
//// rows that are read one past their ends
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
// also: n=63
__kernel void ends(__global const float *restrict a, __global float *restrict o, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < n; j++)
        s += a[i * n + (n - j)] * a[i * n + j];
    o[i] = s;
}
//// elements by a pointer and a sum in brackets
// clmap: global=64 local=16 n=64 t=2 m=zeros(4096) a=random(4096)
// also: t=0
// also: t=62
// also: n=60 t=3
__kernel void column(__global float *restrict m, __global const float *restrict a, const int n, const int t)
{
    int i = get_global_id(0);
    if (i < n - 1 - t)
        *(m + n * (i + t + 1) + t) = *(a + n * (i + t + 1) + t) / *(a + n * t + t);
}
//// sums of pointers with brackets around, in loops
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=50
__kernel void derefs(__global const float *restrict a, __global float *restrict o, const int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += *(a + (i * n) + k) * *(k + (a + i * n)) - *a;
    *(o + i) = s;
}
//// one buffer twice as restrict, where rows are copied
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(4096)
// also: n=64 same=a:o
__kernel void copied(__global const float *a, __global float *o, const int n)
{
    const int r = get_global_id(0);
    for (int k = 0; k < n; k++)
        o[r * n + k] = a[r * n + (n - 1 - k)] + a[r * n];
}
//// plain loads beside atomics on the same buffer
// clmap: global=64 local=16 n=16 a=formula(1024,i%3) o=zeros(64)
__kernel void beside(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int r = get_global_id(0);
    for (int k = 0; k < n; k++) {
        atomic_add(&o[r], a[r * n + k]);
        if (o[r] > 10)
            o[r] -= 10;
    }
}
//// float counter, its element by conversion
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=63
__kernel void floating(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int r = get_global_id(0);
    float s = 0.0f;
    for (float k = 0.0f; k < n; k += 1.0f)
        s += a[r * n + (int)k] * k;
    o[r] = s;
}
//// row ids by a negative modulo and a shift that is arithmetic
// clmap: global=64 local=16 n=64 a=random(4096) o=zeros(64)
// also: n=32
__kernel void signs(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0) - 32;
    const int r = (i >> 1) * 2 + 32 + (i % 2 + 2) % 2;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k];
    o[r] = s;
}
//// chunks by a pointer with an end, the last takes the rest
// clmap: global=64 local=16 n=1000 a=random(1000) o=zeros(1)
// also: n=64
// also: n=1023
// also: n=63
__kernel void rest_by_pointer(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int per = n / (int)get_global_size(0);
    __global const int *p = a + get_global_id(0) * per;
    __global const int *end = get_global_id(0) + 1 == get_global_size(0) ? a + n : p + per;
    int s = 0;
    while (p != end)
        s += *p++;
    atomic_add(o, s);
}
//// a group's own mean taken from its elements before they are stored
// clmap: global=4096 local=64 a=random(4096) o=zeros(4096)
// also: local=32
__kernel void centred(__global const float *restrict a, __global float *restrict o)
{
    __local float mean;
    const int g = get_global_id(0);
    if (get_local_id(0) == 0) {
        float s = 0.0f;
        for (int k = 0; k < get_local_size(0); k++)
            s += a[get_group_id(0) * get_local_size(0) + k];
        mean = s / get_local_size(0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = a[g] - mean;
}
//// structures of two kernels, one of which copies
// clmap: kernel=move global=4096 local=64 p=random(4096) dt=0.5
// clmap: kernel=keep global=4096 local=64 p=random(4096) q=zeros(4096)
typedef struct { float x, y, z; int alive; } Particle;
__kernel void move(__global Particle *restrict p, const float dt)
{
    const int i = get_global_id(0);
    if (p[i].alive & 1)
        p[i].x += p[i].y * dt;
}
__kernel void keep(__global const Particle *restrict p, __global Particle *restrict q)
{
    q[get_global_id(0)] = p[get_global_id(0)];
}
//// sums: terms of signed and unsigned numbers, below nought on the way
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
// also: n=60
__kernel void mixed(__global const float *restrict a, __global float *restrict o, const uint n)
{
    const uint i = get_global_id(0);
    float s = 0;
    for (uint k = 0; k < n; k++)
        s += *(a + 7 - i + i * n + k + i) * *(a + i * n - k + n);
    *(o + i) = s;
}
//// sums: unsigned terms that wrap before a long one is added
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
__kernel void widened(__global const float *restrict a, __global float *restrict o, const uint n)
{
    const size_t i = get_global_id(0);
    const uint one = 1;
    float s = 0;
    for (uint k = 0; k < n; k++)
        s += *(a + k - one + i * n + 1);
    o[i] = s;
}
//// sums: a comment, a choice, a shift and a bit inside of them
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
// also: n=50
__kernel void inside(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        s += *(a + i * n /* the row */ + k);
        s ^= *(a + i * n + (k > 3 ? k : 3));
        s -= *(a + (k | 1));
    }
    o[i] = s;
}
//// sums: elements at elements, and of a pointer to the row
// clmap: global=64 local=16 n=64 at=formula(64,i*7%64) a=random(4160) o=zeros(64)
// also: n=33 at=formula(64,i*5%33)
__kernel void nested(__global const int *restrict at, __global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    __global const float *row = a + i * n;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += *(a + *(at + k) * 64) * *(row + k) + *(k + row);
    *(i + o) = s;
}
//// sums: steps inside, and a pointer that walks
// clmap: global=64 local=16 n=16 a=random(4160) o=zeros(64)
__kernel void effects(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    __global const float *p = a + i * n;
    float s = 0;
    int j = 0;
    for (int k = 0; k < n; k++) {
        s += *(a + i * n + j++);
        s *= *(p + 1);
        p++;
    }
    *(o + i) = s;
}
//// sums: vectors, halves, casts and members
// clmap: global=64 local=16 n=16 v=random(1024) a=random(4160) o=zeros(64)
__kernel void kinds(__global const float4 *restrict v, __global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        s += (*(v + i * n + k)).x + ((__global const float *)(v + i * n + k))[1];
        s += *((__global const float *)v + i * n + k) + (v + i * n + k)->y;
        s -= vload4(k, a + i * n).w;
    }
    *(o + i) = s;
}
//// sums: a column of each step, stored and loaded
// clmap: global=256 local=64 n=256 t=10 m=random(65536) a=random(65536)
// also: t=0
// also: t=254
// also: n=200 t=3
// also: t=255
__kernel void eliminate(__global float *m, __global float *a, const int n, const int t)
{
    const int i = get_global_id(0);
    if (i < n - 1 - t)
        *(m + n * (i + t + 1) + t) = *(a + n * (i + t + 1) + t) / *(a + n * t + t);
}
//// sums: a column in unsigned numbers, from its end
// clmap: global=256 local=64 n=256 t=10 a=random(65536) o=zeros(256)
// also: t=0
// also: t=255
// also: n=100 t=50
__kernel void upwards(__global const float *a, __global float *o, const uint n, const uint t)
{
    const uint i = get_global_id(0);
    if (i < n)
        *(o + i) = *(a + n * (n - 1 - i) + t) + *(a + (n - i - 1) * n + (n - 1 - t));
}
//// rows walked backwards, in place
// clmap: global=256 local=64 n=256 a=random(65536) x=random(65536)
// also: n=3
// also: n=2
// also: n=1
// also: n=255
// also: n=0
__kernel void backwards(__global const float *restrict a, __global float *restrict x, int n)
{
    int i = get_global_id(0);
    if (i < n)
        for (int j = 0; j < n - 2; j++)
            x[i * n + (n - j - 2)] = x[i * n + (n - 2 - j)] - x[i * n + (n - 2 - j - 1)] * a[i * n + (n - j - 3)];
}
//// rows walked backwards into the one before
// clmap: global=256 local=64 n=255 a=random(65536) o=zeros(256)
// also: n=3
// also: n=1
__kernel void before_rows(__global const float *restrict a, __global float *restrict o, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int j = 0; j < n; j++)
        s += a[i * n + n - 1 - j] - a[(i + 1) * n - j] + a[i * n + j / 2];
    o[i] = s;
}
//// rows in unsigned numbers, backwards, where less than nought is the row before
// clmap: global=256 local=64 n=256 a=random(65536) o=zeros(256)
// also: n=2
// also: n=1
__kernel void unsigned_back(__global const float *restrict a, __global float *restrict o, uint n)
{
    uint i = get_global_id(0);
    float s = 0;
    if (i > 0 && i < n)
        for (uint j = 0; j < n; j++)
            s += a[i * n + (n - 2 - j)] + a[i * n - j];
    o[i] = s;
}
//// diagonals, backwards within the row
// clmap: global=256 local=64 n=256 a=random(65536) o=zeros(256)
// also: n=17
// also: n=1
__kernel void diagonals(__global const float *restrict a, __global float *restrict o, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 0;
    for (int j = 0; j <= i; j++)
        s += a[i * n + (i - j)] * a[i * n + n - 1 - i] - a[i * n + (n - 1) - j];
    o[i] = s;
}
//// kept by one, read by all under no condition
// clmap: global=64,4 local=16,1 a=random(256) o=zeros(256)
// also: local=8,2
__kernel void kept_by_one(__global const float *restrict a, __global float *restrict o)
{
    __local float s[16];
    const int x = get_local_id(0), g = get_global_id(1) * 64 + get_global_id(0);
    if (get_local_id(1) == 0)
        s[x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[g] = s[x] + a[g];
}
//// continue: rows whose small terms are left out, by vectors
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
// also: n=63
// also: n=3
// also: n=0
__kernel void small(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    int c = 0;
    for (int k = 0; k < n; k++) {
        const float v = a[i * n + k];
        if (v < 0.5f)
            continue;
        s += v;
        c++;
    }
    o[i] = s / (c + 1);
}
//// continue: of two reasons, one inside of an else, with a second buffer
// clmap: global=64 local=16 n=64 a=random(4160) m=formula(4160,i%5) o=zeros(64)
// also: n=61
// also: n=60
__kernel void reasons(__global const float *restrict a, __global const uchar *restrict m, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    float s = 1;
    for (int k = 0; k < n; k++) {
        if (m[i * n + k] == 3)
            continue;
        else if (m[i * n + k] == 2) {
            s *= 0.5f;
            if (s < 0.1f)
                continue;
            s += k;
        }
        s += a[i * n + k];
    }
    o[i] = s;
}
//// continue: out of a macro, with the counter used after the loop
// clmap: global=64 local=16 n=64 a=formula(4160,i*37%11) o=zeros(64)
// also: n=62
#define SKIP(c) if (c) continue
__kernel void skipped(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int i = get_global_id(0);
    int s = 0, k;
    for (k = 0; k < n; ++k) {
        SKIP(a[i * n + k] > 7);
        s = s * 3 + a[i * n + k];
    }
    o[i] = s + k;
}
//// continue: in a while that counts before it and behind it
// clmap: global=64 local=16 n=64 a=formula(4160,i*37%11) o=zeros(64)
// also: n=62
__kernel void counts(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int i = get_global_id(0);
    int s = 0, k = 0;
    while (k < n) {
        if (a[i * n + k] > 7) {
            k++;
            continue;
        }
        s = s * 3 + a[i * n + k];
        k++;
    }
    o[i] = s + k;
}
//// continue: without braces, in one line
// clmap: global=64 local=16 n=64 a=formula(4160,i*37%11) o=zeros(64)
// also: n=62
__kernel void short_form(__global const int *restrict a, __global int *restrict o, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; ++k) if (a[i * n + k] & 1) continue; else s ^= a[i * n + k] * k;
    o[i] = s;
}
