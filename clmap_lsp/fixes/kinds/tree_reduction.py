"""Join a work-group's numbers (sums, maxima, products) by sequential addresses, several of them a work-item.

A tree of pairs that doubles its distance leaves every second work-item of a SIMD group idle, or meets the
same banks again and again; halving the distance does neither. And a work-group that starts with a quarter of
the work-items, each of which adds up four numbers before the tree, passes fewer barriers and is launched for
less: the same sums come out, as many as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import group_size, no_offset, other_order
from clmap_lsp.fixes.group_size import required_size, requires
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.launch.model import Launch

KIND = "tree-reduction"
NEEDS = "a tree of pairs over a whole work-group in local memory"
EACH = (1, 4, 8)
"""Numbers that a work-item adds up before the tree."""
LEAST = 32
"""Work-items of a group."""

_W = r"[A-Za-z_]\w*"
_SIZE = rf"(?P<size>{_W}|\d+|get_local_size\(0\))"
_UP = re.compile(
    rf"(?:(?P<type>(?:unsigned )?{_W}) )?(?P<step>{_W})=1;(?P=step)<{_SIZE};(?P=step)(?:\*=2|<<=1)"
)
_DOWN = re.compile(
    rf"(?:(?P<type>(?:unsigned )?{_W}) )?(?P<step>{_W})=(?:\(?{_SIZE}(?:/2|>>1)\)?|(?P<half>\d+));"
    r"(?P=step)>0;(?P=step)(?:/=2|>>=1|=(?P=step)/2|=(?P=step)>>1)"
)
_JOIN = (
    r"(?P<array>{w})\[(?P<at>{w})\]"
    r"(?:(?P<sign>[+*|&^])=|=(?P=array)\[(?P=at)\](?P<infix>[+*|&^])"
    r"|=(?P<call>f?(?:max|min))\((?P=array)\[(?P=at)\],)"
    r"(?P=array)\[(?P=at)\+{step}\]\)?;"
)
_BARRIER = r"barrier\(CLK_LOCAL_MEM_FENCE\);"
_LEAVE = r"\{?if\((?P<test>[^{}]*?)\)\{?"


@dataclass(frozen=True, slots=True)
class _Tree:
    """A loop over a tree of pairs: of which array, by which work-item's name, over how many numbers."""

    node: Node
    array: str
    lane: str
    type: ScalarType
    length: int
    halves: bool
    """True if the distance halves."""
    operation: str = "+"
    """What joins two numbers: a sign, or a function."""

    @property
    def total(self) -> str:
        """What a variable is called that holds several numbers joined."""
        return "sum" if self.operation == "+" else "joined"

    def joined(self, one: str, other: str) -> str:
        """Return the expression that joins two numbers."""
        if self.operation.isidentifier():
            return f"{self.operation}({one}, {other})"
        return f"{one} {self.operation} {other}"

    def joins(self, one: str, other: str) -> str:
        """Return the statement that joins another number to one."""
        if self.operation.isidentifier():
            return f"{one} = {self.joined(one, other)};"
        return f"{one} {self.operation}= {other};"


