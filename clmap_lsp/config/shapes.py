"""Shapes of configuration values: each checks a value and prints itself as JSON schema.

One description serves reading, error messages, the published schema and the documentation, so that they
cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Protocol

from clmap_lsp import suggestions
from clmap_lsp.dataclass import dataclass

Path = tuple[str | int, ...]
"""Keys and list indices from the document's root to a value."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a document. `at_key`: the key itself is wrong, not its value."""

    path: Path
    message: str
    at_key: bool = False


class Shape(Protocol):
    """What a value must look like."""

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield what is wrong with `value`."""
        ...

    def schema(self) -> dict[str, Any]:
        """Return it as JSON schema (draft 2020-12)."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """A string, one of `choices` where they are given. `suggestions` are for editors only.

    `listed_by` names what prints the choices where they are too many for a message; `pattern` is a regular
    expression of what a string without choices must look like, and `what` says that in words.
    """

    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    listed_by: str = ""
    pattern: str = ""
    what: str = ""

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for another type or an unknown choice."""
        if not isinstance(value, str):
            yield Fault(path, f"expected a string, found {describe(value)}")
        elif self.choices and value not in self.choices:
            cure = did_you_mean(value, self.choices)
            listed = f"; {self.listed_by} lists them" if self.listed_by and not cure else ""
            yield Fault(path, f'unknown value "{value}"{cure}{listed}')
        elif self.pattern and not re.search(self.pattern, value):
            yield Fault(path, f'expected {self.what}, found "{value}"')

    def schema(self) -> dict[str, Any]:
        """Return `string` with its choices."""
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        if self.suggestions:
            return {"type": "string", "examples": list(self.suggestions)}
        if self.pattern:
            return {"type": "string", "pattern": self.pattern}
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number of at least `minimum`, at most `maximum`."""

    minimum: int | None = None
    maximum: int | None = None

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for another type or a number below the minimum."""
        if not isinstance(value, int) or isinstance(value, bool):
            yield Fault(path, f"expected a whole number, found {describe(value)}")
        elif self.minimum is not None and value < self.minimum:
            yield Fault(path, f"expected at least {self.minimum}, found {shown(value)}")
        elif self.maximum is not None and value > self.maximum:
            yield Fault(path, f"expected at most {self.maximum}, found {shown(value)}")

    def schema(self) -> dict[str, Any]:
        """Return `integer` with its bounds."""
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "integer", **{name: it for name, it in bounds.items() if it is not None}}


