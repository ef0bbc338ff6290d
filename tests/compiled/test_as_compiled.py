"""Machine code without a driver: against counters of a GPU, against LLVM's own figures, and from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp import cli
from clmap_lsp.compiled import amdgcn, ptx, ptxas
from clmap_lsp.compiled.backend import BackendError, assembly
from clmap_lsp.compiled.build import Compiled, compiled
from clmap_lsp.compiled.counts import executed, profile
from clmap_lsp.compiled.target import amd, nvidia
from clmap_lsp.compiled.weights import block_weights
from clmap_lsp.devices import load_model
from clmap_lsp.launch import Launch, PartialLaunch, resolve
from clmap_lsp.source.read import read_program

ROOT = Path(__file__).parents[2]
TRUTH = json.loads((ROOT / "tests/data/hardware_truth/nvidia_h200.json").read_text("utf-8"))["whole_kernel"]
KNOWN_TO_DIFFER = {"tri_loop", "warp_cond"}
"""See docs/compiled.md; they are tested to be as far off as it says."""
HOPPER = load_model("nvidia-hopper")


def built(source: str, kernel: str, target: Any = None) -> Compiled:
    program = read_program(source, "kernel.cl")
    found = program.kernel(kernel)
    assert found is not None
    result = compiled(found, target or nvidia("sm_90"), program.constants)
    assert isinstance(result, Compiled), result
    return result


def counted(case: Mapping[str, Any]) -> dict[str, list[float]]:
    program = read_program(case["source"], "kernel.cl")
    kernel = program.kernel(case["kernel"])
    assert kernel is not None
    arguments = {name: str(value) for name, value in case["args"].items()}
    if any(it.name == "I" for it in kernel.parameters):
        arguments["I"] = "permutation(4096,7)"
    given = PartialLaunch(None, tuple(case["global_size"]), tuple(case["local_size"]), arguments=arguments)
    launch = resolve(program, kernel, given=given)
    assert isinstance(launch, Launch), str(launch)
    made = compiled(kernel, nvidia("sm_90"), program.constants)
    assert isinstance(made, Compiled), made
    found = profile(made, launch, HOPPER, program.constants)
    assert not isinstance(found, str), found
    sums: dict[str, list[float]] = {}
    for it in executed(made, found, HOPPER).accesses:
        memory = it.instruction.memory
        assert memory is not None and it.units is not None
        total = sums.setdefault(f"{memory.space}_{memory.op}", [0.0, 0.0])
        total[0] += it.requests
        total[1] += it.units
    return sums


@pytest.mark.parametrize("case", TRUTH, ids=[it["name"] for it in TRUTH])
def test_whole_kernels_are_counted_as_the_gpu_ran_them(case: dict[str, Any]) -> None:
    sums = counted(case)
    wrong = []
    for key, measured in case["measured"].items():
        requests, units = sums.get(key, [0.0, 0.0])
        pairs = [(units, measured.get("sectors", measured.get("wavefronts")))]
        if "requests" in measured:
            pairs.append((requests, measured["requests"]))
        wrong += [(key, mine, real) for mine, real in pairs if abs(mine - real) > 0.05 * max(real, 1)]
    assert bool(wrong) == (case["name"] in KNOWN_TO_DIFFER), wrong


FIXTURES = sorted((ROOT / "fixtures").glob("*/*.cl"))


@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942", "gfx1100"])
def test_registers_and_spills_of_amd_are_those_that_llvm_wrote(cpu: str) -> None:
    """The kernel descriptor's own numbers, which the assembler encodes, against the metadata read here."""
    seen = 0
    for path in FIXTURES:
        program = read_program(path.read_text("utf-8"), path.name)
        for kernel in program.kernels:
            made = compiled(kernel, amd(cpu), program.constants)
            assert isinstance(made, Compiled), (path.name, kernel.name, made)
            text = made.code.text
            used = max(int(re.search(r"\.set \S+\.num_vgpr, (\d+)", text)[1]), 1)  # type: ignore[index]
            assert made.code.registers is not None
            assert used <= made.code.registers <= used + 8, (path.name, kernel.name)
            spilled = re.search(r"\.vgpr_spill_count: (\d+)", text)
            assert spilled is not None and made.code.spill_bytes == 4 * int(spilled[1])
            local = re.search(r"\.amdhsa_group_segment_fixed_size (\d+)", text)
            assert local is not None and made.code.local_bytes == int(local[1])
            seen += 1
    assert seen >= 30


