"""Code actions: verified fixes, all safe fixes at once, ignore here, explain, pin, emulate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import FixSafety
from clmap_lsp.hosts.changes import LaunchChange, StructureChange
from clmap_lsp.server.app import feature
from clmap_lsp.server.convert import SOURCE, document_edit, offer_data, uri_of
from clmap_lsp.server.documents import Document
from clmap_lsp.server.edits import edits_of, fixes_of, overlap, workspace_edit
from clmap_lsp.server.places import is_number
from clmap_lsp.server.publishing import diagnostics_of
from clmap_lsp.worker.messages import BadMessageError, from_data

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.findings import Edit
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot

FIX_ALL = "source.fixAll.clmap"
PATIENCE_S = 0.1
"""How long an editor that asks by itself, wherever the cursor goes, waits for the analysis of the text."""
INVOKED_PATIENCE_S = 2.0
"""The same where a person asked, or an editor that saves: an empty answer would say that there is nothing."""
KINDS = [
    lsp.CodeActionKind.QuickFix,
    lsp.CodeActionKind.RefactorRewrite,
    lsp.CodeActionKind.Source,
    FIX_ALL,
]


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    options = lsp.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True)

    @feature(server, lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        automatic = lsp.CodeActionTriggerKind.Automatic
        is_invoked = params.context.trigger_kind is not automatic or params.context.only  # On save, say.
        patience_s = INVOKED_PATIENCE_S if is_invoked else PATIENCE_S
        snapshot = None
        with suppress(TimeoutError):
            snapshot = await asyncio.wait_for(server.snapshot(params.text_document.uri), patience_s)
        if snapshot is None:
            return []
        found = list(_found(server, snapshot, params))
        if not _resolves(server):
            found = [_resolved(server, it) for it in found]
        return [it for it in found if _wanted(it.kind, params.context.only)]

    @feature(server, lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        return _resolved(server, action, await _host_edits(server, data))


def _found(server: ClmapServer, snapshot: Snapshot, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction]:
    mine = [_with_data(server, snapshot, it) for it in params.context.diagnostics if it.source == SOURCE]
    answers = list(_answers(snapshot, mine))
    best = _best([it.fix for it in answers])
    for diagnostic in mine:
        for it in answers:
            if it.diagnostics[0] is diagnostic:
                kind, preferred = lsp.CodeActionKind.QuickFix, it.fix is best
                yield _fix_action(
                    snapshot, it.fix, kind, it.diagnostics, kernel=it.kernel, preferred=preferred
                )
        yield from _of_diagnostic(server, snapshot, diagnostic)
    kernel = snapshot.kernel_at(snapshot.document.offset(params.range.start))
    if kernel is not None:
        yield from _rewrites(server, snapshot, kernel, answers, best)
        yield from _of_kernel(snapshot, kernel, params.range)
    yield from _of_document(server, snapshot)


def _wanted(kind: str | None, only: Sequence[str] | None) -> bool:
    if not only:
        return True
    return any(kind == it or str(kind).startswith(f"{it}.") for it in only)


def _with_data(server: ClmapServer, snapshot: Snapshot, mine: lsp.Diagnostic) -> lsp.Diagnostic:
    """Return a diagnostic with what it carried; some clients send it back without."""
    if mine.data is not None:
        return mine
    alike = (
        it
        for it in diagnostics_of(server, snapshot)
        if it.code == mine.code and it.range == mine.range and it.message == mine.message
    )
    return next(alike, mine)


# ------------------------------------------------------------------------------------------- diagnostics


@dataclass(frozen=True, slots=True)
class _Answer:
    """A fix, and all the diagnostics that it answers."""

    fix: dict[str, Any]
    kernel: str | None
    diagnostics: list[lsp.Diagnostic]


def _answers(snapshot: Snapshot, mine: Sequence[lsp.Diagnostic]) -> Iterator[_Answer]:
    """Yield the fixes of some diagnostics, each once however many of them it answers."""
    found: dict[tuple[str, str], _Answer] = {}
    for it in mine:
        data = it.data if isinstance(it.data, dict) else {}
        if data.get("version") != snapshot.document.version:
            continue
        for fix in fixes_of(data):
            if fix["safety"] != FixSafety.DISPLAY.value:
                key = fix["title"], repr(fix["edits"])
                found.setdefault(key, _Answer(fix, data.get("kernel"), [])).diagnostics.append(it)
    yield from found.values()


def _of_diagnostic(server: ClmapServer, snapshot: Snapshot, mine: lsp.Diagnostic) -> Iterator[lsp.CodeAction]:
    yield _ignore(snapshot, mine)
    name = "clmap.explainRule" if "clmap.explainRule" in server.abilities.commands else "clmap.showRule"
    yield lsp.CodeAction(
        title=f"clmap: explain {mine.code}",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[mine],
        command=lsp.Command("explain", name, arguments=[mine.code]),
    )


def _best(fixes: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the fix to prefer: the verified one that gains most, else the first safe one."""
    verified = [it for it in fixes if it["verified"] and it.get("preferable")]
    if verified:
        return min(verified, key=lambda it: it.get("rank", []))
    return next((it for it in fixes if it["safety"] == FixSafety.SAFE.value), None)


