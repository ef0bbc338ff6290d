"""What statements and expressions become in the IR, read in its printed form."""

from __future__ import annotations

from textwrap import dedent

import pytest
from ir_dump import dump

from clmap_lsp.source import ir
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import MAX_LOOPS, read_program

PARAMETERS = (
    "__global float *a, __global const int *b, __global float4 *v, __local int *t, const int n, const float f"
)


def program(body: str, before: str = "") -> Program:
    return read_program(f"{before}\n__kernel void k({PARAMETERS}) {{ {body} }}", "k.cl")


def check(body: str, expected: str, before: str = "") -> None:
    """Compare the printed body of a kernel, its `declare` lines left out."""
    read = program(body, before)
    assert [it.message for it in read.problems] == []
    lines = dump(read.kernels[0]).splitlines()[1:]
    kept = [line[2:] for line in lines if not line.strip().startswith("declare ")]
    assert "\n".join(kept) == dedent(expected).strip("\n")


def test_a_compound_assignment_is_one_load_and_one_store_of_the_lvalue() -> None:
    check("a[n] += f;", "%0 = load4 a[n*4] #0\nstore4 a[n*4] = (%0 + f) #1")
    source = "__kernel void k(__global float *a, int n) { a[n] += 1.0f; }"
    kernel = read_program(source, "k.cl").kernels[0]
    spans = [it.span for it in ir.walk(kernel.body) if isinstance(it, ir.Load | ir.Store)]
    assert [source[it.start : it.end] for it in spans] == ["a[n]", "a[n]"]


def test_the_right_side_is_computed_before_the_place() -> None:
    check(
        "a[b[0]] = b[1];",
        """
        %0 = load4 b[1:int*4] #0
        %1 = load4 b[0:int*4] #1
        store4 a[%1*4] = float(%0) #2
        """,
    )


def test_operands_are_read_from_left_to_right_even_past_side_effects() -> None:
    check(
        "int i = n; int j = i + i++ * i;",
        """
        i = n
        %1 = i
        i = (%2 + 1:int)
        j = (%1 + (%2 * i))
        """.replace("%1 = i", "%3 = i\n        %2 = i").replace("%1 +", "%3 +"),
    )


def test_increments_inside_an_index_happen_once() -> None:
    check(
        "int i = n; a[i++] = 0; a[--i] = 1;",
        """
        i = n
        %1 = i
        i = (%1 + 1:int)
        store4 a[%1*4] = 0.0:float #0
        i = (i - 1:int)
        store4 a[i*4] = 1.0:float #1
        """,
    )


def test_a_load_behind_a_short_circuit_is_conditional() -> None:
    check(
        "if (n > 0 && b[n] > 1) a[0] = 1;",
        """
        if (n > 0:int)
          %0 = load4 b[n*4] #0
          %1 = (%0 > 1:int)
        else
          %1 = 0:int
        if %1
          store4 a[0:int*4] = 1.0:float #1
        """,
    )


def test_pure_logic_and_choices_stay_expressions() -> None:
    check("a[n > 0 && n < 9 ? n : 0] = f;", "store4 a[(((n > 0:int) && (n < 9:int)) ? n : 0:int)*4] = f #0")


def test_a_load_in_a_choice_is_conditional() -> None:
    check(
        "int x = n ? b[0] : 7; a[x] = 0;",
        """
        if n
          %1 = load4 b[0:int*4] #0
          %2 = %1
        else
          %2 = 7:int
        x = %2
        store4 a[x*4] = 0.0:float #1
        """,
    )


def test_loops() -> None:
    check(
        "for (int i = 0; i < n; i += 2) { if (b[i]) continue; if (i > 7) break; a[i] = 0; }",
        """
        i = 0:int
        while (i < n)
          %1 = load4 b[i*4] #0
          if %1
            continue
          if (i > 7:int)
            break
          store4 a[i*4] = 0.0:float #1
        step
          i = (i + 2:int)
        """,
    )
    check(
        "int i = n; do { i /= 2; } while (i && b[i]);",
        """
        i = n
        test
          if i
            %1 = load4 b[i*4] #0
            %2 = (%1 != 0:int)
          else
            %2 = 0:int
        do while %2
          i = (i / 2:int)
        """,
    )
    check("while (1) { break; }", "while forever\n  break")
    check("for (;;) return;", "while forever\n  return")


