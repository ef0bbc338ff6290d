"""What an interpreter of host code knows: variables by place, calls that are being run, and work done."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import field, replace
from typing import TYPE_CHECKING, Self

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.interpreter.choices import Choices
from clmap_lsp.hosts.project import HostProject, KeptKernel, KeptProgram
from clmap_lsp.hosts.quiet import Quiet
from clmap_lsp.hosts.store import (
    MAX_ELEMENTS,
    Store,
    join,
    named,
    program_field,
    program_of,
    texts_of,
    with_elements,
)
from clmap_lsp.hosts.tree import Block, Call, Declare, Expr, Function
from clmap_lsp.hosts.values import (
    Alternatives,
    ArrayValue,
    Null,
    Number,
    Pointer,
    RunTime,
    Sizes,
    Text,
    Value,
    converted,
    default_of,
    element_of,
    file_of_variable,
    holder_name,
    is_kernel,
    is_program,
    kept_name,
    name_of,
    size_of,
)

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter import Interpreter


MAX_STEPS = 80_000
"""Statements and calls from one start, and places that are copied or compared where ways part and join, a
hundred of them as one; what is left then is not run."""
MAX_MACRO_DEPTH = 16
COUNTED_FROM = 4
"""Depth of macros in macros from which each is counted as work: they may double at each level."""
_MAX_KEPT = 100
"""Launches of one start that may keep what is known then without being counted."""
_NOTHING_YET = (0, -1)
"""What variables hold until a function gives them a value."""
MOST_TURNS = 16
"""Turns of a loop that are run one by one, unless it makes kernels."""
MAX_UNROLLED = MAX_ELEMENTS - 1
"""Turns of a loop, and items of a list, that are run one by one."""


PLACES_A_STEP = 30
"""Places that are looked through or kept for as much as a statement costs."""
_COPIED_A_STEP = 1_000
"""Places that are copied as a whole for as much as a statement costs."""


class OutOfStepsError(Exception):
    """The work that one start, or one call, may take is spent."""


@dataclass(slots=True)
class Raised:
    """One launch as it was reached."""

    kernel: Value
    store: Store
    path: str
    row: int
    global_size: Value
    local_size: Value
    dimensions: int | None
    arguments: Mapping[int, Value]
    looped: bool = False
    owner: str = ""
    """The class of the method that was run."""
    is_likely: bool = False
    """It only reads like a launch: of a field that is perhaps a kernel."""
    offset: Value = field(default_factory=Null)
    entry: str = ""
    """The file of the function that the run started with."""
    of_this: bool = False
    """The kernel is in a field of the object whose method was run."""
    n_given: int | None = None
    """How many arguments a call gives that gives them all."""


@dataclass(slots=True)
class Frame:
    """One call."""

    function: Function
    scope: str
    this: Value | None = None
    names: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    outer: Frame | None = None
    """Where a lambda was written."""
    returns: list[tuple[Value, Store]] = field(default_factory=list)
    yielded: list[Value] = field(default_factory=list)
    calls: dict[int, tuple[Call, Value]] = field(default_factory=dict)
    """What the calls of the statement that is being run gave."""
    is_module: bool = False
    given: int = 0
    """How many arguments it was called with."""
    rest: tuple[Value, ...] = ()
    """Those that C's `...` takes."""
    called: tuple[int, str] = (0, "")
    """Row and text of the call."""
    row: int = 0
    """The row that is being run: a macro means what it stands for there."""


@dataclass(frozen=True, slots=True)
class Closure:
    """A function that stands in another, as it was met once."""

    function: Function
    outer: Frame | None
    defaults: Mapping[str, Value] = field(default_factory=dict)


@dataclass(slots=True)
class LoopState:
    """The ways that leave a loop, or one turn of it, before its end."""

    breaks: list[Store] = field(default_factory=list)
    continues: list[Store] = field(default_factory=list)


CallHandler = Callable[["Interpreter", Call, list[Value]], Value | None]
"""What a function that is known does; `None` where it is called in a way that is not."""


