"""Preprocessing tokens and their places."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.source.lexer import NEW_LINE, NO_GAP, SPACE, Chunk, Directive, is_one_token, lex, lex_fragment


def texts(text):
    return [token.text for token in lex_fragment("k.cl", text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a+++b", ["a", "++", "+", "b"]),
        ("x<<=1>>2", ["x", "<<=", "1", ">>", "2"]),
        ("p->f ... a##b", ["p", "->", "f", "...", "a", "##", "b"]),
        ("1.5e+3f .5h 0x1p-2 1.0.x 08", ["1.5e+3f", ".5h", "0x1p-2", "1.0.x", "08"]),
        ("1+1e 1e+", ["1", "+", "1e", "1e+"]),
        (r""" "a\"b" '\'' 'ab' """, [r'"a\"b"', r"'\''", "'ab'"]),
        ('"open', ['"', "open"]),
        ("don't", ["don", "'", "t"]),
        ("a/**/b//c\nd", ["a", "b", "d"]),
        ("a /* * / */ b", ["a", "b"]),
        ("@name $x été", ["@name", "$", "x", "été"]),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert texts(text) == expected


def test_gaps_tell_glued_spaced_and_new_lines_apart():
    tokens = lex_fragment("k.cl", "a b(c\n d/* \n */e \\\n f")
    assert [it.gap for it in tokens] == [NEW_LINE, SPACE, NO_GAP, NO_GAP, NEW_LINE, SPACE, SPACE]


def test_directives_start_lines_and_end_with_them():
    items = lex("k.cl", "a # b\n  # define X \\\n 1 // c\nb\n#\n#include <x.h>").items
    kinds = [it.name if isinstance(it, Directive) else [*it.texts] for it in items]
    assert kinds == [["a", "#", "b"], "define", ["b"], "", "include"]
    define = items[1]
    assert isinstance(define, Directive)
    assert [it.text for it in define.tokens] == ["define", "X", "1"]


@pytest.mark.parametrize("text", ["ab", "12e+1", "->", "##", '"s"', "'c'", "x1"])
def test_one_token(text):
    assert is_one_token(text)


@pytest.mark.parametrize("text", ["a b", "->*", "", "1-", '"', "a+"])
def test_not_one_token(text):
    assert not is_one_token(text)


WORDS = [
    "int",
    "x",
    "1.0f",
    "+",
    "<<=",
    "(",
    '"s t"',
    "'c'",
    "#",
    "/* c */",
    "// d\n",
    "\n",
    " ",
    "\t",
    "\\\n",
    "\r\n",
]


@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_every_token_stands_where_it_says(parts):
    text = "".join(parts)
    end = 0
    for item in lex("k.cl", text).items:
        for token in item.tokens:
            assert end <= token.start < token.end <= len(text)
            assert text[token.start : token.end].replace("\\\n", "") == token.text
            end = token.end


@given(st.text(max_size=80))
def test_nothing_but_white_space_is_lost(text):
    kept = "".join(it.text for it in lex_fragment("k.cl", text))
    if not any(mark in text for mark in ("/", "\\")):
        assert kept == "".join(it for it in text if it not in " \t\f\v\0\r\n\ufeff")


def test_chunks_know_the_texts_of_their_tokens():
    (chunk,) = lex("k.cl", "int a;\nint b;").items
    assert isinstance(chunk, Chunk)
    assert chunk.texts == [it.text for it in chunk.tokens]


_PIECES = [
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
    "#",
    "@b",
]


_numbers = itertools.count()


def places(file):
    """Return the tokens of a file without its name, chunk by chunk."""
    return [(type(it), [(t.text, t.start, t.end, t.gap) for t in it.tokens]) for it in file.items]


@settings(max_examples=200, deadline=None)
@given(
    before=st.lists(st.sampled_from(_PIECES), max_size=12).map("".join),
    behind=st.lists(st.sampled_from(_PIECES), max_size=12).map("".join),
    old=st.lists(st.sampled_from(_PIECES), max_size=2).map("".join),
    new=st.lists(st.sampled_from(_PIECES), max_size=2).map("".join),
)
def test_an_edited_text_has_the_tokens_that_it_has_by_itself(before, behind, old, new):
    """Large files are cut anew only around an edit."""
    lines = "float value = 1.0f; // a line\n" * 150  # Files below 4096 characters are always cut whole.
    for frame in ((lines, ""), ("", lines)):
        path = "edited.cl"
        lex(path, f"{frame[0]}{before}{old}{behind}{frame[1]}")
        text = f"{frame[0]}{before}{new}{behind}{frame[1]}"
        assert places(lex(path, text)) == places(lex(f"new{next(_numbers)}.cl", text))
