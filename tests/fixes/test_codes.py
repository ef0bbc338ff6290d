"""Fixes answer findings by code: every code that a kind names is a rule's."""

from __future__ import annotations

import fix_kernels as kernels
import pytest
from fixing import SETTINGS, subject_of

from clmap_lsp.fixes.offer import kinds, proposals
from clmap_lsp.fixes.verification import baseline
from clmap_lsp.rules.registry import all_rules

SOURCES = {name: text for name, text in vars(kernels).items() if name.isupper()}


@pytest.mark.parametrize("name", SOURCES)
def test_codes_are_those_of_rules(name: str):
    codes = {it.meta.code for it in all_rules()}
    for proposal in proposals(baseline(subject_of(SOURCES[name]), SETTINGS)):
        assert codes.issuperset(proposal.codes), proposal.title


def test_every_kind_is_found_by_its_file():
    assert {it.__module__.rpartition(".")[2] for it in kinds()} >= {
        "add_barrier",
        "constant_data",
        "guard_bounds",
        "hoist_access",
        "move_barrier",
        "pad_local",
        "qualify_pointers",
        "stage_block",
        "stage_loop",
        "stride_order",
        "structure_of_arrays",
        "swap_dimensions",
        "transpose_tile",
        "unstage",
        "vectorise",
    }
