"""Which array instances vectorise together (Algorithm 1), how far (Q_V), and after which transformations.

The algorithm looks at access patterns alone, as the paper's does; whether a loop carries a value from turn to
turn is not its question. Hazards say where duplicating an array would break what the loop computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.access.delinearise import Role
from clmap_lsp.access.polynomial import ZERO, LoopSymbol, Polynomial
from clmap_lsp.dataclass import dataclass
from clmap_lsp.hierarchy.instances import arrays_of, numbers_of
from clmap_lsp.hierarchy.properties import in_launch
from clmap_lsp.hierarchy.transform import Relation, Rule, Target, primitive, relate, rule_for

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.hierarchy.instances import Array, ColumnKey, Instance, Row
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class Hazard:
    """An array that would be duplicated although it is written: its copies would fall apart."""

    array: str
    reason: str
    written: Instance
    other: Instance


@dataclass(frozen=True, slots=True)
class Overhead:
    """What the transformation costs, besides the loop itself; `None` where sizes are not known.

    `copied` bytes are read and written once before the loop, and once more after it for arrays that the loop
    writes; `extra` bytes of memory hold duplicates. `share` is `copied` against the bytes that the loop's
    references ask for.
    """

    copied: int | None
    extra: int | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Instances that vectorise together along one direction."""

    target: Target
    direction: str
    """The target row in words: `i2`, `get_global_id(0)`."""
    instances: tuple[Instance, ...]
    rules: tuple[Rule, ...]
    """One for each instance, in order."""
    duplicated: tuple[str, ...]
    """Arrays of which several instances need different copies."""
    hazards: tuple[Hazard, ...]
    overhead: Overhead
    qv_percent: float

    @property
    def patterns(self) -> tuple[str, ...]:
        """The classes of the instances, as in the paper's Table 3."""
        return tuple(dict.fromkeys(name for rule in self.rules for name in rule.patterns))

    @property
    def transformations(self) -> tuple[str, ...]:
        """What is done to the data, as in the paper's Table 3."""
        steps = dict.fromkeys(step for rule in self.rules for step in rule.steps)
        return (*(("duplicate",) if self.duplicated else ()), *steps)


@dataclass(frozen=True, slots=True)
class Vectorisation:
    """The result for one loop nest or kernel. `groups` are the largest groups, the cheapest first."""

    n_instances: int
    groups: tuple[Group, ...]
    left_out: tuple[tuple[Instance, str], ...]
    """Instances that are in no largest group, with why."""

    @property
    def qv_percent(self) -> float | None:
        """Q_V: vectorisable instances in percent of all; `None` without instances."""
        if not self.n_instances:
            return None
        return self.groups[0].qv_percent if self.groups else 0.0

    @property
    def best(self) -> Group | None:
        """The largest group, of those the one that needs the least."""
        return self.groups[0] if self.groups else None


MAX_DIRECTIONS = 64
"""Each is compared with every instance that it may concern; kernels of real programs have a handful."""


def vectorise(analysis: KernelAnalysis) -> Vectorisation:
    """Apply Algorithms 1 and 2 to the global and constant arrays of a kernel."""
    return vectorise_arrays(arrays_of(analysis), analysis.launch)


def vectorise_arrays(arrays: Sequence[Array], launch: Launch | None) -> Vectorisation:
    """Apply Algorithms 1 and 2 to arrays with their instances."""
    instances = [it for array in arrays for it in array.instances]
    moved_by = _moved_by(instances)
    alike = _alike(instances)
    candidates: list[tuple[Row, dict[int, Relation]]] = []
    for row in _directions(instances):
        # Only what all of the row's ids and loops move can be related to it.
        some = min((moved_by[key] for key in row), key=len)
        wanted = numbers_of(row)
        one_each = {alike[at]: instances[at] for at in some}
        of_kind = {kind: relate(it, row, wanted) for kind, it in one_each.items()}
        related = {at: found for at in some if (found := of_kind[alike[at]]) is not None}
        candidates.append((row, related))
    most = max((len(related) for _, related in candidates), default=0)
    by_name = {it.name: it for it in arrays}
    groups = [
        _group(row, related, instances, by_name, launch)
        for row, related in candidates
        if most and len(related) == most
    ]
    groups.sort(key=_effort)
    members = {id(it) for group in groups for it in group.instances}
    left = tuple((it, _why_left(it)) for it in instances if id(it) not in members)
    return Vectorisation(len(instances), tuple(groups), left)


