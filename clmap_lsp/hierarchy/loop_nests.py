"""Serial C loop nests as kernels: a `for` that is marked becomes a dimension of work-items.

`// clmap: work-item(0)` before a loop says that its turns become the work-items of dimension 0. The loop
turns into an `If` on its own condition, with the induction variable worked out from the work-item's id;
pointers and arrays without an address space are global. Everything else, places included, stays as typed.
Several loops may share a dimension: their turns of one number are then one work-item's work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.exposed import exposed_by
from clmap_lsp.source.inline import build_kernel
from clmap_lsp.source.ir import (
    Assign,
    Attributes,
    Binary,
    BinaryOp,
    Block,
    Break,
    Constant,
    Continue,
    Convert,
    CopyObject,
    Expression,
    If,
    Kernel,
    Leave,
    Loop,
    ObjectAddress,
    Problem,
    Read,
    Scope,
    Severity,
    Statement,
    Store,
    Variable,
    VariableKind,
    WorkItem,
    WorkItemQuery,
    added,
    blocks,
    operands,
    walk,
    written,
)
from clmap_lsp.source.program import Program
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.source.types import INT, SIZE_T, AddressSpace, PointerType, Type

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import FileAnalysis
    from clmap_lsp.source.functions import Lowered
    from clmap_lsp.source.span import SourceFile, Span

_MARK: Final = re.compile(r"(?://|/\*)[ \t]*clmap:[ \t]*work-item\(([0-2])\)[ \t]*(?:\*/)?")
_SCOPE_LABELS: Final = 1_000_000
"""Labels of scopes that stand for the body of a loop; inlined calls count from 1."""


@dataclass(frozen=True, slots=True)
class LoopNests:
    """The marked functions of a file as a program of kernels."""

    program: Program
    recurrences: Mapping[str, tuple[str, ...]]
    """By function: scalars that carry a value from one turn of a marked loop to the next. The turns are then
    no independent work-items; patterns and placement still hold, results do not."""

    def annotated(self, analysis: FileAnalysis) -> FileAnalysis:
        """Return an analysis of the program whose notes tell of recurrences."""
        kernels = tuple(
            replace(it, notes=(*it.notes, *map(_recurrence_note, self.recurrences.get(it.name, ()))))
            for it in analysis.kernels
        )
        return replace(analysis, kernels=kernels)


def _recurrence_note(name: str) -> str:
    return f"`{name}` carries a value between iterations of a marked loop: they are not independent"


def as_kernels(program: Program, loops: Sequence[str] = ()) -> LoopNests:
    """Return a program whose kernels are the functions with marked loops.

    Args:
        program: C functions, read as if they were OpenCL C.
        loops: names of induction variables, dimension 0 first, for functions without marks.

    What cannot be done is reported in the program's `problems`.
    """
    lowered = {} if program.cache is None else program.cache.functions
    kernels, carried, problems = [], {}, list(program.problems)
    for name, it in lowered.items():
        if it.function.is_kernel or it.function.body is None:
            continue
        nest = _Nest(program.files, loops, problems)
        kernel = nest.kernel(it, lowered)
        if kernel is not None:
            kernels.append(kernel)
            carried[name] = tuple(dict.fromkeys(nest.recurrences))
    return LoopNests(replace(program, kernels=tuple(kernels), problems=tuple(problems)), carried)


class _Nest:
    """One function on its way to a kernel."""

    def __init__(
        self, files: Mapping[str, SourceFile], loops: Sequence[str], problems: list[Problem]
    ) -> None:
        self.files = files
        self.loops = loops
        self.problems = problems
        self.recurrences: tuple[str, ...] = ()
        self.n_mapped = 0
        self.marks: dict[int, int] = {}

    def kernel(self, lowered: Lowered, functions: Mapping[str, Lowered]) -> Kernel | None:
        """Return the kernel, or `None` if no loop of the function is marked."""
        built = build_kernel(lowered, functions).kernel
        self.marks = self._marked(built)
        body = self.block(built.body)
        if not self.n_mapped:
            return None
        globals_ = _Globals(body)
        body = globals_.block(body)
        return Kernel(
            built.name,
            tuple(globals_.variable(it) for it in built.parameters),
            body,
            tuple(globals_.variable(it) for it in built.variables),
            tuple(globals_.variable(it) for it in built.constants),
            Attributes(),
            built.name_span,
            built.span,
            built.n_sites,
            built.frames,
            built.guesses,
        )

    def _marked(self, kernel: Kernel) -> dict[int, int]:
        """Return the dimension by the start of each marked loop: each mark belongs to the next loop."""
        file = self.files.get(kernel.span.path)
        if file is None:
            return {}
        starts = sorted(
            it.span.start
            for it in walk(kernel.body)
            if isinstance(it, Loop) and it.span.path == kernel.span.path
        )
        found = {}
        for match in _MARK.finditer(file.text, kernel.span.start, kernel.span.end):
            following = next((start for start in starts if start >= match.end()), None)
            if following is not None:
                found[following] = int(match[1])
        return found

    def block(self, block: Block) -> Block:
        """Turn the marked loops of a block, and of the blocks inside it, into conditions on ids."""
        out: list[Statement] = []
        for statement in block:
            if isinstance(statement, Loop):
                dimension = self.dimension(statement)
                mapped = None if dimension is None else self.mapped(statement, dimension, out)
                if mapped is not None:
                    out.extend(mapped)
                    continue
            out.append(self.inside(statement))
        return tuple(out)

    def inside(self, statement: Statement) -> Statement:
        """Do the same to what is nested in a statement."""
        match statement:
            case If():
                return replace(
                    statement, then=self.block(statement.then), otherwise=self.block(statement.otherwise)
                )
            case Loop():
                return replace(statement, body=self.block(statement.body))
            case Scope():
                return replace(statement, body=self.block(statement.body))
            case _:
                return statement

    def dimension(self, loop: Loop) -> int | None:
        """Return the dimension that a loop becomes, `None` if it stays a loop."""
        if loop.span.start in self.marks:
            return self.marks[loop.span.start]
        variable = _induction(loop)
        if self.marks or variable is None or variable.name not in self.loops:
            return None
        return min(self.loops.index(variable.name), 2)

    def mapped(self, loop: Loop, dimension: int, before: list[Statement]) -> list[Statement] | None:
        """Return what stands for a marked loop; `before` loses the loop's initialisation."""
        variable = _induction(loop)
        step = _step(loop, variable)
        start = _last_assignment(before, variable)
        if variable is None or step is None or start is None or loop.condition is None or loop.test:
            self.refuse(loop, "it needs the form `for (i = start; i < end; i += step)`")
            return None
        if any(isinstance(it, Break) for it in _own(loop.body)):
            self.refuse(loop, "it is left by `break`")
            return None
        self.recurrences += _carried(loop, variable)
        before.pop()
        self.n_mapped += 1
        ids = _identity(dimension, variable.type, loop.span)
        first = _plus(start.value, _times(ids, step, loop.span), loop.span)
        body = self.block(loop.body)
        if any(isinstance(it, Continue) for it in _own(loop.body)):
            label = _SCOPE_LABELS + self.n_mapped
            body = (Scope(label, _leaving(body, label), "", loop.span),)
        return [Assign(variable, first, start.span), If(loop.condition, body, (), loop.span)]

    def refuse(self, loop: Loop, why: str) -> None:
        """Report a marked loop that stays a loop."""
        message = f"this loop cannot become work-items: {why}"
        self.problems.append(Problem("not-understood", Severity.WARNING, message, loop.span))