@dataclass(frozen=True, slots=True)
class _Fill:
    """What stands before the tree: names of ids, the one statement that fills the array, its value."""

    names: tuple[Node, ...]
    node: Node
    value: str
    barriers: tuple[Node, ...]


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the tree by sequential addresses, then those with several numbers a work-item."""
    scope = Scope.of(subject)
    if scope is None or len(subject.launch.local_size) != 1 or facts.opaque(subject.analysis.kernel):
        return
    if subject.device.has_scratchpad is False:
        return  # No banks, no idle lanes: PoCL took 1.4 times as long.
    tree = _tree(scope)
    if tree is None:
        return
    fill = _fill(scope, tree)
    for each in EACH:
        if each == 1 and not tree.halves:
            edits = _sequential(scope, tree)
        elif each > 1 and fill is not None and tree.length // each >= LEAST:
            mine = Scope.of(subject)
            edits = None if mine is None else _several(mine, tree, fill, each)
        else:
            continue
        if edits is not None:
            yield _proposal(subject, tree, each, edits)


def _proposal(subject: Subject, tree: _Tree, each: int, edits: tuple[Edit, ...]) -> Proposal:
    verb = "Add up" if tree.operation == "+" else "Join"
    title = (
        f"{verb} {each} numbers a work-item before the tree"
        if each > 1
        else ("Halve the distance of the tree's pairs")
    )
    floats = tree.type.is_float and not tree.operation.isidentifier()
    size = tree.length // each

    def relaunched(launch: Launch) -> Launch:
        return replace(launch, global_size=(launch.global_size[0] // each,), local_size=(size,))

    return Proposal(
        KIND,
        title,
        edits,
        ("CM201", "CM101"),
        (
            group_size((tree.length,)),
            *((no_offset(1),) if each > 1 else ()),
            *((other_order(),) if floats else ()),
        ),
        relaunch=relaunched if each > 1 else None,
        host_change=f"launch work-groups of {size} instead of {tree.length}, as many as before"
        if each > 1
        else None,
        reorders_sums=floats,
        lowers_traffic=each == 1,
        least_gain=0.0 if each > 1 else 1.0,
        by_time=each > 1,
    )


# ---------------------------------------------------------------------------------------------- recognition


def _tree(scope: Scope) -> _Tree | None:
    """Return the kernel's one tree of pairs over as many numbers as a work-group has work-items."""
    length = scope.subject.launch.local_size[0]
    if length & (length - 1) or length < 2:
        return None
    found = [it for it in map(partial(_tree_at, scope, length), scope.body.children) if it is not None]
    return found[0] if len(found) == 1 else None


def _tree_at(scope: Scope, length: int, node: Node) -> _Tree | None:
    if node.kind != "for" or node.head is None or not node.children:
        return None
    head = _packed(scope.shown[node.head[0] : node.head[1]])
    body = _packed(scope.shown[node.children[0].start : node.children[0].end])
    for pattern, halves in ((_UP, False), (_DOWN, True)):
        loop = pattern.fullmatch(head)
        half = loop.groupdict().get("half") if loop is not None else None
        size = str(2 * int(half)) if half else loop["size"] if loop is not None else ""
        if loop is not None and _length(scope, size) == length:
            found = _pairs(body, loop["step"], size, halves)
            if found is not None:
                array, lane, operation = found
                kind = _array_type(scope, node, array, lane)
                if kind is not None:
                    return _Tree(node, array, lane, kind, length, halves, operation)
    return None


def _pairs(body: str, step: str, size: str, halves: bool) -> tuple[str, str, str] | None:
    """Return the array, the name of the work-item's place and the operation, if a loop's body joins pairs."""
    add = _JOIN.format(w=_W, step=step)
    size = re.escape(size)
    if halves:
        forms = [rf"\{{if\((?P<lane>{_W})<{step}\)\{{?{add}\}}?{_BARRIER}\}}"]
    else:
        forms = [
            rf"\{{if\(\(?(?P<lane>{_W})%\(2\*{step}\)\)?==0\)\{{?{add}\}}?{_BARRIER}\}}",
            rf"\{{if\(\((?P<lane>{_W})&\(2\*{step}-1\)\)==0\)\{{?{add}\}}?{_BARRIER}\}}",
            rf"\{{(?:const )?(?:unsigned )?{_W} (?P<place>{_W})=2\*{step}\*(?P<lane>{_W});"
            rf"if\((?P=place)<{size}\)\{{?{add}\}}?{_BARRIER}\}}",
        ]
    for form in forms:
        found = re.fullmatch(form, body)
        if found is not None:
            place = found.groupdict().get("place") or found["lane"]
            operation = found["sign"] or found["infix"] or found["call"]
            return (found["array"], found["lane"], operation) if found["at"] == place else None
    return None


def _packed(text: str) -> str:
    """Return code without white space, but for that between two words."""
    return re.sub(r"\s+", " ", re.sub(r"\s*([^\w\s])\s*", r"\1", text)).strip()


