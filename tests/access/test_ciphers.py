"""Kernels of thousands of statements that mix data: given up early, but for their addresses."""

from clmap_lsp.access.analyse import THRIFTY_FROM, analyse
from clmap_lsp.access.polynomial import Indirect
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program

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