# ---------------------------------------------------------------------------------------- parts of a loop


def _induction(loop: Loop) -> Variable | None:
    """Return the variable that the step of a loop changes, if it is one alone."""
    written = {it.variable for it in loop.step if isinstance(it, Assign)}
    return next(iter(written)) if len(written) == 1 and len(loop.step) == 1 else None


def _step(loop: Loop, variable: Variable | None) -> int | None:
    """Return what a turn adds to the variable, if it is a constant."""
    if variable is None or len(loop.step) != 1 or not isinstance(it := loop.step[0], Assign):
        return None
    return added(it.value, variable)


def _last_assignment(before: Sequence[Statement], variable: Variable | None) -> Assign | None:
    last = before[-1] if before else None
    return last if isinstance(last, Assign) and last.variable is variable else None


def _own(block: Block) -> list[Statement]:
    """Return the statements that a `break` or `continue` of this loop could stand among."""
    out: list[Statement] = []
    for it in block:
        out.append(it)
        if not isinstance(it, Loop):
            out += [inner for part in blocks(it) for inner in _own(part)]
    return out


def _leaving(block: Block, label: int) -> Block:
    """Let `continue` leave the scope that stands for the loop's body."""
    out: list[Statement] = []
    for it in block:
        match it:
            case Continue():
                out.append(Leave(label, it.span))
            case If():
                out.append(
                    replace(it, then=_leaving(it.then, label), otherwise=_leaving(it.otherwise, label))
                )
            case Scope():
                out.append(replace(it, body=_leaving(it.body, label)))
            case _:
                out.append(it)
    return tuple(out)


