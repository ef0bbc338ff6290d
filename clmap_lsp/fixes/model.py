"""What a rewrite is before and after it was verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import FixSafety
from clmap_lsp.fixes.allowance import Allowance
from clmap_lsp.source.embedded import is_host
from clmap_lsp.source.parse import kernel_text
from clmap_lsp.source.read import read_program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.analysis.model import KernelAnalysis, MemoryTotals
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.result import EmulationResult, FaultKind
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.hosts.changes import Change
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program
    from clmap_lsp.time.model import Prediction


@dataclass(frozen=True, slots=True)
class HostDiff:
    """The edits of host code that a rewrite needs, and as a unified diff; `text` is the reason if none."""

    edits: tuple[Edit, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Subject:
    """The kernel that a rewrite is for, with all that is known about it. It has a launch."""

    program: Program
    analysis: KernelAnalysis
    device: DeviceModel
    options: BuildOptions
    emulation: EmulationResult | None = None
    """What the emulator saw on the launch, where it ran: fixes of faults start from it."""
    figures: Figures | None = None
    """Its traffic, where it was counted for fixes already."""
    host: Callable[[Change], HostDiff] | None = None
    """How the host code that launches it changes, where that is known."""
    allowance: Allowance = field(default_factory=Allowance)
    """What the tries for its rewrites may take together; without a bound unless one is given."""
    siblings: Callable[[str], Launch | None] | None = None
    """The launches of the file's other kernels, by name, as far as they are known."""

    @property
    def text(self) -> str:
        """The file as typed."""
        return self.program.main_file.text

    @property
    def path(self) -> str:
        """The file's path."""
        return self.program.path

    @property
    def texts(self) -> Mapping[str, str]:
        """Each file as a compiler gets it: of a host's file the kernels alone, at their places."""
        return {
            path: _kernels_alone(file.text, path) if is_host(path) else file.text
            for path, file in self.program.files.items()
        }

    @property
    def launch(self) -> Launch:
        """The launch that figures and verification hold for."""
        assert self.analysis.launch is not None, "a kernel without a launch has no fixes"
        return self.analysis.launch

    def companion(self, kernel: str) -> Subject | None:
        """Return another kernel of the file as a subject; `None` where no launch of it is known."""
        launch = None if self.siblings is None else self.siblings(kernel)
        found = self.program.kernel(kernel)
        if launch is None or found is None:
            return None
        analysis = analyse_kernel(found, launch, (), self.device, self.program.constants, says_general=False)
        return replace(self, analysis=analysis, emulation=None, figures=None)

    def read(self, text: str, options: BuildOptions | None = None) -> Program:
        """Return another text of the file, with the files that this one includes."""
        files = self.program.files
        return read_program(
            text,
            self.path,
            options or self.options,
            read_file=lambda path: files[path].text if path in files else None,
        )


@lru_cache(maxsize=4)
def _kernels_alone(text: str, path: str) -> str:
    """Return a host's text without what is no kernel; rewrites of one kernel ask for it many times."""
    return kernel_text(text, path)[0]


STAGING_GAIN = 1.25
"""What staging must gain at least. On an H200 a convolution with 1.2 times less traffic became 11 % slower, a
matrix multiply with 1.3 times less 20 % faster."""

