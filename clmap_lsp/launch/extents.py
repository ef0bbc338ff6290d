"""How much of every buffer a launch touches, by intervals: what an inferred buffer's size rests on.

Every integer is an interval over all work-items; guards narrow it. The result bounds what a correct kernel
touches from above (correlations between values are lost), and is `None` where an index depends on data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.members import Members, find_members
from clmap_lsp.launch.work_items import ranges
from clmap_lsp.source import ir
from clmap_lsp.source.control_flow import Forward, has_labels
from clmap_lsp.source.ir import BinaryOp, CompareOp, LogicalOp, UnaryOp, Variable, VariableKind, WorkItemQuery
from clmap_lsp.source.slicing import reads, slice_of
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, Type

Interval = tuple[int, int]
_ZERO_OUTSIDE = frozenset(
    {WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID, WorkItemQuery.GROUP_ID, WorkItemQuery.GLOBAL_OFFSET}
)
_MAX_TRIPS = 1 << 24
_MAX_ROUNDS = 3
"""Walks of a loop until no turn carries a value out of what is known at its head."""
MAX_PROBED, _LEAST_PROBED, _FOR_A_STATEMENT = 8_000, 3_000, 40
"""Statements walked to see what a turn does, by those of the kernel: each loop inside a loop doubles them."""


@dataclass(frozen=True, slots=True)
class Reach:
    """A pointer into `root`: the byte offsets it may have."""

    root: Variable
    offset: Interval


Value = Interval | Reach | None
_Env = dict[Variable, Value]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The launch as far as it is known."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    scalars: Mapping[Variable, int]
    global_offset: tuple[int, ...] = ()
    loaded: Mapping[Variable, Interval] = field(default_factory=dict)
    """For buffers whose contents are assumed: the range of their values."""


@dataclass(slots=True)
class Extents:
    """Bytes touched from the start of each buffer; buffers with an index that is not known in `unknown`."""

    end: dict[Variable, int] = field(default_factory=dict)
    unknown: set[Variable] = field(default_factory=set)
    probed: int = 0
    """Statements that were walked beforehand."""


def find_extents(kernel: ir.Kernel, sizes: Sizes, most_probed: int = MAX_PROBED) -> Extents:
    """Return what a launch of `kernel` touches, buffer by buffer.

    Loops are walked beforehand to see what a turn does, at most `most_probed` statements in all, and fewer
    in a short kernel; what the others write is not known.
    """
    walker = _Walker(sizes, members=find_members(kernel), followed=slice_of(kernel).variables)
    of_text = _FOR_A_STATEMENT * sum(1 for _ in ir.walk(kernel.body))
    walker.most_probed = min(most_probed, max(_LEAST_PROBED, of_text))
    env: dict[Variable, Value] = {}
    for parameter in kernel.parameters:
        if isinstance(parameter.type, PointerType):
            env[parameter] = Reach(parameter, (0, 0))
        elif parameter in sizes.scalars:
            env[parameter] = (sizes.scalars[parameter],) * 2
    walker.block(kernel.body, env)
    walker.extents.probed = walker.probed[0]
    if has_labels(kernel.body):  # What jumps lead to was not followed with what holds there.
        of = slice_of(kernel)
        touched = (touch for it in ir.walk(kernel.body) for touch in ir.touches(it))
        walker.extents.unknown.update(root for touch in touched for root in of.roots(touch.pointer))
    return walker.extents


def _union(left: Value, right: Value) -> Value:
    match left, right:
        case (int(), int()), (int(), int()):
            return min(left[0], right[0]), max(left[1], right[1])
        case Reach(), Reach() if left.root is right.root:
            low, high = left.offset, right.offset
            return Reach(left.root, (min(low[0], high[0]), max(low[1], high[1])))
        case _:
            return None


class _Walker(Forward[_Env]):
    def __init__(
        self,
        sizes: Sizes,
        outer: _Walker | None = None,
        members: Members | None = None,
        followed: frozenset[Variable] = frozenset(),
    ) -> None:
        super().__init__()
        self.sizes = sizes
        self.followed: frozenset[Variable] = followed if outer is None else outer.followed
        """What addresses and branches depend on; all else is data."""
        self.members: Members = members or (outer.members if outer is not None else Members())
        self.ranges = ranges(sizes.global_size, sizes.local_size, sizes.global_offset)
        self.extents = Extents()
        self.is_probe = outer is not None
        self.probed: list[int] = [0] if outer is None else outer.probed
        """How many statements all probes have walked, in a list that they share."""
        self.most_probed: int = MAX_PROBED if outer is None else outer.most_probed
        self.concerned: dict[int, tuple[ir.Statement, dict[Variable, None]]] = (
            {} if outer is None else outer.concerned
        )
        """By the id of a statement, see `_concerned`."""
        self.written: dict[int, tuple[ir.Loop, frozenset[Variable]]] = {} if outer is None else outer.written
        """By the id of a loop, what is assigned in it."""

    # ---------------------------------------------------------------------------------------- statements

    def block(self, block: ir.Block, state: _Env | None) -> _Env | None:
        if self.is_probe:
            self.probed[0] += len(block)
        return super().block(block, state)

    def copy(self, state: _Env) -> _Env:
        return dict(state)

    def simple(self, statement: ir.Statement, state: _Env) -> _Env:
        checkpoint()
        match statement:
            case ir.Assign(variable=variable, value=value):
                if variable in self.followed:
                    state[variable] = self.value(value, state)
            case ir.Load(variable=variable, pointer=pointer, size=size):
                reach = None if _is_private(pointer) else self.touch(pointer, size, state)
                assumed = self.sizes.loaded.get(reach.root) if reach else None
                state[variable] = _held(assumed, variable.type)
                if (known := self._number(self.members.loads.get(variable, {}).get(0))) is not None:
                    state[variable] = known
            case ir.Store(pointer=pointer, size=size):
                if not _is_private(pointer):
                    self.touch(pointer, size, state)
            case ir.AsyncCopy():
                self._async_copy(statement, state)
            case _:
                for touch in ir.touches(statement):
                    self.touch(touch.pointer, touch.size, state)
                for variable in ir.written(statement):
                    state[variable] = None
        return state

    def test(self, condition: ir.Expression, wanted: bool, state: _Env) -> _Env | None:
        return state if self.narrow(condition, wanted, state) else None

    def join(self, states: Sequence[_Env], after: ir.Statement) -> _Env:
        """Unite what several ways through a statement leave; all else is the same in them."""
        env = states[0]
        for other in states[1:]:
            concerned = self._concerned(after)
            # Of a switch of thousands of cases, each knows a few variables of its own.
            few, many = (other, concerned) if len(other) < len(concerned) else (concerned, other)
            self._unite(env, other, [it for it in few if it in many])
        return env

    def entered(self, state: _Env, falling: _Env | None, it: ir.Switch, before: ir.Block) -> _Env:
        """Unite what falls into a case with what held before the switch: what the case before it changed.

        All of it at each case would take the square of their number.
        """
        if falling is None:
            return self.copy(state)
        changed = (it for statement in before for it in self._concerned(statement))
        self._unite(falling, state, [it for it in changed if it in state])
        return falling

    def _unite(self, env: _Env, other: _Env, variables: Iterable[Variable]) -> None:
        for variable in variables:
            mine, theirs = env.get(variable), other[variable]
            if mine is not theirs or variable not in env:
                env[variable] = _union(mine, theirs) if variable in env else theirs

    def touch(self, pointer: ir.Expression, size: int, env: dict[Variable, Value]) -> Reach | None:
        reach = self.value(pointer, env)
        if isinstance(reach, Reach):
            self.extents.end[reach.root] = max(self.extents.end.get(reach.root, 0), reach.offset[1] + size)
            return reach
        root = _root(pointer, env)
        if root is not None:
            self.extents.unknown.add(root)
            return Reach(root, (0, 0))
        return None

    def _async_copy(self, copy: ir.AsyncCopy, env: dict[Variable, Value]) -> None:
        count = self.value(copy.count, env)
        stride = self.value(copy.stride, env) if copy.stride is not None else (1, 1)
        last = count[1] if isinstance(count, tuple) else 1
        step = stride[1] if isinstance(stride, tuple) else 1
        for pointer in (copy.source, copy.destination):
            self.touch(pointer, copy.element.size * max(last * step, 1), env)

    def _concerned(self, statement: ir.Statement) -> dict[Variable, None]:
        """Return the variables of which a statement may tell more or less: written or tested in it."""
        known = self.concerned.get(id(statement))
        if known is None:
            found: dict[Variable, None] = {}
            for inner in ir.walk((statement,)):
                found.update(dict.fromkeys(ir.written(inner)))
                if isinstance(inner, (ir.If, ir.Loop)):
                    tested: set[Variable] = set()
                    for condition in ir.expressions(inner):
                        reads(condition, tested)
                    found.update(dict.fromkeys(tested))
            known = self.concerned[id(statement)] = statement, found
        return known[1]

    def loop(self, loop: ir.Loop, state: _Env) -> _Env | None:
        """Guess how far one turn carries every value, widen by the number of turns, walk once more."""
        concerned = self._concerned(loop)
        if self.probed[0] > self.most_probed:
            written = self._written(loop)
            state.update(dict.fromkeys((it for it in concerned if it in written), None))
            return self._walked(loop, state)[1]
        start, probe = dict(state), _Walker(self.sizes, self)
        tested, first, trips = probe.first_turn(loop, state)
        if first is None:
            return tested
        guess = 1 if trips is None else trips
        head = _widened(concerned, start, first, guess - 1)
        grows: list[Variable] = []
        if trips is None:
            head, grows = probe.bounded(loop, start, first, head)
        for _ in range(_MAX_ROUNDS):
            end, after = self._walked(loop, dict(head))
            escaped = [] if end is None else _escaped(concerned, head, end, start, first)
            if not escaped or end is None:
                break
            head.update({it: _union(head.get(it), end[it]) for it in escaped})
        else:
            grows += escaped
        if not grows:
            return after
        # What is left of the first turns was noted; how much further the others go is unknown.
        head.update(dict.fromkeys(grows, None))
        return self._walked(loop, head)[1]

    def first_turn(self, loop: ir.Loop, env: _Env) -> tuple[_Env | None, _Env | None, int | None]:
        """Walk the first turn; return what holds after the test and after the turn, and how many there are.

        There is no turn where the second is `None`; the number is `None` where nothing tells it.
        """
        tested = self.block(loop.test, env)
        if tested is None:
            return None, None, None
        inside: _Env | None = dict(tested)
        if loop.condition is not None and loop.tests_first:
            inside = self.test(loop.condition, True, dict(tested))
            if inside is None:
                return tested, None, None
        end, breaks = self.turn(loop, inside)
        if end is None:  # Every turn is left: by `break`, or for good.
            end = self.joined(breaks, loop) or dict(tested)
            return tested, end, 1
        again = self.block(loop.test, dict(end))
        return tested, end, None if again is None else self._trips(loop, tested, again)

    def bounded(self, loop: ir.Loop, start: _Env, first: _Env, head: _Env) -> tuple[_Env, list[Variable]]:
        """Return what holds at the head of a loop whose condition does not tell how often it turns.

        Where values that grow from turn to turn are kept inside of some bounds (`if (i > n) break;`), turns
        from values without bounds end inside them. The others may grow as often as it takes to come to what a
        break waits for (`if (++i == n) break;`). Also returns what nothing bounds: of that, `head` has what
        one turn does.
        """
        concerned = self._concerned(loop)
        grown = _widened(concerned, start, first, _MAX_TRIPS)
        end, _ = self._walked(loop, dict(grown))
        if end is None:
            return head, []
        grows = [it for it in concerned if it in start and start[it] != first.get(it)]
        inside = {
            it: _union(start[it], end[it])
            for it in concerned
            if it in start and it in end and grown[it] is not None and _holds(grown[it], end[it])
        }
        open_ = [it for it in grows if it not in inside]
        if open_ and (trips := self._trips_until_break(loop, first)) is not None:
            further = _widened(open_, start, first, trips - 1)
            inside.update({it: further[it] for it in open_})
            open_ = []
        return {**head, **inside}, open_

    def _trips_until_break(self, loop: ir.Loop, first: _Env) -> int | None:
        """Return how often a loop turns at most, if what its breaks compare tells it."""
        waits = [*_waits(loop.body)]
        if not waits:
            return None
        tested = self.block(loop.test, dict(first))
        second, _ = self.turn(loop, tested)
        found = [] if second is None else [self._turns(it, first, second) for it in waits]
        known = [it for it in found if it is not None]
        return min(known) + 1 if known else None

    def _walked(self, loop: ir.Loop, env: _Env) -> tuple[_Env | None, _Env | None]:
        """Walk one turn; return what holds at its end, and after the loop.

        What is known at the head is a guess. So no way out of the loop is held to be impossible.
        """
        tested = self.block(loop.test, env)
        if tested is None:
            return None, None
        inside: _Env | None = dict(tested)
        if loop.condition is not None and loop.tests_first:
            inside = self.test(loop.condition, True, dict(tested))
        end, breaks = self.turn(loop, inside)
        return end, self.joined([tested, end and dict(end), *breaks], loop)

    def _written(self, loop: ir.Loop) -> frozenset[Variable]:
        known = self.written.get(id(loop))  # Inner loops are met at each turn of outer ones.
        if known is None:
            found = frozenset(variable for it in ir.walk((loop,)) for variable in ir.written(it))
            known = self.written[id(loop)] = loop, found
        return known[1]

    def _trips(self, loop: ir.Loop, before: _Env, after: _Env) -> int | None:
        """Return how often a loop turns at most, if the values that its condition compares tell it."""
        wanted = () if loop.condition is None else _comparisons(loop.condition, wanted=True)
        known = [turns for it in wanted if (turns := self._turns(it, before, after)) is not None]
        return known[0] if known else None

    def _turns(self, comparison: _Comparison, before: _Env, after: _Env) -> int | None:
        """Return how many turns a comparison holds at most, by what one of them adds to one of its sides."""
        op, left, right = comparison
        for one, two in ((left, right), (right, left)):
            bound = (0, 0) if two is None else self.value(two, dict(before))
            limit = _number(bound)
            start = end = None
            if one is not None:
                start, end = _number(self.value(one, dict(before))), _number(self.value(one, dict(after)))
            if limit is None or start is None or end is None:
                continue
            step = end[0] - start[0]
            if step and (op is not CompareOp.NE or _approaches(limit, start, end)):
                far = (abs(limit[1] - start[0]), abs(limit[0] - start[1]))
                if isinstance(bound, Reach):  # `end = p + n`: work-items have rows of their own.
                    far = (abs(limit[0] - start[0]), abs(limit[1] - start[1]))
                distance = max(far)
                inclusive = op in (CompareOp.LE, CompareOp.GE)
                turns = distance // abs(step) + 1 if inclusive else -(-distance // abs(step))
                return max(min(turns, _MAX_TRIPS), 1)
        return None

    # --------------------------------------------------------------------------------------- conditions

    def narrow(self, condition: ir.Expression, holds: bool, env: dict[Variable, Value]) -> bool:
        """Narrow variables to what a condition allows; False if it cannot have this value."""
        match condition:
            case ir.Logical(op=op) if (op is LogicalOp.AND) == holds:
                return self.narrow(condition.left, holds, env) and self.narrow(condition.right, holds, env)
            case ir.Unary(op=UnaryOp.LOGICAL_NOT, operand=operand):
                return self.narrow(operand, not holds, env)
            case ir.Convert(operand=operand, type=ScalarType(is_integer=True)):
                return self.narrow(operand, holds, env)
            case ir.Compare():
                return self._narrow_compare(condition, holds, env)
            case _:
                return True

    def _narrow_compare(self, compare: ir.Compare, holds: bool, env: dict[Variable, Value]) -> bool:
        op = compare.op if holds else _NEGATED[compare.op]
        left, right = self.value(compare.left, env), self.value(compare.right, env)
        if not (isinstance(left, tuple) and isinstance(right, tuple)):
            return True
        low, high = _allowed(op, right)
        other_low, other_high = _allowed(_MIRRORED[op], left)
        for side, value, bounds in (
            (compare.left, left, (low, high)),
            (compare.right, right, (other_low, other_high)),
        ):
            narrowed = (
                value[0] if bounds[0] is None else max(value[0], bounds[0]),
                value[1] if bounds[1] is None else min(value[1], bounds[1]),
            )
            if narrowed[0] > narrowed[1]:
                return False
            variable = ir.variable_of(side)
            if variable is not None:
                env[variable] = narrowed
        return True

    # -------------------------------------------------------------------------------------- expressions

    def value(self, expression: ir.Expression, env: dict[Variable, Value]) -> Value:
        match expression:
            case ir.Constant(value=int(value)):
                return value, value
            case ir.Read(variable=variable):
                return env.get(variable)
            case ir.ObjectAddress(variable=variable):
                return Reach(variable, (0, 0))
            case ir.WorkItem():
                return self._work_item(expression, env)
            case ir.Convert(operand=operand, type=ScalarType(is_integer=True) as kind):
                return self.value(operand, env) or _held(None, kind)
            case ir.PointerCast(operand=operand):
                return self.value(operand, env)
            case ir.PointerOffset(pointer=pointer, index=index, stride=stride):
                return _moved(self.value(pointer, env), self.value(index, env), stride)
            case ir.FieldAddress(pointer=pointer, field=member):
                return _moved(self.value(pointer, env), (member.offset,) * 2, 1)
            case ir.Unary(op=UnaryOp.NEGATE, operand=operand):
                inner = self.value(operand, env)
                return (-inner[1], -inner[0]) if isinstance(inner, tuple) else None
            case ir.Compare() | ir.Logical() | ir.Unary(op=UnaryOp.LOGICAL_NOT):
                return 0, 1
            case ir.Binary(op=op, type=ScalarType(is_integer=True)):
                left, right = self.value(expression.left, env), self.value(expression.right, env)
                if isinstance(left, tuple) and isinstance(right, tuple):
                    return _in_64_bits(_binary(op, left, right))
                return _narrowed(expression, left, right)
            case ir.Select():
                return self._select(expression, env)
            case ir.Swizzle():
                return self._number(self.members.member(expression))
            case ir.Builtin(name=name, arguments=arguments):
                return _in_64_bits(_builtin(name, [self.value(it, env) for it in arguments]))
            case _:
                return None

    def _number(self, member: Variable | None) -> Interval | None:
        value = None if member is None else self.sizes.scalars.get(member)
        return None if value is None else (value, value)

    def _select(self, select: ir.Select, env: dict[Variable, Value]) -> Value:
        yes, no = dict(env), dict(env)
        if not self.narrow(select.condition, True, yes):
            return self.value(select.if_false, no)
        if not self.narrow(select.condition, False, no):
            return self.value(select.if_true, yes)
        return _union(self.value(select.if_true, yes), self.value(select.if_false, no))

    def _work_item(self, item: ir.WorkItem, env: dict[Variable, Value]) -> Value:
        dimension: Value = (0, 0) if item.dimension is None else self.value(item.dimension, env)
        low, high = dimension if isinstance(dimension, tuple) else (0, 2)
        found = [self.ranges.get((item.query, at)) for at in range(max(low, 0), min(high, 2) + 1)]
        if low < 0 or high > 2:  # No dimension: OpenCL C 3.0, section 6.15.1.
            found.append((0, 0) if item.query in _ZERO_OUTSIDE else (1, 1))
        known = [it for it in found if it is not None]
        if len(known) < len(found):
            return None
        return min(it[0] for it in known), max(it[1] for it in known)


_Comparison = tuple[CompareOp, ir.Expression | None, ir.Expression | None]
"""Two sides; `None` stands for 0."""


def _comparisons(condition: ir.Expression, *, wanted: bool) -> Iterator[_Comparison]:
    """Yield what must compare so wherever a condition is true, or false."""
    match condition:
        case ir.Logical(op=op) if (op is LogicalOp.AND) == wanted:
            yield from _comparisons(condition.left, wanted=wanted)
            yield from _comparisons(condition.right, wanted=wanted)
        case ir.Unary(op=UnaryOp.LOGICAL_NOT, operand=operand):
            yield from _comparisons(operand, wanted=not wanted)
        case ir.Convert(operand=operand, type=ScalarType(is_integer=True)):
            yield from _comparisons(operand, wanted=wanted)
        case ir.Compare(op=op, left=left, right=right):
            yield (op if wanted else _NEGATED[op]), left, right
        case ir.Read() | ir.Binary():
            yield (CompareOp.NE if wanted else CompareOp.EQ), condition, None


def _waits(block: ir.Block) -> Iterator[_Comparison]:
    """Yield what must compare so for a loop's body to go on to the next turn, of its own breaks."""
    for it in block:
        if isinstance(it, ir.If):
            for way, taken in ((it.then, True), (it.otherwise, False)):
                if way and isinstance(way[-1], ir.Break | ir.Return):
                    yield from _comparisons(it.condition, wanted=not taken)


