"""Commands that clients run: emulate, pin, explain, show, debug information."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.devices import list_models
from clmap_lsp.launch.resolve import as_comment
from clmap_lsp.rules.registry import find_rule
from clmap_lsp.sandbox.confined import description
from clmap_lsp.server.hover_text import kernel_text
from clmap_lsp.server.places import place_of
from clmap_lsp.server.showing import show
from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable

    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.emulations import Emulations
    from clmap_lsp.server.snapshot import Snapshot


def register(server: ClmapServer) -> None:
    """Register the commands."""
    _register_measuring(server)

    @_command(server, "clmap.emulate")
    async def emulate(uri: str, place: Any) -> str | None:
        found = await runnable(server, uri, place)
        if isinstance(found, str):
            return told(server, found)
        emulations, snapshot, kernel = found
        emulation = await emulations.run(snapshot, kernel)
        await emulations.verify_fixes(snapshot, kernel)
        for listener in server.on_emulated:
            listener(server.latest(uri) or snapshot)
        failure = emulation.failure if emulation else None
        return None if failure is None else told(server, f"`{kernel.name}`: {failure}")

    @_command(server, "clmap.pin")
    async def pin(uri: str, place: Any) -> None:
        found = await _kernel(server, uri, place)
        if found is None:
            return
        snapshot, kernel = found
        launch = kernel.launch
        if launch is None:
            return
        document = snapshot.document
        row = document.file.position(kernel.span.start).row
        line = document.file.line(row)
        indent = line[: len(line) - len(line.lstrip())]
        at = document.position(document.file.line_starts[row - 1])
        text = f"{indent}{as_comment(launch)}\n"
        edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(lsp.Range(at, at), text)]})
        params = lsp.ApplyWorkspaceEditParams(edit, f"Pin the launch of {kernel.name}")
        await server.workspace_apply_edit_async(params)

    @_command(server, "clmap.explain")
    async def explain(word: str) -> str | None:
        rule = find_rule(word)
        return rule.docs.markdown(rule.meta) if rule else None

    @_command(server, "clmap.showRule")
    async def show_rule(word: str) -> None:
        rule = find_rule(word)
        if rule is not None:
            await show(server, f"{rule.meta.code}.md", rule.docs.markdown(rule.meta))

    @_command(server, "clmap.showKernel")
    async def show_kernel(uri: str, place: Any) -> None:
        found = await _kernel(server, uri, place)
        if found is not None:
            snapshot, kernel = found
            emulation = server.emulations.of(snapshot, kernel) if server.emulations else None
            await show(server, f"{kernel.name}.md", kernel_text(snapshot, kernel, emulation) + "\n")

    @_command(server, "clmap.note")
    async def note(text: str) -> None:
        server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))

    @_command(server, "clmap.devices")
    async def devices(uri: str) -> dict[str, object]:
        """Return every device model, and the one that a document's figures hold for."""
        snapshot = await server.snapshot(uri) if uri else None
        models = [{"id": it.id, "name": it.name} for it in list_models()]
        return {"current": snapshot.analysis.device.id if snapshot else None, "models": models}

    @_command(server, "clmap.debug")
    async def debug() -> str:
        return _debug_text(server)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _debug_text(server: ClmapServer) -> str:
    documents = list(server.documents)
    emulations = server.emulations
    lines = [
        f"clmap-lsp {__version__}, Python {platform.python_version()} at {sys.executable}",
        f"server process {os.getpid()}",
        f"{platform.platform()}, {platform.machine()}",
        ", ".join(
            f"{it} {_version(it)}" for it in ("numpy", "tree-sitter", "llvmlite", "pygls", "lsprotocol")
        ),
        f"position encoding {server.documents.encoding.value}, trusted: {server.trusted}",
        f"kernels analysed {server.n_analysed}",
        description(),
        f"worker process {emulations.worker_pid if emulations else None}",
        f"settings {server.editor.default}",
        *(f"{it.uri} version {it.version}, {len(it.text)} characters" for it in documents),
    ]
    return "\n".join(lines)


def _register_measuring(server: ClmapServer) -> None:
    @_command(server, "clmap.measure")
    async def measure(uri: str, place: Any) -> str:
        found = await runnable(server, uri, place)
        if isinstance(found, str):
            return told(server, found)
        emulations, snapshot, kernel = found
        text = await emulations.measure(snapshot, kernel)
        for listener in server.on_emulated:
            listener(server.latest(uri) or snapshot)
        return told(server, f"`{kernel.name}`: {text}")


async def runnable(
    server: ClmapServer, uri: str, place: Any
) -> tuple[Emulations, Snapshot, KernelAnalysis] | str:
    """Return the kernel at a place and what runs it, or why it cannot run."""
    found = await _kernel(server, uri, place)
    if found is None or server.emulations is None:
        return "there is no kernel at the cursor"
    if not server.trusted:
        return "kernels do not run in a workspace that is not trusted"
    snapshot, kernel = found
    if kernel.launch is None:
        return f"`{kernel.name}` has no launch: {'; '.join(kernel.launch_problems)}"
    return server.emulations, snapshot, kernel


def told(server: ClmapServer, text: str) -> str:
    """Show a text and return it: few clients show what a command returned, when a lens ran it."""
    server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
    return text


def _command(server: ClmapServer, name: str) -> Callable[[Any], Any]:
    decorate: Callable[[Any], Any] = server.command(name)
    return decorate


async def _kernel(server: ClmapServer, uri: str, place: Any) -> tuple[Snapshot, KernelAnalysis] | None:
    """Return the kernel at a place; a place outside all kernels gives none."""
    snapshot = await server.snapshot(uri)
    position = place_of(place)
    if snapshot is None or position is None:
        return None
    kernel = snapshot.kernel_at(snapshot.document.offset(position))
    return None if kernel is None else (snapshot, kernel)
