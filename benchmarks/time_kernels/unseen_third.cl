// A third set that nothing was fitted to: written, launched on the device, and only then predicted.

// time: kernel=conv_layer global=56,56,64 local=56,4,1 in=random(215296) k=random(36864) out=zeros(200704) c=64
// time: kernel=conv_layer global=28,28,32 local=28,2,2 in=random(57600) k=random(18432) out=zeros(25088) c=64
__kernel void conv_layer(__global const float *in, __global const float *k, __global float *out, const int c)
{
    const int x = get_global_id(0), y = get_global_id(1), f = get_global_id(2);
    const int w = get_global_size(0), h = get_global_size(1), wide = w + 2, area = wide * (h + 2);
    float sum = 0.0f;
    for (int d = 0; d < c; d++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                sum += in[d * area + (y + j) * wide + x + i] * k[((f * c + d) * 3 + j) * 3 + i];
    out[(f * h + y) * w + x] = fmax(sum, 0.0f);
}

// time: kernel=depthwise global=112,112,64 local=16,16,1 in=random(831744) k=random(576) out=zeros(802816)
__kernel void depthwise(__global const float *in, __constant float *k, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1), d = get_global_id(2);
    const int w = get_global_size(0), h = get_global_size(1);
    __global const float *p = in + d * (w + 2) * (h + 2) + y * (w + 2) + x;
    __constant float *q = k + d * 9;
    float sum = q[0] * p[0] + q[1] * p[1] + q[2] * p[2];
    p += w + 2;
    sum += q[3] * p[0] + q[4] * p[1] + q[5] * p[2];
    p += w + 2;
    sum += q[6] * p[0] + q[7] * p[1] + q[8] * p[2];
    out[(d * h + y) * w + x] = sum;
}

// time: kernel=scores global=512,512,12 local=32,8,1 q=random(393216) k=random(393216) s=zeros(3145728) d=64
// time: kernel=scores global=128,128,8 local=128,1,1 q=random(65536) k=random(65536) s=zeros(131072) d=64
__kernel void scores(__global const float *q, __global const float *k, __global float *s, const int d)
{
    const int x = get_global_id(0), y = get_global_id(1), head = get_global_id(2), n = get_global_size(0);
    float sum = 0.0f;
    for (int i = 0; i < d; i++)
        sum += q[(head * n + y) * d + i] * k[(head * n + x) * d + i];
    s[(head * n + y) * n + x] = sum * rsqrt((float)d);
}

// time: kernel=bytes_product global=1024,1024 local=16,16 a=random(1048576) b=random(1048576) c=zeros(1048576) n=1024
__kernel void bytes_product(__global const char *a, __global const char *b, __global int *c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// time: kernel=bias_relu global=8388608 local=256 a=random(8388608) bias=random(512)
// time: kernel=bias_relu global=262144 local=64 a=random(262144) bias=random(512)
__kernel void bias_relu(__global float *a, __global const float *bias)
{
    const int i = get_global_id(0);
    const float v = a[i] + bias[i % 512];
    a[i] = v > 0.0f ? v : 0.01f * v;
}

// time: kernel=norm_planes global=3136,256 local=64,4 a=random(802816) m=random(256) v=random(256) g=random(256) b=random(256)
__kernel void norm_planes(__global float *a, __global const float *m, __global const float *v, __global const float *g,
                          __global const float *b)
{
    const int i = get_global_id(0), c = get_global_id(1);
    const int at = c * get_global_size(0) + i;
    a[at] = g[c] * (a[at] - m[c]) / sqrt(v[c] + 1e-5f) + b[c];
}

// time: kernel=eliminate global=2048,2048 local=16,16 a=random(4194304) f=random(2048) n=2048 k=100
// time: kernel=eliminate global=2048,2048 local=64,4 a=random(4194304) f=random(2048) n=2048 k=1900
__kernel void eliminate(__global float *a, __global const float *f, const int n, const int k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x > k && y > k)
        a[y * n + x] -= f[y] * a[k * n + x];
}

// time: kernel=red_and_black global=1024,2048 local=64,4 u=random(4194304) f=random(4194304) w=2048 colour=0
// time: kernel=red_and_black global=128,256 local=16,16 u=random(65536) f=random(65536) w=256 colour=1
__kernel void red_and_black(__global float *u, __global const float *f, const int w, const int colour)
{
    const int y = get_global_id(1), x = 2 * get_global_id(0) + ((y + colour) & 1);
    if (x > 0 && y > 0 && x < w - 1 && y < (int)get_global_size(1) - 1) {
        const int at = y * w + x;
        u[at] = 0.25f * (u[at - 1] + u[at + 1] + u[at - w] + u[at + w] - f[at]);
    }
}

