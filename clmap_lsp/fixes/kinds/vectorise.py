"""Move four elements at once where a loop or neighbouring work-items walk them one by one.

A loop over contiguous elements takes four turns at a time, with one load of a vector; the turns left over run
as before. A kernel of which every work-item handles one element handles four; the host then launches a
quarter of the work-items. Contiguous and aligned accesses are what vectors pay for (Jang et al., IEEE TPDS
22(1), 2011, section 4). They are made through pointers to vectors, which promise the alignment: a `vload4`
promises none, and devices split it into single loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import gcd
from typing import TYPE_CHECKING

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ONE, Parameter, Polynomial, WorkItemSymbol, global_id
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, aligned, multiple, no_offset, overlaps, unique
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope, spelt
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.span import Span
    from clmap_lsp.source.types import Type

KIND = "vectorise"
NEEDS = (
    "a counting loop over neighbouring elements that it loads in every turn, or a kernel that "
    "handles one element a work-item"
)
LANES = 4


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop, and one for the kernel, that walks single elements side by side."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel) or subject.analysis.kernel.frames:
        return
    for loop in counting_loops(scope):
        found = _loop(scope, loop)
        if found is not None:
            yield found
    whole = _kernel(scope)
    if whole is not None:
        yield whole


# -------------------------------------------------------------------------------------------------- loops


def _loop(scope: Scope, loop: CountingLoop) -> Proposal | None:
    """Take four turns at a time, loads first, the rest in the order it had."""
    readable = {it.name for it, _ in facts.read_only_buffers(scope.subject)}
    statements = list(ir.walk(loop.statement.body))
    unfit = (ir.Loop, ir.Switch, ir.Return, ir.Break, *([ir.Continue] if loop.increment is not None else []))
    if facts.synchronises(statements) or any(isinstance(it, unfit) for it in statements):
        return None
    mine = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    loads = [
        it
        for it in mine
        if it.buffer in readable and _is_contiguous(scope, loop, it) and _offsets(loop, it) is not None
    ]
    surely = {scope.source(it.span) for it in loads if facts.in_every_turn(loop.statement.body, it.site)}
    loads = [it for it in loads if scope.source(it.span) in surely]
    trip = Facts(scope.subject.launch).number(loop.symbol.trip) if loop.symbol.trip is not None else None
    if not loads or trip is None or trip < LANES or not loop.from_zero:
        return None
    hints = _hints(scope, loop)
    if hints is None:
        return None
    tests = _tests(scope, loop, loads)
    if tests is None:
        return None
    edits = _unrolled(scope, loop, loads, hints, tests)
    stored = {it.buffer for it in mine if it.direction is not Direction.LOAD}
    names = ", ".join(sorted({f"`{it.buffer}`" for it in loads}))
    return Proposal(
        KIND,
        f"Load {names} by vectors of {LANES}",
        edits,
        ("CM101", "CM103"),
        (
            *overlaps(scope.subject.analysis.kernel, {it.buffer for it in loads}, stored),
            *aligned_vectors(scope, loads),
        ),
        sites=frozenset(it.site for it in loads),
    )


def _offsets(loop: CountingLoop, access: Access) -> tuple[Polynomial, ...] | None:
    """Return what must be multiples of four so that every fourth turn meets an aligned vector.

    These are the uniform factors of the index's terms besides the turn, such as the length of a row. `None`
    where a term has none, so that some work-item never meets one.
    """
    found: list[Polynomial] = []
    for monomial, factor in (access.index - Polynomial.of(loop.symbol)).terms.items():
        if factor % LANES == 0:
            continue
        uniform = [it for it in monomial if isinstance(it, Parameter)]
        if not uniform or factor % 2 == 0:  # Twice something even would do, but who asks for that?
            return None
        found.append(Polynomial.of(uniform[0]))
    return tuple(dict.fromkeys(found))


def _tests(scope: Scope, loop: CountingLoop, loads: Sequence[Access]) -> list[str] | None:
    """Return when vectors are aligned; else the loop that takes single turns does them all."""
    names = scope.names_at(loop.node.start, loads[0].names)
    found: list[str] = []
    for load in loads:
        for value in _offsets(loop, load) or ():
            text = spelt(value, names)
            if text is None:
                return None
            found.append(f"{text} % {LANES} == 0")
    return list(dict.fromkeys(found))


def aligned_vectors(scope: Scope, accesses: Sequence[Access], lanes: int = LANES) -> tuple[Assumption, ...]:
    """Return that the buffers are aligned, where the host may pass pointers: from OpenCL 2.0 on."""
    if scope.subject.options.language in ("CL1.0", "CL1.1", "CL1.2"):
        return ()
    return unique(aligned(it.buffer, it.size * lanes) for it in accesses)


def _is_contiguous(scope: Scope, loop: CountingLoop, access: Access) -> bool:
    return (
        _is_single(scope, access)
        and access.direction is Direction.LOAD
        and access.loops[-1:] == (loop.symbol,)
        and access.index.coefficient(loop.symbol) == ONE
        and loop.name in scope.words(access.span.start, access.span.end)
        and not facts.changes_besides(loop.statement, access.site, loop.name)
    )


_NAMED = re.compile(r"\w+\s*\[")
"""An element of the array itself, or of a pointer into it."""
_UNROLL = re.compile(r"\b(?:unroll|opencl_unroll_hint)[\s(]*(\d+)")


def _hints(scope: Scope, loop: CountingLoop) -> list[str] | None:
    """Return the pragmas and attributes for a loop that takes four turns at a time.

    A factor of unrolling counts turns, so a quarter of it says the same. `None` where the author wants the
    turns one by one, or where directives stand in the loop.
    """
    if "#" in scope.text[loop.node.begins : loop.node.end]:
        return None
    kept: list[str] = []
    for hint in scope.hints(loop.node):
        asked = _UNROLL.search(hint)
        factor = int(asked[1]) if asked is not None else LANES
        if "nounroll" in hint or factor <= 1:
            return None
        if asked is None:
            kept.append(hint)
        elif factor > LANES:
            kept.append(f"{hint[: asked.start(1)]}{factor // LANES}{hint[asked.end() :]}")
    return kept


def _is_single(scope: Scope, access: Access) -> bool:
    return (
        access.space is AddressSpace.GLOBAL
        and access.known
        and not access.volatile
        and scope.is_typed(access)
        and isinstance(access.type, ScalarType)
        and access.type.size in (1, 2, 4)
        and access.unit == access.size
        and _NAMED.match(scope.source(access.span)) is not None
    )


def _unrolled(
    scope: Scope, loop: CountingLoop, loads: list[Access], hints: list[str], tests: list[str]
) -> tuple[Edit, ...]:
    unit, name, indent = scope.unit, loop.name, scope.indent(loop.node.begins)
    counter = scope.fresh(f"{name}0")
    inside = list(ir.walk(loop.statement.body))
    lines, vectors = [], {}
    for access in loads:
        text = scope.source(access.span)
        if text not in vectors:
            vectors[text] = scope.fresh(f"{access.buffer}_{LANES}")
            start = scope.shown.index("[", access.span.start) + 1
            index, _ = scope.substituted(start, access.span.end - 1, {name: counter})
            kind = f"{access.type}{LANES}"
            value = f"*(__global const {kind} *)&{text[: text.index('[')]}[{index}]"
            lines.append(f"const {kind} {vectors[text]} = {value};")
    if any(isinstance(it, ir.Continue) for it in inside):
        lines.append(f"// A `continue` leaves one of these {LANES} iterations.")
    for lane in range(LANES):
        changes = {
            (it.span.start, it.span.end): f"{vectors[scope.source(it.span)]}.s{lane:x}" for it in loads
        }
        body = _turn(scope, loop, changes, counter if not lane else f"({counter} + {lane})")
        lines.append(_apart(scope, body, inside, indent))
    written = [
        f"{loop.type} {counter} = {loop.start};",
        *hints,
        f"for (; {' && '.join([*tests, f'{counter} + {LANES} <= {loop.bound}'])}; {counter} += {LANES}) {{",
        *(f"{unit}{it}" for it in lines),
        "}",
        *loop.rest(scope, counter),
    ]
    text = scope.governed(loop.node, f"{scope.newline}{indent}".join(written))
    return (scope.replaced_with_hints(loop.node, text),)


def _apart(scope: Scope, body: str, inside: Sequence[ir.Statement], indent: str) -> str:
    """Return one turn's statements in a block where they need it.

    They have variables of their own, or a `continue`, which must leave this turn only: in a loop of one turn
    it does.
    """
    leaves = any(isinstance(it, ir.Continue) for it in inside)
    if not leaves and not any(isinstance(it, ir.Declare) and not it.variable.is_temporary for it in inside):
        return body
    unit, newline = scope.unit, scope.newline
    inner = body.replace(newline, f"{newline}{unit}")
    head, end = ("do {", "} while (0);") if leaves else ("{", "}")
    return f"{head}{newline}{indent}{unit * 2}{inner}{newline}{indent}{unit}{end}"


def _turn(scope: Scope, loop: CountingLoop, changes: dict[tuple[int, int], str], counter: str) -> str:
    """Return the loop's body with loads replaced, and its variable by that of the turn."""
    body = loop.body
    start, end = body.start, body.end
    if body.kind == "block" and body.children:
        start, end = body.children[0].start, body.children[-1].end
    if loop.increment is not None:
        changes[loop.increment] = ""
    for found in re.finditer(rf"(?<![.>\w]){re.escape(loop.name)}\b", scope.shown[start:end]):
        place = (start + found.start(), start + found.end())
        if not any(a <= place[0] < b for a, b in changes):
            alone = scope.shown[place[0] - 1] == "[" and scope.shown[place[1]] == "]"
            changes[place] = counter.strip("()") if alone else counter
    return scope.rewritten(start, end, changes).rstrip()


