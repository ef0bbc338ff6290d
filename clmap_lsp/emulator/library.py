"""The run-time library as machine code, compiled once a process (and kept in the cache of object code)."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from functools import cache

import llvmlite

from clmap_lsp.emulator import (
    layout,
    runtime_checks,
    runtime_copies,
    runtime_groups,
    runtime_orders,
    runtime_rows,
    runtime_trace,
)
from clmap_lsp.emulator.native import compiler, words
from clmap_lsp.emulator.native.machine import Code, load

_MODULES = (runtime_trace, runtime_groups, runtime_orders, runtime_checks, runtime_copies, runtime_rows)
CHECKS = (
    "report",
    "shadow_read",
    "shadow_write",
    "order_read",
    "order_write",
    "order_fence",
    "private_read",
    "copy_for_group",
    "wait_events",
    "note_alike",
)
"""Functions that kernels call."""


_LOCK = threading.RLock()


def library(width: int) -> Code:
    """Return the loaded library for SIMD groups of `width` lanes.

    One for all threads: of two that `cache` made at the same time it would drop one, and its machine code
    would be gone while kernels call it.
    """
    with _LOCK:
        return _library(width)


@cache
def _library(width: int) -> Code:
    functions = [
        function
        for module in _MODULES
        for function in vars(module).values()
        if callable(function) and getattr(function, "__module__", "") == module.__name__
    ]
    names = tuple(it.__name__ for it in functions)
    sources = [inspect.getsource(it) for it in (*_MODULES, layout, words, compiler)]
    made_of = "\0".join([llvmlite.__version__, str(width), *sources])
    return load(made_of, names, 2, {}, lambda _: _text(functions, width))


def _text(functions: list[Callable[..., int]], width: int) -> str:
    return str(compiler.compile_functions(functions, "runtime", {"LANES": width}))


@cache
def run_function(width: int) -> Callable[[int], int]:
    """Return `runtime_groups.run` as a Python function of the state's address."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    return prototype(library(width).addresses["run"])


@cache
def rows_function(width: int) -> Callable[[int], int]:
    """Return `runtime_rows.run_rows` as a Python function of the state's address."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    return prototype(library(width).addresses["run_rows"])


@cache
def expand_function(width: int) -> Callable[[int], int]:
    """Return `runtime_trace.expand_pairs` as a Python function of the state's address."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    return prototype(library(width).addresses["expand_pairs"])


@cache
def settle_function(width: int) -> Callable[[int], int]:
    """Return `runtime_trace.settle_strides` as a Python function of the state's address."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
    return prototype(library(width).addresses["settle_strides"])


def symbols(width: int) -> dict[str, int]:
    """Return what kernels may call."""
    return {name: library(width).addresses[name] for name in CHECKS}
