"""Preprocessing tokens and their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.source.lexer import NEW_LINE, NO_GAP, SPACE, is_one_token, words, words_at
from clmap_lsp.source.pieces import lex, lex_fragment


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


@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join), st.integers(0, 3))
def test_words_are_the_texts_of_tokens(text, count):
    expected = [it.text for it in lex_fragment("k.cl", text.replace("\\\n", "\\\n "))]
    text = text.replace("\\\n", "\\\n ")  # so that no line is glued to the next one
    assert words(text) == expected
    assert words_at(text, 0, count) == expected[:count]
