"""What callers give, looked at before anything is made of it: notebooks have no type checker."""

from __future__ import annotations

import itertools
import numbers
import operator
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.defaults import MOST_IN_LOCKSTEP
from clmap_lsp.errors import UsageError, one_line

if TYPE_CHECKING:
    from clmap_lsp.launch.partial import PartialLaunch

Size = int | Sequence[int]
Arguments = Mapping[str, "int | float | str"]
_MOST = 1 << 40
_MOST_DIGITS = 400
"""Of a number: more than a double or a vector of 64-bit integers can hold, and fewer than Python refuses."""


def launch(
    kernel: str | None, global_size: Size | None, local_size: Size | None, args: Arguments | None
) -> PartialLaunch | None:
    """Return what a caller says of a launch; None where that is nothing. Raises: UsageError."""
    from clmap_lsp.launch.partial import PartialLaunch

    if args is not None and not isinstance(args, Mapping):
        raise UsageError(f"args={shown(args)}: give a mapping, as in args={{'N': 256}}")
    if global_size is None and local_size is None and not args:
        return None
    whole, group = _sizes("global_size", global_size), _sizes("local_size", local_size)
    texts = {name: _argument(name, value) for name, value in (args or {}).items()}
    return PartialLaunch(kernel, whole, group, arguments=texts, source="the caller")


def _sizes(name: str, size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    size = size.item() if getattr(size, "ndim", None) == 0 else size  # A scalar of NumPy.
    try:
        one_or_more = size if isinstance(size, Iterable) and not isinstance(size, _UNORDERED) else (size,)
        first = itertools.islice(one_or_more, 4)  # An iterator may have no end.
        found = tuple(operator.index(it) for it in first if not isinstance(it, bool))
    except TypeError:
        found = ()
    if not 1 <= len(found) <= 3 or not all(0 < it < _MOST for it in found):
        raise UsageError(
            f"{name}={shown(size)}: give one to three whole numbers of at least 1, as in {name}=(256, 256)"
        )
    return found


_UNORDERED = (str, bytes, Mapping, Set)
"""What can be walked through, but is no sizes in an order."""


def _argument(name: str, value: Any) -> str:
    if isinstance(value, str):
        _check_file(name, value)
        return value
    value = value.item() if getattr(value, "ndim", None) == 0 else value  # A scalar of NumPy.
    if isinstance(value, bool):  # C has no `True`.
        return str(int(value))
    if isinstance(value, int) and value.bit_length() > _MOST_DIGITS * 3:
        raise UsageError(f"args[{name!r}] has {value.bit_length()} bits: no type of OpenCL C holds as many")
    if isinstance(value, numbers.Real):
        return str(value)
    raise UsageError(
        f"args[{name!r}] is {type(value).__name__}: give a number, or what a buffer holds as text, such as "
        "'random(4096)', 'zeros(N*N)' or 'file:PATH'"
    )


def _check_file(name: str, text: str) -> None:
    """Raise UsageError for a `file:PATH` that cannot be read: `analyze`, too, would count with guesses."""
    from clmap_lsp.launch.arguments import file_named
    from clmap_lsp.reading import reason, regular

    path = file_named(text)
    if path is None:
        return
    try:
        regular(path, within=None)
    except (OSError, ValueError) as error:
        why = reason(error) if path and isinstance(error, OSError) else "it names no file"
        raise UsageError(f"args[{name!r}]={shown(text)}: {why}") from None


def defines(given: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Return macros. Raises: UsageError."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise UsageError(f"defines={shown(given)}: give a mapping, as in defines={{'TILE': 16}}")
    for name, value in given.items():
        if value is None:
            raise UsageError(
                f"defines[{name!r}] is None: give its text or a number, 1 if it only has to be there"
            )
        if not isinstance(value, str | numbers.Real):
            raise UsageError(f"defines[{name!r}] is {type(value).__name__}: give a number, or the text")
        if not isinstance(name, str) or not _MACRO.fullmatch(name.strip()):
            raise UsageError(
                f"defines: {shown(name)} is not the name of a macro; write defines={{'TILE': 16}}"
            )
    return tuple((name, _macro(value)) for name, value in given.items())


_MACRO = re.compile(r"[A-Za-z_$][\w$]*(\([^()\n]*\))?", re.ASCII)


def _macro(value: object) -> str:
    """Return what a macro stands for: on one line, as compilers take it; C has no `True`."""
    return str(int(value)) if isinstance(value, bool) else one_line(str(value))


def folders(given: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """Return include folders; one may stand for itself. Raises: UsageError."""
    one_or_more = (given,) if isinstance(given, str | Path) else given
    found = tuple(one_or_more) if isinstance(one_or_more, Sequence) else (None,)
    for it in found:
        if not isinstance(it, str | Path) or not str(it):
            raise UsageError(f"include_dirs={shown(given)}: give a folder, or a list of folders")
        if not _is_folder(it):
            raise UsageError(f"include_dirs={shown(given)}: there is no folder {shown(str(it))}")
    return tuple(map(str, found))


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def is_path(source: str | Path) -> bool:
    """Tell a path from OpenCL C, of which no kernel does without braces."""
    if isinstance(source, Path):
        return True
    if "\n" in source or not source.strip():
        return False
    ends = source.endswith((".cl", ".ocl", ".clc", ".clh"))
    return not _IN_SOURCE.search(source) or (ends and "(" not in source)


_IN_SOURCE = re.compile(r"[{};#]")


def device(given: Any) -> str | None:
    """Return a name that a device model may have. Raises: UsageError for what can be none."""
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise UsageError(
            f"device={shown(given)}: give the name of a device model, as in device='nvidia-hopper'"
        )
    return given


def standard(given: str | None) -> str | None:
    """Return a version of OpenCL C. Raises: UsageError."""
    from clmap_lsp.config.document import STANDARDS

    if given is not None and given not in STANDARDS:
        raise UsageError(f"standard={shown(given)}: unknown version; known: {', '.join(STANDARDS)}")
    return given


def seconds(given: Any) -> float:
    """Return a time limit. Raises: UsageError."""
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not 0 < float(given) < 1e9:
        raise UsageError(f"time_limit_s={shown(given)}: give a number of seconds above 0")
    return float(given)


def mebibytes(given: Any) -> int:
    """Return a limit on memory. Raises: UsageError."""
    try:
        found = operator.index(given)
    except TypeError:
        found = 0
    if isinstance(given, bool) or not 1 <= found < _MOST:
        raise UsageError(f"memory_limit_mib={shown(given)}: give a whole number of MiB of at least 1")
    return found


def lockstep(given: Any) -> int:
    """Return how many work-items in a row run in lockstep; 0 for none. Raises: UsageError."""
    try:
        found = 0 if given is None else operator.index(given)
    except TypeError:
        found = -1
    if isinstance(given, bool) or not 0 <= found <= MOST_IN_LOCKSTEP:
        raise UsageError(f"sub_group_synchronous={shown(given)}: give a number of work-items, such as 32")
    return found


def kernel(given: Any) -> str | None:
    """Return the name of a kernel. Raises: UsageError."""
    if given is not None and (not isinstance(given, str) or not given):
        raise UsageError(f"kernel={shown(given)}: give a kernel's name, as in kernel='mm'")
    return given


class MissingNameError(UsageError, KeyError):
    """A name that nothing has, where a mapping raises `KeyError`."""

    __str__ = Exception.__str__  # That of `KeyError` puts the sentence into quotes.


def shown(value: object) -> str:
    """Return a value for a message, cut to a length that a line bears."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
