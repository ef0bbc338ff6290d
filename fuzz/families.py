# ruff: noqa: E501 - a table reads best with one family a line
"""The families of `fuzz.sizes`: texts that are valid, hostile, and of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Files = Mapping[str, str]
HEAD = "__kernel void k(__global float *a, __global int *b, int n, int m) {\n  int g = get_global_id(0);\n"
LAUNCHED = "// clmap: global=256 local=64 n=256 m=7 a=zeros(65536) b=zeros(65536)\n"
BESIDE = "__kernel void beside(__global float *a) { a[get_global_id(0) * 2] = 1; }\n"


@dataclass(frozen=True, slots=True)
class Family:
    """Texts that grow in one way. `make(n)` returns the files of one of about n bytes."""

    name: str
    make: Callable[[int], Files]
    target: str = "kernel"


def repeated(text: str, n: int) -> str:
    """Return a text over and over, `%d` in it being the number of the time, to a length of about n."""
    parts, length, i = [], 0, 0
    while length < n:
        parts.append(text.replace("%d", str(i)).replace("%e", str(i + 1)))
        length += len(parts[-1])
        i += 1
    return "".join(parts)


def nested(opening: str, middle: str, closing: str, n: int, most: int = 1 << 30) -> str:
    """Return a text in as many pairs as n bytes hold, `%d` in the opening being the depth."""
    depth = max(1, min(most, n // (len(opening) + len(closing))))
    return "".join(opening.replace("%d", str(i)) for i in range(depth)) + middle + closing * depth


def _body(text: str) -> Files:
    return {"k.cl": f"{LAUNCHED}{HEAD}{text}\n}}\n"}


def _file(text: str) -> Files:
    return {"k.cl": text}


def _each(unit: str) -> Callable[[int], Files]:
    """A statement of a kernel's body, over and over."""
    return lambda n: _body(repeated(unit, n))


def _two(unit: str) -> Callable[[int], Files]:
    """A statement of a kernel of two dimensions, over and over."""
    head = "__kernel void k(__global float *a, __global float *b, int n, int m) {\n  float s = 0;\n"
    head += "  int x = get_global_id(0), y = get_global_id(1);\n"
    return lambda n: _file(f"{head}{repeated(unit, n)}  a[x] = s; }}\n")


def _local(unit: str, before: str = "") -> Callable[[int], Files]:
    """A statement of a kernel with local and private arrays, over and over."""
    more = ", __global struct q *q" if "struct" in before else ""
    head = f"{before}__kernel void k(__global float *a{more}) {{\n  __local float t[1024]; __local float u[16][17];\n"
    head += "  float v[8] = { 0 }; float s = 0; int l = get_local_id(0), g = get_global_id(0);\n"
    return lambda n: _file(f"{head}{repeated(unit, n)}  a[g] = s; }}\n")


def _top(unit: str, after: str = BESIDE) -> Callable[[int], Files]:
    """Something at the top of a file, over and over."""
    return lambda n: _file(repeated(unit, n) + after)


def _deep(opening: str, middle: str, closing: str, most: int = 1 << 30) -> Callable[[int], Files]:
    """Pairs inside pairs in a kernel's body."""
    return lambda n: _body(nested(opening, middle, closing, n, most))


