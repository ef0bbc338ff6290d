"""From text to `Program`: preprocess, parse, lower, inline. Never raises on text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import clmap_lsp.source.effects
import clmap_lsp.source.groups
import clmap_lsp.source.packed
import clmap_lsp.source.statements
import clmap_lsp.source.switches  # noqa: F401  (these four register their handlers)
from clmap_lsp.source.calls import is_built_in
from clmap_lsp.source.collector import paused_collector
from clmap_lsp.source.declarations import define_typedef, named_type
from clmap_lsp.source.functions import Head, Lowered, lower_function, read_head
from clmap_lsp.source.inline import build_kernel
from clmap_lsp.source.ir import Guess, Kernel, Loop, Problem, Severity, walk
from clmap_lsp.source.lowering import Lowering, Reported, Unit
from clmap_lsp.source.nesting import nests_too_deeply
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import Prepared, parse
from clmap_lsp.source.program import Program
from clmap_lsp.source.reuse import (
    BuiltKernel,
    FunctionKeys,
    Keys,
    ProgramCache,
    is_at_same_place,
    keep_objects,
    program_objects,
    reused,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.statements import declaration
from clmap_lsp.source.syntax import SyntaxTree
from clmap_lsp.source.types import VOID

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LOOPS = 512
"""Of one kernel, with its calls inlined: to read, solve, count and judge one takes a millisecond. The most in
2,392 public kernels is 71."""
_PLAIN = BuildOptions()


def read_program(
    text: str,
    path: str,
    options: BuildOptions = _PLAIN,
    *,
    read_file: Callable[[str], str | None] | None = None,
    previous: ProgramCache | None = None,
    prepared: Prepared | None = None,
    known: Sequence[Guess] = (),
    is_variant: bool = False,
) -> Program:
    """Return what a `.cl` file says.

    Args:
        text: the file as typed.
        path: its name; includes are looked up beside it.
        options: what `clBuildProgram` would get.
        read_file: returns the text of a path, or `None` where there is no such file.
        previous: the `cache` of an earlier reading of this file. Functions that an edit has not touched are
            taken from it, as the same objects where they have not even moved.
        prepared: the file preprocessed, if somebody has done that already.
        known: what undefined names are taken for, where that is known from more than this text.
        is_variant: `previous` read the very same text with other macros. What these leave alone are then the
            same objects wherever the expanded text has moved; nothing may be read from this `cache` in turn.
    """
    earlier = None if previous is None else previous.tree
    tree = parse(text, path, options, read_file=read_file, previous=earlier, prepared=prepared, known=known)
    return lower(tree, options, previous, is_variant=is_variant)


def lower(
    tree: SyntaxTree, options: BuildOptions, previous: ProgramCache | None = None, *, is_variant: bool = False
) -> Program:
    """Lower a parsed translation unit."""
    with paused_collector():
        return _lower(tree, options, previous, is_variant=is_variant)


def _lower(
    tree: SyntaxTree, options: BuildOptions, previous: ProgramCache | None, *, is_variant: bool
) -> Program:
    unit = _unit(tree, options)
    low = Lowering(unit, "", VOID)
    keys = Keys(tree, options)
    heads = _declare_all(low, keys)
    if previous is not None and previous.environment != keys.environment:
        previous = None
    moved = {} if previous is None else keep_objects(unit, low.initializers, previous)
    functions: dict[str, Lowered] = {}
    known = FunctionKeys(keys)
    for head in heads:
        if head.body is None and head.unique in functions:
            continue
        before = None if previous is None else previous.functions.get(head.unique)
        if previous and before and previous.keys[head.unique] == (key := keys.of(head, before.outer)):
            is_same = is_variant and is_at_same_place(head, before, moved)
            functions[head.unique] = before if is_same else reused(unit, previous.tree, head, before, moved)
            known.know(head.unique, key)
        elif (lowered := _contained(low, head)) is not None:
            functions[head.unique] = lowered
            known.expect(head, lowered.outer)
    kernels = _kernels(low, functions, previous)
    objects = program_objects(unit, low.initializers)
    cache = ProgramCache(tree, keys.environment, functions, known, kernels, objects)
    return _program(low, kernels, cache)


def _program(low: Lowering, kernels: Mapping[str, BuiltKernel], cache: ProgramCache) -> Program:
    tree = low.unit.tree
    reported = list(low.problems)
    initializers = dict(low.initializers)
    for lowered in cache.functions.values():
        reported += lowered.problems
        initializers.update(lowered.initializers)
    problems = dict.fromkeys((*tree.problems, *_first_of_each(reported)))
    for built in kernels.values():
        problems.update(dict.fromkeys(built.problems))
    return Program(
        tree.path,
        tree.files,
        {name: it.function for name, it in cache.functions.items()},
        tuple(it.kernel for it in kernels.values()),
        tuple(initializers.values()),
        tuple(problems),
        tree.guesses,
        tree.inactive,
        cache,
    )


def _first_of_each(reported: list[Reported]) -> Iterator[Problem]:
    """Yield the problems, of those about one name only the first."""
    seen: set[tuple[str, str]] = set()
    for it in reported:
        if it.name is not None:
            key = it.problem.code, it.name
            if key in seen:
                continue
            seen.add(key)
        yield it.problem


def _unit(tree: SyntaxTree, options: BuildOptions) -> Unit:
    qualifiers: dict[int, list[str]] = {}
    for removed in tree.qualifiers:
        qualifiers.setdefault(removed.offset, []).append(removed.word)
    unit = Unit(tree, options, qualifiers)
    unit.guesses = {it.name: it for it in tree.guesses}
    return unit


# ----------------------------------------------------------------------------------------- program scope


def _declare_all(low: Lowering, keys: Keys) -> list[Head]:
    """Take up the declarations in the order of the text; return the functions."""
    root = low.unit.tree.tree.root_node
    if root.has_error:
        _report_errors(low, root)
    heads: list[Head] = []
    for node in _top_level(root):
        try:
            head = _declare(low, node)
        except Exception as error:
            _internal(low, node, "a declaration", error)
            continue
        names, low.defined = low.defined, []
        if head is None:
            keys.define(names, node, node.end_byte)
        else:
            heads.append(head)
            end = node.end_byte if head.body is None else head.body.start_byte
            keys.define((*names, head.name), node, end)
        low.out.clear()
    return _without_built_ins(low, heads)


def _without_built_ins(low: Lowering, heads: list[Head]) -> list[Head]:
    """Return the functions without declarations of OpenCL's own, as headers for other compilers have them."""
    defined = {it.name for it in heads if it.body is not None}
    declared = {it.name for it in heads if it.name not in defined and is_built_in(it.name)}
    for name in declared:
        del low.unit.functions[name]
    return [it for it in heads if it.name not in declared] if declared else heads