def test_unroll_pragmas_belong_to_their_loop() -> None:
    kernel = program("\n#pragma unroll 4\nfor (int i = 0; i < n; i++) a[i] = 0;\n").kernels[0]
    (loop,) = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop)]
    assert loop.unroll == 4


def test_switch_falls_through() -> None:
    check(
        "switch (n) { case 1: case 2: a[0] = 1; case 3: { a[1] = 2; break; } default: a[2] = 3; }",
        """
        switch n
        case 1, 2
          store4 a[0:int*4] = 1.0:float #0
        case 3
          store4 a[1:int*4] = 2.0:float #1
          break
        case default
          store4 a[2:int*4] = 3.0:float #2
        """,
    )


def test_goto_and_labels() -> None:
    check("again: if (n) goto again;", "scope @1\n  do while n")


def test_components_are_stored_on_their_own_and_read_with_their_vector() -> None:
    check("v[n].x = f;", "store4 v[n*16][0:int*4] = f #0")
    check("v[n].yz = (float2)(f, 1);", "store8 v[n*16][1:int*4] = float2(f, 1.0:float) #0")
    check(
        "v[n].xz = (float2)(f);",
        """
        %0 = float2(f)
        store4 v[n*16][0:int*4] = %0.s0 #0
        store4 v[n*16][2:int*4] = %0.s1 #1
        """,
    )
    check("a[0] = v[n].w;", "%0 = load16 v[n*16] #0\nstore4 a[0:int*4] = %0.s3 #1")


def test_swizzles_of_registers() -> None:
    check(
        "float4 q = (float4)(f); q.hi = q.lo; q.s0 += q.even.y; v[0] = q;",
        """
        q = float4(f)
        q = insert(q, s23, q.s01)
        q = insert(q, s0, (q.s0 + q.s02.s1))
        store16 v[0:int*16] = q #0
        """.replace("q.s02.s1", "q.s2"),
    )


def test_structs_are_copied_as_one() -> None:
    before = "typedef struct { float x; int n[2]; } S; "
    kernel = read_program(
        before + "__kernel void k(__global S *s, int i) { S q = s[i]; q.n[1] = 3; s[i + 1] = q; }", "k.cl"
    ).kernels[0]
    assert [line.strip() for line in dump(kernel).splitlines()[2:]] == [
        "copy S &q = s[i*12] #0 #1",
        "store4 &q.n[1:int*4] = 3:int #2",
        "copy S s[(i + 1:int)*12] = &q #3 #4",
    ]


def test_variables_whose_address_is_taken_live_in_memory() -> None:
    check("int x = n; int *p = &x; *p = 2;", "store4 &x = n #0\np = &x\nstore4 p = 2:int #1")


def test_arrays_of_arrays_keep_their_dimensions() -> None:
    check(
        "__local float m[4][5]; m[n][2] = f; a[0] = *(*(m + 1) + n);",
        """
        store4 &m[n*20][2:int*4] = f #0
        %1 = load4 &m[1:int*20][n*4] #1
        store4 a[0:int*4] = %1 #2
        """,
    )


def test_initialisers_fill_with_zero() -> None:
    check(
        "int x[3] = {[1] = 5}; a[0] = x[n];",
        """
        store4 &x[0:int*4] = 0:int #0
        store4 &x[1:int*4] = 0:int #1
        store4 &x[2:int*4] = 0:int #2
        store4 &x[1:int*4] = 5:int #3
        %1 = load4 &x[n*4] #4
        store4 a[0:int*4] = float(%1) #5
        """,
    )


def test_parameters_that_are_written_are_copied_first() -> None:
    kernel = read_program("__kernel void k(__global int *a, int n) { n *= 2; a[n] = 0; }", "k.cl").kernels[0]
    names = {it.name: it.kind for it in kernel.variables}
    assert names["n"] is ir.VariableKind.REGISTER
    assert "n = (n * 2:int)" in dump(kernel)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("barrier(CLK_LOCAL_MEM_FENCE);", ir.Barrier),
        ("mem_fence(CLK_GLOBAL_MEM_FENCE);", ir.Fence),
        ("atomic_add(t, 1);", ir.Atomic),
        ("atom_cmpxchg(t, 1, 2);", ir.Atomic),
        ('printf("%d\\n", n);', ir.Print),
        ("event_t e = async_work_group_copy(t, b, 4, 0); wait_group_events(1, &e);", ir.AsyncCopy),
        ("work_group_reduce_add(n);", ir.Collective),
        ("sub_group_shuffle_xor(f, 1u);", ir.Collective),
    ],
)
def test_effects_are_statements(body: str, kind: type) -> None:
    kernel = program(body).kernels[0]
    found = list(ir.walk(kernel.body))
    assert any(isinstance(it, kind) for it in found)
    assert not any(isinstance(it, ir.OpaqueCall | ir.Unsupported) for it in found)


