"""What a finding about swapped dimensions names is named once."""

from clmap_lsp.config.model import Settings
from clmap_lsp.rules.selection import Selection
from clmap_lsp.workbench.workbench import Workbench

TEXT = """// clmap: global=64,64 local=16,16 n=64
__kernel void add(__global float *sums, __global const float *a, int n) {
  int x = get_global_id(0), y = get_global_id(1);
  sums[x * n + y] += a[x * n + y];
}"""


def test_what_is_loaded_and_stored_at_one_place_is_named_once() -> None:
    file = Workbench().open_text("k.cl", TEXT, Settings(), looks_beside=False, reads_hosts=False)
    (found,) = [it for it in file.findings(Selection.of()) if it.code == "CM104"]
    places = [(it.span.start, it.message) for it in found.related if "when swapped" in it.message]
    assert len(places) == 2
    assert places[0] != places[1]
    assert len(found.data["accesses"]) == 3
