// A sixth set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Fields: images, audio, sparse and dense algebra, graphs, geometry, statistics, coding, fluids, networks.

// time: kernel=yuv_to_rgb global=1920,1088 local=16,8 y=random(2088960) uv=random(1044480) rgb=zeros(2088960) pitch=1920
// time: kernel=yuv_to_rgb global=640,480 local=32,4 y=random(307200) uv=random(153600) rgb=zeros(307200) pitch=640
__kernel void yuv_to_rgb(__global const uchar *y, __global const uchar *uv, __global uchar4 *rgb, int pitch)
{
    int px = get_global_id(0), py = get_global_id(1);
    float l = 1.164f * (y[py * pitch + px] - 16);
    int c = (py >> 1) * pitch + (px & ~1);
    float u = uv[c] - 128.0f, v = uv[c + 1] - 128.0f;
    rgb[py * pitch + px] = (uchar4)(convert_uchar_sat(l + 1.596f * v), convert_uchar_sat(l - 0.391f * u - 0.813f * v),
                                    convert_uchar_sat(l + 2.018f * u), 255);
}

// time: kernel=bilinear_half global=960,544 local=32,8 in=random(2088960) out=zeros(522240) w=1920
__kernel void bilinear_half(__global const float *in, __global float *out, const int w)
{
    const int x = get_global_id(0), y = get_global_id(1);
    __global const float2 *top = (__global const float2 *)(in + 2 * y * w), *low = (__global const float2 *)(in + (2 * y + 1) * w);
    const float2 s = top[x] + low[x];
    out[y * get_global_size(0) + x] = 0.25f * (s.x + s.y);
}

#define R 5
// time: kernel=dilate_tile global=2048,1024 local=16,16 in=random(2097152) out=zeros(2097152) w=2048 h=1024
__kernel void dilate_tile(__global const uchar *in, __global uchar *out, int w, int h)
{
    __local uchar tile[16 + 2 * R][16 + 2 * R];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x0 = get_group_id(0) * 16 - R, y0 = get_group_id(1) * 16 - R;
    for (int j = ly; j < 16 + 2 * R; j += 16)
        for (int i = lx; i < 16 + 2 * R; i += 16)
            tile[j][i] = in[clamp(y0 + j, 0, h - 1) * w + clamp(x0 + i, 0, w - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uchar m = 0;
    for (int j = 0; j <= 2 * R; j++)
        for (int i = 0; i <= 2 * R; i++)
            m = max(m, tile[ly + j][lx + i]);
    out[get_global_id(1) * w + get_global_id(0)] = m;
}

// time: kernel=unsharp global=1024,1024 local=64,1 in=random(1048576) out=zeros(1048576) w=1024 h=1024 amount=0.6
__kernel void unsharp(__global const float *in, __global float *out, int w, int h, float amount)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) {
        out[y * w + x] = in[y * w + x];
        return;
    }
    float sum = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += in[(y + j) * w + x + i] * exp(-0.5f * (i * i + j * j));
    float c = in[y * w + x];
    out[y * w + x] = c + amount * (c - sum / 6.0f);
}

// time: kernel=rgb_planes_of_bytes global=1048576 local=256 in=random(3145728) out=zeros(3145728) n=1048576
__kernel void rgb_planes_of_bytes(__global const uchar *in, __global float *out, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    for (int c = 0; c < 3; c++)
        out[c * n + i] = in[3 * i + c] * (1.0f / 255) - 0.5f;
}

// time: kernel=fir_64 global=4194304 local=128 x=random(4194368) h=random(64) y=zeros(4194304)
// time: kernel=fir_64 global=16384 local=128 x=random(16448) h=random(64) y=zeros(16384)
__kernel void fir_64(__global const float *x, __constant float *h, __global float *y)
{
    size_t i = get_global_id(0);
    float acc = 0;
    for (int k = 0; k < 64; k++)
        acc = mad(h[k], x[i + k], acc);
    y[i] = acc;
}

