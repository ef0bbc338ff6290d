"""Loops that only gather from turn to turn, and can therefore be shared by the work-items of a group.

A private variable is a total of a loop if every turn only adds to it (or takes a minimum or maximum), and
nothing else in the loop reads it. Work-items may then take the turns in any order, each with a total of its
own, and a tree of pairs in local memory makes one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType, VectorType

if TYPE_CHECKING:
    from clmap_lsp.fixes.scope import Scope

_EXTREMES = ("min", "max", "fmin", "fmax")
_FUSED = ("mad", "fma")
_BITS = ("&", "|", "^")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Total:
    """A variable that a loop gathers.

    `operation` is an operator, the function that joins two of them, or a condition for taking the other one.
    """

    variable: ir.Variable
    operation: str

    @property
    def name(self) -> str:
        """The author's name."""
        return self.variable.name

    @property
    def is_float(self) -> bool:
        """True if the order of a sum can be seen in its last bits."""
        kind = self.variable.type
        element = kind.element if isinstance(kind, VectorType) else kind
        return isinstance(element, ScalarType) and element.is_float

    def joined(self, one: str, other: str, named: str) -> list[str]:
        """Return what gathers `other` into `one`, which is what the variable is, too.

        Args:
            named: a name for `other`: nothing is loaded under a condition that data decide.
        """
        if self.operation == "+":
            return [f"{one} += {other};"]
        if not self.operation.startswith("if"):
            return [f"{one} = {self.operation}({one}, {other});"]
        test = self.operation.format(one=self.name, other=named)
        return [
            f"const {self.variable.type} {named} = {other};",
            f"{test} {self.name} = {named};",
            f"{one} = {self.name};",
        ]


def totals(scope: Scope, loop: ir.Loop, counter: str, *, bits: bool = False) -> tuple[Total, ...] | None:
    """Return what a loop gathers, in the order of the source; `None` if turns share anything else.

    A loop that is left early, that synchronises, or that changes an array in private memory shares more.

    Args:
        bits: also what it gathers by `&`, `|` and `^`.
    """
    kernel = scope.subject.analysis.kernel
    if ir.has_goto(kernel):
        return None
    inside = {it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Declare)}
    picks = list(_picks(scope, loop))
    found: dict[ir.Variable, str] = {}
    for statement in ir.walk(loop.body):
        match statement:
            case ir.Return() | ir.Atomic() | ir.OpaqueCall() | ir.Unsupported() | ir.CopyObject():
                return None
            case ir.Assign(variable=variable) | ir.Load(variable=variable) | ir.Call(variable=variable):
                if variable is None or variable.is_temporary or variable in inside:
                    continue
                if _is_of_one_turn(kernel, loop, variable):
                    inside.add(variable)
                    continue
                if variable.name == counter or not isinstance(statement, ir.Assign):
                    return None
                picked = (it.operation for it in picks if statement in it.statements)
                operation = next(picked, None) or _operation(statement, bits=bits)
                if operation is None or found.setdefault(variable, operation) != operation:
                    return None
            case _:
                if facts.synchronises((statement,)):
                    return None
    if any(_read_besides(loop, it, [pick for pick in picks if pick.variable is it]) for it in found):
        return None
    return tuple(Total(it, operation) for it, operation in found.items())


def _is_of_one_turn(kernel: ir.Kernel, loop: ir.Loop, variable: ir.Variable) -> bool:
    """True if every turn sets a variable before it reads it, and so does what comes behind the loop."""
    first = next((it for it in loop.body if _touches(it, variable)), None)
    if not isinstance(first, ir.Assign) or first.variable is not variable or _reads_in(first, variable):
        return False
    if loop.condition is not None and any(_reads(it, variable) for it in ir.nodes(loop.condition)):
        return False
    after = False
    for statement in ir.walk(kernel.body):
        if after and statement.span.start >= loop.span.end and _touches(statement, variable):
            set_anew = isinstance(statement, ir.Assign) and statement.variable is variable
            return set_anew and not _reads_in(statement, variable)
        after = after or statement is loop
    return True


def _touches(statement: ir.Statement, variable: ir.Variable) -> bool:
    return any(
        getattr(it, "variable", None) is variable or _reads_in(it, variable) for it in ir.walk((statement,))
    )


def _reads_in(statement: ir.Statement, variable: ir.Variable) -> bool:
    return any(_reads(it, variable) for each in ir.expressions(statement) for it in ir.nodes(each))


def _operation(statement: ir.Assign, *, bits: bool) -> str | None:
    """Return how an assignment gathers into its variable; `None` if it does something else."""
    variable, value = statement.variable, statement.value
    kind = variable.type
    if not isinstance(kind, (ScalarType, VectorType)) or not facts.plain_element(kind):
        return None
    while isinstance(value, ir.Convert) and value.type == value.operand.type == kind:
        value = value.operand
    match value:
        case ir.Binary(op=ir.BinaryOp.ADD, left=left, right=right):
            return "+" if _reads(left, variable) or _reads(right, variable) else None
        case ir.Binary(op=ir.BinaryOp.SUB, left=left):
            return "+" if _reads(left, variable) else None
        case ir.Binary(op=op, left=left, right=right) if bits and op.value in _BITS:
            return str(op.value) if _reads(left, variable) or _reads(right, variable) else None
        case ir.Builtin(name=name, arguments=(_, _, last)) if name in _FUSED and _reads(last, variable):
            return "+"
        case ir.Builtin(name=name, arguments=(left, right)) if name in _EXTREMES:
            return name if _reads(left, variable) or _reads(right, variable) else None
        case _:
            return None


def _reads(expression: ir.Expression, variable: ir.Variable) -> bool:
    return isinstance(expression, ir.Read) and expression.variable is variable


