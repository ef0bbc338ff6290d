"""Many documents opened at once: who is asked about, edited or saved goes before the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

from clmap_lsp.caches import clear_caches

N_DOCUMENTS = 90
ASKED = 80
AT_MOST_BEFORE = 30
"""Others that may be done first: as many as are analysed while the messages come in. In turn it were 80."""


def text(number: int) -> str:
    return f"""
__kernel void k{number}(__global float *a, __global const float *b, int n) {{
    int i = get_global_id(0);
    for (int j = 0; j < n; j++)
        a[i * {number + 2} + j] += b[j * {number % 7 + 2} + i];
}}
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path, settings={"emulate": "off"})
    yield made
    made.client.process.kill()


def hover(session: Session, uri: str) -> None:
    place = {"line": 3, "character": 20}
    session.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})


def definition(session: Session, uri: str) -> None:
    place = {"line": 4, "character": 9}
    found = session.request("textDocument/definition", {"textDocument": {"uri": uri}, "position": place})
    assert found


def code_action(session: Session, uri: str) -> None:
    place = {"line": 4, "character": 9}
    params = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}}
    session.request("textDocument/codeAction", {**params, "context": {"diagnostics": []}})


def lens(session: Session, uri: str) -> None:
    assert session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})


def change(session: Session, uri: str) -> None:
    session.change(uri, "\n" + text(ASKED), 2)


def save(session: Session, uri: str) -> None:
    session.save(uri)


@pytest.mark.parametrize("use", [hover, definition, code_action, lens, change, save])
def test_what_is_used_goes_before_what_was_only_opened(
    session: Session, use: Callable[[Session, str], Any]
) -> None:
    uris = [session.open(text(number), f"k{number}.cl") for number in range(N_DOCUMENTS)]
    use(session, uris[ASKED])
    if not session.is_published(uris[ASKED]):
        session.diagnostics(uris[ASKED])
    assert sum(map(session.is_published, uris)) - 1 < AT_MOST_BEFORE


def test_what_is_used_without_a_document_open_stops_nothing(session: Session) -> None:
    uri = session.open(text(0))
    for params in ({"textDocument": {"uri": "file:///nowhere.cl"}}, {"textDocument": None}, {}, []):
        session.client.send({"id": 1000, "method": "textDocument/codeLens", "params": params})
    session.diagnostics(uri)  # Published, whatever it says.


def test_caches_are_emptied_beside_threads_that_make_tuples():
    """The collector's list of all objects makes CPython refuse to fill tuples that are being made."""
    errors: list[BaseException] = []
    is_over = threading.Event()

    def make() -> None:
        try:
            while not is_over.is_set():
                assert len(tuple(str(it) for it in range(2_000))) == 2_000
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    for _ in range(20):
        clear_caches()
    is_over.set()
    thread.join()
    assert not errors
