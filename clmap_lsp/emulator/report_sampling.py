"""What a sampled run says about its launch."""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.jit import JitRun
from clmap_lsp.emulator.result import Sampling
from clmap_lsp.emulator.sampling import shared_between_groups
from clmap_lsp.locality.parallel import psl_norm


def factor_of(job: JitRun) -> float:
    """Return by how much counts are scaled up to the launch: 1 but for samples."""
    if job.sample is None or not job.is_sampled:
        return 1.0
    traced = sum(it.executions for it in job.tallies.by_site.values())
    return job.sample.factor(traced, int(job.state.words[at.OPERATIONS_SEEN]))


def sampling_of(job: JitRun) -> Sampling | None:
    """Return the sample's size and errors; None for runs that are none."""
    if job.sample is None or not job.is_sampled:
        return None
    return job.sample.summary(psl_norm(job.launch.group_items, job.settings.definition))


def sampling_notes(job: JitRun) -> Iterator[str]:
    """Yield what the reader of a sampled run must know."""
    sample = job.sample
    if sample is None:
        return
    if not sample.is_enough:
        yield "too few of the sampled work-groups ended to estimate from: the figures hold for what ran"
        return
    left = len(sample.ids) - sample.ended
    limit = "" if job.stopped is None else f": {job.stopped.value} limit"
    early = f" ({left} more were drawn but not run to their end{limit})" if left else ""
    if job.settings.chosen_sample:
        yield "the whole launch takes more work or memory than its limits allow, so some of it was run"
    if not job.settings.watch_global:
        yield "the whole launch takes more than its memory limit: races on global memory were not looked for"
    yield (
        f"estimated from {sample.ended} of {sample.of} work-groups, drawn at random from equal parts{early}; "
        "counts are scaled up to the launch"
    )
    if job.settings.trace:
        yield (
            "footprint, entropies, outputs and faults are those of the sampled work-groups alone: the "
            "launch's footprint is at least as large, and so, as a rule, are its entropies"
        )
    shared = ", ".join(f"`{it}`" for it in shared_between_groups(job.code.plan))
    if shared:
        yield (
            f"the kernel reads and writes {shared}: what a work-group would have found there from others is "
            "missing from the sample"
        )
