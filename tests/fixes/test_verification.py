"""What the verifier compares beside outputs: faults, each at its place."""

from dataclasses import replace

import fix_kernels as kernels
from fixing import SETTINGS, rejected, subject_of

from clmap_lsp.findings import Edit
from clmap_lsp.fixes.edits import Relocation, apply
from clmap_lsp.fixes.model import Proposal, Verified
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.source.span import Span

FAULTY = """// clmap: global=64 local=64 a=zeros(64) b=zeros(64)
__kernel void k(__global float *a, __global float *b)
{
    int i = get_global_id(0);
    float first = a[i + 1];
    float second = a[i];
    b[i] = first + second;
}
"""


def proposal(*changes: tuple[str, str]) -> Proposal:
    edits = []
    for before, after in changes:
        start = FAULTY.index(before)
        edits.append(Edit(Span("k.cl", start, start + len(before)), after))
    return Proposal("test", "test", tuple(edits), lowers_traffic=False, least_gain=0)


def test_a_fault_that_was_there_before_is_no_reason():
    subject = baseline(subject_of(FAULTY), SETTINGS)
    assert [it.kind.value for it in subject.emulation.faults] == ["out-of-bounds-read"]
    moved = proposal(("    int i", "    /* moved */\n    int i"), ("= first + second", "= second + first"))
    assert isinstance(verify(subject, moved, SETTINGS), Verified)
    rewritten = proposal(("a[i + 1]", "a[1 + i]"))
    assert isinstance(verify(subject, rewritten, SETTINGS), Verified)


def test_a_fault_of_a_known_kind_at_another_place_is_new():
    subject = baseline(subject_of(FAULTY), SETTINGS)
    elsewhere = proposal(("a[i];", "a[i + 2];"))
    assert "out-of-bounds-read" in rejected(subject, elsewhere)
    both = proposal(("a[i + 1]", "a[1 + i]"), ("a[i];", "a[i + 2];"))
    assert "out-of-bounds-read" in rejected(subject, both)


def test_where_text_is_after_edits():
    edits = (
        Edit(Span("k.cl", 4, 4), "xx"),
        Edit(Span("k.cl", 8, 10), ""),
        Edit(Span("other.cl", 0, 4), "y"),
    )
    text = "0123456789abcdef"
    after = apply(text, edits, "k.cl")
    moved = Relocation(edits, "k.cl")
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            now = moved.after(Span("k.cl", start, end))
            whole = not (start < 4 < end or (start < 10 and end > 8))
            assert (now is not None) == whole, (start, end)
            if now is not None:
                assert after[now.start : now.end] == text[start:end]
    assert moved.is_new(Span("k.cl", 4, 6)) and not moved.is_new(Span("k.cl", 6, 9))
    assert moved.after(replace(edits[2].span, end=2)) == Span("other.cl", 0, 2)


def test_what_was_not_counted_is_no_gain():
    subject = subject_of(kernels.MATMUL)
    known = baseline(subject, SETTINGS).figures
    assert known is not None and known.totals.complete
    unknown = replace(known, lines=0, totals=replace(known.totals, complete=False))
    assert not unknown.beats(known) and replace(known, lines=0).beats(known)


DRAWN = """// clmap: global=2048,2048 local=16,16
__kernel void draw(write_only image2d_t canvas, __global const float4 *cells)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(canvas, (int2)(x, y), cells[y * get_global_size(0) + x]);
}
"""


def test_an_image_that_nobody_gave_shrinks_with_the_launch():
    """A launch of a real size draws 4096x4096 texels: 256 MiB for each of some twenty small launches."""
    from clmap_lsp.fixes.family import family

    large = subject_of(DRAWN)
    assert large.launch.arguments["canvas"].sides == (2048, 2048)
    members = [it.case.launch for it in family(large)]
    assert members
    for launch in members:
        assert max(launch.arguments["canvas"].sides) <= 2 * max(launch.global_size)


def test_outputs_of_more_launches_than_fit_are_asked_for_again(monkeypatch):
    from clmap_lsp.fixes import trials

    monkeypatch.setattr(trials, "KEPT_BYTES", 1)
    subject = baseline(subject_of(FAULTY.replace("a[i + 1]", "a[i]")), SETTINGS)
    made = trials.Trials(subject, SETTINGS)
    member = made.members[0]
    one, two = made.before(member), made.before(member)
    assert one is not None and two is not None and one is not two
    monkeypatch.setattr(trials, "KEPT_BYTES", 1 << 20)
    assert made.before(member) is made.before(member)
