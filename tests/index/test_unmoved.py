"""A name that is sure to mean what it meant before an edit elsewhere does so when all is read anew."""

from __future__ import annotations

import random

import pytest
from index_reading import index_of

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.unmoved import means_the_same
from clmap_lsp.source.difference import Difference, difference
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.span import Span

TANGLED = """\
#define DECLARE(T, name) T name##_v = 0
#define BEGIN int gx = get_global_id(0); int gy = get_global_id(1);
#define STEP (gx + 1)
typedef struct { float x; int n; } one_t;
typedef struct { float x; int n; } other_t;
float weigh(float x) { return x; }
float __attribute__((overloadable)) pick(float x) { return x; }
int __attribute__((overloadable)) pick(int x) { return x; }
__kernel void first(__global float *out, one_t value, int n)
{
    BEGIN
    DECLARE(int, q);
    int i = 3, total = 0;
    // int hidden = 1; int shown = 2;
    for (int i = 0; i < n; i++) { total += i; int gy = i; q_v += gy; }
    /* total = 4; */ out[gx] = value.x + total + i;
    { float total = 1.0f; out[gy] = total; }
#if 0
    int total = 7;
#endif
    out[STEP] = pick(i) + weigh(total) + q_v; char text[] = "int total; {";
}
__kernel void second(__global float *out, other_t value) { int total = value.n; out[total] = value.x; }
"""
SPREAD = TANGLED[: TANGLED.index("typedef")] + TANGLED[TANGLED.index("typedef") :].replace("; ", ";\n")
CONTINUED = (
    SPREAD.replace("#define BEGIN int gx", "#define BEGIN \\\n int gx")
    .replace(
        "(0); int gy = get_global_id(1);",
        "(0); \\\n int gy = get_global_id(1); \\\n int gz = gx + gy; \\\n gz++;",
    )
    .replace("T name##_v = 0\n", "\\\n T name##_v = 0, \\\n name = 1, \\\n plain = 2\n")
    .replace("total + i;", "total + i + q + plain + gz;")
)
PIECES = (
    *(
        "int ",
        "total",
        "float total;",
        " total",
        "i",
        "gx",
        ";",
        ",",
        "(",
        ")",
        "{",
        "}",
        "for (",
        "\n",
        "//",
    ),
    *("/*", "*/", '"', "'", "\\", "#", "#define total 3\n", "BEGIN", "DECLARE(int, total)", "one_t", "STEP"),
    *("=", "1.0f", " ", "a", "other_t value;", "return", "__kernel void k(", "get_global_id(0)", "pick", "é"),
)


