// expect: out-of-bounds-write, stopped
// clmap: global=16 local=16 a=zeros(16) n=1
__kernel void k(__global int *a, int n) {
    for (int i = 16; ; i += n) a[i] = 66;
}
