"""Lay a local array out so that its accesses meet no bank conflicts: by padding, or by an xor of the index.

Padding makes rows longer by a few elements, so that a column crosses the banks; the swizzle leaves the size
as it is and moves each row's elements about within the row. The device model counts every candidate; the one
with the fewest passes, then the least memory, comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, TypedDict

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import Polynomial, global_id, local_id
from clmap_lsp.access.records import Access
from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import BankedLocal
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, local_elements
from clmap_lsp.fixes.local_arrays import LocalArray, local_arrays
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.predict import predicted
from clmap_lsp.fixes.scope import Scope, tight
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.launch.model import LocalArgument

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "pad-local"
NEEDS = "a local array with bank conflicts, reached by subscripts only"
PADDINGS = (1, 2, 3, 4, 8, 16)
"""Elements more in a row."""
MOST_STEPS = 4
CONFLICT = 1.01
"""Times the ideal from which an access has conflicts."""


class _Asked(TypedDict, total=False):
    relaunch: Callable[[Launch], Launch]
    host_change: str
    change: LaunchChange


@dataclass(frozen=True, slots=True)
class _Candidate:
    title: str
    edits: tuple[Edit, ...]
    extra_bytes: int
    assumptions: tuple[Assumption, ...] = ()
    argument: tuple[str, int] | None = None
    """An argument that the host makes longer by one element in so many."""

    @property
    def kind(self) -> str:
        """Of each kind only the best is proposed."""
        return self.title.split()[0]

    def relaunched(self, launch: Launch) -> Launch:
        """Return the launch with the local memory that it needs."""
        if self.argument is None:
            return launch
        name, row = self.argument
        old = launch.arguments[name]
        if not isinstance(old, LocalArgument):
            return launch
        longer = LocalArgument(old.count + -(-old.count // row))
        return replace(launch, arguments={**launch.arguments, name: longer})


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the layouts that lower an array's passes, the best first."""
    scope = Scope.of(subject)
    if scope is None or not isinstance(subject.device.local_rule, BankedLocal):
        return
    for array in local_arrays(scope):
        if not any(_conflicts(scope, it) for it in array.accesses):
            continue
        counted = []
        for candidate in _candidates(scope, array, subject.device.local_rule):
            found = predicted(subject, candidate.edits, candidate.relaunched(subject.launch))
            if found is not None and found.totals.wavefronts < subject.analysis.totals.wavefronts:
                counted.append((found.totals.wavefronts, candidate.extra_bytes, candidate))
        best: dict[str, tuple[int, int, _Candidate]] = {}
        for it in sorted(counted, key=lambda it: it[:2]):
            best.setdefault(it[2].kind, it)
        for _, extra, candidate in sorted(best.values(), key=lambda it: it[:2]):
            if extra <= facts.room(subject):
                yield Proposal(
                    KIND,
                    candidate.title,
                    candidate.edits,
                    ("CM201",),
                    candidate.assumptions,
                    sites=frozenset(it.site for it in array.accesses),
                    in_place=True,
                    **_asked(candidate),
                )


def _asked(candidate: _Candidate) -> _Asked:
    """Return what a proposal asks of the host: local memory for the padding of an argument."""
    if candidate.argument is None:
        return {}
    name, row = candidate.argument
    return {
        "relaunch": candidate.relaunched,
        "host_change": f"give `{name}` one element of local memory more in {row}, rounded up",
        "change": LaunchChange(local_bytes={name: Resize(times=row + 1, over=row)}),
    }


def _conflicts(scope: Scope, access: Access) -> bool:
    found = scope.subject.analysis.access_at(access.site)
    return found is not None and found.per_request is not None and found.per_request.excess > CONFLICT


def _candidates(scope: Scope, array: LocalArray, banks: BankedLocal) -> Iterator[_Candidate]:
    name, size = array.variable.name, array.element.size
    row = banks.banks * banks.bank_bytes // size
    if len(array.lengths) > 1:
        rows, width = prod(array.lengths[:-1]), array.lengths[-1]
        start, end = array.declared[-1]
        for extra in dict.fromkeys((*PADDINGS, (scope.subject.launch.local_size[0] - width) % row)):
            if not extra:
                continue
            text = _longer(scope.text[start:end], extra)
            noun = "element" if extra == 1 else "elements"
            why = f"// {extra} {noun} more a row: what conflicted lies in different banks of local memory."
            edits = [*_noted(scope, array, why), scope.replaced(start, end, text)]
            title = f"Pad the rows of `{name}` by {extra} {noun}"
            yield _Candidate(title, tuple(edits), extra * rows * size)
        if _is_power_of_two(width) and len(array.lengths) == 2 and array.uses:
            why = f"// Columns of {name} are mixed by their row, so that one lies in different banks."
            edits = [*_noted(scope, array, why), *_swizzled(scope, array)]
            yield _Candidate(f"Swizzle the columns of `{name}` with xor", tuple(edits), 0)
        return
    if row < 2 or not _is_power_of_two(row):
        return
    for step in _steps(scope, array, row):
        yield from _in_steps(scope, array, row, step)


