"""Which functions of host code are run, and in which order, to come to its launches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from clmap_lsp.hosts import by_name
from clmap_lsp.hosts.by_name import users_in
from clmap_lsp.hosts.fields_of_classes import kept_for
from clmap_lsp.hosts.interpreter import Interpreter, OutOfStepsError, Raised
from clmap_lsp.hosts.library_calls import LIBRARY
from clmap_lsp.hosts.map_calls import MAPS
from clmap_lsp.hosts.opencl_calls import OPENCL, own_wrapper
from clmap_lsp.hosts.option_calls import OPTIONS
from clmap_lsp.hosts.project import CALL_OPERATOR, HostProject, distance
from clmap_lsp.hosts.raised_launches import field_of, launches_raised, program_field_of
from clmap_lsp.hosts.store import Store
from clmap_lsp.hosts.template_calls import TEMPLATES
from clmap_lsp.hosts.tree import Class, Function, Initialise, Module
from clmap_lsp.hosts.tuner_calls import TUNERS
from clmap_lsp.hosts.values import Number, Pointer, RunTime, Text, Value, default_of
from clmap_lsp.hosts.walking import called_names, mentions, rows_of, written_names

_LAUNCHING = frozenset(
    (
        *("clEnqueueNDRangeKernel", "clEnqueueTask", "enqueueNDRangeKernel", "EnqueueArgs", "enqueueTask"),
        *("KernelFunctor", "AddKernelDefinitionFromFile", "AddKernelDefinition", "MulLocalSize"),
        *("enqueue_nd_range_kernel", "enqueue_1d_range_kernel", "enqueue_task"),
    )
)
_MAKING = frozenset(("clCreateKernel", "Kernel", "createKernel", "create_kernel", "getKernel", "make_kernel"))
_MAKING_PROGRAMS = frozenset(
    ("clCreateProgramWithSource", "clBuildProgram", "Program", "build", "build_with_source", "createProgram")
)
_KERNEL_TYPES = frozenset(("cl_kernel", "Kernel"))
_WORDS = re.compile(r"[A-Za-z_]\w*")
_MAX_STARTS = 2_000
"""Functions that are run for one project; what running them costs is bounded by the budget of steps."""
_MAX_CALLERS = 4_000
"""Functions that are looked at for who calls those that launch."""
_MAX_USERS = 200
"""Functions of Python that are looked at for who calls those that launch."""
_TESTS = re.compile(r"/(?:unit_?)?tests?/")
"""Folders of programs that try a part of another one with sizes of their own."""
_READIES = re.compile(
    r"_*(?:on)?_?(?:init(?!_*$)|set_?up|create|build|load|prepare|compile|make|start)", re.IGNORECASE
)
"""Names of methods that make an object ready; its constructor is none of them."""
_MAX_MAKERS = 4
"""Functions that are run for the objects of a class that they make."""


class Runs:
    """Which functions are run, and in which order."""

    def __init__(self, project: HostProject) -> None:
        self.project = project
        self.handlers = {**MAPS, **LIBRARY, **TEMPLATES, **OPTIONS, **OPENCL, **TUNERS}
        for name, roles in project.wrappers.items():
            self.handlers["own " + name] = own_wrapper(name, dict(roles))
        self.entered: set[tuple[str, int]] = set()
        self.raised: list[Raised] = []
        self.sized: set[tuple[str, int]] = set()
        self.reached: set[tuple[str, int]] = set()
        """Where launches stand that a run came to."""
        self.starts = 0
        self.is_spent = False
        self.covered: set[str] = set()
        self.launching: dict[str, frozenset[str]] = {}
        self.made: set[str] = set()
        """Classes of which what makes objects was run."""
        self.sought: set[tuple[str, str, frozenset[str]]] = set()
        """Fields of which what makes things of their kind was run, whatever class they are of."""
        self.users: dict[tuple[str, int], Function] = {}
        """What calls Python's functions that launch, of those that were looked at so far."""
        self.wholes: dict[str, Function] = {}
        self.modules: dict[str, Interpreter] = {}
        """What modules of Python leave behind, as it is when a function of theirs is run apart."""

    def run(self, files: Iterable[str]) -> None:
        """Run what launches in some files: programs from `main`, then what no `main` reached."""
        new = [it for it in dict.fromkeys(files) if it not in self.covered]
        self.covered.update(new)
        wanted = self._launching(new)
        for function in wanted:
            if function.owner and function.path.endswith(".py") and self._calls(function) & _LAUNCHING:
                self.project.launchers.setdefault(function.owner, set()).add(function.name)
        reaching = self._callers(wanted)
        budget = self.project.budget
        with budget.half_of_steps():
            self._run_new(_programs(reaching, new))
        with budget.half_of_steps():
            self._run_outermost(new, reaching)
        for function in wanted:
            if self._is_given_its_kernel(function):  # What calls it says which, and how large.
                self._run_with_callers(function)
            if not self._is_covered(function):
                self._run(function)
        for function in (it for it in reaching if it.name == CALL_OPERATOR):
            self._run_for_objects(function)
        self._run_users()
        self._make_kernels()
        self._make_programs()

    def _is_given_its_kernel(self, function: Function) -> bool:
        """Tell whether a function of C or C++ that launches has a kernel among its parameters."""
        types = {it.type.rstrip("*& ") for it in function.parameters}
        return not function.path.endswith(".py") and not types.isdisjoint(_KERNEL_TYPES)

    def _run_outermost(self, new: Sequence[str], reaching: Sequence[Function]) -> None:
        """Run modules of Python, and what nothing calls that comes to a launch."""
        for path in dict.fromkeys(it.path for it in reaching if it.path.endswith(".py")):
            self._module(path)
        for path in new:
            if path.endswith(".py"):
                self._module(path)
        called = {name for it in reaching for name in self._calls(it)}
        self._run_new(it for it in reaching if it.name not in called)

    def _run_new(self, functions: Iterable[Function]) -> None:
        for function in functions:
            if (function.path, function.row) not in self.entered:
                self._run(function)

    def _is_covered(self, function: Function) -> bool:
        """Tell whether a function was run to each of its launches: a run may end before it comes there."""
        if (function.path, function.row) not in self.entered:
            return False
        names = self._names(function.path) - self.project.library_launchers(function.path)
        return function.path.endswith(".py") or all(
            (function.path, row) in self.reached for row in rows_of(function, names)
        )

    def _make_kernels(self) -> None:
        """Run what makes the kernels that launches take out of fields which no run filled before them."""
        taken = {
            (it, raised.path if raised.owner else "", raised.owner): raised
            for raised in reversed(self.raised)
            if (it := field_of(raised)) is not None
        }
        for (name, _, owner), raised in sorted(taken.items(), key=lambda it: it[0]):
            if not kept_for(self.project, raised, name) and self._may_start():
                self._run_what_makes(name, raised.path, _MAKING, owner)

    def _make_programs(self) -> None:
        """Run what makes the programs that kernels are taken out of, where no run did before them."""
        fields = {it: raised.path for raised in self.raised if (it := program_field_of(self.project, raised))}
        for name, near in sorted(fields.items()):
            if name in self.project.programs_in_fields or not self._may_start():
                continue
            self._run_what_makes(name, near, _MAKING_PROGRAMS)

    def _run_what_makes(self, name: str, near: str, calls: frozenset[str], owner: str = "") -> None:
        """Run what mentions a field and calls what makes things of its kind, or fills it in its class."""
        owners = frozenset(self.project.with_bases(owner, near)) | {owner} - {""}
        is_new = (name, near, calls) not in self.sought
        self.sought.add((name, near, calls))
        for module in self._modules(name, near):
            own = by_name.methods_of.numbers(module, owners)
            filling = {it for it in own if name in written_names(module.functions[it])}
            others = by_name.mentioning.numbers(module, (name,)) - filling if is_new else set()
            making = {it for it in others if calls & self._calls(module.functions[it])}
            for it in by_name.in_order(module, filling | making):
                self._run_with_callers(it)

    def _run_users(self) -> None:
        """Run what calls Python's functions that launch, in files which do not speak of OpenCL themselves."""
        places = {(it.path, it.row) for it in self.raised if it.path.endswith(".py")}
        launching = (self._function_at(*place) for place in sorted(places))
        new = {(it.path, it.row): it for it in launching if it is not None}
        new = {place: it for place, it in new.items() if place not in self.users}
        rest = list(new.values())
        while rest and len(new) < _MAX_USERS:
            function = rest.pop(0)
            for it in self._users(function):
                place = it.path, it.row
                if place not in new and place not in self.users:
                    new[place] = it
                    rest.append(it)
        self.users |= new
        for it in reversed(new.values()):  # The outermost first: it comes to the others.
            if (it.path, it.row) not in self.entered:
                self._run(it) if it.row else self._module(it.path)

    def _function_at(self, path: str, row: int) -> Function | None:
        """Return the function of Python in which a row stands."""
        file = self.project.file(path)
        before = [it for it in (file.module.functions if file is not None else ()) if it.row <= row]
        return max(before, key=lambda it: it.row, default=None)

    def _users(self, function: Function) -> Iterator[Function]:
        """Yield what calls a function of Python, modules too; tests only where nothing else does."""
        name = function.owner if function.name == "__init__" else function.name
        found: list[Function] = []
        for path in self.project.candidates(name, function.path):
            file = self.project.file(path)
            if file is not None and function.owner in (self.project.text(path) or ""):
                functions = (*file.module.functions, self._whole(path, file.module))
                found += [it for it in functions if name in self._calls(it)]
        yield from [it for it in found if not _TESTS.search(it.path)] or found

    def _whole(self, path: str, module: Module) -> Function:
        """Return what a module of Python runs when it is loaded, always the same: what it calls is kept."""
        if path not in self.wholes:
            self.wholes[path] = Function("<module>", "", (), module.globals, path, 0)
        return self.wholes[path]

    def _run_with_callers(self, function: Function) -> None:
        """Run a function by way of what calls it, which may say the file and the name of a kernel."""
        if (function.path, function.row) in self.entered:
            return
        for it in reversed(self._callers([function])):  # The outermost first: it comes to the others.
            if (it.path, it.row) not in self.entered and self._may_start():
                self._run(it)

    def _may_start(self) -> bool:
        self.is_spent = self.is_spent or self.starts >= _MAX_STARTS
        return self.starts < _MAX_STARTS

    def _names(self, path: str) -> frozenset[str]:
        """Return the names of functions that launch, and of the macros of a file that do."""
        if path not in self.launching:
            file = self.project.file(path)
            macros = file.macros.values() if file is not None else ()
            names = set(_LAUNCHING | self.project.wrappers.keys() | self.project.library_launchers(path))
            for _ in range(3):  # Macros that use others.
                names |= {it.name for it in macros if it.parameters and names & set(_WORDS.findall(it.body))}
            self.launching[path] = frozenset(names)
        return self.launching[path]

    def _launching(self, files: Sequence[str]) -> list[Function]:
        """Return the functions that launch by themselves."""
        result = []
        for path in files:
            file = self.project.file(path)
            for function in file.module.functions if file is not None else ():
                if path.endswith(".py") or rows_of(function, self._names(path)):
                    result.append(function)
        return result

    def _callers(self, functions: list[Function]) -> list[Function]:
        """Return functions, and all that call them."""
        result = {(it.path, it.row): it for it in functions}
        rest = list(functions)
        while rest and len(result) < _MAX_CALLERS:
            function = rest.pop()
            if function.name == "main" or function.path.endswith(".py"):
                continue
            for it in self._using(function):
                if (it.path, it.row) not in result:
                    result[it.path, it.row] = it
                    rest.append(it)
        return list(result.values())

    def _using(self, function: Function) -> Iterator[Function]:
        """Yield what calls a function, or hands it on, of the files that its name stands in."""
        names = self.project.called_as(function)
        for name in sorted(names):
            for path in self.project.candidates(name, function.path):
                file = self.project.file(path)
                if file is not None:
                    yield from users_in(file.module, names, function.name)

    def _calls(self, function: Function) -> frozenset[str]:
        return called_names(function)

    def _interpreter(self) -> Interpreter:
        self.starts += 1
        return Interpreter(self.project, self.handlers)

    def _run(self, function: Function) -> None:
        if not self._may_start():
            return
        this = Pointer(f"o:{function.owner}#") if function.owner else None
        if function.path.endswith(".py"):
            self.starts += 1
            try:
                interpreter = self._loaded(function.path).branched()
            except OutOfStepsError:
                return
        else:
            interpreter = self._interpreter()
        if this is not None:
            self._made(interpreter, function, this)
        interpreter.start(function, this)
        self._keep(interpreter)

    def _run_for_objects(self, function: Function) -> None:
        """Run what calling an object does, for objects that were made and whose calls no run came to."""
        known = {it.kernel for raised in self.raised for it in launches_raised(self.project, raised)}
        this = Pointer(f"o:{function.owner}#")
        for given in list(self.project.constructed.get(function.owner, ())):
            names = {it.plain for it in given if isinstance(it, Text)}
            if names and not names & known and self._may_start():
                interpreter = self._interpreter()
                self._made(interpreter, function, this, [given])
                interpreter.start(function, this)
                self._keep(interpreter)

    def _loaded(self, path: str) -> Interpreter:
        """Return what a module of Python leaves behind: it is run once, not for each of its functions."""
        known = self.modules.get(path)
        if known is not None:
            return known
        interpreter = Interpreter(self.project, self.handlers)
        self._start_module(interpreter, path)
        interpreter.forget_runs()
        self._open_globals(interpreter, path)
        if self.project.budget.steps >= 0:  # Else it was cut short, and the next question may pay for more.
            self.modules[path] = interpreter
        return interpreter

    def _open_globals(self, interpreter: Interpreter, path: str) -> None:
        """Open what functions of a module of Python change outside of them: they may have run before."""
        file = self.project.file(path)
        names = {it for each in (file.module.functions if file else ()) for it in each.globals}
        interpreter.open_all({f"g:{path}#{name}" for name in names})

    def _made(
        self,
        interpreter: Interpreter,
        function: Function,
        this: Pointer,
        given: Sequence[Sequence[Value]] | None = None,
    ) -> None:
        """Make the object that a method is run for; what its constructor sets may be changed before."""
        cls = self.project.class_named(function.owner, function.path)
        if cls is None:
            return
        self._run_makers(cls, function.path)
        nothing = Function("", function.owner, (), (), function.path, 0)
        interpreter.start(nothing, this)
        makers = [
            it
            for it in (
                *self.project.functions(cls.name, function.path, cls.name),
                *self.project.functions("__init__", function.path, cls.name),
            )
            if it.row != function.row
        ]
        if given is None:
            same = self.project.made.get(cls.name) if not function.path.endswith(".py") else None
            given = [same] if same is not None else ()
        interpreter.make(this.place, cls, makers, function.path, given)
        for method in self._readying(function):
            if (method.path, method.row) not in interpreter.entered:  # By the constructor.
                interpreter.set_up(this.place, method)
        store = interpreter.store
        bases = {*self.project.with_bases(cls.name, function.path)} - {cls.name}
        above = [it for base in sorted(bases) for it in self.project.functions(base, function.path, base)]
        for place, value in list(store.items()) if store is not None else ():
            name = place.rpartition(".")[2]
            is_field = place.startswith(this.place + ".") and isinstance(value, Number)
            if is_field and store is not None and self._set_elsewhere(name, function.path, makers + above):
                store[place] = RunTime(name, default_of(value))

    def _readying(self, function: Function) -> list[Function]:
        """Return the methods of a class that make its objects ready, before one is run apart."""
        file = self.project.file(function.path)
        own = by_name.methods_of(file.module, function.owner) if file is not None else []
        others = [it for it in own if it.row != function.row]
        named = [it for it in others if _READIES.match(it.name)]
        # Whatever it is called: it makes programs or kernels, and alone sets what the method takes of it.
        making = [it for it in others if it not in named and self._prepares(it, function, others)]
        return (named + making)[:_MAX_MAKERS]

    def _prepares(self, maker: Function, user: Function, others: Sequence[Function]) -> bool:
        made = self._calls(maker)
        if not made & (_MAKING | _MAKING_PROGRAMS) or made & _LAUNCHING or maker.name == maker.owner:
            return False
        taken = {it for it in written_names(maker) if mentions(user, {it})}
        rivals = (it for it in others if it is not maker and it.name != it.owner)
        return bool(taken) and not any(taken & written_names(it) for it in rivals)

    def _run_makers(self, cls: Class, path: str) -> None:
        """Run what makes objects of a class, whose methods are called in a way that is not followed."""
        if path.endswith(".py") or cls.name in self.made:
            return
        self.made.add(cls.name)
        speaking = list(self.project.candidates(cls.name, path))
        files = [it for it in speaking if not _TESTS.search(it)] or speaking
        modules = [it.module for it in map(self.project.file, files) if it is not None]
        holding = {it for module in modules for it in by_name.holders_in(module, cls.name)}
        makers = [it for module in modules for it in _makers(module, cls.name, holding)]
        for function in makers[:_MAX_MAKERS]:
            if (function.path, function.row) not in self.entered:
                self._run(function)
        if len(makers) > _MAX_MAKERS or any(by_name.has_object(it, cls.name) for it in modules):
            self.project.made.pop(cls.name, None)  # What was not run may say something else.

    def _modules(self, name: str, path: str) -> Iterator[Module]:
        """Yield what was read of the files that a name stands in."""
        for candidate in self.project.candidates(name, path):
            file = self.project.file(candidate)
            if file is not None:
                yield file.module

    def _set_elsewhere(self, name: str, path: str, makers: Sequence[Function]) -> bool:
        """Tell whether a field is written by anything but the constructors."""
        own = {(it.path, it.row) for it in makers}
        for it in makers[:1]:
            file = self.project.file(it.path)
            for function in by_name.writing(file.module, name) if file is not None else ():
                if (function.path, function.row) not in own:
                    return True
        counted = sum(name in written_names(it) for it in makers)
        is_listed = any(isinstance(i, Initialise) and i.name == name for it in makers for i in it.first)
        if is_listed:  # `Net() : size(4) {}` is no assignment; one in a header's method does not count above.
            writing = (it for module in self._modules(name, path) for it in by_name.writing(module, name))
            return any((it.path, it.row) not in own for it in writing)
        return self.project.writes(name, path) > max(counted, 1)

    def _module(self, path: str) -> None:
        if (path, 0) in self.entered or not self._may_start():
            return
        interpreter = self._interpreter()
        self._start_module(interpreter, path)
        self._keep(interpreter)

    def _start_module(self, interpreter: Interpreter, path: str) -> None:
        file = self.project.file(path)
        if file is None:
            return
        interpreter.start(self._whole(path, file.module), module=True)
        if interpreter.store is None:
            interpreter.store = Store()

    def _keep(self, interpreter: Interpreter) -> None:
        self.entered |= interpreter.entered
        self.raised += interpreter.launches
        self.sized |= interpreter.sized
        self.reached.update(interpreter.sized, ((it.path, it.row) for it in interpreter.launches))


def _makers(module: Module, name: str, holding: AbstractSet[str]) -> list[Function]:
    """Return a file's functions that may make objects of a class: a constructor of what holds one does."""
    numbers = by_name.making.numbers(module, (name,))
    for number in by_name.constructors.numbers(module, holding) - numbers:
        if module.functions[number].first:
            numbers.add(number)
    return by_name.in_order(module, numbers)


def _programs(functions: Iterable[Function], files: Sequence[str]) -> list[Function]:
    """Return the `main`s among functions, those near some files first: others may be of other programs."""
    found = [it for it in functions if it.name == "main" and not it.owner]
    return sorted(found, key=lambda it: min((distance(it.path, path) for path in files), default=0))
