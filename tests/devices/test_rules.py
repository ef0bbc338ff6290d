"""The counting rules of each vendor, on patterns worked out by hand and against slow, obvious counting."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.devices import BankedLocal, CachedLocal, PhaseRule, Unknown, list_models, load_model
from clmap_lsp.devices.catalogue import parse_phases
from clmap_lsp.devices.rules import (
    constant_passes,
    distinct_granules,
    global_sectors,
    ideal_sectors,
    ideal_wavefronts,
    local_wavefronts,
    pieces,
    requests,
    simd_groups,
)


def lanes(device):
    return np.arange(load_model(device).simd_width, dtype=np.int64)


def sectors(device, addresses, width=4, op="load", active=None):
    rows = np.atleast_2d(addresses)
    mask = np.ones(rows.shape, bool) if active is None else np.atleast_2d(active)
    got = global_sectors(rows, mask, width, load_model(device), op)
    return got if isinstance(got, Unknown) else got.tolist()[0]


def wavefronts(device, addresses, width=4, op="load", active=None):
    rows = np.atleast_2d(addresses)
    mask = np.ones(rows.shape, bool) if active is None else np.atleast_2d(active)
    model = load_model(device) if isinstance(device, str) else device
    got = local_wavefronts(rows, mask, width, op, model)
    return got if isinstance(got, Unknown) else got.tolist()[0]


# SIMD groups.


def test_simd_groups_are_runs_of_linear_ids():
    groups = simd_groups((5, 3, 3), load_model())
    assert groups.shape == (2, 32)
    assert groups.ravel()[:45].tolist() == list(range(45))
    assert (groups.ravel()[45:] == -1).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.sampled_from(list_models()))
def test_every_work_item_is_in_one_simd_group(local_size, device):
    groups = simd_groups(local_size, device)
    assert groups.shape[1] == device.simd_width
    assert sorted(groups[groups >= 0].tolist()) == list(range(int(np.prod(local_size))))
    assert (groups >= 0).any(axis=1).all()


# Global memory.


@given(
    st.lists(st.lists(st.integers(-300, 300), min_size=8, max_size=8), min_size=1, max_size=5),
    st.sampled_from([1, 2, 4, 8, 12, 16, 28, 64]),
    st.sampled_from([1, 32, 64, 128]),
    st.randoms(use_true_random=False),
)
def test_granules_are_those_of_the_touched_bytes(rows, width, granule, random):
    active = np.array([[random.random() < 0.7 for _ in row] for row in rows])
    by_hand = [
        len(
            {
                byte // granule
                for at, on in zip(row, mask, strict=True)
                if on
                for byte in range(at, at + width)
            }
        )
        for row, mask in zip(rows, active, strict=True)
    ]
    assert distinct_granules(np.array(rows, np.int64), active, width, granule).tolist() == by_hand


@pytest.mark.parametrize("rule", ["global", "local"])
def test_chunks_do_not_show(rule):
    device, rng = load_model(), np.random.default_rng(1)
    addresses = rng.integers(0, 4096, (70_000, 32)) * 4
    active = rng.random(addresses.shape) < 0.8

    def count(rows):
        if rule == "global":
            return global_sectors(addresses[rows], active[rows], 4, device)
        return local_wavefronts(addresses[rows], active[rows], 4, "load", device)

    some = np.array([0, 32_767, 32_768, 69_999])
    assert count(slice(None))[some].tolist() == count(some).tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["nvidia-hopper", "nvidia-kepler", "amd-cdna3", "intel-xe-hpg", "nvidia-fermi", "cpu"]),
    st.sampled_from([4, 8, 16, 20]),
    st.sampled_from(["load", "store"]),
    st.integers(0, 1 << 32),
)
def test_moved_copies_count_as_if_each_was_counted(name, width, op, seed):
    device, rng = load_model(name), np.random.default_rng(seed)
    patterns = rng.integers(-64, 64, (5, device.simd_width)) * 4
    masks = rng.random(patterns.shape) < 0.8
    which = rng.integers(0, 5, 600)
    addresses = patterns[which] + rng.integers(-9, 9, (600, 1)) * 64
    masks = masks[which]
    addresses[~masks] = rng.integers(
        -(1 << 40), 1 << 40, int((~masks).sum())
    )  # Inactive lanes do not matter.
    for rule in (
        lambda a, m: global_sectors(a, m, width, device, op, alignment=4),
        lambda a, m: local_wavefronts(a, m, width, op, device, alignment=4),
    ):
        at_once = rule(addresses, masks)
        singly = [rule(addresses[row : row + 1], masks[row : row + 1])[0] for row in range(0, 600, 13)]
        assert at_once[::13].tolist() == singly


def test_runs_of_four_under_floor_division():
    x = lanes("generic-gpu")
    assert sectors("generic-gpu", (x // 4 * 512 + x % 4) * 4) == 8
    assert wavefronts("generic-gpu", (x // 4 * 512 + x % 4) * 4) == 8
    assert sectors("generic-gpu", (x // 4 * 512 + x % 4) * 4, width=4, op="store") == 8


@pytest.mark.parametrize(
    ("divisor", "stride", "expected"), [(2, 1, 2), (8, 1, 1), (3, 1, 2), (2, 8, 16), (5, 16, 7)]
)
def test_strides_under_floor_division(divisor, stride, expected):
    x = lanes("generic-gpu")
    assert sectors("generic-gpu", x // divisor * stride * 4) == expected


def test_amd_counts_cache_lines_of_its_generation():
    walk = {device: lanes(device) * 4 for device in ("amd-gcn", "amd-cdna3", "amd-cdna4", "amd-rdna3")}
    assert sectors("amd-gcn", walk["amd-gcn"]) == 4  # 64 lanes x 4 bytes in lines of 64 bytes
    assert sectors("amd-cdna3", walk["amd-cdna3"]) == 2
    assert sectors("amd-rdna3", walk["amd-rdna3"]) == 1
    assert sectors("amd-cdna4", walk["amd-cdna4"], op="load") == 2
    assert sectors("amd-cdna4", walk["amd-cdna4"], op="store") == 4


def test_fermi_loads_lines_and_stores_sectors():
    spread = lanes("nvidia-fermi") * 32
    assert sectors("nvidia-fermi", spread, op="load") == 8
    assert sectors("nvidia-fermi", spread, op="store") == 32


def test_wide_accesses_are_split_where_the_guide_says_so_and_nothing_contradicts():
    shared_row = (lanes("nvidia-kepler") % 16) * 8  # Both half-warps read the same 128 bytes.
    assert sectors("nvidia-kepler", shared_row, width=8) == 8
    assert sectors("nvidia-hopper", shared_row, width=8) == 4
    assert "not settled" in sectors("nvidia-ampere", shared_row, width=8).reason
    assert sectors("nvidia-ampere", lanes("nvidia-ampere") * 8, width=8) == 8  # Split or not, the same.


def test_no_active_lane_costs_nothing():
    for model in list_models():
        idle = np.zeros((3, model.simd_width), bool)
        addresses = np.zeros(idle.shape, np.int64)
        for got in (
            global_sectors(addresses, idle, 4, model),
            local_wavefronts(addresses, idle, 4, "load", model),
            constant_passes(addresses, idle, 4, model),
        ):
            assert isinstance(got, Unknown) or got.tolist() == [0, 0, 0]
        assert requests(idle).tolist() == [0, 0, 0]


def test_elements_wider_than_an_instruction_are_taken_in_pieces():
    gpu, cpu = load_model(), load_model("cpu")
    assert pieces(64, gpu) == ((0, 16), (16, 16), (32, 16), (48, 16))
    assert pieces(28, gpu, alignment=4) == tuple((at, 4) for at in range(0, 28, 4))
    assert pieces(28, gpu, alignment=16) == ((0, 16), (16, 8), (24, 4))
    assert pieces(12, gpu, alignment=16) == ((0, 8), (8, 4))
    assert pieces(12, gpu) == ((0, 4), (4, 4), (8, 4))
    assert pieces(64, cpu) == ((0, 64),)
    assert (
        sectors("generic-gpu", lanes("generic-gpu") * 32, width=32) == 64
    )  # Two instructions, 32 sectors each.
    assert wavefronts("generic-gpu", lanes("generic-gpu") * 12, width=12) == 3


# Local memory.


def slow_degree(device, addresses, active, width, op):
    """Count passes lane by lane, phase by phase, for devices that do not merge."""
    rule = device.local_rule
    phases = (rule.load_phases if op == "load" else rule.store_phases)[max(width, 4)]
    total = 0
    for group in phases.groups or [tuple(range(len(addresses)))]:
        touched = [
            (word // (rule.banks * rule.rows_joined), word % rule.banks)
            for lane in group
            if active[lane]
            for word in range(
                addresses[lane] // rule.bank_bytes, (addresses[lane] + width - 1) // rule.bank_bytes + 1
            )
        ]
        kept = touched if op == "store" and not rule.same_word_store_free else set(touched)
        per_bank = Counter(bank for _, bank in kept)
        total += max(per_bank.values(), default=0) + (phases.extra if touched else 0)
    return total


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(
        ["nvidia-fermi", "amd-cdna2", "amd-cdna3", "amd-cdna4", "amd-rdna3", "amd-rdna4", "intel-xe-hpc"]
    ),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from(["load", "store"]),
    st.integers(0, 1 << 32),
)
def test_passes_are_those_of_counting_lane_by_lane(name, width, op, seed):
    device = load_model(name)
    rng = np.random.default_rng(seed)
    addresses = rng.integers(0, 256, (3, device.simd_width)) * width
    active = rng.random(addresses.shape) < 0.8
    got = local_wavefronts(addresses, active, width, op, device)
    phases = (device.local_rule.load_phases if op == "load" else device.local_rule.store_phases)[
        max(width, 4)
    ]
    if isinstance(phases, Unknown):
        assert isinstance(got, Unknown)
    else:
        by_hand = [
            slow_degree(device, *row, width, op) for row in zip(addresses.tolist(), active, strict=True)
        ]
        assert got.tolist() == by_hand


def slow_hopper(addresses, active, width):
    """Count passes as an H200's counters showed them: halves or quarters, merged where neighbours agree."""

    def degree(group):
        words = {
            word
            for lane in group
            if active[lane]
            for word in range(addresses[lane] // 4, (addresses[lane] + width - 1) // 4 + 1)
        }
        return max(Counter(word % 32 for word in words).values(), default=0)

    def agree(group, distance):
        on = [lane for lane in group if active[lane] and active[lane ^ distance]]
        return all(addresses[lane] == addresses[lane ^ distance] for lane in on)

    size = {8: 16, 16: 8}.get(width, 32)
    if size == 32:
        return degree(range(32))
    total = 0
    for start in range(0, 32, 2 * size):
        both = range(start, start + 2 * size)
        if agree(both, 1) or agree(both, 2):
            total += degree(both)
        else:
            total += degree(both[:size]) + degree(both[size:])
    return total


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from(["i", "i//2", "i//4*4+i%2", "i//16*16+i%16//2", "i*5%32", "7+0*i", "i%16", "random"]),
    st.sampled_from([1.0, 0.8, 0.2]),
    st.integers(0, 1 << 32),
)
def test_hopper_merges_as_the_counters_showed(width, pattern, share, seed):
    rng = np.random.default_rng(seed)
    names = {"i": np.arange(32), "random": rng.integers(0, 64, 32)}
    index = eval(pattern, names) + rng.integers(0, 9)
    active = rng.random(32) < share
    got = wavefronts("nvidia-hopper", index * width, width, active=active)
    assert got == slow_hopper((index * width).tolist(), active, width)


