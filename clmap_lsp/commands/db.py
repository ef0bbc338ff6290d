"""`clmap-lsp db`: what is known about local memory on which platform."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal_line

if TYPE_CHECKING:
    from clmap_lsp.aristotle.database import Layers

_EXAMPLE = """\
examples:
  clmap-lsp db platforms                                  whose records there are
  clmap-lsp db query --platform H200 --map 110            gain or loss, by size
  clmap-lsp db table5                                     the paper's Table 5, and the same for our platforms
  clmap-lsp db accuracy                                   how far rules and predictor can be trusted
  clmap-lsp db export measurements -o mine.csv            also: platforms, strides, all (JSON)
  clmap-lsp db import theirs.csv other.json more.sqlite   merge into your own database
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "db",
        help="query, import, export the performance database",
        description="The performance database: published records, ours, and your own.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in _ACTIONS.items():
        action = actions.add_parser(name, help=text, description=text, allow_abbrev=False)
        action.add_argument("--format", choices=("text", "json"), default="text")
        if name in ("query", "table5"):
            action.add_argument(
                "--platform", metavar="NAME", help="part of a platform's or a device model's name"
            )
        if name == "query":
            action.add_argument("--map", metavar="N", help="one MAP, as in 407")
            action.add_argument("--size", type=int, metavar="N")
            action.add_argument("--cache", choices=("cold", "warm", "flushed"))
        if name == "export":
            action.add_argument("what", choices=("platforms", "measurements", "strides", "all"))
            action.add_argument(
                "-o", "--output", type=Path, metavar="FILE", help="instead of standard output"
            )
            action.add_argument("--mine", action="store_true", help="your own records only")
        if name in ("import", "merge"):
            action.add_argument("files", nargs="+", type=Path, metavar="FILE", help=".csv, .json or .sqlite")


_ACTIONS = {
    "platforms": "list the platforms with records",
    "query": "show gain or loss of MAPs on a platform",
    "table5": "show the paper's Table 5 from the records",
    "accuracy": "show the accuracy of composing rules and predictor",
    "export": "write records as CSV, or everything as JSON",
    "import": "put records of files into your own database",
    "merge": "the same as import",
}


def run(args: argparse.Namespace) -> int:
    """Do one action."""
    from clmap_lsp.aristotle.database import DatabaseError
    from clmap_lsp.aristotle.shipped import open_database

    try:
        if args.action in ("import", "merge"):
            return _import(args)
        if args.action == "export" and args.mine:
            return _export_mine(args)
        with open_database() as database:
            match args.action:
                case "platforms":
                    return _platforms(args, database)
                case "query":
                    return _query(args, database)
                case "table5":
                    return _table5(args, database)
                case "accuracy":
                    return _accuracy(args, database)
                case _:
                    return _export(args, database)
    except (DatabaseError, ValueError) as error:
        raise UsageError(str(error)) from None


def _print_json(**data: Any) -> int:
    import json

    print(json.dumps({"schema": 1, **data}, indent=2))
    return 0


def _platforms(args: argparse.Namespace, database: Layers) -> int:
    from clmap_lsp.aristotle.records import as_row

    platforms = database.platforms()
    if args.format == "json":
        return _print_json(platforms=[as_row(it) for it in platforms])
    for it in platforms:
        count = len(database.measurements(platform=it.key))
        print(terminal_line(f"{it.key}: {it.device} ({it.kind}, {it.driver}), {count} measurements"))
        print(terminal_line(f"   {it.method}"))
        print(terminal_line(f"   source: {it.source}"))
    return 0


def _query(args: argparse.Namespace, database: Layers) -> int:
    from clmap_lsp.aristotle.advice import record_row
    from clmap_lsp.aristotle.maps import parse_map
    from clmap_lsp.aristotle.nearest import find_platforms
    from clmap_lsp.aristotle.verdict import records_of

    where: dict[str, str | int | bool] = {}
    if args.size:
        where["size"] = args.size
    if args.cache:
        where["cache"] = args.cache
    wanted = parse_map(args.map) if args.map else None
    records = [
        record
        for platform in find_platforms(database, args.platform)
        for record in records_of(database, platform, **where)
        if wanted is None or record.map == wanted
    ]
    if args.format == "json":
        return _print_json(records=[record_row(it) for it in records])
    for it in records:
        kind = f"{it.approach}{', padded' if it.padded else ''}"
        doubt = "" if it.significant else ", by chance"
        bound = ", bound by launching" if it.overhead_bound else ""
        print(
            f"{terminal_line(it.platform)} {it.map} {it.size} {it.cache} ({kind}): {it.verdict.value},"
            f" mbr {it.mbr:.2f} ± {it.deviation:.2f} ({it.naive_gbs:.1f} to {it.local_gbs:.1f} GB/s,"
            f" {it.runs} runs{doubt}{bound})"
        )
    if not records:
        raise UsageError("no record fits; clmap-lsp db platforms lists what there is")
    return 0


