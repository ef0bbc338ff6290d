"""The analysis of each open document: planned by urgency, ended when a newer text comes, kept when done.

Each document has at most one analysis under way. A newer text ends it, unless nothing has been published of
the document for a while: then it goes on to the end, so that findings come in steady typing too.

While a person types in one function of a large file, only what that touches is read at each key
(`index/touched.py`, `at_once.py`); the rest is as it was, and the whole is read when typing pauses. To hold
findings against all plausible launches takes longest, and waits for such a pause too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pygls.exceptions import JsonRpcContentModified

from clmap_lsp.dataclass import dataclass
from clmap_lsp.server.included import reads_otherwise
from clmap_lsp.server.turns import Band, EndedError, Turn, Turns, Urgency, awaitable

if TYPE_CHECKING:
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.hosts.changes import Change
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.documents import Document
    from clmap_lsp.server.engine import Engine, HostChanges
    from clmap_lsp.server.snapshot import Snapshot, Touched

T = TypeVar("T")

logger = logging.getLogger(__name__)

KEPT_SNAPSHOTS = 24
"""Documents of which all is kept, those used last. The others are analysed again when somebody asks."""
OVERDUE_S = 0.25
"""Where nothing was published of a document for so long, a newer text does not end its analysis..."""
LONGEST_S = 2.0
"""... unless that takes longer than this, and longer than analyses of it do."""
PAUSE_S = 0.3
"""Without a change for so long, a document is read whole, and judged."""
WHOLE_S = 2.0
"""In steady typing, too, a document is read whole that often..."""
WHOLE_SHARE = 10
"""... or where that takes long, as on a busy machine, after so many times as long as it took."""


@dataclass(slots=True, eq=False)
class _Job:
    """An analysis that waits for its turn or is under way."""

    document: Document
    turn: Turn[Snapshot]
    began: float
    generation: int
    changed: set[str] = field(default_factory=set)
    """Files that were opened, edited or closed since: it may have read them as they were."""


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
        self._edits: dict[str, Urgency] = {}
        """How urgent each document is by its last edit."""
        self._asks: dict[str, Urgency] = {}
        """The same by the last request about it."""
        self._parts: dict[str, Turn[Touched | None]] = {}
        """Readings under way of what edits touch."""
        self._touched: dict[str, Touched] = {}
        """The last one of each document that is newer than its snapshot."""
        self._only_whole: set[str] = set()
        """Documents in which the last edit could be read with the whole text only."""
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        """When documents are read whole, unless they are edited before."""
        self._read_at: dict[str, float] = {}
        """When each document was last read whole."""
        self._took: dict[str, float] = {}
        """How long the last analysis of each document took, in seconds."""
        self._n_edits = 0
        self._n_asks = 0
        self._n_dropped = 0
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
        """Return the last snapshot, whatever its version; None where there is none, or none any more."""
        return self._kept.get(uri)

    def current(self, document: Document) -> Snapshot | None:
        """Return the snapshot of this very text, if it is there and holds."""
        kept = self._kept.get(document.uri)
        return kept if kept is not None and self._holds(kept, document) else None

    async def of(self, document: Document) -> Snapshot | None:
        """Return the snapshot of a document's text; `None` if it is closed meanwhile.

        Raises: JsonRpcContentModified if the text changes before it is there.
        """
        self._used(document.uri)
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

    async def soon(
        self, document: Document, patience_s: float, first_s: float | None = None
    ) -> Snapshot | None:
        """Return the snapshot of a text if it is there within a moment, else the last one, its places moved.

        The first snapshot of a document is waited for, or for as long as `first_s`.
        """
        self._used(document.uri)
        ready = self.current(document)
        if ready is not None:
            return ready
        latest = self._kept.get(document.uri)
        if latest is None:
            with suppress(TimeoutError):
                return await asyncio.wait_for(self._first(document), first_s)
            return None
        if document.uri in self._parts or document.uri in self._touched:
            return latest.seen_in(document)  # The whole is read when typing pauses.
        try:
            return await asyncio.wait_for(self.of(document), patience_s)
        except (TimeoutError, JsonRpcContentModified):
            present = self._server.documents.get(document.uri) or document
            return latest.seen_in(present)

    async def _first(self, document: Document) -> Snapshot | None:
        """Return the first snapshot of a document, of whatever text that is."""
        while True:
            try:
                return await self.of(document)
            except JsonRpcContentModified:
                present = self._server.documents.get(document.uri)
                if present is None:
                    return None
                if (latest := self._kept.get(document.uri)) is not None:
                    return latest.seen_in(present)
                document = present

    async def shown(self, document: Document, patience_s: float) -> Sequence[Snapshot]:
        """Return what is known of a document soon: its snapshot, or those of what was edited and the rest."""
        if (part := self._parts.get(document.uri)) is not None and self.current(document) is None:
            done = awaitable(part.future)
            done.add_done_callback(lambda it: it.cancelled() or it.exception())  # `_part_done` looks at it.
            await asyncio.wait({done}, timeout=patience_s)
        touched = self._touched.get(document.uri)
        if touched is not None and touched.document is document and self.current(document) is None:
            return touched.part, touched.rest
        snapshot = await self.soon(document, patience_s)
        return () if snapshot is None else (snapshot,)

    # ---------------------------------------------------------------------------------------- work

    def edited(self, uri: str) -> None:
        """Note that a person works on a document: it goes before those that were edited earlier."""
        self._n_edits += 1
        self._edits[uri] = Urgency.edited(self._n_edits)
        now = asyncio.get_running_loop().time()
        if uri not in self._jobs:
            self._published[uri] = now

    def asked(self, document: Document) -> None:
        """Note that somebody asks about a document: it is analysed next, but for the one edited last."""
        uri = document.uri
        self._used(uri)
        self._n_asks += 1
        self._asks[uri] = Urgency.asked(self._n_edits, self._n_asks)
        if (job := self._jobs.get(uri)) is not None:
            self._turns.hasten(job.turn, self._urgency(document))
        elif uri not in self._kept:
            self._begin(document)

    def use_of(self, uri: str) -> Urgency | None:
        """Return how urgent a document is by its last edit or request; None where nobody uses it."""
        uses = [it[uri] for it in (self._edits, self._asks) if uri in it]
        return min(uses, key=lambda it: it.key, default=None)

    def _urgency(self, document: Document) -> Urgency:
        """Return how urgent work for a document is."""
        return self.use_of(document.uri) or Urgency.opened(len(document.text))

    def renew_touched(self, document: Document) -> None:
        """See to it that a text that was edited is analysed, at once at least what the edits touched."""
        uri = document.uri
        self._end_pause(uri)
        whole = self._kept.get(uri)
        settings = self._server.settings_for(document)
        if whole is None or whole.layout is None or uri in self._outdated or whole.settings != settings:
            self.renew(document)
            return
        job = self._jobs.get(uri)
        may_end = uri not in self._only_whole and not self._is_due(uri)
        if job is not None and job.document is not document and may_end:
            self._turns.end(job.turn)
            del self._jobs[uri]
        if uri not in self._parts:
            self._begin_part(document, whole)

    def renew(self, document: Document) -> None:
        """See to it that the present text of a document is analysed."""
        self._end_pause(document.uri)
        job = self._jobs.get(document.uri)
        if job is not None:
            is_same = job.document is document and job.generation == self._generation
            if is_same or (job.turn.has_begun and self._may_go_on(job)):
                self._turns.hasten(job.turn, self._urgency(document))
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
            self._turns.submit(Urgency(Band.REQUEST), partial(self._reread, document.path))
            job = self._jobs.get(document.uri)
            if job is not None:
                self._turns.end(job.turn)
            self._begin(document)

    def _reread(self, path: str) -> None:
        self.engine().reread(path)

    async def predict(self, document: Document) -> None:
        """Predict the times of a document's kernels, after everything else, and show what they change."""
        settings = self._server.settings_for(document)
        urgency = Urgency.opened(len(document.text))
        turn = self._turns.submit(urgency, lambda: self.engine().predict(document, settings))
        try:
            is_news = await self._turns.outcome(turn)
        except EndedError:
            return
        if is_news and self._server.documents.get(document.uri) is document:
            self.renew_all({document.uri})

    async def host_edits(self, document: Document, kernel: str, change: Change) -> HostChanges:
        """Return how host code changes every launch of a kernel; see `Engine`."""
        settings = self._server.settings_for(document)
        ask = partial(self.engine().host_edits, document, settings, kernel, change)
        turn = self._turns.submit(Urgency(Band.REQUEST), ask)
        try:
            return await self._turns.outcome(turn)
        except EndedError:
            return {}

    async def compiled(self, document: Document, kernel: str) -> CompiledKernel | str | None:
        """Return a kernel as the device's back end leaves it; `None` if the document is closed meanwhile."""
        settings = self._server.settings_for(document)
        urgency = Urgency(Band.REQUEST)
        turn = self._turns.submit(urgency, lambda: self.engine().compiled(document, settings, kernel))
        try:
            return await self._turns.outcome(turn)
        except EndedError:
            return None

    def file_changed(self, path: str) -> None:
        """Note that a file is not what analyses under way may have read of it."""
        for job in self._jobs.values():
            if job.document.path != path:
                job.changed.add(path)

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
        self._asks.pop(document_uri, None)
        self._took.pop(document_uri, None)
        self._read_at.pop(document_uri, None)
        self._touched.pop(document_uri, None)
        self._only_whole.discard(document_uri)
        self._end_pause(document_uri)
        if (part := self._parts.pop(document_uri, None)) is not None:
            self._turns.end(part)
        self._outdated.discard(document_uri)
        self._give_up(document_uri)
        self._turns.submit(Urgency(Band.REQUEST), partial(self._forget_path, path))
        if not any(True for _ in self._server.documents):
            self._turns.submit(Urgency(Band.REQUEST), self._forget_all)

    def _may_go_on(self, job: _Job) -> bool:
        """Tell whether an analysis of an older text is let go on to its end."""
        if job.generation != self._generation or job.document.uri in self._outdated:
            return False
        uri = job.document.uri
        if uri not in self._kept:
            return True  # Without a first one, later texts would cost as much.
        now = asyncio.get_running_loop().time()
        since = now - self._published.get(uri, now)
        longest = max(
            LONGEST_S, 2 * self._took.get(uri, 0.0)
        )  # Where the machine is busy, everything takes long.
        return since > OVERDUE_S and now - job.began < longest

    def _begin(self, document: Document, *, judges: bool = False) -> None:
        loop = asyncio.get_running_loop()
        settings = self._server.settings_for(document)
        is_first = document.uri not in self._kept

        def progress(partial_: Snapshot) -> None:
            loop.call_soon_threadsafe(self._partly_done, document, partial_)

        def analyse() -> Snapshot:
            return self.engine().analyse(document, settings, progress if is_first else None, judges=judges)

        turn = self._turns.submit(self._urgency(document), analyse)
        self._jobs[document.uri] = _Job(document, turn, loop.time(), self._generation)
        turn.future.add_done_callback(lambda it: _soon(loop, partial(self._done, document.uri, it)))

    def _begin_part(self, document: Document, whole: Snapshot) -> None:
        loop = asyncio.get_running_loop()
        urgency = self._urgency(document).hurried()  # Before any reading of the whole.
        turn = self._turns.submit(urgency, lambda: self.engine().touch(document, whole))
        self._parts[document.uri] = turn
        turn.future.add_done_callback(lambda it: _soon(loop, partial(self._part_done, document, it, whole)))

    def _plan_whole(self, document: Document, wait_s: float) -> None:
        """Read a document whole when it was not edited for a while."""
        uri = document.uri
        self._end_pause(uri)

        def pause() -> None:
            self._pauses.pop(uri, None)
            present = self._server.documents.get(uri)
            if present is document and uri not in self._jobs:
                self._begin(document, judges=True)

        self._pauses[uri] = asyncio.get_running_loop().call_later(wait_s, pause)

    def _end_pause(self, uri: str) -> None:
        if (timer := self._pauses.pop(uri, None)) is not None:
            timer.cancel()

    # ---------------------------------------------------------------------- in the event loop again

    def _partly_done(self, document: Document, found: Snapshot) -> None:
        job = self._jobs.get(document.uri)
        if job is not None and job.document is document and document.uri not in self._kept:
            for listener in self._server.on_partial_snapshot:
                listener(found)

    # Futures keep their callbacks: these know neither job nor turn, or each would keep its own result, a
    # whole snapshot, until the cycle collector comes.

    def _done(self, uri: str, future: Future[Snapshot]) -> None:
        result = _result(future)
        snapshot, has_failed = result
        document, job = self._server.documents.get(uri), self._jobs.get(uri)
        if job is None or job.turn.future is not future:
            return  # Closed, or a newer job has taken its place.
        del self._jobs[uri]
        if document is None:
            return
        if has_failed:
            self._give_up(uri)
            return
        if snapshot is not None and job.generation == self._generation:
            loses_parts = self._would_lose_parts(snapshot, document)
            self._outdated.discard(uri)
            self._took[uri] = asyncio.get_running_loop().time() - job.began
            if loses_parts:
                self._read_at[uri] = asyncio.get_running_loop().time()
            else:
                self._keep(snapshot)
            # Other documents were asked when these files changed; this one was not known then.
            if job.changed and reads_otherwise(snapshot, self._server.present_texts(job.changed)):
                self.renew_all({uri})
            if document is job.document and not snapshot.is_judged:
                self._plan_whole(document, PAUSE_S if uri in self._edits else 0.0)
        if (document is not job.document or snapshot is None) and self._is_wanted(uri):
            self._begin(document)
        elif document is not job.document:
            self.renew_touched(document)

    def _would_lose_parts(self, snapshot: Snapshot, present: Document) -> bool:
        """Tell whether a whole that was read in mid-word would make each further key a reading of the whole.

        What is typed by then may be no declaration at all, so that functions end elsewhere or names mean
        other things in all of them. The older whole still serves; the next pause brings a better one.
        """
        uri = present.uri
        if present is snapshot.document or uri not in self._touched or uri in self._outdated:
            return False
        return snapshot.layout is None or not snapshot.layout.serves(present.text)

    def _part_done(self, document: Document, future: Future[Touched | None], whole: Snapshot) -> None:
        uri = document.uri
        part = self._parts.get(uri)
        if part is None or part.future is not future:
            return
        del self._parts[uri]
        touched, has_failed = _result(future)
        present = self._server.documents.get(uri)
        if present is None:
            return
        kept = self._kept.get(uri)
        if kept is not whole:
            if kept is None or self.current(present) is None:
                self.renew_touched(present)
            return
        if touched is None or has_failed:
            self._touched.pop(uri, None)
            self._only_whole.add(uri)
            self.renew(present)
            return
        self._only_whole.discard(uri)
        self._touched[uri] = touched
        for listener in self._server.on_touched:
            listener(touched)
        if present is not document:
            self.renew_touched(present)
        if uri not in self._jobs:
            if self._is_due(uri):
                self._begin(present)
            elif present is document:
                self._plan_whole(present, PAUSE_S)

    def _is_due(self, uri: str) -> bool:
        """Tell whether a document should be read whole though a person types in it."""
        since = asyncio.get_running_loop().time() - self._read_at.get(uri, 0.0)
        return since > max(WHOLE_S, WHOLE_SHARE * self._took.get(uri, 0.0))

    def _keep(self, snapshot: Snapshot) -> None:
        uri = snapshot.document.uri
        self._kept.pop(uri, None)
        self._kept[uri] = snapshot
        self._touched.pop(uri, None)
        self._published[uri] = self._read_at[uri] = asyncio.get_running_loop().time()
        for listener in self._server.on_snapshot:
            listener(snapshot)
        self._tell(uri)
        self._drop_oldest()

    def _used(self, uri: str) -> None:
        """Note that a snapshot is of use: those that are not are dropped first."""
        if (snapshot := self._kept.pop(uri, None)) is not None:
            self._kept[uri] = snapshot

    def _drop_oldest(self) -> None:
        """Drop the snapshots that were not used for longest; their diagnostics stay with the client."""
        for uri in list(self._kept)[: max(0, len(self._kept) - KEPT_SNAPSHOTS)]:
            if uri in self._jobs or uri in self._parts or uri in self._waiting or uri in self._pauses:
                continue
            path = self._kept.pop(uri).document.path
            self._touched.pop(uri, None)
            self._turns.submit(Urgency(Band.REQUEST), partial(self._forget_path, path))
            self._n_dropped += 1
            if self._n_dropped % KEPT_SNAPSHOTS == 0:
                for listener in self._server.on_dropped:
                    listener()

    def _forget_path(self, path: str) -> None:
        self.engine().forget(path)

    def _forget_all(self) -> None:
        if not any(True for _ in self._server.documents):  # One may be open again.
            self.engine().forget_all()

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


def _result(future: Future[T]) -> tuple[T | None, bool]:
    """Return what an analysis gave, None where it was ended; and whether it failed by an error of ours."""
    if future.cancelled():  # Only where everything was closed: begun again, it would be cancelled again.
        return None, True
    error = future.exception()
    if error is None:
        return future.result(), False
    if isinstance(error, EndedError):
        return None, False
    logger.error("an analysis failed", exc_info=error)
    return None, True


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        logger.debug("an analysis ended after the session")
