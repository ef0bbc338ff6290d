"""Ranges of work-item functions, against all work-items of small launches one by one."""

from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.launch.work_items import ranges
from clmap_lsp.source.ir import WorkItemQuery as Query


def values_of(global_size, local_size, offset):
    """Return every value that each function takes."""
    found = {}
    for item in product(*map(range, global_size)):
        group = [at // size for at, size in zip(item, local_size, strict=True)]
        here = [
            min(size, total - at * size)
            for at, size, total in zip(group, local_size, global_size, strict=True)
        ]
        local = [at % size for at, size in zip(item, local_size, strict=True)]
        for d in range(3):
            inside = d < len(global_size)
            of = {
                Query.GLOBAL_ID: item[d] + offset[d] if inside else 0,
                Query.LOCAL_ID: local[d] if inside else 0,
                Query.GROUP_ID: group[d] if inside else 0,
                Query.GLOBAL_OFFSET: offset[d] if inside else 0,
                Query.GLOBAL_SIZE: global_size[d] if inside else 1,
                Query.LOCAL_SIZE: here[d] if inside else 1,
                Query.ENQUEUED_LOCAL_SIZE: local_size[d] if inside else 1,
                Query.NUM_GROUPS: -(-global_size[d] // local_size[d]) if inside else 1,
            }
            for query, value in of.items():
                found.setdefault((query, d), set()).add(value)
        sizes = [1, *global_size[:-1]]
        linear = sum(at * prod(sizes[: d + 1]) for d, at in enumerate(item))
        in_group = sum(at * prod([1, *here[:-1]][: d + 1]) for d, at in enumerate(local))
        found.setdefault((Query.GLOBAL_LINEAR_ID, 0), set()).add(linear)
        found.setdefault((Query.LOCAL_LINEAR_ID, 0), set()).add(in_group)
    return found


dimensions = st.integers(1, 3).flatmap(
    lambda n: st.tuples(*(st.tuples(*(st.integers(low, 5) for _ in range(n))) for low in (1, 1, 0)))
)


@given(dimensions)
def test_ranges_are_tight(launch):
    found = ranges(*launch)
    for key, values in values_of(*launch).items():
        assert found[key] == (min(values), max(values)), key
    assert found[Query.WORK_DIM, 0] == (len(launch[0]),) * 2