def _approaches(limit: Interval, start: Interval, end: Interval) -> bool:
    """Tell whether a value that may be anywhere in an interval moves, and towards a limit: flags do not."""
    if end[0] > start[0]:
        return end[1] > start[1] and limit[1] >= start[0]
    return end[1] < start[1] and limit[0] <= start[1]


def _number(value: Value) -> Interval | None:
    """Return a number, or how far a pointer is from where its buffer starts."""
    return value.offset if isinstance(value, Reach) else value


def _root(pointer: ir.Expression, env: Mapping[Variable, Value]) -> Variable | None:
    match pointer:
        case ir.Read(variable=variable):
            reach = env.get(variable)
            if isinstance(reach, Reach):
                return reach.root
            return variable if variable.kind is VariableKind.PARAMETER else None
        case ir.ObjectAddress(variable=variable):
            return variable
        case ir.PointerOffset() | ir.FieldAddress():
            return _root(pointer.pointer, env)
        case ir.PointerCast():
            return _root(pointer.operand, env)
        case _:
            return None


_SHORT_BITS = 16
"""Integers of so many bits are bounded by their type: `bins[image[i]]` of bytes reaches 256 of them."""
_FEW = 1 << 24
"""What masks, remainders and shifts leave of an unknown number bounds it up to this."""