// time: kernel=rows_by_groups global=1048576 local=64 at=formula(16384,i*40) col=formula(655360,i*7919%16384) v=random(655360) x=random(16384) y=zeros(16384)
__kernel void rows_by_groups(__global const int *at, __global const int *col, __global const float *v,
                             __global const float *x, __global float *y)
{
    __local float part[64];
    const int row = get_group_id(0), l = get_local_id(0);
    float sum = 0.0f;
    for (int i = row * 40 + l; i < row * 40 + 40; i += 64)
        sum += v[i] * x[col[i]];
    part[l] = sum;
    for (int s = 32; s > 0; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s)
            part[l] += part[l + s];
    }
    if (l == 0)
        y[row] = part[0] + at[0];
}

// time: kernel=planes_of_rgb global=4194304 local=256 p=random(4194304) y=zeros(4194304) u=zeros(4194304) v=zeros(4194304)
__kernel void planes_of_rgb(__global const uchar4 *p, __global uchar *y, __global uchar *u, __global uchar *v)
{
    const int i = get_global_id(0);
    const uchar4 c = p[i];
    const int r = c.x, g = c.y, b = c.z;
    y[i] = (77 * r + 150 * g + 29 * b) >> 8;
    u[i] = ((-43 * r - 85 * g + 128 * b) >> 8) + 128;
    v[i] = ((128 * r - 107 * g - 21 * b) >> 8) + 128;
}

// time: kernel=sobel_tile global=4096,4096 local=16,16 p=random(16793604) o=zeros(16777216) w=4098
// time: kernel=sobel_tile global=512,256 local=16,16 p=random(132612) o=zeros(131072) w=514
__kernel void sobel_tile(__global const float *p, __global float *o, const int w)
{
    __local float t[18][18];
    const int lx = get_local_id(0), ly = get_local_id(1), gx = get_group_id(0) * 16, gy = get_group_id(1) * 16;
    for (int i = ly * 16 + lx; i < 324; i += 256)
        t[i / 18][i % 18] = p[(gy + i / 18) * w + gx + i % 18];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float x = t[ly][lx + 2] + 2 * t[ly + 1][lx + 2] + t[ly + 2][lx + 2] - t[ly][lx] - 2 * t[ly + 1][lx] -
                    t[ly + 2][lx];
    const float y = t[ly + 2][lx] + 2 * t[ly + 2][lx + 1] + t[ly + 2][lx + 2] - t[ly][lx] - 2 * t[ly][lx + 1] -
                    t[ly][lx + 2];
    o[(gy + ly) * (w - 2) + gx + lx] = hypot(x, y);
}

// time: kernel=radix_four global=1048576 local=128 a=random(4194304) b=zeros(4194304) p=64
// time: kernel=radix_four global=65536 local=64 a=random(262144) b=zeros(262144) p=1
__kernel void radix_four(__global const float2 *a, __global float2 *b, const int p)
{
    const int i = get_global_id(0), t = get_global_size(0), k = i & (p - 1);
    const float angle = -2.0f * M_PI_F * k / (4.0f * p);
    float2 u[4];
    for (int j = 0; j < 4; j++) {
        const float2 v = a[i + j * t];
        const float c = native_cos(j * angle), s = native_sin(j * angle);
        u[j] = (float2)(v.x * c - v.y * s, v.x * s + v.y * c);
    }
    const float2 e = u[0] + u[2], f = u[0] - u[2], g = u[1] + u[3], h = (float2)(u[1].y - u[3].y, u[3].x - u[1].x);
    const int at = ((i - k) << 2) + k;
    b[at] = e + g;
    b[at + p] = f + h;
    b[at + 2 * p] = e - g;
    b[at + 3 * p] = f - h;
}

