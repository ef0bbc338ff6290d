// A fourth set that nothing was fitted to: written and predicted, the predictions stored, and only then launched.
// Fields: sequences, graphs, codes and ciphers, finance, training, signals, imaging, geometry, molecules, grids.

#define AT(a, y, x, w) ((a)[(y) * (w) + (x)])
#define SQ(x) ((x) * (x))

typedef struct { float px, py, pz, charge; } atom_t;
typedef struct { float4 a, b, c; } triangle_t;

// time: kernel=align_diagonal global=8192 local=128 p=random(8193) q=random(8193) out=zeros(8193) s=random(8193) t=random(8193)
// time: kernel=align_diagonal global=1048576 local=256 p=random(1048577) q=random(1048577) out=zeros(1048577) s=random(1048577) t=random(1048577)
__kernel void align_diagonal(__global const int *p, __global const int *q, __global int *out, __global const uchar *s,
                             __global const uchar *t)
{
    const int i = get_global_id(0) + 1, n = get_global_size(0);
    const int match = s[i - 1] == t[n - i] ? 2 : -1;
    out[i] = max(0, max(p[i - 1] + match, max(q[i - 1], q[i]) - 1));
}

// time: kernel=floyd_step global=2048,2048 local=16,16 d=random(4194304) n=2048 k=77
// time: kernel=floyd_step global=512,512 local=128,1 d=random(262144) n=512 k=500
__kernel void floyd_step(__global float *d, int n, int k)
{
    int j = get_global_id(0), i = get_global_id(1);
    d[i * n + j] = fmin(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

// time: kernel=thomas_columns global=65536 local=128 a=random(4194304) b=random(4194304) c=random(4194304) d=random(4194304) n=64
// time: kernel=thomas_columns global=8192 local=64 a=random(1048576) b=random(1048576) c=random(1048576) d=random(1048576) n=128
__kernel void thomas_columns(__global const float *a, __global const float *b, __global float *c, __global float *d, uint n)
{
    const uint i = get_global_id(0), m = get_global_size(0);
    float cp = c[i] / b[i], dp = d[i] / b[i];
    c[i] = cp;
    d[i] = dp;
    for (uint k = 1; k < n; ++k) {
        const uint at = k * m + i;
        const float r = 1.0f / (b[at] - a[at] * cp);
        dp = (d[at] - a[at] * dp) * r;
        cp = c[at] * r;
        c[at] = cp;
        d[at] = dp;
    }
}

// time: kernel=factor_small global=131072 local=16 m=random(2097152)
__kernel void factor_small(__global float *m)
{
    __local float t[16][17];
    const int l = get_local_id(0);
    __global float *mine = m + get_group_id(0) * 256;
    for (int r = 0; r < 16; r++)
        t[r][l] = mine[r * 16 + l] + (r == l ? 16.0f : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++) {
        const float pivot = rsqrt(t[k][k]);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l >= k)
            t[l][k] *= pivot;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = k + 1; j < 16; j++)
            if (l >= j)
                t[l][j] -= t[l][k] * t[j][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int r = 0; r < 16; r++)
        mine[r * 16 + l] = t[r][l];
}

// time: kernel=base_64 global=1048576 local=256 in=random(3145728) out=zeros(4194304)
__kernel void base_64(__global const uchar *in, __global uchar *out)
{
    const size_t i = get_global_id(0);
    const uint v = (uint)in[3 * i] << 16 | (uint)in[3 * i + 1] << 8 | in[3 * i + 2];
    for (int k = 0; k < 4; k++) {
        const uint d = v >> (18 - 6 * k) & 63u;
        out[4 * i + k] = (uchar)(d < 26 ? d + 65 : d < 52 ? d + 71 : d < 62 ? d - 4 : d == 62 ? 43 : 47);
    }
}

#define QUARTER(a, b, c, d) \
    a += b; d = rotate(d ^ a, 16u); c += d; b = rotate(b ^ c, 12u); \
    a += b; d = rotate(d ^ a, 8u); c += d; b = rotate(b ^ c, 7u);

// time: kernel=cha_cha global=1048576 local=128 key=random(8) out=zeros(16777216)
// time: kernel=cha_cha global=65536 local=64 key=random(8) out=zeros(1048576)
__kernel void cha_cha(__constant uint *key, __global uint *out)
{
    const uint n = get_global_id(0);
    uint x0 = 0x61707865, x1 = 0x3320646e, x2 = 0x79622d32, x3 = 0x6b206574;
    uint x4 = key[0], x5 = key[1], x6 = key[2], x7 = key[3], x8 = key[4], x9 = key[5], xa = key[6], xb = key[7];
    uint xc = n, xd = 0, xe = 7, xf = 9;
    for (int r = 0; r < 10; r++) {
        QUARTER(x0, x4, x8, xc) QUARTER(x1, x5, x9, xd) QUARTER(x2, x6, xa, xe) QUARTER(x3, x7, xb, xf)
        QUARTER(x0, x5, xa, xf) QUARTER(x1, x6, xb, xc) QUARTER(x2, x7, x8, xd) QUARTER(x3, x4, x9, xe)
    }
    vstore16((uint16)(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, xa, xb, xc, xd, xe, xf), n, out);
}

// time: kernel=powers_modulo global=262144 local=128 base=random(262144) out=zeros(262144) e=65537 m=1000003
__kernel void powers_modulo(__global const ulong *base, __global ulong *out, const uint e, const uint m)
{
    const size_t i = get_global_id(0);
    ulong b = base[i] % m, r = 1;
    for (uint k = 0; k < 17; k++) {
        if (e >> k & 1)
            r = r * b % m;
        b = b * b % m;
    }
    out[i] = r;
}

// time: kernel=field_products global=4194304 local=256 a=random(4194304) b=random(4194304) c=zeros(4194304)
__kernel void field_products(__global const uchar *a, __global const uchar *b, __global uchar *c)
{
    const int i = get_global_id(0);
    uint x = a[i], y = b[i], z = 0;
    for (int k = 0; k < 8; ++k) {
        z ^= (y & 1) ? x : 0;
        x = x & 0x80 ? (x << 1) ^ 0x11b : x << 1;
        y >>= 1;
    }
    c[i] = z;
}

// time: kernel=code_distances global=4096,1024 local=64,4 a=random(16384) b=random(4096) d=zeros(4194304)
__kernel void code_distances(__global const ulong *a, __global const ulong *b, __global uchar *d)
{
    const int x = get_global_id(0), y = get_global_id(1);
    int bits = 0;
    for (int k = 0; k < 4; k++)
        bits += popcount(a[x * 4 + k] ^ b[y * 4 + k]);
    d[y * get_global_size(0) + x] = bits;
}

// time: kernel=pattern_at global=4194304 local=256 text=random(4194320) pat=random(16) hits=zeros(4194304)
__kernel void pattern_at(__global const char *text, __constant char *pat, __global uchar *hits)
{
    const int i = get_global_id(0);
    int same = 0;
    for (int k = 0; k < 16; k++)
        same += text[i + k] == pat[k];
    hits[i] = same;
}

// time: kernel=great_circles global=2097152 local=256 lat=random(2097152) lon=random(2097152) out=zeros(2097152) lat0=0.5 lon0=0.25
__kernel void great_circles(__global const float *lat, __global const float *lon, __global float *out, float lat0, float lon0)
{
    const int i = get_global_id(0);
    const float s = sin((lat[i] - lat0) * 0.5f), t = sin((lon[i] - lon0) * 0.5f);
    out[i] = 12742.0f * asin(sqrt(SQ(s) + cos(lat0) * cos(lat[i]) * SQ(t)));
}

// time: kernel=binomial_tree global=131072 local=128 s=random(1024) out=zeros(1024) steps=127 up=1.01 p=0.52
// time: kernel=binomial_tree global=8192 local=128 s=random(64) out=zeros(64) steps=100 up=1.01 p=0.52
__kernel void binomial_tree(__global const float *s, __global float *out, int steps, float up, float p)
{
    __local float v[129];
    const int l = get_local_id(0), g = get_group_id(0);
    v[l] = fmax(s[g] * pow(up, (float)(2 * l - steps)) - 1.0f, 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = steps; t > 0; t--) {
        const float next = 0.999f * (p * v[l + 1] + (1.0f - p) * v[l]);
        barrier(CLK_LOCAL_MEM_FENCE);
        v[l] = next;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[g] = v[0];
}

// time: kernel=asian_paths global=524288 local=256 out=zeros(524288) steps=64
// time: kernel=asian_paths global=16384 local=256 out=zeros(16384) steps=256
__kernel void asian_paths(__global float *out, int steps)
{
    uint seed = get_global_id(0) * 2654435761u + 12345u;
    float price = 1.0f, sum = 0.0f;
    for (int t = 0; t < steps; t++) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        const float z = (float)(seed >> 8) * (1.0f / 16777216.0f) - 0.5f;
        price *= native_exp(0.02f * z + 0.0001f);
        sum += price;
    }
    out[get_global_id(0)] = sum / steps;
}

// time: kernel=adam_step global=8388608 local=256 w=random(8388608) g=random(8388608) m=random(8388608) v=random(8388608) lr=0.001
// time: kernel=adam_step global=1048576 local=64 w=random(1048576) g=random(1048576) m=random(1048576) v=random(1048576) lr=0.001
__kernel void adam_step(__global float *w, __global const float *g, __global float *m, __global float *v, float lr)
{
    const size_t i = get_global_id(0);
    const float grad = g[i];
    const float m1 = m[i] = 0.9f * m[i] + 0.1f * grad;
    const float v1 = v[i] = 0.999f * v[i] + 0.001f * grad * grad;
    w[i] -= lr * m1 / (sqrt(v1) + 1e-8f);
}

// time: kernel=gelu_fours global=2097152 local=128 x=random(2097152) y=zeros(2097152)
__kernel void gelu_fours(__global const float4 *x, __global float4 *y)
{
    const float4 v = x[get_global_id(0)];
    y[get_global_id(0)] = 0.5f * v * (1.0f + tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
}

// time: kernel=embedded_rows global=128,8192 local=128,1 ids=formula(8192,i*7919%20000) table=random(2560000) out=zeros(1048576)
// time: kernel=embedded_rows global=32,65536 local=32,4 ids=formula(65536,i*104729%100000) table=random(3200000) out=zeros(2097152)
__kernel void embedded_rows(__global const int *ids, __global const float *table, __global float *out)
{
    const int c = get_global_id(0), r = get_global_id(1), d = get_global_size(0);
    AT(out, r, c, d) = AT(table, ids[r], c, d);
}

// time: kernel=lstm_gates global=256,64 local=64,4 x=random(16384) h=random(16384) wx=random(262144) wh=random(262144) c=random(16384) out=zeros(16384) k=256
__kernel void lstm_gates(__global const float *x, __global const float *h, __global const float *wx, __global const float *wh,
                         __global float *c, __global float *out, const int k)
{
    const int u = get_global_id(0), b = get_global_id(1), n = get_global_size(0);
    float4 z = (float4)(0.0f);
    for (int i = 0; i < k; i++) {
        z += x[b * k + i] * vload4(i * n + u, wx);
        z += h[b * k + i] * vload4(i * n + u, wh);
    }
    const float4 s = 1.0f / (1.0f + exp(-z));
    const float cell = s.x * c[b * n + u] + s.y * tanh(z.z);
    c[b * n + u] = cell;
    out[b * n + u] = s.w * tanh(cell);
}

// time: kernel=attend global=65536 local=64 q=random(65536) k=random(32768) v=random(32768) out=zeros(65536) n=512
__kernel void attend(__global const float *q, __global const float *k, __global const float *v, __global float *out, int n)
{
    __local float w[512];
    __local float mine[64];
    const int l = get_local_id(0), row = get_group_id(0);
    mine[l] = q[row * 64 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = l; j < n; j += 64) {
        float dot = 0.0f;
        for (int d = 0; d < 64; d++)
            dot += mine[d] * k[j * 64 + d];
        w[j] = native_exp(dot * 0.01f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f, total = 0.0f;
    for (int j = 0; j < n; j++) {
        sum += w[j] * v[j * 64 + l];
        total += w[j];
    }
    out[row * 64 + l] = sum / total;
}

// time: kernel=gemv_batch global=64,1024 local=64,1 a=random(4194304) x=random(65536) y=zeros(65536)
__kernel void gemv_batch(__global const float *a, __global const float *x, __global float *y)
{
    const int r = get_global_id(0), b = get_global_id(1);
    __global const float *row = a + (b * 64 + r) * 64;
    float sum = 0.0f;
    for (int k = 0; k < 64; k++)
        sum = mad(row[k], x[b * 64 + k], sum);
    y[b * 64 + r] = sum;
}

// time: kernel=class_losses global=262144 local=128 logits=random(2621440) out=zeros(262144)
__kernel void class_losses(__global const float *logits, __global float *out)
{
    const int i = get_global_id(0);
    __global const float *p = &logits[i * 10];
    float top = p[0], sum = 0.0f;
    for (int c = 1; c < 10; c++)
        top = fmax(top, p[c]);
    for (int c = 0; c < 10; c++)
        sum += exp(p[c] - top);
    out[i] = log(sum) + top - p[i % 10];
}

// time: kernel=beam_sums global=16384,8 local=128,1 s=random(131072) delay=random(512) out=zeros(131072) n=64
__kernel void beam_sums(__global const float *s, __global const float *delay, __global float2 *out, int n)
{
    const int t = get_global_id(0), beam = get_global_id(1);
    float2 sum = (float2)(0.0f, 0.0f);
    for (int k = 0; k < n; k++) {
        float c;
        const float d = delay[beam * n + k];
        const float sn = sincos(d * (float)(t & 255), &c);
        const float v = s[(t & 2047) * n + k];
        sum.x += v * c;
        sum.y += v * sn;
    }
    out[beam * get_global_size(0) + t] = sum;
}

// time: kernel=goertzel global=32768 local=256 s=random(8388608) out=zeros(32768) n=256 w=1.9
// time: kernel=goertzel global=2048 local=32 s=random(2097152) out=zeros(2048) n=1024 w=1.9
__kernel void goertzel(__global const float *s, __global float *out, int n, float w)
{
    const int i = get_global_id(0), m = get_global_size(0);
    float a = 0.0f, b = 0.0f;
    int k = 0;
    while (k < n) {
        const float c = s[k * m + i] + w * a - b;
        b = a;
        a = c;
        k++;
    }
    out[i] = a * a + b * b - w * a * b;
}

// time: kernel=phases_of_filter global=2097152 local=128 x=random(262272) h=random(128) y=zeros(2097152)
__kernel void phases_of_filter(__global const float *x, __constant float *h, __global float *y)
{
    const int i = get_global_id(0), phase = i & 7, at = i >> 3;
    float sum = 0.0f;
    for (int k = 0; k < 16; k++)
        sum += h[k * 8 + phase] * x[at + k];
    y[i] = sum;
}

// time: kernel=autocorrelate global=16384 local=64 s=random(20480) out=zeros(16384) n=4096
__kernel void autocorrelate(__global const float *s, __global float *out, int n)
{
    const int lag = get_global_id(0);
    float4 sum = 0.0f;
    for (int i = 0; i < n; i += 4)
        sum += vload4(0, s + i) * (float4)(s[i + lag], s[i + lag + 1], s[i + lag + 2], s[i + lag + 3]);
    out[lag] = sum.x + sum.y + sum.z + sum.w;
}

// time: kernel=back_project global=512,512 local=16,16 sino=random(184320) img=zeros(262144) cs=formula(180,i*0+0.6) sn=formula(180,i*0+0.8) angles=180 bins=1024
__kernel void back_project(__global const float *sino, __global float *img, __constant float *cs, __constant float *sn,
                           int angles, int bins)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int a = 0; a < angles; a++) {
        const float r = (x - 256) * cs[a] + (y - 256) * sn[a] + 512.0f;
        const int at = (int)r;
        sum += mix(sino[a * bins + at], sino[a * bins + at + 1], r - at);
    }
    img[y * get_global_size(0) + x] = sum;
}

// time: kernel=bayer global=2048,2048 local=32,8 raw=random(4202500) rgb=zeros(12582912) w=2050
__kernel void bayer(__global const uchar *raw, __global uchar *rgb, int w)
{
    const int x = get_global_id(0) + 1, y = get_global_id(1) + 1;
    const int c = AT(raw, y, x, w);
    const int h = (AT(raw, y, x - 1, w) + AT(raw, y, x + 1, w)) / 2, v = (AT(raw, y - 1, x, w) + AT(raw, y + 1, x, w)) / 2;
    const int d = (AT(raw, y - 1, x - 1, w) + AT(raw, y - 1, x + 1, w) + AT(raw, y + 1, x - 1, w) + AT(raw, y + 1, x + 1, w)) / 4;
    int r, g, b;
    switch ((y & 1) * 2 + (x & 1)) {
    case 0: r = c; g = (h + v) / 2; b = d; break;
    case 1: r = h; g = c; b = v; break;
    case 2: r = v; g = c; b = h; break;
    default: r = d; g = (h + v) / 2; b = c;
    }
    vstore3((uchar3)(r, g, b), (y - 1) * get_global_size(0) + x - 1, rgb);
}

// time: kernel=blend_over global=4194304 local=256 a=random(4194304) b=random(4194304) out=zeros(4194304)
__kernel void blend_over(__global const uchar4 *a, __global const uchar4 *b, __global uchar4 *out)
{
    const int i = get_global_id(0);
    const float4 p = convert_float4(a[i]), q = convert_float4(b[i]);
    const float t = p.w * (1.0f / 255.0f);
    out[i] = convert_uchar4_sat_rte(p * t + q * (1.0f - t));
}

// time: kernel=tone_curve global=4194304 local=128 hdr=random(4194304) out=zeros(4194304) key=0.18
__kernel void tone_curve(__global const float *hdr, __global uchar *out, float key)
{
    const int i = get_global_id(0);
    const float l = hdr[i] * key, m = l * (1.0f + l * 0.25f) / (1.0f + l);
    out[i] = convert_uchar_sat(255.0f * powr(m, 1.0f / 2.2f));
}

// time: kernel=row_ages global=2048 local=64 in=random(4194304) out=zeros(4194304) w=2048
__kernel void row_ages(__global const float *in, __global float *out, int w)
{
    const int y = get_global_id(0);
    float age = 1e9f;
    for (int x = 0; x < w; x++) {
        age = in[y * w + x] > 0.5f ? 0.0f : age + 1.0f;
        out[y * w + x] = age;
    }
    for (int x = w - 1; x >= 0; x--) {
        age = fmin(age + 1.0f, out[y * w + x]);
        out[y * w + x] = age;
    }
}

// time: kernel=cube_classes global=128,128,128 local=32,4,2 f=random(2146689) out=zeros(2097152) w=129 level=0.5
// time: kernel=cube_classes global=64,64,64 local=4,4,4 f=random(274625) out=zeros(262144) w=65 level=0.5
__kernel void cube_classes(__global const float *f, __global uchar *out, const int w, const float level)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    uint code = 0;
    for (int k = 0; k < 8; k++)
        code |= (uint)(f[((z + (k >> 2)) * w + y + (k >> 1 & 1)) * w + x + (k & 1)] > level) << k;
    out[(z * get_global_size(1) + y) * get_global_size(0) + x] = (uchar)code;
}

float scene(float3 p) { return fmin(length(p - (float3)(0.0f, 0.0f, 3.0f)) - 1.0f, p.y + 1.0f); }

// time: kernel=sphere_march global=1024,1024 local=8,8 out=zeros(1048576)
__kernel void sphere_march(__global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const float3 d = normalize((float3)(x / 512.0f - 1.0f, y / 512.0f - 1.0f, 1.0f));
    float t = 0.0f;
    for (int k = 0; k < 48; k++)
        t += scene(t * d);
    out[y * get_global_size(0) + x] = t;
}

// time: kernel=rays_and_triangles global=65536 local=64 o=random(65536) d=random(65536) t=random(128) hit=zeros(65536) n=128
__kernel void rays_and_triangles(__global const float4 *o, __global const float4 *d, __global const triangle_t *t,
                                 __global float *hit, int n)
{
    const int i = get_global_id(0);
    const float3 from = o[i].xyz, dir = d[i].xyz;
    float best = 1e30f;
    for (int k = 0; k < n; k++) {
        const float3 a = t[k].a.xyz, e = t[k].b.xyz - a, f = t[k].c.xyz - a, p = cross(dir, f);
        const float r = native_recip(dot(e, p));
        const float3 s = from - a, q = cross(s, e);
        const float u = dot(s, p) * r, v = dot(dir, q) * r, w = dot(f, q) * r;
        best = (u >= 0.0f) & (v >= 0.0f) & (u + v <= 1.0f) & (w > 0.0f) ? fmin(best, w) : best;
    }
    hit[i] = best;
}

// time: kernel=pair_forces global=131072 local=128 at=random(131072) list=formula(4194304,(i%131072+i//131072*37)%131072) f=zeros(131072) n=32
// time: kernel=pair_forces global=16384 local=64 at=random(16384) list=formula(1048576,(i%16384*613+i//16384*37)%16384) f=zeros(16384) n=64
__kernel void pair_forces(__global const float4 *at, __global const int *list, __global float4 *f, int n)
{
    const int i = get_global_id(0), m = get_global_size(0);
    const float4 me = at[i];
    float4 sum = (float4)(0);
    for (int k = 0; k < n; k++) {
        const float4 r = at[list[k * m + i]] - me;
        const float s = 1.0f / (r.x * r.x + r.y * r.y + r.z * r.z + 0.01f), s3 = s * s * s;
        sum += r * (s3 * (s3 - 0.5f) * s);
    }
    f[i] = sum;
}

// time: kernel=potential_map global=512,512 local=32,4 a=random(2048) v=zeros(262144) n=2048 z=0.5
__kernel void potential_map(__global const atom_t *a, __global float *v, int n, float z)
{
    const float x = get_global_id(0) * 0.1f, y = get_global_id(1) * 0.1f;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[k].charge * native_rsqrt(SQ(a[k].px - x) + SQ(a[k].py - y) + SQ(a[k].pz - z));
    v[get_global_id(1) * get_global_size(0) + get_global_id(0)] += sum;
}

// time: kernel=deposit global=4194304 local=256 cell=formula(4194304,i*7919%65536) q=random(4194304) grid=zeros(65536)
__kernel void deposit(__global const int *cell, __global const int *q, __global int *grid)
{
    const int i = get_global_id(0);
    atomic_add(&grid[cell[i]], q[i] & 15);
}

// time: kernel=spins global=1024,2048 local=64,4 s=random(4194304) r=random(2097152) odd=0
__kernel void spins(__global char *s, __global const float *r, int odd)
{
    const int h = get_global_size(1), w = 2 * get_global_size(0);
    const int y = get_global_id(1), x = 2 * get_global_id(0) + (y + odd) % 2;
    const int up = (y + h - 1) % h, down = (y + 1) % h, left = (x + w - 1) % w, right = (x + 1) % w;
    const int e = s[y * w + x] * (s[up * w + x] + s[down * w + x] + s[y * w + left] + s[y * w + right]);
    const float keep = native_exp(-0.8f * e);
    s[y * w + x] = r[y * get_global_size(0) + get_global_id(0)] < keep ? -s[y * w + x] : s[y * w + x];
}

// time: kernel=field_step global=4096,2048 local=128,2 ez=random(8392705) hx=random(8392705) hy=random(8392705) w=4097
// time: kernel=field_step global=512,512 local=16,16 ez=random(263169) hx=random(263169) hy=random(263169) w=513
__kernel void field_step(__global const float *ez, __global float *hx, __global float *hy, int w)
{
    const int at = get_global_id(1) * w + get_global_id(0);
    hx[at] -= 0.5f * (ez[at + w] - ez[at]);
    hy[at] += 0.5f * (ez[at + 1] - ez[at]);
}

// time: kernel=shallow global=2048,1024 local=32,8 h=random(2103300) u=random(2103300) v=random(2103300) ho=zeros(2103300) uo=zeros(2103300) vo=zeros(2103300) w=2050 dt=0.01
__kernel void shallow(__global const float *restrict h, __global const float *restrict u, __global const float *restrict v,
                      __global float *restrict ho, __global float *restrict uo, __global float *restrict vo, int w, float dt)
{
    const int at = (get_global_id(1) + 1) * w + get_global_id(0) + 1;
    const float dh = 0.5f * (h[at + 1] - h[at - 1]), eh = 0.5f * (h[at + w] - h[at - w]);
    ho[at] = h[at] - dt * 0.5f * (h[at + 1] * u[at + 1] - h[at - 1] * u[at - 1] + h[at + w] * v[at + w] - h[at - w] * v[at - w]);
    uo[at] = u[at] - dt * (9.81f * dh + u[at] * 0.5f * (u[at + 1] - u[at - 1]) + v[at] * 0.5f * (u[at + w] - u[at - w]));
    vo[at] = v[at] - dt * (9.81f * eh + u[at] * 0.5f * (v[at + 1] - v[at - 1]) + v[at] * 0.5f * (v[at + w] - v[at - w]));
}

// time: kernel=coarser global=128,128,128 local=32,4,2 f=random(16777216) c=zeros(2097152)
// time: kernel=coarser global=32,32,64 local=32,1,1 f=random(524288) c=zeros(65536)
__kernel void coarser(__global const float *f, __global float *c)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), w = get_global_size(0), h = get_global_size(1);
    float sum = 0.0f;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++)
                sum += f[((2 * z + k) * 2 * h + 2 * y + j) * 2 * w + 2 * x + i];
    c[(z * h + y) * w + x] = 0.125f * sum;
}

