"""What a kernel's text says about the launches it is written for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.byte_pitches import BytePitches, find_byte_pitches, starts_at_id
from clmap_lsp.launch.fixed_arrays import most_of
from clmap_lsp.launch.forms import IDS, Atom, Form, Forms, Id, Monomial, add, is_scalar_parameter
from clmap_lsp.launch.halved import logarithms
from clmap_lsp.source import ir
from clmap_lsp.source.ir import CompareOp, Variable, VariableKind, WorkItemQuery
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.types import ArrayType, PointerType, ScalarType, VectorType, points_to_local

GLOBAL_ID = WorkItemQuery.GLOBAL_ID
LOCAL_ID = WorkItemQuery.LOCAL_ID
GROUP_ID = WorkItemQuery.GROUP_ID
TURNS = 4
"""Elements that each work-item is taken to have where a loop steps by all of them."""


@dataclass(slots=True)
class Clues:
    """Facts found in one kernel. Dimensions are 0 to 2."""

    dimensions: int = 1
    """Dimensions whose ids are used."""
    local_sizes: dict[int, int] = field(default_factory=dict)
    """Work-group sizes that local arrays and `get_group_id(d) * c` imply."""
    walked: set[int] = field(default_factory=set)
    """Dimensions of which a loop that a group walks together tells the size."""
    bounds: dict[int, Form] = field(default_factory=dict)
    """What guards compare the global id of a dimension with: the number of work-items meant."""
    totals: dict[Variable, Form] = field(default_factory=dict)
    """Scalar parameters that guards compare with more than a plain id, as in `id*4 + 3 < n`: where the ids'
    part of that ends is the number of elements meant."""
    quotients: dict[Variable, tuple[int, int]] = field(default_factory=dict)
    """Scalar parameters that guards compare with a part of an id, as in `id / 32 < n`: its dimension, and
    how many work-items go with each."""
    along: dict[Variable, int] = field(default_factory=dict)
    """Scalar parameters that guards compare with what ids of one dimension decide in a way that is not
    followed, as where a window starts before or behind a border."""
    pitches: dict[Variable, int] = field(default_factory=dict)
    """Scalar parameters that are the row length of a dimension, as N in `y*N + x` is of x."""
    spread: dict[Variable, int] = field(default_factory=dict)
    """How many elements of such a row each work-item of its dimension has: 2 as w in `2*y*w + 2*x`."""
    factors: set[Variable] = field(default_factory=set)
    """Scalar parameters that multiply something in an index."""
    steps: set[Variable] = field(default_factory=set)
    """Scalar parameters that are the distance between neighbouring work-items, as `inc` in `x[gid*inc]` is,
    and nowhere the length of a row that something walks."""
    masks: set[Variable] = field(default_factory=set)
    """Scalar parameters that indices or hashes are cut down with, as in `h & mask`: one less than a size."""
    shifts: set[Variable] = field(default_factory=set)
    """Scalar parameters that something is shifted by: logarithms of sizes, numbers of bits."""
    logarithms: Mapping[Variable, bool] = field(default_factory=dict)
    """Scalar parameters that count how often a distance is halved or doubled, each with whether a work-group
    waits in between."""
    windows: set[Variable] = field(default_factory=set)
    """Scalar parameters that a window of two dimensions moves by: strides of convolutions, sizes of bins."""
    radii: set[Variable] = field(default_factory=set)
    """Scalar parameters that a loop goes to on both sides of something: `for (j = -r; j <= r; j++)`."""
    rows: set[Variable] = field(default_factory=set)
    """Scalar parameters that multiply an id beside something that walks by single elements."""
    limits: set[Variable] = field(default_factory=set)
    """Scalar parameters that bound a loop."""
    strided: set[Variable] = field(default_factory=set)
    """Scalar parameters that bound a loop which all work-items share: it starts at an id."""
    shared_out: set[Variable] = field(default_factory=set)
    """Scalar parameters of which each work-item gets a part, as in `n / get_global_size(0)`."""
    divisors: set[Variable] = field(default_factory=set)
    """Scalar parameters of which something is divided by a part, as in `i % (n / 2)`: 1 has none."""
    gathered: set[Variable] = field(default_factory=set)
    """Buffers whose values are used as indices."""
    trip_data: set[Variable] = field(default_factory=set)
    """Buffers whose values bound loops."""
    held: set[Variable] = field(default_factory=set)
    """Buffers of one number that indices or loops depend on: sizes that a host hands over by pointer."""
    held_turns: set[Variable] = field(default_factory=set)
    """Those of them that say how often a loop turns, and not where something is written."""
    chained: set[Variable] = field(default_factory=set)
    """Buffers that hold where to go on in themselves, until a constant says that the list ends."""
    cubed: set[Variable] = field(default_factory=set)
    """Scalar parameters that an index multiplies with themselves: edges of volumes."""
    loaded: set[Variable] = field(default_factory=set)
    """Buffers that are read."""
    bytes: BytePitches = field(default_factory=BytePitches)
    """Scalar parameters that count bytes, not elements."""
    most: dict[Variable, int] = field(default_factory=dict)
    """Of scalar parameters that bound walks through arrays of a fixed length, what these have room for."""
    is_task: bool = False
    """Nothing tells work-items apart: programs launch one."""
    of_one_group: frozenset[int] = frozenset()
    """Dimensions in which nothing tells work-groups apart: several would do the same work."""

    @property
    def ends(self) -> frozenset[Atom]:
        """What ids go up to: what guards compare them with, and the lengths of rows."""
        return frozenset(self.pitches).union(*(form.atoms() for form in self.bounds.values()))


@per_kernel
def find_clues(kernel: ir.Kernel) -> Clues:
    """Walk a kernel and collect its clues; remembered, so nobody may change them."""
    forms = Forms.of(kernel)
    clues = Clues()
    guarded = {id(it) for it in _behind_local_guards(kernel.body, forms)}
    loops = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop)]
    ends = {id(part) for it in loops if it.condition is not None for part in ir.nodes(it.condition)}
    work_items: list[ir.WorkItem] = []
    edges: list[ir.Builtin | ir.Binary] = []
    for expression in ir.all_expressions(kernel.body):
        checkpoint()
        match expression:
            case ir.Read() | ir.Constant():
                pass
            case ir.WorkItem(query=query, dimension=along):
                work_items.append(expression)
                if query in IDS and isinstance(along, ir.Constant) and isinstance(along.value, int):
                    clues.dimensions = max(clues.dimensions, min(along.value, 2) + 1)
            case ir.Builtin(name=name):
                if name in _EDGES:
                    edges.append(expression)
            case ir.Compare():
                _quotient(clues, forms, expression)
                _guard(clues, forms, expression, ends_loop=id(expression) in ends)
            case ir.PointerOffset():
                _index(clues, forms, expression, is_guarded=id(expression) in guarded)
            case ir.Binary():
                _group_base(clues, forms, expression)
                _counted_groups(clues, forms, expression)
                clues.masks.update(_masks(expression))
                clues.shared_out |= _shared_out(forms, expression)
                clues.divisors |= _divided_by_part(forms, expression)
                edges += [expression] if expression.op is ir.BinaryOp.REM else []
                if expression.op in (ir.BinaryOp.SHL, ir.BinaryOp.SHR):
                    clues.shifts |= forms.parameters(expression.right)
            case _:
                pass
    _edges(clues, forms, edges)  # After all guards: theirs hold where both are.
    for statement in ir.walk(kernel.body):
        if isinstance(statement, ir.Store) and points_to_local(statement.pointer.type):
            _rows_of_a_group(clues, forms, statement.pointer)
    _taken_together(clues, forms)
    _limits(clues, forms, (it.condition for it in loops if it.condition is not None))
    _find_data_roles(clues, kernel)
    clues.steps -= clues.rows | clues.limits
    clues.logarithms = logarithms(kernel, forms)
    clues.bytes = find_byte_pitches(kernel, forms)
    clues.most = most_of(kernel, forms)
    asked = _asked(work_items)
    if asked is not None:
        for dimension in _without_local_ids(kernel, asked):
            clues.local_sizes.setdefault(dimension, 1)
        clues.of_one_group = frozenset(_of_one_group(asked))
        clues.is_task = not asked and not any(isinstance(it, _SHARED) for it in ir.walk(kernel.body))
    return clues


_SHARED = (ir.Atomic, ir.Collective, ir.Barrier, ir.AsyncCopy, ir.OpaqueCall)
"""What kernels of many work-items do that do not ask which one they are."""


def _shared_out(forms: Forms, division: ir.Binary) -> frozenset[Variable]:
    """Return what a quotient shares out among all work-items."""
    if division.op is not ir.BinaryOp.DIV:
        return frozenset()
    divisor = forms.form(division.right)
    queries = {it.query for it in divisor.atoms() if isinstance(it, Id)} if divisor is not None else set()
    return forms.parameters(division.left) if queries == {WorkItemQuery.GLOBAL_SIZE} else frozenset()


def _divided_by_part(forms: Forms, division: ir.Binary) -> frozenset[Variable]:
    """Return the parameters of a divisor that is no sum or product of them."""
    if division.op not in (ir.BinaryOp.DIV, ir.BinaryOp.REM) or forms.form(division.right) is not None:
        return frozenset()
    return forms.parameters(division.right)


def _asked(work_items: Iterable[ir.WorkItem]) -> dict[int, set[WorkItemQuery]] | None:
    """Return what a kernel asks of each dimension; `None` where that is not all it knows of its place."""
    asked: dict[int, set[WorkItemQuery]] = {}
    for it in work_items:
        match it.dimension:
            case ir.Constant(value=int(value)):
                asked.setdefault(value, set()).add(it.query)
            case _:
                return None  # A linear id, or a dimension that is not known, tells them apart.
    return asked


def _of_one_group(asked: Mapping[int, set[WorkItemQuery]]) -> Iterator[int]:
    """Yield the dimensions that only ids inside a group follow, and those beyond 0 that nothing does."""
    if any(not asks.isdisjoint(IDS) for asks in asked.values()):
        for dimension in range(3):
            asks = asked.get(dimension, set())
            if asks <= {LOCAL_ID, WorkItemQuery.LOCAL_SIZE} and (dimension > 0 or LOCAL_ID in asks):
                yield dimension


def _without_local_ids(kernel: ir.Kernel, asked: Mapping[int, set[WorkItemQuery]]) -> Iterator[int]:
    """Yield the dimensions in which a group has one work-item.

    There groups are told apart, but not the work-items of one; or local memory is shared by work-items that
    other dimensions tell apart, and those of this one would meet in it.
    """
    if any(not asks.isdisjoint((LOCAL_ID, GLOBAL_ID)) for asks in asked.values()):
        yield from (it for it, asks in asked.items() if it > 0 and asks == {GROUP_ID})
    if _has_local_memory(kernel) and any(LOCAL_ID in asks for asks in asked.values()):
        yield from (it for it, asks in asked.items() if GLOBAL_ID in asks and LOCAL_ID not in asks)


def _has_local_memory(kernel: ir.Kernel) -> bool:
    return any(it.kind is VariableKind.LOCAL_OBJECT for it in kernel.variables) or any(
        points_to_local(it.type) for it in kernel.parameters
    )


def _behind_local_guards(
    block: ir.Block, forms: Forms, *, inside: bool = False
) -> Iterator[ir.PointerOffset]:
    """Yield the indices that run where `if (local id < n)` says: what they reach bounds no group."""
    for statement in block:
        conditions = (statement.condition,) if isinstance(statement, ir.If | ir.Loop) else ()
        is_guard = any(it is not None and _asks_local_id(it, forms) for it in conditions)
        if inside:
            for expression in ir.expressions(statement):
                yield from (it for it in ir.nodes(expression) if isinstance(it, ir.PointerOffset))
        for inner in ir.blocks(statement):
            yield from _behind_local_guards(inner, forms, inside=inside or is_guard)


def _asks_local_id(condition: ir.Expression, forms: Forms) -> bool:
    atoms = (atom for it in forms.compared(condition) if it is not None for atom in it.atoms())
    return any(isinstance(it, Id) and it.query is LOCAL_ID for it in atoms)


def _guard(clues: Clues, forms: Forms, compare: ir.Compare, *, ends_loop: bool) -> None:
    """Read `x < N`, `x <= N-1`, `x >= N`, `x == N - 1` … with x a plain global id.

    What walks a window around an id is within the same bounds as the id.
    """
    left, right = forms.form(compare.left), forms.form(compare.right)
    if left is None or right is None:
        if not ends_loop:
            _unfollowed(clues, forms, compare)
        return
    if not ends_loop:
        left, right = _centre(left, forms), _centre(right, forms)
    difference = add(left, right, -1)
    _total(clues, difference, compare)
    for sign in (1, -1):
        ids = [it for it, coef in difference.terms.items() if coef == sign and _is_global_id(it)]
        rest = Form({it: -sign * coef for it, coef in difference.terms.items() if it not in ids})
        if len(ids) != 1 or any(isinstance(it, Id) for it in rest.atoms()):
            continue
        dimension = next(it.dimension for it in ids[0] if isinstance(it, Id))
        if not rest.without_constant():
            if rest.constant < 32 or compare.op in (CompareOp.EQ, CompareOp.NE):
                continue
        else:
            rest = Form(rest.without_constant())  # N-1 in a stencil's guard still means N work-items.
        if not any(isinstance(it, Variable) and it in forms.stepped for it in rest.atoms()):
            clues.bounds.setdefault(dimension, rest)


def _unfollowed(clues: Clues, forms: Forms, compare: ir.Compare) -> None:
    """Read `x < N` with an x that ids of one dimension decide, but that is no polynomial of them."""
    if compare.op in (CompareOp.EQ, CompareOp.NE):
        return
    for inside, end in ((compare.left, compare.right), (compare.right, compare.left)):
        form = forms.form(end)
        if form is None or forms.form(inside) is not None or not all(map(is_scalar_parameter, form.atoms())):
            continue
        dimensions = forms.dimensions(inside)
        if len(form.atoms()) == 1 and len(dimensions) == 1:
            (parameter,) = (it for it in form.atoms() if isinstance(it, Variable))
            clues.along.setdefault(parameter, *dimensions)


_EDGES = {"clamp": 2, "min": 1}
"""Built-in functions that keep an index inside, with the place of the last index that there is."""


def _edges(clues: Clues, forms: Forms, found: Iterable[ir.Builtin | ir.Binary]) -> None:
    for it in found:
        if isinstance(it, ir.Binary):
            _period(clues, forms, it)
        else:
            _edge(clues, forms, it)


def _edge(clues: Clues, forms: Forms, inside: ir.Builtin) -> None:
    """Read `clamp(id + k, 0, n - 1)` and `min(id + k, n - 1)`, also by lanes: n is as long as the ids go.

    Only the last index of something, not any end: `min(id, radius)` says nothing about ids.
    """
    value, last = inside.arguments[0], inside.arguments[_EDGES[inside.name]]
    for lane in range(inside.type.lanes if isinstance(inside.type, VectorType) else 1):
        end, form = forms.lane(last, lane), forms.lane(_unraised(value, forms), lane)
        if (
            end is None
            or form is None
            or end.constant != -1
            or not all(map(is_scalar_parameter, end.atoms()))
        ):
            continue
        dimension = _dimension_of(form)
        if dimension is not None and end.atoms():
            clues.bounds.setdefault(dimension, Form(end.without_constant()))


def _period(clues: Clues, forms: Forms, remainder: ir.Binary) -> None:
    """Read `(id + k) % n` and `(id + k + n) % n`, neighbours on a torus: n is as long as the ids go.

    Of an id alone, `id % n` is where it stands in a row of n.
    """
    end, form = forms.form(remainder.right), forms.form(remainder.left)
    if end is None or form is None or end.constant or not all(map(is_scalar_parameter, end.atoms())):
        return
    dimension = _dimension_of(form)
    if dimension is not None and len(form.terms) > 1:
        clues.bounds.setdefault(dimension, end)


def _dimension_of(form: Form) -> int | None:
    """Return the dimension of the global id that a form moves with one by one, if that is its only id."""
    ids = [(mono[0], coef) for mono, coef in form.terms.items() if _is_global_id(mono)]
    others = {it for mono in form.terms for it in mono if isinstance(it, Id)}
    match ids:
        case [(Id(dimension=dimension) as only, 1)] if others == {only}:
            return dimension
        case _:
            return None


def _unraised(value: ir.Expression, forms: Forms) -> ir.Expression:
    """Return v of `max(v, 0)`, which keeps it from going below."""
    inner = ir.unconverted(value)
    if isinstance(inner, ir.Builtin) and inner.name == "max":
        lowest = forms.form(inner.arguments[1])
        return inner.arguments[0] if lowest is not None and not lowest.atoms() else value
    return value


def _centre(form: Form, forms: Forms) -> Form:
    """Return the id that a counter starts near, as in `for (i = x - r; ...)`; else the form itself."""
    match [*form.terms.items()]:
        case [((Variable() as counter,), 1)] if counter in forms.stepped:
            starts = (forms.form(it) for it in forms.assigned.get(counter, ()))
            ids = {
                it: 1
                for start in starts
                if start
                for it, coef in start.terms.items()
                if _is_global_id(it) and coef == 1
            }
            return Form(ids) if len(ids) == 1 else form
    return form


def _quotient(clues: Clues, forms: Forms, compare: ir.Compare) -> None:
    """Read `id / 32 < n`, also where a variable has the quotient: a SIMD group, say, has each row of n."""
    for side, other in ((compare.left, compare.right), (compare.right, compare.left)):
        parameter = forms.origin(ir.unconverted(other))
        value = ir.unconverted(side)
        values = forms.assigned.get(value.variable, ()) if isinstance(value, ir.Read) else (value,)
        quotient = ir.unconverted(values[0]) if len(values) == 1 else None
        if not is_scalar_parameter(parameter) or not isinstance(quotient, ir.Binary):
            continue
        divided, divisor = forms.form(quotient.left), forms.form(quotient.right)
        if quotient.op is not ir.BinaryOp.DIV or divided is None or divisor is None or divided.constant:
            continue
        atoms = divided.atoms()
        only = next(iter(atoms), None)
        if len(atoms) == 1 and isinstance(only, Id) and _is_plain(divided.terms) and not divisor.atoms():
            assert isinstance(parameter, Variable), "a parameter is one"
            clues.quotients.setdefault(parameter, (only.dimension, max(divisor.constant, 1)))


def _total(clues: Clues, difference: Form, compare: ir.Compare) -> None:
    """Read `id*per + k < n`, `group*1024 + 4*local < n` and the like."""
    if compare.op in (CompareOp.EQ, CompareOp.NE):
        return
    ids = {mono: coef for mono, coef in difference.terms.items() if any(map(_tells_groups_apart, mono))}
    for mono, sign in difference.terms.items():
        if len(mono) != 1 or not is_scalar_parameter(mono[0]) or abs(sign) != 1:
            continue
        part = {it: -sign * coef for it, coef in ids.items()}
        if part and all(coef > 0 for coef in part.values()) and not (len(part) == 1 and _is_plain(part)):
            assert isinstance(mono[0], Variable), "a parameter is one"
            clues.totals.setdefault(mono[0], Form(part))


def _tells_groups_apart(atom: Atom) -> bool:
    return isinstance(atom, Id) and atom.query in (GLOBAL_ID, GROUP_ID)


def _is_plain(terms: Mapping[Monomial, int]) -> bool:
    return any(coef == 1 and _is_global_id(mono) for mono, coef in terms.items())


def _is_global_id(mono: Monomial) -> bool:
    return len(mono) == 1 and isinstance(mono[0], Id) and mono[0].query is GLOBAL_ID


def _group_base(clues: Clues, forms: Forms, expression: ir.Binary) -> None:
    form = forms.form(expression)
    if form is not None:
        for mono, coef in form.terms.items():
            match mono:
                case (Id(query=WorkItemQuery.GROUP_ID, dimension=dimension),) if 2 <= coef <= 1024:
                    local = (Id(LOCAL_ID, dimension),)
                    if form.terms.get(local) == 1:
                        _keep_smallest(clues, dimension, coef)
                case _:
                    pass


def _masks(expression: ir.Binary) -> Iterator[Variable]:
    if expression.op is not ir.BinaryOp.AND:
        return
    sides = [ir.unconverted(it) for it in (expression.left, expression.right)]
    if not any(isinstance(it, ir.Constant) for it in sides):
        for it in sides:
            if isinstance(it, ir.Read) and is_scalar_parameter(it.variable):
                yield it.variable


def _keep_smallest(clues: Clues, dimension: int, size: int) -> None:
    clues.local_sizes[dimension] = min(size, clues.local_sizes.get(dimension, size))


def _counted_groups(clues: Clues, forms: Forms, division: ir.Binary) -> None:
    """Read `get_global_size(0) / 64`: the number of groups."""
    if division.op is not ir.BinaryOp.DIV or not isinstance(
        divisor := ir.unconverted(division.right), ir.Constant
    ):
        return
    form = forms.form(division.left)
    if form is None or form.constant or not isinstance(divisor.value, int):
        return
    for dimension in range(3):
        is_all = form.terms == {(Id(WorkItemQuery.GLOBAL_SIZE, dimension),): 1}
        if is_all and 8 <= divisor.value <= 1024:
            _keep_smallest(clues, dimension, divisor.value)


def _rows_of_a_group(clues: Clues, forms: Forms, pointer: ir.Expression) -> None:
    """Read the store `t[row*64 + lid] = …` with a row that a loop counts: each work-item has a column."""
    form = forms.form(pointer.index) if isinstance(pointer, ir.PointerOffset) else None
    if form is None:
        return
    ids = [it for it in form.terms if any(isinstance(atom, Id) for atom in it)]
    rows = [coef for it, coef in form.terms.items() if len(it) == 1 and it[0] in forms.stepped]
    if len(ids) != 1 or len(ids[0]) != 1 or not rows:
        return
    (only,) = ids[0]
    apart = form.terms[ids[0]]
    if isinstance(only, Id) and only.query is LOCAL_ID and apart > 0 and 8 <= min(rows) // apart <= 1024:
        _keep_smallest(clues, only.dimension, min(rows) // apart)


def _taken_together(clues: Clues, forms: Forms) -> None:
    """Read `for (i = lid; i < n; i += 64)`: the 64 work-items of a group take the elements together."""
    for counter in forms.stepped:
        values = forms.assigned.get(counter, ())
        steps = {step for it in values if (step := ir.added(it, counter)) is not None}
        starts = [forms.form(it) for it in values if ir.added(it, counter) is None]
        if len(steps) != 1 or len(starts) != 1 or starts[0] is None or not 2 <= min(steps) <= 1024:
            continue
        match [*starts[0].terms.items()]:
            case [((Id(query=WorkItemQuery.LOCAL_ID, dimension=dimension),), 1)]:
                _keep_smallest(clues, dimension, min(steps))
                clues.walked.add(dimension)
            case _:
                pass


def _index(clues: Clues, forms: Forms, offset: ir.PointerOffset, *, is_guarded: bool) -> None:
    form = forms.form(offset.index)
    if form is None:
        return
    length = _local_array_length(offset.pointer)
    if length is not None:
        if not is_guarded:
            _local_index(clues, form, length)
        return
    walking = [
        it[0] for it in form.terms if len(it) == 1 and (isinstance(it[0], Id) or it[0] in forms.stepped)
    ]
    parameters = [(mono, it) for mono in form.terms for it in mono if is_scalar_parameter(it)]
    for mono, parameter in parameters:
        assert isinstance(parameter, Variable)
        clues.factors.add(parameter)
        if _steps_a_square(form, forms, mono, parameter):
            clues.windows.add(parameter)
        if _steps_a_window(form, forms, mono, parameter):
            clues.steps.add(parameter)
            continue
        if mono.count(parameter) > 1:
            clues.cubed.add(parameter)
        others = [it for it in mono if it is not parameter]
        if any(it not in others for it in walking):
            clues.rows.add(parameter)
        elif len(others) == 1 and _tells_neighbours_apart(others[0], forms):
            clues.steps.add(parameter)
        else:
            clues.rows.add(parameter)
        plain = [
            it for it in form.terms if len(it) == 1 and isinstance(it[0], Id) and it[0].query is GLOBAL_ID
        ]
        partner = next((it[0] for it in plain if it[0] not in mono), None)
        if isinstance(partner, Id) and len(mono) > 1:
            clues.pitches.setdefault(parameter, partner.dimension)
            apart = abs(form.terms[(partner,)])
            clues.spread[parameter] = max(apart, clues.spread.get(parameter, 1))


def _tells_neighbours_apart(factor: Atom, forms: Forms) -> bool:
    """Tell whether work-items side by side differ in a factor: an id, or what a loop counts from one on."""
    if isinstance(factor, Id):
        return factor.dimension == 0
    return factor in forms.stepped and starts_at_id(forms, factor)


def _steps_a_window(form: Form, forms: Forms, mono: Monomial, parameter: Variable) -> bool:
    """Tell whether a parameter is how far a window moves from result to result: `id*stride - pad + k`.

    What starts before its row, at a halo, is no row; each of the three may be multiplied by the same pitch.
    """
    rest = list(mono)
    rest.remove(parameter)
    ids = [it for it in rest if isinstance(it, Id)]
    if len(ids) != 1:
        return False
    rest.remove(ids[0])
    beside = {
        tuple(other): coef for it, coef in form.terms.items() if (other := _without(it, rest)) is not None
    }
    begins_before = any(
        coef < 0 and (not other or (len(other) == 1 and is_scalar_parameter(other[0])))
        for other, coef in beside.items()
    )
    return begins_before and any(
        coef > 0 and len(other) == 1 and other[0] in forms.stepped for other, coef in beside.items()
    )


def _steps_a_square(form: Form, forms: Forms, mono: Monomial, parameter: Variable) -> bool:
    """Tell whether a parameter is how far a window of rows moves: `(y*step + j)*pitch + x*step + i`."""
    if len(mono) != 2 or not any(isinstance(it, Id) and it.dimension == 0 for it in mono):
        return False
    if not any(len(it) == 1 and it[0] in forms.stepped for it in form.terms):
        return False
    for other in form.terms:
        rest = _without(other, (parameter,))
        ids = [it for it in rest or () if isinstance(it, Id) and it.dimension > 0]
        pitch = _without(rest or [], ids)
        if len(ids) == 1 and pitch:
            inner = [
                it
                for it in form.terms
                if (left := _without(it, pitch)) is not None and len(left) == 1 and left[0] in forms.stepped
            ]
            if inner:
                return True
    return False


def _without(mono: Sequence[Atom], factors: Iterable[Atom]) -> list[Atom] | None:
    """Return what is left of a product without some of its factors; `None` if it lacks one."""
    left = list(mono)
    for it in factors:
        if it not in left:
            return None
        left.remove(it)
    return left


def _local_array_length(pointer: ir.Expression) -> int | None:
    """Return the length of the dimension that an index on `pointer` walks, if it is a local array."""
    inner: ir.Expression = pointer
    while isinstance(inner, ir.PointerOffset | ir.PointerCast):
        inner = inner.pointer if isinstance(inner, ir.PointerOffset) else inner.operand
    if not isinstance(inner, ir.ObjectAddress) or inner.variable.kind is not VariableKind.LOCAL_OBJECT:
        return None
    depth = 0
    while isinstance(pointer, ir.PointerOffset | ir.PointerCast):
        depth += isinstance(pointer, ir.PointerOffset)
        pointer = pointer.pointer if isinstance(pointer, ir.PointerOffset) else pointer.operand
    array = inner.variable.type
    for _ in range(depth):
        if not isinstance(array, ArrayType):
            return None
        array = array.element
    return array.length if isinstance(array, ArrayType) else None


def _local_index(clues: Clues, form: Form, length: int) -> None:
    """Read `t[ly][lx]` and `t[ly*16 + lx]`: the range of a local id is at most what fits."""
    ids = {
        mono[0].dimension: coef
        for mono, coef in form.terms.items()
        if len(mono) == 1 and isinstance(mono[0], Id) and mono[0].query is LOCAL_ID and coef > 0
    }
    remaining = length
    for dimension, coef in sorted(ids.items(), key=lambda it: -it[1]):
        if remaining // coef >= 2:
            _keep_smallest(clues, dimension, remaining // coef)
            remaining = coef


def _limits(clues: Clues, forms: Forms, conditions: Iterable[ir.Expression]) -> None:
    """Note what bounds loops; what counts in many of them is looked at once."""
    shared: dict[Variable, bool] = {}
    starts: dict[Variable, frozenset[Variable]] = {}
    for condition in conditions:
        for expression in _conjuncts(condition):
            if not isinstance(expression, ir.Compare):
                continue
            sides = expression.left, expression.right
            read = [forms.origin(it) for it in sides]
            counters = [it for it in read if it is not None and it in forms.stepped]
            for it in counters:
                if it not in shared:
                    shared[it] = _is_shared(it, forms)
            for counter, bound in zip(read, reversed(sides), strict=True):
                if counter is not None and counter in forms.stepped:
                    clues.radii |= _on_both_sides(forms.assigned.get(counter, ()), bound, forms)
            for side, bound in (sides, sides[::-1]):
                clues.radii |= _on_both_sides(_lanes_set(side, forms), bound, forms)
            for side, counter in zip(sides, read, strict=True):
                parameters = forms.parameters(side)
                if any(shared[it] for it in counters):
                    clues.strided |= parameters
                clues.limits |= parameters
                if counter is not None and counter in forms.stepped:
                    if counter not in starts:
                        values = forms.assigned.get(counter, ())
                        starts[counter] = frozenset().union(*map(forms.parameters, values))
                    clues.limits |= starts[counter]


def _lanes_set(side: ir.Expression, forms: Forms) -> Sequence[ir.Expression]:
    """Return what a lane of a vector is set to by itself: it may count, as in `for (p.x = -r; p.x <= r;`."""
    match ir.unconverted(side):
        case ir.Swizzle(operand=ir.Read(variable=variable), lanes=(lane,)):
            values = [ir.unconverted(it) for it in forms.assigned.get(variable, ())]
            return [it.value for it in values if isinstance(it, ir.InsertLanes) and it.lanes == (lane,)]
        case _:
            return ()


def _on_both_sides(values: Iterable[ir.Expression], bound: ir.Expression, forms: Forms) -> set[Variable]:
    """Return the parameters that a counter's start (one of its values) and end hold with opposite signs."""
    ends = forms.form(bound)
    starts = [it for value in values if (it := forms.form(value)) is not None]
    return {
        mono[0]
        for mono, coef in (ends.terms.items() if ends is not None else ())
        if len(mono) == 1
        and isinstance(mono[0], Variable)
        and is_scalar_parameter(mono[0])
        and any(coef * it.terms.get(mono, 0) < 0 for it in starts)
    }


