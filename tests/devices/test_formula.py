"""Counts for every N: the printed formula against counting the lanes."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import drawn

from clmap_lsp.devices import Unknown, load_model
from clmap_lsp.devices.formula import Access, Formula, formula_for
from clmap_lsp.devices.rules import simd_groups

ALL_N = np.arange(1, 5001)


def access(
    index, local_size=(32, 1), *, width=4, space="global", op="load", model="generic-gpu", guard="True"
):
    """Make the access of every SIMD group of one work-group from a C-like index, affine in N."""
    device = load_model(model)
    linear = simd_groups(local_size, device)
    lx, ly = linear % local_size[0], linear // local_size[0]

    def at(n):
        value = eval(index.replace("/", "//"), {"lx": lx, "ly": ly, "N": n})
        return np.broadcast_to(value, linear.shape).astype(np.int64) * width

    active = (linear >= 0) & eval(guard, {"lx": lx, "ly": ly})
    assert (at(7) - at(6) == at(1) - at(0)).all(), "not affine in N"
    return Access(at(0), at(1) - at(0), active, width, op, space, device)


def formula(index, local_size=(32, 1), **more):
    return formula_for(access(index, local_size, **more))


def read_back(text):
    """Turn the words of a formula into a function of N that gives the count per request."""
    main, _, exceptions = text.partition("; ")
    main = re.sub(r"^for N >= \d+: ", "", main)
    main = re.sub(r" for every N$| for N >= \d+$", "", main)
    special = {}
    for clause in re.findall(r"([\d./]+) for N = ([^,]+)(?:, |$)", exceptions):
        for part in clause[1].split(" or "):
            low, _, high = part.partition("..")
            special |= dict.fromkeys(range(int(low), int(high or low) + 1), Fraction(clause[0]))
    unit = r" (?:sectors?|wavefronts?|cache lines?|pass(?:es)?)\b"
    main = re.sub(unit, "", main)
    main = re.sub(r" is (odd|even)\b", lambda it: f" % 2 == {int(it[1] == 'odd')}", main)
    main = re.sub(r"^(.*) unless (.*), then (.*)$", r"\3 if \2, else \1", main)
    main = re.sub(r"^(.*?), but (.*)$", r"\2, else \1", main)
    cases = []
    for clause in re.split(r", (?=[\d./]+ if |else )", main):
        value, _, condition = clause.removeprefix("else ").partition(" if ")
        condition = re.sub(r"\{(.*)\}", lambda it: f"[{ranges(it[1])}]", condition) or "True"
        cases.append((condition, value))

    def evaluate(n):
        if n in special:
            return special[n]
        names = {"N": n, "gcd": math.gcd, "min": min, "max": max, "Fraction": Fraction}
        value = next(value for condition, value in cases if eval(condition, names))
        exact = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)(?![\w.])", r"Fraction('\1')", value)
        return eval(re.sub(r"gcd\(([^,]*), ([^)]*\))\)", r"gcd(int(\1), int(\2))", exact), names)

    return evaluate


def ranges(text):
    """Write `1, 3..5` as `1, *range(3, 6)`."""
    return re.sub(r"(\d+)\.\.(\d+)", lambda it: f"*range({it[1]}, {int(it[2]) + 1})", text)


SUMMED_UP = re.compile("up to|growing|for a smaller")
small_coefficient = st.integers(-9, 9)
shapes = st.sampled_from([(32, 1), (16, 2), (8, 8), (16, 4), (4, 4), (5, 7)])
affine = st.builds(
    "({}*N + {})*lx + ({}*N + {})*ly + {}*N + {}".format,
    *[small_coefficient] * 5,
    st.integers(-64, 64),
)


@settings(max_examples=drawn(150, 2000))
@given(
    affine,
    shapes,
    st.sampled_from(["global", "local"]),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from(["load", "store"]),
    st.sampled_from(["True", "True", "lx % 2 == 0", "lx > ly"]),
)
def test_the_printed_formula_is_right_for_every_n(index, local_size, space, width, op, guard):
    given_access = access(index, local_size, width=width, space=space, op=op, guard=guard)
    found = formula_for(given_access)
    assert isinstance(found, Formula)
    enumerated = given_access.totals(ALL_N)
    assert [found.evaluate(n) for n in ALL_N.tolist()] == enumerated.tolist()
    if not found.requests:
        assert found.describe() == "never executed"
        return
    assert found.is_tabulated
    checked = np.unique(np.concatenate([ALL_N[: found.settled + 260], ALL_N[::97]])).tolist()
    brief = found.describe()
    counts = {Fraction(it, found.requests) for it in (*found.table, *found.small)}
    is_whole = not SUMMED_UP.search(brief) and all(Fraction(f"{float(it):.4f}") == it for it in counts)
    for words in (found.describe_fully(), *([brief] if is_whole else [])):
        said = read_back(words)
        assert [said(n) * found.requests for n in checked] == enumerated[np.array(checked) - 1].tolist()
    least = min(found.small if "growing" in brief else found.table) / found.requests
    named = re.match(r"(?:for N >= \d+: )?([\d.]+)", brief)
    assert named is not None and float(named[1]) == pytest.approx(least, rel=0.01), (
        "the good case comes first"
    )


@pytest.mark.parametrize(
    "model", ["amd-cdna3", "amd-cdna4", "nvidia-fermi", "nvidia-kepler", "intel-xe-hpg", "cpu"]
)
@pytest.mark.parametrize("space", ["global", "local", "constant"])
@pytest.mark.parametrize("index", ["lx*N + ly", "ly*N + lx", "lx*(N+3) + 5", "(lx^1)*N", "lx*8 + ly*N"])
def test_other_devices_follow_the_same_argument(model, space, index):
    given_access = access(index, (16, 16), space=space, model=model)
    found = formula_for(given_access)
    assert [found.evaluate(n) for n in ALL_N.tolist()] == given_access.totals(ALL_N).tolist()


@pytest.mark.parametrize(
    ("index", "local_size", "space", "text"),
    [
        ("ly*N + lx", (32, 2), "global", "4 sectors if N % 8 == 0, else 4.5"),
        ("lx", (32, 1), "global", "4 sectors for every N"),
        ("5", (32, 1), "global", "1 sector for every N"),
        ("3*N + lx", (32, 1), "global", "4 sectors if N % 8 == 0, else 5"),
        ("lx*N", (32, 1), "global", "4 sectors if N == 1, growing to 32 at N = 8"),
        ("lx/4*512 + lx%4", (32, 1), "global", "8 sectors for every N"),
        ("lx*N", (32, 1), "local", "1 wavefront if N is odd, else gcd(N, 32)"),
        ("lx*(N + 1)", (32, 1), "local", "1 wavefront if N is even, else gcd(N + 1, 32)"),
        ("lx*2*N", (32, 1), "local", "2 wavefronts if N is odd, else 2 * gcd(N, 16)"),
        ("lx*N", (16, 2), "local", "1 wavefront unless N % 4 == 0, then gcd(N, 32) / 2"),
        ("ly*32 + (lx^ly)", (32, 8), "local", "1 wavefront for every N"),
        ("lx*N", (32, 1), "constant", "32 passes for every N"),
    ],
)
def test_words(index, local_size, space, text):
    assert formula(index, local_size, space=space).describe() == text


def test_a_column_walk_in_local_memory_is_a_gcd():
    found = formula("lx*N", space="local")
    assert found.describe() == "1 wavefront if N is odd, else gcd(N, 32)"
    assert [found.evaluate(n) for n in range(1, 5001)] == [math.gcd(n, 32) for n in range(1, 5001)]


def test_small_sizes_are_told_apart():
    found = formula("ly*N + lx", (16, 2))
    assert found.describe() == "for N >= 16: 4 sectors if N % 8 == 0, else 5; 3 for N = 1..8, 4 for N = 9..15"
    assert [found.evaluate(n) for n in (1, 9, 16, 17)] == [3, 4, 4, 5]


def test_long_lists_are_summed_up_for_people_and_complete_on_request():
    found = formula("(lx+2*ly)*N + 3*lx", (8, 4), space="local")
    brief, full = found.describe(), found.describe_fully()
    average = f"{sum(found.table) / len(found.table):.3g}"
    settled = f"1 wavefront if N % 8 == 4, else up to 8, {average} on average"
    assert brief == f"for N >= 16: {settled}; 1 (N = 3) to 4 for a smaller N"
    assert "if N % 32 in {" in full and " for N = 1" in full


def test_fractions_are_exact_on_request():
    found = formula("ly*N + lx", (32, 3))
    assert found.describe() == "4 sectors if N % 8 == 0, 4.33 if N % 8 == 4, else 4.67"
    assert found.describe_fully() == "4 sectors if N % 8 == 0, 13/3 if N % 8 == 4, else 14/3"


@pytest.mark.parametrize(
    ("model", "space", "unit"),
    [("cpu", "local", "cache lines"), ("cpu", "constant", "sectors"), ("amd-cdna3", "constant", "sectors")],
)
def test_units(model, space, unit):
    assert formula("lx*N", space=space, model=model).unit == unit


def test_sizes_beyond_the_tables_are_counted_one_by_one():
    given_access = access("lx*100000 + ly*N", (4, 8))
    found = formula_for(given_access)
    assert not found.is_tabulated
    assert "counted by itself" in found.describe_fully()
    sizes = [1, 99_999, 100_000, 100_001, 300_000, found.settled - 1, found.settled, found.settled + 8]
    assert [found.evaluate(n) for n in sizes] == given_access.totals(np.array(sizes)).tolist()


def test_unpublished_rules_give_no_formula():
    for model, space in [("apple-m1", "global"), ("apple-m1", "local"), ("qualcomm-adreno", "constant")]:
        found = formula("lx*N", space=space, model=model)
        assert isinstance(found, Unknown)
        assert "not published" in found.reason


def test_a_symbol_of_ones_own_and_a_first_value():
    found = formula_for(access("ly*N + lx", (16, 2)), symbol="width", first=16)
    assert found.describe() == "4 sectors if width % 8 == 0, else 5"
    assert found.evaluate(3) == 3  # Below the first value the lanes are counted.