Restore = Callable[["Launch", "Mapping[str, NDArray[np.uint8]]"], "Mapping[str, NDArray[np.uint8]]"]
"""From the bytes of the rewritten kernel's buffers, after the original's launch, to those of the original's:
both by parameter name."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rewrite whose preconditions were checked on the source; not yet verified.

    `relaunch` gives the launch of the rewritten kernel (swapped sizes, another group shape, other
    buffers); `None` where it stays as it is. `reorders_sums` allows outputs to differ by rounding.
    """

    kind: str
    title: str
    edits: tuple[Edit, ...]
    codes: tuple[str, ...] = ()
    """Codes of the findings that it answers."""
    assumptions: tuple[Assumption, ...] = ()
    """What must hold for it to be right, and is not tested in the kernel itself."""
    is_sketch: bool = False
    """Shown, never applied."""
    sites: frozenset[int] = frozenset()
    """Sites of the accesses that it is meant to improve; empty means the whole kernel."""
    relaunch: Callable[[Launch], Launch] | None = None
    host_change: str | None = None
    change: Change | None = None
    """What `host_change` says, for host code that is known; `None` where it is about something else."""
    reorders_sums: bool = False
    cures: FaultKind | None = None
    """The kind of fault that it must remove: it is rejected if the rewritten kernel still has one."""
    lowers_traffic: bool = True
    """It is rejected if it does not lower the traffic; False for rewrites that promise something else."""
    least_gain: float = 1.0
    """By how many times it must lower the traffic: more than 1 where it brings barriers and instructions."""
    least_faster: float = 1.1
    """How many times as fast it must be predicted to be, where times are known: less may be a loss."""
    by_time: bool = False
    """What it gains is no traffic: it is rejected where no predicted time says that it pays."""
    or_traffic: float = 0.0
    """Where no time is known for one `by_time`: how many times less traffic is enough; 0 if none is."""
    promise: str = ""
    """What a device's records say that it gains, or where: `about 10 % → 95 % of copy bandwidth`."""
    pays_in_larger: bool = False
    """It pays in larger launches than the one at hand only; nobody takes it without being asked."""
    choice: str = ""
    """Of proposals of one kernel with the same non-empty choice only the first verified one is offered."""
    repack: Callable[[Launch, Launch], Launch] | None = None
    """For rewrites that lay buffers out otherwise: from a launch of the original and the one after it, the
    latter with the same data laid out so."""
    restore: Restore | None = None
    """The way back: gives the original's buffers from the rewritten one's."""
    together: tuple[Companion, ...] = ()
    """Other kernels of the file that the same edits rewrite."""
    in_place: bool = False
    """Its edits say again what stands there, and nothing else: names mean what they meant."""
    refused: str = ""
    """Why it cannot be made although the kernel asks for it; it is never offered then."""

    @property
    def moves_data(self) -> bool:
        """True if all who use a buffer must lay it out otherwise: the last resort, and never unasked."""
        return self.restore is not None

    def launched(self, launch: Launch) -> Launch:
        """Return the launch of the rewritten kernel that does the same as this one of the original."""
        after = self.relaunch(launch) if self.relaunch is not None else launch
        return self.repack(launch, after) if self.repack is not None else after

    def restored(
        self, launch: Launch, buffers: Mapping[str, NDArray[np.uint8]]
    ) -> Mapping[str, NDArray[np.uint8]]:
        """Return the rewritten kernel's buffers laid out as the original's, after a launch of that."""
        return buffers if self.restore is None else self.restore(launch, buffers)

    @property
    def safety(self) -> FixSafety:
        """Safe only with nothing assumed, nothing for the host, and no fault to cure."""
        if self.is_sketch:
            return FixSafety.DISPLAY
        free = not self.assumptions and self.host_change is None and self.cures is None
        return FixSafety.SAFE if free else FixSafety.UNSAFE


@dataclass(frozen=True, slots=True)
class Companion:
    """A kernel that a rewrite of another one takes along; of the proposal only what its test needs counts."""

    kernel: str
    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Figures:
    """What the memory system does for one version."""

    totals: MemoryTotals
    lines: int = 0
    """Cache lines that requests to global memory touch, each request's on their own."""
    time: Prediction | None = None
    """Of the launch, where the device has timing facts."""
    untimed: str = ""
    """Why there is no time."""

    @property
    def seconds(self) -> float | None:
        """How long the launch is predicted to take; `None` where nobody can tell."""
        return None if self.time is None else self.time.seconds

    @property
    def cost(self) -> int:
        """Passes through the first level of memory: lines of global accesses, wavefronts of local ones.

        Lines, not sectors, because that is what followed the times of a matrix multiply, a convolution and
        stencils in several versions on an H200: sectors that a cache gives again cost no time of their own.
        """
        return self.lines + self.totals.wavefronts

    @property
    def requests(self) -> int:
        """SIMD groups' accesses, in global and local memory."""
        it = self.totals
        return sum(
            part.instructions for part in (it.global_load, it.global_store, it.local_load, it.local_store)
        )

    def beats(self, other: Figures) -> bool:
        """True if it moves less, or as much in fewer requests; nobody knows what was not counted."""
        if other.totals.complete and not self.totals.complete:
            return False
        return (self.cost, self.requests) < (other.cost, other.requests)

    @property
    def sectors_per_request(self) -> float | None:
        """Mean over global loads and stores; `None` without any."""
        requests = self.totals.global_load.requests + self.totals.global_store.requests
        return self.totals.sectors / requests if requests else None

    @property
    def wavefronts_per_request(self) -> float | None:
        """Mean over local loads and stores; `None` without any."""
        count = self.totals.local_load.instructions + self.totals.local_store.instructions
        return self.totals.wavefronts / count if count else None


@dataclass(frozen=True, slots=True)
class Larger:
    """Both versions counted on a larger launch than the one at hand."""

    launch: Launch
    before: Figures
    after: Figures


@dataclass(frozen=True, slots=True)
class Verified:
    """Both versions ran on the launch and gave the same outputs."""

    proposal: Proposal
    launch: Launch
    after_launch: Launch
    before: Figures
    after: Figures
    compared: str
    """`bit for bit`, or the tolerance that held."""
    tested_on: tuple[str, ...] = ()
    """The launches on which both were compared: `64x64, n=64`."""
    larger: Larger | None = None
    """Where its launch is of a test's size: what it gains in a real one."""

    @property
    def figures(self) -> tuple[Figures, Figures]:
        """Before and after, on the launch that says what it gains."""
        return (self.before, self.after) if self.larger is None else (self.larger.before, self.larger.after)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rewrite that the emulator showed wrong, or that could not be shown right."""

    proposal: Proposal
    reason: str


Propose = Callable[[Subject], Iterator[Proposal]]
