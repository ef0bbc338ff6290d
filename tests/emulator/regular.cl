__kernel void stencil(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
    b[y * w + x] = 0.25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]) - a[y * w + x];
}
__kernel void clamped(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  int l = max(x - 1, 0), r = min(x + 1, w - 1), u = max(y - 1, 0), d = min(y + 1, h - 1);
  b[y * w + x] = 0.25f * (a[y * w + l] + a[y * w + r] + a[u * w + x] + a[d * w + x]) - a[y * w + x];
}
__kernel void reflected(__global const float *a, __global float *b, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1);
  float s = 0;
  for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
    int xx = x + dx, yy = y + dy;
    if (xx < 0) xx = -xx - 1; if (xx >= w) xx = 2 * w - 1 - xx;
    if (yy < 0) yy = -yy - 1; if (yy >= h) yy = 2 * h - 1 - yy;
    s += a[yy * w + xx];
  }
  b[y * w + x] = s;
}
__kernel void reduce(__global const float *a, __global float *o, __local float *t, int n) {
  int l = get_local_id(0), i = get_global_id(0);
  t[l] = i < n ? a[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) o[get_group_id(0)] = t[0];
}
__kernel void scan(__global const float *a, __global float *o, __global float *sums, __local float *t) {
  int l = get_local_id(0), g = get_global_id(0), n = get_local_size(0);
  t[l] = a[g];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 1; d < n; d <<= 1) {
    float v = l >= d ? t[l - d] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += v;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  o[g] = t[l];
  if (l == n - 1) sums[get_group_id(0)] = t[l];
}
__kernel void blelloch(__global const float *a, __global float *o, __global float *sums, __local float *t) {
  int l = get_local_id(0), g = get_group_id(0), n = 2 * get_local_size(0), off = 1;
  t[2*l] = a[g*n+2*l]; t[2*l+1] = a[g*n+2*l+1];
  for (int d = n >> 1; d > 0; d >>= 1) { barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) { int ai = off*(2*l+1)-1, bi = off*(2*l+2)-1; t[bi] += t[ai]; } off *= 2; }
  if (l == 0) { sums[g] = t[n-1]; t[n-1] = 0; }
  for (int d = 1; d < n; d *= 2) { off >>= 1; barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) { int ai = off*(2*l+1)-1, bi = off*(2*l+2)-1; float v = t[ai]; t[ai] = t[bi]; t[bi] += v; } }
  barrier(CLK_LOCAL_MEM_FENCE);
  o[g*n+2*l] = t[2*l]; o[g*n+2*l+1] = t[2*l+1];
}
#define T 16
__kernel void transpose(__global const float *a, __global float *b, int n) {
  __local float t[T][T+1];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  if (x < n && y < n) t[ly][lx] = a[y*n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int ox = get_group_id(1)*T + lx, oy = get_group_id(0)*T + ly;
  if (ox < n && oy < n) b[oy*n+ox] = t[lx][ly];
}
__kernel void mm(__global const float *A, __global const float *B, __global float *C, int n) {
  __local float As[T][T], Bs[T][T];
  int col = get_global_id(0), row = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float s = 0;
  for (int t = 0; t < (n + T - 1) / T; t++) {
    As[ly][lx] = (row < n && t*T + lx < n) ? A[row*n + t*T + lx] : 0.0f;
    Bs[ly][lx] = (col < n && t*T + ly < n) ? B[(t*T + ly)*n + col] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < T; k++) s += As[ly][k] * Bs[k][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < n && col < n) C[row*n + col] = s;
}
__kernel void strided(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0);
  for (int k = i; k < n; k += get_global_size(0)) s += a[k];
  o[i] = s;
}
__kernel void wrapped(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0);
  for (int k = 0; k < 9; k++) s += a[(i + k * 7) % n];
  o[i] = s;
}
__kernel void triangular(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0);
  for (int k = 0; k <= i; k++) s += a[i * n + k];
  o[i] = s;
}
__kernel void bitonic(__global float *a, int j, int k) {
  int i = get_global_id(0), l = i ^ j;
  if (l > i) { float x = a[i], y = a[l]; if ((i & k) == 0) { a[i] = min(x, y); a[l] = max(x, y); } else { a[i] = max(x, y); a[l] = min(x, y); } }
}
__kernel void fft(__global const float2 *x, __global float2 *y, int p) {
  int i = get_global_id(0), t = get_global_size(0);
  int k = i & (p - 1);
  float2 u0 = x[i], u1 = x[i + t];
  float a = -3.14159265f * k / p;
  float2 w = (float2)(native_cos(a), native_sin(a));
  u1 = (float2)(u1.x * w.x - u1.y * w.y, u1.x * w.y + u1.y * w.x);
  int j = (i << 1) - k;
  y[j] = u0 + u1; y[j + p] = u0 - u1;
}
__kernel void prefix(__global const float *a, __global float *o) {
  float s = 0; int i = get_global_id(0);
  for (int k = 0; k <= i; k++) s += a[k];
  o[i] = s;
}
__kernel void suffix(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0);
  for (int k = i; k < n; k++) s += a[k] * a[n - 1 - k];
  o[i] = s;
}
__kernel void stairs(__global const float *a, __global float *o) {
  float s = 0; int i = get_global_id(0), last = 0, seen = 0;
  for (int k = 0; k < i; k++) {
    s += a[k];
    for (int j = 0; j < 3; j++) s += a[j + (k & 7)];
    last = k; seen += 2;
  }
  s += a[seen / 2];
  for (int k = i; k > 4; k -= 2) s += a[k];
  o[i] = s;
}
__kernel void ragged(__global const float *a, __global float *o) {
  float s = 0; int i = get_global_id(0), k = 0; __global const float *p = a;
  do { s += a[k] + *p++; k += 2; } while (k < i % 7 * 2);
  if (i & 1) for (int j = 0; j < i; j++) s += p[0] * a[j];
  o[i] = s;
}
__kernel void lately(__global const float *a, __global float *o) {
  float s = 0; int i = get_global_id(0), last = 0;
  for (int k = 0; k <= i; k++) { s += a[k]; last = k * 2; }
  o[last & 1023] = s;
}
__kernel void pairs(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0);
  for (int j = i + 1; j < n; j++) s += a[i] * a[j] + a[j * 2 + 1];
  o[i] = s;
}
__kernel void lower(__global const float *a, __global float *o, int n) {
  float s = 0; int i = get_global_id(0), r = get_global_id(1);
  for (int k = 0; k < i; k += 3) s += a[r * n + k] * a[k * n + i];
  o[r * get_global_size(0) + i] = s;
}
__kernel void staircase(__global float *a, int n) {
  int i = get_global_id(0);
  for (int k = i; k >= 0; k--) a[i * n + k] = a[k] + k;
}
