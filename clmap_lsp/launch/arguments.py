"""Argument texts: `256`, `1.5f`, `(1,2,3,4)`, `random(N*N)`, `formula(n,EXPR)`, `file:PATH`, `local(n)`,
`image(W,H,random)`, `{strides=[1,1024]}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from clmap_lsp.launch.expression import Number, evaluate, evaluate_over_index, names_in
from clmap_lsp.launch.model import (
    Argument,
    BufferArgument,
    Fill,
    LocalArgument,
    MembersArgument,
    ScalarArgument,
)
from clmap_lsp.launch.problem import LaunchError

FORMS = (
    "zeros(n), iota(n), random(n[,seed]), permutation(n[,seed]), formula(n,EXPR), file:PATH, local(n), "
    "image(W[,H[,D]][,FILL])"
)

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*\Z", re.DOTALL)
_SUFFIXED = re.compile(
    r"(?P<hex>0[xX][0-9a-fA-F]+)[uUlL]*\Z"
    r"|(?P<int>\d+)[uUlL]*\Z"
    r"|(?P<float>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)[fFhH]?\Z"
)
_HEX_FLOAT = re.compile(r"0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+[fF]?\Z")
_WORDS = {"true": 1, "false": 0, "inf": float("inf"), "nan": float("nan"), "infinity": float("inf")}
_MAX_COUNT = 1 << 40
_MAX_BITS = 128
_MAX_DIGITS = 400
"""Longer literals are no numbers of any type of OpenCL C; Python refuses to read those of 4,300 digits."""

_Maker = Callable[[Sequence[str], Mapping[str, Number]], Argument]


def parse_argument(text: str, scalars: Mapping[str, Number] | None = None) -> Argument:
    """Return the argument that a text stands for; sizes may use `scalars`.

    Raises: LaunchError with cause and cure.
    """
    scalars = scalars or {}
    stripped = text.strip()
    if not stripped:
        raise LaunchError("the value is missing", f"write a number or one of {FORMS}")
    if stripped.startswith("file:"):
        return _file(stripped[len("file:") :].strip())
    if stripped == "null":
        return BufferArgument(Fill.NULL, 0)
    if stripped.startswith("{"):
        return _members(stripped, scalars)
    call = _CALL.match(stripped)
    if call and call[1] in _MAKERS:
        return _MAKERS[call[1]](split_top_level(call[2]), scalars)
    if call and call[1] not in ("min", "max", "abs", "int", "float", "sqrt", "floor", "ceil"):
        raise LaunchError(f"`{call[1]}` makes no argument", f"use a number or one of {FORMS}")
    return ScalarArgument(parse_scalars(stripped, scalars))


def file_named(text: str) -> str | None:
    """Return the path that the text of an argument names with `file:`; None if it names none."""
    stripped = text.strip()
    if stripped.startswith("file:"):
        return stripped[len("file:") :].strip()
    call = _CALL.match(stripped)
    if call is None or call[1] != "image":
        return None
    parts = split_top_level(call[2])
    first = next((k for k, it in enumerate(parts) if it.startswith("file:")), len(parts))
    return ",".join(parts[first:])[len("file:") :].strip() or None


def is_scalar_text(text: str) -> bool:
    """Tell whether a text stands for a scalar or vector, so that sizes may depend on it."""
    stripped = text.strip()
    call = _CALL.match(stripped)
    is_other = stripped.startswith(("file:", "{")) or stripped == "null"
    return not (is_other or (call and call[1] in _MAKERS))


def _members(text: str, scalars: Mapping[str, Number]) -> MembersArgument:
    """Parse `{strides=[1,N], pad.left=2}`, the members of a struct. Raises: LaunchError."""
    cure = "write the members as {strides=[1,1024],offset=4}"
    if not text.endswith("}"):
        raise LaunchError("the closing brace is missing", cure)
    return MembersArgument(tuple(_table(text[1:-1], "", scalars, cure)))


def _table(text: str, path: str, scalars: Mapping[str, Number], cure: str) -> Iterator[tuple[str, Number]]:
    for part in split_top_level(text):
        name, equals, value = part.partition("=")
        if not equals or not re.fullmatch(r"\s*\w+(?:\.\w+|\[\d+\])*\s*", name):
            raise LaunchError(f"`{part}` gives no member a value", cure)
        yield from _value(value.strip(), f"{path}.{name.strip()}", scalars, cure)


def _value(text: str, path: str, scalars: Mapping[str, Number], cure: str) -> Iterator[tuple[str, Number]]:
    if text.startswith("{") and text.endswith("}"):
        yield from _table(text[1:-1], path, scalars, cure)
    elif text.startswith("[") and text.endswith("]"):
        for at, part in enumerate(split_top_level(text[1:-1])):
            yield from _value(part, f"{path}[{at}]", scalars, cure)
    else:
        for at, value in enumerate(lanes := parse_scalars(text, scalars)):
            yield (f"{path}.s{at:x}" if len(lanes) > 1 else path), value


def parse_all(texts: Mapping[str, str]) -> dict[str, Argument]:
    """Parse argument texts by parameter name; scalars first, since sizes may use them in any order.

    Raises: LaunchError; its cause starts with the parameter's name.
    """
    values: dict[str, Number] = {}
    parsed: dict[str, Argument] = {}
    for name in _in_order({name: _needs(text) for name, text in texts.items() if is_scalar_text(text)}):
        parsed[name] = argument = _named(name, texts[name], values)
        if isinstance(argument, ScalarArgument) and len(argument.values) == 1:
            values[name] = argument.values[0]
    for name, text in texts.items():
        if name not in parsed:
            parsed[name] = _named(name, text, values)
    return {name: parsed[name] for name in texts}


def _in_order(needs: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield names after those that they need, and at last those that need each other."""
    before = {name: [it for it in needed if it != name and it in needs] for name, needed in needs.items()}
    missing = {name: len(needed) for name, needed in before.items()}
    users: dict[str, list[str]] = {}
    for name, needed in before.items():
        for it in needed:
            users.setdefault(it, []).append(name)
    ready = [name for name, count in missing.items() if not count]
    for name in ready:
        yield name
        for user in users.get(name, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    yield from (name for name, count in missing.items() if count)


def _named(name: str, text: str, values: Mapping[str, Number]) -> Argument:
    try:
        return parse_argument(text, values)
    except LaunchError as error:
        raise LaunchError(f"{name}={text}: {error.cause}", error.cure) from error


def _needs(text: str) -> frozenset[str]:
    try:
        return frozenset().union(*(names_in(it) for it in split_top_level(_unwrap(text)) if not _literal(it)))
    except LaunchError:
        return frozenset()


def parse_scalars(text: str, scalars: Mapping[str, Number]) -> tuple[Number, ...]:
    """Return the value of a scalar text, or those of a vector's lanes: `(1,2)`, `1,2`, `(float2)(1,2)`."""
    return tuple(_scalar(it, scalars) for it in split_top_level(_unwrap(text)))


def _unwrap(text: str) -> str:
    """Take off a vector literal's type and parentheses, if they enclose several lanes."""
    stripped = re.sub(r"\A\s*\(\s*[a-z]+(?:2|3|4|8|16)\s*\)\s*", "", text.strip())
    if stripped.startswith("(") and stripped.endswith(")"):
        inner = stripped[1:-1]
        if len(split_top_level(inner)) > 1 and _balanced(inner):
            return inner
    return stripped


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if depth < 0:
            return False
    return depth == 0


def _literal(text: str) -> Number | None:
    """Return the value of a C literal with its sign and suffixes; `None` for anything else."""
    stripped = text.strip()
    if len(stripped) > _MAX_DIGITS:
        return None
    sign = -1 if stripped.startswith("-") else 1
    stripped = stripped.lstrip("+-").strip() if stripped[:1] in "+-" else stripped
    if stripped.lower() in _WORDS:
        return sign * _WORDS[stripped.lower()]
    if _HEX_FLOAT.match(stripped):
        try:
            return sign * float.fromhex(stripped.rstrip("fF"))
        except (OverflowError, ValueError):
            return None
    match = _SUFFIXED.match(stripped)
    if not match:
        return None
    if match["hex"]:
        return sign * int(match["hex"], 16)
    return sign * (int(match["int"]) if match["int"] else float(match["float"]))


def _scalar(text: str, scalars: Mapping[str, Number]) -> Number:
    value = _literal(text)
    value = evaluate(text, scalars) if value is None else value
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise LaunchError("the number is too large for any type", f"give one of at most {_MAX_BITS} bits")
    return value


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand in no parentheses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


# ------------------------------------------------------------------------------------------------- buffers


def _count(text: str, scalars: Mapping[str, Number], form: str) -> int:
    if not text:
        raise LaunchError(f"{form} needs a number of elements", f"write {form.replace('(', '(1024', 1)}")
    value = _scalar(text, scalars)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or value < 0:
        raise LaunchError(
            f"{_with_value(text, value)} is not a number of elements", "it must be a whole number, 0 or more"
        )
    if value > _MAX_COUNT:
        raise LaunchError(f"{_with_value(text, value)} elements are too many", f"at most {_MAX_COUNT}")
    return value


def _with_value(text: str, value: Number) -> str:
    """Return an expression with its value, where that says more: not 5 = 5, nor a hundred digits of 1e99."""
    shown = str(value)
    return text if shown == text or len(shown) > 30 else f"{text} = {shown}"


def _plain(fill: Fill) -> _Maker:
    def make(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
        if len(parts) != 1:
            raise LaunchError(
                f"{fill.value} takes one value, the number of elements", f"write {fill.value}(n)"
            )
        return BufferArgument(fill, _count(parts[0], scalars, f"{fill.value}()"))

    return make


def _seeded(fill: Fill) -> _Maker:
    def make(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
        if len(parts) not in (1, 2):
            raise LaunchError(
                f"{fill.value} takes a number of elements and a seed", f"write {fill.value}(n,seed)"
            )
        seed = _count(parts[1], scalars, f"{fill.value}()") if len(parts) == 2 else 0
        return BufferArgument(fill, _count(parts[0], scalars, f"{fill.value}()"), seed)

    return make


def _formula(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
    if len(parts) < 2:
        raise LaunchError("formula takes a number of elements and an expression", "write formula(n,i*2)")
    count = _count(parts[0], scalars, "formula()")
    text = _bind(",".join(parts[1:]), scalars)
    evaluate_over_index(text, min(count, 1), {})  # Says at once what is wrong with the expression.
    return BufferArgument(Fill.FORMULA, count, text=text)


def _bind(text: str, scalars: Mapping[str, Number]) -> str:
    """Put the values of scalar arguments in, so that the argument stands for itself."""
    used = names_in(text) & set(scalars) - {"i"}
    for name in used:
        value = scalars[name]
        text = re.sub(rf"\b{name}\b", f"({value})" if value < 0 else f"{value}", text)
    return text


def _values(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
    values = [_scalar(it, scalars) for it in parts if it]
    return BufferArgument(Fill.VALUES, len(values), text=",".join(map(repr, values)))


def _local(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
    if len(parts) != 1:
        raise LaunchError("local takes one value, the number of elements", "write local(n)")
    return LocalArgument(_count(parts[0], scalars, "local()"))


def _file(path: str) -> BufferArgument:
    if not path:
        raise LaunchError("file: names no file", "write file:PATH")
    return BufferArgument(Fill.FILE, 0, text=path)


_MAX_SIDE = 1 << 20
_SEEDED = ("random", "permutation")
_IMAGE_FORM = "write image(64,48), image(64,48,random,7), image(64,48,formula,i%9) or image(64,48,file:PATH)"


def _image(parts: Sequence[str], scalars: Mapping[str, Number]) -> Argument:
    """Make an image: one to three sides, then how its channels are filled (four to a texel)."""
    n_sides = next((k for k, it in enumerate(parts) if _is_fill(it)), len(parts))
    if not 1 <= n_sides <= 3:
        raise LaunchError("image takes one to three sides", _IMAGE_FORM)
    sides = tuple(_count(it, scalars, "image()") for it in parts[:n_sides])
    if not all(0 < it <= _MAX_SIDE for it in sides):
        raise LaunchError(f"the sides {sides} are no image", f"each must be from 1 to {_MAX_SIDE}")
    texels = 1
    for side in sides:
        texels *= side
    fill, *rest = parts[n_sides:] or ["zeros"]
    if fill.startswith("file:"):
        return replace(_file(",".join([fill[len("file:") :].strip(), *rest])), count=texels, sides=sides)
    if fill == "formula" and rest:
        made = _formula([str(texels), *rest], scalars)
    elif not rest or (fill in _SEEDED and len(rest) == 1):
        made = _MAKERS[fill]([str(texels), *rest], scalars)
    else:
        raise LaunchError(f"`{','.join([fill, *rest])}` fills no image", _IMAGE_FORM)
    assert isinstance(made, BufferArgument)
    return replace(made, sides=sides)


def _is_fill(text: str) -> bool:
    return text.startswith("file:") or text in ("zeros", "iota", "noinit", "formula", *_SEEDED)


_MAKERS: dict[str, _Maker] = {
    "zeros": _plain(Fill.ZEROS),
    "iota": _plain(Fill.IOTA),
    "noinit": _plain(Fill.NOINIT),
    "random": _seeded(Fill.RANDOM),
    "permutation": _seeded(Fill.PERMUTATION),
    "formula": _formula,
    "values": _values,
    "local": _local,
    "image": _image,
}
