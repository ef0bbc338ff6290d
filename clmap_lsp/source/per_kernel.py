"""Facts of a kernel that several rooms ask for, worked out once and kept as long as the kernel is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from clmap_lsp.source.ir import Kernel, walk

T = TypeVar("T")


def per_kernel(work_out: Callable[[Kernel], T]) -> Callable[[Kernel], T]:
    """Make a function of a kernel alone remember its answers. They must not lead back to the kernel."""
    kept: WeakKeyDictionary[Kernel, T] = WeakKeyDictionary()

    @wraps(work_out)
    def answer(kernel: Kernel) -> T:
        found = kept.get(kernel)
        if found is None:
            found = kept[kernel] = work_out(kernel)
        return found

    return answer


@per_kernel
def n_statements(kernel: Kernel) -> int:
    """Return how many statements a kernel has, those of inlined calls included: what work on it costs."""
    return sum(1 for _ in walk(kernel.body))
