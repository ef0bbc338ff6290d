// Kernels that nothing was fitted to: written, launched on the device, and only then predicted.

// time: kernel=complex_product global=8388608 local=256 a=random(16777216) b=random(16777216) c=zeros(16777216)
// time: kernel=complex_product global=262144 local=64 a=random(524288) b=random(524288) c=zeros(524288)
__kernel void complex_product(__global const float2 *a, __global const float2 *b, __global float2 *c)
{
    const int i = get_global_id(0);
    const float2 x = a[i], y = b[i];
    c[i] = (float2)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}

// time: kernel=row_dots global=524288 local=128 a=random(4194304) x=random(1024) y=zeros(4096) n=1024
// time: kernel=row_dots global=16384 local=64 a=random(1048576) x=random(4096) y=zeros(256) n=4096
__kernel void row_dots(__global const float *a, __global const float *x, __global float *y, const int n)
{
    __local float part[256];
    const int l = get_local_id(0), row = get_group_id(0), w = get_local_size(0);
    float sum = 0.0f;
    for (int k = l; k < n; k += w)
        sum += a[row * n + k] * x[k];
    part[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = w / 2; d > 0; d /= 2) {
        if (l < d)
            part[l] += part[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        y[row] = part[0];
}

// time: kernel=heat_3d global=256,256,256 local=32,4,2 a=random(17173512) b=zeros(17173512) w=258 c=0.1
// time: kernel=heat_3d global=64,64,64 local=16,4,4 a=random(287496) b=zeros(287496) w=66 c=0.1
__kernel void heat_3d(__global const float *a, __global float *b, const int w, const float c)
{
    const int x = get_global_id(0) + 1, y = get_global_id(1) + 1, z = get_global_id(2) + 1;
    const int at = (z * w + y) * w + x;
    const float m = a[at];
    b[at] = m + c * (a[at - 1] + a[at + 1] + a[at - w] + a[at + w] + a[at - w * w] + a[at + w * w] - 6.0f * m);
}

// time: kernel=brightness global=4194304 local=256 p=zeros(16777216) o=zeros(4194304)
// time: kernel=brightness global=131072 local=32 p=zeros(524288) o=zeros(131072)
__kernel void brightness(__global const uchar4 *p, __global float *o)
{
    const int i = get_global_id(0);
    const float4 c = convert_float4(p[i]) / 255.0f;
    const float high = fmax(c.x, fmax(c.y, c.z)), low = fmin(c.x, fmin(c.y, c.z));
    o[i] = 0.5f * (high + low) + (high - low) * c.w;
}

// time: kernel=median_of_nine global=2048,2048 local=16,16 a=random(4210704) b=zeros(4210704) w=2052
// time: kernel=median_of_nine global=512,512 local=32,8 a=random(266256) b=zeros(266256) w=516
__kernel void median_of_nine(__global const float *a, __global float *b, const int w)
{
    const int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    float v[9];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            v[j * 3 + i] = a[(y + j - 1) * w + x + i - 1];
    for (int pass = 0; pass < 5; pass++)
        for (int k = pass; k < 8 - pass; k++) {
            const float low = fmin(v[pass], v[k + 1]);
            v[k + 1] = fmax(v[pass], v[k + 1]);
            v[pass] = low;
        }
    b[y * w + x] = v[4];
}

// time: kernel=digit_counts global=262144 local=128 a=formula(8388608,(i*7919)%65536) b=zeros(4194304) n=32
// time: kernel=digit_counts global=33792 local=64 a=formula(4325376,(i*7919)%65536) b=zeros(540672) n=128
__kernel void digit_counts(__global const int *a, __global int *b, const int n)
{
    const int i = get_global_id(0), all = get_global_size(0);
    int counts[16];
    for (int k = 0; k < 16; k++)
        counts[k] = 0;
    for (int k = 0; k < n; k++)
        counts[(a[k * all + i] >> 4) & 15]++;
    for (int k = 0; k < 16; k++)
        b[k * all + i] = counts[k];
}

// time: kernel=tree_scan global=2097152 local=256 a=random(4194304) b=zeros(4194304)
// time: kernel=tree_scan global=65536 local=64 a=random(131072) b=zeros(131072)
__kernel void tree_scan(__global const float *a, __global float *b)
{
    __local float t[512];
    const int l = get_local_id(0), w = get_local_size(0), n = 2 * w, base = get_group_id(0) * n;
    t[2 * l] = a[base + 2 * l];
    t[2 * l + 1] = a[base + 2 * l + 1];
    int step = 1;
    for (int d = w; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[step * (2 * l + 2) - 1] += t[step * (2 * l + 1) - 1];
        step *= 2;
    }
    if (l == 0)
        t[n - 1] = 0.0f;
    for (int d = 1; d < n; d *= 2) {
        step >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            const float x = t[step * (2 * l + 1) - 1];
            t[step * (2 * l + 1) - 1] = t[step * (2 * l + 2) - 1];
            t[step * (2 * l + 2) - 1] += x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    b[base + 2 * l] = t[2 * l];
    b[base + 2 * l + 1] = t[2 * l + 1];
}

// time: kernel=columns_times global=8192 local=128 a=random(16777216) x=random(2048) y=zeros(8192) n=2048
// time: kernel=columns_times global=65536 local=256 a=random(33554432) x=random(512) y=zeros(65536) n=512
__kernel void columns_times(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int column = get_global_id(0), width = get_global_size(0);
    float sum = 0.0f;
    for (int row = 0; row < n; row++)
        sum += a[row * width + column] * x[row];
    y[column] = sum;
}

// time: kernel=lattice global=1024,1024 local=64,2 f=random(9437184) g=zeros(9437184) w=1024 h=1024 omega=1.2
// time: kernel=lattice global=256,256 local=32,4 f=random(589824) g=zeros(589824) w=256 h=256 omega=1.2
__kernel void lattice(__global const float *f, __global float *g, const int w, const int h, const float omega)
{
    const int x = get_global_id(0), y = get_global_id(1), n = w * h;
    const int left = (x + w - 1) % w, right = (x + 1) % w, down = (y + h - 1) % h, up = (y + 1) % h;
    const float f0 = f[y * w + x];
    const float f1 = f[n + y * w + left], f2 = f[2 * n + down * w + x];
    const float f3 = f[3 * n + y * w + right], f4 = f[4 * n + up * w + x];
    const float f5 = f[5 * n + down * w + left], f6 = f[6 * n + down * w + right];
    const float f7 = f[7 * n + up * w + right], f8 = f[8 * n + up * w + left];
    const float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    const float u = (f1 - f3 + f5 - f6 - f7 + f8) / rho, v = (f2 - f4 + f5 + f6 - f7 - f8) / rho;
    const float s = 1.0f - 1.5f * (u * u + v * v);
    const int at = y * w + x;
    g[at] = f0 + omega * (rho * 0.444444f * s - f0);
    g[n + at] = f1 + omega * (rho * 0.111111f * (s + 3.0f * u + 4.5f * u * u) - f1);
    g[2 * n + at] = f2 + omega * (rho * 0.111111f * (s + 3.0f * v + 4.5f * v * v) - f2);
    g[3 * n + at] = f3 + omega * (rho * 0.111111f * (s - 3.0f * u + 4.5f * u * u) - f3);
    g[4 * n + at] = f4 + omega * (rho * 0.111111f * (s - 3.0f * v + 4.5f * v * v) - f4);
    g[5 * n + at] = f5 + omega * (rho * 0.027778f * (s + 3.0f * (u + v) + 4.5f * (u + v) * (u + v)) - f5);
    g[6 * n + at] = f6 + omega * (rho * 0.027778f * (s + 3.0f * (v - u) + 4.5f * (v - u) * (v - u)) - f6);
    g[7 * n + at] = f7 + omega * (rho * 0.027778f * (s - 3.0f * (u + v) + 4.5f * (u + v) * (u + v)) - f7);
    g[8 * n + at] = f8 + omega * (rho * 0.027778f * (s + 3.0f * (u - v) + 4.5f * (u - v) * (u - v)) - f8);
}

// time: kernel=taps global=4194304 local=256 a=random(4194368) h=random(64) b=zeros(4194304)
// time: kernel=taps global=131072 local=128 a=random(131136) h=random(64) b=zeros(131072)
__kernel void taps(__global const float *a, __constant float *h, __global float *b)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum += a[i + k] * h[k];
    b[i] = sum;
}

// time: kernel=turned global=2048,2048 local=16,16 a=random(4194304) b=zeros(4194304) w=2048 c=0.8 s=0.6
// time: kernel=turned global=512,512 local=32,8 a=random(262144) b=zeros(262144) w=512 c=0.28 s=0.96
__kernel void turned(__global const float *a, __global float *b, const int w, const float c, const float s)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float dx = x - 0.5f * w, dy = y - 0.5f * w;
    const int u = (int)(c * dx - s * dy + 0.5f * w), v = (int)(s * dx + c * dy + 0.5f * w);
    float found = 0.0f;
    if (u >= 0 && u < w && v >= 0 && v < w)
        found = a[v * w + u];
    b[y * w + x] = found;
}

// time: kernel=tile_edges global=2048,2048 local=16,16 a=random(4202500) b=zeros(4194304) w=2050
// time: kernel=tile_edges global=512,512 local=16,8 a=random(264196) b=zeros(262144) w=514
__kernel void tile_edges(__global const float *a, __global float *b, const int w)
{
    __local float t[18][18];
    const int lx = get_local_id(0), ly = get_local_id(1), wx = get_local_size(0), wy = get_local_size(1);
    const int x0 = get_group_id(0) * wx, y0 = get_group_id(1) * wy;
    for (int y = ly; y < wy + 2; y += wy)
        for (int x = lx; x < wx + 2; x += wx)
            t[y][x] = a[(y0 + y) * w + x0 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float gx = t[ly][lx + 2] - t[ly][lx] + 2.0f * (t[ly + 1][lx + 2] - t[ly + 1][lx])
        + t[ly + 2][lx + 2] - t[ly + 2][lx];
    const float gy = t[ly + 2][lx] - t[ly][lx] + 2.0f * (t[ly + 2][lx + 1] - t[ly][lx + 1])
        + t[ly + 2][lx + 2] - t[ly][lx + 2];
    b[(y0 + ly) * get_global_size(0) + x0 + lx] = sqrt(gx * gx + gy * gy);
}

// time: kernel=inside_circle global=262144 local=256 o=zeros(262144) n=1024
// time: kernel=inside_circle global=16384 local=64 o=zeros(16384) n=4096
__kernel void inside_circle(__global int *o, const int n)
{
    uint s = get_global_id(0) * 747796405u + 2891336453u;
    int hits = 0;
    for (int k = 0; k < n; k++) {
        s = s * 1664525u + 1013904223u;
        const float x = (s >> 8) * 5.9604645e-8f;
        s = s * 1664525u + 1013904223u;
        const float y = (s >> 8) * 5.9604645e-8f;
        hits += x * x + y * y < 1.0f;
    }
    o[get_global_id(0)] = hits;
}

// time: kernel=generations global=4096,1024 local=64,4 a=zeros(4202508) b=zeros(4202508) w=4098
// time: kernel=generations global=512,512 local=16,16 a=zeros(264196) b=zeros(264196) w=514
__kernel void generations(__global const uchar *a, __global uchar *b, const int w)
{
    const int at = (get_global_id(1) + 1) * w + get_global_id(0) + 1;
    const int around = a[at - w - 1] + a[at - w] + a[at - w + 1] + a[at - 1] + a[at + 1] + a[at + w - 1]
        + a[at + w] + a[at + w + 1];
    b[at] = around == 3 || (around == 2 && a[at]);
}

// time: kernel=search_sorted global=1048576 local=256 t=iota(1048576) q=formula(1048576,(i*7919)%1048576) o=zeros(1048576) n=1048576
// time: kernel=search_sorted global=65536 local=128 t=iota(16384) q=formula(65536,(i*7919)%16384) o=zeros(65536) n=16384
__kernel void search_sorted(__global const int *t, __global const int *q, __global int *o, const int n)
{
    const int key = q[get_global_id(0)];
    int low = 0;
    for (int step = n / 2; step > 0; step /= 2)
        if (t[low + step] <= key)
            low += step;
    o[get_global_id(0)] = low;
}

// time: kernel=line_ends global=1048576 local=256 text=zeros(16777216) o=zeros(1048576)
// time: kernel=line_ends global=65536 local=64 text=zeros(1048576) o=zeros(65536)
__kernel void line_ends(__global const char *text, __global int *o)
{
    const int i = get_global_id(0);
    const char16 c = vload16(i, text);
    int n = 0;
    const char16 m = c == (char16)(10);
    n -= m.s0 + m.s1 + m.s2 + m.s3 + m.s4 + m.s5 + m.s6 + m.s7;
    n -= m.s8 + m.s9 + m.sa + m.sb + m.sc + m.sd + m.se + m.sf;
    o[i] = n;
}

// time: kernel=moved_points global=4194304 local=256 p=random(16777216) o=zeros(16777216) m=random(16)
// time: kernel=moved_points global=131072 local=64 p=random(524288) o=zeros(524288) m=random(16)
__kernel void moved_points(__global const float4 *p, __global float4 *o, __constant float4 *m)
{
    const int i = get_global_id(0);
    const float4 v = p[i];
    o[i] = (float4)(dot(m[0], v), dot(m[1], v), dot(m[2], v), dot(m[3], v));
}

// time: kernel=distances global=2048,2048 local=16,16 a=random(65536) b=random(65536) o=zeros(4194304) n=2048 d=32
// time: kernel=distances global=512,512 local=32,8 a=random(65536) b=random(65536) o=zeros(262144) n=512 d=128
__kernel void distances(__global const float *a, __global const float *b, __global float *o, const int n,
    const int d)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < d; k++) {
        const float e = a[y * d + k] - b[k * n + x];
        sum += e * e;
    }
    o[y * n + x] = sqrt(sum);
}

