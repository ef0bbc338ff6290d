// expect: data-race, stopped
#define L(i) for (int i = 0; i < 1000; i++)
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a)
{
    L(b) L(c) L(d) L(e) L(f) L(g) L(h) L(i) L(j) L(l) L(m) L(n) L(o) a[(b * c + d * e) & 15] += n ^ o;
}
