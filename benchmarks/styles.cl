//// blas: matrix times vector by columns, with increments that may be negative
// clmap: global=64 local=32 m=64 n=24 lda=64 incx=1 incy=1 a=random(lda*n) x=random(200) y=random(300)
// also: incx=-2
// also: incx=3 incy=-1 m=50
// also: m=1 n=1
__kernel void gemv(const int m, const int n, __global const float *a, const int lda, __global const float *x,
                   const int incx, __global float *y, const int incy)
{
    const int i = get_global_id(0);
    if (i >= m)
        return;
    const int kx = incx < 0 ? (1 - n) * incx : 0;
    const int ky = incy < 0 ? (1 - m) * incy : 0;
    float temp = 0.0f;
    int ix = kx;
    for (int j = 0; j < n; j++) {
        temp += a[i + j * lda] * x[ix];
        ix += incx;
    }
    y[ky + i * incy] += temp;
}
//// blas: rank-1 update, whose vector may be a row of the matrix
// clmap: global=64,32 local=16,8 m=32 n=64 lda=64 x=random(32) y=random(64) a=random(lda*m)
// also: lda=80
// also: m=17 n=63
__kernel void ger(int m, int n, __global float* a, int lda, __global const float* x, __global const float* y)
{
    int col = get_global_id(0), row = get_global_id(1);
    if ((row < m) & (col < n)) a[row*lda + col] += x[row]*y[col];
}
//// blas: symmetric matrix of which only the lower triangle is stored
// clmap: global=64 local=32 n=64 a=random(n*n) x=random(n) y=zeros(n)
// also: n=61
// also: n=2
kernel void symv(const uint n, global const float * restrict a, global const float * restrict x, global float * restrict y)
{
    const uint i = get_global_id(0);
    if (i < n) {
        float s = 0.f;
        uint j;
        for (j = 0; j <= i; ++j)
            s += a[i * n + j] * x[j];
        for (; j < n; ++j)
            s += a[j * n + i] * x[j];
        y[i] = s;
    }
}
//// blas: forward substitution, one right-hand side a work-item, in place
// clmap: global=32 local=16 n=20 ldb=32 l=formula(n*n,1+i%5) b=random(n*ldb)
// also: n=1
// also: n=13 ldb=40
__kernel void trsm(__global const double *l, __global double *b, int n, int ldb)
{
    int c = get_global_id(0);
    for (int i = 0; i < n; i++) {
        double t = b[i * ldb + c];
        for (int k = 0; k < i; k++)
            t -= l[i * n + k] * b[k * ldb + c];
        b[i * ldb + c] = t / l[i * n + i];
    }
}
//// blas: product with operands transposed by flags
// clmap: global=32,32 local=16,16 m=32 n=32 k=40 ta=0 tb=0 alpha=1.5 beta=0.5 a=random(1600) b=random(1600,1) c=random(1024,2)
// also: ta=1
// also: tb=1 beta=0.0
// also: ta=1 tb=1 m=30 n=31 k=7
// also: k=0
__kernel void gemm_flags(int m, int n, int k, int ta, int tb, float alpha, float beta,
                         __global const float *a, __global const float *b, __global float *c)
{
    const int i = get_global_id(1);
    const int j = get_global_id(0);
    if (i >= m || j >= n)
        return;
    float acc = 0.0f;
    for (int l = 0; l < k; l++) {
        const float x = ta ? a[l * m + i] : a[i * k + l];
        const float y = tb ? b[j * k + l] : b[l * n + j];
        acc = fma(x, y, acc);
    }
    c[i * n + j] = alpha * acc + (beta == 0.0f ? 0.0f : beta * c[i * n + j]);
}
//// blas: rank-k update of the lower triangle
// clmap: global=48,48 local=16,16 n=48 k=32 alpha=2.0 beta=1.0 a=random(n*k) c=random(n*n)
// also: n=45 k=31
// also: n=47 k=1
__kernel void syrk(__global float *a, __global float *c, float alpha, float beta, int k, int n)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < n) && (j <= i))
    {
        c[i * n + j] *= beta;
        int l;
        for (l = 0; l < k; l++)
        {
            c[i * n + j] += alpha * a[i * k + l] * a[j * k + l];
        }
    }
}
//// blas: dot product by a grid stride and a tree, with increments
// clmap: global=128 local=32 n=1000 incx=1 incy=2 x=random(1000) y=random(2000,1) out=zeros(4) s=local(32)
// also: n=5
// also: n=999 incx=0
__kernel void dot_part(int n, __global const float *x, int incx, __global const float *y, int incy,
                       __global float *out, __local float *s)
{
    size_t gid = get_global_id(0), lid = get_local_id(0);
    float p = 0;
    for (size_t i = gid; i < n; i += get_global_size(0))
        p += x[i * incx] * y[i * incy];
    s[lid] = p;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t d = get_local_size(0) >> 1; d; d >>= 1) {
        if (lid < d) s[lid] += s[lid + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!lid) out[get_group_id(0)] = s[0];
}
//// blas: place of the greatest magnitude, the first of equal ones
// clmap: global=64 local=32 n=40 a=random(64*n) where=zeros(64)
// also: n=1
// also: a=formula(64*n,i%3-1)
__kernel void iamax(__global const float *a, __global int *where, const int n)
{
    const int row = get_global_id(0);
    float best = fabs(a[row * n]);
    int at = 0;
    for (int k = 1; k < n; k++)
        if (fabs(a[row * n + k]) > best) {
            best = fabs(a[row * n + k]);
            at = k;
        }
    where[row] = at;
}
//// blas: batches with strides between them
// clmap: global=16,16,4 local=16,16,1 n=16 stride=256 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: stride=0
// also: n=15 stride=225
__kernel void gemm_batched(const int n, const long stride, __global const float *a, __global const float *b, __global float *c)
{
    const size_t batch = get_global_id(2);
    const int row = get_global_id(1), col = get_global_id(0);
    if (row >= n || col >= n) return;
    a += batch * stride; b += batch * stride;
    float s = 0;
    for (int k = 0; k < n; ++k) s += a[row * n + k] * b[k * n + col];
    c[batch * n * n + row * n + col] = s;
}
//// blas: triangular product, whose loop starts at the row
// clmap: global=32,32 local=16,16 n=32 a=random(n*n) b=random(n*n,1) c=zeros(n*n)
// also: n=30
// also: n=3
__kernel void trmm(const int n, __global const float *restrict a, __global const float *restrict b, __global float *restrict c)
{
    const int col = get_global_id(0), row = get_global_id(1);
    if (row < n && col < n) {
        float s = 0.0f;
        for (int k = row; k < n; k++)
            s += a[row * n + k] * b[k * n + col];
        c[row * n + col] = s;
    }
}
//// blas: banded matrix times vector
// clmap: global=64 local=32 n=64 kl=2 ku=3 lda=6 a=random(64*6) x=random(64) y=zeros(64)
// also: kl=0 ku=0
// also: n=50 kl=5 ku=0
__kernel void gbmv(const int n, const int kl, const int ku, const int lda, __global const float *a,
                   __global const float *x, __global float *y)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float s = 0;
    for (int j = max(0, i - kl); j <= min(n - 1, i + ku); j++)
        s += a[i * lda + (j - i + kl)] * x[j];
    y[i] = s;
}
//// blas: packed triangle
// clmap: global=64 local=32 n=64 ap=random(2080) x=random(64) y=zeros(64)
// also: n=33
__kernel void tpmv(const unsigned int n, __global const float *ap, __global const float *x, __global float *y)
{
    const unsigned int i = get_global_id(0);
    if (i >= n) return;
    const unsigned int start = i * (i + 1) / 2;
    float s = 0;
    for (unsigned int k = 0; k <= i; k++)
        s += ap[start + k] * x[k];
    y[i] = s;
}
//// blas: plane rotations of two rows that may be one
// clmap: global=64 local=32 n=16 c=0.6 s=0.8 x=random(1024) y=random(1024,1)
// also: n=15
__kernel void rot(const int n, __global float *x, __global float *y, const float c, const float s)
{
    const int row = get_global_id(0);
    for (int k = 0; k < n; k++) {
        const float t = c * x[row * n + k] + s * y[row * n + k];
        y[row * n + k] = c * y[row * n + k] - s * x[row * n + k];
        x[row * n + k] = t;
    }
}
//// stencil: five points, with the residual stored beside
// clmap: global=64,32 local=16,8 w=64 h=32 in=random(w*h) out=zeros(w*h) res=zeros(w*h)
// also: w=50 h=20
// also: w=3 h=3
__kernel void jacobi(__global const float *in, __global float *out, __global float *res, const int w, const int h)
{
    const int y = get_global_id(0), x = get_global_id(1) * 2;
    for (int d = 0; d < 2; d++)
        if (x + d > 0 && x + d < w - 1 && y > 0 && y < h - 1) {
            const int at = y * w + x + d;
            const float v = 0.25f * (in[at - w] + in[at - 1] + in[at + 1] + in[at + w]);
            res[at] = v - in[at];
            out[at] = v;
        }
}
//// stencil: seven points, planes by a macro
// clmap: global=16,16,8 local=16,8,1 nx=16 ny=16 nz=8 c0=0.5 c1=0.1 a=random(2048) b=zeros(2048)
// also: nx=13 ny=14 nz=7
// also: nx=2 ny=16 nz=8
#define IDX(x, y, z) ((x) + nx * ((y) + ny * (z)))
__kernel void heat7(__global const float * restrict a, __global float * restrict b, int nx, int ny, int nz, float c0, float c1)
{
    int z = get_global_id(0); int y = get_global_id(1); int x = get_global_id(2);
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    b[IDX(x,y,z)] = c0 * a[IDX(x,y,z)]
        + c1 * (a[IDX(x-1,y,z)] + a[IDX(x+1,y,z)] + a[IDX(x,y-1,z)] + a[IDX(x,y+1,z)]
              + a[IDX(x,y,z-1)] + a[IDX(x,y,z+1)]);
}
//// stencil: red and black points in place
// clmap: global=64,16 local=16,8 n=64 h=32 colour=0 u=random(2048)
// also: colour=1
// also: n=40 h=30
__kernel void red_black(__global float *u, const int n, const int h, const int colour)
{
    const int y = get_global_id(1) * 2 + 1;
    for (int half_ = 0; half_ < 2; half_++) {
        const int row = y + half_;
        const int x = get_global_id(0);
        if (row >= h - 1 || x < 1 || x >= n - 1 || ((x + row) & 1) != colour)
            continue;
        u[row * n + x] = 0.25f * (u[row * n + x - 1] + u[row * n + x + 1] + u[(row - 1) * n + x] + u[(row + 1) * n + x]);
    }
}
//// stencil: waves, whose newest field may be the oldest
// clmap: global=64,32 local=16,8 nx=64 ny=32 k=0.25 u=random(2048) old=random(2048,1) new_=zeros(2048)
// also: same=new_:old
// also: nx=60 ny=31
__kernel void wave(__global const float *u, __global const float *old, __global float *new_, int nx, int ny, float k)
{
    const int y = get_global_id(1), x = get_global_id(0);
    const bool inner = x > 0 && y > 0 && x + 1 < nx && y + 1 < ny;
    if (inner) {
        const int c = y * nx + x;
        const float lap = u[c - 1] + u[c + 1] + u[c - nx] + u[c + nx] - 4.0f * u[c];
        new_[c] = 2.0f * u[c] - old[c] + k * lap;
    }
}
//// stencil: neighbours by conditional indices, as thermal models have it
// clmap: global=32,64 local=8,16 cols=32 rows=64 t=random(2048) p=random(2048,1) out=zeros(2048)
// also: cols=31 rows=60
// also: cols=1 rows=1
__kernel void hotspot(__global const float *t, __global const float *p, __global float *out, int cols, int rows)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= cols || y >= rows) return;
    int n = (y == 0) ? 0 : y - 1, s = (y == rows - 1) ? y : y + 1;
    int w = (x == 0) ? 0 : x - 1, e = (x == cols - 1) ? x : x + 1;
    float c = t[y*cols+x];
    out[y*cols+x] = c + 0.1f * (p[y*cols+x] + (t[n*cols+x] + t[s*cols+x] - 2.f*c) + (t[y*cols+e] + t[y*cols+w] - 2.f*c));
}
//// stencil: nine weights in constant memory, columns first
// clmap: global=32,32 local=16,16 w=32 h=32 in=random(1024) out=zeros(1024)
// also: w=31 h=20
__constant float weights[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
__kernel void smooth(__global const float *in, __global float *out, const int w, const int h)
{
    const int x = get_global_id(1);
    const int y = get_global_id(0);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
    float s = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            s += weights[i + 1][j + 1] * in[(y + i) * w + x + j];
    out[y * w + x] = s / 16.0f;
}
//// stencil: game of life on a torus of bytes
// clmap: global=32,32 local=16,16 w=32 h=32 in=formula(1024,(i*7%5)/3) out=zeros(1024)
// also: w=31 h=17
// also: w=1 h=1
__kernel void life(__global const uchar *in, __global uchar *out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    const int l = (x + w - 1) % w, r = (x + 1) % w, u = (y + h - 1) % h * w, d = (y + 1) % h * w, c = y * w;
    const int n = in[u + l] + in[u + x] + in[u + r] + in[c + l] + in[c + r] + in[d + l] + in[d + x] + in[d + r];
    out[c + x] = n == 3 || (n == 2 && in[c + x]);
}
//// stencil: upwind, the neighbour chosen by a sign in memory
// clmap: global=64,16 local=16,4 n=64 u=random(1024) v=formula(1024,i%7-3) out=zeros(1024)
// also: n=50
__kernel void upwind(__global const float *u, __global const float *v, __global float *out, const int n)
{
    const int i = get_global_id(0), row = get_global_id(1);
    if (i <= 0 || i >= n - 1) return;
    const int at = row * n + i;
    const float vel = v[at];
    out[at] = u[at] - 0.1f * vel * (vel > 0 ? u[at] - u[at - 1] : u[at + 1] - u[at]);
}
//// stencil: three points with a halo that the outer work-items load
// clmap: global=128 local=32 n=128 a=random(128) b=zeros(128)
// also: n=100
// also: n=1
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void halo(__global const float *a, __global float *b, const int n)
{
    __local float t[34];
    const int g = get_global_id(0), l = get_local_id(0);
    t[l + 1] = g < n ? a[g] : 0.0f;
    if (l == 0)
        t[0] = g > 0 && g - 1 < n ? a[g - 1] : 0.0f;
    if (l == 31)
        t[33] = g + 1 < n ? a[g + 1] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (g < n)
        b[g] = t[l] + 2.0f * t[l + 1] + t[l + 2];
}
//// stencil: periodic by a mask
// clmap: global=64,64 local=16,16 mask=63 a=random(4096) b=zeros(4096)
// also: mask=31
__kernel void periodic(__global const float *a, __global float *b, const uint mask)
{
    const uint x = get_global_id(1), y = get_global_id(0), n = mask + 1;
    if (x > mask || y > mask) return;
    b[y * n + x] = a[y * n + ((x - 1) & mask)] + a[y * n + ((x + 1) & mask)] + a[((y - 1) & mask) * n + x] + a[((y + 1) & mask) * n + x];
}
//// image: running sum of a box, a row a work-item
// clmap: global=64 local=32 w=48 r=3 in=random(64*48) out=zeros(64*48)
// also: r=0
// also: r=20 w=41
__kernel void box_rows(__global const float *in, __global float *out, const int w, const int r)
{
    const int y = get_global_id(0);
    __global const float *p = in + y * w;
    __global float *q = out + y * w;
    float sum = 0;
    for (int x = -r; x <= r; x++) sum += p[clamp(x, 0, w - 1)];
    for (int x = 0; x < w; x++) {
        q[x] = sum / (2 * r + 1);
        sum += p[min(x + r + 1, w - 1)] - p[max(x - r, 0)];
    }
}
//// image: edges of four channels
// clmap: global=32,32 local=16,16 w=32 h=32 in=random(1024) out=zeros(1024)
// also: w=20 h=31
__kernel void sobel(__global const uchar4 *in, __global uchar4 *out, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || x >= w - 1 || y < 1 || y >= h - 1) return;
    const int c = mad24(y, w, x);
    float4 gx = convert_float4(in[c - w - 1]) - convert_float4(in[c - w + 1]) + 2.0f * (convert_float4(in[c - 1]) - convert_float4(in[c + 1]))
              + convert_float4(in[c + w - 1]) - convert_float4(in[c + w + 1]);
    float4 gy = convert_float4(in[c - w - 1]) - convert_float4(in[c + w - 1]) + 2.0f * (convert_float4(in[c - w]) - convert_float4(in[c + w]))
              + convert_float4(in[c - w + 1]) - convert_float4(in[c + w + 1]);
    out[c] = convert_uchar4_sat(hypot(gx, gy) / 2.0f);
}
//// image: median by exchanges in private variables
// clmap: global=32,32 local=16,16 w=32 h=32 in=random(1024) out=zeros(1024)
// also: w=30 h=17
#define S2(a, b) { float t_ = min(a, b); b = max(a, b); a = t_; }
__kernel void median3(__global const float *in, __global float *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    if (x == 0 || x == w - 1) { out[y * w + x] = in[y * w + x]; return; }
    float a = in[y * w + x - 1], b = in[y * w + x], c = in[y * w + x + 1];
    S2(a, b) S2(b, c) S2(a, b)
    out[y * w + x] = b;
}
//// image: bilateral with a radius
// clmap: global=32,16 local=16,8 w=32 h=16 r=2 s=0.3 in=random(512) out=zeros(512)
// also: r=0
// also: w=25 h=11 r=3
__kernel void bilateral(__global const float *in, __global float *out, int w, int h, int r, float s)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    float sum = 0, norm = 0, centre = in[y * w + x];
    for (int dy = -r; dy <= r; dy++) {
        for (int dx = -r; dx <= r; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= w || yy >= h)
                continue;
            float v = in[yy * w + xx];
            float k = 1.0f / (1.0f + s * (v - centre) * (v - centre) + dx * dx + dy * dy);
            sum += k * v;
            norm += k;
        }
    }
    out[y * w + x] = sum / norm;
}
//// image: grey from three packed bytes
// clmap: global=64,16 local=16,8 w=64 h=16 rgb=random(3072) grey=zeros(1024)
// also: w=50
__kernel void to_grey(__global const uchar *rgb, __global uchar *grey, uint w, uint h)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    uint i = y * w + x;
    grey[i] = (uchar)((rgb[3 * i] * 77 + rgb[3 * i + 1] * 151 + rgb[3 * i + 2] * 28) >> 8);
}
//// image: a table in local memory
// clmap: global=256 local=64 n=1000 lut=random(256) img=random(1024) out=zeros(1024)
// also: n=1
// also: n=1024
__kernel void apply_lut(__global const uchar *lut, __global const uchar *img, __global uchar *out, const int n)
{
    __local uchar table[256];
    for (int i = get_local_id(0); i < 256; i += get_local_size(0))
        table[i] = lut[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        out[i] = table[img[i]];
}
//// image: integral image, rows then columns
// clmap: global=64 local=32 w=40 h=64 src=random(2560) dst=zeros(2560)
// also: w=1
// also: w=33 h=50
__kernel void integral_rows(__global const int *src, __global int *dst, const int w, const int h)
{
    int y = get_global_id(0);
    if (y < h) {
        int run = 0;
        for (int x = 0; x < w; ++x) {
            run += src[y * w + x];
            dst[y * w + x] = run;
        }
    }
}
//// image: bilinear, coordinates in floats
// clmap: global=32,32 local=16,16 w=32 h=32 sw=20 sh=24 src=random(480) dst=zeros(1024)
// also: w=10 h=32
// also: sw=1 sh=1
__kernel void resize(__global const float *src, __global float *dst, int sw, int sh, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    float fx = (x + 0.5f) * sw / w - 0.5f, fy = (y + 0.5f) * sh / h - 0.5f;
    int x0 = (int)floor(fx), y0 = (int)floor(fy);
    float ax = fx - x0, ay = fy - y0;
    int x1 = clamp(x0 + 1, 0, sw - 1), y1 = clamp(y0 + 1, 0, sh - 1);
    x0 = clamp(x0, 0, sw - 1);
    y0 = clamp(y0, 0, sh - 1);
    dst[y * w + x] = (1 - ay) * ((1 - ax) * src[y0 * sw + x0] + ax * src[y0 * sw + x1])
                   + ay * ((1 - ax) * src[y1 * sw + x0] + ax * src[y1 * sw + x1]);
}
//// image: dilation that stops at the first hit
// clmap: global=32,32 local=16,16 w=32 h=32 r=2 in=formula(1024,(i*37%29)/28) out=zeros(1024)
// also: w=29 h=30 r=1
__kernel void dilate(__global const uchar *in, __global uchar *out, int w, int h, int r)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    uchar hit = 0;
    for (int dy = -r; dy <= r && !hit; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h && in[yy * w + xx]) { hit = 255; break; }
        }
    out[y * w + x] = hit;
}
//// image: a quarter turn
// clmap: global=64,48 local=16,16 w=64 h=48 src=random(3072) dst=zeros(3072)
// also: w=50 h=33
// also: w=1 h=48
__kernel void rotate90(__global const uint *src, __global uint *dst, const uint w, const uint h)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x < w && y < h)
        dst[x * h + (h - 1 - y)] = src[y * w + x];
}
//// image: blended by alpha in shorts
// clmap: global=256 local=64 n=256 a=random(256) b=random(256,1) out=zeros(256)
// also: n=255
// also: same=out:a
__kernel void blend(__global const uchar4 *a, __global const uchar4 *b, __global uchar4 *out, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    ushort4 p = convert_ushort4(a[i]), q = convert_ushort4(b[i]);
    ushort alpha = p.w;
    out[i] = convert_uchar4((p * alpha + q * (ushort)(255 - alpha)) / (ushort)255);
}
//// image: planes of chroma at half the resolution
// clmap: global=32,32 local=16,16 w=32 h=32 yuv=random(1536) rgb=zeros(3072)
// also: w=30 h=16
__kernel void yuv(__global const uchar *yuv, __global uchar *rgb, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h) return;
    const int l = yuv[y * w + x], u = yuv[w * h + (y / 2) * (w / 2) + x / 2] - 128;
    const int v = yuv[w * h + (w / 2) * (h / 2) + (y / 2) * (w / 2) + x / 2] - 128;
    __global uchar *p = rgb + 3 * (y * w + x);
    p[0] = convert_uchar_sat(l + (359 * v >> 8));
    p[1] = convert_uchar_sat(l - ((88 * u + 183 * v) >> 8));
    p[2] = convert_uchar_sat(l + (454 * u >> 8));
}
//// sparse: compressed rows
// clmap: global=64 local=32 n=64 ptr=formula(65,i*5) col=formula(320,i*13%64) val=random(320) x=random(64) y=zeros(64)
// also: n=50
// also: ptr=formula(65,i*i%3+i*4)
// also: same=y:x
__kernel void csr(int n, __global const int *ptr, __global const int *col, __global const float *val,
                  __global const float *x, __global float *y)
{
    int row = get_global_id(0);
    if (row < n) {
        float dot = 0;
        int start = ptr[row], end = ptr[row + 1];
        for (int j = start; j < end; j++)
            dot += val[j] * x[col[j]];
        y[row] += dot;
    }
}
//// sparse: ELL, padded with columns of -1
// clmap: global=64 local=32 n=64 k=6 col=formula(384,i*11%65-1) val=random(384) x=random(64) y=zeros(64)
// also: n=64 k=0
__kernel void ell(int n, int k, __global const int *col, __global const float *val, __global const float *x, __global float *y)
{
    int row = get_global_id(0);
    if (row >= n) return;
    float s = 0;
    for (int j = 0; j < k; j++) {
        int c = col[row * k + j];
        if (c < 0) continue;
        s += val[row * k + j] * x[c];
    }
    y[row] = s;
}
//// sparse: coordinates, added by integer atomics
// clmap: global=256 local=64 nnz=256 r=formula(256,i*7%32) c=formula(256,i*5%32) v=random(256) x=random(32) y=zeros(32)
// also: nnz=200
__kernel void coo(const int nnz, __global const int *r, __global const int *c, __global const int *v,
                  __global const int *x, volatile __global int *y)
{
    int i = get_global_id(0);
    if (i < nnz) atomic_add(&y[r[i]], v[i] * x[c[i]]);
}
//// sparse: diagonals at offsets from memory
// clmap: global=64 local=32 n=64 d=5 off=formula(5,i*3-6) a=random(320) x=random(64) y=zeros(64)
// also: n=60
// also: d=1
__kernel void dia(int n, int d, __global const int *off, __global const float *a, __global const float *x, __global float *y)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float s = 0;
    for (int k = 0; k < d; k++) {
        int j = i + off[k];
        if (j >= 0 && j < n) s += a[i * d + k] * x[j];
    }
    y[i] = s;
}
//// sparse: a row a work-group
// clmap: global=512 local=32 n=16 ptr=formula(17,i*20) col=formula(320,i*13%64) val=random(320) x=random(64) y=zeros(16)
// also: ptr=formula(17,i*15)
__kernel void csr_group(const uint n, __global const uint *ptr, __global const uint *col, __global const float *val,
                        __global const float *x, __global float *y)
{
    __local volatile float part[32];
    const uint row = get_group_id(0), l = get_local_id(0);
    float s = 0;
    if (row < n)
        for (uint j = ptr[row] + l; j < ptr[row + 1]; j += 32)
            s += val[j] * x[col[j]];
    part[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 16; d > 0; d /= 2) {
        if (l < d) part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0 && row < n) y[row] = part[0];
}
//// sparse: blocks of two by two
// clmap: global=64 local=32 nb=32 ptr=formula(33,i*3) col=formula(96,i*7%32) val=random(384) x=random(64) y=zeros(64)
// also: nb=20
__kernel void bcsr(const int nb, __global const int *ptr, __global const int *col, __global const float *val,
                   __global const float *x, __global float *y)
{
    const int i = get_global_id(0), block = i >> 1, lane = i & 1;
    if (block >= nb) return;
    float s = 0;
    for (int b = ptr[block]; b < ptr[block + 1]; ++b) {
        s += val[4 * b + 2 * lane] * x[2 * col[b]];
        s += val[4 * b + 2 * lane + 1] * x[2 * col[b] + 1];
    }
    y[i] = s;
}
//// particles: n-body on vectors
// clmap: global=64 local=32 n=64 eps=0.01 dt=0.1 pos=random(64) vel=random(64,1) out=zeros(64)
// also: n=50
// also: same=out:vel
__kernel void nbody(__global const float4 *pos, __global float4 *vel, __global float4 *out, const int n, const float eps, const float dt)
{
    const int i = get_global_id(0);
    float4 p = pos[i], acc = (float4)(0.0f);
    for (int j = 0; j < n; j++) {
        float4 d = pos[j] - p;
        float inv = 1.0f / (d.x * d.x + d.y * d.y + d.z * d.z + eps);
        acc += d * (pos[j].w * inv);
    }
    vel[i] += dt * acc;
    out[i] = p + dt * vel[i];
}
//// particles: n-body by tiles, with a last tile that is short
// clmap: global=128 local=32 n=100 eps=0.01 pos=random(128) acc=zeros(128) sh=local(32)
// also: n=128
// also: n=1
__kernel void nbody_tiled(__global const float4 *pos, __global float4 *acc, __local float4 *sh, const uint n, const float eps)
{
    const uint i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    float4 me = i < n ? pos[i] : (float4)(0), a = (float4)(0);
    for (uint base = 0; base < n; base += size) {
        if (base + l < n) sh[l] = pos[base + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < size && base + j < n; j++) {
            float4 d = sh[j] - me;
            a += d * (sh[j].w / (dot(d.xyz, d.xyz) + eps));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) acc[i] = a;
}
//// particles: a cut-off by continue, coordinates apart
// clmap: global=64 local=32 n=64 rc=0.5 x=random(64) y=random(64,1) z=random(64,2) f=zeros(64)
// also: n=63
// also: rc=0.0
__kernel void cutoff(__global const float *x, __global const float *y, __global const float *z, __global float *f, const int n, const float rc)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float e = 0.0f;
    for (int j = 0; j < n; j++) {
        if (j == i) continue;
        const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const float r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > rc) continue;
        e += 1.0f / (r2 + 0.1f);
    }
    f[i] = e;
}
//// particles: lists of neighbours by columns
// clmap: global=64 local=32 n=64 most=8 count=formula(64,i%9) list=formula(512,i*29%64) q=random(64) out=zeros(64)
// also: n=40
__kernel void neighbours(__global const int *count, __global const int *list, __global const float *q, __global float *out, const int n, const int most)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float s = 0;
    int c = count[i];
    for (int k = 0; k < c; k++) s += q[list[i * most + k]] - q[i];
    out[i] = s;
}
//// scan: two buffers by turns
// clmap: global=128 local=32 n=128 in=random(128) out=zeros(128)
// also: n=100
__kernel void hillis(__global const int *in, __global int *out, const int n)
{
    __local int t[2][32];
    int l = get_local_id(0), g = get_global_id(0), cur = 0;
    t[0][l] = g < n ? in[g] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 32; d <<= 1) {
        t[1 - cur][l] = l >= d ? t[cur][l] + t[cur][l - d] : t[cur][l];
        cur = 1 - cur;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (g < n) out[g] = t[cur][l];
}
//// scan: up and down, with the padding of the books
// clmap: global=64 local=32 a=random(128) b=zeros(128) sums=zeros(2)
// also: a=formula(128,i%5)
#define LOG_BANKS 4
#define PAD(n) ((n) >> LOG_BANKS)
__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void blelloch(__global const int *a, __global int *b, __global int *sums)
{
    __local int t[64 + (64 >> LOG_BANKS)];
    const int l = get_local_id(0), base = get_group_id(0) * 64;
    t[2 * l + PAD(2 * l)] = a[base + 2 * l];
    t[2 * l + 1 + PAD(2 * l + 1)] = a[base + 2 * l + 1];
    int offset = 1;
    for (int d = 32; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int ai = offset * (2 * l + 1) - 1, bi = offset * (2 * l + 2) - 1;
            ai += PAD(ai); bi += PAD(bi);
            t[bi] += t[ai];
        }
        offset *= 2;
    }
    if (l == 0) { sums[get_group_id(0)] = t[63 + PAD(63)]; t[63 + PAD(63)] = 0; }
    for (int d = 1; d < 64; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int ai = offset * (2 * l + 1) - 1, bi = offset * (2 * l + 2) - 1;
            ai += PAD(ai); bi += PAD(bi);
            int x = t[ai];
            t[ai] = t[bi];
            t[bi] += x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    b[base + 2 * l] = t[2 * l + PAD(2 * l)];
    b[base + 2 * l + 1] = t[2 * l + 1 + PAD(2 * l + 1)];
}
//// scan: a chunk a work-item, exclusive and in place
// clmap: global=64 local=32 n=1000 per=16 a=random(1024) totals=zeros(64)
// also: n=1024
// also: n=3
__kernel void chunk_scan(__global uint *a, __global uint *totals, const uint n, const uint per)
{
    const uint g = get_global_id(0), from = g * per, to = min(from + per, n);
    uint run = 0;
    for (uint i = from; i < to; i++) {
        const uint v = a[i];
        a[i] = run;
        run += v;
    }
    totals[g] = run;
}
//// scan: kept elements moved together
// clmap: global=64 local=32 n=16 a=formula(1024,i*31%17-5) out=zeros(1024) kept=zeros(64)
// also: n=15
// also: same=out:a
__kernel void compact(__global const int *a, __global int *out, __global int *kept, const int n)
{
    const int row = get_global_id(0);
    int m = 0;
    for (int k = 0; k < n; k++)
        if (a[row * n + k] > 0)
            out[row * n + m++] = a[row * n + k];
    kept[row] = m;
}
//// sort: a step of a bitonic network
// clmap: global=64 local=32 a=random(128) j=8 k=16 up=1
// also: j=1 k=2
// also: j=64 k=128 up=0
__kernel void bitonic(__global uint *a, const uint j, const uint k, const uint up)
{
    const uint t = get_global_id(0);
    const uint i = 2 * t - (t & (j - 1)), p = i + j;
    const uint x = a[i], y = a[p];
    const bool asc = (((i & k) == 0) == (up != 0));
    a[i] = asc == (x < y) ? x : y;
    a[p] = asc == (x < y) ? y : x;
}
//// sort: odd and even transpositions in local memory
// clmap: global=64 local=32 a=random(64) s=local(32)
// also: a=formula(64,64-i)
__kernel void odd_even(__global int *a, __local int *s)
{
    int l = get_local_id(0), n = get_local_size(0);
    s[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 0; t < n; t++) {
        if ((l & 1) == (t & 1) && l + 1 < n)
            if (s[l] > s[l + 1]) {
                int x = s[l];
                s[l] = s[l + 1];
                s[l + 1] = x;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[get_global_id(0)] = s[l];
}
//// sort: by rank, ties by place
// clmap: global=64 local=32 n=64 a=formula(64,i*37%11) b=zeros(64)
// also: n=50
__kernel void rank_sort(__global const int *a, __global int *b, const int n)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < n; j++)
        rank += a[j] < a[i] || (a[j] == a[i] && j < i);
    b[rank] = a[i];
}
//// sort: digits of chunks, counted in private memory
// clmap: global=64 local=32 n=16 shift=4 keys=random(1024) counts=zeros(1024)
// also: shift=28
// also: n=13
__kernel void radix_count(__global const uint *keys, __global uint *counts, const int n, const int shift)
{
    uint mine[16];
    const int g = get_global_id(0);
    for (int b = 0; b < 16; b++) mine[b] = 0;
    for (int i = 0; i < n; i++) mine[(keys[g * n + i] >> shift) & 15]++;
    for (int b = 0; b < 16; b++) counts[b * get_global_size(0) + g] = mine[b];
}
//// sort: insertion in rows
// clmap: global=64 local=32 n=12 a=random(768)
// also: n=1
__kernel void insertion(__global float *a, const int n)
{
    __global float *r = a + get_global_id(0) * n;
    for (int i = 1; i < n; i++) {
        float v = r[i];
        int j = i - 1;
        while (j >= 0 && r[j] > v) { r[j + 1] = r[j]; j--; }
        r[j + 1] = v;
    }
}
//// dsp: a filter whose window reaches before the start
// clmap: global=128 local=32 n=128 taps=9 x=random(128) h=random(9) y=zeros(128)
// also: n=100 taps=1
// also: taps=0
__kernel void fir(__global const float *x, __global const float *h, __global float *y, const int n, const int taps)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    float acc = 0;
    for (int k = 0; k < taps && k <= i; k++)
        acc += h[k] * x[i - k];
    y[i] = acc;
}
//// dsp: a pointer that walks back over the coefficients
// clmap: global=64 local=32 taps=8 x=random(72) h=random(8) y=zeros(64)
// also: taps=3
// also: taps=1
__kernel void fir_back(__global const float *x, __global const float *h, __global float *y, const int taps)
{
    const int i = get_global_id(0);
    __global const float *p = x + i, *q = h + taps;
    float acc = 0;
    while (q != h)
        acc += *p++ * *--q;
    y[i] = acc;
}
//// dsp: a biquad a channel, samples interleaved
// clmap: global=32 local=32 n=40 ch=32 b0=0.2 b1=0.4 a1=0.3 x=random(1280) y=zeros(1280)
// also: ch=31
// also: same=y:x
__kernel void iir(__global const float *x, __global float *y, const int n, const int ch, const float b0, const float b1, const float a1)
{
    const int c = get_global_id(0);
    if (c >= ch) return;
    float x1 = 0, y1 = 0;
    for (int t = 0; t < n; t++) {
        float in = x[t * ch + c];
        float out = b0 * in + b1 * x1 - a1 * y1;
        x1 = in;
        y1 = out;
        y[t * ch + c] = out;
    }
}
//// dsp: the same channel by channel
// clmap: global=32 local=32 n=40 a=0.3 x=random(1280) y=zeros(1280)
// also: n=39
// also: same=y:x
// also: n=1
__kernel void iir_rows(__global const float *x, __global float *y, const int n, const float a)
{
    const int c = get_global_id(0);
    float last = 0;
    for (int t = 0; t < n; t++) {
        last = x[c * n + t] - a * last;
        y[c * n + t] = last;
    }
}
//// dsp: a stage of a transform in complex numbers
// clmap: global=64 local=32 half_=8 d=random(128) w=random(64)
// also: half_=1
// also: half_=64
__kernel void fft_stage(__global float2 *d, __global const float2 *w, const int half_)
{
    const int t = get_global_id(0), n = get_global_size(0);
    const int k = t & (half_ - 1), i = ((t - k) << 1) + k;
    const float2 tw = w[k * (n / half_)];
    const float2 a = d[i], b = d[i + half_];
    const float2 m = (float2)(b.x * tw.x - b.y * tw.y, b.x * tw.y + b.y * tw.x);
    d[i] = a + m;
    d[i + half_] = a - m;
}
//// dsp: cosine transform of blocks of eight by eight
// clmap: global=32,32 local=8,8 w=32 in=random(1024) c=random(64) out=zeros(1024)
// also: w=40 in=random(1280) out=zeros(1280)
__kernel void dct8(__global const float *in, __constant float *c, __global float *out, const int w)
{
    __local float block[8][8], rows[64];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int at = get_global_id(1) * w + get_global_id(0);
    block[ly][lx] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0;
    for (int k = 0; k < 8; k++) s += c[lx * 8 + k] * block[ly][k];
    rows[ly * 8 + lx] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0;
    for (int k = 0; k < 8; k++) s += c[ly * 8 + k] * rows[k * 8 + lx];
    out[at] = s;
}
//// dsp: one frequency of many windows that overlap
// clmap: global=64 local=32 n=24 hop=5 cosw=0.7 x=random(400) power=zeros(64)
// also: n=1
// also: hop=0
__kernel void goertzel(__global const float *x, __global float *power, const int n, const int hop, const float cosw)
{
    const int g = get_global_id(0);
    float s1 = 0, s2 = 0;
    for (int i = 0; i < n; ++i) {
        const float s = x[g * hop + i] + 2.0f * cosw * s1 - s2;
        s2 = s1;
        s1 = s;
    }
    power[g] = s1 * s1 + s2 * s2 - 2.0f * cosw * s1 * s2;
}
//// dsp: a level of a wavelet
// clmap: global=64 local=32 n=64 in=random(128) out=zeros(128)
// also: n=50
// also: n=1
__kernel void haar(__global const float *restrict in, __global float *restrict out, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        out[i] = (in[2 * i] + in[2 * i + 1]) * 0.70710678f;
        out[n + i] = (in[2 * i] - in[2 * i + 1]) * 0.70710678f;
    }
}
//// dsp: lags of one window
// clmap: global=32 local=32 n=100 x=random(100) r=zeros(32)
// also: n=32
// also: n=5
__kernel void autocorr(__global const float *x, __global float *r, const int n)
{
    const int lag = get_global_id(0);
    float s = 0;
    for (int i = 0; i + lag < n; i++)
        s += x[i] * x[i + lag];
    r[lag] = s;
}
//// dsp: every third sample, unsigned sizes
// clmap: global=64 local=32 n=200 step=3 x=random(200) y=zeros(64)
// also: step=4
// also: n=10 step=1
__kernel void decimate(__global const short *x, __global short *y, const uint n, const uint step)
{
    const uint i = get_global_id(0);
    int s = 0; uint c = 0;
    for (uint k = i * step; k < (i + 1) * step && k < n; k++, c++)
        s += x[k];
    y[i] = c ? (short)(s / (int)c) : 0;
}
//// lattice: nine populations, one plane each, pulled on a torus
// clmap: global=16,16 local=16,4 nx=16 ny=16 omega=0.8 f=random(2304) g=zeros(2304)
// also: nx=13 ny=10
__constant int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__kernel void lbm_pull(__global const float *f, __global float *g, const int nx, const int ny, const float omega)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= nx || y >= ny) return;
    float in[9], rho = 0;
    for (int k = 0; k < 9; k++) {
        const int xs = (x - ex[k] + nx) % nx, ys = (y - ey[k] + ny) % ny;
        in[k] = f[k * nx * ny + ys * nx + xs];
        rho += in[k];
    }
    for (int k = 0; k < 9; k++)
        g[k * nx * ny + y * nx + x] = in[k] + omega * (rho / 9.0f - in[k]);
}
//// lattice: populations of a cell side by side, solid cells return
// clmap: global=16,16 local=16,4 nx=16 ny=16 solid=formula(256,(i*7%10)/9) f=random(2304)
// also: nx=12 ny=15
__kernel void lbm_cells(__global float *f, __global const uchar *solid, const int nx, const int ny)
{
    const int y = get_global_id(0);
    const int x = get_global_id(1);
    if (x >= nx || y >= ny) return;
    if (solid[y * nx + x]) return;
    __global float *c = &f[(y * nx + x) * 9];
    float rho = 0;
    for (int k = 0; k < 9; k++) rho += c[k];
    for (int k = 0; k < 9; k++) c[k] += 0.3f * (rho / 9 - c[k]);
}
//// elements: stiffness of triangles gathered by their nodes
// clmap: global=64 local=32 ne=64 nodes=formula(192,i*17%50) xy=random(100) k=zeros(576)
// also: ne=40
__kernel void triangle(__global const int *nodes, __global const float *xy, __global float *k, const int ne)
{
    const int e = get_global_id(0);
    if (e >= ne) return;
    float x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = xy[2 * nodes[e * 3 + i]];
        y[i] = xy[2 * nodes[e * 3 + i] + 1];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const float bi = y[(i + 1) % 3] - y[(i + 2) % 3], bj = y[(j + 1) % 3] - y[(j + 2) % 3];
            const float ci = x[(i + 2) % 3] - x[(i + 1) % 3], cj = x[(j + 2) % 3] - x[(j + 1) % 3];
            k[e * 9 + i * 3 + j] = bi * bj + ci * cj;
        }
}
//// elements: one colour is scattered without atomics
// clmap: global=32 local=32 ne=32 order=formula(32,31-i) dofs=formula(128,i) fe=random(128) r=zeros(128)
// also: ne=20
__kernel void scatter(__global const int *order, __global const int *dofs, __global const double *fe, __global double *r, const int ne)
{
    const int t = get_global_id(0);
    if (t >= ne) return;
    const int e = order[t];
    for (int i = 0; i < 4; i++)
        r[dofs[4 * e + i]] += fe[4 * e + i];
}
//// elements: sums over points of quadrature, three loops with one counter's name
// clmap: global=64 local=32 ne=64 u=random(256) w=random(4) b=random(16) out=zeros(256)
// also: ne=63
__kernel void mass(__global const float *u, __constant float *w, __global const float *b, __global float *out, const int ne)
{
    const int e = get_global_id(0);
    if (e >= ne) return;
    float q[4];
    for (int i = 0; i < 4; i++) {
        float s = 0;
        for (int k = 0; k < 4; k++) s += b[i * 4 + k] * u[e * 4 + k];
        q[i] = s * w[i];
    }
    for (int i = 0; i < 4; i++) {
        float s = 0;
        for (int i_ = 0; i_ < 4; i_++) s += b[i_ * 4 + i] * q[i_];
        out[e * 4 + i] = s;
    }
}
//// layers: fully connected, bias and rectifier
// clmap: global=32,16 local=16,8 in_n=48 out_n=32 batch=16 x=random(768) w=random(1536) bias=random(32) y=zeros(512)
// also: in_n=47 out_n=30 batch=13
// also: in_n=1
__kernel void dense(__global const float *x, __global const float *w, __global const float *bias, __global float *y,
                    const int in_n, const int out_n, const int batch)
{
    const int o = get_global_id(0), b = get_global_id(1);
    if (o >= out_n || b >= batch) return;
    float s = bias[o];
    for (int i = 0; i < in_n; i++) s += x[b * in_n + i] * w[o * in_n + i];
    y[b * out_n + o] = s > 0 ? s : 0;
}
//// layers: softmax over rows, with a mask
// clmap: global=32 local=32 n=40 x=random(1280) mask=formula(1280,(i*7%11)/9) y=zeros(1280)
// also: n=1
// also: n=39
// also: same=y:x
__kernel void masked_softmax(__global const float *x, __global const int *mask, __global float *y, const int n)
{
    const int r = get_global_id(0);
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) if (!mask[r * n + i]) most = fmax(most, x[r * n + i]);
    for (int i = 0; i < n; i++) sum += mask[r * n + i] ? 0.0f : exp(x[r * n + i] - most);
    for (int i = 0; i < n; i++) y[r * n + i] = mask[r * n + i] ? 0.0f : exp(x[r * n + i] - most) / sum;
}
//// layers: rows normalised in place, with gains
// clmap: global=32 local=32 n=40 eps=0.001 x=random(1280) g=random(40) b=random(40,1)
// also: n=1
// also: n=33
__kernel void layer_norm(__global float *x, __global const float *g, __global const float *b, const int n, const float eps)
{
    __global float *row = x + (size_t)get_global_id(0) * n;
    float mean = 0.f, var = 0.f;
    for (int i = 0; i < n; i++) mean += row[i];
    mean /= n;
    for (int i = 0; i < n; i++) { float d = row[i] - mean; var += d * d; }
    const float inv = rsqrt(var / n + eps);
    for (int i = 0; i < n; i++) row[i] = (row[i] - mean) * inv * g[i] + b[i];
}
//// layers: convolution of channels, padded
// clmap: global=16,16,4 local=8,8,1 ci=3 h=16 w=16 pad=1 x=random(768) k=random(108) y=zeros(1024)
// also: h=15 w=11
// also: pad=0 h=16 w=14
__kernel void conv(__global const float *x, __global const float *k, __global float *y, const int ci, const int h, const int w, const int pad)
{
    const int ox = get_global_id(0), oy = get_global_id(1), co = get_global_id(2);
    if (ox >= w || oy >= h) return;
    float s = 0;
    for (int c = 0; c < ci; ++c)
        for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx) {
                const int ix = ox + kx - pad, iy = oy + ky - pad;
                if (ix >= 0 && ix < w && iy >= 0 && iy < h)
                    s += x[(c * h + iy) * w + ix] * k[((co * ci + c) * 3 + ky) * 3 + kx];
            }
    y[(co * h + oy) * w + ox] = s;
}
//// layers: greatest of two by two, with where it was
// clmap: global=16,16 local=16,8 w=32 h=32 x=random(1024) y=zeros(256) at=zeros(256)
// also: w=30 h=31
__kernel void maxpool(__global const float *x, __global float *y, __global int *at, const int w, const int h)
{
    const int ox = get_global_id(0), oy = get_global_id(1);
    if (2 * ox + 1 >= w || 2 * oy + 1 >= h) return;
    float best = x[2 * oy * w + 2 * ox];
    int where = 0;
    for (int i = 1; i < 4; i++) {
        const float v = x[(2 * oy + (i >> 1)) * w + 2 * ox + (i & 1)];
        if (v > best) { best = v; where = i; }
    }
    y[oy * (w / 2) + ox] = best;
    at[oy * (w / 2) + ox] = where;
}
//// layers: normalised by channel, the channel divided out of a flat id
// clmap: global=512 local=64 n=512 hw=64 c=4 x=random(512) m=random(4) s=random(4,1) y=zeros(512)
// also: n=500
// also: hw=1
// also: same=y:x
__kernel void batch_norm(__global const float *x, __global const float *m, __global const float *s, __global float *y,
                         const int n, const int hw, const int c)
{
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        const int ch = (i / hw) % c;
        y[i] = (x[i] - m[ch]) * s[ch];
    }
}
//// layers: rows of a table, looked up
// clmap: global=24 local=8 dim=16 ids=formula(24,i*7%10) table=random(160) out=zeros(384)
// also: dim=13
// also: dim=1
__kernel void embed(__global const int *ids, __global const float *table, __global float *out, const int dim)
{
    const int t = get_global_id(0);
    const int id = ids[t];
    for (int d = 0; d < dim; d++)
        out[t * dim + d] = table[id * dim + d];
}
//// layers: scores of attention, later ones left out
// clmap: global=32,32 local=16,16 n=32 d=24 scale=0.2 q=random(768) k=random(768,1) s=zeros(1024)
// also: n=31 d=23
// also: d=1
__kernel void scores(__global const float *q, __global const float *k, __global float *s, const int n, const int d, const float scale)
{
    const int j = get_global_id(0), i = get_global_id(1);
    if (i >= n || j >= n) return;
    if (j > i) { s[i * n + j] = -1e30f; return; }
    float acc = 0;
    for (int l = 0; l < d; l++) acc += q[i * d + l] * k[j * d + l];
    s[i * n + j] = acc * scale;
}
//// layers: eight-bit product with a zero point
// clmap: global=32,32 local=16,16 m=32 n=32 k=40 za=3 zb=-2 a=random(1280) b=random(1280,1) c=zeros(1024)
// also: m=31 n=30 k=39
// also: za=0 zb=0 k=1
__kernel void gemm_s8(__global const char *a, __global const char *b, __global int *c, const int m, const int n, const int k, const int za, const int zb)
{
    const int j = get_global_id(0), i = get_global_id(1);
    if (i < m && j < n) {
        int s = 0;
        for (int l = 0; l < k; l++) s += (a[i * k + l] - za) * (b[l * n + j] - zb);
        c[i * n + j] = s;
    }
}
//// layers: gates in a structure
// clmap: global=64 local=32 n=64 g=random(64) c=random(64) h=zeros(64)
// also: n=61
typedef struct { float i, f, o, u; } gates;
__kernel void lstm(__global const gates *g, __global float *c, __global float *h, const int n)
{
    const int t = get_global_id(0);
    if (t >= n) return;
    const float cell = g[t].f * c[t] + g[t].i * g[t].u;
    c[t] = cell;
    h[t] = g[t].o * (cell / (1.0f + fabs(cell)));
}
//// layers: momentum, weights and velocities
// clmap: global=256 local=64 n=256 lr=0.01 mu=0.9 w=random(256) v=random(256,1) g=random(256,2)
// also: n=255
// also: same=v:g
__kernel void sgd(__global float *w, __global float *v, __global const float *g, const float lr, const float mu, const unsigned n)
{
    const unsigned i = get_global_id(0);
    if (!(i < n)) return;
    v[i] = mu * v[i] - lr * g[i];
    w[i] += v[i];
}
//// layers: transposed convolution, gathered
// clmap: global=32,16 local=16,8 n=16 s=2 x=random(256) k=random(9) y=zeros(1024)
// also: s=1
// also: n=11
__kernel void deconv(__global const float *x, __global const float *k, __global float *y, const int n, const int s)
{
    const int ox = get_global_id(0), oy = get_global_id(1);
    float acc = 0;
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++) {
            const int tx = ox - kx, ty = oy - ky;
            if (tx < 0 || ty < 0 || tx % s || ty % s) continue;
            if (tx / s >= n || ty / s >= n) continue;
            acc += x[ty / s * n + tx / s] * k[ky * 3 + kx];
        }
    y[oy * 32 + ox] = acc;
}
//// bits: distances of words
// clmap: global=32,32 local=16,16 n=32 w=4 a=random(128) b=random(128,1) d=zeros(1024)
// also: n=30 w=3
__kernel void hamming(__global const uint *a, __global const uint *b, __global uint *d, const int n, const int w)
{
    const int i = get_global_id(0), j = get_global_id(1);
    if (i >= n || j >= n) return;
    uint s = 0;
    for (int k = 0; k < w; k++) s += popcount(a[i * w + k] ^ b[j * w + k]);
    d[i * n + j] = s;
}
//// bits: a matrix of bits turned round
// clmap: global=32,4 local=32,1 words=4 a=random(128) t=zeros(128)
// also: words=3
__kernel void bit_transpose(__global const uint *a, __global uint *t, const int words)
{
    const int bit = get_global_id(0), word = get_global_id(1);
    if (word >= words) return;
    uint out = 0;
    for (int r = 0; r < 32; r++)
        out |= ((a[r * words + word] >> bit) & 1u) << r;
    t[word * 32 + bit] = out;
}
//// bits: checksums of rows of bytes
// clmap: global=64 local=32 n=20 data=random(1280) table=random(256) crc=zeros(64)
// also: n=0
// also: n=19
__kernel void crc(__global const uchar *data, __global const uint *table, __global uint *crc, const uint n)
{
    const uint r = get_global_id(0);
    uint c = ~0u;
    for (uint i = 0; i < n; i++)
        c = table[(c ^ data[r * n + i]) & 0xff] ^ (c >> 8);
    crc[r] = ~c;
}
//// bits: random numbers, a chunk of each state
// clmap: global=64 local=32 n=12 state=formula(64,i+1) out=zeros(768)
// also: n=1
__kernel void xorshift(__global uint *state, __global uint *out, const int n)
{
    const int g = get_global_id(0);
    uint x = state[g];
    for (int i = 0; i < n; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        out[g * n + i] = x;
    }
    state[g] = x;
}
//// bits: elements exchanged with their mirrored index
// clmap: global=64 local=32 bits=6 a=random(64) 
// also: bits=5
__kernel void reversal(__global float2 *a, const uint bits)
{
    const uint i = get_global_id(0);
    uint j = 0;
    for (uint b = 0, v = i; b < bits; b++, v >>= 1) j = j << 1 | (v & 1);
    if (i < j && i < (1u << bits)) { const float2 t = a[i]; a[i] = a[j]; a[j] = t; }
}
//// bits: Morton order
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=zeros(1024)
// also: n=16
uint spread(uint v) { v = (v | v << 8) & 0x00ff00ff; v = (v | v << 4) & 0x0f0f0f0f; v = (v | v << 2) & 0x33333333; return (v | v << 1) & 0x55555555; }
__kernel void morton(__global const float *a, __global float *b, const uint n)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) b[spread(x) | spread(y) << 1] = a[y * n + x];
}
//// types: rows of halves
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=23
__kernel void half_rows(__global const half *a, __global float *y, const int n)
{
    const int r = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += vload_half(r * n + k, a);
    y[r] = s;
}
//// types: doubles, a row each, through a macro for the type
// clmap: global=64 local=32 n=24 a=random(1536) x=random(24) y=zeros(64)
// also: -DREAL=float
// also: n=25
#ifndef REAL
#define REAL double
#endif
typedef REAL real;
__kernel void real_rows(__global const real *a, __global const real *x, __global real *y, const int n)
{
    const int r = get_global_id(0);
    real s = (real)0;
    for (int k = 0; k < n; k++) s += a[r * n + k] * x[k];
    y[r] = s;
}
//// types: eight floats, unrolled by hand
// clmap: global=32 local=32 n=4 a=random(128) y=zeros(32)
// also: n=3
__kernel void eights(__global const float8 *a, __global float *y, const int n)
{
    const int r = get_global_id(0);
    float8 s = (float8)(0);
    for (int k = 0; k < n; ++k) s += a[r * n + k];
    float4 t = s.lo + s.hi;
    float2 u = t.lo + t.hi;
    y[r] = u.x + u.y;
}
//// types: structures of vectors and counts
// clmap: global=64 local=32 n=64 p=zeros(64) out=zeros(64)
// also: n=50
typedef struct { float4 pos; float mass; int kind; } body;
__kernel void kinds(__global body *p, __global float *out, const int n)
{
    const int i = get_global_id(0);
    if (i >= n) return;
    p[i].pos += (float4)(1, 2, 3, 0);
    if (p[i].kind == 0) out[i] = p[i].mass + p[i].pos.y;
}
//// types: sixteen bits that wrap
// clmap: global=64 local=32 n=64 a=random(64) b=random(64,1) c=zeros(64)
// also: n=60
__kernel void wrap16(__global const ushort *a, __global const ushort *b, __global ushort *c, const ushort n)
{
    const ushort i = get_global_id(0);
    if (i < n) c[i] = a[i] * b[i] + (ushort)(a[i] - b[i]);
}
//// odd: a volatile counter in the loop's bound, shadowed
// clmap: global=64 local=32 n=16 a=random(1024) y=zeros(64)
// also: n=15
__kernel void shadow(__global const float *a, __global float *y, int n)
{
    int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        int n = k & 3;
        for (int k = 0; k <= n; k++) s += a[i * 16 + k];
        s *= 0.5f;
    }
    y[i] = s;
}
//// odd: comments with accents, brackets and half a loop: ä ö ü € 漢
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=22
/* for (int k = 0; k < n; k++) s += a[i * n + k]; — größer } */
__kernel void comments(__global const float *a /* [64][n] */, __global float *y /* → sums */, const int n)
{
    const int i = get_global_id(0); // é
    float s = 0.0f;                 /* Σ { */
    for (int k = 0 /* first */; k < n /* not n+1 */; k++ /* ) */)
        s += a[i /* row */ * n + k]; // §
    y[i] = s; // 終
}
//// odd: everything in the head
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=23
// also: n=0
__kernel void head(__global const float *a, __global float *y, const int n)
{
    int i = get_global_id(0); float s; int k;
    for (s = 0, k = 0; k < n; s += a[i * n + k], k++);
    y[i] = s;
}
//// odd: a loop that is left by goto, and one by return
// clmap: global=64 local=32 n=24 a=formula(1536,i*37%101-3) y=zeros(64)
// also: n=5
__kernel void jumps(__global const int *a, __global int *y, const int n)
{
    const int i = get_global_id(0);
    int s = 0;
    for (int k = 0; k < n; k++) {
        if (a[i * n + k] < 0) goto out;
        s += a[i * n + k];
    }
    y[i] = s;
    return;
out:
    y[i] = -s;
}
//// odd: carriage returns, tabs and continued lines
// clmap: global=64,32 local=16,8 w=64 h=32 a=random(2048) b=zeros(2048)
// also: w=40 h=31
#define AT(p, r, c) \
	p[(r) * w + \
	(c)]