// time: kernel=kept_above global=4194304 local=256 a=random(4194304) o=zeros(4194304) count=zeros(1) limit=0.99
// time: kernel=kept_above global=1048576 local=64 a=random(1048576) o=zeros(1048576) count=zeros(1) limit=0.9
__kernel void kept_above(__global const float *a, __global float *o, __global int *count, const float limit)
{
    const int i = get_global_id(0);
    if (a[i] > limit)
        o[atomic_inc(count) & (get_global_size(0) - 1)] = a[i];
}

// time: kernel=eroded global=4194304 local=256 a=random(4194336) b=zeros(4194304)
// time: kernel=eroded global=131072 local=128 a=random(131104) b=zeros(131072)
__kernel void eroded(__global const float *a, __global float *b)
{
    __local float t[288];
    const int l = get_local_id(0), w = get_local_size(0), i = get_global_id(0);
    t[l] = a[i];
    if (l < 32)
        t[w + l] = a[i + w];
    barrier(CLK_LOCAL_MEM_FENCE);
    float low = t[l];
    for (int k = 1; k < 33; k++)
        low = fmin(low, t[l + k]);
    b[i] = low;
}

// time: kernel=reversed_axes global=128,256,512 local=32,8,1 a=random(16777216) b=zeros(16777216)
// time: kernel=reversed_axes global=64,64,64 local=16,16,1 a=random(262144) b=zeros(262144)
__kernel void reversed_axes(__global const float *a, __global float *b)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int nx = get_global_size(0), ny = get_global_size(1), nz = get_global_size(2);
    b[(x * ny + y) * nz + z] = a[(z * ny + y) * nx + x];
}

