// Kernels bound by arithmetic: each pipe, chains and independent work.

// time: kernel=horner global=4194304 local=256 a=random(4194304) b=zeros(4194304) n=512
// time: kernel=horner global=270336 local=256 a=random(270336) b=zeros(270336) n=128
__kernel void horner(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i];
    float s = 0.5f;
    for (int k = 0; k < n; k++)
        s = s * x + 0.25f;
    b[i] = s;
}

// time: kernel=four_chains global=2097152 local=128 a=random(2097152) b=zeros(2097152) n=256
// time: kernel=four_chains global=135168 local=128 a=random(135168) b=zeros(135168) n=1024
__kernel void four_chains(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i];
    float s = x, t = x + 1.0f, u = x + 2.0f, v = x + 3.0f;
    for (int k = 0; k < n; k++) {
        s = s * x + 0.25f;
        t = t * x + 0.5f;
        u = u * x + 0.75f;
        v = v * x + 0.125f;
    }
    b[i] = s + t + u + v;
}

// time: kernel=double_chain global=1048576 local=256 a=random(1048576) b=zeros(1048576) n=256
// time: kernel=double_chain global=67584 local=256 a=random(67584) b=zeros(67584) n=512
__kernel void double_chain(__global const double *a, __global double *b, const int n)
{
    const int i = get_global_id(0);
    const double x = a[i];
    double s = x, t = x + 1.0;
    for (int k = 0; k < n; k++) {
        s = s * x + 0.25;
        t = t * x + 0.5;
    }
    b[i] = s + t;
}

// time: kernel=hash_rounds global=4194304 local=256 o=zeros(4194304) n=64
// time: kernel=hash_rounds global=131072 local=64 o=zeros(131072) n=512
__kernel void hash_rounds(__global uint *o, const int n)
{
    uint h = get_global_id(0) * 2654435761u;
    for (int k = 0; k < n; k++) {
        h ^= h >> 16;
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        h *= 0xc2b2ae35u;
        h += k;
    }
    o[get_global_id(0)] = h;
}

// time: kernel=xorshift_walk global=2097152 local=256 o=zeros(2097152) n=200
// time: kernel=xorshift_walk global=33792 local=256 o=zeros(33792) n=2000
__kernel void xorshift_walk(__global float *o, const int n)
{
    uint s = get_global_id(0) + 1u;
    int inside = 0;
    for (int k = 0; k < n; k++) {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        const float x = (s & 0xffff) * (1.0f / 65536.0f);
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        const float y = (s & 0xffff) * (1.0f / 65536.0f);
        inside += x * x + y * y < 1.0f;
    }
    o[get_global_id(0)] = 4.0f * inside / n;
}

// time: kernel=roots global=4194304 local=256 a=random(4194304) b=zeros(4194304) n=64
// time: kernel=roots global=270336 local=128 a=random(270336) b=zeros(270336) n=64
__kernel void roots(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    float s = a[i] + 1.0f;
    for (int k = 0; k < n; k++)
        s += rsqrt(s) + sqrt(s + k);
    b[i] = s;
}

// time: kernel=waves global=2097152 local=256 a=random(2097152) b=zeros(2097152) n=32
// time: kernel=waves global=262144 local=64 a=random(262144) b=zeros(262144) n=32
__kernel void waves(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i];
    float s = 0.0f;
    for (int k = 1; k <= n; k++)
        s += sin(k * x) * cos(0.5f * k * x) / k;
    b[i] = s;
}

// time: kernel=native_waves global=4194304 local=256 a=random(4194304) b=zeros(4194304) n=64
// time: kernel=native_waves global=67584 local=256 a=random(67584) b=zeros(67584) n=256
__kernel void native_waves(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i];
    float s = 0.0f;
    for (int k = 1; k <= n; k++)
        s += native_sin(k * x) * native_exp(-x * k);
    b[i] = s;
}

float normal_cdf(float x)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float p = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    p = 1.0f - 0.39894228f * exp(-0.5f * x * x) * p;
    return x < 0.0f ? 1.0f - p : p;
}

