"""The second tier: of documents that nobody uses few are emulated at a time, in counts and orders alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from clmap_lsp.server.tiers import Few
from clmap_lsp.server.turns import Urgency


class Documents:
    """Documents that come to be emulated, each until it is let go."""

    def __init__(self, limit: int) -> None:
        self.few = Few(limit)
        self.used: dict[int, Urgency] = {}
        self.inside: list[int] = []
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.doors: dict[int, asyncio.Event] = {}

    def come(self, number: int) -> None:
        self.doors[number] = asyncio.Event()
        self.tasks[number] = asyncio.create_task(self._stay(number))

    async def leave(self, number: int) -> None:
        self.doors[number].set()
        await self.tasks[number]
        await settled()

    async def _stay(self, number: int) -> None:
        async with self.few.turn(lambda: self.used.get(number)):
            self.inside.append(number)
            try:
                await self.doors[number].wait()
            finally:
                self.inside.remove(number)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def run(play: Callable[[Documents], object], limit: int = 2) -> None:
    async def whole() -> None:
        documents = Documents(limit)
        await play(documents)  # type: ignore[misc]
        for it in documents.tasks.values():
            it.cancel()

    asyncio.run(whole())


def test_few_are_inside_at_a_time_and_all_have_their_turn():
    async def play(documents: Documents) -> None:
        for number in range(20):
            documents.come(number)
        seen: list[int] = []
        await settled()
        while documents.inside:
            assert len(documents.inside) <= 2
            seen.append(documents.inside[0])
            await documents.leave(documents.inside[0])
        assert seen == list(range(20))

    run(play)


def test_what_is_used_does_not_wait_and_goes_first():
    async def play(documents: Documents) -> None:
        for number in range(6):
            documents.come(number)
        await settled()
        documents.used[10] = Urgency.edited(1)
        documents.come(10)
        await settled()
        assert documents.inside == [0, 1, 10]
        documents.used[4] = Urgency.asked(1, 1)
        await documents.leave(0)
        assert documents.inside == [1, 10, 4]

    run(play)


def test_what_is_cancelled_leaves_its_place_to_the_next():
    async def play(documents: Documents) -> None:
        for number in range(6):
            documents.come(number)
        await settled()
        documents.tasks[2].cancel()  # While it waits.
        documents.tasks[0].cancel()  # Inside.
        await settled()
        assert documents.inside == [1, 3]
        documents.doors[1].set()
        documents.tasks[4].cancel()  # As it may be let in.
        await settled()
        assert 5 in documents.inside

    run(play)
