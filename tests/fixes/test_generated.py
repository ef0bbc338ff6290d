"""For generated kernels, every rewrite that is verified keeps the outputs of a real OpenCL device."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from fixing import SETTINGS, subject_of
from generating import kernels
from hypothesis import event, given, settings
from running import context, outputs

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Rejected
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


@pytest.mark.pocl
@pytest.mark.skipif(context() is None, reason="PoCL is not installed")
@settings(max_examples=300 if THOROUGH else 12)
@given(kernels())
def test_verified_fixes_keep_the_outputs(text: str):
    subject = baseline(subject_of(text), SETTINGS)
    before = None
    for proposal in proposals(subject):
        # Small launches gain little; whether a rewrite is right does not depend on that.
        proof = verify(subject, replace(proposal, lowers_traffic=False, least_gain=0), SETTINGS)
        if isinstance(proof, Rejected):
            event(f"rejected: {proposal.kind}")
            continue
        event(f"verified: {proposal.kind}")
        if before is None:
            before = outputs(text, subject.analysis.kernel, subject.launch)
        after_text = apply(text, proposal.edits, "k.cl")
        after_kernel = read_program(after_text, "k.cl", BuildOptions()).kernel(subject.analysis.name)
        assert after_kernel is not None
        after = outputs(after_text, after_kernel, proof.after_launch)
        if proof.proposal.restore is not None:
            after = proof.proposal.restore(after)
        for name, data in before.items():
            if proof.proposal.reorders_sums:
                expected, found = data.view(np.float32), after[name].view(np.float32)
                np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=after_text)
            else:
                assert np.array_equal(data, after[name]), f"{proposal.title}: `{name}` differs\n{after_text}"
