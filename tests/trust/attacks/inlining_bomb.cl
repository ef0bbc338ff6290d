// expect: refused
#define TWICE(f, g) int f(int x) { return g(x) + g(x + 1) * g(x - 1); }
int f0(int x) { return x * 3; }
TWICE(f1, f0) TWICE(f2, f1) TWICE(f3, f2) TWICE(f4, f3) TWICE(f5, f4) TWICE(f6, f5) TWICE(f7, f6) TWICE(f8, f7)
TWICE(f9, f8) TWICE(f10, f9) TWICE(f11, f10) TWICE(f12, f11) TWICE(f13, f12) TWICE(f14, f13) TWICE(f15, f14)
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a)
{
    a[get_global_id(0)] = f15(a[0]);
}
