"""How quick the server answers while its worker runs a kernel that does not end, and how soon it cancels one.

    python -m benchmarks.while_emulating

Hovers on accesses are asked one after the other, as a hand with a mouse asks them; each is timed from sending
to the answer. Then runs are cancelled, by turns as a request (`$/cancelRequest`) and by their progress
(`window/workDoneProgress/cancel`), and timed until the request is answered or the progress ends.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.keystrokes import source
from benchmarks.replay import Measured, table

ENDLESS = """\
// clmap: global=64 local=16 a=zeros(2)
__kernel void spin(__global volatile int *a)
{
    int i = 0;
    while (a[0] == 0)
        i++;
    a[1] = i;
}
"""
OPTIONS = {"settings": {"emulate": "off", "device": "nvidia-hopper", "emulateTimeLimit": 600}}
PAUSE_S = 0.03
Message = dict[str, Any]


class Client:
    """A server process, what it said and who waits for it to say something."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self._waiting: list[tuple[Callable[[Message], bool], asyncio.Future[Message]]] = []
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls) -> Client:
        """Start a server."""
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "clmap_lsp", "--stdio")
        return cls(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=2**26))

    def send(self, message: Message) -> None:
        """Send a message; it is on its way when the loop turns."""
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def request(self, method: str, params: Any) -> tuple[int, asyncio.Future[Message]]:
        """Send a request; returns its number and its answer to come."""
        number = next(self._numbers)
        answer = self.wait(lambda it: it.get("id") == number and "method" not in it)
        self.send({"id": number, "method": method, "params": params})
        return number, answer

    def wait(self, wanted: Callable[[Message], bool]) -> asyncio.Future[Message]:
        """Return the next message that is wanted."""
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, future))
        return future

    def progress(self, kind: str) -> asyncio.Future[Message]:
        """Return the next progress of a kind."""
        return self.wait(
            lambda it: it.get("method") == "$/progress" and it["params"]["value"]["kind"] == kind
        )

    async def end(self) -> None:
        """Shut the server down."""
        await self.request("shutdown", None)[1]
        self.send({"method": "exit"})
        await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None
        stream = self._process.stdout
        try:
            while True:
                header = await stream.readuntil(b"\r\n\r\n")
                length = int(header.split(b"Content-Length:")[1].split(b"\r\n")[0])
                self._take(json.loads(await stream.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    def _take(self, message: Message) -> None:
        if "id" in message and "method" in message:
            self.send({"id": message["id"], "result": None})
        for entry in [it for it in self._waiting if it[0](message)]:
            self._waiting.remove(entry)
            entry[1].set_result(message)


async def measure(hovers: int, cancels: int) -> Measured:
    """Return the latencies of hovers while a kernel runs, and of cancelling it."""
    measured = Measured()
    client = await Client.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capabilities = {"window": {"workDoneProgress": True}}
        start = {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
        await client.request("initialize", {**start, "initializationOptions": OPTIONS})[1]
        client.send({"method": "initialized", "params": {}})
        text = source(30, 1000)
        typed, endless = _open(client, folder / "typed.cl", text), _open(client, folder / "spin.cl", ENDLESS)
        await client.request("textDocument/codeLens", {"textDocument": {"uri": typed}})[1]
        run = {"command": "clmap.emulate", "arguments": [endless, {"line": 1, "character": 15}]}
        for turn in range(cancels):
            begun = client.progress("begin")
            number, answer = client.request("workspace/executeCommand", run)
            token = (await begun)["params"]["token"]
            if turn == 0:
                await _hover(client, typed, text, hovers, measured)
            before = time.monotonic()
            if turn % 2:
                client.send({"method": "$/cancelRequest", "params": {"id": number}})
                await answer
                measured.add("$/cancelRequest", time.monotonic() - before)
            else:
                ended = client.progress("end")
                client.send({"method": "window/workDoneProgress/cancel", "params": {"token": token}})
                await ended
                measured.add("workDoneProgress/cancel", time.monotonic() - before)
        await client.end()
    return measured


def _open(client: Client, path: Path, text: str) -> str:
    document = {"uri": path.as_uri(), "languageId": "opencl", "version": 1, "text": text}
    client.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    return path.as_uri()


async def _hover(client: Client, uri: str, text: str, count: int, measured: Measured) -> None:
    places = [
        {"line": row, "character": column}
        for row, line in enumerate(text.splitlines())
        if (column := line.find("[") - 1) >= 0 and "__local" not in line
    ]
    for place in itertools.islice(itertools.cycle(places), count):
        before = time.monotonic()
        answer = await client.request(
            "textDocument/hover", {"textDocument": {"uri": uri}, "position": place}
        )[1]
        measured.add("textDocument/hover", time.monotonic() - before)
        if not answer.get("result"):
            measured.errors.append(f"no hover at {place}")
        await asyncio.sleep(PAUSE_S)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a table in milliseconds with the load of the machine."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.while_emulating", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--hovers", type=int, default=300)
    parser.add_argument("--cancels", type=int, default=20)
    args = parser.parse_args(argv)
    measured = asyncio.run(measure(args.hovers, args.cancels))
    print(table(measured))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    return 1 if measured.errors else 0


if __name__ == "__main__":
    sys.exit(main())