// time: kernel=sort_in_groups global=1048576 local=512 a=random(1048576)
// time: kernel=sort_in_groups global=16384 local=128 a=random(16384)
__kernel void sort_in_groups(__global uint *a)
{
    __local uint t[512];
    const int l = get_local_id(0), n = get_local_size(0);
    t[l] = a[get_global_id(0)];
    for (int k = 2; k <= n; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const int o = l ^ j;
            if (o > l) {
                const uint x = t[l], y = t[o];
                if ((x > y) == ((l & k) == 0)) {
                    t[l] = y;
                    t[o] = x;
                }
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = t[l];
}

// time: kernel=hillis_steele global=2097152 local=256 a=random(2097152) b=zeros(2097152)
__kernel void hillis_steele(__global const float *a, __global float *b)
{
    __local float s[2][256];
    const int l = get_local_id(0), i = get_global_id(0);
    int from = 0;
    s[0][l] = a[i];
    for (int d = 1; d < 256; d <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        s[1 - from][l] = l >= d ? s[from][l] + s[from][l - d] : s[from][l];
        from = 1 - from;
    }
    b[i] = s[from][l];
}

// time: kernel=digits global=262144 local=128 key=random(4194304) count=zeros(32768)
__kernel void digits(__global const uint *key, __global uint *count)
{
    __local uint c[16];
    const int l = get_local_id(0), g = get_group_id(0);
    if (l < 16)
        c[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++)
        atomic_inc(&c[(key[(g * 16 + i) * 128 + l] >> 4) & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        count[l * get_num_groups(0) + g] = c[l];
}

// time: kernel=march global=1024,512 local=16,8 o=zeros(524288)
__kernel void march(__global float *o)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float u = (x - 512) / 512.0f, v = (y - 256) / 512.0f, s = rsqrt(u * u + v * v + 1.0f);
    float t = 0.0f;
    for (int i = 0; i < 64; i++) {
        const float px = fabs(fmod(t * u * s + 8.5f, 1.0f) - 0.5f), py = fabs(fmod(t * v * s + 8.5f, 1.0f) - 0.5f);
        t += sqrt(px * px + py * py) - 0.1f;
    }
    o[y * 1024 + x] = t;
}

// time: kernel=julia global=2048,2048 local=32,4 o=zeros(4194304) n=60
// time: kernel=julia global=640,480 local=32,4 o=zeros(307200) n=200
__kernel void julia(__global uint *o, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    float a = 3.0f * x / w - 1.5f, b = 2.0f * y / w - 1.0f;
    uint inside = 0;
    for (int i = 0; i < n; i++) {
        const float c = a * a - b * b - 0.8f;
        b = 2.0f * a * b + 0.156f;
        a = c;
        inside += a * a + b * b < 4.0f;
    }
    o[y * w + x] = inside;
}

// time: kernel=cubic global=2048,2048 local=16,16 a=random(1048576) b=zeros(4194304) w=1024
__kernel void cubic(__global const float *a, __global float *b, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int ix = x / 2, iy = y / 2;
    const float fx = 0.5f * (x & 1), fy = 0.5f * (y & 1);
    float sum = 0.0f;
    for (int j = -1; j <= 2; j++) {
        const float dy = fabs(fy - j);
        const float wy = dy < 1 ? 1.5f * dy * dy * dy - 2.5f * dy * dy + 1 : dy < 2 ? 2 - 4 * dy + 2.5f * dy * dy - 0.5f * dy * dy * dy : 0;
        for (int i = -1; i <= 2; i++) {
            const float dx = fabs(fx - i);
            const float wx = dx < 1 ? 1.5f * dx * dx * dx - 2.5f * dx * dx + 1 : dx < 2 ? 2 - 4 * dx + 2.5f * dx * dx - 0.5f * dx * dx * dx : 0;
            sum += wx * wy * a[clamp(iy + j, 0, w - 1) * w + clamp(ix + i, 0, w - 1)];
        }
    }
    b[y * get_global_size(0) + x] = sum;
}

// time: kernel=quarter_turn global=4096,4096 local=16,16 a=random(16777216) b=zeros(16777216)
// time: kernel=quarter_turn global=4096,4096 local=128,1 a=random(16777216) b=zeros(16777216)
__kernel void quarter_turn(__global const uint *a, __global uint *b)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    b[x * h + h - 1 - y] = a[y * w + x];
}

// time: kernel=mirrored global=4096,2048 local=64,2 a=random(8388608) b=zeros(8388608)
__kernel void mirrored(__global const ushort *a, __global ushort *b)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    b[y * w + w - 1 - x] = a[y * w + x];
}

// time: kernel=sums_along_rows global=4096 local=64 a=random(4194304) s=zeros(4194304) w=1024
__kernel void sums_along_rows(__global const float *a, __global float *s, const int w)
{
    const int y = get_global_id(0);
    float sum = 0.0f;
    for (int x = 0; x < w; x++) {
        sum += a[y * w + x];
        s[y * w + x] = sum;
    }
}

// time: kernel=cosines_of_blocks global=2048,2048 local=8,8 a=random(4194304) b=zeros(4194304) m=random(64)
__kernel void cosines_of_blocks(__global const float *a, __global float *b, __constant float *m)
{
    __local float t[8][8], u[8][8];
    const int i = get_local_id(0), j = get_local_id(1), at = get_global_id(1) * get_global_size(0) + get_global_id(0);
    t[j][i] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    float s = 0.0f;
    for (int k = 0; k < 8; k++)
        s += m[j * 8 + k] * t[k][i];
    u[j][i] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0.0f;
    for (int k = 0; k < 8; k++)
        s += u[j][k] * m[i * 8 + k];
    b[at] = s;
}

// time: kernel=dots_of_four global=262144 local=256 a=random(4194304) b=random(4194304) s=zeros(1024)
__kernel void dots_of_four(__global const float4 *a, __global const float4 *b, __global float *s)
{
    __local float part[256];
    const int l = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < 4194304; i += get_global_size(0))
        sum += dot(a[i], b[i]);
    part[l] = sum;
    for (int d = 128; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            part[l] += part[l + d];
    }
    if (l == 0)
        s[get_group_id(0)] = part[0];
}