// time: kernel=axpy_every global=2097152 local=256 x=random(8388608) y=random(8388608) s=4 f=1.5
// time: kernel=axpy_every global=4194304 local=128 x=random(4194304) y=random(4194304) s=1 f=1.5
__kernel void axpy_every(__global const double *x, __global double *y, const int s, const double f)
{
    const int i = get_global_id(0) * s;
    y[i] += f * x[i];
}

// time: kernel=row_best global=16384 local=128 a=random(4194304) o=zeros(16384) n=256
// time: kernel=row_best global=4096 local=64 a=random(8388608) o=zeros(4096) n=2048
__kernel void row_best(__global const float *a, __global int *o, const int n)
{
    const int row = get_global_id(0);
    float best = a[row * n];
    int at = 0;
    for (int k = 1; k < n; k++)
        if (a[row * n + k] > best) {
            best = a[row * n + k];
            at = k;
        }
    o[row] = at;
}

// time: kernel=string_hashes global=131072 local=128 a=zeros(8388608) o=zeros(131072) n=64
// time: kernel=string_hashes global=16384 local=256 a=zeros(4194304) o=zeros(16384) n=256
__kernel void string_hashes(__global const uchar *a, __global uint *o, const int n)
{
    const int i = get_global_id(0);
    uint h = 5381u;
    for (int k = 0; k < n; k++)
        h = h * 33u ^ a[i * n + k];
    o[i] = h;
}

