"""What is worked out when it is first asked for, and then kept: properties, patterns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, overload

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


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but compiled when it is first used: for texts that few files are like.

    Compiling one takes 0.1 ms, and a module of a reader has up to a dozen. Asking it for a method takes
    another look-up each time, so that one which is used for each token is better compiled at once.
    """
    return cast("re.Pattern[str]", LazyPattern(text, flags))


class LazyPattern:
    """Stands for a pattern, and has what is asked of it."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def compiled(self) -> re.Pattern[str]:
        """Return the pattern itself."""
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> object:
        """Return what is no attribute yet of the pattern, and keep it as one."""
        found: object = getattr(self.compiled(), name)
        setattr(self, name, found)
        return found
