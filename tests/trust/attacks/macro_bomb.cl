// expect: unread
#define A(x) x + x
#define B(x) A(A(x)) + A(A(x))
#define C(x) B(B(x)) + B(B(x))
#define D(x) C(C(x)) + C(C(x))
#define E(x) D(D(x)) + D(D(x))
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a)
{
    a[get_global_id(0)] = E(E(a[0]));
}