def edited(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    gone = chance.choice((0, 0, 0, 1, 1, 3))
    return text[:at] + (chance.choice(PIECES) if gone == 0 else "") + text[at + gone :]


def definition(index: Index, found: Occurrence) -> Span | None:
    return index.name_span(index.definition(found.symbol))


def n_wrong(index: Index) -> int:
    return sum(it.issue.severity is not Severity.HINT for it in index.issues)


def moved(place: int, old: str, new: str) -> int | None:
    apart = difference(old, new)
    if place <= apart.start:
        return place
    return place - apart.old_end + apart.new_end if place >= apart.old_end else None


def is_touched(place: Span | Occurrence, apart: Difference) -> bool:
    """Who asks for a definition does so of names and targets that no edit touches."""
    return place.end >= apart.start - 1 and place.start <= apart.old_end + 1


def test_a_line_in_a_macro_tells_as_much_as_another_one() -> None:
    place = CONTINUED.index(" gz++;")
    new = CONTINUED[:place] + " gz += 3;" + CONTINUED[place:]
    assert new.count("\\\n") == CONTINUED.count("\\\n")
    before, apart = index_of(CONTINUED), difference(CONTINUED, new)

    def is_sure(name: str) -> bool:
        at = CONTINUED.rindex(name)
        found = before.occurrence_at(at)
        assert found is not None and found.start == at, name
        return means_the_same(before, found, apart, new)

    assert is_sure("weigh") and is_sure("second")
    assert not is_sure("gz")
    line = CONTINUED.index(" name = 1")
    changed = CONTINUED[:line] + " nam" + CONTINUED[line + 5 :]
    found = before.occurrence_at(CONTINUED.rindex("q + plain"))
    assert found is not None
    assert not means_the_same(before, found, difference(CONTINUED, changed), changed)


def test_of_a_line_that_holds_blocks_only_the_edited_statement_counts() -> None:
    place = TANGLED.index(" int gy = i;")

    def is_sure(name: str, typed: str) -> bool:
        new = TANGLED[:place] + typed + TANGLED[place:]
        before, apart = index_of(TANGLED), difference(TANGLED, new)
        found = before.occurrence_at(TANGLED.index(name, place + 30))
        assert found is not None, name
        return means_the_same(before, found, apart, new)

    assert is_sure("gx] = value", " float half_typed = 1")
    assert is_sure("total] = value.x; }", " q_v++;")
    assert not is_sure("gx] = value", " int gx = 1;")
    assert not is_sure("gx] = value", " { q_v++;")
    assert not is_sure("gx] = value", " /* q_v++;")


LONG_MACRO = """\
enum turns { FIRST_TURN = 3, SECOND_TURN = 5 };
#define DEFINE_MIX(BITS, WORD) \\
    static WORD mix##BITS(WORD x, int rounds) { \\
        WORD key = 7, more = 1, \\
            extra = 2, \\
            last = 3; \\
        if (rounds > 1) { x += key; x = rotate(x, (WORD)FIRST_TURN); } \\
        if (rounds > 2) { x += last; x = rotate(x, (WORD)SECOND_TURN); } \\
        return x; \\
    }
DEFINE_MIX(32, uint)
DEFINE_MIX(64, ulong)
__kernel void draw(__global ulong *out) { out[0] = mix64(mix32(1, 2), 3); }
"""


def test_a_name_in_the_body_of_a_macro_is_sure_while_another_statement_of_it_is_typed() -> None:
    before = index_of(LONG_MACRO)

    def is_sure(name: str, at: str, typed: str, gone: int = 0) -> bool:
        place = LONG_MACRO.index(at)
        new = LONG_MACRO[:place] + typed + LONG_MACRO[place + gone :]
        found = before.occurrence_at(LONG_MACRO.index(name))
        assert found is not None, name
        return means_the_same(before, found, difference(LONG_MACRO, new), new)

    first = "x = rotate(x, (WORD)FIRST"
    assert is_sure("rounds > 2", first, "float tmp = 2.0f; ")
    assert is_sure("SECOND_TURN);", first, "float tmp = 2.0f; ")
    assert is_sure("last;", first, "key++; ")
    assert is_sure("mix32(1", first, "float half_typed ")
    assert not is_sure("rounds > 2", first, "int rounds = 2; ")
    assert is_sure("rounds > 2", first, "x = TURN_##BITS(x); ")
    assert not is_sure("rounds > 2", first, "int ro##BITS = 2; ")
    assert not is_sure("rounds > 2", first, "int BITS##unds = 2; ")
    assert not is_sure("last;", "extra = 2,", "extra = 2;", len("extra = 2,"))
    assert not is_sure("rounds > 2", "__kernel", "uint more = DEFINE_MIX(8, uchar) ;\n")


@pytest.mark.parametrize("seed", range(8))
def test_what_is_sure_to_mean_the_same_does(seed: int) -> None:
    chance = random.Random(seed)
    n_sure = n_asked = 0
    for _ in range(120):
        old = chance.choice((TANGLED, SPREAD, CONTINUED, LONG_MACRO))
        if chance.random() < 0.3:
            old = edited(old, chance)
        new = edited(old, chance)
        before, afresh = index_of(old), index_of(new)
        apart = difference(old, new)
        for found in before.occurrences:
            if found.path != before.path or is_touched(found, apart):
                continue
            n_asked += 1
            if not means_the_same(before, found, apart, new):
                continue
            target = definition(before, found)
            place = moved(found.start, old, new)
            if target is None or place is None or is_touched(target, apart):
                continue
            n_sure += 1
            now = afresh.occurrence_at(place)
            if now is None or now.start != place:
                # What is half written may make the rest unreadable; that hides no other meaning.
                assert n_wrong(afresh) > 0 or n_wrong(before) > 0, (
                    new[max(apart.start - 40, 0) :][:90],
                    found,
                )
                continue
            span = definition(afresh, now)
            same = span is not None and span.start == moved(target.start, old, new)
            assert same or n_wrong(afresh) > 0, (new[max(apart.start - 40, 0) :][:90], found)
    assert n_sure > n_asked / 50
