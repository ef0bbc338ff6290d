// expect: index-past-array
typedef struct {
    int v[4];
    int after;
} S;
// clmap: global=16 local=16 s=zeros(1) n=4
__kernel void k(__global S *s, int n) {
    s[0].v[n] = 66;
}
