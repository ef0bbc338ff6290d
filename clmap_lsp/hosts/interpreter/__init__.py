"""An abstract interpreter over host programs.

It runs a program with everything that depends on the run left open, and beside each open value keeps the one
that the program takes unless told otherwise: without arguments on its command line, and where the device
makes no difference. Ways join behind an `if`; what a loop changes is open inside of it.

Each layer is a class on top of the one before: `state` (what is known), `names` (places), `objects` (what is
declared and made), `expressions`, `flow` (statements), and `calls` with the whole.
"""

from __future__ import annotations

from clmap_lsp.hosts.interpreter.calls import Interpreter
from clmap_lsp.hosts.interpreter.state import CallHandler, OutOfStepsError, Raised, opened_as

__all__ = ["CallHandler", "Interpreter", "OutOfStepsError", "Raised", "opened_as"]