# ------------------------------------------------------------------------------------------ whole kernels

_OPERATORS = re.compile(r"[\w\s.+\-*/()\[\],]*")


def _kernel(scope: Scope) -> Proposal | None:
    """Give every work-item four elements: for `out[i] = …` over elements at `get_global_id(0)` only."""
    subject, launch = scope.subject, scope.subject.launch
    accesses = facts.accesses(subject.analysis)
    place = Polynomial.of(global_id(0))
    if len(launch.global_size) != 1 or launch.global_size[0] % (LANES * launch.local_size[0]):
        return None
    if any(launch.global_offset) or subject.analysis.kernel.attributes.reqd_work_group_size is not None:
        return None
    if not accesses or any(it.index != place or not _is_single(scope, it) or it.guard for it in accesses):
        return None
    if len({it.type for it in accesses}) != 1 or scope.general[accesses[0].site].guard:
        return None
    name = accesses[0].names.get(global_id(0))
    if name is None or any(scope.source(it.span) != f"{it.buffer}[{name}]" for it in accesses):
        return None
    edits = _vector_statements(scope, name, accesses)
    if edits is None:
        return None
    size_text = "get_global_size(0)"
    size = Polynomial.of(WorkItemSymbol(ir.WorkItemQuery.GLOBAL_SIZE, 0))
    return Proposal(
        KIND,
        f"Handle {LANES} elements a work-item by vectors",
        edits,
        assumptions=(
            multiple(size, size_text, LANES),
            no_offset(1),
            *overlaps(
                subject.analysis.kernel,
                (it.buffer for it in accesses),
                (it.buffer for it in accesses if it.direction is Direction.STORE),
            ),
            *aligned_vectors(scope, accesses),
        ),
        relaunch=_quarter,
        host_change=f"launch a quarter of the work-items, for a multiple of {LANES} elements",
        change=LaunchChange(global_size={0: Resize(over=LANES)}),
    )


