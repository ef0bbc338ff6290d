"""Elements side by side that a work-item accesses one by one: where they become a vector."""

from __future__ import annotations

import pytest
from fixing import first_verified, mutant, proposed, proved, rejected, verified

PAIRS = """\
// clmap: global=128 local=32 a=random(256) b=random(256,1)
__kernel void pairs(__global const float *a, __global float *b)
{
    const int i = get_global_id(0);
    float x = a[2 * i];
    float y = a[2 * i + 1];
    b[2 * i] = x * y + 1;
    b[2 * i + 1] = x - y;
}
"""
QUADS = """\
// clmap: global=64 local=32 a=random(256) b=zeros(64)
__kernel void quads(__global const uchar *a, __global int *b)
{
    const uint i = get_global_id(0);
    b[i] = a[4 * i + 3] - a[4 * i] + 2 * a[4 * i + 1] - a[4 * i + 2];
}
"""


def test_pairs_are_loaded_and_stored_at_once():
    text, proof = first_verified(PAIRS, "join-accesses")
    assert "    const float2 a_2 = *(__global const float2 *)&a[2 * i];\n    float x = a_2.s0;\n" in text
    assert "    *(__global float2 *)&b[2 * i] = (float2)(x * y + 1, x - y);\n" in text
    assert proof.compared == "bit for bit"
    assert proof.before.lines == 2 * proof.after.lines
    assert proof.proposal.assumptions == ()


def test_four_elements_in_any_order_are_one_vector():
    text, proof = verified(QUADS, "join-accesses")
    assert "const uchar4 a_4 = *(__global const uchar4 *)&a[4 * i];" in text
    assert "b[i] = a_4.s3 - a_4.s0 + 2 * a_4.s1 - a_4.s2;" in text
    assert proof.compared == "bit for bit"


def test_elements_behind_pointers_are_joined_too():
    text = (
        PAIRS.replace("a[2 * i];", "((__global const float *)a)[2 * i];")
        .replace("a[2 * i + 1];", "*(__global const float *)(a + 2 * i + 1);")
        .replace("b[2 * i]", "*(b + 2 * i)")
        .replace("b[2 * i + 1]", "*(1 + b + i * 2)")
    )
    after, proof = first_verified(text, "join-accesses")
    assert "const float2 a_2 = *(__global const float2 *)&((__global const float *)a)[2 * i];" in after
    assert "*(__global float2 *)(b + 2 * i) = (float2)(x * y + 1, x - y);" in after
    assert proof.compared == "bit for bit"


PARTICLES = """\
// clmap: global=128 local=32 p=random(128) q=zeros(128) dt=0.25
typedef struct { float x, y, z, mass; float3 unused; int id, kind; float w[2]; } Particle;
__kernel void moved(__global Particle *p, __global Particle *q, const float dt)
{
    const int i = get_global_id(0);
    float r = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
    p[i].mass = r * dt;
    __global Particle *o = q + i;
    o->x = r;
    o->y = r + dt;
    o->z = dt;
    o->mass = 1;
    o->id = p[i].kind + p[i].id;
    o->kind = 2;
    o->w[0] += p[i].w[1];
}
"""


def test_members_of_structures_are_joined():
    """The one that is not asked for is loaded with them: the structure holds it."""
    text, proof = first_verified(PARTICLES, "join-accesses")
    assert "const float4 p_4 = *(__global const float4 *)&p[i].x;\n" in text
    assert "float r = p_4.s0 * p_4.s0 + p_4.s1 * p_4.s1 + p_4.s2 * p_4.s2;" in text
    assert "p[i].mass = r * dt;" in text
    assert "*(__global float4 *)&o->x = (float4)(r, r + dt, dt, 1);" in text
    assert "o->w[0] += p[i].w[1];" in text
    assert proof.proposal.assumptions == ()  # Nothing is loaded earlier than it was, past a store.
    assert proof.compared == "bit for bit"


