"""Requests, sectors and wavefronts of whole kernels against an NVIDIA H200's counters."""

import json
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, ScalarArgument
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import PointerType

DATA = json.loads((Path(__file__).parents[1] / "data/hardware_truth/nvidia_h200.json").read_text())
KERNELS = [pytest.param(it, id=it["name"]) for it in DATA["whole_kernel_as_written"]]
UNROLLED = {"v_tri_loop"}
"""The compiler unrolls this loop 16 times; lanes whose trip counts differ then finish in a loop for the rest,
which issues up to 15 more requests for each SIMD group. The source has no such requests."""


def launch_of(entry, kernel):
    permutation = ",".join(map(str, np.random.default_rng(7).permutation(4096).tolist()))
    arguments = {}
    for parameter in kernel.parameters:
        if parameter.name == "I":
            arguments["I"] = BufferArgument(Fill.VALUES, 4096, text=permutation)
        elif isinstance(parameter.type, PointerType):
            arguments[parameter.name] = BufferArgument(Fill.ZEROS, 1 << 18)
        else:
            arguments[parameter.name] = ScalarArgument((entry["args"].get(parameter.name, 0),))
    return Launch(entry["kernel"], tuple(entry["global_size"]), tuple(entry["local_size"]), arguments)


@pytest.mark.parametrize("entry", KERNELS)
def test_costs_of_the_kernel_as_written(entry):
    program = read_program(entry["source"], "kernel.cl")
    kernel = program.kernel(entry["kernel"])
    settings = EmulationSettings(engine=Engine.JIT, device=load_model("nvidia-hopper"), time_limit_s=60)
    result = emulate(program, kernel, launch_of(entry, kernel), settings)
    assert not result.faults
    for kind, measured in entry["measured"].items():
        space, op = kind.split("_")
        sites = [it for it in result.sites if it.space == space and it.op == op]
        requests = sum(it.requests for it in sites)
        if space == "local":
            assert sum(it.wavefronts for it in sites) == measured["wavefronts"], kind
            # Counters also count instructions that are issued with every lane switched off.
            assert requests <= measured["instructions"]
            continue
        assert sum(it.sectors for it in sites) == measured["sectors"], kind
        if entry["name"] not in UNROLLED:
            assert requests == measured["requests"], kind


def test_the_unrolled_loop_is_explained():
    entry = next(it.values[0] for it in KERNELS if it.id == "v_tri_loop")
    n = entry["global_size"][0]
    requests = 0
    for warp in range(n // 32):
        trips = np.arange(1, 33) + 32 * warp
        requests += 16 * (trips // 16).max() + (trips % 16).max()
    assert requests == entry["measured"]["global_load"]["requests"]
