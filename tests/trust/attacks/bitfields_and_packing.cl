// expect: data-race
typedef struct __attribute__((packed)) {
    char c;
    int x : 3;
    long y;
} B;
// clmap: global=16 local=16 s=zeros(4) n=3
__kernel void k(__global B *s, int n) {
    s[n].y = 66;
    s[n].x = 66;
}