def test_members_of_structures_of_another_size_stay():
    text = PARTICLES.replace("float w[2];", "float w[3];").replace("float3 unused; ", "")
    joined = [text for _, it in proposed(text, "join-accesses") for text in it.edits]
    assert not any("float4" in it.text for it in joined)


def test_a_condition_that_no_build_changes_and_macros_of_others_are_no_assumptions():
    text = "#ifndef CUTOFF\n#define CUTOFF 2.5\n#endif\n" + PAIRS.replace(
        "    b[2 * i] =", "#if 0\n    x = 7;\n#endif\n    b[2 * i] ="
    )
    after, proof = first_verified(text, "join-accesses")
    assert "#if 0" in after
    assert proof.proposal.assumptions == ()


REFUSED = {
    "not aligned": PAIRS.replace("2 * i + 1]", "2 * i + 2]").replace("2 * i]", "2 * i + 1]"),
    "odd rows": PAIRS.replace("2 * i", "3 * i"),
    "one is a choice": PAIRS.replace("= a[2 * i];", "= i < 100 ? a[2 * i] : 0;"),
    "both in a choice": QUADS.replace("b[i] = ", "b[i] = i > 9 ? 1 : "),
    "stored between the loads": PAIRS.replace("const float *a", "float *a").replace(
        "    float y", "    a[2 * i + 1] = 3;\n    float y"
    ),
    "stored anywhere between the loads": PAIRS.replace("const float *a", "float *a").replace(
        "    float y", "    a[i] = 3;\n    float y"
    ),
    "the index changes between the loads": PAIRS.replace("const int i", "int i").replace(
        "    float y", "    i = 127 - i;\n    float y"
    ),
    "one work-item leaves between the loads": PAIRS.replace(
        "    float y", "    if (x > 0.5f)\n        return;\n    float y"
    ),
    "a loop's head": QUADS.replace(
        "    b[i] =", "    b[i] = 0;\n    for (int k = 0; k < a[4 * i] + a[4 * i + 1]; k++)\n        b[i] +="
    ).replace("a[4 * i + 2];", "1;"),
    "declared in the same statement": PAIRS.replace(
        "const int i = get_global_id(0);\n    float x", "int i = 0;\n{"
    )
    .replace("{ = a[2 * i];", "    { int i = get_global_id(0), x = a[2 * i], z = a[2 * i + 1]; b[i] = x; }")
    .replace("float y = a[2 * i + 1];\n    b[2 * i] = x * y + 1;\n    b[2 * i + 1] = x - y;", ""),
    "volatile": PAIRS.replace("const float *a", "volatile float *a").replace(
        "b[2 * i + 1] = x - y;", "b[2 * i + 3] = x - y;"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_vector_stays(name: str):
    joined = [text for _, it in proposed(REFUSED[name], "join-accesses") for text in it.edits]
    assert not any("*(__global const" in it.text for it in joined)


def test_buffers_that_may_be_one_are_assumed_apart():
    """The second value is loaded after the first is stored."""
    text = PAIRS.replace("const float *a", "float *a").replace("x - y;", "x - a[i];")
    ((_, proposal),) = proposed(text, "join-accesses")[:1]
    assert [it.text for it in proposal.assumptions] == ["a and b do not overlap"]


def test_values_are_converted_as_before():
    text = (
        PAIRS.replace("float *b", "uchar *b").replace("x * y + 1;", "x * 100;").replace("x - y;", "y * 50;")
    )
    after, proof = proved(text, *proposed(text, "join-accesses")[0])
    assert "(uchar2)((uchar)(x * 100), (uchar)(y * 50))" in after
    assert proof.compared == "bit for bit"


MUTANTS = {
    "elements exchanged": ("a_2.s0", "a_2.s1"),
    "stored the other way round": ("(x * y + 1, x - y)", "(x - y, x * y + 1)"),
    "one element further": ("&a[2 * i]", "&a[2 * i + 2]"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_vectors_are_rejected(name: str):
    subject, proposal = proposed(PAIRS, "join-accesses")[0]
    assert rejected(subject, mutant(PAIRS, subject, proposal, *MUTANTS[name]))
