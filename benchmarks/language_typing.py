"""Holds completion and first errors against what people wrote and what clang says.

    python -m benchmarks.language_typing completion FOLDER… [--places 500] [--seed 20]
    python -m benchmarks.language_typing errors FOLDER… [--files 300] [--seed 20]

Completion: at random places where an identifier stands, the text behind its first two letters is cut off to
the end of the line, and the identifier should be among the first five candidates. Errors: files that clang
accepts are mutated by one error each, and the first error should be within one line of clang's.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clang_truth import first_error, identifiers, parsed
from benchmarks.language_truth import accepted_files, read
from clmap_lsp.index.complete import complete
from clmap_lsp.source.ir import Severity


def completion(
    folders: Sequence[Path], n_places: int, per_file: int, n_examples: int, chance: random.Random
) -> None:
    """Print how often what was written is among the first candidates."""
    ranks: Counter[str] = Counter()
    missed: list[str] = []
    n_done = 0
    for path, text, standard in accepted_files(folders, n_places):
        named = [it for it in identifiers(parsed(path, text, standard), path, text) if len(it.text) > 2]
        uses = [it for it in named if not it.is_declaration]
        for it in chance.sample(uses, min(per_file, len(uses))):
            line_end = text.find("\n", it.offset)
            cut = text[: it.offset + 2] + text[line_end if line_end >= 0 else len(text) :]
            index = read(path, cut, standard)
            found = [c.label for c in complete(index, it.offset + 2).candidates]
            rank = found.index(it.text) + 1 if it.text in found else 0
            ranks["first" if rank == 1 else "five" if 0 < rank <= 5 else "later" if rank else "never"] += 1
            n_done += 1
            if not 0 < rank <= 5:
                row = index.files[str(path)].position(it.offset).row
                missed.append(f"{path.name}:{row} {it.text}: rank {rank}, first {found[:5]}")
        if n_done >= n_places:
            break
    among = ranks["first"] + ranks["five"]
    print(f"{n_done} places: among five {among} ({100 * among / n_done:.1f} %), {dict(ranks)}")
    for it in missed[:n_examples]:
        print(f"    {it}")


# ---------------------------------------------------------------------------------------------- mutations


def _mutations(
    text: str, named: list[tuple[int, str]], called: list[tuple[int, str]], chance: random.Random
) -> list[tuple[str, str]]:
    """Return texts with one error each: a token left out, a name misspelt, a call with wrong arguments."""
    found: list[tuple[str, str]] = []
    for token in (";", ")", "}", "]"):
        places = [at for at, char in enumerate(text) if char == token and _is_code(text, at)]
        if places:
            at = chance.choice(places)
            found.append((f"missing {token}", text[:at] + text[at + 1 :]))
    locals_ = [it for it in named if len(it[1]) > 3]
    if locals_:
        at, name = chance.choice(locals_)
        place = chance.randrange(1, len(name) - 1)
        misspelt = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
        if misspelt == name:
            misspelt = name[:place] + name[place + 1 :]
        found.append(("misspelt name", text[:at] + misspelt + text[at + len(name) :]))
    calls = [it for at, name in called if (it := _arguments(text, at + len(name))) is not None]
    if calls:
        found.append(("wrong argument", _with_wrong_argument(text, *chance.choice(calls), chance)))
    return found


def _arguments(text: str, at: int) -> tuple[int, int, int] | None:
    """Return the places of the brackets of a call, and of its last comma (or first bracket) between them."""
    opened = at + len(text[at:]) - len(text[at:].lstrip())
    if not text.startswith("(", opened) or not _is_code(text, opened):
        return None
    depth, comma = 0, opened
    for place in range(opened, len(text)):
        char = text[place]
        depth += (char in "([{") - (char in ")]}")
        comma = place if char == "," and depth == 1 else comma
        if depth == 0:
            return (opened, place, comma) if text[opened + 1 : place].strip() else None
    return None


def _with_wrong_argument(text: str, opened: int, closed: int, comma: int, chance: random.Random) -> str:
    """Leave the last argument out, put one more in, or pass a sampler for the last."""
    match chance.randrange(3):
        case 0:
            return text[: max(comma, opened + 1)] + text[closed:]
        case 1:
            return f"{text[:closed]}, 0{text[closed:]}"
        case _:
            return f"{text[: comma + 1]} (sampler_t) 0{text[closed:]}"


def _is_code(text: str, at: int) -> bool:
    """Tell whether an offset is in no directive, comment or string; good enough to choose places."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    if "//" in line or line.lstrip().startswith("#") or line.count('"') % 2 or "'" in line:
        return False
    before = text[: at - len(line)]
    if before.rstrip(" \t\r\n").endswith("\\"):
        return False
    return text.rfind("/*", 0, at) <= text.rfind("*/", 0, at)


def errors(folders: Sequence[Path], n_files: int, n_examples: int, chance: random.Random) -> None:
    """Print how often our first error is within one line of clang's, by kind of mutation."""
    good: Counter[str] = Counter()
    total: Counter[str] = Counter()
    missed: dict[str, list[str]] = {}
    for path, text, standard in accepted_files(folders, n_files):
        unit = parsed(path, text, standard)
        uses = [it for it in identifiers(unit, path, text) if not it.is_declaration]
        named = [
            (it.offset, it.text)
            for it in uses
            if it.kind in ("VAR_DECL", "PARM_DECL") and it.path == str(path)
        ]
        called = [(it.offset, it.text) for it in uses if it.kind == "FUNCTION_DECL"]
        mutations = _mutations(text, named, called, chance)
        if not mutations:
            continue
        kind, mutated = mutations[chance.randrange(len(mutations))]
        theirs = first_error(parsed(path, mutated, standard), path)
        if theirs is None or theirs.row == 0:
            continue
        index = read(path, mutated, standard)
        ours = [
            it for it in index.issues if it.issue.severity is Severity.ERROR and it.span.path == str(path)
        ]
        of_macros = [it for it in index.problems if it.code == "unclosed-macro" and it.span.path == str(path)]
        said = [(it.span, it.message) for it in of_macros] + [(it.span, it.issue.message) for it in ours]
        rows = [index.files[str(path)].position(span.start).row for span, _ in said]
        total[kind] += 1
        if rows and abs(rows[0] - theirs.row) <= 1:
            good[kind] += 1
        else:
            first = f"{rows[0]} {said[0][1]}" if rows else "nothing"
            missed.setdefault(kind, []).append(f"{path}: ours {first}; clang {theirs.row} {theirs.message}")
    n_good, n_all = sum(good.values()), sum(total.values())
    print(f"{n_good} of {n_all} ({100 * n_good / n_all:.1f} %)")
    for kind, count in sorted(total.items()):
        print(f"{kind:16} {good[kind]} of {count}")
        for it in missed.get(kind, [])[:n_examples]:
            print(f"    {it}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["completion", "errors"])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--places", type=int, default=500)
    parser.add_argument("--per-file", type=int, default=2, help="places in each file")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--examples", type=int, default=8)
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    if arguments.what == "completion":
        completion(arguments.folders, arguments.places, arguments.per_file, arguments.examples, chance)
    else:
        errors(arguments.folders, arguments.files, arguments.examples, chance)


if __name__ == "__main__":
    main()
