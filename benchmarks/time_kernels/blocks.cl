// Kernels over matrices, images and sets of points.

// time: kernel=product_private global=512,512 local=16,16 a=random(4194304) b=random(4194304,1) c=zeros(4194304) n=2048
// time: kernel=product_private global=256,256 local=32,8 a=random(1048576) b=random(1048576,1) c=zeros(1048576) n=1024
__kernel void product_private(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int x = 4 * get_global_id(0), y = 4 * get_global_id(1);
    float s[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            s[i][j] = 0.0f;
    for (int k = 0; k < n; k++) {
        float u[4], v[4];
        for (int i = 0; i < 4; i++) {
            u[i] = a[(y + i) * n + k];
            v[i] = b[k * n + x + i];
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                s[i][j] += u[i] * v[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(y + i) * n + x + j] = s[i][j];
}

// time: kernel=product_wide global=256,1024 local=16,16 a=random(1048576) b=random(1048576,1) c=zeros(1048576) n=1024
// time: kernel=product_wide global=128,512 local=32,4 a=random(262144) b=random(262144,1) c=zeros(262144) n=512
__kernel void product_wide(__global const float *a, __global const float4 *b, __global float4 *c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float4 s = 0.0f;
    for (int k = 0; k < n; k++)
        s += a[y * n + k] * b[k * (n / 4) + x];
    c[y * (n / 4) + x] = s;
}

// time: kernel=product_double global=1024,1024 local=32,8 a=random(1048576) b=random(1048576,1) c=zeros(1048576) n=1024
// time: kernel=product_double global=512,512 local=16,16 a=random(262144) b=random(262144,1) c=zeros(262144) n=512
__kernel void product_double(__global const double *a, __global const double *b, __global double *c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    double s = 0.0;
    for (int k = 0; k < n; k++)
        s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}

// time: kernel=rank_one global=4096,4096 local=32,8 a=random(16777216) u=random(4096) v=random(4096,1) n=4096
// time: kernel=rank_one global=1024,1024 local=64,4 a=random(1048576) u=random(1024) v=random(1024,1) n=1024
__kernel void rank_one(__global float *a, __global const float *u, __global const float *v, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    a[y * n + x] += u[y] * v[x];
}

// time: kernel=shortest_paths global=2048,2048 local=16,16 d=random(4194304) k=77 n=2048
// time: kernel=shortest_paths global=1024,1024 local=32,32 d=random(1048576) k=77 n=1024
__kernel void shortest_paths(__global float *d, const int k, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    d[y * n + x] = fmin(d[y * n + x], d[y * n + k] + d[k * n + x]);
}

// time: kernel=nearest_centre global=1048576 local=256 p=random(8388608) c=random(256) o=zeros(1048576) k=32
// time: kernel=nearest_centre global=131072 local=128 p=random(1048576) c=random(1024) o=zeros(131072) k=128
__kernel void nearest_centre(__global const float *p, __global const float *c, __global int *o, const int k)
{
    const int i = get_global_id(0), n = get_global_size(0);
    float best = 1e30f;
    int at = 0;
    for (int j = 0; j < k; j++) {
        float sum = 0.0f;
        for (int d = 0; d < 8; d++) {
            const float t = p[d * n + i] - c[j * 8 + d];
            sum += t * t;
        }
        if (sum < best) {
            best = sum;
            at = j;
        }
    }
    o[i] = at;
}

// time: kernel=blur global=4096,2048 local=32,8 a=random(8416512) b=zeros(8388608) w=4100 r=2
// time: kernel=blur global=1024,1024 local=16,16 a=random(1065024) b=zeros(1048576) w=1032 r=4
__kernel void blur(__global const float *a, __global float *b, const int w, const int r)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float s = 0.0f;
    for (int dy = 0; dy <= 2 * r; dy++)
        for (int dx = 0; dx <= 2 * r; dx++)
            s += a[(y + dy) * w + x + dx];
    b[y * get_global_size(0) + x] = s / ((2 * r + 1) * (2 * r + 1));
}

// time: kernel=grey global=8388608 local=256 a=random(8388608) b=zeros(8388608)
// time: kernel=grey global=1048576 local=64 a=random(1048576) b=zeros(1048576)
__kernel void grey(__global const uchar4 *a, __global uchar *b)
{
    const int i = get_global_id(0);
    const uchar4 v = a[i];
    b[i] = (uchar)((77 * v.x + 150 * v.y + 29 * v.z) >> 8);
}

// time: kernel=edges global=4096,4096 local=32,8 a=random(16793604) b=zeros(16777216) w=4098
// time: kernel=edges global=1024,1024 local=8,8 a=random(1052676) b=zeros(1048576) w=1026
__kernel void edges(__global const uchar *a, __global uchar *b, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int p = y * w + x;
    const int gx = a[p + 2] + 2 * a[p + w + 2] + a[p + 2 * w + 2] - a[p] - 2 * a[p + w] - a[p + 2 * w];
    const int gy = a[p + 2 * w] + 2 * a[p + 2 * w + 1] + a[p + 2 * w + 2] - a[p] - 2 * a[p + 1] - a[p + 2];
    b[y * get_global_size(0) + x] = (uchar)min((int)(abs(gx) + abs(gy)), 255);
}

// time: kernel=wave_step global=512,512 local=32,8 a=random(33554432) b=random(33554432,1) n=512 m=128 c=0.1
// time: kernel=wave_step global=256,256 local=16,16 a=random(4194304) b=random(4194304,1) n=256 m=64 c=0.1
__kernel void wave_step(__global const float *a, __global float *b, const int n, const int m, const float c)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int plane = n * n, p = y * n + x;
    float below = a[p], here = a[p + plane];
    for (int z = 1; z < m - 1; z++) {
        const int q = p + z * plane;
        const float above = a[q + plane];
        b[q] = 2.0f * here - b[q] + c * (below + above + a[q - 1] + a[q + 1] + a[q - n] + a[q + n] - 6.0f * here);
        below = here;
        here = above;
    }
}

// time: kernel=line_filter global=16777216 local=256 a=random(16777232) f=random(16) b=zeros(16777216)
// time: kernel=line_filter global=1048576 local=128 a=random(1048592) f=random(16) b=zeros(1048576)
__kernel void line_filter(__global const float *a, __constant float *f, __global float *b)
{
    const int i = get_global_id(0);
    float s = 0.0f;
    for (int k = 0; k < 16; k++)
        s += f[k] * a[i + k];
    b[i] = s;
}

// time: kernel=resize global=2048,2048 local=16,16 a=random(1052676) b=zeros(4194304) w=1026 s=0.5
// time: kernel=resize global=4096,1024 local=64,4 a=random(1052676) b=zeros(4194304) w=1026 s=0.25
__kernel void resize(__global const float *a, __global float *b, const int w, const float s)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float fx = x * s, fy = y * s;
    const int ix = (int)fx, iy = (int)fy;
    const float u = fx - ix, v = fy - iy;
    const int p = (iy & 1023) * w + ix;
    const float top = mix(a[p], a[p + 1], u), low = mix(a[p + w], a[p + w + 1], u);
    b[y * get_global_size(0) + x] = mix(top, low, v);
}

// time: kernel=butterflies global=8388608 local=256 a=random(33554432) h=1024
// time: kernel=butterflies global=524288 local=256 a=random(2097152) h=16
__kernel void butterflies(__global float2 *a, const int h)
{
    const int t = get_global_id(0);
    const int k = t & (h - 1), i = 2 * t - k;
    const float w = -3.14159265f * k / h;
    const float c = native_cos(w), s = native_sin(w);
    const float2 x = a[i], y = a[i + h];
    const float2 z = (float2)(y.x * c - y.y * s, y.x * s + y.y * c);
    a[i] = x + z;
    a[i + h] = x - z;
}

// time: kernel=row_means global=4096 local=64 a=random(4194304) b=zeros(4096) n=1024
// time: kernel=row_means global=65536 local=256 a=random(8388608) b=zeros(65536) n=128
__kernel void row_means(__global const float4 *a, __global float *b, const int n)
{
    const int r = get_global_id(0);
    float4 s = 0.0f;
    for (int k = 0; k < n / 4; k++)
        s += a[r * (n / 4) + k];
    b[r] = (s.x + s.y + s.z + s.w) / n;
}
