"""Options of programs in Python: what `argparse`, `optparse` and the environment give by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clmap_lsp.hosts.tree import Call
from clmap_lsp.hosts.values import Number, Pointer, RunTime, Sizes, Text, Value

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import Interpreter

_ARGPARSE, _OPTPARSE = "argparse", "optparse"


def _parser(kind: str) -> Callable[[Interpreter, Call, list[Value]], Value | None]:
    def made(interpreter: Interpreter, call: Call, _values: list[Value]) -> Value | None:
        return Pointer(interpreter.fresh(kind, call))

    return made


def _is_parser(value: Value) -> bool:
    return isinstance(value, Pointer) and value.place.startswith((_ARGPARSE, _OPTPARSE))


def _part(_interpreter: Interpreter, _call: Call, values: list[Value]) -> Value | None:
    """A group of options, or a command's own: all are fields of what is parsed."""
    return values[0] if _is_parser(values[0]) else None


def _option(interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`p.add_argument("--size", "-n", type=int, default=1024, dest="n")`."""
    owner = values[0]
    name = _field(interpreter, call, values[1:])
    if not isinstance(owner, Pointer) or not _is_parser(owner) or name is None or interpreter.store is None:
        return None
    given = call.keywords.get("default")
    default = interpreter.value(given) if given is not None else None
    is_switch = _plain(interpreter, call, "action") in ("store_true", "count")
    number = default.value if isinstance(default, Number) else 0 if is_switch else None
    held: Value = RunTime(name, number)
    interpreter.store[f"{owner.place}.{name}"] = default if isinstance(default, Text) else held
    return RunTime(call.text)


def _field(interpreter: Interpreter, call: Call, names: list[Value]) -> str | None:
    """Return what an option is called among those that were parsed: its first long name, or its first."""
    given = _plain(interpreter, call, "dest")
    if given is not None:
        return given
    plain = [it.plain for it in names if isinstance(it, Text) and it.plain]
    chosen = next((it for it in plain if it.startswith("--")), next(iter(plain), None))
    return chosen.lstrip("-").replace("-", "_") if chosen is not None else None


def _plain(interpreter: Interpreter, call: Call, keyword: str) -> str | None:
    given = call.keywords.get(keyword)
    value = interpreter.value(given) if given is not None else None
    return value.plain if isinstance(value, Text) else None


def _parsed(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    owner = values[0]
    if not isinstance(owner, Pointer) or not _is_parser(owner):
        return None
    return Sizes((owner, RunTime(call.text))) if owner.place.startswith(_OPTPARSE) else owner


def _parsed_in_part(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    return Sizes((values[0], RunTime(call.text))) if _is_parser(values[0]) else None


def _environment(_interpreter: Interpreter, call: Call, values: list[Value]) -> Value | None:
    """`os.environ.get("N", "512")`, `os.getenv("N", 512)`."""
    is_environment = any(it in call.text for it in ("environ", "getenv"))
    default = values[2] if is_environment and len(values) > 2 else None
    name = values[1].plain if len(values) > 1 and isinstance(values[1], Text) else None
    if default is None or name is None:
        return None
    number: int | float | None = None
    if isinstance(default, Number):
        number = default.value
    elif isinstance(default, Text) and (default.plain or "").strip().isdecimal():
        number = int(default.plain or "")
    return RunTime(name, number) if number is not None else None


OPTIONS: dict[str, Callable[[Interpreter, Call, list[Value]], Value | None]] = {
    **dict.fromkeys(("ArgumentParser", ".ArgumentParser()"), _parser(_ARGPARSE)),
    **dict.fromkeys(("OptionParser", ".OptionParser()"), _parser(_OPTPARSE)),
    **dict.fromkeys((".add_argument()", ".add_option()"), _option),
    **dict.fromkeys((".add_argument_group()", ".add_mutually_exclusive_group()"), _part),
    **dict.fromkeys((".add_subparsers()", ".add_parser()", ".add_option_group()"), _part),
    ".parse_args()": _parsed,
    ".parse_known_args()": _parsed_in_part,
    ".get()": _environment,
    ".getenv()": _environment,
}
