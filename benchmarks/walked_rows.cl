// Rows that one work-item walks several times: what `optimise` makes work-groups of.

// clmap: global=16384 local=64 n=1024 x=random(16777216)
__kernel void softmax_in_place(__global float *x, const int n)
{
    const int row = get_global_id(0);
    float most = x[row * n];
    for (int i = 1; i < n; i++)
        if (x[row * n + i] > most)
            most = x[row * n + i];
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        x[row * n + i] = exp(x[row * n + i] - most);
        sum += x[row * n + i];
    }
    for (int i = 0; i < n; i++)
        x[row * n + i] /= sum;
}

// clmap: global=16384 local=256 n=1024 a=random(16777216) o=zeros(16777216)
__kernel void softmax_rows(__global const float *a, __global float *o, const int n)
{
    const int row = get_global_id(0);
    float most = -INFINITY, sum = 0.0f;
    for (int k = 0; k < n; k++)
        most = fmax(most, a[row * n + k]);
    for (int k = 0; k < n; k++)
        sum += exp(a[row * n + k] - most);
    for (int k = 0; k < n; k++)
        o[row * n + k] = exp(a[row * n + k] - most) / sum;
}

// clmap: global=8192 local=64 n=768 a=random(6291456) gain=random(768,1) bias=random(768,2) o=zeros(6291456)
__kernel void layer_norm(__global const float *a, __global const float *gain, __global const float *bias,
                         __global float *o, const int n)
{
    const int row = get_global_id(0);
    float mean = 0.0f, spread = 0.0f;
    int k;
    for (k = 0; k < n; k++)
        mean += a[row * n + k];
    mean /= n;
    for (k = 0; k < n; k++) {
        const float off = a[row * n + k] - mean;
        spread += off * off;
    }
    const float scale = rsqrt(spread / n + 1e-5f);
    for (k = 0; k < n; k++)
        o[row * n + k] = (a[row * n + k] - mean) * scale * gain[k] + bias[k];
}
