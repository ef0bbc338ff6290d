"""The preprocessor: directives, includes and conditional groups; tokens that remember where they are typed.

Source: ISO/IEC 9899:1999, 6.10; OpenCL C Specification 3.0, 6.12.10.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import field
from functools import cache, lru_cache
from itertools import compress, count
from typing import Any, Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.condition_words import condition_words, is_defined
from clmap_lsp.source.conditions import BadConditionError, DivisionByZeroError, evaluate
from clmap_lsp.source.expansions import TYPED
from clmap_lsp.source.ir import Problem, Severity
from clmap_lsp.source.lexer import NEW_LINE, SPACE, Cut, Token, Use, is_name, open_comment, text_of
from clmap_lsp.source.macros import Expander, Macro, TooManyTokensError, define
from clmap_lsp.source.made import Made, Taken, Tokens, fill, texts_of
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.outline import Item, State, outline
from clmap_lsp.source.pieces import Chunk, Directive, Piece, lex
from clmap_lsp.source.predefined import initial_macros
from clmap_lsp.source.presumed import PresumedPlaces
from clmap_lsp.source.segments import Segment
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.source.wrapped import without_wrapping

ReadFile = Callable[[str], str | None]

MAX_INCLUDE_DEPTH = 64
MAX_INCLUDES = 4_096
"""Times that files are included, the same ones counted again: two in each of 64 would be 2^64."""
MAX_REPEATED = 100_000
"""Tokens that files leave which were included before. Headers have guards, and what is included with other
macros each time is short: the most in 714 public kernel files is 37,622, in XMRig's randomx.cl."""
MAX_TOKENS = 1_500_000
"""Tokens of a file and what it includes."""
MAX_USE = 50_000
"""Tokens that one use of a macro may make, those in between counted. The most in 1,000 public kernel files is
11,514, in OpenCV's gemm_image.cl."""
MAX_EXPANDED = 100_000
"""Tokens that all macros together may make, beyond `EXPANDED_A_CHARACTER` for each character that is read."""
EXPANDED_A_CHARACTER = 8
"""The most in 1,570 public kernel files is 15.6, in a miner's phatk.cl, which makes 99,772 beyond these 8."""

LARGE_INCLUDES = 100_000
"""Characters of included files from which on unreached definitions are left out."""
MAX_INCLUDED_CHARACTERS = 64 << 20

MAX_FOLDERS_ABOVE = 12
HEADER_FOLDERS = (
    *("include", "inc", "headers", "common", "shared", "lib", "src", "source", "utils", "util"),
    *("kernels", "kernel", "opencl", "OpenCL", "cl", "CL", "ocl", "device"),
    *("include/cl", "include/CL", "include/opencl", "src/cl", "src/opencl", "src/kernels"),
)
"""Where a header is looked for, in the folders above the file that includes it, where no option names it."""

PRAGMA = "#pragma"
"""The first characters of the one token that a pragma leaves in the output."""


_NO_IDENTIFIER = "macro name must be an identifier"


