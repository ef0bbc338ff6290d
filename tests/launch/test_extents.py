"""What a launch touches of its buffers, by intervals: bounds hold, and working them out ends."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.launch.extents import Sizes, find_extents
from clmap_lsp.source.read import read_program


def extents_of(body):
    program = read_program(f"__kernel void k(__global int *a, __global int *b) {{ {body} }}", "k.cl")
    (kernel,) = program.kernels
    found = find_extents(kernel, Sizes((64, 1, 1), (16, 1, 1), {}))
    names = {it.name for it in found.unknown}
    return {it.name: end for it, end in found.end.items()}, names


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("a[get_global_id(0) + 1] = 0;", 65 * 4),
        ("for (int i = 0; i < 10; i++) a[i * 3] = 0;", 28 * 4),
        ("for (int i = 10; i-- > 0;) a[i] = 0;", 10 * 4),
        ("int i = 10; while (i--) a[i] = 0;", 10 * 4),
        ("int i = 0; while (i++ < 10) a[i] = 0;", 11 * 4),
        ("for (int i = 10; --i >= 0;) a[i] = 0;", 10 * 4),
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) a[i * 5 + j] = 0;", 20 * 4),
    ],
)
def test_what_is_touched(body, end):
    assert extents_of(body) == ({"a": end}, set())


def test_loops_in_loops_are_walked_in_time():
    """Each was walked twice: sixty of them would have taken longer than anybody lives."""
    nest = "".join(f"for (int i{at} = 0; i{at} < 8; i{at}++) " for at in range(60))
    ends, unknown = extents_of(f"b[get_local_id(0)] = 1; {nest} a[i0 + i59] = 0;")
    assert ends["b"] == 16 * 4
    assert "a" in unknown or ends["a"] >= 15 * 4


def test_numbers_beyond_64_bits_are_unknown():
    """Forty squares of 3 have half a million million digits."""
    assert extents_of("int v = 3; " + "v *= v; " * 40 + "a[v] = 0;") == ({}, {"a"})
    assert extents_of("long v = 3; " + "v = mad24(v, v, v); " * 40 + "a[v] = 0;") == ({}, {"a"})


@pytest.mark.parametrize(
    ("index", "elements"),
    [
        ("c[get_global_id(0)]", 256),
        ("(uchar)b[get_global_id(0)]", 256),
        ("s[get_global_id(0)]", 65_536),
        ("b[get_global_id(0)] & 63", 64),
        ("(uint)b[get_global_id(0)] % 10u", 10),
        ("(uint)b[get_global_id(0)] >> 24", 256),
        ("b[get_global_id(0)] % 10", 10),
    ],
)
def test_types_and_masks_bound_what_data_reach(index, elements):
    parameters = "__global int *a, __global int *b, __global const uchar *c, __global const ushort *s"
    program = read_program(f"__kernel void k({parameters}) {{ a[{index}] = 1; }}", "k.cl")
    found = find_extents(program.kernels[0], Sizes((64, 1, 1), (16, 1, 1), {}))
    by_name = {it.name: end for it, end in found.end.items()}
    assert by_name["a"] == elements * 4
    assert not found.unknown


@pytest.mark.parametrize("index", ["b[get_global_id(0)]", "b[get_global_id(0)] & -2", "b[0] >> 2"])
def test_what_bounds_little_leaves_it_unknown(index):
    assert extents_of(f"a[{index}] = 1;")[1] == {"a"}


@pytest.mark.parametrize(
    ("body", "elements"),
    [
        ("for (int j = 0; j < 4; j++) if (j == 2) { i = 100; break; } a[i] = 0;", 101),
        ("for (int j = 0; j < 3; j++) { a[i] = 0; if (j == 1) { i = 100; continue; } i = 1; }", 101),
        ("for (int j = 0; j < 3; j++) { k = i; if (j == 1) { i = 50; continue; } i = 1; } a[k] = 0;", 51),
        ("switch (b[0]) { case 1: i = 50; case 2: a[i] = 1; break; default: a[0] = 1; }", 51),
        ("switch (b[0]) { case 1: i = 50; break; case 2: i = 70; } a[i] = 1;", 71),
        ("while (1) { i += 3; if (i > 40) break; } a[i] = 0;", 44),
        ("while (1) { if (i >= 40) break; a[i] = 0; i += 8; }", 40),
        (
            "for (int j = 0; j < 9; j++) { if (j == 3) switch (k) { case 0: i = 90; continue; } } a[i] = 0;",
            91,
        ),
    ],
)
def test_ways_through_a_kernel(body, elements):
    """What held at a `break`, at a `continue` and where a case is fallen into was lost."""
    ends, unknown = extents_of(f"int i = 0, k = 0; {body}")
    assert (ends["a"], unknown) == (elements * 4, set())


def test_where_jumps_lead_is_unknown():
    ends, unknown = extents_of(
        "int i = 0; if (b[0]) goto in; while (b[1]) { a[i] = 0; in: i = 90; a[i] = 1; }"
    )
    assert "a" in unknown
    assert "b" in unknown or ends["b"] == 8


@pytest.mark.parametrize(
    "body",
    [
        "for (int c = 10, i = 0; c; --c, ++i) a[i] = 0;",
        "int c = 10, i = 0; while (c--) a[i++] = 0;",
        "int c = 10; __global int *p = a; while (c--) *p++ = 0;",
        "for (int c = 10, i = 0; !(c <= 0); c--) { a[i] = 0; i++; }",
        "int i = 0; while (1) { a[i] = 0; if (++i == 10) break; }",
        "int i = 0; for (;;) { if (i > 9) return; a[i] = 0; i++; }",
        "int i = 0; do { a[i] = 0; if (i == 9) break; } while (++i);",
        "__global int *p = a, *e = a + 10; while (p != e) *p++ = 0;",
        "__global int *p = a; const __global int *e = a + 10; for (; p < e; ++p) *p = 0;",
    ],
)
def test_loops_end_where_their_tests_say(body):
    """Where only `i < n` was known as a test, one turn was followed: a buffer of one element."""
    ends, unknown = extents_of(body)
    assert 10 <= ends["a"] / 4 <= 13
    assert not unknown


def test_what_a_loop_does_until_data_end_it_is_unknown():
    _, unknown = extents_of("int i = 0, go = 1; while (go) { a[i] = 0; i += 2; go = b[0] > i; }")
    assert "a" in unknown


@given(st.integers(0, 2**32))
def test_nothing_is_touched_beyond_what_is_said(seed):
    """A kernel of branches, loops, breaks and continues, run in Python beside."""
    written, touched = _Written(random.Random(seed)), 0
    lines = written.block(3)
    for work_item in range(8):
        values = {"i": 0, "k": 0, "g": work_item}
        touched = max([touched, *_run(lines, values)[1]])
    body = f"int i = 0, k = 0, g = get_local_id(0); {_text(lines)}"
    ends, unknown = extents_of(body.replace("get_local_id(0)", "(get_local_id(0) & 7)"))
    assert "a" in unknown or ends.get("a", 0) >= touched * 4, body


class _Written:
    """Makes statements: (kind, parts)."""

    def __init__(self, random_):
        self.random, self.loops = random_, 0

    def block(self, depth, in_loop=()):
        return [self.statement(depth, in_loop) for _ in range(self.random.randint(1, 4))]

    def statement(self, depth, in_loop):
        kinds = ["set", "add", "touch", "touch"]
        kinds += ["if", "if", "for", "switch"] * (depth > 0) + ["break", "continue"] * bool(in_loop)
        match self.random.choice(kinds):
            case "set":
                return (
                    "set",
                    self.random.choice("ik"),
                    self.random.choice(["7", "100", "i", "k", "g", *in_loop]),
                )
            case "add":
                return "add", self.random.choice("ik"), self.random.randint(1, 5)
            case "if":
                return (
                    "if",
                    self.test(in_loop),
                    self.block(depth - 1, in_loop),
                    self.block(depth - 1, in_loop),
                )
            case "for":
                self.loops += 1
                name = f"j{self.loops}"
                return "for", name, self.random.randint(0, 5), self.block(depth - 1, (*in_loop, name))
            case "switch":
                value = self.random.choice(["g", *in_loop])
                cases = self.random.sample(range(4), self.random.randint(1, 3))
                inside = [(it, self.case(depth - 1, in_loop)) for it in cases]
                return "switch", value, inside
            case kind:
                return (kind, self.random.choice("ik")) if kind == "touch" else (kind,)

    def case(self, depth, in_loop):
        return [it for it in self.block(depth, in_loop) if it[0] != "break"]

    def test(self, in_loop):
        name = self.random.choice(["i", "k", "g", *in_loop])
        return name, self.random.choice(["==", "<", ">", ">=", "!="]), self.random.randint(0, 8)


def _text(lines):
    return " ".join(map(_line, lines))


def _line(line):
    match line:
        case "set", name, value:
            return f"{name} = {value};"
        case "add", name, value:
            return f"{name} += {value};"
        case "touch", name:
            return f"a[{name}] = 1;"
        case "if", (name, op, value), then, otherwise:
            return f"if ({name} {op} {value}) {{ {_text(then)} }} else {{ {_text(otherwise)} }}"
        case "for", name, count, body:
            return f"for (int {name} = 0; {name} < {count}; {name}++) {{ {_text(body)} }}"
        case "switch", value, cases:
            inside = " ".join(f"case {number}: {_text(body)}" for number, body in cases)
            return f"switch ({value}) {{ {inside} }}"
        case (jump,):
            return f"{jump};"


def _run(lines, values):
    """Return the jump that ends a block, and how many elements each access reaches."""
    touched = []
    for line in lines:
        jump = None
        match line:
            case "set", name, value:
                values[name] = int(value) if value.isdigit() else values[value]
            case "add", name, value:
                values[name] += value
            case "touch", name:
                touched.append(values[name] + 1)
            case "if", (name, op, value), then, otherwise:
                holds = {
                    "==": values[name] == value,
                    "<": values[name] < value,
                    ">": values[name] > value,
                    ">=": values[name] >= value,
                    "!=": values[name] != value,
                }[op]
                jump, found = _run(then if holds else otherwise, values)
                touched += found
            case "for", name, count, body:
                for turn in range(count):
                    values[name] = turn
                    left, found = _run(body, values)
                    touched += found
                    if left == "break":
                        break
            case "switch", value, cases:
                numbers = [number for number, _ in cases]
                if values[value] in numbers:
                    for _, body in cases[numbers.index(values[value]) :]:
                        jump, found = _run(body, values)
                        touched += found
                        if jump is not None:
                            break
                    jump = None if jump == "break" else jump
            case (jump,):
                pass
        if jump is not None:
            return jump, touched
    return None, touched


def test_memory_of_the_work_item_has_no_extent_and_hides_none():
    body = "int t[8]; for (int i = 0; i < 8; i++) t[i] = b[i]; uchar u[4]; u[0] = t[1]; "
    end, unknown = extents_of(body + "a[t[2]] = 1; b[u[0]] = 2;")
    assert end == {"b": 256 * 4}
    assert unknown == {"a"}
