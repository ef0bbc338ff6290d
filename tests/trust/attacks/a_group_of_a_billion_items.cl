// expect: refused
// clmap: global=1073741824 local=1073741824 a=zeros(16)
__kernel void k(__global int *a) {
    a[0] = 1;
}