def _many_nests(opening: str, middle: str, closing: str, depth: int) -> Callable[[int], Files]:
    """Nests of one depth, one after the other."""
    one = nested(opening, middle, closing, depth * (len(opening) + len(closing)), depth) + "\n"
    return lambda n: _body(one * max(1, n // len(one)))


def _expression(unit: str, first: str = "1", last: str = "") -> Callable[[int], Files]:
    """One long expression."""
    return lambda n: _body(f"  a[g] = {first}{repeated(unit, n)}{last};")


def _loops(depth: int, bound: str, body: str) -> Callable[[int], Files]:
    opening = "".join(f"for (int i{d} = 0; i{d} < {bound}; i{d}++) {{ " for d in range(depth))
    used = " + ".join(f"i{d}" for d in range(depth))
    nest = f"{opening}{body.replace('$', used)}{'}' * depth}\n"
    return lambda n: _body(nest * max(1, n // len(nest)))


def _parameters(unit: str, use: str = "") -> Callable[[int], Files]:
    def make(n: int) -> Files:
        text = repeated(unit + ", ", n * 2 // 3)
        return _file(
            f"__kernel void k({text}int last) {{ {repeated(use, n // 3) if use else ''} }}\n{BESIDE}"
        )

    return make


def _macro_chain(n: int) -> Files:
    lines = ["#define M0 1\n"]
    lines += [f"#define M{i} (M{i - 1} + 1)\n" for i in range(1, n // 24)]
    return _file(f"{''.join(lines)}{HEAD}a[M{len(lines) - 1}] = 1; }}\n")


def _macro_doubling(n: int) -> Files:
    lines = ["#define D0(x) x + x\n"] + [f"#define D{i}(x) D{i - 1}(D{i - 1}(x))\n" for i in range(1, 40)]
    return _file(f"{''.join(lines)}{HEAD}" + repeated("a[g] = D5(%d); ", n) + "}\n")


def _conditions(n: int) -> Files:
    text = repeated("#if A%d + B%d > C%d && defined D%d\n int x%d;\n#elif E%d == 3\n int y%d;\n#endif\n", n)
    return _file(text + BESIDE)


def _nested_conditions(n: int) -> Files:
    return _file(nested("#if X%d > %d\n", "int x;\n", "#endif\n", n) + BESIDE)


def _helpers(n: int) -> Files:
    lines = ["float h0(float x) { return x; }\n"]
    lines += [f"float h{i}(float x) {{ return h{i - 1}(x) + 1; }}\n" for i in range(1, n // 46)]
    return _file(f"{''.join(lines)}{HEAD}a[g] = h{len(lines) - 1}(1); }}\n")


def _helper_tree(n: int) -> Files:
    lines = ["float h0(__global float *p) { return p[0]; }\n"]
    lines += [
        f"float h{i}(__global float *p) {{ return h{i - 1}(p) + h{max(0, i - 2)}(p + 1); }}\n"
        for i in range(1, n // 72)
    ]
    return _file(f"{''.join(lines)}{HEAD}a[g] = h{len(lines) - 1}(a); }}\n")


def _structs(unit: str, kernel: str, last: str = "") -> Callable[[int], Files]:
    """Structures that hold the one before them several times; `%n` is the number of the last."""

    def make(n: int) -> Files:
        text = f"struct s0 {{ float x; }};\n{last.replace('%d', '0')}" + repeated(unit, n)
        return _file(text + kernel.replace("%n", text.rpartition(" { struct s")[0].rpartition("s")[2]))

    return make


def _includes(n: int) -> Files:
    files = {f"h{i}.h": f'#include "h{i + 1}.h"\n#include "h{i + 2}.h"\n' for i in range(n // 40)}
    return {**files, "k.cl": f'#include "h0.h"\n{BESIDE}'}


def _guarded_includes(n: int) -> Files:
    count = max(1, n // 90)
    files = {
        f"h{i}.h": f"#ifndef H{i}\n#define H{i}\n"
        f'#include "h{(i * 7 + 1) % count}.h"\n#include "h{(i * 3 + 2) % count}.h"\n#endif\n'
        for i in range(count)
    }
    return {**files, "k.cl": "".join(f'#include "h{i}.h"\n' for i in range(count)) + BESIDE}


def _one_include_often(n: int) -> Files:
    return {"h.h": "int x;\n" * 200, "k.cl": '#include "h.h"\n' * (n // 15) + BESIDE}


_HOST = """#include <CL/cl.h>
int main() {{
  cl_kernel kernel = clCreateKernel(program, "beside", 0);
  {before}
  size_t global[1] = {{ 256 }}, local[1] = {{ 64 }};
  clEnqueueNDRangeKernel(queue, kernel, 1, 0, global, local, 0, 0, 0);
  {after}
}}
"""


def _hosted(before: Callable[[int], str], top: Callable[[int], str] = lambda _: "") -> Callable[[int], Files]:
    return lambda n: {"k.cl": BESIDE, "main.c": top(n) + _HOST.format(before=before(n), after="")}


def _host_files(n: int) -> Files:
    text = _HOST.format(before="", after="")
    return {"k.cl": BESIDE, **{f"src/m{i}.c": text for i in range(max(1, n // len(text)))}}


def _host_functions(n: int) -> Files:
    text = repeated("static void f%e(cl_kernel k) { f%d(k); f%d(k); }\n", n)
    return {
        "k.cl": BESIDE,
        "main.c": f"void f0(cl_kernel k) {{}}\n{text}{_HOST.format(before='f9(kernel);', after='')}",
    }


def _python_host(unit: str) -> Callable[[int], Files]:
    return lambda n: {
        "k.cl": BESIDE,
        "main.py": "import pyopencl as cl\n"
        + repeated(unit, n)
        + "\nprg.beside(queue, (256,), (64,), buf)\n",
    }


def _python_launching(n: int) -> Files:
    unit = (
        "N%d = %d * 64 + 64\ndef run%d(queue, buf, n=N%d):\n    m = n * 2\n"
        "    prg.beside(queue, (m,), (64,), buf)\n    return m\n"
    )
    head = 'import pyopencl as cl\nprg = cl.Program(ctx, open("k.cl").read()).build()\n'
    return {"k.cl": BESIDE, "main.py": head + repeated(unit, n)}


def _doubling_conditions(n: int) -> str:
    chain = "#define C0 1\n" + "".join(f"#define C{i} C{i - 1} + C{i - 1}\n" for i in range(1, 60))
    return chain + repeated("#if C59 > %d\nint v%d;\n#endif\n", n)


def _doubling_statements(n: int) -> str:
    return "#define S0(x) x = x + 1;\n" + "".join(
        f"#define S{i}(x) do {{ S{i - 1}(x) S{i - 1}(x) }} while (0);\n" for i in range(1, 60)
    )


def _constructors(n: int) -> str:
    chain = "struct K0 { int v; K0(int x) : v(x) {} };\n"
    return chain + repeated("struct K%e { K%d a, b; int v; K%e(int x) : a(x + 1), b(x * 2), v(x) {} };\n", n)


def _toml(unit: str) -> Callable[[int], Files]:
    return lambda n: {"clmap.toml": repeated(unit, n)}


FAMILIES = (
    # ------------------------------------------------------------------------------------------- statements
    Family("loops 13 deep", _loops(13, "n", "a[$] = 1;")),
    Family("loops 13 deep to constants", _loops(13, "4", "a[$] = 1;")),
    Family("loops 6 deep", _loops(6, "n", "a[$] += b[$];")),
    Family("loops 6 deep to constants", _loops(6, "3", "a[$] += b[$];")),
    Family("loops 3 deep", _loops(3, "n", "a[$ * g] += b[$ % m];")),
    Family("loops 3 deep with carried values", _loops(3, "m", "g = g * 5 + ($); a[g & 255] += 1;")),
    Family("loops as deep as they go", _deep("for (int i%d = 0; i%d < n; i%d++) ", "a[g] = 1;", "")),
    Family("loops in loops with sums", _many_nests("for (int i%d = 0; i%d < m; i%d++) { g += i%d;", "a[g] = 1;", "}", 9)),
    Family("loops whose bounds are of the loop outside", _many_nests(
        "for (int i%d = 0; i%d < g; i%d++) { int g = i%d;", "a[g] = 1;", "}", 9)),
    Family("while loops", _many_nests("while (g < n) { g++;", "a[g] = 1;", "}", 12)),
    Family("do loops", _many_nests("do { g += 3;", "a[g] = 1;", "} while (g < n);", 12)),
    Family("loops in a row", _each("for (int i = 0; i < n; i++) a[i + %d] = b[i];\n")),
    Family("loops of constant length in a row", _each("for (int i = 0; i < 16; i++) a[i + %d] = b[i];\n")),
    Family("loops that hash", _each("for (int i = 0; i < n; i++) { g = g * 33 ^ b[g & 255]; a[g & 65535] = 1; }\n")),
    Family("conditions in conditions", _deep("if (g > %d) {", "a[g] = 1;", "}")),
    Family("conditions in a row", _each("if (b[g] > %d) g += %d;\n")),
    Family("conditions that write", _each("if (b[g] == %d) a[g + %d] = 1; else g ^= %d;\n")),
    Family("else if without end", _each("if (g == %d) a[%d] = 1; else ")),
    Family("blocks", _deep("{", "a[g] = 1;", "}")),
    Family("cases", lambda n: _body("switch (g) {" + repeated("case %d: a[%d] = 1; break;\n", n) + "}")),
    Family("cases that fall through", lambda n: _body("switch (g) {" + repeated("case %d: a[g] += 1;\n", n) + "}")),
    Family("switches in switches", _deep("switch (g) { case %d: ", "a[g] = 1;", "}")),
    Family("labels", _each("l%d: a[g] = 1; if (g > %d) goto l%d;\n")),
    Family("gotos on", _each("if (g == %d) goto l%d; a[g] = 1; l%d: ;\n")),
    Family("returns", _each("if (b[g] == %d) return;\n")),
    Family("breaks", lambda n: _body("for (int i = 0; i < n; i++) {" + repeated("if (b[i] == %d) break;\n", n) + "}")),
    Family("barriers", _each("a[g] = g; barrier(CLK_LOCAL_MEM_FENCE);\n")),
    Family("barriers and local arrays", _each("{ __local int t%d[64]; t%d[g & 63] = g; barrier(1); a[g] = t%d[g ^ 1]; }\n")),
    # ---------------------------------------------------------------------------------- declarations, names
    Family("variables", _each("int x%d = g + %d;\n")),
    Family("variables of variables", lambda n: _body("int x0 = g;\n" + repeated("int x%e = x%d * 3 + x%d;\n", n))),
    Family("variables that grow", lambda n: _body("int x0 = g;\n" + repeated("int x%e = x%d * x%d;\n", n) + "a[x99] = 1;")),
    Family("one declaration of many", lambda n: _body("int y0 = 1" + repeated(", y%e = y%d", n) + ";")),
    Family("private arrays", _each("int p%d[16]; p%d[g & 15] = 1; a[p%d[3]] = 1;\n")),
    Family("one name over and over", _each("{ int x = g; a[x] = 1; }\n")),
    Family("names that are unknown", _each("u%d = v%d;\n")),
    Family("one name that is unknown", _each("u = g;\n")),
    Family("calls of unknown functions", _each("a[g] = f%d(g, %d);\n")),
    Family("accesses", _each("a[g + %d] = b[g * %e];\n")),
    Family("the same access", _each("a[g] += 1;\n")),
    Family("the same scattered access", _each("a[g * 2] += 1;\n")),
    Family("scattered accesses side by side", _each("a[g * 16 + %d % 16] += b[g * 32 + %d % 32];\n")),
    Family("accesses of columns", _two("a[x * n + y] += 1;\n")),
    Family("accesses of columns of all rows", _two("a[x * n + y + %d * n] += b[x * m + y * 3 + %d];\n")),
    Family("columns in loops", _two("for (int i = 0; i < n; i++) s += a[x * n + i] * a[i * n + y];\n")),
    Family("stencils", _two("s += a[(y + %d % 5) * n + x + %d % 7 - 3];\n")),
    Family("local accesses", _local("t[l * 2 % 1024] += 1;\n")),
    Family("local accesses of many rows", _local("t[(l * 32 + %d % 8) % 1024] = t[l] + u[l & 15][%d % 17];\n")),
    Family("local columns with barriers", _local("u[l & 15][l >> 4] = s; barrier(1); s += u[l >> 4][l & 15];\n")),
    Family("local tiles filled in loops", _local("for (int i = 0; i < 16; i++) { u[i][l & 15] = a[i * 64 + l]; barrier(1); s += u[l & 15][i]; barrier(1); }\n")),
    Family("structs of two structs", _structs("struct s%e { struct s%d a, b; };\n", "__kernel void k(__global struct s%n *p) { p[get_global_id(0)].a = p[1].b; }\n")),
    Family("structs of arrays of structs", _structs("struct s%e { struct s%d a[9]; };\n", "__kernel void k(__global struct s%n *p) { p[get_global_id(0)].a[1] = p[1].a[2]; }\n")),
    Family("unions of two unions", _structs("union u%e { struct s%d a; struct s%d b; }; struct s%e { struct s%d c; union u%e d; };\n", "__kernel void k(__global struct s%n *p) { p[get_global_id(0)].c = p[1].d.a; }\n")),
    Family("functions of structs of two structs", _structs("struct s%e { struct s%d a, b; }; struct s%e f%e(struct s%e v) { v.a = f%d(v.b); return v; }\n", "__kernel void k(__global struct s%n *p) { p[0] = f%n(p[get_global_id(0)]); }\n", "struct s0 f%d(struct s0 v) { return v; }\n")),
    Family("arrays of structs", _local("q[g].m = q[g + %d].n[%d % 3];\n", "struct q { float m; float n[3]; int o; };\n")),
    Family("constant tables", _local("s += c[l * %e % 64];\n", "__constant float c[64] = { 1 };\n")),
    Family("private tables", _local("v[l % 8] = v[(l + %d) % 8];\n")),
    Family("the same atomic", _local("atomic_inc((__global int *)a);\n")),
    Family("bytes", _local("((__global uchar *)a)[g * 3 + %d % 3] = %d;\n")),
    Family("wide loads", _local("s += vload4(g * 5 + %d % 4, a).x;\n")),
    Family("divisions", _local("a[g / %e * 7 + g % %e] = s;\n")),
    Family("accesses through what is read", _each("a[b[g + %d]] = 1;\n")),
    Family("accesses by hash", lambda n: _body("uint x = g;\n" + repeated("x = x * 1664525u + %du; a[x >> 16] += 1;\n", n))),
    Family("sums over what was read", _each("g += b[g & 1023];\n")),
    Family("atomics", _each("atomic_add(&b[g + %d], 1);\n")),
    Family("vectors", _each("vstore4(vload4(g + %d, a), g, a);\n")),
    Family("pointers", lambda n: _body("__global float *p0 = a;\n" + repeated("__global float *p%e = p%d + g; *p%d = 1;\n", n))),
    Family("a pointer that moves", lambda n: _body("__global float *p = a;\n" + repeated("*p++ = %d; if (b[g] > %d) p += n;\n", n))),
    Family("printf", _each('printf("%d %v4f\\n", g, %e);\n')),
    # ------------------------------------------------------------------------------------------ expressions
    Family("sums", _expression(" + %d")),
    Family("sums of reads", _expression(" + b[g + %d]")),
    Family("sums of one name", _expression(" + g")),
    Family("products of one name", _expression(" * g")),
    Family("index of products", lambda n: _body("a[1" + repeated(" * (g + %d)", n) + "] = 1;")),
    Family("index of products of many", lambda n: _body(
        "".join(f"int q{i} = b[{i}];" for i in range(40)) + "a[1" + repeated(" * (q%d + 1)", n // 4) + "] = 1;")),
    Family("index that is a long sum", lambda n: _body("a[0" + repeated(" + (g / %e) * %d", n) + "] = 1;")),
    Family("index of shifts", lambda n: _body("a[0" + repeated(" + (g >> %d % 31 ^ %d)", n) + "] = 1;")),
    Family("index of conditions", lambda n: _body("a[0" + repeated(" + (g > %d ? n : m)", n) + "] = 1;")),
    Family("parentheses", _deep("(", "g", ")")),
    Family("indexes in indexes", lambda n: _body(nested("b[", "g", "]", n) + " = 1;")),
    Family("calls in calls", lambda n: _body("a[g] = " + nested("fabs(", "1.0f", ")", n) + ";")),
    Family("unknown calls in calls", lambda n: _body("a[g] = " + nested("f(", "1.0f", ")", n) + ";")),
    Family("signs", _expression("-", "1")),
    Family("conditional expressions", _expression("g > %d ? %d : ", "", "1")),
    Family("conditional expressions in front", lambda n: _body("a[g] = " + nested("(g > %d ? ", "1", ": 2)", n) + ";")),
    Family("commas", _expression(", %d")),
    Family("assignments", lambda n: _body(repeated("g = ", n) + "1;")),
    Family("casts", lambda n: _body("a[g] = " + repeated("(float)", n) + "1;")),
    Family("comparisons", lambda n: _body("if (g > 0" + repeated(" && b[%d] < %d", n) + ") a[g] = 1;")),
    Family("members", lambda n: _body("float4 v; a[g] = v" + repeated(".xyzw", n) + ".x;")),
    Family("strings", lambda n: _body("printf(" + repeated('"abc%d" ', n) + ");")),
    Family("one string", lambda n: _body(f'printf("{"x" * n}");')),
    Family("one name", lambda n: _body(f"int {'x' * n} = 1;")),
    Family("one number", lambda n: _body(f"a[{'1' * n}] = 1;")),
    Family("one float", lambda n: _body(f"a[g] = 0.{'1' * n}f;")),
    Family("initialisers", lambda n: _file("__constant int t[] = {" + repeated("%d, ", n) + "};\n" + HEAD + "a[t[g]] = 1; }\n")),
    Family("initialisers in initialisers", lambda n: _body("int t[4] = " + nested("{", "1", "}", n) + ";")),
    Family("initialisers of a line in a table", lambda n: _file("__constant int t[][4] = {" + repeated("{1, 2, %d, 4},\n", n) + "};\n" + HEAD + "a[t[g][1]] = 1; }\n")),
    # ----------------------------------------------------------------------------------------- top of files
    Family("kernels", _top("__kernel void k%d(__global float *a) { a[get_global_id(0) * %e] = 1; }\n")),
    Family("kernels of one name", _top("__kernel void k(__global float *a) { a[get_global_id(0) * %e] = 1; }\n")),
    Family("kernels of one name in conditions", _top("#if X == %d\n__kernel void k(__global float *a) { a[get_global_id(0) * %e] = 1; }\n#endif\n")),
    Family("kernels that are launched", _top("// clmap: global=%e local=1 a=zeros(1000)\n__kernel void k%d(__global float *a) { a[get_global_id(0) * %e] = 1; }\n")),
    Family("kernels without an end", _top("__kernel void k%d(__global float *a) { if (1) {\n")),
    Family("helpers", _top("int h%d(int x) { return x + %d; }\n")),
    Family("helpers of one name", _top("__attribute__((overloadable)) int h(int%d x) { return x; }\n")),
    Family("calls of calls", _helpers),
    Family("calls of two calls", _helper_tree),
    Family("one helper often", lambda n: _file("float h(__global float *p, int i) { for (int j = 0; j < i; j++) p[j] += 1; return p[i]; }\n" + HEAD + repeated("h(a, g + %d);\n", n) + "}\n")),
    Family("declarations", _top("int f%d(int x, float y);\n")),
    Family("structs", _top("struct s%d { int x; float y[%e]; };\n")),
    Family("structs in structs", _top("struct s%e { struct s%d { int q; } x, y; };\n")),
    Family("structs of structs", lambda n: _file("struct s0 { int x; };\n" + repeated("struct s%e { struct s%d a, b; };\n", n) + BESIDE)),
    Family("members of a struct", lambda n: _file("struct s {" + repeated("int m%d;\n", n) + "};\n" + HEAD + "struct s x; a[x.m7] = x.m9; }\n")),
    Family("enumerators", lambda n: _file("enum e {" + repeated("E%d,\n", n) + "};\n" + HEAD + "a[E7] = E9; }\n")),
    Family("enumerators of enumerators", lambda n: _file("enum e { E0 = 1" + repeated(", E%e = E%d + E%d", n) + "};\n" + BESIDE)),
    Family("typedefs", lambda n: _file("typedef int t0;\n" + repeated("typedef t%d t%e;\n", n) + BESIDE)),
    Family("typedefs of pointers", lambda n: _file("typedef int t0;\n" + repeated("typedef t%d *t%e;\n", n) + BESIDE)),
    Family("typedefs of arrays", lambda n: _file("typedef int t0;\n" + repeated("typedef t%d t%e[2];\n", n) + BESIDE)),
    Family("stars", lambda n: _file(f"int {'*' * n}x;\n{BESIDE}")),
    Family("brackets", lambda n: _file(f"int x{'[2]' * (n // 3)};\n{BESIDE}")),
    Family("declarators in parentheses", lambda n: _file("int " + nested("(*", "x", ")", n) + f";\n{BESIDE}")),
    Family("functions that return functions", lambda n: _file("int " + nested("(*", "x", ")(int)", n) + f";\n{BESIDE}")),
    Family("qualifiers", lambda n: _file(repeated("const ", n) + "int x;\n" + BESIDE)),
    Family("attributes", lambda n: _file(repeated("__attribute__((aligned(4))) ", n) + "int x;\n" + BESIDE)),
    Family("attributes in attributes", lambda n: _file("__attribute__(" + nested("(", "x", ")", n) + ") int x;\n" + BESIDE)),
    Family("brackets that open", lambda n: _file("(" * n + BESIDE)),
    Family("braces that open", lambda n: _file("{" * n + BESIDE)),
    Family("braces that close", lambda n: _file("}" * n + BESIDE)),
    Family("angles", lambda n: _file("<" * n + BESIDE)),
    Family("templates", _top("template <typename T%d> T%d f%d(T%d x) { return x; }\n")),
    Family("templates in templates", lambda n: _file(nested("template <", "int x", "> ", n) + BESIDE)),
    Family("constants at the top", _top("__constant float c%d = %d.5f;\n")),
    Family("constants of constants", lambda n: _file("__constant int c0 = 1;\n" + repeated("__constant int c%e = c%d + c%d;\n", n) + BESIDE)),
    Family("semicolons", _top(";")),
    Family("empty lines", _top("\n")),
    Family("spaces", _top(" ")),
    Family("carriage returns", _top("\r")),
    Family("continued lines", _top("\\\n")),
    Family("comments", _top("/* %d */")),
    Family("line comments", _top("// x %d\n")),
    Family("comments of launches", _top("// clmap: global=%e local=1\n")),
    Family("a launch of many arguments", lambda n: _file("// clmap: global=64" + repeated(" x%d=%e", n) + "\n" + BESIDE)),
    Family("a launch of nested arguments", lambda n: _file("// clmap: global=64 a=" + nested("(", "1", ")", n) + "\n" + BESIDE)),
    Family("a launch of a long sum", lambda n: _file("// clmap: global=64 n=1" + repeated("+%e", n) + "\n" + BESIDE)),
    Family("a launch of chained arguments", lambda n: _file("// clmap: global=64 x0=1" + repeated(" x%e=x%d+1", n) + "\n" + BESIDE)),
    Family("not ASCII", _top("é")),
    Family("zero bytes", _top("\0")),
    Family("ats", _top("@")),
    Family("one line of kernels", _top("__kernel void k%d(__global float *a) { a[get_global_id(0) * %e] = 1; } ")),
    Family("pragmas", _top("#pragma unroll %d\n")),
    Family("pragmas of extensions", _top("#pragma OPENCL EXTENSION cl_khr_%d : enable\n")),
    # -------------------------------------------------------------------------------------------- parameters
    Family("buffers", _parameters("__global float *p%d")),
    Family("buffers that are read", _parameters("__global float *p%d", "p%d[get_global_id(0)] = 1; ")),
    Family("numbers", _parameters("int p%d")),
    Family("numbers that are used", _parameters("int p%d", "if (p%d > 3) p%e++; ")),
    Family("parameters of one name", _parameters("int p")),
    Family("parameters of no type", _parameters("p%d")),
    Family("arguments of a call", lambda n: _body("f(1" + repeated(", %d", n) + ");")),
    # ------------------------------------------------------------------------------------------ preprocessor
    Family("macros", _top("#define M%d(x) ((x) + %d)\n")),
    Family("macros that are used", lambda n: _file(repeated("#define M%d (%d)\n", n // 2) + HEAD + repeated("a[g] = M%d;\n", n // 2) + "}\n")),
    Family("macros of macros", _macro_chain),
    Family("macros that double", _macro_doubling),
    Family("macros defined anew", _top("#define M %d\nint x%d = M;\n#undef M\n")),
    Family("a macro of many parameters", lambda n: _file("#define M(a" + repeated(", p%d", n // 2) + ") a\nint x = M(1" + repeated(", %d", n // 3) + ");\n" + BESIDE)),
    Family("a macro of a long body", lambda n: _file("#define M(x) " + repeated("x + ", n // 2) + "1\n" + HEAD + repeated("a[g] = M(%d);\n", n // 2) + "}\n")),
    Family("macros in arguments", lambda n: _file("#define M(x) (x)\n" + HEAD + "a[g] = " + nested("M(", "1", ")", n) + ";}\n")),
    Family("pastes", lambda n: _file("#define P(x) " + repeated("x ## ", n // 2) + "1\n" + HEAD + "int P(q); }\n")),
    Family("strings of arguments", lambda n: _file("#define S(x) #x\n" + HEAD + "printf(S(" + repeated("a b", n) + "));}\n")),
    Family("statements by macros", lambda n: _file("#define W(i) a[g + i] = b[i];\n" + HEAD + repeated("W(%d)\n", n) + "}\n")),
    Family("loops by macros", lambda n: _file("#define L(i) for (int i = 0; i < n; i++)\n" + HEAD + repeated("L(i%d) a[i%d] = 1;\n", n) + "}\n")),
    Family("kernels by macros", lambda n: _file("#define K(i) __kernel void k##i(__global float *a) { a[get_global_id(0)] = i; }\n" + repeated("K(%d)\n", n))),
    Family("conditions on unknown names", _conditions),
    Family("conditions in conditions on unknown names", _nested_conditions),
    Family("a long condition", lambda n: _file("#if 1" + repeated(" && A%d > %d", n) + "\nint x;\n#endif\n" + BESIDE)),
    Family("a deep condition", lambda n: _file("#if " + nested("(", "A", ")", n) + "\nint x;\n#endif\n" + BESIDE)),
    Family("a condition of signs", lambda n: _file(f"#if {'!' * n}A\nint x;\n#endif\n{BESIDE}")),
    Family("conditions that choose kernels", _top("#ifdef X%d\n__kernel void c%d(__global float *a) { a[1] = 1; }\n#else\nint y%d;\n#endif\n")),
    Family("else if of conditions", lambda n: _file("#if A == 0\n" + repeated("#elif A == %e\nint x%d;\n", n) + "#endif\n" + BESIDE)),
    Family("directives that are unknown", _top("#foo%d\n")),
    Family("includes of nothing", _top('#include "nothing%d.h"\n')),
    Family("lines", _top('#line %e "f%d.cl"\nint x%d;\n')),
    Family("includes in includes", _includes, "files"),
    Family("includes with guards", _guarded_includes, "files"),
    Family("one include often", _one_include_often, "files"),
    # -------------------------------------------------------------------------------------------- host code
    Family("host: statements", _hosted(lambda n: repeated("x%d = y%d + f(%d);\n", n)), "files"),
    Family("host: arguments", _hosted(lambda n: repeated("clSetKernelArg(kernel, %d, sizeof(int), &x%d);\n", n)), "files"),
    Family("host: launches", _hosted(lambda n: repeated("clEnqueueNDRangeKernel(queue, kernel, 1, 0, global, local, 0, 0, 0);\n", n)), "files"),
    Family("host: loops", _hosted(lambda n: nested("for (int i%d = 0; i%d < 1000; i%d++) {", "x = x * 3 + 1;", "}", n)), "files"),
    Family("host: endless loops", _hosted(lambda n: repeated("while (x%d >= 0) x%d++; for (;;) { y%d = y%d * 2; if (y%d) continue; }\n", n)), "files"),
    Family("host: large numbers", _hosted(lambda n: "long x = 3;" + repeated("x = x * x; x = x << x; x <<= 63;\n", n)), "files"),
    Family("host: strings that double", _hosted(lambda n: 'std::string s = "x";' + repeated("s = s + s;\n", n)), "files"),
    Family("host: lists that double", _hosted(lambda n: "std::vector<int> v(1000000000);" + repeated("v.insert(v.end(), v.begin(), v.end());\n", n)), "files"),
    Family("host: conditions", _hosted(lambda n: repeated("if (argc > %d) x = %d; else x = y;\n", n)), "files"),
    Family("host: functions", _host_functions, "files"),
    Family("host: a function that calls itself", _hosted(lambda n: "f(30);", lambda n: "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n" * (n // 60)), "files"),
    Family("host: macros", _hosted(lambda n: "x = M9;", lambda n: "#define M0 1\n" + repeated("#define M%e (M%d + M%d)\n", n)), "files"),
    Family("host: classes", _hosted(lambda n: "C9 c;", lambda n: "class C0 { int x; };\n" + repeated("class C%e : public C%d { C%d *p; int f() { return p->f(); } };\n", n)), "files"),
    Family("host: parentheses", _hosted(lambda n: "x = " + nested("(", "1", ")", n) + ";"), "files"),
    Family("host: macros that open", _hosted(lambda n: "CHECK(" * (n // 6)), "files"),
    Family("host: labels", _hosted(lambda n: repeated("l%d: x++;\n", n)), "files"),
    Family("host: labels that are jumped to", _hosted(lambda n: repeated("l%d: x++; if (x) goto l%d;\n", n)), "files"),
    Family("host: namespaces", _hosted(lambda n: "", lambda n: nested("namespace n%d { ", "int x;", "}", n)), "files"),
    Family("host: structs in structs", _hosted(lambda n: "", lambda n: nested("struct s%d { ", "int x;", "} x;", n)), "files"),
    Family("host: else if", _hosted(lambda n: repeated("if (argc == %d) x = %d; else ", n) + "x = 1;"), "files"),
    Family("host: macros that double in conditions", _hosted(lambda n: "x = 1;", _doubling_conditions), "files"),
    Family("host: conditions on macros of macros", _hosted(lambda n: "x = 1;", lambda n: "#define M0 1\n" + repeated("#define M%e (M%d + 1)\n#if M%e > 3\nint v%d;\n#endif\n", n)), "files"),
    Family("host: macros of statements that double", _hosted(lambda n: repeated("S59(x%d)\n", n), _doubling_statements), "files"),
    Family("host: macros of statements", _hosted(lambda n: repeated("S9(x%d)\n", n), _doubling_statements), "files"),
    Family("host: enumerators of enumerators", _hosted(lambda n: "x = E99;", lambda n: "enum { E0 = 1" + repeated(", E%e = E%d + E%d", n) + " };\n"), "files"),
    Family("host: enumerators", _hosted(lambda n: "global[0] = E99;", lambda n: "enum { E0 = 1" + repeated(", E%e", n) + " };\n"), "files"),
    Family("host: enumerators that are used", _hosted(lambda n: repeated("x%d = E%d;", n // 2), lambda n: "enum { E0 = 1" + repeated(", E%e = E%d + 1", n // 2) + " };\n"), "files"),
    Family("host: constructors of members", _hosted(lambda n: "K20 k(1); x = k.v;", _constructors), "files"),
    Family("host: constructors of many members", _hosted(lambda n: repeated("K20 k%d(%d);\n", n // 2), lambda n: _constructors(n // 2)), "files"),
    Family("host: constants of constants", _hosted(lambda n: "x = c99;", lambda n: "const int c0 = 1;\n" + repeated("const int c%e = c%d + c%d;\n", n)), "files"),
    Family("host: typedefs of typedefs", _hosted(lambda n: "t99 x;", lambda n: "typedef int t0;\n" + repeated("typedef t%d t%e;\n", n)), "files"),
    Family("host: functions that launch", _hosted(lambda n: "x = 1;", lambda n: repeated("void l%d(cl_kernel k, size_t g) { size_t n = g * 2; clEnqueueNDRangeKernel(queue, k, 1, 0, &n, 0, 0, 0, 0); }\n", n)), "files"),
    Family("host: methods that launch", _hosted(lambda n: "x = 1;", lambda n: "class R { cl_kernel k; size_t g;\n" + repeated("void l%d(size_t n) { g = n * 2; clEnqueueNDRangeKernel(queue, k, 1, 0, &g, 0, 0, 0, 0); }\n", n) + "};\n"), "files"),
    Family("host: classes that launch", _hosted(lambda n: "x = 1;", lambda n: repeated("class R%d { cl_kernel k; size_t g; R%d() : g(%d) { k = clCreateKernel(p, \"beside\", 0); } void run() { clEnqueueNDRangeKernel(queue, k, 1, 0, &g, 0, 0, 0, 0); } };\n", n)), "files"),
    Family("Python: functions that launch", _python_launching, "files"),
    Family("Python: methods that launch", lambda n: {"k.cl": BESIDE, "main.py": "import pyopencl as cl\nclass R:\n    def __init__(self, ctx):\n        self.p = cl.Program(ctx, open('k.cl').read()).build()\n" + repeated("    def run%d(self, n=%d):\n        self.n%d = n\n        self.p.beside(self.q, (n,), (64,), self.b)\n", n)}, "files"),
    Family("Python: classes that launch", lambda n: {"k.cl": BESIDE, "main.py": "import pyopencl as cl\n" + repeated("class R%d:\n    def __init__(self, ctx):\n        self.p = cl.Program(ctx, open('k.cl').read()).build()\n    def run(self, n=%d):\n        self.p.beside(self.q, (n,), (64,), self.b)\n", n)}, "files"),
    Family("Python: else if", lambda n: {"k.cl": BESIDE, "main.py": "import pyopencl as cl\nif x: y = 1\n" + repeated("elif x == %d: y = %d\n", n)}, "files"),
    Family("host: braces", _hosted(lambda n: "{" * n), "files"),
    Family("host: a long sum", _hosted(lambda n: "x = 1" + repeated(" + %d", n) + ";"), "files"),
    Family("host: one string", _hosted(lambda n: f'const char *s = "{"x" * n}";'), "files"),
    Family("host: raw strings", _hosted(lambda n: repeated('const char *s%d = R"(__kernel void k%d(__global float *a) { a[0] = 1; })";\n', n)), "files"),
    Family("host: raw strings without an end", _hosted(lambda n: repeated('R"%d(', n)), "files"),
    Family("host: kernels in strings", _hosted(lambda n: repeated('"__kernel void k%d(__global float *a) { a[0] = 1; }\\n"\n', n)), "files"),
    Family("host: many files", _host_files, "files"),
    Family("host: templates", _hosted(lambda n: nested("f<", "int", ">", n) + " x;"), "files"),
    Family("host: lambdas", _hosted(lambda n: nested("[&](int x) { ", "return 1;", "};", n)), "files"),
    Family("host: command lines", _hosted(lambda n: repeated('if (!strcmp(argv[i], "--o%d")) x%d = atoi(argv[i + 1]);\n', n)), "files"),
    Family("Python: statements", _python_host("x%e = x%d + 1\n"), "files"),
    Family("Python: loops", lambda n: {"k.cl": BESIDE, "main.py": "import pyopencl as cl\n" + "".join(" " * i + f"for i{i} in range(10**9):\n" for i in range(90)) + " " * 90 + "prg.beside(queue, (256,), (64,), buf)\n" * max(1, n // 50)}, "files"),
    Family("Python: powers", _python_host("x = 10 ** 10 ** 10\ny = 'x' * 10 ** 10\nz = [0] * 10 ** 10\nq = 1 << 10 ** 10\n"), "files"),
    Family("Python: parentheses", _python_host("("), "files"),
    Family("Python: functions", _python_host("def f%e(x):\n    return f%d(x) + f%d(x)\n"), "files"),
    Family("Python: ranges", _python_host("for i in range(10**12): x = x + x\n"), "files"),
    Family("Python: strings of kernels", _python_host('p%d = """__kernel void k%d(__global float *a) { a[0] = 1; }"""\n'), "files"),
    # --------------------------------------------------------------------------------------------- settings
    Family("toml: keys", _toml("k%d = 1\n"), "toml"),
    Family("toml: launches", _toml("[launch.k%d]\nglobal = [64]\nlocal = [64]\n"), "toml"),
    Family("toml: overrides", _toml('[[override]]\nfiles = ["a%d/*.cl"]\nselect = ["ALL"]\n'), "toml"),
    Family("toml: brackets", lambda n: {"clmap.toml": "x = " + nested("[", "1", "]", n)}, "toml"),
    Family("toml: inline tables", lambda n: {"clmap.toml": "x = " + nested("{a = ", "1", "}", n)}, "toml"),
    Family("toml: dotted keys", lambda n: {"clmap.toml": "a" + repeated(".b%d", n) + " = 1"}, "toml"),
    Family("toml: dots", lambda n: {"clmap.toml": repeated("a.", n) + "b = 1\n" + repeated("c.", n) + "b = 1"}, "toml"),
    Family("toml: one number", lambda n: {"clmap.toml": "x = " + "1" * n}, "toml"),
    Family("toml: one float", lambda n: {"clmap.toml": "x = 1." + "1" * n}, "toml"),
    Family("toml: stars", lambda n: {"clmap.toml": f'exclude = ["{"*a" * (n // 2)}b"]'}, "toml"),
    Family("toml: globs", lambda n: {"clmap.toml": "exclude = [" + repeated('"**/a*%d/**/b*",', n) + "]"}, "toml"),
    Family("toml: defines", lambda n: {"clmap.toml": "[build]\ndefines = {" + repeated("D%e = 'D%d', ", n)[:-2] + "}"}, "toml"),
    Family("toml: newlines in lists", lambda n: {"clmap.toml": "exclude = [" + "\n" * n + "]"}, "toml"),
    Family("sim: arguments", lambda n: {"k.sim": "k.cl\nk\n64 1 1\n64 1 1\n" + repeated("<size=4 int>\n%d\n", n)}, "sim"),
    Family("sim: values", lambda n: {"k.sim": "k.cl\nk\n64 1 1\n64 1 1\n<size=1000000 int>\n" + repeated("%d ", n)}, "sim"),
    Family("sim: angles", lambda n: {"k.sim": "k.cl\nk\n64 1 1\n64 1 1\n" + "<" * n}, "sim"),
    Family("sim: one word", lambda n: {"k.sim": "k.cl\nk\n64 1 1\n64 1 1\n<" + "x" * n}, "sim"),
    Family("sim: comments", lambda n: {"k.sim": "k.cl\nk\n" + "# x\n" * (n // 4)}, "sim"),
)  # fmt: skip
