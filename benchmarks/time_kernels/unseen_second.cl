// A second set that nothing was fitted to: written, launched on the device, and only then predicted.

// time: kernel=saxpy_guarded global=16777216 local=256 n=16777001 a=2.5 x=random(16777001) y=random(16777001)
// time: kernel=saxpy_guarded global=100096 local=128 n=100000 a=2.5 x=random(100000) y=random(100000)
__kernel void saxpy_guarded(const int n, const float a, __global const float *x, __global float *y)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

// time: kernel=blur_rows global=2048,2048 local=32,8 a=random(4194304) b=zeros(4194304) h=random(15) w=2048 r=7
// time: kernel=blur_rows global=500,300 local=10,10 a=random(150000) b=zeros(150000) h=random(15) w=500 r=7
__kernel void blur_rows(__global const float *a, __global float *b, __constant float *h, const int w, const int r)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = -r; k <= r; k++)
        sum += h[k + r] * a[y * w + clamp(x + k, 0, w - 1)];
    b[y * w + x] = sum;
}

// time: kernel=blur_columns global=2048,2048 local=32,8 a=random(4194304) b=zeros(4194304) h=random(15) w=2048 n=2048 r=7
__kernel void blur_columns(__global const float *a, __global float *b, __constant float *h, const int w, const int n,
                           const int r)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = -r; k <= r; k++)
        sum += h[k + r] * a[clamp(y + k, 0, n - 1) * w + x];
    b[y * w + x] = sum;
}

// time: kernel=edges global=4096,2048 local=16,16 p=zeros(8388608) o=zeros(8388608) w=4096 h=2048
// time: kernel=edges global=640,480 local=8,8 p=zeros(307200) o=zeros(307200) w=640 h=480
__kernel void edges(__global const uchar *p, __global uchar *o, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1)
        return;
    const int at = y * w + x;
    const int gx = p[at - w + 1] + 2 * p[at + 1] + p[at + w + 1] - p[at - w - 1] - 2 * p[at - 1] - p[at + w - 1];
    const int gy = p[at + w - 1] + 2 * p[at + w] + p[at + w + 1] - p[at - w - 1] - 2 * p[at - w] - p[at - w + 1];
    o[at] = convert_uchar_sat(sqrt((float)(gx * gx + gy * gy)));
}

// time: kernel=bilateral global=1024,1024 local=16,16 a=random(1048576) b=zeros(1048576) w=1024 s=0.1 t=0.2
__kernel void bilateral(__global const float *a, __global float *b, const int w, const float s, const float t)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float m = a[y * w + x];
    float sum = 0.0f, weights = 0.0f;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
            const float v = a[clamp(y + j, 0, w - 1) * w + clamp(x + i, 0, w - 1)];
            const float f = exp(-s * (i * i + j * j) - t * (v - m) * (v - m));
            sum += f * v;
            weights += f;
        }
    b[y * w + x] = sum / weights;
}

// time: kernel=gray_of_rgb global=8388608 local=256 p=zeros(25165824) o=zeros(8388608)
// time: kernel=gray_of_rgb global=307200 local=64 p=zeros(921600) o=zeros(307200)
__kernel void gray_of_rgb(__global const uchar *p, __global uchar *o)
{
    const int i = get_global_id(0);
    o[i] = (uchar)(0.299f * p[3 * i] + 0.587f * p[3 * i + 1] + 0.114f * p[3 * i + 2]);
}

typedef struct {
    float x, y, z, mass;
    float u, v, w, charge;
} Particle;

// time: kernel=push_particles global=2097152 local=128 p=zeros(2097152) dt=0.01
// time: kernel=push_particles global=65536 local=64 p=zeros(65536) dt=0.01
__kernel void push_particles(__global Particle *p, const float dt)
{
    const int i = get_global_id(0);
    p[i].x += dt * p[i].u;
    p[i].y += dt * p[i].v;
    p[i].z += dt * p[i].w;
}

