"""The static result as JSON (see the command-line contract)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clmap_lsp.analysis.model import AccessAnalysis, AccessTotals, FileAnalysis, KernelAnalysis, MemoryTotals
from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.image import NO_LAYOUT
from clmap_lsp.launch.model import Launch, ScalarArgument
from clmap_lsp.report.compiled_json import compiled_access_json, compiled_json
from clmap_lsp.report.hierarchy_json import hierarchy_json
from clmap_lsp.report.json_check import SCHEMA_VERSION, place
from clmap_lsp.report.time_json import time_json
from clmap_lsp.source.program import Program
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.analysis.images import ImageAnalysis
    from clmap_lsp.emulator.symbolic.images import Spread


@dataclass(frozen=True, slots=True)
class AnalysedFile:
    """One file with its program, for places and errors; neither where the file could not be read."""

    path: str
    program: Program | None
    analysis: FileAnalysis | None
    error: str | None = None


def render(files: Sequence[AnalysedFile], device: str) -> str:
    """Return the document."""
    document = {"schema": SCHEMA_VERSION, "device": device, "files": [file_json(it) for it in files]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def file_json(file: AnalysedFile) -> dict[str, Any]:
    """Return one file."""
    out: dict[str, Any] = {"path": file.path, "errors": [], "kernels": []}
    if file.error is not None:
        out["errors"].append({"message": file.error, "location": {"row": 1, "column": 1}})
    if file.program is None or file.analysis is None:
        return out
    program = file.program
    out["errors"] += [
        {
            "code": it.code,
            "severity": it.severity.value,
            "message": it.message,
            "filename": it.span.path,
            "location": place(program.position(it.span)),
        }
        for it in program.problems
    ]
    device = file.analysis.device
    out["kernels"] = [
        {**kernel_json(program, it), **hierarchy_json(program, it, device)} for it in file.analysis.kernels
    ]
    return out


def kernel_json(program: Program, kernel: KernelAnalysis) -> dict[str, Any]:
    """Return one kernel."""
    return {
        "name": kernel.name,
        **_range(program, kernel.kernel.name_span),
        "launch": None if kernel.launch is None else launch_json(kernel.launch),
        "launch_problems": list(kernel.launch_problems),
        "accesses": [
            {**access_json(program, it), **compiled_access_json(kernel, it.access.site)}
            for it in sorted((*kernel.accesses, *kernel.unreached), key=lambda it: it.access.site)
        ],
        "images": [image_json(program, it) for it in kernel.images],
        **compiled_json(program, kernel),
        **time_json(kernel.time),
        "totals": totals_json(kernel.totals),
        "swapped_dimensions": None
        if kernel.swapped is None
        else {"local": list(kernel.swapped.local_size), "totals": totals_json(kernel.swapped.totals)},
        "work_group_shapes": [
            {
                "local": list(it.local_size),
                "totals": totals_json(it.totals),
                "per_request": {str(site): figure for site, figure in sorted(it.per_request.items())},
            }
            for it in kernel.shapes
        ],
        "guesses": [{"name": it.name, "role": it.role, "value": it.value} for it in kernel.guesses],
        "rests_on": [
            {"kind": it.kind, "name": it.name, "value": it.value, "origin": it.origin}
            for it in kernel.rests_on
        ],
        "notes": list(kernel.notes),
    }


def launch_json(launch: Launch) -> dict[str, Any]:
    """Return a launch; scalars are numbers, buffers their texts, in the order of the parameters."""
    return {
        "global": list(launch.global_size),
        "local": list(launch.local_size),
        "args": {name: _argument(it) for name, it in launch.arguments.items()},
        "origin": launch.origin.value,
        "inferred": sorted(launch.inferred),
        "origins": {name: it.value for name, it in launch.origins.items()},
        "source": launch.source,
        **({"offset": list(launch.global_offset)} if launch.global_offset else {}),
    }


def _argument(argument: object) -> Any:
    if isinstance(argument, ScalarArgument):
        values = [it if math.isfinite(it) else str(it) for it in argument.values]
        return values[0] if len(values) == 1 else values
    return str(argument)


def access_json(program: Program, it: AccessAnalysis) -> dict[str, Any]:
    """Return one access."""
    access, cost = it.access, it.per_request
    return {
        "site": access.site,
        "filename": access.span.path,
        **_range(program, access.span),
        "buffer": access.buffer,
        "space": access.space.value,
        "op": access.direction.value,
        "element_type": access.element_type,
        "element_bytes": access.element_bytes,
        "pieces": list(it.pieces) or [access.element_bytes],
        "place": access.place_text,
        "index": access.index_text,
        "guard": access.guard_text,
        "loop_depth": len(access.loops),
        "affine": access.affine,
        "indirect": access.indirect,
        **_classified(it),
        "stride": {"text": it.stride.text, "bytes": it.stride.bytes},
        "per_request": None
        if cost is None
        else {
            "min": cost.min,
            "mean": cost.mean,
            "max": cost.max,
            "ideal": int(cost.ideal) if cost.ideal == int(cost.ideal) else cost.ideal,
            "unit": cost.unit,
        },
        "in_general": it.in_general,
        "totals": _access_totals(it),
        "share": it.share,
        "method": it.method,
        "never_executed": it.is_never_executed,
        "reason": it.reason or access.unknown,
        "calls": [{"function": frame.function, **_range(program, frame.call)} for frame in access.frames],
    }


def image_json(program: Program, it: ImageAnalysis) -> dict[str, Any]:
    """Return one read or write of an image; null for what is not known."""
    access, count, found = it.access, it.count, it.classified.matrix
    steps = [[{"text": step.text, "texels": step.value} for step in steps] for steps in it.steps]
    return {
        "site": access.site,
        "filename": access.span.path,
        **_range(program, access.span),
        "image": access.buffer,
        "type": None if access.root is None else str(access.root.type),
        "op": access.direction.value,
        "place": access.place_text,
        "coordinates": [access.text(part) for part in access.coordinates],
        "guard": access.guard_text,
        "matrix": None if found is None else [list(row) for row in it.classified.entries],
        "columns": None if found is None else list(it.classified.columns),
        "offset": None if found is None else list(it.classified.offset),
        "steps": steps,
        "per_request": None
        if count.texels is None or count.rows is None or count.box is None
        else {"texels": _spread(count.texels), "rows": _spread(count.rows), "box": list(count.box)},
        "executions": None if count.method == "unknown" else count.executions,
        "requests": None if count.method == "unknown" else count.requests,
        "method": count.method,
        "reason": count.reason,
        "cost": None,
        "cost_reason": NO_LAYOUT,
    }


def _spread(it: Spread) -> dict[str, Any]:
    return {"min": it.min, "mean": it.mean, "max": it.max}


def _access_totals(it: AccessAnalysis) -> dict[str, Any]:
    """Return an access's sums; null for what is not known."""
    if it.totals is None or (it.method == "unknown" and not it.totals.requests):
        return dict.fromkeys(("instructions", "requests", "sectors", "wavefronts"))
    found: dict[str, Any] = {**_totals(it.totals)}
    if it.method == "unknown":
        found.update(sectors=None, wavefronts=None)
    return found


