"""From the text of a `.cl` file to a `SyntaxTree`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import tree_sitter_c
from tree_sitter import Language, Parser, Point, Tree

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.bounded import stand_too_deep, within_steps
from clmap_lsp.source.branches import Assignment, free_names, guards_at, hidden_kernels, solve
from clmap_lsp.source.collector import paused_collector
from clmap_lsp.source.cpp_words import beyond_c
from clmap_lsp.source.dialect import AUTO_TYPE, plain
from clmap_lsp.source.difference import difference
from clmap_lsp.source.embedded import kernels_of_host
from clmap_lsp.source.encoding import encoding_problems
from clmap_lsp.source.ir import Guess, Problem, Severity
from clmap_lsp.source.lexer import Token
from clmap_lsp.source.normalise import Normalised, Roles, TokenSpans, normalise, typedef_names
from clmap_lsp.source.options import BuildOptions, is_cpp
from clmap_lsp.source.preprocess import MacroLog, Preprocessed, preprocess
from clmap_lsp.source.roles import apply, judge, value_of_constant, without_placeholders
from clmap_lsp.source.scan import Role, scan
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.source.syntax import SyntaxTree
from clmap_lsp.source.templates import filled
from clmap_lsp.source.vocabulary import KERNEL_WORDS
from clmap_lsp.source.wrapped import n_strings, without_wrapping

MAX_CHARACTERS = 8 << 20
"""Longer files are not OpenCL C that a person wrote, and are refused with one problem."""

_TOO_FAR = "this is too far from OpenCL C for its structure to be found; nothing of it is read"
MAX_ERROR_DIRECTIVES = 16
"""`#error`s of one file that are got around: each costs a reading."""


@cache
def language() -> Language:
    """Return tree-sitter's C grammar."""
    return Language(tree_sitter_c.language())


def parse(
    text: str,
    path: str,
    options: BuildOptions,
    *,
    read_file: Callable[[str], str | None] | None = None,
    previous: SyntaxTree | None = None,
    prepared: Prepared | None = None,
    known: Sequence[Guess] = (),
) -> SyntaxTree:
    """Preprocess, normalise and parse one file. Never raises on text.

    `read_file` returns the text of a path, or `None` where there is no such file; without it, every include
    is missing. `previous` is an earlier tree of the same file: what did not change is not parsed again.
    `prepared` is the file preprocessed, if somebody has done that already. `known` says what undefined names
    are taken for, whatever their uses in this text say.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"the file has {len(text)} characters; more than {MAX_CHARACTERS} are not read"
        return _refused(text, path, "file-too-large", message)
    with paused_collector():
        return _parse(text, path, options, read_file, previous, prepared, known)


def _parse(
    text: str,
    path: str,
    options: BuildOptions,
    read_file: Callable[[str], str | None] | None,
    previous: SyntaxTree | None,
    prepared: Prepared | None,
    known: Sequence[Guess],
) -> SyntaxTree:
    unwrapped, n_programs = kernel_text(text, path)
    template = filled(unwrapped, path)
    if prepared is not None and prepared.holds(template.text, options):
        source, assumed = prepared.source, prepared.guesses
    else:
        source, assumed = preprocess_some_branch(template.text, path, options, read_file)
    if source.files[path].text != text:
        source.files[path] = SourceFile.of(path, text)
    checkpoint()
    tokens = without_placeholders(source.tokens.all()) if "@" in text else source.tokens.all()
    texts = [it.text for it in tokens]
    dialect = plain(tokens, texts)
    if is_cpp(path, options.standard) and not dialect.problems and (found := beyond_c(tokens, texts)):
        dialect.problems.append(found)
    if dialect.tokens is not tokens:
        tokens = dialect.tokens
        texts = [it.text for it in tokens]
    types = frozenset((AUTO_TYPE, *typedef_names(texts)))
    checkpoint()
    undefined = judge(tokens, texts, scan(tokens, texts, types), types, known)
    checkpoint()
    if stand_too_deep(texts):
        return _refused(text, path, "syntax-error", _TOO_FAR)
    edited = apply(tokens, undefined.edits)
    if edited is not tokens:
        texts = [it.text for it in edited]
    normalised = normalise(edited, texts, Roles(types | undefined.types))
    checkpoint()
    tree = _parsed(normalised, previous)
    checkpoint()
    if tree is None:
        return _refused(text, path, "syntax-error", _TOO_FAR)
    return SyntaxTree(
        path,
        normalised.text,
        tree,
        normalised.starts,
        TokenSpans(normalised.tokens, normalised.starts),
        normalised.qualifiers,
        normalised.attributes,
        normalised.pragmas,
        frozenset(normalised.elaborated),
        normalised.spellings,
        source.files,
        (
            *encoding_problems(text, path),
            *template.problems,
            *_several_programs(path, n_programs),
            *source.problems,
            *dialect.problems,
            *undefined.problems,
        ),
        (*assumed, *undefined.guesses),
        tuple(source.inactive),
        n_programs,
    )


def kernel_text(text: str, path: str) -> tuple[str, int]:
    """Return a text without what a host puts around its kernels, and how many strings they stand in.

    Every character keeps its place.
    """
    hosted, count = kernels_of_host(text, path)
    if count:
        return hosted, count
    unwrapped = without_wrapping(text)
    return unwrapped, 0 if unwrapped == text else n_strings(text)


def _several_programs(path: str, count: int) -> Iterator[Problem]:
    """Say that a file holds several strings: which of them a host puts together is not known."""
    if count > 1:
        message = f"kernels are read from {count} strings of this file as if they were one program"
        yield Problem("several-programs", Severity.INFORMATION, message, Span(path, 0, 0))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file preprocessed once, for those who read its tokens: the index and the program."""

    text: str
    """What was preprocessed: the file without what a host wraps around it."""
    options: BuildOptions
    source: Preprocessed
    guesses: list[Guess]
    log: MacroLog

    def holds(self, text: str, options: BuildOptions) -> bool:
        """Tell whether preprocessing a text would give the same."""
        return text == self.text and options == self.options


