"""Operands: names, numbers, strings, what stands in parentheses; and names that nothing declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from clmap_lsp.index import builtins
from clmap_lsp.index.checks import Checks, replaced
from clmap_lsp.index.compatible import Value
from clmap_lsp.index.constants import constants
from clmap_lsp.index.cursor import (
    KEYWORDS,
    OPENING,
    SIZE_WORDS,
    SPECIFIER_WORDS,
    SyntaxFaultError,
)
from clmap_lsp.index.model import (
    CALLABLE,
    Edit,
    Fix,
    Kind,
    Role,
    Symbol,
)
from clmap_lsp.index.names import ONLY_CPP, nearest
from clmap_lsp.index.operators import AFTER_OPERAND, NUMBER, literal, number_fault
from clmap_lsp.index.types import (
    INT,
    SIZE_T,
    STRING,
    TYPE_NAMES,
    UNKNOWN,
    Pointer,
    Qualified,
    Record,
    base_of,
    decayed,
    is_const,
    spelled,
    unqualified,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name

MOST_FAR = 256
"""Names that nothing declares of which it is remembered from which they are far, and how many these are."""


class OperandParser(Checks, ABC):
    """Reads operands; who reads operators, declarations and statements says how what they hold is read."""

    @abstractmethod
    def type_name(self) -> Qualified:
        """Read a type's name, as in a cast. Raises: SyntaxFaultError."""

    @abstractmethod
    def initializer_list(self, type_: Qualified) -> int:
        """Read `{ ... }` for an object of a type; return its elements. Raises: SyntaxFaultError."""

    @abstractmethod
    def compound(self) -> None:
        """Read a block of statements. Raises: SyntaxFaultError."""

    @abstractmethod
    def block_literal(self) -> Value:
        """Read a block of OpenCL 2.0, `^(int x) { ... }`. Raises: SyntaxFaultError."""

    @abstractmethod
    def expression(self) -> Value:
        """Read an expression, commas included. Raises: SyntaxFaultError."""

    @abstractmethod
    def assignment(self) -> Value:
        """Read one expression of a list. Raises: SyntaxFaultError."""

    def primary(self) -> Value:
        """Read an operand. Raises: SyntaxFaultError."""
        at = self.at
        text = self.texts[at]
        if is_name(text) and text not in KEYWORDS:
            self.at += 1
            if text == "_Generic" and self.text == "(":
                return self._generic(at)
            return self._named(text, at)
        if NUMBER.match(text):
            self.at += 1
            type_, number = literal(text)
            if (wrong := number_fault(text)) is not None:
                self.issue("wrong-number", wrong, token=at)
            return Value(type_, at, constant=number)
        if text == "(":
            return self._parenthesised(at)
        if text in ('"', "'"):
            raise self.fail(f"missing terminating {text} character")
        if text[:1] == '"':
            while self.text[:1] == '"':
                self.at += 1
            return Value(STRING, at)
        if text[:1] == "'" and len(text) > 2:
            self.at += 1
            return Value(INT, at, constant=ord(text[1]) if len(text) == 3 else None)
        if text == "^":
            return self.block_literal()
        if text in SIZE_WORDS and self.texts[at + 1] == "(":
            fix = Fix(f"Write ({text})(...)", (Edit(at, at + 1, f"({text})"),))
            raise self.fail("expected expression", fix)
        raise self.fail("expected expression")

    def _generic(self, at: int) -> Value:
        """Read `_Generic(x, int: a, default: b)`; return the one that is chosen (ISO C11, 6.5.1.1)."""
        opened = self.at
        self.at += 1
        given = spelled(decayed(self.assignment().type), is_canonical=True)
        chosen: Value | None = None
        otherwise: Value | None = None
        while self.accept(","):
            wanted = None if self.accept("default") else self.type_name()
            self.expect(":")
            value = self.assignment()
            if wanted is None:
                otherwise = value
            elif spelled(unqualified(wanted), is_canonical=True) == given:
                chosen = value
        self.expect(")", opened)
        found = chosen or otherwise
        if found is None:
            return Value(UNKNOWN, at)
        return Value(found.type, at, constant=found.constant)

    def _parenthesised(self, at: int) -> Value:
        self.at += 1
        if self.text == "{":
            self.compound()
            self.expect(")", at)
            return Value(UNKNOWN, at)
        value = self.assignment()
        if self.text == "," and value.constant is not None:
            said = "left operand of comma operator has no effect; a vector is written (float3)(1, 2, 3)"
            self.issue("suspicious", said, Severity.WARNING, token=value.start)
        while self.accept(","):
            value = self.behind_comma()
        self.expect(")", at)
        value.start = at
        return value

    def behind_comma(self) -> Value:
        """Read what the comma operator yields: a value, which nothing can be assigned to (ISO C 6.5.17)."""
        value = self.assignment()
        value.is_lvalue = value.is_lvalue and self.is_cpp
        return value

    def starts_type(self, at: int) -> bool:
        """Tell whether a type's name starts at a token."""
        text = self.texts[at]
        if text in SPECIFIER_WORDS:
            return True
        if self.named_type(at) is not None:
            return True
        # `(REAL)x`, `(REAL*)x`: a name that nothing defines can only be a type here.
        return (
            self.texts[at - 1] == "("
            and is_name(text)
            and text not in KEYWORDS
            and self.texts[at + 1] in (")", "*")
            and self._is_cast_of_unknown(at)
        )

    def _is_cast_of_unknown(self, at: int) -> bool:
        text = self.texts[at]
        if self.lookup(text) is not None or builtins.find(text) is not None or text in constants():
            return False
        stars = at + 1
        while self.texts[stars] == "*":
            stars += 1
        behind = self.texts[stars + 1]
        if self.texts[stars] != ")" or (self.texts[at - 2] in OPENING.values() or self.is_name(at - 2)):
            return False
        if stars > at + 1:
            return True
        return bool(behind) and (behind == "(" or behind[0].isalnum() or behind[0] in "_\"'.")

    def _named(self, name: str, at: int) -> Value:
        symbol = self.lookup(name)
        if symbol is None:
            return self._not_declared_here(name, at)
        if symbol.kind is Kind.TYPEDEF:
            self.use(at, symbol, Role.NAMES)
            self.at = at
            self.issue("syntax-error", f"unexpected type name '{name}': expected expression", token=at)
            raise SyntaxFaultError
        calls = symbol.kind in CALLABLE
        self.use(at, symbol, Role.CALLS if calls and self.text == "(" else Role.READS)
        if calls:
            return Value(symbol.type or UNKNOWN, at, callee=symbol, use=len(self.piece.uses) - 1)
        self.reads.append(symbol)
        constant = symbol.value
        if symbol.kind is not Kind.ENUMERATOR and not (symbol.type is not None and is_const(symbol.type)):
            constant = None
        return Value(
            symbol.type or UNKNOWN,
            at,
            is_lvalue=symbol.kind is not Kind.ENUMERATOR,
            constant=constant,
            root=symbol,
            use=len(self.piece.uses) - 1,
        )

    def _not_declared_here(self, name: str, at: int) -> Value:
        if name in ("__builtin_astype", "__builtin_convertvector", "__builtin_offsetof", "offsetof"):
            return self._typed_builtin(name, at)
        named = TYPE_NAMES.get(name)
        if named is not None and self.text == "(":
            return self._typed_call(named, name, at)
        builtin = builtins.find(name)
        if builtin is not None and (builtin.since <= 1.2 or builtin.extension or self.version >= 200):
            if self.text == "(":
                return Value(UNKNOWN, at, callee=name)
            self.use_builtin(at)
            return Value(UNKNOWN, at, callee=name)
        constant = constants().get(name)
        if constant is not None:
            self.use_builtin(at, type_=constant.type)
            return Value(constant.type, at, constant=constant.value)
        if name == "NULL":
            self.use_builtin(at)
            return Value(Qualified(Pointer(TYPE_NAMES["void"])), at, constant=0)
        if name.startswith("__") or name in ("ATOMIC_VAR_INIT", "ATOMIC_FLAG_INIT"):
            if name in ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"):
                return Value(STRING, at)
            return Value(UNKNOWN, at)
        self._undeclared(name, at, builtin)
        return Value(UNKNOWN, at)

    def _typed_call(self, type_: Qualified, name: str, at: int) -> Value:
        """Read `float4(1, 2, 3, 4)`, a vector as other languages write it."""
        opened = self.at
        self.at += 1
        while self.text not in (")", ""):
            self.assignment()
            if not self.accept(","):
                break
        self.expect(")", opened)
        if not self.is_cpp:
            fix = Fix(f"Write ({name})(...)", (Edit(at, at + 1, f"({name})"),))
            said = f"unexpected type name '{name}': expected expression"
            self.issue("syntax-error", said, token=at, fix=fix)
        return Value(type_, at)

    def _typed_builtin(self, name: str, at: int) -> Value:
        """Read `__builtin_astype(x, T)` and its like, which take a type's name."""
        opened = self.at
        self.expect("(")
        if name.endswith("offsetof"):
            type_ = self.type_name()
            base = base_of(type_)
            if self.accept(",") and isinstance(base, Record) and base.members is not None:
                member = find_member(base.members, self.text)
                if member is not None:
                    self.use(self.at, member, Role.NAMES)
            self.at = max(self.at, self.closing(opened))
            result = SIZE_T
        else:
            self.assignment()
            if not self.accept(","):
                raise self.fail("expected ','")
            result = self.type_name()
        self.expect(")", opened)
        return Value(result, at)

    def _undeclared(self, name: str, at: int, builtin: builtins.Builtin | None) -> None:
        """Report a name that nothing declares.

        It may come from `-D`, so only what is one letter from a name in sight, or of a newer version, is
        certainly wrong.
        """
        is_call = self.text == "("
        if builtin is not None:
            said = f"'{name}' is of OpenCL C {builtin.since:.1f}; this is built as {self.version / 100:.1f}"
            self.issue("version", said, token=at, name=name)
            return
        local = self._near_local(name)
        close = local or self.near(name)
        if close is None and is_call:
            close = builtins.near(name)
        what = f"use of undeclared identifier '{name}'"
        if is_call:
            what = f"implicit declaration of function '{name}' is invalid in OpenCL"
        if name in ONLY_CPP or (name == "std" and self.text == "::"):
            self.issue("undeclared", f"{what}, a word of C++", token=at, name=name)
            self.doubt()
            return
        # Macros of the host are in capitals and alike (`DIM_X`, `DIM_Y`); two letters swapped are a slip.
        is_capitals = name.upper() == name and (local is None or sorted(name) != sorted(local))
        if close is not None and len(name) > 1 and not is_capitals:
            said = f"{what}; did you mean '{close}'?"
            self.issue("undeclared", said, token=at, fix=replaced(at, close), name=name)
            return
        if self.texts[self.at] not in AFTER_OPERAND:
            self.doubt()
        severity = Severity.INFORMATION if is_call or is_capitals else Severity.WARNING
        said = f"{what}; if the host defines it, set -D {name}=VALUE in clmap.toml"
        if close is not None:
            said = (
                f"{what}; did you mean '{close}'? If the host defines it, set -D {name}=VALUE in clmap.toml"
            )
        fix = None if close is None else replaced(at, close)
        self.issue("undefined-name", said, severity, token=at, fix=fix, name=name)

    def _near_local(self, name: str) -> str | None:
        """Return the name in the scopes around that was perhaps meant."""
        found = self.nearest_local(name)
        self.asks_local(name, found)
        return found

    def nearest_local(self, name: str) -> str | None:
        """Return the nearest name in the scopes around; what was found to be far is not asked again."""
        known = self.unit.far
        far = known.get(name)
        if far is not None and all(ordinary.keys() <= far for ordinary, _, _ in self.scopes):
            return None
        found = nearest(name, self._local_names())
        if found is None:
            if far is None and len(known) >= MOST_FAR:
                known.clear()
            near_none = known.setdefault(name, set())
            near_none.update(self._local_names())
            if len(near_none) > MOST_FAR:
                known[name] = set()
        return found

    def asks_local(self, name: str, meant: str | None) -> None:
        """Note which name in the scopes around the present piece was meant, if it was none of its own."""
        if meant is not None and any(meant in it[0] for it in self.scopes[max(self.piece.depth - 1, 0) :]):
            self.n_unsure += 1  # In the scope around, it may be.
        elif self.asked_local.setdefault(name, meant) != meant:
            self.n_unsure += 1

    def _local_names(self) -> Iterator[str]:
        return (name for ordinary, _, _ in reversed(self.scopes) for name in ordinary)


def find_member(members: list[Symbol], name: str) -> Symbol | None:
    """Return a member by name, be it in a struct without a name inside."""
    for member in members:
        if member.name == name:
            return member
        if not member.name and member.type is not None:
            inner = base_of(member.type)
            if isinstance(inner, Record) and inner.members is not None:
                found = find_member(inner.members, name)
                if found is not None:
                    return found
    return None