def _length(scope: Scope, text: str) -> int | None:
    """Return the number that a loop's end stands for; the work-group's size counts as such."""
    if text.isdecimal():
        return int(text)
    if text == "get_local_size(0)":
        return scope.subject.launch.local_size[0]
    words = rf"\b{text}\s*=\s*get_local_size\s*\(\s*0\s*\)\s*;"
    if re.search(words, scope.shown[scope.body.start : scope.body.end]):
        return scope.subject.launch.local_size[0]
    macro = re.search(rf"(?m)^[ \t]*#[ \t]*define[ \t]+{text}[ \t]+\(?(\d+)\)?[ \t\r]*$", scope.text)
    return int(macro[1]) if macro is not None else None


def _array_type(scope: Scope, node: Node, array: str, lane: str) -> ScalarType | None:
    """Return the type of the numbers, if the kernel uses only the first of them after the tree."""
    if not re.search(
        rf"\b{lane}\s*=\s*get_local_id\s*\(\s*0\s*\)\s*[;,]", scope.shown[scope.body.start : node.start]
    ):
        return None
    mine = [it for it in facts.accesses(scope.subject.analysis) if it.buffer == array]
    if not mine or any(it.space is not AddressSpace.LOCAL or not scope.is_typed(it) for it in mine):
        return None
    if any(it.span.start >= node.end and not _is_first(it) for it in mine):
        return None
    kind = mine[0].type
    return kind if isinstance(kind, ScalarType) and len({it.type for it in mine}) == 1 else None


def _is_first(access: Access) -> bool:
    return access.direction is Direction.LOAD and access.index.value == 0


def _fill(scope: Scope, tree: _Tree) -> _Fill | None:
    """Return what fills the array: declarations, one store of each work-item's own number, a barrier."""
    children = scope.body.children
    before = children[: children.index(tree.node)]
    names: list[Node] = []
    found: tuple[Node, str] | None = None
    barriers = []
    pattern = re.compile(rf"{tree.array}\s*\[\s*{tree.lane}\s*\]\s*=(?!=)\s*(?P<value>.*);", re.DOTALL)
    for node in before:
        text = scope.shown[node.start : node.end]
        fills = pattern.fullmatch(text)
        if fills is not None and found is None:
            start = node.start + fills.start("value")
            found = node, scope.text[start : node.start + fills.end("value")]
        elif re.fullmatch(r"barrier\s*\(.*\)\s*;", text) and found is not None:
            barriers.append(node)
        elif re.match(r"(?:__)?local\b", text):
            continue
        elif re.fullmatch(rf"(?:const\s+)?(?:unsigned\s+)?{_W}\s+{_W}\s*=[^,;]*;", text) and found is None:
            names.append(node)
        else:
            return None
    if found is None or len(barriers) != 1:
        return None
    kernel = scope.subject.analysis.kernel
    if any(isinstance(it, ir.WorkItem) and not _is_known(it) for it in ir.all_expressions(kernel.body)):
        return None
    stores = [
        it
        for it in facts.accesses(scope.subject.analysis)
        if it.direction is not Direction.LOAD and it.span.start < tree.node.start
    ]
    return _Fill(tuple(names), found[0], found[1], tuple(barriers)) if len(stores) == 1 else None


def _is_known(it: ir.WorkItem) -> bool:
    queries = (
        ir.WorkItemQuery.LOCAL_ID,
        ir.WorkItemQuery.GLOBAL_ID,
        ir.WorkItemQuery.GROUP_ID,
        ir.WorkItemQuery.LOCAL_SIZE,
    )
    return it.query in queries


# --------------------------------------------------------------------------------------------------- writing


def _loop(scope: Scope, tree: _Tree, size: int | str) -> str:
    """Return the tree by sequential addresses."""
    half = size // 2 if isinstance(size, int) else f"{size} / 2"
    unit, indent, newline = scope.unit, scope.indent(tree.node.start), scope.newline
    step = scope.fresh("step") if "step" not in _header_words(scope, tree) else "step"
    lines = [
        f"for ({_counter_type(scope, tree)} {step} = {half}; {step} > 0; {step} /= 2) {{",
        f"{unit}if ({tree.lane} < {step})",
        unit * 2 + tree.joins(f"{tree.array}[{tree.lane}]", f"{tree.array}[{tree.lane} + {step}]"),
        f"{unit}barrier(CLK_LOCAL_MEM_FENCE);",
        "}",
    ]
    return f"{newline}{indent}".join(lines)


