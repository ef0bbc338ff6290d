"""Holds the index's definitions, references, types and signatures against libclang's, at every identifier.

    python -m benchmarks.language_truth FOLDER… [--files 300]

Takes OpenCL files below the folders that clang accepts as they are, ordered by a hash of their content.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.clang_truth import HEADERS, accepted, identifiers, parsed
from benchmarks.clang_truth import Named as Meant
from clmap_lsp.index import builtins
from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.index.reading import read_index
from clmap_lsp.index.types import (
    ATOMICS,
    Array,
    Base,
    Enumeration,
    Function,
    Named,
    Pointer,
    Qualified,
    Record,
    Unknown,
    canonical,
)
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.types import AddressSpace

SUFFIXES = (".cl", ".clh", ".ocl", ".clc", ".opencl")


def kernel_files(folders: Sequence[Path]) -> list[Path]:
    """Return the OpenCL files below folders, one of each content, in an order that says nothing."""
    found: dict[str, Path] = {}
    for path in (it for folder in folders for it in sorted(folder.rglob("*"))):
        if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size < 300_000:
            found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return [found[it] for it in sorted(found)]


def accepted_files(folders: Sequence[Path], limit: int) -> Iterator[tuple[Path, str, str]]:
    """Yield files that clang accepts, with their text and the standard."""
    n_found = 0
    for path in kernel_files(folders):
        text = path.read_bytes().decode("utf-8", "replace")
        if len(text) < 100:
            continue
        standard = accepted(path, text)
        if standard is not None:
            yield path, text, standard
            n_found += 1
            if n_found >= limit:
                return


def read(path: Path, text: str, standard: str) -> Index:
    """Return the index of a file, includes read from disk."""

    def read_file(name: str) -> str | None:
        file = Path(name)
        return file.read_bytes().decode("utf-8", "replace") if file.is_file() else None

    return read_index(text, str(path), BuildOptions(standard=standard), read_file=read_file)


def plain_type(type_: Qualified, *, is_outer: bool = True) -> str:
    """Return a type in the form of `clang_truth.described`."""
    as_named = _kept_name(type_)
    type_ = canonical(type_)
    base = type_.base
    words = []
    if not is_outer:
        words += ["const"] if type_.is_const else []
        words += ["volatile"] if type_.is_volatile else []
        if type_.space not in (None, AddressSpace.PRIVATE):
            words += [type_.space.value] if type_.space is not None else []
    return " ".join([*words, as_named or _plain_base(base, is_outer)])


def _kept_name(type_: Qualified) -> str | None:
    """Return the name of a type that clang keeps apart from what it holds: atomics, enumerations of 2.0."""
    while isinstance(type_.base, Named):
        if type_.base.name in ATOMICS:
            return f"atomic_{type_.base.target}"
        if type_.base.name in ("memory_order", "memory_scope"):
            return type_.base.name
        type_ = type_.base.target
    return None


def _plain_base(base: Base, is_outer: bool) -> str:
    match base:
        case Pointer(pointee=pointee):
            return f"({plain_type(pointee, is_outer=False)})*"
        case Array(element=element, length=length):
            return f"{plain_type(element, is_outer=is_outer)}[{'' if length is None else length}]"
        case Function(result=result, parameters=parameters, is_variadic=is_variadic):
            listed = ", ".join(plain_type(it) for it in parameters) + (", ..." if is_variadic else "")
            return f"{plain_type(result)} ({listed})"
        case Record(name=name, alias=alias) | Enumeration(name=name, alias=alias):
            return name or alias or "unnamed"
        case Unknown(name=name):
            return name
        case _:
            return str(base)


class Tally:
    """Agreement by question, with examples of what differs."""

    def __init__(self) -> None:
        self.same: Counter[str] = Counter()
        self.other: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}

    def put(self, question: str, is_same: bool, example: str) -> None:
        """Count an answer."""
        if is_same:
            self.same[question] += 1
            return
        self.other[question] += 1
        self.examples.setdefault(question, []).append(example)


def compare(path: Path, text: str, index: Index, named: list[Meant], tally: Tally) -> None:
    """Compare every identifier of a file."""
    groups: dict[tuple[str, int, str], set[int]] = {}  # One macro may declare several names at its use.
    for it in named:
        where = f"{path.name}:{index.files[str(path)].position(it.offset).row} {it.text}"
        if it.path is None or it.path in _HEADER_PATHS or _is_builtin(index, it):
            _compare_builtin(index, it, tally, where)
            continue
        found = index.occurrence_at(it.offset)
        if found is None or found.start != it.offset:
            tally.put("definition", False, f"{where}: nothing")
            continue
        definition = index.definition(found.symbol)
        place = index.name_span(definition)
        same = place is not None and _same_place(index, place.path, place.start, it)
        tally.put("definition", same, f"{where}: {place} for {it.path}:{it.target}")
        groups.setdefault((it.path, it.target, it.text), set()).add(it.offset)
        if it.type and found.symbol.type is not None:
            _compare_type(found.symbol, it, tally, where)
    _compare_references(path, index, named, groups, tally)


def _is_builtin(index: Index, it: Meant) -> bool:
    """Clang declares built-ins at their first use."""
    known = builtins.find(it.text) is not None and it.kind == "FUNCTION_DECL" and not it.is_declaration
    return known and index.scope.get(False, it.text) is None


_HEADER_PATHS = {str(it) for it in HEADERS}


def _same_place(index: Index, path: str, start: int, it: Meant) -> bool:
    if Path(path).resolve() != Path(it.path or "").resolve():
        return False
    text = index.files[path].text
    return len(text[:start].encode()) == it.target


def _compare_type(symbol: Symbol, it: Meant, tally: Tally, where: str) -> None:
    if symbol.kind in (Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.LABEL, Kind.ENUMERATOR):
        return
    assert symbol.type is not None
    ours = plain_type(symbol.type)
    question = "signature" if symbol.kind in (Kind.FUNCTION, Kind.KERNEL) else "type"
    tally.put(question, ours == it.type, f"{where}: {ours!r} for {it.type!r}")


def _compare_builtin(index: Index, it: Meant, tally: Tally, where: str) -> None:
    if it.kind != "FUNCTION_DECL" or builtins.find(it.text) is None:
        return
    token = index.token_at(it.offset)
    placed = None if token is None else index.unit_at(token)
    if placed is None or token is None or index.tokens[token].start != it.offset:
        tally.put("built-in", False, f"{where}: no token")
        return
    use = next((u for u in placed.unit.builtins if u.token + placed.start == token), None)
    if use is None or use.text is None:
        tally.put("built-in", False, f"{where}: nothing for {it.type}")
        return
    builtin = builtins.find(it.text)
    call = next((c for c in placed.unit.calls if c.name + placed.start == token), None)
    assert builtin is not None
    if call is None:
        return
    types = [it for it in call.arguments if it is not None]
    found = builtins.resolve(builtin, types, has_generic=index.options.standard == "CL2.0")
    if found is None:
        return
    function = Function(found.result, found.parameters, found.overload.is_variadic)
    ours = plain_type(Qualified(function))
    tally.put("built-in", ours == it.type, f"{where}: {ours!r} for {it.type!r}")


def _compare_references(
    path: Path, index: Index, named: list[Meant], groups: dict[tuple[str, int, str], set[int]], tally: Tally
) -> None:
    """Of each thing that is named, all places in the file must be the same."""
    known = {it.offset for it in named}
    done: set[Symbol] = set()
    for offsets in groups.values():
        occurrence = index.occurrence_at(min(offsets))
        if occurrence is None or occurrence.symbol.root in done:
            continue
        done.add(occurrence.symbol.root)
        ours = {it.start for it in index.references(occurrence.symbol) if it.path == str(path)}
        same = ours & known == offsets
        tally.put(
            "references", same, f"{path.name} {occurrence.symbol.name}: {sorted(ours & known ^ offsets)[:5]}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--examples", type=int, default=8)
    arguments = parser.parse_args()
    tally = Tally()
    n_files = 0
    for path, text, standard in accepted_files(arguments.folders, arguments.files):
        n_files += 1
        unit = parsed(path, text, standard)
        index = read(path, text, standard)
        compare(path, text, index, list(identifiers(unit, path, text)), tally)
        errors = [it for it in index.issues if it.issue.severity is Severity.ERROR]
        for it in errors[:1]:
            row = index.files[it.span.path].position(it.span.start).row
            tally.put("no false error", False, f"{path}:{row} [{it.span.path}] {it.issue.message}")
        if not errors:
            tally.put("no false error", True, "")
    print(f"{n_files} files that clang accepts")
    for question in sorted({*tally.same, *tally.other}):
        same, other = tally.same[question], tally.other[question]
        print(f"{question:16} {same:7} of {same + other:7}  {100 * same / (same + other):.2f} %")
        for example in tally.examples.get(question, [])[: arguments.examples]:
            print(f"    {example}")


if __name__ == "__main__":
    main()