@dataclass(frozen=True, slots=True)
class _Pick:
    """`if (x > m) m = x;` or `m = x > m ? x : m;`, with the statements that read `m` for that."""

    variable: ir.Variable
    operation: str
    statements: tuple[ir.Statement, ...]


def _picks(scope: Scope, loop: ir.Loop) -> Iterator[_Pick]:
    statements = list(ir.walk(loop.body))
    for it in statements:
        used: tuple[ir.Statement, ...] = (it,)
        loads: list[ir.Statement] = []
        match it:
            case ir.Assign(value=ir.Select(condition=condition, if_true=chosen, if_false=kept)):
                last = it
            case ir.If(condition=condition, then=(*loads, ir.Assign(value=chosen) as last), otherwise=()):
                kept, used = ir.Read(last.variable, last.span), (it, last)
            case ir.If(
                condition=condition,
                then=(*loads, ir.Assign(variable=made, value=chosen)),
                otherwise=(ir.Assign(variable=other, value=kept) as left,),
            ) if made is other:
                set_to = [s for s in statements if isinstance(s, ir.Assign) and _reads(s.value, made)]
                if not made.is_temporary or len(set_to) != 1:
                    continue
                (last,), used = set_to, (it, left, *set_to)
            case _:
                continue
        operation = _condition(scope, last.variable, condition, chosen, kept)
        if operation is not None and all(isinstance(s, ir.Load) and s.variable.is_temporary for s in loads):
            yield _Pick(last.variable, operation, used)


def _condition(
    scope: Scope, variable: ir.Variable, test: ir.Expression, chosen: ir.Expression, kept: ir.Expression
) -> str | None:
    """Return the condition under which a value is taken for a variable that it is compared with.

    A value that is no number is never taken so. `None` for conditions of another kind.
    """
    test = ir.unconverted(test)
    if not isinstance(test, ir.Compare) or test.op.value not in _MIRRORED or not _reads(kept, variable):
        return None
    sides, op = (test.left, test.right), str(test.op.value)
    if _reads(test.left, variable):
        sides, op = (test.right, test.left), _MIRRORED[op]
    if not _reads(sides[1], variable) or any(isinstance(it, ir.Convert) for it in (chosen, sides[0])):
        return None
    one, other = (scope.source(it.span) for it in (chosen, sides[0]))
    typed = all(as_typed(it.span, scope.subject.path) for it in (chosen, sides[0]))
    same = "".join(one.split()) == "".join(other.split())
    return f"if ({{other}} {op} {{one}})" if same and typed else None


def _read_besides(loop: ir.Loop, variable: ir.Variable, picks: Sequence[_Pick]) -> bool:
    """True if a loop reads a total otherwise than to gather into it."""
    for statement in ir.walk((*loop.test, *loop.body, *loop.step)):
        is_pick = any(statement in it.statements for it in picks)
        if not is_pick and facts.is_read_besides(statement, variable):
            return True
    return loop.condition is not None and any(
        isinstance(it, ir.Read) and it.variable is variable for it in ir.nodes(loop.condition)
    )


def starts_at_zero(kernel: ir.Kernel, total: Total, loop: ir.Loop) -> bool:
    """True if a sum is surely 0 when a loop starts: the assignment before it in its own block says so."""
    block = _block_of(kernel.body, loop)
    if block is None:
        return False
    for statement in reversed(block[: block.index(loop)]):
        if any(isinstance(it, ir.Assign) and it.variable is total.variable for it in ir.walk((statement,))):
            return isinstance(statement, ir.Assign) and facts.is_zero(statement.value)
    return False


def _block_of(block: Sequence[ir.Statement], loop: ir.Loop) -> list[ir.Statement] | None:
    if any(it is loop for it in block):
        return list(block)
    for statement in block:
        for inner in _inner(statement):
            found = _block_of(inner, loop)
            if found is not None:
                return found
    return None


def _inner(statement: ir.Statement) -> tuple[Sequence[ir.Statement], ...]:
    match statement:
        case ir.If(then=then, otherwise=otherwise):
            return then, otherwise
        case ir.Loop(body=body) | ir.Scope(body=body):
            return (body,)
        case _:
            return ()


def tree(
    scope: Scope,
    found: Sequence[Total],
    arrays: Sequence[str],
    lane: str,
    size: int,
    *,
    element: str = "[{lane}]",
    fences_global: bool = False,
) -> list[str]:
    """Return the lines that join the totals of a group's work-items, so that all of them have it afterwards.

    Args:
        size: how many totals become one; a power of two.
        element: the index of a work-item's total in its array, with `{lane}` for its place among those.
        fences_global: what work-items loaded before it may be overwritten by another one behind it.
    """
    unit, step = scope.unit, scope.fresh("step")
    pairs = list(zip(found, arrays, strict=True))
    mine, other, first = (element.format(lane=it) for it in (lane, f"{lane} + {step}", "0"))
    joins = [
        line
        for it, array in pairs
        for line in it.joined(f"{array}{mine}", f"{array}{other}", scope.unused(f"other_{it.name}"))
    ]
    inner = [f"if ({lane} < {step}) {{", *(unit + it for it in joins), "}"]
    if len(joins) == 1:
        inner = [f"if ({lane} < {step})", unit + joins[0]]
    return [
        *(f"{array}{mine} = {it.name};" for it, array in pairs),
        f"for (int {step} = {size // 2}; {step} > 0; {step} /= 2) {{",
        f"{unit}barrier(CLK_LOCAL_MEM_FENCE);",
        *(unit + it for it in inner),
        "}",
        f"barrier(CLK_LOCAL_MEM_FENCE{' | CLK_GLOBAL_MEM_FENCE' if fences_global else ''});",
        *(f"{it.name} = {array}{first};" for it, array in pairs),
    ]
