"""The built-in functions of OpenCL C: `data/builtins.txt` read, and calls matched with its overloads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path

from clmap_lsp.dataclass import dataclass, record
from clmap_lsp.index.names import nearest
from clmap_lsp.index.types import (
    INT,
    OF_2_0,
    TYPE_NAMES,
    UNKNOWN,
    VOID,
    Array,
    Base,
    Enumeration,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    decayed,
    scalar_of,
    space_of,
    spelled,
    unqualified,
    with_lanes,
)
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.source.types import (
    SCALARS,
    AddressSpace,
    OpaqueType,
    ScalarKind,
    ScalarType,
    VectorType,
    element_of,
    lanes_of,
)


@record(frozen=True, slots=True)
class Parameter:
    """One parameter as the table has it. `word` is a type's name or that of a generic type."""

    name: str
    word: str
    is_pointer: bool
    space: str | None
    is_const: bool
    is_volatile: bool


@record(frozen=True, slots=True)
class Overload:
    """One signature; generic types stand in it by their names."""

    text: str
    result: Parameter
    parameters: tuple[Parameter, ...]
    is_variadic: bool

    @property
    def shown(self) -> str:
        """Return the signature for a person: in the specification's words for types, not in the table's."""
        return _TABLE_WORD.sub(_spoken, _SPACES_TOGETHER.sub("", self.text))

    @property
    def spaces(self) -> str:
        """Say where its pointers may point, if that is one of several address spaces."""
        words = dict.fromkeys(_SPACES_TOGETHER.findall(self.text))
        return ", ".join(_SPACES_SAID[it.strip()] for it in words)


_SPOKEN = {
    **dict.fromkeys(("gentypef", "gentypei", "gentypeg", "gentypev", "int32gen", "signedgen"), "gentype"),
    **dict.fromkeys(
        ("scalar", "scalari", "scalarf", "scalarg", "groupg", "shuffled", "pointee", "wide", "reinterpreted"),
        "gentype",
    ),
    **dict.fromkeys(("imagef", "imagew", "imaged", "anyimage"), "image"),
    **{it: f"{it[:-3]}n" for it in ("floatgen", "doublegen", "halfgen", "uintgen", "ulonggen", "ushortgen")},
    "floatgeng": "floatn",
    "element": "sgentype",
    "plain": "C",
    "atomic": "A",
    "truth": "intn",
    "coordf": "floatn",
    "coordi": "intn",
    "lanemask": "ugentype",
}
"""The specification's words for what the table tells apart."""
_TABLE_WORD = re.compile(r"\b(?:scalar(\d+)|[a-z]+\d*[a-z]*)\b(?=[ *]+\w)")


def _spoken(word: re.Match[str]) -> str:
    return f"gentype{word[1]}" if word[1] else _SPOKEN.get(word[0], word[0])


