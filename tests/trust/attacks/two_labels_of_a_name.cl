// expect: stopped
// clmap: global=1 local=1 a=zeros(16)
__kernel void k(__global int *a)
{
  again: a[0] += 1;
  again: a[1] += 1;
    goto again;
}
