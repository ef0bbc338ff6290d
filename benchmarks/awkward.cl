//// calls itself a helper: rows of vectors at an odd place
// clmap: global=64 local=64 n=64 a=random(64*n+64) y=random(64)
// also: n=63
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void sums(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    y[i] = s;
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void shifted_sums(__global const float *a, __global float *y, const int n)
{
    sums(a + 1, y, n);
}
//// declared before it is defined
// clmap: global=64 local=64 n=64 a=random(64*n) y=random(64)
__kernel void scaled(__global float *a, __global float *y, const int n);
__kernel void scaled(__global float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    y[i] = s;
}
//// a build that stores in place
// clmap: global=64 local=64 n=16 a=random(64*n) b=random(64*n)
// also: -DIN_PLACE
#ifdef IN_PLACE
#define TARGET a
#else
#define TARGET b
#endif
__kernel void halve(__global float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        TARGET[i * n + k] = a[i * n + k] * 0.5f;
}
//// a build in which neighbours are exchanged
// clmap: global=64,32 local=16,8 w=64 h=32 a=random(w*h) b=random(w*h)
// also: -DROWS
#ifdef ROWS
#define X get_global_id(1)
#define Y get_global_id(0)
#endif
__kernel void exchanged(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
#ifdef ROWS
    const int x = X % w, y = Y % h;
#else
    const int x = get_global_id(1);
    const int y = get_global_id(0);
#endif
    if (x < h && y < w)
        b[y * h + x] = a[y * h + x] + 1.0f;
}
//// division behind a return
// clmap: global=64 local=64 n=64 d=4 a=random(64*64) x=random(64) y=random(64)
// also: d=0
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void divided(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
             const int n, const int d)
{
    const int i = get_global_id(0);
    if (d == 0)
        return;
    const int q = n / d;
    float s = 0.0f;
    for (int k = 0; k < q; k++)
        s += a[i * 64 + k] * x[k];
    y[i] = s;
}
//// endless but for a return
// clmap: global=64 local=64 n=64 d=8 a=random(64*64) x=random(64) y=random(64)
// also: d=0
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void odd_part(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
              const int n, const int d)
{
    const int i = get_global_id(0);
    if (d == 0)
        return;
    int e = d;
    while ((e & 1) == 0)
        e >>= 1;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * 64 + k] * x[k];
    y[i] = s + e;
}
//// private table behind a return
// clmap: global=64 local=64 n=64 m=4 a=random(64*64) x=random(64) y=random(64)
// also: m=100000000
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void table(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
           const int n, const int m)
{
    const int i = get_global_id(0);
    float weights[8];
    for (int j = 0; j < 8; j++)
        weights[j] = j * 0.5f;
    if (m >= 8)
        return;
    float s = weights[m];
    for (int k = 0; k < n; k++)
        s += a[i * 64 + k] * x[k];
    y[i] = s;
}
//// local rows stored in turns that differ
// clmap: global=64,1 local=64,1 e=0 in=random(1024) out=random(1024)
// also: global=64,2 local=64,2
// also: global=64,4 local=64,2
__kernel void sometimes(__global const float *in, __global float *out, const int e)
{
    __local float s[64];
    const int l = get_local_id(0), r = get_local_id(1);
    for (int k = r; k < 1; k++)
        s[l] = in[get_global_id(0) + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(1) * 64 + get_global_id(0)] = s[l] + e;
}
//// local element behind a flag in memory
// clmap: global=64 local=64 in=random(64) flags=formula(64,1) out=random(64)
// also: flags=formula(64,i%2)
__kernel void flagged(__global const float *in, __global const int *flags, __global float *out)
{
    __local float s[64];
    const int l = get_local_id(0);
    s[l] = 0.0f;
    if (flags[l])
        s[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[l] * 2.0f;
}
//// address carried from turn to turn behind a macro
// clmap: global=64 local=64 n=16 e=0 a=random(4096) y=random(64)
// also: e=1
// also: e=3
#define PLACE (p)
__kernel void carried(__global const float *restrict a, __global float *restrict y, const int n, const int e)
{
    const int i = get_global_id(0);
    int p = i;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[PLACE] * k;
        p = p + e;
    }
    y[i] = s;
}
//// counter behind a macro
// clmap: global=64 local=64 n=16 a=random(4096) y=random(64)
// also: n=15
// also: n=1
#define NEXT k++
__kernel void counted(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * 16 + k] * 0.5f;
        if (s > 1.0e6f)
            NEXT;
    }
    y[i] = s;
}
//// bound that the loop changes
// clmap: global=64 local=64 n=16 e=0 a=random(4096) y=random(64)
// also: e=1
__kernel void shrinking(__global const float *restrict a, __global float *restrict y, int n, const int e)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * 16 + k];
        n -= e;
    }
    y[i] = s;
}
//// counter that the loop changes
// clmap: global=64 local=64 n=16 e=0 a=random(4096) x=random(64) y=random(64)
// also: e=1
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void skipping(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
              const int n, const int e)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * 16 + k] * x[k];
        k += e;
    }
    y[i] = s;
}
//// counter used after its loop
// clmap: global=64 local=64 n=16 a=random(4096) x=random(64) y=random(64)
// also: n=13
// also: n=0
// also: n=-3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void after(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
           const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int k;
    for (k = 0; k < n; k++)
        s += a[i * 16 + k] * x[k];
    y[i] = s + k;
}
//// while with its counter used after
// clmap: global=64 local=64 n=16 a=random(4096) x=random(64) y=random(64)
// also: n=13
// also: n=0
// also: n=-3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void walked(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
            const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int k = 0;
    while (k < n) {
        s += a[i * 16 + k] * x[k];
        k++;
    }
    y[i] = s * k;
}
//// down-counting
// clmap: global=64 local=64 n=16 a=random(4096) x=random(64) y=random(64)
// also: n=13
// also: n=0
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void down(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
          const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = n - 1; k >= 0; k--)
        s = s * 0.5f + a[i * 16 + k] * x[k];
    y[i] = s;
}
//// unsigned bound less one
// clmap: global=64 local=64 n=17 a=random(4096) x=random(64) y=random(64)
// also: n=1
// also: n=14
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void pairs(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
           const uint n)
{
    const uint i = get_global_id(0);
    float s = 0.0f;
    for (uint k = 0; k < n - 1; ++k)
        s += a[i * 16 + k] * x[k];
    y[i] = s;
}
//// counter of a byte
// clmap: global=64 local=64 n=250 a=random(64*256) x=random(256) y=random(64)
// also: n=255
// also: n=3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void bytes(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
           const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (uchar k = 0; k < n; k++)
        s += a[i * 256 + k] * x[k];
    y[i] = s;
}
//// counter of 64 bits
// clmap: global=64 local=64 n=33 a=random(64*64) x=random(256) y=random(64)
// also: n=32
// also: n=0
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void longs(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
           const long n)
{
    const size_t i = get_global_id(0);
    float s = 0.0f;
    for (long k = 0; k < n; k++)
        s += a[i * 64 + k] * x[k];
    y[i] = s;
}
//// start that differs in a group
// clmap: global=32,32 local=16,16 n=16 a=random(32*64) b=random(64*32) c=random(32*32)
// also: n=19
// also: n=1
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void band(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
          const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = row; k < row + n; k++)
        s += a[row * 64 + k] * b[k * 32 + col];
    c[row * 32 + col] = s;
}
//// continue before the inner loop
// clmap: global=32,32 local=16,16 n=32 m=2 a=random(n*n) b=random(n*n) c=random(n*n)
// also: m=3
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void but_one(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
             const int n, const int m)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int t = 0; t < m; t++) {
        if (row == t)
            continue;
        for (int k = 0; k < n; k++)
            s += a[row * n + k] * b[k * n + col];
    }
    c[row * n + col] = s;
}
//// as many turns as memory says, each group its own
// clmap: global=32,32 local=16,16 n=32 turns=formula(4,32) a=random(n*n) b=random(n*n) c=random(n*n)
// also: turns=formula(4,i*7)
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void ragged(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
            __global const int *restrict turns, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    const int end = turns[get_group_id(0)];
    float s = 0.0f;
    for (int k = 0; k < end; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// as many turns as memory says, each row its own
// clmap: global=32,32 local=16,16 n=32 turns=formula(32,32) a=random(n*n) b=random(n*n) c=random(n*n)
// also: turns=formula(32,i)
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void triangle(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
              __global const int *restrict turns, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < turns[row]; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// id that is changed after it is named
// clmap: global=32,32 local=16,16 n=32 e=0 a=random(64*64) b=random(64*64) c=random(64*64)
// also: e=1
// also: e=5
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void moved(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
           const int n, const int e)
{
    int col = get_global_id(0), row = get_global_id(1);
    col += e;
    row = row + e;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// stencil behind a mask in memory
// clmap: global=64,16 local=16,16 w=64 mask=formula(1024,1) in=random(64*16) out=random(64*16)
// also: mask=formula(1024,(i%64>0)*(i%64<63)*(i>63)*(i<960))
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void masked(__global const float *restrict in, __global const int *restrict mask, __global float *restrict out,
            const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int at = y * w + x;
    if (mask[at] > 1)
        out[at] = in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x - 1] + in[y * w + x + 1];
    else
        out[at] = in[at];
}
//// stencil at odd places
// clmap: global=128 local=64 n=128 in=random(n+2) out=random(n)
// also: n=100
// also: n=128 in=random(130)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void odd(__global const float *restrict in, __global float *restrict out, const int n)
{
    const int x = get_global_id(0);
    if (x % 2 == 1 && x < n - 2)
        out[x] = in[x - 1] + in[x] + in[x + 1] + in[x + 2] + in[x + 3];
}
//// stencil whose low end is an argument
// clmap: global=128 local=64 lo=2 n=126 in=random(n+2) out=random(n+2)
// also: lo=40 n=60
// also: lo=2 n=3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void between(__global const float *restrict in, __global float *restrict out, const int lo, const int n)
{
    const int x = get_global_id(0);
    if (x >= lo && x < n)
        out[x] = in[x - 2] + in[x - 1] + in[x] + in[x + 1];
}
//// stencil on one side or the other
// clmap: global=64,64 local=16,16 w=64 h=64 in=random(w*h) out=random(w*h)
// also: w=50 h=40
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void either(__global const float *restrict in, __global float *restrict out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float s = in[y * w + x];
    if (x > 0)
        s += in[y * w + x - 1];
    if (x < w - 1)
        s += in[y * w + x + 1];
    if (y > 0)
        s += in[(y - 1) * w + x];
    if (y < h - 1)
        s += in[(y + 1) * w + x];
    out[y * w + x] = s;
}
//// parameters and results in one buffer
// clmap: global=64 local=64 n=8 w=random(n) x=random(64) y=random(128)
// also: same=w:y n=8 w=random(128)
__kernel void weighted(__global const float *w, __global const float *restrict x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += w[k] * x[i];
    y[64 + i] = s;
}
//// greatest of products
// clmap: global=64,64 local=16,16 n=64 a=formula(n*n,-1-i%7) b=formula(n*n,1+i%5) c=random(n*n)
// also: n=64 a=formula(4096,-3) b=formula(4096,2)
// also: n=60 a=formula(4096,-3) b=formula(4096,2)
__kernel void greatest(__global const float *restrict a, __global const float *restrict b,
                       __global float *restrict c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float s = -1.0e30f;
    for (int k = 0; k < n; k++)
        s = max(s, a[row * n + k] * b[k * n + col]);
    c[row * n + col] = s;
}
//// product with something added
// clmap: global=64,64 local=16,16 n=64 e=0.0 a=random(n*n) b=random(n*n) c=random(n*n)
// also: n=60 e=2.0
// also: n=64 e=2.0
__kernel void added(__global const float *restrict a, __global const float *restrict b,
                    __global float *restrict c, const int n, const float e)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * n + col] + e;
    c[row * n + col] = s;
}
//// product of sums
// clmap: global=64,64 local=16,16 n=64 a=formula(n*n,1+(i%3)/100) b=formula(n*n,(i%3)/100) c=random(n*n)
// also: n=61
__kernel void grown(__global const float *restrict a, __global const float *restrict b,
                    __global float *restrict c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float s = 1.0f;
    for (int k = 0; k < n; k++)
        s *= a[row * n + k] + b[k * n + col];
    c[row * n + col] = s;
}
//// distance by rows
// clmap: global=64,64 local=16,16 n=64 d=64 a=random(n*d) b=random(n*d) c=random(n*n)
// also: n=50 d=33
// also: n=64 d=1
__kernel void distances(__global const float *restrict a, __global const float *restrict b,
                       __global float *restrict c, const int n, const int d)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < d; k++)
        s += (a[row * d + k] - b[col * d + k]) * (a[row * d + k] - b[col * d + k]);
    c[row * n + col] = sqrt(s);
}
//// product that is stored in integers
// clmap: global=64,64 local=16,16 n=64 a=formula(n*n,i%11-5) b=formula(n*n,i%13-6) c=random(n*n)
// also: n=47
__kernel void whole(__global const int *restrict a, __global const int *restrict b, __global int *restrict c,
                    const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        int s = c[row * n + col];
        for (int k = 0; k < n; k++)
            s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s;
    }
}
//// short products
// clmap: global=64,64 local=16,16 n=64 a=formula(n*n,i%301-150) b=formula(n*n,i%299-149) c=random(n*n)
// also: n=47
__kernel void shorts(__global const short *restrict a, __global const short *restrict b,
                     __global int *restrict c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        int s = 0;
        for (int k = 0; k < n; k++)
            s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s;
    }
}
//// volatile in the loop
// clmap: global=64 local=64 n=64 a=random(64*n) y=random(64)
__kernel void watched(volatile __global float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i] += a[i * n + k] * a[i];
}
//// atomic beside the sum
// clmap: global=64 local=64 n=16 hits=zeros(64) a=formula(1024,i%9) y=formula(64,0)
// also: same=hits:y
__kernel void hits(__global int *hits, __global const int *a, __global int *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        y[i] += a[i * n + k];
        atomic_add(&hits[i], 2);
    }
}
//// shared counter
// clmap: global=64 local=64 n=16 a=formula(1024,i%9) counter=zeros(1) out=zeros(1024)
__kernel void gather(__global const int *a, __global int *counter, __global int *out, const int n)
{
    const int i = get_global_id(0);
    int mine = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 4)
            mine += a[i * n + k];
    atomic_add(counter, mine);
    out[i] = mine;
}
//// barrier in the loop
// clmap: global=128 local=64 n=8 a=random(1024) out=random(128)
// also: n=3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void rotated(__global const float *restrict a, __global float *restrict out, const int n)
{
    __local float s[64];
    const int l = get_local_id(0), i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        s[l] = a[i * 8 + k];
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += s[(l + 1) % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = sum;
}
//// early return by data
// clmap: global=64,64 local=16,16 n=64 live=formula(64,1) a=random(n*n) b=random(n*n) c=random(n*n)
// also: live=formula(64,i%3)
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void living(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
            __global const int *restrict live, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (!live[row])
        return;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// side effect in the guard
// clmap: global=64,64 local=16,16 n=64 a=random(n*n) b=random(n*n)
// also: n=50
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void effect(__global const float *restrict a, __global float *restrict b, const int n)
{
    int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x++ < n - 1 && y < n)
        b[x * n + y] = a[y * n + x];
}
//// macro with a side effect
// clmap: global=64 local=64 n=16 a=random(1024) y=random(64)
// also: n=13
#define TAKE(p) a[(p)++]
__kernel void taken(__global const float *restrict a, __global float *restrict y, const int n)
{
    int p = get_global_id(0) * n;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += TAKE(p) * k;
    y[get_global_id(0)] = s;
}
//// vector loads across a guard
// clmap: global=64 local=64 n=64 a=random(4*n) y=random(64)
// also: n=61
// also: n=1
__kernel void quads(__global const float4 *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        float4 v = a[i];
        y[i] = v.x + v.y + v.z + v.w;
    }
}
//// vload in a loop
// clmap: global=64 local=64 n=16 a=random(64*64) x=random(64) y=random(64)
// also: n=3
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void vloads(__global const float *restrict a, __global const float *restrict x, __global float *restrict y,
            const int n)
{
    const int i = get_global_id(0);
    float4 s = (float4)(0.0f);
    for (int k = 0; k < n; k++)
        s += vload4(k, a + i * 64) * x[k];
    y[i] = s.x + s.y + s.z + s.w;
}
//// members of structures
// clmap: global=64 local=64 n=16 p=random(64) y=random(64)
struct particle { float x, y, z, m; };
__kernel void members(__global const struct particle *p, __global float *y, const int n)
{
    const int i = get_global_id(0);
    struct { int at; float s; } state;
    state.at = 0;
    state.s = 0.0f;
    for (int k = 0; k < n; k++) {
        state.s += p[state.at].x * p[i].m;
        state.at = (state.at + 5) & 15;
    }
    y[i] = state.s;
}
//// pointer set anew in the loop
// clmap: global=64 local=64 n=8 a=random(4096) b=random(4096) y=random(64)
// also: n=5
__kernel void alternating(__global const float *a, __global const float *b, __global float *y, const int n)
{
    const int i = get_global_id(0);
    __global const float *p = a;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += p[i] * k;
        p = k & 1 ? a : b;
    }
    y[i] = s;
}
//// pointer that walks
// clmap: global=64 local=64 n=16 a=random(64*16) x=random(64) y=random(64)
// also: n=13
// also: n=0
__kernel void walking(__global const float *restrict a, __global const float *restrict x,
                      __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    __global const float *p = a + i * n;
    __global const float *q = x;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += *p++ * *q++;
    y[i] = s;
}
//// private array that starts unset
// clmap: global=64 local=64 n=4 a=random(64*16) y=random(64*16)
// also: n=2
// also: n=1
__kernel void unset(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float kept[4];
    for (int k = 0; k < n; k++)
        kept[k] = a[i * 16 + k];
    for (int k = 0; k < n; k++)
        y[i * 16 + k] = kept[n - 1 - k];
}
//// order of floats
// clmap: global=64 local=64 n=16 a=formula(1024,(i%5-2)*1.0e7+i) y=random(64)
// also: a=formula(1024,(i%2*2-1)*1.0e30)
__kernel void ordered(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++)
        s += a[i + k * 64];
    y[i] = s;
}
//// comparisons with no number
// clmap: global=64 local=64 n=16 lim=1.0 a=random(1024) y=random(64)
// also: lim=nan
// also: lim=inf
__kernel void compared(__global const float *restrict a, __global float *restrict y, const int n, const float lim)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * 16 + k] < lim ? a[i * 16 + k] : lim;
    y[i] = s;
}
//// integer division by what is read
// clmap: global=64 local=64 n=16 a=formula(1024,1+i%9) d=formula(64,1+i%3) y=formula(64,0)
// also: n=0 d=formula(64,0)
__kernel void divides(__global const int *a, __global const int *d, __global int *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i] += a[i * 16 + k] / d[i];
}
//// no turns, no buffer
// clmap: global=64 local=64 n=16 a=random(1024) d=random(64) y=random(64)
// also: n=0 d=random(1)
__kernel void none(__global const float *restrict a, __global const float *restrict d,
                   __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * 16 + k] * d[i];
    y[i] = s;
}
//// launch with an offset
// clmap: global=32,32 local=16,16 n=40 a=random(64*64) b=random(64*64) c=random(64*64)
// also: offset=4,8
// also: offset=1,0
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void placed(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
            const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[row * 64 + k] * b[k * 64 + col];
    c[row * 64 + col] = s;
}
//// three dimensions
// clmap: global=32,16,4 local=16,4,1 w=32 h=16 d=4 a=random(w*h*d) b=random(w*h*d)
// also: global=32,16,4 local=16,4,2
// also: w=30 h=15 d=3
__kernel void cube(__global const float *restrict a, __global float *restrict b, const int w, const int h,
                   const int d)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= w - 1 || y >= h - 1 || z >= d - 1 || x < 1 || y < 1 || z < 1)
        return;
    const int at = (z * h + y) * w + x;
    b[at] = a[at - 1] + a[at + 1] + a[at - w] + a[at + w] + a[at - w * h] + a[at + w * h];
}
//// batches
// clmap: global=16,16,3 local=16,16,1 n=16 a=random(3*n*n) b=random(3*n*n) c=random(3*n*n)
// also: n=13
// also: global=16,16,2
__kernel void batched(__global const float *restrict a, __global const float *restrict b,
                      __global float *restrict c, const int n)
{
    const int col = get_global_id(0), row = get_global_id(1), z = get_global_id(2);
    if (row >= n || col >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[z * n * n + row * n + k] * b[z * n * n + k * n + col];
    c[z * n * n + row * n + col] = s;
}
//// groups of one
// clmap: global=64 local=1 n=16 a=random(1024) x=random(16) y=random(64)
// also: local=16
// also: global=7 local=7
__kernel void alone(__global const float *restrict a, __global const float *restrict x,
                    __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    y[i] = 0;
    for (int k = 0; k < n; k++)
        y[i] += a[i * 16 + k] * x[k];
}
//// shared helper
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64) kernel=first
static float dot_of(__global const float *a, __global const float *x, const int n)
{
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[k] * x[k];
    return s;
}
__kernel void first(__global float *a, __global float *x, __global float *y, const int n)
{
    y[get_global_id(0)] = dot_of(a + get_global_id(0) * n, x, n);
}
__kernel void second(__global float *a, __global float *x, __global float *y, const int n)
{
    y[get_global_id(0)] = dot_of(a + get_global_id(0), x, n);
}
//// crlf and tabs
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=13
__kernel void windows(__global const float *restrict a, __global const float *restrict x,
                      __global float *restrict y, const int n)
{
    const int i = get_global_id(0); // Zeile für Zeile
    y[i] = 0.0f;
    for (int k = 0; k < n; k++) { // Σ a·x
        y[i] += a[i * 16 + k] * x[k];
    }
}
//// one line
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=13
__kernel void line(__global const float *restrict a, __global const float *restrict x, __global float *restrict y, int n) { int i = get_global_id(0), k; float s = 0; for (k = 0; k < n; k++) s += a[i * 16 + k] * x[k]; y[i] = s; }
//// one line for two dimensions
// clmap: global=32,32 local=16,16 n=32 a=random(n*n) b=random(n*n) c=random(n*n)
// also: n=29
__kernel void mm(__global float *a, __global float *b, __global float *c, int n) { int i = get_global_id(0), j = get_global_id(1); if (i < n && j < n) { c[i * n + j] = 0; for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j]; } }
//// attributes and comments in odd places
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
/* first */ __kernel /* a ( b */ __attribute__((work_group_size_hint(64, 1, 1))) void
noted(__global const float * /* rows { */ restrict a, __global const float *restrict x, __global float *restrict y,
      const int n /* turns */)
{   // open {
    const int i = get_global_id(0); /* } */
    float s = 0.0f;
    for (int k = 0 /* first */; k < n /* last */; k++ /* step; */) /* body */
        s += /* a */ a[i * 16 /* ] */ + k] * x[k]; // end }
    y[i] = s;
}
//// labels and a switch
// clmap: global=64 local=64 n=16 mode=0 a=random(1024) x=random(16) y=random(64)
// also: mode=1
// also: mode=2
__kernel void modes(__global const float *restrict a, __global const float *restrict x,
                    __global float *restrict y, const int n, const int mode)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    switch (mode) {
    case 0:
        for (int k = 0; k < n; k++)
            s += a[i * 16 + k] * x[i & 15];
        break;
    case 1:
        for (int k = 0; k < n; k++) {
            s -= a[i * 16 + k] * x[k];
        }
    default:
        s += 1.0f;
    }
    y[i] = s;
}
//// names that are taken by the build
// clmap: global=64,64 local=16,16 n=64 a=random(n*n) b=random(n*n) c=random(n*n)
// also: n=80
#define a_tile 3
#define lx 7
__kernel void named(__global const float *restrict a, __global const float *restrict b,
                    __global float *restrict c, const int n)
{
    const int row = get_global_id(0), col = get_global_id(1);
    float s = a_tile * lx;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// variable that hides another
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=9
__kernel void hidden(__global const float *restrict a, __global const float *restrict x,
                     __global float *restrict y, const int n)
{
    int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        int i = k & 7;
        s += a[i * 16 + k] * x[i];
    }
    y[i] = s;
}
//// rows by a division of a linear id
// clmap: global=1024 local=64 w=32 h=32 a=random(w*h) b=random(w*h) c=random(w*h)
// also: w=20 h=50
__kernel void linear(__global const float *restrict a, __global const float *restrict b,
                     __global float *restrict c, const int w, const int h)
{
    const int id = get_global_id(0);
    const int y = id / w, x = id % w;
    if (y >= h)
        return;
    float s = 0.0f;
    for (int k = 0; k < w; k++)
        s += a[y * w + k] * b[(k % h) * w + x];
    c[id] = s;
}
//// transposed and kept in a boolean
// clmap: global=64,64 local=16,16 w=64 h=64 a=random(w*h) b=random(w*h)
// also: w=50 h=40
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void kept(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int in_x = x < w, in_y = y < h;
    if (in_x & in_y)
        b[x * h + y] = a[y * w + x];
}
//// transposed by groups of the author's
// clmap: global=64,64 local=16,16 w=64 h=64 a=random(w*h) b=random(w*h)
// also: w=64 h=60
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void blocks(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_group_id(0) * get_local_size(0) + get_local_id(0);
    const int y = get_group_id(1) * get_local_size(1) + get_local_id(1);
    if (x < w) {
        if (y < h)
            b[x * h + y] = a[y * w + x];
    }
}
//// stored value with a comma
// clmap: global=64,64 local=16,16 w=64 h=64 a=random(w*h) b=random(w*h)
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void comma(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float v = 1.0f;
    b[x * h + y] = a[y * w + x] * v, v = 2.0f;
    if (v > 1.5f)
        v += 1.0f;
}
//// halves and doubles
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=13
__kernel void mixed(__global const double *restrict a, __global const float *restrict x,
                    __global double *restrict y, const int n)
{
    const int i = get_global_id(0);
    double s = 0.0;
    for (int k = 0; k < n; k++)
        s += a[i * 16 + k] * x[k];
    y[i] = s;
}
//// unsigned that wraps
// clmap: global=64 local=64 n=16 e=0 a=random(1024) x=random(16) y=random(64)
// also: e=1
__kernel void wraps(__global const float *restrict a, __global const float *restrict x,
                    __global float *restrict y, const uint n, const uint e)
{
    const uint i = get_global_id(0);
    float s = 0.0f;
    for (uint k = 0; k < n; k++)
        s += a[(i * 16 + k - e) & 1023] * x[(k - e) & 15];
    y[i] = s;
}
//// chunk that another argument cuts
// clmap: global=64 local=64 per=16 n=1024 a=random(n) b=random(n)
// also: per=8
// also: per=15 n=1000
__kernel void chunks(__global const float *restrict a, __global float *restrict b, const int per, const int n)
{
    const int first = get_global_id(0) * per;
    for (int i = first; i < min(first + per, n); i++)
        b[i] = a[i] * 2.0f;
}
//// chunk that remembers
// clmap: global=64 local=64 per=16 n=1024 a=random(n) b=random(n)
__kernel void prefixes(__global const float *restrict a, __global float *restrict b, const int per, const int n)
{
    const int first = get_global_id(0) * per;
    float s = 0.0f;
    for (int i = first; i < first + per; i++) {
        s += a[i];
        b[i] = s;
    }
}
//// local memory that overlaps rows
// clmap: global=256 local=64 m=32 a=random(256) b=random(256)
// also: m=31
// also: m=16
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void rows_of_local(__global const float *restrict a, __global float *restrict b, const int m)
{
    __local float t[64 * 32];
    const int l = get_local_id(0);
    for (int k = 0; k < m; k++)
        t[l * m + k] = a[get_global_id(0)] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < m; k++)
        s += t[((l + 1) & 63) * m + k];
    b[get_global_id(0)] = s;
}
//// local array seen as another type
// clmap: global=64 local=64 a=random(64) b=random(64)
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void pun(__global const float *restrict a, __global float *restrict b)
{
    __local float t[64 * 32];
    const int l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        t[l * 32 + k] = a[l] + k;
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float4 *v = (__local float4 *)t;
    float4 s = v[l * 8] + v[((l + 1) & 63) * 8 + 1];
    b[l] = s.x + s.y + s.z + s.w + t[l];
}
//// local array in two shapes
// clmap: global=256 local=256 w=16 a=random(256) b=random(256)
// also: w=8
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void shapes(__global const float *restrict a, __global float *restrict b, const int w)
{
    __local float t[32][32];
    const int l = get_local_id(0);
    t[l % 32][l / 32] = a[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[l] = t[(l + w) % 32][((l + w) & 255) / 32];
}
//// macros that set the size of the tile
// clmap: global=32,32 local=16,16 n=32 a=random(n*n) b=random(n*n) c=random(n*n)
// also: local=8,8 -DTILE=8
#ifndef TILE
#define TILE 16
#endif
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void tiled(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
           const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// pragma before the loop
// clmap: global=32,32 local=16,16 n=32 a=random(n*n) b=random(n*n) c=random(n*n)
// also: n=30
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void unrolled(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
              const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float s = 0.0f;
#pragma unroll 4
        for (int k = 0; k < n; k++)
            s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s;
    }
}
//// branches inside the kernel
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=13
// also: n=16 -DSCALED
__kernel void branches(__global const float *restrict a, __global const float *restrict x,
                       __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * 16 + k] * x[k];
#ifdef SCALED
    s *= 2.0f;
    for (int k = 0; k < n; k++)
        s -= a[i * 16 + k];
#else
    s += 1.0f;
#endif
    y[i] = s;
}
//// branches inside the loop
// clmap: global=64 local=64 n=16 a=random(1024) x=random(16) y=random(64)
// also: n=13 -DSCALED
__kernel void inside(__global const float *restrict a, __global const float *restrict x,
                     __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
#ifdef SCALED
        s += a[i * 16 + k] * x[k] * 2.0f;
#else
        s += a[i * 16 + k] * x[k];
#endif
    }
    y[i] = s;
}
//// product whose tiles would hold no numbers
// clmap: global=32,32 local=16,16 n=32 f=2.0 a=random(n*n) b=random(n*n) c=random(n*n)
// also: n=27 f=inf
// also: n=27 f=nan
// also: n=27 f=0.5
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void factor(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
            const int n, const float f)
{
    const int row = get_global_id(0), col = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += f * a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// rows that go on in the next one
// clmap: global=256 local=64 n=256 w=32 a=random(n*w+w) y=random(n)
// also: w=31
__kernel void over_the_end(__global const float *restrict a, __global float *restrict y, const int n, const int w)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k <= w; k++)
        s = 0.5f * s + a[i * w + k];
    y[i] = s;
}
//// rows from the last to the first
// clmap: global=256 local=64 n=256 w=32 a=random(n*w) y=random(n)
// also: n=250 w=33 a=random(8250)
__kernel void from_the_end(__global const float *restrict a, __global float *restrict y, const int n, const int w)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < w; k++)
        s = 0.5f * s + a[(n - 1 - i) * w + w - 1 - k];
    y[i] = s;
}
//// row before one's own, in unsigned numbers
// clmap: global=256 local=64 n=256 w=32 a=random(n*w) y=random(n)
// also: n=200
__kernel void before(__global const float *restrict a, __global float *restrict y, const uint n, const uint w)
{
    const uint i = get_global_id(0);
    if (i == 0 || i >= n)
        return;
    float s = 0.0f;
    for (uint k = 0; k < w; k++)
        s = 0.5f * s + a[(i - 1) * w + k];
    y[i] = s;
}
//// rows that are read and stored under two names
// clmap: global=256 local=64 n=256 w=32 a=random(n*w) b=random(n*w)
// also: same=a:b
// also: n=250 same=a:b
__kernel void two_names(__global const float *a, __global float *b, const int n, const int w)
{
    const int i = get_global_id(0);
    if (i < n)
        for (int k = 0; k < w; k++)
            b[i * w + k] = 0.5f * a[i * w + w - 1 - k];
}
//// read by two names only
// clmap: global=256 local=64 n=256 w=32 a=random(n*w) b=random(n*w) y=random(n)
// also: same=a:b
__kernel void read_twice(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                         const int n, const int w)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < w; k++)
        s = 0.5f * s + a[i * w + k];
    y[i] = s + b[i];
}
//// more rows than the number of rows
// clmap: global=256 local=64 rows=256 w=32 a=random(8192) y=random(256)
// also: rows=64
// also: rows=1
__kernel void more_rows(__global const float *restrict a, __global float *restrict y, const int rows, const int w)
{
    const int i = get_global_id(0);
    float s = rows;
    for (int k = 0; k < w; k++)
        s = 0.5f * s + a[i * w + k];
    y[i] = s;
}
//// planes with rows to spare
// clmap: global=4,64 local=1,64 h=60 pitch=64 w=32 a=random(8192)
// also: h=64
// also: h=50 pitch=70 a=random(8960)
__kernel void spare_rows(__global float *restrict a, const int h, const int pitch, const int w)
{
    const int p = get_global_id(0), r = get_global_id(1);
    if (r < h)
        for (int c = 0; c < w; c++)
            a[p * pitch * w + r * w + c] = 0.5f * a[p * pitch * w + r * w + c] + p;
}
//// counted at places that data say
// clmap: global=256 local=64 n=256 w=16 at=iota(256) a=zeros(4096)
// also: n=100
__kernel void at_places(__global const int *restrict at, __global int *restrict a, const int n, const int w)
{
    const int i = get_global_id(0);
    if (i < n) {
        atomic_add(&a[i * w + 3], 1);
        a[at[i] * w + 5] += i;
    }
}
//// rows of ids that do not start at 0
// clmap: global=256 local=64 n=320 w=32 a=random(n*w) y=random(n)
// also: offset=64
__kernel void with_offset(__global const float *restrict a, __global float *restrict y, const int n, const int w)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < w; k++)
        s = 0.5f * s + a[i * w + k];
    y[i] = s;
}
//// groups that the launch does not fill
// clmap: global=64,64 local=4,16 w=64 h=64 a=random(w*h) b=random(w*h)
// also: global=48,40 local=4,8
// also: global=60,64 local=4,16 w=60
__kernel void not_filled(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        b[y * w + x] = a[y * w + x] + 1.0f;
}
//// one element handed over twice
// clmap: global=256 local=64 a=random(512)
// also: global=128
void put(__local float *one, __local float *other, const float value)
{
    *one = value;
    *other += 0.5f * *one;
}
void put_both(__local float *one, __local float *other, const float value)
{
    if (value < 0.0f)
        return;
    put(one, other, value);
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void handed_twice(__global float *restrict a)
{
    __local float s[128];
    const int l = get_local_id(0), first = get_group_id(0) * 128;
    s[2 * l] = s[2 * l + 1] = a[first + l];
    put_both(&s[2 * l], &s[2 * l + (l & 1)], a[first + l + 64]);
    barrier(CLK_LOCAL_MEM_FENCE);
    a[first + l] = s[127 - 2 * l];
    a[first + l + 64] = s[(2 * l + 7) & 127];
}
//// local memory as long as the host likes
// clmap: global=250 local=50 s=local(100) a=random(500)
// also: global=192 local=64 s=local(128) a=random(384)
// also: global=21 local=7 s=local(14) a=random(42)
float pair(__local const float *p, const int i)
{
    return p[2 * i] - p[2 * i + 1];
}
__kernel void any_length(__local float *s, __global float *restrict a)
{
    const int l = get_local_id(0), n = get_local_size(0), first = get_group_id(0) * 2 * n;
    s[l] = a[first + l];
    s[l + n] = a[first + l + n];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[first + l] = pair(s, l);
    a[first + l + n] = s[2 * l] + 2.0f;
}
//// a row of local memory by its first element
// clmap: global=64,64 local=16,16 a=random(4096)
// also: global=32,32
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void by_first_element(__global float *restrict a)
{
    __local float t[16][16];
    const int x = get_local_id(0), y = get_local_id(1);
    const int at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    t[y][x] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float *flat = &t[0][0];
    a[at] = t[x][y] + flat[x * 16 + y];
}
//// a declaration that only a macro names
// clmap: global=256 local=64 n=256 w=32 a=random(n*w) y=random(n)
// also: w=31
#define HERE (row + k)
__kernel void by_macro(__global const float *restrict a, __global float *restrict y, const int n, const int w)
{
    const int i = get_global_id(0);
    const int row = i * w;
    float s = a[row];
    for (int k = 0; k < w; k++)
        s = 0.5f * s + a[HERE];
    y[i] = s;
}
//// pairs in a buffer that is stored to as well
// clmap: global=64 local=32 a=random(256) b=random(256,1)
// also: same=a:b
__kernel void pairs_shared(__global float *a, __global float *b)
{
    const int i = get_global_id(0);
    float x = a[2 * i];
    b[2 * i] = x + 1.0f;
    float y = a[2 * i + 1];
    b[2 * i + 1] = y * x;
}
//// pairs of which the second is stored from the first
// clmap: global=64 local=32 a=random(256)
__kernel void pairs_chain(__global float *a)
{
    const int i = get_global_id(0);
    a[2 * i] = a[2 * i] + 1.0f;
    a[2 * i + 1] = a[2 * i] * 2.0f;
}
//// pairs whose index wraps
// clmap: global=64 local=32 s=3000000000 a=random(512) b=random(64,1)
__kernel void pairs_wrap(__global const float *a, __global float *b, const uint s)
{
    const uint i = get_global_id(0);
    const uint at = (2u * (i + s)) & 254u;
    b[i] = a[at] - a[at + 1u];
}
//// pairs at an odd base
// clmap: global=64 local=32 base=1 a=random(512) b=random(64,1)
// also: base=2
// also: base=0
__kernel void pairs_base(__global const float *a, __global float *b, const int base)
{
    const int i = get_global_id(0);
    __global const float *p = a + base;
    b[i] = p[2 * i] - p[2 * i + 1];
}
//// pairs in rows of any width
// clmap: global=32,8 local=8,4 w=64 a=random(1024) b=random(1024,1)
// also: w=65
__kernel void pairs_rows(__global const float *restrict a, __global float *restrict b, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[y * w + 2 * x] = a[y * w + 2 * x + 1];
    b[y * w + 2 * x + 1] = a[y * w + 2 * x];
}
//// pairs that a loop changes between
// clmap: global=64 local=32 n=5 a=random(512) b=random(64,1)
// also: n=0
__kernel void pairs_loop(__global float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[2 * i];
        a[2 * i] = s;
        s -= a[2 * i + 1];
    }
    b[i] = s;
}
//// pairs in a choice past the end
// clmap: global=64 local=32 n=100 a=random(100) b=random(64,1)
// also: n=1 a=random(1)
__kernel void pairs_choice(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    b[i] = 2 * i + 1 < n ? a[2 * i] + a[2 * i + 1] : (2 * i < n ? a[2 * i] : 0.0f);
}
//// pairs after an early return
// clmap: global=64 local=32 n=50 a=random(100) b=random(64,1)
// also: n=1 a=random(2)
__kernel void pairs_return(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float x = a[2 * i], y = a[2 * i + 1];
    b[i] = x * y;
}
//// pairs under a switch
// clmap: global=64 local=32 m=0 a=random(128) b=random(64,1)
// also: m=1
// also: m=2
__kernel void pairs_switch(__global const float *a, __global float *b, const int m)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    switch (m) {
    case 0: s = a[2 * i];
    case 1: s -= a[2 * i + 1]; break;
    default: s = 7.0f;
    }
    b[i] = s;
}
//// pairs of bytes with arithmetic that widens
// clmap: global=64 local=32 a=random(256) b=zeros(256)
__kernel void pairs_bytes(__global const uchar *a, __global uchar *b)
{
    const int i = get_global_id(0);
    b[4 * i] = (a[4 * i] + a[4 * i + 1]) / 2;
    b[4 * i + 1] = (a[4 * i + 1] + a[4 * i + 2]) / 2;
    b[4 * i + 2] = (a[4 * i + 2] + a[4 * i + 3]) / 2;
    b[4 * i + 3] = a[4 * i + 3] * 2;
}
//// pairs stored as another type
// clmap: global=64 local=32 a=random(128) b=zeros(128)
__kernel void pairs_convert(__global const float *a, __global short *b)
{
    const int i = get_global_id(0);
    b[2 * i] = a[2 * i] * 30000.0f;
    b[2 * i + 1] = -a[2 * i + 1] * 30000.0f;
}
//// pairs that are volatile
// clmap: global=64 local=32 a=random(128) b=zeros(64)
__kernel void pairs_volatile(__global volatile float *a, __global float *b)
{
    const int i = get_global_id(0);
    b[i] = a[2 * i] + a[2 * i + 1];
}
//// pairs of pointers into one buffer
// clmap: global=64 local=32 a=random(256) b=zeros(64)
__kernel void pairs_walk(__global float *a, __global float *b)
{
    const int i = get_global_id(0);
    __global float *p = a + 2 * i;
    float x = *p++;
    float y = *p;
    a[2 * i + 128] = x;
    b[i] = x - y;
}
//// a macro with an effect in its argument
// clmap: global=64 local=32 n=8 a=random(1024) b=zeros(512)
#define AT(p, i) (p)[(i) * 2 + ((i) & 1)]
__kernel void macro_effect(__global const float *a, __global float *b, const int n)
{
    const int g = get_global_id(0);
    int k = g;
    float s = 0.0f;
    for (int j = 0; j < n; j++) {
        s += AT(a, k);
        k++;
    }
    b[g] = s;
}
//// a macro that is another after the kernel
// clmap: global=32,32 local=8,8 n=32 a=random(1024) b=zeros(1024)
#define IN(r, c) a[(r) * n + (c)]
__kernel void macro_twice(__global const float *a, __global float *b, const int n)
{
    const int x = get_global_id(1), y = get_global_id(0);
    b[y * n + x] = IN(y, x) + IN(x, y);
}
#undef IN
#define IN(r, c) a[(c) * n + (r)]
__kernel void macro_other(__global const float *a, __global float *b, const int n)
{
    b[get_global_id(0)] = IN(0, get_global_id(0));
}
//// a macro of a build around the width
// clmap: global=32 local=32 a=random(2048) b=zeros(2048)
// also: -DW=33
// also: -DW=7
#ifndef W
#define W 32
#endif
#define CELL(r, c) tile[(r) * W + (c)]
__kernel void macro_width(__global const float *a, __global float *b)
{
    __local float tile[32 * W];
    const int l = get_local_id(0);
    for (int k = 0; k < W; k++)
        CELL(l, k) = a[k * 32 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < W; k++)
        b[k * 32 + l] = CELL((l + 1) % 32, k);
}
//// a macro that uses its argument three times
// clmap: global=64 local=64 a=random(64) b=zeros(64)
#define MID(t, i) (t[(i) * 33 % 2048] + t[(i) * 32])
__kernel void macro_often(__global const float *a, __global float *b)
{
    __local float t[2080];
    const int l = get_local_id(0);
    for (int k = l; k < 2080; k += 64)
        t[k] = a[k % 64];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[l] = MID(t, l);
}
//// a local array that two functions reach
// clmap: global=64 local=32 a=random(1024) b=zeros(64)
float first_of(__local const float *t, int i) { return t[i * 32]; }
void put(__local float *t, int i, float v) { t[i] = v; }
__kernel void two_functions(__global const float *a, __global float *b)
{
    __local float t[1024];
    const int l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        put(t, k * 32 + l, a[k * 32 + l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = first_of(t, l) + t[l];
}
//// a local array that is read as vectors
// clmap: global=64 local=32 a=random(1024) b=zeros(64)
__kernel void as_vectors(__global const float *a, __global float *b)
{
    __local float t[1024];
    const int l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        t[l * 32 + k] = a[k * 32 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float4 v = vload4(l * 8, t);
    b[get_global_id(0)] = v.x + v.w + t[l * 32];
}
//// a local array of which parts are compared by address
// clmap: global=64 local=32 a=random(1024) b=zeros(64)
__kernel void by_address(__global const float *a, __global float *b)
{
    __local float t[1056];
    const int l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        t[l * 32 + k] = a[k * 32 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float *p = t + l * 32;
    b[get_global_id(0)] = p[31] + (float)(p - t);
}
//// strides of powers of two with odd lengths
// clmap: global=64 local=16 a=random(4096) b=zeros(64)
__kernel void odd_lengths(__global const float *a, __global float *b)
{
    __local float t[1001];
    const int l = get_local_id(0);
    for (int k = l; k < 1001; k += 16)
        t[k] = a[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 40; k++)
        s += t[(l * 64 + k) % 1001];
    b[get_global_id(0)] = s;
}
//// local memory whose length the host gives, of vectors
// clmap: global=16,16 local=16,16 t=local(256) a=random(256) b=zeros(256)
// also: t=local(300)
__kernel void host_length(__global const float4 *a, __global float4 *b, __local float4 *t)
{
    const int x = get_local_id(0), y = get_local_id(1);
    t[y * 16 + x] = a[y * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[y * 16 + x] = t[x * 16 + y];
}
//// local arrays in two kernels of one name
// clmap: global=64 local=32 a=random(1024) b=zeros(64)
__kernel void one_of_two(__global const float *a, __global float *b)
{
    __local float t[32][32];
    const int l = get_local_id(0);
    for (int k = 0; k < 32; k++)
        t[k][l] = a[k * 32 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 32; k++)
        s += t[l][k];
    b[get_global_id(0)] = s;
}
__kernel void two_of_two(__global float *b)
{
    __local float t[32];
    t[get_local_id(0)] = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = t[31 - get_local_id(0)];
}
//// a do-while over a row
// clmap: global=64 local=32 n=16 a=random(1024) b=zeros(64)
// also: n=1
__kernel void do_while(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    int k = 0;
    float s = 0.0f;
    do {
        s += a[i * n + k];
        k++;
    } while (k < n);
    b[i] = s;
}
//// a loop that counts down to zero in unsigned numbers
// clmap: global=64 local=32 n=16 a=random(1024) b=zeros(64)
// also: n=0
__kernel void down_unsigned(__global const float *a, __global float *b, const uint n)
{
    const uint i = get_global_id(0);
    float s = 0.0f;
    for (uint k = n; k-- > 0;)
        s = s * 0.5f + a[i * n + k];
    b[i] = s;
}
//// a loop whose bound is unsigned and less one
// clmap: global=64 local=32 n=16 a=random(1024) b=zeros(64)
// also: n=1
__kernel void bound_less_one(__global const float *a, __global float *b, const uint n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n - 1; k++)
        s += a[i * n + k] * a[i * n + k + 1];
    b[i] = s;
}
//// size_t and int in one index
// clmap: global=64 local=32 d=-3 a=random(512) b=zeros(64)
// also: d=0
__kernel void mixed_index(__global const float *a, __global float *b, const int d)
{
    const size_t i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 4; k++)
        s += a[i * 4 + k + (d + 3)];
    b[i] = s;
}
//// a row index in characters
// clmap: global=64 local=32 n=100 a=random(8192) b=zeros(64)
__kernel void char_index(__global const float *a, __global float *b, const int n)
{
    const uchar i = get_global_id(0) * 5;
    float s = 0.0f;
    for (uchar k = 0; k < 20; k++)
        s += a[i * 20 + k];
    b[get_global_id(0)] = s;
}
//// vectors of three
// clmap: global=64 local=32 n=8 a=random(4096) b=zeros(64)
__kernel void threes(__global const float3 *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float3 s = (float3)(0.0f);
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    b[i] = s.x + s.y * s.z;
}
//// packed threes by vload3
// clmap: global=64 local=32 a=random(1024) b=zeros(256)
__kernel void packed_threes(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    const float3 v = vload3(i, a);
    b[3 * i] = v.x; b[3 * i + 1] = v.y; b[3 * i + 2] = v.z;
}
//// structures with a vector
// clmap: global=64 local=32 n=64 p=zeros(64) a=random(64) b=zeros(64)
typedef struct { float4 at; float w; int id; } Body;
__kernel void bodies(__global Body *p, __global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    p[i].at = (float4)(a[i], a[n - 1 - i], 1.0f, 2.0f);
    p[i].w = a[i] * 2.0f;
    p[i].id = i;
    b[i] = p[i].at.y * p[i].w + p[i].id;
}
//// atomics between loads of one row
// clmap: global=64 local=32 n=8 a=random(512) c=zeros(8) b=zeros(64)
__kernel void atomics_between(__global const float *a, __global int *c, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (a[i * n + k] > 0.5f)
            atomic_inc(&c[k]);
        s += a[i * n + k];
    }
    b[i] = s;
}
//// an atomic whose result is an index
// clmap: global=64 local=32 a=random(64) c=zeros(1) b=zeros(64)
__kernel void appended(__global const float *a, __global int *c, __global float *b)
{
    const int i = get_global_id(0);
    if (a[i] > 2.0f)
        b[atomic_inc(c)] = a[i];
}
//// rows of one buffer that overlap
// clmap: global=64 local=32 n=16 a=random(2048) b=zeros(64)
__kernel void overlapping(__global float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    a[1024 + i] = s;
    b[i] = a[i * n] + s;
}
//// one buffer read by columns and stored by rows in place
// clmap: global=32 local=32 n=32 a=random(1024)
__kernel void in_place(__global float *a, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    for (int k = 0; k < n; k++)
        a[i * n + k] = a[i * n + k] / (s + 1.0f);
}
//// sums of large numbers that cancel
// clmap: global=64 local=32 n=64 a=formula(4096,(i%3-1)*16777216.0+i%7) b=zeros(64)
__kernel void cancelling(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    b[i] = s;
}
//// a reduction of unsigned characters
// clmap: global=128 local=64 a=random(128) b=zeros(2)
__kernel void small_sums(__global const uchar *a, __global uchar *b)
{
    __local uchar t[64];
    const int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < 64; s *= 2) {
        if (l % (2 * s) == 0)
            t[l] += t[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        b[get_group_id(0)] = t[0];
}
//// linear ids taken apart
// clmap: global=1024 local=64 w=32 h=32 a=random(1024) b=zeros(1024)
// also: w=31 h=33
__kernel void taken_apart(__global const float *a, __global float *b, const int w, const int h)
{
    const int g = get_global_id(0);
    const int x = g / h, y = g % h;
    if (x < w && y < h)
        b[y * w + x] = a[y * w + x] + (x > 0 ? a[y * w + x - 1] : 0.0f);
}
//// a guard in a variable that changes
// clmap: global=64 local=32 n=50 a=random(4096) b=random(64,1)
__kernel void changing_guard(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    int ok = i < n;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (ok)
            s += a[i * n + k];
        ok = ok && s < 10.0f;
    }
    b[i] = s;
}
//// a stencil whose border wraps
// clmap: global=64,16 local=16,4 w=64 h=16 a=random(1024) b=zeros(1024)
// also: global=32,8 w=32 h=8
__kernel void torus(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h, d = (y + 1) % h;
    b[y * w + x] = a[y * w + l] + a[y * w + r] + a[u * w + x] + a[d * w + x] - 4.0f * a[y * w + x];
}
//// pairs of which one is loaded in a loop's test
// clmap: global=64 local=32 a=formula(256,i%4) b=zeros(64)
__kernel void pairs_test(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    while (s < a[2 * i] + a[2 * i + 1])
        s += 1.0f;
    b[i] = s;
}
//// pairs in a condition with a short circuit
// clmap: global=64 local=32 n=33 a=random(66) b=zeros(64)
__kernel void pairs_circuit(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = 1.0f;
    if (i < n && a[2 * i] > 0.5f && a[2 * i + 1] > 0.5f)
        s = 2.0f;
    b[i] = s;
}
//// pairs stored with a comment and a statement between
// clmap: global=64 local=32 a=random(64) b=zeros(128)
__kernel void pairs_comment(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    float v = a[i];
    b[2 * i] = v; // the real part
    v = -v;
    b[2 * i + 1] = v; /* and the other */
}
//// pairs stored in a loop by turns
// clmap: global=64 local=32 n=4 a=random(64) b=zeros(512)
__kernel void pairs_turns(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        b[8 * i + 2 * k] = a[i] * k;
        b[8 * i + 2 * k + 1] = a[i] - k;
    }
}
//// chunks: the element is changed before it is used
// clmap: global=64 local=32 n=16 a=random(1024) c=zeros(8)
// also: global=32 n=5
__kernel void chunk_changed(__global const float *a, __global int *c, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        int at = i * n + k;
        if (a[at] > 0.5f)
            at = at / 2 * 2;
        atomic_inc(&c[at & 7]);
    }
}
//// chunks: counted with the turn's parity
// clmap: global=64 local=32 n=16 a=random(1024) c=zeros(8)
__kernel void chunk_parity(__global const float *a, __global int *c, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        const int at = i * n + k;
        if (a[at] > 0.3f)
            atomic_add(&c[0], k & 1 ? 3 : 1);
    }
}
//// chunks: a neighbour of the element
// clmap: global=64 local=32 n=16 a=random(1025) b=zeros(1024)
// also: global=32 n=7
__kernel void chunk_next(__global float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] + a[i * n + k + 1];
}
//// chunks: stored behind a flag of the work-item
// clmap: global=64 local=32 n=16 a=random(1024) b=zeros(1024)
__kernel void chunk_flag(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    const bool odd = i & 1;
    for (int k = 0; k < n; k++)
        if (odd || a[i * n + k] > 0.5f)
            b[i * n + k] = a[i * n + k];
}
//// chunks: the greatest and a count in one place
// clmap: global=64 local=32 n=16 a=formula(1024,i%37) c=zeros(2)
__kernel void chunk_both(__global const int *a, __global int *c, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        atomic_max(&c[0], a[i * n + k]);
        atomic_sub(&c[1], a[i * n + k] & 1);
    }
}
//// chunks: unsigned index that wraps
// clmap: global=64 local=32 n=16 base=4294967280 a=random(1024) b=zeros(1024)
// also: base=0
__kernel void chunk_wraps(__global const float *restrict a, __global float *restrict b, const uint n, const uint base)
{
    const uint i = get_global_id(0);
    for (uint k = 0; k < n; k++) {
        const uint at = i * n + k;
        b[at] = a[at] + (base + at > 8u ? 1.0f : 0.0f);
    }
}
//// chunks: with an offset
// clmap: global=64 local=32 n=16 a=random(2048) c=zeros(4)
// also: global=32 offset=32
__kernel void chunk_offset(__global const float *a, __global int *c, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0.25f)
            atomic_inc(c + 1);
}
//// chunks in two dimensions
// clmap: global=32,4 local=16,2 n=8 a=random(1024) c=zeros(4)
__kernel void chunk_two(__global const float *a, __global int *c, const int n)
{
    const int i = get_global_id(0), j = get_global_id(1);
    for (int k = 0; k < n; k++)
        if (a[i * n + k + j * 256] > 0.25f)
            atomic_inc(c + 1);
}
//// ids worked out with another group's number
// clmap: global=128 local=32 n=16 a=random(2048) b=zeros(2048)
__kernel void other_group(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int g = get_group_id(0) ^ 1;
    const int i = g * get_local_size(0) + get_local_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * 2;
}
//// ids worked out and the local id needed as well
// clmap: global=128 local=32 n=16 a=random(2048) b=zeros(2048)
__kernel void id_and_local(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int l = get_local_id(0);
    const int i = get_group_id(0) * get_local_size(0) + l;
    __local float t[64];
    t[l] = a[i * n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * t[l ^ 1];
}
//// ids worked out under an offset
// clmap: global=128 local=32 n=16 a=random(4096) b=zeros(4096)
// also: global=64 offset=32
__kernel void id_offset(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * 2;
}
//// ids worked out twice, once shadowed
// clmap: global=128 local=32 n=16 a=random(2048) b=zeros(2048)
__kernel void id_shadow(__global const float *restrict a, __global float *restrict b, const int n)
{
    int g = get_group_id(0), s = get_local_size(0), l = get_local_id(0);
    int i = g * s + l;
    {
        int s = 2;
        b[i] = g * s + l;
    }
    for (int k = 1; k < n; k++)
        b[i + 128 * k] = a[i * n + k];
}
//// ids worked out by a macro of two statements
// clmap: global=128 local=32 n=16 a=random(2048) b=zeros(2048)
#define SETUP int g = get_group_id(0); int i = g * get_local_size(0) + get_local_id(0);
__kernel void id_setup(__global const float *restrict a, __global float *restrict b, const int n)
{
    SETUP
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] + g;
}
//// ids worked out in a helper that others call
// clmap: global=128 local=32 n=16 a=random(2048) b=zeros(2048)
int my_id(void)
{
    return get_group_id(0) * get_local_size(0) + get_local_id(0);
}
__kernel void id_helper(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = my_id();
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * 2;
}
__kernel void id_other(__global float *b)
{
    b[my_id()] = 1;
}
//// named loads: the name is that of a parameter outside
// clmap: global=64 local=32 n=40 a=random(2560) x=random(40) y=zeros(64)
__kernel void named_hides(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float acc = 0.0f;
    for (int k = 0; k < n; k++) {
        float a_4 = a[row * n + k];
        {
            float x = a_4 * 2.0f;
            acc += x;
        }
        acc += a_4 * x[k];
    }
    y[row] = acc;
}
//// named loads: an index that has a name
// clmap: global=64 local=32 n=40 a=random(2560) x=random(40) y=zeros(64)
// also: n=37 a=random(2368)
__kernel void named_index(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float acc = 0.0f;
    for (int k = 0; k < n; k++) {
        const int at = row * n + k;
        const float w = x[k];
        acc += a[at] * w;
    }
    y[row] = acc;
}
//// named loads: an array in the loop
// clmap: global=64 local=32 n=40 a=random(2560) y=zeros(64)
__kernel void named_array(__global const float *a, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float acc = 0.0f;
    for (int k = 0; k < n; k++) {
        float two[2] = {a[row * n + k], 1.0f};
        two[k & 1] += 1.0f;
        acc += two[0] * two[1];
    }
    y[row] = acc;
}
//// named loads: a static count that lives on
// clmap: global=64 local=32 n=40 a=random(2560) y=zeros(64)
__kernel void named_lives(__global const float *a, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float last = -1.0f, acc = 0.0f;
    for (int k = 0; k < n; k++) {
        const float v = a[row * n + k];
        acc += v - last;
        last = v;
    }
    y[row] = acc + last;
}
//// named loads: converted to integers
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
__kernel void named_int(__global const float *restrict a, __global const float *restrict b, __global int *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    int sum = 0;
    for (int k = 0; k < n; k++) {
        const int u = a[y * n + k] * 9;
        const int v = b[k * n + x] * 9;
        sum += u * v;
    }
    c[y * n + x] = sum;
}
//// named loads: used twice and once alone
// clmap: global=128,128 local=16,16 n=24 a=random(3072) b=random(3072,1) c=zeros(16384)
__kernel void named_twice(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        float u = a[y * n + k];
        float v = b[k * 128 + x];
        sum += u * v + u * u;
    }
    c[y * 128 + x] = sum;
}
//// named loads: negative zero and infinities
// clmap: global=128,64 local=16,16 n=17 a=formula(2176,(1-abs(i%13-5))*1e39) b=random(2176,1) c=zeros(8192)
__kernel void named_inf(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = -0.0f;
    for (int k = 0; k < n; k++) {
        float u = a[x + k * 128];
        float v = b[y + k * 64];
        sum += u * v;
    }
    c[y * 128 + x] = sum;
}
//// pairs behind pointers that differ
// clmap: global=64 local=32 a=random(256) b=zeros(128)
__kernel void deref_two(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    __global const float *p = a + 2 * i, *q = a + 2 * i + 1;
    b[2 * i] = *p + *q;
    *(b + 2 * i + 1) = *p - *q;
}
//// pairs behind a pointer that moves
// clmap: global=64 local=32 a=random(256) b=zeros(128)
__kernel void deref_moves(__global const float *a, __global float *b)
{
    __global const float *p = a + 2 * get_global_id(0);
    const float x = *p;
    p++;
    const float y = *p;
    *(b + 2 * get_global_id(0)) = x * y;
    *(b + 2 * get_global_id(0) + 1) = x + y;
}
//// pairs behind casts to another type
// clmap: global=64 local=32 a=random(256) b=zeros(128)
__kernel void deref_cast(__global const float *a, __global uint *b)
{
    const int i = get_global_id(0);
    b[2 * i] = *(__global const uint *)(a + 2 * i);
    b[2 * i + 1] = *((__global const uint *)a + 2 * i + 1);
}
//// barrier in a branch that all take
// clmap: global=64 local=32 flag=1 a=random(64) b=zeros(64)
// also: flag=0
__kernel void branch_barrier(__global const float *a, __global float *b, const int flag)
{
    __local float t[32];
    const int l = get_local_id(0), i = get_global_id(0);
    t[l] = a[i];
    if (flag) {
        barrier(CLK_LOCAL_MEM_FENCE);
        b[i] = t[31 - l];
    } else
        b[i] = t[l];
}
//// local array close to the limit
// clmap: global=64 local=32 n=64 a=random(4096) x=random(64) y=zeros(64)
__kernel void near_limit(__global const float *a, __global const float *x, __global float *y, const int n)
{
    __local float big[12200];
    const int l = get_local_id(0), i = get_global_id(0);
    for (int k = l; k < 12200; k += 32)
        big[k] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] * x[k];
    y[i] = s + big[(l * 377) % 12200];
}
//// braces and brackets in comments
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void braces(__global const float *a /* [rows][n]; } */, __global float *y, const int n)
{
    // } {{ for (int k = 0;
    const int row = get_global_id(0); /* a[row * n + k] */
    float s = 0.0f;
    for (int k = 0; /* ; */ k < n /* < */; k++) { // {
        float v = a[row * n + k]; // } s += 2;
        s += v; /* s -= v; } */
    }
    y[row] = s; // }
}
//// macros that end a block
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
#define BEGIN {
#define END }
__kernel void begin_end(__global const float *a, __global float *y, const int n)
BEGIN
    float s = 0.0f;
    for (int k = 0; k < n; k++) BEGIN s += a[get_global_id(0) * n + k]; END
    y[get_global_id(0)] = s;