def prepare(
    text: str, path: str, options: BuildOptions, read_file: Callable[[str], str | None] | None
) -> Prepared:
    """Preprocess a file as typed; one that is too long counts as empty."""
    unwrapped = kernel_text(text, path)[0] if len(text) <= MAX_CHARACTERS else ""
    log = MacroLog()
    with paused_collector():
        source, guesses = preprocess_some_branch(unwrapped, path, options, read_file, log)
    return Prepared(unwrapped, options, source, guesses, log)


def preprocess_some_branch(
    text: str,
    path: str,
    options: BuildOptions,
    read_file: Callable[[str], str | None] | None,
    log: MacroLog | None = None,
) -> tuple[Preprocessed, list[Guess]]:
    """Preprocess; where that takes values for names that are not defined, assume some.

    That is where no kernel is active but one is behind undefined names, where `#error` is reached, where
    a condition divides by an undefined name, and where a header is read as hosts read it.
    """
    reading = _Reading(text, path, options, read_file, log)
    source = reading.run({}, "")
    if source.divisors:
        values: Assignment = {
            it: value_of_constant(it) for it in source.divisors if it not in options.undefines
        }
        source = reading.run(values, "so that no condition divides by zero") if values else source
    has_kernel = not KERNEL_WORDS.isdisjoint(source.texts)
    if has_kernel and source.of_hosts:
        source = _without_host(source, reading)
    if has_kernel and not source.errors:
        return source, reading.guesses
    if not has_kernel:
        for hidden in hidden_kernels(path, text, source.inactive)[:8]:
            assignment = solve(hidden.guards, source.macros, fixed=options.undefines)
            if assignment is not None:
                source = reading.run(assignment, f"so that the kernel `{hidden.name}` is active")
                break
    for _ in range(MAX_ERROR_DIRECTIVES):
        assignment = _without_error(source, options)
        if assignment is None or not reading.is_new(assignment):
            break
        source = reading.run(assignment, "so that #error is not reached")
    _excuse_errors(source, reading.guesses)
    return source, reading.guesses


def _without_error(source: Preprocessed, options: BuildOptions) -> Assignment | None:
    """Return values for undefined names with which the first `#error` that they decide on is not reached."""
    for error in source.errors:
        guards = guards_at(error.path, source.files[error.path].text, error.start)
        if guards:
            found = solve(guards[:-1], source.macros, fail=guards[-1], fixed=options.undefines)
            if found is not None:
                return found
    return None


def _without_host(source: Preprocessed, reading: _Reading) -> Preprocessed:
    """Preprocess as kernels are built where undefined names let the host's part of a shared header in."""
    is_logged = True
    for place in source.of_hosts[:MAX_ERROR_DIRECTIVES]:
        for path, start in reversed(list(_ways_in(source, place))):
            guards = guards_at(path, source.files[path].text, start)
            fixed = reading.options.undefines
            found = solve(guards[:-1], source.macros, fail=guards[-1], fixed=fixed) if guards else None
            if found is None or not reading.is_new(found):
                continue
            before = reading.state()
            other = reading.run(found, "so that no header of a host is read")
            if len(other.of_hosts) < len(source.of_hosts) and not KERNEL_WORDS.isdisjoint(other.texts):
                return other
            reading.restore(before)
            is_logged = False
    return source if is_logged else reading.run({}, "")  # The log is of the last run.


def _ways_in(source: Preprocessed, place: tuple[str, int]) -> Iterator[tuple[str, int]]:
    """Yield a place, the one that includes its file, and so on."""
    seen: set[str] = set()
    at: tuple[str, int] | None = place
    while at is not None and at[0] not in seen:
        yield at
        seen.add(at[0])
        at = source.included_at.get(at[0])


