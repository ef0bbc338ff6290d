"""Dataclasses that cost little to make: frozen to the type checker, plain slots to the interpreter.

The `__init__` of a frozen dataclass sets each field through `object.__setattr__`, which takes four times as
long as an assignment. Reading a file makes nodes and places by the hundred thousand; there that was a fifth
of all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen, slots, eq=True, weakref_slot=False):
        """Return what makes a class a dataclass, hashable as a frozen one is. Nothing may be assigned to."""
        return dataclass(slots=slots, eq=eq, unsafe_hash=frozen and eq, weakref_slot=weakref_slot)
