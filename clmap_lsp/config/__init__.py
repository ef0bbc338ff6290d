"""`clmap.toml`: what holds for a workspace (build options, device, rules, launches).

`find` looks upward from a file, `load` reads one, `Settings.for_path` applies per-path overrides. Reading is
the only IO in this room; everything it returns is frozen data.
"""

from clmap_lsp.config.load import ConfigError, find, load, parse, read_config
from clmap_lsp.config.model import EmulateSettings, LaunchSetting, Override, RuleSettings, Settings
from clmap_lsp.workspace import CONFIG_NAME

__all__ = [
    "CONFIG_NAME",
    "ConfigError",
    "EmulateSettings",
    "LaunchSetting",
    "Override",
    "RuleSettings",
    "Settings",
    "find",
    "load",
    "parse",
    "read_config",
]