def _is_shared(counter: Variable, forms: Forms) -> bool:
    """Tell whether a loop's counter starts at an id, as in `for (i = gid; i < n; i += global_size)`."""
    values = list(forms.assigned.get(counter, ()))
    if any(ir.step_of(it, counter) is not None for it in values):
        return False  # Each work-item walks a part of its own.
    named = {
        it.variable
        for value in values
        for it in ir.nodes(value)
        if isinstance(it, ir.Read) and it.variable not in forms.stepped
    }
    values += [known[0] for it in named if len(known := forms.assigned.get(it, [])) == 1]
    found = {it.query for value in values for it in ir.nodes(value) if isinstance(it, ir.WorkItem)}
    return not found.isdisjoint({ir.WorkItemQuery.GLOBAL_ID, ir.WorkItemQuery.GLOBAL_SIZE})


def _conjuncts(condition: ir.Expression) -> Iterator[ir.Expression]:
    match condition:
        case ir.Logical():
            yield from _conjuncts(condition.left)
            yield from _conjuncts(condition.right)
        case ir.Convert(operand=operand):
            yield from _conjuncts(operand)
        case _:
            yield condition


def _find_data_roles(clues: Clues, kernel: ir.Kernel) -> None:
    """Follow loaded values into indices and loop conditions, through assignments."""
    from_buffer: dict[Variable, set[Variable]] = {}
    flows: list[tuple[Variable, set[Variable], tuple[Variable, ...]]] = []
    for statement in ir.walk(kernel.body):
        checkpoint()
        match statement:
            case ir.Load(pointer=pointer):
                buffers = _buffers(pointer)
                clues.loaded |= buffers
                flows.append((statement.variable, buffers, ()))
            case ir.CopyObject(source=pointer) | ir.AsyncCopy(source=pointer) | ir.Atomic(pointer=pointer):
                clues.loaded |= _buffers(pointer)
            case ir.Assign():
                read: set[Variable] = set()
                ir.variables_read(statement.value, read)
                flows.append((statement.variable, set(), tuple(read)))
            case _:
                pass
    for _ in range(2):  # A second round carries values around loops.
        for variable, buffers, through in flows:
            checkpoint()
            found = buffers.union(*[from_buffer[it] for it in through if it in from_buffer])
            if found:
                from_buffer.setdefault(variable, set()).update(found)
    guarding: set[Variable] = set()
    stored: set[Variable] = set()
    for statement in ir.walk(kernel.body):
        checkpoint()
        for expression in ir.expressions(statement):
            for pointer in _pointer_offsets(expression):
                if type(pointer.index) is ir.Constant:
                    continue
                sources = _sources(pointer.index, from_buffer)
                clues.gathered |= sources
                stored |= sources if isinstance(statement, ir.Store) else set()
        if isinstance(statement, ir.If):
            guarding |= _sources(statement.condition, from_buffer)
        if isinstance(statement, ir.Loop) and statement.condition is not None:
            clues.trip_data |= _sources(statement.condition, from_buffer)
            clues.chained |= _chained(statement, from_buffer)
    clues.gathered = {it for it in clues.gathered if _is_integer_buffer(it)}
    clues.trip_data = {it for it in clues.trip_data if _is_integer_buffer(it)}
    numbers = {it for it in guarding if _is_integer_buffer(it)} | clues.gathered | clues.trip_data
    clues.held = _of_one_number(kernel, numbers)
    clues.held_turns = (clues.held & clues.trip_data) - stored


