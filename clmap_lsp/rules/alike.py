"""Findings that one mend would cure: accesses of several buffers of a kernel that walk alike.

`out[i * 4] = in[i * 4]` is one cause with two accesses; so are `x[k]`, `y[k]` and `z[k]`. Rules judge each
buffer, so that comments silence each on its own line and guesses are tried on each; what is left is put
together here, at the dearest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.records import Direction
from clmap_lsp.findings import Finding, Related, Severity

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis

_FAMILIES = {"CM101": "CM101", "CM102": "CM101", "CM103": "CM103", "CM105": "CM105"}
"""Codes of findings about accesses of one buffer, and what they are put together as."""
_DIRECTIONS = {"CM101": Direction.LOAD, "CM102": Direction.STORE}
MOST_RELATED = 16
"""Places that one finding points at."""


def together(findings: Sequence[Finding], kernels: Iterable[KernelAnalysis]) -> tuple[Finding, ...]:
    """Return findings; those about accesses of a kernel that walk and cost the same are one."""
    by_name = {it.name: it for it in kernels}
    groups: dict[object, list[tuple[Finding, AccessAnalysis]]] = {}
    for finding in findings:
        access = _access(finding, by_name.get(finding.kernel or ""))
        if access is not None:
            groups.setdefault(_cause(finding, access), []).append((finding, access))
    heads: dict[int, Finding] = {}
    gone: set[int] = set()
    for group in groups.values():
        if len(group) > 1:
            dearest = sorted(group, key=lambda it: _importance(*it))
            heads[id(dearest[0][0])] = _as_one(dearest)
            gone.update(id(it) for it, _ in dearest[1:])
    return tuple(heads.get(id(it), it) for it in findings if id(it) not in gone)


def _access(finding: Finding, kernel: KernelAnalysis | None) -> AccessAnalysis | None:
    """Return the access at which a finding about accesses of one buffer stands."""
    if kernel is None or finding.code not in _FAMILIES or finding.fix is not None:
        return None
    wanted = _DIRECTIONS.get(finding.code)
    at = (it for it in kernel.accesses if it.access.span == finding.span and it.per_request is not None)
    own = (it for it in at if it.access.buffer == finding.data.get("buffer"))
    return next((it for it in own if wanted in (None, it.access.direction)), None)


def _cause(finding: Finding, access: AccessAnalysis) -> object:
    """Return what findings of one cause have in common.

    That is how the index moves over work-items and loops, whatever constant is added to it, and what it
    costs. What holds under conditions of its own is told apart.
    """
    own, cost = access.access, access.per_request
    moving = frozenset((mono, factor) for mono, factor in own.offset.terms.items() if mono)
    unknown = (own.index_text, own.buffer) if own.unknown is not None else None
    assert cost is not None
    return (
        finding.kernel,
        _FAMILIES[finding.code],
        (moving, unknown, own.size, access.stride.bytes, round(cost.mean, 2), cost.ideal),
        (finding.holds, finding.condition),
    )


def _importance(finding: Finding, access: AccessAnalysis) -> tuple[int, float, bool]:
    share = finding.data.get("share")
    is_store = access.access.direction is Direction.STORE
    return list(Severity).index(finding.severity), -(share if isinstance(share, float) else 0.0), is_store


def _as_one(group: Sequence[tuple[Finding, AccessAnalysis]]) -> Finding:
    """Return the dearest finding with what it shares with the others, and their places."""
    head, others = group[0][0], [it for it, _ in group[1:]]
    first, _, more = head.message.partition("\n")
    lines = [first, f"The same holds of {_named(group[1:])}{_share(group)}."]
    places = [
        *(Related(it.span, f"also {_noun(access)} of `{it.data['buffer']}`") for it, access in group[1:]),
        *head.related,
        *(place for it in others for place in it.related),
    ]
    by_span = {it.span: it for it in reversed(places) if it.span != head.span}
    return replace(
        head,
        message="\n".join([*lines, more] if more else lines),
        related=tuple(reversed(by_span.values()))[:MOST_RELATED],
        data={**head.data, "accesses": [dict(it.data) for it in others]},
    )


def _noun(access: AccessAnalysis) -> str:
    return "this store" if access.access.direction is Direction.STORE else "this load"


def _named(group: Sequence[tuple[Finding, AccessAnalysis]]) -> str:
    """Name the buffers of other findings: `` the load of `b` and the store of `c` and `d` ``."""
    parts = []
    for direction in (Direction.LOAD, Direction.STORE):
        found = [it for it, access in group if access.access.direction is direction]
        names = list(dict.fromkeys(f"`{it.data['buffer']}`" for it in found))
        if names:
            parts.append(f"the {direction.value} of {_listed(names)}")
    return " and ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _share(group: Sequence[tuple[Finding, AccessAnalysis]]) -> str:
    """Say which part of the traffic all have together, where it is known."""
    shares = [it.data.get("share") for it, _ in group]
    if not all(isinstance(it, float) for it in shares):
        return ""
    return f"; together {sum(it or 0.0 for it in shares) * 100:.0f} % of the kernel's global memory traffic"
