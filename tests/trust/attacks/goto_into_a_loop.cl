// expect: data-race, stopped, uninitialised-read
// clmap: global=16 local=16 a=zeros(16) n=1
__kernel void k(__global int *a, int n) {
    if (n) goto inside;
    for (int i = 0; i < 10; i++) {
        inside: a[0]++;
        if (a[0] < 0) goto out;
    }
    goto inside;
    out: a[1] = 1;
}
