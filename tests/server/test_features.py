"""Each feature through a real server process, as an editor would use it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

SWAPPED = """\
// clmap: global=256,256 local=32,8 N=256
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int r = get_global_id(0);
    int c = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += B[k * N + c] * A[r * N + k];
    C[r * N + c] = sum;
}
"""
SETTINGS = {"emulate": "off", "device": "nvidia-hopper"}
LOAD_B = lsp.Position(7, 16)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[sys.executable, "-m", "clmap_lsp", "--stdio"]),
    params=["visual_studio_code", "neovim@0.9.1"],
    scope="module",  # Starting one takes longer than a test; each test opens a document of its own.
)
async def client(
    request: pytest.FixtureRequest, lsp_client: LanguageClient, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[None]:
    tmp_path = tmp_path_factory.mktemp("workspace")
    lsp_client.workspace = tmp_path  # type: ignore[attr-defined]
    lsp_client.opened = 0  # type: ignore[attr-defined]
    lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
    lsp_client.set_configuration({"clmap": SETTINGS})
    await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=client_capabilities(request.param),
            root_uri=tmp_path.as_uri(),
            initialization_options={"settings": SETTINGS},
        )
    )
    yield
    await lsp_client.shutdown_session()


def open_document(client: LanguageClient, text: str, name: str = "k.cl") -> str:
    """Open a document in a folder of its own, where no earlier test left anything."""
    client.opened += 1  # type: ignore[attr-defined]
    path: Path = client.workspace / str(client.opened) / name  # type: ignore[attr-defined]
    path.parent.mkdir()
    path.write_text(text)
    uri = path.as_uri()
    item = lsp.TextDocumentItem(uri, "opencl", 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return uri


async def diagnostics(client: LanguageClient, uri: str) -> list[lsp.Diagnostic]:
    """Wait for the diagnostics of a document: pushed, or pulled where the client pulls."""
    document = client.capabilities.text_document
    workspace = client.capabilities.workspace
    refresh = workspace.diagnostics.refresh_support if workspace and workspace.diagnostics else False
    if document and document.diagnostic and refresh:
        report = await client.text_document_diagnostic_async(
            lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
        )
        return list(report.items)
    async with asyncio.timeout(180):
        while uri not in client.diagnostics:  # Those of another document may come first.
            await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return list(client.diagnostics[uri])


def at(uri: str, position: lsp.Position) -> dict[str, object]:
    return {"text_document": lsp.TextDocumentIdentifier(uri), "position": position}


async def read_document(client: LanguageClient, text: str) -> str:
    """Open a document and wait until it is read: a hover before that says what a first look knows."""
    uri = open_document(client, text)
    await diagnostics(client, uri)
    return uri


async def test_findings_show_on_open(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    found = await diagnostics(client, uri)
    codes = {it.code for it in found}
    assert codes & {"CM101", "CM104"}, found
    for it in found:
        assert it.source == "clmap"
        assert it.code_description is not None and str(it.code) in it.code_description.href


async def test_findings_follow_an_edit(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    assert await diagnostics(client, uri)
    fixed = SWAPPED.replace("r = get_global_id(0)", "c = get_global_id(0)").replace(
        "int c = get_global_id(1)", "int r = get_global_id(1)"
    )
    client.diagnostics.pop(uri, None)
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(2, uri),
            [lsp.TextDocumentContentChangeWholeDocument(text=fixed)],
        )
    )
    found = await diagnostics(client, uri)
    assert not {it.code for it in found} & {"CM101", "CM102", "CM104"}, found


async def test_hover_on_an_access_says_what_it_costs(client: LanguageClient):
    uri = await read_document(client, SWAPPED)
    hover = await client.text_document_hover_async(lsp.HoverParams(**at(uri, LOAD_B)))  # type: ignore[arg-type]
    assert hover is not None
    text = hover.contents.value  # type: ignore[union-attr]
    assert "`B`" in text and "sector a request" in text and "256x256" in text


async def test_hover_on_a_kernel_and_on_a_work_item_function(client: LanguageClient):
    uri = await read_document(client, SWAPPED)
    for position, word in ((lsp.Position(1, 15), "kernel `mm`"), (lsp.Position(3, 16), "dimension 0")):
        hover = await client.text_document_hover_async(lsp.HoverParams(**at(uri, position)))  # type: ignore[arg-type]
        assert hover is not None and word in hover.contents.value  # type: ignore[union-attr]


T = TypeVar("T")


async def once_read(ask: Callable[[], Awaitable[Sequence[T] | None]]) -> Sequence[T]:
    """Ask until there is an answer: what is not read within a moment is asked for again, as editors do."""
    async with asyncio.timeout(120):
        while not (found := await ask()):
            await asyncio.sleep(0.05)
    return found


async def test_lenses_name_the_launch_and_the_cost(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    about = lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))
    found = await once_read(lambda: client.text_document_code_lens_async(about))
    titles = [it.command.title for it in found or () if it.command]
    assert "256x256/32x8" in titles, titles
    assert any(it.startswith("▲ ") and "x traffic" in it for it in titles), titles
    assert max(map(len, titles)) <= 30


async def test_inlay_hints_stand_behind_accesses(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    about = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole)
    found = await once_read(lambda: client.text_document_inlay_hint_async(about))
    assert {it.position.line for it in found or ()} == {7, 8}


IMAGES = """\
// clmap: global=64,32 local=32,1 from=image(64,64) to=image(64,64)
__kernel void turn(__read_only image2d_t from, __write_only image2d_t to)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(to, (int2)(x, y), read_imagef(from, (int2)(y, x)));
}
"""


async def test_images_have_hovers_and_hints(client: LanguageClient):
    uri = await read_document(client, IMAGES)
    await diagnostics(client, uri)
    texts = []
    for column in (8, 40):
        hover = await client.text_document_hover_async(
            lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(4, column))
        )
        assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
        texts.append(hover.contents.value)
    write, read = texts
    assert "`to(x, y)`" in write and "32 texels in 1 row, a box of 32x1" in write
    assert "`from(y, x)`" in read and "32 texels in 32 rows, a box of 1x32" in read
    assert "follow each other in y" in read and "unknown" in read
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    about = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole)
    found = await once_read(lambda: client.text_document_inlay_hint_async(about))
    assert [it.label for it in found or ()] == ["32t", "32t"]


async def test_actions_ignore_and_explain_a_finding(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    found = await diagnostics(client, uri)
    mine = found[0]
    actions = await client.text_document_code_action_async(
        lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(uri), mine.range, lsp.CodeActionContext(diagnostics=[mine])
        )
    )
    titles = {it.title: it for it in actions or ()}
    ignore = titles[f"clmap: ignore {mine.code} here"]
    assert isinstance(ignore, lsp.CodeAction) and ignore.edit is not None
    assert ignore.edit.changes is not None
    text = ignore.edit.changes[uri][0].new_text
    assert text == f"  // clmap: ignore[{mine.code}]"
    assert f"clmap: explain {mine.code}" in titles


async def test_explain_and_debug_commands(client: LanguageClient):
    page = await client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("clmap.explain", arguments=["CM101"])
    )
    assert "What it does" in page
    debug = await client.workspace_execute_command_async(lsp.ExecuteCommandParams("clmap.debug"))
    assert "clmap-lsp" in debug and "position encoding" in debug


async def test_devices_names_the_models_and_the_one_in_use(client: LanguageClient):
    uri = open_document(client, SWAPPED)
    found = await client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("clmap.devices", arguments=[uri])
    )
    known = found["models"] if isinstance(found, dict) else [vars(it) for it in found.models]
    assert "nvidia-hopper" in {it["id"] for it in known}
    current = found["current"] if isinstance(found, dict) else found.current
    assert current in {it["id"] for it in known}


async def test_a_configuration_with_a_fault_says_where(client: LanguageClient):
    uri = open_document(client, 'device = "adreno64"\n', "clmap.toml")
    found = await diagnostics(client, uri)
    assert found and "adreno64" in found[0].message
    assert found[0].range.start.line == 0


async def test_report_is_one_page_about_the_document(client: LanguageClient) -> None:
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    uri = open_document(client, SWAPPED)
    params = lsp.ExecuteCommandParams("clmap.report", [uri])
    page = await client.workspace_execute_command_async(params)
    assert page.startswith("<!doctype html>")
    assert "swapped-dimensions" in page
    assert "B[k*N + c]" in page
    assert page.count("<svg") >= 3
