"""Launches as they came up in a run of host code: kernels, sizes and arguments by what it left behind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from clmap_lsp.dataclass import dataclass
from clmap_lsp.hosts.fields_of_classes import kept_for
from clmap_lsp.hosts.host_launch import HostLaunch, HostValue, SetAt
from clmap_lsp.hosts.interpreter import Raised
from clmap_lsp.hosts.kernels import KernelParameter, KernelText, kernels_in
from clmap_lsp.hosts.project import HostProject, KeptKernel, distance
from clmap_lsp.hosts.store import Store, join_values, named, program_field, program_of, texts_of
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
from clmap_lsp.source.options import defines_in

_MAX_KERNELS = 3
"""Kernels that one field of a structure is known to hold; with more it is one of a wrapper that holds any."""
_MAX_OWN_KERNELS = 8
"""The same for a field that the class which launches from it fills itself."""
_MAX_AS_NEAR, _MAX_VERSIONS = 3, 8
"""Files of which any may be meant; where every kernel has the same name, no file is."""
_NUMBER = re.compile(r"\d+")
_FAR = 4
"""Folders between host code and the file of a kernel that it names but does not say the file of."""
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(?:[ \t]+([^\n]*?))?[ \t]*$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif|define)\b[^\n]*", re.MULTILINE)
_MAX_HOPS = 16
"""Pointers that are followed to the sizes; two that hold each other have no end."""


def launches_raised(project: HostProject, raised: Raised) -> Iterator[HostLaunch]:
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


def program_field_of(project: HostProject, raised: Raised) -> str:
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
