"""A quick look over preprocessed tokens: what they declare, and where undefined names stand.

C's grammar needs to know which names are types; with undefined macros about, more than half of all public
kernel files cannot be parsed as they stand. This pass follows brackets and looks at the words that start each
declaration or statement. It never fails: what makes no sense is passed over.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from itertools import compress, count

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.lexer import NEW_LINE, Token
from clmap_lsp.source.normalise import REMOVED
from clmap_lsp.source.preprocess import PRAGMA
from clmap_lsp.source.vocabulary import (
    ADDRESS_SPACES,
    ASSEMBLY_WORDS,
    ATTRIBUTE_WORDS,
    KERNEL_WORDS,
    NAMED_TYPES,
    PRIMITIVE_TYPES,
    QUALIFIERS,
    STATEMENT_KEYWORDS,
)


class Role(Enum):
    """What an undefined name stands for; the values are those of `Guess.role`."""

    TYPE = "type"
    VECTOR_TYPE = "vector type"
    CONSTANT = "constant"
    QUALIFIER = "qualifier"
    ATTRIBUTE = "attribute"
    PARAMETERS = "parameters"
    STATEMENT = "statement"
    OPERATOR = "operator"


@dataclass(slots=True)
class Scan:
    """Names that are declared, roles of names that are not, and how to change the tokens to plain C.

    `edits` maps the index of a token to the texts that replace it; `None` in a list stands for the token
    itself, and an empty list drops it.
    """

    declared: set[str] = field(default_factory=set)
    roles: dict[str, tuple[Role, int, str]] = field(default_factory=dict)
    """For each undefined name its role, the index of the token that shows it, and the text taken for it."""
    edits: dict[int, list[str | None]] = field(default_factory=dict)
    unclosed: list[int] = field(default_factory=list)
    """Tokens that start a kernel while a body before it is still open."""


class _Kind(Enum):
    TOP = 0
    BLOCK = 1
    STRUCT = 2
    ENUM = 3
    INITIALIZER = 4
    PARAMETERS = 5
    FOR = 6
    HEADER = 7
    CALL = 8
    EXPRESSION = 9


_BRACES = (_Kind.TOP, _Kind.BLOCK, _Kind.STRUCT, _Kind.ENUM, _Kind.INITIALIZER)
_HOLDS_DECLARATIONS = (_Kind.TOP, _Kind.BLOCK, _Kind.STRUCT)
_STRUCTURE = frozenset("(){};,:")
_TAGS = frozenset({"struct", "union", "enum"})
_HEADERS = frozenset({"for", "if", "while", "switch"})
_AFTER_A_NAME = frozenset("=;,[):{(")
_GOES_ON = frozenset(
    {
        *(";", ",", ".", "->", "[", "(", ")", "]", "?", ":", "++", "--", "&&", "||"),
        *("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="),
        *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!="),
    }
)


@dataclass(slots=True)
class _Frame:
    kind: _Kind
    opened: int
    declares: bool = False
    name: int = -1
    """For calls and parameter lists: the index of the name before `(`."""
    is_kernel: bool = False


def scan(tokens: list[Token], texts: list[str], types: frozenset[str]) -> Scan:
    """Look over tokens with their texts; `types` are the names that typedefs give. Never raises."""
    return _Scanner(tokens, texts, types).run()


class _Scanner:
    def __init__(self, tokens: list[Token], texts: list[str], types: frozenset[str]) -> None:
        self.tokens = tokens
        self.texts = [*texts, ""]
        self.count = len(tokens)
        self.types = types
        self.found = Scan()
        self.frames = [_Frame(_Kind.TOP, -1)]
        self.braces: dict[int, _Kind] = {}
        self.lists: dict[int, _Frame] = {}
        self.following: int | None = None
        """Where the next item starts, if one stands right behind the item that is looked at."""

    def run(self) -> Scan:
        texts, frames = self.texts, self.frames
        # Most brackets are those of expressions, in which nothing is declared.
        expression = _Kind.EXPRESSION
        self.item(0)
        for index in compress(count(), map(_STRUCTURE.__contains__, texts)):
            match texts[index]:
                case "(":
                    if index in self.lists or texts[index - 1] in _HEADERS:
                        self.open(index)
                    else:
                        frames.append(_Frame(expression, index))
                case ")":
                    if frames[-1].kind is expression:
                        frames.pop()
                    else:
                        self.close(index)
                case ",":
                    if frames[-1].kind is not expression or frames[-1].declares:
                        self.comma(index)
                case "{":
                    self.open_brace(index)
                case "}":
                    self.close_brace(index)
                case ";":
                    self.semicolon(index)
                case _:
                    if frames[-1].kind is _Kind.BLOCK and not frames[-1].declares:
                        self.item(index + 1)
        return self.found

    # -------------------------------------------------------------------------------------- brackets

    def open(self, index: int) -> None:
        """Open a list that was announced, or the head of a loop or branch."""
        frame = self.lists.pop(index, None)
        if frame is None:
            frame = _Frame(_Kind.FOR if self.texts[index - 1] == "for" else _Kind.HEADER, index)
        self.frames.append(frame)
        if frame.kind in (_Kind.FOR, _Kind.PARAMETERS):
            self.item(index + 1)

    def close(self, index: int) -> None:
        frame = self.frames[-1]
        if frame.kind in _BRACES:
            return
        self.frames.pop()
        match frame.kind:
            case _Kind.FOR | _Kind.HEADER:
                self.item(index + 1)
            case _Kind.CALL:
                self.after_call(frame, index)
            case _Kind.PARAMETERS:
                self.after_parameters(index + 1)
            case _:
                pass

    def open_brace(self, index: int) -> None:
        kind = self.braces.get(index)
        if kind is None:
            before = self.texts[index - 1] if index else ""
            inside = self.frames[-1].kind
            if before == "(":  # `({ ... })`, a statement that has a value
                kind = _Kind.BLOCK
            elif inside is _Kind.INITIALIZER or before in ("=", ",", "return") or inside is _Kind.EXPRESSION:
                kind = _Kind.INITIALIZER
            elif before in _TAGS:
                kind = _Kind.ENUM if before == "enum" else _Kind.STRUCT
            else:
                kind = _Kind.BLOCK
        self.frames.append(_Frame(kind, index))
        if kind is _Kind.ENUM:
            self.declare(index + 1)
        elif kind is not _Kind.INITIALIZER:
            self.item(index + 1)

    def close_brace(self, index: int) -> None:
        at = len(self.frames) - 1
        while at > 0 and self.frames[at].kind not in _BRACES:
            at -= 1
        if at == 0:
            return
        kind = self.frames[at].kind
        del self.frames[at:]
        if kind is _Kind.BLOCK:
            self.item(index + 1)
        elif kind in (_Kind.STRUCT, _Kind.ENUM):
            self.declarator(index + 1)

    def semicolon(self, index: int) -> None:
        while self.frames[-1].kind in (_Kind.EXPRESSION, _Kind.CALL, _Kind.HEADER, _Kind.PARAMETERS):
            self.frames.pop()
        frame = self.frames[-1]
        frame.declares = False
        if frame.kind in _HOLDS_DECLARATIONS:
            self.item(index + 1)

    def comma(self, index: int) -> None:
        frame = self.frames[-1]
        if frame.kind is _Kind.PARAMETERS:
            self.item(index + 1)
        elif frame.kind is _Kind.ENUM:
            self.declare(index + 1)
        elif frame.declares:
            at = index + 1
            while self.texts[at] == "*" or self.texts[at] in QUALIFIERS:
                at += 1
            self.declare(at)

    def declare(self, at: int) -> None:
        if self.is_name(at):
            self.found.declared.add(self.texts[at])

    # ------------------------------------------------------------------------------- starts of items

    def item(self, at: int) -> None:
        """Look at the words with which a declaration or statement starts; macros may stand before it."""
        self.following = at
        while self.following is not None:
            at, self.following = self.following, None
            self.one_item(at)

    def one_item(self, at: int) -> None:
        checkpoint()
        texts = self.texts
        while texts[at] in ("else", "do") or texts[at].startswith(PRAGMA):
            at += 1
        if texts[at] == "typedef":
            self.tagged(at + 1)
            return
        if texts[at] in STATEMENT_KEYWORDS or texts[at] in ASSEMBLY_WORDS or not self.is_word(at):
            return
        specifiers = _Specifiers()
        end = self.words(at, specifiers)
        unknown = specifiers.unknown
        if self.frames[-1].kind is _Kind.BLOCK and any(
            texts[it] in KERNEL_WORDS for it in specifiers.qualifiers
        ):
            # Functions do not nest: while a body is being typed, what follows it must stay readable.
            self.found.unclosed.append(at)
            self.found.edits[at] = ["}"] * sum(it.kind in _BRACES[1:] for it in self.frames) + [None]
            del self.frames[1:]
        if texts[end] in STATEMENT_KEYWORDS:
            for index in unknown:
                self.drop(index, Role.STATEMENT)
        elif texts[end : end + 2] == ["(", "*"] and self.points_to_array(end):
            self.array_pointer(specifiers, end)
        elif specifiers.has_type:
            self.typed(specifiers, end)
        elif len(unknown) >= 2:
            self.untyped(specifiers, end)
        elif len(unknown) == 1:
            self.lone(specifiers, unknown[0], end)

    def words(self, at: int, specifiers: _Specifiers) -> int:
        """Collect the words from `at` on; return the index behind them."""
        texts = self.texts
        while self.is_word(at):
            word = texts[at]
            if word in STATEMENT_KEYWORDS:
                break
            if word in ATTRIBUTE_WORDS:
                at = self.closing(at + 1) + 1
                continue
            if word in _TAGS:
                at = self.tag(at)
                specifiers.has_type = True
                specifiers.type_at = at - 1
                continue
            if word in QUALIFIERS:
                specifiers.qualifiers.append(at)
            elif word in PRIMITIVE_TYPES or self.is_type(word):
                specifiers.has_type = True
                specifiers.type_at = at
            elif word[0] != REMOVED:
                specifiers.unknown.append(at)
            at += 1
        return at

    def tag(self, at: int) -> int:
        """Pass over `struct S`, and mark the brace that follows as a struct's; return the index behind."""
        kind = _Kind.ENUM if self.texts[at] == "enum" else _Kind.STRUCT
        at += 1
        while self.texts[at] in ATTRIBUTE_WORDS:
            at = self.closing(at + 1) + 1
        while self.is_name(at):
            at += 1
            if not self.is_name(at) or self.texts[at + 1] != "{":
                break
        if self.texts[at] == "{":
            self.braces[at] = kind
        return at

    def tagged(self, at: int) -> None:
        """Mark the brace of `typedef Q enum tag {`."""
        while self.texts[at] in QUALIFIERS or self.texts[at] in ATTRIBUTE_WORDS:
            at = self.closing(at + 1) + 1 if self.texts[at] in ATTRIBUTE_WORDS else at + 1
        if self.texts[at] in _TAGS:
            self.tag(at)

    def typed(self, specifiers: _Specifiers, end: int) -> None:
        """`Q float x`, `float Q x`, `Q float *x`: the type is known."""
        unknown = specifiers.unknown
        if unknown and unknown[-1] > specifiers.type_at:
            name = self.choose([it for it in unknown if it > specifiers.type_at])
            others = [it for it in unknown if it != name]
            self.declared(name, end, specifiers)
        else:
            others = unknown
            self.declarator(end, specifiers)
        for index in others:
            self.qualifier(index, specifiers, end)

    def untyped(self, specifiers: _Specifiers, end: int) -> None:
        """`T x`, `Q T x`, `Q T *x` with nothing known."""
        unknown = list(specifiers.unknown)
        texts = self.texts
        frame = self.frames[-1]
        if frame.kind is _Kind.BLOCK and texts[end] not in _AFTER_A_NAME and texts[end] != "*":
            # `MACRO x += 1;` or `MACRO MACRO }`: statements without their semicolons.
            self.statements(unknown, end)
            return
        if frame.kind is _Kind.BLOCK and self.starts_a_line(unknown[-1]) and texts[end] in ("(", "="):
            self.statements(unknown, end)
            return
        if texts[end] == "*":
            type_at, others = unknown[-1], unknown[:-1]
            self.declarator(end, specifiers)
        else:
            name = self.choose(unknown[1:])
            others = [it for it in unknown if it != name]
            type_at = others.pop()
            if texts[end] == "(" and self.is_header_macro(type_at):
                self.replace(type_at, Role.QUALIFIER, "__kernel void", ["__kernel", "void"])
                specifiers.is_kernel = True
            else:
                self.role(type_at, Role.TYPE)
            self.declared(name, end, specifiers)
            type_at = -1
        if type_at >= 0:
            self.role(type_at, Role.TYPE)
        specifiers.has_type = True
        for index in others:
            self.qualifier(index, specifiers, end)

    def points_to_array(self, at: int) -> bool:
        """Tell whether `(*` at `at` starts a declarator as in `T (*name)[64]`."""
        close = self.closing(at)
        return self.texts[min(close + 1, self.count)] in ("[", "(") and self.is_name(close - 1)

    def array_pointer(self, specifiers: _Specifiers, end: int) -> None:
        unknown = list(specifiers.unknown)
        if not specifiers.has_type and unknown:
            self.role(unknown.pop(), Role.TYPE)
        elif not specifiers.has_type:
            return
        self.declare(self.closing(end) - 1)
        self.frames[-1].declares = self.frames[-1].kind is not _Kind.PARAMETERS
        for index in unknown:
            self.drop(index, Role.QUALIFIER)

    def statements(self, unknown: list[int], end: int) -> None:
        """Undefined names on lines of their own inside a block are statements without a semicolon."""
        for index in unknown[:-1]:
            self.drop(index, Role.STATEMENT)
        self.lone(_Specifiers(), unknown[-1], end)

    def lone(self, specifiers: _Specifiers, index: int, end: int) -> None:
        """One unknown word, with or without qualifiers."""
        texts, frame, follows = self.texts, self.frames[-1], self.texts[end]
        kind = frame.kind
        if end != index + 1 and follows not in ("*",):
            # `T const * x` is usual, `T const` in a prototype is not worth a guess.
            return
        if follows == "*":
            after = end
            while texts[after] == "*" or texts[after] in QUALIFIERS:
                after += 1
            starts = self.is_name(after) and texts[after + 1] in _AFTER_A_NAME
            if (starts or specifiers.qualifiers or kind is _Kind.PARAMETERS) and (
                kind is not _Kind.BLOCK or texts[index] not in self.found.declared
            ):
                self.role(index, Role.TYPE)
                self.declarator(end, specifiers)
        elif follows == "(":
            self.call(specifiers, index, end)
        elif kind is _Kind.PARAMETERS and follows in (",", ")"):
            self.lone_parameter(specifiers, index, end)
        elif kind is _Kind.BLOCK and follows == "}" and not specifiers.qualifiers:
            self.replace(index, Role.STATEMENT, "", [None, ";"])
        elif kind is _Kind.BLOCK and (follows == "{" or follows.startswith(PRAGMA)):
            self.drop(index, Role.STATEMENT)
        elif specifiers.qualifiers and kind in _HOLDS_DECLARATIONS and follows in ("=", "[", ";"):
            # `const n = 3;`: C89's implicit int.
            self.found.edits[index] = ["int", None]
            self.declared(index, end, specifiers)
        elif kind is _Kind.TOP and not follows:
            self.drop(index, Role.STATEMENT)

    def call(self, specifiers: _Specifiers, index: int, end: int) -> None:
        """`NAME(...)` at the start of an item."""
        close = self.closing(end)
        after = self.texts[close + 1] if close < self.count else ""
        frame = self.frames[-1]
        if self.texts[index] == "_Pragma":
            self.following = close + 1
        elif frame.kind is _Kind.BLOCK:
            if not specifiers.qualifiers:
                self.lists[end] = _Frame(_Kind.CALL, end, name=index)
        elif frame.kind in (_Kind.TOP, _Kind.STRUCT):
            if after == "{":
                self.header(specifiers, index, end, close)
            elif after and (after.isidentifier() or after.startswith(PRAGMA)):
                for at in range(index, close + 1):
                    self.found.edits[at] = []
                self.replace(index, Role.ATTRIBUTE, "", [])
                self.following = close + 1
        elif frame.kind is _Kind.PARAMETERS:
            if after in (",", ")"):
                self.drop_parameter(index, close)
            elif after.isidentifier():
                self.drop_range(index, close, Role.PARAMETERS)
                self.following = close + 1

    def header(self, specifiers: _Specifiers, index: int, end: int, close: int) -> None:
        """`NAME(...) {` outside functions: a macro that makes a function's header, or a missing type."""
        is_kernel = any(self.texts[it] in KERNEL_WORDS for it in specifiers.qualifiers)
        inside = self.texts[end + 1 : close]
        has_types = any(it in PRIMITIVE_TYPES or self.is_type(it) or it in QUALIFIERS for it in inside)
        if has_types or not inside:
            self.found.edits[index] = ["void", None]
            self.found.declared.add(self.texts[index])
            self.lists[end] = _Frame(_Kind.PARAMETERS, end, name=index, is_kernel=is_kernel)
            return
        looks_like_kernel = not is_kernel and "kernel" in self.texts[index].lower()
        start = ["__kernel", "void"] if looks_like_kernel else ["void"]
        # The first argument of such a macro names the function, nearly always.
        if len(inside) >= 1 and inside[0].isidentifier():
            self.found.declared.add(inside[0])
            for at in range(index, close):
                self.found.edits[at] = []
            self.role(index, Role.PARAMETERS)
            self.found.edits[end + 1] = [*start, None, "("]
        else:
            self.found.edits[index] = [*start, None]
            self.found.declared.add(self.texts[index])

    def lone_parameter(self, specifiers: _Specifiers, index: int, end: int) -> None:
        frame = self.frames[-1]
        close = self.closing(frame.opened)
        if specifiers.qualifiers or self.texts[close + 1] in (";", ","):
            self.role(index, Role.TYPE)
        else:
            self.drop_parameter(index, end - 1)

    def drop_parameter(self, first: int, last: int) -> None:
        """Drop a macro that stands for whole parameters, with one of the commas around it."""
        self.drop_range(first, last, Role.PARAMETERS)
        if self.texts[last + 1] == ",":
            self.found.edits[last + 1] = []
        elif self.texts[first - 1] == ",":
            self.found.edits[first - 1] = []

    def drop_range(self, first: int, last: int, role: Role) -> None:
        for at in range(first, last + 1):
            self.found.edits[at] = []
        self.role(first, role)

    # ----------------------------------------------------------------------------------- declarators

    def declarator(self, at: int, specifiers: _Specifiers | None = None) -> None:
        """Read `* Q name` and what follows it."""
        specifiers = specifiers or _Specifiers(has_type=True)
        names: list[int] = []
        while True:
            text = self.texts[at]
            if text == "*":
                specifiers.is_pointer = True
            elif text in ATTRIBUTE_WORDS:
                at = self.closing(at + 1)
            elif self.is_name(at) and text not in STATEMENT_KEYWORDS:
                names.append(at)
            elif text not in QUALIFIERS or not text:
                break
            at += 1
        if not names:
            return
        name = self.choose(names)
        self.declared(name, at, specifiers)
        for index in names:
            if index != name:
                self.drop(index, Role.QUALIFIER)

    def declared(self, name: int, end: int, specifiers: _Specifiers) -> None:
        """Record a declared name; `end` is the index behind the words of its declarator."""
        follows = self.texts[end]
        frame = self.frames[-1]
        if follows not in _AFTER_A_NAME:
            if frame.kind in _HOLDS_DECLARATIONS and follows != "":
                return
            if frame.kind is _Kind.PARAMETERS and self.is_word(end) is False and follows not in ("", "..."):
                return
        self.found.declared.add(self.texts[name])
        if follows == "(" and frame.kind in _HOLDS_DECLARATIONS:
            is_kernel = specifiers.is_kernel or any(
                self.texts[it] in KERNEL_WORDS for it in specifiers.qualifiers
            )
            self.lists[end] = _Frame(_Kind.PARAMETERS, end, name=name, is_kernel=is_kernel)
            specifiers.is_function = True
        elif frame.kind is not _Kind.PARAMETERS:
            frame.declares = True

    def qualifier(self, index: int, specifiers: _Specifiers, end: int) -> None:
        """Drop an unknown word of a declaration, and say what it most likely stands for."""
        frame = self.frames[-1]
        spaces = any(self.texts[it] in ADDRESS_SPACES for it in specifiers.qualifiers)
        is_kernel = any(self.texts[it] in KERNEL_WORDS for it in specifiers.qualifiers)
        if frame.kind is _Kind.PARAMETERS:
            points = specifiers.is_pointer or self.texts[end] == "*"
            if frame.is_kernel and points and not spaces:
                self.replace(index, Role.QUALIFIER, "__global", ["__global"])
                specifiers.qualifiers.append(index)
            elif self.texts[index - 1] in ("(", ","):
                self.drop(index, Role.PARAMETERS)
            else:
                self.drop(index, Role.QUALIFIER)
        elif (
            frame.kind is _Kind.TOP
            and not is_kernel
            and specifiers.is_function
            and self.is_header_macro(index)
        ):
            self.replace(index, Role.QUALIFIER, "__kernel", ["__kernel"])
            specifiers.qualifiers.append(index)
            for opened in self.lists.values():
                opened.is_kernel = True
        else:
            self.drop(index, Role.QUALIFIER)

    def after_parameters(self, at: int) -> None:
        """`void f(...) MACRO {`: unknown words after a parameter list are attributes."""
        while self.is_word(at) and self.texts[at] not in STATEMENT_KEYWORDS:
            if self.texts[at] in ATTRIBUTE_WORDS:
                at = self.closing(at + 1)
            elif self.is_name(at) and self.frames[-1].kind is _Kind.TOP:
                if self.texts[at + 1] == "(":
                    close = self.closing(at + 1)
                    self.drop_range(at, close, Role.ATTRIBUTE)
                    at = close
                elif self.texts[at + 1] in ("{", ";") or self.is_name(at + 1):
                    self.drop(at, Role.ATTRIBUTE)
            at += 1

    def after_call(self, frame: _Frame, index: int) -> None:
        """`MACRO(...)` at the start of a statement, without a semicolon, or before a block."""
        follows = self.texts[index + 1]
        if follows in _GOES_ON or not follows or follows[0] in "\"'":
            return
        name = self.texts[frame.name]
        if name in NAMED_TYPES or name in PRIMITIVE_TYPES:
            return
        if follows == "{":
            self.role(frame.name, Role.STATEMENT)
            inside = self.texts[frame.opened + 1 : index]
            if inside[1:2] == [","]:
                # `FOR_EACH(i, n) {`: the macro declares its first argument, most likely.
                self.declare(frame.opened + 1)
            self.found.edits[frame.name] = ["while", "(", None]
            self.found.edits[index] = [None, ")"]
            if any(it in PRIMITIVE_TYPES or self.is_type(it) for it in inside):
                self.drop_range(frame.opened + 1, index - 1, Role.STATEMENT)
                self.found.roles.pop(self.texts[frame.opened + 1], None)
            return
        self.role(frame.name, Role.STATEMENT)
        self.found.edits[index] = [None, ";"]
        self.item(index + 1)

    # ------------------------------------------------------------------------------------- small ones

    def role(self, index: int, role: Role, value: str = "") -> None:
        self.found.roles.setdefault(self.texts[index], (role, index, value))

    def drop(self, index: int, role: Role) -> None:
        self.role(index, role)
        # Braces that were put in before the word stay.
        self.found.edits[index] = [it for it in self.found.edits.get(index, ()) if it == "}"]

    def replace(self, index: int, role: Role, value: str, texts: list[str | None]) -> None:
        self.role(index, role, value)
        self.found.edits[index] = texts

    def choose(self, candidates: list[int]) -> int:
        """Return the one that is the declared name: the last that is not written in capitals, or the last."""
        small = [it for it in candidates if not self.texts[it].isupper()]
        return (small or candidates)[-1]

    def is_header_macro(self, index: int) -> bool:
        return "kernel" in self.texts[index].lower()

    def is_word(self, at: int) -> bool:
        return at < self.count and (self.texts[at].isidentifier() or self.texts[at][0] == REMOVED)

    def is_name(self, at: int) -> bool:
        """Tell whether the token is an identifier that is neither keyword, type nor qualifier."""
        if at >= self.count:
            return False
        text = self.texts[at]
        return (
            text.isidentifier()
            and text not in QUALIFIERS
            and text not in STATEMENT_KEYWORDS
            and text not in PRIMITIVE_TYPES
            and text not in NAMED_TYPES
            and text not in _TAGS
            and text not in ATTRIBUTE_WORDS
        )

    def is_type(self, word: str) -> bool:
        return word in NAMED_TYPES or word in self.types

    def starts_a_line(self, at: int) -> bool:
        return self.tokens[at].gap == NEW_LINE

    def closing(self, at: int) -> int:
        """Return the index of the `)` for the `(` at `at`; the last index where there is none."""
        depth = 0
        for index in range(at, self.count):
            text = self.texts[index]
            if text == "(":
                depth += 1
            elif text == ")":
                depth -= 1
                if depth == 0:
                    return index
            elif depth == 0 and index > at:
                break
        return max(self.count - 1, 0)


@dataclass(slots=True)
class _Specifiers:
    """The words before a declarator, by index."""

    unknown: list[int] = field(default_factory=list)
    qualifiers: list[int] = field(default_factory=list)
    has_type: bool = False
    type_at: int = -1
    is_pointer: bool = False
    is_kernel: bool = False
    is_function: bool = False
