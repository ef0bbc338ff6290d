"""Helper functions put in the place of their calls."""

from __future__ import annotations

from ir_dump import dump

from clmap_lsp.source import inline, ir
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program


def program(source: str) -> Program:
    return read_program(source, "k.cl")


def check(source: str, expected: list[str]) -> Program:
    """Compare the statements of the first kernel, without the indentation and the declarations."""
    read = program(source)
    assert [it.message for it in read.problems] == []
    lines = [it.strip() for it in dump(read.kernels[0]).splitlines()[1:]]
    assert [it for it in lines if not it.startswith("declare ")] == expected
    return read


def test_a_call_becomes_a_scope_with_fresh_sites_and_its_way() -> None:
    source = """
    float twice(__global const float *p, int i) { return p[i] * 2; }
    __kernel void k(__global float *a) { a[0] = twice(a, 1) + twice(a + 4, 2); }
    """
    read = check(
        source,
        [
            "inline twice @1",
            "p = a",
            "i = 1:int",
            "%0 = load4 p[i*4] #0",
            "%0 = (%0 * 2.0:float)",
            "inline twice @2",
            "p = a[4:int*4]",
            "i = 2:int",
            "%0 = load4 p[i*4] #1",
            "%1 = (%0 * 2.0:float)",
            "store4 a[0:int*4] = (%0 + %1) #2",
        ],
    )
    kernel = read.kernels[0]
    assert kernel.n_sites == 3
    assert [it.function for it in kernel.frames[0]] == ["twice"]
    assert 2 not in kernel.frames
    calls = [source[it[0].call.start : it[0].call.end] for it in kernel.frames.values()]
    assert calls == ["twice(a, 1)", "twice(a + 4, 2)"]
    loads = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Load)]
    assert loads[0].variable is not loads[1].variable


def test_an_early_return_leaves_the_scope() -> None:
    check(
        """
        int f(int x) { if (x < 0) return 1; return x; }
        __kernel void k(__global int *a, int n) { a[0] = f(n); }
        """,
        [
            "inline f @1",
            "x = n",
            "if (x < 0:int)",
            "%0 = 1:int",
            "leave @1",
            "%0 = x",
            "store4 a[0:int*4] = %0 #0",
        ],
    )


def test_calls_of_calls_keep_the_whole_way() -> None:
    read = program(
        """
        void set(__global int *p) { *p = 1; }
        void outer(__global int *p) { set(p + 1); }
        __kernel void k(__global int *a) { outer(a); }
        """
    )
    assert [it.function for it in read.kernels[0].frames[0]] == ["outer", "set"]


def test_functions_may_be_called_before_they_are_defined_and_from_several_kernels() -> None:
    read = program(
        """
        int f(int);
        __kernel void k(__global int *a) { a[0] = f(2); }
        __kernel void l(__global int *a) { a[1] = f(3); }
        int f(int x) { return x + 1; }
        """
    )
    assert [it.name for it in read.kernels] == ["k", "l"]
    for kernel in read.kernels:
        assert any(isinstance(it, ir.Scope) for it in ir.walk(kernel.body))


def test_recursion_is_refused_with_a_message() -> None:
    read = program(
        "int f(int x) { return x ? f(x - 1) : 0; } __kernel void k(__global int *a) { a[0] = f(3); }"
    )
    (problem,) = read.problems
    assert problem.code == "recursion"
    assert "f" in problem.message
    opaque = [it for it in ir.walk(read.kernels[0].body) if isinstance(it, ir.OpaqueCall)]
    assert [it.reason for it in opaque] == ["recursion"]


def test_structs_are_copied_in_and_out() -> None:
    read = program(
        """
        typedef struct { int x, y; } P;
        P swap(P p) { P q; q.x = p.y; q.y = p.x; return q; }
        __kernel void k(__global P *a) { a[0] = swap(a[1]); }
        """
    )
    copies = [it for it in ir.walk(read.kernels[0].body) if isinstance(it, ir.CopyObject)]
    assert len(copies) == 3
    assert read.problems == ()


def test_overloads_are_told_apart_by_their_arguments() -> None:
    check(
        """
        float __attribute__((overloadable)) f(float x) { return x * 2; }
        float4 __attribute__((overloadable)) f(float4 x) { return x * 3; }
        __kernel void k(__global float4 *a) { a[0] = f(a[1]); }
        """,
        [
            "%0 = load16 a[1:int*16] #0",
            "inline f#1 @1",
            "x = %0",
            "%1 = (x * float4(3.0:float))",
            "store16 a[0:int*16] = %1 #1",
        ],
    )