_SPACES_TOGETHER = re.compile(r"__(?:any|shared|readable) ")
_SPACES_SAID = {
    "__any": "global, local or private memory",
    "__shared": "global or local memory",
    "__readable": "any memory",
}


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in function.

    `ulp` is the greatest error of single precision in units in the last place (0: correctly rounded), `any`
    where it is up to the device, `None` where the function does not round.
    """

    name: str
    section: str
    overloads: tuple[Overload, ...]
    description: str
    ulp: str | None = None
    since: float = 1.0
    extension: str | None = None
    is_varying: bool = False
    """Work-items of a group get different results whatever the arguments."""
    is_uniform: bool = False
    """Work-items of a group get the same result whatever the arguments."""

    @property
    def accuracy(self) -> str | None:
        """Say how exact single precision is."""
        match self.ulp:
            case None:
                return None
            case "0":
                return "exact or correctly rounded"
            case "any":
                return "accuracy up to the device"
            case ulp:
                return f"within {ulp} ULP in single precision"


@record(frozen=True, slots=True)
class Resolved:
    """A call matched with an overload: its types, and how well they fit."""

    overload: Overload
    result: Qualified
    parameters: tuple[Qualified, ...]
    score: float


@dataclass(slots=True)
class _Entry:
    section: str
    signatures: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    description: str = ""


_LANES = ("2", "3", "4", "8", "16")


_TABLE = Path(__file__).with_name("data") / "builtins.txt"


@cache
def _entries() -> dict[str, _Entry]:
    text = safe_read(_TABLE, limit=SETTINGS_BYTES, within=None).decode()
    found: dict[str, _Entry] = {}
    section, shared = "", {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section, _, attributes = (it.strip() for it in line.strip("[]").partition("|"))
            shared = _attributes(attributes)
            continue
        names, signatures, attributes, description = (it.strip() for it in line.split("|"))
        for template in names.split():
            for lanes in _LANES if "{n}" in template else ("",):
                name = template.replace("{n}", lanes)
                entry = found.setdefault(name, _Entry(section))
                filled = signatures.replace("{n}", lanes).replace("$", name)
                entry.signatures += [it.strip() for it in filled.split(";")]
                entry.attributes = {**shared, **_attributes(attributes), **entry.attributes}
                entry.description = entry.description or description.replace("{n}", lanes)
    return found


def _attributes(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (it.partition("=") for it in text.split())}


@cache
def names() -> tuple[str, ...]:
    """Return the names of the table."""
    return tuple(_entries())


@lru_cache(maxsize=2048)
def near(name: str) -> str | None:
    """Return the function whose name was meant, if one slip made it this one."""
    return nearest(name, names())


@lru_cache(maxsize=1)
def only_from_2_0() -> frozenset[str]:
    """Return the names that no version before 2.0 has, nor an extension of one."""
    functions = (
        name
        for name, it in _entries().items()
        if float(it.attributes.get("since", "1.0")) >= 2.0 and "ext" not in it.attributes
    )
    return frozenset({*functions, "work_group_barrier", "__generic", *OF_2_0})


_CONVERT = re.compile(
    r"convert_(?P<type>u?(?:char|short|int|long)|half|float|double)(?P<lanes>2|3|4|8|16|)(?:_sat)?(?:_rt[ezpn])?\Z"
)
_AS = re.compile(r"as_(?P<type>u?(?:char|short|int|long)|half|float|double)(?P<lanes>2|3|4|8|16|)\Z")


@lru_cache(maxsize=2048)
def find(name: str) -> Builtin | None:
    """Return a built-in function by its name."""
    entry = _entries().get(name)
    if entry is None:
        return _conversion(name)
    attributes = entry.attributes
    since = float(attributes.get("since", "1.0"))
    if name == "work_group_barrier":
        since = 2.0
    return Builtin(
        name,
        entry.section,
        tuple(_overload(it) for it in entry.signatures),
        entry.description,
        attributes.get("ulp"),
        since,
        attributes.get("ext"),
        "varying" in attributes,
        "uniform" in attributes,
    )


def _conversion(name: str) -> Builtin | None:
    if match := _CONVERT.match(name):
        target = match["type"] + match["lanes"]
        source = "gentype" if match["lanes"] else "scalar"
        text = f"{target} {name}({source} x)"
        said = f"Converts the value to {target}"
        said += ", held at the type's limits" if "_sat" in name else ""
        roundings = {"e": "to the nearest", "z": "towards 0", "p": "up", "n": "down"}
        said += f", rounded {roundings[name[-1]]}" if "_rt" in name else ""
        return Builtin(name, "conversions", (_overload(text),), f"{said}.")
    if match := _AS.match(name):
        target = match["type"] + match["lanes"]
        text = f"{target} {name}(reinterpreted x)"
        return Builtin(name, "reinterpretations", (_overload(text),), f"The same bits, read as {target}.")
    return None


_SIGNATURE = re.compile(r"(?P<result>.*?)(?P<name>\w+)\((?P<parameters>.*)\)\Z")
_QUALIFIER_WORDS = frozenset({"const", "volatile"})


def _overload(text: str) -> Overload:
    match = _SIGNATURE.match(text)
    assert match is not None, text
    parameters = [it.strip() for it in match["parameters"].split(",") if it.strip()]
    is_variadic = bool(parameters) and parameters[-1] == "..."
    if is_variadic:
        parameters.pop()
    result = _parameter(f"{match['result']} result")
    return Overload(text, result, tuple(_parameter(it) for it in parameters), is_variadic)


def _parameter(text: str) -> Parameter:
    words = text.replace("*", " * ").split()
    name = words.pop()
    is_pointer = "*" in words
    space = next((it[2:] for it in words if it.startswith("__")), None)
    plain = [it for it in words if it not in _QUALIFIER_WORDS and it != "*" and not it.startswith("__")]
    return Parameter(name, plain[0], is_pointer, space, "const" in words, "volatile" in words)


# -------------------------------------------------------------------------------------------- generics


def _number(base: Base, kinds: tuple[ScalarKind, ...], lanes: tuple[int, ...], names: str = "") -> bool:
    if not isinstance(base, ScalarType | VectorType) or lanes_of(base) not in lanes:
        return False
    element = element_of(base)
    if not isinstance(element, ScalarType) or element.kind not in kinds or element.name == "bool":
        return False
    return not names or element.name in names.split()


_INTEGERS = (ScalarKind.SIGNED, ScalarKind.UNSIGNED)
_FLOATS = (ScalarKind.FLOAT,)
_NUMBERS = (*_INTEGERS, *_FLOATS)
_ALL_LANES = (1, 2, 3, 4, 8, 16)

_GENERIC: dict[str, Callable[[Base], bool]] = {
    "gentypef": lambda it: _number(it, _FLOATS, _ALL_LANES),
    "floatgen": lambda it: _number(it, _FLOATS, _ALL_LANES, "float"),
    "doublegen": lambda it: _number(it, _FLOATS, _ALL_LANES, "double"),
    "halfgen": lambda it: _number(it, _FLOATS, _ALL_LANES, "half"),
    "gentypei": lambda it: _number(it, _INTEGERS, _ALL_LANES),
    "signedgen": lambda it: _number(it, (ScalarKind.SIGNED,), _ALL_LANES),
    "int32gen": lambda it: _number(it, _INTEGERS, _ALL_LANES, "int uint"),
    "uintgen": lambda it: _number(it, _INTEGERS, _ALL_LANES, "uint"),
    "ulonggen": lambda it: _number(it, _INTEGERS, _ALL_LANES, "ulong"),
    "ushortgen": lambda it: _number(it, _INTEGERS, _ALL_LANES, "ushort"),
    "gentype": lambda it: _number(it, _NUMBERS, _ALL_LANES),
    "gentypev": lambda it: _number(it, _NUMBERS, (2, 4, 8, 16)),
    "gentypeg": lambda it: _number(it, _FLOATS, (1, 2, 3, 4)),
    "floatgeng": lambda it: _number(it, _FLOATS, (1, 2, 3, 4), "float"),
    "scalar": lambda it: _number(it, _NUMBERS, (1,)),
    "scalari": lambda it: _number(it, _INTEGERS, (1,)),
    "scalarf": lambda it: _number(it, _FLOATS, (1,)),
    "scalarg": lambda it: _number(it, _NUMBERS, (1,)),
    "groupg": lambda it: _number(it, _NUMBERS, (1,), "int uint long ulong half float double"),
    "atomic": lambda it: _number(it, _NUMBERS, (1,)),
}
"""The generic types that an argument binds, and what they take."""

_DEFAULTS = {
    "gentypef": "float",
    "floatgen": "float",
    "gentypeg": "float",
    "floatgeng": "float",
    "uintgen": "uint",
}
"""What a scalar argument of another kind is converted to; `int` elsewhere."""

_LOOSE: dict[str, Callable[[Base], bool]] = {
    "reinterpreted": lambda it: (
        isinstance(it, OpaqueType | Pointer | Record | Enumeration) or _number(it, _NUMBERS, _ALL_LANES)
    ),
    "imagef": lambda it: isinstance(it, OpaqueType) and it.is_image and "depth" not in it.name,
    "imagew": lambda it: isinstance(it, OpaqueType) and it.is_image and "depth" not in it.name,
    "imaged": lambda it: isinstance(it, OpaqueType) and it.is_image and "depth" in it.name,
    "anyimage": lambda it: isinstance(it, OpaqueType) and it.is_image,
    "coordf": lambda it: _number(it, _FLOATS, (1, 2, 4), "float"),
    "coordi": lambda it: _number(it, _NUMBERS, (1, 2, 4), "int"),
    "lanemask": lambda it: _number(it, (ScalarKind.UNSIGNED,), (2, 4, 8, 16)),
}
"""Words for any one of some types, each argument by itself."""

_SIGNED = {8: "char", 16: "short", 32: "int", 64: "long"}


def _derived(word: str, bound: Base, arguments: Sequence[Base]) -> Qualified | None:
    """Return what a word means where the generic type is `bound`."""
    element = element_of(bound) if isinstance(bound, ScalarType | VectorType) else None
    if not isinstance(element, ScalarType):
        return None
    lanes = lanes_of(bound) if isinstance(bound, VectorType) else 1
    signed = SCALARS[_SIGNED[element.bits]]
    match word:
        case "plain" | "element":
            return Qualified(element)
        case "igentype":
            return with_lanes(signed, lanes)
        case "ugentype":
            return with_lanes(SCALARS[f"u{signed.name}"], lanes)
        case "truth":
            return INT if lanes == 1 else with_lanes(signed, lanes)
        case "intn" | "uintn" | "floatn" | "ulongn" | "doublen" | "halfn":
            return with_lanes(SCALARS[word[:-1]], lanes)
        case "wide":
            wide = SCALARS[_SIGNED[min(element.bits * 2, 64)]]
            return with_lanes(wide if element.is_signed else SCALARS[f"u{wide.name}"], lanes)
        case "shuffled":
            mask = arguments[-1]
            return with_lanes(element, lanes_of(mask) if isinstance(mask, VectorType) else lanes)
        case _ if word.startswith("scalar") and word[6:].isdecimal():
            return with_lanes(element, int(word[6:]))
        case _:
            return None


_SPACE_SETS = {
    "any": (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.PRIVATE, AddressSpace.GENERIC),
    "shared": (AddressSpace.GLOBAL, AddressSpace.LOCAL, AddressSpace.GENERIC),
    "readable": tuple(AddressSpace),
}


def resolve(
    builtin: Builtin, arguments: Sequence[Qualified], *, has_generic: bool = False, is_strict: bool = True
) -> Resolved | None:
    """Return the overload that fits the arguments best, with its types; `None` where none fits.

    Args:
        has_generic: as from OpenCL C 2.0 on, pointers to any space are pointers to the generic one.
        is_strict: pointers are to the type that they should be to.
    """
    values = [decayed(it) for it in arguments]
    bases = [base_of(it) for it in values]
    best: Resolved | None = None
    is_open = False
    for overload in builtin.overloads:
        for found in _bindings(overload, values, bases, has_generic, is_strict=is_strict):
            if best is None or found.score > best.score:
                best, is_open = found, False
            elif found.score == best.score:
                is_open = True
    return None if is_open and not is_strict else best


def best_fit(builtin: Builtin, known: Sequence[Qualified], active: int) -> Resolved | None:
    """Return the overload that fits the arguments so far best, with the fewest more."""
    least = max(len(known), active + 1)
    for count in sorted({len(known), *(len(it.parameters) for it in builtin.overloads)}):
        if count >= least or count == len(known):
            found = resolve(builtin, [*known, *[UNKNOWN] * (count - len(known))])
            if found is not None:
                return found
    return None


def is_ambiguous(builtin: Builtin, arguments: Sequence[Qualified]) -> bool:
    """Tell whether a call with numbers fits several overloads, none better than all others.

    So it is for a compiler, which has an overload for each type: `min(1, 2.0f)`, `sqrt(2)`. Source: ISO/IEC
    14882:2017, 16.3.3 (best viable function) and 16.3.3.2.2 (ranking), which clang follows for these.
    """
    bases = [base_of(it) for it in arguments]
    if not bases or not all(isinstance(it, ScalarType) and it.bits for it in bases):
        return False
    return _is_ambiguous(builtin.name, tuple(it.name for it in bases if isinstance(it, ScalarType)))


@lru_cache(maxsize=4096)
def _is_ambiguous(name: str, given: tuple[str, ...]) -> bool:
    builtin = find(name)
    assert builtin is not None
    wanted = {it for overload in builtin.overloads for it in _scalar_signatures(overload, len(given))}
    ranks = [tuple(map(_rank, given, it)) for it in wanted]
    return len(ranks) > 1 and not any(
        all(one is other or _is_better(one, other) for other in ranks) for one in ranks
    )


def _scalar_signatures(overload: Overload, count: int) -> Iterator[tuple[str, ...]]:
    """Yield the types of an overload's parameters for each scalar that its generic type stands for."""
    parameters = overload.parameters
    if len(parameters) != count or overload.is_variadic or any(it.is_pointer for it in parameters):
        return
    generic = next((it.word for it in parameters if it.word in _GENERIC), None)
    if any(it.word != generic and it.word not in TYPE_NAMES for it in parameters):
        return
    bounds: list[ScalarType | None] = [None]
    if generic is not None:
        bounds = [it for it in SCALARS.values() if _GENERIC[generic](it)]
    for bound in bounds:
        types = [_plain(it.word, bound, ()) for it in parameters]
        names = [base.name for it in types if it and isinstance(base := base_of(it), ScalarType)]
        if len(names) == count:
            yield tuple(names)


