"""Host programs as one small tree, whatever language they are written in.

Only what a launch can depend on is kept: values, places, calls and control flow. A construct that none of
these describes becomes `Opaque`, with its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Num:
    """A number as written."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Str:
    """A string; expressions among its parts are what an f-string prints."""

    parts: tuple[str | Expr, ...]
    row: int = 0


LISTS = frozenset(("vector", "array", "list", "deque", "initializer_list"))
"""Collections of C++ whose elements a list of braces gives."""
OUTERMOST = "::"
"""The scope of a function that is called as `::name`: it is no method."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name; `scope` is the last namespace or class that it was qualified with."""

    name: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`; `op` as C writes it, with Python's `//` and `**`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `!` or `~`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class AddressOf:
    """`&operand`."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Dereference:
    """`*operand`."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Index:
    """`base[index]`."""

    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Member:
    """`base.name`, `base->name`."""

    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call. `template` is what stands in angle brackets, as text."""

    function: Expr
    arguments: tuple[Expr, ...]
    keywords: Mapping[str, Expr] = field(default_factory=dict)
    template: tuple[str, ...] = ()
    row: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? yes : no`."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Items:
    """An initialiser list, a tuple or a list."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Designated:
    """`.name = value` in an initialiser list of C."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Placed:
    """`[index] = value` in an initialiser list of C; what follows it stands behind it."""

    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Cast:
    """`(type) operand`, `static_cast<type>(operand)`."""

    type: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class SizeOf:
    """`sizeof(type)` or `sizeof expression`."""

    type: str
    operand: Expr | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """`sizeof...(pack)`: how many arguments a pack, or one of a type that is a pack, stands for."""

    pack: str


@dataclass(frozen=True, slots=True)
class New:
    """`new type(arguments)`."""

    type: str
    template: tuple[str, ...]
    arguments: tuple[Expr, ...]
    row: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Assign:
    """`target op= value`; `op` is empty for a plain assignment."""

    target: Expr
    op: str
    value: Expr
    gives_before: bool = False
    """It is worth what the target was before: `target++`."""


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function without a name."""

    function: Function