def test_cdna3_reads_128_bits_in_groups_that_are_not_contiguous():
    # The operand tile of a 16 x 16 matrix instruction: lane l reads 16 bytes at row l % 16 of a tile whose
    # rows are 64 bytes apart, column l / 16. Phases of lanes 0-7, 8-15, ... would put 4 rows on each bank.
    lane = lanes("amd-cdna3")
    tile = lane % 16 * 64 + lane // 16 * 16
    device = load_model("amd-cdna3")
    rule = device.local_rule
    contiguous = replace(rule, load_phases={**rule.load_phases, 16: PhaseRule(parse_phases("8 x 8"))})
    assert wavefronts(replace(device, local_rule=contiguous), tile, width=16) == 32
    assert wavefronts("amd-cdna3", tile, width=16) == 16
    assert wavefronts("amd-cdna3", tile, width=16, op="store") == 32  # Writes are contiguous.
    assert wavefronts("amd-cdna3", lane * 16, width=16) == 8


def test_cdna4_has_sixty_four_banks():
    lane = lanes("amd-cdna4")
    assert wavefronts("amd-cdna4", lane * 4) == 1
    assert wavefronts("amd-cdna3", lane * 4) == 2
    assert wavefronts("amd-cdna4", lane * 128) == 32
    assert wavefronts("amd-cdna4", lane * 256) == 64
    assert isinstance(wavefronts("amd-cdna4", lane * 16, width=16, op="store"), Unknown)