// time: kernel=sixteen_wide global=1048576 local=64 a=random(1048576) b=zeros(1048576) f=1.5
__kernel void sixteen_wide(__global const float16 *a, __global float16 *b, const float f)
{
    const int i = get_global_id(0);
    b[i] = a[i] * f;
}

// time: kernel=axes_in_turn global=256,256,128 local=32,8,1 a=random(8388608) b=zeros(8388608)
// time: kernel=axes_in_turn global=256,256,128 local=8,8,4 a=random(8388608) b=zeros(8388608)
__kernel void axes_in_turn(__global const float *a, __global float *b)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
    b[(y * nx + x) * nz + z] = a[(z * ny + y) * nx + x];
}

// time: kernel=unflattened global=4194304 local=128 a=random(4194304) b=zeros(4194304) w=331 h=77 d=13
__kernel void unflattened(__global const int *a, __global int *b, const int w, const int h, const int d)
{
    const int i = get_global_id(0);
    const int x = i % w, y = i / w % h, z = i / (w * h) % d;
    b[i] = a[i] + x * 3 + y * 5 + z * 7;
}

// time: kernel=phases global=2097152 local=128 a=random(2097152) b=zeros(2097152)
__kernel void phases(__global const float *a, __global float2 *b)
{
    const int i = get_global_id(0);
    const float t = 6.2831853f * a[i];
    b[i] = (float2)(exp(-t) * cos(t), pow(t + 1.0f, 1.3f) * atan2(t, 2.0f));
}

// time: kernel=double_heat global=2048,2048 local=32,8 a=random(4194304) b=zeros(4194304)
__kernel void double_heat(__global const double *a, __global double *b)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0), h = get_global_size(1);
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
        return;
    const int at = y * w + x;
    b[at] = 0.6 * a[at] + 0.1 * (a[at - 1] + a[at + 1] + a[at - w] + a[at + w]);
}

// time: kernel=turned_without_padding global=4096,4096 local=32,32 a=random(16777216) b=zeros(16777216)
__kernel void turned_without_padding(__global const float *a, __global float *b)
{
    __local float t[32][32];
    const int lx = get_local_id(0), ly = get_local_id(1), n = get_global_size(0);
    const int gx = get_group_id(0) * 32, gy = get_group_id(1) * 32;
    t[ly][lx] = a[(gy + ly) * n + gx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(gx + ly) * n + gy + lx] = t[lx][ly];
}

// time: kernel=few_long global=1024 local=256 a=random(4194304) b=zeros(1024) n=4096
// time: kernel=few_long global=16384 local=32 a=random(4194304) b=zeros(16384) n=256
__kernel void few_long(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0), size = get_global_size(0);
    float s = 0.0f;
    for (int k = 0; k < n; k++)
        s = fma(a[k * size + i], 0.99f, s);
    b[i] = s;
}

typedef struct {
    float4 low, high;
} Box;

