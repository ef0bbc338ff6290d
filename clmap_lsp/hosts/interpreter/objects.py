"""Variables and objects as they are declared and made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clmap_lsp.hosts.interpreter.names import Names
from clmap_lsp.hosts.interpreter.state import Frame, OutOfStepsError, opened_as
from clmap_lsp.hosts.store import MAX_ELEMENTS, Store
from clmap_lsp.hosts.tree import (
    AddressOf,
    Assign,
    Call,
    Cast,
    Class,
    Declare,
    Dereference,
    Expr,
    Function,
    Index,
    Items,
    Member,
    Name,
)
from clmap_lsp.hosts.values import Number, Pointer, RunTime, Value
from clmap_lsp.hosts.walking import nodes


class Objects(Names):
    """Variables and objects."""

    def _declaration(self, declare: Declare) -> None:
        place = self._declare(declare.name, declare.type + ("*" if declare.is_pointer else ""))
        self.define(place, declare)

    def define(self, place: str, declare: Declare) -> None:
        """Give a variable at a place what its declaration says."""
        store = self.store
        if store is None:
            return
        for suffix in ("", *(f"[{i}]" for i in range(MAX_ELEMENTS)), "[*]"):
            store.pop(place + suffix, None)
        if declare.is_reference and declare.value is not None:
            target = self.place(declare.value)
            if target is not None and self.frames and not self.frame.is_module:
                self.frame.names[declare.name] = target
                return
        if declare.dimensions:
            self.arrays.add(place)
            self.types[place] = declare.type
            if declare.value is not None:
                self._fill(place, declare.value)
            return
        if declare.value is not None:
            value = declare.value
            if isinstance(value, Items) and not declare.is_pointer:
                self._construct(place, declare, value.items)
            else:
                result = self.value(value)
                if isinstance(result, Pointer) and result.place in self.objects:
                    self.objects[place] = self.objects[result.place]
                    is_other = isinstance(value, (Name, Member, Index, Dereference))
                    if is_other and not declare.is_pointer and self._copied(place, result):
                        return
                self.put(place, result)
            self._lasting(place, declare)
        else:
            self._construct(place, declare, declare.arguments)

    def _lasting(self, place: str, declare: Declare) -> None:
        """Open a static variable of a function that the function changes: it starts as it was left."""
        if declare.is_static and self.frames and not self.frame.is_module and self.store is not None:
            held = self.store.get(place)
            if isinstance(held, Number) and declare.name in _changed_names(self.frame.function):
                self.store[place] = opened_as(declare.name, held)

    def _construct(self, place: str, declare: Declare, arguments: Sequence[Expr] | None) -> None:
        """Make an object of a declared type."""
        if "new " + declare.type in self.handlers and not declare.is_pointer:
            given = [self.value(it) for it in arguments or ()]
            call = Call(Name(declare.type), tuple(arguments or ()), {}, declare.template, declare.row)
            made = self.answer("new " + declare.type, call, given)
            if made is not None:
                self.put(place, made)
            return
        cls = None if declare.is_pointer else self.project.class_named(declare.type, self.path)
        if cls is not None:
            self.construct(place, cls, [self.value(it) for it in arguments or ()], tuple(arguments or ()))
        elif arguments:
            if len(arguments) == 1:
                self.put(place, self.value(arguments[0]))
            else:
                self._fill(place, Items(tuple(arguments)))

    def construct(self, place: str, cls: Class, values: list[Value], exprs: Sequence[Expr] = ()) -> None:
        """Make an object of one of the project's classes at a place."""
        self.objects[place] = cls.name
        self._fields(place, cls, 0)
        makers = self.project.functions(cls.name, self.path, cls.name)
        makers += self.project.functions("__init__", self.path, cls.name)
        fitting = [it for it in makers if len(it.parameters) == len(values)] or [
            it for it in makers if accepts(it, len(values))
        ]
        if fitting:
            self.call(fitting[0], values, exprs, Pointer(place))
        elif not makers and exprs and len(exprs) == len(cls.fields):
            for declare, value in zip(cls.fields, values, strict=True):
                self.put(f"{place}.{declare.name}", value)

    def make(self, place: str, cls: Class, maker: Function | None, path: str) -> None:
        """Make an object with all that its constructor is given left open."""
        frame = Frame(Function("", cls.name, (), (), path, 0), "made", Pointer(place))
        self.store = self.store if self.store is not None else Store()
        self.frames.append(frame)
        try:
            self.objects[place] = cls.name
            self._fields(place, cls, 0)
            if maker is not None:
                parameters = [it for it in maker.parameters if it.name not in ("self", "cls")]
                self.call(
                    maker, [RunTime(it.name) for it in parameters if it.default is None], (), Pointer(place)
                )
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.frames.pop()
            self.store = self.store if self.store is not None else Store()

    def _fields(self, place: str, cls: Class, depth: int) -> None:
        for base in cls.bases if depth < 4 else ():
            inherited = self.project.class_named(base, self.path)
            if inherited is not None and inherited.name != cls.name:
                self._fields(place, inherited, depth + 1)
        for declare in cls.fields:
            target = f"{place}.{declare.name}"
            self.types[target] = declare.type + ("*" if declare.is_pointer else "")
            if declare.dimensions:
                self.arrays.add(target)
            if declare.value is not None and self.store is not None:
                self.define(target, replace(declare, is_reference=False))

    def _fill(self, place: str, value: Expr) -> None:
        """Give an array, or an object without a constructor, the items of a list."""
        if isinstance(value, Items):
            for index, item in enumerate(value.items):
                if isinstance(item, Items):
                    self._fill(f"{place}[{index}]", item)
                else:
                    held = self.value(item)
                    is_table = "void" not in self.types.get(place.partition("[")[0], "")
                    if isinstance(held, Pointer) and isinstance(item, (AddressOf, Cast)) and is_table:
                        self._escaped(held)
                    self.put(f"{place}[{index}]", held)
        else:
            self.put(place, self.value(value))


def _changed_names(function: Function) -> set[str]:
    """Return the names of all variables that a function assigns to, its declarations not counted."""
    found = set()
    for node in nodes(function.body):
        match node:
            case Assign(target=Name(name)) | AddressOf(Name(name)):
                found.add(name)
    return found


def accepts(function: Function, count: int) -> bool:
    """Tell whether a function can be called with a number of arguments."""
    parameters = [it for it in function.parameters if it.name not in ("self", "cls")]
    needed = sum(it.default is None and not it.name.startswith("*") for it in parameters)
    return needed <= count <= len(parameters) or any(it.name.startswith("*") for it in parameters)
