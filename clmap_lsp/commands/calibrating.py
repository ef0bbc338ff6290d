"""`calibrate --scheduler ADDRESS`: measure on the devices of a Dask cluster's workers.

Every worker offers the device that `--platform` names there. Of workers on one host with the same device one
measures, for two would slow each other down; the same device on several hosts shares the work. Records are
kept here as soon as a unit is done. Units of a lost worker go to others with its device, or are left for the
next call. A cluster is trusted: Dask's messages are pickles.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.scheduling import connected
from clmap_lsp.dataclass import dataclass
from clmap_lsp.errors import UsageError
from clmap_lsp.version import __version__

if TYPE_CHECKING:
    from clmap_lsp.aristotle.calibrate import Plan, Unit
    from clmap_lsp.aristotle.database import Database
    from clmap_lsp.aristotle.records import Measurement, Platform
    from clmap_lsp.opencl_device.session import Session

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker's device is, and the units of a plan there with the keys of their records."""

    version: str
    platform: Platform
    units: tuple[tuple[Unit, tuple[tuple[object, ...], ...]], ...]


@dataclass(slots=True)
class _Device:
    """One kind of device: the workers that measure on it, what is left, and what each is doing."""

    workers: list[str]
    waiting: deque[Unit] = field(default_factory=deque)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Records that were added, by device; units that nobody is left to measure, by device."""

    records: dict[str, int]
    left: dict[str, int]


# ------------------------------------------------------------------------------------------- on the workers


@lru_cache(maxsize=4)
def _session(selector: str | None) -> Session:
    from clmap_lsp.opencl_device.session import Session

    return Session(selector)


def survey(selector: str | None, plan: Plan) -> Offer | str:
    """Return what a worker offers, or why it has no device."""
    from clmap_lsp.aristotle.calibrate import Calibration, platform_of
    from clmap_lsp.aristotle.database import Database
    from clmap_lsp.devices import match_device
    from clmap_lsp.opencl_device import DeviceError

    with _one_at_a_time:
        try:
            session = _session(selector)
        except DeviceError as error:
            return str(error)
        facts = session.facts
        extra = {"type": facts.kind.value, "compute_capability": facts.compute_capability}
        model = match_device(facts.vendor, facts.name, extra) or ""
        with Database(None) as database:
            calibration = Calibration(session, database, plan, model)
            units = tuple((unit, calibration.keys_of(unit)) for unit in calibration.pending())
        return Offer(__version__, platform_of(facts, model), units)


def measure(selector: str | None, plan: Plan, model: str, unit: Unit) -> tuple[list[Measurement], str]:
    """Measure one unit; returns its records and what had to be left out."""
    from clmap_lsp.aristotle.calibrate import Calibration
    from clmap_lsp.aristotle.database import Database

    notes: list[str] = []
    with _one_at_a_time, Database(None) as database:
        calibration = Calibration(_session(selector), database, plan, model)
        calibration.run(lambda it: notes.append(it.note) if it.note else None, only=(unit,))
        return database.measurements(), "; ".join(notes)


# ------------------------------------------------------------------------------------------------- here


def calibrate_on_cluster(
    address: str,
    selector: str | None,
    plan: Plan,
    database: Database,
    *,
    again: bool,
    show: Callable[[int, int, str], None],
) -> Outcome:
    """Measure what is pending on every device of a cluster.

    Raises: UsageError if the cluster does not answer, has no device, or measures something wrong.
    """
    client = connected(address)
    try:
        offers = _offers(client, selector, plan)
        devices = _devices(offers, database, again=again)
        platforms = {it.platform.key: it.platform for it in offers.values()}
        database.put(platforms.values())
        return _measured(client, selector, plan, database, devices, platforms, show)
    except (OSError, TimeoutError) as error:
        raise UsageError(f"the cluster was lost ({error}); what was measured is kept, run again") from None
    finally:
        client.close(timeout=2)


def _offers(client: Any, selector: str | None, plan: Plan) -> dict[str, Offer]:
    """Return what each worker with a device offers, by its address."""
    replies: dict[str, Offer | str] = client.run(survey, selector, plan)
    offers = {worker: it for worker, it in sorted(replies.items()) if not isinstance(it, str)}
    for it in offers.values():
        if it.version != __version__:
            raise UsageError(f"--scheduler: a worker has clmap-lsp {it.version}, this is {__version__}")
    if not offers:
        reasons = sorted({str(it) for it in replies.values()})
        raise UsageError(f"--scheduler: no worker has such a device ({reasons[0]})")
    return offers


def _devices(offers: dict[str, Offer], database: Database, *, again: bool) -> dict[str, _Device]:
    devices: dict[str, _Device] = {}
    hosts: set[tuple[str, str]] = set()
    for worker, offer in offers.items():
        key = offer.platform.key
        host = key, worker.rpartition(":")[0]
        if host in hosts:
            continue
        hosts.add(host)
        if key in devices:
            devices[key].workers.append(worker)
            continue
        known = set() if again else database.keys(key)
        waiting = deque(unit for unit, keys in offer.units if not all(it in known for it in keys))
        devices[key] = _Device([worker], waiting)
    return devices


def _measured(
    client: Any,
    selector: str | None,
    plan: Plan,
    database: Database,
    devices: dict[str, _Device],
    platforms: dict[str, Platform],
    show: Callable[[int, int, str], None],
) -> Outcome:
    """Give each worker one unit at a time, and keep what comes back."""
    from distributed import as_completed

    total = sum(len(it.waiting) for it in devices.values())
    records = dict.fromkeys(devices, 0)
    running: dict[Any, tuple[str, str, Unit]] = {}
    results = as_completed(loop=client.loop)

    def give(key: str, worker: str) -> None:
        if devices[key].waiting:
            unit = devices[key].waiting.popleft()
            future = client.submit(
                measure, selector, plan, platforms[key].model, unit,
                pure=False, workers=[worker], allow_other_workers=False, retries=0,
            )  # fmt: skip
            running[future] = key, worker, unit
            results.add(future)

    for key, device in devices.items():
        for worker in device.workers:
            give(key, worker)
    done = 0
    while running:
        future = _next(client, results, running, devices)
        if future is None:
            busy = {worker for _, worker, _ in running.values()}
            for key, device in devices.items():
                for worker in device.workers:
                    if worker not in busy:
                        give(key, worker)
            continue
        key, worker, unit = running.pop(future)
        if future.status != "finished":
            raise UsageError(f"{key}: {unit.label}: {future.exception()}; nothing of this unit is kept")
        measured, note = future.result()
        records[key] += database.put(measured)
        done += 1
        show(done, total, f"{unit.label} on {key}" + (f": {note}" if note else ""))
        give(key, worker)
    left = {key: len(it.waiting) for key, it in devices.items() if it.waiting}
    return Outcome(records, left)


def _next(
    client: Any, results: Any, running: dict[Any, tuple[str, str, Unit]], devices: dict[str, _Device]
) -> Any:
    """Wait for a result. The units of workers that are gone go back to their device; `None` then."""
    import time

    while True:
        if results.has_ready():
            future = next(results)
            return future if future in running else None
        alive = set(client.scheduler_info(n_workers=-1)["workers"])
        lost = [future for future, (_, worker, _) in running.items() if worker not in alive]
        for future in lost:
            if future.done():
                continue
            key, worker, unit = running.pop(future)
            future.cancel()
            device = devices[key]
            device.workers.remove(worker)
            device.waiting.appendleft(unit)
            sys.stderr.write(f"clmap-lsp: worker {worker} was lost; {unit.label} is left to others\n")
        if lost:
            return None
        time.sleep(0.05)