def _classified(it: AccessAnalysis) -> dict[str, Any]:
    """Return the matrix and the classes; texts where an entry is no number, nulls where nothing is known."""
    found = it.classified
    if found is None or found.matrix is None:
        return {
            **dict.fromkeys(("matrix", "columns", "offset", "emap", "imap", "map")),
            "patterns": [] if found is None else list(found.patterns),
        }
    return {
        "matrix": [list(row) for row in found.entries],
        "columns": list(found.columns),
        "offset": list(found.offset),
        "emap": found.emap,
        "imap": None if found.imap is None else found.imap.value,
        "map": found.map_name,
        "patterns": list(found.patterns),
        "class_reason": found.map_reason or found.emap_reason or found.imap_reason or None,
    }


def totals_json(totals: MemoryTotals) -> dict[str, Any]:
    """Return the traffic by kind of access."""
    return {
        **{
            name: {"requests": it.requests, "sectors": it.sectors}
            for name, it in (("global_load", totals.global_load), ("global_store", totals.global_store))
        },
        **{
            name: {"instructions": it.instructions, "wavefronts": it.wavefronts}
            for name, it in (("local_load", totals.local_load), ("local_store", totals.local_store))
        },
        "complete": totals.complete,
    }


def _totals(totals: AccessTotals) -> dict[str, int]:
    return {
        "instructions": totals.instructions,
        "requests": totals.requests,
        "sectors": totals.sectors,
        "wavefronts": totals.wavefronts,
    }


def _range(program: Program, span: Span) -> dict[str, Any]:
    return {
        "location": place(program.position(span)),
        "end_location": place(program.end_position(span)),
    }