def _directions(instances: Iterable[Instance]) -> list[Row]:
    """Return the commonest directions of all rows, each once, in the order of Algorithm 1."""
    found: dict[frozenset[tuple[ColumnKey, Polynomial]], Row] = {}
    times: Counter[frozenset[tuple[ColumnKey, Polynomial]]] = Counter()
    for instance in instances:
        for row in instance.rows if not instance.is_random else ():
            direction = primitive(row)
            if direction is not None:
                key = frozenset(direction.items())
                found.setdefault(key, direction)
                times[key] += 1
    if len(found) <= MAX_DIRECTIONS:
        return list(found.values())
    common = dict(times.most_common(MAX_DIRECTIONS))
    return [direction for key, direction in found.items() if key in common]


def _moved_by(instances: Sequence[Instance]) -> dict[ColumnKey, list[int]]:
    """Return which instances each id or loop moves."""
    found: dict[ColumnKey, list[int]] = {}
    for at, instance in enumerate(instances):
        for key in {key: None for row in instance.rows for key in row}:
            found.setdefault(key, []).append(at)
    return found


def _alike(instances: Sequence[Instance]) -> list[int]:
    """Return a number for each instance, the same for those that relate to any row in the same way."""
    kinds: dict[tuple[bool, tuple[frozenset[tuple[ColumnKey, Polynomial]], ...]], int] = {}
    return [
        kinds.setdefault((it.is_random, tuple(frozenset(row.items()) for row in it.rows)), len(kinds))
        for it in instances
    ]


def _why_left(instance: Instance) -> str:
    if instance.is_random:
        return instance.reason or "its index is not affine in ids and loop variables"
    if not any(instance.rows):
        return "it is one element, the same in every iteration"
    return "no dimension of it is moved as those of the others are"


def _effort(group: Group) -> tuple[int, int, int, int]:
    """Order groups: without hazards first, then by arrays that are copied, then by steps."""
    copies = sum(rule.moves_data for rule in group.rules)
    steps = sum(len(rule.steps) for rule in group.rules)
    return len(group.hazards), copies, len(group.duplicated), steps


def _group(
    row: Row,
    related: dict[int, Relation],
    instances: Sequence[Instance],
    arrays: dict[str, Array],
    launch: Launch | None,
) -> Group:
    members = tuple(instances[at] for at in related)
    target = Target(row, _common_offset(members, related.values()))
    extent = _extent(row, members, launch)
    rules = tuple(
        rule_for(it, relation, target, extent) for it, relation in zip(members, related.values(), strict=True)
    )
    duplicated = _duplicated(rules)
    hazards = tuple(_hazards(duplicated, rules))
    return Group(
        target,
        _direction_words(row, members),
        members,
        rules,
        duplicated,
        hazards,
        _overhead(rules, duplicated, arrays, launch),
        100.0 * len(members) / len(instances),
    )


def _common_offset(members: Sequence[Instance], relations: Iterable[Relation]) -> Polynomial:
    """Return the offset that most of the group's unchanged arrays have: these then need no shift."""
    offsets = Counter(
        it.offset[-1]
        for it, relation in zip(members, relations, strict=True)
        if relation.scale == 1 and relation.dimension == it.n_dimensions - 1 and not relation.is_overlap
    )
    if not offsets or ZERO in offsets:
        return ZERO
    return offsets.most_common(1)[0][0]


