"""Table 4 of the paper: patterns and memories of eight kernels, from our own writing of them."""

from __future__ import annotations

import pytest
from nests import kernel, loop

from clmap_lsp.devices import load_model
from clmap_lsp.hierarchy.selection import Selection, select

# Function, patterns that the table lists, whether it lists temporal reuse, memories (texture is image, shared
# is local). `larger_sads`: the table says texture where the text of section 5.2 says that global is the only
# choice; both come out, for the array that is only read and for the array in place.
TABLE = [
    ("phi_magnitude", {"linear read", "linear write"}, False, {"global"}),
    ("compute_q", {"linear read", "linear write", "same address read"}, None, {"global", "constant"}),
    ("rho_phi", {"linear read", "linear write"}, False, {"global"}),
    ("compute_fh", {"linear read", "linear write", "same address read"}, None, {"global", "constant"}),
    ("coulomb_energy", {"non-unit stride write", "same address read"}, None, {"global", "constant"}),
    (
        "sad_4x4",
        {"linear read", "linear write", "random read"},
        True,
        {"global", "image", "local"},
    ),
    ("larger_sads", {"random read", "random write"}, None, {"global"}),
    ("clamp_particle", {"linear write", "random read"}, True, {"global", "image", "local"}),
]


def selections(name: str, device: str = "generic-gpu") -> dict[str, Selection]:
    return {it.array.name: it for it in select(loop("selection.c", name, device), load_model(device))}


@pytest.mark.parametrize(("name", "patterns", "reuse", "memories"), TABLE)
def test_row_of_the_table(name: str, patterns: set[str], reuse: bool | None, memories: set[str]) -> None:
    found = selections(name)
    assert patterns <= {pattern for it in found.values() for pattern in it.patterns}
    assert {it.memory.value for it in found.values()} == memories
    if reuse is not None:
        assert any(it.temporal_reuse for it in found.values()) is reuse


def test_what_is_only_read_at_random_goes_to_texture_as_the_table_says() -> None:
    found = selections("larger_sads_apart")
    assert found["smaller"].memory.value == "image"
    assert found["larger"].memory.value == "global"


def test_constant_memory_only_for_what_fits() -> None:
    text = """
    // clmap: global=1024 local=64 table=zeros({n}) out=zeros(1024)
    __kernel void f(__constant float *unused, __global const float *table, __global float *out)
    {{
        float sum = 0.0f;
        for (int k = 0; k < {n}; k++)
            sum += table[k];
        out[get_global_id(0)] = sum;
    }}"""
    device = load_model("nvidia-hopper")
    small, large = (select(kernel(text.format(n=n)), device) for n in (16384, 16385))
    assert small[0].memory.value == "constant"
    assert large[0].memory.value == "local"


def test_a_device_whose_caches_make_it_moot_says_so() -> None:
    cpu = selections("clamp_particle", "cpu")
    assert cpu["weights"].moot is not None
    assert "ordinary caches" in cpu["weights"].moot
    amd = selections("compute_q", "amd-cdna3")["samples"]
    assert amd.memory.value == "constant"
    assert amd.moot is not None
    hopper = selections("compute_q", "nvidia-hopper")["samples"]
    assert hopper.moot is not None and "measured" in hopper.moot
    assert selections("compute_q", "nvidia-pascal")["samples"].moot is None  # Nobody measured there.


def test_the_secondary_order_prefers_images_among_read_only_instances() -> None:
    text = """
    // clmap: global=1024 local=64 N=64 a=zeros(4096) at=permutation(1024) out=zeros(1024)
    __kernel void f(__global const float *a, __global const int *at, __global float *out, const int N)
    {
        const int i = get_global_id(0);
        float sum = a[at[i]];
        for (int k = 0; k < N; k++)
            sum += a[i + 16 * k];
        out[i] = sum;
    }"""
    found = {it.array.name: it for it in select(kernel(text), load_model("generic-gpu"))}
    assert {it.memory.value for it in found["a"].instances} == {"image", "local"}
    assert found["a"].memory.value == "image"
