// What NVIDIA's first level does with private arrays in memory: times, and counters of loads and stores.
//
//     nvcc -O3 -arch=sm_90 -o private_counters benchmarks/private_counters.cu && ./private_counters
//     ONCE=1 ncu --clock-control none --csv --metrics METRICS ./private_counters
//
// METRICS: l1tex__t_sectors_pipe_lsu_mem_local_op_{ld,st}.sum, ..._lookup_hit.sum of both,
// lts__t_sectors_srcunit_tex_op_{read,write}.sum. In CUDA, since the profiler shows counters of it alone. Lines are
// NAME g=(groups of 128 on each unit) e=(elements gone to) sp=(indices among lanes) microseconds.
#include <cstdio>
#include <cstdlib>

enum { ELEMENTS = 64, TURNS = 512, UNITS = 132, ITEMS = 128 };

// A kernel that fills the array, takes TURN n times and adds the array up.
#define KERNEL(NAME, BEFORE, TURN)                                   \
    extern "C" __global__ void NAME(int *o, int mask, int n, int spread) \
    {                                                                \
        int a[ELEMENTS], l = threadIdx.x % spread, s = 0;            \
        BEFORE;                                                      \
        _Pragma("unroll 1") for (int i = 0; i <= mask; i++) a[i] = i; \
        _Pragma("unroll 1") for (int i = 0; i < n; i++) { TURN; }    \
        _Pragma("unroll 1") for (int i = 0; i <= mask; i++) s += a[i]; \
        o[blockIdx.x * blockDim.x + threadIdx.x] = s + l;            \
    }

KERNEL(walk, , a[(i + l) & mask] += i)
KERNEL(stores, , a[(i + l) & mask] = i)
KERNEL(loads, , s = s * 3 + a[(i + l) & mask])
KERNEL(ring, int v = threadIdx.x, v = v * 3 + a[i & mask] + a[(i + mask / 2 - 2) & mask]; a[i & mask] = v)
// A stack; with a spread of 1 all lanes of a SIMD group push and pop alike.
KERNEL(stack,
       int top = (mask + 1) / 2;
       unsigned x = (blockIdx.x * blockDim.x + (spread == 1 ? threadIdx.x / 32 : threadIdx.x)) * 2654435761u | 1u,
       x ^= x << 13; x ^= x >> 17; x ^= x << 5;
       if ((x & 64u) && top < mask) a[top++] = i; else if (top > 0) s += a[--top])

int main()
{
    typedef void (*Kernel)(int *, int, int, int);
    Kernel kernels[] = {walk, stores, loads, ring, stack};
    const char *names[] = {"walk", "stores", "loads", "ring", "stack"};
    bool once = getenv("ONCE") != nullptr;
    int *o;
    cudaMalloc(&o, 1 << 26);
    cudaEvent_t before, after;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    for (int k = 0; k < 5; k++)
        for (int groups : {1, 4, 16})
            for (int elements = 1; elements <= ELEMENTS; elements *= 2)
                for (int spread : {1, 8, 32}) {
                    if ((spread > elements && !(k == 4 && spread == 32)) || (once && groups == 4))
                        continue;
                    if ((k == 3 && (elements < 8 || spread > 1)) || (k == 4 && (spread == 8 || elements == 1)))
                        continue;
                    float best = 1e9f;
                    for (int run = 0; run < (once ? 1 : 5); run++) {
                        float ms;
                        cudaEventRecord(before);
                        kernels[k]<<<UNITS * groups, ITEMS>>>(o, elements - 1, TURNS, spread);
                        cudaEventRecord(after);
                        cudaEventSynchronize(after);
                        cudaEventElapsedTime(&ms, before, after);
                        best = ms < best ? ms : best;
                    }
                    printf("%s g=%d e=%d sp=%d %.1f\n", names[k], groups, elements, spread, best * 1e3f);
                }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
