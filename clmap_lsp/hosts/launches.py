"""The launches that a project's host code makes, as far as they can be known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from pathlib import PurePath

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts import by_name
from clmap_lsp.hosts.by_name import users_in
from clmap_lsp.hosts.fields_of_classes import kept_for
from clmap_lsp.hosts.interpreter import Interpreter, OutOfStepsError, Raised
from clmap_lsp.hosts.kernels import KernelParameter, KernelText, kernels_in
from clmap_lsp.hosts.library_calls import LIBRARY
from clmap_lsp.hosts.map_calls import MAPS
from clmap_lsp.hosts.opencl_calls import OPENCL, own_wrapper
from clmap_lsp.hosts.option_calls import OPTIONS
from clmap_lsp.hosts.project import CALL_OPERATOR, HostProject, KeptKernel, distance
from clmap_lsp.hosts.store import Store, join_values, named, program_field, program_of, texts_of
from clmap_lsp.hosts.template_calls import TEMPLATES
from clmap_lsp.hosts.tree import Class, Function, Initialise, Module
from clmap_lsp.hosts.tuner_calls import TUNERS
from clmap_lsp.hosts.values import (
    Alternatives,
    FileText,
    LocalMemory,
    Null,
    Number,
    Pointer,
    RunTime,
    Sizes,
    Text,
    Value,
    default_of,
    element_of,
    holder_name,
    is_handle,
    kept_name,
    text_of,
)
from clmap_lsp.hosts.walking import called_names, mentions, rows_of, written_names
from clmap_lsp.source.options import defines_in

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
_MAX_KERNELS = 3
"""Kernels that one field of a structure is known to hold; with more it is one of a wrapper that holds any."""
_MAX_OWN_KERNELS = 8
"""The same for a field that the class which launches from it fills itself."""
_MAX_STARTS = 2_000
"""Functions that are run for one project; what running them costs is bounded by the budget of steps."""
_MAX_CALLERS = 4_000
"""Functions that are looked at for who calls those that launch."""
_MAX_USERS = 200
"""Functions of Python that are looked at for who calls those that launch."""
_MAX_DIFFERENT = 6
"""Different sizes that one call is known to launch with; more are one launch with open sizes."""
_TESTS = re.compile(r"/(?:unit_?)?tests?/")
"""Folders of programs that try a part of another one with sizes of their own."""
_READIES = re.compile(
    r"_*(?:on)?_?(?:init(?!_*$)|set_?up|create|build|load|prepare|compile|make|start)", re.IGNORECASE
)
"""Names of methods that make an object ready; its constructor is none of them."""
_MAX_MAKERS = 4
"""Functions that are run for the objects of a class that they make."""
_MAX_AS_NEAR, _MAX_VERSIONS = 3, 8
"""Files of which any may be meant; where every kernel has the same name, no file is."""
_NUMBER = re.compile(r"\d+")
_FAR = 4
"""Folders between host code and the file of a kernel that it names but does not say the file of."""


@dataclass(frozen=True, slots=True)
class HostValue:
    """A value that host code gives. `number` is what every run uses; else `text` is its expression, and
    `default` the value that the program takes unless told otherwise."""

    number: int | float | None
    text: str
    default: int | float | None = None

    @property
    def best(self) -> int | float | None:
        """The number, or what the program takes by default."""
        return self.number if self.number is not None else self.default


@dataclass(frozen=True, slots=True)
class SetAt:
    """The call that sets an argument, and the argument's place among the kernel's parameters."""

    path: str
    row: int
    index: int


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """One launch of one kernel.

    `kernel_file` is `None` where no file that defines it was found. A local size is `None` where NULL is
    passed. `local_arguments` and `buffers` are in bytes.
    """

    kernel: str
    kernel_file: str | None
    host_file: str
    host_row: int
    global_size: tuple[HostValue, ...]
    local_size: tuple[HostValue | None, ...]
    arguments: Mapping[str, HostValue] = field(default_factory=dict)
    local_arguments: Mapping[str, HostValue] = field(default_factory=dict)
    buffers: Mapping[str, HostValue] = field(default_factory=dict)
    build_options: str = ""
    kernel_row: int = 0
    """Where the string starts that holds the kernel, 0 for a kernel in a file of its own."""
    set_at: Mapping[str, SetAt] = field(default_factory=dict, compare=False)
    """Which call sets an argument, by the parameter's name."""
    dimensions: int = 0
    """How many dimensions it has; 0 where host code leaves that open, as a tuple that is handed on does."""
    before: tuple[str, ...] = ()
    """Files that the program puts before the kernel's own, such as a header that the host shares."""
    defines: tuple[tuple[str, str], ...] = ()
    """Macros that strings before the kernel's text define in every run."""
    offset: tuple[HostValue, ...] = ()
    """Where global ids start; empty for 0."""
    parameters: int = field(default=0, compare=False)
    """How many the kernel has; 0 where that is not known."""
    assumed: tuple[tuple[str, str], ...] = ()
    """Macros whose values the build options take from the run, as they are unless told otherwise."""

    @property
    def place(self) -> str:
        """For people: `main.c:120`."""
        return f"{self.host_file}:{self.host_row}"

    @property
    def values(self) -> Iterator[HostValue]:
        """All that it says of the launch itself."""
        yield from self.global_size
        yield from (it for it in self.local_size if it is not None)
        yield from self.offset
        yield from self.arguments.values()
        yield from self.local_arguments.values()


