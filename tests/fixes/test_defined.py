"""Rewrites of kernels whose guessed launch is none that they bear."""

from __future__ import annotations

from fixing import DEVICE, SETTINGS, subject_of

from clmap_lsp.fixes.offer import faulty, survey
from clmap_lsp.fixes.verification import baseline

PAIRED = """\
__kernel void up(__global float *data, __global float *sums)
{
    __local float s[256];
    const int l = get_local_id(0), n = get_local_size(0);
    s[l] = data[2 * n * get_group_id(0) + l];
    s[l + n] = data[2 * n * get_group_id(0) + l + n];
    for (int d = 1; d < n; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n / d / 2)
            s[2 * d * l + 2 * d - 1] += s[2 * d * l + d - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        sums[get_group_id(0)] = s[2 * n - 1];
}
"""
"""Two elements a work-item: 256 of them, which is what a launch is guessed from, would need 512."""


def test_a_guessed_launch_is_replaced_by_one_that_the_kernel_bears():
    subject = baseline(subject_of(PAIRED), SETTINGS)
    assert faulty(subject)
    found = survey(subject, SETTINGS)
    padded = [proof for proof, _ in found.offers if proof.proposal.kind == "pad-local"]
    assert padded
    assert padded[0].launch.local_size == (128,)
    assert "128" in padded[0].launch.describe()


def test_a_given_launch_is_not_replaced():
    text = "// clmap: global=512 local=256 data=random(1024) sums=zeros(2)\n" + PAIRED
    subject = baseline(subject_of(text, device=DEVICE), SETTINGS)
    found = survey(subject, SETTINGS)
    assert not [proof for proof, _ in found.offers if proof.proposal.cures is None]
    assert any("cure that first" in it.why for it in found.declined)
