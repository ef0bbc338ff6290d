"""What keeps a version of a kernel from being faster, and what the next step would need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.time.wording import bound_text, percent

if TYPE_CHECKING:
    from clmap_lsp.time.model import Prediction

_NEXT = {
    "issue": "fewer instructions a result: wider loads, unrolled loops, less arithmetic on indices",
    "fp32": "fewer operations: another algorithm, or a narrower type",
    "fp64": "fewer operations in double precision",
    "sfu": "fewer divisions, roots and exponentials",
    "l1": "fewer cache lines a request, or values that are used again from registers",
    "local": "values that are used again from registers, more results a work-item",
    "l2": "more of what a work-group loads to be used again within it",
    "dram": "fewer bytes: narrower types, or the kernels before and behind it in one",
    "latency": "more work-groups in flight, or more loads that do not wait for each other",
    "barrier": "fewer barriers: smaller work-groups, or more work between two of them",
    "atomics": "fewer atomics on the same addresses",
    "launch": "fewer work-groups with more to do each, or several launches in one",
}
_PEAKS = {"fp32": "FP32", "dram": "device memory"}


def in_the_way(found: Prediction) -> str:
    """Return `bound by local memory (78 % of the time; FP32 at 62 % of its peak); the next step needs …`.

    A share is what a part would take alone, over the whole time.
    """
    share = min(found.parts.get(found.bound, 0.0) / found.seconds, 1.0)
    others = [
        f"{name} at {percent(min(found.parts[part] / found.seconds, 1.0))} of its peak"
        for part, name in _PEAKS.items()
        if part in found.parts and part != found.bound and found.parts[part] >= 0.2 * found.seconds
    ]
    of_it = f"{percent(share)} of its peak" if found.bound in _PEAKS else f"{percent(share)} of the time"
    inside = "; ".join([of_it, *others])
    return f"bound by {bound_text(found.bound)} ({inside}); the next step needs {_NEXT[found.bound]}"
