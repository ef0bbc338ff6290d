"""`clmap-lsp calibrate`: run the Aristotle microbenchmarks on an OpenCL device into the user's database."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.aristotle.calibrate import Plan, Progress
    from clmap_lsp.aristotle.maps import Map

_EXAMPLE = """\
examples:
  clmap-lsp calibrate                                all 33 MAPs at six sizes, on the first GPU
  clmap-lsp calibrate --platform PoCL --maps 110,407 --sizes 512,1024
  clmap-lsp calibrate --time                         for predicted times of kernels on this device
  clmap-lsp calibrate --pairs 150 --sizes 1024       kernels over two arrays, to test the composing rules

What was measured before is not measured again; --again does. Interrupt it at any time.
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "calibrate",
        help="measure on a device what local memory gains",
        description="Run the Aristotle microbenchmarks on an OpenCL device into the performance database.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--platform", metavar="NAME", help="device: its number or part of its name")
    parser.add_argument(
        "--time",
        action="store_true",
        help="measure what predictions of time rest on, in under five minutes, instead of local memory",
    )
    parser.add_argument("--maps", metavar="N,...", help="these MAPs only, as in 110,407")
    parser.add_argument(
        "--sizes", metavar="N,...", default="128,256,512,1024,2048,4096", help="data set sides"
    )
    parser.add_argument(
        "--pairs", type=int, metavar="N", help="measure N pairs of MAPs instead of single ones"
    )
    parser.add_argument("--cache", choices=("cold", "warm", "both"), default="both")
    parser.add_argument("--type", dest="element", default="float", metavar="TYPE", help="element type")
    parser.add_argument("--work-group", default="16x16", metavar="XxY")
    parser.add_argument("--radius", type=int, default=3, metavar="R", help="of Block MAPs")
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="at most for one MAP and size"
    )
    parser.add_argument("--database", type=Path, metavar="FILE", help="instead of the user's own")
    parser.add_argument("--again", action="store_true", help="measure again what the database holds")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be measured")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="measure on the devices of a Dask cluster's workers"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    """Measure, keep, and say how it went."""
    if args.time:
        from clmap_lsp.commands.calibrating_times import calibrate_times

        return calibrate_times(args.platform, args.format)
    from clmap_lsp.aristotle.bench import VerificationError
    from clmap_lsp.aristotle.calibrate import Calibration
    from clmap_lsp.aristotle.database import Database, DatabaseError
    from clmap_lsp.aristotle.shipped import user_database_path
    from clmap_lsp.devices import match_device
    from clmap_lsp.opencl_device import DeviceError, DeviceLostError
    from clmap_lsp.opencl_device.session import Session

    plan = _plan(args)
    path = args.database or user_database_path()
    if args.scheduler is not None:
        return _on_cluster(args, plan, path)
    try:
        session = Session(args.platform)
        facts = session.facts
        extra = {"type": facts.kind.value, "compute_capability": facts.compute_capability}
        model = match_device(facts.vendor, facts.name, extra) or ""
        with Database(path) as database:
            calibration = Calibration(session, database, plan, model, again=args.again)
            if args.dry_run:
                return _announce(args.format, facts.key, [it.label for it in calibration.pending()])
            try:
                records = calibration.run(_progress(args.format))
            except (KeyboardInterrupt, DeviceLostError) as error:
                left = len(calibration.pending())
                what = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
                raise UsageError(
                    f"{what}; what was measured is kept in {path}, {left} units are left: run the same again"
                ) from None
    except VerificationError as error:
        raise UsageError(
            f"{error}; nothing of this MAP and size is kept, the driver may be at fault"
        ) from None
    except (DeviceError, DatabaseError) as error:
        raise UsageError(str(error)) from None
    _report(args.format, facts.key, records, path)
    return 0