class State(ABC):
    """What is known at one point of a program that is run."""

    def __init__(self, project: HostProject, handlers: Mapping[str, CallHandler]) -> None:
        self.project = project
        self.handlers = handlers
        self.store: Store | None = Store()
        self.launches: list[Raised] = []
        self.entered: set[tuple[str, int]] = set()
        """Functions that were run, by file and row."""
        self.sized: set[tuple[str, int]] = set()
        """File and row of calls that make the sizes of a launch, such as that of `cl::EnqueueArgs`."""
        self.frames: list[Frame] = []
        self.types: dict[str, str] = {}
        """Types of places, as text."""
        self.kept_programs: dict[str, KeptProgram] = {}
        """Programs that fields hold, by their place."""
        self.arrays: set[str] = set()
        self.lists: set[str] = set()
        """Arrays that are lists of C++, which are copied where they are given by value."""
        self.objects: dict[str, str] = {}
        """Classes of places that hold an object of the project's own."""
        self.given_types: dict[str, Mapping[str, Value]] = {}
        """By the place of an object of a class template: what its parameters stand for."""
        self.callbacks: dict[tuple[str, int], tuple[Function, Value | None]] = {}
        """Functions of C that were handed to ones which are not known, and what was handed along with each:
        these may call them with it later."""
        self.counting: set[tuple[str, int]] = set()
        """Functions that return numbers, by file and row."""
        self.loops: list[LoopState] = []
        self.trials = 0
        """Above 0, launches are not noted: a loop's first turn is only tried."""
        self.steps = 0
        self.kept = 0
        """How often the store was kept for a launch."""
        self.limit = MAX_STEPS
        """Steps after which what is being run is given up."""
        self.initial: dict[str, Value] = {}
        """What variables outside of functions start as, for ways on which nothing wrote them yet."""
        self.site, self.macro_depth, self.loop_depth = 0, 0, 0
        self.sites: dict[tuple[object, ...], int] = {}
        self.turns: list[int] = []
        """Of the loops that are run turn by turn, which turn it is."""
        self.calling = (0, "")
        """Row and text of the call that is about to be run."""
        self.quiet_in: dict[str, Quiet] = {}
        """By file."""
        self.painted: set[str] = set()
        """Macros that name themselves and are being expanded: C does so once."""
        self.opened, self.set_whenever = set[str](), set[str]()
        """Names of variables and fields that functions which were not run may have given other values; the
        places of fields that callbacks set."""
        self.blocks: list[set[str]] = []
        """Of each block of C that is being run, the names that it declares."""
        self.choices = Choices()
        self._know_no_functions()

    def _know_no_functions(self) -> None:
        """Make room for functions that are values, and for exceptions."""
        self.caught: list[list[Store]] = []
        """Of each `try` that is being run, what held where something was raised in it."""
        self.lambdas: dict[int, Closure] = {}
        self.generators: dict[int, Frame] = {}
        """By identity: calls of generators that run when they are gone through."""
        self.gone: set[int] = set()
        """Those of them that were gone through."""
        self.defaults: dict[tuple[str, int], Mapping[str, Value]] = {}
        """By file and row: the defaults of Python's functions, as they were where it was defined."""
        self.distorted: set[tuple[str, int]] = set()
        """Functions under decorators that could not be followed: what they return may be anything."""
        self.idle: dict[str, str] = {}
        """Classes of objects of Python that launch when they are asked to, and nothing asked so far."""
        self.made_ready = 0
        """How many of these were met before what is run now."""
        self.enclosing: dict[int, Frame | None] = {}
        """By the identity of a function that stands in another: the call that reached it last."""

    def branched(self) -> Self:
        """Return one that knows the same and goes on by itself; work is counted for what is copied."""
        self.spend(1 + (len(self.known) + len(self.types)) // _COPIED_A_STEP)
        twin = copy(self)
        for name, held in vars(self).items():
            if isinstance(held, (dict, list, set)) and held is not self.handlers:
                setattr(twin, name, type(held)(held))
        return twin

    def forget_runs(self) -> None:
        """Forget what was launched and run so far: it only made ready what follows."""
        self.launches.clear()
        self.entered.clear()
        self.made_ready = len(self.lambdas)

    @property
    def frame(self) -> Frame:
        """The call that is being run."""
        return self.frames[-1]

    @property
    def path(self) -> str:
        """The file that is being run."""
        return self.frames[-1].function.path if self.frames else ""

    def step(self, work: int = 1) -> None:
        """Count work; what is too much is not run."""
        self.steps += work
        if self.steps > self.limit or not self.project.budget.take_steps(work):
            raise OutOfStepsError

    def spend(self, work: int) -> None:
        """Count work against what the whole project may take, but not against that of one start."""
        if not self.project.budget.take_steps(work):
            raise OutOfStepsError

    def keep_store(self) -> None:
        """Count that the store is kept as it is, for one launch: a few of each call cost nothing."""
        self.kept += 1
        if self.kept > _MAX_KEPT and self.store is not None:
            self.spend(len(self.store) // 2)

    def _declare(self, name: str, type_name: str) -> str:
        frame = self.frame
        place = self.global_place(name) if frame.is_module else f"{frame.scope}#{name}"
        if self.blocks and not frame.is_module and not self.path.endswith(".py"):
            if name in frame.names and name not in self.blocks[-1]:
                place = f"{frame.scope}.{len(self.blocks)}#{name}"  # It hides one of an outer block.
            self.blocks[-1].add(name)
        frame.names[name] = place
        self.types[place] = type_name
        return place

    def fresh(self, kind: str, call: Call, name: str = "") -> str:
        """Return the place of what a call makes: the same whenever it is run on the same way."""
        where = tuple((it.function.path, it.function.row, it.called) for it in self.frames[-3:])
        site = self.sites.setdefault((where, call.row, call.text, tuple(self.turns)), len(self.sites))
        return f"{kind}{site}#{name}"

    def fresh_memory(self) -> str:
        """Return a place that nothing else means, for memory that a call takes."""
        self.site += 1
        return f"h{self.site}#"

    @property
    def known(self) -> Mapping[str, Value]:
        """What is in the store, which is empty where no way leads."""
        return self.store if self.store is not None else {}

    def put(self, place: str, value: Value) -> None:
        """Write a value to a place, as its type holds it."""
        if self.store is None:
            return
        if place in self.arrays and isinstance(value, (Number, RunTime)):
            self.open_at(place, keeps_default=False)  # Through a pointer, to one of its elements.
            return
        type_name = self.types.get(place) or self.types.get(place.rpartition("[")[0], "")
        if type_name and "*" not in type_name:
            value = converted(self._resolved(type_name), value)
        if place in self.set_whenever:
            value = opened_as(name_of(place).lstrip("."), value)
        self.store.write(place, named(place, value))
        kept_in = kept_name(place)
        for it in value.values if isinstance(value, Alternatives) else (value,):
            if kept_in and is_kernel(it) and isinstance(it, Pointer):
                self._keep_kernel(kept_in, place, it)
            elif kept_in and is_program(it) and isinstance(it, Pointer):
                self._keep_program(kept_in, it)

    def _keep_kernel(self, name: str, place: str, kernel: Pointer) -> None:
        """Note which kernel a field or a global variable holds, for functions that run apart."""
        store = self.store
        if store is None:
            return
        sources, options = program_of(store, kernel.place)
        owner = self.frame.function.owner if self.frames else ""
        names: list[Text | None] = [*texts_of(store.read(kernel.place + ".name"))]
        for text in names or [None]:
            program = "" if sources else program_field(store, kernel.place)
            holder, element = holder_name(place), element_of(place)
            kept = KeptKernel(
                *(text, tuple(sources), options, self.path, owner, holder, program, element),
                of_this=self.is_of_this(place),
                variable_of=file_of_variable(place),
            )
            known = self.project.kernels_in_fields.setdefault(name, [])
            if kept not in known:
                known.append(kept)

    def is_of_this(self, place: str) -> bool:
        """Tell whether a place is a field of the object whose method is run."""
        this = self.frame.this if self.frames else None
        return isinstance(this, Pointer) and place.rpartition(".")[0] == this.place

    def _keep_program(self, name: str, program: Pointer) -> None:
        """Note which program a field or a global variable holds, for functions that run apart."""
        store = self.store
        if store is None:
            return
        sources = tuple(texts_of(store.read(program.place + ".source")))
        options = next(texts_of(store.read(program.place + ".options")), Text())
        kept = self.kept_programs.get(program.place)
        if kept is None and any(it.parts for it in sources):
            kept = self.kept_programs[program.place] = KeptProgram(sources, options, self.path)
        known = self.project.programs_in_fields.setdefault(name, [])
        if kept is not None and kept not in known:
            known.append(kept)

    def replace_list(self, before: Value, after: Value) -> None:
        """Give a list of Python other items, under all its names."""
        for place, held in list(self.store.items()) if self.store is not None else ():
            if held is before and self.store is not None:
                self.store[place] = named(place, after)

    def _escaped(self, pointer: Pointer) -> None:
        """Open a number whose address an object keeps, as an option parser does: it may be set from there."""
        held = self.store.get(pointer.place) if self.store is not None else None
        if isinstance(held, Number) and self.store is not None:
            self.store[pointer.place] = RunTime(name_of(pointer.place).lstrip("."), held.value)

    def open_at(self, place: str, *, keeps_default: bool = True, device: bool = False) -> None:
        """Open the number at a place, and those of its elements and fields."""
        parts = place + ".", place + "["
        opened = [it for it in self.store or () if it == place or it.startswith(parts)]
        self._open_numbers(opened, keeps_default=keeps_default, device=device)

    def open_elements(self, place: str) -> None:
        """Open the numbers in a list of C++, which is as long as it was."""
        self._open_numbers([it for it in with_elements(place) if it != place and it in self.known])

    def open_fields(self, place: str, *, keeps_default: bool = True, device: bool = False) -> None:
        """Open the numbers in the fields of what is at a place, with those below them, in one walk."""
        within = place + "."
        opened = [it for it in self.store or () if it.startswith(within)]
        self._open_numbers(opened, keeps_default=keeps_default, device=device)

    def open_all(self, places: Set[str]) -> None:
        """Open the numbers at several places, and those of their elements and fields, in one walk."""
        if places:
            self._open_numbers(
                [it for it in self.store or () if it in places or not places.isdisjoint(_wholes(it))]
            )

    def _open_numbers(
        self, places: Sequence[str], *, keeps_default: bool = True, device: bool = False
    ) -> None:
        store = self.store
        if store is None:
            return
        for it in places:
            held = store[it]
            if isinstance(held, (Number, RunTime, Null)):
                kept = default_of(held) if keeps_default else None
                # What stands for "nothing yet" is no default: sizes are computed from it.
                kept = None if kept in _NOTHING_YET else kept
                store[it] = RunTime(name_of(it).lstrip("."), kept, device=device)
            elif isinstance(held, ArrayValue) and not self.path.endswith(".py"):
                store[it] = self._of_any_length(it, held, keeps_default=keeps_default)

    def _of_any_length(self, place: str, held: ArrayValue, *, keeps_default: bool) -> ArrayValue:
        """Return a list of C++ that may be longer or shorter now."""
        lengths = held.shape.items if isinstance(held.shape, Sizes) else ()
        name = f"{name_of(place).lstrip('.')}.size()"
        opened = (RunTime(name, default_of(it) if keeps_default else None) for it in lengths)
        return replace(held, shape=Sizes(tuple(opened)) if lengths else held.shape)

    def text(self, value: Value) -> Text | None:
        """Return the string that a value is, or that stands where it points."""
        for _ in range(4):
            match value:
                case Text():
                    return value
                case Pointer(place) if self.store is not None:
                    found = self.store.read(place)
                    if found is None or found == value:
                        found = self.store.get(place + "[0]")
                    if found is None:
                        return None
                    value = found
                case _:
                    return None
        return None

    def strings(self, value: Value) -> Text | Alternatives | None:
        """Return the string that a value is or points to, or those of which it is one."""
        for _ in range(4):
            match value:
                case Alternatives(values) if all(isinstance(it, Text) for it in values):
                    return value
                case Pointer(place) if (found := self.known.get(place)) is not None and found != value:
                    value = found
                case _:
                    break
        return self.text(value)

    def entries(self, value: Value) -> dict[str, Value]:
        """Return the named parts of a dictionary."""
        if not isinstance(value, Pointer) or self.store is None:
            return {}
        start = value.place + "."
        return {
            place[len(start) :]: held
            for place, held in self.store.items()
            if place.startswith(start) and place[len(start) :].isidentifier()
        }

    def _items(self, value: Value) -> tuple[Value, ...] | None:
        if isinstance(value, Sizes):
            return value.items
        if isinstance(value, Text) and value.has_file:
            return (value,)  # The lines of a file, as one: nothing here asks what stands on which.
        if isinstance(value, Pointer) and value.place.startswith("d") and self.path.endswith(".py"):
            return tuple(Text((it,)) for it in self.entries(value)) or None
        if isinstance(value, Pointer) and self.store is not None:
            found = []
            for index in range(MAX_UNROLLED + 1):
                element = f"{value.place}[{index}]"
                item = self.store.get(element)
                if item is None and element in self.objects:
                    item = Pointer(element)
                if item is None:
                    break
                found.append(item)
            return tuple(found) if found and f"{value.place}[*]" not in self.store else None
        return None

    def n_elements(self, value: Value) -> int:
        """Return how many elements a list of C++ holds that braces gave it; 0 where that is not known."""
        if not isinstance(value, Pointer) or self.store is None or f"{value.place}[*]" in self.store:
            return 0
        count = 0
        while (place := f"{value.place}[{count}]") in self.objects or place in self.store:
            count += 1
        return count

    def joined(self, one: Store | None, two: Store | None, default: int | None) -> Store | None:
        """Return what holds behind two ways, of which one may have been the first to use a variable."""
        if one is not None and two is not None:
            for place, value in self.initial.items():
                if (place in one) != (place in two):
                    (two if place in one else one).setdefault(place, value)
        return join(one, two, default)

    def global_place(self, name: str) -> str:
        """Return the place of a variable of the file that is being run."""
        return f"g:{self.path}#{name}"

    def _resolved(self, type_name: str) -> str:
        """Return a type behind `typedef`s and macros."""
        for _ in range(4):
            if not type_name or size_of(type_name) is not None:
                return type_name
            bare = type_name.replace("const", "").replace("static", "").strip()
            macro = self.project.macro(bare, self.path)
            following = macro.body if macro is not None else self.project.type_named(bare, self.path)
            if not following or following == type_name:
                return bare
            type_name = following
        return type_name

    # What later layers do, and earlier ones ask for.

    @abstractmethod
    def answer(self, name: str, call: Call, values: list[Value]) -> Value | None:
        """Return what a known function, method or attribute gives; `None` where it is not known."""

    @abstractmethod
    def value(self, expression: Expr) -> Value:
        """Return what an expression is worth, and do what it does."""

    @abstractmethod
    def run_body(self, frame: Frame) -> None:
        """Run the statements of a call whose parameters have their values."""

    @abstractmethod
    def block(self, statements: Block) -> None:
        """Run statements until one leaves."""

    @abstractmethod
    def define(self, place: str, declare: Declare) -> None:
        """Give a variable at a place what its declaration says."""

    @abstractmethod
    def called(self, call: Call) -> Value:
        """Return what a call gives, and do what it does: once in each statement, if asked more often."""

    @abstractmethod
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


_PARTS = re.compile(r"[.\[]")


def opened_as(name: str, value: Value) -> Value:
    """Return a value that the program may be told to change."""
    if isinstance(value, Number):
        return RunTime(name, value.value)
    return value


def _wholes(place: str) -> Iterator[str]:
    """Yield what a place is an element or a field of."""
    return (place[: it.start()] for it in _PARTS.finditer(place))
