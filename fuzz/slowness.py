"""How fast this machine is at present: limits of processor time hold for one of usual speed.

Shared machines differ by a factor of four from one hour to the next, in processor time, too.
"""

from __future__ import annotations

import ast
import time

_SPIN_S = 0.075
"""What `_spin` takes on the machine on which the limits were set."""


def slowness() -> float:
    """Return how many times slower this machine is at present than that of the limits; at least 1."""
    before = time.process_time()
    _spin()
    return max(1.0, (time.process_time() - before) / _SPIN_S)


def _spin() -> int:
    """Do what readers do: make many small objects, walk them, and sort them by name."""
    text = "".join(
        f"def f{it}(a):\n    b = a[{it}] * 2\n    return [b, f{it}(b)] if b else a\n" for it in range(1200)
    )
    names: dict[str, list[int]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, []).append(node.lineno)
    return len(names)
