"""What addresses and branches depend on."""

from clmap_lsp.source.read import read_program
from clmap_lsp.source.slicing import Slice, slice_of


def sliced(body: str, parameters: str = "__global int *o, __global const int *a, int n") -> Slice:
    """Return the slice of a kernel whose `i` is its global id."""
    program = read_program(f"__kernel void k({parameters}) {{ int i = get_global_id(0); {body} }}", "k.cl")
    return slice_of(program.kernel("k"))


def names(found: Slice) -> set[str]:
    return {it.name for it in found.variables if not it.is_temporary}


def test_data_that_no_address_sees_is_left_out() -> None:
    assert names(sliced("int x = a[i]; int y = x * n + 3; o[i] = y;")) == {"o", "a", "i"}


def test_indices_and_branches_are_followed_back() -> None:
    assert names(sliced("int x = a[i]; int y = x * 2; o[y] = 1;")) >= {"x", "y"}
    assert names(sliced("int x = a[i]; if (x > n) o[i] = 1;")) >= {"x", "n"}
    assert names(sliced("int s = 1; for (int k = 0; k < n; k += s) o[i] += k;")) >= {"s", "k", "n"}
    assert "s" not in names(sliced("int s = 0; for (int k = 0; k < n; k++) s += k; o[i] = s;"))


def test_what_memory_of_the_work_item_holds_counts_only_where_it_is_asked_for() -> None:
    data = sliced("int t[4]; t[0] = a[i]; t[1] = t[0] + n; o[i] = t[1];")
    assert not data.objects
    index = sliced("int t[4]; t[0] = n; o[t[0] + i] = 1;")
    assert {it.name for it in index.objects} == {"t"}
    assert "n" in names(index)


def test_pointers_that_memory_holds_are_followed() -> None:
    found = sliced("__global int *p[2] = {o, o + n}; *p[i & 1] = 1;")
    assert {it.name for it in found.objects} == {"p"}
    assert "n" in names(found)


def test_results_of_group_functions_lead_to_their_arguments() -> None:
    found = sliced("int x = n * 2; int y = work_group_broadcast(x, 0); o[y] = 1;")
    assert names(found) >= {"x", "n"}