def test_sites_are_dense_and_in_the_order_of_the_source() -> None:
    kernel = program("a[0] = b[0] + b[1]; if (n) a[1] = 2; atomic_inc(t); a[2] = 3;").kernels[0]
    sites = [it.site for it in ir.walk(kernel.body) if hasattr(it, "site")]
    assert sites == list(range(kernel.n_sites))


def test_an_undefined_name_is_reported_once_and_its_value_is_unknown() -> None:
    read = program("a[0] = WHAT + b[WHAT]; other(n); other(n + 1);")
    codes = sorted(it.code for it in read.problems)
    assert codes.count("unknown-function") <= 1
    assert codes.count("undefined-name") == 1
    assert sum(isinstance(it, ir.OpaqueCall) for it in ir.walk(read.kernels[0].body)) == 2


def test_shadowing() -> None:
    check(
        "int x = 1; { float x = f; a[0] = x; } a[x] = 2;",
        """
        x = 1:int
        x = f
        store4 a[0:int*4] = x #0
        store4 a[x*4] = 2.0:float #1
        """,
    )


def test_pointer_differences_and_comparisons() -> None:
    check(
        "__global float *p = a + n; a[p - a] = p > a;",
        """
        p = a[n*4]
        store4 a[((<long>(p) - <long>(a)) / 4:long)*4] = float((p > a)) #0
        """,
    )


def test_bit_fields_share_their_unit() -> None:
    source = """
    typedef struct { unsigned lo : 4; unsigned hi : 12; } B;
    __kernel void k(__global B *s, __global unsigned *o) { o[0] = s[0].hi; s[1].hi = 5; }
    """
    kernel = read_program(source, "k.cl").kernels[0]
    loads = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Load)]
    assert [it.size for it in loads] == [4, 4]
    assert "((%0 << 16:uint) >> 20:uint)" in dump(kernel)


def test_an_assignment_is_worth_what_the_variable_holds_afterwards() -> None:
    check(
        "int i = n, j; j = i = i + 1; j += ++i; a[j] = b[i] = i;".replace("b[i] = i", "i"),
        """
        i = n
        i = (i + 1:int)
        j = i
        i = (i + 1:int)
        j = (j + i)
        store4 a[j*4] = float(i) #0
        """,
    )


def test_comparisons_in_brackets_are_no_casts() -> None:
    check(
        "int q = 2; if ((n) >= (q) && (n) <= (q) + 4) a[0] = 1;",
        """
        q = 2:int
        if ((n >= q) && (n <= (q + 4:int)))
          store4 a[0:int*4] = 1.0:float #0
        """,
    )


ONCE = "do { float t = x; x = y; y = t; } while (%s)"


@pytest.mark.parametrize("never", ["0", " 0 ", "(0)", "false", "0u"])
def test_a_block_that_a_macro_puts_into_do_while_0_is_no_loop(never: str) -> None:
    text = "__kernel void k(__global float *o) {{ float x = o[0], y = o[1]; {}; o[2] = x - y; }}"
    program = read_program(text.format(ONCE % never), "k.cl")
    statements = list(ir.walk(program.kernels[0].body))
    assert not any(isinstance(it, ir.Loop) for it in statements)
    assert [str(it.variable.name) for it in statements if isinstance(it, ir.Assign)][-3:] == ["t", "x", "y"]


def test_what_leaves_do_while_0_keeps_it() -> None:
    text = "__kernel void k(__global int *o, int n) { do { if (n) break; o[0] = 1; } while (0); o[1] = 2; }"
    program = read_program(text, "k.cl")
    assert sum(isinstance(it, ir.Loop) for it in ir.walk(program.kernels[0].body)) == 1


def test_blocks_of_macros_do_not_count_as_loops() -> None:
    text = "__kernel void k(__global int *o) { " + "do { o[0]++; } while (0); " * (2 * MAX_LOOPS) + "}"
    program = read_program(text, "k.cl")
    assert [it.message for it in program.problems] == []
    assert len(program.kernels) == 1
