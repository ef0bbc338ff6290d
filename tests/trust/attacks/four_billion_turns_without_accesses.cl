// expect: stopped
// clmap: global=16 local=16 a=zeros(16) n=100
__kernel void k(__global int *a, long n) {
    long s = 0;
    for (long i = 0; i < n << 50; i++) for (long j = 0; j < n << 50; j++) s ^= i * j;
    a[0] = (int)s;
}
