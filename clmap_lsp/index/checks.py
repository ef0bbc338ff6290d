"""What is wrong where something is assigned, passed, stepped or cast."""

from __future__ import annotations

from clmap_lsp.index.compatible import Value, conversion_fault
from clmap_lsp.index.cursor import (
    Cursor,
)
from clmap_lsp.index.model import (
    Edit,
    Fix,
    Role,
    Use,
)
from clmap_lsp.index.narrowing import narrowed
from clmap_lsp.index.operators import NUMBER, literal
from clmap_lsp.index.types import (
    DOUBLE,
    FLOAT,
    HALF,
    Array,
    Base,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    decayed,
    is_const,
    is_integer,
    space_of,
    spelled,
    unqualified,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.types import AddressSpace, OpaqueType, ScalarKind, ScalarType, VectorType


class Checks(Cursor):
    """Reports values that do not fit where they go, and what cannot be written."""

    def check_conversion(self, target: Qualified, value: Value, action: str, at: int) -> None:
        """Report where a value does not fit what it is assigned or passed to."""
        fault = conversion_fault(target, value, action)
        if fault is not None:
            code, said = fault
            self.issue(code, said, token=at)
            return
        lost = narrowed(target, value)
        if lost is not None:
            fix = self._single_precision(target, value)
            self.issue("narrowing", lost, Severity.HINT, token=value.start, fix=fix)

    def check_part(self, vector: VectorType, part: Value) -> None:
        """Report lanes of another type among those that a vector is put together from."""
        base = base_of(decayed(part.type))
        if isinstance(base, VectorType) and base.element != vector.element:
            said = f"initializing '{vector.element}' with an expression of incompatible type "
            self.issue("wrong-vector", f"{said}'{spelled(unqualified(part.type))}'", token=part.start)

    def _single_precision(self, target: Qualified, value: Value) -> Fix | None:
        """Return what makes the constants of an expression float, where a float is wanted of a double."""
        if base_of(value.type) != base_of(DOUBLE) or base_of(target) != base_of(FLOAT):
            return None
        found = [
            at
            for at in range(value.start, self.at)
            if NUMBER.match(self.texts[at])
            and literal(self.texts[at])[0] is DOUBLE
            and self.texts[at][-1] not in "lL"
        ]
        if not found:
            return None
        edits = tuple(Edit(at, at + 1, f"{self.texts[at]}f") for at in found)
        return Fix(f"Write {', '.join(it.text for it in edits[:3])}", edits)

    def _check_fraction(self, target: Qualified, result: Value, right: Value) -> None:
        """Report `i *= 0.5f`; that integers may not fit any more is in the nature of `+=`."""
        if not is_integer(base_of(result.type)):
            lost = narrowed(target, result)
            if lost is not None:
                fix = self._single_precision(target, result)
                self.issue("narrowing", lost, Severity.HINT, token=right.start, fix=fix)

    def _check_writable(self, value: Value, at: int) -> None:
        base = base_of(value.type)
        if isinstance(base, Unknown):
            return
        if isinstance(base, ScalarType) and base.kind is ScalarKind.VOID:
            self.issue(
                "not-assignable", f"incomplete type '{spelled(value.type)}' is not assignable", token=at
            )
        elif not value.is_lvalue or isinstance(base, Array | Function):
            kind = "array type " if isinstance(base, Array) else ""
            said = (
                f"{kind}'{spelled(value.type)}' is not assignable" if kind else "expression is not assignable"
            )
            self.issue("not-assignable", said, token=at)
        elif is_const(value.type):
            root = value.root
            if root is not None and not value.is_pointed and value.is_whole:
                said = f"cannot assign to variable '{root.name}' with const-qualified type "
                said += f"'{spelled(value.type)}'"
            else:
                said = "read-only variable is not assignable"
            self.issue("not-assignable", said, token=at)
        elif self.n_outside and self._is_copied(value):
            said = "variable is not assignable (missing __block type specifier)"
            self.issue("not-assignable", said, token=at)

    def _is_copied(self, value: Value) -> bool:
        """Tell whether what is written is a variable of which the block around has a copy."""
        root = value.root
        if root is None or root.type is None or value.is_pointed or isinstance(base_of(root.type), Array):
            return False
        if root.storage == "static" or space_of(root.type) in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
            return False
        return any(outside[0].get(root.name) is root for outside in self.scopes[: self.n_outside])

    def wrote(self, value: Value, also_reads: bool) -> None:
        """Note that what a value names is written."""
        if value.use is not None:
            use = self.piece.uses[value.use]
            role = Role.WRITES | Role.READS if also_reads else Role.WRITES
            self.piece.uses[value.use] = Use(use.token, use.symbol, role)

    def _stepped(self, operand: Value, at: int) -> None:
        self.wrote(operand, True)
        self._check_writable(operand, at)
        base = base_of(operand.type)
        is_float = isinstance(base, VectorType) and base.element.is_float
        if is_float or isinstance(base, Record | OpaqueType):
            what = "increment" if self.texts[at] == "++" else "decrement"
            self.issue("invalid-operands", f"cannot {what} value of type '{spelled(operand.type)}'", token=at)
        if operand.root is not None and not operand.is_pointed:
            self.piece.flow.append((operand.root, (operand.root, *self.controls)))

    def _check_half(self, pointee: Qualified, is_array: bool, at: int) -> None:
        """Note a load or store of a half; where the array of halves is declared, that was noted."""
        if not is_array and base_of(pointee) == base_of(HALF):
            self.need("cl_khr_fp16", "a half that is read or written without vload_half or vstore_half", at)

    def _check_cast(self, type_: Qualified, operand: Value, at: int) -> None:
        target, given = base_of(type_), base_of(decayed(operand.type))
        if isinstance(target, Pointer) and isinstance(given, Pointer):
            wanted, present = space_of(target.pointee), space_of(given.pointee)
            pair = {wanted, present}
            if wanted is not present and None not in pair and _may_not_meet(wanted, present):
                said = f"casting '{spelled(decayed(operand.type))}' to type '{spelled(type_)}' "
                said += "changes address space of pointer"
                self.issue("address-space", said, token=at, fix=None)
        elif isinstance(target, VectorType) and isinstance(given, VectorType) and target != given:
            said = f"invalid conversion between ext-vector type '{spelled(type_)}' and "
            said += f"'{spelled(unqualified(operand.type))}'"
            self.issue("wrong-vector", said, token=at)
        elif isinstance(target, ScalarType) and target.bits and isinstance(given, VectorType):
            if target.is_float or target.size != given.size:
                kind = "scalar type" if target.is_float else "integer type"
                said = f"invalid conversion between vector type '{spelled(unqualified(operand.type))}' "
                said += f"and {kind} "
                said += f"'{spelled(type_)}'{'' if target.is_float else ' of different size'}"
                self.issue("wrong-vector", said, token=at)
        elif _takes_no_cast(target) and not isinstance(given, Unknown) and target != given:
            said = f"used type '{spelled(type_)}' where arithmetic or pointer type is required"
            self.issue("invalid-operands", said, token=at)
        elif (isinstance(given, Record) or _is_handle(given)) and (
            isinstance(target, VectorType | Pointer)
            or (isinstance(target, ScalarType) and target.kind is not ScalarKind.VOID)
        ):
            said = f"operand of type '{spelled(unqualified(operand.type))}' where arithmetic or pointer type "
            said += "is required"
            self.issue("invalid-operands", said, token=operand.start)


def _takes_no_cast(base: Base) -> bool:
    """Tell whether nothing can be cast to a type."""
    return isinstance(base, Record) or (isinstance(base, OpaqueType) and base.name == "sampler_t")


def _is_handle(base: Base) -> bool:
    """Tell whether values of a type are images or samplers, which have no arithmetic."""
    return isinstance(base, OpaqueType) and (base.is_image or base.name == "sampler_t")


def replaced(at: int, text: str) -> Fix:
    """Return what writes another word."""
    return Fix(f"Change to '{text}'", (Edit(at, at + 1, text),))


def _may_not_meet(a: AddressSpace | None, b: AddressSpace | None) -> bool:
    pair = {a, b}
    if AddressSpace.GENERIC in pair:
        return AddressSpace.CONSTANT in pair
    return True
