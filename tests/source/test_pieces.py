"""Directives and the text between them, cut when they are asked for."""

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clmap_lsp.source.lexer import NEW_LINE
from clmap_lsp.source.outline import State, outline
from clmap_lsp.source.pieces import Chunk, Directive, lex, lex_fragment


def test_directives_start_lines_and_end_with_them():
    items = lex("k.cl", "a # b\n  # define X \\\n 1 // c\nb\n#\n#include <x.h>").items
    kinds = [it.name if isinstance(it, Directive) else [*it.texts] for it in items]
    assert kinds == [["a", "#", "b"], "define", ["b"], "", "include"]
    define = items[1]
    assert isinstance(define, Directive)
    assert [it.text for it in define.tokens] == ["define", "X", "1"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("#define X", "define"),
        (" /* c */ # /* d */ if 1", "if"),
        ("a // b\n#endif// c", "endif"),
        ("#// c", ""),
        ('# "x"', '"x"'),
        ("# 1", "1"),
        ("#\\\n else", "else"),
    ],
)
def test_a_directive_has_a_name(text, name):
    assert lex("k.cl", text).items[-1].name == name


@pytest.mark.parametrize(
    "text", ["/* \n#if 1 */", "a \\\n#b", '"a\\\n#b"', "##", "a\n ## b", "// a \\\n#b", "a # b", "/*\n#b"]
)
def test_not_every_mark_starts_a_directive(text):
    assert not any(isinstance(it, Directive) for it in lex("k.cl", text).items)


def test_chunks_know_the_texts_of_their_tokens():
    (chunk,) = lex("k.cl", "int a;\nint b;").items
    assert isinstance(chunk, Chunk)
    assert chunk.texts == [it.text for it in chunk.tokens]


_PIECES = [
    *(
        "/*",
        "*/",
        "//",
        '"',
        "'",
        "\\\n",
        "\\ \n",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\\",
        "a",
        "1.",
        "+",
        "<",
        "@b",
        "\0",
    ),
    *("#", "##", "\n#", "\n # if", "(", ")", "{", "}", ";"),
]
_texts = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)
_numbers = itertools.count()


def places(token):
    return token.text, token.start, token.end, token.gap


def cut_whole(text):
    """Return chunks as lists of tokens, directives as tuples of their start, end and tokens."""
    tokens = [places(it) for it in lex_fragment("k.cl", text)]
    found = []
    at = 0
    while at < len(tokens):
        starts_line = next((i for i in range(at + 1, len(tokens)) if tokens[i][3] == NEW_LINE), len(tokens))
        line = tokens[at:starts_line]
        if line[0][0] == "#":
            found.append((line[0][1], line[-1][2], line[1:]))
        elif found and isinstance(found[-1], list):
            found[-1] += line
        else:
            found.append(line)
        at = starts_line
    return found


def cut_lazily(path, text):
    found = []
    for item in lex(path, text).items:
        tokens = [places(it) for it in item.tokens]
        assert item.texts == [it[0] for it in tokens]
        if isinstance(item, Directive):
            assert item.name == (tokens[0][0] if tokens else "")
            found.append((item.start, item.end, tokens))
        else:
            assert item.start == tokens[0][1]
            found.append(tokens)
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(_texts, max_size=3).map("".join))
@example("#// a\n#/**/b")
@example("a\\\nb @\\\\\n\n#c")
def test_a_text_cut_piece_by_piece_has_the_tokens_of_all_of_it(text):
    assert cut_lazily(f"new{next(_numbers)}.cl", text) == cut_whole(text)


@settings(max_examples=300, deadline=None)
@given(before=_texts, behind=_texts, versions=st.lists(st.tuples(_texts, st.booleans()), max_size=4))
def test_an_edited_text_has_the_tokens_that_it_has_by_itself(before, behind, versions):
    """Only what an edit changed is cut anew, whether the tokens of the last version were asked for or not."""
    path = f"edited{next(_numbers)}.cl"
    for middle, is_asked_for in versions:
        text = f"float value; // a line\n{before}{middle}{behind}\nint a;\n#endif\nint b;"
        if is_asked_for:
            assert cut_lazily(path, text) == cut_whole(text)
        else:
            lex(path, text)


def test_an_edit_leaves_the_pieces_before_it_as_they_are():
    old = lex("edit.cl", "int a;\n#if 1\nint b;\n#endif\nint c;\n").items
    new = lex("edit.cl", "int a;\n#if 1\nint bb;\n#endif\nint c;\n").items
    assert [it is other for it, other in zip(old, new, strict=True)] == [True, True, False, False, False]


def test_files_are_forgotten():
    first = lex("first.cl", "int a;")
    assert lex("first.cl", "int a;") is first
    for number in range(100):
        lex(f"{number}.cl", "int b;")
    assert lex("first.cl", "int a;") is not first


@settings(max_examples=200, deadline=None)
@given(_texts, st.sampled_from([State(), State(1, True), State(0, True)]))
@example("int f(int x) { return x; } int g(int); struct { int a; } s; __constant int t[] = { 1 };", State())
def test_the_items_of_an_outline_are_the_chunk(text, state):
    for chunk in lex(f"new{next(_numbers)}.cl", text).items:
        if isinstance(chunk, Chunk):
            items, _ = outline(chunk, state)
            assert [token for item in items for token in item.piece.tokens] == chunk.tokens
            assert all(item.words == frozenset(item.piece.texts) for item in items)
