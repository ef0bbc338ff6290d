"""What a launch is.

A launch is complete when every kernel parameter has an argument. Where one comes from is part of it, because
every figure holds for its launch only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, field
from enum import Enum
from pathlib import PurePath

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.file_state import file_state, is_readable
from clmap_lsp.reading import ReadScope


class Origin(Enum):
    """Where a launch (or one part of it) comes from."""

    GIVEN = "given"
    """Command line, or a `.sim` file named there."""
    CONFIGURED = "configured"
    """`clmap.toml`, a `// clmap:` comment in the source, or a `.sim` file beside it."""
    HOST = "host"
    """Read from host code: every run of the program uses it."""
    HOST_DEFAULT = "host default"
    """Read from host code: what the program takes unless told otherwise."""
    RECORDED = "recorded"
    """Seen while a program ran."""
    INFERRED = "inferred"
    """Worked out from the kernel itself."""


class Fill(Enum):
    """How a buffer's elements are made."""

    ZEROS = "zeros"
    IOTA = "iota"
    RANDOM = "random"
    """`numpy.random.default_rng(seed)`: floats uniform in [0, 1), integers over the type's range."""
    PERMUTATION = "permutation"
    """`numpy.random.default_rng(seed).permutation(count)`."""
    FORMULA = "formula"
    """`text` is an arithmetic expression in `i`."""
    FILE = "file"
    """`text` is a path: raw little-endian bytes."""
    VALUES = "values"
    """`text` is a comma-separated list."""
    BYTES = "bytes"
    """`text` has a character for each byte of the buffer: data that were laid out otherwise."""
    NOINIT = "noinit"
    """Never written by the host: reading an element before the kernel writes it is a fault."""
    NULL = "null"
    """A null pointer: `count` is 0."""


@dataclass(frozen=True, slots=True)
class BufferArgument:
    """A `__global` or `__constant` buffer of `count` elements, or an image of as many texels.

    They are elements of the parameter's element type, or of the scalar type that `element` names (a `.sim`
    file may spell a buffer of structs as chars). `sides` are an image's width, height and depth (or layers),
    as many as its type has; empty where they were not declared.

    A file is looked up from `folder`, and read only `within` some folders, unless a person named it.
    """

    fill: Fill
    count: int
    seed: int = 0
    text: str = ""
    element: str = ""
    sides: tuple[int, ...] = ()
    folder: str = ""
    within: ReadScope | None = None

    @property
    def path(self) -> str:
        """The file that it takes its bytes from; of a `FILE` only."""
        return str(PurePath(self.folder, self.text))

    def __str__(self) -> str:
        if self.sides:
            return f"image({','.join(map(str, self.sides))}{self._image_fill()})"
        match self.fill:
            case Fill.FORMULA:
                return f"formula({self.count},{self.text})"
            case Fill.FILE:
                return f"file:{self.text}"
            case Fill.VALUES:
                return f"values({self.text})"
            case Fill.NULL:
                return "null"
            case Fill.RANDOM | Fill.PERMUTATION if self.seed:
                return f"{self.fill.value}({self.count},{self.seed})"
            case _:
                return f"{self.fill.value}({self.count})"

    def _image_fill(self) -> str:
        match self.fill:
            case Fill.ZEROS:
                return ""
            case Fill.FORMULA:
                return f",formula,{self.text}"
            case Fill.FILE:
                return f",file:{self.text}"
            case _:
                return f",{self.fill.value}{f',{self.seed}' if self.seed else ''}"


@dataclass(frozen=True, slots=True)
class LocalArgument:
    """A `__local` pointer argument of `count` elements."""

    count: int

    def __str__(self) -> str:
        return f"local({self.count})"


@dataclass(frozen=True, slots=True)
class ScalarArgument:
    """A scalar, the lanes of a vector, or a struct.

    `element` names the scalar type in which the values of a struct are spelt, side by side; it is empty for
    scalars and vectors, whose type the parameter gives.
    """

    values: tuple[int | float, ...]
    element: str = ""
    members: tuple[str, ...] = ()
    """For a struct: which of its members each value is, as in `.strides[1]`."""

    def __str__(self) -> str:
        if self.members:
            return str(self.as_members())
        return ",".join(f"{it:g}" if isinstance(it, float) else str(it) for it in self.values)

    def as_members(self) -> MembersArgument:
        """Return the members of a struct that are not zero."""
        pairs = zip(self.members, self.values, strict=True)
        return MembersArgument(tuple((name, value) for name, value in pairs if value))


