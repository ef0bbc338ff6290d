"""Rewrites of kernels whose guessed launch is none that they bear."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fixing import DEVICE, SETTINGS, subject_of

from clmap_lsp.config import Settings
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.fixes import defined
from clmap_lsp.fixes.offer import faulty, survey
from clmap_lsp.fixes.verification import baseline
from clmap_lsp.workbench import Workbench

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


ROWS_OF_KEYS = """\
__kernel void rows_of_keys(__global const int *keys, __global const int *table, __global int *where,
                           const int n)
{
    const int first = get_global_id(0) * 64;
    for (int i = 0; i < n; i++) {
        if (keys[i] >= table[first] && keys[i] <= table[first + 63])
            where[i] = first;
    }
}
"""
"""Where the table is not sorted, several work-items find a key, and write over one another."""


def test_a_table_that_is_searched_is_sorted():
    subject = baseline(subject_of(ROWS_OF_KEYS, device=DEVICE), SETTINGS)
    assert faulty(subject)
    found = survey(subject, SETTINGS)
    assert {"hoist-access", "spread-loop"} <= {proof.proposal.kind for proof, _ in found.offers}


def test_the_search_goes_on_past_a_launch_whose_data_are_too_large(monkeypatch: pytest.MonkeyPatch):
    """The launch itself may fill memory, and smaller ones not."""
    subject = baseline(subject_of(ROWS_OF_KEYS, device=DEVICE), SETTINGS)
    table = replace(subject.launch.arguments["table"], count=1 << 27)
    launch = replace(subject.launch, arguments={**subject.launch.arguments, "table": table})
    large = replace(subject, analysis=replace(subject.analysis, launch=launch))
    monkeypatch.setattr(defined, "TRIES", 0)
    monkeypatch.setattr(defined, "BYTES", 1 << 28)
    found = defined.on_defined_launch(large, SETTINGS)
    assert found is not None and not faulty(found)


SCATTERED = """\
__kernel void scattered(__global const uint *in, __global const uint *starts, __global uint *out, uint shift,
                        __local uint *next)
{
    const uint l = get_local_id(0), at = get_global_id(0) * 64;
    for (int i = 0; i < 64; i++)
        next[l * 64 + i] = starts[at + i];
    for (int i = 0; i < 64; i++) {
        const uint digit = (in[at + i] >> shift) & 63;
        out[next[l * 64 + digit]++] = in[at + i];
    }
}
"""
"""Each work-item places 64 elements by a digit of theirs, from where others have counted that they go."""


def test_what_is_scattered_by_data_goes_to_places_of_its_own():
    subject = baseline(subject_of(SCATTERED, device=DEVICE), SETTINGS)
    assert faulty(subject)
    found = survey(subject, SETTINGS)
    assert "pad-local" in {proof.proposal.kind for proof, _ in found.offers}


SIZED_BY_THE_BUILD = """\
#define AT(i) ((i) + (((uint)(i) >> min(4 + (uint)(i), 24u)) >> 8))

