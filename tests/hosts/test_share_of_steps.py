"""Programs that cost much to follow leave enough to follow what launches by itself."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings
from clmap_lsp.hosts.budget import STEPS, STEPS_A_CHARACTER, Budget
from clmap_lsp.hosts.launches import HostReader, launches_of
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


def steps_of(folder: Path, count: int) -> tuple[int, int]:
    """Return the steps that some functions of a module of Python take, and the launches that they make."""
    folder.mkdir()
    (folder / "k.cl").write_text(KERNEL)
    function = (
        "N{0} = {0} * 64 + 64\ndef run{0}(queue, buf, n=N{0}):\n    prg.k(queue, (n,), (64,), buf, n)\n"
    )
    head = 'import pyopencl as cl\nprg = cl.Program(ctx, open("k.cl").read()).build()\n'
    (folder / "main.py").write_text(head + "".join(function.format(it) for it in range(count)))
    project = project_of(str(folder))
    before = project.budget.steps = 10_000_000
    found = HostReader(project).report(project.launching_files)
    return before - project.budget.steps, len(found.launches)


def test_a_module_of_python_is_run_once_and_not_for_each_function_that_launches(tmp_path: Path):
    few, launches = steps_of(tmp_path / "few", 200)
    many, more = steps_of(tmp_path / "many", 800)
    assert (launches, more) == (200, 800)
    assert many < 5 * few, "with the number of its functions, and not its square"


def test_each_function_of_a_module_starts_from_what_the_module_leaves(tmp_path: Path):
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "main.py").write_text("""import pyopencl as cl
prg = cl.Program(ctx, open("k.cl").read()).build()
SIZES = [32]
AT = {"x": 128}
def first(queue, buf):
    SIZES.append(7)
    AT["x"] = 9
    prg.k(queue, (SIZES[0],), (AT["x"],), buf, 1)
def second(queue, buf):
    prg.k(queue, (SIZES[0] * 2,), (AT["x"],), buf, 2)
""")
    found = launches_of(project_of(str(tmp_path))).launches
    sizes = [(it.global_size[0].number, it.local_size[0]) for it in found]
    assert [size for size, _ in sizes] == [32, 64]
    assert sizes[1][1] is not None and sizes[1][1].number == 128


def test_objects_of_one_class_that_are_made_in_a_thousand_ways_are_known_by_what_they_agree_in(
    tmp_path: Path,
):
    (tmp_path / "k.cl").write_text(KERNEL)
    made = "".join(f"  R r{it}({it}, 64);\n" for it in range(300))
    (tmp_path / "main.cpp").write_text(f"""#include <CL/cl.hpp>
class R {{ public: size_t g, l; cl::Kernel k; R(size_t a, size_t b) : g(a), l(b) {{ k = cl::Kernel(p, "k"); }}
  void run() {{ queue.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(g), cl::NDRange(l)); }} }};
void make() {{
{made}}}
""")
    project = project_of(str(tmp_path))
    found = launches_of(project).launches
    assert [it.local_size[0] and it.local_size[0].number for it in found] == [64]
    assert found[0].global_size[0].number is None
    assert len(project.constructed["R"]) <= 64
