"""What an edited file becomes by what is kept of its last version is what it becomes by itself."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sweeps import drawn

from clmap_lsp.source import expansions
from clmap_lsp.source.macros import Expander
from clmap_lsp.source.made import NOT_YET
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.pieces import forget
from clmap_lsp.source.preprocess import MacroLog, preprocess

PATH = "kept.cl"
BODY = " ".join(f"x{it} = F(W, {it}) + R_##W##_{it} + ROW(W);" for it in range(expansions.LARGE // 16))
SOURCE = f"""\
#define ROW(w) (w * \\
    R_8_1)
#define R_8_1 3
#define F(a, b) G(b, a)
// a comment \\
   goes on
#define G(a, b) (a - b)
#define DEFINE(W, T) \\
    T f_##W(T y) {{ \\
        {BODY} \\
        return y; }}
#define LATER f
DEFINE(8, float)
#define R_16_2 LATER
DEFINE(16, int) int z = R_8_1;
__kernel void k(__global int *a) {{ a[0] = ROW(2) + __LINE__; }}
DEFINE( 8 ,
  G(1, float))
#undef G
DEFINE(8, float)
LATER(DEFINE(8, float))
"""
LONG = "".join(
    f"    if (n > {it}) {{ y += F(W, {it}); y ^= ROW(R_##W##_{it}) + T##_{it}; }} \\\n"
    for it in range(expansions.LARGE // 8)
)
IN_LINES = f"""\
#define OPEN F(
#define NAMED LONG
#define ROW(w) (w * R_8_1)
#define F(a, b) G(b, a)
#define G(a, b) (a - b)
#define LONG(W, T) \\
T f_##W(T y, int n) {{ \\
{LONG}    return y; }}
#define ALONE \\
{LONG}    return ROW
LONG(8, float)
#define R_8_1 3
LONG(ROW(16), int)
float h() {{ ALONE; }}
NAMED(1, F(2, 3))
float g() {{ ALONE(2); }}
"""
USED = "".join(
    f"    a[{it}] = F(a[{it}], {it}) + at({it}, n) * WIDTH; if (n > {it}) {{ STEP; }}\n" for it in range(24)
)
BETWEEN = f"""\
#define WIDTH 3
#define F(a, b) G(b, a)
#define G(a, b) (a - b)
#define OPEN F(
#define NAMED at
#define at(i, j) rows[(i) * WIDTH + (j)]
#define STEP n += WIDTH
void f(int *a, int n) {{
{USED}#define STEP n -= G(n, 1)
{USED}    a[__LINE__] = __COUNTER__; NAMED(1, 2); OPEN n, 3);
#undef G
{USED}#ifdef G
{USED}#endif
}}
#define LAST F
int last = LAST
#define NOTHING
(1, 2);
"""
INSERTED = (
    "\n",
    " ",
    "\\\n",
    "x",
    "(",
    ")",
    ",",
    "#define y 4\n",
    "#undef F\n",
    "\n#define R_8_2 w\n",
    "/*",
    "*/",
    ";",
    '"',
    "'",
    "##",
    " #T ",
    " OPEN ",
    " LONG(3, x) ",
    "ROW",
)


def _plain(token):
    use = token.use and (token.use.path, token.use.start, token.use.end)
    return *token[:5], use, token.painted


def _read(text):
    log = MacroLog()
    found = preprocess(text, PATH, BuildOptions(), None, log)
    files = {it.path: it for it in found.files.values()}

    return (
        [_plain(it) for it in found.tokens],
        # Each use once: one in an argument is expanded for each segment, and these are not divided alike.
        {_plain(it): (macro.name, [_plain(of) for of in macro.body]) for it, macro in log.uses},
        [(macro.name, _plain(name), span) for macro, name, span in log.definitions],
        [str(it) for it in found.problems],
        sorted(files),
    )


@settings(max_examples=drawn(20, 300))
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.sampled_from(INSERTED)), min_size=1, max_size=6
    ),
    st.sampled_from((SOURCE, IN_LINES, BETWEEN)),
)
@example([(0.0, 0, "\n"), (0.5, 0, " "), (0.9, 0, "x"), (0.9, 1, "x")], SOURCE)
@example([(0.0, 0, "#define y 4\n"), (0.0, 0, "x"), (0.99, 1, " "), (0.0, 0, "#undef F\n")], SOURCE)
@example([(0.5, 0, "x"), (0.5, 0, " OPEN "), (0.5, 6, "x")], IN_LINES)
@example([(0.5, 0, " OPEN "), (0.0, 1, "\n")], IN_LINES)
@example([(0.2, 0, "x"), (0.3, 0, " OPEN "), (0.3, 6, "x")], BETWEEN)
@example([(0.3, 0, "x"), (0.3, 0, "("), (0.1, 0, "\n"), (0.3, 1, "")], BETWEEN)
@example([(0.5, 0, "x"), (0.5, 0, "__COUNTER__ OPEN ROW"), (0.02, 0, "\n")], BETWEEN)
def test_an_edited_file_becomes_what_it_is_by_itself(edits, source):
    versions = [source, source]
    for share, n_deleted, inserted in edits:
        text = versions[-1]
        at = int(share * len(text))
        versions.append(text[:at] + inserted + text[at + n_deleted :])
    forget(PATH)
    edited = [_read(it) for it in versions]
    for text, found in zip(versions, edited, strict=True):
        forget(PATH)
        assert found == _read(text)


@settings(max_examples=drawn(20, 300))
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.sampled_from(INSERTED)), min_size=1, max_size=8
    ),
    st.sampled_from((SOURCE, IN_LINES, BETWEEN)),
    st.lists(st.floats(0, 1), min_size=2, max_size=12),
)
@example([(0.0, 0, "\n"), (0.02, 0, "  "), (0.0, 1, ""), (0.9, 0, "x")], SOURCE, [0.4, 0.9])
@example([(0.5, 0, "x"), (0.5, 0, "x"), (0.0, 0, "\n"), (0.2, 0, " ")], IN_LINES, [0.7, 0.8, 1.0])
def test_tokens_are_the_same_whatever_is_asked_of_them_first(edits, source, places):
    """Versions that nobody looks at are not put together; a part of the last one is, then all of it."""
    text = source
    forget(PATH)
    found = preprocess(text, PATH, BuildOptions())
    for share, n_deleted, inserted in edits:
        at = int(share * len(text))
        text = text[:at] + inserted + text[at + n_deleted :]
        found = preprocess(text, PATH, BuildOptions())
    chosen = [int(share * (len(found.tokens) - 1)) for share in places]
    ones = [(at, _plain(found.tokens[at])) for at in chosen if found.tokens]
    gaps = [(at, found.tokens.gaps()[at]) for at in chosen if found.tokens]
    first, last = min(chosen), max(chosen)
    part = list(map(_plain, found.tokens[first:last]))
    texts = list(found.texts)
    forget(PATH)
    expected = list(map(_plain, preprocess(text, PATH, BuildOptions()).tokens))
    assert ones == [(at, expected[at]) for at, _ in ones]
    assert gaps == [(at, expected[at][3]) for at, _ in gaps]
    assert part == expected[first:last]
    assert texts == [it[0] for it in expected]
    assert list(map(_plain, found.tokens)) == expected


def test_what_is_kept_is_charged_as_if_it_were_made():
    text = SOURCE + "DEFINE(8, float)\n" * 1_500
    forget(PATH)
    first = _read(text)
    assert any("too-many-tokens" in it for it in first[3])
    assert _read(text + " ") == first


def test_of_an_edited_macro_the_segments_are_made_again_that_were_edited():
    forget(PATH)
    preprocess(IN_LINES, PATH, BuildOptions())
    before = preprocess(IN_LINES + " ", PATH, BuildOptions())
    at = IN_LINES.index("    return y; }")
    after = preprocess(IN_LINES[:at] + "y++;" + IN_LINES[at:] + " ", PATH, BuildOptions())
    edited = preprocess(IN_LINES[:at] + "y--;" + IN_LINES[at:] + " ", PATH, BuildOptions())
    assert len(after.tokens) > len(before.tokens)
    first, second = ([it for it in one.tokens if it.start < at] for one in (after, edited))
    same = [one is other for one, other in zip(first, second, strict=True)]
    assert sum(same) > 0.4 * len(same)


def test_a_bracket_that_is_not_closed_yet_leaves_the_segments_behind_it():
    forget(PATH)
    preprocess(IN_LINES, PATH, BuildOptions())
    before = preprocess(IN_LINES + " ", PATH, BuildOptions())
    opened = (IN_LINES + " ").replace("if (n > 9)", "if (n >(9)", 1)
    after = preprocess(opened, PATH, BuildOptions())
    first, second = (
        [it for it in one.tokens if it.start < opened.index("#define ALONE")] for one in (before, after)
    )
    assert len(second) == len(first) + 3  # One in each use.
    kept = {id(it) for it in first}
    assert sum(id(it) in kept for it in second) > 0.4 * len(second)


def test_between_directives_the_stretches_are_made_again_that_were_edited(monkeypatch):
    n_used = 0
    expand_use = Expander.expand_use

    def counted(*arguments):
        nonlocal n_used
        n_used += 1
        return expand_use(*arguments)

    monkeypatch.setattr(Expander, "expand_use", counted)
    forget(PATH)
    preprocess(BETWEEN, PATH, BuildOptions())
    n_first, text = n_used, BETWEEN
    place = BETWEEN.index("\n", BETWEEN.index("a[12] ="))
    for number, key in enumerate(" n += 1;"):
        n_used = 0
        at = place + number
        text = text[:at] + key + text[at:]
        preprocess(text, PATH, BuildOptions())
        # The first reading of an edited file keeps its stretches; one with `__LINE__` is always made again.
        assert number == 0 or n_used < n_first / 4


def test_what_stands_between_directives_is_not_put_together_for_places():
    forget(PATH)
    preprocess(BETWEEN, PATH, BuildOptions())
    preprocess(BETWEEN + " ", PATH, BuildOptions())
    moved = preprocess("\n" + BETWEEN + " ", PATH, BuildOptions())
    places = moved.tokens.places()
    assert sum(it is NOT_YET for it in moved.made) > 0.6 * len(moved.made)
    assert list(places.starts) == [it.start for it in moved.tokens]


def test_a_large_expansion_is_made_once():
    forget(PATH)
    preprocess(SOURCE, PATH, BuildOptions())
    before = preprocess(SOURCE + " ", PATH, BuildOptions())
    again = preprocess(SOURCE + "  ", PATH, BuildOptions())
    moved = preprocess("\n" + SOURCE, PATH, BuildOptions())
    same = [one is other for one, other in zip(before.tokens, again.tokens, strict=True)]
    assert sum(same) > 0.5 * len(same)
    assert [it.start + 1 for it in before.tokens] == [it.start for it in moved.tokens]