// time: kernel=finer global=256,256,128 local=64,2,2 c=random(1048576) f=zeros(8388608)
__kernel void finer(__global const float *c, __global float *f)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), w = get_global_size(0), h = get_global_size(1);
    f[(z * h + y) * w + x] += c[(z / 2 * (h / 2) + y / 2) * (w / 2) + x / 2];
}

// time: kernel=gauge_times_vector global=131072 local=64 u=random(1179648) v=random(393216) out=zeros(393216)
__kernel void gauge_times_vector(__global const float2 *u, __global const float2 *v, __global float2 *out)
{
    const int s = get_global_id(0);
    for (int i = 0; i < 3; i++) {
        float2 sum = (float2)(0.0f);
        for (int j = 0; j < 3; j++) {
            const float2 a = u[s * 9 + i * 3 + j], b = v[s * 3 + j];
            sum += (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
        }
        out[s * 3 + i] = sum;
    }
}

// time: kernel=rotations global=2097152 local=256 q=random(2097152) p=random(2097152)
__kernel void rotations(__global const float4 *q, __global float4 *p)
{
    const size_t i = get_global_id(0);
    const float3 u = q[i].xyz, v = p[i].xyz;
    const float s = q[i].w;
    p[i] = (float4)(2.0f * dot(u, v) * u + (s * s - dot(u, u)) * v + 2.0f * s * cross(u, v), 1.0f);
}

// time: kernel=haar_levels global=1048576 local=256 x=random(1048576)
__kernel void haar_levels(__global float *x)
{
    __local float a[256], b[256];
    const uint l = get_local_id(0);
    a[l] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint n = 128; n >= 1; n /= 2) {
        if (l < n) {
            b[l] = (a[2 * l] + a[2 * l + 1]) * M_SQRT1_2_F;
            b[n + l] = (a[2 * l] - a[2 * l + 1]) * M_SQRT1_2_F;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 2 * n)
            a[l] = b[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[get_global_id(0)] = a[l];
}

// time: kernel=double_squares global=131072 local=128 m=random(2097152)
__kernel void double_squares(__global double *m)
{
    __global double *a = m + get_global_id(0) * 16;
    double r[16];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double s = 0.0;
            for (int k = 0; k < 4; k++)
                s += a[i * 4 + k] * a[k * 4 + j];
            r[i * 4 + j] = s;
        }
    for (int i = 0; i < 16; i++)
        a[i] = r[i];
}

// time: kernel=words_in_chunks global=65536 local=128 text=random(4194304) out=zeros(65536)
__kernel void words_in_chunks(__global const uchar *text, __global int *out)
{
    __global const uchar *p = text + get_global_id(0) * 64, *const end = p + 64;
    int words = 0, inside = 0;
    do {
        const int letter = *p > 32;
        words += letter & !inside;
        inside = letter;
    } while (++p != end);
    out[get_global_id(0)] = words;
}

// time: kernel=run_starts global=2097152 local=256 a=random(2097153) out=zeros(2097152) sums=zeros(8192)
__kernel void run_starts(__global const uchar *a, __global int *out, __global int *sums)
{
    __local int part[256];
    const int i = get_global_id(0), l = get_local_id(0);
    part[l] = a[i] != a[i + 1];
    for (int d = 1; d < 256; d <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int before = l >= d ? part[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[l] += before;
    }
    out[i] = part[l];
    if (l == 255)
        sums[get_group_id(0)] = part[l];
}

// time: kernel=sub_box global=200,100,100 local=40,5,1 in=random(8388608) out=zeros(2000000)
__kernel void sub_box(__global const float *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * 100 + y) * 200 + x] = in[((z + 9) * 256 + y + 11) * 256 + x + 13];
}