def _steps(scope: Scope, array: LocalArray, row: int) -> list[int]:
    """Return after how many elements one may be left out: a row of banks, and how far neighbours are apart.

    Neighbours that are several rows apart would come to lie as many rows of one element apart.
    """
    found = {row}
    for access in array.accesses:
        for dimension in range(len(scope.subject.launch.local_size)):
            step = _number(scope, access.index.coefficient(local_id(dimension)))
            step = step or _number(scope, access.index.coefficient(global_id(dimension)))
            if step is not None and step > row and _is_power_of_two(step):
                found.add(step)
    return sorted(found)[:MOST_STEPS]


def _number(scope: Scope, value: Polynomial | None) -> int | None:
    return None if value is None else Facts(scope.subject.launch).number(value)


def _in_steps(scope: Scope, array: LocalArray, row: int, step: int) -> Iterator[_Candidate]:
    """Yield an array with one dimension that has an element more in so many, or moves them about."""
    name, size = array.variable.name, array.element.size
    shift = step.bit_length() - 1
    why = f"// {name}[i] lies at i + i / {step}: strides of powers of two meet in different banks."

    def padded(index: str) -> str:
        return f"{_sum_text(index)} + ({tight(index)} >> {shift})"

    if array.lengths:
        (start, end), length = array.declared[0], array.lengths[0]
        whole = _sum_text(scope.text[start:end])
        edits = [scope.replaced(start, end, f"{whole} + {tight(whole)} / {step}")]
        edits += [*_noted(scope, array, why), *_each(scope, array, padded)]
        yield _Candidate(f"Pad `{name}` by one element in {step}", tuple(edits), length // step * size)
    else:
        more = -(-_length(scope, array) // step) * size
        edits = [*_noted(scope, array, why), *_each(scope, array, padded)]
        yield _Candidate(f"Pad `{name}` by one element in {step}", tuple(edits), more, argument=(name, step))
    # A row that the host cuts short would be left: its last elements change places with ones beyond it.
    moves = [(step // row, f"{{}} >> {shift} & {row - 1}")]
    if step == row:
        moves.append((2, f"{{}} >> 1 & {row // 2}"))
    for rows, xor in moves:
        if not _length(scope, array) % (rows * row):
            why = f"// {name}[i] lies at i ^ ({xor.format('i')}): strides meet in different banks."
            edits = _noted(scope, array, why)
            edits += _each(scope, array, lambda it, xor=xor: f"{tight(it)} ^ ({xor.format(tight(it))})")  # type: ignore[misc]
            asked = () if array.lengths else (local_elements(name, rows * row),)
            yield _Candidate(f"Swizzle the elements of `{name}` with xor", tuple(edits), 0, asked)


def _length(scope: Scope, array: LocalArray) -> int:
    if array.lengths:
        return array.lengths[0]
    argument = scope.subject.launch.arguments.get(array.variable.name)
    return argument.count if isinstance(argument, LocalArgument) else 1


def _noted(scope: Scope, array: LocalArray, why: str) -> list[Edit]:
    """Return the edit that says before an array's declaration why it is as it is."""
    at = array.variable.span.start
    declaration = scope.top_level(at, at) if array.lengths else scope.body.children[0]
    return [] if declaration is None else [scope.before(declaration, [why])]


def _each(scope: Scope, array: LocalArray, written: Callable[[str], str]) -> list[Edit]:
    """Return the edits of all subscripts; the elements of the first row stay where they are."""
    if array.reached is not None:
        return array.reached.edits(scope, written)
    found = [(a, b, scope.text[a:b]) for ((a, b),) in array.uses]
    return [scope.replaced(a, b, written(it)) for a, b, it in found if it.strip() not in ("0", "1")]


def _swizzled(scope: Scope, array: LocalArray) -> Iterator[Edit]:
    rows, width = array.lengths
    for (a, b), (c, d) in array.uses:
        row, column = tight(scope.text[a:b]), tight(scope.text[c:d])
        mask = row if rows <= width else f"({row} & {width - 1})"
        yield scope.replaced(c, d, f"{column} ^ {mask}")


def _sum_text(text: str) -> str:
    """Return an expression so that something can be added to it."""
    return text if not any(it in text for it in ("<<", ">>", "&", "|", "^", "<", ">")) else f"({text})"


def _longer(text: str, by: int) -> str:
    """Return a length with a number added, to one that it ends with if any: `128 + 1` by 1 is `128 + 2`."""
    padded = re.fullmatch(r"(.*\S\s*\+\s*)(\d+)(\s*)", text, re.DOTALL)
    if padded is not None and _sum_text(text) == text:
        return f"{padded[1]}{int(padded[2]) + by}{padded[3]}"
    return f"{_sum_text(text)} + {by}"


def _is_power_of_two(value: int) -> bool:
    return value > 1 and not value & (value - 1)
