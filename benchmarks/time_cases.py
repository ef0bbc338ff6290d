"""The launches by which predicted times are judged: kernels of `time_kernels/` and of `fixtures/`.

    python -m benchmarks.time_cases [FAMILY] > cases.json   every launch as a job that needs no compiler here

A family is a file of `time_kernels/` or a folder of `fixtures/`.
A line `// time: kernel=NAME global=… local=… ARGUMENT=…` above a kernel is one launch.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clmap_lsp.analysis.launching import LaunchSources, launch_of
from clmap_lsp.launch import Launch, PartialLaunch
from clmap_lsp.launch.model import BufferArgument, LocalArgument
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import PointerType, ScalarType, StructType, element_of

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
_LINE = re.compile(r"^// time: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """One launch of one kernel."""

    id: str
    family: str
    program: Program
    kernel: Kernel
    launch: Launch
    defines: tuple[tuple[str, str], ...] = ()


def cases() -> Iterator[Case]:
    """Yield every launch, each once."""
    seen: set[tuple[str, str]] = set()
    for case in _all():
        if (case.family, case.id) not in seen:
            seen.add((case.family, case.id))
            yield case


def _all() -> Iterator[Case]:
    for path in sorted((HERE / "time_kernels").glob("*.cl")):
        text = path.read_text(encoding="utf-8")
        program = read_program(text, path.name)
        for line in _LINE.findall(text):
            words = dict(word.split("=", 1) for word in line.split())
            yield _case(path.stem, program, words)
    for path in sorted(FIXTURES.glob("*/*.cl")):
        yield from _fixture(path)


def _case(family: str, program: Program, words: dict[str, str], defines: Any = ()) -> Case:
    words = dict(words)
    name = words.pop("kernel")
    kernel = program.kernel(name)
    if kernel is None:
        raise SystemExit(f"{program.path}: no kernel {name}")
    sizes = [tuple(int(it) for it in words.pop(part).split(",")) for part in ("global", "local")]
    given = PartialLaunch(name, sizes[0], sizes[1], arguments=words)
    launch = launch_of(program, kernel, LaunchSources(given, None, {}, None))
    if not isinstance(launch, Launch):
        raise SystemExit(f"{program.path}: {launch}")
    size = "x".join(map(str, launch.global_size)) + "/" + "x".join(map(str, launch.local_size))
    scalars = ",".join(f"{k}={v}" for k, v in words.items() if "(" not in v)
    return Case(f"{family}/{name} {size} {scalars}".strip(), family, program, kernel, launch, defines)


_LARGER = {"matmul": (512, 1024), "transpose": (1024, 4096), "matvec": (2048,)}


def _fixture(path: Path) -> Iterator[Case]:
    text = path.read_text(encoding="utf-8")
    family = path.parent.name
    for side in (0, *_LARGER.get(family, ())):
        if side > 512 and path.name.startswith("row_"):
            continue
        sized = text
        if side:
            sized = re.sub(r"global=256,256\b", f"global={side},{side}", sized)
            sized = re.sub(r"global=256\b", f"global={side}", sized)
            sized = re.sub(r"\bN=256\b", f"N={side}", sized)
        defines = (("MAX_N", str(side)),) if side and "MAX_N" in text else ()
        program = read_program(sized, path.name, BuildOptions(defines=defines))
        for kernel in program.kernels:
            launch = launch_of(program, kernel, LaunchSources(None, None, {}, None))
            if not isinstance(launch, Launch):
                raise SystemExit(f"{path}: {launch}")
            sizes = "x".join(map(str, launch.global_size)) + "/" + "x".join(map(str, launch.local_size))
            yield Case(f"{family}/{kernel.name} {sizes}", family, program, kernel, launch, defines)


def job(case: Case) -> dict[str, Any]:
    """Return a launch as plain data: source, sizes, and how to make each argument."""
    arguments = []
    for parameter in case.kernel.parameters:
        value = case.launch.arguments[parameter.name]
        kind = parameter.type
        if isinstance(value, BufferArgument):
            assert isinstance(kind, PointerType)
            pointee = kind.pointee
            lanes = 1
            element = element_of(pointee)
            if isinstance(pointee, StructType):
                lanes, element = pointee.size // 4, "float"
            elif element is not pointee:
                lanes = pointee.size // element.size
            name = value.element or str(element)
            count = value.count * (lanes if not value.element else 1)
            arguments.append(
                {
                    "buffer": parameter.name,
                    "type": name,
                    "count": count,
                    "fill": value.fill.value,
                    "seed": value.seed,
                    "text": value.text,
                }
            )
        elif isinstance(value, LocalArgument):
            assert isinstance(kind, PointerType)
            arguments.append({"local": value.count * kind.pointee.size})
        else:
            assert isinstance(kind, ScalarType)
            arguments.append({"scalar": value.values[0], "type": kind.name})
    return {
        "id": case.id,
        "family": case.family,
        "kernel": case.kernel.name,
        "source": case.program.main_file.text,
        "options": [f"-D{name}={value}" for name, value in case.defines],
        "global": list(case.launch.global_size),
        "local": list(case.launch.local_size),
        "arguments": arguments,
    }


def main() -> int:
    """Print the jobs."""
    families = sys.argv[1:]
    json.dump([job(it) for it in cases() if not families or it.family in families], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