def _rank(given: str, wanted: str) -> int:
    """Return how far a number is from a parameter: the same, promoted, converted."""
    if given == wanted:
        return 0
    is_promoted = wanted == "int" and given in ("bool", "char", "uchar", "short", "ushort")
    return 1 if is_promoted or (given, wanted) in (("float", "double"), ("half", "float")) else 2


def _is_better(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def arity(builtin: Builtin) -> tuple[int, int | None]:
    """Return the least and greatest number of arguments; `None` where it has no limit."""
    counts = [len(it.parameters) for it in builtin.overloads]
    if any(it.is_variadic for it in builtin.overloads):
        return min(counts), None
    return min(counts), max(counts)


def _bindings(
    overload: Overload,
    values: list[Qualified],
    bases: list[Base],
    has_generic: bool,
    *,
    is_strict: bool = True,
) -> Iterator[Resolved]:
    parameters = overload.parameters
    if len(values) < len(parameters) or (len(values) > len(parameters) and not overload.is_variadic):
        return
    for bound in _candidates(overload, bases):
        types: list[Qualified] = []
        score = 0.0
        for parameter, value, base in zip(parameters, values, bases, strict=False):
            wanted = _wanted(parameter, bound, base, bases, has_generic)
            fit = None if wanted is None else _fit(parameter, wanted, value, base, is_strict=is_strict)
            if wanted is None or fit is None:
                break
            types.append(wanted)
            score += fit
        else:
            yield Resolved(overload, _result(overload, bound, bases), tuple(types), score)


def _candidates(overload: Overload, bases: list[Base]) -> list[Base | None]:
    """Return the types that the generic type of a signature may stand for, given the arguments."""
    found: dict[Base, None] = {}
    generic = None
    for parameter, base in zip(overload.parameters, bases, strict=False):
        takes = _GENERIC.get(parameter.word)
        if takes is None:
            continue
        generic = parameter.word
        pointee = base_of(base.pointee) if parameter.is_pointer and isinstance(base, Pointer) else base
        if isinstance(pointee, ScalarType | VectorType | Enumeration):
            number = pointee if isinstance(pointee, VectorType) else scalar_of(pointee)
            if isinstance(number, ScalarType) and number.name == "bool":
                number = SCALARS["int"]
            if number is not None and takes(number):
                found[number] = None
            elif isinstance(number, VectorType) and parameter.is_pointer and takes(number.element):
                found[number.element] = None
            elif isinstance(number, ScalarType) and not parameter.is_pointer:
                found[SCALARS[_DEFAULTS.get(parameter.word, "int")]] = None
        elif isinstance(pointee, Unknown):
            found[SCALARS[_DEFAULTS.get(parameter.word, "int")]] = None
    return list(found) if generic is not None else [None]


def _wanted(
    parameter: Parameter, bound: Base | None, base: Base, bases: list[Base], has_generic: bool
) -> Qualified | None:
    """Return the type of a parameter."""
    if (loose := _LOOSE.get(parameter.word)) is not None:
        if loose(base) or isinstance(base, Unknown):
            return Qualified(base)
        if parameter.word == "coordi" and isinstance(base, ScalarType | Enumeration):
            return INT
        return TYPE_NAMES["float"] if parameter.word == "coordf" and isinstance(base, ScalarType) else None
    plain = _plain(parameter.word, bound, bases)
    if plain is None or not parameter.is_pointer:
        return plain
    space = AddressSpace(parameter.space) if parameter.space in _WRITTEN_SPACES else None
    if space is None and isinstance(base, Pointer):
        space = space_of(base.pointee)
        allowed = _SPACE_SETS.get(parameter.space or "", ())
        if space is not None and space not in allowed:
            return None
    is_any = parameter.space == "any" or (
        parameter.space == "readable" and space not in (None, AddressSpace.CONSTANT)
    )
    if has_generic and is_any:
        space = AddressSpace.GENERIC
    return Qualified(Pointer(Qualified(plain.base, parameter.is_const, parameter.is_volatile, space=space)))


_WRITTEN_SPACES = frozenset(it.value for it in AddressSpace)


def _plain(word: str, bound: Base | None, bases: Sequence[Base]) -> Qualified | None:
    if word == "atomic":
        return None if bound is None else TYPE_NAMES.get(f"atomic_{bound}")
    if word == "pointee":
        return unqualified(bases[0].pointee) if isinstance(bases[0], Pointer) else None
    if word in _GENERIC:
        return None if bound is None else Qualified(bound)
    if (named := TYPE_NAMES.get(word)) is not None:
        return named
    return None if bound is None else _derived(word, bound, bases)


def _result(overload: Overload, bound: Base | None, bases: list[Base]) -> Qualified:
    plain = _plain(overload.result.word, bound, bases)
    if plain is None:
        return UNKNOWN
    if not overload.result.is_pointer:
        return plain
    space = AddressSpace(overload.result.space) if overload.result.space in _WRITTEN_SPACES else None
    return Qualified(Pointer(Qualified(plain.base, space=space)))


_EXACT, _CLOSE, _CONVERTED, _SPLAT = 3.0, 1.5, 1.0, 0.1


def _fit(
    parameter: Parameter, wanted: Qualified, value: Qualified, base: Base, *, is_strict: bool
) -> float | None:
    """Return how well an argument fits a parameter; `None` where it does not."""
    target = base_of(wanted)
    if isinstance(base, Unknown):
        return _CONVERTED
    if isinstance(target, Pointer):
        return _pointer_fit(target, base, is_strict=is_strict)
    if base == target:
        return _EXACT
    if isinstance(target, ScalarType):
        scalar = scalar_of(base)
        if scalar is None or scalar.kind is ScalarKind.VOID:
            return None
        return _CLOSE if scalar.is_float == target.is_float and scalar.bits <= target.bits else _CONVERTED
    if isinstance(target, VectorType):
        return _SPLAT if scalar_of(base) is not None else None
    if isinstance(target, OpaqueType):
        return _CONVERTED if scalar_of(base) is not None and not target.is_image else None
    return None


def _pointer_fit(target: Pointer, base: Base, *, is_strict: bool) -> float | None:
    if not isinstance(base, Pointer):
        return _CONVERTED if scalar_of(base) is not None else None  # NULL
    wanted, given = base_of(target.pointee), base_of(base.pointee)
    space, other = space_of(target.pointee), space_of(base.pointee)
    if other is None and not isinstance(given, Unknown) and given != base_of(VOID):
        other = AddressSpace.PRIVATE  # As of a local array; a pointer says its space.
    if space is not None and other is not None and space is not other and space is not AddressSpace.GENERIC:
        return None
    if wanted == given:
        return _EXACT
    if isinstance(wanted, ScalarType) and wanted.kind is ScalarKind.VOID:
        return _CONVERTED
    if isinstance(given, ScalarType) and given.kind is ScalarKind.VOID:
        return _CONVERTED
    if isinstance(given, Unknown | Record | Array) or isinstance(wanted, OpaqueType):
        return None if isinstance(given, Record | Array) else _CONVERTED
    return None if is_strict else _SPLAT


_COORDINATES = {"image1d_t": "", "image1d_buffer_t": "", "image1d_array_t": "2", "image2d_t": "2"}
_COORDINATES |= {
    "image2d_depth_t": "2",
    "image2d_array_t": "4",
    "image2d_array_depth_t": "4",
    "image3d_t": "4",
}


def coordinates_fit(found: Resolved, bases: Sequence[Base]) -> bool:
    """Tell whether the coordinates of an access to an image have as many parts as its type wants."""
    image = bases[0] if bases and isinstance(bases[0], OpaqueType) else None
    wanted = None if image is None else _COORDINATES.get(image.name)
    if wanted is None:
        return True
    return all(
        not isinstance(base, VectorType) or base.lanes == int(wanted or 1)  # A number stands for all of them.
        for parameter, base in zip(found.overload.parameters, bases, strict=False)
        if parameter.word in ("coordf", "coordi")
    )


def _spoken_word(parameter: Parameter, image: OpaqueType | None) -> str:
    """Return a parameter that no argument stands for yet; coordinates follow from the image."""
    word = _SPOKEN.get(parameter.word, parameter.word)
    if parameter.word in ("coordf", "coordi") and image is not None and image.name in _COORDINATES:
        word = f"{word[:-1]}{_COORDINATES[image.name]}"
    return f"{word} {parameter.name}"


def is_bound(found: Resolved, arguments: Sequence[Qualified]) -> bool:
    """Tell whether the first arguments alone say what the generic type of the overload is."""
    generic = [at for at, it in enumerate(found.overload.parameters) if it.word in _GENERIC]
    known = (at for at, it in enumerate(arguments) if not isinstance(base_of(decayed(it)), Unknown))
    return not generic or bool(set(generic) & set(known))


def shown(builtin: Builtin, found: Resolved) -> str:
    """Return the signature of a call with its real types."""
    image = next((base for it in found.parameters if isinstance(base := base_of(it), OpaqueType)), None)
    words = [_spoken_word(it, image) for it in found.overload.parameters]
    parameters = [
        word if isinstance(base_of(type_), Unknown) else spelled(type_, parameter.name)
        for type_, parameter, word in zip(found.parameters, found.overload.parameters, words, strict=False)
    ]
    if found.overload.is_variadic:
        parameters.append("...")
    return f"{spelled(found.result)} {builtin.name}({', '.join(parameters)})"
