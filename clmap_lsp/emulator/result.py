"""What the emulator says about one launch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.locality.definition import Definition, LocalAddresses
from clmap_lsp.locality.metrics import Metrics
from clmap_lsp.locality.strides import StrideSummary
from clmap_lsp.source.ir import Site
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Engine(Enum):
    """Which engine runs a launch."""

    AUTO = "auto"
    """The symbolic engine where it can, else the JIT."""
    JIT = "jit"
    SYMBOLIC = "symbolic"


class Method(Enum):
    """How far figures reach."""

    SYMBOLIC = "symbolic"
    FULL = "full"
    SAMPLED = "sampled"
    """Estimated from some of the work-groups, see `EmulationResult.sampling`."""
    TRUNCATED = "truncated"
    """A budget ran out: everything counts only what ran until then."""


class AccessView(Enum):
    """Which accesses are counted."""

    AS_WRITTEN = "as-written"
    OPTIMISED = "optimised"
    """What is left after an optimising compiler: unknown here, see `EmulationResult.notes`."""


class FaultKind(Enum):
    """What went wrong."""

    OUT_OF_BOUNDS_READ = "out-of-bounds-read"
    OUT_OF_BOUNDS_WRITE = "out-of-bounds-write"
    DATA_RACE = "data-race"
    BARRIER_DIVERGENCE = "barrier-divergence"
    UNINITIALISED_READ = "uninitialised-read"
    DIVISION_BY_ZERO = "division-by-zero"
    INTEGER_OVERFLOW = "integer-overflow"
    """The least integer divided by -1."""
    MISALIGNED_ACCESS = "misaligned-access"
    WRITE_TO_CONSTANT = "write-to-constant"
    READ_OF_WRITE_ONLY = "read-of-write-only"
    COPY_NOT_WAITED_FOR = "copy-not-waited-for"
    """An asynchronous copy whose event the work-item never waited for."""
    WAIT_WITHOUT_COPY = "wait-without-copy"
    """`wait_group_events` in a work-item that started no copy."""
    OVERLAPPING_COPY = "overlapping-copy"
    """An asynchronous copy whose lines or planes share elements, which is undefined."""
    INDEX_PAST_ARRAY = "index-past-array"
    """Outside an array that is part of a larger object, though inside that object."""
    UNKNOWN_FUNCTION = "unknown-function"
    UNSUPPORTED = "unsupported"
    LOCAL_MEMORY_LIMIT = "local-memory-limit"
    PRIVATE_MEMORY_LIMIT = "private-memory-limit"
    WORK_GROUP_LIMIT = "work-group-limit"


class Limit(Enum):
    """What ends a run before the kernel does."""

    WORK = "work"
    TIME = "time"
    MEMORY = "memory"
    STEPS = "steps"


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a run came to a limit: no fault of the kernel, unless it never ends."""

    limit: Limit
    work_item: tuple[int, int, int] | None
    work_group: tuple[int, int, int] | None
    detail: str


class Role(Enum):
    """What an access of a race does."""

    READS = "reads"
    WRITES = "writes"

    @property
    def done(self) -> str:
        """What is done to the element: it `is read`, `is written`."""
        return "read" if self is Role.READS else "written"


class Grounds(Enum):
    """What a fault rests on."""

    KNOWN = "known"
    """A launch that somebody gave."""
    PLAUSIBLE = "plausible"
    """A launch that was guessed, and all others that were tried in its stead."""
    GUESS = "guess"
    """A guess that others do not share: a size, a shape, a value; `detail` begins with it."""
    CONTENTS = "contents"
    """What buffers or images hold, or how long local ones are, where nobody gave that. Data of programs look
    seldom like a guess, so it tells little of the kernel; `detail` begins with it."""

    @property
    def is_guess(self) -> bool:
        """True if the fault may not happen on any launch that there is."""
        return self in (Grounds.GUESS, Grounds.CONTENTS)


PARTLY_SET = ": not written yet"
"""How the words end for a vector or a structure that is read as a whole before all of it was written."""


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A call of a function of the program."""

    function: str
    span: Span


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault at one place, with the first work-item that met it."""

    kind: FaultKind
    span: Span
    space: str | None
    """`global`, `constant`, `local`, `private`, or None where no memory is involved."""
    work_item: tuple[int, int, int] | None
    """Global id."""
    work_group: tuple[int, int, int] | None
    detail: str
    occurrences: int = 1
    buffer: str | None = None
    offset: int | None = None
    """Bytes from the buffer's start."""
    other_span: Span | None = None
    """For a race, the other access."""
    other_work_item: tuple[int, int, int] | None = None
    other_work_group: tuple[int, int, int] | None = None
    element: str | None = None
    """What lies there, as the source would call it: `q[16]`, `t[1][3]`, `s[2].v[0]`."""
    role: Role | None = None
    """For a race, what the access at `span` does."""
    other_role: Role | None = None
    grounds: Grounds = Grounds.KNOWN
    condition: str = ""
    """What was guessed and it stands and falls with; `detail` then begins with "if" and these words."""
    met: str = ""
    """What happened, without the condition, where it has one."""
    calls: tuple[CallPlace, ...] = ()
    """The calls that lead to `span`, from the kernel inwards."""
    other_calls: tuple[CallPlace, ...] = ()

    @property
    def happened(self) -> str:
        """What happened, without what it stands and falls with."""
        return self.met or self.detail

    def supposing(self, condition: str, grounds: Grounds, *, mark: str = "", joint: str = ": ") -> Fault:
        """Return it as one that stands and falls with what was guessed.

        A fault that has a condition already has both.

        Args:
            mark: stands behind the condition where it does not say itself that it was guessed.
            joint: stands between the condition and what happened.
        """
        both, detail = condition, f"if {condition}{mark}{joint}{self.detail}"
        if self.condition:
            both = f"{condition} and {self.condition}"
            detail = f"if {condition} and {self.detail.removeprefix('if ')}"
        met = self.met or f"{joint.removeprefix(': ').removeprefix(', ')}{self.detail}"
        return replace(self, grounds=grounds, condition=both, met=met, detail=detail)