@dataclass(frozen=True, slots=True)
class Number:
    """A number above zero, at most `maximum`."""

    maximum: float | None = None

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for another type or a number that is not above zero."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield Fault(path, f"expected a number, found {describe(value)}")
        elif not value > 0:
            yield Fault(path, f"expected a number above 0, found {shown(value)}")
        elif self.maximum is not None and value > self.maximum:
            yield Fault(path, f"expected at most {self.maximum:g}, found {shown(value)}")

    def schema(self) -> dict[str, Any]:
        """Return `number` above 0."""
        bound = {} if self.maximum is None else {"maximum": self.maximum}
        return {"type": "number", "exclusiveMinimum": 0, **bound}


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`."""

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for another type."""
        if not isinstance(value, bool):
            yield Fault(path, f"expected true or false, found {describe(value)}")

    def schema(self) -> dict[str, Any]:
        """Return `boolean`."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, a number or a boolean: a macro's or an argument's value."""

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for a list, a table or a date."""
        if not isinstance(value, str | int | float):
            yield Fault(path, f"expected a string or a number, found {describe(value)}")

    def schema(self) -> dict[str, Any]:
        """Return the three types."""
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of `item`, with `least` to `most` entries."""

    item: Shape
    least: int = 0
    most: int | None = None

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield faults of the list and of its items."""
        if not isinstance(value, list):
            yield Fault(path, f"expected a list, found {describe(value)}")
            return
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            expected = f"{self.least} to {self.most}" if self.most is not None else f"at least {self.least}"
            yield Fault(path, f"expected {expected} entries, found {len(value)}")
        for index, item in enumerate(value):
            yield from self.item.check(item, (*path, index))

    def schema(self) -> dict[str, Any]:
        """Return `array` with its bounds."""
        out: dict[str, Any] = {"type": "array", "items": self.item.schema()}
        if self.least:
            out["minItems"] = self.least
        if self.most is not None:
            out["maxItems"] = self.most
        return out


@dataclass(frozen=True, slots=True)
class MapOf:
    """A table with keys of the user's choice (`keys` or `names` limit them) and values of one shape."""

    value: Shape
    keys: tuple[str, ...] = ()
    names: Text | None = None

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield faults of the keys and of the values."""
        if not isinstance(value, dict):
            yield Fault(path, f"expected a table, found {describe(value)}")
            return
        for key, item in value.items():
            if self.keys and key not in self.keys:
                yield Fault((*path, key), f'unknown name "{key}"{did_you_mean(key, self.keys)}', at_key=True)
            elif self.names is not None and (wrong := next(self.names.check(key, ()), None)):
                yield Fault((*path, key), wrong.message, at_key=True)
            else:
                yield from self.value.check(item, (*path, key))

    def schema(self) -> dict[str, Any]:
        """Return `object`."""
        out: dict[str, Any] = {"type": "object", "additionalProperties": self.value.schema()}
        if self.keys:
            out["propertyNames"] = {"enum": list(self.keys)}
        elif self.names is not None:
            out["propertyNames"] = self.names.schema()
        return out


@dataclass(frozen=True, slots=True)
class Either:
    """A value whose TOML type decides its shape."""

    shapes: Mapping[type, Shape]
    expected: str

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield a fault for a type that is not taken, else those of its shape."""
        shape = None if isinstance(value, bool) else self.shapes.get(type(value))
        if shape is None:
            yield Fault(path, f"expected {self.expected}, found {describe(value)}")
        else:
            yield from shape.check(value, path)

    def schema(self) -> dict[str, Any]:
        """Return `anyOf`."""
        return {"anyOf": [it.schema() for it in self.shapes.values()]}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table, with the sentence that editors and the documentation show."""

    shape: Shape
    doc: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table with known keys."""

    keys: Mapping[str, Key] = field(default_factory=dict)

    def check(self, value: object, path: Path) -> Iterator[Fault]:
        """Yield faults: unknown and missing keys, and those of the values."""
        if not isinstance(value, dict):
            yield Fault(path, f"expected a table, found {describe(value)}")
            return
        for name, item in value.items():
            if (key := self.keys.get(name)) is None:
                message = f'unknown key "{name}"{did_you_mean(name, self.keys)}'
                yield Fault((*path, name), message, at_key=True)
            else:
                yield from key.shape.check(item, (*path, name))
        for name, key in self.keys.items():
            if key.required and name not in value:
                yield Fault(path, f'missing key "{name}"', at_key=True)

    def schema(self) -> dict[str, Any]:
        """Return `object` that allows nothing else."""
        out: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
        for name, key in self.keys.items():
            entry = {"description": key.doc, **key.shape.schema()}
            if key.default is not None:
                entry["default"] = key.default
            out["properties"][name] = entry
        if required := [name for name, key in self.keys.items() if key.required]:
            out["required"] = required
        return out


def describe(value: object) -> str:
    """Say what a TOML value is: `the string "x"`, `the number 3`, `a list`."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'the string "{value}"'
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def did_you_mean(word: str, known: Mapping[str, object] | tuple[str, ...] | list[str]) -> str:
    """Return `; did you mean "x"?`, or a list of what there is where nothing is near."""
    listed = f"; known: {', '.join(sorted(known))}" if len(known) <= 12 else ""
    return suggestions.did_you_mean(word, known) or listed


def shown(value: float) -> str:
    """Return a number for a message; Python prints no whole number of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of hundreds of digits"
    return str(value)
