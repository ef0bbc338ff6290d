"""Threads of one program that run kernels at the same time share the run-time library."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from clmap_lsp.emulator import library as module

_PROGRAM = '''
import threading
import clmap_lsp

KERNEL = """
__kernel void reverse%d(__global int *a, __local int *t)
{
    int l = get_local_id(0), n = get_local_size(0);
    t[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[get_global_id(0)] = t[n - 1 - l] + %d;
}
"""
gate, outputs = threading.Barrier(8), {}

def run(n):
    gate.wait()
    launch = {"global_size": 256, "local_size": 32, "args": {"a": "iota(256)", "t": "local(32)"}}
    outputs[n] = clmap_lsp.emulate(KERNEL % (n, n), **launch).buffer("a").view("int32").tolist()

threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
for it in threads:
    it.start()
for it in threads:
    it.join()
expected = [[i // 32 * 32 + 31 - i % 32 + n for i in range(256)] for n in range(8)]
print([outputs.get(n) == expected[n] for n in range(8)].count(True))
'''


def test_kernels_run_in_eight_threads_that_all_begin_at_once() -> None:
    """The process ended: the library was loaded twice, and the one that kernels called was dropped."""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "8"), done.stderr


def test_the_library_is_loaded_once_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    is_second = threading.Event()

    def slow(text: str, *_: object) -> object:
        loads.append(text)
        if len(loads) > 1:
            is_second.set()
        is_second.wait(1)  # For the others to come, if nothing holds them.
        return object()

    monkeypatch.setattr(module, "load", slow)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(module.library(977))) for _ in range(4)]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    assert len(loads) == 1
    assert len(found) == 4 and len(set(map(id, found))) == 1