def test_sixty_four_lanes_on_one_bank():
    assert wavefronts("amd-gcn", lanes("amd-gcn") * 128) == 64
    assert wavefronts("amd-gcn", lanes("amd-gcn") * 0) == 2  # One word, but two phases.


def test_intel_stores_conflict_even_at_one_address():
    same = lanes("intel-xe-hpg") * 0
    assert wavefronts("intel-xe-hpg", same, op="load") == 1
    assert wavefronts("intel-xe-hpg", same, op="store") == 16
    assert wavefronts("nvidia-hopper", lanes("nvidia-hopper") * 0, op="store") == 1
    walk = lanes("intel-xe-hpg") * 4
    assert wavefronts("intel-xe-hpg", walk, op="store") == 1
    assert wavefronts("intel-xe-hpg", walk // 2, op="store", width=2) == 2  # Two halves of a word each.
    wide = replace(load_model("intel-xe-hpg"), simd_width=32)
    assert wavefronts(wide, np.arange(32) * 4) == 2  # 16 banks.
    assert isinstance(wavefronts("intel-xe-hpg", walk * 2, width=8), Unknown)


def test_kepler_serves_two_rows_of_one_segment_together():
    walk = lanes("nvidia-kepler")
    assert wavefronts("nvidia-kepler", walk * 8) == 1  # Stride of two words: i and i + 32 share a row.
    assert wavefronts("nvidia-maxwell", walk * 8) == 2
    assert wavefronts("nvidia-kepler", walk * 16) == 2
    assert wavefronts("nvidia-kepler-64bit-banks", walk * 8) == 1
    assert wavefronts("nvidia-kepler-64bit-banks", walk // 2 * 8 + walk % 2 * 4) == 1


def test_fermi_adds_a_pass_to_every_quarter_warp_of_128_bit_accesses():
    assert wavefronts("nvidia-fermi", lanes("nvidia-fermi") * 16, width=16) == 8
    assert wavefronts("nvidia-hopper", lanes("nvidia-hopper") * 16, width=16) == 4


def test_merging_needs_the_whole_warp_on_volta_and_half_of_it_on_hopper():
    lane = lanes("nvidia-volta")
    pairs = lane // 2 * 16
    assert wavefronts("nvidia-volta", pairs, width=16) == wavefronts("nvidia-hopper", pairs, width=16) == 2
    half = np.where(lane < 16, lane // 2, lane) * 16  # Pairs in the lower half-warp only.
    assert wavefronts("nvidia-hopper", half, width=16) == 3
    assert wavefronts("nvidia-volta", half, width=16) == 4
    assert isinstance(wavefronts("nvidia-ampere", pairs, width=16), Unknown)
    assert wavefronts("nvidia-ampere", lane * 16, width=16) == 4  # No lanes share an address.


def test_cpus_and_mali_have_no_banks():
    for name in ("cpu", "arm-mali-valhall"):
        device = load_model(name)
        assert isinstance(device.local_rule, CachedLocal) and device.has_scratchpad is False
        assert wavefronts(name, lanes(name) * 64) == device.simd_width
        assert wavefronts(name, lanes(name) * 4) == 1


def test_what_is_not_published_is_unknown():
    for name in ("apple-m1", "qualcomm-adreno"):
        for got in (sectors(name, lanes(name)), wavefronts(name, lanes(name))):
            assert isinstance(got, Unknown) and "not published" in got.reason.replace("has not", "is not")
    assert "gfx942" in wavefronts("amd-gcn", lanes("amd-gcn") * 16, width=16).reason


# Constant memory, ideals, summaries.


def constants(device, addresses, width=4):
    rows = np.atleast_2d(addresses)
    return constant_passes(rows, np.ones(rows.shape, bool), width, load_model(device)).tolist()[0]


def test_constant_memory_by_vendor():
    assert constants("nvidia-hopper", lanes("nvidia-hopper") // 8 * 4) == 4
    assert constants("amd-cdna3", lanes("amd-cdna3") * 0) == 1
    assert constants("amd-cdna3", lanes("amd-cdna3") * 4) == 2
    assert constants("intel-xe-hpg", lanes("intel-xe-hpg") * 4) == 1
    assert constants("cpu", lanes("cpu") * 64) == 8


def test_ideals():
    gpu = load_model()
    assert ideal_sectors(np.array([0, 1, 9, 32]), 4, gpu).tolist() == [0, 1, 2, 4]
    assert ideal_sectors(32, 16, gpu).tolist() == [16]
    assert ideal_wavefronts(np.array([0, 1, 32]), 4, gpu).tolist() == [0, 1, 1]
    assert ideal_wavefronts(32, 16, gpu).tolist() == [4]
    assert ideal_wavefronts(32, 64, gpu).tolist() == [16]
    assert ideal_wavefronts(64, 4, load_model("amd-cdna3")).tolist() == [2]
    assert isinstance(ideal_sectors(1, 4, load_model("apple-m1")), Unknown)
    assert isinstance(ideal_wavefronts(1, 4, load_model("apple-m1")), Unknown)


@given(st.integers(1, 32), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from(["load", "store"]))
def test_a_packed_walk_is_ideal(n_active, width, op):
    gpu, lane = load_model(), lanes("generic-gpu")
    active = lane < n_active
    assert (
        sectors("generic-gpu", lane * width, width, op, active) == ideal_sectors(n_active, width, gpu, op)[0]
    )
    assert (
        wavefronts("generic-gpu", lane * width, width, op, active)
        == ideal_wavefronts(n_active, width, gpu, op)[0]
    )


def test_banked_rules_have_phases_for_every_width():
    for model in list_models():
        rule = model.local_rule
        if isinstance(rule, BankedLocal):
            for phases in (*rule.load_phases.values(), *rule.store_phases.values()):
                if isinstance(phases, PhaseRule) and phases.groups:
                    assert sorted(sum(phases.groups, ())) == list(range(model.simd_width))
