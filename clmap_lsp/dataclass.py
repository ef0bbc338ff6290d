"""Dataclasses whose methods are compiled when they are first called, one for all classes of a shape.

The standard decorator writes and compiles five functions for each class as it is imported: 0.35 ms, for
the 400 classes of a `check` more than a third of its time, though most are never called. This one makes a
class in a twentieth of that, and compiles methods that differ by the names of the fields only once. A frozen
object with slots is made in two thirds of the time, too: its slots are filled by their descriptors and not
through `object.__setattr__`, which looks each of them up.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
from collections.abc import Callable, Sequence
from functools import cache
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_Class = type[Any]
_ABSENT = object()
"""Stands for an argument that was not given, and which a factory makes."""
_LATER: list[tuple[_Class, str, Callable[..., Any], Callable[[], Callable[..., Any]]]] = []
"""The methods to be compiled at their first call: class, name, what stands there, what makes it."""


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, weakref_slot: bool = False
) -> Callable[[type[T]], type[T]]:
    """As `dataclasses.dataclass`, without an order and without `InitVar`.

    `dataclasses.fields`, `replace` and `asdict` take its classes as they take others. One that inherits from
    another is made by this decorator if that one is.
    """

    def decorate(plain: type[T]) -> type[T]:
        made = _with_fields(plain, slots=slots, weakref_slot=weakref_slot)
        _compile_later(made, "__init__", lambda: _init_of(made, frozen=frozen, slots=slots))
        if eq:
            _compare(made, hashes=frozen)
        if frozen:
            _freeze(made, slots=slots)
        return made

    return decorate


@dataclass_transform(field_specifiers=(dataclasses.field,))
def record(
    *, frozen: bool, slots: bool, eq: bool = True, weakref_slot: bool = False
) -> Callable[[type[T]], type[T]]:
    """As `dataclass`, but frozen to the type checker only; to the interpreter its objects have plain slots.

    An assignment takes half as long as filling a slot by its descriptor. Reading a file makes nodes and
    places by the hundred thousand.
    """

    def decorate(plain: type[T]) -> type[T]:
        made = _with_fields(plain, slots=slots, weakref_slot=weakref_slot)
        _compile_later(made, "__init__", lambda: _init_of(made, frozen=False, slots=slots))
        if eq:
            _compare(made, hashes=frozen)
        return made

    return decorate


def _with_fields(plain: type[T], *, slots: bool, weakref_slot: bool) -> type[T]:
    """Return a class with fields and `__repr__`: what the standard decorator does without compiling."""
    plain.__doc__ = plain.__doc__ or plain.__name__  # Else the signature is worked out to stand there.
    decorate = dataclasses.dataclass(  # noqa: TID251
        init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot
    )
    annotations = inspect.get_annotations(plain)
    if _MARKED.search(" ".join(map(str, annotations.values()))) is None:
        # The standard decorator searches each text for these marks, and each several times.
        plain.__annotations__ = dict.fromkeys(annotations, object)
    made = decorate(plain)
    made.__annotations__ = annotations
    for it in dataclasses.fields(made):  # type: ignore[arg-type]
        if it.name in annotations:
            it.type = annotations[it.name]
    _set_new(made, "__repr__", _repr)
    return made


_MARKED = re.compile("ClassVar|InitVar|KW_ONLY")
"""What makes an annotation something else than a field's type."""


def _compare(made: _Class, *, hashes: bool) -> None:
    has_own_hash = made.__dict__.get("__hash__") is not None
    _compile_later(made, "__eq__", lambda: _eq_of(made))
    if hashes and not has_own_hash:
        _compile_later(made, "__hash__", lambda: _hash_of(made), replaces=True)
    elif not has_own_hash:
        made.__hash__ = None  # type: ignore[assignment]


def _set_new(made: _Class, name: str, method: object) -> None:
    """Give a class a method unless it has its own."""
    if name not in made.__dict__:
        setattr(made, name, method)


def _compile_later(
    made: _Class, name: str, compiled: Callable[[], Callable[..., Any]], *, replaces: bool = False
) -> None:
    """Give a class a method, unless it has its own, that puts the compiled one in its place when called."""
    if name in made.__dict__ and not replaces:
        return

    def first_call(self: object, *args: Any, **kwargs: Any) -> Any:
        method = compiled()
        method.__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, method)
        return method(self, *args, **kwargs)

    first_call.__name__ = name
    setattr(made, name, first_call)
    _LATER.append((made, name, first_call, compiled))