// time: kernel=upper_times global=4096 local=128 a=random(16777216) x=random(4096) y=zeros(4096) n=4096
__kernel void upper_times(__global const float *a, __global const float *x, __global float *y, const int n)
{
    const int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += (k < i ? a[k * n + i] : a[i * n + k]) * x[k];
    y[i] = sum;
}

// time: kernel=gram_tiles global=512,512 local=16,16 a=random(1048576) c=zeros(262144) rows=2048
__kernel void gram_tiles(__global const float *a, __global float *c, int rows)
{
    __local float p[16][16], q[16][16];
    const int lx = get_local_id(0), ly = get_local_id(1), n = get_global_size(0);
    const int bx = get_group_id(0) * 16, by = get_group_id(1) * 16;
    float sum = 0.0f;
    for (int r = 0; r < rows; r += 16) {
        p[ly][lx] = a[(r + ly) * n + by + lx];
        q[ly][lx] = a[(r + ly) * n + bx + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++)
            sum += p[k][ly] * q[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[(by + ly) * n + bx + lx] = sum;
}

// time: kernel=winograd_tiles global=128,128,16 local=16,8,1 in=random(1065024) out=zeros(4194304) w=258
__kernel void winograd_tiles(__global const float *in, __global float *out, int w)
{
    const int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2);
    const int tiles = get_global_size(0) * get_global_size(1), tile = y * get_global_size(0) + x;
    float t[4][4], u[4][4];
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            t[j][i] = in[(c * w + 2 * y + j) * w + 2 * x + i];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        u[0][i] = t[0][i] - t[2][i];
        u[1][i] = t[1][i] + t[2][i];
        u[2][i] = t[2][i] - t[1][i];
        u[3][i] = t[1][i] - t[3][i];
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        out[((j * 4 + 0) * 16 + c) * tiles + tile] = u[j][0] - u[j][2];
        out[((j * 4 + 1) * 16 + c) * tiles + tile] = u[j][1] + u[j][2];
        out[((j * 4 + 2) * 16 + c) * tiles + tile] = u[j][2] - u[j][1];
        out[((j * 4 + 3) * 16 + c) * tiles + tile] = u[j][1] - u[j][3];
    }
}

