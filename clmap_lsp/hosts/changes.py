"""What a rewritten kernel asks of its launch, as the sizes of a launch known from host code become by it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.dataclass import dataclass

if TYPE_CHECKING:
    from clmap_lsp.hosts.host_launch import HostLaunch, HostValue

_T = TypeVar("_T")
_LITERAL = re.compile(r"\d+")
_SIMPLE = re.compile(r"[A-Za-z_][\w.]*(?:\[\w+\])*|\w+\([^()]*\)|\d+")
_SIZEOF = re.compile(r"sizeof\s*\(\s*(\w+)\s*\)")


@dataclass(frozen=True, slots=True)
class Resize:
    """A size becomes `size * times / over * each + plus`; the division is rounded up."""

    times: int = 1
    over: int = 1
    plus: int = 0
    each: int = 1

    def of(self, size: int | float) -> int:
        """Return what a known size becomes."""
        return -(-int(size) * self.times // self.over) * self.each + self.plus

    def text(self, old: str, divide: str = "/") -> str:
        """Return the expression that a size becomes; `divide` is the language's whole division."""
        if _LITERAL.fullmatch(old):
            return str(self.of(int(old)))
        if self.times == 0:
            return str(self.plus)
        new = old if _SIMPLE.fullmatch(old) or self == Resize() else f"({old})"
        if self.times != 1:
            new = f"{new} * {self.times}"
        if self.over != 1:
            new = f"({new} + {self.over - 1}) {divide} {self.over}"
        if self.each != 1:
            new = f"{new} * {self.each}"
        return f"{new} + {self.plus}" if self.plus else new


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """What must change in every launch of a kernel.

    `order` says for each new dimension which old one it was, of global and local size alike. `global_size`
    gives rules by new dimension. `local_size` are the new sizes, whatever they were. `local_bytes` are rules
    for the sizes in bytes of `__local` arguments, by parameter name.
    """

    order: tuple[int, ...] = ()
    global_size: Mapping[int, Resize] = field(default_factory=dict)
    local_size: tuple[int, ...] | None = None
    local_bytes: Mapping[str, Resize] = field(default_factory=dict)

    @property
    def changes_global(self) -> bool:
        """True if the global size becomes another one."""
        return bool(self.order or self.global_size)

    @property
    def changes_local(self) -> bool:
        """True if the local size becomes another one."""
        return bool(self.order) or self.local_size is not None

    def global_texts(self, old: Sequence[str], divide: str) -> list[str]:
        """Return the expressions of the new global size."""
        items = self._ordered(old)
        return [self.global_size.get(i, Resize()).text(it, divide) for i, it in enumerate(items)]

    def local_texts(self, old: Sequence[str]) -> list[str]:
        """Return the expressions of the new local size."""
        return list(map(str, self.local_size)) if self.local_size is not None else self._ordered(old)

    def made(self, launch: HostLaunch) -> tuple[list[int | float | None], ...]:
        """Return the known global sizes, local sizes and `__local` bytes after the change, by default."""
        whole = [it.best for it in launch.global_size]
        local = [it.best if it is not None else None for it in launch.local_size]
        sizes: list[int | float | None] = [
            self.global_size.get(i, Resize()).of(it) if it is not None else None
            for i, it in enumerate(self._ordered(whole))
        ]
        groups = list(self.local_size) if self.local_size is not None else self._ordered(local)
        held = launch.local_arguments
        memory = [_resized(held[name], self.local_bytes.get(name)) for name in sorted(held)]
        return sizes, [*groups], memory

    def _ordered(self, items: Sequence[_T]) -> list[_T]:
        order = self.order if len(self.order) == len(items) else range(len(items))
        return [items[i] for i in order]


def _resized(value: HostValue, rule: Resize | None) -> int | float | None:
    return value.best if rule is None or value.best is None else rule.of(value.best)


def bytes_text(rule: Resize, old: str) -> str:
    """Return the expression that the size of a `__local` argument becomes, in elements where it was."""
    from clmap_lsp.hosts.values import size_of

    found = _SIZEOF.search(old)
    element = size_of(found[1]) if found is not None else None
    if found is not None and element and rule.times == 0 and rule.plus % element == 0:
        return f"{rule.plus // element} * {found[0]}"
    return rule.text(old)


@dataclass(frozen=True, slots=True)
class StructureMember:
    """A member of the structures of a buffer: where it lies, in bytes."""

    name: str
    type: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StructureChange:
    """Kernels whose buffers of structures become a buffer for each member.

    `parameters` gives, by kernel and by its parameter, the members (places in `fields`) with the names of the
    new parameters, in their order.
    """

    bytes: int
    fields: tuple[StructureMember, ...]
    parameters: Mapping[str, Mapping[str, tuple[tuple[int, str], ...]]]


Change = LaunchChange | StructureChange
"""What a rewritten kernel asks of host code."""