def _fix_action(
    snapshot: Snapshot,
    fix: dict[str, Any],
    kind: lsp.CodeActionKind,
    diagnostics: list[lsp.Diagnostic] | None,
    *,
    kernel: str | None,
    preferred: bool,
) -> lsp.CodeAction:
    host = fix.get("hostChange")
    return lsp.CodeAction(
        title=str(fix["title"]),
        kind=kind,
        diagnostics=diagnostics,
        is_preferred=preferred,
        command=lsp.Command("host change", "clmap.note", arguments=[f"The host must change too: {host}."])
        if host
        else None,
        data={
            "uri": snapshot.document.uri,
            "version": snapshot.document.version,
            "edits": fix["edits"],
            "hostChange": host,
            "change": fix.get("change"),
            "kernel": kernel,
            "assumptions": fix.get("assumptions") or [],
        },
    )


def _ignore(snapshot: Snapshot, mine: lsp.Diagnostic) -> lsp.CodeAction:
    """Return the action that silences a finding where it stands: a comment at the end of its line."""
    document = snapshot.document
    row = min(mine.range.start.line + 1, len(document.file.line_starts))
    start, line = document.file.line_starts[row - 1], document.file.line(row)
    if line.rstrip().endswith("\\"):  # In a macro's body a comment would swallow the next line.
        end, text = document.position(start), f"// clmap: ignore[{mine.code}]\n"
    else:
        end, text = document.position(start + len(line)), f"  // clmap: ignore[{mine.code}]"
    return lsp.CodeAction(
        title=f"clmap: ignore {mine.code} here",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[mine],
        edit=lsp.WorkspaceEdit(changes={document.uri: [lsp.TextEdit(lsp.Range(end, end), text)]}),
    )


# ----------------------------------------------------------------------------------- document and kernel


def _of_document(server: ClmapServer, snapshot: Snapshot) -> Iterator[lsp.CodeAction]:
    """Yield the action that applies every safe fix; of those that touch the same text the best one."""
    edits: list[dict[str, Any]] = []
    for it in diagnostics_of(server, snapshot, limit=None):
        safe = [fix for fix in fixes_of(it.data) if fix["safety"] == FixSafety.SAFE.value]
        fix = _best(safe)
        if fix is not None and not overlap(edits, fix["edits"]):
            edits += fix["edits"]
    if edits:
        data = {"uri": snapshot.document.uri, "version": snapshot.document.version, "edits": edits}
        yield lsp.CodeAction(title="clmap: apply all safe fixes", kind=FIX_ALL, data=data)


