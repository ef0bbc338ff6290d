"""The package's dataclasses behave as the standard library's do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.dataclass import _shape, dataclass, record

Decorator = Callable[..., Any]
OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq}
    for frozen in (False, True)
    for slots in (False, True)
    for eq in (False, True)
]


def _plain(decorator: Decorator, options: dict[str, bool]) -> Any:
    @decorator(**options)
    class Point:
        x: int
        y: int = 2
        names: list[str] = dataclasses.field(default_factory=list, compare=False)
        hidden: int = dataclasses.field(default=3, repr=False, compare=False)
        own: int = dataclasses.field(default=4, init=False)
        made: tuple[int, ...] = dataclasses.field(default_factory=tuple, init=False)
        late: str = dataclasses.field(default="late", kw_only=True)
        unhashed: int = dataclasses.field(default=1, hash=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "own", self.x + 10)

    return Point


def _inherited(decorator: Decorator, options: dict[str, bool]) -> Any:
    @decorator(**options)
    class Base:
        x: int
        y: int = 1

    @decorator(**options)
    class Point(Base):
        y: int = 2
        z: int = 3

    return Point


def _with_own_methods(decorator: Decorator, options: dict[str, bool]) -> Any:
    @decorator(**options)
    class Point:
        x: int
        y: int = 2

        def __repr__(self) -> str:
            return f"<{self.x}>"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and other.x == self.x

        def __hash__(self) -> int:
            return self.x

    return Point


def _single(decorator: Decorator, options: dict[str, bool]) -> Any:
    @decorator(**options)
    class Point:
        x: int = 0

    return Point


def _said(what: Callable[[], object]) -> object:
    try:
        value = what()
    except Exception as error:
        return type(error), str(error).replace("Point.", "")
    return value if not dataclasses.is_dataclass(value) else (repr(value), dataclasses.astuple(value))


def _behaviour(point: Any, a: int, b: int) -> list[object]:
    """Return what a class answers to all that dataclasses are asked."""
    said = [_said(lambda n=n: point(n)) for n in (a, b, a)]
    said += [_said(point), _said(lambda: point(1, 2, [], 4, 5, 6, 7, 8, 9))]
    said += [_said(lambda: point(nothing=1)), _said(lambda: point(a, late="x"))]
    try:
        one, two, same = point(a, y=b), point(b, y=a), point(a, y=b)
    except TypeError:
        one, two, same = point(), point(), point()
    said += [one == two, one == same, one == 1, one != same, point.__hash__ is None]
    said += [_said(lambda: hash(one) == hash(same)), _said(lambda: dataclasses.replace(one, x=b))]
    said += [_said(lambda: copy.copy(one)), _said(lambda: copy.deepcopy(one)), dataclasses.asdict(one)]
    said += [_said(lambda: setattr(one, "x", 1)), _said(one.__repr__), hasattr(one, "__dict__")]
    said += [_said(lambda: delattr(one, "x"))]
    return [*said, point.__match_args__, [it.name for it in dataclasses.fields(point)]]


@pytest.mark.parametrize("body", [_plain, _inherited, _with_own_methods, _single])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(a=st.integers(-2, 2), b=st.integers(-2, 2))
def test_a_class_answers_as_a_standard_one(body: Any, options: dict[str, bool], a: int, b: int) -> None:
    ours, standard = body(dataclass, options), body(dataclasses.dataclass, options)
    assert _behaviour(ours, a, b) == _behaviour(standard, a, b)


def test_what_is_compiled_first_does_not_matter_to_a_class_that_inherits() -> None:
    point = _inherited(dataclass, {"frozen": True, "slots": True})
    base = point.__base__
    assert point(1, 2, 3) == point(1, 2, 3)
    assert base(1, 2) != point(1, 2, 3)
    assert hash(base(1, 2)) == hash((1, 2))
    assert len({base(1, 2), base(1, 2), point(1, 2, 3)}) == 2


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Node:
    """One that refers to itself."""

    children: list[Node]


@dataclass(frozen=True, slots=True)
class Nothing:
    """One without fields."""


def test_those_without_fields_are_equal() -> None:
    assert {Nothing(), Nothing()} == {Nothing()}
    assert repr(Nothing()) == "Nothing()"


@record(frozen=True, slots=True)
class Place:
    """One that is frozen to the type checker."""

    row: int
    column: int = 1


def test_a_record_is_hashed_and_copied_as_a_frozen_class() -> None:
    assert {Place(3), Place(3, 1)} == {Place(row=3)}
    assert pickle.loads(pickle.dumps(Place(3, 4))) == dataclasses.replace(Place(3), column=4)
    assert hash(Place(3, 4)) == hash((3, 4))


def test_objects_are_pickled_and_referred_to_weakly() -> None:
    node = Node([Node([])])
    assert pickle.loads(pickle.dumps(node)) == node
    assert weakref.ref(node)() is node


def test_one_that_holds_itself_is_shown() -> None:
    node = Node([])
    node.children.append(node)
    assert repr(node) == "Node(children=[...])"


def test_methods_that_differ_by_names_only_are_compiled_once() -> None:
    """Each class has parameters, defaults and attributes of its own all the same."""

    @dataclass(frozen=True, slots=True)
    class Size:
        width: int
        height: int = 1

    @dataclass(frozen=True, slots=True)
    class Range:
        start: int
        f0: int = 2
        """Named as what stands for another field."""

    before = _shape.cache_info().misses
    one, other = Size(width=3), Range(f0=5, start=4)
    after = _shape.cache_info().misses
    assert after <= before + 1
    assert ((one.width, one.height), (other.start, other.f0)) == ((3, 1), (4, 5))
    with pytest.raises(TypeError, match="'width'"):
        Size()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'start'"):
        Range()  # type: ignore[call-arg]
