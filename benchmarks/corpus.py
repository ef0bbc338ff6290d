"""Reads public OpenCL C repositories and prints how much of them is understood.

    python -m benchmarks.corpus --repos DIR            a folder with one tree a repository, `owner__name`
    python -m benchmarks.corpus --repos DIR --clone    fetches what is missing there with git, at its commit
    python -m benchmarks.corpus --repos DIR --mutate 7 every file cut and with tokens deleted; seed 7

Which repositories, at which commits and with which options, is `corpus.toml`. Kernels that a file's own
conditions leave out are read too, each with the `-D` options that make it active. Exit code: 0, or 1 where
there was an internal error.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import time
import tomllib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.polynomial import Indirect
from clmap_lsp.access.records import Access
from clmap_lsp.source.branches import Guard, hidden_kernels, solve
from clmap_lsp.source.collector import collect_rarely
from clmap_lsp.source.ir import Unsupported, walk
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse
from clmap_lsp.source.preprocess import preprocess
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import lower
from clmap_lsp.source.syntax import SyntaxTree
from clmap_lsp.source.types import AddressSpace
from clmap_lsp.source.wrapped import without_wrapping

SUFFIXES = (".cl", ".opencl")
SLOW_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Repository:
    """One entry of `corpus.toml`."""

    name: str
    counted: bool
    commit: str = ""
    source: str = ""
    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    sample: int = 1
    list: str = "first"
    prelude: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Return the name of its folder."""
        return self.name.replace("/", "__")

    @property
    def options(self) -> BuildOptions:
        """Return its build options."""
        pairs = tuple((name, value or "1") for name, _, value in (it.partition("=") for it in self.defines))
        return BuildOptions(defines=pairs, include_dirs=self.include_dirs, prelude=self.prelude)


@dataclass(slots=True)
class Count:
    """What was counted over files; seconds are of this process alone."""

    files: int = 0
    kernels: int = 0
    parsed: int = 0
    lowered: int = 0
    accesses: int = 0
    known: int = 0
    data_dependent: int = 0
    named: int = 0
    crashes: int = 0
    slow: int = 0
    seconds: float = 0.0
    runs: int = 0
    worst: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Count) -> None:
        """Add another count to this one."""
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seconds += other.seconds
        self.worst = max(self.worst, other.worst)
        self.failures += other.failures


_COUNTED = (
    *("files", "kernels", "parsed", "lowered", "accesses", "known", "data_dependent", "named"),
    *("crashes", "slow", "runs"),
)


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    options = _arguments(arguments)
    collect_rarely()  # as the command line and the server do
    wanted = [
        it
        for it in repositories()
        if options.list in ("all", it.list)
        and (not options.only or any(part in it.name for part in options.only))
    ]
    total = Count()
    print(
        _row(
            *("repository", "files", "kernels", "parsed", "lowered", "known", "by data", "named"),
            *("crashes", "s", "max s"),
        )
    )
    for repository in wanted:
        root = options.repos / repository.folder
        if not root.is_dir() and options.clone and repository.commit:
            _clone(repository, root)
        if not root.is_dir():
            print(f"{repository.name:34} not there: {root}")
            continue
        count = _read_repository(repository, root, options.mutate, depth=_depth(options))
        print(_line(repository.name + ("" if repository.counted else " *"), count), flush=True)
        total.crashes += 0 if repository.counted else count.crashes
        if repository.counted:
            total.add(count)
    print(_line("all counted", total))
    rate = total.runs / max(total.seconds, 1e-9)
    print(f"{rate:.0f} kernels a second; files over {SLOW_SECONDS:g} s: {total.slow}")
    if options.failures:
        options.failures.write_text("".join(f"{it}\n" for it in total.failures), encoding="utf-8")
    return 1 if total.crashes else 0


def repositories() -> list[Repository]:
    """Return the entries of `corpus.toml`."""
    text = Path(__file__).with_name("corpus.toml").read_text(encoding="utf-8")
    return [
        Repository(
            entry["name"],
            entry["counted"],
            entry.get("commit", ""),
            entry.get("source", ""),
            tuple(entry.get("include_dirs", ())),
            tuple(entry.get("defines", ())),
            entry.get("sample", 1),
            entry.get("list", "first"),
            tuple(entry.get("prelude", ())),
        )
        for entry in tomllib.loads(text)["repository"]
    ]


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__.split("\n")[0])
    parser.add_argument("--repos", type=Path, required=True, help="folder with one tree a repository")
    parser.add_argument("--clone", action="store_true", help="fetch missing repositories with git")
    parser.add_argument(
        "--list",
        choices=("first", "second", "third", "fourth", "fifth", "all"),
        default="all",
        help="which repositories",
    )
    parser.add_argument("--only", nargs="*", default=[], help="parts of repository names")
    parser.add_argument("--mutate", type=int, metavar="SEED", help="damage every file first")
    parser.add_argument("--no-accesses", action="store_true", help="do not analyse the accesses of kernels")
    parser.add_argument("--parse-only", action="store_true", help="neither lower nor analyse")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="write what was not understood here")
    return parser.parse_args(arguments)


