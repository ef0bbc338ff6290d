"""Which place a name or an expression means, in functions, objects, files and other modules."""

from __future__ import annotations

import re
from dataclasses import replace

from clmap_lsp.hosts.interpreter.state import COUNTED_FROM, MAX_MACRO_DEPTH, Frame, State, opened_as
from clmap_lsp.hosts.store import join_values
from clmap_lsp.hosts.tree import (
    SLICE,
    SLICES,
    Call,
    Cast,
    Dereference,
    Expr,
    Function,
    Index,
    Items,
    Member,
    Name,
)
from clmap_lsp.hosts.values import (
    Alternatives,
    ArrayValue,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    is_handle,
    is_vector,
    is_vector_of_glm,
    is_whole,
    kept_name,
    lane_of,
    name_of,
    size_of,
    text_of,
    whole_of,
)
from clmap_lsp.hosts.walking import own_names

_KERNEL_TYPES = frozenset(("cl_kernel", "Kernel"))
_CLASSES_OF_GLM = frozenset(("vec", "tvec2", "tvec3", "tvec4"))
NULL_RANGE = "NullRange"
"""What OpenCL's bindings for C++ call a size that is not given."""


class Names(State):
    """Places and what they are called."""

    def _qualified(self, name: str, scope: str) -> Value:
        """Return what a name in a namespace or a class stands for."""
        cls = self.project.class_named(scope, self.path)
        declared = next((it for it in cls.fields if it.name == name), None) if cls is not None else None
        if declared is not None and declared.value is not None and declared.is_constant:
            return self.value(declared.value)
        if declared is not None or name == NULL_RANGE:
            return self.named(name)
        return self._outside(name, scope)

    def named(self, name: str) -> Value:
        """Return what a name stands for."""
        if name == "NULL":
            return Null()
        if name == NULL_RANGE and not self.path.endswith(".py"):
            return RunTime(name)  # Whatever a copy of the bindings says that it is made of.
        frame: Frame | None = self.frame
        while frame is not None:
            place = frame.names.get(name)
            if place is not None:
                return self.read(place)
            frame = frame.outer
        if name == "__name__" and self.path.endswith(".py"):
            return Text(("__main__",))
        if name == "this":
            return self.frame.this or RunTime("this")
        own = self._own_field(name)
        if own is not None:
            shared = self._shared(name) if self.store is not None and self.store.read(own) is None else None
            return self.read(shared or own)
        return self._outside(name)

    def _shared(self, name: str) -> str | None:
        """Return the place of a static member that is defined outside of its class."""
        owner = self.frame.function.owner
        found = self.project.variable(name, self.path, owner) if owner else None
        return self._global(name, owner) if found is not None and found[1].scope == owner else None

    def _own_field(self, name: str) -> str | None:
        """Return the place of a field of the object whose method is run."""
        frame: Frame | None = self.frame
        while frame is not None and frame.this is None:
            frame = frame.outer
        if frame is None or not isinstance(frame.this, Pointer) or frame.function.path.endswith(".py"):
            return None
        place = f"{frame.this.place}.{name}"
        known = self.store is not None and self.store.read(place) is not None
        return (
            place if known or place in self.types or self._has_field(frame.function.owner, name, 0) else None
        )

    def _has_field(self, owner: str, name: str, depth: int) -> bool:
        cls = self.project.class_named(owner, self.path) if owner and depth < 5 else None
        if cls is None:
            return False
        return any(it.name == name for it in cls.fields) or any(
            it != owner and self._has_field(it, name, depth + 1) for it in cls.bases
        )

    def _outside(self, name: str, scope: str = "") -> Value:
        """Return what a name stands for outside of functions."""
        macro = self.project.macro(name, self.path, self.frame.row)
        if macro is not None and macro.parameters is None:
            if not macro.body or self.macro_depth > MAX_MACRO_DEPTH:
                return RunTime(name)
            if self.macro_depth >= COUNTED_FROM:
                self.step()
            self.macro_depth += 1
            try:
                return self.value(self.project.expression(macro.body))
            finally:
                self.macro_depth -= 1
        place = self._global(name, scope)
        if place is not None:
            return self.read(place)
        constant = self.project.constant(name, self.path)
        if constant is not None and self.macro_depth <= MAX_MACRO_DEPTH:
            self.macro_depth += 1
            try:
                return self.value(constant)
            finally:
                self.macro_depth -= 1
        if self.project.functions(name, self.path) or self.project.class_named(name, self.path):
            return Routine(name)
        return RunTime(name)

    def _global(self, name: str, scope: str = "") -> str | None:
        """Return the place of a variable outside of functions, which gets its first value at first use."""
        place = self.global_place(name)
        if not scope and (place in self.types or (self.store is not None and place in self.store)):
            return place
        if self.path.endswith(".py"):
            return self.of_module(name, self.path)
        found = self.project.variable(name, self.path, scope)
        if found is None:
            return None
        path, declare = found
        place = f"g:{path}:{declare.scope}#{name}" if declare.scope else f"g:{path}#{name}"
        if place in self.types:
            return place
        self.types[place] = declare.type + ("*" if declare.is_pointer else "")
        if declare.dimensions:
            self.arrays.add(place)
        function = Function("", "", (), (), path, 0)
        self.frames.append(Frame(function, f"g:{path}", is_module=True))
        try:
            self.define(place, replace(declare, is_reference=False))
        finally:
            self.frames.pop()
        if self.store is None:
            return place
        inside = (place + "[", place + ".")
        self.initial.update((it, held) for it, held in self.store.items() if it.startswith(inside))
        if place in self.store:
            self.initial[place] = self.store[place]
        elif not declare.dimensions and size_of(self._resolved(declare.type)) and not declare.is_pointer:
            self.store[place] = self.initial[place] = RunTime(name)  # It is 0, or set where it is defined.
        is_entry = bool(self.frames) and self.frames[0].function.name == "main"
        is_own = is_entry and path == self.frames[0].function.path
        if not declare.is_constant:
            self._open_global(place, path, is_own=is_own)
        return place

    def of_module(self, name: str, module: str) -> str | None:
        """Return the place of a variable that a module of Python that did not run has, or imports."""
        found = self.project.module_variable(name, module)
        if found is None or self.store is None:
            return None
        path, own, expression = found
        place = f"g:{path}#{own}"
        if place in self.store:
            return place
        self.store[place] = RunTime(own)
        self.frames.append(Frame(Function("", "", (), (), path, 0), f"g:{path}", is_module=True))
        try:
            value = self.value(expression)
        finally:
            self.frames.pop()
        if self.store is not None:
            file = self.project.file(path)
            changes = any(own in it.globals for it in (file.module.functions if file is not None else ()))
            changes = changes or self.project.writes(own, path) > 0
            self.store[place] = opened_as(own, value) if changes else value
        return place

    def _open_global(self, place: str, path: str, *, is_own: bool) -> None:
        """Open what of a variable outside of functions is changed where this run does not come along."""
        for it in [it for it in self.store or () if it == place or it.startswith((place + ".", place + "["))]:
            held = self.store[it] if self.store is not None else None
            name = re.split(r"[#.]", it.partition("[")[0])[-1]
            if not isinstance(held, (Number, Text, Null)) or self.store is None:
                continue
            entry = self.frames[0].function
            elsewhere = self.project.written_apart(name, entry) if is_own else self.project.writes(name, path)
            if name in self.opened or elsewhere:
                opened = RunTime(name) if isinstance(held, Null) else opened_as(name, held)
                self.store[it] = self.initial[it] = opened

    def read(self, place: str) -> Value:
        """Return what is at a place; what was never written there is open."""
        if place in self.arrays:  # A string of its own, but not the first of several.
            whole = (self.store or self.initial).get(place) or self.initial.get(place)
            return whole if isinstance(whole, Text) else Pointer(place)
        value = self.store.read(place) if self.store is not None else None
        value = value if value is not None else self.initial.get(place)
        if value is not None:
            return value
        if place in self.objects or self._is_structure(place) or self._is_kept_kernel(place):
            return Pointer(place)
        return RunTime(name_of(place).lstrip("."))

    def _is_kept_kernel(self, place: str) -> bool:
        """Tell whether a place is a field or a global variable for a kernel, or one of several: which one it
        holds may be known elsewhere."""
        declared = self.types.get(whole_of(place), "")
        return bool(kept_name(place)) and self.types.get(place, declared) in _KERNEL_TYPES

    def _holds_kernel(self, place: str, name: str) -> bool:
        """Tell whether a field of a structure is declared as a kernel, of which only the type is known."""
        owner = self._class_of(place)
        cls = self.project.class_named(owner, self.path) if owner else None
        return cls is not None and any(it.name == name and it.type in _KERNEL_TYPES for it in cls.fields)

    def _is_structure(self, place: str) -> bool:
        type_name = self.types.get(place, "")
        if not type_name or "*" in type_name or is_whole(type_name):
            return False
        return self.project.class_named(type_name.removeprefix("struct ").strip(), self.path) is not None

    def place(self, expression: Expr) -> str | None:
        """Return the place that an expression names, if it names one."""
        match expression:
            case Name(name, scope):
                return self._global(name, scope) if scope else self._place_of(name)
            case Index(base, index):
                inner = self._array(base)
                if inner is None:
                    return None
                at = self.value(index)
                where = at.whole if isinstance(at, Number) and at.whole is not None else "*"
                if isinstance(at, Text) and at.plain is not None:
                    return f"{inner}.{at.plain}"
                return f"{inner}[{where}]"
            case Member(base, name):
                inner = self._base(base)
                return self._component(inner, name) if inner is not None else None
            case Dereference(operand):
                target = self.value(operand)
                return target.place if isinstance(target, Pointer) else None
            case Cast(_, operand):
                return self.place(operand)
            case _:
                return None

    def is_vector(self, type_name: str) -> bool:
        """Tell whether a type of the host program is a vector whose components are told apart."""
        if is_vector(type_name) or not is_vector_of_glm(type_name):
            return is_vector(type_name)
        own = self.project.class_named(type_name, self.path)
        return own is None or own.name in _CLASSES_OF_GLM

    def _component(self, place: str, name: str) -> str:
        """Return the place of a field, or of a component of a vector: `size.x` is `size.s[0]`."""
        if self.is_vector(self.types.get(place, "")):
            lane = lane_of(name)
            return place if name == "s" else f"{place}[{lane}]" if lane is not None else f"{place}.{name}"
        return f"{place}.{name}"

    def _array(self, expression: Expr) -> str | None:
        """Return the place whose elements are meant: of an array of kernels, not that of its first."""
        value = self.value(expression)
        if is_handle(value):
            own = self.place(expression)
            if own is not None and self.store is not None and f"{own}[0]" in self.store:
                return own
        return self._place_behind(value, expression)

    def _base(self, expression: Expr) -> str | None:
        return self._place_behind(self.value(expression), expression)

    def _place_behind(self, value: Value, expression: Expr) -> str | None:
        """Return the place that an expression's value points to, or else its own."""
        if isinstance(value, Pointer):
            return value.place
        if isinstance(value, Alternatives) and isinstance(value.values[0], Pointer):
            return value.values[0].place
        return self.place(expression)

    def _place_of(self, name: str) -> str:
        frame: Frame | None = self.frame
        is_python = self.path.endswith(".py")
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            if is_python and name in own_names(frame.function):
                return self._declare(name, "")  # What it assigns is its own, not that of the function around.
            frame = frame.outer
        own = self._own_field(name)
        if own is not None:
            return own
        if is_python and name in self.frame.function.globals:
            return self.global_place(name)
        found = (self._place_of_macro(name) or self._global(name)) if not is_python else None
        if found is not None:
            return found
        return self._declare(name, "")

    def _place_of_macro(self, name: str) -> str | None:
        """Return the place that a macro without parentheses stands for: `#define kernel (state->own)`."""
        macro = self.project.macro(name, self.path, self.frame.row)
        is_plain = macro is not None and macro.parameters is None and macro.body
        if macro is None or not is_plain or self.macro_depth > MAX_MACRO_DEPTH:
            return None
        if self.macro_depth >= COUNTED_FROM:
            self.step()
        self.macro_depth += 1
        try:
            return self.place(self.project.expression(macro.body))
        finally:
            self.macro_depth -= 1

    def assign(self, target: Expr, value: Value) -> None:
        """Write a value to what an expression names; a list takes a value apart."""
        if isinstance(target, Items):
            parts = self._items(value)
            for index, item in enumerate(target.items):
                known = parts[index] if parts is not None and index < len(parts) else None
                text = f"{text_of(value)}[{index}]"
                self.assign(item, known if known is not None else RunTime(text))
            return
        if isinstance(target, Call) and target.function in (Name(SLICE), Name(SLICES)):
            self._assign_slice(target.arguments[0])
            return
        if isinstance(target, Call):
            for it in target.arguments:  # `std::tie(one, two) = …`
                self.assign(it, RunTime(text_of(value)))
            owner = self.value(target.function.base) if isinstance(target.function, Member) else None
            if isinstance(owner, Pointer) and owner.place in self.arrays:  # `sizes.at(0) = …`
                self.open_at(owner.place, keeps_default=False)
            return
        if isinstance(target, Index) and self.path.endswith(".py"):
            held = self.value(target.base)
            if isinstance(held, Sizes):
                self.replace_list(held, _with_item(held, self.value(target.index), value))
                return
        if isinstance(target, Dereference):
            several = self.value(target.operand)
            if isinstance(several, Alternatives):
                self._put_in_one(several, value)
                return
        place = self.place(target)
        if place is not None:
            if place in self.arrays and self.types.get(place, "").endswith("*"):
                self.arrays.discard(place)  # A pointer to memory of one turn of a loop points elsewhere now.
            if isinstance(value, Pointer) and value.place in self.objects:
                self.objects[place] = self.objects[value.place]
                if self._copied(place, value):
                    return
            if isinstance(value, Pointer) and isinstance(target, Member):
                self._escaped(value)
            if isinstance(value, ArrayValue) and self.store is not None and not self.path.endswith(".py"):
                self.store.forget(place)  # Another list, whose elements are not those that were known.
            self.put(place, value)
            self._written_over(place)

    def _assign_slice(self, whole: Expr) -> None:
        """Open what a part of was written to; an array keeps its shape."""
        held = self.value(whole)
        if isinstance(held, Sizes):
            self.replace_list(held, RunTime(text_of(held)))
        elif not isinstance(held, ArrayValue):
            self.assign(whole, RunTime(text_of(held)))

    def _written_over(self, place: str) -> None:
        """Open the other members of a union that one was written to."""
        owner, dot, member = place.rpartition(".")
        known = self.project.class_named(self._class_of(owner), self.path) if dot else None
        if known is None or not known.is_union or self.store is None:
            return
        own = f"{owner}.{member.partition('[')[0]}"
        for it in [it for it in self.store if it.startswith(owner + ".") and not it.startswith(own)]:
            self.open_at(it, keeps_default=False)

    def _put_in_one(self, places: Alternatives, value: Value) -> None:
        """Write a value to one of several places: each of them may hold it then."""
        for it in places.values:
            if isinstance(it, Pointer) and self.store is not None:
                before = self.store.read(it.place)
                self.put(it.place, value if before is None else join_values(it.place, (before, value)))

    def _copied(self, place: str, source: Value) -> bool:
        """Copy an object of C or C++ that is given by value, field by field; False where it is not."""
        if self.path.endswith(".py") or self.store is None or not isinstance(source, Pointer):
            return False
        if "*" in self.types.get(place, "*") or source.place == place or source.place[:1] in "kpbn":
            return False
        if isinstance(self.store.get(source.place), Pointer):
            return False
        self.objects[place] = self.objects.get(source.place, "")
        start = source.place + "."
        for it, held in list(self.store.items()):
            if it.startswith(start):
                self.store[f"{place}.{it[len(start) :]}"] = held
        self.store.pop(place, None)
        return True

    def method(self, owner: str, name: str, depth: int = 0) -> Function | None:
        """Return the method of a class or of what it inherits from."""
        found = self.project.functions(name, self.path, owner)
        if found:
            return found[0]
        cls = self.project.class_named(owner, self.path) if depth < 5 else None
        for base in cls.bases if cls is not None else ():
            inherited = self.method(base, name, depth + 1) if base != owner else None
            if inherited is not None:
                return inherited
        return None

    def _class_of(self, place: str) -> str:
        type_name = self.types.get(place, "").replace("*", "").removeprefix("struct ").strip()
        if type_name and self.project.class_named(type_name, self.path) is not None:
            return type_name
        return ""

    def _is_local(self, name: str) -> bool:
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.names:
                return True
            frame = frame.outer
        return self._own_field(name) is not None


def _with_item(items: Sizes, index: Value, value: Value) -> Value:
    """Return a list of Python with one item replaced; with all open where it is not known which."""
    count = len(items.items)
    if isinstance(index, Number) and -count <= index.value < count:
        changed = list(items.items)
        changed[int(index.value)] = value
        return Sizes(tuple(changed))
    return Sizes(tuple(join_values("#item", (it, value)) for it in items.items))
