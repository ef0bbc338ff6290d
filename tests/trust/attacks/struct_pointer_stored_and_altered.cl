// expect: data-race, out-of-bounds-write
typedef struct {
    __global int *p;
    int x;
} S;
// clmap: global=16 local=16 s=zeros(4) secret=iota(16) n=1048576
__kernel void k(__global S *s, __global int *secret, long n) {
    s[0].p = secret;
    ((__global ulong *)s)[0] += (ulong)n;
    *s[0].p = 66;
    s[1].x = secret[0];
}
