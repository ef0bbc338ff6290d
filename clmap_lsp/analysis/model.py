"""What the static analysis of one file says: accesses with their exact costs, kernel by kernel.

Costs hold for one launch and one device. Pure data: nothing here reads files or knows an editor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from clmap_lsp.dataclass import dataclass
from clmap_lsp.exactness import Exactness

if TYPE_CHECKING:
    from clmap_lsp.access.classify import Classified
    from clmap_lsp.access.records import Access
    from clmap_lsp.analysis.images import ImageAnalysis
    from clmap_lsp.analysis.rests_on import RestsOn
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Guess, Kernel
    from clmap_lsp.source.span import Span
    from clmap_lsp.time.model import Prediction

Unit = Literal["sectors", "wavefronts"]


@dataclass(frozen=True, slots=True)
class PerRequest:
    """What one request of an access costs, over the whole launch.

    `ideal` is what the same requests would cost at best: each with its active lanes' elements side by side
    and aligned (global memory), or without any bank conflict (local memory).
    """

    min: int
    mean: float
    max: int
    ideal: float
    unit: Unit

    @property
    def noun(self) -> str:
        """The unit in the singular."""
        return self.unit.removesuffix("s")

    @property
    def excess(self) -> float:
        """How many times the ideal it costs; 1 is best."""
        return self.mean / self.ideal if self.ideal else 1.0


@dataclass(frozen=True, slots=True)
class AccessTotals:
    """Sums over the launch. `instructions` and `requests` count SIMD groups with an active lane."""

    instructions: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0


@dataclass(frozen=True, slots=True)
class Stride:
    """How far apart the bytes of neighbouring work-items are.

    `text` is in the author's words and in bytes (`N*4`); `bytes` is its value for the launch; either is
    missing where the distance is not the same for all work-items.
    """

    text: str | None
    bytes: int | None


NO_STRIDE = Stride(None, None)


@dataclass(frozen=True, slots=True)
class AccessAnalysis:
    """One access with its costs."""

    access: Access
    totals: AccessTotals | None
    """`None` where the costs are unknown; `reason` says why."""
    per_request: PerRequest | None
    method: Exactness
    reason: str = ""
    in_general: str | None = None
    """The cost of a request for every value of the scalars: `8 sectors if N % 8 == 0, else 9`."""
    stride: Stride = NO_STRIDE
    """Between work-items that follow each other in a SIMD group: along the first dimension of the work-group
    that is longer than 1."""
    row_stride: Stride = NO_STRIDE
    """Between rows of the work-group: along the next dimension."""
    classified: Classified | None = None
    """The matrix M and offset o of its index, eMAP, iMAP and pattern classes."""
    share: float | None = None
    """Part of the kernel's traffic in this kind of memory (sectors or wavefronts), 0 to 1."""

    pieces: tuple[int, ...] = ()
    """Bytes of the instructions that an access of one work-item takes; each is a request of its own."""

    @property
    def is_never_executed(self) -> bool:
        """True if it is known that no work-item of the launch executes it."""
        return self.method is Exactness.EXACT and self.totals is not None and not self.totals.requests

    @property
    def missing_cost(self) -> str:
        """What stands in the place of the figures of a request where there are none."""
        return self.reason if self.is_never_executed else f"unknown: {self.reason}"


@dataclass(frozen=True, slots=True)
class MemoryTotals:
    """Traffic of a kernel by kind of access; the fields of `AccessTotals` that have a meaning there."""

    global_load: AccessTotals = AccessTotals()
    global_store: AccessTotals = AccessTotals()
    local_load: AccessTotals = AccessTotals()
    local_store: AccessTotals = AccessTotals()
    complete: bool = True
    """False if the costs of an access are unknown, so that sums are lower bounds."""

    @property
    def sectors(self) -> int:
        """Sectors of global memory, loads and stores."""
        return self.global_load.sectors + self.global_store.sectors

    @property
    def wavefronts(self) -> int:
        """Passes of local memory, loads and stores."""
        return self.local_load.wavefronts + self.local_store.wavefronts


@dataclass(frozen=True, slots=True)
class Variant:
    """What a kernel would cost launched otherwise: in groups of another shape, or with dimensions swapped.

    `per_request` has the mean sectors or wavefronts of a request by site.
    """

    local_size: tuple[int, ...]
    totals: MemoryTotals
    per_request: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KernelAnalysis:
    """One kernel. `launch` is `None` where none could be made; `launch_problems` says why."""

    kernel: Kernel
    launch: Launch | None
    launch_problems: tuple[str, ...]
    accesses: tuple[AccessAnalysis, ...]
    totals: MemoryTotals
    swapped: Variant | None = None
    """The costs if the work-items' dimensions 0 and 1 changed places; `None` where that cannot be told."""
    shapes: tuple[Variant, ...] = ()
    """The costs in other shapes of as many work-items, where the kernel works in any shape."""
    notes: tuple[str, ...] = ()
    """What the figures do not cover, such as control flow that was not followed."""
    unreached: tuple[AccessAnalysis, ...] = ()
    """Accesses in statements that this launch never reaches, whatever its data; not among `accesses`."""
    images: tuple[ImageAnalysis, ...] = ()
    """Reads and writes of images; not among `accesses`."""
    rests_on: tuple[RestsOn, ...] = ()
    """What the figures hold for, shortest first."""
    compiled: CompiledKernel | str | None = field(default=None, compare=False)
    """What a compiler's back end leaves of it, or why that is unknown; `None`: nobody asked."""
    time: Prediction | str | None = field(default=None, compare=False)
    """How long the launch takes on the device, or why that is unknown; `None`: nobody asked."""
    work: int = field(default=0, compare=False)
    """What the analysis cost, in the unit of `Spending.work`: the same on every machine."""
    content: object = field(default=None, repr=False, compare=False)
    """What all of this follows from: analyses of equal content differ in places only. `None`: unknown."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    @property
    def span(self) -> Span:
        """The kernel, from its first qualifier to its closing brace."""
        return self.kernel.span

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """What it depends on that had to be guessed."""
        return self.kernel.guesses

    def fills_no_simd_group(self, device: DeviceModel) -> bool:
        """Tell whether the groups of the launch have fewer work-items than a SIMD group has lanes."""
        return self.launch is not None and self.launch.group_items < device.simd_width

    def access_at(self, site: int) -> AccessAnalysis | None:
        """Return the access with this site."""
        return next((it for it in self.accesses if it.access.site == site), None)


@dataclass(frozen=True, slots=True)
class FileAnalysis:
    """One file for one device."""

    path: str
    device: DeviceModel
    kernels: tuple[KernelAnalysis, ...]

    def kernel(self, name: str) -> KernelAnalysis | None:
        """Return the kernel `name`."""
        return next((it for it in self.kernels if it.name == name), None)