def _excuse_errors(source: Preprocessed, guesses: Sequence[Guess]) -> None:
    """Say once, as information, that macros which the build defines decide on the `#error`s that are left."""
    guessed = {it.name for it in guesses}

    def rests_on_the_build(error: Token) -> bool:
        guards = guards_at(error.path, source.files[error.path].text, error.start)
        names = {token.text for it in guards for token in it.directive.tokens}
        misses = any(
            it.directive.name.endswith("ndef") == it.wanted for it in guards if it.directive.name != "if"
        )
        return misses or not guessed.isdisjoint(names) or bool(free_names(guards, source.macros))

    # One is enough: what the file defines behind it, and tests further down, is then its authors' example.
    excused = source.errors if any(map(rests_on_the_build, source.errors)) else []
    kept: list[Problem] = []
    is_said = False
    for it in source.problems:
        if not any(it.span.path == by.path and it.span.start <= by.start < it.span.end for by in excused):
            kept.append(it)
        elif not is_said:
            is_said = True
            cure = "name it with -D, or build.defines in clmap.toml"
            message = f"{it.message}: what this file is built with is not known; {cure}"
            kept.append(replace(it, severity=Severity.INFORMATION, message=message))
    source.problems[:] = kept


class _Reading:
    """One file that is preprocessed with ever more assumptions."""

    def __init__(
        self,
        text: str,
        path: str,
        options: BuildOptions,
        read_file: Callable[[str], str | None] | None,
        log: MacroLog | None,
    ) -> None:
        self.log = log
        self.text = text
        self.path = path
        self.options = options
        self.read_file = read_file
        self.guesses: list[Guess] = []
        self.problems: list[Problem] = []

    def state(self) -> tuple[BuildOptions, list[Guess], list[Problem]]:
        """Return what has been assumed so far."""
        return self.options, list(self.guesses), list(self.problems)

    def restore(self, before: tuple[BuildOptions, list[Guess], list[Problem]]) -> None:
        """Assume only what was assumed `before`."""
        self.options, self.guesses, self.problems = before

    def is_new(self, assumed: Assignment) -> bool:
        """Tell whether preprocessing with further values may change anything."""
        return any(it[1] is not None and it not in self.options.defines for it in assumed.items())

    def run(self, assumed: Assignment, why: str) -> Preprocessed:
        """Preprocess with further values, and say so.

        A name that only has to be defined stands for itself: what it is shows where it is used.
        """
        given = {name: value for name, value in assumed.items() if value is not None}
        defines = (*self.options.defines, *given.items())
        self.options = replace(self.options, defines=defines)
        source = preprocess(self.text, self.path, self.options, self.read_file, self.log)
        used = {name for name, value in given.items() if name == value}
        used = used.intersection(source.texts) if used else used
        for name, value in given.items():
            if name not in used:
                self.assume(name, "1" if name == value else value, why)
        source.problems += self.problems
        return source

    def assume(self, name: str, value: str, why: str) -> None:
        self.guesses = [it for it in self.guesses if it.name != name]
        self.problems = [it for it in self.problems if f"`{name}` " not in it.message]
        place = re.search(rf"\b{re.escape(name)}\b", self.text)
        span = Span(self.path, *place.span()) if place else Span(self.path, 0, 0)
        self.guesses.append(Guess(name, Role.CONSTANT.value, value, span))
        cure = f"To be exact, set -D {name}=VALUE in clmap.toml."
        message = f"`{name}` is not defined; taken for {value} {why}. {cure}"
        self.problems.append(Problem("undefined-name", Severity.WARNING, message, span))


def _parsed(normalised: Normalised, previous: SyntaxTree | None) -> Tree | None:
    """Parse; where an earlier tree of the file is known, tree-sitter reuses what did not change.

    `None` where it takes too many steps.
    """
    encoded = normalised.text.encode("ascii", "replace")
    old, new = "" if previous is None else previous.text, normalised.text
    if previous is not None and old == new:
        return previous.tree
    # How the grammar recovers from an error depends on what it reuses; only a fresh parse is always the same.
    if previous is None or not old or previous.tree.root_node.has_error:
        return within_steps(Parser(language()), encoded)
    apart = difference(old, new)
    edited = previous.tree.copy()
    edited.edit(
        start_byte=apart.start,
        old_end_byte=apart.old_end,
        new_end_byte=apart.new_end,
        start_point=_point(old, apart.start),
        old_end_point=_point(old, apart.old_end),
        new_end_point=_point(new, apart.new_end),
    )
    tree = within_steps(Parser(language()), encoded, edited)
    return within_steps(Parser(language()), encoded) if tree is None or tree.root_node.has_error else tree


def _point(text: str, offset: int) -> Point:
    line_start = text.rfind("\n", 0, offset) + 1
    return Point(text.count("\n", 0, offset), offset - line_start)


def _refused(text: str, path: str, code: str, message: str) -> SyntaxTree:
    problem = Problem(code, Severity.ERROR, message, Span(path, 0, 0))
    tree = Parser(language()).parse(b"")
    return SyntaxTree(
        path, "", tree, (), TokenSpans([], ()), files={path: SourceFile.of(path, text)}, problems=(problem,)
    )
