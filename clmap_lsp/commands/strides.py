"""`clmap-lsp strides`: measure every power-of-two stride on an OpenCL device."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.aristotle.records import StridePoint
    from clmap_lsp.opencl_device.facts import DeviceFacts
    from clmap_lsp.strides.sweep import Setup

_EXAMPLE = """\
examples:
  clmap-lsp strides                                       2^20 work-items over an array beyond the cache
  clmap-lsp strides --vector 4 --op copy --chart curve.svg
  clmap-lsp strides --recorded --platform H200            show what the database holds, measure nothing

exponent 0: each work-item walks a contiguous chunk; exponent = grid bits: all walk the array together
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "strides",
        help="measure every power-of-two stride on a device",
        description="Measure the bandwidth of every power-of-two stride, from chunks to grid strides.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--platform", metavar="NAME", help="device: its number or part of its name")
    parser.add_argument(
        "--index-bits", type=int, metavar="B", help="log2 of elements (26, or beyond the cache)"
    )
    parser.add_argument("--grid-bits", type=int, default=20, metavar="B", help="log2 of work-items")
    parser.add_argument("--work-group", type=int, default=256, metavar="N")
    parser.add_argument("--vector", type=int, default=1, metavar="1..16", help="32-bit words of an element")
    parser.add_argument("--op", choices=("read", "write", "copy"), default="read")
    parser.add_argument("--order", choices=("forward", "backward", "bit-reversed"), default="forward")
    parser.add_argument("--cache", choices=("cold", "warm"), default="cold")
    parser.add_argument("--runs", type=int, default=41, metavar="N", help="at most, for each exponent")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="at most for timing")
    parser.add_argument("--database", type=Path, metavar="FILE", help="instead of the user's own")
    parser.add_argument("--recorded", action="store_true", help="show recorded sweeps instead of measuring")
    parser.add_argument("--format", choices=("table", "csv", "json"), default="table")
    parser.add_argument("--chart", type=Path, metavar="FILE", help="write an .svg or .html chart too")


def run(args: argparse.Namespace) -> int:
    """Measure or look up, keep, and show."""
    from clmap_lsp.aristotle.database import DatabaseError
    from clmap_lsp.opencl_device import DeviceError

    if args.chart and args.chart.suffix not in (".svg", ".html"):
        raise UsageError(f"--chart {args.chart}: the name must end in .svg or .html")
    try:
        points = _recorded(args) if args.recorded else _measured(args)
    except (DeviceError, DatabaseError, ValueError) as error:
        raise UsageError(str(error)) from None
    _show(args, points)
    return 0


def _measured(args: argparse.Namespace) -> list[StridePoint]:
    from clmap_lsp.aristotle.calibrate import platform_of
    from clmap_lsp.aristotle.database import Database
    from clmap_lsp.aristotle.shipped import user_database_path
    from clmap_lsp.devices import match_device
    from clmap_lsp.opencl_device.session import Session
    from clmap_lsp.opencl_device.timing import Effort
    from clmap_lsp.strides.sweep import Sweep

    session = Session(args.platform)
    facts = session.facts
    setup = _setup(args, facts)
    extra = {"type": facts.kind.value, "compute_capability": facts.compute_capability}
    model = match_device(facts.vendor, facts.name, extra) or ""
    path = args.database or user_database_path()
    with Database(path) as database:
        sweep = Sweep(session, setup)
        effort = Effort(max_runs=max(3, args.runs), min_runs=min(11, args.runs), max_seconds=args.seconds)
        points = sweep.run(facts.key, effort, lambda text: print(text, file=sys.stderr, flush=True))
        if not any(it.key == facts.key for it in database.platforms()):
            database.put([platform_of(facts, model)])
        database.put(points)
    return points


def _setup(args: argparse.Namespace, facts: DeviceFacts) -> Setup:
    from clmap_lsp.opencl_device.timing import CacheState
    from clmap_lsp.strides.sweep import Op, Order, Setup, default_index_bits

    bits = args.index_bits
    if bits is None:
        bits = max(default_index_bits(facts, args.vector), args.grid_bits)
    return Setup(
        bits,
        args.grid_bits,
        args.work_group,
        args.vector,
        Op(args.op),
        Order(args.order),
        CacheState(args.cache),
    )


def _recorded(args: argparse.Namespace) -> list[StridePoint]:
    from clmap_lsp.aristotle.database import Database
    from clmap_lsp.aristotle.shipped import open_database
    from clmap_lsp.strides.chart import latest_sweep

    database = Database(args.database, read_only=True) if args.database else open_database()
    with database:
        where: dict[str, str | int | bool] = {
            "grid_bits": args.grid_bits,
            "vector": args.vector,
            "op": args.op,
            "order": args.order,
            "cache": args.cache,
        }
        if args.index_bits is not None:
            where["index_bits"] = args.index_bits
        return latest_sweep(database.strides(**where), args.platform)


def _show(args: argparse.Namespace, points: list[StridePoint]) -> None:
    from clmap_lsp.aristotle.exchange import to_csv
    from clmap_lsp.strides import chart

    if args.format == "csv":
        print(to_csv(points), end="")
    elif args.format == "json":
        print(chart.as_json(points))
    else:
        sys.stdout.write(chart.as_text(points))
    if args.chart:
        from clmap_lsp.whole_files import write_whole

        text = chart.svg(points) if args.chart.suffix == ".svg" else chart.html(points)
        write_whole(args.chart, text.encode())
        print(f"chart: {args.chart}", file=sys.stderr)
