"""What a use of a macro with parentheses says: its body as a tree, with the arguments in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.c_reader import read_c, read_c_expression
from clmap_lsp.hosts.macros import Macro, with_plain_arguments
from clmap_lsp.hosts.tree import (
    Block,
    Call,
    Expr,
    Initialise,
    Lambda,
    Member,
    Module,
    Name,
    Num,
    Opaque,
    Stmt,
    Str,
)
from clmap_lsp.hosts.values import Number, text_of

_REST = "__VA_ARGS__"
_BODIES = 1024


@dataclass(frozen=True, slots=True)
class Expansion:
    """An expression, or statements, of which the last may have a value."""

    expression: Expr | None
    statements: Block = ()


def expanded(macro: Macro, call: Call, macros: Mapping[str, Macro]) -> Expansion | None:
    """Return what a call of a macro stands for, whose body may use others; `None` where it is neither."""
    names = [it.removesuffix("...").strip() or _REST for it in macro.parameters or ()]
    arguments: dict[str, Expr] = dict(zip(names, call.arguments, strict=False))
    is_open = bool(macro.parameters) and (macro.parameters or ("",))[-1].endswith("...")
    rest = call.arguments[len(names) - 1 :] if is_open else ()
    body = _pasted(macro.body.replace("\\\n", " "), arguments).strip().rstrip("; \t\n")
    body = with_plain_arguments(body, macros)
    whole = _Arguments(arguments, names[-1] if is_open else "", rest, call.row)
    read = _body(body)
    if read.expression is not None:
        return Expansion(whole.put_in(read.expression))
    return Expansion(None, whole.put_in(read.statements)) if read.statements else None


@lru_cache(maxsize=_BODIES)
def _body(text: str) -> Expansion:
    """Return the body of a macro: the same for all its uses but those that paste words together."""
    expression = read_c_expression(text)
    if not isinstance(expression, Opaque):
        return Expansion(expression)
    functions = read_c(f"void body() {{ {text}; }}", "").functions
    return Expansion(None, functions[0].body if len(functions) == 1 else ())


def unfolded(module: Module, macro_at: Callable[[str, int], Macro | None]) -> Module:
    """Return a module in which macros in initialiser lists of constructors are what they stand for."""

    def said(statement: Stmt) -> Stmt:
        macro = macro_at(statement.name, statement.row) if isinstance(statement, Initialise) else None
        if not isinstance(statement, Initialise) or macro is None or macro.parameters is None:
            return statement
        use = Call(Name(statement.name), statement.arguments, row=statement.row)
        expansion = expanded(macro, use, {})
        match expansion.expression if expansion is not None else None:
            case Call(Name(name), arguments):
                return Initialise(name, arguments, statement.row)
        return statement

    functions = [replace(it, first=tuple(map(said, it.first))) if it.first else it for it in module.functions]
    return replace(module, functions=tuple(functions))


def _pasted(body: str, arguments: Mapping[str, Expr]) -> str:
    """Do what `#` and `##` ask for, where the argument is a name or a number."""
    if "#" not in body:
        return body
    shown = {name: _shown(it) for name, it in arguments.items()}

    def written(match: re.Match[str]) -> str:
        text = shown.get(match[1])
        return match[0] if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def glued(match: re.Match[str]) -> str:
        return "".join(shown.get(it) or it for it in map(str.strip, match[0].split("##")))

    body = re.sub(r",\s*##\s*(?=__VA_ARGS__)", ", ", body)
    body = re.sub(r"(?<!\w)\w++(?:\s*+##\s*+\w++)+", glued, body)
    return re.sub(r"(?<!#)#\s*(\w+)", written, body)


def _shown(argument: Expr) -> str | None:
    match argument:
        case Name(name):
            return name
        case Num(number):
            return text_of(Number(number))
        case Call(text=text) if text:
            return text
        case Str(parts) if all(isinstance(it, str) for it in parts):
            return '"' + "".join(map(str, parts)) + '"'
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Arguments:
    """By parameter, and those behind them that stand for `...`; the row is that of the use."""

    named: Mapping[str, Expr]
    rest_name: str
    rest: Sequence[Expr]
    row: int

    def put_in(self, node: Any) -> Any:
        """Return a copy of a tree with the arguments in place of the names."""
        match node:
            case Name(name, "") if name in self.named and name != self.rest_name:
                return self.named[name]
            case Name(name, "") if self.rest_name and name in (self.rest_name, _REST) and len(self.rest) == 1:
                return self.rest[0]  # As a value of its own: `err = __VA_ARGS__;`.
            case Member(base, name) if isinstance(self.named.get(name), Name):
                return Member(self.put_in(base), self.named[name].name)  # type: ignore[union-attr]
            case Call():
                given = [each for it in node.arguments for each in self._each(it)]
                function = self.put_in(node.function)
                return replace(node, function=function, arguments=tuple(given), row=self.row)
            case Lambda():
                return node
            case tuple():
                return tuple(self.put_in(it) for it in node)
            case _ if is_dataclass(node) and not isinstance(node, type):
                changed = {it.name: self.put_in(getattr(node, it.name)) for it in fields(node)}
                if "row" in changed:
                    changed["row"] = self.row
                return type(node)(**changed)
            case _:
                return node

    def _each(self, argument: Expr) -> Sequence[Expr]:
        """Return what stands for one argument of a call in the body: several for `__VA_ARGS__`."""
        if isinstance(argument, Name) and self.rest_name and argument.name in (self.rest_name, _REST):
            return self.rest
        return (self.put_in(argument),)