_PARSE, _LOWER, _ANALYSE = range(3)


def _depth(options: argparse.Namespace) -> int:
    if options.parse_only:
        return _PARSE
    return _LOWER if options.no_accesses else _ANALYSE


def _clone(repository: Repository, root: Path) -> None:
    """Fetch one commit without history."""
    root.mkdir(parents=True)
    url = f"https://github.com/{repository.name}"
    for command in (
        ["init", "-q"],
        ["fetch", "-q", "--depth", "1", url, repository.commit],
        ["checkout", "-q", "FETCH_HEAD"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)


# ---------------------------------------------------------------------------------------------- reading


def _read_repository(repository: Repository, root: Path, seed: int | None, *, depth: int) -> Count:
    count = Count()

    def read_file(path: str) -> str | None:
        if path.startswith(".."):
            return None
        try:
            return (root / path).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    for path in _files(repository, root):
        text = path.read_text(encoding="utf-8", errors="replace")
        if seed is not None:
            text = damaged(text, random.Random(f"{seed}{path.name}"))
        name = path.relative_to(root).as_posix()
        count.add(_read_file(text, name, repository.options, read_file, seed, depth=depth))
    return count


def _files(repository: Repository, root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if (
            path.suffix in SUFFIXES
            and path.is_file()
            and zlib.crc32(path.name.encode()) % repository.sample == 0
        ):
            yield path


def damaged(text: str, rng: random.Random) -> str:
    """Cut a text at a random place, and delete up to four words or marks."""
    text = text[: rng.randrange(len(text) + 1)]
    words = [it.span() for it in re.finditer(r"\w+|[^\w\s]", text)]
    for start, end in sorted(rng.sample(words, min(len(words), rng.randrange(5))), reverse=True):
        text = text[:start] + text[end:]
    return text


def _read_file(
    text: str,
    path: str,
    options: BuildOptions,
    read_file: Callable[[str], str | None],
    seed: int | None,
    *,
    depth: int,
) -> Count:
    count = Count(files=1)
    understood: dict[str, _Understood] = {}
    for variant in _configurations(text, path, options, read_file):
        started = time.process_time()
        try:
            tree = parse(text, path, variant, read_file=read_file)
            program = lower(tree, variant) if depth >= _LOWER else None
        except Exception as error:  # The point of the run: nothing may raise.
            count.crashes += 1
            count.failures.append(f"{path}\tcrash\t{error!r}")
            continue
        seconds = time.process_time() - started
        count.seconds += seconds
        count.worst = max(count.worst, seconds)
        count.slow += seconds > SLOW_SECONDS
        if program is not None:
            internal = [it for it in program.problems if it.code == "internal-error"]
            count.crashes += len(internal)
            count.failures += [f"{path}\tinternal\t{it.message}" for it in internal]
        try:
            results = _understand(tree, program, depth=depth)
        except Exception as error:
            count.crashes += 1
            count.failures.append(f"{path}\tcrash\t{error!r}")
            results = {name: _Understood(parsed, False) for name, parsed in parsed_kernels(tree).items()}
        count.runs += len(results)
        for name, result in results.items():
            if name not in understood or result.better_than(understood[name]):
                understood[name] = result
    for name in _hidden_names(text, path, options, read_file):
        understood.setdefault(name, _Understood(False, False))
    for name, result in understood.items():
        count.kernels += 1
        count.parsed += result.parsed
        count.lowered += result.lowered
        count.accesses += result.accesses
        count.known += result.known
        count.data_dependent += result.data_dependent
        count.named += result.named
        if seed is None and not (result.parsed and result.lowered):
            count.failures.append(f"{path}\t{'lowering' if result.parsed else 'parsing'}\t{name}")
    return count


def _configurations(
    text: str, path: str, options: BuildOptions, read_file: Callable[[str], str | None]
) -> list[BuildOptions]:
    """Return the options given, and those that make kernels in inactive branches active."""
    plain = without_wrapping(text)
    source = preprocess(plain, path, options, read_file)
    found = [options]
    for hidden in hidden_kernels(path, plain, source.inactive):
        assignment = solve(hidden.guards, source.macros)
        if assignment is None:
            continue
        given = tuple((name, value) for name, value in assignment.items() if value is not None)
        variant = replace(options, defines=(*options.defines, *given))
        if variant not in found and len(found) < 12:
            found.append(variant)
    return found


def _hidden_names(
    text: str, path: str, options: BuildOptions, read_file: Callable[[str], str | None]
) -> list[str]:
    plain = without_wrapping(text)
    source = preprocess(plain, path, options, read_file)
    return [
        it.name
        for it in hidden_kernels(path, plain, source.inactive)
        if it.name not in source.macros and not any(_is_never(guard) for guard in it.guards)
    ]


def _is_never(guard: Guard) -> bool:
    """Tell whether a guard is `#if 0`: code that its author switched off for good."""
    return guard.wanted and [it.text for it in guard.directive.tokens] == ["if", "0"]


@dataclass(frozen=True, slots=True)
class _Understood:
    """How far one kernel was understood."""

    parsed: bool
    lowered: bool
    accesses: int = 0
    known: int = 0
    data_dependent: int = 0
    """Accesses whose index is known but for values that are read from memory, which it names."""
    named: int = 0
    """Accesses whose index is computed from data in ways that are not followed; the buffers are named."""

    def better_than(self, other: _Understood) -> bool:
        return (self.lowered, self.parsed, self.accesses) > (other.lowered, other.parsed, other.accesses)


def _understand(tree: SyntaxTree, program: Program | None, *, depth: int) -> dict[str, _Understood]:
    found: dict[str, _Understood] = {}
    for name, parsed in parsed_kernels(tree).items():
        kernel = program.kernel(name) if program is not None else None
        if kernel is None:
            found[name] = _Understood(parsed, False)
            continue
        is_lowered = not any(isinstance(it, Unsupported) and not _is_unknown(it) for it in walk(kernel.body))
        every = analyse(kernel).accesses if depth >= _ANALYSE else ()
        accesses = [it for it in every if it.space in (AddressSpace.GLOBAL, AddressSpace.LOCAL)]
        known = sum(it.known for it in accesses)
        by_data = sum(it.unknown is None and _rests_on_data(it) for it in accesses)
        named = sum(it.unknown is not None and bool(it.sources) for it in accesses)
        found[name] = _Understood(parsed, is_lowered and parsed, len(accesses), known, by_data, named)
    return found


def _rests_on_data(access: Access) -> bool:
    """Tell whether an index is made of data whose buffers it names; an array of the work-item is none."""
    read = [leaf for leaf in access.offset.leaves if isinstance(leaf, Indirect)]
    return bool(access.sources) or (bool(read) and not any(leaf.private for leaf in read))


def _is_unknown(statement: Unsupported) -> bool:
    """Tell whether a statement was given up because of a name that the files do not define."""
    return "unknown name" in statement.reason


def parsed_kernels(tree: SyntaxTree) -> dict[str, bool]:
    """Return the kernels defined in a tree, and whether each one's head and body are free of errors."""
    found: dict[str, bool] = {}
    root = tree.tree.root_node
    for removed in tree.qualifiers:
        if removed.word != "kernel":
            continue
        node = root.descendant_for_byte_range(removed.offset, removed.offset + 1)
        while (
            node is not None
            and node.parent is not None
            and node.type not in ("function_definition", "declaration")
        ):
            node = node.parent
        match = _HEAD.match(tree.text, removed.offset)
        if match is None or (node is not None and node.type == "declaration" and not node.has_error):
            continue
        declarator = node.child_by_field_name("declarator") if node is not None else None
        is_whole = node is not None and node.type == "function_definition" and not node.has_error
        found[match.group(1)] = (
            is_whole and declarator is not None and declarator.type == "function_declarator"
        )
    return found


_HEAD = re.compile(r"[^(){};]*?(\w+)\s\(")


# ---------------------------------------------------------------------------------------------- printing


def _row(name: str, *cells: str) -> str:
    return f"{name:34}" + "".join(f"{it:>9}" for it in cells)


def _line(name: str, count: Count) -> str:
    def share(part: int, whole: int) -> str:
        return f"{100 * part / whole:.1f}%" if whole else "-"

    return (
        f"{name:34}{count.files:>9}{count.kernels:>9}{share(count.parsed, count.kernels):>9}"
        f"{share(count.lowered, count.kernels):>9}{share(count.known, count.accesses):>9}"
        f"{share(count.data_dependent, count.accesses):>9}{share(count.named, count.accesses):>9}"
        f"{count.crashes:>9}"
        f"{count.seconds:>9.1f}{count.worst:>9.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
