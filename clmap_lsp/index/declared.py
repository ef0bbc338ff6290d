"""What a declaration may not say, in clang's words: types of parameters, members, results and variables.

Source: OpenCL C Specification 3.0, 6.11 (restrictions); ISO/IEC 9899:1999, 6.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.index.types import (
    Array,
    Base,
    Enumeration,
    Function,
    Named,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    canonical,
    space_of,
    spelled,
)
from clmap_lsp.source.types import AddressSpace, OpaqueType, ScalarType

_NO_KERNEL_PARAMETERS = frozenset({
    *("bool", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
    *("event_t", "reserve_id_t", "ndrange_t"),
})  # fmt: skip
_HANDLES = frozenset({"sampler_t", "event_t"})
_MOST_INSIDE = 30
"""Structures in each other that are looked through."""
_WORK_GROUP_SIZES = frozenset({"reqd_work_group_size", "work_group_size_hint"})


def is_image_or_sampler(base: Base) -> bool:
    """Tell whether a type is that of images or samplers, which nothing may point to, hold or give back."""
    return isinstance(base, OpaqueType) and (base.is_image or base.name == "sampler_t")


# ------------------------------------------------------------------------------------ kernel parameters


def kernel_parameter_fault(type_: Qualified, version: int, earlier: set[str]) -> str | None:
    """Return why no kernel can have a parameter of a type; pointers to a wrong space aside.

    Args:
        earlier: the types of the parameters before, which a compiler does not look at again in a structure.
    """
    if _is_for_kernels_only(type_):
        return f"'{_name_of(type_)}' cannot be used as the type of a kernel parameter"
    base = base_of(type_)
    if isinstance(base, Pointer) and isinstance(base_of(base.pointee), Pointer) and version < 200:
        return "kernel parameter cannot be declared as a pointer to a pointer"
    if not isinstance(base, Record):
        return None
    if base.members is None:
        return f"variable has incomplete type '{spelled(type_)}'"
    for member in _within(base, _MOST_INSIDE):
        inner = member.type
        while inner is not None and isinstance(array := base_of(inner), Array):
            inner = array.element
        if inner is None or spelled(inner, is_canonical=True) in earlier:
            continue
        if isinstance(base_of(inner), Pointer):
            return f"{base.keyword} kernel parameters may not contain pointers"
        if _is_for_kernels_only(inner):
            return f"'{spelled(Qualified(type_.base))}' cannot be used as the type of a kernel parameter"
    return None


def _is_for_kernels_only(type_: Qualified) -> bool:
    """Tell whether a type has another size on the host, or none, through all of its typedefs."""
    while True:
        if _name_of(type_) in _NO_KERNEL_PARAMETERS:
            return True
        if not isinstance(type_.base, Named):
            return False
        type_ = type_.base.target


def _name_of(type_: Qualified) -> str:
    base = type_.base
    return base.name if isinstance(base, Named | ScalarType | OpaqueType) else ""


def _within(record: Record, most: int) -> Iterator[Symbol]:
    """Yield the members of a structure, and those of the structures in it, each structure once."""
    pending, seen = [(record, most)], {id(record)}
    while pending:
        outer, depth = pending.pop()
        for member in outer.members or ():
            yield member
            inner = UNKNOWN_BASE if member.type is None else base_of(member.type)
            while isinstance(inner, Array):
                inner = base_of(inner.element)
            if isinstance(inner, Record) and id(inner) not in seen and depth:
                seen.add(id(inner))
                pending.append((inner, depth - 1))


UNKNOWN_BASE: Base = Unknown()


# --------------------------------------------------------------------- parameters, members and variables


def parameter_fault(type_: Qualified) -> str | None:
    """Return why no function can have a parameter of a type, as it is declared."""
    space = canonical(type_).space
    if space not in (None, AddressSpace.PRIVATE) and not isinstance(base_of(type_), Array):
        return "parameter may not be qualified with an address space"
    return handle_fault(type_)


def handle_fault(type_: Qualified) -> str | None:
    """Return what is wrong with an array of images or samplers, or a pointer to one."""
    base = base_of(type_)
    if isinstance(base, Pointer) and is_image_or_sampler(base_of(base.pointee)):
        return f"pointer to type '{spelled(base.pointee)}' is invalid in OpenCL"
    element = base
    while isinstance(element, Array):
        element = base_of(element.element)
    if element is not base and is_image_or_sampler(element):
        return f"array of '{element}' type is invalid in OpenCL"
    return None


def member_fault(name: str, type_: Qualified) -> str | None:
    """Return why no structure can have a member of a type."""
    base = base_of(type_)
    if isinstance(base, Function):
        return f"field '{name}' declared as a function"
    if isinstance(base, Record) and base.members is None:
        return f"field has incomplete type '{spelled(type_)}'"
    if isinstance(base, OpaqueType) and (base.is_image or base.name in _HANDLES):
        return f"the '{spelled(type_)}' type cannot be used to declare a structure or union field"
    if space_of(type_) is not None:
        return "field may not be qualified with an address space"
    return handle_fault(type_)


def result_fault(type_: Qualified) -> str | None:
    """Return why no function can give back a type."""
    if is_image_or_sampler(base_of(type_)):
        return f"declaring function return value of type '{spelled(type_)}' is not allowed"
    return None


def storage_fault(storage: str | None, version: int) -> str | None:
    """Return what is wrong with a storage class before a parameter."""
    if storage is None:
        return None
    if storage in ("register", "auto"):
        what = f"the '{storage}' storage class specifier"
        return f"OpenCL C version {version / 100:.1f} does not support {what}"
    return "invalid storage class specifier in function declarator"


def work_group_fault(name: str, arguments: str) -> str | None:
    """Return what is wrong with the sizes that an attribute gives."""
    if name not in _WORK_GROUP_SIZES:
        return None
    sizes = [it.strip() for it in arguments.split(",")] if arguments.strip() else []
    if len(sizes) != 3 and "(" not in arguments:
        return f"'{name}' attribute requires exactly 3 arguments"
    return f"'{name}' attribute must be greater than 0" if "0" in sizes else None


def for_kernels_alone(attributes: tuple[tuple[str, str], ...]) -> str | None:
    """Return what is wrong with the attributes of a function that is no kernel."""
    name = next((it for it, _ in attributes if it in _WORK_GROUP_SIZES), None)
    return name and f"attribute '{name}' can only be applied to an OpenCL kernel function"


# -------------------------------------------------------------------------------------- declared twice


def typedef_fault(name: str, old: Symbol, new: Symbol) -> str | None:
    """Return what is wrong where a typedef's name is declared anew; the same type may be."""
    if old.kind is not new.kind or old.type is None or new.type is None:
        return f"redefinition of '{name}' as different kind of symbol"
    before, after = (spelled(it.type, is_canonical=True) for it in (old, new) if it.type is not None)
    if before == after:
        return None
    was, is_ = spelled(old.type), spelled(new.type)
    return f"typedef redefinition with different types ('{is_}' vs '{was}')"