@dataclass(frozen=True, slots=True)
class SiteResult:
    """One access site: an access of the source, inlined copies apart.

    `executions` are work-items' accesses; `requests` are SIMD groups' (with at least one active lane).
    """

    site: Site
    span: Span
    buffer: str | None
    space: str
    op: str
    """`load`, `store`, or for one half of an atomic `atomic-load`, `atomic-store`; `async-load`, ..."""
    element_bytes: int
    executions: int
    requests: int
    sectors: int | None
    """Of global and constant memory; None where the device's rule is not known or no device was given."""
    wavefronts: int | None
    """Of local memory; None likewise."""
    strides: StrideSummary | None = None


@dataclass(frozen=True, slots=True)
class BufferResult:
    """A buffer after the launch. `data` is the whole of it, shape (bytes,)."""

    name: str
    type: str
    count: int
    first: tuple[int | float, ...]
    last: tuple[int | float, ...]
    data: NDArray[np.uint8] = field(repr=False, compare=False)
    strides: StrideSummary | None = None
    """Of each work-item's consecutive accesses to this buffer, from whatever line."""

    @property
    def sha256(self) -> str:
        """The digest of the data; large buffers take longer for it than for their metrics."""
        return hashlib.sha256(self.data.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Spread:
    """Of a number that differs between work-items."""

    minimum: int
    median: float
    maximum: int


@dataclass(frozen=True, slots=True)
class LaneWidth:
    """Lanes of the results of executed operations: 1 for scalars, N for vectors of N."""

    mean: float
    maximum: int
    deviation: float
    """Standard deviation over all executed operations."""


@dataclass(frozen=True, slots=True)
class Parallelism:
    """AIWC's category of that name, as far as it is sound."""

    work_items: int
    work_groups: int
    group_items: int
    barriers_hit: int | None
    """By work-items, over the whole launch; None where nothing was run."""
    group_barriers: int | None
    simd_width: int
    timesteps: int | None
    """Rows of all groups: the parallel steps that PSL is a mean over; None where nothing was traced."""
    operations_to_barrier: Spread | None = None
    """Operations that a work-item executes from its start or a barrier to the next barrier or its end."""
    accesses_to_barrier: Spread | None = None
    """Likewise the loads and stores, private arrays included."""
    operation_width: LaneWidth | None = None


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """AIWC's control category (see `locality.branches` for the definitions)."""

    unique_branches: int
    branches_90: int
    executions: int
    yokota_entropy: float
    average_linear_entropy: float


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Accesses of one source line."""

    path: str
    row: int
    loads: int
    stores: int
    spaces: Mapping[str, int]
    requests: int
    sectors: int | None
    wavefronts: int | None


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a sampled run's figures rest on: work-groups drawn at random from equal parts of the launch."""

    groups: int
    of_groups: int
    accesses_error: float
    """Standard error of the estimated number of accesses."""
    psl_error: tuple[float, ...]
    """Standard errors of `Metrics.psl`."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Wall-clock seconds of the phases."""

    compile: float
    run: float
    metrics: float
    inputs: float = 0.0
    """Making buffers and tables."""
    symbolic: float = 0.0
    """The symbolic engine, whether it applied or not."""


@dataclass(frozen=True, slots=True)
class EmulationResult:
    """All of one launch. Figures are exact for `method` SYMBOLIC and FULL."""

    kernel: str
    method: Method
    engine: Engine
    engine_reason: str
    """Why this engine ran."""
    definition: Definition
    local_addresses: LocalAddresses
    access_view: AccessView
    metrics: Metrics
    sites: tuple[SiteResult, ...]
    lines: tuple[LineCounts, ...]
    buffers: Mapping[str, BufferResult]
    faults: tuple[Fault, ...]
    seconds: Seconds
    parallelism: Parallelism
    control: ControlFlow | None = None
    operations: Mapping[str, int] = field(default_factory=dict)
    """Executed operations by kind (`+`, `*`, `load`, `sqrt`, ...), by work-items."""
    printed: tuple[str, ...] = ()
    work: float = 0.0
    """Units of work that the run of it took (`budget.py`), the same on every machine."""
    groups_run: int = 0
    """Work-groups that were run to their end: outputs and faults are theirs."""
    stopped: Stop | None = None
    """Set if the run came to a limit before its end."""
    sampling: Sampling | None = None
    """Set if `method` is SAMPLED: counts are scaled up to the launch, footprints and entropies are not."""
    enlarged: Mapping[str, int] = field(default_factory=dict)
    """Buffers that the kernel left at the size that was inferred for them: elements that they have here."""
    notes: tuple[str, ...] = ()
    """What the reader must know: unknown values, limits that were met, counts that are bounds."""

    @property
    def is_whole(self) -> bool:
        """True if all work-groups ran to their end: every fault of the launch was met."""
        return self.groups_run == self.parallelism.work_groups
