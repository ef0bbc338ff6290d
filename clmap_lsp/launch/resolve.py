"""From what was given, configured, commented and found beside a kernel to one complete launch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clmap_lsp.launch.arguments import FORMS, parse_all
from clmap_lsp.launch.comment import from_comments
from clmap_lsp.launch.consistent import agreeing
from clmap_lsp.launch.image import dimensions
from clmap_lsp.launch.infer import SMALL, Draft, Guess, complete
from clmap_lsp.launch.model import (
    OFFSET,
    Argument,
    BufferArgument,
    Fill,
    Launch,
    LocalArgument,
    MembersArgument,
    Origin,
    ScalarArgument,
)
from clmap_lsp.launch.partial import LaunchTexts, PartialLaunch
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.layout import leaves
from clmap_lsp.source.program import Program
from clmap_lsp.source.types import (
    AddressSpace,
    OpaqueType,
    PointerType,
    ScalarType,
    StructType,
    UnknownType,
    VectorType,
)
from clmap_lsp.workspace import scope_of

_ANY_LOCAL = 1 << 20
MOST_ITEMS = 1 << 16
"""Work-items in a work-group: far more than any device takes."""


def resolve(
    program: Program,
    kernel: ir.Kernel,
    *,
    given: PartialLaunch | None = None,
    configured: LaunchTexts | None = None,
    beside: PartialLaunch | None = None,
) -> Launch | LaunchProblem:
    """Return the launch of a kernel.

    Each part is taken from the first source that has it: `given` (command line, or a `.sim` file named
    there), `configured` (`clmap.toml`), `// clmap:` comments, a `.sim` file `beside` the source; what none of
    them has is inferred. Sizes are taken together: a source that gives a global size also decides the local
    one, if it says so.
    """
    sources = sources_of(program, kernel, given, configured, beside)
    return sources if isinstance(sources, LaunchProblem) else launch_from(kernel, sources)


def _held(program: Program, source: PartialLaunch) -> PartialLaunch:
    """Return what a file of the workspace says, held to the workspace where it names files."""
    if source.origin is Origin.GIVEN or not any("file:" in it for it in source.arguments.values()):
        return source
    return replace(source, folder=str(Path(program.path).parent), within=scope_of(program.path))


def launch_from(
    kernel: ir.Kernel, sources: Sequence[PartialLaunch], guess: Guess = SMALL
) -> Launch | LaunchProblem:
    """Return the launch that sources, strongest first, and the kernel itself give; nothing else counts."""
    made = _first_guess(kernel, sources, guess)
    formulas = next((it.formulas for it in sources if it.formulas is not None), None)
    if formulas is None or isinstance(made, LaunchProblem) or not (made.inferred or formulas.offset):
        return made
    guessed = agreeing(kernel, made, formulas)
    again = made if guessed is None else _first_guess(kernel, [*sources, guessed], guess)
    return made if isinstance(again, LaunchProblem) else again


def _first_guess(kernel: ir.Kernel, sources: Sequence[PartialLaunch], guess: Guess) -> Launch | LaunchProblem:
    draft = Draft(guess=guess)
    for source in sources:
        problem = _take(draft, source, kernel)
        if problem is not None:
            return problem
        if source.global_offset and not draft.global_offset:
            draft.global_offset = source.global_offset
            draft.origins[OFFSET] = source.origin
            if source.origin is Origin.INFERRED:
                draft.inferred.add(OFFSET)
        draft.dimensions = draft.dimensions or source.dimensions
        draft.partly_global = draft.partly_global or source.partly_global
        draft.partly_local = draft.partly_local or source.partly_local
    try:
        _pad(draft)
        complete(kernel, draft)
        _check_sizes(draft, kernel)
    except LaunchError as error:
        return error.at(sources[0].source if sources else f"kernel {kernel.name}")
    return _launch(kernel, draft, sources)


def source_text(sources: Sequence[PartialLaunch]) -> str:
    """Return where a launch comes from, for people."""
    texts = [it.source for it in sources if it.source and not it.is_empty]
    return ", ".join(dict.fromkeys(texts)) or "inferred from the kernel"


def _launch(kernel: ir.Kernel, draft: Draft, sources: Sequence[PartialLaunch]) -> Launch:
    offset = draft.global_offset
    origin = next((it.origin for it in sources if not it.is_empty), Origin.INFERRED)
    if origin is Origin.HOST_DEFAULT:
        origin = Origin.HOST  # Of a launch as a whole; each part says whether it is a default only.
    names = [it.name for it in kernel.parameters]
    return Launch(
        kernel.name,
        draft.global_size,
        draft.local_size,
        {name: draft.arguments[name] for name in names if name in draft.arguments},
        origin,
        frozenset(draft.inferred),
        (*offset, *(0 for _ in draft.global_size))[: len(draft.global_size)] if offset else (),
        source_text(sources),
        {**draft.origins, **dict.fromkeys(sorted(draft.inferred), Origin.INFERRED)},
        frozenset(draft.capped),
    )


def sources_of(
    program: Program,
    kernel: ir.Kernel,
    given: PartialLaunch | None,
    configured: LaunchTexts | None,
    beside: PartialLaunch | None,
) -> list[PartialLaunch] | LaunchProblem:
    """Return everything that says how a kernel is launched, strongest first."""
    found = [given] if given is not None and given.kernel in (None, "", kernel.name) else []
    if configured is not None and configured.kernel in ("", kernel.name):
        found.append(
            PartialLaunch(
                configured.kernel,
                configured.global_size,
                configured.local_size,
                configured.global_offset,
                configured.arguments,
                origin=Origin.CONFIGURED,
                source=configured.source,
            )
        )
    comment = from_comments(program, kernel)
    if isinstance(comment, LaunchProblem):
        return comment
    if comment is not None:
        found.append(comment)
    if beside is not None and beside.kernel in (None, kernel.name):
        found.append(beside)
    return [_held(program, it) for it in found]


def _take(draft: Draft, source: PartialLaunch, kernel: ir.Kernel) -> LaunchProblem | None:
    """Add the parts of a source that are still open; sizes of its arguments may use scalars known by now."""
    if source.global_size and not draft.global_size:
        draft.global_size = source.global_size
        draft.origins["global"] = source.origin
        if source.local_size and not draft.local_size:
            draft.local_size = source.local_size
            draft.origins["local"] = source.origin
    elif source.local_size and not draft.local_size:
        draft.local_size = source.local_size
        draft.origins["local"] = source.origin
    if source.origin is Origin.INFERRED:
        draft.inferred |= {name for name, it in draft.origins.items() if it is source.origin}
        draft.inferred |= source.parsed.keys() - draft.arguments.keys()
    known = {it.name: it for it in kernel.parameters}
    texts = {
        name: _text(argument)
        for name, argument in draft.arguments.items()
        if isinstance(argument, ScalarArgument) and len(argument.values) == 1
    }
    open_ = {name: text for name, text in source.arguments.items() if name not in draft.arguments}
    try:
        arguments = parse_all({**texts, **open_})
        for name, argument in [*arguments.items(), *source.parsed.items()]:
            if name in draft.arguments:
                continue
            _check_name(name, known, kernel)
            if isinstance(argument, BufferArgument) and argument.fill is Fill.FILE:
                argument = replace(argument, folder=source.folder, within=source.within)  # noqa: PLW2901
            draft.arguments[name] = _fitted(known[name], argument)
            draft.origins[name] = source.origin
    except LaunchError as error:
        return error.at(source.source or "launch")
    return None


def _text(argument: ScalarArgument) -> str:
    return repr(argument.values[0])


def _check_name(name: str, known: Mapping[str, Variable], kernel: ir.Kernel) -> None:
    if name not in known:
        names = ", ".join(known) or "none"
        raise LaunchError(f"kernel {kernel.name} has no parameter `{name}`", f"its parameters are {names}")


def _fitted(parameter: Variable, argument: Argument) -> Argument:
    """Check an argument against its parameter's type and convert it where that is meant.

    Raises: LaunchError.
    """
    if isinstance(argument, ScalarArgument):
        _check_numbers(parameter, argument.values)
    match parameter.type, argument:
        case PointerType(space=AddressSpace.LOCAL), LocalArgument():
            return argument
        case PointerType(space=AddressSpace.LOCAL), ScalarArgument(values=(int(count),)) if (
            0 < count < _ANY_LOCAL
        ):
            return LocalArgument(count)
        case PointerType(space=AddressSpace.LOCAL), _:
            raise LaunchError(
                f"`{parameter.name}` points to local memory", f"write {parameter.name}=local(n)"
            )
        case PointerType(), BufferArgument(sides=()):
            return argument
        case PointerType(), BufferArgument():
            raise LaunchError(f"`{parameter.name}` is a buffer, not an image", f"use one of {FORMS}")
        case PointerType(), _:
            raise LaunchError(f"`{parameter.name}` is a buffer, not a number", f"use one of {FORMS}")
        case ScalarType() | UnknownType(), ScalarArgument(values=values) if len(values) == 1:
            return argument
        case VectorType(lanes=lanes), ScalarArgument(values=values) if len(values) in (1, lanes):
            return ScalarArgument(values * lanes if len(values) == 1 else values, argument.element)
        case OpaqueType(is_image=True), _:
            _check_image(parameter.name, parameter.type, argument)
            return argument
        case StructType(), MembersArgument():
            return _struct(parameter.name, parameter.type, argument)
        case StructType(), ScalarArgument(values=values, element="") if len(values) == len(
            leaves(parameter.type)
        ):
            return ScalarArgument(values, members=tuple(path for path, _ in leaves(parameter.type).values()))
        case StructType() | OpaqueType(), _ if not isinstance(argument, MembersArgument):
            return argument
        case VectorType(lanes=lanes), ScalarArgument(values=values):
            raise LaunchError(
                f"`{parameter.name}` takes {lanes} numbers, not {len(values)}", "write it as (1,2,3,4)"
            )
        case _:
            raise LaunchError(
                f"`{parameter.name}` has the type {parameter.type}", f"write {parameter.name}=1"
            )


def _check_numbers(parameter: Variable, values: Sequence[int | float]) -> None:
    """Refuse what no integer can be: C leaves open what becomes of it. Raises: LaunchError."""
    kind = parameter.type.element if isinstance(parameter.type, VectorType) else parameter.type
    is_sampler = isinstance(kind, OpaqueType) and not kind.is_image
    if not (is_sampler or (isinstance(kind, ScalarType) and not kind.is_float)):
        return
    for value in values:
        if isinstance(value, float) and not (
            math.isfinite(value) and -(2.0**63) <= value < 2.0**64 and (value.is_integer() or not is_sampler)
        ):
            raise LaunchError(
                f"`{parameter.name}` ({parameter.type}) cannot be {value:g}", "write a whole number"
            )


def _struct(name: str, struct: StructType, argument: MembersArgument) -> ScalarArgument:
    """Return a struct whose other members are zero. Raises: LaunchError."""
    places = {path: at for at, (path, _) in enumerate(leaves(struct).values())}
    values: list[int | float] = [0] * len(places)
    for path, value in argument.members:
        if path not in places:
            # `v=3` gives every lane of a vector, as in OpenCL C.
            lanes = [it for it in places if it.startswith(f"{path}.s")]
            if not lanes:
                shown = ", ".join(it[1:] for it in list(places)[:8])
                raise LaunchError(f"`{name}` has no number `{path[1:]}`", f"it has {shown}")
            for lane in lanes:
                values[places[lane]] = value
        else:
            values[places[path]] = value
    return ScalarArgument(tuple(values), members=tuple(places))


def _check_image(name: str, image: OpaqueType, argument: Argument) -> None:
    wanted = dimensions(image.name)
    example = f"write {name}=image({','.join(['64'] * wanted)},random)"
    if not isinstance(argument, BufferArgument):
        raise LaunchError(f"`{name}` is an image, not a number", example)
    if argument.sides and len(argument.sides) != wanted:
        given = len(argument.sides)
        raise LaunchError(f"`{name}`, an {image.name}, has {wanted} sides, not {given}", example)


def _pad(draft: Draft) -> None:
    """Give both sizes the same number of dimensions."""
    if not (draft.global_size and draft.local_size):
        return
    n = max(len(draft.global_size), len(draft.local_size))
    draft.global_size = (*draft.global_size, 1, 1)[:n]
    draft.local_size = (*draft.local_size, 1, 1)[:n]


def _check_sizes(draft: Draft, kernel: ir.Kernel) -> None:
    required = kernel.attributes.reqd_work_group_size
    n = len(draft.local_size)
    if required and draft.local_size != required[:n] and "local" not in draft.inferred:
        wanted = ",".join(map(str, required[:n]))
        raise LaunchError(
            f"kernel {kernel.name} requires work-groups of {wanted} (reqd_work_group_size)",
            f"use local={wanted}",
        )
    items = 1
    for size in draft.local_size:
        items *= size
    if items > MOST_ITEMS:
        raise LaunchError(f"a work-group of {items} work-items is too large", f"use at most {MOST_ITEMS}")


def open_parts(launch: Launch) -> Iterator[str]:
    """Yield the names of the parts that were inferred, sizes first, as a person reads them."""
    yield from (it for it in ("global", "local", OFFSET) if it in launch.inferred)
    yield from (it for it in launch.arguments if it in launch.inferred)


def as_comment(launch: Launch) -> str:
    """Return the `// clmap:` comment that pins a launch."""
    sizes = f"global={_listed(launch.global_size)} local={_listed(launch.local_size)}"
    if any(launch.global_offset):
        sizes += f" offset={_listed(launch.global_offset)}"
    arguments = " ".join(f"{name}={argument_text(it)}" for name, it in launch.arguments.items())
    return f"// clmap: {sizes} {arguments}".rstrip()


def changed_sizes(before: Launch, after: Launch) -> dict[str, str] | None:
    """Return the sizes that differ, as in a comment; `None` if anything else differs too."""
    if before.arguments != after.arguments:
        return None
    pairs = {
        "global": (before.global_size, after.global_size),
        "local": (before.local_size, after.local_size),
        "offset": (before.global_offset, after.global_offset),
    }
    return {name: _listed(new) for name, (old, new) in pairs.items() if old != new}


def _listed(sizes: Sequence[int]) -> str:
    return ",".join(map(str, sizes))


def argument_text(argument: Argument) -> str:
    """Return an argument as after `--arg NAME=`, to the last bit."""
    if isinstance(argument, ScalarArgument) and argument.members:
        return str(argument.as_members())
    if isinstance(argument, ScalarArgument):
        texts = [repr(it) for it in argument.values]
        return texts[0] if len(texts) == 1 else f"({','.join(texts)})"
    return str(argument).replace(" ", "")
