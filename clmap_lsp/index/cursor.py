"""A place in the tokens of one declaration, names in scope, and what is reported on the way."""

from __future__ import annotations

from clmap_lsp.index.model import (
    BuiltinUse,
    Edit,
    Fix,
    Issue,
    Kind,
    Need,
    Role,
    Scope,
    Symbol,
    Use,
)
from clmap_lsp.index.names import nearest
from clmap_lsp.index.pieces import Piece, Unit
from clmap_lsp.index.types import OF_2_0, TYPE_NAMES, Qualified, Record, base_of
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.predefined import version_of
from clmap_lsp.source.preprocess import PRAGMA
from clmap_lsp.source.vocabulary import (
    ACCESS_QUALIFIERS,
    ADDRESS_SPACES,
    ATTRIBUTE_WORDS,
    KERNEL_WORDS,
    STATEMENT_KEYWORDS,
)

MAX_DEPTH = 64
"""Brackets and statements nested deeper are not followed; public kernels stay below 20."""
CONST_WORDS = frozenset({"const", "__const", "__const__"})
VOLATILE_WORDS = frozenset({"volatile", "__volatile", "__volatile__"})
RESTRICT_WORDS = frozenset({"restrict", "__restrict", "__restrict__"})
STORAGE_WORDS = frozenset({"typedef", "extern", "static", "register", "auto"})
FUNCTION_WORDS = frozenset({"inline", "__inline", "__inline__", "_Noreturn", "__extension__"})
SIZE_WORDS = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double", "float", "half"})
TAG_WORDS = frozenset({"struct", "union", "enum"})
TYPEOF_WORDS = frozenset({"__typeof__", "__typeof"})
QUALIFIER_WORDS = CONST_WORDS | VOLATILE_WORDS | RESTRICT_WORDS | ADDRESS_SPACES | ACCESS_QUALIFIERS
SPECIFIER_WORDS = (
    QUALIFIER_WORDS
    | STORAGE_WORDS
    | FUNCTION_WORDS
    | SIZE_WORDS
    | TAG_WORDS
    | TYPEOF_WORDS
    | KERNEL_WORDS
    | ATTRIBUTE_WORDS
    | {"void", "bool", "_Bool"}
)
"""Words that only a declaration, or a type's name, starts with."""
KEYWORDS = (
    SPECIFIER_WORDS
    | STATEMENT_KEYWORDS
    | {
        "sizeof",
        "_Alignof",
        "__alignof__",
        "__alignof",
        "vec_step",
        "_Static_assert",
        "asm",
        "__asm",
        "__asm__",
    }
)
"""Words that no declaration can take as its name."""
_LONGEST_STATEMENT = 400
"""Tokens that are looked at for a bracket that is closed and was not opened."""
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = frozenset(OPENING.values())


class SyntaxFaultError(Exception):
    """What follows cannot be read as the construct it is in; it has been reported."""


class FileScope:
    """The names of a translation unit as they are seen from one place in it."""

    def __init__(self) -> None:
        self.ordinary: dict[str, Symbol] = {}
        self.tags: dict[str, Symbol] = {}
        self.names = 0
        """A digest of the ordinary names, in order."""

    def get(self, is_tag: bool, name: str) -> Symbol | None:
        """Return the symbol of a name."""
        return (self.tags if is_tag else self.ordinary).get(name)

    def put(self, is_tag: bool, name: str, symbol: Symbol) -> None:
        """Let a name mean a symbol from here on."""
        if is_tag:
            self.tags[name] = symbol
            return
        if name not in self.ordinary:
            self.names = hash((self.names, name))
        self.ordinary[name] = symbol

    def near(self, name: str, *, is_type: bool) -> str | None:
        """Return the name, or the typedef, that was perhaps meant."""
        if is_type:
            return nearest(name, (it for it, symbol in self.ordinary.items() if symbol.kind is Kind.TYPEDEF))
        return nearest(name, self.ordinary)


