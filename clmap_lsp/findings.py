"""Findings and edits: what rules say, and what every output shows.

Nothing here knows an editor; spans are places in files as typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.span import Span

__all__ = ["Edit", "Finding", "Fix", "FixSafety", "LostTime", "Related", "Rest", "Severity"]


MATTERS_FROM = 0.02
"""Share of a launch's time below which nothing is gained: repeated timings of one kernel differ by as
much, and rewrites that promise less are not offered either."""


class FixSafety(Enum):
    """As in ruff: what `--fix` applies, what needs `--unsafe-fixes`, and what is only shown."""

    SAFE = "safe"
    """The kernel's results stay the same for every launch, and the host needs no change."""
    UNSAFE = "unsafe"
    """It holds on launches that fulfil its assumptions, or the host must change too."""
    DISPLAY = "display"
    """A sketch for a person to adapt."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` (as typed) by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A rewrite. `verified` holds what the emulator showed: launch, outputs, figures before and after."""

    title: str
    safety: FixSafety
    edits: tuple[Edit, ...]
    verified: Mapping[str, Any] | None = None
    host_change: str | None = None
    """What the host program must change, in one sentence."""
    assumptions: tuple[str, ...] = ()
    """What must hold of launches, builds and buffers, and is not tested in the kernel: `n % 4 == 0`."""
    host_edits: tuple[Edit, ...] = ()
    """`host_change` in host code, where the launching call is known."""
    host_diff: str = ""
    """The same as a unified diff; the reason why there is none where `host_edits` is empty."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Rest:
    """One value that figures rest on.

    `kind` is macro, scalar, global, local, local_arg or contents; `origin` says where the value comes from:
    given, configured, host, host default, recorded or guessed.
    """

    kind: str
    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class LostTime:
    """Time that some accesses lose, of a launch."""

    seconds: float
    launch_seconds: float
    bound: str
    is_settled: bool
    """False where one cannot tell what matters: launches that are mostly overhead (their sizes are those of
    a test) or were followed in part, and devices whose figures nobody measured or whose model is rough."""
    sizes: str = ""
    """Of the larger launch that it is about, where the finding's own is a guess for typing: `4096x4096`."""

    @property
    def share(self) -> float:
        """Part of the launch's time, 0 to 1."""
        return self.seconds / self.launch_seconds

    @property
    def matters(self) -> bool:
        """True if mending the accesses would be seen in the launch's time."""
        return self.share >= MATTERS_FROM


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing worth telling the author."""

    code: str
    name: str
    message: str
    severity: Severity
    span: Span
    kernel: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    unnecessary: bool = False
    """Shown faded in editors: inactive code, unused suppressions."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Figures for tools: sectors per request, stride in bytes, share of traffic."""
    rests_on: tuple[Rest, ...] = ()
    """What it rests on, shortest first."""
    holds: str = "always"
    """`always`: on all that is plausible where something was guessed; `if`: where `condition` holds; `on this
    launch`: of others, too much work to try."""
    condition: str = ""
    time: LostTime | None = None
    """The time that what it is about loses on the device, where that can be predicted."""
    rest: Finding | None = None
    """The same finding without its first place: what is left to say where a comment silences that one."""
