// expect: none
// clmap: global=16 local=16 a=zeros(16) n=-9223372036854775808
__kernel void k(__global int *a, long n) {
    switch (n) {
        case -9223372036854775807L - 1: a[0] = 1;
        default: a[1] = 2;
        case 5: switch ((char)n) {
        }
    }
}
