// expect: stopped
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    for (int i = 0; ; i++) printf("%d %f\n", i, 1.0f);
}
