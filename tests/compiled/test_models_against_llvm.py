"""What the models of AMD say of SIMD groups, local memory and wide accesses, asked of LLVM's back end."""

from __future__ import annotations

import re

import pytest

from clmap_lsp.compiled.backend import BackendError, assembly
from clmap_lsp.compiled.target import Target, target_of
from clmap_lsp.devices import DeviceModel, list_models

ASKED = [(it, target) for it in list_models() if it.vendor == "AMD" and (target := target_of(it)) is not None]

KERNEL = """\
target triple = "amdgcn-amd-amdhsa"
{before}
define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %i) {{
{body}
  ret void
}}
"""


def group_of(size: int) -> str:
    """Return a kernel whose work-group has some bytes of local memory."""
    return KERNEL.format(
        before=f"@l = internal addrspace(3) global [{size} x i8] undef, align 4",
        body=f"""\
  %p = getelementptr [{size} x i8], ptr addrspace(3) @l, i32 0, i32 %i
  store volatile i32 1, ptr addrspace(3) %p""",
    )


COPY = KERNEL.format(
    before="declare i32 @llvm.amdgcn.workitem.id.x()",
    body="""\
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %from = getelementptr <8 x float>, ptr addrspace(1) %a, i32 %id
  %to = getelementptr <8 x float>, ptr addrspace(1) %b, i32 %id
  %v = load <8 x float>, ptr addrspace(1) %from, align 32
  store <8 x float> %v, ptr addrspace(1) %to, align 32""",
)


def test_every_generation_of_amd_is_asked() -> None:
    assert {it.id for it, _ in ASKED} >= {"amd-gcn", "amd-cdna2", "amd-cdna3", "amd-cdna4", "amd-rdna2"}


@pytest.mark.parametrize(("model", "target"), ASKED, ids=lambda it: getattr(it, "id", ""))
def test_a_work_group_gets_as_much_local_memory_as_the_model_says(model: DeviceModel, target: Target) -> None:
    size = model.limits.local_bytes_per_group
    assert size is not None
    assert f".group_segment_fixed_size: {size}" in assembly(group_of(size), target).text
    with pytest.raises(BackendError, match="fatal error"):
        assembly(group_of(size + 4), target)


@pytest.mark.parametrize(("model", "target"), ASKED, ids=lambda it: getattr(it, "id", ""))
def test_the_widest_access_and_the_simd_group_are_those_of_the_model(
    model: DeviceModel, target: Target
) -> None:
    made = assembly(COPY, target).text
    widths = [int(it) for it in re.findall(r"\t(?:global|flat)_load_dwordx(\d)", made)]
    widths += [int(it) // 32 for it in re.findall(r"\t(?:global|flat)_load_b(\d+)", made)]
    assert [4 * it for it in widths] == [model.global_rule.max_access_bytes] * 2, widths
    assert f".wavefront_size: {model.simd_width}" in made
