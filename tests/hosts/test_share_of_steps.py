"""Programs that cost much to follow leave enough to follow what launches by itself."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings
from clmap_lsp.hosts.budget import Budget
from clmap_lsp.workbench.hosts import HostFiles

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