// time: kernel=options global=8388608 local=256 s=random(8388608) k=random(8388608,1) t=random(8388608,2) c=zeros(8388608) p=zeros(8388608) r=0.02 v=0.3
// time: kernel=options global=524288 local=128 s=random(524288) k=random(524288,1) t=random(524288,2) c=zeros(524288) p=zeros(524288) r=0.02 v=0.3
__kernel void options(__global const float *s, __global const float *k, __global const float *t, __global float *c,
                      __global float *p, const float r, const float v)
{
    const int i = get_global_id(0);
    const float S = 5.0f + s[i], K = 1.0f + k[i], T = 0.25f + t[i];
    const float q = v * sqrt(T);
    const float d1 = (log(S / K) + (r + 0.5f * v * v) * T) / q, d2 = d1 - q;
    const float e = exp(-r * T), n1 = normal_cdf(d1), n2 = normal_cdf(d2);
    c[i] = S * n1 - K * e * n2;
    p[i] = K * e * (1.0f - n2) - S * (1.0f - n1);
}

// time: kernel=powers global=1048576 local=256 a=random(1048576) b=zeros(1048576) n=16
// time: kernel=powers global=131072 local=128 a=random(131072) b=zeros(131072) n=32
__kernel void powers(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i] + 0.5f;
    float s = 0.0f;
    for (int k = 1; k <= n; k++)
        s += pow(x, 0.1f * k);
    b[i] = s;
}

// time: kernel=divisions global=2097152 local=256 a=random(2097152) b=zeros(2097152) n=32 m=97
// time: kernel=divisions global=131072 local=256 a=random(131072) b=zeros(131072) n=64 m=97
__kernel void divisions(__global const uint *a, __global uint *b, const int n, const uint m)
{
    const int i = get_global_id(0);
    uint x = a[i], s = 0;
    for (int k = 0; k < n; k++) {
        s += x / (m + k);
        x = x % (m + 3 * k) + 1000003u * k;
    }
    b[i] = s;
}

// time: kernel=mandelbrot global=2048,2048 local=16,16 o=zeros(4194304) n=256
// time: kernel=mandelbrot global=512,512 local=32,4 o=zeros(262144) n=1000
__kernel void mandelbrot(__global int *o, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    const float cx = -2.0f + 2.5f * x / w, cy = -1.25f + 2.5f * y / get_global_size(1);
    float zx = 0.0f, zy = 0.0f;
    int k = 0;
    while (k < n && zx * zx + zy * zy < 4.0f) {
        const float t = zx * zx - zy * zy + cx;
        zy = 2.0f * zx * zy + cy;
        zx = t;
        k++;
    }
    o[y * w + x] = k;
}

// time: kernel=bits global=8388608 local=256 a=random(8388608) b=zeros(8388608) n=16
// time: kernel=bits global=524288 local=256 a=random(524288) b=zeros(524288) n=64
__kernel void bits(__global const uint *a, __global uint *b, const int n)
{
    const int i = get_global_id(0);
    uint x = a[i], s = 0;
    for (int k = 0; k < n; k++) {
        s += popcount(x) + clz(x ^ k);
        x = rotate(x, 7u) + s;
    }
    b[i] = s;
}

// time: kernel=odd_and_even global=4194304 local=256 a=random(4194304) b=zeros(4194304) n=64
// time: kernel=odd_and_even global=262144 local=128 a=random(262144) b=zeros(262144) n=64
__kernel void odd_and_even(__global const float *a, __global float *b, const int n)
{
    const int i = get_global_id(0);
    const float x = a[i];
    float s = x;
    if (i & 1)
        for (int k = 0; k < n; k++)
            s = s * x + 1.5f;
    else
        for (int k = 0; k < n; k++)
            s = s * s - x;
    b[i] = s;
}

// time: kernel=long_integers global=2097152 local=256 o=zeros(2097152) n=64
// time: kernel=long_integers global=131072 local=256 o=zeros(131072) n=64
__kernel void long_integers(__global ulong *o, const int n)
{
    ulong h = get_global_id(0);
    for (int k = 0; k < n; k++) {
        h = h * 6364136223846793005UL + 1442695040888963407UL;
        h ^= h >> 29;
    }
    o[get_global_id(0)] = h;
}
