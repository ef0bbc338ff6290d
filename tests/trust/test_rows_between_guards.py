"""Code that runs whole rows of work-items checks nothing while it runs: a look at every address comes before.

Short, regular kernels that reach beside their buffers in as many ways as can be drawn, with every buffer and
table between pages that may not be touched (`attack_runner`).
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sweeps import drawn

HERE = Path(__file__).parent
N_KERNELS = drawn(32, 800)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the runner forks and guards pages")

TYPES = ("char", "short", "int", "float", "long", "double", "int4", "float3", "uchar2", "half", "float16")
INDICES = (
    *("i", "i + 1", "i - 1", "-i", "2 * i", "i * i", "n - i", "i ^ 1", "i & 7", "i << 3", "i % 5", "~i"),
    *("i + n", "i * n", "get_group_id(0)", "get_local_id(0)", "get_global_size(0) - i", "i << 28", "0"),
    *("(uint)i * 2654435761u", "1000000", "-1000000000"),
)


def kernel(rng: random.Random) -> str:
    """Return a kernel without loops, in which neither addresses nor conditions are loaded."""
    items = rng.choice((16, 64, 100, 256))
    kind = rng.choice(TYPES)

    def index() -> str:
        return rng.choice(INDICES)

    lines = []
    for _ in range(rng.randrange(1, 5)):
        forms = (
            f"a[{index()}] = b[{index()}];",
            f"if ({index()} < n) a[{index()}] = b[{index()}];",
            f"a[{index()}] = ({kind})(1);",
            f"c[{index()}] = i;",
            f"vstore4((char4)(1), {index()}, c);",
            f"c[{index()}] = vload2({index()}, c).x;",
            f"if (i > {rng.randrange(items)}) return;",
        )
        lines.append(rng.choice(forms))
    sizes = [rng.choice((items, items - 1, items + 1, 1, 4)) for _ in "abc"]
    n = rng.choice((items, items - 1, 3, -1, 2147483647))
    return (
        f"// clmap: global={items} local={rng.choice((items, items // 2, items // 4))} n={n} "
        f"a=zeros({sizes[0]}) b=iota({sizes[1]}) c=zeros({sizes[2]})\n"
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
        f"__kernel void k(__global {kind} *a, __global const {kind} *b, __global char *c, int n)\n"
        "{\n    int i = get_global_id(0);\n    " + "\n    ".join(lines) + "\n}\n"
    )


def outcomes(folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    command = [sys.executable, "-X", "faulthandler", str(HERE / "attack_runner.py"), *options]
    command += map(str, sorted(folder.glob("*.cl")))
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return {it["name"]: it for it in map(json.loads, done.stdout.splitlines())}


def test_rows_stay_inside_their_buffers_and_find_the_faults_of_single_work_items(tmp_path: Path):
    rng = random.Random(20261125)
    for number in range(N_KERNELS):
        (tmp_path / f"{number:03}.cl").write_text(kernel(rng))
    rows, single = outcomes(tmp_path, "--rows"), outcomes(tmp_path, "--single")
    assert len(rows) == len(single) == N_KERNELS
    assert [it for it in rows.values() if it["rc"] or it.get("smashed")] == []
    assert sum(it["by_rows"] for it in rows.values()) > N_KERNELS // 4
    assert not any(it["by_rows"] for it in single.values())
    assert {name: it["outcome"] for name, it in rows.items()} == {
        name: it["outcome"] for name, it in single.items()
    }


def test_attacks_by_rows_are_contained():
    found = outcomes(HERE / "attacks", "--rows")
    assert [it for it in found.values() if it["rc"] or it.get("smashed")] == []
