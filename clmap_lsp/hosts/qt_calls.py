"""Qt's strings, in which programs with a window keep names of kernels, files and build options."""

from __future__ import annotations

import re

from clmap_lsp.hosts.interpreter import CallHandler, Interpreter
from clmap_lsp.hosts.strings import piece
from clmap_lsp.hosts.tree import Call, Expr, Member, Name
from clmap_lsp.hosts.values import RunTime, Sizes, Text, Value, default_of, joined_all

_WORDS = re.compile(r"\W+")
_MARK = re.compile(r"%L?(\d{1,2})")


def _same(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`name.toUtf8()` and its kin: the string itself."""
    return interpreter.strings(values[0])


def _filled(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`QString("-D TYPE=%1").arg(type)`: each argument takes the place of the lowest mark that is left."""
    text = interpreter.text(values[0])
    if text is None or len(values) < 2:
        return None
    for value in values[1:]:
        marks = [int(it[1]) for part in text.parts if isinstance(part, str) for it in _MARK.finditer(part)]
        if not marks:
            return None  # It is no string of Qt's, or what takes a width and more.
        text = _with(text, min(marks), interpreter.text(value) or piece(value))
    return text


def _with(text: Text, mark: int, put: Text) -> Text:
    result: list[Text] = []
    for part in text.parts:
        at = 0
        for match in _MARK.finditer(part) if isinstance(part, str) else ():
            if isinstance(part, str) and int(match[1]) == mark:
                result += [Text((part[at : match.start()],)), put]
                at = match.end()
        result.append(Text((part[at:] if isinstance(part, str) else part,)))
    return joined_all(Text((), text.row, text.path), result)


def _list(interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """`QStringList("a.cl")`, `QStringList({"a.cl", "b.cl"})`."""
    if len(values) == 1 and isinstance(values[0], Sizes):
        return values[0]
    texts = [interpreter.text(it) for it in values]
    return Sizes(tuple(it for it in texts if it is not None)) if all(it is not None for it in texts) else None


def _number(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`QString::number(n)`: its digits."""
    is_known = isinstance(call.function, Name) and call.function.scope == "QString" and len(values) == 1
    return interpreter.text(values[0]) or piece(values[0]) if is_known else None


def _setting(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`settings.value("device/group", 16)`: what a file may say otherwise is its default."""
    if (
        len(values) < 3
        or not isinstance(call.function, Member)
        or not _is_settings(interpreter, call.function.base)
    ):
        return None
    key, default = interpreter.text(values[1]), values[2]
    if key is None or key.plain is None:
        return None
    name = _WORDS.sub("_", key.plain.rpartition("/")[2]).strip("_")
    text = interpreter.text(default)
    if text is not None and text.plain is not None and text.plain.isdecimal():
        return RunTime(name, int(text.plain))
    return text if text is not None else RunTime(name, default_of(default))


def _is_settings(interpreter: Interpreter, base: Expr) -> bool:
    if isinstance(base, Call):
        return base.function == Name("QSettings")
    place = interpreter.place(base) if isinstance(base, (Name, Member)) else None
    return place is not None and interpreter.types.get(place, "").rstrip("*") == "QSettings"


def _converted(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`variant.toInt()`: the same, where it is a number that depends on the run."""
    return values[0] if isinstance(values[0], RunTime) and not call.arguments else None


QT_CALLS: dict[str, CallHandler] = {
    **{
        f".{name}()": _same
        for name in ("toAscii", "toLatin1", "toUtf8", "toLocal8Bit", "toStdString", "constData", "readAll")
    },
    "number": _number,
    ".value()": _setting,
    ".toString()": _same,
    **{f".{name}()": _converted for name in ("toInt", "toUInt", "toLongLong", "toULongLong", "toBool")},
    ".arg()": _filled,
    "QStringList": _list,
    "new QStringList": _list,
}
