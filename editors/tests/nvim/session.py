"""Run a Lua suite in a headless Neovim with the plugin's folder on its runtime path.

usage: session.py NVIM SUITE.lua
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
KERNEL = """\
// clmap: global=256,256 local=16,16 N=256
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int r = get_global_id(0);
    int c = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += B[k * N + c] * A[r * N + k];
    C[r * N + c] = sum;
}
"""
SAMPLES = {
    "bare_kernel.cl": ("opencl", "__kernel void f(__global int *a)\n{\n  a[get_global_id(0)] = 1;\n}\n"),
    "defines.cl": ("opencl", "#define N 4\n#ifdef X\n#endif\nkernel void f(global int *a) { a[0] = N; }\n"),
    "block_comment.cl": ("opencl", "/*\n * Copyright\n */\n__kernel void f() {}\n"),
    "line_comment.cl": (
        "opencl",
        "// one\n// two\n\ntypedef float real;\n__kernel void f(__global real *a) {}\n",
    ),
    "empty.cl": ("opencl", ""),
    "package.cl": ("lisp", ";;; -*- Lisp -*-\n(in-package :cl-user)\n(defun f (x)\n  (+ x 1))\n"),
    "defsystem.cl": ("lisp", "(defpackage :a\n  (:use :cl))\n(in-package :a)\n(defvar *x* '(1 2))\n"),
    "conditional.cl": ("lisp", '#+sbcl\n(require :asdf)\n#-sbcl\n(load "asdf")\n(defmacro m () nil)\n'),
}


def main() -> int:
    nvim, suite = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "k.cl").write_text(KERNEL)
        for sample, (_, text) in SAMPLES.items():
            (folder / sample).write_text(text)
        environment = {
            **os.environ,
            "CLMAP_WORKSPACE": str(folder),
            "CLMAP_PYTHON": sys.executable,
            "CLMAP_SAMPLES": ";".join(f"{it}={kind}" for it, (kind, _) in SAMPLES.items()),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
            "CLMAP_CACHE_DIR": str(folder / "cache"),
        }
        plugin = ROOT / "editors/nvim"
        command = [nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "--cmd", f"set rtp^={plugin}"]
        command += ["--cmd", "filetype on", "-c", f"luafile {HERE / suite}"]
        try:
            code = subprocess.run(command, env=environment, timeout=120, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 124
    print(f"\n{Path(nvim).name} {suite}: {'all ok' if code == 0 else f'exit {code}'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
