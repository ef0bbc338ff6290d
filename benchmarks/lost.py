"""Looks for statements that the reader loses in silence.

    python -m benchmarks.lost DIR...    every kernel file below the folders

Every statement that does something must be in the IR of its function, or a problem must stand at its place.
Exit code: 0, or 1 where one is lost.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.shapes import options_of
from clmap_lsp.source.builtins import PURE, QUERIES, SECOND_RESULTS, parse_conversion
from clmap_lsp.source.encoding import decoded
from clmap_lsp.source.ir import Severity, walk
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import lower
from clmap_lsp.source.span import Span
from clmap_lsp.source.syntax import SyntaxTree

_CONTROL = frozenset(
    {
        *("if_statement", "for_statement", "while_statement", "do_statement", "switch_statement"),
        *("return_statement", "break_statement", "continue_statement", "goto_statement"),
    }
)
_EFFECTS = frozenset({"assignment_expression", "update_expression", "gnu_asm_expression"})
_UNEVALUATED = frozenset({"sizeof_expression", "alignof_expression", "offsetof_expression"})


def lost_statements(text: str, path: str, options: BuildOptions, read_file: Any = None) -> list[str]:
    """Return the statements of a file that are neither in the IR nor named by a problem."""
    tree = parse(text, path, options, read_file=read_file)
    program = lower(tree, options)
    said = [it.span for it in program.problems]
    broken = any(it.severity is Severity.ERROR for it in program.problems)
    found: list[str] = []
    for node in _functions(tree.tree.root_node):
        whole = tree.span_of(node)
        body = node.children[-1]
        present = _places(program, tree, body)
        if present is None:
            if not broken and not any(_touches(whole, it) for it in said):
                found.append(
                    f"{whole.start}: a function: {tree.text[node.start_byte : node.start_byte + 60]!r}"
                )
            continue
        doubtful = node.has_error
        for statement in _statements(tree, body):
            span = _extent(tree, statement)
            if (
                _key(span) in present
                or any(_touches(span, it) for it in said)
                or any(_within(it, span) for it in present)
            ):
                continue
            if not doubtful:
                shown = " ".join(tree.text[statement.start_byte : statement.end_byte].split())
                found.append(f"{span.path}:{span.start}: {statement.type}: {shown[:90]}")
    return found


def _functions(node: Any) -> Iterator[Any]:
    for child in node.children:
        if child.type == "function_definition" and child.children[-1].type == "compound_statement":
            yield child
        elif child.type in ("ERROR", "linkage_specification", "declaration_list"):
            yield from _functions(child)


_Place = tuple[str, int, int]


def _key(span: Span) -> _Place:
    return span.path, span.start, span.end


def _places(program: Program, tree: SyntaxTree, body: Any) -> set[_Place] | None:
    """Return the places of all that the IR has of a body, `None` where the function is not in the program."""
    whole = tree.span_of(body)
    found = [it for it in program.functions.values() if it.body is not None and _touches(it.span, whole)]
    # A file that is included twice, under other macros, gives several functions at one place.
    return {_key(it.span) for function in found for it in walk(function.body or ())} if found else None


def _statements(tree: SyntaxTree, node: Any) -> Iterator[Any]:
    """Yield the statements below a node that do something."""
    for child in node.children:
        if child.type in _CONTROL or (child.type == "expression_statement" and _does_something(tree, child)):
            yield child
        elif child.type == "declaration" and any(it.type == "init_declarator" for it in child.children):
            words = {it.word for it in tree.qualifiers_in(child.start_byte, child.start_byte + 1)}
            if not words & {"constant", "local", "global"}:
                yield child
        if child.type not in ("expression_statement", "declaration"):
            yield from _statements(tree, child)


def _does_something(tree: SyntaxTree, node: Any) -> bool:
    stack = [node]
    while stack:
        it = stack.pop()
        if it.type in _EFFECTS:
            return True
        if it.type == "call_expression":
            name = tree.text[it.children[0].start_byte : it.children[0].end_byte]
            known = name in PURE or name in QUERIES or name in SECOND_RESULTS or parse_conversion(name)
            if it.children[0].type == "identifier" and not known:
                return True
        if it.type not in _UNEVALUATED:
            stack += it.children
    return False


def _extent(tree: SyntaxTree, node: Any) -> Span:
    """Return the smallest place that holds all tokens of a node: macros may write them in another order."""
    first = bisect_left(tree.token_starts, node.start_byte)
    last = bisect_left(tree.token_starts, node.end_byte)
    spans = [tree.token_spans[at] for at in range(first, last)]
    path = spans[0].path
    here = [it for it in spans if it.path == path]
    return Span(path, min(it.start for it in here), max(it.end for it in here))


def _touches(a: Span, b: Span) -> bool:
    return a.path == b.path and a.start < max(b.end, b.start + 1) and b.start < max(a.end, a.start + 1)


def _within(place: _Place, span: Span) -> bool:
    return place[0] == span.path and span.start <= place[1] and place[2] <= span.end


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lost", description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th file")
    options = parser.parse_args(arguments)
    files = lost = 0
    for folder in options.folders:
        build = options_of(folder)

        def read_file(name: str, root: Path = folder) -> str | None:
            path = root / name
            return decoded(path.read_bytes()) if not name.startswith("..") and path.is_file() else None

        paths = sorted(it for it in folder.rglob("*") if it.suffix in (".cl", ".opencl") and it.is_file())
        for path in paths[:: options.every]:
            files += 1
            for line in lost_statements(
                decoded(path.read_bytes()), path.relative_to(folder).as_posix(), build, read_file
            ):
                lost += 1
                print(f"{path}: {line}", flush=True)
    print(f"{files} files, {lost} statements lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