__kernel void continued(__global const float *a, __global float *b, const int w,
	const int h)
{
	const int r = get_global_id(0); \
	const int c = get_global_id(1);
	if (r < h &&
	    c < w)
		AT(b, r, c) = AT(a, r, c) * 2.0f \
			+ 1.0f;
}
//// odd: steps that are negative, by size_t
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=1
__kernel void backwards(__global const float *a, __global float *y, const ulong n)
{
    const size_t i = get_global_id(0);
    float s = 0;
    for (size_t k = n; k-- > 0;)
        s = s * 0.5f + a[i * n + k];
    y[i] = s;
}
//// odd: a guard in three booleans and a helper
// clmap: global=32,32 local=16,16 w=32 h=32 a=random(1024) b=zeros(1024)
// also: w=20 h=25
bool inside(int v, int n) { return v >= 0 && v < n; }
__kernel void booleans(__global const float *a, __global float *b, int w, int h)
{
    int y = get_global_id(0), x = get_global_id(1);
    bool in_x = inside(x, w), in_y = inside(y, h), ok = in_x & in_y;
    if (!ok) return;
    float v = a[y * w + x];
    if (inside(x - 1, w)) v += a[y * w + x - 1];
    if (inside(x + 1, w)) v += a[y * w + x + 1];
    b[y * w + x] = v;
}
//// odd: launched with an offset, and rows counted from it
// clmap: global=64 local=32 offset=32 n=16 a=random(1536) y=zeros(96)
// also: offset=0
// also: n=15
__kernel void with_offset(__global const float *a, __global float *y, const int n)
{
    const int r = get_global_id(0) - get_global_offset(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[r * n + k];
    y[get_global_id(0)] = s;
}
//// odd: row of every group, element of every work-item, in parallel sums
// clmap: global=16,8 local=16,1 n=50 a=random(400) y=zeros(8) s=local(16)
// also: n=16
// also: n=3
__kernel void group_rows(__global const float *a, __global float *y, __local float *s, const int n)
{
    const int row = get_group_id(1), l = get_local_id(0);
    s[l] = 0;
    for (int k = l; k < n; k += get_local_size(0)) s[l] += a[row * n + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        float t = 0;
        for (int k = 0; k < get_local_size(0); k++) t += s[k];
        y[row] = t;
    }
}
//// odd: dispatch by a switch over the operation
// clmap: global=64 local=32 op=0 n=16 a=random(1024) y=zeros(64)
// also: op=1
// also: op=2 n=15
// also: op=7
__kernel void dispatch(__global const float *a, __global float *y, const int n, const int op)
{
    const int i = get_global_id(0);
    float s = op == 1 ? 1.0f : 0.0f;
    for (int k = 0; k < n; k++) {
        const float v = a[i * n + k];
        switch (op) {
        case 0: s += v; break;
        case 1: s *= v; break;
        case 2: s = fmax(s, v);
        default: s += 0.5f;
        }
    }
    y[i] = s;
}
//// tiles: products by a batch, whose pointers are moved first
// clmap: global=32,32,2 local=16,16,1 n=32 a=random(2048) b=random(2048,1) c=zeros(2048)
// also: n=30
// also: n=17
__kernel void batch_product(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int batch = get_global_id(2);
    __global const float *x = a + batch * n * n;
    __global const float *y = b + batch * n * n;
    const int row = get_global_id(1), col = get_global_id(0);
    if (row < n && col < n) {
        float s = 0;
        for (int k = 0; k < n; k++) s += x[row * n + k] * y[k * n + col];
        c[batch * n * n + row * n + col] = s;
    }
}
//// tiles: a product whose sum is kept as an integer that saturates
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=29
__kernel void saturating(__global const short *a, __global const short *b, __global short *c, const int n)
{
    const int row = get_global_id(1), col = get_global_id(0);
    if (row >= n || col >= n) return;
    short s = 0;
    for (int k = 0; k < n; k++) s = add_sat(s, (short)(a[row * n + k] * b[k * n + col] >> 4));
    c[row * n + col] = s;
}
//// tiles: the row ends at its diagonal
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=31
__kernel void lower(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int row = get_global_id(1), col = get_global_id(0);
    if (row >= n || col >= n) return;
    float s = 0;
    for (int k = 0; k <= row && k <= col; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
//// tiles: half of the product is skipped by an early continue on the tile's number
// clmap: global=32,32 local=16,16 n=32 skip=8 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: skip=1
// also: skip=100 n=21
__kernel void skipping(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n, const int skip)
{
    const int row = get_global_id(1), col = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        if (k % skip == 0)
            continue;
        s += a[row * n + k] * b[k * n + col];
    }
    if (row < n && col < n) c[row * n + col] = s;
}
//// tiles: two products that share an operand
// clmap: global=32,32 local=16,16 n=32 q=random(1024) k=random(1024,1) v=random(1024,2) x=zeros(1024) y=zeros(1024)
// also: n=27
// also: same=x:y
__kernel void two_products(__global const float *q, __global const float *k, __global const float *v, __global float *x, __global float *y, const int n)
{
    const int r = get_global_id(1), c = get_global_id(0);
    if (r >= n || c >= n) return;
    float s = 0, t = 0;
    for (int i = 0; i < n; i++) {
        s += q[r * n + i] * k[i * n + c];
        t += q[r * n + i] * v[i * n + c];
    }
    x[r * n + c] = s;
    y[r * n + c] = t;
}
//// do: stepped in its test, down to nought, unsigned
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=1
__kernel void do_down(__global const float *a, __global float *y, const uint n)
{
    const uint i = get_global_id(0);
    uint k = n;
    float s = 0;
    do { s += a[i * n + n - k]; } while (--k);
    y[i] = s;
}
//// do: stepped in its test after it was compared
// clmap: global=64 local=32 n=24 a=random(2048) y=zeros(64)
// also: n=1
// also: n=0
__kernel void do_after(__global const float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    int k = 0;
    float s = 0;
    do s += a[i * (n + 1) + k]; while (k++ < n);
    y[i] = s;
}
//// do: at least once, with a bound in unsigned numbers that wraps
// clmap: global=64 local=32 n=24 a=random(1600) y=zeros(64)
// also: n=1
// also: n=25
__kernel void do_unsigned(__global const float *a, __global float *y, const uint n)
{
    const uint i = get_global_id(0);
    uint k = 0;
    float s = 0;
    do {
        s += a[i * n + k];
        k++;
    } while (k < n);
    y[i] = s;
}
//// do: a product, stepped in the test, its counter used afterwards
// clmap: global=32,32 local=16,16 n=32 a=random(1024) b=random(1024,1) c=zeros(1024)
// also: n=31
// also: n=1
// also: n=0
__kernel void do_product(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, const int n)
{
    const int row = get_global_id(1), col = get_global_id(0);
    int k = 0;
    float s = 0.0f;
    do
    {
        s += a[row * n + k] * b[k * n + col];
    }
    while (++k < n); // at least once
    if (row < n && col < n)
        c[row * n + col] = s + k;
}
//// do: inside of another loop, its counter set anew
// clmap: global=64 local=32 n=12 m=3 a=random(4096) y=zeros(64)
// also: n=1
// also: m=0
__kernel void do_inside(__global const float *a, __global float *y, const int n, const int m)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int r = 0; r < m; r++) {
        int k = 0;
        do { s += a[(i * m + r) * n + k]; k++; } while (k < n);
        s *= 0.5f;
    }
    y[i] = s;
}
//// do: as many turns as the row's number says
// clmap: global=64 local=32 n=24 a=random(1600) y=zeros(64)
// also: n=3
__kernel void do_rows(__global const float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    int k = 0;
    do { s += a[i * n + k]; k++; } while (k < n && k <= i);
    y[i] = s;
}
//// declarations: several in one, of which the last have effects
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=20
__kernel void several(__global const float *a, __global float *y, const int n)
{
    const int g = get_global_id(0), from = g * n, to = from + n, length = to - from;
    float s = 0.0f, unused_by_author;
    for (int k = 0; k < length; k++)
        s += a[from + k];
    y[g] = s;
}
//// declarations: pointers beside their target
// clmap: global=64 local=32 n=24 a=random(1536) y=zeros(64)
// also: n=20
__kernel void beside(__global const float *a, __global float *y, const int n)
{
    const int g = get_global_id(0);
    __global const float *row = a + g * n, *end = row + n;
    float s = 0.0f;
    for (; row < end; ++row)
        s += *row;
    y[g] = s;
}
//// strides: an interleaved complex row as floats
// clmap: global=64 local=32 n=12 a=random(1536) y=zeros(128)
// also: n=11
__kernel void interleaved(__global const float *a, __global float *y, const int n)
{
    const int g = get_global_id(0);
    float re = 0, im = 0;
    for (int k = 0; k < n; k++) {
        re += a[2 * (g * n + k)];
        im -= a[2 * (g * n + k) + 1];
    }
    y[2 * g] = re;
    y[2 * g + 1] = im;
}
//// strides: columns of a matrix stored with a border
// clmap: global=32,16 local=16,8 w=32 h=16 border=2 a=random(720) b=zeros(720)
// also: border=0
// also: w=31 h=15 border=1
__kernel void bordered(__global const float *a, __global float *b, const int w, const int h, const int border)
{
    const int pitch = w + 2 * border;
    const int x = get_global_id(0) + border, y = get_global_id(1) + border;
    if (x >= w + border || y >= h + border) return;
    b[y * pitch + x] = 0.5f * a[y * pitch + x] + 0.25f * a[(y - (border > 0)) * pitch + x] + 0.25f * a[y * pitch + x - (border > 0)];
}
//// conditions: a store that all make, of a value that some set
// clmap: global=64,16 local=16,8 w=64 h=16 a=random(1024) b=random(1024,1)
// also: w=50 h=12
__kernel void some_set(__global const float *a, __global float *b, const int w, const int h)
{
    const int x = get_global_id(1) * 4, y = get_global_id(0) % 16;
    float v = 0.0f;
    for (int d = 0; d < 4; d++) {
        if (x + d < w && y < h && get_global_id(0) < 16)
            v = a[y * w + x + d];
        if (v > 0.5f && x + d < w && y < h && get_global_id(0) < 16)
            b[y * w + x + d] = v;
    }
}
//// conditions: a mask of bits per row decides what is read
// clmap: global=64 local=32 n=24 mask=formula(64,i*2654435) a=random(1536) y=zeros(64)
// also: n=7
// also: mask=formula(64,0)
__kernel void row_mask(__global const uint *mask, __global const float *a, __global float *y, const int n)
{
    const int i = get_global_id(0);
    const uint m = mask[i];
    float s = 0;
    for (int k = 0; k < n; k++)
        if (m >> k & 1)
            s += a[i * n + k];
    y[i] = s;
}
//// conditions: read past the end only where nobody asks
// clmap: global=64 local=32 n=24 most=1536 a=random(1536) y=zeros(64)
// also: n=25 most=1536
// also: most=100
__kernel void guarded_read(__global const float *a, __global float *y, const int n, const int most)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++)
        s += i * n + k < most ? a[i * n + k] : -1.0f;
    y[i] = s;
}
//// conditions: the last column is another buffer's
// clmap: global=64 local=32 n=24 a=random(1536) last=random(64) y=zeros(64)
// also: n=1
__kernel void last_column(__global const float *a, __global const float *last, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) {
        const float v = k == n - 1 ? last[i] : a[i * n + k];
        s += v;
    }
    y[i] = s;
}
//// aliases: rows of one buffer, summed into its first column
// clmap: global=64 local=32 n=24 a=random(1536)
// also: n=1
__kernel void own_column(__global float *a, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k];
    a[i * n] = s;
}
//// aliases: prefix by steps of the host, two buffers that are one half the time
// clmap: global=64 local=32 d=4 a=random(64) b=zeros(64)
// also: d=64
// also: d=0
__kernel void step_scan(__global const float *a, __global float *b, const int d)
{
    const int i = get_global_id(0);
    b[i] = i >= d ? a[i] + a[i - d] : a[i];
}
//// groups: three dimensions, reduced along the last by its first plane
// clmap: global=8,8,8 local=4,4,8 a=random(512) y=zeros(64)
// also: local=8,2,8
__kernel void depth(__global const float *a, __global float *y)
{
    __local float t[8][64];
    const int l = get_local_id(1) * get_local_size(0) + get_local_id(0), z = get_local_id(2);
    const int at = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    t[z][l] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 4; d; d >>= 1) {
        if (z < d) t[z][l] += t[z + d][l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (z == 0) y[get_global_id(1) * get_global_size(0) + get_global_id(0)] = t[0][l];
}
//// groups: a tile with columns as its rows, padded by the author by two
// clmap: global=32,32 local=16,16 w=32 a=random(1024) b=zeros(1024)
// also: w=40 a=random(1600) b=zeros(1600)
__kernel void padded_by_two(__global const float *a, __global float *b, const int w)
{
    __local float t[16][18];
    const int lx = get_local_id(0), ly = get_local_id(1);
    t[lx][ly] = a[get_global_id(1) * w + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(get_group_id(0) * 16 + ly) * w + get_group_id(1) * 16 + lx] = t[ly][lx];
}
//// units: a mean by two loops, of which the second walks down
// clmap: global=32 local=32 n=20 a=random(640) mean=zeros(32) dev=zeros(32)
// also: n=1
__kernel void two_loops(__global const float *a, __global float *mean, __global float *dev, int n)
{
    const int r = get_global_id(0);
    float m = 0, d = 0;
    int k;
    for (k = 0; k < n; k++) m += a[r * n + k];
    m /= k;
    while (k-- > 0) d += fabs(a[r * n + k] - m);
    mean[r] = m;
    dev[r] = d;
}
//// units: elements of pairs of rows, the odd one out
// clmap: global=32 local=32 rows=63 n=10 a=random(630) y=zeros(320)
// also: rows=64 a=random(640)
// also: rows=1
__kernel void row_pairs(__global const float *a, __global float *y, const int rows, const int n)
{
    const int p = get_global_id(0);
    for (int k = 0; k < n; k++) {
        float v = 0;
        if (2 * p < rows) v = a[2 * p * n + k];
        if (2 * p + 1 < rows) v += a[(2 * p + 1) * n + k];
        y[p * n + k] = v;
    }
}