def _vector_statements(scope: Scope, name: str, accesses: tuple[Access, ...]) -> tuple[Edit, ...] | None:
    """Rewrite the kernel if all it does is to declare its id and to store."""
    edits = []
    stored: set[str] = set()
    for node in scope.body.children:
        text = scope.source(node)
        if node.kind != "simple":
            return None
        inside = [it for it in accesses if node.holds(it.span.start, it.span.end)]
        if not inside:
            if re.fullmatch(rf"(?:const\s+)?\w+\s+{name}\s*=\s*get_global_id\(\s*0\s*\)\s*;", text) is None:
                return None
            continue
        store = next((it for it in inside if it.direction is Direction.STORE), None)
        if store is None or node.start != store.span.start or store.buffer in stored:
            return None
        assigned = re.fullmatch(r"\s*=(?!=)\s*(.*);", scope.text[store.span.end : node.end], re.DOTALL)
        if assigned is None or _OPERATORS.fullmatch(assigned[1]) is None:
            return None
        loads = {it.span for it in inside if it.direction is Direction.LOAD}
        if not loads or any(it.buffer in stored for it in inside if it.direction is Direction.LOAD):
            return None
        kind = f"{store.type}{LANES}"
        changes = {(it.start, it.end): _vector(scope, it, name, kind) for it in loads}
        start = scope.text.index("=", store.span.end) + 1
        value = scope.rewritten(start, node.end - 1, changes).strip()
        if not _same_in_lanes(scope, store):
            return None
        if _words_outside(scope, start, node.end - 1, changes) & {name}:
            return None
        target = f"((__global {kind} *){store.buffer})[{name}]"
        edits.append(scope.replaced(node.start, node.end, f"{target} = {value};"))
        stored.add(store.buffer)
    return tuple(edits) or None


