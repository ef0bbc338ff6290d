"""Variables and objects as they are declared and made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clmap_lsp.hosts.interpreter.names import Names
from clmap_lsp.hosts.interpreter.state import Frame, OutOfStepsError, opened_as
from clmap_lsp.hosts.store import MAX_ELEMENTS, Store
from clmap_lsp.hosts.tree import (
    LISTS,
    AddressOf,
    Assign,
    Call,
    Cast,
    Class,
    Declare,
    Dereference,
    Designated,
    Expr,
    Function,
    Index,
    Initialise,
    Items,
    Member,
    Name,
    Parameter,
    Placed,
)
from clmap_lsp.hosts.values import (
    ArrayValue,
    Null,
    Number,
    Pointer,
    RunTime,
    Sizes,
    Text,
    Value,
    is_handle,
    is_nameless,
    name_of,
    size_of,
)
from clmap_lsp.hosts.walking import nodes

_ALLOCATING = frozenset(("malloc", "calloc", "aligned_alloc", "new[]"))
_POINTERS = frozenset(("unique_ptr", "shared_ptr"))
_HANDLES = frozenset(
    f"cl_{it}"
    for it in ("kernel", "program", "mem", "context", "command_queue", "event", "device_id", "sampler")
)
_MAX_BASES = 5
"""Classes above a class that are looked at."""
_MAX_NESTED = 4
"""Classes above or inside of an object's class whose fields are looked at."""

MAX_OBJECTS = 64
"""Objects of one class, each made in another way, whose making is remembered."""
_MAX_OVERLOADS = 100
"""Functions of one name among which a call's arguments choose."""


