"""Kernels: function bodies with every call of a known function put in its place.

An inlined call is a `Scope` with fresh variables and fresh sites; `frames` keeps the way from the kernel to
each site. Recursion, which OpenCL C forbids, and calls beyond the budget stay as `OpaqueCall`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.functions import Lowered
from clmap_lsp.source.gotos import structured
from clmap_lsp.source.ir import (
    INLINING_STOPS,
    RECURSION,
    Assign,
    Block,
    Call,
    CallFrame,
    Constant,
    CopyObject,
    Declare,
    Expression,
    Guess,
    Kernel,
    Leave,
    ObjectAddress,
    OpaqueCall,
    Problem,
    Read,
    Return,
    Scope,
    Severity,
    Site,
    Statement,
    Variable,
    VariableKind,
)
from clmap_lsp.source.promote import Promoter, promotable
from clmap_lsp.source.reuse import BuiltKernel
from clmap_lsp.source.rewrite import EXPRESSIONS, Rewriter
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import AddressSpace, OpaqueType, PointerType, StructType, Type

BUDGET = 18_000
"""Statements of a kernel after which further calls are not inlined. The most in 560 public kernel files is
14,096, in a miner's twecoin.cl; ciphers that are written out without calls have more."""
BUDGET_OF_FEW = 2_000
BUDGET_A_STATEMENT = 20
"""The same for what is typed: so many, and so many more for each statement of the functions that are called.
Calls of calls double with each line, and a few lines would take as long as a cipher. Of 608 public kernels
below `BUDGET` one of 398 statements has the most for what is typed, 7,337."""


def budget_of(functions: Iterable[Lowered]) -> int:
    """Return how many statements a kernel may have that is made of these functions."""
    typed = sum(it.n_statements for it in functions)
    return min(BUDGET, BUDGET_OF_FEW + BUDGET_A_STATEMENT * typed)


def build_kernel(lowered: Lowered, functions: Mapping[str, Lowered]) -> BuiltKernel:
    """Return the kernel of a kernel function, with the functions that went into it."""
    function = lowered.function
    body = function.body or ()
    variables, n_sites = function.variables, lowered.n_sites
    objects, guesses = lowered.objects, lowered.guesses
    frames: dict[Site, tuple[CallFrame, ...]] = {}
    parts = _reached(lowered, functions)
    problems: tuple[Problem, ...] = ()
    if lowered.calls:
        work = _Work(functions, budget_of(parts))
        work.take_in(lowered)
        work.variables += function.variables
        body = _Inliner(work, {}, {}, None, None, (function.name,), ()).block(body)
        variables, n_sites = tuple(work.variables), work.n_sites
        objects, guesses = tuple(work.objects), tuple(work.guesses)
        frames = work.frames
        scalars = promotable(body, variables)
        if scalars:
            promoter = Promoter(scalars, frames)
            body = promoter.block(body)
            variables = tuple(promoter.variable(it) for it in variables)
            n_sites, frames = promoter.n_sites, promoter.frames
        problems = tuple(work.problems)
    kernel = Kernel(
        function.name,
        function.parameters,
        structured(body),
        variables,
        objects,
        function.attributes,
        function.name_span,
        function.span,
        n_sites,
        frames,
        guesses,
    )
    return BuiltKernel(kernel, parts, problems)


def _reached(lowered: Lowered, functions: Mapping[str, Lowered]) -> tuple[Lowered, ...]:
    """Return a function and all that are called from it, each once: what a kernel is made of."""
    found = {lowered.function.name: lowered}
    waiting = [lowered]
    while waiting:
        for name in sorted(waiting.pop().calls):
            callee = functions.get(name)
            if callee is not None and name not in found:
                found[name] = callee
                waiting.append(callee)
    return tuple(found.values())


@dataclass(slots=True)
class _Work:
    """What grows while one kernel is put together."""

    functions: Mapping[str, Lowered]
    budget: int
    problems: list[Problem] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    shared: set[Variable] = field(default_factory=set)
    """The `__local` variables of callees that are among them."""
    objects: dict[Variable, None] = field(default_factory=dict)
    guesses: dict[Guess, None] = field(default_factory=dict)
    frames: dict[Site, tuple[CallFrame, ...]] = field(default_factory=dict)
    n_sites: int = 0
    n_labels: int = 0
    n_statements: int = 0

    def take_in(self, lowered: Lowered) -> None:
        """Note what a function that goes in depends on."""
        self.objects.update(dict.fromkeys(lowered.objects))
        self.guesses.update(dict.fromkeys(lowered.guesses))

    def fresh(self, callee: Lowered, without: Container[Variable]) -> dict[Variable, Variable]:
        """Return fresh variables for those of a function; `__local` ones are shared by all its calls."""
        renamed: dict[Variable, Variable] = {}
        for parameter in callee.function.parameters:
            if parameter in without:
                continue
            is_struct = isinstance(parameter.type, StructType)
            kind = VariableKind.PRIVATE_OBJECT if is_struct else VariableKind.REGISTER
            renamed[parameter] = _copy(parameter, kind)
        for variable in callee.function.variables:
            if variable.kind is VariableKind.LOCAL_OBJECT:
                if variable not in self.shared:
                    self.shared.add(variable)
                    self.variables.append(variable)
                continue
            renamed[variable] = _copy(variable, variable.kind)
        self.variables += renamed.values()
        return renamed

    def refusal(self, call: Call, callee: Lowered | None, stack: tuple[str, ...]) -> str | None:
        """Return why a call is not followed, `None` if it is."""
        if callee is None or callee.function.body is None:
            return "the function has no body here"
        if call.function in stack:
            message = (
                f"`{call.function}` calls itself; OpenCL C has no recursion, so this call is not followed"
            )
            problem = Problem("recursion", Severity.ERROR, message, call.span)
            if problem not in self.problems:
                self.problems.append(problem)
            return RECURSION
        if self.n_statements > self.budget:
            return f"{INLINING_STOPS} after {self.budget} statements"
        return None


