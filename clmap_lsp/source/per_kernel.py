"""Facts of a kernel that several rooms ask for, worked out once and kept as long as the kernel is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import wraps
from typing import Generic, TypeVar
from weakref import ReferenceType, WeakKeyDictionary, ref

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


class KeptByKernel(Generic[T]):
    """The last answers about kernels, each kept as long as its kernel. They must not lead back to it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[int, Hashable], tuple[ReferenceType[Kernel], T]] = OrderedDict()

    def get(self, kernel: Kernel, asked: Hashable) -> T | None:
        """Return what was kept of a kernel, if it is still there."""
        key = id(kernel), asked
        found = self._kept.get(key)
        if found is None or found[0]() is not kernel:
            return None
        with suppress(KeyError):  # Another thread has dropped it meanwhile.
            self._kept.move_to_end(key)
        return found[1]

    def keep(self, kernel: Kernel, asked: Hashable, answer: T) -> T:
        """Keep and return an answer."""
        key = id(kernel), asked
        self._kept[key] = ref(kernel, lambda _: self._kept.pop(key, None)), answer
        self._kept.move_to_end(key)
        if len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return answer


@per_kernel
def n_statements(kernel: Kernel) -> int:
    """Return how many statements a kernel has, those of inlined calls included: what work on it costs."""
    return sum(1 for _ in walk(kernel.body))
