"""clmap-lsp: how OpenCL work-items walk memory, what it costs, and the fix.

For notebooks and scripts: `analyze`, `emulate` (see `clmap_lsp.api`) and `record` (see
`clmap_lsp.opencl_device.recording`). They are loaded when they are first used, so that the command line
starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from clmap_lsp.api import AccessPicture, Emulation, KernelFix, KernelReport, Report, analyze, emulate
    from clmap_lsp.errors import UsageError
    from clmap_lsp.opencl_device.recording import record

__all__ = [
    "AccessPicture",
    "Emulation",
    "KernelFix",
    "KernelReport",
    "Report",
    "UsageError",
    "__version__",
    "analyze",
    "emulate",
    "record",
]


def __dir__() -> list[str]:
    """Return what there is to complete at a prompt, loaded or not."""
    return sorted(__all__)


def __getattr__(name: str) -> object:
    if name == "record":
        from clmap_lsp.opencl_device.recording import record

        return record
    if name in __all__:
        from clmap_lsp import api

        return getattr(api, name)
    raise AttributeError(f"module 'clmap_lsp' has no attribute {name!r}")
