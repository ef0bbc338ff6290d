"""What `analyze` prints of a kernel besides its accesses, as a person reads it."""

from __future__ import annotations

from nests import FIXTURES
from warm import clmap


def analysed(*arguments: str) -> list[str]:
    ran = clmap("analyze", *arguments)
    assert ran.returncode == 0, ran.stderr
    return [it.strip() for it in ran.stdout.splitlines()]


def starting(lines: list[str], start: str) -> str:
    (found,) = [it for it in lines if it.startswith(start)]
    return found


def test_costs_memories_and_vectors_of_a_kernel() -> None:
    path = str(FIXTURES / "matmul" / "blocked.cl")
    lines = analysed(path, "--kernel", "mm_blocked", "--device", "nvidia-hopper")
    assert starting(lines, "cost:") == "cost: 6,324,224 passes (sectors and wavefronts)"
    assert starting(lines, "bank conflicts:").startswith("bank conflicts: 4,128,768 passes, 504 MiB, 65 %")
    assert "not published" in starting(lines, "channel skew:")
    assert starting(lines, "resident:").startswith("resident: 8 work-groups on a compute unit (64 of 64")
    assert starting(lines, "memory: `A`").startswith("memory: `A` local (done): ")
    assert starting(lines, "memory: `C`") == "memory: `C` global: it is output: written, never read"
    assert "along get_global_id(1): `B`, `C`" in lines


def test_a_long_index_keeps_the_columns() -> None:
    path = str(FIXTURES / "matmul" / "blocked.cl")
    text = clmap("analyze", path, "--kernel", "mm_blocked").stdout
    head = next(it for it in text.splitlines() if it.lstrip().startswith("line "))
    rows = [it for it in text.splitlines() if " load " in it or " store " in it]
    assert len(rows) == 7
    assert {it.index("global" if "global" in it else "local ") for it in rows} == {head.index("op")}


def test_loop_nests_say_what_vectorises() -> None:
    lines = analysed("--loops", str(FIXTURES / "loops" / "livermore.c"))
    shifted = "along get_global_id(0): `y`, `x`, `z[k + 10]` after shifting, `z[k + 11]` after shifting"
    assert f"{shifted}; copies of `z`" in lines
    assert lines.count("vectorisation: 100.0 % of the array instances together (Q_V)") == 2


def test_what_is_not_published_is_not_called_nothing() -> None:
    lines = analysed(str(FIXTURES / "transpose" / "naive.cl"), "--device", "apple-m1")
    assert starting(lines, "cost:").startswith("cost: unknown passes")
    assert starting(lines, "coalescing:").startswith("coalescing:     unknown, ")
    assert starting(lines, "resident:").startswith("resident: unknown, ")


def test_half_published_channels_are_told() -> None:
    path = str(FIXTURES / "transpose" / "naive.cl")
    assert "hashed" in starting(analysed(path, "--device", "amd-cdna2"), "channel skew:")
    assert "bits 10:8" in starting(analysed(path, "--device", "amd-gcn"), "channel skew:")
