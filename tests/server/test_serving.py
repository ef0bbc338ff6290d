"""How the server is started: the client's process is watched, TCP is for debugging on this machine only."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from typing import Any

from raw_client import RawClient

SERVER = (sys.executable, "-m", "clmap_lsp")


def test_the_end_of_the_clients_process_ends_the_server():
    """The client's pipes stay open: a client may leave children behind that hold them."""
    pipe = subprocess.PIPE
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=pipe)
    command = [*SERVER, "--stdio", f"--clientProcessId={client.pid}"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        client.communicate(b"\n")
        assert server.wait(60) == 1
        assert server.stderr is not None and b"is gone" in server.stderr.read()


def test_tcp_serves_one_client_on_the_loopback_address():
    command = [*SERVER, "--tcp", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        said = re.search(rb"listens on (\S+):(\d+), token (\S+)", server.stderr.readline())
        assert said is not None and said[1] == b"127.0.0.1"
        with socket.create_connection(("127.0.0.1", int(said[2])), timeout=30) as wire:
            stream = wire.makefile("rwb")
            shown = {"token": said[3].decode()}
            params: dict[str, Any] = {"processId": None, "rootUri": None, "capabilities": {}}
            params["initializationOptions"] = shown
            for number, (method, given) in enumerate([("initialize", params), ("shutdown", None)]):
                send(stream, {"id": number, "method": method, "params": given})
                assert "result" in receive(stream)
            send(stream, {"method": "exit"})
            assert server.wait(30) == 0


def send(stream: Any, message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()


def receive(stream: Any) -> dict[str, Any]:
    length = 0
    while line := stream.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    message: dict[str, Any] = json.loads(stream.read(length))
    return message


def test_debug_information_names_the_process_and_what_holds_the_worker():
    with RawClient() as client:
        client.initialize()
        answer = client.request("workspace/executeCommand", {"command": "clmap.debug", "arguments": []})
        assert f"server process {client.process.pid}\n" in answer["result"]
        assert "worker: " in answer["result"] and "position encoding utf-16" in answer["result"]


def test_a_refused_rename_is_no_line_of_the_log(tmp_path):
    path = tmp_path / "k.cl"
    uri = path.as_uri()
    with (tmp_path / "log").open("wb") as log, RawClient(errors=log) as client:
        client.initialize()
        document = {
            "uri": uri,
            "languageId": "opencl",
            "version": 1,
            "text": "__kernel void k(void) { return; }",
        }
        client.notify("textDocument/didOpen", {"textDocument": document})
        for method, more in (("prepareRename", {}), ("rename", {"newName": "other"})):
            params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 26}, **more}
            assert "error" in client.request(f"textDocument/{method}", params)
    assert b"refused" not in (tmp_path / "log").read_bytes()
