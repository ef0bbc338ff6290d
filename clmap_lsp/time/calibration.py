"""From the raw times of microbenchmarks to a device's figures.

Each figure comes from how one number moves one kernel's time (`opencl_device/microbenchmarks.py`); slopes
rather than single times, so that the launch's overhead drops out. What no microbenchmark isolates (how
parts overlap, what a work-group's start and end cost) was fitted once to launches of an NVIDIA H200 and is
taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clmap_lsp.dataclass import dataclass

Row = Mapping[str, Any]

FITTED: Mapping[str, float] = {
    "group_cycles": 250.0,
    "group_warp_cycles": 21.5,
    "latency_l2": 263.0,
    "latency_dram": 765.0,
    "exponent": 4.0,
    "barrier_exponent": 2.3,
    "barrier_cycles": 10.0,
    "dram_partial_bytes": 158.0,
    "latency_local": 30.0,
    "local_atomic_cycles": 2.0,
}
"""Least mean error of the logarithm over 196 launches on an H200 (`python -m benchmarks.time_fit`)."""

PUBLISHED: Mapping[str, tuple[float, str]] = {
    "schedulers": (4, "NVIDIA H100 white paper"),
    "l1_bytes": (240 * 1024, "NVIDIA H100 white paper: 256 KB with local memory; some is the driver's"),
    "registers": (65536, "CUDA C++ Programming Guide, compute capability 9.0"),
    "max_warps": (64, "CUDA C++ Programming Guide, compute capability 9.0"),
    "max_groups": (32, "CUDA C++ Programming Guide, compute capability 9.0"),
    "local_bytes": (233472, "CUDA C++ Programming Guide, compute capability 9.0"),
    "simd_width": (32, "CUDA C++ Programming Guide"),
    "latency_alu": (4, "arXiv:2402.13499"),
}


@dataclass(frozen=True, slots=True)
class Raw:
    """The rows of one run of the microbenchmarks."""

    rows: Sequence[Row]
    clock_hz: float
    units: int

    def seconds(self, name: str, **numbers: float) -> float:
        """Return the median of the setting with these numbers. Raises: KeyError if there is none."""
        for row in self.rows:
            known = row["numbers"]
            if row["name"] == name and all(known.get(key) == value for key, value in numbers.items()):
                return float(row["median"])
        raise KeyError(f"no microbenchmark {name} with {numbers}")

    def slope(self, name: str, key: str, low: float, high: float, **numbers: float) -> float:
        """Return seconds for each step of one number."""
        more = self.seconds(name, **{key: high}, **numbers)
        return (more - self.seconds(name, **{key: low}, **numbers)) / (high - low)

    def all(self, name: str) -> list[Row]:
        """Return every setting of one microbenchmark."""
        return [row for row in self.rows if row["name"] == name]


def facts_of(
    document: Mapping[str, Any], device: str, name: str, limits: Mapping[str, tuple[float, str]] | None = None
) -> dict[str, Any]:
    """Return a facts document of raw times (`benchmarks/time_run.py`), each figure with its source.

    `limits` are what the device's model says, where it is another generation than NVIDIA's Hopper.
    Raises: KeyError if a microbenchmark is missing.
    """
    clocks = sorted(row[0] for row in document.get("microbenchmark_clocks", ()))
    clock = clocks[len(clocks) // 2] * 1e6 if clocks else document["device"]["clock_mhz"] * 1e6
    raw = Raw(document["microbenchmarks"], clock, int(document["device"]["compute_units"]))
    facts: dict[str, dict[str, Any]] = {
        "compute_units": {"value": raw.units, "source": "driver"},
        "clock_hz": {"value": clock, "source": "median of nvidia-smi's samples during the microbenchmarks"},
    }
    for key, (value, source) in {**PUBLISHED, **(limits or {})}.items():
        facts[key] = {"value": value, "source": source}
    for key, value in FITTED.items():
        facts[key] = {"value": value, "source": "fitted to launches on an NVIDIA H200"}
    for key, (work, source) in _MEASURED.items():
        facts[key] = {"value": float(f"{work(raw):.6g}"), "source": f"microbenchmark {source}"}
    return _document(document, device, name, facts)


def _document(raw: Mapping[str, Any], device: str, name: str, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "id": device,
        "name": name,
        "basis": "calibrated",
        "driver": raw["device"]["driver"],
        "facts": facts,
    }


_CPU_LANES = 8
"""Work-items that PoCL and others put into one vector: a SIMD group of the CPU's device model."""
_NEVER_WAITS = ("latency_alu", "latency_local", "latency_l1", "latency_l2", "latency_dram")
_HUGE = 1e12


