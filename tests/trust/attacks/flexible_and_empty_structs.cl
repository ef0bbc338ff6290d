// expect: out-of-bounds-write
typedef struct {
} E;
typedef struct {
    int n;
    int tail[];
} F;
// clmap: global=16 local=16 s=zeros(4) n=9
__kernel void k(__global F *s, int n) {
    E e[100];
    s[0].tail[n] = 66;
    s[n].n = (int)sizeof(e);
}