_CONTAINERS = frozenset({"ERROR", "linkage_specification", "declaration_list", "translation_unit"})


def _top_level(node: Node) -> Iterator[Node]:
    """Yield the declarations of a unit, also those that a syntax error surrounds."""
    for child in node.children:
        if child.type in _CONTAINERS:
            yield from _top_level(child)
        else:
            yield child


def _declare(low: Lowering, node: Node) -> Head | None:
    match node.type:
        case "function_definition":
            head = read_head(low, node)
        case "declaration":
            head = read_head(low, node) if _may_be_prototype(node) else None
            if head is None:
                declaration(low, node)
        case "type_definition":
            define_typedef(low, node)
            return None
        case "struct_specifier" | "union_specifier" | "enum_specifier":
            named_type(low, node)
            return None
        case _:
            return None
    if head is None:
        return None
    known = low.unit.functions.setdefault(head.name, [])
    if all(it.name != head.unique for it in known):
        known.append(head.signature)
    if head.is_kernel and head.body is not None:
        low.unit.kernels.add(head.unique)
    return head


def _may_be_prototype(node: Node) -> bool:
    kinds = {"function_declarator", "pointer_declarator"}
    return any(it.type in kinds for it in node.children)


def _report_errors(low: Lowering, root: Node) -> None:
    """Report each place that the grammar did not take, outermost ones only."""
    stack = [(root, "")]  # With what it stands in: asking a node for that takes the square of its depth.
    while stack:
        node, within = stack.pop()
        if node.is_missing and within == "type_definition":
            named = "typedef requires a name"  # Compilers warn of it.
            low.report("syntax-error", Severity.WARNING, named, low.span(node))
            continue
        if node.is_missing:
            message = f"`{node.type}` is missing here"
        elif node.type == "ERROR":
            message = f"not understood: `{low.text(node)[:60]}`"
        else:
            if node.has_error:
                stack.extend((it, node.type) for it in reversed(node.children))
            continue
        low.report("syntax-error", Severity.ERROR, message, low.span(node))


