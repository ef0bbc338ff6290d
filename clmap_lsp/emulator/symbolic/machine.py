"""Running a kernel for a whole box of work-groups at once.

Statements run once for all lanes, under a mask. What a work-item does is never approximated: where a
branch or a loop depends on data, both ways are walked with `why` set, and every access on them is reported
as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.moved import Moved
from clmap_lsp.emulator.symbolic.cells import Cells
from clmap_lsp.emulator.symbolic.comparing import compare
from clmap_lsp.emulator.symbolic.control import Bail, BailError, OverBudgetError
from clmap_lsp.emulator.symbolic.expressions import Evaluator, negate
from clmap_lsp.emulator.symbolic.memory import KnownData, places
from clmap_lsp.emulator.symbolic.needs import Needs
from clmap_lsp.emulator.symbolic.rows import Kept, Mask, Rows, both, either, without
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import SEVERAL, Held, Partly, Pointer, Sym, Unknown, Value, add, same
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BarrierScope, CompareOp, Variable, VariableKind
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import INT, AddressSpace, PointerType, ScalarType, Type

_LOOKED_AT_EVERY = 32
_MAX_KEPT_BYTES = 256 << 20
"""Of addresses that are written out, over all executions of all accesses."""
_MOST_MOVED = 1 << 14
"""Bytes of a structure that one access moves; each piece of it is an instruction that is counted."""
_KERNEL = -1
LOOP = -2
WHETHER = "whether it runs"
HOW_OFTEN = "how often it runs"
_SWITCH = -3


@dataclass(frozen=True, slots=True)
class Live:
    """Which work-items are here; `why` tells what it depends on if that is not known."""

    mask: Mask
    why: str | None = None

    @property
    def is_empty(self) -> bool:
        """True if nobody is here, for certain."""
        return self.mask is False


@dataclass(slots=True)
class Frame:
    """Something that can be left early: a loop, a switch, an inlined call, the kernel."""

    label: int
    left: Mask = False
    """Who left it for good."""
    continued: Mask = False
    """Who waits for the step of a loop."""
    why: str | None = None
    """Set if somebody may have left, and nobody knows who."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """An access whose executions cannot be known."""

    site: int
    op: str
    root: Variable | None
    space: AddressSpace
    size: int
    moved: Moved
    span: Span
    reason: str
    is_counted: bool = False
    """There is a row of it, which supposes that whoever may come here does."""
    is_image: bool = False


@dataclass(frozen=True, slots=True)
class Turns:
    """How many turns loops are taken to make of which data decide."""

    count: int
    to_the_bound: bool = False
    """As many as the parts of the condition that no data decide allow, where there are any."""

    def of(self, bound: int | None) -> int:
        """Return the turns of a loop of which it is known that it makes no more than `bound`."""
        if bound is None:
            return self.count
        return max(bound if self.to_the_bound else min(bound, self.count), 1)


@dataclass(slots=True)
class Supposed:
    """What is walked as if whoever may come here did: a loop in a branch that depends on data."""

    why: str
    depth: int
    """How many frames stand around it: leaving one of those is in doubt."""
    turns: int = 0
    """How many turns it is taken to make, if it is a loop that data end."""


@dataclass(slots=True)
class Machine:
    """One run of one box.

    With `suppose_taken`, accesses in branches that depend on data become rows as well, as if whoever may come
    there did; the turns of a loop that ends by data only with `suppose_turns`, as if it made so many.
    """

    kernel: ir.Kernel
    space: Space
    needs: Needs
    data: KnownData
    follow_ordinals: bool = False
    suppose_taken: bool = False
    suppose_turns: Turns | None = None
    supposed: Supposed | None = None
    endless: int = 0
    """How many loops stand around, of which nobody knows how many turns they take."""
    rows: list[Rows] = field(default_factory=list)
    kept: Kept = field(default_factory=Kept)
    doubts: list[Doubt] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    private: dict[Variable, Cells | None] = field(default_factory=dict)
    evaluator: Evaluator = field(init=False)
    everybody_counts: bool = False
    """Ordinals count what the program makes, for work-items that leave it out too: a ragged launch's turns
    are alike. For the order of accesses; AIWC's timesteps count each work-item's own."""
    together: Mask = True
    """Who takes part in turns of a loop that are run at once. The others are dealt with behind the loop."""
    ordinal: Sym = field(default_factory=lambda: Sym(0))
    segment: Sym = field(default_factory=lambda: Sym(0))

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.space)

    def run(self, scalars: dict[Variable, Value]) -> None:
        """Run the kernel with the given parameter values.

        Raises: SplitError, BailError.
        """
        env = self.evaluator.env
        for parameter in self.kernel.parameters:
            if isinstance(parameter.type, PointerType):
                env[parameter] = Pointer(parameter, Sym(0))
            else:
                env[parameter] = scalars.get(parameter, Unknown(f"the argument `{parameter.name}`"))
        self.frames.append(Frame(_KERNEL))
        self.block(self.kernel.body, Live(True))

    # ---------------------------------------------------------------------------------------- statements

    def block(self, block: ir.Block, live: Live) -> Live:
        """Run a block; return who falls out of its end."""
        for statement in block:
            checkpoint()
            if live.is_empty:
                return live
            step = _STATEMENTS.get(type(statement))
            if step is not None and not self.needs.is_data(statement):
                self.space.spending.step()
                self.evaluator.live = live.mask
                live = step(self, statement, live)
        return live

    def _is_everybody(self, mask: Mask) -> bool:
        return mask is True or mask is self.together

    def assign(self, variable: Variable, value: Value, live: Live) -> None:
        """Write a variable for those who are here."""
        env = self.evaluator.env
        if live.why is not None:
            old = env.get(variable)
            unchanged = isinstance(old, Sym) and isinstance(value, Sym) and same(old, value)
            if old is not None and not unchanged:
                value = Unknown(live.why)
        elif not self._is_everybody(live.mask) and (old := env.get(variable)) is not None:
            env[variable] = self._merged(live.mask, value, old)
            return
        env[variable] = value

    def _merged(self, mask: Mask, value: Value, old: Held) -> Held:
        """Return what a variable holds after some work-items wrote it."""
        if isinstance(value, Unknown):
            return value
        if isinstance(old, Unknown):
            return Partly(value, mask, old)
        if not isinstance(old, Partly):
            return self.evaluator.merge(mask, value, old)
        merged = self.evaluator.merge(mask, value, old.value)
        known = either(mask, old.mask)
        if isinstance(merged, Unknown) or self._is_everybody(known):
            return merged
        return Partly(merged, known, old.unknown)

    def _declare(self, statement: ir.Declare, live: Live) -> Live:
        self.evaluator.env.pop(statement.variable, None)  # Nobody but those who are here sees it.
        return live

    def _assign(self, statement: ir.Assign, live: Live) -> Live:
        self.assign(statement.variable, self.evaluator.value(statement.value), live)
        return live

    def _load(self, statement: ir.Load, live: Live) -> Live:
        pointer = self.access(
            statement.site,
            "load",
            statement.pointer,
            statement.size,
            statement.span,
            live,
        )
        if statement.variable in self.needs.variables:
            self.assign(statement.variable, self._loaded(pointer, statement, live), live)
        return live

    def _loaded(self, pointer: Value, statement: ir.Load, live: Live) -> Value:
        if not isinstance(pointer, Pointer):
            return pointer if isinstance(pointer, Unknown) else Unknown("data")
        if pointer.root.kind is VariableKind.PRIVATE_OBJECT:
            cells = self.private.setdefault(pointer.root, Cells())
            return self._load_private(cells, pointer, statement, live)
        kind = statement.variable.type
        return self.data.load(pointer, kind, live.mask, self.space)

    def _load_private(self, cells: Cells | None, pointer: Pointer, load: ir.Load, live: Live) -> Value:
        """Return what a load from a private object reads; `cells` is `None` if its contents are unknown."""
        name = pointer.root.name
        if cells is None:
            return Unknown(f"values in the private array `{name}`")
        result: Value | None = None
        for at, mask in places(pointer.offset, live.mask, self.space):
            found = cells.load(at, load.size, load.variable.type, self.space)
            if found is None:
                return Unknown(f"a value in the private array `{name}` that is not followed")
            result = found if result is None else self.evaluator.merge(mask, found, result)
        return Unknown(f"values in the private array `{name}`") if result is None else result

    def _store(self, statement: ir.Store, live: Live) -> Live:
        pointer = self.access(
            statement.site,
            "store",
            statement.pointer,
            statement.size,
            statement.span,
            live,
        )
        self._store_private(pointer, statement, live)
        return live

    def _store_private(self, pointer: Value, statement: ir.Store, live: Live) -> None:
        if not isinstance(pointer, Pointer):
            if self.needs.objects and _space_of(statement.pointer.type) is AddressSpace.PRIVATE:
                self.private = dict.fromkeys(self.needs.objects)
            return
        if pointer.root not in self.needs.objects:
            return
        cells = self.private.setdefault(pointer.root, Cells())
        if cells is None or live.why is not None:
            self.private[pointer.root] = None
            return
        value, size, kind = self.evaluator.value(statement.value), statement.size, statement.value.type
        for at, mask in places(pointer.offset, live.mask, self.space):
            old = cells.load(at, size, kind, self.space) if mask is not True else None
            merged = value if old is None else self.evaluator.merge(mask, value, old)
            cells.store(at, size, merged, kind, self.space)

    def _copy(self, statement: ir.CopyObject, live: Live) -> Live:
        size = statement.type.size
        source = self.access(statement.load_site, "load", statement.source, size, statement.span, live)
        target = self.access(statement.store_site, "store", statement.destination, size, statement.span, live)
        if isinstance(target, Pointer) and target.root in self.needs.objects:
            self._copy_private(source, target, size, live)
        return live

    def _copy_private(self, source: Value, target: Pointer, size: int, live: Live) -> None:
        """Take over what another private object holds, where all work-items copy the same bytes."""
        cells = self.private.setdefault(target.root, Cells())
        everybody = live.why is None and self._is_everybody(live.mask)
        if cells is not None and isinstance(source, Pointer) and everybody:
            taken = self.private.get(source.root)
            if taken is not None and source.offset.is_uniform and target.offset.is_uniform:
                cells.copied(taken, source.offset.const, target.offset.const, size, self.space)
                return
        self.private[target.root] = None

    def _atomic(self, statement: ir.Atomic, live: Live) -> Live:
        size = statement.type.size
        pointer = self.access(statement.site, "atomic", statement.pointer, size, statement.span, live)
        if statement.variable is not None and statement.variable in self.needs.variables:
            name = pointer.root.name if isinstance(pointer, Pointer) else "memory"
            self.assign(statement.variable, Unknown(f"the result of an atomic on `{name}`"), live)
        return live

    def _async(self, statement: ir.AsyncCopy, live: Live) -> Live:
        reason = "the device decides how work-items share an asynchronous copy"
        for site, op, pointer in (
            (statement.load_site, "load", statement.source),
            (statement.store_site, "store", statement.destination),
        ):
            where = self.evaluator.value(pointer)
            root = where.root if isinstance(where, Pointer) else None
            space = root_space(root, pointer.type) if root is not None else _space_of(pointer.type)
            size, moved = statement.element.size, self.needs.moved[site]
            self.doubts.append(Doubt(site, op, root, space, size, moved, statement.span, reason))
        return live

    def _result(self, statement: Any, live: Live) -> Live:
        variable = statement.variable
        if variable is not None and variable in self.needs.variables:
            self.assign(variable, Unknown(_RESULTS[type(statement)]), live)
        return live

    def _image(self, statement: ir.ImageRead | ir.ImageWrite, live: Live) -> Live:
        if not self.follow_ordinals:  # Who does so leaves kernels with images to the other engine.
            from clmap_lsp.emulator.symbolic.images import note_access

            note_access(self, statement, live)
        return self._result(statement, live) if isinstance(statement, ir.ImageRead) else live

    def _barrier(self, statement: ir.Barrier | ir.WaitEvents, live: Live) -> Live:
        if isinstance(statement, ir.Barrier) and statement.scope is BarrierScope.SUB_GROUP:
            return live
        if self.follow_ordinals:
            if live.mask is not True:
                raise BailError(Bail("a barrier in divergent flow", statement.span))
            self.ordinal = Sym(0)
            self.segment = add(self.segment, Sym(1))
        return live

    def _lost(self, statement: ir.Goto | ir.Label | ir.Unsupported | ir.Call, live: Live) -> Live:
        match statement:
            case ir.Goto(name=name) | ir.Label(name=name):
                what = f"`goto {name.partition('#')[0]}`, which no loop or block stands for"
            case ir.Unsupported():
                what = "a statement that was not understood"
            case _:
                what = "a call that was not inlined"
        raise BailError(Bail(what, statement.span))

    # ------------------------------------------------------------------------------------------ accesses

    def access(self, site: int, op: str, pointer: ir.Expression, size: int, span: Span, live: Live) -> Value:
        """Note one access and return where it goes."""
        where = self.evaluator.value(pointer)
        if not isinstance(where, Pointer):
            space = _space_of(pointer.type)
            if space is not AddressSpace.PRIVATE:
                reason = where.reason if isinstance(where, Unknown) else "an address that is not followed"
                self.doubts.append(
                    Doubt(
                        site,
                        op,
                        None,
                        space,
                        size,
                        self.needs.moved[site],
                        span,
                        f"its address depends on {reason}",
                    )
                )
                self._count_ordinal(op, live)
            return where
        space = root_space(where.root, pointer.type)
        if space is AddressSpace.PRIVATE:
            return where
        why = live.why or (self.supposed and self.supposed.why)
        if why is not None:
            counted = self.suppose_taken and not self.endless
            often = self.supposed is not None and self.supposed.turns
            reason = f"{HOW_OFTEN if often else WHETHER} depends on {why}"
            moved = self.needs.moved[site]
            self.doubts.append(Doubt(site, op, where.root, space, size, moved, span, reason, counted))
            if not counted:
                return where
        if where.root is SEVERAL and self.follow_ordinals:
            raise BailError(Bail("a pointer that points to one of several buffers", span))
        ordinals = (self.ordinal, self.segment) if self.follow_ordinals else (None, None)
        row = Rows(
            site,
            op,
            where.root,
            space,
            where.offset,
            live.mask,
            tuple(self.space.counts),
            self.space.n_lanes,
            size,
            self.needs.moved[site],
            span,
            self.space.box.local_size,
            *ordinals,
        )
        self.keep(row)
        self._count_ordinal(op, live)
        return where

    def keep(self, row: Rows) -> None:
        """Note all executions of one access. Raises: OverBudgetError."""
        if row.moved.size > _MOST_MOVED:
            raise OverBudgetError(f"a value of {row.moved.size} bytes, moved as a whole", by_size=False)
        self.rows.append(row)
        self.kept.add(row)
        if len(self.rows) % _LOOKED_AT_EVERY == 0 and self.kept.n_bytes > _MAX_KEPT_BYTES:
            mib = _MAX_KEPT_BYTES >> 20
            raise OverBudgetError(f"addresses that differ too much to be kept: more than {mib} MiB of them")

    def drop_rows(self, n: int) -> None:
        """Forget all rows but the first `n`."""
        self.kept.drop(self.rows[n:])
        del self.rows[n:]

    def _count_ordinal(self, op: str, live: Live) -> None:
        """Count accesses of every work-item; an atomic is a load and a store."""
        if self.follow_ordinals:
            later = add(self.ordinal, Sym(2 if op == "atomic" else 1))
            all_count = self._is_everybody(live.mask) or self.everybody_counts
            merged = later if all_count else self.evaluator.merge(live.mask, later, self.ordinal)
            assert isinstance(merged, Sym)
            self.ordinal = merged

    # ---------------------------------------------------------------------------------------------- flow

    def _if(self, statement: ir.If, live: Live) -> Live:
        condition = self.evaluator.condition(statement.condition)
        if isinstance(condition, Unknown):
            return self._doubtful_if(statement, live, condition.reason)
        if isinstance(condition, bool):
            return self.block(statement.then if condition else statement.otherwise, live)
        inverse = negate(condition)
        assert not isinstance(inverse, Unknown | bool)
        yes = self.block(statement.then, replace(live, mask=both(live.mask, condition)))
        no = self.block(statement.otherwise, replace(live, mask=both(live.mask, inverse)))
        return Live(either(yes.mask, no.mask), yes.why or no.why)

    def _doubtful_if(self, statement: ir.If, live: Live, reason: str) -> Live:
        env = self.evaluator.env
        before = dict(env)
        why = live.why or reason
        left = [it.why for it in self.frames]
        yes = self.block(statement.then, Live(live.mask, why))
        after = dict(env)
        env.clear()
        env.update(before)
        no = self.block(statement.otherwise, Live(live.mask, why))
        for variable in set(after) | set(env):
            one, two = after.get(variable), env.get(variable)
            if one is not two and not (isinstance(one, Sym) and isinstance(two, Sym) and same(one, two)):
                env[variable] = Unknown(reason)
        stays = yes.mask is live.mask and no.mask is live.mask and left == [it.why for it in self.frames]
        return live if stays else Live(either(yes.mask, no.mask), why)

    def _break(self, statement: ir.Break, live: Live) -> Live:
        return self._leave(next(it for it in reversed(self.frames) if it.label in (LOOP, _SWITCH)), live)

    def _return(self, statement: ir.Return, live: Live) -> Live:
        return self._leave(self.frames[0], live)

    def _leave_scope(self, statement: ir.Leave, live: Live) -> Live:
        return self._leave(next(it for it in reversed(self.frames) if it.label == statement.label), live)

    def _leave(self, frame: Frame, live: Live) -> Live:
        around = self.supposed
        if around is not None and any(it is frame for it in self.frames[: around.depth]):
            frame.why = live.why or around.why
        elif live.why is not None:
            self._may_leave(frame, live.why)
        else:
            frame.left = either(frame.left, live.mask)
        return Live(False)

    def _may_leave(self, frame: Frame, why: str) -> None:
        """Note that somebody may be gone; in a supposed loop all are taken to stay."""
        if self.supposed is None:
            frame.why = why

    def _continue(self, statement: ir.Continue, live: Live) -> Live:
        loop = next(it for it in reversed(self.frames) if it.label == LOOP)
        if live.why is not None:
            self._may_leave(loop, live.why)
        else:
            loop.continued = either(loop.continued, live.mask)
        return Live(False)

    def _scope(self, statement: ir.Scope, live: Live) -> Live:
        self.frames.append(Frame(statement.label))
        self.block(statement.body, live)
        self.frames.pop()
        return self.rejoined(live)

    def rejoined(self, entry: Live) -> Live:
        """Return who goes on after a frame: of those that entered it, all that left no frame around it."""
        mask = entry.mask
        for frame in self.frames:
            mask = without(mask, either(frame.left, frame.continued))
        inside = self.frames[self.supposed.depth if self.supposed is not None else 0 :]
        return Live(mask, entry.why or next((it.why for it in inside if it.why is not None), None))

    def _switch(self, statement: ir.Switch, live: Live) -> Live:
        value = self.evaluator.value(statement.value)
        if not isinstance(value, Sym):
            reason = value.reason if isinstance(value, Unknown) else "a value that is no integer"
            return self._doubtful_switch(statement, live, reason)
        self.frames.append(Frame(_SWITCH))
        current = Live(False)
        for case, mask in zip(statement.cases, self._case_masks(statement, value, live), strict=True):
            current = self.block(case.body, Live(either(current.mask, mask), current.why or live.why))
        self.frames.pop()
        return self.rejoined(live)

    def _case_masks(self, statement: ir.Switch, value: Sym, live: Live) -> list[Mask]:
        """Return who enters at each label."""
        scalar = statement.value.type
        masks: list[Mask] = []
        taken: Mask = False
        for case in statement.cases:
            mine: Mask = False
            for number in case.values:
                known = scalar if isinstance(scalar, ScalarType) else INT
                hit = compare(CompareOp.EQ, value, Sym(number), known, self.space)
                mine = either(mine, False if isinstance(hit, Unknown) else both(live.mask, hit))
            masks.append(mine)
            taken = either(taken, mine)
        rest = without(live.mask, taken)
        return [
            either(mask, rest) if case.is_default else mask
            for case, mask in zip(statement.cases, masks, strict=True)
        ]

    def _doubtful_switch(self, statement: ir.Switch, live: Live, reason: str) -> Live:
        self.frames.append(Frame(_SWITCH))
        inside = (it for case in statement.cases for it in ir.walk(case.body))
        changed = self.needs.variables & {variable for it in inside for variable in ir.written(it)}
        self.forget(changed, reason)
        for case in statement.cases:
            self.block(case.body, Live(live.mask, live.why or reason))
        self.forget(changed, reason)
        self.frames.pop()
        return self.rejoined(live)

    def forget(self, variables: Iterable[Variable], reason: str) -> None:
        """Forget variables, and what private objects hold: something may have written them."""
        for variable in variables:
            self.evaluator.env[variable] = Unknown(reason)
        self.private = dict.fromkeys(self.needs.objects)

    def _loop(self, statement: ir.Loop, live: Live) -> Live:
        from clmap_lsp.emulator.symbolic.loops import run_loop

        return run_loop(self, statement, live)


_RESULTS: dict[type, str] = {
    ir.ImageRead: "data read from an image",
    ir.Collective: "a value shared between work-items",
    ir.OpaqueCall: "the result of a function that is not known",
}


def root_space(root: Variable, pointer: Type) -> AddressSpace:
    """Return the address space of a buffer, array or object to which a pointer of this type leads."""
    match root.kind:
        case VariableKind.LOCAL_OBJECT:
            return AddressSpace.LOCAL
        case VariableKind.CONSTANT_OBJECT:  # OpenCL 2.0 has them in global memory as well.
            is_constant = _space_of(pointer) is AddressSpace.CONSTANT
            return AddressSpace.CONSTANT if is_constant else AddressSpace.GLOBAL
        case VariableKind.PARAMETER:
            return _space_of(root.type)
        case _:
            return AddressSpace.PRIVATE


def _space_of(kind: Type) -> AddressSpace:
    return kind.space if isinstance(kind, PointerType) else AddressSpace.PRIVATE


_STATEMENTS: dict[type, Callable[[Machine, Any, Live], Live]] = {
    ir.Declare: Machine._declare,
    ir.Assign: Machine._assign,
    ir.Load: Machine._load,
    ir.Store: Machine._store,
    ir.CopyObject: Machine._copy,
    ir.Atomic: Machine._atomic,
    ir.AsyncCopy: Machine._async,
    ir.Barrier: Machine._barrier,
    ir.WaitEvents: Machine._barrier,
    ir.ImageRead: Machine._image,
    ir.ImageWrite: Machine._image,
    ir.Collective: Machine._result,
    ir.OpaqueCall: Machine._result,
    ir.If: Machine._if,
    ir.Loop: Machine._loop,
    ir.Switch: Machine._switch,
    ir.Break: Machine._break,
    ir.Continue: Machine._continue,
    ir.Return: Machine._return,
    ir.Scope: Machine._scope,
    ir.Leave: Machine._leave_scope,
    ir.Label: Machine._lost,
    ir.Goto: Machine._lost,
    ir.Unsupported: Machine._lost,
    ir.Call: Machine._lost,
}
"""Statements that are not listed (fences, prints) touch nothing that is counted here."""