def cpu_facts_of(document: Mapping[str, Any], device: str, name: str) -> dict[str, Any]:
    """Return the facts of a CPU: cores, vectors and caches, with nothing that waits.

    Work-items of a group run one after the other in vectors, so that out-of-order execution and prefetching
    hide latencies, local memory is cached memory, and a barrier is the end of a loop over the group.
    Raises: KeyError if a microbenchmark is missing.
    """
    clock = document["device"]["clock_mhz"] * 1e6
    raw = Raw(document["microbenchmarks"], clock, int(document["device"]["compute_units"]))
    lanes = 32 / _CPU_LANES
    empty = raw.seconds("empty", groups=1)
    held = float(document["device"].get("cache_bytes") or 1 << 25)
    line = _cycles("l1_load", 8, 32, width=1)(raw)
    near = max(raw.all("l2_read"), key=lambda it: it["numbers"]["bytes"] / it["median"])
    far = raw.all("l2_read")[-1]
    memory = far["numbers"]["bytes"] / (far["median"] - empty)
    sector = 32 / (near["numbers"]["bytes"] / (near["median"] - empty))
    rates = {it: _pipe(it)(raw) * lanes for it in ("fma", "shift", "rsqrt")}
    double = _pipe("dfma")(raw) * lanes if raw.all("chain_dfma") else rates["fma"] / 2
    groups = raw.seconds("groups", groups=256, items=32)
    barrier = raw.slope("barrier", "warps", 4, 32) * clock / 20 / lanes
    atomic = _atomic("atomic_same", 1, 1)(raw)
    measured: dict[str, tuple[float, str]] = {
        "launch_s": (empty, "empty"),
        "group_s": (max(groups - empty, 1e-9) / 255, "groups of 32 work-items"),
        "warp_s": (0.0, "none: vectors of a group start for nothing"),
        "schedulers": (2 * rates["fma"], "chain_fma: twice, for what runs beside arithmetic"),
        "fp32": (rates["fma"], "chain_fma"),
        "int32": (2 * rates["shift"], "chain_shift"),
        "multiply": (rates["fma"], "chain_fma: multiplications are of indices, which vectors share"),
        "special": (max(rates["rsqrt"], rates["fma"] / _CPU_LANES), "chain_rsqrt, chain_fma"),
        "fp64": (double, "chain_dfma"),
        "line_cycles": (max(line / lanes, 1 / 16), "l1_load"),
        "wavefront_cycles": (max(line / lanes, 1 / 16), "l1_load: local memory is cached memory"),
        "l2_sector_s": (sector, "l2_read"),
        "l2_line_s": (sector, "l2_read"),
        "store_sector_s": (sector, "l2_read"),
        "store_line_s": (sector, "l2_read"),
        "dram_bytes_s": (memory, "l2_read: 64 MiB"),
        "dram_random_bytes": (64.0, "a line"),
        "dram_partial_bytes": (128.0, "a line, read and written"),
        "barrier_warp_cycles": (max(barrier, 0.0), "barrier"),
        "atomic_same_s": (atomic, "atomic_same"),
        "atomic_line_s": (atomic, "atomic_same"),
        "atomic_s": (atomic, "atomic_same"),
    }
    plain: dict[str, tuple[float, str]] = {
        "compute_units": (raw.units, "driver"),
        "clock_hz": (clock, "driver"),
        "l1_bytes": (48 * 1024, "x86 and Arm cores of the last years: 32 to 128 KB"),
        "l2_near_bytes": (held / 2, "driver: half of the cache that it names"),
        "l2_bytes": (held, "driver: the cache that it names"),
        "l2_full_bytes": (2 * held, "driver: twice the cache that it names"),
        **dict.fromkeys(_NEVER_WAITS, (0.0, "out-of-order execution")),
        **dict.fromkeys(("barrier_cycles", "group_cycles", "group_warp_cycles"), (0.0, "none")),
        "local_atomic_cycles": (4.0, "assumed"),
        "exponent": (2.0, "assumed: half of the parts overlap"),
        "barrier_exponent": (2.0, "assumed"),
        **dict.fromkeys(("registers", "max_warps", "max_groups", "local_bytes"), (_HUGE, "none")),
        "simd_width": (_CPU_LANES, "device model"),
        "spread": (3.0, "launches of the fixtures with PoCL"),
    }
    facts = {key: {"value": value, "source": source} for key, (value, source) in plain.items()}
    for key, (value, source) in measured.items():
        facts[key] = {"value": float(f"{value:.6g}"), "source": f"microbenchmark {source}"}
    return _document(document, device, name, facts)


def _pipe(kind: str, operations: float = 1.0) -> Callable[[Raw], float]:
    def rate(raw: Raw) -> float:
        row = next(
            it
            for it in raw.all(f"chain_{kind}")
            if it["numbers"]["chains"] == 4 and it["numbers"]["warps"] == 64
        )
        few = raw.seconds("empty", groups=1)
        numbers = row["numbers"]
        work = numbers["chains"] * numbers["warps"] * numbers["steps"] * operations
        return float(work / ((row["median"] - few) * raw.clock_hz))

    return rate


def _cycles(name: str, low: float, high: float, **numbers: float) -> Callable[[Raw], float]:
    """Return cycles for each line or wavefront, from two strides."""

    def work(raw: Raw) -> float:
        row = next(it for it in raw.all(name) if it["numbers"]["stride"] == high)
        each = raw.slope(name, "stride", low, high, **numbers)
        return float(each * raw.clock_hz * raw.units / row["numbers"]["requests"])

    return work