class Objects(Names):
    """Variables and objects."""

    def put(self, place: str, value: Value) -> None:
        """Write a value to a place; memory that was just taken is called as what first points to it."""
        if isinstance(value, Pointer) and is_nameless(value):
            value = self._called_as(value, name_of(place).lstrip("."))
            cls = self.project.class_named(self._class_of(place), self.path)
            if cls is not None and self.frames:
                self._fields(value.place, cls, 0)
        super().put(place, value)

    def _called_as(self, memory: Pointer, name: str) -> Pointer:
        """Give memory that was just taken a name; what it holds already stays in it."""
        place = memory.place + name
        held = self.store.pop(memory.place, None) if self.store is not None else None
        if held is not None and self.store is not None:
            self.store[place] = replace(held, text=name) if isinstance(held, RunTime) else held
            self.types[place] = self.types.pop(memory.place, "")
        return Pointer(place)

    def _declaration(self, declare: Declare) -> None:
        place = self._declare(declare.name, declare.type + ("*" if declare.is_pointer else ""))
        self.define(place, declare)

    def define(self, place: str, declare: Declare) -> None:
        """Give a variable at a place what its declaration says."""
        store = self.store
        if store is None:
            return
        store.forget(place)
        if declare.is_reference and declare.value is not None:
            target = self.place(declare.value)
            if target is not None and self.frames and not self.frame.is_module:
                self.frame.names[declare.name] = target
                return
        self.arrays.discard(place)  # Another block may have one of the name.
        self.lists.discard(place)
        if declare.dimensions:
            self.arrays.add(place)
            self.types[place] = declare.type
            if len(declare.dimensions) > 1:
                for index in (*range(MAX_ELEMENTS), "*"):
                    self.arrays.add(f"{place}[{index}]")
                    self.types[f"{place}[{index}]"] = declare.type
            if declare.value is not None:
                self._fill(place, declare.value)
            return
        if declare.value is not None:
            value = declare.value
            nothing = self._nothing(declare) if isinstance(value, Items) and not value.items else None
            if nothing is not None:
                self.put(place, nothing)
            elif isinstance(value, Items) and not declare.is_pointer:
                self._construct(place, declare, value.items)
            else:
                result = self.value(value)
                if not declare.is_pointer and self.copied_list(place, result):
                    return
                if isinstance(result, RunTime) and self._is_array_of_a_turn(declare):
                    self.arrays.add(place)
                    return
                if isinstance(result, Pointer) and result.place in self.objects:
                    self.objects[place] = self.objects[result.place]
                    is_other = isinstance(value, (Name, Member, Index, Dereference))
                    if is_other and not declare.is_pointer and self._copied(place, result):
                        return
                self.put(place, result)
            self._lasting(place, declare)
        else:
            self._construct(place, declare, declare.arguments)

    def _is_array_of_a_turn(self, declare: Declare) -> bool:
        """Tell a pointer to numbers that a loop takes memory for in each turn: it is as an array is that is
        declared there. Memory by itself would stand for that of all turns."""
        if not declare.is_pointer or not (self.loop_depth or self.trials) or self.path.endswith(".py"):
            return False
        taken = declare.value
        while isinstance(taken, Cast):
            taken = taken.operand
        callee = taken.function if isinstance(taken, Call) else None
        takes = isinstance(callee, Name) and callee.name in _ALLOCATING
        return takes and size_of(self._resolved(declare.type)) is not None

    def _nothing(self, declare: Declare) -> Value | None:
        """Return what empty braces give a number, a pointer or a handle; None for an object."""
        declared = self._resolved(declare.type)
        if declare.is_pointer or self.is_owner(declared) or declared in _HANDLES:
            return Null()
        return Number(0) if size_of(declared) is not None else None

    def is_owner(self, type_name: str) -> bool:
        """Tell whether a type of C++ owns what its one value points to."""
        return self._resolved(type_name).partition("<")[0].rpartition("::")[2] in _POINTERS

    def _initialise(self, name: str, arguments: Sequence[Expr]) -> None:
        """Give a field what an initialiser list says, or run the constructor of a base class."""
        this, owner = self.frame.this, self.frame.function.owner
        if not isinstance(this, Pointer):
            return
        cls = self.project.class_named(owner, self.path)
        if name == owner or (cls is not None and name in cls.bases):
            values = [self.value(it) for it in arguments]
            maker = self.overload(self.project.functions(name, self.path, name), values)
            if maker is not None:
                self.call(maker, values, arguments, this)
            return
        place = f"{this.place}.{name}"
        field = self._field_named(owner, name, 0)
        first = arguments[0] if len(arguments) == 1 else None
        value = self.value(first) if first is not None else None
        is_copy = isinstance(value, Pointer) and value.place in self.objects
        if field is not None and not field.is_pointer and not is_copy and (not first or self._is_made(field)):
            given = first.items if isinstance(first, Items) else arguments
            self._construct(place, replace(field, value=None), given)
        elif isinstance(first, Items):
            self._fill(place, first)
        elif value is not None:
            self.assign(Member(Name("this"), name), value)

    def _is_made(self, declare: Declare) -> bool:
        """Tell whether the objects of a declared type are of a class that is known."""
        if "new " + declare.type in self.handlers:
            return True
        return self.project.class_named(declare.type, self.path) is not None

    def _field_named(self, owner: str, name: str, depth: int) -> Declare | None:
        cls = self.project.class_named(owner, self.path) if depth < 5 else None
        for it in cls.fields if cls is not None else ():
            if it.name == name:
                return it
        found = (self._field_named(it, name, depth + 1) for it in (cls.bases if cls is not None else ()))
        return next((it for it in found if it is not None), None)

    def _lasting(self, place: str, declare: Declare) -> None:
        """Open a static variable of a function that the function changes: it starts as it was left."""
        if declare.is_static and self.frames and not self.frame.is_module and self.store is not None:
            held = self.store.get(place)
            if isinstance(held, Number) and declare.name in _changed_names(self.frame.function):
                self.store[place] = opened_as(declare.name, held)

    def _construct(self, place: str, declare: Declare, arguments: Sequence[Expr] | None) -> None:
        """Make an object of a declared type."""
        if declare.type in LISTS and self._is_list(place, declare):
            return
        if declare.type in LISTS and isinstance(declare.value, Items) and len(declare.value.items) > 1:
            # Braces give the elements, where parentheses would give their number.
            element = (declare.template or ("",))[0]
            count = Sizes(_braces_shape(declare.value.items, element))
            self.put(place, ArrayValue(count, size_of(self._resolved(element))))
            return
        is_known = "new " + declare.type in self.handlers and not declare.is_pointer
        if is_known and not self.project.has_own(declare.type, declare.type_scope, self.path):
            given = [self.value(it) for it in arguments or ()]
            call = Call(Name(declare.type), tuple(arguments or ()), {}, declare.template, declare.row)
            made = self.answer("new " + declare.type, call, given)
            if made is not None:
                self.put(place, made)
            return
        if arguments and not declare.is_pointer and self.is_vector(declare.type):
            inner = arguments[0] if len(arguments) == 1 else None
            self._fill(place, inner if isinstance(inner, Items) else Items(tuple(arguments)))
            return
        cls = None if declare.is_pointer else self.project.class_named(declare.type, self.path)
        if cls is not None:
            values = [self.value(it) for it in arguments or ()]
            self.calling = declare.row, declare.name
            self.give_types(place, cls, declare.template)
            self.construct(place, cls, values, tuple(arguments or ()))
        elif arguments:
            if len(arguments) == 1:
                self.put(place, self.value(arguments[0]))
            else:
                self._fill(place, Items(tuple(arguments)))

    def _is_list(self, place: str, declare: Declare) -> bool:
        """Make a list of C++ that braces give elements; False where they are not told apart."""
        element = declare.template[0] if declare.template else ""
        rows = declare.value.items if isinstance(declare.value, Items) and not declare.is_pointer else ()
        objects = self.project.class_named(element, self.path) is not None
        if len(rows) == 1 and isinstance(rows[0], Items) and _are_items(rows[0].items) is objects:
            rows = rows[0].items  # A second pair of braces, as `std::array` takes.
        is_number = size_of(self._resolved(element)) is not None
        if not rows or len(rows) > MAX_ELEMENTS or not (objects or is_number) or _are_items(rows) != objects:
            return False
        self.arrays.add(place)
        self.lists.add(place)
        self.types[place] = element
        self._fill(place, Items(rows))
        return True

    def copied_list(self, place: str, source: Value) -> bool:
        """Copy a list of C++ that is given by value; False where it is none."""
        if self.store is None or not isinstance(source, Pointer) or source.place not in self.lists:
            return False
        self.arrays.add(place)
        self.lists.add(place)
        self.types[place] = self.types[source.place]
        for it, held in list(self.store.items()):
            if it.startswith(source.place + "["):
                self.store[place + it[len(source.place) :]] = held
        for it, cls in list(self.objects.items()):
            if it.startswith(source.place + "["):
                self.objects[place + it[len(source.place) :]] = cls
        return True

    def give_types(self, place: str, cls: Class, texts: Sequence[str]) -> None:
        """Note what an object's class is given for its template parameters, and what its bases are."""
        given = {
            name: self.value(self.project.expression(it))
            for name, it in zip(cls.templates, texts, strict=False)
        }
        for base, of_base in zip(cls.bases, cls.base_templates, strict=False) if given else ():
            known = self.project.class_named(base, self.path)
            for name, it in zip(known.templates if known is not None else (), of_base, strict=False):
                given.setdefault(name, given.get(it, RunTime(it)))
        if given:
            self.given_types[place] = given

    def construct(
        self,
        place: str,
        cls: Class,
        values: list[Value],
        exprs: Sequence[Expr] = (),
        keywords: Mapping[str, Expr] | None = None,
    ) -> None:
        """Make an object of one of the project's classes at a place."""
        self.objects[place] = cls.name
        if cls.name in self.project.launchers and self.path.endswith(".py") and len(self.idle) < MAX_OBJECTS:
            self.idle[place] = cls.name
        self._fields(place, cls, 0)
        own = self.method(cls.name, "__init__") if self.path.endswith(".py") else None
        makers = [*self.project.functions(cls.name, self.path, cls.name), *([own] if own is not None else [])]
        count = len(values) + len(keywords or ())
        maker = self.overload([it for it in makers if accepts(it, count)], values)
        if maker is not None:
            self._note_made(cls, values)
            self._inherited(place, cls, maker)
            self.call(maker, values, exprs, Pointer(place), keywords)
        elif not makers and (inherited := self._of_bases(cls, values)) is not None:
            self.call(inherited, values, exprs, Pointer(place), keywords)
        elif not makers and exprs and len(exprs) <= len(cls.fields):
            self._aggregate(place, cls, values, exprs)

    def _note_made(self, cls: Class, values: Sequence[Value]) -> None:
        """Keep what a constructor is given: methods may be called where that cannot be followed."""
        plain = tuple(it if isinstance(it, (Number, Text)) else RunTime("") for it in values)
        before = self.project.made.get(cls.name, plain)
        self.project.made[cls.name] = agreed(before, plain) if before is not None else None
        known = self.project.constructed.setdefault(cls.name, {})
        if len(known) < MAX_OBJECTS:
            known[plain] = None

    def overload(
        self, functions: Sequence[Function], values: Sequence[Value], exprs: Sequence[Expr] = ()
    ) -> Function | None:
        """Return the function of a name that arguments choose: by their types, then by their number.

        `exprs` are the arguments as they are written, whose variables have types in C and C++.
        """
        among = functions[:_MAX_OVERLOADS]
        accepting = [it for it in among if accepts(it, len(values))] or functions[:1]
        is_typed = len(accepting) > 1 and len(exprs) == len(values) and not self.path.endswith(".py")
        types = [self._type_of(it) for it in exprs] if is_typed else [""] * len(values)

        def rank(function: Function) -> tuple[bool, bool, int]:
            given = zip(own_parameters(function), values, types, strict=False)
            fits = [
                self._fit_of_types(parameter, function, type_name)
                if type_name
                else self._fit(parameter, value)
                for parameter, value, type_name in given
            ]
            is_exact = len(function.parameters) == len(values)
            return 0 in fits, not is_exact, -sum(fits)

        return min(accepting, key=rank, default=None)

    def _type_of(self, expr: Expr) -> str:
        """Return the type of a number or a pointer to some as it is declared, empty for all else."""
        match expr:
            case Name() | Member():
                place = self.place(expr)
                declared = self.types.get(place, "") if place is not None else ""
            case Dereference(operand) | Index(operand, _):
                inner = self._type_of(operand)
                declared = inner[:-1] if inner.endswith("*") else ""
            case Cast(declared, _):
                pass
            case _:
                return ""
        bare = declared.rstrip("*").strip()
        held = self.named(bare) if bare in self.frame.names else None  # A template parameter.
        resolved = self._resolved(held.text if isinstance(held, RunTime) else bare)
        is_number = size_of(resolved) is not None and resolved not in _HANDLES and "*" not in resolved
        return resolved + declared[len(declared.rstrip("*")) :] if is_number else ""

    def _fit_of_types(self, parameter: Parameter, function: Function, given: str) -> int:
        """Return how well an argument of a known type fits, as `_fit` does."""
        stars = len(parameter.type) - len(parameter.type.rstrip("*"))
        bare = parameter.type.replace("const ", "").rstrip("*& ")
        is_open = bare in function.templates or bare == "auto" or parameter.name.startswith("*")
        if is_open:
            return 2 if stars <= given.count("*") else 0
        wanted = self._resolved(bare) + "*" * stars
        if wanted == given:
            return 3
        return 1 if ("*" in wanted) is ("*" in given) or size_of(self._resolved(bare)) is None else 0

    def _fit(self, parameter: Parameter, value: Value) -> int:
        """Return 0 for an argument that cannot be of a parameter's type, 3 for one that says that it is.

        What nothing is known of is less likely (1) to be an object of the project's than anything else (2).
        """
        is_text = "char*" in parameter.type or parameter.type.endswith("string")
        if isinstance(value, Text):
            return 3 if is_text else 2 * int(parameter.type in ("", "auto") or "*" in parameter.name)
        cls = self.objects.get(value.place) if isinstance(value, Pointer) else None
        if cls is not None and parameter.type.removesuffix("*") == cls:
            return 3
        if isinstance(value, (Number, Pointer)) and self._is_of_the_other(parameter.type, value):
            return 0
        if isinstance(value, RunTime) and parameter.type.endswith("*"):
            return 2 - int(self.project.class_named(parameter.type[:-1], self.path) is not None)
        return 2 * int(not (is_text and (isinstance(value, Number) or cls is not None)))

    def _is_of_the_other(self, type_name: str, value: Number | Pointer) -> bool:
        """Tell whether a number is given for a pointer, or what points somewhere for a number."""
        if isinstance(value, Number):
            return value.value != 0 and type_name.endswith("*")
        named = self._resolved(type_name) if "*" not in type_name else "*"
        is_number = "*" not in named and named not in _HANDLES and size_of(named) is not None
        return is_number and (value.place in self.objects or is_handle(value))

    def _inherited(self, place: str, cls: Class, maker: Function) -> None:
        """Run the constructors of base classes that a constructor of C++ says nothing of."""
        if maker.path.endswith(".py"):
            return
        said = {it.name for it in maker.first if isinstance(it, Initialise)}
        for base in cls.bases:
            own = [it for it in self.project.functions(base, self.path, base) if accepts(it, 0)]
            if base != cls.name and base not in said and own:
                self.call(own[0], (), (), Pointer(place))

    def _of_bases(self, cls: Class, values: Sequence[Value], depth: int = 0) -> Function | None:
        """Return the constructor of C++ that a class without one has from a base: `using Base::Base;`."""
        for base in cls.bases if depth < _MAX_BASES and not self.path.endswith(".py") else ():
            makers = self.project.functions(base, self.path, base) if base != cls.name else ()
            found = self.overload([it for it in makers if accepts(it, len(values))], values)
            above = self.project.class_named(base, self.path) if found is None and not makers else None
            if found is None and above is not None:
                found = self._of_bases(above, values, depth + 1)
            if found is not None:
                return found
        return None

    def _aggregate(self, place: str, cls: Class, values: Sequence[Value], exprs: Sequence[Expr]) -> None:
        """Give the fields of an object the items of a list, in their order or by their names."""
        named = {it.name: it for it in cls.fields}
        for declare, value, expr in zip(cls.fields, values, exprs, strict=False):
            own, item = declare, expr
            if isinstance(expr, Designated):
                if expr.name not in named:
                    continue
                own, item = named[expr.name], expr.value
            target = f"{place}.{own.name}"
            inner = None if own.is_pointer else self.project.class_named(own.type, self.path)
            if not isinstance(item, Items):
                if isinstance(value, Pointer) and isinstance(item, (AddressOf, Cast)):
                    self._escaped(value)
                self.put(target, value)
            elif own.dimensions:
                self._fill(target, item)
            elif inner is not None:
                self.construct(target, inner, [self.value(it) for it in item.items], item.items)
            else:
                self.put(target, self.value(item.items[0]) if len(item.items) == 1 else value)

    def make(
        self,
        place: str,
        cls: Class,
        makers: Sequence[Function],
        path: str,
        given: Sequence[Sequence[Value]] = (),
    ) -> None:
        """Make an object; what not all of `given` say alike of its constructor's arguments is open."""
        same = given[0] if given and len({len(it) for it in given}) == 1 else ()
        same = tuple(it if all(each[i] == it for each in given) else RunTime("") for i, it in enumerate(same))
        frame = Frame(Function("", cls.name, (), (), path, 0), "made", Pointer(place))
        self.store = self.store if self.store is not None else Store()
        self.frames.append(frame)
        try:
            self.objects[place] = cls.name
            self._fields(place, cls, 0)
            maker = self.overload(makers, same) if same else next(iter(makers), None)
            maker = maker or (self._of_bases(cls, ()) if not makers else None)
            if maker is not None:
                parameters = own_parameters(maker)
                values = [self._opened(it) for it in parameters]
                for i, it in enumerate(same[: len(values)]):
                    values[i] = values[i] if isinstance(it, RunTime) else it
                self.call(maker, values[: len(same)] if same else values, (), Pointer(place))
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.frames.pop()
            self.store = self.store if self.store is not None else Store()

    def set_up(self, place: str, method: Function) -> None:
        """Run a method that makes an object ready, as another one is run apart; it launches nothing here."""
        before = self.store
        self.frames.append(Frame(Function("", method.owner, (), (), method.path, 0), "made", Pointer(place)))
        self.trials += 1
        try:
            self.call(method, [self._opened(it) for it in own_parameters(method)], (), Pointer(place))
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.trials -= 1
            self.frames.pop()
            self.store = self.store if self.store is not None else before

    def _opened(self, parameter: Parameter) -> Value:
        """Return what a parameter may be where nobody knows what it is given."""
        if parameter.default is None or parameter.name.startswith("*"):
            return RunTime(parameter.name)
        return opened_as(parameter.name, self.value(parameter.default))

    def _fields(self, place: str, cls: Class, depth: int) -> None:
        for base in cls.bases if depth < _MAX_NESTED else ():
            inherited = self.project.class_named(base, self.path)
            if inherited is not None and inherited.name != cls.name:
                self._fields(place, inherited, depth + 1)
        for declare in cls.fields:
            target = f"{place}.{declare.name}"
            self.types[target] = declare.type + ("*" if declare.is_pointer else "")
            if declare.dimensions:
                self.arrays.add(target)
            elif declare.value is None and not declare.is_pointer and depth < _MAX_NESTED:
                inner = self.project.class_named(declare.type, self.path)
                if inner is not None and inner.name != cls.name:
                    self._fields(target, inner, depth + 1)
            if declare.value is not None and self.store is not None:
                self.define(target, replace(declare, is_reference=False))

    def _fill(self, place: str, value: Expr) -> None:
        """Give an array, or an object without a constructor, the items of a list."""
        if isinstance(value, Items):
            for index, item in self._placed(value.items):
                cls = self._element_class(place) if isinstance(item, Items) else None
                if isinstance(item, Items) and cls is not None:
                    given = [self.value(it) for it in item.items]
                    self.construct(f"{place}[{index}]", cls, given, item.items)
                elif isinstance(item, Items):
                    self._fill(f"{place}[{index}]", item)
                else:
                    held = self.value(item)
                    is_table = "void" not in self.types.get(place.partition("[")[0], "")
                    if isinstance(held, Pointer) and isinstance(item, (AddressOf, Cast)) and is_table:
                        self._escaped(held)
                    self.put(f"{place}[{index}]", held)
        else:
            self.put(place, self.value(value))

    def _placed(self, items: Sequence[Expr]) -> Iterator[tuple[int, Expr]]:
        """Yield the items of a list with their places; none from one on whose place is not known."""
        at = 0
        for item in items:
            value = item
            if isinstance(item, Placed):
                place, value = self.value(item.index), item.value
                if not isinstance(place, Number) or not 0 <= place.value < MAX_ELEMENTS:
                    return
                at = int(place.value)
            yield at, value
            at += 1

    def _element_class(self, place: str) -> Class | None:
        """Return the class of an array's elements, if they are objects."""
        type_name = self.types.get(place, "") if place in self.arrays else ""
        return self.project.class_named(type_name, self.path) if type_name and "*" not in type_name else None


