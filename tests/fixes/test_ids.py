"""Global ids that kernels work out themselves, as CUDA's do."""

from __future__ import annotations

import pytest
from fixing import SETTINGS, offered, proposed, subject_of
from natively import all_of, natively_the_same

from clmap_lsp.fixes.ids import worked_out
from clmap_lsp.fixes.spelt_out import spelt_out
from clmap_lsp.fixes.trials import Trials

ROWS = """\
// clmap: global=128 local=32 rows=120 columns=40 in=random(4800) out=random(4800,1)
__kernel void rows(__global const float *in, __global float *out, const int rows, const int columns)
{
    int bid = get_group_id(0);
    int tid = get_local_id(0);
    const int threads = get_local_size(0);
    int gsz = get_global_size(0);
    const int row = bid * threads + tid;
    if (row < rows)
        for (int c = 0; c < columns; c++)
            out[row * columns + c] = in[row * columns + c] * 2;
}
"""
SPELLINGS = {
    "as it is": ROWS,
    "macro": ROWS.replace("= bid * threads + tid", "= THREAD_ID").replace(
        "__kernel", "#define THREAD_ID (bid * threads + tid)\n__kernel"
    ),
    "the other way round": ROWS.replace("bid * threads + tid;", "tid + threads * bid;"),
    "mul24": ROWS.replace("bid * threads + tid;", "mul24(bid, threads) + tid;"),
    "mad24": ROWS.replace("bid * threads + tid;", "(int)mad24(bid, threads, tid);"),
    "at once": ROWS.replace("bid * threads", "get_group_id(0) * get_local_size(0)"),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_kernel_with_such_an_id_is_one_that_knows_its_id(spelling: str):
    subject, proposals = all_of(SPELLINGS[spelling], "spread-loop")
    (proposal,) = proposals
    assert "get_global_offset(0) == 0" in {it.text for it in proposal.assumptions}
    natively_the_same(subject, proposal, Trials(subject, SETTINGS))


def test_what_it_was_worked_out_from_goes():
    ((text, fix),) = offered(ROWS, "spread-loop")
    assert "const int row = get_global_id(1);\n" in text
    assert "get_local_id" not in text and "bid = " not in text and "threads = " not in text
    assert "int gsz = get_global_size(0);" in text  # The author's own.
    assert "x less traffic" in fix.title


NONE = {
    "another dimension": ROWS.replace("get_local_id(0)", "get_local_id(1)"),
    "two groups' size": ROWS.replace("bid * threads", "2 * bid * threads"),
    "changed between": ROWS.replace("    const int row", "    tid = 3;\n    const int row"),
    "groups counted": ROWS.replace("threads = get_local_size(0)", "threads = get_num_groups(0)"),
}


@pytest.mark.parametrize("name", NONE)
def test_other_sums_are_no_ids(name: str):
    assert list(worked_out(subject_of(NONE[name]))) == []
    assert spelt_out(subject_of(NONE[name])) is None
    assert proposed(NONE[name], "spread-loop") == []


def test_the_group_is_still_known_where_it_is_needed():
    text = ROWS.replace("* 2;", "+ tid;")
    assert len(list(worked_out(subject_of(text)))) == 1
    assert proposed(text, "spread-loop") == []
