"""Reading a loop: what its variables are at the head of a turn, its body once, and what holds after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from clmap_lsp.access import algebra, loops
from clmap_lsp.access.expressions import MAX_WEIGHT, has_large_numbers
from clmap_lsp.access.flow import Flow
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Atom,
    Carried,
    LoopSymbol,
    Operation,
    Polynomial,
    Unknown,
    poly,
)
from clmap_lsp.access.real import UNKNOWN_REAL, Real
from clmap_lsp.access.values import (
    Address,
    Pointer,
    PointerChoice,
    Scalar,
    Value,
    Vector,
    choose,
    has_root,
    is_lasting,
    leaves_of_value,
    unknown_pointer,
)
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Block, Expression, Statement, Variable
from clmap_lsp.source.makings import Wanted
from clmap_lsp.source.types import ScalarType, element_of

if TYPE_CHECKING:
    from clmap_lsp.access.analyse import _Reader, _State
    from clmap_lsp.access.expressions import Environment
    from clmap_lsp.access.flow import Flow


@dataclass(frozen=True, slots=True)
class _Shape:
    """A loop in the form that it is read in.

    A leading `if (c) break;` belongs to the condition: `while (1) { if (i >= n) break; … }`.
    """

    test: Block
    conditions: tuple[tuple[Expression, bool], ...]
    """What must hold to go on, each with the truth that it must have."""
    body: Block
    step: Block
    tests_first: bool
    leaves_early: bool
    """A `break` of this loop or a return may end it."""
    may_return: bool
    """A turn may end the work-item, or leave an inlined call that is around the loop."""
    continues: bool
    """A `continue` may skip a part of a turn."""


def read_loop(reader: _Reader, it: ir.Loop, state: _State) -> _State | None:
    """Read a loop and return what holds after it; `None` if nothing after it is reached."""
    return _LoopReader(reader, it, state).read()


def _bind(environment: Environment, values: Mapping[Variable, Value]) -> None:
    for variable, value in values.items():
        environment[variable] = value


MAX_UNROLLED: Final = 32
"""Loops of at most so many turns are followed turn by turn where there is no closed form."""


MAX_RING: Final = 4
"""Variables that are followed as they change places in every iteration: two buffers in turn, seldom three."""


MAX_TRIALS: Final = 3
"""Trial readings inside each other. Each nest of loops is read twice, so a deeper limit would double the time
with every level; a trial that stops early only loses what an outer turn makes of an inner loop's result."""

SLICED_FROM: Final = 64
"""Variables written in a loop from which on it pays to find out which of them a trial needs."""

MAX_TRIAL_STATEMENTS: Final = 4_000
"""Statements of a kernel that are read on trial. Of n loops inside each other about n³/6 are, each with its
body."""


