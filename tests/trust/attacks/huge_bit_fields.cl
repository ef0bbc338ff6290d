// expect: none
struct s { int a : 99999999999999999999999999; int b : 0x7fffffffffffffff; unsigned c : -1; int d; };
// clmap: global=16 local=16 a=zeros(64)
__kernel void k(__global struct s *a)
{
    int i = get_global_id(0);
    a[i].d = a[i].a + a[i].b + a[i].c;
}