def _same_in_lanes(scope: Scope, access: Access) -> bool:
    """True if a stored value is computed in the element's own type throughout.

    Then lane by lane the same is computed: no operand is promoted to int as single characters are, and no
    scalar beside a vector has a greater rank (OpenCL C 1.2, section 6.2.6), which does not compile.
    """
    body = scope.subject.analysis.kernel.body
    store = next(it for it in ir.walk(body) if isinstance(it, ir.Store) and it.site == access.site)
    loaded = {it.variable for it in ir.walk(body) if isinstance(it, ir.Load)}

    def fits(value: ir.Expression) -> bool:
        if isinstance(value, ir.Convert):
            return value.type == access.type and _converts(value.operand, access.type, loaded)
        if value.type != access.type or isinstance(value, (ir.Compare, ir.Logical, ir.Select)):
            return False
        return all(fits(it) for it in ir.operands(value))

    return fits(store.value)


def _converts(value: ir.Expression, to: Type, loaded: set[ir.Variable]) -> bool:
    """True if a scalar beside vectors of an element type becomes one of them by itself."""
    kind = value.type
    if any(isinstance(it, ir.Read) and it.variable in loaded for it in ir.nodes(value)):
        return False
    if not isinstance(kind, ScalarType) or not isinstance(to, ScalarType):
        return False
    if kind.is_float or to.is_float:
        return to.is_float and (not kind.is_float or kind.size <= to.size)
    return kind.size <= to.size


def _vector(scope: Scope, span: Span, name: str, kind: str) -> str:
    text = scope.source(span)
    return f"((__global const {kind} *){text[: text.index('[')]})[{name}]"


def _words_outside(scope: Scope, start: int, end: int, changes: dict[tuple[int, int], str]) -> frozenset[str]:
    blanked = scope.rewritten(start, end, dict.fromkeys(changes, " "))
    return frozenset(re.findall(r"[A-Za-z_]\w*", blanked))


def _quarter(launch: Launch) -> Launch:
    size = launch.global_size[0] // LANES
    return replace(launch, global_size=(size,), local_size=(gcd(size, launch.local_size[0]),))