// time: kernel=twice_as_large global=4096,2048 local=32,8 a=random(2097152) b=zeros(8388608) w=2048
// time: kernel=twice_as_large global=512,512 local=16,16 a=random(65536) b=zeros(262144) w=256
__kernel void twice_as_large(__global const float *a, __global float *b, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[y * 2 * w + x] = a[(y / 2) * w + x / 2];
}

// time: kernel=block_product global=256,256 local=16,16 a=random(1048576) b=random(1048576) c=zeros(1048576) n=1024
// time: kernel=block_product global=128,128 local=16,16 a=random(262144) b=random(262144) c=zeros(262144) n=512
__kernel void block_product(__global const float *a, __global const float *b, __global float *c, const int n)
{
    __local float ta[16][64], tb[16][64];
    const int lx = get_local_id(0), ly = get_local_id(1), l = ly * 16 + lx;
    const int x0 = get_group_id(0) * 64, y0 = get_group_id(1) * 64;
    float s[4][4];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            s[j][i] = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int e = l; e < 1024; e += 256) {
            ta[e % 16][e / 16] = a[(y0 + e / 16) * n + k0 + e % 16];
            tb[e / 64][e % 64] = b[(k0 + e / 64) * n + x0 + e % 64];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < 4; i++)
                    s[j][i] += ta[k][ly * 4 + j] * tb[k][lx + 16 * i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            c[(y0 + ly * 4 + j) * n + x0 + lx + 16 * i] = s[j][i];
}

