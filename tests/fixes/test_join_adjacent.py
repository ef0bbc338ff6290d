"""Pairs of elements that are neighbours on some launches: one vector there, as before elsewhere."""

from __future__ import annotations

import pytest
from fix_kernels import EXCHANGED, WALSH
from fixing import SETTINGS, first_verified, mutant, offered, proposed, rejected, subject_of
from natively import all_of, natively_the_same

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.trials import Trials


def test_a_pair_is_one_vector_where_the_kernel_sees_it_side_by_side():
    after, proof = first_verified(WALSH, "join-adjacent")
    assert (
        "    const float2 a_2 = low % 2 == 0 && high - low == 1\n"
        "                       ? *(__global const float2 *)&a[low]\n"
        "                       : (float2)(a[low], a[high]);\n"
        "    float x = a_2.s0;\n"
    ) in after
    assert "    if (low % 2 == 0 && high - low == 1) {\n        *(__global float2 *)&a[low]" in after
    assert "    } else {\n        a[low] = x + y;\n        a[high] = x - y;\n    }\n" in after
    assert proof.before.lines == 2 * proof.after.lines
    assert proof.proposal.assumptions == ()
    assert any("step=2" in it for it in proof.tested_on)


def test_it_is_safe_and_offered_on_launches_with_neighbours_only():
    ((_, fix),) = offered(WALSH, "join-adjacent")
    assert fix.safety is FixSafety.SAFE
    assert len(fix.title) < 70
    assert not proposed(WALSH.replace("step=1", "step=2"), "join-adjacent")


def test_stores_that_alternate_between_buffers_share_one_choice():
    after, proof = first_verified(EXCHANGED, "join-adjacent")
    assert after.count("if (pos % 2 == 0 && stride == 1) {") == 1
    assert "*(__global uint2 *)&keys[pos] = (uint2)(a, b);\n" in after
    assert "*(__global uint2 *)&values[pos] = (uint2)(v, w);\n" in after
    assert {it.text for it in proof.proposal.assumptions} == {"keys and values do not overlap"}


@pytest.mark.parametrize(
    "text", [WALSH, EXCHANGED, WALSH.replace("float", "uchar"), WALSH.replace("uint", "long")]
)
def test_both_versions_agree_natively(text: str):
    subject, proposals = all_of(text, "join-adjacent")
    assert proposals
    for proposal in proposals:
        natively_the_same(subject, proposal, Trials(subject, SETTINGS))


REFUSED = {
    "always neighbours": WALSH.replace("high = low + step", "high = low + 1"),
    "distance from memory": WALSH.replace("low + step;", "low + (a[0] > 9 ? 2 : 1);"),
    "volatile": WALSH.replace("__global float", "volatile __global float"),
    "pointer that moves": WALSH.replace("    float x", "    a += 1;\n    float x"),
    "through a local pointer": WALSH.replace(
        "    float x", "    __global float *p = a;\n    float x"
    ).replace("a[", "p["),
    "stored between, and used behind": WALSH.replace(
        "    float y = a[high];\n    a[low] = x + y;", "    a[low] = 1;\n    float y = a[high];"
    ).replace("a[high] = x - y;", "a[low + 3] = x - y;"),
    "index changes behind a macro": "#define AT (2 * j)\n"
    + WALSH.replace("float x = a[low];", "int j = i; float x = a[AT]; j = i / 2 * 0;")
    .replace("float y = a[high];", "j = i + step; float y = a[AT - step];")
    .replace("a[low] = x + y;\n    a[high] = x - y;", "a[i] = x + y;"),
    "barrier between": WALSH.replace(
        "    float y", "    barrier(CLK_GLOBAL_MEM_FENCE);\n    float y"
    ).replace("    a[low] = x + y;\n    a[high]", "    a[low]"),
    "one is conditional": WALSH.replace("float y = a[high];", "float y = i > 3 ? a[high] : 0;").replace(
        "    a[high] =", "    if (i > 3)\n        a[high] ="
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_pair_stays(name: str):
    assert not proposed(REFUSED[name], "join-adjacent")


def test_operators_that_bind_less_than_a_sum_keep_the_distance_spelt_out():
    text = WALSH.replace("a[high]", "a[step > 5 ? low : low + step]").replace(
        "a[low]", "a[step > 5 ? low : low]"
    )
    after, _ = first_verified(text, "join-adjacent")
    assert "(step > 5 ? low : low + step) - (step > 5 ? low : low) == 1" in after


def test_values_that_are_loaded_from_the_buffer_keep_their_stores():
    text = WALSH.replace("a[high] = x - y;", "a[high] = a[low] - y - y;")
    joined = [it.text for _, proposal in proposed(text, "join-adjacent") for it in proposal.edits]
    assert joined
    assert not any("} else {" in it for it in joined)


MUTANTS = {
    "at any distance": ("&& high - low == 1", ""),
    "elements exchanged": ("a_2.s0", "a_2.s1"),
    "stored the other way round": ("(float2)(x + y, x - y)", "(float2)(x - y, x + y)"),
    "the wrong pair elsewhere": ("(a[low], a[high])", "(a[low], a[low + 1])"),
    "the other one first": ("&a[low]\n", "&a[high - 2]\n"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_pairs_are_rejected(name: str):
    ((subject, proposal),) = proposed(WALSH, "join-adjacent")
    assert rejected(subject, mutant(WALSH, subject, proposal, *MUTANTS[name]))


def test_a_kernel_that_does_so_already_is_left_alone():
    after, _ = first_verified(WALSH, "join-adjacent")
    assert not offered(after, "join-adjacent")
    assert subject_of(after).analysis.kernel.name == "walsh"