SLICE = "slice of"
"""What is called for `values[start:stop:step]` of Python: no name that a program may have."""
SLICES = "slices of"
"""What is called for `values[start:stop, index]`."""


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[element for each in over]` of Python; `{key: element …}` where there is a key."""

    element: Expr
    key: Expr | None
    each: Expr
    over: Expr
    row: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Yield:
    """`yield value`; `yield from value` goes through another generator."""

    value: Expr | None
    is_from: bool = False


@dataclass(frozen=True, slots=True)
class Entered:
    """What `with value` gives in Python: what the generator of a context manager yields."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Opaque:
    """What is not understood; `parts` are evaluated for what they do."""

    text: str
    parts: tuple[Expr, ...] = ()


Expr = (
    Num
    | Str
    | Name
    | Binary
    | Unary
    | AddressOf
    | Dereference
    | Index
    | Member
    | Call
    | Conditional
    | Items
    | Designated
    | Placed
    | Cast
    | SizeOf
    | Counted
    | New
    | Assign
    | Lambda
    | Comprehension
    | Yield
    | Entered
    | Opaque
)


@dataclass(frozen=True, slots=True)
class Declare:
    """A variable. `dimensions` are those of an array; `arguments` those of a constructor."""

    name: str
    type: str
    template: tuple[str, ...] = ()
    value: Expr | None = None
    arguments: tuple[Expr, ...] | None = None
    dimensions: tuple[Expr | None, ...] = ()
    is_reference: bool = False
    is_pointer: bool = False
    is_constant: bool = False
    row: int = 0
    is_static: bool = False
    scope: str = ""
    """The namespace or class in which it was declared."""
    type_scope: str = ""
    """The last namespace or class that its type is qualified with."""


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression for what it does."""

    value: Expr
    row: int = 0


@dataclass(frozen=True, slots=True)
class Initialise:
    """`name(arguments)` in the initialiser list of a constructor: a field or a base class."""

    name: str
    arguments: tuple[Expr, ...]
    row: int = 0


@dataclass(frozen=True, slots=True)
class If:
    """Two ways."""

    condition: Expr
    then: Block
    otherwise: Block
    row: int = 0


@dataclass(frozen=True, slots=True)
class Loop:
    """Any loop. `each` and `over` are set where it goes through a collection."""

    start: Block
    condition: Expr | None
    step: Block
    body: Block
    tests_first: bool = True
    each: Expr | None = None
    over: Expr | None = None
    row: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """Each case falls into the next; a label of `None` is `default`."""

    subject: Expr
    cases: tuple[tuple[Expr | None, Block], ...]
    row: int = 0


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the function."""

    value: Expr | None
    row: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    leaves_loop: bool


@dataclass(frozen=True, slots=True)
class Raise:
    """An exception, or another way out of the program."""


@dataclass(frozen=True, slots=True)
class Try:
    """Statements of Python, and what is done instead of the rest of them where one raises something."""

    body: Block
    handlers: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """A block with variables of its own."""

    body: Block


@dataclass(frozen=True, slots=True)
class Define:
    """Defaults of a function of Python, which are computed once, where it is defined: in `row`."""

    row: int
    defaults: Mapping[str, Expr]


@dataclass(frozen=True, slots=True)
class Decorate:
    """`@decorator` above a function of Python that stands in another: what it returns takes its name."""

    name: str
    decorator: Expr
    row: int


Stmt = (
    Declare
    | Initialise
    | Evaluate
    | If
    | Loop
    | Switch
    | Return
    | Jump
    | Raise
    | Try
    | Scope
    | Define
    | Decorate
)
Block = tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function."""

    name: str
    type: str
    default: Expr | None = None
    is_reference: bool = False


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Function:
    """A function with a body; `owner` is its class."""

    name: str
    owner: str
    parameters: tuple[Parameter, ...]
    body: Block
    path: str
    row: int
    first: tuple[Stmt, ...] = ()
    """What a constructor's initialiser list says."""
    templates: tuple[str, ...] = ()
    """Names of its template parameters."""
    specialised: tuple[str, ...] = ()
    """The template arguments that it is written for, as text."""
    by_value: bool = False
    """A lambda that keeps the values that variables had where it was written."""
    globals: frozenset[str] = frozenset()
    """Names that Python's `global` and `nonlocal` say are those outside of the function."""
    is_property: bool = False
    """A method of Python that is called where its name is read."""
    is_wrapped: bool = False
    """A decorator that is not known may return anything in place of what it returns."""
    is_generator: bool = False
    """It runs when what it returns is gone through."""
    result: str = ""
    """The type that it returns in C and C++, without what points to it."""
    namespace: str = ""
    """The namespaces of C++ that it is defined in, as `outer::inner`."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class or struct: its fields with what they are initialised to."""

    name: str
    fields: tuple[Declare, ...]
    bases: tuple[str, ...] = ()
    is_union: bool = False
    virtual: frozenset[str] = frozenset()
    """Methods of C++ that it says are virtual, or override one that is."""
    templates: tuple[str, ...] = ()
    """Names of its template parameters."""
    base_templates: tuple[tuple[str, ...], ...] = ()
    """What it gives the template parameters of each base, as text."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Module:
    """One host file."""

    path: str
    language: str
    functions: tuple[Function, ...]
    classes: Mapping[str, Class]
    globals: tuple[Stmt, ...]
    """Variables outside of functions, in order; all statements outside of functions in Python."""
    constants: Mapping[str, Expr]
    """Enumerators."""
    types: Mapping[str, str]
    """What `typedef` and `using` call a type."""
    defaults: Mapping[tuple[str, str], tuple[Parameter, ...]] = field(default_factory=dict)
    """By class and name: parameters of functions that are declared with defaults, and defined elsewhere."""
    imports: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What Python's names mean in other modules: the module, and the name there, empty for the module itself.
    A key that starts with `*` is a module of which all names are taken."""
