"""CLBlast's own kernels with the parameters of its database, as versions beside those of `optimise`.

    python -m benchmarks.clblast CHECKOUT versions.json

adds them to the cases that they are a yardstick for. Their texts are read from a checkout and kept nowhere.
The kernels alone: without the passes that pad and transpose. `Xgemm` wants one operand transposed, so that
its outputs are not compared.
"""

from __future__ import annotations

import argparse
import json
import re
import struct
import sys
from pathlib import Path
from typing import Any

GENERATIONS = ("default", "SM8.0")
"""Entries of the database: NVIDIA's default, and the newest large GPU of its kind."""


def main() -> int:
    """Add the versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("versions", type=Path)
    args = parser.parse_args()
    document = json.loads(args.versions.read_text(encoding="utf-8"))
    for case in document["cases"]:
        case["versions"] = [it for it in case["versions"] if not it.get("yardstick")]
        made = {"matmul": _gemm, "matvec by rows": _gemv, "transpose": _transpose}.get(case["name"])
        for generation in GENERATIONS if made else ():
            assert made is not None, "it was asked"
            case["versions"].append(made(args.checkout, case, generation))
            print(f"{case['name']}: {case['versions'][-1]['kinds'][0]}", file=sys.stderr)
    args.versions.write_text(json.dumps(document) + "\n", encoding="utf-8")
    return 0


def parameters(checkout: Path, family: str, generation: str) -> dict[str, int]:
    """Return what the database says of single precision on NVIDIA's GPUs, by macro."""
    path = checkout / "src/database/kernels" / family / f"{family}_32.hpp"
    text = path.read_text(encoding="utf-8")
    names = re.search(r"Precision::kSingle, \{([^}]*)\}", text)
    section = text[text.index('"NVIDIA"') :]
    entry = section[section.index(f'"{generation}"') :]
    values = re.search(r"kDeviceNameDefault\s*, Params\{([^}]*)\}", entry)
    assert names is not None and values is not None, "the database's form"
    numbers = [int(it) for it in values[1].split(",")]
    return dict(zip(re.findall(r'"(\w+)"', names[1]), numbers, strict=False))


def _source(checkout: Path, *parts: str) -> str:
    texts = []
    for part in ("common", *parts):
        text = (checkout / "src/kernels" / f"{part}.opencl").read_text(encoding="utf-8")
        found = re.findall(r'R"\(\n(.*?)\n\)"', text, re.DOTALL)
        texts.append("\n".join(found))
    return "\n".join(texts)


def _version(
    kernel: str,
    generation: str,
    source: str,
    macros: dict[str, int],
    sizes: tuple[list[int], list[int]],
    arguments: list[Any],
) -> dict[str, Any]:
    return {
        "yardstick": True,
        "kinds": [f"CLBlast {kernel}, {generation}"],
        "titles": [],
        "reorders": True,
        "predicted": None,
        "kernel": kernel,
        "options": [f"-D{name}={value}" for name, value in {"PRECISION": 32, **macros}.items()],
        "source": source,
        "global": sizes[0],
        "local": sizes[1],
        "arguments": arguments,
    }


def _buffer(case: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(it for it in case["versions"][0]["arguments"] if it["name"] == name)
    return found


def _int(value: int) -> dict[str, Any]:
    return {"name": "", "kind": "scalar", "hex": struct.pack("<i", value).hex()}


def _float(value: float) -> dict[str, Any]:
    return {"name": "", "kind": "scalar", "hex": struct.pack("<f", value).hex()}


def _transpose(checkout: Path, case: dict[str, Any], generation: str) -> dict[str, Any]:
    macros, n = parameters(checkout, "transpose", generation), 4096
    source = _source(checkout, "level3/level3", "level3/transpose_fast")
    size, group = n // macros["TRA_WPT"], macros["TRA_DIM"]
    arguments = [_int(n), _buffer(case, "in"), _buffer(case, "out"), _float(1.0)]
    sizes = [size, size], [group, group]
    return _version("TransposeMatrixFast", generation, source, macros, sizes, arguments)


def _gemm(checkout: Path, case: dict[str, Any], generation: str) -> dict[str, Any]:
    macros, n = parameters(checkout, "xgemm", generation), 2048
    parts = [f"level3/xgemm_part{it}" for it in (1, 2, 3, 4)]
    sizes = (
        [n * macros["MDIMC"] // macros["MWG"], n * macros["NDIMC"] // macros["NWG"]],
        [macros["MDIMC"], macros["NDIMC"]],
    )
    result = {**_buffer(case, "C"), "name": "C of another layout"}
    arguments = [*map(_int, (n, n, n)), _float(1.0), _float(0.0)]
    operands = [{**_buffer(case, it), "name": f"{it} of another layout"} for it in ("B", "A")]
    arguments += [*operands, result, _int(0), _int(0)]
    return _version("Xgemm", generation, _source(checkout, "level3/level3", *parts), macros, sizes, arguments)


def _gemv(checkout: Path, case: dict[str, Any], generation: str) -> dict[str, Any]:
    """Rows times a vector; by the fast kernel for rotated matrices where the database has it for the GPU."""
    n, fast = 8192, generation != "default"
    macros = parameters(checkout, "xgemv", generation)
    macros |= parameters(checkout, "xgemv_fast", generation)
    macros |= parameters(checkout, "xgemv_fast_rot", generation)
    source = _source(checkout, "level2/xgemv", "level2/xgemv_fast")
    sizes = ([n], [macros["WGS3"]]) if fast else ([n // macros["WPT1"]], [macros["WGS1"]])
    arguments = [_int(n), _int(n), _float(1.0), _float(0.0), _int(1)]
    arguments += [_buffer(case, "A"), _int(0), _int(n), _buffer(case, "x"), _int(0), _int(1)]
    arguments += [_buffer(case, "y"), _int(0), _int(1), *map(_int, (0, 0, 0, 0))]
    return _version("XgemvFastRot" if fast else "Xgemv", generation, source, macros, sizes, arguments)


if __name__ == "__main__":
    sys.exit(main())
