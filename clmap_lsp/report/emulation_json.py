"""An emulated launch as JSON (see the command-line contract)."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

from clmap_lsp.emulator.result import CallPlace, EmulationResult, Fault, SiteResult, Stop
from clmap_lsp.emulator.roomier import enlarged
from clmap_lsp.launch.model import Launch
from clmap_lsp.report.analysis_json import launch_json
from clmap_lsp.report.json_check import SCHEMA_VERSION, place
from clmap_lsp.report.time_json import time_json
from clmap_lsp.source.program import Program
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.research import OnDevice
    from clmap_lsp.time.model import Prediction


def render(
    program: Program,
    launch: Launch,
    result: EmulationResult,
    on_device: OnDevice | None = None,
    time: Prediction | str | None = None,
) -> str:
    """Return the document; what a device measured stands in it as `on_device`."""
    document = {**emulation_json(program, launch, result), **time_json(time)}
    if on_device is not None:
        document["on_device"] = on_device.as_json()
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def emulation_json(program: Program, launch: Launch, result: EmulationResult) -> dict[str, Any]:
    """Return one launch. Floating-point values that JSON cannot hold are texts: `nan`, `inf`, `-inf`."""
    metrics = result.metrics
    return {
        "schema": SCHEMA_VERSION,
        "kernel": result.kernel,
        "launch": launch_json(enlarged(launch, result.enlarged)),
        "method": result.method.value,
        "engine": result.engine.value,
        "engine_reason": result.engine_reason,
        "definition": result.definition.value,
        "local_addresses": result.local_addresses.value,
        "access_view": result.access_view.value,
        "metrics": {
            "accesses": metrics.accesses,
            "loads": metrics.loads,
            "stores": metrics.stores,
            "footprint": metrics.footprint,
            "footprint_90": metrics.footprint_90,
            "gmae": metrics.gmae,
            "lmae": list(metrics.lmae),
            "psl": list(metrics.psl),
            "relative_local": metrics.relative_local,
        },
        "sites": [_site(program, it) for it in result.sites],
        "buffers": {
            name: {
                "type": it.type,
                "count": it.count,
                "sha256": it.sha256,
                "first": [_number(value) for value in it.first],
                "last": [_number(value) for value in it.last],
                "strides": None if it.strides is None else dataclasses.asdict(it.strides),
            }
            for name, it in result.buffers.items()
        },
        "faults": [_fault(program, it) for it in result.faults],
        "parallelism": dataclasses.asdict(result.parallelism),
        "control": None if result.control is None else dataclasses.asdict(result.control),
        "operations": dict(result.operations),
        "groups_run": result.groups_run,
        "stopped": None if result.stopped is None else _stop(result.stopped),
        "sampling": None if result.sampling is None else dataclasses.asdict(result.sampling),
        "printed": list(result.printed),
        "notes": list(result.notes),
        "seconds": {
            "compile": result.seconds.compile,
            "run": result.seconds.run,
            "metrics": result.seconds.metrics,
            "inputs": result.seconds.inputs,
            "symbolic": result.seconds.symbolic,
        },
    }


def _site(program: Program, it: SiteResult) -> dict[str, Any]:
    strides = it.strides
    return {
        "site": it.site,
        "filename": it.span.path,
        **_range(program, it.span),
        "buffer": it.buffer,
        "space": it.space,
        "op": it.op,
        "element_bytes": it.element_bytes,
        "executions": it.executions,
        "requests": it.requests,
        "sectors": it.sectors,
        "wavefronts": it.wavefronts,
        "strides": None if strides is None else dataclasses.asdict(strides),
    }


def _fault(program: Program, it: Fault) -> dict[str, Any]:
    other = None
    if it.other_span is not None:
        other = {
            "filename": it.other_span.path,
            **_range(program, it.other_span),
            "work_item": None if it.other_work_item is None else list(it.other_work_item),
            "work_group": None if it.other_work_group is None else list(it.other_work_group),
            "role": None if it.other_role is None else it.other_role.value,
            "calls": _calls(program, it.other_calls),
        }
    return {
        "kind": it.kind.value,
        "filename": it.span.path,
        **_range(program, it.span),
        "space": it.space,
        "work_item": None if it.work_item is None else list(it.work_item),
        "work_group": None if it.work_group is None else list(it.work_group),
        "buffer": it.buffer,
        "offset": it.offset,
        "element": it.element,
        "role": None if it.role is None else it.role.value,
        "occurrences": it.occurrences,
        "detail": it.detail,
        "other": other,
        "grounds": it.grounds.value,
        "calls": _calls(program, it.calls),
    }


def _calls(program: Program, calls: tuple[CallPlace, ...]) -> list[dict[str, Any]]:
    return [{"function": it.function, "filename": it.span.path, **_range(program, it.span)} for it in calls]


def _stop(it: Stop) -> dict[str, Any]:
    return {
        "limit": it.limit.value,
        "work_item": None if it.work_item is None else list(it.work_item),
        "work_group": None if it.work_group is None else list(it.work_group),
        "detail": it.detail,
    }


def _number(value: float) -> Any:
    return value if math.isfinite(value) else str(value)


def _range(program: Program, span: Span) -> dict[str, Any]:
    return {
        "location": place(program.position(span)),
        "end_location": place(program.end_position(span)),
    }