// time: kernel=kinetic global=1048576 local=256 p=zeros(1048576) e=zeros(1048576)
__kernel void kinetic(__global const Particle *p, __global float *e)
{
    const int i = get_global_id(0);
    const Particle q = p[i];
    e[i] = 0.5f * q.mass * (q.u * q.u + q.v * q.v + q.w * q.w);
}

#define T 16
// time: kernel=tiled_any global=1504,1504 local=16,16 a=random(2250000) b=random(2250000) c=zeros(2250000) n=1500
// time: kernel=tiled_any global=256,256 local=16,16 a=random(65536) b=random(65536) c=zeros(65536) n=256
__kernel void tiled_any(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float ta[T][T], tb[T][T];
    const int i = get_local_id(0), j = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[j][i] = y < n && t + i < n ? a[y * n + t + i] : 0.0f;
        tb[j][i] = x < n && t + j < n ? b[(t + j) * n + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < T; k++)
            sum += ta[j][k] * tb[k][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}

// time: kernel=rows_by_rows global=1024,1024 local=16,16 a=random(1048576) b=random(1048576) c=zeros(1048576) n=1024
// time: kernel=rows_by_rows global=512,512 local=64,1 a=random(262144) b=random(262144) c=zeros(262144) n=512
__kernel void rows_by_rows(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[x * n + k];
    c[y * n + x] = sum;
}

// time: kernel=doubles global=1024,1024 local=16,16 a=random(1048576) b=random(1048576) c=zeros(1048576) n=1024
__kernel void doubles(__global const double *a, __global const double *b, __global double *c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

// time: kernel=small_products global=262144 local=128 a=random(4194304) b=random(4194304) c=zeros(4194304)
// time: kernel=small_products global=16384 local=64 a=random(262144) b=random(262144) c=zeros(262144)
__kernel void small_products(__global const float *a, __global const float *b, __global float *c)
{
    const int m = get_global_id(0) * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++)
                sum += a[m + 4 * i + k] * b[m + 4 * k + j];
            c[m + 4 * i + j] = sum;
        }
}

// time: kernel=ell_rows global=262144 local=128 v=random(8388608) at=formula(8388608,(i*37+i/262144)%262144) x=random(262144) y=zeros(262144) n=262144 width=32
// time: kernel=ell_rows global=16384 local=64 v=random(262144) at=formula(262144,(i*37+i/16384)%16384) x=random(16384) y=zeros(16384) n=16384 width=16
__kernel void ell_rows(__global const float *v, __global const int *at, __global const float *x, __global float *y,
                       const int n, const int width)
{
    const int row = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < width; k++)
        sum += v[k * n + row] * x[at[k * n + row]];
    y[row] = sum;
}

// time: kernel=counts_global global=4194304 local=256 p=random(4194304) bins=zeros(256)
// time: kernel=counts_global global=131072 local=64 p=random(131072) bins=zeros(256)
__kernel void counts_global(__global const uchar *p, __global uint *bins)
{
    atomic_inc(&bins[p[get_global_id(0)]]);
}

