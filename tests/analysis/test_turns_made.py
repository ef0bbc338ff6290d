"""How often a launch comes to an access, as its loops and guards say, against counting one by one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernels import kernel

from clmap_lsp.analysis.lanes import turns_made

CASES: dict[str, tuple[str, Callable[[int, int, int], int]]] = {
    "grid stride": (
        "for (int i = get_global_id(0); i < n; i += get_global_size(0)) @;",
        lambda g, size, n: len(range(g, n, size)),
    ),
    "guard": ("if (get_global_id(0) < (n + 1) / 2) @;", lambda g, size, n: g < (n + 1) // 2),
    "guard around a loop": (
        "if (get_global_id(0) >= 7) for (int i = 0; i < 3; i++) @;",
        lambda g, size, n: 3 * (g >= 7),
    ),
    "chunk": (
        "for (int i = get_global_id(0) * 5; i < min((int)get_global_id(0) * 5 + 5, n); i++) @;",
        lambda g, size, n: len(range(g * 5, min(g * 5 + 5, n))),
    ),
    "two loops": (
        "for (int j = 0; j < 4; j++) for (int i = get_global_id(0); i < n; i += 64) @;",
        lambda g, size, n: 4 * len(range(g, n, 64)),
    ),
}


@pytest.mark.parametrize("n", [1, 63, 64, 1000, 1 << 18])
@pytest.mark.parametrize("form", CASES)
def test_turns_are_those_that_work_items_make(form: str, n: int) -> None:
    body, by_hand = CASES[form]
    size = 512
    found = kernel(
        f"// clmap: global={size} local=64 n={n} seen=zeros(4096)\n"
        "__kernel void k(__global int *seen, const int n) { " + body.replace("@", "seen[0] += 1") + " }"
    )
    wanted = sum(int(by_hand(g, size, n)) for g in range(size))
    assert turns_made(found.accesses[0].access, found.launch) == (wanted, True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { if (seen[i + 1] > 3) break; @; }",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) @;",
        "if (seen[get_global_id(0)]) @;",
    ],
)
def test_what_data_or_other_turns_decide_is_not_exact(body: str) -> None:
    found = kernel(
        "// clmap: global=512 local=64 n=100 seen=zeros(4096)\n"
        "__kernel void k(__global int *seen, const int n) { " + body.replace("@", "seen[0] += 1") + " }"
    )
    last = found.accesses[-1].access
    assert not turns_made(last, found.launch)[1]  # type: ignore[arg-type]


def test_large_launches_are_sampled() -> None:
    found = kernel(
        "// clmap: global=4194304 local=256 n=8388608 seen=zeros(4096)\n"
        "__kernel void k(__global int *seen, const int n) "
        "{ for (int i = get_global_id(0); i < n; i += get_global_size(0)) seen[0] += 1; }"
    )
    assert turns_made(found.accesses[0].access, found.launch) == (1 << 23, False)  # type: ignore[arg-type]
