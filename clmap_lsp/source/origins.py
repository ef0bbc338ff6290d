"""From which memory the values of a kernel come, through any number of steps.

An abstract interpreter gives a value up that takes thousands of steps; which buffers it was computed from can
still be said. The answer names all that may matter, conditions that decided over an assignment included, and
may name too much: what is written to one element of a private array counts for all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Block, Expression, Statement, Variable, VariableKind
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.slicing import PointsTo, reads, roots_of, slice_of
from clmap_lsp.source.types import OpaqueType, PointerType, has_union

_Node = Variable | int
"""A register, the contents of a private object, or the number of a place that conditions lead to."""

MAX_ROUNDS: Final = 8
"""How often pointers in private memory are followed on; what is not settled then is not followed."""

_NOWHERE: Final = 1
"""Set in the origins of what cannot be traced: results of unknown functions, pointers from memory."""


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of all values of one kernel."""

    buffers: tuple[str, ...]
    _found: Mapping[_Node, int]

    def of(self, expression: Expression) -> tuple[str, ...] | None:
        """Return the buffers that a value may come from, sorted; `None` where not all are known."""
        read: set[Variable] = set()
        reads(expression, read)
        found = 0
        for variable in read:
            found |= self._found.get(variable, 0)
        if found & _NOWHERE:
            return None
        return tuple(sorted(name for at, name in enumerate(self.buffers, 1) if found >> at & 1))


@per_kernel
def origins_of(kernel: ir.Kernel) -> Origins:
    """Return where the values of a kernel come from; remembered."""
    return _Tracer(_pointers_of(kernel)).run(kernel)


def kept_pointer(kernel: ir.Kernel, it: ir.Load) -> Variable | None:
    """Return the object that a pointer read from private or local memory leads into; `None` if not known.

    What such memory holds a kernel has put there itself; all the pointers that it stores are looked at.
    """
    found = _pointers_of(kernel)
    holders = roots_of(it.pointer, found)
    if not holders or any(has_union(one.type) or not _keeps_pointers(one) for one in holders):
        return None
    calls = (one for one in ir.walk(kernel.body) if isinstance(one, ir.Call | ir.OpaqueCall))
    if any(reaches_memory(argument) for call in calls for argument in call.arguments):
        return None
    places = found.get(it.variable, frozenset())
    return next(iter(places)) if len(places) == 1 else None


@per_kernel
def _pointers_of(kernel: ir.Kernel) -> PointsTo:
    return _with_stored_pointers(kernel, slice_of(kernel).points_to)


def _with_stored_pointers(kernel: ir.Kernel, known: PointsTo) -> PointsTo:
    """Return what registers may point into, those included whose pointer was kept in private memory."""
    moving = [it for it in ir.walk(kernel.body) if _moves_pointers(it)]
    if not any(isinstance(it, ir.Load) for it in moving):
        return known
    found: defaultdict[Variable, frozenset[Variable]] = defaultdict(frozenset, known)
    """Of a private or local object: what the pointers in it may point into."""
    for _ in range(MAX_ROUNDS):
        before = dict(found)
        for it in moving:
            checkpoint()
            match it:
                case ir.Assign(variable=variable, value=value):
                    found[variable] |= roots_of(value, found)
                case ir.Load(variable=variable, pointer=pointer):
                    found[variable] |= _union(
                        found[it] for it in roots_of(pointer, found) if _keeps_pointers(it)
                    )
                case ir.Store(pointer=pointer, value=value):
                    for target in filter(_keeps_pointers, roots_of(pointer, found)):
                        found[target] |= roots_of(value, found)
                case ir.CopyObject(destination=destination, source=source):
                    held = _union(found[one] for one in filter(_keeps_pointers, roots_of(source, found)))
                    for target in filter(_keeps_pointers, roots_of(destination, found)):
                        found[target] |= held
        if before == found:
            return {variable: roots for variable, roots in found.items() if roots}
    return known


def _moves_pointers(it: Statement) -> bool:
    match it:
        case ir.Assign(value=value) | ir.Store(value=value):
            return isinstance(value.type, PointerType)
        case ir.Load(variable=variable):
            return isinstance(variable.type, PointerType)
        case _:
            return isinstance(it, ir.CopyObject)


def _union(sets: Iterable[frozenset[Variable]]) -> frozenset[Variable]:
    return frozenset().union(*sets)


