"""Ask the symbolic engine what a launch costs, site by site."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import lru_cache
from weakref import ReferenceType, ref

import numpy as np

from clmap_lsp.analysis.content import Kept
from clmap_lsp.analysis.costs import NEVER, LaunchCosts, SiteCost
from clmap_lsp.caches import droppable
from clmap_lsp.devices.model import DeviceModel, Unknown
from clmap_lsp.devices.rules import local_wavefronts
from clmap_lsp.emulator.symbolic import SiteCount, Spending
from clmap_lsp.emulator.symbolic import count as count_symbolically
from clmap_lsp.emulator.symbolic.counts import DEFAULT_BUDGET, counted_as
from clmap_lsp.emulator.symbolic.needs import needs_of
from clmap_lsp.emulator.symbolic.seen import seen_of
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.ir import Initializer, Kernel


def count(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    constants: Iterable[Initializer] = (),
    shared: Spending | None = None,
) -> LaunchCosts:
    """Return the cost of every site: exact, or unknown with the reason.

    Counts that have `shared` one spending together cost about as much as one may. Results are kept by what
    the engine sees of a kernel, so that an edit of what no address and no branch follows from costs no count.
    """
    if shared is not None and shared.is_over:
        return _counted(kernel, launch, device, constants, shared)
    asked = len(needs_of(kernel).moved), counted_as(launch), device, tuple(map(_contents, constants))
    found = _found(kernel, asked)
    if found is None:
        spending = Spending(DEFAULT_BUDGET)
        found = _kept_for(kernel, asked, (_counted(kernel, launch, device, constants, spending), spending))
    if shared is not None:
        shared.add(found[1])
    return found[0]


_Counts = tuple[LaunchCosts, Spending]
_first: Kept[tuple[ReferenceType[Kernel], _Counts]] = droppable(Kept(256))
"""Counts of the first kernel that was asked about in one way. What the engine sees of it is worked out when
another one is: of a file that is read once nobody needs it."""
_kept: Kept[_Counts] = droppable(Kept(256))


def _found(kernel: Kernel, asked: Hashable) -> _Counts | None:
    first = _first.get(asked)
    if first is None:
        return None
    of, counts = first
    other = of()
    if other is kernel:
        return counts
    if other is not None and (seen := (asked, seen_of(other))) not in _kept:
        _kept.keep(seen, counts)
    return _kept.get((asked, seen_of(kernel)))


def _kept_for(kernel: Kernel, asked: Hashable, counts: _Counts) -> _Counts:
    first = _first.get(asked)
    if first is None or first[0]() is None:
        _first.keep(asked, (ref(kernel), counts))
    if first is not None:
        _kept.keep((asked, seen_of(kernel)), counts)
    return counts


def _contents(made: Initializer) -> tuple[object, ...]:
    """Return what an object of the program holds."""
    return made.variable.name, made.data, tuple((at, it.name, by) for at, it, by in made.addresses)


def _counted(
    kernel: Kernel,
    launch: Launch,
    device: DeviceModel,
    constants: Iterable[Initializer],
    shared: Spending,
) -> LaunchCosts:
    result = count_symbolically(kernel, launch, device, constants=constants, shared=shared)
    if result.bail is not None:
        return LaunchCosts({}, bail=result.bail.reason, notes=(f"not counted: {result.bail.reason}",))
    return LaunchCosts(
        {site: _cost(it, device) for site, it in result.sites.items()},
        sample=result.sample,
        rounds_floats=result.rounds_floats,
        contents=result.contents,
        images=result.images,
    )


def _cost(it: SiteCount, device: DeviceModel) -> SiteCost:
    """Passes of constant memory and lines of cached local memory are wavefronts: turns that are served."""
    if it.executions == 0 and it.method is Exactness.EXACT:
        return SiteCost(0, 0, "sectors" if it.unit == "sectors" else "wavefronts", 0, ideal=0, reason=NEVER)
    requests, least, ideal = it.requests or 0, it.least_per_request or 0, it.ideal_units
    if ideal is not None and it.unit == "wavefronts":
        floors = [_uniform_wavefronts(size, it.op, device) for size in it.pieces]
        if floors and least >= max(floors):  # None where nothing of what is loaded is used.
            ideal = max(ideal, requests // len(floors) * sum(floors))
    return SiteCost(
        instructions=requests,
        requests=requests,
        unit="sectors" if it.unit == "sectors" else "wavefronts",
        count=it.units,
        minimum=least,
        maximum=it.most_per_request or 0,
        ideal=ideal,
        method=it.method,
        reason=it.reason or "",
    )


@lru_cache(maxsize=256)
def _uniform_wavefronts(size: int, op: str, device: DeviceModel) -> int:
    """Return what a request costs whose lanes all share one address: no arrangement of lanes beats it.

    Two where the halves of a SIMD group are served apart whatever they read (16-byte elements on NVIDIA).
    """
    shape = (1, device.simd_width)
    passes = local_wavefronts(
        np.zeros(shape, np.int64),
        np.ones(shape, np.bool_),
        size,
        "store" if op == "store" else "load",
        device,
    )
    return 0 if isinstance(passes, Unknown) else int(passes[0])
