"""Local arrays that macros and functions reach: laid out otherwise in all of these places, or in none."""

from __future__ import annotations

import fix_kernels as kernels
import pytest
from fixing import first_verified, proposed


def test_an_element_handed_to_a_function_is_found_at_its_new_place():
    after, proof = first_verified(kernels.COMPARED, "pad-local")
    assert "__local uint keys[256" in after
    assert "order(&keys[at " in after or "order(&keys[at ^" in after
    assert after.count("void order(") == 1  # It reaches one element, wherever that is.
    assert proof.compared == "bit for bit"
    assert proof.after.totals.wavefronts < proof.before.totals.wavefronts


def test_functions_that_subscript_an_array_get_a_copy_for_it():
    after, proof = first_verified(kernels.HANDED_OVER, "pad-local")
    assert "float every_other(__local float *part, const int l)" in after  # For the other kernel.
    assert "float every_other_conflict_free(__local float *part, const int l)" in after
    assert "2.0f * every_other_conflict_free(part, l)" in after
    assert "= twice_conflict_free(part, l);" in after
    assert "= every_other(own, get_local_id(0));" in after
    assert proof.compared == "bit for bit"
    assert proof.after.totals.wavefronts < proof.before.totals.wavefronts


def test_the_host_gives_local_memory_for_the_padding_of_an_argument():
    after, proof = first_verified(kernels.GIVEN_LOCAL, "pad-local")
    assert "part[2 * l + (2 * l >> 5)]" in after.replace("((2 * l) >> 5)", "(2 * l >> 5)")
    assert str(proof.after_launch.arguments["part"]) == "local(104)"
    assert proof.proposal.host_change == "give `part` one element of local memory more in 32, rounded up"


def test_rows_are_padded_however_they_are_spelt():
    after, proof = first_verified(kernels.IN_MACRO, "pad-local")
    assert "__local float tile[16][16 + " in after
    assert proof.after.totals.wavefronts < proof.before.totals.wavefronts


@pytest.mark.parametrize(
    "text",
    [
        kernels.COMPARED.replace("*one = *other;", "one[0] = *other; one[1] += 0;"),
        kernels.COMPARED.replace("&keys[at]", "keys + at"),
        kernels.COMPARED.replace("const uint kept = *one;", "const uint kept = *one++; one--;"),
        kernels.HANDED_OVER.replace("return part[2 * l] +", "part += 1; part -= 1; return part[2 * l] +"),
        kernels.HANDED_OVER.replace("return part[2 * l] +", "return vload2(0, part + 2 * l).x +"),
        kernels.HANDED_OVER.replace("twice(part, l)", "twice(part + 1, l - 1)"),
        "#define PART part\n" + kernels.HANDED_OVER.replace("part[l + 64] =", "PART[l + 64] ="),
    ],
    ids=["next element", "sum", "walked", "moved", "vector", "from the second on", "macro"],
)
def test_an_array_with_a_place_out_of_sight_is_left_alone(text: str):
    assert [it.title for _, it in proposed(text, "pad-local")] == []
