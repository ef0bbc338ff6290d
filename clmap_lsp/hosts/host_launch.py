"""A launch that host code makes, with what is known of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass


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
