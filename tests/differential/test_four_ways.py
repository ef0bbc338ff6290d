"""Random kernels counted four ways: an independent oracle, `analyze`, the symbolic and the JIT engine."""

import numpy as np
import pytest
from four_ways import Verdict, check

from clmap_lsp.devices import rules
from clmap_lsp.emulator.symbolic import comparing, loops

SEEDS = range(240)
BLOCK = 24


@pytest.mark.parametrize("first", SEEDS[::BLOCK])
def test_all_ways_say_the_same(first):
    verdict = Verdict()
    for seed in range(first, first + BLOCK):
        check(seed, verdict, jit=seed % BLOCK == 0)
    assert not verdict.faults
    assert not verdict.reasons, "unknown, though it can be computed"
    assert verdict.kernels > BLOCK // 2
    assert verdict.accesses > 5 * verdict.kernels


def faults(seeds):
    verdict = Verdict()
    for seed in seeds:
        check(seed, verdict)
    return verdict.faults


def test_a_wrong_first_turn_is_found(monkeypatch):
    monkeypatch.setattr(loops, "_first_turn", lambda turn, n: np.zeros((n,) + (1,) * (turn + 1), np.bool_))
    assert faults(range(385, 405))


def test_a_signed_comparison_of_unsigned_numbers_is_found(monkeypatch):
    monkeypatch.setattr(comparing, "settled", lambda value, scalar, space: value)
    assert faults(range(130, 145))


def test_a_wrong_sector_is_found(monkeypatch):
    counted = rules.global_sectors
    monkeypatch.setattr(rules, "global_sectors", lambda *args, **more: counted(*args, **more) + 1)
    assert faults(range(4))