def _carried(loop: Loop, variable: Variable) -> tuple[str, ...]:
    """Return the scalars whose value one turn leaves to the next: read before they are surely written."""
    changed = {variable for it in walk(loop.body) for variable in written(it)}
    pending = exposed_by(loop.body)
    return tuple(sorted(it.name for it in pending if it in changed and it is not variable))


# --------------------------------------------------------------------------------------------- expressions


def _identity(dimension: int, kind: Type, span: Span) -> Expression:
    number = Constant(dimension, INT, span)
    return Convert(WorkItem(WorkItemQuery.GLOBAL_ID, number, SIZE_T, span), kind, span)


def _times(value: Expression, factor: int, span: Span) -> Expression:
    if factor == 1:
        return value
    return Binary(BinaryOp.MUL, value, Constant(factor, value.type, span), value.type, span)


def _plus(start: Expression, moved: Expression, span: Span) -> Expression:
    if isinstance(start, Constant) and start.value == 0:
        return moved
    return Binary(BinaryOp.ADD, start, moved, start.type, span)


class _Globals(Rewriter):
    """Puts pointers and arrays without an address space into global memory."""

    def __init__(self, body: Block) -> None:
        self.changed: dict[Variable, Variable] = {}
        self.stored = frozenset(_stored_objects(body))

    def variable(self, variable: Variable) -> Variable:
        if variable not in self.changed:
            self.changed[variable] = _in_global(variable)
        return self.changed[variable]

    def expression(self, value: Expression) -> Expression:
        copied = super().expression(value)
        if isinstance(copied, ObjectAddress) and copied.variable in self.stored:
            return replace(copied, type=replace(copied.type, space=AddressSpace.GLOBAL, is_const=False))
        kind = copied.type
        if not isinstance(kind, PointerType) or isinstance(copied, Read):
            return copied
        space = _space_behind(copied)
        if space is None or space is kind.space:
            return copied
        return replace(copied, type=replace(kind, space=space))


def _stored_objects(body: Block) -> Iterator[Variable]:
    """Yield the objects of the file that are written; those that are only read stay constant."""
    for it in walk(body):
        match it:
            case Store(pointer=pointer) | CopyObject(destination=pointer):
                while parts := operands(pointer):
                    pointer = parts[0]
                if isinstance(pointer, ObjectAddress):
                    yield pointer.variable
            case _:
                pass


def _in_global(variable: Variable) -> Variable:
    kind = variable.type
    if variable.kind is not VariableKind.PARAMETER or not isinstance(kind, PointerType):
        return variable
    if kind.space not in (AddressSpace.PRIVATE, AddressSpace.GENERIC):
        return variable
    return replace(variable, type=replace(kind, space=AddressSpace.GLOBAL))


def _space_behind(value: Expression) -> AddressSpace | None:
    """Return the space of the parameter that an address is built on."""
    match value:
        case Read(variable=variable):
            kind = variable.type
            is_parameter = variable.kind is VariableKind.PARAMETER
            return kind.space if is_parameter and isinstance(kind, PointerType) else None
        case _:
            parts = operands(value)
            return _space_behind(parts[0]) if parts else None