class _LoopReader:
    """One reading of one loop.

    `before` is the state in front of it, `turn` its bare symbol, `heads` the values of the variables that it
    carries at the head of turn `turn`.
    """

    def __init__(self, reader: _Reader, it: ir.Loop, state: _State) -> None:
        self.reader = reader
        self.facts = reader.facts
        self.loop = it
        self.shape = _shape_once(it, reader.shapes)
        self.written = reader.flow.assigned(it)
        self.before = state.copy()
        self.head = state
        self.turn = reader._symbol("loop", span=it.span)
        self.heads: dict[Variable, Value] = {}
        self.enabled = ONE
        """What must hold, whatever the turn, for the loop to run at all."""
        self.open: dict[Variable, tuple[Carried, Polynomial, Polynomial]] = {}
        """For scalars without a closed form: placeholder, value before the loop, what a turn makes of it."""

    def read(self) -> _State | None:
        """Read the loop."""
        self._forget_objects(self.head.environment)
        self._solve()
        _bind(self.head.environment, self.heads)
        self.head.guard = self.before.guard
        return self._read_turns()

    def _read_turns(self) -> _State | None:
        reader, shape = self.reader, self.shape
        entered = reader.block(shape.test, self.head) if shape.tests_first else self.head
        if entered is None:
            return None
        reader.expressions.environment = entered.environment
        condition = self._condition() if shape.tests_first else self._late_condition(entered)
        if shape.tests_first and condition == ZERO:
            reader.unreached(shape.body + shape.step, entered)
            return self.before
        symbol, still = self._described(condition)
        inside = self._with_symbol(entered, symbol)
        inside.guard = (*self.before.guard, *still)
        outer, reader.nest = reader.nest, (*reader.nest, symbol)
        if not reader.quiet:
            reader.loops_seen.append(symbol)
        end, breaks = self._one_turn(inside)
        if end is not None and not shape.tests_first:
            end = reader.block(shape.test, end)
        reader.nest = outer
        return self._after(end, breaks, symbol)

    def _one_turn(self, inside: _State) -> tuple[_State | None, list[_State]]:
        """Read body and step once; return the state at the end of the turn and those at breaks."""
        reader = self.reader
        reader._continuing.append([])
        reader._breaking.append([])
        end = reader.block(self.shape.body, inside)
        continued = reader._continuing.pop()
        if end is not None:
            continued.append(end)
        end = reader._joined(continued)
        if end is not None:
            end = reader.block(self.shape.step, end)
        return end, reader._breaking.pop()

    # ----------------------------------------------------------------------------- its own symbol

    def _condition(self) -> Polynomial:
        result = ONE
        for expression, wanted in self.shape.conditions:
            part = self.reader.expressions.condition(expression)
            result = algebra.both(result, part if wanted else algebra.negated(part))
        return result

    def _late_condition(self, head: _State) -> Polynomial:
        """The condition of a `do` loop, over the values at the head of the turn that it lets begin.

        A test that steps (`++k < n`) has stepped by then: it is read at the end of the turn before.
        """
        reader = self.reader
        reader.quiet += 1
        outer, reader.nest = reader.nest, (*reader.nest, self.turn)
        steps = any(not it.is_temporary for it in reader.flow.assigned_in(self.shape.test))
        ended: _State | None = head.copy()
        if steps:
            ended, _ = self._one_turn(head.copy())
        tested = None if ended is None else reader.block(self.shape.test, ended)
        result = ONE
        if tested is not None:
            reader.expressions.environment = tested.environment
            result = self._condition()
        reader.nest = outer
        reader.quiet -= 1
        reader.expressions.environment = head.environment
        return algebra.substitute(result, {self.turn: poly(self.turn) - ONE}, self.facts) if steps else result

    def _described(self, condition: Polynomial) -> tuple[LoopSymbol, tuple[Polynomial, ...]]:
        """Return the loop's symbol with all that is known, and the conditions that guard its body."""
        trip = loops.trip_count(condition, self.turn, self.shape.tests_first, self.facts)
        variable, start, step = self._induction()
        early = self.shape.leaves_early
        symbol = replace(
            self.turn,
            name=variable or "loop",
            start=start,
            step=step,
            trip=trip,
            bound=loops.bound_of(condition, self.turn),
            condition=condition,
            exits_early=early,
        )
        still: list[Polynomial] = []
        for part in loops.conjuncts(condition) if self.shape.tests_first else ():
            if self.turn not in part.leaves:
                still.append(part)
                self.enabled = algebra.both(self.enabled, part)
            elif trip is None:
                still.append(algebra.substitute(part, {self.turn: poly(symbol)}, self.facts))
        if early:
            still.append(poly(Unknown("an earlier iteration may have left the loop", self.reader._fresh())))
        return symbol, tuple(still)

    def _induction(self) -> tuple[str | None, Polynomial | None, Polynomial | None]:
        """Return (name, start, step) of the variable that counts the turns: the step or test names it."""
        named: list[tuple[int, str, Polynomial, Polynomial]] = []
        in_step = {s.variable for s in ir.walk(self.loop.step) if isinstance(s, ir.Assign)}
        tested = {v for expression, _ in self.shape.conditions for v in _variables(expression)}
        for variable, value in self.heads.items():
            if variable.is_temporary or not isinstance(value, Polynomial) or self.turn not in value.leaves:
                continue
            rank = (variable not in in_step) + 2 * (variable not in tested)
            linear = loops.induction(value, self.turn)
            if linear is not None:
                named.append((rank, variable.name, *linear))
            else:
                named.append((rank + 1, variable.name, ZERO, ZERO))
        if not named:
            return None, None, None
        _, name, start, step = min(named, key=lambda it: it[0])
        return (name, start, step) if step else (name, None, None)

    def _with_symbol(self, state: _State, symbol: LoopSymbol) -> _State:
        """Put the described symbol (with its trip count) in place of the bare one; they compare equal."""
        self.facts.describe(symbol)
        environment = state.environment
        for variable in self.written:  # nothing else can have been made from the turn
            value = environment.get(variable)
            if value is not None and self.turn in leaves_of_value(value):
                environment[variable] = _replaced(value, {self.turn: poly(symbol)})
        return state

    # -------------------------------------------------------------------------------- recurrences

    def _forget_objects(self, environment: Environment) -> None:
        """Drop tracked private memory that a turn may write."""
        stores = self.reader.flow.private_stores(self.loop)
        if not stores.anywhere and not any(it.is_object for it in self.written):
            return
        for key in [key for key in environment if isinstance(key, tuple)]:
            if not stores.anywhere and key[0] not in self.written:
                continue
            if stores.anywhere or key[0] in stores.holders or not is_lasting(key, environment[key]):
                del environment[key]

    def _solve(self) -> None:
        """Find the values of all carried registers at the head of turn `turn`."""
        reader = self.reader
        carried = reader.flow.carried(self.loop)
        hard: list[Variable] = []
        for variable in sorted(carried, key=lambda it: reader.order.get(it, -1)):
            if variable.is_object or variable not in reader.slice.variables:
                continue
            start = self.before.environment.get(variable)
            self.heads[variable] = reader.expressions.initial(variable) if start is None else start
            if not self._solve_simply(variable):
                hard.append(variable)
        if reader.quiet < MAX_TRIALS and reader.trial_statements < MAX_TRIAL_STATEMENTS:
            if hard:
                self._solve_by_reading(hard)
        else:
            for variable in hard:
                self.heads[variable] = self._carried_unknown(variable, self.heads[variable], None)
        for variable, value in self.heads.items():
            if not isinstance(value, Polynomial) or variable.is_temporary:
                continue
            atom = value.atom
            if isinstance(atom, Operation) and self.turn in value.leaves:
                reader.names.setdefault(atom, variable.name)  # `s` of `s *= 2`

    def _solve_simply(self, variable: Variable) -> bool:
        """Solve `i += c` and the like from the one statement that writes the variable."""
        reader, start = self.reader, self.heads[variable]
        if _is_real(variable):
            self.heads[variable] = _unknown_real(start)
            return True
        update = _only_update(self.loop, variable, reader.flow, self.shape.continues)
        if update is None or not (reader.flow.reads(update) - {variable}).isdisjoint(self.written):
            return False
        carried = Carried(variable.name, reader._fresh())
        probe = dict(self.before.environment)
        probe[variable] = _placeholder(start, carried)
        reader.expressions.environment = probe
        solved = self._closed_form(variable, carried, start, reader.expressions.value(update))
        reader.expressions.environment = self.before.environment
        if solved is None:
            return False
        self.heads[variable] = solved
        return True

    def _closed_form(self, variable: Variable, carried: Carried, start: Value, update: Value) -> Value | None:
        match start, update:
            case Polynomial(), Polynomial():
                update = self._uncut(variable, carried, update)
                return self._closed_scalar(carried, start, update)
            case Pointer(), Pointer() if start.root is update.root and start.root is not None:
                offset = self._closed_scalar(carried, start.offset, update.offset)
                return None if offset is None else Pointer(start.root, start.space, offset, (), start.path)
            case Vector(lanes=a), Vector(lanes=b) if len(a) == len(b):
                return self._closed_vector(carried, a, b)
            case ((Pointer() | PointerChoice()), (Pointer() | PointerChoice())) if has_root(update):
                return self._delayed_pointer(start, update)
            case _:
                return None

    def _closed_scalar(self, carried: Carried, start: Polynomial, update: Polynomial) -> Polynomial | None:
        if _placeholders(update) - {carried}:
            return None
        return loops.head_value(carried, start, update, self.turn, self.facts)

    def _uncut(self, variable: Variable, carried: Carried, update: Polynomial) -> Polynomial:
        """Return the sum as it is before a counter's narrow type cuts it, where the test ends the loop first.

        `for (ushort i = 0; i < n; i++)` has as many iterations as `n` says, or it never ends.
        """
        narrow = loops.narrowed(carried, update)
        step = None if narrow is None else (narrow.total - poly(carried)).value
        if narrow is None or not step:
            return update
        for bound in self._bounds(variable, rises=step > 0):
            low, high = self.facts.interval(bound)
            if step > 0 and (low is None or low <= narrow.largest):
                return narrow.total
            if step < 0 and (high is None or high >= narrow.least):
                return narrow.total
        return update

    def _bounds(self, variable: Variable, *, rises: bool) -> Iterator[Polynomial]:
        """Yield what the loop's test wants a variable to stay below, or above where it falls."""
        reader = self.reader
        waiting = [it for it, wanted in self.shape.conditions if wanted]
        while waiting:
            it = waiting.pop()
            if isinstance(it, ir.Logical) and it.op is ir.LogicalOp.AND:
                waiting += (it.left, it.right)
            if not isinstance(it, ir.Compare):
                continue
            is_left = _is_just(it.left, variable)
            other = it.right if is_left else it.left
            if it.op not in (_BELOW if is_left == rises else _ABOVE):
                continue
            if not (is_left or _is_just(it.right, variable)) or not isinstance(other.type, ScalarType):
                continue
            if not other.type.is_float and reader.flow.reads(other).isdisjoint(self.written):
                reader.expressions.environment = self.before.environment
                yield reader.expressions.scalar(other)

    def _closed_vector(
        self, carried: Carried, starts: tuple[Scalar, ...], updates: tuple[Scalar, ...]
    ) -> Vector | None:
        lanes: list[Scalar] = []
        for lane, (start, update) in enumerate(zip(starts, updates, strict=True)):
            if not isinstance(start, Polynomial) or not isinstance(update, Polynomial):
                lanes.append(UNKNOWN_REAL)
                continue
            solved = self._closed_scalar(_lane_of(carried, lane), start, update)
            if solved is None:
                return None
            lanes.append(solved)
        return Vector(tuple(lanes))

    def _solve_by_reading(self, variables: list[Variable]) -> None:
        """Read one turn with placeholders for the values at its head, and solve what it makes of them."""
        starts = {variable: self.heads[variable] for variable in variables}
        placeholders = {variable: Carried(variable.name, self.reader._fresh()) for variable in variables}
        trial = self.before.copy()
        _bind(trial.environment, self.heads)
        for variable, carried in placeholders.items():
            trial.environment[variable] = _placeholder(starts[variable], carried)
        updates = self._updates_of_one_turn(trial, variables)
        pending = dict(updates)
        known: dict[Atom, Polynomial] = {}
        for variable, turned in self._exchanged(updates, starts, placeholders).items():
            self.heads[variable] = turned
            del pending[variable]
            known.update(_bindings(placeholders[variable], turned))
        progress = True
        while pending and progress:
            progress = False
            for variable in list(pending):
                update = _replaced(pending[variable], known) if known else pending[variable]
                solved = self._closed_form(variable, placeholders[variable], starts[variable], update)
                if solved is None:
                    continue
                self.heads[variable] = solved
                del pending[variable]
                known.update(_bindings(placeholders[variable], solved))
                progress = True
        for variable in variables:
            if variable in pending or variable not in updates:
                start, update_of = starts[variable], updates.get(variable)
                if isinstance(start, Polynomial) and isinstance(update_of, Polynomial):
                    self.open[variable] = (
                        placeholders[variable],
                        start,
                        algebra.substitute(update_of, known) if known else update_of,
                    )
                self.heads[variable] = self._carried_unknown(variable, start, update_of)

    def _exchanged(
        self,
        updates: Mapping[Variable, Value],
        starts: Mapping[Variable, Value],
        placeholders: Mapping[Variable, Carried],
    ) -> dict[Variable, Value]:
        """Return the values of variables that only change places: `t = a; a = b; b = t`."""
        takes: dict[Variable, Variable] = {}
        for variable, update in updates.items():
            for other, start in starts.items():
                if other is not variable and update == _placeholder(start, placeholders[other]):
                    takes[variable] = other
        found: dict[Variable, Value] = {}
        for variable in takes:
            ring = [variable]
            while ring[-1] in takes and len(ring) <= MAX_RING and takes[ring[-1]] is not variable:
                ring.append(takes[ring[-1]])
            if len(ring) <= MAX_RING and takes.get(ring[-1]) is variable:
                found[variable] = self._of_ring([starts[it] for it in ring])
        return found

    def _of_ring(self, values: list[Value]) -> Value:
        """Return the value of the turn, where they follow each other again and again."""
        place = algebra.mod(poly(self.turn), Polynomial.constant(len(values)), self.facts)
        result = values[-1]
        for number, value in reversed(list(enumerate(values[:-1]))):
            is_here = algebra.equal(place, Polynomial.constant(number), self.facts)
            result = choose(is_here, value, result, self.facts)
        return result

    def _delayed_pointer(self, start: Address, update: Address) -> Value | None:
        """p = f(t) at the end of turn t: before turn t it is f(t - 1), before the first it is the start."""
        if any(isinstance(leaf, (Carried, Unknown)) for leaf in leaves_of_value(update)):
            return None
        first = _replaced(update, {self.turn: Polynomial.constant(-1)})
        earlier = _replaced(update, {self.turn: poly(self.turn) - ONE})
        if first == start:
            return earlier
        return choose(algebra.equal(poly(self.turn), ZERO, self.facts), start, earlier, self.facts)

    def _updates_of_one_turn(self, trial: _State, variables: list[Variable]) -> dict[Variable, Value]:
        reader, shape = self.reader, self.shape
        reader.quiet += 1
        outer, reader.nest = reader.nest, (*reader.nest, self.turn)
        asked, reader.wanted = reader.wanted, self._wanted(variables)
        state = reader.block(shape.test, trial) if shape.tests_first else trial
        end = None
        if state is not None:
            end, _ = self._one_turn(state)
            if end is not None and not shape.tests_first:
                end = reader.block(shape.test, end)
        reader.wanted = asked
        reader.nest = outer
        reader.quiet -= 1
        if end is None:
            return {}
        return {variable: end.environment[variable] for variable in variables if variable in end.environment}

    def _wanted(self, variables: list[Variable]) -> Wanted | None:
        """Return all that a trial has to follow for some variables; `None`: all of the loop.

        Hundreds of statements of a cipher stand in loops whose counters alone are asked for.
        """
        if len(self.written) < SLICED_FROM:
            return None
        return self.reader.flow.matters_to(self.loop, variables)

    def _carried_unknown(self, variable: Variable, start: Value, update: Value | None) -> Value:
        """Return the value of a variable whose recurrence has no closed form, with what it depends on."""
        expressions = self.reader.expressions
        leaves = leaves_of_value(start) | {self.turn}
        if update is not None:
            leaves |= frozenset(leaf for leaf in leaves_of_value(update) if not isinstance(leaf, Carried))
        reason = f"`{variable.name}` is carried from iteration to iteration of a loop without a closed form"
        match start:
            case Pointer():
                same = isinstance(update, Pointer) and update.root is start.root
                if not same or start.root is None:
                    return unknown_pointer(start.space, reason)
                offset = expressions.unknown(reason, leaves)
                return Pointer(start.root, start.space, offset, (), start.path)
            case Polynomial():
                return expressions.unknown(reason, leaves)
            case Vector(lanes=lanes):
                return Vector(
                    tuple(
                        expressions.unknown(reason, leaves) if isinstance(lane, Polynomial) else UNKNOWN_REAL
                        for lane in lanes
                    )
                )
            case Real():
                return UNKNOWN_REAL
            case _:
                return expressions.nothing_known(variable.type, reason)

    # --------------------------------------------------------------------------------- afterwards

    def _after(self, end: _State | None, breaks: list[_State], symbol: LoopSymbol) -> _State | None:
        """Return what holds after the loop: each written register as at the head of the turn not made."""
        if not self.shape.conditions and not breaks:
            return None  # it never ends but by a return
        result = self.before.copy()
        self._forget_objects(result.environment)
        if self.shape.may_return:
            gone = Unknown("an earlier iteration of a loop may have returned", self.reader._fresh())
            result.guard = (*result.guard, poly(gone))
        unrolled = self._unrolled(symbol)
        for variable in self.written:
            if variable in unrolled:
                self._set_after(result, variable, unrolled[variable])
                continue
            if variable.is_object:
                continue
            start = self.before.environment.get(variable)
            if start is None:
                result.environment.pop(variable, None)
                continue
            final, last = self.heads.get(variable), symbol.trip
            if final is None and end is not None:
                final = end.environment.get(variable)
                last = None if symbol.trip is None else symbol.trip - 1
            self._set_after(result, variable, self._final(variable, final, last, symbol))
        return result

    def _set_after(self, result: _State, variable: Variable, value: Value) -> None:
        """Bind a variable after the loop; it keeps its value where the loop does not run at all."""
        start = self.before.environment.get(variable)
        if start is not None and self.enabled != ONE:
            value = choose(self.enabled, value, start, self.facts)
        result.environment[variable] = self.reader.expressions.kept(value)

    def _unrolled(self, symbol: LoopSymbol) -> dict[Variable, Polynomial]:
        """Return what scalars without a closed form hold after a loop of few turns: the turns, one by one."""
        n_turns = None if symbol.trip is None else self.facts.number(symbol.trip)
        if not self.open or n_turns is None or n_turns > MAX_UNROLLED or symbol.exits_early:
            return {}
        values = {variable: start for variable, (_, start, _) in self.open.items()}
        for turn in range(max(n_turns, 0)):
            by: dict[Atom, Polynomial | int] = {symbol: turn}
            by.update({self.open[variable][0]: value for variable, value in values.items()})
            values = {
                variable: algebra.substitute(update, by, self.facts)
                for variable, (_, _, update) in self.open.items()
            }
            if any(
                it.weight > MAX_WEIGHT or has_large_numbers(it) or _placeholders(it) for it in values.values()
            ):
                return {}
        return values

    def _final(
        self, variable: Variable, value: Value | None, last: Polynomial | None, symbol: LoopSymbol
    ) -> Value:
        start = self.before.environment[variable]
        if value is None or value == start:
            return start
        if last is not None and not symbol.exits_early:
            turns = algebra.maximum(last, ZERO, self.facts)
            return _replaced(value, {symbol: turns})
        expressions = self.reader.expressions
        reason = f"`{variable.name}` is left by a loop whose number of iterations is not known"
        leaves = leaves_of_value(value) - {symbol} | leaves_of_value(start)
        if isinstance(value, Polynomial):
            return expressions.unknown(reason, leaves)
        if isinstance(value, Pointer) and value.root is not None:
            offset = expressions.unknown(reason, leaves)
            return Pointer(value.root, value.space, offset, (), value.path)
        return expressions.nothing_known(variable.type, reason)


