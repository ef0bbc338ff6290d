__kernel void histogram(__global const uchar *a, __global uint *bins, int n) {
  int i = get_global_id(0);
  if (i < n) atomic_inc(&bins[a[i]]);
}
__kernel void local_histogram(__global const uchar *a, __global uint *bins, int n) {
  __local uint mine[256];
  int l = get_local_id(0), i = get_global_id(0);
  mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) atomic_inc(&mine[a[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (mine[l]) atomic_add(&bins[l], mine[l]);
}
__kernel void csr(__global const int *start, __global const int *column, __global const float *value,
                  __global const float *x, __global float *y) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
  y[row] = sum;
}
__kernel void nbody(__global const float4 *p, __global float4 *f, int n) {
  int i = get_global_id(0);
  float4 me = p[i], sum = 0;
  for (int j = 0; j < n; j++) {
    float4 d = p[j] - me;
    float r = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
    sum += d * (p[j].w * r * r * r);
  }
  f[i] = sum;
}
__kernel void tiled_nbody(__global const float4 *p, __global float4 *f, int n) {
  __local float4 tile[256];
  int i = get_global_id(0), l = get_local_id(0);
  float4 me = p[i], sum = 0;
  for (int t = 0; t < n; t += 256) {
    tile[l] = p[t + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 256; j++) {
      float4 d = tile[j] - me;
      float r = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
      sum += d * (tile[j].w * r * r * r);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  f[i] = sum;
}
