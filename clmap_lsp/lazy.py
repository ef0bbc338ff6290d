"""A property that is worked out when it is first asked for, and then kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy_property(Generic[T]):  # noqa: N801 - it stands where `cached_property` would.
    """As `functools.cached_property`, without its lock.

    Until Python 3.12 that one holds a lock, the same for all objects of the class, while it works one out:
    work that pauses at a checkpoint in there would stop whoever asks another object for the same.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> lazy_property[T]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> T | lazy_property[T]:
        if owner is None:
            return self
        value: T = self._make(owner)
        owner.__dict__[self._name] = value
        return value
