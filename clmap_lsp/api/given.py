"""What callers give, looked at before anything is made of it: notebooks have no type checker."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.launch.partial import PartialLaunch

Size = int | Sequence[int]
Arguments = Mapping[str, "int | float | str"]
_MOST = 1 << 40


def launch(
    kernel: str | None, global_size: Size | None, local_size: Size | None, args: Arguments | None
) -> PartialLaunch | None:
    """Return what a caller says of a launch; None where that is nothing. Raises: UsageError."""
    from clmap_lsp.launch.partial import PartialLaunch

    if global_size is None and local_size is None and not args:
        return None
    whole, group = _sizes("global_size", global_size), _sizes("local_size", local_size)
    if not isinstance(args or {}, Mapping):
        raise UsageError(f"args={_shown(args)}: give a mapping, as in args={{'N': 256}}")
    texts = {name: _argument(name, value) for name, value in (args or {}).items()}
    return PartialLaunch(kernel, whole, group, arguments=texts, source="the caller")


def _sizes(name: str, size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    try:
        one_or_more = size if isinstance(size, Iterable) and not isinstance(size, str) else (size,)
        found = tuple(operator.index(it) for it in one_or_more if not isinstance(it, bool))
    except TypeError:
        found = ()
    if not 1 <= len(found) <= 3 or not all(0 < it < _MOST for it in found):
        raise UsageError(
            f"{name}={_shown(size)}: give one to three whole numbers of at least 1, as in {name}=(256, 256)"
        )
    return found


def _argument(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    value = value.item() if getattr(value, "ndim", None) == 0 else value  # A scalar of NumPy.
    if isinstance(value, numbers.Real):
        return str(value)
    raise UsageError(
        f"args[{name!r}] is {type(value).__name__}: give a number, or what a buffer holds as text, such as "
        "'random(4096)', 'zeros(N*N)' or 'file:PATH'"
    )


def defines(given: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Return macros. Raises: UsageError."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise UsageError(f"defines={_shown(given)}: give a mapping, as in defines={{'TILE': 16}}")
    for name, value in given.items():
        if value is None:
            raise UsageError(
                f"defines[{name!r}] is None: give its text or a number, 1 if it only has to be there"
            )
        if not str(name).split("(")[0].strip().isidentifier():
            raise UsageError(f"defines: {name!r} is not the name of a macro; write defines={{'TILE': 16}}")
    return tuple((str(name), str(value)) for name, value in given.items())


def folders(given: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """Return include folders; one may stand for itself. Raises: UsageError."""
    one_or_more = (given,) if isinstance(given, str | Path) else given
    if not isinstance(one_or_more, Iterable):
        raise UsageError(f"include_dirs={_shown(given)}: give a folder, or a list of folders")
    return tuple(map(str, one_or_more))


def device(given: Any) -> str | None:
    """Return a name that a device model may have. Raises: UsageError for what can be none."""
    if given is not None and (not isinstance(given, str) or not given.strip()):
        raise UsageError(
            f"device={_shown(given)}: give the name of a device model, as in device='nvidia-hopper'"
        )
    return given


def standard(given: str | None) -> str | None:
    """Return a version of OpenCL C. Raises: UsageError."""
    from clmap_lsp.config.document import STANDARDS

    if given is not None and given not in STANDARDS:
        raise UsageError(f"standard={given!r}: unknown version; known: {', '.join(STANDARDS)}")
    return given


def seconds(given: float) -> float:
    """Return a time limit. Raises: UsageError."""
    if not 0 < given < 1e9:
        raise UsageError(f"time_limit_s={given:g}: give a number above 0")
    return given


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