def _table5(args: argparse.Namespace, database: Layers) -> int:
    from clmap_lsp.aristotle.nearest import find_platforms
    from clmap_lsp.aristotle.verdict import PAPER_PLATFORMS, paper_table, table5

    platforms = find_platforms(database, args.platform)
    order = {name: k for k, name in enumerate(PAPER_PLATFORMS)}
    platforms.sort(key=lambda it: order.get(it.key, len(order)))
    tables = {cut: table5(database, platforms, truncated=cut) for cut in (True, False)}
    of = len(paper_table())
    if args.format == "json":
        return _print_json(
            tables=[
                {
                    "truncated": cut,
                    "agreeing": sum(it.agrees for it in cells),
                    "of": sum(it.paper is not None for it in cells),
                    "cells": [
                        {
                            "platform": it.platform,
                            "size": it.size,
                            "gain_loss_similar": it.counted,
                            "paper": it.paper,
                        }
                        for it in cells
                    ],
                }
                for cut, cells in tables.items()
            ]
        )
    for cut, cells in tables.items():
        how = "mbr truncated to two decimals, as the authors did" if cut else "mbr as it is"
        print(f"Table 5: MAPs with gain/loss/similar ({how})")
        keys = list(dict.fromkeys(it.platform for it in cells))
        print("size  " + "".join(f"{it[:12]:>14}" for it in keys))
        found = {(it.platform, it.size): it for it in cells}
        for size in sorted({it.size for it in cells}):
            row = [found.get((key, size)) for key in keys]
            texts = ["" if it is None else "/".join(map(str, it.counted)) + _mark(it) for it in row]
            print(f"{size:<6}" + "".join(f"{it:>14}" for it in texts))
        agreeing = sum(it.agrees for it in cells)
        compared = sum(it.paper is not None for it in cells)
        print(f"{agreeing} of {compared} cells as printed (* differs; the paper has {of})\n")
    return 0


def _mark(cell: Any) -> str:
    return "*" if cell.paper is not None and not cell.agrees else ""


def _accuracy(args: argparse.Namespace, database: Layers) -> int:
    from clmap_lsp.aristotle.compose import composing_accuracy
    from clmap_lsp.aristotle.predict import leave_one_out

    composed = composing_accuracy(database)
    predicted = leave_one_out(database)
    if args.format == "json":
        return _print_json(
            composing=[
                {
                    "platform": it.platform,
                    "arrays": it.arrays,
                    "size": it.size,
                    "right": it.right,
                    "tests": it.tests,
                }
                for it in composed
            ],
            predictor=[
                {
                    "platform": it.platform,
                    "size": it.size,
                    "right": it.right,
                    "baseline_right": it.baseline_right,
                    "maps": it.maps,
                    "baseline": it.baseline,
                }
                for it in predicted
            ],
        )
    print("Composing rules: steps that went as the single MAPs' records say")
    for line in composed:
        score = f"{line.right}/{line.tests} = {line.share:.0%} ({line.clear_share:.0%} beyond 5 % change)"
        print(f"  {line.platform:<12} {line.arrays} arrays {line.size:>5}: {score}")
    print("Predictor, each platform predicted from the others: gain or not, right of 33 MAPs (baseline)")
    for it in predicted:
        print(f"  {it.platform:<12} {it.size:>5}: {it.right} ({it.baseline_right})")
    return 0


def _export(args: argparse.Namespace, database: Any) -> int:
    from clmap_lsp.aristotle.exchange import to_csv, to_json

    match args.what:
        case "all":
            text = to_json(database)
        case "platforms":
            text = to_csv(database.platforms())
        case "measurements":
            text = to_csv(database.measurements())
        case _:
            text = to_csv(database.strides())
    if args.output:
        from clmap_lsp.whole_files import write_whole

        write_whole(args.output, text.encode())
    else:
        print(text, end="")
    return 0


def _export_mine(args: argparse.Namespace) -> int:
    from clmap_lsp.aristotle.shipped import open_user_database

    with open_user_database() as database:
        return _export(args, database)


def _import(args: argparse.Namespace) -> int:
    from clmap_lsp.aristotle.exchange import read_records
    from clmap_lsp.aristotle.shipped import open_user_database, user_database_path

    records = read_records(args.files)
    with open_user_database() as database:
        count = database.put(records)
    if args.format == "json":
        return _print_json(imported=count, database=str(user_database_path()))
    print(f"{count} records put into {user_database_path()}")
    return 0