class Cursor:
    """The tokens of one declaration, read from left to right."""

    def __init__(self, texts: list[str], file_scope: FileScope, options: BuildOptions) -> None:
        self.texts = [*texts, "", "", "", ""]
        self.n_tokens = len(texts)
        self.at = 0
        self.file_scope = file_scope
        self.options = options
        self.version = version_of(options.language)
        self.is_cpp = options.is_cpp
        self.unit = Unit(len(texts))
        self.piece: Piece = self.unit.root
        """What is being read."""
        self.piece_start = 0
        self.open: list[tuple[int, Piece]] = []
        """The pieces around it, and where each starts."""
        self.asked: dict[tuple[bool, str], tuple[Symbol | None, int]] = {}
        """Names that the present piece asked what is around for, what they were, and in which scope."""
        self.asked_near: dict[tuple[bool, str], str | None] = {}
        """The same for names that nothing declares: which name of the file was perhaps meant."""
        self.asked_local: dict[str, str | None] = {}
        """The same for names in the scopes around."""
        self.n_unsure = 0
        """Things that may follow from more than the tokens of a statement and what it asked for."""
        self.scopes: list[tuple[dict[str, Symbol], dict[str, Symbol], Scope]] = []
        self.n_outside = 0
        """Scopes around the block of OpenCL 2.0 that is read: what they declare, it has copies of."""
        self.function: Symbol | None = None
        self.depth = 0
        self.reads: list[Symbol | None] = []
        """What was read so far; `None` for what differs between work-items by itself."""
        self.controls: list[Symbol | None] = []
        """What decides whether the present statement runs."""
        self.is_doubtful = False
        """Set at a name that nothing defines: what follows is then not judged."""
        self.n_doubts = 0
        """How often it was set, if that was news or not."""
        self.n_judged = 0
        """What was wrong so far, or in doubt."""

    # ------------------------------------------------------------------------------------------ tokens

    @property
    def text(self) -> str:
        """The present token; empty at the end."""
        return self.texts[self.at]

    def accept(self, text: str) -> bool:
        """Go past a token if it is this one."""
        if self.texts[self.at] == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str, opened: int | None = None, *, in_list: bool = False) -> None:
        """Go past this token; report and give up where there is another. Raises: SyntaxFaultError.

        Args:
            in_list: it closes a list, whose next element may stand here behind a comma that is missing.
        """
        if self.texts[self.at] == text:
            self.at += 1
            return
        notes = () if opened is None else ((opened, f"to match this '{self.texts[opened]}'"),)
        missing = "," if in_list and self._is_closed_later(text) else text
        assigned = self._assigned_within(opened) if text == "]" and opened is not None else None
        is_stray = self.text in (")", "]") and (opened is None or self._bracket_around(opened) != self.text)
        fix = None if is_stray else self._insertion(missing)
        if assigned is not None:
            fix = Fix("Insert ']'", (Edit(assigned, assigned, "]"),))
        self.issue("syntax-error", f"expected '{text}'", fix=fix, notes=notes)
        raise SyntaxFaultError

    def _assigned_within(self, opened: int) -> int | None:
        """Return the `=` behind a bracket that was to be closed before it: `a[i = 1;`."""
        depth = 0
        for at in range(opened + 1, self.at):
            text = self.texts[at]
            if depth == 0 and text in _ASSIGNMENTS:
                return at
            depth += (text in OPENING) - (text in _CLOSING)
        return None

    def _is_closed_later(self, text: str) -> bool:
        """Tell whether a name or number stands here, and behind it what closes the list that it is in."""
        if not (self.text[:1].isalnum() or self.text[:1] in ("_", '"', "'")):
            return False
        depth = 0
        for at in range(self.at, self.n_tokens):
            it = self.texts[at]
            if depth == 0 and it == text:
                return True
            if it in (";", "{") or depth < 0:
                return False
            depth += (it in OPENING) - (it in _CLOSING)
        return False

    def _bracket_around(self, opened: int) -> str | None:
        """Return what closes the bracket of the statement that the one at `opened` stands in."""
        depth = 0
        for at in range(opened - 1, -1, -1):
            text = self.texts[at]
            if text in (";", "{", "}"):
                return None
            depth += (text in _CLOSING) - (text in OPENING)
            if depth < 0:
                return OPENING[text]
        return None

    def _insertion(self, text: str) -> Fix:
        """Return the fix that inserts a token here."""
        return Fix(f"Insert '{text}'", (Edit(self.at, self.at, text),))

    def expect_semicolon(
        self, where: str, severity: Severity = Severity.ERROR, *, in_list: bool = False
    ) -> bool:
        """Go past a `;`; where it is missing, report it behind the token before, as compilers do.

        Args:
            in_list: it ends a list of names, and a comma may be missing instead.

        Returns: whether a `;` was there.
        """
        if self.texts[self.at] == ";":
            self.at += 1
            return True
        if self.text in (")", "]") and self.texts[self.at + 1] == ";":
            fix = Fix(f"Remove '{self.text}'", (Edit(self.at, self.at + 1, ""),))
            self.issue("syntax-error", f"extraneous '{self.text}' before ';'", fix=fix)
            self.at += 2
            return True
        is_next = in_list and self.is_name() and self.texts[self.at + 1] in (";", ",")
        missing = "," if is_next and self.lookup(self.text) is None else ";"
        inserts = None if self.text in (")", "]") else self.opening_for("]") or self._insertion(missing)
        if self.text == "]" and self.texts[self.at - 1] == "]":
            inserts = Fix("Remove ']'", (Edit(self.at, self.at + 1, ""),))
        self.issue("syntax-error", f"expected ';' {where}", severity, is_behind=True, fix=inserts)
        return False

    def is_name(self, at: int | None = None) -> bool:
        """Tell whether a token is an identifier."""
        text = self.texts[self.at if at is None else at]
        return is_name(text) and text not in KEYWORDS

    def skip_to(self, *stops: str) -> None:
        """Go on to one of the tokens on this level of brackets, or to a closing bracket or the end."""
        while self.text:
            text = self.text
            if text in stops or text in _CLOSING:
                return
            if text in OPENING:
                self.skip_brackets()
            else:
                self.at += 1

    def skip_brackets(self) -> None:
        """Go past a bracketed group, or to the end where it is not closed."""
        depth = 0
        while self.text:
            text = self.text
            self.at += 1
            if text in OPENING:
                depth += 1
            elif text in _CLOSING:
                depth -= 1
                if depth <= 0:
                    return

    def skip_pragmas(self) -> None:
        """Go past directives that stand as one token, and `_Pragma("...")`."""
        while self.texts[self.at].startswith(PRAGMA) or self.texts[self.at] == "_Pragma":
            self.at += 1
            if self.texts[self.at - 1] == "_Pragma" and self.text == "(":
                self.skip_brackets()

    def closing(self, at: int) -> int:
        """Return the token that closes the bracket at `at`, or the end."""
        depth = 0
        for index in range(at, self.n_tokens):
            text = self.texts[index]
            if text in OPENING:
                depth += 1
            elif text in _CLOSING:
                depth -= 1
                if depth == 0:
                    return index
        return self.n_tokens

    # -------------------------------------------------------------------------------------- complaints

    def doubt(self) -> None:
        """Judge nothing from here on."""
        self.is_doubtful = True
        self.n_doubts += 1

    def issue(
        self,
        code: str,
        message: str,
        severity: Severity = Severity.ERROR,
        *,
        token: int | None = None,
        end: int | None = None,
        is_behind: bool = False,
        fix: Fix | None = None,
        notes: tuple[tuple[int, str], ...] = (),
        name: str | None = None,
    ) -> None:
        """Report something, unless it may follow from a name that nothing defines."""
        if code == "syntax-error":
            self.n_unsure += 1  # How far ahead was looked, nobody knows.
        if severity is not Severity.HINT and code != "undefined-name":
            self.n_judged += 1
            if self.is_doubtful:
                return
        at = self.at if token is None else token
        self.piece.has_error |= severity is Severity.ERROR
        self.piece.issues.append(
            Issue(code, severity, message, at, end or at + 1, is_behind, fix, notes, name)
        )

    def need(self, extension: str, what: str, token: int, severity: Severity = Severity.WARNING) -> None:
        """Note what an extension has to be enabled for; of each file the first is told."""
        if not self.is_cpp:
            self.piece.needs.append(Need(token, extension, what, severity))

    def fail(self, message: str, fix: Fix | None = None) -> SyntaxFaultError:
        """Report a syntax error; return what is to be raised."""
        self.issue("syntax-error", message, fix=fix)
        return SyntaxFaultError()

    def opening_for(self, closing: str, over: str = "") -> Fix | None:
        """Return the fix that opens a bracket here, if the statement goes on to close one that is not open.

        Args:
            over: where the statement does not end, for all that.
        """
        depth = 0
        for at in range(self.at, min(self.at + _LONGEST_STATEMENT, self.n_tokens)):
            text = self.texts[at]
            if text in _CLOSING and depth == 0:
                return self._insertion("(" if closing == ")" else "[") if text == closing else None
            if text in (";", "{", "}") and text != over:
                return None
            depth += (text in OPENING) - (text in _CLOSING)
        return None

    # ------------------------------------------------------------------------------------------- names

    def open_scope(self) -> Scope:
        """Open a scope at the present token."""
        scope = Scope(self.at, self.n_tokens, len(self.scopes))
        self.piece.scopes.append(scope)
        self.scopes.append(({}, {}, scope))
        return scope

    def close_scope(self) -> None:
        """Close the innermost scope before the present token."""
        self.scopes.pop()[2].end = self.at

    def lookup(self, name: str, *, is_tag: bool = False) -> Symbol | None:
        """Return what a name means here."""
        level = len(self.scopes)
        for ordinary, tags, _ in reversed(self.scopes):
            level -= 1
            found = (tags if is_tag else ordinary).get(name)
            if found is not None:
                is_own = found._piece is None and found.token >= self.piece_start
                if level < self.piece.depth and not is_own:
                    self.asked.setdefault((is_tag, name), (found, level))
                return found
        found = self.file_scope.get(is_tag, name)
        self.asked.setdefault((is_tag, name), (found, -1))
        if found is None or found.unit is not self.unit:
            self.unit.lookups.setdefault((is_tag, name), found)
        return found

    def near(self, name: str, *, is_type: bool = False) -> str | None:
        """Return the name of the file, or its typedef, that was perhaps meant."""
        found = self.unit.near[is_type, name] = self.file_scope.near(name, is_type=is_type)
        self.asked_near[is_type, name] = found
        self.unit.near_of = self.file_scope.names
        return found

    def note_members(self, type_: Qualified) -> None:
        """Note that the members of a struct matter here, to which any name of its type may have led."""
        base = base_of(type_)
        if isinstance(base, Record) and base.name:
            found = self.file_scope.get(True, base.name)
            if self.lookup(base.name, is_tag=True) is not found:
                self.n_unsure += 1
            if found is None or found.unit is not self.unit:
                self.unit.lookups.setdefault((True, base.name), found)

    def declare(self, symbol: Symbol, *, is_tag: bool = False) -> None:
        """Let a name mean a symbol from here on."""
        symbol.unit = self.unit
        self.piece.symbols.append(symbol)
        role = Role.DECLARES | (Role.DEFINES if symbol.is_definition else Role(0))
        self.piece.uses.append(Use(symbol.token, symbol, role))
        if not symbol.name:
            return
        if self.scopes:
            ordinary, tags, scope = self.scopes[-1]
            (tags if is_tag else ordinary)[symbol.name] = symbol
            if len(self.scopes) > self.piece.depth:
                (scope.tags if is_tag else scope.symbols).append(symbol)
            else:
                (self.piece.tags if is_tag else self.piece.names).append(symbol)
            return
        self.file_scope.put(is_tag, symbol.name, symbol)
        self.unit.names.append((is_tag, symbol.name, symbol))

    def place_of(self, symbol: Symbol) -> int:
        """Return the token of a symbol's name, be it in a piece that was read to its end.

        The latest pieces are looked at first: a name is declared anew behind its last declaration.
        """
        if symbol.piece is None:
            return symbol.token
        for at, piece in reversed((*self.open, (self.piece_start, self.piece))):
            if piece.key is symbol.piece:
                return at + symbol.token
            found = _place_within(piece, symbol)
            if found is not None:
                return found
        return symbol.token

    def use(self, token: int, symbol: Symbol, role: Role) -> None:
        """Note that a token names a symbol."""
        self.piece.uses.append(Use(token, symbol, role))

    def use_builtin(
        self, token: int, text: str | None = None, *, is_varying: bool = False, type_: Qualified | None = None
    ) -> None:
        """Note that a token names something built in."""
        self.piece.builtins.append(BuiltinUse(token, self.texts[token], text, is_varying, type_))

    def named_type(self, at: int | None = None) -> Qualified | None:
        """Return the type that the token names, if it names one here."""
        text = self.texts[self.at if at is None else at]
        if not text or not (text[0].isalpha() or text[0] == "_"):
            return None
        symbol = self.lookup(text) if text not in KEYWORDS else None
        if symbol is not None:
            return symbol.type if symbol.kind is Kind.TYPEDEF else None
        if text in OF_2_0 and self.version < 200 and not self.is_cpp:
            return None
        return TYPE_NAMES.get(text)


def _place_within(piece: Piece, symbol: Symbol) -> int | None:
    """Return the token of a symbol's name in what an open piece holds, the last of that first."""
    pending = [(0, reversed(piece.inner))]
    while pending:
        start, inner = pending[-1]
        following = next(inner, None)
        if following is None:
            pending.pop()
            continue
        at = start + following[0]
        if following[1].key is symbol.piece:
            return at + symbol.token
        pending.append((at, reversed(following[1].inner)))
    return None
