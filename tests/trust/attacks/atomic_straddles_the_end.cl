// expect: out-of-bounds-read, out-of-bounds-write
// clmap: global=16 local=16 a=zeros(7)
__kernel void k(__global char *a) {
    atomic_or((volatile __global int *)(a + 4), 255);
    atom_add((volatile __global long *)a, 255L);
}
