"""Kernels of thousands of statements that mix data: given up early, but for their addresses."""

from clmap_lsp.access.analyse import THRIFTY_FROM, analyse
from clmap_lsp.access.polynomial import Indirect, Polynomial, Unknown
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program
from clmap_lsp.source.slicing import LARGE, slice_of

ROUND = (
    "a += rotate(b ^ (c & d), 7u) + w[{0}]; b = rotate(c, 13u) + a; c ^= d + {0}u; d = (d << 3) | (a >> 29); "
)


def cipher(rounds: int, end: str) -> ir.Kernel:
    """Return a kernel that mixes 16 words of input with its state and does something with the result."""
    loaded = "".join(f"w[{it}] = in[i * 16 + {it}]; " for it in range(16))
    mixed = "".join(ROUND.format(it % 16) for it in range(rounds))
    text = f"""
    __kernel void mix(__global uint *out, __global const uint *in, __global const uint *table, uint wanted) {{
        uint w[16], a = 1, b = 2, c = 3, d = 4;
        size_t i = get_global_id(0);
        {loaded}
        {mixed}
        {end}
    }}"""
    return read_program(text, "mix.cl").kernel("mix")


def test_a_cipher_is_given_up_early_and_its_addresses_are_not() -> None:
    kernel = cipher(1_200, "if (a == wanted) out[i] = d; out[table[c & 255] + i * 4] = b;")
    assert sum(1 for _ in ir.walk(kernel.body)) > THRIFTY_FROM
    found = analyse(kernel)
    weights = [it.offset.weight for it in found.accesses]
    assert max(weights) < 40
    stores = [it for it in found.accesses if it.buffer == "out"]
    assert str(stores[0].index) == "<get_global_id(0)>"
    # The lookup depends on what was read, and is known to.
    assert any(isinstance(leaf, Indirect) and leaf.buffer == "in" for leaf in stores[1].index.leaves)
    assert any(isinstance(leaf, Indirect) and leaf.buffer == "table" for leaf in stores[1].index.leaves)


def test_what_decides_nothing_is_not_worked_out() -> None:
    found = analyse(cipher(40, "out[i] = a ^ b ^ c ^ d;"))
    assert [str(it.index) for it in found.accesses if it.buffer == "out"] == ["<get_global_id(0)>"]


def search(rounds: int, last: str = "out[i + n] = 2;") -> ir.Kernel:
    """Return a kernel that holds a digest of its input against a target, twice."""
    steps = "\n".join(f"h = (h ^ {n}u) * 16777619u + (h >> {n % 13 + 1});" for n in range(rounds))
    text = f"""__kernel void search(__global const uint *in, __global uint *out, uint target, uint n) {{
      uint i = get_global_id(0);
      if (i >= n) return;
      uint h = in[i];
      {steps}
      if (h < target) out[i] = 1;
      h = h * 3u;
      if (h < target) {last}
    }}"""
    return read_program(text, "search.cl").kernel("search")


def test_a_digest_that_only_a_branch_reads_is_not_worked_out() -> None:
    kernel = search(LARGE)
    followed = {it.name for it in slice_of(kernel).variables}
    assert {"i", "n", "target"} <= followed
    assert "h" not in followed
    summary = analyse(kernel)
    first, second = summary.of_buffer("out")
    assert (first.index_text, second.index_text) == ("i", "i + n")
    assert first.known and second.known
    assert "i < n" in first.guard_text
    # What the first branch says of the digest says nothing of the second's, which has changed since.
    conditions = [
        [part for part in it.guard if any("data" in why for why in reasons(part))] for it in (first, second)
    ]
    assert all(conditions)
    assert not set(conditions[0]) & set(conditions[1])


def test_a_digest_that_addresses_read_is_followed() -> None:
    for kernel in (search(LARGE, "out[h & 255] = 2;"), search(20)):
        assert "h" in {it.name for it in slice_of(kernel).variables}


def reasons(part: Polynomial) -> list[str]:
    return [it.reason for it in part.leaves if isinstance(it, Unknown)]