// time: kernel=window_maxima global=4194304 local=256 in=random(4194318) out=zeros(4194304)
__kernel void window_maxima(__global const float *in, __global float *out)
{
    __local float t[270];
    const int i = get_global_id(0), l = get_local_id(0);
    t[l] = in[i];
    if (l < 14)
        t[256 + l] = in[i + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
    float m = t[l];
    for (int k = 1; k < 15; k++)
        m = fmax(m, t[l + k]);
    out[i] = m;
}

// time: kernel=halton global=1048576 local=128 out=zeros(1048576) base=3
__kernel void halton(__global float *out, const uint base)
{
    uint n = get_global_id(0) + 1;
    float f = 1.0f, r = 0.0f;
    for (int k = 0; k < 14; k++) {
        f /= base;
        r += f * (n % base);
        n /= base;
    }
    out[get_global_id(0)] = r;
}

double shape_of(double x) { return x * x * exp(-x); }

// time: kernel=simpson global=32768 local=64 out=zeros(32768) steps=64
__kernel void simpson(__global double *out, int steps)
{
    const double a = get_global_id(0) * 1e-4, h = 1.0 / steps;
    double sum = shape_of(a) + shape_of(a + 1.0);
    for (int k = 1; k < steps; k++)
        sum += (k % 2 ? 4.0 : 2.0) * shape_of(a + k * h);
    out[get_global_id(0)] = sum * h / 3.0;
}

// time: kernel=assign_centres global=1048576 local=256 p=random(1048576) c=random(16) out=zeros(1048576)
__kernel void assign_centres(__global const float4 *p, __constant float4 *c, __global uchar *out)
{
    const float4 me = p[get_global_id(0)];
    int best = 0;
    float least = INFINITY;
    for (int k = 0; k < 16; k++) {
        const float4 d = me - c[k];
        const float r = dot(d, d);
        best = select(best, k, r < least);
        least = fmin(least, r);
    }
    out[get_global_id(0)] = best;
}

// time: kernel=rank_one global=2048,2048 local=64,4 a=random(4194304) x=random(2048) y=random(2048) s=0.5
__kernel void rank_one(__global float *a, __global const float *x, __global const float *y, float s)
{
    a[get_global_id(1) * get_global_size(0) + get_global_id(0)] += s * y[get_global_id(1)] * x[get_global_id(0)];
}

// time: kernel=horner global=4194304 local=256 x=random(4194304) y=zeros(4194304) c=random(17)
__kernel void horner(__global const float *x, __global float *y, __constant float *c)
{
    const int i = get_global_id(0);
    float r = c[16];
    for (int k = 15; k >= 0; k--)
        r = fma(r, x[i], c[k]);
    y[i] = r;
}

// time: kernel=packed_flags global=131072 local=128 a=random(4194304) out=zeros(131072)
__kernel void packed_flags(__global const float *a, __global uint *out)
{
    uint bits = 0;
    for (int k = 0; k < 32; k++)
        bits |= (uint)(a[k * get_global_size(0) + get_global_id(0)] > 0.5f) << k;
    out[get_global_id(0)] = bits;
}

// time: kernel=turned_pairs global=1024,1024 local=16,16 a=random(1048576) b=zeros(1048576)
__kernel void turned_pairs(__global const float2 *a, __global float2 *b)
{
    __local float2 t[16][17];
    const int lx = get_local_id(0), ly = get_local_id(1), n = get_global_size(0);
    t[ly][lx] = a[get_global_id(1) * n + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    b[(get_group_id(0) * 16 + ly) * n + get_group_id(1) * 16 + lx] = t[lx][ly];
}

// time: kernel=relax_in_groups global=1024,1024 local=32,8 a=random(1048576) rounds=16
// time: kernel=relax_in_groups global=128,128 local=16,16 a=random(16384) rounds=16
__kernel void relax_in_groups(__global float *a, int rounds)
{
    __local float t[34 * 34];
    const int x = get_local_id(0) + 1, y = get_local_id(1) + 1, at = y * 34 + x;
    const int g = get_global_id(1) * get_global_size(0) + get_global_id(0);
    t[at] = a[g];
    for (int r = 0; r < rounds; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float v = 0.25f * (t[at - 1] + t[at + 1] + t[at - 34] + t[at + 34]);
        barrier(CLK_LOCAL_MEM_FENCE);
        t[at] = v;
    }
    a[g] = t[at];
}

// time: kernel=placed_by_offsets global=2097152 local=256 in=random(2097152) at=formula(2097152,i//2+i%2*1048576) out=zeros(2097152)
__kernel void placed_by_offsets(__global const float *in, __global const int *at, __global float *out)
{
    out[at[get_global_id(0)]] = in[get_global_id(0)];
}

// time: kernel=page_ranks global=131072 local=128 src=formula(2097152,(i*7919+i//16)%131072) rank=random(131072) degree=random(131072) out=zeros(131072)
__kernel void page_ranks(__global const int *src, __global const float *rank, __global const float *degree, __global float *out)
{
    const int v = get_global_id(0);
    float sum = 0.0f;
    for (int e = v * 16; e < (v + 1) * 16; e++)
        sum += rank[src[e]] * degree[src[e]];
    out[v] = 0.15f + 0.85f * sum;
}

// time: kernel=colour_counts global=262144 local=256 img=random(4194304) out=zeros(262144)
__kernel void colour_counts(__global const uchar *img, __global uint *out)
{
    __local uint n[64];
    const uint l = get_local_id(0);
    if (l < 64)
        n[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; k++)
        atomic_inc(&n[img[(get_group_id(0) * 16 + k) * 256 + l] >> 2]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 64)
        out[get_group_id(0) * 64 + l] = n[l];
}

// time: kernel=resampled global=300,300,100 local=50,2,1 in=random(2097152) out=zeros(9000000)
__kernel void resampled(__global const float *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int u = x * 2 / 5, v = y * 2 / 5, w = z * 6 / 5;
    __global const float *p = in + (w * 128 + v) * 128 + u;
    const float a = mix(p[0], p[1], (x % 5) * 0.2f), b = mix(p[128], p[129], (x % 5) * 0.2f);
    out[(z * 300 + y) * 300 + x] = mix(a, b, (y % 5) * 0.2f);
}

// time: kernel=viterbi_step global=65536 local=64 cost=random(65536) trans=random(4096) out=zeros(65536) back=zeros(65536)
__kernel void viterbi_step(__global const float *cost, __global const float *trans, __global float *out, __global uchar *back)
{
    __local float c[64];
    const int s = get_local_id(0), base = get_group_id(0) * 64;
    c[s] = cost[base + s];
    barrier(CLK_LOCAL_MEM_FENCE);
    float best = c[0] + trans[s];
    uchar from = 0;
    for (uchar k = 1; k < 64; k++) {
        const float v = c[k] + trans[k * 64 + s];
        if (v < best) {
            best = v;
            from = k;
        }
    }
    out[base + s] = best;
    back[base + s] = from;
}

// time: kernel=cic_stages global=1048576 local=128 x=random(8388608) y=zeros(1048576)
__kernel void cic_stages(__global const short *x, __global int *y)
{
    const int i = get_global_id(0);
    const short8 v = vload8(i, x);
    int a = 0, b = 0, c = 0;
    const short s[8] = {v.s0, v.s1, v.s2, v.s3, v.s4, v.s5, v.s6, v.s7};
    for (int k = 0; k < 8; k++) {
        a += s[k];
        b += a;
        c += b;
    }
    y[i] = c;
}