@dataclass(frozen=True, slots=True)
class HostReport:
    """What host code launches, and which of its launches could not be followed to a kernel."""

    launches: tuple[HostLaunch, ...]
    unnamed: tuple[tuple[str, int], ...] = ()
    """File and row of calls that launch a kernel whose name is not known."""
    is_cut_short: bool = False
    """The work that may be spent on host code ran out before all of it was followed."""


def launches_of(project: HostProject) -> HostReport:
    """Return the launches that a project makes. Never raises on what host code says."""
    files = project.launching_files
    project.budget.fit_steps(sum(len(project.text(it) or "") for it in files))
    return HostReader(project).report(files)


class HostReader:
    """Reads a project's host code little by little: each file once, when its launches are asked for."""

    def __init__(self, project: HostProject) -> None:
        self.project = project
        self._runs = _Runs(project)

    def forget(self, paths: Iterable[str]) -> None:
        """Read files again whose text changed, and run what launches anew; all else stays parsed."""
        for path in paths:
            self.project.forget(path)
        self._runs = _Runs(self.project)

    def report(self, files: Iterable[str]) -> HostReport:
        """Return the launches that these host files make, and those that came up on the way."""
        self._runs.run(files)
        report = _report(self.project, self._runs.raised)
        return replace(report, is_cut_short=self._runs.is_spent or self.project.budget.is_spent)


def _report(project: HostProject, raised: Sequence[Raised]) -> HostReport:
    found: dict[tuple[str, str | None, str, int], list[HostLaunch]] = {}
    unnamed = []
    named_launches = [(launch, list(_launches(project, launch))) for launch in raised]
    for launch, named_ in _followed(list(_fitting(named_launches))):
        if not named_ and not launch.is_likely:
            unnamed.append((launch.path, launch.row))
        for it in named_:
            known = found.setdefault((it.kernel, it.kernel_file, it.host_file, it.host_row), [])
            if it not in known:
                known.append(it)
    launches = [it for same in found.values() for it in _distinct(same)]
    launches.sort(key=lambda it: (it.host_file, it.host_row, it.kernel))
    named_rows = {(it.host_file, it.host_row) for it in launches}
    return HostReport(
        tuple(launches), tuple(it for it in dict.fromkeys(sorted(unnamed)) if it not in named_rows)
    )


def _fitting(
    launches: list[tuple[Raised, list[HostLaunch]]],
) -> Iterator[tuple[Raised, list[HostLaunch]]]:
    """Leave out kernels that take another number of arguments than a call sets, if one does take as many.

    A handle may be of one of several kernels, as an `if` chooses: each may then be told with all arguments.
    They are noted with the same store, while other ways to the call have one each.
    """
    taken = {
        (id(raised.store), raised.row, it.parameters)
        for raised, among in launches
        for it in among
        if it.parameters == _set(raised)
    }
    for raised, among in launches:
        count = _set(raised)
        fits = (id(raised.store), raised.row, count) in taken
        yield raised, [it for it in among if not fits or it.parameters in (0, count)]


