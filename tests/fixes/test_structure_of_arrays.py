"""Structures are taken apart in all kernels of a file that point to them, or in none."""

from __future__ import annotations

from dataclasses import replace

import fix_kernels as kernels
import numpy as np
import pytest
import running
from fixing import SETTINGS, offered, proposed, subject_of, verified

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Rejected, Verified
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

KIND = "structure-of-arrays"
TWO = """\
typedef struct { float4 pos; float4 vel; int cell; int next; float pad[6]; } Body;
// clmap: global=512 local=64 dt=0.1 n=500 p=random(512)
__kernel void drift(__global Body *p, const float dt, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        p[i].pos += dt * p[i].vel;
}
// clmap: global=512 local=64 counts=zeros(16) b=random(512) n=500
__kernel void count(__global int *counts, __global Body *restrict b, const int n)
{
    const int i = get_global_id(0);
    if (i < n) {
        atomic_add(&counts[b[i].cell & 15], 1);
        atomic_add(&b[i].cell, 1);
        b[i].next = (int)(8.0f * b[b[i].next & 511].pos.x);
    }
}
""".replace("b[b[i].next & 511].pos.x", "b[(i * 7) & 511].pos.x")
IN_OUT = """\
typedef struct { float x; float v; int id; } Body;
// clmap: global=256 local=64 in=random(256) out=zeros(256)
__kernel void step(__global const Body *in, __global Body *out)
{
    const int i = get_global_id(0);
    out[i].x = in[i].x + in[i].v;
    out[i].v = in[i].v;
}
"""


def test_structures_of_one_kernel_are_taken_apart():
    text, proof = verified(kernels.PARTICLES, KIND)
    assert "particles_x[i] += dt * particles_vx[i];" in text
    assert "particles_z" not in text
    assert proof.proposal.safety is FixSafety.UNSAFE and proof.proposal.moves_data
    assert "particles_vy" in (proof.proposal.host_change or "")
    assert proof.after.sectors_per_request == 4
    assert proof.compared == "bit for bit" and len(proof.tested_on) > 3


def test_all_kernels_are_rewritten_and_tested():
    ((text, fix),) = offered(TWO, KIND)
    assert "p_pos[i] += dt * p_vel[i];" in text
    assert "__global int *restrict b_cell, __global int *restrict b_next, const int n)" in text
    assert "atomic_add(&b_cell[i], 1);" in text
    assert "b_next[i] = (int)(8.0f * b_pos[(i * 7) & 511].x);" in text
    assert "p_pos=random(512) p_vel=random(512,1) dt=0.1" in text
    assert "b_pos=random(512) b_cell=random(512,1) b_next=random(512,2) n=500" in text
    assert fix.verified is not None
    tested = fix.verified["tested_on"]
    assert sum(it.startswith("count on ") for it in tested) > 3 and len(tested) > 8
    assert "`b_pos`, `b_cell`, `b_next` instead of `b` of `count`" in (fix.host_change or "")


def test_either_kernel_takes_the_other_along():
    subject = baseline(subject_of(TWO, "count"), SETTINGS)
    mine = next(it for it in proposals(subject) if it.kind == KIND)
    assert isinstance(verify(subject, replace(mine, lowers_traffic=False), SETTINGS), Verified)
    other = next(it for it in proposals(baseline(subject_of(TWO), SETTINGS)) if it.kind == KIND)
    assert apply(TWO, mine.edits, "k.cl") == apply(TWO, other.edits, "k.cl")


def test_a_kernel_that_follows_wrongly_is_found():
    subject = baseline(subject_of(TWO), SETTINGS)
    proposal = next(it for it in proposals(subject) if it.kind == KIND)
    wrong = [replace(it, text="b_next") if it.text == "b_cell" else it for it in proposal.edits]
    outcome = verify(subject, replace(proposal, edits=tuple(wrong)), SETTINGS)
    assert isinstance(outcome, Rejected) and outcome.reason.startswith("kernel `count`: ")


@pytest.mark.parametrize("kernel", ["drift", "count"])
def test_natively_the_same(kernel: str):
    if running.context() is None:
        pytest.skip("PoCL is not here")
    subject = baseline(subject_of(TWO, kernel), SETTINGS)
    proposal = next(it for it in proposals(subject) if it.kind == KIND)
    after = apply(TWO, proposal.edits, "k.cl")
    rewritten = read_program(after, "k.cl", BuildOptions()).kernel(kernel)
    assert rewritten is not None
    (before,) = running.outputs([running.Version(TWO, subject.analysis.kernel, subject.launch)])
    (made,) = running.outputs([running.Version(after, rewritten, proposal.launched(subject.launch))])
    found = proposal.restored(
        subject.launch, {it: np.frombuffer(data, np.uint8) for it, data in made.items()}
    )
    for name, data in before.items():
        assert data.tobytes() == found[name].tobytes(), name


def test_two_buffers_of_structures_are_taken_apart_if_they_are_two():
    text, proof = verified(IN_OUT, KIND)
    assert "__global const float *in_x, __global const float *in_v, __global float *out_x" in text
    assert [it.text for it in proof.proposal.assumptions] == ["in and out do not overlap"]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("b[i].next =", "Body it = b[i]; b[i].next = it.cell +", "copies or passes on whole structures"),
        ("b[i].next =", "b->next =", "through a pointer"),
        ("b[i].next =", "(b + i)->next =", "as a pointer"),
        ("b[i].next =", "b[i].pad[0] = 1.0f; b[i].next =", "`pad`, which is an array"),
        ("b[i].next =", "__global int *at = &b[i].cell; b[i].next = at[0] +", "takes the address"),
        ("b[i].next =", "__global Body *at = b; b[i].next = at[i].cell +", "as a pointer"),
    ],
)
def test_one_kernel_that_cannot_follow_keeps_all(before: str, after: str, reason: str):
    text = TWO.replace(before, after)
    assert text != TWO
    ((_, proposal),) = proposed(text, KIND)
    assert "kernel `count` must follow" in proposal.refused and reason in proposal.refused
    subject = baseline(subject_of(text), SETTINGS)
    assert isinstance(verify(subject, proposal, SETTINGS), Rejected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            kernels.PARTICLES.replace(
                "    particles[i].y +=", "    Particle p = particles[i]; particles[i].y += p.z +"
            ),
            "whole structures",
        ),
        (
            kernels.PARTICLES.replace("float vx, vy, vz;", "float vx, vy[1], vz;").replace(".vy", ".vy[0]"),
            "an array",
        ),
        (
            kernels.PARTICLES.replace("float mass;", "struct { float v; } mass;").replace(
                "particles[i].vx", "particles[i].mass.v"
            ),
            "a structure",
        ),
        (
            kernels.PARTICLES.replace("float vx,", "int flag : 3; float vx,").replace(
                "particles[i].vx", "particles[i].flag"
            ),
            "a bit-field",
        ),
        (
            kernels.PARTICLES.replace(
                "    particles[i].x",
                "#ifdef WHOLE\n    particles[i] = particles[i + 1];\n#endif\n    particles[i].x",
            ),
            "text that this build leaves out",
        ),
    ],
    ids=["used as a whole", "an array", "a structure", "a bit-field", "another build"],
)
def test_structures_stay_whole(text: str, reason: str):
    ((_, proposal),) = proposed(text, KIND)
    assert reason in proposal.refused