// time: kernel=biquads global=65536 local=64 x=random(4194304) y=zeros(4194304) a=random(327680) n=64
__kernel void biquads(__global const float *x, __global float *y, __global const float *a, int n)
{
    int ch = get_global_id(0), step = get_global_size(0);
    float b0 = a[ch], b1 = a[ch + step], b2 = a[ch + 2 * step], a1 = a[ch + 3 * step], a2 = a[ch + 4 * step];
    float z1 = 0, z2 = 0;
    for (int t = 0; t < n; t++) {
        float in = x[t * step + ch], o = b0 * in + z1;
        z1 = b1 * in - a1 * o + z2;
        z2 = b2 * in - a2 * o;
        y[t * step + ch] = o;
    }
}

// time: kernel=pitch_shift global=2097152 local=256 in=random(4194304) out=zeros(2097152) ratio=1.4983
__kernel void pitch_shift(__global const float *in, __global float *out, float ratio)
{
    int i = get_global_id(0);
    float at = i * ratio;
    int k = (int)at;
    float f = at - k;
    out[i] = in[k] + f * (in[k + 1] - in[k]);
}

#define WPT 8
// time: kernel=gemm_regs global=256,128 local=16,16 A=random(2097152) B=random(2097152) C=zeros(2097152) K=1024
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void gemm_regs(__global const float *restrict A, __global const float *restrict B, __global float *restrict C, int K)
{
    __local float As[16][128], Bs[16][128];
    const int tx = get_local_id(0), ty = get_local_id(1), t = ty * 16 + tx;
    const int m0 = get_group_id(0) * 128, n0 = get_group_id(1) * 128;
    const int M = get_num_groups(0) * 128;
    float acc[WPT][WPT];
    for (int i = 0; i < WPT; i++)
        for (int j = 0; j < WPT; j++)
            acc[i][j] = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int s = 0; s < 8; s++) {
            int e = s * 256 + t, r = e / 128, c = e % 128;
            As[r][c] = A[(k0 + r) * M + m0 + c];
            Bs[r][c] = B[(k0 + r) * M + n0 + c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            float a[WPT], b[WPT];
            for (int i = 0; i < WPT; i++) {
                a[i] = As[k][tx + i * 16];
                b[i] = Bs[k][ty + i * 16];
            }
            for (int i = 0; i < WPT; i++)
                for (int j = 0; j < WPT; j++)
                    acc[i][j] += a[i] * b[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < WPT; i++)
        for (int j = 0; j < WPT; j++)
            C[(n0 + ty + j * 16) * M + m0 + tx + i * 16] = acc[i][j];
}

// time: kernel=gemv_rows_wide global=4096 local=64 A=random(4194304) x=random(1024) y=zeros(4096) n4=256
// time: kernel=gemv_rows_wide global=65536 local=64 A=random(16777216) x=random(256) y=zeros(65536) n4=64
__kernel void gemv_rows_wide(__global const float4 *A, __global const float4 *x, __global float *y, int n4)
{
    int r = get_global_id(0);
    float s = 0;
    for (int j = 0; j < n4; j++)
        s += dot(A[r * n4 + j], x[j]);
    y[r] = s;
}

// time: kernel=gemv_by_waves global=262144 local=256 A=random(8388608) x=random(1024) y=zeros(8192) n=1024
__kernel void gemv_by_waves(__global const float *A, __global const float *x, __global float *y, int n)
{
    __local float part[8][33];
    int lane = get_local_id(0) & 31, wave = get_local_id(0) >> 5;
    int row = get_group_id(0) * 8 + wave;
    float s = 0;
    for (int j = lane; j < n; j += 32)
        s += A[row * n + j] * x[j];
    part[wave][lane] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        for (int j = 1; j < 32; j++)
            s += part[wave][j];
        y[row] = s;
    }
}

// time: kernel=lu_update global=1024,1024 local=32,8 A=random(1048576) k=17 n=1024
__kernel void lu_update(__global float *A, int k, int n)
{
    int j = get_global_id(0), i = get_global_id(1);
    if (i > k && j > k)
        A[i * n + j] -= A[i * n + k] * A[k * n + j] / A[k * n + k];
}

// time: kernel=cholesky_small global=131072 local=64 A=formula(4718592,i%36*3%7+i%7*(i%36%7==0)+9) L=zeros(4718592)
__kernel void cholesky_small(__global const float *A, __global float *L)
{
    int b = get_global_id(0), nb = get_global_size(0);
    float l[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            float s = A[(i * 6 + j) * nb + b];
            for (int k = 0; k < j; k++)
                s -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(fabs(s) + 1.0f) : s / l[j][j];
        }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++)
            L[(i * 6 + j) * nb + b] = l[i][j];
}

