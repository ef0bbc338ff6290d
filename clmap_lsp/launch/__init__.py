"""Launches: given, configured, commented, read from `.sim` files, or inferred.

`resolve` merges them into one complete `Launch`, or says in one line why there is none.
"""

from clmap_lsp.launch.model import (
    Argument,
    BufferArgument,
    Fill,
    Launch,
    LocalArgument,
    Origin,
    ScalarArgument,
)
from clmap_lsp.launch.partial import LaunchTexts, PartialLaunch, from_options
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.launch.resolve import as_comment, open_parts, resolve
from clmap_lsp.launch.sim import Dump, SimFile, SimLaunch, bind, read_sim, sim_beside

__all__ = [
    "Argument",
    "BufferArgument",
    "Dump",
    "Fill",
    "Launch",
    "LaunchError",
    "LaunchProblem",
    "LaunchTexts",
    "LocalArgument",
    "Origin",
    "PartialLaunch",
    "ScalarArgument",
    "SimFile",
    "SimLaunch",
    "as_comment",
    "bind",
    "from_options",
    "open_parts",
    "read_sim",
    "resolve",
    "sim_beside",
]
