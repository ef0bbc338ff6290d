//// habit: a private row of a product
// clmap: global=32 local=16 n=32 a=random(n*n) b=random(n*n,1) c=zeros(n*n)
// also: n=31
// also: n=1
// also: same=a:c
__kernel void habit(__global const float *a, __global const float *b, __global float *c, int n)
{
    float row[64];
    int i = get_global_id(0);
    if (i >= n) return;
    for (int k = 0; k < n; k++) row[k] = a[i*n + k];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += row[k] * b[k*n + j];
        c[i*n + j] = s;
    }
}
//// habit: a private column, doubles, other names, braces
// clmap: global=32 local=8 size=24 m=random(size*size) v=random(size*size,3) r=zeros(size*size)
// also: size=7
// also: same=v:r
kernel void habit(global double *restrict m, global double *v, global double *r, const uint size)
{
    const uint col = get_global_id(0);
    double column[64];
    if (col < size)
    {
        for (uint t = 0; t < size; ++t)
        {
            column[t] = v[t * size + col];
        }
        for (uint y = 0; y < size; ++y)
        {
            double acc = 0.0;
            for (uint t = 0; t < size; ++t)
            {
                acc += m[y * size + t] * column[t];
            }
            r[y * size + col] = acc;
        }
    }
}
//// habit: a private row that is written back, so that it must be a copy
// clmap: global=32 local=16 n=32 a=random(n*n)
// also: n=17
__kernel void habit(__global float *a, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float row[32];
    for (int k = 0; k < n; k++) row[k] = a[i*n + k];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += row[k] * row[(k + j) % n];
        a[i*n + j] = s;
    }
}
//// habit: a row that the next work-item overwrites after a barrier
// clmap: global=64 local=64 n=16 a=random(64*n) out=zeros(64*n)
// also: n=5
__kernel void habit(__global float *a, __global float *out, int n)
{
    int i = get_global_id(0);
    float row[16];
    for (int k = 0; k < n; k++) row[k] = a[i*n + k];
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int k = 0; k < n; k++) a[((i + 1) % 64)*n + k] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += row[k] * row[n - 1 - k];
        out[i*n + j] = s + j;
    }
}
//// habit: a window that slides in registers
// clmap: global=64 local=16 w=16 in=random(64*w) out=zeros(64*w) f=random(5,2)
// also: w=9
__kernel void habit(__global const float *in, __constant float *f, __global float *out, int w)
{
    int y = get_global_id(0);
    float taps[5];
    for (int t = 0; t < 5; t++) taps[t] = f[t];
    for (int x = 2; x < w - 2; x++) {
        float s = 0;
        for (int t = 0; t < 5; t++) s += taps[t] * in[y*w + x + t - 2];
        out[y*w + x] = s;
    }
}
//// habit: a private histogram line with another stride
// clmap: global=32 local=32 n=16 ld=20 a=random(32*ld) out=zeros(32*16)
// also: ld=16
// also: n=3
__kernel void habit(__global const int *a, __global int *out, int n, int ld)
{
    int i = get_global_id(0), k;
    int line[16];
    for (k = 0; k < n; k++)
        line[k] = a[i * ld + k];
    for (int j = 0; j < n; j++) {
        int less = 0;
        for (k = 0; k < n; k++)
            less += line[k] < line[j];
        out[i * 16 + j] = less;
    }
}
//// habit: a column that a group copies together, in its product
// clmap: global=64 local=16 n=32 a=random(64*n) b=random(n*n,1) c=zeros(64*n) col=local(n)
// also: n=31
// also: local=32
__kernel void habit(const int n, __global const float *a, __global const float *b, __global float *c,
                    __local float *col)
{
    const int i = get_global_id(0);
    for (int j = 0; j < n; j++) {
        for (int k = get_local_id(0); k < n; k += get_local_size(0))
            col[k] = b[k*n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float s = 0.0f;
        for (int k = 0; k < n; k++)
            s += a[i*n + k] * col[k];
        c[i*n + j] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
//// habit: a group's copy of what belongs to the group
// clmap: global=64 local=16 n=24 a=random(n*4) out=zeros(64*n)
// also: n=16
// also: local=32
__kernel void habit(__global const float *a, __global float *out, int n)
{
    __local float mine[64];
    const int g = get_group_id(0), l = get_local_id(0);
    for (int k = l; k < n; k += get_local_size(0)) mine[k] = a[g*n + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < n; k++) out[get_global_id(0)*n + k] = mine[k] * mine[(k + l) % n];
}
//// habit: a group's copy that each item shifts, which is not the group's
// clmap: global=64 local=16 n=64 a=random(256) out=zeros(64)
// also: n=33
__kernel void habit(__global const float *a, __global float *out, int n)
{
    __local float s[64];
    const int l = get_local_id(0), i = get_global_id(0);
    for (int k = l; k < n; k += get_local_size(0)) s[k] = a[k + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    float t = 0;
    for (int k = 0; k < n; k++) t += s[k];
    out[i] = t;
}
//// habit: two copies, one private and one of the group
// clmap: global=32 local=16 n=32 a=random(n*n) b=random(n*n,1) c=zeros(n*n)
// also: n=20
__kernel void habit(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    __local float bs[32];
    float as[32];
    const int i = get_global_id(0), l = get_local_id(0), nl = get_local_size(0);
    const int ok = i < n;
    for (int k = 0; k < n; k++) as[k] = a[(ok ? i : 0)*n + k];
    for (int j = 0; j < n; j++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = l; k < n; k += nl) bs[k] = b[k*n + j];
        barrier(CLK_LOCAL_MEM_FENCE);
        float s = 0;
        for (int k = 0; k < n; k++) s += as[k] * bs[k];
        if (ok) c[i*n + j] = s;
    }
}
//// habit: a copy of short numbers into long ones
// clmap: global=32 local=16 n=16 a=random(32*n) out=zeros(32*n)
// also: n=3
__kernel void habit(__global const short *a, __global int *out, int n)
{
    int i = get_global_id(0);
    int v[16];
    for (int k = 0; k < n; k++) v[k] = a[i*n + k];
    for (int j = 0; j < n; j++) {
        int s = 0;
        for (int k = 0; k < n; k++) s += v[k] * v[j];
        out[i*n + j] = s;
    }
}
//// habit: the counter goes on after the copy
// clmap: global=32 local=16 n=16 a=random(32*n) out=zeros(32*n)
// also: n=4
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0), k;
    float v[16];
    for (k = 0; k < n; k++) v[k] = a[i*n + k];
    for (int j = 0; j < k; j++) {
        float s = 0;
        for (int t = 0; t < n; t++) s += v[t] * v[j];
        out[i*n + j] = s;
    }
}
//// habit: a copy of a copy
// clmap: global=32 local=16 n=16 a=random(32*n) out=zeros(32*n)
// also: n=5
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0);
    float v[16], w[16];
    for (int k = 0; k < n; k++) v[k] = a[i*n + k];
    for (int k = 0; k < n; k++) w[k] = v[n - 1 - k];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += w[k] * v[(j + k) % n];
        out[i*n + j] = s;
    }
}
//// habit: the row is chosen by data
// clmap: global=32 local=16 n=16 a=random(32*n) pick=formula(32,(i*7)%32) out=zeros(32*n)
// also: n=9
__kernel void habit(__global const float *a, __global const int *pick, __global float *out, int n)
{
    int i = get_global_id(0);
    int r = pick[i];
    float v[16];
    for (int k = 0; k < n; k++) v[k] = a[r*n + k];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += v[k] * a[j*n + k];
        out[i*n + j] = s;
    }
}
//// habit: copied under a condition, read under it
// clmap: global=48 local=16 n=16 a=random(48*n) out=zeros(48*n)
// also: n=6
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0);
    float v[16];
    if (i % 3 == 0) {
        for (int k = 0; k < n; k++) v[k] = a[i*n + k];
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += v[k] * (j + k);
            out[i*n + j] = s;
        }
    } else {
        for (int j = 0; j < n; j++) out[i*n + j] = -1.0f;
    }
}
//// habit: macro for the row's element
// clmap: global=32 local=16 n=16 a=random(32*n) b=random(n*n,2) out=zeros(32*n)
// also: n=11
#define AT(m, r, c) m[(r) * n + (c)]
__kernel void habit(__global const float *a, __global const float *b, __global float *out, const int n)
{
    int i = get_global_id(0);
    float v[16];
    for (int k = 0; k < n; k++) v[k] = AT(a, i, k);
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += v[k] * AT(b, k, j);
        AT(out, i, j) = s;
    }
}
//// habit: tiles in local memory that the host passes
// clmap: global=32,32 local=8,8 n=32 a=random(n*n) b=random(n*n,1) c=zeros(n*n) as=local(64) bs=local(64)
// also: n=40
// also: same=a:c
__kernel void habit(__global const float *a, __global const float *b, __global float *c,
                    __local float *as, __local float *bs, int n)
{
    int x = get_local_id(0), y = get_local_id(1);
    int col = get_global_id(0), row = get_global_id(1);
    float s = 0;
    for (int t = 0; t < n / 8; t++) {
        as[y*8 + x] = a[row*n + t*8 + x];
        bs[y*8 + x] = b[(t*8 + y)*n + col];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 8; k++) s += as[y*8 + k] * bs[k*8 + x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row*n + col] = s;
}
//// habit: distances to centres that the group holds
// clmap: global=128 local=32 k=8 d=4 p=random(128*d) c=random(k*d,5) best=zeros(128)
// also: k=5 d=3
// also: k=1
__kernel void habit(__global const float *p, __global const float *c, __global int *best, int k, int d)
{
    __local float cs[64];
    int i = get_global_id(0);
    for (int t = get_local_id(0); t < k*d; t += get_local_size(0)) cs[t] = c[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    float least = 1e30f; int at = 0;
    for (int m = 0; m < k; m++) {
        float s = 0;
        for (int t = 0; t < d; t++) { float e = p[i*d + t] - cs[m*d + t]; s += e*e; }
        if (s < least) { least = s; at = m; }
    }
    best[i] = at;
}
//// habit: continue past what is masked
// clmap: global=64 local=16 n=20 m=formula(n,i%3) a=random(64*n) out=zeros(64)
// also: n=7
__kernel void habit(__global const float *a, __global const int *m, __global float *out, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        if (m[k] == 0) continue;
        s += a[i*n + k];
    }
    out[i] = s;
}
//// habit: load only where the mask says
// clmap: global=64 local=16 n=24 m=formula(n,i%2) a=random(64*n) out=zeros(64)
// also: n=5
__kernel void habit(__global const float *a, __global const int *m, __global float *out, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++)
        if (m[k])
            s += a[i*n + k];
    out[i] = s;
}
//// habit: the maximum and where it is
// clmap: global=64 local=16 n=24 a=random(64*n) v=zeros(64) at=zeros(64)
// also: n=1
__kernel void habit(__global const float *a, __global float *v, __global int *at, int n)
{
    int i = get_global_id(0);
    float most = a[i*n]; int where = 0;
    for (int k = 1; k < n; k++)
        if (a[i*n + k] > most) { most = a[i*n + k]; where = k; }
    v[i] = most; at[i] = where;
}
//// habit: transposed with a border
// clmap: global=64,64 local=16,16 w=60 h=50 in=random(w*h) out=zeros(w*h)
// also: w=33 h=64
__kernel void habit(__global const float *in, __global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        out[x*h + y] = in[y*w + x];
}
//// habit: planes to pixels
// clmap: global=64,16 local=16,4 w=64 h=16 in=random(3*w*h) out=zeros(3*w*h)
// also: w=61
__kernel void habit(__global const uchar *in, __global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    int p = y*w + x;
    for (int c = 0; c < 3; c++)
        out[p*3 + c] = in[c*w*h + p];
}
//// habit: grey of pixels
// clmap: global=1024 local=64 n=1000 rgb=random(3000) grey=zeros(1000)
// also: n=1
__kernel void habit(__global const uchar *rgb, __global uchar *grey, int n)
{
    int i = get_global_id(0);
    if (i < n)
        grey[i] = (uchar)((rgb[3*i] * 77 + rgb[3*i + 1] * 150 + rgb[3*i + 2] * 29) >> 8);
}
//// habit: running sums of each row, in place
// clmap: global=32 local=16 n=16 a=random(32*n)
// also: n=2
__kernel void habit(__global int *a, int n)
{
    int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) { s += a[i*n + k]; a[i*n + k] = s; }
}
//// habit: a row less its mean
// clmap: global=32 local=16 n=24 a=random(32*n) out=zeros(32*n)
// also: n=7
// also: same=a:out
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int r = get_global_id(0);
    float m = 0;
    for (int k = 0; k < n; k++) m += a[r*n + k];
    m /= n;
    for (int k = 0; k < n; k++) out[r*n + k] = a[r*n + k] - m;
}
//// habit: counts of bytes
// clmap: global=512 local=64 n=2048 in=random(2048) bins=zeros(256)
// also: n=2000
__kernel void habit(__global const uchar *in, __global uint *bins, uint n)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[in[i]]);
}
//// habit: counts by chunk
// clmap: global=64 local=16 n=1024 each=16 in=random(1024) bins=zeros(256)
// also: n=1000
__kernel void habit(__global const uchar *in, __global int *bins, int n, int each)
{
    int first = get_global_id(0) * each;
    for (int k = first; k < first + each && k < n; k++)
        atomic_add(bins + in[k], 1);
}
//// habit: a sum in local memory by halves
// clmap: global=256 local=64 in=random(256) out=zeros(4) s=local(64)
// also: local=32 s=local(32)
__kernel void habit(__global const float *in, __global float *out, __local float *s)
{
    uint l = get_local_id(0);
    s[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < get_local_size(0); d <<= 1) {
        if (l % (2*d) == 0) s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = s[0];
}
//// habit: a five-point stencil with a shared edge
// clmap: global=64,32 local=16,8 w=64 h=32 in=random(w*h) out=zeros(w*h)
// also: w=50 h=30
// also: same=in:out
__kernel void habit(__global const float *in, __global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    out[y*w + x] = 0.2f * (in[y*w + x] + in[y*w + x - 1] + in[y*w + x + 1] + in[(y - 1)*w + x] + in[(y + 1)*w + x]);
}
//// habit: a box of clamped neighbours
// clmap: global=32,32 local=8,8 w=32 h=32 r=2 in=random(w*h) out=zeros(w*h)
// also: r=1
// also: w=29 h=31
__kernel void habit(__global const float *in, __global float *out, int w, int h, int r)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    float s = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            s += in[clamp(y + dy, 0, h - 1)*w + clamp(x + dx, 0, w - 1)];
    out[y*w + x] = s / ((2*r + 1)*(2*r + 1));
}
//// habit: complex numbers side by side
// clmap: global=256 local=64 a=random(512) b=random(512,1) c=zeros(512)
// also: global=192
// also: same=a:c
__kernel void habit(__global const float *a, __global const float *b, __global float *c)
{
    int i = get_global_id(0);
    float ar = a[2*i], ai = a[2*i + 1], br = b[2*i], bi = b[2*i + 1];
    c[2*i] = ar*br - ai*bi;
    c[2*i + 1] = ar*bi + ai*br;
}
//// habit: a butterfly stage
// clmap: global=128 local=32 half=16 a=random(256)
// also: half=1
// also: half=64
__kernel void habit(__global float *a, int half)
{
    int i = get_global_id(0);
    int at = (i / half) * 2 * half + i % half;
    float x = a[at], y = a[at + half];
    a[at] = x + y;
    a[at + half] = x - y;
}
//// habit: springs between neighbours
// clmap: global=256 local=64 n=256 p=random(n) v=zeros(n) q=zeros(n)
// also: n=200
// also: same=p:q
__kernel void habit(__global const float4 *p, __global float4 *v, __global float4 *q, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float4 f = 0;
    if (i > 0) f += p[i - 1] - p[i];
    if (i < n - 1) f += p[i + 1] - p[i];
    v[i] += 0.01f * f;
    q[i] = p[i] + 0.01f * v[i];
}
//// habit: all pairs, twelve floats a body
// clmap: global=64 local=16 n=64 x=random(n) y=random(n,1) m=random(n,2) fx=zeros(n) fy=zeros(n)
// also: n=50
__kernel void habit(__global const float *x, __global const float *y, __global const float *m,
                    __global float *fx, __global float *fy, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float ax = 0, ay = 0;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i];
        float d = dx*dx + dy*dy + 0.01f;
        float w = m[j] / (d * sqrt(d));
        ax += w*dx; ay += w*dy;
    }
    fx[i] = ax; fy[i] = ay;
}
//// habit: sparse rows
// clmap: global=64 local=16 rows=64 ptr=formula(65,i*4) col=formula(256,(i*13)%64) val=random(256) x=random(64) y=zeros(64)
// also: rows=50
__kernel void habit(__global const int *ptr, __global const int *col, __global const float *val,
                    __global const float *x, __global float *y, int rows)
{
    int r = get_global_id(0);
    if (r < rows) {
        float s = 0;
        for (int k = ptr[r]; k < ptr[r + 1]; k++) s += val[k] * x[col[k]];
        y[r] = s;
    }
}
//// habit: padded rows of a fixed number of entries
// clmap: global=64 local=16 rows=64 most=5 col=formula(320,(i*17)%64) val=random(320) x=random(64) y=zeros(64)
// also: most=1
// also: rows=60
__kernel void habit(__global const int *col, __global const float *val, __global const float *x,
                    __global float *y, int rows, int most)
{
    int r = get_global_id(0);
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < most; k++) s += val[r*most + k] * x[col[r*most + k]];
    y[r] = s;
}
//// habit: the game of life on a torus
// clmap: global=32,32 local=8,8 n=32 in=formula(n*n,(i*i/7)%2) out=zeros(n*n)
// also: n=20
__kernel void habit(__global const int *in, __global int *out, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n) return;
    int l = (x + n - 1) % n, r = (x + 1) % n, u = (y + n - 1) % n, d = (y + 1) % n;
    int s = in[u*n + l] + in[u*n + x] + in[u*n + r] + in[y*n + l] + in[y*n + r] + in[d*n + l] + in[d*n + x] + in[d*n + r];
    out[y*n + x] = s == 3 || (s == 2 && in[y*n + x]);
}
//// habit: Horner on each element
// clmap: global=256 local=64 n=6 c=random(n) x=random(256,1) y=zeros(256)
// also: n=1
// also: same=x:y
__kernel void habit(__constant float *c, __global const float *x, __global float *y, int n)
{
    int i = get_global_id(0);
    float v = x[i], s = c[n - 1];
    for (int k = n - 2; k >= 0; k--) s = s*v + c[k];
    y[i] = s;
}
//// habit: a batch of small products
// clmap: global=4,4,8 local=4,4,1 n=4 a=random(128) b=random(128,1) c=zeros(128)
// also: n=3
__kernel void habit(__global const float *a, __global const float *b, __global float *c, int n)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= n || y >= n) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[(z*n + y)*n + k] * b[(z*n + k)*n + x];
    c[(z*n + y)*n + x] = s;
}
//// habit: the transposed operand of a product
// clmap: global=32,32 local=8,8 m=32 n=32 k=24 a=random(m*k) b=random(n*k,1) c=zeros(m*n)
// also: k=23
// also: m=20 n=30
__kernel void habit(__global const float *a, __global const float *b, __global float *c, int m, int n, int k)
{
    int i = get_global_id(0), j = get_global_id(1);
    if (i < m && j < n) {
        float s = 0.f;
        for (int t = 0; t < k; ++t)
            s = fma(a[i*k + t], b[j*k + t], s);
        c[i*n + j] = s;
    }
}
//// habit: a product that adds to what was there, by a row a work-item
// clmap: global=32 local=16 n=32 a=random(n*n) b=random(n*n,1) c=random(n*n,2)
// also: n=30
__kernel void habit(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
}
//// habit: the largest of each column
// clmap: global=64 local=16 w=64 h=20 a=random(w*h) most=zeros(w)
// also: w=50
// also: h=1
__kernel void habit(__global const float *a, __global float *most, int w, int h)
{
    int x = get_global_id(0);
    if (x >= w) return;
    float m = -INFINITY;
    for (int y = 0; y < h; y++) m = fmax(m, a[y*w + x]);
    most[x] = m;
}
//// habit: structures of a ray
// clmap: global=256 local=64 rays=random(256) t=zeros(256) n=256
// also: n=255
typedef struct { float ox, oy, oz, dx, dy, dz; } Ray;
__kernel void habit(__global const Ray *rays, __global float *t, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float b = rays[i].ox*rays[i].dx + rays[i].oy*rays[i].dy + rays[i].oz*rays[i].dz;
    float c = rays[i].ox*rays[i].ox + rays[i].oy*rays[i].oy + rays[i].oz*rays[i].oz - 1.0f;
    t[i] = b*b - c;
}
//// habit: members set one by one
// clmap: global=256 local=64 p=random(256) dt=0.5 n=256
// also: n=100
typedef struct { float x, y, vx, vy; } Body;
__kernel void habit(__global Body *p, float dt, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        p[i].x += dt * p[i].vx;
        p[i].y += dt * p[i].vy;
    }
}
//// habit: a helper that adds a row
// clmap: global=32 local=16 n=16 a=random(32*n) out=zeros(32)
// also: n=3
float added(__global const float *row, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) s += row[k];
    return s;
}
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0);
    out[i] = added(a + i*n, n);
}
//// habit: one thread fills, all read
// clmap: global=128 local=32 n=16 f=random(n) a=random(160) out=zeros(128)
// also: n=5
__kernel void habit(__global const float *a, __global const float *f, __global float *out, int n)
{
    __local float taps[32];
    if (get_local_id(0) == 0)
        for (int k = 0; k < n; k++) taps[k] = f[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += taps[k] * a[i + k];
    out[i] = s;
}
//// habit: local memory that nobody shares
// clmap: global=128 local=32 a=random(128) out=zeros(128) s=local(32)
// also: local=16 s=local(16)
__kernel void habit(__global const float *a, __global float *out, __local float *s)
{
    int l = get_local_id(0), i = get_global_id(0);
    s[l] = a[i] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = s[l] + 1;
}
//// habit: while with a pointer
// clmap: global=64 local=16 n=12 a=random(64*n) out=zeros(64)
// also: n=1
__kernel void habit(__global const float *a, __global float *out, int n)
{
    __global const float *p = a + get_global_id(0) * n;
    float s = 0;
    int k = n;
    while (k-- > 0) s += *p++;
    out[get_global_id(0)] = s;
}
//// habit: unrolled by hand, with a rest
// clmap: global=64 local=16 n=18 a=random(64*n) out=zeros(64)
// also: n=3
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0), k = 0;
    float s = 0;
    for (; k + 4 <= n; k += 4)
        s += a[i*n + k] + a[i*n + k + 1] + a[i*n + k + 2] + a[i*n + k + 3];
    for (; k < n; k++) s += a[i*n + k];
    out[i] = s;
}
//// habit: bits of a word
// clmap: global=64 local=16 words=random(64) ones=zeros(64)
__kernel void habit(__global const uint *words, __global int *ones)
{
    int i = get_global_id(0);
    uint w = words[i]; int c = 0;
    for (int b = 0; b < 32; b++) c += (w >> b) & 1;
    ones[i] = c;
}
//// habit: rows of halves as floats
// clmap: global=32 local=16 n=16 a=random(32*n) out=zeros(32)
// also: n=5
__kernel void habit(__global const half *a, __global float *out, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += vload_half(i*n + k, a);
    out[i] = s;
}
//// habit: every third element, from the end
// clmap: global=64 local=16 n=64 a=random(200) out=zeros(64)
// also: n=50
__kernel void habit(__global const float *a, __global float *out, int n)
{
    int i = get_global_id(0);
    if (i < n) out[n - 1 - i] = a[3*i + 2];
}
//// habit: a table that is searched
// clmap: global=64 local=16 n=32 table=iota(32) q=random(64) at=zeros(64)
// also: n=7
__kernel void habit(__global const int *table, __global const int *q, __global int *at, int n)
{
    int i = get_global_id(0), found = -1;
    int key = q[i] & 63;
    for (int k = 0; k < n; k++)
        if (table[k] == key) { found = k; break; }
    at[i] = found;
}
//// habit: two results a work-item
// clmap: global=64 local=16 n=16 a=random(64*n) sum=zeros(64) squares=zeros(64)
// also: n=3
__kernel void habit(__global const float *a, __global float *sum, __global float *squares, int n)
{
    int i = get_global_id(0);
    float s = 0, q = 0;
    for (int k = 0; k < n; k++) { float v = a[i*n + k]; s += v; q += v*v; }
    sum[i] = s; squares[i] = q;
}
//// habit: dynamic programming, one row from the last
// clmap: global=64 local=32 n=64 last=random(n) cost=random(n,1) next=zeros(n)
// also: n=63
// also: same=last:next
__kernel void habit(__global const int *last, __global const int *cost, __global int *next, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    int best = last[i];
    if (i > 0) best = min(best, last[i - 1]);
    if (i + 1 < n) best = min(best, last[i + 1]);
    next[i] = best / 2 + cost[i] / 2;
}
//// habit: layers of weights, a neuron a work-item
// clmap: global=64 local=16 in=48 out=60 x=random(48) w=random(in*out,1) b=random(60,2) y=zeros(60)
// also: in=47
// also: out=64 b=random(64,2) y=zeros(64)
__kernel void habit(__global const float *x, __global const float *w, __global const float *b, __global float *y, int in, int out)
{
    int o = get_global_id(0);
    if (o >= out) return;
    float s = b[o];
    for (int k = 0; k < in; k++)
        s += x[k] * w[o*in + k];
    y[o] = s > 0 ? s : 0.01f * s;
}
//// habit: weights by columns, with a batch
// clmap: global=32,8 local=16,4 in=20 out=30 x=random(8*in) w=random(in*out,1) y=zeros(8*out)
// also: out=32 y=zeros(8*out)
__kernel void habit(__global const float *x, __global const float *w, __global float *y, int in, int out)
{
    int o = get_global_id(0), n = get_global_id(1);
    if (o >= out) return;
    float s = 0;
    for (int k = 0; k < in; k++)
        s += x[n*in + k] * w[k*out + o];
    y[n*out + o] = tanh(s);
}
//// habit: pooling of two by two
// clmap: global=32,16 local=8,8 w=64 h=32 in=random(w*h) out=zeros(32*16)
// also: w=60 h=30
__kernel void habit(__global const float *in, __global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (2*x + 1 < w && 2*y + 1 < h) {
        __global const float *p = in + 2*y*w + 2*x;
        out[y*(w/2) + x] = fmax(fmax(p[0], p[1]), fmax(p[w], p[w + 1]));
    }
}
//// habit: a row of the next layer's weights, read twice
// clmap: global=32 local=16 n=16 w=random(32*n) g=random(32,1) out=zeros(32*n)
// also: n=9
// also: same=w:out
__kernel void habit(__global const float *w, __global const float *g, __global float *out, int n)
{
    int o = get_global_id(0);
    float row[16];
    for (int k = 0; k < n; k++) row[k] = w[o*n + k];
    float norm = 0;
    for (int k = 0; k < n; k++) norm += row[k] * row[k];
    for (int k = 0; k < n; k++) out[o*n + k] = row[k] - g[o] * row[k] * rsqrt(norm + 1.0f);
}
