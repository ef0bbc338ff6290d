"""Hold the reader of host code against launches that were read by hand.

    python benchmarks/host_launches.py CHECKOUTS [--part tuned|unseen] [--set 1|2|…|10] [--only TEXT]

CHECKOUTS holds the repositories of `tests/data/host_launches.json` as OWNER/NAME, at the commits named there.
Prints what differs, and the shares of kernels and of stated constants that are right.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from clmap_lsp.hosts.host_launch import HostLaunch, HostValue
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

LABELS = Path(__file__).parents[1] / "tests" / "data" / "host_launches.json"


def differences(label: dict[str, Any], launch: HostLaunch) -> tuple[list[str], int, int]:
    """Return what differs, how many constants were stated, and how many of these are wrong."""
    pairs: list[tuple[str, Any, HostValue | None]] = [
        (f"{name}[{i}]", wanted, said)
        for name, sizes in (("global", launch.global_size), ("local", launch.local_size))
        for i, (wanted, said) in enumerate(zip(label[name], sizes, strict=False))
    ]
    pairs += [(name, it, launch.arguments.get(name)) for name, it in label["args"].items()]
    pairs += [(name, it, launch.local_arguments.get(name)) for name, it in label["local_args"].items()]
    found, stated, wrong = [], 0, 0
    if len(launch.global_size) != len(label["global"]):
        found.append(f"{len(launch.global_size)} dimensions")
    for name, wanted, said in pairs:
        number = said.number if said is not None else None
        if isinstance(wanted, dict):
            expected = wanted["run_time"]
            fine = said is not None and number is None and (expected is None or said.default == expected)
            bad = number is not None
        else:
            fine = said is None if wanted is None else number == wanted
            bad = number is not None and number != wanted
        stated += number is not None
        wrong += bad
        if not fine:
            found.append(
                f"{name} is {said.text if said else None} [{said.default if said else ''}], not {wanted}"
            )
    for name, value in label["defines"].items():
        match = re.search(rf"-D\s*{name}=(\S+)", launch.build_options)
        said_text = match[1] if match else "missing"
        known = match is not None and not said_text.startswith("{")
        stated += known
        wrong += known and said_text != str(value)
        if said_text != str(value):
            found.append(f"-D {name} is {said_text}")
    return found, stated, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--part", choices=("tuned", "unseen"))
    parser.add_argument("--set", type=int, choices=range(1, 11), help="the labels of one round")
    parser.add_argument("--only", default="")
    parser.add_argument("--labels", type=Path, default=LABELS)
    args = parser.parse_args()
    labels = [
        it
        for it in json.loads(args.labels.read_text(encoding="utf-8"))["launches"]
        if args.part in (None, it["part"])
        and args.set in (None, it.get("set", 1))
        and args.only in f"{it['repository']}/{it['host_file']}"
    ]
    known: dict[str, tuple[HostLaunch, ...]] = {}
    count: Counter[str] = Counter()
    for label in labels:
        root = args.checkouts / label["repository"]
        if label["repository"] not in known:
            known[label["repository"]] = launches_of(project_of(str(root))).launches
        of_kernel = [
            it
            for it in known[label["repository"]]
            if it.kernel == label["kernel"]
            and it.host_file == str(root / label["host_file"])
            and it.kernel_file in (None, str(root / label["kernel_file"]))
        ]
        best = min((differences(label, it) for it in of_kernel), key=lambda it: len(it[0]), default=None)
        count["all"] += 1
        count["near"] += label["near"]
        if best is None:
            print(f"{label['repository']} {label['kernel']} ({label['kernel_file']}): no launch found")
            continue
        count["stated"] += best[1]
        count["wrong"] += best[2]
        if best[0]:
            print(f"{label['repository']} {label['kernel']} ({label['kernel_file']}): {'; '.join(best[0])}")
        else:
            count["right"] += 1
            count["near right"] += label["near"]
    print(
        f"launches right: {count['right']} of {count['all']}; "
        f"of constants or one hop away: {count['near right']} of {count['near']}; "
        f"stated constants: {count['stated']}, wrong: {count['wrong']}"
    )


if __name__ == "__main__":
    main()
