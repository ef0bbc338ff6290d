"""What exact figures hold for is said beside them."""

from __future__ import annotations

from kernels import kernel

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program


def kinds(text: str) -> dict[tuple[str, str], str]:
    """Return the origins by kind and name."""
    (only,) = AnalysisSession().analyse(read_program(text, "k.cl"), load_model("generic-gpu")).kernels
    return {(it.kind, it.name): it.origin for it in only.rests_on}


def test_a_guessed_macro_and_guessed_scalars_are_named() -> None:
    found = kinds(
        "// clmap: global=64 local=32 n=64\n__kernel void k(__global float *A, int n, int stride)"
        " { int x = get_global_id(0); if (x < n) A[x*STRIDE + stride] = 1; }"
    )
    assert found["macro", "STRIDE"] == "guessed"
    assert found["scalar", "stride"] == "guessed"
    assert found["scalar", "n"] == found["global", "global size"] == "configured"
    assert ("alignment", "buffers") in found
    assert ("float", "floats") not in found


def test_floats_that_decide_an_address_are_named() -> None:
    text = "// clmap: global=64 local=32\n__kernel void k(__global float *A) { int x = get_global_id(0); %s }"
    assert ("float", "floats") in kinds(text % "A[(int)(x / 10.0f * 10.0f)] = 1;")
    assert ("float", "floats") in kinds(
        text % "float t = 0; while (t < x*0.5f) { t += 0.7f; } A[(int)t] = 1;"
    )
    assert ("float", "floats") not in kinds(text % "A[x] = x / 10.0f;")


def test_contents_that_decide_an_address_are_named_with_what_they_must_not_overlap() -> None:
    text = (
        "// clmap: global=64 local=32 I=permutation(64) A=zeros(64)\n"
        "__kernel void k(__global float *A, __global const int *I) { A[I[get_global_id(0)]] = 1; }"
    )
    found = kinds(text)
    assert found["contents", "I"] == "configured"
    assert found["aliasing", "I"] == "guessed"
    assert all(it.method == "exact" for it in kernel(text).accesses)


def test_the_shortest_stands_first() -> None:
    (only,) = (
        AnalysisSession()
        .analyse(
            read_program("__kernel void k(__global float *A, int n) { A[n] = W; }", "k.cl"),
            load_model("generic-gpu"),
        )
        .kernels
    )
    lengths = [len(it.describe()) for it in only.rests_on]
    assert lengths == sorted(lengths)
