"""All findings of the workspace on demand: also those of files that nobody has opened."""

from session import Session

TEXT = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"


def test_findings_of_files_that_are_not_open_show_until_they_are_opened(tmp_path):
    (tmp_path / "below").mkdir()
    closed = tmp_path / "below" / "closed.cl"
    closed.write_text(TEXT)
    (tmp_path / "fine.cl").write_text(TEXT.replace(" * 32", ""))
    session = Session(tmp_path, settings={"emulate": "off"})
    uri = session.open(TEXT, "open.cl")
    assert session.diagnostics(uri, 1)
    assert "1 finding in 2 closed files" in session.command("clmap.showWorkspaceFindings")
    (found,) = session.diagnostics_now(closed.as_uri())
    assert found["code"] == "CM102"
    assert not session.diagnostics_now((tmp_path / "fine.cl").as_uri())
    session.open(TEXT.replace(" * 32", ""), "below/closed.cl")
    assert session.diagnostics(closed.as_uri(), 1) == []
    session.client.process.kill()
