"""Kernels that led a rewrite astray, or were made to: no offer is wrong on the launches that they name."""

from __future__ import annotations

import pytest
from elsewhere import BROKEN, all_offers, laid_out_as_before, same
from fixing import SETTINGS, offered, subject_of

from benchmarks import awkward
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.offer import survey
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

TEXTS = dict(awkward.kernels())
LED_ASTRAY = (
    "a build that stores in place",
    "division behind a return",
    "endless but for a return",
    "private table behind a return",
    "local rows stored in turns that differ",
    "side effect in the guard",
    "product with something added",
    "greatest of products",
    "macros that set the size of the tile",
    "names that are taken by the build",
    "parameters and results in one buffer",
    "branches inside the kernel",
    "product whose tiles would hold no numbers",
    "chunks: a neighbour of the element",
    "ids worked out under an offset",
    "members of neighbours that are stored in between",
    "do: chunks of a tiled product",
    "pairs: stored before the other is loaded",
    "pairs: a choice in the index",
    "data: a sum of one's own under a condition of the data",
    "data: sums that some work-items add up",
    "data: the row's length shrinks with what is read",
    "a do-while over a row",
    "sums: unsigned terms that wrap before a long one is added",
    "sums: a column in unsigned numbers, from its end",
    "rows in unsigned numbers, backwards, where less than nought is the row before",
    "diagonals, backwards within the row",
    "kept by one, read by all under no condition",
)
"""Those that a rewrite got wrong, or could have; `benchmarks.fix_native --awkward` runs all natively."""


@pytest.mark.parametrize("name", LED_ASTRAY)
def test_no_offer_is_wrong_on_the_launches_that_a_kernel_names(name: str) -> None:
    text = TEXTS[name]
    subject, found = all_offers(text)
    trials = Trials(subject, SETTINGS)
    wrong = []
    for other in awkward.others(text):
        case = _case(text, other)
        before = trials.run(text, subject.program, case)
        assert before is not None and not {it.kind for it in before.faults} & BROKEN, other.text
        for proof, fix in found:
            if not all(it.holds(case) for it in proof.proposal.assumptions):
                continue
            after = _after(text, trials, proof.proposal, case)
            if after is None or not same(before, after):
                wrong.append(f"{fix.title} on {other.text}")
    assert not wrong


def _case(text: str, other: awkward.Other) -> Case:
    options = BuildOptions(defines=other.defines)
    first = next(it for it in text.splitlines() if it.startswith("// clmap:"))
    program = read_program(text.replace(first, other.comment), "k.cl", options)
    kernel = AnalysisSession().analyse(program, SETTINGS.device).kernels[0]
    assert kernel.launch is not None, kernel.launch_problems
    return Case(kernel.launch, options, other.shared)


def _after(text: str, trials: Trials, proposal: Proposal, case: Case):
    rewritten = apply(text, proposal.edits, "k.cl")
    program = read_program(rewritten, "k.cl", trials.subject.options)
    found = trials.run(rewritten, program, case, proposal.launched(case.launch))
    return None if found is None else laid_out_as_before(found, proposal, case.launch)


def test_a_kernel_that_another_function_calls_is_left_alone() -> None:
    found = survey(subject_of(TEXTS["calls itself a helper: rows of vectors at an odd place"]), SETTINGS)
    assert not found.offers
    assert {it.why for it in found.declined} == {
        "another function calls the kernel, and would be rewritten with it: have both call a third"
    }


def test_parameters_that_a_declaration_repeats_stay() -> None:
    text = TEXTS["declared before it is defined"]
    assert not offered(text, "qualify-pointers")
    assert offered(text, "vectorise")


def test_what_chooses_between_builds_is_assumed() -> None:
    fixes = [fix for _, fix in offered(TEXTS["a build that stores in place"], "qualify-pointers")]
    assert fixes
    assert all(fix.safety is FixSafety.UNSAFE and "no -D IN_PLACE" in fix.assumptions for fix in fixes)


def test_two_ids_in_one_declaration_are_tiled() -> None:
    ((after, fix), *_) = offered(TEXTS["names that are taken by the build"], "register-tile")
    assert after.count("const int row = ") == after.count("const int col = ") == 1
    first = after[: after.index("a_tile * lx;")]
    assert any(
        it.startswith("get_global_size(0) %") and it.endswith("(as launched before)")
        for it in fix.assumptions
    )
    assert "row = " not in first  # What sums start with is the same for all: the id would have no use.


def test_conditional_text_elsewhere_in_a_kernel_is_assumed_and_left_alone() -> None:
    text = TEXTS["branches inside the kernel"]
    found = offered(text, "vectorise")
    assert found
    for after, fix in found:
        assert "no -D SCALED" in fix.assumptions
        assert fix.safety is FixSafety.UNSAFE
        assert text[text.index("#ifdef") :] in after


def test_conditional_text_is_not_written_anew() -> None:
    found = survey(subject_of(TEXTS["branches inside the loop"]), SETTINGS)
    assert not {it.proposal.kind for it, _ in found.offers} & {"vectorise", "stage-loop"}


def test_a_kernel_with_a_do_loop_gets_rewrites() -> None:
    _, found = all_offers(TEXTS["do: chunks of a tiled product"])
    assert "pad-local" in {proof.proposal.kind for proof, _ in found}
