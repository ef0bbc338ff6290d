"""The reference kernels of tests/data/aiwc with their launches."""

import json
from functools import cache
from pathlib import Path

from clmap_lsp.launch.model import BufferArgument, Fill, Launch, LocalArgument, ScalarArgument
from clmap_lsp.source.read import read_program

DATA = Path(__file__).parents[1] / "data" / "aiwc"


@cache
def document():
    return json.loads((DATA / "kernels.json").read_text())


def entries(section="kernels"):
    return document()[section]


def view(entry):
    """The figures for the code as written."""
    optimised = entry["views"]["opt"]
    chosen = entry["views"].get("asw", optimised)
    merged = {key: optimised[key] if value == "same as opt" else value for key, value in chosen.items()}
    merged["definition"] = {
        key: optimised["definition"][key] if value == "same as opt" else value
        for key, value in merged["definition"].items()
    }
    return merged


def by_model(table, model):
    value = table[model]
    return table["alias"] if isinstance(value, str) else value


def argument(spec):
    if spec["kind"] == "local":
        return LocalArgument(spec["count"])
    if spec["kind"] == "value":
        return ScalarArgument((spec["value"],))
    init = spec["init"]
    if "values" in init:
        text = ",".join(map(str, init["values"]))
        return BufferArgument(Fill.VALUES, spec["count"], text=text, element=spec["type"])
    text = init["expr"] if "expr" in init else str(init["fill"])
    return BufferArgument(Fill.FORMULA, spec["count"], text=text, element=spec["type"])


def launch_of(entry):
    return Launch(
        entry["kernel"],
        tuple(entry["global_size"]),
        tuple(entry["local_size"]),
        {it["name"]: argument(it) for it in entry["args"]},
    )


def program_of(entry):
    program = read_program(entry["source"], "kernel.cl")
    return program, program.kernel(entry["kernel"])
