"""An abstract interpreter over host programs.

It runs a program with everything that depends on the run left open, and beside each open value keeps the one
that the program takes unless told otherwise: without arguments on its command line, and where the device
makes no difference. Ways join behind an `if`; what a loop changes is open inside of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from clmap_lsp.hosts.project import HostProject
from clmap_lsp.hosts.store import Store, join, join_values, named
from clmap_lsp.hosts.strings import percent, piece
from clmap_lsp.hosts.tree import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Class,
    Conditional,
    Declare,
    Dereference,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Items,
    Jump,
    Lambda,
    Loop,
    Member,
    Name,
    New,
    Num,
    Opaque,
    Parameter,
    Raise,
    Return,
    Scope,
    SizeOf,
    Stmt,
    Str,
    Switch,
    Unary,
)
from clmap_lsp.hosts.values import (
    Alternatives,
    ArrayValue,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    asks_device,
    binary,
    converted,
    default_of,
    is_whole,
    joined,
    name_of,
    negated,
    size_of,
    text_of,
)
from clmap_lsp.hosts.walking import called_names, indexes, nodes, weight, writes

MAX_STEPS = 80_000
"""Statements and calls from one start, and places that are copied or compared where ways part and join, a
hundred of them as one; what is left then is not run."""
_DEVICE_LIMITS = re.compile(
    r"work_?group_?size|max_?work|compute_?units|local_?mem|max_?(?:local|group|threads)", re.IGNORECASE
)
"""What fields that hold an answer of the device are called."""
_SHORT = 40
"""Statements of a function that is run even if no OpenCL is called below it."""
_TELLING = frozenset(
    (
        *("enqueueNDRangeKernel", "EnqueueArgs", "setArg", "Program", "Kernel", "KernelFunctor"),
        *("make_kernel", "build", "NDRange", "Buffer", "fopen", "ifstream", "fread"),
    )
)
_MAX_DEPTH = 24
_MAX_UNROLLED = 8
_MAX_LINKS = 8
"""Members and subscripts behind each other; each asks for those before it more than once."""
_MAX_ITEMS = 256
"""Items of a list that are told apart."""
_MAX_MACRO_DEPTH = 16


@dataclass(slots=True)
class Raised:
    """One launch as it was reached."""

    kernel: Value
    store: Store
    path: str
    row: int
    global_size: Value
    local_size: Value
    dimensions: int | None
    arguments: Mapping[int, Value]
    looped: bool = False


@dataclass(slots=True)
class Frame:
    """One call."""

    function: Function
    scope: str
    this: Value | None = None
    names: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    outer: Frame | None = None
    """Where a lambda was written."""
    returns: list[tuple[Value, Store]] = field(default_factory=list)
    macros: dict[str, Value] = field(default_factory=dict)
    calls: dict[tuple[int, int], tuple[Call, Value]] = field(default_factory=dict)
    """What the calls of the statement that is being run gave."""
    is_module: bool = False


@dataclass(slots=True)
class _LoopState:
    breaks: list[Store] = field(default_factory=list)
    continues: list[Store] = field(default_factory=list)


class OutOfStepsError(Exception):
    """The work that one start may take is spent."""


CallHandler = Callable[["Interpreter", Call, list[Value]], Value | None]


class Interpreter:
    """Runs functions of one project. `launches` fills as they are reached."""

    def __init__(self, project: HostProject, handlers: Mapping[str, CallHandler]) -> None:
        self.project = project
        self.handlers = handlers
        self.store: Store | None = Store()
        self.launches: list[Raised] = []
        self.entered: set[tuple[str, int]] = set()
        """Functions that were run, by file and row."""
        self.frames: list[Frame] = []
        self.types: dict[str, str] = {}
        """Types of places, as text."""
        self.arrays: set[str] = set()
        self.objects: dict[str, str] = {}
        """Classes of places that hold an object of the project's own."""
        self.lambdas: dict[int, tuple[Function, Frame | None]] = {}
        self.loops: list[_LoopState] = []
        self.trials = 0
        """Above 0, launches are not noted: a loop's first turn is only tried."""
        self.steps = 0
        self.initial: dict[str, Value] = {}
        """What variables outside of functions start as, for ways on which nothing wrote them yet."""
        self.site = 0
        self.sites: dict[tuple[object, ...], int] = {}
        self.loop_depth = 0
        self.macro_depth = 0
        self.macro_use = self.macro_uses = 0
        """Which use of a macro is being evaluated: each evaluates the calls in its body."""
        self.opened: set[str] = set()
        """Names of variables and fields that functions which were not run may have given other values."""
        self.blocks: list[set[str]] = []
        """Of each block of C that is being run, the names that it declares."""

    # --------------------------------------------------------------------------------------- starting

    @property
    def frame(self) -> Frame:
        """The call that is being run."""
        return self.frames[-1]

    @property
    def path(self) -> str:
        """The file that is being run."""
        return self.frames[-1].function.path if self.frames else ""

    def start(self, function: Function, this: Value | None = None, *, module: bool = False) -> None:
        """Run a function that nothing calls: its parameters are open, but for their defaults."""
        frame = Frame(function, f"f{self.site}", this, is_module=module)
        self.site += 1
        self.entered.add((function.path, function.row))
        self.frames.append(frame)
        if self.store is None:
            self.store = Store()
        try:
            self._templates(function, ())
            for index, parameter in enumerate(function.parameters):
                if this is not None and index == 0 and parameter.name in ("self", "cls"):
                    frame.names[parameter.name] = self._declare(parameter.name, "")
                    self.put(frame.names[parameter.name], this)
                    continue
                place = self._declare(parameter.name, parameter.type)
                value: Value = RunTime(parameter.name)
                if function.name == "main" and index == 0:
                    value = RunTime(parameter.name, default=1)
                elif parameter.default is not None:
                    value = _opened(parameter.name, self.value(parameter.default))
                self.put(place, value)
            self.block(function.first)
            self.block(function.body)
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.frames.pop()

    # ------------------------------------------------------------------------------------- statements

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

    def statement(self, statement: Stmt) -> None:
        """Run one statement."""
        self._step()
        self.frame.calls.clear()
        match statement:
            case Evaluate(value):
                self._read_from_stream(value)
                self.value(value)
            case Declare():
                self._declaration(statement)
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
                self.store = None
            case Scope(body):
                self.scoped(body)

    def _step(self, work: int = 1) -> None:
        self.steps += work
        if self.steps > MAX_STEPS or not self.project.budget.take_steps(work):
            raise OutOfStepsError

    def _declare(self, name: str, type_name: str) -> str:
        frame = self.frame
        place = self.global_place(name) if frame.is_module else f"{frame.scope}#{name}"
        if self.blocks and not frame.is_module and not self.path.endswith(".py"):
            if name in frame.names and name not in self.blocks[-1]:
                place = f"{frame.scope}.{len(self.blocks)}#{name}"  # It hides one of an outer block.
            self.blocks[-1].add(name)
        frame.names[name] = place
        self.types[place] = type_name
        return place

    def _declaration(self, declare: Declare) -> None:
        place = self._declare(declare.name, declare.type + ("*" if declare.is_pointer else ""))
        self.define(place, declare)

    def define(self, place: str, declare: Declare) -> None:
        """Give a variable at a place what its declaration says."""
        store = self.store
        if store is None:
            return
        for suffix in ("", *(f"[{i}]" for i in range(9)), "[*]"):
            store.pop(place + suffix, None)
        if declare.is_reference and declare.value is not None:
            target = self.place(declare.value)
            if target is not None and self.frames and not self.frame.is_module:
                self.frame.names[declare.name] = target
                return
        if declare.dimensions:
            self.arrays.add(place)
            self.types[place] = declare.type
            if declare.value is not None:
                self._fill(place, declare.value)
            return
        if declare.value is not None:
            value = declare.value
            if isinstance(value, Items) and not declare.is_pointer:
                self._construct(place, declare, value.items)
            else:
                result = self.value(value)
                if isinstance(result, Pointer) and result.place in self.objects:
                    self.objects[place] = self.objects[result.place]
                    is_other = isinstance(value, (Name, Member, Index, Dereference))
                    if is_other and not declare.is_pointer and self._copied(place, result):
                        return
                self.put(place, result)
            self._lasting(place, declare)
        else:
            self._construct(place, declare, declare.arguments)

    def _lasting(self, place: str, declare: Declare) -> None:
        """Open a static variable of a function that the function changes: it starts as it was left."""
        if declare.is_static and self.frames and not self.frame.is_module and self.store is not None:
            held = self.store.get(place)
            if isinstance(held, Number) and declare.name in _changed_names(self.frame.function):
                self.store[place] = _opened(declare.name, held)

    def _copied(self, place: str, source: Value) -> bool:
        """Copy an object of C or C++ that is given by value, field by field; False where it is not."""
        if self.path.endswith(".py") or self.store is None or not isinstance(source, Pointer):
            return False
        if "*" in self.types.get(place, "*") or source.place == place or source.place[:1] in "kpbn":
            return False
        if isinstance(self.store.get(source.place), Pointer):
            return False
        self.objects[place] = self.objects.get(source.place, "")
        start = source.place + "."
        for it, held in list(self.store.items()):
            if it.startswith(start):
                self.store[f"{place}.{it[len(start) :]}"] = held
        self.store.pop(place, None)
        return True

    def _construct(self, place: str, declare: Declare, arguments: Sequence[Expr] | None) -> None:
        """Make an object of a declared type."""
        known = self.handlers.get("new " + declare.type)
        if known is not None and not declare.is_pointer:
            given = [self.value(it) for it in arguments or ()]
            call = Call(Name(declare.type), tuple(arguments or ()), {}, declare.template, declare.row)
            made = known(self, call, given)
            if made is not None:
                self.put(place, made)
            return
        cls = None if declare.is_pointer else self.project.class_named(declare.type, self.path)
        if cls is not None:
            self.construct(place, cls, [self.value(it) for it in arguments or ()], tuple(arguments or ()))
        elif arguments:
            if len(arguments) == 1:
                self.put(place, self.value(arguments[0]))
            else:
                self._fill(place, Items(tuple(arguments)))

    def construct(self, place: str, cls: Class, values: list[Value], exprs: Sequence[Expr] = ()) -> None:
        """Make an object of one of the project's classes at a place."""
        self.objects[place] = cls.name
        self._fields(place, cls, 0)
        makers = self.project.functions(cls.name, self.path, cls.name)
        makers += self.project.functions("__init__", self.path, cls.name)
        fitting = [it for it in makers if len(it.parameters) == len(values)] or [
            it for it in makers if _accepts(it, len(values))
        ]
        if fitting:
            self.call(fitting[0], values, exprs, Pointer(place))
        elif not makers and exprs and len(exprs) == len(cls.fields):
            for declare, value in zip(cls.fields, values, strict=True):
                self.put(f"{place}.{declare.name}", value)

    def make(self, place: str, cls: Class, maker: Function | None, path: str) -> None:
        """Make an object with all that its constructor is given left open."""
        frame = Frame(Function("", cls.name, (), (), path, 0), "made", Pointer(place))
        self.store = self.store if self.store is not None else Store()
        self.frames.append(frame)
        try:
            self.objects[place] = cls.name
            self._fields(place, cls, 0)
            if maker is not None:
                parameters = [it for it in maker.parameters if it.name not in ("self", "cls")]
                self.call(
                    maker, [RunTime(it.name) for it in parameters if it.default is None], (), Pointer(place)
                )
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.frames.pop()
            self.store = self.store if self.store is not None else Store()

    def _fields(self, place: str, cls: Class, depth: int) -> None:
        for base in cls.bases if depth < 4 else ():
            inherited = self.project.class_named(base, self.path)
            if inherited is not None and inherited.name != cls.name:
                self._fields(place, inherited, depth + 1)
        for declare in cls.fields:
            target = f"{place}.{declare.name}"
            self.types[target] = declare.type + ("*" if declare.is_pointer else "")
            if declare.dimensions:
                self.arrays.add(target)
            if declare.value is not None and self.store is not None:
                self.define(target, replace(declare, is_reference=False))

    def _fill(self, place: str, value: Expr) -> None:
        """Give an array, or an object without a constructor, the items of a list."""
        if isinstance(value, Items):
            for index, item in enumerate(value.items):
                if isinstance(item, Items):
                    self._fill(f"{place}[{index}]", item)
                else:
                    held = self.value(item)
                    is_table = "void" not in self.types.get(place.partition("[")[0], "")
                    if isinstance(held, Pointer) and isinstance(item, (AddressOf, Cast)) and is_table:
                        self._escaped(held)
                    self.put(f"{place}[{index}]", held)
        else:
            self.put(place, self.value(value))

    def _if(self, statement: If) -> None:
        self._read_from_stream(statement.condition)
        condition = self.value(statement.condition)
        truth = _truth(condition)
        if truth is not None:
            self.scoped(statement.then if truth else statement.otherwise)
            return
        before = self.store
        if before is None:
            return
        self._step(1 + len(before) // 30)
        self.store = before.copied()
        self.scoped(statement.then)
        after_then = self.store
        self.store = before.copied()
        self.scoped(statement.otherwise)
        self.store = self.joined(after_then, self.store, self._way(condition, bool(statement.otherwise)))

    def joined(self, one: Store | None, two: Store | None, default: int | None) -> Store | None:
        """Return what holds behind two ways, of which one may have been the first to use a variable."""
        if one is not None and two is not None:
            for place, value in self.initial.items():
                if (place in one) != (place in two):
                    (two if place in one else one).setdefault(place, value)
        return join(one, two, default)

    def _way(self, condition: Value, has_otherwise: bool) -> int | None:
        """Return the way that is taken unless the program is told otherwise."""
        default = default_of(condition)
        if default is not None:
            return 0 if default else 1
        if not has_otherwise and (asks_device(condition) or _DEVICE_LIMITS.search(text_of(condition))):
            # `if (size > what the device allows) size = …`: a size that the author chose mostly stays.
            return 1
        return None

    def _switch(self, statement: Switch) -> None:
        subject = self.value(statement.subject)
        before = self.store
        if before is None:
            return
        state = _LoopState()
        self.loops.append(state)
        known = default_of(subject)
        falling: Store | None = None
        chosen: Store | None = None
        has_default = any(label is None for label, _ in statement.cases)
        for label, body in statement.cases:
            taken = self.value(label) if label is not None else None
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
            self.store = self.joined(falling, before.copied(), 1 if is_chosen else None)
            marker = len(state.breaks)
            self.scoped(body)
            falling = self.store
            if is_chosen:
                chosen = state.breaks[marker] if len(state.breaks) > marker else falling
                if isinstance(subject, Number):
                    has_default = True
                    if falling is None:
                        break
        self.loops.pop()
        self.store = falling
        for left in state.breaks:
            self.store = self.joined(
                self.store, left, 1 if left is chosen else 0 if chosen is self.store else None
            )
        if not has_default:
            self.store = self.joined(self.store, before, 1 if known is not None and chosen is None else None)

    # ------------------------------------------------------------------------------------------ loops

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
        turns = self._turns(loop)
        if turns is not None:
            self._unrolled(loop, turns)
            return
        first = self.value(loop.condition) if loop.condition is not None else Number(1)
        if loop.tests_first and _truth(first) is False:
            return
        default = default_of(first) if loop.tests_first else 1
        limited = asks_device(first) or _DEVICE_LIMITS.search(text_of(first)) is not None
        skipped = default == 0 or (default is None and limited)
        self._widened(loop, skipped=skipped, never=loop.tests_first and _truth(first) is not True)

    def _turns(self, loop: Loop) -> int | None:
        """Return how often a short loop with known bounds turns; `None` if that is not known or too much."""
        match loop:
            case Loop(start=(Declare(name=name) | Evaluate(value=Assign(target=Name(name=name), op="")),)):
                pass
            case _:
                return None
        if loop.condition is None or len(loop.step) != 1 or self.store is None or not _calls(loop.body):
            return None
        before, trial = self.store, self.store.copied()
        self.store = trial
        self.trials += 1
        count: int | None = 0
        try:
            for turn in range(_MAX_UNROLLED + 1):
                self.frame.calls.clear()
                truth = self.value(loop.condition)
                if not isinstance(truth, Number):
                    count = None
                    break
                if not truth.value:
                    count = turn
                    break
                self.block(loop.step)
            else:
                count = None
        finally:
            self.trials -= 1
            self.store = before
        if name in set(_assigned(loop.body)) or not indexes(loop.body, name):
            return None  # Only what differs by its place in an array, such as kernels, is told apart.
        return count

    def _unrolled(self, loop: Loop, turns: int) -> None:
        for _ in range(turns):
            if not self._turn(loop.body):
                return
            self.block(loop.step)

    def _turn(self, body: Block) -> bool:
        """Run a body once where nothing else leaves it; False if it was left for good."""
        state = _LoopState()
        self.loops.append(state)
        self.scoped(body)
        self.loops.pop()
        for left in state.continues:
            self.store = self.joined(self.store, left, None)
        alive = self.store is not None
        for left in state.breaks:
            self.store = self.joined(self.store, left, None)
        return alive and self.store is not None

    def _each(self, loop: Loop, each: Expr, over: Value) -> None:
        items = self._items(over)
        if items is not None and len(items) <= _MAX_UNROLLED and all(map(_is_thing, items)):
            for item in items:
                self.assign(each, item)
                if not self._turn(loop.body):
                    return
            return
        self._open(each, over)
        self._widened(loop, skipped=False, never=True)

    def _items(self, value: Value) -> tuple[Value, ...] | None:
        if isinstance(value, Sizes):
            return value.items
        if isinstance(value, Pointer) and self.store is not None:
            found = []
            for index in range(_MAX_UNROLLED + 1):
                item = self.store.get(f"{value.place}[{index}]")
                if item is None:
                    break
                found.append(item)
            return tuple(found) if found and f"{value.place}[*]" not in self.store else None
        return None

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
        self._step(1 + len(before) // 10)
        self.trials += 1
        self.store = before.copied()
        try:
            self._body(loop)
        finally:
            self.trials -= 1
        after = self.store
        opened = before.copied()
        if after is not None:
            for place, value in after.items():
                old = before.read(place)
                if old is not None and old != value:
                    opened[place] = self._changed(place, old, value, skipped)
        self.store = opened
        self.loop_depth += 1
        breaks = self._body(loop)
        self.loop_depth -= 1
        end: Store | None = self.store
        for left in breaks:
            end = self.joined(end, left, None)
        self.store = self.joined(end, before, 1 if skipped else 0) if never else end

    def _changed(self, place: str, old: Value, new: Value, skipped: bool) -> Value:
        if isinstance(old, (Number, RunTime)) and isinstance(new, (Number, RunTime)):
            return RunTime(name_of(place).lstrip("."), default_of(old) if skipped else None)
        if isinstance(old, Text) and isinstance(new, Text) and str(new).startswith(str(old)):
            return joined(old, Text((RunTime("…"),)))
        return join_values(place, (old, new), old if skipped else None)

    def _body(self, loop: Loop) -> list[Store]:
        state = _LoopState()
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
            self.value(loop.condition)
        return state.breaks

    # ------------------------------------------------------------------------------------- expressions

    def value(self, expression: Expr) -> Value:
        """Return what an expression is worth, and do what it does."""
        match expression:
            case Num(number):
                return Number(number)
            case Str(parts, row):
                return self._string(parts, row)
            case Name(name, scope):
                return self._qualified(name, scope) if scope else self.named(name)
            case Binary():
                return self._binary(expression)
            case Unary(op, operand):
                return negated(op, self.value(operand))
            case AddressOf(operand):
                place = self.place(operand)
                if place is None:
                    return RunTime(f"&{text_of(self.value(operand))}")
                held = self.store.get(place) if self.store is not None else None
                return held if isinstance(held, Pointer) and held.place == place else Pointer(place)
            case Dereference(operand):
                return self._dereferenced(self.value(operand), operand)
            case Index() | Member() if _links(expression) > _MAX_LINKS:
                return RunTime("…")
            case Index(base, index):
                return self._indexed(expression, base, index)
            case Member(base, name):
                return self._member(expression, base, name)
            case Conditional():
                return self._conditional(expression)
            case Cast(type_name, operand):
                return converted(self._resolved(type_name), self.value(operand))
            case Items(items):
                return Sizes(tuple(self.value(it) for it in items))
            case Assign():
                return self._assignment(expression)
            case SizeOf(type_name, operand):
                return self._size(type_name, operand)
            case Call():
                return self.called(expression)
            case New():
                return self._new(expression)
            case Lambda(function):
                identity = len(self.lambdas) + 1
                outer = self._kept(identity) if function.by_value else self.frame if self.frames else None
                self.lambdas[identity] = (function, outer)
                return Routine(function.name, identity=identity)
            case Opaque(text, parts):
                last: Value = RunTime(text)
                for part in parts:
                    last = self.value(part)
                return (
                    last if text and len(parts) == 2 and "," in text else RunTime(" ".join(text.split())[:72])
                )

    def _kept(self, identity: int) -> Frame:
        """Return a frame with the values that variables have now, for a lambda that keeps them."""
        kept = replace(self.frame, names={}, returns=[])
        for name, place in self.frame.names.items():
            kept.names[name] = f"c{identity}#{name}"
            held = self.store.get(place) if self.store is not None else None
            if held is not None and not isinstance(held, Pointer) and self.store is not None:
                self.store[kept.names[name]] = held
            else:
                kept.names[name] = place
        return kept

    def _string(self, parts: Sequence[str | Expr], row: int) -> Text:
        result = Text((), row, self.path)
        for part in parts:
            if isinstance(part, str):
                result = joined(result, Text((part,)))
            else:
                result = joined(result, piece(self.text(self.value(part)) or self.value(part)))
        return result

    def text(self, value: Value) -> Text | None:
        """Return the string that a value is, or that stands where it points."""
        for _ in range(4):
            match value:
                case Text():
                    return value
                case Pointer(place) if self.store is not None:
                    found = self.store.read(place)
                    if found is None or found == value:
                        found = self.store.get(place + "[0]")
                    if found is None:
                        return None
                    value = found
                case _:
                    return None
        return None

    # .......................................................................................... names

    def _qualified(self, name: str, scope: str) -> Value:
        """Return what a name in a namespace or a class stands for."""
        cls = self.project.class_named(scope, self.path)
        declared = next((it for it in cls.fields if it.name == name), None) if cls is not None else None
        if declared is not None and declared.value is not None and declared.is_constant:
            return self.value(declared.value)
        return self.named(name) if declared is not None else self._outside(name, scope)

    def named(self, name: str) -> Value:
        """Return what a name stands for."""
        if name == "NULL":
            return Null()
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.macros:
                return frame.macros[name]
            place = frame.names.get(name)
            if place is not None:
                return self.read(place)
            frame = frame.outer
        if name == "this":
            return self.frame.this or RunTime("this")
        own = self._own_field(name)
        if own is not None:
            return self.read(own)
        return self._outside(name)

    def _own_field(self, name: str) -> str | None:
        """Return the place of a field of the object whose method is run."""
        frame: Frame | None = self.frame
        while frame is not None and frame.this is None:
            frame = frame.outer
        if frame is None or not isinstance(frame.this, Pointer) or frame.function.path.endswith(".py"):
            return None
        place = f"{frame.this.place}.{name}"
        known = self.store is not None and self.store.read(place) is not None
        return (
            place if known or place in self.types or self._has_field(frame.function.owner, name, 0) else None
        )

    def _has_field(self, owner: str, name: str, depth: int) -> bool:
        cls = self.project.class_named(owner, self.path) if owner and depth < 5 else None
        if cls is None:
            return False
        return any(it.name == name for it in cls.fields) or any(
            it != owner and self._has_field(it, name, depth + 1) for it in cls.bases
        )

    def _outside(self, name: str, scope: str = "") -> Value:
        """Return what a name stands for outside of functions."""
        macro = self.project.macro(name, self.path)
        if macro is not None and macro.parameters is None:
            if not macro.body or self.macro_depth > _MAX_MACRO_DEPTH:
                return RunTime(name)
            self.macro_depth += 1
            try:
                return self.value(self.project.expression(macro.body))
            finally:
                self.macro_depth -= 1
        place = self._global(name, scope)
        if place is not None:
            return self.read(place)
        constant = self.project.constant(name, self.path)
        if constant is not None and self.macro_depth <= _MAX_MACRO_DEPTH:
            self.macro_depth += 1
            try:
                return self.value(constant)
            finally:
                self.macro_depth -= 1
        if self.project.functions(name, self.path) or self.project.class_named(name, self.path):
            return Routine(name)
        return RunTime(name)

    def global_place(self, name: str) -> str:
        """Return the place of a variable of the file that is being run."""
        return f"g:{self.path}#{name}"

    def _global(self, name: str, scope: str = "") -> str | None:
        """Return the place of a variable outside of functions, which gets its first value at first use."""
        place = self.global_place(name)
        if not scope and (place in self.types or (self.store is not None and place in self.store)):
            return place
        if self.path.endswith(".py"):
            return None
        found = self.project.variable(name, self.path, scope)
        if found is None:
            return None
        path, declare = found
        place = f"g:{path}:{declare.scope}#{name}" if declare.scope else f"g:{path}#{name}"
        if place in self.types:
            return place
        self.types[place] = declare.type + ("*" if declare.is_pointer else "")
        if declare.dimensions:
            self.arrays.add(place)
        function = Function("", "", (), (), path, 0)
        self.frames.append(Frame(function, f"g:{path}", is_module=True))
        try:
            self.define(place, replace(declare, is_reference=False))
        finally:
            self.frames.pop()
        if self.store is None:
            return place
        if place in self.store:
            self.initial[place] = self.store[place]
        elif not declare.dimensions and size_of(self._resolved(declare.type)) and not declare.is_pointer:
            self.store[place] = self.initial[place] = RunTime(name)  # It is 0, or set where it is defined.
        is_entry = bool(self.frames) and self.frames[0].function.name == "main"
        is_own = is_entry and path == self.frames[0].function.path
        if not declare.is_constant:
            self._open_global(place, path, is_own=is_own)
        return place

    def _open_global(self, place: str, path: str, *, is_own: bool) -> None:
        """Open what of a variable outside of functions is changed where this run does not come along."""
        for it in [it for it in self.store or () if it == place or it.startswith((place + ".", place + "["))]:
            held = self.store[it] if self.store is not None else None
            name = re.split(r"[#.]", it.partition("[")[0])[-1]
            if not isinstance(held, (Number, Text)) or self.store is None:
                continue
            entry = self.frames[0].function
            elsewhere = self.project.written_apart(name, entry) if is_own else self.project.writes(name, path)
            if name in self.opened or elsewhere:
                self.store[it] = self.initial[it] = _opened(name, held)

    def read(self, place: str) -> Value:
        """Return what is at a place; what was never written there is open."""
        value = self.store.read(place) if self.store is not None else None
        value = value if value is not None else self.initial.get(place)
        if place in self.arrays:
            return value if isinstance(value, Text) else Pointer(place)
        if value is not None:
            return value
        if place in self.objects or self._is_structure(place):
            return Pointer(place)
        return RunTime(name_of(place).lstrip("."))

    def _is_structure(self, place: str) -> bool:
        type_name = self.types.get(place, "")
        if not type_name or "*" in type_name or is_whole(type_name):
            return False
        return self.project.class_named(type_name.removeprefix("struct ").strip(), self.path) is not None

    # ......................................................................................... places

    def place(self, expression: Expr) -> str | None:
        """Return the place that an expression names, if it names one."""
        match expression:
            case Name(name, scope):
                return self._global(name, scope) if scope else self._place_of(name)
            case Index(base, index):
                inner = self._base(base)
                if inner is None:
                    return None
                at = self.value(index)
                where = int(at.value) if isinstance(at, Number) else "*"
                if isinstance(at, Text) and at.plain is not None:
                    return f"{inner}.{at.plain}"
                return f"{inner}[{where}]"
            case Member(base, name):
                inner = self._base(base)
                return f"{inner}.{name}" if inner is not None else None
            case Dereference(operand):
                target = self.value(operand)
                return target.place if isinstance(target, Pointer) else None
            case Cast(_, operand):
                return self.place(operand)
            case _:
                return None

    def _base(self, expression: Expr) -> str | None:
        value = self.value(expression)
        if isinstance(value, Pointer):
            return value.place
        if isinstance(value, Alternatives) and isinstance(value.values[0], Pointer):
            return value.values[0].place
        return self.place(expression)

    def _place_of(self, name: str) -> str:
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        own = self._own_field(name)
        if own is not None:
            return own
        is_python = self.path.endswith(".py")
        if is_python and name in self.frame.function.globals:
            return self.global_place(name)
        found = self._global(name) if not is_python else None
        if found is not None:
            return found
        return self._declare(name, "")

    def put(self, place: str, value: Value) -> None:
        """Write a value to a place, as its type holds it."""
        if self.store is None:
            return
        type_name = self.types.get(place) or self.types.get(place.rpartition("[")[0], "")
        if type_name and "*" not in type_name:
            value = converted(self._resolved(type_name), value)
        self.store.write(place, named(place, value))

    def assign(self, target: Expr, value: Value) -> None:
        """Write a value to what an expression names; a list takes a value apart."""
        if isinstance(target, Items):
            parts = self._items(value)
            for index, item in enumerate(target.items):
                known = parts[index] if parts is not None and index < len(parts) else None
                text = f"{text_of(value)}[{index}]"
                self.assign(item, known if known is not None else RunTime(text))
            return
        if isinstance(target, Call):
            for it in target.arguments:  # `std::tie(one, two) = …`
                self.assign(it, RunTime(text_of(value)))
            return
        if isinstance(target, Index) and self.path.endswith(".py"):
            held = self.value(target.base)
            if isinstance(held, Sizes):
                self.replace_list(held, _with_item(held, self.value(target.index), value))
                return
        place = self.place(target)
        if place is not None:
            if isinstance(value, Pointer) and value.place in self.objects:
                self.objects[place] = self.objects[value.place]
                if self._copied(place, value):
                    return
            if isinstance(value, Pointer) and isinstance(target, Member):
                self._escaped(value)
            self.put(place, value)

    def replace_list(self, before: Value, after: Value) -> None:
        """Give a list of Python other items, under all its names."""
        for place, held in list(self.store.items()) if self.store is not None else ():
            if held is before and self.store is not None:
                self.store[place] = named(place, after)

    def _escaped(self, pointer: Pointer) -> None:
        """Open a number whose address an object keeps, as an option parser does: it may be set from there."""
        held = self.store.get(pointer.place) if self.store is not None else None
        if isinstance(held, Number) and self.store is not None:
            self.store[pointer.place] = RunTime(name_of(pointer.place).lstrip("."), held.value)

    def _assignment(self, assign: Assign) -> Value:
        value = self.value(assign.value)
        if assign.op:
            before = self.value(assign.target)
            value = self.combined(assign.op, before, value)
        if isinstance(assign.value, Items) and not self.path.endswith(".py"):
            place = self.place(assign.target)
            if place is not None:
                self._fill(place, assign.value)
                return value
        self.assign(assign.target, value)
        return value

    # ..................................................................................... operations

    def _binary(self, expression: Binary) -> Value:
        op = expression.op
        if op in ("&&", "||"):
            return self._logical(op, expression.left, expression.right)
        return self.combined(op, self.value(expression.left), self.value(expression.right))

    def combined(self, op: str, left: Value, right: Value) -> Value:
        """Return `left op right` for anything that host code computes with."""
        one, two = self._string_operand(left, right), self._string_operand(right, left)
        if op == "+" and one is not None and two is not None:
            return joined(one, two)
        if op == "mod" and isinstance(left, Text):
            items = right.items if isinstance(right, Sizes) else ()
            return percent(left, right, items, self.entries(right))
        if op == "<<" and isinstance(left, Text):
            return joined(left, piece(self.text(right) or right))
        if op == "+" and isinstance(left, Pointer):
            return Pointer(left.place, moved=right != Number(0))
        if op == "+" and isinstance(left, Sizes) and isinstance(right, Sizes):
            if len(left.items) + len(right.items) > _MAX_ITEMS:
                return RunTime("…")
            return Sizes(left.items + right.items)
        if op == "*" and isinstance(left, Sizes) and isinstance(right, Number) and len(left.items) == 1:
            return Sizes(left.items * max(min(int(right.value), 9), 0))
        if op in ("==", "!="):
            return self._equal(op, left, right)
        if isinstance(left, ArrayValue) or isinstance(right, ArrayValue):
            return left if isinstance(left, ArrayValue) else right
        return binary(op, left, right)

    def _string_operand(self, value: Value, other: Value) -> Text | None:
        if isinstance(value, Text):
            return value
        if isinstance(other, Text) and isinstance(value, (Pointer, RunTime, Number)):
            return self.text(value) or piece(value)
        return None

    def _equal(self, op: str, left: Value, right: Value) -> Value:
        one, two = self.text(left), self.text(right)
        if one is not None and two is not None and one.plain is not None and two.plain is not None:
            return Number(int((one.plain == two.plain) == (op == "==")))
        for value, other in ((left, right), (right, left)):
            if value in (Null(), Number(0)) and isinstance(other, (Pointer, Text, Sizes, Routine, Null)):
                same = isinstance(other, Null) == (value == Null())
                return Number(int(same == (op == "==")))
        return binary(op, left, right)

    def _logical(self, op: str, left: Expr, right: Expr) -> Value:
        first = self.value(left)
        truth = _truth(first)
        stops = op == "||"
        is_python = self.path.endswith(".py")
        if truth is stops:
            return Number(int(stops)) if not is_python else first
        second = self.value(right)
        if truth is not None:
            return second if is_python else _flag(second)
        if is_python and not isinstance(second, RunTime):
            return RunTime(f"{text_of(first)} {'or' if stops else 'and'} {text_of(second)}", opaque=False)
        known = _truth(second)
        one, two = default_of(first), default_of(second)
        default: int | None = None
        for it in (one, two):
            if it is not None and bool(it) is stops:
                default = int(stops)
        if default is None and one is not None and two is not None:
            default = int(not stops)
        if known is stops:
            return Number(int(stops))
        text = f"{text_of(first)} {op} {text_of(second)}"
        return RunTime(text, default, device=asks_device(first) or asks_device(second))

    def _conditional(self, expression: Conditional) -> Value:
        condition = self.value(expression.condition)
        truth = _truth(condition)
        if truth is not None:
            return self.value(expression.yes if truth else expression.no)
        yes, no = self.value(expression.yes), self.value(expression.no)
        if yes == no:
            return yes
        way = self._way(condition, True)
        if isinstance(yes, (Number, RunTime)) and isinstance(no, (Number, RunTime)):
            text = f"{text_of(condition)} ? {text_of(yes)} : {text_of(no)}"
            device = asks_device(condition)
            return RunTime(
                text, None if way is None else default_of((yes, no)[way]), opaque=False, device=device
            )
        return join_values("#?", (yes, no), None if way is None else (yes, no)[way])

    def _dereferenced(self, value: Value, operand: Expr) -> Value:
        if isinstance(value, Pointer):
            if value.moved:
                return RunTime(f"*{text_of(value)}")
            return (
                value if value.place[:1] in "kpb" and value.place[1:2].isdigit() else self.read(value.place)
            )
        if isinstance(value, (Routine, Alternatives)):
            return value
        return RunTime(f"*{text_of(value)}") if not isinstance(operand, Name) else RunTime(f"*{operand.name}")

    def _indexed(self, whole: Index, base: Expr, index: Expr) -> Value:
        value, at = self.value(base), self.value(index)
        if isinstance(value, ArrayValue):
            return ArrayValue(RunTime(f"{text_of(value)}[…]"), value.item_bytes)
        if (
            isinstance(value, Sizes)
            and isinstance(at, Number)
            and -len(value.items) <= at.value < len(value.items)
        ):
            return value.items[int(at.value)]
        if isinstance(value, Sizes):
            return join_values("#item", value.items) if value.items else RunTime("?")
        if isinstance(value, RunTime) and not isinstance(base, (Name, Member, Index)):
            return RunTime(f"{value.text}[{text_of(at)}]", device=value.device)
        place = self.place(whole)
        if place is None:
            return RunTime(f"{text_of(value)}[{text_of(at)}]")
        found = self.read(place)
        if isinstance(found, RunTime) and found.text == name_of(place).lstrip(".") and "[*]" in found.text:
            found = replace(found, text=found.text.replace("[*]", f"[{text_of(at)}]"))
        if isinstance(value, RunTime) and found == RunTime(name_of(place).lstrip(".")):
            return RunTime(f"{value.text}[{text_of(at)}]", device=value.device)
        return found

    def _member(self, whole: Member, base: Expr, name: str) -> Value:
        value = self.value(base)
        handler = self.handlers.get("." + name)
        if handler is not None and not _is_program(value):
            found = handler(self, Call(whole, ()), [value])
            if found is not None:
                return found
        if isinstance(value, Pointer):
            place = f"{value.place}.{name}"
            if self.store is not None and self.store.read(place) is not None:
                return self.read(place)
            owner = self.objects.get(value.place)
            if owner is not None and self.method(owner, name) is not None:
                return Routine(name, owner, value)
            attribute = self.handlers.get(
                "attribute of " + value.place.partition("#")[0].rstrip("0123456789")
            )
            if attribute is not None:
                made = attribute(self, Call(whole, ()), [value])
                if made is not None:
                    return made
            return self.read(place)
        place_ = self.place(whole)
        if place_ is not None and not isinstance(value, (Sizes, ArrayValue, Text)):
            known = self.store.read(place_) if self.store is not None else None
            if known is not None:
                return self.read(place_)
        found_ = self._static(base, name)
        return found_ if found_ is not None else RunTime(f"{text_of(value)}.{name}")

    def _static(self, base: Expr, name: str) -> Value | None:
        """Return a field of a class, or a variable of another module."""
        if not isinstance(base, Name):
            return None
        cls = self.project.class_named(base.name, self.path)
        if cls is not None:
            declared = next((it for it in cls.fields if it.name == name), None)
            if declared is not None and declared.value is not None:
                return self.value(declared.value)
        return None

    def _size(self, type_name: str, operand: Expr | None) -> Value:
        if operand is not None and not (isinstance(operand, Name) and size_of(type_name)):
            place = self.place(operand) if isinstance(operand, (Name, Member, Index, Dereference)) else None
            held = self.types.get(place, "") if place is not None else ""
            element = size_of(self._resolved(held))
            if place is not None and place in self.arrays and self.store is not None and element is not None:
                count = 0
                while f"{place}[{count}]" in self.store:
                    count += 1
                return Number(count * element) if count else RunTime(f"sizeof({name_of(place)})")
            if isinstance(operand, (Index, Dereference)):
                base = operand.base if isinstance(operand, Index) else operand.operand
                inner = self.place(base)
                of_base = self.types.get(inner, "") if inner is not None else ""
                element = size_of(self._resolved(of_base.removesuffix("*")))
            if element is not None:
                return Number(element)
            if not isinstance(operand, Name):
                return RunTime(f"sizeof({text_of(self.value(operand))})")
        known = size_of(self._resolved(type_name))
        return Number(known) if known is not None else RunTime(f"sizeof({type_name})")

    def _resolved(self, type_name: str) -> str:
        """Return a type behind `typedef`s and macros."""
        for _ in range(4):
            if not type_name or size_of(type_name) is not None:
                return type_name
            bare = type_name.replace("const", "").replace("static", "").strip()
            macro = self.project.macro(bare, self.path)
            following = macro.body if macro is not None else self.project.type_named(bare, self.path)
            if not following or following == type_name:
                return bare
            type_name = following
        return type_name

    def _new(self, expression: New) -> Value:
        call = Call(Name(expression.type), expression.arguments, {}, expression.template, expression.row)
        return self.called(call)

    # ----------------------------------------------------------------------------------------- calls

    def called(self, call: Call) -> Value:
        """Return what a call gives, and do what it does: once in each statement, if asked more often."""
        key = (id(call), self.macro_use)
        known = self.frame.calls.get(key)
        if known is not None:
            return known[1]
        self._step()
        frame = self.frame
        result = self._called(call)
        frame.calls[key] = call, result  # Held, so that no other call gets its identity.
        return result

    def _called(self, call: Call) -> Value:
        callee = call.function
        name = callee.name if isinstance(callee, (Name, Member)) else ""
        macro = self.project.macro(name, self.path) if isinstance(callee, Name) else None
        is_opencl = name.startswith("cl") and name in self.handlers  # Profilers put macros of the same name.
        if macro is not None and macro.parameters is not None and not is_opencl:
            return self._macro_call(call, macro.parameters, macro.body)
        owner: Value | None = None
        if isinstance(callee, Member):
            owner = self.value(callee.base)
            handler = self.handlers.get("." + name + "()")
            if _is_program(owner) and name not in _PROGRAM_METHODS:
                handler = None
        else:
            handler = self.handlers.get(name) or self.handlers.get("new " + name)
        values: list[Value] | None = None
        if handler is not None and not self._is_own(name, callee):
            values = [self.value(it) for it in call.arguments]
            result = handler(self, call, [owner, *values] if owner is not None else values)
            if result is not None:
                return result
        own = self.handlers.get("own " + name)
        if values is None:
            values = [self.value(it) for it in call.arguments]
        if own is not None:
            result = own(self, call, values)
            if result is not None:
                return result
        function, this = self._target(call, callee, owner, values)
        if function is not None and self._matters(function):
            return self._inlined(call, function, values, this)
        if function is not None:
            self.skip(function, values, call.arguments)
        made = self._object(call, name, values)
        if made is not None:
            return made
        special = self.handlers["unknown"](self, call, [owner or Null(), *values])
        return special if special is not None else RunTime(call.text or name)

    def skip(self, function: Function, values: Sequence[Value], exprs: Sequence[Expr] = ()) -> None:
        """Open what a function that is not run may write; what it was before is kept as the default."""
        effects = self.project.effects(function)
        parameters = [it for it in function.parameters if it.name not in ("self", "cls")]
        for index, parameter in enumerate(parameters[: len(values)]):
            if parameter.name.lstrip("*") not in effects.parameters:
                continue
            value = values[index]
            if isinstance(value, Pointer):
                self.open_at(value.place)
            if parameter.is_reference and index < len(exprs):
                place = self.place(exprs[index])
                if place is not None:
                    self.open_at(place)
        names = effects.names | effects.fields
        self.opened |= names
        for place in list(self.store or ()):
            last = name_of(place).rpartition(".")
            if last[2] in (effects.fields if last[1] else effects.names) and (last[1] or place[:2] == "g:"):
                self.open_at(place)

    def skip_routine(self, routine: Routine) -> None:
        """Open what a function may write that was handed to one that is not known."""
        known = self.lambdas.get(routine.identity)
        if known is None:
            for function in self.project.functions(routine.name, self.path)[:1]:
                self.skip(function, ())
            return
        function, frame = known
        for name in writes(function).names:
            it = frame
            while it is not None and name not in it.names:
                it = it.outer
            if it is not None:
                self.open_at(it.names[name])
        self.skip(function, ())

    def open_at(self, place: str, *, keeps_default: bool = True, device: bool = False) -> None:
        """Open the number at a place, and those of its elements and fields."""
        store = self.store
        if store is None:
            return
        for it in [it for it in store if it == place or it.startswith((place + ".", place + "["))]:
            held = store[it]
            if isinstance(held, (Number, RunTime)):
                kept = default_of(held) if keeps_default else None
                store[it] = RunTime(name_of(it).lstrip("."), kept, device=device)

    def _matters(self, function: Function) -> bool:
        """Tell whether running a function can teach anything: it is short, or OpenCL is called below it."""
        key = (function.path, function.row)
        if key not in self.project.matters:
            self.project.matters[key] = True  # For those that call each other.
            short = weight(function.body, _SHORT) < _SHORT
            self.project.matters[key] = short or self._reaches(function, 0)
        return self.project.matters[key]

    def _reaches(self, function: Function, depth: int) -> bool:
        names = called_names(function)
        if any((it.startswith("cl") and it in self.handlers) or it in _TELLING for it in names):
            return True
        if depth > 4:
            return False
        for name in names:
            for inner in self.project.functions(name, function.path):
                if inner is not function and (inner.path, inner.row) not in self.project.matters:
                    self.project.matters[inner.path, inner.row] = weight(
                        inner.body, _SHORT
                    ) < _SHORT or self._reaches(inner, depth + 1)
                key = (inner.path, inner.row)
                if inner is function or not self.project.matters.get(key):
                    continue
                if key not in self.project.reaches:
                    self.project.reaches[key] = False  # For those that call each other.
                    self.project.reaches[key] = self._reaches(inner, depth + 1)
                if self.project.reaches[key]:
                    return True
        return False

    def _is_own(self, name: str, callee: Expr) -> bool:
        """Tell whether a function is the project's own although it is called as one that is known."""
        return isinstance(callee, Name) and name in self.frame.names

    def _macro_call(self, call: Call, parameters: Sequence[str], body: str) -> Value:
        values = [self.value(it) for it in call.arguments]
        if self.macro_depth > _MAX_MACRO_DEPTH:
            return RunTime(call.text)
        frame = self.frame
        before, use = dict(frame.macros), self.macro_use
        self.macro_uses += 1
        self.macro_use = self.macro_uses
        frame.macros.update(zip(parameters, values, strict=False))
        self.macro_depth += 1
        try:
            expression = self.project.expression(body.rstrip("; \t"))
            return RunTime(call.text) if isinstance(expression, Opaque) else self.value(expression)
        finally:
            self.macro_depth -= 1
            self.macro_use = use
            frame.macros = before

    def method(self, owner: str, name: str, depth: int = 0) -> Function | None:
        """Return the method of a class or of what it inherits from."""
        found = self.project.functions(name, self.path, owner)
        if found:
            return found[0]
        cls = self.project.class_named(owner, self.path) if depth < 5 else None
        for base in cls.bases if cls is not None else ():
            inherited = self.method(base, name, depth + 1) if base != owner else None
            if inherited is not None:
                return inherited
        return None

    def _target(
        self, call: Call, callee: Expr, owner: Value | None, values: Sequence[Value]
    ) -> tuple[Function | None, Value | None]:
        """Return the project's function that is called, and the object that it is called for."""
        match callee:
            case Name(name):
                held = self.named(name) if self._is_local(name) else None
                if isinstance(held, Routine):
                    return self._held(held, values)
                if isinstance(held, Pointer) and held.place in self.objects:
                    return self.method(self.objects[held.place], "__call__"), held
                own = self.frame.this
                if own is not None and self.frame.function.owner and not self.path.endswith(".py"):
                    method = self._overload(
                        self.project.functions(name, self.path, self.frame.function.owner), values
                    ) or self.method(self.frame.function.owner, name)
                    if method is not None:
                        return method, own
                candidates = [it for it in self.project.functions(name, self.path) if not it.owner]
                return self._overload(candidates, values), None
            case Member(_, name):
                if isinstance(owner, Pointer):
                    cls = self.objects.get(owner.place) or self._class_of(owner.place)
                    if cls:
                        method = self._overload(self.project.functions(name, self.path, cls), values)
                        return method or self.method(cls, name), owner
                held = self.value(callee)
                if isinstance(held, Routine):
                    return self._held(held, values)
                if isinstance(owner, RunTime):
                    methods = [it for it in self.project.functions(name, self.path) if it.owner]
                    owners = {it.owner for it in methods}
                    if len(owners) == 1:
                        this = Pointer(f"o:{next(iter(owners))}#")
                        return self._overload(methods, values), this
                return None, None
            case _:
                held = self.value(callee)
                return self._held(held, values) if isinstance(held, Routine) else (None, None)

    def _is_local(self, name: str) -> bool:
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.names:
                return True
            frame = frame.outer
        return self._own_field(name) is not None

    def _class_of(self, place: str) -> str:
        type_name = self.types.get(place, "").replace("*", "").removeprefix("struct ").strip()
        if type_name and self.project.class_named(type_name, self.path) is not None:
            return type_name
        return ""

    def _held(self, held: Routine, values: Sequence[Value]) -> tuple[Function | None, Value | None]:
        if held.identity in self.lambdas:
            return self.lambdas[held.identity][0], None
        if held.owner:
            return self.method(held.owner, held.name), held.this
        return self._overload(self.project.functions(held.name, self.path), values), held.this

    def _overload(self, functions: Sequence[Function], values: Sequence[Value]) -> Function | None:
        fitting = [it for it in functions if len(it.parameters) == len(values)]
        fitting = [it for it in fitting if all(map(self._fits, it.parameters, values))] or fitting
        return next(iter(fitting or [it for it in functions if _accepts(it, len(values))]), None) or (
            functions[0] if functions else None
        )

    def _fits(self, parameter: Parameter, value: Value) -> bool:
        """Tell whether an argument may be of a parameter's type: strings and numbers are told apart."""
        is_text = "char*" in parameter.type or parameter.type.endswith("string")
        if isinstance(value, Text):
            return is_text or parameter.type in ("", "auto")
        return not (is_text and isinstance(value, Number))

    def _object(self, call: Call, name: str, values: list[Value]) -> Value | None:
        """Return a new object where a class is called."""
        held = self.named(name) if self._is_local(name) else None
        wanted = held.name if isinstance(held, Routine) else name
        cls = self.project.class_named(wanted, self.path) if wanted else None
        if cls is None:
            return None
        place = self.fresh("n", call)
        self.construct(place, cls, values, call.arguments)
        return Pointer(place)

    def fresh(self, kind: str, call: Call, name: str = "") -> str:
        """Return the place of what a call makes: the same whenever it is run on the same way."""
        where = tuple((it.function.path, it.function.row) for it in self.frames[-3:])
        site = self.sites.setdefault((where, call.row, call.text), len(self.sites))
        return f"{kind}{site}#{name}"

    def _inlined(self, call: Call, function: Function, values: list[Value], this: Value | None) -> Value:
        result = self.call(function, values, call.arguments, this, call.keywords, call.template)
        if function.is_wrapped and isinstance(result, (Number, Sizes, Text)):
            result = RunTime(call.text)
        given = self.handlers["given file"](self, call, values)
        if (
            given is not None
            and isinstance(result, Pointer)
            and _is_program(result)
            and self.store is not None
        ):
            source = self.store.get(result.place + ".source")
            if not isinstance(source, Text) or source.plain is not None:
                self.put(result.place + ".source", given)
            return result
        if (
            given is not None
            and isinstance(result, (RunTime, Null, Pointer, Text))
            and not (isinstance(result, Pointer) and not self._is_text(result))
        ):
            known = self.text(result)
            return given if known is None or not known.parts or known.plain is None else result
        return result

    def _is_text(self, value: Pointer) -> bool:
        type_name = self.types.get(value.place, "")
        return "char" in type_name or not type_name

    def call(
        self,
        function: Function,
        values: Sequence[Value],
        exprs: Sequence[Expr] = (),
        this: Value | None = None,
        keywords: Mapping[str, Expr] | None = None,
        templates: Sequence[str] = (),
    ) -> Value:
        """Run one of the project's functions."""
        running = sum(it.function is function for it in self.frames)
        if len(self.frames) > _MAX_DEPTH or running > 1 or self.store is None:
            self.skip(function, values, exprs)
            return RunTime(f"{function.name}(…)")
        if running:
            parameters = [it.name for it in function.parameters if it.name not in ("self", "cls")]
            values = [
                _opened_as(name, it)
                for name, it in zip_longest(parameters[: len(values)], values, fillvalue="")
            ]
        outer = next((it[1] for it in self.lambdas.values() if it[0] is function), None)
        frame = Frame(function, f"f{self.site}", this, outer=outer)
        self.site += 1
        given = self._bound(function, values, exprs, this, keywords or {}, frame)
        shown = [self.value(self.project.expression(it)) for it in templates[: len(function.templates)]]
        self.entered.add((function.path, function.row))
        self.frames.append(frame)
        loops, self.loops = self.loops, []
        blocks, self.blocks = self.blocks, []
        try:
            self._templates(function, shown)
            for parameter, value, place in given:
                if place is not None:
                    frame.names[parameter.name] = place
                    continue
                own = self._declare(parameter.name, parameter.type)
                held = value
                if held is None:
                    default = parameter.default
                    held = self.value(default) if default is not None else RunTime(parameter.name)
                if "*" not in parameter.type:
                    held = converted(self._resolved(parameter.type), held)
                if self.store is not None:
                    is_object = isinstance(held, Pointer) and held.place in self.objects
                    if is_object and "*" not in parameter.type and self._copied(own, held):
                        continue
                    self.store[own] = held
                    if isinstance(held, Pointer) and is_object:
                        self.objects[own] = self.objects[held.place]
            self.block(function.first)
            self.block(function.body)
        finally:
            self.frames.pop()
            self.loops = loops
            self.blocks = blocks
        return self._returned(function, frame)

    def _templates(self, function: Function, given: Sequence[Value]) -> None:
        """Declare a function's template parameters, open but for those that were given."""
        for index, name in enumerate(function.templates):
            place = self._declare(name, "")
            self.put(place, given[index] if index < len(given) else RunTime(name))

    def _bound(
        self,
        function: Function,
        values: Sequence[Value],
        exprs: Sequence[Expr],
        this: Value | None,
        keywords: Mapping[str, Expr],
        frame: Frame,
    ) -> Iterator[tuple[Parameter, Value | None, str | None]]:
        parameters = list(function.parameters)
        result: list[tuple[Parameter, Value | None, str | None]] = []
        is_method = bool(function.owner) and function.path.endswith(".py")
        if is_method and parameters and parameters[0].name in ("self", "cls"):
            result.append((parameters.pop(0), this, None))
        for index, parameter in enumerate(parameters):
            if parameter.name.startswith("**"):
                continue
            if parameter.name.startswith("*"):
                result.append(
                    (replace(parameter, name=parameter.name[1:]), Sizes(tuple(values[index:])), None)
                )
                break
            if index < len(values):
                place = None
                if parameter.is_reference and index < len(exprs):
                    place = self.place(exprs[index])
                    if place is not None and self.store is not None and place not in self.store:
                        place = place if place in self.types else None
                result.append((parameter, values[index], place))
            elif parameter.name in keywords:
                result.append((parameter, self.value(keywords[parameter.name]), None))
            else:
                result.append((parameter, None, None))
        return iter(result)

    def _returned(self, function: Function, frame: Frame) -> Value:
        ends: list[tuple[Value, Store]] = list(frame.returns)
        if self.store is not None:
            ends.append((Null(), self.store))
        if not ends:
            self.store = None
            return RunTime(f"{function.name}(…)")
        value, store = ends[0]
        for other, following in ends[1:]:
            value = join_values(f"#{function.name}(…)", (value, other)) if other != value else value
            # The last way out is where nothing went wrong.
            merged = self.joined(store, following, 1)
            if merged is not None:
                store = merged
        self.store = store
        return value

    def entries(self, value: Value) -> dict[str, Value]:
        """Return the named parts of a dictionary."""
        if not isinstance(value, Pointer) or self.store is None:
            return {}
        start = value.place + "."
        return {
            place[len(start) :]: held
            for place, held in self.store.items()
            if place.startswith(start) and place[len(start) :].isidentifier()
        }


_PROGRAM_METHODS = frozenset(("build", "compile", "getInfo", "getBuildInfo", "get_info", "get_build_info"))
"""Everything else that is called on a program in Python is a kernel of it."""


def _is_program(value: Value | None) -> bool:
    return isinstance(value, Pointer) and value.place[:1] == "p" and value.place[1:2].isdigit()


def _accepts(function: Function, count: int) -> bool:
    parameters = [it for it in function.parameters if it.name not in ("self", "cls")]
    needed = sum(it.default is None and not it.name.startswith("*") for it in parameters)
    return needed <= count <= len(parameters) or any(it.name.startswith("*") for it in parameters)


def _links(expression: Expr) -> int:
    """Return how many members and subscripts stand behind each other."""
    count = 0
    while isinstance(expression, (Member, Index)):
        expression = expression.base
        count += 1
    return count


def _opened_as(name: str, value: Value | str) -> Value:
    """Return an argument of a call of a function by itself: another number in each."""
    if isinstance(value, str):
        return RunTime(value)
    return RunTime(name) if isinstance(value, (Number, RunTime)) else value


def _with_item(items: Sizes, index: Value, value: Value) -> Value:
    """Return a list of Python with one item replaced; with all open where it is not known which."""
    count = len(items.items)
    if isinstance(index, Number) and -count <= index.value < count:
        changed = list(items.items)
        changed[int(index.value)] = value
        return Sizes(tuple(changed))
    return Sizes(tuple(join_values("#item", (it, value)) for it in items.items))


def _opened(name: str, value: Value) -> Value:
    """Return a value that the program may be told to change."""
    if isinstance(value, Number):
        return RunTime(name, value.value)
    return value


def _truth(value: Value) -> bool | None:
    match value:
        case Number(number):
            return bool(number)
        case Null():
            return False
        case Pointer() | Routine() | ArrayValue():
            return True
        case Sizes(items):
            return bool(items)
        case Text():
            return bool(value.parts) if value.plain is not None else None
        case _:
            return None


def _flag(value: Value) -> Value:
    truth = _truth(value)
    return Number(int(truth)) if truth is not None else value


def _is_thing(value: Value) -> bool:
    return not isinstance(value, RunTime)


def _calls(block: Block) -> bool:
    """Tell whether a loop's body calls anything; loops that only compute are not worth unrolling."""
    return len(block) < 60 and any(isinstance(it, Call) for it in nodes(block))


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


def _changed_names(function: Function) -> set[str]:
    """Return the names of all variables that a function assigns to, its declarations not counted."""
    found = set()
    for node in nodes(function.body):
        match node:
            case Assign(target=Name(name)) | AddressOf(Name(name)):
                found.add(name)
    return found
