// expect: none
#define TABLE(n) __constant int n[4194304] = {1, 2, 3};
#define TABLES(n) TABLE(n##a) TABLE(n##b) TABLE(n##c) TABLE(n##d) TABLE(n##e) TABLE(n##f) TABLE(n##g) TABLE(n##h)
TABLES(a) TABLES(b) TABLES(c) TABLES(d) TABLES(e) TABLES(f) TABLES(g) TABLES(h)
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a) {
    a[get_global_id(0)] = aa[get_global_id(0)];
}
