"""Scalars that count bytes: what an offset on `char *` adds up before the pointer becomes one to floats.

    *(__global float *)(row + i*nb0)

An address must suit what lies there, so such a scalar is a multiple of an element, and the one that goes from
element to element is one element long unless the host says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from string import digits

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.forms import Forms, Id, Monomial, is_scalar_parameter
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable, WorkItemQuery
from clmap_lsp.source.types import PointerType

_MAX_GRANULE = 256
_IN_GROUP = (WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID)


@dataclass(slots=True)
class BytePitches:
    """What is known of a kernel's scalars that count bytes."""

    granules: dict[Variable, int] = field(default_factory=dict)
    """Bytes that each is a multiple of."""
    to_neighbour: set[Variable] = field(default_factory=set)
    """Those that go to the next element."""
    offsets: set[Variable] = field(default_factory=set)
    """Those that multiply nothing: where the data begin."""


def find_byte_pitches(kernel: ir.Kernel, forms: Forms) -> BytePitches:
    """Follow the pointer of each access back to its buffer."""
    found = BytePitches()
    for statement in ir.walk(kernel.body):
        checkpoint()
        if isinstance(statement, ir.Load | ir.Store | ir.Atomic):
            _access(found, forms, statement.pointer)
    found.offsets -= found.to_neighbour
    return found


def _access(found: BytePitches, forms: Forms, pointer: ir.Expression) -> None:
    counted = list(_in_bytes(forms, pointer))
    for mono, granule in counted:
        for it in mono:
            if is_scalar_parameter(it) and isinstance(it, Variable):
                found.granules[it] = max(granule, found.granules.get(it, 1))
                if len(mono) == 1:
                    found.offsets.add(it)
                else:
                    found.offsets.discard(it)
    found.to_neighbour.update(_to_neighbour(forms, [mono for mono, _ in counted if len(mono) == 2]))


def _in_bytes(forms: Forms, pointer: ir.Expression) -> Iterator[tuple[Monomial, int]]:
    """Yield the products that offsets in bytes add up, with the size of what the bytes are taken for."""
    waiting: list[tuple[ir.Expression, int]] = [(pointer, 1)]
    seen = set[Variable]()
    while waiting:
        pointer, granule = waiting.pop()
        match pointer:
            case ir.PointerCast(operand=operand, type=PointerType(pointee=pointee)):
                waiting.append((operand, max(pointee.size, granule)))
            case ir.PointerCast(operand=operand):
                waiting.append((operand, granule))
            case ir.FieldAddress(pointer=inner):
                waiting.append((inner, granule))
            case ir.PointerOffset(pointer=inner, index=index, stride=stride):
                if stride == 1 and 1 < granule <= _MAX_GRANULE:
                    yield from ((mono, granule) for mono in _terms(forms, index))
                waiting.append((inner, granule))
            case ir.Read(variable=variable) if variable not in seen:
                seen.add(variable)
                waiting += [(it, granule) for it in forms.assigned.get(variable, ())]
            case _:
                pass


def _terms(forms: Forms, index: ir.Expression) -> Iterator[Monomial]:
    """Yield the products that an index adds up, with what a variable in it goes on by (`i += step`)."""
    waiting, seen = [index], set[Variable]()
    while waiting:
        part = ir.unconverted(waiting.pop())
        form = forms.form(part)
        variables = {it for mono in form.terms for it in mono} if form is not None else {ir.variable_of(part)}
        for it in variables - seen:
            if isinstance(it, Variable) and not is_scalar_parameter(it):
                seen.add(it)
                waiting += forms.assigned.get(it, ())
        if form is not None:
            yield from form.terms
        elif isinstance(part, ir.Binary) and part.op in (ir.BinaryOp.ADD, ir.BinaryOp.SUB):
            waiting += (part.left, part.right)


def _to_neighbour(forms: Forms, products: Sequence[Monomial]) -> Iterator[Variable]:
    """Yield the scalar beside what neighbouring work-items differ in; else the one beside a loop's counter,
    which goes along a row."""
    steps = [
        (it, other)
        for mono in products
        for it, other in (mono, mono[::-1])
        if isinstance(it, Variable) and is_scalar_parameter(it)
    ]
    counters = [(it, other) for it, other in steps if isinstance(other, Variable) and other in forms.stepped]
    shared = [it for it, other in counters if isinstance(other, Variable) and starts_at_id(forms, other)]
    ids = [
        it
        for it, other in steps
        if isinstance(other, Id) and other.dimension == 0 and other.query in _IN_GROUP
    ]
    walked = [it for it, _ in counters]
    both = _first([it for it, _ in steps]) or walked if ids and walked else walked or ids
    yield from shared or both


def _first(pitches: Sequence[Variable]) -> Sequence[Variable]:
    """Return the pitch of the first of numbered dimensions, as in `nb00`, `nb01`, …"""
    stems = [it.name.rstrip(digits) for it in pitches]
    numbers = [it.name[len(stem) :] for it, stem in zip(pitches, stems, strict=True)]
    if not all(numbers) or len(set(stems)) > 1:
        return ()
    by_number = {_as_number(it): pitch for it, pitch in zip(numbers, pitches, strict=True)}
    return [by_number[min(by_number)]]


def _as_number(text: str) -> tuple[int, str]:
    """Return what orders digits by their value, however many: a file's names are a stranger's text."""
    significant = text.lstrip("0")
    return len(significant), significant


def starts_at_id(forms: Forms, counter: Variable) -> bool:
    """Tell whether a loop's counter starts at the place of a work-item in its row, or in its group."""
    starts = (forms.form(it) for it in forms.assigned.get(counter, ()))
    return any(
        isinstance(it, Id) and it.dimension == 0 and it.query in _IN_GROUP
        for start in starts
        if start is not None
        for it in start.atoms()
    )
