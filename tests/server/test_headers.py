"""Headers and those who include them, through a real client that watches no files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

HELPER = "void g(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"
USER = '#include "b.h"\n__kernel void h(__global float *a) { g(a); }\n'
SCALED = '#include "t.h"\n__kernel void k(__global float *a) { a[get_global_id(0) * STRIDE] = 1; }\n'


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path, settings={"emulate": "off"})
    yield made
    made.client.process.kill()


def found(session: Session, uri: str, version: int | None = 1) -> list[dict[str, Any]]:
    return session.diagnostics(uri, version)


def codes(diagnostics: list[dict[str, Any]]) -> set[str]:
    return {it["code"] for it in diagnostics if it["severity"] < 4}


def shown(session: Session, uri: str, code: str, version: int | None = 1) -> list[dict[str, Any]]:
    """Return the findings of a code once a document (of a version) has some.

    A header is shown again for each of its users, before or after them as the machine likes.
    """
    return [it for it in session.until(uri, lambda its: code in codes(its), version) if it["code"] == code]


def gone(session: Session, uri: str, code: str, version: int | None = 1) -> None:
    """Wait until a document (of a version) has no finding of a code."""
    session.until(uri, lambda its: code not in codes(its), version)


def in_order(session: Session) -> list[str]:
    """Return the file names of all publications so far, in order."""
    session.command("clmap.debug")  # Its answer comes after all that was on its way.
    published = [it for it in session.messages if it.get("method") == "textDocument/publishDiagnostics"]
    return [it["params"]["uri"].rsplit("/", 1)[1] for it in published]


def test_a_finding_in_a_header_shows_at_the_call_and_in_the_header(session: Session):
    header = session.open(HELPER, "b.h", "opencl")
    assert "CM102" not in codes(found(session, header))
    uri = session.open(USER, "b.cl")
    at_call = shown(session, uri, "CM102")[0]
    assert at_call["range"]["start"] == {"line": 1, "character": 37}
    assert at_call["message"].startswith("in b.h: ")
    assert at_call["relatedInformation"][0]["location"]["uri"] == header
    there = shown(session, header, "CM102")[0]
    assert there["range"]["start"]["line"] == 0
    assert there["message"].endswith("(through b.cl:2)")
    session.close(uri)
    gone(session, header, "CM102")


def test_a_header_that_is_not_open_shows_them_as_long_as_a_user_is(session: Session, tmp_path: Path):
    (tmp_path / "b.h").write_text(HELPER)
    header = (tmp_path / "b.h").as_uri()
    uri = session.open(USER, "b.cl")
    assert shown(session, uri, "CM102")
    assert shown(session, header, "CM102", None)
    session.close(uri)
    session.until(header, lambda its: not its)


def test_two_users_of_a_header_are_both_named_once(session: Session):
    session.open(HELPER, "b.h", "opencl")
    first, second = session.open(USER, "b.cl"), session.open("\n\n" + USER, "c.cl")
    found(session, first)
    found(session, second)
    header = session.folder.joinpath("b.h").as_uri()
    now = session.until(header, lambda its: any("c.cl:4" in it["message"] for it in its))
    (there,) = [it for it in now if it["code"] == "CM102"]
    assert "b.cl:2" in there["message"] and "c.cl:4" in there["message"]


def test_the_unsaved_edit_of_a_header_renews_who_includes_it_and_nobody_else(session: Session):
    header = session.open("#define STRIDE 1\n", "t.h", "opencl")
    other = session.open(SCALED.replace('"t.h"', '"u.h"'), "other.cl")
    uri = session.open(SCALED, "k.cl")
    while not all(map(session.is_published, (header, other, uri))):
        session.wait(lambda _: True)
    assert "CM102" not in codes(session.diagnostics_now(uri))
    session.messages.clear()
    session.change(header, "#define STRIDE 32\n", 2)
    assert shown(session, uri, "CM102")
    assert "other.cl" not in in_order(session)
    session.change(header, "#define STRIDE 1\n", 3)
    gone(session, uri, "CM102")


def test_a_header_that_other_tools_wrote_counts_when_something_is_saved(session: Session, tmp_path: Path):
    (tmp_path / "t.h").write_text("#define STRIDE 1\n")
    uri = session.open(SCALED, "k.cl")
    assert "CM102" not in codes(found(session, uri))
    (tmp_path / "t.h").write_text("#define STRIDE 32\n\n")
    session.save(uri)
    assert shown(session, uri, "CM102")


def test_a_header_of_a_header_leads_to_the_include_in_the_document(session: Session, tmp_path: Path):
    (tmp_path / "inner.h").write_text("#define WRONG(x) x)\nint broken(int a) { return a + ; }\n")
    (tmp_path / "outer.h").write_text('#include "inner.h"\n')
    uri = session.open(
        '// first\n#include "outer.h"\n__kernel void k(__global int *a) { a[0] = broken(1); }\n'
    )
    shown = [it for it in found(session, uri) if "inner.h" in it["message"]]
    assert shown
    assert {it["range"]["start"]["line"] for it in shown} == {1}


def test_a_header_that_comes_into_being_is_found_when_it_is_opened(session: Session, tmp_path: Path):
    uri = session.open(SCALED, "k.cl")
    assert "CM002" in codes(found(session, uri))
    header = (tmp_path / "t.h").as_uri()
    document = {"uri": header, "languageId": "opencl", "version": 1, "text": "#define STRIDE 32\n"}
    session.client.notify("textDocument/didOpen", {"textDocument": document})
    session.documents.add(header)
    assert shown(session, uri, "CM102")


def test_a_file_that_nobody_reads_renews_nothing(session: Session, tmp_path: Path):
    uri = session.open(SCALED.replace('#include "t.h"', "#define STRIDE 32"), "k.cl")
    found(session, uri)
    session.messages.clear()
    changes = [{"uri": (tmp_path / "nobody.h").as_uri(), "type": 2}]
    session.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    session.open("int x;\n", "else.h", "opencl")
    assert "k.cl" not in in_order(session)


def test_places_in_a_header_that_is_being_edited_are_those_of_its_present_text(session: Session):
    header = session.open(HELPER, "b.h", "opencl")
    session.open(USER, "b.cl")
    assert shown(session, header, "CM102")
    session.change(header, "// one line more\n" + HELPER, 2)
    there = shown(session, header, "CM102", 2)
    assert there[0]["range"]["start"]["line"] == 1


def test_more_findings_than_anybody_reads_are_counted(session: Session):
    kernels = "".join(
        f"__kernel void k{it}(__global float *a, int n) {{ a[get_global_id(0) * 32 + {it}] = 1; }}\n"
        for it in range(120)
    )
    shown = found(session, session.open(kernels))
    assert len(shown) == 101
    assert "more findings" in shown[-1]["message"]
