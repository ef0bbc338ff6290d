"""One door from text and settings to everything that is known of a file.

`Workbench.open_text` gives an `OpenedFile`: program, analysis, findings, emulation, offers. The command line,
the Python API, the server and the worker all work through it, so that they cannot differ in what they read,
which launch they take, or which device.
"""

from clmap_lsp.workbench.opened import OpenedFile, Runs
from clmap_lsp.workbench.workbench import Workbench, device_of

__all__ = ["OpenedFile", "Runs", "Workbench", "device_of"]
