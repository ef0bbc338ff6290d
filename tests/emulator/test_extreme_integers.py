"""Arithmetic at the ends of integers, by work-item: the symbolic engine against Python's own integers."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic import count
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin
from clmap_lsp.source.read import read_program

DEVICE = load_model("nvidia-hopper")
ITEMS = 100
BITWISE = ("/", "%", ">>", "&", "|", "^")
"""Operations that leave no result open but for a divisor of 0."""
TYPES = {"int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False)}


def wrapped(value: int, name: str) -> int:
    bits, is_signed = TYPES[name]
    value %= 1 << bits
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def done(op: str, one: int, two: int, name: str) -> int | None:
    """Return what C gives; `None` where it leaves the result open."""
    bits, is_signed = TYPES[name]
    if op in ("/", "%"):
        if two == 0 or (is_signed and one == -(1 << (bits - 1)) and two == -1):
            return None
        quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
        return wrapped(quotient if op == "/" else one - quotient * two, name)
    if op in ("<<", ">>"):
        by = two % bits
        return wrapped(one << by if op == "<<" else one >> by, name)
    found = {"&": one & two, "|": one | two, "^": one ^ two, "+": one + two, "-": one - two, "*": one * two}[
        op
    ]
    is_open = is_signed and op in "+-*" and found != wrapped(found, name)
    return None if is_open else wrapped(found, name)


def branches(
    name: str, first: tuple[int, int], ops: tuple[str, str], second: tuple[int, int]
) -> Counter[int]:
    """Return how many work-items the engine sees in each branch."""
    _, is_signed = TYPES[name]
    plain = "l" if is_signed else "ul"
    source = f"""
__kernel void k(__global int *a) {{
  const {name} i = get_global_id(0), l = get_local_id(0);
  const {name} one = ({name})({first[0]}{plain}) << i;
  const {name} two = (({name})({second[0]}{plain}) + l * {second[1]}) | 1;
  const {name} v = (one {ops[0]} two) {ops[1]} ({name})({first[1]});
  switch ((int)(v & 3)) {{
    case 0: a[0 + i] = 1; break;
    case 1: a[1000 + i] = 1; break;
    case 2: a[2000 + i] = 1; break;
    default: a[3000 + i] = 1;
  }}
}}"""
    program = read_program(source, "k.cl")
    assert not program.problems, program.problems
    launch = Launch("k", (ITEMS,), (32,), {"a": BufferArgument(Fill.ZEROS, 4096)}, Origin.GIVEN, frozenset())
    result = count(program.kernels[0], launch, DEVICE)
    assert result.is_exact
    return Counter({site: it.executions for site, it in result.sites.items() if it.executions})


def expected(
    name: str, first: tuple[int, int], ops: tuple[str, str], second: tuple[int, int]
) -> Counter[int] | None:
    bits, _ = TYPES[name]
    found: Counter[int] = Counter()
    for i in range(ITEMS):
        one = wrapped(wrapped(first[0], name) << i % bits, name)
        two = wrapped(second[0] + i % 32 * second[1], name) | 1
        half = done(ops[0], one, two, name)
        value = None if half is None else done(ops[1], half, wrapped(first[1], name), name)
        if value is None:
            return None
        found[value & 3] += 1
    return found


def test_the_least_long_is_divided() -> None:
    """65 << 63 is the least long, which has no absolute value among longs."""
    case = ("long", (65, 1), ("/", "/"), (-1 + (1 << 32), 1))
    assert branches(*case) == expected(*case)


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=60, deadline=None)
@given(
    first=st.tuples(st.integers(0, (1 << 31) - 1), st.integers(1, 1000)),
    ops=st.tuples(st.sampled_from((*BITWISE, "<<", "+", "-", "*")), st.sampled_from(BITWISE)),
    second=st.tuples(st.integers(0, (1 << 31) - 1), st.integers(0, 5)),
)
def test_results_are_those_of_c(
    name: str, first: tuple[int, int], ops: tuple[str, str], second: tuple[int, int]
) -> None:
    wanted = expected(name, first, ops, second)
    if wanted is not None:
        assert branches(name, first, ops, second) == wanted


COMPARISONS = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__}


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=60, deadline=None)
@given(
    first=st.tuples(st.integers(0, (1 << 31) - 1), st.integers(0, 63)),
    second=st.tuples(st.integers(0, (1 << 31) - 1), st.integers(0, 63), st.booleans()),
    comparison=st.sampled_from(sorted(COMPARISONS)),
)
def test_numbers_far_apart_compare_as_in_c(
    name: str, first: tuple[int, int], second: tuple[int, int, bool], comparison: str
) -> None:
    """Their difference may be no number of their type."""
    bits, is_signed = TYPES[name]
    plain = "l" if is_signed else "ul"
    source = f"""
__kernel void k(__global int *a) {{
  const {name} i = get_global_id(0);
  const {name} one = (({name}){first[0]}{plain} + i) << {first[1]};
  const {name} two = (({name}){second[0]}{plain}{" + i" if second[2] else ""}) << {second[1]};
  if (one {comparison} two) a[i] = 1; else a[1000 + i] = 1;
}}"""
    program = read_program(source, "k.cl")
    launch = Launch("k", (ITEMS,), (32,), {"a": BufferArgument(Fill.ZEROS, 4096)}, Origin.GIVEN, frozenset())
    result = count(program.kernels[0], launch, DEVICE)
    wanted: Counter[int] = Counter()
    for i in range(ITEMS):
        one = wrapped(wrapped(first[0] + i, name) << first[1] % bits, name)
        two = wrapped(wrapped(second[0] + i * second[2], name) << second[1] % bits, name)
        wanted[0 if COMPARISONS[comparison](one, two) else 1] += 1
    assert result.is_exact
    assert {site: it.executions for site, it in result.sites.items() if it.executions} == dict(wanted)


@pytest.mark.parametrize("target", ["long", "int", "uchar", "ulong"])
def test_large_unsigned_numbers_are_saturated(target: str) -> None:
    source = f"""
__kernel void k(__global int *a) {{
  const ulong i = get_global_id(0);
  const {target} v = convert_{target}_sat((i << 62) | i);
  if (v == ({target})((i << 62) | i)) a[i] = 1; else a[1000 + i] = 1;
}}"""
    program = read_program(source, "k.cl")
    launch = Launch("k", (ITEMS,), (32,), {"a": BufferArgument(Fill.ZEROS, 4096)}, Origin.GIVEN, frozenset())
    result = count(program.kernels[0], launch, DEVICE)
    most = {"long": (1 << 63) - 1, "int": (1 << 31) - 1, "uchar": 255, "ulong": (1 << 64) - 1}[target]
    bits = {"long": 64, "int": 32, "uchar": 8, "ulong": 64}[target]
    same = sum(
        min(number, most) % (1 << bits) == number % (1 << bits)
        for number in ((i << 62) % (1 << 64) | i for i in range(ITEMS))
    )
    assert result.is_exact
    assert sum(it.executions for it in result.sites.values()) == ITEMS
    assert next(it.executions for site, it in result.sites.items() if site == 0) == same