def _extent(row: Row, members: Sequence[Instance], launch: Launch | None) -> Polynomial | None:
    """Return how many values the target's index takes, where one loop or guarded id moves it."""
    if len(row) != 1:
        return None
    (key,) = row
    for it in members:
        for loop in it.accesses[0].loops:
            if ("loop", loop.identity) == key and _is_plain(loop):
                return loop.trip
    for it in members:
        for condition in it.accesses[0].guard:
            bound = upper_bound(condition, key)
            if bound is not None:
                return bound
    if launch is not None and key[0] == "get_global_id" and key[1] < len(launch.global_size):
        return Polynomial.constant(launch.global_size[key[1]])
    return None


def _is_plain(loop: LoopSymbol) -> bool:
    return loop.trip is not None and not (loop.start or ZERO)


def upper_bound(condition: Polynomial, key: ColumnKey) -> Polynomial | None:
    """Return b of a condition `id < b` or `id <= b - 1`; `None` for conditions of other forms."""
    from clmap_lsp.access.polynomial import Op, Operation, WorkItemSymbol

    atom = condition.atom
    if not isinstance(atom, Operation) or atom.op not in (Op.LT, Op.LE):
        return None
    left, right = atom.operands
    symbol = next(
        (it for it in left.atoms if isinstance(it, WorkItemSymbol) and (it.query.value, it.dimension) == key),
        None,
    )
    if symbol is None or left.coefficient(symbol) != Polynomial.constant(1):
        return None
    rest = left - Polynomial.of(symbol)
    if symbol in rest.leaves or symbol in right.leaves:
        return None
    bound = right - rest
    return bound if atom.op is Op.LT else bound + 1


def _duplicated(rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the arrays whose instances need different data: other T, or other t."""
    wanted: dict[str, set[object]] = {}
    for rule in rules:
        wanted.setdefault(rule.instance.array, set()).add((rule.matrix, rule.shift))
    return tuple(name for name, kinds in wanted.items() if len(kinds) > 1)


def _hazards(duplicated: Iterable[str], rules: Sequence[Rule]) -> Iterable[Hazard]:
    """Yield the duplicated arrays that are written, each with the two instances that disagree."""
    for name in duplicated:
        instances = [it.instance for it in rules if it.instance.array == name]
        written = next((it for it in instances if it.is_stored), None)
        if written is None:
            continue
        other = next(it for it in instances if it is not written)
        does = "write" if not other.is_loaded else "read"
        reason = f"`{written.text}` is written to one copy, `{other.text}` would {does} another"
        yield Hazard(name, reason, written, other)


def _overhead(
    rules: Sequence[Rule], duplicated: Sequence[str], arrays: dict[str, Array], launch: Launch | None
) -> Overhead:
    copied, extra = 0, 0
    seen: set[object] = set()
    for rule in rules:
        name = rule.instance.array
        copy = (name, rule.matrix, rule.shift)
        if copy in seen:
            continue
        first = all(it[0] != name for it in seen if isinstance(it, tuple))
        seen.add(copy)
        size = arrays[name].bytes
        if size is None and (rule.moves_data or not first):
            return Overhead(None, None, None)
        size = size or 0
        if rule.moves_data:
            copied += 2 * size * (2 if rule.instance.is_stored else 1)
        if name in duplicated and not first and rule.moves_data:
            extra += size
    requested = _requested(rules, launch)
    return Overhead(copied, extra, copied / requested if requested else None)


def _requested(rules: Sequence[Rule], launch: Launch | None) -> int | None:
    """Return the bytes that the references of a group ask for, conditions taken to hold."""
    if launch is None:
        return None
    total = 0
    for access in (it for rule in rules for it in rule.instance.accesses):
        n = launch.work_items
        for loop in access.loops:
            trip = None if loop.trip is None else in_launch(loop.trip, launch)
            if trip is None:
                return None
            n *= max(trip, 0)
        total += n * access.size
    return total


def _direction_words(row: Row, members: Sequence[Instance]) -> str:
    movers = {key: mover for it in members for key, mover in it.movers.items()}
    words = []
    for key, factor in row.items():
        mover = movers.get(key)
        name = mover.name if mover is not None and mover.role is not Role.OTHER else str(key)
        text = members[0].accesses[0].text(factor)
        words.append(name if text == "1" else f"{text}*{name}")
    return " + ".join(words)
