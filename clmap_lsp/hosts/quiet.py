"""Statements that only tell a person something, or end the program: what runs where something failed.

Host code checks each call, often by a macro with a `switch` over all that may go wrong. None of it changes
what a launch depends on, so that no way of it needs to be run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clmap_lsp.hosts.macros import Macro
from clmap_lsp.hosts.tree import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Jump,
    Lambda,
    Member,
    Name,
    New,
    Num,
    Opaque,
    Raise,
    Scope,
    SizeOf,
    Stmt,
    Str,
    Unary,
)
from clmap_lsp.hosts.walking import nodes, writes

MacroOf = Callable[[str], Macro | None]
"""Gives the macro that a name is in the file that is run, if it is one."""
FunctionsOf = Callable[[str], Sequence[Function]]
"""Gives the functions of a name that the project defines itself, whatever class they are of."""

_ENDING = frozenset(("exit", "_exit", "abort", "quick_exit", "terminate"))
_TELLING = _ENDING | frozenset(
    (
        *("printf", "fprintf", "puts", "fputs", "putchar", "perror", "fflush", "print", "println", "flush"),
        *("error", "warning", "warn", "info", "debug", "critical", "fatal", "log", "trace"),
    )
)
_STREAMS = frozenset(("cout", "cerr", "clog", "endl", "wcout", "wcerr"))
_DESCRIBING = re.compile(r"err|str|name|what|message|status|describe", re.IGNORECASE)
"""In names of functions that give a person words for a number."""
_CHANGES = re.compile(
    r"(?<![=!<>+*/&|^%-])=(?!=)|[-+*/%&|^]=|\+\+|--|&\s*[A-Za-z_]|<<=|>>=|\breturn\b|\bgoto\b"
)
_CALLED = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+\(")
_WORDS = frozenset(("if", "while", "do", "switch", "sizeof", "for"))
_MOST_MACROS = 4


def may_go_on(block: Block) -> bool:
    """Tell whether the program may go on behind quiet statements."""
    return not any(
        isinstance(it, Raise) or (isinstance(it, Evaluate) and _name(it.value) in _ENDING) for it in block
    )


def ends_itself(statement: Stmt) -> bool:
    """Tell whether a statement says by itself that the program ends there, or may: `exit(1)`, `assert(0)`."""
    return isinstance(statement, Evaluate) and _name(statement.value) in (*_ENDING, "assert")


def _no_functions(_name: str) -> Sequence[Function]:
    return ()


class Quiet:
    """What is quiet in one file. Each macro and function is looked into once."""

    def __init__(self, macro_of: MacroOf, functions_of: FunctionsOf = _no_functions) -> None:
        self._macro_of, self._functions_of = macro_of, functions_of
        self._macros: dict[str, bool] = {}
        self._functions: dict[str, bool] = {}
        self.chosen: dict[int, tuple[object, bool]] = {}
        """By the identity of a statement that chooses: itself, and whether no way changes anything."""

    def is_quiet(self, block: Block, *, in_switch: bool = False) -> bool:
        """Tell whether statements change nothing; in a case of a `switch` they may leave it."""
        return all(self._is_quiet(it, in_switch) for it in block)

    def _is_quiet(self, statement: Stmt, in_switch: bool) -> bool:
        match statement:
            case Evaluate(value):
                return self._tells(value)
            case Raise():
                return True
            case Jump(leaves_loop):
                return in_switch and leaves_loop
            case Scope(body):
                return self.is_quiet(body, in_switch=in_switch)
            case If(condition, then, otherwise):
                blocks = self.is_quiet(then) and self.is_quiet(otherwise)
                return blocks and may_go_on(otherwise) and self._only_reads(condition)
            case _:
                return False

    def _tells(self, value: Expr) -> bool:
        """Tell whether an expression statement prints, or ends the program."""
        match value:
            case Call(function=Name(name), arguments=arguments):
                macro = self._macro_of(name)
                known = self._is_telling(name) if macro is None else self._says_nothing(macro, 0)
                return known and all(map(self._only_reads, arguments))
            case Call(function=Member(_, name), arguments=arguments):
                return self._is_telling(name) and all(map(self._only_reads, arguments))
            case Binary("<<", left, right):
                return self._only_reads(right) and (_is_stream(left) or self._tells(left))
            case _:
                return False

    def _is_telling(self, name: str) -> bool:
        return name in _TELLING and self._are_harmless(name, 0)

    def _is_describing(self, name: str) -> bool:
        return _DESCRIBING.search(name) is not None and self._are_harmless(name, 0)

    def _says_nothing(self, macro: Macro, depth: int) -> bool:
        """Tell whether the text of a macro changes nothing, whatever it is given."""
        if macro.name not in self._macros:
            self._macros[macro.name] = False  # One that names itself says nothing of use.
            self._macros[macro.name] = self._is_harmless_text(macro.body, depth)
        return self._macros[macro.name]

    def _is_harmless_text(self, body: str, depth: int) -> bool:
        if _CHANGES.search(body) or depth > _MOST_MACROS:
            return False
        for name in sorted(set(_CALLED.findall(body)) - _WORDS):
            inner = self._macro_of(name)
            if inner is not None:
                if not self._says_nothing(inner, depth + 1):
                    return False
            elif not (self._is_telling(name) or self._is_describing(name)):
                return False
        return True

    def _are_harmless(self, name: str, depth: int) -> bool:
        """Tell whether the project's own functions of a name change nothing, nor launch anything.

        A name alone says little: `trace` may trace rays, `relative_error` launch what computes it.
        """
        if name not in self._functions:
            self._functions[name] = False  # What calls itself is run.
            functions = self._functions_of(name)
            self._functions[name] = depth <= _MOST_MACROS and all(
                self._changes_nothing(it, depth) for it in functions
            )
        return self._functions[name]

    def _changes_nothing(self, function: Function, depth: int) -> bool:
        written = writes(function)
        if written.names or written.fields:
            return False
        references = {it.name for it in function.parameters if it.is_reference}
        for node in nodes(function.first + function.body):
            match node:
                case AddressOf() | New() | Lambda() | Opaque():
                    return False
                case Assign(target=target):
                    if not isinstance(target, Name) or target.name in references:
                        return False
                case Declare(type=type_name):
                    if not self._are_harmless(type_name, depth + 1):
                        return False
                case Call(function=called) if not self._may_call(_name(called), depth):
                    return False
        return True

    def _may_call(self, name: str, depth: int) -> bool:
        macro = self._macro_of(name)
        if macro is not None:
            return self._says_nothing(macro, depth + 1)
        is_known = name in _TELLING or _DESCRIBING.search(name) is not None
        return is_known and self._are_harmless(name, depth + 1)

    def _only_reads(self, value: Expr) -> bool:
        match value:
            case Num() | Str() | Name() | SizeOf():
                return True
            case Member(base, _) | Cast(_, base) | Unary(_, base):
                return self._only_reads(base)
            case Index(base, index):
                return self._only_reads(base) and self._only_reads(index)
            case Binary(_, left, right):
                return self._only_reads(left) and self._only_reads(right)
            case Conditional(condition, yes, no):
                return all(map(self._only_reads, (condition, yes, no)))
            case Call(function, arguments):
                return self._is_describing(_name(value)) and all(
                    map(self._only_reads, (*arguments, function))
                )
            case _:
                return False


def _is_stream(value: Expr) -> bool:
    return isinstance(value, Name) and value.name in _STREAMS


def _name(value: Expr) -> str:
    called = value.function if isinstance(value, Call) else value
    return called.name if isinstance(called, (Name, Member)) else ""
