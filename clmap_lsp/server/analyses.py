"""The analysis of each open document: planned by urgency, ended when a newer text comes, kept when done.

Each document has at most one analysis under way. A newer text ends it, unless nothing has been published of
the document for a while: then it goes on to the end, so that findings come in steady typing too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pygls.exceptions import JsonRpcContentModified

from clmap_lsp.server.turns import Band, EndedError, Turn, Turns, Urgency

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document
    from clmap_lsp.server.engine import Engine
    from clmap_lsp.server.snapshot import Snapshot

logger = logging.getLogger(__name__)

OVERDUE_S = 0.25
"""Where nothing was published of a document for so long, a newer text does not end its analysis..."""
LONGEST_S = 2.0
"""... unless that takes longer than this."""


@dataclass(slots=True, eq=False)
class _Job:
    """An analysis that waits for its turn or is under way."""

    document: Document
    turn: Turn[Snapshot]
    began: float
    generation: int


@dataclass(slots=True, eq=False)
class _Answer:
    """What somebody waits for: the snapshot of one text."""

    document: Document
    ready: asyncio.Future[None]
    snapshot: Snapshot | None = None
    has_changed: bool = False


class Analyses:
    """Makes snapshots of documents, and keeps the last one of each."""

    def __init__(self, server: ClmapServer, turns: Turns) -> None:
        self._server = server
        self._turns = turns
        self._engine: Engine | None = None
        self._jobs: dict[str, _Job] = {}
        self._kept: dict[str, Snapshot] = {}
        self._outdated: set[str] = set()
        """Documents whose snapshot no longer holds though their text is the same."""
        self._waiting: dict[str, list[_Answer]] = {}
        self._published: dict[str, float] = {}
        """When each document was last published, or began to be edited after that."""
        self._edits: dict[str, int] = {}
        self._n_edits = 0
        self._generation = 0

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far."""
        return self._engine.n_analysed if self._engine else 0

    def engine(self) -> Engine:
        """Return the engine; only called where work has its turn."""
        if self._engine is None:
            from clmap_lsp.server.engine import Engine  # Half of the start-up time, and not needed to answer.

            self._engine = Engine(self._server.documents)
        return self._engine

    # ------------------------------------------------------------------------------------- answers

    def latest(self, uri: str) -> Snapshot | None:
        """Return the last snapshot, whatever its version."""
        return self._kept.get(uri)

    def current(self, document: Document) -> Snapshot | None:
        """Return the snapshot of this very text, if it is there and holds."""
        kept = self._kept.get(document.uri)
        return kept if kept is not None and self._holds(kept, document) else None

    async def of(self, document: Document) -> Snapshot | None:
        """Return the snapshot of a document's text; `None` if it is closed meanwhile.

        Raises: JsonRpcContentModified if the text changes before it is there.
        """
        ready = self.current(document)
        if ready is not None:
            return ready
        answer = _Answer(document, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(document.uri, []).append(answer)
        self.renew(document)
        await asyncio.shield(answer.ready)
        if answer.has_changed:
            raise JsonRpcContentModified("the text has changed")
        return answer.snapshot

    async def soon(self, document: Document, patience_s: float) -> Snapshot | None:
        """Return the snapshot of a text if it is there within a moment, else the last one, its places moved.

        The first snapshot of a document is waited for.
        """
        ready = self.current(document)
        if ready is not None:
            return ready
        latest = self._kept.get(document.uri)
        if latest is None:
            return await self.of(document)
        try:
            return await asyncio.wait_for(self.of(document), patience_s)
        except (TimeoutError, JsonRpcContentModified):
            present = self._server.documents.get(document.uri) or document
            return latest.seen_in(present)

    # ---------------------------------------------------------------------------------------- work

    def edited(self, uri: str) -> None:
        """Note that a person works on a document: it goes before those that were edited earlier."""
        self._n_edits += 1
        self._edits[uri] = self._n_edits
        now = asyncio.get_running_loop().time()
        if uri not in self._jobs:
            self._published[uri] = now

    def renew(self, document: Document) -> None:
        """See to it that the present text of a document is analysed."""
        job = self._jobs.get(document.uri)
        if job is not None:
            is_same = job.document is document and job.generation == self._generation
            if is_same or self._may_go_on(job):
                return
            self._turns.end(job.turn)
        if self.current(document) is None:
            self._begin(document)

    def renew_all(self, uris: set[str] | None = None) -> None:
        """Analyse documents anew, or all: settings or included files changed."""
        if uris is None:
            self._generation += 1
        for document in self._server.documents:
            if uris is not None and document.uri not in uris:
                continue
            if not self._server.holds_kernels(document):
                continue
            self._outdated.add(document.uri)
            job = self._jobs.get(document.uri)
            if job is not None:
                self._turns.end(job.turn)
            self._begin(document)

    async def predict(self, document: Document) -> None:
        """Predict the times of a document's kernels, after everything else, and show what they change."""
        settings = self._server.settings_for(document)
        urgency = Urgency.opened(len(document.text))
        turn = self._turns.submit(urgency, lambda: self.engine().predict(document, settings))
        try:
            is_news = await asyncio.wrap_future(turn.future)
        except asyncio.CancelledError:
            self._turns.end(turn)
            raise
        except EndedError:
            return
        if is_news and self._server.documents.get(document.uri) is document:
            self.renew_all({document.uri})

    def host_files_changed(self, paths: Sequence[str] | None = None) -> None:
        """Analyse those documents anew that changed host files launch otherwise; see `Engine`."""
        loop = asyncio.get_running_loop()

        def changed(future: Future[tuple[str, ...]]) -> None:
            if not future.cancelled() and future.exception() is None and future.result():
                loop.call_soon_threadsafe(self._launched_otherwise, frozenset(future.result()))

        turn = self._turns.submit(Urgency(Band.OPENED), lambda: self.engine().host_files_changed(paths))
        turn.future.add_done_callback(changed)

    def _launched_otherwise(self, paths: frozenset[str]) -> None:
        documents = self._server.documents
        self.renew_all({it.uri for it in documents if str(Path(it.path).resolve()) in paths})

    def forget(self, document_uri: str, path: str) -> None:
        """Drop what is known of a closed document."""
        job = self._jobs.pop(document_uri, None)
        if job is not None:
            self._turns.end(job.turn)
        self._kept.pop(document_uri, None)
        self._published.pop(document_uri, None)
        self._edits.pop(document_uri, None)
        self._outdated.discard(document_uri)
        self._give_up(document_uri)
        self._turns.submit(Urgency(Band.REQUEST), lambda: self.engine().forget(path))

    def _may_go_on(self, job: _Job) -> bool:
        """Tell whether an analysis of an older text is let go on to its end."""
        if job.generation != self._generation or job.document.uri in self._outdated:
            return False
        now = asyncio.get_running_loop().time()
        since = now - self._published.get(job.document.uri, now)
        return since > OVERDUE_S and now - job.began < LONGEST_S

    def _begin(self, document: Document) -> None:
        loop = asyncio.get_running_loop()
        settings = self._server.settings_for(document)
        count = self._edits.get(document.uri)
        urgency = Urgency.opened(len(document.text)) if count is None else Urgency.edited(count)
        is_first = document.uri not in self._kept

        def progress(partial_: Snapshot) -> None:
            loop.call_soon_threadsafe(self._partly_done, document, partial_)

        turn = self._turns.submit(
            urgency, partial(self._analyse, document, settings, progress if is_first else None)
        )
        job = self._jobs[document.uri] = _Job(document, turn, loop.time(), self._generation)
        turn.future.add_done_callback(lambda _: _soon(loop, self._done, job))

    def _analyse(
        self, document: Document, settings: Settings, progress: Callable[[Snapshot], None] | None
    ) -> Snapshot:
        return self.engine().analyse(document, settings, progress)

    # ---------------------------------------------------------------------- in the event loop again

    def _partly_done(self, document: Document, found: Snapshot) -> None:
        job = self._jobs.get(document.uri)
        if job is not None and job.document is document and document.uri not in self._kept:
            for listener in self._server.on_partial_snapshot:
                listener(found)

    def _done(self, job: _Job) -> None:
        uri = job.document.uri
        is_present = self._jobs.get(uri) is job
        if is_present:
            del self._jobs[uri]
        snapshot, has_failed = _result(job.turn.future)
        document = self._server.documents.get(uri)
        if document is None or not is_present:
            return  # Closed, or a newer job has taken its place.
        if has_failed:
            self._give_up(uri)
            return
        if snapshot is not None and job.generation == self._generation:
            self._outdated.discard(uri)
            self._keep(snapshot)
        if document is not job.document or (snapshot is None and self._is_wanted(uri)):
            self._begin(document)

    def _keep(self, snapshot: Snapshot) -> None:
        uri = snapshot.document.uri
        self._kept[uri] = snapshot
        self._published[uri] = asyncio.get_running_loop().time()
        for listener in self._server.on_snapshot:
            listener(snapshot)
        self._tell(uri)

    def _tell(self, uri: str) -> None:
        """Answer those who wait for a document: with its snapshot, or that its text has changed."""
        present, kept = self._server.documents.get(uri), self._kept.get(uri)
        left = []
        for it in self._waiting.pop(uri, ()):
            if kept is not None and self._holds(kept, it.document):
                it.snapshot = kept
            elif it.document is not present:
                it.has_changed = True
            else:
                left.append(it)
                continue
            it.ready.set_result(None)
        if left:
            self._waiting[uri] = left

    def _give_up(self, uri: str) -> None:
        for it in self._waiting.pop(uri, ()):
            it.ready.set_result(None)

    def text_changed(self, uri: str) -> None:
        """Answer those who wait for a text that is no more."""
        self._tell(uri)

    def _holds(self, snapshot: Snapshot, document: Document) -> bool:
        return snapshot.document is document and document.uri not in self._outdated

    def _is_wanted(self, uri: str) -> bool:
        return uri in self._waiting


def _result(future: Future[Snapshot]) -> tuple[Snapshot | None, bool]:
    """Return what an analysis gave, None where it was ended; and whether it failed by an error of ours."""
    if future.cancelled():
        return None, False
    error = future.exception()
    if error is None:
        return future.result(), False
    if isinstance(error, EndedError):
        return None, False
    logger.error("an analysis failed", exc_info=error)
    return None, True


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[_Job], None], job: _Job) -> None:
    try:
        loop.call_soon_threadsafe(call, job)
    except RuntimeError:
        logger.debug("an analysis ended after the session")