// time: kernel=counts_local global=262144 local=256 p=random(16777216) bins=zeros(256) n=16777216
// time: kernel=counts_local global=16384 local=128 p=random(1048576) bins=zeros(256) n=1048576
__kernel void counts_local(__global const uchar *p, __global uint *bins, const int n)
{
    __local uint mine[256];
    for (int k = get_local_id(0); k < 256; k += get_local_size(0))
        mine[k] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[p[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_id(0); k < 256; k += get_local_size(0))
        atomic_add(&bins[k], mine[k]);
}

// time: kernel=scan_group global=4194304 local=256 a=random(4194304) b=zeros(4194304)
// time: kernel=scan_group global=65536 local=128 a=random(65536) b=zeros(65536)
__kernel void scan_group(__global const float *a, __global float *b)
{
    __local float s[256];
    const int l = get_local_id(0), n = get_local_size(0);
    s[l] = a[get_global_id(0)];
    for (int d = 1; d < n; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float v = l >= d ? s[l - d] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[l] += v;
    }
    b[get_global_id(0)] = s[l];
}

// time: kernel=sum_strided_grid global=135168 local=256 a=random(16777216) o=zeros(528) n=16777216
// time: kernel=sum_strided_grid global=16384 local=256 a=random(1048576) o=zeros(64) n=1048576
__kernel void sum_strided_grid(__global const float *a, __global float *o, const int n)
{
    __local float s[256];
    const int l = get_local_id(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += a[i];
    s[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = get_local_size(0) >> 1; d > 0; d >>= 1) {
        if (l < d)
            s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        o[get_group_id(0)] = s[0];
}

// time: kernel=softmax_rows global=1048576 local=256 a=random(4194304) o=zeros(4194304) n=1024
// time: kernel=softmax_rows global=32768 local=128 a=random(262144) o=zeros(262144) n=1024
__kernel void softmax_rows(__global const float *a, __global float *o, const int n)
{
    __local float s[256];
    const int l = get_local_id(0), w = get_local_size(0), row = get_group_id(0);
    float high = -1e30f;
    for (int k = l; k < n; k += w)
        high = fmax(high, a[row * n + k]);
    s[l] = high;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = w / 2; d > 0; d /= 2) {
        if (l < d)
            s[l] = fmax(s[l], s[l + d]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    high = s[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = l; k < n; k += w)
        sum += exp(a[row * n + k] - high);
    s[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = w / 2; d > 0; d /= 2) {
        if (l < d)
            s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = l; k < n; k += w)
        o[row * n + k] = exp(a[row * n + k] - high) / s[0];
}

// time: kernel=normalised_rows global=16384 local=64 a=random(8388608) o=zeros(8388608) n=512
// time: kernel=normalised_rows global=2048 local=32 a=random(524288) o=zeros(524288) n=256
__kernel void normalised_rows(__global const float *a, __global float *o, const int n)
{
    const int row = get_global_id(0);
    float sum = 0.0f, squares = 0.0f;
    for (int k = 0; k < n; k++) {
        const float v = a[row * n + k];
        sum += v;
        squares += v * v;
    }
    const float mean = sum / n, f = rsqrt(squares / n - mean * mean + 1e-5f);
    for (int k = 0; k < n; k++)
        o[row * n + k] = (a[row * n + k] - mean) * f;
}

// time: kernel=max_pool global=512,512,16 local=16,16,1 a=random(16777216) o=zeros(4194304) w=512 h=512
// time: kernel=max_pool global=56,56,64 local=8,8,1 a=random(802816) o=zeros(200704) w=56 h=56
__kernel void max_pool(__global const float *a, __global float *o, const int w, const int h)
{
    const int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2);
    __global const float *p = a + c * 4 * w * h + 4 * y * w + 2 * x;
    o[(c * h + y) * w + x] = fmax(fmax(p[0], p[1]), fmax(p[2 * w], p[2 * w + 1]));
}

// time: kernel=channels global=224,224,32 local=16,16,1 a=random(817216) f=random(4608) o=zeros(1605632) w=224 c=16
// time: kernel=channels global=64,64,16 local=32,4,1 a=random(69696) f=random(2304) o=zeros(65536) w=64 c=16
__kernel void channels(__global const float *a, __global const float *f, __global float *o, const int w, const int c)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), p = w + 2;
    float sum = 0.0f;
    for (int k = 0; k < c; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                sum += a[(k * p + y + j) * p + x + i] * f[((z * c + k) * 3 + j) * 3 + i];
    o[(z * w + y) * w + x] = sum;
}

// time: kernel=columns_of_image global=1048576 local=256 a=random(1065024) o=zeros(9437184) w=1024
__kernel void columns_of_image(__global const float *a, __global float *o, const int w)
{
    const int at = get_global_id(0), y = at / w, x = at % w;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            o[at * 9 + j * 3 + i] = a[(y + j) * (w + 8) + x + i];
}

// time: kernel=leap_frog global=2048,2048 local=32,8 e=random(4194304) hx=random(4194304) hy=random(4194304) w=2048 f=0.5
// time: kernel=leap_frog global=256,256 local=16,16 e=random(65536) hx=random(65536) hy=random(65536) w=256 f=0.5
__kernel void leap_frog(__global float *e, __global const float *hx, __global const float *hy, const int w,
                        const float f)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0)
        e[y * w + x] += f * (hy[y * w + x] - hy[y * w + x - 1] - hx[y * w + x] + hx[(y - 1) * w + x]);
}