def _copy(it: Variable, kind: VariableKind) -> Variable:
    """Return a fresh variable; `dataclasses.replace` would take three times as long, and a tenth of all."""
    return Variable(it.name, it.type, kind, it.span, it.is_temporary)


class _Inliner(Rewriter):
    """Copies one body into the kernel: renamed variables, the scope that `return` leaves, the way here."""

    def __init__(
        self,
        work: _Work,
        renamed: Mapping[Variable, Variable],
        addresses: Mapping[Variable, ObjectAddress],
        scope: int | None,
        returned: Variable | None,
        stack: tuple[str, ...],
        frames: tuple[CallFrame, ...],
    ) -> None:
        self.work = work
        self.renamed = renamed
        self.addresses = addresses
        self.scope = scope
        self.returned = returned
        self.stack = stack
        self.frames = frames

    def variable(self, variable: Variable) -> Variable:
        return self.renamed.get(variable, variable)

    def site(self, site: Site) -> Site:
        return self.fresh_site()

    def label(self, name: str) -> str:
        return name if self.scope is None else f"{name}#{self.scope}"

    def expression(self, value: Expression) -> Expression:
        if self.scope is None:
            return value
        # Most nodes are constants, which are kept as they are, and reads of what the callee's variables hold.
        kind = type(value)
        if kind is Constant:
            return value
        if not isinstance(value, Read):
            return EXPRESSIONS[kind](self, value)
        fresh = self.renamed.get(value.variable)
        if fresh is not None:
            return Read(fresh, value.span)
        address = self.addresses.get(value.variable)
        return value if address is None else ObjectAddress(address.variable, address.type, value.span)

    def fresh_site(self) -> Site:
        """Return a site of the kernel, and keep the way to it."""
        site = self.work.n_sites
        self.work.n_sites += 1
        if self.frames:
            self.work.frames[site] = self.frames
        return site

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            checkpoint()
            self.work.n_statements += 1
            if isinstance(statement, Call):
                self.call(statement, out)
            elif isinstance(statement, Return) and self.scope is not None:
                if statement.value is not None and self.returned is not None:
                    value = self.expression(statement.value)
                    out.append(self.given(self.returned, value, statement.span))
                out.append(Leave(self.scope, statement.span))
            else:
                out.append(self.statement(statement))
        return tuple(out)

    def given(self, variable: Variable, value: Expression, span: Span) -> Statement:
        """Give a variable its value; structs are copied."""
        if not isinstance(variable.type, StructType):
            return Assign(variable, value, span)
        target = ObjectAddress(variable, PointerType(variable.type, AddressSpace.PRIVATE), span)
        return CopyObject(self.fresh_site(), self.fresh_site(), target, value, variable.type, span)

    def call(self, call: Call, out: list[Statement]) -> None:
        """Put the callee's body in place of the call."""
        work = self.work
        arguments = self.expressions(call.arguments)
        result = self.result(call.variable)
        callee = work.functions.get(call.function)
        reason = work.refusal(call, callee, self.stack)
        if callee is None or reason is not None:
            why = reason or "the function has no body here"
            out.append(OpaqueCall(self.fresh_site(), result, call.function, arguments, call.span, why))
            return
        work.take_in(callee)
        work.n_labels += 1
        scope = work.n_labels
        pairs = list(zip(callee.function.parameters, arguments, strict=False))
        # A pointer to an object is put in itself: what it points to is then plain to see.
        addresses = {a: b for a, b in pairs if isinstance(b, ObjectAddress) and _same_pointee(a.type, b.type)}
        # So is an image, which no variable can hold a copy of.
        images = {a: b.variable for a, b in pairs if isinstance(b, Read) and _is_image(b)}
        renamed = work.fresh(callee, addresses.keys() | images.keys()) | images
        frames = (*self.frames, CallFrame(callee.function.name, call.span))
        inner = _Inliner(work, renamed, addresses, scope, result, (*self.stack, call.function), frames)
        body: list[Statement] = []
        for parameter, argument in pairs:
            if parameter in addresses or parameter in images:
                continue
            fresh = renamed[parameter]
            work.n_statements += 2
            body.append(Declare(fresh, parameter.span))
            body.append(inner.given(fresh, argument, call.span))
        body += inner.block(callee.function.body or ())
        if body and isinstance(body[-1], Leave) and body[-1].label == scope:
            body.pop()
        out.append(Scope(scope, tuple(body), callee.function.name, call.span))


def _same_pointee(left: Type, right: PointerType) -> bool:
    return isinstance(left, PointerType) and left.pointee == right.pointee


def _is_image(value: Read) -> bool:
    return isinstance(value.variable.type, OpaqueType) and value.variable.type.is_image