def declared_again_fault(old: Symbol, new: Symbol) -> str | None:
    """Return what is surely wrong where a name of the file is declared anew, as a variable or a type."""
    if old.kind is not new.kind:
        return f"redefinition of '{new.name}' as different kind of symbol"
    if old.type is None or new.type is None or _is_open(old.type) or _is_open(new.type):
        return None
    if new.kind is Kind.TYPEDEF:
        return typedef_fault(new.name, old, new)
    if _differ(old.type, new.type):
        word = "redefinition" if new.is_definition else "redeclaration"
        was, is_ = spelled(old.type), spelled(new.type)
        return f"{word} of '{new.name}' with a different type: '{is_}' vs '{was}'"
    return f"redefinition of '{new.name}'" if old.is_initialised and new.is_initialised else None


def functions_conflict(old: Qualified | None, new: Qualified | None) -> bool:
    """Tell whether two declarations of a function are surely of different types."""
    a, b = (None if it is None else base_of(it) for it in (old, new))
    if not isinstance(a, Function) or not isinstance(b, Function):
        return False
    if not (a.has_prototype and b.has_prototype) or a.is_variadic or b.is_variadic:
        return False
    mine, theirs = (a.result, *a.parameters), (b.result, *b.parameters)
    if any(map(_is_open, (*mine, *theirs))):
        return False
    return len(mine) != len(theirs) or any(map(_differ, mine, theirs))


def _is_open(type_: Qualified) -> bool:
    """Tell whether it is not known what a type is; an enumeration may be declared as the integer it is."""
    base = base_of(type_)
    while isinstance(base, Array | Pointer):
        if isinstance(base, Array) and base.length is None:
            return True
        base = base_of(base.element if isinstance(base, Array) else base.pointee)
    return isinstance(base, Unknown | Enumeration | Function)


def _differ(a: Qualified, b: Qualified) -> bool:
    one, other = base_of(a), base_of(b)
    if isinstance(one, Record) or isinstance(other, Record):
        return one is not other
    return spelled(Qualified(one), is_canonical=True) != spelled(Qualified(other), is_canonical=True)
