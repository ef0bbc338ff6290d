"""What a device model says: widths, granules, banks, limits, each fact with its source.

A fact nobody published is `None` here (or an `Unknown` with its reason where a rule is asked for); it is
never filled in with a guess. The models themselves are the TOML files in `models/`, read by `catalogue.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """An answer that cannot be given, with the reason in words for a person."""

    reason: str

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


class Confidence(Enum):
    """How far a fact is to be trusted."""

    MEASURED = "measured"
    """Hardware counters or a microbenchmark that is cited."""
    DOCUMENTED = "documented"
    """The vendor's own documents or software."""
    COMMUNITY = "community"
    """Published by others than the vendor."""
    ASSUMED = "assumed"
    """A choice this model makes where the machine or the compiler decides; the note says which."""
    UNKNOWN = "unknown"
    """Not published; `value` is None."""


FactValue = int | float | str | tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Fact:
    """One published figure: its value (`None`: unknown), where it stands, and how sure it is."""

    value: FactValue
    source: str
    confidence: Confidence
    note: str = ""


class Merge(Enum):
    """When lanes of neighbouring phases are served together because neighbouring lanes share an address.

    The test: every active lane i has lane i xor 1 inactive or at the same address, or the same for i xor 2.
    """

    NONE = "none"
    """Phases are always served one after the other."""
    PAIR = "pair"
    """Two phases side by side merge if the test holds for the lanes of those two."""
    GROUP = "group"
    """Two phases side by side merge if the test holds for every active lane of the SIMD group."""
    UNKNOWN = "unknown"
    """Not published: counts are known only where merging would not change them."""


@dataclass(frozen=True, slots=True)
class PhaseRule:
    """How one local access of a SIMD group is cut into phases.

    `groups` are the lanes of each phase, in the order of service; empty means all lanes in one phase.
    `extra` passes are added to every phase that has an active lane (Fermi's 128-bit accesses).
    """

    groups: tuple[tuple[int, ...], ...] = ()
    merge: Merge = Merge.NONE
    extra: int = 0


@dataclass(frozen=True, slots=True)
class BankedLocal:
    """Local memory in banks.

    Words are `bank_bytes` wide and lie in `banks` banks in turn. `rows_joined` neighbouring rows count as one
    (2 on Kepler, where words i and i + 32 of one aligned 64-word segment do not conflict).
    `same_word_store_free` is False where stores conflict even at one address (Intel).
    Phases are given for 4-byte (and narrower), 8-byte and 16-byte elements.
    """

    banks: int
    bank_bytes: int
    load_phases: Mapping[int, PhaseRule | Unknown]
    store_phases: Mapping[int, PhaseRule | Unknown]
    rows_joined: int = 1
    same_word_store_free: bool = True


@dataclass(frozen=True, slots=True)
class CachedLocal:
    """No banks to conflict in: `__local` is ordinary cached memory, counted in lines of `line_bytes`."""

    line_bytes: int


LocalRule = BankedLocal | CachedLocal | Unknown


class ConstantRule(Enum):
    """What a read of `__constant` memory costs one SIMD group."""

    PER_ADDRESS = "per-address"
    """One pass for each distinct address (NVIDIA)."""
    UNIFORM_OR_VECTOR = "uniform-or-vector"
    """One scalar load if all lanes share the address, otherwise as global memory (AMD)."""
    AS_GLOBAL = "as-global"
    """Through the data caches, as global memory (Intel, Arm, CPUs)."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class GlobalRule:
    """How global memory moves, in aligned granules.

    `load_granule` and `store_granule` are bytes, `None` where unpublished. `split` maps an element width in
    bytes to the number of equal, consecutive parts of the SIMD group that are counted apart. `disputed_split`
    is a split that the vendor describes but counters of a sibling device contradict: where it changes a
    count, the count is unknown.
    """

    load_granule: int | None
    store_granule: int | None
    split: Mapping[int, int] = field(default_factory=dict)
    disputed_split: Mapping[int, int] = field(default_factory=dict)
    max_access_bytes: int | None = 16
    """Widest access one instruction makes for one lane; wider elements take several. `None`: no limit."""
    max_access_elements: int | None = None
    """Most components of a vector that one instruction moves, whatever their width; `None`: no limit known.
    Where it is set, stores of three components write three."""
    atomics_by_turns: bool = False
    """True where lanes that share an address of an atomic were measured to be served one after the other, in
    global and local memory; `rules.atomic_sectors` and `rules.atomic_wavefronts` say how."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a kernel can use; `None` where unknown or where it differs between products of one generation."""

    max_work_group_size: int | None = None
    local_bytes_per_group: int | None = None
    local_bytes_per_compute_unit: int | None = None
    constant_bytes: int | None = None
    compute_units: int | None = None
    registers_per_compute_unit: int | None = None
    """32-bit registers, all lanes together."""
    registers_per_work_item: int | None = None
    groups_per_compute_unit: int | None = None
    """Work-groups resident at once."""
    simd_groups_per_compute_unit: int | None = None
    """SIMD groups resident at once."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """How a detected OpenCL device is recognised: regular expressions, without regard to case.

    A device matches if its vendor matches `vendor`, and its name or any of the `extra` texts matches `names`.
    """

    vendor: str = ""
    names: tuple[str, ...] = ()
    compute_capabilities: tuple[str, ...] = ()
    """NVIDIA: `9.0`, or `9` for every minor version."""


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """One device, or one generation of devices that count alike.

    `simd_width` is the number of lanes that this model counts with; `simd_widths` are those that the
    hardware and its compiler can choose. Sizes are bytes. `facts` holds every figure with its source, by the
    name it has in the TOML file (`limits.max_work_group_size`). Two models are equal if all but `facts` and
    `notes` is, from which the rest was read: they can be keys of caches.
    """

    id: str
    name: str = field(hash=False)
    vendor: str = field(hash=False)
    aliases: tuple[str, ...] = field(hash=False)
    simd_width: int
    simd_widths: tuple[int, ...] = field(hash=False)
    line_bytes: int | None = field(hash=False)
    global_rule: GlobalRule = field(hash=False)
    local_rule: LocalRule = field(hash=False)
    constant_rule: ConstantRule = field(hash=False)
    limits: Limits = field(hash=False)
    matcher: Matcher = field(hash=False)
    facts: Mapping[str, Fact] = field(repr=False, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    has_scratchpad: bool | None = field(default=None, hash=False)
    """True where local memory is an on-chip scratchpad; False where it is ordinary cached memory."""
    generation: str = field(default="", hash=False)
    """For a product (`nvidia-h200`) the model whose rules it has (`nvidia-hopper`); empty for others."""
    constant_gains: bool | None = field(default=None, hash=False)
    """False where one address for all work-items was measured to be read as fast from global memory as from
    constant memory; `None` where nobody measured."""

    @property
    def is_product(self) -> bool:
        """False for the generic model, which stands for no device that records could be about."""
        return self.vendor != "generic"

    @property
    def granule_bytes(self) -> int | None:
        """Bytes in which global loads move; `None` where unpublished."""
        return self.global_rule.load_granule