def _bandwidth(name: str) -> Callable[[Raw], float]:
    def work(raw: Raw) -> float:
        row = raw.all(name)[0]
        return float(row["numbers"]["bytes"] / (row["median"] - raw.seconds("empty", groups=1)))

    return work


def _level(raw: Raw) -> list[tuple[float, float]]:
    """Return (footprint, bytes a second) of repeated reads, beyond what first-level caches hold together."""
    few = raw.seconds("empty", groups=1)
    return [
        (row["numbers"]["footprint"], row["numbers"]["bytes"] / (row["median"] - few))
        for row in raw.all("l2_read")
        if row["numbers"]["footprint"] >= 4e6
    ]


def _plateau(raw: Raw) -> float:
    speeds = sorted(speed for size, speed in _level(raw) if size <= 20e6)
    return speeds[len(speeds) // 2]


def _held(raw: Raw) -> float:
    """Return the footprint up to which repeated reads keep the second level's speed."""
    plateau = _plateau(raw)
    return 1.2 * max(size for size, speed in _level(raw) if speed > 0.93 * plateau)


def _unheld(raw: Raw) -> float:
    """Return the footprint from which they have the memory's speed."""
    floor = _level(raw)[-1][1]
    return 0.85 * min(size for size, speed in _level(raw) if speed < 1.12 * floor)


def _random(name: str, low: float, high: float) -> Callable[[Raw], float]:
    """Return seconds for each scattered access while the second level holds the footprint."""

    def work(raw: Raw) -> float:
        rows = [it for it in raw.all(name) if low <= it["numbers"]["footprint"] <= high]
        row = min(rows, key=lambda it: it["median"])
        return float((row["median"] - raw.seconds("empty", groups=1)) / row["numbers"]["operations"])

    return work


def _random_bytes(raw: Raw) -> float:
    far = raw.all("gather")[-1]
    each = (far["median"] - raw.seconds("empty", groups=1)) / far["numbers"]["operations"]
    return float(each * _bandwidth("dram_copy")(raw))


def _atomic(name: str, addresses: float, operations: float) -> Callable[[Raw], float]:
    def work(raw: Raw) -> float:
        row = next(it for it in raw.all(name) if it["numbers"]["addresses"] == addresses)
        done = row["numbers"]["operations"] / operations
        return float((row["median"] - raw.seconds("empty", groups=1)) / done)

    return work


_MEASURED: Mapping[str, tuple[Callable[[Raw], float], str]] = {
    "launch_s": (lambda raw: raw.seconds("groups", groups=256, items=128), "groups: 256 of them"),
    "group_s": (lambda raw: raw.slope("groups", "groups", 65536, 262144, items=128), "groups"),
    "warp_s": (
        lambda raw: raw.slope("groups", "groups", 65536, 262144, items=1024) / 32,
        "groups of 1024 work-items",
    ),
    "fp32": (_pipe("fma"), "chain_fma"),
    "multiply": (_pipe("imad"), "chain_imad"),
    "int32": (_pipe("shift", 2.0), "chain_shift"),
    "fp64": (_pipe("dfma"), "chain_dfma"),
    "special": (_pipe("rsqrt"), "chain_rsqrt"),
    "line_cycles": (_cycles("l1_load", 8, 32, width=1), "l1_load"),
    "wavefront_cycles": (_cycles("local_load", 8, 32), "local_load"),
    "latency_l1": (
        lambda raw: raw.seconds("chase", footprint=16384.0) * raw.clock_hz / 8000 - 8,
        "chase: 16 KiB, less the address's arithmetic",
    ),
    "l2_near_bytes": (lambda raw: 0.6 * _held(raw), "l2_read"),
    "l2_bytes": (_held, "l2_read"),
    "l2_full_bytes": (_unheld, "l2_read"),
    "l2_sector_s": (lambda raw: 1.35 * 32 / _plateau(raw), "l2_read; with what was fitted, 1.35"),
    "store_sector_s": (
        lambda raw: 1.35 * 32 / _plateau(raw),
        "l2_read: on an H200 sectors that are stored were fitted to 1.007 of those that are loaded",
    ),
    "l2_line_s": (_random("gather", 4e6, 20e6), "gather"),
    "store_line_s": (_random("scatter", 4e6, 20e6), "scatter"),
    "dram_bytes_s": (_bandwidth("dram_copy"), "dram_copy"),
    "dram_random_bytes": (_random_bytes, "gather"),
    "barrier_warp_cycles": (
        lambda raw: raw.slope("barrier", "warps", 4, 32) * raw.clock_hz / 2000,
        "barrier",
    ),
    "atomic_same_s": (_atomic("atomic_same", 1, 1), "atomic_same"),
    "atomic_line_s": (lambda raw: _atomic("atomic_line", 32, 32)(raw) - 0.7e-9, "atomic_line"),
    "atomic_s": (_atomic("atomic_line", 65536, 0.35), "atomic_line"),
}
