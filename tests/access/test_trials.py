"""A loop whose values a trial reading finds is read for what they follow from, and for nothing else."""

from __future__ import annotations

import pytest

from clmap_lsp.access import looping
from clmap_lsp.access.analyse import _Reader, analyse
from clmap_lsp.access.records import AccessSummary
from clmap_lsp.source import ir
from clmap_lsp.source.makings import Makings, makings_of
from clmap_lsp.source.read import read_program

CONTEXT = """
typedef struct { uint total; uint state[4]; uchar buffer[64]; } context;
typedef struct { union { uint total; uint state[4]; } u; } overlaid;
void mix(context *c, uint w) {
  for (uint r = 0; r < 4; r++) c->state[r] = rotate(c->state[(r + 1) & 3] ^ w, 7u) + r;
}
uint update(context *c, __global const uint *in, uint length) {
  uint left = c->total & 63;
  c->total += length;
  mix(c, in[left]);
  c->buffer[left] = (uchar)c->state[0];
  return length;
}
"""
HASHED = """
__kernel void hashed(__global uint *out, __global const uint *in, __constant uint *table, uint n) {
  context c;
  c.total = 0;
  for (int r = 0; r < 4; r++) c.state[r] = r;
  uint at = get_global_id(0);
  while (at < n) {
    uint done = update(&c, in, 16);
    at += done;
    out[at] = table[c.state[1] & 255];
  }
}"""


def kernel_of(text: str) -> ir.Kernel:
    program = read_program(CONTEXT + text, "k.cl")
    assert not [it for it in program.problems if it.severity is ir.Severity.ERROR]
    return program.kernels[0]


def outer_loop(kernel: ir.Kernel) -> ir.Loop:
    return list(ir.outermost_loops(kernel.body))[-1]


def behind(text: str, name: str) -> set[str]:
    """Return the names of what the value of a variable follows from in the last loop of a kernel."""
    kernel = kernel_of(text)
    made: Makings = makings_of(kernel, outer_loop(kernel))
    variable = next(it for it in kernel.variables if it.name == name)
    parts = made.behind([variable]).values
    named = {it.name for it in parts if isinstance(it, ir.Variable)}
    return named | {f"{it[0].name}+{it[1]}" for it in parts if isinstance(it, tuple)}


def test_a_counter_in_a_structure_does_not_follow_from_what_is_mixed_beside_it() -> None:
    found = behind(HASHED, "at")
    assert {"at", "done", "n", "length"} <= found
    assert not found & {"w", "in", "c+4", "c+20"}


def test_what_is_stored_through_a_pointer_to_no_member_may_be_any_member() -> None:
    text = HASHED.replace("at += done;", "((uint *)&c)[at & 3] = in[at]; at += c.total;")
    assert "in" in behind(text, "at")
    whole = HASHED.replace("at += done;", "context other = {in[at]}; c = other; at += c.total;")
    assert "in" in behind(whole, "at")


def test_members_that_share_their_bytes_are_one() -> None:
    text = """__kernel void k(__global uint *out, __global const uint *in, uint n) {
      overlaid o; uint at = get_global_id(0);
      while (at < n) { o.u.state[0] = in[at]; at += o.u.total; out[at] = 1; }
    }"""
    assert "in" in behind(text, "at")


def test_what_a_pointer_kept_in_memory_leads_to_may_be_anything() -> None:
    text = """__kernel void k(__global uint *out, __global const uint *in, uint n) {
      uint a[4], b[4]; uint *rows[2] = {a, b}; uint at = get_global_id(0);
      while (at < n) { b[1] = in[at]; at += rows[at & 1][1]; out[at] = 1; }
    }"""
    assert "in" in behind(text, "at")


STEP = "at += done;"
CALL = "uint done = update(&c, in, 16);"
KERNELS = [
    HASHED,
    HASHED.replace(CALL, "uint done = 16; if (c.total > 3) done = 8; mix(&c, 1);"),
    HASHED.replace(STEP, "at += (c.total & 1) ? 32 : 16;"),
    HASHED.replace("uint at", "__global uint *p = out; uint at").replace(STEP, f"{STEP} *p++ = 1;"),
    HASHED.replace(STEP, f"{STEP} for (uint j = 0; j < done; j += 4) out[at + j] = c.buffer[j];"),
]


def said(found: AccessSummary) -> list[tuple[str, ...]]:
    return [
        (it.buffer, it.index_text, it.guard_text, *(str(loop.trip) for loop in it.loops))
        for it in (*found.accesses, *found.private)
    ]


@pytest.mark.parametrize("text", KERNELS)
def test_a_trial_of_what_matters_finds_what_a_whole_one_does(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = kernel_of(text)
    monkeypatch.setattr(looping, "SLICED_FROM", 1_000_000)
    whole = said(analyse(kernel))
    monkeypatch.setattr(looping, "SLICED_FROM", 0)
    assert said(analyse(kernel)) == whole


def test_rounds_of_a_cipher_are_not_read_for_a_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = "".join(f"c.state[{r & 3}] = rotate(c.state[{(r + 1) & 3}], 7u) + {r}u; " for r in range(200))
    kernel = kernel_of(HASHED.replace("at += done;", f"{rounds} at += done;"))
    read: list[bool] = []
    followed = _Reader._remember

    def remember(reader: _Reader, *arguments: object) -> None:
        read.append(reader.quiet > 0)
        followed(reader, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(_Reader, "_remember", remember)
    analyse(kernel)
    assert read.count(False) >= 200
    assert read.count(True) < 20
