"""A hover waits a moment for what is under way, once: the next one says what is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from clmap_lsp.config import Settings
from clmap_lsp.server.compiled_hover import CompiledHover
from clmap_lsp.server.documents import Document, Documents
from clmap_lsp.server.engine import Engine
from clmap_lsp.server.staging import StagingAdvice
from clmap_lsp.server.turns import Turn, Urgency

TEXT = """\
__kernel void twice(__global const float *in, __global float *out)
{
    const int i = get_global_id(0);
    out[i] = 2.0f * in[2 * i];
}
"""


class NeverDone:
    """Takes work and does none of it."""

    def __init__(self) -> None:
        self.n_submitted = 0

    def submit(self, urgency: Urgency, work: Callable[[], Any]) -> Turn[Any]:
        self.n_submitted += 1
        return Turn(urgency, work, self.n_submitted)


def answered_without_waiting(asked: Coroutine[Any, Any, Any]) -> bool:
    """Tell whether a coroutine ends before it lets others run."""
    try:
        asked.send(None)
    except StopIteration:
        return True
    asked.close()
    return False


def test_a_kernel_that_is_being_compiled_is_waited_for_once() -> None:
    document = Document("file:///twice.cl", "opencl", 1, TEXT)
    snapshot = Engine(Documents()).analyse(document, Settings())
    (kernel,) = snapshot.analysis.kernels
    turns = NeverDone()
    hover = CompiledHover(turns)  # type: ignore[arg-type]

    async def hovers() -> bool:
        assert await hover.lines(snapshot, kernel, list(kernel.accesses)) == ()
        return answered_without_waiting(hover.lines(snapshot, kernel, list(kernel.accesses)))

    assert asyncio.run(hovers())
    assert turns.n_submitted == 1


def test_measurements_that_are_being_read_are_waited_for_once() -> None:
    staging = StagingAdvice()
    pending: Future[tuple[str, ...]] = Future()

    async def hovers() -> bool:
        assert await staging._soon(pending) == ()
        return answered_without_waiting(staging._soon(pending))

    assert asyncio.run(hovers())
    pending.set_result(("- read",))
    assert asyncio.run(staging._soon(pending)) == ("- read",)
    staging.close()