def _rewrites(
    server: ClmapServer,
    snapshot: Snapshot,
    kernel: KernelAnalysis,
    shown: Sequence[_Answer],
    best: dict[str, Any] | None,
) -> Iterator[lsp.CodeAction]:
    """Yield every verified rewrite of the kernel at the cursor that no finding asks for, best first.

    Args:
        shown: what answers findings.
        best: what is preferred of that; a rewrite is, too, only if it gains more.
    """
    places = snapshot.places
    offers = server.emulations.offers(snapshot, kernel) if server.emulations else ()
    usable = [it for it in offers if it.fix.safety is not FixSafety.DISPLAY and it.is_preferable]
    first = min(usable, key=lambda it: it.rank, default=None)
    titles = {it.fix["title"] for it in shown}
    for offer in sorted(offers, key=lambda it: it.rank):
        data = offer_data(offer, places)
        if offer.fix.safety is FixSafety.DISPLAY:
            data["title"] = f"Sketch: {data['title']}"
        if data["title"] in titles:
            continue
        preferred = offer is first and (best is None or "rank" not in best or data["rank"] < best["rank"])
        kind = lsp.CodeActionKind.RefactorRewrite
        yield _fix_action(snapshot, data, kind, None, kernel=kernel.name, preferred=preferred)


def _of_kernel(snapshot: Snapshot, kernel: KernelAnalysis, where: lsp.Range) -> Iterator[lsp.CodeAction]:
    place = {"line": where.start.line, "character": where.start.character}
    arguments: list[Any] = [snapshot.document.uri, place]
    for title, command in (
        (f"clmap: emulate {kernel.name} now", "clmap.emulate"),
        (f"clmap: pin the launch of {kernel.name}", "clmap.pin"),
        ("clmap: optimise this kernel…", "clmap.optimise"),
    ):
        yield lsp.CodeAction(
            title=title,
            kind=lsp.CodeActionKind.Source,
            command=lsp.Command(title, command, arguments=arguments),
        )


# ----------------------------------------------------------------------------------------------- resolve


def _resolves(server: ClmapServer) -> bool:
    """Tell whether the client asks for an action's edit only when the action is taken."""
    document = server.client_capabilities.text_document
    action = document.code_action if document else None
    return bool(action and action.resolve_support and "edit" in action.resolve_support.properties)


async def _host_edits(server: ClmapServer, data: dict[str, Any]) -> list[tuple[Document, Edit]]:
    """Return what an action changes in host files; nothing where one is open with other text."""
    document = server.documents.get(str(data.get("uri")))
    asked, kernel = data.get("change"), data.get("kernel")
    if document is None or not asked or document.version != data.get("version"):
        return []
    if not isinstance(asked, dict) or not isinstance(kernel, str):
        raise JsonRpcInvalidParams("the change of an action that is none of ours")
    is_split = "fields" in asked
    try:
        change = from_data(asked, StructureChange) if is_split else from_data(asked, LaunchChange)
    except BadMessageError as error:
        raise JsonRpcInvalidParams(str(error)) from None
    known = await server.analyses.host_edits(document, kernel, change)
    by_path = {str(Path(it.path).resolve()): it for it in server.documents}
    hosts = {
        path: by_path.get(path) or Document(uri_of(path), "", 0, saved, document.encoding)
        for path, (saved, _) in known.items()
    }
    if any(hosts[path].text != saved for path, (saved, _) in known.items()):
        return []
    return [(hosts[path], edit) for path, (_, edits) in known.items() for edit in edits]


def _resolved(
    server: ClmapServer, action: lsp.CodeAction, host: Sequence[tuple[Document, Edit]] = ()
) -> lsp.CodeAction:
    data = action.data if isinstance(action.data, dict) else {}
    assumed = data.get("assumptions")
    if action.edit is None and data.get("edits"):
        version = data.get("version")
        versions = {str(data.get("uri")): version} if is_number(version) else {}
        open_ = (it for it, _ in host if server.documents.get(it.uri) is it)
        versions |= {it.uri: it.version for it in open_}
        action.edit = workspace_edit(
            [*edits_of(data["edits"]), *(document_edit(*it) for it in host)],
            server.client_capabilities,
            versions,
            host_change if isinstance(host_change := data.get("hostChange"), str) else None,
            [it for it in assumed if isinstance(it, str)] if isinstance(assumed, list) else (),
        )
    return action