# --------------------------------------------------------------------------------------------- functions


def _contained(low: Lowering, head: Head) -> Lowered | None:
    """Lower one function; an error of ours stays in it."""
    node = head.node
    n_loops = sum(1 for _ in _LOOP.finditer(low.unit.tree.text, node.start_byte, node.end_byte))
    if n_loops > MAX_LOOPS:
        _too_many_loops(low, head.name, n_loops, low.span(node))
        return None
    try:
        return lower_function(low.unit, head)
    except Exception as error:
        _internal(low, head.node, f"`{head.name}`", error)
        return None


def _kernels(
    low: Lowering, functions: Mapping[str, Lowered], previous: ProgramCache | None
) -> dict[str, BuiltKernel]:
    """Put the kernels together, or take them from before where all their functions are the same objects."""
    kernels: dict[str, BuiltKernel] = {}
    for name, lowered in functions.items():
        if not lowered.function.is_kernel or lowered.function.body is None:
            continue
        before = None if previous is None else previous.kernels.get(name)
        if before is not None and all(functions.get(it.function.name) is it for it in before.parts):
            kernels[name] = before
            continue
        try:
            if nests_too_deeply(name, functions):
                raise RecursionError
            built = build_kernel(lowered, functions)
            if (n_loops := _loops_in(built.kernel)) > MAX_LOOPS:
                _too_many_loops(low, name, n_loops, lowered.function.name_span)
                continue
            kernels[name] = built
        except Exception as error:
            _internal(low, None, f"`{name}`", error, lowered.function.name_span)
    return kernels


_LOOP = re.compile(r"\b(?:for|while(?![\s(]*(?:0[uUlL]{0,3}|false)\s*\)))\b")


def _too_many_loops(low: Lowering, name: str, count: int, span: Span | None) -> None:
    message = f"`{name}` has {count:,} loops; one with more than {MAX_LOOPS} is not read"
    low.report("too-many-loops", Severity.WARNING, message, span or Span(low.unit.tree.path, 0, 0))


def _loops_in(kernel: Kernel) -> int:
    """Return how many loops a kernel has, those of inlined calls included."""
    return sum(isinstance(it, Loop) for it in walk(kernel.body))


def _internal(
    low: Lowering, node: Node | None, what: str, error: Exception, span: Span | None = None
) -> None:
    """Report an error of ours in place of what it hit; what nests too deeply for us is no error of ours."""
    where = (span if node is None else low.span(node)) or Span(low.unit.tree.path, 0, 0)
    if isinstance(error, RecursionError):
        low.report("nesting", Severity.WARNING, f"{what} nests too deeply to be read; simplify it", where)
        return
    cause = f"{type(error).__name__}: {error}"
    message = f"{what} could not be read because of an error in this tool ({cause})"
    low.report("internal-error", Severity.WARNING, message, where)