def test_registers_of_nvidia_are_near_those_of_its_assembler() -> None:
    if ptxas.find_ptxas() is None:
        pytest.skip("no ptxas here")
    near = total = 0
    for path in FIXTURES:
        program = read_program(path.read_text("utf-8"), path.name)
        for kernel in program.kernels:
            made = compiled(kernel, nvidia("sm_90"), program.constants)
            assert isinstance(made, Compiled) and made.code.registers_exact, (path.name, kernel.name)
            estimate = ptx.live_registers(list(made.code.blocks))
            assert made.code.registers is not None
            near += abs(estimate - made.code.registers) <= 8
            total += 1
    assert total >= 30
    assert near >= 0.75 * total


def test_four_neighbouring_loads_become_one() -> None:
    source = """kernel void k(global const float4 *a, global float *b, int n) {
        local float t[64]; int l = get_local_id(0); t[l] = b[l]; barrier(CLK_LOCAL_MEM_FENCE);
        float s = 0; for (int i = 0; i < 4; i++) s += t[4 * (l & 15) + i];
        b[get_global_id(0)] = s + a[get_global_id(0)].x; }"""
    made = built(source, "k")
    local = [
        it.memory.size
        for block in made.code.blocks
        for it in block.instructions
        if it.memory is not None and it.memory.space == "local" and it.memory.op == "load"
    ]
    assert local == [16]


@pytest.mark.parametrize(("kind", "loads"), [("float", [4]), ("Point", [4, 4, 4])])
def test_copies_of_lines_are_shared_by_the_work_items(kind: str, loads: list[int]) -> None:
    source = f"""typedef struct {{ float x, y, z; }} Point;
        kernel void k(global const {kind} *a, global {kind} *b, int n) {{ local {kind} t[64];
        event_t e = async_work_group_copy_2D2D(t, 0, a, n, sizeof({kind}), 8, 8, n, 8, 0);
        wait_group_events(1, &e); b[get_global_id(0)] = t[get_local_id(0)]; }}"""
    memory = [it.memory for block in built(source, "k").code.blocks for it in block.instructions]
    sizes = [it.size for it in memory if it is not None and it.space == "global" and it.op == "load"]
    assert sizes == loads


def test_an_unrolled_loop_runs_a_quarter_as_often() -> None:
    source = """kernel void k(global const float *a, global float *b, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += a[i * 64 + get_global_id(0)];
        b[get_global_id(0)] = s; }"""
    made = built(source, "k")
    blocks = made.code.blocks
    weights = block_weights(blocks, {1: 10.0, 2: 1030.0}, 10.0)
    copies = sum(weight * block.probes.get(2, 0) for weight, block in zip(weights, blocks, strict=True))
    assert copies == pytest.approx(1030)
    main = max(range(len(blocks)), key=lambda it: blocks[it].probes.get(2, 0))
    unrolled = blocks[main].probes[2]
    assert unrolled > 1
    assert weights[main] == pytest.approx(10 * (103 // unrolled))


def test_a_private_array_with_run_time_indices_stays_in_memory() -> None:
    source = """kernel void k(global float *b, global const int *i) { float t[32];
        for (int j = 0; j < 32; j++) t[i[j] & 31] = b[j];
        b[get_global_id(0)] = t[i[get_global_id(0)] & 31]; }"""
    for target, bytes_ in ((nvidia("sm_90"), 128), (amd("gfx90a"), 128)):
        assert built(source, "k", target).code.private_bytes >= bytes_


FILLED = "float t[64]; for (int k = 0; k < 64; k++) t[k] = a[(x + k) & 4095];"
READ = "float s = 0; for (int k = 0; k < n; k++) s += t[(k * 7) & 63] * {}; b[x] = s;"


@pytest.mark.parametrize("factor", ["(float)k", "1"])
@pytest.mark.parametrize("cpu", ["gfx90a", "gfx942", "gfx1030", "gfx1100"])
def test_a_kernel_whose_probes_a_scheduler_of_llvm_asserts_against_is_compiled(cpu: str, factor: str) -> None:
    """Registers are those of the code without probes, counts those of code that was not scheduled."""
    arguments = "global const float *a, global float *b, int n"
    source = f"kernel void k({arguments}) {{ int x = get_global_id(0); {FILLED} {READ.format(factor)} }}"
    made = built(source, "k", amd(cpu))
    given = PartialLaunch(None, (64,), (64,), arguments={"n": "10"})
    launch = resolve(read_program(source, "k.cl"), made.probed.kernel, given=given)
    assert isinstance(launch, Launch)
    assert sum(block.probes.get(2, 0) for block in made.code.blocks) == 64, "the loop is unrolled"
    model = load_model("amd-cdna3")
    found = profile(made, launch, model, ())
    assert not isinstance(found, str)
    requests = [it.requests for it in executed(made, found, model).accesses if it.site == 0]
    assert sum(requests) == 64
    assert made.code.private_bytes >= 256 and made.code.registers is not None


def test_what_is_not_compiled_is_named() -> None:
    source = """kernel void k(read_only image2d_t i, global float4 *o, sampler_t s) {
        *o = read_imagef(i, s, (int2)(0)); }"""
    program = read_program(source, "k.cl")
    assert compiled(program.kernels[0], nvidia("sm_90"), ()) == "images are not compiled"


def test_a_module_that_llvm_refuses_is_an_error_and_the_next_one_works() -> None:
    with pytest.raises(BackendError):
        assembly("define void @k( {", nvidia("sm_90"))
    with pytest.raises(BackendError):
        # A fatal error of the back end, which ends its process.
        text = 'target triple = "nvptx64-nvidia-cuda"\ntarget datalayout = ""\n'
        assembly(text + 'define void @k() { call void asm "nonsense $9", ""() ret void }', nvidia("sm_90"))
    assert built("kernel void k(global int *a) { *a = 1; }", "k").code.blocks


def test_the_command_line_gives_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "fixtures/matmul/coalesced_ab.cl")
    arguments = ["analyze", path, "--kernel", "mm_coalesced_ab", "--as-compiled", "--device", "nvidia-hopper"]
    assert cli.main([*arguments, "--format", "json"]) == 0
    kernel = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]
    whole = kernel["compiled"]
    assert whole["target"] == "nvptx sm_90"
    assert whole["registers"] > 8 and whole["local_bytes"] == 2048
    assert any(it["row"] == 21 and "ld.shared.v4" in it["text"] for it in whole["isa_lines"])
    tile = next(it for it in kernel["accesses"] if it["buffer"] == "a_tile" and it["op"] == "load")
    assert tile["compiled"]["instructions"] == [{"bytes": 16, "count": 4}]
    assert tile["compiled"]["requests"] * 4 == tile["totals"]["instructions"]
    assert cli.main(arguments) == 0
    assert "4 merged into one" in capsys.readouterr().out
    assert cli.main([*arguments[:-1], "arm-mali-g71", "--format", "json"]) == 0
    kernel = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]
    assert kernel["compiled"] is None and "no back end" in kernel["compiled_reason"]


