"""Memory selection, vectorisation and cost summary of a kernel as JSON (see the command-line contract)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clmap_lsp.hierarchy.cost import CostSummary, summarise
from clmap_lsp.hierarchy.occupancy import Residency, residency
from clmap_lsp.hierarchy.selection import Selection, select
from clmap_lsp.hierarchy.vectorise import Group, Vectorisation, vectorise
from clmap_lsp.report.json_check import place

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.hierarchy.instances import Instance
    from clmap_lsp.hierarchy.transform import Rule
    from clmap_lsp.source.program import Program


def hierarchy_json(program: Program, kernel: KernelAnalysis, device: DeviceModel) -> dict[str, Any]:
    """Return what is said of a kernel's arrays besides their accesses."""
    selections = select(kernel, device)
    return {
        "memory_selection": {it.array.name: it.memory.value for it in selections},
        "memory_selection_details": {it.array.name: _selection(program, it) for it in selections},
        "vectorization": vectorization_json(program, vectorise(kernel)),
        "cost": _cost(summarise(kernel, device)),
        "resident_work_groups": _residency(residency(kernel, device)),
    }


def _cost(it: CostSummary) -> dict[str, Any]:
    return {
        "passes": it.passes,
        "complete": it.complete,
        **{
            name: {
                "bytes": part.bytes,
                "passes": part.passes,
                "share": part.share,
                "reason": part.reason or None,
            }
            for name, part in (
                ("reuse_profit", it.reuse_profit),
                ("coalescing_profit", it.coalescing_profit),
                ("bank_conflicts", it.bank_conflicts),
                ("channel_skew", it.channel_skew),
            )
        },
    }


def _residency(it: Residency) -> dict[str, Any]:
    return {
        "groups": it.groups,
        "limit": it.limit,
        "simd_groups": it.simd_groups,
        "simd_capacity": it.simd_capacity,
    }


def _selection(program: Program, it: Selection) -> dict[str, Any]:
    return {
        "why": it.why,
        "moot": it.moot,
        "bytes": it.array.bytes,
        "read_only": it.array.is_read_only,
        "temporal_reuse": it.temporal_reuse,
        "patterns": list(it.patterns),
        "instances": [
            {
                **_instance(program, verdict.instance),
                "memory": verdict.memory.value,
                "pattern": verdict.pattern,
                "why": verdict.why,
            }
            for verdict in it.instances
        ],
    }


def _instance(program: Program, it: Instance) -> dict[str, Any]:
    return {
        "array": it.array,
        "index": it.accesses[0].index_text,
        "location": place(program.position(it.accesses[0].span)),
        "inter_thread": it.inter_thread,
        "intra_thread": it.intra_thread,
    }


def vectorization_json(program: Program, found: Vectorisation) -> dict[str, Any]:
    """Return Q_V, the largest groups, and for the best of them what happens to each array."""
    best = found.best
    return {
        "qv_percent": None if found.qv_percent is None else round(found.qv_percent, 1),
        "groups": [_group(program, it) for it in found.groups],
        "transformations": {} if best is None else _by_array(best),
        "left_out": [
            {"array": it.array, "index": it.accesses[0].index_text, "why": why} for it, why in found.left_out
        ],
    }


def _by_array(group: Group) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for rule in group.rules:
        steps = out.setdefault(rule.instance.array, [])
        steps += [it for it in rule.steps if it not in steps]
    for name in group.duplicated:
        out[name].insert(0, "duplicate")
    return {name: steps for name, steps in out.items() if steps}


def _group(program: Program, group: Group) -> dict[str, Any]:
    return {
        "direction": group.direction,
        "instances": [_rule(program, it) for it in group.rules],
        "patterns": list(group.patterns),
        "transformations": list(group.transformations),
        "duplicated": list(group.duplicated),
        "hazards": [{"array": it.array, "reason": it.reason} for it in group.hazards],
        "overhead": {
            "copied_bytes": group.overhead.copied,
            "extra_bytes": group.overhead.extra,
            "share": group.overhead.share,
        },
    }


def _rule(program: Program, rule: Rule) -> dict[str, Any]:
    access = rule.instance.accesses[0]
    shift = [access.text(it) for it in rule.shift]
    if rule.divisor != 1 and rule.shift[-1]:
        shift[-1] = f"({shift[-1]})/{rule.divisor}"
    return {
        "array": rule.instance.array,
        "index": access.index_text,
        "location": place(program.position(access.span)),
        "patterns": list(rule.patterns),
        "steps": list(rule.steps),
        "matrix": [[int(it) if it.denominator == 1 else str(it) for it in row] for row in rule.matrix],
        "shift": shift,
    }
