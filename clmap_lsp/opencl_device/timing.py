"""The timing core: warm-up, event times, cold and warm cache, interleaving, enough runs.

Cold means that a kernel has just read and written a buffer several times the last-level cache, so that
nothing the timed kernel reads is left there. Warm means that the same launch has just run. Variants to
compare are timed in turn, not one after the other, so that a drift of clocks or of other load hits all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.statistics import summarise

# Every word is read and rewritten, so the flush leaves no clean or dirty line of anything else behind.
_FLUSH_SOURCE = """
__kernel void clmap_flush(__global uint *words, const uint each, const uint apart, const uint step) {
  const uint first = get_global_id(0) * apart;
  for (uint k = 0; k < each; ++k)
    words[first + k * step] = words[first + k * step] * 1664525u + 1013904223u;
}
__kernel void clmap_empty(__global uint *words) {
  if (get_global_id(0) > 0x7ffffff0u) words[0] = 1u;
}
"""


class CacheState(Enum):
    """What the caches hold when a timed launch starts."""

    COLD = "cold"
    WARM = "warm"


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to go on measuring one series."""

    min_runs: int = 11
    max_runs: int = 41
    precision: float = 0.02
    """Stop when the 95 % interval of the median is within this fraction of it on either side."""
    max_seconds: float = 20.0
    """Of wall clock for one set of interleaved series; at least three runs are made whatever it takes."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One launch to time: set up its arguments, then launch it."""

    kernel: Any
    arguments: tuple[Any, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None


class Timer:
    """Times launches on one session; owns the flush buffer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        program = session.build(_FLUSH_SOURCE)
        self._flush_kernel = session.kernel(program, "clmap_flush")
        self._empty_kernel = session.kernel(program, "clmap_empty")
        self.flush_bytes = session.facts.beyond_cache_bytes
        # A CPU device runs each work-item's loop as it stands: few, long, contiguous ones cost least there.
        gpu = session.facts.local_dedicated
        self._flush_local = min(256, session.facts.max_work_group)
        items = session.facts.compute_units * (64 if gpu else 1) * self._flush_local
        each = -(-self.flush_bytes // (4 * items))
        self.flush_bytes = 4 * items * each
        self._flush_buffer = session.buffer(self.flush_bytes)
        apart, step = (1, items) if gpu else (each, 1)
        session.set_arguments(
            self._flush_kernel, self._flush_buffer, np.uint32(each), np.uint32(apart), np.uint32(step)
        )
        session.set_arguments(self._empty_kernel, self._flush_buffer)
        self._flush_global = items

    def flush(self) -> None:
        """Enqueue the eviction of everything from the caches."""
        self._session.launch(self._flush_kernel, (self._flush_global,), (self._flush_local,))

    def overhead(self, global_size: Sequence[int], local_size: Sequence[int] | None, runs: int = 11) -> float:
        """Return the seconds that an empty kernel takes on the same NDRange: the median of `runs` launches.

        That is what the event of any kernel of this shape holds besides its own work.
        """
        events = [self._session.launch(self._empty_kernel, global_size, local_size) for _ in range(runs + 1)]
        self._session.finish()
        return summarise([self._session.seconds(it) for it in events[1:]]).median

    def compare(
        self,
        launches: Mapping[str, Timed],
        cache: CacheState,
        effort: Effort,
        on_round: Callable[[], None] | None = None,
    ) -> dict[str, list[float]]:
        """Return each launch's seconds, timed in turn, the starting one rotating. Made for `summarise`.

        Raises: DeviceLostError, LaunchError.
        """
        series: dict[str, list[float]] = {name: [] for name in launches}
        for timed in launches.values():  # Warm-up: compilation, page faults and clocks are not part of a run.
            self._run(timed)
        self._session.finish()
        started = time.monotonic()
        open_names = list(launches)
        while open_names:
            events = []
            for name in open_names:
                if cache is CacheState.COLD:
                    self.flush()
                else:
                    self._run(launches[name])
                events.append((name, self._run(launches[name])))
            self._session.finish()
            for name, event in events:
                series[name].append(self._session.seconds(event))
            if on_round is not None:
                on_round()
            late = time.monotonic() - started > effort.max_seconds
            open_names = [it for it in open_names if not _enough(series[it], effort, late)]
            open_names = open_names[1:] + open_names[:1]
        return series

    def _run(self, timed: Timed) -> Any:
        self._session.set_arguments(timed.kernel, *timed.arguments)
        return self._session.launch(timed.kernel, timed.global_size, timed.local_size)


def _enough(values: Sequence[float], effort: Effort, late: bool) -> bool:
    runs = len(values)
    if runs >= effort.max_runs or (late and runs >= 3):
        return True
    return runs >= effort.min_runs and summarise(values).half_width <= effort.precision