// time: kernel=cube_of_27 global=192,192,192 local=32,4,2 a=random(7301384) b=zeros(7301384) w=194
// time: kernel=cube_of_27 global=64,64,64 local=8,8,4 a=random(287496) b=zeros(287496) w=66
__kernel void cube_of_27(__global const float *a, __global float *b, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    float sum = 0.0f;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                sum += a[((z + k) * w + y + j) * w + x + i];
    b[((z + 1) * w + y + 1) * w + x + 1] = sum / 27.0f;
}

// time: kernel=option_prices global=4194304 local=256 s=random(4194304) k=random(4194304) t=random(4194304) call=zeros(4194304) put=zeros(4194304)
// time: kernel=option_prices global=65536 local=64 s=random(65536) k=random(65536) t=random(65536) call=zeros(65536) put=zeros(65536)
float normal(const float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    const float c = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float n = 0.39894228f * exp(-0.5f * d * d) * c;
    return d > 0.0f ? 1.0f - n : n;
}

__kernel void option_prices(__global const float *s, __global const float *k, __global const float *t,
                            __global float *call, __global float *put)
{
    const int i = get_global_id(0);
    const float x = 1.0f + s[i], y = 1.0f + k[i], years = 0.25f + t[i], r = sqrt(years);
    const float d = (log(x / y) + 0.065f * years) / (0.3f * r), later = y * exp(-0.02f * years);
    const float price = x * normal(d) - later * normal(d - 0.3f * r);
    call[i] = price;
    put[i] = price + later - x;
}

// time: kernel=darts global=262144 local=256 o=zeros(262144) n=512
// time: kernel=darts global=8192 local=64 o=zeros(8192) n=512
__kernel void darts(__global uint *o, const int n)
{
    uint s = get_global_id(0) * 747796405u + 2891336453u, hits = 0;
    for (int k = 0; k < n; k++) {
        s = s * 1664525u + 1013904223u;
        const float x = (float)(s >> 8) * (1.0f / 16777216.0f);
        s = s * 1664525u + 1013904223u;
        const float y = (float)(s >> 8) * (1.0f / 16777216.0f);
        hits += x * x + y * y < 1.0f;
    }
    o[get_global_id(0)] = hits;
}

// time: kernel=escape_fixed global=1024,1024 local=16,16 o=zeros(1048576) n=200
__kernel void escape_fixed(__global float *o, const int n)
{
    const float a = get_global_id(0) * 0.003f - 2.0f, b = get_global_id(1) * 0.002f - 1.0f;
    float x = 0.0f, y = 0.0f;
    for (int k = 0; k < n; k++) {
        const float t = x * x - y * y + a;
        y = clamp(2.0f * x * y + b, -4.0f, 4.0f);
        x = clamp(t, -4.0f, 4.0f);
    }
    o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = x * x + y * y;
}

// time: kernel=exchange global=4194304 local=256 a=random(8388608) stage=64
// time: kernel=exchange global=4194304 local=256 a=random(8388608) stage=1
__kernel void exchange(__global int *a, const int stage)
{
    const int i = get_global_id(0), at = 2 * i - (i & (stage - 1));
    const int x = a[at], y = a[at + stage];
    if ((x > y) == ((i & (stage << 1)) == 0)) {
        a[at] = y;
        a[at + stage] = x;
    }
}

// time: kernel=butterflies global=2097152 local=128 a=random(4194304) h=512
// time: kernel=butterflies global=2097152 local=128 a=random(4194304) h=2
__kernel void butterflies(__global float2 *a, const int h)
{
    const int i = get_global_id(0), k = i & (h - 1), at = 2 * i - k;
    const float angle = -3.14159265f * k / h, c = native_cos(angle), s = native_sin(angle);
    const float2 x = a[at], y = a[at + h];
    const float2 t = (float2)(c * y.x - s * y.y, c * y.y + s * y.x);
    a[at] = x + t;
    a[at + h] = x - t;
}

