"""Host code read for what it launches: sizes, arguments and build options, and where each value comes from.

`launches_of` is the door. Host files in C, C++ and Python become one small tree (`tree`), which an abstract
interpreter (`interpreter`) runs from `main`, or from whatever nothing else calls. A value is known for every
run, or an expression with the value that the program takes unless told otherwise (`values`).
"""

from clmap_lsp.hosts.launches import HostLaunch, HostReader, HostReport, launches_of
from clmap_lsp.hosts.project import HostProject, read_project

__all__ = ["HostLaunch", "HostProject", "HostReader", "HostReport", "launches_of", "read_project"]
