"""The symbolic and the JIT engine say the same of every kernel that both take."""

from pathlib import Path

import pytest
from aiwc_kernels import entries, launch_of, program_of

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.locality.definition import LocalAddresses
from clmap_lsp.source.read import read_program

FIXTURES = Path(__file__).parents[2] / "fixtures"
REFERENCE = [pytest.param(it, id=it["name"]) for it in entries() if "@" not in it["name"]]


def compare(program, kernel, launch, model=LocalAddresses.SHARED):
    device = load_model("nvidia-hopper")
    base = {"local_addresses": model, "device": device, "time_limit_s": 60}
    symbolic = emulate(program, kernel, launch, EmulationSettings(engine=Engine.SYMBOLIC, **base))
    if symbolic.engine is not Engine.SYMBOLIC:
        assert symbolic.engine_reason.startswith("the symbolic engine does not apply: ")
        return False
    jit = emulate(program, kernel, launch, EmulationSettings(engine=Engine.JIT, **base))
    left, right = symbolic.metrics, jit.metrics
    for name in ("accesses", "loads", "stores", "footprint", "footprint_90"):
        assert getattr(left, name) == getattr(right, name), name
    for name in ("gmae", "relative_local", "lmae", "psl"):
        assert getattr(left, name) == pytest.approx(getattr(right, name), abs=1e-12, rel=1e-12), name
    costs = {(it.site, it.op): it for it in symbolic.sites}
    for site in jit.sites:
        other = costs.get((site.site, site.op))
        if other is None:
            assert site.executions == 0, site  # The symbolic engine lists what the launch reaches.
            continue
        assert (site.executions, site.requests) == (other.executions, other.requests), site
        if other.sectors is not None and site.space == "global" and not site.op.startswith("atomic"):
            assert site.sectors == other.sectors, site
        if other.wavefronts is not None and not site.op.startswith("atomic"):
            assert site.wavefronts == other.wavefronts, site
    return True


@pytest.mark.parametrize("model", list(LocalAddresses))
@pytest.mark.parametrize("entry", REFERENCE)
def test_reference_kernels(entry, model):
    program, kernel = program_of(entry)
    compare(program, kernel, launch_of(entry), model)


def fixture_kernels():
    for path in sorted(FIXTURES.rglob("*.cl")):
        program = read_program(path.read_text(), str(path))
        for kernel in program.kernels:
            yield pytest.param(program, kernel, id=f"{path.stem}-{kernel.name}")


@pytest.mark.parametrize(("program", "kernel"), list(fixture_kernels()))
def test_fixtures(program, kernel):
    launch = resolve(program, kernel)
    assert not isinstance(launch, LaunchProblem)
    compare(program, kernel, launch)


@pytest.mark.parametrize(
    "real",
    [
        "sqrt((float)i)",
        "sqrt((double)i * i)",
        "native_sqrt(i * 0.5f)",
        "clamp(i - 7.5f, 0.0f, 90.25f)",
        "round(i * 0.5f)",
        "round(i + 0.49999997f)",
        "20.0f + round(0.25f * (i % 40) - 5.0f)",
        "fmod((float)i, 12.0f)",
        "mad((float)i, 1.5f, 2.0f)",
        "fma(i * 0.1f, 10.0f, 0.5f)",
        "clamp((float2)(i, 3.0f), 2.0f, 40.0f).x",
    ],
)
def test_indices_that_floats_make(real):
    """Elements a cache line apart, so that every other index is another sector."""
    text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    text += (
        f"kernel void f(global float *a) {{ int i = get_global_id(0); a[((int)({real}) & 127) * 32] = i; }}"
    )
    program = read_program(text, "f.cl")
    launch = resolve(program, program.kernels[0])
    assert not isinstance(launch, LaunchProblem)
    assert compare(program, program.kernels[0], launch)


def test_most_reference_kernels_are_taken_by_both():
    taken = sum(compare(*program_of(it), launch_of(it)) for it in entries() if "@" not in it["name"])
    assert taken >= 20
