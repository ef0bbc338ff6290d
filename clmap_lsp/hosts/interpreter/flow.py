"""Statements: the ways of a program, and what holds where they join."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.hosts.interpreter.choices import Label, label_of
from clmap_lsp.hosts.interpreter.expressions import Expressions
from clmap_lsp.hosts.interpreter.state import MAX_UNROLLED, MOST_TURNS, LoopState
from clmap_lsp.hosts.macros import Macro
from clmap_lsp.hosts.quiet import Quiet, may_go_on
from clmap_lsp.hosts.store import Store, join_values
from clmap_lsp.hosts.tree import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Decorate,
    Define,
    Evaluate,
    Expr,
    If,
    Index,
    Initialise,
    Items,
    Jump,
    Lambda,
    Loop,
    Member,
    Name,
    New,
    Num,
    Opaque,
    Raise,
    Return,
    Scope,
    Stmt,
    Str,
    Switch,
    Try,
    Unary,
)
from clmap_lsp.hosts.values import (
    ArrayValue,
    Generated,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    default_of,
    device_decides,
    joined,
    name_of,
    truth,
)
from clmap_lsp.hosts.walking import nodes, tells_apart

_MAKING = frozenset(("clCreateKernel", "Kernel", "create_kernel"))
"""What makes a kernel: loops over tables of their names are run to the end."""
_COPYING = 4
"""Statements of a loop that may do no more than to copy the elements of an array."""


class Flow(Expressions):
    """Statements."""

    def block(self, statements: Block) -> None:
        """Run statements until one leaves."""
        for statement in statements:
            if self.store is None:
                return
            self.statement(statement)

    def scoped(self, statements: Block) -> None:
        """Run a block whose variables are its own, as C's are."""
        if self.path.endswith(".py"):
            self.block(statements)
            return
        frame = self.frame
        before = dict(frame.names)
        self.blocks.append(set())
        try:
            self.block(statements)
        finally:
            self.blocks.pop()
            frame.names = before

    def _read_from_stream(self, value: Expr) -> None:
        """Open what `stream >> variable` reads; as a statement or a condition it is no shift."""
        while isinstance(value, Unary):
            value = value.operand
        while isinstance(value, Binary) and value.op == ">>" and not self.path.endswith(".py"):
            place = self.place(value.right) if isinstance(value.right, (Name, Member, Index)) else None
            if place is not None and self.store is not None:
                self.store[place] = RunTime(name_of(place).lstrip("."))
            value = value.left

    def _write_to_stream(self, value: Expr) -> None:
        """Keep what `stream << value` adds to a stream of C++ that is a string."""
        if not isinstance(value, Binary) or value.op != "<<" or self.path.endswith(".py"):
            return
        root: Expr = value
        while isinstance(root, Binary) and root.op == "<<":
            root = root.left
        place = self.place(root) if isinstance(root, (Name, Member)) else None
        if place is not None and self.types.get(place, "").endswith("stringstream"):
            written = self.value(value)
            if isinstance(written, Text):
                self.put(place, written)

    def statement(self, statement: Stmt) -> None:
        """Run one statement."""
        self.step()
        self.frame.calls.clear()
        if isinstance(statement, (Evaluate, Declare, Initialise, If, Loop, Switch, Return)):
            self.frame.row = statement.row or self.frame.row
        match statement:
            case Evaluate(value):
                self._read_from_stream(value)
                self._write_to_stream(value)
                self.value(value)
            case Declare():
                self._declaration(statement)
            case Initialise(name, arguments):
                self._initialise(name, arguments)
            case If():
                self._if(statement)
            case Loop():
                self._loop(statement)
            case Switch():
                self._switch(statement)
            case Return(value):
                result = self.value(value) if value is not None else Null()
                if self.store is not None:
                    self.frame.returns.append((result, self.store))
                self.store = None
            case Jump(leaves):
                if self.loops and self.store is not None:
                    state = self.loops[-1]
                    (state.breaks if leaves else state.continues).append(self.store)
                self.store = None
            case Raise():
                if self.caught and self.store is not None:
                    self.caught[-1].append(self.store)
                self.store = None
            case Try(body, handlers):
                self._try(body, handlers)
            case Scope(body):
                self.scoped(body)
            case Define(row, defaults):
                self.defaults[self.path, row] = {name: self.value(it) for name, it in defaults.items()}
            case Decorate(name, decorator, row):
                self._decorate(name, decorator, row)

    def _decorate(self, name: str, decorator: Expr, row: int) -> None:
        """Let a decorator that can be followed put something in the place of a function."""
        held = self.named(name)
        made = self.called(Call(decorator, (Name(name),), {}, (), row, f"@{name}"))
        if isinstance(made, Routine) or (isinstance(made, Pointer) and made.place in self.objects):
            self.assign(Name(name), made)
        elif isinstance(held, Routine) and (closure := self.lambdas.get(held.identity)) is not None:
            self.distorted.add((closure.function.path, closure.function.row))

    def _try(self, body: Block, handlers: tuple[Block, ...]) -> None:
        """Run statements, then what catches exceptions: after all of them, and where the program raises one.

        The program's own exceptions leave undone what stands behind them; what libraries raise is rare.
        """
        self.caught.append([])
        try:
            self.block(body)
        finally:
            raised = self.caught.pop()
        for handler in handlers:
            self.statement(If(Opaque("caught"), handler, ()))
        if not raised or not handlers:
            return
        after, self.store = self.store, None
        for it in raised:
            self.store = self.joined(self.store, it, None)
        first, *others = handlers
        for handler in reversed(others):
            first = (If(Opaque("caught"), first, handler),)
        self.block(first)
        self.store = self.joined(after, self.store, 0)

    def _if(self, statement: If) -> None:
        self._read_from_stream(statement.condition)
        condition = self.value(statement.condition)
        known = truth(condition)
        if known is not None:
            self.scoped(statement.then if known else statement.otherwise)
            return
        before = self.store
        if before is None or self._changes_nothing(statement):
            return
        self.step(1 + len(before) // 30)
        subject, label = self._compared(statement.condition)
        self.store = before.copied()
        if subject is not None and label is not None:
            self.store = self.choices.narrowed(subject, label, self.store)
        self.scoped(statement.then)
        after_then = self.store
        self.store = before.copied()
        self.scoped(statement.otherwise)
        after_else = self.store
        self.store = self.joined(after_then, after_else, self._way(condition, bool(statement.otherwise)))
        if subject is not None and label is not None and after_then is not None and self.store is not None:
            ways = [after_then] if after_else is None else [after_then, after_else]
            self.choices.widen(subject, before, ways, self.store)
            self.choices.note(subject, {label: after_then}, after_else, before, self.store)

    def _compared(self, condition: Expr) -> tuple[RunTime | None, Label | None]:
        """Return the variable that a condition compares with a constant, and the constant."""
        if not isinstance(condition, Binary) or condition.op != "==":
            return None, None
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(one, (Name, Member)) and isinstance(other, (Name, Num, Str)):
                subject = self.value(one)
                if isinstance(subject, RunTime):
                    return subject, label_of(other, self.value(other))
        return None, None

    def _changes_nothing(self, statement: If | Switch) -> bool:
        """Tell whether all that a statement chooses between only reports what went wrong."""
        of_file = self._quiet_here()
        known = of_file.chosen.get(id(statement))
        if known is None:
            if isinstance(statement, If):
                ways = [statement.then, statement.otherwise]
                quiet = all(map(of_file.is_quiet, ways))
            else:
                ways = [body for label, body in statement.cases if label is None]
                quiet = all(of_file.is_quiet(it, in_switch=True) for _, it in statement.cases)
            goes_on = any(map(may_go_on, ways)) if isinstance(statement, If) else all(map(may_go_on, ways))
            known = of_file.chosen[id(statement)] = statement, quiet and goes_on
        return known[1] and not (self.caught and any(isinstance(it, Raise) for it in nodes(statement)))

    def _quiet_here(self) -> Quiet:
        path = self.path
        if path not in self.quiet_in:

            def macro_of(name: str) -> Macro | None:
                macro = self.project.macro(name, path)
                return macro if macro is not None and macro.parameters is not None else None

            self.quiet_in[path] = Quiet(macro_of, lambda name: self.project.functions(name, path))
        return self.quiet_in[path]

    def _switch(self, statement: Switch) -> None:
        subject = self.value(statement.subject)
        before = self.store
        if before is None or self._changes_nothing(statement):
            return
        state = LoopState()
        self.loops.append(state)
        known = default_of(subject)
        falling: Store | None = None
        chosen: Store | None = None
        has_default = any(label is None for label, _ in statement.cases)
        ways, running = _Ways(), list[Label | None]()
        for label, body in statement.cases:
            taken = self.value(label) if label is not None else None
            running.append(label_of(label, taken) if label is not None and taken is not None else None)
            if (
                isinstance(subject, Number)
                and isinstance(taken, Number)
                and taken != subject
                and falling is None
            ):
                continue
            if isinstance(subject, Number) and label is None and chosen is not None and falling is None:
                continue
            is_chosen = taken is not None and known is not None and default_of(taken) == known
            entered = before.copied()
            if isinstance(subject, RunTime) and running[-1] is not None:
                entered = self.choices.narrowed(subject, running[-1], entered)
            self.store = self.joined(falling, entered, 1 if is_chosen else None)
            marker = len(state.breaks)
            self.scoped(body)
            falling = self.store
            ways.add(running, state.breaks[marker:])
            if falling is None:
                running.clear()
            if is_chosen:
                chosen = state.breaks[marker] if len(state.breaks) > marker else falling
                if isinstance(subject, Number):
                    has_default = True
                    if falling is None:
                        break
        self.loops.pop()
        self.store = falling
        ways.add(running, [falling] if falling is not None else [])
        for left in state.breaks:
            self.store = self.joined(
                self.store, left, 1 if left is chosen else 0 if chosen is self.store else None
            )
        if not has_default:
            self.store = self.joined(self.store, before, 1 if known is not None and chosen is None else None)
        if isinstance(subject, RunTime) and self.store is not None:
            ends = [
                *state.breaks,
                *(it for it in (falling, None if has_default else before) if it is not None),
            ]
            self.choices.widen(subject, before, ends, self.store)
            self.choices.note(subject, ways.certain(), None, before, self.store)

    def _loop(self, loop: Loop) -> None:
        frame = self.frame
        before = dict(frame.names)
        self.blocks.append(set())
        try:
            self._looped(loop)
        finally:
            self.blocks.pop()
            if not self.path.endswith(".py"):
                frame.names = before

    def _looped(self, loop: Loop) -> None:
        self.block(loop.start)
        if self.store is None:
            return
        if loop.each is not None and loop.over is not None:
            self._each(loop, loop.each, self.value(loop.over))
            return
        if loop.condition == Num(0) and not loop.tests_first:  # `do { … } while (0)` of macros.
            self._turn(loop.body)
            return
        turns = self._turns(loop)
        if turns is not None:
            self._unrolled(loop, turns)
            return
        settled = self._settled(loop) if _only_reckons(loop) else None
        if settled is not None:
            self.store = settled
            return
        first = self.value(loop.condition) if loop.condition is not None else Number(1)
        if loop.tests_first and truth(first) is False:
            return
        default = default_of(first) if loop.tests_first else 1
        limited = device_decides(first) and not self._grows_to_limit(loop.condition)
        skipped = default == 0 or (default is None and limited)
        self._widened(loop, skipped=skipped, never=loop.tests_first and truth(first) is not True)

    def _settled(self, loop: Loop) -> Store | None:
        """Return what holds behind a loop that reckons with known numbers, as where a size is grown to a
        power of two; `None` where it does not end soon, or nobody knows when."""
        before = self.store
        if before is None or loop.condition is None:
            return None
        self.store = before.copied()
        is_first = loop.tests_first
        end: Store | None = None
        for turn in range(MAX_UNROLLED):
            goes_on = truth(self.value(loop.condition)) if is_first or turn else True
            if goes_on is not True or self.store is None:
                end = self.store if goes_on is False else None
                break
            self.step()
            state = LoopState()
            self.loops.append(state)
            try:
                self.scoped(loop.body)
            finally:
                self.loops.pop()
            ways = [it for it in (self.store, *state.breaks, *state.continues) if it is not None]
            if len(ways) != 1:
                break
            self.store = ways[0]
            if state.breaks:
                end = self.store
                break
            self.block(loop.step)
        self.store = before
        return end

    def _grows_to_limit(self, condition: Expr | None) -> bool:
        """Tell whether a loop goes on below what the device allows, as it mostly starts there."""
        if not isinstance(condition, Binary) or condition.op not in ("<", "<=", ">", ">="):
            return False
        above = condition.right if condition.op.startswith("<") else condition.left
        below = condition.left if condition.op.startswith("<") else condition.right
        return device_decides(self.value(above)) and not device_decides(self.value(below))

    def _turns(self, loop: Loop) -> int | None:
        """Return how often a short loop with known bounds turns; `None` if that is not known or too much."""
        moved: Block = loop.step
        match loop:
            case Loop(start=(Declare(name=name) | Evaluate(value=Assign(target=Name(name=name), op="")),)):
                if not loop.step or name in set(_assigned(loop.body)):
                    return None
            case Loop(condition=Binary(left=Name(name)), start=(), step=(), tests_first=True):
                moved = tuple(it for it in loop.body if any(_assigns(node, name) for node in nodes(it)))
                if len(moved) != 1 or not isinstance(moved[0], Evaluate):
                    return None
            case _:
                return None
        is_copying = len(loop.body) <= _COPYING
        if loop.condition is None or self.store is None or not (_calls(loop.body) or is_copying):
            return None
        if not tells_apart(loop.body, name):
            return None  # Only what differs by its place in an array, such as kernels, is told apart.
        before, trial = self.store, self.store.copied()
        self.store = trial
        self.trials += 1
        count: int | None = 0
        try:
            for turn in range(MAX_UNROLLED + 1):
                if turn > MOST_TURNS and not _makes_kernels(loop):
                    count = None
                    break
                self.frame.calls.clear()
                truth = self.value(loop.condition)
                if not isinstance(truth, Number) and self._is_before_end(loop.condition):
                    truth = Number(1)
                if not isinstance(truth, Number):
                    count = None
                    break
                if not truth.value:
                    count = turn
                    break
                self.block(moved)
            else:
                count = None
        finally:
            self.trials -= 1
            self.store = before
        return count

    def _is_before_end(self, condition: Expr) -> bool:
        """Tell whether a loop meets an open element of an array, where 0 ends it: `sizes[i] != 0`.

        What is 0 itself among those before would end it as well, but then nothing is left to launch.
        """
        if (
            isinstance(condition, Binary)
            and condition.op == "!="
            and condition.right in (Num(0), Name("NULL"))
        ):
            condition = condition.left
        if not isinstance(condition, Index):
            return False
        return isinstance(self.value(condition), RunTime) and self.place(condition) in self.known

    def _unrolled(self, loop: Loop, turns: int) -> None:
        for turn in range(turns):
            if not self._turn(loop.body, turn):
                return
            self.block(loop.step)

    def _turn(self, body: Block, turn: int = 0) -> bool:
        """Run a body once where nothing else leaves it; False if it was left for good."""
        state = LoopState()
        self.loops.append(state)
        self.turns.append(turn)
        try:
            self.scoped(body)
        finally:
            self.turns.pop()
        self.loops.pop()
        for left in state.continues:
            self.store = self.joined(self.store, left, None)
        alive = self.store is not None
        for left in state.breaks:
            self.store = self.joined(self.store, left, None)
        return alive and self.store is not None

    def _each(self, loop: Loop, each: Expr, over: Value) -> None:
        if isinstance(over, Generated):
            any_item = self.gone_through(over)
            if any_item is not None and self.store is not None:
                self.assign(each, any_item)
                self._widened(loop, skipped=False, never=False)
            return
        items = self._items(over)
        if isinstance(over, Pointer) and isinstance(each, Name) and each.name in set(_assigned(loop.body)):
            self.open_at(over.place, keeps_default=False)  # It may be a reference.
            items = None
        if isinstance(over, ArrayValue) and isinstance(loop.over, (Name, Member)):
            place = self.place(loop.over) if not self.path.endswith(".py") else None
            if place is not None:
                self.open_elements(place)
        most = MAX_UNROLLED if _makes_kernels(loop) else MOST_TURNS
        is_short = items is not None and len(items) <= most and not self._is_search(loop)
        if items is not None and is_short and any(map(_is_thing, items)):
            for turn, item in enumerate(items):
                self.assign(each, item)
                if not self._turn(loop.body, turn):
                    return
            return
        self._open(each, over)
        self._widened(loop, skipped=False, never=True)

    def _is_search(self, loop: Loop) -> bool:
        """Tell a loop in others that tries what may be refused: any of very many turns may be the last."""
        kinds = {type(it) for it in nodes(loop.body)}
        return Try in kinds and (Loop in kinds or self.loop_depth > 0 or bool(self.turns))

    def _open(self, target: Expr, _over: Value) -> None:
        match target:
            case Name(name):
                self.assign(target, RunTime(name))
            case Items(items):
                for item in items:
                    self._open(item, _over)

    def _widened(self, loop: Loop, *, skipped: bool, never: bool) -> None:
        """Run a body once with all that it changes open.

        `skipped`: the program does not enter it unless told so; `never`: it may not be entered.
        """
        before = self.store
        if before is None:
            return
        self.step(1 + len(before) // 10)
        if self.trials:  # What is changed shows in one turn; more would double with each nesting.
            self.store = before.copied()
            self._left(self._body(loop), before, 1 if skipped else 0, never=never)
            return
        self.trials += 1
        self.store = before.copied()
        try:
            self._body(loop)
        finally:
            self.trials -= 1
        after = self.store
        opened = before.copied()
        lists: dict[int, Pointer] = {}
        if after is not None:
            for place, value in after.changed_since(before):
                old = before.read(place)
                if isinstance(old, Sizes) and isinstance(value, Sizes) and _is_longer(old, value):
                    if id(value) not in lists:  # One list may have several names.
                        lists[id(value)] = self._grown(place, value, opened)
                    opened[place] = lists[id(value)]
                elif old is not None and old != value:
                    opened[place] = self._changed(place, old, value, skipped)
        self.store = opened
        self.loop_depth += 1
        try:
            breaks = self._body(loop)
        finally:
            self.loop_depth -= 1
        self._left(breaks, before, 1 if skipped else 0, never=never)

    def _left(self, breaks: list[Store], before: Store, default: int, *, never: bool) -> None:
        """Join what holds behind a loop; `never`: it may not be entered."""
        end: Store | None = self.store
        for left in breaks:
            end = self.joined(end, left, None)
        self.store = self.joined(end, before, default) if never else end

    def _changed(self, place: str, old: Value, new: Value, skipped: bool) -> Value:
        if isinstance(old, (Number, RunTime)) and isinstance(new, (Number, RunTime)):
            return RunTime(name_of(place).lstrip("."), default_of(old) if skipped else None)
        if isinstance(old, Text) and isinstance(new, Text) and str(new).startswith(str(old)):
            return joined(old, Text((RunTime("…"),)))
        return join_values(place, (old, new), old if skipped else None)

    def _grown(self, place: str, items: Sizes, store: Store) -> Pointer:
        """Return a list of Python that a loop adds to: any item may be any of those that are added."""
        held = f"{self.fresh_memory()}{name_of(place).lstrip('.')}"
        store[f"{held}[*]"] = join_values(f"{held}[*]", items.items)
        return Pointer(held)

    def _body(self, loop: Loop) -> list[Store]:
        state = LoopState()
        self.loops.append(state)
        if loop.condition is not None:
            self._read_from_stream(loop.condition)
        self.scoped(loop.body)
        self.loops.pop()
        for left in state.continues:
            self.store = self.joined(self.store, left, None)
        if self.store is not None:
            self.block(loop.step)
        if self.store is not None and loop.condition is not None:
            self.frame.calls.clear()
            self.frame.row = loop.row or self.frame.row
            self.value(loop.condition)
        return state.breaks


class _Ways:
    """What holds where a `switch` is left, by label."""

    def __init__(self) -> None:
        self._left: dict[Label, list[Store]] = {}

    def add(self, labels: list[Label | None], stores: list[Store]) -> None:
        """Note where the cases that are being run leave it."""
        for label in labels:
            if label is not None and stores:
                self._left.setdefault(label, []).extend(stores)

    def certain(self) -> dict[Label, Store]:
        """Return those that leave it in one place only."""
        return {label: stores[0] for label, stores in self._left.items() if len(stores) == 1}


def _is_longer(old: Sizes, new: Sizes) -> bool:
    """Tell whether a list of Python is another one with items added at its end."""
    return len(new.items) > len(old.items) and new.items[: len(old.items)] == old.items


def _is_thing(value: Value) -> bool:
    return not isinstance(value, RunTime)


def _calls(block: Block) -> bool:
    """Tell whether a loop's body calls anything; loops that only compute are not worth unrolling."""
    return len(block) < 60 and any(isinstance(it, Call) for it in nodes(block))


def _assigns(node: object, name: str) -> bool:
    return isinstance(node, Assign) and node.target == Name(name)


def _assigned(block: Block) -> Iterator[str]:
    for statement in block:
        match statement:
            case Evaluate(value=Assign(target=Name(name))) | Declare(name=name):
                yield name
            case If(then=then, otherwise=otherwise):
                yield from _assigned(then)
                yield from _assigned(otherwise)
            case Loop(start=start, body=body, step=step):
                yield from _assigned((*start, *body, *step))
            case Scope(body):
                yield from _assigned(body)
            case Try(body, handlers):
                yield from _assigned(body)
                for handler in handlers:
                    yield from _assigned(handler)


def _only_reckons(loop: Loop) -> bool:
    """Tell a loop that does no more than to give values to variables and fields."""
    parts = (*loop.body, *loop.step, *((Evaluate(loop.condition),) if loop.condition is not None else ()))
    for it in nodes(parts):
        match it:
            case Assign(target=Name() | Member()) | Declare(dimensions=(), arguments=None):
                pass
            case Assign() | Declare() | Call() | New() | Lambda() | Opaque():
                return False
            case Loop() | Return() | Raise() | Try():
                return False
    return True


def _makes_kernels(loop: Loop) -> bool:
    called = (it.function for it in nodes(loop.body) if isinstance(it, Call))
    return any(isinstance(it, Name | Member) and it.name in _MAKING for it in called)