// time: kernel=boxes_hit global=524288 local=128 box=zeros(256) o=random(524288) hit=zeros(524288) n=256
__kernel void boxes_hit(__global const Box *box, __global const float4 *o, __global int *hit, const int n)
{
    const int i = get_global_id(0);
    const float4 p = o[i];
    int best = 0;
    for (int k = 0; k < n; k++) {
        const float4 a = box[k].low - p, b = box[k].high - p;
        const float4 near = fmin(a, b), far = fmax(a, b);
        best += fmax(near.x, fmax(near.y, near.z)) < fmin(far.x, fmin(far.y, far.z));
    }
    hit[i] = best;
}

// time: kernel=gathered_cells global=1048576 local=128 at=permutation(1048576) c=zeros(1048576) s=zeros(1048576)
__kernel void gathered_cells(__global const int *at, __global const float4 *c, __global float *s)
{
    const int i = get_global_id(0);
    const float4 v = c[at[i]];
    s[i] = v.x + v.y + v.z + v.w;
}

// time: kernel=mixed_columns global=1048576 local=256 s=random(1048576) t=random(256) r=10
__kernel void mixed_columns(__global uint4 *s, __constant uint *t, const int r)
{
    const int i = get_global_id(0);
    uint4 v = s[i];
    for (int k = 0; k < r; k++) {
        v.x ^= t[v.y & 255];
        v.y ^= t[(v.z >> 8) & 255];
        v.z ^= t[(v.w >> 16) & 255];
        v.w ^= t[v.x >> 24];
    }
    s[i] = v;
}

// time: kernel=compressed global=262144 local=64 w=random(4194304) h=random(2097152)
__kernel void compressed(__global const uint *w, __global uint *h)
{
    const int i = get_global_id(0), n = get_global_size(0);
    uint m[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
    for (int k = 0; k < 16; k++)
        m[k] = w[k * n + i];
    for (int r = 0; r < 64; r++) {
        const uint x = m[r & 15] + rotate(m[(r + 1) & 15], 25u) + m[(r + 9) & 15];
        const uint t = d + (rotate(a, 26u) ^ rotate(a, 21u)) + ((a & b) ^ (~a & c)) + x;
        m[r & 15] = x;
        d = c;
        c = b;
        b = a;
        a = t;
    }
    h[i] = a;
    h[n + i] = b;
    h[2 * n + i] = c;
    h[3 * n + i] = d;
}

// time: kernel=columns_kept global=2048 local=128 a=random(4194304) m=zeros(2048) n=2048
__kernel void columns_kept(__global const float *a, __global float *m, const int n)
{
    const int x = get_global_id(0);
    float most = a[x];
    for (int y = 1; y < n; y++)
        most = fmax(most, a[y * n + x]);
    m[x] = most;
}

// time: kernel=neighbours_of_cells global=32768 local=64 p=random(32768) o=zeros(32768)
__kernel void neighbours_of_cells(__global const float4 *p, __global float4 *o)
{
    const int i = get_global_id(0), cell = i / 8;
    const int x = cell % 16, y = cell / 16 % 16, z = cell / 256;
    const float4 me = p[i];
    float4 sum = (float4)(0.0f);
    for (int c = 0; c < 27; c++) {
        const int nx = (x + c % 3 + 15) % 16, ny = (y + c / 3 % 3 + 15) % 16, nz = (z + c / 9 + 15) % 16;
        const int first = ((nz * 16 + ny) * 16 + nx) * 8;
        for (int j = 0; j < 8; j++) {
            const float4 d = p[first + j] - me;
            const float r = d.x * d.x + d.y * d.y + d.z * d.z;
            sum += d * native_recip(r + 0.01f);
        }
    }
    o[i] = sum;
}

// time: kernel=picked_by_class global=1048576 local=256 kind=formula(1048576,i/64%4) a=random(1048576) b=zeros(1048576)
// time: kernel=picked_by_class global=1048576 local=128 kind=formula(1048576,i%4) a=random(1048576) b=zeros(1048576)
__kernel void picked_by_class(__global const int *kind, __global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    float v = a[i];
    switch (kind[i]) {
    case 0:
        for (int k = 0; k < 32; k++)
            v = v * v + 0.1f;
        break;
    case 1:
        v = sqrt(v) * 3.0f;
        break;
    case 2:
        for (int k = 0; k < 16; k++)
            v = native_sin(v);
        break;
    default:
        v = -v;
    }
    b[i] = v;
}
