"""GPUVerify's suite of OpenCL kernels in the emulator: what is reported, what is missed, and why.

    python -m benchmarks.gpuverify FOLDER [--only TEXT]

FOLDER is `testsuite/OpenCL` of a checkout of mc-imperial/gpuverify; none of it is part of this repository.
Each kernel runs with the sizes in its second line, cut to 4,096 work-items, with a launch that is inferred
for the rest and GPUVerify's annotations defined away. Its first line says what GPUVerify proves: `//pass`, or
what it does not.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clmap_lsp.api import emulate
from clmap_lsp.errors import UsageError

_MOST_ITEMS = 4096
_ANNOTATION = re.compile(
    r"__(?:function_wide_|candidate_|global_)*(?:invariant|requires|ensures|assert|assume)\w*"
)
_TRUE = re.compile(
    r"__(?:implies|enabled|no_read|no_write|read|write|read_implies|write_implies|equal_\w+|uniform_\w+|other_\w+"
    r"|distinct_\w+|exclusive|all|dominator_enabled|reads_from\w*|writes_to\w*|atomic_has_taken_value)(?=\s*\()"
)
_RACES = frozenset({"data-race", "barrier-divergence"})
_OTHER_OPTIONS = ("--only-intra-group", "--only-divergence", "--only-log", "--kernel-args")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one kernel file."""

    path: str
    expected: str
    found: frozenset[str]
    """Kinds of faults."""
    refused: str
    options: str


def sizes(options: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the global and the local size that GPUVerify's options name, cut to what is quick to run."""

    def named(option: str) -> tuple[int, ...]:
        found = re.search(rf"--{option}=\[?([\d,]+)\]?", options)
        return tuple(int(it) for it in found[1].split(",")) if found else ()

    local = named("local_size") or (64,)
    groups = named("num_groups")
    if not groups:
        whole = named("global_size") or local
        groups = tuple(max(a // b, 1) for a, b in zip(whole, local, strict=False))
    dimensions = max(len(local), len(groups))
    local, groups = (it + (1,) * (dimensions - len(it)) for it in (local, groups))
    items = 1
    for it in local:
        items *= it
    kept = []
    for it in groups:
        room = max(_MOST_ITEMS // items, 2 if not kept else 1)
        kept.append(max(1, min(it, room)))
        items *= kept[-1]
    return tuple(a * b for a, b in zip(kept, local, strict=True)), local


def plain(text: str) -> str:
    """Return a kernel without GPUVerify's annotations, line by line as it was."""
    out, at = [], 0
    for found in _ANNOTATION.finditer(text):
        if found.start() < at:
            continue
        end, depth = found.end(), 0
        while end < len(text) and text[end] in " \t":
            end += 1
        if end == len(text) or text[end] != "(":
            continue
        for place in range(end, len(text)):
            depth += (text[place] == "(") - (text[place] == ")")
            if not depth:
                end = place + 1
                break
        while end < len(text) and text[end] in " \t,;":
            end += 1
        out += [text[at : found.start()], "\n" * text.count("\n", found.start(), end)]
        at = end
    return _TRUE.sub("(1) + 0 * sizeof", "".join([*out, text[at:]]))


def verdict(path: Path, folder: Path) -> Verdict:
    """Run one file's kernel."""
    text = path.read_text(encoding="latin-1")
    lines = [*text.splitlines(), "", ""]
    options = lines[1].removeprefix("//")
    global_size, local_size = sizes(options)
    names = re.findall(r"\b_*kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?void\s+(\w+)", text)
    macros = re.findall(r"-D(\S+)", options)
    defines = dict(it.split("=", 1) if "=" in it else (it, "1") for it in macros)
    lockstep = re.search(r"--warp-sync=(\d+)", options)
    found: set[str] = set()
    refused = "" if names else "no kernel"
    for name in dict.fromkeys(names):
        try:
            result = emulate(
                plain(text),
                kernel=name,
                global_size=global_size,
                local_size=local_size,
                defines=defines,
                time_limit_s=2.0,
                sub_group_synchronous=int(lockstep[1]) if lockstep else 0,
            ).result
        except UsageError as error:
            refused = str(error)
            continue
        found |= {it.kind.value for it in result.faults}
        if result.stopped is not None:
            found.add("stopped")
    return Verdict(
        str(path.relative_to(folder)), lines[0].removeprefix("//"), frozenset(found), refused, options
    )


def kind_of(it: Verdict) -> str:
    """Return the row of the table that a verdict belongs to."""
    fails = it.expected.lower().startswith("xfail")
    races = it.found & _RACES
    if it.refused and not it.found:
        return f"{'xfail' if fails else 'pass'}: refused"
    if not fails:
        if not races:
            return "pass: no race and no divergence" if not it.found else "pass: other faults only"
        asks = any(option in it.options for option in _OTHER_OPTIONS)
        return "pass: race reported, GPUVerify was asked for less" if asks else "pass: race reported"
    if races:
        return "xfail: race or divergence reported"
    if it.found - {"stopped"}:
        return "xfail: other faults reported"
    if it.expected != "xfail:NOT_ALL_VERIFIED":
        return "xfail: an error of GPUVerify's own input"
    return "xfail: nothing reported"


def main() -> int:
    """Print each file that differs, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    table: Counter[str] = Counter()
    for path in sorted(args.folder.rglob("*.cl")):
        if args.only not in str(path):
            continue
        it = verdict(path, args.folder)
        row = kind_of(it)
        table[row] += 1
        if row not in ("pass: no race and no divergence", "xfail: race or divergence reported"):
            print(f"{row}: {it.path} [{it.expected}] {', '.join(sorted(it.found))} {it.refused}", flush=True)
    for row, count in sorted(table.items()):
        print(f"{count:5}  {row}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
