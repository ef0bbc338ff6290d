"""From a kernel to the fixes that are worth offering."""

from __future__ import annotations

import importlib
import logging
import math
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.findings import Edit, Fix
from clmap_lsp.fixes import facts, gain
from clmap_lsp.fixes.allowance import Allowance, SpentError
from clmap_lsp.fixes.callers import Use, use_of
from clmap_lsp.fixes.copies import read_in_place
from clmap_lsp.fixes.defined import on_better_launch, on_defined_launch
from clmap_lsp.fixes.kinds import group_shape
from clmap_lsp.fixes.macros import general
from clmap_lsp.fixes.model import Figures, Larger, Propose, Rejected, Verified
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.fixes.spelt_out import SpeltOut, spelt_out
from clmap_lsp.fixes.trials import Trials
from clmap_lsp.fixes.unused import without_unused
from clmap_lsp.fixes.verification import baseline, verify
from clmap_lsp.launch.comment import pinned, resized
from clmap_lsp.launch.model import Origin
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.launch.resolve import as_comment, changed_sizes
from clmap_lsp.source.embedded import is_host
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Proposal, Subject
    from clmap_lsp.launch.model import Launch

_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:if|el|endif|define|undef)", re.MULTILINE)
"""Text that is there in some builds only, or that macros change their meaning in, is not written anew."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of rewrite that broke on a kernel: a bug of ours."""

    kind: str
    error: str


NOTHING = "nothing in the kernel fits"
UNTRIED = "not tried: others took the work that the rewrites of a kernel may; a larger time limit gives more"
UNDEFINED = frozenset(
    {
        FaultKind.OUT_OF_BOUNDS_READ,
        FaultKind.OUT_OF_BOUNDS_WRITE,
        FaultKind.DATA_RACE,
        FaultKind.BARRIER_DIVERGENCE,
    }
)
"""Faults after which the outputs are not what the author meant."""


