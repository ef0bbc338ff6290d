"""Statements that only tell a person something, or end the program: what runs where something failed.

Host code checks each call, often by a macro with a `switch` over all that may go wrong. None of it changes
what a launch depends on, so that no way of it needs to be run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from clmap_lsp.hosts.macros import Macro
from clmap_lsp.hosts.tree import (
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Evaluate,
    Expr,
    If,
    Index,
    Jump,
    Member,
    Name,
    Num,
    Raise,
    Scope,
    SizeOf,
    Stmt,
    Str,
    Unary,
)

MacroOf = Callable[[str], Macro | None]
"""Gives the macro that a name is in the file that is run, if it is one."""

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
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_WORDS = frozenset(("if", "while", "do", "switch", "sizeof", "for"))
_MOST_MACROS = 4


def is_quiet(block: Block, macro_of: MacroOf, *, in_switch: bool = False) -> bool:
    """Tell whether statements change nothing; in a case of a `switch` they may leave it."""
    return all(_is_quiet(it, macro_of, in_switch) for it in block)


def may_go_on(block: Block) -> bool:
    """Tell whether the program may go on behind quiet statements."""
    return not any(
        isinstance(it, Raise) or (isinstance(it, Evaluate) and _name(it.value) in _ENDING) for it in block
    )


def ends_itself(statement: Stmt) -> bool:
    """Tell whether a statement says by itself that the program ends there, or may: `exit(1)`, `assert(0)`."""
    return isinstance(statement, Evaluate) and _name(statement.value) in (*_ENDING, "assert")


def _is_quiet(statement: Stmt, macro_of: MacroOf, in_switch: bool) -> bool:
    match statement:
        case Evaluate(value):
            return _tells(value, macro_of)
        case Raise():
            return True
        case Jump(leaves_loop):
            return in_switch and leaves_loop
        case Scope(body):
            return is_quiet(body, macro_of, in_switch=in_switch)
        case If(condition, then, otherwise):
            blocks = is_quiet(then, macro_of) and is_quiet(otherwise, macro_of)
            return blocks and may_go_on(otherwise) and _only_reads(condition)
        case _:
            return False


def _tells(value: Expr, macro_of: MacroOf) -> bool:
    """Tell whether an expression statement prints, or ends the program."""
    match value:
        case Call(function=Name(name), arguments=arguments, row=row):
            macro = macro_of(name)
            known = name in _TELLING or (macro is not None and _says_nothing(macro, macro_of, 0))
            return known and all(map(_only_reads, arguments)) and row >= 0
        case Call(function=Member(_, name), arguments=arguments):
            return name in _TELLING and all(map(_only_reads, arguments))
        case Binary("<<", left, right):
            return _only_reads(right) and (_is_stream(left) or _tells(left, macro_of))
        case _:
            return False


def _is_stream(value: Expr) -> bool:
    return isinstance(value, Name) and value.name in _STREAMS


def _says_nothing(macro: Macro, macro_of: MacroOf, depth: int) -> bool:
    """Tell whether the text of a macro changes nothing, whatever it is given."""
    if _CHANGES.search(macro.body) or depth > _MOST_MACROS:
        return False
    for name in set(_CALLED.findall(macro.body)) - _WORDS - _TELLING:
        inner = macro_of(name)
        if inner is None:
            if not _DESCRIBING.search(name):
                return False
        elif not _says_nothing(inner, macro_of, depth + 1):
            return False
    return True


def _only_reads(value: Expr) -> bool:
    match value:
        case Num() | Str() | Name() | SizeOf():
            return True
        case Member(base, _) | Cast(_, base) | Unary(_, base):
            return _only_reads(base)
        case Index(base, index):
            return _only_reads(base) and _only_reads(index)
        case Binary(_, left, right):
            return _only_reads(left) and _only_reads(right)
        case Conditional(condition, yes, no):
            return all(map(_only_reads, (condition, yes, no)))
        case Call(function, arguments):
            return _DESCRIBING.search(_name(value)) is not None and all(
                map(_only_reads, (*arguments, function))
            )
        case _:
            return False


def _name(value: Expr) -> str:
    called = value.function if isinstance(value, Call) else value
    return called.name if isinstance(called, (Name, Member)) else ""
