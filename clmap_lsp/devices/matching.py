"""Which model a detected OpenCL device is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clmap_lsp.devices.catalogue import list_models
from clmap_lsp.devices.model import DeviceModel


def match_device(vendor: str, name: str, extra: Mapping[str, str] | None = None) -> str | None:
    """Return the id of the model that fits a device as OpenCL describes it, or None if none does.

    Args:
        vendor: `CL_DEVICE_VENDOR`.
        name: `CL_DEVICE_NAME`.
        extra: what else is known: `compute_capability` ("9.0", from CL_DEVICE_COMPUTE_CAPABILITY_*_NV),
            `type` ("cpu" or "gpu"), `board_name` (AMD's marketing name), `version`, and others by any key.
    """
    known = dict(extra or {})
    capability = known.pop("compute_capability", "")
    is_cpu = known.get("type", "").lower() == "cpu"
    texts = [name, *(value for key, value in known.items() if key != "type")]
    for model in sorted(list_models(), key=lambda it: not it.generation):  # Products before generations.
        if model.id == "cpu":
            continue
        if not is_cpu and _vendor_fits(model, vendor, name) and _device_fits(model, texts, capability):
            return model.id
    return "cpu" if is_cpu or _is_cpu_by_name(name) else None


def _vendor_fits(model: DeviceModel, vendor: str, name: str) -> bool:
    # Some drivers (Rusticl, POCL over CUDA) give their own vendor, so the device's name may say it too.
    pattern = model.matcher.vendor
    return bool(pattern) and bool(re.search(pattern, f"{vendor} {name}", re.IGNORECASE))


def _device_fits(model: DeviceModel, texts: list[str], capability: str) -> bool:
    if capability and model.matcher.compute_capabilities:
        return any(
            capability == it or ("." not in it and capability.startswith(f"{it}."))
            for it in model.matcher.compute_capabilities
        )
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in model.matcher.names for text in texts)


def _is_cpu_by_name(name: str) -> bool:
    return bool(
        re.search(
            r"^(pthread|basic|cpu)\b|\bcpu\b|xeon|core\(tm\)|epyc|ryzen .*processor", name, re.IGNORECASE
        )
    )