// time: kernel=bfs_level global=1048576 local=256 first=formula(1048577,i*4) next=formula(4194304,i*7919%1048576) level=formula(1048576,i%8) out=zeros(1048576) depth=3 n=1048576
__kernel void bfs_level(__global const int *first, __global const int *next, __global const int *level, __global int *out, int depth, int n)
{
    int v = get_global_id(0);
    if (v >= n || level[v] != depth)
        return;
    for (int e = first[v]; e < first[v + 1]; e++) {
        int to = next[e];
        if (level[to] > depth)
            out[to] = depth + 1;
    }
}

// time: kernel=label_hooks global=2048,2048 local=32,8 label=formula(4194304,i) flag=zeros(1) w=2048 h=2048
__kernel void label_hooks(__global int *label, __global int *flag, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1), p = y * w + x;
    int best = label[p];
    if (x > 0) best = min(best, label[p - 1]);
    if (y > 0) best = min(best, label[p - w]);
    if (x < w - 1) best = min(best, label[p + 1]);
    if (y < h - 1) best = min(best, label[p + w]);
    if (best < label[p]) {
        label[p] = best;
        flag[0] = 1;
    }
}

// time: kernel=triangle_counts global=32768 local=128 first=formula(32769,i*16) next=formula(524288,i/16+i%16*3+1) out=zeros(32768)
__kernel void triangle_counts(__global const int *first, __global const int *next, __global int *out)
{
    int v = get_global_id(0), n = get_global_size(0), found = 0;
    for (int i = first[v]; i < first[v + 1]; i++) {
        int u = next[i];
        if (u >= n) continue;
        int a = first[v], b = first[u];
        while (a < first[v + 1] && b < first[u + 1]) {
            int d = next[a] - next[b];
            found += d == 0;
            a += d <= 0;
            b += d >= 0;
        }
    }
    out[v] = found;
}

// time: kernel=convex_support global=65536 local=128 dir=random(65536) pts=random(256) out=zeros(65536) n=256
__kernel void convex_support(__global const float4 *dir, __constant float4 *pts, __global int *out, int n)
{
    float4 d = dir[get_global_id(0)];
    float best = -INFINITY;
    int at = 0;
    for (int i = 0; i < n; i++) {
        float p = d.x * pts[i].x + d.y * pts[i].y + d.z * pts[i].z;
        if (p > best) { best = p; at = i; }
    }
    out[get_global_id(0)] = at;
}

// time: kernel=skin_vertices global=524288 local=64 pos=random(1572864) bones=random(1024) idx=formula(524288,i*17%64+i*5%64*256) wgt=random(524288) out=zeros(1572864)
__kernel void skin_vertices(__global const float *pos, __global const float4 *bones, __global const uint *idx, __global const float *wgt, __global float *out)
{
    int i = get_global_id(0);
    float3 p = vload3(i, pos);
    uint both = idx[i];
    float w = wgt[i];
    float3 sum = (float3)(0);
    for (int k = 0; k < 2; k++) {
        __global const float4 *m = bones + 4 * ((both >> (8 * k)) & 255);
        float3 q = (float3)(dot(m[0].xyz, p) + m[0].w, dot(m[1].xyz, p) + m[1].w, dot(m[2].xyz, p) + m[2].w);
        sum += (k ? 1 - w : w) * q;
    }
    vstore3(sum, i, out);
}

// time: kernel=variance_groups global=4194304 local=256 x=random(4194304) mean=zeros(16384) m2=zeros(16384)
__kernel void variance_groups(__global const float *x, __global float *mean, __global float *m2)
{
    __local float s[256], q[256];
    int l = get_local_id(0);
    float v = x[get_global_id(0)];
    s[l] = v;
    q[l] = v * v;
    for (int d = 128; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            s[l] += s[l + d];
            q[l] += q[l + d];
        }
    }
    if (l == 0) {
        mean[get_group_id(0)] = s[0] / 256;
        m2[get_group_id(0)] = q[0] - s[0] * s[0] / 256;
    }
}

// time: kernel=sum_by_atomics global=1048576 local=256 x=random(1048576) total=zeros(1)
__kernel void sum_by_atomics(__global const int *x, __global int *total)
{
    __local int part;
    if (get_local_id(0) == 0) part = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&part, x[get_global_id(0)] & 255);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) atomic_add(total, part);
}