def test_emulate_shows_sites_as_optimised(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "fixtures/matmul/coalesced_ab.cl")
    arguments = [
        "emulate",
        path,
        "--kernel",
        "mm_coalesced_ab",
        "--device",
        "nvidia-hopper",
        "--format",
        "json",
    ]
    cli.main(arguments)
    plain = json.loads(capsys.readouterr().out)
    cli.main([*arguments, "--access-view", "optimised"])
    seen = json.loads(capsys.readouterr().out)
    assert seen["access_view"] == "optimised"
    requests = [sum(it["requests"] for it in one["sites"]) for one in (seen, plain)]
    assert requests[0] < requests[1]
    assert seen["metrics"] == plain["metrics"]


def test_amd_code_is_read_into_loops() -> None:
    source = """kernel void k(global const float *a, global float *b, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += a[i * 64 + get_global_id(0)];
        b[get_global_id(0)] = s; }"""
    made = built(source, "k", amd("gfx942"))
    assert any(block.loop_depth == 1 and block.probes for block in made.code.blocks)
    assert amdgcn.read(made.code.text, "k").registers == made.code.registers


def test_a_struct_argument_is_read_as_words_and_its_fields_without_memory_requests() -> None:
    source = """typedef struct { int stride; float scale; double far; } Params;
        kernel void k(global float *p, global const float *a, Params par, int n) {
        int i = get_global_id(0);
        if (i < n) p[i] = a[i * par.stride] * par.scale + (float)par.far; }"""
    for target in (nvidia("sm_90"), amd("gfx90a")):
        made = built(source, "k", target)
        memory = [
            it.memory
            for block in made.code.blocks
            for it in block.instructions
            if it.memory is not None and it.memory.space == "global"
        ]
        assert sorted((it.op, it.size) for it in memory) == [("load", 4), ("store", 4)]
        assert not made.code.private_bytes


def test_a_load_whose_address_depends_on_data_is_not_called_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gather.cl"
    path.write_text(
        """kernel void k(global const float *x, global const int *at, global float *y) {
        int i = get_global_id(0); y[i] = x[at[i]]; }""",
        "utf-8",
    )
    cli.main(["analyze", str(path), "--as-compiled", "--device", "nvidia-hopper"])
    text = capsys.readouterr().out
    assert "x[at[i]]: 1 x 4 bytes; unknown in " in text
    assert "removed" not in text