# ------------------------------------------------------------------------------------------------- shape


def _shape_once(it: ir.Loop, known: dict[int, tuple[ir.Loop, _Shape]]) -> _Shape:
    """Return the shape of a loop, which each trial reading of the loops around it asks for again."""
    found = known.get(id(it))
    if found is None:
        found = known[id(it)] = it, _shape(it)  # The loop is kept: its id names no other.
    return found[1]


def _shape(it: ir.Loop) -> _Shape:
    test, conditions, body = _head(it)
    return _Shape(
        test,
        conditions,
        body,
        it.step,
        it.tests_first,
        _leaves_early(body),
        _may_return(body),
        any(isinstance(s, ir.Continue) for s in ir.walk(it.body)),
    )


def _head(it: ir.Loop) -> tuple[Block, tuple[tuple[Expression, bool], ...], Block]:
    """Return what is done before the test, the conditions to go on, and the rest of the body."""
    conditions: list[tuple[Expression, bool]] = [] if it.condition is None else [(it.condition, True)]
    if it.condition is None and it.tests_first:
        setup: list[Statement] = []
        rest = list(it.body)
        while rest and isinstance(rest[0], (ir.Declare, ir.Assign)) and not conditions:
            setup.append(rest.pop(0))
        while rest and isinstance(rest[0], ir.If):
            first = rest[0]
            if _only_breaks(first.then) and not first.otherwise:
                conditions.append((first.condition, False))
            elif _only_breaks(first.otherwise) and not first.then:
                conditions.append((first.condition, True))
            else:
                break
            rest.pop(0)
        if conditions:
            return (*it.test, *setup), tuple(conditions), tuple(rest)
    return it.test, tuple(conditions), it.body


