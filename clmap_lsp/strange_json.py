"""JSON that somebody else wrote: whatever is wrong with it is a `ValueError`."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """Return what a JSON text says. Raises: ValueError, also of lists in lists without end."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("lists or objects stand too deep in each other") from None