_OF_HOSTS: Final = frozenset(
    [
        *("algorithm", "array", "atomic", "cassert", "cfloat", "chrono", "climits", "cmath", "complex"),
        *("cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "ctime", "deque", "exception", "fstream"),
        *("functional", "initializer_list", "iomanip", "iostream", "iterator", "limits", "list", "map"),
        *("memory", "mutex", "new", "numeric", "ostream", "queue", "random", "set", "sstream", "stack"),
        *("stdexcept", "string", "thread", "tuple", "type_traits", "typeinfo", "unordered_map"),
        *("unordered_set", "utility", "valarray", "vector"),
        *("CL/cl.h", "CL/cl.hpp", "CL/cl2.hpp", "CL/opencl.h", "CL/opencl.hpp", "OpenCL/opencl.h"),
    ]
)
"""Headers that no kernel includes: of C++, and of the interface by which hosts call OpenCL."""
_OF_CPP: Final = (".hpp", ".hxx", ".hh")


@dataclass()
class Preprocessed:
    """What is left of a file after preprocessing."""

    made: list[Token]
    files: dict[str, SourceFile]
    problems: list[Problem]
    inactive: list[Span]
    macros: dict[str, Macro]
    unknown_in_conditions: dict[str, Token] = field(default_factory=dict)
    """Undefined names that the value of an `#if` rests on, with their first place."""
    divisors: dict[str, None] = field(default_factory=dict)
    """Undefined names of conditions that cannot be evaluated because they divide by zero."""
    missing_includes: list[str] = field(default_factory=list)
    errors: list[Token] = field(default_factory=list)
    """The `#error` directives that were reached."""
    included_at: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Where each file was included first: the path of the file that does, and the place in it."""
    of_hosts: list[tuple[str, int]] = field(default_factory=list)
    """Where headers of C++ or of OpenCL's host interface are asked for and not found."""
    taken: Taken = ()
    """What of `made` is not put together yet."""

    @lazy_property
    def tokens(self) -> Tokens:
        """The tokens, each put together when it is asked for."""
        return Tokens(self.made, self.taken)

    @lazy_property
    def texts(self) -> list[str]:
        """The tokens' texts."""
        return texts_of(self.made, self.taken)


@dataclass(slots=True)
class MacroLog:
    """Where macros are defined and used, and what is included, as typed."""

    definitions: list[tuple[Macro, Token, Span]] = field(default_factory=list)
    """Each macro with the token of its name and the place of the whole directive."""
    uses: list[tuple[Token, Macro]] = field(default_factory=list)
    """Tokens that name a macro, in text, in other macros' bodies and in directives; some more than once."""
    includes: list[tuple[Span, str, str | None]] = field(default_factory=list)
    """Each `#include` with what it names and the path of what was found."""

    def clear(self) -> None:
        """Forget what a run that is to be repeated has logged."""
        self.definitions.clear()
        self.uses.clear()
        self.includes.clear()


class OutsideText(str):
    """What stands, empty, for a file outside the workspace at `place`; nobody looked whether it is there."""

    place: str

    def __new__(cls, text: str, place: str) -> OutsideText:
        """Mark a text."""
        made = super().__new__(cls, text)
        made.place = place
        return made


class _TooLargeError(Exception):
    """The file is too large with what it includes."""


class _LargeIncludesError(Exception):
    """Included files are so large that unreached definitions should be left out."""


@dataclass(slots=True)
class _Group:
    """One `#if` ... `#endif`: whether it stands in active text, was taken before, and is active now."""

    outer: bool
    taken: bool
    active: bool
    opened: Directive
    seen_else: bool = False
    inactive_from: int | None = None


def preprocess(
    text: str,
    path: str,
    options: BuildOptions,
    read_file: ReadFile | None = None,
    log: MacroLog | None = None,
) -> Preprocessed:
    """Preprocess the file `path`. Never raises on text.

    Of large included files, functions and tables that nothing reaches are left out.
    """
    if read_file is not None:
        read_file = cache(read_file)
    try:
        return _Preprocessor(options, read_file, path, None, log).run(text)
    except _LargeIncludesError:
        return _preprocess_reached(text, path, options, read_file, log)


def _preprocess_reached(
    text: str, path: str, options: BuildOptions, read_file: ReadFile | None, log: MacroLog | None
) -> Preprocessed:
    """Leave everything out that may be left out, see what the rest needs, and put that in.

    Names that `##` makes inside functions show only when those are expanded, hence the loop.
    """
    needed: set[str] = set()
    preprocessor = _Preprocessor(options, read_file, path, needed, log)
    preprocessor.run(text)
    while missing := _reached(preprocessor.out, preprocessor.left_out) - needed:
        needed = needed | missing
        if not preprocessor.put_in(needed):
            preprocessor.pruned.clear()
            preprocessor = _Preprocessor(options, read_file, path, needed, log)
            preprocessor.run(text)
    preprocessor.pruned.clear()  # They lead back here: all would stay until the collector of cycles runs.
    return preprocessor.out


def _reached(result: Preprocessed, left_out: dict[str, list[Item]]) -> set[str]:
    """Return which of the definitions that were left out the output needs, through macros and each other."""
    reached: set[str] = set()
    waiting = list(set(texts_of(result.made, result.taken)))
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        names: set[str] = set()
        if name in left_out:
            reached.add(name)
            names = names.union(*(item.words for item in left_out[name]))
        if (macro := result.macros.get(name)) is not None:
            names |= {token.text for token in macro.body}
        waiting += names - seen
        seen |= names
    return reached


_included = lru_cache(maxsize=64)(SourceFile.of)
"""The lines of an included file, which many files of a project have in common."""


@dataclass(slots=True)
class _Pruned:
    """Text of an included file as it was expanded: what was kept of it, and where in the output that is."""

    reader: _FileReader
    items: list[Item]
    kept: list[Piece]
    start: int
    end: int
    changes: int
    """How often macros had changed before."""


class _Preprocessor:
    def __init__(
        self,
        options: BuildOptions,
        read_file: ReadFile | None,
        path: str,
        needed: set[str] | None,
        log: MacroLog | None,
    ) -> None:
        self.log = log
        if log is not None:
            log.clear()
        self.options = options
        self.read_file = read_file
        self.main_path = path
        self.needed = needed
        self.left_out: dict[str, list[Item]] = {}
        self.pruned: list[_Pruned] = []
        self.is_repeatable = True
        """Whether what is left out has no effect on what stands behind it."""
        self.readers: list[_FileReader] = []
        self.included_characters = 0
        self.n_included = 0
        self.seen: set[str] = set()
        """The files that were included."""
        self.repeated = 0
        """Tokens that files left which were included before."""
        self.outside: set[str] = set()
        """Files outside the workspace: what those include in turn is no news."""
        self.bomb: tuple[Token, Span] | None = None
        """The use of a macro that passed the limit."""
        self.macros, pseudo_files, complaints = initial_macros(options)
        self.out = Preprocessed([], {it.path: it for it in pseudo_files}, [], [], self.macros)
        self.expander = Expander(self.macros, limit=MAX_EXPANDED, use_limit=MAX_USE)
        self.expander.log = None if log is None else log.uses
        self.out.taken = self.expander.taken
        self.once: set[str] = set()
        self.including: list[str] = []
        self.places = PresumedPlaces(self.out.files)
        self.macros.update(self.places.macros())
        self.first_macros = dict(self.macros)
        self.changes: list[tuple[str, Macro | None]] = []
        """How macros were defined and undefined."""
        for complaint in complaints:
            self.problem("bad-option", f"{complaint} (build options)", Span(path, 0, 0), Severity.WARNING)

    def run(self, text: str) -> Preprocessed:
        try:
            for name in self.options.prelude:
                self.prelude(name)
            self.file(self.main_path, text)
            # What is put in counts at the end, wherever it stands: it must not need what includes grant.
            self.expander.grant(-EXPANDED_A_CHARACTER * self.included_characters)
            return self.out
        except _TooLargeError:
            message = f"more than {MAX_TOKENS} tokens with what is included; the rest is not read"
            self.problem("too-many-tokens", message, Span(self.main_path, 0, 0), Severity.INFORMATION)
        except TooManyTokensError:
            self._too_many_tokens()
        self.is_repeatable = False
        return self.out

    def put_in(self, needed: set[str]) -> bool:
        """Expand what was left out of included files and is needed; false where only another run can tell.

        Macros are what they were, as definitions change none. What else they may have an effect on is the
        number of tokens, `__COUNTER__`, and a call that is still open behind them.
        """
        self.needed, self.left_out = needed, {}
        if not self.is_repeatable or self.places.vary or self.expander.is_used_up:
            return False
        try:
            self._put_in()
        except (TooManyTokensError, _TooLargeError):
            return False
        return self.is_repeatable and not self.places.vary and len(self.out.made) <= MAX_TOKENS

    def _put_in(self) -> None:
        old = self.out.made
        fill(old, self.expander.taken)
        self.expander.taken.clear()
        new = self.out.made = []
        self.macros.clear()
        self.macros.update(self.first_macros)
        changes = done = 0
        for pruned in self.pruned:
            pruned.reader.leaving_out = None
        for pruned in self.pruned:
            self._change(self.changes[changes : pruned.changes])
            kept = pruned.reader.kept(pruned.items)
            new += old[done : pruned.start]
            changes, done, start = pruned.changes, pruned.end, len(new)
            if kept == pruned.kept:
                new += old[pruned.start : pruned.end]
            else:
                pruned.reader.put(kept)
            pruned.kept, pruned.start, pruned.end = kept, start, len(new)
        new += old[done:]
        self._change(self.changes[changes:])

    def _change(self, changes: list[tuple[str, Macro | None]]) -> None:
        for name, macro in changes:
            if macro is None:
                self.macros.pop(name, None)
            else:
                self.macros[name] = macro

    def _too_many_tokens(self) -> None:
        is_one = self.bomb is not None and not self.expander.is_used_up
        what = f"`{self.bomb[0].text}` expands" if self.bomb is not None and is_one else "the macros expand"
        limit = MAX_USE if is_one else MAX_EXPANDED
        message = f"{what} to more than {limit} tokens; the rest of the file is not read"
        place = Span(self.main_path, 0, 0) if self.bomb is None else self.bomb[1]
        # A bound of ours: nobody can mend the text for it.
        self.problem("too-many-tokens", message, place, Severity.INFORMATION)

    def problem(self, code: str, message: str, span: Span, severity: Severity = Severity.ERROR) -> None:
        self.out.problems.append(Problem(code, severity, message, span))

    # ----------------------------------------------------------------------------------------- files

    def file(self, path: str, text: str) -> None:
        if path not in self.out.files:
            is_main = path == self.main_path
            self.out.files[path] = SourceFile.of(path, text) if is_main else _included(path, text)
        self.including.append(path)
        self.expander.grant(EXPANDED_A_CHARACTER * len(text))
        reader = _FileReader(self, path, text)
        self.readers.append(reader)
        try:
            reader.read()
        finally:
            self.readers.pop()
        self.including.pop()

    def prelude(self, name: str) -> None:
        """Read a file that the options put before the source."""
        place = Span(self.main_path, 0, 0)
        found = self._find(name, posixpath.dirname(self.main_path))
        if found is None:
            found = self._find_near(name, self.main_path, place)
        if found is None or isinstance(found[1], OutsideText):
            self.out.missing_includes.append(name)
            message = f"cannot find `{name}`, which the build options put first; give its path"
            self.problem("missing-include", message, place, Severity.WARNING)
            return
        self.included_characters += len(found[1])
        self.file(found[0], without_wrapping(found[1]))  # It may be a string of the host's, as kernels may.

    def include(self, directive: Directive, path: str) -> None:
        operand = self._include_operand(directive.tokens[1:])
        span = _span_of(directive, path)
        if operand is None:
            self.problem("bad-directive", '#include needs "file" or <file>', span)
            return
        name, is_quoted = operand
        found = self._find(name, posixpath.dirname(path) if is_quoted else None)
        if found is None:
            found = self._find_near(name, path, span)
        if self.log is not None:
            operand_span = Span(path, directive.tokens[1].start, directive.tokens[-1].end)
            self.log.includes.append((operand_span, name, None if found is None else found[0]))
        if found is None:
            self.out.missing_includes.append(name)
            if name in _OF_HOSTS or name.endswith(_OF_CPP):
                self.out.of_hosts.append((path, span.start))
            self.problem(
                "missing-include",
                f"cannot find `{name}`; give -I FOLDER, or include under [build] in clmap.toml",
                span,
                Severity.INFORMATION,
            )
            return
        found_path, text = found
        self.out.included_at.setdefault(found_path, (path, span.start))
        self._note_outside(name, found_path, text, span)
        if found_path in self.once:
            return
        if len(self.including) >= MAX_INCLUDE_DEPTH:
            self.problem("include-depth", f"`{name}` includes itself, or includes nest too deeply", span)
            return
        self.n_included += 1
        if self.n_included > MAX_INCLUDES:
            if self.n_included == MAX_INCLUDES + 1:
                what = f"files are included more than {MAX_INCLUDES:,} times; the rest is not read"
                self.problem("include-depth", what, span)
            return
        self.included_characters += len(text)
        if len(self.out.made) > MAX_TOKENS or self.included_characters > MAX_INCLUDED_CHARACTERS:
            raise _TooLargeError
        if self.needed is None and self.included_characters > LARGE_INCLUDES:
            raise _LargeIncludesError
        if found_path not in self.seen:
            self.seen.add(found_path)
            self.file(found_path, text)
        else:
            self._again(name, found_path, text, span)

    def _again(self, name: str, path: str, text: str, span: Span) -> None:
        """Read a file that was included before, unless such have left too many tokens."""
        if self.repeated > MAX_REPEATED:
            return
        before, repeated = len(self.out.made), self.repeated
        self.file(path, text)
        self.repeated = repeated + len(self.out.made) - before  # Those inside of it are among these.
        if repeated <= MAX_REPEATED < self.repeated:
            what = f"files included again, such as `{name}`, leave more than {MAX_REPEATED:,} tokens"
            self.problem("include-depth", f"{what}; those that follow are not read again", span)

    def _note_outside(self, name: str, path: str, text: str, span: Span) -> None:
        if not isinstance(text, OutsideText) or path in self.outside:
            return
        self.outside.add(path)
        if span.path not in self.outside:
            message = (
                f"`{name}` lies outside the workspace and is not read ({text.place}); "
                "-I with its folder allows it"
            )
            self.problem("outside-include", message, span, Severity.WARNING)

    def _include_operand(self, tokens: list[Token]) -> tuple[str, bool] | None:
        if tokens and tokens[0].text[0] not in '"<':
            tokens = self.expander.expand_list(tokens)
        if not tokens:
            return None
        first = tokens[0].text
        if first[0] == '"' and len(first) > 2:
            return first[1:-1], True
        if first == "<":
            end = next((i for i, token in enumerate(tokens) if token.text == ">"), None)
            if end is not None and end > 1:
                parts = [
                    (" " if it.gap == SPACE and i else "") + it.text for i, it in enumerate(tokens[1:end])
                ]
                return "".join(parts), False
        return None

    def _find(self, name: str, folder: str | None) -> tuple[str, str] | None:
        if self.read_file is None:
            return None
        folders = [] if folder is None else [folder]
        name = name.replace("\\", "/")
        outside: tuple[str, str] | None = None
        for place in (*folders, *self.options.include_dirs):
            candidate = posixpath.normpath(posixpath.join(place, name))
            if (known := self.out.files.get(candidate)) is not None:
                return candidate, known.text
            text = self.read_file(candidate)
            if isinstance(text, OutsideText):
                outside = outside or (candidate, text)
            elif text is not None:
                return candidate, text
        return outside

    def _find_near(self, name: str, path: str, span: Span) -> tuple[str, str] | None:
        """Look in the folders above a file, and in those that headers usually lie in beside them.

        Builds name them with `-I`; what is found without that is said.
        """
        name = name.replace("\\", "/")
        if self.read_file is None or posixpath.isabs(name):
            return None
        folder = posixpath.dirname(path)
        for _ in range(MAX_FOLDERS_ABOVE):
            for beside in ("", *HEADER_FOLDERS):
                place = posixpath.normpath(posixpath.join(folder, beside))
                candidate = posixpath.normpath(posixpath.join(place, name))
                text = self.read_file(candidate)
                if isinstance(text, OutsideText):  # Here the workspace ends.
                    return None
                if text is not None:
                    message = (
                        f"`{name}` is read from {candidate}, which no option names; "
                        f'give -I {place}, or include = ["{place}"] under [build] in clmap.toml'
                    )
                    self.problem("found-include", message, span, Severity.INFORMATION)
                    return candidate, text
            above = posixpath.normpath(posixpath.join(folder, ".."))
            if above == folder:
                break
            folder = above
        return None

    # ------------------------------------------------------------------------------------ directives

    def directive(self, directive: Directive, path: str) -> None:
        """Carry out a directive of active text other than a conditional one."""
        match directive.name:
            case "define":
                self._define(directive, path)
            case "undef":
                if len(directive.tokens) < 2:
                    self.problem("bad-directive", "macro name missing", _span_of(directive, path))
                elif not is_name(directive.tokens[1].text):
                    self.problem("bad-directive", _NO_IDENTIFIER, _span_of(directive, path))
                else:
                    self.note_macros(directive.tokens[1:2])
                    self._record(directive.tokens[1].text, None)
            case "include" | "include_next" | "import":
                self.include(directive, path)
            case "pragma":
                self._pragma(directive, path)
            case "error" | "warning":
                self._error(directive, path)
            case "line":
                self._line(directive, path)
            case "" | "ident" | "sccs" | "assert" | "unassert":
                pass
            case name if name.isdecimal():
                pass
            case name:
                self.problem("bad-directive", f"`#{name}` is no directive", _span_of(directive, path))

    def _define(self, directive: Directive, path: str) -> None:
        macro = directive.meaning
        if macro is None and directive.earlier is not None:
            macro = directive.earlier
            directive.meaning = macro = macro.moved(directive) if isinstance(macro, Macro) else macro
            directive.earlier = None
        if macro is None:
            macro = directive.meaning = _defined(directive)
        if isinstance(macro, str):
            self.problem("bad-directive", macro, _span_of(directive, path))
        else:
            fresh = macro.fresh()
            if self.log is not None:
                self.log.definitions.append((fresh, directive.token(1), _span_of(directive, path)))
            self._record(macro.name, fresh)

    def note_macros(self, words: list[Token]) -> None:
        """Log the macros that a directive asks about without expanding them."""
        if self.log is not None:
            self.log.uses += [(it, self.macros[it.text]) for it in words if it.text in self.macros]

    def _record(self, name: str, macro: Macro | None) -> None:
        self.changes.append((name, macro))
        self._change(self.changes[-1:])

    def _pragma(self, directive: Directive, path: str) -> None:
        words = directive.tokens[1:]
        if words and words[0].text == "once":
            self.once.add(path)
            return
        if words and words[0].text in ("unroll", "nounroll"):
            words = [words[0], *self.expander.expand_list(words[1:])]
        text = PRAGMA + "".join(
            (" " if it.gap != 0 or index == 0 else "") + it.text for index, it in enumerate(words)
        )
        self.out.made.append(Token(text, directive.start, directive.end, NEW_LINE, path))

    def _error(self, directive: Directive, path: str) -> None:
        words = " ".join(token.text for token in directive.tokens[1:])
        is_error = directive.name == "error"
        if is_error and directive.tokens:
            self.out.errors.append(directive.tokens[0])
        # A `#warning` is its author's word to whoever builds, often of macros that this build lacks.
        severity = Severity.ERROR if is_error else Severity.HINT
        self.problem(
            f"{directive.name}-directive", f"#{directive.name} {words}", _span_of(directive, path), severity
        )

    def _line(self, directive: Directive, path: str) -> None:
        words = self.expander.expand_list(directive.tokens[1:])
        if not words or not words[0].text.isdecimal():
            self.problem("bad-directive", "#line needs a number", _span_of(directive, path), Severity.WARNING)
            return
        row = self.out.files[path].position(directive.start).row
        self.places.line_shift[path] = int(words[0].text[:12]) - row - 1
        if len(words) > 1 and words[1].text[0] == '"':
            self.places.names[path] = words[1].text

    # ------------------------------------------------------------------------------------ conditions

    def condition(self, directive: Directive, path: str) -> bool:
        """Return whether the branch that the directive opens is active."""
        words = directive.tokens[1:]
        if directive.name in ("ifdef", "ifndef", "elifdef", "elifndef"):
            if not words:
                self.problem("bad-directive", f"#{directive.name} needs a name", _span_of(directive, path))
                return False
            if not is_name(words[0].text):
                self.problem("bad-directive", _NO_IDENTIFIER, _span_of(directive, path))
                return False
            self.note_macros(words[:1])
            return is_defined(words[0], self.macros) != directive.name.endswith("ndef")
        expanded: list[Token] = []
        if self.log is not None:
            self.note_macros([it for at, it in enumerate(words) if _is_asked_about(words, at)])
        try:
            expanded = condition_words(words, self.expander, self._has_include)
            value, unknown = evaluate(expanded)
        except (BadConditionError, TooManyTokensError) as error:
            if isinstance(error, DivisionByZeroError):
                self.out.divisors.update(dict.fromkeys(it.text for it in expanded if is_name(it.text)))
            bad = error if isinstance(error, BadConditionError) else "its macros expand to too many tokens"
            self.problem(
                "bad-condition",
                f"cannot evaluate `#{directive.name}`: {bad}; taken as false",
                _span_of(directive, path),
                Severity.ERROR if _is_wrong_anyway(error, expanded) else Severity.WARNING,
            )
            return False
        for token in unknown:
            self.out.unknown_in_conditions.setdefault(token.text, token)
        return value.value != 0

    def _has_include(self, words: list[Token]) -> bool:
        operand = self._include_operand(words)
        if operand is None:
            return False
        name, is_quoted = operand
        found = self._find(name, posixpath.dirname(self.including[-1]) if is_quoted else None)
        return found is not None and not isinstance(found[1], OutsideText)


class _FileReader:
    """Reads the items of one file; conditional groups may not cross files."""

    def __init__(self, owner: _Preprocessor, path: str, text: str) -> None:
        self.owner = owner
        self.path = path
        self.text = text
        self.items = lex(path, text).items
        self.at = 0
        self.groups: list[_Group] = []
        self.state = State()
        self.leaving_out: str | None = None
        parents = owner.readers
        self.prunes = (
            bool(parents) and owner.needed is not None and all(it.state.depth == 0 for it in parents)
        )

    @property
    def active(self) -> bool:
        return not self.groups or self.groups[-1].active

    def read(self) -> None:
        while self.at < len(self.items):
            item = self.items[self.at]
            self.at += 1
            checkpoint()
            if isinstance(item, Chunk):
                if not self.groups or self.groups[-1].active:
                    self.chunk(item)
            else:
                self.directive(item)
        for group in self.groups:
            self.owner.problem(
                "bad-directive", f"#{group.opened.name} has no #endif", _span_of(group.opened, self.path)
            )
            if group.inactive_from is not None:
                self.inactive(group.inactive_from, len(self.text))
        opened = open_comment(self.text)
        if opened is not None:
            self.owner.problem("open-comment", "unterminated /* comment", Span(self.path, opened, opened + 2))

    def kept(self, items: list[Item]) -> list[Piece]:
        """Return the items of an included file without the definitions that nothing needs."""
        needed = self.owner.needed or set()
        kept: list[Piece] = []
        for index, item in enumerate(items):
            name = item.name
            is_rest = index == 0 and self.leaving_out is not None
            if is_rest:
                name = self.leaving_out
            if name is None or (name in needed and not is_rest) or name in self.owner.macros:
                kept.append(item.piece)
                continue
            self.owner.left_out.setdefault(name, []).append(item)
            self.leaving_out = name if item.is_open else None
        return kept

    def put(self, pieces: list[Piece]) -> None:
        """Append pieces to the output with their macros expanded."""
        if len(pieces) == 1:
            self.expanded(pieces[0].tokens, pieces[0].texts)
        elif pieces:
            tokens = [token for piece in pieces for token in piece.tokens]
            self.expanded(tokens, [text for piece in pieces for text in piece.texts])

    def chunk(self, chunk: Chunk) -> None:
        owner = self.owner
        if not self.prunes:
            if owner.needed is not None:
                self.state = State(max(self.state.depth + chunk.texts.count("{") - chunk.texts.count("}"), 0))
            if chunk.is_known and len(owner.including) == 1:
                self.stretches(chunk)
            else:
                self.put([chunk])
            return
        items, self.state = outline(chunk, self.state)
        kept, start, changes = self.kept(items), len(owner.out.made), len(owner.changes)
        self.put(kept)
        owner.pruned.append(_Pruned(self, items, kept, start, len(owner.out.made), changes))

    def stretches(self, chunk: Chunk) -> None:
        """Append a chunk of an edited file by stretches; what was made of one before is taken again."""
        owner = self.owner
        expander, out = owner.expander, owner.out.made
        first = 0
        for it in chunk.stretches:
            kept = it.by_use.get(TYPED)
            now = kept and kept.now(chunk.token(first).start, expander.meanings(kept.names, None))
            if now and expander.take_stretch(now, out):
                it.by_use.keep(TYPED, now)
            elif not self._stretch(it, chunk.tokens[first : first + it.n_tokens]):
                self.expanded(chunk.tokens[first:], chunk.texts[first:])
                return
            first += it.n_tokens
        if len(out) > MAX_TOKENS:
            raise _TooLargeError

    def _stretch(self, stretch: Segment, tokens: list[Token]) -> bool:
        """Append a stretch with its macros expanded, and keep it; nothing if a use goes on behind it."""
        expander, out, places = self.owner.expander, self.owner.out, self.owner.places
        lists: tuple[list[Any], ...] = (out.made, expander.taken, out.problems, expander.log or [])
        lists += (expander.unclosed, expander.miscounted)
        before, budget, counted = [*map(len, lists)], expander.budget, places.counted
        with expander.noting(set(map(text_of, tokens))) as noted, expander.in_stretch() as runs_on:
            self._uses(tokens)
        if runs_on():
            for there, n in zip(lists, before, strict=True):
                del there[n:]
            expander.grant(budget - expander.budget)
            places.counted = counted
            return False
        # Large uses are kept with their macros already.
        if len(expander.taken) == before[1] and len(expander.miscounted) == before[-1]:
            use = Use(self.path, tokens[0].start, tokens[-1].end)
            expander.keep_stretch(stretch, use, noted, Made(out.made[before[0] :]), budget)
        return True

    def _uses(self, tokens: list[Token]) -> None:
        """Append tokens with their macros expanded, none of which goes on behind them."""
        macros, out = self.owner.macros, self.owner.out.made
        done = 0
        for hit in compress(count(), map(macros.__contains__, map(text_of, tokens))):
            if hit >= done:
                out += tokens[done:hit]
                done = self.use(tokens, hit)
        out += tokens[done:]

    def expanded(self, tokens: list[Token], texts: list[str]) -> None:
        """Append consecutive tokens to the output with their macros expanded."""
        macros = self.owner.macros
        out = self.owner.out.made
        hits = list(compress(count(), map(macros.__contains__, texts)))
        if not hits:
            out += tokens
            return
        done = 0
        for hit in hits:
            if hit < done:
                continue
            out += tokens[done:hit]
            macro = macros[tokens[hit].text]
            if macro.parameters is not None and _may_run_on(tokens, hit):
                # Only a call that is still open at the end of the chunk may go on behind directives.
                self._expand_across(tokens, hit)
                return
            done = self.use(tokens, hit)
        out += tokens[done:]
        if len(out) > MAX_TOKENS:
            raise _TooLargeError

    def use(self, tokens: list[Token], hit: int, refill: Callable[[], bool] | None = None) -> int:
        """Expand the macro use at `hit`; nothing stays of one that passes the limit."""
        owner = self.owner
        before, n_taken = len(owner.out.made), len(owner.expander.taken)
        n_unclosed, n_miscounted = len(owner.expander.unclosed), len(owner.expander.miscounted)
        try:
            end = owner.expander.expand_use(tokens, hit, owner.out.made, refill)
            for name in owner.expander.unclosed[n_unclosed:]:
                said = "unterminated function-like macro invocation"
                owner.problem("unclosed-macro", said, Span(name.path, name.start, name.end))
            for name, said in owner.expander.miscounted[n_miscounted:]:
                owner.problem("macro-arguments", said, Span(name.path, name.start, name.end))
            return end
        except TooManyTokensError:
            del owner.out.made[before:], owner.expander.taken[n_taken:]
            if owner.bomb is None:
                token = tokens[hit]
                owner.bomb = token, Span(self.path, token.start, token.end)
            raise

    def _expand_across(self, tokens: list[Token], hit: int) -> None:
        """Expand a use whose arguments run past directives, and the text behind it."""
        self.owner.is_repeatable = self.owner.is_repeatable and not self.prunes
        open_tokens = list(tokens)
        end = self.use(open_tokens, hit, lambda: self._refill(open_tokens))
        rest = open_tokens[end:]
        if rest:
            self.expanded(rest, [token.text for token in rest])

    def _refill(self, tokens: list[Token]) -> bool:
        while self.at < len(self.items):
            item = self.items[self.at]
            if isinstance(item, Chunk):
                self.at += 1
                if self.active:
                    tokens += item.tokens
                    return True
            elif item.name in _CONDITIONALS or item.name in ("define", "undef", "pragma", ""):
                self.at += 1
                self.directive(item)
            else:
                return False
        return False

    def directive(self, directive: Directive) -> None:
        name = directive.name
        if name in _CONDITIONALS:
            self.conditional(directive, name)
        elif self.active:
            self.owner.directive(directive, self.path)

    def conditional(self, directive: Directive, name: str) -> None:
        if name in ("if", "ifdef", "ifndef"):
            outer = self.active
            active = outer and self.owner.condition(directive, self.path)
            group = _Group(outer, active, active, directive)
            if outer and not active:
                group.inactive_from = directive.end
            self.groups.append(group)
            return
        if not self.groups:
            self.owner.problem("bad-directive", f"#{name} without #if", _span_of(directive, self.path))
            return
        group = self.groups[-1]
        if group.inactive_from is not None:
            self.inactive(group.inactive_from, directive.start)
            group.inactive_from = None
        if name == "endif":
            self.groups.pop()
            return
        if group.seen_else:
            self.owner.problem("bad-directive", f"#{name} after #else", _span_of(directive, self.path))
        if name == "else":
            group.seen_else = True
            group.active = group.outer and not group.taken
        else:
            group.active = group.outer and not group.taken and self.owner.condition(directive, self.path)
        group.taken = group.taken or group.active
        if group.outer and not group.active:
            group.inactive_from = directive.end

    def inactive(self, start: int, end: int) -> None:
        """Record whole lines of the main file that are left out."""
        if self.path != self.owner.main_path or len(self.owner.including) > 1:
            return
        line_end = self.text.find("\n", start)
        start = end if line_end < 0 else line_end + 1
        end = max(self.text.rfind("\n", 0, end) + 1, start) if end < len(self.text) else end
        if start < end:
            self.owner.out.inactive.append(Span(self.path, start, end))


_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"})


def _is_wrong_anyway(error: Exception, words: list[Token]) -> bool:
    """Tell whether a condition is wrong whatever the host defines: no name is in it."""
    if not isinstance(error, BadConditionError) or isinstance(error, DivisionByZeroError):
        return False
    return not any(is_name(it.text) for it in words)


def _defined(directive: Directive) -> Macro | str:
    """Return the macro that a directive defines; what an edit leaves of an earlier one, it has of that."""
    macro = define(directive.tokens[1:])
    if directive.edited is not None:
        earlier, text, at = directive.edited
        directive.edited = None
        if isinstance(macro, Macro) and isinstance(earlier, Macro):
            macro.follow(Cut(directive.text, directive.at, macro.body), earlier, text, at)
    return macro


def _may_run_on(tokens: list[Token], at: int) -> bool:
    """Tell whether the call at `at` is still open at the end of the tokens."""
    if at + 1 >= len(tokens) or tokens[at + 1].text != "(":
        return False
    depth = 0
    for index in range(at + 1, len(tokens)):
        text = tokens[index].text
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
            if depth == 0:
                return False
    return True


def _is_asked_about(words: list[Token], at: int) -> bool:
    """Tell whether a word is the operand of `defined`."""
    before = [it.text for it in words[max(at - 2, 0) : at]]
    return before[-1:] == ["defined"] or before == ["defined", "("]


def _span_of(directive: Directive, path: str) -> Span:
    return Span(path, directive.start, directive.end)