@cache
def kinds() -> tuple[Propose, ...]:
    """Return every kind of rewrite: the `propose` of each module in `kinds/`, by file name."""
    from clmap_lsp.fixes import kinds as package

    names = sorted(it.name for it in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{it}").propose for it in names)


def _name(kind: Propose) -> str:
    return kind.__module__.rpartition(".")[2].replace("_", "-")


def proposals(
    subject: Subject, failed: list[Failure] | None = None, *, every_shape: bool = False
) -> Iterator[Proposal]:
    """Yield every rewrite whose preconditions hold in the source.

    What macros and names hide is looked for with those spelt out, too (`spelt_out`). A kind that fails takes
    neither the others nor what it proposed before: it is noted in `failed`, and raises only where that is not
    given.

    Args:
        every_shape: all shapes of work-groups, uncounted, for who counts them himself.
    """
    use = use_of(subject)
    if use is Use.CALLED:
        return
    asked = tuple(group_shape.shapes if every_shape and it is group_shape.propose else it for it in kinds())
    found: set[tuple[str, str]] = set()
    for proposal in _proposals(subject, failed, asked):
        if _may_be_made(subject, proposal, use):
            found.add((proposal.kind, proposal.title))
            yield proposal
    for open_ in _readings(subject, failed):
        is_alike = open_.subject.analysis.kernel.n_sites == subject.analysis.kernel.n_sites
        for proposal in _proposals(open_.subject, failed, asked):
            if (proposal.kind, proposal.title) in found:
                continue
            typed = open_.typed(proposal)
            if typed is not None and _may_be_made(subject, typed, use):
                yield typed if is_alike else replace(typed, sites=frozenset())


def _readings(subject: Subject, failed: list[Failure] | None) -> Iterator[SpeltOut]:
    """Yield the subject as it reads with macros and names spelt out, and without copies of arrays."""
    for kind, reading in (("spelt-out", spelt_out), ("read-in-place", read_in_place)):
        try:
            found = reading(subject)
        except Exception as error:
            if failed is None:
                raise
            failed.append(Failure(kind, repr(error)))
            continue
        if found is not None:
            yield found


def _proposals(
    subject: Subject, failed: list[Failure] | None, asked: tuple[Propose, ...]
) -> Iterator[Proposal]:
    wide = general(subject)
    scope = Scope.of(wide.subject)
    for propose in asked:
        try:
            for proposal in propose(wide.subject):
                typed = wide.typed(proposal if scope is None else without_unused(scope, proposal))
                if typed is not None:
                    yield typed
        except Exception as error:
            if failed is None:
                raise
            failed.append(Failure(_name(propose), repr(error)))


def _may_be_made(subject: Subject, proposal: Proposal, use: Use) -> bool:
    """True if no edit takes in directives, nor parameters that a declaration repeats or the kernel sets."""
    if use is Use.DECLARED and _of_parameters(subject, proposal):
        return False
    changing = () if proposal.in_place else _set_parameters(subject)
    if any(_says_more_often(subject, it, name) for name in changing for it in proposal.edits):
        return False
    return not any(_CONDITION.search(subject.text, it.span.start, it.span.end) for it in proposal.edits)


def _set_parameters(subject: Subject) -> set[str]:
    """Return the parameters whose names stand for other values as well: the kernel sets them."""
    kernel = subject.analysis.kernel
    return {it.name for it in kernel.parameters} & set(facts.set_names(kernel.body))


def _says_more_often(subject: Subject, edit: Edit, name: str) -> bool:
    """True if an edit puts in a name where none was: what it stands for there nobody has looked at."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    before = subject.text[edit.span.start : edit.span.end]
    return len(word.findall(edit.text)) > len(word.findall(before))


def _of_parameters(subject: Subject, proposal: Proposal) -> bool:
    """True if a rewrite edits the kernel's parameters, so that declarations elsewhere no longer agree."""
    spans = [it.span for it in subject.analysis.kernel.parameters if it.span.path == subject.path]
    if not spans:
        return False
    start, end = min(it.start for it in spans), max(it.end for it in spans)
    return any(it.span.start < end and it.span.end > start for it in proposal.edits)


@dataclass(frozen=True, slots=True)
class Declined:
    """A kind of rewrite that is not offered, and why."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything on offer for a kernel, the best first, and what is not."""

    offers: tuple[tuple[Verified, Fix], ...]
    declined: tuple[Declined, ...]


def survey(subject: Subject, settings: EmulationSettings) -> Survey:
    """Return every rewrite of a kernel, and for each kind that is not among them the reason.

    Raises: LaunchError if the launch cannot be run.
    """
    subject = baseline(_bounded(subject, settings), settings)
    found: list[tuple[Verified, Fix]] = []
    declined: list[Declined] = []
    for outcome in _outcomes(subject, settings):
        if isinstance(outcome, Verified):
            found.append((outcome, fix_of(subject, outcome)))
        else:
            declined.append(outcome)
    known = {it.proposal.kind for it, _ in found} | {it.kind for it in declined}
    reason = ""
    if Scope.of(subject) is None:
        reason = "braces or statements of the kernel come out of macros: write them out to get rewrites"
        if is_host(subject.path):
            reason = "the kernel's lines are strings of a host file: in a file of its own it gets rewrites"
    elif use_of(subject) is Use.CALLED:
        reason = "another function calls the kernel, and would be rewritten with it: have both call a third"
    declined += (Declined(_name(it), reason or _missing(it)) for it in kinds() if _name(it) not in known)
    found.sort(key=lambda it: gain.rank(*it))
    return Survey(tuple(found), tuple(declined))


def _missing(kind: Propose) -> str:
    """Return what a kind of rewrite looked for in vain."""
    needs = getattr(importlib.import_module(kind.__module__), "NEEDS", "")
    return f"{NOTHING}: it takes {needs}" if needs else NOTHING


def offers(subject: Subject, settings: EmulationSettings) -> Iterator[tuple[Verified, Fix]]:
    """Yield the rewrites that the emulator showed right, as fixes; none where the launch cannot be run.

    A kernel whose results are undefined on the launch gets only fixes of its faults.
    """
    try:
        subject = baseline(_bounded(subject, settings), settings)
    except LaunchError:
        return
    for outcome in _outcomes(subject, settings):
        if isinstance(outcome, Verified):
            yield outcome, fix_of(subject, outcome)


def _bounded(subject: Subject, settings: EmulationSettings) -> Subject:
    """Return a subject whose rewrites have the allowance of its settings, unless it was given one."""
    if subject.allowance.left < math.inf:
        return subject
    return replace(subject, allowance=Allowance.of(settings))


def faulty(subject: Subject) -> bool:
    """True if the kernel's outputs on its launch are not what the author meant."""
    return subject.emulation is not None and any(it.kind in UNDEFINED for it in subject.emulation.faults)


def _outcomes(subject: Subject, settings: EmulationSettings) -> Iterator[Verified | Declined]:
    """Yield what became of each proposal for a subject that has its emulation.

    Where the results are undefined on its launch, only fixes of the faults can be held against it; the
    others are looked for on a launch that the kernel bears, if what this one is made of are guesses. Where it
    races on all, what cures it is looked for on the one with the fewest races.
    """
    if not faulty(subject):
        yield from _tried(_that_is_stored(subject, settings), settings, lambda _: None)
        return
    other = on_better_launch(subject, settings)
    if other is not None and not faulty(other):
        yield from _tried(subject, settings, lambda it: "" if it.cures is None else None)
        yield from _tried(other, settings, lambda it: "" if it.cures is not None else None)
        return
    cure = "the kernel's results are undefined on this launch: cure that first, or give another launch"
    yield from _tried(other or subject, settings, lambda it: cure if it.cures is None else None)


def _that_is_stored(subject: Subject, settings: EmulationSettings) -> Subject:
    """Return the subject on a launch nearby on which it reads only what was stored, if there is one.

    It may read more and make nothing of it, so that its own launch will do.
    """
    faults = () if subject.emulation is None else subject.emulation.faults
    if any(it.kind is FaultKind.UNINITIALISED_READ for it in faults):
        return on_defined_launch(subject, settings) or subject
    return subject


def _tried(
    subject: Subject, settings: EmulationSettings, left_out: Callable[[Proposal], str | None]
) -> Iterator[Verified | Declined]:
    """Yield what became of each proposal; of those that are left out the reason, unless that is empty."""
    chosen: set[str] = set()
    trials = Trials(subject, settings)
    failed: list[Failure] = []
    for proposal in _small_first(subject, proposals(subject, failed)):
        if proposal.choice in chosen:
            continue
        reason = left_out(proposal)
        if reason is not None:
            if reason:
                yield Declined(proposal.kind, reason)
            continue
        try:
            outcome = _verified(subject, proposal, settings, trials)
        except SpentError:
            subject.allowance.untried.append(proposal.title)
            yield Declined(proposal.kind, f"{proposal.title}: {UNTRIED}")
            continue
        if isinstance(outcome, Rejected):
            yield Declined(proposal.kind, f"{proposal.title}: {outcome.reason}")
            continue
        if proposal.choice:
            chosen.add(proposal.choice)
        yield outcome
    for it in failed:
        log.warning("%s broke on %s: %s", it.kind, subject.analysis.name, it.error)
        yield Declined(it.kind, f"it broke, which is a bug of ours: {it.error}")


def _small_first(subject: Subject, found: Iterable[Proposal]) -> Iterator[Proposal]:
    """Yield proposals, those last whose launches have more work-items: they take most of the allowance."""
    later: list[Proposal] = []
    for it in found:
        if _is_larger(it, subject.launch):
            later.append(it)
        else:
            yield it
    yield from later


def _is_larger(proposal: Proposal, launch: Launch) -> bool:
    try:
        return proposal.relaunch is not None and proposal.relaunch(launch).work_items > launch.work_items
    except Exception:
        return False  # What breaks is told of where it is tried.


def _verified(
    subject: Subject, proposal: Proposal, settings: EmulationSettings, trials: Trials
) -> Verified | Rejected:
    """Return what verifying shows; whatever breaks on the way breaks this proposal only.

    Raises: SpentError.
    """
    if subject.allowance.is_spent:
        raise SpentError
    try:
        return verify(subject, proposal, settings, trials)
    except SpentError:
        raise
    except Exception as error:
        log.warning("%s of %s could not be verified: %r", proposal.kind, subject.analysis.name, error)
        return Rejected(proposal, f"it could not be verified: {error!r}")


def fix_of(subject: Subject, verified: Verified) -> Fix:
    """Return a verified rewrite as a fix, with its gain in the title and the launch comment rewritten."""
    proposal = verified.proposal
    host = subject.host(proposal.change) if subject.host is not None and proposal.change is not None else None
    return Fix(
        title=_title(verified),
        safety=proposal.safety,
        edits=(*proposal.edits, *_relaunched(subject, verified)),
        verified=_evidence(verified),
        host_change=proposal.host_change,
        assumptions=tuple(_of_launches_before(proposal, it.text) for it in proposal.assumptions),
        host_edits=() if host is None else host.edits,
        host_diff="" if host is None else host.text,
    )


_SIZES = re.compile(r"\bget_(?:global|local)_size\(|\bget_num_groups\(|\blocal size\b")


def _of_launches_before(proposal: Proposal, text: str) -> str:
    """Return an assumption; where the host launches otherwise afterwards, it says which sizes it means."""
    return f"{text} (as launched before)" if proposal.relaunch is not None and _SIZES.search(text) else text


def _relaunched(subject: Subject, verified: Verified) -> Iterator[Edit]:
    """Yield the edits of launch comments where the rewritten kernels are launched otherwise."""
    edits = verified.proposal.edits
    yield from _commented(subject, verified.launch, verified.after_launch, edits)
    for it in verified.proposal.together:
        other = subject.companion(it.kernel)
        if other is not None and other.launch.origin is Origin.CONFIGURED and it.proposal.relaunch:
            yield from _commented(other, other.launch, it.proposal.relaunch(other.launch), edits)


def _commented(subject: Subject, launch: Launch, after: Launch, edits: Sequence[Edit]) -> Iterator[Edit]:
    """Yield the edit of a kernel's launch comment.

    A launch that `clmap.toml` or a `.sim` file gives is not ours to change: the host change says what to do.
    """
    change = None
    if after != launch and not after.source.endswith((".toml", ".sim")):
        kernel, sizes = subject.analysis.kernel, changed_sizes(launch, after)
        change = None if sizes is None else resized(subject.program, kernel, sizes)
        change = change or pinned(subject.program, kernel, as_comment(after))
    if change is None:
        return
    start, end, text = change
    if not any(it.span.start <= end and start <= it.span.end for it in edits):
        yield Edit(Span(subject.path, start, end), text)


MOST_TITLE = 69
"""Characters of a title: what menus of editors show."""


def _title(verified: Verified) -> str:
    """Return what is done and what it gains, on the same scale for all, as far as there is room."""
    proposal = verified.proposal
    gains = proposal.lowers_traffic or proposal.by_time
    sure = gains and not gain.is_unsure(*verified.figures, proposal)
    gained = gain.words(*verified.figures) if sure else ""
    if gained and verified.larger is not None:
        gained += f" at {'x'.join(map(str, verified.larger.launch.global_size))}"
    whole = f"{proposal.title}: {gained}" if gained else proposal.title
    if len(whole) <= MOST_TITLE:
        return whole
    room = MOST_TITLE - (len(gained) + 2 if gained else 0)
    short = proposal.title if len(proposal.title) <= room else f"{proposal.title[: room - 1].rstrip()}…"
    return f"{short}: {gained}" if gained else short


def _evidence(verified: Verified) -> dict[str, Any]:
    larger = verified.larger
    return {
        "launch": verified.launch.describe(),
        "after_launch": verified.after_launch.describe(),
        "outputs": verified.compared,
        "tested_on": list(verified.tested_on),
        **({"moves_data": True} if verified.proposal.moves_data else {}),
        **({"expected": verified.proposal.promise} if verified.proposal.promise else {}),
        "before": _totals(verified.before),
        "after": _totals(verified.after),
        "time_ratio": gain.time_ratio(verified.before, verified.after),
        **({} if larger is None else {"larger": _in_larger(larger)}),
    }


def _in_larger(larger: Larger) -> dict[str, Any]:
    return {
        "launch": larger.launch.describe(),
        "before": _totals(larger.before),
        "after": _totals(larger.after),
        "time_ratio": gain.time_ratio(larger.before, larger.after),
    }


def _totals(figures: Figures) -> dict[str, Any]:
    return {
        "sectors": figures.totals.sectors,
        "wavefronts": figures.totals.wavefronts,
        "lines": figures.lines,
        "sectors_per_request": figures.sectors_per_request,
        "wavefronts_per_request": figures.wavefronts_per_request,
    }
