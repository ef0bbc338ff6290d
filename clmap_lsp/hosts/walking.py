"""What a function of the host program calls, and how long it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any, Generic, TypeVar
from weakref import ref

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.tree import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Comprehension,
    Declare,
    Dereference,
    Evaluate,
    Expr,
    Function,
    If,
    Index,
    Initialise,
    Items,
    Lambda,
    Loop,
    Member,
    Module,
    Name,
    New,
    Scope,
    Switch,
    Try,
)

N = TypeVar("N", bound=Function | Module)
T = TypeVar("T")


class OfTree(Generic[N, T]):
    """Something that follows from a function or a file alone, worked out once and kept for as long as it is.

    A project's functions are asked in turn, again and again. They are told by identity: comparing trees would
    take longer than walking one. What outlived them would hold the trees of all host code that was ever read.
    """

    def __init__(self, find: Callable[[N], T]) -> None:
        self._find: Callable[[N], T] = find
        self._known: dict[int, tuple[ref[N], T]] = {}

    def __call__(self, tree: N) -> T:
        """Return what follows from a tree, found at the first time."""
        number = id(tree)
        known = self._known.get(number)
        if known is not None and known[0]() is tree:
            return known[1]
        found = self._find(tree)
        self._known[number] = ref(tree, lambda _: self._known.pop(number, None)), found
        return found


@OfTree
def _names(function: Function) -> frozenset[str]:
    return frozenset(_called(function.first + function.body))


def called_names(function: Function) -> frozenset[str]:
    """Return the names of all functions that a function calls."""
    return _names(function)


@OfTree
def _handed(function: Function) -> frozenset[str]:
    calls = (it for it in nodes(function.body) if isinstance(it, Call))
    given = (it.operand if isinstance(it, AddressOf) else it for each in calls for it in each.arguments)
    return frozenset(it.name for it in given if isinstance(it, Name))


def handed_on(function: Function) -> frozenset[str]:
    """Return the names that a function hands to others: some may be functions that are called later."""
    return _handed(function)


@dataclass(frozen=True, slots=True)
class Writes:
    """What a function may give other values, by name.

    `names` are variables that it does not declare, `fields` members of anything, `parameters` those of its
    own parameters that it writes through or passes on.
    """

    names: frozenset[str]
    fields: frozenset[str]
    parameters: frozenset[str]


@OfTree
def _writes(function: Function) -> Writes:
    body = function.first + function.body
    own = {it.name.lstrip("*") for it in function.parameters}
    declared = {it.name for it in nodes(body) if isinstance(it, Declare)}
    if function.path.endswith(".py"):
        assigned = {it.name for node in nodes(body) for it in _targets(node) if isinstance(it, Name)}
        declared |= assigned - function.globals
    names, members, through = set(), set(), set()
    read = {id(it) for node in nodes(body) for it in _only_read(node)}
    for node in nodes(body):
        for target in _targets(node) if id(node) not in read else ():
            root = _root(target)
            if isinstance(target, Name) and target.name not in declared | own:
                names.add(target.name)
            if isinstance(target, Member):
                members.add(target.name)
            if root in own:
                through.add(root)
            elif root and root not in declared:
                names.add(root)
        if isinstance(node, Call) and not _is_called(node, _READING):
            through |= {_root(it) for it in node.arguments} & own
    return Writes(frozenset(names), frozenset(members), frozenset(through))


@OfTree
def _own_names(function: Function) -> frozenset[str]:
    own = [it for it in nodes(function.body, inner=False) if not isinstance(it, Comprehension)]
    targets = [it for node in own for it in _targets(node)]
    for node in own:
        each = node.each if isinstance(node, Loop) else None
        targets += each.items if isinstance(each, Items) else (each,) if each is not None else ()
    return frozenset(it.name for it in targets if isinstance(it, Name)) - function.globals


def own_names(function: Function) -> frozenset[str]:
    """Return the names that a function of Python gives values to; those of a comprehension are its own."""
    return _own_names(function)


def writes(function: Function) -> Writes:
    """Return what a function may write by itself."""
    return _writes(function)


def written_names(function: Function) -> frozenset[str]:
    """Return the names of fields, and of variables of others, that a function may give other values."""
    known = _writes(function)
    return known.names | known.fields


_READING = frozenset(("clSetKernelArg", "clEnqueueNDRangeKernel"))
"""Functions that write nothing of what they are given the address of."""


def _is_called(call: Call, names: AbstractSet[str]) -> bool:
    return isinstance(call.function, (Name, Member)) and call.function.name in names


def _only_read(node: object) -> Iterator[Expr]:
    """Yield the addresses that a call is given to read from."""
    for given in node.arguments if isinstance(node, Call) and _is_called(node, _READING) else ():
        it = given
        while isinstance(it, Cast):
            it = it.operand
        if isinstance(it, AddressOf):
            yield it


def _targets(node: object) -> Iterator[Expr]:
    """Yield what a node writes to, or hands out the place of."""
    match node:
        case Assign(target=Items(items)):
            yield from items
        case Assign(target=target):
            yield target
        case AddressOf(operand):
            yield operand
        case Initialise(name):
            yield Member(Name("this"), name)
        case Binary(">>", _, right) if isinstance(right, (Name, Member, Index, Dereference)):
            yield right


def _root(target: Expr) -> str:
    while True:
        match target:
            case Index(base=inner) | Member(base=inner) | Dereference(inner) | Cast(operand=inner):
                target = inner
            case Binary(left=inner):
                target = inner
            case Name(name):
                return name
            case _:
                return ""


_PARTS: dict[type[Any], tuple[str, ...] | None] = {}
"""The names of what each kind of node is made of: trees have few kinds, and very many nodes."""


def _parts(kind: type[Any]) -> tuple[str, ...] | None:
    if kind not in _PARTS:
        _PARTS[kind] = tuple(it.name for it in fields(kind)) if is_dataclass(kind) else None
    return _PARTS[kind]


def nodes(tree: object, *, inner: bool = True) -> Iterator[object]:
    """Yield all statements and expressions of a tree, and those of functions inside of it."""
    rest: list[object] = [tree]
    while rest:
        it = rest.pop()
        if isinstance(it, tuple):
            rest.extend(it)
        elif isinstance(it, Mapping):
            rest.extend(it.values())
        elif (parts := _parts(type(it))) is not None:
            yield it
            if inner or not isinstance(it, Lambda):
                rest.extend([getattr(it, name) for name in parts])


def rows_of(function: Function, names: AbstractSet[str]) -> frozenset[int]:
    """Return the rows of a function where one of some functions is called, or handed to a macro."""
    rows = _rows(function)
    return frozenset(row for name in rows.keys() & names for row in rows[name])


@OfTree
def _rows(function: Function) -> dict[str, set[int]]:
    """Return the rows where each name is called, handed to a call, or what a variable is declared as."""
    found: dict[str, set[int]] = {}
    for it in nodes(function.first + function.body):
        match it:
            case Call(called, arguments):
                for each in (called, *arguments):
                    if isinstance(each, (Name, Member)):
                        found.setdefault(each.name, set()).add(it.row)
            case Declare(type=type_name):
                found.setdefault(type_name, set()).add(it.row)
    return found


def mentions(function: Function, names: AbstractSet[str]) -> bool:
    """Tell whether one of some names stands in a function, as a variable, a field or a function."""
    return not _mentioned(function).isdisjoint(names)


def mentioned_names(function: Function) -> frozenset[str]:
    """Return the names that stand in a function, as variables, fields or functions."""
    return _mentioned(function)


@OfTree
def _mentioned(function: Function) -> frozenset[str]:
    return frozenset(it.name for it in nodes(function.body) if isinstance(it, (Name, Member)))


def made_names(function: Function) -> frozenset[str]:
    """Return the names of classes that a function may make objects of, and of functions that it calls."""
    return _made(function)


@OfTree
def _made(function: Function) -> frozenset[str]:
    found: set[str] = set()
    for it in nodes(function.first + function.body):
        match it:
            case Declare(type=name, is_pointer=False, is_reference=False) | New(type=name):
                found.add(name)
            case Call(Name(name), template=given):
                found.add(name)
                found.update(given if name in _MAKING else ())
    return frozenset(found)


_MAKING = frozenset(("make_unique", "make_shared", "emplace"))


def declared_with(module: Module, name: str) -> set[str]:
    """Return the names of variables and fields that are declared with a class."""
    return {
        it.name for it in nodes(tuple(_all_declared(module))) if isinstance(it, Declare) and it.type == name
    }


def _all_declared(module: Module) -> Iterator[object]:
    yield from module.globals
    for each in module.classes.values():
        yield from each.fields
    for function in module.functions:
        yield function.body


def values_given(block: Block) -> dict[str, list[Expr | None]]:
    """Return what the statements of a block give each variable.

    None stands where not every run comes there, or it is computed from what it was before.
    """
    found: dict[str, list[Expr | None]] = {}
    rest = [(it, True) for it in reversed(block)]
    while rest:
        statement, is_certain = rest.pop()
        match statement:
            case Evaluate(Assign(Name(given), op, value)):
                found.setdefault(given, []).append(value if is_certain and not op else None)
            case Evaluate(Assign(Items(items))):
                for name in {it.name for it in items if isinstance(it, Name)}:
                    found.setdefault(name, []).append(None)
            case If(_, then, otherwise):
                rest += [(it, False) for it in reversed((*then, *otherwise))]
            case Loop(body=body):
                rest += [(it, False) for it in reversed(body)]
    return found


_SETTING = frozenset(("clSetKernelArg", "setArg", "set_arg"))


def tells_apart(block: Block, name: str) -> bool:
    """Tell whether a block takes an element, or sets or takes an argument, by what counts its turns."""
    for it in nodes(block):
        match it:
            case Index(index=Name(counted)) if counted == name:
                return True
            case Call(Name("va_arg")):
                return True
            case Call(Name(called) | Member(name=called), arguments) if called in _SETTING:
                if Name(name) in arguments:
                    return True
    return False


def weight(block: Block, limit: int) -> int:
    """Return the number of statements in a block, counted up to a limit."""
    count = 0
    rest = list(block)
    while rest and count < limit:
        statement = rest.pop()
        count += 1
        match statement:
            case If(then=then, otherwise=otherwise):
                rest += (*then, *otherwise)
            case Loop(start=start, body=body, step=step):
                rest += (*start, *body, *step)
            case Scope(body):
                rest += body
            case Try(body, handlers):
                rest += (*body, *(it for handler in handlers for it in handler))
            case Switch(cases=cases):
                rest += (it for _, inner in cases for it in inner)
    return count


def _called(node: object) -> Iterator[str]:
    for it in nodes(node):
        if isinstance(it, Call) and isinstance(it.function, (Name, Member)):
            yield it.function.name
        elif isinstance(it, New):
            yield it.type
