"""Host programs that are made to take all time or memory of whoever follows them, or to print others' files."""

# ruff: noqa: E501 - programs read better in one line than wrapped

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from warm import Limits, clmap

KERNEL = "__kernel void k(__global float *a, int n) { int i = get_global_id(0); if (i < n) a[i] = 1.0f; }\n"
IN_C = '#include <CL/cl.h>\n{before}\nint main() {{ size_t g = 1; {body}\nclEnqueueNDRangeKernel(q, clCreateKernel(p, "k", 0), 1, 0, &g, 0, 0, 0, 0); }}\n'
IN_PYTHON = 'import pyopencl as cl\nimport numpy as np\nx = 3; s = "ab"; t = [1]; c = ""; d = "%s"\n{body}\nprg = cl.Program(ctx, open("k.cl").read()).build(options=s + c)\nprg.k(queue, (x,), None, buf, np.int32(4))\n'


def in_c(body: str, before: str = "") -> dict[str, str]:
    return {"main.cpp": IN_C.format(body=body, before=before)}


def in_python(body: str) -> dict[str, str]:
    return {"main.py": IN_PYTHON.format(body=body)}


def doubling(form: str, last: str, count: int = 60) -> str:
    return "\n".join([last, *(form.format(it, it - 1) for it in range(1, count))])


