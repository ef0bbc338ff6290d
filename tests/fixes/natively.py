"""Rewrites of a kernel, whether they pay or not, and both versions run on PoCL."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import running
from fixing import SETTINGS, only, subject_of

from clmap_lsp.devices import load_model
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Proposal, Subject
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.verification import baseline
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

H200 = load_model("nvidia-h200")


@cache
def all_of(text: str, kind: str) -> tuple[Subject, list[Proposal]]:
    """Return every proposal of a kind, whether it pays or not."""
    subject = baseline(subject_of(text, device=H200), SETTINGS)
    with only(kind):
        mine = [it for it in proposals(subject) if it.kind == kind]
    return subject, [replace(it, lowers_traffic=False, by_time=False, least_gain=0.0) for it in mine]


def natively_the_same(subject: Subject, proposal: Proposal, trials: Trials) -> None:
    """Run both versions on PoCL, on launches of the family that fulfil what the rewrite assumes."""
    if running.context() is None:
        return
    after = apply(subject.text, proposal.edits, subject.path)
    kernel = read_program(after, subject.path, BuildOptions()).kernel(subject.analysis.name)
    assert kernel is not None
    fitting = [
        it.case
        for it in (trials.home_for(proposal.assumptions), *trials.members_for(proposal.assumptions))
        if not it.case.shared
        and it.case.options == subject.options
        and (it in trials.homes or trials.before(it) is not None)
    ]
    for case in fitting[:4]:
        launch = proposal.relaunch(case.launch) if proposal.relaunch else case.launch
        versions = (
            running.Version(subject.text, subject.analysis.kernel, case.launch),
            running.Version(after, kernel, launch),
        )
        before, rewritten = running.outputs(versions)
        for name, data in before.items():
            if proposal.reorders_sums:
                mine, other = data.view(np.float32), rewritten[name].view(np.float32)
                assert np.allclose(mine, other, rtol=1e-4, atol=1e-5, equal_nan=True), (name, case.launch)
            else:
                assert data.tobytes() == rewritten[name].tobytes(), (name, case.launch)