def _followed(
    launches: list[tuple[Raised, list[HostLaunch]]],
) -> Iterator[tuple[Raised, list[HostLaunch]]]:
    """Leave out what a method launches on an object that nobody made, where those that were made told."""
    known = {
        (raised.path, raised.row, it.kernel)
        for raised, among in launches
        for it in among
        if is_handle(raised.kernel)
    }
    for raised, among in launches:
        is_told = is_handle(raised.kernel) or not raised.path.endswith(".py")
        others = [it for it in among if is_told or (raised.path, raised.row, it.kernel) not in known]
        if others or not among:
            yield raised, others


def _set(raised: Raised) -> int:
    """Return how many arguments are set, 0 where some may have been missed."""
    count = len(raised.arguments)
    return count if sorted(raised.arguments) == list(range(count)) else 0


def _at(values: Sequence[HostValue], index: int) -> HostValue:
    return values[index] if index < len(values) else HostValue(0, "0")


def _distinct(launches: list[HostLaunch]) -> list[HostLaunch]:
    """Return launches of one call with different values; too many become one with open values."""
    if len(launches) <= _MAX_DIFFERENT:
        return launches
    first = launches[0]

    def merged(values: Sequence[HostValue | None]) -> HostValue | None:
        known = [it for it in values if it is not None]
        if len(known) != len(values):
            return None
        if all(it == known[0] for it in known):
            return known[0]
        return HostValue(None, next((it.text for it in known if it.number is None), "several sizes"))

    same = [
        it
        for it in launches
        if len(it.global_size) == len(first.global_size) and it.arguments.keys() == first.arguments.keys()
    ]
    arguments = {name: merged([it.arguments[name] for it in same]) for name in first.arguments}
    return [
        replace(
            first,
            global_size=tuple(
                it
                for i in range(len(first.global_size))
                if (it := merged([launch.global_size[i] for launch in same])) is not None
            ),
            local_size=tuple(
                merged([launch.local_size[i] for launch in same]) for i in range(len(first.local_size))
            ),
            offset=tuple(
                merged([_at(launch.offset, i) for launch in same]) or HostValue(0, "0")
                for i in range(max(len(it.offset) for it in same))
            ),
            arguments={name: it for name, it in arguments.items() if it is not None},
        )
    ]


# -------------------------------------------------------------------------------------------- starting


class _Runs:
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
        fields = {
            it: raised.path for raised in self.raised if (it := _program_field_of(self.project, raised))
        }
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
            filling = by_name.methods_of.numbers(module, owners) & by_name.writing.numbers(module, (name,))
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
        known = {it.kernel for raised in self.raised for it in _launches(self.project, raised)}
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


# ------------------------------------------------------------------------------------------- launches


def _launches(project: HostProject, raised: Raised) -> Iterator[HostLaunch]:
    """Yield one launch for every name that the kernel may have."""
    store = raised.store
    place = raised.kernel.place if isinstance(raised.kernel, Pointer) else None
    name = store.read(f"{place}.name") if place is not None else None
    if name is None:
        yield from _from_field(project, raised)
    texts = list(texts_of(name))
    if isinstance(name, RunTime) or (texts and all(it.plain is None for it in texts)):
        only = _only_kernel(project, program_of(store, place)[0], raised.path)
        texts = [Text((only,))] if only is not None else []
    for text in texts:
        plain = text.plain
        if not plain or not re.fullmatch(r"[A-Za-z_]\w*", plain):
            continue
        sources, options = program_of(store, place)
        if not sources and place is not None:
            sources, options = _from_program_field(project, plain, program_field(store, place), raised.path)
        for found in _definitions(project, plain, sources, raised):
            if raised.n_given != 0 or found.takes(0):  # Else `pattern.search(text, start, end)`.
                yield _launch(project, raised, plain, found, sources, options)


def _from_program_field(project: HostProject, kernel: str, field: str, near: str) -> tuple[list[Text], Text]:
    """Return the one program with a kernel that other functions put into the field that it comes from."""
    kept = project.programs_in_fields.get(field, ()) if field else ()
    kept = [it for it in kept if it.path == near] or kept
    holding = [it for it in kept if _holds_kernel(project, it.sources, kernel, near)] or list(kept)
    return (list(holding[0].sources), holding[0].options) if len(holding) == 1 else ([], Text())