// time: kernel=bootstrap global=65536 local=64 x=random(4096) out=zeros(65536) draws=256 seed=12345
__kernel void bootstrap(__global const float *x, __global float *out, int draws, uint seed)
{
    uint s = seed ^ (get_global_id(0) * 2654435761u);
    float sum = 0;
    for (int i = 0; i < draws; i++) {
        s = s * 1664525u + 1013904223u;
        sum += x[s >> 20];
    }
    out[get_global_id(0)] = sum / draws;
}

// time: kernel=huffman_lengths global=1048576 local=256 sym=random(1048576) len=random(256) out=zeros(4096)
__kernel void huffman_lengths(__global const uchar *sym, __constant uchar *len, __global uint *out)
{
    __local uint sums[256];
    int l = get_local_id(0);
    sums[l] = len[sym[get_global_id(0)]];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 256; d <<= 1) {
        uint v = l >= d ? sums[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[l] += v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 255) out[get_group_id(0)] = sums[255];
}

// time: kernel=rle_flags global=8388608 local=128 in=random(8388608) out=zeros(8388608) n=8388608
__kernel void rle_flags(__global const uchar *in, __global uchar *out, int n)
{
    int i = get_global_id(0);
    out[i] = i == 0 || in[i] != in[i - 1];
}

// time: kernel=d2q9 global=1024,512 local=64,4 f=random(4718592) g=zeros(4718592) w=1024 h=512 omega=1.2
__kernel void d2q9(__global const float *f, __global float *g, int w, int h, float omega)
{
    const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float wt[9] = {4 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
    int x = get_global_id(0), y = get_global_id(1), n = w * h;
    float fi[9], rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        int sx = (x - ex[k] + w) % w, sy = (y - ey[k] + h) % h;
        fi[k] = f[k * n + sy * w + sx];
        rho += fi[k];
        ux += ex[k] * fi[k];
        uy += ey[k] * fi[k];
    }
    ux /= rho;
    uy /= rho;
    float u2 = 1.5f * (ux * ux + uy * uy);
    for (int k = 0; k < 9; k++) {
        float eu = 3 * (ex[k] * ux + ey[k] * uy);
        g[k * n + y * w + x] = fi[k] + omega * (wt[k] * rho * (1 + eu + 0.5f * eu * eu - u2) - fi[k]);
    }
}

// time: kernel=advect global=512,512 local=16,16 q=random(262144) u=random(262144) v=random(262144) out=zeros(262144) dt=4.0
__kernel void advect(__global const float *q, __global const float *u, __global const float *v, __global float *out, float dt)
{
    int w = get_global_size(0), h = get_global_size(1), x = get_global_id(0), y = get_global_id(1), p = y * w + x;
    float fx = clamp(x - dt * u[p], 0.0f, w - 2.0f), fy = clamp(y - dt * v[p], 0.0f, h - 2.0f);
    int ix = (int)fx, iy = (int)fy;
    float ax = fx - ix, ay = fy - iy;
    __global const float *s = q + iy * w + ix;
    out[p] = mix(mix(s[0], s[1], ax), mix(s[w], s[w + 1], ax), ay);
}

// time: kernel=layer_norm global=1048576 local=128 x=random(8388608) g=random(1024) y=zeros(8388608) n=1024
__kernel void layer_norm(__global const float *x, __global const float *g, __global float *y, int n)
{
    __local float s[128];
    int row = get_group_id(0), l = get_local_id(0);
    __global const float *in = x + row * n;
    float a = 0;
    for (int i = l; i < n; i += 128) a += in[i];
    s[l] = a;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 64; d; d >>= 1) { if (l < d) s[l] += s[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
    float mean = s[0] / n;
    barrier(CLK_LOCAL_MEM_FENCE);
    a = 0;
    for (int i = l; i < n; i += 128) { float e = in[i] - mean; a += e * e; }
    s[l] = a;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 64; d; d >>= 1) { if (l < d) s[l] += s[l + d]; barrier(CLK_LOCAL_MEM_FENCE); }
    float r = rsqrt(s[0] / n + 1e-5f);
    for (int i = l; i < n; i += 128) y[row * n + i] = (in[i] - mean) * r * g[i];
}

