"""A rewrite leaves nothing behind that has no use: neither a variable of a declaration nor a parameter."""

from __future__ import annotations

from fixing import SETTINGS, proposed, proved, subject_of

from benchmarks import awkward, clang
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.offer import proposals, survey

TEXTS = dict(awkward.kernels())
CHUNK = """\
// clmap: global=1024 local=64 in=random(16384) out=zeros(16384) n=16
__kernel void chunk(__global const float *in, __global float *out, const int n)
{
    const int id = get_global_id(0), start = id * n, end = start + n /* not n - 1 */;
    for (int i = 0; i < n; i++)
        out[start + i] = end > 0 ? 2.0f * in[start + i] : 0.0f;
}
"""
EVERY_OTHER = """\
// clmap: global=128 local=32 n=128 incx=1 incy=2 x=random(128) y=random(256,1) out=zeros(128)
__kernel void dot(int n, __global const float *x, int incx, __global const float *y, int incy,
                  __global float *out)
{
    const int i = get_global_id(0);
    if (i < n)
        out[i] = x[i * incx] * y[i * incy];
}
"""


def test_one_of_several_variables_goes() -> None:
    text = CHUNK.replace("end > 0 ? 2.0f * in[start + i] : 0.0f", "in[end - n + i]")
    ((subject, proposal),) = proposed(text, "stride-order")
    after, _ = proved(text, subject, proposal)
    assert "const int id = get_global_id(0);\n" in after
    assert "start" not in after and "end" not in after


def test_what_has_a_use_stays() -> None:
    found = proposed(CHUNK, "stride-order")
    for subject, proposal in found:
        after, _ = proved(CHUNK, subject, proposal)
        assert "end = start + n /* not n - 1 */;" in after and "start = id * n" in after


def test_a_parameter_that_would_be_idle_refuses_the_rewrite() -> None:
    subject = subject_of(EVERY_OTHER)
    idle = [it for it in proposals(subject) if "incy" not in _body(apply(EVERY_OTHER, it.edits, "k.cl"))]
    assert {it.kind for it in idle} == {"transpose-buffer"}
    found = survey(subject, SETTINGS)
    assert not {proof.proposal.title for proof, _ in found.offers} & {it.title for it in idle}
    assert any("`incy` would have no use" in it.why for it in found.declined)


def test_a_variable_that_a_macro_declares_refuses_it_too() -> None:
    text = TEXTS["ids worked out by a macro of two statements"]
    subject = subject_of(text)
    found = survey(subject, SETTINGS)
    assert any("the variable `i` would have no use" in it.why for it in found.declined)


def _body(text: str) -> str:
    return text[text.index("{") :]


def test_a_tree_counts_with_the_sign_of_the_ids_that_it_is_compared_with() -> None:
    text = """\
// clmap: global=256 local=64 in=random(256) out=zeros(4)
__kernel void tree(__global const float *in, __global float *out)
{
    __local float s[64];
    uint l = get_local_id(0);
    s[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < get_local_size(0); d <<= 1) {
        if (l % (2*d) == 0) s[l] += s[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) out[get_group_id(0)] = s[0];
}
"""
    for before, kind in (("uint l", "uint"), ("int l", "int")):
        found = proposed(text.replace("uint l", before), "tree-reduction")
        assert found
        for subject, proposal in found:
            after = apply(subject.text, proposal.edits, "k.cl")
            assert f"for ({kind} step = " in after
            assert not [it for it in clang.new_warnings(subject, after) if "sign" in it]