def _are_items(items: Sequence[Expr]) -> bool:
    return all(isinstance(it, Items) for it in items)


def _changed_names(function: Function) -> set[str]:
    """Return the names of all variables that a function assigns to, its declarations not counted."""
    found = set()
    for node in nodes(function.body):
        match node:
            case Assign(target=Name(name)) | AddressOf(Name(name)):
                found.add(name)
    return found


def own_parameters(function: Function) -> list[Parameter]:
    """Return the parameters of a function without the object that it is called for."""
    return [it for it in function.parameters if it.name not in ("self", "cls")]


def agreed(one: Sequence[Value], two: Sequence[Value]) -> tuple[Value, ...] | None:
    """Return what two calls give alike, the rest open; `None` where they give different numbers of values."""
    if len(one) != len(two):
        return None
    return tuple(it if it == other else RunTime("") for it, other in zip(one, two, strict=True))


def accepts(function: Function, count: int) -> bool:
    """Tell whether a function can be called with a number of arguments."""
    parameters = own_parameters(function)
    needed = sum(it.default is None and not it.name.startswith("*") for it in parameters)
    return needed <= count <= len(parameters) or any(it.name.startswith("*") for it in parameters)


_OF_LISTS = re.compile(rf"(?:std::)?(?:{'|'.join(sorted(LISTS))})\s*<")


def _braces_shape(items: Sequence[Expr], element: str) -> tuple[Number, ...]:
    """Return how many items braces have, and those inside of them where these are lists, equally long."""
    rows = [it.items for it in items if isinstance(it, Items)]
    is_even = len(rows) == len(items) and len({len(it) for it in rows}) == 1
    if not is_even or (inner := _OF_LISTS.match(element)) is None:
        return (Number(len(items)),)
    return Number(len(items)), *_braces_shape(rows[0], element[inner.end() :])
