"""Search for the best version of a kernel: rewrites, one after the other, and work-group sizes.

A beam search: of each round's versions the few best are rewritten further, until none gets better, the
versions to look at are used up, or the time is. Every step was tested as any fix is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.ladder import rewritten_subject, text_after
from clmap_lsp.fixes.model import Proposal, Verified
from clmap_lsp.fixes.offer import fix_of, offers
from clmap_lsp.fixes.predict import figures_before
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.launch.model import LocalArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Subject
    from clmap_lsp.launch.model import Launch

BEAM = 3
"""Versions of a round that are rewritten further."""
ROUNDS = 6
GROUP_SIZES = {
    1: ((64,), (128,), (256,), (512,)),
    2: ((16, 16), (32, 8), (32, 16), (8, 32), (64, 4), (32, 32)),
    3: ((8, 8, 4), (32, 4, 2)),
}
"""Tried where the kernel does not ask for one of its own, by the number of dimensions."""


@dataclass(frozen=True, slots=True)
class Step:
    """A version: what made it out of the one before (nothing for the first), its text, launch and figures."""

    text: str
    launch: Launch
    figures: Figures
    fix: Fix | None = None
    proof: Verified | None = None


@dataclass(frozen=True, slots=True)
class _Version:
    subject: Subject
    steps: tuple[Step, ...]

    @property
    def figures(self) -> Figures:
        return self.steps[-1].figures


@dataclass(frozen=True, slots=True)
class Found:
    """The way to the best version, the original first, and how much was looked at."""

    steps: tuple[Step, ...]
    n_versions: int
    complete: bool
    """False where the budget ended the search."""


def optimise(
    subject: Subject,
    settings: EmulationSettings,
    *,
    budget_s: float,
    progress: Callable[[str], None] = lambda _: None,
) -> Found:
    """Return the best version that was found within the budget (seconds), by `gain.ratio`.

    Raises: LaunchError if the launch cannot be run.
    """
    end = time.monotonic() + budget_s
    subject = baseline(subject, settings)
    first = _Version(subject, (Step(subject.text, subject.launch, figures_before(subject)),))
    best, beam = first, [first]
    seen = {_key(subject)}
    for _ in range(ROUNDS):
        made: list[_Version] = []
        for version in beam:
            for verified, fix in _steps(version.subject, settings):
                after = _after(version, verified, fix)
                if after is None or _key(after.subject) in seen:
                    continue
                seen.add(_key(after.subject))
                made.append(after)
                progress(fix.title)
                if time.monotonic() > end:
                    return Found(min([best, *made], key=_rank).steps, len(seen), complete=False)
        if not made:
            break
        beam = sorted(made, key=_rank)[:BEAM]
        if gain.ratio(best.figures, beam[0].figures) > 1:
            best = beam[0]
    return Found(best.steps, len(seen), complete=True)


def _rank(version: _Version) -> tuple[int, int, int]:
    return version.figures.cost, version.figures.requests, len(version.steps)


def _key(subject: Subject) -> tuple[object, ...]:
    return subject.text, subject.launch.global_size, subject.launch.local_size


def _steps(subject: Subject, settings: EmulationSettings) -> Iterator[tuple[Verified, Fix]]:
    """Yield what can be done to a version next: rewrites that gain, and other work-group sizes."""
    for verified, fix in offers(subject, settings):
        gains = verified.after.beats(verified.before)
        if fix.safety is not FixSafety.DISPLAY and gains and verified.proposal.lowers_traffic:
            yield verified, fix
    for proposal in _other_groups(subject):
        try:
            outcome = verify(subject, proposal, settings)
        except LaunchError:
            continue
        if isinstance(outcome, Verified):
            yield outcome, fix_of(subject, outcome)


def _other_groups(subject: Subject) -> Iterator[Proposal]:
    """Yield work-group sizes for kernels without local memory, whose arrays are as long as a group."""
    kernel, launch = subject.analysis.kernel, subject.launch
    if kernel.attributes.reqd_work_group_size is not None:
        return
    own = any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables)
    if own or any(isinstance(it, LocalArgument) for it in launch.arguments.values()):
        return
    limit = subject.device.limits.max_work_group_size or 256
    for size in GROUP_SIZES.get(len(launch.global_size), ()):
        items = 1
        for length in size:
            items *= length
        fits = all(g % x == 0 for g, x in zip(launch.global_size, size, strict=True))
        if size == launch.local_size or items > limit or not fits:
            continue
        text = "x".join(map(str, size))
        yield Proposal(
            "group-size",
            f"Launch in work-groups of {text}",
            (),
            relaunch=lambda launch, size=size: replace(launch, local_size=size),  # type: ignore[misc]
            host_change=f"launch in work-groups of {text}",
        )


def _after(version: _Version, verified: Verified, fix: Fix) -> _Version | None:
    subject = rewritten_subject(version.subject, verified, fix)
    if subject is None:
        return None
    step = Step(text_after(version.subject, fix), verified.after_launch, verified.after, fix, verified)
    return _Version(subject, (*version.steps, step))
