"""What a device can do in a second: the figures that a prediction of time rests on, each with a unit.

They are data (`data/*.json`), worked out from microbenchmarks (`calibration.py`) or, where nobody
measured, taken from publications; `basis` says which.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.strange_json import parsed
from clmap_lsp.whole_files import write_whole

DATA = Path(__file__).parent / "data"
_SAME_HOST = 1.05
"""`launch_hosts` of figures that were measured where launches are predicted."""
FOLDER_VARIABLE = "CLMAP_TIMES"
"""Names the folder of the user's own figures, instead of the one beside the user's database."""


@dataclass(frozen=True, slots=True)
class TimeFacts:
    """One product. Rates are of one compute unit a cycle where they say so, of the whole device otherwise."""

    id: str
    name: str
    basis: str
    """`calibrated`: from microbenchmarks on this product; `model`: from publications."""
    compute_units: int
    clock_hz: float
    launch_s: float
    """A launch of one empty work-group, by the device's own event times."""
    group_s: float
    """Each further work-group: the rate at which they start."""
    warp_s: float
    """Each SIMD group of a work-group; binds where groups are large."""
    schedulers: float
    """SIMD-group instructions a unit issues a cycle."""
    fp32: float
    int32: float
    fp64: float
    special: float
    multiply: float
    """Integer multiplications; SIMD-group instructions a unit executes a cycle, by pipe."""
    line_cycles: float
    """Cycles of the first-level cache for each line of a request."""
    wavefront_cycles: float
    """Cycles of local memory for each wavefront; the same pipeline."""
    l1_bytes: float
    """First-level cache and local memory together, of a unit."""
    l2_near_bytes: float
    """Footprint up to which the second level answers in `latency_l2`; it is `latency_dram` from 1.5
    `l2_bytes` on."""
    l2_bytes: float
    """Footprint up to which the second level serves everything again."""
    l2_full_bytes: float
    """Footprint from which it serves nothing again."""
    l2_sector_s: float
    """A sector from the second level, whole device."""
    l2_line_s: float
    """A line of which single sectors are asked for."""
    store_sector_s: float
    store_line_s: float
    """A store's sector and line at the second level."""
    dram_bytes_s: float
    """Attainable, read and written."""
    dram_random_bytes: float
    """What one sector costs of that where neighbours are not wanted."""
    dram_partial_bytes: float
    """What a line costs of that which is written in part: it is read, filled and written back."""
    latency_alu: float
    latency_local: float
    latency_l1: float
    latency_l2: float
    latency_dram: float
    """Cycles from issue to use."""
    barrier_cycles: float
    barrier_warp_cycles: float
    """A barrier, and each SIMD group that comes to it."""
    group_cycles: float
    group_warp_cycles: float
    """From the start of a work-group to its first useful cycle, and from its last to the next: for each,
    and for each of its SIMD groups."""
    atomic_same_s: float
    """An atomic on an address that the one before it also had."""
    atomic_line_s: float
    """An atomic request to a line that the one before it also had."""
    atomic_s: float
    """An atomic where none has the address of another, whole device."""
    local_atomic_cycles: float
    """A local atomic request, for each lane beyond the first that shares an address."""
    exponent: float
    """Of the norm by which parts overlap: 1 is one after the other, infinity is a roofline."""
    barrier_exponent: float
    """The same where work-groups wait for themselves between phases."""
    registers: int
    max_warps: int
    max_groups: int
    local_bytes: int
    """Of a unit, at most."""
    simd_width: int
    launch_hosts: float = 1.25
    """By what factor an empty launch may take more or less on another host than that of `launch_s`.

    With H100s it took 5.0 to 6.5 us, on two hosts with H200s 4.9 and 5.4.
    """
    spread: float = 1.0
    """By what factor ranges are wider than those of GPUs: CPUs' times are good for an order only."""


def user_folder() -> Path:
    """Return where figures that `calibrate --time` measured are kept."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("clmap-lsp", appauthor=False)) / "times"


@cache
def time_facts(device: str) -> TimeFacts | None:
    """Return a device's figures by its model's id: the user's own before those that ship.

    `None` where there are none. A damaged file of the user's counts as none.
    """
    own = user_folder() / f"{device}.json"
    if own.is_file():
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return dataclasses.replace(_read(own), launch_hosts=_SAME_HOST)
    path = DATA / f"{device}.json"
    return _read(path) if path.is_file() else None


def _read(path: Path) -> TimeFacts:
    return read_facts(parsed(safe_read(path, limit=SETTINGS_BYTES, within=None)))


def keep(document: dict[str, Any]) -> Path:
    """Write figures for the user, in place of older ones. Raises: OSError."""
    folder = user_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{document['id']}.json"
    write_whole(path, (json.dumps(document, indent=1) + "\n").encode())
    time_facts.cache_clear()
    return path


def read_facts(document: dict[str, Any]) -> TimeFacts:
    """Return the figures of a document, whose `facts` map names to `{"value", "source"}`."""
    values = {name: it["value"] for name, it in document["facts"].items()}
    known = {it.name for it in fields(TimeFacts)}
    return TimeFacts(
        id=document["id"],
        name=document["name"],
        basis=document["basis"],
        **{name: value for name, value in values.items() if name in known},
    )
