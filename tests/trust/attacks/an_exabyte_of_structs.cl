// expect: refused
typedef struct {
    double16 v[64];
} S;
// clmap: global=16 local=16 s=zeros(1152921504606846976)
__kernel void k(__global S *s) {
    s[0].v[0] = 1.0;
}
