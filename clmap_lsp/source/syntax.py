"""The hand-over from preprocessing to lowering: one tree-sitter-c tree over *normalised* text.

tree-sitter-c knows no OpenCL C. The normaliser therefore prints the preprocessed tokens as plain ASCII C that
the grammar takes, and keeps what it took out in tables keyed by offset:

* Qualifiers (`kernel`, address spaces, access qualifiers, `const`, `volatile`, `restrict`, `inline`,
  `static`, `extern`, unknown qualifier macros) are removed. `qualifiers` lists `(offset, word)`, where
  `offset` is that of the next token that was kept, and `word` has its leading underscores stripped
  (`__global` and `global` both give `global`; `__read_only` gives `read_only`).
* `__attribute__((...))` is removed; `attributes` lists `(offset, name, arguments)` likewise, one entry an
  attribute, with the name's underscores stripped and the arguments as source text.
* A parenthesised type name, `(T)`, in a cast or vector literal becomes `(struct T)`, because the grammar
  takes `(T)*p` for a product and `(T)(a, b)` for a call unless T is one of its primitive types. The offset of
  each `struct` that was put in is in `elaborated`. So `(float4)(a, b, c, d)` is a cast_expression whose
  value is a parenthesised comma_expression.
* Literals that the grammar does not take (`1.0h`) are printed in a form that it does; `spellings` maps the
  offset to the text as typed.
* `#pragma unroll` stands in `pragmas` as `(offset of the next token, text)`.

`tree` may hold ERROR and MISSING nodes; lowering skips those and reports them once each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from clmap_lsp.source.ir import Guess, Problem
    from clmap_lsp.source.span import SourceFile


@dataclass(frozen=True, slots=True)
class Removed:
    """A word that was taken out before the token at `offset`."""

    offset: int
    word: str
    arguments: tuple[str, ...] = ()


class TokenPlaces(Protocol):
    """The places of tokens as typed, by the token's number."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Span: ...

    def between(self, start: int, end: int) -> Span:
        """Return the smallest span of the tokens in the normalised text `[start, end)`."""
        ...

    def uses_within(self, start: int, end: int, place: Span) -> bool:
        """Tell whether every macro use that made tokens of `[start, end)` is typed inside of `place`."""
        ...


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """A parsed translation unit.

    Invariant: `text` is ASCII, so that byte offsets of the tree are indices into it.
    """

    path: str
    text: str
    tree: Tree
    token_starts: Sequence[int] = field(repr=False)
    """Offsets of the tokens of `text`, rising."""
    token_spans: TokenPlaces = field(repr=False)
    """For each token its place as typed."""
    qualifiers: Sequence[Removed] = field(default=(), repr=False)
    attributes: Sequence[Removed] = field(default=(), repr=False)
    pragmas: Sequence[Removed] = field(default=(), repr=False)
    elaborated: frozenset[int] = frozenset()
    spellings: Mapping[int, str] = field(default_factory=dict)
    files: Mapping[str, SourceFile] = field(default_factory=dict, repr=False)
    problems: tuple[Problem, ...] = ()
    guesses: tuple[Guess, ...] = ()
    inactive: tuple[Span, ...] = ()
    """Text of the file that conditional compilation leaves out."""
    n_programs: int = 0
    """How many strings of a host file it was read from, which may be programs each; 0 for a kernel file."""

    def span(self, start: int, end: int) -> Span:
        """Return the place as typed of the normalised text `[start, end)`."""
        return self.token_spans.between(start, end) if self.token_starts else Span(self.path, 0, 0)

    def span_of(self, node: Node) -> Span:
        """Return the place as typed of a node."""
        return self.span(node.start_byte, node.end_byte)

    def qualifiers_in(self, start: int, end: int) -> Sequence[Removed]:
        """Return the qualifiers that stood before a token in `[start, end)`."""
        return _between(self.qualifiers, start, end)

    def attributes_in(self, start: int, end: int) -> Sequence[Removed]:
        """Return the attributes that stood before a token in `[start, end)`."""
        return _between(self.attributes, start, end)


def _between(items: Sequence[Removed], start: int, end: int) -> Sequence[Removed]:
    low = bisect_left(items, start, key=lambda it: it.offset)
    high = bisect_left(items, end, key=lambda it: it.offset)
    return items[low:high]
