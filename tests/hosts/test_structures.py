"""Host code whose buffers of structures are taken apart prints the same, or is refused with a reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from ctypes.util import find_library
from functools import cache
from pathlib import Path

import pytest
import warm

from clmap_lsp.config import Settings
from clmap_lsp.hosts.changes import StructureChange, StructureMember
from clmap_lsp.hosts.editing import applied
from clmap_lsp.workbench.hosts import HostFiles

STRUCT = "typedef struct { float x, y; float v[2]; int kind; float m; } Body;\n"
KERNELS = f"""{STRUCT}\
__kernel void drift(__global Body *p, const float dt, const int n)
{{
    const int i = get_global_id(0);
    if (i < n)
        p[i].x += dt * p[i].y;
}}
__kernel void kick(const int n, __global float *f, __global Body *b)
{{
    const int i = get_global_id(0);
    if (i < n)
        b[i].y += f[i] / b[i].m;
}}
"""
APART = """\
__kernel void drift(__global float *p_x, __global float *p_y, const float dt, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        p_x[i] += dt * p_y[i];
}
__kernel void kick(const int n, __global float *f, __global float *b_y, __global float *b_m)
{
    const int i = get_global_id(0);
    if (i < n)
        b_y[i] += f[i] / b_m[i];
}
"""
PLAIN = KERNELS.replace("float v[2]", "float u, w"), APART
"""The same with members that all are plain: they can come back."""


def change(text: str = KERNELS) -> StructureChange:
    """Return what the rewrite of `KERNELS` asks of the host."""
    middle = (("v", "float[2]", 8, 8),) if "v[2]" in text else (("u", "float", 8, 4), ("w", "float", 12, 4))
    all_ = (
        ("x", "float", 0, 4),
        ("y", "float", 4, 4),
        *middle,
        ("kind", "int", 16, 4),
        ("m", "float", 20, 4),
    )
    at = {name: i for i, (name, *_) in enumerate(all_)}
    parameters = {
        "drift": {"p": ((at["x"], "p_x"), (at["y"], "p_y"))},
        "kick": {"b": ((at["y"], "b_y"), (at["m"], "b_m"))},
    }
    return StructureChange(24, tuple(StructureMember(*it) for it in all_), parameters)


def edited(folder: Path, host: str, name: str = "main.c", kernels: str = KERNELS) -> str:
    """Return the host text after the edits; the reason, if it is refused."""
    (folder / "clmap.toml").write_text("")
    (folder / "p.cl").write_text(kernels)
    (folder / name).write_text(host)
    found = HostFiles().edits(str(folder / "p.cl"), kernels, Settings(), "drift", change(kernels))
    assert bool(found.edits) != bool(found.reason)
    return applied(host, found.edits) if found.edits else found.reason


PRELUDE = f"""\
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define CHECK(call) do {{ if ((call) != CL_SUCCESS) {{ puts(#call); exit(1); }} }} while (0)
{STRUCT}\
#define N 1000
cl_context context; cl_command_queue queue; cl_program program;
static void start(void)
{{
    cl_platform_id platforms[8]; cl_device_id device; cl_uint count;
    size_t length; char *text, name[200] = "";
    CHECK(clGetPlatformIDs(8, platforms, &count));
    for (cl_uint k = 0; k < count && !strstr(name, "Portable"); k++) {{
        clGetPlatformInfo(platforms[k], CL_PLATFORM_NAME, sizeof(name), name, NULL);
        CHECK(clGetDeviceIDs(platforms[k], CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    }}
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    FILE *file = fopen("p.cl", "rb");
    text = (char *)calloc(1, 100000); length = fread(text, 1, 99999, file); fclose(file);
    program = clCreateProgramWithSource(context, 1, (const char **)&text, &length, NULL);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
}}
static void fill(Body *h)
{{
    for (int i = 0; i < N; i++) {{
        memset(&h[i], i, sizeof(Body));
        h[i].x = i % 7; h[i].y = i % 5; h[i].m = 1 + i % 3;
    }}
}}
static void show(const Body *h)
{{
    unsigned hash = 1;
    for (size_t i = 0; i < N * sizeof(Body); i++) hash = hash * 31 + ((const unsigned char *)h)[i];
    printf("%u %g %g\\n", hash, h[5].x, h[999].y);
}}
"""
BODY = """\
int main(void)
{
    start();
    cl_int n = N, err = 0; float dt = 0.5f;
    cl_kernel drift = clCreateKernel(program, "drift", NULL), kick = clCreateKernel(program, "kick", NULL);
    Body *h = (Body *)malloc(N * sizeof(Body)), *result = (Body *)malloc(N * sizeof(Body));
    float *push = (float *)malloc(N * sizeof(float));
    for (int i = 0; i < N; i++) push[i] = i % 11;
    fill(h);
    cl_mem f = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, N * sizeof(float), push, NULL);
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, N * sizeof(Body), h, &err);
    size_t global = 1024, local = 64;
    CHECK(clSetKernelArg(drift, 0, sizeof(m), &m));
    err = clSetKernelArg(drift, 1, sizeof(dt), &dt) | clSetKernelArg(drift, 2, sizeof(n), &n);
    if (clSetKernelArg(kick, 2, sizeof(cl_mem), (void *)&m) != CL_SUCCESS) return 1;
    clSetKernelArg(kick, 0, sizeof(n), &n);
    clSetKernelArg(kick, 1, sizeof(f), &f);
    for (int step = 0; step < 3; step++) {
        CHECK(clEnqueueNDRangeKernel(queue, drift, 1, NULL, &global, &local, 0, NULL, NULL));
        CHECK(clEnqueueNDRangeKernel(queue, kick, 1, NULL, &global, &local, 0, NULL, NULL));
    }
    CHECK(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, N * sizeof(Body), result, 0, NULL, NULL));
    show(result);
    CHECK(clReleaseMemObject(m));
    return err;
}
"""
COUNTED = """\
static cl_mem m, f;
static void set_up(cl_kernel drift, cl_kernel kick)
{
    static cl_int n = N; static float dt = 0.25f;
    int arg = 0;
    clSetKernelArg(drift, arg++, sizeof(cl_mem), &m);
    clSetKernelArg(drift, arg++, sizeof(float), &dt);
    clSetKernelArg(drift, arg++, sizeof(int), &n);
    arg = 0;
    clSetKernelArg(kick, arg++, sizeof(int), &n);
    clSetKernelArg(kick, arg++, sizeof(cl_mem), &f);
    clSetKernelArg(kick, arg++, sizeof(cl_mem), &m);
}
int main(void)
{
    start();
    cl_kernel drift = clCreateKernel(program, "drift", NULL), kick = clCreateKernel(program, "kick", NULL);
    static Body h[N];
    static float push[N];
    size_t global[1] = {1024}, bytes = sizeof(h);
    fill(h);
    if (global[0] > 0) m = clCreateBuffer(context, CL_MEM_READ_WRITE, N * sizeof(*h), NULL, NULL);
    f = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof(push), NULL, NULL);
    clEnqueueWriteBuffer(queue, f, CL_TRUE, 0, sizeof(push), push, 0, NULL, NULL);
    if (clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, bytes, h, 0, NULL, NULL) != CL_SUCCESS) {
        puts("not written");
        return 1;
    }
    set_up(drift, kick);
    for (int step = 0; step < 2; step++) {
        clEnqueueNDRangeKernel(queue, drift, 1, NULL, global, NULL, 0, NULL, NULL);
        clEnqueueNDRangeKernel(queue, kick, 1, NULL, global, NULL, 0, NULL, NULL);
        clFinish(queue);
        memset(h, 0, sizeof(h));
        clEnqueueReadBuffer(queue, m, CL_FALSE, 0, sizeof(h), &h[0], 0, NULL, NULL);
        clFinish(queue);
        show(h);
    }
    clReleaseMemObject(m);
    clReleaseMemObject(f);
    return 0;
}
"""
CPP = """\
#include <vector>
int main()
{
    start();
    auto drift = clCreateKernel(program, "drift", nullptr), kick = clCreateKernel(program, "kick", nullptr);
    std::vector<Body> bodies(N);
    std::vector<float> push(N, 2.0f);
    fill(bodies.data());
    cl_int n = N; float dt = 0.125f; size_t global = 1024;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE, bodies.size() * sizeof(Body), nullptr, nullptr);
    cl_mem f = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, N * sizeof(float), push.data(), nullptr);
    cl_event *none = nullptr;
    clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof(Body) * bodies.size(), bodies.data(), 0, none, nullptr);
    clSetKernelArg(drift, 0, sizeof(m), &m); clSetKernelArg(drift, 1, 4, &dt);
    clSetKernelArg(drift, 2, 4, &n); clSetKernelArg(kick, 0, 4, &n);
    clSetKernelArg(kick, 1, sizeof(f), &f); clSetKernelArg(kick, 2, sizeof(m), &m);
    clEnqueueNDRangeKernel(queue, drift, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
    clEnqueueNDRangeKernel(queue, kick, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
    clEnqueueReadBuffer(queue, m, CL_TRUE, 0, N * sizeof(Body), bodies.data(), 0, nullptr, nullptr);
    show(&bodies[0]);
}
"""


LOADER = find_library("OpenCL")
"""The loader as programs find it when they run: `-lOpenCL` needs a package for developers."""


@cache
def runs() -> bool:
    """Tell whether OpenCL programs can be compiled and run on PoCL here."""
    if shutil.which("gcc") is None or not Path("/usr/include/CL/cl.h").exists() or LOADER is None:
        return False
    try:
        import pyopencl

        return any("Portable" in it.name for it in pyopencl.get_platforms())
    except Exception:  # What a broken driver raises is its own.
        return False


def clmap(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.clmap(*arguments, cwd=folder)


def printed(folder: Path, host: str, kernels: str, name: str = "main.c") -> str:
    """Compile a host program, run it with these kernels beside it, and return what it prints."""
    folder.mkdir()
    (folder / "p.cl").write_text(kernels)
    (folder / name).write_text(host)
    compiler = ["gcc"] if name.endswith(".c") else ["g++", "-std=c++17"]
    command = [*compiler, "-Werror=implicit-function-declaration", name, "-o", "run", f"-l:{LOADER}"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    cached = {**os.environ, "POCL_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        ["./run"], cwd=folder, check=True, capture_output=True, text=True, timeout=120, env=cached
    )
    return done.stdout


@pytest.mark.parametrize("body", [BODY, COUNTED, CPP], ids=["declared", "counted", "cpp"])
def test_the_program_prints_the_same(tmp_path: Path, body: str) -> None:
    name = "main.cpp" if body == CPP else "main.c"
    host = (PRELUDE + body).replace("float v[2]", "float u, w")
    before, after = PLAIN
    new = edited(tmp_path, host, name, before)
    assert "m_kind" in new and "m_u" in new, new  # The host reads them back, too.
    assert "&m)" not in new and "arg++" in new if body == COUNTED else "6, sizeof" not in new
    if runs():
        shown = printed(tmp_path / "before", host, before, name)
        assert shown.strip() and printed(tmp_path / "after", new, after, name) == shown


def test_members_that_no_kernel_uses_stay_on_the_host_where_nothing_is_read_back(tmp_path: Path) -> None:
    new = edited(
        tmp_path, one("clEnqueueNDRangeKernel(queue, drift, 1, NULL, &global, NULL, 0, NULL, NULL);")
    )
    assert "cl_mem m_x, m_y, m_m;" in new and "kind" not in new.replace(STRUCT, "")


def one(more: str, **replaced: str) -> str:
    """Return a small program, with statements before its end and some of its own replaced."""
    text = f"""{STRUCT}\
int main(void)
{{
    int n = 1000; float dt = 1; size_t global = 1024;
    cl_program program = clCreateProgramWithSource(context, 1, load("p.cl"), NULL, NULL);
    cl_kernel drift = clCreateKernel(program, "drift", NULL);
    cl_kernel kick = clCreateKernel(program, "kick", NULL);
    Body *h = (Body *)malloc(n * sizeof(Body));
    cl_mem f = clCreateBuffer(context, CL_MEM_READ_ONLY, 4000, NULL, NULL);
    MAKE
    DRIFT
    clSetKernelArg(drift, 1, 4, &dt);
    clSetKernelArg(drift, 2, 4, &n);
    clSetKernelArg(kick, 0, 4, &n);
    clSetKernelArg(kick, 1, sizeof(f), &f);
    clSetKernelArg(kick, 2, sizeof(m), &m);
    clEnqueueNDRangeKernel(queue, kick, 1, NULL, &global, NULL, 0, NULL, NULL);
    {more}
}}
"""
    usual = {
        "MAKE": "cl_mem m = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, n * sizeof(Body), h, NULL);",
        "DRIFT": "clSetKernelArg(drift, 0, sizeof(m), &m);",
    }
    for name, words in (usual | replaced).items():
        assert name in text
        text = text.replace(name, words)
    return text


LAUNCH = "clEnqueueNDRangeKernel(queue, drift, 1, NULL, &global, NULL, 0, NULL, NULL);"
READ = "clEnqueueReadBuffer(queue, m, CL_TRUE, {offset}, {bytes}, h, 0, NULL, {event});"


def read(offset: str = "0", bytes: str = "n * sizeof(Body)", event: str = "NULL") -> str:
    return READ.format(offset=offset, bytes=bytes, event=event)


PLAIN_STRUCT = {STRUCT: STRUCT.replace("float v[2]", "float u, w")}


def made(flags: str, size: str = "n * sizeof(Body)", array: str = "NULL", type: str = "cl_mem") -> str:
    return one(LAUNCH, MAKE=f"{type} m = clCreateBuffer(context, {flags}, {size}, {array}, NULL);")


def then(more: str, **replaced: str) -> str:
    return one(f"{LAUNCH} {more}", **replaced)


REFUSED = {
    "mapped": (
        then("h = clEnqueueMapBuffer(queue, m, 1, 1, 0, 24);"),
        "`m` is also given to clEnqueueMapBuffer",
    ),
    "a function": (then("save(m);"), "`m` is also given to save at main.c:18"),
    "another kernel": (
        then("clSetKernelArg(other, 0, sizeof(m), &m);"),
        "`m` is also given to clSetKernelArg",
    ),
    "swapped": (then("cl_mem other = m;"), "`m` is also used at main.c:18"),
    "a part": (then(read(offset="24")), "a part of `m` is moved at main.c:18"),
    "odd bytes": (then(read(bytes="100")), "how many structures the call at main.c:18 means is not known"),
    "an event": (then(read(event="&done")), "an event is asked for at main.c:18"),
    "an array": (then(read()), "the host's `Body` has no plain member where `v` is"),
    "decides": (then(f"if ({read()[:-1]} == 0) use(h);", **PLAIN_STRUCT), "what happens then depends on"),
    "kept": (then(f"int err = {read()}", **PLAIN_STRUCT), "is kept where it is declared"),
    "host memory": (made("CL_MEM_USE_HOST_PTR", array="h"), "`m` may live in the host's memory (main.c:10)"),
    "its flags": (made("flags", array="h"), "`m` may live in the host's memory (main.c:10)"),
    "a constant": (made("0", type="const cl_mem"), "not declared as a plain cl_mem"),
    "no type": (made("0", size="bytes"), "which structure of the host `m` holds is not known"),
    "made twice": (then("m = clCreateBuffer(context, 0, 24, NULL, NULL);"), "not made by one clCreateBuffer"),
    "a list": (one(LAUNCH, DRIFT="clSetKernelArg(drift, 0, sizeof(m), &all[0]);"), "is no plain variable"),
    "an index": (
        one(LAUNCH, DRIFT="clSetKernelArg(drift, at, sizeof(m), &m);"),
        "where `p` of `drift` is set",
    ),
    "a macro": (one(LAUNCH, DRIFT="SET(drift, 0, m);"), "where `p` of `drift` is set is not known"),
    "no launch": (one(""), "no host code that launches `drift` was found"),
    "longer": (one(LAUNCH).replace("int kind;", "double kind;"), "`Body` is not as long as the kernels'"),
    "other members": (one(LAUNCH).replace("float m;", "short m, o;"), "has no plain member where `m` is"),
    "no structure": (one(LAUNCH).replace(STRUCT, ""), "the host's structure `Body` is not found"),
}


@pytest.mark.parametrize(("host", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused_with_the_reason(tmp_path: Path, host: str, reason: str) -> None:
    said = edited(tmp_path, host, kernels=PLAIN[0] if "float u, w" in host else KERNELS)
    assert "clCreateKernel" not in said and reason in said


def test_a_host_in_python_is_refused(tmp_path: Path) -> None:
    host = """\
import pyopencl as cl
program = cl.Program(context, open("p.cl").read()).build()
b = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=h)
program.drift(queue, (1024,), None, b, np.float32(1), np.int32(1000))
program.kick(queue, (1024,), None, np.int32(1000), f, b)
"""
    assert edited(tmp_path, host, "main.py").endswith("in C and C++ only, not in main.py")


def test_variables_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two functions, each with a kernel `k` and a buffer `m`; only one is ours."""
    other = """\
void other(void)
{
    cl_kernel k = clCreateKernel(program, "elsewhere", NULL);
    cl_mem m = clCreateBuffer(context, 0, 100, NULL, NULL);
    clSetKernelArg(k, 1, sizeof(m), &m);
}
"""
    host = one(LAUNCH).replace("drift,", "k,").replace("cl_kernel drift", "cl_kernel k")
    new = edited(tmp_path, host.replace("int main", f"{other}int main"))
    assert other in new and "clSetKernelArg(k, 3, 4, &n);" in new


