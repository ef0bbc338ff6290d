"""For generated kernels, every rewrite that is verified keeps the outputs of a real OpenCL device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from fixing import CPU, DEVICE, PASCAL, SETTINGS, subject_of
from generating import kernels
from hypothesis import event, given, settings
from running import Version, context, outputs
from sweeps import THOROUGH, drawn

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Rejected, Subject, Verified
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

SEEN: Counter[str] = Counter()


@pytest.fixture(scope="module", autouse=True)
def _summary(request: pytest.FixtureRequest) -> Iterator[None]:
    """Print, after a thorough run, how many fixes of which kind there were."""
    yield
    if THOROUGH:
        manager = request.config.pluginmanager.getplugin("capturemanager")
        with manager.global_and_fixture_disabled():
            print("".join(f"\n{name}: {count}" for name, count in sorted(SEEN.items())))


@pytest.mark.pocl
@pytest.mark.skipif(context() is None, reason="PoCL is not installed")
@settings(max_examples=drawn(6, 300))
@given(kernels())
def test_verified_fixes_keep_the_outputs(text: str):
    _count("kernels")
    proofs = list(_proofs(text))
    subject = subject_of(text)
    found = outputs(
        [
            Version(text, subject.analysis.kernel, subject.launch),
            *(_version(text, subject, it) for it in proofs),
        ]
    )
    before = found[0]
    for proof, outcome in zip(proofs, found[1:], strict=True):
        proposal = proof.proposal
        restored = proposal.restored(subject.launch, outcome)
        after = {name: restored[name][: data.size] for name, data in before.items()}  # It may have grown.
        for name, data in before.items():
            message = f"{proposal.title}: `{name}` differs\n{apply(text, proposal.edits, 'k.cl')}"
            if proposal.reorders_sums:
                expected, values = data.view(np.float32), after[name].view(np.float32)
                np.testing.assert_allclose(values, expected, rtol=1e-4, err_msg=message)
            else:
                assert np.array_equal(data, after[name]), message


def _proofs(text: str) -> Iterator[Verified]:
    """Yield what is verified on a GPU, and the constants and loop orders that only others are offered."""
    emulation = None
    for device, kinds in ((DEVICE, None), (PASCAL, {"constant-data"}), (CPU, {"stride-order"})):
        known = replace(SETTINGS, device=device)
        subject = baseline(replace(subject_of(text, device=device), emulation=emulation), known)
        emulation = subject.emulation
        for proposal in proposals(subject):
            if kinds is not None and proposal.kind not in kinds:
                continue
            # Small launches gain little; whether a rewrite is right does not depend on that.
            proof = verify(subject, replace(proposal, lowers_traffic=False, least_gain=0), known)
            if isinstance(proof, Rejected):
                _count(f"rejected: {proposal.kind}")
            else:
                _count(f"verified: {proposal.kind}")
                yield proof


def _version(text: str, subject: Subject, proof: Verified) -> Version:
    after = apply(text, proof.proposal.edits, "k.cl")
    kernel = read_program(after, "k.cl", BuildOptions()).kernel(subject.analysis.name)
    assert kernel is not None
    return Version(after, kernel, proof.proposal.launched(subject.launch))


def _count(what: str) -> None:
    SEEN[what] += 1
    event(what)
