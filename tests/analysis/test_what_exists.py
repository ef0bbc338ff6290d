"""Which accesses there are is what the counting engine says: nothing executed is missing, and what is never
executed says so. Every kernel here once was counted wrongly or left accesses out."""

from __future__ import annotations

import pytest
from kernels import analysed, kernel

from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program


def counted(analysis: KernelAnalysis) -> dict[str, tuple[int, int]]:
    """Return (requests, sectors) by the index of each access, all of which must be exact."""
    assert analysis.totals.complete
    found = {}
    for it in (*analysis.accesses, *analysis.unreached):
        assert it.method == "exact", it.reason
        assert it.totals is not None
        found[it.access.index_text] = (it.totals.requests, it.totals.sectors)
    return found


def in_kernel(launch: str, parameters: str, body: str) -> str:
    return f"// clmap: {launch}\n__kernel void k(__global float *A{parameters}) {{ {body} }}\n"


DO_WHILE = "int x = get_global_id(0); int i = x; do { A[x] = 1.0f; i++; } while (i < 4);"


@pytest.mark.parametrize(
    ("launch", "parameters", "body", "expected"),
    [
        # The first turn of a `do` loop is made by all, whatever the condition says.
        ("global=32 local=32", "", DO_WHILE, {"x": (4, 7)}),
        (
            "global=32 local=32",
            "",
            "int x = get_global_id(0); int i = x; do { i++; } while (i < 4); A[i*8] = 1.0f;",
            {"…": (1, 29)},
        ),
        (
            "global=32 local=32",
            "",
            "int x = get_global_id(0); int i = x; do { A[x*8] = 1.0f; i += 3; } while (i < 20 && x != 5);",
            None,
        ),
        # Its test would let billions go on; all have left by then.
        (
            "global=32 local=32 n=3",
            ", const uint n",
            "uint t = 0; do { if (t > n) break; A[t*8] = 1.0f; t += 2; } while (t < 0xFFFFFFFEu);",
            {"(uint)(t*8)": (2, 2)},
        ),
        # int is converted to size_t or uint: a negative bound is a huge one.
        (
            "global=32 local=32 r=4",
            ", const int r",
            "size_t x = get_global_id(0); if (x < r - 16) A[x] = 1.0f;",
            {"x": (1, 4)},
        ),
        (
            "global=32 local=32 pad=-1",
            ", const int pad",
            "if (get_local_id(0) >= pad) return; A[get_global_id(0)] = 1.0f;",
            {"get_global_id(0)": (1, 4)},
        ),
        (
            "global=32 local=32 N=8",
            ", const ulong N",
            "if (N - 64L >= 2) A[get_global_id(0)] = 1.0f;",
            {"get_global_id(0)": (1, 4)},
        ),
        (
            "global=64 local=64 N=-1",
            ", const int N",
            "uint x = get_global_id(0); if (x < N) A[x*8] = 1.0f;",
            {"x*8": (2, 64)},
        ),
        (
            "global=64 local=64 N=64",
            ", const int N",
            "size_t x = get_global_id(0); if (x < N - 65) A[x*8] = 1; else A[x] = 1;",
            {"x*8": (2, 64), "x": (0, 0)},
        ),
        (
            "global=64 local=64 n=3",
            ", const uint n",
            "int x = get_global_id(0); for (uint i = 0; i < n - 4u; i++) { A[x*8] = 1; if (i == 2) break; }",
            {"x*8": (6, 192)},
        ),
        # Equality of numbers on both sides of 2^64.
        (
            "global=32 local=32 Q=-1",
            ", const long Q",
            "size_t x = get_global_id(0) - 1; if (x == Q) A[0] = 1; else A[x*8 + 8] = 1;",
            {"0": (1, 1), "get_global_id(0)*8": (1, 31)},
        ),
        # What never runs is known not to run.
        (
            "global=32 local=32",
            "",
            "int x = get_global_id(0); if (((x*2) & 5) == 1) A[x*8] = 1;",
            {"x*8": (0, 0)},
        ),
        (
            "global=32 local=32",
            "",
            "int x = get_global_id(0); if (x > 100) { A[x*2] = A[x + 9]; return; }"
            " for (int i = 5; i < 3; i++) A[x*3] = 2; A[x] = 1; if (x >= 0) return; A[x + 7] = 2;",
            {"x*2": (0, 0), "x + 9": (0, 0), "x*3": (0, 0), "x": (1, 4), "x + 7": (0, 0)},
        ),
        (
            "global=32 local=32 mode=2",
            ", int mode",
            "int x = get_global_id(0);"
            " switch (mode) { case 1: A[x*8] = 1; break; case 2: A[x] = 2; break; default: A[x*2] = 3; }",
            {"x*8": (0, 0), "x": (1, 4), "x*2": (0, 0)},
        ),
        # A shift count is taken modulo the width; this one had no launch at all once (ValueError).
        (
            "global=32 local=32 n=4",
            ", int n",
            "int s = n > 0 ? -1 : -2; A[(get_global_id(0) << s) & 255] = 1;",
            {"(get_global_id(0) << 63)%256": (1, 1)},
        ),
        # Two places of one buffer are as far apart wherever it lies.
        (
            "global=32 local=32 n=2",
            ", const int n",
            "global float *p = A + get_global_id(0)*n; if (p - A < 20 && A + 40 - p > 25) A[(p - A)*4] = 1;",
            {"get_global_id(0)*n*4": (1, 8)},
        ),
    ],
)
def test_accesses_are_those_that_run(
    launch: str, parameters: str, body: str, expected: dict[str, tuple[int, int]] | None
) -> None:
    found = counted(kernel(in_kernel(launch, parameters, body)))
    if expected is None:
        # Lanes 0 to 16 go round 7 to 2 times, the others once; lane 5 once, too.
        turns = [1 if x == 5 else max(1, -(-(20 - x) // 3)) for x in range(32)]
        assert found == {"x*8": (max(turns), sum(turns))}
    elif list(expected) == ["…"]:
        assert list(found.values()) == list(expected.values())
    else:
        assert found == expected


def test_what_never_runs_is_named_in_the_text_and_not_called_unknown() -> None:
    text = "global=32 local=32", "", "int x = get_global_id(0); if (((x*2) & 5) == 1) A[x*8] = 1; A[x] = 2;"
    never, runs = kernel(in_kernel(*text)).accesses
    assert never.is_never_executed
    assert never.missing_cost == "never executed in this launch"
    assert not runs.is_never_executed


def test_accesses_that_are_never_reached_move_with_the_text() -> None:
    source = in_kernel(
        "global=32 local=32", "", "int x = get_global_id(0); if (x > 99) A[x*2] = 1; A[x] = 2;"
    )
    session = AnalysisSession()

    def unreached(text: str) -> AccessAnalysis:
        (only,) = session.analyse(read_program(text, "k.cl"), load_model("generic-gpu")).kernels[0].unreached
        return only

    first = unreached(source)
    later = unreached(f"// moved\n{source}")
    assert later.access.span.start == first.access.span.start + len("// moved\n")


def test_an_offset_may_be_0() -> None:
    source = in_kernel("global=32,2,2 local=16,2,2 offset=0,0,100", "", "A[get_global_id(2)] = 1;")
    (found,) = analysed(source).kernels
    assert found.launch is not None
    assert found.launch.global_offset == (0, 0, 100)
    assert counted(found) == {"get_global_id(2)": (4, 4)}


def test_joined_rows_of_banks_start_at_aligned_words() -> None:
    """Kepler joins words i and i + 32 of one aligned 64-word segment; words 32 and 64 are of two."""
    source = in_kernel(
        "global=32 local=32", "", "__local int T[128]; int l = get_local_id(0); T[(l & 1)*32 + 32] = l;"
    )
    (access,) = kernel(source, "nvidia-kepler").accesses
    assert access.per_request is not None
    assert access.per_request.mean == 2


@pytest.mark.parametrize(
    "body",
    [
        # Work-item 0 keeps what it had before a loop that writes for the others only.
        "int v = 0; for (int t = 0; t < 8; t++) if (x != 0) v = 64; A[v] = 1;",
        "int v = 0; for (int t = 0; t < 8; t++) { if (x == 0) continue; v = 64; } A[v] = 1;",
        "int v = 0; for (int t = 0; t < 8; t++) switch (x) { case 0: break; default: v = 64; } A[v] = 1;",
        "int v = 0; int t = 0; do { if (x != 0) v = 64; } while (++t < 8); A[v] = 1;",
        "int v = 0; for (int s = 0; s < 3; s++) for (int t = 0; t < 8; t++) if (x != 0) v = 64; A[v] = 1;",
        "int v = 1; for (int t = 0; t < 8; t += v) { if (x == 0) continue; v = 2; } A[(v - 1)*64] = 1;",
    ],
)
def test_what_a_loop_writes_for_some_is_kept_by_the_others(body: str) -> None:
    found = kernel(in_kernel("global=32 local=32", "", f"int x = get_global_id(0); {body}"))
    ((requests, sectors),) = counted(found).values()
    assert (requests, sectors) == (1, 2)


@pytest.mark.parametrize(
    "body",
    [
        "int v = D[x]; if (x < 5) v = 3; A[v] = 1;",
        "int v = D[x]; if (x >= 5) v = 3; if (v == 3) A[x] = 1;",
        "int v = D[0]; for (int i = 0; i < 10; i++) if (x < 5) v = 3; A[v] = 1;",
        "int v = D[x]; if (x > 9) { if (D[x + 1]) { if (v == 3) return; } } A[x] = 1;",
    ],
)
def test_what_some_overwrite_stays_unknown_for_the_others(body: str) -> None:
    found = kernel(
        in_kernel("global=32 local=32", ", __global const int *D", f"int x = get_global_id(0); {body}")
    )
    (store,) = (it for it in found.accesses if it.access.buffer == "A")
    assert store.method == "unknown" and "`D`" in store.reason


@pytest.mark.parametrize(
    "body",
    [
        "int v = D[x]; if (x < 5) v = 3; if (x < 5) A[v] = 1;",
        "int v = D[x]; if (x < 5) v = 3; else v = 4; A[v] = 1;",
        "for (int i = 0; i < 4; i++) { int v; if (x < 5) v = 3; else v = 4; A[v] = 1; v = D[x]; }",
        "int v = D[x]; switch (x) { case 1: v = 2; break; default: v = 3; } A[v] = 1;",
    ],
)
def test_what_all_who_read_it_have_written_is_known(body: str) -> None:
    found = kernel(
        in_kernel("global=32 local=32", ", __global const int *D", f"int x = get_global_id(0); {body}")
    )
    assert counted(found)


def test_what_stands_behind_hundreds_of_ends_is_listed() -> None:
    """Each end left one more level of the stack in use."""
    body = "int i = get_global_id(0); " + "return; A[i] = 1; " * 600
    (found,) = analysed(in_kernel("global=32 local=32", "", body)).kernels
    assert len(found.unreached) == 600
