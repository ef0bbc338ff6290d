"""What a request of an access costs for every value of a scalar argument, in words.

The addresses of full SIMD groups are split as alpha + N * beta, over the work-groups and loop turns whose
alignment differs, and the device room's residue tables do the rest. Guards are left out: the words hold for
SIMD groups with all their lanes active.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import (
    Atom,
    LoopSymbol,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    varies_in_group,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.analysis.lanes import lane_environment
from clmap_lsp.devices.model import BankedLocal, CachedLocal
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.access.facts import Facts
    from clmap_lsp.devices.formula import Formula
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.emulator.moved import Moved
    from clmap_lsp.launch.model import Launch

    Ints = NDArray[np.int64]
    Row = tuple[Ints, Ints, Ints]
    """Alpha, beta, active."""

_SPACES = {AddressSpace.GLOBAL: "global", AddressSpace.LOCAL: "local", AddressSpace.CONSTANT: "constant"}
_PERIOD = 8
"""Work-groups and loop turns looked at in each direction: granules hold 8 elements of 4 bytes."""
_MAX_ROWS = 64
_MAX_CELLS = 1 << 22
"""Addresses that are looked at for one kernel, the last access not counted: a third of a second. The most in
250 public files is 100,000."""


class GeneralWords:
    """Says it for the accesses of one launch; those of one index are worked out once."""

    def __init__(self, launch: Launch, facts: Facts, device: DeviceModel) -> None:
        self._launch = launch
        self._facts = facts
        self._device = device
        self._known: dict[object, str | None] = {}
        self._lanes: dict[tuple[int, ...], dict[Atom, int | Ints]] = {}
        self._n_cells = 0

    def of(self, access: Access, moved: Moved) -> str | None:
        """Return the words, or `None` where the count has no form in one scalar argument."""
        if access.unknown is not None or access.indirect or access.cooperative:
            return None
        if access.space not in _SPACES or access.direction is Direction.ATOMIC:
            return None
        key = access.offset, access.space, access.direction, moved.size, moved.pieces(self._device)
        if key not in self._known:
            self._known[key] = self._worked_out(access, moved)
        return self._known[key]

    def _worked_out(self, access: Access, moved: Moved) -> str | None:
        checkpoint()
        symbol = _size_symbol(access.offset, self._facts)
        if symbol is None or self._n_cells > _MAX_CELLS:
            return None
        beta = access.offset.coefficient(symbol)
        if beta is None or symbol in beta.atoms:
            return None
        alpha = access.offset - beta * Polynomial.of(symbol)
        rows = self._rows(alpha, beta, symbol, _grain(access, self._device))
        if rows is None:
            return None
        formula = _formula(access, moved, symbol, rows, self._device)
        if formula is None:
            return None
        self._n_cells += formula.cells
        return formula.describe()

    def _rows(self, alpha: Polynomial, beta: Polynomial, symbol: Parameter, grain: int) -> Row | None:
        """Return alpha, beta and the active lanes of the SIMD groups that differ in alignment.

        Shape (rows, lanes) each; rows stand for equally many requests of a long launch. `None` where there
        are too many, or a value is not known.
        """
        import numpy as np

        from clmap_lsp.devices.rules import simd_groups

        launch = self._launch
        leaves = (*alpha.leaves, *beta.leaves)
        loops = sorted({it for it in leaves if isinstance(it, LoopSymbol)}, key=_identity)
        walked = {
            it.dimension for it in leaves if isinstance(it, WorkItemSymbol) and it.query in _MOVE_WITH_GROUP
        }
        lengths = [min(_PERIOD, n) if d in walked else 1 for d, n in enumerate(launch.num_groups)]
        lengths += [self._n_turns(it, symbol) for it in loops]
        n_origins = math.prod(lengths)
        if n_origins > _PERIOD**3:
            return None
        origins = [it.reshape(-1, 1, 1) for it in np.unravel_index(np.arange(n_origins), lengths)]
        lanes = simd_groups(launch.local_size, self._device)
        active = lanes >= 0
        n_dimensions = len(launch.local_size)
        key = tuple(lengths)
        if (
            key not in self._lanes
        ):  # `origins` has a dimension for each loop, too: by its place, not its name.
            linear = np.where(active, lanes, 0)[None]
            self._lanes[key] = lane_environment(linear, origins[:n_dimensions], launch)
        environment = self._lanes[key] | dict(zip(loops, origins[n_dimensions:], strict=True))
        shape = (n_origins, *lanes.shape)
        try:
            a, b = (np.broadcast_to(evaluate(it, environment), shape) for it in (alpha, beta))
        except UnknownValueError:
            return None
        flat = (n_origins * lanes.shape[0], lanes.shape[1])
        return _distinct(
            a.reshape(flat), b.reshape(flat), np.broadcast_to(active, shape).reshape(flat), grain
        )

    def _n_turns(self, loop: LoopSymbol, symbol: Parameter) -> int:
        """Return how many turns are looked at: no more than the launch makes, where N does not say so."""
        if loop.trip is None or loop.exits_early or symbol in loop.trip.leaves:
            return _PERIOD
        number = self._facts.number(loop.trip)
        return _PERIOD if number is None else max(1, min(_PERIOD, number))


def _formula(
    access: Access, moved: Moved, symbol: Parameter, rows: Row, device: DeviceModel
) -> Formula | None:
    import numpy as np

    from clmap_lsp.devices.formula import Access as Lanes
    from clmap_lsp.devices.formula import formula_for
    from clmap_lsp.devices.model import Unknown

    alpha, beta, active = rows
    formula = formula_for(
        Lanes(
            alpha,
            beta,
            active.astype(np.bool_),
            moved.size,
            "store" if access.direction is Direction.STORE else "load",
            _SPACES[access.space],  # type: ignore[arg-type]
            device,
            moved.pieces(device),
        ),
        symbol=symbol.name,
    )
    return None if isinstance(formula, Unknown) else formula


def _size_symbol(offset: Polynomial, facts: Facts) -> Parameter | None:
    """Return the scalar that lane addresses depend on most: a pitch before an offset, then by name."""
    parameters = sorted(
        (it for it in offset.leaves if isinstance(it, Parameter) and it.name in facts.scalars),
        key=lambda it: it.name,
    )

    def is_pitch(it: Parameter) -> bool:
        factor = offset.coefficient(it)
        return factor is not None and varies_in_group(factor)

    return next((it for it in parameters if is_pitch(it)), parameters[0] if parameters else None)


_MOVE_WITH_GROUP = frozenset({Query.GLOBAL_ID, Query.GROUP_ID})


def _distinct(alpha: Ints, beta: Ints, active: Ints, grain: int) -> Row | None:
    """Take equal rows together, as often as their share of the requests asks.

    Whole grains are taken off the base first: they change no count, nor does N times one. Lanes that do not
    exist are given the base's address.
    """
    import numpy as np

    first = active.argmax(axis=1)[:, None]
    parts = []
    for values in (alpha, beta):
        base = np.take_along_axis(values, first, axis=1)
        parts.append(np.where(active, values, base) - base // grain * grain)
    rows = np.ascontiguousarray(np.concatenate([*parts, active], axis=1), np.int64)
    data, width = rows.tobytes(), rows.strides[0]
    places: dict[bytes, int] = {}
    times: dict[bytes, int] = {}
    for at in range(len(rows)):  # A third of what `np.unique` takes, which sorts them.
        key = data[at * width : (at + 1) * width]
        places.setdefault(key, at)
        times[key] = times.get(key, 0) + 1
    common = math.gcd(*times.values())
    shares = [it // common for it in times.values()]
    if sum(shares) > _MAX_ROWS:
        return None
    chosen = np.repeat(list(places.values()), shares)
    return parts[0][chosen], parts[1][chosen], active[chosen]


def _grain(access: Access, device: DeviceModel) -> int:
    """Return the bytes on which counts depend through the base address: a granule, or a row of banks."""
    rule = device.local_rule
    if access.space is AddressSpace.LOCAL and isinstance(rule, BankedLocal):
        return rule.banks * rule.bank_bytes * rule.rows_joined
    if access.space is AddressSpace.LOCAL and isinstance(rule, CachedLocal):
        return rule.line_bytes
    granules = device.global_rule
    granule = granules.store_granule if access.direction is Direction.STORE else granules.load_granule
    return granule or 1024


def _identity(loop: LoopSymbol) -> int:
    return loop.identity