def _kernel_files(project: HostProject, sources: Iterable[Text], near: str) -> Iterator[str]:
    """Yield the files that programs are made of, as far as they are there."""
    for part in (part for source in sources for part in source.parts):
        path = project.kernel_file(part.name, near) if isinstance(part, FileText) else None
        if path is not None:
            yield path


def _holds_kernel(project: HostProject, sources: Iterable[Text], kernel: str, near: str) -> bool:
    for path in _kernel_files(project, sources, near):
        if any(it.name == kernel for it in project.kernels_of(path)):
            return True
    return any(it.name == kernel for source in sources for it in kernels_in(str(source)))


def field_of(raised: Raised) -> str | None:
    """Return the field that a launch takes its kernel out of, where nothing is known to be in it."""
    place = raised.kernel.place if isinstance(raised.kernel, Pointer) else ""
    if is_handle(raised.kernel) or raised.store.read(place + ".name") is not None:
        return None
    return kept_name(place) or None


def _program_field_of(project: HostProject, raised: Raised) -> str:
    """Return the field that the program of a launch's kernel comes from, where no more is known of it."""
    kept = project.kernels_in_fields.get(field_of(raised) or "", ())
    fields = {it.program for it in kept if it.program}
    if not fields and isinstance(raised.kernel, Pointer) and is_handle(raised.kernel):
        fields = {program_field(raised.store, raised.kernel.place)}
    return min(fields, default="")


def _from_field(project: HostProject, raised: Raised) -> Iterator[HostLaunch]:
    """Yield launches of the kernels that other functions put into the field that this one launches from."""
    name = field_of(raised)
    kept = kept_for(project, raised, name or "")
    holder = holder_name(raised.kernel.place) if isinstance(raised.kernel, Pointer) else ""
    near = [it for it in kept if it.path == raised.path] or kept
    near = [it for it in near if it.holder == holder] or near
    element = element_of(raised.kernel.place) if isinstance(raised.kernel, Pointer) else ""
    near = _of_element(near, element)
    own = [it for it in near if raised.owner and it.owner == raised.owner]
    if len({text_of(it.name) for it in near if it.name}) > (_MAX_OWN_KERNELS if own else _MAX_KERNELS):
        return
    for it in own or near:
        plain = it.name.plain if it.name is not None else None
        plain = plain if plain is not None else _only_kernel(project, it.sources, raised.path)
        if plain and re.fullmatch(r"[A-Za-z_]\w*", plain):
            sources, options = list(it.sources), it.options
            if _is_of_another(project, it, plain, raised):
                sources, options = [], Text()
            elif not sources:
                sources, options = _from_program_field(project, plain, it.program, raised.path)
            for found in _definitions(project, plain, sources, raised):
                yield _launch(project, raised, plain, found, sources, options)


def _is_of_another(project: HostProject, kept: KeptKernel, name: str, raised: Raised) -> bool:
    """Tell whether another folder's program kept a kernel of which the launch has one beside it."""
    own = PurePath(raised.path).parent
    if PurePath(kept.path).parent == own:
        return False
    return any(PurePath(it.path).parent == own for it in project.kernels.get(name, ()))


def _of_element(kept: Sequence[KeptKernel], element: str) -> Sequence[KeptKernel]:
    """Return the kernels kept for one element; of those kept for others, one that is in all of them."""
    same = [it for it in kept if it.element == element]
    if same or not element or "*" in element or len({it.name for it in kept}) == 1:
        return same or kept
    return [it for it in kept if not it.element or "*" in it.element]


def _only_kernel(project: HostProject, sources: Sequence[Text], near: str) -> str | None:
    """Return the name of a program's kernel where it has but one and the name is made in ways not known."""
    names = {it.name for path in _kernel_files(project, sources, near) for it in project.kernels_of(path)}
    return names.pop() if len(names) == 1 else None


@dataclass(frozen=True, slots=True)
class _Defined:
    path: str | None
    row: int
    kernel: KernelText | None = None

    @property
    def parameters(self) -> tuple[KernelParameter, ...]:
        """What the kernel takes, as far as it is known."""
        return self.kernel.parameters if self.kernel is not None else ()

    @property
    def has_all_parameters(self) -> bool:
        """False where the kernel was not found, or a macro stands for parameters."""
        return self.kernel is not None and self.kernel.has_all_parameters

    def takes(self, count: int | None) -> bool:
        """Tell whether a call that gives so many arguments may be one of this kernel."""
        return count is None or self.kernel is None or self.kernel.takes(count)