// time: kernel=column_sums global=4096 local=256 a=random(8388608) o=zeros(4096) n=2048
// time: kernel=column_sums global=1024 local=32 a=random(4194304) o=zeros(1024) n=4096
__kernel void column_sums(__global const float *a, __global float *o, const int n)
{
    const int x = get_global_id(0), w = get_global_size(0);
    float sum = 0.0f;
    for (int y = 0; y < n; y++)
        sum += a[y * w + x];
    o[x] = sum;
}

// time: kernel=bit_reversed global=4194304 local=256 a=random(4194304) b=zeros(4194304) bits=22
// time: kernel=bit_reversed global=65536 local=64 a=random(65536) b=zeros(65536) bits=16
__kernel void bit_reversed(__global const float *a, __global float *b, const int bits)
{
    uint v = get_global_id(0);
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
    v = ((v >> 8) & 0x00ff00ffu) | ((v & 0x00ff00ffu) << 8);
    v = (v >> 16) | (v << 16);
    b[v >> (32 - bits)] = a[get_global_id(0)];
}

// time: kernel=tridiagonal global=32768 local=128 d=random(4194304) c=zeros(4194304) x=zeros(4194304) n=128
// time: kernel=tridiagonal global=4096 local=64 d=random(2097152) c=zeros(2097152) x=zeros(2097152) n=512
__kernel void tridiagonal(__global const float *d, __global float *c, __global float *x, const int n)
{
    const int i = get_global_id(0), m = get_global_size(0);
    float cp = 0.25f, dp = d[i] * 0.25f;
    c[i] = cp;
    x[i] = dp;
    for (int k = 1; k < n; k++) {
        const float r = 1.0f / (4.0f - cp);
        cp = r;
        dp = (d[k * m + i] - dp) * r;
        c[k * m + i] = cp;
        x[k * m + i] = dp;
    }
    for (int k = n - 2; k >= 0; k--) {
        dp = x[k * m + i] - c[k * m + i] * dp;
        x[k * m + i] = dp;
    }
}
