"""Strings put together by host code: `sprintf`, `%`, `format` and what is left open in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from clmap_lsp.hosts.values import FileText, Null, Number, RunTime, Text, Value, joined_all, text_of

_C_FORMAT = re.compile(r"%(?P<flags>[-+ #0]*+)(?P<width>\*|\d++)?(?:\.(?P<precision>\*|\d++))?"
                       r"(?:hh|h|ll|l|L|z|j|t|I64)?(?P<kind>[diouxXeEfFgGaAcspn%])")  # fmt: skip
_PYTHON_FORMAT = re.compile(
    r"%(?:\((?P<name>\w+)\))?[-+ #0]*+\d*+(?:\.\d++)?[hlL]?(?P<kind>[diouxXeEfFgGrsc%])"
)
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<name>[\w.\[\]]*)(?:![rsa])?(?::[^{}]*)?\}")

_PRECISION_DIGITS = 3
"""Digits of a precision: `%.999999999f` is a text of a gigabyte."""


def piece(value: Value) -> Text:
    """Return a value as text; what is not known stays open."""
    match value:
        case Text():
            return value
        case FileText():
            return Text((value,))
        case Number(number):
            whole = isinstance(number, float) and number.is_integer() and abs(number) < 1 << 53
            return Text((f"{number:.1f}" if whole else text_of(value),))
        case Null():
            return Text()
        case _:
            return Text((value,))


def printed(format_: Text, values: Sequence[Value]) -> Text:
    """Return what `sprintf` writes."""
    rest = list(values)

    def written(match: re.Match[str]) -> Text:
        for stars in (match["width"], match["precision"]):
            if stars == "*" and rest:
                rest.pop(0)
        return _formatted(match["kind"], rest.pop(0) if rest else RunTime("?"), match)

    return _filled(format_, _C_FORMAT, written)


def _filled(format_: Text, pattern: re.Pattern[str], written: Callable[[re.Match[str]], Text]) -> Text:
    """Return a format with its conversions replaced, in order; `%%` stands for `%`."""
    result: list[Text] = []
    for part in format_.parts:
        if not isinstance(part, str):
            result.append(Text((part,)))
            continue
        at = 0
        for match in pattern.finditer(part):
            result.append(Text((part[at : match.start()],)))
            at = match.end()
            result.append(Text(("%",)) if match["kind"] == "%" else written(match))
        result.append(Text((part[at:],)))
    return joined_all(Text((), format_.row, format_.path), result)


def _formatted(kind: str, value: Value, match: re.Match[str]) -> Text:
    if isinstance(value, Number) and len(match["precision"] or "") <= _PRECISION_DIGITS:
        number = value.value
        try:
            if kind in "diu":
                return Text((str(int(number)),))
            if kind in "xXo":
                return Text((f"{int(number):{'#' if '#' in match['flags'] else ''}{kind}}",))
            if kind in "eEfFgG":
                precision = f".{match['precision']}" if (match["precision"] or "").isdecimal() else ""
                return Text((f"{float(number):{precision or '.6' if kind in 'fFeE' else precision}{kind}}",))
            if kind == "c":
                return Text((chr(int(number)),))
        except (ValueError, OverflowError):
            return Text((value,))
    return piece(value)


def percent(format_: Text, value: Value, items: Sequence[Value], names: Mapping[str, Value]) -> Text:
    """Return what Python's `format % value` gives."""
    rest = list(items) if items else [value]

    def written(match: re.Match[str]) -> Text:
        name = match["name"]
        if name is not None:
            return _python(match["kind"], names.get(name, RunTime(name)))
        return _python(match["kind"], rest.pop(0) if rest else RunTime("?"))

    return _filled(format_, _PYTHON_FORMAT, written)


def _python(kind: str, value: Value) -> Text:
    if isinstance(value, Number) and value.whole is not None and kind in "diu":
        return Text((str(value.whole),))
    return piece(value)


def braces(format_: Text, items: Sequence[Value], names: Mapping[str, Value]) -> Text:
    """Return what Python's `format.format(…)` gives."""
    result: list[Text] = []
    count = 0
    for part in format_.parts:
        if not isinstance(part, str):
            result.append(Text((part,)))
            continue
        at = 0
        for match in _BRACES.finditer(part):
            result.append(Text((part[at : match.start()],)))
            at = match.end()
            if match[0] in ("{{", "}}"):
                result.append(Text((match[0][0],)))
                continue
            name = match["name"]
            if not name:
                name, count = str(count), count + 1
            place = int(name) if name.isdecimal() and len(name) < 9 else len(items)
            known = items[place] if place < len(items) else names.get(name)
            result.append(piece(known if known is not None else RunTime(name)))
        result.append(Text((part[at:],)))
    return joined_all(Text((), format_.row, format_.path), result)
