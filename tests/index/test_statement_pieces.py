"""Statements that an edit leaves alone are taken from before, and all is said that a fresh reading says."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from benchmarks import giants
from clmap_lsp.index.complete import complete
from clmap_lsp.index.index import Index
from clmap_lsp.index.meaning import meanings
from clmap_lsp.index.model import Call, Scope
from clmap_lsp.index.piecewise import PieceParser
from clmap_lsp.index.reading import read_index
from clmap_lsp.index.uniformity import MOST_PASSES, varying_symbols
from clmap_lsp.index.verdict import broken_functions, errors
from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.options import BuildOptions
from tests.index.index_reading import index_of

MIXED = """\
#define SQUARE(x) ((x) * (x))
#define EACH(n) acc += in[i + n]; if (acc > limit) break
typedef struct Cell { float4 place; int count; } Cell;
__constant float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
float helper(float value) { return SQUARE(value) * table[1]; }
__kernel void mixed(__global float *out, __global const float *in, __global const Cell *cells, const int n)
{
    const int i = get_global_id(0), limit = 40;
    __local float tile[16];
    float acc = 0.0f, unused;
    int count = 3;
    const int width = 2 * 8;
    for (int j = 0, k = 4; j < n; j++) {
        float held = in[j * width + i];
        Cell mine = cells[j];
        acc += helper(held) + mine.place.x;
        for (int m = 0; m < width; m++)
            acc += SQUARE(held) + UNKNOWN(m);
        if (acc > 3) { int inner = j; acc -= inner; } else if (acc < 1) acc = 2.5; else { break; }
        EACH(1);
    }
    struct Own { int a; } own;
    own.a = count;
    switch (own.a) {
    case 1: { int fresh = i; count += fresh; break; }
    case 2:
        count--;
    default:
        acc = helpr(acc);
    }
    while (count > 0) { if (i & 1) continue; count--; double wide = 1.0; acc += wide; }
    do { acc *= 2; } while (acc < 4);
again:
    if (acc < 0) goto again;
    float4 v = (float4)(acc);
    v.xy = v.zw;
    out[i] = acc + v.x + width;
    return;
    out[0] = 1;
}
int after(int a) { int b = a; return b; }
"""
BLOCKS = """\
kernel void child(global int *o, int n) { o[n] = n; }
float old(x, y, n)
    float x, *y;
    int n;
{
    float sum = x;
    for (int i = 0; i < n; i++) { sum += y[i] * x; if (sum > 3) break; }
    if (n > 2) { sum -= x; }
    return sum;
}
kernel void blocks(global int *out, const int n)
{
    int acc = 0;
    int (^twice)(int) = ^(int x) { int sum = x + x; if (sum > 3) return sum; return 0; };
    for (int i = 0; i < n; i++) {
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(n), ^{
            int sum = twice(i);
            switch (sum) { case 1: return; default: break; }
            for (int k = 0; k < sum; k++) { if (k > acc) break; out[k] = sum; }
            child(out, sum);
        });
        if (acc > 3) { acc = ({ int q = i; q + 1; }); }
    }
    struct { int a[3]; struct { float q; } in; } made = { .in.q = 1.0f, .a[1] = acc };
    out[n] = acc + made.a[1];
}
"""
TEXTS: dict[str, Callable[[], str]] = {
    "mixed": lambda: MIXED,
    "blocks": lambda: BLOCKS,
    **{name: lambda make=make: make(3_000) for name, make in giants.KINDS.items()},  # type: ignore[misc]
}
TYPED = (
    "\n    float typed = acc * 2.0f;",
    "int i = 3; ",
    "if (i) { ",
    "} ",
    "else ",
    "/* ",
    "const int limit = 5;",
    "for (int q = 0; q < 3; q++) ",
    "case 2: ",
    "typedef int T; T t;",
    "break;",
    "#define in 3\n",
    "unknown_thing(i) + table[0];",
    "UNKNOWN_TYPE x; ",
    "helper(1, 2);",
    "goto again;",
    "((((",
    "struct Cell c; c.plaec = 1;",
    "x",
    "1",
)


def said(index: Index) -> object:
    """Return all that is asked of an index, as it stands in the file."""
    name = index.name_span

    def scopes(found: list[Scope]) -> object:
        return [
            (it.start, it.end, [name(s) for s in it.symbols], [name(s) for s in it.tags], scopes(it.inner))
            for it in found
        ]

    def call(it: Call) -> object:
        callee = it.callee if isinstance(it.callee, str) or it.callee is None else name(it.callee)
        return it.name, it.opening, it.commas, it.end, callee, it.function and it.function.name

    units = [
        (
            it.start,
            it.end,
            scopes(it.unit.scopes),
            [call(c) for c in it.unit.calls],
            [(m.token, str(m.type), m.is_arrow) for m in it.unit.members],
            [(at + e.token, str(e.type)) for at, piece in it.unit.pieces for e in piece.expected],
            it.unit.needs,
            list(it.unit.bodies.values()),
            sorted((key, found and name(found)) for key, found in it.unit.lookups.items()),
            sorted(it.unit.near.items()),
        )
        for it in index.units
    ]
    occurrences = [(it.path, it.start, it.end, name(it.symbol), it.role, it.use) for it in index.occurrences]
    issues = [
        (it.issue.code, it.issue.severity, it.issue.message, it.span, it.issue.fix, it.issue.notes)
        for it in index.issues
    ]
    symbols = [
        (
            it.name,
            it.kind,
            str(it.type),
            it.value,
            name(it),
            index.full_span(it),
            it.parent and it.parent.name,
        )
        for _, it in index.symbols()
    ]
    varying = sorted(str(name(it)) for it in varying_symbols(index))
    builtin = [
        (span_of_token(token), use.name, use.text, use.is_varying) for token, use in index.builtin_uses
    ]
    broken = broken_functions(index, errors(index))
    return units, occurrences, issues, symbols, varying, builtin, broken, meanings(index)


def offered(index: Index, offset: int) -> object:
    """Return what can be typed at an offset."""
    return [(it.label, it.sort, it.detail) for it in complete(index, offset).candidates]


def edited(text: str, dice: random.Random) -> tuple[str, int]:
    """Return a text with something typed, pasted, deleted or swapped somewhere, and where."""
    at = dice.randrange(len(text))
    match dice.randrange(5):
        case 0:
            end = min(len(text), at + dice.randrange(1, 40))
            return text[:at] + text[end:], at
        case 1:
            start = dice.randrange(len(text))
            return text[:at] + text[start : start + 60] + text[at:], at
        case 2:
            end = text.find(";", at) + 1 or len(text)
            return text[:end] + dice.choice(TYPED) + text[end:], end
        case 3:
            return text[:at] + dice.choice("abn_0159;,(){}[]=+-*/.\n ") + text[at + 1 :], at
        case _:
            return text[:at] + dice.choice(TYPED) + text[at:], at


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", TEXTS)
def test_edits_leave_what_a_fresh_reading_says(kind: str, seed: int) -> None:
    dice = random.Random(f"{kind}{seed}")
    good = text = TEXTS[kind]()
    index = index_of(text)
    for step in range(24):
        text, at = edited(text, dice) if step % 6 else (good, 0)
        index, fresh = index_of(text, index), index_of(text)
        assert said(index) == said(fresh)
        assert offered(index, at) == offered(fresh, at)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", TEXTS)
def test_typing_leaves_what_a_fresh_reading_says(kind: str, seed: int) -> None:
    dice = random.Random(f"{kind}{seed}")
    text = TEXTS[kind]()
    index = index_of(text)
    places = [it for it, char in enumerate(text) if char in ";{}=("]
    at = dice.choice(places) + 1
    for key in dice.choice(TYPED) + dice.choice(TYPED):
        text, at = text[:at] + key + text[at:], at + 1
        index, fresh = index_of(text, index), index_of(text)
        assert said(index) == said(fresh)
    assert offered(index, at) == offered(fresh, at)


@pytest.mark.parametrize("kind", ["ode", "chain", "cases", "fft"])
def test_a_key_reads_few_statements(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS[kind]()
    index = index_of(text)
    n_read = 0
    read = PieceParser._piece

    def counting(self: PieceParser, read_one: Callable[[], bool]) -> bool:
        def counted() -> bool:
            nonlocal n_read
            n_read += 1
            return read_one()

        return read(self, counted)

    monkeypatch.setattr(PieceParser, "_piece", counting)
    index_of(text)
    n_all, at = n_read, text.index(";\n", len(text) // 2) + 1
    n_read, typed = 0, "\n    int typed = 1;"
    for key in typed:
        text, at = text[:at] + key + text[at:], at + 1
        index = index_of(text, index)
    assert n_read < len(typed) * n_all / 5
    found = re.compile(r" \(?\d").search(text, len(text) // 3)
    assert found is not None
    n_read = 0
    index_of(text[: found.end()] + "5" + text[found.end() :], index)
    assert n_read < n_all / 5


def test_a_long_chain_of_conditions_is_no_deep_nest() -> None:
    assert not [it for it in index_of(giants.chain(40_000)).issues if it.issue.code == "syntax-error"]


def test_the_symbols_of_a_function_with_hundreds_of_errors_are_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    names = "".join(f"int v{it} = w{it};\n" for it in range(300))
    index = index_of(f"__kernel void k(__global int *a) {{\n{names}}}\n")
    refused = errors(index)
    assert len(refused) > 200
    (kind,) = {type(it.unit.unit) for it in refused}
    looked_at = 0
    symbols = kind.symbols.fget

    def counted(unit: object) -> object:
        nonlocal looked_at
        looked_at += 1
        return symbols(unit)

    monkeypatch.setattr(kind, "symbols", property(counted))
    assert broken_functions(index, refused) == {"k"}
    assert looked_at == 1


@pytest.mark.parametrize(
    "declared",
    [
        "int value = ({ int a = get_global_id(0); a + n; });",
        "void (^value)(void) = ^{ n = get_global_id(0); };",
    ],
)
def test_statements_in_an_expression_are_read_in_it_when_they_are_taken_from_before(declared):
    text = f"kernel void k(int n) {{ int first = 1; {declared} }}\n"
    edited = text.replace("value", "valued")
    options = BuildOptions(standard="CL2.0")
    previous = read_index(text, "k.cl", options)
    found = [read_index(edited, "k.cl", options, previous=it) for it in (previous, None)]
    varying = [{it.name for _, it in index.symbols() if it in varying_symbols(index)} for index in found]
    assert varying[0] == varying[1]
    assert "valued" in varying[0]


@pytest.mark.parametrize("declares_again", [False, True])
def test_what_differs_is_followed_however_the_assignments_stand(declares_again):
    count = 4 * MOST_PASSES
    names = ", ".join(f"v{it} = 0" for it in range(count + 1))
    backward = "".join(f"v{it} = v{it + 1}; " for it in range(count))
    body = f"int {names}, same = 2; {backward} v{count} = get_global_id(0); o[same] = v0;"
    text = f"kernel void k(global int *o) {{ {body} }}"
    index = index_of("int f(int a); int f(int b) { return b; }\n" * declares_again + text)
    varying = {it.name for it in varying_symbols(index)}
    assert {f"v{it}" for it in range(count + 1)} <= varying
    assert "same" not in varying