def _definitions(project: HostProject, name: str, sources: Sequence[Text], raised: Raised) -> list[_Defined]:
    """Return where a kernel is defined, by what its program may be made of; else the nearest of its name."""
    found = {
        (it.path, it.row): it for source in sources for it in _in_source(project, name, source, raised.path)
    }
    several = list(found.values())
    fitting = [it for it in several if len(several) == 1 or it.takes(raised.n_given)]
    return fitting or _nearest_defined(project, name, () if found else sources, raised)


def _in_source(project: HostProject, name: str, source: Text, near: str) -> list[_Defined]:
    """Return where the text of one program defines a kernel: more than one place if a file's name is open."""
    for part in source.parts:
        if isinstance(part, FileText):
            known = [
                _Defined(path, 0, kernel)
                for path in project.kernel_files_named(part.name, near)
                for kernel in project.kernels_of(path)
                if kernel.name == name
            ]
            if known:
                return known
    written = "".join(it if isinstance(it, str) else "1" for it in source.parts)
    for kernel in kernels_in(written) if "kernel" in written else ():
        if kernel.name == name:
            return [_Defined(source.path or near, source.row, kernel)]
    return []


def _nearest_defined(
    project: HostProject, name: str, sources: Sequence[Text], raised: Raised
) -> list[_Defined]:
    """Return the nearest definitions of a kernel: any of a few that are as near, none of many.

    Of several that are as good, those with as many parameters as the launch sets arguments are preferred.
    """
    near, count = raised.path, max(raised.arguments, default=-1) + 1
    first = next(_kernel_files(project, sources, near), None)
    if first is not None:
        return [_Defined(first, 0)]
    places = project.kernels.get(name) or project.kernels_in_strings.get(name) or []
    if raised.n_given is not None and len(places) > 1:
        places = [it for it in places if it.kernel.takes(raised.n_given)]
    fitting = [it for it in places if len(it.kernel.parameters) == count] or places
    known = {it.path: it for it in fitting}
    is_only = len({it.path for it in places}) == 1
    found = project.nearest(known, near, 1 << 30 if is_only else _FAR)
    if found is None:
        return [_Defined(None, 0)]
    as_near = [it for it in known if distance(it, near) == distance(found, near)]
    if raised.entry and len(as_near) > 1:  # Programs beside each other that share what launches.
        least = min(distance(it, raised.entry) for it in as_near)
        as_near = [it for it in as_near if distance(it, raised.entry) == least]
    are_versions = len({_NUMBER.sub("", it) for it in as_near}) == 1  # `lu_v1.cl` beside `lu_v2.cl`
    if len(as_near) > (_MAX_VERSIONS if are_versions else _MAX_AS_NEAR):
        return [_Defined(None, 0)]
    return [_Defined(it, 0, known[it].kernel) for it in sorted(as_near)]


_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:[ \t]+([^\n]*?))?[ \t]*$", re.MULTILINE)


