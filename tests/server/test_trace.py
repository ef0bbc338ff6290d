"""`$/setTrace`: what arrives is told to clients that ask for it."""

from __future__ import annotations

from typing import Any

import pytest
from raw_client import RawClient


@pytest.mark.parametrize(("value", "verbose"), [("messages", False), ("verbose", True)])
def test_traces_say_what_arrived(value: str, verbose: bool):
    with RawClient() as client:
        client.initialize()
        client.notify("$/setTrace", {"value": value})
        client.notify("workspace/didChangeWatchedFiles", {"changes": []})
        seen: list[dict[str, Any]] = []
        while not seen or "didChangeWatchedFiles" not in seen[-1]["params"]["message"]:
            message = client.receive()
            if message.get("method") == "$/logTrace":
                seen.append(message)
        assert (seen[-1]["params"].get("verbose") is not None) == verbose
        client.notify("$/setTrace", {"value": "off"})
        client.request("shutdown")