def test_check_changes_kernels_and_host_in_one_go(tmp_path: Path) -> None:
    (tmp_path / "clmap.toml").write_text("")
    (tmp_path / "p.cl").write_text(PLAIN[0])
    before = (PRELUDE + BODY).replace("float v[2]", "float u, w").replace("N 1000", "N 100000")
    before = before.replace("global = 1024", "global = 100096")
    (tmp_path / "main.c").write_text(before)
    shown = clmap(tmp_path, "check", "p.cl", "--diff", "--unsafe-fixes")
    assert "--- main.c" in shown.stdout and "--- p.cl" in shown.stdout, shown.stderr
    assert (tmp_path / "main.c").read_text() == before
    done = clmap(tmp_path, "check", "p.cl", "--fix", "--unsafe-fixes")
    assert "with it main.c changes: keep a buffer of its own for each member" in done.stderr
    host, kernels = ((tmp_path / name).read_text() for name in ("main.c", "p.cl"))
    assert "clSetKernelArg(drift, 1, sizeof(m_y), &m_y)" in host and "__global float *p_x" in kernels
    again = clmap(tmp_path, "launches", "p.cl")
    assert "drift" in again.stdout and "kick" in again.stdout
    if runs():
        old = printed(tmp_path / "before", before, PLAIN[0])
        assert old.strip() and printed(tmp_path / "after", host, kernels) == old
