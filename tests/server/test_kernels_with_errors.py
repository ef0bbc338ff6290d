"""A kernel that a compiler refuses is not run, and nothing else is said of it; its neighbours are as ever."""

from __future__ import annotations

from session import Session

TEXT = """\
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void refused(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i * 32 % 64] = in[i] + in[i + 1];
    out[i] = totl(in[i])
}
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void neighbours(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = in[i] + in[i + 1];
}
"""


def test_only_its_neighbours_are_run_and_warned_of(tmp_path, monkeypatch):
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    session = Session(tmp_path)
    uri = session.open(TEXT)
    session.save(uri)
    session.wait_for_code("CM301")
    found = session.diagnostics_now(uri)
    of_refused = {it["code"] for it in found if 1 <= it["range"]["start"]["line"] <= 6}
    assert of_refused <= {"CM001", "CM011"}
    assert of_refused
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    titles = [it["command"]["title"] for it in lenses if it["range"]["start"]["line"] < 7]
    assert not any("emulated" in it for it in titles), titles
    session.client.__exit__()
