"""Work-item functions as polynomials."""

from __future__ import annotations

from clmap_lsp.access import algebra
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ONE, ZERO, Polynomial, WorkItemSymbol, poly
from clmap_lsp.source.ir import WorkItemQuery as Query

_ZERO_OUTSIDE = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID, Query.GROUP_ID, Query.GLOBAL_OFFSET})


def work_item_value(query: Query, dimension: int, n_dimensions: int, facts: Facts) -> Polynomial:
    """Return a work-item function's value.

    Dimensions that the launch lacks give 0 for ids and 1 for sizes (OpenCL C 3.0, section 6.15.1). Linear
    ids are spelt out over the `n_dimensions` of the launch.
    """
    match query:
        case Query.GLOBAL_LINEAR_ID:
            return _linear(Query.GLOBAL_ID, Query.GLOBAL_SIZE, n_dimensions, facts)
        case Query.LOCAL_LINEAR_ID:
            return _linear(Query.LOCAL_ID, Query.LOCAL_SIZE, n_dimensions, facts)
        case Query.SUB_GROUP_LOCAL_ID:
            linear = _linear(Query.LOCAL_ID, Query.LOCAL_SIZE, n_dimensions, facts)
            return algebra.mod(linear, poly(WorkItemSymbol(Query.MAX_SUB_GROUP_SIZE)), facts)
        case Query.SUB_GROUP_ID:
            linear = _linear(Query.LOCAL_ID, Query.LOCAL_SIZE, n_dimensions, facts)
            return algebra.floor_div(linear, poly(WorkItemSymbol(Query.MAX_SUB_GROUP_SIZE)), facts)
        case Query.SUB_GROUP_SIZE:
            return poly(WorkItemSymbol(Query.MAX_SUB_GROUP_SIZE))
        case _:
            if dimension >= 3 or dimension < 0 or (facts.launch is not None and dimension >= n_dimensions):
                return ZERO if query in _ZERO_OUTSIDE else ONE
            return poly(WorkItemSymbol(query, dimension))


def _linear(id_query: Query, size_query: Query, n_dimensions: int, facts: Facts) -> Polynomial:
    result = ZERO
    for dimension in reversed(range(n_dimensions)):
        position = poly(WorkItemSymbol(id_query, dimension))
        if id_query is Query.GLOBAL_ID and facts.launch is not None and any(facts.launch.global_offset):
            position = position - poly(WorkItemSymbol(Query.GLOBAL_OFFSET, dimension))
        result = result * poly(WorkItemSymbol(size_query, dimension)) + position
    return result