// time: kernel=bodies_by_tiles global=32768 local=256 p=random(32768) f=zeros(32768) n=32768
// time: kernel=bodies_by_tiles global=4096 local=128 p=random(4096) f=zeros(4096) n=4096
__kernel void bodies_by_tiles(__global const float4 *p, __global float4 *f, const int n)
{
    __local float4 tile[256];
    const int l = get_local_id(0), w = get_local_size(0);
    const float4 me = p[get_global_id(0)];
    float4 sum = (float4)(0.0f);
    for (int t = 0; t < n; t += w) {
        tile[l] = p[t + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < w; k++) {
            const float4 d = tile[k] - me;
            const float r = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            sum += d * (tile[k].w * r * r * r);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    f[get_global_id(0)] = sum;
}

// time: kernel=nearest_of_few global=1048576 local=256 a=random(16777216) c=random(256) o=zeros(1048576) n=1048576 d=16 k=16
// time: kernel=nearest_of_few global=65536 local=64 a=random(524288) c=random(64) o=zeros(65536) n=65536 d=8 k=8
__kernel void nearest_of_few(__global const float *a, __constant float *c, __global int *o, const int n, const int d,
                             const int k)
{
    const int i = get_global_id(0);
    float best = 1e30f;
    int which = 0;
    for (int j = 0; j < k; j++) {
        float sum = 0.0f;
        for (int m = 0; m < d; m++) {
            const float t = a[m * n + i] - c[j * d + m];
            sum += t * t;
        }
        which = sum < best ? j : which;
        best = fmin(sum, best);
    }
    o[i] = which;
}

// time: kernel=picked global=4194304 local=256 at=formula(4194304,(i*7919)%4194304) a=random(4194304) o=zeros(4194304)
// time: kernel=picked global=4194304 local=256 at=formula(4194304,i-i%32+(i*5)%32) a=random(4194304) o=zeros(4194304)
__kernel void picked(__global const int *at, __global const float *a, __global float *o)
{
    const int i = get_global_id(0);
    o[i] = a[at[i]];
}

// time: kernel=placed global=4194304 local=256 at=formula(4194304,(i*7919)%4194304) a=random(4194304) o=zeros(4194304)
__kernel void placed(__global const int *at, __global const float *a, __global float *o)
{
    const int i = get_global_id(0);
    o[at[i]] = a[i];
}

// time: kernel=turned_bytes global=4096,4096 local=16,16 a=zeros(16777216) b=zeros(16777216) w=4096
__kernel void turned_bytes(__global const uchar *a, __global uchar *b, const int w)
{
    b[get_global_id(0) * w + get_global_id(1)] = a[get_global_id(1) * w + get_global_id(0)];
}

// time: kernel=table_rounds global=1048576 local=256 a=random(1048576) table=random(1024) o=zeros(1048576)
__kernel void table_rounds(__global const uint *a, __global const uint *table, __global uint *o)
{
    __local uint t[1024];
    for (int k = get_local_id(0); k < 1024; k += get_local_size(0))
        t[k] = table[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint s = get_global_id(0) * 2654435761u;
    for (int r = 0; r < 10; r++)
        s = t[(s + r) & 255] ^ t[256 + ((s >> 8) & 255)] ^ t[512 + ((s >> 16) & 255)] ^ t[768 + (s >> 24)];
    o[get_global_id(0)] = s ^ a[get_global_id(0)];
}

// time: kernel=mixed_words global=1048576 local=256 a=random(1048576) o=zeros(1048576)
// time: kernel=mixed_words global=16384 local=64 a=random(16384) o=zeros(16384)
__kernel void mixed_words(__global const uint *a, __global uint *o)
{
    uint x = a[get_global_id(0)], y = 0x67452301u, z = 0xefcdab89u;
    for (int r = 0; r < 64; r++) {
        const uint t = rotate(x, 7u) + ((y & z) | (~y & x)) + 0x5a827999u + r;
        x = y;
        y = rotate(z, 30u);
        z = t;
    }
    o[get_global_id(0)] = x ^ y ^ z;
}

// time: kernel=halves global=8388608 local=256 a=zeros(8388608) o=zeros(8388608) f=1.5
__kernel void halves(__global const half *a, __global float *o, const float f)
{
    const int i = get_global_id(0);
    o[i] = f * vload_half(i, a);
}

// time: kernel=enlarged global=2048,2048 local=16,16 a=random(1050625) o=zeros(4194304) w=2048 s=0.5
__kernel void enlarged(__global const float *a, __global float *o, const int w, const float s)
{
    const int x = get_global_id(0), y = get_global_id(1), p = w / 2 + 1;
    const float u = x * s, v = y * s;
    const int i = (int)u, j = (int)v;
    const float fx = u - i, fy = v - j;
    const float top = mix(a[j * p + i], a[j * p + i + 1], fx), low = mix(a[j * p + p + i], a[j * p + p + i + 1], fx);
    o[y * w + x] = mix(top, low, fy);
}

// time: kernel=running_columns global=4096 local=64 a=random(4194304) n=1024 w=4096
// time: kernel=running_columns global=32768 local=128 a=random(8388608) n=256 w=32768
__kernel void running_columns(__global float *a, const int n, const int w)
{
    const int x = get_global_id(0);
    float sum = 0.0f;
    for (int y = 0; y < n; y++) {
        sum += a[y * w + x];
        a[y * w + x] = sum;
    }
}

// time: kernel=every_33rd global=1048576 local=256 a=random(34603008) o=zeros(1048576) s=33
// time: kernel=every_33rd global=1048576 local=256 a=random(34603008) o=zeros(1048576) s=3
__kernel void every_33rd(__global const float *a, __global float *o, const int s)
{
    const int i = get_global_id(0);
    o[i] = a[i * s];
}

// time: kernel=wave_in_depth global=512,512 local=32,8 a=random(70778880) b=zeros(70778880) w=520 n=256
__kernel void wave_in_depth(__global const float *a, __global float *b, const int w, const int n)
{
    const int x = get_global_id(0) + 4, y = get_global_id(1) + 4, plane = w * w;
    int at = y * w + x + plane;
    float below = a[at - plane], here = a[at];
    for (int z = 1; z < n - 1; z++) {
        const float above = a[at + plane];
        b[at] = 0.1f * (a[at - 2] + a[at - 1] + a[at + 1] + a[at + 2] + a[at - 2 * w] + a[at - w] + a[at + w] +
                        a[at + 2 * w] + below + above) - here;
        below = here;
        here = above;
        at += plane;
    }
}

// time: kernel=spheres global=1024,1024 local=16,16 s=random(64) o=zeros(1048576) n=64
// time: kernel=spheres global=320,240 local=8,8 s=random(64) o=zeros(76800) n=64
__kernel void spheres(__constant float4 *s, __global float *o, const int n)
{
    const float3 d = normalize((float3)(get_global_id(0) * 0.001f - 0.5f, get_global_id(1) * 0.001f - 0.5f, 1.0f));
    float near = 1e30f;
    for (int k = 0; k < n; k++) {
        const float3 c = s[k].xyz;
        const float b = dot(d, c), q = b * b - dot(c, c) + s[k].w;
        const float t = b - sqrt(fmax(q, 0.0f));
        near = q > 0.0f && t > 0.0f ? fmin(near, t) : near;
    }
    o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = near;
}

// time: kernel=triangle_rows global=4096 local=64 a=random(16777216) x=random(4096) y=zeros(4096) n=4096
// time: kernel=triangle_rows global=1024 local=32 a=random(1048576) x=random(1024) y=zeros(1024) n=1024
__kernel void triangle_rows(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k <= i; k++)
        sum += a[i * n + k] * x[k];
    y[i] = sum;
}
