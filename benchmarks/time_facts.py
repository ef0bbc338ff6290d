"""Work out a product's figures from raw times and write them where the package reads them.

python -m benchmarks.time_facts benchmarks/results/time_h200.json nvidia-h200 "NVIDIA H200"
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from clmap_lsp.time.calibration import facts_of
from clmap_lsp.time.facts import DATA


def main() -> int:
    """Read, derive, write."""
    raw, device, name = sys.argv[1:4]
    document = facts_of(json.loads(Path(raw).read_text("utf-8")), device, name)
    (DATA / f"{device}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for key, it in document["facts"].items():
        print(f"{key:22s} {it['value']:<12.6g} {it['source']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
