"""Settings that cannot be used are said where they are set, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from session import Session

from clmap_lsp.server.settings import ClientSettings


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"device": "nvidia-hoper"}, 'clmap.device: there is no device model "nvidia-hoper"; did you mean'),
        ({"select": "notalist"}, "clmap.select must be a list of strings; it is 'notalist'"),
        ({"ignore": ["CM999"]}, "clmap.ignore: there is no rule 'CM999'"),
        ({"emulateTimeLimit": -3}, "clmap.emulateTimeLimit must be a number of seconds above 0; it is -3"),
        ({"emulate": "always"}, "clmap.emulate must be one of onIdle, onSave, off; it is 'always'"),
        ({"codeLens": "yes"}, "clmap.codeLens must be true or false; it is 'yes'"),
        ({"buildOptions": ["-DN=4", 7]}, "clmap.buildOptions must be a list of strings"),
    ],
)
def test_each_is_named_with_what_is_wrong(section: dict[str, Any], said: str):
    (problem,) = ClientSettings.of(section).problems
    assert problem.startswith(said)


def test_nothing_is_said_of_settings_that_are_left_out_or_right():
    right = {"device": "nvidia-hopper", "select": ["ALL"], "emulateTimeLimit": 5, "embedded": False}
    left_out = {"device": "", "select": None, "emulate": None}
    assert ClientSettings.of(right).problems == ClientSettings.of(left_out).problems == ()


def test_a_person_is_told_once(tmp_path: Path):
    session = Session(tmp_path, settings={"emulate": "off", "device": "bogus"})
    try:
        session.command("clmap.debug")
        wrong = {"clmap": {"emulate": "off", "device": "bogus"}}
        session.client.notify("workspace/didChangeConfiguration", {"settings": wrong})
        session.command("clmap.debug")
        shown = [it["params"] for it in session.messages if it.get("method") == "window/showMessage"]
        assert [it["message"].split(";")[0] for it in shown] == [
            'clmap.device: there is no device model "bogus"'
        ]
        assert shown[0]["type"] == 2
    finally:
        session.client.process.kill()
