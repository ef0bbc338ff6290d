"""Kernels on which careless rewrites are wrong on other launches (the `.cl` files that `_FILES` names).

A text has one launch comment, or none where the launch is to be guessed, and lines that begin with `//
also:` for launches on which it is defined too: what differs from the comment, `same=a:b` where the host
passes one buffer twice, `-DNAME=VALUE` for another build. `benchmarks.fix_native --awkward` applies every
rewrite on offer and runs both versions natively on all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LAUNCH = re.compile(r"^// clmap: (.*)$", re.MULTILINE)
_FILES = tuple(
    Path(__file__).with_name(f"{it}.cl") for it in ("awkward", "styles", "habits", "everyday", "oddities")
)
"""Kernels made to lead rewrites astray, as people write them in many fields, and with habits of their own."""
_ALSO = re.compile(r"^// also: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Other:
    """Another launch or build of a kernel: its launch comment, shared buffers, macros."""

    text: str
    comment: str
    shared: tuple[tuple[str, str], ...] = ()
    defines: tuple[tuple[str, str], ...] = ()


def others(text: str) -> Iterator[Other]:
    """Yield the further launches that a kernel's text names."""
    first = _LAUNCH.search(text)
    base = dict(it.split("=", 1) for it in first[1].split()) if first else {}
    for line in _ALSO.finditer(text):
        changed, shared, defines = dict(base), [], []
        for word in line[1].split():
            if word.startswith("-D"):
                name, _, value = word[2:].partition("=")
                defines.append((name, value or "1"))
                continue
            name, value = word.split("=", 1)
            if name == "same":
                one, _, other = value.partition(":")
                shared.append((one, other))
            else:
                changed[name] = value
        comment = "// clmap: " + " ".join(f"{a}={b}" for a, b in changed.items())
        yield Other(line[1], comment, tuple(shared), tuple(defines))


def kernels() -> Iterator[tuple[str, str]]:
    """Yield each kernel's name and text."""
    for text in "".join(it.read_text(encoding="utf-8") for it in _FILES).split("//// "):
        if not text:
            continue
        name, _, rest = text.partition("\n")
        yield name.strip(), _SPECIAL.get(name.strip(), lambda it: it)(rest)


_SPECIAL = {
    "crlf and tabs": lambda it: it.replace("\n", "\r\n").replace("    ", "\t"),
}
