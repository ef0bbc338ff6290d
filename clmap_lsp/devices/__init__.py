"""Device models and the exact rules by which they count memory transactions and bank passes."""

from clmap_lsp.devices.catalogue import DEFAULT_MODEL, DeviceModelError, list_models, load_model
from clmap_lsp.devices.matching import match_device
from clmap_lsp.devices.model import (
    BankedLocal,
    CachedLocal,
    Confidence,
    ConstantRule,
    DeviceModel,
    Fact,
    GlobalRule,
    Limits,
    Merge,
    PhaseRule,
    Unknown,
)

__all__ = [
    "DEFAULT_MODEL",
    "BankedLocal",
    "CachedLocal",
    "Confidence",
    "ConstantRule",
    "DeviceModel",
    "DeviceModelError",
    "Fact",
    "GlobalRule",
    "Limits",
    "Merge",
    "PhaseRule",
    "Unknown",
    "list_models",
    "load_model",
    "match_device",
]
