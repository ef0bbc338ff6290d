"""From the raw times of microbenchmarks to a device's figures.

Each figure comes from how one number moves one kernel's time (`opencl_device/microbenchmarks.py`); slopes
rather than single times, so that the launch's overhead drops out. What no microbenchmark isolates (how
parts overlap, what a work-group's start and end cost) was fitted once to launches of an NVIDIA H200 and is
taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

FITTED: Mapping[str, float] = {
    "group_cycles": 250.0,
    "group_warp_cycles": 21.5,
    "latency_l2": 200.0,
    "latency_dram": 765.0,
    "exponent": 4.0,
    "barrier_exponent": 2.3,
    "barrier_cycles": 10.0,
    "dram_partial_bytes": 158.0,
    "latency_local": 30.0,
    "local_atomic_cycles": 2.0,
    "store_sector_s": 4.8e-12,
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


def facts_of(document: Mapping[str, Any], device: str, name: str) -> dict[str, Any]:
    """Return a facts document of raw times (`benchmarks/time_run.py`), each figure with its source."""
    clocks = sorted(row[0] for row in document.get("microbenchmark_clocks", ()))
    clock = clocks[len(clocks) // 2] * 1e6 if clocks else document["device"]["clock_mhz"] * 1e6
    raw = Raw(document["microbenchmarks"], clock, int(document["device"]["compute_units"]))
    facts: dict[str, dict[str, Any]] = {
        "compute_units": {"value": raw.units, "source": "driver"},
        "clock_hz": {"value": clock, "source": "median of nvidia-smi's samples during the microbenchmarks"},
    }
    for key, (value, source) in PUBLISHED.items():
        facts[key] = {"value": value, "source": source}
    for key, value in FITTED.items():
        facts[key] = {"value": value, "source": "fitted to launches on an NVIDIA H200"}
    for key, (work, source) in _MEASURED.items():
        facts[key] = {"value": float(f"{work(raw):.6g}"), "source": f"microbenchmark {source}"}
    return {
        "schema": 1,
        "id": device,
        "name": name,
        "basis": "calibrated",
        "driver": document["device"]["driver"],
        "facts": facts,
    }


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
