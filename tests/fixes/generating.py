"""Generate kernels that some rewrite fits: loops, stencils, transposes, tiles, chunks, in many variants."""

from __future__ import annotations

from hypothesis import strategies as st

TYPES = ("float", "int")


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """Draw the source of a kernel with its launch."""
    return draw(st.sampled_from((_products, _stencils, _transposes, _chunks, _splits, _elements, _tiles)))(
        draw
    )


def _declared(draw: st.DrawFn, dimension: int, name: str) -> str:
    cast = draw(st.sampled_from(("int", "const int", "size_t")))
    return f"    {cast} {name} = get_global_id({dimension});\n"


def _products(draw: st.DrawFn) -> str:
    """Draw a product of two matrices, in either order of dimensions, guarded or not."""
    kind = draw(st.sampled_from(TYPES))
    x, y = draw(st.sampled_from(((8, 8), (16, 8), (8, 4), (32, 4))))
    guarded = draw(st.booleans())
    size = draw(st.sampled_from((29, 32, 40))) if guarded else 32
    row, column = draw(st.sampled_from(((0, 1), (1, 0))))
    a = draw(st.sampled_from(("row * N + k", "k * N + row")))
    b = draw(st.sampled_from(("k * N + column", "column * N + k", "k")))
    body = draw(st.sampled_from(("sum += A[{a}] * B[{b}];", "sum += A[{a}] - k * B[{b}] + A[{a}];")))
    body = body.format(a=a, b=b)
    if draw(st.booleans()):
        body = f"{{\n            {body}\n        }}"
    guard = draw(st.sampled_from(("return", "condition"))) if guarded else ""
    total = -(-size // 32) * 32
    core = (
        f"    {kind} sum = 0;\n    for (int k = 0; k < N; k++)\n        {body}\n"
        "    C[row * N + column] = sum;\n"
    )
    if guard == "return":
        core = f"    if (row >= N || column >= N)\n        return;\n{core}"
    elif guard == "condition":
        core = f"    if (row < N && column < N) {{\n{core}    }}\n"
    return (
        f"// clmap: global={total},{total} local={x},{y} N={size} A=random(N*N)\n"
        "// clmap: B=random(N*N,1) C=zeros(N*N)\n"
        f"__kernel void made(__global const {kind} *A, __global {kind} *B, __global {kind} *C,\n"
        "                   const int N)\n{\n"
        f"{_declared(draw, row, 'row')}{_declared(draw, column, 'column')}{core}}}\n"
    )


def _stencils(draw: st.DrawFn) -> str:
    """Draw a sum of neighbours, by name or in loops, with a guard that keeps it inside."""
    radius = draw(st.sampled_from((1, 2)))
    x, y = draw(st.sampled_from(((16, 8), (8, 8), (32, 4))))
    columns = draw(st.sampled_from((0, 1)))
    offsets = st.tuples(st.integers(-radius, radius), st.integers(-radius, radius))
    chosen = draw(st.lists(offsets, min_size=4, max_size=7, unique=True))
    if draw(st.booleans()):
        total = " + ".join(f"in[(y + {dy}) * N + x + {dx}]" for dy, dx in chosen)
        work = f"        out[y * N + x] = {total};\n"
    else:
        work = (
            f"        float sum = 0;\n        for (int v = -{radius}; v <= {radius}; v++)\n"
            f"            for (int u = -{radius}; u <= {radius}; u++)\n"
            "                sum += in[(y + v) * N + x + u];\n        out[y * N + x] = sum;\n"
        )
    size = draw(st.sampled_from((32, 29)))
    return (
        f"// clmap: global=32,32 local={x},{y} N={size} in=random(N*N) out=zeros(N*N)\n"
        "__kernel void made(__global const float *in, __global float *out, const int N)\n{\n"
        f"    int x = get_global_id({columns});\n    int y = get_global_id({1 - columns});\n"
        f"    if (x >= {radius} && y >= {radius} && x < N - {radius} && y < N - {radius}) {{\n"
        f"{work}    }}\n}}\n"
    )


def _transposes(draw: st.DrawFn) -> str:
    """Draw a copy that changes rows and columns round on one side."""
    side = draw(st.sampled_from((8, 16)))
    kind = draw(st.sampled_from((*TYPES, "float2")))
    left, right = draw(st.sampled_from((("x * N + y", "y * N + x"), ("y * N + x", "x * N + y"))))
    guard = draw(st.sampled_from(("", "if (x < N && y < N)\n        ")))
    size = 27 if guard else 32
    return (
        f"// clmap: global=32,32 local={side},{side} N={size} in=random(N*N) out=zeros(N*N)\n"
        f"__kernel void made(__global const {kind} *in, __global {kind} *out, const int N)\n{{\n"
        "    const int x = get_global_id(0);\n    const int y = get_global_id(1);\n"
        f"    {guard}out[{left}] = in[{right}];\n}}\n"
    )


def _chunks(draw: st.DrawFn) -> str:
    """Draw a walk over a chunk of each work-item's own, summed up or copied."""
    length = draw(st.sampled_from((8, 12, 16, 18)))
    pitch = draw(st.sampled_from((length, 20, 24)))
    body = draw(
        st.sampled_from(
            (
                "sum += in[id * P + i];",
                "sum += i * in[id * P + i] + in[i];",
                "out[id * P + i] = in[id * P + i] + 1;",
                "out[id] += in[id * P + i];",
            )
        )
    )
    return (
        f"// clmap: global=128 local=32 n={length} in=random(4096) out=zeros(4096)\n#define P {pitch}\n"
        "__kernel void made(__global const float *in, __global float *out, const int n)\n{\n"
        "    const int id = get_global_id(0);\n    float sum = 0.0f;\n"
        f"    for (int i = 0; i < n; i++)\n        {body}\n"
        f"{'    out[id] = sum;' if 'sum' in body else ''}\n}}\n"
    )


def _splits(draw: st.DrawFn) -> str:
    """Draw a loop that divides an array among work-items: by a power of two, or from end to end."""
    kind = draw(st.sampled_from(TYPES))
    exponent = draw(st.sampled_from((0, 1, 3, 7)))
    stride, turns = 1 << exponent, draw(st.sampled_from((4, 6, 16)))
    place = draw(
        st.sampled_from(
            (
                f"(id / {stride}) * {stride * turns} + i * {stride} + id % {stride}",
                f"((id >> {exponent}) * {turns} + i) * {stride} + (id & {stride - 1})",
            )
        )
    )
    value = draw(st.sampled_from(("in[{0}] * 3 + w[0]", "in[{0}] + in[{0}]", "in[{0}] * in[{0} + 2]")))
    start = "    const int id = get_global_id(0);\n"
    loop = f"    for (int i = 0; i < {turns}; i++)\n        out[{place}] = {value.format(place)};\n"
    count = 128 * turns
    if draw(st.booleans()):
        count = draw(st.sampled_from((1000, 1024, 900)))
        chunk = draw(st.sampled_from(("(n + get_global_size(0) - 1) / get_global_size(0)", "n / 64")))
        ranges = (
            f"    const int chunk = {chunk};\n    const int first = id * chunk;\n",
            "    for (int i = first; i < min(first + chunk, n); i++)\n",
        )
        strided = ("", "    for (int i = id; i < n; i += get_global_size(0))\n")
        before, head = draw(st.sampled_from((ranges, strided)))
        start, loop = start + before, f"{head}        out[i] = {value.format('i')};\n"
    return (
        f"// clmap: global=128 local=32 n={count} in=random({count + 2}) w=random(1,2) out=zeros({count})\n"
        f"__kernel void made(__global const {kind} *in, __global const {kind} *w, __global {kind} *out,\n"
        f"                   const int n)\n{{\n{start}{loop}}}\n"
    )


def _elements(draw: st.DrawFn) -> str:
    """Draw arithmetic on single elements of several arrays."""
    kind = draw(st.sampled_from(TYPES))
    value = draw(
        st.sampled_from(("a * X[i] + Y[i]", "X[i] - Y[i] * X[i]", "(X[i] + a) * X[i]", "Y[i] / (X[i] + 2)"))
    )
    count = draw(st.sampled_from((128, 256, 96)))
    return (
        f"// clmap: global={count} local=32 a=3 X=formula({count},i%7) Y=formula({count},i%5)\n"
        f"__kernel void made(__global {kind} *X, __global {kind} *Y, const {kind} a)\n{{\n"
        f"    const int i = get_global_id(0);\n    Y[i] = {value};\n}}\n"
    )


def _tiles(draw: st.DrawFn) -> str:
    """Draw a local tile that is written by rows and read by columns, or by its owner only."""
    side = draw(st.sampled_from((8, 16, 32)))
    read = draw(st.sampled_from(("tile[lx][ly]", "tile[ly][lx]", "tile[(lx + 1) % T][ly]")))
    kind = draw(st.sampled_from(TYPES))
    return (
        f"// clmap: global=32,32 local={side},{side} in=random(1024) out=zeros(1024)\n#define T {side}\n"
        f"__kernel void made(__global const {kind} *in, __global {kind} *out)\n{{\n"
        f"    __local {kind} tile[T][T];\n    const int lx = get_local_id(0);\n"
        "    const int ly = get_local_id(1);\n"
        "    const int at = get_global_id(1) * 32 + get_global_id(0);\n    tile[ly][lx] = in[at];\n"
        f"    barrier(CLK_LOCAL_MEM_FENCE);\n    out[at] = {read} + 1;\n}}\n"
    )
