// expect: refused
// clmap: global=16 local=16 t=local(274877906944) a=zeros(16)
__kernel void k(__local int *t, __global int *a) {
    t[get_local_id(0)] = 1;
    a[0] = t[0];
}