def _only_breaks(block: Block) -> bool:
    return len(block) == 1 and isinstance(block[0], ir.Break)


def _variables(expression: Expression) -> tuple[Variable, ...]:
    if isinstance(expression, ir.Read):
        return (expression.variable,)
    return tuple(v for operand in ir.operands(expression) for v in _variables(operand))


def _leaves_early(body: Block, inside: frozenset[int] = frozenset()) -> bool:
    """Tell whether a loop may be left from its body; `inside` are the scopes that end there."""
    for statement in body:
        match statement:
            case ir.Break() | ir.Return() | ir.Goto():
                return True
            case ir.Leave(label=label):
                return label not in inside
            case ir.If():
                if _leaves_early(statement.then, inside) or _leaves_early(statement.otherwise, inside):
                    return True
            case ir.Scope(label=label):
                if _leaves_early(statement.body, inside | {label}):
                    return True
            case ir.Loop() | ir.Switch():
                if any(isinstance(it, ir.Goto) for it in ir.walk((statement,))) or _may_return(
                    (statement,), inside
                ):
                    return True
            case _:
                pass
    return False


def _may_return(body: Block, inside: frozenset[int] = frozenset()) -> bool:
    ends = inside | {it.label for it in ir.walk(body) if isinstance(it, ir.Scope)}
    return any(
        isinstance(it, ir.Return) or (isinstance(it, ir.Leave) and it.label not in ends)
        for it in ir.walk(body)
    )


