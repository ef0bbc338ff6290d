// expect: none
// clmap: global=16 local=16 a=zeros(16) n=5
__kernel void k(__global int *a, int n) {
    printf("%s %n %p %1000000000d %.1000000000f %*.*d %v4d %v16hlf %hhd %z %", n, n, n, n, 1.0f, n, n, n, (int4)n, n, n);
    printf("%d %d %d %d");
    printf("%5%%-%x%c%a", n, 300, 1.0f);
    a[0] = n;
}
