// expect: stopped
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    while (1) {
    }
}
