"""Predicted times of the kernels of a file, and the time that a finding is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import Kept
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, LostTime, Severity

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Initializer
    from clmap_lsp.time.model import Prediction

ACCESS_RULES = frozenset({"CM101", "CM102", "CM103", "CM104", "CM201"})
"""Rules about accesses that cost more than they need: what they lose can be told in seconds."""
_ATOMICS = "CM512"
"""About atomics that wait for each other, which have a time of their own."""
TIMED_RULES = ACCESS_RULES | {_ATOMICS}
_LONG_S = 0.05
"""A launch of a real size takes less: drivers of displays end kernels after some seconds."""
LOUD = (Severity.WARNING, Severity.INFORMATION)
"""What becomes a hint where it loses no time."""


class Times:
    """Keeps predictions by what they follow from, so that an edit elsewhere costs nothing.

    Not safe for several threads at once.
    """

    def __init__(self, limit: int = 512) -> None:
        self._known: Kept[Prediction | str] = Kept(limit)
        self._enlarged: Kept[Enlarged | None] = Kept(limit)
        self.n_made = 0
        """Times that were worked out so far."""

    def forget_all(self) -> None:
        """Drop all predictions."""
        self._known.clear()
        self._enlarged.clear()

    def known(self, kernel: KernelAnalysis, device: DeviceModel) -> Prediction | str | None:
        """Return the time of a kernel if it was worked out before, at no cost."""
        from clmap_lsp.time.facts import time_facts

        if time_facts(device.id) is None:
            return None
        return None if kernel.content is None else self._known.get(kernel.content)

    def of(
        self, kernel: KernelAnalysis, device: DeviceModel, constants: tuple[Initializer, ...]
    ) -> Prediction | str:
        """Return how long a kernel's launch takes, or why nobody can tell."""
        known = self.known(kernel, device)
        if known is None:
            from clmap_lsp.time.predict import time_of

            self.n_made += 1
            known = time_of(kernel.kernel, kernel.launch, device, constants)
            if kernel.content is not None:
                self._known.keep(kernel.content, known)
        return known

    def enlarged(
        self, kernel: KernelAnalysis, device: DeviceModel, constants: tuple[Initializer, ...], *, waits: bool
    ) -> Enlarged | None:
        """Return the time of a launch of a real size, where the kernel's own is a guess or of a test's size.

        `None` where it is neither, where nobody can tell, and without `waits` where it was not worked out
        before.
        """
        content = kernel.content
        if content is not None and content in self._enlarged:
            return self._enlarged[content]
        if not waits or kernel.launch is None:
            return None
        self.n_made += 1
        found = self._larger(kernel, kernel.launch, device, constants)
        return found if content is None else self._enlarged.keep(content, found)

    def _larger(
        self, kernel: KernelAnalysis, launch: Launch, device: DeviceModel, constants: tuple[Initializer, ...]
    ) -> Enlarged | None:
        from clmap_lsp.launch.roomy import roomy, scaled_up
        from clmap_lsp.time.model import grows_alike, is_mostly_launch, is_rough
        from clmap_lsp.time.predict import time_of

        home = self.of(kernel, device, constants)
        is_short = not isinstance(home, str) and is_mostly_launch(home)
        larger = roomy(kernel.kernel, launch)
        is_instead = larger is not None
        if larger is None:
            if isinstance(home, str) or is_rough(home) or not is_short:
                return None
            larger = scaled_up(kernel.kernel, launch)
        time = "" if larger is None else time_of(kernel.kernel, larger, device, constants)
        if larger is None or isinstance(time, str):
            return None
        if is_instead and time.seconds > _LONG_S and not is_short:
            return None  # Each work-item does so much that fewer of them are a real size.
        if not is_instead and not isinstance(home, str) and not grows_alike(home, time):
            return None
        return Enlarged(larger, time, is_instead=is_instead)


@dataclass(frozen=True, slots=True)
class Enlarged:
    """A launch of a real size in place of a small one, and its time."""

    launch: Launch
    time: Prediction
    is_instead: bool
    """True if the small one is a guess; else somebody gave it."""

    @property
    def sizes(self) -> str:
        """The global size for people: `4096x4096`."""
        return "x".join(map(str, self.launch.global_size))


def with_time_lost(
    findings: Sequence[Finding],
    kernels: Sequence[KernelAnalysis],
    times: Mapping[str, Prediction | str],
    enlarged: Callable[[KernelAnalysis], Enlarged | None] = lambda _: None,
) -> tuple[Finding, ...]:
    """Say of findings about accesses what time they lose; those that lose none become hints.

    Args:
        enlarged: gives a kernel's time on a launch of a real size, where its own is a guess or a test's.
    """
    by_name = {it.name: it for it in kernels}
    result = []
    for finding in findings:
        time = times.get(finding.kernel or "")
        kernel = by_name.get(finding.kernel or "")
        if time and not isinstance(time, str) and kernel is not None:
            losing = _measure(finding, kernel)
            if losing is not None:
                finding = _timed(finding, *_lost(time, enlarged(kernel), losing))  # noqa: PLW2901
        result.append(finding)
    return tuple(result)


def _measure(finding: Finding, kernel: KernelAnalysis) -> Callable[[Prediction], LostTime] | None:
    """Return what tells the time that a finding is about, if it is about any."""
    from clmap_lsp.time.losses import time_lost, time_of_atomics

    if finding.code == _ATOMICS:
        return time_of_atomics
    sites = {it.access.site for it in accesses_of(finding, kernel)} if finding.code in ACCESS_RULES else set()
    return partial(time_lost, sites=sites) if sites else None


def _lost(
    time: Prediction, larger: Enlarged | None, losing: Callable[[Prediction], LostTime]
) -> tuple[LostTime, Prediction]:
    """Return what is lost, and of what.

    A size that somebody gave is taken at its word, unless nothing is lost on a larger one either.
    """
    here = losing(time)
    if larger is None:
        return here, time
    there = replace(losing(larger.time), sizes=larger.sizes)
    if larger.is_instead or (there.is_settled and not there.matters):
        return there, larger.time
    return here, time


def accesses_of(finding: Finding, kernel: KernelAnalysis) -> Iterator[AccessAnalysis]:
    """Yield the accesses that a finding is about: where it points, and those that walk the same way."""
    spans = {finding.span, *(it.span for it in finding.related)}
    for one in kernel.accesses:
        is_alike = (
            one.stride.text is not None
            and one.access.buffer == finding.data.get("buffer")
            and one.stride.text == finding.data.get("stride")
        )
        if one.access.span in spans or is_alike:
            yield one


def _timed(finding: Finding, lost: LostTime, time: Prediction) -> Finding:
    from clmap_lsp.time.wording import bound_text, percent, seconds_text

    whole = f"{seconds_text(lost.launch_seconds)} on {time.facts.name}"
    if lost.sizes:
        whole += f" with {int(lost.sizes):,} work-items" if lost.sizes.isdecimal() else f" with {lost.sizes}"
    if lost.matters or not lost.is_settled:
        small = " (small: the launch itself takes most of it)" if lost.bound == "launch" else ""
        loses = "Atomics take" if finding.code == _ATOMICS else "Loses"
        line = f"{loses} {seconds_text(lost.seconds)} of {whole}{small}, predicted."
        return replace(finding, message=f"{finding.message}\n{line}", time=lost)
    bound = bound_text(lost.bound)
    line = f"Hardly any time: {percent(lost.share)} of {whole}, bound by {bound} (predicted)."
    severity = Severity.HINT if finding.severity in LOUD else finding.severity
    return replace(finding, message=f"{finding.message}\n{line}", severity=severity, time=lost)
