"""Polynomials in the author's own words: `y*N + x`, `(by + ly)*N + lx`, `i/4*512 + i%4`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clmap_lsp.access.polynomial import (
    ONE,
    Atom,
    Carried,
    Indirect,
    LoopSymbol,
    Monomial,
    Op,
    Operation,
    Parameter,
    Polynomial,
    Unknown,
    WorkItemSymbol,
    divide,
    multiply,
    varies_in_launch,
    weight_of,
)
from clmap_lsp.source.ir import WorkItemQuery

Names = Mapping[Atom, str]
"""What the author calls an atom, where it has a variable of its own."""

_NO_NAMES: Final[Names] = {}
MAX_WEIGHT: Final = 40
"""Operations over more atoms than this are written as `…`."""
_INFIX: Final = {
    Op.FLOOR_DIV: ("/", 10),
    Op.TRUNC_DIV: ("/", 10),
    Op.MOD: ("%", 10),
    Op.REM: ("%", 10),
    Op.PRODUCT: ("*", 10),
    Op.SHL: (" << ", 8),
    Op.SHR: (" >> ", 8),
    Op.LT: (" < ", 7),
    Op.LE: (" <= ", 7),
    Op.EQ: (" == ", 6),
    Op.NE: (" != ", 6),
    Op.AND: (" & ", 5),
    Op.XOR: (" ^ ", 4),
    Op.OR: (" | ", 3),
    Op.LOGICAL_AND: (" && ", 2),
    Op.LOGICAL_OR: (" || ", 1),
    Op.SELECT: (" ? ", 0),
}
"""How operations are written, and how tightly they bind: sums bind with 9, products with 10."""
_COMMUTATIVE: Final = frozenset({Op.MIN, Op.MAX, Op.AND, Op.OR, Op.XOR})
_SUM_BINDS: Final = 9
_PRODUCT_BINDS: Final = 10
_ATOM_BINDS: Final = 11


def words(value: Polynomial, names: Names = _NO_NAMES) -> str:
    """Return the polynomial as C text, with `names` for the atoms that have one."""
    return _Writer(names).sum(value)[0]


def atom_words(atom: Atom, names: Names = _NO_NAMES) -> str:
    """Return one atom as C text."""
    return _Writer(names).atom(atom)[0]


class NameTable(dict[Atom, str]):
    """The names of one kernel, complete before the first text is asked for; remembers what was written."""

    __slots__ = ("atoms", "sums")

    def __init__(self) -> None:
        super().__init__()
        self.atoms: dict[Atom, tuple[str, int]] = {}
        self.sums: dict[Polynomial, tuple[str, int]] = {}


class _Writer:
    """Every method returns a text and how tightly its outermost operator binds."""

    def __init__(self, names: Names) -> None:
        self.names = names
        known = names if isinstance(names, NameTable) else NameTable()
        self._atoms, self._sums = known.atoms, known.sums

    def sum(self, value: Polynomial) -> tuple[str, int]:
        known = self._sums.get(value)
        if known is None:
            known = self._sums[value] = self._written_sum(value)
        return known

    def _written_sum(self, value: Polynomial) -> tuple[str, int]:
        value = in_variables(value, self.names)
        if not value:
            return "0", _ATOM_BINDS
        groups = self._by_pitch(value)
        parts = [self._group(pitch, inner) for pitch, inner in groups]
        if len(parts) == 1:
            return parts[0]
        texts = [text if binds >= _SUM_BINDS else f"({text})" for text, binds in parts]
        if texts[0].startswith("-"):  # 1023 - x, not -x + 1023
            first = next((at for at, text in enumerate(texts) if not text.startswith("-")), 0)
            texts.insert(0, texts.pop(first))
        text = texts[0]
        for part in texts[1:]:
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
        return text, _SUM_BINDS

    def _group(self, pitch: Monomial, inner: Polynomial) -> tuple[str, int]:
        if not pitch:
            ((monomial, coefficient),) = inner.terms.items()
            return self._product(monomial, coefficient)
        pitch_text = self._factors(pitch)
        if inner == ONE:
            return pitch_text, (_ATOM_BINDS if len(pitch) == 1 else _PRODUCT_BINDS)
        if inner.value is not None:
            number = inner.value
            return (f"-{pitch_text}" if number == -1 else f"{number}*{pitch_text}"), _PRODUCT_BINDS
        text, binds = self.sum(inner)
        if binds < _PRODUCT_BINDS or "%" in text:
            text = f"({text})"
        return f"{text}*{pitch_text}", _PRODUCT_BINDS

    def _by_pitch(self, value: Polynomial) -> list[tuple[Monomial, Polynomial]]:
        """Group terms that share a product of uniform symbols, as in (y + 1)*N; single terms stay alone."""
        groups: dict[Monomial, dict[Monomial, int]] = {}
        for monomial, coefficient in value.terms.items():
            pitch = tuple(atom for atom in monomial if _is_uniform_symbol(atom))
            rest = divide(monomial, pitch)
            groups.setdefault(pitch, {})[() if rest is None else rest] = coefficient
        result: list[tuple[Monomial, Polynomial]] = []
        for pitch, inner in groups.items():
            if pitch and (len(inner) > 1 or tuple(inner) == ((),)):
                result.append((pitch, Polynomial(inner)))
            else:
                for monomial, coefficient in inner.items():
                    result.append(((), Polynomial({multiply(pitch, monomial): coefficient})))
        result.sort(key=self._group_key)
        return result

    def _group_key(self, group: tuple[Monomial, Polynomial]) -> tuple[int, int, int, int, str]:
        pitch, inner = group
        if pitch:
            varying = any(monomial for monomial in inner.terms)
            return -len(pitch) - varying, 0, 0, 0, str(len(inner.terms))
        ((monomial, coefficient),) = inner.terms.items()
        if not monomial:
            return 9, 0, 0, 0, ""
        rank = min(_rank(atom) for atom in monomial)
        first = min(monomial, key=_rank)
        return -len(monomial), -abs(coefficient), rank, -_dimension(first), self.atom(first)[0]

    def _product(self, monomial: Monomial, coefficient: int) -> tuple[str, int]:
        if not monomial:
            return str(coefficient), _ATOM_BINDS
        if len(monomial) == 1 and coefficient == 1:
            return self.atom(monomial[0])
        text = self._factors(monomial)
        if coefficient == 1:
            return text, _PRODUCT_BINDS
        if coefficient == -1:
            return f"-{text}", _PRODUCT_BINDS
        if coefficient < 0:
            return f"-{text}*{-coefficient}", _PRODUCT_BINDS
        return f"{text}*{coefficient}", _PRODUCT_BINDS

    def _factors(self, atoms: Monomial) -> str:
        """Return a product; a quotient needs no brackets where it comes first: `i/4*n`, but `n*(i/4)`."""
        texts = []
        for at, atom in enumerate(sorted(atoms, key=self._key)):
            text, binds = self.atom(atom)
            is_quotient = isinstance(atom, Operation) and atom.op in (Op.FLOOR_DIV, Op.TRUNC_DIV)
            texts.append(text if binds > _PRODUCT_BINDS or (is_quotient and not at) else f"({text})")
        return "*".join(texts)

    def _key(self, atom: Atom) -> tuple[int, int, str]:
        return _rank(atom), -_dimension(atom), self.atom(atom)[0]

    def atom(self, atom: Atom) -> tuple[str, int]:
        """Return the text of one atom."""
        known = self._atoms.get(atom)
        if known is None:
            known = self._atoms[atom] = self._written_atom(atom)
        return known

    def _written_atom(self, atom: Atom) -> tuple[str, int]:
        if atom in self.names:
            return self.names[atom], _ATOM_BINDS
        if weight_of(atom) > MAX_WEIGHT:
            return "…", _ATOM_BINDS
        match atom:
            case WorkItemSymbol():
                return atom.name, _ATOM_BINDS
            case LoopSymbol() if atom.step != ONE or atom.start:
                return f"iteration({atom.name})", _ATOM_BINDS
            case Parameter() | LoopSymbol() | Carried():
                return atom.name, _ATOM_BINDS
            case Indirect():
                lane = f".s{atom.lane:x}" if atom.lane else ""
                return f"{atom.buffer}[{self.sum(atom.index)[0]}]{lane}", _ATOM_BINDS
            case Unknown():
                return "?", _ATOM_BINDS
            case Operation():
                return self._operation(atom)

    def _operation(self, it: Operation) -> tuple[str, int]:
        match it.op:
            case Op.SELECT:
                condition, if_true, if_false = (self.sum(operand)[0] for operand in it.operands)
                return f"{condition} ? {if_true} : {if_false}", 0
            case Op.WRAP_UNSIGNED | Op.WRAP_SIGNED:
                name = _TYPE_NAMES.get((it.op is Op.WRAP_SIGNED, it.operands[1].value or 0), "wrapped")
                return f"({name})({self.sum(it.operands[0])[0]})", _ATOM_BINDS
            case Op.LOGICAL_NOT | Op.BIT_NOT:
                return f"{it.op.value}({self.sum(it.operands[0])[0]})", _ATOM_BINDS
            case Op.POW:
                base, exponent = (self._tight(operand) for operand in it.operands)
                return f"pow({base}, {exponent})", _ATOM_BINDS
            case Op.TO_INT:
                text = (
                    it.payload.text(lambda operand: self.sum(operand)[0]) if it.payload is not None else "?"
                )
                return (f"(int){text}" if text.startswith("(") else f"(int)({text})"), _ATOM_BINDS
            case op if op in _INFIX:
                sign, binds = _INFIX[op]
                first, second = self._in_order(it)
                if op in (Op.LT, Op.LE) and varies_in_launch(second) and not varies_in_launch(first):
                    first, second, sign = second, first, sign.replace("<", ">")  # x > 0, not 0 < x
                left = self._operand(first, binds)
                right = self._operand(second, binds + 1)
                return f"{left}{sign}{right}", binds
            case _:
                arguments = ", ".join(self.sum(operand)[0] for operand in self._in_order(it))
                return f"{it.op.value}({arguments})", _ATOM_BINDS

    def _in_order(self, it: Operation) -> tuple[Polynomial, ...]:
        """Return the operands; of commutative operations what varies comes first, numbers last."""
        if it.op not in _COMMUTATIVE:
            return it.operands
        return tuple(
            sorted(
                it.operands,
                key=lambda value: (value.value is not None, not varies_in_launch(value), self.sum(value)[0]),
            )
        )

    def _operand(self, value: Polynomial, at_least: int) -> str:
        text, binds = self.sum(value)
        return f"({text})" if binds < at_least else text

    def _tight(self, value: Polynomial) -> str:
        return self.sum(value)[0]


_TYPE_NAMES: Final = {
    (False, 8): "uchar",
    (True, 8): "char",
    (False, 16): "ushort",
    (True, 16): "short",
    (False, 32): "uint",
    (True, 32): "int",
    (False, 64): "ulong",
    (True, 64): "long",
}


def in_variables(value: Polynomial, names: Names = _NO_NAMES) -> Polynomial:
    """Write loop turns as the author's induction variables: turn = (variable - start) / step.

    A turn whose multiples do not hold the step stays a turn.
    """
    for atom in value.atoms:
        if isinstance(atom, LoopSymbol) and atom.start is not None and atom.step is not None:
            if atom.step == ONE and not atom.start:
                continue
            rewritten = _in_variable(value, atom)
            if rewritten is not None:
                value = rewritten
    return value


def _in_variable(value: Polynomial, turn: LoopSymbol) -> Polynomial | None:
    factor = value.coefficient(turn)
    if factor is None or turn.step is None or turn.start is None:
        return None
    per_unit = factor.exact_quotient(turn.step)
    if per_unit is None:
        return None
    variable = Polynomial.of(Carried(turn.name, turn.identity))
    return value - factor * Polynomial.of(turn) + per_unit * (variable - turn.start)


def _is_uniform_symbol(atom: Atom) -> bool:
    match atom:
        case Parameter():
            return True
        case WorkItemSymbol(query=query):
            return query in _SIZE_QUERIES
        case _:
            return False


_SIZE_QUERIES: Final = frozenset(
    {
        WorkItemQuery.GLOBAL_SIZE,
        WorkItemQuery.LOCAL_SIZE,
        WorkItemQuery.ENQUEUED_LOCAL_SIZE,
        WorkItemQuery.NUM_GROUPS,
    }
)


def _rank(atom: Atom) -> int:
    """Order factors as people write them: what varies first, then the pitch."""
    match atom:
        case WorkItemSymbol():
            return 4 if atom.query in _SIZE_QUERIES else 0
        case Operation():
            return 1
        case LoopSymbol() | Carried():
            return 2
        case Parameter():
            return 3
        case _:
            return 1


def _dimension(atom: Atom) -> int:
    return atom.dimension if isinstance(atom, WorkItemSymbol) else 0