def _counter_type(scope: Scope, tree: _Tree) -> str:
    """Return the type of the numbers that a local id is compared with: compilers warn of mixed signs."""
    named = [it.type for it in scope.subject.analysis.kernel.variables if it.name == tree.lane]
    is_unsigned = all(isinstance(it, ScalarType) and not it.is_signed for it in named) and bool(named)
    return "uint" if is_unsigned else "int"


def _header_words(scope: Scope, tree: _Tree) -> frozenset[str]:
    assert tree.node.head is not None, "a tree is a for loop"
    declared = re.match(
        r"\s*(?:unsigned\s+)?\w+\s+\w+\s*=", scope.shown[tree.node.head[0] : tree.node.head[1]]
    )
    return scope.words(*tree.node.head) if declared else frozenset()


def _sequential(scope: Scope, tree: _Tree) -> tuple[Edit, ...] | None:
    required = required_size(scope)
    if required is None:
        return None
    return (*required, scope.replaced(tree.node.start, tree.node.end, _loop(scope, tree, tree.length)))


def _several(scope: Scope, tree: _Tree, fill: _Fill, each: int) -> tuple[Edit, ...] | None:
    """Return the edits for a work-group with fewer work-items that handle all numbers of before."""
    if scope.subject.analysis.kernel.attributes.reqd_work_group_size is not None:
        return None
    size, length = tree.length // each, tree.length
    number, total, turn = scope.fresh("number"), scope.fresh(tree.total), scope.fresh("turn")
    unit, newline, indent = scope.unit, scope.newline, scope.indent(fill.node.start)
    lane = next(
        (
            it
            for it in fill.names
            if re.search(
                rf"\b{tree.lane}\s*=\s*get_local_id\s*\(\s*0\s*\)\s*;", scope.shown[it.start : it.end]
            )
        ),
        None,
    )
    if lane is None:
        return None
    after = scope.words(tree.node.end, scope.body.end)
    moved = [it for it in fill.names if it is not lane]
    kept = [it for it in moved if _declared(scope, it) in after]
    if any("get_group_id" not in scope.source(it) or "_size" in scope.source(it) for it in kept):
        return None
    tail = scope.shown[tree.node.end : scope.body.end]
    if re.search(r"get_(?:global_id|local_size|local_id)\b", tail):
        return None

    def mapped(text: str) -> str:
        text = re.sub(r"\bget_global_id\s*\(\s*0\s*\)", f"(get_group_id(0) * {length} + {number})", text)
        text = re.sub(r"\bget_local_id\s*\(\s*0\s*\)", number, text)
        text = re.sub(r"\bget_local_size\s*\(\s*0\s*\)", str(length), text)
        text = re.sub(rf"= \((get_group_id\(0\) \* {length} \+ {number})\);", r"= \1;", text)
        return re.sub(rf"\b{tree.lane}\b", number, text)

    inner = [mapped(scope.source(it)) for it in moved if it not in kept]
    value = mapped(fill.value)
    added = [tree.joins(total, value)]
    if tree.operation != "+":
        first = scope.fresh("value")
        added = [f"const {tree.type} {first} = {value};"]
        added += [f"{total} = {turn} == 0 ? {first} : {tree.joined(total, first)};"]
    lines = [
        f"{tree.type} {total} = 0;",
        f"for (int {turn} = 0; {turn} < {each}; {turn}++) {{",
        f"{unit}const {_counter_type(scope, tree)} {number} = {tree.lane} + {turn} * {size};",
        *(unit + it for it in inner),
        *(unit + it for it in added),
        "}",
        f"{tree.array}[{tree.lane}] = {total};",
    ]
    edits = [scope.replaced(fill.node.start, fill.node.end, f"{newline}{indent}".join(lines))]
    for it in moved:
        if it not in kept:
            edits.append(scope.without_line(it))
    edits.append(scope.replaced(tree.node.start, tree.node.end, _loop(scope, tree, size)))
    return (*edits, *requires(scope, (size,)))


def _declared(scope: Scope, node: Node) -> str:
    found = re.search(rf"({_W})\s*=", scope.shown[node.start : node.end])
    return found[1] if found is not None else ""