def _replaced(value: Value, by: dict[Atom, Polynomial]) -> Value:
    match value:
        case Polynomial():
            return algebra.substitute(value, by)
        case Vector(lanes=lanes):
            return Vector(tuple(_replaced_scalar(lane, by) for lane in lanes))
        case Pointer():
            moved = algebra.substitute(value.offset, by)
            return Pointer(value.root, value.space, moved, (), value.path, value.reason)
        case PointerChoice(condition=condition, if_true=if_true, if_false=if_false):
            decided = algebra.substitute(condition, by)
            if decided.value is not None:
                return _replaced(if_true if decided.value else if_false, by)
            sides = _replaced(if_true, by), _replaced(if_false, by)
            return choose(decided, *sides, algebra.NO_FACTS)
        case _:
            return value


def _replaced_scalar(lane: Scalar, by: dict[Atom, Polynomial]) -> Scalar:
    return algebra.substitute(lane, by) if isinstance(lane, Polynomial) else lane


_BELOW: Final = frozenset({ir.CompareOp.LT, ir.CompareOp.LE})
_ABOVE: Final = frozenset({ir.CompareOp.GT, ir.CompareOp.GE})


def _is_just(expression: Expression, variable: Variable) -> bool:
    """Tell whether an expression is a variable, made wider or not."""
    while isinstance(expression, ir.Convert):
        expression = expression.operand
    return isinstance(expression, ir.Read) and expression.variable is variable


