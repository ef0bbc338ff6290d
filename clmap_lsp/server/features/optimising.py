"""The command `clmap.optimise`: search for the best version of a kernel, and show it before it is taken.

Clients that can confirm edits show the change as one (VS Code's refactor preview); in others the user is told
what it gains and chooses between taking it and looking at it.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.counted import counted
from clmap_lsp.escaping import markdown
from clmap_lsp.server.convert import edit_data
from clmap_lsp.server.edits import workspace_edit
from clmap_lsp.server.features.commands import runnable, told
from clmap_lsp.server.showing import show
from clmap_lsp.time.wording import bound_text, seconds_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.worker.messages import Optimised

TAKE, LOOK, LEAVE = "Apply", "Show", "Leave"


def register(server: ClmapServer) -> None:
    """Register the command."""
    decorate: Callable[[Any], Any] = server.command("clmap.optimise")

    @decorate
    async def optimise(uri: str, place: Any) -> str | None:
        found = await runnable(server, uri, place)
        if isinstance(found, str):
            return told(server, found)
        emulations, snapshot, kernel = found
        best = await emulations.optimise(snapshot, kernel)
        if isinstance(best, str):
            return told(server, f"`{kernel.name}`: {best}")
        if not best.gained or not best.edit.text:
            ended = "" if best.complete else "; optimise it again to go on"
            return told(
                server,
                f"`{kernel.name}`: nothing better among {counted(best.n_versions, 'version')}{ended}. "
                f"{best.in_the_way}",
            )
        return await _offered(server, snapshot, kernel.name, best)


async def _offered(server: ClmapServer, snapshot: Snapshot, kernel: str, best: Optimised) -> str | None:
    """Show what was found and apply it if the user wants it; returns a text where it could not be."""
    latest = server.documents.get(snapshot.document.uri)
    if latest is None or not best.region.is_in(latest.text):
        return told(server, f"`{kernel}` was edited while it was optimised: optimise it again")
    label = f"Optimise {kernel}: {best.gained} as predicted"
    host = "; ".join(dict.fromkeys(it.host_change for it in best.steps if it.host_change))
    assumptions = tuple(dict.fromkeys(text for it in best.steps for text in it.assumptions))
    edit = workspace_edit(
        [edit_data(best.edit, snapshot.places)],
        server.client_capabilities,
        {latest.uri: latest.version},
        host or None,
        assumptions,
        confirm=True,
    )
    if edit.change_annotations is None:
        text = f"`{kernel}`: {best.gained} as predicted" + (
            f"; the host must change too: {host}" if host else ""
        )
        while (answer := await _asked(server, text)) == LOOK:
            await show(server, f"{kernel}-optimised.md", "\n".join(_page(snapshot, kernel, best)) + "\n")
        if answer != TAKE:
            return None
    else:
        await show(server, f"{kernel}-optimised.md", "\n".join(_page(snapshot, kernel, best)) + "\n")
    done = await server.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, label))
    return None if done.applied else done.failure_reason


async def _asked(server: ClmapServer, text: str) -> str | None:
    actions = [lsp.MessageActionItem(it) for it in (TAKE, LOOK, LEAVE)]
    params = lsp.ShowMessageRequestParams(lsp.MessageType.Info, text, actions)
    answer = await server.window_show_message_request_async(params)
    return None if answer is None else answer.title


def _page(snapshot: Snapshot, kernel: str, best: Optimised) -> Iterator[str]:
    """Yield the ladder and the change of the text as Markdown."""
    yield f"# {markdown(kernel)}: {best.gained}, as predicted for {snapshot.analysis.device.name}"
    yield ""
    yield "| step | predicted | bound by | tested on |"
    yield "|---|---|---|---|"
    for it in best.steps:
        seconds = "" if it.seconds is None else seconds_text(it.seconds)
        bound = bound_text(it.bound) if it.bound else ""
        yield f"| {markdown(it.title)} | {seconds} | {bound} | {len(it.tested_on) or ''} launches |"
    for it in best.steps:
        if it.assumptions or it.host_change:
            yield f"\n**{markdown(it.title)}**"
        if it.assumptions:
            yield f"- assumes {', '.join(markdown(text) for text in it.assumptions)}"
        if it.host_change:
            yield f"- the host must change too: {markdown(it.host_change)}"
    if best.in_the_way:
        yield f"\n{best.in_the_way[0].upper()}{best.in_the_way[1:]}."
    if not best.complete:
        yield "\nThe search was ended; it goes on from here when the kernel is optimised again."
    fence = "`" * max(3, 1 + max((len(it) for it in re.findall("`+", snapshot.document.text)), default=0))
    yield f"\n{fence}diff"
    before = snapshot.document.text
    after = before[: best.edit.span.start] + best.edit.text + before[best.edit.span.end :]
    yield from difflib.unified_diff(
        before.splitlines(), after.splitlines(), "as it is", "optimised", lineterm=""
    )
    yield fence