class _Tracer:
    def __init__(self, points_to: PointsTo) -> None:
        self.points_to = points_to
        self.numbers: dict[str, int] = {}
        self.found: defaultdict[_Node, int] = defaultdict(int)
        self.users: defaultdict[_Node, set[_Node]] = defaultdict(set)
        self.exits: list[tuple[object, _Node]] = []
        """What is left by a jump, and the place that it stands at."""
        self.around: list[object] = []
        """The loops and switches around a place: what `break` leaves."""
        self.n_places = 0

    def run(self, kernel: ir.Kernel) -> Origins:
        start = self.place()
        self.block(kernel.body, start)
        self.spread()
        return Origins(tuple(self.numbers), dict(self.found))

    def spread(self) -> None:
        waiting = [node for node, mask in self.found.items() if mask]
        while waiting:
            node = waiting.pop()
            mask = self.found[node]
            for user in self.users.get(node, ()):
                if mask & ~self.found[user]:
                    self.found[user] |= mask
                    waiting.append(user)

    # ------------------------------------------------------------------------------------- places

    def place(self, *behind: _Node) -> int:
        """Return a new place that is reached or not as some others and some values say."""
        self.n_places += 1
        for node in behind:
            self.users[node].add(self.n_places)
        return self.n_places

    def conditional(self, control: int, expression: Expression | None) -> int:
        read: set[Variable] = set()
        if expression is not None:
            reads(expression, read)
        return self.place(control, *read) if read else control

    def block(self, block: Block, control: int) -> int:
        """Trace a block; return the place behind it."""
        for statement in block:
            checkpoint()
            before = len(self.exits)
            self.statement(statement, control)
            left = {node for _, node in self.exits[before:]}
            if left - {control}:
                control = self.place(control, *left)
        return control

    def statement(self, it: Statement, control: int) -> None:
        match it:
            case ir.If():
                inner = self.conditional(control, it.condition)
                self.block(it.then, inner)
                self.block(it.otherwise, inner)
            case ir.Loop():
                self.loop(it, control)
            case ir.Switch():
                inner = self.conditional(control, it.value)
                before = self.enter(it)
                for case in it.cases:
                    inner = self.block(case.body, inner)
                self.leave(it, before)
            case ir.Scope():
                before = len(self.exits)
                self.block(it.body, control)
                self.exits[before:] = [(what, node) for what, node in self.exits[before:] if what != it.label]
            case ir.Break() | ir.Continue() if self.around:
                loops = [one for one in self.around if isinstance(one, ir.Loop)]
                is_break = isinstance(it, ir.Break)
                self.exits.append((self.around[-1] if is_break or not loops else loops[-1], control))
            case ir.Leave(label=label):
                self.exits.append((label, control))
            case ir.Return():
                self.exits.append((None, control))
            case ir.Goto() | ir.Unsupported():
                self.found[control] |= _NOWHERE
                self.exits.append((None, control))
            case _:
                self.simple(it, control)

    def enter(self, it: ir.Loop | ir.Switch) -> int:
        self.around.append(it)
        return len(self.exits)

    def leave(self, it: ir.Loop | ir.Switch, before: int) -> list[_Node]:
        """Forget the jumps that end at a loop or switch; return where they stood."""
        self.around.pop()
        mine = [node for what, node in self.exits[before:] if what is it]
        self.exits[before:] = [(what, node) for what, node in self.exits[before:] if what is not it]
        return mine

    def loop(self, it: ir.Loop, control: int) -> None:
        """A further turn depends on the condition, and on every jump out of an earlier one."""
        before = self.enter(it)
        turn = self.place(control)
        self.block(it.test, turn)
        if it.condition is not None:
            read: set[Variable] = set()
            reads(it.condition, read)
            for variable in read:
                self.users[variable].add(turn)
        after = self.block(it.body, turn)
        others = [node for what, node in self.exits[before:] if what is not it]
        self.block(it.step, after)
        for node in (*self.leave(it, before), *others):
            if node != turn:
                self.users[node].add(turn)

    # ------------------------------------------------------------------------------------- values

    def simple(self, it: Statement, control: int) -> None:
        match it:
            case ir.Load(variable=variable, pointer=pointer):
                self.flow(variable, control, pointer)
                self.contents(variable, pointer)
            case ir.Store(pointer=pointer, value=value):
                self.stored(pointer, control, value)
            case ir.CopyObject(destination=destination, source=source):
                for target in self.stored(destination, control, source):
                    self.contents(target, source)
            case ir.Atomic(variable=variable, pointer=pointer, operands=operands):
                if variable is not None:
                    self.flow(variable, control, pointer)
                    self.contents(variable, pointer)
                for operand in operands:
                    self.stored(pointer, control, operand)
            case ir.ImageRead(variable=variable, image=image, coordinate=coordinate):
                self.flow(variable, control, coordinate)
                images: set[Variable] = set()
                reads(image, images)
                for one in images:
                    self.found[variable] |= self.mask(one.name)
            case ir.Call() | ir.OpaqueCall():
                self.unknown_call(it, control)
            case _:
                for variable in ir.written(it):
                    self.flow(variable, control, *ir.expressions(it))

    def unknown_call(self, it: ir.Call | ir.OpaqueCall, control: int) -> None:
        """Nobody knows what comes of a call that is not followed, and what it writes.

        Inline assembly makes its results of its operands; without a pointer it reaches no memory.
        """
        if (
            isinstance(it, ir.OpaqueCall)
            and it.reason == ir.ASSEMBLY
            and not any(map(reaches_memory, it.arguments))
        ):
            if it.variable is not None:
                self.flow(it.variable, control, *it.arguments)
            return
        if isinstance(it, ir.OpaqueCall) and it.reason.startswith(ir.INLINING_STOPS):
            self.defined_call(it, control)
            return
        if it.variable is not None:
            self.found[it.variable] |= _NOWHERE
        for argument in it.arguments:
            if isinstance(argument.type, PointerType):
                for root in roots_of(argument, self.points_to):
                    if _holds_values(root):
                        self.found[root] |= _NOWHERE

    def defined_call(self, it: ir.OpaqueCall, control: int) -> None:
        """Let all that a function of the program is given flow into all that it can write.

        Nothing else is within its reach but constants, and those of its own work-item's ids.
        """
        within: set[Variable] = set()
        waiting = [root for argument in it.arguments for root in roots_of(argument, self.points_to)]
        while waiting:
            root = waiting.pop()
            if root not in within:
                within.add(root)
                waiting.extend(self.points_to.get(root, ()))
        objects = {root for root in within if _holds_values(root)}
        given = 0
        for root in within - objects:
            given |= self.mask(root.name)
        if any(
            isinstance(arg.type, PointerType) and not roots_of(arg, self.points_to) for arg in it.arguments
        ):
            given |= _NOWHERE
        place = self.place(control, *objects)
        self.found[place] |= given
        written = [root for root in objects if root.kind is VariableKind.PRIVATE_OBJECT]
        for target in (*written, *(() if it.variable is None else (it.variable,))):
            self.flow(target, place, *it.arguments)

    def flow(self, target: Variable, control: int, *sources: Expression) -> None:
        read: set[Variable] = set()
        for source in sources:
            reads(source, read)
        for variable in read:
            self.users[variable].add(target)
        self.users[control].add(target)

    def stored(self, pointer: Expression, control: int, value: Expression) -> list[Variable]:
        """Let a value flow into the private objects that a pointer may point into; return them."""
        targets = [root for root in roots_of(pointer, self.points_to) if _holds_values(root)]
        for target in targets:
            self.flow(target, control, pointer, value)
        return targets

    def contents(self, target: Variable, pointer: Expression) -> None:
        """Let what a pointer points to flow into a variable."""
        roots = roots_of(pointer, self.points_to)
        if not roots:
            self.found[target] |= _NOWHERE
        for root in roots:
            if _holds_values(root):
                self.users[root].add(target)
            else:
                self.found[target] |= self.mask(root.name)

    def mask(self, buffer: str) -> int:
        return 1 << self.numbers.setdefault(buffer, len(self.numbers) + 1)


def reaches_memory(value: Expression) -> bool:
    """Tell whether memory can be reached through a value: a pointer, or a number made of one."""
    return isinstance(value.type, PointerType) or any(map(reaches_memory, ir.operands(value)))


def _keeps_pointers(root: Variable) -> bool:
    """Tell whether all pointers in an object are those that the kernel stores there."""
    return _holds_values(root) or root.kind is VariableKind.LOCAL_OBJECT


def _holds_values(root: Variable) -> bool:
    """Tell whether an object holds what the kernel computed, or arguments; all else is data."""
    is_argument = root.kind is VariableKind.PARAMETER and not isinstance(root.type, PointerType | OpaqueType)
    return is_argument or root.kind is VariableKind.PRIVATE_OBJECT
