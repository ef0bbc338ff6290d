// expect: unread
#define FIVE(x) x x x x x
#define LOOP for (int j = 0; j < 4; j++) a[j] += i;
// clmap: global=16 local=16 a=zeros(16)
__kernel void k(__global int *a)
{
    int i = get_global_id(0);
    FIVE(FIVE(FIVE(FIVE(LOOP))))
}
