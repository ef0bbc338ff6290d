"""The one door to the research rooms: `aristotle`, `strides`, and `opencl_device` with its drivers.

A reader of the product may skip what is behind it. What rules, fixes, reports and the server want of those
rooms stands in the table below, and is imported when it is asked for; the import rules hold that nothing else
comes past here but the commands that are about research only.
"""

# ruff: noqa: PLC0414 - that says to the type checker that the names are offered here.
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from clmap_lsp.aristotle.advice import Advice as Advice
    from clmap_lsp.aristotle.advice import advise as advise
    from clmap_lsp.aristotle.advice import best_record as best_record
    from clmap_lsp.aristotle.advice import record_row as record_row
    from clmap_lsp.aristotle.database import DatabaseError as DatabaseError
    from clmap_lsp.aristotle.database import Source as Source
    from clmap_lsp.aristotle.known import known_records as known_records
    from clmap_lsp.aristotle.maps import Map as Map
    from clmap_lsp.aristotle.nearest import choices as choices
    from clmap_lsp.aristotle.nearest import find_platforms as find_platforms
    from clmap_lsp.aristotle.shipped import open_database as open_database
    from clmap_lsp.aristotle.shipped import user_database_path as user_database_path
    from clmap_lsp.aristotle.staging import ArrayAdvice as ArrayAdvice
    from clmap_lsp.aristotle.staging import StagingPlan as StagingPlan
    from clmap_lsp.aristotle.staging import staging_plan as staging_plan
    from clmap_lsp.aristotle.verdict import Verdict as Verdict
    from clmap_lsp.opencl_device.errors import DeviceError as DeviceError
    from clmap_lsp.opencl_device.find import choose_device as choose_device
    from clmap_lsp.opencl_device.find import list_devices as list_devices
    from clmap_lsp.opencl_device.on_device import OnDevice as OnDevice
    from clmap_lsp.opencl_device.on_device import measure as measure
    from clmap_lsp.opencl_device.on_device_job import DeviceJob as DeviceJob
    from clmap_lsp.opencl_device.on_device_job import NotForDevicesError as NotForDevicesError
    from clmap_lsp.opencl_device.on_device_job import make_job as make_job
    from clmap_lsp.opencl_device.versions import time_versions as time_versions
    from clmap_lsp.strides.predict import Curve as Curve
    from clmap_lsp.strides.predict import Estimate as Estimate
    from clmap_lsp.strides.predict import device_curve as device_curve
    from clmap_lsp.strides.predict import estimate_from_sectors as estimate_from_sectors
    from clmap_lsp.strides.recognise import LoopSplit as LoopSplit
    from clmap_lsp.strides.recognise import Resplit as Resplit
    from clmap_lsp.strides.recognise import SplitAdvice as SplitAdvice
    from clmap_lsp.strides.recognise import loop_splits as loop_splits
    from clmap_lsp.strides.recognise import resplit as resplit
    from clmap_lsp.strides.recognise import split_advice as split_advice

_BEHIND: Final = {
    "aristotle.advice": (
        "Advice",
        "advise",
        "best_record",
        "record_row",
    ),
    "aristotle.database": (
        "DatabaseError",
        "Source",
    ),
    "aristotle.known": ("known_records",),
    "aristotle.maps": ("Map",),
    "aristotle.nearest": (
        "choices",
        "find_platforms",
    ),
    "aristotle.shipped": (
        "open_database",
        "user_database_path",
    ),
    "aristotle.staging": (
        "ArrayAdvice",
        "StagingPlan",
        "staging_plan",
    ),
    "aristotle.verdict": ("Verdict",),
    "opencl_device.errors": ("DeviceError",),
    "opencl_device.find": (
        "choose_device",
        "list_devices",
    ),
    "opencl_device.on_device": (
        "OnDevice",
        "measure",
    ),
    "opencl_device.on_device_job": (
        "DeviceJob",
        "NotForDevicesError",
        "make_job",
    ),
    "opencl_device.versions": ("time_versions",),
    "strides.predict": (
        "Curve",
        "Estimate",
        "device_curve",
        "estimate_from_sectors",
    ),
    "strides.recognise": (
        "LoopSplit",
        "Resplit",
        "SplitAdvice",
        "loop_splits",
        "resplit",
        "split_advice",
    ),
}
"""What may be asked for, by room and module."""

_HOMES: Final = {name: f"clmap_lsp.{module}" for module, names in _BEHIND.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