// time: kernel=conv_3x3_nchw global=56,56,256 local=8,8,4 in=random(200704) k=random(147456) out=zeros(802816) C=64
__kernel void conv_3x3_nchw(__global const float *in, __global const float *k, __global float *out, int C)
{
    int x = get_global_id(0), y = get_global_id(1), o = get_global_id(2), w = 56, h = 56;
    float s = 0;
    for (int c = 0; c < C; c++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                int xx = x + i, yy = y + j;
                if (xx >= 0 && yy >= 0 && xx < w && yy < h)
                    s += in[(c * h + yy) * w + xx] * k[((o * C + c) * 3 + j + 1) * 3 + i + 1];
            }
    out[(o * h + y) * w + x] = s;
}

// time: kernel=int8_dots global=1024,64 local=16,16 a=random(262144) b=random(65536) out=zeros(65536) k4=64
__kernel void int8_dots(__global const char4 *a, __global const char4 *b, __global int *out, int k4)
{
    int n = get_global_id(0), m = get_global_id(1), s = 0;
    for (int k = 0; k < k4; k++) {
        int4 p = convert_int4(a[n * k4 + k]) * convert_int4(b[m * k4 + k]);
        s += p.x + p.y + p.z + p.w;
    }
    out[m * get_global_size(0) + n] = s;
}

// time: kernel=swiglu global=4194304 local=256 gate=random(4194304) up=random(4194304) out=zeros(4194304)
__kernel void swiglu(__global const float *gate, __global const float *up, __global float *out)
{
    size_t i = get_global_id(0);
    float g = gate[i];
    out[i] = up[i] * g / (1.0f + exp(-g));
}

// time: kernel=sph_density global=32768 local=64 pos=random(32768) cell=formula(33025,i*8%32761) rho=zeros(32768) cells=64
__kernel void sph_density(__global const float4 *pos, __global const int *cell, __global float *rho, int cells)
{
    int i = get_global_id(0);
    float4 p = pos[i];
    int c = i / 8;
    float sum = 0;
    for (int k = -4; k <= 4; k++) {
        int at = clamp(c + k * cells, 0, 33023), end = cell[at] + 8;
        for (int j = cell[at]; j < end; j++) {
            float4 d = p - pos[j % 32768];
            float r2 = d.x * d.x + d.y * d.y + d.z * d.z;
            if (r2 < 1.0f) { float t = 1.0f - r2; sum += t * t * t; }
        }
    }
    rho[i] = sum;
}

// time: kernel=edit_row global=16384 local=64 a=random(524288) b=random(524288) out=zeros(16384)
__kernel void edit_row(__global const uchar *a, __global const uchar *b, __global int *out)
{
    int i = get_global_id(0), row[33];
    for (int j = 0; j <= 32; j++) row[j] = j;
    for (int x = 0; x < 32; x++) {
        int diagonal = row[0];
        row[0] = x + 1;
        uchar c = a[i * 32 + x];
        for (int j = 1; j <= 32; j++) {
            int cost = diagonal + (c != b[i * 32 + j - 1]);
            diagonal = row[j];
            row[j] = min(cost, min(row[j], row[j - 1]) + 1);
        }
    }
    out[i] = row[32];
}

// time: kernel=perlin_fbm global=1024,1024 local=16,16 out=zeros(1048576) octaves=4
__kernel void perlin_fbm(__global float *out, int octaves)
{
    float x = get_global_id(0) * 0.01f, y = get_global_id(1) * 0.01f, amp = 1, sum = 0;
    for (int o = 0; o < octaves; o++) {
        float fx = floor(x), fy = floor(y), u = x - fx, v = y - fy;
        int ix = (int)fx, iy = (int)fy;
        float c[4];
        for (int k = 0; k < 4; k++) {
            int n = (ix + (k & 1)) * 374761393 + (iy + (k >> 1)) * 668265263;
            n = (n ^ (n >> 13)) * 1274126177;
            c[k] = (n & 0xffff) * (1 / 65536.0f);
        }
        u = u * u * (3 - 2 * u);
        v = v * v * (3 - 2 * v);
        sum += amp * mix(mix(c[0], c[1], u), mix(c[2], c[3], u), v);
        amp *= 0.5f; x *= 2; y *= 2;
    }
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = sum;
}