def reasons_of(read: Program) -> tuple[int, set[str]]:
    """Return how many statements a program's kernel has, and why calls in it are not followed."""
    statements = list(ir.walk(read.kernels[0].body))
    return len(statements), {it.reason for it in statements if isinstance(it, ir.OpaqueCall)}


def test_inlining_stops_at_the_budget() -> None:
    body = "".join(f"p[{n}] = {n}; " for n in range(1000))
    calls = "".join(f"f(a + {n}); " for n in range(40))
    read = program(f"void f(__global int *p) {{ {body}}}\n__kernel void k(__global int *a) {{ {calls}}}")
    count, reasons = reasons_of(read)
    assert inline.BUDGET < count < inline.BUDGET + 1100
    assert reasons == {f"inlining stops after {inline.BUDGET} statements"}


def test_calls_of_calls_do_not_make_a_few_lines_a_long_kernel() -> None:
    levels = "void f0(__global int *p) { p[0] = 1; }\n"
    levels += "".join(
        f"void f{n}(__global int *p) {{ f{n - 1}(p); f{n - 1}(p + 1); }}\n" for n in range(1, 20)
    )
    count, reasons = reasons_of(program(levels + "__kernel void k(__global int *a) { f19(a); }"))
    (reason,) = reasons
    assert reason.startswith("inlining stops after ")
    assert count < 2 * (inline.BUDGET_OF_FEW + 100 * inline.BUDGET_A_STATEMENT)


def test_a_helper_that_is_not_reached_any_more_counts_for_the_budget_all_the_same() -> None:
    """An edit of it changes how many calls are followed: the kernel is put together anew."""
    levels = "void f0(__global int *p) { p[0] = 1; }\n"
    levels += "".join(
        f"void f{n}(__global int *p) {{ f{n - 1}(p); f{n - 1}(p + 1); }}\n" for n in range(1, 20)
    )
    after = "void last(__global int *p) {{ {} }}\n__kernel void k(__global int *a) {{ f19(a); last(a); }}"
    before = program(levels + after.format("p[0] = 1;"))
    text = levels + after.format("p[0] = 1; p[1] = 2; p[2] = 3;")
    edited, fresh = read_program(text, "k.cl", previous=before.cache), program(text)
    assert reasons_of(edited) == reasons_of(fresh) != reasons_of(before)


def test_constants_and_local_arrays_of_helpers_belong_to_the_kernel() -> None:
    read = program(
        """
        __constant float T[4] = {1, 2, 3, 4};
        __constant float U[2] = {5, 6};
        float f(int i) { return T[i]; }
        __kernel void k(__global float *a, int n) { a[0] = f(n); }
        __kernel void l(__global float *a) { a[0] = 1; }
        """
    )
    assert [[it.name for it in kernel.constants] for kernel in read.kernels] == [["T"], []]
    assert [it.data for it in read.constants][1] == bytes.fromhex("0000a0400000c040")


def test_labels_of_two_calls_are_kept_apart() -> None:
    read = program(
        """
        int f(int x) { if (x > 3) goto in; while (x > 9) { in: x /= 2; } return x; }
        __kernel void k(__global int *a) { a[0] = f(50) + f(60); }
        """
    )
    labels = [it.name for it in ir.walk(read.kernels[0].body) if isinstance(it, ir.Label)]
    assert len(set(labels)) == 2


def test_results_through_pointers_end_in_variables() -> None:
    read = check(
        """
        void ids(int *x, int *y) { *x = get_global_id(0); *y = get_global_id(1); }
        __kernel void k(__global float *a, int n) { int x, y; ids(&x, &y); a[y * n + x] = 0; }
        """,
        [
            "inline ids @1",
            "x = int(get_global_id(0))",
            "y = int(get_global_id(1))",
            "%2 = y",
            "%3 = x",
            "store4 a[((%2 * n) + %3)*4] = 0.0:float #0",
        ],
    )
    assert read.kernels[0].n_sites == 1


def test_a_variable_stays_in_memory_while_its_address_is_kept() -> None:
    read = program(
        """
        void set(int *x) { *x = 1; }
        __kernel void k(__global int *a, int n) { int x; int *p = &x; set(&x); a[*p] = 0; }
        """
    )
    kinds = {it.name: it.kind for it in read.kernels[0].variables}
    assert kinds["x"] is ir.VariableKind.PRIVATE_OBJECT
    sites = [it.site for it in ir.walk(read.kernels[0].body) if isinstance(it, ir.Load | ir.Store)]
    assert sites == list(range(read.kernels[0].n_sites))
