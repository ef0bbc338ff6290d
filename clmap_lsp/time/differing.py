"""How many values an index may have among the lanes of a SIMD group.

Masks and remainders bound it, whatever data say, and what is alike in all lanes adds nothing to it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, Expression, Kernel, Variable, VariableKind
from clmap_lsp.time.origins import VARYING

_ADDS = frozenset({BinaryOp.ADD, BinaryOp.SUB})
_BOUNDED = frozenset({BinaryOp.AND, BinaryOp.REM})
MANY = math.inf
_MOST_VARIABLES = 200
"""That are followed: one may lead to the next. Of others nothing is said."""


@dataclass(frozen=True, slots=True)
class Differing:
    """What is known of a kernel's variables."""

    varying: Collection[Variable]
    """Those that may differ between lanes."""
    written: Collection[Variable]
    once: Mapping[Variable, Expression]
    """Those that are assigned in one place, and what."""
    scalars: Mapping[str, int]
    """The launch's integers, by parameter."""
    _found: dict[Variable, float] = field(default_factory=dict)
    """What was found of variables; `MANY` while one is looked at, whose value may lead back to it."""

    @classmethod
    def of(cls, kernel: Kernel, varying: Collection[Variable], scalars: Mapping[str, int]) -> Differing:
        """Return what is known of a kernel's variables in a launch with these integers."""
        writes = Counter(it for one in ir.walk(kernel.body) for it in ir.written(one))
        assigned = (it for it in ir.walk(kernel.body) if isinstance(it, ir.Assign))
        once = {it.variable: it.value for it in assigned if writes[it.variable] == 1}
        return cls(varying, writes, once, scalars)

    def values(self, it: Expression) -> float:
        """Return how many values an expression has at the most, or `MANY`."""
        if isinstance(it, ir.Convert):
            return self.values(it.operand)
        if isinstance(it, ir.Binary):
            return self._of_two(it)
        if isinstance(it, ir.Read) and it.variable in self.once and it.variable in self.varying:
            return self._of_variable(it.variable)
        return 1.0 if self._is_alike(it) else MANY

    def _of_variable(self, it: Variable) -> float:
        if it not in self._found:
            self._found[it] = MANY
            if len(self._found) <= _MOST_VARIABLES:
                self._found[it] = self.values(self.once[it])
        return self._found[it]

    def _of_two(self, it: ir.Binary) -> float:
        left, right = self.values(it.left), self.values(it.right)
        if it.op in _ADDS:
            found = left + right - 1.0
        else:  # Of one value and a function of it there are no more.
            found = max(left, right) if min(left, right) == 1.0 else MANY
        return min(found, self._bound(it)) if it.op in _BOUNDED else found

    def _bound(self, it: ir.Binary) -> float:
        if it.op is BinaryOp.REM:
            by = self._known(it.right)
            return float(by) if by is not None and by > 0 else MANY
        masks = [mask for side in (it.left, it.right) if (mask := self._known(side)) is not None]
        return min((2.0 ** mask.bit_count() for mask in masks if mask >= 0), default=MANY)

    def _known(self, it: Expression) -> int | None:
        if isinstance(it, ir.Convert):
            return self._known(it.operand)
        if isinstance(it, ir.Constant):
            return it.value if isinstance(it.value, int) else None
        if not isinstance(it, ir.Read) or it.variable in self.written:
            return None
        return self.scalars.get(it.variable.name) if it.variable.kind is VariableKind.PARAMETER else None

    def _is_alike(self, it: Expression) -> bool:
        return not any(VARYING.holds(node, self.varying) for node in ir.nodes(it))
