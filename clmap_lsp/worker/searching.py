"""The search for the best version of one kernel: the task behind the editor's "Optimise this kernel…"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from clmap_lsp.findings import Edit
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.limits import in_the_way
from clmap_lsp.fixes.optimise import Watcher, optimise
from clmap_lsp.source.span import Span
from clmap_lsp.worker.messages import Optimised, Region, VersionStep

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.optimise import Found, Notes, Step
    from clmap_lsp.workbench import OpenedFile


def searched(
    opened: OpenedFile,
    kernel: str,
    budget_s: float,
    progress: Callable[[str, float | None], None],
    notes: Notes,
    improved: Callable[[Optimised], None],
) -> Optimised:
    """Return the best version that was found within the budget (processor seconds).

    Args:
        notes: what earlier searches learnt; added to.
        improved: takes what is best so far, whenever that changes.
    Raises: LaunchError if the launch cannot be run.
    """
    analysis = opened.analysis.kernel(kernel)
    assert analysis is not None, "a task speaks of a kernel of its file"
    subject = opened.subject(analysis)
    watcher = Watcher(progress, lambda found: improved(_optimised(subject, found)))
    settings = opened.emulation_settings()
    found = optimise(subject, settings, budget_s=budget_s, watcher=watcher, notes=notes)
    return _optimised(subject, found)


def _optimised(subject: Subject, found: Found) -> Optimised:
    first, last = found.steps[0], found.steps[-1]
    edit = _edit(subject, last.text)
    kernel = subject.analysis.span
    touched = Span(kernel.path, min(kernel.start, edit.span.start), max(kernel.end, edit.span.end))
    return Optimised(
        steps=tuple(_step(it) for it in found.steps),
        edit=edit,
        region=Region.of(touched, subject.text),
        gained=gain.words(first.figures, last.figures),
        in_the_way="" if last.figures.time is None else in_the_way(last.figures.time),
        n_versions=found.n_versions,
        complete=found.complete,
    )


def _step(step: Step) -> VersionStep:
    fix, time = step.fix, step.figures.time
    evidence: Mapping[str, Any] = (fix.verified if fix is not None else None) or {}
    return VersionStep(
        title="as it is" if fix is None else fix.title,
        seconds=step.figures.seconds,
        bound="" if time is None else time.bound,
        assumptions=() if fix is None else fix.assumptions,
        host_change="" if fix is None else fix.host_change or "",
        tested_on=tuple(map(str, evidence.get("tested_on", ()))),
    )


def _edit(subject: Subject, after: str) -> Edit:
    """Return the one edit that makes another text of a file: of all between what both begin and end with."""
    before = subject.text
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    return Edit(Span(subject.path, start, len(before) - same), after[start : len(after) - same])


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)