__kernel void sized(__global float *data)
{
    __local float s[SCRATCH];
    const uint l = get_local_id(0), n = get_local_size(0);
    s[AT(2 * l)] = data[get_global_id(0)];
    s[AT(2 * l + 1)] = 0.0f;
    for (uint d = 1; d < n; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n / d / 2)
            s[AT(2 * d * l + 2 * d - 1)] += s[AT(2 * d * l + d - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = s[AT(2 * l)];
}
"""
"""No build is known: `SCRATCH` is a guess, which a work-group of 256 needs 512 of."""


def test_local_arrays_of_a_guessed_length_are_as_long_as_the_groups_need():
    subject = baseline(subject_of(SIZED_BY_THE_BUILD, device=DEVICE, guesses=True), SETTINGS)
    assert faulty(subject)
    found = survey(subject, SETTINGS)
    padded = [proof for proof, _ in found.offers if proof.proposal.kind == "pad-local"]
    assert padded
    assert "-D SCRATCH=512" in {it.text for it in padded[0].proposal.assumptions}


WARP_WIDE = """\
__kernel void halved(__global const float *in, __global float *out, __local float *s, const int size)
{
    const int l = get_local_id(0), half_size = size / 2;
    s[l] = in[size * get_group_id(0) + l];
    s[l + half_size] = in[size * get_group_id(0) + l + half_size];
    __local float *t = s + size;
    t[l] = 2 * s[l];
    t[l + half_size] = 2 * s[l + half_size];
    for (int d = half_size; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[l] += t[l + d];
    }
    out[get_global_id(0)] = t[0] + l;
}
"""
"""Half a system a work-item; and the last sum is read without a barrier, which a warp may do without."""


def test_a_kernel_that_races_everywhere_is_cured_where_nothing_else_races():
    subject = baseline(subject_of(WARP_WIDE, device=DEVICE), SETTINGS)
    assert faulty(subject)
    cures = [proof for proof, _ in survey(subject, SETTINGS).offers if proof.proposal.cures is not None]
    assert [it.proposal.title for it in cures] == ["Add the missing barrier"]
    size = int(cures[0].launch.arguments["size"].values[0])
    assert size == 2 * cures[0].launch.local_size[0]


def test_a_given_launch_keeps_its_races():
    text = "// clmap: global=128 local=64 size=64 in=random(128) out=zeros(128) s=256\n" + WARP_WIDE
    subject = baseline(subject_of(text, device=DEVICE), SETTINGS)
    assert faulty(subject)
    assert all(proof.launch == subject.launch for proof, _ in survey(subject, SETTINGS).offers)


BLOCKS = """\
__kernel void blocks(__global const float *table, __global const float *a, __global float *y,
                     __local float *half_done, const uint width, const uint block)
{
    const uint i = get_local_id(0), j = get_local_id(1);
    float s = 0.0f;
    for (uint k = 0; k < block; k++)
        s += table[k * block + i] * a[(get_group_id(1) * block + k) * width + get_group_id(0) * block + j];
    half_done[j * block + i] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s = 0.0f;
    for (uint k = 0; k < block; k++)
        s += half_done[i * block + k] * table[k * block + j];
    y[get_global_id(1) * width + get_global_id(0)] = s;
}
"""
"""With blocks wider than work-groups it reads local elements that nobody stored."""


def test_a_launch_on_which_only_stored_elements_are_read_is_taken_instead():
    found = survey(baseline(subject_of(BLOCKS), SETTINGS), SETTINGS)
    assert found.offers
    for proof, _ in found.offers:
        assert str(proof.launch.arguments["block"]) == str(proof.launch.local_size[0])


SPARSE = """\
__kernel void scanned(__global const float *in, __global float *out, __local float *s, const uint length,
                      const uint apart)
{
    const int l = get_local_id(0), n = get_local_size(0);
    int at = get_group_id(0);
    at = apart * (2 * (at * n + l) + 1) - 1;
    if (at < length)
        s[2 * l] = in[at];
    if (at + apart < length)
        s[2 * l + 1] = in[at + apart];
    int d = 1;
    for (int pairs = length >> 1; pairs > 0; pairs >>= 1, d <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < pairs)
            s[d * (2 * l + 2) - 1] += s[d * (2 * l + 1) - 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (at < length)
        out[at] = s[2 * l];
    if (at + apart < length)
        out[at + apart] = s[2 * l + 1];
}
"""
"""All groups of a guess but one handle elements that are not there; of one element none makes the loop."""


def test_an_access_that_a_launch_never_makes_counts_as_none():
    opened = Workbench().open_text("k.cl", SPARSE, replace(Settings(), device="nvidia-hopper"))
    (kernel,) = opened.analysis.kernels
    settings = opened.emulation_settings()
    subject = baseline(opened.subject(kernel), settings)
    assert subject.emulation is not None
    assert FaultKind.UNINITIALISED_READ in {it.kind for it in subject.emulation.faults}
    found = survey(subject, settings)
    assert "pad-local" in {proof.proposal.kind for proof, _ in found.offers}


COLUMNS_OF_ROWS = """\
__kernel void rank_one(__global const float *x, __global const float *y, __global float *c, const int ldc)
{
    __local float ys[16];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int column = get_group_id(0) * 64 + ly * 16 + lx, row = get_group_id(1) * 16;
    if (ly == 0)
        ys[lx] = y[row + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++)
        if (x[column] != 0)
            c[(row + i) * ldc + column] += x[column] * ys[i];
}
"""
"""A row has four times as many columns as the launch is wide; how many, is guessed, as data may decide."""


def test_a_row_may_be_longer_than_the_launch_is_wide():
    text = f"// clmap: local=16,4\n{COLUMNS_OF_ROWS}"
    subject = baseline(subject_of(text), SETTINGS)
    assert faulty(subject)
    found = survey(subject, SETTINGS)
    assert not any("cure that first" in it.why for it in found.declined)
    assert any(proof.proposal.kind == "qualify-pointers" for proof, _ in found.offers)
