"""Known-bad kernels in the styles of public code, without a launch: what is wrong with each is found.

They were written before anybody looked at what is found of them. `MISSED` are those that are not, and why.
"""

# ruff: noqa: E501 - kernels as people write them

from __future__ import annotations

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection

KERNELS: dict[str, tuple[str, str]] = {
    "rows, a work-item a row": (
        "CM101",
        """__kernel void rowsum(__global const float *m, __global float *s, int rows, int cols) {
            int r = get_global_id(0); if (r >= rows) return;
            float t = 0; for (int c = 0; c < cols; ++c) t += m[r * cols + c]; s[r] = t; }""",
    ),
    "rows, the id put together from group and local id": (
        "CM101",
        """__kernel void norm(__global const float *d, __global float *o, const uint height, const uint pitch) {
            uint row = get_group_id(0) * get_local_size(0) + get_local_id(0);
            if (row < height) { float t = 0; for (uint c = 0; c < pitch; c++) t += d[row * pitch + c] * d[row * pitch + c];
              o[row] = sqrt(t); } }""",
    ),
    "structs of seven floats": (
        "CM101",
        """typedef struct { float x, y, z, vx, vy, vz, m; } body;
        __kernel void kick(__global body *b, float dt, int n) { int i = get_global_id(0);
            if (i < n) { b[i].x += dt * b[i].vx; b[i].y += dt * b[i].vy; b[i].z += dt * b[i].vz; } }""",
    ),
    "results a stride apart": (
        "CM102",
        """__kernel void put(__global const float *in, __global float *out, int n) {
            size_t i = get_global_id(0); if (i < n) out[i * 32] = in[i]; }""",
    ),
    "a naive transpose": (
        "CM102",
        """__kernel void transpose(__global float *out, __global const float *in, int w, int h) {
            int x = get_global_id(0), y = get_global_id(1);
            if (x < w && y < h) out[x * h + y] = in[y * w + x]; }""",
    ),
    "matrix by the wrong id": (
        "CM104",
        """__kernel void mm(int N, __global float *A, __global float *B, __global float *C) {
            int i = get_global_id(0), j = get_global_id(1); float t = 0;
            if (i < N && j < N) { for (int k = 0; k < N; k++) t += A[i * N + k] * B[k * N + j]; C[i * N + j] = t; } }""",
    ),
    "an image by columns": (
        "CM104",
        """__kernel void invert(__global uchar *img, int width, int height) {
            int row = get_global_id(0), col = get_global_id(1);
            if (row < height && col < width) img[row * width + col] = 255 - img[row * width + col]; }""",
    ),
    "an unpadded tile": (
        "CM201",
        """__kernel void tr(__global float *o, __global const float *i, int w) { __local float t[32][32];
            int lx = get_local_id(0), ly = get_local_id(1);
            t[ly][lx] = i[(get_group_id(1) * 32 + ly) * w + get_group_id(0) * 32 + lx]; barrier(CLK_LOCAL_MEM_FENCE);
            o[(get_group_id(0) * 32 + ly) * w + get_group_id(1) * 32 + lx] = t[lx][ly]; }""",
    ),
    "a table for each work-item in local memory": (
        "CM201",
        """#define BINS 64
        __kernel void hist(__global const uchar *in, __global uint *out) { __local uint h[128 * BINS];
            int l = get_local_id(0); for (int i = 0; i < BINS; i++) h[l * BINS + i] = 0;
            for (int i = 0; i < 256; i++) h[l * BINS + (in[get_group_id(0) * 32768 + i * 128 + l] >> 2)]++;
            barrier(CLK_LOCAL_MEM_FENCE); uint s = 0;
            if (l < BINS) { for (int k = 0; k < 128; k++) s += h[k * BINS + l]; out[get_group_id(0) * BINS + l] = s; } }""",
    ),
    "an interleaved reduction": (
        "CM201",
        """__kernel void reduce(__global const float *g, __global float *o, __local float *s) {
            uint l = get_local_id(0); s[l] = g[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
            for (uint d = 1; d < get_local_size(0); d *= 2) { uint i = 2 * d * l;
              if (i < get_local_size(0)) s[i] += s[i + d]; barrier(CLK_LOCAL_MEM_FENCE); }
            if (l == 0) o[get_group_id(0)] = s[0]; }""",
    ),
    "a histogram of bytes in global memory": (
        "CM512",
        """__kernel void hist(__global const uchar *image, __global uint *bins, uint n) {
            uint i = get_global_id(0); if (i < n) atomic_inc(&bins[image[i]]); }""",
    ),
    "a histogram of masked keys, several a work-item": (
        "CM512",
        """__kernel void digits(__global const uint *key, __global uint *count, uint n, uint shift) {
            for (uint i = get_global_id(0); i < n; i += get_global_size(0))
              atomic_add(&count[(key[i] >> shift) & 15], 1); }""",
    ),
    "CSR by rows": (
        "CM106",
        """__kernel void spmv(__global const float *val, __global const int *col, __global const int *ptr,
            __global const float *x, __global float *y, int n) { int r = get_global_id(0);
            if (r < n) { float s = 0; int end = ptr[r + 1];
              for (int j = ptr[r]; j < end; j++) s += val[j] * x[col[j]]; y[r] = s; } }""",
    ),
    "records through an index": (
        "CM106",
        """__kernel void fetch(__global const int *id, __global const float *feat, __global float *o, int n) {
            int i = get_global_id(0); if (i < n) { float s = 0;
              for (int k = 0; k < 32; k++) s += feat[id[i] * 32 + k]; o[i] = s; } }""",
    ),
    "a texture by columns": (
        "CM107",
        """__kernel void grey(__read_only image2d_t in, __write_only image2d_t out) {
            int2 at = (int2)(get_global_id(1), get_global_id(0)); float4 v = read_imagef(in, at);
            write_imagef(out, at, (float4)(dot(v.xyz, (float3)(0.3f, 0.6f, 0.1f)))); }""",
    ),
    "four floats one by one": (
        "CM105",
        """__kernel void dot4(__global const float *a, __global const float *b, __global float *c, int n) {
            int i = get_global_id(0); if (i >= n) return; int k = i << 2;
            c[i] = a[k] * b[k] + a[k + 1] * b[k + 1] + a[k + 2] * b[k + 2] + a[k + 3] * b[k + 3]; }""",
    ),
    "pixels by bytes": (
        "CM105",
        """__kernel void grey(__global const uchar *rgba, __global uchar *o, int n) { int i = get_global_id(0);
            if (i < n) o[i] = (rgba[4 * i] * 77 + rgba[4 * i + 1] * 150 + rgba[4 * i + 2] * 29 + rgba[4 * i + 3]) >> 8; }""",
    ),
    "a sum by one work-item": (
        "CM511",
        """__kernel void total(__global const float *a, __global float *o, int n) {
            if (get_global_id(0) == 0) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; o[0] = s; } }""",
    ),
    "a group that waits for its first": (
        "CM511",
        """__kernel void top(__global const float *a, __global float *o) { __local float t[256];
            int l = get_local_id(0); t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
            if (l == 0) { float m = t[0]; for (int i = 1; i < 256; i++) m = max(m, t[i]); o[get_group_id(0)] = m; } }""",
    ),
    "one counter for all": (
        "CM512",
        """__kernel void count(__global int *c, __global const int *a) {
            atomic_add(c, a[get_global_id(0)]); }""",
    ),
    "an unsigned guard": (
        "CM015",
        """__kernel void edge(__global float *a) { const int border = -3;
            if (get_global_id(0) < border) return; a[get_global_id(0)] = 0; }""",
    ),
    "more than the registers": (
        "CM503",
        """__kernel void row(__global const float *A, __global float *o, int n) { float w[1024]; int i = get_global_id(0);
            for (int k = 0; k < 1024; k++) w[k] = A[k * n + i]; float s = 0;
            for (int k = 0; k < 1024; k++) s += w[k] * w[1023 - k]; o[i] = s; }""",
    ),
    "digits counted in private memory": (
        "CM503",
        """__kernel void digits(__global const uint *in, __global uint *out, int n) { uint c[16] = {0};
            for (int i = get_global_id(0); i < n; i += get_global_size(0)) c[in[i] & 15]++;
            for (int k = 0; k < 16; k++) out[k * get_global_size(0) + get_global_id(0)] = c[k]; }""",
    ),
    "one row kept again and again": (
        "CM510",
        """__kernel void nearest(__global const float *x, __constant float *c, __global int *o) { int i = get_global_id(0);
            float best = 1e9f; int at = 0; for (int k = 0; k < 16; k++) { float d = 0;
              for (int j = 0; j < 8; j++) { float g = x[j * 4096 + i] - c[k * 8 + j]; d += g * g; }
              if (d < best) { best = d; at = k; } } o[i] = at; }""",
    ),
    "a chunk for each work-item": (
        "CM101",
        """#define CHUNK 64
        __kernel void part(__global const int *in, __global int *out) { int g = get_global_id(0); int s = 0;
            for (int i = g * CHUNK; i < (g + 1) * CHUNK; i++) s += in[i]; out[g] = s; }""",
    ),
    "planes the slowest id walks": (
        "CM101",
        """__kernel void col(__global const float *v, __global float *o, int nx, int ny) { int y = get_global_id(0);
            if (y < ny) { float s = 0; for (int x = 0; x < nx; x++) s += v[y * nx + x]; o[y] = s; } }""",
    ),
    "a barrier that orders nothing": (
        "CM507",
        """__kernel void idle(__global float *a) { int i = get_global_id(0);
            a[i] *= 2; barrier(CLK_LOCAL_MEM_FENCE); }""",
    ),
    "rows of an odd length": (
        "CM103",
        """// clmap: w=1001
        __kernel void scale(__global const float *a, __global float *b, int w) {
            int x = get_global_id(0), y = get_global_id(1); b[y * 1024 + x] = 2 * a[y * w + x]; }""",
    ),
    "double stores a struct apart": (
        "CM102",
        """typedef struct { double re, im, pad[6]; } cell;
        __kernel void clear(__global cell *c, int n) { int i = get_global_id(0); if (i < n) c[i].re = 0; }""",
    ),
}
MISSED = {
    "structs of seven floats": "six members of seven are used beside each other; the stores are found",
    "rows of an odd length": "a hint: caches keep the granule that two neighbouring requests share",
}
"""Their names, and why they are not found."""
WANTED = 0.85
"""Of all that is wrong."""


def shown(text: str) -> set[str]:
    report = check_file(CheckJob("bad.cl", Settings(), Selection.of(), text=text))
    assert report.error is None
    return {it.code for it in report.findings if it.severity is not Severity.HINT}


def test_what_is_wrong_with_known_bad_kernels_is_found() -> None:
    missed = {name for name, (code, text) in KERNELS.items() if code not in shown(text)}
    assert len(KERNELS) >= 25
    assert missed == set(MISSED)
    assert 1 - len(missed) / len(KERNELS) >= WANTED
