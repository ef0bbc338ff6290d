"""Other editors' clients: each with the capabilities that it announces, through a whole short session.

Capabilities of Emacs, Neovim and VS Code come with pytest-lsp. Those of Helix, Sublime Text, Kate and Zed are
what their documentation and `initialize` requests say matters to this server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pygls.protocol import default_converter
from pytest_lsp import client_capabilities
from raw_client import RawClient

KERNEL = """\
// clmap: global=256,256 local=16,16 N=256
__kernel void turn(__global const float *in, __global float *out, const int N)
{
    out[get_global_id(0) * N + get_global_id(1)] = in[get_global_id(1) * N + get_global_id(0)];
}
"""
SHIPPED = ["emacs", "neovim@0.7", "neovim@0.8", "neovim@0.10", "neovim@0.11", "visual_studio_code"]
WRITTEN: dict[str, dict[str, Any]] = {
    "helix": {
        "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
        "workspace": {"configuration": True, "applyEdit": True, "didChangeConfiguration": {}},
        "textDocument": {
            "publishDiagnostics": {"versionSupport": True, "tagSupport": {"valueSet": [1, 2]}},
            "hover": {"contentFormat": ["markdown"]},
            "inlayHint": {},
            "codeAction": {"resolveSupport": {"properties": ["edit", "command"]}, "dataSupport": True},
        },
        "window": {"workDoneProgress": True},
    },
    "sublime": {
        "workspace": {
            "configuration": True,
            "workspaceFolders": True,
            "diagnostics": {"refreshSupport": True},
        },
        "textDocument": {"diagnostic": {"dynamicRegistration": True}, "codeLens": {}, "hover": {}},
        "window": {"workDoneProgress": True},
    },
    "kate": {
        "workspace": {"workspaceFolders": True},
        "textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}, "publishDiagnostics": {}},
    },
    "zed": {
        "general": {"positionEncodings": ["utf-16"]},
        "workspace": {"configuration": True, "diagnostics": {"refreshSupport": True}},
        "textDocument": {"diagnostic": {"dynamicRegistration": True}, "inlayHint": {"resolveSupport": None}},
        "window": {"workDoneProgress": True},
    },
}


def capabilities(name: str) -> dict[str, Any]:
    if name in WRITTEN:
        return WRITTEN[name]
    found: dict[str, Any] = default_converter().unstructure(client_capabilities(name))
    return found


def pulls(offered: dict[str, Any]) -> bool:
    document, workspace = offered.get("textDocument") or {}, offered.get("workspace") or {}
    return bool(document.get("diagnostic") and (workspace.get("diagnostics") or {}).get("refreshSupport"))


@pytest.mark.parametrize("name", [*SHIPPED, *WRITTEN])
def test_a_whole_session(name: str, tmp_path: Path):
    offered = capabilities(name)
    uri = (tmp_path / "k.cl").as_uri()
    with RawClient() as client:
        options = {"settings": {"device": "nvidia-hopper", "emulate": "off"}}
        answer = client.request(
            "initialize",
            {
                "processId": None,
                "rootUri": tmp_path.as_uri(),
                "capabilities": offered,
                "initializationOptions": options,
            },
        )
        mine = answer["result"]["capabilities"]
        assert ("diagnosticProvider" in mine) == pulls(offered)
        client.notify("initialized", {})
        document = {"uri": uri, "languageId": "opencl", "version": 1, "text": KERNEL}
        client.notify("textDocument/didOpen", {"textDocument": document})
        codes = {it["code"] for it in findings(client, uri, pulls(offered))}
        assert codes & {"CM101", "CM102"}
        place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 6}}
        hover = answered(client, "textDocument/hover", place)
        assert "sectors" in hover["contents"]["value"]
        assert answered(client, "shutdown", None) is None
        client.notify("exit")
        assert client.wait() == 0


def findings(client: RawClient, uri: str, pulled: bool) -> list[dict[str, Any]]:
    if pulled:
        report = answered(client, "textDocument/diagnostic", {"textDocument": {"uri": uri}})
        return list(report["items"])
    while True:
        message = reply_to_server(client, client.receive(30))
        if message.get("method") == "textDocument/publishDiagnostics":
            return list(message["params"]["diagnostics"])


def answered(client: RawClient, method: str, params: Any) -> Any:
    """Send a request; answer what the server asks meanwhile, as a client must."""
    client._next_id += 1
    number = client._next_id
    client.send({"id": number, "method": method, "params": params})
    while True:
        message = reply_to_server(client, client.receive(30))
        if message.get("id") == number and "method" not in message:
            assert "error" not in message, message
            return message["result"]


def reply_to_server(client: RawClient, message: dict[str, Any]) -> dict[str, Any]:
    if "id" in message and "method" in message:
        result = [None] if message["method"] == "workspace/configuration" else None
        client.send({"id": message["id"], "result": result})
    return message