@dataclass(frozen=True, slots=True)
class MembersArgument:
    """Members of a struct, as in `{strides=[1,1024]}`, before its type is known; others are zero, as in C."""

    members: tuple[tuple[str, int | float], ...]

    def __str__(self) -> str:
        return "{" + ",".join(f"{name[1:]}={value!r}" for name, value in self.members) + "}"


Argument = BufferArgument | LocalArgument | ScalarArgument | MembersArgument


def _described(argument: Argument) -> tuple[object, ...]:
    contents = ""
    if isinstance(argument, BufferArgument) and argument.fill is Fill.FILE:
        contents = file_state(argument.path, argument.within)
    return type(argument).__name__, *astuple(argument), contents


OFFSET = "global offset"
"""The part of a launch that says where global ids start: no parameter has a name like this."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One NDRange launch of one kernel.

    `global_size` and `local_size` have the same length, 1 to 3, dimension 0 first. A local size that does
    not divide the global size leaves smaller groups at the end, as OpenCL 2.0 allows.
    """

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    origin: Origin = Origin.INFERRED
    inferred: frozenset[str] = frozenset()
    """Parts inferred even if others were given: `global`, `local`, `OFFSET`, or a parameter's name."""
    global_offset: tuple[int, ...] = ()
    source: str = ""
    """For people: `clmap.toml:12`, `line 3`, `launch.sim`, or how it was inferred."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Where each part comes from: `global`, `local`, `OFFSET` if there is one, and arguments by name."""
    capped: frozenset[str] = frozenset()
    """Buffers that were made shorter than the kernel may reach, as all of it would not fit into memory."""

    @property
    def work_items(self) -> int:
        """Number of work-items."""
        total = 1
        for size in self.global_size:
            total *= size
        return total

    @property
    def group_items(self) -> int:
        """Number of work-items of a full work-group."""
        total = 1
        for size in self.local_size:
            total *= size
        return total

    @property
    def num_groups(self) -> tuple[int, ...]:
        """Number of work-groups in each dimension, a partial last one included."""
        return tuple(-(-g // x) for g, x in zip(self.global_size, self.local_size, strict=True))

    def scalar(self, name: str) -> int | float | None:
        """Return the value of a scalar argument, if it has one."""
        argument = self.arguments.get(name)
        return argument.values[0] if isinstance(argument, ScalarArgument) else None

    @property
    def integers(self) -> dict[str, int]:
        """The scalar arguments that are integers, by name."""
        return {
            name: it.values[0]
            for name, it in self.arguments.items()
            if isinstance(it, ScalarArgument) and len(it.values) == 1 and isinstance(it.values[0], int)
        }

    @property
    def files(self) -> frozenset[str]:
        """The files that buffers are read from, as far as they may be read."""
        named = [
            it for it in self.arguments.values() if isinstance(it, BufferArgument) and it.fill is Fill.FILE
        ]
        return frozenset(it.path for it in named if is_readable(it.path, it.within))

    def fingerprint(self) -> str:
        """Return what changes whenever a figure of this launch may; results are kept under it.

        It holds the contents of the files that buffers are read from as they are now, and every argument to
        the last bit, but not `source`, which only says where the launch was found. The same in every process.
        """
        arguments = [(name, *_described(it)) for name, it in sorted(self.arguments.items())]
        sizes = self.global_size, self.local_size, self.global_offset
        whole = self.kernel, sizes, arguments, self.origin.value, sorted(self.inferred), sorted(self.capped)
        return hashlib.blake2b(repr(whole).encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()

    @property
    def sizes(self) -> str:
        """The sizes for a person: `256x256 in groups of 16x16`."""
        sizes = "x".join(map(str, self.global_size))
        return f"{sizes} in groups of {'x'.join(map(str, self.local_size))}"

    def describe(self) -> str:
        """Return it for a person: `256x256 in groups of 16x16, N=256 (inferred)`.

        With a global offset: `256 from 64 in groups of …`.
        """
        sizes = "x".join(map(str, self.global_size))
        groups = "x".join(map(str, self.local_size))
        offset = f" from {'x'.join(map(str, self.global_offset))}" if any(self.global_offset) else ""
        scalars = ", ".join(
            f"{name}={value}" for name, value in self.arguments.items() if isinstance(value, ScalarArgument)
        )
        given = f"{groups}, {scalars}" if scalars else groups
        return f"{sizes}{offset} in groups of {given} ({self.origin.value})"
