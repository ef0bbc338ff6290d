"""Device models as text and JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from clmap_lsp.devices.catalogue import DEFAULT_MODEL
from clmap_lsp.devices.model import BankedLocal, CachedLocal, DeviceModel, Unknown


def list_text(models: Sequence[DeviceModel]) -> str:
    """Return one line a model: id, lanes, granule, local memory, name."""
    rows = [("id", "lanes", "granule", "local memory", "name")]
    for it in models:
        granule = "unknown" if it.granule_bytes is None else f"{it.granule_bytes} B"
        default = " (default)" if it.id == DEFAULT_MODEL else ""
        rows.append((it.id, str(it.simd_width), granule, local_words(it), it.name + default))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True)) + f"  {row[4]}\n"
        for row in rows
    )


def local_words(model: DeviceModel) -> str:
    """Say in a few words how local memory is counted."""
    match model.local_rule:
        case BankedLocal(banks=banks, bank_bytes=width):
            return f"{banks} banks of {width} B"
        case CachedLocal(line_bytes=line):
            return f"cached, {line} B lines"
        case Unknown():
            return "unknown"


def device_text(model: DeviceModel) -> str:
    """Return a model with every fact, its confidence and its source."""
    lines = [f"{model.name} ({model.id})", f"vendor: {model.vendor}"]
    if model.aliases:
        lines.append(f"also called: {', '.join(model.aliases)}")
    lines.append(f"lanes: {model.simd_width} (of {', '.join(map(str, model.simd_widths))})")
    lines.append(f"local memory: {local_words(model)}")
    if isinstance(model.local_rule, Unknown):
        lines.append(f"  {model.local_rule.reason}")
    lines.append("")
    width = max((len(name) for name in model.facts), default=0)
    for name, fact in model.facts.items():
        value = "unknown" if fact.value is None else str(fact.value)
        lines.append(f"{name:{width}}  {value}  [{fact.confidence.value}: {fact.source}]")
        if fact.note:
            lines.append(f"{'':{width}}  {fact.note}")
    lines += ["", *model.notes] if model.notes else []
    return "\n".join(lines) + "\n"


def device_json(model: DeviceModel) -> dict[str, Any]:
    """Return a model for tools; what is not published is null."""
    return {
        "id": model.id,
        "name": model.name,
        "vendor": model.vendor,
        "aliases": list(model.aliases),
        "default": model.id == DEFAULT_MODEL,
        "simd_width": model.simd_width,
        "simd_widths": list(model.simd_widths),
        "line_bytes": model.line_bytes,
        "granule_bytes": {
            "load": model.global_rule.load_granule,
            "store": model.global_rule.store_granule,
        },
        "local": local_words(model),
        "constant": model.constant_rule.value,
        "limits": dataclasses.asdict(model.limits),
        "facts": {
            name: {
                "value": list(fact.value) if isinstance(fact.value, tuple) else fact.value,
                "confidence": fact.confidence.value,
                "source": fact.source,
                "note": fact.note,
            }
            for name, fact in model.facts.items()
        },
        "notes": list(model.notes),
    }
