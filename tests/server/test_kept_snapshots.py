"""A server with more documents open than it keeps all of: those not used lately are as good as the others."""

from session import Session

from clmap_lsp.server.analyses import KEPT_SNAPSHOTS

TEXT = "__kernel void k(__global float *a) { a[get_global_id(0) * 32] = 1; }\n"


def test_a_document_that_was_not_used_lately_still_answers(tmp_path):
    session = Session(tmp_path, settings={"emulate": "off"})
    uris = [session.open(TEXT, f"k{number}.cl") for number in range(KEPT_SNAPSHOTS + 4)]
    assert session.diagnostics(uris[-1], 1)
    while not all(session.diagnostics_now(it) for it in uris):
        session.command("clmap.debug")
    first = {"textDocument": {"uri": uris[0]}}
    assert session.request("textDocument/codeLens", first)
    hover = session.request("textDocument/hover", {**first, "position": {"line": 0, "character": 40}})
    assert "32 sectors" in hover["contents"]["value"]
    session.change(uris[1], "\n" + TEXT, 2)
    assert {it["range"]["start"]["line"] for it in session.diagnostics(uris[1], 2)} == {1}
    session.close(uris[2])
    assert session.diagnostics_now(uris[3])
    session.client.process.kill()
