"""`aligned` and `packed` of members, wherever they stand; sizes are clang's for the target spir64."""

from __future__ import annotations

import pytest

from clmap_lsp.source.read import read_program


@pytest.mark.parametrize(
    ("members", "size"),
    [
        ("char c; __attribute__((aligned(16))) int i;", 32),
        ("char c; int __attribute__((aligned(16))) i;", 32),
        ("char c; int i __attribute__((aligned(16))); char d;", 32),
        ("__attribute__((aligned(32))) char c; char d;", 32),
        ("char c; const __attribute__((aligned(8))) int i, j;", 24),
        ("char a; int b[3] __attribute__((aligned(8))), c;", 24),
        ("char c; __attribute__((packed)) int i; short s;", 8),
        ("char c; struct { int j; int i __attribute__((packed)); } b;", 12),
        ("char c; struct { char x; int q __attribute__((aligned(16))); } b; char e;", 64),
        ("char c; struct { char x; int q; } __attribute__((packed)) b; int e;", 12),
        ("char c; struct { int q; } __attribute__((aligned(16))) b;", 32),
        ("char c; union { int q; char z[3]; } u __attribute__((packed)); short k;", 8),
    ],
)
def test_the_size_of_a_structure(members: str, size: int) -> None:
    """Those before a type were dropped; those in an inner structure counted for the outer member as well."""
    text = f"struct s {{ {members} }}; __kernel void k(__global char *o) {{ o[sizeof(struct s)] = 1; }}"
    program = read_program(text, "k.cl")
    assert not program.problems
    from clmap_lsp.access.analyse import analyse

    (access,) = analyse(program.kernel("k")).accesses
    assert access.index.value == size
