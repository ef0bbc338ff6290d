"""One kernel whose arrays of structures become an array for each member: its text, launches and data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.outline import masked
from clmap_lsp.fixes.parameters import TypedParameter, pointer_parameters
from clmap_lsp.launch.contents import buffer_contents
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, StructType, VectorType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.launch.model import Argument
    from clmap_lsp.source.ir import Kernel, Variable
    from clmap_lsp.source.types import Field

MOST_BYTES = 1 << 26
"""Of a buffer that is taken apart to run the kernel on its data."""
MOST_TYPED = 64
"""Structures of a launch whose values a launch comment repeats for each member."""
_MEMBER = re.compile(r"\s*\.\s*([A-Za-z_]\w*)")
_ATOMIC = re.compile(r"\batom(?:ic)?_\w+\s*\(\s*(?:\(.*\)\s*)?\Z", re.DOTALL)


class KeptWholeError(Exception):
    """Why structures cannot be taken apart."""


@dataclass(frozen=True, slots=True)
class MemberArray:
    """A member that a kernel uses, and the name of its array."""

    field: Field
    name: str


@dataclass(frozen=True, slots=True)
class _Use:
    """One `p[…].member`: where the name starts, the subscript ends, and the member ends."""

    start: int
    close: int
    end: int
    member: str


@dataclass(frozen=True, slots=True)
class TakenApart:
    """A parameter that points to structures, its uses, and the arrays that replace it."""

    typed: TypedParameter
    struct: StructType
    arrays: tuple[MemberArray, ...]
    uses: tuple[_Use, ...]

    @property
    def variable(self) -> Variable:
        """The parameter."""
        return self.typed.variable

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.variable.name

    def edits(self, scope: Scope) -> Iterator[Edit]:
        """Yield the edits of the kernel's text."""
        names = {it.field.name: it.name for it in self.arrays}
        text = scope.text[self.typed.start : self.typed.end]
        space = text[: len(text) - len(text.lstrip())]
        declared = (self._declared(text.strip(), it) for it in self.arrays)
        yield scope.replaced(self.typed.start, self.typed.end, space + ", ".join(declared))
        for use in self.uses:
            yield scope.replaced(use.start, use.start + len(self.name), names[use.member])
            yield scope.replaced(use.close, use.end, "")

    def _declared(self, text: str, array: MemberArray) -> str:
        spelt = re.search(r"((?:struct\s+)?[A-Za-z_]\w*)(?=\s*(?:(?:const|volatile)\s*)*\*)", text)
        assert spelt is not None, "a pointer parameter has a star behind its type"
        typed = text[: spelt.start()] + str(array.field.type) + text[spelt.end() :]
        return re.sub(rf"\b{re.escape(self.name)}$", array.name, typed)

    def typed_argument(self, argument: BufferArgument) -> Iterator[tuple[str, Argument]]:
        """Yield the arrays of a launch as a comment says them: filled like the structures."""
        same = argument.fill in (Fill.ZEROS, Fill.RANDOM, Fill.IOTA, Fill.NOINIT, Fill.NULL)
        whole = None if same or argument.count > MOST_TYPED else self._rows(argument)
        for at, it in enumerate(self.arrays):
            kind = it.field.type
            if whole is not None and isinstance(kind, ScalarType):
                from clmap_lsp.launch.contents import numpy_dtype

                values = whole[:, it.field.offset : it.field.offset + kind.size].copy()
                numbers = values.view(numpy_dtype(kind)).ravel().tolist()
                yield it.name, BufferArgument(Fill.VALUES, len(numbers), text=",".join(map(repr, numbers)))
            else:
                fill = argument.fill if same else Fill.ZEROS
                yield it.name, BufferArgument(fill, argument.count, seed=argument.seed + at)

    def exact_argument(self, argument: BufferArgument) -> Iterator[tuple[str, Argument]]:
        """Yield the arrays of a launch with the very data of the structures."""
        if argument.fill in (Fill.NOINIT, Fill.NULL):
            yield from ((it.name, replace(argument, element="")) for it in self.arrays)
            return
        rows = self._rows(argument)
        for it in self.arrays:
            data = rows[:, it.field.offset : it.field.offset + it.field.type.size].tobytes()
            yield it.name, BufferArgument(Fill.BYTES, len(rows), text=data.decode("latin-1"))

    def together(
        self, argument: BufferArgument, buffers: Mapping[str, NDArray[np.uint8]]
    ) -> NDArray[np.uint8]:
        """Return the structures of which the arrays were made; members without an array are as they were."""
        data = self._contents(argument).copy()
        rows = data[: len(data) // self.struct.size * self.struct.size].reshape(-1, self.struct.size)
        for it in self.arrays:
            size = it.field.type.size
            rows[:, it.field.offset : it.field.offset + size] = buffers[it.name].reshape(len(rows), size)
        return data

    def _contents(self, argument: BufferArgument) -> NDArray[np.uint8]:
        return buffer_contents(argument, self.variable.type, limit_bytes=MOST_BYTES)

    def _rows(self, argument: BufferArgument) -> NDArray[np.uint8]:
        data = self._contents(argument)
        return data[: data.size // self.struct.size * self.struct.size].reshape(-1, self.struct.size)


@dataclass(frozen=True, slots=True)
class ApartKernel:
    """A kernel all of whose pointers to one structure are taken apart."""

    kernel: Kernel
    parameters: tuple[TakenApart, ...]

    def relaunched(self, launch: Launch) -> Launch:
        """Return the launch of the rewritten kernel, as a comment would give it."""
        return self._with(launch, lambda it, argument: it.typed_argument(argument))

    def repacked(self, launch: Launch, _: Launch) -> Launch:
        """Return the launch of the rewritten kernel with the data of the original's."""
        return self._with(launch, lambda it, argument: it.exact_argument(argument))

    def restored(
        self, launch: Launch, buffers: Mapping[str, NDArray[np.uint8]]
    ) -> Mapping[str, NDArray[np.uint8]]:
        """Return the rewritten kernel's buffers as the original's, after a launch of that."""
        found = dict(buffers)
        for it in self.parameters:
            argument = launch.arguments[it.name]
            assert isinstance(argument, BufferArgument), "only buffers are taken apart"
            found[it.name] = it.together(argument, buffers)
        return found

    def _with(self, launch: Launch, made: _Made) -> Launch:
        by_name = {it.name: it for it in self.parameters}
        arguments: dict[str, Argument] = {}
        for name, argument in launch.arguments.items():
            if name in by_name and isinstance(argument, BufferArgument):
                arguments |= dict(made(by_name[name], argument))
            else:
                arguments[name] = argument
        return replace(launch, arguments=arguments)


if TYPE_CHECKING:
    from collections.abc import Callable

    _Made = Callable[[TakenApart, BufferArgument], Iterator[tuple[str, Argument]]]


def pointed_at(kernel: Kernel) -> tuple[StructType, ...]:
    """Return the structures that parameters of a kernel point to in global or constant memory."""
    kinds = (it.type for it in kernel.parameters)
    return tuple(
        dict.fromkeys(
            it.pointee
            for it in kinds
            if isinstance(it, PointerType)
            and it.space in (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
            and isinstance(it.pointee, StructType)
            and not it.pointee.is_union
        )
    )


def taken_apart(scope: Scope, struct: StructType) -> ApartKernel:
    """Return a kernel with every pointer to a structure taken apart. Raises: KeptWholeError if it cannot."""
    kernel = scope.subject.analysis.kernel
    mine = [it for it in kernel.parameters if isinstance(it.type, PointerType) and it.type.pointee == struct]
    typed = {it.variable: it for it in pointer_parameters(scope)}
    found = []
    for variable in mine:
        if not isinstance(variable.type, PointerType) or variable.type.space is AddressSpace.LOCAL:
            continue
        if variable not in typed:
            raise KeptWholeError(f"declares `{variable.name}` in a way that is not rewritten")
        argument = scope.subject.launch.arguments.get(variable.name)
        if not isinstance(argument, BufferArgument) or argument.element:
            raise KeptWholeError(f"is launched with something else than structures for `{variable.name}`")
        found.append(_parameter(scope, typed[variable], struct))
    return ApartKernel(kernel, tuple(found))


def _parameter(scope: Scope, typed: TypedParameter, struct: StructType) -> TakenApart:
    name = typed.variable.name
    uses = tuple(_uses(scope, name, typed.end))
    used = {it.member for it in uses}
    arrays = []
    for field in struct.fields:
        if field.name in used:
            _can_stand_alone(field)
            arrays.append(MemberArray(field, scope.fresh(f"{name}_{field.name}")))
    if len(arrays) < len(used):
        raise KeptWholeError(f"uses members of `{name}` that have no name of their own")
    if not arrays:
        raise KeptWholeError(f"uses no member of `{name}`")
    return TakenApart(typed, struct, tuple(arrays), uses)


def _can_stand_alone(field: Field) -> None:
    what = ""
    if field.bits is not None:
        what = "a bit-field"
    elif isinstance(field.type, StructType):
        what = "a structure"
    elif not isinstance(field.type, ScalarType | VectorType):
        what = "a pointer" if isinstance(field.type, PointerType) else "an array"
    if what:
        raise KeptWholeError(f"uses the member `{field.name}`, which is {what}")


def _uses(scope: Scope, name: str, declared: int) -> Iterator[_Use]:
    """Yield every `name[…].member`. Raises: KeptWholeError where the name is used in any other way."""
    mentions = [it for it in scope.mentions(name) if it >= declared]
    start = scope.subject.analysis.span.start
    every = re.findall(rf"\b{re.escape(name)}\b", masked(scope.text[start : scope.body.end]))
    if len(every) != len(scope.mentions(name)):
        raise KeptWholeError(f"uses `{name}` in text that this build leaves out")
    for at in mentions:
        if scope.shown[:at].rstrip().endswith((".", "->")):
            raise KeptWholeError(f"has members named `{name}`, like its parameter")
        (inside,) = scope.subscripts(at + len(name), 1) or (None,)
        if inside is None:
            raise KeptWholeError(f"{_what_else(scope, name, at)}")
        close = inside[1] + 1
        member = _MEMBER.match(scope.shown, close)
        if member is None:
            raise KeptWholeError(f"copies or passes on whole structures of `{name}`")
        before = scope.shown[scope.body.start : at].rstrip()
        if before.endswith("&") and not before.endswith("&&") and not _ATOMIC.search(before[:-1]):
            raise KeptWholeError(f"takes the address of a member of `{name}`")
        yield _Use(at, close, member.end(), member[1])


def _what_else(scope: Scope, name: str, at: int) -> str:
    after = scope.shown[at + len(name) :].lstrip()[:2]
    if after == "->":
        return f"reaches members of `{name}` through a pointer (`->`)"
    if after[:1] in (",", ")"):
        return f"passes `{name}` on to a function"
    return f"uses `{name}` as a pointer"


def titled(names: Sequence[str]) -> str:
    """Return names as they stand in a title."""
    return ", ".join(f"`{it}`" for it in dict.fromkeys(names))
