"""What expressions are worth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from clmap_lsp.hosts.interpreter.objects import Objects
from clmap_lsp.hosts.interpreter.state import MAX_UNROLLED, Closure, Frame
from clmap_lsp.hosts.store import join_values, with_elements
from clmap_lsp.hosts.strings import percent, piece
from clmap_lsp.hosts.tree import (
    AddressOf,
    Assign,
    Binary,
    Call,
    Cast,
    Comprehension,
    Conditional,
    Counted,
    Dereference,
    Designated,
    Entered,
    Expr,
    Function,
    Index,
    Items,
    Lambda,
    Member,
    Name,
    New,
    Num,
    Opaque,
    Placed,
    SizeOf,
    Str,
    Unary,
    Yield,
)
from clmap_lsp.hosts.values import (
    Alternatives,
    ArrayValue,
    Generated,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    asks_device,
    binary,
    converted,
    default_of,
    device_decides,
    is_handle,
    is_program,
    joined,
    lane_of,
    name_of,
    negated,
    size_of,
    text_of,
    truth,
)
from clmap_lsp.hosts.walking import nodes

_OF_KERNELS = re.compile(r"kernel|knl", re.IGNORECASE)
"""What tables of kernels are called."""

_MAX_LINKS = 8
"""Members and subscripts behind each other; each asks for those before it more than once."""

_MAX_ITEMS = 256
"""Items of a list that are told apart."""


_PRINTED = re.compile(r"-?[\w.]{1,64}|[\w.\[\]()+*/ -]{1,100}")
"""What may stand for a name in a kernel: a number, a type, a name, an expression of these."""


def _not_null(value: Value) -> Value:
    """Return a value that is a pointer, or NULL where something failed, as the pointer that is followed."""
    if not isinstance(value, Alternatives):
        return value
    others = tuple(it for it in value.values if not isinstance(it, Null))
    return others[0] if len(others) == 1 else Alternatives(others) if others else Null()


def _name_in_kernels(part: Expr) -> str:
    """Return `n` for `{n}` and `self_n` for `{self.n}`, as kernels in strings have them; "" for others."""
    match part:
        case Name(name, ""):
            return name
        case Member(base, name):
            before = _name_in_kernels(base)
            return f"{before}_{name}" if before else ""
        case _:
            return ""


class Expressions(Objects):
    """Expressions."""

    def value(self, expression: Expr) -> Value:
        """Return what an expression is worth, and do what it does."""
        match expression:
            case Num(number):
                return Number(number)
            case Str(parts, row):
                return self._string(parts, row)
            case Name(name, scope):
                return self._qualified(name, scope) if scope else self.named(name)
            case Binary():
                return self._binary(expression)
            case Unary(op, operand):
                return negated(op, self.value(operand))
            case AddressOf(operand):
                place = self.place(operand)
                if place is None:
                    return self._address_of(self.value(operand), operand)
                held = self.store.get(place) if self.store is not None else None
                if place.endswith("[0]") and place[:-3] in self.arrays:
                    return Pointer(place[:-3])
                return held if isinstance(held, Pointer) and held.place == place else Pointer(place)
            case Dereference(operand):
                return self._dereferenced(self.value(operand), operand)
            case Index() | Member() if _links(expression) > _MAX_LINKS:
                return RunTime("…")
            case Index(base, index):
                return self._indexed(expression, base, index)
            case Member(base, name):
                return self._member(expression, base, name)
            case Conditional():
                return self._conditional(expression)
            case Cast(type_name, operand):
                return converted(self._resolved(type_name), self.value(operand))
            case Designated(_, operand) | Placed(_, operand):
                return self.value(operand)
            case Items(items):
                return Sizes(tuple(self.value(it) for it in items))
            case Assign():
                return self._assignment(expression)
            case SizeOf(type_name, operand):
                return self._size(type_name, operand)
            case Counted(pack):
                return self._counted(pack)
            case Call():
                return self.called(expression)
            case New():
                return self._new(expression)
            case Lambda(function):
                identity = len(self.lambdas) + 1
                outer = self._kept(identity) if function.by_value else self.frame if self.frames else None
                self.lambdas[identity] = Closure(function, outer, self.defaults_of(function))
                self.reach(self.lambdas[identity])
                return Routine(function.name, identity=identity)
            case Yield(given, is_from):
                return self._yielded(given, is_from=is_from)
            case Entered(given):
                entered = self.value(given)
                if isinstance(entered, Generated):
                    return self.gone_through(entered) or RunTime(entered.name)
                return entered
            case Comprehension():
                return self._comprehension(expression)
            case Opaque(text, parts):
                last: Value = RunTime(text)
                for part in parts:
                    last = self.value(part)
                return (
                    last if text and len(parts) == 2 and "," in text else RunTime(" ".join(text.split())[:72])
                )

    def _address_of(self, value: Value, operand: Expr) -> Value:
        """Return the address of a value that stands nowhere: C's `&(cl_float){width}` makes a place."""
        if isinstance(value, Sizes) and len(value.items) == 1 and isinstance(operand, Items):
            value = value.items[0]
        if not isinstance(operand, Cast | Items) or not isinstance(value, Number | RunTime):
            return RunTime(f"&{text_of(value)}")
        if self.store is None:
            return RunTime("&")
        place = f"{self.fresh_memory()}literal"
        self.store[place] = value
        return Pointer(place)

    def defaults_of(self, function: Function) -> dict[str, Value]:
        """Return what parameters of a function of Python are without an argument, as of now."""
        if not function.path.endswith(".py"):
            return {}
        return {it.name: self.value(it.default) for it in function.parameters if it.default is not None}

    def reach(self, closure: Closure) -> None:
        """Note which of the functions that one text made is meant next."""
        function = closure.function
        self.enclosing[id(function)] = closure.outer
        if closure.defaults:
            self.defaults[function.path, function.row] = closure.defaults

    def _yielded(self, given: Expr | None, *, is_from: bool) -> Value:
        value = self.value(given) if given is not None else Null()
        if is_from and isinstance(value, Generated):
            passed = self.gone_through(value)
            self.frame.yielded += [passed] if passed is not None else []
        elif is_from:
            self.frame.yielded += self._items(value) or [RunTime(text_of(value))]
        else:
            self.frame.yielded.append(value)
        return RunTime("yield")

    def gone_through(self, generated: Generated) -> Value | None:
        """Run a generator; return any of what it yields, None where that is nothing.

        What goes through it runs between its parts. Here it runs behind all of them, once for all items.
        """
        held = self.generators.get(generated.identity)
        if held is None or self.store is None or any(it.function is held.function for it in self.frames):
            return RunTime(generated.name)
        self.gone.add(generated.identity)
        frame = replace(held, returns=[], calls={}, yielded=[])
        self.run_body(frame)
        for _, store in reversed(frame.returns):
            self.store = self.joined(store, self.store, 1) if self.store is not None else store
        return join_values(f"#{generated.name}(…)", frame.yielded) if frame.yielded else None

    def _listed_by(self, value: Value) -> Value:
        """Return a generator as a list of any of what it yields, as what is not known goes through it."""
        if not isinstance(value, Generated):
            return value
        items = self.gone_through(value)
        if items is None:
            return Sizes(())
        place = f"{self.fresh_memory()}{value.name}"
        self.put(f"{place}[*]", items)
        return Pointer(place)

    def _kept(self, identity: int) -> Frame:
        """Return a frame with the values that variables have now, for a lambda that keeps them."""
        kept = replace(self.frame, names={}, returns=[])
        for name, place in self.frame.names.items():
            kept.names[name] = f"c{identity}#{name}"
            held = self.store.get(place) if self.store is not None else None
            if held is not None and not isinstance(held, Pointer) and self.store is not None:
                self.store[kept.names[name]] = held
                for index in range(self.n_elements(Pointer(place)) if isinstance(held, ArrayValue) else 0):
                    self.store[f"{kept.names[name]}[{index}]"] = self.read(f"{place}[{index}]")
            else:
                kept.names[name] = place
        return kept

    def _string(self, parts: Sequence[str | Expr], row: int) -> Text:
        result = Text((), row, self.path)
        for part in parts:
            if isinstance(part, str):
                result = joined(result, Text((part,)))
            else:
                value = self.text(self.value(part)) or self.value(part)
                result = joined(result, piece(value))
                self._filled_in(row, part, value)
        return result

    def _filled_in(self, row: int, part: Expr, value: Value) -> None:
        """Note what a formatted string of Python prints, by the name that stands for it in kernels."""
        name = _name_in_kernels(part)
        if name and self.path.endswith(".py"):
            self.note_filled(self.path, row, name, value)

    def note_filled(self, path: str, row: int, name: str, value: Value) -> None:
        """Note what stands for a name in a text of Python, of all that runs put there."""
        text = value.plain if isinstance(value, Text) else text_of(value) if isinstance(value, Number) else ""
        known = text if text and _PRINTED.fullmatch(text) else ""
        self.project.filled_in.setdefault((path, row), {}).setdefault(name, set()).add(known)

    def _comprehension(self, it: Comprehension) -> Value:
        """Return a list, or a dictionary, that an expression makes for each of some known items."""
        items = self._items(self._listed_by(self.value(it.over)))
        dictionary = Call(Name("dict"), (), row=it.row, text=it.text)
        place = self.fresh("d", dictionary) if it.key is not None else ""
        if items is None or len(items) > MAX_UNROLLED:
            return Pointer(place) if place else RunTime(it.text)
        made: list[Value] = []
        before = dict(self.frame.names)
        each = [part for part in nodes(it.each) if isinstance(part, Name)]
        for part in each:  # Python's comprehensions have variables of their own.
            self.frame.names[part.name] = f"{self.frame.scope}.{it.row}#{part.name}"
        for turn, item in enumerate(items):
            self.frame.calls.clear()
            self.assign(it.each, item)
            self.turns.append(turn)
            made.append(self.value(it.element))
            self.turns.pop()
            key = self.text(self.value(it.key)) if it.key is not None else None
            if place:
                self.put(f"{place}.{key.plain}" if key is not None and key.plain else f"{place}[*]", made[-1])
        for part in each:
            if part.name in before:
                self.frame.names[part.name] = before[part.name]
            else:
                self.frame.names.pop(part.name, None)
        return Pointer(place) if place else Sizes(tuple(made))

    def _assignment(self, assign: Assign) -> Value:
        if isinstance(assign.value, Items) and not assign.op and not self.path.endswith(".py"):
            place = self.place(assign.target)
            if place is not None:
                for index in range(self.n_elements(Pointer(place))):
                    if self.store is not None:  # A list may have had more elements before.
                        self.store.pop(f"{place}[{index}]", None)
                self._fill(place, assign.value)  # Which evaluates each item, once.
                return Pointer(place)
        value = self.value(assign.value)
        before: Value | None = None
        if assign.op and not is_handle(value):  # With a handle it is an operator of the project's own.
            before = self.value(assign.target)
            value = self.combined(assign.op, before, value)
        self.assign(assign.target, value)
        if before is not None and assign.gives_before:
            return before
        return self._as_held(assign.target, value)

    def _as_held(self, target: Expr, value: Value) -> Value:
        """Return a number as the variable of C holds it that it was put into."""
        if not isinstance(target, Name) or not isinstance(value, (Number, RunTime)):
            return value
        place = self.place(target)
        type_name = self.types.get(place, "") if place is not None else ""
        return converted(self._resolved(type_name), value) if type_name and "*" not in type_name else value

    def _binary(self, expression: Binary) -> Value:
        op = expression.op
        if op in ("&&", "||"):
            return self._logical(op, expression.left, expression.right)
        return self.combined(op, self.value(expression.left), self.value(expression.right))

    def combined(self, op: str, left: Value, right: Value) -> Value:
        """Return `left op right` for anything that host code computes with."""
        one, two = self._string_operand(left, right), self._string_operand(right, left)
        if op == "+" and one is not None and two is not None:
            return joined(one, two)
        if op == "mod" and isinstance(left, Text):
            items = right.items if isinstance(right, Sizes) else ()
            return percent(left, right, items, self.entries(right))
        if op == "truediv" and isinstance(right, Text):  # A path.
            return joined(piece(self.text(left) or left), joined(Text(("/",)), right))
        if op == "<<" and isinstance(left, Text):
            is_end = isinstance(right, RunTime) and right.text == "endl"
            return joined(left, Text(("\n",)) if is_end else piece(self.text(right) or right))
        if op == "+" and isinstance(left, Pointer):
            return Pointer(left.place, moved=right != Number(0))
        if op == "+" and isinstance(left, Sizes) and isinstance(right, Sizes):
            if len(left.items) + len(right.items) > _MAX_ITEMS:
                return RunTime("…")
            return Sizes(left.items + right.items)
        if op == "*" and isinstance(left, Sizes) and isinstance(right, Number) and len(left.items) == 1:
            return Sizes(left.items * int(max(min(right.value, 9), 0)))
        if op in ("==", "!="):
            return self._equal(op, left, right)
        if isinstance(left, ArrayValue) or isinstance(right, ArrayValue):
            return left if isinstance(left, ArrayValue) else right
        return binary(op, left, right)

    def _string_operand(self, value: Value, other: Value) -> Text | None:
        if isinstance(value, Text):
            return value
        if isinstance(other, Text) and isinstance(value, (Pointer, RunTime, Number)):
            return self.text(value) or piece(value)
        if isinstance(other, Text) and isinstance(value, Alternatives):
            return piece(value) if all(isinstance(it, Text) for it in value.values) else None
        return None

    def _equal(self, op: str, left: Value, right: Value) -> Value:
        one, two = self.text(left), self.text(right)
        if one is not None and two is not None and one.plain is not None and two.plain is not None:
            return Number(int((one.plain == two.plain) == (op == "==")))
        for value, other in ((left, right), (right, left)):
            if value == Null() and isinstance(other, (Number, ArrayValue)) and self.path.endswith(".py"):
                return Number(int(op == "!="))
            if value in (Null(), Number(0)) and isinstance(other, (Pointer, Text, Sizes, Routine, Null)):
                return Number(int(isinstance(other, Null) == (op == "==")))
        return binary(op, left, right)

    def _logical(self, op: str, left: Expr, right: Expr) -> Value:
        first = self.value(left)
        known = truth(first)
        stops = op == "||"
        is_python = self.path.endswith(".py")
        if known is stops:
            return Number(int(stops)) if not is_python else first
        second = self.value(right)
        if known is not None:
            return second if is_python else _flag(second)
        if is_python and not isinstance(second, RunTime):
            return RunTime(f"{text_of(first)} {'or' if stops else 'and'} {text_of(second)}", opaque=False)
        known = truth(second)
        one, two = default_of(first), default_of(second)
        default: int | None = None
        for it in (one, two):
            if it is not None and bool(it) is stops:
                default = int(stops)
        if default is None and one is not None and two is not None:
            default = int(not stops)
        if known is stops:
            return Number(int(stops))
        text = f"{text_of(first)} {op} {text_of(second)}"
        return RunTime(text, default, device=asks_device(first) or asks_device(second))

    def _conditional(self, expression: Conditional) -> Value:
        condition = self.value(expression.condition)
        known = truth(condition)
        if known is not None:
            return self.value(expression.yes if known else expression.no)
        yes, no = self.value(expression.yes), self.value(expression.no)
        if yes == no:
            return yes
        way = self._way(condition, True)
        if isinstance(yes, (Number, RunTime)) and isinstance(no, (Number, RunTime)):
            text = f"{text_of(condition)} ? {text_of(yes)} : {text_of(no)}"
            device = asks_device(condition)
            return RunTime(
                text, None if way is None else default_of((yes, no)[way]), opaque=False, device=device
            )
        return join_values("#?", (yes, no), None if way is None else (yes, no)[way])

    def _dereferenced(self, value: Value, operand: Expr) -> Value:
        if isinstance(value, Pointer):
            if value.moved:
                return RunTime(f"*{text_of(value)}")
            return (
                value if value.place[:1] in "kpb" and value.place[1:2].isdecimal() else self.read(value.place)
            )
        if isinstance(value, (Routine, Alternatives)):
            return value
        return RunTime(f"*{text_of(value)}") if not isinstance(operand, Name) else RunTime(f"*{operand.name}")

    def _indexed(self, whole: Index, base: Expr, index: Expr) -> Value:
        value, at = self.value(base), self.value(index)
        found = self._item(whole, base, value, at)
        if isinstance(found, RunTime) and isinstance(base, (Name, Member)) and _OF_KERNELS.search(base.name):
            # `kernels["name"]`, of a table that was made in a way which is not followed.
            return self.answer("kernel by name", Call(whole, ()), [at]) or found
        return found

    def _has_rows_of_its_own(self, base: Expr) -> bool:
        """Tell whether a row of a list of lists of C++ was written to: it may be longer than the others."""
        place = self.place(base)
        return place is None or any(it in self.known for it in with_elements(place) if it != place)

    def _item(self, whole: Index, base: Expr, value: Value, at: Value) -> Value:
        if isinstance(value, ArrayValue):
            kept = self.place(whole) if not self.path.endswith(".py") else None
            held = self.store.get(kept) if kept is not None and self.store is not None else None
            if is_handle(held) and held is not None:
                return held
            rows = value.shape.items[1:] if isinstance(value.shape, Sizes) else ()
            if rows and isinstance(at, Number) and self.path.endswith(".py"):
                return ArrayValue(Sizes(rows), value.item_bytes)
            if rows and not self.path.endswith(".py") and not self._has_rows_of_its_own(base):
                return ArrayValue(Sizes(rows), value.item_bytes)
            if not rows and not self.path.endswith(".py"):
                is_known = isinstance(at, Number) and isinstance(held, (Number, RunTime))
                name = name_of(kept).lstrip(".").rpartition("[")[0] if kept is not None else "…"
                return held if is_known and held is not None else RunTime(f"{name}[{text_of(at)}]")
            return ArrayValue(RunTime(f"{text_of(value)}[…]"), value.item_bytes)
        if (
            isinstance(value, Sizes)
            and isinstance(at, Number)
            and -len(value.items) <= at.value < len(value.items)
        ):
            return value.items[int(at.value)]
        if isinstance(value, Sizes):
            return join_values("#item", value.items) if value.items else RunTime("?")
        if isinstance(value, Pointer) and isinstance(at, Alternatives):
            keys = [it.plain for it in at.values if isinstance(it, Text) and it.plain is not None]
            return join_values("#item", [self.read(f"{value.place}.{it}") for it in keys or ["?"]])
        if isinstance(value, RunTime) and not isinstance(base, (Name, Member, Index)):
            return RunTime(f"{value.text}[{text_of(at)}]", device=value.device)
        place = self.place(whole)
        if place is None:
            return RunTime(f"{text_of(value)}[{text_of(at)}]")
        found = self.read(place)
        if isinstance(value, RunTime) and found == value and self.path.endswith(".py"):
            return RunTime(f"{value.text}[{text_of(at)}]", device=value.device)  # The first is not the whole.
        if isinstance(found, RunTime) and found.text == name_of(place).lstrip(".") and "[*]" in found.text:
            found = replace(found, text=found.text.replace("[*]", f"[{text_of(at)}]"))
        if isinstance(value, RunTime) and found == RunTime(name_of(place).lstrip(".")):
            return RunTime(f"{value.text}[{text_of(at)}]", device=value.device)
        return found

    def _member(self, whole: Member, base: Expr, name: str) -> Value:
        value = _not_null(self.value(base))
        found = None if is_program(value) else self.answer("." + name, Call(whole, ()), [value])
        if found is not None:
            return found
        if isinstance(value, Pointer):
            place = f"{value.place}.{name}"
            if self.store is not None and self.store.read(place) is not None:
                return self.read(place)
            owner = self.objects.get(value.place)
            method = self.method(owner, name) if owner is not None else None
            if method is not None and method.is_property:
                return self.call(method, (), this=value)
            if owner is not None and method is not None:
                return Routine(name, owner, value)
            made = self.answer(
                "attribute of " + value.place.partition("#")[0].rstrip("0123456789"), Call(whole, ()), [value]
            )
            if made is not None:
                return made
            return self.read(place)
        lane = lane_of(name)
        if isinstance(value, Sizes) and lane is not None and lane < len(value.items):
            return value.items[lane]
        place_ = self.place(whole)
        if place_ is not None and not isinstance(value, (Sizes, ArrayValue, Text)):
            known = self.store.read(place_) if self.store is not None else None
            if known is not None:
                return self.read(place_)
            if self._holds_kernel(place_.rpartition(".")[0], name):
                return Pointer(place_)
        kernel = self.answer("kernel attribute", Call(whole, ()), [value])
        if kernel is not None:
            return kernel
        found_ = self._static(base, name)
        if found_ is not None:
            return found_
        shown = name_of(place_).lstrip(".") if place_ is not None and value == Null() else ""
        return RunTime(shown or f"{text_of(value)}.{name}")

    def _static(self, base: Expr, name: str) -> Value | None:
        """Return a field of a class, or a variable of another module."""
        if not isinstance(base, Name):
            return None
        cls = self.project.class_named(base.name, self.path)
        if cls is not None and name not in self.opened:
            declared = next((it for it in cls.fields if it.name == name), None)
            if declared is not None and declared.value is not None:
                return self.value(declared.value)
        module = self.project.imported_module(base.name, self.path) if self.path.endswith(".py") else None
        place = self.of_module(name, module) if module is not None else None
        return self.read(place) if place is not None else None

    def _size(self, type_name: str, operand: Expr | None) -> Value:
        given = self.named(type_name) if self.frames and type_name in self.frame.names else None
        if isinstance(given, RunTime) and size_of(given.text) is not None:
            return self._size(given.text, None)  # A template parameter.
        if operand is not None and not (isinstance(operand, Name) and size_of(type_name)):
            place = self.place(operand) if isinstance(operand, (Name, Member, Index, Dereference)) else None
            held = self.types.get(place, "") if place is not None else ""
            element = size_of(self._resolved(held))
            if place is not None and place in self.arrays and self.store is not None and element is not None:
                count = 0
                while f"{place}[{count}]" in self.store:
                    count += 1
                return Number(count * element) if count else RunTime(f"sizeof({name_of(place)})")
            if isinstance(operand, (Index, Dereference)):
                base = operand.base if isinstance(operand, Index) else operand.operand
                inner = self.place(base)
                of_base = self.types.get(inner, "") if inner is not None else ""
                element = size_of(self._resolved(of_base.removesuffix("*")))
            if element is not None:
                return Number(element)
            if not isinstance(operand, Name):
                return RunTime(f"sizeof({text_of(self.value(operand))})")
        known = size_of(self._resolved(type_name))
        return Number(known) if known is not None else RunTime(f"sizeof({type_name})")

    def _counted(self, pack: str) -> Value:
        """Return how many arguments a pack stands for, which may be called by its type."""
        parameters = self.frame.function.parameters
        rest = next((it for it in parameters if it.name == f"*{pack}"), None)
        if rest is None:
            rest = next((it for it in parameters if it.name.startswith("*") and it.type == pack), None)
        held = self.named(rest.name[1:]) if rest is not None else None
        return Number(len(held.items)) if isinstance(held, Sizes) else RunTime(f"sizeof...({pack})")

    def _new(self, expression: New) -> Value:
        named = Name(expression.type)
        call = Call(named, expression.arguments, {}, expression.template, expression.row, expression.text)
        return self.called(call)

    def _way(self, condition: Value, has_otherwise: bool) -> int | None:
        """Return the way that is taken unless the program is told otherwise."""
        default = default_of(condition)
        if default is not None:
            return 0 if default else 1
        if not has_otherwise and device_decides(condition):
            # `if (size > what the device allows) size = …`: a size that the author chose mostly stays.
            return 1
        return None


def _links(expression: Expr) -> int:
    """Return how many members and subscripts stand behind each other."""
    count = 0
    while isinstance(expression, (Member, Index)):
        expression = expression.base
        count += 1
    return count


def _flag(value: Value) -> Value:
    known = truth(value)
    return Number(int(known)) if known is not None else value
