"""A launch as somebody wrote it: perhaps only some of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import Argument, Origin
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.reading import ReadScope


class LaunchTexts(Protocol):
    """What a configuration says of one launch; sizes are empty where they are left to be inferred."""

    @property
    def kernel(self) -> str: ...  # noqa: D102
    @property
    def global_size(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def local_size(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def global_offset(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def arguments(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Formulas:
    """What a host program computes the parts of a launch by that it leaves open; "" where it says nothing.

    Of arguments in local memory it is their bytes.
    """

    global_size: tuple[str, ...] = ()
    local_size: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    offset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialLaunch:
    """Parts of a launch. Empty sizes and missing arguments are left to be inferred.

    `arguments` are texts as after `--arg NAME=`; `parsed` are arguments read already (`.sim` files). Files
    that they name are looked up from `folder` (empty: the current one), and are read only `within` some
    folders (None: a person named them).
    """

    kernel: str | None = None
    global_size: tuple[int, ...] = ()
    local_size: tuple[int, ...] = ()
    global_offset: tuple[int, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    parsed: Mapping[str, Argument] = field(default_factory=dict)
    origin: Origin = Origin.GIVEN
    source: str = ""
    folder: str = ""
    within: ReadScope | None = None
    dimensions: int = 0
    """How many dimensions it has where the sizes themselves are open; 0 where that is open, too."""
    partly_global: tuple[int, ...] = ()
    """Where a global size as a whole is open: its dimensions that are known, 0 for the others."""
    partly_local: tuple[int, ...] = ()
    """The same of a local size."""
    formulas: Formulas | None = None
    """How what is open hangs together."""

    @property
    def is_empty(self) -> bool:
        """True if it says nothing beyond the kernel's name."""
        sizes = self.global_size or self.local_size or self.global_offset
        partly = self.partly_global or self.partly_local
        return not (sizes or partly or self.arguments or self.parsed)


def parse_size(text: str, least: int = 1) -> tuple[int, ...]:
    """Return `X[,Y[,Z]]` (also `XxYxZ`) as a tuple of numbers of at least `least` (0 for an offset).

    Raises: LaunchError.
    """
    parts = text.replace("x", ",").replace("X", ",").split(",")
    if not 1 <= len(parts) <= 3 or not all(_is_number(it.strip()) for it in parts):
        raise LaunchError(f"`{text}` is not a size", "write 1 to 3 whole numbers, as in 256,256")
    sizes = tuple(int(it) for it in parts)
    if not all(least <= it < 1 << 40 for it in sizes):
        what = "size" if least else "offset"
        raise LaunchError(
            f"`{text}` is no {what}", f"every dimension must be at least {least} and below 2^40"
        )
    return sizes


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 40


def from_options(
    kernel: str | None = None,
    global_size: str | None = None,
    local_size: str | None = None,
    arguments: Sequence[str] = (),
) -> PartialLaunch | LaunchProblem:
    """Read the command line's launch options: `--kernel`, `--global`, `--local`, `--arg NAME=VALUE`…"""
    sizes: dict[str, tuple[int, ...]] = {}
    for option, text in (("--global", global_size), ("--local", local_size)):
        try:
            sizes[option] = parse_size(text) if text is not None else ()
        except LaunchError as error:
            return error.at(option)
    texts: dict[str, str] = {}
    for item in arguments:
        name, equals, value = item.partition("=")
        if not equals or not name.strip().isidentifier():
            return LaunchProblem(
                f"--arg {item}", "it is not NAME=VALUE", "write --arg N=256 or --arg A=random(N*N)"
            )
        if name.strip() in texts:
            return LaunchProblem(f"--arg {item}", f"{name.strip()} is given twice", "keep one of them")
        texts[name.strip()] = value.strip()
    return PartialLaunch(kernel, sizes["--global"], sizes["--local"], arguments=texts, source="command line")