def _is_real(variable: Variable) -> bool:
    kind = element_of(variable.type)
    return isinstance(kind, ScalarType) and kind.is_float


def _unknown_real(start: Value) -> Value:
    return Vector((UNKNOWN_REAL,) * len(start.lanes)) if isinstance(start, Vector) else UNKNOWN_REAL


def _only_update(it: ir.Loop, variable: Variable, flow: Flow, continues: bool) -> Expression | None:
    """Return what the variable is assigned, if one statement does it, in every turn."""
    found: Expression | None = None
    for block, always in ((it.step, True), (it.body, not continues), (it.test, it.tests_first is False)):
        for statement in block:
            if isinstance(statement, ir.Assign) and statement.variable is variable:
                if found is not None or not always:
                    return None
                found = statement.value
            elif variable in flow.assigned(statement):
                return None
    return (
        found if found is not None and isinstance(found, (ir.Binary, ir.PointerOffset, ir.Convert)) else None
    )


def _placeholder(start: Value, carried: Carried) -> Value:
    match start:
        case Pointer():
            return Pointer(start.root, start.space, poly(carried), (), start.path, start.reason)
        case Vector(lanes=lanes):
            return Vector(
                tuple(
                    poly(_lane_of(carried, lane)) if isinstance(value, Polynomial) else UNKNOWN_REAL
                    for lane, value in enumerate(lanes)
                )
            )
        case Polynomial():
            return poly(carried)
        case _:
            return start


def _lane_of(carried: Carried, lane: int) -> Carried:
    return Carried(f"{carried.name}.{lane}", -(carried.identity * 16 + lane) - 2)


def _placeholders(value: Polynomial) -> frozenset[Atom]:
    return frozenset(leaf for leaf in value.leaves if isinstance(leaf, Carried))


def _bindings(carried: Carried, solved: Value) -> dict[Atom, Polynomial]:
    match solved:
        case Polynomial():
            return {carried: solved}
        case Pointer():
            return {carried: solved.offset}
        case Vector(lanes=lanes):
            return {
                _lane_of(carried, lane): value
                for lane, value in enumerate(lanes)
                if isinstance(value, Polynomial)
            }
        case _:
            return {}