def compile_rest() -> None:
    """Compile what was not called yet: in a process that lives long, where nobody waits."""
    while _LATER:
        made, name, first_call, compiled = _LATER.pop()
        if made.__dict__.get(name) is first_call:
            method = compiled()
            method.__qualname__ = f"{made.__qualname__}.{name}"
            setattr(made, name, method)


def _freeze(made: _Class, *, slots: bool) -> None:
    names = frozenset(it.name for it in dataclasses.fields(made))

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    made.__setattr__ = set_attribute  # type: ignore[assignment]
    made.__delattr__ = delete_attribute  # type: ignore[assignment]
    if slots:
        _set_new(made, "__getstate__", _state)
        _set_new(made, "__setstate__", _set_state)


# --------------------------------------------------------------------------- methods that all classes share


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{it.name}={getattr(self, it.name)!r}" for it in dataclasses.fields(self) if it.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[object]:
    return [getattr(self, it.name) for it in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[object]) -> None:
    for it, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, it.name, value)


# --------------------------------------------------------------------------- methods compiled for one class


def _init_of(made: _Class, *, frozen: bool, slots: bool) -> Callable[..., None]:
    """Return `__init__`, with the standard one's parameters, defaults and order of what it assigns."""
    fields = dataclasses.fields(made)
    used: dict[str, object] = {"_absent": _ABSENT, "_set": object.__setattr__}
    positional, by_name, body = ["self"], list[str](), list[str]()
    defaults = dict[str, object]()
    for at, it in enumerate(fields):
        name = value = f"f{at}"
        if it.default_factory is not dataclasses.MISSING:
            used[f"_make{at}"] = it.default_factory
            defaults[name] = _ABSENT
            value = f"_make{at}() if {name} is _absent else {name}" if it.init else f"_make{at}()"
        elif it.default is not dataclasses.MISSING:
            used[f"_default{at}"] = defaults[name] = it.default
            value = name if it.init else f"_default{at}"
        if it.init:
            (by_name if it.kw_only else positional).append(name)
        elif value == name or (value == f"_default{at}" and not slots):
            continue  # Nobody gives it, or the class has it.
        descriptor = getattr(made, it.name, None)
        if not frozen:
            body.append(f"self.{name} = {value}")
        elif isinstance(descriptor, MemberDescriptorType):
            used[f"_set{at}"] = descriptor.__set__
            body.append(f"_set{at}(self, {value})")
        else:
            used[f"_name{at}"] = it.name
            body.append(f"_set(self, _name{at}, {value})")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = [*positional, "*", *by_name] if by_name else positional
    init = _compiled("__init__", parameters, body or ["pass"], [it.name for it in fields], used)
    init.__defaults__ = tuple(defaults[it] for it in positional if it in defaults)
    init.__kwdefaults__ = {fields[int(it[1:])].name: defaults[it] for it in by_name if it in defaults}
    return init


def _eq_of(made: _Class) -> Callable[..., bool]:
    compared = [it.name for it in dataclasses.fields(made) if it.compare]
    one, two = (_tuple(it, len(compared)) for it in ("self", "other"))
    body = [f"return {one} == {two} if other.__class__ is self.__class__ else NotImplemented"]
    return _compiled("__eq__", ["self", "other"], body, compared)


def _hash_of(made: _Class) -> Callable[..., int]:
    hashed = [it.name for it in dataclasses.fields(made) if (it.compare if it.hash is None else it.hash)]
    return _compiled("__hash__", ["self"], [f"return hash({_tuple('self', len(hashed))})"], hashed)


def _tuple(owner: str, n_fields: int) -> str:
    return f"({''.join(f'{owner}.f{it}, ' for it in range(n_fields))})"


def _compiled(
    name: str,
    parameters: Sequence[str],
    body: Sequence[str],
    fields: Sequence[str],
    used: dict[str, object] | None = None,
) -> FunctionType:
    """Return a function in which `f0`, `f1`, ... stand for the fields' names.

    Args:
        used: what other names mean.
    """
    lines = "".join(f" {it}\n" for it in body)
    shape = _shape(name, f"def {name}({', '.join(parameters)}):\n{lines}")
    named = {f"f{at}": it for at, it in enumerate(fields)}
    code = shape.replace(
        co_varnames=tuple(named.get(it, it) for it in shape.co_varnames),
        co_names=tuple(named.get(it, it) for it in shape.co_names),
    )
    return FunctionType(code, {"__builtins__": builtins, **(used or {})}, name)


@cache
def _shape(name: str, text: str) -> CodeType:
    """Return the code of a function, for all classes that differ by the names of their fields only."""
    made: dict[str, FunctionType] = {}
    exec(text, made)
    return made[name].__code__
