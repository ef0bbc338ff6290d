// expect: data-race, stopped
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    again: a[0]++;
    goto again;
}
