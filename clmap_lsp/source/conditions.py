"""The integer expressions of `#if`.

All arithmetic is in 64 bits, signed unless an operand is unsigned, as in ISO/IEC 9899:1999, 6.10.1p4.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.lexer import Token, is_name
from clmap_lsp.source.vocabulary import ESCAPES

_MASK = (1 << 64) - 1
_SIGN = 1 << 63
_MAX_DEPTH = 150

_BINARY = {
    "?": 1,
    "||": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    "==": 7,
    "!=": 7,
    "<": 8,
    ">": 8,
    "<=": 8,
    ">=": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
}
_NUMBER = re.compile(r"(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(\d+))([uUlLzZ]*)\Z")


class BadConditionError(Exception):
    """The expression cannot be evaluated; the message says why."""


class DivisionByZeroError(BadConditionError):
    """The expression divides by zero."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value of `intmax_t` or `uintmax_t`."""

    value: int
    is_unsigned: bool = False


@dataclass(slots=True)
class _Parser:
    texts: tuple[str, ...]
    at: int = 0
    depth: int = 0
    unknown: list[int] = field(default_factory=list)

    def peek(self) -> str:
        return self.texts[self.at] if self.at < len(self.texts) else ""

    def next(self) -> str:
        text = self.peek()
        self.at += 1
        return text

    def expect(self, text: str) -> None:
        found = self.next()
        if found != text:
            raise BadConditionError(f"`{text}` expected" + (f" before `{found}`" if found else " at the end"))

    def expression(self, lowest: int, *, live: bool) -> Number:
        """Parse operators that bind at least as tightly as `lowest`; `live` is false in unused operands."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise BadConditionError("the expression is nested too deeply")
        left = self.unary(live=live)
        while (power := _BINARY.get(self.peek(), 0)) >= lowest:
            operator = self.next()
            match operator:
                case "?":
                    left = self.conditional(left, live=live)
                case "&&":
                    right = self.expression(power + 1, live=live and left.value != 0)
                    left = Number(int(left.value != 0 and right.value != 0))
                case "||":
                    right = self.expression(power + 1, live=live and left.value == 0)
                    left = Number(int(left.value != 0 or right.value != 0))
                case _:
                    left = _apply(operator, left, self.expression(power + 1, live=live), live=live)
        self.depth -= 1
        return left

    def conditional(self, condition: Number, *, live: bool) -> Number:
        taken = condition.value != 0
        if_true = self.expression(1, live=live and taken)
        self.expect(":")
        if_false = self.expression(1, live=live and not taken)
        value = if_true if taken else if_false
        return _wrapped(value.value, if_true.is_unsigned or if_false.is_unsigned)

    def unary(self, *, live: bool) -> Number:
        signs: list[str] = []
        while self.peek() in ("+", "-", "!", "~") and self.peek():
            signs.append(self.next())
        value = self.primary(live=live)
        for sign in reversed(signs):
            match sign:
                case "-":
                    value = _wrapped(-value.value, value.is_unsigned)
                case "~":
                    value = _wrapped(~value.value, value.is_unsigned)
                case "!":
                    value = Number(int(value.value == 0))
                case _:
                    pass
        return value

    def primary(self, *, live: bool) -> Number:
        text = self.next()
        if not text:
            raise BadConditionError("an operand is missing")
        if text == "(":
            value = self.expression(1, live=live)
            self.expect(")")
            return value
        if text[0].isdecimal():
            return _number(text)
        if text[0] == "'":
            return Number(_character(text))
        if is_name(text):
            if live:
                self.unknown.append(self.at - 1)
            if self.peek() == "(":
                self.skip_arguments()
            return Number(int(text == "true"))
        raise BadConditionError(f"`{text}` cannot be used in an integer expression")

    def skip_arguments(self) -> None:
        """Pass over the arguments of a function-like name that is not defined; its value is 0."""
        depth = 0
        while self.at < len(self.texts):
            text = self.next()
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return
        raise BadConditionError("`)` expected at the end")


def evaluate(tokens: list[Token]) -> tuple[Number, list[Token]]:
    """Return the value of a macro-expanded expression, and the undefined names that its value rests on.

    `defined` and `__has_include` must already be replaced by numbers. Raises: BadConditionError.
    """
    texts = tuple(token.text for token in tokens)
    value, unknown = (_remembered if len(texts) <= _SHORT else _evaluated)(texts)
    return value, [tokens[at] for at in unknown]


def evaluate_words(texts: tuple[str, ...]) -> Number:
    """Return the value of an expression without names. Raises: BadConditionError."""
    value, unknown = _evaluated(texts)
    if unknown:
        raise BadConditionError(f"`{texts[unknown[0]]}` is not known")
    return value


def _evaluated(texts: tuple[str, ...]) -> tuple[Number, list[int]]:
    parser = _Parser(texts)
    if not texts:
        raise BadConditionError("the condition is empty")
    value = parser.expression(1, live=True)
    if parser.at < len(texts):
        raise BadConditionError(f"`{parser.peek()}` after the end of the expression")
    return value, [at for at in parser.unknown if texts[at] not in ("true", "false")]


_SHORT = 64
"""Tokens of a condition that is remembered once expanded: most come back with every file of a project."""
_remembered = lru_cache(maxsize=1024)(_evaluated)


def _apply(operator: str, left: Number, right: Number, *, live: bool) -> Number:
    is_unsigned = left.is_unsigned or right.is_unsigned
    a = left.value & _MASK if is_unsigned else left.value
    b = right.value & _MASK if is_unsigned else right.value
    match operator:
        case "+":
            return _wrapped(a + b, is_unsigned)
        case "-":
            return _wrapped(a - b, is_unsigned)
        case "*":
            return _wrapped(a * b, is_unsigned)
        case "/" | "%":
            return _divided(operator, a, b, is_unsigned=is_unsigned, live=live)
        case "<<" | ">>":
            return _shifted(operator, left, right)
        case "&":
            return _wrapped(a & b, is_unsigned)
        case "|":
            return _wrapped(a | b, is_unsigned)
        case "^":
            return _wrapped(a ^ b, is_unsigned)
        case "==":
            return Number(int(a == b))
        case "!=":
            return Number(int(a != b))
        case "<":
            return Number(int(a < b))
        case "<=":
            return Number(int(a <= b))
        case ">":
            return Number(int(a > b))
        case _:
            return Number(int(a >= b))


def _divided(operator: str, a: int, b: int, *, is_unsigned: bool, live: bool) -> Number:
    if b == 0:
        if live:
            raise DivisionByZeroError("division by zero")
        return Number(0, is_unsigned)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return _wrapped(quotient if operator == "/" else a - b * quotient, is_unsigned)


def _shifted(operator: str, left: Number, right: Number) -> Number:
    count = right.value
    if operator == ">>":
        count = -count
    if count <= -64 or count >= 64:
        return Number(-1 if count < 0 and left.value < 0 else 0, left.is_unsigned)
    return _wrapped(left.value << count if count >= 0 else left.value >> -count, left.is_unsigned)


def _wrapped(value: int, is_unsigned: bool) -> Number:
    value &= _MASK
    return Number(value if is_unsigned or value < _SIGN else value - (1 << 64), is_unsigned)


def _number(text: str) -> Number:
    match = _NUMBER.match(text)
    if match is None:
        raise BadConditionError(f"`{text}` is not an integer")
    hexadecimal, binary, decimal, suffix = match.groups()
    if hexadecimal:
        value = int(hexadecimal, 16)
    elif binary:
        value = int(binary, 2)
    elif decimal[0] == "0" and len(decimal) > 1:
        if not set(decimal) <= set("01234567"):
            raise BadConditionError(f"`{text}` is not an octal integer")
        value = int(decimal, 8)
    elif len(decimal) > 40:
        raise BadConditionError(f"`{text[:20]}...` does not fit 64 bits")
    else:
        value = int(decimal)
    # A decimal too large for intmax_t is taken as unsigned, with a warning, by GNU cpp and clang.
    return _wrapped(value, "u" in suffix.lower() or (value & _MASK) >= _SIGN)


def _character(text: str) -> int:
    inner = text[1:-1]
    if inner.startswith("\\"):
        body = inner[1:]
        if body.startswith("x") and re.fullmatch(r"[0-9a-fA-F]+", body[1:]):
            code = int(body[1:], 16) & 0xFF
        elif re.fullmatch(r"[0-7]{1,3}", body):
            code = int(body, 8) & 0xFF
        elif body in ESCAPES:
            code = ESCAPES[body]
        else:
            raise BadConditionError(f"`{text}` is not a character")
        return code - 256 if code > 127 else code
    if len(inner) != 1:
        raise BadConditionError(f"`{text}` is not one character")
    return ord(inner)
