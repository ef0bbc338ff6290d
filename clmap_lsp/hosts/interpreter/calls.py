"""Calls: what is run, what is only said to be changed by one, and what comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest

from clmap_lsp.hosts.interpreter.flow import Flow
from clmap_lsp.hosts.interpreter.objects import own_parameters
from clmap_lsp.hosts.interpreter.state import (
    COUNTED_FROM,
    MAX_MACRO_DEPTH,
    PLACES_A_STEP,
    Frame,
    OutOfStepsError,
    opened_as,
)
from clmap_lsp.hosts.macros import Macro
from clmap_lsp.hosts.project import CALL_OPERATOR
from clmap_lsp.hosts.quiet import ends_itself
from clmap_lsp.hosts.store import Store, join_values
from clmap_lsp.hosts.tree import (
    OUTERMOST,
    Block,
    Call,
    Declare,
    Dereference,
    Evaluate,
    Expr,
    Function,
    Items,
    Member,
    Name,
    Opaque,
    Parameter,
)
from clmap_lsp.hosts.values import (
    Alternatives,
    FileText,
    Generated,
    Null,
    Number,
    Pointer,
    Routine,
    RunTime,
    Sizes,
    Text,
    Value,
    converted,
    is_handle,
    is_kernel,
    is_program,
    name_of,
    size_of,
    text_of,
)
from clmap_lsp.hosts.walking import called_names, weight, writes

_STEPS_OF_A_MACRO = 10
"""What a macro with parentheses costs, beside what it says."""
_SHORT = 40
"""Statements of a function that is run even if no OpenCL is called below it."""

_BRIEF = 1_500
"""Steps that running such a function may take."""
_TELLING = frozenset(
    (
        *("enqueueNDRangeKernel", "EnqueueArgs", "setArg", "Program", "Kernel", "KernelFunctor"),
        *("make_kernel", "build", "NDRange", "Buffer"),
        *("AddKernelDefinitionFromFile", "AddKernelDefinition", "AddParameter", "AddThreadModifier"),
    )
)

_READING = frozenset(("fopen", "ifstream", "fread"))
"""What functions call that may give the text of a program."""

_MAX_DEPTH = 24
_MAX_BASES = 5
_MAX_HANDED = 4
"""Functions that call each other out of variables, one the next."""

_ENTRY_POINTS = frozenset(
    (
        *(
            "clCreateProgramWithSource",
            "clBuildProgram",
            "clCreateKernel",
            "clSetKernelArg",
            "clCreateBuffer",
        ),
        *("clEnqueueNDRangeKernel", "clEnqueueTask"),
    )
)
_PROGRAM_METHODS = frozenset(
    (
        *("build", "compile", "getInfo", "getBuildInfo", "get_info", "get_build_info"),
        *("__getattr__", "all_kernels"),
    )
)
"""Everything else that is called on a program in Python is a kernel of it."""


class Interpreter(Flow):
    """Runs functions of one project. `launches` fills as they are reached."""

    def start(self, function: Function, this: Value | None = None, *, module: bool = False) -> None:
        """Run a function that nothing calls: its parameters are open, but for their defaults."""
        frame = Frame(function, f"f{self.site}", this, is_module=module)
        self.site += 1
        self.entered.add((function.path, function.row))
        self.frames.append(frame)
        if self.store is None:
            self.store = Store()
        try:
            self._templates(function, ())
            for index, parameter in enumerate(function.parameters):
                if this is not None and index == 0 and parameter.name in ("self", "cls"):
                    frame.names[parameter.name] = self._declare(parameter.name, "")
                    self.put(frame.names[parameter.name], this)
                    continue
                place = self._declare(parameter.name, parameter.type)
                value: Value = RunTime(parameter.name)
                if function.name == "main" and index == 0:
                    value = RunTime(parameter.name, default=1)
                elif parameter.default is not None:
                    value = opened_as(parameter.name, self._default(function, parameter))
                self.put(place, value)
            self.block(function.first)
            self._outermost(function.body)
            if function.name == "main" and self.callbacks:
                self._run_callbacks(frame)
            if len(self.gone) < len(self.generators):
                self._go_on(frame)
            if self.enclosing and function.path.endswith(".py"):
                self._run_inner(frame)
            if self.idle:
                self._ask_idle(frame)
        except (OutOfStepsError, RecursionError):
            pass
        finally:
            self.frames.pop()

    def _outermost(self, body: Block) -> None:
        """Run the statements that a program consists of: no helper ends it before those that follow.

        Where one seems to, such as an option parser of which it looks as if it always threw, it was
        misunderstood, and the way there goes on behind it.
        """
        for at, statement in enumerate(body):
            before = self.store
            if before is None:
                return
            self.statement(statement)
            may_mislead = isinstance(statement, Declare | Evaluate) and not ends_itself(statement)
            if self.store is None and may_mislead and at + 1 < len(body):
                self.store = before

    def _run_callbacks(self, main: Frame) -> None:
        """Run what the event loop of a program calls, after all else and in any order: what one of them
        changes is open in each."""
        self.store = self._at_the_end(main)
        for function, _ in self.callbacks.values():
            self.skip(function, ())
        before = self.store
        for function, data in list(self.callbacks.values()):
            self.store = before.copied() if before is not None else None
            given: list[Value] = [RunTime(it.name) for it in function.parameters]
            if data is not None and given and "*" in function.parameters[-1].type:
                given[-1] = data
            self.call(function, given)

    def _go_on(self, start: Frame) -> None:
        """Run generators that nothing went through: whoever is given them may do so later on."""
        before, after = self.store, self._at_the_end(start)
        for identity in [it for it in self.generators if it not in self.gone]:
            self.store = after.copied() if after is not None else None
            self.gone_through(Generated(self.generators[identity].function.name, identity))
        self.store = before

    def _at_the_end(self, frame: Frame) -> Store | None:
        """Return what holds behind all ways out of a call."""
        end = self.store
        for _, store in reversed(frame.returns):
            end = self.joined(store, end, 1) if end is not None else store
        return end

    def _run_inner(self, start: Frame) -> None:
        """Run functions of Python that stand in others and that nothing called: others may, later on."""
        ends = [store for _, store in start.returns] + ([self.store] if self.store is not None else [])
        self.store = ends[-1] if ends else None
        new = islice(self.lambdas.values(), self.made_ready, None)
        pending = [it for it in new if (it.function.path, it.function.row) not in self.entered]
        for it in pending:
            if it.function.path.endswith(".py"):
                self.reach(it)
                given = self.call(it.function, [RunTime(each.name) for each in it.function.parameters])
                if isinstance(given, Generated):
                    self.gone_through(given)

    def _ask_idle(self, start: Frame) -> None:
        """Let objects launch that were made to do so later on, as plans are that a program keeps."""
        after = self._at_the_end(start)
        for place, owner in list(self.idle.items()):
            for name in sorted(self.project.launchers.get(owner, ())):
                method = self.method(owner, name)
                self.store = after.copied() if after is not None else None
                if method is not None and place in self.idle:
                    given = [self._opened(it) for it in own_parameters(method)]
                    self.call(method, given, this=Pointer(place))
        self.idle.clear()
        self.store = after

    def answer(self, name: str, call: Call, values: list[Value]) -> Value | None:
        """Return what a known function, method or attribute gives; `None` where it is not known."""
        handler = self.handlers.get(name)
        return handler(self, call, values) if handler is not None else None

    def called(self, call: Call) -> Value:
        """Return what a call gives, and do what it does: once in each statement, if asked more often."""
        known = self.frame.calls.get(id(call))
        if known is not None:
            return known[1]
        self.step()
        frame = self.frame
        frame.row = call.row or frame.row
        result = self._called(call)
        frame.calls[id(call)] = call, result  # Held, so that no other call gets its identity.
        return result

    def _called(self, call: Call) -> Value:
        callee = call.function
        name = callee.name if isinstance(callee, (Name, Member)) else ""
        macro = self.project.macro(name, self.path, call.row) if isinstance(callee, Name) else None
        is_opencl = name.startswith("cl") and name in self.handlers  # Profilers put macros of the same name.
        if macro is not None and macro.parameters is not None and not is_opencl and name not in self.painted:
            return self._macro_call(call, macro, name)
        owner: Value | None = None
        if isinstance(callee, Member):
            owner = self.value(callee.base)
            handler = self.handlers.get("." + name + "()")
            if name in _ENTRY_POINTS:  # A table of OpenCL's functions, as loaders fill.
                owner, handler = None, self.handlers[name]
            if is_program(owner) and self.path.endswith(".py") and name not in _PROGRAM_METHODS:
                handler = None
            if handler is not None and self._has_own(callee, owner, name):
                handler = None
        else:
            handler = self.handlers.get(name) or self.handlers.get("new " + name)
            if handler is None and (qualified := self._of_library(call, name)) is not None:
                return self._called(qualified)
        values: list[Value] | None = None
        if handler is not None and not self._is_own(name, callee):
            values = self._given(call)
            listed = [self._listed_by(it) for it in values]
            result = handler(self, call, [owner, *listed] if owner is not None else listed)
            if result is not None:
                return result
        own = self.handlers.get("own " + name)
        if values is None:
            values = self._given(call)
        if own is not None:
            result = own(self, call, values)
            if result is not None:
                return result
        function, this = self._target(call, callee, owner, values)
        if function is not None and self._reaches(function):
            return self._inlined(call, function, values, this)
        if function is not None and (self._is_short(function) or self._reads(function)):
            return self._briefly(call, function, values, this)
        if function is not None:
            self.skip(function, values, call.arguments)
        made = self._object(call, name, values) if not is_program(owner) else None
        if made is not None:  # A kernel may be called as a class is.
            return made
        if len(values) == 1 and name and not self.path.endswith((".py", ".c")) and self.is_owner(name):
            return values[0]
        listed = [self._listed_by(it) for it in values]
        special = self.handlers["unknown"](self, call, [owner or Null(), *listed])
        return special if special is not None else RunTime(call.text or name)

    def _of_library(self, call: Call, name: str) -> Call | None:
        """Return the call of a function that Python took out of a library (`from numpy import int32`) as that
        of an attribute, if that is known."""
        if not self.path.endswith(".py") or self._is_local(name) or self.project.functions(name, self.path):
            return None
        module, own = self.project.library_name(name, self.path) or ("", "")
        if f".{own}()" not in self.handlers:
            return None
        return replace(call, function=Member(Name(module), own))

    def _given(self, call: Call) -> list[Value]:
        """Return what a call is given; `*items` of Python as the items, where they are known."""
        values: list[Value] = []
        for it in call.arguments:
            if isinstance(it, Opaque) and it.text == "**":
                continue
            value = self.value(it)
            is_list = isinstance(it, Opaque) and it.text == "*" and len(it.parts) == 1
            items = self.value(it.parts[0]) if isinstance(it, Opaque) and is_list else None
            values += items.items if isinstance(items, Sizes) else (value,)
        return values

    def skip(self, function: Function, values: Sequence[Value], exprs: Sequence[Expr] = ()) -> None:
        """Open what a function that is not run may write; what it was before is kept as the default."""
        effects = self.project.effects(function)
        parameters = [it for it in function.parameters if it.name not in ("self", "cls")]
        for index, parameter in enumerate(parameters[: len(values)]):
            if parameter.name.lstrip("*") not in effects.parameters:
                continue
            value = values[index]
            if isinstance(value, Pointer):
                self.spend(len(self.store or ()) // PLACES_A_STEP)
                self.open_at(value.place)
            if parameter.is_reference and index < len(exprs):
                place = self.place(exprs[index])
                if place is not None:
                    self.open_at(place)
        names = effects.names | effects.fields
        self.opened |= names
        if not names:
            return
        self.spend(len(self.store or ()) // PLACES_A_STEP)
        written: set[str] = set()
        for place in self.store or ():
            last = name_of(place).rpartition(".")
            if last[2] in (effects.fields if last[1] else effects.names) and (last[1] or place[:2] == "g:"):
                written.add(place)
        self.open_all(written)

    def skip_routine(self, routine: Routine, hops: int = 0, data: Value | None = None) -> None:
        """Open what a function may write that was handed to one that is not known, with data for it."""
        closure = self.lambdas.get(routine.identity)
        if closure is None:
            for function in self.project.functions(routine.name, self.path)[:1]:
                self.skip(function, ())
                if not function.owner and not self.path.endswith(".py"):
                    where = function.path, function.row
                    _, known = self.callbacks.get(where, (function, data))
                    self.callbacks[where] = function, data if known == data else None
            return
        function, frame = closure.function, closure.outer
        for name in sorted(writes(function).names):
            it = frame
            while it is not None and name not in it.names:
                it = it.outer
            if it is not None:
                self.open_at(it.names[name])
            else:
                self._open_from_now_on(name, frame)
        self.skip(function, ())
        self._skip_called(function, frame, hops)

    def _skip_called(self, function: Function, frame: Frame | None, hops: int) -> None:
        """Open what the functions write that a function which was handed on has in variables, and calls."""
        for name in sorted(called_names(function)) if hops < _MAX_HANDED else ():
            it = frame
            while it is not None and name not in it.names:
                it = it.outer
            held = self.store.read(it.names[name]) if it is not None and self.store is not None else None
            if isinstance(held, Routine) and held.identity:
                self.skip_routine(held, hops + 1)

    def _open_from_now_on(self, name: str, frame: Frame | None) -> None:
        """Open the field of an object that a function which was handed on may set whenever it is called."""
        while frame is not None and frame.this is None:
            frame = frame.outer
        if frame is None or not isinstance(frame.this, Pointer) or self.store is None:
            return
        place = f"{frame.this.place}.{name}"
        self.open_at(place)
        self.set_whenever.add(place)

    def _is_short(self, function: Function) -> bool:
        """Tell whether a function that calls no OpenCL is worth running."""
        key = (function.path, function.row)
        return key not in self.project.too_long and weight(function.body, _SHORT) < _SHORT

    def _reads(self, function: Function) -> bool:
        """Tell whether a function reads files, though it comes to no OpenCL, and ends soon."""
        key = (function.path, function.row)
        if key not in self.project.reads:
            below = (function, *self.project.called_below(function))
            self.project.reads[key] = any(_READING & called_names(it) for it in below)
        return self.project.reads[key] and key not in self.project.too_long

    def _reaches(self, function: Function) -> bool:
        """Tell whether OpenCL is called in a function or below it."""
        key = (function.path, function.row)
        if key not in self.project.reaches:
            below = (function, *self.project.called_below(function))
            self.project.reaches[key] = any(
                (name.startswith("cl") and name in self.handlers) or name in _TELLING
                for it in below
                for name in called_names(it)
            )
        return self.project.reaches[key]

    def _briefly(self, call: Call, function: Function, values: list[Value], this: Value | None) -> Value:
        """Run a function that calls no OpenCL; what it may write is opened where that takes too much."""
        before, store = self.limit, self.store
        self.limit = min(before, self.steps + _BRIEF)
        try:
            return self._inlined(call, function, values, this)
        except OutOfStepsError:
            if self.steps > before or self.project.budget.steps < 0:
                raise
            self.project.too_long.add((function.path, function.row))
            self.store = self.store if self.store is not None else store
            self.skip(function, values, call.arguments)
            return RunTime(call.text or f"{function.name}(…)")
        finally:
            self.limit = before

    def _is_own(self, name: str, callee: Expr) -> bool:
        """Tell whether a function or class is the project's own although it has the name of a known one."""
        if not isinstance(callee, Name):
            return False
        owner = self.frame.function.owner if not self.path.endswith(".py") and not callee.scope else ""
        if owner and self.method(owner, name) is not None:
            return True
        is_class = "new " + name in self.handlers and not self.path.endswith(".py")
        return name in self.frame.names or (is_class and self.project.has_own(name, callee.scope, self.path))

    def _macro_call(self, call: Call, macro: Macro, name: str) -> Value:
        if self.macro_depth > MAX_MACRO_DEPTH:
            return RunTime(call.text)
        if self.macro_depth >= COUNTED_FROM:
            self.step(_STEPS_OF_A_MACRO)
        expansion = self.project.expansion(macro, call, self.path)
        if expansion is None:
            for it in call.arguments:
                self.value(it)
            return RunTime(call.text)
        # A macro's own name in its body stays as it is; in arguments (`MIN(MIN(a, b), c)`) it does not.
        paints = re.search(rf"\b{re.escape(name)}\b", macro.body) is not None
        self.macro_depth += 1
        if paints:
            self.painted.add(name)
        try:
            if expansion.expression is not None:
                return self.value(expansion.expression)
            self._nested(expansion.statements)
            return RunTime(call.text)
        finally:
            self.macro_depth -= 1
            if paints:
                self.painted.discard(name)

    def _nested(self, statements: Block) -> None:
        """Run statements that stand in an expression, whose calls are known once it is done."""
        known = dict(self.frame.calls)
        self.block(statements)
        self.frame.calls.update(known)

    def _has_own(self, callee: Member, owner: Value | None, name: str) -> bool:
        """Tell whether an object of one of the project's classes has a method of a known name itself."""
        if is_handle(owner) or self.path.endswith(".py"):
            return False
        place = owner.place if isinstance(owner, Pointer) else self.place(callee.base)
        cls = self.objects.get(place) or self._class_of(place) if place is not None else ""
        return bool(cls) and self.method(cls or "", name) is not None

    def _target(
        self, call: Call, callee: Expr, owner: Value | None, values: Sequence[Value]
    ) -> tuple[Function | None, Value | None]:
        """Return the project's function that is called, and the object that it is called for."""
        held_at = self._object_called(callee)
        if held_at is not None:
            operators = self.project.functions(CALL_OPERATOR, self.path, self.objects[held_at])
            return self.overload(operators, values), Pointer(held_at)
        match callee:
            case Name():
                return self._target_of_name(call, callee, values)
            case Member(_, name):
                if isinstance(owner, Pointer):
                    cls = self.objects.get(owner.place) or self._class_of(owner.place)
                    if cls:
                        method = self.overload(self.project.functions(name, self.path, cls), values)
                        method = method or self.method(cls, name)
                        if method is None or not method.is_property:
                            return method, owner
                base = callee.base
                if isinstance(base, Call) and base.function == Name("super"):
                    return self._of_base(name), self.frame.this
                held = self.value(callee)
                if isinstance(held, Routine):
                    return self._held(held, values)
                if isinstance(owner, (Null, RunTime)):
                    declared = self.place(callee.base)
                    cls = self._class_of(declared) if declared is not None else ""
                    if not cls and isinstance(callee.base, Call):
                        cls = self._class_given(callee.base)
                    if cls and not self.path.endswith(".py"):  # A pointer to an object that nobody made here.
                        method = self.overload(self.project.functions(name, self.path, cls), values)
                        return method or self.method(cls, name), Pointer(f"o:{cls}#")
                    if isinstance(owner, Null):
                        return None, None
                    # A kernel may be called as the method is that launches it.
                    running = self.frame.function
                    methods = [
                        it for it in self.project.functions(name, self.path) if it.owner and it is not running
                    ]
                    owners = {it.owner for it in methods}
                    if len(owners) == 1:
                        this = Pointer(f"o:{next(iter(owners))}#")
                        return self.overload(methods, values), this
                return None, None
            case _:
                held = self.value(callee)
                return self._held(held, values) if isinstance(held, Routine) else (None, None)

    def _target_of_name(
        self, call: Call, callee: Name, values: Sequence[Value]
    ) -> tuple[Function | None, Value | None]:
        """Return what `_target` does for a function that is called by its name alone."""
        name = callee.name
        is_hidden = not callee.scope and self._is_local(name)
        held = self.named(name) if is_hidden else None
        if isinstance(held, Routine):
            return self._held(held, values)
        if isinstance(held, Pointer) and held.place in self.objects:
            return self.method(self.objects[held.place], "__call__"), held
        if is_hidden and (is_handle(held) or self.types.get(self.frame.names.get(name, ""))):
            return None, None  # A variable hides functions of its name.
        named = self._static_method(callee, values)
        if named is not None:
            return named, None
        own = self.frame.this
        is_global = self._is_of_namespace(callee.scope) or self.path.endswith(".py")
        of_base = self._named_base(callee, values) if own is not None and callee.scope else None
        if of_base is not None:
            return of_base, own
        if own is not None and self.frame.function.owner and not is_global:
            overriding = self._overriding(own, callee)
            if overriding is not None:
                return overriding, own
            method = self.overload(
                self.project.functions(name, self.path, self.frame.function.owner), values
            ) or self.method(self.frame.function.owner, name)
            if method is not None:
                return method, own
        of_namespace = self._of_namespace(callee)
        functions = of_namespace or self.project.functions(name, self.path, "")
        if not functions and self.path.endswith(".py") and isinstance(it := self.named(name), Routine):
            return self._held(it, values)  # Another name of it: `solve = solve_on_device`.
        among = self._specialised(functions, call.template)
        return self.overload(among, values, () if self._expands(call) else call.arguments), None

    def _expands(self, call: Call) -> bool:
        """Tell whether arguments stand for more than one each."""
        return any(isinstance(it, Opaque) and it.text in ("*", "**") for it in call.arguments)

    def _overriding(self, own: Value, callee: Name) -> Function | None:
        """Return the method of a derived class that a method of its base calls, if that is virtual."""
        made = self.objects.get(own.place) if isinstance(own, Pointer) else None
        running = self.frame.function.owner
        if made is None or made == running or callee.scope or not self._is_base(running, made, 0):
            return None
        is_virtual = any(self.project.is_virtual(it, callee.name, self.path) for it in (running, made))
        return self.method(made, callee.name) if is_virtual else None

    def _specialised(self, functions: Sequence[Function], given: Sequence[str]) -> Sequence[Function]:
        """Return the functions that are written for some template arguments, else those for any."""
        if not any(it.specialised for it in functions):
            return functions
        wanted = tuple(text_of(self.value(self.project.expression(it))) for it in given)
        same = [
            it
            for it in functions
            if it.specialised
            and tuple(text_of(self.value(self.project.expression(each))) for each in it.specialised) == wanted
        ]
        return same or [it for it in functions if not it.specialised] or functions

    def _static_method(self, callee: Name, values: Sequence[Value]) -> Function | None:
        """Return the method that `Class::method` names; of a base class it is called for the own object."""
        running = self.frame.function.owner
        if not callee.scope or callee.scope == OUTERMOST or self.path.endswith(".py"):
            return None
        cls = self.project.class_named(callee.scope, self.path)
        if cls is None or cls.name == running or (running and self._is_base(cls.name, running, 0)):
            return None
        return self.overload(self.project.functions(callee.name, self.path, cls.name), values)

    def _named_base(self, callee: Name, values: Sequence[Value]) -> Function | None:
        """Return the method of a base class that a method calls as `Base::method`: none that overrides it."""
        running = self.frame.function.owner
        cls = self.project.class_named(callee.scope, self.path) if running else None
        if cls is None or not self._is_base(cls.name, running, 0):
            return None
        found = self.overload(self.project.functions(callee.name, self.path, cls.name), values)
        return found or self.method(cls.name, callee.name)

    def _is_base(self, name: str, of: str, depth: int) -> bool:
        cls = self.project.class_named(of, self.path) if depth < _MAX_BASES else None
        return cls is not None and any(it == name or self._is_base(name, it, depth + 1) for it in cls.bases)

    def _is_of_namespace(self, scope: str) -> bool:
        """Tell whether a function is qualified with what is no class: methods of its name are not meant."""
        return scope == OUTERMOST or (bool(scope) and self.project.class_named(scope, self.path) is None)

    def _of_namespace(self, callee: Name) -> list[Function]:
        """Return the functions of C++ in the namespace that a call names, or that it stands in."""
        around = self.frame.function.namespace
        namespace = callee.scope or around
        if not namespace or namespace in (OUTERMOST, "std"):
            return []
        return self.project.functions_in(namespace, callee.name, self.path, around)

    def _class_given(self, call: Call) -> str:
        """Return the class whose objects a call gives, as the functions of its name say."""
        called = call.function
        if not isinstance(called, (Name, Member)) or self.path.endswith(".py"):
            return ""
        results = {it.result for it in self.project.functions(called.name, self.path)}
        result = results.pop() if len(results) == 1 else ""
        return result if result and self.project.class_named(result, self.path) is not None else ""

    def _object_called(self, callee: Expr) -> str | None:
        """Return where the object is whose `operator()` of C++ is called."""
        if self.path.endswith((".py", ".c")) or not isinstance(callee, (Name, Member, Dereference)):
            return None
        place = self.place(callee)
        held = self.store.get(place) if self.store is not None and place is not None else None
        place = held.place if isinstance(held, Pointer) else place
        cls = self.objects.get(place) if place is not None else None
        is_called = cls is not None and self.project.functions(CALL_OPERATOR, self.path, cls)
        return place if is_called else None

    def _of_base(self, name: str) -> Function | None:
        """Return the method that `super()` of Python gives."""
        cls = self.project.class_named(self.frame.function.owner, self.path)
        found = (self.method(it, name) for it in (cls.bases if cls is not None else ()))
        return next((it for it in found if it is not None), None)

    def asked(self, function: Routine, values: list[Value]) -> Value:
        """Return what a function gives that host code hands to a library, such as a condition."""
        found, this = self._held(function, values)
        return self.call(found, values, this=this) if found is not None else RunTime(f"{function.name}(…)")

    def _held(self, held: Routine, values: Sequence[Value]) -> tuple[Function | None, Value | None]:
        closure = self.lambdas.get(held.identity)
        if closure is not None:
            self.reach(closure)
            return closure.function, None
        if held.owner:
            return self.method(held.owner, held.name), held.this
        return self.overload(self.project.functions(held.name, self.path), values), held.this

    def _object(self, call: Call, name: str, values: list[Value]) -> Value | None:
        """Return a new object where a class of the project is called."""
        if isinstance(call.function, Name) and call.function.scope == "std":
            return None
        held = self.named(name) if self._is_local(name) else None
        return self.made(held.name if isinstance(held, Routine) else name, call, values)

    def made(self, wanted: str, call: Call, values: list[Value]) -> Value | None:
        """Return a new object of a class of the project; `None` where there is none of that name."""
        name, _, given = wanted.partition("<")
        cls = self.project.class_named(name.strip(), self.path) if wanted else None
        if cls is None:
            return None
        place = self.fresh("n", call)
        self.calling = call.row, call.text
        self.give_types(
            place, cls, [it.strip() for it in given.rstrip("> ").split(",")] if given else call.template
        )
        self.construct(place, cls, values, call.arguments, call.keywords)
        return Pointer(place)

    def _inlined(self, call: Call, function: Function, values: list[Value], this: Value | None) -> Value:
        self.calling = call.row, call.text
        result = self.call(function, values, call.arguments, this, call.keywords, call.template)
        is_distorted = function.is_wrapped or (function.path, function.row) in self.distorted
        if is_distorted and isinstance(result, (Number, Sizes, Text)):
            result = RunTime(call.text)
        if "kernel" in function.name.lower() and self._is_any_kernel(result):
            result = self.answer("kernel by name", call, values) or result
        given = self.handlers["given file"](self, call, values)
        if (
            given is not None
            and isinstance(result, Pointer)
            and is_program(result)
            and self.store is not None
        ):
            source = self.store.get(result.place + ".source")
            if not isinstance(source, Text) or source.plain is not None or _says_nothing(source):
                self.put(result.place + ".source", given)
            return result
        if given is not None and isinstance(result, Alternatives):  # A string, or NULL where it failed.
            result = next((it for it in result.values if not isinstance(it, Null)), result)
        # Numbers for what went wrong, and 0.
        is_code = isinstance(result, RunTime) and (function.path, function.row) in self.counting
        if (
            given is not None
            and not is_code
            and isinstance(result, (RunTime, Null, Pointer, Text))
            and not (isinstance(result, Pointer) and not self._is_text(result))
        ):
            known = self.text(result)
            return given if known is None or not known.parts or known.plain is None else result
        return result

    def _is_any_kernel(self, value: Value) -> bool:
        """Tell what may be a kernel, but which one it is nobody knows."""
        if isinstance(value, Alternatives):
            return all(map(self._is_any_kernel, value.values))
        if not is_kernel(value) or not isinstance(value, Pointer):
            return isinstance(value, (RunTime, Null))
        name = self.known.get(f"{value.place}.name")
        return not isinstance(name, Text) or name.plain is None

    def _is_text(self, value: Pointer) -> bool:
        type_name = self.types.get(value.place, "")
        return "char" in type_name or not (type_name or is_handle(value) or value.place in self.objects)

    def call(
        self,
        function: Function,
        values: Sequence[Value],
        exprs: Sequence[Expr] = (),
        this: Value | None = None,
        keywords: Mapping[str, Expr] | None = None,
        templates: Sequence[str] = (),
    ) -> Value:
        """Run one of the project's functions."""
        same = [it for it in self.frames if it.function is function]
        # A function that hands on all of a pack but the first comes to an end.
        running = 0 if _has_pack(function) and same and len(values) < same[-1].given else len(same)
        if len(self.frames) > _MAX_DEPTH or running > 1 or self.store is None:
            self.skip(function, values, exprs)
            return RunTime(f"{function.name}(…)")
        if running:
            parameters = [it.name for it in function.parameters if it.name not in ("self", "cls")]
            values = [
                _opened_argument(name, it)
                for name, it in zip_longest(parameters[: len(values)], values, fillvalue="")
            ]
        if self.idle and isinstance(this, Pointer):
            is_asked = function.name in self.project.launchers.get(function.owner, ())
            self.idle.pop(this.place if is_asked else "", None)
        outer = self.enclosing.get(id(function))
        for name in function.globals if outer is None else ():
            for it in self.frames:  # What `nonlocal` means stands in one of the calls that run.
                if name in it.names and not it.is_module:
                    self.open_at(it.names[name], keeps_default=False)
        self.spend(self.project.budget.work_of_a_call())
        frame = Frame(function, f"f{self.site}", this, outer=outer, given=len(values), called=self.calling)
        self.site += 1
        self._take_rest(function, values, frame)
        given = self._bound(function, values, exprs, this, keywords or {}, frame)
        braces = {it.name: expr for it, expr in zip(function.parameters, exprs, strict=False)}
        shown = [self.value(self.project.expression(it)) for it in templates[: len(function.templates)]]
        deduced = [self._deduced(it, function, exprs) for it in function.templates] if not shown else ()
        self.frames.append(frame)
        blocks, self.blocks = self.blocks, []
        try:
            self._templates(function, shown or deduced)
            self._class_types(this)
            for parameter, value, place in given:
                if place is not None:
                    frame.names[parameter.name] = place
                else:
                    self._give(parameter, value, braces.get(parameter.name))
        finally:
            self.frames.pop()
            self.blocks = blocks
        if function.is_generator:
            identity = len(self.generators) + 1
            self.generators[identity] = frame
            return Generated(function.name, identity)
        self.run_body(frame)
        return self._returned(function, frame)

    def run_body(self, frame: Frame) -> None:
        """Run the statements of a call whose parameters have their values."""
        function = frame.function
        self.entered.add((function.path, function.row))
        self.frames.append(frame)
        loops, self.loops = self.loops, []
        blocks, self.blocks = self.blocks, []
        try:
            self.block(function.first)
            self.block(function.body)
        finally:
            self.frames.pop()
            self.loops = loops
            self.blocks = blocks

    def _default(self, function: Function, parameter: Parameter) -> Value:
        """Return what a parameter is without an argument: in Python, what that was at its definition."""
        known = self.defaults.get((function.path, function.row), {}).get(parameter.name)
        if known is not None:
            return known
        return self.value(parameter.default) if parameter.default is not None else RunTime(parameter.name)

    def _give(self, parameter: Parameter, value: Value | None, braces: Expr | None) -> None:
        """Put what a call gives a parameter, or what it is without, into a variable of its own."""
        own = self._declare(parameter.name, parameter.type)
        if self._listed(own, parameter, value, braces):
            return
        held = value
        if held is None:
            held = self._default(self.frame.function, parameter)
        if not parameter.is_reference and self.copied_list(own, held):
            return
        if "*" not in parameter.type:
            held = converted(self._resolved(parameter.type), held)
        if self.store is not None:
            is_object = isinstance(held, Pointer) and held.place in self.objects
            if is_object and "*" not in parameter.type and self._copied(own, held):
                return
            self.store[own] = held
            if isinstance(held, Pointer) and is_object:
                self.objects[own] = self.objects[held.place]

    def _listed(self, place: str, parameter: Parameter, value: Value | None, given: Expr | None) -> bool:
        """Make the object that braces give a parameter of C++ of a class, as in `run({w, h})`."""
        if not (isinstance(given, Items) and isinstance(value, Sizes)) or "*" in parameter.type:
            return False
        cls = self.project.class_named(self._resolved(parameter.type.replace("&", "")), self.path)
        if cls is None or len(value.items) != len(given.items):
            return False
        self.construct(place, cls, list(value.items), given.items)
        return True

    def _take_rest(self, function: Function, values: Sequence[Value], frame: Frame) -> None:
        """Hand over what C's `...` takes; what a function does not go through, it may keep."""
        if function.path.endswith(".py") or _has_pack(function):
            return
        frame.rest = tuple(values[len(function.parameters) :])
        for extra in frame.rest if "va_start" not in called_names(function) else ():
            if isinstance(extra, Pointer) and not is_handle(extra):
                self.open_at(extra.place)

    def _class_types(self, this: Value | None) -> None:
        """Declare what stands for the template parameters of an object's class."""
        given = self.given_types.get(this.place, {}) if isinstance(this, Pointer) else {}
        for name, value in given.items():
            place = self._declare(name, "")
            if self.store is not None:
                self.store[place] = value

    def _deduced(self, name: str, function: Function, exprs: Sequence[Expr]) -> Value:
        """Return the type that arguments give a template parameter, as far as variables are declared."""
        for parameter, expr in zip(function.parameters, exprs, strict=False):
            if parameter.type.removeprefix("const ").rstrip("*& ") != name:
                continue
            place = self.place(expr) if isinstance(expr, (Name, Member)) else None
            declared = self._resolved(self.types.get(place, "").rstrip("*") if place is not None else "")
            if size_of(declared) is not None:
                return RunTime(declared)
        return RunTime(name)

    def _templates(self, function: Function, given: Sequence[Value]) -> None:
        """Declare a function's template parameters, open but for those that were given."""
        for index, name in enumerate(function.templates):
            place = self._declare(name, "")
            if self.store is not None:  # Types keep their own name.
                self.store[place] = given[index] if index < len(given) else RunTime(name)

    def _bound(
        self,
        function: Function,
        values: Sequence[Value],
        exprs: Sequence[Expr],
        this: Value | None,
        keywords: Mapping[str, Expr],
        frame: Frame,
    ) -> Iterator[tuple[Parameter, Value | None, str | None]]:
        parameters = list(function.parameters)
        result: list[tuple[Parameter, Value | None, str | None]] = []
        is_method = bool(function.owner) and function.path.endswith(".py")
        if is_method and parameters and parameters[0].name in ("self", "cls"):
            result.append((parameters.pop(0), this, None))
        for index, parameter in enumerate(parameters):
            if parameter.name.startswith("**"):
                continue
            if parameter.name.startswith("*"):
                result.append(
                    (replace(parameter, name=parameter.name[1:]), Sizes(tuple(values[index:])), None)
                )
                break
            if index < len(values):
                place = None
                if parameter.is_reference and index < len(exprs):
                    place = self.place(exprs[index])
                    if place is not None and self.store is not None and place not in self.store:
                        place = place if place in self.types else None
                result.append((parameter, values[index], place))
            elif parameter.name in keywords:
                result.append((parameter, self.value(keywords[parameter.name]), None))
            else:
                result.append((parameter, None, None))
        return iter(result)

    def _returned(self, function: Function, frame: Frame) -> Value:
        ends: list[tuple[Value, Store]] = list(frame.returns)
        if self.store is not None:
            ends.append((Null(), self.store))
        if not ends:
            self.store = None
            return RunTime(f"{function.name}(…)")
        if any(isinstance(it, Number) for it, _ in frame.returns):
            self.counting.add((function.path, function.row))
        own = f"{frame.scope}#"
        ends = [
            (RunTime(f"{function.name}(…)"), it)
            if isinstance(value, Pointer) and value.place.startswith(own) and value.place in self.arrays
            else (value, it)
            for value, it in ends
        ]  # Memory of one turn of a loop, which stands for that of all.
        value, store = ends[0]
        for other, following in ends[1:]:
            value = join_values(f"#{function.name}(…)", (value, other)) if other != value else value
            # The last way out is where nothing went wrong.
            merged = self.joined(store, following, 1)
            if merged is not None:
                store = merged
        self.store = store
        return self._shown_outside(value, frame)

    def _shown_outside(self, value: Value, inner: Frame) -> Value:
        """Return what a function gives in words that mean something where it was called."""
        if isinstance(value, Sizes):
            items = tuple(self._shown_outside(it, inner) for it in value.items)
            return value if items == value.items else Sizes(items)
        if not isinstance(value, RunTime) or not inner.called[1] or not self.frames:
            return value
        if value.text == f"{inner.function.name}(…)":  # One of several things: what was asked says more.
            return replace(value, text=inner.called[1], opaque=True)
        if not value.text.isidentifier() or value.text not in inner.names or value.text in self.frame.names:
            return value
        return replace(value, text=inner.called[1], opaque=False)


def _has_pack(function: Function) -> bool:
    """Tell whether the last parameter takes all the arguments that are left."""
    return bool(function.parameters) and function.parameters[-1].name.startswith("*")


def _says_nothing(text: Text) -> bool:
    """Tell whether all of a string depends on the run."""
    return not any(isinstance(it, (str, FileText)) for it in text.parts)


def _opened_argument(name: str, value: Value | str) -> Value:
    """Return an argument of a call of a function by itself: another number in each."""
    if isinstance(value, str):
        return RunTime(value)
    return RunTime(name) if isinstance(value, (Number, RunTime)) else value
