// Kernels in other spellings, written when the optimiser was done; their times were the first that it saw of them.

// time: kernel=gemm_ptr global=2048,2048 local=16,16 N=2048 A=random(4194304) B=random(4194304,1) C=zeros(4194304)
__kernel void gemm_ptr(__global const float *A, __global const float *B, __global float *C, int N) {
    int col = get_global_id(0), row = get_global_id(1);
    __global const float *a = A + row * N;
    __global const float *b = B + col;
    float s = 0;
    for (int k = 0; k < N; k++, a++, b += N) s += *a * *b;
    C[row * N + col] = s;
}

// time: kernel=gemm_down global=2048,2048 local=16,16 N=2048 A=random(4194304) B=random(4194304,1) C=zeros(4194304)
__kernel void gemm_down(__global const float *A, __global const float *B, __global float *C, int N) {
    int row = get_global_id(0), col = get_global_id(1);
    float s = 0;
    for (int k = N - 1; k >= 0; k--) s += A[row * N + k] * B[k * N + col];
    C[row * N + col] = s;
}

// time: kernel=gemv_t global=8192 local=64 rows=8192 cols=8192 A=random(67108864) x=random(8192,1) y=zeros(8192)
__kernel void gemv_t(__global const float *A, __global const float *x, __global float *y, int rows, int cols) {
    int c = get_global_id(0);
    if (c >= cols) return;
    float s = 0;
    for (int r = 0; r < rows; r++) s += A[r * cols + c] * x[r];
    y[c] = s;
}

// time: kernel=dist2 global=2048,2048 local=16,16 n=2048 dims=64 p=random(131072) q=random(131072,1) d=zeros(4194304)
__kernel void dist2(__global const float *p, __global const float *q, __global float *d, int n, int dims) {
    int i = get_global_id(0), j = get_global_id(1);
    float s = 0;
    for (int k = 0; k < dims; k++) { float t = p[i * dims + k] - q[j * dims + k]; s += t * t; }
    d[i * n + j] = sqrt(s);
}

// time: kernel=jacobi3 global=256,256,256 local=4,4,4 n=256 u=random(16777216) v=zeros(16777216)
__kernel void jacobi3(__global const float *u, __global float *v, int n) {
    int x = get_global_id(2), y = get_global_id(1), z = get_global_id(0);
    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1) {
        int i = (z * n + y) * n + x;
        v[i] = 0.4f * u[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n]);
    }
}

// time: kernel=blur7 global=4096,4096 local=16,16 width=4096 height=4096 in=random(16777216) out=zeros(16777216) w=random(49,2)
__kernel void blur7(__global const float *in, __global float *out, __constant float *w, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    float s = 0;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
            int xx = clamp(x + i, 0, width - 1), yy = clamp(y + j, 0, height - 1);
            s += in[yy * width + xx] * w[(j + 3) * 7 + i + 3];
        }
    out[y * width + x] = s;
}

// time: kernel=hist_hash global=16777216 local=256 n=16777216 keys=random(16777216) h=zeros(1024)
__kernel void hist_hash(__global const uint *keys, __global uint *h, uint n) {
    uint i = get_global_id(0);
    if (i < n) atomic_inc(&h[(keys[i] * 2654435761u) >> 22]);
}

// time: kernel=rowmax global=8192 local=64 cols=8192 a=random(67108864) m=zeros(8192)
__kernel void rowmax(__global const float *a, __global float *m, int cols) {
    int r = get_global_id(0);
    float best = -INFINITY;
    for (int c = 0; c < cols; c++) best = fmax(best, a[r * cols + c]);
    m[r] = best;
}

// time: kernel=kick global=4194304 local=256 dt=0.1 b=random(4194304)
typedef struct { float x, y, z, m; float vx, vy, vz, pad; } Body;
__kernel void kick(__global Body *b, float dt) {
    int i = get_global_id(0);
    b[i].x += dt * b[i].vx;
}

// time: kernel=rgb2gray global=16777216 local=256 n=16777216 rgb=random(50331648) g=zeros(16777216)
__kernel void rgb2gray(__global const uchar *rgb, __global uchar *g, int n) {
    int i = get_global_id(0);
    if (i < n) g[i] = (uchar)(0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2]);
}

// time: kernel=transpose_add global=4096,4096 local=16,16 n=4096 a=random(16777216) b=random(16777216,1) c=zeros(16777216)
__kernel void transpose_add(__global const float *a, __global const float *b, __global float *c, int n) {
    int i = get_global_id(0), j = get_global_id(1);
    c[j * n + i] = a[i * n + j] + b[j * n + i];
}

// time: kernel=dot_chunks global=65536 local=64 per=1024 a=random(67108864) b=random(67108864,1) part=zeros(65536)
__kernel void dot_chunks(__global const float *a, __global const float *b, __global float *part, int per) {
    int g = get_global_id(0);
    float s = 0;
    for (int i = g * per; i < (g + 1) * per; i++) s += a[i] * b[i];
    part[g] = s;
}
