"""Programs that cost much to follow leave enough to follow what launches by itself."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings
from clmap_lsp.hosts.budget import STEPS, STEPS_A_CHARACTER, Budget
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.values import MAX_EXTENT, Number, RunTime, Sizes, Value
from clmap_lsp.workbench.hosts import HostFiles, project_of

KERNEL = (
    "__kernel void k(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] = 1.0f; }\n"
)
LAUNCH = """\
#include <CL/cl.h>
void launch_k(cl_program p, cl_command_queue q, cl_mem a) {
  cl_kernel k = clCreateKernel(p, "k", 0);
  int n = 1000;
  clSetKernelArg(k, 0, sizeof a, &a);
  clSetKernelArg(k, 1, sizeof n, &n);
  size_t global = 1024, local = 64;
  clEnqueueNDRangeKernel(q, k, 1, 0, &global, &local, 0, 0, 0);
}
"""


def test_a_launch_beside_a_busy_program_is_found(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    kernel = tmp_path / "k.cl"
    kernel.write_text(KERNEL)
    (tmp_path / "launch.c").write_text(LAUNCH)
    busy = "  s = s * 3 + argc;\n" * 26_000
    program = f"int main(int argc, char **argv) {{\n  int s = 0;\n{busy}  launch_k(0, 0, 0);\n}}\n"
    (tmp_path / "main.c").write_text(program)
    facts = HostFiles().facts(str(kernel), KERNEL, Settings())
    assert [it.number for it in facts.launches["k"].global_size] == [1024]


def test_half_of_the_steps_is_kept_and_what_was_left_out_is_said():
    budget = Budget(steps=100)
    with budget.half_of_steps():
        assert budget.take_steps(50)
        assert not budget.take_steps(1)
    assert budget.is_spent
    assert budget.take_steps(40)
    unspent = Budget(steps=100)
    with unspent.half_of_steps():
        unspent.take_steps(20)
    assert (unspent.steps, unspent.is_spent) == (80, False)


def test_steps_are_in_proportion_to_the_text_that_launches(tmp_path: Path):
    (tmp_path / "k.cl").write_text(KERNEL)
    doubled = "".join(
        f"void f{it}(cl_kernel k, size_t g) {{ f{it + 1}(k, g + 1); f{it + 1}(k, g * 2); }}\n"
        for it in range(60)
    )
    last = "void f60(cl_kernel k, size_t g) { clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0, 0, 0, 0); }\n"
    program = f"#include <CL/cl.h>\n{doubled}{last}int main() {{ cl_kernel k; f0(k, 64); }}\n"
    (tmp_path / "main.c").write_text(program)
    project = project_of(str(tmp_path))
    before = project.budget.steps
    report = launches_of(project)
    assert report.is_cut_short
    assert project.budget.steps < STEPS + STEPS_A_CHARACTER * len(program) < before / 100


def test_what_a_list_of_lists_holds_is_bounded():
    value: Value = Number(1)
    for _ in range(40):
        value = Sizes((value,) * 9)
        assert value.extent <= MAX_EXTENT
    assert isinstance(value, Sizes)
    assert len(value.items) == 9
    assert RunTime("…") in Sizes((Sizes((Number(1),) * 4000),) * 2).items
    pairs = tuple(Sizes((Number(it), Number(1))) for it in range(200))
    assert Sizes(pairs).items == pairs
