"""Loops: all turns at once where every turn does the same, else one turn after the other.

All turns at once: the turn is one more symbolic dimension t. Every variable that a turn hands to the next is
supposed to be base + step·t; the body runs once for all t, and if every such variable then provably equals
base + step·(t + 1), the supposition holds for every turn by induction. Otherwise what was noted is dropped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.cells import Cells
from clmap_lsp.emulator.symbolic.comparing import first_false
from clmap_lsp.emulator.symbolic.control import (
    NotRegularError,
    OverBudgetError,
    SplitError,
    SplitTurnsError,
)
from clmap_lsp.emulator.symbolic.iterations import foresee
from clmap_lsp.emulator.symbolic.rows import Mask, any_active, both, either
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, dims_of
from clmap_lsp.emulator.symbolic.values import (
    MAX_CELLS,
    Floats,
    Held,
    Lanes,
    Partly,
    Pointer,
    Sym,
    Unknown,
    Value,
    add,
    at_turn,
    numbers,
    of_array,
    same,
    scale,
    subtract,
)
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, LogicalOp, Variable
from clmap_lsp.source.slicing import reads

if TYPE_CHECKING:
    from clmap_lsp.emulator.symbolic.machine import Frame, Live, Machine, Turns

_WORTHWHILE = 3
"""Turns from which running them all at once is less work than one by one."""
_SINGLE_GROUPS = 64
_MAX_DIMENSIONS = 24
"""Each is an axis of arrays, of which NumPy takes 32."""
_UNREACHABLE = 1 << 40


def run_loop(machine: Machine, loop: ir.Loop, entry: Live, *, is_tested: bool = False) -> Live:
    """Run a loop, whose condition may just have been tested; return who goes on after it."""
    from clmap_lsp.emulator.symbolic.machine import LOOP, Frame

    if entry.why is not None and machine.suppose_taken:
        return _supposed(machine, loop, entry, entry.why, is_tested=is_tested)
    frame = Frame(LOOP)
    machine.frames.append(frame)
    current = _test(machine, loop, entry) if loop.tests_first and not is_tested else entry
    attempts = _Attempts(tested=loop.tests_first)
    while not current.is_empty:
        if current.why is not None:
            if machine.suppose_turns is not None:
                _supposed_turns(machine, loop, current, current.why, machine.suppose_turns)
            else:
                _doubtful_turn(machine, loop, current)
            break
        if attempts.left and (after := _all_at_once(machine, loop, current, attempts)) is not None:
            current, attempts = after, _Attempts()
            continue
        machine.space.spending.spend(turns=1)
        if not attempts.left and not attempts.may_end:
            attempts.may_end = _may_end(machine, loop)
            foresee(machine, loop, current, _written_steps(machine, loop))
        if attempts.left:
            attempts.seen = [*attempts.seen[-1:], dict(machine.evaluator.env)]
        before = _Saved.of(machine, loop) if machine.suppose_taken and machine.supposed is None else None
        later = _turn(machine, loop, frame, current)
        if before is not None and later.why is not None:  # Somebody may have left.
            before.restore(machine)
            _supposed(machine, loop, current, later.why, is_tested=True)
            break
        current, attempts.tested = later, True
    machine.frames.pop()
    return machine.rejoined(entry)


def _supposed(machine: Machine, loop: ir.Loop, entry: Live, why: str, *, is_tested: bool) -> Live:
    """Run a loop as if whoever may come here did, and forget afterwards what it changed."""
    from clmap_lsp.emulator.symbolic.machine import Live, Supposed

    around = machine.supposed
    machine.supposed = Supposed(why, len(machine.frames), around.turns if around is not None else 0)
    try:
        run_loop(machine, loop, Live(entry.mask), is_tested=is_tested)
    finally:
        machine.supposed = around
    machine.forget(machine.needs.changed[id(loop)], why)
    return machine.rejoined(entry)


def _may_end(machine: Machine, loop: ir.Loop) -> bool:
    """Return true for a loop that has a way to its end: its condition may change, or somebody may leave it.

    Raises: OverBudgetError for any other, as one writes on the way to the right condition.
    """
    read: set[Variable] = set()
    if loop.condition is not None:
        reads(loop.condition, read)
    inside = ir.walk(loop.test + loop.body + loop.step)
    if read & machine.needs.changed[id(loop)] or any(isinstance(it, _LEAVING) for it in inside):
        return True
    raise OverBudgetError("a loop that never ends", by_size=False)


_LEAVING = (ir.Break, ir.Leave, ir.Return, ir.Goto)


@dataclass(slots=True)
class _Attempts:
    """How often a loop may still be tried as a whole: first with the steps as written, then as observed."""

    left: int = 3
    tested: bool = True
    """The condition holds for everybody who is here: false at the first turn of a `do` loop only."""
    may_end: bool = False
    """That the loop has a way to its end is looked at once no attempt is left."""
    seen: list[dict[Variable, Held]] = field(default_factory=list)
    """The values before the last two turns."""


def _test(machine: Machine, loop: ir.Loop, live: Live) -> Live:
    """Return who takes another turn."""
    from clmap_lsp.emulator.symbolic.machine import Live

    live = machine.block(loop.test, live)
    if loop.condition is None or live.is_empty:
        return live
    machine.evaluator.live = live.mask
    condition = machine.evaluator.condition(loop.condition)
    if isinstance(condition, Unknown):
        return Live(live.mask, live.why or condition.reason)
    return Live(both(live.mask, condition), live.why)


def _turn(machine: Machine, loop: ir.Loop, frame: Frame, live: Live) -> Live:
    """Run body, step and test; return who takes another turn."""
    _body_and_step(machine, loop, frame, live)
    return _test(machine, loop, machine.rejoined(live))


def _body_and_step(machine: Machine, loop: ir.Loop, frame: Frame, live: Live) -> None:
    machine.block(loop.body, live)
    frame.continued = False
    stepping = machine.rejoined(live)
    if not stepping.is_empty:
        machine.block(loop.step, stepping)


def _doubtful_turn(machine: Machine, loop: ir.Loop, live: Live) -> None:
    """Walk a loop once whose number of turns is not known, with all that it changes unknown."""
    inside = machine.needs.changed[id(loop)]
    reason = live.why or "data"
    machine.forget(inside, reason)
    machine.endless += 1
    try:
        for block in (loop.body, loop.step, loop.test):
            machine.block(block, live)
    finally:
        machine.endless -= 1
    machine.forget(inside, reason)


def _supposed_turns(machine: Machine, loop: ir.Loop, live: Live, why: str, suppose: Turns) -> None:
    """Run a loop whose end depends on data as if everybody here took some turns, all of them at once."""
    from clmap_lsp.emulator.symbolic.machine import Live, Supposed

    inside = machine.needs.changed[id(loop)]
    turn = len(machine.space.counts)
    if turn >= _MAX_DIMENSIONS:
        raise OverBudgetError(f"more than {_MAX_DIMENSIONS} loops inside each other", by_size=False)
    turns = suppose.of(_bound(machine, loop, turn))
    machine.forget(inside, why)
    saved, around, together = _Saved.of(machine, loop), machine.supposed, machine.together
    machine.supposed = Supposed(why, len(machine.frames) - 1, turns)
    machine.together = live.mask
    machine.space.counts.append(turns)
    try:
        for block in (loop.body, loop.step, loop.test):
            machine.block(block, Live(live.mask))
    finally:
        machine.supposed, machine.together = around, together
    with contextlib.suppress(NotRegularError):  # Barriers and accesses behind them: one turn stands for all.
        _shift_ordinals(machine, saved, turn, turns, live.mask)
    del machine.space.counts[turn:]
    machine.forget(inside, why)


def _bound(machine: Machine, loop: ir.Loop, turn: int) -> int | None:
    """Return how many turns a loop makes at most by the parts of its condition that no data decide."""
    env, counts = machine.evaluator.env, machine.space.counts
    before, steps = dict(env), _written_steps(machine, loop)
    for variable in machine.needs.changed[id(loop)]:
        now = env.get(variable)
        if variable in steps and isinstance(now, Sym | Pointer):
            env[variable] = _moved(now, Sym(0, ((turn, steps[variable]),)))
        else:
            env[variable] = Unknown("a value of an iteration before")
    counts.append(2)
    found = []
    for part in _parts(loop.condition, loop.test):
        with contextlib.suppress(NotRegularError, SplitError):
            found.append(_trips(machine, part, turn)[1])
    del counts[turn:]
    env.clear()
    env.update(before)
    return min((it for it in found if it < _UNREACHABLE), default=None)


def _parts(condition: ir.Expression | None, before: ir.Block) -> Iterator[ir.Expression]:
    """Yield conditions that must all hold if one does, which the statements before it may have made.

    Where a part of `A && B` reads memory, they are `if (A) { v = B; } else { v = 0; }`.
    """
    match condition and _plain(condition):
        case None:
            return
        case ir.Logical(op=LogicalOp.AND, left=left, right=right):
            yield from _parts(left, before)
            yield from _parts(right, before)
        case ir.Read(variable=variable):
            for place in range(len(before) - 1, -1, -1):
                statement = before[place]
                if isinstance(statement, ir.If) and _is_zero(_last_value(statement.otherwise, variable)):
                    yield from _parts(statement.condition, before[:place])
                    yield from _parts(_last_value(statement.then, variable), ())
                    return
                if variable in ir.written(statement):
                    value = statement.value if isinstance(statement, ir.Assign) else None
                    yield from _parts(value, before[:place])
                    return
        case part:
            yield part


def _last_value(block: ir.Block, variable: Variable) -> ir.Expression | None:
    """Return what the last statement of a block gives a variable, if it does."""
    last = block[-1] if block else None
    return last.value if isinstance(last, ir.Assign) and last.variable is variable else None


def _is_zero(value: ir.Expression | None) -> bool:
    plain = None if value is None else _plain(value)
    return isinstance(plain, ir.Constant) and plain.value == 0


# -------------------------------------------------------------------------------------------- all at once


@dataclass(slots=True)
class _Saved:
    """What to restore if a loop turns out not to be regular."""

    env: dict[Variable, Held]
    private: dict[Variable, Cells | None]
    n_rows: int
    n_doubts: int
    left: list[tuple[Mask, str | None]]
    ordinal: Sym
    segment: Sym
    n_dimensions: int

    @classmethod
    def of(cls, machine: Machine, loop: ir.Loop) -> _Saved:
        private = dict(machine.private)
        if id(loop) in machine.needs.stores_private:  # Pieces are stored in place.
            private = {it: cells and cells.copy() for it, cells in private.items()}
        return cls(
            dict(machine.evaluator.env),
            private,
            len(machine.rows),
            len(machine.doubts),
            [(it.left, it.why) for it in machine.frames],
            machine.ordinal,
            machine.segment,
            len(machine.space.counts),
        )

    def restore(self, machine: Machine) -> None:
        machine.evaluator.env.clear()
        machine.evaluator.env.update(self.env)
        machine.private = dict(self.private)
        machine.drop_rows(self.n_rows)
        del machine.doubts[self.n_doubts :]
        del machine.frames[len(self.left) :]
        for frame, (left, why) in zip(machine.frames, self.left, strict=True):
            frame.left, frame.why, frame.continued = left, why, False
        machine.ordinal, machine.segment = self.ordinal, self.segment
        del machine.space.counts[self.n_dimensions :]


def _all_at_once(machine: Machine, loop: ir.Loop, live: Live, attempts: _Attempts) -> Live | None:
    """Run all remaining turns as one; `None` if the loop does not allow it (nothing has happened then)."""
    needs = machine.needs
    if loop.condition is None or loop.test or id(loop) in needs.stores_private:
        attempts.left = 0
        return None
    if len(attempts.seen) == 1:
        return None  # One turn shows no regularity; the next attempt compares two.
    attempts.left -= 1
    machine.evaluator.live = live.mask
    saved = _Saved.of(machine, loop)
    carried = needs.handed_on[id(loop)]
    turn, limit = len(machine.space.counts), None
    while True:
        try:
            steps = _steps(machine, loop, carried, attempts.seen)
            return _run_at_once(machine, loop, live, steps, saved, attempts.tested, limit)
        except NotRegularError:
            saved.restore(machine)
            return None
        except SplitTurnsError as split:
            saved.restore(machine)
            if split.dimension != turn:
                raise
            if split.cut < _WORTHWHILE or (limit is not None and split.cut >= limit):
                return None
            limit = split.cut
            machine.space.spending.spend(turns=1)


def _run_at_once(
    machine: Machine,
    loop: ir.Loop,
    live: Live,
    steps: dict[Variable, int],
    saved: _Saved,
    tested: bool,
    limit: int | None,
) -> Live:
    """Run all turns, or the first `limit` of them, as one; return who goes on in the loop."""
    from clmap_lsp.emulator.symbolic.machine import Live

    assert loop.condition is not None
    env, space = machine.evaluator.env, machine.space
    turn = len(space.counts)
    if turn >= _MAX_DIMENSIONS:
        raise OverBudgetError(f"more than {_MAX_DIMENSIONS} loops inside each other", by_size=False)
    space.counts.append(2)
    _suppose(env, saved.env, steps, turn)
    for variable in machine.needs.changed[id(loop)] - set(steps):
        before = env.pop(variable, None)
        if before is not None and variable in machine.needs.handed_on[id(loop)]:
            env[variable] = _unknown(before)
    least, most = _trips(machine, loop.condition, turn)
    if most < _WORTHWHILE:
        raise NotRegularError
    if limit is None and _WORTHWHILE <= least < most:
        limit = least  # Turns that everybody takes need no mask; those that some have left come after them.
    is_part = limit is not None and limit < most
    if limit is not None and is_part:
        least, most = min(least, limit), limit
    space.counts[turn] = most
    mask = live.mask
    condition = machine.evaluator.condition(loop.condition)
    if isinstance(condition, Unknown):
        raise NotRegularError
    if not tested:
        condition, least = either(condition, _first_turn(turn, most)), max(least, 1)
    taken = both(mask, condition)
    if taken is not mask and least == most and mask is True and taken is not True:
        raise NotRegularError
    if not is_part:
        _check_end(machine, loop.condition, saved.env, steps, most, turn)
    around, machine.together = machine.together, taken
    try:
        _body_and_step(machine, loop, machine.frames[-1], Live(taken))
    finally:
        machine.together = around
    if _anyone_left(machine, saved):
        raise NotRegularError
    if machine.private != saved.private:
        raise NotRegularError
    for variable, step in steps.items():
        _verify(env.get(variable), saved.env[variable], step, turn, taken, machine)
    _shift_ordinals(machine, saved, turn, most, taken)
    _leave_turns(machine, loop, saved, steps, taken, turn, most)
    del space.counts[turn:]
    return _test(machine, loop, machine.rejoined(live)) if is_part else Live(False)


def _unknown(before: Held) -> Unknown:
    """Return what is known in a turn of what it finds, where that makes no constant step."""
    match before:
        case Unknown():
            return before
        case Partly(unknown=unknown):
            return unknown
        case _:
            return Unknown("a value of an iteration before")


def _first_turn(turn: int, n: int) -> Mask:
    """Return the mask of the first of `n` turns, which a `do` loop makes whatever its condition says.

    Raises: NotRegularError for more turns than a mask may have: perhaps everybody leaves in one of the first.
    """
    if n > MAX_CELLS:
        raise NotRegularError
    first = np.zeros((n,) + (1,) * (turn + 1), np.bool_)
    first[0] = True
    return first


def _anyone_left(machine: Machine, saved: _Saved) -> bool:
    return any(
        frame.left is not left or frame.why is not why
        for frame, (left, why) in zip(machine.frames, saved.left, strict=True)
    )


def _suppose(
    env: dict[Variable, Held], base: dict[Variable, Held], steps: dict[Variable, int], turn: int
) -> None:
    for variable, step in steps.items():
        env[variable] = _moved(base[variable], Sym(0, ((turn, step),)) if step else Sym(0))


def _moved(value: Held, by: Sym) -> Held:
    match value:
        case Sym():
            return add(value, by)
        case Pointer():
            return Pointer(value.root, add(value.offset, by))
        case _:
            return value


def _steps(
    machine: Machine, loop: ir.Loop, carried: Iterable[Variable], seen: list[dict[Variable, Held]]
) -> dict[Variable, int]:
    """Return the step a turn of every variable that turns hand on, as written or as observed in two turns.

    Raises: NotRegularError if some variable makes no constant step.
    """
    env = machine.evaluator.env
    written = {} if seen else _written_steps(machine, loop)
    steps = {}
    for variable in carried:
        now = env.get(variable)
        if now is None or isinstance(now, Unknown | Partly):
            continue
        if seen:
            steps[variable] = _observed(seen[-1].get(variable), now)
            if _observed(seen[0].get(variable), seen[-1][variable]) != steps[variable]:
                raise NotRegularError
        elif variable in written or isinstance(now, Floats | Lanes):
            steps[variable] = written.get(variable, 0)
        else:
            raise NotRegularError
    return steps


def _observed(before: Held | None, now: Held) -> int:
    match before, now:
        case Sym(), Sym():
            pass
        case Pointer(), Pointer() if before.root is now.root:
            before, now = before.offset, now.offset
        case Floats(), Floats() if np.array_equal(before.array, now.array):
            return 0
        case _:
            raise NotRegularError
    difference = subtract(now, before)
    if difference.array is not None:
        difference = add(of_array(difference.array), Sym(difference.const, difference.coefs))
    if not difference.is_uniform:
        raise NotRegularError
    return difference.const


def _written_steps(machine: Machine, loop: ir.Loop) -> dict[Variable, int]:
    """Read `i += c` and `p += c` off the statements that every turn runs."""
    steps: dict[Variable, int] = {}
    for statement in loop.body + loop.step:
        if not isinstance(statement, ir.Assign):
            continue
        step = _written_step(machine, statement)
        if step is not None:
            steps[statement.variable] = steps.get(statement.variable, 0) + step
    return steps


def _written_step(machine: Machine, statement: ir.Assign) -> int | None:
    value = _plain(statement.value)
    factor = 1
    match value:
        case ir.Binary(op=BinaryOp.ADD | BinaryOp.SUB as op, left=left, right=right):
            factor = 1 if op is BinaryOp.ADD else -1
            if op is BinaryOp.ADD and not _is(left, statement.variable):
                left, right = right, left
        case ir.PointerOffset(pointer=left, index=right, stride=factor):
            pass
        case _:
            return None
    if not _is(left, statement.variable):
        return None
    step = machine.evaluator.value(right)
    return factor * step.const if isinstance(step, Sym) and step.is_uniform else None


def _plain(expression: ir.Expression) -> ir.Expression:
    while isinstance(expression, ir.Convert | ir.PointerCast):
        expression = expression.operand
    return expression


def _is(expression: ir.Expression, variable: Variable) -> bool:
    plain = _plain(expression)
    return isinstance(plain, ir.Read) and plain.variable is variable


# -------------------------------------------------------------------------------------------------- turns


def _trips(machine: Machine, condition: ir.Expression, turn: int) -> tuple[int, int]:
    """Return the least and greatest number of turns that work-items take.

    Raises: NotRegularError, or SplitError where the number depends on the work-group.
    """
    match _plain(condition):
        case ir.Logical(op=LogicalOp.AND, left=left, right=right):
            one, two = _trips(machine, left, turn), _trips(machine, right, turn)
            return min(one[0], two[0]), min(one[1], two[1])
        case ir.Compare() as compare:
            sides = machine.evaluator.value(compare.left), machine.evaluator.value(compare.right)
        case _:
            raise NotRegularError
    if not (isinstance(sides[0], Sym) and isinstance(sides[1], Sym)):
        raise NotRegularError
    difference = subtract(sides[0], sides[1])
    if turn not in {d for d, _ in difference.coefs}:
        if turn in dims_of(sides[0]) | dims_of(sides[1]):
            raise NotRegularError
        return _UNREACHABLE, _UNREACHABLE  # A part of the condition that stays as it is: true, as it was.
    found = first_false(compare.op, difference, turn, machine.space)
    if found is None:
        raise NotRegularError
    if found[0] != found[1]:
        _split_groups(machine, difference)
    return found


def _split_groups(machine: Machine, difference: Sym) -> None:
    """Let groups that take different numbers of turns be run apart."""
    counts = machine.space.counts
    groups = [d for d in dims_of(difference) if d < GROUP_DIMENSIONS and counts[d] > 1]
    if not groups:
        return
    widest = max(groups, key=lambda d: counts[d])
    n = counts[widest]
    parts = min(n, _SINGLE_GROUPS)
    raise SplitError(widest, tuple(sorted({n * k // parts for k in range(1, parts)})))


def _check_end(
    machine: Machine,
    condition: ir.Expression,
    base: dict[Variable, Held],
    steps: dict[Variable, int],
    most: int,
    turn: int,
) -> None:
    """Make sure that after `most` turns the condition is false for everybody."""
    env = machine.evaluator.env
    now = {variable: env[variable] for variable in steps}
    for variable, step in steps.items():
        env[variable] = _moved(base[variable], Sym(step * most))
    ends = machine.evaluator.condition(condition)
    env.update(now)
    if ends is not False:
        raise NotRegularError


def _verify(value: Held | None, base: Held, step: int, turn: int, taken: Mask, machine: Machine) -> None:
    """The induction step: what a turn leaves is what the next one was supposed to find."""
    expected = _moved(base, Sym(step, ((turn, step),)) if step else Sym(0))
    match value, expected:
        case Sym(), Sym():
            equal = _same_where(value, expected, taken, machine)
        case Pointer(), Pointer():
            equal = value.root is expected.root and _same_where(value.offset, expected.offset, taken, machine)
        case Floats(), Floats():
            equal = bool(np.array_equal(value.array, expected.array))
        case Lanes(), Lanes():
            equal = value is base
        case _:
            equal = False
    if not equal:
        raise NotRegularError


def _same_where(value: Sym, expected: Sym, taken: Mask, machine: Machine) -> bool:
    if same(value, expected):
        return True
    difference = subtract(value, expected)
    dims = dims_of(difference)
    cells = machine.space.n_lanes
    for d in dims:
        cells *= machine.space.counts[d]
    machine.space.require(cells, dims)
    wrong = numbers(difference, machine.space.counts) != 0
    return not any_active(both(taken, wrong)) if taken is not True else not bool(wrong.any())


def _shift_ordinals(machine: Machine, saved: _Saved, turn: int, n: int, taken: Mask) -> None:
    """Number the accesses of all turns: each turn goes on where the one before ended."""
    if not machine.follow_ordinals:
        return
    step, barriers = subtract(machine.ordinal, saved.ordinal), subtract(machine.segment, saved.segment)
    if not (step.is_uniform and barriers.is_uniform) or (barriers.const and step.const):
        raise NotRegularError
    for row in machine.rows[saved.n_rows :]:
        assert row.ordinal is not None
        assert row.segment is not None
        if step.const:
            row.ordinal = add(row.ordinal, Sym(0, ((turn, step.const),)))
        if barriers.const:
            row.segment = add(row.segment, Sym(0, ((turn, barriers.const),)))
    machine.ordinal = add(saved.ordinal, scale(_turns_taken(taken, turn, n), step.const))
    machine.segment = add(saved.segment, scale(barriers, n))


def _turns_taken(taken: Mask, turn: int, n: int) -> Sym:
    """Return how many of `n` turns each work-item takes. Raises: NotRegularError if not the first ones."""
    if isinstance(taken, bool):
        return Sym(n)
    if turn not in _mask_dims(taken):
        return of_array(np.where(taken, n, 0).astype(np.int64))
    if bool((taken[1:] > taken[:-1]).any()):
        raise NotRegularError
    return of_array(np.asarray(taken.sum(axis=0), np.int64))


def _mask_dims(mask: Mask) -> set[int]:
    if isinstance(mask, bool):
        return set()
    return {axis for axis, length in enumerate(reversed(mask.shape[:-1])) if length > 1}


def _leave_turns(
    machine: Machine,
    loop: ir.Loop,
    saved: _Saved,
    steps: dict[Variable, int],
    taken: Mask,
    turn: int,
    n: int,
) -> None:
    """Give every variable the value that it has after the last turn."""
    env = machine.evaluator.env
    differ = turn in _mask_dims(taken)
    trips = _turns_taken(taken, turn, n)
    for variable, step in steps.items():
        env[variable] = _moved(saved.env[variable], scale(trips, step) if step else Sym(0))
    for variable in machine.needs.changed[id(loop)] - set(steps):
        value = env.get(variable)
        if value is None:
            continue
        if variable in saved.env and taken is not True:
            env[variable] = Unknown("a value after a loop that some work-items leave early")
        elif isinstance(value, Partly):
            env[variable] = value.unknown
        elif differ:
            env[variable] = Unknown("a value after a loop that work-items leave at different iterations")
        else:
            env[variable] = _last(value, turn, n)


def _last(value: Value, turn: int, n: int) -> Value:
    match value:
        case Sym():
            return at_turn(value, turn, n - 1)
        case Pointer():
            return Pointer(value.root, at_turn(value.offset, turn, n - 1))
        case Floats(array=array) if array.ndim >= turn + 2:
            axis = array.ndim - 2 - turn
            return Floats(array.take(min(n, array.shape[axis]) - 1, axis=axis))
        case Lanes():
            parts = [_last(it, turn, n) for it in value.parts]
            return Lanes(tuple(it for it in parts if isinstance(it, Sym | Floats | Unknown)))
        case _:
            return value