MAIN_H = {
    "main.h": '#include "main.h"\n#include "b.h"\n#define N 64\n',
    "b.h": '#include "main.h"\n#include "b.h"\n',
}
PROGRAMS = {
    "endless loops": in_c(
        "for (long i = 0; i < 1000000000; i++) { g = g * 3 + i; for (long j = 0; j < 1000000000; ++j) g ^= j; }"
        " while (1) { g++; } do { g--; } while (g != 0);"
    ),
    "endless recursion": in_c(
        "g = f(1) + a(60);",
        "size_t f(size_t n) { return f(n + 1) + f(n + 2); }\nsize_t a(size_t n) { return n ? a(n-1) + a(n-1) : 1; }",
    ),
    "a text printed a gigabyte wide": in_c(
        'char b[1 << 30]; sprintf(b, "%.999999999f", 3.0); sprintf(b, "%1000000000d", 3); g = strlen(b);'
    ),
    "texts that double": in_c(
        'std::string s = "k"; for (int i = 0; i < 64; ++i) { s += s; s.append(s); }'
        ' char b[64]; for (int i = 0; i < 64; i++) { sprintf(b, "%s%s", b, b); strcat(b, b); } g = s.size();'
    ),
    "numbers that double": in_c(
        "unsigned long x = 3; for (int i = 0; i < 64; ++i) x = x * x; g = x << (1ULL << 62);"
        " std::vector<int> w(1ULL << 60, 7); for (auto it : w) g += it;"
    ),
    "macros that double": in_c(
        "int x = 1; g = A59 + F59(x);",
        doubling("#define A{0} A{1} + A{1}", "#define A0 x")
        + "\n"
        + doubling("#define F{0}(x) F{1}(x) + F{1}(x)", "#define F0(x) x"),
    ),
    "functions that double": in_c(
        "g = f59(1);",
        doubling(
            "size_t f{0}(size_t n) {{ return f{1}(n) + f{1}(n); }}", "size_t f0(size_t n) { return n; }"
        ),
    ),
    "classes that inherit in a circle": in_c(
        "A0 a; g = a.f();",
        "".join(
            f"struct A{it} : A{it + 1}, A{it + 2} {{ A{it + 1} a; size_t f() {{ return a.f() + A{it + 2}::f(); }} }};\n"
            for it in range(60)
        )
        + "struct A60 : A0 {}; struct A61 : A61 {};",
    ),
    "headers that include themselves": in_c("g = N;", '#include "main.h"\n#include "main.h"') | MAIN_H,
    "deep expressions": in_c(
        "g = "
        + "(" * 20_000
        + "1"
        + ")" * 20_000
        + "; g = "
        + "-" * 20_000
        + "1; "
        + "if(1){" * 20_000
        + "}" * 20_000
    ),
    "deep declarations": in_c(
        "struct s { void f() {" * 900 + "g++;" + "} };" * 900,
        "namespace n { " * 1900 + "int x;" + "}" * 1900 + "struct s { " * 1900 + "int x;" + "} x;" * 1900,
    ),
    "headers one in the next": in_c("g = N;", '#include "h0.h"\n')
    | {f"h{it}.h": f'#include "h{it + 1}.h"\n' for it in range(600)},
    "texts of many parts": in_c(f'char b[99999]; sprintf(b, "{"%d" * 70_000}", 1); g = strlen(b);'),
    "functions of one name": in_c(
        "f(1); " * 14_000, "".join(f"int f(int x{it}) {{ return 1; }}\n" for it in range(3_000))
    ),
    "labels": in_c("".join(f"l{it}: g++; " for it in range(14_000)) + "goto l0;"),
    "macros without an end": in_c("FOO(" * 40_000) | in_python("if g: x = 1\n" + "elif g: x = 2\n" * 4_000),
    "branches": in_c(
        "".join(f"if (c{it}) g = g * 2; else g = g + {it};" for it in range(300))
        + "".join(f"switch (v{it}) {{ case 1: g++; break; default: g += 3; }}" for it in range(300))
    ),
    "Python: doubling": in_python(
        'for i in range(64):\n    x = x * x\n    s = f"{s}{s}"\n    t += t\n    d = d % (d,) + d\n'
        '    c = ",".join([c, c, N])\nx = 2 ** x\nwhile x < 10 ** 100000:\n    x = x ** x'
    ),
    "Python: constants": in_python(
        's = "x" * 10 ** 10\nt = [0] * 10 ** 10\nu = 9 ** 9 ** 9\nw = 1 << 10 ** 12\nq = "%1000000000d" % 3\n'
        'r = "{:1000000000}".format(3)\nv = f"{3:>1000000000}"\nz = np.zeros((10 ** 6, 10 ** 6, 10 ** 3))\n'
        'a = "a".join(["b" * 10 ** 6] * 10 ** 6)\nb = int("9" * 100000)\nx = sum(range(10 ** 12)) + pow(3, 10 ** 9)'
    ),
    "Python: variables of the module": in_python(
        "".join(f"def f{it}():\n    global G{it}\n    G{it} = {it}\n" for it in range(300))
        + "".join(f"x += G{it}\n" for it in range(1300))
    ),
    "Python: lists of themselves": in_python("t = [t, t]\n" * 2_000 + "s = str(t)"),
    "Python: lists of lists": in_python(
        "u = [1]\n"
        + "".join(f"if x{it}: u = [u] * 9\nelse: u = [[u] * 3] * 9\n" for it in range(900))
        + "t = "
        + "[" * 60
        + "1"
        + "] * 9" * 60
    ),
    "wrappers that double": in_c(
        'cl_kernel kk = clCreateKernel(p, "k", 0); f0(kk, 64);',
        "".join(
            f"void f{it}(cl_kernel k, size_t g) {{ f{it + 1}(k, g + 1); f{it + 1}(k, g * 2); }}\n"
            for it in range(170)
        )
        + "void f170(cl_kernel k, size_t g) { clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0, 0, 0, 0); }",
    ),
    "one wrapper called thousands of times": in_c(
        "".join(f"run(kk, {it});" for it in range(7_000)),
        "void run(cl_kernel k, size_t g) { clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0, 0, 0, 0); }\ncl_kernel kk;",
    ),
    "Python: recursion": in_python(
        "def f(n):\n    return f(n-1) + f(n-2) if n > 0 else 1\n" + "x = f(50)\n" * 2_500
    ),
    "Python: generators": in_python(
        "def gen():\n    while True: yield 1\nfor it in gen(): x += it\nl = lambda n: l(n) + l(n)\n"
        "x += l(1) + sum([i for i in range(10**9) for j in range(10**9)])"
    ),
    "Python: deep": in_python(
        "g = "
        + "(" * 5000
        + "1"
        + ")" * 5000
        + "\nx = "
        + "-" * 20_000
        + "1\ny = a"
        + ".b" * 20_000
        + "\nz = f"
        + "(1)" * 20_000
    ),
    "files of others": {
        "main.py": 'import pyopencl as cl\na = open("/etc/passwd").read()\nb = open("secret.txt").read()\n'
        'c = open("/dev/zero").read()\nprg = cl.Program(ctx, open("k.cl").read()).build(options="-DX=" + a + b)\n'
        "prg.k(queue, (len(a) + len(b),), None, buf, 4)\n",
        "main.cpp": '#include <CL/cl.h>\n#include "/etc/passwd"\n#include "/dev/zero"\n#include "secret.txt"\n'
        'int main() { std::ifstream f("/dev/zero"); std::string s((std::istreambuf_iterator<char>(f)), '
        "std::istreambuf_iterator<char>()); size_t g = s.size() + SECRET; "
        'clEnqueueNDRangeKernel(q, clCreateKernel(p, "k", 0), 1, 0, &g, 0, 0, 0, 0); }\n',
    },
}
ADDRESS_SPACE = 1536 << 20
CPU_S = 20
"""With the start of Python, on a machine that others use; none takes more than three."""


def limits() -> Limits:
    import resource

    return (
        (resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)),
        (resource.RLIMIT_CPU, (CPU_S, CPU_S + 1)),
    )


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process")
@pytest.mark.parametrize("command", ["launches", "check"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_hostile_host_program_costs_little_and_shows_nothing(tmp_path: Path, name: str, command: str):
    (tmp_path / "secret.txt").write_text("#define SECRET 7331\n")
    own = tmp_path / "own"
    (own / ".git").mkdir(parents=True)
    (own / "secret.txt").symlink_to(tmp_path / "secret.txt")
    (own / "k.cl").write_text(KERNEL)
    for path, text in PROGRAMS[name].items():
        (own / path).write_text(text)
    done = clmap(command, ".", cwd=own, limits=limits(), timeout=600)
    assert done.returncode == 0, done.stderr[-500:]
    assert "internal error" not in done.stdout + done.stderr
    assert "root:" not in done.stdout + done.stderr
    assert "7331" not in done.stdout + done.stderr