@pytest.mark.parametrize(
    ("call", "shuffles", "votes"),
    [
        ("sub_group_reduce_add(x)", 5, 0),
        ("sub_group_scan_inclusive_max(x)", 5, 0),
        ("sub_group_scan_exclusive_add(x)", 6, 0),
        ("sub_group_broadcast(x, 3)", 1, 0),
        ("sub_group_shuffle_xor(x, 1)", 1, 0),
        ("as_float(sub_group_any(x > 0))", 0, 1),
        ("as_float(sub_group_ballot(x > 0).x)", 0, 1),
        ("(float)sub_group_reduce_add((double)x)", 10, 0),
        ("(float)sub_group_reduce_min((short)x)", 5, 0),
    ],
)
def test_sub_group_functions_have_the_shuffles_of_a_tree(call: str, shuffles: int, votes: int) -> None:
    source = f"kernel void k(global float *a) {{ int i = get_global_id(0); float x = a[i]; a[i] = {call}; }}"
    texts = [
        it.text for block in built(source, "k").code.blocks for it in block.instructions if it.memory is None
    ]
    assert sum(it.startswith("shfl") for it in texts) == shuffles
    assert sum(it.startswith("vote") for it in texts) == votes
    found = built(source, "k", amd("gfx90a")).code.blocks
    spaces = {it.memory.space for block in found for it in block.instructions if it.memory is not None}
    assert "local" not in spaces
    permutes = sum(it.text.startswith("ds_bpermute") for block in found for it in block.instructions)
    assert permutes >= 5 or shuffles < 2  # Single ones become moves that need no other unit.


def test_what_the_whole_work_group_shares_is_not_compiled() -> None:
    source = "kernel void k(global float *a) { a[get_global_id(0)] = work_group_reduce_add(a[0]); }"
    program = read_program(source, "k.cl")
    assert compiled(program.kernels[0], nvidia("sm_90"), ()) == "work_group_reduce_add is not compiled"


def test_a_kernel_unrolled_many_times_is_counted_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Each copy of a load is counted once: together they would exceed what one count may cost."""
    path = tmp_path / "conv.cl"
    path.write_text(
        "__kernel void conv(__global const float *in, __global float *out, int w, int h,"
        " __constant float *c) {\n int x = get_global_id(0), y = get_global_id(1);\n"
        " if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;\n float s = 0;\n"
        " for (int j = -1; j <= 1; ++j) for (int i = -1; i <= 1; ++i)\n"
        "  s += in[(y + j) * w + x + i] * c[(j + 1) * 3 + i + 1];\n out[y * w + x] = s;\n}\n"
    )
    shape = ["--global", "256,256", "--local", "16,16", "--arg", "w=256", "--arg", "h=256"]
    assert cli.main(["analyze", str(path), "--device", "nvidia-h200", "--as-compiled", *shape]) == 0
    shown = capsys.readouterr().out
    assert "9 x 4 bytes; 96,012 sectors in 18,432 requests" in shown
    assert "time: unknown" not in shown


def test_loops_up_to_and_with_a_limit_are_unrolled():
    """Signed counters never wrap (C99, 6.5), so that `k <= i` ends; clang and NVIDIA's compiler unroll it."""
    loads = {}
    for test in ("k < i", "k <= i", "k != i"):
        source = (
            "__kernel void sum(__global const float *a, __global float *b) { int i = get_global_id(0);"
            f" float s = 0; for (int k = 0; {test}; k++) s += a[k]; b[i] = s; }}"
        )
        code = built(source, "sum").code
        instructions = [it for block in code.blocks for it in block.instructions]
        loads[test] = sum(it.memory is not None and it.memory.op == "load" for it in instructions)
    assert loads["k <= i"] == loads["k < i"] > 3, loads


def test_overloads_of_a_kernel_are_compiled() -> None:
    """The second one's name has a `#`, which ended LLVM with a fatal error."""
    program = read_program(
        "kernel void k(global int *a) { a[get_global_id(0)] = 1; }\n"
        "kernel void k(global float *a) { a[get_global_id(0)] = 1; }\n",
        "kernel.cl",
    )
    assert len(program.kernels) == 2
    for kernel in program.kernels:
        for target in (nvidia("sm_90"), amd("gfx90a")):
            made = compiled(kernel, target, program.constants)
            assert isinstance(made, Compiled), made
            assert any(it.memory is not None for block in made.code.blocks for it in block.instructions)