def _of_one_number(kernel: ir.Kernel, among: set[Variable]) -> set[Variable]:
    """Return the buffers of which a kernel reads the first element and touches nothing else."""
    kept = {it for it in kernel.parameters if isinstance(it.type, PointerType)} & among
    for statement in ir.walk(kernel.body):
        if not kept:
            break
        first = ir.variable_of(_first_of(statement.pointer)) if isinstance(statement, ir.Load) else None
        for expression in ir.expressions(statement):
            named: set[Variable] = set()
            ir.variables_read(expression, named)
            kept -= named - {first}
            if first in kept and _times_read(expression, first) > 1:
                kept.discard(first)
    return kept


def _times_read(expression: ir.Expression, variable: Variable | None) -> int:
    return sum(isinstance(it, ir.Read) and it.variable is variable for it in ir.nodes(expression))


def _first_of(pointer: ir.Expression) -> ir.Expression:
    """Return what `p + 0` is without the offset."""
    bare = ir.unconverted(pointer)
    while isinstance(bare, ir.PointerOffset):
        index = ir.unconverted(bare.index)
        if not isinstance(index, ir.Constant) or index.value != 0:
            break
        bare = ir.unconverted(bare.pointer)
    return bare


def _chained(loop: ir.Loop, from_buffer: dict[Variable, set[Variable]]) -> set[Variable]:
    """Return the lists that a loop follows, as in `while (e != -1) e = next[e]`."""
    ends: set[Variable] = set()
    for condition in () if loop.condition is None else _conjuncts(loop.condition):
        match condition:
            case ir.Compare(op=CompareOp.NE | CompareOp.GE | CompareOp.GT, right=right):
                if isinstance(ir.unconverted(right), ir.Constant | ir.Unary):
                    ends |= _sources(condition.left, from_buffer)
            case ir.Read():
                ends |= _sources(condition, from_buffer)
    loads = [it.pointer for it in ir.walk((loop,)) if isinstance(it, ir.Load)]
    return {
        buffer
        for pointer in loads
        for buffer in _buffers(pointer) & ends
        if any(buffer in _sources(it.index, from_buffer) for it in _pointer_offsets(pointer))
    }


def _is_integer_buffer(variable: Variable) -> bool:
    pointee = variable.type.pointee if isinstance(variable.type, PointerType) else None
    return isinstance(pointee, ScalarType) and pointee.is_integer


def _pointer_offsets(expression: ir.Expression) -> Iterator[ir.PointerOffset]:
    return (it for it in ir.nodes(expression) if isinstance(it, ir.PointerOffset))


def _sources(expression: ir.Expression, from_buffer: dict[Variable, set[Variable]]) -> set[Variable]:
    read: set[Variable] = set()
    ir.variables_read(expression, read)
    found: set[Variable] = set()
    for variable in read:
        if sources := from_buffer.get(variable):
            found |= sources
    return found


def _buffers(pointer: ir.Expression) -> set[Variable]:
    read: set[Variable] = set()
    ir.variables_read(pointer, read)
    return {it for it in read if it.kind is VariableKind.PARAMETER}
