"""Integer expressions of a kernel as polynomials over ids, scalar parameters and loop variables.

Only as much as inferring a launch needs: what is not a polynomial is `None`. (The exact analysis of accesses
is the access room's; it starts from a launch, so inference cannot lean on it.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.members import Members, find_members
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, UnaryOp, Variable, VariableKind, WorkItemQuery
from clmap_lsp.source.types import ScalarType, VectorType


@dataclass(frozen=True, slots=True)
class Id:
    """A work-item function of one dimension."""

    query: WorkItemQuery
    dimension: int


Atom = Id | Variable
Monomial = tuple[Atom, ...]
"""A product; the empty one is 1. Atoms are sorted by `_order`, so that equal products are equal."""


@dataclass(frozen=True, slots=True)
class Form:
    """A polynomial: coefficient by monomial, none of them 0."""

    terms: Mapping[Monomial, int]

    @property
    def constant(self) -> int:
        """The term without atoms."""
        return self.terms.get((), 0)

    def without_constant(self) -> dict[Monomial, int]:
        """Return the terms with atoms."""
        return {mono: coef for mono, coef in self.terms.items() if mono}

    def atoms(self) -> frozenset[Atom]:
        """Return every atom that occurs."""
        return frozenset(atom for mono in self.terms for atom in mono)


def constant(value: int) -> Form:
    """Return a constant form."""
    return Form({(): value} if value else {})


def atom(value: Atom) -> Form:
    """Return the form of one atom."""
    return Form({(value,): 1})


def add(left: Form, right: Form, factor: int = 1) -> Form:
    """Return left + factor * right."""
    terms = dict(left.terms)
    for mono, coef in right.terms.items():
        terms[mono] = terms.get(mono, 0) + factor * coef
    return Form(_with_global_ids({mono: coef for mono, coef in terms.items() if coef}))


def _with_global_ids(terms: dict[Monomial, int]) -> dict[Monomial, int]:
    """Put global ids in the place of `group id * local size + local id`, offsets aside."""
    for dimension in range(3):
        local = (Id(WorkItemQuery.LOCAL_ID, dimension),)
        coef = terms.get(local)
        parts = Id(WorkItemQuery.GROUP_ID, dimension), Id(WorkItemQuery.LOCAL_SIZE, dimension)
        group = tuple(sorted(parts, key=_order))
        if coef is not None and terms.get(group) == coef:
            del terms[local], terms[group]
            whole = (Id(WorkItemQuery.GLOBAL_ID, dimension),)
            terms[whole] = terms.get(whole, 0) + coef
    return terms


def _order(value: Atom) -> tuple[int, str, int]:
    """Sort atoms totally: variables of one name are told apart by which object they are."""
    match value:
        case Id(query=query, dimension=dimension):
            return 0, query.value, dimension
        case _:
            return 1, value.name, id(value)


IDS: Final = (WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID, WorkItemQuery.GROUP_ID)
_DEEPEST_LANE: Final = 24
MAX_TERMS: Final = 256
MAX_DEGREE: Final = 8
MAX_COEFFICIENT: Final = 1 << 64


def _as_index(form: Form) -> Form | None:
    """Return a form that may be an index; `None` for one beyond any: squares of squares, long sums."""
    if len(form.terms) > MAX_TERMS:
        return None
    if any(len(mono) > MAX_DEGREE or abs(coef) > MAX_COEFFICIENT for mono, coef in form.terms.items()):
        return None
    return form


def multiply(left: Form, right: Form) -> Form | None:
    """Return the product; `None` if it would have too many terms to be an index."""
    if len(left.terms) * len(right.terms) > 64:
        return None
    terms: dict[Monomial, int] = {}
    for one, a in left.terms.items():
        for two, b in right.terms.items():
            mono = tuple(sorted(one + two, key=_order))
            terms[mono] = terms.get(mono, 0) + a * b
    return Form({mono: coef for mono, coef in terms.items() if coef})


@dataclass(slots=True)
class Forms:
    """Forms of a kernel's variables.

    A variable that is written once, outside loops, has its value's form; one that a loop steps is an atom of
    its own, as parameters are.
    """

    assigned: dict[Variable, list[ir.Expression]] = field(default_factory=dict)
    loaded: set[Variable] = field(default_factory=set)
    stepped: set[Variable] = field(default_factory=set)
    members: Members = field(default_factory=Members)
    _cache: dict[Variable, Form | None] = field(default_factory=dict)
    _lanes: dict[tuple[Variable, int], Form | None] = field(default_factory=dict)
    _sums: dict[int, tuple[ir.Binary, Form | None]] = field(default_factory=dict)
    """Forms of operations by identity: whoever asks about each part of a long sum walks it once."""
    _parameters: dict[Variable, frozenset[Variable]] = field(default_factory=dict)

    @classmethod
    def of(cls, kernel: ir.Kernel) -> Forms:
        """Index the assignments of a kernel."""
        forms = cls(members=find_members(kernel))
        for statement in ir.walk(kernel.body):
            match statement:
                case ir.Assign():
                    forms.assigned.setdefault(statement.variable, []).append(statement.value)
                case ir.Load():
                    forms.loaded.add(statement.variable)
                case _:
                    pass
        for loop in ir.outermost_loops(kernel.body):
            for inner in ir.walk((loop,)):
                if isinstance(inner, ir.Assign) and forms._steps(inner):
                    forms.stepped.add(inner.variable)
        return forms

    def _steps(self, assign: ir.Assign) -> bool:
        """True if a variable's value comes from its own: `k--` is `t = k; k = t - 1`."""
        kept = (
            value
            for it in ir.nodes(assign.value)
            if isinstance(it, ir.Read) and it.variable.is_temporary
            for value in self.assigned.get(it.variable, ())
        )
        return any(_reads(it, assign.variable) for it in (assign.value, *kept))

    def origin(self, expression: ir.Expression) -> Variable | None:
        """Return the variable that an expression reads, or whose value a temporary kept: `k--`."""
        variable = ir.variable_of(expression)
        values = self.assigned.get(variable, ()) if variable is not None and variable.is_temporary else ()
        return ir.variable_of(values[0]) if len(values) == 1 else variable

    def parameters(self, expression: ir.Expression) -> frozenset[Variable]:
        """Return the scalar parameters that an expression depends on, also through variables."""
        found: set[Variable] = set()
        for it in ir.nodes(expression):
            if (member := self.members.member(it)) is not None:
                found.add(member)
            elif isinstance(it, ir.Read):
                found |= self._parameters_of(it.variable)
        return frozenset(found)

    def compared(self, condition: ir.Expression) -> list[Form | None]:
        """Return the forms of what a condition compares."""
        found = (it for it in ir.nodes(condition) if isinstance(it, ir.Compare))
        return [self.form(side) for it in found for side in (it.left, it.right)]

    def dimensions(self, expression: ir.Expression) -> frozenset[int]:
        """Return the dimensions whose ids an expression depends on; none where it depends on data, too."""
        found: set[int] = set()
        seen: set[Variable] = set()
        waiting = [expression]
        while waiting:
            for it in ir.nodes(waiting.pop()):
                if isinstance(it, ir.WorkItem) and it.query in IDS:
                    known = self._work_item(it)
                    if known is None:
                        return frozenset()
                    found.update(atom.dimension for atom in known.atoms() if isinstance(atom, Id))
                elif isinstance(it, ir.Read) and it.variable not in seen:
                    seen.add(it.variable)
                    if it.variable in self.loaded:
                        return frozenset()
                    waiting += self.assigned.get(it.variable, ())
        return frozenset(found)

    def _parameters_of(self, variable: Variable) -> frozenset[Variable]:
        """Return those of a variable, each looked at once: values may name values in any number of ways."""
        waiting, begun = [variable], set[Variable]()
        while waiting:
            it = waiting[-1]
            if it in self._parameters:
                waiting.pop()
                continue
            if is_scalar_parameter(it):
                self._parameters[it] = frozenset((it,))
                continue
            named = self._named(it)
            missing = [other for other in named if other not in self._parameters and other not in begun]
            if missing and it not in begun:
                begun.add(it)
                waiting += missing
                continue
            known = [self._parameters.get(other, frozenset()) for other in named]
            self._parameters[it] = frozenset().union(*known, self._members_named(it))
        return self._parameters[variable]

    def _named(self, variable: Variable) -> list[Variable]:
        """Return the variables that the one value of a variable names."""
        values = self.assigned.get(variable, ())
        if len(values) != 1 or variable in self.stepped:
            return []
        return [it.variable for it in ir.nodes(values[0]) if isinstance(it, ir.Read)]

    def _members_named(self, variable: Variable) -> set[Variable]:
        """Return the numbers inside parameters that a variable is, or that its one value names."""
        values = self.assigned.get(variable, ())
        if len(values) == 1 and variable not in self.stepped:
            found = map(self.members.member, ir.nodes(values[0]))
        else:
            found = map(self.members.loads.get(variable, {}).get, (0,))
        return {it for it in found if it is not None}

    def form(self, expression: ir.Expression) -> Form | None:
        """Return the form of an integer expression; `None` if it is no polynomial of what is known."""
        if (member := self.members.member(expression)) is not None:
            return atom(member) if _is_integer(member) else None
        match expression:
            case ir.Constant(value=int(value)):
                return constant(value)
            case ir.Read(variable=variable):
                return self._variable(variable)
            case ir.WorkItem():
                return self._work_item(expression)
            case ir.Convert(operand=operand, type=ScalarType(is_integer=True)):
                return self.form(operand)
            case ir.Unary(op=UnaryOp.NEGATE, operand=operand):
                inner = self.form(operand)
                return None if inner is None else add(constant(0), inner, -1)
            case ir.Binary():
                if id(expression) not in self._sums:
                    self._sums[id(expression)] = (expression, self._binary(expression))
                return self._sums[id(expression)][1]
            case ir.Builtin(name="mul24" | "mad24", arguments=arguments):
                return self._of_24_bits(arguments)
            case ir.Swizzle(operand=operand, lanes=(lane,)):
                return self._lane(operand, lane, 0)
            case _:
                return None

    def _of_24_bits(self, arguments: Sequence[ir.Expression]) -> Form | None:
        """Return `a * b`, or `a * b + c`."""
        forms = [self.form(it) for it in arguments]
        known = [it for it in forms if it is not None]
        if len(known) != len(forms) or len(known) not in (2, 3):
            return None
        product = multiply(known[0], known[1])
        found = add(product, known[2]) if product is not None and len(known) == 3 else product
        return None if found is None else _as_index(found)

    def lane(self, expression: ir.Expression, lane: int) -> Form | None:
        """Return the form of one lane of an integer expression, which a scalar is to all lanes."""
        if isinstance(expression.type, VectorType):
            return self._lane(expression, lane, 0)
        return self.form(expression)

    def _lane(self, vector: ir.Expression, lane: int, depth: int) -> Form | None:
        """Return the form of one lane of integers: of what a vector is made of, lane by lane."""
        if depth > _DEEPEST_LANE:
            return None
        match vector:
            case ir.Read(variable=variable):
                return self._lane_of(variable, lane, depth)
            case ir.Convert(operand=operand, type=VectorType(element=element)) if element.is_integer:
                inner = operand.type
                return (
                    self._lane(operand, lane, depth + 1)
                    if isinstance(inner, VectorType)
                    else self.form(operand)
                )
            case ir.VectorLiteral(parts=parts):
                for part in parts:
                    lanes = part.type.lanes if isinstance(part.type, VectorType) else 1
                    if lane < lanes or len(parts) == 1:
                        return self._lane(part, lane, depth + 1) if lanes > 1 else self.form(part)
                    lane -= lanes
                return None
            case ir.Swizzle():
                of_operand = vector.lanes[lane : lane + 1]
                return self._lane(vector.operand, of_operand[0], depth + 1) if of_operand else None
            case ir.Binary(op=op, left=left, right=right):
                return _combined(op, self._lane(left, lane, depth + 1), self._lane(right, lane, depth + 1))
            case _:
                return None if isinstance(vector.type, VectorType) else self.form(vector)

    def _lane_of(self, variable: Variable, lane: int, depth: int) -> Form | None:
        values = self.assigned.get(variable) or []
        if len(values) != 1 or variable in self.stepped or variable in self.loaded:
            return None
        if (variable, lane) not in self._lanes:
            self._lanes[variable, lane] = None  # As with scalars.
            self._lanes[variable, lane] = self._lane(values[0], lane, depth + 1)
        return self._lanes[variable, lane]

    def _work_item(self, item: ir.WorkItem) -> Form | None:
        match item.dimension:
            case None:
                dimension = 0
            case ir.Constant(value=int(value)) if 0 <= value < 3:
                dimension = value
            case _:
                return None
        if item.query is WorkItemQuery.GLOBAL_LINEAR_ID:
            return atom(Id(WorkItemQuery.GLOBAL_ID, 0))
        return atom(Id(item.query, dimension))

    def _variable(self, variable: Variable) -> Form | None:
        if variable.kind is VariableKind.PARAMETER:
            written = variable in self.assigned or variable in self.loaded
            return atom(variable) if isinstance(variable.type, ScalarType) and not written else None
        if variable in self.stepped:
            return atom(variable)
        if variable in self.loaded or len(self.assigned.get(variable, ())) != 1:
            return None
        if variable not in self._cache:
            self._cache[variable] = None  # A value that leads back to itself is none.
            self._cache[variable] = self.form(self.assigned[variable][0])
        return self._cache[variable]

    def _binary(self, expression: ir.Binary) -> Form | None:
        return _combined(expression.op, self.form(expression.left), self.form(expression.right))


def _combined(op: BinaryOp, left: Form | None, right: Form | None) -> Form | None:
    if left is None or right is None:
        return None
    match op:
        case BinaryOp.ADD:
            found: Form | None = add(left, right)
        case BinaryOp.SUB:
            found = add(left, right, -1)
        case BinaryOp.MUL:
            found = multiply(left, right)
        case BinaryOp.SHL if not right.without_constant() and 0 <= right.constant < 32:
            found = multiply(left, constant(1 << right.constant))
        case _:
            return None
    return None if found is None else _as_index(found)


def _is_integer(variable: Variable) -> bool:
    return isinstance(variable.type, ScalarType) and variable.type.is_integer


def is_scalar_parameter(value: object) -> bool:
    """Tell whether something is a kernel's parameter that is one number."""
    return (
        isinstance(value, Variable)
        and value.kind is VariableKind.PARAMETER
        and isinstance(value.type, ScalarType)
    )


def _reads(expression: ir.Expression, variable: Variable) -> bool:
    if isinstance(expression, ir.Read):
        return expression.variable is variable
    return any(_reads(it, variable) for it in ir.operands(expression))