def _values(kind: Type) -> Interval | None:
    """Return what an integer type holds."""
    if not isinstance(kind, ScalarType) or not kind.is_integer:
        return None
    return (-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if kind.is_signed else (0, (1 << kind.bits) - 1)


def _is_private(pointer: ir.Expression) -> bool:
    """Tell whether a pointer leads to memory of the work-item, which no launch says the size of."""
    return isinstance(pointer.type, PointerType) and pointer.type.space is AddressSpace.PRIVATE


def _held(value: Interval | None, kind: Type) -> Interval | None:
    """Return which of the values a variable of a short type holds; any that it can where nothing is known."""
    whole = _values(kind)
    if whole is None or not isinstance(kind, ScalarType) or kind.bits > _SHORT_BITS:
        return value
    if value is None:
        return whole
    low, high = max(value[0], whole[0]), min(value[1], whole[1])
    return (low, high) if low <= high else whole


def _narrowed(operation: ir.Binary, left: Value, right: Value) -> Interval | None:
    """Return what a mask, a remainder or a shift leaves of a number that is known by its type only."""
    if operation.op not in (BinaryOp.AND, BinaryOp.REM, BinaryOp.SHR):
        return None
    left, right = left or _values(operation.left.type), right or _values(operation.right.type)
    if not (isinstance(left, tuple) and isinstance(right, tuple)):
        return None
    found = _binary(operation.op, left, right)
    return found if isinstance(found, tuple) and max(map(abs, found)) <= _FEW else None


def _in_64_bits(value: Value) -> Value:
    """Return an interval unless it is beyond what a number can hold; without this, squares grow for ever."""
    return value if isinstance(value, tuple) and max(map(abs, value)) <= 1 << 64 else None


def _moved(pointer: Value, index: Value, stride: int) -> Value:
    if not isinstance(pointer, Reach) or not isinstance(index, tuple):
        return None
    low, high = sorted((index[0] * stride, index[1] * stride))
    return Reach(pointer.root, (pointer.offset[0] + low, pointer.offset[1] + high))


def _widened(variables: Iterable[Variable], start: _Env, after: _Env, trips: int) -> _Env:
    """Return what holds at the head of a loop after up to `trips` turns that do what the first one did."""
    head = dict(start)
    for variable in variables:
        if variable in start:
            before, now = start[variable], after.get(variable)
            head[variable] = before if now is before else _widen(before, now, trips)
    return head


def _escaped(
    variables: Iterable[Variable], head: _Env, end: _Env, start: _Env, first: _Env
) -> list[Variable]:
    """Return the variables that a turn carries further from what holds at its head than the first one did."""
    return [
        it
        for it in variables
        if it in head
        and it in end
        and head[it] is not None
        and not _holds(_over(head[it], start.get(it), first.get(it)), end[it])
    ]


def _over(head: Value, start: Value, after: Value) -> Value:
    """Return where one more turn may carry a value."""
    match head, start, after:
        case (int(), int()), (int(), int()), (int(), int()):
            return head[0] + min(after[0] - start[0], 0), head[1] + max(after[1] - start[1], 0)
        case Reach(), Reach(), Reach() if head.root is start.root is after.root:
            offset = _over(head.offset, start.offset, after.offset)
            return Reach(head.root, offset) if isinstance(offset, tuple) else None
        case _:
            return head


def _holds(outer: Value, inner: Value) -> bool:
    """Tell whether all of a value lies in another; what is not known lies in what is not known only."""
    match outer, inner:
        case (int(), int()), (int(), int()):
            return outer[0] <= inner[0] and inner[1] <= outer[1]
        case Reach(), Reach():
            return outer.root is inner.root and _holds(outer.offset, inner.offset)
        case _:
            return outer is None


def _widen(start: Value, after: Value, trips: int) -> Value:
    match start, after:
        case (int(), int()), (int(), int()):
            return _grown(start, after, trips)
        case Reach(), Reach() if start.root is after.root:
            return Reach(start.root, _grown(start.offset, after.offset, trips))
        case _:
            return None


def _grown(start: Interval, after: Interval, trips: int) -> Interval:
    down, up = min(after[0] - start[0], 0), max(after[1] - start[1], 0)
    return start[0] + down * trips, start[1] + up * trips


_NEGATED = {
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.LE: CompareOp.GT,
    CompareOp.GT: CompareOp.LE,
}
_MIRRORED = {
    CompareOp.EQ: CompareOp.EQ,
    CompareOp.NE: CompareOp.NE,
    CompareOp.LT: CompareOp.GT,
    CompareOp.GT: CompareOp.LT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.GE: CompareOp.LE,
}


def _allowed(op: CompareOp, other: Interval) -> tuple[int | None, int | None]:
    """Return the bounds of x in `x op other`."""
    match op:
        case CompareOp.LT:
            return None, other[1] - 1
        case CompareOp.LE:
            return None, other[1]
        case CompareOp.GT:
            return other[0] + 1, None
        case CompareOp.GE:
            return other[0], None
        case CompareOp.EQ:
            return other
        case CompareOp.NE:
            return None, None


def _corners(values: list[int]) -> Interval:
    return min(values), max(values)


def _binary(op: BinaryOp, left: Interval, right: Interval) -> Value:
    (a, b), (c, d) = left, right
    match op:
        case BinaryOp.ADD:
            return a + c, b + d
        case BinaryOp.SUB:
            return a - d, b - c
        case BinaryOp.MUL:
            return _corners([a * c, a * d, b * c, b * d])
        case BinaryOp.DIV if c > 0:
            return _corners([int(x / y) if abs(x) < 1 << 50 else x // y for x in (a, b) for y in (c, d)])
        case BinaryOp.REM if c > 0:
            return (a, b) if a >= 0 and b < c else (0 if a >= 0 else 1 - d, min(b, d - 1) if b > 0 else 0)
        case BinaryOp.SHL if c >= 0 and d < 63:
            return _corners([x << y for x in (a, b) for y in (c, d)])
        case BinaryOp.SHR if c >= 0 and d < 64:
            return _corners([x >> y for x in (a, b) for y in (c, d)])
        case BinaryOp.AND if c >= 0 or a >= 0:
            return 0, min(it for it, low in ((b, a), (d, c)) if low >= 0)
        case BinaryOp.OR | BinaryOp.XOR if a >= 0 and c >= 0:
            return 0, (1 << max(b.bit_length(), d.bit_length())) - 1
        case _:
            return None


def _builtin(name: str, values: list[Value]) -> Value:
    intervals = [it for it in values if isinstance(it, tuple)]
    if len(intervals) != len(values):
        return (intervals[1:] and name == "clamp" and _union(intervals[0], intervals[1])) or None
    match name, intervals:
        case "min", [one, two]:
            return min(one[0], two[0]), min(one[1], two[1])
        case "max", [one, two]:
            return max(one[0], two[0]), max(one[1], two[1])
        case "clamp", [one, low, high]:
            return min(max(one[0], low[0]), high[1]), max(min(one[1], high[1]), low[0])
        case "mul24", [one, two]:
            return _binary(BinaryOp.MUL, one, two)
        case ("mad24", [one, two, three]):
            product = _binary(BinaryOp.MUL, one, two)
            return _binary(BinaryOp.ADD, product, three) if isinstance(product, tuple) else None
        case "abs", [one]:
            return (0 if one[0] <= 0 <= one[1] else min(map(abs, one))), max(map(abs, one))
        case _:
            return None