def _put_before(
    project: HostProject, sources: Sequence[Text], defined: _Defined, near: str
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the files without kernels and the macros that a program puts before the file of a kernel.

    A macro whose value depends on the run is left out; so is all of it where the program may be another.
    """
    if len(sources) != 1 or defined.path is None or defined.row:
        return (), ()
    files: list[str] = []
    written = ""
    for part in sources[0].parts:
        if isinstance(part, FileText):
            paths = project.kernel_files_named(part.name, near)
            path = paths[0] if len(paths) == 1 else None
            if defined.path in paths:
                return tuple(dict.fromkeys(files)), tuple(_macros(written))
            if path is not None and not project.kernels_of(path):
                files.append(path)
        else:
            written += str(Text((part,)))
    return (), ()


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|define)\b[^\n]*", re.MULTILINE)


def _written_before(
    sources: Sequence[Text], name: str
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the macros that the text of a program defines before a kernel: in every run, and by default.

    What a condition may leave out is none of them; nor is anything where the program may be another.
    """
    if len(sources) != 1 or not any(isinstance(it, str) and "define" in it for it in sources[0].parts):
        return (), ()
    known = dict(_macros(_certain_lines(str(sources[0]), name)))
    taken = (
        str(default)
        if not isinstance(it, (str, FileText)) and (default := default_of(it)) is not None
        else it
        for it in sources[0].parts
    )
    assumed = _macros(_certain_lines(str(Text(tuple(taken))), name))
    return tuple(known.items()), tuple(it for it in assumed if it[0] not in known)


def _certain_lines(text: str, name: str) -> str:
    """Return the definitions of macros in front of a kernel that stand in no `#if`."""
    head = re.search(rf"\b{re.escape(name)}\s*\(", text)
    depth, lines = 0, []
    for match in _DIRECTIVE.finditer(text, 0, head.start() if head is not None else 0):
        depth += (match[1] in ("if", "ifdef", "ifndef")) - (match[1] == "endif")
        if match[1] == "define" and depth == 0:
            lines.append(match[0])
    return "\n".join(lines)


def _macros(text: str) -> Iterator[tuple[str, str]]:
    for name, value in _DEFINE.findall(re.sub(r"//[^\n]*", "", text)):
        if not re.search(r"[{}\\]", value):
            yield name, value


def _filled_in(project: HostProject, path: str, row: int) -> Iterator[tuple[str, str]]:
    """Yield what a template, in a string of Python or in a file, has in the place of names in every run."""
    for name, values in project.filled_in.get((path, row), {}).items():
        if len(values) == 1 and (value := next(iter(values))) and value != name:
            yield name, value


def _launch(
    project: HostProject,
    raised: Raised,
    name: str,
    defined: _Defined,
    sources: Sequence[Text],
    options: Text,
) -> HostLaunch:
    store = raised.store
    before, defines = _put_before(project, sources, defined, raised.path)
    assumed = _assumed(options)
    if defined.path is not None and defined.row:
        written, by_default = _written_before(sources, name)
        defines = (*defines, *written, *_filled_in(project, defined.path, defined.row))
        assumed = (*assumed, *by_default)
    read = {it.name: None for source in sources for it in source.parts if isinstance(it, FileText)}
    for file in read:
        defines = (*defines, *_filled_in(project, file, 0))
    dimensions = raised.dimensions
    if isinstance(raised.global_size, RunTime):
        dimensions = dimensions or _dimensions(store, raised.local_size) or None
    whole = _sizes(store, raised.global_size, dimensions)
    local = _sizes(store, raised.local_size, dimensions or len(whole))
    formulas = [it.text for it in map(_host_value, whole) if it.number is None]
    arguments: dict[str, HostValue] = {}
    local_arguments: dict[str, HostValue] = {}
    buffers: dict[str, HostValue] = {}
    set_at: dict[str, SetAt] = {}
    handle = raised.kernel.place if isinstance(raised.kernel, Pointer) else ""
    for index, value in sorted(raised.arguments.items()):
        known = defined.parameters[index] if index < len(defined.parameters) else None
        if known is None and defined.has_all_parameters:
            continue  # One enqueue serves several kernels, and this was set for others of them.
        parameter = known.name if known is not None else str(index)
        where = store.get(f"{handle}.set[{index}]")
        if isinstance(where, Text):
            set_at[parameter] = SetAt(where.path, where.row, index)
        match value:
            case LocalMemory(size):
                local_arguments[parameter] = _host_value(size)
            case Number() | RunTime() if known is None or known.is_value:
                found = _host_value(value)
                if found.text == f"arg[{index}]":  # Joined where nothing has a better name for it.
                    found = replace(found, text="several values")
                if found.default == 0 and any(found.text in it for it in formulas):
                    found = replace(found, default=None)  # Nobody launches nothing: it gets a value later.
                arguments[parameter] = found
            case Pointer(place):
                size_ = store.get(place + ".size")
                if size_ is not None:
                    buffers[parameter] = _host_value(size_)
    return HostLaunch(
        name,
        defined.path,
        raised.path,
        raised.row,
        tuple(map(_extent, whole)),
        tuple(None if isinstance(it, Null) else _extent(it) for it in local) or (None,) * len(whole),
        arguments,
        local_arguments,
        buffers,
        " ".join(str(options).split()),
        defined.row,
        set_at,
        dimensions or _dimensions(store, raised.global_size),
        before,
        defines,
        _offset(store, raised.offset, dimensions or len(whole)),
        len(defined.parameters),
        assumed,
    )


def _offset(store: Store, value: Value, dimensions: int) -> tuple[HostValue, ...]:
    """Return where global ids start; empty where that is 0 in every dimension."""
    found = _sizes(store, value, dimensions)
    values = tuple(HostValue(0, "0") if isinstance(it, Null) else _host_value(it) for it in found)
    return values if any(it.number != 0 for it in values) else ()


def _assumed(options: Text) -> tuple[tuple[str, str], ...]:
    """Return the macros of build options that have a value by default only."""
    taken = (
        str(default)
        if not isinstance(it, (str, FileText)) and (default := default_of(it)) is not None
        else it
        for it in options.parts
    )
    known = dict(defines_in(str(options)))
    return tuple(it for it in defines_in(str(Text(tuple(taken)))) if it[0] not in known)


def _extent(value: Value) -> HostValue:
    """Return a size; 0, with which an object may be made that gets its size later, is none."""
    found = _host_value(value)
    if found.number is not None and found.number <= 0:
        return HostValue(None, "?")
    return replace(found, default=None) if found.default == 0 else found


def _dimensions(store: Store, value: Value) -> int:
    """Return how many dimensions a size has, 0 where that is not known."""
    match value:
        case Sizes(items):
            return min(len(items), 3)
        case Number():
            return 1
        case Pointer(place, moved=False) if isinstance(held := store.read(place), Sizes):
            return min(len(held.items), 3)
        case _:
            return 0


_MAX_HOPS = 16
"""Pointers that are followed to the sizes; two that hold each other have no end."""


def _sizes(store: Store, value: Value, dimensions: int | None, hops: int = 0) -> tuple[Value, ...]:
    """Return the sizes in each dimension; `Null` for each where none is given."""
    count = dimensions or 1
    match value:
        case Null() | Number(0):
            return (Null(),) * count
        case RunTime(text) if text.endswith(("NullRange", "nullptr")):
            return (Null(),) * count
        case Sizes(items):
            return items[:3] if items else (Null(),) * count
        case Number():
            return (value, *(RunTime("?") for _ in range(1, count)))
        case RunTime() if dimensions is None:
            return (value,)
        case RunTime(text):
            return tuple(RunTime(f"{text}[{i}]" if count > 1 else text) for i in range(count))
        case Pointer(place, moved=False):
            held = store.read(place)
            if isinstance(held, (Sizes, Null)) or (isinstance(held, Pointer) and hops < _MAX_HOPS):
                return _sizes(store, held, dimensions, hops + 1)
            found = []
            for index in range(dimensions or 3):
                item = store.read(f"{place}[{index}]")
                if item is None and dimensions is None:
                    break
                text = f"{text_of(value)}[{index}]" if count > 1 else text_of(value)
                found.append(named(text, item) if item is not None else RunTime(text))
            return tuple(found) or (RunTime(text_of(value)),)
        case Alternatives(values):
            several = [_sizes(store, it, dimensions, hops) for it in values]
            length = max(map(len, several))
            return tuple(
                _one_of(f"#{text_of(value)}", [it[i] if i < len(it) else Null() for it in several])
                for i in range(length)
            )
        case _:
            return (RunTime(text_of(value)),) * count


def _one_of(name: str, values: list[Value]) -> Value:
    """Return a size that is one of several; the first is what the program takes by itself."""
    if all(it == values[0] for it in values):
        return values[0]
    text = " or ".join(dict.fromkeys(text_of(it) for it in values))
    joined_ = join_values(name, [it for it in values if not isinstance(it, Null)], values[0])
    default = None if isinstance(values[0], Null) else default_of(joined_)
    return RunTime(text, default, opaque=False)


def _host_value(value: Value) -> HostValue:
    match value:
        case Number(number):
            whole = isinstance(number, float) and number.is_integer() and abs(number) < 1 << 53
            return HostValue(int(number) if whole else number, text_of(value))
        case RunTime(text, default):
            if isinstance(default, float) and default.is_integer() and abs(default) < 1 << 53:
                default = int(default)
            return HostValue(None, text, default)
        case _:
            return HostValue(None, text_of(value))
