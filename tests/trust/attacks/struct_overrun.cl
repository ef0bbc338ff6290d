// expect: index-past-array, out-of-bounds-write
typedef struct {
    int v[4];
    int after;
} S;
// clmap: global=16 local=16 s=zeros(2) n=1000
__kernel void k(__global S *s, int n) {
    s[0].v[n] = 66;
    s[1].v[n * 1000] = 66;
    s[0].after = 1;
}