def _on_cluster(args: argparse.Namespace, plan: Plan, path: Path) -> int:
    """Measure on the devices of a cluster; 2 if units are left because their workers were lost."""
    from clmap_lsp.aristotle.database import Database, DatabaseError
    from clmap_lsp.commands.calibrating import calibrate_on_cluster

    if args.dry_run:
        raise UsageError("--dry-run says what one device lacks; leave --scheduler out")

    def show(done: int, total: int, label: str) -> None:
        if args.format != "json":
            print(f"{done}/{total} {label}", file=sys.stderr, flush=True)

    try:
        with Database(path) as database:
            outcome = calibrate_on_cluster(
                args.scheduler, args.platform, plan, database, again=args.again, show=show
            )
    except DatabaseError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        raise UsageError(f"interrupted; what was measured is kept in {path}: run the same again") from None
    if args.format == "json":
        import json

        devices = [{"device": key, "records": count} for key, count in outcome.records.items()]
        print(json.dumps({"schema": 1, "devices": devices, "database": str(path)}, indent=2))
    else:
        for key, records in outcome.records.items():
            print(f"{key}: {records} records added to {path}")
    for key, count in outcome.left.items():
        sys.stderr.write(
            f"clmap-lsp: {key}: its workers were lost, {count} units are left: run the same again\n"
        )
    return 2 if outcome.left else 0


def _plan(args: argparse.Namespace) -> Plan:
    """Return the plan that the options describe.

    Raises: UsageError for one that cannot be.
    """
    from clmap_lsp.aristotle.calibrate import Plan
    from clmap_lsp.aristotle.elements import parse_element
    from clmap_lsp.aristotle.generate import Group
    from clmap_lsp.aristotle.maps import all_maps, parse_map
    from clmap_lsp.opencl_device.timing import CacheState, Effort

    try:
        maps = [parse_map(it) for it in args.maps.split(",")] if args.maps else list(all_maps())
        sizes = tuple(int(it) for it in args.sizes.split(","))
        x, _, y = args.work_group.partition("x")
        group = Group(int(x), int(y or x))
        element = parse_element(args.element)
    except ValueError as error:
        raise UsageError(str(error)) from None
    bad = [it for it in sizes if it < 1 or it % group.x or it % group.y]
    if bad or args.radius < 0:
        raise UsageError(
            f"size {bad[0]} is not a positive multiple of the work-group {group.x}x{group.y}"
            if bad
            else "--radius below 0"
        )
    combinations = _pairs(maps, args.pairs) if args.pairs else tuple((it,) for it in maps)
    caches = tuple(CacheState) if args.cache == "both" else (CacheState(args.cache),)
    effort = Effort(max_seconds=args.seconds)
    return Plan(combinations, sizes, caches, element, group, args.radius, effort)


def _pairs(maps: list[Map], count: int) -> tuple[tuple[Map, ...], ...]:
    """Return each MAP with itself, then further pairs drawn without repetition, always the same ones."""
    import random

    same = [(it, it) for it in maps]
    others = [(a, b) for a in maps for b in maps if a != b]
    random.Random(33).shuffle(others)
    return tuple((same + others)[:count])


def _progress(style: str) -> Callable[[Progress], None]:
    """Return what shows progress on standard error: one line that renews itself on a terminal."""
    live = sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if progress.note:
            print(f"left out: {progress.label}: {progress.note}", file=sys.stderr)
            return
        if style == "json" and not live:
            return
        left = "" if progress.seconds_left is None else f", about {_duration(progress.seconds_left)} left"
        line = f"{progress.done}/{progress.total} {progress.label}{left}"
        if live:
            print(f"\r\x1b[2K{line}", end="" if progress.label else "\n", file=sys.stderr, flush=True)
        elif progress.done % 20 == 0 or progress.done == progress.total:
            print(line, file=sys.stderr, flush=True)

    return show


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _announce(style: str, device: str, labels: list[str]) -> int:
    if style == "json":
        import json

        print(json.dumps({"schema": 1, "device": device, "pending": labels}, indent=2))
    else:
        print(f"{device}: {len(labels)} units to measure", *labels, sep="\n")
    return 0


def _report(style: str, device: str, records: int, path: Path) -> None:
    if style == "json":
        import json

        print(
            json.dumps({"schema": 1, "device": device, "records": records, "database": str(path)}, indent=2)
        )
    else:
        print(f"{device}: {records} records added to {path}")