END
//// a guard with an atomic in it
// clmap: global=64 local=32 n=50 a=random(64) b=zeros(64) c=zeros(1)
__kernel void guard_atomic(__global const float *a, __global float *b, __global int *c, const int n)
{
    const int i = get_global_id(0);
    if (i < n && atomic_add(c, 1) >= 0)
        b[i] = a[i] * 3.0f;
}
//// NULL beside a size of nothing
// clmap: global=64 local=32 n=0 a=random(64) w=null y=zeros(64)
__kernel void no_weights(__global const float *a, __global const float *w, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = a[i];
    for (int k = 0; k < n; k++)
        s += w[k];
    y[i] = s;
}
//// names of ours everywhere
// clmap: global=64,64 local=16,16 n=64 tile=random(4096) lx=random(4096,1) ly=zeros(4096)
__kernel void our_names(__global const float *restrict tile, __global const float *restrict lx, __global float *restrict ly, const int n)
{
    const int k0 = get_global_id(0), item = get_global_id(1);
    float tile_tile = 0.0f;
    for (int t = 0; t < n; t++)
        tile_tile += tile[item * n + t] * lx[t * n + k0];
    ly[item * n + k0] = tile_tile;
}
//// a variable named like the array with a suffix of ours
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void suffixes(__global const float *a, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float a_4 = 0.0f, k0 = 1.0f, a_value = 2.0f;
    for (int k = 0; k < n; k++)
        a_4 += a[row * n + k] * k0 + a_value;
    y[row] = a_4;
}
//// two kernels that share a helper over local memory
// clmap: global=64 local=64 a=random(64) b=zeros(64)
float folded(__local float *t, int l)
{
    return t[l * 32 % 64] + t[(l * 32 + 1) % 64];
}
__kernel void share_one(__global const float *a, __global float *b)
{
    __local float t[64];
    const int l = get_local_id(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = folded(t, l);
}
__kernel void share_two(__global const float *a, __global float *b)
{
    __local float t[64];
    t[get_local_id(0)] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[get_global_id(0)] = folded(t, 63 - get_local_id(0));
}
//// if and else around half a loop
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
// also: -DFAST
__kernel void half_loop(__global const float *a, __global float *y, const int n)
{
    const int row = get_global_id(0);
    float s = 0.0f;
#ifdef FAST
    for (int k = 0; k < n; k += 2) {
        s += a[row * n + k];
#else
    for (int k = 0; k < n; k++) {
#endif
        s += a[row * n + k] * 2.0f;
    }
    y[row] = s;
}
//// the loop's bound by a comma and a side effect
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void comma(__global const float *a, __global float *y, int n)
{
    const int row = get_global_id(0);
    float s = 0.0f;
    for (int k = 0, m = n; k < m; k++, m--)
        s += a[row * n + k] - a[row * n + m - 1];
    y[row] = s;
}
//// spread: stores that the loop's guard leaves out
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(2048)
// also: n=20 a=random(1280)
__kernel void spread_guard(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int row = get_global_id(0);
    if (row % 3 != 1)
        for (int k = 0; k < n; k++)
            if (a[row * n + k] > 0.5f)
                y[row * n + k] = a[row * n + k];
}
//// spread: the row is shifted by what is read
// clmap: global=64 local=32 n=32 s=formula(64,(i*5)%64) a=random(2048) y=zeros(2048)
__kernel void spread_read(__global const int *restrict s, __global const float *restrict a, __global float *restrict y, const int n)
{
    const int row = s[get_global_id(0)];
    for (int k = 0; k < n; k++)
        y[row * n + k] = a[row * n + k] + 1.0f;
}
//// spread: else-branch with a loop of its own
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(2048)
__kernel void spread_else(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int row = get_global_id(0);
    if (row & 1)
        for (int k = 0; k < n; k++)
            y[row * n + k] = a[row * n + k];
    else
        for (int k = 0; k < n; k++)
            y[row * n + k] = -a[row * n + k];
}
//// odd work-groups and an array of exactly their size
// clmap: global=63 local=21 n=63 a=random(3969) y=zeros(63)
__kernel void odd_groups(__global const float *a, __global float *y, const int n)
{
    __local float t[21];
    const int l = get_local_id(0);
    float s = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 21) {
        t[l] = a[get_global_id(0) * n + k0 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 21; k++)
            s += t[k] * (k + 1);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = s;
}
//// tabs, carriage returns and a row in three lines
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void three_lines(__global const float *a, __global float *y, const int n)
{
	const int row = get_global_id(0);
	float s = 0.0f;
	for (int k = 0;
	     k < n;
	     k++)
	{
		float v
			= a[row * n
			    + k];
		s += v;
	}
	y[row] = s;
}
//// members of a structure in one that is not so long as a vector
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef struct { float x, y, z; } Three;
__kernel void three_members(__global const Three *p, __global float *e)
{
    const int i = get_global_id(0);
    e[i] = p[i].x + p[i].y * p[i].z;
}
//// members of a structure, one of them an integer
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef struct { float x, y; int kind; float w; } Mixed;
__kernel void mixed_members(__global const Mixed *p, __global float *e)
{
    const int i = get_global_id(0);
    e[i] = p[i].x + p[i].y + (p[i].kind & 3) + p[i].w;
}
//// members of a packed structure behind a byte
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef struct __attribute__((packed)) { uchar tag; float x, y, z, w; } Packed;
__kernel void packed_members(__global const Packed *p, __global float *e)
{
    const int i = get_global_id(0);
    e[i] = p[i].x + p[i].y + p[i].z + p[i].w + p[i].tag;
}
//// members of neighbours that are stored in between
// clmap: global=63 local=21 p=random(64) e=zeros(64)
typedef struct { float x, y, z, w; } Four;
__kernel void neighbour_members(__global const Four *p, __global Four *q, __global float *e)
{
    const int i = get_global_id(0);
    float a = q[i].x;
    q[i].y = a + 1.0f;
    float b = q[i].y + q[i].z;
    q[i].w = b;
    e[i] = a + b + q[i].w + p[i + 1].x - p[i].w;
}
//// members of a union
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef union { struct { float x, y, z, w; } f; uint u[4]; } Either;
__kernel void union_members(__global Either *p, __global float *e)
{
    const int i = get_global_id(0);
    float a = p[i].f.x;
    p[i].u[1] = 0x3f800000u;
    e[i] = a + p[i].f.y + p[i].f.z + p[i].f.w;
}
//// members by a pointer that is chosen
// clmap: global=64 local=32 n=30 p=random(64) q=random(64,1) e=zeros(64)
typedef struct { float x, y, z, w; } Point;
__kernel void chosen_members(__global const Point *p, __global const Point *q, __global float *e, const int n)
{
    const int i = get_global_id(0);
    __global const Point *o = i < n ? p + i : q + i;
    e[i] = o->x + o->y + o->z + o->w;
}
//// unknown launch: a histogram that host code runs in two dimensions
// also: global=64 local=16 n=1000 data=formula(1000,(i*7)%256) hist=zeros(256)
// also: global=64,4 local=16,2 n=1000 data=formula(1000,(i*7)%256) hist=zeros(256)
// also: global=64 local=16 offset=16 n=1000 data=formula(1000,(i*7)%256) hist=zeros(256)
__kernel void counted(__global const uchar *data, __global uint *hist, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n)
        atomic_inc(&hist[data[i]]);
}
//// histogram of a launch in two dimensions
// clmap: global=64,8 local=16,4 w=64 h=8 data=formula(512,(i*7)%256) hist=zeros(256)
// also: w=63 h=7
// also: local=8,8
// also: offset=16,4
__kernel void counted2(__global const uchar *restrict data, __global uint *restrict hist, const int w, const int h)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    if (x < w && y < h)
        atomic_inc(&hist[data[y * w + x]]);
}
//// histogram that is stored to after counting
// clmap: global=64 local=64 n=64 data=formula(64,(i*7)%64) hist=zeros(64) out=zeros(64)
// also: same=hist:out
__kernel void counted_then_stored(__global const uint *data, __global uint *hist, __global uint *out, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) {
        atomic_add(&hist[i], data[i]);
        out[i] = 5;
    }
}
//// histogram of two buffers that may be one
// clmap: global=256 local=64 n=256 data=formula(256,(i*7)%16) a=zeros(16) b=zeros(16)
// also: same=a:b
__kernel void two_counts(__global const uchar *data, __global int *a, __global int *b, const uint n)
{
    const uint i = get_global_id(0);
    if (i < n) {
        atomic_inc(&a[data[i] & 15]);
        atomic_dec(&b[data[i] & 7]);
    }
}
//// histogram with a name shadowed inside
// clmap: global=256 local=64 n=256 data=formula(256,(i*7)%16) hist=zeros(16)
__kernel void shadowed_hist(__global const uchar *data, __global int *hist, const uint n)
{
    const uint i = get_global_id(0);
    if (i >= n) return;
    const uint v = data[i];
    if (v > 3) {
        const int hist[2] = {1, 2};
        if (hist[v & 1] == 2) return;
    }
    atomic_add(&hist[v], hist == 0 ? 2 : 1);
}
//// histogram that counts atomically in a grid stride
// clmap: global=128 local=32 n=1000 data=formula(1000,(i*7)%256) hist=zeros(256)
// also: n=1
// also: n=999 data=formula(1000,(i*7)%256)
// also: global=32
// also: offset=32
__kernel void strided_hist(__global const uchar *restrict data, __global uint *restrict hist, const uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&hist[data[i]]);
}
//// histogram through a pointer and volatile
// clmap: global=256 local=64 n=256 data=formula(256,(i*7)%16) hist=zeros(16)
// also: n=250
__kernel void volatile_hist(__global const uchar *data, volatile __global int *hist, const uint n)
{
    const size_t i = get_global_id(0);
    if (i < n)
        atomic_add(hist + data[i], 1 - (int)(i & 1) * 2);
}
//// histogram under a local barrier of its own
// clmap: global=256 local=64 n=256 data=formula(256,(i*7)%16) hist=zeros(16)
__kernel void barrier_hist(__global const uchar *data, __global int *hist, const uint n)
{
    __local uchar mine[64];
    const uint i = get_global_id(0), l = get_local_id(0);
    mine[l] = i < n ? data[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&hist[mine[63 - l] & 15]);
}
//// two kernels' counts: one is used as a ticket
// clmap: global=64 local=64 data=formula(64,i) next=zeros(1) out=zeros(64) bins=zeros(4)
__kernel void ticket(__global const int *data, __global int *next, __global int *out, __global int *bins)
{
    const int i = get_global_id(0);
    atomic_inc(&bins[data[i] & 3]);
    const int at = atomic_add(next, 1);
    out[at] = 1;
}
//// register tile: unsigned guard that wraps
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: n=63
// also: n=1
// also: n=0
__kernel void wrapped(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const uint n)
{
    const uint col = get_global_id(0);
    const uint row = get_global_id(1);
    if (row > n - 1 || col > n - 1)
        return;
    float sum = 0.0f;
    for (uint k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
//// register tile: unknown launch and rectangular
// also: global=64,96 local=16,16 M=96 N=64 K=33 A=random(96*33) B=random(33*64,1) C=random(96*64,2) alpha=2 beta=3
// also: global=70,96 local=7,16 M=95 N=66 K=7 A=random(95*7) B=random(7*66,1) C=random(95*66,2) alpha=1 beta=0
// also: global=70,96 local=7,16 M=95 N=66 K=0 A=random(95*7) B=random(7*66,1) C=random(95*66,2) alpha=1 beta=0
__kernel void sgemm(const int M, const int N, const int K, const float alpha, __global const float *restrict A,
                    __global const float *restrict B, const float beta, __global float *restrict C)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if (i < M && j < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; k++)
            acc += alpha * A[i * K + k] * B[k * N + j];
        C[i * N + j] = acc + beta * C[i * N + j];
    }
}
//// register tile: short elements that convert
// clmap: global=64,64 local=16,16 n=64 a=formula(4096,(i*37)%251-120) b=formula(4096,(i*91)%241-120) c=zeros(4096)
// also: n=61
__kernel void shorts(__global const short *restrict a, __global const char *restrict b, __global int *restrict c, const int n)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    int sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
//// register tile: the accumulator starts at what is stored
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=random(4096,2)
// also: same=a:c
// also: n=50
__kernel void into(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float sum = c[row * n + col];
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
//// register tile: a restrict that lies
// clmap: global=64,64 local=16,16 n=64 a=random(4096) c=zeros(4096)
// also: n=33
__kernel void same_twice(__global const float *restrict a, __global float *restrict c, const int n)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * a[col * n + k];
    c[row * n + col] = sum;
}
//// register tile: only a triangle is stored
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: n=47
__kernel void triangle(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || col > row)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
//// register tile: the loop starts at one and ends before the end
// clmap: global=64,64 local=16,16 n=64 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: n=3
// also: n=2
__kernel void inner(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int col = get_global_id(0);
    const int row = get_global_id(1);
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = 1; k < n - 1; ++k)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
//// rows to groups: a maximum that starts below
// clmap: global=64 local=64 n=64 a=random(4096) y=zeros(64) at=zeros(64)
// also: n=1 a=formula(4096,-5.0)
// also: n=0
// also: n=3 a=formula(4096,-1.0e38)
__kernel void greatest(__global const float *restrict a, __global float *restrict y, __global int *restrict at, const int n)
{
    const int i = get_global_id(0);
    float best = a[i * n];
    int where = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > best) {
            best = a[i * n + k];
            where = k;
        }
    y[i] = best;
    at[i] = where;
}
//// rows to groups: unknown launch and a guard of unsigned difference
// also: global=64 local=32 rows=60 n=100 a=random(6400) x=random(100) y=zeros(64)
// also: global=64 local=32 rows=0 n=100 a=random(6400) x=random(100) y=zeros(64)
// also: global=64 local=32 rows=64 n=0 a=random(6400) x=random(100) y=zeros(64)
// also: global=32 local=8 offset=5 rows=64 n=7 a=random(6400) x=random(100) y=zeros(64)
__kernel void mv(__global const float *a, __global const float *x, __global float *y, const uint rows, const uint n)
{
    const uint i = get_global_id(0);
    if (i < rows) {
        float s = 0.0f;
        for (uint k = 0; k < n; k++)
            s += a[i * n + k] * x[k];
        y[i] = s;
    }
}
//// rows to groups: an integer sum that overflows and a count
// clmap: global=64 local=32 n=64 a=formula(4096,i*1000003) y=zeros(64) c=zeros(64)
// also: n=63
__kernel void overflowing(__global const uint *restrict a, __global uint *restrict y, __global uchar *restrict c, const int n)
{
    const int i = get_global_id(0);
    uint s = 7u;
    uchar odd = 250;
    for (int k = 0; k < n; k++) {
        s += a[i * n + k] * 2654435761u;
        odd += a[i * n + k] & 1;
    }
    y[i] = s;
    c[i] = odd;
}
//// rows to groups: a product and a sum with a dependence
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64)
__kernel void horner(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s = s * 0.5f + a[i * n + k];
    y[i] = s;
}
//// rows to groups: the sum is used in the loop
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(64) z=zeros(2048)
__kernel void running(__global const float *restrict a, __global float *restrict y, __global float *restrict z, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * n + k];
        if (k % 4 == 3)
            z[i * n + k] = s;
    }
    y[i] = s;
}
//// structure of arrays: one member is written through a helper
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef struct { float x, y, z; int tag; } Body;
inline float step(__global Body *b, float d) { b->x += d; return b->x * b->y; }
__kernel void helped(__global Body *p, __global float *e)
{
    const int i = get_global_id(0);
    e[i] = step(p + i, 0.25f) + p[i].z + p[i].tag;
}
//// vectorised loads: buffers that overlap by an element
// clmap: global=16 local=16 n=16 a=random(512) b=random(512,1)
// also: same=a:b
// also: n=15
__kernel void halved(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * 0.5f;
}
//// vectorised loads: unsigned char sums with promotion
// clmap: global=16 local=16 n=16 a=formula(512,(i*37)%256) b=zeros(64)
// also: n=15
// also: n=3
__kernel void bytes(__global const uchar *restrict a, __global int *restrict b, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += (a[i * n + k] - 200) / 3;
    b[i] = s;
}
//// vectorised loads: signed char shifts
// clmap: global=16 local=16 n=16 a=formula(512,(i*37)%256-128) b=zeros(512)
// also: n=12
__kernel void shifted_bytes(__global const char *restrict a, __global char *restrict b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = (a[i * n + k] << 4) >> 3;
}
//// vectorised loads: comparisons give one or minus one
// clmap: global=16 local=16 n=16 a=random(512) b=zeros(64)
// also: n=12
__kernel void compared(__global const float *restrict a, __global int *restrict b, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] > 0.5f;
    b[i] = s;
}
//// pairs: unsigned index that wraps below zero
// clmap: global=64 local=32 a=random(256) b=zeros(64) base=0
// also: base=2
// also: base=1
__kernel void below(__global const float *restrict a, __global float *restrict b, const uint base)
{
    const uint i = get_global_id(0);
    b[i] = a[2 * i + base] + a[2 * i + base + 1];
}
//// pairs of halves of a local argument
// clmap: global=64 local=32 a=random(128) b=zeros(64) s=local(64)
// also: local=16 s=local(32)
// also: local=64 s=local(128)
__kernel void pairs_local(__global const float *a, __global float *b, __local float *s)
{
    const int l = get_local_id(0), g = get_group_id(0), n = get_local_size(0);
    s[2 * l] = a[2 * (g * n + l)];
    s[2 * l + 1] = a[2 * (g * n + l) + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int o = (l * 7 + 3) % n;
    b[g * n + l] = s[2 * o] - s[2 * o + 1];
}
//// three dimensions: planes by the wrong id
// clmap: global=16,8,4 local=8,4,2 nx=16 ny=8 nz=4 a=random(512) b=zeros(512)
// also: nx=15 ny=7 nz=3
// also: global=8,16,4 nx=8 ny=16 nz=4
// also: global=16,8,4 local=16,2,1
__kernel void planes(__global const float *restrict a, __global float *restrict b, const int nx, const int ny, const int nz)
{
    const int z = get_global_id(0), y = get_global_id(1), x = get_global_id(2);
    if (x < nx && y < ny && z < nz)
        b[(z * ny + y) * nx + x] = a[(x * ny + y) * nz + z] * 2.0f;
}
//// three dimensions: a stencil in place
// clmap: global=16,8,4 local=8,4,2 nx=16 ny=8 nz=4 a=random(512) b=zeros(512)
// also: same=a:b global=16,8,1 nz=1
// also: nx=14 ny=8 nz=4
__kernel void stencil3(__global const float *a, __global float *b, const int nx, const int ny, const int nz)
{
    const int x = get_global_id(2), y = get_global_id(1), z = get_global_id(0);
    if (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1) {
        const int c = (z * ny + y) * nx + x;
        b[c] = a[c - 1] + a[c + 1] + a[c - nx] + a[c + nx] + a[c - nx * ny] + a[c + nx * ny] - 6.0f * a[c];
    }
}
//// early return before a barrier that all take
// clmap: global=64 local=16 n=64 a=random(64*16) b=zeros(64)
// also: n=48
// also: n=32 local=32
__kernel void early(__global const float *a, __global float *b, const int n)
{
    __local float s[64];
    const int i = get_global_id(0), l = get_local_id(0), w = get_local_size(0);
    if (get_group_id(0) * w >= n)
        return;
    s[l] = a[i * 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    float t = 0;
    for (int k = 0; k < w; k++)
        t += s[k] * a[i * 16 + (k & 15)];
    b[i] = t;
}
//// helper with a barrier
// clmap: global=64 local=16 n=64 a=random(64*16) b=zeros(64)
// also: local=8
float spread(__local float *s, float v, int l, int w)
{
    s[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    float t = s[(l + 1) % w];
    barrier(CLK_LOCAL_MEM_FENCE);
    return t;
}
__kernel void with_helper(__global const float *a, __global float *b, const int n)
{
    __local float s[64];
    const int i = get_global_id(0), l = get_local_id(0), w = get_local_size(0);
    float t = 0;
    for (int k = 0; k < 16; k++)
        t += spread(s, a[i * 16 + k], l, w);
    b[i] = t;
}
//// macro that declares and a macro in the bound
// clmap: global=64 local=16 n=64 a=random(4096) b=zeros(64)
// also: n=17
// also: -DSTEP=2
#ifndef STEP
#define STEP 1
#endif
#define FOR(v, to) for (int v = 0; v < (to); v += STEP)
#define ROW(i) ((i) * n)
__kernel void macro_loop(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    float t = 0;
    FOR(k, n)
        t += a[ROW(i) + k];
    b[i] = t;
}
//// macro of the size that a build sets to an expression
// clmap: global=64,64 local=16,16 a=random(4096) b=random(4096,1) c=zeros(4096)
// also: -DN=30+2
// also: -DN=64
#ifndef N
#define N 32
#endif
__kernel void sized(__global const float *restrict a, __global const float *restrict b, __global float *restrict c)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= N || y >= N)
        return;
    float t = 0;
    for (int k = 0; k < N; k++)
        t += a[y * (N) + k] * b[k * (N) + x];
    c[y * (N) + x] = t;
}
//// grid stride in two dimensions
// clmap: global=32,16 local=16,4 w=100 h=40 a=random(4000) b=zeros(4000)
// also: w=31 h=15
// also: offset=16,4
// also: global=16,4
__kernel void grid2(__global const float *a, __global float *b, const int w, const int h)
{
    for (int y = get_global_id(0); y < h; y += get_global_size(0))
        for (int x = get_global_id(1); x < w; x += get_global_size(1))
            b[y * w + x] = a[y * w + x] * 2.0f + 1.0f;
}
//// a chunk by global size
// clmap: global=32 local=16 n=1024 a=random(1024) b=zeros(1024)
// also: n=1000
// also: n=31
// also: global=16
// also: offset=16
__kernel void chunked(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int per = (n + get_global_size(0) - 1) / get_global_size(0);
    const int first = get_global_id(0) * per;
    for (int k = first; k < min(first + per, n); k++)
        b[k] = a[k] * 2.0f;
}
//// chunk with atomics on the buffer that is read
// clmap: global=32 local=16 a=formula(512,i%7) per=16
// also: per=15
// also: local=8
__kernel void self_count(__global int *a, const int per)
{
    const int i = get_global_id(0);
    for (int k = 0; k < per; k++) {
        const int v = a[i * per + k];
        if (v == 3)
            atomic_add(&a[i * per + k], 2);
    }
}
//// volatile flags in a loop
// clmap: global=64 local=16 n=16 a=random(1024) flag=zeros(64) b=zeros(64)
__kernel void flagged(__global const float *restrict a, volatile __global int *flag, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        if (flag[i])
            break;
        s += a[i * n + k];
    }
    b[i] = s;
}
//// a transpose whose sizes are exchanged by the guard
// clmap: global=64,32 local=16,16 w=64 h=32 a=random(2048) b=zeros(2048)
// also: w=33 h=31
// also: global=48,64 w=40 h=51
// also: offset=1,0 w=64 h=32
__kernel void turned(__global const float *restrict a, __global float *restrict b, const uint w, const uint h)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (!(x < w && y < h))
        return;
    b[x * h + y] = a[y * w + x];
}
//// a transpose with a scalar added by the row
// clmap: global=64,64 local=16,16 n=64 a=random(4096) v=random(64,3) b=zeros(4096)
// also: n=63
// also: same=a:b n=1
__kernel void turned_biased(__global const float *a, __global const float *v, __global float *b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    b[x * n + y] = a[y * n + x] + v[y] * x;
}
//// unknown launch: a convolution over bytes with clamped edges
// also: global=64,48 local=16,8 w=60 h=45 r=2 in=formula(2700,(i*37)%256) f=random(25) out=zeros(2700)
// also: global=64,48 local=16,8 w=1 h=1 r=2 in=formula(2700,(i*37)%256) f=random(25) out=zeros(2700)
// also: global=64,48 local=16,8 w=60 h=45 r=0 in=formula(2700,(i*37)%256) f=random(25) out=zeros(2700)
__kernel void blur(__global const uchar *in, __global uchar *out, __constant float *f, const int w, const int h, const int r)
{
    const int x = get_global_id(1), y = get_global_id(0);
    if (x >= w || y >= h)
        return;
    float s = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            s += f[(dy + r) * (2 * r + 1) + dx + r] * in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
    out[y * w + x] = convert_uchar_sat(s);
}
//// unknown launch: columns summed by each work-item
// also: global=64 local=16 w=60 h=45 a=random(2700) s=zeros(64)
// also: global=64 local=16 w=60 h=0 a=random(2700) s=zeros(64)
// also: global=64 local=64 offset=3 w=60 h=45 a=random(2700) s=zeros(64)
__kernel void column_sums(__global const float *a, __global float *s, const int w, const int h)
{
    int x = get_global_id(0);
    if (x >= w) return;
    float t = 0;
    for (int y = h - 1; y >= 0; --y)
        t += a[y * w + x];
    s[x] = t;
}
//// unknown launch: rows summed backwards
// also: global=64 local=16 w=60 h=45 a=random(2700) s=zeros(64)
// also: global=64 local=16 w=0 h=45 a=random(2700) s=zeros(64)
// also: global=64 local=32 w=7 h=64 a=random(2700) s=zeros(64)
__kernel void row_sums_back(__global const float *a, __global float *s, const int w, const int h)
{
    int y = get_global_id(0);
    if (y >= h) return;
    float t = 0;
    for (int x = w; x-- > 0; )
        t += a[y * w + x] * (x + 1);
    s[y] = t;
}
//// a loop that counts down in signed numbers to the limit
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=31
// also: n=1
__kernel void down(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float t = 0;
    for (int k = n - 1; k >= 0; k--)
        t += a[y * n + k] * b[k * n + x];
    c[y * n + x] = t;
}
//// loads under a condition of the loop
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) m=formula(32,i%3) c=zeros(1024)
// also: n=31
// also: m=zeros(32)
__kernel void masked(__global const float *restrict a, __global const float *restrict b, __global const int *restrict m, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float t = 0;
    for (int k = 0; k < n; k++)
        if (m[k])
            t += a[y * n + k] * b[k * n + x];
    c[y * n + x] = t;
}
//// loads under a condition of the work-item
// clmap: global=32 local=16 n=32 a=random(1024) x=random(32) c=zeros(32) d=zeros(32)
// also: n=31
__kernel void skipped(__global const float *restrict a, __global const float *restrict x, __global float *restrict c, __global float *restrict d, const int n)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float t = 0, u = 1;
    for (int k = 0; k < n; k++) {
        if (k != i)
            t += a[i * n + k] * x[k];
        else
            u = a[i * n + k];
    }
    c[i] = t / u;
    d[i] = u;
}
//// matrix with a local tile and a tail that is ragged
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=17
__kernel void ragged(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float at[16][16], bt[16][16];
    const int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float t = 0;
    for (int k = 0; k < n; k += 16) {
        at[lx][ly] = y < n && k + lx < n ? a[y * n + k + lx] : 0;
        bt[lx][ly] = x < n && k + ly < n ? b[(k + ly) * n + x] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            t += at[j][ly] * bt[lx][j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = t;
}
//// long ids and negative strides
// clmap: global=64 local=16 n=64 s=-1 a=random(4096) b=zeros(64)
// also: s=1 n=32
// also: s=0
__kernel void negative(__global const float *restrict a, __global float *restrict b, const long n, const long s)
{
    const long i = get_global_id(0);
    float t = 0;
    for (long k = 0; k < 32; k++)
        t += a[2048 + s * k + i * 32 * (s < 0 ? 1 : 0)];
    b[i] = t;
}
//// nested loops whose inner sum is reset
// clmap: global=32 local=16 n=32 a=random(4096) x=random(64) c=zeros(32)
// also: n=30
// also: n=1
__kernel void nested(__global const float *restrict a, __global const float *restrict x, __global float *restrict c, const int n)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float best = -1e30f;
    for (int j = 0; j < 4; j++) {
        float t = 0;
        for (int k = 0; k < n; k++)
            t += a[(j * n + i) * n + k] * x[k];
        best = fmax(best, t);
    }
    c[i] = best;
}
//// several rows whose guard is odd
// clmap: global=64,64 local=16,16 w=64 h=64 a=random(4096) b=zeros(4096)
// also: w=62 h=61
// also: w=3 h=3
// also: w=2 h=2
__kernel void odd_rows(__global const float *restrict a, __global float *restrict b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1)
        return;
    float s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            s += a[(y + dy) * w + x + dx];
    if ((x + y) & 1)
        b[y * w + x] = s / 9.0f;
    else
        b[y * w + x] = -s;
}
//// a reduction tree whose group is no power of two
// clmap: global=96 local=24 n=96 a=random(96) out=zeros(4) s=local(24)
// also: local=32 s=local(32) n=90
// also: local=8 s=local(8) out=zeros(12)
__kernel void tree(__global const float *a, __global float *out, __local float *s, const uint n)
{
    const uint l = get_local_id(0), i = get_global_id(0);
    s[l] = i < n ? a[i] : 0;
    for (uint d = 1; d < get_local_size(0); d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % (2 * d) == 0 && l + d < get_local_size(0))
            s[l] += s[l + d];
    }
    if (l == 0)
        out[get_group_id(0)] = s[0];
}
//// histogram behind a guard of floats that may be no numbers
// clmap: global=64,8 local=16,4 n=512 least=0.25 x=random(512) hist=zeros(16)
// also: local=8,8
// also: least=nan
// also: x=formula(512,(i%3-1)*1.0e30)
__kernel void guarded_floats(__global const float *x, __global uint *hist, const int n, const float least)
{
    const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    const float v = x[i];
    if (v < least) // too small
        return;
    const uint bin = min((uint)(fmin(fabs(v), 1.0f) * 16.0f), 15u);
    atomic_inc(&hist[bin]);
}
//// histogram with a second guard inside a loop
// clmap: global=64,8 local=16,4 n=4 data=formula(2048,(i*7)%256) hist=zeros(256)
// also: n=0
__kernel void two_guards(__global const uchar *restrict data, __global uint *restrict hist, const int n)
{
    const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (i >= 500)
        return;
    for (int k = 0; k < n; k++) {
        if (data[i * n + k] == 7)
            return;
        atomic_inc(&hist[data[i * n + k]]);
    }
}
//// histogram whose guard is in an else
// clmap: global=64,8 local=16,4 n=500 data=formula(512,(i*7)%256) hist=zeros(256)
__kernel void else_guard(__global const uchar *restrict data, __global uint *restrict hist, const int n)
{
    const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (i < n)
        atomic_add(&hist[data[i]], 2u);
    else
        return;
    if (i & 1)
        atomic_sub(&hist[data[i]], 1u);
}
//// histogram in three dimensions
// clmap: global=16,8,4 local=8,4,2 data=formula(512,(i*7)%256) hist=zeros(256)
// also: local=4,4,4
// also: local=1,8,2
__kernel void hist3(__global const uchar *restrict data, __global int *restrict hist)
{
    const int i = (get_global_id(2) * 8 + get_global_id(1)) * 16 + get_global_id(0);
    atomic_dec(&hist[data[i]]);
}
//// histogram with a declaration as its last statement
// clmap: global=64,8 local=16,4 n=500 data=formula(512,(i*7)%256) hist=zeros(256)
__kernel void last_declares(__global const uchar *restrict data, __global int *restrict hist, const int n)
{
    const int i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (i >= n) return;
    const int old = atomic_inc(&hist[data[i]]);
}
//// a row walked with a stride of the host
// clmap: global=64 local=16 n=32 s=2 a=random(8192) y=zeros(64)
// also: s=1
// also: s=3 n=31
// also: s=0
__kernel void strided_row(__global const float *restrict a, __global float *restrict y, const int n, const int s)
{
    const int i = get_global_id(0);
    float t = 0;
    for (int k = 0; k < n; k++)
        t += a[(i * n + k) * s];
    y[i] = t;
}
//// several results, one of them an early exit of the loop
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=29
__kernel void capped(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float t = 0;
    for (int k = 0; k < n && t < 3.0f; k++)
        t += a[y * n + k] * b[k * n + x];
    c[y * n + x] = t;
}
//// register tile with a name of ours: element, item, r, c
// clmap: global=64,64 local=16,16 element=64 a=random(4096) c=random(4096,1) r=zeros(4096)
// also: element=63
__kernel void our_names(__global const float *restrict a, __global const float *restrict c, __global float *restrict r, const int element)
{
    const int item = get_global_id(0);
    const int t = get_global_id(1);
    if (item >= element || t >= element)
        return;
    float lx = 0.0f;
    for (int k = 0; k < element; ++k)
        lx += a[t * element + k] * c[k * element + item];
    r[t * element + item] = lx;
}
//// register tile of doubles in column order
// clmap: global=64,64 local=16,16 m=64 n=64 k=20 a=random(4096) b=random(4096,1) c=random(4096,2)
// also: m=50 n=61 k=1
// also: k=0
__kernel void columns(__global const double *restrict a, __global const double *restrict b, __global double *restrict c, const int m, const int n, const int k)
{
    const int i = get_global_id(0);
    const int j = get_global_id(1);
    if (i < m && j < n) {
        double s = 0.0;
        for (int l = 0; l < k; l++)
            s += a[l * m + i] * b[j * k + l];
        c[j * m + i] -= s;
    }
}
//// rows to groups: two loops, the second needs the first's result
// clmap: global=64 local=16 n=50 a=random(3200) y=zeros(64) z=zeros(64)
// also: n=1
// also: n=33
__kernel void variance(__global const float *restrict a, __global float *restrict y, __global float *restrict z, const int n)
{
    const int i = get_global_id(0);
    float m = 0.0f, v = 1e-6f;
    for (int k = 0; k < n; k++)
        m += a[i * n + k];
    m /= n;
    for (int k = 0; k < n; k++)
        v += (a[i * n + k] - m) * (a[i * n + k] - m);
    y[i] = m;
    z[i] = v / n;
}
//// coarsened elements with a float id and a ternary store
// clmap: global=256 local=64 n=250 a=random(256) b=zeros(256)
// also: n=1
// also: n=0
// also: global=64 n=64
__kernel void ramp(__global const float *a, __global float *b, const int n)
{
    const size_t i = get_global_id(0);
    if (i < (size_t)n)
        b[n - 1 - i] = (float)i * 0.5f + (i ? a[i - 1] : a[i]);
}
//// a swizzled local array that is walked as one row
// clmap: global=64,16 local=16,16 w=64 a=random(1024) b=zeros(1024)
// also: global=32,16 w=32
__kernel void flat_tile(__global const float *restrict a, __global float *restrict b, const int w)
{
    __local float t[16 * 16];
    const int x = get_local_id(0), y = get_local_id(1), g = get_group_id(0) * 16;
    t[y * 16 + x] = a[y * w + g + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0;
    for (int k = 0; k < 256; k += 16)
        s += t[k + x] * t[x * 16 + y];
    b[y * w + g + x] = s + t[x * 16 + y];
}
//// structure whose members a helper reads through a local copy
// clmap: global=64 local=32 p=random(64) e=zeros(64)
typedef struct { float4 pos; float m; int id; short s; char c; } P;
float energy(P q) { return q.m * dot(q.pos, q.pos) + q.id % 3 + q.s % 5 + q.c % 7; }
__kernel void copied(__global const P *p, __global float *e)
{
    const int i = get_global_id(0);
    P q = p[i];
    e[i] = energy(q) + p[i].m;
}
//// char4 sums of a row with saturation
// clmap: global=16 local=16 n=16 a=formula(1024,(i*37)%256-128) b=zeros(64)
// also: n=15
__kernel void saturated(__global const char *restrict a, __global char *restrict b, const int n)
{
    const int i = get_global_id(0);
    char s = 0;
    for (int k = 0; k < n; k++)
        s = add_sat(s, a[i * n + k]);
    b[i] = s;
}
//// do: chunks of a tiled product
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=48 global=48,48 a=random(2304) b=random(2304,1) c=zeros(2304)
// also: n=16 global=16,16
__kernel void do_tiles(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float at[16][16], bt[16][16];
    const int lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float t = 0;
    int k = 0;
    do {
        at[lx][ly] = a[y * n + k + lx];
        bt[lx][ly] = b[(k + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            t += at[j][ly] * bt[lx][j];
        barrier(CLK_LOCAL_MEM_FENCE);
        k += 16;
    } while (k < n);
    c[y * n + x] = t;
}
//// do: a product whose loop stands in another
// clmap: global=32,32 local=16,16 n=32 m=3 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: m=1
// also: m=0 n=31
__kernel void do_outer(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n, const int m)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    float t = 0;
    int r = 0;
    do {
        for (int k = 0; k < n; k++)
            t += a[y * n + k] * b[k * n + x] * (r + 1);
    } while (++r < m);
    c[y * n + x] = t;
}
//// do: a row at least once
// clmap: global=64 local=16 n=20 a=random(2048) y=zeros(64)
// also: n=0
// also: n=1
// also: n=-3
__kernel void do_row(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float t = 0;
    int k = 0;
    do {
        t += a[i * 20 + k];
        k++;
    } while (k < n);
    y[i] = t;
}
//// do: pairs, one of them in the test
// clmap: global=64 local=32 n=3 a=random(256) y=zeros(64)
// also: n=1
__kernel void do_pairs(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float t = 0;
    int k = 0;
    do
        t += a[2 * i];
    while (++k < n && a[2 * i + 1] < 2.0f);
    y[i] = t + a[2 * i + 1];
}
//// do: elements that return inside
// clmap: global=256 local=64 n=250 a=formula(256,i%9) b=zeros(256)
// also: n=3
__kernel void do_return(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int v = a[i];
    do {
        if (v == 5)
            return;
        v--;
    } while (v > 0);
    b[i] = v + 1;
}
//// do: elements handled several at a time
// clmap: global=256 local=64 n=250 a=formula(256,i%9) b=zeros(256)
// also: n=3
// also: n=0
__kernel void do_elements(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int v = a[i], s = 0;
    do
        s += v * v;
    while (v-- > 0);
    b[i] = s;
}
//// do: a tree
// clmap: global=64 local=16 a=random(64) out=zeros(4) s=local(16)
// also: local=32 s=local(32)
__kernel void do_tree(__global const float *a, __global float *out, __local float *s)
{
    const int l = get_local_id(0);
    s[l] = a[get_global_id(0)];
    int d = 1;
    do {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l % (2 * d) == 0)
            s[l] += s[l + d];
        d *= 2;
    } while (d < get_local_size(0));
    if (l == 0)
        out[get_group_id(0)] = s[0];
}
//// do: a histogram of steps
// clmap: global=64,4 local=16,4 data=formula(256,(i*7)%16) hist=zeros(16)
__kernel void do_hist(__global const uchar *restrict data, __global uint *restrict hist)
{
    const int i = get_global_id(1) * 64 + get_global_id(0);
    int v = data[i];
    do {
        atomic_inc(&hist[v]);
        v -= 3;
    } while (v > 0);
}
//// do: a chunk by itself inside of a macro
// clmap: global=32 local=16 per=8 a=random(256) b=zeros(256)
// also: per=1
#define TWICE(x) do { x; x; } while (0)
__kernel void do_macro(__global const float *restrict a, __global float *restrict b, const int per)
{
    const int i = get_global_id(0);
    for (int k = 0; k < per; k++) {
        float v = a[i * per + k];
        TWICE(v *= 1.5f);
        b[i * per + k] = v;
    }
}
//// the first fills for all: a column
// clmap: global=512 local=64 points=random(n*dim) centre=random(4096) out=zeros(n) s=local(dim) n=512 dim=96
// also: n=512 dim=1
// also: n=512 dim=0
// also: n=512 dim=63 global=512 local=32
__kernel void filled_by_one(__global const float *points, __global const float *centre, __global float *out,
                            __local float *s, int n, int dim)
{
    const int gid = get_global_id(0), lid = get_local_id(0);
    if (lid == 0)
        for (int i = 0; i < dim; i++)
            s[i] = centre[i * 16 + get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int i = 0; i < dim; i++)
        sum += points[i * n + gid] * s[i];
    out[gid] = sum;
}
//// the first fills what it has read itself
// clmap: global=256 local=32 a=random(8*64) out=zeros(256) n=8
__kernel void read_before(__global const float *a, __global float *out, const int n)
{
    __local float s[64];
    float last = 0.0f;
    for (int k = 0; k < n; k++) {
        if (get_local_id(0) == 0) {
            last += k > 0 ? s[63] : 0.0f;
            for (int i = 0; i < 64; i++)
                s[i] = a[k * 64 + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] += s[get_local_id(0)] + last;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
//// the first fills backwards and over what it filled
// clmap: global=128 local=32 a=random(256) out=zeros(128)
__kernel void over_itself(__global const float *a, __global float *out)
{
    __local float s[64];
    const uint l = get_local_id(0);
    if (l == 0) {
        for (int i = 0; i < 64; i++)
            s[i] = a[i + 64 * get_group_id(0)];
        for (int i = 1; i < 64; i++)
            s[i] = a[i] - s[i - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[63 - l];
}
//// the first fills groups of two dimensions
// clmap: global=32,16 local=16,8 a=random(128) out=zeros(512)
// also: global=16,16 local=4,16
__kernel void filled_flat(__global const float *restrict a, __global float *restrict out)
{
    __local float s[128];
    const int x = get_local_id(0);
    if (x == 0)
        for (int i = 0; i < 128; i++)
            s[i] = a[i] + 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = s[get_local_id(1) + x];
}
//// pairs: ids beyond the count
// clmap: global=96 local=32 step=1 n=90 a=random(400)
// also: step=2
// also: step=3 n=96
// also: step=1 n=96 global=100 local=10
__kernel void w1(__global float *a, int step, int n)
{
    int t = get_global_id(0);
    if (t >= n) return;
    int p = 2 * step * (t / step) + t % step;
    float x = a[p], y = a[p + step];
    a[p] = x + y;
    a[p + step] = x - y;
}
//// pairs: an odd start
// clmap: global=64 local=32 d=1 s=1 a=random(300)
// also: d=1 s=0
// also: d=2 s=1
// also: d=70 s=3
__kernel void odd(__global int *a, __global int *b, const int d, const int s)
{
    int i = 2 * get_global_id(0) + s;
    int x = a[i];
    int y = a[i + d];
    b[get_global_id(0)] = min(x, y);
}
//// pairs: stored before the other is loaded
// clmap: global=64 local=32 d=1 src=random(300) dst=zeros(300)
// also: same=src:dst
// also: d=2
// also: d=1 same=src:dst
__kernel void pairalias(__global uint *src, __global uint *dst, const uint d)
{
    uint i = get_global_id(0);
    uint p = 2 * i - (i & (d - 1));
    uint x = src[p];
    dst[p] = x ^ 5;
    uint y = src[p + d];
    dst[p + d] = y ^ 5;
}
//// pairs: a distance behind macros
// clmap: global=64 local=32 d=1 a=random(200)
// also: d=2
// also: d=4
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define P(i) ((i) / d * 2 * d + (i) % d)
#define SECOND P(i) + d
__kernel void dbl(__global double *a, const int d)
{
    int i = get_global_id(0);
    double x = a[P(i)];
    double y = a[SECOND];
    a[P(i)] = x + y;
    a[SECOND] = x - y;
}
//// pairs: a choice in the index
// clmap: global=64 local=32 d=1 f=0 a=random(300) o=zeros(300)
// also: f=1
// also: d=5 f=1
__kernel void sel(__global float *a, __global float *o, int d, int f)
{
    int i = get_global_id(0) * 2;
    float x = a[f ? i : i];
    float y = a[f ? i : i + d];
    o[f ? i : i] = x;
    o[f ? i + 1 : i + d] = y;
}
//// pairs: two buffers by turns
// clmap: global=64 local=32 d=1 a=zeros(300) b=zeros(300)
// also: d=2
// also: same=a:b
__kernel void between(__global float *a, __global float *b, int d)
{
    int i = get_global_id(0), p = i / d * 2 * d + i % d;
    a[p] = i;
    b[p] = i + 1;
    a[p + d] = i + 2;
    b[p + d] = i + 3;
}
//// pairs: in a loop under a guard
// clmap: global=64 local=32 d=1 n=3 a=random(300)
// also: d=2
// also: n=0
__kernel void guarded(__global int *a, int d, int n)
{
    int i = get_global_id(0), p = i / d * 2 * d + i % d;
    for (int k = 0; k < n; k++)
        if ((i + k) % 3) {
            int x = a[p], y = a[p + d];
            a[p] = max(x, y) + k;
            a[p + d] = min(x, y) - k;
        }
}
//// pairs: in a switch
// clmap: global=64 local=32 d=1 a=random(300)
// also: d=2
__kernel void sw(__global int *a, int d)
{
    int i = get_global_id(0), p = i / d * 2 * d + i % d;
    switch (i % 3) {
    case 0: a[p] = 1; a[p + d] = 2; break;
    case 1: { int x = a[p]; int y = a[p + d]; a[p] = y; a[p + d] = x; break; }
    default: ;
    }
}
//// heads: the bound is read anew and counted down by the body
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
// also: n=1
__kernel void shrinking(__global const float *restrict a, __global float *restrict y, int n)
{
    const int i = get_global_id(0), w = n;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * w + k];
        if (k % 3 == 2)
            n--;
    }
    y[i] = s + n;
}
//// heads: the counter is stepped through its address
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=25
__kernel void by_address(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        int *p = &k;
        s += a[i * n + k];
        if ((i & 1) && k == 3)
            *p = 7;
    }
    y[i] = s;
}
//// heads: the counter goes to a helper that steps it
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=5
int advance(int *k)
{
    *k += *k % 2;
    return *k;
}
__kernel void helped(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += k < n - 2 ? a[i * n + advance(&k)] : 1.0f;
    y[i] = s;
}
//// heads: the test steps
// clmap: global=64 local=32 n=24 a=random(64*n+64) y=zeros(64)
// also: n=1
// also: n=0
__kernel void test_steps(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int k = -1;
    while (++k < n)
        s += a[i * n + k];
    y[i] = s + k;
}
//// heads: two pointers and a count, all stepped in the test
// clmap: global=64 local=32 n=24 a=random(64*n) b=random(n) y=zeros(64)
// also: n=7
__kernel void pointers(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                       int n)
{
    const int i = get_global_id(0);
    __global const float *p = a + i * n, *q = b;
    float s = 0.0f;
    while (n--)
        s += *p++ * *q++;
    y[i] = s + (q - b);
}
//// heads: unsigned and down past nought
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=1
__kernel void past_nought(__global const float *restrict a, __global float *restrict y, const uint n)
{
    const uint i = get_global_id(0);
    float s = 0.0f;
    for (uint k = n - 1; k < n; k--)
        s = s * 0.5f + a[i * n + k];
    y[i] = s;
}
//// heads: a short counter over a row as long as it can count
// clmap: global=32 local=32 n=40000 a=random(40000) y=zeros(32)
// also: n=32767
__kernel void short_counter(__global const char *restrict a, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (ushort k = 0; k < n; k++)
        s += a[k] * (i + 1);
    y[i] = s;
}
//// heads: an unsigned char that wraps in its index
// clmap: global=64 local=32 n=40 a=random(256*64) y=zeros(64)
// also: n=255
// also: n=0
__kernel void wrapping(__global const int *restrict a, __global int *restrict y, const int n)
{
    const uchar i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += a[(uchar)(i * 5 + k) * 64 + i];
    y[i] = s;
}
//// heads: floats count
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=3
__kernel void float_counter(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (float k = 0.0f; k < n; k += 1.0f)
        s += a[i * n + (int)k] * k;
    y[i] = s;
}
//// heads: the step is an argument
// clmap: global=64 local=32 n=24 d=1 a=random(64*n) y=zeros(64)
// also: d=5
// also: d=24
// also: n=23 d=2
__kernel void stepped(__global const float *restrict a, __global float *restrict y, const int n, const int d)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int last = -1;
    for (int k = 0; k < n; k += d) {
        s += a[i * n + k];
        last = k;
    }
    y[i] = s + last;
}
//// heads: the start is behind the end
// clmap: global=64 local=32 n=24 from=0 a=random(64*n) y=zeros(64)
// also: from=30
// also: from=23
// also: from=5 n=13
__kernel void from_there(__global const float *restrict a, __global float *restrict y, const int n, const int from)
{
    const int i = get_global_id(0);
    float s = 1.0f;
    for (int k = from; k < n; ++k)
        s += a[i * n + k];
    y[i] = s;
}
//// heads: a switch that goes on
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=5
__kernel void switched(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        switch (k & 3) {
        case 0: continue;
        case 1: s += a[i * n + k];
        case 2: s *= 0.5f; break;
        default: s -= a[i * n + k];
        }
    }
    y[i] = s;
}
//// heads: left by a jump out of a switch
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=5
__kernel void found(__global const float *restrict a, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    int at = -1;
    for (int k = 0; k < n && at < 0; k++)
        if (a[i * n + k] > 0.9f)
            at = k;
    y[i] = at;
}
//// heads: a sum that the next turn's address needs
// clmap: global=64 local=32 n=24 a=formula(64*n,(i*7)%24) y=zeros(64)
// also: n=24 a=formula(64*n,(i*5+3)%24)
__kernel void chased(__global const int *restrict a, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    int s = 0, at = 0;
    for (int k = 0; k < n; k++) {
        at = a[i * n + at];
        s += at;
    }
    y[i] = s;
}
//// types: long rows in int columns
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__kernel void long_rows(__global const float *restrict a, __global float *restrict y, const long n)
{
    const size_t i = get_global_id(0);
    double s = 0.0;
    for (long k = 0; k < n; k++)
        s += a[(ulong)i * n + k];
    y[i] = (float)s;
}
//// types: a char sum that overflows
// clmap: global=64 local=32 n=40 a=formula(64*n,i*37%251) y=zeros(64)
// also: n=39
__kernel void char_sum(__global const uchar *restrict a, __global uchar *restrict y, const int n)
{
    const int i = get_global_id(0);
    uchar s = 200;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    y[i] = s;
}
//// types: an unsigned difference that is a guard
// clmap: global=64 local=32 n=60 a=random(128) y=zeros(128)
// also: n=3
// also: n=0
__kernel void unsigned_guard(__global const float *restrict a, __global float *restrict y, const uint n)
{
    const uint i = get_global_id(0);
    if (i - 3u < n - 3u)
        y[i] = a[i - 3u < 100u ? i : 0u] + 1.0f;
}
//// types: halves that are read and stored
// clmap: global=64 local=32 n=24 a=formula(64*n,i%100) y=zeros(64)
// also: n=21
__kernel void halves(__global const half *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += vload_half(i * n + k, a);
    y[i] = s;
}
//// types: integers that a float sum rounds
// clmap: global=64 local=32 n=24 a=formula(64*n,i*1048583%16777259) y=zeros(64)
// also: n=23
__kernel void rounded(__global const int *restrict a, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += (float)a[i * n + k] * 0.5f;
    y[i] = s;
}
//// types: a union over what is loaded
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=22
typedef union { float f; uint u; uchar4 c; } word;
__kernel void by_union(__global const float *restrict a, __global uint *restrict y, const int n)
{
    const int i = get_global_id(0);
    uint s = 0;
    for (int k = 0; k < n; k++) {
        word w;
        w.f = a[i * n + k];
        s = s * 31 + w.u + w.c.y;
    }
    y[i] = s;
}
//// types: vectors of which lanes are stored by swizzle
// clmap: global=64 local=32 n=12 a=random(64*n) y=random(64)
// also: n=11
__kernel void swizzled(__global const float4 *restrict a, __global float4 *restrict y, const int n)
{
    const int i = get_global_id(0);
    float4 s = (float4)(0.0f);
    for (int k = 0; k < n; k++)
        s.xy += a[i * n + k].zw;
    y[i].wx = s.xy;
    y[i].lo.y = s.y;
}
//// types: vectors at odd places of a scalar buffer
// clmap: global=64 local=32 e=1 a=random(260) y=zeros(260)
// also: e=0
// also: e=3
__kernel void odd_places(__global const float *restrict a, __global float *restrict y, const int e)
{
    const int i = get_global_id(0);
    const float x = a[4 * i + e], z = a[4 * i + e + 1], u = a[4 * i + e + 2], v = a[4 * i + e + 3];
    y[4 * i + e] = x + z;
    y[4 * i + e + 1] = x - z;
    y[4 * i + e + 2] = u + v;
    y[4 * i + e + 3] = u - v;
}
//// types: an index of size_t that wraps below nought
// clmap: global=64 local=32 n=64 a=random(64*n) y=zeros(64*n)
// also: n=7
__kernel void below(__global const float *restrict a, __global float *restrict y, const int n)
{
    const size_t i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        const size_t left = i - 1;
        y[i * n + k] = a[(left < 64 ? left : 63) * n + k];
    }
}
//// aliases: in place, one row on
// clmap: global=64 local=32 n=24 a=random(65*n) b=random(65*n)
// also: n=23
__kernel void row_on(__global float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] + (k > 0 ? b[i * n + k - 1] : 0.0f);
}
//// aliases: the result is the vector that is multiplied
// clmap: global=64 local=64 n=24 a=random(64*n) x=random(64) y=random(64)
// also: n=23
__kernel void multiplied(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] * x[k];
    barrier(CLK_GLOBAL_MEM_FENCE);
    y[i] = s;
}
//// aliases: one buffer as floats and as bits
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64*n)
// also: n=5
__kernel void as_bits(__global float *a, __global uint *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++) {
        y[i * n + k] = as_uint(a[i * n + k]) + k;
        a[i * n + k] += 1.0f;
    }
}
//// aliases: a sum in memory that may be one of its terms
// clmap: global=64 local=32 n=24 a=random(64*n) y=random(64*n)
// also: n=23
// also: same=a:y
__kernel void own_term(__global float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i * n] += a[i * n + k];
}
//// aliases: two elements exchanged through one pointer
// clmap: global=64 local=32 a=random(128) b=random(128)
// also: same=a:b
__kernel void exchanged_pair(__global float *a, __global float *b)
{
    const int i = get_global_id(0);
    const float x = a[2 * i];
    b[2 * i + 1] = x;
    b[2 * i] = a[2 * i + 1];
}
//// names: every one that a tile may invent
// clmap: global=64,32 local=16,8 n=48 a=random(32*n) b=random(n*64) y=zeros(2048)
// also: n=45
#define tile_a n
#define TILE 3
#define lid0 1
#define k0 2
__kernel void inventive(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                        const int n)
{
    const int col = get_global_id(0), row = get_global_id(1);
    const int a_tile = 5, b_tile = 6, x = 1, tile = TILE, sum = k0, t = 4, i = 2, j = 3, l = 1, lx = 0, ly = 0;
    float s = a_tile + b_tile + x + tile + sum + t + i + j + l + lx + ly + lid0;
    for (int k = 0; k < n; k++)
        s += a[row * tile_a + k] * b[k * 64 + col];
    y[row * 64 + col] = s;
}
//// names: inner scopes that hide the counter
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__kernel void hidden(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        const float v = a[i * n + k];
        {
            const int k = 3, n = 2;
            s += v * k + n;
        }
        for (int i = 0; i < 2; i++)
            s += i * v;
    }
    y[i] = s;
}
//// names: a macro named as the element's member
// clmap: global=64 local=32 n=12 a=random(64*n) out=zeros(64)
// also: n=11
#define s0 y
#define x0 x
__kernel void lanes(__global const float4 *restrict a, __global float *restrict out, const int n)
{
    const int i = get_global_id(0);
    float t = 0.0f;
    for (int k = 0; k < n; k++)
        t += a[i * n + k].s0 - a[i * n + k].x;
    out[i] = t;
}
//// local: one array in two phases, columns then rows
// clmap: global=64,16 local=16,16 a=random(1024) y=zeros(1024)
// also: local=8,8
__kernel void phases(__global const float *restrict a, __global float *restrict y)
{
    __local float s[16][16];
    const int x = get_local_id(0), z = get_local_id(1), g = get_global_id(1) * 64 + get_global_id(0);
    s[z][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    const int w = get_local_size(0);
    float t = 0.0f;
    for (int k = 0; k < w; k++)
        t += s[x][k];
    barrier(CLK_LOCAL_MEM_FENCE);
    ((__local float *)s)[z * w + x] = t;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = ((__local float *)s)[x * w + z] + a[g];
}
//// local: half of an array is floats, half of it counts
// clmap: global=64 local=32 a=random(64) y=zeros(64)
// also: local=16
__kernel void two_halves(__global const float *restrict a, __global float *restrict y)
{
    __local float s[64];
    __local int *count = (__local int *)(s + 32);
    const int l = get_local_id(0), i = get_global_id(0);
    s[l] = a[i];
    count[l] = l * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int n = get_local_size(0);
    y[i] = s[(l * 2) % n] + count[(l * 4) % n];
}
//// local: the tile of a transpose that is summed as well
// clmap: global=64,64 local=16,16 a=random(4096) y=zeros(4096)
// also: global=64,32
__kernel void summed_tile(__global const float *restrict a, __global float *restrict y)
{
    __local float t[16][16];
    const int x = get_local_id(0), z = get_local_id(1);
    t[z][x] = a[get_global_id(1) * 64 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = t[x][z];
    for (int k = 0; k < 16; k += 2)
        s += t[z][k] - t[k][x];
    y[(get_group_id(0) * 16 + z) * 64 % 4096 + get_group_id(1) * 16 + x] = s;
}
//// local: filled as vectors, read as scalars with a stride
// clmap: global=64 local=32 a=random(256) y=zeros(64)
// also: local=16
__kernel void as_vectors(__global const float4 *restrict a, __global float *restrict y)
{
    __local float s[128];
    const int l = get_local_id(0), i = get_global_id(0);
    vstore4(a[i], l, s);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = s[4 * l] + s[4 * l + 3] * s[(4 * l + 4) % (4 * get_local_size(0))];
}
//// guards: a variable that is set again before the store
// clmap: global=64,64 local=16,16 n=60 a=random(3600) y=zeros(3600)
// also: n=64 a=random(4096) y=zeros(4096)
// also: n=1
__kernel void again(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int r = get_global_id(0), c = get_global_id(1);
    int ok = r < n && c < n;
    float v = ok ? a[r * n + c] : 0.0f;
    ok = ok && v > 0.5f;
    if (ok)
        y[r * n + c] = v;
}
//// guards: a return behind a barrier
// clmap: global=64 local=32 n=60 w=16 a=random(64*w) y=zeros(64)
// also: n=33
// also: n=64
__kernel void late_return(__global const float *restrict a, __global float *restrict y, const int n, const int w)
{
    __local float s[32];
    const int i = get_global_id(0), l = get_local_id(0);
    s[l] = i < n ? a[i * w] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    float t = s[(l + 1) % get_local_size(0)];
    for (int k = 0; k < w; k++)
        t += a[i * w + k];
    y[i] = t;
}
//// guards: only even rows, and a tail
// clmap: global=64,32 local=16,8 n=64 h=30 a=random(n*h) y=zeros(n*h)
// also: n=61 h=29
// also: n=64 h=1
__kernel void even_rows(__global const float *restrict a, __global float *restrict y, const int n, const int h)
{
    const int r = get_global_id(1), c = get_global_id(0);
    if (r % 2 || r >= h || c >= n)
        return;
    float s = a[r * n + c];
    if (r + 1 < h)
        s += a[(r + 1) * n + c];
    if (r >= 2)
        s -= a[(r - 2) * n + c];
    y[r * n + c] = s;
}
//// launches: offsets in a stencil of exact length
// clmap: global=62,30 local=31,15 w=64 h=32 a=random(w*h) y=zeros(w*h)
// also: offset=1,1
// also: offset=2,2
__kernel void with_offset(__global const float *restrict a, __global float *restrict y, const int w, const int h)
{
    const int x = get_global_id(0), z = get_global_id(1);
    if (x < 1 || z < 1 || x > w - 2 || z > h - 2)
        return;
    y[z * w + x] = 0.25f * (a[z * w + x - 1] + a[z * w + x + 1] + a[(z - 1) * w + x] + a[(z + 1) * w + x]);
}
//// launches: three dimensions, of which one is one wide
// clmap: global=1,32,16 local=1,8,8 w=32 h=16 a=random(512) y=zeros(512)
// also: global=2,32,16 local=2,8,8
__kernel void one_wide(__global const float *restrict a, __global float *restrict y, const int w, const int h)
{
    const int x = get_global_id(1), z = get_global_id(2);
    if (get_global_id(0) == 0)
        y[x * h + z] = a[x * h + z] * 2.0f;
}
//// launches: an offset behind which a row of a product begins
// clmap: global=32,32 local=8,8 n=40 a=random(n*n) b=random(n*n) y=zeros(n*n)
// also: offset=8,8
// also: offset=3,0
__kernel void offset_product(__global const float *restrict a, __global const float *restrict b,
                             __global float *restrict y, const int n)
{
    const int c = get_global_id(0), r = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k] * b[k * n + c];
    y[r * n + c] = s;
}
//// values: zeros with signs
// clmap: global=64 local=32 n=24 a=formula(64*n,-0.0) y=random(64)
// also: n=23
// also: a=formula(64*n,(i%2)*-0.0)
__kernel void signed_zeros(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = -0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k];
    y[i] = s;
}
//// values: the least, with what is no number among them
// clmap: global=64 local=32 n=24 a=formula(64*n,min(1e999*min(1,i%5),i%7-3)) y=random(64)
// also: n=23
__kernel void least(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = a[i * n];
    for (int k = 1; k < n; k++)
        s = a[i * n + k] < s ? a[i * n + k] : s;
    y[i] = s;
}
//// values: fmin of zeros with signs and of no numbers
// clmap: global=64 local=32 n=24 a=formula(64*n,min(1e999*min(1,i%5),i%7-3)) y=random(64)
// also: n=23
__kernel void fleast(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = INFINITY;
    for (int k = 0; k < n; k++)
        s = fmin(s, a[i * n + k]);
    y[i] = s;
}
//// values: denormals multiplied
// clmap: global=64,32 local=16,8 n=24 a=formula(32*n,1.0e-39*(i%9)) b=formula(n*64,i%5) y=zeros(2048)
// also: n=23
__kernel void denormals(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                        const int n)
{
    const int c = get_global_id(0), r = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k] * b[k * 64 + c];
    y[r * 64 + c] = s;
}
//// values: infinity in the border of a product
// clmap: global=64,32 local=16,8 n=24 a=formula(32*n,max(1.0,1e39*(i%24-22))) b=formula(n*64,i%5+1) y=zeros(2048)
// also: n=23
__kernel void infinite(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                       const int n)
{
    const int c = get_global_id(0), r = get_global_id(1);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[r * n + k] * b[k * 64 + c];
    y[r * 64 + c] = s;
}
//// atomics: a sum beside a row, by results that are used
// clmap: global=64 local=32 n=24 a=formula(64*n,i%11) y=zeros(64) total=zeros(4)
// also: n=23
__kernel void beside(__global const int *restrict a, __global int *restrict y, __global int *total, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        s += a[i * n + k];
        if (a[i * n + k] == 3)
            atomic_inc(total + 1);
        atomic_max(&total[2], a[i * n + k] * k);
    }
    y[i] = s;
    atomic_add(total, s);
}
//// atomics: bins by the sum of two bytes
// clmap: global=256 local=32 a=formula(256,i*37%251) b=formula(256,i*11%256) h=zeros(512)
// also: global=224
__kernel void bins(__global const uchar *a, __global const uchar *b, __global uint *h)
{
    const int i = get_global_id(0);
    atomic_inc(&h[a[i] + b[i]]);
    atomic_add(&h[(uchar)(a[i] + b[i])], 2u);
}
//// macros: an access with a side effect
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define NEXT(p) (*(p)++)
#define AT(r, c) a[(r) * n + (c)]
__kernel void next(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    __global const float *p = a + i * n;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += NEXT(p) * AT(i, n - 1 - k);
    y[i] = s;
}
//// macros: a loop that a macro opens
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define EACH(v, m) for (int v = 0, v##_end = (m); v < v##_end; v++)
__kernel void each(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    EACH(k, n) s += a[i * n + k];
    EACH(k, n - 1) { s -= a[i * n + k + 1] * k; }
    y[i] = s;
}
//// helpers: one that is handed the row and returns early
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
float upto(__global const float *row, int n, float most)
{
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (s > most)
            return s;
        s += row[k];
    }
    return s;
}
__kernel void handed(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    y[i] = upto(a + i * n, n, 4.0f) + upto(&a[i * n], n / 2, 1.0e9f);
}
//// volatile: a row that is read twice
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__kernel void twice(volatile __global const float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] - a[i * n + k] * 0.5f;
    y[i] = s;
}
//// printf: in a loop that could be turned
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=3
__kernel void talks(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = n - 1; k >= 0; k--) {
        s += a[i * n + k];
        if (s < -1.0e30f)
            printf("%d %f\n", k, s);
    }
    y[i] = s;
}
//// strides: from the end by threes
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=25
// also: n=2
__kernel void by_threes(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = n - 1; k >= 0; k -= 3)
        s += a[i * n + k] * (k + 1);
    y[i] = s;
}
//// strides: negative by an argument
// clmap: global=64 local=32 n=24 d=-1 a=random(64*n) y=zeros(64)
// also: d=1
// also: d=-2 n=12
__kernel void negative(__global const float *restrict a, __global float *restrict y, const int n, const int d)
{
    const int i = get_global_id(0);
    __global const float *p = d < 0 ? a + 64 * n - 1 : a;
    float s = 0.0f;
    for (int k = 0; k < n / 2; k++)
        s += p[(i * n / 2 + k) * d];
    y[i] = s;
}
//// do: a row at least once, left from inside
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=1
__kernel void at_least(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int k = 0;
    do {
        if (k == 5) continue;
        s += a[i * n + k];
    } while (++k < n && s < 6.0f);
    y[i] = s + k;
}
//// samplers: a constant table beside the rows
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__constant float table[4] = {0.5f, 1.0f, -0.0f, 2.0f};
__constant sampler_t smp = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__kernel void tabled(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] * table[(i + k) & 3];
    y[i] = s;
}
//// data: a sum of one's own under a condition of the data
// clmap: global=256 local=64 n=64 a=formula(256*64,1) b=random(4) y=zeros(256)
// also: a=formula(256*64,i*37%5-2)
__kernel void own_sums(__global const int *restrict a, __global const int *restrict b, __global int *restrict y,
                       const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0)
            s += b[0];
    y[i] = s;
}
//// data: a sum of one's own that an atomic adds up if it is large
// clmap: global=256 local=64 n=64 a=formula(256*64,1) b=formula(4,1) y=zeros(4)
// also: a=formula(256*64,i*37%5-2)
// also: a=formula(256*64,(i//64)%3-1)
__kernel void large_sums(__global const int *restrict a, __global const int *restrict b, __global int *y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0)
            s += b[0];
    if (s > 20)
        atomic_add(y, s);
}
//// data: the row's length shrinks with what is read
// clmap: global=64 local=32 n=32 a=random(2048) y=zeros(2048)
// also: a=formula(2048,i*37%41*1.0e29)
__kernel void shrinks(__global const float *restrict a, __global float *restrict y, int n)
{
    const int i = get_global_id(0), w = n;
    for (int k = 0; k < n; k++) {
        y[i * w + k] = a[i * w + k];
        if (a[i * w + k] > 3.0e30f)
            n--;
    }
}
//// data: left at a mark
// clmap: global=64 local=32 n=32 a=random(2048) b=random(32) y=zeros(64)
// also: a=formula(2048,i*37%41*1.0e29)
__kernel void marked(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                     const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (a[i * n + k] > 3.0e30f)
            break;
        s += b[k];
    }
    y[i] = s;
}
//// data: set back at a mark
// clmap: global=64 local=32 n=32 a=random(2048) b=random(32) y=zeros(64)
// also: a=formula(2048,i*37%41*1.0e29)
__kernel void set_back(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                       const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (a[i * n + k] > 3.0e30f)
            s = 0.0f;
        s += a[i * n + k] > 1.0f ? 1.0f : b[k];
    }
    y[i] = s;
}
//// data: the first of the greatest
// clmap: global=64 local=32 n=32 a=random(2048) id=iota(32) y=zeros(64) at=zeros(64)
// also: a=formula(2048,3)
// also: a=formula(2048,-i%5)
// also: a=formula(2048,i%7) id=formula(32,31-i)
__kernel void first_greatest(__global const float *restrict a, __global const int *restrict id,
                             __global float *restrict y, __global int *restrict at, const int n)
{
    const int i = get_global_id(0);
    float best = a[i * n];
    int where = id[0];
    for (int k = 1; k < n; k++)
        if (a[i * n + k] > best) {
            best = a[i * n + k];
            where = id[k];
        }
    y[i] = best;
    at[i] = where;
}
//// data: rows scattered to where numbers say
// clmap: global=64 local=32 n=32 id=iota(32) a=random(2048) y=zeros(2048)
// also: id=formula(32,5)
// also: id=formula(32,31-i)
// also: id=formula(32,i//2)
__kernel void scattered(__global const int *restrict id, __global const float *restrict a, __global float *restrict y,
                        const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i * n + id[k]] = a[i * n + k];
}
//// data: what is kept from turn to turn where a flag says so
// clmap: global=64 local=32 n=32 m=formula(32,1) a=random(2048) y=zeros(2048)
// also: m=formula(32,0)
// also: m=formula(32,i%2)
__kernel void kept(__global const int *restrict m, __global const float *restrict a, __global float *restrict y,
                   const int n)
{
    const int i = get_global_id(0);
    float v = 0.0f;
    for (int k = 0; k < n; k++) {
        if (m[k])
            v = a[i * n + k];
        y[i * n + k] = v;
    }
}
//// data: the table is changed where a flag says so
// clmap: global=64 local=32 n=32 m=formula(2048,0) a=random(2048) t=random(2048) y=zeros(64)
// also: m=formula(2048,max(0,1-i%3))
// also: m=formula(2048,1)
__kernel void changed(__global const int *restrict m, __global const float *restrict a, __global float *restrict t,
                      __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (m[i * n + k])
            t[i * n] = a[i * n + k];
        s += t[i * n];
    }
    y[i] = s;
}
//// data: rows as long as another buffer says
// clmap: global=64 local=32 w=32 len=formula(64,32) a=random(2048) y=zeros(64)
// also: len=formula(64,i%33)
// also: len=formula(64,0)
// also: len=formula(64,-i)
__kernel void lengths(__global const int *restrict len, __global const float *restrict a, __global float *restrict y,
                      const int w)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < len[i]; k++)
        s += a[i * w + k];
    y[i] = s;
}
//// data: one length for all, in memory
// clmap: global=64 local=32 w=32 len=formula(4,32) a=random(2048) b=random(2048) y=zeros(64)
// also: len=formula(4,3)
// also: len=formula(4,0)
// also: len=formula(4,-3)
__kernel void one_length(__global const int *restrict len, __global const float *restrict a,
                         __global const float *restrict b, __global float *restrict y, const int w)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < *len; k++)
        s += a[i * w + k] * b[k];
    y[i] = s;
}
//// data: one length for all that the loop may change
// clmap: global=32 local=32 w=32 len=formula(4,32) a=random(1024) y=zeros(32)
// also: a=formula(1024,i*37%41*1.0e29)
__kernel void length_changed(__global int *len, __global const float *a, __global float *y, const int w)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < len[0]; k++) {
        s += a[k * w];
        if (a[k * w] > 3.0e30f && i == 0 && get_global_size(0) == 1)
            len[0] = k;
    }
    y[i] = s;
}
//// data: local elements of others where a flag says so
// clmap: global=64 local=32 m=formula(64,0) a=random(64) y=zeros(64)
// also: m=formula(64,1)
// also: m=formula(64,i%2)
__kernel void others(__global const int *restrict m, __global const float *restrict a, __global float *restrict y)
{
    __local float s[32];
    const int l = get_local_id(0), i = get_global_id(0);
    s[l] = a[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = s[m[i] ? 31 - l : l];
}
//// data: a row of the tile by what is read
// clmap: global=32,32 local=16,16 m=formula(32,0) a=random(1024) y=zeros(1024)
// also: m=formula(32,i%3)
__kernel void tile_row(__global const int *restrict m, __global const float *restrict a, __global float *restrict y)
{
    __local float s[16][16];
    const int x = get_local_id(0), z = get_local_id(1), g = get_global_id(1) * 32 + get_global_id(0);
    s[z][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = s[x][(z + m[get_global_id(0)]) % 16];
}
//// data: a product of which some rows are left out
// clmap: global=48,48 local=16,16 n=48 m=formula(48,1) a=random(n*n) b=random(n*n) y=random(n*n)
// also: m=formula(48,i%2)
// also: m=formula(48,0)
__kernel void left_out(__global const int *restrict m, __global const float *restrict a, __global const float *restrict b,
                       __global float *restrict y, const int n)
{
    const int c = get_global_id(0), r = get_global_id(1);
    float s = 0.0f;
    if (m[r]) {
        for (int k = 0; k < n; k++)
            s += a[r * n + k] * b[k * n + c];
        y[r * n + c] = s;
    }
}
//// data: a product of which some terms are left out
// clmap: global=48,48 local=16,16 n=48 m=formula(48,1) a=random(n*n) b=random(n*n) y=random(n*n)
// also: m=formula(48,i%2)
// also: m=formula(48,0) n=45
__kernel void terms_out(__global const int *restrict m, __global const float *restrict a,
                        __global const float *restrict b, __global float *restrict y, const int n)
{
    const int c = get_global_id(0), r = get_global_id(1);
    if (c >= n || r >= n)
        return;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (!m[k])
            continue;
        s += a[r * n + k] * b[k * n + c];
    }
    y[r * n + c] = s;
}
//// data: bins past the end are not counted
// clmap: global=1024 local=64 a=formula(1024,i%64) h=zeros(64)
// also: a=formula(1024,i*7%100-10)
// also: a=formula(1024,i*2654435761)
__kernel void bins_inside(__global const uint *a, __global uint *h)
{
    const uint v = a[get_global_id(0)];
    if (v < 64u)
        atomic_inc(&h[v]);
}
//// data: bins that may be read again
// clmap: global=1024 local=64 a=formula(1024,i%64) h=zeros(64) full=zeros(4)
// also: a=formula(1024,5)
__kernel void bins_full(__global const uint *a, __global uint *h, __global uint *full)
{
    const uint v = a[get_global_id(0)] & 63u;
    const uint before = atomic_inc(&h[v]);
    if (before == 16u)
        atomic_inc(full);
}
//// data: a clamped id and the id itself
// clmap: global=64 local=32 n=40 a=random(64*n) b=random(64*n) y=zeros(64)
// also: n=64
// also: n=3
__kernel void clamped(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                      const int n)
{
    int i = get_global_id(0);
    const int j = get_global_id(0);
    if (i >= n)
        i = n - 1;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] - b[get_global_id(0) * n + k];
    y[j] = s;
}
//// data: chunks with a state that data set
// clmap: global=64 local=32 n=32 a=formula(2048,1) y=zeros(2048)
// also: a=formula(2048,i%5-2)
__kernel void state(__global const int *restrict a, __global int *restrict y, const int n)
{
    const int first = get_global_id(0) * n;
    int open = 0;
    for (int k = first; k < first + n; k++) {
        if (a[k] < 0)
            open = 1;
        y[k] = open ? -a[k] : a[k];
    }
}
//// data: elements that return
// clmap: global=4096 local=64 n=4000 a=formula(4096,1) y=zeros(4096)
// also: a=formula(4096,i%5-2)
// also: n=1
__kernel void returning(__global const int *restrict a, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    if (a[i] < 0)
        return;
    y[i] = a[i] + 1;
}
//// data: neighbours in place where a flag says so
// clmap: global=64,32 local=16,8 w=64 h=32 m=formula(2048,0) a=random(w*h) b=random(w*h)
// also: m=formula(2048,i%2)
// also: m=formula(2048,1) same=a:b
__kernel void neighbours(__global const int *m, __global const float *a, __global float *b, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1), at = y * w + x;
    float s = a[at];
    if (m[at] && x > 0 && y > 0 && x + 1 < w && y + 1 < h && a != b)
        s += a[at - 1] + a[at + 1] + a[at - w] + a[at + w];
    b[at] = s;
}
//// data: pairs of which one is left alone
// clmap: global=64 local=32 m=formula(64,1) a=random(128) y=random(128)
// also: m=formula(64,i%2)
// also: m=formula(64,0)
__kernel void half_pairs(__global const int *restrict m, __global const float *restrict a, __global float *restrict y)
{
    const int i = get_global_id(0);
    y[2 * i] = a[2 * i] + a[2 * i + 1];
    if (m[i])
        y[2 * i + 1] = a[2 * i] - a[2 * i + 1];
}
//// data: columns that are summed until one is nought
// clmap: global=64 local=32 n=32 a=random(64*n) y=zeros(64)
// also: a=formula(64*n,i*13%17)
__kernel void until_nought(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int c = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n && a[k * 64 + c] != 0.0f; k++)
        s += a[k * 64 + c];
    y[c] = s;
}
//// data: a tree that adds where a flag says so
// clmap: global=256 local=64 m=formula(64,1) a=random(256) y=zeros(4)
// also: m=formula(64,i%2)
// also: m=formula(64,max(0,5-i))
__kernel void flagged_tree(__global const int *restrict m, __global const float *restrict a, __global float *restrict y)
{
    __local float s[64];
    const int l = get_local_id(0);
    s[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < get_local_size(0); d *= 2) {
        if (l % (2 * d) == 0 && m[l])
            s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[get_group_id(0)] = s[0];
}
//// data: a counter that is stepped before the access
// clmap: global=64 local=32 n=32 m=formula(2200,1) b=formula(4,1) y=zeros(64)
// also: m=formula(2200,i%5-2)
__kernel void early(__global const int *restrict m, __global const int *restrict b, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    int s = 0, k = 0;
    while (k < n) {
        k++;
        if (m[i * n + k - 1] > 0)
            s += b[0];
    }
    y[i] = s;
}
//// data: sums that atomics add up, all of them or some
// clmap: global=256 local=64 n=64 a=formula(256*64,1) b=formula(4,1) y=zeros(8)
// also: a=formula(256*64,i*37%5-2)
// also: a=formula(256*64,(i//64)%3-1)
__kernel void all_sums(__global const int *restrict a, __global const int *restrict b, __global int *y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0)
            s += b[0];
    atomic_add(y, s);
}
//// data: sums that some work-items add up
// clmap: global=256 local=64 n=64 a=formula(256*64,1) b=formula(4,1) y=zeros(8)
// also: a=formula(256*64,i*37%5-2)
// also: a=formula(256*64,(i//64)%3-1)
__kernel void some_sums(__global const int *restrict a, __global const int *restrict b, __global int *y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        if (a[i * n + k] > 0)
            s += b[0];
    if (i % 3)
        atomic_add(y + i % 2, s);
}
//// macros: the counter under another name in chunks
// clmap: global=64 local=32 n=16 a=formula(1024,1) b=zeros(1024)
// also: a=formula(1024,i)
#define K k
#define MINE i
__kernel void turn_named(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] * K;
}
//// macros: the id under another name in chunks
// clmap: global=64 local=32 n=16 a=formula(1024,1) b=zeros(1024)
// also: n=8
#define MINE i
__kernel void id_named(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        b[i * n + k] = a[i * n + k] + MINE % 2;
}
//// macros: the counter under another name in a row
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define K k
__kernel void row_named(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    int k = 7;
    float s = K;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] * K;
    y[i] = s + K;
}
//// macros: a sum under another name
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define SO_FAR s
__kernel void so_far(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f, t = 0.0f;
    for (int k = 0; k < n; k++) {
        s += a[i * n + k];
        t += SO_FAR;
    }
    y[i] = t;
}
//// macros: a step under another name
// clmap: global=64 local=32 n=24 m=formula(64*n,1) b=formula(4,2) y=zeros(64)
// also: m=formula(64*n,i%3-1)
#define AT p
#define ON p++
__kernel void step_named(__global const int *restrict m, __global const int *restrict b, __global int *restrict y,
                         const int n)
{
    const int i = get_global_id(0);
    int s = 0, p = i * n;
    for (int k = 0; k < n; k++) {
        if (m[AT] > 0)
            s += b[0];
        ON;
    }
    y[i] = s + AT - i * n;
}
//// macros: a pointer under another name
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define NOW p
__kernel void now(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    __global const float *p = a + i * n;
    float s = 0.0f;
    for (int k = 0; k < n; k++, p++)
        s += *p + NOW[0];
    y[i] = s;
}
//// macros: counting down under another name
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
#define LEFT k
__kernel void down_named(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    int k = n;
    while (k--)
        s += a[i * n + LEFT] * LEFT;
    y[i] = s + LEFT;
}
//// macros: an id that is stored in another place by a macro
// clmap: global=64,64 local=16,16 n=64 a=random(4096) y=zeros(4096)
// also: n=50
#define R r
#define C c
__kernel void placed(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int r = get_global_id(0), c = get_global_id(1);
    if (R < n && C < n)
        y[r * n + c] = a[R * n + C] + R - 2 * C;
}
//// macros: pairs under a macro that steps between
// clmap: global=64 local=32 a=random(130) y=zeros(64)
#define I i
__kernel void pair_steps(__global const float *restrict a, __global float *restrict y)
{
    int i = 2 * get_global_id(0);
    const float u = a[I];
    I++;
    const float v = a[i];
    y[i / 2] = u - v;
}
//// macros: a local element under another name
// clmap: global=64,16 local=16,16 a=random(1024) y=zeros(1024)
#define T s[x][z]
#define U s[z]
__kernel void local_named(__global const float *restrict a, __global float *restrict y)
{
    __local float s[16][16];
    const int x = get_local_id(0), z = get_local_id(1), g = get_global_id(1) * 64 + get_global_id(0);
    s[z][x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = T + U[x];
}
//// names: a clamped id that is named before
// clmap: global=64,32 local=16,8 w=60 h=30 a=random(w*h) b=random(64*32) y=zeros(64*32)
// also: w=64 h=32
// also: w=1 h=1
__kernel void clamped_pair(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                           const int w, const int h)
{
    int c = get_global_id(0), r = get_global_id(1);
    const float own = b[get_global_id(1) * 64 + get_global_id(0)];
    c = min(c, w - 1);
    r = min(r, h - 1);
    y[get_global_id(1) * 64 + get_global_id(0)] = own + a[r * w + c] + b[get_global_id(0) * 32 + get_global_id(1)];
}
//// names: an id of a helper's argument that is set
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
float of_row(__global const float *a, int i, int n)
{
    float s = 0.0f;
    i *= n;
    for (int k = 0; k < n; k++)
        s += a[i + k];
    return s;
}
__kernel void arguments(__global const float *restrict a, __global float *restrict y, int n)
{
    int i = get_global_id(0);
    const float s = of_row(a, i, n);
    n = n / 2;
    y[i] = s + of_row(a, i, n);
}
//// names: a width that is set between two loops
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__kernel void narrower(__global const float *restrict a, __global float *restrict y, int n)
{
    const int i = get_global_id(0), w = n;
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[i * w + k];
    n /= 2;
    for (int k = 0; k < n; k++)
        s -= a[i * w + k] * 0.5f;
    y[i] = s;
}
//// local: a tile whose second use is by another pitch
// clmap: global=64,16 local=16,16 a=random(1024) y=zeros(1024)
__kernel void pitches(__global const float *restrict a, __global float *restrict y)
{
    __local float s[256];
    const int x = get_local_id(0), z = get_local_id(1), g = get_global_id(1) * 64 + get_global_id(0);
    s[z * 16 + x] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float v = s[x * 16 + z];
    barrier(CLK_LOCAL_MEM_FENCE);
    s[(z * 16 + x) ^ 1] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = s[x * 16 + z] + s[(z / 2) * 32 + x];
}
//// local: filled in one order, cleared in another
// clmap: global=128 local=32 a=random(128*32) y=zeros(128*32)
__kernel void cleared(__global const float *restrict a, __global float *restrict y)
{
    __local float s[32][32];
    const int l = get_local_id(0), first = get_group_id(0) * 1024;
    for (int k = 0; k < 32; k++)
        s[l][k] = a[first + l * 32 + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; k++)
        y[first + k * 32 + l] = s[l][k] + s[k][l];
}
//// phases: a merge whose distance is an argument that halves
// clmap: global=512 local=128 d=128 up=1 keys=random(1024)
// also: up=0
// also: d=64
// also: d=1
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void merged(__global uint *keys, uint d, const uint up)
{
    __local uint s[256];
    const uint l = get_local_id(0), first = 256 * get_group_id(0);
    s[l] = keys[first + l];
    s[l + 128] = keys[first + l + 128];
    for (; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint at = 2 * l - (l & (d - 1));
        const uint low = s[at], high = s[at + d];
        if ((low > high) == up) {
            s[at] = high;
            s[at + d] = low;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[first + l] = s[l];
    keys[first + l + 128] = s[l + 128];
}
//// phases: the pitch of a flat tile is an argument that the kernel makes odd
// clmap: global=64,16 local=16,16 pitch=16 a=random(1024) y=zeros(1024)
// also: local=8,8
// also: pitch=18
__kernel void odd_pitch(__global const float *restrict a, __global float *restrict y, int pitch)
{
    __local float s[320];
    const int x = get_local_id(0), z = get_local_id(1), g = get_global_id(1) * 64 + get_global_id(0);
    s[x * pitch + z] = a[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float mine = s[z * pitch + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    pitch += 1;
    s[x * pitch + z] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    y[g] = s[x * pitch + z] + s[z * pitch + x];
}
//// phases: one row of local memory is counts, then their sums
// clmap: global=256 local=64 keys=formula(256,i*37%16) out=zeros(256) ends=zeros(16)
// also: global=192
// also: local=32
__kernel void placed(__global const uint *restrict keys, __global uint *restrict out, __global uint *restrict ends)
{
    __local uint s[32];
    const uint l = get_local_id(0), i = get_global_id(0);
    if (l < 32)
        s[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&s[keys[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        for (uint k = 1; k < 16; k++)
            s[k] += s[k - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = s[keys[i]] - (keys[i] ? s[keys[i] - 1] : 0);
    if (l < 16 && get_group_id(0) == 0)
        ends[l] = s[l];
}
//// phases: half of the tile is kept from the chunk before
// clmap: global=64 local=32 n=4 a=random(64*4+64) y=zeros(64*4)
// also: n=3
__kernel void kept_half(__global const float *a, __global float *y, const int n)
{
    __local float s[2][32];
    const int l = get_local_id(0), first = get_group_id(0) * 32 * n;
    s[0][l] = a[first + l];
    for (int k = 0; k < n; k++) {
        s[(k + 1) & 1][l] = a[first + (k + 1) * 32 + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        y[first + k * 32 + l] = s[k & 1][31 - l] + s[(k + 1) & 1][l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
//// phases: an asynchronous copy of a row that is then walked
// clmap: global=64 local=16 n=48 a=random(4*n) y=zeros(64)
// also: n=47
// also: local=32
__kernel void copied(__global const float *restrict a, __global float *restrict y, const int n)
{
    __local float s[64];
    const int l = get_local_id(0), i = get_global_id(0);
    event_t done = async_work_group_copy(s, a + get_group_id(0) * n, (size_t)n, 0);
    wait_group_events(1, &done);
    float t = 0.0f;
    for (int k = 0; k < n; k++)
        t += s[(k + l) % n] * a[get_group_id(0) * n + k];
    y[i] = t;
}
//// phases: a barrier under a flag that all share
// clmap: global=128 local=32 flag=1 n=20 a=random(128*n) y=zeros(128)
// also: flag=0
// also: n=21
__kernel void under_flag(__global const float *restrict a, __global float *restrict y, const int n, const int flag)
{
    __local float s[32];
    const int l = get_local_id(0), i = get_global_id(0), w = get_local_size(0);
    float t = 0.0f;
    for (int k = 0; k < n; k++) {
        t += a[i * n + k];
        if (flag) {
            s[l] = t;
            barrier(CLK_LOCAL_MEM_FENCE);
            t += s[w - 1 - l] * 0.5f;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    y[i] = t;
}
//// launches: a volume whose sides all differ, turned round twice
// clmap: global=24,16,8 local=8,8,1 w=24 h=16 d=8 a=random(w*h*d) y=zeros(w*h*d)
// also: global=20,12,6 local=4,4,2 w=19 h=11 d=5
// also: global=24,16,8 local=8,2,4
__kernel void turned(__global const float *restrict a, __global float *restrict y, const int w, const int h,
                     const int d)
{
    const int x = get_global_id(0), z = get_global_id(1), p = get_global_id(2);
    if (x < w && z < h && p < d)
        y[(x * h + z) * d + p] = a[(p * h + z) * w + x];
}
//// launches: planes by the last id, of which the guard names two only
// clmap: global=16,16,4 local=16,4,1 n=16 a=random(4*n*n) y=zeros(4*n*n)
// also: n=15
// also: global=16,16,3
__kernel void named_two(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int r = get_global_id(0), c = get_global_id(1);
    const size_t plane = get_global_id(2) * n * n;
    if (r >= n || c >= n)
        return;
    float s = a[plane + r * n + c];
    for (int k = 0; k < n; k++)
        s += a[plane + r * n + k];
    y[plane + r * n + c] = s;
}
//// launches: an offset in the second dimension only, with sizes of the launch in the index
// clmap: global=32,16 local=8,8 a=random(32*48) y=zeros(32*48)
// also: offset=0,3
// also: offset=0,32
__kernel void sized(__global const float *restrict a, __global float *restrict y)
{
    const size_t r = get_global_id(0), c = get_global_id(1) - get_global_offset(1);
    const size_t w = get_global_size(1);
    y[r * w + c] = a[r * w + c] + (float)get_global_offset(1);
}
//// launches: groups count, and the last one is told by their number
// clmap: global=128 local=32 n=10 a=random(128*n) y=zeros(128) last=zeros(1)
// also: global=96
// also: local=16
// also: n=11
__kernel void last_group(__global const int *restrict a, __global int *restrict y, __global int *last, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++)
        s += a[i * n + k] >> (k & 3);
    y[i] = s;
    if (get_group_id(0) == get_num_groups(0) - 1 && get_local_id(0) == 0)
        *last = (int)get_num_groups(0);
}
//// launches: more work-items than rows, and each walks on by the size of the launch
// clmap: global=32 local=16 n=50 m=9 a=random(n*m) y=zeros(n)
// also: global=64
// also: n=33 m=8
__kernel void walks_on(__global const float *restrict a, __global float *restrict y, const int n, const int m)
{
    for (int r = get_global_id(0); r < n; r += get_global_size(0)) {
        float s = 0.0f;
        for (int k = 0; k < m; k++)
            s += a[r * m + k];
        y[r] = s;
    }
}
//// aliases: a row is scaled by what its last element was
// clmap: global=32 local=16 n=20 a=random(32*n) y=random(32*n)
// also: same=a:y
// also: n=19
__kernel void scaled_by_last(__global const float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i * n + k] = a[i * n + k] * a[i * n + n - 1];
}
//// aliases: three buffers, of which the host passes two as one
// clmap: global=16,16 local=8,8 n=16 a=random(n*n) b=random(n*n) c=random(n*n)
// also: same=a:b
// also: n=15
__kernel void three(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int x = get_global_id(0), z = get_global_id(1);
    if (x >= n || z >= n)
        return;
    float s = c[x * n + z];
    for (int k = 0; k < n; k++)
        s += a[x * n + k] * b[k * n + z];
    c[x * n + z] = s;
}
//// aliases: bytes and words of one buffer
// clmap: global=64 local=32 n=16 a=formula(64*16,i*37%251) y=zeros(64*4)
// also: n=12
__kernel void bytes_of(__global const uchar *a, __global uint *y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n / 4; k++) {
        const uint word = ((__global const uint *)a)[i * (n / 4) + k];
        y[i * (n / 4) + k] = word + a[i * n + 4 * k] + (a[i * n + 4 * k + 3] << 24);
    }
}
//// types: an index of 16 bits that wraps in the row
// clmap: global=96 local=32 n=700 a=formula(65536,i%251) y=zeros(96)
// also: n=699
__kernel void short_index(__global const uint *restrict a, __global uint *restrict y, const int n)
{
    const int i = get_global_id(0);
    uint s = 0;
    for (int k = 0; k < 16; k++)
        s += a[(ushort)(i * n + k)];
    y[i] = s;
}
//// types: a row index by mul24 of numbers that need more
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64)
// also: n=23
__kernel void by_mul24(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[mad24(i & 0x00ffffff, n, k)];
    y[i] = s;
}
//// types: bytes that are stored as signed and read as unsigned
// clmap: global=128 local=32 n=16 a=formula(128*16,i*53%256) y=zeros(128*16)
// also: n=15
__kernel void signs(__global const uchar *restrict a, __global char *restrict y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        y[i * n + k] = (char)(a[i * n + k] - 128) >> 1;
}
//// types: halves stored by vectors at rows of odd length
// clmap: global=32 local=16 n=21 a=random(32*n) y=zeros(32*n)
// also: n=20
__kernel void stored_halves(__global const float *restrict a, __global half *restrict y, const int n)
{
    const int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        vstore_half_rte(a[i * n + k] * 3.0f, i * n + k, y);
}
//// types: a 64-bit sum of 32-bit products
// clmap: global=64 local=32 n=24 a=formula(64*n,i*2654435761%4294967296-2147483648) b=formula(n,i*40503-1000000) y=zeros(64)
// also: n=22
__kernel void wide_sums(__global const int *restrict a, __global const int *restrict b, __global long *restrict y,
                        const int n)
{
    const int i = get_global_id(0);
    long s = 0;
    for (int k = 0; k < n; k++)
        s += (long)a[i * n + k] * b[k] + (a[i * n + k] ^ (int)s);
    y[i] = s;
}
//// types: vectors of two whose lanes are exchanged in the store
// clmap: global=64,8 local=16,4 w=64 a=random(64*8) y=zeros(64*8)
// also: w=65 global=64,7 local=16,7
__kernel void exchanged(__global const float2 *restrict a, __global float2 *restrict y, const int w)
{
    const int r = get_global_id(1), c = get_global_id(0);
    if (r * w + c < 512)
        y[r * w + c].yx = a[r * w + c] + (float2)(1.0f, -1.0f);
}
//// macros: an element of a tile that takes its pitch from another macro
// clmap: global=32,32 local=16,16 n=32 a=random(n*n) y=zeros(n*n)
// also: -DSIDE=8 local=8,8
#ifndef SIDE
#define SIDE 16
#endif
#define PITCH SIDE
#define TILE(r, c) tile[(r) * PITCH + (c)]
__kernel void through_macros(__global const float *restrict a, __global float *restrict y, const int n)
{
    __local float tile[SIDE * PITCH];
    const int x = get_local_id(0), z = get_local_id(1);
    const int gx = get_group_id(0) * SIDE, gz = get_group_id(1) * SIDE;
    TILE(z, x) = a[(gz + z) * n + gx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[(gx + z) * n + gz + x] = TILE(x, z);
}
//// macros: a loop and its element, both by token pasting
// clmap: global=64 local=32 n=20 a_row=random(64*n) y_row=zeros(64*n)
// also: n=18
#define ROW(name) name##_row[i * n + k]
#define EACH(v, m) for (int v = 0; v < (m); ++v)
__kernel void pasted(__global const float *restrict a_row, __global float *restrict y_row, const int n)
{
    const int i = get_global_id(0);
    EACH (k, n)
        ROW(y) = ROW(a) * ROW(a);
}
//// macros: a choice between maximum and minimum that the build makes
// clmap: global=64 local=32 n=33 a=random(64*n) y=zeros(64)
// also: -DLEAST
// also: n=32
#ifdef LEAST
#define BETTER(p, q) ((p) < (q) ? (p) : (q))
#define WORST INFINITY
#else
#define BETTER(p, q) ((p) > (q) ? (p) : (q))
#define WORST (-INFINITY)
#endif
__kernel void extremes(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = WORST;
    for (int k = 0; k < n; k++)
        s = BETTER(s, a[i * n + k]);
    y[i] = s;
}
//// continue: terms of a row that are left out
// clmap: global=64 local=32 n=24 a=random(64*n) b=random(n) y=zeros(64)
// also: n=23
__kernel void left_out(__global const float *restrict a, __global const float *restrict b, __global float *restrict y,
                       const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        if (k == i % n)
            continue;
        s += a[i * n + k] * b[k];
    }
    y[i] = s / a[i * n + i % n];
}
//// continue: counted before it is left out
// clmap: global=64 local=32 n=24 a=random(64*n) y=zeros(64) z=zeros(64)
// also: n=22
__kernel void counted_out(__global const float *restrict a, __global float *restrict y, __global int *restrict z,
                          const int n)
{
    const int i = get_global_id(0);
    int c = 0;
    float s = 0.0f;
    for (int k = 0; k < n; k++) {
        const float v = a[i * n + k];
        c += v < 0.5f;
        if (c & 1)
            continue;
        s += v;
    }
    y[i] = s;
    z[i] = c;
}
//// arrays: four sums of a work-item by a place that turns
// clmap: global=64 local=32 n=30 a=random(64*n) y=zeros(256)
// also: n=29
__kernel void four_sums(__global const float *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s[4] = {0.0f};
    for (int k = 0; k < n; k++)
        s[k & 3] += a[i * n + k];
    for (int k = 0; k < 4; k++)
        y[i * 4 + k] = s[(k + i) & 3];
}
//// arrays: a table of the program that rows are looked up in
// clmap: global=64 local=32 n=24 a=formula(64*n,i*7%8) y=zeros(64)
// also: n=21
__constant float weights[8] = {1.0f, -2.0f, 0.5f, 4.0f, -8.0f, 0.25f, 3.0f, 7.0f};
__kernel void looked_up(__global const uchar *restrict a, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s += weights[a[i * n + k]] * weights[k & 7];
    y[i] = s;
}
//// wraps: a torus whose sides are no powers of two
// clmap: global=24,20 local=8,4 w=24 h=20 a=random(w*h) y=zeros(w*h)
// also: global=21,15 local=7,5 w=21 h=15
__kernel void torus(__global const float *restrict a, __global float *restrict y, const int w, const int h)
{
    const int r = get_global_id(0), c = get_global_id(1);
    float s = 0.0f;
    for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
            s += a[((c + q + h) % h) * w + (r + p + w) % w];
    if (r < w && c < h)
        y[c * w + r] = s;
}
//// wraps: a scan of several elements a work-item whose last group is short
// clmap: global=64 local=32 n=250 a=formula(n,i*7%13) y=zeros(n)
// also: n=256
// also: n=129
__kernel void short_last(__global const int *restrict a, __global int *restrict y, const int n)
{
    const int first = get_global_id(0) * 4;
    int s = 0;
    for (int k = 0; k < 4 && first + k < n; k++) {
        s += a[first + k];
        y[first + k] = s;
    }
}
